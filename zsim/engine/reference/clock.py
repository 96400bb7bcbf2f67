"""Time of the reference engine: SimPy events at exact moments, equal ones in the order of their slots.

SimPy orders its events by (time, priority, number).  A `Moment` has the number of the event slot that the
compiled engine uses for the same component as its priority.  All else happens at once: what a process wakes
goes on before the next moment, in the order in which it was woken.
"""

from __future__ import annotations

from collections.abc import Generator
from math import inf, nextafter
from typing import Any

import simpy
from simpy.core import SimTime
from simpy.events import NORMAL, URGENT, EventPriority

Steps = Generator[simpy.Event, Any, None]


class Moment(simpy.Event):
    """An event at an absolute time [s], among those of that time in the order of the slots."""

    def __init__(self, clock: Clock, time: float, slot: int) -> None:
        super().__init__(clock)
        self.time, self.slot = time, slot
        self.succeed()


class Clock(simpy.Environment):
    """SimPy environment of moments, and of what is woken at them."""

    def __init__(self) -> None:
        super().__init__()
        self._woken = 0

    def at(self, time: float, slot: int) -> Moment:
        """Return the moment `time` [s] in the order of events of a slot."""
        return Moment(self, time, slot)

    def schedule(self, event: simpy.Event, priority: EventPriority = NORMAL, delay: SimTime = 0) -> None:
        """Schedule a moment at its time; anything else at once."""
        if isinstance(event, Moment):
            # Before anything of the same time there is what was woken.
            super().schedule(event, EventPriority(event.slot + 1), self._delay_to(event.time))
        else:
            self._woken += 1
            super().schedule(event, URGENT, delay)

    def _delay_to(self, time: float) -> float:
        """Return the delay that ends at `time` to the bit: SimPy adds it to the time it is."""
        delay = time - self.now
        while self.now + delay < time:
            delay = nextafter(delay, inf)
        while self.now + delay > time:
            delay = nextafter(delay, -inf)
        return float(delay)

    def settle(self) -> None:
        """Let all that was woken go on until it waits for a moment."""
        while self._woken > 0:
            self._woken -= 1
            self.step()

    def pass_to(self, time: float) -> None:
        """Let time pass to `time` [s]; nothing happens before it."""
        if time > self.now:
            Moment(self, time, -1)
            self.step()


class Signal:
    """What a process waits for until another lets it go on.

    Parameters
    ----------
    clock : Clock
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._event: simpy.Event | None = None

    def wait(self) -> simpy.Event:
        """Return the event to wait for."""
        self._event = self._clock.event()
        return self._event

    def give(self) -> None:
        """Let the process that waits go on, if one does."""
        if self._event is not None:
            self._event.succeed()
            self._event = None
