"""Codes, phases and counters that both engines and the control plane know."""

from __future__ import annotations

import numpy as np

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

# Where a metadata block is.
META_ABSENT, META_WANTED, META_IN_FLIGHT, META_PRESENT = range(4)

# What has happened to a command in the write cache of its drive.
CACHE_NONE, CACHE_PENDING, CACHE_ANSWERED, CACHE_DESTAGED = range(4)

FOREVER = np.inf
# Events after which a data plane comes back all the same: progress, interrupts.
BUDGET = 2_000_000
# Writes that a drive's cache can keep track of.
MAX_CACHED = 4096
# A gap to the next command that a drive counts as short, going forward [bytes].
SHORT_FORWARD = 512 * 1024
# Scan blocks in flight, of all windows together.
MAX_SLOTS = 1 << 16
# Seeds of the clients of one group lie so far apart.
CLIENT_SEED_STEP = 7919

# Counters of a leaf.
LEAF_DTYPE = np.dtype(
    [
        ("head", "i8"),
        ("last_offset", "i8"),
        ("last_class", "i8"),
        ("credit", "i8"),
        ("interactive", "i8"),
        ("pending", "i8"),
        ("queued", "i8"),
        ("in_service", "i8"),
        ("held", "i8"),
        ("awaited", "i8"),
        ("cached", "i8"),
        ("acknowledging", "i8"),
        ("link", "i8"),
        ("replaced_by", "i8"),
        ("wrote_last", "i8"),
        # Read-ahead, fast region and channel of flash, shingling, FLUSH CACHE.
        ("ahead_since", "f8"),
        ("ahead_clock", "i8"),
        ("slc_used", "f8"),
        ("drawn", "i8"),
        ("free_at", "f8"),
        ("cleaning", "f8"),
        ("flushing", "i8"),
        ("ended", "f8"),
        ("busy", "f8"),
        ("overhead", "f8"),
        ("seek", "f8"),
        ("wait", "f8"),
        ("transfer", "f8"),
        ("response", "f8"),
        ("reads", "i8"),
        ("writes", "i8"),
        ("read_bytes", "i8"),
        ("write_bytes", "i8"),
        ("scan_reads", "i8"),
        ("scan_writes", "i8"),
        ("scan_read_bytes", "i8"),
        ("scan_write_bytes", "i8"),
        ("sequential", "i8"),
        ("forward", "i8"),
        ("children", "i8"),
    ]
)

# A finished command.
RECORD_DTYPE = np.dtype(
    [
        ("submitted", "f8"),
        ("started", "f8"),
        ("done", "f8"),
        ("offset", "i8"),
        ("length", "i8"),
        ("leaf", "i4"),
        ("klass", "i2"),
        ("write", "i2"),
        ("scan", "i2"),
        ("aggregated", "i2"),
        ("pad", "i4"),
    ]
)
