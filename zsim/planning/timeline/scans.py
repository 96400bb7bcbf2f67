"""Passes over a pool as processes: they run, are interrupted by a reboot, restart, and end."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Literal

import simpy

from zsim.planning.timeline.passes import PassTimes
from zsim.planning.timeline.redundancy import Target
from zsim.planning.timeline.rules import Rules

PassKind = Literal["resilver", "rebuild", "scrub", "expansion", "removal"]
Steps = Generator[simpy.Event, object, None]
HOLD, LOOK, STOP = "hold", "look again", "stop"


@dataclass(eq=False)
class Pass:
    """One pass over the pool in one world.

    Attributes
    ----------
    kind, vdev, cause : str
        What it is, over what, and why it runs.
    times : PassTimes
    targets : list of Target
        What it writes to.
    begins, ends : float
        [s]; `ends` is infinite while it runs.
    position : float
        Share of its time that was gone when it last went on.
    completed : bool
        Whether it came to its end.
    paused : bool
        Whether somebody has paused it, which outlives a reboot.
    pace : float
        How much slower it goes than `times` in this world, by how it was seen to get on.
    watched : list of (float, Event)
        Shares of its work at which somebody wants to be woken.
    process, resumed : Process, Event, optional
        What runs it, and what lets it go on while it is held.
    since : callable
        Returns the share of its time that is gone since it last went on; 0 while it is held.
    """

    kind: PassKind
    vdev: str
    cause: str
    times: PassTimes
    targets: list[Target] = field(default_factory=list)
    begins: float = 0.0
    ends: float = math.inf
    position: float = 0.0
    completed: bool = False
    paused: bool = False
    pace: float = 1.0
    watched: list[tuple[float, simpy.Event]] = field(default_factory=list)
    process: simpy.Process | None = None
    resumed: simpy.Event | None = None
    since: Callable[[], float] = field(default=lambda: 0.0)

    @property
    def gone(self) -> float:
        """Share of its time that is gone."""
        return min(1.0, self.position + self.since())

    @property
    def share(self) -> float:
        """Share of its work that is done."""
        return self.times.done(self.gone)

    @property
    def bytes(self) -> int:
        """Bytes read and written by the whole pass."""
        return self.times.read_bytes + self.times.written_bytes

    def seconds(self, world: int) -> float:
        """Return how long the whole pass takes in a world [s]."""
        return float(self.times.seconds[world]) * self.pace

    def leaves(self, left: float, world: int) -> None:
        """Let it have so much time left in a world [s]: it keeps its pace, whatever changes."""
        if self.position < 1.0:
            self.pace = left / ((1.0 - self.position) * float(self.times.seconds[world]))

    def retimed(self, times: PassTimes) -> None:
        """Go on at another pace from the share of the work that is done."""
        share, gone = self.share, self.gone
        # Before anything is issued, the metadata phase is as far as it was.
        self.position = times.gone(share) if share > 0 else min(gone, times.gone(1e-9))
        self.since = _nothing
        self.times = times

    def run(self, environment: simpy.Environment, world: int, done: Callable[[Pass], None]) -> Steps:
        """Run until the end, or until it is stopped; `done` is called once it is over.

        Interrupts: `HOLD` waits for `resumed`, `LOOK` looks again at times and watched shares, `STOP` ends.
        """
        while self.position < 1.0:
            upto = min([self.times.gone(share) for share, _ in self.watched], default=1.0)
            upto = max(upto, self.position)
            self.since = _since(environment, self.seconds(world))
            try:
                yield environment.timeout((upto - self.position) * self.seconds(world))
                self._stand(upto)
                self._tell(upto)
            except simpy.Interrupt as stop:
                self._stand(self.gone)
                if stop.cause == STOP:
                    break
                if stop.cause == HOLD and not (yield from self._held(environment)):
                    break
        self.completed = self.position >= 1.0
        self.ends = float(environment.now)
        done(self)

    def _stand(self, position: float) -> None:
        self.position, self.since = position, _nothing

    def _held(self, environment: simpy.Environment) -> Generator[simpy.Event, object, bool]:
        """Wait until the pass may go on; tell whether it may."""
        self.resumed = environment.event()
        while True:
            try:
                yield self.resumed
            except simpy.Interrupt as stop:
                if stop.cause == STOP:
                    return False
                # One that looks again at this very moment must not undo that it may go on.
                if stop.cause == HOLD and self.resumed.triggered:
                    self.resumed = environment.event()
            else:
                return True

    def _tell(self, upto: float) -> None:
        reached = [each for each in self.watched if self.times.gone(each[0]) <= upto + 1e-12]
        self.watched = [each for each in self.watched if each not in reached]
        for _, event in reached:
            event.succeed()

    def interrupt(self, cause: str) -> None:
        """Interrupt it, if it runs."""
        if self.process is not None and self.process.is_alive:
            self.process.interrupt(cause)

    def resume(self) -> None:
        """Let a pass that is held go on."""
        if self.resumed is not None and not self.resumed.triggered:
            self.resumed.succeed()

    def go_back(self, rules: Rules, seconds: float) -> int:
        """Go back to the position on disk after an import; return the bytes to be read and written again.

        Parameters
        ----------
        rules : Rules
        seconds : float
            How long the whole pass takes in this world [s].

        Notes
        -----
        A legacy scan, a rebuild and an expansion write their position in each transaction group (OpenZFS
        0.7.13 dsl_scan.c, 2.2 vdev_rebuild.c).  A sorted scan writes it only when all it has collected is
        issued (0.8 dsl_scan.c:dsl_scan_sync_state): after each ``zfs_scan_checkpoint_intval`` of collecting,
        and not before its end once it has collected everything.
        """
        now = self.gone * seconds
        if (
            self.kind in ("resilver", "scrub")
            and rules.choice("scan_position") == "queues-empty"
            and rules.sorted_scan
        ):
            back = last_position(now, self.times.collecting * seconds, seconds, rules.checkpoint_s)
        else:
            back = max(0.0, now - rules.txg_s)
        share = self.share
        self._stand(back / seconds)
        return round((share - self.share) * self.bytes)


def _nothing() -> float:
    return 0.0


def _since(environment: simpy.Environment, seconds: float) -> Callable[[], float]:
    """Return what tells the share of `seconds` that is gone since now."""
    began = float(environment.now)
    return lambda: (float(environment.now) - began) / seconds


def last_position(now: float, collecting: float, whole: float, interval: float) -> float:
    """Return when a sorted scan last wrote its position [s after its begin].

    Parameters
    ----------
    now : float
        [s] since its begin.
    collecting : float
        How long it collects blocks in all [s].
    whole : float
        How long it takes in all [s].
    interval : float
        ``zfs_scan_checkpoint_intval`` [s].

    Examples
    --------
    >>> last_position(9 * 3600, 1800, 10 * 3600, 7200)  # all is collected within the first two hours
    0.0
    >>> last_position(9 * 3600, 4 * 3600, 16 * 3600, 7200) / 3600  # positions after 8 and 16 hours
    8.0
    """
    if collecting <= interval:
        return 0.0
    period = whole * interval / collecting
    return math.floor(now / period) * period
