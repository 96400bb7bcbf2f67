"""The chance of loss while a plan is carried out, against arithmetic and against the window of one repair."""

from __future__ import annotations

import math
import shlex
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.planning.timeline.telling import KnownPasses
from zsim.base.errors import InputError
from zsim.cli.main import main
from zsim.planning.risk import api as risks
from zsim.planning.risk.api import risk
from zsim.planning.risk.one_vdev.chain import in_window
from zsim.planning.risk.one_vdev.group import HOUR, Group, one_world
from zsim.planning.risk.question import RiskInputs
from zsim.planning.risk.story import RedundancyStretch, VdevStory, _is_of, degraded_loss, story_loss
from zsim.planning.risk.warnings import is_endless
from zsim.planning.timeline import api as timelines
from zsim.planning.timeline.plan import Plan
from zsim.planning.timeline.redundancy import Level
from zsim.prediction.answer.records import Quantiles
from zsim.scenario.releases.profile import load_release

RATE = 2e-6 / HOUR
ONE = np.ones(1)


def chances(group: Group, stretches: list[tuple[float, int]], world: Any, failures: int = 1) -> Any:
    told = tuple(RedundancyStretch(hours * HOUR, left) for hours, left in stretches)
    return story_loss([VdevStory(group, failures, told)], world, ONE)


def test_no_redundancy_for_a_time_is_the_arithmetic_by_hand() -> None:
    found = chances(Group(children=10, tolerance=1), [(24, 0)], one_world(RATE, 24 * HOUR))
    assert found.vdev[0] == pytest.approx(-math.expm1(-9 * RATE * 24 * HOUR), rel=1e-9, abs=0)
    assert found.files[0] == found.vdev[0] > found.pool[0] > 0


def test_a_second_failure_in_the_middle_is_the_arithmetic_by_hand() -> None:
    found = chances(Group(children=12, tolerance=2), [(10, 1), (20, 0), (15, 1)], one_world(RATE, 60 * HOUR))
    # One more before the second failure, or one after it, loses the vdev; then it takes two.
    kept = math.exp(-11 * RATE * 10 * HOUR - 10 * RATE * 20 * HOUR)
    late = (1 + 11 * RATE * 15 * HOUR) * math.exp(-11 * RATE * 15 * HOUR)
    assert found.vdev[0] == pytest.approx(1 - kept * late, rel=1e-4, abs=0)


def test_a_repair_that_begins_with_two_missing_is_the_arithmetic_by_hand() -> None:
    world = one_world(RATE, 30 * HOUR, delay=10 * HOUR)
    found = degraded_loss(Group(children=8, tolerance=2), world, 2)
    assert found.vdev[0] == pytest.approx(-math.expm1(-6 * RATE * 40 * HOUR), rel=1e-9, abs=0)
    one = degraded_loss(Group(children=8, tolerance=2), world, 1)
    assert one.vdev[0] == pytest.approx(in_window(Group(children=8, tolerance=2), world).vdev[0], rel=1e-6)


FIXED = RiskInputs(hours=30 * HOUR, afr=0.05, correlation=1.0, latent=False, detect=0.0)


def test_drives_that_are_missing_beside_the_one_under_repair_count() -> None:
    gone = {"what": "drive", "drive": "sdc", "missing": "FAULTED"}
    both = risk({"layout": "raidz2x6", "replace": 2}, FIXED)
    beside = risk({"layout": "raidz2x6", "evidence": [gone]}, FIXED)
    rate = -math.log(0.95) / (8766 * HOUR)
    assert both.window.vdev.p == pytest.approx(-math.expm1(-4 * rate * 30 * HOUR), rel=1e-6)
    assert beside.window == both.window
    assert any("2 drives of the vdev missing: none may fail" in each for each in beside.warnings)
    assert beside.per_year == risk({"layout": "raidz2x6"}, FIXED).per_year


def test_of_a_repair_that_runs_it_is_said_that_what_is_past_counts() -> None:
    runs = {"what": "running", "kind": "resilver", "since": "2026-11-22T08:00:00", "done": 0.3}
    pool = {"layout": "raidz2x6", "evidence": [runs]}
    told = risk(pool, RiskInputs(hours=30 * HOUR)).warnings
    assert any("including the past" in each and "--detect 0" in each for each in told)
    assert not any("including the past" in each for each in risk(pool, FIXED).warnings)
    assert not any("including the past" in each for each in risk({"layout": "raidz2x6"}, FIXED).warnings)


@pytest.mark.parametrize(
    ("layout", "more", "name"),
    [("raidz1x4", {}, "drives missing"),
     ("raidz2x6", {"mttr": "9h", "hours": None, "detect": None}, "--mttr"),
     ("raidz2x6", {"method": "simulation"}, "method")],
)  # fmt: skip
def test_what_begins_with_too_many_missing_is_refused(layout: str, more: Any, name: str) -> None:
    gone = {"what": "drive", "drive": "sdc", "missing": "FAULTED"}
    with pytest.raises(InputError, match=name):
        risk({"layout": layout, "evidence": [gone]}, replace(FIXED, **more))


@pytest.mark.parametrize(("tolerance", "left"), [(1, 0), (2, 1), (3, 2)])
@pytest.mark.parametrize("correlation", [1.0, 6.0])
def test_one_repair_is_the_window_of_that_repair(tolerance: int, left: int, correlation: float) -> None:
    group = Group(children=11, tolerance=tolerance)
    world = one_world(
        RATE, 30 * HOUR, delay=12 * HOUR, correlation=correlation, latent=1e-9, removal=1e6, tripping=0.3
    )
    found, expected = chances(group, [(42, left)], world), in_window(group, world)
    assert found.vdev[0] == pytest.approx(expected.vdev[0], rel=1e-6, abs=0)
    # A latent error counts wherever the last redundancy goes, later ones with what is not repaired yet.
    assert expected.files[0] <= found.files[0] * (1 + 1e-9)
    assert found.files[0] < 2.5 * expected.files[0]
    if tolerance == 1:
        assert found.files[0] == pytest.approx(expected.files[0], rel=1e-6, abs=0)


def test_further_drives_come_back_in_long_plans() -> None:
    group, world = Group(children=12, tolerance=2), one_world(RATE, 40 * HOUR)
    month, year = (chances(group, [(days * 24, 1)], world).vdev[0] for days in (30, 365))
    assert year == pytest.approx(12.2 * month, rel=0.1, abs=0)
    # Rates of two further failures, one on the other within the 40 h that the first is away.
    assert year == pytest.approx(365 * 24 * 40 * 11 * 10 * (RATE * HOUR) ** 2, rel=0.05, abs=0)


def test_a_plan_that_takes_longer_is_more_dangerous_and_nothing_is_ever_zero() -> None:
    group, world = Group(children=6, tolerance=3), one_world(1e-9 / HOUR, 10 * HOUR)
    quick, slow = (chances(group, [(hours, 2)], world).vdev[0] for hours in (5, 10))
    assert 0 < quick < slow < 1e-20


def test_vdevs_of_a_plan_add_up() -> None:
    group, world = Group(children=10, tolerance=1), one_world(RATE, 24 * HOUR)
    one = VdevStory(group, 1, (RedundancyStretch(24 * HOUR, 0),))
    both, alone = (story_loss([one] * count, world, ONE).vdev[0] for count in (2, 1))
    assert both == pytest.approx(1 - (1 - alone) ** 2, rel=1e-12)


class FakeTimeline:
    """A raidz1x10 without redundancy for 24 h."""

    title, stays_whole = "a drive fails", False

    def __init__(self, whole: float | None = 24 * HOUR) -> None:
        self.whole_s = {"p10": whole, "p50": whole, "p90": whole}
        self.redundancy = (Level("raidz1-0", 0.0, 24 * HOUR, 0), Level("raidz1-0", 24 * HOUR, 24 * HOUR, 1))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> FakeTimeline:
    found = FakeTimeline()
    monkeypatch.setattr(risks, "timeline", lambda plan, on_progress=None: found)
    return found


PLAN = {
    "scenario": {"layout": "raidz1x10"},
    "events": [{"do": "fail", "drive": 0}, {"do": "replace", "drive": 0}],
}


def test_of_a_plan_the_window_is_its_time(told: FakeTimeline) -> None:
    inputs = RiskInputs(afr=0.05, correlation=1, latent=False, detect=0.0)
    found = risk(Plan.from_dict(PLAN), inputs, hours_of=lambda scenario, report: Quantiles(p50=24 * HOUR))
    assert found.window_of == "plan"
    assert found.window.vdev.p == pytest.approx(0.0012631, rel=1e-4)
    assert str(found).startswith("Chance of losing a vdev during this plan: 1 in 792.")
    assert found.subject.startswith("a drive fails: whole after 1 d; raidz1x10")


def test_a_plan_that_is_never_whole_is_refused(told: FakeTimeline) -> None:
    told.whole_s = dict.fromkeys(told.whole_s)
    with pytest.raises(Exception, match="leaves the pool without its redundancy"):
        risk(Plan.from_dict(PLAN), hours_of=lambda scenario, report: Quantiles(p50=24 * HOUR))


@pytest.mark.parametrize(
    ("flags", "field"),
    [("--plan replace-one --hours 24", "--hours"), ("--plan no-such", "procedure"),
     ("--plan replace-one --replace 2", "replace"), ("--plan replace-one --method simulation", "method"),
     ("--plan nothing.toml", "plan")],
)  # fmt: skip
def test_bad_input_is_one_sentence(flags: str, field: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(f"risk --layout raidz1x4 {flags}")) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"zsim: {field} ")
    assert len(told.err.splitlines()) == 1


@pytest.mark.parametrize(("release", "endless"), [
    ("freebsd-9.1", True), ("0.6.5.11", True), ("0.7.13", True), ("0.8.6", True), ("2.0.7", False),
    ("2.1.5", False), ("2.4.4", False),
])  # fmt: skip
def test_an_unreadable_block_keeps_a_resilver_from_ending_up_to_0_8(release: str, endless: bool) -> None:
    assert is_endless(load_release(release)) == endless


def test_a_plan_in_which_nothing_is_missing_lasts_as_long_as_its_scrub(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three of six drives within ten hours; the pool is whole after 0 s, which is no length of anything."""
    known = KnownPasses(hours=20.0)
    monkeypatch.setattr(timelines, "Passes", lambda: known)
    pool = {"layout": "raidz2x6", "drive_size": "4TB", "fill": 0.5}
    plan = Plan.from_dict({"scenario": pool, "events": [{"do": "scrub"}]})
    inputs = RiskInputs(afr=0.05, correlation=1.0, latent=False, detect=0.0)
    found = risk(plan, inputs, hours_of=lambda _pool, _report: Quantiles(p50=20 * HOUR))
    assert "whole all the time, over after 10 h" in found.subject
    rate = -math.log(0.95) / 8766
    assert found.window.vdev.p == pytest.approx(20 * (10 * rate) ** 3, rel=0.01)
    nothing = Plan.from_dict({"scenario": pool, "events": [{"do": "set", "set": {"fill": 0.6}}]})
    with pytest.raises(InputError, match="nothing in it takes time"):
        risk(nothing, inputs, hours_of=lambda _pool, _report: Quantiles(p50=20 * HOUR))


@pytest.mark.parametrize(("discipline", "factor"), [("apart", 0.5), ("restart", 1.0)])
def test_a_failure_that_starts_the_resilver_anew_leaves_the_others_missing_for_all_of_it(
    discipline: Any, factor: float
) -> None:
    """Two of eleven missing: a third fails at some moment, the fourth then or in all of the new pass."""
    group, world = Group(children=11, tolerance=3, discipline=discipline), one_world(RATE, 36 * HOUR)
    found = degraded_loss(group, world, 2).vdev[0]
    assert found == pytest.approx(factor * 9 * 8 * (RATE * 36 * HOUR) ** 2, rel=2e-3)
    assert degraded_loss(group, world, 3).vdev[0] == pytest.approx(8 * RATE * 36 * HOUR, rel=1e-3)


def test_a_drive_that_works_while_it_is_replaced_costs_no_redundancy() -> None:
    """Two of ten have to fail within the day: half of ten times nine, and not one of nine."""
    pool = {"layout": "raidz1x10", "old_drive": "online"}
    found = risk(pool, RiskInputs(hours=24 * HOUR, afr=0.05, correlation=1.0, latent=False, detect=12 * HOUR))
    expected = 45 * (24 * -math.log(0.95) / 8766) ** 2
    assert found.window.vdev.p == pytest.approx(expected, rel=2e-3)
    assert any("no redundancy is missing as long as it does" in each for each in found.warnings)
    gone = risk({**pool, "old_drive": "missing"}, FIXED)
    assert found.per_year.vdev.p > gone.per_year.vdev.p, "a year is about drives that fail, found 12 h later"


def test_a_plan_says_where_further_failures_make_it_longer(told: FakeTimeline) -> None:
    told.redundancy = (Level("raidz2-0", 0.0, 24 * HOUR, 1),)
    for release, said in (("zol-0.7", True), ("openzfs-2.3", False)):
        plan = Plan.from_dict({**PLAN, "scenario": {"layout": "raidz2x10", "release": release}})
        found = risk(plan, RiskInputs(afr=0.05), hours_of=lambda _pool, _report: Quantiles(p50=24 * HOUR))
        assert any("restarts the resilver" in each for each in found.warnings) == said


@pytest.mark.parametrize(("operation", "layout"), [("expand", "raidz2x6"), ("remove", "2*mirror2")])
def test_what_repairs_nothing_gives_no_time_of_repairs(operation: str, layout: str) -> None:
    """The days of an expansion stood for those in which a failed drive is missing, in a year as in many."""
    with pytest.raises(InputError, match=f"operation '{operation}' .* repairs no missing drive; .*--plan"):
        risk({"layout": layout, "operation": operation}, FIXED)


def test_a_scrub_is_a_window_of_its_own_and_repairs_take_what_is_stated(told: FakeTimeline) -> None:
    told.redundancy = (Level("mirror-0", 0.0, 24 * HOUR, 1),)
    found = risk({"layout": "mirror2", "operation": "scrub"}, FIXED)
    assert found.window_of == "scrub"
    assert 0.0 < found.window.vdev.p < found.per_year.vdev.p


RUNNING = {"drives": [0], "done": 0.3, "left": [20 * HOUR, 30 * HOUR, 40 * HOUR], "elapsed": 12 * HOUR}


def test_of_a_repair_that_runs_the_window_is_what_is_left_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timelines, "Passes", KnownPasses)
    fields = {"scenario": {"layout": "raidz2x8"}, "running": {**RUNNING, "left": [30 * HOUR] * 3}}
    plan = Plan.from_dict(fields)
    hours = Quantiles(p50=50 * HOUR)
    for correlation in (1.0, 6.0):
        inputs = RiskInputs(afr=0.05, correlation=correlation, latent=False, detect=0.0)
        rest = risk(plan, inputs, hours_of=lambda scenario, report: hours)
        alone = risk({"layout": "raidz2x8"}, replace(inputs, hours=30 * HOUR))
        assert rest.window_of == "rest"
        # The drive that is gone tells something of the others, as one that fails in the plan does.
        assert rest.window.vdev.p == pytest.approx(alone.window.vdev.p, rel=0.02)
        whole = risk({"layout": "raidz2x8"}, replace(inputs, hours=50 * HOUR))
        assert rest.per_year == whole.per_year, "later failures have a whole repair before them"
    assert rest.subject.startswith("1 d 6 h are left of the resilver that runs, as zsim eta estimates; ")
    assert "a whole repair 2 d 2 h" in rest.subject
    assert str(rest).startswith("Chance of losing a vdev before this repair ends: ")
    assert rest.warnings == ()
    spread = Quantiles(p10=10 * HOUR, p50=15 * HOUR, p90=29 * HOUR)
    slow = risk(plan, inputs, hours_of=lambda *_: spread).warnings
    assert any("nine in ten such repairs: later ones are counted with 15 h" in each for each in slow)
    events = [{"do": "fail", "drive": 3, "at": "10h"}, {"do": "replace", "drive": 3}]
    more = risk(Plan.from_dict({**fields, "events": events}), inputs, hours_of=lambda *_: hours)
    assert more.window_of == "plan"


def test_what_is_gone_beside_a_repair_that_runs_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timelines, "Passes", KnownPasses)
    inputs = RiskInputs(afr=0.05, correlation=6, latent=False, detect=0.0)

    def chance(layout: str, evidence: list[dict[str, object]] | None = None, **more: object) -> float:
        scenario = {"layout": layout, **({"evidence": evidence} if evidence else {})}
        plan = Plan.from_dict({"scenario": scenario, "running": {**RUNNING, **more}})
        return risk(plan, inputs, hours_of=lambda *_: Quantiles(p50=50 * HOUR)).window.vdev.p

    gone = {"what": "drive", "drive": "sdz", "missing": "FAULTED", "leaf": 9}
    one = chance("2*raidz2x8")
    assert chance("2*raidz2x8", missing=1) > 30 * one
    # Of the other vdev nothing replaces it: what is left of this repair is asked all the same.
    assert chance("2*raidz2x8", [gone]) == pytest.approx(2 * one, rel=0.02)


def test_a_vdev_is_told_by_the_name_that_its_status_has() -> None:
    pool = {"scenario": {"layout": "2*raidz2x8"}, "vdev_names": ["raidz2-1", "raidz2-0"], "running": RUNNING}
    names, numbers = Plan.from_dict(pool), Plan.from_dict({**pool, "vdev_names": []})
    assert [_is_of("raidz2-1", number, names) for number in (0, 1)] == [True, False]
    assert [_is_of("raidz2-1", number, numbers) for number in (0, 1)] == [False, True]
