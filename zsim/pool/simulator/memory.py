"""Memory of the compiled simulator: arrays of records behind one table of addresses.

Every kernel takes a single argument, the table `pool`: a small array of addresses and sizes.  A view
function turns an entry into an array without counting references; passing the arrays themselves costs numba
a reference count per array and call, which took longer than the allocator.  `HistoryMemory` owns the arrays
and keeps them alive.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from zsim.base.arrays import (
    F64,
    I32,
    I64,
    Float64,
    Int32,
    Int64,
    Rows,
    UInt64,
    array_at,
    array_in,
    dtype_of,
    records_in,
)
from zsim.base.jit import address_of, njit

Places: TypeAlias = I32 | I64
"""Metaslabs, or places in them: those of a slot, or a kernel's own."""
BUCKETS = 48
LOG_SLOTS = 4
MAX_LEVELS = 8
CLASSES = 3
"""Allocation classes that blocks are placed in: normal, special, dedup."""
IO_SLOTS = 4096
"""Commands that may wait in the queue of a top-level vdev."""


class HistoryRulesRecord:
    """Rules of the allocator, and the clock of the deferred frees."""

    segment_weight: Int64
    lba_weight: Int64
    sticky: Int64
    frag_factor: Int64
    window: Int64
    best_fit_below: Int64
    best_fit_free_percent: Int64
    size_floor: Int64
    fill_empty: Int64
    separate: Int64
    distance: Int64
    allocators: Int64
    serial: Int64
    txg: Int64
    log_head: Int64
    log_tail: Int64
    throttle: Int64
    held: Int64
    first_thread: Int64
    aggregated: Int64
    first_depth: Int64
    most_depth: Int64
    third_each: Int64
    biased: Int64
    clock: Float64
    position_s: Float64
    rate: Float64


RULES = dtype_of(HistoryRulesRecord, align=True)


class HistoryVdevRecord:
    """A vdev and its metaslabs."""

    kind: Int64
    ashift: Int64
    children: Int64
    data: Int64
    parity: Int64
    spares: Int64
    unit: Int64
    first: Int64
    count: Int64
    aliquot: Int64
    bias: Int64
    used: Int64
    space: Int64
    klass: Int64
    present: Int64
    spread: Int64
    quota: Int64
    head: Int64
    tail: Int64
    place: Int64
    done: Float64
    # What an expansion brings: data columns and metaslabs; columns before, and the txg from which on.
    final_data: Int64
    final_count: Int64
    first_data: Int64
    expanded: Int64


VDEV = dtype_of(HistoryVdevRecord, align=True)


class SlabRecord:
    """A metaslab."""

    vdev: Int64
    units: Int64
    tail: Int64
    free: Int64
    pending: Int64
    segments: Int64
    empty: Int64
    # No bucket above it has a free segment.
    top: Int64
    weight: Int64
    active: Int64
    role: Int64
    owner: Int64
    changed: Int64
    unflushed: Int64
    unmapped: Int64
    tried: Int64


SLAB = dtype_of(SlabRecord, align=True)


class RotorRecord:
    """Where an allocator stands among the vdevs, and which records of the stream wait for it."""

    rotor: Int64
    used: Int64
    reserved: Int64
    most: Int64
    next_record: Int64
    end_record: Int64


ALLOCATOR = dtype_of(RotorRecord)


class GroupRecord:
    """What an allocator has queued on a vdev, and how much it may."""

    queued: Int64
    limit: Int64


GROUP = dtype_of(GroupRecord)


class WriteRecord:
    """A command in the queue of a vdev: adjacent writes of one allocator."""

    allocator: Int64
    start: Int64
    end: Int64
    size: Int64
    amount: Int64


WRITE = dtype_of(WriteRecord)


class FreedRecord:
    """A free that is not usable yet."""

    slab: Int64
    start: Int64
    units: Int64


LOG = dtype_of(FreedRecord)


class NowRecord:
    """Counters and settings of a history."""

    random: UInt64
    txg: Int64
    next_file: Int64
    alive: Int64
    dead: Int64
    dirty: Int64
    dirty_files: Int64
    dirty_dnodes: Int64
    dirty_bytes: Int64
    live_bytes: Int64
    live_goal: Int64
    metadata_txg: Int64
    metadata_due: Int64
    used: Int64
    kept: Int64
    snapshots: Int64
    failed: Int64
    log_next: Int64
    map_next: Int64
    claimed: Int64
    claim_log: Int64
    claim_map: Int64
    unclaimed: Int64
    looked_txg: Int64
    nearly_empty: Int64
    thread: Int64
    # The step under way.
    goal: Float64
    shortest: Int64
    longest: Int64
    run_file: Int64
    run_next: Int64
    run_end: Int64
    unfinished: Int64
    unfinished_next: Int64
    # Which file is removed next (-1: none drawn yet), and how much is to be removed before that [bytes].
    next_removed: Int64
    due: Float64
    overwrites: Int64
    by_file: Int64
    txg_begins: Int64
    parts: Int64
    placed: Int64
    growth: Float64
    written: Int64
    # Settings; the first few are constants, kept here because numba compiles anew for each literal.
    zero: Int64
    mos: Int64
    data_copies: Int64
    metadata_copies: Int64
    mos_copies: Int64
    meta_pointers: Int64
    coin_bits: Int64
    first_txg: Int64
    pointers: Int64
    sector: Int64
    txg_bytes: Int64
    request_records: Int64
    txg_step: Int64
    whole_files: Int64
    metadata_every: Int64
    fill_parts: Int64
    indirect_fixed: Float64
    indirect_each: Float64
    dnode_psize: Int64
    root_psize: Int64
    sync_threads: Int64
    log_space_maps: Int64
    meta_levels: Int64
    mos_first: Int64
    mos_dnodes: Int64
    mos_heads: Int64
    mos_static: Int64
    claims_first: Int64
    claim_bytes: Int64
    map_psize: Int64
    throttled: Int64
    issue_window: Int64
    issue_group: Int64
    issue_straight: Int64
    issue_late: Int64
    late: Int64
    metadata_class: Int64
    special_indirects: Int64
    small_bytes: Int64
    small_percent: Int64
    small_volumes: Int64


NOW = dtype_of(NowRecord, align=True)


class PlaceRecord:
    """A place in a file tree, and the block that is there now (none when it has no copies)."""

    # Looked up at random: as small as it can be.
    slab: Annotated[I32, f"{3}i4"]
    start: Annotated[I32, f"{3}i4"]
    birth: Int32
    psize: Int32
    stamp: Int64
    copies: Int32
    waiting: Int32


SLOT = dtype_of(PlaceRecord, align=True)


class FileRecord:
    """A file: its place, its shape, and the first slot of each level."""

    dataset: Int32
    item: Int32
    records: Int32
    lsize: Int32
    kind: Int32
    volume: Int32
    there: Int32
    first: Int32
    levels: Int32
    head: Int32
    tail: Int32
    indirect: Annotated[I32, f"{MAX_LEVELS}i4"]


FILE = dtype_of(FileRecord, align=True)


class ListRecord:
    """Lists through slots, files and dnode blocks."""

    alive: Int32
    dirty_file: Int32
    record: Int32
    next: Int32
    dnode_set: Int32
    dnode_block: Int32
    stream_file: Int32
    stream_record: Int32
    late_file: Int32
    late_record: Int32
    dead: Int32


LIST = dtype_of(ListRecord, align=True)


class DatasetRecord:
    """A dataset: its root, and the first slot of each level of its meta-dnode."""

    root: Int64
    dirty: Int64
    snapshot: Int64
    meta: Annotated[I64, f"{MAX_LEVELS}i8"]


DATASET = dtype_of(DatasetRecord)


class KeptRecord:
    """A version that only snapshots hold."""

    slab: Annotated[I32, f"{3}i4"]
    start: Annotated[I32, f"{3}i4"]
    birth: Int64
    psize: Int64
    copies: Int64
    death: Int64
    slot: Int64


KEPT = dtype_of(KeptRecord, align=True)


class HistoryMemory:
    """The arrays of one history, and the table the kernels take.

    Attributes
    ----------
    rules : ndarray of RULES, shape (1,)
        The release's switches, and the clock of the deferred frees.
    vdevs, slabs, allocators : ndarray of VDEV, SLAB, ALLOCATOR
        Metaslabs are numbered over the whole pool; an allocator has an entry a class.
    groups, writes : ndarray of GROUP, WRITE
        What an allocator has queued on a vdev, and the queue of each vdev (`zsim.pool.simulator.throttle`).
    cursors, histogram : ndarray of int64, shape (metaslabs, 48)
        By power of two: the cursor of this alignment, and the number of free segments of this size.
    starts, ends : ndarray of int64, shape (metaslabs, room)
        The free segments [units].
    owners : ndarray of int64, shape (allocators, vdevs, 3)
        The active metaslab of an allocator in each role, -1 when there is none.
    log : ndarray of LOG
        Ring of the frees that are not usable yet.
    marks : ndarray of int64, shape (4,)
        Positions in the ring at which the last txgs ended.
    now : ndarray of NOW, shape (1,)
        Counters and settings of the history.
    slots : ndarray of SLOT
        One entry a place in a file tree: the block that is there now (none when it has no copies).
    files, datasets : ndarray of FILE, DATASET
        Shape of the trees: the first slot of each level.
    lists : ndarray of LIST
        Living files, removed files, dirty files, dirty records (linked by file), dirty dnode blocks.
    kept : ndarray of KEPT
        Versions that only snapshots hold.
    ratio_values, ratio_chances : ndarray of float64, shape (kinds, n)
        Compression: psize / lsize, and cumulated probability.
    snapshots : ndarray of int64
        Their txgs, ascending.
    table : ndarray of int64
        Addresses of all these, and their sizes.
    """

    rules: Rows
    vdevs: Rows
    slabs: Rows
    allocators: Rows
    groups: Rows
    writes: Rows
    cursors: I64
    histogram: I64
    starts: I64
    ends: I64
    owners: I64
    log: Rows
    marks: I64
    now: Rows
    slots: Rows
    files: Rows
    datasets: Rows
    lists: Rows
    kept: Rows
    ratio_values: F64
    ratio_chances: F64
    snapshots: I64
    table: I64

    def seal(self) -> None:
        """Take down the addresses; no array may be replaced after this."""
        arrays = [getattr(self, name) for name in ARRAYS]
        sizes = [
            len(self.vdevs), len(self.slabs), len(self.log), len(self.files), len(self.datasets),
            len(self.kept), self.starts.shape[1], self.ratio_values.shape[1],
        ]  # fmt: skip
        self.table = np.array([address_of(array) for array in arrays] + sizes, dtype=np.int64)

    def forget(self, *names: str) -> None:
        """Free arrays that are not needed any more."""
        for name in names:
            setattr(self, name, getattr(self, name)[:0].copy())


ARRAYS = (
    "rules", "vdevs", "slabs", "allocators", "cursors", "histogram", "starts", "ends", "owners", "log",
    "marks", "now", "slots", "files", "datasets", "lists", "kept", "ratio_values", "ratio_chances",
    "snapshots", "groups", "writes",
)  # fmt: skip
(
    _RULES, _VDEVS, _SLABS, _ALLOCATORS, _CURSORS, _HISTOGRAM, _STARTS, _ENDS, _OWNERS, _LOG, _MARKS,
    _NOW, _SLOTS, _FILES, _DATASETS, _LISTS, _KEPT, _RATIO_VALUES, _RATIO_CHANCES, _SNAPSHOTS, _GROUPS,
    _WRITES, VDEVS, SLABS, LOG_SIZE, FILES, DATASETS, KEPT_ROOM, _ROOM, _RATIOS,
) = range(30)  # fmt: skip
# Arrays by name: each takes the table.  `rules_of` and `now_of` are arrays of one.
rules_of = records_in(HistoryRulesRecord, _RULES, align=True)
vdevs_of = records_in(HistoryVdevRecord, _VDEVS, align=True)
slabs_of = records_in(SlabRecord, _SLABS, align=True)
allocators_of = records_in(RotorRecord, _ALLOCATORS)
# The active metaslabs: entry (allocator * vdevs + vdev) * 3 + role.
owners_of = array_in(np.int64, _OWNERS)
log_of = records_in(FreedRecord, _LOG)
marks_of = array_in(np.int64, _MARKS)
now_of = records_in(NowRecord, _NOW, align=True)
slots_of = records_in(PlaceRecord, _SLOTS, align=True)
files_of = records_in(FileRecord, _FILES, align=True)
datasets_of = records_in(DatasetRecord, _DATASETS)
lists_of = records_in(ListRecord, _LISTS, align=True)
kept_of = records_in(KeptRecord, _KEPT, align=True)
snapshots_of = array_in(np.int64, _SNAPSHOTS)
# What an allocator has queued on a vdev: entry allocator * vdevs + vdev.
groups_of = records_in(GroupRecord, _GROUPS)
# The queue of a vdev: entry vdev * IO_SLOTS + number.
writes_of = records_in(WriteRecord, _WRITES)
_int64_at, _float64_at = array_at(np.int64), array_at(np.float64)


@njit
def cursors_of(pool: I64, slab: int) -> I64:
    """Return the cursors of one metaslab by alignment."""
    return _int64_at(pool[_CURSORS] + 8 * BUCKETS * slab)


@njit
def histogram_of(pool: I64, slab: int) -> I64:
    """Return the numbers of free segments of one metaslab by size."""
    return _int64_at(pool[_HISTOGRAM] + 8 * BUCKETS * slab)


@njit
def starts_of(pool: I64, slab: int) -> I64:
    """Return the starts of the free segments of one metaslab."""
    return _int64_at(pool[_STARTS] + 8 * pool[_ROOM] * slab)


@njit
def ends_of(pool: I64, slab: int) -> I64:
    """Return the ends of the free segments of one metaslab."""
    return _int64_at(pool[_ENDS] + 8 * pool[_ROOM] * slab)


@njit
def ratio_values_of(pool: I64, kind: int) -> F64:
    """Return the psize / lsize of one kind of file."""
    return _float64_at(pool[_RATIO_VALUES] + 8 * pool[_RATIOS] * kind)


@njit
def ratio_chances_of(pool: I64, kind: int) -> F64:
    """Return the cumulated probabilities of those."""
    return _float64_at(pool[_RATIO_CHANCES] + 8 * pool[_RATIOS] * kind)
