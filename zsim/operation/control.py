"""The control plane: SimPy processes that pace the scan, one decision a time.

Single I/Os never appear here.  A plane (compiled or reference) is advanced to the next entry of the control
calendar, or until it has to ask what to do next.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Protocol

import numpy as np
import simpy
from numpy.typing import NDArray

from zsim.engine.window import Window
from zsim.operation.txg import SyncWrites, TxgRules
from zsim.scan.program import Program

HORIZON, GROUP, DRAINED, BUDGET, STALLED, RECORD, REFILL, EPOCH = range(8)
FINISHED = 5
Steps = Generator[simpy.Event, Any, Any]


class Plane(Protocol):
    """What the control plane asks of a data plane."""

    @property
    def now(self) -> float:
        """Time of the data plane [s]."""
        ...

    def advance(self, until: float, budget: int = ...) -> int:
        """Advance to `until` [s] or the next decision; return the reason."""
        ...

    def load_streams(self, programs: list[Program], windows: list[Window]) -> None:
        """Load one program a stream."""
        ...

    def positions(self) -> list[int]:
        """Return how far each stream has come."""
        ...

    def stream(self, number: int, name: str) -> float:
        """Return one field of a stream."""
        ...

    def resume(self, pause_at: float) -> None:
        """Let the scan run until `pause_at` [s]."""
        ...

    def pause(self) -> None:
        """Stop the scan."""
        ...

    def submit_group(self, rows: NDArray[np.int64]) -> None:
        """Queue plain I/Os, and ask for a GROUP exit when all are done."""
        ...

    def flush(self) -> None:
        """Ask for a GROUP exit when the write caches that are flushed each txg are empty."""
        ...

    def close_epoch(self) -> None:
        """Ask for an EPOCH exit when all scan blocks in flight now are done."""
        ...

    def general(self, name: str) -> float:
        """Return one of the general counters."""
        ...

    def take_records(self) -> NDArray[Any]:
        """Return the finished commands kept so far, and make room for more."""
        ...


class Calendar:
    """Times at which a control process other than the scan will act."""

    def __init__(self) -> None:
        self._times: list[float] = []

    def add(self, time: float) -> None:
        """Announce a control event at `time` [s]."""
        self._times.append(time)

    def next_time(self, now: float) -> float:
        """Return the first announced time after `now` [s], infinity if there is none."""
        return min((time for time in self._times if time > now), default=np.inf)


class ScanControl:
    """Runs scan phases txg by txg on a data plane.

    Parameters
    ----------
    environment : simpy.Environment
    plane : Plane
    txg : TxgRules
    writes : SyncWrites
    progress : callable, optional
        Called with the plane's time whenever the plane came back.
    """

    def __init__(
        self,
        environment: simpy.Environment,
        plane: Plane,
        txg: TxgRules,
        writes: SyncWrites,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        self.environment, self.plane, self.txg, self.writes = environment, plane, txg, writes
        self.calendar = Calendar()
        self.progress = progress
        self.txgs = 0
        self.start = float(environment.now)
        self.kept: list[NDArray[Any]] = []

    def decision(self, until: float = np.inf) -> Steps:
        """Advance the plane until it asks for a decision, or to `until` [s]; return the reason."""
        while True:
            reason = self.plane.advance(min(until, self.calendar.next_time(self.plane.now)))
            yield self.environment.timeout(max(0.0, self.plane.now - self.environment.now))
            if self.progress is not None:
                self.progress(self.plane.now)
            if reason == RECORD:
                self.kept.append(self.plane.take_records())
            elif reason not in (HORIZON, BUDGET) or (reason == HORIZON and self.plane.now >= until):
                return reason

    def sync(self) -> Steps:
        """Write what a txg writes at its end: MOS passes, then uberblocks."""
        first = self.txgs == 0
        self.txgs += 1
        self.plane.pause()
        data = self.writes.data_rows(self.plane.now - self.start)
        if len(data):
            yield from self._group(data)
        for number in range(len(self.txg.pass_blocks)):
            yield from self._group(self.writes.sync_pass(number))
            if first and number == 0:
                for read in self.writes.space_map_reads():
                    yield from self._group(read)
        yield from self._flush()
        changed = first and self.txg.first_labels
        if changed:
            yield from self._group(self.writes.configuration_rows())
        yield from self._group(self.writes.label_rows())
        yield from self._flush()
        if changed:
            yield from self._group(self.writes.configuration_rows())

    def _group(self, rows: NDArray[np.int64]) -> Steps:
        self.plane.submit_group(rows)
        yield from self._expect(GROUP)

    def _flush(self) -> Steps:
        """Flush the write caches, before the uberblocks and after (vdev_label.c:vdev_config_sync)."""
        if any(leaf.drive.flush_each_txg for leaf in self.writes.model.leaves):
            self.plane.flush()
            yield from self._expect(GROUP)

    def _expect(self, wanted: int) -> Steps:
        while True:
            reason = yield from self.decision()
            if reason == wanted:
                return
            if reason == STALLED:
                raise RuntimeError("the data plane has nothing left to do but the scan waits")

    def idle(self, seconds: float) -> Steps:
        """Let time pass without a scan."""
        end = self.plane.now + seconds
        while self.plane.now < end:
            yield from self.decision(end)

    def scan_slice(self, seconds: float) -> Steps:
        """Let the loaded streams run for a slice and drain; tell whether all of them are finished."""
        self.plane.resume(self.plane.now + seconds)
        yield from self._expect(DRAINED)
        self.plane.pause()

    def finished(self, streams: int) -> bool:
        """Tell whether the first `streams` streams have come to their end."""
        return all(self.plane.stream(number, "state") == FINISHED for number in range(streams))

    def run_program(self, programs: list[Program], windows: list[Window]) -> Steps:
        """Run programs to their end, txg by txg, each slice followed by the txg's own writes."""
        self.plane.load_streams(programs, windows)
        while True:
            first = self.txgs == 0
            yield from self.scan_slice(self.txg.first_slice_s if first else self.txg.slice_s)
            done = self.finished(len(programs))
            yield from self.sync()
            if done:
                return
