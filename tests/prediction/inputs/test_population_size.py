"""Populations are large enough for what is repaired: special vdevs, small blocks on many drives."""

from __future__ import annotations

import pytest

from zsim.case.case import Case
from zsim.case.member import Member
from zsim.case.worlds import in_world
from zsim.prediction.api import case_of
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import (
    BYTES_OF_BLOCK,
    MOST_BLOCKS,
    REPAIRED_BYTES,
    REPAIRED_SORTED,
    WINDOWS,
    miniature,
)
from zsim.prediction.runs.one_tile import run_pool
from zsim.scenario.model import Scenario

WIDE = "draid2:8d:42c:2s"


def world(history: str, order: str, **fields: object) -> Case:
    known = {
        "layout": "raidz2x6+special:mirror2", "drive": "generic-7200rpm-cmr",
        "drive_size": "8TB", "fill": 0.6, "replace_in": "special", "special_drive": "generic-nvme-ssd",
        "special_drive_size": "1TB",
    }  # fmt: skip
    stated = Scenario.from_dict(known | fields | {"history": history, "order": order})
    return in_world(case_of(stated), Member())


def plain_pool(layout: str, history: str, **fields: object) -> Case:
    known = {"layout": layout, "drive": "generic-7200rpm-cmr", "drive_size": "8TB", "fill": 0.6}
    return in_world(case_of(Scenario.from_dict(known | fields | {"history": history})), Member())


def seconds(case: Case, blocks: int) -> float:
    return run_pool(case, miniature(case, blocks=blocks), plane_model(case)).time_s


@pytest.mark.parametrize("history", ["home-nas", "small-files"])
@pytest.mark.parametrize("order", ["sorted", "legacy"])
def test_a_small_population_tells_what_a_large_one_does(history: str, order: str) -> None:
    """A legacy resilver took 26 ms for 2 min: all it had to repair fitted into what may be under way."""
    case = world(history, order)
    assert seconds(case, 5_000) == pytest.approx(seconds(case, MOST_BLOCKS), rel=0.3)


@pytest.mark.parametrize(
    ("history", "order", "least"),
    [
        ("home-nas", "sorted", REPAIRED_SORTED),
        ("small-files", "sorted", REPAIRED_SORTED),
        ("small-files", "legacy", REPAIRED_BYTES),
    ],
)
def test_enough_lies_on_the_special_vdev(history: str, order: str, least: float) -> None:
    held = miniature(world(history, order), blocks=5_000).table
    assert held.dva_asize[held.dva_vdev == 0].sum() > 0.7 * least


def test_a_sorted_resilver_needs_less_of_it_than_one_by_birth() -> None:
    """Volumes were laid out with 205,000 blocks for each possible world: 18 s of processor time, 313 MB."""
    assert 40_000 < len(miniature(world("vm-host", "sorted"), blocks=5_000).table) < 140_000


def test_disks_beside_a_special_vdev_need_no_more_blocks() -> None:
    disks = world("small-files", "sorted", replace_in=0)
    assert len(miniature(disks, blocks=5_000).table) < 10_000


@pytest.mark.parametrize(("layout", "most"), [("raidz2x6", 1.4), ("4*raidz2x10", 2.0)])
def test_small_blocks_on_many_drives_take_no_longer_on_small_populations(layout: str, most: float) -> None:
    """Four vdevs of ten took 78 h on 5,000 blocks, 17 h on 320,000: now they are 80,000."""
    case = plain_pool(layout, "vm-host")
    assert seconds(case, 5_000) < most * seconds(case, 150_000)


def test_each_drive_has_something_to_do() -> None:
    def blocks(layout: str, history: str, **fields: object) -> tuple[int, float]:
        case = plain_pool(layout, history, **fields)
        table = miniature(case, blocks=5_000).table
        held = float(table.dva_asize[table.dva_vdev == 0].sum())
        return len(table), held / case.layout.vdevs[0].children / 5_000

    usual, _ = blocks("raidz2x6", "home-nas")
    assert usual < 7_000
    more, held = blocks("raidz2x10", "vm-host")
    assert more > 2 * usual
    assert held == pytest.approx(BYTES_OF_BLOCK, rel=0.2)
    # Of many vdevs sixteen times as many blocks are the most, of wide ones what the memory allows.
    assert 70_000 < blocks("4*raidz2x10", "vm-host")[0] < 110_000
    assert blocks("raidz3x90", "vm-host")[0] < 50_000
    # A scan in the order of birth seeks for each block, on populations of any size.
    assert blocks("raidz2x10", "vm-host", order="legacy")[0] < 7_000


def wide(operation: str, layout: str = WIDE, **fields: object) -> Case:
    known = {"operation": operation, "recordsize": "128K", "release": "openzfs-2.3", "fill": 0.5, "load": []}
    return plain_pool(layout, "write-once-archive", **known | fields)


@pytest.mark.parametrize(("operation", "share"), [("scrub", 1.0), ("resilver", 1.0 - 28 / 38 * 29 / 39)])
def test_a_scan_of_a_wide_draid_issues_many_windows(operation: str, share: float) -> None:
    """Half a window to two of a vdev of 42 lay in populations of 9,375 blocks: up to five times as long."""
    window = 38 * (16 << 20)
    table = miniature(wide(operation), blocks=9_375).table
    issued = float(table.psize[table.dva_vdev[:, 0] == 0].sum()) * share
    # What memory allows is the most.
    assert issued > 0.9 * min(WINDOWS * window, 4_000_000 // 42 * 131_072 * share)


def test_what_a_population_of_a_draid_has_to_hold_goes_with_the_window() -> None:
    def blocks(layout: str = "draid2:4d:11c:1s", **fields: object) -> int:
        return len(miniature(wide("scrub", layout, **fields), blocks=9_375).table)

    assert blocks(recordsize="1M") < 15_000
    assert blocks() > 1.2 * blocks(tunables={"zfs_scan_vdev_limit": 4 << 20})
    assert blocks(tunables={"zfs_scan_vdev_limit": 1 << 20}) < 15_000
    assert len(miniature(wide("rebuild", WIDE), blocks=9_375).table) < 15_000


@pytest.mark.parametrize("operation", ["resilver", "scrub"])
def test_a_small_population_of_a_wide_draid_tells_what_a_large_one_does(operation: str) -> None:
    """It took 1.7 times as long (a resilver) or 1.6 times (a scrub) as on 95,000 blocks."""
    case = wide(operation)
    assert seconds(case, 9_375) == pytest.approx(seconds(case, 95_000), rel=0.25)


def test_a_history_without_room_on_the_fullest_vdev_leaves_all_of_them_as_much_emptier():
    stated = {"layout": "3*mirror2", "drive": "wd80efax", "drive_size": "16TB", "release": "openzfs-2.3"}
    fills = {"vdev_fills": (0.47, 0.7, 0.9), "history": "vm-host"}
    found = miniature(case_of(Scenario.from_dict(stated | fills)), blocks=40_000)
    assert found.note.startswith("simulated at 5")
    assert "% full instead of 69 %" in found.note
    assert found.table.share_on((0,)) == pytest.approx(0.47 / (0.47 + 0.7 + 0.9), rel=0.1)
