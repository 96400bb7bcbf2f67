"""One run: a pool's blocks, its hardware and a release, from the first visit to the end of the operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import simpy
from numpy.typing import NDArray

from zsim.engine.model import NOT_REPAIRED, VdevModel
from zsim.engine.window import MIN_SLOTS, slots_for
from zsim.operation.control import ScanControl, Steps
from zsim.operation.cursors import data_cursor, imported_cursors, log_places, mos_cursors, vdev_asize
from zsim.operation.ledger import ByPhase, PhaseLedger
from zsim.operation.memory_limit import MemoryLimit
from zsim.operation.rebuild import Rebuild
from zsim.operation.result import RunResult, ScanSample
from zsim.operation.rules import (
    ASYNC_WRITE,
    pool_window,
    rebuild_window,
    txg_rules,
    vdev_window,
    waits_for_metaslabs,
)
from zsim.operation.setup import (
    RunSetup,
    SecondReplacement,
    damaged_vdev,
    plain_prefetch,
    refuse_missing,
    wanted_blocks,
)
from zsim.operation.txg import SyncWrites, asize_of
from zsim.pool.blocks import BlockTable
from zsim.scan.program import (
    OP_ISSUE,
    Program,
    scan_items,
    traversal_program,
    with_entries,
)
from zsim.scan.rebuild import Chunks, rebuild_chunks, with_chunks
from zsim.scan.sorted import ScanQueue, address_order, extent_order, issue_program, queue_entries
from zsim.scenario.releases.capacity import metaslab_shift

FOREVER = np.inf
TXGS_TO_FINISH = 3
# The txg of an attach, and TXG_CONCURRENT_STATES after it.
TXGS_OF_ATTACH = 4
# The log goes round in so many blocks a top-level vdev.
LOG_BLOCKS = 1024


class Run:
    """Executes a `RunSetup` on a data plane."""

    def __init__(self, setup: RunSetup, progress: Callable[[float, float], None] | None = None) -> None:
        self.setup = setup
        refuse_missing(setup)
        blocks = setup.blocks
        self.wanted = wanted_blocks(setup)
        visited = blocks if setup.visited is None else setup.visited
        self.items = scan_items(visited, seed=setup.seed, wanted=self.wanted)
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
        self.ledger = PhaseLedger()
        self.progress: list[ScanSample] = []
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
            shifts = [self._metaslab_shift(vdev) for vdev in setup.model.vdevs]
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

    def finish(self) -> RunResult:
        """Run to the end, and let go of the data plane, which takes most of the memory."""
        result = self.execute()
        self.release()
        return result

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
        if not any(group.kind == "sync-write" for group in setup.model.clients):
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
        self.ledger.book(phase, self.plane.leaves)
        streams = max(1, len(self.windows))
        issued = sum(int(self.plane.stream(number, "issued_bytes")) for number in range(streams))
        self.progress.append(ScanSample(now, 0, issued, phase))

    def _chunk_programs(self) -> list[Program]:
        """Return what a rebuild issues, by metaslab where it waits after each, and make its chunks items."""
        setup = self.setup
        number = next(number for number, vdev in enumerate(setup.model.vdevs) if vdev.damaged)
        chunks = rebuild_chunks(
            setup.blocks,
            number,
            damaged_vdev(setup.model.vdevs[number]),
            metaslab_bytes=1 << self._metaslab_shift(setup.model.vdevs[number]),
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

    def _metaslab_shift(self, vdev: VdevModel) -> int:
        setup = self.setup
        return setup.metaslab_shift or metaslab_shift(vdev_asize(setup.model, vdev), setup.release)

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

    def _booked(self) -> ByPhase:
        if self.phases:
            self.ledger.book(self.phases[-1][0], self.plane.leaves)
        return self.ledger.by_phase()

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
            by_phase=self._booked(),
        )


def split_walk(walk: Program, blocks: BlockTable) -> tuple[Program, NDArray[np.int64]]:
    """Return the visits of a walk, and how many queue entries come before each of them."""
    issued = walk.code == OP_ISSUE
    entries = np.where(issued, blocks.dva_count[walk.item].astype(np.int64), 0)
    before = np.cumsum(entries)[~issued]
    return Program(walk.code[~issued], walk.item[~issued]), before


__all__ = ["Run", "RunResult", "RunSetup", "ScanSample", "SecondReplacement"]
