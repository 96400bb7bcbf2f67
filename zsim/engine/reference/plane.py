"""The reference data plane: the semantics of the compiled engine, written for reading.

One SimPy process per component, one event per I/O, plain objects.  It is slow, and it is the specification:
both engines call the same scalar physics and vdev maps, and must give every I/O the same time, to the bit.

An event is handled by the component it belongs to; all that follows from it at that moment happens within it.
Events of one moment are handled by their slots: drive servers by leaf, links, write caches, clients, scan
streams.  After each event the scan streams go on, lowest first; then it is seen whether control must decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import Rows, checked
from zsim.drives.models.health import MOST_FAILURES
from zsim.drives.physics.ailing import HealthRecord, health_table
from zsim.drives.physics.mechanics import DriveRecord, drive_table
from zsim.engine.codes import (
    BUDGET,
    CACHE_NONE,
    EXIT_BUDGET,
    EXIT_DRAINED,
    EXIT_EPOCH,
    EXIT_GROUP,
    EXIT_HORIZON,
    EXIT_RECORD,
    EXIT_REFILL,
    EXIT_STALLED,
    FLAG_NORMAL,
    LATENCY_BINS,
    LEAF_DTYPE,
    MAX_SLOTS,
    META_ABSENT,
    META_HELD,
    META_PRESENT,
    RECORD_DTYPE,
    STREAM_FINISHED,
    STREAM_PAUSED,
    STREAM_READY,
)
from zsim.engine.model import PlaneModel, QueueRules, ScanRules, VdevModel
from zsim.engine.reference.clients import Client, Place
from zsim.engine.reference.clock import Clock
from zsim.engine.reference.drive import Ailments, Drive, Link
from zsim.engine.reference.queue import LeafQueue
from zsim.engine.reference.scan import Metadata, Operation, Stream
from zsim.engine.reference.sitting import Watch
from zsim.engine.reference.state import NEVER, Child, Command, Item, LeafState, Shared
from zsim.engine.reference.vdev import vdev_process
from zsim.engine.sit_out import may_sit_out
from zsim.engine.window import Window
from zsim.scan.items import NO_ITEM, ScanItems
from zsim.scan.program import Program


class ReferencePlane:
    """Reference engine behind the interface of `zsim.engine.compiled.plane.CompiledPlane`.

    Parameters
    ----------
    model : PlaneModel
    items : ScanItems
    streams : int
        Scan streams that can run at once (one a top-level vdev in the sorted scan).
    slots : int
        Scan blocks that can be in flight at once.
    leaf_slots : int, optional
        Taken for the sake of the interface, as `program_length` is: leaf queues here have no end.
    client_items : ndarray of int64
        Items that clients read.
    log_items : ndarray of int64
        Items that clients write.
    above : ndarray of int64, shape (items,), optional
        Of every item the metadata block above it, -1: none; by default clients find all in memory.
    records : int
        Finished commands to keep; 0: none.
    program_length : int, optional
        Programs here have any length.
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
    ) -> None:
        self.model = model
        self.capacity = records
        self.finished: list[tuple[float, ...]] = []
        self.clock = Clock()
        self.shared = _shared(self.clock, model)
        self.shared.free_slots = min(slots, MAX_SLOTS)
        self.items = _item_list(items)
        self._build_hardware()
        self.watch = Watch(self.shared, len(model.leaves), self._health)
        self.vdevs = [vdev_process(self.shared, vdev, self.queues, self.watch) for vdev in model.vdevs]
        self.shared.cold = int(above is not None)
        tree = None if above is None else above.tolist()
        self.metadata = Metadata(self.shared, self.items, self.vdevs, tree)
        readable = [] if client_items is None else [self.items[number] for number in client_items.tolist()]
        log = [] if log_items is None else [self.items[number] for number in log_items.tolist()]
        self._build_users(readable, log, streams)
        self.program: list[Operation] = []
        self.clock.settle()

    def _build_hardware(self) -> None:
        model, clock = self.model, self.clock
        table, rates = drive_table([leaf.drive for leaf in model.leaves])
        records = checked(table, DriveRecord)
        ailments = self._ailments()
        servers = max(leaf.drive.parallel_commands for leaf in model.leaves)
        links_at = servers * len(model.leaves)
        caches_at = links_at + len(model.links)
        self.links = [
            Link(clock, links_at + number, link, self._deliver, self._finish)
            for number, link in enumerate(model.links)
        ]
        for link in self.links:
            link.parent = self.links[link.model.parent] if link.model.parent >= 0 else None
        self.states = [LeafState(link=leaf.link) for leaf in model.leaves]
        for vdev in model.vdevs:
            self._note_replacements(vdev)
        self.drives = [
            Drive(
                clock,
                number,
                leaf.drive,
                records[number],
                rates[number],
                ailments[number],
                self.states[number],
                self.links[leaf.link] if leaf.link >= 0 else None,
                self._finish,
            )
            for number, leaf in enumerate(model.leaves)
        ]
        for number, drive in enumerate(self.drives):
            drive.start(servers * number, caches_at + number)
        self.queues = [
            LeafQueue(self.shared, drive.state, drive.parameters.rotating, drive.submit)
            for drive in self.drives
        ]
        self._next_slot = caches_at + len(model.leaves)

    def _ailments(self) -> list[Ailments]:
        """Return what ails each drive."""
        self._health, bad = health_table([leaf.health for leaf in self.model.leaves])
        failures = np.zeros((len(self.model.leaves), MOST_FAILURES))
        records = checked(self._health, HealthRecord)
        return [
            Ailments(not leaf.health.is_sound, records[number], bad, failures[number])
            for number, leaf in enumerate(self.model.leaves)
        ]

    @property
    def health(self) -> Rows:
        """What ails the drives, and the state that they are in, records of HEALTH_DTYPE."""
        return self._health

    @property
    def waits(self) -> NDArray[np.int64]:
        """How often clients of each kind waited how long, by `zsim.engine.leaf_rules.wait_bin`."""
        return self._waits

    @property
    def sat_out(self) -> list[tuple[int, ...]]:
        """How often each child of each top-level vdev was made to sit out."""
        return [vdev.sitting.sat_out for vdev in self.vdevs]

    def _note_replacements(self, vdev: VdevModel) -> None:
        for old, new in zip(vdev.read_leaf, vdev.write_leaf, strict=True):
            if old >= 0 and new >= 0:
                self.states[old].replaced_by = new

    def _build_users(self, readable: list[Item], log: list[Item], streams: int) -> None:
        slot = self._next_slot
        self.clients = []
        self._waits = np.zeros((len(self.model.clients), LATENCY_BINS), np.int64)
        for waits, group in zip(self._waits, self.model.clients, strict=True):
            items = log if group.kind == "sync-write" else readable
            places = [Place(part * len(items) // group.parts) for part in range(group.parts)]
            for number in range(group.count):
                place = places[number % len(places)]
                self.clients.append(
                    Client(self.shared, slot, group, number, items, place, self.vdevs, self.metadata, waits)
                )
                slot += 1
        self.streams = [Stream(self.shared, slot + n, self.metadata, self.vdevs) for n in range(streams)]
        self.metadata.traversal = self.streams[0]

    @property
    def client_answers(self) -> list[tuple[int, float]]:
        """How many requests of each client were answered, and the sum of their latencies [s]."""
        return [(client.answered, client.latency) for client in self.clients]

    # What control asks and decides.

    @property
    def now(self) -> float:
        """Time of the data plane [s]."""
        return self.shared.now

    @property
    def leaves(self) -> Rows:
        """Counters of the leaves, records of LEAF_DTYPE."""
        table = np.zeros(len(self.states), LEAF_DTYPE)
        for row, state, drive, queue in zip(table, self.states, self.drives, self.queues, strict=True):
            for name in LeafState.__slots__:
                row[name] = getattr(state, name)
            row["queued"], row["held"], row["in_service"] = len(queue), len(drive.held), drive.in_service
            row["acknowledging"] = len(drive.unanswered)
            row["awaited"] = sum(command.cache == CACHE_NONE for command in drive.held)
        return table

    @property
    def link_busy(self) -> tuple[float, ...]:
        """Busy time of each shared link [s]."""
        return tuple(link.busy for link in self.links)

    @property
    def records(self) -> Rows:
        """Finished commands, in order of completion, records of RECORD_DTYPE."""
        return np.array(self.finished, RECORD_DTYPE)

    def take_records(self) -> Rows:
        """Return the finished commands kept so far, and make room for more."""
        records = self.records
        self.finished = []
        self.shared.records = 0
        return records

    def general(self, name: str) -> float:
        """Return one of the general counters."""
        return float(getattr(self.shared, name))

    def set_general(self, name: str, value: float) -> None:
        """Set one of the general values (control decisions)."""
        if name == "now":
            self.clock.pass_to(value)
        else:
            setattr(self.shared, name, value)

    def set_limit(self, klass: int, minimum: int, maximum: int) -> None:
        """Set the active limits of one I/O class."""
        self.shared.minimum[klass], self.shared.maximum[klass] = minimum, maximum

    def set_rules(self, queue: QueueRules, scan: ScanRules) -> None:
        """Set the rules of leaf queues and scan from now on."""
        self.shared.queue, self.shared.scan = queue, scan
        self.shared.minimum, self.shared.maximum = list(queue.minimum), list(queue.maximum)

    def set_window(self, number: int, window: Window) -> None:
        """Set the window of a loaded stream from now on; it counts as the one before."""
        self.streams[number].window = window

    def load_streams(self, programs: list[Program], windows: list[Window]) -> None:
        """Load one program a stream; streams without one are finished."""
        self.program = []
        for stream in self.streams:
            stream.unload()
        for stream, program, window in zip(self.streams, programs, windows, strict=False):
            start = len(self.program)
            operations = zip(program.code.tolist(), program.item.tolist(), strict=True)
            self.program += [(code, self.items[item]) for code, item in operations]
            stream.load(self.program, start, len(self.program), window)

    def put_items(self, items: ScanItems) -> None:
        """Put other items in place of the first so many."""
        self.items[: len(items)] = _item_list(items)

    def positions(self) -> list[int]:
        """Return how far each stream has come in the loaded programs."""
        return [stream.position for stream in self.streams]

    def stream(self, number: int, name: str) -> float:
        """Return one field of a stream."""
        return float(getattr(self.streams[number], name))

    def resume(self, pause_at: float) -> None:
        """Let the scan run until `pause_at` [s]."""
        for stream in self.streams:
            stream.free_at = min(stream.free_at, self.now)
            if stream.state == STREAM_PAUSED:
                stream.state = STREAM_READY
        self.shared.pause_at = pause_at
        self.shared.running = 1

    def cut_short(self) -> None:
        """Let a running scan pause now."""
        if self.shared.running:
            self.shared.pause_at = min(self.now, self.shared.pause_at)

    def pause(self) -> None:
        """Stop the scan (nothing of it may be in flight)."""
        self.shared.running = 0

    def set_children(self, number: int, read_leaf: Sequence[int], write_leaf: Sequence[int]) -> None:
        """Set which leaves a top-level vdev reads and repairs from now on (nothing may be in flight)."""
        vdev = self.vdevs[number]
        vdev.model = replace(vdev.model, read_leaf=tuple(read_leaf), write_leaf=tuple(write_leaf))
        self._note_replacements(vdev.model)

    def course(self) -> tuple[float, NDArray[np.int64], NDArray[np.int64]]:
        """Return the moment [s], and position and what is in flight of every stream."""
        flight = np.array([stream.inflight for stream in self.streams], np.int64)
        return self.now, np.array(self.positions(), np.int64), flight

    def set_metadata(self, items: NDArray[np.int64], state: int) -> None:
        """Set where metadata blocks are (META codes)."""
        for number in items.tolist():
            self.items[number].metadata_state = state

    def set_offsets(self, items: NDArray[np.int64], offset: NDArray[np.int64]) -> None:
        """Set where items lie [bytes]."""
        for number, place in zip(items.tolist(), offset.tolist(), strict=True):
            self.items[number].offset = place

    def set_wanted(self, items: NDArray[np.int64]) -> None:
        """Set which metadata the prefetch thread is to fetch, rising."""
        self.metadata.wanted = items.tolist()
        self.shared.heap_size = len(items)

    def take_wanted(self) -> NDArray[np.int64]:
        """Take from the prefetch thread what it is to fetch; return it, rising."""
        taken, self.metadata.wanted = self.metadata.wanted, []
        self.shared.heap_size = 0
        return np.array(sorted(taken), np.int64)

    def want_below(self) -> None:
        """Let the prefetch thread fetch what lies below the metadata in memory."""
        for item in self.items:
            if item.metadata_state >= META_PRESENT:
                self.metadata.want_below(item)

    def close_epoch(self) -> None:
        """Ask for an EPOCH exit as soon as all scan blocks that are in flight now are done."""
        self.shared.epoch += 1
        self.shared.epoch_left = self.shared.inflight_blocks
        self.shared.epoch_waiting = 1

    def submit_group(self, rows: NDArray[np.int64]) -> None:
        """Queue plain I/Os: leaf, class, write, child offset, length; `advance` says when all are done."""
        self.shared.group_left += len(rows)
        self.shared.group_waiting = 1
        for leaf, klass, write, offset, length in rows.tolist():
            place = offset + self.shared.label_bytes
            child = Child(leaf, klass, bool(write), place, length, FLAG_NORMAL, self._group_done)
            self.queues[leaf].enqueue(child)
        self.clock.settle()

    def flush(self) -> None:
        """Ask for a GROUP exit as soon as the write caches that are flushed each txg are empty."""
        self.shared.group_waiting = 1
        self.shared.group_left += sum(drive.flush(self._flushed) for drive in self.drives)

    def _flushed(self) -> None:
        self.shared.group_left -= 1

    def _group_done(self, child: Child) -> None:
        self.shared.group_left -= 1

    def start_clients(self) -> None:
        """Start the foreground clients, each with a first think."""
        for client in self.clients:
            client.begun.give()
        self.clock.settle()

    def set_clients(self, group: int, *, on: bool) -> None:
        """Let the clients of a kind ask, or ask for nothing, from now on."""
        first = sum(each.count for each in self.model.clients[:group])
        for client in self.clients[first : first + self.model.clients[group].count]:
            client.off = not on
            if on:
                client.begun.give()
        self.clock.settle()

    # Time.

    def advance(self, until: float, budget: int = BUDGET) -> int:
        """Advance to `until` or the next decision; return the reason (EXIT constants)."""
        self._run_streams()
        handled = 0
        while True:
            reason = self._decision()
            if reason is not None:
                return reason
            if handled >= budget:
                return EXIT_BUDGET
            due = self.clock.peek()
            if due > until:
                self.clock.pass_to(until)
                return EXIT_HORIZON
            if due == NEVER:
                return EXIT_STALLED
            self.clock.step()
            self.clock.settle()
            self.shared.events += 1
            handled += 1
            self._run_streams()

    def _run_streams(self) -> None:
        if self.shared.running:
            self.metadata.prefetch()
            for stream in self.streams:
                stream.go_on()

    def _decision(self) -> int | None:
        """Return the reason for which control is due now."""
        shared = self.shared
        if shared.group_waiting and shared.group_left == 0:
            shared.group_waiting = 0
            return EXIT_GROUP
        if shared.epoch_waiting and shared.epoch_left == 0:
            shared.epoch_waiting = 0
            return EXIT_EPOCH
        if self._is_drained():
            return EXIT_DRAINED
        if self.capacity > 1 and shared.records >= self.capacity - 1:
            return EXIT_RECORD
        if 0 <= shared.refill <= self.streams[0].position:
            return EXIT_REFILL
        return None

    def _is_drained(self) -> bool:
        shared = self.shared
        if not shared.running or shared.inflight_blocks > 0 or shared.metadata_inflight > 0:
            return False
        return all(stream.state in {STREAM_PAUSED, STREAM_FINISHED} for stream in self.streams)

    # Commands on their way.

    def _deliver(self, command: Command) -> None:
        self.drives[command.leaf].arrive(command)

    def _finish(self, command: Command) -> None:
        """Complete a command towards ZFS: its queue issues more, then the parents of its children hear of it.

        Source of the order: vdev_queue.c:vdev_queue_io_done comes before the parents' zio_done.
        """
        self._count(command)
        self.queues[command.leaf].finished(command)
        for child in command.children:
            child.done(child)

    def _count(self, command: Command) -> None:
        state, scan, length = self.states[command.leaf], int(command.scan), command.length
        state.response += self.now - command.submitted
        if command.write:
            state.writes += 1
            state.write_bytes += length
            state.scan_writes += scan
            state.scan_write_bytes += scan * length
        else:
            self.watch.note(command.leaf, self.now - command.submitted)
            state.reads += 1
            state.read_bytes += length
            state.scan_reads += scan
            state.scan_read_bytes += scan * length
        if len(self.finished) < self.capacity:
            self.finished.append(self._record(command))
            self.shared.records = len(self.finished)

    def _record(self, command: Command) -> tuple[float, ...]:
        times = (command.submitted, command.started, self.now)
        what = (command.offset, command.length, command.leaf, command.klass, command.write, command.scan)
        return (*times, *what, len(command.children), 0)


def _shared(clock: Clock, model: PlaneModel) -> Shared:
    """Return the shared values of a model: its rules, nothing in flight."""
    queue = model.queue
    return Shared(
        clock,
        queue,
        model.scan,
        minimum=list(queue.minimum),
        maximum=list(queue.maximum),
        label_bytes=model.label_bytes,
        watches=int(any(vdev.autosit and may_sit_out(vdev.children) for vdev in model.vdevs)),
    )


def _item_list(items: ScanItems) -> list[Item]:
    held = (items.copy_vdev.tolist(), items.copy_offset.tolist(), items.copy_columns.tolist())
    copies = list(zip(*held, strict=True))
    unwind = [NO_ITEM] * len(items) if items.unwind is None else items.unwind.tolist()
    return [
        Item(
            number=number,
            vdev=int(items.vdev[number]),
            offset=int(items.offset[number]),
            psize=int(items.psize[number]),
            columns=int(items.columns[number]),
            level0=bool(items.level0[number]),
            copies=copies[int(items.copies[number]) : int(items.copies[number] + items.copy_count[number])],
            prefetch_first=int(items.prefetch_first[number]),
            prefetch_next=int(items.prefetch_next[number]),
            unwind=unwind[number],
            metadata_state=META_HELD if items.in_memory[number] else META_ABSENT,
        )
        for number in range(len(items))
    ]
