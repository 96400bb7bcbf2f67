"""Sweeps of a sorted scan whose queue does not fit its memory: which entries, in which order.

Entries that wait are marked by their rank in LBA order, 64 ranks a group, of which the marks are counted: so
a new entry's neighbours are found without a look at all others, and with them how many extents there are.
"""

from __future__ import annotations

import math

import numpy as np

from zsim.base.arrays import F64, I64
from zsim.base.jit import njit
from zsim.scan.sorted import Addresses, ExtentRules, ScanQueue, extent_score

GROUP = 64
ENTRIES, RECORDS, EXTENTS = range(3)
"""What is counted of what waits: entries, bytes of their records, extents."""
RATE, VISITED, VISIT_S, SLICE_S, HARD, SOFT, INTERVAL_S = range(7)
"""Reals that a pass is given."""
MAX_GAP, FILL_WEIGHT, COARSE, STRICT, EXTENT_SIZE = range(5)
"""Whole numbers that it is given."""


def sweeps_in_rounds(
    queue: ScanQueue,
    addresses: Addresses,
    rules: ExtentRules,
    *,
    strict: bool,
    extent_bytes: int,
    reals: tuple[float, float, float, float, float, float, float],
) -> list[I64]:
    """Return the sweeps in which a scan issues the entries of a queue.

    Parameters
    ----------
    queue : ScanQueue
        Entries in the order visited.
    addresses : Addresses
        Of the queue.
    rules : ExtentRules
    strict : bool
        Whether the hard limit is looked at with every run of entries, not only at the end of a txg.
    extent_bytes : int
        Memory that an extent takes beside the records of its entries [bytes].
    reals : tuple of float
        Entries issued a second; entries that a txg visits, how long it takes, and how long one issues [s];
        memory from which on extents are issued, and to which [bytes]; time between checkpoints [s].

    Returns
    -------
    list of ndarray of int64
        Entries; none of them empty.

    Notes
    -----
    OpenZFS dsl_scan.c:dsl_scan_should_clear, scan_io_queue_fetch_ext, ext_size_value: extents go by score,
    those of one score by address, in whole txgs; at a checkpoint everything that waits goes by address.

    The queue is that of one tile of many.  Where memory is full, or a txg ends, in the middle of a run of
    blocks or of an extent, that is in one tile of the pool: here runs are visited and extents issued whole.
    """
    order, count = addresses.order, len(queue)
    numbers = np.array([rules.max_gap, rules.fill_weight, rules.coarse, strict, extent_bytes], np.int64)
    issued, ends = np.empty((2, count), np.int64)
    sweeps = _run_rounds(
        addresses.rank, queue.offset[order], queue.asize[order], queue.vdev[order],
        queue.record_bytes[order], numbers, np.array(reals), issued, ends,
    )  # fmt: skip
    return np.split(order[issued], ends[: sweeps - 1]) if sweeps > 0 else []


@njit
def _run_rounds(
    rank: I64,
    offset: I64,
    asize: I64,
    vdev: I64,
    record: I64,
    numbers: I64,
    reals: F64,
    issued: I64,
    ends: I64,
) -> int:
    """Write down the ranks in the order of issue, and where each sweep ends; return how many there are.

    All columns but the first are in LBA order.
    """
    count = len(rank)
    waits, groups = np.zeros(count, np.int64), np.zeros(count // GROUP + 1, np.int64)
    held = np.zeros(3, np.int64)
    rows, firsts, scores = np.zeros(count, np.int64), np.zeros(count + 1, np.int64), np.zeros(count, np.int64)
    best, spare = np.zeros(count, np.int64), np.zeros(count, np.int64)
    at = sweeps = end = 0
    visited = now = checked = carried = 0.0
    while end < count:
        # Visit, txg by txg, until memory is used up or the checkpoint is due.
        goes_on = True
        while goes_on:
            visited = min(float(count), visited + reals[VISITED])
            now += reals[VISIT_S]
            wanted = int(visited)
            while end < wanted:
                _add(rank[end], waits, groups, held, offset, asize, vdev, record, numbers[MAX_GAP])
                end += 1
                # A run ends where it does: tiles are many, and a txg ends in one of them.
                while end < count and _goes_on(rank, end, offset, asize, vdev, numbers[MAX_GAP]):
                    _add(rank[end], waits, groups, held, offset, asize, vdev, record, numbers[MAX_GAP])
                    end += 1
                if numbers[STRICT] != 0 and _used(held, numbers) >= reals[HARD]:
                    visited = float(end)
                    break
            due = now - checked > reals[INTERVAL_S]
            goes_on = end < count and not due and _used(held, numbers) < reals[HARD]
        if end < count and not now - checked > reals[INTERVAL_S]:
            found = _extents_of(waits, groups, offset, asize, vdev, numbers, rows, firsts, scores)
            _sort_best_first(scores, found, best, spare)
            excess = _used(held, numbers) - reals[SOFT]
            least = _least(best, found, firsts, rows, record, numbers, excess)
            each = reals[RATE] * reals[SLICE_S]
            more = math.ceil(least / each) * each - least + carried
            carried = more - int(more)
            taken = _whole_extents(min(held[ENTRIES], least + int(more)), best, found, firsts)
            sweeps = _issue_extents(
                taken, best, found, firsts, scores, rows, waits, groups, issued, ends, at, sweeps
            )
            at += taken
            _count(waits, groups, held, offset, asize, vdev, record, numbers, rows)
            now += taken / reals[RATE]
        if end >= count or now - checked > reals[INTERVAL_S]:
            taken = _rows_of(waits, groups, rows)
            for place in range(taken):
                _issue(rows[place], at + place, waits, groups, issued)
            at += taken
            if taken > 0:
                ends[sweeps] = at
                sweeps += 1
            held[ENTRIES] = held[RECORDS] = held[EXTENTS] = 0
            now += taken / reals[RATE]
            checked = now
    return sweeps


@njit
def _used(held: I64, numbers: I64) -> int:
    """Return the memory that what waits takes [bytes]."""
    return int(held[RECORDS] + numbers[EXTENT_SIZE] * held[EXTENTS])


@njit
def _begins(before: int, row: int, offset: I64, asize: I64, vdev: I64, max_gap: int) -> int:
    """Tell whether an entry begins an extent behind the one that waits before it (-1: none does)."""
    if before < 0 or vdev[before] != vdev[row]:
        return 1
    return 1 if offset[row] - offset[before] - asize[before] > max_gap else 0


@njit
def _goes_on(rank: I64, place: int, offset: I64, asize: I64, vdev: I64, max_gap: int) -> bool:
    """Tell whether what is visited next lies behind what was visited last, with nothing between them."""
    before, row = rank[place - 1], rank[place]
    return row == before + 1 and _begins(before, row, offset, asize, vdev, max_gap) == 0


@njit
def _add(
    row: int,
    waits: I64,
    groups: I64,
    held: I64,
    offset: I64,
    asize: I64,
    vdev: I64,
    record: I64,
    max_gap: int,
) -> None:
    """Let one more entry wait."""
    before, behind = _waiting_before(row, waits, groups), _waiting_behind(row, waits, groups)
    held[EXTENTS] += _begins(before, row, offset, asize, vdev, max_gap)
    if behind >= 0:
        held[EXTENTS] += _begins(row, behind, offset, asize, vdev, max_gap)
        held[EXTENTS] -= _begins(before, behind, offset, asize, vdev, max_gap)
    waits[row] = 1
    groups[row // GROUP] += 1
    held[ENTRIES] += 1
    held[RECORDS] += record[row]


@njit
def _waiting_before(row: int, waits: I64, groups: I64) -> int:
    """Return the last that waits before a rank; -1 where none does."""
    group = row // GROUP
    place = row - 1
    while place >= group * GROUP:
        if waits[place] != 0:
            return place
        place -= 1
    group -= 1
    while group >= 0 and groups[group] == 0:
        group -= 1
    if group < 0:
        return -1
    place = group * GROUP + GROUP - 1
    while waits[place] == 0:
        place -= 1
    return place


@njit
def _waiting_behind(row: int, waits: I64, groups: I64) -> int:
    """Return the first that waits behind a rank; -1 where none does."""
    group = row // GROUP
    place, last = row + 1, min(len(waits), group * GROUP + GROUP)
    while place < last:
        if waits[place] != 0:
            return place
        place += 1
    group += 1
    while group < len(groups) and groups[group] == 0:
        group += 1
    if group >= len(groups):
        return -1
    place = group * GROUP
    while waits[place] == 0:
        place += 1
    return place


@njit
def _rows_of(waits: I64, groups: I64, rows: I64) -> int:
    """Write down what waits, in LBA order; return how much it is."""
    count = 0
    for group in range(len(groups)):
        if groups[group] > 0:
            for row in range(group * GROUP, min(len(waits), group * GROUP + GROUP)):
                if waits[row] != 0:
                    rows[count] = row
                    count += 1
    return count


@njit
def _extents_of(
    waits: I64,
    groups: I64,
    offset: I64,
    asize: I64,
    vdev: I64,
    numbers: I64,
    rows: I64,
    firsts: I64,
    scores: I64,
) -> int:
    """Write down where among what waits each extent begins, and its score; return how many there are."""
    count, found = _rows_of(waits, groups, rows), 0
    for place in range(count):
        before = rows[place - 1] if place > 0 else -1
        if _begins(before, rows[place], offset, asize, vdev, numbers[MAX_GAP]) != 0:
            firsts[found] = place
            found += 1
    firsts[found] = count
    for extent in range(found):
        fill = 0
        for place in range(firsts[extent], firsts[extent + 1]):
            fill += asize[rows[place]]
        first, last = rows[firsts[extent]], rows[firsts[extent + 1] - 1]
        size = offset[last] + asize[last] - offset[first]
        scores[extent] = extent_score(fill, size, numbers[FILL_WEIGHT], numbers[COARSE] != 0)
    return found


@njit
def _sort_best_first(scores: I64, count: int, best: I64, spare: I64) -> None:
    """Write down the extents by score, the best first, those of one score as they lie: a merge sort."""
    for extent in range(count):
        best[extent] = extent
    width = 1
    while width < count:
        low = 0
        while low < count:
            middle, high = min(count, low + width), min(count, low + 2 * width)
            left, right = low, middle
            for place in range(low, high):
                is_left = left < middle
                if is_left and right < high:
                    is_left = scores[best[left]] >= scores[best[right]]
                if is_left:
                    spare[place] = best[left]
                    left += 1
                else:
                    spare[place] = best[right]
                    right += 1
            low += 2 * width
        for place in range(count):
            best[place] = spare[place]
        width *= 2


@njit
def _least(best: I64, found: int, firsts: I64, rows: I64, record: I64, numbers: I64, excess: float) -> int:
    """Return how many entries are issued at least until so much memory is free."""
    freed, count = 0.0, 1
    for number in range(found):
        first, end = firsts[best[number]], firsts[best[number] + 1]
        for place in range(first, end):
            freed += record[rows[place]] + numbers[EXTENT_SIZE] / (end - first)
            if freed >= excess:
                return count
            count += 1
    return count


@njit
def _whole_extents(taken: int, best: I64, found: int, firsts: I64) -> int:
    """Return how many entries the best extents have together that hold at least so many."""
    count = 0
    for number in range(found):
        if count >= taken:
            break
        count += firsts[best[number] + 1] - firsts[best[number]]
    return count


@njit
def _issue(row: int, at: int, waits: I64, groups: I64, issued: I64) -> None:
    """Write an entry down as the next that is issued; it waits no more."""
    issued[at] = row
    waits[row] = 0
    groups[row // GROUP] -= 1


@njit
def _issue_extents(
    taken: int, best: I64, found: int, firsts: I64, scores: I64, rows: I64, waits: I64, groups: I64,
    issued: I64, ends: I64, at: int, sweeps: int,
) -> int:  # fmt: skip
    """Issue so many entries, the best extents first; return how many sweeps there are then."""
    count = 0
    for number in range(found):
        extent = best[number]
        if count < taken and number > 0 and scores[extent] != scores[best[number - 1]]:
            ends[sweeps] = at + count
            sweeps += 1
        for place in range(firsts[extent], firsts[extent + 1]):
            if count < taken:
                _issue(rows[place], at + count, waits, groups, issued)
                count += 1
    ends[sweeps] = at + count
    return sweeps + 1


@njit
def _count(
    waits: I64,
    groups: I64,
    held: I64,
    offset: I64,
    asize: I64,
    vdev: I64,
    record: I64,
    numbers: I64,
    rows: I64,
) -> None:
    """Count what waits anew."""
    held[ENTRIES] = _rows_of(waits, groups, rows)
    held[RECORDS] = held[EXTENTS] = 0
    for place in range(held[ENTRIES]):
        before = rows[place - 1] if place > 0 else -1
        held[RECORDS] += record[rows[place]]
        held[EXTENTS] += _begins(before, rows[place], offset, asize, vdev, numbers[MAX_GAP])
