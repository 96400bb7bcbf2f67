"""The leaf vdev queue: which queued child I/Os go to the drive next, and merged with which.

Rules: OpenZFS module/zfs/vdev_queue.c of 0.6.1 (one queue with deadlines), 0.6.3 to 2.1 (classes), 2.2 and
later (classes with 0.5 s arrival buckets).  Queued child I/Os stand in two arrays a leaf, reads and writes,
ordered by offset.
"""

from __future__ import annotations

from zsim.base.arrays import Records, Table
from zsim.base.jit import njit, word_of
from zsim.engine.codes import (
    ASYNC_WRITE,
    CLASSES,
    FLAG_REPAIR,
    FLAG_SCAN,
    REBUILD,
    SCRUB,
    SYNC_READ,
    SYNC_WRITE,
)
from zsim.engine.compiled.drive import submit
from zsim.engine.compiled.free_children import take_child
from zsim.engine.compiled.memory import (
    BUCKETS,
    QUEUE_CAPACITY,
    bounds_of,
    buckets_of,
    children_of,
    commands_of,
    counts_of,
    drives_of,
    general_of,
    leaves_of,
    limits_of,
    queue_of,
    queue_rules_of,
    scan_rules_of,
)
from zsim.engine.compiled.records import QueueRecord
from zsim.engine.leaf_rules import (
    address_rank,
    class_maximum,
    class_minimum,
    credit_at_end,
    credit_at_issue,
    single_priority,
)

QUEUED, OLDEST = CLASSES, 2 * CLASSES
# So far, and four times its entries, a queue wanders from where it began before it is moved back [entries].
STRAY_ENTRIES = 1024
# A tag has a class in so many bits, and above it these of an arrival bucket: 2 years of them differ.
CLASS_BITS, BUCKET_MASK = 3, (1 << 27) - 1
CLASS_MASK = (1 << CLASS_BITS) - 1


@njit
def tag_of(klass: int, bucket: int) -> int:
    """Return what an entry is looked up by where only one class, or one arrival bucket of it, is wanted."""
    return (bucket & BUCKET_MASK) << CLASS_BITS | klass


@njit
def upper_bound(entries: Records[QueueRecord], low: int, high: int, offset: int) -> int:
    """Return the first position in [low, high) whose offset is above `offset`."""
    while low < high:
        middle = (low + high) >> 1
        if entries[middle].offset > offset:
            high = middle
        else:
            low = middle + 1
    return low


@njit
def lower_bound(entries: Records[QueueRecord], low: int, high: int, offset: int) -> int:
    """Return the first position in [low, high) whose offset is not below `offset`."""
    while low < high:
        middle = (low + high) >> 1
        if entries[middle].offset < offset:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def _begin_again(table: Table, row: int) -> None:
    """Move the entries of a queue back to where it began."""
    entries, bounds = queue_of(table, row), bounds_of(table)
    low, high = bounds[2 * row], bounds[2 * row + 1]
    capacity = word_of(table, QUEUE_CAPACITY)
    start = min(capacity // 4, (capacity - (high - low)) // 2)
    if start < low:
        for step in range(high - low):
            entries[start + step] = entries[low + step]
    else:
        for step in range(high - low - 1, -1, -1):
            entries[start + step] = entries[low + step]
    bounds[2 * row], bounds[2 * row + 1] = start, start + high - low


@njit
def insert(table: Table, row: int, child: int, offset: int, tag: int) -> None:
    """Put a child I/O into its place in an offset-ordered queue.

    Parameters
    ----------
    table
        Memory of the plane.
    row : int
        Which queue: leaf by leaf and class by class, reads and writes apart.
    child : int
        The child I/O.
    offset : int
        Where it begins on the leaf [bytes].
    tag : int
        Its class and arrival bucket, see `tag_of`.

    Notes
    -----
    OpenZFS vdev_queue.c:vdev_queue_offset_compare orders by offset and then by the address of the zio,
    for which `leaf_rules.address_rank` stands.  The side with fewer entries makes room.
    """
    bounds, capacity = bounds_of(table), word_of(table, QUEUE_CAPACITY)
    low, high, start = bounds[2 * row], bounds[2 * row + 1], capacity // 4
    # A queue that fills at one end and empties at the other would wander through all of its memory.
    if low == high:
        low = high = start
        bounds[2 * row] = bounds[2 * row + 1] = low
    elif high == capacity or max(high - start, start - low) > STRAY_ENTRIES + 4 * (high - low):
        _begin_again(table, row)
        low, high = bounds[2 * row], bounds[2 * row + 1]
    entries = queue_of(table, row)
    # Streams and sorted scans come with rising offsets: most entries need no search.
    at_end = low == high or entries[high - 1].offset <= offset
    place = high if at_end else upper_bound(entries, low, high, offset)
    if place > low and entries[place - 1].offset == offset:
        children = children_of(table)
        rank = address_rank(children[child].stamp)
        while (
            place > low
            and entries[place - 1].offset == offset
            and address_rank(children[entries[place - 1].child].stamp) > rank
        ):
            place -= 1
    # The shorter side makes room.
    if low > 0 and place - low < high - place:
        for step in range(low, place):
            entries[step - 1] = entries[step]
        place -= 1
        bounds[2 * row] = low - 1
    else:
        for step in range(high, place, -1):
            entries[step] = entries[step - 1]
        bounds[2 * row + 1] = high + 1
    entries[place].offset = offset
    entries[place].child = child
    entries[place].tag = tag


@njit
def remove_range(table: Table, row: int, first: int, last: int) -> None:
    """Take the entries at positions [first, last] out of a queue."""
    entries, bounds = queue_of(table, row), bounds_of(table)
    low, high = bounds[2 * row], bounds[2 * row + 1]
    count = last - first + 1
    # The shorter side closes up.
    if first - low < high - 1 - last:
        for step in range(first - 1, low - 1, -1):
            entries[step + count] = entries[step]
        bounds[2 * row] = low + count
    else:
        for step in range(last + 1, high):
            entries[step - count] = entries[step]
        bounds[2 * row + 1] = high - count


@njit
def _minimum_of(table: Table, leaf: int, klass: int) -> int:
    rules, state = queue_rules_of(table)[0], leaves_of(table)[leaf]
    throttles = rules.non_interactive != 0
    return int(class_minimum(klass, limits_of(table)[klass], throttles, state.interactive, state.credit))


@njit
def _maximum_of(table: Table, leaf: int, klass: int) -> int:
    rules, state, limits = queue_rules_of(table)[0], leaves_of(table)[leaf], limits_of(table)
    least, most, throttles = limits[klass], limits[CLASSES + klass], rules.non_interactive != 0
    return int(class_maximum(klass, least, most, throttles, state.interactive, state.credit, rules.nia_delay))


@njit
def class_to_issue(table: Table, leaf: int) -> int:
    """Return the class that may issue an I/O now, or -1.

    Source: OpenZFS vdev_queue.c:vdev_queue_class_to_issue (priority order; from 2.0.1 the classes below their
    minimum take turns).
    """
    counts = counts_of(table, leaf)
    state = leaves_of(table)[leaf]
    # In turns from the class after the last one: else the first that is short of its minimum is always next.
    start = state.last_class + 1 if queue_rules_of(table)[0].round_robin != 0 else 0
    short, turns, most = -1, 2 * CLASSES, -1
    for klass in range(CLASSES):
        if counts[QUEUED + klass] == 0:
            continue
        turn = klass - start if klass >= start else klass - start + CLASSES
        if turn < turns and counts[klass] < _minimum_of(table, leaf, klass):
            short, turns = klass, turn
        if most < 0 and counts[klass] < _maximum_of(table, leaf, klass):
            most = klass
    return short if short >= 0 else most


@njit
def _first_in(table: Table, row: int, klass: int) -> int:
    """Return the position of the earliest entry of a class (FIFO classes)."""
    bounds, entries, children = bounds_of(table), queue_of(table, row), children_of(table)
    best, best_stamp = -1, 0
    for place in range(bounds[2 * row], bounds[2 * row + 1]):
        if entries[place].tag & CLASS_MASK == klass:
            stamp = children[entries[place].child].stamp
            if best < 0 or stamp < best_stamp:
                best, best_stamp = place, stamp
    return best


@njit
def _first_between(table: Table, row: int, klass: int, bucket: int, first: int, last: int) -> int:
    """Return the first position in [first, last) of a class (and bucket, if >= 0), or -1.

    What is looked at lies side by side: most entries of a long queue are of another bucket or class.
    """
    entries = queue_of(table, row)
    mask = CLASS_MASK if bucket < 0 else -1
    tag = klass if bucket < 0 else tag_of(klass, bucket)
    for place in range(first, last):
        if entries[place].tag & mask == tag:
            return place
    return -1


@njit
def _oldest_bucket(table: Table, leaf: int, klass: int) -> int:
    """Return the oldest arrival bucket that still holds an I/O of the class."""
    counts, buckets = counts_of(table, leaf), buckets_of(table, leaf, klass)
    bucket = counts[OLDEST + klass]
    while buckets[bucket % BUCKETS] == 0:
        bucket += 1
    counts[OLDEST + klass] = bucket
    return int(bucket)


@njit
def elevator(table: Table, row: int, klass: int, last_offset: int, bucket: int) -> int:
    """Return the position of the C-LOOK choice of a class in one queue.

    Parameters
    ----------
    table : Table
        The engine's memory.
    row : int
        Queue: 2 * leaf, + 1 for writes.
    klass : int
        Class of I/O.
    last_offset : int
        Where the last I/O of the queue ended [bytes].
    bucket : int
        Arrivals of this bucket of time only; -1: all.

    Returns
    -------
    int
        The first entry at or above `last_offset`, the lowest of all where there is none, -1 in an empty
        class.

    Notes
    -----
    OpenZFS vdev_queue.c:vdev_queue_io_to_issue, which looks up what comes behind vq_last_offset and wraps.
    Of entries of one offset that of the earliest arrival goes, where arrivals are told apart.
    """
    bounds, entries = bounds_of(table), queue_of(table, row)
    low, high = bounds[2 * row], bounds[2 * row + 1]
    above = lower_bound(entries, low, high, last_offset)
    place = _first_between(table, row, klass, bucket, above, high)
    if place < 0:
        return _first_between(table, row, klass, bucket, low, above)
    if bucket >= 0 and entries[place].offset == last_offset:
        return _earliest_equal(table, row, klass, place, bucket)
    return place


@njit
def _earliest_equal(table: Table, row: int, klass: int, first: int, bucket: int) -> int:
    """Return the position of the I/O that is found where several begin exactly where the last one ended.

    From 2.2 the tree is searched for that offset itself (vdev_queue.c:vdev_queue_io_to_issue, avl_find),
    which meets the I/O that came first, the upper one in the tree, whatever its address; where nothing lies
    below, the first of the tree is taken without a search.
    """
    bounds, entries, children = bounds_of(table), queue_of(table, row), children_of(table)
    offset = entries[first].offset
    if first + 1 >= bounds[2 * row + 1] or entries[first + 1].offset != offset:
        return first
    if _first_between(table, row, klass, bucket, bounds[2 * row], first) < 0:
        return first
    best, tag = first, tag_of(klass, bucket)
    for place in range(first + 1, bounds[2 * row + 1]):
        if entries[place].offset != offset:
            break
        stamp = children[entries[place].child].stamp
        if entries[place].tag == tag and stamp < children[entries[best].child].stamp:
            best = place
    return best


@njit
def choose(table: Table, leaf: int, klass: int) -> tuple[int, int]:
    """Return queue row and position of the I/O of `klass` to issue next.

    FIFO for synchronous I/O, else C-LOOK from the end of the last I/O issued to the leaf; from 2.2 only
    among the I/Os of the oldest 0.5 s arrival bucket (OpenZFS vdev_queue.c:vdev_queue_io_to_issue).
    """
    reads, writes = 2 * leaf, 2 * leaf + 1
    if klass == SYNC_READ:
        return reads, _first_in(table, reads, klass)
    if klass == SYNC_WRITE:
        return writes, _first_in(table, writes, klass)
    if queue_rules_of(table)[0].time_buckets == 0:
        return _choose_in_bucket(table, leaf, klass, -1)
    bucket = _oldest_bucket(table, leaf, klass)
    row, place = _choose_in_bucket(table, leaf, klass, bucket)
    while place < 0:
        # The ring of buckets is finite: what was counted there arrived a whole ring later.
        counts_of(table, leaf)[OLDEST + klass] = bucket + 1
        bucket = _oldest_bucket(table, leaf, klass)
        row, place = _choose_in_bucket(table, leaf, klass, bucket)
    return row, place


@njit
def _choose_in_bucket(table: Table, leaf: int, klass: int, bucket: int) -> tuple[int, int]:
    reads, writes = 2 * leaf, 2 * leaf + 1
    last = leaves_of(table)[leaf].last_offset
    if klass != REBUILD:
        row = writes if klass == ASYNC_WRITE else reads
        return row, elevator(table, row, klass, last, bucket)
    # Reads and writes of a rebuild are one class in two queues: what the sweep meets first is taken.
    read, write = elevator(table, reads, klass, last, bucket), elevator(table, writes, klass, last, bucket)
    if read < 0 or write < 0:
        return (writes, write) if read < 0 else (reads, read)
    read_offset = queue_of(table, reads)[read].offset
    write_offset = queue_of(table, writes)[write].offset
    read_key = (0 if read_offset >= last else 1, read_offset)
    return (reads, read) if read_key <= (0 if write_offset >= last else 1, write_offset) else (writes, write)


@njit
def choose_single(table: Table, leaf: int) -> tuple[int, int]:
    """Return row and position of the queued I/O with the earliest (deadline, offset): the queue of v28.

    Source: OpenZFS 0.6.1 vdev_queue.c:vdev_queue_deadline_compare.
    """
    bounds, children = bounds_of(table), children_of(table)
    best_row, best, best_deadline, best_offset = -1, -1, 0, 0
    for row in range(2 * leaf, 2 * leaf + 2):
        entries = queue_of(table, row)
        for place in range(bounds[2 * row], bounds[2 * row + 1]):
            deadline = children[entries[place].child].bucket
            if (
                best < 0
                or deadline < best_deadline
                or (deadline == best_deadline and entries[place].offset < best_offset)
            ):
                best_row, best, best_deadline, best_offset = row, place, deadline, entries[place].offset
    return best_row, best


@njit
def aggregate(table: Table, leaf: int, row: int, place: int) -> tuple[int, int, int]:
    """Return first and last position, and the end offset, of the I/Os merged with the one at `place`.

    Neighbours of the same type and the same inherited flags are taken, backwards first, while the span
    stays within the aggregation limit and each gap lies between 0 and the gap limit.  I/Os that overlap
    never merge: the gap is an unsigned number there (OpenZFS vdev_queue.c:vdev_queue_aggregate, IO_GAP), so
    a block that is repaired twice costs the drive a turn.
    """
    rules = queue_rules_of(table)[0]
    bounds, children = bounds_of(table), children_of(table)
    entries = queue_of(table, row)
    rotating = drives_of(table)[leaf].rotating != 0
    limit = rules.aggregation_limit if rotating else rules.aggregation_limit_flash
    most = 0 if row & 1 else rules.read_gap
    flags = children[entries[place].child].flags
    first = last = place
    end = entries[place].offset + children[entries[place].child].length
    # How far off a neighbour is stands in the queue: most are not looked at any closer.
    while first > bounds[2 * row]:
        if end - entries[first - 1].offset > limit:
            break
        other = children[entries[first - 1].child]
        gap = entries[first].offset - other.offset - other.length
        if other.flags != flags or gap > most or gap < 0:
            break
        first -= 1
    start = entries[first].offset
    while last + 1 < bounds[2 * row + 1]:
        gap = entries[last + 1].offset - end
        if gap > most or gap < 0:
            break
        other = children[entries[last + 1].child]
        if other.flags != flags or other.offset + other.length - start > limit:
            break
        last += 1
        end = other.offset + other.length
    return first, last, end


@njit
def account_issue(table: Table, leaf: int, klass: int) -> None:
    """Count an I/O as active, in its class and in the leaf's credit.

    Parameters
    ----------
    table : Table
        The engine's memory.
    leaf, klass : int
        Which leaf, which class of I/O.

    Notes
    -----
    OpenZFS 2.0.1 and later: vdev_queue.c:vdev_queue_pending_add; `zsim.engine.leaf_rules.credit_at_issue`
    holds the rule.  Classes before SCRUB are interactive ones.
    """
    state = leaves_of(table)[leaf]
    counts_of(table, leaf)[klass] += 1
    state.pending += 1
    state.last_class = klass
    state.credit = credit_at_issue(klass, state.interactive, state.credit)
    state.interactive += 1 if klass < SCRUB else 0


@njit
def account_done(table: Table, leaf: int, klass: int) -> None:
    """Count an I/O as finished, in its class and in the leaf's credit.

    Parameters
    ----------
    table : Table
        The engine's memory.
    leaf, klass : int
        Which leaf, which class of I/O.

    Notes
    -----
    OpenZFS 2.0.1 and later: vdev_queue.c:vdev_queue_pending_remove; `zsim.engine.leaf_rules.credit_at_end`
    holds the rule, zfs_vdev_nia_credit what is earned.
    """
    state = leaves_of(table)[leaf]
    counts_of(table, leaf)[klass] -= 1
    state.pending -= 1
    earned = queue_rules_of(table)[0].nia_credit
    state.credit = credit_at_end(klass, state.interactive, state.credit, earned)
    state.interactive -= 1 if klass < SCRUB else 0


@njit
def issue_one(table: Table, leaf: int, pending_limit: int) -> bool:
    """Send the leaf queue's next I/O, with all that merges with it, to the drive; tell whether there was one.

    Source: OpenZFS vdev_queue.c:vdev_queue_io_to_issue.
    """
    general, state = general_of(table)[0], leaves_of(table)[leaf]
    if state.queued == 0:
        return False
    if queue_rules_of(table)[0].single != 0:
        if state.pending >= pending_limit:
            return False
        row, place = choose_single(table, leaf)
        klass = int(children_of(table)[queue_of(table, row)[place].child].klass)
    else:
        klass = class_to_issue(table, leaf)
        if klass < 0:
            return False
        row, place = choose(table, leaf, klass)
    first, last, end = aggregate(table, leaf, row, place)
    commands = commands_of(table)
    number = general.free_command
    command = commands[number]
    general.free_command = number + 1 + command.next
    _fill_command(table, leaf, row, first, last, number)
    command.length = end - command.offset
    command.klass = klass
    remove_range(table, row, first, last)
    account_issue(table, leaf, klass)
    # The sweep goes on behind the whole aggregate, not behind the I/O that was chosen.
    state.last_offset = end
    submit(table, number, general.now)
    return True


@njit
def _fill_command(table: Table, leaf: int, row: int, first: int, last: int, number: int) -> None:
    command, children, entries = commands_of(table)[number], children_of(table), queue_of(table, row)
    counts, state = counts_of(table, leaf), leaves_of(table)[leaf]
    # The chain runs from the highest offset down: zio_add_child puts each new parent at the head of the
    # list that zio_done walks, so the I/Os of an aggregate hear of its end in that order.
    chain = -1
    for place in range(first, last + 1):
        child = children[entries[place].child]
        counts[QUEUED + child.klass] -= 1
        buckets_of(table, leaf, child.klass)[child.bucket % BUCKETS] -= 1
        child.next = chain
        chain = entries[place].child
    state.queued -= last - first + 1
    command.first_child = chain
    command.aggregated = last - first + 1
    command.leaf = leaf
    command.write = row & 1
    command.offset = children[entries[first].child].offset
    flags = children[chain].flags
    command.scan = 1 if flags in (FLAG_SCAN, FLAG_REPAIR) else 0


@njit
def enqueue(
    table: Table,
    leaf: int,
    klass: int,
    write: int,
    offset: int,
    length: int,
    kind: int,
    owner: int,
    flags: int,
) -> None:
    """Put one child I/O into a leaf's queue, and let the queue issue what it may.

    `offset` is in the child's address space; the 4 MiB label area in front of it is added here.
    """
    general, state = general_of(table)[0], leaves_of(table)[leaf]
    number = take_child(table, leaf)
    child = children_of(table)[number]
    general.sequence += 1
    general.children_queued += 1
    child.offset, child.length = offset + general.label_bytes, length
    child.stamp, child.owner, child.kind = general.sequence, owner, kind
    child.klass, child.flags, child.write = klass, flags, write
    bucket = int(general.now / queue_rules_of(table)[0].bucket_seconds)
    if queue_rules_of(table)[0].single != 0:
        bucket += single_priority(klass, scan_rules_of(table)[0].scrub != 0, flags == FLAG_REPAIR)
    child.bucket = bucket
    counts = counts_of(table, leaf)
    if counts[QUEUED + klass] == 0:
        counts[OLDEST + klass] = bucket
    counts[QUEUED + klass] += 1
    buckets_of(table, leaf, klass)[bucket % BUCKETS] += 1
    state.queued += 1
    state.children += 1
    insert(table, 2 * leaf + write, number, child.offset, tag_of(klass, bucket))
    issue_one(table, leaf, queue_rules_of(table)[0].min_pending)
