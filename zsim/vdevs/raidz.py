"""RAID-Z: which child holds which bytes of a block.

Offsets are in the top-level vdev's address space (``width`` times a child's), child offsets in the
child's; both leave out the 4 MiB label and boot area at the front of every leaf.

The map is the same in every release from 0.6 to 2.4; blocks that an expansion has moved (2.3 and later) are
mapped by `reflowed_map`.
"""

from __future__ import annotations

from zsim.base.jit import njit

_SWAP_BIT = 20


@njit
def raidz_map(
    offset: int, psize: int, ashift: int, width: int, parity: int
) -> tuple[int, int, int, int, int, int]:
    """Return the map of one block: all that `raidz_piece` needs, in integers.

    Parameters
    ----------
    offset : int
        DVA offset of the block [bytes], a multiple of the sector.
    psize : int
        Physical (compressed) size [bytes]; rounded up to whole sectors.
    ashift : int
        log2 of the vdev's sector [bytes].
    width, parity : int
        Children of the vdev, and how many of them carry parity.

    Returns
    -------
    columns : int
        Children that hold a piece, 1 to `width`; the first `parity` columns are parity.
    first_child : int
        Child of column 0.
    base_offset : int
        Child offset of column 0 [bytes].
    big_columns : int
        The first so many columns are one sector larger than the others.
    small_size : int
        Size of a column that is not big [bytes]; 0 when there is no such column.
    sector : int
        [bytes]

    Notes
    -----
    OpenZFS module/zfs/vdev_raidz.c:vdev_raidz_map_alloc, 0.6.1 to 2.4.  RAID-Z1 swaps columns 0 and 1
    where bit 20 of the offset is set: they are of one size, so only the roles change, see
    `raidz_parity_column`.
    """
    sector_offset = offset >> ashift
    stripe = sector_offset // width
    first_child = sector_offset - stripe * width
    sectors = (psize + (1 << ashift) - 1) >> ashift
    data = width - parity
    rows = sectors // data
    remainder = sectors - rows * data
    big_columns = remainder + parity if remainder > 0 else 0
    columns = width if rows > 0 else big_columns
    return columns, first_child, stripe << ashift, big_columns, rows << ashift, 1 << ashift


@njit
def reflowed_map(
    offset: int, psize: int, ashift: int, width: int, parity: int, before: int
) -> tuple[int, int, int, int, int, int]:
    """Return the map of a block written when the vdev had `before` children, as `raidz_map` does.

    Its rows of `before` sectors follow one another in the address space, which goes round all `width`
    children now, so that each holds one run of the block's sectors, parity among them.

    Parameters
    ----------
    offset, psize, ashift, width, parity
        As `raidz_map` takes them; `width` is the present number of children.
    before : int
        Children when the block was written.

    Returns
    -------
    columns, first_child, base_offset, big_columns, small_size, sector : int
        As `raidz_map` returns them, with ``s + parity * ceil(s / (before - parity))`` sectors dealt out one
        by one over `width` children.

    Notes
    -----
    OpenZFS 2.3 module/zfs/vdev_raidz.c:vdev_raidz_map_alloc_expanded; blocks of raidz_io_aggregate_rows (4)
    rows and more are read one I/O a child.  Shorter ones, and repairs, take an I/O a sector, which lie side
    by side and come at one moment: the leaf's queue merges them.

    Examples
    --------
    A block of 16K of a raidz1 of four drives that has five by now: six sectors from child 0 on, of which
    child 0 has two.

    >>> columns, first, _, big, small, sector = reflowed_map(0, 16384, 12, 5, 1, 4)
    >>> columns, first, [small + sector if column < big else small for column in range(columns)]
    (5, 0, [8192, 4096, 4096, 4096, 4096])
    """
    sectors = (psize + (1 << ashift) - 1) >> ashift
    data = before - parity
    total = sectors + parity * ((sectors + data - 1) // data)
    sector_offset = offset >> ashift
    stripe = sector_offset // width
    rows = total // width
    big_columns = total - rows * width
    columns = width if rows > 0 else big_columns
    return columns, sector_offset - stripe * width, stripe << ashift, big_columns, rows << ashift, 1 << ashift


@njit
def raidz_piece(
    column: int,
    first_child: int,
    base_offset: int,
    big_columns: int,
    small_size: int,
    sector: int,
    width: int,
) -> tuple[int, int, int]:
    """Return one column of a map made by `raidz_map`.

    Parameters
    ----------
    column : int
        0 to columns - 1.
    first_child, base_offset, big_columns, small_size, sector : int
        As `raidz_map` returned them.
    width : int
        Children of the vdev.

    Returns
    -------
    child : int
    child_offset : int
        [bytes]
    size : int
        [bytes]
    """
    child = first_child + column
    child_offset = base_offset
    if child >= width:
        child -= width
        child_offset += sector
    size = small_size + sector if column < big_columns else small_size
    return child, child_offset, size


@njit
def raidz_parity_column(offset: int, parity: int) -> int:
    """Return the column that holds the (first) parity: 1 for swapped RAID-Z1 blocks, else 0.

    Source: OpenZFS module/zfs/vdev_raidz.c:vdev_raidz_map_alloc, the swap every 1 MiB of a RAID-Z1.
    """
    return (offset >> _SWAP_BIT) & 1 if parity == 1 else 0


@njit
def raidz_asize(psize: int, ashift: int, width: int, parity: int) -> int:
    """Return the space that a block takes, parity and skip sectors included.

    Parameters
    ----------
    psize : int
        Physical size [bytes].
    ashift : int
        log2 of the vdev's sector [bytes].
    width, parity : int
        Children of the vdev, and how many of them carry parity.

    Returns
    -------
    int
        With s sectors of data ``s + parity * ceil(s / (width - parity))`` sectors, rounded up to a multiple
        of ``parity + 1`` so that no hole is too small to use [bytes].

    Notes
    -----
    OpenZFS module/zfs/vdev_raidz.c:vdev_raidz_asize.

    Examples
    --------
    128K in a raidz2 of six drives with 4K sectors: 32 of data, 16 of parity in 8 rows, and none to round up.

    >>> raidz_asize(131072, 12, 6, 2) // 4096
    48
    """
    sectors = (psize + (1 << ashift) - 1) >> ashift
    data = width - parity
    total = sectors + parity * ((sectors + data - 1) // data)
    unit = parity + 1
    return ((total + unit - 1) // unit * unit) << ashift


@njit
def raidz_skip(psize: int, ashift: int, width: int, parity: int) -> tuple[int, int]:
    """Return the skip sectors of a block: how many, and the column whose piece the first one follows.

    Parameters
    ----------
    psize, ashift, width, parity : int
        As `raidz_asize` takes them.

    Returns
    -------
    skipped : int
        ``asize - data - parity``, 0 to `parity` [sectors].
    start : int
        They follow the pieces of columns ``start``, ``start + 1``, ..., cyclically, one sector each.

    Notes
    -----
    They are never read, and a repair write leaves them out, which cuts aggregation on the new drive (OpenZFS
    module/zfs/vdev_raidz.c:vdev_raidz_map_alloc, rm_nskip and rm_skipstart).
    """
    sectors = (psize + (1 << ashift) - 1) >> ashift
    data = width - parity
    rows = sectors // data
    remainder = sectors - rows * data
    total = sectors + parity * ((sectors + data - 1) // data)
    skipped = (raidz_asize(psize, ashift, width, parity) >> ashift) - total
    return skipped, remainder + parity if remainder > 0 else 0


@njit
def raidz_needs_child(offset: int, psize: int, ashift: int, width: int, parity: int, child: int) -> bool:
    """Tell whether a resilver of a child has to read a block (the column test of 0.7 and later).

    Parameters
    ----------
    offset, psize : int
        DVA offset and physical size [bytes].
    ashift, width, parity : int
        log2 of the sector [bytes], children of the vdev, parity columns among them.
    child : int
        The one that is resilvered.

    Returns
    -------
    bool
        ``(child - offset / sector) mod width < sectors + parity``: the child is among the block's columns.
        Skip sectors do not count.

    Notes
    -----
    OpenZFS 0.7.0 module/zfs/vdev_raidz.c:vdev_raidz_need_resilver.  Releases before 0.7 have no such test and
    read every block born before the replacement.
    """
    used = ((psize + (1 << ashift) - 1) >> ashift) + parity
    if used >= width:
        return True
    column = child - (offset >> ashift) % width
    if column < 0:
        column += width
    return column < used
