"""Top-level vdevs of the reference engine: which leaves a block is read from, and which are repaired."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from zsim.engine.memory import (
    FLAG_REPAIR,
    FLAG_SCAN,
    MIRROR_BY_OFFSET,
    MIRROR_BY_PENDING,
)
from zsim.engine.model import VdevModel
from zsim.engine.reference_queue import LeafQueue
from zsim.engine.reference_state import Child, Shared
from zsim.vdevs.raidz import raidz_map, raidz_piece

MIRROR_SHIFT = 21
MIRROR_SWITCH_S = 0.01
UNREADABLE = 1 << 60
Piece = tuple[int, int, int]


class ScanBlock(Protocol):
    """What the vdev tells of the children it queues for a block under scan."""

    def expect_read(self) -> None:
        """Count a read that is being queued."""

    def expect_write(self) -> None:
        """Count a repair write that is being queued."""

    def read_done(self, child: Child) -> None:
        """Count a read as done."""

    def read_for_copy_done(self, child: Child) -> None:
        """Count the read of a live old disk as done: its replacement takes a copy."""

    def write_done(self, child: Child) -> None:
        """Count a repair write as done."""


class TopLevel:
    """A top-level vdev: its map, and the leaf queues behind its children.

    Parameters
    ----------
    shared : Shared
    model : VdevModel
    queues : list of LeafQueue
        Of all leaves of the pool.
    """

    def __init__(self, shared: Shared, model: VdevModel, queues: list[LeafQueue]) -> None:
        self.shared, self.model, self.queues = shared, model, queues

    def scan_reads(self, block: ScanBlock, offset: int, psize: int) -> int:
        """Queue the reads of a block under scan; return how many.

        RAID-Z: every readable column, parity included, last to first (vdev_raidz.c:vdev_raidz_io_start).
        Mirror: one side in a resilver, all in a scrub (vdev_mirror.c:vdev_mirror_io_start).
        """
        if self.model.kind == "raidz":
            pieces = self._raidz(offset, psize)[::-1]
        elif self.shared.scrub:
            pieces = self._mirror(offset, psize)
        else:
            pieces = [(self._mirror_choice(offset), offset, psize)]
        readable = [piece for piece in pieces if self.model.read_leaf[piece[0]] >= 0]
        for child, place, size in readable:
            # A column that is read from a live old disk is copied by its `replacing` vdev.
            copied = self.model.kind == "raidz" and self.model.write_leaf[child] >= 0
            done = block.read_for_copy_done if copied else block.read_done
            block.expect_read()
            leaf = self.model.read_leaf[child]
            self._enqueue(leaf, self.shared.scan_class, False, place, size, FLAG_SCAN, done)
        return len(readable)

    def repair(self, block: ScanBlock, offset: int, psize: int, was_read: bool) -> None:
        """Queue the repair writes of one copy of a block: only leaves that miss it are written.

        A RAID-Z column that was read from a live old disk has been passed on already.
        """
        raidz = self.model.kind == "raidz"
        for child, place, size in self._raidz(offset, psize) if raidz else self._mirror(offset, psize):
            passed_on = raidz and was_read and self.model.read_leaf[child] >= 0
            if self.model.write_leaf[child] >= 0 and not passed_on:
                block.expect_write()
                self.write(self.model.write_leaf[child], place, size, block.write_done)

    def write(self, leaf: int, place: int, size: int, done: Callable[[Child], None]) -> None:
        """Queue one repair write; `place` leaves out the labels."""
        self._enqueue(leaf, self.shared.repair_class, True, place, size, FLAG_REPAIR, done)

    def plain_read(
        self, offset: int, psize: int, klass: int, flags: int, done: Callable[[Child], None]
    ) -> int:
        """Queue the reads of a block outside the scan; return how many.

        Data columns, and all that can be read if one of those is not (vdev_raidz.c:vdev_raidz_io_start).
        """
        if self.model.kind == "raidz":
            columns = self._raidz(offset, psize)
            parities, data = columns[: self.model.parity], columns[self.model.parity :]
            degraded = any(self.model.read_leaf[child] < 0 for child, _, _ in data)
            pieces = self._parities_read(parities, degraded, data)
        else:
            pieces = [(self._mirror_choice(offset), offset, psize)]
        for child, place, size in pieces:
            self._enqueue(self.model.read_leaf[child], klass, False, place, size, flags, done)
        return len(pieces)

    def _parities_read(self, parities: list[Piece], degraded: bool, data: list[Piece]) -> list[Piece]:
        wanted = (parities if degraded else []) + data
        return [piece for piece in wanted[::-1] if self.model.read_leaf[piece[0]] >= 0]

    def _enqueue(
        self,
        leaf: int,
        klass: int,
        write: bool,
        place: int,
        size: int,
        flags: int,
        done: Callable[[Child], None],
    ) -> None:
        offset = place + self.shared.label_bytes
        self.queues[leaf].enqueue(Child(leaf, klass, write, offset, size, flags, done))

    # Maps.

    def _raidz(self, offset: int, psize: int) -> list[Piece]:
        """Return the columns of a block, parity first: (child, child offset, size)."""
        width = len(self.model.read_leaf)
        plan = raidz_map(offset, psize, self.model.ashift, width, self.model.parity)
        return [raidz_piece(column, *plan[1:], width) for column in range(plan[0])]

    def _mirror(self, offset: int, psize: int) -> list[Piece]:
        return [(child, offset, psize) for child in range(len(self.model.read_leaf))]

    # Mirrors: which side is read.

    def _mirror_choice(self, offset: int) -> int:
        """Return the child of least load; equal ones take turns (vdev_mirror.c:vdev_mirror_child_select).

        The turn goes by time in 0.6.3 to 0.6.5, else by offset.
        """
        loads = [self._mirror_load(child, offset) for child in range(len(self.model.read_leaf))]
        least = [child for child, load in enumerate(loads) if load == min(loads)]
        by_time = self.shared.mirror_rule == MIRROR_BY_PENDING
        turn = int(self.shared.now / MIRROR_SWITCH_S) if by_time else offset >> MIRROR_SHIFT
        return least[turn % len(least)]

    def _mirror_load(self, child: int, offset: int) -> int:
        """Return the load of a child (vdev_mirror.c:vdev_mirror_load).

        Nothing in v28, pending I/Os in 0.6.3 to 0.6.5, pending I/Os and a seek cost from 0.7.
        """
        shared, leaf = self.shared, self.model.read_leaf[child]
        if leaf < 0:
            return UNREADABLE
        if shared.mirror_rule == MIRROR_BY_OFFSET:
            return 0
        if self.model.write_leaf[child] >= 0:
            # A `replacing` child is no leaf: it has no queue of its own and no last offset.
            return 0 if shared.mirror_rule == MIRROR_BY_PENDING else shared.mirror_seek_cost
        state = self.queues[leaf].state
        if shared.mirror_rule == MIRROR_BY_PENDING:
            return state.pending
        distance = abs(state.last_offset - (offset + shared.label_bytes))
        if distance == 0:
            return state.pending
        near = distance < shared.mirror_near
        return state.pending + (shared.mirror_seek_cost // 2 if near else shared.mirror_seek_cost)
