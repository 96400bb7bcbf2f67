"""The metaslabs of a miniature in one heap, where the media rate is the mean of what they stand for.

A sweep in the order of addresses makes a long seek from heap to heap, some 50 ms until all drives read and
write again, which the real pool makes once in thousands of times the data.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant
from zsim.pool.blocks import BlockTable
from zsim.pool.recipes.recipe import TopLevel

LOSS = constant("population.rate_loss")


def gathered(
    table: BlockTable, number: int, reduced: TopLevel, real: TopLevel
) -> tuple[BlockTable, TopLevel]:
    """Return a table with the metaslabs of a top-level vdev one behind the other.

    Parameters
    ----------
    table : BlockTable
    number : int
        Of the vdev, in the table.
    reduced, real : TopLevel
        The vdev of the miniature, and the one that it stands for.

    Returns
    -------
    table : BlockTable
        With the same order of addresses; blocks have moved by whole rows.
    level : TopLevel
        The vdev of the miniature with its metaslabs where they are now.

    Notes
    -----
    At a share x of the capacity a disk moves ``sqrt(1 - x * loss)`` of its outer rate
    (`zsim.drives.models.model.zone_rates`): the heap lies where its inverse is what it is in the mean over
    the bytes at their places in the real pool.
    """
    starts, size = reduced.slab_starts(), reduced.slab_bytes
    here = table.dva_vdev == number
    slab = reduced.slab_of(table.dva_offset[here])
    held = np.bincount(slab, weights=table.dva_asize[here], minlength=len(starts))
    if not held.any():
        return table, reduced
    order = np.arange(len(starts)) + 0.5
    passed = float(np.average((1.0 - LOSS * order / len(starts)) ** -0.5, weights=held))
    space, middle = real.slab_bytes * real.slab_count, float(np.average(order, weights=held)) * size
    first = int((1.0 - passed**-2.0) / LOSS * space - middle)
    shift = _shifts(starts, max(0, min(first, space - (len(starts) + 1) * size)), size, reduced.row_bytes)
    offset = table.dva_offset.copy()
    offset[here] += shift[slab]
    return replace(table, dva_offset=offset), replace(reduced, starts=tuple((starts + shift).tolist()))


def _shifts(starts: NDArray[np.int64], first: int, size: int, row: int) -> NDArray[np.int64]:
    """Return by how many bytes each metaslab moves: whole rows, to behind the one before it."""
    shifts, end = np.empty_like(starts), first
    for place, start in enumerate(starts.tolist()):
        shifts[place] = -((start - end) // row) * row
        end = start + int(shifts[place]) + size
    return shifts
