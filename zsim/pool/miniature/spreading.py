"""Spread the blocks of a miniature to distances as in the real pool, for a sorted scan's metadata phase.

In a metaslab of a miniature everything is near: what was written years apart lies within a few tracks, and
gigabytes apart in a real one.  Its metaslabs are cut at gaps into pieces, which are spread over the real vdev
in their order.  Runs are not cut, and few jumps lead from one piece to the next that did not before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zsim.pool.blocks import BlockTable
from zsim.pool.recipes.recipe import TopLevel

I64 = NDArray[np.int64]

JUMPS = 40
"""Of the traversal, in a piece: a jump to the next piece then adds a fortieth to them at most."""


def spread(
    table: BlockTable, number: int, reduced: TopLevel, real: TopLevel, least: float = 0.0, jumps: int = JUMPS
) -> BlockTable:
    """Return a table with the blocks of a top-level vdev spread over the real one.

    Parameters
    ----------
    table : BlockTable
        In traversal order.
    number : int
        Of the vdev, in the table.
    reduced, real : TopLevel
        The vdev of the miniature, and the one that it stands for.
    least : float
        Allocated in a piece [bytes]: what is written in one txg lies together in the real pool too.
    jumps : int
        Of the traversal, in a piece.

    Returns
    -------
    BlockTable
        The same where so many bytes or jumps make no more pieces than there are heaps of metaslabs.
    """
    first = table.dva_vdev[:, 0] == number
    begin, size = table.dva_offset[first, 0], table.dva_asize[first, 0]
    pieces = int(np.count_nonzero(begin[1:] != begin[:-1] + size[:-1]) / jumps)
    if least > 0.0:
        pieces = min(pieces, int(size.sum() / least))
    if pieces <= reduced.stretches:
        return table
    here = table.dva_vdev == number
    offset = table.dva_offset[here]
    order, slab, compact = in_one_row(offset, reduced, reduced.slab_bytes)
    cut = _cuts(offset[order], table.dva_asize[here][order], slab[order], reduced, pieces)
    shift = np.empty_like(offset)
    lengths = np.diff(cut, append=len(order))
    shift[order] = np.repeat(_shifts(offset[order][cut], compact[order][cut], reduced, real), lengths)
    return moved_by(table, here, shift)


def in_one_row(offset: I64, level: TopLevel, slab_bytes: int) -> tuple[I64, I64, I64]:
    """Return the order of addresses, the metaslab of each, and each with the metaslabs end to end.

    Parameters
    ----------
    offset : ndarray of int64, shape (n,)
        [bytes]
    level : TopLevel
    slab_bytes : int
        Of a metaslab, as they are set end to end [bytes].
    """
    slab = level.slab_of(offset)
    return np.argsort(offset, kind="stable"), slab, slab * slab_bytes + offset - level.slab_starts()[slab]


def moved_by(table: BlockTable, here: NDArray[np.bool_], shift: I64) -> BlockTable:
    """Return a table whose copies at some places have moved by so many bytes."""
    moved = table.dva_offset.copy()
    moved[here] += shift
    return replace(table, dva_offset=moved)


def _cuts(offset: I64, asize: I64, slab: I64, reduced: TopLevel, pieces: int) -> I64:
    """Return where pieces of as many blocks begin, each behind a gap, and where a heap does."""
    gaps = np.flatnonzero(offset[1:] > offset[:-1] + asize[:-1]) + 1
    starts = reduced.slab_starts()
    apart = np.concatenate(([0], np.cumsum(np.diff(starts) > reduced.slab_bytes + reduced.unit)))
    heaps = np.flatnonzero(np.diff(apart[slab])) + 1
    wanted = np.arange(1, pieces) * len(offset) // pieces
    at = np.searchsorted(gaps, wanted)
    return np.unique(np.concatenate(([0], gaps[at[at < len(gaps)]], heaps))).astype(np.int64)


def _shifts(offset: I64, compact: I64, reduced: TopLevel, real: TopLevel) -> I64:
    """Return by how much each piece moves [bytes]: to the middle of what it stands for, by whole rows."""
    space = reduced.space
    times = real.space / space
    begin = np.concatenate(([0], compact[1:]))
    length = np.diff(begin, append=space)
    place = begin * times + (times - 1.0) * length / 2.0
    row = reduced.row_bytes
    shifts: I64 = ((place + compact - begin - offset) // row).astype(np.int64) * row
    return shifts
