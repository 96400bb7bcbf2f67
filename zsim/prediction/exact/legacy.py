"""The legacy scan over the tiles of a large pool: one stream of operations, filled on as it is walked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zsim.engine.codes import BUDGET, EXIT_DRAINED, EXIT_REFILL, STREAM_READY
from zsim.engine.compiled.memory import power_of_two
from zsim.engine.compiled.plane import CompiledPlane, Room, item_records
from zsim.engine.window import Window, slots_for
from zsim.operation.control import FINISHED
from zsim.operation.run import Run, RunSetup
from zsim.prediction.exact.tiles import Prepared, Preparer, Tiling
from zsim.scan.program import Program, ScanItems

# Tiles in the rings: the one that is walked, the one behind it whose last blocks are in flight, the next one.
TILES = 3
# Later populations may be a little larger than the first.
MARGIN = 1.2
CLIENT_ITEMS = 20_000


class LegacyTiles(Run):
    """A run of the legacy scan over all tiles.

    Parameters
    ----------
    tiling : Tiling
    setup : RunSetup
        Of the first tile.
    progress : callable
        Called with simulated time and the share done.
    """

    def __init__(self, tiling: Tiling, setup: RunSetup, progress: Callable[[float, float], None]) -> None:
        self.tiling = tiling
        super().__init__(setup, progress)

    def _plane(self) -> RingPlane:
        setup = self.setup
        return RingPlane(
            self.tiling,
            setup,
            self.items,
            slots=slots_for([self.pool_window], setup.blocks.psize),
            client_items=self._client_items()[:CLIENT_ITEMS],
            log_items=self.log_items,
            program_length=len(self.walk),
        )

    def share(self) -> float:
        """Return the share of the walk that is done."""
        return float(self.plane.positions()[0] / max(1.0, self.plane.mean_program * self.tiling.count))


class RingPlane(CompiledPlane):
    """A compiled plane whose items and operations are rings, filled on tile by tile.

    Parameters
    ----------
    tiling : Tiling
    setup : RunSetup
    items : ScanItems
        Of the first tile, for the sizes.
    slots, client_items, log_items, program_length
        See `CompiledPlane`; the length is the first tile's.  Every tile brings the log along.
    """

    def __init__(
        self,
        tiling: Tiling,
        setup: RunSetup,
        items: ScanItems,
        *,
        slots: int,
        client_items: NDArray[np.int64],
        log_items: NDArray[np.int64],
        program_length: int,
    ) -> None:
        lengths = (len(items.copy_vdev), program_length)
        copies, length = (power_of_two(int(TILES * MARGIN * each)) for each in lengths)
        count = power_of_two(TILES * (max(len(items), tiling.most_rows) + len(log_items)))
        super().__init__(
            setup.model,
            items,
            streams=max(1, len(setup.model.vdevs)),
            slots=slots,
            client_items=client_items,
            log_items=log_items,
            program_length=length,
            room=Room(count, copies),
        )
        self.preparer = Preparer(tiling, setup, lambda part, turn: Prepared(part, turn).slim())
        self.tiling = tiling
        self._log = item_records(items)[log_items]
        self._start_over()

    def _start_over(self) -> None:
        self.tiles = self.tiling.tiles()
        self._ends: list[tuple[int, int, int]] = [(0, 0, 0)]

    @property
    def mean_program(self) -> float:
        """Operations of a tile, mean of those loaded so far."""
        return self._ends[-1][0] / max(1, len(self._ends) - 1)

    def load_streams(self, programs: list[Program], windows: list[Window]) -> None:
        """Begin with the first two tiles; the programs given are not used."""
        nothing = np.zeros(0, np.int64)
        super().load_streams([Program(nothing, nothing)], windows)
        self._start_over()
        self.feed()
        self.feed()

    def feed(self) -> bool:
        """Put the next tile behind those loaded; tell whether there was one."""
        tile = next(self.tiles, None)
        if tile is None:
            self.set_general("refill", -1)
            return False
        prepared: Prepared = self.preparer.prepared(tile)
        operation, item, copy = self._ends[-1]
        vdev, offset = prepared.moved_copies(tile)
        memory, walk = self.memory, prepared.walk
        for part in _put(memory.items, item, prepared.records):
            prepared.move(part, tile, item, copy)
        log = item + len(prepared.records)
        _put(memory.items, log, self._log)
        _put(memory.copies["vdev"], copy, vdev)
        _put(memory.copies["offset"], copy, offset)
        _put(memory.program["code"], operation, walk.code)
        for part in _put(memory.program["item"], operation, walk.item):
            np.add(part, item, out=part)
        self._ends.append((operation + len(walk), log + len(self._log), copy + len(vdev)))
        self._check_room()
        memory.streams["end"][0] = operation + len(walk)
        self.set_general("refill", operation)
        self._give_clients(prepared, item)
        return True

    def _check_room(self) -> None:
        old, new = self._ends[max(0, len(self._ends) - TILES)], self._ends[-1]
        rings = (self.memory.program, self.memory.items, self.memory.copies)
        for ring, last, first in zip(rings, new, old, strict=True):
            if last - first > len(ring):
                raise RuntimeError("a tile is much larger than the first one")

    def _give_clients(self, prepared: Prepared, first: int) -> None:
        """Let the clients read from this tile, and write to its log: its items stay longest."""
        if self.model.client_count == 0:
            return
        log, items = len(self._log), self.memory.client_items
        readable, data = items[: len(items) - log], prepared.data_rows
        items[len(items) - log :] = first + len(prepared.records) + np.arange(log)
        if len(data) > 0:
            readable[:] = first + data[np.arange(len(readable)) * len(data) // len(readable)]

    def advance(self, until: float, budget: int = BUDGET) -> int:
        """Advance as `CompiledPlane.advance` does, over the ends of the tiles."""
        while True:
            reason = super().advance(until, budget)
            states = self.memory.streams["state"]
            if reason == EXIT_REFILL:
                self.feed()
            elif reason == EXIT_DRAINED and states[0] == FINISHED and self.feed():
                states[0] = STREAM_READY
            else:
                return reason


def _put(ring: NDArray[Any], start: int, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Write values into a ring at a running number; return the two parts of the ring where they are."""
    place = start & (len(ring) - 1)
    room = min(len(values), len(ring) - place)
    parts = ring[place : place + room], ring[: len(values) - room]
    parts[0][:], parts[1][:] = values[:room], values[room:]
    return parts
