"""Transaction groups: the slices of the scan, and the writes that end each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zsim.engine.model import LABEL_BYTES, PlaneModel, VdevModel
from zsim.vdevs import kind
from zsim.vdevs.dispatch import pieces_of_blocks

Cursor = tuple[int, int]
SYNC_READ_CLASS, SYNC_WRITE_CLASS, ASYNC_WRITE_CLASS = 0, 1, 3
LABEL_SIZE = 256 * 1024
UBERBLOCK_RING = 128 * 1024
LABEL_LIST_BYTES = 112 * 1024
END_LABELS = 512 << 10
# Holes of four blocks, taken in a scattered order (the stride is prime to their number).
HOLE_STRIDE = 7
HOLE_BLOCKS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TxgRules:
    """When a scan pauses for the txg to end, and what the txg then writes.

    Attributes
    ----------
    slice_s : float
        Scanning time of a txg on an idle pool [s].
    first_slice_s : float
        Of the first txg, which the attach waits for [s].
    least_s : float
        Scanning time of a txg at least, however busy the pool is [s].
    with_data : bool
        Whether the writing of the txg's data, which comes before the scan, is counted as time of the slice.
    pass_blocks : tuple of int
        MOS blocks rewritten in each sync pass (spa.c:spa_sync iterates to convergence): scan state, DTLs,
        space maps and the dnode and indirect blocks above them.
    further_blocks : tuple of tuple of int
        With several allocators, blocks that each pass rewrites in the metaslabs of other allocators: one
        entry an allocator, one number a pass.
    rotates : bool
        Whether the allocators change parts with every txg (2.3 and later: spa.c:spa_acq_allocator).
    flushes : bool
        Whether the write caches of the drives are flushed before and after the uberblocks.
    aliquot : int
        What a top-level vdev takes of the data of clients before the next one has its turn, for each of its
        drives without parity [bytes].
    region_blocks : int
        Blocks of the region around each cursor whose holes the MOS keeps filling.
    first_reads : int
        Space-map blocks that the first txg reads, one after the other, to load metaslabs.
    first_labels : bool
        Whether the first txg also rewrites the labels (the pool's configuration has changed).
    block_bytes : int
        Compressed size of such a block [bytes].
    """

    slice_s: float = 5.0
    first_slice_s: float = 3.0
    least_s: float = 0.0
    with_data: bool = False
    pass_blocks: tuple[int, ...] = (12, 30, 14)
    further_blocks: tuple[tuple[int, ...], ...] = ()
    rotates: bool = False
    flushes: bool = True
    aliquot: int = 1 << 20
    region_blocks: int = 128
    first_reads: int = 0
    first_labels: bool = False
    block_bytes: int = 4096


def vdev_asize(model: PlaneModel, vdev: VdevModel) -> int:
    """Return the address space of a top-level vdev [bytes].

    Returns
    -------
    int
        Of its smallest drive, less the four labels and the boot block, by the rule of its kind [bytes].

    Notes
    -----
    OpenZFS vdev.c:vdev_open, vdev_raidz.c:vdev_raidz_open, vdev_draid.c:vdev_draid_open.
    """
    leaves = [leaf for leaf in (*vdev.read_leaf, *vdev.write_leaf) if leaf >= 0]
    child = min(model.leaves[leaf].drive.capacity_bytes for leaf in leaves) - LABEL_BYTES - END_LABELS
    return kind.kind_of(vdev.kind).address_space(vdev, child)


def asize_of(vdev: VdevModel, psize: int) -> int:
    """Return the space that a block takes in its top-level vdev [bytes]."""
    return kind.asize_of(vdev, psize, vdev.ashift)


def hole_order(region_blocks: int) -> NDArray[np.int64]:
    """Return in which order the MOS fills the places of a region.

    Parameters
    ----------
    region_blocks : int
        Places in the region.

    Returns
    -------
    ndarray of int64, shape (places,)
        Of whole holes, four places each, which are taken in scattered order (a stride prime to their number).
    """
    runs = region_blocks // HOLE_BLOCKS
    run, place = np.divmod(np.arange(runs * HOLE_BLOCKS), HOLE_BLOCKS)
    return (run * HOLE_STRIDE % runs) * HOLE_BLOCKS + place


class SyncWrites:
    """The writes of a txg: MOS blocks at three cursors in three metaslabs, then the uberblocks of every leaf.

    Parameters
    ----------
    model : PlaneModel
    rules : TxgRules
    cursors : sequence of (vdev, offset)
        Where the next MOS block of each copy goes.
    further : sequence of sequence of (vdev, offset)
        The same for the other allocators of `TxgRules.further_blocks`; those without an entry share
        `cursors`.

    Notes
    -----
    Sources: OpenZFS spa.c:spa_sync, vdev_label.c:vdev_uberblock_sync_list (four uberblocks a leaf, two at
    either end of the disk); the number of blocks a pass as seen in runs of 0.7.13 and 2.3.9 on an idle
    pool.
    """

    def __init__(
        self,
        model: PlaneModel,
        rules: TxgRules,
        cursors: Sequence[Cursor],
        further: Sequence[Sequence[Cursor]] = (),
    ) -> None:
        self.model, self.rules = model, rules
        self.cursors = list(cursors)
        missing = len(rules.further_blocks) - len(further)
        self.further = [*further, *([self.cursors] * missing)]
        self.txg = 0
        self.data_cursors: list[Cursor] = [(0, 0)]
        self.writer = model.writer
        self.flushes = any(leaf.drive.flush_each_txg for leaf in model.leaves)
        self._written_until = self._owed = 0.0
        self._turned = 0
        self._count = 0
        self._leaves: dict[int, tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = {}
        self._rounds: dict[tuple[Cursor, ...], tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        self._label_rows = self._labels()

    def data_rows(self, now: float) -> NDArray[np.int64]:
        """Return the child writes of what the foreground writer made dirty since the last txg, shape (n, 5).

        Parameters
        ----------
        now : float
            Time since the scan started [s].

        Notes
        -----
        Records are appended at one cursor a top-level vdev, as a single file is; the space behind it is taken
        to be free, and at the end of the vdev the cursor goes on at its beginning.  The vdevs take turns
        (OpenZFS metaslab.c:metaslab_alloc_dva, mg_aliquot).
        Writers wait while as much is dirty as may be (OpenZFS dsl_pool.c:dsl_pool_need_dirty_delay,
        dmu_tx.c:dmu_tx_try_assign): what they would have written meanwhile is not made up for.
        """
        writer = self.writer
        if (now - self._written_until) * writer.rate + self._owed > writer.most_dirty_bytes:
            self._written_until, self._owed = now, writer.most_dirty_bytes
        records = int(((now - self._written_until) * writer.rate + self._owed) / writer.record_bytes)
        if writer.rate > 0.0:
            self._written_until += (records * writer.record_bytes - self._owed) / writer.rate
            self._owed = 0.0
        else:
            self._owed -= records * writer.record_bytes
        if records == 0:
            return np.zeros((0, 5), np.int64)
        shares = self._shares(records, writer.record_bytes)
        return np.concatenate([self._appended(number, count) for number, count in enumerate(shares)])

    def _shares(self, records: int, record_bytes: int) -> list[int]:
        """Return how many of so many records go to each of the cursors, which take turns."""
        turns = []
        normal = [number for number, vdev in enumerate(self.model.vdevs) if vdev.alloc_class == kind.NORMAL]
        favour = dict(zip(normal, self.writer.favour, strict=False))
        for number, _ in self.data_cursors:
            vdev = self.model.vdevs[number]
            aliquot = self.rules.aliquot * kind.kind_of(vdev.kind).window_children(vdev)
            turns.append(max(1, math.ceil(aliquot * favour.get(number, 1.0) / asize_of(vdev, record_bytes))))
        rounds, begins = sum(turns), np.cumsum(turns) - turns

        def taken(count: int) -> NDArray[np.int64]:
            whole, part = divmod(count, rounds)
            return whole * np.array(turns) + np.clip(part - begins, 0, turns)

        before, self._turned = self._turned, (self._turned + records) % rounds
        return [int(count) for count in taken(before + records) - taken(before)]

    def _appended(self, cursor: int, records: int) -> NDArray[np.int64]:
        """Return the child writes of so many records at one of the cursors, which goes on behind them."""
        vdev, offset = self.data_cursors[cursor]
        record_bytes = self.writer.record_bytes
        taken = asize_of(self.model.vdevs[vdev], record_bytes)
        # One record less than fit: the cursor need not begin at a multiple of one.
        room = max(vdev_asize(self.model, self.model.vdevs[vdev]) // taken - 1, 1) * taken
        places = (offset + taken * np.arange(records + 1, dtype=np.int64)) % room
        self.data_cursors[cursor], places = (vdev, int(places[-1])), places[:-1]
        return self._block_rows(vdev, places, record_bytes)[1]

    def set_writer(self, rate: float, now: float) -> None:
        """Let the writer write `rate` bytes a second from `now` on, in seconds since the scan started."""
        self._owed += (now - self._written_until) * self.writer.rate
        self._written_until = now
        self.writer = replace(self.writer, rate=rate)

    def sync_pass(self, number: int) -> NDArray[np.int64]:
        """Return the child writes of one sync pass, counted from 0, shape (n, 5)."""
        counts = [self.rules.pass_blocks[number], *(each[number] for each in self.rules.further_blocks)]
        return self.by_allocators(counts)

    def by_allocators(self, counts: Sequence[int]) -> NDArray[np.int64]:
        """Return the child writes of MOS blocks that one sync pass rewrites.

        Parameters
        ----------
        counts : sequence of int
            Blocks of each allocator.

        Returns
        -------
        ndarray of int, shape (writes, 5)
            Leaf, class, 1 for a write, offset and length [bytes] of each.
        """
        allocators = [self.cursors, *self.further]
        turn = self.txg % len(allocators) if self.rules.rotates else 0
        turned = [*allocators[turn:], *allocators[:turn]]
        parts = [
            part for count, each in zip(counts, turned, strict=False) for part in self._parts(count, each)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _parts(self, blocks: int, cursors: Sequence[Cursor]) -> list[NDArray[np.int64]]:
        """Return the writes of blocks at some cursors, as parts of rounds, one behind the other.

        The holes into which they go come round again after `region_blocks`, so that the writes of one round
        are made once and repeated.
        """
        key = tuple(cursors)
        if key not in self._rounds:
            self._rounds[key] = self._round(key)
        rows, begins = self._rounds[key]
        period, first = len(begins) - 1, self._count + 1
        self._count += blocks
        turns, low, last = blocks // period, first % period, (first + blocks) % period
        if low <= last:
            return [rows] * turns + [rows[begins[low] : begins[last]]]
        return [rows[begins[low] :], *([rows] * turns), rows[: begins[last]]]

    def _round(self, cursors: Sequence[Cursor]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the writes of blocks from number 0 until the holes come round again; where each begins."""
        holes, size = hole_order(self.rules.region_blocks), self.rules.block_bytes
        places, rows = [], []
        for vdev in dict.fromkeys(vdev for vdev, _ in cursors):
            # All copies that one vdev takes at once: block by block, of each in the order of the cursors.
            copies = [copy for copy, cursor in enumerate(cursors) if cursor[0] == vdev]
            begins = np.array([cursors[copy][1] for copy in copies], np.int64)
            offsets = begins + (holes * asize_of(self.model.vdevs[vdev], size))[:, None]
            block, found = self._block_rows(vdev, offsets.ravel(), size)
            hole, turn = np.divmod(block, len(copies))
            places.append(len(cursors) * hole + np.array(copies)[turn])
            rows.append(found)
        place = np.concatenate(places)
        if len(rows) > 1:
            order = np.argsort(place, kind="stable")
            place, rows = place[order], [np.concatenate(rows)[order]]
        return rows[0], np.searchsorted(place, len(cursors) * np.arange(len(holes) + 1))

    def space_map_reads(self) -> list[NDArray[np.int64]]:
        """Return the space-map reads of the first txg, each to be done before the next, shape (1, 5)."""
        reads = []
        for number in range(self.rules.first_reads):
            leaf = int(self._label_rows[number * 4 % len(self._label_rows), 0])
            capacity = self.model.leaves[leaf].drive.capacity_bytes
            place = int(capacity * (number + 0.5) / self.rules.first_reads) // 4096 * 4096 - LABEL_BYTES
            reads.append(np.array([(leaf, SYNC_READ_CLASS, 0, place, 4096)], np.int64))
        return reads

    def configuration_rows(self) -> NDArray[np.int64]:
        """Return the writes of one label of each end of every leaf, shape (n, 5)."""
        rows = self._label_rows[::2].copy()
        rows[:, 3] += 16 * 1024 - UBERBLOCK_RING
        rows[:, 4] = LABEL_LIST_BYTES
        return rows

    def label_rows(self) -> NDArray[np.int64]:
        """Return the uberblock writes of this txg, shape (n, 5)."""
        self.txg += 1
        size = self._uberblock_bytes()
        rows = self._label_rows.copy()
        rows[:, 3] += self.txg % (UBERBLOCK_RING // size) * size
        return rows

    def _uberblock_bytes(self) -> int:
        return max(1024, *(1 << vdev.ashift for vdev in self.model.vdevs))

    def _labels(self) -> NDArray[np.int64]:
        rows, size_of_one = [], self._uberblock_bytes()
        every = (vdev.written(child) for vdev in self.model.vdevs for child in range(vdev.children))
        used = sorted(set[int]().union(*every))
        for leaf in used:
            size = self.model.leaves[leaf].drive.capacity_bytes // LABEL_SIZE * LABEL_SIZE
            for start in (0, LABEL_SIZE, size - 2 * LABEL_SIZE, size - LABEL_SIZE):
                place = start + UBERBLOCK_RING - LABEL_BYTES
                rows.append((leaf, SYNC_WRITE_CLASS, 1, place, size_of_one))
        return np.array(rows, np.int64).reshape(-1, 5)

    def _block_rows(
        self, number: int, offsets: NDArray[np.int64], size: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the writes of blocks, shape (n, 5), and of which block each is, shape (n,)."""
        vdev = self.model.vdevs[number]
        pieces = pieces_of_blocks(vdev, vdev.ashift, offsets, size)
        leaves, first, count = self._written(number)
        child = pieces[:, 1]
        if len(leaves) == len(count) and count.min(initial=1) == 1:
            leaf = leaves[child]  # one a child, as on any vdev of which no drive is replaced by one beside it
        else:
            row = np.repeat(np.arange(len(pieces)), count[child])
            begins = np.cumsum(count[child]) - count[child]
            leaf = leaves[np.arange(len(row)) + (first[child] - begins)[row]]
            pieces = pieces[row]
        rows = np.empty((len(leaf), 5), np.int64)
        rows[:, 0] = leaf
        rows[:, 1], rows[:, 2] = ASYNC_WRITE_CLASS, 1
        rows[:, 3:] = pieces[:, 2:]
        return pieces[:, 0], rows

    def _written(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the leaves that new blocks go to, child after child; of each its first and how many."""
        if number not in self._leaves:
            vdev = self.model.vdevs[number]
            every = [list(vdev.written(child)) for child in range(vdev.children)]
            count = np.array([len(each) for each in every], np.int64)
            leaves = np.array([leaf for each in every for leaf in each], np.int64)
            self._leaves[number] = leaves, np.cumsum(count) - count, count
        return self._leaves[number]
