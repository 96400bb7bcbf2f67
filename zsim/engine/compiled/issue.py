"""From a leaf's queue to its drive: child I/Os come in, commands go out."""

from __future__ import annotations

from typing import Any

from zsim.base.jit import njit
from zsim.engine.codes import FLAG_REPAIR, FLAG_SCAN
from zsim.engine.compiled.drive import submit
from zsim.engine.compiled.memory import (
    BUCKETS,
    buckets_of,
    children_of,
    commands_of,
    counts_of,
    general_of,
    leaves_of,
    queue_of,
    queue_rules_of,
    scan_rules_of,
)
from zsim.engine.compiled.queue import (
    OLDEST,
    QUEUED,
    account_issue,
    aggregate,
    choose,
    choose_single,
    class_to_issue,
    insert,
    remove_range,
    single_priority,
)


@njit
def issue_one(table: Any, leaf: int, pending_limit: int) -> bool:
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
    state.last_offset = end
    submit(table, number, general.now)
    return True


@njit
def _fill_command(table: Any, leaf: int, row: int, first: int, last: int, number: int) -> None:
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
    table: Any, leaf: int, klass: int, write: int, offset: int, length: int, kind: int, owner: int, flags: int
) -> None:
    """Put one child I/O into a leaf's queue, and let the queue issue what it may.

    `offset` is in the child's address space; the 4 MiB label area in front of it is added here.
    """
    general, state = general_of(table)[0], leaves_of(table)[leaf]
    number = general.free_child
    child = children_of(table)[number]
    general.free_child = number + 1 + child.next
    general.sequence += 1
    general.children_queued += 1
    child.offset, child.length = offset + general.label_bytes, length
    child.stamp, child.owner, child.kind = general.sequence, owner, kind
    child.klass, child.flags, child.write = klass, flags, write
    bucket = int(general.now / queue_rules_of(table)[0].bucket_seconds)
    if queue_rules_of(table)[0].single != 0:
        bucket += single_priority(klass, scan_rules_of(table)[0].scrub, 1 if flags == FLAG_REPAIR else 0)
    child.bucket = bucket
    counts = counts_of(table, leaf)
    if counts[QUEUED + klass] == 0:
        counts[OLDEST + klass] = bucket
    counts[QUEUED + klass] += 1
    buckets_of(table, leaf, klass)[bucket % BUCKETS] += 1
    state.queued += 1
    state.children += 1
    insert(table, 2 * leaf + write, number, child.offset)
    issue_one(table, leaf, queue_rules_of(table)[0].min_pending)
