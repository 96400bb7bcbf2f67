"""Where writes go: the MOS blocks of a txg, a writer's data, the intent log.

In a pool that was imported lately, an allocator takes the metaslab with the best weight as its primary one
and the next as its secondary one; its cursor in a metaslab starts at the beginning after an import, so the
first free block there comes first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zsim.engine.model import LABEL_BYTES, PlaneModel, VdevModel
from zsim.operation.txg import asize_of
from zsim.pool.blocks import BlockTable
from zsim.scan.rebuild import allocated_ranges
from zsim.vdevs.kind import kind_of

Cursor = tuple[int, int]
# An allocator of several has its own metaslabs only if there are three for each.
METASLABS_PER_ALLOCATOR = 3
ALLOCATORS = 4
END_LABELS = 512 << 10
# Copies at most so far apart are taken to be of one allocator's metaslab [bytes].
ALLOCATION_REGION = 16 << 20


def vdev_asize(model: PlaneModel, vdev: VdevModel) -> int:
    """Return the address space of a top-level vdev [bytes] (vdev.c:vdev_open)."""
    leaves = [leaf for leaf in (*vdev.read_leaf, *vdev.write_leaf) if leaf >= 0]
    child = min(model.leaves[leaf].drive.capacity_bytes for leaf in leaves) - LABEL_BYTES - END_LABELS
    return kind_of(vdev.kind).address_space(vdev, child)


def free_ranges(blocks: BlockTable, number: int, asize: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return begin and end of the free ranges of a top-level vdev, ascending."""
    begin, end = allocated_ranges(blocks, number)
    start, stop = np.concatenate(([0], end)), np.concatenate((begin, [max(asize, int(end.max(initial=0)))]))
    free = stop > start
    return start[free].astype(np.int64), stop[free].astype(np.int64)


def best_places(blocks: BlockTable, number: int, asize: int, metaslab_bytes: int) -> NDArray[np.int64]:
    """Return the first free address of every metaslab of a top-level vdev, the best metaslab first.

    Notes
    -----
    The weight is the power of two of the largest free segment, then how many there are of it; of equals the
    first metaslab is taken (OpenZFS metaslab.c:metaslab_segment_weight, metaslab_compare, 0.7 and later).
    """
    count = asize // metaslab_bytes
    begin, end = free_ranges(blocks, number, count * metaslab_bytes)
    ranks = []
    for slab in range(count):
        low, high = slab * metaslab_bytes, (slab + 1) * metaslab_bytes
        rows = slice(np.searchsorted(end, low, side="right"), np.searchsorted(begin, high))
        start, stop = np.maximum(begin[rows], low), np.minimum(end[rows], high)
        if len(start) == 0:
            continue
        sizes = np.floor(np.log2(stop - start)).astype(np.int64)
        ranks.append((-int(sizes.max()), -int((sizes == sizes.max()).sum()), slab, int(start[0])))
    return np.array([place for *_, place in sorted(ranks)], np.int64)


def allocator_ranks(metaslabs: int) -> tuple[tuple[int, int, int], ...]:
    """Return, for each allocator, the ranks of the metaslabs that take the copies of its blocks.

    The third copies of all go to the best metaslab that is nobody's primary or secondary (seen in 2.3.9).
    """
    if metaslabs < METASLABS_PER_ALLOCATOR * ALLOCATORS:
        return ((0, 1, 2),)
    return tuple((2 * number, 2 * number + 1, 2 * ALLOCATORS) for number in range(ALLOCATORS))


def imported_cursors(blocks: BlockTable, model: PlaneModel, shifts: Sequence[int]) -> list[list[Cursor]]:
    """Return where each allocator's next blocks go, one (vdev, offset) a copy.

    Parameters
    ----------
    blocks : BlockTable
        All that is allocated.
    model : PlaneModel
    shifts : sequence of int
        Metaslab size of each top-level vdev [log2(bytes)]; copies go to one vdev after the other.
    """
    places = [
        best_places(blocks, number, vdev_asize(model, vdev), 1 << shifts[number])
        for number, vdev in enumerate(model.vdevs)
    ]
    fewest = min(len(each) for each in places)
    if fewest == 0:
        return []
    return [
        [
            (copy % len(places), int(places[copy % len(places)][min(rank, fewest - 1)]))
            for copy, rank in enumerate(ranks)
        ]
        for ranks in allocator_ranks(fewest)
    ]


def mos_cursors(blocks: BlockTable) -> list[list[tuple[int, int]]]:
    """Return where the youngest MOS blocks have their copies, by allocator: the next ones go nearby.

    Blocks whose first copies lie together came from one allocator; the one with the objset's root comes
    first, and a block all by itself tells nothing.
    """
    mos = np.flatnonzero(blocks.objset == 0)
    if len(mos) == 0:
        return [[(0, 0)]]
    youngest = mos[blocks.birth[mos] == blocks.birth[mos].max()]
    groups: dict[tuple[int, int], list[list[tuple[int, int]]]] = {}
    for row in youngest:
        count = int(blocks.dva_count[row])
        places = [
            (int(blocks.dva_vdev[row, copy]), int(blocks.dva_offset[row, copy])) for copy in range(count)
        ]
        groups.setdefault((places[0][0], places[0][1] // ALLOCATION_REGION), []).append(places)
    main, *others = groups.values()
    return [main[0], *(group[0] for group in others if len(group) > 1)]


def data_cursor(blocks: BlockTable) -> tuple[int, int]:
    """Return where the next data of a writer go: behind the youngest data block."""
    data = np.flatnonzero(~blocks.is_metadata)
    if len(data) == 0:
        return 0, 0
    youngest = data[np.argmax(blocks.birth[data])]
    return int(blocks.dva_vdev[youngest, 0]), int(
        blocks.dva_offset[youngest, 0] + blocks.dva_asize[youngest, 0]
    )


def log_places(model: PlaneModel) -> list[tuple[VdevModel, int]]:
    """Return where the intent log lies on each top-level vdev.

    From 2.1 a metaslab is set aside for it (vdev.c:vdev_metaslab_init); taken to be in the middle.
    """
    places = []
    for vdev in model.vdevs:
        unit = max(1, asize_of(vdev, 1 << vdev.ashift))
        places.append((vdev, vdev_asize(model, vdev) // 2 // unit * unit))
    return places
