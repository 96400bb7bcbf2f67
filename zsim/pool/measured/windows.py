"""Samples of a list of blocks that is too long to simulate: windows of addresses, or of the traversal.

A window holds every block that begins in it, so that runs, gaps and holes inside it are those of the pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zsim.pool.blocks import MAX_DVAS, BlockTable

I64 = NDArray[np.int64]

MAX_WINDOWS, MIN_WINDOWS = 32, 8
ADDRESS_BLOCKS = 1500
"""Blocks in a window of addresses, at least: a sweep makes a long seek from one window to the next, which the
whole pool makes once in many times the data."""
TRAVERSAL_BYTES = 1 << 29
"""Allocated in a window of the traversal, at least: several times what a scan has in flight (dsl_scan.c),
which would else reorder blocks of several windows."""
MAX_BINS, MIN_BINS, MIN_BIN_BYTES = 1 << 14, 16, 16 << 20


@dataclass(frozen=True, slots=True)
class AddressWindows:
    """Windows of the addresses of one top-level vdev.

    Attributes
    ----------
    starts : ndarray of int64, shape (k,)
        Ascending, none overlapping the next [bytes].
    length : int
        Of each [bytes].
    """

    starts: I64
    length: int

    def hold(self, offset: I64) -> NDArray[np.bool_]:
        """Tell which addresses lie in one of the windows."""
        place = np.searchsorted(self.starts, offset, side="right") - 1
        inside: NDArray[np.bool_] = (place >= 0) & (offset < self.starts[np.maximum(place, 0)] + self.length)
        return inside


def occupied_bins(offset: I64, space: int) -> I64:
    """Return how many blocks begin in each part of a vdev.

    Parameters
    ----------
    offset : ndarray of int64, shape (blocks,)
        Where they begin on the vdev [bytes].
    space : int
        Address space of the vdev [bytes].

    Returns
    -------
    ndarray of int64, shape (parts,)
        Parts of `bin_bytes` each, the last of which may be shorter.
    """
    size = bin_bytes(space)
    return np.bincount(offset // size, minlength=-(-space // size)).astype(np.int64)


def bin_bytes(space: int) -> int:
    """Return the size of the parts in which the blocks of a vdev are counted [bytes].

    Parameters
    ----------
    space : int
        Address space of the vdev [bytes].

    Returns
    -------
    int
        Large against any block (MIN_BIN_BYTES), with MIN_BINS to MAX_BINS of them [bytes].
    """
    return -(-space // min(MAX_BINS, max(MIN_BINS, space // MIN_BIN_BYTES)))


def address_windows(bins: I64, space: int, share: float, unit: int, seed: int) -> AddressWindows:
    """Return windows over a share of what is occupied of a vdev, one in each of so many equal parts of it.

    Parameters
    ----------
    bins : ndarray of int64
        See `occupied_bins`; empty parts of the address space are left out of the division.
    space : int
        Of the vdev [bytes].
    share : float
        Of the occupied addresses to cover.
    unit : int
        Multiple that windows begin at and are long [bytes].
    seed : int
        Of the place of each window in its part.

    Notes
    -----
    Stratified sampling with equal shares (Cochran, Sampling Techniques, 1977, chapter 5).
    """
    size = bin_bytes(space)
    used = np.flatnonzero(bins) * size
    count = min(MAX_WINDOWS, max(MIN_WINDOWS, int(share * float(bins.sum())) // ADDRESS_BLOCKS))
    part = len(used) * size / count
    length = max(unit, int(share * part) // unit * unit)
    shifts = np.random.Generator(np.random.Philox(key=seed)).random(count) * max(0.0, part - length)
    places = (np.arange(count) * part + shifts).astype(np.int64)
    starts = used[np.minimum(places // size, len(used) - 1)] + places % size
    starts = np.unique(starts // unit * unit)
    clear = np.concatenate([[True], np.diff(starts) >= length])
    return AddressWindows(starts[clear].astype(np.int64), length)


def keep_rows(table: BlockTable, windows: dict[int, AddressWindows]) -> NDArray[np.bool_]:
    """Tell which blocks have their first copy in the windows of its vdev.

    Parameters
    ----------
    table : BlockTable
    windows : dict of int to AddressWindows
        By top-level vdev.

    Returns
    -------
    ndarray of bool, shape (blocks,)
    """
    kept = np.zeros(len(table), dtype=np.bool_)
    for vdev, own in windows.items():
        here = table.dva_vdev[:, 0] == vdev
        kept[here] = own.hold(table.dva_offset[here, 0])
    return kept


def dropped_places(table: BlockTable, kept: NDArray[np.bool_], windows: dict[int, AddressWindows]) -> I64:
    """Return vdev, address and asize of the copies inside the windows of blocks not kept, shape (n, 3)."""
    return _places(table, ~kept, windows, inside=True)[0]


def _places(
    table: BlockTable, rows: NDArray[np.bool_], windows: dict[int, AddressWindows], *, inside: bool
) -> tuple[I64, I64, I64]:
    """Return vdev, address and asize, row and number of second and third copies in or out of windows."""
    found = [np.zeros((0, 3), dtype=np.int64)]
    at_row, at_copy = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for copy in range(1, MAX_DVAS):
        for vdev, own in windows.items():
            here = np.flatnonzero(rows & (table.dva_vdev[:, copy] == vdev))
            here = here[own.hold(table.dva_offset[here, copy]) == inside]
            offset, asize = table.dva_offset[here, copy], table.dva_asize[here, copy]
            found.append(np.stack([np.full(len(here), vdev, dtype=np.int64), offset, asize], axis=1))
            at_row.append(here)
            at_copy.append(np.full(len(here), copy, dtype=np.int64))
    return np.concatenate(found), np.concatenate(at_row), np.concatenate(at_copy)


def with_copies_inside(table: BlockTable, windows: dict[int, AddressWindows], spots: I64) -> BlockTable:
    """Return the blocks kept, their copies that lie outside the windows moved to places free in them.

    A window loses the copies of blocks that are elsewhere, and the blocks in it have copies elsewhere:
    about as many, of the same sizes.  Exchanged, the sample has as many copies per address as the pool.

    Parameters
    ----------
    table : BlockTable
        Of the blocks kept.
    windows : dict of int to AddressWindows
        By vdev.
    spots : ndarray of int64, shape (n, 3)
        See `dropped_places`.
    """
    outside, rows, copies = _places(table, np.ones(len(table), dtype=np.bool_), windows, inside=False)
    offset = table.dva_offset.copy()
    for vdev, asize in np.unique(outside[:, [0, 2]], axis=0).tolist():
        mine = np.flatnonzero((outside[:, 0] == vdev) & (outside[:, 2] == asize))
        free = np.sort(spots[(spots[:, 0] == vdev) & (spots[:, 2] == asize), 1])
        mine = mine[np.argsort(outside[mine, 1], kind="stable")]
        count = min(len(mine), len(free))
        chosen = mine[np.arange(count) * len(mine) // max(count, 1)]
        offset[rows[chosen], copies[chosen]] = free[np.arange(count) * len(free) // max(count, 1)]
    return replace(table, dva_offset=offset)


@dataclass(frozen=True, slots=True)
class RowWindows:
    """Windows over a share of a list, one in each of equal parts of it.

    Attributes
    ----------
    rows : int
        Of the list.
    share : float
        To take of it.
    allocated : int
        By all its blocks [bytes].
    seed : int
        Of the place of each window in its part.
    """

    rows: int
    share: float
    allocated: int
    seed: int

    def hold(self, first: int, last: int) -> NDArray[np.bool_]:
        """Tell which rows from `first` up to `last` lie in one of the windows."""
        count = min(MAX_WINDOWS, max(1, int(self.share * self.allocated) // TRAVERSAL_BYTES))
        part = self.rows / count
        length = self.share * part
        shifts = np.random.Generator(np.random.Philox(key=self.seed)).random(count) * (part - length)
        starts = np.arange(count) * part + shifts
        row = np.arange(first, last)
        within = row - starts[np.minimum((row / part).astype(np.int64), count - 1)]
        inside: NDArray[np.bool_] = (within >= 0) & (within < length)
        return inside


def bytes_on(table: BlockTable, vdevs: Sequence[int]) -> int:
    """Return what is allocated on some top-level vdevs [bytes].

    Parameters
    ----------
    table : BlockTable
    vdevs : sequence of int
        Their numbers in the pool.

    Returns
    -------
    int
        asize of all copies that lie there [bytes].
    """
    return int(table.dva_asize[np.isin(table.dva_vdev, list(vdevs))].sum())
