"""Metadata that a scan reads ahead: what is wanted, in traversal order, as far as the window has room."""

from __future__ import annotations

from zsim.base.arrays import Table
from zsim.base.jit import njit, word_of
from zsim.engine.codes import (
    FLAG_METADATA,
    META_ABSENT,
    META_HELD,
    META_PRESENT,
    META_WANTED,
    STREAM_FINISHED,
    STREAM_PAUSED,
)
from zsim.engine.compiled.memory import (
    ITEM_MASK,
    OWNER_METADATA,
    general_of,
    heap_of,
    items_of,
    scan_rules_of,
    streams_of,
)
from zsim.engine.compiled.vdev import read_metadata


@njit
def heap_push(table: Table, item_number: int) -> None:
    """Put a metadata block on the prefetch heap (traversal order)."""
    heap, general = heap_of(table), general_of(table)[0]
    place = general.heap_size
    general.heap_size += 1
    while place > 0 and heap[(place - 1) // 2] > item_number:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = item_number


@njit
def heap_pop(table: Table) -> int:
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
def fetch_metadata(table: Table, item_number: int) -> None:
    """Start the read of a metadata block that the traversal will need.

    Parameters
    ----------
    table, item_number
        The engine's memory, and which block.

    Notes
    -----
    A plain read through the ARC: one copy, columns of data only unless they are missing (OpenZFS
    dsl_scan.c:dsl_scan_prefetch_thread).  Its psize counts against the bytes that may be prefetched.
    """
    general, item = general_of(table)[0], items_of(table)[item_number & word_of(table, ITEM_MASK)]
    general.metadata_inflight += 1
    general.prefetch_bytes += item.psize
    klass = scan_rules_of(table)[0].metadata_class
    read_metadata(table, item_number, klass, OWNER_METADATA, FLAG_METADATA)


@njit
def want_metadata(table: Table, item_number: int) -> None:
    """Queue the prefetchable metadata below a block now in memory (dsl_scan.c:dsl_scan_prefetch_cb).

    What is in memory already is queued too: its read is done at once, and what lies below it is next.
    """
    items = items_of(table)
    child = items[item_number & word_of(table, ITEM_MASK)].prefetch_first
    while child >= 0:
        item = items[child & word_of(table, ITEM_MASK)]
        if item.metadata_state in (META_ABSENT, META_HELD):
            item.metadata_state = META_WANTED if item.metadata_state == META_ABSENT else META_PRESENT
            heap_push(table, child)
        child = item.prefetch_next


@njit
def has_room(table: Table, stream_number: int) -> bool:
    """Tell whether a stream's window has room; the one of the traversal holds what is prefetched as well.

    One counter holds both (OpenZFS 0.8+ dsl_scan.c: spa_scrub_inflight against scn_maxinflight_bytes).
    """
    stream = streams_of(table)[stream_number]
    held = stream.inflight
    if stream_number == 0 and stream.counts_blocks == 0:
        held += general_of(table)[0].prefetch_bytes
    return bool(held < stream.limit)


@njit
def run_prefetch(table: Table) -> None:
    """Let the prefetch thread start what fits the window (0.8+ dsl_scan.c:dsl_scan_prefetch_thread).

    It stops as soon as the traversal pauses or ends (dsl_scan.c:dsl_scan_sync, scn_prefetch_stop).
    """
    general, state = general_of(table)[0], streams_of(table)[0].state
    if general.running == 0 or state in (STREAM_PAUSED, STREAM_FINISHED):
        return
    while general.heap_size > 0 and has_room(table, 0):
        item_number = heap_pop(table)
        state = items_of(table)[item_number & word_of(table, ITEM_MASK)].metadata_state
        if state == META_WANTED:
            fetch_metadata(table, item_number)
        elif state == META_PRESENT:
            want_metadata(table, item_number)
