"""Sequential rebuild: which ranges of a top-level vdev are copied, in which pieces.

Source: OpenZFS vdev_rebuild.c:vdev_rebuild_thread and vdev_rebuild_ranges (2.0 and later), vdev_mirror.c and
vdev_draid.c:rebuild_asize.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zsim.base.jit import njit
from zsim.pool.blocks import MAX_DVAS, BlockTable
from zsim.scan.items import ScanItems, joined_items, plain_items
from zsim.scan.program import DamagedVdev, touched
from zsim.vdevs.kind import kind_of
from zsim.vdevs.ranges import cut

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Chunks:
    """What a rebuild reads and writes at a time, in the order of addresses.

    Attributes
    ----------
    offset, psize : ndarray of int64, shape (n,)
        Place in the top-level vdev and data bytes (parity left out) [bytes].
    metaslab : ndarray of int64, shape (n,)
    """

    offset: Integers
    psize: Integers
    metaslab: Integers

    def __len__(self) -> int:
        return len(self.offset)


def allocated_ranges(
    blocks: BlockTable, vdev: int, written: tuple[Integers, Integers] | None = None
) -> tuple[Integers, Integers]:
    """Return the allocated ranges of a top-level vdev.

    Parameters
    ----------
    blocks : BlockTable
    vdev : int
        Number of the top-level vdev.
    written : (ndarray of int64, ndarray of int64), optional
        Where blocks begin that were written since, and what each takes [bytes].

    Returns
    -------
    begin, end : ndarray of int64, shape (ranges,)
        Ascending [bytes of its address space]; ranges that touch or overlap are one.
    """
    begin, end = _places(blocks, vdev)
    if written is not None:
        begin, end = np.concatenate((begin, written[0])), np.concatenate((end, written[0] + written[1]))
    if np.any(begin[1:] < begin[:-1]):
        order = np.argsort(begin, kind="stable")
        begin, end = begin[order], end[order]
    count = _joined(begin, end)
    return begin[:count], end[:count]


def _places(blocks: BlockTable, vdev: int) -> tuple[Integers, Integers]:
    """Return where the DVAs on a top-level vdev begin and end, in the order of the table [bytes]."""
    dvas = int(blocks.dva_count.sum())
    if dvas == len(blocks):
        here = blocks.dva_vdev[:, 0] == vdev
        first = blocks.dva_offset[:, 0][here]
        return first, first + blocks.dva_asize[:, 0][here]
    begin, end = np.empty((2, dvas), np.int64)
    vdevs, offsets, asizes = blocks.dva_vdev.ravel(), blocks.dva_offset.ravel(), blocks.dva_asize.ravel()
    count = _taken(vdev, np.ascontiguousarray(blocks.dva_count), vdevs, offsets, asizes, begin, end)
    return begin[:count], end[:count]


@njit
def _taken(
    vdev: int,
    counts: NDArray[np.int16],
    vdevs: NDArray[np.int32],
    offsets: Integers,
    asizes: Integers,
    begin: Integers,
    end: Integers,
) -> int:
    """Write down where the DVAs on a top-level vdev begin and end; return how many there are."""
    count = 0
    for row in range(len(counts)):
        for place in range(MAX_DVAS * row, MAX_DVAS * row + counts[row]):
            if vdevs[place] == vdev:
                begin[count], end[count] = offsets[place], offsets[place] + asizes[place]
                count += 1
    return count


@njit
def _joined(begin: Integers, end: Integers) -> int:
    """Make ranges that touch or overlap one, in place; they ascend.  Return how many are left."""
    count = 0
    for row in range(len(begin)):
        if count > 0 and begin[row] <= end[count - 1]:
            end[count - 1] = max(end[count - 1], end[row])
        else:
            begin[count], end[count] = begin[row], end[row]
            count += 1
    return count


def rebuild_chunks(
    blocks: BlockTable,
    number: int,
    vdev: DamagedVdev,
    *,
    metaslab_bytes: int,
    segment_bytes: int,
    written: tuple[Integers, Integers] | None = None,
) -> Chunks:
    """Return the chunks of one top-level vdev.

    Parameters
    ----------
    blocks : BlockTable
        Its DVAs are what is allocated.
    number : int
        Of the top-level vdev.
    vdev : DamagedVdev
        Of a kind that can be rebuilt.
    metaslab_bytes : int
    segment_bytes : int
        zfs_rebuild_max_segment.
    written : (ndarray of int64, ndarray of int64), optional
        As in `allocated_ranges`: a rebuild goes by space maps, and so copies what is newer than the drive.

    Notes
    -----
    How large a chunk is, its kind tells (`VdevKind.rebuild_pieces`); groups without a missing child are left
    out.
    """
    ranges = allocated_ranges(blocks, number, written)
    return chunks_of(*ranges, vdev, metaslab_bytes=metaslab_bytes, segment_bytes=segment_bytes)


def chunks_of(
    begin: Integers, end: Integers, vdev: DamagedVdev, *, metaslab_bytes: int, segment_bytes: int
) -> Chunks:
    """Return the chunks of allocated ranges; see `rebuild_chunks`."""
    kind = kind_of(vdev.kind)
    start, _, psize = kind.rebuild_pieces(vdev, vdev.ashift, *cut(begin, end, metaslab_bytes), segment_bytes)
    kept = psize > 0
    if kind.has_groups:
        kept &= _in_touched_groups(start, kind.group_bytes(vdev), vdev)
    return Chunks(start[kept], psize[kept], start[kept] // metaslab_bytes)


def _in_touched_groups(start: Integers, group_bytes: int, vdev: DamagedVdev) -> NDArray[np.bool_]:
    """Tell which pieces lie in a group that misses a child; each is in one, and each group is asked once."""
    group = start // group_bytes
    first = np.flatnonzero(np.diff(group, prepend=-1))
    found = touched(start[first], np.ones(len(first), np.int64), vdev)
    return np.repeat(found, np.diff(first, append=len(start)))


def with_chunks(items: ScanItems, chunks: Chunks, vdev: int) -> ScanItems:
    """Return the items with one more for each chunk."""
    more = plain_items(np.full(len(chunks), vdev, np.int64), chunks.offset, chunks.psize)
    return joined_items(items, more)
