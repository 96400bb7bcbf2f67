"""What rebuilds, expansions and removals share: copying beside txgs, and these txgs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import cast

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
    REBUILD,
)
from zsim.engine.model import VdevModel
from zsim.engine.window import MAX_SLOTS, MIN_SLOTS, Window
from zsim.operation.control import Plane, ScanControl, Steps
from zsim.operation.cursors import with_log
from zsim.operation.pool import SimulatedPool
from zsim.operation.setup import RunSetup, damaged_vdevs
from zsim.scan.items import ScanItems, joined_items, plain_items
from zsim.scan.program import Program, scan_items

Integers = NDArray[np.int64]

# How often the progress is noted: at least [s], and as a share of the time so far.  The time axis may be
# sliced in any way.
NOTE_S, NOTE_SHARE = 0.02, 0.01


def _nothing() -> None:
    """Do nothing."""


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
    awaited : int
        So many txgs somebody waits for at the start; the first has the new drive in its configuration.
    attach : sequence of ndarray of int, shape (n, 5)
        What the sync passes of that first one read and write, group by group; by default as those of others.

    Attributes
    ----------
    finished : int
        Txgs that have ended.
    on_close, on_end : callable
        Called when a txg closes, and when it is on the disks.
    """

    def __init__(
        self, control: ScanControl, timeout: float, awaited: int, attach: Sequence[Integers] = ()
    ) -> None:
        self.control, self.timeout, self.awaited, self.attach = control, timeout, awaited, attach
        self.on_close: Callable[[], None] = _nothing
        self.on_end: Callable[[], None] = _nothing
        self.groups: Iterator[NDArray[np.int64]] | None = None
        self.deadline = control.plane.now + timeout
        self.finished = 0
        self.covers_all = self.drains = False

    @property
    def idle(self) -> bool:
        """Whether no txg is ending."""
        return self.groups is None

    def begin(self) -> None:
        """End the open txg: wait for its I/O, then write."""
        self.on_close()
        self.groups = self._rows()
        self.covers_all = self.control.finished(1)
        self.drains = True
        self.control.plane.close_epoch()

    def goes_on(self, reason: int) -> bool:
        """Tell whether what the txg waits for has come: an exit of its own, not of others' reads."""
        return not self.idle and reason == (EXIT_EPOCH if self.drains else EXIT_GROUP)

    def step(self) -> None:
        """Submit what comes next, or note that the txg has ended."""
        assert self.groups is not None
        self.drains = False
        rows = next(self.groups, None)
        if rows is not None:
            self.control.plane.submit_group(rows)
            return
        self.groups = None
        self.on_end()
        self.finished += 1
        self.control.txgs += 1
        waited_for = self.finished < self.awaited
        self.deadline = self.control.plane.now + (0.0 if waited_for else self.timeout)

    def _rows(self) -> Iterator[NDArray[np.int64]]:
        writes = self.control.writes
        data = writes.data_rows(self.control.plane.now - self.control.start)
        if len(data):
            yield data
        # The first txg also has the new drive in its configuration (vdev_label.c:vdev_config_sync).
        changed = self.finished == 0 and self.awaited > 0
        if changed and self.attach:
            yield from self.attach
        else:
            for number in range(len(self.control.txg.pass_blocks)):
                yield writes.sync_pass(number)
        if changed:
            yield writes.configuration_rows()
        yield writes.label_rows()
        if changed:
            yield writes.configuration_rows()


class BackgroundScan:
    """Copies while txgs end beside it.

    Parameters
    ----------
    pool : SimulatedPool
    awaited : int
        See `BackgroundTxg`.

    Attributes
    ----------
    curve : list of (float, int)
        Moments [s], and the bytes issued by then.
    """

    def __init__(self, pool: SimulatedPool, awaited: int) -> None:
        self.pool, self.control = pool, pool.control
        self.curve: list[tuple[float, int]] = []
        self.awaited = awaited

    def start_txgs(self, attach: Sequence[Integers] = ()) -> None:
        """Let txgs end from now on; `attach` as `BackgroundTxg` takes it."""
        timeout = float(self.pool.release.tunables["zfs_txg_timeout"])
        self.txg = BackgroundTxg(self.control, timeout, self.awaited, attach)

    def set_depth(self, pending: bool) -> None:
        """Give asynchronous writes their full depth while a sync task is pending, else the least.

        Copying keeps one pending (vdev_rebuild.c:vdev_rebuild_update_sync, vdev_raidz.c:raidz_reflow_sync),
        but for when it only waits (vdev_queue.c:vdev_queue_max_async_writes).
        """
        values = self.pool.release.tunables
        least, most = values["zfs_vdev_async_write_min_active"], values["zfs_vdev_async_write_max_active"]
        self.pool.plane.set_limit(ASYNC_WRITE, least, most if pending else least)

    def limit_copying(self) -> None:
        """Limit the copies in flight at a leaf: expansions are queued as removals are."""
        values = self.pool.release.tunables
        least, most = values["zfs_vdev_removal_min_active"], values["zfs_vdev_removal_max_active"]
        self.control.plane.set_limit(REBUILD, least, most)

    def note(self) -> None:
        """Note how many bytes have been issued by now."""
        now = self.control.plane.now - self.control.start
        self.curve.append((now, int(self.control.plane.stream(0, "issued_bytes"))))

    def wait_for_txg(self) -> Steps[None]:
        """Wait for the txg in which the last I/O was issued; it may be ending already."""
        self.set_depth(False)
        if not self.txg.idle and not self.txg.covers_all:
            yield from self.until(lambda reason: self.txg.idle)
        if self.txg.idle:
            self.txg.begin()
        yield from self.until(lambda reason: self.txg.idle)

    def run(self, program: Program, window: Window) -> Steps[None]:
        """Run a program to its end; a txg that is ending already has none of it."""
        plane = self.control.plane
        self.txg.covers_all = False
        self.set_depth(True)
        plane.load_streams([program], [window])
        plane.resume(FOREVER)
        yield from self.until(lambda reason: reason == EXIT_DRAINED)
        plane.pause()

    def until(self, done: Callable[[int], bool]) -> Steps[None]:
        """Let time pass and txgs end until `done` says so."""
        while True:
            deadline = self.txg.deadline if self.txg.idle else FOREVER
            now = self.control.plane.now
            step = max(NOTE_S, NOTE_SHARE * (now - self.control.start))
            reason: int = yield from self.control.decision(min(deadline, now + step))
            self.note()
            if self.txg.goes_on(reason):
                self.txg.step()
            elif reason == EXIT_HORIZON and self.control.plane.now >= deadline:
                self.txg.begin()
            elif reason == EXIT_STALLED:
                raise RuntimeError("the data plane has nothing left to do but the copying waits")
            if done(reason):
                return


class CopyWork:
    """What a run works on whose items are copies: those come first among the items of its data plane.

    Parameters
    ----------
    setup : RunSetup
        With maps behind the pool's vdevs.
    copies : ScanItems
    vdevs : tuple of VdevModel
        The pool's own.
    window : Window
    sizes : ndarray of int64
        Of what is copied, as far as the window counts it [bytes].
    all_bytes : int
        What is copied in all.
    """

    def __init__(
        self,
        setup: RunSetup,
        copies: ScanItems,
        vdevs: tuple[VdevModel, ...],
        *,
        window: Window,
        sizes: Integers,
        all_bytes: int,
    ) -> None:
        self.setup, self._all = setup, max(1, all_bytes)
        items, readable, log = with_clients(copies, setup, vdevs)
        self.plane: Plane = setup.plane(
            setup.model,
            items,
            streams=len(setup.model.vdevs),
            slots=int(np.clip(window.most_blocks(sizes), MIN_SLOTS, MAX_SLOTS)),
            client_items=readable,
            log_items=log,
            records=setup.records,
            program_length=max(1, len(copies)),
        )

    def share(self) -> float:
        """Return the share that has been issued."""
        return float(self.plane.stream(0, "issued_bytes") / self._all)

    def release(self) -> None:
        """Let go of the data plane."""
        self.plane = cast("Plane", None)


def copied(
    read_by: Integers, offset: Integers, size: Integers, written_by: Integers, to: Integers
) -> ScanItems:
    """Return copies as items: what is read by one map is written by another.

    Parameters
    ----------
    read_by, written_by : ndarray of int64, shape (copies,)
        Numbers of the maps.
    offset, size, to : ndarray of int64, shape (copies,)
        Where each is read, how much, and where it is written [bytes].
    """
    each = np.arange(len(offset), dtype=np.int64)
    items = plain_items(read_by, offset, size)
    return replace(
        items,
        copies=each,
        copy_count=np.ones_like(each),
        copy_vdev=written_by,
        copy_offset=to,
        copy_columns=np.zeros(len(offset), np.int16),
    )


def with_clients(
    copies: ScanItems, setup: RunSetup, vdevs: tuple[VdevModel, ...]
) -> tuple[ScanItems, Integers, Integers]:
    """Return copies and behind them what clients read; which items these are, and which they write.

    Clients read every block where it was before anything was copied.

    Parameters
    ----------
    copies : ScanItems
    setup : RunSetup
        With maps behind the pool's vdevs.
    vdevs : tuple of VdevModel
        These, without the maps.
    """
    blocks = setup.blocks if setup.asked is None else setup.asked
    none = np.zeros(0, np.int64)
    if setup.model.client_count == 0:
        return copies, none, none
    model = replace(setup.model, vdevs=vdevs)
    readable = np.flatnonzero(~blocks.is_metadata).astype(np.int64)
    every = np.ones(len(blocks.psize), bool)
    more = scan_items(blocks, seed=setup.seed, wanted=every, vdevs=damaged_vdevs(model))
    plain = plain_items(more.vdev, more.offset, more.psize, level0=more.level0, columns=more.columns)
    items = joined_items(copies, plain)
    items, log = with_log(model, setup.release, setup.log_bytes, items)
    return items, readable + len(copies), log
