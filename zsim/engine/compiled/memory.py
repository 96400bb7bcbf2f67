"""Memory of the data plane: arrays of records behind one table of addresses.

The compiled kernel takes a single argument, the `table`: a small array of addresses and sizes.  A view
function turns an entry into an array without counting references, so an inner function that needs two of
the thirty arrays pays for two.  `PlaneMemory` owns the arrays and keeps them alive.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zsim.base.arrays import (
    F32,
    F64,
    I32,
    I64,
    Records,
    Table,
    array_at,
    array_in,
    matrix_at,
    records_at,
    records_in,
    sparse_zeros,
)
from zsim.base.jit import address_of, njit, word_of
from zsim.drives.models.health import MOST_FAILURES
from zsim.drives.models.parameters import MAX_SEGMENTS, MAX_ZONES
from zsim.drives.physics.ailing import HEALTH_DTYPE, HealthRecord, health_table
from zsim.drives.physics.bounds import LANES
from zsim.drives.physics.mechanics import (
    DRIVE_DTYPE,
    ZONE_DTYPE,
    DriveRecord,
    ZoneRecord,
    drive_table,
    zone_table,
)
from zsim.drives.physics.smr import COUNTERS, counters_at_first, smr_bands
from zsim.engine.codes import CLASSES, LATENCY_BINS, LEAF_DTYPE, RECORD_DTYPE, DoneRecord, LeafRecord
from zsim.engine.compiled.records import (
    CHILD_DTYPE,
    CLIENT_DTYPE,
    COMMAND_DTYPE,
    COPY_DTYPE,
    GENERAL_DTYPE,
    ITEM_DTYPE,
    LINK_DTYPE,
    OPERATION_DTYPE,
    QUEUE_DTYPE,
    QUEUE_RULES_DTYPE,
    SCAN_RULES_DTYPE,
    SITTING_DTYPE,
    SLOT_DTYPE,
    STREAM_DTYPE,
    VDEV_DTYPE,
    ChildRecord,
    ClientRecord,
    CommandRecord,
    CopyRecord,
    GeneralRecord,
    ItemRecord,
    LinkRecord,
    OperationRecord,
    QueueRecord,
    SittingRecord,
    SlotRecord,
    StreamRecord,
    VdevRecord,
)
from zsim.engine.model import LeafModel, LinkModel, QueueRules, ScanRules
from zsim.engine.sit_out import LATENCY_BUCKETS

# Numbers by class of a leaf (`counts_of`), words of a read-ahead segment, rows of a table of bands.
COUNTS, SEGMENT_WORDS, BAND_ROWS = 3, 3, 3
BUCKETS = 256

GROUP_WORDS = 5
"""Of a row of a group: leaf, class, write, child offset [bytes], length [bytes]."""
(
    OWNER_SCAN_READ,
    OWNER_SCAN_WRITE,
    OWNER_METADATA,
    OWNER_GROUP,
    OWNER_CLIENT,
    OWNER_SCAN_COPY,
    OWNER_DEMAND,
) = range(7)
# What stands for the leaf to repair of a child whose data go to the first distributed spare; one less for
# each further spare.
SPARE_LEAF = -2
RANDOM_READ, SEQUENTIAL_READ, SYNC_WRITES = range(3)


# Entries of the table: addresses first, sizes behind them.
(
    GENERAL,
    QUEUE_RULES,
    SCAN_RULES,
    LIMITS,
    DRIVES,
    RATES,
    LEAVES,
    CLASS_COUNTS,
    BUCKET_COUNTS,
    QUEUE,
    BOUNDS,
    CHILDREN,
    COMMANDS,
    HELD,
    EVENT_TIME,
    FIRST_TIME,
    EVENT_COMMAND,
    ACKNOWLEDGE,
    LINKS,
    VDEVS,
    CHILD_LEAF,
    PERMUTATIONS,
    SLOTS,
    STREAMS,
    PROGRAM,
    ITEMS,
    COPIES,
    HEAP,
    CLIENTS,
    CLIENT_ITEMS,
    RECORDS,
    SEGMENTS,
    SHINGLES,
    SHINGLE_BOUNDS,
    ZONES,
    PLACES,
    BEARINGS,
    REACH,
    MIRROR_SIDES,
    HEALTH,
    BAD_SECTORS,
    FAILURES,
    HISTOGRAMS,
    SITTING,
    LATENCIES,
    WAITS,
    GROUP_ROWS,
    ABOVE,
    FREE_CHILDREN,
    N_LEAVES,
    N_SERVERS,
    N_LINKS,
    N_CLIENTS,
    N_STREAMS,
    N_RECORDS,
    N_SLOTS,
    QUEUE_CAPACITY,
    HELD_CAPACITY,
    PROGRAM_MASK,
    ITEM_MASK,
    COPY_MASK,
    N_CHILDREN,
    TABLE_LENGTH,
) = range(63)


# Arrays by name: each takes the table.  `general_of` is an array of one, since a record itself would be a
# copy.
general_of, limits_of = records_in(GeneralRecord, GENERAL), array_in(np.int64, LIMITS)
drives_of = records_in(DriveRecord, DRIVES)
queue_rules_of = records_in(QueueRules, QUEUE_RULES)
scan_rules_of = records_in(ScanRules, SCAN_RULES)
leaves_of, bounds_of = records_in(LeafRecord, LEAVES), array_in(np.int64, BOUNDS)
children_of, commands_of = records_in(ChildRecord, CHILDREN), records_in(CommandRecord, COMMANDS)
event_times_of, event_commands_of = array_in(np.float64, EVENT_TIME), array_in(np.int32, EVENT_COMMAND)
# The same times as integers, which are ordered alike since none is below zero.
event_bits_of = array_in(np.int64, EVENT_TIME)
# The first of each `LANES` of them, where there are many.
first_times_of, first_bits_of = array_in(np.float64, FIRST_TIME), array_in(np.int64, FIRST_TIME)
links_of, vdevs_of = records_in(LinkRecord, LINKS), records_in(VdevRecord, VDEVS)
# Leaf to read (even entries) and leaf to repair (odd entries) of every vdev child.
child_leaf_of = array_in(np.int32, CHILD_LEAF)
slots_of, streams_of = records_in(SlotRecord, SLOTS), records_in(StreamRecord, STREAMS)
program_of, items_of = records_in(OperationRecord, PROGRAM), records_in(ItemRecord, ITEMS)
group_rows_of = array_in(np.int64, GROUP_ROWS)
copies_of, heap_of = records_in(CopyRecord, COPIES), array_in(np.int64, HEAP)
clients_of, client_items_of = records_in(ClientRecord, CLIENTS), array_in(np.int64, CLIENT_ITEMS)
# Of every item the metadata block above it, -1: none; where clients need it.
above_of = array_in(np.int64, ABOVE)
records_of = records_in(DoneRecord, RECORDS)
table_at, _int32_at, _float64_at = array_at(np.int64), array_at(np.int32), array_at(np.float64)
_float32_at, _queue_at, _zones_at = array_at(np.float32), records_at(QueueRecord), records_at(ZoneRecord)
WORD = 8
HALF = 4
QUEUE_BYTES, ZONE_BYTES = QUEUE_DTYPE.itemsize, ZONE_DTYPE.itemsize
# What ails drives, which sectors they cannot read.
health_of, bad_sectors_of = records_in(HealthRecord, HEALTH), array_in(np.int64, BAD_SECTORS)
# Children that sit out or may, and room for their latencies.
sitting_of, latencies_of = records_in(SittingRecord, SITTING), array_in(np.int64, LATENCIES)
# The first child I/O that each leaf has free, -1: none.
free_children_of = array_in(np.int64, FREE_CHILDREN)
# How often clients of each kind waited how long.
waits_of = array_in(np.int64, WAITS)
# Room for one drive's choice among what it holds.
reach_of, reach_bits_of = array_in(np.float32, REACH), array_in(np.int32, REACH)


_permutation_matrix = matrix_at(np.int64)


@njit
def permutations_of(table: Table, vdev: VdevRecord) -> I64:
    """Return the base permutations of a dRAID, row after row."""
    return _permutation_matrix(
        word_of(table, PERMUTATIONS) + WORD * vdev.permutation, vdev.permutations, vdev.children
    )


@njit
def rates_of(table: Table, leaf: int) -> F64:
    """Return the zone rates of one leaf [bytes/s]."""
    return _float64_at(word_of(table, RATES) + WORD * MAX_ZONES * leaf)


@njit
def zones_of(table: Table, leaf: int) -> Records[ZoneRecord]:
    """Return the zones of one leaf, records of ZONE_DTYPE."""
    return _zones_at(word_of(table, ZONES) + ZONE_BYTES * MAX_ZONES * leaf)


@njit
def segments_of(table: Table, leaf: int) -> I64:
    """Return the read-ahead segments of a drive: first byte, byte behind the last, time of last use."""
    first = word_of(table, SEGMENTS) + SEGMENT_WORDS * WORD * MAX_SEGMENTS * leaf
    return _permutation_matrix(first, drives_of(table)[leaf].read_segments, SEGMENT_WORDS)


@njit
def shingles_of(table: Table, leaf: int) -> tuple[I64, I64, I64]:
    """Return the state of a shingled drive: counters, bands, queue (`smr.shingles_at_first`)."""
    bounds = table_at(word_of(table, SHINGLE_BOUNDS) + 2 * WORD * leaf)
    first, bands = word_of(table, SHINGLES) + WORD * bounds[0], bounds[1]
    table_of_bands = first + WORD * COUNTERS
    return (
        table_at(first),
        _permutation_matrix(table_of_bands, BAND_ROWS, bands),
        table_at(table_of_bands + BAND_ROWS * WORD * bands),
    )


@njit
def counts_of(table: Table, leaf: int) -> I64:
    """Return active, queued and oldest bucket by class of one leaf, CLASSES entries each."""
    return table_at(word_of(table, CLASS_COUNTS) + COUNTS * WORD * CLASSES * leaf)


@njit
def buckets_of(table: Table, leaf: int, klass: int) -> I32:
    """Return the number of queued I/Os by arrival bucket of one leaf and class."""
    return _int32_at(word_of(table, BUCKET_COUNTS) + HALF * BUCKETS * (CLASSES * leaf + klass))


@njit
def queue_of(table: Table, row: int) -> Records[QueueRecord]:
    """Return the entries of one offset-ordered queue; row is 2 * leaf + (1 for writes)."""
    return _queue_at(word_of(table, QUEUE) + QUEUE_BYTES * word_of(table, QUEUE_CAPACITY) * row)


@njit
def begin_of_held(table: Table, leaf: int) -> I64:
    """Return where a drive's list of commands begins, an array of one."""
    return table_at(word_of(table, BOUNDS) + 2 * WORD * (2 * word_of(table, N_LEAVES) + leaf))


@njit
def held_of(table: Table, leaf: int) -> I32:
    """Return the commands a drive holds, in order of arrival."""
    begin = begin_of_held(table, leaf)[0]
    return _int32_at(word_of(table, HELD) + HALF * (word_of(table, HELD_CAPACITY) * leaf + begin))


@njit
def _padded_held(table: Table, leaf: int) -> int:
    """Return where what is known of the commands that a drive holds begins: rows are longer, for vectors."""
    return int((word_of(table, HELD_CAPACITY) + LANES) * leaf + begin_of_held(table, leaf)[0])


@njit
def places_of(table: Table, leaf: int) -> I32:
    """Return where the commands that a drive holds begin (`bounds.reach_bounds`), in order of arrival."""
    return _int32_at(word_of(table, PLACES) + HALF * _padded_held(table, leaf))


@njit
def bearings_of(table: Table, leaf: int) -> F32:
    """Return the bearings of the commands that a drive holds, in order of arrival."""
    return _float32_at(word_of(table, BEARINGS) + HALF * _padded_held(table, leaf))


@njit
def acknowledge_of(table: Table, leaf: int) -> I32:
    """Return the cached writes of a drive that are not yet answered."""
    return _int32_at(word_of(table, ACKNOWLEDGE) + HALF * word_of(table, HELD_CAPACITY) * leaf)


@njit
def failures_of(table: Table, leaf: int) -> F64:
    """Return when the last errors of a drive were [s]."""
    return _float64_at(word_of(table, FAILURES) + WORD * MOST_FAILURES * leaf)


@njit
def histogram_of(table: Table, leaf: int) -> I64:
    """Return how many reads of a leaf took how long since it was last looked at (`sit_out`)."""
    return table_at(word_of(table, HISTOGRAMS) + WORD * LATENCY_BUCKETS * leaf)


@njit
def mirror_sides_of(table: Table, children: int) -> I64:
    """Return room for what is known of a mirror's children: their loads, and their standings."""
    return _permutation_matrix(word_of(table, MIRROR_SIDES), 2, children)


@njit
def link_slot(table: Table, link: int) -> int:
    """Return the event slot of a link."""
    return int(word_of(table, N_LEAVES) * word_of(table, N_SERVERS) + link)


@njit
def cache_slot(table: Table, leaf: int) -> int:
    """Return the event slot of a drive's write cache."""
    return link_slot(table, word_of(table, N_LINKS)) + leaf


@njit
def device_slots(table: Table) -> int:
    """Return how many event slots belong to drives, links and write caches."""
    return cache_slot(table, word_of(table, N_LEAVES))


@njit
def client_slot(table: Table, client: int) -> int:
    """Return the event slot of a foreground client."""
    return device_slots(table) + client


@njit
def stream_slot(table: Table, stream: int) -> int:
    """Return the event slot of a scan stream's delay."""
    return client_slot(table, word_of(table, N_CLIENTS)) + stream


def power_of_two(count: int) -> int:
    """Return the smallest power of two that is at least `count` and 1."""
    return 1 << max(0, int(count - 1).bit_length())


class PlaneMemory:
    """Arrays of one data plane, and the table the kernel takes.

    Parameters
    ----------
    sizes : dict of str to int
        ``leaves, servers, links, clients, groups, streams, client_items, records, queue, held, program,
        items, copies, vdevs, vdev_children, permutations, slots, children, commands, shingles``; numbers
        of operations, items and copies may run on beyond their sizes, if these are powers of two.
    """

    def __init__(self, **sizes: int) -> None:
        leaves, queue = sizes["leaves"], sizes["queue"]
        self.general = np.zeros(1, GENERAL_DTYPE)
        self.queue_rules = np.zeros(1, QUEUE_RULES_DTYPE)
        self.scan_rules = np.zeros(1, SCAN_RULES_DTYPE)
        self.limits = np.zeros((2, CLASSES), np.int64)
        self.drives, self.free_children = np.zeros(leaves, DRIVE_DTYPE), np.full(leaves, -1, np.int64)
        self.rates = np.zeros((leaves, MAX_ZONES))
        self.leaves = np.zeros(leaves, LEAF_DTYPE)
        self.class_counts = np.zeros((leaves, COUNTS, CLASSES), np.int64)
        self.bucket_counts = np.zeros((leaves, CLASSES, BUCKETS), np.int32)
        self.queue = sparse_zeros((2 * leaves, queue), QUEUE_DTYPE)
        # Of the queue rows; the last third are the drives' lists of commands.
        self.bounds = np.zeros((3 * leaves, 2), np.int64)
        self.children = sparse_zeros(sizes["children"], CHILD_DTYPE)
        self.commands = sparse_zeros(sizes["commands"], COMMAND_DTYPE)
        self.held = np.zeros((leaves, sizes["held"]), np.int32)
        groups = -(-_event_slots(sizes) // LANES)
        self.event_time, self.first_time = np.full(groups * LANES, np.inf), np.full(groups, np.inf)
        self.event_command = np.full(leaves * sizes["servers"], -1, np.int32)
        self.acknowledge = np.zeros((leaves, sizes["held"]), np.int32)
        self.links = np.zeros(max(1, sizes["links"]), LINK_DTYPE)
        self.vdevs = np.zeros(sizes["vdevs"], VDEV_DTYPE)
        self.child_leaf = np.full((sizes["vdev_children"], 2), -1, np.int32)
        self.permutations = np.zeros(max(1, sizes["permutations"]), np.int64)
        self.slots = np.zeros(sizes["slots"], SLOT_DTYPE)
        self.streams = np.zeros(sizes["streams"], STREAM_DTYPE)
        self.program = np.zeros(sizes["program"], OPERATION_DTYPE)
        self.items = np.zeros(sizes["items"], ITEM_DTYPE)
        self.copies = np.zeros(sizes["copies"], COPY_DTYPE)
        self.heap = np.zeros(sizes["items"], np.int64)
        self.clients = np.zeros(max(1, sizes["clients"]), CLIENT_DTYPE)
        self.client_items = np.zeros(max(1, sizes["client_items"]), np.int64)
        self.records = np.zeros(max(1, sizes["records"]), RECORD_DTYPE)
        self.segments = np.zeros((leaves, MAX_SEGMENTS, SEGMENT_WORDS), np.int64)
        self.shingles = np.zeros(max(1, sizes["shingles"]), np.int64)
        self.shingle_bounds = np.zeros((leaves, 2), np.int64)
        self.zones = np.zeros((leaves, MAX_ZONES), ZONE_DTYPE)
        # What a drive knows of the commands it holds, beside `held`, and bounds of the times to reach them.
        self.places = np.zeros((leaves, sizes["held"] + LANES), np.int32)
        self.bearings = np.zeros((leaves, sizes["held"] + LANES), np.float32)
        self.reach = np.zeros(sizes["held"] + LANES, np.float32)
        self.mirror_sides = np.zeros((2, max(1, sizes["vdev_children"])), np.int64)
        self.health = np.zeros(leaves, HEALTH_DTYPE)
        self.bad_sectors = np.zeros(2, np.int64)
        self.failures = np.zeros((leaves, MOST_FAILURES))
        self.histograms = np.zeros((leaves, LATENCY_BUCKETS), np.int64)
        self.sitting = np.zeros(sizes["vdev_children"], SITTING_DTYPE)
        self.latencies = np.zeros(sizes["vdev_children"], np.int64)
        self.waits = np.zeros((max(1, sizes.get("groups", 0)), LATENCY_BINS), np.int64)
        self.group_rows, self.above = np.zeros((1, GROUP_WORDS), np.int64), np.zeros(1, np.int64)
        self.table = self._table(sizes)
        self._begin()

    def _table(self, sizes: dict[str, int]) -> I64:
        """Return the table: each array's address under its own name in capitals, then the sizes."""
        table, entries = np.zeros(TABLE_LENGTH, np.int64), globals()
        for name, value in vars(self).items():
            table[entries[name.upper()]] = address_of(value)
        for name in ("leaves", "servers", "links", "clients", "streams", "records"):
            table[entries[f"N_{name.upper()}"]] = sizes[name]
        table[QUEUE_CAPACITY], table[HELD_CAPACITY] = sizes["queue"], sizes["held"]
        table[N_SLOTS], table[N_CHILDREN] = _event_slots(sizes), sizes["children"]
        for entry, name in ((PROGRAM_MASK, "program"), (ITEM_MASK, "items"), (COPY_MASK, "copies")):
            table[entry] = power_of_two(sizes[name]) - 1
        return table

    def hold_health(self, leaves: Sequence[LeafModel]) -> None:
        """Lay out what ails the drives."""
        self.health[:], self.bad_sectors = health_table([leaf.health for leaf in leaves])
        self.table[BAD_SECTORS] = address_of(self.bad_sectors)

    def hold_rules(self, queue: QueueRules, scan: ScanRules) -> None:
        """Lay out the rules by which the plane runs."""
        for record, rules in ((self.queue_rules, queue), (self.scan_rules, scan)):
            for name in record.dtype.names or ():
                record[name] = getattr(rules, name)
        self.limits[0], self.limits[1] = queue.minimum, queue.maximum

    def hold_group(self, rows: I64) -> None:
        """Lay out a group of plain I/Os, which the kernel is to queue."""
        self.group_rows = np.ascontiguousarray(rows)
        self.table[GROUP_ROWS] = address_of(self.group_rows)
        self.general["group_left"] += len(rows)
        self.general["group_rows"], self.general["group_waiting"] = len(rows), 1

    def hold_above(self, above: I64) -> None:
        """Lay out which metadata is above each item; clients read what is missing of it."""
        self.above = np.ascontiguousarray(above, np.int64)
        self.table[ABOVE], self.general["cold"] = address_of(self.above), 1

    def widen_queues(self, capacity: int) -> None:
        """Make room for so many entries in every leaf queue (never while the kernel runs)."""
        before, self.queue = self.queue, np.zeros((len(self.queue), capacity), QUEUE_DTYPE)
        for row, old in enumerate(before):
            low, high = self.bounds[row]
            start = capacity // 4
            self.queue[row, start : start + high - low] = old[low:high]
            self.bounds[row] = start, start + high - low
        self.table[QUEUE], self.table[QUEUE_CAPACITY] = address_of(self.queue), capacity

    def hold_children(self, most: int) -> None:
        """Make room for so many child I/Os (never while the kernel runs)."""
        if most <= len(self.children):
            return
        before, self.children = self.children, sparse_zeros(2 * most, CHILD_DTYPE)
        self.children[: len(before)] = before
        self.table[CHILDREN], self.table[N_CHILDREN] = address_of(self.children), len(self.children)

    def make_room(self, operations: int) -> None:
        """Make room for programs of so many operations, in place of those loaded."""
        if operations > len(self.program):
            self.program = np.zeros(operations, OPERATION_DTYPE)
            self.table[PROGRAM], self.table[PROGRAM_MASK] = (
                address_of(self.program),
                power_of_two(operations) - 1,
            )

    def _begin(self) -> None:
        # Free children (of each leaf), commands and slots are lists by difference: zero means the one behind,
        # so that memory that is never used is never touched.
        self.general["free_slots"] = len(self.slots)
        self.general["idle_since"] = -1.0
        self.general["first_scan"] = -1.0
        self.general["last_client"] = -1e18


def _event_slots(sizes: dict[str, int]) -> int:
    """Return how many things can have an event: servers of drives, links, write caches, clients, streams."""
    devices = sizes["leaves"] * (sizes["servers"] + 1) + sizes["links"]
    return devices + sizes["clients"] + sizes["streams"]


def shingle_words(leaves: Sequence[LeafModel]) -> int:
    """Return how many numbers the state of all shingled drives takes."""
    return sum(COUNTERS + 4 * smr_bands(leaf.drive) for leaf in leaves)


def load_devices(memory: PlaneMemory, leaves: Sequence[LeafModel], links: Sequence[LinkModel]) -> None:
    """Lay out drives, links and the state in which they begin."""
    memory.drives[:], memory.rates[:] = drive_table([leaf.drive for leaf in leaves])
    memory.zones[:] = zone_table(memory.drives, memory.rates)
    memory.leaves["link"] = [leaf.link for leaf in leaves]
    memory.leaves["last_class"] = CLASSES - 1
    memory.leaves["ahead_since"] = -1.0
    _load_shingles(memory, leaves)
    memory.hold_health(leaves)
    for number, link in enumerate(links):
        memory.links[number]["rate"] = link.rate
        memory.links[number]["per_command"] = link.per_command_s
        memory.links[number]["command_based"] = link.command_based
        memory.links[number]["parent"] = link.parent
    memory.links["first"] = -1


def _load_shingles(memory: PlaneMemory, leaves: Sequence[LeafModel]) -> None:
    """Lay out the state of every shingled drive (`smr.shingles_at_first`): bands and queue are zeros.

    Those are left as they are: memory that is never touched is never taken.
    """
    first = 0
    for number, leaf in enumerate(leaves):
        bands = smr_bands(leaf.drive)
        if bands == 0:
            continue
        memory.shingle_bounds[number] = first, bands
        memory.shingles[first : first + COUNTERS] = counters_at_first(leaf.drive)
        first += COUNTERS + 4 * bands
