"""The compiled data plane: advance all leaf queues, drives and links to the next control event.

``advance(table, until, budget)`` changes the state in place and says why it came back.  Its result is the
same to the bit for every way of slicing the time axis.
"""

from __future__ import annotations

from zsim.base.arrays import Table
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
    STREAM_FINISHED,
    STREAM_PAUSED,
    STREAM_READY,
)
from zsim.engine.compiled.clients import client_reads, client_thinks
from zsim.engine.compiled.drive import device_event, flush_cache
from zsim.engine.compiled.events import next_slot, set_event
from zsim.engine.compiled.memory import (
    GROUP_WORDS,
    N_CLIENTS,
    N_LEAVES,
    N_RECORDS,
    N_STREAMS,
    OWNER_GROUP,
    client_slot,
    clients_of,
    device_slots,
    event_times_of,
    general_of,
    group_rows_of,
    stream_slot,
    streams_of,
)
from zsim.engine.compiled.queue import enqueue
from zsim.engine.compiled.scan import (
    finish_command,
    forget_command,
    run_streams,
)


@njit
def is_drained(table: Table) -> bool:
    """Tell whether every stream is paused or finished and nothing of the scan is in flight.

    Parameters
    ----------
    table : Table
        The engine's memory.

    Notes
    -----
    A txg ends then: a scan that gives way waits for its own I/Os before the pool is synced (OpenZFS
    dsl_scan.c:dsl_scan_sync).  Clients' requests do not count.
    """
    general, streams = general_of(table)[0], streams_of(table)
    if general.running == 0 or general.inflight_blocks > 0 or general.metadata_inflight > 0:
        return False
    for number in range(word_of(table, N_STREAMS)):
        state = streams[number].state
        if state not in (STREAM_PAUSED, STREAM_FINISHED):
            return False
    return True


@njit
def handle(table: Table, slot: int) -> None:
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
    set_event(table, stream_slot(table, stream_number), FOREVER)
    streams_of(table)[stream_number].state = STREAM_READY


@njit
def exit_reason(table: Table) -> int:
    """Return the reason for which control is due now.

    Parameters
    ----------
    table : Table
        The engine's memory.

    Returns
    -------
    int
        One of the codes ``EXIT_*`` of `zsim.engine.codes`, -1 while there is none: a group of plain I/Os is
        done, the blocks of an earlier epoch are, the scan is drained, the record is full, or the program is
        to be refilled. The first of these that holds.
    """
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
def queue_group(table: Table) -> None:
    """Queue a group of plain I/Os now; `advance` returns EXIT_GROUP when all are done."""
    general, rows = general_of(table)[0], group_rows_of(table)
    for at in range(0, GROUP_WORDS * general.group_rows, GROUP_WORDS):
        leaf, klass, write, offset, length = rows[at], rows[at + 1], rows[at + 2], rows[at + 3], rows[at + 4]
        enqueue(table, leaf, klass, write, offset, length, OWNER_GROUP, 0, FLAG_NORMAL)
    general.group_rows = 0


@njit
def advance(state: Table, until: float, budget: int) -> int:
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

    Notes
    -----
    A group that waits to be queued is queued, and nothing else: as a kernel of its own, it would have most of
    this one compiled a second time.
    """
    table = bare(state)
    general, times = general_of(table)[0], event_times_of(table)
    if general.group_rows > 0:
        queue_group(table)
        return EXIT_BUDGET
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
def flush_caches(state: Table) -> None:
    """Flush the write caches; `advance` returns EXIT_GROUP when they are empty."""
    table = bare(state)
    general = general_of(table)[0]
    general.group_waiting = 1
    for leaf in range(word_of(table, N_LEAVES)):
        general.group_left += 1 if flush_cache(table, leaf) else 0


@njit
def start_clients(state: Table) -> None:
    """Let every foreground client begin (each after a first think time)."""
    table = bare(state)
    for number in range(word_of(table, N_CLIENTS)):
        client_thinks(table, number)


@njit
def set_clients(state: Table, group: int, off: int) -> None:
    """Let the clients of a kind ask for nothing from now on, or go on.

    Parameters
    ----------
    state : Table
        The engine's memory.
    group : int
        The kind.
    off : int
        1: ask for nothing more; what is under way is answered.  0: go on.

    Notes
    -----
    Those that stood still think first (`client_thinks`): not all of them ask at the same moment.
    """
    table = bare(state)
    for number in range(word_of(table, N_CLIENTS)):
        client = clients_of(table)[number]
        if client.group == group:
            client.off = off
            stands = client.left == 0 and event_times_of(table)[client_slot(table, number)] == FOREVER
            if off == 0 and stands:
                client_thinks(table, number)
