"""Blocks and metadata of a scan: its operations as child I/Os, and what their completion triggers."""

from __future__ import annotations

from math import floor

from zsim.base.arrays import Table
from zsim.base.jit import njit, word_of
from zsim.engine.codes import (
    AHEAD_S,
    FLAG_REPAIR,
    META_ABSENT,
    META_HELD,
    META_PRESENT,
    META_WANTED,
    STREAM_BUSY,
    STREAM_DELAY,
    STREAM_FINISHED,
    STREAM_METADATA,
    STREAM_PAUSED,
    STREAM_READY,
    STREAM_WINDOW,
)
from zsim.engine.compiled.clients import client_done, is_sought, wake_clients
from zsim.engine.compiled.events import set_event
from zsim.engine.compiled.free_children import free_child
from zsim.engine.compiled.memory import (
    COPY_MASK,
    ITEM_MASK,
    N_RECORDS,
    N_STREAMS,
    OWNER_DEMAND,
    OWNER_GROUP,
    OWNER_METADATA,
    OWNER_SCAN_COPY,
    OWNER_SCAN_READ,
    OWNER_SCAN_WRITE,
    PROGRAM_MASK,
    children_of,
    clients_of,
    commands_of,
    copies_of,
    general_of,
    items_of,
    leaves_of,
    program_of,
    queue_rules_of,
    records_of,
    scan_rules_of,
    slots_of,
    stream_slot,
    streams_of,
)
from zsim.engine.compiled.prefetch import fetch_metadata, has_room, run_prefetch, want_metadata
from zsim.engine.compiled.queue import (
    account_done,
    enqueue,
    issue_one,
)
from zsim.engine.compiled.sitting import note_read
from zsim.engine.compiled.vdev import read_scan_block, repair_copy
from zsim.scan.program import OP_ISSUE, OP_PREFETCH, OP_VISIT


@njit
def reads_done(table: Table, slot_number: int) -> None:
    """Start the repair of a block whose reads have all arrived: first of the DVA that was read.

    Parameters
    ----------
    table, slot_number
        The engine's memory, and the block's place among those in flight.

    Notes
    -----
    OpenZFS vdev_mirror.c, zio.c:zio_vdev_io_start: one DVA is read, and every other whose vdev misses the
    block's txg is written from it (`writes_done` begins with those).  In a scrub the DVA that was read is
    not written.
    """
    slot = slots_of(table)[slot_number]
    item = items_of(table)[slot.item & word_of(table, ITEM_MASK)]
    if scan_rules_of(table)[0].scrub == 0:
        repair_copy(table, slot_number, item.vdev, item.offset, item.psize, item.columns, True)
    writes_done(table, slot_number)


@njit
def repair_others(table: Table, slot_number: int) -> None:
    """Queue the repair of the other DVAs of a block.

    They wait for the repair of the one that was read: its read ends with it (OpenZFS zio.c:zio_vdev_io_assess
    waits for the children), and only then vdev_mirror.c:vdev_mirror_io_done looks at the others.
    """
    slot = slots_of(table)[slot_number]
    item = items_of(table)[slot.item & word_of(table, ITEM_MASK)]
    for number in range(item.copies, item.copies + item.copy_count):
        copy = copies_of(table)[number & word_of(table, COPY_MASK)]
        repair_copy(table, slot_number, copy.vdev, copy.offset, item.psize, copy.columns, False)


@njit
def writes_done(table: Table, slot_number: int) -> None:
    """Count a finished repair write; the last one of a block frees its place in the window.

    Parameters
    ----------
    table, slot_number
        The engine's memory, and the block's place among those in flight.

    Notes
    -----
    Where other copies are to be repaired these follow first.  The window then has room for 1 block (0.7 and
    before) or psize bytes more (OpenZFS dsl_scan.c:dsl_scan_scrub_done); `run_streams` goes on.
    """
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
def work(table: Table, stream_number: int, seconds: float) -> None:
    """Let a scan thread need the processor for so long, after all that it was given before [s]."""
    stream = streams_of(table)[stream_number]
    stream.free_at = max(stream.free_at, general_of(table)[0].now) + seconds


@njit
def start_block(table: Table, stream_number: int, item_number: int) -> None:
    """Issue one scan block: take a slot of the window and queue its reads.

    Parameters
    ----------
    table
        Memory of the plane.
    stream_number, item_number : int
        Which stream issues which block.

    Notes
    -----
    OpenZFS dsl_scan.c:scan_exec_io (to 0.7 dsl_scan_scrub_cb).  A scrub reads all copies of a block, a
    resilver the one whose vdev lost a part of it.
    """
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
    stream.issuing_s += scan_rules_of(table)[0].issue_s
    work(table, stream_number, scan_rules_of(table)[0].issue_s)
    slot.reads, slot.writes, slot.others = 0, 1, 1 - scan_rules_of(table)[0].scrub
    reads = read_scan_block(table, slot_number, item.vdev, item.offset, item.psize, item.columns)
    if scan_rules_of(table)[0].scrub != 0:
        for number in range(item.copies, item.copies + item.copy_count):
            copy = copies_of(table)[number & word_of(table, COPY_MASK)]
            reads += read_scan_block(table, slot_number, copy.vdev, copy.offset, item.psize, copy.columns)
    if reads == 0:
        reads_done(table, slot_number)


@njit
def pass_on(table: Table, slot_number: int, leaf: int, offset: int, length: int) -> None:
    """Write what was read from a live old disk to its replacement (vdev_mirror.c:vdev_mirror_io_done).

    The read counts as done when the write is (zio.c:zio_vdev_io_assess).
    """
    target, klass = leaves_of(table)[leaf].replaced_by, scan_rules_of(table)[0].repair_class
    place = offset - general_of(table)[0].label_bytes
    enqueue(table, target, klass, 1, place, length, OWNER_SCAN_READ, slot_number, FLAG_REPAIR)


@njit
def metadata_arrived(table: Table, item_number: int, demanded: bool) -> None:
    """Take a finished metadata read into memory; in the sorted scan it lets the prefetch go deeper.

    Parameters
    ----------
    table, item_number, demanded
        The engine's memory, which block, and whether a client read it.

    Notes
    -----
    OpenZFS dsl_scan.c:dsl_scan_prefetch_cb (0.8 and later) wants the children of what has arrived; before 0.8
    only a block that is visited asks for its children (dsl_scan_prefetch).
    """
    general, item = general_of(table)[0], items_of(table)[item_number & word_of(table, ITEM_MASK)]
    item.metadata_state = META_HELD if demanded and not is_sought(table, item_number) else META_PRESENT
    if not demanded:
        general.metadata_inflight -= 1
        general.prefetch_bytes -= item.psize
    if scan_rules_of(table)[0].prefetch_recursive != 0 and item.metadata_state == META_PRESENT:
        want_metadata(table, item_number)
        run_prefetch(table)
    if general.cold != 0:
        wake_clients(table, item_number)


@njit
def child_done(table: Table, kind: int, owner: int) -> None:
    """Tell the owner of a child I/O that it is done."""
    if kind == OWNER_SCAN_READ:
        slot = slots_of(table)[owner]
        slot.reads -= 1
        if slot.reads == 0:
            reads_done(table, owner)
    elif kind == OWNER_SCAN_WRITE:
        writes_done(table, owner)
    elif kind in (OWNER_METADATA, OWNER_DEMAND):
        item = items_of(table)[owner & word_of(table, ITEM_MASK)]
        item.metadata_left -= 1
        if item.metadata_left == 0:
            metadata_arrived(table, owner, kind == OWNER_DEMAND)
    elif kind == OWNER_GROUP:
        general_of(table)[0].group_left -= 1
    else:
        client = clients_of(table)[owner]
        client.left -= 1
        if client.left == 0:
            client_done(table, owner)


@njit
def count_command(table: Table, number: int) -> None:
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
        note_read(table, command.leaf, general.now - command.submitted)
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
def forget_command(table: Table, number: int) -> None:
    """Return a command to the pool."""
    general = general_of(table)[0]
    commands_of(table)[number].next = general.free_command - number - 1
    general.free_command = number


@njit
def finish_command(table: Table, number: int) -> None:
    """Complete a command towards ZFS: the queue issues more, then the parents of its child I/Os hear of it.

    Source of the order: OpenZFS vdev_queue.c:vdev_queue_io_done comes before the parents' zio_done.
    """
    command, rules = commands_of(table)[number], queue_rules_of(table)[0]
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
        free_child(table, leaf, chain)
        if kind != OWNER_SCAN_COPY:
            child_done(table, kind, owner)
        chain = following


@njit
def delay_end(table: Table) -> float:
    """Return when a scan thread that sleeps from now on wakes [s].

    Parameters
    ----------
    table : Table
        The engine's memory.

    Returns
    -------
    float
        The tick of the clock that is `delay_ticks` behind the last one: a sleep is cut to whole ticks.

    Notes
    -----
    OpenZFS to 0.7 dsl_scan.c:dsl_scan_scrub_cb, ``delay(scan_delay)``: zfs_resilver_delay, zfs_scrub_delay.
    """
    rules = scan_rules_of(table)[0]
    return float((floor(general_of(table)[0].now / rules.tick_s) + rules.delay_ticks) * rules.tick_s)


@njit
def issue_in_turn(table: Table, stream_number: int, item_number: int) -> int:
    """Issue one scan block if window and clients let it.

    Parameters
    ----------
    table
        Memory of the plane.
    stream_number, item_number : int
        Which stream issues which block.

    Returns
    -------
    int
        The stream's state: ready when it is issued; waiting for the window; or delayed.

    Notes
    -----
    To 0.7 a scan waits some ticks before each block while clients were active within ``zfs_scan_idle``
    (OpenZFS dsl_scan.c:dsl_scan_scrub_cb, zfs_resilver_delay, zfs_scrub_delay).
    """
    general, stream = general_of(table)[0], streams_of(table)[stream_number]
    rules = scan_rules_of(table)[0]
    if general.free_slots == 0 or not has_room(table, stream_number):
        return STREAM_WINDOW
    if (
        rules.delay_ticks > 0
        and stream.delayed == 0
        and general.now - general.last_client <= rules.idle_window_s
    ):
        stream.delayed = 1
        set_event(table, stream_slot(table, stream_number), delay_end(table))
        return STREAM_DELAY
    stream.delayed = 0
    start_block(table, stream_number, item_number)
    return STREAM_READY


@njit
def step_issue(table: Table, stream_number: int, item_number: int) -> int:
    """Try to issue one scan block; return the stream's state.

    Ready: it was issued, or the scan pauses here and the blocks above it come next.
    """
    general, stream = general_of(table)[0], streams_of(table)[stream_number]
    item = items_of(table)[item_number & word_of(table, ITEM_MASK)]
    if (
        general.now >= general.pause_at
        and stream.delayed == 0
        and (scan_rules_of(table)[0].pause_level0_only == 0 or item.level0 != 0)
    ):
        stream.unwind = item.unwind
        return STREAM_PAUSED if stream.unwind < 0 else STREAM_READY
    return issue_in_turn(table, stream_number, item_number)


@njit
def step_unwind(table: Table, stream_number: int) -> int:
    """Try to issue the next of the blocks above the one at which the scan paused; the last ends it.

    The traversal returns through the callbacks of all its levels, and does so again when these subtrees are
    done in a later txg (OpenZFS dsl_scan.c:dsl_scan_visitbp does not look at scn_suspending after
    dsl_scan_recurse).
    """
    stream = streams_of(table)[stream_number]
    item_number = stream.unwind
    state = issue_in_turn(table, stream_number, item_number)
    if state != STREAM_READY:
        return state
    stream.unwind = items_of(table)[item_number & word_of(table, ITEM_MASK)].unwind
    return STREAM_PAUSED if stream.unwind < 0 else STREAM_READY


@njit
def step_visit(table: Table, stream_number: int, item_number: int) -> int:
    """Visit a metadata block, which must be in memory first.

    Parameters
    ----------
    table
        Memory of the plane.
    stream_number, item_number : int
        Which stream visits which block.

    Returns
    -------
    int
        The stream's state: ready; waiting for the block; or paused, which it may only do here
        (OpenZFS dsl_scan.c:dsl_scan_check_suspend).

    Notes
    -----
    OpenZFS dsl_scan.c:dsl_scan_recurse.
    """
    general, stream = general_of(table)[0], streams_of(table)[stream_number]
    item = items_of(table)[item_number & word_of(table, ITEM_MASK)]
    if item.metadata_state >= META_PRESENT:
        item.metadata_state = META_PRESENT
        if stream.first_visit < 0.0:
            stream.first_visit = general.now
        stream.last_visit = general.now
        general.visiting_s += general.visit_s
        work(table, stream_number, general.visit_s)
        if scan_rules_of(table)[0].prefetch_recursive != 0:
            want_metadata(table, item_number)
            run_prefetch(table)
        return STREAM_READY
    if general.now >= general.pause_at and scan_rules_of(table)[0].pause_level0_only == 0:
        return STREAM_PAUSED
    if item.metadata_state in (META_ABSENT, META_WANTED):
        fetch_metadata(table, item_number)
        return STREAM_METADATA if item.metadata_state != META_PRESENT else STREAM_READY
    return STREAM_METADATA


@njit
def run_stream(table: Table, stream_number: int) -> None:
    """Let one scan stream go on until it has to wait for something.

    Parameters
    ----------
    table : Table
        The engine's memory.
    stream_number : int
        The traversal, or the issue thread of one top-level vdev.

    Notes
    -----
    It carries out its part of the program step by step: issues blocks while the window has room, visits
    metadata and waits for what is not in memory, prefetches.  Its state says for what it waits.
    """
    stream, program = streams_of(table)[stream_number], program_of(table)
    while stream.state == STREAM_READY:
        if stream.free_at > general_of(table)[0].now + AHEAD_S:
            stream.state = STREAM_BUSY
            set_event(table, stream_slot(table, stream_number), stream.free_at)
            return
        if stream.unwind >= 0:
            stream.state = step_unwind(table, stream_number)
            continue
        if stream.position >= stream.end:
            stream.state = STREAM_FINISHED
            return
        operation = program[stream.position & word_of(table, PROGRAM_MASK)]
        if operation.code == OP_ISSUE:
            stream.state = step_issue(table, stream_number, operation.item)
            if stream.state != STREAM_READY or stream.unwind >= 0:
                continue
        elif operation.code == OP_VISIT:
            stream.state = step_visit(table, stream_number, operation.item)
            if stream.state != STREAM_READY:
                return
        elif operation.code == OP_PREFETCH:
            item = items_of(table)[operation.item & word_of(table, ITEM_MASK)]
            if item.metadata_state == META_ABSENT:
                fetch_metadata(table, operation.item)
        stream.position += 1


@njit
def run_streams(table: Table) -> None:
    """Let every scan stream go on as far as it can."""
    general, streams, program = general_of(table)[0], streams_of(table), program_of(table)
    if general.running == 0:
        return
    if general.heap_size > 0:
        run_prefetch(table)
    for number in range(word_of(table, N_STREAMS)):
        stream = streams[number]
        if stream.state == STREAM_METADATA:
            operation = program[stream.position & word_of(table, PROGRAM_MASK)]
            if items_of(table)[operation.item & word_of(table, ITEM_MASK)].metadata_state == META_PRESENT:
                stream.state = STREAM_READY
        elif stream.state == STREAM_WINDOW and general.free_slots > 0 and has_room(table, number):
            stream.state = STREAM_READY
        if stream.state == STREAM_READY:
            run_stream(table, number)
