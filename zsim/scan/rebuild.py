"""Sequential rebuild: which ranges of a top-level vdev are copied, in which pieces.

Source: OpenZFS vdev_rebuild.c:vdev_rebuild_thread and vdev_rebuild_ranges (2.0 and later), vdev_mirror.c and
vdev_draid.c:rebuild_asize.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zsim.pool.blocks import BlockTable
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
    copies = int(blocks.dva_count.max(initial=0))  # of ranges, which are most rows of a rebuild, one
    here = blocks.dva_vdev[:, :copies] == vdev
    if copies > 1:
        here &= np.arange(copies)[None, :] < blocks.dva_count[:, None]
    begin, size = blocks.dva_offset[:, :copies][here], blocks.dva_asize[:, :copies][here]
    if written is not None:
        begin, size = np.concatenate((begin, written[0])), np.concatenate((size, written[1]))
    if len(begin) == 0:
        return begin, begin
    end = begin + size
    if np.any(begin[1:] < begin[:-1]):
        order = np.argsort(begin, kind="stable")
        begin, end = begin[order], end[order]
    end = np.maximum.accumulate(end)
    first = np.flatnonzero(np.concatenate(([True], begin[1:] > end[:-1])))
    return begin[first], np.maximum.reduceat(end, first)


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
    kind = kind_of(vdev.kind)
    begin, end = cut(*allocated_ranges(blocks, number, written), metaslab_bytes)
    start, _, psize = kind.rebuild_pieces(vdev, vdev.ashift, begin, end, segment_bytes)
    kept = psize > 0
    if kind.has_groups:
        kept &= touched(start, np.ones_like(start), vdev)
    return Chunks(start[kept], psize[kept], start[kept] // metaslab_bytes)


def with_chunks(items: ScanItems, chunks: Chunks, vdev: int) -> ScanItems:
    """Return the items with one more for each chunk."""
    more = plain_items(np.full(len(chunks), vdev, np.int64), chunks.offset, chunks.psize)
    return joined_items(items, more)
