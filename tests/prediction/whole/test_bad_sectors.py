"""Bad sectors: the runs of every I/O, the sampled ones, and what is reckoned without any."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from zsim import Scenario, predict
from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.api import case_of
from zsim.prediction.exact.bad_sectors import bad_sectors_of
from zsim.prediction.exact.tiles import Tiling
from zsim.prediction.inputs.bad_places import HeldSpace, VdevExtents
from zsim.prediction.inputs.bad_sectors import reckoned
from zsim.prediction.inputs.hardware import vdev_models
from zsim.prediction.inputs.population import miniature
from zsim.prediction.work import Work
from zsim.vdevs.kind import pieces_of

POOL = {
    "drive": "generic-7200rpm-cmr", "drive_size": "40GB", "fill": 0.5, "history": "media-server",
    "release": "openzfs-2.4", "recordsize": "128K", "seed": 3,
}  # fmt: skip


@cache
def answer(**stated: object) -> Prediction:
    return predict(Scenario.from_dict(POOL | stated), portion="first screen")


def worked(**stated: object) -> Work:
    work = Work(case_of(Scenario.from_dict(POOL | stated)), lambda share, what: None, with_clients=False)
    work.run()
    return work


@pytest.mark.parametrize("release", ["openzfs-2.4", "zol-0.7"])
def test_without_redundancy_every_read_that_fails_is_waited_for_twice(release: str) -> None:
    """A hundred sectors at 2 x 7 s: half of the answer, and the run of every I/O has about as many."""
    stated = {"layout": "raidz1x5", "bad_sectors": "3:100", "release": release}
    sampled, exact = answer(**stated), answer(**stated, exact=True)
    for found in (sampled, exact):
        (sick,) = found.sick
        assert (sick.error_s, sick.faulted_s) == (14.0, None)
        assert sick.errors == pytest.approx(98, abs=4)
        assert sick.unreadable == pytest.approx(100, abs=6)
        assert sick.lost_s == pytest.approx(14.0 * sick.errors, rel=0.05)
        assert sick.sound_s + sick.lost_s == pytest.approx(found.resilver_s.p50)
    assert exact.resilver_s.p50 == pytest.approx(sampled.resilver_s.p50, rel=0.06)
    sound = answer(layout="raidz1x5", release=release, exact=True).resilver_s.p50
    assert exact.sick[0].sound_s == pytest.approx(sound, rel=0.05)
    words = " ".join(" ".join(exact.warnings).split())
    assert ("restarts a resilver that has met an unreadable block" in words) == (release == "zol-0.7")


def test_the_run_of_every_io_faults_a_drive_for_its_errors() -> None:
    stated = {"layout": "raidz2x6", "bad_sectors": "3:1000"}
    for found in (answer(**stated), answer(**stated, exact=True)):
        (sick,) = found.sick
        assert 1 <= sick.errors <= 4
        assert sick.faulted_s == pytest.approx(25.0, abs=15.0)
        assert sick.faulted_by == "ZED: 10 I/O errors in 10 min"
        assert (sick.unreadable, sick.left) == (0, 0)
    assert "It is faulted" in str(answer(**stated))


def test_drives_with_errors_of_one_vdev_shield_each_other_from_zed_since_2_3() -> None:
    stated = {"layout": "raidz3x8", "bad_sectors": ("3:100", "5:50"), "exact": True}
    before, after = (answer(**stated, release=name) for name in ("openzfs-2.2", "openzfs-2.3"))
    assert [each.faulted_s is None for each in before.sick] == [False, False]
    assert [each.faulted_s is None for each in after.sick] == [True, True]


def test_a_scrub_of_two_vdevs_loses_a_drive_of_each_and_no_block() -> None:
    stated = {"layout": "2*raidz2x6", "operation": "scrub", "bad_sectors": ("1:1000", "7:800")}
    for sick in answer(**stated, drive_size="4TB").sick:
        assert sick.faulted_s is not None
        assert (sick.error_s, sick.unreadable, sick.left) == (7.0, 0, 1)


@pytest.mark.parametrize(
    ("stated", "share"),
    [
        ({"layout": "raidz2x6"}, 1.0), ({"layout": "raidz1x5"}, 1.0), ({"layout": "mirror2"}, 1.0),
        ({"layout": "raidz1x5", "release": "zol-0.7"}, 1.0),
        ({"layout": "raidz2x6", "operation": "scrub"}, 1.0),
    ],
)  # fmt: skip
def test_what_is_reckoned_is_what_a_simulated_read_does(stated: dict[str, object], share: float) -> None:
    """The scan stands still; where all aggregates are full, of as many bytes and reports as is reckoned."""
    work = worked(drive_size="4TB", bad_sectors="1:50", **stated)
    (found,), known = work.read_errors.values(), reckoned(work.case)
    assert found.wait_s == pytest.approx(known.wait_s, rel=0.03)
    assert found.share == pytest.approx(share, abs=0.01)
    if work.case.release.order == "sorted":
        assert found.reports == pytest.approx(known.reports, abs=3)
        assert found.read_bytes == pytest.approx(known.read_bytes, rel=0.1)


def test_a_mirror_with_another_side_waits_for_less_than_is_reckoned() -> None:
    """While one side tries again the other is read, until the window is full of what waits."""
    (found,) = worked(layout="mirror3", drive_size="4TB", bad_sectors="1:50").read_errors.values()
    assert 0.2 * 7.0 < found.wait_s < 0.7 * 7.0


def test_a_draid_reads_the_groups_that_miss_something() -> None:
    for target in ("new-drive", "distributed-spare"):
        stated = {"layout": "draid2:4d:11c:1s", "bad_sectors": "3:50", "target": target}
        (found,) = worked(drive_size="4TB", **stated).read_errors.values()
        assert found.share == pytest.approx(6 / 11, abs=0.1)
        assert found.wait_s == pytest.approx(7.0, rel=0.1)


@pytest.mark.parametrize("layout", ["raidz2x6", "mirror2", "draid2:4d:11c:1s"])
def test_a_bad_sector_lies_in_the_block_that_it_is_said_to(layout: str) -> None:
    case = case_of(Scenario.from_dict(POOL | {"layout": layout}))
    table, vdev = miniature(case, blocks=4000).table, vdev_models(case)[0]
    every = np.ones(len(table), bool)
    held = HeldSpace(vdev, 3 % vdev.children, VdevExtents.of_blocks(table, vdev, 0, every))
    for at in np.linspace(0.0, held.bytes, 40, endpoint=False):
        place, row = held.sector(float(at), shift=1 << 30)
        pieces = [
            (child, offset <= place - (4 << 20) < offset + size)
            for offset_of in table.dva_offset[row][table.dva_vdev[row] == 0].tolist()
            for child, offset, size in pieces_of(vdev, offset_of + (1 << 30), int(table.psize[row]), 12)
        ]
        assert (3 % vdev.children, True) in pieces


def test_tiles_have_their_bad_sectors_all_over_the_pool() -> None:
    case = case_of(Scenario.from_dict(POOL | {"layout": "2*raidz1x4", "bad_sectors": "2:400", "exact": True}))
    tiling = Tiling(case, 6000, 2)
    assert tiling.count > 3
    ((bad, blocks),) = bad_sectors_of(case, tiling).values()
    places = np.array([each.place for each in bad]) / 40e9
    assert len(bad) == 400
    assert 300 < blocks <= 400
    assert np.histogram(places, 4, (0.0, 1.0))[0].min() > 40
