"""Codes, phases and counters that both engines and the control plane use."""

from __future__ import annotations

import numpy as np

from zsim.base.arrays import Float64, Int16, Int32, Int64, dtype_of

# I/O classes of the leaf queue, in order of priority (OpenZFS zio_priority.h, ZIO_PRIORITY_NUM_QUEUEABLE).
CLASSES = 6
SYNC_READ, SYNC_WRITE, ASYNC_READ, ASYNC_WRITE, SCRUB, REBUILD = range(CLASSES)

# Inherited flags of a child I/O: only those of equal flags are aggregated (ZIO_FLAG_AGG_INHERIT).
FLAG_NORMAL, FLAG_SCAN, FLAG_REPAIR, FLAG_METADATA = range(4)

# Why a data plane came back to control.
(
    EXIT_HORIZON,
    EXIT_GROUP,
    EXIT_DRAINED,
    EXIT_BUDGET,
    EXIT_STALLED,
    EXIT_RECORD,
    EXIT_REFILL,
    EXIT_EPOCH,
) = range(8)

# What a scan stream waits for.
STREAM_READY, STREAM_WINDOW, STREAM_METADATA, STREAM_DELAY, STREAM_PAUSED, STREAM_FINISHED = range(6)
# Its thread needs the processor for longer than `AHEAD_S`.
STREAM_BUSY = 6
# How much a scan thread may do before its time, so that slow drives have no events of their own for it [s].
AHEAD_S = 1e-3

# Where a metadata block is; held: in memory before the scan, and what lies below it is not wanted yet.
META_ABSENT, META_WANTED, META_IN_FLIGHT, META_PRESENT, META_HELD = range(5)

# What has happened to a command in the write cache of its drive.
CACHE_NONE, CACHE_PENDING, CACHE_ANSWERED, CACHE_DESTAGED = range(4)

FOREVER = np.inf
# Events after which a data plane comes back all the same: progress, interrupts.
BUDGET = 2_000_000
# Writes that a drive's cache can keep track of.
MAX_CACHED = 4096
# How far before a cached write the one that it continues may begin: ZFS merges up to so much [bytes].
LONGEST_COALESCED = 1 << 20
# A gap to the next command that a drive counts as short, going forward [bytes].
SHORT_FORWARD = 512 * 1024
# Scan blocks in flight, of all windows together.
MAX_SLOTS = 1 << 16
# Bins of what clients wait, and in how many a doubling is divided (`leaf_rules.wait_bin`).
LATENCY_BINS, BINS_A_DOUBLING = 640, 16
# What clients draw: where they read, and how long they pause.
PLACES, PAUSES = 0, 1


# Counters of a leaf.
class LeafRecord:
    """Counters and state of a leaf."""

    head: Int64
    last_offset: Int64
    last_class: Int64
    credit: Int64
    interactive: Int64
    pending: Int64
    queued: Int64
    in_service: Int64
    held: Int64
    awaited: Int64
    cached: Int64
    acknowledging: Int64
    link: Int64
    replaced_by: Int64
    wrote_last: Int64
    # Read-ahead, fast region and channel of flash, shingling, FLUSH CACHE.
    ahead_since: Float64
    ahead_clock: Int64
    slc_used: Float64
    drawn: Int64
    free_at: Float64
    cleaning: Float64
    flushing: Int64
    ended: Float64
    busy: Float64
    overhead: Float64
    seek: Float64
    wait: Float64
    transfer: Float64
    response: Float64
    reads: Int64
    writes: Int64
    read_bytes: Int64
    write_bytes: Int64
    scan_reads: Int64
    scan_writes: Int64
    scan_read_bytes: Int64
    scan_write_bytes: Int64
    sequential: Int64
    forward: Int64
    children: Int64


LEAF_DTYPE = dtype_of(LeafRecord)


# A finished command.
class DoneRecord:
    """A finished command."""

    submitted: Float64
    started: Float64
    done: Float64
    offset: Int64
    length: Int64
    leaf: Int32
    klass: Int16
    write: Int16
    scan: Int16
    aggregated: Int16
    pad: Int32


RECORD_DTYPE = dtype_of(DoneRecord)
