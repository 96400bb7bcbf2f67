"""What the components of the reference engine pass to each other, and the values they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from zsim.engine.codes import CACHE_NONE, FLAG_REPAIR, FLAG_SCAN
from zsim.engine.model import QueueRules, ScanRules
from zsim.engine.reference.clock import Clock

NEVER = float("inf")


@dataclass(eq=False, slots=True)
class Child:
    """A child I/O: what one leaf is asked for on behalf of a block.

    Attributes
    ----------
    leaf : int
    klass : int
        I/O class.
    write : bool
    offset, length : int
        On the leaf, labels included [bytes].
    flags : int
        Inherited flags: only I/Os of equal flags are aggregated.
    done : callable
        Told when the I/O is done.
    stamp, bucket : int
        Order of arrival in the leaf queue; arrival bucket, or deadline in the single queue.
    """

    leaf: int
    klass: int
    write: bool
    offset: int
    length: int
    flags: int
    done: Callable[[Child], None]
    stamp: int = 0
    bucket: int = 0


@dataclass(eq=False, slots=True)
class Command:
    """What a drive is sent: one child I/O, or several merged.

    Attributes
    ----------
    leaf, klass : int
        Which drive, and the class of I/O.
    write : bool
    offset, length : int
        [bytes]
    children : list of Child
        The I/Os merged into it.
    submitted, arrived, started, due : float
        When the host sent it, the drive had it, its service began, its transfer or cached answer ends [s].
    cache : int
        Whether it lies in the write cache, and what has happened to it there (CACHE constants).
    fetched : bool
        Whether the physical sectors that it covers in part have been read already.
    """

    leaf: int
    klass: int
    write: bool
    offset: int
    length: int
    children: list[Child]
    submitted: float = 0.0
    arrived: float = 0.0
    started: float = 0.0
    due: float = 0.0
    cache: int = CACHE_NONE
    fetched: bool = False

    @property
    def scan(self) -> bool:
        """Whether it belongs to the scan."""
        return self.children[0].flags in {FLAG_SCAN, FLAG_REPAIR}


@dataclass(eq=False, slots=True)
class Item:
    """A block pointer the scan can visit or issue (`zsim.scan.items.ScanItems`, one row)."""

    number: int
    vdev: int
    offset: int
    psize: int
    columns: int
    level0: bool
    copies: list[tuple[int, int, int]]
    prefetch_first: int
    prefetch_next: int
    unwind: int
    metadata_state: int
    metadata_left: int = 0


@dataclass(slots=True)
class LeafState:
    """Counters of one leaf, named as in `zsim.engine.codes.LeafRecord`."""

    link: int = -1
    replaced_by: int = 0
    wrote_last: int = 0
    ahead_since: float = -1.0
    ahead_clock: int = 0
    slc_used: float = 0.0
    drawn: int = 0
    free_at: float = 0.0
    cleaning: float = 0.0
    flushing: int = 0
    ended: float = 0.0
    head: int = 0
    last_offset: int = 0
    last_class: int = 0
    credit: int = 0
    interactive: int = 0
    pending: int = 0
    cached: int = 0
    busy: float = 0.0
    overhead: float = 0.0
    seek: float = 0.0
    wait: float = 0.0
    transfer: float = 0.0
    response: float = 0.0
    reads: int = 0
    writes: int = 0
    read_bytes: int = 0
    write_bytes: int = 0
    scan_reads: int = 0
    scan_writes: int = 0
    scan_read_bytes: int = 0
    scan_write_bytes: int = 0
    sequential: int = 0
    forward: int = 0
    children: int = 0


@dataclass(slots=True)
class Shared:
    """Values that all components see, named as in `compiled.records.GeneralRecord`, and the rules.

    `minimum` and `maximum` begin as those of the queue rules; control may change them.
    """

    clock: Clock
    queue: QueueRules
    scan: ScanRules
    events: int = 0
    children_queued: int = 0
    sequence: int = 0
    free_slots: int = 0
    # Scan thread.
    running: int = 0
    pause_at: float = NEVER
    last_client: float = -1e18
    visit_s: float = 0.0
    visiting_s: float = 0.0
    refill: int = -1
    # Metadata.
    metadata_inflight: int = 0
    prefetch_bytes: int = 0
    heap_size: int = 0
    # Groups, clients and what was seen.
    group_left: int = 0
    group_waiting: int = 0
    epoch: int = 0
    epoch_left: int = 0
    epoch_waiting: int = 0
    records: int = 0
    first_scan: float = -1.0
    last_scan: float = 0.0
    inflight_blocks: int = 0
    idle_since: float = -1.0
    idle_total: float = 0.0
    client_reads: int = 0
    client_latency: float = 0.0
    label_bytes: int = 0
    watches: int = 0
    cold: int = 0
    minimum: list[int] = field(default_factory=list)
    maximum: list[int] = field(default_factory=list)

    @property
    def now(self) -> float:
        """Time [s]."""
        return float(self.clock.now)
