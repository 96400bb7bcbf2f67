"""Blocks, metadata and clients: how scan operations become child I/Os, and what their completion sets off."""

from __future__ import annotations

from math import floor, log
from typing import Any

from zsim.base.jit import njit, word_of
from zsim.drives.physics.draws import mixed
from zsim.engine.codes import (
    FLAG_METADATA,
    FLAG_NORMAL,
    FLAG_REPAIR,
    FOREVER,
    META_ABSENT,
    META_IN_FLIGHT,
    META_PRESENT,
    META_WANTED,
    SYNC_READ,
    SYNC_WRITE,
)
from zsim.engine.compiled.issue import enqueue, issue_one
from zsim.engine.compiled.memory import (
    COPY_MASK,
    ITEM_MASK,
    N_CLIENTS,
    N_LEAVES,
    N_LINKS,
    N_RECORDS,
    N_SERVERS,
    OWNER_CLIENT,
    OWNER_GROUP,
    OWNER_METADATA,
    OWNER_SCAN_COPY,
    OWNER_SCAN_READ,
    OWNER_SCAN_WRITE,
    RANDOM_READ,
    SYNC_WRITES,
    children_of,
    client_items_of,
    clients_of,
    commands_of,
    copies_of,
    event_times_of,
    general_of,
    heap_of,
    items_of,
    leaves_of,
    queue_rules_of,
    records_of,
    scan_rules_of,
    slots_of,
    streams_of,
)
from zsim.engine.compiled.queue import (
    account_done,
)
from zsim.engine.compiled.vdev import read_plainly, read_scan_block, repair_copy, write_plainly


@njit
def reads_done(table: Any, slot_number: int) -> None:
    """Start the repair of a block whose reads have all arrived: first of the DVA that was read."""
    slot = slots_of(table)[slot_number]
    item = items_of(table)[slot.item & word_of(table, ITEM_MASK)]
    if scan_rules_of(table)[0].scrub == 0:
        repair_copy(table, slot_number, item.vdev, item.offset, item.psize, True)
    writes_done(table, slot_number)


@njit
def repair_others(table: Any, slot_number: int) -> None:
    """Queue the repair of the other DVAs of a block.

    They wait for the repair of the one that was read: its read ends with it (OpenZFS zio.c:zio_vdev_io_assess
    waits for the children), and only then vdev_mirror.c:vdev_mirror_io_done looks at the others.
    """
    slot = slots_of(table)[slot_number]
    item = items_of(table)[slot.item & word_of(table, ITEM_MASK)]
    for number in range(item.copies, item.copies + item.copy_count):
        copy = copies_of(table)[number & word_of(table, COPY_MASK)]
        repair_copy(table, slot_number, copy.vdev, copy.offset, item.psize, False)


@njit
def writes_done(table: Any, slot_number: int) -> None:
    """Count a finished repair write; the last one of a block frees its place (`run_streams` goes on)."""
    slot = slots_of(table)[slot_number]
    slot.writes -= 1
    if slot.writes == 0 and slot.others != 0:
        slot.others = 0
        repair_others(table, slot_number)
    if slot.writes > 0:
        return
    general, stream = general_of(table)[0], streams_of(table)[slot.stream]
    stream.inflight -= (
        1 if stream.counts_blocks else items_of(table)[slot.item & word_of(table, ITEM_MASK)].psize
    )
    general.inflight_blocks -= 1
    if slot.epoch != general.epoch:
        general.epoch_left -= 1
    general.last_scan = general.now
    if general.inflight_blocks == 0:
        general.idle_since = general.now
    slot.next = general.free_slot - slot_number - 1
    general.free_slot = slot_number
    general.free_slots += 1


@njit
def start_block(table: Any, stream_number: int, item_number: int) -> None:
    """Issue one scan block: take a slot of the window and queue its reads."""
    general, stream = general_of(table)[0], streams_of(table)[stream_number]
    item = items_of(table)[item_number & word_of(table, ITEM_MASK)]
    if general.first_scan < 0.0:
        general.first_scan = general.now
    if general.inflight_blocks == 0 and general.idle_since >= 0.0:
        general.idle_total += general.now - general.idle_since
    general.inflight_blocks += 1
    slot_number = general.free_slot
    slot = slots_of(table)[slot_number]
    general.free_slot = slot_number + 1 + slot.next
    general.free_slots -= 1
    slot.item, slot.stream, slot.epoch = item_number, stream_number, general.epoch
    stream.inflight += 1 if stream.counts_blocks else item.psize
    stream.issued_blocks += 1
    stream.issued_bytes += item.psize
    slot.reads, slot.writes, slot.others = 0, 1, 1 - scan_rules_of(table)[0].scrub
    reads = read_scan_block(table, slot_number, item.vdev, item.offset, item.psize)
    if scan_rules_of(table)[0].scrub != 0:
        for number in range(item.copies, item.copies + item.copy_count):
            copy = copies_of(table)[number & word_of(table, COPY_MASK)]
            reads += read_scan_block(table, slot_number, copy.vdev, copy.offset, item.psize)
    if reads == 0:
        reads_done(table, slot_number)


@njit
def pass_on(table: Any, slot_number: int, leaf: int, offset: int, length: int) -> None:
    """Write what was read from a live old disk to its replacement (vdev_mirror.c:vdev_mirror_io_done).

    The read counts as done when the write is (zio.c:zio_vdev_io_assess).
    """
    target, klass = leaves_of(table)[leaf].replaced_by, scan_rules_of(table)[0].repair_class
    place = offset - general_of(table)[0].label_bytes
    enqueue(table, target, klass, 1, place, length, OWNER_SCAN_READ, slot_number, FLAG_REPAIR)


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
    general, item = general_of(table)[0], items_of(table)[item_number & word_of(table, ITEM_MASK)]
    klass = scan_rules_of(table)[0].metadata_class
    item.metadata_state = META_IN_FLIGHT
    general.metadata_inflight += 1
    general.prefetch_bytes += item.psize
    item.metadata_left = 1 << 20
    reads = read_plainly(table, item_number, klass, OWNER_METADATA, item_number, FLAG_METADATA)
    item.metadata_left -= (1 << 20) - reads


@njit
def want_metadata(table: Any, item_number: int) -> None:
    """Queue the prefetchable metadata below a block now in memory (dsl_scan.c:dsl_scan_prefetch_cb)."""
    items = items_of(table)
    child = items[item_number & word_of(table, ITEM_MASK)].prefetch_first
    while child >= 0:
        item = items[child & word_of(table, ITEM_MASK)]
        if item.metadata_state == META_ABSENT:
            item.metadata_state = META_WANTED
            heap_push(table, child)
        child = item.prefetch_next


@njit
def run_prefetch(table: Any) -> None:
    """Let the prefetch thread start what fits its limit (0.8+ dsl_scan.c:dsl_scan_prefetch_thread)."""
    general, limit = general_of(table)[0], scan_rules_of(table)[0].prefetch_limit
    while general.heap_size > 0 and general.running != 0 and general.prefetch_bytes < limit:
        item_number = heap_pop(table)
        if items_of(table)[item_number & word_of(table, ITEM_MASK)].metadata_state == META_WANTED:
            fetch_metadata(table, item_number)


@njit
def metadata_arrived(table: Any, item_number: int) -> None:
    """Take a finished metadata read into memory; in the sorted scan it lets the prefetch go deeper."""
    general, item = general_of(table)[0], items_of(table)[item_number & word_of(table, ITEM_MASK)]
    item.metadata_state = META_PRESENT
    general.metadata_inflight -= 1
    general.prefetch_bytes -= item.psize
    if scan_rules_of(table)[0].prefetch_recursive != 0:
        want_metadata(table, item_number)
        run_prefetch(table)


@njit
def client_slot(table: Any, client: int) -> int:
    """Return the event slot of a foreground client."""
    return int(
        word_of(table, N_LEAVES) * word_of(table, N_SERVERS)
        + word_of(table, N_LINKS)
        + word_of(table, N_LEAVES)
        + client
    )


@njit
def stream_slot(table: Any, stream: int) -> int:
    """Return the event slot of a scan stream's delay."""
    return client_slot(table, word_of(table, N_CLIENTS)) + stream


@njit
def client_reads(table: Any, client_number: int) -> None:
    """Let a foreground client read random blocks or the next ones, or write the next blocks of the log."""
    general, client = general_of(table)[0], clients_of(table)[client_number]
    event_times_of(table)[client_slot(table, client_number)] = FOREVER
    if client.mode == RANDOM_READ:
        pick = int(mixed(client.seed, 2 * client.count) * client.items)
    else:
        pick, client.place = client.place, (client.place + client.blocks) % client.items
    client.started = general.now
    general.last_client = general.now
    client.left = 1 << 20
    asked = 0
    for block in range(client.blocks):
        item_number = client_items_of(table)[client.first + (pick + block) % client.items]
        if client.mode == SYNC_WRITES:
            asked += write_plainly(table, item_number, SYNC_WRITE, OWNER_CLIENT, client_number, FLAG_NORMAL)
        else:
            asked += read_plainly(table, item_number, SYNC_READ, OWNER_CLIENT, client_number, FLAG_NORMAL)
    client.left -= (1 << 20) - asked


@njit
def client_thinks(table: Any, client_number: int) -> None:
    """Let a client think for an exponential time before it reads again."""
    general, client = general_of(table)[0], clients_of(table)[client_number]
    think = -log(mixed(client.seed, 2 * client.count + 1)) * client.think
    client.count += 1
    event_times_of(table)[client_slot(table, client_number)] = general.now + think


@njit
def client_done(table: Any, client_number: int) -> None:
    """Finish a client's request."""
    general, client = general_of(table)[0], clients_of(table)[client_number]
    client.answered += 1
    client.latency += general.now - client.started
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
        item = items_of(table)[owner & word_of(table, ITEM_MASK)]
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
    if general.records < word_of(table, N_RECORDS):
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
    commands_of(table)[number].next = general.free_command - number - 1
    general.free_command = number


@njit
def finish_command(table: Any, number: int) -> None:
    """Complete a command towards ZFS: the queue issues more, then the parents of its child I/Os hear of it.

    Source of the order: OpenZFS vdev_queue.c:vdev_queue_io_done comes before the parents' zio_done.
    """
    general, command, rules = general_of(table)[0], commands_of(table)[number], queue_rules_of(table)[0]
    count_command(table, number)
    leaf = command.leaf
    account_done(table, leaf, command.klass)
    if rules.single != 0:
        for _ in range(rules.ramp):
            issue_one(table, leaf, rules.max_pending)
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
        child.next = general.free_child - chain - 1
        general.free_child = chain
        if kind != OWNER_SCAN_COPY:
            child_done(table, kind, owner)
        chain = following


@njit
def delay_end(table: Any) -> float:
    """Return when a scan thread that sleeps `delay_ticks` from now wakes: at a tick of the clock [s]."""
    rules = scan_rules_of(table)[0]
    return float((floor(general_of(table)[0].now / rules.tick_s) + rules.delay_ticks) * rules.tick_s)
