"""Control of a sequential rebuild: it goes on while txgs end beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zsim.engine.codes import EXIT_DRAINED, FOREVER
from zsim.engine.window import Window
from zsim.operation.background.copying import BackgroundScan
from zsim.operation.control import Steps
from zsim.operation.pool import SimulatedPool
from zsim.operation.rules import rebuild_window
from zsim.operation.setup import RunSetup, damaged_vdev
from zsim.operation.txg import asize_of, hole_order
from zsim.scan.items import ScanItems
from zsim.scan.program import OP_ISSUE, Program
from zsim.scan.rebuild import rebuild_chunks, with_chunks
from zsim.scenario.releases.profile import ReleaseProfile

Integers = NDArray[np.int64]

# So many txgs the command that starts a rebuild waits for, one after the other (seen in runs of 2.1.5 and
# 2.3.9).
ATTACH_TXGS = 4


class RebuildScan(BackgroundScan):
    """Runs the chunks of a rebuild, metaslab by metaslab.

    Parameters
    ----------
    pool : SimulatedPool
    programs : sequence of Program
        One a metaslab where each ends with a wait for its last txg; else one.
    window : Window
    """

    def __init__(self, pool: SimulatedPool, programs: Sequence[Program], window: Window) -> None:
        super().__init__(pool, ATTACH_TXGS)
        self.programs, self.window = programs, window
        self.waits = pool.release.rebuild_waits

    def steps(self) -> Steps[None]:
        """Run the programs; without waits they follow one another without a break."""
        plane = self.control.plane
        self.start_txgs()
        # The rebuild starts inside the txgs of the attach.
        self.txg.begin()
        for program in self.programs:
            begin = plane.now
            self.set_depth(True)
            plane.load_streams([program], [self.window])
            plane.resume(FOREVER)
            yield from self.until(lambda reason: reason == EXIT_DRAINED)
            plane.pause()
            self.pool.book("rebuild", begin - self.pool.start)
            if self.waits:
                yield from self.wait_for_txg()
        if not self.waits:
            yield from self.wait_for_txg()


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


def _rebuilt(setup: RunSetup) -> int:
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
    return rebuild_window(setup.model, _rebuilt(setup), release, setup.memory)


def chunk_programs(setup: RunSetup, items: ScanItems) -> tuple[ScanItems, list[Program]]:
    """Return the items with those of a rebuild's chunks, and what issues them.

    There is one program a metaslab where the release waits after each (vdev_rebuild.c:vdev_rebuild_thread).
    """
    number = _rebuilt(setup)
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
    programs = [Program(np.full(len(part), OP_ISSUE, np.int64), part) for part in np.split(rows, edges)]
    return with_chunks(items, chunks, number), programs
