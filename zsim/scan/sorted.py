"""The queues of a sorted scan: what a visited block becomes, when it is issued, and its memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from zsim.base.jit import njit
from zsim.pool.blocks import MAX_DVAS, BlockTable
from zsim.scan.items import ScanItems
from zsim.scan.program import DamagedVdev, Program, issuing, read_chances, with_entries

SIO_BYTES, DVA_BYTES = 120, 16
# A smaller part of a queue is sorted; of a larger one, the sorted whole is gone through.
FEW_PENDING = 1 / 16


@dataclass(frozen=True, slots=True)
class ScanQueue:
    """Entries of the scan queues, one for each DVA of each block that needs I/O, in the order visited.

    Attributes
    ----------
    item : ndarray of int64, shape (n,)
        Block (row of the block table).
    copy : ndarray of int64, shape (n,)
        Which of the block's DVAs the entry stands for.
    vdev : ndarray of int64, shape (n,)
        Top-level vdev on whose queue the entry stands.
    offset, asize : ndarray of int64, shape (n,)
        Place of this DVA [bytes].
    record_bytes : ndarray of int64, shape (n,)
        Memory the entry takes [bytes].
    """

    item: NDArray[np.int64]
    copy: NDArray[np.int64]
    vdev: NDArray[np.int64]
    offset: NDArray[np.int64]
    asize: NDArray[np.int64]
    record_bytes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: NDArray[np.int64]) -> ScanQueue:
        """Return the entries selected, in that order."""
        return ScanQueue(*(getattr(self, name)[rows] for name in self.__slots__))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtentRules:
    """How extents are formed and scored.

    Attributes
    ----------
    max_gap : int
        Neighbours at most so far apart form one extent [bytes] (zfs_scan_max_ext_gap).
    fill_weight : int
        zfs_scan_fill_weight.
    coarse : bool
        Only the power of two of the score counts, ties by address (2.1.6 and later).
    """

    max_gap: int
    fill_weight: int
    coarse: bool


def queue_entries(blocks: BlockTable, visited: NDArray[np.int64]) -> ScanQueue:
    """Return the queue entries of blocks, in the order in which these are visited.

    Parameters
    ----------
    blocks : BlockTable
    visited : ndarray of int64, shape (n,)
        Rows of the table.

    Returns
    -------
    ScanQueue
        A block with k DVAs has k entries one behind the other, each on the queue of its DVA's top-level vdev.

    Notes
    -----
    Every entry carries all DVAs of its block (OpenZFS dsl_scan.c:dsl_scan_enqueue, bp2sio): so the read of
    one copy repairs the others, k times.
    """
    queue = ScanQueue(*np.empty((6, int(blocks.dva_count[visited].sum())), np.int64))
    _write_entries(
        np.ascontiguousarray(visited), np.ascontiguousarray(blocks.dva_count),
        blocks.dva_vdev.ravel(), blocks.dva_offset.ravel(), blocks.dva_asize.ravel(),
        *(getattr(queue, name) for name in ScanQueue.__slots__),
    )  # fmt: skip
    return queue


@njit
def _write_entries(
    visited: NDArray[np.int64],
    counts: NDArray[np.int16],
    vdevs: NDArray[np.int32],
    offsets: NDArray[np.int64],
    asizes: NDArray[np.int64],
    item: NDArray[np.int64],
    copy: NDArray[np.int64],
    vdev: NDArray[np.int64],
    offset: NDArray[np.int64],
    asize: NDArray[np.int64],
    record_bytes: NDArray[np.int64],
) -> None:
    """Write down the columns of a queue, from `item` on."""
    at = 0
    for number in range(len(visited)):
        row = visited[number]
        for dva in range(counts[row]):
            place = MAX_DVAS * row + dva
            item[at], copy[at], vdev[at] = row, dva, vdevs[place]
            offset[at], asize[at] = offsets[place], asizes[place]
            record_bytes[at] = SIO_BYTES + DVA_BYTES * counts[row]
            at += 1


def with_own_items(
    items: ScanItems,
    blocks: BlockTable,
    queue: ScanQueue,
    *,
    seed: int,
    scrub: bool,
    vdevs: tuple[DamagedVdev, ...] = (),
    elsewhere: BlockTable | None = None,
) -> tuple[ScanItems, ScanQueue]:
    """Return the items with those that queue entries need beside them, and the queue with the item of each.

    An entry needs none where its block has one DVA and is issued from where its item has it: nearly all do.

    Parameters
    ----------
    items : ScanItems
        One a block.
    blocks : BlockTable
    queue : ScanQueue
        Its items are rows of the table.
    seed : int
        Of the copies read.
    scrub, vdevs, elsewhere
        As in `with_entries`.

    Returns
    -------
    items : ScanItems
        Without the way up, which a queue is not issued along.
    queue : ScanQueue
        No two entries with the same item.
    """
    rows = queue.item
    moved = (items.offset.take(rows) != queue.offset) | (items.vdev.take(rows) != queue.vdev)
    own = np.flatnonzero(moved | (blocks.dva_count.take(rows) > 1))
    number = rows.copy()
    number[own] = np.arange(len(items), len(items) + len(own))
    chance = read_chances(seed + 1, len(queue))[own]
    more = with_entries(
        replace(items, unwind=None), blocks, rows[own], queue.copy[own],
        chance=chance, scrub=scrub, vdevs=vdevs, elsewhere=elsewhere,
    )  # fmt: skip
    return more, replace(queue, item=number)


class Addresses:
    """The entries of a queue in LBA order, vdev by vdev: sorted once, for whatever part of them is pending.

    Parameters
    ----------
    queue : ScanQueue
    """

    def __init__(self, queue: ScanQueue) -> None:
        self.order = np.lexsort((queue.offset, queue.vdev))
        self.rank = np.empty(len(queue), np.int64)
        self.rank[self.order] = np.arange(len(queue))
        self.vdev = queue.vdev

    def in_order(self, pending: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return rising entries in LBA order, vdev by vdev (those at one place as they were visited)."""
        if len(pending) < FEW_PENDING * len(self.order):
            return self.order[np.sort(self.rank[pending])]
        waits = np.zeros(len(self.order), np.bool_)
        waits[pending] = True
        return self.order[waits[self.order]]

    def by_vdev(self, pending: NDArray[np.int64], vdevs: int) -> list[NDArray[np.int64]]:
        """Return the entries of each of so many top-level vdevs, in LBA order."""
        rows = self.in_order(pending)
        bounds = np.searchsorted(self.vdev[rows], np.arange(vdevs + 1))
        return [rows[low:high] for low, high in pairwise(bounds)]


def joined(pending: NDArray[np.int64], first: int, end: int, more: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the entries of `pending` (rising), those from `first` to before `end`, and `more`; rising."""
    low = min(first, int(more.min(initial=first)))
    kept = int(np.searchsorted(pending, low))
    behind = pending[kept:]
    high = max(end, int(more.max(initial=-1)) + 1, int(behind.max(initial=-1)) + 1)
    # `numpy.unique` hashes integers since 2.3, which takes ten times as long as marking them.
    marked = np.zeros(high - low, np.bool_)
    marked[first - low : end - low] = True
    marked[more - low] = marked[behind - low] = True
    return np.concatenate((pending[:kept], low + np.flatnonzero(marked)))


def address_order(queue: ScanQueue, vdev: int) -> NDArray[np.int64]:
    """Return the entries of one top-level vdev in LBA order, as checkpoints and the final drain issue them.

    Returns
    -------
    ndarray of int64, shape (n,)
        Rows of the queue; entries at one place as they were visited.

    Notes
    -----
    OpenZFS dsl_scan.c:scan_io_queue_fetch_ext, where no memory has to be freed.
    """
    rows = np.flatnonzero(queue.vdev == vdev)
    # A stable sort takes runs as they are, and what is visited lies in runs: a quarter of the time.
    return rows[np.argsort(queue.offset.take(rows), kind="stable")]


def extent_order(queue: ScanQueue, rows: NDArray[np.int64], rules: ExtentRules) -> NDArray[np.int64]:
    """Return entries of one top-level vdev by extent, best score first (memory clearing).

    Parameters
    ----------
    queue : ScanQueue
    rows : ndarray of int64, shape (n,)
        The entries in LBA order.
    rules : ExtentRules

    Notes
    -----
    score = fill + weight * fill * fill / size; OpenZFS dsl_scan.c:ext_size_value, scan_io_queue_fetch_ext.
    """
    if len(rows) == 0:
        return rows
    return rows[by_score(*scored_extents(queue, rows, rules))]


def by_score(extent: NDArray[np.int64], score: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of entries extent by extent, best score first; see `scored_extents`."""
    rank = np.empty(len(score), np.int64)
    rank[np.argsort(-score, kind="stable")] = np.arange(len(score))
    return np.argsort(rank[extent], kind="stable")


def extents_of(queue: ScanQueue, rows: NDArray[np.int64], rules: ExtentRules) -> NDArray[np.int64]:
    """Return the number of the extent of each entry; parameters as in `scored_extents`."""
    start, end = queue.offset[rows], queue.offset[rows] + queue.asize[rows]
    return np.concatenate(([0], np.cumsum(start[1:] - end[:-1] > rules.max_gap)))


def scored_extents(
    queue: ScanQueue, rows: NDArray[np.int64], rules: ExtentRules
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the extents that neighbouring entries form, and the score of each.

    Parameters
    ----------
    queue : ScanQueue
    rows : ndarray of int64, shape (n,)
        Entries of one top-level vdev in LBA order.
    rules : ExtentRules

    Returns
    -------
    extent : ndarray of int64, shape (n,)
        Number of the extent of each entry, from 0.
    score : ndarray of int64, shape (extents,)
        See `extent_score`.
    """
    extent = extents_of(queue, rows, rules)
    start, end = queue.offset[rows], queue.offset[rows] + queue.asize[rows]
    fill = np.bincount(extent, weights=queue.asize[rows]).astype(np.int64)
    first = np.searchsorted(extent, np.arange(len(fill)))
    last = np.searchsorted(extent, np.arange(len(fill)), side="right") - 1
    size = end[last] - start[first]
    score = np.empty(len(fill), np.int64)
    _score_extents(fill, size, rules.fill_weight, rules.coarse, score)
    return extent, score


@njit
def _score_extents(
    fill: NDArray[np.int64], size: NDArray[np.int64], weight: int, coarse: bool, score: NDArray[np.int64]
) -> None:
    """Write down the score of each extent."""
    for extent in range(len(fill)):
        score[extent] = extent_score(fill[extent], size[extent], weight, coarse)


@njit
def extent_score(fill: int, size: int, weight: int, coarse: bool) -> int:
    """Return the score of an extent: those with the best are issued first when memory has to be freed.

    Parameters
    ----------
    fill, size : int
        What of the extent is queued, and from its first to its last byte [bytes].
    weight : int
        zfs_scan_fill_weight.
    coarse : bool
        Whether only the power of two counts (2.1.6 and later).

    Returns
    -------
    int
        ``fill + weight * (100 * fill / size) * fill / 100`` in whole numbers; `coarse`: its power of two.

    Notes
    -----
    OpenZFS dsl_scan.c:ext_size_value, ext_size_compare.
    """
    score = fill + weight * (fill * 100 // size) * fill // 100
    if not coarse:
        return score
    power = 1
    while 2 * power <= score:
        power *= 2
    return power


def issue_program(queue: ScanQueue, rows: NDArray[np.int64]) -> Program:
    """Return the program that issues queue entries in the order given."""
    return issuing(queue.item[rows])
