"""The compiled data plane behind the interface that the control plane drives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import Rows
from zsim.base.jit import on_table
from zsim.engine.codes import (
    BUDGET,
    MAX_CACHED,
    MAX_SLOTS,
    META_ABSENT,
    META_HELD,
    META_PRESENT,
    META_WANTED,
    STREAM_PAUSED,
    STREAM_READY,
)
from zsim.engine.compiled import kernel
from zsim.engine.compiled.memory import (
    RANDOM_READ,
    SEQUENTIAL_READ,
    SYNC_WRITES,
    PlaneMemory,
    load_devices,
    shingle_words,
)
from zsim.engine.compiled.records import ITEM_DTYPE
from zsim.engine.compiled.warm import finish_compiling
from zsim.engine.model import PlaneModel, QueueRules, ScanRules, VdevModel
from zsim.engine.sit_out import may_sit_out
from zsim.engine.window import Window
from zsim.scan.items import ScanItems
from zsim.scan.program import Program
from zsim.vdevs.kind import LOG, code_of, kind_of

CLIENT_MODES = {"random-read": RANDOM_READ, "sequential-read": SEQUENTIAL_READ, "sync-write": SYNC_WRITES}
GROUP_ENTRIES = 256
"""Room in a leaf queue for what comes from a group, and as much for the clients."""
GROUP_CHILDREN = 64 * 1024
"""Plain I/Os of groups for which there is room from the start."""
COMMANDS_HELD = 4096
ITEM_FIELDS = (
    "vdev", "offset", "psize", "columns", "level0", "copies", "copy_count", "prefetch_first", "prefetch_next",
)  # fmt: skip
WRITTEN_AT_ONCE = 8192
"""Items, of some 64 bytes."""


class Room(NamedTuple):
    """How many items a plane holds, and how many further copies of them."""

    items: int
    copies: int


class CompiledPlane:
    """Compiled engine: the state lives in `PlaneMemory`, time passes in `kernel.advance`.

    Parameters
    ----------
    model : PlaneModel
    items : ScanItems
    streams : int
        Scan streams that can run at once (one a top-level vdev in the sorted scan).
    slots : int
        Scan blocks that can be in flight at once.
    leaf_slots : int, optional
        So many of them at most on one top-level vdev; by default all.
    client_items : ndarray of int64
        Items that clients read.
    log_items : ndarray of int64
        Items that clients write.
    above : ndarray of int64, shape (items,), optional
        Of every item the metadata block above it, -1: none.  Clients read what is not in memory of it before
        what lies below; by default they find all of it.
    records : int
        Finished commands to keep; 0: none.
    program_length : int
        Longest program that will be loaded.
    room : Room, optional
        For items that are put in place of these.
    """

    def __init__(
        self,
        model: PlaneModel,
        items: ScanItems,
        *,
        streams: int = 1,
        slots: int = 64,
        leaf_slots: int | None = None,
        client_items: NDArray[np.int64] | None = None,
        log_items: NDArray[np.int64] | None = None,
        above: NDArray[np.int64] | None = None,
        records: int = 0,
        program_length: int | None = None,
        room: Room | None = None,
    ) -> None:
        self.model = model
        room = room or Room(max(1, len(items)), max(1, len(items.copy_vdev)))
        readable = np.zeros(0, np.int64) if client_items is None else client_items
        log = np.zeros(0, np.int64) if log_items is None else log_items
        asked = len(readable) + len(log)
        slots = min(slots, MAX_SLOTS)
        self._per_leaf = 2 * model.client_blocks + _per_leaf(
            items, room, slots if leaf_slots is None else min(slots, leaf_slots), slots
        )
        self.memory = PlaneMemory(
            **_sizes(model, items, room, streams, slots, asked, records, program_length),
            queue=2 * self._per_leaf,
        )
        self._other_children = len(self.memory.children) - GROUP_CHILDREN
        finish_compiling()
        self._advance = on_table(kernel.advance, self.memory.table, 0.0, BUDGET)
        self._load_hardware()
        self._load_rules()
        self._load_items(items)
        self.memory.client_items[: len(readable)] = readable
        self.memory.client_items[len(readable) : asked] = log
        self._load_clients(len(readable), len(log))
        if above is not None:
            self.memory.hold_above(above)

    def _load_hardware(self) -> None:
        memory, model = self.memory, self.model
        load_devices(memory, model.leaves, model.links)
        first = laid_out = 0
        for number, vdev in enumerate(model.vdevs):
            row = memory.vdevs[number]
            row["kind"], row["children"], row["parity"] = code_of(vdev.kind), vdev.children, vdev.parity
            row["ashift"], row["first_child"] = vdev.ashift, first
            row["data"], row["spares"] = vdev.data, vdev.spares
            row["is_log"] = vdev.alloc_class == LOG
            _load_autosit(row, vdev)
            table = kind_of(vdev.kind).table(vdev)
            row["permutation"], row["permutations"] = laid_out, len(table)
            memory.permutations[laid_out : laid_out + table.size] = table.ravel()
            laid_out += table.size
            memory.child_leaf[first : first + len(vdev.read_leaf), 0] = vdev.read_leaf
            memory.child_leaf[first : first + len(vdev.read_leaf), 1] = vdev.write_leaf
            for old, new in zip(vdev.read_leaf, vdev.write_leaf, strict=True):
                if old >= 0 and new >= 0:
                    memory.leaves[old]["replaced_by"] = new
            first += len(vdev.read_leaf)

    def _load_rules(self) -> None:
        self.memory.hold_rules(self.model.queue, self.model.scan)
        general = self.memory.general
        general["label_bytes"], general["pause_at"], general["refill"] = self.model.label_bytes, np.inf, -1
        general["watches"] = int(self.memory.vdevs["autosit"].any())

    def _load_clients(self, readable: int, log: int) -> None:
        first = 0
        for number, group in enumerate(self.model.clients):
            rows = self.memory.clients[first : first + group.count]
            numbers = np.arange(group.count)
            items = log if group.kind == "sync-write" else readable
            rows["think"], rows["mode"] = group.think_s, CLIENT_MODES[group.kind]
            rows["seed"], rows["count"], rows["among"] = group.seed, numbers, group.count
            rows["blocks"], rows["group"] = group.blocks, number
            rows["first"], rows["items"] = (readable if group.kind == "sync-write" else 0), max(1, items)
            rows["place"], rows["awaits"] = numbers * items // group.parts, -1
            rows["leader"] = first + numbers % group.parts
            first += group.count

    @property
    def client_answers(self) -> list[tuple[int, float]]:
        """How many requests of each client were answered, and the sum of their latencies [s]."""
        rows = self.memory.clients[: self.model.client_count]
        return [(int(row["answered"]), float(row["latency"])) for row in rows]

    @property
    def waits(self) -> NDArray[np.int64]:
        """How often clients of each kind waited how long, by `zsim.engine.leaf_rules.wait_bin`."""
        return self.memory.waits[: len(self.model.clients)]

    @property
    def health(self) -> Rows:
        """What ails the drives, and the state that they are in, records of HEALTH_DTYPE."""
        return self.memory.health

    @property
    def sat_out(self) -> list[tuple[int, ...]]:
        """How often each child of each top-level vdev was made to sit out."""
        found, first = [], 0
        for vdev in self.model.vdevs:
            found.append(tuple(int(row["sat"]) for row in self.memory.sitting[first : first + vdev.children]))
            first += vdev.children
        return found

    def _load_items(self, items: ScanItems) -> None:
        write_items(self.memory.items[: len(items)], items)
        self.memory.copies["vdev"][: len(items.copy_vdev)] = items.copy_vdev
        self.memory.copies["offset"][: len(items.copy_offset)] = items.copy_offset
        self.memory.copies["columns"][: len(items.copy_offset)] = items.copy_columns

    @property
    def now(self) -> float:
        """Time of the data plane [s]."""
        return float(self.memory.general["now"][0])

    @property
    def leaves(self) -> Rows:
        """Counters of the leaves, records of LEAF_DTYPE."""
        return self.memory.leaves

    @property
    def link_busy(self) -> tuple[float, ...]:
        """Busy time of each shared link [s]."""
        return tuple(float(busy) for busy in self.memory.links["busy"][: len(self.model.links)])

    @property
    def records(self) -> Rows:
        """Finished commands, in order of completion."""
        return self.memory.records[: int(self.memory.general["records"][0])]

    def take_records(self) -> Rows:
        """Return the finished commands kept so far, and make room for more."""
        records = self.records.copy()
        self.set_general("records", 0)
        return records

    def general(self, name: str) -> float:
        """Return one of the general counters."""
        return float(self.memory.general[name][0])

    def set_general(self, name: str, value: float) -> None:
        """Set one of the general values (control decisions)."""
        self.memory.general[name] = value

    def set_limit(self, klass: int, minimum: int, maximum: int) -> None:
        """Set the active limits of one I/O class."""
        self.memory.limits[0, klass], self.memory.limits[1, klass] = minimum, maximum

    def set_rules(self, queue: QueueRules, scan: ScanRules) -> None:
        """Set the rules of leaf queues and scan from now on."""
        self.memory.hold_rules(queue, scan)

    def set_window(self, number: int, window: Window) -> None:
        """Set the window of a loaded stream from now on; it counts as the one before."""
        self.memory.streams[number]["limit"] = window.limit

    def load_streams(self, programs: list[Program], windows: list[Window]) -> None:
        """Load one program a stream; streams without one are finished."""
        self.memory.make_room(sum(map(len, programs)))
        start = 0
        streams = self.memory.streams
        streams["position"] = streams["end"] = 0
        streams["state"] = STREAM_READY
        streams["unwind"] = -1
        for number, (program, window) in enumerate(zip(programs, windows, strict=True)):
            end = start + len(program)
            self.memory.program["item"][start:end] = program.item
            self.memory.program["code"][start:end] = program.code
            row = streams[number]
            row["position"], row["end"], row["state"], row["inflight"] = start, end, STREAM_READY, 0
            row["limit"], row["counts_blocks"] = window.limit, window.counts_blocks
            row["first_visit"] = row["last_visit"] = -1.0
            start = end

    def put_items(self, items: ScanItems) -> None:
        """Put other items in place of the first so many, and their copies in place of the first copies."""
        self._load_items(items)

    def positions(self) -> list[int]:
        """Return how far each stream has come in the loaded programs."""
        return [int(position) for position in self.memory.streams["position"]]

    def stream(self, number: int, name: str) -> float:
        """Return one field of a stream."""
        return float(self.memory.streams[name][number])

    def resume(self, pause_at: float) -> None:
        """Let the scan run until `pause_at` [s]."""
        states = self.memory.streams["state"]
        states[states == STREAM_PAUSED] = STREAM_READY
        # What a thread did on its way up is done: else a short slice might hold nothing but that.
        self.memory.streams["free_at"] = np.minimum(self.memory.streams["free_at"], self.now)
        self.set_general("pause_at", pause_at)
        self.set_general("running", 1)

    def cut_short(self) -> None:
        """Let a running scan pause now."""
        if self.general("running"):
            self.set_general("pause_at", min(self.now, self.general("pause_at")))

    def pause(self) -> None:
        """Stop the scan (nothing of it may be in flight)."""
        self.set_general("running", 0)

    def set_children(self, number: int, read_leaf: Sequence[int], write_leaf: Sequence[int]) -> None:
        """Set which leaves a top-level vdev reads and repairs from now on (nothing may be in flight)."""
        first = int(self.memory.vdevs["first_child"][number])
        self.memory.child_leaf[first : first + len(read_leaf), 0] = read_leaf
        self.memory.child_leaf[first : first + len(write_leaf), 1] = write_leaf
        for old, new in zip(read_leaf, write_leaf, strict=True):
            if old >= 0 and new >= 0:
                self.memory.leaves[old]["replaced_by"] = new

    def course(self) -> tuple[float, NDArray[np.int64], NDArray[np.int64]]:
        """Return the moment [s], and position and what is in flight of every stream."""
        streams = self.memory.streams
        return self.now, streams["position"].copy(), streams["inflight"].copy()

    def set_metadata(self, items: NDArray[np.int64], state: int) -> None:
        """Set where metadata blocks are (META codes)."""
        self.memory.items["metadata_state"][items] = state

    def set_offsets(self, items: NDArray[np.int64], offset: NDArray[np.int64]) -> None:
        """Set where items lie [bytes]."""
        self.memory.items["offset"][items] = offset

    def set_wanted(self, items: NDArray[np.int64]) -> None:
        """Set which metadata the prefetch thread is to fetch, rising."""
        self.memory.heap[: len(items)] = items
        self.set_general("heap_size", len(items))

    def take_wanted(self) -> NDArray[np.int64]:
        """Take from the prefetch thread what it is to fetch; return it, rising."""
        taken: NDArray[np.int64] = np.sort(self.memory.heap[: int(self.general("heap_size"))])
        self.set_general("heap_size", 0)
        return taken

    def want_below(self) -> None:
        """Let the prefetch thread fetch what lies below the metadata in memory."""
        items, wanted = self.memory.items, []
        for row in np.flatnonzero(items["metadata_state"] >= META_PRESENT):
            child = items["prefetch_first"][row]
            while child >= 0:
                wanted += [child] * int(items["metadata_state"][child] == META_ABSENT)
                child = items["prefetch_next"][child]
        rows = np.sort(np.array(wanted, np.int64))
        self.set_metadata(rows, META_WANTED)
        self.set_wanted(rows)

    def close_epoch(self) -> None:
        """Ask for an EPOCH exit as soon as all scan blocks that are in flight now are done."""
        general = self.memory.general
        general["epoch"] += 1
        general["epoch_left"] = general["inflight_blocks"]
        general["epoch_waiting"] = 1

    def submit_group(self, rows: NDArray[np.int64]) -> None:
        """Queue plain I/Os: leaf, class, write, child offset, length."""
        if len(rows) > GROUP_ENTRIES:  # else no queue gets more
            most = int(np.bincount(2 * rows[:, 0] + rows[:, 2]).max(initial=0))
            if most > GROUP_ENTRIES:
                self._make_room(most)
        self.memory.hold_children(self._other_children + int(self.general("group_left")) + len(rows))
        self.memory.hold_group(rows)
        if len(rows) > 0:
            self.advance(self.now)

    def _make_room(self, entries: int) -> None:
        """Widen the leaf queues if so many more entries of a group may not fit one."""
        bounds = self.memory.bounds[: 2 * len(self.model.leaves)]
        needed = 2 * (self._per_leaf + entries + int((bounds[:, 1] - bounds[:, 0]).max()))
        if needed > self.memory.queue.shape[1]:
            self.memory.widen_queues(needed)

    def flush(self) -> None:
        """Ask for a GROUP exit as soon as the write caches that are flushed each txg are empty."""
        kernel.flush_caches(self.memory.table)

    def start_clients(self) -> None:
        """Start the foreground clients."""
        kernel.start_clients(self.memory.table)

    def set_clients(self, group: int, *, on: bool) -> None:
        """Let the clients of a kind ask, or ask for nothing, from now on."""
        kernel.set_clients(self.memory.table, group, int(not on))

    def advance(self, until: float, budget: int = BUDGET) -> int:
        """Advance to `until` or the next decision; return the reason, an EXIT code."""
        return self._advance(until, budget)


def _load_autosit(row: np.void, vdev: VdevModel) -> None:
    rules = vdev.autosit
    if rules is not None and may_sit_out(vdev.children):
        row["autosit"], row["sit_out"], row["interval"] = 1, rules.seconds, rules.interval_s
        row["insensitivity"], row["looked_at"] = rules.insensitivity, -np.inf


def item_records(items: ScanItems) -> Rows:
    """Return scan items as the records that the kernel reads."""
    records = np.zeros(len(items), ITEM_DTYPE)
    write_items(records, items)
    return records


def write_items(records: Rows, items: ScanItems) -> None:
    """Write scan items as the records that the kernel reads."""
    # Some at a time: those stay in the processor's cache from one column to the next.
    for begin in range(0, len(items), WRITTEN_AT_ONCE):
        part = slice(begin, begin + WRITTEN_AT_ONCE)
        rows = records[part]
        for name in ITEM_FIELDS:
            rows[name] = getattr(items, name)[part]
        rows["unwind"] = -1 if items.unwind is None else items.unwind[part]
        rows["metadata_state"] = META_HELD * items.in_memory[part]


def _read_ahead(items: ScanItems, room: Room) -> int:
    """Return how many metadata blocks may be read ahead: nothing but their number limits them."""
    here = np.count_nonzero(items.prefetch_first >= 0) + np.count_nonzero(items.prefetch_next >= 0)
    return int(here) * -(-room.items // max(1, len(items)))


def _further_copies(items: ScanItems, slots: int) -> int:
    """Return how many further copies may be under way: those of the blocks that have most."""
    found = 0
    # Few numbers of copies, and of those the largest first.
    for copies, blocks in reversed(list(enumerate(np.bincount(items.copy_count).tolist()))):
        taken = min(slots, blocks)
        found, slots = found + copies * taken, slots - taken
    return found


def _per_leaf(items: ScanItems, room: Room, leaf_slots: int, slots: int) -> int:
    """Return how many entries a leaf queue may hold.

    Of each block on its top-level vdev the reads and a write a copy, of blocks elsewhere their further
    copies, of each metadata block that is read ahead a piece at most.
    """
    copies = int(items.copy_count.max(initial=0)) + 1
    return (
        leaf_slots * (copies + 1)
        + _further_copies(items, slots)
        + _read_ahead(items, room)
        + 2 * GROUP_ENTRIES
    )


def _sizes(
    model: PlaneModel,
    items: ScanItems,
    room: Room,
    streams: int,
    slots: int,
    client_items: int,
    records: int,
    program_length: int | None,
) -> dict[str, int]:
    leaves = len(model.leaves)
    widest = max(len(vdev.read_leaf) for vdev in model.vdevs)
    cached = MAX_CACHED if any(leaf.drive.write_cache_bytes for leaf in model.leaves) else 0
    metadata, further = _read_ahead(items, room), _further_copies(items, slots)
    return {
        "leaves": leaves,
        "servers": max(leaf.drive.parallel_commands for leaf in model.leaves),
        "links": len(model.links),
        "clients": model.client_count,
        "groups": len(model.clients),
        "streams": streams,
        "client_items": client_items,
        "records": records,
        "held": COMMANDS_HELD + cached,
        "program": program_length or 3 * len(items) + 1,
        "items": room.items,
        "copies": room.copies,
        "vdevs": len(model.vdevs),
        "vdev_children": sum(len(vdev.read_leaf) for vdev in model.vdevs),
        "permutations": sum(kind_of(vdev.kind).table(vdev).size for vdev in model.vdevs),
        "slots": slots,
        "children": (2 * slots + further + metadata + model.client_blocks) * widest + GROUP_CHILDREN,
        "commands": leaves * (COMMANDS_HELD + cached) + 1024,
        "shingles": shingle_words(model.leaves),
    }
