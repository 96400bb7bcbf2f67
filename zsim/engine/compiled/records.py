"""Records of the compiled engine: the memory layout of what its table of addresses points to."""

from __future__ import annotations

from zsim.base.arrays import Float64, Int16, Int32, Int64, dtype_of
from zsim.engine.model import QueueRules, ScanRules

QUEUE_RULES_DTYPE, SCAN_RULES_DTYPE = dtype_of(QueueRules), dtype_of(ScanRules)


class GeneralRecord:
    """What there is once in a data plane: clock, free lists, the state of the scan."""

    now: Float64
    events: Int64
    children_queued: Int64
    sequence: Int64
    # The first child I/O that no leaf has had yet (`zsim.engine.compiled.free_children`).
    new_child: Int64
    free_command: Int64
    free_slot: Int64
    free_slots: Int64
    # Scan thread.
    running: Int64
    pause_at: Float64
    last_client: Float64
    # Processor time of the traversal for each metadata block that it visits, and altogether.
    visit_s: Float64
    visiting_s: Float64
    refill: Int64
    # Metadata.
    metadata_inflight: Int64
    prefetch_bytes: Int64
    heap_size: Int64
    # Groups, clients and what was seen.
    group_left: Int64
    group_waiting: Int64
    # Rows of a group that are to be queued.
    group_rows: Int64
    epoch: Int64
    epoch_left: Int64
    epoch_waiting: Int64
    records: Int64
    first_scan: Float64
    last_scan: Float64
    inflight_blocks: Int64
    idle_since: Float64
    idle_total: Float64
    client_reads: Int64
    client_latency: Float64
    label_bytes: Int64
    # Whether read latencies are watched: some vdev has `autosit`.
    watches: Int64
    # Whether clients find metadata missing, which they read before what lies below it.
    cold: Int64


GENERAL_DTYPE = dtype_of(GeneralRecord)


class ChildRecord:
    """A child I/O."""

    offset: Int64
    length: Int64
    stamp: Int64
    bucket: Int64
    owner: Int32
    next: Int32
    kind: Int16
    klass: Int16
    flags: Int16
    write: Int16


CHILD_DTYPE = dtype_of(ChildRecord)


class QueueRecord:
    """A place in a leaf queue."""

    offset: Int64
    child: Int32
    # Class and arrival bucket in one number (`zsim.engine.compiled.queue.tag_of`).
    tag: Int32


QUEUE_DTYPE = dtype_of(QueueRecord)


class CommandRecord:
    """A command to a drive: one child I/O, or several aggregated."""

    offset: Int64
    length: Int64
    submitted: Float64
    arrived: Float64
    started: Float64
    due: Float64
    rate: Float64
    angle: Float64
    first_child: Int32
    next: Int32
    leaf: Int32
    aggregated: Int32
    klass: Int16
    write: Int16
    scan: Int16
    cache: Int16
    # Whether the sectors that it covers in part have been read already.
    fetched: Int64


COMMAND_DTYPE = dtype_of(CommandRecord)


# `others`: further DVAs wait for the repair of the one that was read.  `epoch` is that of `general` when the
# block was issued; `general.epoch_left` blocks of closed epochs are in flight.
class SlotRecord:
    """A scan block in flight."""

    item: Int64
    reads: Int32
    writes: Int32
    stream: Int32
    next: Int32
    epoch: Int64
    others: Int64


SLOT_DTYPE = dtype_of(SlotRecord)


class VdevRecord:
    """A vdev."""

    kind: Int64
    children: Int64
    parity: Int64
    ashift: Int64
    first_child: Int64
    data: Int64
    spares: Int64
    permutation: Int64
    permutations: Int64
    # Whether it is a separate intent log.
    is_log: Int64
    # Whether slow children sit out, by which rules, when they were looked at last, and outliers so far.
    autosit: Int64
    sit_out: Float64
    interval: Float64
    insensitivity: Int64
    looked_at: Float64
    outliers: Int64


VDEV_DTYPE = dtype_of(VdevRecord)


class StreamRecord:
    """A stream of the scan."""

    position: Int64
    end: Int64
    state: Int64
    inflight: Int64
    limit: Int64
    counts_blocks: Int64
    delayed: Int64
    unwind: Int64
    issued_blocks: Int64
    issued_bytes: Int64
    first_visit: Float64
    last_visit: Float64
    # When its thread has done what it was given so far, and how long it took to issue blocks.
    free_at: Float64
    issuing_s: Float64


STREAM_DTYPE = dtype_of(StreamRecord)


class LinkRecord:
    """A link that drives share."""

    rate: Float64
    per_command: Float64
    command_based: Int64
    parent: Int64
    free_at: Float64
    busy: Float64
    occupied: Int64
    first: Int64
    last: Int64


LINK_DTYPE = dtype_of(LinkRecord)


class OperationRecord:
    """A step of the scan's program."""

    item: Int32
    code: Int32


OPERATION_DTYPE = dtype_of(OperationRecord)


class ItemRecord:
    """A block that the scan visits."""

    # Looked up at random, and as many as blocks: as small as it can be.
    offset: Int64
    psize: Int32
    copies: Int32
    prefetch_first: Int32
    prefetch_next: Int32
    unwind: Int32
    vdev: Int16
    # Data columns of the block's stripe, 0: as of new blocks.
    columns: Int16
    copy_count: Int32
    metadata_left: Int32
    level0: Int16
    metadata_state: Int16


ITEM_DTYPE = dtype_of(ItemRecord)


class CopyRecord:
    """A further DVA of a block."""

    offset: Int64
    vdev: Int32
    columns: Int32


COPY_DTYPE = dtype_of(CopyRecord)


class ClientRecord:
    """A foreground client."""

    think: Float64
    started: Float64
    latency: Float64
    # Of its group, the number of its next draw, and how many clients draw in turn.
    seed: Int64
    count: Int64
    among: Int64
    left: Int64
    # What it does, how many blocks a request has, its part of the client items, and where it is in it.
    mode: Int64
    blocks: Int64
    first: Int64
    items: Int64
    place: Int64
    # The client that knows how far the file is read that it reads, or itself.
    leader: Int64
    answered: Int64
    # Of which kind of clients it is one, and whether these ask for nothing now.
    group: Int64
    off: Int64
    # The first of its client items that it asks for, and the metadata that it waits for, -1: none.
    pick: Int64
    awaits: Int64


CLIENT_DTYPE = dtype_of(ClientRecord)


class SittingRecord:
    """A child of a vdev with `autosit`: until when it sits out, how often it was an outlier, and sat out."""

    until: Float64
    outliers: Int64
    sat: Int64


SITTING_DTYPE = dtype_of(SittingRecord)
