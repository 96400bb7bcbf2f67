"""Courses of possible worlds, without a run: what is made of what they showed on the way."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.prediction.test_members_by_hand import LINE
from tests.prediction.test_work_rules import case
from zsim.case.member import Member
from zsim.prediction import courses
from zsim.prediction.courses import CourseWork
from zsim.prediction.evidence.probes import HeldProbe, ScanProbe
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.progress.course import KNOWN_SHARE, OpenShare, Shape


def a_course(
    monkeypatch: pytest.MonkeyPatch,
    time_s: float = 400.0,
    *,
    busy: tuple[str, int] = ("drive", 1),
    rates: tuple[float, ...] = (1.0,),
    tile: bool = False,
    sweeps: bool = True,
    zones: list[Any] | None = None,
    **fields: Any,
) -> courses.Course:
    """Return the course of a member of 100 s: visits 20 s, issue 60 s, ends of txgs 20 s."""
    kind, number = busy
    monkeypatch.setattr(courses, "sampled_shape", lambda run: LINE)
    monkeypatch.setattr(courses, "busiest", lambda result: (kind, 0.5, number))
    monkeypatch.setattr(courses, "totals", lambda result: {"resilvered_bytes": 7})
    monkeypatch.setattr(courses, "transfer_s", lambda result: 69.0)
    monkeypatch.setattr(courses, "window_share", lambda case, model: 0.01)
    monkeypatch.setattr(courses, "discrepancy", lambda case: 0.3)
    monkeypatch.setattr(courses, "_sick", lambda case: 0.4)
    monkeypatch.setattr(courses, "one_sweep", lambda case: sweeps)

    def with_zones(*given: Any) -> Shape:
        (zones if zones is not None else []).append(given)
        return replace(LINE, tail=0.25)

    monkeypatch.setattr(courses, "with_zones", with_zones)
    one = SimpleNamespace(zone_rates=(1.0,))
    leaves = [SimpleNamespace(drive=SimpleNamespace(zone_rates=rates)), SimpleNamespace(drive=one)]
    if kind != "link":
        leaves.reverse()
    rows = np.zeros(2, [("transfer", float)])
    rows["transfer"] = (30.0, 60.0)
    result: Any = SimpleNamespace(
        time_s=100.0, visit_s=20.0, issue_s=60.0, sync_s=20.0, model=SimpleNamespace(leaves=leaves),
        run=SimpleNamespace(end=120.0, leaves=rows),
    )  # fmt: skip
    made = CourseWork(case(**fields), lambda share, doing: None)
    return made._course(courses._Kept(result, tile, 0.5), time_s, Member())


def test_a_course_has_the_phases_of_its_run_at_the_size_of_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times as long; ends of txgs are shared by what is active, a quarter of them in the visits."""
    found = a_course(monkeypatch)
    assert found.visit_s == pytest.approx(4.0 * 20.0 * 1.25)
    # Of the 120 s to the end of the run the tail is a quarter of what is before it: it comes once.
    assert found.tail_s == pytest.approx(24.0)
    assert found.issue_s == pytest.approx(400.0 - 100.0 - 24.0)
    assert (found.repaired, found.needed, found.window) == (7.0, 0.5, 0.01)
    assert found.transfer == pytest.approx(69.0 / 276.0)
    # Of a pool of a few GB nobody knows what its drives are.
    assert a_course(monkeypatch, alloc="5GB", fill=None).transfer == 0.0
    assert found.discrepancy == pytest.approx(0.5)


def test_a_tail_is_at_most_half_of_what_follows_the_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    found = a_course(monkeypatch, 40.0)
    assert (found.visit_s, found.issue_s, found.tail_s) == (10.0, 15.0, 15.0)


def test_a_tile_that_is_gone_over_once_gets_the_zones_of_its_busiest_drive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    zones: list[Any] = []
    found = a_course(monkeypatch, tile=True, rates=(2.0, 1.0), zones=zones, fill=0.4)
    # It moves data for 60 of 120 s; files reach twice as far as the pool is full.
    (given,) = zones
    assert given[1:] == ((2.0, 1.0), 0.5, 0.8)
    assert found.tail_s == pytest.approx(24.0)
    a_course(monkeypatch, tile=True, rates=(2.0, 1.0), zones=zones, busy=("link", 1), fill=0.6)
    assert zones[1][1:] == ((2.0, 1.0), 0.25, 1.0)
    for other in ({"tile": False}, {"sweeps": False}, {"rates": (1.0,)}):
        a_course(monkeypatch, **({"tile": True, "rates": (2.0, 1.0), "zones": zones} | other))  # type: ignore[arg-type]
    assert len(zones) == 2


def test_a_rebuild_goes_from_the_outer_tracks_on_and_is_closed_by_its_txg(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    zones: list[Any] = []
    found = a_course(
        monkeypatch, rates=(2.0, 1.0), zones=zones, layout="mirror2", operation="rebuild", sweeps=False
    )
    assert len(zones) == 1
    assert np.array_equal(zones[0][0].share, zones[0][0].moment), "straight, whatever the run's shape"
    assert zones[0][0].tail == 0.25
    assert found.tail_s == pytest.approx(24.0)


def test_a_sick_drive_leaves_open_what_lies_between_never_and_always_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(courses, "most_slowed", lambda given: math.e**2)
    assert courses._sick(case()) == pytest.approx(0.57735, rel=1e-5)  # 2 / sqrt(12)
    monkeypatch.setattr(courses, "most_slowed", lambda given: 1.0)
    assert courses._sick(case()) == 0.0


def test_other_scans_tell_by_how_much_they_took_longer_and_how_sure_that_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(courses, "OTHER_SCAN", 0.4)
    monkeypatch.setattr(courses, "discrepancy", lambda given: 1.2)
    seen = SimpleNamespace(log=5.0, sigma=0.3)
    weighing = SimpleNamespace(
        comparisons=[
            SimpleNamespace(probe=ScanProbe("scrub"), seen=seen),
            SimpleNamespace(probe=HeldProbe("special"), seen=seen),
        ],
        shown=[(4.0, 1.0), (5.5, 1.0)],
    )
    made = CourseWork(case(), lambda share, doing: None)
    assert made._other_scans(0) == ()
    made.weighing = weighing  # type: ignore[assignment]
    assert made._other_scans(0) == ((1.0, pytest.approx(0.5)),)
    assert made._other_scans(1) == ((-0.5, pytest.approx(0.5)),)
    made.case = replace(made.case, operation="expand")
    assert made._other_scans(0) == ((1.0, pytest.approx(1.3)),)


def test_what_a_class_of_vdevs_holds_makes_worlds_likely_and_is_issued_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The world shows e times as much as was told; it is as likely as that, and has to issue 1/e of it."""
    asked: list[Any] = []

    def likelihood(shown: Any, log: float, sigma: float) -> Any:
        asked.append((shown.tolist(), log, sigma))
        return np.array([-2.0])

    monkeypatch.setattr(courses, "log_likelihood", likelihood)
    seen = SimpleNamespace(log=5.0, sigma=0.3)
    made = CourseWork(case(layout="raidz2x6+special:mirror2"), lambda share, doing: None)
    made.weighing = SimpleNamespace(  # type: ignore[assignment]
        comparisons=[
            SimpleNamespace(probe=ScanProbe("scrub"), seen=seen),
            SimpleNamespace(probe=HeldProbe("special"), seen=seen),
        ],
        shown=[(4.0, 6.0), (4.0, math.inf)],
    )
    usual = a_course(monkeypatch)
    unknown = replace(usual, likely=-1.0, open_share=OpenShare(0.7, 0.9))
    held = made._held(0, unknown)
    assert asked == [([6.0], 5.0, 0.3)]
    assert held.likely == -3.0
    assert held.open_share == unknown.open_share, "another class is repaired"
    special = made.case.layout.vdevs[1]
    made.case = SimpleNamespace(layout=SimpleNamespace(vdevs=(special,)))  # type: ignore[assignment]
    repaired = made._held(0, unknown)
    assert repaired.open_share == KNOWN_SHARE
    assert repaired.needed == pytest.approx(0.5 / math.e)
    assert repaired.issue_s == pytest.approx(unknown.issue_s / math.e)
    assert made._held(0, replace(unknown, open_share=KNOWN_SHARE)).needed == 0.5
    assert made._held(1, unknown) == unknown, "what the world does not show says nothing"


def test_what_is_copied_at_once_is_what_may_be_under_way() -> None:
    grown = case(release="openzfs-2.3", operation="expand", alloc="1T", fill=None)
    most = grown.release.tunables["raidz_expand_max_copy_bytes"]
    assert courses.window_share(grown, plane_model(grown)) == pytest.approx(most / (1 << 40))
    removed = case(layout="4*mirror2", operation="remove", alloc="1T", fill=None)
    # 64 MiB of what lies on one of four vdevs.
    assert courses.window_share(removed, plane_model(removed)) == pytest.approx((64 << 20) / (1 << 38))


def test_a_rebuild_has_a_window_under_way_at_most_what_lies_in_a_metaslab(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rebuilt = case(layout="2*mirror2", operation="rebuild", alloc="1T", fill=None)
    slab = 1 << courses.metaslab_shift(rebuilt.pool_size // 2, rebuilt.release)
    held = slab * 1.5 * rebuilt.fill

    def share(limit: int, *, blocks: bool) -> float:
        window = SimpleNamespace(limit=limit, counts_blocks=blocks)
        monkeypatch.setattr(courses, "rebuild_window", lambda *given: window)
        return courses.window_share(rebuilt, plane_model(rebuilt))

    assert share(1 << 20, blocks=False) == pytest.approx((1 << 20) / (1 << 40))
    assert share(1 << 50, blocks=False) == pytest.approx(held / (1 << 40))
    assert share(32, blocks=True) == pytest.approx(held / (1 << 40))
    full = replace(rebuilt, fill=0.9)
    monkeypatch.setattr(
        courses, "rebuild_window", lambda *given: SimpleNamespace(limit=1, counts_blocks=True)
    )
    assert courses.window_share(full, plane_model(full)) == pytest.approx(slab / (1 << 40)), (
        "no more than all"
    )


@pytest.mark.parametrize(
    ("layout", "ratio"), [("mirror3", 1.0), ("raidz1x5", 5 / 4), ("raidz2x6", 6 / 4), ("raidz3x11", 11 / 8)]
)
def test_with_its_parity_a_byte_of_data_takes_more(layout: str, ratio: float) -> None:
    (vdev,) = plane_model(case(layout=layout)).vdevs
    assert courses.with_parity(vdev) == pytest.approx(ratio)
