"""A scan that runs as evidence of how long such a scan takes: its own pace, and what it does to an answer."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from zsim.prediction.api import case_of, predict
from zsim.prediction.evidence.comparable import Comparison, NotCompared, comparable
from zsim.prediction.evidence.under_way import own_pace, scans_under_way
from zsim.scenario.evidence import FinishedScan, RunningScan
from zsim.scenario.model import Scenario

T = 1 << 40
HOUR = 3600.0
BEGUN = datetime(2026, 11, 20, 10, 2)
SORTED = {"layout": "raidz2x6", "drive": "st4000vn008", "alloc": "14T", "release": "openzfs-2.3"}
LEGACY = {**SORTED, "release": "zol-0.7"}


def legacy(done: float, hours: float, kind: str = "resilver") -> RunningScan:
    return RunningScan(
        kind=kind, format="legacy", elapsed=hours * HOUR, scanned=int(done * 14 * T), total=14 * T
    )


def issued(done: float, hours: float) -> RunningScan:
    """A sorted scan whose metadata phase is over."""
    return RunningScan(
        kind="resilver",
        format="2.2+",
        since=BEGUN,
        at=BEGUN + timedelta(hours=hours),
        scanned=14 * T,
        total=14 * T,
        issued=int(done * 14 * T),
        total_issue=14 * T,
    )


def test_half_of_the_work_in_ten_hours_is_some_twenty_in_all() -> None:
    found = own_pace(case_of(Scenario.from_dict(LEGACY)), [legacy(0.5, 10.0)])
    assert found is not None
    assert found.total_s == pytest.approx(20.0 * HOUR, rel=0.1)


def test_the_later_half_of_a_sorted_scan_takes_longer_on_inner_tracks() -> None:
    found = own_pace(case_of(Scenario.from_dict({**SORTED, "memory": "1T"})), [issued(0.5, 10.0)])
    assert found is not None
    assert 20.5 * HOUR < found.total_s < 26.0 * HOUR


def test_the_more_is_done_the_surer_it_is() -> None:
    case = case_of(Scenario.from_dict(LEGACY))
    sigmas = []
    for done in (0.05, 0.2, 0.5, 0.9):
        found = own_pace(case, [legacy(done, 20.0 * done)])
        assert found is not None
        sigmas.append(found.sigma)
    assert sigmas == sorted(sigmas, reverse=True)
    assert sigmas[0] > 5.0 * sigmas[-1]


def test_a_pace_that_has_changed_on_the_way_is_less_sure() -> None:
    case = case_of(Scenario.from_dict(LEGACY))
    steady = own_pace(case, [legacy(0.3, 6.0), legacy(0.4, 8.0)])
    changed = own_pace(case, [legacy(0.3, 3.0), legacy(0.4, 8.0)])
    assert steady is not None
    assert changed is not None
    assert changed.sigma > 1.5 * steady.sigma


def test_a_scan_that_has_issued_nothing_says_nothing() -> None:
    scanning = issued(0.0, 1.0).model_copy(update={"scanned": 7 * T})
    assert own_pace(case_of(Scenario.from_dict(SORTED)), [scanning]) is None
    used, left = comparable(case_of(Scenario.from_dict({**SORTED, "evidence": [scanning]})))
    assert used == ()
    assert "repaired nothing yet" in left[0].why


def test_statuses_of_one_scan_are_one_thing_and_a_heal_is_none() -> None:
    statuses = [legacy(0.3, 3.0), legacy(0.2, 5.0, "scrub"), legacy(0.4, 8.0), legacy(0.1, 1.0, "heal")]
    assert sorted(map(len, scans_under_way(statuses))) == [1, 1, 2]
    used, left = comparable(case_of(Scenario.from_dict({**LEGACY, "evidence": statuses})))
    assert [(type(each), each.kind) for each in (*used, *left)] == [
        (Comparison, "running resilver"),
        (Comparison, "running scrub"),
        (NotCompared, "running heal"),
    ]


def test_a_prediction_follows_the_pace_of_the_pool() -> None:
    """A pasted status of a scan at a quarter of the usual pace was stated, and passed over."""
    plain = predict(Scenario.from_dict(SORTED))
    slow = plain.given(issued(0.5, 2.0 * plain.resilver_s.p50 / HOUR))
    usual = plain.given(issued(0.5, 0.5 * plain.resilver_s.p50 / HOUR))
    assert slow.resilver_s.p50 > 2.0 * plain.resilver_s.p50
    assert usual.resilver_s.p50 == pytest.approx(plain.resilver_s.p50, rel=0.25)
    assert usual.evidence[0].kind == "running resilver"
    assert usual.evidence[0].narrows > 0.2


def test_what_says_nothing_of_a_scan_changes_nothing() -> None:
    """A heal is listed and not used; it changed the answer, because worlds were then summed up otherwise."""
    pool = {**SORTED, "drive": "860-evo-1tb", "layout": "mirror2", "alloc": "400G"}
    heal = FinishedScan(kind="heal", duration=12.0)
    plain, again = (
        predict(Scenario.from_dict(pool)),
        predict(Scenario.from_dict({**pool, "evidence": [heal]})),
    )
    assert plain.resilver_s == plain.given(heal).resilver_s == again.resilver_s
    assert [(each.kind, each.weight) for each in again.evidence] == [("heal", 0.0)]
