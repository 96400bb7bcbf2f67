"""One run: a pool's blocks, its hardware and a release, from the first visit to the end of the operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

import numpy as np

from zsim.base.machine.stopping import stop_if_asked
from zsim.operation.background.copying import BackgroundScan
from zsim.operation.background.expansion import ExpansionWork, expansion_work
from zsim.operation.background.rebuild import RebuildScan
from zsim.operation.background.removal import RemovalWork
from zsim.operation.blocks import ScanBlocks
from zsim.operation.control import Plane, Records, RunClock, ScanControl, Steps, T
from zsim.operation.cursors import data_cursors
from zsim.operation.ledger import ByPhase
from zsim.operation.pool import SimulatedPool, process_of
from zsim.operation.result import RunResult, ScanSample
from zsim.operation.scans import LegacyScan, SortedScan
from zsim.operation.setup import RunSetup, SecondReplacement, refuse_missing
from zsim.operation.sources import WholeQueues, WholeWalk
from zsim.operation.timeline import Replace
from zsim.operation.txg import SyncWrites


class ScanStrategy(Protocol):
    """A strategy: what makes a pass over the pool."""

    def steps(self) -> Steps[None]:
        """Make one pass."""
        ...


class OperationWork(Protocol):
    """What a run scans, and how."""

    @property
    def plane(self) -> Plane:
        """The data plane, with room for it."""
        ...

    def scan_on(self, pool: SimulatedPool) -> ScanStrategy:
        """Return the strategy by which a pool is scanned."""
        ...

    def share(self) -> float:
        """Return the share of what is to be issued that is done."""
        ...

    def release(self) -> None:
        """Let go of the data plane."""
        ...


class WholeWork:
    """All blocks of a pool, as a release's scan takes them.

    Parameters
    ----------
    setup : RunSetup
    """

    def __init__(self, setup: RunSetup) -> None:
        self.setup, self.blocks = setup, ScanBlocks(setup)
        self.plane = self.blocks.plane()
        # That of a rebuild is made where its share is asked for, which is seldom.
        self._issue_bytes = 0 if setup.operation == "rebuild" else max(1, self.blocks.issue_bytes)
        self.blocks.forget_items()

    def scan_on(self, pool: SimulatedPool) -> ScanStrategy:
        """Return the strategy of the operation and the release."""
        if self.setup.operation == "rebuild":
            return RebuildScan(pool, self.blocks.programs, self.blocks.pool_window, self.blocks.metaslabs)
        if self.setup.collects:
            return SortedScan(pool, WholeQueues(pool, self.blocks), self.setup.blocks.allocated_bytes)
        return LegacyScan(pool, WholeWalk(pool, self.blocks))

    def share(self) -> float:
        """Return the share of the bytes to be issued that is issued."""
        streams = range(max(1, len(self.blocks.windows)))
        self._issue_bytes = self._issue_bytes or max(1, self.blocks.issue_bytes)
        issued = sum(self.plane.stream(number, "issued_bytes") for number in streams)
        return float(issued / self._issue_bytes)

    def forget_blocks(self) -> None:
        """Let go of the table of blocks: plane, walk and queues hold what a scan needs of it."""
        self.setup = self.blocks.setup = self.setup.without_blocks()
        if self.setup.collects:
            self.blocks.walk = self.blocks.walk.part(slice(0))

    def release(self) -> None:
        """Let go of the data plane."""
        self.plane = cast("Plane", None)


class Run:
    """Executes a `RunSetup` on a data plane.

    Parameters
    ----------
    setup : RunSetup
    progress : callable, optional
        Called with simulated time [s] and the share done whenever the plane comes back.
    work : Work, optional
        What is scanned; by default all blocks of the set-up.

    Attributes
    ----------
    pool : SimulatedPool
        What may happen while it runs (`SimulatedPool.happen`).
    scan : ScanStrategy
        The strategy.
    """

    def __init__(
        self,
        setup: RunSetup,
        progress: Callable[[float, float], None] | None = None,
        *,
        work: OperationWork | None = None,
    ) -> None:
        refuse_missing(setup)
        self.work: OperationWork = _work(setup) if work is None else work
        cursors = setup.first_cursors()
        if isinstance(self.work, ExpansionWork | RemovalWork):
            setup = self.work.setup
        self.setup = setup
        self.plane = self.work.plane
        if setup.clock_s != 0.0:
            self.plane.set_general("now", setup.clock_s)
        environment = RunClock(initial_time=setup.clock_s)
        txg = setup.txg_rules
        writes = SyncWrites(setup.model, txg, cursors[0], cursors[1:])
        writes.data_cursors = data_cursors(setup.places, setup.model)
        control = ScanControl(environment, self.plane, txg, writes, self._came_back)
        self.pool = SimulatedPool(environment, control, setup, self.share)
        self.scan = self.work.scan_on(self.pool)
        self.on_progress = progress
        self._started = False

    @property
    def elapsed(self) -> float:
        """Time since the scan started [s]."""
        return self.pool.elapsed

    def share(self) -> float:
        """Return the share of what is to be issued that is done."""
        return self.work.share()

    def execute(self) -> RunResult:
        """Run to the end."""
        second, happenings = self.setup.second, self.setup.timeline
        if second is not None and not second.early:
            happenings += (Replace(child=second.child, leaf=second.leaf, at=second.at),)
        for happening in happenings:
            self.pool.happen(process_of(self.pool, happening))
        self.let(self._steps())
        return self.result()

    def execute_for(self, seconds: float) -> RunResult:
        """Run to the end, or for so long [s], whatever comes first."""
        steps = self._steps()
        process = self.pool.happen(steps)
        self.plane.start_clients()
        self._started = True
        environment = self.pool.environment
        environment.run(process | environment.timeout(seconds))
        result = self.result()
        steps.close()  # else what is suspended half-way holds the plane and all blocks
        return result

    def forget_blocks(self) -> None:
        """Let go of the table of blocks of a resilver or scrub, some 110 bytes a block."""
        assert isinstance(self.work, WholeWork)
        self.work.forget_blocks()
        self.setup = self.pool.setup = self.work.setup

    def finish(self) -> RunResult:
        """Run to the end, and let go of the data plane, which takes most of the memory."""
        result = self.execute()
        self.release()
        return result

    def watch(self, seconds: float) -> RunResult:
        """Let the clients alone use the pool for so long."""
        self.let(self.pool.control.idle(seconds))
        return self.result()

    def let(self, steps: Steps[T]) -> T:
        """Run a process of the control plane to its end; return what it returns."""
        process = self.pool.happen(steps)
        if not self._started:
            self.plane.start_clients()
            self._started = True
        # SimPy knows no types: what a process returns is the value of its event.
        return cast("T", self.pool.environment.run(process))

    def release(self) -> None:
        """Let go of the data plane, and of all that refers back here.

        Blocks and programs are freed with the run, then, and not when the collector comes: it counts objects,
        of which some hundred megabytes of arrays are few.
        """
        self.plane = cast("Plane", None)
        self.pool.release_plane()
        self.work.release()
        self.scan, self.work = cast("ScanStrategy", None), cast("OperationWork", None)

    def _steps(self) -> Steps[None]:
        """Run pass after pass, until no drive waits for one."""
        second = self.setup.second
        again = {}
        if second is not None and second.early:
            self.pool.attach_before(second.child, second.leaf, waits=not second.together)
            again = {} if second.together else {second.child: second.leaf}
        while True:
            yield from self.scan.steps()
            if second is not None and not second.early:
                self.pool.attach_at_last(second.child, second.leaf)
            if not (yield from self.pool.next_pass(again=again)):
                return
            again = {}

    def _came_back(self, now: float) -> None:
        stop_if_asked()
        if self.on_progress is not None:
            self.on_progress(now - self.pool.start, self.share())

    def _records(self) -> Records:
        records = np.concatenate((*self.pool.control.kept, self.plane.records))
        for name in ("submitted", "started", "done"):
            records[name] -= self.pool.start
        return records

    def _booked(self) -> ByPhase:
        if self.pool.phases:
            self.pool.ledger.book(self.pool.phases[-1][0], self.plane.leaves)
        return self.pool.ledger.by_phase()

    def result(self) -> RunResult:
        """Return what was counted so far."""
        plane, pool = self.plane, self.pool
        # Below zero: no I/O of the scan has been queued, so that it spans nothing.
        started = plane.general("first_scan") >= 0.0
        first = plane.general("first_scan") if started else pool.start
        last = plane.general("last_scan") if started else first
        streams = max(1, len(self.setup.model.vdevs))
        return RunResult(
            end=self.elapsed,
            first_scan_s=first - pool.start,
            span=max(0.0, last - first),
            visit=max(0.0, pool.visit_end - pool.start),
            idle=plane.general("idle_total"),
            txgs=pool.control.txgs,
            children=int(plane.general("children_queued")),
            events=int(plane.general("events")),
            client_reads=int(plane.general("client_reads")),
            client_latency_s=plane.general("client_latency") / max(1.0, plane.general("client_reads")),
            leaves=plane.leaves.copy(),
            records=self._records(),
            issued_blocks=sum(int(plane.stream(number, "issued_blocks")) for number in range(streams)),
            issued_bytes=sum(int(plane.stream(number, "issued_bytes")) for number in range(streams)),
            link_busy=plane.link_busy,
            processor_s=(
                plane.general("visiting_s"),
                max(plane.stream(number, "issuing_s") for number in range(streams)),
            ),
            slice_s=pool.usual_slice_s,
            phases=pool.phases,
            progress=pool.progress,
            curve=self.scan.curve if isinstance(self.scan, BackgroundScan) else [],
            clients=plane.client_answers,
            waits=plane.waits.copy(),
            visited=pool.visited,
            by_phase=self._booked(),
            health=plane.health.copy(),
        )


def _work(setup: RunSetup) -> OperationWork:
    if setup.operation == "remove":
        return RemovalWork(setup)
    return expansion_work(setup) if setup.operation == "expand" else WholeWork(setup)


__all__ = ["Run", "RunResult", "RunSetup", "ScanSample", "SecondReplacement"]
