"""Memory of the data plane: arrays of records behind one table of addresses.

The compiled kernel takes a single argument, the `table`: a small array of addresses and sizes.  A view
function turns an entry into an array without counting references, so an inner function that needs two of
the thirty arrays pays for two.  `PlaneMemory` owns the arrays and keeps them alive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zsim.base.jit import Record, Table, View, address_of, array_at, array_in, matrix_at, njit, word_of
from zsim.drives.models.parameters import MAX_SEGMENTS, MAX_ZONES
from zsim.drives.physics.mechanics import DRIVE_DTYPE, LANES, ZONE_DTYPE, drive_table, zone_table
from zsim.drives.physics.smr import COUNTERS, counters_at_first, smr_bands
from zsim.engine.codes import CLASSES, LEAF_DTYPE, RECORD_DTYPE
from zsim.engine.model import LeafModel, LinkModel, QueueRules, ScanRules

# Numbers by class of a leaf (`counts_of`), words of a read-ahead segment, rows of a table of bands.
COUNTS, SEGMENT_WORDS, BAND_ROWS = 3, 3, 3
BUCKETS = 256

OWNER_SCAN_READ, OWNER_SCAN_WRITE, OWNER_METADATA, OWNER_GROUP, OWNER_CLIENT, OWNER_SCAN_COPY = range(6)
# What stands for the leaf to repair of a child whose data go to a distributed spare.
SPARE_LEAF = -2
RANDOM_READ, SEQUENTIAL_READ, SYNC_WRITES = range(3)


def rules_dtype(rules: type) -> np.dtype[Any]:
    """Return the record of a frozen dataclass of rules: its numbers by name; limits by class are `limits`."""
    named = ((each.name, RULE_TYPES.get(str(each.type))) for each in fields(rules))
    return np.dtype([(name, code) for name, code in named if code is not None])


RULE_TYPES = {"int": "i8", "bool": "i8", "float": "f8"}
QUEUE_RULES_DTYPE, SCAN_RULES_DTYPE = rules_dtype(QueueRules), rules_dtype(ScanRules)
GENERAL_DTYPE = np.dtype(
    [
        ("now", "f8"),
        ("events", "i8"),
        ("children_queued", "i8"),
        ("sequence", "i8"),
        ("free_child", "i8"),
        ("free_command", "i8"),
        ("free_slot", "i8"),
        ("free_slots", "i8"),
        # Scan thread.
        ("running", "i8"),
        ("pause_at", "f8"),
        ("last_client", "f8"),
        ("refill", "i8"),
        # Metadata.
        ("metadata_inflight", "i8"),
        ("prefetch_bytes", "i8"),
        ("heap_size", "i8"),
        # Groups, clients and what was seen.
        ("group_left", "i8"),
        ("group_waiting", "i8"),
        ("epoch", "i8"),
        ("epoch_left", "i8"),
        ("epoch_waiting", "i8"),
        ("records", "i8"),
        ("first_scan", "f8"),
        ("last_scan", "f8"),
        ("inflight_blocks", "i8"),
        ("idle_since", "f8"),
        ("idle_total", "f8"),
        ("client_reads", "i8"),
        ("client_latency", "f8"),
        ("label_bytes", "i8"),
    ]
)
CHILD_DTYPE = np.dtype(
    [
        ("offset", "i8"),
        ("length", "i8"),
        ("stamp", "i8"),
        ("bucket", "i8"),
        ("owner", "i4"),
        ("next", "i4"),
        ("kind", "i2"),
        ("klass", "i2"),
        ("flags", "i2"),
        ("write", "i2"),
    ]
)
QUEUE_DTYPE = np.dtype([("offset", "i8"), ("child", "i8")])
QUEUE_BYTES, ZONE_BYTES = QUEUE_DTYPE.itemsize, ZONE_DTYPE.itemsize
COMMAND_DTYPE = np.dtype(
    [
        ("offset", "i8"),
        ("length", "i8"),
        ("submitted", "f8"),
        ("arrived", "f8"),
        ("started", "f8"),
        ("due", "f8"),
        ("rate", "f8"),
        ("angle", "f8"),
        ("first_child", "i4"),
        ("next", "i4"),
        ("leaf", "i4"),
        ("aggregated", "i4"),
        ("klass", "i2"),
        ("write", "i2"),
        ("scan", "i2"),
        ("cache", "i2"),
        # Whether the sectors that it covers in part have been read already.
        ("fetched", "i8"),
    ]
)
# `others`: further DVAs wait for the repair of the one that was read.  `epoch` is that of `general` when the
# block was issued; `general.epoch_left` blocks of closed epochs are in flight.
SLOT_DTYPE = np.dtype(
    [
        ("item", "i8"),
        ("reads", "i4"),
        ("writes", "i4"),
        ("stream", "i4"),
        ("next", "i4"),
        ("epoch", "i8"),
        ("others", "i8"),
    ]
)
VDEV_DTYPE = np.dtype(
    [
        ("kind", "i8"),
        ("children", "i8"),
        ("parity", "i8"),
        ("ashift", "i8"),
        ("first_child", "i8"),
        ("data", "i8"),
        ("spares", "i8"),
        ("permutation", "i8"),
        ("permutations", "i8"),
    ]
)
STREAM_DTYPE = np.dtype(
    [
        ("position", "i8"),
        ("end", "i8"),
        ("state", "i8"),
        ("inflight", "i8"),
        ("limit", "i8"),
        ("counts_blocks", "i8"),
        ("delayed", "i8"),
        ("unwind", "i8"),
        ("issued_blocks", "i8"),
        ("issued_bytes", "i8"),
        ("first_visit", "f8"),
        ("last_visit", "f8"),
    ]
)
LINK_DTYPE = np.dtype(
    [
        ("rate", "f8"),
        ("per_command", "f8"),
        ("command_based", "i8"),
        ("parent", "i8"),
        ("free_at", "f8"),
        ("busy", "f8"),
        ("occupied", "i8"),
        ("first", "i8"),
        ("last", "i8"),
    ]
)
OPERATION_DTYPE = np.dtype([("item", "i8"), ("code", "i8")])
ITEM_DTYPE = np.dtype(
    [
        ("offset", "i8"),
        ("psize", "i8"),
        ("copies", "i8"),
        ("prefetch_first", "i8"),
        ("prefetch_next", "i8"),
        ("unwind", "i8"),
        ("vdev", "i2"),
        # Data columns of the block's stripe, 0: as of new blocks.
        ("columns", "i2"),
        ("copy_count", "i4"),
        ("metadata_left", "i4"),
        ("level0", "i2"),
        ("metadata_state", "i2"),
    ]
)
COPY_DTYPE = np.dtype([("offset", "i8"), ("vdev", "i4"), ("columns", "i4")])
CLIENT_DTYPE = np.dtype(
    [
        ("think", "f8"),
        ("started", "f8"),
        ("latency", "f8"),
        ("seed", "i8"),
        ("count", "i8"),
        ("left", "i8"),
        # What it does, how many blocks a request has, its part of the client items, and where it is in it.
        ("mode", "i8"),
        ("blocks", "i8"),
        ("first", "i8"),
        ("items", "i8"),
        ("place", "i8"),
        ("answered", "i8"),
    ]
)
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
    N_LEAVES,
    N_SERVERS,
    N_LINKS,
    N_CLIENTS,
    N_STREAMS,
    N_RECORDS,
    QUEUE_CAPACITY,
    HELD_CAPACITY,
    PROGRAM_MASK,
    ITEM_MASK,
    COPY_MASK,
    TABLE_LENGTH,
) = range(50)


# Arrays by name: each takes the table.  `general_of` is an array of one, since a record itself would be a
# copy.
general_of, limits_of, drives_of = (
    array_in(GENERAL_DTYPE, GENERAL),
    array_in("i8", LIMITS),
    array_in(DRIVE_DTYPE, DRIVES),
)
queue_rules_of = array_in(QUEUE_RULES_DTYPE, QUEUE_RULES)
scan_rules_of = array_in(SCAN_RULES_DTYPE, SCAN_RULES)
leaves_of, bounds_of = array_in(LEAF_DTYPE, LEAVES), array_in("i8", BOUNDS)
children_of, commands_of = array_in(CHILD_DTYPE, CHILDREN), array_in(COMMAND_DTYPE, COMMANDS)
event_times_of, event_commands_of = array_in("f8", EVENT_TIME), array_in("i4", EVENT_COMMAND)
# The same times as integers, which are ordered alike since none is below zero.
event_bits_of = array_in("i8", EVENT_TIME)
links_of, vdevs_of = array_in(LINK_DTYPE, LINKS), array_in(VDEV_DTYPE, VDEVS)
# Leaf to read (even entries) and leaf to repair (odd entries) of every vdev child.
child_leaf_of = array_in("i4", CHILD_LEAF)
slots_of, streams_of = array_in(SLOT_DTYPE, SLOTS), array_in(STREAM_DTYPE, STREAMS)
program_of, items_of = array_in(OPERATION_DTYPE, PROGRAM), array_in(ITEM_DTYPE, ITEMS)
copies_of, heap_of = array_in(COPY_DTYPE, COPIES), array_in("i8", HEAP)
clients_of, client_items_of = array_in(CLIENT_DTYPE, CLIENTS), array_in("i8", CLIENT_ITEMS)
records_of = array_in(RECORD_DTYPE, RECORDS)
table_at, _int32_at, _float64_at = array_at("i8"), array_at("i4"), array_at("f8")
_float32_at, _queue_at, _zones_at = array_at("f4"), array_at(QUEUE_DTYPE), array_at(ZONE_DTYPE)
WORD = 8
HALF = 4
# Room for one drive's choice among what it holds.
reach_of, reach_bits_of = array_in("f4", REACH), array_in("i4", REACH)


_permutation_matrix = matrix_at("i8")


@njit
def permutations_of(table: Table, vdev: Record) -> View:
    """Return the base permutations of a dRAID, row after row."""
    return _permutation_matrix(
        word_of(table, PERMUTATIONS) + WORD * vdev.permutation, vdev.permutations, vdev.children
    )


@njit
def rates_of(table: Table, leaf: int) -> View:
    """Return the zone rates of one leaf [bytes/s]."""
    return _float64_at(word_of(table, RATES) + WORD * MAX_ZONES * leaf)


@njit
def zones_of(table: Table, leaf: int) -> View:
    """Return the zones of one leaf, records of ZONE_DTYPE."""
    return _zones_at(word_of(table, ZONES) + ZONE_BYTES * MAX_ZONES * leaf)


@njit
def segments_of(table: Table, leaf: int) -> View:
    """Return the read-ahead segments of a drive: first byte, byte behind the last, time of last use."""
    first = word_of(table, SEGMENTS) + SEGMENT_WORDS * WORD * MAX_SEGMENTS * leaf
    return _permutation_matrix(first, drives_of(table)[leaf].read_segments, SEGMENT_WORDS)


@njit
def shingles_of(table: Table, leaf: int) -> View:
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
def counts_of(table: Table, leaf: int) -> View:
    """Return active, queued and oldest bucket by class of one leaf, CLASSES entries each."""
    return table_at(word_of(table, CLASS_COUNTS) + COUNTS * WORD * CLASSES * leaf)


@njit
def buckets_of(table: Table, leaf: int, klass: int) -> View:
    """Return the number of queued I/Os by arrival bucket of one leaf and class."""
    return _int32_at(word_of(table, BUCKET_COUNTS) + HALF * BUCKETS * (CLASSES * leaf + klass))


@njit
def queue_of(table: Table, row: int) -> View:
    """Return the entries of one offset-ordered queue; row is 2 * leaf + (1 for writes)."""
    return _queue_at(word_of(table, QUEUE) + QUEUE_BYTES * word_of(table, QUEUE_CAPACITY) * row)


@njit
def begin_of_held(table: Table, leaf: int) -> View:
    """Return where a drive's list of commands begins, an array of one."""
    return table_at(word_of(table, BOUNDS) + 2 * WORD * (2 * word_of(table, N_LEAVES) + leaf))


@njit
def held_of(table: Table, leaf: int) -> View:
    """Return the commands a drive holds, in order of arrival."""
    begin = begin_of_held(table, leaf)[0]
    return _int32_at(word_of(table, HELD) + HALF * (word_of(table, HELD_CAPACITY) * leaf + begin))


@njit
def places_of(table: Table, leaf: int) -> View:
    """Return where the commands that a drive holds begin (`mechanics.reach_bounds`), in order of arrival."""
    first = (word_of(table, HELD_CAPACITY) + LANES) * leaf + begin_of_held(table, leaf)[0]
    return _int32_at(word_of(table, PLACES) + HALF * first)


@njit
def bearings_of(table: Table, leaf: int) -> View:
    """Return the bearings of the commands that a drive holds, in order of arrival."""
    first = (word_of(table, HELD_CAPACITY) + LANES) * leaf + begin_of_held(table, leaf)[0]
    return _float32_at(word_of(table, BEARINGS) + HALF * first)


@njit
def acknowledge_of(table: Table, leaf: int) -> View:
    """Return the cached writes of a drive that are not yet answered."""
    return _int32_at(word_of(table, ACKNOWLEDGE) + HALF * word_of(table, HELD_CAPACITY) * leaf)


@njit
def mirror_sides_of(table: Table, children: int) -> View:
    """Return room for what is known of a mirror's children: their loads, and their standings."""
    return _permutation_matrix(word_of(table, MIRROR_SIDES), 2, children)


@njit
def link_slot(table: Table, link: int) -> int:
    """Return the event slot of a link."""
    return int(word_of(table, N_LEAVES) * word_of(table, N_SERVERS) + link)


@njit
def cache_slot(table: Table, leaf: int) -> int:
    """Return the event slot of a drive's write cache."""
    return int(word_of(table, N_LEAVES) * word_of(table, N_SERVERS) + word_of(table, N_LINKS) + leaf)


@njit
def device_slots(table: Table) -> int:
    """Return how many event slots belong to drives, links and write caches."""
    return int(
        word_of(table, N_LEAVES) * word_of(table, N_SERVERS)
        + word_of(table, N_LINKS)
        + word_of(table, N_LEAVES)
    )


@njit
def client_slot(table: Table, client: int) -> int:
    """Return the event slot of a foreground client."""
    return int(
        word_of(table, N_LEAVES) * word_of(table, N_SERVERS)
        + word_of(table, N_LINKS)
        + word_of(table, N_LEAVES)
        + client
    )


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
        ``leaves, servers, links, clients, streams, client_items, records, queue, held, program, items,
        copies, vdevs, vdev_children, permutations, slots, children, commands, shingles``; numbers
        of operations, items and copies may run on beyond their sizes, if these are powers of two.
    """

    def __init__(self, **sizes: int) -> None:
        leaves, queue = sizes["leaves"], sizes["queue"]
        slots = leaves * sizes["servers"] + sizes["links"] + leaves + sizes["clients"] + sizes["streams"]
        self.general = np.zeros(1, GENERAL_DTYPE)
        self.queue_rules = np.zeros(1, QUEUE_RULES_DTYPE)
        self.scan_rules = np.zeros(1, SCAN_RULES_DTYPE)
        self.limits = np.zeros((2, CLASSES), np.int64)
        self.drives = np.zeros(leaves, DRIVE_DTYPE)
        self.rates = np.zeros((leaves, MAX_ZONES))
        self.leaves = np.zeros(leaves, LEAF_DTYPE)
        self.class_counts = np.zeros((leaves, COUNTS, CLASSES), np.int64)
        self.bucket_counts = np.zeros((leaves, CLASSES, BUCKETS), np.int32)
        self.queue = np.zeros((2 * leaves, queue), QUEUE_DTYPE)
        # Of the queue rows; the last third are the drives' lists of commands.
        self.bounds = np.zeros((3 * leaves, 2), np.int64)
        self.children = np.zeros(sizes["children"], CHILD_DTYPE)
        self.commands = np.zeros(sizes["commands"], COMMAND_DTYPE)
        self.held = np.zeros((leaves, sizes["held"]), np.int32)
        self.event_time = np.full(-(-slots // LANES) * LANES, np.inf)
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
        self.table = self._table(sizes)
        self._begin()

    def _table(self, sizes: dict[str, int]) -> NDArray[np.int64]:
        """Return the table: each array's address under its own name in capitals, then the sizes."""
        table, entries = np.zeros(TABLE_LENGTH, np.int64), globals()
        for name, value in vars(self).items():
            table[entries[name.upper()]] = address_of(value)
        for name in ("leaves", "servers", "links", "clients", "streams", "records"):
            table[entries[f"N_{name.upper()}"]] = sizes[name]
        table[QUEUE_CAPACITY], table[HELD_CAPACITY] = sizes["queue"], sizes["held"]
        for entry, name in ((PROGRAM_MASK, "program"), (ITEM_MASK, "items"), (COPY_MASK, "copies")):
            table[entry] = power_of_two(sizes[name]) - 1
        return table

    def hold_rules(self, queue: QueueRules, scan: ScanRules) -> None:
        """Lay out the rules by which the plane runs."""
        for record, rules in ((self.queue_rules, queue), (self.scan_rules, scan)):
            for name in record.dtype.names or ():
                record[name] = getattr(rules, name)
        self.limits[0], self.limits[1] = queue.minimum, queue.maximum

    def widen_queues(self, capacity: int) -> None:
        """Make room for so many entries in every leaf queue (never while the kernel runs)."""
        before, self.queue = self.queue, np.zeros((len(self.queue), capacity), QUEUE_DTYPE)
        for row, old in enumerate(before):
            low, high = self.bounds[row]
            start = capacity // 4
            self.queue[row, start : start + high - low] = old[low:high]
            self.bounds[row] = start, start + high - low
        self.table[QUEUE], self.table[QUEUE_CAPACITY] = address_of(self.queue), capacity

    def make_room(self, operations: int) -> None:
        """Make room for programs of so many operations, in place of those loaded."""
        if operations > len(self.program):
            self.program = np.zeros(operations, OPERATION_DTYPE)
            self.table[PROGRAM], self.table[PROGRAM_MASK] = (
                address_of(self.program),
                power_of_two(operations) - 1,
            )

    def _begin(self) -> None:
        # Free children, commands and slots are lists by difference: zero means the one behind, so that
        # memory that is never used is never touched.
        self.general["free_slots"] = len(self.slots)
        self.general["idle_since"] = -1.0
        self.general["first_scan"] = -1.0
        self.general["last_client"] = -1e18


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
