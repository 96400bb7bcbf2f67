"""The vdev maps over whole arrays of blocks (numpy): sizes, and which child holds what."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import I32, I64
from zsim.vdevs.kind import Shaped, VdevSpec, kind_of, shape_of

Integers = NDArray[np.int64]


def sectors_of(psize: Integers, ashift: int) -> Integers:
    """Return physical sizes as whole sectors, rounded up.

    Parameters
    ----------
    psize : ndarray of int64, shape (blocks,)
        [bytes]
    ashift : int
        log2 of the sector [bytes].

    Returns
    -------
    ndarray of int64, shape (blocks,)
        ``ceil(psize / 2**ashift)`` [sectors].
    """
    return (psize + (1 << ashift) - 1) >> ashift


def raidz_asizes(psize: Integers, ashift: int, width: int, parity: int) -> Integers:
    """Return the allocated sizes of blocks on a RAID-Z, element by element as `zsim.vdevs.raidz.raidz_asize`.

    Parameters
    ----------
    psize : ndarray of int64, shape (blocks,)
        Physical sizes [bytes].
    ashift, width, parity : int
        log2 of the sector [bytes], children of the vdev, parity columns among them.

    Returns
    -------
    ndarray of int64, shape (blocks,)
        [bytes]: with s sectors of data ``s + parity * ceil(s / (width - parity))``, rounded up to a multiple
        of ``parity + 1`` sectors (OpenZFS vdev_raidz.c:vdev_raidz_asize).

    Examples
    --------
    128K and 4K in a raidz2 of six drives with 4K sectors: 48 sectors for 32, and 3 for one.

    >>> raidz_asizes(np.array([131072, 4096]), 12, 6, 2).tolist()
    [196608, 12288]
    """
    sectors = sectors_of(psize, ashift)
    total = sectors - parity * (-sectors // (width - parity))
    return -(-total // (parity + 1)) * (parity + 1) << ashift


def draid_asizes(psize: Integers, ashift: int, data: int, parity: int) -> Integers:
    """Return the allocated sizes of blocks on a dRAID, element by element as `zsim.vdevs.draid.draid_asize`.

    Parameters
    ----------
    psize : ndarray of int64, shape (blocks,)
        Physical sizes [bytes].
    ashift, data, parity : int
        log2 of the sector [bytes], data and parity columns of a group.

    Returns
    -------
    ndarray of int64, shape (blocks,)
        [bytes]: whole stripes, ``ceil(sectors / data) * (data + parity)`` sectors (OpenZFS
        vdev_draid.c:vdev_draid_psize_to_asize).

    Examples
    --------
    A block of 4K takes as much of a dRAID as one of 32K does:

    >>> draid_asizes(np.array([4096, 32768, 36864]), 12, 8, 2).tolist()
    [40960, 40960, 81920]
    """
    return -(-sectors_of(psize, ashift) // data) * (data + parity) << ashift


def mirror_asizes(psize: Integers, ashift: int) -> Integers:
    """Return the allocated sizes of blocks in a mirror or on a single disk: whole sectors.

    Parameters
    ----------
    psize : ndarray of int64, shape (blocks,)
        Physical sizes [bytes].
    ashift : int
        log2 of the sector [bytes].

    Returns
    -------
    ndarray of int64, shape (blocks,)
        [bytes]; of one child, as the space of a mirror is counted.
    """
    return sectors_of(psize, ashift) << ashift


def asizes_on(spec: VdevSpec, psize: Integers, ashift: int) -> Integers:
    """Return the allocated sizes of blocks on a top-level vdev of any kind [bytes].

    Parameters
    ----------
    spec : VdevSpec
        The vdev.
    psize : ndarray of int64, shape (blocks,)
        Sizes as compressed [bytes].
    ashift : int
        Smallest allocation of a child, as a power of two.

    Returns
    -------
    ndarray of int64, shape (blocks,)
        Parity and padding included [bytes].

    Notes
    -----
    OpenZFS vdev_default_asize, vdev_raidz.c:vdev_raidz_asize, vdev_draid.c:vdev_draid_asize, by kind.
    """
    return kind_of(spec.kind).asizes(spec, psize, ashift)


def fits_on(spec: VdevSpec, psize: Integers, asize: Integers, ashift: int) -> NDArray[np.bool_]:
    """Tell which blocks can have taken a space on a top-level vdev, at any width that it has had.

    Parameters
    ----------
    spec : VdevSpec
    psize, asize : ndarray of int64, shape (blocks,)
        Physical and allocated sizes [bytes].
    ashift : int
        log2 of the sector [bytes].

    Returns
    -------
    ndarray of bool, shape (blocks,)
        Blocks of an expanded RAID-Z fit if they do at one of its widths (`VdevKind.widths`).
    """
    result = np.zeros(np.shape(psize), dtype=bool)
    sizes, place = np.unique(psize, return_inverse=True)
    kind = kind_of(spec.kind)
    for width in kind.widths(spec):
        shape = shape_of(spec, ashift, width)
        wanted = [kind.kernels.asize(int(size), shape) for size in sizes]
        result |= np.array(wanted, dtype=np.int64)[place].reshape(result.shape) == asize
    return result


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


def data_columns(vdev: Shaped, psize: Integers, asize: Integers, birth: Integers, ashift: int) -> Integers:
    """Return the data columns of the stripe of each block, 0 where it is as wide as new ones.

    Parameters
    ----------
    vdev : Shaped
    psize, asize, birth : ndarray of int64, shape (blocks,)
        Physical and allocated sizes [bytes], birth txgs.
    ashift : int

    Notes
    -----
    The asize tells the width (`VdevKind.widths`); where it is the same for several, a block is as wide as the
    widest of those born before it whose asize is clear.
    """
    kind = kind_of(vdev.kind)
    found = np.zeros(len(psize), dtype=np.int64)
    if not kind.has_widths or not len(psize):
        return found
    sizes, place = np.unique(psize, return_inverse=True)
    widths = kind.widths(vdev)
    shapes = [shape_of(vdev, ashift, width) for width in widths]
    by_width = np.array([[kind.kernels.asize(int(size), shape) for size in sizes] for shape in shapes])
    fits = by_width[:, place.ravel()] == asize
    several = fits.sum(axis=0) > 1
    narrowest = np.where(fits.any(axis=0), np.argmax(fits, axis=0), len(widths) - 1)
    found[:] = np.array(widths)[narrowest]
    for number, width in enumerate(widths[1:], 1):
        clear = ~several & (narrowest >= number)
        since = birth[clear].min() if clear.any() else np.inf
        found = np.where(several & fits[number] & (birth >= since), width, found)
    return np.where(found == vdev.data, 0, found)
