"""Removal of a top-level vdev: what is allocated on a mirror or single drive is copied to the other vdevs.

Source: OpenZFS 0.8 to 2.4 vdev_removal.c (spa_vdev_remove_thread, spa_vdev_copy_impl, spa_vdev_copy_segment,
spa_vdev_copy_one_child, vdev_remove_complete), in own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import InputError
from zsim.engine.model import NOT_REPAIRED, PlaneModel, VdevModel
from zsim.engine.window import Window
from zsim.operation.background.copying import BackgroundScan, CopyWork, copied
from zsim.operation.control import Steps
from zsim.operation.pool import SimulatedPool
from zsim.operation.setup import RunSetup
from zsim.operation.txg import vdev_asize
from zsim.pool.recipes.recipe import TopLevel
from zsim.pool.recipes.styles import AllocatorStyle, allocator_style
from zsim.pool.simulator.evacuating import Pieces, evacuate
from zsim.scan.items import ScanItems
from zsim.scan.program import issuing
from zsim.scan.rebuild import allocated_ranges
from zsim.scenario.layout import VdevSpec
from zsim.vdevs.kind import NORMAL
from zsim.vdevs.ranges import cut, in_pieces

Integers = NDArray[np.int64]

# zfs_remove_max_copy_bytes: a constant, no tunable.
OUTSTANDING = 64 << 20
# Bytes of an entry of the mapping of a removed vdev (vdev_indirect_mapping.h: source, destination).
MAPPING_ENTRY = 24
# The thread waits for a txg when all is copied, and vdev_remove_complete for three: frees, the configuration
# with the indirect vdev, and the labels of what has left.
LAST_TXGS = 4


@dataclass(frozen=True, slots=True)
class Evacuation:
    """What a removal copies.

    Attributes
    ----------
    vdev : int
        Number of the top-level vdev that leaves.
    bytes : int
        What is allocated on it.
    pieces : Pieces
        In the order of their addresses; each is an entry of the mapping that stays in memory.
    """

    vdev: int
    bytes: int
    pieces: Pieces


def segments(
    begin: Integers, end: Integers, slab: int, most: int, span: int
) -> tuple[Integers, Integers, Integers]:
    """Return allocated ranges, the long ones cut, and the segment that each is part of.

    Neighbours with at most `span` free between them are copied together, the holes as well, as long as they
    are no longer than `most`; what is longer by itself is cut.

    Parameters
    ----------
    begin, end : ndarray of int64
        Allocated ranges, ascending [bytes].
    slab, most, span : int
        Size of a metaslab, zfs_remove_max_segment, and vdev_removal_max_span [bytes].
    """
    low, high = in_pieces(*cut(begin, end, slab), most)
    number = np.zeros(len(low), np.int64)
    first = last = edge = count = -1
    for place, (start, stop) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        if start >= edge or start - last > span or stop - first > most:
            first, edge, count = start, (start // slab + 1) * slab, count + 1
        last = stop
        number[place] = count
    return low, high, number


def levels_of(setup: RunSetup) -> dict[int, TopLevel]:
    """Return the top-level vdevs of a pool that is simulated whole, with their metaslabs.

    Returns
    -------
    dict of int to TopLevel
        The vdevs of the normal class, to which a removal copies.
    """
    found = {}
    for number, vdev in enumerate(setup.model.vdevs):
        if vdev.alloc_class == NORMAL:
            shift = setup.metaslab_shift_of(vdev)
            spec = VdevSpec(vdev.kind, vdev.children, vdev.parity, vdev.data)
            found[number] = TopLevel(spec, vdev.ashift, 1 << shift, vdev_asize(setup.model, vdev) >> shift)
    return found


def evacuation_of(
    setup: RunSetup,
    levels: Mapping[int, TopLevel] | None = None,
    style: AllocatorStyle | None = None,
    vdev: int = 0,
) -> Evacuation:
    """Return what the removal of a pool's first vdev copies, and where to.

    Parameters
    ----------
    setup : RunSetup
    levels : mapping of int to TopLevel, optional
        The vdevs whose blocks the set-up has, by number; by default all of it, as they are.
    style : AllocatorStyle, optional
        The allocator, by default that of the release.
    vdev : int
        The one that leaves.

    Raises
    ------
    InputError
        When the other vdevs have no room for it.
    """
    known = levels_of(setup) if levels is None else levels
    values, sector = setup.release.tunables, 1 << setup.model.vdevs[vdev].ashift
    ranges = {number: allocated_ranges(setup.blocks, number) for number in known}
    begin, end = ranges[vdev]
    most = int(values["zfs_remove_max_segment"]) // sector * sector
    slab = 1 << setup.metaslab_shift_of(setup.model.vdevs[vdev])
    ranged = segments(begin, end, slab, max(sector, most), int(values["vdev_removal_max_span"]))
    staying = {number: level for number, level in known.items() if number != vdev}
    taken = {number: ranges[number] for number in staying}
    pieces = evacuate(staying, taken, style or allocator_style(setup.release), ranged, sector)
    if pieces is None:
        allowed = "the other vdevs have no room for what the removed one holds"
        raise InputError("operation", "remove", allowed, "free space, or add a vdev first")
    return Evacuation(vdev, int((end - begin).sum()), pieces)


def with_leaves(setup: RunSetup, vdev: int = 0) -> RunSetup:
    """Return the set-up with a map more for each leaf: it is read on the vdev that leaves, else written."""
    model = setup.model
    leaving = set(model.vdevs[vdev].read_leaf)
    maps = [_alone(model.vdevs[vdev], leaf, reads=leaf in leaving) for leaf in range(len(model.leaves))]
    return replace(setup, model=replace(model, vdevs=(*model.vdevs, *maps)))


def _alone(vdev: VdevModel, leaf: int, *, reads: bool) -> VdevModel:
    read, written = (leaf, NOT_REPAIRED) if reads else (NOT_REPAIRED, leaf)
    return VdevModel(
        kind=vdev.kind, parity=0, ashift=vdev.ashift, read_leaf=(read,), write_leaf=(written,), data=1
    )


def copies_of(evacuation: Evacuation, model: PlaneModel) -> ScanItems:
    """Return what is read from which leaf and written to which, in the order of the source.

    Each side of the vdev that a piece goes to is written from the side of the same number of the one that
    leaves, so that damage on one side stays on one side.
    """
    count = len(model.leaves)
    first = len(model.vdevs) - count
    sources, pieces = model.vdevs[evacuation.vdev].read_leaf, evacuation.pieces
    readable = [leaf for leaf in sources if leaf >= 0]
    rows, read_by, written_by = [], [], []
    for number in np.unique(pieces.vdev):
        mine = np.flatnonzero(pieces.vdev == number)
        for side, target in enumerate(model.vdevs[number].read_leaf):
            if target < 0:
                continue
            source = sources[side % len(sources)]
            rows.append(mine)
            read_by.append(np.full(len(mine), first + (source if source >= 0 else readable[0]), np.int64))
            written_by.append(np.full(len(mine), first + target, np.int64))
    row = np.concatenate([*rows, np.zeros(0, np.int64)])
    order = np.argsort(row, kind="stable")
    row = row[order]
    read, written = (np.concatenate([*each, np.zeros(0, np.int64)])[order] for each in (read_by, written_by))
    return copied(read, pieces.source[row], pieces.size[row], written, pieces.offset[row])


class RemovalScan(BackgroundScan):
    """Copies what is allocated on the vdev that leaves.

    Parameters
    ----------
    pool : SimulatedPool
    evacuation : Evacuation
    copies : int
        Items of the data plane that are copies: they come first.
    """

    def __init__(self, pool: SimulatedPool, evacuation: Evacuation, copies: int) -> None:
        super().__init__(pool, 0)
        self.evacuation, self.copies = evacuation, copies
        writes = pool.control.writes
        writes.cursors = [self._elsewhere(*cursor) for cursor in writes.cursors]
        writes.further = [[self._elsewhere(*cursor) for cursor in each] for each in writes.further]
        stays = [cursor for cursor in writes.data_cursors if cursor[0] != evacuation.vdev]
        writes.data_cursors = stays or writes.data_cursors

    def _elsewhere(self, vdev: int, offset: int) -> tuple[int, int]:
        """Return where a new block goes: none to the vdev that leaves."""
        pieces = self.evacuation.pieces
        if vdev != self.evacuation.vdev or len(pieces) == 0:
            return vdev, offset
        return int(pieces.vdev[-1]), int(pieces.offset[-1])

    def steps(self) -> Steps[None]:
        """Copy everything, then wait for the last txgs."""
        self.limit_copying()
        self.start_txgs()
        program = issuing(np.arange(self.copies, dtype=np.int64))
        begin = self.control.plane.now
        yield from self.run(program, Window(OUTSTANDING, False))
        self.pool.book("remove", begin - self.pool.start)
        for _ in range(LAST_TXGS):
            yield from self.wait_for_txg()


class RemovalWork(CopyWork):
    """The removal of a pool's first vdev, as what a run works on.

    Parameters
    ----------
    setup : RunSetup
    levels, style
        See `evacuation_of`.
    """

    def __init__(
        self,
        setup: RunSetup,
        levels: Mapping[int, TopLevel] | None = None,
        style: AllocatorStyle | None = None,
    ) -> None:
        self.evacuation = evacuation_of(setup, levels, style)
        mapped = with_leaves(setup)
        copies = copies_of(self.evacuation, mapped.model)
        self.copies = len(copies)
        super().__init__(
            mapped,
            copies,
            setup.model.vdevs,
            window=Window(OUTSTANDING, False),
            sizes=copies.psize,
            all_bytes=int(copies.psize.sum()),
        )

    def scan_on(self, pool: SimulatedPool) -> RemovalScan:
        """Return what copies."""
        return RemovalScan(pool, self.evacuation, self.copies)
