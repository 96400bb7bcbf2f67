"""One run: a pool's blocks, its hardware and a release, from the first visit to the end of the operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import simpy
from numpy.typing import NDArray

from zsim.engine.compiled import CompiledPlane
from zsim.engine.control import ScanControl, Steps
from zsim.engine.cursors import imported_cursors
from zsim.engine.memory_limit import MemoryLimit
from zsim.engine.model import NOT_REPAIRED, PlaneModel, VdevModel
from zsim.engine.rebuild import Rebuild
from zsim.engine.rules import (
    ASYNC_WRITE,
    pool_window,
    rebuild_window,
    txg_rules,
    vdev_window,
    waits_for_metaslabs,
)
from zsim.engine.txg import SyncWrites, TxgRules, asize_of
from zsim.engine.window import Window
from zsim.errors import InputError, NotSimulatedYet
from zsim.pool.blocks import BlockTable
from zsim.scan.program import (
    OP_ISSUE,
    DamagedVdev,
    Program,
    ScanItems,
    needs_io,
    rewritten_by_start,
    scan_items,
    traversal_program,
    with_entries,
)
from zsim.scan.rebuild import Chunks, rebuild_chunks, with_chunks
from zsim.scan.sorted import ScanQueue, address_order, extent_order, issue_program, queue_entries
from zsim.scenario.capacity import metaslab_shift
from zsim.scenario.releases import Operation, ReleaseProfile

SMALL_SHARE = 8
FOREVER = np.inf
TXGS_TO_FINISH = 3
# The txg of an attach, and TXG_CONCURRENT_STATES after it.
TXGS_OF_ATTACH = 4
# Copies at most so far apart are taken to be of one allocator's metaslab [bytes].
ALLOCATION_REGION = 16 << 20
MIN_SLOTS, MAX_SLOTS = 64, 60_000
# The log goes round in so many blocks a top-level vdev.
LOG_BLOCKS = 1024
PlaneFactory = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondReplacement:
    """Another drive replaced while the first resilver runs.

    A drive attached before the scan has issued anything is repaired in the same pass, which is run a second
    time for it all the same unless both were there before it began (seen in runs of 2.3.9).  Attached
    later, it makes the resilver start again (to 0.7; from 2.3 if less than zfs_resilver_defer_percent is
    done) or gets a pass of its own.

    Attributes
    ----------
    child : int
        Leaf that is replaced.
    leaf : int
        Leaf that is written.
    at : float
        When, after the first visit [s].
    together : bool
        Whether both are attached before the scan starts.
    """

    child: int
    leaf: int
    at: float
    together: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetup:
    """What a run needs.

    Attributes
    ----------
    model : PlaneModel
    blocks : BlockTable
    release : ReleaseProfile
        With tunables applied.
    operation : {"resilver", "scrub", "rebuild"}
        A rebuild ends before the scrub that follows it.
    memory : int
        Main memory of the host [bytes].
    cursors : tuple of (vdev, offset)
        Where the pool's next MOS block goes, for each copy; found from the youngest MOS block if empty.
    txg : TxgRules, optional
        Instead of the release's.
    seed : int
    records : int
        Whether to keep the finished commands (any number but 0: all of them).
    second : SecondReplacement, optional
    clock_s : float
        What the host's clock shows when the scan starts [s]: ticks, the 0.5 s buckets of the leaf queues
        and the platters' angles are counted from its zero.  The times of the result begin with the scan.
    metaslab_shift : int, optional
        Size of the metaslabs [log2(bytes)], for a rebuild; by default that of a new vdev.
    imported : bool
        Whether the pool was imported just before: then each of several allocators starts at the beginning
        of its best metaslabs, not where the youngest MOS blocks are.
    log_bytes : int
        Size of a block of the intent log, for clients that write synchronously [bytes].
    plane : callable
        Makes the data plane.
    """

    model: PlaneModel
    blocks: BlockTable
    release: ReleaseProfile
    operation: Operation = "resilver"
    memory: int = 16 << 30
    cursors: tuple[tuple[int, int], ...] = ()
    txg: TxgRules | None = None
    seed: int = 0
    records: int = 0
    second: SecondReplacement | None = None
    clock_s: float = 0.0
    metaslab_shift: int | None = None
    imported: bool = False
    log_bytes: int = 4096
    plane: PlaneFactory = CompiledPlane


@dataclass(slots=True)
class Sample:
    """Progress at one moment.

    Attributes
    ----------
    time : float
        [s]
    visited_bytes, issued_bytes : int
        asize of the blocks visited, and psize of those issued [bytes].
    phase : {"visit", "issue"}
    """

    time: float
    visited_bytes: int
    issued_bytes: int
    phase: str


@dataclass(slots=True)
class RunResult:
    """What a run showed.

    Attributes
    ----------
    end : float
        Time from the first visit to the end of the last txg [s].
    first_scan_s : float
        When the first scan I/O was queued [s].
    span : float
        From the first scan I/O to the end of the last [s].
    visit : float
        Duration of the metadata phase (legacy: of the traversal) [s].
    phases : list of (str, float, float)
        Name, begin and end of each slice [s].
    leaves : ndarray of LEAF_DTYPE
        Counters; `span_leaves` holds those within the scan's span.
    progress : list of Sample
    curve : list of (float, int)
        Of a rebuild: moments [s] and the bytes issued by then, over all its metaslabs.
    clients : list of (int, float)
        Of each foreground client: requests answered, and the sum of their latencies [s].
    """

    end: float
    first_scan_s: float
    span: float
    visit: float
    idle: float
    txgs: int
    children: int
    events: int
    client_reads: int
    client_latency_s: float
    leaves: NDArray[Any]
    records: NDArray[Any]
    issued_blocks: int
    issued_bytes: int
    link_busy: tuple[float, ...] = ()
    phases: list[tuple[str, float, float]] = field(default_factory=list)
    progress: list[Sample] = field(default_factory=list)
    curve: list[tuple[float, int]] = field(default_factory=list)
    clients: list[tuple[int, float]] = field(default_factory=list)


class Run:
    """Executes a `RunSetup` on a data plane."""

    def __init__(self, setup: RunSetup, progress: Callable[[float, float], None] | None = None) -> None:
        self.setup = setup
        _refuse_missing(setup)
        blocks = setup.blocks
        self.wanted = wanted_blocks(setup)
        self.items = scan_items(blocks, seed=setup.seed, wanted=self.wanted)
        self.windows = [vdev_window(vdev, setup.release) for vdev in setup.model.vdevs] if self.sorted else []
        self.pool_window = pool_window(setup.model.vdevs, setup.release)
        self.walk = traversal_program(blocks, self.items, self.wanted, prefetch=plain_prefetch(setup.release))
        self.visit_end = 0.0
        self.programs = self._chunk_programs() if setup.operation == "rebuild" else []
        self.queue = self._queue()
        self.txg = setup.txg or txg_rules(setup.release, setup.operation)
        self.log_items = self._log_items()
        self.plane = self._plane()
        self.stop_at = FOREVER
        self.awaited_txgs = 0
        self.start = setup.clock_s
        if self.start != 0.0:
            self.plane.set_general("now", self.start)
        self.environment = simpy.Environment(initial_time=self.start)
        cursors = self._cursors()
        writes = SyncWrites(setup.model, self.txg, cursors[0], cursors[1:])
        writes.data_cursor = data_cursor(blocks)
        self.control = ScanControl(self.environment, self.plane, self.txg, writes, self._came_back)
        self.on_progress = progress
        self.phases: list[tuple[str, float, float]] = []
        self.progress: list[Sample] = []
        self.curve: list[tuple[float, int]] = []
        self.issued_before = 0
        self.done_entries = 0

    def _cursors(self) -> list[list[tuple[int, int]]]:
        """Return where each allocator's next MOS blocks go, one (vdev, offset) a copy."""
        setup = self.setup
        if setup.cursors:
            return [list(setup.cursors)]
        found: list[list[tuple[int, int]]] = []
        if setup.imported and setup.release.allocators != "one":
            shifts = [self._metaslab_shift(number) for number in range(len(setup.model.vdevs))]
            found = imported_cursors(setup.blocks, setup.model, shifts)
        return found or mos_cursors(setup.blocks)

    @staticmethod
    def slice_of(setup: RunSetup) -> float:
        """Return how long the scan runs in one txg of an idle pool [s]."""
        return (setup.txg or txg_rules(setup.release, setup.operation)).slice_s

    @property
    def elapsed(self) -> float:
        """Time since the scan started [s]."""
        return float(self.plane.now - self.start)

    @property
    def sorted(self) -> bool:
        """Whether blocks are collected and sorted before they are issued."""
        return self.setup.release.order == "sorted" and self.setup.operation != "rebuild"

    def execute(self) -> RunResult:
        """Run to the end."""
        process = self.environment.process(self._steps())
        self.plane.start_clients()
        self.environment.run(process)
        return self._result()

    def watch(self, seconds: float) -> RunResult:
        """Let the clients alone use the pool for so long."""
        process = self.environment.process(self.control.idle(seconds))
        self.plane.start_clients()
        self.environment.run(process)
        return self._result()

    def release(self) -> None:
        """Let go of the data plane, which a run that refers to itself keeps until the collector comes."""
        self.plane = self.control.plane = cast("Any", None)

    def _steps(self) -> Steps:
        second = self.setup.second
        if second is None:
            yield from self._pass()
            return
        early = second.together or second.at <= 0.0
        if early:
            self._set_children({second.child: second.leaf})
            self.awaited_txgs = 0 if second.together else TXGS_OF_ATTACH
        else:
            self.stop_at = second.at
        yield from self._pass()
        if second.together:
            return
        if not early and self.restarted:
            self._set_children({second.child: second.leaf})
        else:
            # Three txgs note the end and detach the old drives; the async task that asks for the next pass
            # is served when a txg ends, the next one or the one after.
            for _ in range(TXGS_TO_FINISH):
                yield from self.control.sync()
            yield from self.control.idle(1.5 * self.setup.release.tunables["zfs_txg_timeout"])
            new = {second.child: second.leaf}
            self._set_children({} if early else new, repaired=new if early else {})
        yield from self._pass()

    def _pass(self) -> Steps:
        """Run one scan over the pool."""
        self.restarted = False
        if self.setup.operation == "rebuild":
            yield from self._rebuild_steps()
        elif self.sorted:
            yield from self._sorted_steps()
        else:
            yield from self._legacy_steps()

    def _set_children(self, more: dict[int, int], *, repaired: dict[int, int] | None = None) -> None:
        """Let further leaves be repaired, by the new leaf of each.

        With `repaired` a pass is done: its new leaves hold their data, those of `repaired` too.
        """
        for number, vdev in enumerate(self.setup.model.vdevs):
            read, write = list(vdev.read_leaf), list(vdev.write_leaf)
            children = {leaf: child for child, leaf in enumerate(self._leaves_before(number))}
            if repaired is not None:
                for leaf, new in repaired.items():
                    if leaf in children:
                        read[children[leaf]] = new
                read = [new if new >= 0 else old for old, new in zip(read, write, strict=True)]
                write = [NOT_REPAIRED] * len(write)
            for leaf, new in more.items():
                if leaf in children:
                    write[children[leaf]] = new
            self.plane.set_children(number, read, write)

    def _leaves_before(self, number: int) -> range:
        """Return the leaves of a top-level vdev as the pool was built: leaf numbers run through the vdevs."""
        first = sum(len(vdev.read_leaf) for vdev in self.setup.model.vdevs[:number])
        return range(first, first + len(self.setup.model.vdevs[number].read_leaf))

    def _slice(self, seconds: float) -> float:
        """Return how long the scan runs in this txg [s]: a second replacement cuts it short.

        The command that attaches it waits for three more txgs (spa.c:spa_vdev_attach,
        TXG_CONCURRENT_STATES), and while someone waits the scan gives way sooner.
        """
        if self.control.txgs < self.awaited_txgs:
            seconds = min(seconds, self.setup.release.txg_slice(self.setup.operation, True))
        return max(0.0, min(seconds, self.stop_at - self.elapsed))

    def _is_restarted(self) -> bool:
        """Tell, once the second drive is there, whether the scan starts again."""
        if self.elapsed < self.stop_at:
            return False
        self.stop_at = FOREVER
        self.awaited_txgs = self.control.txgs + TXGS_OF_ATTACH
        rule = self.setup.release.resilver_restart
        early = self.share() < self.setup.release.tunables.get("zfs_resilver_defer_percent", 0) / 100
        self.restarted = rule == "restart" or (rule == "defer-unless-early" and early)
        return self.restarted

    def _queue(self) -> ScanQueue | None:
        """Return the scan queue's entries in the order visited, each an item of its own."""
        if not self.sorted:
            return None
        order = self.walk.item[self.walk.code == OP_ISSUE]
        queue = queue_entries(self.setup.blocks, order)
        self.rows = queue.item
        self.first_entry = np.full(len(self.setup.blocks), -1, np.int64)
        self.first_entry[queue.item[::-1]] = np.arange(len(queue))[::-1]
        first = len(self.items)
        self.items = with_entries(
            self.items, self.setup.blocks, queue.item, queue.copy, seed=self.setup.seed,
            scrub=self.setup.operation == "scrub",
        )  # fmt: skip
        return replace(queue, item=np.arange(first, first + len(queue)))

    def _plane(self) -> Any:
        setup, windows = self.setup, [*self.windows, self.pool_window]
        longest = max(
            len(self.walk),
            len(self.items) if self.programs else 0,
            0 if self.queue is None else len(self.queue),
        )
        return setup.plane(
            setup.model,
            self.items,
            streams=max(1, len(setup.model.vdevs)),
            slots=min(slots_for(windows, setup.blocks.psize), len(self.items) + MIN_SLOTS),
            leaf_slots=self._most_on_one_vdev(),
            client_items=self._client_items(),
            log_items=self.log_items,
            records=setup.records,
            program_length=longest,
        )

    def _most_on_one_vdev(self) -> int:
        """Return how many blocks of one top-level vdev may be in flight at once."""
        psize, vdev = self.items.psize, self.items.vdev
        windows = self.windows or [self.pool_window] * len(self.setup.model.vdevs)
        if self.queue is not None:
            psize, vdev = psize[self.queue.item], vdev[self.queue.item]
        return max(window.most_blocks(psize[vdev == number]) for number, window in enumerate(windows))

    def _client_items(self) -> NDArray[np.int64]:
        if self.setup.model.client_count == 0:
            return np.zeros(0, np.int64)
        return np.flatnonzero(~self.setup.blocks.is_metadata).astype(np.int64)

    def _log_items(self) -> NDArray[np.int64]:
        """Make items of the intent log: its blocks lie one behind the other, on each top-level vdev."""
        setup = self.setup
        if not any(group.kind == "sync-write" for group in setup.model.client_groups):
            return np.zeros(0, np.int64)
        first = len(self.items)
        for number, (vdev, offset) in enumerate(log_places(setup.model)):
            size = -(-setup.log_bytes >> vdev.ashift) << vdev.ashift
            step = asize_of(vdev, size)
            places = offset + step * np.arange(LOG_BLOCKS, dtype=np.int64)
            chunks = Chunks(places, np.full(LOG_BLOCKS, size, np.int64), np.zeros(LOG_BLOCKS, np.int64))
            self.items = with_chunks(self.items, chunks, number)
        rows = np.arange(first, len(self.items)).reshape(-1, LOG_BLOCKS)
        return rows.T.ravel().astype(np.int64)

    def _came_back(self, now: float) -> None:
        if self.on_progress is not None:
            self.on_progress(now - self.start, self.share())

    def share(self) -> float:
        """Return the share of the bytes to be issued that is done."""
        issued = self.issued_before + sum(
            self.plane.stream(number, "issued_bytes") for number in range(max(1, len(self.windows)))
        )
        return float(issued / max(1, self._issue_bytes))

    @property
    def _issue_bytes(self) -> int:
        psize = self.setup.blocks.psize
        if self.queue is None:
            return int(psize[self.wanted].sum())
        return int(self.items.psize[self.queue.item].sum())

    def _sample(self, phase: str, begin: float) -> None:
        now = self.elapsed
        self.phases.append((phase, begin, now))
        streams = max(1, len(self.windows))
        issued = sum(int(self.plane.stream(number, "issued_bytes")) for number in range(streams))
        self.progress.append(Sample(now, 0, issued, phase))

    def _chunk_programs(self) -> list[Program]:
        """Return what a rebuild issues, by metaslab where it waits after each, and make its chunks items."""
        setup = self.setup
        number = next(number for number, vdev in enumerate(setup.model.vdevs) if vdev.damaged)
        chunks = rebuild_chunks(
            setup.blocks,
            number,
            damaged_vdev(setup.model.vdevs[number]),
            metaslab_bytes=1 << self._metaslab_shift(number),
            segment_bytes=setup.release.tunables["zfs_rebuild_max_segment"],
        )
        first = len(self.items)
        self.items = with_chunks(self.items, chunks, number)
        self.pool_window = rebuild_window(setup.model, number, setup.release, setup.memory)
        rows = np.arange(first, first + len(chunks))
        if not waits_for_metaslabs(setup.release):
            return [Program(np.full(len(rows), OP_ISSUE, np.int64), rows)]
        edges = np.flatnonzero(np.diff(chunks.metaslab)) + 1
        return [Program(np.full(len(part), OP_ISSUE, np.int64), part) for part in np.split(rows, edges)]

    def _metaslab_shift(self, number: int) -> int:
        if self.setup.metaslab_shift:
            return self.setup.metaslab_shift
        vdev = self.setup.model.vdevs[number]
        leaf = max(*vdev.read_leaf, *vdev.write_leaf)
        children = 1 if vdev.kind == "mirror" else len(vdev.read_leaf) - vdev.spares
        asize = self.setup.model.leaves[leaf].drive.capacity_bytes * children
        return metaslab_shift(asize, self.setup.release)

    def _rebuild_steps(self) -> Steps:
        values = self.setup.release.tunables
        least, most = values["zfs_vdev_async_write_min_active"], values["zfs_vdev_async_write_max_active"]
        rebuild = Rebuild(
            self.control,
            float(values["zfs_txg_timeout"]),
            waits_for_metaslabs(self.setup.release),
            lambda pending: self.plane.set_limit(ASYNC_WRITE, least, most if pending else least),
            lambda begin: self._sample("rebuild", begin - self.start),
        )
        yield from rebuild.steps(self.programs, self.pool_window)
        self.curve = rebuild.curve

    def _legacy_steps(self) -> Steps:
        self.plane.load_streams([self.walk], [self.pool_window])
        while True:
            begin = self.elapsed
            first = self.control.txgs == 0
            yield from self.control.scan_slice(
                self._slice(self.txg.first_slice_s if first else self.txg.slice_s)
            )
            self._sample("issue", begin)
            done = self.control.finished(1)
            self.visit_end = self.plane.stream(0, "last_visit")
            yield from self.control.sync()
            if done or self._is_restarted():
                return

    def _sorted_steps(self) -> Steps:
        """Run the mode machine of the sorted scan, one decision a txg (dsl_scan.c:dsl_scan_sync)."""
        assert self.queue is not None
        limit = MemoryLimit(self.setup.release, self.setup.memory, self.setup.blocks.allocated_bytes)
        visits, before = split_walk(self.walk, self.setup.blocks)
        total = len(self.queue)
        visited, position, pending = 0, 0, np.zeros(0, np.int64)
        scanned = False
        self.visit_end, self.visit_start = 0.0, 0.0
        while True:
            begin = self.elapsed
            mode = limit.mode(begin, self.queue, pending, visited_all=scanned)
            if mode == "visit":
                stop = limit.strict_stop(self.queue, pending, visited, total)
                end = len(visits) if stop >= total else int(np.searchsorted(before, stop, side="left"))
                piece = Program(visits.code[position:end], visits.item[position:end])
                self.plane.load_streams([piece], [self.pool_window])
                yield from self.control.scan_slice(self._slice(self.txg.slice_s))
                reached = position + min(self.plane.positions()[0], len(piece))
                now_visited = stop if reached == end else int(before[reached])
                pending = np.unique(
                    np.concatenate((pending, np.arange(visited, now_visited), self._way_up(now_visited)))
                )
                visited, position = now_visited, reached
                scanned = visited >= total and position >= len(visits)
                self._note_visit()
                self._sample("visit", begin)
                if scanned:
                    limit.finish_visits()
            elif mode == "issue":
                pending = yield from self._issue_slice(pending, limit)
                self._sample("issue", begin)
                if len(pending) == 0:
                    limit.drained(self.elapsed)
            else:
                return
            yield from self.control.sync()
            if (scanned and len(pending) == 0) or self._is_restarted():
                return

    def _way_up(self, stopped: int) -> NDArray[np.int64]:
        """Return the entries of the blocks above the one at which the visits were suspended.

        The traversal returns through their callbacks, which queue them; they are visited again once their
        subtrees are done (dsl_scan.c:dsl_scan_visitbp; scan_io_queue_insert_impl drops an entry that is
        still queued).
        """
        if stopped >= len(self.rows) or self.items.unwind is None:
            return np.zeros(0, np.int64)
        above = []
        row = int(self.items.unwind[self.rows[stopped]])
        while row >= 0:
            first = int(self.first_entry[row])
            above.append(np.arange(first, first + int(self.setup.blocks.dva_count[row])))
            row = int(self.items.unwind[row])
        return np.concatenate(above) if above else np.zeros(0, np.int64)

    def _note_visit(self) -> None:
        last = self.plane.stream(0, "last_visit")
        self.visit_end = max(self.visit_end, last)

    def _issue_slice(self, pending: NDArray[np.int64], limit: MemoryLimit) -> Steps:
        """Issue queued entries until the slice ends; return those left."""
        assert self.queue is not None
        part = self.queue.take(pending)
        orders = []
        for vdev in range(len(self.windows)):
            if limit.by_address:
                orders.append(address_order(part, vdev))
            else:
                orders.append(extent_order(part, vdev, limit.extents))
        self.plane.load_streams([issue_program(part, rows) for rows in orders], self.windows)
        yield from self.control.scan_slice(self._slice(self.txg.slice_s))
        starts = np.cumsum([0, *[len(rows) for rows in orders[:-1]]])
        left = [
            rows[max(0, position - start) :]
            for rows, position, start in zip(orders, self.plane.positions(), starts, strict=False)
        ]
        rest = np.sort(np.concatenate(left)) if left else np.zeros(0, np.int64)
        return pending[rest]

    def _records(self) -> NDArray[Any]:
        records = np.concatenate((*self.control.kept, self.plane.records))
        for name in ("submitted", "started", "done"):
            records[name] -= self.start
        return records

    def _result(self) -> RunResult:
        plane, setup = self.plane, self.setup
        first, last = plane.general("first_scan"), plane.general("last_scan")
        streams = max(1, len(setup.model.vdevs))
        return RunResult(
            end=self.elapsed,
            first_scan_s=first - self.start,
            span=max(0.0, last - first),
            visit=max(0.0, self.visit_end - self.start),
            idle=plane.general("idle_total"),
            txgs=self.control.txgs,
            children=int(plane.general("children_queued")),
            events=int(plane.general("events")),
            client_reads=int(plane.general("client_reads")),
            client_latency_s=plane.general("client_latency") / max(1.0, plane.general("client_reads")),
            leaves=plane.leaves.copy(),
            records=self._records(),
            issued_blocks=sum(int(plane.stream(number, "issued_blocks")) for number in range(streams)),
            issued_bytes=sum(int(plane.stream(number, "issued_bytes")) for number in range(streams)),
            link_busy=plane.link_busy,
            phases=self.phases,
            progress=self.progress,
            curve=self.curve,
            clients=plane.client_answers,
        )


def log_places(model: PlaneModel) -> list[tuple[VdevModel, int]]:
    """Return where the intent log lies on each top-level vdev.

    From 2.1 a metaslab is set aside for it (vdev.c:vdev_metaslab_init); taken to be in the middle.
    """
    places = []
    for vdev in model.vdevs:
        leaf = max(*vdev.read_leaf, *vdev.write_leaf)
        middle = model.leaves[leaf].drive.capacity_bytes // 2
        data = 1 if vdev.kind == "mirror" else len(vdev.read_leaf) - vdev.spares
        unit = max(1, asize_of(vdev, 1 << vdev.ashift))
        places.append((vdev, middle * data // unit * unit))
    return places


def wanted_blocks(setup: RunSetup) -> NDArray[np.bool_]:
    """Tell which blocks the scan has to read."""
    stays = ~rewritten_by_start(setup.blocks)
    if setup.operation == "scrub":
        return stays
    vdevs = tuple(damaged_vdev(vdev) for vdev in setup.model.vdevs)
    return stays & needs_io(setup.blocks, vdevs, column_test=setup.release.column_test)


def data_cursor(blocks: BlockTable) -> tuple[int, int]:
    """Return where the next data of a writer go: behind the youngest data block."""
    data = np.flatnonzero(~blocks.is_metadata)
    if len(data) == 0:
        return 0, 0
    youngest = data[np.argmax(blocks.birth[data])]
    return int(blocks.dva_vdev[youngest, 0]), int(
        blocks.dva_offset[youngest, 0] + blocks.dva_asize[youngest, 0]
    )


def damaged_vdev(vdev: VdevModel) -> DamagedVdev:
    """Return what the scan has to know of a top-level vdev."""
    return DamagedVdev(
        vdev.kind, len(vdev.read_leaf), vdev.parity, vdev.ashift, vdev.damaged, vdev.data, vdev.spares
    )


def plain_prefetch(release: ReleaseProfile) -> bool:
    """Tell whether a visited block's metadata children are prefetched without a limit (releases to 0.7)."""
    enabled = release.tunables.get("zfs_no_scrub_prefetch", 0) == 0
    return release.metadata_prefetch == "unbounded" and enabled


def _refuse_missing(setup: RunSetup) -> None:
    if setup.operation == "rebuild" and any(
        vdev.kind == "raidz" and vdev.damaged for vdev in setup.model.vdevs
    ):
        raise InputError("operation", "rebuild", "a RAID-Z cannot be rebuilt sequentially", "use resilver")
    if setup.second is not None and setup.operation == "rebuild":
        raise NotSimulatedYet("second replacement", setup.second.child, "a rebuild has one new drive")


def mos_cursors(blocks: BlockTable) -> list[list[tuple[int, int]]]:
    """Return where the youngest MOS blocks have their copies, by allocator: the next ones go nearby.

    Blocks whose first copies lie together came from one allocator; the one with the objset's root comes
    first, and a block all by itself tells nothing.
    """
    mos = np.flatnonzero(blocks.objset == 0)
    if len(mos) == 0:
        return [[(0, 0)]]
    youngest = mos[blocks.birth[mos] == blocks.birth[mos].max()]
    groups: dict[tuple[int, int], list[list[tuple[int, int]]]] = {}
    for row in youngest:
        count = int(blocks.dva_count[row])
        places = [
            (int(blocks.dva_vdev[row, copy]), int(blocks.dva_offset[row, copy])) for copy in range(count)
        ]
        groups.setdefault((places[0][0], places[0][1] // ALLOCATION_REGION), []).append(places)
    main, *others = groups.values()
    return [main[0], *(group[0] for group in others if len(group) > 1)]


def slots_for(windows: list[Window], psize: NDArray[np.int64]) -> int:
    """Return how many blocks the windows can hold, small blocks taken as an eighth of the mean."""
    # Windows of bytes hold mostly blocks of the usual size; a run of small ones may need many times as many
    # slots.
    small = max(512.0, float(np.mean(psize)) / SMALL_SHARE) if len(psize) else 4096.0
    blocks = max(window.limit if window.counts_blocks else window.limit / small for window in windows)
    return int(min(MAX_SLOTS, max(MIN_SLOTS, blocks + 2)))


def split_walk(walk: Program, blocks: BlockTable) -> tuple[Program, NDArray[np.int64]]:
    """Return the visits of a walk, and how many queue entries come before each of them."""
    issued = walk.code == OP_ISSUE
    entries = np.where(issued, blocks.dva_count[walk.item].astype(np.int64), 0)
    before = np.cumsum(entries)[~issued]
    return Program(walk.code[~issued], walk.item[~issued]), before


__all__ = ["Run", "RunResult", "RunSetup", "Sample", "ScanItems"]
