"""The allocation throttle, compiled: which top-level vdevs may take the next block of a txg.

Of several top-level vdevs a txg fills the queues of all, and then follows those that write fastest.  To 2.3 a
queue is so many allocations long, grows by one with each that is written, and a vdev whose queue is full is
passed over (metaslab.c:metaslab_group_allocatable, metaslab_group_increment_qdepth,
metaslab_class_throttle_reserve, spa.c:spa_sync_adjust_vdev_max_queue_depth; 0.7 to 2.3).  From 2.4 queues are
counted in bytes, no vdev is passed over, and the share of each is by its size and how empty it is
(metaslab_class_balance, metaslab_class_rotate).

What the drives do meanwhile is a queue a vdev: writes that follow one another are one command of at most the
aggregation limit, and two are on the drive.  Pools of one top-level vdev need nothing of this.
"""

from __future__ import annotations

from zsim.base.arrays import I64
from zsim.base.jit import njit
from zsim.pool.simulator.memory import (
    CLASSES,
    IO_SLOTS,
    VDEVS,
    allocators_of,
    groups_of,
    rules_of,
    vdevs_of,
    writes_of,
)

NONE, SLOTS, BYTES = 0, 1, 2
ON_DRIVE = 2  # zfs_vdev_async_write_min_active
COPY_SHARE = 4  # a further copy may find its queue longer by a quarter
ITERATIONS = 4  # mc_alloc_max, 2.4
FIXED = 256


@njit
def class_space(pool: I64, klass: int) -> int:
    """Return the space of an allocation class [bytes].

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    klass : int

    Returns
    -------
    int
        Of the vdevs of the class that are there by now [bytes] (OpenZFS metaslab.c:metaslab_class_get_space).
    """
    total = klass - klass
    for vdev in range(pool[VDEVS]):
        if vdevs_of(pool)[vdev].klass == klass and vdevs_of(pool)[vdev].present:
            total += vdevs_of(pool)[vdev].space
    return total


@njit
def class_used(pool: I64, klass: int) -> int:
    """Return what is allocated in an allocation class [bytes].

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    klass : int

    Returns
    -------
    int
        Deferred frees included [bytes] (OpenZFS metaslab.c:metaslab_class_get_alloc and mc_deferred).
    """
    total = klass - klass
    for vdev in range(pool[VDEVS]):
        if vdevs_of(pool)[vdev].klass == klass:
            total += vdevs_of(pool)[vdev].used
    return total


@njit
def class_groups(pool: I64, klass: int) -> int:
    """Return how many vdevs of a class are there."""
    count = klass - klass
    for vdev in range(pool[VDEVS]):
        if vdevs_of(pool)[vdev].klass == klass and vdevs_of(pool)[vdev].present:
            count += 1
    return count


@njit
def next_vdev(pool: I64, vdev: int, klass: int) -> int:
    """Return the next top-level vdev of a class behind `vdev`, `vdev` itself if it is the only one."""
    vdevs = pool[VDEVS]
    for step in range(1, vdevs + 1):
        other = (vdev + step) % vdevs
        if vdevs_of(pool)[other].klass == klass and vdevs_of(pool)[other].present:
            return int(other)
    return int(vdev)


@njit
def balance(pool: I64, klass: int) -> None:
    """Set the quota of each vdev of a class by its size and free share.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.weights.space_weight` takes it.
    klass : int
        Allocation class.

    Notes
    -----
    OpenZFS 2.4 metaslab.c:metaslab_class_balance.  With S the space of the class and A the mean aliquot
    of its vdevs, a vdev of space s gets A * s / (S / n) bytes a turn, times its free share over that of
    the class where ``metaslab_bias_enabled`` is set; in integers, as there.
    """
    space, used, groups = class_space(pool, klass), class_used(pool, klass), class_groups(pool, klass)
    children = klass - klass
    base = klass - klass
    for vdev in range(pool[VDEVS]):
        row = vdevs_of(pool)[vdev]
        if row.klass == klass and row.present:
            children += row.aliquot
    if groups:
        base = children // groups
    total = klass - klass
    free_share = (space - used) // (space // FIXED + 1)
    for vdev in range(pool[VDEVS]):
        row = vdevs_of(pool)[vdev]
        if row.klass != klass or not row.present:
            continue
        size_ratio = row.space // (space // (groups * FIXED) + 1)
        fullness = (row.space - row.used) // (row.space // (FIXED * FIXED) + 1) // (free_share + 1)
        row.quota = base * size_ratio // FIXED
        if rules_of(pool)[0].biased:
            row.quota = row.quota * fullness // FIXED
        total += row.quota
    for allocator in range(rules_of(pool)[0].allocators):
        allocators_of(pool)[allocator * CLASSES + klass].most = total * ITERATIONS


@njit
def begin_txg(pool: I64) -> None:
    """Empty all queues: a txg begins when the one before has been written.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.weights.space_weight` takes it.

    Notes
    -----
    The depth that each queue starts with is set anew every txg (OpenZFS
    spa.c:spa_sync_adjust_vdev_max_queue_depth, 0.7 to 2.3); from 2.4 the quotas are
    (metaslab.c:metaslab_class_balance).
    """
    rules = rules_of(pool)[0]
    if rules.throttle == NONE:
        return
    for vdev in range(pool[VDEVS]):
        vdevs_of(pool)[vdev].head = vdevs_of(pool)[vdev].tail = 0
        vdevs_of(pool)[vdev].done = 0.0
        for allocator in range(rules.allocators):
            group = groups_of(pool)[allocator * pool[VDEVS] + vdev]
            group.queued = 0
            group.limit = rules.first_depth
    rules.clock = 0.0
    for klass in range(CLASSES):
        groups = class_groups(pool, klass)
        for allocator in range(rules.allocators):
            allocators_of(pool)[allocator * CLASSES + klass].reserved = 0
            allocators_of(pool)[allocator * CLASSES + klass].most = groups * rules.first_depth
        if rules.throttle == BYTES and groups:
            balance(pool, klass)


@njit
def io_seconds(pool: I64, vdev: int, at: int) -> float:
    """Return how long a vdev takes for a command of its queue [s].

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    vdev : int
    at : int
        Number of the command.

    Returns
    -------
    float
        Size over rate, and a positioning unless it begins where the last one ended [s].
    """
    rules = rules_of(pool)[0]
    io = writes_of(pool)[vdev * IO_SLOTS + at % IO_SLOTS]
    moved = 0.0 if io.start == vdevs_of(pool)[vdev].place else rules.position_s
    return float(moved + io.size / rules.rate)


@njit
def start_head(pool: I64, vdev: int, now: float) -> None:
    """Let a vdev begin with the command at the head of its queue, if there is one."""
    row = vdevs_of(pool)[vdev]
    if row.head < row.tail:
        row.done = now + io_seconds(pool, vdev, row.head)


@njit
def swap_writes(pool: I64, vdev: int, one: int, other: int) -> None:
    """Swap two commands in the queue of a vdev."""
    first, second = writes_of(pool)[vdev * IO_SLOTS + one], writes_of(pool)[vdev * IO_SLOTS + other]
    allocator, start, end, size, amount = first.allocator, first.start, first.end, first.size, first.amount
    first.allocator, first.start, first.end = second.allocator, second.start, second.end
    first.size, first.amount = second.size, second.amount
    second.allocator, second.start, second.end = allocator, start, end
    second.size, second.amount = size, amount


@njit
def send_next(pool: I64, vdev: int) -> None:
    """Send the drives the waiting command next in address, the first of all behind the last.

    OpenZFS vdev_queue.c:vdev_queue_io_to_issue.
    """
    row = vdevs_of(pool)[vdev]
    last = row.head + ON_DRIVE - 1
    if last >= row.tail:
        return
    place = writes_of(pool)[vdev * IO_SLOTS + (last - 1) % IO_SLOTS].start
    best = last
    for at in range(last, row.tail):
        io = writes_of(pool)[vdev * IO_SLOTS + at % IO_SLOTS]
        chosen = writes_of(pool)[vdev * IO_SLOTS + best % IO_SLOTS]
        behind, best_behind = io.start < place, chosen.start < place
        if behind < best_behind or (behind == best_behind and io.start < chosen.start):
            best = at
    swap_writes(pool, vdev, last % IO_SLOTS, best % IO_SLOTS)


@njit
def join_waiting(pool: I64, vdev: int, allocator: int, start: int, end: int, size: int, amount: int) -> bool:
    """Let a write join a command that waits and ends where it begins, or begins where it ends.

    Parameters
    ----------
    pool : pointers to the tables of a history
    vdev, allocator : int
    start, end : int
        On the vdev [units].
    size : int
        [bytes]
    amount : int
        Allocations of the throttle's that it counts for.

    Returns
    -------
    bool
        Whether it has; no command grows beyond zfs_vdev_aggregation_limit (OpenZFS
        vdev_queue.c:vdev_queue_aggregate).
    """
    row = vdevs_of(pool)[vdev]
    low = row.head + ON_DRIVE if rules_of(pool)[0].held else row.tail - 1
    for at in range(max(low, row.head + ON_DRIVE), row.tail):
        io = writes_of(pool)[vdev * IO_SLOTS + at % IO_SLOTS]
        if io.allocator != allocator or io.size + size > rules_of(pool)[0].aggregated:
            continue
        if io.end == start or io.start == end:
            io.start, io.end = min(io.start, start), max(io.end, end)
            io.size += size
            io.amount += amount
            return True
    return False


@njit
def complete_one(pool: I64) -> int:
    """Let the first command of all be written.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.weights.space_weight` takes it.

    Returns
    -------
    int
        Its vdev, in whose queue it is the one before the head; -1 when nothing is under way.

    Notes
    -----
    Its queue has room again; to 2.3 it also grows by one, up to its largest depth
    (OpenZFS metaslab.c:metaslab_group_increment_qdepth).
    """
    rules = rules_of(pool)[0]
    first = -1
    for vdev in range(pool[VDEVS]):
        row = vdevs_of(pool)[vdev]
        if row.head < row.tail and (first < 0 or row.done < vdevs_of(pool)[first].done):
            first = vdev
    if first < 0:
        return first
    row = vdevs_of(pool)[first]
    io = writes_of(pool)[first * IO_SLOTS + row.head % IO_SLOTS]
    rules.clock = row.done
    group = groups_of(pool)[io.allocator * pool[VDEVS] + first]
    share = allocators_of(pool)[io.allocator * CLASSES + row.klass]
    group.queued -= io.amount
    share.reserved -= io.amount
    if rules.throttle == SLOTS:
        grown = min(io.amount, rules.most_depth - group.limit)
        group.limit += grown
        share.most += grown
    row.place = io.end
    row.head += 1
    if rules.held:
        send_next(pool, first)
    start_head(pool, first, row.done)
    return int(first)


@njit
def wait_for_room(pool: I64, klass: int, allocator: int, copies: int) -> None:
    """Wait until the throttle lets an allocator place one more block of a class.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    klass, allocator : int
    copies : int
        Of the block, each of which takes a place in the queue (0.7 to 2.3).

    Notes
    -----
    OpenZFS metaslab.c:metaslab_class_throttle_reserve: while what is reserved and this block are more than
    the sum of the queues, commands complete.  An allocator with nothing reserved never waits.
    Records that are `held` back wait outside (`zsim.pool.simulator.syncing.sync_throttled`).
    """
    rules = rules_of(pool)[0]
    if rules.throttle == NONE or rules.held:
        return
    more = copies if rules.throttle == SLOTS else 0
    share = allocators_of(pool)[allocator * CLASSES + klass]
    while share.reserved > 0 and share.reserved + more > share.most:
        if complete_one(pool) < 0:
            return


@njit
def has_room(pool: I64, vdev: int, allocator: int, copy: int) -> bool:
    """Tell whether the queue of a vdev takes one more copy.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    vdev, allocator : int
    copy : int
        0 for the first copy; each further one may find the queue longer by a quarter.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_group_allocatable: qmax = qmax * (4 + d) / 4.
    """
    group = groups_of(pool)[allocator * pool[VDEVS] + vdev]
    return bool(group.queued < group.limit * (COPY_SHARE + copy) // COPY_SHARE)


@njit
def may_take(pool: I64, vdev: int, klass: int, allocator: int, copy: int) -> bool:
    """Tell whether a vdev is not passed over.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    vdev, klass, allocator, copy : int
        As `has_room` takes them; `klass` names the vdevs it is compared with.

    Returns
    -------
    bool
        True where its queue has room, or that of no other vdev of the class has, or the release passes none
        over.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_group_allocatable.
    """
    if rules_of(pool)[0].throttle != SLOTS or has_room(pool, vdev, allocator, copy):
        return True
    other = next_vdev(pool, vdev, klass)
    while other != vdev:
        if has_room(pool, other, allocator, copy):
            return False
        other = next_vdev(pool, other, klass)
    return True


@njit
def queue_write(pool: I64, vdev: int, allocator: int, start: int, asize: int, psize: int) -> None:
    """Queue the write of a copy.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.weights.space_weight` takes it.
    vdev, allocator : int
        Top-level vdev, and which allocator placed the copy.
    start : int
        Address on the vdev [bytes].
    asize, psize : int
        What the copy takes, and its size [bytes]; from 2.4 queues count psize, before allocations.

    Notes
    -----
    A write that follows the last waiting one of its allocator joins it, up to so many bytes a leaf
    (zfs_vdev_aggregation_limit; OpenZFS vdev_queue.c:vdev_queue_aggregate).
    """
    rules = rules_of(pool)[0]
    if rules.throttle == NONE:
        return
    row = vdevs_of(pool)[vdev]
    amount = 1 if rules.throttle == SLOTS else psize
    size = asize // row.spread
    groups_of(pool)[allocator * pool[VDEVS] + vdev].queued += amount
    allocators_of(pool)[allocator * CLASSES + row.klass].reserved += amount
    if join_waiting(pool, vdev, allocator, start, start + asize, size, amount):
        return
    if row.tail - row.head >= IO_SLOTS:
        complete_one(pool)
    io = writes_of(pool)[vdev * IO_SLOTS + row.tail % IO_SLOTS]
    io.allocator, io.start, io.end = allocator, start, start + asize
    io.size, io.amount = size, amount
    row.tail += 1
    if row.tail - row.head == 1:
        start_head(pool, vdev, rules.clock)
