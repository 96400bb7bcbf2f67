"""The order in which a sorted scan issues a tile of a pool whose records do not fit its memory.

The real scan goes in rounds: it visits for a txg or more, then issues what frees most for least seeking until
it is below the soft limit, and every two hours all that it holds.  A tile has its share of each round, and on
the drives what follows it is that of the next tile, which lies behind.  So each round of the one tile that is
run stands in the place of another tile, and its sweep goes on where the last one ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant, whole_constant
from zsim.operation.blocks import ScanBlocks
from zsim.operation.control import Plane
from zsim.operation.memory_limit import EXTENT_BYTES, MemoryLimit
from zsim.pool.recipes.recipe import TopLevel
from zsim.scan.items import ScanItems
from zsim.scan.program import OP_VISIT
from zsim.scan.rounds import sweeps_in_rounds
from zsim.scan.sorted import Addresses, ExtentRules, ScanQueue
from zsim.vdevs.kind import kind_of

I64 = NDArray[np.int64]
POSITION_S, RATE = constant("population.write_position"), constant("population.write_rate")
ESTIMATES = whole_constant("sampling.estimates")
"""Times the order is made: how long it takes decides when two hours are over."""


@dataclass(frozen=True, slots=True)
class ScanMemory:
    """What a scan that is short of memory has, and where the tiles of its pool lie.

    Attributes
    ----------
    limit : MemoryLimit
        Of the pool.
    rules : ExtentRules
    levels : mapping of int to TopLevel
        The pool's top-level vdevs whose blocks may move, by their numbers in the layout.
    part : float
        Share of what a scan collects that lies on the vdevs that are simulated.
    """

    limit: MemoryLimit
    rules: ExtentRules
    levels: Mapping[int, TopLevel]
    part: float = 1.0


@dataclass(frozen=True, slots=True)
class ScanPace:
    """How a tile's scan goes.

    Attributes
    ----------
    times : float
        Tiles in the pool.
    visited : float
        Entries of the tile that a txg visits.
    visit_s : float
        How long such a txg takes [s].
    slice_s : float
        How long a txg issues [s].
    """

    times: float
    visited: float
    visit_s: float
    slice_s: float


@dataclass(frozen=True, slots=True)
class MetadataPhase:
    """The metadata phase of a tile, as it was run.

    Attributes
    ----------
    times, visits : float
        Tiles in the pool, and so many times the metadata phase.
    whole_s, slice_s : float
        How long that of the pool takes, and a txg of it visits [s].
    """

    times: float
    visits: float
    whole_s: float
    slice_s: float

    def pace(self, blocks: ScanBlocks) -> ScanPace:
        """Return how the scan goes: a txg visits for a slice, and then has all that it has read ahead."""
        walk, items, window = blocks.walk, blocks.items, blocks.pool_window
        visited = np.unique(walk.item[walk.code == OP_VISIT])
        psize = items.psize[visited[~items.in_memory[visited]]]
        ahead = window.limit * (float(psize.mean()) if window.counts_blocks and len(psize) else 1.0)
        whole_s = max(self.whole_s, 1e-9)
        drain_s = min(1.0, ahead / max(1.0, self.visits * float(psize.sum()))) * whole_s
        each_s = min(whole_s, self.slice_s + drain_s)
        entries = 0 if blocks.queue is None else len(blocks.queue)
        return ScanPace(self.times, max(1e-6, entries * each_s / whole_s), each_s, self.slice_s)


def sweeps_of(queue: ScanQueue, memory: ScanMemory, pace: ScanPace) -> list[I64]:
    """Return the sweeps by which a scan issues the entries of a tile, each by address.

    Parameters
    ----------
    queue : ScanQueue
        Entries of the tile in the order visited.
    memory : ScanMemory
    pace : ScanPace

    Returns
    -------
    list of ndarray of int64
        Entries.

    Notes
    -----
    OpenZFS dsl_scan.c:dsl_scan_should_clear, scan_io_queue_fetch_ext; extents of one score go by address.
    """
    children = {
        vdev: kind_of(level.spec.kind).spanned_children(level.spec) for vdev, level in memory.levels.items()
    }
    share = np.array([1.0 / children.get(vdev, 1) for vdev in range(int(queue.vdev.max(initial=0)) + 1)])
    sweeps = [np.arange(len(queue))]
    limit, addresses = memory.limit, Addresses(queue)
    for _ in range(ESTIMATES):
        rate = len(queue) / (_seconds(queue, sweeps, share) * pace.times)
        sweeps = sweeps_in_rounds(
            queue,
            addresses,
            memory.rules,
            strict=limit.strict,
            extent_bytes=EXTENT_BYTES,
            reals=(
                rate, pace.visited, pace.visit_s, pace.slice_s,
                limit.hard * memory.part / pace.times, limit.soft * memory.part / pace.times, limit.interval,
            ),
        )  # fmt: skip
    return sweeps


def _seconds(queue: ScanQueue, sweeps: list[I64], share: NDArray[np.float64]) -> float:
    """Return about how long sweeps take: each gap is passed over, or sought across."""
    rows = np.concatenate(sweeps)
    begin, size, vdev = queue.offset[rows], queue.asize[rows], queue.vdev[rows]
    gap = np.abs(begin[1:] - begin[:-1] - size[:-1]) * share[vdev[1:]] / RATE
    return float(np.minimum(gap, POSITION_S).sum() + (size * share[vdev]).sum() / RATE)


def orders_in_rounds(
    blocks: ScanBlocks, plane: Plane, memory: ScanMemory, visited: MetadataPhase
) -> tuple[ScanItems, list[I64]]:
    """Give the sweeps of a tile places of their own.

    Parameters
    ----------
    blocks : ScanBlocks
        Of the tile, with a queue.
    plane : Plane
        Where its entries are moved.
    memory : ScanMemory
    visited : MetadataPhase

    Returns
    -------
    items : ScanItems
        Those of the blocks, with entries where they are now.
    orders : list of ndarray of int64
        Entries of each top-level vdev in the order of issue.
    """
    queue = blocks.queue
    assert queue is not None
    sweeps = sweeps_of(queue, memory, visited.pace(blocks))
    offset, orders = in_places(queue, sweeps, memory.levels, len(blocks.windows))
    plane.set_offsets(queue.item, offset)
    places = blocks.items.offset.copy()  # other runs of the tile have the items as well
    places[queue.item] = offset
    return replace(blocks.items, offset=places), orders


def in_places(
    queue: ScanQueue, sweeps: list[I64], levels: Mapping[int, TopLevel], vdevs: int
) -> tuple[I64, list[I64]]:
    """Return where the entries lie when each sweep begins where the one before has ended, and their order.

    Parameters
    ----------
    queue : ScanQueue
    sweeps : list of ndarray of int64
    levels : mapping of int to TopLevel
        See `ScanMemory`; entries of other vdevs stay where they are.
    vdevs : int
        Of the pool.

    Returns
    -------
    offset : ndarray of int64, shape (entries,)
        [bytes]
    orders : list of ndarray of int64
        The entries of each top-level vdev, sweep by sweep.
    """
    number = np.empty(len(queue), np.int64)
    for place, rows in enumerate(sweeps):
        number[rows] = place
    # By the places they had: of a sweep all entries are moved by as much.
    order = np.lexsort((queue.offset, number, queue.vdev))
    offset = queue.offset.copy()
    ends = np.searchsorted(queue.vdev[order], np.arange(vdevs + 1))
    orders = [order[low:high] for low, high in pairwise(ends)]
    for vdev, level in levels.items():
        here = orders[vdev]
        if len(here):
            offset[here] = _one_behind_the_other(queue.offset[here], queue.asize[here], number[here], level)
    return offset, orders


def _one_behind_the_other(offset: I64, asize: I64, number: I64, level: TopLevel) -> I64:
    """Return where entries lie when each sweep begins where the one before it has ended.

    In the pool a sweep goes on to the next tile as it went on within this one: by its mean gap.  Where a vdev
    has no room for all sweeps, they begin again at its outer end.
    """
    row, end = level.row_bytes, offset + asize
    same = number[1:] == number[:-1]
    gaps = np.where(same, offset[1:] - end[:-1], 0)
    gap = round(float(gaps.sum()) / max(1, int(same.sum())))
    bounds = np.concatenate([[0], np.flatnonzero(~same) + 1, [len(offset)]])
    firsts = bounds[:-1]
    lengths = end[bounds[1:] - 1] - offset[firsts] + gap
    starts = np.cumsum(lengths) - lengths
    whole = int(lengths.sum())
    if whole > level.space:
        starts %= max(1, level.space - int(lengths.max()))
    else:
        starts += (level.space - whole) // 2
    moved = (starts - offset[firsts]) // row * row
    found: I64 = offset + np.repeat(moved, np.diff(bounds))
    return found
