"""dRAID: groups, rows and permutations; which child holds which bytes of a block, and where spares lie.

A dRAID cuts its children into rows of 16 MiB and its address space into groups of ``data + parity`` columns;
groups are laid over the permuted children, ``children - spares`` of them to a row.  Blocks are whole stripes:
no skip sectors, short columns are filled with zeros that are written, and read again by every scan.

Permutations are an int array of shape (permutations, children), made by `zsim.vdevs.permutations`.

Source throughout: OpenZFS 2.2.9 module/zfs/vdev_draid.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zsim.base.jit import njit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Permutations = NDArray[np.int64]

ROW_HEIGHT = 16 << 20
RESERVE = 32 << 20


@njit
def draid_groups(data: int, parity: int, children: int, spares: int) -> int:
    """Return the groups of a slice: the fewest that fill whole rows.

    Parameters
    ----------
    data, parity : int
        Columns of a group.
    children, spares : int

    Returns
    -------
    int
        The smallest g with ``g * (data + parity)`` a multiple of the ``children - spares`` that carry data,
        which is ``(children - spares) / gcd(children - spares, data + parity)``.

    Notes
    -----
    OpenZFS cmd/zpool/zpool_vdev.c:draid_config_by_type.

    Examples
    --------
    >>> draid_groups(8, 2, 41, 2), draid_groups(4, 1, 10, 0)
    (39, 2)
    """
    remainder, divisor = data + parity, children - spares
    while remainder > 0:
        divisor, remainder = remainder, divisor % remainder
    return (children - spares) // divisor


@njit
def draid_slice_rows(data: int, parity: int, children: int, spares: int) -> int:
    """Return the rows of a slice, the part of the vdev that one permutation lays out.

    Parameters
    ----------
    data, parity, children, spares : int
        As `draid_groups` takes them.

    Returns
    -------
    int
        ``(data + parity) * groups / (children - spares)``, rows of 16 MiB on every child.
    """
    return (data + parity) * draid_groups(data, parity, children, spares) // (children - spares)


@njit
def draid_asize(psize: int, ashift: int, data: int, parity: int) -> int:
    """Return the space that a block takes: whole stripes.

    Parameters
    ----------
    psize, ashift
        As `zsim.vdevs.raidz.raidz_asize` takes them.
    data, parity : int
        Columns of a group.

    Returns
    -------
    int
        ``ceil(sectors / data) * (data + parity)`` sectors [bytes]; zeros fill the last stripe.

    Notes
    -----
    OpenZFS module/zfs/vdev_draid.c:vdev_draid_psize_to_asize.

    Examples
    --------
    128K on groups of eight data and two parity drives with 4K sectors are four stripes:

    >>> draid_asize(131072, 12, 8, 2)
    163840
    """
    sectors = (psize + (1 << ashift) - 1) >> ashift
    return ((sectors + data - 1) // data * (data + parity)) << ashift


@njit
def draid_first_part(offset: int, psize: int, ashift: int, data: int, parity: int) -> int:
    """Return how much of a block lies in the group of its offset; the rest starts the next group.

    Parameters
    ----------
    offset : int
        DVA offset [bytes].
    psize, ashift, data, parity : int
        As `draid_asize` takes them.

    Returns
    -------
    int
        [bytes], whole sectors.  The rest, if any, is mapped as a block of its own at
        ``offset + draid_asize(first part)``; a block never spans more than two groups.

    Notes
    -----
    A group is ``(data + parity) * 16 MiB`` of address space (OpenZFS vdev_draid.c:vdev_draid_map_alloc_row).
    """
    size = (psize + (1 << ashift) - 1) >> ashift << ashift
    group_size = (data + parity) * ROW_HEIGHT
    left = group_size - offset % group_size
    if draid_asize(size, ashift, data, parity) <= left:
        return size
    return ((left >> ashift) // (data + parity) * data) << ashift


@njit
def draid_map(
    offset: int, psize: int, ashift: int, data: int, parity: int, children: int, spares: int
) -> tuple[int, int, int, int, int, int]:
    """Return the map of a block (or part, see `draid_first_part`) that lies in one group.

    Parameters
    ----------
    offset, psize : int
        DVA offset and physical size [bytes].
    ashift : int
        log2 of the vdev's sector [bytes].
    data, parity : int
        Data and parity columns of a group.
    children, spares : int
        Children of the vdev, and how many drives' worth of distributed spares they hold.

    Returns
    -------
    group_start : int
        Slot of column 0 in the permutation.
    slice_number : int
        Which slice, hence which permutation.
    base_offset : int
        Child offset of column 0 [bytes].
    big_columns : int
        The first so many columns hold one sector of the block more than the others.
    small_size : int
        Bytes of the block in a column that is not big.
    scan_size : int
        Bytes that a scan reads from, and a repair writes to, every column alike: the zero fill included.

    Notes
    -----
    Source: vdev_draid_logical_to_physical, vdev_draid_map_alloc_row, vdev_draid_map_alloc_scrub.
    """
    width = data + parity
    active = children - spares
    groups = draid_groups(data, parity, children, spares)
    group = offset // (width * ROW_HEIGHT)
    slice_number = group // groups
    in_slice = (group - slice_number * groups) * width
    row = slice_number * (width * groups // active) + in_slice // active
    stripe = ((offset - group * width * ROW_HEIGHT) >> ashift) // width
    sectors = (psize + (1 << ashift) - 1) >> ashift
    rows = sectors // data
    remainder = sectors - rows * data
    big_columns = remainder + parity if remainder > 0 else 0
    scan_rows = rows + 1 if remainder > 0 else rows
    base_offset = row * ROW_HEIGHT + (stripe << ashift)
    return in_slice % active, slice_number, base_offset, big_columns, rows << ashift, scan_rows << ashift


@njit
def draid_child(slot: int, slice_number: int, permutations: Permutations) -> int:
    """Return the child at a slot of a slice's permutation.

    Parameters
    ----------
    slot : int
        0 to children - 1; from ``children - spares`` on they are spares.
    slice_number : int
    permutations : ndarray of int64, shape (permutations, children)
        From `zsim.vdevs.permutations.draid_permutations`.

    Returns
    -------
    int
        ``(permutations[base, slot] + turn) mod children`` with ``base, turn = divmod(slice_number,
        children)``: each base permutation serves `children` slices, turned by one child from slice to slice.

    Notes
    -----
    OpenZFS vdev_draid.c:vdev_draid_get_perm, vdev_draid_permute_id.
    """
    children = permutations.shape[1]
    base = slice_number // children
    turn = slice_number - base * children
    child: int = permutations[base % permutations.shape[0], slot] + turn
    return child - children if child >= children else child


@njit
def draid_piece(
    column: int,
    group_start: int,
    slice_number: int,
    base_offset: int,
    spares: int,
    permutations: Permutations,
) -> tuple[int, int]:
    """Return child and child offset of one column of a map made by `draid_map`.

    Parameters
    ----------
    column : int
        0 to data + parity - 1, parity first.
    group_start, slice_number, base_offset : int
        As `draid_map` returned them.
    spares : int
        Distributed spares.
    permutations : ndarray of int64, shape (permutations, children)

    Returns
    -------
    child, child_offset : int
        The offset in [bytes]; a group that does not end in its row goes on in the next one, 16 MiB further.

    Notes
    -----
    The size of the piece is the map's `scan_size` for scans and repair writes; for other reads it is
    ``small_size``, one sector more in the first ``big_columns`` columns.
    """
    active = permutations.shape[1] - spares
    slot = group_start + column
    if slot >= active:
        return draid_child(slot - active, slice_number, permutations), base_offset + ROW_HEIGHT
    return draid_child(slot, slice_number, permutations), base_offset


@njit
def draid_spare(
    spare: int, child_offset: int, data: int, parity: int, spares: int, permutations: Permutations
) -> int:
    """Return the child that holds a distributed spare at a child offset (the same offset there).

    Parameters
    ----------
    spare : int
        Number of the distributed spare, from 0.
    child_offset : int
        [bytes]
    data, parity, spares : int
    permutations : ndarray of int64, shape (permutations, children)

    Returns
    -------
    int
        The child at slot ``children - 1 - spare`` of the slice's permutation.  It may itself be the failed
        one or be replaced by another spare: the caller then asks again.

    Notes
    -----
    OpenZFS vdev_draid.c:vdev_draid_spare_get_child.
    """
    children = permutations.shape[1]
    slice_size = draid_slice_rows(data, parity, children, spares) * ROW_HEIGHT
    child: int = draid_child(children - 1 - spare, child_offset // slice_size, permutations)
    return child


@njit
def draid_needs_child(
    offset: int,
    psize: int,
    ashift: int,
    data: int,
    parity: int,
    spares: int,
    permutations: Permutations,
    child: int,
) -> bool:
    """Tell whether a resilver of a child has to read a block: whether its group(s) include the child.

    Parameters
    ----------
    offset, psize : int
        DVA offset and physical size [bytes].
    ashift, data, parity, spares : int
    permutations : ndarray of int64, shape (permutations, children)
    child : int
        The one that is resilvered.

    Returns
    -------
    bool
        The group counts, not the columns in use: short blocks are filled with zeros over all of it.

    Notes
    -----
    OpenZFS vdev_draid.c:vdev_draid_need_resilver, vdev_draid_group_degraded.
    """
    first = draid_first_part(offset, psize, ashift, data, parity)
    if draid_group_has_child(offset, data, parity, spares, permutations, child):
        return True
    if first >= psize:
        return False
    second = offset + draid_asize(first, ashift, data, parity)
    return draid_group_has_child(second, data, parity, spares, permutations, child)


@njit
def draid_group_has_child(
    offset: int, data: int, parity: int, spares: int, permutations: Permutations, child: int
) -> bool:
    """Tell whether the group that holds an offset has a column on a child.

    Parameters
    ----------
    offset : int
        DVA offset [bytes].
    data, parity, spares : int
        Columns of a group, and distributed spares.
    permutations : ndarray of int64, shape (permutations, children)
        From `zsim.vdevs.permutations.draid_permutations`.
    child : int

    Notes
    -----
    OpenZFS vdev_draid.c:vdev_draid_group_degraded.
    """
    children = permutations.shape[1]
    mapped = draid_map(offset, 1, 9, data, parity, children, spares)
    for column in range(data + parity):
        if draid_piece(column, mapped[0], mapped[1], mapped[2], spares, permutations)[0] == child:
            return True
    return False
