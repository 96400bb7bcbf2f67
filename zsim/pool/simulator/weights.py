"""The weight of a metaslab, and how an allocator activates and leaves it, compiled.

Sources: OpenZFS ``module/zfs/metaslab.c``, releases 0.7.13, 2.1.5 and 2.3.9 (``metaslab_segment_weight``,
``metaslab_space_weight``, ``metaslab_activate``, ``metaslab_segment_may_passivate``), in own words.
"""

from __future__ import annotations

from zsim.base.arrays import I64
from zsim.base.jit import njit
from zsim.pool.recipes.styles import STICKY_FRAG, STICKY_UNTIL_FRAGMENTED
from zsim.pool.simulator.memory import VDEVS, histogram_of, owners_of, rules_of, slabs_of, vdevs_of
from zsim.pool.simulator.segments import fragmentation_of, largest_segment, top_bucket

NONE, SECONDARY, PRIMARY, CLAIM = 0, 1, 2, 3

SWITCH_THRESHOLD = 2  # zfs_metaslab_switch_threshold
FRAG_ACTIVE_LIMIT = 70  # zfs_metaslab_fragmentation_threshold
COUNT_BITS = 40


@njit
def space_weight(pool: I64, slab: int) -> int:
    """Return the weight of a metaslab by its free space, outer tracks preferred.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    slab : int
        Metaslab, numbered over the pool.

    Returns
    -------
    int
        [bytes]: free space, frees that are not usable yet among it; times ``(100 - (FRAG - 1)) / 100`` where
        the release has `frag_factor`; and with `lba_weight` ``2 * w - k * w / n`` for metaslab k of n, so
        that the first counts twice as much as the last.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_space_weight (metaslab_lba_weighting_enabled, for drives that rotate).
    """
    vdev = slabs_of(pool)[slab].vdev
    free = (slabs_of(pool)[slab].free + slabs_of(pool)[slab].pending) * vdevs_of(pool)[vdev].unit
    if rules_of(pool)[0].frag_factor and free > 0:
        frag = fragmentation_of(pool, slab)
        free = max(free * (100 - (frag - 1)) // 100, 1)
    if rules_of(pool)[0].lba_weight:
        free = 2 * free - ((slab - vdevs_of(pool)[vdev].first) * free) // vdevs_of(pool)[vdev].count
    return int(free)


@njit
def weight_now(pool: I64, slab: int) -> int:
    """Return the weight of a metaslab from its present free segments.

    Parameters
    ----------
    pool, slab
        As `space_weight` takes them.

    Returns
    -------
    int
        By segments (0.7 and later) the power of two of the largest free ones, then how many there are of
        them; by space (`space_weight`) before.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_segment_weight, metaslab_weight.
    """
    if not rules_of(pool)[0].segment_weight:
        return space_weight(pool, slab)
    top = top_bucket(pool, slab)
    return 0 if top < 0 else (top << COUNT_BITS) + histogram_of(pool, slab)[top]


@njit
def passivate(pool: I64, slab: int, weight: int) -> None:
    """Take a metaslab from its allocator, and weigh it anew.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    slab : int
        Metaslab, numbered over the pool.
    weight : int
        As `weight_now` gives it.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_passivate, metaslab_passivate_allocator.
    """
    role = slabs_of(pool)[slab].role
    if role in (PRIMARY, SECONDARY):
        owners_of(pool)[
            (slabs_of(pool)[slab].owner * pool[VDEVS] + slabs_of(pool)[slab].vdev) * 3 + role
        ] = -1
    slabs_of(pool)[slab].role = NONE
    slabs_of(pool)[slab].owner = -1
    slabs_of(pool)[slab].active = -1
    slabs_of(pool)[slab].weight = weight


@njit
def activate(pool: I64, slab: int, role: int, allocator: int) -> None:
    """Give a metaslab to an allocator.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    slab : int
        Metaslab, numbered over the pool.
    role : int
        PRIMARY, SECONDARY or CLAIM; a claimed one belongs to no allocator.
    allocator : int

    Notes
    -----
    OpenZFS metaslab.c:metaslab_activate_allocator.  The power of two of its largest free segments is kept,
    for `may_passivate` to compare with.
    """
    if role != CLAIM:
        owners_of(pool)[(allocator * pool[VDEVS] + slabs_of(pool)[slab].vdev) * 3 + role] = slab
        slabs_of(pool)[slab].owner = allocator
    slabs_of(pool)[slab].role = role
    slabs_of(pool)[slab].active = slabs_of(pool)[slab].weight >> COUNT_BITS


@njit
def may_passivate(pool: I64, slab: int) -> None:
    """Leave a metaslab whose largest segments have shrunk by the switch threshold since its activation.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    slab : int
        Metaslab, numbered over the pool.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_segment_may_passivate (0.7 and later, zfs_metaslab_switch_threshold = 2
    powers of two).  Where the release fills empty metaslabs (`fill_empty`), one whose largest free segment
    is more than 15/16 of all that is free in it stays.
    """
    if not rules_of(pool)[0].segment_weight or slabs_of(pool)[slab].role == NONE:
        return
    top = top_bucket(pool, slab)
    if top > slabs_of(pool)[slab].active - SWITCH_THRESHOLD:
        return
    if rules_of(pool)[0].fill_empty and top >= 0:
        free = slabs_of(pool)[slab].free * vdevs_of(pool)[slabs_of(pool)[slab].vdev].unit
        most = free * 15 // 16
        if (1 << (top + 1)) > most and largest_segment(pool, slab) > most:
            return
    passivate(pool, slab, weight_now(pool, slab))


@njit
def stays_active(pool: I64, slab: int) -> bool:
    """Tell whether an active metaslab survives the end of a txg as such.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    slab : int
        Metaslab, numbered over the pool.

    Returns
    -------
    bool
        With weights by segments always (0.7 and later); else, by release, up to a fragmentation of 70 %, or
        while its largest segments are of 128K and 4 % of it are free.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_space_weight (zfs_metaslab_fragmentation_threshold); to 0.6.3
    metaslab_df_fragmented.
    """
    if rules_of(pool)[0].segment_weight:
        return True
    sticky = rules_of(pool)[0].sticky
    if sticky == STICKY_FRAG:
        return fragmentation_of(pool, slab) <= FRAG_ACTIVE_LIMIT
    if sticky == STICKY_UNTIL_FRAGMENTED:
        free = slabs_of(pool)[slab].free * 100 // slabs_of(pool)[slab].units
        return top_bucket(pool, slab) >= 17 and free >= 4
    return False
