"""Top-level vdevs of the reference engine: which leaves a block is read from, and which are repaired."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from zsim.engine.codes import FLAG_REPAIR, FLAG_SCAN
from zsim.engine.model import NOT_REPAIRED, TO_SPARE, VdevModel
from zsim.engine.reference.queue import LeafQueue
from zsim.engine.reference.sitting import SittingOut, Watch
from zsim.engine.reference.state import Child, Shared
from zsim.vdevs.kind import Piece, asize_of, kind_of, parts_of, pieces_of_part, shape_of
from zsim.vdevs.mirror import mirror_child, mirror_load, mirror_standing

Done = Callable[[Child], None]


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


class VdevProcess:
    """A top-level vdev: its map, and the leaf queues behind its children.

    Of a block are given its offset and psize [bytes] and the data columns of its stripe (0: as new ones).

    Parameters
    ----------
    shared : Shared
    model : VdevModel
    queues : sequence of LeafQueue
        Of all leaves of the pool.
    watch : Watch
    """

    def __init__(self, shared: Shared, model: VdevModel, queues: Sequence[LeafQueue], watch: Watch) -> None:
        self.watch, self.sitting = watch, SittingOut(shared, watch, model)
        self.shared, self.model, self.queues = shared, model, queues
        self.width, self.kind = len(model.read_leaf), kind_of(model.kind)

    def scan_reads(self, block: ScanBlock, offset: int, psize: int, columns: int) -> int:
        """Queue the reads of a block under scan; return how many."""
        raise NotImplementedError

    def repair(self, block: ScanBlock, offset: int, psize: int, columns: int, was_read: bool) -> None:
        """Queue the repair writes of one copy of a block."""
        raise NotImplementedError

    def plain_read(self, offset: int, psize: int, columns: int, klass: int, flags: int, done: Done) -> int:
        """Queue the reads of a block outside the scan; return how many."""
        raise NotImplementedError

    def plain_write(self, offset: int, psize: int, columns: int, klass: int, flags: int, done: Done) -> int:
        """Queue the writes of a block outside the scan, to every leaf there is; return how many."""
        raise NotImplementedError

    def write(self, block: ScanBlock, leaf: int, place: int, size: int) -> None:
        """Queue one repair write; `place` leaves out the labels."""
        block.expect_write()
        self.enqueue_write(leaf, place, size, block.write_done)

    def enqueue_write(self, leaf: int, place: int, size: int, done: Done) -> None:
        """Queue one repair write that calls `done` at its end."""
        self._enqueue(leaf, self.shared.scan.repair_class, True, place, size, FLAG_REPAIR, done)

    def _scan_read(self, block: ScanBlock, piece: Piece, done: Done) -> None:
        _, place, size = piece
        block.expect_read()
        self._enqueue(self._source(piece), self.shared.scan.scan_class, False, place, size, FLAG_SCAN, done)

    def _enqueue(
        self, leaf: int, klass: int, write: bool, place: int, size: int, flags: int, done: Done
    ) -> None:
        offset = place + self.shared.label_bytes
        self.queues[leaf].enqueue(Child(leaf, klass, write, offset, size, flags, done))

    def _is_readable(self, piece: Piece) -> bool:
        return self._source(piece) >= 0

    def _source(self, piece: Piece) -> int:
        """Return the leaf that holds a piece, -1 if none does."""
        return self.model.read_leaf[piece[0]]

    def _writes(self, pieces: Sequence[tuple[int, int, int]], klass: int, flags: int, done: Done) -> int:
        """Queue plain writes, each a leaf, a place on it and a size; return how many."""
        for leaf, place, size in pieces:
            self._enqueue(leaf, klass, True, place, size, flags, done)
        return len(pieces)


class StripedVdev(VdevProcess):
    """A vdev whose blocks lie in columns, some of them parity, as its kind maps them.

    A block has one or several parts, each a list of columns, parity first: (child, child offset, size).
    """

    def scan_reads(self, block: ScanBlock, offset: int, psize: int, columns: int) -> int:
        """Queue the reads of a block under scan: every readable column, parity included, last to first.

        Source: vdev_raidz.c:vdev_raidz_io_start, vdev_draid.c:vdev_draid_io_start_read.
        """
        self.sitting.look(self.model)
        parts = self._parts(offset, psize, columns)
        readable = [piece for part in parts for piece in self._read_now(part, part)]
        for piece in readable:
            # A column that is read from a live old disk is copied by its `replacing` vdev.
            target = self.model.write_leaf[piece[0]]
            is_copied = target >= 0 and target != self._source(piece)
            self._scan_read(block, piece, block.read_for_copy_done if is_copied else block.read_done)
        return len(readable)

    def repair(self, block: ScanBlock, offset: int, psize: int, columns: int, was_read: bool) -> None:
        """Queue the repair writes of one copy of a block: only leaves that miss it are written.

        A column that was read from a live old disk has been passed on already.
        """
        for part in self._parts(offset, psize, columns):
            for piece in part:
                for leaf in self._leaves_to_repair(piece, was_read):
                    self.write(block, leaf, piece[1], piece[2])

    def plain_read(self, offset: int, psize: int, columns: int, klass: int, flags: int, done: Done) -> int:
        """Queue the reads of a block outside the scan: data columns, and all if one of those cannot be read.

        Where a column is missing, fill of the others is read too (seen in runs of 2.3.9).
        Source: vdev_raidz.c:vdev_raidz_io_start, vdev_draid.c:vdev_draid_io_start_read.
        """
        self.sitting.look(self.model)
        # The parity of an older block of several rows lies in all columns.
        first = 0 if columns and psize > columns << self.model.ashift else self.model.parity
        parts = self._plain_parts(offset, psize, columns)
        pieces = [piece for part in parts for piece in self._needed(part, first)]
        for piece in pieces:
            self._enqueue(self._source(piece), klass, False, piece[1], piece[2], flags, done)
        return len(pieces)

    def plain_write(self, offset: int, psize: int, columns: int, klass: int, flags: int, done: Done) -> int:
        """Queue the writes of a block outside the scan; fill is written too."""
        pieces = [
            (leaf, piece[1], piece[2])
            for part in self._parts(offset, psize, columns)
            for piece in part
            for leaf in dict.fromkeys((self._source(piece), self._missing_leaf(piece)))
            if leaf >= 0 and piece[2] > 0
        ]
        return self._writes(pieces, klass, flags, done)

    def _read_now(self, columns: list[Piece], part: list[Piece]) -> list[Piece]:
        """Return the readable ones of the columns of a part, last to first.

        Left out is the first that sits out, where there is parity for it.
        """
        backwards, missing = columns[::-1], sum(not self._is_readable(piece) for piece in part)
        sits = (piece for piece in backwards if self._is_readable(piece) and self.sitting.sits_out(piece[0]))
        sitting = next(sits, None) if missing < self.model.parity else None
        return [piece for piece in backwards if self._is_readable(piece) and piece is not sitting]

    def _needed(self, part: list[Piece], first: int) -> list[Piece]:
        data = part[first:]
        is_degraded = len(self._read_now(data, part)) < len(data)
        return [piece for piece in self._read_now(part if is_degraded else data, part) if piece[2] > 0]

    def _leaves_to_repair(self, piece: Piece, was_read: bool) -> list[int]:
        """Return the leaf that misses a column, and for a copy that was not read the healthy one as well.

        The latter only where there is fill: leaves then do not look at what they miss (zio.c:
        zio_vdev_io_start).
        """
        missing, healthy = self._missing_leaf(piece), self.model.read_leaf[piece[0]]
        leaves = [missing, healthy] if self.kind.has_fill and not was_read else [missing]
        is_passed_on = was_read and healthy >= 0 and missing != healthy
        return [] if is_passed_on else [leaf for leaf in leaves if leaf >= 0]

    def _plain_parts(self, offset: int, psize: int, columns: int) -> list[list[Piece]]:
        """Return the map of a plain read."""
        parts = []
        for at, size in parts_of(self.model, offset, psize, self.model.ashift, columns):
            everything = self._columns(at, size, columns, whole=True)
            is_degraded = not all(map(self._is_readable, everything))
            parts.append(everything if is_degraded else self._columns(at, size, columns, whole=False))
        return parts

    def _parts(self, offset: int, psize: int, columns: int) -> list[list[Piece]]:
        """Return the map of a block with what a scan reads and repairs besides the data."""
        parts = parts_of(self.model, offset, psize, self.model.ashift, columns)
        return [self._columns(at, size, columns, whole=True) for at, size in parts]

    def _columns(self, offset: int, psize: int, columns: int, *, whole: bool) -> list[Piece]:
        return pieces_of_part(self.model, offset, psize, self.model.ashift, whole=whole, data=columns)

    def _source(self, piece: Piece) -> int:
        leaf = self.model.read_leaf[piece[0]]
        return self._spare_leaf(leaf, piece[1]) if leaf <= TO_SPARE else leaf

    def _missing_leaf(self, piece: Piece) -> int:
        """Return the leaf that misses a piece, -1 if none does."""
        leaf = self.model.write_leaf[piece[0]]
        return self._spare_leaf(leaf, piece[1]) if leaf <= TO_SPARE else leaf

    def _spare_leaf(self, stands_for: int, place: int) -> int:
        """Return the leaf of a distributed spare there, -1 if none holds it.

        Where the spare lies on a child that has failed and has a spare of its own, it is on that one
        (vdev_draid.c:vdev_draid_spare_get_child).
        """
        shape, table = shape_of(self.model, self.model.ashift), self.kind.table(self.model)
        for _ in range(self.model.spares):
            child = self.kind.kernels.spare(TO_SPARE - stands_for, place, shape, table)
            leaf = self.model.read_leaf[child]
            if leaf >= 0:
                return leaf
            stands_for = leaf if leaf <= TO_SPARE else self.model.write_leaf[child]
            if stands_for > TO_SPARE:
                return NOT_REPAIRED
        return NOT_REPAIRED


class Replicated(VdevProcess):
    """A mirror, or what is like one: every child holds the block at its DVA offset, in whole sectors."""

    def scan_reads(self, block: ScanBlock, offset: int, psize: int, columns: int) -> int:
        """Queue the reads of a block under scan: one side in a resilver, all in a scrub.

        Source: vdev_mirror.c:vdev_mirror_io_start.
        """
        children = range(self.width) if self.shared.scan.scrub else [self._choice(offset)]
        pieces = [(child, offset, self._size(psize)) for child in children]
        readable = [piece for piece in pieces if self._is_readable(piece)]
        for piece in readable:
            self._scan_read(block, piece, block.read_done)
        return len(readable)

    def repair(self, block: ScanBlock, offset: int, psize: int, columns: int, was_read: bool) -> None:
        """Queue the repair writes of one copy of a block, to all children that miss it."""
        for leaf in self.model.write_leaf:
            if leaf >= 0:
                self.write(block, leaf, offset, self._size(psize))

    def plain_read(self, offset: int, psize: int, columns: int, klass: int, flags: int, done: Done) -> int:
        """Queue the read of a block outside the scan."""
        leaf = self.model.read_leaf[self._choice(offset)]
        self._enqueue(leaf, klass, False, offset, self._size(psize), flags, done)
        return 1

    def plain_write(self, offset: int, psize: int, columns: int, klass: int, flags: int, done: Done) -> int:
        """Queue the write of a block outside the scan, to all sides."""
        both = zip(self.model.read_leaf, self.model.write_leaf, strict=True)
        pieces = [(leaf, offset, self._size(psize)) for pair in both for leaf in pair if leaf >= 0]
        return self._writes(pieces, klass, flags, done)

    def _size(self, psize: int) -> int:
        return asize_of(self.model, psize, self.model.ashift)

    def _choice(self, offset: int) -> int:
        """Return the child that is read, see `zsim.vdevs.mirror.mirror_child`."""
        sides = list(zip(self.model.read_leaf, self.model.write_leaf, strict=True))
        loads = np.array([self._load(*side, offset) for side in sides], np.int64)
        # What faulted leaves hold is unreadable, unless nothing else holds it.
        whole = any(source >= 0 and not self.watch.is_faulted(source) for source, _ in sides)
        standing = np.array([self._standing(*side, whole) for side in sides], np.int64)
        rules = self.shared.queue
        turns = (rules.mirror_shift, self.shared.now, rules.mirror_switch_s)
        return mirror_child(rules.mirror_rule, offset, *turns, loads, standing)

    def _standing(self, source: int, target: int, spares_faulted: bool) -> int:
        """Return the standing of a child; with `spares_faulted` a faulted leaf holds nothing."""
        is_lost = spares_faulted and source >= 0 and self.watch.is_faulted(source)
        return mirror_standing(-1 if is_lost else source, target)

    def _load(self, source: int, target: int, offset: int) -> int:
        """Return the load of a child: of its leaf, or of the `replacing` vdev that it is."""
        rules, queues = self.shared.queue, self.queues
        rotating = any(queues[leaf].rotating for leaf in (source, target) if leaf >= 0)
        active = last_end = 0
        if source >= 0 and target < 0:
            active, last_end = queues[source].state.pending, queues[source].state.last_offset
            offset += self.shared.label_bytes
        costs = (rules.mirror_near, rules.mirror_seek_cost, rules.mirror_flash_seek_cost)
        return mirror_load(rules.mirror_rule, active, last_end, offset, rotating, *costs)


def vdev_process(shared: Shared, model: VdevModel, queues: Sequence[LeafQueue], watch: Watch) -> VdevProcess:
    """Return the process of a top-level vdev."""
    process = Replicated if kind_of(model.kind).is_replicated else StripedVdev
    return process(shared, model, queues, watch)
