"""Time of the reference engine: SimPy events at exact moments, equal ones in the order of their slots.

SimPy orders its events by (time, priority, number).  Here the time is absolute, so that no completion is off
by the rounding of ``now + delay``, and the priority is the number of the event slot that the compiled engine
uses for the same component.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from heapq import heapify, heappush
from typing import Any

import simpy
from simpy.events import EventPriority

Steps = Generator[simpy.Event, Any, Any]


class Clock(simpy.Environment):
    """SimPy environment whose events are scheduled at absolute times."""

    def schedule_at(self, event: simpy.Event, time: float, slot: int) -> None:
        """Let `event` happen at `time` [s], among events of that moment in the order of the slots."""
        event._ok, event._value = True, None
        # SimPy starts processes with priority 0: before anything of the same moment.
        heappush(self._queue, (time, EventPriority(slot + 1), next(self._eid), event))

    def withdraw(self, event: simpy.Event) -> None:
        """Take a scheduled event back."""
        self._queue = [entry for entry in self._queue if entry[3] is not event]
        heapify(self._queue)

    def happen_now(self, event: simpy.Event) -> None:
        """Let `event` happen at once: what waits for it goes on inside this call."""
        event._ok, event._value = True, None
        callbacks, event.callbacks = event.callbacks or [], None  # type: ignore[assignment]
        for callback in callbacks:
            callback(event)

    def pass_to(self, time: float) -> None:
        """Let time pass to `time` [s]; nothing happens before it."""
        self._now = max(self._now, time)


class Alarm:
    """What a process waits for: the next moment at which something of its component is due.

    Parameters
    ----------
    clock : Clock
    slot : int
        Place in the order of events at one moment.
    """

    def __init__(self, clock: Clock, slot: int) -> None:
        self._clock, self._slot = clock, slot
        self._event = clock.event()

    @property
    def ring(self) -> simpy.Event:
        """The next ringing."""
        if self._event.processed:
            self._event = self._clock.event()
        return self._event

    @property
    def is_set(self) -> bool:
        """Whether a moment is set."""
        return self.ring.triggered

    def set(self, time: float) -> None:
        """Ring at `time` [s]; an alarm that is set already is moved."""
        if self.is_set:
            self._clock.withdraw(self.ring)
        self._clock.schedule_at(self.ring, time, self._slot)

    def sound(self) -> None:
        """Ring at once."""
        self._clock.happen_now(self.ring)


def on_ring(alarm: Alarm, act: Callable[[], None]) -> Steps:
    """Process of a component: sleep until the alarm rings, do all that follows at once, sleep again."""
    while True:
        yield alarm.ring
        act()
