"""Spread the blocks of a miniature as far apart as in the real pool, for a scan in the order of birth.

In such a scan most blocks follow others that were written with them: they lie together in segments, along
which the scan moves on slowly.  In between it visits strays: blocks that were rewritten later, each with
what was written at that time, anywhere on the drives.  What a txg of the scan visits is a millionth of a
real pool, and no two of its strays lie near each other.  Of a miniature it is a seventh, whose strays would
lie side by side: drives would read them in one sweep, and destage their copies in no time.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import whole_constant
from zsim.pool.blocks import BlockTable
from zsim.pool.miniature.spreading import in_one_row, moved_by
from zsim.pool.recipes.recipe import TopLevel

I64 = NDArray[np.int64]
Truths = NDArray[np.bool_]

AROUND, NEAR, BESIDE, SEGMENT = (
    whole_constant("population.around"),
    whole_constant("population.near"),
    whole_constant("population.beside"),
    whole_constant("population.segment"),
)
"""Rows around a block that tell when its place of the traversal was written first; rows between two blocks
that are visited one soon after the other; copies by address within which these lie together; rows for each
segment: a scan that goes from one to the next makes a long seek, of which a real pool has next to none."""


@dataclass(frozen=True, slots=True)
class _Copies:
    """Copies by address; `compact` is it without the gaps between a miniature's metaslabs [bytes]."""

    compact: I64
    asize: I64
    row: I64
    slab: I64

    def take(self, chosen: Truths) -> _Copies:
        return _Copies(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def pieces(self, cut: Truths) -> _Pieces:
        """Return what they are cut into: in front of which of them, the first left out."""
        count = len(self.row)
        first = np.flatnonzero(np.append(np.ones(min(count, 1), np.bool_), cut))
        last = np.append(first[1:], count)[: len(first)] - 1
        begin = self.compact[first]
        sizes = np.diff(first, append=count)
        return _Pieces(first, sizes, begin, self.compact[last] + self.asize[last] - begin)


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Copies that move together: the first of each piece, and how many; begin and length [bytes]."""

    first: I64
    sizes: I64
    begin: I64
    length: I64

    def rows(self, times: float, row_bytes: int) -> I64:
        """Return by how many rows each moves, to the middle of what it is of a space `times` as large."""
        moved: I64 = ((times - 1.0) * (self.begin + self.length / 2.0) // row_bytes).astype(np.int64)
        return moved

    def parts(self, compact: I64) -> I64:
        """Return 2 p + 1 for what lies within piece p, 2 p for what lies in front of it."""
        behind = np.searchsorted(self.begin, compact, side="right")
        end = np.append(-1, self.begin + self.length)
        parts: I64 = 2 * behind - (compact < end[behind])
        return parts


def spread_by_birth(table: BlockTable, number: int, reduced: TopLevel, real: TopLevel) -> BlockTable:
    """Return a table with the segments and the strays of a top-level vdev spread over the real one.

    Parameters
    ----------
    table : BlockTable
        In traversal order.
    number : int
        Of the vdev, in the table.
    reduced, real : TopLevel
        The vdev of the miniature, and the one that it stands for.

    Returns
    -------
    BlockTable
        A segment lies as it did, in the middle of the space that it stands for.  A stray lies where its
        address is in proportion, with those that are visited soon after it; if that is within a segment,
        where it was in it.  All move by whole rows, and none lies on another.
    """
    segments = max(1, len(table) // SEGMENT)
    return _spread(table, number, reduced, real, born_in_order(table), segments)


def spread_by_metaslab(table: BlockTable, number: int, reduced: TopLevel, real: TopLevel) -> BlockTable:
    """Return a table in which what a metaslab holds lies in the middle of the one that it stands for.

    So clients find the blocks that they read, one here and one there; parameters as of `spread_by_birth`.
    """
    return _spread(table, number, reduced, real, np.ones(len(table), np.bool_), reduced.slab_count)


def _spread(
    table: BlockTable, number: int, reduced: TopLevel, real: TopLevel, in_order: Truths, segments: int
) -> BlockTable:
    """Return a table with the blocks that are in order in so many segments, and each of the others alone."""
    here = table.dva_vdev == number
    offset, row = table.dva_offset[here], np.nonzero(here)[0]
    # A row more to each metaslab: they move by whole rows, some up to one further than others.
    slab_bytes = reduced.slab_bytes + reduced.row_bytes
    order, slab, compact = in_one_row(offset, reduced, slab_bytes)
    copies = _Copies(compact[order], table.dva_asize[here][order], row[order], slab[order])
    group = copies.slab * segments // reduced.slab_count
    times = real.space / (slab_bytes * reduced.slab_count)
    shift = (compact - offset) // reduced.row_bytes
    shift[order] += _rows(copies, group, in_order[copies.row], times, reduced.row_bytes)
    return moved_by(table, here, shift * reduced.row_bytes)


def born_in_order(table: BlockTable) -> Truths:
    """Tell which blocks were written with those around them in the traversal, and not again since.

    Parameters
    ----------
    table : BlockTable
        In traversal order.

    Returns
    -------
    ndarray of bool, shape (n,)
        Where no block of the same objset among the `AROUND` before and behind is two txgs older.
    """
    first = table.birth.copy()
    for lag in range(1, min(AROUND, len(table) - 1) + 1):
        same = table.objset[lag:] == table.objset[:-lag]
        np.minimum(first[lag:], table.birth[:-lag], out=first[lag:], where=same)
        np.minimum(first[:-lag], table.birth[lag:], out=first[:-lag], where=same)
    return table.birth <= first + 1


def _rows(copies: _Copies, group: I64, in_order: Truths, times: float, row_bytes: int) -> I64:
    """Return by how many rows each copy moves; those of one `group` that are in order are a segment."""
    rows = np.zeros(len(group), np.int64)
    segments = copies.take(in_order).pieces(np.diff(group[in_order]) > 0)
    by_segment = segments.rows(times, row_bytes)
    rows[in_order] = np.repeat(by_segment, segments.sizes)
    lone = copies.take(~in_order)
    part = segments.parts(lone.compact)
    strays = lone.pieces(_apart(lone, part))
    by_stray = strays.rows(times, row_bytes)
    within = np.flatnonzero(part[strays.first] % 2 == 1)
    around = part[strays.first][within] // 2
    begin = strays.begin[within] + (by_stray[within] - by_segment[around]) * row_bytes
    low, high = segments.begin[around], (segments.begin + segments.length)[around]
    meets = (begin < high) & (begin + strays.length[within] > low)
    by_stray[within[meets]] = by_segment[around[meets]]
    rows[~in_order] = np.repeat(by_stray, strays.sizes)
    return rows


def _apart(copies: _Copies, part: I64) -> Truths:
    """Tell in front of which, the first left out, none lies that is visited soon before or after it."""
    count = len(copies.row)
    links = np.zeros(count + 1, np.int64)
    for lag in range(1, min(BESIDE, count - 1) + 1):
        linked = np.abs(copies.row[lag:] - copies.row[:-lag]) <= NEAR
        linked &= part[lag:] == part[:-lag]
        links[: count - lag] += linked
        links[lag:count] -= linked
    return np.cumsum(links)[: max(count - 1, 0)] <= 0
