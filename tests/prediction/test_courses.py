"""The course of a world: its shape from a run, what is skipped and under way, how well it is known."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from zsim.case.case import Case
from zsim.case.member import Member
from zsim.engine.codes import LEAF_DTYPE, RECORD_DTYPE
from zsim.operation.result import RunResult, ScanSample
from zsim.prediction import courses
from zsim.prediction.api import case_of
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.progress import case_priors
from zsim.prediction.progress.course import (
    EDGES,
    FEWEST,
    Course,
    Shape,
    recorded_shape,
    sampled_shape,
    straight,
)
from zsim.prediction.progress.noise import progress_number
from zsim.scenario.model import Scenario

MIB = 1 << 20


def case(**fields: Any) -> Case:
    return case_of(Scenario.from_dict({"layout": "raidz2x6", "drive": "st4000vn008", "fill": 0.5, **fields}))


def run(**fields: Any) -> RunResult:
    """Return a run of 100 s: 20 s of metadata, then the issue, and a last txg of 5 s."""
    known: dict[str, Any] = {
        "end": 100.0, "first_scan_s": 0.0, "span": 95.0, "visit": 20.0, "idle": 0.0, "txgs": 4,
        "children": 0, "events": 0, "client_reads": 0, "client_latency_s": 0.0,
        "leaves": np.zeros(0, LEAF_DTYPE), "records": np.zeros(0, RECORD_DTYPE), "issued_blocks": 0,
        "issued_bytes": 0, "phases": [("visit", 0.0, 20.0), ("issue", 20.0, 95.0)],
    }  # fmt: skip
    return RunResult(**(known | fields))


def records(done: np.ndarray, *, write: bool, length: int = MIB) -> np.ndarray:
    found = np.zeros(len(done), RECORD_DTYPE)
    found["done"], found["scan"], found["write"], found["length"] = done, 1, write, length
    return found


# Shapes.


def test_a_run_that_issues_evenly_has_a_straight_shape_and_its_tail() -> None:
    moments = np.linspace(20.0, 95.0, 76)
    samples = [ScanSample(float(t), 0, int(1e6 * (t - 20.0)), "issue") for t in moments]
    found = sampled_shape(run(progress=[ScanSample(10.0, 5, 0, "visit"), *samples]))
    assert found.at(np.array([0.25, 0.5, 0.75])) == pytest.approx([0.25, 0.5, 0.75], abs=0.01)
    assert found.tail == pytest.approx(5.0 / 75.0)


def test_the_curve_of_a_rebuild_goes_before_the_ends_of_its_slices() -> None:
    curve = [(20.0 + 75.0 * share**2, round(1e9 * share)) for share in np.linspace(0.0, 1.0, 50).tolist()]
    even = [ScanSample(float(t), 0, int(t), "issue") for t in range(20, 96)]
    found = sampled_shape(run(curve=curve, progress=even))
    assert found.at(np.array([0.5])) == pytest.approx([0.25], abs=0.01)


def test_few_samples_tell_no_shape() -> None:
    few = [ScanSample(float(t), 0, t, "issue") for t in range(20, 20 + FEWEST - 1)]
    assert sampled_shape(run(progress=few)).share.tolist() == straight().share.tolist()
    assert recorded_shape(run(records=records(np.linspace(30.0, 90.0, FEWEST - 1), write=True))).tail == 0.0


def test_what_is_all_done_when_the_issue_begins_has_no_shape() -> None:
    at_once = records(np.full(200, 20.0), write=True)
    found = recorded_shape(run(records=at_once))
    assert found.share.tolist() == straight().share.tolist()
    assert np.isfinite(found.moment).all()
    assert found.tail == 0.0


def test_repairs_tell_the_shape_of_a_resilver_and_reads_that_of_a_scrub() -> None:
    late = records(np.linspace(60.0, 95.0, 200), write=True)
    early = records(np.linspace(21.0, 40.0, 200), write=False)
    both = np.concatenate((early, late))
    half = np.array([0.5])
    assert recorded_shape(run(records=both)).at(half) == pytest.approx([(77.5 - 20.0) / 75.0], abs=0.02)
    assert recorded_shape(run(records=early)).at(half) == pytest.approx([10.5 / 20.0], abs=0.03)


def test_what_was_done_in_the_metadata_phase_or_by_clients_is_no_repair() -> None:
    scan = records(np.linspace(21.0, 95.0, 200), write=True)
    before = records(np.linspace(1.0, 19.0, 400), write=True)
    clients = records(np.linspace(21.0, 30.0, 400), write=True)
    clients["scan"] = 0
    plain, mixed = recorded_shape(run(records=scan)), recorded_shape(
        run(records=np.concatenate((before, clients, scan)))
    )  # fmt: skip
    assert mixed.at(EDGES) == pytest.approx(plain.at(EDGES))


def test_larger_ios_count_for_more() -> None:
    done = np.linspace(21.0, 95.0, 200)
    found = records(done, write=True)
    found["length"][:100] = 3 * MIB
    assert recorded_shape(run(records=found)).at(np.array([0.75])) == pytest.approx([0.5], abs=0.02)


def test_a_shape_keeps_its_order_whatever_is_asked_of_it() -> None:
    shape = Shape(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.9, 1.0]))
    assert (np.diff(shape.at(np.linspace(0.0, 1.0, 21))) >= 0.0).all()
    assert shape.at(np.array([0.25, 0.75])) == pytest.approx([0.45, 0.95])


# What has to be issued.


def test_of_several_vdevs_one_is_repaired_and_a_scrub_reads_all() -> None:
    two = case(layout="2*raidz2x6", drive_size="200GB", drive="generic-7200rpm-cmr", fill=0.05)
    pool = miniature(two, blocks=2000)
    share = courses.needed_share(two, pool, plane_model(two))
    assert 0.4 < share <= 0.5
    scrub = replace(two, operation="scrub")
    assert courses.needed_share(scrub, pool, plane_model(scrub)) == 1.0


def test_of_unlike_vdevs_each_holds_what_was_written_to_it() -> None:
    mixed = case(
        layout="raidz1x5+mirror2", drive_size="200GB", drive="generic-7200rpm-cmr", fill=0.3, replace_in=1
    )
    pool = miniature(mixed, blocks=3000)
    on_mirror = pool.table.dva_asize[pool.table.dva_vdev == 0].sum() / pool.table.dva_asize.sum()
    assert courses.needed_share(mixed, pool, plane_model(mixed)) == pytest.approx(float(on_mirror), rel=0.01)
    # Half of it, as of two vdevs that are alike, would be too much.
    assert 0.1 < on_mirror < 0.35


def test_how_much_a_special_vdev_holds_is_open() -> None:
    def share(**fields: object) -> courses.OpenShare:
        known = {"layout": "raidz2x6+special:mirror2", "drive_size": "4TB", "fill": 0.5} | fields
        return courses.open_share(case(**known))

    assert share() == share(replace_in=0) == courses.KNOWN_SHARE
    found = share(replace_in="special", special_drive_size="480GB")
    assert found.spread > 0.5
    # Of the 12 TB allocated, two mirrored drives of 480 GB hold 4 % at most.
    assert found.most == pytest.approx(0.04, rel=0.02)


def test_what_the_special_vdev_is_told_to_hold_is_what_has_to_be_issued() -> None:
    def found(**fields: object) -> tuple[Course, ...]:
        known = {
            "layout": "raidz2x6+special:mirror2", "replace_in": "special", "drive_size": "4TB",
            "alloc": "11T", "fill": None, "drive": "generic-7200rpm-cmr",
        }  # fmt: skip
        return courses.courses_of(case(**known | fields))

    told = found(evidence="special=55G", special_small_blocks=0)
    assert {each.open_share for each in told} == {courses.KNOWN_SHARE}
    for each in told:
        assert each.needed == pytest.approx(55 / (11 * 1024 + 55), rel=0.05)
    # Pools of films hold a tenth of that there, and are no longer likely.
    by_name = {each.name.partition(",")[0]: each.likely for each in told}
    assert by_name["media-server"] < by_name["vm-host"] - 2.0
    assert {each.likely for each in found()} == {0.0}


def test_a_log_holds_nothing_and_a_special_vdev_its_share() -> None:
    def needed(layout: str) -> tuple[float, float]:
        one = case(layout=layout, drive_size="200GB", drive="generic-7200rpm-cmr", fill=0.05)
        pool = miniature(one, blocks=2000)
        beside = pool.table.dva_asize[pool.table.dva_vdev == 1].sum() / pool.table.dva_asize.sum()
        return courses.needed_share(one, pool, plane_model(one)), float(beside)

    alone, nothing = needed("raidz2x6")
    assert needed("raidz2x6+log:mirror2") == (alone, nothing) == (pytest.approx(1.0, abs=0.01), 0.0)
    share, metadata = needed("raidz2x6+special:mirror2")
    assert 0.0 < metadata < 0.1
    assert share == pytest.approx(alone * (1.0 - metadata), rel=0.01)


def test_what_is_under_way_does_not_depend_on_a_log() -> None:
    plain, logged = (case(release="openzfs-2.3", layout=f"raidz2x6{log}") for log in ("", "+log:mirror2"))
    assert courses.window_share(logged, plane_model(logged)) == courses.window_share(
        plain, plane_model(plain)
    )
    scrubs = [replace(each, operation="scrub") for each in (plain, logged)]
    assert len({courses.window_share(each, plane_model(each)) for each in scrubs}) == 1


def test_what_is_under_way_is_the_window_of_the_damaged_vdev() -> None:
    one = case(release="openzfs-2.3")
    limit = one.release.tunables["zfs_scan_vdev_limit"]
    # Four data drives; six bytes on the drives for each four that the limit counts.
    expected = 4 * limit * 6 / 4 / one.alloc
    assert courses.window_share(one, plane_model(one)) == pytest.approx(expected)
    two = case(release="openzfs-2.3", layout="2*raidz2x6")
    assert courses.window_share(two, plane_model(two)) == pytest.approx(4 * limit * 6 / 4 / (two.alloc / 2))
    legacy = case(release="zol-0.7")
    assert courses.window_share(legacy, plane_model(legacy)) == 0.0


def test_no_more_than_a_quarter_is_under_way() -> None:
    tiny = case(release="openzfs-2.3", alloc="64M", fill=None)
    assert courses.window_share(tiny, plane_model(tiny)) == 0.25
    expanded = case(release="openzfs-2.3", operation="expand", alloc="64M", fill=None)
    assert courses.window_share(expanded, plane_model(expanded)) == 0.25


def test_a_rebuild_ends_with_the_txg_that_is_open() -> None:
    rebuilt = case(layout="mirror2", operation="rebuild")
    timeout = float(rebuilt.release.tunables["zfs_txg_timeout"])
    closes = progress_number("layout.rebuild_closes") * timeout
    assert courses.closing_s(rebuilt, 0.1) == pytest.approx(closes)
    assert courses.closing_s(rebuilt, 30.0) == 30.0
    assert courses.closing_s(case(), 0.1) == 0.1


# How it drifts, and how well it is known.


def test_a_sorted_scan_drifts_only_where_it_goes_over_the_drives_once() -> None:
    once = case(release="openzfs-2.3", memory="1T")
    rounds = case(release="openzfs-2.3", memory="1G", recordsize="8K")
    assert case_priors.drifts(once) == 1.0
    assert case_priors.drifts(rounds) == 0.0
    assert case_priors.drifts(case(release="openzfs-2.3", memory="1T", fill=0.25)) == pytest.approx(0.5)
    assert case_priors.drifts(case(release="zol-0.7")) == 0.0
    assert (case_priors.births(once), case_priors.births(case(release="zol-0.7"))) == (0.0, 1.0)


def test_drives_are_known_by_model_by_class_or_not_at_all() -> None:
    assert case_priors.knowledge(case()) == "known"
    assert case_priors.knowledge(case(drive="generic-7200rpm-cmr")) == "class"
    assert case_priors.knowledge(case_of(Scenario.from_dict({"layout": "raidz2x6"}))) == "unnamed"
    # A few GB on a large drive are a root pool or a test, whatever the drive is called.
    assert case_priors.knowledge(case(alloc="6G", fill=None)) == "unnamed"
    small, usual, moved = (
        case_priors.discrepancy(each)
        for each in (case(alloc="6G", fill=None), case(), case(operation="expand"))
    )
    assert small > moved > usual == 0.0


def test_a_pool_of_which_no_population_is_made_has_courses_by_the_rate_of_its_drives() -> None:
    pool = case(layout="mirror2")
    found = case_priors.even_courses(pool)
    rate = float(np.mean(pool.drive.parameters().zone_rates))
    assert [each.issue_s * rate / pool.alloc for each in found] == pytest.approx(case_priors.EVEN_PACES)
    assert all(each.visit_s == pytest.approx(case_priors.EVEN_VISIT * each.issue_s) for each in found)
    assert {each.needed for each in case_priors.even_courses(case(layout="2*mirror2"))} == {0.5}


def test_a_world_is_named_by_what_sets_it_apart() -> None:
    member = Member(history="vm-host", write_cache=False, load=20.0)
    name = courses.world_name(member)
    assert name == "vm-host, write cache off, pools whose clients read 20 times a second from each drive"
    assert courses.world_name(Member()) == ""


def test_a_whole_run_is_scaled_by_what_its_population_is_short_of(monkeypatch: pytest.MonkeyPatch) -> None:
    world = case(layout="mirror2", fill=0.05, drive="generic-7200rpm-cmr", drive_size="200GB")
    pool = miniature(world, blocks=500)
    done = run(records=records(np.linspace(21.0, 95.0, 200), write=True))
    monkeypatch.setattr(courses, "totals", lambda result: {"resilvered_bytes": 7.0})
    monkeypatch.setattr(courses, "transfer_s", lambda result: 60.0)
    result = courses.MemberResult(100.0, 0.0, 0.0, 0.0, 1.0, done, plane_model(world))
    scaled = replace(pool, scale=2.0)
    course = courses.whole_course(world, Member(), scaled, result, are_drives_known=True)
    assert course.visit_s == 40.0
    assert course.issue_s == pytest.approx(2.0 * 75.0)
    assert course.tail_s == pytest.approx(5.0)
    assert math.isclose(course.issue_s + course.tail_s, 2.0 * 75.0 + 5.0)
    assert course.repaired == 7.0
    assert course.transfer == pytest.approx(60.0 / 150.0)
    # 10 GB on drives that nobody knows bound no time, as in the other courses.
    assert case_priors.is_small(world)
    assert courses.whole_course(world, Member(), scaled, result).transfer == 0.0
