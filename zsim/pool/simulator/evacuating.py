"""Place the blocks of a removed top-level vdev on the remaining vdevs, with the pool's allocator.

Source: OpenZFS vdev_removal.c (spa_vdev_copy_impl, spa_vdev_copy_segment; 0.8 and later), in own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zsim.base.jit import njit
from zsim.pool.recipes.recipe import PoolRecipe, TopLevel
from zsim.pool.recipes.styles import UNTHROTTLED, AllocatorStyle
from zsim.pool.simulator.memory import (
    DATASET,
    FILE,
    KEPT,
    LIST,
    NOW,
    SLOT,
    HistoryMemory,
    slabs_of,
    vdevs_of,
)
from zsim.pool.simulator.metaslabs import allocate_block, end_txg, log_free, weigh_all
from zsim.pool.simulator.population import lay_out_space

I64 = NDArray[np.int64]
NO_ROOM = -1
SOURCE, SLAB, START, SIZE = range(4)


@dataclass(frozen=True, slots=True)
class Pieces:
    """What is copied at a time, in the order in which it is.

    Attributes
    ----------
    source : ndarray of int64, shape (pieces,)
        Where each is read on the vdev that leaves [bytes].
    vdev, offset : ndarray of int64, shape (pieces,)
        Number of the top-level vdev that it goes to, and the place there [bytes].
    size : ndarray of int64, shape (pieces,)
        [bytes]
    """

    source: I64
    vdev: I64
    offset: I64
    size: I64

    def __len__(self) -> int:
        return len(self.source)


def evacuate(
    levels: Mapping[int, TopLevel],
    taken: Mapping[int, tuple[I64, I64]],
    style: AllocatorStyle,
    ranges: tuple[I64, I64, I64],
    smallest: int,
) -> Pieces | None:
    """Place segments one after the other, cut in halves where no free segment holds one.

    Parameters
    ----------
    levels : mapping of int to TopLevel
        The top-level vdevs that stay, by their numbers.
    taken : mapping of int to (ndarray, ndarray)
        Begin and end of what is allocated on each, ascending [bytes].
    style : AllocatorStyle
        The release's allocator.  Nothing throttles a removal: it does not ask for METASLAB_ASYNC_ALLOC.
    ranges : tuple of three ndarray of int64
        Begin and end of what is allocated on the vdev that leaves [bytes], and the segment each is part of:
        ranges that are copied together, with the holes between them.
    smallest : int
        A sector: nothing is cut below it [bytes].

    Returns
    -------
    Pieces or None
        None where the vdevs that stay are too full.
    """
    numbers = sorted(levels)
    known = [taken[number] for number in numbers]
    memory = _memory([levels[number] for number in numbers], known, style, len(ranges[0]))
    # Not filled: of the room for pieces of a sector each, little is ever touched.
    rows = np.empty((int((ranges[1] - ranges[0]).sum()) // smallest + 1, 4), np.int64)
    count = place_all(memory.table, *ranges, smallest, rows)
    if count == NO_ROOM:
        return None
    found = rows[:count]
    vdev = memory.slabs["vdev"][found[:, SLAB]]
    starts = np.concatenate([levels[number].slab_starts() for number in numbers])
    offset = starts[found[:, SLAB]] + found[:, START] * memory.vdevs["unit"][vdev]
    source, size = found[:, SOURCE].copy(), found[:, SIZE].copy()
    return Pieces(source, np.array(numbers, np.int64)[vdev], offset, size)


def _memory(
    levels: list[TopLevel], taken: list[tuple[I64, I64]], style: AllocatorStyle, more: int
) -> HistoryMemory:
    """Return the allocator of the vdevs that stay, in the middle of its work; `more` ranges come to it."""
    recipe = PoolRecipe(tuple(levels), replace(style, throttle=UNTHROTTLED))
    memory = HistoryMemory()
    lay_out_space(memory, recipe, 0, more + max(len(begin) for begin, _ in taken))
    for name, kind in (("files", FILE), ("datasets", DATASET), ("slots", SLOT), ("lists", LIST),
                       ("kept", KEPT), ("now", NOW)):  # fmt: skip
        setattr(memory, name, np.zeros(1, dtype=kind))
    memory.ratio_values = memory.ratio_chances = np.ones((1, 1))
    memory.snapshots = np.zeros(1, np.int64)
    for number, (level, (begin, end)) in enumerate(zip(levels, taken, strict=True)):
        first, unit = int(memory.vdevs["first"][number]), int(memory.vdevs["unit"][number])
        for place, start in enumerate(level.slab_starts()):
            _take(memory, first + place, begin - start, end - start, unit)
    used = np.bincount(memory.slabs["vdev"], memory.slabs["units"] - memory.slabs["free"], len(levels))
    memory.vdevs["used"] = used.astype(np.int64) * memory.vdevs["unit"]
    memory.seal()
    weigh_all(memory.table)
    return memory


def _take(memory: HistoryMemory, slab: int, begin: I64, end: I64, unit: int) -> None:
    """Leave a metaslab the free segments between what is taken, given from its begin on [bytes]."""
    units = int(memory.slabs["units"][slab])
    here = (end > 0) & (begin < units * unit)
    low = np.clip(begin[here] // unit, 0, units)
    high = np.clip(-(-end[here] // unit), 0, units)
    starts, ends = np.concatenate(([0], high)), np.concatenate((low, [units]))
    free = ends > starts
    count = int(free.sum())
    memory.starts[slab, :count], memory.ends[slab, :count] = starts[free], ends[free]
    memory.slabs["segments"][slab] = count
    memory.slabs["free"][slab] = int((ends - starts)[free].sum())


@njit
def place_all(pool: I64, low: I64, high: I64, segment: I64, smallest: int, rows: I64) -> int:
    """Place all segments; return the number of pieces, `NO_ROOM` when one finds none.

    A txg ends after each: a reduced metaslab takes few of them, as a real one takes few txgs' worth.
    """
    count, first = 0, 0
    while first < low.size:
        last = first
        while last + 1 < low.size and segment[last + 1] == segment[first]:
            last += 1
        count = place_segment(pool, low, high, first, last, smallest, rows, count)
        if count < 0:
            return NO_ROOM
        end_txg(pool, 1)
        first = last + 1
    return count


@njit
def place_segment(
    pool: I64, low: I64, high: I64, first: int, last: int, smallest: int, rows: I64, count: int
) -> int:
    """Place a segment; return the number of pieces so far, `NO_ROOM` when there is none for it.

    A piece ends with a range where it can, and the hole behind it is not copied.  The holes within it are
    freed at the new place.
    """
    slab, start = np.zeros(3, np.int64), np.zeros(3, np.int64)
    largest = high[last] - low[first]
    here = low[first]
    while first <= last:
        end, behind = piece_end(low, high, first, last, here, largest)
        size = end - here
        if allocate_block(pool, 0, size, 1, slab, start, 0):
            rows[count, SOURCE], rows[count, SLAB] = here, slab[0]
            rows[count, START], rows[count, SIZE] = start[0], size
            count += 1
            free_holes(pool, low, high, first, min(behind, last), here, end, slab[0], start[0])
            first = behind
            if first <= last:
                here = max(end, low[first])
        elif size <= smallest:
            return NO_ROOM
        else:
            largest = (size // 2 + smallest - 1) // smallest * smallest
    return count


@njit
def piece_end(low: I64, high: I64, first: int, last: int, here: int, largest: int) -> tuple[int, int]:
    """Return where a piece of at most `largest` bytes from `here` ends, and the range to go on with."""
    behind = first
    while behind <= last and high[behind] - here <= largest:
        behind += 1
    if behind == first:
        return here + largest, first
    return high[behind - 1], behind


@njit
def free_holes(
    pool: I64, low: I64, high: I64, first: int, last: int, here: int, end: int, slab: int, start: int
) -> None:
    """Free the holes between ranges at the place that a piece has got."""
    unit = vdevs_of(pool)[slabs_of(pool)[slab].vdev].unit
    for number in range(first, last):
        if low[number + 1] >= end:
            return
        hole = low[number + 1] - high[number]
        log_free(pool, slab, start + (high[number] - here) // unit, hole // unit)
