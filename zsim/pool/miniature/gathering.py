"""Metaslabs of a miniature in a few heaps, where what lies in them has its middle in the real pool.

A sweep in the order of addresses makes a long seek from heap to heap, which the real pool makes once in many
thousand times the data.  Where the heaps lie matters to the media rate alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zsim.pool.blocks import BlockTable
from zsim.pool.recipes.recipe import TopLevel

LOSS = 0.75
"""Of the square of the media rate, from the first byte of a disk to the last: the inner rate is half the outer one."""


def _turns(place):
    """Return the time that bytes at a share of the drive take, in that of the first ones."""
    return (1.0 - LOSS * place) ** -0.5


def gathered(
    table: BlockTable, number: int, reduced: TopLevel, real: TopLevel, heaps: int
) -> tuple[BlockTable, TopLevel]:
    """Return a table with the blocks of a top-level vdev in so many heaps of equal data.

    Parameters
    ----------
    table : BlockTable
    number : int
        Of the vdev, in the table.
    reduced, real : TopLevel
        The vdev of the miniature, and the one that it stands for.
    heaps : int

    Returns
    -------
    table : BlockTable
        With the same order of addresses; blocks have moved by whole rows.
    level : TopLevel
        The vdev of the miniature with its metaslabs where they are now.
    """
    starts, size = reduced.slab_starts(), reduced.slab_bytes
    here = table.dva_vdev == number
    slab = reduced.slab_of(table.dva_offset[here])
    held = np.bincount(slab, weights=table.dva_asize[here], minlength=len(starts))
    before = np.cumsum(held) - held
    heap = np.minimum(heaps * (before + held / 2.0) / max(1.0, held.sum()), heaps - 1).astype(np.int64)
    space = real.slab_bytes * real.slab_count
    each = space / len(starts)
    shift = np.empty_like(starts)
    end = 0
    for rows in (np.flatnonzero(heap == one) for one in np.unique(heap)):
        # What lies in the heap has its middle where it has it in the real pool.
        passed = np.average(_turns((rows + 0.5) * each / space), weights=held[rows] + 1.0)
        inside = np.average((np.arange(len(rows)) + 0.5) * size, weights=held[rows] + 1.0)
        begin = int((1.0 - passed**-2.0) / LOSS * space - inside)
        end = max(end, min(begin, space - (len(rows) + 1) * size))
        for one in rows:
            shift[one] = -((starts[one] - end) // reduced.row_bytes) * reduced.row_bytes
            end = int(starts[one] + shift[one]) + size
    offset = table.dva_offset.copy()
    offset[here] += shift[slab]
    level = replace(reduced, starts=tuple((starts + shift).tolist()))
    return replace(table, dva_offset=offset), level
