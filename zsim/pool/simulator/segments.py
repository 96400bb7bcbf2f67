"""The free segments of a metaslab, compiled: allocate the next block, merge freed ranges.

Sources: OpenZFS ``module/zfs/metaslab.c``, releases 0.7.13, 2.1.5 and 2.3.9 (``metaslab_df_alloc``,
``metaslab_block_picker``, ``metaslab_should_allocate``, ``metaslab_set_fragmentation``), in own words.

Space is counted in units of the top-level vdev's smallest allocation: a sector (mirror), 1 + parity sectors
(RAID-Z), a stripe of one sector per drive of a group (dRAID).  A metaslab's free segments are two sorted
arrays (starts, ends); used-up segments stay behind empty until the next rebuild.
"""

from __future__ import annotations

import math

import numpy as np

from zsim.base.arrays import I64
from zsim.base.jit import njit
from zsim.pool.simulator.memory import (
    BUCKETS,
    LOG_SIZE,
    cursors_of,
    ends_of,
    histogram_of,
    log_of,
    rules_of,
    slabs_of,
    starts_of,
    vdevs_of,
)
from zsim.pool.sorting import sort_in_place

MIN_SEARCH_COUNT = 100  # metaslab_min_search_count
NEVER = 1 << 60
START_BITS = 30
LENGTH_BITS = 16
# Free-segment size bucket -> fragmentation %, from 512 bytes up (metaslab.c: zfs_frag_table, to 2.3).
FRAG_TABLE = np.array(
    [100, 100, 98, 95, 90, 80, 70, 60, 50, 40, 30, 20, 15, 10, 5, 0, 0, 0, 0, 0, 0], dtype=np.int64
)
FRAG_TABLE.setflags(write=False)


@njit
def bucket(size: int) -> int:
    """Return the power of two in which a size is counted.

    Parameters
    ----------
    size : int
        At least 1 [bytes].

    Returns
    -------
    int
        ``floor(log2(size))``: OpenZFS range_tree.c:range_tree_stat_incr, highbit64(size) - 1.
    """
    return math.frexp(float(size))[1] - 1


@njit
def segment_bytes(pool: I64, slab: int, start: int, end: int) -> int:
    """Return the length of a free segment [bytes].

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    slab : int
        Metaslab, numbered over the pool.
    start, end : int
        In the metaslab [smallest allocations].

    Returns
    -------
    int
        [bytes]; the last segment owns the tail of the metaslab that is no whole allocation.
    """
    size: int = (end - start) * vdevs_of(pool)[slabs_of(pool)[slab].vdev].unit
    if end == slabs_of(pool)[slab].units:
        size += slabs_of(pool)[slab].tail
    return size


@njit
def count_segment(pool: I64, slab: int, start: int, end: int, by: int) -> None:
    """Enter a free segment into the metaslab's histogram (`by` 1), or take it out (-1)."""
    if end > start:
        index = bucket(segment_bytes(pool, slab, start, end))
        histogram_of(pool, slab)[index] += by
        slabs_of(pool)[slab].top = max(slabs_of(pool)[slab].top, index)


@njit
def top_bucket(pool: I64, slab: int) -> int:
    """Return the highest non-empty bucket of the histogram, -1 when nothing is free.

    None above the metaslab's `top` has been entered since that was last looked for.
    """
    index: int = slabs_of(pool)[slab].top
    while index >= 0 and histogram_of(pool, slab)[index] == 0:
        index -= 1
    slabs_of(pool)[slab].top = index
    return index


@njit
def lay_out(pool: I64, slab: int) -> None:
    """Write the one free segment of a metaslab of which nothing is taken.

    Before, it stands nowhere: of thousands of metaslabs of a nearly empty pool few are ever taken from, and
    each that is written to takes pages of its own.
    """
    units = slabs_of(pool)[slab].units
    if slabs_of(pool)[slab].free == units:
        starts_of(pool, slab)[0], ends_of(pool, slab)[0] = units - units, units


@njit
def largest_segment(pool: I64, slab: int) -> int:
    """Return the length of the largest free segment of a metaslab [bytes].

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    slab : int
        Metaslab, numbered over the pool.

    Returns
    -------
    int
        [bytes], 0 where nothing is free (OpenZFS metaslab.c:metaslab_largest_allocatable).
    """
    best = 0
    lay_out(pool, slab)
    for k in range(slabs_of(pool)[slab].segments):
        start, end = starts_of(pool, slab)[k], ends_of(pool, slab)[k]
        if end > start:
            best = max(best, segment_bytes(pool, slab, start, end))
    return best


@njit
def holds(pool: I64, slab: int, size: int) -> bool:
    """Tell whether some free segment of a metaslab is large enough.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    slab : int
        Metaslab.
    size : int
        [bytes]

    Returns
    -------
    bool
        By the histogram where that decides, else by the segments.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_should_allocate.
    """
    top = top_bucket(pool, slab)
    if top < 0:
        return False
    if size <= (1 << top):
        return True
    return bucket(size) <= top and largest_segment(pool, slab) >= size


@njit
def first_from(pool: I64, slab: int, position: int) -> int:
    """Return the first free segment that ends after a position.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    slab : int
        Metaslab, numbered over the pool.
    position : int
        In the metaslab [smallest allocations].

    Returns
    -------
    int
        Its number, by bisection; the number of segments where none does.
    """
    low = 0
    high = slabs_of(pool)[slab].segments
    ends = ends_of(pool, slab)
    while low < high:
        middle = (low + high) >> 1
        if ends[middle] <= position:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def pick_forward(pool: I64, slab: int, first_index: int, units: int) -> int:
    """First fit: return the first free segment from one on that is large enough; -1 when nothing is found.

    Parameters
    ----------
    pool, slab
        As `holds` takes them.
    first_index : int
        Free segment to begin with.
    units : int
        What is wanted [allocation units of the vdev].

    Returns
    -------
    int
        Index of the segment.  The search ends `window` bytes behind the first segment looked at, but not
        before metaslab_min_search_count of them.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_block_picker (metaslab_df_max_search, metaslab_min_search_count).
    """
    window = rules_of(pool)[0].window
    reach = window // vdevs_of(pool)[slabs_of(pool)[slab].vdev].unit
    searched = 0
    first = -1
    starts, ends = starts_of(pool, slab), ends_of(pool, slab)
    for k in range(first_index, slabs_of(pool)[slab].segments):
        start = starts[k]
        end = ends[k]
        if end == start:
            continue
        if first < 0:
            first = start
        if window > 0 and start - first > reach and searched >= MIN_SEARCH_COUNT:
            return -1
        if end - start >= units:
            return k
        searched += 1
    return -1


@njit
def pick_by_size(pool: I64, slab: int, units: int) -> int:
    """Best fit: return the smallest free segment that is large enough; -1 when there is none.

    Parameters
    ----------
    pool, slab, units
        As `pick_forward` takes them.

    Returns
    -------
    int
        Index of the segment, of equal ones that of the lowest address.  Segments below the floor of the size
        tree count only when nothing above it is free.
    """
    unit = vdevs_of(pool)[slabs_of(pool)[slab].vdev].unit
    floor = (rules_of(pool)[0].size_floor + unit - 1) // unit
    best = _smallest_from(pool, slab, max(units, floor, 1))
    return best if best >= 0 or units >= floor else _smallest_from(pool, slab, max(units, 1))


@njit
def _smallest_from(pool: I64, slab: int, least: int) -> int:
    """Return the first of the smallest free segments of at least so many units; -1 when there is none.

    Without a branch the compiler takes several segments at a time: in a full metaslab there are thousands.
    """
    starts, ends, segments = starts_of(pool, slab), ends_of(pool, slab), slabs_of(pool)[slab].segments
    smallest = NEVER
    for k in range(segments):
        length = ends[k] - starts[k]
        smallest = min(smallest, length if length >= least else NEVER)
    if smallest == NEVER:
        return -1
    for k in range(segments):
        if ends[k] - starts[k] == smallest:
            return k
    return -1


@njit
def squeeze(pool: I64, slab: int) -> None:
    """Drop the used-up segments."""
    if slabs_of(pool)[slab].empty == 0:
        return
    kept, starts, ends = 0, starts_of(pool, slab), ends_of(pool, slab)
    for k in range(slabs_of(pool)[slab].segments):
        if ends[k] > starts[k]:
            starts[kept], ends[kept] = starts[k], ends[k]
            kept += 1
    slabs_of(pool)[slab].segments = kept
    slabs_of(pool)[slab].empty = 0


@njit
def pick_segment(pool: I64, slab: int, units: int, column: int) -> int:
    """Choose a free segment for a block; -1 when none is large enough.

    Parameters
    ----------
    pool, slab, units
        As `pick_forward` takes them.
    column : int
        Alignment whose cursor is gone on from: log2 of the largest power of two that divides the size
        [bytes].

    Returns
    -------
    int
        Index of the segment: from the cursor on by first fit; by best fit where that finds nothing, where the
        metaslab has no segment of `best_fit_below` bytes, or less than `best_fit_free_percent` of it is free.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_df_alloc (metaslab_df_alloc_threshold, metaslab_df_free_pct).  The largest
    segment is known by its power of two: below 2**(k+1) bytes is below a threshold of 2**(k+1).
    """
    top = top_bucket(pool, slab)
    free = slabs_of(pool)[slab].free * 100 // slabs_of(pool)[slab].units
    tight = (
        top < 0
        or (1 << (top + 1)) <= rules_of(pool)[0].best_fit_below
        or free < rules_of(pool)[0].best_fit_free_percent
    )
    if not tight:
        first = first_from(pool, slab, cursors_of(pool, slab)[column])
        k = pick_forward(pool, slab, first, units)
        if k < 0 and rules_of(pool)[0].window == 0 and first > 0:
            k = pick_forward(pool, slab, first - first, units)
        if k >= 0:
            return k
    return pick_by_size(pool, slab, units)


@njit
def take_units(pool: I64, slab: int, units: int) -> int:
    """Allocate from one metaslab.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.weights.space_weight` takes it.
    slab : int
        Metaslab.
    units : int
        How much [smallest allocations of its vdev].

    Returns
    -------
    int
        Where in the metaslab it begins [smallest allocations], -1 where no free segment holds it.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_df_alloc: a cursor for each power of two that divides the size (ms_lbas),
    from which the next segment large enough is taken.
    """
    size = units * vdevs_of(pool)[slabs_of(pool)[slab].vdev].unit
    lay_out(pool, slab)
    # A cursor for each alignment, the lowest bit set in the size (metaslab_df_alloc, ms_lbas).
    column = bucket(size & -size)
    k = pick_segment(pool, slab, units, column)
    if k < 0:
        return -1
    start: int = starts_of(pool, slab)[k]
    end = ends_of(pool, slab)[k]
    count_segment(pool, slab, start, end, -1)
    count_segment(pool, slab, start + units, end, 1)
    starts_of(pool, slab)[k] = start + units
    if start + units == end:
        slabs_of(pool)[slab].empty += 1
        # Used-up segments cost every search a step, dropping one moves the arrays: a few at a time.
        if slabs_of(pool)[slab].empty > 64:
            squeeze(pool, slab)
    cursors_of(pool, slab)[column] = start + units
    slabs_of(pool)[slab].free -= units
    vdevs_of(pool)[slabs_of(pool)[slab].vdev].used += size
    slabs_of(pool)[slab].changed = 1
    return start


@njit
def fragmentation_of(pool: I64, slab: int) -> int:
    """Return FRAG of one metaslab [%]: the mean of the table over its free space.

    A free segment counts with the lower bound of its bucket (metaslab.c:metaslab_set_fragmentation).
    """
    total = 0.0
    weighted = 0.0
    for index in range(BUCKETS):
        size = float(histogram_of(pool, slab)[index]) * float(1 << index)
        total += size
        weighted += size * FRAG_TABLE[min(max(index - 9, 0), FRAG_TABLE.size - 1)]
    return int(weighted / total) if total > 0.0 else 0


@njit
def recount(pool: I64, slab: int) -> None:
    """Rebuild the histogram of a metaslab."""
    for index in range(BUCKETS):
        histogram_of(pool, slab)[index] = 0
    units = slabs_of(pool)[slab].units
    if slabs_of(pool)[slab].free == units:
        count_segment(pool, slab, units - units, units, 1)
        return
    for k in range(slabs_of(pool)[slab].segments):
        count_segment(pool, slab, starts_of(pool, slab)[k], ends_of(pool, slab)[k], 1)


@njit
def joined(pool: I64, slab: int, at: int, start: int, end: int) -> None:
    """Join a free range, not in the histogram, with the segment of number `at`, which begins at its end."""
    behind = ends_of(pool, slab)[at]
    count_segment(pool, slab, end, behind, -1)
    count_segment(pool, slab, start, behind, 1)
    starts_of(pool, slab)[at] = start


@njit
def merge_free(pool: I64, slab: int, keys: I64, low: int, high: int) -> None:
    """Return freed ranges to the free segments of a metaslab.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.weights.space_weight` takes it.
    slab : int
        Metaslab.
    keys : ndarray of int64
        Ranges: start and length in one integer, as `return_frees` makes them.
    low, high : int
        Which of them: ``keys[low:high]``, sorted.

    Notes
    -----
    Neighbouring ranges become one segment, as in a range tree (OpenZFS range_tree.c:range_tree_add); two
    sorted lists are merged in one pass from behind, in place, down to where the first range belongs.
    """
    squeeze(pool, slab)
    starts, ends = starts_of(pool, slab), ends_of(pool, slab)
    k = slabs_of(pool)[slab].segments - 1
    last = k + high - low
    at, total = last, last - last
    for i in range(high - 1, low - 2, -1):
        # Segments behind the next range go up; the first of them may touch the range before.
        start = (keys[i] >> LENGTH_BITS) & ((1 << START_BITS) - 1) if i >= low else NEVER
        if at < last and k >= 0 and ends[k] == starts[at + 1]:
            count_segment(pool, slab, starts[k], ends[k], -1)
            joined(pool, slab, at + 1, starts[k], ends[k])
            k -= 1
        while k >= 0 and starts[k] > start:
            starts[at], ends[at] = starts[k], ends[k]
            at, k = at - 1, k - 1
        if i < low:
            break
        units = keys[i] & ((1 << LENGTH_BITS) - 1)
        total += units
        if at < last and starts[at + 1] == start + units:
            joined(pool, slab, at + 1, start, start + units)
            continue
        count_segment(pool, slab, start, start + units, 1)
        starts[at], ends[at] = start, start + units
        at -= 1
    fewer = at - k
    if fewer > 0:
        for j in range(at + 1, last + 1):
            starts[j - fewer], ends[j - fewer] = starts[j], ends[j]
    here = slabs_of(pool)[slab]
    here.segments = last + 1 - fewer
    here.free += total
    here.pending -= total
    here.changed = 1
    vdevs_of(pool)[here.vdev].used -= total * vdevs_of(pool)[here.vdev].unit


@njit
def return_frees(pool: I64, until: int) -> None:
    """Make the ranges freed up to a position of the log usable.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.weights.space_weight` takes it.
    until : int
        Position in the ring of freed ranges; those before it are returned, metaslab by metaslab.

    Notes
    -----
    What is freed waits `DEFER_TXGS` txgs (OpenZFS metaslab.c:metaslab_sync_done, TXG_DEFER_SIZE), so that
    an import of an older txg finds its blocks.
    """
    size = pool[LOG_SIZE]
    tail = rules_of(pool)[0].log_tail
    count = (until - tail) % size
    if count == 0:
        return
    keys = np.empty(count, dtype=np.int64)
    for i in range(count):
        at = tail + i if tail + i < size else tail + i - size
        # One integer a range, the metaslab in front: sorted, they come metaslab by metaslab and by address.
        keys[i] = (np.int64(log_of(pool)[at].slab) << (START_BITS + LENGTH_BITS)) | (
            np.int64(log_of(pool)[at].start) << LENGTH_BITS
        )
        keys[i] |= np.int64(log_of(pool)[at].units)
    sort_in_place(keys)
    low = count - count
    while low < count:
        slab = keys[low] >> (START_BITS + LENGTH_BITS)
        high = low
        while high < count and keys[high] >> (START_BITS + LENGTH_BITS) == slab:
            high += 1
        merge_free(pool, slab, keys, low, high)
        low = high
    rules_of(pool)[0].log_tail = until
