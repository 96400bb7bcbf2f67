"""Txgs that end beside what copies, and what copies: when, in which order, and what is noted."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from tests.operation.scripted import (
    CONFIGURATION,
    DATA,
    LABELS,
    NamedWrites,
    ScriptedPlane,
    control_of,
    let,
    pool_of,
)
from zsim.engine.codes import ASYNC_WRITE, EXIT_DRAINED, EXIT_EPOCH, EXIT_GROUP, EXIT_HORIZON, EXIT_STALLED
from zsim.operation.background.copying import BackgroundScan, BackgroundTxg

PASSES = ["pass 0", "pass 1"]
TUNABLES = {
    "zfs_txg_timeout": 5,
    "zfs_vdev_async_write_min_active": 2,
    "zfs_vdev_async_write_max_active": 10,
}


def scan_on(plane: ScriptedPlane, *, awaited: int = 0, data: Any = (), attach: Any = ()) -> BackgroundScan:
    """Return what copies, on a plane of which every answer is stated."""
    pool = pool_of(control_of(plane, NamedWrites(data)), release=SimpleNamespace(tunables=TUNABLES))
    scan = BackgroundScan(pool, awaited)
    scan.start_txgs(attach)
    return scan


def named(plane: ScriptedPlane) -> list[Any]:
    return [what for _, what in plane.asked]


def closings(plane: ScriptedPlane) -> list[float]:
    return [moment for moment, what in plane.asked if what == "close"]


def test_a_txg_drains_then_writes_its_passes_and_its_labels_last() -> None:
    """spa_sync: data, the passes, the uberblocks; each group waits for the one before."""
    plane = ScriptedPlane([(20.0, EXIT_DRAINED)], group_s=1.0, drain_s=2.0)
    scan = scan_on(plane, data=[DATA])
    let(scan.control, scan.until(lambda reason: reason == EXIT_DRAINED))
    assert plane.asked[:5] == [
        (5.0, "close"),
        (7.0, [DATA]),
        (8.0, "pass 0"),
        (9.0, "pass 1"),
        (10.0, LABELS),
    ]
    # On the disks at 11 s: zfs_txg_timeout later the next one closes, not sooner.
    assert closings(plane) == [5.0, 16.0]
    assert (scan.txg.finished, scan.control.txgs) == (1, 1)


@pytest.mark.parametrize(("awaited", "begins"), [(0, [5.0, 15.0]), (1, [5.0, 17.0]), (3, [5.0, 12.0, 17.0])])
def test_a_txg_that_somebody_waits_for_closes_as_soon_as_the_one_before_is_written(
    awaited: int, begins: list[float]
) -> None:
    """The command that attaches a drive waits for so many; the first of them has more to write."""
    plane = ScriptedPlane([(18.0, EXIT_DRAINED)])
    scan = scan_on(plane, awaited=awaited)
    let(scan.control, scan.until(lambda reason: reason == EXIT_DRAINED))
    assert closings(plane) == begins


@pytest.mark.parametrize("attach", [(), ("attach 0", "attach 1", "attach 2")])
def test_only_the_first_of_those_awaited_has_the_new_drive_in_its_configuration(attach: Any) -> None:
    """vdev_config_sync: the labels of one end, the uberblocks, the labels of the other end."""
    plane = ScriptedPlane([(40.0, EXIT_DRAINED)])
    scan = scan_on(plane, awaited=2, attach=attach)
    let(scan.control, scan.until(lambda reason: reason == EXIT_DRAINED))
    first = ["close", *(attach or PASSES), CONFIGURATION, LABELS, CONFIGURATION]
    later = ["close", *PASSES, LABELS]
    assert named(plane)[: len(first) + 2 * len(later)] == [*first, *later, *later]


def test_a_txg_tells_when_it_closes_and_when_it_is_on_the_disks() -> None:
    plane = ScriptedPlane([(16.0, EXIT_DRAINED)])
    scan = scan_on(plane)
    seen: list[tuple[str, float, bool]] = []
    scan.txg.on_close = lambda: seen.append(("closes", plane.now, scan.txg.idle))
    scan.txg.on_end = lambda: seen.append(("written", plane.now, scan.txg.idle))
    let(scan.control, scan.until(lambda reason: reason == EXIT_DRAINED))
    assert seen == [("closes", 5.0, True), ("written", 10.0, True), ("closes", 15.0, True)]


@pytest.mark.parametrize(
    ("drains", "others", "own"), [(True, EXIT_GROUP, EXIT_EPOCH), (False, EXIT_EPOCH, EXIT_GROUP)]
)
def test_a_txg_goes_on_by_what_it_waits_for_alone(drains: bool, others: int, own: int) -> None:
    """While I/O in flight drains, groups are reads of others; while it writes, there is no other epoch."""
    control = control_of(ScriptedPlane())
    txg = BackgroundTxg(control, 5.0, 0)
    assert not any(txg.goes_on(reason) for reason in (EXIT_EPOCH, EXIT_GROUP))
    txg.begin()
    if not drains:
        txg.step()
    assert not txg.idle
    assert [txg.goes_on(reason) for reason in (own, others, EXIT_HORIZON, EXIT_DRAINED)] == [
        True,
        False,
        False,
        False,
    ]


def test_the_last_txg_is_one_that_closes_after_all_was_issued() -> None:
    """One that was closed before is not enough; nothing keeps a sync task pending meanwhile."""
    for covers, wanted in ((False, 2), (True, 1)):
        plane = ScriptedPlane()
        scan = scan_on(plane)
        scan.set_depth(True)
        plane.finished = covers
        scan.txg.begin()
        plane.finished = True
        let(scan.control, scan.wait_for_txg())
        assert (scan.txg.finished, scan.txg.idle) == (wanted, True)
        assert plane.limits[ASYNC_WRITE] == (2, 2)


def test_a_txg_is_closed_at_once_where_none_is_ending() -> None:
    plane = ScriptedPlane()
    scan = scan_on(plane)
    plane.finished = True
    let(scan.control, scan.wait_for_txg())
    assert closings(plane) == [0.0]
    assert plane.now == 2.0 + 3 * 1.0


def test_asynchronous_writes_have_their_full_depth_while_a_sync_task_is_pending() -> None:
    """vdev_queue_max_async_writes: zfs_vdev_async_write_max_active, else zfs_vdev_async_write_min_active."""
    plane = ScriptedPlane()
    scan = scan_on(plane)
    for pending, most in ((True, 10), (False, 2)):
        scan.set_depth(pending)
        assert plane.limits == {ASYNC_WRITE: (2, most)}


@pytest.mark.parametrize("start", [0.0, 7_000.0])
def test_progress_is_noted_from_the_start_on_every_hundredth_of_the_time_so_far(start: float) -> None:
    """Or every 20 ms, whichever is longer; whatever the clock of the host shows at the start."""
    plane = ScriptedPlane([(start + 60.0, EXIT_DRAINED)], start=start)
    scan = scan_on(plane)
    plane.issued[0] = 77
    let(scan.control, scan.until(lambda reason: reason == EXIT_DRAINED))
    moments = [moment for moment, _ in scan.curve]
    assert {issued for _, issued in scan.curve} == {77}
    assert 0.0 < moments[0] <= 0.0201
    assert moments[-1] == pytest.approx(60.0)
    # Later by a txg's own steps alone: 60 s are some 2 s / 20 ms and ln(60 / 2) / ln(1.01) notes.
    assert 400 < len(moments) < 480
    for before, after in pairwise(moments):
        assert 0.0 <= after - before <= max(0.02, 0.01 * before) + 1e-9


def test_copying_that_waits_for_nothing_is_an_error_of_the_program() -> None:
    scan = scan_on(ScriptedPlane([(1.0, EXIT_STALLED)]))
    with pytest.raises(RuntimeError, match="nothing left to do"):
        let(scan.control, scan.until(lambda reason: False))
