"""The vdev maps over whole arrays of blocks (numpy, nothing compiled): sizes, and who holds what."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import I32, I64
from zsim.vdevs.kind import VdevSpec, kind_of, shape_of

Integers = NDArray[np.int64]


def sectors_of(psize: Integers, ashift: int) -> Integers:
    """Return physical sizes [bytes] as whole sectors, rounded up."""
    return (psize + (1 << ashift) - 1) >> ashift


def raidz_asizes(psize: Integers, ashift: int, width: int, parity: int) -> Integers:
    """Return the allocated sizes [bytes] of blocks of `psize` bytes; see `zsim.vdevs.raidz.raidz_asize`."""
    sectors = sectors_of(psize, ashift)
    total = sectors - parity * (-sectors // (width - parity))
    return -(-total // (parity + 1)) * (parity + 1) << ashift


def draid_asizes(psize: Integers, ashift: int, data: int, parity: int) -> Integers:
    """Return the allocated sizes [bytes] of blocks of `psize` bytes; see `zsim.vdevs.draid.draid_asize`."""
    return -(-sectors_of(psize, ashift) // data) * (data + parity) << ashift


def mirror_asizes(psize: Integers, ashift: int) -> Integers:
    """Return the allocated sizes [bytes] of blocks of `psize` bytes in a mirror or on a single disk."""
    return sectors_of(psize, ashift) << ashift


def asizes_on(spec: VdevSpec, psize: Integers, ashift: int) -> Integers:
    """Return the allocated sizes [bytes] of blocks of `psize` bytes on a top-level vdev of any kind."""
    return kind_of(spec.kind).asizes(spec, psize, ashift)


def fits_on(spec: VdevSpec, psize: Integers, asize: Integers, ashift: int) -> NDArray[np.bool_]:
    """Tell which blocks of `psize` bytes can have taken `asize` bytes on a top-level vdev, at any width."""
    result = np.zeros(np.shape(psize), dtype=bool)
    sizes, place = np.unique(psize, return_inverse=True)
    kind = kind_of(spec.kind)
    for width in kind.widths(spec):
        shape = shape_of(spec, ashift, width)
        wanted = [kind.kernels.asize(int(size), shape) for size in sizes]
        result |= np.array(wanted, dtype=np.int64)[place].reshape(result.shape) == asize
    return result


def raidz_child_pieces(
    offset: Integers, psize: Integers, ashift: int, width: int, parity: int, child: int
) -> tuple[Integers, Integers]:
    """Return what one child holds of every block.

    Parameters
    ----------
    offset, psize : ndarray of int64, shape (blocks,)
        DVA offsets and physical sizes [bytes].
    ashift, width, parity, child : int
        Sector size as its log2, children of the vdev, parity columns among them, the child asked for.

    Returns
    -------
    child_offset, size : ndarray of int64, shape (blocks,)
        [bytes]; size 0 where the child holds nothing of a block.
    """
    stripe, first = np.divmod(offset >> ashift, width)
    rows, remainder = np.divmod(sectors_of(psize, ashift), width - parity)
    column = (child - first) % width
    big = np.where(remainder > 0, remainder + parity, 0)
    size = (rows + (column < big)) << ashift
    return (stripe + (first + column >= width)) << ashift, size


def raidz_column_test(
    offset: Integers, psize: Integers, ashift: int, width: int, parity: int, child: int
) -> NDArray[np.bool_]:
    """Tell which blocks a resilver of `child` has to read from 0.7 on; see `raidz.raidz_needs_child`."""
    used = sectors_of(psize, ashift) + parity
    return (used >= width) | ((child - (offset >> ashift)) % width < used)


def first_on_vdev(vdev: I64 | I32, drawn: I64) -> I64:
    """Return the DVA that a scan reads of each block: the lowest on the top-level vdev of a random one.

    Parameters
    ----------
    vdev : ndarray of int, shape (blocks, 3)
        Top-level vdev of each DVA.
    drawn : ndarray of int64, shape (blocks,)
        A random DVA of each block.

    Notes
    -----
    Source: OpenZFS vdev_mirror.c:vdev_mirror_dva_select.  With one top-level vdev DVA 0 is always read, the
    others are repaired from it.
    """
    found = drawn.copy()
    # Most blocks have one DVA.
    rows = np.flatnonzero(drawn)
    chosen = drawn[rows]
    for earlier in (1, 0):
        same = vdev[rows, chosen] == vdev[rows, earlier]
        chosen = np.where(same & (chosen > earlier), earlier, chosen)
    found[rows] = chosen
    return found
