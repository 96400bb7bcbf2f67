"""Control of a sequential rebuild: it goes on while txgs end beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from zsim.engine.codes import (
    ASYNC_WRITE,
    EXIT_DRAINED,
    EXIT_EPOCH,
    EXIT_GROUP,
    EXIT_HORIZON,
    EXIT_STALLED,
    FOREVER,
)
from zsim.engine.window import Window
from zsim.operation.control import ScanControl, Steps
from zsim.operation.pool import Pool
from zsim.operation.rules import rebuild_window, waits_for_metaslabs
from zsim.operation.setup import RunSetup, damaged_vdev
from zsim.scan.program import OP_ISSUE, Program, ScanItems
from zsim.scan.rebuild import rebuild_chunks, with_chunks

# So many txgs the command that starts a rebuild waits for, one after the other (seen in runs of 2.1.5 and
# 2.3.9).
ATTACH_TXGS = 4
# How often the progress of a rebuild is noted: at least [s], and as a share of the time so far.  The time
# axis may be sliced in any way.
NOTE_S, NOTE_SHARE = 0.02, 0.01


class BackgroundTxg:
    """Txgs of a pool whose work does not stop for them.

    A txg ends `timeout` after the one before, or when somebody waits for it; its own writes begin when the
    I/O that was in flight at that moment is done (spa.c:spa_sync waits for spa_txg_zio), and run beside
    what follows.

    Parameters
    ----------
    control : ScanControl
    timeout : float
        zfs_txg_timeout [s].
    """

    def __init__(self, control: ScanControl, timeout: float) -> None:
        self.control, self.timeout = control, timeout
        self.groups: Iterator[NDArray[np.int64]] | None = None
        self.deadline = control.plane.now + timeout
        self.finished = 0
        self.covers_all = False

    @property
    def idle(self) -> bool:
        """Whether no txg is ending."""
        return self.groups is None

    def begin(self) -> None:
        """End the open txg: wait for its I/O, then write."""
        self.groups = self._rows()
        self.covers_all = self.control.finished(1)
        self.control.plane.close_epoch()

    def step(self) -> None:
        """Submit what comes next, or note that the txg has ended."""
        assert self.groups is not None
        rows = next(self.groups, None)
        if rows is not None:
            self.control.plane.submit_group(rows)
            return
        self.groups = None
        self.finished += 1
        self.control.txgs += 1
        waited_for = self.finished < ATTACH_TXGS
        self.deadline = self.control.plane.now + (0.0 if waited_for else self.timeout)

    def _rows(self) -> Iterator[NDArray[np.int64]]:
        writes = self.control.writes
        data = writes.data_rows(self.control.plane.now - self.control.start)
        if len(data):
            yield data
        for number in range(len(self.control.txg.pass_blocks)):
            yield writes.sync_pass(number)
        # The first txg also has the new drive in its configuration (vdev_label.c:vdev_config_sync).
        if self.finished == 0:
            yield writes.configuration_rows()
        yield writes.label_rows()
        if self.finished == 0:
            yield writes.configuration_rows()


class RebuildScan:
    """Runs the chunks of a rebuild, metaslab by metaslab.

    Parameters
    ----------
    pool : Pool
    programs : sequence of Program
        One a metaslab where each ends with a wait for its last txg; else one.
    window : Window

    Attributes
    ----------
    curve : list of (float, int)
        Moments [s], and the bytes issued by then.
    """

    def __init__(self, pool: Pool, programs: Sequence[Program], window: Window) -> None:
        self.pool, self.programs, self.window = pool, programs, window
        self.control = pool.control
        self.waits = waits_for_metaslabs(pool.release)
        self.curve: list[tuple[float, int]] = []
        self.before = 0

    def _set_depth(self, pending: bool) -> None:
        """Give asynchronous writes their full depth while a sync task is pending, else the least.

        The rebuild keeps one pending (vdev_rebuild.c:vdev_rebuild_update_sync), but for when it only waits
        (vdev_queue.c:vdev_queue_max_async_writes).
        """
        values = self.pool.release.tunables
        least, most = values["zfs_vdev_async_write_min_active"], values["zfs_vdev_async_write_max_active"]
        self.pool.plane.set_limit(ASYNC_WRITE, least, most if pending else least)

    def note(self) -> None:
        """Note how many bytes have been issued by now."""
        now = self.control.plane.now - self.control.start
        self.curve.append((now, self.before + int(self.control.plane.stream(0, "issued_bytes"))))

    def steps(self) -> Steps:
        """Run the programs; without waits they follow one another without a break."""
        plane = self.control.plane
        self.txg = BackgroundTxg(self.control, float(self.pool.release.tunables["zfs_txg_timeout"]))
        # The rebuild starts inside the txgs of the attach.
        self.txg.begin()
        for program in self.programs:
            begin = plane.now
            self._set_depth(True)
            plane.load_streams([program], [self.window])
            plane.resume(FOREVER)
            yield from self._until(lambda reason: reason == EXIT_DRAINED)
            plane.pause()
            self.pool.book("rebuild", begin - self.pool.start)
            self.before += int(plane.stream(0, "issued_bytes"))
            if self.waits:
                yield from self._wait_for_txg()
        if not self.waits:
            yield from self._wait_for_txg()

    def _wait_for_txg(self) -> Steps:
        """Wait for the txg in which the last chunk was issued; it may be ending already."""
        self._set_depth(False)
        if not self.txg.idle and not self.txg.covers_all:
            yield from self._until(lambda reason: self.txg.idle)
        if self.txg.idle:
            self.txg.begin()
        yield from self._until(lambda reason: self.txg.idle)

    def _until(self, done: Callable[[int], bool]) -> Steps:
        """Let time pass and txgs end until `done` says so."""
        while True:
            deadline = self.txg.deadline if self.txg.idle else FOREVER
            now = self.control.plane.now
            step = max(NOTE_S, NOTE_SHARE * (now - self.control.start))
            reason: int = yield from self.control.decision(min(deadline, now + step))
            self.note()
            if reason in (EXIT_EPOCH, EXIT_GROUP):
                self.txg.step()
            elif reason == EXIT_HORIZON and self.control.plane.now >= deadline:
                self.txg.begin()
            elif reason == EXIT_STALLED:
                raise RuntimeError("the data plane has nothing left to do but the rebuild waits")
            if done(reason):
                return


def chunk_programs(setup: RunSetup, items: ScanItems) -> tuple[ScanItems, list[Program], Window]:
    """Return the items with those of a rebuild's chunks, what issues them, and the window.

    There is one program a metaslab where the release waits after each (vdev_rebuild.c:vdev_rebuild_thread).
    """
    number = next(number for number, vdev in enumerate(setup.model.vdevs) if vdev.damaged)
    vdev = setup.model.vdevs[number]
    chunks = rebuild_chunks(
        setup.blocks,
        number,
        damaged_vdev(vdev),
        metaslab_bytes=1 << setup.metaslab_shift_of(vdev),
        segment_bytes=setup.release.tunables["zfs_rebuild_max_segment"],
    )
    rows = np.arange(len(items), len(items) + len(chunks))
    edges = np.flatnonzero(np.diff(chunks.metaslab)) + 1
    if not waits_for_metaslabs(setup.release):
        edges = edges[:0]
    programs = [Program(np.full(len(part), OP_ISSUE, np.int64), part) for part in np.split(rows, edges)]
    window = rebuild_window(setup.model, number, setup.release, setup.memory)
    return with_chunks(items, chunks, number), programs, window
