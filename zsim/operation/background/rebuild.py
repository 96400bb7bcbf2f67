"""Control of a sequential rebuild, which runs while txgs end in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from zsim.engine.codes import EXIT_GROUP
from zsim.engine.window import Window
from zsim.operation.background.copying import BackgroundScan
from zsim.operation.background.space_maps import SpaceMaps
from zsim.operation.control import ScanControl, Steps
from zsim.operation.pool import SimulatedPool
from zsim.operation.rules import rebuild_window
from zsim.operation.setup import RunSetup, damaged_vdev
from zsim.operation.txg import asize_of, hole_order
from zsim.scan.items import ScanItems
from zsim.scan.program import Program, issuing
from zsim.scan.rebuild import rebuild_chunks, with_chunks
from zsim.scenario.releases.profile import ReleaseProfile
from zsim.vdevs.kind import kind_of

Integers = NDArray[np.int64]

# So many txgs the command that starts a rebuild waits for, one after the other (seen in runs of 2.1.5 and
# 2.3.9).
ATTACH_TXGS = 4
# MOS blocks by allocator in each sync pass of the first of them, once the rebuild runs; a dRAID takes one
# pass more (seen in six runs of 2.3.9 and one of 2.1.5).
ATTACH_BLOCKS = ((7, 6, 3), (5, 2, 1))
FURTHER_ATTACH_BLOCKS = (6, 2, 1)


class RebuildScan(BackgroundScan):
    """Runs the chunks of a rebuild, metaslab by metaslab.

    Parameters
    ----------
    pool : SimulatedPool
    programs : sequence of Program
        One a metaslab where each ends with a wait for its last txg; else one.
    window : Window
    metaslabs : sequence of int
        Of each program the one it begins with.
    """

    def __init__(
        self, pool: SimulatedPool, programs: Sequence[Program], window: Window, metaslabs: Sequence[int]
    ) -> None:
        super().__init__(pool, ATTACH_TXGS)
        self.programs, self.window, self.metaslabs = programs, window, metaslabs
        self.waits = pool.release.rebuild_waits
        self.maps = SpaceMaps(pool.setup, rebuilt_vdev(pool.setup))

    def steps(self) -> Steps[None]:
        """Run the programs; without waits they follow one another without a break."""
        plane = self.control.plane
        self.start_txgs(self._attach_rows())
        # The rebuild starts inside the txgs of the attach.
        yield from self._load(self.metaslabs[0])
        self.txg.begin()
        self.txg.on_end = partial(_preload, self.control, self.maps)
        for metaslab, program in zip(self.metaslabs, self.programs, strict=True):
            begin = plane.now
            yield from self._load(metaslab)
            yield from self.run(program, self.window)
            self.pool.book("rebuild", begin - self.pool.start)
            if self.waits:
                yield from self.wait_for_txg()
        if not self.waits:
            yield from self.wait_for_txg()

    def _attach_rows(self) -> list[Integers]:
        """Return what the first txg of the attach reads and writes, group by group.

        Its first pass waits for the space maps by which it allocates (metaslab.c:metaslab_activate).
        """
        writes, vdev = self.control.writes, self.maps.vdev
        passes = list(ATTACH_BLOCKS)
        if kind_of(vdev.kind).has_fill:
            passes.insert(1, FURTHER_ATTACH_BLOCKS)
        reads = self.maps.reads(self.maps.allocating)
        return [*reads, *(writes.by_allocators(each) for each in passes)]

    def _load(self, metaslab: int) -> Steps[None]:
        """Read the space map of the metaslab that comes next (vdev_rebuild.c:vdev_rebuild_thread)."""
        for rows in self.maps.reads([metaslab]) if self.waits else ():
            self.control.plane.submit_group(rows)
            yield from self.until(lambda reason: reason == EXIT_GROUP)


def _preload(control: ScanControl, maps: SpaceMaps) -> None:
    """Read the space maps of the best metaslabs, all at once (metaslab.c:metaslab_group_preload)."""
    reads = maps.reads(maps.preloaded)
    if reads:
        control.plane.submit_group(np.concatenate(reads))


def written_by_txgs(setup: RunSetup, number: int) -> tuple[Integers, Integers]:
    """Return where the txgs of the attach put MOS blocks on a top-level vdev, and what each takes [bytes].

    What a txg frees can be allocated again `TXG_DEFER_SIZE` txgs later, so that the blocks of the last ones
    are all in the space maps (metaslab.c:metaslab_sync_done, ms_defer); with allocators that take turns each
    has those of one txg.
    """
    txg, vdev = setup.txg_rules, setup.model.vdevs[number]
    size = asize_of(vdev, txg.block_bytes)
    counts = [sum(txg.pass_blocks), *(sum(each) for each in txg.further_blocks)]
    cursors, places = setup.first_cursors(), []
    for allocator, each in enumerate(cursors):
        blocks = sum(counts) if txg.rotates else ATTACH_TXGS * counts[min(allocator, len(counts) - 1)]
        holes = hole_order(txg.region_blocks)
        places += [begin + holes[:blocks] * size for where, begin in each if where == number]
    found = np.concatenate((np.zeros(0, np.int64), *places))
    return found, np.full(len(found), size, np.int64)


def rebuilt_vdev(setup: RunSetup) -> int:
    """Return the number of the vdev that is rebuilt."""
    return next(number for number, vdev in enumerate(setup.model.vdevs) if vdev.damaged)


def chunk_window(setup: RunSetup, release: ReleaseProfile) -> Window:
    """Return the window of a rebuild.

    Parameters
    ----------
    setup : RunSetup
    release : ReleaseProfile
        Whose tunables hold; others than the set-up's at some hours.

    Returns
    -------
    Window
        In I/Os (2.0) or bytes, see `zsim.operation.rules.rebuild_window`.
    """
    return rebuild_window(setup.model, rebuilt_vdev(setup), release, setup.memory)


def chunk_programs(setup: RunSetup, items: ScanItems) -> tuple[ScanItems, list[Program], list[int]]:
    """Return the items with those of a rebuild's chunks, what issues them, and the first metaslab of each.

    There is one program a metaslab where the release waits after each (vdev_rebuild.c:vdev_rebuild_thread).
    """
    number = rebuilt_vdev(setup)
    vdev = setup.model.vdevs[number]
    chunks = rebuild_chunks(
        setup.blocks,
        number,
        damaged_vdev(vdev),
        metaslab_bytes=1 << setup.metaslab_shift_of(vdev),
        segment_bytes=setup.release.tunables["zfs_rebuild_max_segment"],
        written=written_by_txgs(setup, number),
    )
    rows = np.arange(len(items), len(items) + len(chunks))
    edges = np.flatnonzero(np.diff(chunks.metaslab)) + 1
    if not setup.release.rebuild_waits:
        edges = edges[:0]
    parts = np.split(rows, edges)
    programs = [issuing(part) for part in parts]
    metaslabs = [int(chunks.metaslab[part[0] - len(items)]) if len(part) else 0 for part in parts]
    return with_chunks(items, chunks, number), programs, metaslabs
