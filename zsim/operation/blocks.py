"""The blocks of a pool as a scan takes them: items, walk, queue entries, windows, room in a plane."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.engine.window import MIN_SLOTS, Window, slots_for
from zsim.operation.background.rebuild import chunk_programs, chunk_window
from zsim.operation.control import Plane
from zsim.operation.cursors import with_log
from zsim.operation.memory_limit import EXTENT_BYTES
from zsim.operation.rules import pool_window, vdev_window
from zsim.operation.setup import RunSetup, damaged_vdevs, plain_prefetch, wanted_blocks
from zsim.pool.blocks import BlockTable
from zsim.scan.items import NO_ITEM, ScanItems, joined_items, plain_items
from zsim.scan.program import OP_ISSUE, OP_VISIT, Program, metadata_above, scan_items, traversal_program
from zsim.scan.sorted import Addresses, ScanQueue, joined, queue_entries, with_own_items
from zsim.scenario.releases.profile import ReleaseProfile

I64 = NDArray[np.int64]


class ScanTables(NamedTuple):
    """What a scan makes of the blocks of a pool, whatever the hardware: see `ScanBlocks`."""

    wanted: NDArray[np.bool_] | None
    walk: Program
    items: ScanItems
    queue: ScanQueue | None
    rows: I64
    unwind: I64 | None


def scan_tables(setup: RunSetup, queued: bool) -> ScanTables:
    """Return what a release's scan makes of the blocks of a pool.

    Parameters
    ----------
    setup : RunSetup
        Of its hardware only the shape of the vdevs matters, and which of their children are damaged.
    queued : bool
        Whether a sorted scan's entries are given items.
    """
    vdevs, rebuilds = damaged_vdevs(setup.model), setup.operation == "rebuild"
    none = np.zeros(0, np.int64)
    # A rebuild goes by ranges: of half a million small blocks a walk is 20 MB, and their items, which clients
    # alone may ask for, are 100 MB.
    if rebuilds and not setup.reads_blocks:
        return ScanTables(None, Program(none, none), plain_items(none, none, none), None, none, None)
    wanted = None if rebuilds else wanted_blocks(setup)
    items = scan_items(
        setup.places, seed=setup.seed, wanted=wanted, vdevs=vdevs, imported=setup.imported, part=setup.part
    )
    if wanted is None:
        return ScanTables(None, Program(none, none), items, None, none, None)
    walk = traversal_program(setup.blocks, items, wanted, prefetch=plain_prefetch(setup.release))
    if not (setup.collects and queued):
        return ScanTables(wanted, walk, items, None, np.zeros(0, np.int64), items.unwind)
    queue = queue_entries(setup.blocks, walk.item[walk.code == OP_ISSUE])
    scrub = setup.operation == "scrub"
    every, own = with_own_items(
        items, setup.blocks, queue, seed=setup.seed, scrub=scrub, vdevs=vdevs, elsewhere=setup.visited
    )
    return ScanTables(wanted, walk, every, own, queue.item, items.unwind)


class KeptTables:
    """The tables of the last run, for runs of the same blocks on other hardware.

    A run that differs in more makes its own.  Runs may ask from several threads at once.
    """

    def __init__(self) -> None:
        self._kept: tuple[RunSetup, bool, ScanTables] | None = None

    def of(self, setup: RunSetup, queued: bool) -> ScanTables:
        """Return `scan_tables`."""
        kept = self._kept
        if kept is not None and kept[1] == queued and _same_tables(kept[0], setup):
            return kept[2]
        found = scan_tables(setup, queued)
        self._kept = setup, queued, found
        return found

    def forget(self) -> None:
        """Let go of the tables."""
        self._kept = None


def _same_tables(left: RunSetup, right: RunSetup) -> bool:
    """Tell whether two runs have the same `scan_tables`."""

    def decides(setup: RunSetup) -> tuple[object, ...]:
        release, vdevs = setup.release, damaged_vdevs(setup.model)
        rules = (release.column_test, plain_prefetch(release), setup.collects, setup.reads_blocks)
        return (setup.operation, setup.seed, setup.imported, setup.part, id(setup.visited), vdevs, *rules)

    alike = decides(left) == decides(right) and len(left.blocks) == len(right.blocks)
    return alike and all(
        np.array_equal(getattr(left.blocks, name), getattr(right.blocks, name))
        for name in BlockTable.__slots__
    )


class ScanBlocks:
    """What a release's scan makes of the blocks of a pool.

    Parameters
    ----------
    setup : RunSetup
    queued : bool
        Whether a sorted scan's entries are given items.
    kept : KeptTables, optional
        Where what is made of the blocks is found, and left, for other runs of them.

    Attributes
    ----------
    walk : Program
        Visits and issues in the order of the traversal.
    items : ScanItems
        Blocks, then queue entries that need one, then chunks of a rebuild, then blocks of the intent log.
    queue : ScanQueue, optional
        Entries of a sorted scan in the order visited, no two with the same item.
    rows : ndarray of int64
        Block of each of them.
    unwind : ndarray of int64, optional
        The way up from each item (`ScanItems`).
    programs, metaslabs : list of Program, list of int
        Of a rebuild, and the metaslab with which each begins.
    windows : list of Window
        Of each top-level vdev in a sorted scan.
    pool_window : Window
        Of the legacy scan and of the metadata phase; of a rebuild.
    """

    def __init__(self, setup: RunSetup, *, queued: bool = True, kept: KeptTables | None = None) -> None:
        self.setup = setup
        tables = (kept or KeptTables()).of(setup, queued)
        self._wanted, self.walk, self.rows = tables.wanted, tables.walk, tables.rows
        self.items: ScanItems = tables.items
        self.unwind = tables.unwind
        self.queue = tables.queue
        self.programs: list[Program] = []
        self.metaslabs: list[int] = []
        if setup.operation == "rebuild":
            self.items, self.programs, self.metaslabs = chunk_programs(setup, self.items)
        self._asked = self._with_asked()
        self.items, self.log_items = with_log(setup.model, setup.release, setup.log_bytes, self.items)
        self.set_windows(setup.release)

    def set_windows(self, release: ReleaseProfile) -> None:
        """Take the windows from the tunables of a release."""
        vdevs, collects = self.setup.model.vdevs, self.setup.collects
        self.windows: list[Window] = [vdev_window(vdev, release) for vdev in vdevs] if collects else []
        rebuilds = self.setup.operation == "rebuild"
        self.pool_window = chunk_window(self.setup, release) if rebuilds else pool_window(vdevs, release)

    def _with_asked(self) -> I64:
        """Return what clients read: data blocks, of which there are other items where they lie elsewhere."""
        if self.setup.model.client_count == 0:
            return np.zeros(0, np.int64)
        asked = self.setup.asked
        if asked is None:
            return np.flatnonzero(~self.setup.blocks.is_metadata).astype(np.int64, copy=False)
        rows = np.flatnonzero(~asked.is_metadata)
        first, vdevs = len(self.items), damaged_vdevs(self.setup.model)
        self.items = joined_items(
            self.items, scan_items(asked.take(rows), seed=self.setup.seed, vdevs=vdevs, part=self.setup.part)
        )
        return np.arange(first, len(self.items))

    def client_items(self) -> I64:
        """Return what clients read."""
        return self._asked

    def _above(self) -> I64 | None:
        """Return the metadata above each item, where clients find little of it in memory.

        So it is just after an import; in a pool in use they have read it before.
        """
        if self.setup.model.client_count == 0 or not self.setup.imported:
            return None
        above = metadata_above(self.setup.blocks)
        if self.setup.asked is None:
            return above
        every = np.full(len(self.items), NO_ITEM, np.int64)
        every[: len(above)] = above
        every[self._asked] = above[~self.setup.blocks.is_metadata]
        return every

    def slots(self) -> int:
        """Return how many blocks the windows can hold."""
        return slots_for([*self.windows, self.pool_window], self.setup.blocks.psize)

    def plane(self) -> Plane:
        """Return a data plane with room for all of it."""
        setup = self.setup
        longest = max(
            len(self.walk),
            len(self.items) if self.programs else 0,
            0 if self.queue is None else len(self.queue),
        )
        plane: Plane = setup.plane(
            setup.model,
            self.items,
            streams=max(1, len(setup.model.vdevs)),
            slots=min(self.slots(), len(self.items) + MIN_SLOTS),
            leaf_slots=self._most_on_one_vdev(),
            client_items=self.client_items(),
            log_items=self.log_items,
            above=self._above(),
            records=setup.records,
            program_length=longest,
        )
        plane.set_general("visit_s", visit_seconds(setup, self.walk))
        return plane

    def _most_on_one_vdev(self) -> int:
        """Return how many blocks of one top-level vdev may be in flight at once."""
        psize, vdev = self.items.psize, self.items.vdev
        windows = self.windows or [self.pool_window] * len(self.setup.model.vdevs)
        if self.queue is not None:
            psize, vdev = psize[self.queue.item], vdev[self.queue.item]
        return max(window.most_blocks(psize[vdev == number]) for number, window in enumerate(windows))

    def forget_items(self) -> None:
        """Let go of the items, which the plane holds by now, but for the way up from each of them."""
        del self.items

    def forget(self) -> None:
        """Let go of all that the plane holds by now."""
        self.forget_items()
        del self.queue

    @cached_property
    def wanted(self) -> NDArray[np.bool_]:
        """What the scan reads; of a rebuild that nobody reads beside it is seldom asked for."""
        return wanted_blocks(self.setup) if self._wanted is None else self._wanted

    @property
    def issue_bytes(self) -> int:
        """What the scan issues, psize [bytes]."""
        psize = self.setup.blocks.psize
        if self.queue is None:
            return int(psize[self.wanted].sum())
        return int(self.items.psize[self.queue.item].sum())


def visit_seconds(setup: RunSetup, walk: Program) -> float:
    """Return the processor time of the traversal for each metadata block of a walk, the mean [s]."""
    visits = max(1, int(np.count_nonzero(walk.code == OP_VISIT)))
    return setup.model.scan.pointer_s * setup.walked * len(setup.blocks) / visits


def split_walk(walk: Program, blocks: BlockTable) -> tuple[Program, I64]:
    """Return the visits of a walk, and how many queue entries come before each of them.

    Parameters
    ----------
    walk : Program
        Visits of metadata, and issues.
    blocks : BlockTable

    Returns
    -------
    visits : Program
    before : ndarray of int64, shape (visits,)
        One entry for each copy of a block that is issued (OpenZFS dsl_scan.c:dsl_scan_enqueue).
    """
    issued = walk.code == OP_ISSUE
    entries = np.where(issued, blocks.dva_count[walk.item].astype(np.int64), 0)
    before = np.cumsum(entries)[~issued]
    return walk.part(~issued), before


class PendingEntries:
    """Entries of a scan queue that wait to be issued.

    Parameters
    ----------
    queue : ScanQueue
        All entries, in the order visited.
    max_gap : int
        Neighbours at most so far apart form one extent [bytes].
    """

    def __init__(self, queue: ScanQueue, max_gap: int) -> None:
        self.queue, self.max_gap = queue, max_gap
        self.addresses = Addresses(queue)
        self.rows = np.zeros(0, np.int64)

    def used_bytes(self, rows: I64) -> int:
        """Return the memory that some entries take, their extents with them [bytes]."""
        records = int(self.queue.record_bytes[rows].sum())
        return records + EXTENT_BYTES * self._extents(self.addresses.in_order(rows))

    def _extents(self, rows: I64) -> int:
        """Return how many extents entries in LBA order make, vdev by vdev."""
        if len(rows) == 0:
            return 0
        offset = self.queue.offset[rows]
        gap = offset[1:] - offset[:-1] - self.queue.asize[rows[:-1]]
        return 1 + int(((gap > self.max_gap) | (np.diff(self.queue.vdev[rows]) != 0)).sum())

    def drop(self, parts: Sequence[I64]) -> None:
        """Take entries out of what waits."""
        waits = np.zeros(len(self.queue), np.bool_)
        waits[self.rows] = True
        for rows in parts:
            waits[rows] = False
        self.rows = np.flatnonzero(waits)

    def with_visited(self, first: int, end: int, more: I64) -> I64:
        """Return what waits with the entries from `first` to before `end`, and `more`."""
        return joined(self.rows, first, end, more)
