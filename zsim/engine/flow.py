"""Blocks, metadata and clients: how scan operations become child I/Os, and what their completion sets off."""

from __future__ import annotations

from math import floor, log
from typing import Any

from zsim.engine.device import FOREVER, submit
from zsim.engine.draws import mixed
from zsim.engine.memory import (
    ASYNC_WRITE,
    BUCKETS,
    COPY_MASK,
    FLAG_METADATA,
    FLAG_NORMAL,
    FLAG_REPAIR,
    FLAG_SCAN,
    ITEM_MASK,
    KIND_MIRROR,
    KIND_RAIDZ,
    META_ABSENT,
    META_IN_FLIGHT,
    META_PRESENT,
    META_WANTED,
    MIRROR_BY_OFFSET,
    MIRROR_BY_PENDING,
    N_CLIENT_ITEMS,
    N_CLIENTS,
    N_LEAVES,
    N_LINKS,
    N_RECORDS,
    N_SERVERS,
    N_STREAMS,
    OWNER_CLIENT,
    OWNER_GROUP,
    OWNER_METADATA,
    OWNER_SCAN_COPY,
    OWNER_SCAN_READ,
    OWNER_SCAN_WRITE,
    SCRUB,
    SYNC_READ,
    buckets_of,
    child_leaf_of,
    children_of,
    client_items_of,
    clients_of,
    commands_of,
    copies_of,
    counts_of,
    enqueue_through,
    event_times_of,
    general_of,
    heap_of,
    items_of,
    leaves_of,
    queue_children_of,
    records_of,
    slots_of,
    streams_of,
    vdevs_of,
)
from zsim.engine.queue import (
    OLDEST,
    QUEUED,
    account_done,
    account_issue,
    aggregate,
    choose,
    choose_single,
    class_to_issue,
    insert,
    remove_range,
    single_priority,
)
from zsim.jit import bare_at, entry_point, njit
from zsim.vdevs.raidz import raidz_map, raidz_piece

MIRROR_SHIFT = 21
MIRROR_SWITCH_S = 0.01
ENQUEUE_SIGNATURE = "void(int64, int64, int64, int64, int64, int64, int64, int64, int64)"


@njit
def issue_one(table: Any, leaf: int, pending_limit: int) -> bool:
    """Send the leaf queue's next I/O, with all that merges with it, to the drive; tell whether there was one.

    Source: OpenZFS vdev_queue.c:vdev_queue_io_to_issue.
    """
    general, state = general_of(table)[0], leaves_of(table)[leaf]
    if state.queued == 0:
        return False
    if general.single_queue != 0:
        if state.pending >= pending_limit:
            return False
        row, place = choose_single(table, leaf)
        klass = int(children_of(table)[queue_children_of(table, row)[place]].klass)
    else:
        klass = class_to_issue(table, leaf)
        if klass < 0:
            return False
        row, place = choose(table, leaf, klass)
    first, last, end = aggregate(table, leaf, row, place)
    commands = commands_of(table)
    number = general.free_command
    command = commands[number]
    general.free_command = command.next
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
    command, children, entries = commands_of(table)[number], children_of(table), queue_children_of(table, row)
    counts, state = counts_of(table, leaf), leaves_of(table)[leaf]
    # The chain runs from the highest offset down: zio_add_child puts each new parent at the head of the
    # list that zio_done walks, so the I/Os of an aggregate hear of its end in that order.
    chain = -1
    for place in range(first, last + 1):
        child = children[entries[place]]
        counts[QUEUED + child.klass] -= 1
        buckets_of(table, leaf, child.klass)[child.bucket % BUCKETS] -= 1
        child.next = chain
        chain = entries[place]
    state.queued -= last - first + 1
    command.first_child = chain
    command.aggregated = last - first + 1
    command.leaf = leaf
    command.write = row & 1
    command.offset = children[entries[first]].offset
    flags = children[chain].flags
    command.scan = 1 if flags == FLAG_SCAN or flags == FLAG_REPAIR else 0


@njit
def enqueue(
    table: Any, leaf: int, klass: int, write: int, offset: int, length: int, kind: int, owner: int, flags: int
) -> None:
    """Put one child I/O into a leaf's queue, and let the queue issue what it may; see `enqueue_here`."""
    enqueue_through(table, (leaf, klass, write, offset, length, kind, owner, flags))


def _enqueue_entry(
    address: int, leaf: int, klass: int, write: int, offset: int, length: int, kind: int, owner: int, flags: int
) -> None:
    enqueue_here(bare_at(address), leaf, klass, write, offset, length, kind, owner, flags)


def enqueue_address() -> int:
    """Return the address of compiled `enqueue_here`, which `Memory.table` has to hold."""
    return entry_point(_enqueue_entry, ENQUEUE_SIGNATURE)


@njit
def enqueue_here(
    table: Any, leaf: int, klass: int, write: int, offset: int, length: int, kind: int, owner: int, flags: int
) -> None:
    """Put one child I/O into a leaf's queue, and let the queue issue what it may.

    `offset` is in the child's address space; the 4 MiB label area in front of it is added here.
    """
    general, state = general_of(table)[0], leaves_of(table)[leaf]
    number = general.free_child
    child = children_of(table)[number]
    general.free_child = child.next
    general.sequence += 1
    general.children_queued += 1
    child.offset, child.length = offset + general.label_bytes, length
    child.stamp, child.owner, child.kind = general.sequence, owner, kind
    child.klass, child.flags, child.write = klass, flags, write
    bucket = int(general.now / general.bucket_seconds)
    if general.single_queue != 0:
        bucket += single_priority(klass, general.scrub, 1 if flags == FLAG_REPAIR else 0)
    child.bucket = bucket
    counts = counts_of(table, leaf)
    if counts[QUEUED + klass] == 0:
        counts[OLDEST + klass] = bucket
    counts[QUEUED + klass] += 1
    buckets_of(table, leaf, klass)[bucket % BUCKETS] += 1
    state.queued += 1
    state.children += 1
    insert(table, 2 * leaf + write, number, child.offset)
    issue_one(table, leaf, general.min_pending)


@njit
def mirror_choice(table: Any, vdev: Any, offset: int) -> int:
    """Return the leaf that a mirror reads a block from.

    Source: OpenZFS vdev_mirror.c:vdev_mirror_child_select and vdev_mirror_load: by offset (v28), by pending I/Os
    (0.6.3 to 0.6.5), by pending I/Os plus a seek cost (0.7+); ties go by offset (0.7+) or time.
    """
    general, child_leaf = general_of(table)[0], child_leaf_of(table)
    lowest, count = 1 << 60, 0
    for child in range(vdev.first_child, vdev.first_child + vdev.children):
        load = _mirror_load(table, vdev, child, offset)
        if load < lowest:
            lowest, count = load, 0
        if load == lowest and load < (1 << 60):
            count += 1
    turn = int(general.now / MIRROR_SWITCH_S) if general.mirror_rule == MIRROR_BY_PENDING else offset >> MIRROR_SHIFT
    choice = turn % max(1, count)
    for child in range(vdev.first_child, vdev.first_child + vdev.children):
        if _mirror_load(table, vdev, child, offset) == lowest:
            if choice == 0:
                return int(child_leaf[2 * child])
            choice -= 1
    return -1


@njit
def _mirror_load(table: Any, vdev: Any, child: int, offset: int) -> int:
    general, child_leaf = general_of(table)[0], child_leaf_of(table)
    leaf = child_leaf[2 * child]
    if leaf < 0:
        return 1 << 60
    if general.mirror_rule == MIRROR_BY_OFFSET:
        return 0
    if child_leaf[2 * child + 1] >= 0:
        # A `replacing` child is no leaf: it has no queue of its own and no last offset.
        return int(general.mirror_seek_cost) if general.mirror_rule != MIRROR_BY_PENDING else 0
    state = leaves_of(table)[leaf]
    if general.mirror_rule == MIRROR_BY_PENDING:
        return int(state.pending)
    distance = abs(state.last_offset - (offset + general.label_bytes))
    if distance == 0:
        return int(state.pending)
    near = distance < general.mirror_near
    return int(state.pending + (general.mirror_seek_cost // 2 if near else general.mirror_seek_cost))


@njit
def read_scan_block(table: Any, slot_number: int, vdev_number: int, offset: int, psize: int) -> int:
    """Queue the reads of a scan block (all readable columns; one side of a mirror, or all in a scrub).

    Returns the number of reads queued.  Source: OpenZFS vdev_raidz.c:vdev_raidz_io_start (parity is read as
    well under ZIO_FLAG_RESILVER and ZIO_FLAG_SCRUB), vdev_mirror.c:vdev_mirror_io_start.
    """
    general, slot = general_of(table)[0], slots_of(table)[slot_number]
    vdev, child_leaf = vdevs_of(table)[vdev_number], child_leaf_of(table)
    klass = general.scan_class
    before = slot.reads
    if vdev.kind == KIND_RAIDZ:
        plan = raidz_map(offset, psize, vdev.ashift, vdev.children, vdev.parity)
        for column in range(plan[0] - 1, -1, -1):
            child, place, size = raidz_piece(column, plan[1], plan[2], plan[3], plan[4], plan[5], vdev.children)
            leaf = child_leaf[2 * (vdev.first_child + child)]
            if leaf >= 0:
                slot.reads += 1
                live = child_leaf[2 * (vdev.first_child + child) + 1] >= 0
                kind = OWNER_SCAN_COPY if live else OWNER_SCAN_READ
                enqueue(table, leaf, klass, 0, place, size, kind, slot_number, FLAG_SCAN)
    elif general.scrub != 0:
        for child in range(vdev.first_child, vdev.first_child + vdev.children):
            if child_leaf[2 * child] >= 0:
                slot.reads += 1
                enqueue(table, child_leaf[2 * child], klass, 0, offset, psize, OWNER_SCAN_READ, slot_number, FLAG_SCAN)
    else:
        slot.reads += 1
        enqueue(table, mirror_choice(table, vdev, offset), klass, 0, offset, psize, OWNER_SCAN_READ, slot_number, FLAG_SCAN)
    return int(slot.reads - before)


@njit
def repair_copy(
    table: Any, slot_number: int, vdev_number: int, offset: int, psize: int, was_read: bool
) -> None:
    """Queue the repair writes of one copy of a block: only leaves that miss it are written.

    A column that was read from a live old disk was passed on by its `replacing` vdev already.
    """
    general, slot = general_of(table)[0], slots_of(table)[slot_number]
    vdev, child_leaf = vdevs_of(table)[vdev_number], child_leaf_of(table)
    klass = general.repair_class
    if vdev.kind == KIND_RAIDZ:
        plan = raidz_map(offset, psize, vdev.ashift, vdev.children, vdev.parity)
        for column in range(plan[0]):
            child, place, size = raidz_piece(column, plan[1], plan[2], plan[3], plan[4], plan[5], vdev.children)
            leaf = child_leaf[2 * (vdev.first_child + child) + 1]
            live = was_read and child_leaf[2 * (vdev.first_child + child)] >= 0
            if leaf >= 0 and not live:
                slot.writes += 1
                enqueue(table, leaf, klass, 1, place, size, OWNER_SCAN_WRITE, slot_number, FLAG_REPAIR)
    else:
        for child in range(vdev.first_child, vdev.first_child + vdev.children):
            if child_leaf[2 * child + 1] >= 0:
                slot.writes += 1
                enqueue(table, child_leaf[2 * child + 1], klass, 1, offset, psize, OWNER_SCAN_WRITE, slot_number, FLAG_REPAIR)


@njit
def reads_done(table: Any, slot_number: int) -> None:
    """Start the repair of a block whose reads have all arrived: its own DVA and every other copy."""
    slot = slots_of(table)[slot_number]
    item = items_of(table)[slot.item & table[ITEM_MASK]]
    if general_of(table)[0].scrub == 0:
        repair_copy(table, slot_number, item.vdev, item.offset, item.psize, True)
        for number in range(item.copies, item.copies + item.copy_count):
            copy = copies_of(table)[number & table[COPY_MASK]]
            repair_copy(table, slot_number, copy.vdev, copy.offset, item.psize, False)
    writes_done(table, slot_number)


@njit
def writes_done(table: Any, slot_number: int) -> None:
    """Count a finished repair write of a block; the last one frees its place (`kernel.run_streams` goes on)."""
    slot = slots_of(table)[slot_number]
    slot.writes -= 1
    if slot.writes > 0:
        return
    general, stream = general_of(table)[0], streams_of(table)[slot.stream]
    stream.inflight -= 1 if stream.counts_blocks else items_of(table)[slot.item & table[ITEM_MASK]].psize
    general.inflight_blocks -= 1
    general.last_scan = general.now
    if general.inflight_blocks == 0:
        general.idle_since = general.now
    slot.next = general.free_slot
    general.free_slot = slot_number
    general.free_slots += 1


@njit
def start_block(table: Any, stream_number: int, item_number: int) -> None:
    """Issue one scan block: take a slot of the window and queue its reads."""
    general, stream = general_of(table)[0], streams_of(table)[stream_number]
    item = items_of(table)[item_number & table[ITEM_MASK]]
    if general.first_scan < 0.0:
        general.first_scan = general.now
    if general.inflight_blocks == 0 and general.idle_since >= 0.0:
        general.idle_total += general.now - general.idle_since
    general.inflight_blocks += 1
    slot_number = general.free_slot
    slot = slots_of(table)[slot_number]
    general.free_slot = slot.next
    general.free_slots -= 1
    slot.item, slot.stream = item_number, stream_number
    stream.inflight += 1 if stream.counts_blocks else item.psize
    stream.issued_blocks += 1
    stream.issued_bytes += item.psize
    slot.reads, slot.writes = 0, 1
    reads = read_scan_block(table, slot_number, item.vdev, item.offset, item.psize)
    if general.scrub != 0:
        for number in range(item.copies, item.copies + item.copy_count):
            copy = copies_of(table)[number & table[COPY_MASK]]
            reads += read_scan_block(table, slot_number, copy.vdev, copy.offset, item.psize)
    if reads == 0:
        reads_done(table, slot_number)


@njit
def pass_on(table: Any, slot_number: int, leaf: int, offset: int, length: int) -> None:
    """Write what was read from a live old disk to its replacement (`replacing` vdev: vdev_mirror.c:vdev_mirror_io_done)."""
    general, slot = general_of(table)[0], slots_of(table)[slot_number]
    slot.writes += 1
    target = leaves_of(table)[leaf].replaced_by
    place = offset - general.label_bytes
    enqueue(table, target, general.repair_class, 1, place, length, OWNER_SCAN_WRITE, slot_number, FLAG_REPAIR)


@njit
def read_plainly(table: Any, item_number: int, klass: int, kind: int, owner: int, flags: int) -> int:
    """Queue a plain read of a block (metadata, a client's data); return the number of child reads.

    Data columns only, unless one of them is unreadable: then all columns that can be read
    (OpenZFS vdev_raidz.c:vdev_raidz_io_start).
    """
    item = items_of(table)[item_number & table[ITEM_MASK]]
    vdev, child_leaf = vdevs_of(table)[item.vdev], child_leaf_of(table)
    if vdev.kind == KIND_MIRROR:
        enqueue(table, mirror_choice(table, vdev, item.offset), klass, 0, item.offset, item.psize, kind, owner, flags)
        return 1
    plan = raidz_map(item.offset, item.psize, vdev.ashift, vdev.children, vdev.parity)
    reads, missing = 0, 0
    for column in range(plan[0] - 1, -1, -1):
        if column < vdev.parity and missing == 0:
            break
        child, place, size = raidz_piece(column, plan[1], plan[2], plan[3], plan[4], plan[5], vdev.children)
        leaf = child_leaf[2 * (vdev.first_child + child)]
        if leaf < 0:
            missing += 1
            continue
        reads += 1
        enqueue(table, leaf, klass, 0, place, size, kind, owner, flags)
    return reads


@njit
def heap_push(table: Any, item_number: int) -> None:
    """Put a metadata block on the prefetch heap (traversal order)."""
    heap, general = heap_of(table), general_of(table)[0]
    place = general.heap_size
    general.heap_size += 1
    while place > 0 and heap[(place - 1) // 2] > item_number:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = item_number


@njit
def heap_pop(table: Any) -> int:
    """Take the metadata block that the traversal needs first from the prefetch heap."""
    heap, general = heap_of(table), general_of(table)[0]
    top = heap[0]
    general.heap_size -= 1
    last, size, place = heap[general.heap_size], general.heap_size, 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] >= last:
            break
        heap[place] = heap[below]
        place = below
    heap[place] = last
    return int(top)


@njit
def fetch_metadata(table: Any, item_number: int) -> None:
    """Start the read of a metadata block."""
    general, item = general_of(table)[0], items_of(table)[item_number & table[ITEM_MASK]]
    item.metadata_state = META_IN_FLIGHT
    general.metadata_inflight += 1
    general.prefetch_bytes += item.psize
    item.metadata_left = 1 << 20
    reads = read_plainly(table, item_number, general.metadata_class, OWNER_METADATA, item_number, FLAG_METADATA)
    item.metadata_left -= (1 << 20) - reads


@njit
def want_metadata(table: Any, item_number: int) -> None:
    """Queue the prefetchable metadata below a block that is now in memory (dsl_scan.c:dsl_scan_prefetch_cb)."""
    items = items_of(table)
    child = items[item_number & table[ITEM_MASK]].prefetch_first
    while child >= 0:
        item = items[child & table[ITEM_MASK]]
        if item.metadata_state == META_ABSENT:
            item.metadata_state = META_WANTED
            heap_push(table, child)
        child = item.prefetch_next


@njit
def run_prefetch(table: Any) -> None:
    """Let the prefetch thread start what fits its limit (OpenZFS 0.8+ dsl_scan.c:dsl_scan_prefetch_thread)."""
    general = general_of(table)[0]
    while general.heap_size > 0 and general.running != 0 and general.prefetch_bytes < general.prefetch_limit:
        item_number = heap_pop(table)
        if items_of(table)[item_number & table[ITEM_MASK]].metadata_state == META_WANTED:
            fetch_metadata(table, item_number)


@njit
def metadata_arrived(table: Any, item_number: int) -> None:
    """Take a finished metadata read into memory; in the sorted scan it lets the prefetch go deeper."""
    general, item = general_of(table)[0], items_of(table)[item_number & table[ITEM_MASK]]
    item.metadata_state = META_PRESENT
    general.metadata_inflight -= 1
    general.prefetch_bytes -= item.psize
    if general.prefetch_recursive != 0:
        want_metadata(table, item_number)
        run_prefetch(table)


@njit
def client_slot(table: Any, client: int) -> int:
    """Return the event slot of a foreground client."""
    return int(table[N_LEAVES] * table[N_SERVERS] + table[N_LINKS] + table[N_LEAVES] + client)


@njit
def stream_slot(table: Any, stream: int) -> int:
    """Return the event slot of a scan stream's delay."""
    return client_slot(table, table[N_CLIENTS]) + stream


@njit
def client_reads(table: Any, client_number: int) -> None:
    """Let a foreground client read a random block."""
    general, client = general_of(table)[0], clients_of(table)[client_number]
    event_times_of(table)[client_slot(table, client_number)] = FOREVER
    pick = int(mixed(client.seed, 2 * client.count) * table[N_CLIENT_ITEMS])
    client.started = general.now
    general.last_client = general.now
    client.left = 1 << 20
    item_number = client_items_of(table)[pick]
    reads = read_plainly(table, item_number, SYNC_READ, OWNER_CLIENT, client_number, FLAG_NORMAL)
    client.left -= (1 << 20) - reads


@njit
def client_thinks(table: Any, client_number: int) -> None:
    """Let a client think for an exponential time before it reads again."""
    general, client = general_of(table)[0], clients_of(table)[client_number]
    think = -log(mixed(client.seed, 2 * client.count + 1)) * client.think
    client.count += 1
    event_times_of(table)[client_slot(table, client_number)] = general.now + think


@njit
def client_done(table: Any, client_number: int) -> None:
    """Finish a client's read."""
    general, client = general_of(table)[0], clients_of(table)[client_number]
    general.client_reads += 1
    general.client_latency += general.now - client.started
    client_thinks(table, client_number)


@njit
def child_done(table: Any, kind: int, owner: int) -> None:
    """Tell the owner of a child I/O that it is done."""
    if kind == OWNER_SCAN_READ:
        slot = slots_of(table)[owner]
        slot.reads -= 1
        if slot.reads == 0:
            reads_done(table, owner)
    elif kind == OWNER_SCAN_WRITE:
        writes_done(table, owner)
    elif kind == OWNER_METADATA:
        item = items_of(table)[owner & table[ITEM_MASK]]
        item.metadata_left -= 1
        if item.metadata_left == 0:
            metadata_arrived(table, owner)
    elif kind == OWNER_GROUP:
        general_of(table)[0].group_left -= 1
    else:
        client = clients_of(table)[owner]
        client.left -= 1
        if client.left == 0:
            client_done(table, owner)


@njit
def count_command(table: Any, number: int) -> None:
    """Add a finished command to its leaf's counters and, where wanted, to the record."""
    general, command = general_of(table)[0], commands_of(table)[number]
    state = leaves_of(table)[command.leaf]
    state.response += general.now - command.submitted
    if command.write:
        state.writes += 1
        state.write_bytes += command.length
        state.scan_writes += command.scan
        state.scan_write_bytes += command.scan * command.length
    else:
        state.reads += 1
        state.read_bytes += command.length
        state.scan_reads += command.scan
        state.scan_read_bytes += command.scan * command.length
    if general.records < table[N_RECORDS]:
        record = records_of(table)[general.records]
        record.submitted, record.started, record.done = command.submitted, command.started, general.now
        record.offset, record.length, record.leaf = command.offset, command.length, command.leaf
        record.klass, record.write, record.scan = command.klass, command.write, command.scan
        record.aggregated = command.aggregated
        general.records += 1


@njit
def forget_command(table: Any, number: int) -> None:
    """Return a command to the pool."""
    general = general_of(table)[0]
    commands_of(table)[number].next = general.free_command
    general.free_command = number


@njit
def finish_command(table: Any, number: int) -> None:
    """Complete a command towards ZFS: the queue issues more, then the parents of its child I/Os hear of it.

    Source of the order: OpenZFS vdev_queue.c:vdev_queue_io_done comes before the parents' zio_done.
    """
    general, command = general_of(table)[0], commands_of(table)[number]
    count_command(table, number)
    leaf = command.leaf
    account_done(table, leaf, command.klass)
    if general.single_queue != 0:
        for _ in range(general.ramp):
            issue_one(table, leaf, general.max_pending)
    else:
        while issue_one(table, leaf, 0):
            pass
    children = children_of(table)
    chain = command.first_child
    while chain >= 0:
        child = children[chain]
        kind, owner, following = child.kind, child.owner, child.next
        if kind == OWNER_SCAN_COPY:
            pass_on(table, owner, leaf, child.offset, child.length)
            kind = OWNER_SCAN_READ
        child.next = general.free_child
        general.free_child = chain
        child_done(table, kind, owner)
        chain = following


@njit
def delay_end(general: Any) -> float:
    """Return when a scan thread that sleeps `delay_ticks` from now wakes: at a tick of the clock [s]."""
    return float((floor(general.now / general.tick) + general.delay_ticks) * general.tick)


@njit
def streams_count(table: Any) -> int:
    """Return the number of scan streams."""
    return int(table[N_STREAMS])


SCAN_CLASS, REPAIR_CLASS = SCRUB, ASYNC_WRITE
__all__ = ["MIRROR_BY_OFFSET", "MIRROR_BY_PENDING"]
