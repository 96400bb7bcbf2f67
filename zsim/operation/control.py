"""The control plane's access to a data plane: one decision at a time, on one SimPy environment.

Single I/Os never appear here.  A plane (compiled or reference) is advanced to the next event of the
environment, whatever process has asked for it, or until it has to ask what to do next.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Protocol, TypeVar, cast

import numpy as np
import simpy
from numpy.typing import NDArray

from zsim.engine.codes import (
    BUDGET,
    EXIT_BUDGET,
    EXIT_DRAINED,
    EXIT_GROUP,
    EXIT_HORIZON,
    EXIT_RECORD,
    EXIT_REFILL,
    EXIT_STALLED,
    FOREVER,
    STREAM_FINISHED,
)
from zsim.engine.model import QueueRules, ScanRules
from zsim.engine.window import Window
from zsim.operation.txg import SyncWrites, TxgRules
from zsim.scan.items import ScanItems
from zsim.scan.program import Program

T = TypeVar("T")
Steps = Generator[simpy.Event, object, T]
"""A process of the control plane, which returns a T."""
Records = NDArray[np.void]


class Plane(Protocol):
    """What the control plane asks of a data plane."""

    @property
    def now(self) -> float:
        """Time of the data plane [s]."""
        ...

    @property
    def leaves(self) -> Records:
        """Counters of the leaves, records of LEAF_DTYPE."""
        ...

    @property
    def health(self) -> Records:
        """What ails the leaves, and the state that they are in, records of HEALTH_DTYPE."""
        ...

    @property
    def records(self) -> Records:
        """Finished commands kept, records of RECORD_DTYPE."""
        ...

    @property
    def link_busy(self) -> tuple[float, ...]:
        """Busy time of each shared link [s]."""
        ...

    @property
    def client_answers(self) -> list[tuple[int, float]]:
        """How many requests of each client were answered, and the sum of their latencies [s]."""
        ...

    @property
    def waits(self) -> NDArray[np.int64]:
        """How often clients of each kind waited how long, by `zsim.engine.leaf_rules.wait_bin`."""
        ...

    @property
    def sat_out(self) -> list[tuple[int, ...]]:
        """How often each child of each top-level vdev was made to sit out."""
        ...

    def advance(self, until: float, budget: int = ...) -> int:
        """Advance to `until` [s] or the next decision; return the reason."""
        ...

    def load_streams(self, programs: list[Program], windows: list[Window]) -> None:
        """Load one program a stream."""
        ...

    def put_items(self, items: ScanItems) -> None:
        """Put other blocks in place of the first so many (nothing of them may be in flight)."""
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

    def cut_short(self) -> None:
        """Let a running scan pause now."""
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

    def want_below(self) -> None:
        """Let the prefetch thread fetch what lies below the metadata in memory."""
        ...

    def close_epoch(self) -> None:
        """Ask for an EPOCH exit when all scan blocks in flight now are done."""
        ...

    def general(self, name: str) -> float:
        """Return one of the general counters."""
        ...

    def set_general(self, name: str, value: float) -> None:
        """Set one of the general values."""
        ...

    def set_limit(self, klass: int, minimum: int, maximum: int) -> None:
        """Set the active limits of one I/O class."""
        ...

    def set_rules(self, queue: QueueRules, scan: ScanRules) -> None:
        """Set the rules of leaf queues and scan from now on."""
        ...

    def set_clients(self, group: int, *, on: bool) -> None:
        """Let the clients of a kind ask, or ask for nothing, from now on."""
        ...

    def set_window(self, number: int, window: Window) -> None:
        """Set the window of a loaded stream from now on."""
        ...

    def set_children(self, number: int, read_leaf: Sequence[int], write_leaf: Sequence[int]) -> None:
        """Set which leaves a top-level vdev reads and repairs from now on."""
        ...

    def course(self) -> tuple[float, NDArray[np.int64], NDArray[np.int64]]:
        """Return the moment [s], and position and what is in flight of every stream."""
        ...

    def set_metadata(self, items: NDArray[np.int64], state: int) -> None:
        """Set where metadata blocks are (META codes)."""
        ...

    def set_offsets(self, items: NDArray[np.int64], offset: NDArray[np.int64]) -> None:
        """Set where items lie [bytes]."""
        ...

    def set_wanted(self, items: NDArray[np.int64]) -> None:
        """Set which metadata the prefetch thread is to fetch, rising."""
        ...

    def take_wanted(self) -> NDArray[np.int64]:
        """Take from the prefetch thread what it is to fetch; return it, rising."""
        ...

    def start_clients(self) -> None:
        """Start the foreground clients."""
        ...

    def take_records(self) -> Records:
        """Return the finished commands kept so far, and make room for more."""
        ...


class Observer(Protocol):
    """Who wants to see the plane at certain events, however time is sliced."""

    def events_left(self) -> int:
        """Return after how many events the plane is to come back."""
        ...

    def came_back(self) -> None:
        """Look at the plane, which has come back."""
        ...


class RunClock(simpy.Environment):
    """SimPy's environment of one run, on which time may pass without an event if nothing else waits."""

    def pass_time(self, seconds: float) -> bool:
        """Let time pass [s] where no process waits for anything; tell whether that was so."""
        if self.peek() != FOREVER:
            return False
        self._now += seconds
        return True


def nothing_more(reason: int) -> bool:
    """Tell that no more operations follow those loaded."""
    return False


class ScanControl:
    """Advances a data plane on a SimPy environment, and writes what a txg writes.

    Parameters
    ----------
    environment : RunClock
        Other processes on it act when their time comes: the plane never passes their next event.
    plane : Plane
    txg : TxgRules
    writes : SyncWrites
    progress : callable, optional
        Called with the plane's time whenever the plane came back.

    Attributes
    ----------
    observer : Observer, optional
    data_s : float
        How long the data of clients took that the last txg wrote [s].
    feed : callable
        Called with EXIT_REFILL or EXIT_DRAINED when the operations loaded are about to run out, or have;
        puts more behind them, and tells whether there were more.
    """

    def __init__(
        self,
        environment: RunClock,
        plane: Plane,
        txg: TxgRules,
        writes: SyncWrites,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        self.environment, self.plane, self.txg, self.writes = environment, plane, txg, writes
        self.progress = progress
        self.observer: Observer | None = None
        self.feed: Callable[[int], bool] = nothing_more
        self.txgs = 0
        self.start = float(environment.now)
        self.data_s = 0.0
        self.kept: list[Records] = []

    def release(self) -> None:
        """Let go of the data plane, of the environment, and of all that is told what happens here."""
        self.plane, self.environment = cast("Plane", None), cast("RunClock", None)
        self.progress = self.observer = None
        self.feed = nothing_more

    def decision(self, until: float = FOREVER) -> Steps[int]:
        """Advance the plane until it asks for a decision; the environment's time goes with it.

        Parameters
        ----------
        until : float
            Or to this time [s].

        Returns
        -------
        int
            Why it stopped: one of the EXIT constants of the engine, `EXIT_HORIZON` at `until`.  Records that
            fill its memory are taken out on the way.
        """
        while True:
            reason = self._advanced(until)
            passed = max(0.0, self.plane.now - self.environment.now)
            if not self.environment.pass_time(passed):
                yield self.environment.timeout(passed)
            if self.progress is not None:
                self.progress(self.plane.now)
            if reason == EXIT_RECORD:
                self.kept.append(self.plane.take_records())
            elif reason not in (EXIT_HORIZON, EXIT_BUDGET) or (
                reason == EXIT_HORIZON and self.plane.now >= until
            ):
                return reason

    def _advanced(self, until: float) -> int:
        """Advance the plane once; operations that run out are followed by more at the same moment."""
        horizon = min(until, self.environment.peek())
        while True:
            if self.observer is None:
                reason = self.plane.advance(horizon)
            else:
                reason = self.plane.advance(horizon, min(BUDGET, self.observer.events_left()))
                self.observer.came_back()
            if reason == EXIT_REFILL:
                self.feed(reason)
            elif reason != EXIT_DRAINED or not self.finished(1) or not self.feed(reason):
                return reason

    def sync(self) -> Steps[None]:
        """Write what a txg writes at its end: data of clients, MOS passes, then uberblocks.

        Yields
        ------
        Steps of the control process: the scan pauses from the beginning, each group of writes is waited
        for.

        Notes
        -----
        OpenZFS spa.c:spa_sync, vdev_label.c:vdev_config_sync: caches are flushed before and after the
        uberblocks, so that these never name what is not on the drives.
        """
        first = self.txgs == 0
        self.txgs += 1
        self.plane.pause()
        begin = self.plane.now
        data = self.writes.data_rows(begin - self.start)
        if len(data):
            yield from self._group(data)
        self.data_s = self.plane.now - begin
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

    def _group(self, rows: NDArray[np.int64]) -> Steps[None]:
        self.plane.submit_group(rows)
        yield from self._expect(EXIT_GROUP)

    def _flush(self) -> Steps[None]:
        """Flush the write caches, before the uberblocks and after (vdev_label.c:vdev_config_sync)."""
        if self.writes.flushes and self.txg.flushes:
            self.plane.flush()
            yield from self._expect(EXIT_GROUP)

    def _expect(self, wanted: int) -> Steps[None]:
        while True:
            reason = yield from self.decision()
            if reason == wanted:
                return
            if reason == EXIT_STALLED:
                raise RuntimeError("the data plane has nothing left to do but the scan waits")

    def idle(self, seconds: float) -> Steps[None]:
        """Let time pass without a scan."""
        end = self.plane.now + seconds
        while self.plane.now < end:
            yield from self.decision(end)

    def wait(self, event: simpy.Event) -> Steps[None]:
        """Let time pass without a scan until something happens on the environment."""
        while not event.triggered:
            if self.environment.peek() == FOREVER:
                raise RuntimeError("the scan waits for what no process will do")
            yield from self.decision(self.environment.peek())

    def slice_of(self, seconds: float) -> float:
        """Return how long the scan runs in a txg beside the writer, `seconds` on an idle pool [s].

        Notes
        -----
        OpenZFS spa.c:spa_sync writes the data of a txg, then lets the scan run.  dsl_scan.c:
        dsl_scan_check_suspend ends it, after its least time, with zfs_txg_timeout since the txg began (to 0.7
        since the scan did), or when too much is dirty: what was written since the txg began.
        """
        writer = self.writes.writer
        if writer.rate <= 0.0:
            return seconds
        left = seconds - self.data_s if self.txg.with_data else seconds
        return min(seconds, max(self.txg.least_s, min(left, writer.busy_bytes / writer.rate - self.data_s)))

    def scan_slice(self, seconds: float) -> Steps[None]:
        """Let the loaded streams run for so long and drain."""
        self.plane.resume(self.plane.now + seconds)
        yield from self._expect(EXIT_DRAINED)
        self.plane.pause()

    def finished(self, streams: int) -> bool:
        """Tell whether the first `streams` streams have come to their end."""
        return all(self.plane.stream(number, "state") == STREAM_FINISHED for number in range(streams))
