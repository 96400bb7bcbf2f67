"""Time of the reference engine: SimPy events at exact times, simultaneous ones in the order of their slots.

SimPy orders its events by (time, priority, number).  A `ClockEvent` has the number of the event slot that the
compiled engine uses for the same component as its priority.  All else happens at once: what a process wakes
goes on before the next moment, in the order in which it was woken.

SimPy adds a delay to the time it is, and a sum of floating-point numbers need not be the moment that was
meant.  Its clock therefore counts the numbers themselves: the time it is in SimPy is the place of the time in
seconds among all of them, whose differences are exact.
"""

from __future__ import annotations

import struct
from collections.abc import Generator
from math import inf

import simpy
from simpy.core import SimTime
from simpy.events import NORMAL, URGENT, EventPriority

Steps = Generator[simpy.Event, object, None]
_SECONDS, _PLACE = struct.Struct("<d"), struct.Struct("<q")


def place_of(time: float) -> int:
    """Return the place of a time of 0 or more [s] among all floating-point numbers (IEEE 754: in order)."""
    return int(_PLACE.unpack(_SECONDS.pack(time + 0.0))[0])


def time_at(place: int) -> float:
    """Return the time [s] at a place, see `place_of`."""
    return float(_SECONDS.unpack(_PLACE.pack(place))[0])


class ClockEvent(simpy.Event):
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

    @property
    def now(self) -> float:
        """The time it is [s]."""
        return time_at(int(super().now))

    def peek(self) -> float:
        """Return the time of the next event [s], infinity if there is none."""
        place = super().peek()
        return inf if place == inf else time_at(int(place))

    def at(self, time: float, slot: int) -> ClockEvent:
        """Return the moment `time` [s] in the order of events of a slot."""
        return ClockEvent(self, time, slot)

    def schedule(self, event: simpy.Event, priority: EventPriority = NORMAL, delay: SimTime = 0) -> None:
        """Schedule a moment at its time; anything else at once."""
        if isinstance(event, ClockEvent):
            # Before anything of the same time there is what was woken.
            delay = place_of(event.time) - int(super().now)
            super().schedule(event, EventPriority(event.slot + 1), delay)
        else:
            self._woken += 1
            super().schedule(event, URGENT, delay)

    def settle(self) -> None:
        """Let all that was woken go on until it waits for a moment."""
        while self._woken > 0:
            self._woken -= 1
            self.step()

    def pass_to(self, time: float) -> None:
        """Let time pass to `time` [s]; nothing happens before it."""
        if time > self.now:
            ClockEvent(self, time, -1)
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
