"""The metaslab allocator, compiled: which top-level vdev and which metaslab the next block goes to.

Sources: OpenZFS ``module/zfs/metaslab.c``, releases 0.7.13, 2.1.5 and 2.3.9 (``metaslab_group_alloc_normal``,
``metaslab_alloc_dva``, ``metaslab_sync_done``), in own words.  Weights and activation are in
`zsim.pool.simulator.weights`.
"""

from __future__ import annotations

from zsim.base.arrays import I64
from zsim.base.jit import njit
from zsim.pool.simulator.memory import (
    CLASSES,
    LOG_SIZE,
    LOG_SLOTS,
    SLABS,
    VDEVS,
    Places,
    allocators_of,
    log_of,
    marks_of,
    now_of,
    owners_of,
    rules_of,
    slabs_of,
    vdevs_of,
)
from zsim.pool.simulator.segments import (
    holds,
    recount,
    return_frees,
    take_units,
)
from zsim.pool.simulator.throttle import (
    BYTES,
    class_groups,
    class_space,
    class_used,
    may_take,
    next_vdev,
    queue_write,
    wait_for_room,
)
from zsim.pool.simulator.weights import (
    CLAIM,
    NONE,
    PRIMARY,
    SECONDARY,
    activate,
    may_passivate,
    passivate,
    stays_active,
    weight_now,
)
from zsim.vdevs.dispatch import vdev_asize
from zsim.vdevs.kind import VdevShape

CLAIM_BIT = 1 << 60
DEFER_TXGS = 2


@njit
def far_enough(pool: I64, slab: int, copies: int, copy_slab: Places, distance: int) -> bool:
    """Tell whether a further copy of a block may go into a metaslab.

    Parameters
    ----------
    pool, slab
        As `zsim.pool.simulator.weights.space_weight` takes them.
    copies : int
        Copies that have a place.
    copy_slab : ndarray of int64
        Their metaslabs.
    distance : int
        How far from those of the same vdev it has to be [thousandths of a metaslab].

    Returns
    -------
    bool
        Not into the others' metaslabs (modern releases) or not near them (to 0.7, half as far again where the
        metaslab is empty).

    Notes
    -----
    OpenZFS metaslab.c:metaslab_distance, metaslab_group_alloc_normal.
    """
    for i in range(copies):
        if slabs_of(pool)[copy_slab[i]].vdev != slabs_of(pool)[slab].vdev:
            continue
        empty = slabs_of(pool)[slab].free == slabs_of(pool)[slab].units
        needed = distance + (distance >> 1 if empty and not rules_of(pool)[0].separate else 0)
        if abs(slab - copy_slab[i]) * 1000 < needed:
            return False
    return True


@njit
def rank(pool: I64, slab: int) -> int:
    """Return the class in which a metaslab sorts when one is looked for; the highest comes first.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    slab : int
        Metaslab, numbered over the pool.

    Returns
    -------
    int
        Its role; where primary and secondary metaslabs are looked for apart (`separate`), those that no
        allocator has before primary ones, and these before secondary ones.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_compare.
    """
    role = slabs_of(pool)[slab].role
    if rules_of(pool)[0].separate:
        return 0 if role == PRIMARY else (-1 if role == SECONDARY else 1)
    return int(role)


@njit
def find_slab(
    pool: I64, vdev: int, role: int, size: int, copies: int, copy_slab: Places, distance: int, serial: int
) -> int:
    """Return the best metaslab not tried yet for this block, -1 when there is none.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.weights.space_weight` takes it.
    vdev : int
        Top-level vdev.
    role : int
        `PRIMARY`, `SECONDARY` or `CLAIM`: whose metaslab is looked for.
    size : int
        Asize of the block [bytes].
    copies, copy_slab, distance
        As `far_enough` takes them.
    serial : int
        Number of this allocation: metaslabs that failed in it bear it.

    Returns
    -------
    int
        Of those that hold the block and are far enough from its other copies the one of the highest rank,
        then of the highest weight, then of the lowest address.

    Notes
    -----
    OpenZFS metaslab.c:find_valid_metaslab (to 0.7 metaslab_group_alloc_normal), metaslab_compare.
    """
    best = -1
    best_rank = -9
    best_weight = -1
    first = vdevs_of(pool)[vdev].first
    for slab in range(first, first + vdevs_of(pool)[vdev].count):
        if slabs_of(pool)[slab].tried == serial:
            continue
        level = rank(pool, slab)
        weight = slabs_of(pool)[slab].weight + (CLAIM_BIT if slabs_of(pool)[slab].role == CLAIM else 0)
        if level < best_rank or (level == best_rank and weight <= best_weight):
            continue
        owned = rules_of(pool)[0].separate and slabs_of(pool)[slab].owner >= 0
        if role != PRIMARY and not owned and not far_enough(pool, slab, copies, copy_slab, distance):
            continue
        if not holds(pool, slab, size):
            continue
        best, best_rank, best_weight = slab, level, weight
    return best


@njit
def role_of_copy(pool: I64, vdev: int, copies: int, copy_slab: Places) -> int:
    """Return the role of the metaslab that the next copy of a block wants on a vdev.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    vdev : int
    copies : int
        Placed so far.
    copy_slab : ndarray of int64, shape (copies,)
        Where.

    Returns
    -------
    int
        PRIMARY for the first copy on this vdev, SECONDARY for the second, CLAIM for a further one where
        these are kept apart.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_group_alloc_normal.
    """
    same = 0
    for i in range(copies):
        if slabs_of(pool)[copy_slab[i]].vdev == vdev:
            same += 1
    if same == 0:
        return PRIMARY
    return SECONDARY if same == 1 or not rules_of(pool)[0].separate else CLAIM


@njit
def current_slab(pool: I64, vdev: int, role: int, allocator: int) -> int:
    """Return the allocator's active metaslab for this role, -1 when it has none."""
    if role == CLAIM or (role == SECONDARY and not rules_of(pool)[0].separate):
        return -1
    return int(owners_of(pool)[(allocator * pool[VDEVS] + vdev) * 3 + role])


@njit
def allocate_in_group(
    pool: I64, vdev: int, units: int, copies: int, copy_slab: Places, allocator: int, distance: int
) -> tuple[int, int]:
    """Allocate on one top-level vdev.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.weights.space_weight` takes it.
    vdev : int
        Top-level vdev.
    units : int
        How much [smallest allocations of the vdev].
    copies, copy_slab, distance
        As `far_enough` takes them.
    allocator : int
        Which of the pool's allocators asks; small vdevs have one for all.

    Returns
    -------
    slab, start : int
        The metaslab, and where in it [smallest allocations]; -1 and -1 when the vdev has no room.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_group_alloc_normal: the allocator's active metaslab first, else the best
    of all, which becomes active.  One that has no room is left and not tried again for this block.
    """
    size = units * vdevs_of(pool)[vdev].unit
    role = role_of_copy(pool, vdev, copies, copy_slab)
    if rules_of(pool)[0].third_each:
        if allocator >= vdevs_of(pool)[vdev].count // 3:
            allocator = 0
    elif vdevs_of(pool)[vdev].count < 3 * rules_of(pool)[0].allocators:
        allocator = 0
    rules_of(pool)[0].serial += 1
    serial = rules_of(pool)[0].serial
    while True:
        slab = current_slab(pool, vdev, role, allocator)
        if slab < 0:
            slab = find_slab(pool, vdev, role, size, copies, copy_slab, distance, serial)
        if slab < 0:
            return -1, -1
        held = slabs_of(pool)[slab].role
        steals = held == CLAIM if rules_of(pool)[0].separate else held == SECONDARY
        if steals and role == PRIMARY:
            passivate(pool, slab, weight_now(pool, slab))
            continue
        if held == NONE:
            activate(pool, slab, role, allocator)
        start = take_units(pool, slab, units) if holds(pool, slab, size) else -1
        if start >= 0:
            may_passivate(pool, slab)
            return slab, start
        passivate(pool, slab, weight_now(pool, slab))
        slabs_of(pool)[slab].tried = serial


@njit
def units_needed(pool: I64, vdev: int, psize: int) -> int:
    """Return what a new block takes on a top-level vdev [smallest allocations].

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    vdev : int
    psize : int
        Size as compressed [bytes].

    Returns
    -------
    int
        Parity and padding included.

    Notes
    -----
    OpenZFS vdev.c:vdev_psize_to_asize.
    """
    level = vdevs_of(pool)[vdev]
    shape = VdevShape(level.ashift, level.children, level.parity, level.data, level.spares)
    asize = vdev_asize(level.kind, psize, shape)
    return int(asize // level.unit)


@njit
def units_taken(pool: I64, vdev: int, psize: int, birth: int) -> int:
    """Return what a block takes that has been written [smallest allocations].

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    vdev : int
    psize : int
        Size as compressed [bytes].
    birth : int
        Its txg: before an expansion of the RAID-Z its rows have the older width.

    Returns
    -------
    int
        Parity and padding included.

    Notes
    -----
    OpenZFS 2.3 vdev_raidz.c:vdev_raidz_asize, vdev_raidz_get_logical_width.
    """
    level = vdevs_of(pool)[vdev]
    data = level.first_data if birth < level.expanded else level.data
    shape = VdevShape(level.ashift, level.children, level.parity, data, level.spares)
    asize = vdev_asize(level.kind, psize, shape)
    return int(asize // level.unit)


@njit
def pool_space(pool: I64) -> int:
    """Return the space of the normal class [bytes]."""
    return int(class_space(pool, now_of(pool)[0].zero))


@njit
def pool_used(pool: I64) -> int:
    """Return what is allocated in the normal class, deferred frees included [bytes]."""
    return int(class_used(pool, now_of(pool)[0].zero))


@njit
def rotate(pool: I64, share: int, vdev: int, klass: int) -> None:
    """Let the next top-level vdev of the class take over."""
    allocators_of(pool)[share].rotor = next_vdev(pool, vdev, klass)
    allocators_of(pool)[share].used = 0


@njit
def advance_rotor(pool: I64, vdev: int, allocator: int, size: int, psize: int) -> None:
    """Move to the next top-level vdev after the aliquot, biased to the emptier ones.

    metaslab.c:metaslab_alloc_dva (to 2.3), metaslab_class_rotate on a pool that is not busy (2.4).
    """
    klass = vdevs_of(pool)[vdev].klass
    share = allocator * CLASSES + klass
    if rules_of(pool)[0].throttle == BYTES:
        if allocators_of(pool)[share].rotor == vdev:
            allocators_of(pool)[share].used += psize
            if allocators_of(pool)[share].used + psize // 2 >= vdevs_of(pool)[vdev].quota:
                rotate(pool, share, vdev, klass)
        return
    if allocators_of(pool)[share].used == 0 and rules_of(pool)[0].biased:
        free = vdevs_of(pool)[vdev].space - vdevs_of(pool)[vdev].used
        total = class_space(pool, klass) - class_used(pool, klass)
        ratio = free * class_groups(pool, klass) * 100 // (total + 1)
        vdevs_of(pool)[vdev].bias = (ratio - 100) * vdevs_of(pool)[vdev].aliquot // 100
    allocators_of(pool)[share].used += size
    if allocators_of(pool)[share].used >= vdevs_of(pool)[vdev].aliquot + vdevs_of(pool)[vdev].bias:
        rotate(pool, share, vdev, klass)


@njit
def first_vdev(pool: I64, klass: int, copies: int, copy_slab: Places, allocator: int) -> int:
    """Return the top-level vdev that is asked first for a copy of a block.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    klass : int
        Allocation class.
    copies : int
        Placed so far.
    copy_slab : ndarray of int64, shape (copies,)
        Where.
    allocator : int

    Returns
    -------
    int
        The rotor's; for a further copy the next of the class behind the last copy's.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_alloc_dva.
    """
    if copies > 0:
        return int(next_vdev(pool, slabs_of(pool)[copy_slab[copies - 1]].vdev, klass))
    return int(allocators_of(pool)[allocator * CLASSES + klass].rotor)


@njit
def allocate_copy(
    pool: I64,
    klass: int,
    psize: int,
    copies: int,
    copy_slab: Places,
    copy_start: Places,
    allocator: int,
    distance: int,
    hard: int,
) -> bool:
    """Allocate the next copy of a block on some vdev of a class; False when none has room at this distance.

    `hard`: on any that has room, whatever its queue.
    """
    vdev = first_vdev(pool, klass, copies, copy_slab, allocator)
    for _ in range(class_groups(pool, klass)):
        if hard or may_take(pool, vdev, klass, allocator, copies):
            units = units_needed(pool, vdev, psize)
            apart = distance * vdevs_of(pool)[vdev].count if distance > 1 else distance
            slab, start = allocate_in_group(pool, vdev, units, copies, copy_slab, allocator, apart)
            if slab >= 0:
                copy_slab[copies] = slab
                copy_start[copies] = start
                size = units * vdevs_of(pool)[vdev].unit
                advance_rotor(pool, vdev, allocator, size, psize)
                place = (slab * slabs_of(pool)[slab].units + start) * vdevs_of(pool)[vdev].unit
                queue_write(pool, vdev, allocator, place, size, psize)
                return True
        share = allocator * CLASSES + klass
        if rules_of(pool)[0].throttle != BYTES or allocators_of(pool)[share].rotor == vdev:
            rotate(pool, share, vdev, klass)
        vdev = next_vdev(pool, vdev, klass)
    return False


@njit
def allocate_block(
    pool: I64, klass: int, psize: int, copies: int, copy_slab: Places, copy_start: Places, allocator: int
) -> bool:
    """Allocate all copies of a block into `copy_slab`, `copy_start`; False when the class has no room.

    To 0.7 copies on one vdev keep an eighth of it apart, then a sixteenth ...; later: different metaslabs.
    """
    wait_for_room(pool, klass, allocator, copies)
    for copy in range(copies):
        distance = rules_of(pool)[0].distance
        hard = copy - copy
        while not allocate_copy(pool, klass, psize, copy, copy_slab, copy_start, allocator, distance, hard):
            if distance == 0:
                return False
            distance = distance // 2 if distance > 8 else 0
            hard = hard - hard + 1
    return True


@njit
def log_free(pool: I64, slab: int, start: int, units: int) -> None:
    """Note a freed range.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    slab : int
        Metaslab, numbered over the pool.
    start, units : int
        Where in the metaslab, and how much [smallest allocations].

    Notes
    -----
    It can be allocated again `DEFER_TXGS` txgs after this one has synced (OpenZFS metaslab.c:ms_defer,
    TXG_DEFER_SIZE), so that the pool can be rewound.
    """
    head = rules_of(pool)[0].log_head
    log_of(pool)[head].slab = slab
    log_of(pool)[head].start = start
    log_of(pool)[head].units = units
    rules_of(pool)[0].log_head = head + 1 if head + 1 < pool[LOG_SIZE] else 0
    slabs_of(pool)[slab].pending += units
    slabs_of(pool)[slab].changed = 1


@njit
def end_txg(pool: I64, step: int) -> None:
    """Close a txg and the `step` - 1 idle ones behind it.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.weights.space_weight` takes it.
    step : int
        How many txgs have passed.

    Notes
    -----
    What was freed `DEFER_TXGS` txgs ago becomes free (metaslab.c:metaslab_sync_done, ms_defer), metaslabs
    that changed are weighed anew, and active ones that are no longer worth it are left
    (metaslab_sync_reassess).
    """
    rules = rules_of(pool)[0]
    for _ in range(step):
        return_frees(pool, marks_of(pool)[(rules.txg + LOG_SLOTS - DEFER_TXGS) % LOG_SLOTS])
        marks_of(pool)[rules.txg % LOG_SLOTS] = rules.log_head
        rules.txg += 1
    for slab in range(pool[SLABS]):
        if not slabs_of(pool)[slab].changed:
            continue
        slabs_of(pool)[slab].changed = 0
        slabs_of(pool)[slab].unflushed = 1
        slabs_of(pool)[slab].unmapped = 1
        weight = weight_now(pool, slab)
        slabs_of(pool)[slab].weight = weight
        if slabs_of(pool)[slab].role != NONE and not stays_active(pool, slab):
            passivate(pool, slab, weight)


@njit
def weigh_all(pool: I64) -> None:
    """Set the histograms and weights of new metaslabs."""
    for slab in range(pool[SLABS]):
        recount(pool, slab)
        slabs_of(pool)[slab].weight = weight_now(pool, slab)
