"""Mirrors, `replacing` and `spare` vdevs: which child a read goes to, release by release.

A mirror's child offset is the DVA offset.  Every rule takes, per child, whether it is `readable` and whether
it `holds` the block (its DTL_MISSING lacks the block's birth); a resilver reads one child that holds the
block and then writes every other child that lacks it.

Sources: OpenZFS module/zfs/vdev_mirror.c of 0.6.1, 0.6.5.11, 0.7.13, 0.8.6, 2.2.9; module/zfs/vdev_queue.c.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zsim.base.jit import njit

OFFSET_SHIFT = 21
SWITCH_SECONDS = 0.010
SEEK_DISTANCE = 1 << 20
ROTATING_SEEK = 5
NON_ROTATING_SEEK = 1

Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]


@njit
def mirror_asize(psize: int, ashift: int) -> int:
    """Return the space [bytes] that a block takes in a mirror or on a single disk: whole sectors."""
    return (psize + (1 << ashift) - 1) >> ashift << ashift


@njit
def mirror_first_holder(preferred: int, holds: Flags) -> int:
    """Return the first child from `preferred` on, cyclically, that holds the block; -1 if none does.

    Source: vdev_mirror_child_select to 0.6.5.
    """
    children: int = holds.shape[0]
    for step in range(children):
        child: int = (preferred + step) % children
        if holds[child]:
            return child
    return -1


@njit
def mirror_child_by_offset(offset: int, replacing: bool, holds: Flags) -> int:
    """Return the child that v28 (0.6.0 to 0.6.2, FreeBSD 9) reads: turns of 2 MiB of address space.

    Parameters
    ----------
    offset : int
        [bytes]
    replacing : bool
        A `replacing` or `spare` vdev: the first child that holds the block.
    holds : ndarray of bool, shape (children,)
        Readable, and has the block.
    """
    if replacing:
        return mirror_first_holder(0, holds)
    return mirror_first_holder((offset >> OFFSET_SHIFT) % holds.shape[0], holds)


@njit
def mirror_child_by_pending(
    now: float, replacing: bool, pending: Integers, readable: Flags, holds: Flags
) -> int:
    """Return the child that 0.6.3 to 0.6.5 read: fewest active I/Os, ties turn every 10 ms.

    Parameters
    ----------
    now : float
        [s]
    replacing : bool
        A `replacing` or `spare` vdev: the first child that holds the block.
    pending : ndarray of int64, shape (children,)
        I/Os active on the device (those still in the leaf queue do not count); 0 for a child that is no leaf.
    readable, holds : ndarray of bool, shape (children,)
        A new disk is readable and takes part in the choice; where it wins, the next holder is read instead.
    """
    if replacing:
        return mirror_first_holder(0, holds)
    lowest, ties = -1, 1
    for child in range(pending.shape[0]):
        if readable[child] and (lowest < 0 or pending[child] < lowest):
            lowest, ties = pending[child], 1
        elif readable[child] and pending[child] == lowest:
            ties += 1
    turn = int(now / SWITCH_SECONDS) % ties
    for child in range(pending.shape[0]):
        if readable[child] and pending[child] == lowest:
            if turn == 0:
                return mirror_first_holder(child, holds)
            turn -= 1
    return mirror_first_holder(0, holds)


@njit
def mirror_load(active: int, last_end: int, offset: int, rotating: bool) -> int:
    """Return a leaf's load as 0.7 and later weigh it: active I/Os plus a penalty for seeking.

    Parameters
    ----------
    active : int
        I/Os active on the device.
    last_end : int
        End of the I/O issued last [bytes].
    offset : int
        Where the read would start [bytes], counted from the same origin as `last_end`.
    rotating : bool

    Notes
    -----
    Source: vdev_mirror_load 0.7.13.  A child that is itself a `replacing` or `spare` vdev has no queue: its
    load is that of an idle leaf whose last I/O ended at 0, whatever its disks do.
    """
    if last_end == offset:
        return active
    if not rotating:
        return active + NON_ROTATING_SEEK
    if abs(last_end - offset) < SEEK_DISTANCE:
        return active + ROTATING_SEEK // 2
    return active + ROTATING_SEEK


@njit
def mirror_child_by_load(offset: int, loads: Integers, holds: Flags) -> int:
    """Return the child that 0.7 and later read: least load, ties by turns of 2 MiB of address space.

    Parameters
    ----------
    offset : int
        [bytes]
    loads : ndarray of int64, shape (children,)
        From `mirror_load`.
    holds : ndarray of bool, shape (children,)
        Readable, and has the block.

    Returns
    -------
    int
        -1 if no child holds the block.
    """
    lowest, ties = -1, 0
    for child in range(loads.shape[0]):
        if not holds[child]:
            continue
        if ties == 0 or loads[child] < lowest:
            lowest, ties = loads[child], 1
        elif loads[child] == lowest:
            ties += 1
    if ties == 0:
        return -1
    turn = (offset >> OFFSET_SHIFT) % ties
    for child in range(loads.shape[0]):
        if holds[child] and loads[child] == lowest:
            if turn == 0:
                return child
            turn -= 1
    return -1


@njit
def mirror_scrub_reads_all(replacing: bool, resilver_running: bool, before_0_8: bool) -> bool:
    """Tell whether a scrub reads every child: always, save for `replacing` and `spare` vdevs.

    Those are read once to 0.7; from 0.8 on only while a resilver runs.
    """
    return not replacing or not (before_0_8 or resilver_running)


@njit
def mirror_choose_copy(pick: int, vdev_0: int, vdev_1: int, vdev_2: int) -> int:
    """Return the DVA that a resilver reads of a block with several: the lowest on the vdev of a random one.

    Parameters
    ----------
    pick : int
        Random number below the block's number of DVAs.
    vdev_0, vdev_1, vdev_2 : int
        Top-level vdev of each DVA (anything where there is none).

    Notes
    -----
    Source: vdev_mirror_dva_select: with one top-level vdev DVA 0 is always read, the others are repaired
    from it.
    """
    wanted = vdev_2 if pick == 2 else vdev_1 if pick == 1 else vdev_0
    if vdev_0 == wanted:
        return 0
    return 1 if pick >= 1 and vdev_1 == wanted else pick
