"""Mirrors, `replacing` and `spare` vdevs: which child a read goes to, release by release.

A mirror's child offset is the DVA offset.  Every child has a standing towards a block: it cannot be read, can
be read but lacks the block (its DTL_MISSING has the block's birth), or holds it.  A resilver reads one child
that holds the block and then writes every other child that lacks it.  Both engines call these functions.

Sources: OpenZFS module/zfs/vdev_mirror.c of 0.6.1, 0.6.5.11, 0.7.13, 0.8.6, 2.2.9; module/zfs/vdev_queue.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zsim.base.jit import njit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

BY_OFFSET, BY_PENDING, BY_LOAD = range(3)
"""Rules: v28 (0.6.0 to 0.6.2, FreeBSD 9), 0.6.3 to 0.6.5, and 0.7 or later."""
UNREADABLE, READABLE, HOLDS = range(3)


@njit
def mirror_asize(psize: int, ashift: int) -> int:
    """Return the space [bytes] that a block takes in a mirror or on a single disk: whole sectors.

    Its child I/Os are as long (zio.c:zio_vdev_io_start rounds up what reaches a top-level vdev).
    """
    return (psize + (1 << ashift) - 1) >> ashift << ashift


@njit
def mirror_standing(source: int, target: int) -> int:
    """Return the standing of a child towards the blocks of a scan.

    Parameters
    ----------
    source, target : int
        Leaf that holds the child's data, and leaf that misses them; negative: none.
    """
    if source >= 0:
        return HOLDS
    return READABLE if target >= 0 else UNREADABLE


@njit
def mirror_first_holder(preferred: int, standing: Integers) -> int:
    """Return the first child from `preferred` on, cyclically, that holds the block; -1 if none does.

    Source: vdev_mirror_child_select to 0.6.5.
    """
    children: int = standing.shape[0]
    for step in range(children):
        child: int = (preferred + step) % children
        if standing[child] == HOLDS:
            return child
    return -1


@njit
def mirror_least_loaded(turn: int, least: int, loads: Integers, standing: Integers) -> int:
    """Return the child of least load among those whose standing is at least `least`; -1 if there is none.

    Parameters
    ----------
    turn : int
        Counts the turns that children of equal load take.
    least : int
    loads, standing : ndarray of int64, shape (children,)
    """
    lowest, ties = -1, 0
    for child in range(loads.shape[0]):
        if standing[child] < least:
            continue
        if ties == 0 or loads[child] < lowest:
            lowest, ties = loads[child], 1
        elif loads[child] == lowest:
            ties += 1
    left = turn % max(1, ties)
    for child in range(loads.shape[0]):
        if standing[child] >= least and loads[child] == lowest:
            if left == 0:
                return child
            left -= 1
    return -1


@njit
def mirror_child(
    rule: int, offset: int, shift: int, now: float, switch_s: float, loads: Integers, standing: Integers
) -> int:
    """Return the child of a mirror that is read, -1 if none holds the block.

    Parameters
    ----------
    rule : {BY_OFFSET, BY_PENDING, BY_LOAD}
    offset : int
        Of the block [bytes].
    shift : int
        Turns by address are so long [log2(bytes)] (vdev_mirror_shift).
    now : float
        [s]
    switch_s : float
        Turns by time are so long [s] (zfs_vdev_mirror_switch_us).
    loads : ndarray of int64, shape (children,)
        From `mirror_load`.
    standing : ndarray of int64, shape (children,)
        From `mirror_standing`.

    Notes
    -----
    To 0.6.5 a new disk takes part in the choice, and where it wins the next holder is read instead: in a
    3-way mirror that holder reads twice as much as the other.  From 0.7 only holders are weighed.
    Source: vdev_mirror_map_alloc to 0.6.2, vdev_mirror_child_select later.
    """
    if rule == BY_LOAD:
        return mirror_least_loaded(offset >> shift, HOLDS, loads, standing)
    if rule == BY_OFFSET:
        return mirror_first_holder((offset >> shift) % standing.shape[0], standing)
    preferred = mirror_least_loaded(int(now / switch_s), READABLE, loads, standing)
    return mirror_first_holder(max(preferred, 0), standing)


@njit
def mirror_load(
    rule: int,
    active: int,
    last_end: int,
    offset: int,
    rotating: bool,
    near: int,
    seek_cost: int,
    flash_seek_cost: int,
) -> int:
    """Return the load of a child: active I/Os, from 0.7 on with a penalty for seeking.

    Parameters
    ----------
    rule : {BY_OFFSET, BY_PENDING, BY_LOAD}
    active : int
        I/Os active on the device; those still in the leaf queue do not count.
    last_end : int
        End of the I/O issued last [bytes].
    offset : int
        Where the read would start [bytes], counted from the same origin as `last_end`.
    rotating : bool
    near : int
        Half the penalty is for less [bytes] (zfs_vdev_mirror_rotating_seek_offset).
    seek_cost, flash_seek_cost : int
        zfs_vdev_mirror_rotating_seek_inc, zfs_vdev_mirror_non_rotating_seek_inc.

    Notes
    -----
    Source: vdev_mirror_pending 0.6.5.11, vdev_mirror_load 0.7.13.  A child that is itself a `replacing` or
    `spare` vdev has no queue: its load is that of an idle leaf whose last I/O ended at 0, whatever its disks
    do, and it has no labels of its own in front of `offset`.
    """
    if rule == BY_OFFSET:
        return 0
    if rule == BY_PENDING or last_end == offset:
        return active
    if not rotating:
        return active + flash_seek_cost
    if abs(last_end - offset) < near:
        return active + seek_cost // 2
    return active + seek_cost
