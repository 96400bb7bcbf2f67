"""A pool of any size as tiles: a few populations, each put at many places of the pool's metaslabs.

A miniature fills the first part of its metaslabs.  Moved on by that part, again and again, it fills them
whole; the next metaslabs, which the miniature leaves out, follow.  So a few populations make up every block
of the pool, in memory that does not grow with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import Rows, undivided
from zsim.base.errors import NotSimulatedYet
from zsim.case.case import Case
from zsim.engine.compiled.plane import item_records
from zsim.operation.setup import RunSetup, damaged_vdevs, plain_prefetch, wanted_blocks
from zsim.pool.blocks import BlockTable
from zsim.pool.miniature.shape import Miniature
from zsim.prediction.inputs.population import laid_out_whole, pool_miniature
from zsim.scan.items import ScanItems
from zsim.scan.program import Program, scan_items, traversal_program
from zsim.vdevs.kind import kind_of

I64 = NDArray[np.int64]
T = TypeVar("T")
LINKED = ("prefetch_first", "prefetch_next", "unwind")


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile of the pool.

    Attributes
    ----------
    number : int
    base : int
        Population it is a copy of.
    turn : int
        Top-level vdev v of the population is vdev (v + turn) % vdevs of the pool.
    shift : ndarray of int64, shape (vdevs of the pool,)
        How far its blocks lie behind the population's, by the pool's vdev [bytes].
    rows : int
        Blocks of it; fewer than the population has in the last tile only.
    """

    number: int
    base: int
    turn: int
    shift: I64
    rows: int


class Tiling:
    """The tiles of a scenario's pool.

    Parameters
    ----------
    resolved : Case
    blocks : int
        Of a tile, roughly.
    populations : int
        So many different ones are built; tiles take them in turn.
    whole : int
        A pool of so many blocks is laid out as it is, though it is larger than a tile.

    Attributes
    ----------
    single : bool
        The pool is laid out as it is: its only tile is the pool.
    count : int
        Tiles, the last of which may be cut off.
    """

    def __init__(self, resolved: Case, blocks: int, populations: int, whole: int = 0) -> None:
        self.resolved, self.blocks = resolved, blocks
        self.vdevs = len(resolved.layout.vdevs)
        self._built: dict[int, BlockTable] = {}
        first, self.note = _first_population(resolved, blocks, whole)
        self.single = first.scale == 1.0
        self.first = first if self.single else evenly(first)
        self.share = len(self.first.vdevs) / self.vdevs
        if self.share < 1.0 and len(set(resolved.layout.vdevs)) > 1:
            raise NotSimulatedYet("exact", "true", "sampling, or a pool of equal vdevs", "leave --exact out")
        self._first_bytes = self._bytes(0, first=True)
        more = max(0, 0 if self.single else resolved.alloc - self._first_bytes)
        self.populations = min(populations, 1 + math.ceil(more / self._bytes(0)))
        # All at once: to lay out one takes several times the memory of what comes of it.
        bases = range(0 if self.single else self.populations)
        self._rows_of = [(self._bytes(base), len(self.table(base))) for base in bases]
        self.count = 1 + self._behind_the_first(more)
        self.most_rows = max([len(self.first.table), *(rows for _, rows in self._rows_of)])

    def _behind_the_first(self, more: int) -> int:
        """Return how many tiles hold so many bytes more than the first, populations in turn."""
        if more == 0:
            return 0
        turn = np.array(
            [self._rows_of[number % self.populations][0] for number in range(1, self.populations + 1)]
        )
        rounds, left = divmod(more, int(turn.sum()))
        return rounds * self.populations + int(np.searchsorted(np.cumsum([0, *turn]), left))

    def _bytes(self, base: int, *, first: bool = False) -> int:
        return self.table(base, first=first).allocated_bytes

    def table(self, base: int, *, first: bool = False) -> BlockTable:
        """Return a population.

        Parameters
        ----------
        base : int
            Its number.
        first : bool
            That of the first tile, with the MOS, which a pool has once.

        Returns
        -------
        BlockTable
            In the first part of its metaslabs; built when it is first asked for.
        """
        if first or self.single:
            return self.first.table
        if base == 0:
            return _without_mos(self.first)  # made when it is asked for: it would be held twice
        if base not in self._built:
            seeded = replace(self.resolved, seed=self.resolved.seed + base)
            self._built[base] = _without_mos(evenly(pool_miniature(seeded, blocks=self.blocks)[0]))
        return self._built[base]

    def rows_of(self, tile: Tile) -> int:
        """Return how many blocks the population of a tile has."""
        return len(self.first.table) if tile.number == 0 else self._rows_of[tile.base][1]

    def forget(self, base: int) -> None:
        """Let go of a population that is prepared, unless the last tile may be a part of it."""
        if base != (self.count - 1) % self.populations:
            self._built.pop(base, None)

    def release(self) -> None:
        """Let go of all populations but the first; they are built again if they are asked for."""
        self._built.clear()

    @property
    def geometry(self) -> Miniature:
        """The miniature whose metaslabs all populations have."""
        return self.first

    def tiles(self) -> Iterator[Tile]:
        """Yield the tiles, until all bytes of the pool are there.

        Yields
        ------
        Tile
            The last one with fewer rows, so that its bytes and all before it sum to ALLOC.
        """
        left = self.resolved.alloc
        for number in range(self.count):
            base = number % self.populations
            size, rows = self._first_bytes, len(self.first.table)
            if number > 0:
                size, rows = self._rows_of[base]
            if size > left and number > 0:
                table = self.table(base)
                rows = int(np.searchsorted(np.cumsum(table.dva_asize.sum(axis=1)), left, side="right"))
            if rows == 0:
                return
            turn = number % self.vdevs if self.share < 1.0 else 0
            yield Tile(number, base, turn, self._shift(number), rows)
            left -= size

    def _shift(self, number: int) -> I64:
        """Return how far a tile lies behind its population on each top-level vdev of the pool [bytes].

        On each it is one further than the last tile there: not all tiles have blocks on it where a population
        has fewer vdevs than the pool.
        """
        shift = np.zeros(self.vdevs, np.int64)
        # Of the last tile there is a part, which takes no place of its own.
        more = max(0, self.resolved.alloc - self._first_bytes)
        bytes_of = [size for size, _ in self._rows_of] or [self._first_bytes]
        count = max(1.0, self.share * (1.0 + more * len(bytes_of) / sum(bytes_of)))
        levels = self.geometry.recipe.vdevs
        if self.share == 1.0:
            for vdev, level in zip(self.geometry.vdevs, levels, strict=True):
                shift[vdev] = level.behind(number, count)
            return shift
        rounds, turns = divmod(number, self.vdevs)
        before = np.full(self.vdevs, rounds * len(levels))
        for turn in range(turns):
            before[(np.array(self.geometry.vdevs) + turn) % self.vdevs] += 1
        return np.array([levels[0].behind(int(each), count) for each in before], np.int64)


def _first_population(case: Case, blocks: int, whole: int) -> tuple[Miniature, str]:
    """Return the population of a tile, or the pool where it has no more blocks than `whole`."""
    tile, note = pool_miniature(case, blocks=blocks)
    if whole <= blocks:
        return tile, note
    pool_blocks = tile.scale * len(tile.table) * len(case.layout.vdevs) / len(tile.vdevs)
    found = laid_out_whole(
        (tile, note),
        pool_blocks,
        whole,
        lambda more: pool_miniature(case, blocks=more),
        lambda laid: laid[0].scale == 1.0,
    )
    return found or (tile, note)


def _without_mos(pool: Miniature) -> BlockTable:
    return pool.table.take(pool.table.objset != 0)


def evenly(pool: Miniature) -> Miniature:
    """Return a population with all its metaslabs as far apart.

    Returns
    -------
    Miniature
        Its metaslab k begins at k times the scale times the size of a metaslab, in whole rows; where
        metaslabs stood in heaps, copies that fill the room would overlap.
    """
    table, vdevs = pool.table, []
    offset = table.dva_offset.copy()
    for number, level in zip(pool.vdevs, pool.recipe.vdevs, strict=True):
        starts = places = level.slab_starts()
        if not kind_of(level.spec.kind).has_groups and level.stands_for > 0:
            apart = int(pool.scale * level.slab_bytes) // level.row_bytes * level.row_bytes
            here = table.dva_vdev == number
            places = apart * np.arange(level.slab_count)
            offset[here] += (places - starts)[level.slab_of(offset[here])]
        vdevs.append(replace(level, starts=tuple(places.tolist())))
    recipe = replace(pool.recipe, vdevs=tuple(vdevs))
    return replace(pool, table=replace(table, dva_offset=offset), recipe=recipe)


class Prepared:
    """A population ready for the plane: its items as records, its walk, with numbers that begin at 0.

    Parameters
    ----------
    setup : RunSetup
        Its blocks are the population, vdevs by the pool's numbers.
    turn : int
        By which they were turned.
    """

    def __init__(self, setup: RunSetup, turn: int = 0) -> None:
        self.blocks, self.turn = setup.blocks, turn
        self.vdevs = len(setup.model.vdevs)
        self.wanted = wanted_blocks(setup)
        self.items: ScanItems = scan_items(
            setup.blocks, seed=setup.seed, wanted=self.wanted, vdevs=damaged_vdevs(setup.model)
        )
        self.walk: Program = traversal_program(
            setup.blocks, self.items, self.wanted, prefetch=plain_prefetch(setup.release)
        )
        self.records = item_records(self.items)
        self.data_rows: I64 = np.flatnonzero(~setup.blocks.is_metadata)
        self.copy_vdev, self.copy_offset = self.items.copy_vdev, self.items.copy_offset
        self.copy_columns = self.items.copy_columns

    def slim(self) -> Self:
        """Let go of what only the preparation needs; return what is left."""
        del self.blocks, self.wanted, self.items
        return self

    def move(self, records: Rows, tile: Tile, first_item: int, first_copy: int) -> None:
        """Put records, still those of the population, at the place of a tile whose numbers begin here."""
        shift_records(records, tile, self.turn, self.vdevs)
        records["copies"] += first_copy
        for name in LINKED:
            column = records[name]
            np.add(column, first_item, out=column, where=column >= 0)

    def moved_copies(self, tile: Tile) -> tuple[I64, I64]:
        """Return where a tile's further copies lie.

        Returns
        -------
        vdev, offset : ndarray of int64, shape (copies,)
            Top-level vdevs of the pool, and DVA offsets [bytes].
        """
        vdev = (self.copy_vdev + tile.turn - self.turn) % self.vdevs
        return vdev, self.copy_offset + tile.shift[vdev]


def place_records(records: Rows, tile: Tile, turn: int, vdevs: int) -> Rows:
    """Return item records of a population at the place of a tile.

    Parameters
    ----------
    records : ndarray of ITEM_DTYPE, shape (blocks,)
        Turned by `turn`; they stay as they are.
    tile : Tile
    turn, vdevs : int
        By which the records are turned, and top-level vdevs of the pool.

    Returns
    -------
    ndarray of ITEM_DTYPE, shape (blocks,)
        With the tile's vdevs and offsets [bytes].
    """
    placed = undivided(records).copy().view(records.dtype)
    shift_records(placed, tile, turn, vdevs)
    return placed


def shift_records(records: Rows, tile: Tile, turn: int, vdevs: int) -> None:
    """Put item records of a population at the place of a tile, in place.

    Parameters
    ----------
    records : ndarray of ITEM_DTYPE, shape (blocks,)
        Turned by `turn`.
    tile : Tile
    turn, vdevs : int
        By which the records are turned, and top-level vdevs of the pool.
    """
    if tile.turn != turn:
        records["vdev"] = (records["vdev"] + tile.turn - turn) % vdevs
    records["offset"] += tile.shift[0] if vdevs == 1 else tile.shift[records["vdev"]]


def turned(table: BlockTable, turn: int, vdevs: int, rows: int) -> BlockTable:
    """Return the first rows of a table with its top-level vdevs turned.

    Parameters
    ----------
    table : BlockTable
    turn, vdevs : int
        Vdev v becomes ``(v + turn) % vdevs``.
    rows : int

    Returns
    -------
    BlockTable
        Absent copies (vdev -1) stay absent.
    """
    part = table if rows == len(table) else table.take(np.arange(rows))
    if turn == 0:
        return part
    vdev = np.where(part.dva_vdev >= 0, (part.dva_vdev + turn) % vdevs, -1).astype(np.int32)
    return replace(part, dva_vdev=vdev)


class Preparer(Generic[T]):
    """Prepares tiles, the same populations once.

    Parameters
    ----------
    tiling : Tiling
    setup : RunSetup
        Of the first tile.
    make : callable
        From a set-up and a turn to what is prepared.
    """

    def __init__(self, tiling: Tiling, setup: RunSetup, make: Callable[[RunSetup, int], T]) -> None:
        self.tiling, self.setup, self.make = tiling, setup, make
        self.damaged = [number for number, vdev in enumerate(setup.model.vdevs) if vdev.damaged]
        self._known: dict[tuple[int, bool, tuple[int, ...]], T] = {}

    def prepared(self, tile: Tile) -> T:
        """Return what a tile is a copy of."""
        if tile.rows < self.tiling.rows_of(tile):
            return self._make(self.tiling.table(tile.base, first=tile.number == 0), tile)
        roles = tuple((number - tile.turn) % self.tiling.vdevs for number in self.damaged)
        held = tuple(role for role in roles if role in self.tiling.first.vdevs)
        key = (tile.base, tile.number == 0, held)
        if key not in self._known:
            table = self.tiling.table(tile.base, first=tile.number == 0)
            self._known[key] = self._make(table, tile)
            if self.tiling.vdevs == 1 and tile.number > 0:
                self.tiling.forget(tile.base)
        return self._known[key]

    def _make(self, table: BlockTable, tile: Tile) -> T:
        blocks = turned(table, tile.turn, self.tiling.vdevs, tile.rows)
        return self.make(replace(self.setup, blocks=blocks, seed=self.setup.seed + tile.base), tile.turn)
