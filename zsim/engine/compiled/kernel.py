"""The compiled data plane: advance all leaf queues, drives and links to the next control event.

``advance(table, until, budget)`` changes the state in place and says why it came back.  Its result is the
same to the bit for every way of slicing the time axis.
"""

from __future__ import annotations

from typing import Any

from zsim.base.jit import bare, njit, word_of
from zsim.engine.codes import (
    EXIT_BUDGET,
    EXIT_DRAINED,
    EXIT_EPOCH,
    EXIT_GROUP,
    EXIT_HORIZON,
    EXIT_RECORD,
    EXIT_REFILL,
    EXIT_STALLED,
    FLAG_NORMAL,
    FOREVER,
    META_ABSENT,
    META_PRESENT,
    META_WANTED,
    STREAM_DELAY,
    STREAM_FINISHED,
    STREAM_METADATA,
    STREAM_PAUSED,
    STREAM_READY,
    STREAM_WINDOW,
)
from zsim.engine.compiled.drive import (
    device_event,
    device_slots,
    flush_cache,
    next_slot,
)
from zsim.engine.compiled.issue import enqueue
from zsim.engine.compiled.memory import (
    ITEM_MASK,
    N_CLIENTS,
    N_LEAVES,
    N_RECORDS,
    N_STREAMS,
    OWNER_GROUP,
    PROGRAM_MASK,
    event_times_of,
    general_of,
    items_of,
    program_of,
    scan_rules_of,
    streams_of,
)
from zsim.engine.compiled.scan import (
    client_reads,
    client_thinks,
    delay_end,
    fetch_metadata,
    finish_command,
    forget_command,
    run_prefetch,
    start_block,
    stream_slot,
    want_metadata,
)
from zsim.scan.program import OP_ISSUE, OP_PREFETCH, OP_VISIT


@njit
def issue_in_turn(table: Any, stream_number: int, item_number: int) -> int:
    """Issue one scan block if window and clients let it; return the stream's state (ready: issued)."""
    general, stream = general_of(table)[0], streams_of(table)[stream_number]
    rules = scan_rules_of(table)[0]
    if stream.inflight >= stream.limit or general.free_slots == 0:
        return STREAM_WINDOW
    if (
        rules.delay_ticks > 0
        and stream.delayed == 0
        and general.now - general.last_client <= rules.idle_window_s
    ):
        stream.delayed = 1
        event_times_of(table)[stream_slot(table, stream_number)] = delay_end(table)
        return STREAM_DELAY
    stream.delayed = 0
    start_block(table, stream_number, item_number)
    return STREAM_READY


@njit
def step_issue(table: Any, stream_number: int, item_number: int) -> int:
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
def step_unwind(table: Any, stream_number: int) -> int:
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
def step_visit(table: Any, stream_number: int, item_number: int) -> int:
    """Visit a metadata block: it must be in memory first; return the stream's state."""
    general, stream = general_of(table)[0], streams_of(table)[stream_number]
    item = items_of(table)[item_number & word_of(table, ITEM_MASK)]
    if item.metadata_state == META_PRESENT:
        if stream.first_visit < 0.0:
            stream.first_visit = general.now
        stream.last_visit = general.now
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
def run_stream(table: Any, stream_number: int) -> None:
    """Let one scan stream go on until it has to wait for something."""
    stream, program = streams_of(table)[stream_number], program_of(table)
    while stream.state == STREAM_READY:
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
def run_streams(table: Any) -> None:
    """Let every scan stream go on as far as it can."""
    general, streams, program = general_of(table)[0], streams_of(table), program_of(table)
    if general.running == 0:
        return
    for number in range(word_of(table, N_STREAMS)):
        stream = streams[number]
        if stream.state == STREAM_METADATA:
            operation = program[stream.position & word_of(table, PROGRAM_MASK)]
            if items_of(table)[operation.item & word_of(table, ITEM_MASK)].metadata_state == META_PRESENT:
                stream.state = STREAM_READY
        elif stream.state == STREAM_WINDOW and stream.inflight < stream.limit and general.free_slots > 0:
            stream.state = STREAM_READY
        if stream.state == STREAM_READY:
            run_stream(table, number)


@njit
def is_drained(table: Any) -> bool:
    """Tell whether every stream is paused or finished and nothing of the scan is in flight."""
    general, streams = general_of(table)[0], streams_of(table)
    if general.running == 0 or general.inflight_blocks > 0 or general.metadata_inflight > 0:
        return False
    for number in range(word_of(table, N_STREAMS)):
        state = streams[number].state
        if state not in (STREAM_PAUSED, STREAM_FINISHED):
            return False
    return True


@njit
def handle(table: Any, slot: int) -> None:
    """Handle the event of one slot."""
    devices = device_slots(table)
    if slot < devices:
        seen, forgotten = device_event(table, slot)
        if seen >= 0:
            finish_command(table, seen)
        if forgotten >= 0:
            forget_command(table, forgotten)
        return
    slot -= devices
    if slot < word_of(table, N_CLIENTS):
        client_reads(table, slot)
        return
    stream_number = slot - word_of(table, N_CLIENTS)
    event_times_of(table)[stream_slot(table, stream_number)] = FOREVER
    streams_of(table)[stream_number].state = STREAM_READY


@njit
def exit_reason(table: Any) -> int:
    """Return the reason for which control is due now, or -1."""
    general, streams = general_of(table)[0], streams_of(table)
    if general.group_waiting != 0 and general.group_left == 0:
        general.group_waiting = 0
        return EXIT_GROUP
    if general.epoch_waiting != 0 and general.epoch_left == 0:
        general.epoch_waiting = 0
        return EXIT_EPOCH
    if is_drained(table):
        return EXIT_DRAINED
    if word_of(table, N_RECORDS) > 1 and general.records >= word_of(table, N_RECORDS) - 1:
        return EXIT_RECORD
    if general.refill >= 0 and streams[0].position >= general.refill:
        return EXIT_REFILL
    return -1


@njit
def advance(state: Any, until: float, budget: int) -> int:
    """Advance to `until`, or to the first moment at which control has to decide.

    Parameters
    ----------
    state : ndarray of int64
        `Memory.table`.
    until : float
        Horizon [s]; events at the horizon itself are handled.
    budget : int
        Events after which to come back all the same (progress, interrupts).

    Returns
    -------
    int
        One of the EXIT constants.
    """
    table = bare(state)
    general, times = general_of(table)[0], event_times_of(table)
    slots = device_slots(table) + word_of(table, N_CLIENTS) + word_of(table, N_STREAMS)
    run_streams(table)
    handled = 0
    while True:
        reason = exit_reason(table)
        if reason >= 0:
            return reason
        if handled >= budget:
            return EXIT_BUDGET
        slot = next_slot(table, slots)
        if times[slot] > until:
            general.now = max(general.now, until)
            return EXIT_HORIZON
        if times[slot] == FOREVER:
            return EXIT_STALLED
        general.now = times[slot]
        handle(table, slot)
        general.events += 1
        handled += 1
        run_streams(table)


@njit
def submit_group(state: Any, rows: Any) -> None:
    """Queue a group of plain I/Os now; `advance` returns EXIT_GROUP when all are done.

    Parameters
    ----------
    rows : ndarray of int64, shape (n, 5)
        Leaf, class, write, child offset [bytes], length [bytes].
    """
    table = bare(state)
    general = general_of(table)[0]
    general.group_left += len(rows)
    general.group_waiting = 1
    for number in range(len(rows)):
        row = rows[number]
        enqueue(table, row[0], row[1], row[2], row[3], row[4], OWNER_GROUP, 0, FLAG_NORMAL)


@njit
def flush_caches(state: Any) -> None:
    """Flush the write caches; `advance` returns EXIT_GROUP when they are empty."""
    table = bare(state)
    general = general_of(table)[0]
    general.group_waiting = 1
    for leaf in range(word_of(table, N_LEAVES)):
        general.group_left += 1 if flush_cache(table, leaf) else 0


@njit
def start_clients(state: Any) -> None:
    """Let every foreground client begin (each after a first think time)."""
    table = bare(state)
    for number in range(word_of(table, N_CLIENTS)):
        client_thinks(table, number)
