"""RAID-Z expansion: every allocated sector of a top-level vdev moves to its place on one drive more.

Source: OpenZFS 2.3 and 2.4 vdev_raidz.c (spa_raidz_expand_thread, raidz_reflow_impl, raidz_reflow_sync,
raidz_reflow_scratch_sync), in own words; timing seen in runs of 2.3.9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zsim.engine.model import NOT_REPAIRED, PlaneModel, VdevModel
from zsim.engine.window import Window
from zsim.operation.background.copying import BackgroundScan, CopyWork, copied
from zsim.operation.control import Steps
from zsim.operation.pool import SimulatedPool
from zsim.operation.setup import RunSetup
from zsim.operation.txg import vdev_asize
from zsim.scan.items import ScanItems
from zsim.scan.program import issuing
from zsim.scan.rebuild import allocated_ranges
from zsim.vdevs.kind import kind_of
from zsim.vdevs.ranges import cut

Integers = NDArray[np.int64]

# The boot area of each drive takes part of what is moved first (vdev_impl.h:VDEV_BOOT_SIZE).
SCRATCH_BYTES = 3584 << 10
LARGEST_BLOCK = 16 << 20
# So many moves are handed to the data plane at a time.
AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class Reflow:
    """What an expansion moves: ranges of the address space of a top-level vdev, ascending.

    Attributes
    ----------
    vdev : int
        Number of the top-level vdev.
    begin, end : ndarray of int64, shape (ranges,)
        [bytes]
    children : int
        Drives before.
    ashift : int
    """

    vdev: int
    begin: Integers
    end: Integers
    children: int
    ashift: int

    @property
    def bytes(self) -> int:
        """What is moved [bytes]."""
        return int((self.end - self.begin).sum())

    @property
    def scratch_bytes(self) -> int:
        """How much of the address space goes through the scratch areas first [bytes]."""
        return SCRATCH_BYTES * (self.children + 1)

    def limit(self, synced: int) -> int:
        """Return how far the copying may go when the uberblock says `synced` [bytes].

        Nothing may be overwritten but what a txg on the disks says has been moved away.
        """
        sectors = synced >> self.ashift
        return (sectors + sectors // self.children - self.children) << self.ashift


def reflow_of(setup: RunSetup) -> Reflow:
    """Return what the expansion of a pool's expanding vdev moves.

    All that is allocated, metaslab by metaslab, and the last sector of each.
    """
    number = expanding(setup)
    vdev = setup.model.vdevs[number]
    slab, sector = 1 << setup.metaslab_shift_of(vdev), 1 << vdev.ashift
    begin, end = allocated_ranges(setup.blocks, number)
    edges = np.arange(1, vdev_asize(setup.model, vdev) // slab + 1, dtype=np.int64) * slab
    free = np.searchsorted(begin, edges - sector, side="right") - 1
    bare = edges[(free < 0) | (end[np.maximum(free, 0)] < edges)] if len(begin) else edges
    begin, end = np.concatenate((begin, bare - sector)), np.concatenate((end, bare))
    order = np.argsort(begin, kind="stable")
    begin, end = cut(begin[order], end[order], slab)
    return Reflow(number, begin, end, vdev.children, vdev.ashift)


def expanding(setup: RunSetup) -> int:
    """Return the number of the top-level vdev that is expanded: the first that can be."""
    vdevs = setup.model.vdevs
    return next(number for number, vdev in enumerate(vdevs) if kind_of(vdev.kind).expanded)


def with_maps(setup: RunSetup) -> RunSetup:
    """Return the set-up with three more maps of the expanding vdev: blocks moved, sectors before and after.

    The first takes what a txg writes where the copying has passed; the others have no parity, and each sector
    of the address space on the next child: what is read, and what is written.
    """
    model = setup.model
    vdev, new = model.vdevs[expanding(setup)], len(model.leaves) - 1
    old = vdev.read_leaf
    kind = kind_of(vdev.kind)
    moved = replace(
        vdev,
        kind=kind.expanded,
        data=len(old) - vdev.parity,
        grown=vdev.grown + 1,
        read_leaf=(*old, new),
        write_leaf=(NOT_REPAIRED,) * (len(old) + 1),
    )
    plain = _striped(vdev, old, (NOT_REPAIRED,) * len(old))
    wide = _striped(vdev, (NOT_REPAIRED,) * (len(old) + 1), (*old, new))
    return replace(setup, model=replace(model, vdevs=(*model.vdevs, moved, plain, wide)))


def _striped(vdev: VdevModel, read_leaf: tuple[int, ...], write_leaf: tuple[int, ...]) -> VdevModel:
    """Return a map without parity over some leaves."""
    data, kind = len(read_leaf), kind_of(vdev.kind).expanded
    return VdevModel(
        kind=kind, parity=0, ashift=vdev.ashift, read_leaf=read_leaf, write_leaf=write_leaf, data=data
    )


class ReflowScan(BackgroundScan):
    """Moves the sectors of a top-level vdev, as far as what has been moved allows.

    Parameters
    ----------
    pool : SimulatedPool
    reflow : Reflow
    model : PlaneModel
        With the three maps behind the pool's vdevs.
    freely : bool
        Whether the copying is far from where it began: without scratch area, and nothing is waited for.
    """

    def __init__(
        self, pool: SimulatedPool, reflow: Reflow, model: PlaneModel, *, freely: bool = False
    ) -> None:
        super().__init__(pool, 0)
        self.reflow, self.model, self.freely = reflow, model, freely
        self.moved = len(model.vdevs) - 3
        self.range, self.at = 0, int(reflow.begin[0]) if len(reflow.begin) else 0
        # As far as issued, and as the uberblock will say and says.
        self.reached = self.closing = self.synced = 0
        self.starting_txgs = 0
        self.ends: Integers = np.zeros(0, np.int64)
        self.cursors = [pool.control.writes.cursors, *pool.control.writes.further]

    @property
    def done(self) -> bool:
        """Whether everything has been issued."""
        return self.range >= len(self.reflow.begin)

    @property
    def limit(self) -> int:
        """How far it may go now [bytes]."""
        return int(self.reflow.end[-1]) if self.freely else self.reflow.limit(self.synced)

    def steps(self) -> Steps[None]:
        """Move everything, then wait for the last txg."""
        self.limit_copying()
        self.start_txgs()
        self.txg.on_close, self.txg.on_end = self._txg_closes, self._txg_ended
        window = Window(self.pool.release.tunables["raidz_expand_max_copy_bytes"], False)
        if not self.freely:
            yield from self._through_scratch(window)
        while not self.done:
            limit = self.limit
            moves = self._moves(limit)
            if len(moves) == 0:
                self.reached = limit
                self.starting_txgs += 1
                yield from self.wait_for_txg()
                continue
            yield from self._move(moves, window)
        yield from self.wait_for_txg()

    def _move(self, moves: Integers, window: Window) -> Steps[None]:
        """Issue moves, given as begin and end, and let them end."""
        self.ends = moves[:, 1]
        yield from self._issue(_moves(moves, self.moved), window)

    def _issue(self, items: ScanItems, window: Window) -> Steps[None]:
        """Issue items and let them end."""
        plane, begin, count = self.control.plane, self.control.plane.now, len(items)
        plane.put_items(items)
        program = issuing(np.arange(count, dtype=np.int64))
        yield from self.run(program, window)
        self.pool.book("expand", begin - self.pool.start)

    def until(self, done: Callable[[int], bool]) -> Steps[None]:
        """Let time pass; a txg takes down how far the copying has come when it closes."""

        def looked(reason: int) -> bool:
            self._reach()
            return done(reason)

        yield from super().until(looked)

    def _txg_closes(self) -> None:
        """Take down what the closing txg will say, and where its blocks go."""
        self._reach()
        self.closing = self.reached
        main, *further = ([self._place(*cursor) for cursor in cursors] for cursors in self.cursors)
        self.control.writes.cursors, self.control.writes.further = main, list(further)

    def _place(self, vdev: int, offset: int) -> tuple[int, int]:
        """Return the map and the address of a block that is written now."""
        passed = vdev == self.reflow.vdev and offset < self.reached
        return (self.moved if passed else vdev), offset

    def _txg_ended(self) -> None:
        """Go on from what the uberblock says now."""
        self.synced = max(self.synced, self.closing)

    def _reach(self) -> None:
        position = self.control.plane.positions()[0]
        if 0 < position <= len(self.ends):
            self.reached = max(self.reached, int(self.ends[position - 1]))

    def _moves(self, limit: int) -> Integers:
        """Return begin and end of the next moves below a limit, shape (n, 2) [bytes].

        One is at most raidz_expand_max_copy_bytes, and a largest block on each drive.
        """
        values, reflow = self.pool.release.tunables, self.reflow
        most = min(values["raidz_expand_max_copy_bytes"], reflow.children * LARGEST_BLOCK)
        most = max(1 << reflow.ashift, most >> reflow.ashift << reflow.ashift)
        found: list[tuple[int, int]] = []
        while not self.done and self.at < limit and len(found) < AT_ONCE:
            end = min(int(reflow.end[self.range]), self.at + most, limit)
            found.append((self.at, end))
            self._go_to(end)
        return np.array(found, np.int64).reshape(-1, 2)

    def _go_to(self, place: int) -> None:
        """Go on at a place, or at the next range behind it."""
        while not self.done and int(self.reflow.end[self.range]) <= place:
            self.range += 1
        if not self.done:
            self.at = max(place, int(self.reflow.begin[self.range]))

    def _through_scratch(self, window: Window) -> Steps[None]:
        """Move the first part to the boot areas and from there on, all in one txg (reflow_scratch_sync)."""
        size = self.reflow.scratch_bytes
        there = _moves(np.array([[0, size]], np.int64), self.moved)
        # The boot area of each drive lies before what is address 0 of its data.
        yield from self._issue(replace(there, copy_offset=there.copy_offset - size), window)
        written = replace(there, vdev=there.copy_vdev, copy_count=np.zeros(1, np.int64))
        yield from self._issue(written, window)
        self.reached = size
        self._go_to(size)
        yield from self.wait_for_txg()


def _moves(moves: Integers, moved: int) -> ScanItems:
    """Return moves, given as begin and end, as items: what is read by one map is written by another."""
    count = len(moves)
    read, written = (np.full(count, moved + number, np.int64) for number in (1, 2))
    return copied(read, moves[:, 0], moves[:, 1] - moves[:, 0], written, moves[:, 0])


class ExpansionWork(CopyWork):
    """The expansion of a pool's first RAID-Z vdev, as what a run works on.

    Parameters
    ----------
    setup : RunSetup
        With the maps of `with_maps`.
    reflow : Reflow
    freely : bool
        See `ReflowScan`.
    """

    def __init__(self, setup: RunSetup, reflow: Reflow, *, freely: bool = False) -> None:
        self.reflow, self.freely = reflow, freely
        super().__init__(
            setup,
            _moves(np.zeros((AT_ONCE, 2), np.int64), len(setup.model.vdevs) - 3),
            setup.model.vdevs[:-3],
            window=Window(setup.release.tunables["raidz_expand_max_copy_bytes"], False),
            sizes=reflow.end - reflow.begin,
            all_bytes=reflow.bytes,
        )

    def scan_on(self, pool: SimulatedPool) -> ReflowScan:
        """Return what moves the sectors."""
        return ReflowScan(pool, self.reflow, self.setup.model, freely=self.freely)


def expansion_work(setup: RunSetup) -> ExpansionWork:
    """Return the expansion of a pool's first RAID-Z vdev by the last leaf of the model."""
    return ExpansionWork(with_maps(setup), reflow_of(setup))
