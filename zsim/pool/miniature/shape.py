"""A miniature of a pool of any size: few metaslabs, small ones, at their real addresses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zsim.pool.blocks import BlockTable
from zsim.pool.recipes.recipe import AddVdev, PoolRecipe, TopLevel
from zsim.pool.simulator.files import expansion, mean_record_bytes, typical_file_bytes
from zsim.pool.simulator.population import HistoryRun
from zsim.vdevs.kind import NORMAL, SPECIAL, kind_of

MAX_SLABS = 192
MIN_SLAB_BYTES, MIN_SLAB_BLOCKS = 2 << 20, 40
SPECIAL_SLABS = 4
"""Metaslabs of a special vdev may be so many times smaller: its blocks are, and three copies need three."""
MAX_VDEVS = 4
HEAP_GROUPS, DRAID_HEAPS = 4, 4
SLAB_TURNS, FEW_SLABS = 2, 8
"""A metaslab of a dRAID holds at least so many times what lies on all its children once: of shorter runs,
those that are read together lie on the same children, and a wide vdev waits for these.  But there are so
many metaslabs, or their number could not take up what halving them leaves."""
HEAP_BYTES = 32 << 20
"""Of a heap, on each child, at least: one long seek then costs a few percent of reading it."""
FILES_PER_POOL = 24
TXG_SHARE = 0.003
MIN_TXG_BYTES = 1 << 20
FILL_SHARE = 1 / 6
"""Of the pool, at most, a txg of new files: they lie in its order, which is not that of their numbers."""
LEAST_TXGS = 16
"""Transaction groups that what is stored is written in at least."""
MIN_FILE_BYTES = 1 << 20
EMPTY_FILL, LEAST_FILL = 0.03, 1e-9
"""Below this fill, txgs are as large as at it: shares of the data, not of the space."""


@dataclass(frozen=True, slots=True)
class Miniature:
    """A population that stands for a larger one.

    Attributes
    ----------
    table : BlockTable
        Addresses lie in the real address space; vdev numbers are the real ones.
    scale : float
        Real allocated bytes / these, on each top-level vdev that is here: engine time x scale = real time.
        1 when the population is exact.
    recipe : PoolRecipe
        The reduced pool that was simulated.
    vdevs : tuple of int
        Real number of each of its top-level vdevs.
    written : int
        Blocks that were written to lay it out: those that are gone, and those of pools that found no room.
    """

    table: BlockTable
    scale: float
    recipe: PoolRecipe
    vdevs: tuple[int, ...]
    written: int = 0

    def own_table(self) -> BlockTable:
        """Return the table with top-level vdevs numbered as in `recipe`, for statistics."""
        if self.vdevs == tuple(range(len(self.vdevs))):
            return self.table
        last = max(*self.vdevs, int(self.table.dva_vdev.max(initial=0)))
        numbers = np.full(last + 2, -1, dtype=np.int32)
        numbers[list(self.vdevs)] = np.arange(len(self.vdevs), dtype=np.int32)
        return replace(self.table, dva_vdev=numbers[self.table.dva_vdev])


@dataclass(frozen=True, slots=True)
class MiniatureSize:
    """How large a miniature is to be, and how its metaslabs lie.

    Attributes
    ----------
    blocks : int
        Blocks to aim at; a pool with fewer is built exactly.
    slabs, vdevs : int
        Metaslabs and top-level vdevs, at most.
    files : int
        A file is at most one in so many parts of the miniature.
    heaps : int
        Heaps that the metaslabs stand in, at least; 0: one by one.
    turns : bool
        Whether metaslabs of a dRAID are no shorter than `SLAB_TURNS` turns of its children, unless there
        were fewer than `FEW_SLABS`.
    wanted : tuple of int
        Top-level vdevs that are to be among them, by their numbers.
    """

    blocks: int
    slabs: int = MAX_SLABS
    vdevs: int = MAX_VDEVS
    files: int = FILES_PER_POOL
    heaps: int = 0
    turns: bool = False
    wanted: tuple[int, ...] = ()


def miniature_of(recipe: PoolRecipe, history: HistoryRun, numbers: tuple[int, ...]) -> Miniature:
    """Return the last state of a reduced history as a miniature of its pool; no step can follow."""
    reduced = history.recipe
    real = sum(
        recipe.vdevs[number].space for number in numbers if recipe.vdevs[number].spec.alloc_class == NORMAL
    )
    table, written = history.last_table(), history.written
    if numbers != tuple(range(len(numbers))):
        names = np.array([*numbers, -1], dtype=np.int32)
        table = replace(table, dva_vdev=names[table.dva_vdev])
    return Miniature(table, real / reduced.space, reduced, numbers, written)


def reduce_recipe(
    recipe: PoolRecipe, size: MiniatureSize, vdev: int = 0
) -> tuple[PoolRecipe, tuple[int, ...]]:
    """Return the recipe of a miniature, and the real number of each of its top-level vdevs.

    What is reduced: the number of top-level vdevs (at most 4, `vdev` among them), the metaslabs of each (at
    most 192 in all, evenly spread over the real ones), and the size of each metaslab, by a power of two: only
    its first part is there.  Metaslab i begins at its real address, or stands in a heap near it.

    The metaslabs of a dRAID are not spread evenly but stand in heaps, see `_places`.

    Preserved: sizes of blocks, gaps, holes and runs up to the size of a reduced metaslab; how first fit, best
    fit and the search window treat them (absolute sizes and numbers, not fractions); the order in which
    metaslabs are chosen and left (by powers of two of their size, and by fractions of it); fill of the
    metaslabs; position of the data on the drives by metaslab; how much of the data is in files of which size
    (large ones are there in pieces); how often indirect blocks, meta-dnodes and MOS are rewritten per byte
    written one after the other; correlation of traversal order and birth with address; snapshots.

    Not preserved: runs and holes longer than a reduced metaslab or 1/40 of the pool (they are cut); a drive
    passes the unpopulated rest of the real metaslabs once per metaslab or heap and sweep; a txg is 0.3 % of
    the pool, so that what is freed in it and comes back two txgs later stays a small share of it, and births
    count these txgs.  What a pool has a fixed number of (the MOS, roots of objsets) is too large a share:
    `zsim.pool.miniature.census.thinned` leaves it out.

    Parameters
    ----------
    recipe : PoolRecipe
        The real pool.
    size : MiniatureSize
    vdev : int
        The top-level vdev that matters.

    Returns
    -------
    recipe : PoolRecipe
    numbers : tuple of int
    """
    highest = recipe.highest_fill
    block_bytes = mean_record_bytes(recipe) * expansion(recipe)
    room = size.blocks * block_bytes / min(max(highest, LEAST_FILL), 1.0)
    if recipe.space <= room:
        return recipe, tuple(range(len(recipe.vdevs)))
    data, special = (_of_class(recipe, name) for name in (NORMAL, SPECIAL))
    wanted = [data.index(number) for number in size.wanted]
    chosen = _chosen_vdevs(len(data), data.index(vdev) if vdev in data else 0, size.vdevs, wanted)
    kept = [data[k] for k in chosen]
    share = room / sum(recipe.vdevs[number].space for number in kept)
    smallest = max(MIN_SLAB_BYTES, int(MIN_SLAB_BLOCKS * block_bytes))
    each, heaps, turns = size.slabs // len(kept), size.heaps, size.turns
    vdevs = {
        number: _reduce_vdev(recipe.vdevs[number], share, each, smallest, heaps=heaps, turns=turns)
        for number in kept
    }
    # What the special vdevs hold is of all data vdevs, of which only some are there.
    part = share * len(kept) / len(data)
    vdevs |= {
        number: _reduce_vdev(recipe.vdevs[number], part, size.slabs, MIN_SLAB_BYTES // SPECIAL_SLABS, heaps=0)
        for number in special
    }
    numbers = tuple(sorted(vdevs))
    smaller = replace(recipe, vdevs=tuple(vdevs[number] for number in numbers))
    steps = (
        replace(step, vdev=numbers.index(step.vdev)) if isinstance(step, AddVdev) else step
        for step in recipe.steps
        if not isinstance(step, AddVdev) or step.vdev in numbers
    )
    smaller = replace(smaller, steps=tuple(steps), claim_bytes=_claim_bytes(smaller))
    room = smaller.space * min(1.0, highest / EMPTY_FILL)
    return _in_pieces(smaller, room, highest * smaller.space, size.files), numbers


def _claim_bytes(recipe: PoolRecipe) -> int:
    """Return what is written in a txg of the real pool, as the same share of a reduced metaslab [bytes]."""
    level = recipe.vdevs[0]
    return max(1, recipe.txg_bytes * level.slab_bytes // max(level.stands_for, level.slab_bytes))


def _of_class(recipe: PoolRecipe, name: str) -> list[int]:
    return [number for number, level in enumerate(recipe.vdevs) if level.spec.alloc_class == name]


def fitted(recipe: PoolRecipe, files: int = FILES_PER_POOL) -> PoolRecipe:
    """Return the recipe of a pool that is built whole, its files and txgs cut where they would not fit.

    A file that is begun is written to its end, and so is a txg: of a pool that holds few of them, the last
    one decides how full it is.  There they are at most one in `files` of what is to be stored.
    """
    stored = recipe.highest_fill * recipe.space
    lump = max(typical_file_bytes(recipe), float(recipe.txg_bytes)) * expansion(recipe)
    return _in_pieces(recipe, stored, stored, files) if lump > stored / files else recipe


def _in_pieces(recipe: PoolRecipe, room: float, stored: float, files: int) -> PoolRecipe:
    """Return a recipe of which txgs are small shares of so much room, and files of what is stored [bytes].

    A txg is written to its end, so that the last one may take the pool beyond its fill by as much: it is a
    small part of what is to be `stored`, too.
    """
    grows = expansion(recipe)
    held, files_bytes = room / grows, stored / grows
    most = min(float(recipe.txg_bytes), files_bytes / LEAST_TXGS)
    txg = max(1, int(min(most, max(held * TXG_SHARE, MIN_TXG_BYTES))))
    every = max(1, round(recipe.txg_bytes / txg))
    return replace(
        recipe,
        txg_bytes=txg,
        metadata_every=every,
        fill_parts=int(min(every, max(1.0, held * FILL_SHARE / txg))),
        whole_files=False,
        piece_bytes=max(int(files_bytes / files), MIN_FILE_BYTES),
    )


def _chosen_vdevs(count: int, vdev: int, most: int, wanted: Sequence[int] = ()) -> tuple[int, ...]:
    """Return up to `most` vdev numbers, `vdev` first among equally spaced ones, ascending.

    Those that are `wanted` stand in the place of others, and are all there.
    """
    kept = min(count, most)
    spaced = [(vdev + step * count // kept) % count for step in range(kept)]
    chosen = list(dict.fromkeys([vdev, *wanted, *spaced]))
    return tuple(sorted(chosen[: max(kept, len({vdev, *wanted}))]))


def _reduce_vdev(
    level: TopLevel, share: float, most: int, smallest: int, *, heaps: int, turns: bool = False
) -> TopLevel:
    """Return a top-level vdev with `share` of its space, in at most `most` metaslabs of `smallest` bytes.

    A metaslab is reduced by a power of two, and their number takes up the rest: allocators leave one when its
    largest free segment has fallen through powers of two (metaslab.c:metaslab_segment_may_passivate), so that
    one of another size would be left at another share of its fill, and the pool filled from its front.
    """
    wanted = level.space * share
    kind = kind_of(level.spec.kind)
    count = max(2.0, min(float(most), float(level.slab_count), wanted / smallest))
    if turns and kind.has_groups:
        count = min(count, max(float(FEW_SLABS), wanted / (SLAB_TURNS * kind.turn_bytes(level.spec))))
    halvings = max(0, math.floor(math.log2(level.slab_bytes * count / wanted)))
    while halvings > 0 and level.slab_bytes >> halvings < 16 * level.unit:
        halvings -= 1
    size = level.slab_bytes >> halvings
    if kind.is_row_aligned:
        size = max(size // level.unit, 16) * level.unit
    number = int(max(2, min(level.slab_count, round(wanted / size))))
    starts = tuple(int(place) for place in _places(level, number, size, heaps=heaps))
    return TopLevel(level.spec, level.ashift, size, number, starts, level.slab_bytes)


def _places(level: TopLevel, count: int, size: int, *, heaps: int) -> NDArray[np.int64]:
    """Return where the reduced metaslabs begin: evenly spread over the real ones, or in heaps.

    Those of a dRAID follow one another in heaps of several groups: which children take part changes from
    group to group, and so many of them are busy together as in the real pool.  In the order of addresses a
    sweep makes a long seek to each heap, which the real pool makes once in many times the data, and at its
    ends few children are busy: for a scan there are no more than `DRAID_HEAPS`.
    """
    kind = kind_of(level.spec.kind)
    if kind.has_groups:
        short = 0 if heaps else count * size // (HEAP_GROUPS * kind.group_bytes(level.spec))
        heaps, number = DRAID_HEAPS, short
    elif heaps:
        number = count * size // (HEAP_BYTES * kind.spanned_children(level.spec))
    else:
        return np.arange(count, dtype=np.int64) * level.slab_count // count * level.slab_bytes
    return _in_heaps(level, count, size, int(min(count, max(heaps, number))))


def _in_heaps(level: TopLevel, count: int, size: int, heaps: int) -> NDArray[np.int64]:
    """Return where the metaslabs of so many heaps begin, one behind the other in the middle of its part.

    On RAID-Z the child that a block begins on follows from its address, and small blocks that follow one
    another leave out the same children.  So that these change from metaslab to metaslab as in the pool, the
    first of a heap begins on the same child as the real metaslab of its number.
    """
    number = np.arange(count, dtype=np.int64)
    heap = number * heaps // count
    edges = np.searchsorted(heap, np.arange(heaps + 1))
    room = level.space / count - size
    before = np.diff(edges)[heap] * room / 2
    apart = level.unit if kind_of(level.spec.kind).has_groups else level.row_bytes
    if room < 2 * apart:
        apart = level.unit
    base = (edges[heap] * (room + size) + before).astype(np.int64) // apart * apart
    base += edges[heap] * level.slab_bytes % apart
    starts: NDArray[np.int64] = base + (number - edges[heap]) * size
    return starts
