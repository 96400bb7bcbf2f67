"""Gather the metaslabs of a miniature in one place, where the media rate is the mean of those it represents.

A sweep in the order of addresses makes a long seek from heap to heap, some 50 ms until all drives read and
write again, which the real pool makes once in thousands of times the data.  So it is with the room that is
left at the end of a metaslab: one of a miniature holds a hundred blocks.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant
from zsim.pool.blocks import BlockTable
from zsim.pool.recipes.recipe import TopLevel

I64 = NDArray[np.int64]

LOSS = constant("population.rate_loss")


def gathered(table: BlockTable, number: int, reduced: TopLevel, real: TopLevel, heaps: int = 1) -> BlockTable:
    """Return a table in which what lies in one metaslab follows at once on what lies in the one before it.

    Parameters
    ----------
    table : BlockTable
    number : int
        Of the vdev, in the table.
    reduced, real : TopLevel
        The vdev of the miniature, and the one that it stands for.
    heaps : int
        So many, each of as many metaslabs that follow one another.

    Returns
    -------
    BlockTable
        With the same order of addresses; blocks have moved by whole rows.

    Notes
    -----
    At a share x of the capacity a disk moves ``sqrt(1 - x * loss)`` of its outer rate
    (`zsim.drives.models.model.zone_rates`): a heap lies where its inverse is what it is in the mean over
    the bytes at their places in the real pool.
    """
    place = np.flatnonzero(table.dva_vdev.ravel() == number)
    if len(place) == 0:
        return table
    offset, asize = table.dva_offset.ravel()[place], table.dva_asize.ravel()[place]
    slab, found = reduced.slab_of(offset), table.dva_offset.ravel().copy()
    heap = slab * heaps // len(reduced.slab_starts())
    for each in np.unique(heap):
        here = heap == each
        found[place[here]] = _in_one_heap(offset[here], asize[here], slab[here], reduced, real)
    return replace(table, dva_offset=found.reshape(table.dva_offset.shape))


def _in_one_heap(offset: I64, asize: I64, slab: I64, reduced: TopLevel, real: TopLevel) -> I64:
    """Return where blocks lie in one heap [bytes]."""
    count = len(reduced.slab_starts())
    begin, end = _ends(slab, offset, asize, count)
    used, row = np.flatnonzero(end > 0), reduced.row_bytes
    room = np.zeros(count, np.int64)
    room[used[1:]] = (begin[used[1:]] - end[used[:-1]]) // row * row
    moved: I64 = offset - np.cumsum(room)[slab]
    held = np.bincount(slab, weights=asize, minlength=count).astype(np.float64)
    space, begins, ends = real.space, int(moved.min()), int((moved + asize).max())
    wanted = int(_mean_place(held) * space) - int(np.average(moved, weights=asize))
    moved += max(-(begins // row), min(wanted, space - ends) // row) * row
    return moved


def _ends(slab: I64, offset: I64, asize: I64, count: int) -> tuple[I64, I64]:
    """Return where what lies in each metaslab begins and ends; an end of 0 where nothing does."""
    begin, end = np.full(count, np.iinfo(np.int64).max), np.zeros(count, np.int64)
    np.minimum.at(begin, slab, offset)
    np.maximum.at(end, slab, offset + asize)
    return begin, end


def _mean_place(held: NDArray[np.float64]) -> float:
    """Return the share of the capacity at which a byte takes as long as in the mean over metaslabs."""
    there = (np.arange(len(held)) + 0.5) / len(held)
    passed = float(np.average((1.0 - LOSS * there) ** -0.5, weights=held))
    return float((1.0 - passed**-2.0) / LOSS)
