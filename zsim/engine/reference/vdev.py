"""Top-level vdevs of the reference engine: which leaves a block is read from, and which are repaired."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from zsim.engine.codes import FLAG_REPAIR, FLAG_SCAN
from zsim.engine.model import NOT_REPAIRED, TO_SPARE, VdevModel
from zsim.engine.reference.queue import LeafQueue
from zsim.engine.reference.state import Child, Shared
from zsim.vdevs.draid import draid_asize, draid_first_part, draid_map, draid_piece, draid_spare
from zsim.vdevs.mirror import mirror_asize, mirror_child, mirror_load, mirror_standing
from zsim.vdevs.permutations import draid_permutations
from zsim.vdevs.raidz import raidz_map, raidz_piece

Piece = tuple[int, int, int]
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

    Parameters
    ----------
    shared : Shared
    model : VdevModel
    queues : sequence of LeafQueue
        Of all leaves of the pool.
    """

    def __init__(self, shared: Shared, model: VdevModel, queues: Sequence[LeafQueue]) -> None:
        self.shared, self.model, self.queues = shared, model, queues
        self.width = len(model.read_leaf)

    def scan_reads(self, block: ScanBlock, offset: int, psize: int) -> int:
        """Queue the reads of a block under scan; return how many."""
        raise NotImplementedError

    def repair(self, block: ScanBlock, offset: int, psize: int, was_read: bool) -> None:
        """Queue the repair writes of one copy of a block."""
        raise NotImplementedError

    def plain_read(self, offset: int, psize: int, klass: int, flags: int, done: Done) -> int:
        """Queue the reads of a block outside the scan; return how many."""
        raise NotImplementedError

    def plain_write(self, offset: int, psize: int, klass: int, flags: int, done: Done) -> int:
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


class Parity(VdevProcess):
    """A vdev with columns: RAID-Z or dRAID.

    A map gives the parts of a block, each a list of columns, parity first: (child, child offset, size).
    """

    def scan_reads(self, block: ScanBlock, offset: int, psize: int) -> int:
        """Queue the reads of a block under scan: every readable column, parity included, last to first.

        Source: vdev_raidz.c:vdev_raidz_io_start, vdev_draid.c:vdev_draid_io_start_read.
        """
        parts = self._parts(offset, psize, whole=True)
        readable = [piece for part in parts for piece in part[::-1] if self._is_readable(piece)]
        for piece in readable:
            # A column that is read from a live old disk is copied by its `replacing` vdev.
            is_copied = self.model.write_leaf[piece[0]] not in (NOT_REPAIRED, TO_SPARE, self._source(piece))
            self._scan_read(block, piece, block.read_for_copy_done if is_copied else block.read_done)
        return len(readable)

    def repair(self, block: ScanBlock, offset: int, psize: int, was_read: bool) -> None:
        """Queue the repair writes of one copy of a block: only leaves that miss it are written.

        A column that was read from a live old disk has been passed on already.
        """
        for part in self._parts(offset, psize, whole=True):
            for piece in part:
                for leaf in self._leaves_to_repair(piece, was_read):
                    self.write(block, leaf, piece[1], piece[2])

    def plain_read(self, offset: int, psize: int, klass: int, flags: int, done: Done) -> int:
        """Queue the reads of a block outside the scan: data columns, and all if one of those cannot be read.

        Source: vdev_raidz.c:vdev_raidz_io_start.
        """
        pieces = [piece for part in self._plain_parts(offset, psize) for piece in self._needed(part)]
        for piece in pieces:
            self._enqueue(self._source(piece), klass, False, piece[1], piece[2], flags, done)
        return len(pieces)

    def plain_write(self, offset: int, psize: int, klass: int, flags: int, done: Done) -> int:
        """Queue the writes of a block outside the scan; a dRAID's zero fill is written too."""
        pieces = [
            (leaf, piece[1], piece[2])
            for part in self._parts(offset, psize, whole=True)
            for piece in part
            for leaf in dict.fromkeys((self._source(piece), self._missing_leaf(piece)))
            if leaf >= 0 and piece[2] > 0
        ]
        return self._writes(pieces, klass, flags, done)

    def _missing_leaf(self, piece: Piece) -> int:
        """Return the leaf that misses a piece, -1 if none does."""
        return self.model.write_leaf[piece[0]]

    def _needed(self, part: list[Piece]) -> list[Piece]:
        data = part[self.model.parity :]
        is_degraded = not all(map(self._is_readable, data))
        wanted = part if is_degraded else data
        return [piece for piece in wanted[::-1] if self._is_readable(piece) and piece[2] > 0]

    def _leaves_to_repair(self, piece: Piece, was_read: bool) -> list[int]:
        leaf = self.model.write_leaf[piece[0]]
        is_passed_on = was_read and self._is_readable(piece) and leaf != self._source(piece)
        return [leaf] if leaf >= 0 and not is_passed_on else []

    def _plain_parts(self, offset: int, psize: int) -> list[list[Piece]]:
        return self._parts(offset, psize, whole=False)

    def _parts(self, offset: int, psize: int, *, whole: bool) -> list[list[Piece]]:
        """Return the map of a block; `whole`: with what a scan reads and repairs besides the data."""
        raise NotImplementedError


class Raidz(Parity):
    """A RAID-Z: one part, and nothing besides the data and its parity."""

    def _parts(self, offset: int, psize: int, *, whole: bool) -> list[list[Piece]]:
        plan = raidz_map(offset, psize, self.model.ashift, self.width, self.model.parity)
        return [[raidz_piece(column, *plan[1:], self.width) for column in range(plan[0])]]


class Draid(Parity):
    """A dRAID: blocks may cross from one group into the next, and scans read and repair the zero fill too."""

    def __init__(self, shared: Shared, model: VdevModel, queues: Sequence[LeafQueue]) -> None:
        super().__init__(shared, model, queues)
        self.permutations = draid_permutations(self.width)

    def _parts(self, offset: int, psize: int, *, whole: bool) -> list[list[Piece]]:
        return [self._columns(at, size, whole) for at, size in self._split(offset, psize)]

    def _plain_parts(self, offset: int, psize: int) -> list[list[Piece]]:
        """Return the map of a plain read: where a column is missing, the zero fill of the others is read too.

        Source: vdev_draid.c:vdev_draid_io_start_read; seen in runs of 2.3.9.
        """
        parts = []
        for at, size in self._split(offset, psize):
            is_degraded = not all(map(self._is_readable, self._columns(at, size, whole=True)))
            parts.append(self._columns(at, size, whole=is_degraded))
        return parts

    def _split(self, offset: int, psize: int) -> list[tuple[int, int]]:
        """Return offset and size of the parts of a block (vdev_draid.c:vdev_draid_map_alloc)."""
        model, parts = self.model, []
        while psize > 0:
            part = draid_first_part(offset, psize, model.ashift, model.data, model.parity)
            parts.append((offset, part))
            offset += draid_asize(part, model.ashift, model.data, model.parity)
            psize -= part
        return parts

    def _columns(self, offset: int, psize: int, whole: bool) -> list[Piece]:
        model = self.model
        start, number, base, big_columns, small, full = draid_map(
            offset, psize, model.ashift, model.data, model.parity, self.width, model.spares
        )
        columns = []
        for column in range(model.data + model.parity):
            child, place = draid_piece(column, start, number, base, model.spares, self.permutations)
            size = small + (1 << model.ashift) if column < big_columns else small
            columns.append((child, place, full if whole else size))
        return columns

    def _leaves_to_repair(self, piece: Piece, was_read: bool) -> list[int]:
        """Return the leaf that misses a column, and for a copy that was not read the healthy one as well.

        The leaves of a dRAID do not look at what they miss (zio.c:zio_vdev_io_start).
        """
        missing, healthy = self._missing_leaf(piece), self.model.read_leaf[piece[0]]
        leaves = [missing] if was_read else [missing, healthy]
        is_passed_on = was_read and healthy >= 0
        return [] if is_passed_on else [leaf for leaf in leaves if leaf >= 0]

    def _source(self, piece: Piece) -> int:
        leaf = self.model.read_leaf[piece[0]]
        return self._spare_leaf(piece[1]) if leaf == TO_SPARE else leaf

    def _missing_leaf(self, piece: Piece) -> int:
        leaf = self.model.write_leaf[piece[0]]
        return self._spare_leaf(piece[1]) if leaf == TO_SPARE else leaf

    def _spare_leaf(self, place: int) -> int:
        """Return the leaf of the first distributed spare there (vdev_draid.c:vdev_draid_spare_get_child)."""
        model = self.model
        child = draid_spare(0, place, model.data, model.parity, model.spares, self.permutations)
        return model.read_leaf[child]


class Mirror(VdevProcess):
    """A mirror: every child holds the block at its DVA offset, in whole sectors."""

    def scan_reads(self, block: ScanBlock, offset: int, psize: int) -> int:
        """Queue the reads of a block under scan: one side in a resilver, all in a scrub.

        Source: vdev_mirror.c:vdev_mirror_io_start.
        """
        children = range(self.width) if self.shared.scan.scrub else [self._choice(offset)]
        pieces = [(child, offset, self._size(psize)) for child in children]
        readable = [piece for piece in pieces if self._is_readable(piece)]
        for piece in readable:
            self._scan_read(block, piece, block.read_done)
        return len(readable)

    def repair(self, block: ScanBlock, offset: int, psize: int, was_read: bool) -> None:
        """Queue the repair writes of one copy of a block, to all children that miss it."""
        for leaf in self.model.write_leaf:
            if leaf >= 0:
                self.write(block, leaf, offset, self._size(psize))

    def plain_read(self, offset: int, psize: int, klass: int, flags: int, done: Done) -> int:
        """Queue the read of a block outside the scan."""
        leaf = self.model.read_leaf[self._choice(offset)]
        self._enqueue(leaf, klass, False, offset, self._size(psize), flags, done)
        return 1

    def plain_write(self, offset: int, psize: int, klass: int, flags: int, done: Done) -> int:
        """Queue the write of a block outside the scan, to all sides."""
        both = zip(self.model.read_leaf, self.model.write_leaf, strict=True)
        pieces = [(leaf, offset, self._size(psize)) for pair in both for leaf in pair if leaf >= 0]
        return self._writes(pieces, klass, flags, done)

    def _size(self, psize: int) -> int:
        return mirror_asize(psize, self.model.ashift)

    def _choice(self, offset: int) -> int:
        """Return the child that is read, see `zsim.vdevs.mirror.mirror_child`."""
        sides = list(zip(self.model.read_leaf, self.model.write_leaf, strict=True))
        loads = np.array([self._load(*side, offset) for side in sides], np.int64)
        standing = np.array([mirror_standing(*side) for side in sides], np.int64)
        rules = self.shared.queue
        turns = (rules.mirror_shift, self.shared.now, rules.mirror_switch_s)
        return mirror_child(rules.mirror_rule, offset, *turns, loads, standing)

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


VDEVS: dict[str, type[VdevProcess]] = {"raidz": Raidz, "draid": Draid, "mirror": Mirror}
