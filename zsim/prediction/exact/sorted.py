"""The sorted scan over the tiles of a large pool: visits and issues alternate, as memory allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import undivided
from zsim.base.constants import constant, whole_constant
from zsim.base.errors import NotSimulatedYet
from zsim.base.units import format_bytes
from zsim.engine.compiled.plane import CompiledPlane, Room, item_records
from zsim.engine.window import Window
from zsim.operation.blocks import ScanBlocks, visit_seconds
from zsim.operation.memory_limit import MemoryLimit, extent_rules
from zsim.operation.pool import SimulatedPool
from zsim.operation.scans import SortedScan
from zsim.operation.setup import RunSetup
from zsim.prediction.exact.queues import MOST_COPIES, PreparedQueue, TileQueues
from zsim.prediction.exact.tiles import Preparer, Tile, Tiling, place_records, shift_records
from zsim.scan.program import OP_ISSUE, Program

I64 = NDArray[np.int64]
# Entries of all streams together that stand ready in the plane.
READY = whole_constant("exact.ready")
LEAST_READY = whole_constant("exact.least_ready")
# So many times what the busiest slice so far has issued stands ready for the next one.
AHEAD = whole_constant("exact.ahead")
FIRST_AHEAD = whole_constant("exact.first_ahead")
CLIENT_ITEMS = whole_constant("exact.client_items")
MARGIN = constant("exact.sorted_margin")


_NONE = np.zeros(0, np.int64)


@dataclass(slots=True)
class Loaded:
    """A tile whose visited blocks stand in the plane: first item, first operation, end."""

    tile: Tile
    prepared: PreparedQueue
    item: int
    operation: int
    end: int


class Regions:
    """The items of a plane: a region of ready entries for each stream, and behind them one for the visits.

    Parameters
    ----------
    setup : RunSetup
    sample : PreparedQueue
        A tile, for the sizes.
    slots : int
    log : ndarray of ITEM_DTYPE
        Blocks of the intent log, for the clients that write.
    rotates : bool
        Whether tiles lie on some of the vdevs, each on the next ones.

    Attributes
    ----------
    plane : CompiledPlane
    at, end : ndarray of int64, shape (streams,)
        Part of each stream's region that stands ready.
    source : ndarray of int64, shape (entries, 2)
        Tile and row of each entry in the regions.
    """

    def __init__(
        self,
        setup: RunSetup,
        sample: PreparedQueue,
        slots: int,
        log: NDArray[np.generic],
        *,
        rotates: bool = False,
    ) -> None:
        self.streams = len(setup.model.vdevs)
        self.region = max(LEAST_READY, READY // self.streams)
        self.visit_items = self.streams * self.region
        self.visit_room = int(2 * MARGIN * len(sample.visited_records)) + 64
        self.program_room = int(2 * MARGIN * len(sample.visits)) + 64
        self.client_first = self.visit_items + self.visit_room
        clients = CLIENT_ITEMS if setup.model.client_count else 0
        log_first = self.client_first + clients
        self.plane = CompiledPlane(
            setup.model,
            sample.items,
            streams=self.streams,
            slots=slots,
            client_items=np.arange(self.client_first, log_first),
            log_items=np.arange(log_first, log_first + len(log)),
            program_length=self.visit_items + self.program_room,
            room=Room(max(log_first + len(log), len(sample.records)), MOST_COPIES * self.visit_items),
        )
        self.plane.set_general("visit_s", visit_seconds(setup, sample.visits))
        self._client_records(sample, clients, rotates)
        self.plane.memory.items[log_first : log_first + len(log)] = log
        number = np.arange(self.visit_items)
        self.plane.memory.program["item"][: self.visit_items] = number
        self.plane.memory.program["code"][: self.visit_items] = OP_ISSUE
        self.at = np.arange(self.streams, dtype=np.int64) * self.region
        self.end = self.at.copy()
        self.source = np.zeros((self.visit_items, 2), np.int64)

    def start_over(self) -> None:
        """Empty the regions."""
        self.at = self.region * np.arange(self.streams, dtype=np.int64)
        self.end = self.at.copy()
        self.plane.set_general("heap_size", 0)

    def _client_records(self, sample: PreparedQueue, count: int, rotates: bool) -> None:
        """Let clients read blocks of a tile, each on the next vdev that such a tile lies on."""
        data = np.flatnonzero(~sample.blocks.is_metadata)
        if count and len(data):
            chosen = sample.records[data[np.arange(count) * len(data) // count]]
            if rotates:
                chosen["vdev"] = (chosen["vdev"] + np.arange(count)) % self.streams
            self.plane.memory.items[self.client_first : self.client_first + count] = chosen

    def start_streams(self, positions: I64, ends: I64, windows: list[Window]) -> None:
        """Let the streams go on from positions in the plane's operations."""
        nothing = Program(_NONE, _NONE)
        self.plane.load_streams([nothing] * len(windows), windows)
        streams = self.plane.memory.streams
        streams["position"][: len(windows)], streams["end"][: len(windows)] = positions, ends

    def room(self, stream: int) -> int:
        """Return how many more entries a stream's region takes; what is left in it moves to its front."""
        first = stream * self.region
        at, end = int(self.at[stream]), int(self.end[stream])
        if at > first:
            for array in (undivided(self.plane.memory.items), self.source):
                array[first : first + end - at] = array[at:end].copy()
            copies = undivided(self.plane.memory.copies)
            copies[MOST_COPIES * first : MOST_COPIES * (first + end - at)] = copies[
                MOST_COPIES * at : MOST_COPIES * end
            ].copy()
            self.plane.memory.items["copies"][first : first + end - at] = MOST_COPIES * np.arange(
                first, first + end - at
            )
            self.at[stream], self.end[stream] = first, first + end - at
        return self.region - (end - at)

    def add(self, stream: int, tile: Tile, prepared: PreparedQueue, rows: I64) -> None:
        """Put entries of a tile behind those that stand ready."""
        first = int(self.end[stream])
        end = first + len(rows)
        vdevs, records = len(self.plane.model.vdevs), self.plane.memory.items[first:end]
        undivided(records)[:] = undivided(prepared.entries).take(rows)
        shift_records(records, tile, prepared.turn, vdevs)
        records["copies"] = MOST_COPIES * np.arange(first, end)
        # What has no other copies needs none of its room.
        some = np.flatnonzero(records["copy_count"])
        copies = prepared.copies_of(rows[some])
        vdev = (copies[:, 0] + tile.turn - prepared.turn) % vdevs
        places = (MOST_COPIES * (first + some)[:, None] + np.arange(MOST_COPIES)).ravel()
        target = self.plane.memory.copies
        target["vdev"][places], target["offset"][places] = vdev, copies[:, 1] + tile.shift[vdev]
        target["columns"][places] = copies[:, 2]
        self.source[first:end, 0], self.source[first:end, 1] = tile.number, rows
        self.end[stream] = end


class Visits:
    """The visited blocks of a few tiles in the plane, and how far the visits have come.

    Parameters
    ----------
    regions : Regions
    tiles : iterator of Tile
    preparer : Preparer
    queues : TileQueues
    """

    def __init__(
        self, regions: Regions, tiles: Iterator[Tile], preparer: Preparer[PreparedQueue], queues: TileQueues
    ) -> None:
        self.regions, self.plane = regions, regions.plane
        self.tiles, self.preparer, self.queues = tiles, preparer, queues
        self.loaded: list[Loaded] = []
        self.position = self._first_operation = regions.visit_items
        self._next = next(tiles, None)
        self.begun = 0

    @property
    def end(self) -> int:
        """Operation behind the last one loaded."""
        return self.loaded[-1].end if self.loaded else self._first_operation

    @property
    def more(self) -> bool:
        """Whether there are tiles that are not loaded."""
        return self._next is not None

    @property
    def done(self) -> bool:
        """Whether all tiles are visited."""
        return self._next is None and self.position >= self.end

    def load(self) -> None:
        """Load as many tiles as there is room for, once the one under way is the last."""
        if len(self.loaded) > 1 and self.position < self.loaded[-1].operation:
            return
        self._compact()
        while self._next is not None and self._fits(self.preparer.prepared(self._next)):
            self._append(self._next)
            self._next = next(self.tiles, None)

    def _ends(self) -> tuple[int, int]:
        if not self.loaded:
            return self.regions.visit_items, self._first_operation
        last = self.loaded[-1]
        return last.item + len(last.prepared.visited_records), last.end

    def _fits(self, prepared: PreparedQueue) -> bool:
        item, operation = self._ends()
        items = item + len(prepared.visited_records) - self.regions.visit_items
        operations = operation + len(prepared.visits) - self._first_operation
        room = items <= self.regions.visit_room and operations <= self.regions.program_room
        if not room and not self.loaded:
            raise RuntimeError("a tile is much larger than the first one")
        return room

    def _append(self, tile: Tile) -> None:
        prepared: PreparedQueue = self.preparer.prepared(tile)
        item, operation = self._ends()
        records = place_records(prepared.visited_records, tile, prepared.turn, len(self.plane.model.vdevs))
        for name in ("prefetch_first", "prefetch_next"):
            column = records[name]
            column[column >= 0] += item
        memory, end = self.plane.memory, operation + len(prepared.visits)
        memory.items[item : item + len(records)] = records
        memory.program["code"][operation:end] = prepared.visits.code
        memory.program["item"][operation:end] = prepared.visits.item + item
        self.loaded.append(Loaded(tile, prepared, item, operation, end))
        self.queues.begin(tile, prepared)
        self.begun += 1

    def _compact(self) -> None:
        """Move the tile under way to the front; those before it are done."""
        self.loaded = [each for each in self.loaded if each.end > self.position]
        if not self.loaded:
            self.position = self._first_operation
            self.plane.set_general("heap_size", 0)
            return
        first = self.loaded[0]
        items, operations = first.item - self.regions.visit_items, first.operation - self._first_operation
        if items == 0:
            return
        memory = self.plane.memory
        for each in self.loaded:
            self._move(each, items, operations)
        self.position -= operations
        heap = memory.heap[: int(self.plane.general("heap_size"))]
        kept = np.sort(heap[heap >= first.item + items]) - items
        memory.heap[: len(kept)] = kept
        self.plane.set_general("heap_size", len(kept))

    def _move(self, each: Loaded, items: int, operations: int) -> None:
        memory, count = self.plane.memory, len(each.prepared.visited_records)
        records = memory.items[each.item : each.item + count].copy()
        for name in ("prefetch_first", "prefetch_next"):
            column = records[name]
            column[column >= 0] -= items
        each.item, each.operation, each.end = (
            each.item - items,
            each.operation - operations,
            each.end - operations,
        )
        memory.items[each.item : each.item + count] = records
        memory.program["code"][each.operation : each.end] = each.prepared.visits.code
        memory.program["item"][each.operation : each.end] = each.prepared.visits.item + each.item

    def came_to(self, position: int) -> None:
        """Queue the entries of what was visited, and of the blocks above the one where the visits stopped."""
        self.position = position
        for each in self.loaded:
            if each.operation >= position:
                break
            before = each.prepared.before
            reached = (
                len(each.prepared.queue) if position >= each.end else int(before[position - each.operation])
            )
            self.queues.visit(each.tile.number, reached)
            if position < each.end:
                self.queues.put_back(each.tile.number, each.prepared.way_up(reached))


class SortedTiles:
    """The blocks of all tiles for the sorted scan: metadata tile by tile, and the queues of all of them.

    Parameters
    ----------
    tiling : Tiling
    setup : RunSetup
        Of the first tile.

    Raises
    ------
    NotSimulatedYet
        For a scan whose records do not fit its memory: it goes in rounds over the whole pool, where tiles are
        visited one after the other.
    """

    def __init__(self, tiling: Tiling, setup: RunSetup) -> None:
        self.tiling, self.setup = tiling, setup
        levels = dict(zip(tiling.first.vdevs, tiling.first.recipe.vdevs, strict=True))
        rules = extent_rules(setup.release)

        def make(part: RunSetup, turn: int) -> PreparedQueue:
            starts = {(number + turn) % tiling.vdevs: level.slab_starts() for number, level in levels.items()}
            made = PreparedQueue(part, turn, starts.__getitem__, rules)
            return made.slim() if known else made

        # The plane is made of the first one, all of it; a name of this object's would make a ring.
        known: list[PreparedQueue] = []
        self.preparer = Preparer(tiling, setup, make)
        blocks = ScanBlocks(setup, queued=False)
        self.windows, self.pool_window = blocks.windows, blocks.pool_window
        sample: PreparedQueue = self.preparer.prepared(next(tiling.tiles()))
        known.append(sample)
        log = item_records(blocks.items)[blocks.log_items]
        self.mean_entries = len(sample.queue)
        limit = MemoryLimit(setup.release, setup.memory, tiling.resolved.alloc)
        needed = float(sample.entry_bytes.mean()) * self.mean_entries * tiling.count
        if tiling.resolved.scan_memory is not None and needed >= limit.hard:
            why = "in exact runs a sorted scan has room for the records of all blocks"
            raise NotSimulatedYet("memory", format_bytes(setup.memory), why, "leave --exact out")
        self.regions = Regions(setup, sample, blocks.slots(), log, rotates=tiling.share < 1.0)
        sample.slim()
        self.plane = self.regions.plane
        self.begin()

    def scan_on(self, pool: SimulatedPool) -> SortedScan:
        """Return the strategy."""
        return SortedScan(pool, self, self.tiling.resolved.alloc)

    def begin(self) -> None:
        """Begin a pass over the pool."""
        self.queues = TileQueues(self.tiling.vdevs)
        self.visits = Visits(self.regions, self.tiling.tiles(), self.preparer, self.queues)
        self.most_issued = FIRST_AHEAD
        self._order: list[Iterator[tuple[int, I64]]] | None = None
        self._rest: dict[int, tuple[int, I64]] = {}
        self._addressed = False
        self._issued_entries = 0
        self.regions.start_over()

    def share(self) -> float:
        """Return the share of the entries that are issued."""
        return self._issued_entries / max(1.0, self.mean_entries * self.tiling.count)

    def release(self) -> None:
        """Let go of the data plane, and of what was prepared: a hundred megabytes."""
        self.plane = self.regions.plane = self.visits.plane = cast("CompiledPlane", None)
        self.preparer = self.visits.preparer = cast("Preparer[PreparedQueue]", None)
        self.queues = self.visits.queues = TileQueues(self.tiling.vdevs)
        self.visits.loaded, self._order = [], None

    @property
    def waiting(self) -> int:
        """Entries that wait to be issued."""
        return self.queues.count

    @property
    def visited_all(self) -> bool:
        """Whether all tiles are visited."""
        return self.visits.done

    def used_bytes(self) -> float:
        """Return the memory the waiting entries take [bytes]."""
        return int(self.queues.bytes)

    def load_visits(self, limit: MemoryLimit) -> Sequence[int]:
        """Load as many tiles as there is room for."""
        self._put_back()
        self.visits.load()
        start, end = np.array([self.visits.position]), np.array([self.visits.end])
        self.regions.start_streams(start, end, [self.pool_window])
        return [0] if self.visits.more else []

    def note_visits(self) -> None:
        """Queue the entries of what was visited."""
        self.visits.came_to(self.plane.positions()[0])

    def note_txg(self) -> None:
        """Do nothing: of so many entries the few that the end of a txg frees are not missed."""

    def load_entries(self, *, by_address: bool) -> Sequence[int]:
        """Make entries of every stream ready."""
        regions = self.regions
        if self._order is None or self._addressed != by_address:
            self._put_back()
            self._addressed = by_address
            order = self.queues.in_address_order if by_address else self.queues.in_extent_order
            self._order = [order(vdev) for vdev in range(regions.streams)]
        more = [self._ready(stream) for stream in range(regions.streams)]
        regions.start_streams(regions.at, regions.end, self.windows)
        return [stream for stream, rest in enumerate(more) if rest]

    def note_entries(self) -> None:
        """Take what was issued out of the queues."""
        issued = [
            self._issued(stream, position)
            for stream, position in enumerate(self.plane.positions()[: self.regions.streams])
        ]
        self.most_issued = max(self.most_issued, *issued)
        self.queues.forget_done()

    def _put_back(self) -> None:
        """Return what stands ready to the queues."""
        regions = self.regions
        for stream in range(regions.streams):
            source = regions.source[regions.at[stream] : regions.end[stream]]
            if stream in self._rest:
                number, rows = self._rest.pop(stream)
                source = np.concatenate((source, np.stack([np.full(len(rows), number), rows], axis=1)))
            for number in np.unique(source[:, 0]):
                rows = source[source[:, 0] == number, 1]
                self.queues.issued(int(number), rows)
                self.queues.put_back(int(number), rows)
            regions.at[stream] = regions.end[stream] = stream * regions.region
        self._order = None

    def _issued(self, stream: int, position: int) -> int:
        regions = self.regions
        source = regions.source[regions.at[stream] : position]
        for part in np.split(source, np.flatnonzero(np.diff(source[:, 0])) + 1):
            if len(part):
                self.queues.issued(int(part[0, 0]), part[:, 1])
        regions.at[stream] = position
        self._issued_entries += len(source)
        return len(source)

    def _ready(self, stream: int) -> bool:
        """Make entries ready for a slice; tell whether there are more."""
        regions = self.regions
        assert self._order is not None
        if regions.end[stream] - regions.at[stream] >= AHEAD * self.most_issued // 2:
            return True
        room = min(regions.room(stream), AHEAD * self.most_issued)
        while room > 0:
            piece = self._rest.pop(stream, None) or self._taken(stream)
            if piece is None:
                return False
            number, rows = piece
            waiting = self.queues.tiles[number]
            regions.add(stream, waiting.tile, waiting.prepared, rows[:room])
            if len(rows) > room:
                self._rest[stream] = (number, rows[room:])
            room -= len(rows)
        return True

    def _taken(self, stream: int) -> tuple[int, I64] | None:
        assert self._order is not None
        for number, rows in self._order[stream]:
            found = self.queues.take(number, rows)
            if len(found):
                return number, found
        return None
