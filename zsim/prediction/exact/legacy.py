"""The legacy scan over the tiles of a large pool: one stream of operations, refilled as it is walked."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import S
from zsim.base.constants import constant, whole_constant
from zsim.engine.codes import EXIT_DRAINED, STREAM_READY
from zsim.engine.compiled.memory import power_of_two
from zsim.engine.compiled.plane import CompiledPlane, Room, item_records
from zsim.engine.window import slots_for
from zsim.operation.blocks import ScanBlocks, visit_seconds
from zsim.operation.pool import SimulatedPool
from zsim.operation.scans import LegacyScan
from zsim.operation.setup import RunSetup
from zsim.prediction.exact.tiles import Prepared, Preparer, Tiling
from zsim.scan.program import Program

# Tiles in the rings: the one that is walked, the one behind it whose last blocks are in flight, the next one.
TILES = 3
# Later populations may be a little larger than the first.
MARGIN = constant("exact.legacy_margin")
CLIENT_ITEMS = whole_constant("exact.client_items")


class LegacyTiles:
    """The blocks of all tiles for the legacy scan: items and operations are rings, filled on tile by tile.

    Parameters
    ----------
    tiling : Tiling
    setup : RunSetup
        Of the first tile.

    Attributes
    ----------
    plane : CompiledPlane
        Every tile brings the log along.
    """

    def __init__(self, tiling: Tiling, setup: RunSetup) -> None:
        blocks = ScanBlocks(setup)
        items, log = blocks.items, blocks.log_items
        lengths = (len(items.copy_vdev), len(blocks.walk))
        copies, length = (power_of_two(int(TILES * MARGIN * each)) for each in lengths)
        count = power_of_two(TILES * (max(len(items), tiling.most_rows) + len(log)))
        self.plane = CompiledPlane(
            setup.model,
            items,
            streams=max(1, len(setup.model.vdevs)),
            slots=slots_for([blocks.pool_window], setup.blocks.psize),
            client_items=blocks.client_items()[:CLIENT_ITEMS],
            log_items=log,
            program_length=length,
            room=Room(count, copies),
        )
        self.plane.set_general("visit_s", visit_seconds(setup, blocks.walk))
        self.preparer = Preparer(tiling, setup, lambda part, turn: Prepared(part, turn).slim())
        self.tiling, self.window = tiling, blocks.pool_window
        self._log = item_records(items)[log]
        self._start_over()

    def scan_on(self, pool: SimulatedPool) -> LegacyScan:
        """Return the strategy."""
        pool.control.feed = self.feed_on
        return LegacyScan(pool, self)

    def share(self) -> float:
        """Return the share of the walk that is done."""
        return float(self.plane.positions()[0] / max(1.0, self.mean_program * self.tiling.count))

    def release(self) -> None:
        """Let go of the data plane."""
        self.plane = cast("CompiledPlane", None)

    def _start_over(self) -> None:
        self.tiles = self.tiling.tiles()
        self._ends: list[tuple[int, int, int]] = [(0, 0, 0)]

    @property
    def mean_program(self) -> float:
        """Operations of a tile, mean of those loaded so far."""
        return self._ends[-1][0] / max(1, len(self._ends) - 1)

    def begin(self) -> None:
        """Load the first two tiles."""
        nothing = np.zeros(0, np.int64)
        self.plane.load_streams([Program(nothing, nothing)], [self.window])
        self._start_over()
        self.feed()
        self.feed()

    def feed_on(self, reason: int) -> bool:
        """Put the next tile behind those loaded; a stream that has come to their end goes on."""
        found = self.feed()
        if found and reason == EXIT_DRAINED:
            self.plane.memory.streams["state"][0] = STREAM_READY
        return found

    def feed(self) -> bool:
        """Put the next tile behind those loaded; tell whether there was one."""
        tile = next(self.tiles, None)
        if tile is None:
            self.plane.set_general("refill", -1)
            return False
        prepared: Prepared = self.preparer.prepared(tile)
        operation, item, copy = self._ends[-1]
        vdev, offset = prepared.moved_copies(tile)
        columns = prepared.copy_columns
        memory, walk = self.plane.memory, prepared.walk
        for part in _put(memory.items, item, prepared.records):
            prepared.move(part, tile, item, copy)
        log = item + len(prepared.records)
        _put(memory.items, log, self._log)
        _put(memory.copies["vdev"], copy, vdev)
        _put(memory.copies["offset"], copy, offset)
        _put(memory.copies["columns"], copy, columns)
        _put(memory.program["code"], operation, walk.code)
        for part in _put(memory.program["item"], operation, walk.item):
            np.add(part, item, out=part)
        self._ends.append((operation + len(walk), log + len(self._log), copy + len(vdev)))
        self._check_room()
        memory.streams["end"][0] = operation + len(walk)
        self.plane.set_general("refill", operation)
        self._give_clients(prepared, item)
        return True

    def _check_room(self) -> None:
        old, new = self._ends[max(0, len(self._ends) - 1 - TILES)], self._ends[-1]
        rings = (self.plane.memory.program, self.plane.memory.items, self.plane.memory.copies)
        for ring, last, first in zip(rings, new, old, strict=True):
            if last - first > len(ring):
                raise RuntimeError("a tile is much larger than the first one")

    def _give_clients(self, prepared: Prepared, first: int) -> None:
        """Let the clients read from this tile, and write to its log: its items stay longest."""
        if self.plane.model.client_count == 0:
            return
        log, items = len(self._log), self.plane.memory.client_items
        readable, data = items[: len(items) - log], prepared.data_rows
        items[len(items) - log :] = first + len(prepared.records) + np.arange(log)
        if len(data) > 0:
            readable[:] = first + data[np.arange(len(readable)) * len(data) // len(readable)]


def _put(ring: NDArray[S], start: int, values: NDArray[S]) -> tuple[NDArray[S], NDArray[S]]:
    """Write values into a ring at a running number; return the two parts of the ring where they are."""
    place = start & (len(ring) - 1)
    room = min(len(values), len(ring) - place)
    parts = ring[place : place + room], ring[: len(values) - room]
    parts[0][:], parts[1][:] = values[:room], values[room:]
    return parts
