"""The queues of a sorted scan over the tiles of a large pool: which entries wait, in which order."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from zsim.engine.compiled.plane import item_records
from zsim.operation.blocks import split_walk
from zsim.operation.memory_limit import EXTENT_BYTES
from zsim.operation.setup import RunSetup, damaged_vdevs
from zsim.prediction.exact.tiles import Prepared, Tile
from zsim.scan.items import NO_ITEM, ScanItems
from zsim.scan.program import OP_ISSUE, Program, is_traversed, read_chances, with_entries
from zsim.scan.sorted import ExtentRules, ScanQueue, address_order, extents_of, queue_entries, scored_extents

I64 = NDArray[np.int64]
MOST_COPIES = 2


class PreparedQueue(Prepared):
    """A population as the sorted scan takes it: the blocks it visits, and the entries that become of them.

    Parameters
    ----------
    setup : RunSetup
    turn : int
        See `Prepared`.
    slab_starts : callable
        From a top-level vdev's number to the addresses of its metaslabs.
    rules : ExtentRules
    """

    def __init__(
        self, setup: RunSetup, turn: int, slab_starts: Callable[[int], I64], rules: ExtentRules
    ) -> None:
        super().__init__(setup, turn)
        order = self.walk.item[self.walk.code == OP_ISSUE]
        self.queue: ScanQueue = queue_entries(setup.blocks, order)
        self.visits, self.before = split_walk(self.walk, setup.blocks)
        self._name_visited()
        self._collect_entries(setup)
        self.unwind = self.items.unwind
        self.by_address: dict[int, list[I64]] = {}
        self._by_extent: dict[int, list[tuple[int, int, I64]]] = {}
        self.slab_starts, self.rules, self.extents = slab_starts, rules, 0
        for vdev in np.unique(self.queue.vdev):
            self._order(int(vdev), slab_starts(int(vdev)))
        shared = EXTENT_BYTES * self.extents / max(1, len(self.queue))
        self.entry_bytes = self.queue.record_bytes.astype(np.float64) + shared

    def slim(self) -> Self:
        """Let go of what only the preparation needs, four fifths of it; return what is left."""
        super().slim()
        del self.walk, self.records, self.data_rows, self.copy_vdev, self.copy_offset, self.copy_columns
        nothing = np.zeros(0, np.int64)
        self.queue = replace(self.queue, copy=nothing, record_bytes=nothing)
        return self

    def way_up(self, stopped: int) -> I64:
        """Return the entries of the blocks above the one at whose entry the visits were suspended.

        See `zsim.operation.sources.WholeQueues`.
        """
        if stopped >= len(self.queue) or self.unwind is None:
            return np.zeros(0, np.int64)
        above, row = [], int(self.unwind[self.queue.item[stopped]])
        while row >= 0:
            above.append(np.flatnonzero(self.queue.item == row))
            row = int(self.unwind[row])
        return np.concatenate(above) if above else np.zeros(0, np.int64)

    def _name_visited(self) -> None:
        """Give the visited blocks numbers of their own: in the plane are only they while the scan visits."""
        visited = is_traversed(self.blocks)
        number = np.cumsum(visited) - 1
        self.visited_records = self.records[visited]
        for name in ("prefetch_first", "prefetch_next"):
            column = self.visited_records[name]
            column[column >= 0] = number[column[column >= 0]]
        self.visited_records["unwind"] = NO_ITEM
        self.visits = Program(self.visits.code, number[self.visits.item])

    def _collect_entries(self, setup: RunSetup) -> None:
        both = with_entries(
            self.items, setup.blocks, self.queue.item, self.queue.copy,
            chance=read_chances(setup.seed + 1, len(self.queue)),
            scrub=setup.operation == "scrub", vdevs=damaged_vdevs(setup.model),
        )  # fmt: skip
        copies = len(self.items.copy_vdev)
        entries = _behind(both, len(self.items), copies)
        self.entries = item_records(entries)
        # Few entries have further copies.
        have = np.flatnonzero(entries.copy_count)
        self._copies = np.zeros((len(have), MOST_COPIES, 3), np.int64)
        self._copies_at = np.zeros(len(self.queue), np.int32)
        self._copies_at[have] = np.arange(len(have))
        for place in range(MOST_COPIES):
            some = entries.copy_count[have] > place
            source = entries.copies[have[some]] - copies + place
            self._copies[some, place, 0] = entries.copy_vdev[source]
            self._copies[some, place, 1] = entries.copy_offset[source]
            self._copies[some, place, 2] = entries.copy_columns[source]

    def copies_of(self, rows: I64) -> I64:
        """Return where the further copies of entries lie that have some.

        Returns
        -------
        ndarray of int64, shape (rows * MOST_COPIES, 3)
            Top-level vdev, DVA offset [bytes] and columns of each, zeros where an entry has fewer.
        """
        return self._copies[self._copies_at[rows]].reshape(-1, 3)

    def _order(self, vdev: int, starts: I64) -> None:
        rows, slab = self._slabs(vdev, starts)
        bounds = np.searchsorted(slab, np.arange(len(starts) + 1))
        self.by_address[vdev] = [rows[a:b] for a, b in pairwise(bounds)]
        self.extents += int(extents_of(self.queue, rows, self.rules)[-1]) + 1

    def _slabs(self, vdev: int, starts: I64) -> tuple[I64, I64]:
        """Return the entries of a top-level vdev in LBA order, and the metaslab of each."""
        rows = address_order(self.queue, vdev)
        return rows, np.searchsorted(starts, self.queue.offset[rows], side="right") - 1

    def by_extent(self, vdev: int) -> list[tuple[int, int, I64]]:
        """Return the entries of a top-level vdev by extent, best score first, each with score and metaslab.

        Only a scan that is short of memory asks for them.
        """
        if vdev not in self._by_extent:
            self._by_extent[vdev] = self._scored(vdev)
        return self._by_extent[vdev]

    def _scored(self, vdev: int) -> list[tuple[int, int, I64]]:
        rows, slab = self._slabs(vdev, self.slab_starts(vdev))
        extent, score = scored_extents(self.queue, rows, self.rules)
        slab_of_extent = slab[np.searchsorted(extent, np.arange(len(score)))]
        order = np.lexsort((np.arange(len(score)), slab_of_extent, -score))
        ends = np.searchsorted(extent, np.arange(len(score)), side="right")
        begins = np.searchsorted(extent, np.arange(len(score)))
        keys = np.stack([-score[order], slab_of_extent[order]], axis=1)
        breaks = np.flatnonzero((np.diff(keys, axis=0) != 0).any(axis=1)) + 1
        return [
            (int(-score[part[0]]), int(slab_of_extent[part[0]]),
             np.concatenate([rows[begins[each] : ends[each]] for each in part]))
            for part in np.split(order, breaks)
        ]  # fmt: skip


@dataclass(slots=True)
class Waiting:
    """A tile whose visits have begun: which of its entries wait."""

    tile: Tile
    prepared: PreparedQueue
    waits: NDArray[np.bool_]
    visited: int = 0
    taken: int = 0

    @property
    def done(self) -> bool:
        """Whether all of it was visited and issued."""
        return self.visited >= len(self.waits) and self.taken == 0 and not self.waits.any()


class TileQueues:
    """The entries of all tiles that wait to be issued.

    Parameters
    ----------
    vdevs : int
        Top-level vdevs of the pool.
    """

    def __init__(self, vdevs: int) -> None:
        self.vdevs = vdevs
        self.tiles: dict[int, Waiting] = {}
        self.count = 0
        self.bytes = 0.0

    def begin(self, tile: Tile, prepared: PreparedQueue) -> None:
        """Take a tile whose visits begin."""
        self.tiles[tile.number] = Waiting(tile, prepared, np.zeros(len(prepared.queue), bool))

    def visit(self, number: int, until: int) -> None:
        """Queue what a tile's visits have come to."""
        waiting = self.tiles[number]
        self.put_back(number, np.arange(waiting.visited, until))
        waiting.visited = max(waiting.visited, until)

    def put_back(self, number: int, rows: I64) -> None:
        """Queue entries of a tile; those that wait already are dropped."""
        waiting = self.tiles[number]
        new = rows[~waiting.waits[rows]]
        waiting.waits[new] = True
        self._count(waiting, new, 1)

    def _count(self, waiting: Waiting, rows: I64, sign: int) -> None:
        self.count += sign * len(rows)
        self.bytes += sign * float(waiting.prepared.entry_bytes[rows].sum())

    def take(self, number: int, rows: I64) -> I64:
        """Take those of some entries that wait: none of a tile of which nothing is left."""
        if number not in self.tiles:
            return np.zeros(0, np.int64)
        waiting = self.tiles[number]
        found = rows[waiting.waits[rows]]
        waiting.waits[found] = False
        waiting.taken += len(found)
        return found

    def issued(self, number: int, rows: I64) -> None:
        """Forget entries that were taken and are issued now."""
        self.tiles[number].taken -= len(rows)
        self._count(self.tiles[number], rows, -1)

    def forget_done(self) -> None:
        """Forget the tiles of which nothing is left."""
        for number in [number for number, waiting in self.tiles.items() if waiting.done]:
            del self.tiles[number]

    def _ordered(self, vdev: int) -> list[tuple[Waiting, int]]:
        """Return the tiles by address, each with its population's number of a top-level vdev."""
        found = [
            (waiting, (vdev - waiting.tile.turn + waiting.prepared.turn) % self.vdevs)
            for waiting in self.tiles.values()
        ]
        held = [(waiting, name) for waiting, name in found if name in waiting.prepared.by_address]
        return sorted(held, key=lambda each: (int(each[0].tile.shift[vdev]), each[0].tile.number))

    def in_address_order(self, vdev: int) -> Iterator[tuple[int, I64]]:
        """Yield tile and entries of one top-level vdev in LBA order."""
        tiles = self._ordered(vdev)
        slabs = max((len(waiting.prepared.by_address[name]) for waiting, name in tiles), default=0)
        for slab in range(slabs):
            for waiting, name in tiles:
                yield waiting.tile.number, waiting.prepared.by_address[name][slab]

    def in_extent_order(self, vdev: int) -> Iterator[tuple[int, I64]]:
        """Yield tile and entries of one top-level vdev by extent, best score first."""
        streams = [_extents_of(place, *each) for place, each in enumerate(self._ordered(vdev))]
        for *_, number, rows in heapq.merge(*streams, key=lambda each: each[:3]):
            yield number, rows


def _extents_of(place: int, waiting: Waiting, vdev: int) -> Iterator[tuple[int, int, int, int, I64]]:
    for score, slab, rows in waiting.prepared.by_extent(vdev):
        yield score, slab, place, waiting.tile.number, rows


def _behind(items: ScanItems, first: int, first_copy: int) -> ScanItems:
    """Return the items from a number on; their copies keep the numbers they had."""
    columns = {
        name: getattr(items, name)[first:] for name in ScanItems.__slots__ if not name.startswith("copy_")
    }
    columns["copy_count"] = items.copy_count[first:]
    return ScanItems(
        **columns,
        copy_vdev=items.copy_vdev[first_copy:],
        copy_offset=items.copy_offset[first_copy:],
        copy_columns=items.copy_columns[first_copy:],
    )
