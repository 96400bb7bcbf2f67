"""States of the chain of a vdev, what leads from one to another, and stretches of a plan, by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.planning.risk import api
from zsim.planning.risk.one_vdev.chain import (
    MOST_STAGES,
    ChainCase,
    _advanced,
    _with_repairs,
    in_window,
    mean_time_to_loss,
)
from zsim.planning.risk.one_vdev.group import HOUR, YEAR, Group, Repair, one_world
from zsim.planning.risk.one_vdev.solve import chance_by, first_end, mean_time, transitions
from zsim.planning.risk.question import RiskInputs, unknowns
from zsim.planning.risk.reliability import Spread
from zsim.planning.risk.story import RedundancyStretch, VdevStory, _rates, _trip, stories_of, story_loss
from zsim.planning.risk.warnings import warnings
from zsim.planning.timeline.plan import Plan
from zsim.planning.timeline.redundancy import Level
from zsim.prediction.answer.records import Quantiles

DAY = 24 * HOUR
RATE = 0.05 / YEAR
ONE = np.ones(1)


def case(share: float = 0.0, tripping: float = 0.0, **group: Any) -> ChainCase:
    made = Group(**{"children": 6, "tolerance": 3, **group})
    world = one_world(RATE, DAY, tripping=tripping)
    costs = tuple(np.array([0.1 * (later + 1)]) for later in range(made.tolerance))
    return ChainCase(made, world, ONE, np.array([share]), costs)


def after(known: ChainCase, state: Any) -> list[tuple[Any, float, float]]:
    return [(to, pytest.approx(float(share[0])), float(cost[0])) for to, share, cost in known.after(state)]


def test_a_failure_adds_a_batch_and_zed_may_add_a_second_drive_to_it() -> None:
    """A tenth of five others would be faulted each: 1 - 0.9**5; none that the vdev cannot do without."""
    first, both = after(case(0.2, 0.5), ())
    more = 1 - 0.9**5
    assert (first[0], both[0]) == (((0, 1),), ((0, 2),))
    assert (first[1], both[1]) == (1 - more, more)
    assert (first[2], both[2]) == (0.0, 0.0), "there is redundancy left"
    # With one missing: two go at once to the end of the redundancy, which costs what is damaged.
    second, last = after(case(0.2, 0.5), ((1, 1),))
    assert (second[0], second[2]) == (((0, 1), (1, 1)), 0.0)
    assert (last[0], last[2]) == (((0, 2), (1, 1)), 0.2), "of two batches: the second cost"
    (third,) = after(case(0.2, 0.5), ((0, 1), (1, 1)))
    assert third == (((0, 1), (0, 1), (1, 1)), 1.0, pytest.approx(0.3))


def test_repairs_without_memory_are_apart_even_of_drives_that_went_together() -> None:
    (_, both) = after(case(0.2, 0.5, repair=Repair(minimum=0.0)), ())
    assert both[0] == ((0, 1), (0, 1))


def test_where_repairs_begin_anew_all_are_one_batch() -> None:
    known = case(0.2, 0.5, discipline="restart")
    assert [each[0] for each in after(known, ((2, 1),))] == [((0, 2),), ((0, 3),)]


def test_repairs_advance_stage_by_stage_each_for_itself_or_the_first_alone() -> None:
    apart, serial = Group(children=6, tolerance=3), Group(children=6, tolerance=3, discipline="serial")
    state = ((0, 1), (0, 1), (2, 2))
    assert sorted(_advanced(apart, state, 3)) == [(((0, 1), (0, 1)), 1), (((0, 1), (1, 1), (2, 2)), 2)]
    assert list(_advanced(serial, state, 3)) == [(((0, 1), (0, 1)), 1)]
    assert list(_advanced(serial, (), 3)) == []
    assert list(_advanced(apart, ((0, 1),), 1)) == [((), 1)]


def test_a_fixed_time_is_a_row_of_stages_with_its_mean() -> None:
    """A mirror: five stages less one drive that may go are four, each a quarter of a day."""
    mirror = case(children=2, tolerance=1)
    rates = _with_repairs(ChainCase(mirror.group, mirror.worlds, ONE, np.zeros(1), (np.zeros(1),)))[0]
    stages = MOST_STAGES - 1
    assert rates.shape == (1 + stages, 2 + stages)
    assert rates[0, 1] == pytest.approx(2 * RATE)
    for stage in range(1, stages):
        assert rates[stage, stage + 1] == pytest.approx(stages / DAY)
        assert rates[stage, -1] == pytest.approx(RATE), "the other one is lost"
    assert rates[stages, 0] == pytest.approx(stages / DAY)


def test_the_last_redundancy_costs_files_with_the_share_of_the_damaged() -> None:
    known = case(children=2, tolerance=1)
    rates = _with_repairs(ChainCase(known.group, known.worlds, ONE, np.zeros(1), (np.array([0.25]),)))[0]
    assert (rates[0, 1], rates[0, -1]) == pytest.approx((1.5 * RATE, 0.5 * RATE))


# --- solvers


def test_two_states_and_an_end_in_closed_form() -> None:
    """From a to b and back at 2 and 1 a second, from b to the end at 3: eigenvalues 3 +- sqrt(3)."""
    rates = np.array([[[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]])
    root = math.sqrt(3)
    moment = 0.7

    def staying(first: float) -> float:
        # Survival from a: (s1 exp(s2 t) - s2 exp(s1 t)) / (s1 - s2) with the eigenvalues -3 +- sqrt(3).
        return ((3 + root) * math.exp(-(3 - root) * first) - (3 - root) * math.exp(-(3 + root) * first)) / (
            2 * root
        )

    assert chance_by(rates, moment)[0, 0] == pytest.approx(1 - staying(moment))
    assert mean_time(rates)[0] == pytest.approx((2 + 1 + 3) / (2 * 3))
    whole = transitions(rates, moment)[0]
    assert whole.sum(axis=1) == pytest.approx([1, 1, 1])
    assert whole[2].tolist() == [0.0, 0.0, 1.0]
    assert transitions(rates, 0.0)[0] == pytest.approx(np.eye(3))
    # A hundred seconds are many steps, after which all are at the end.
    assert chance_by(rates, 100.0)[0] == pytest.approx([1, 1])
    both = transitions(np.concatenate([rates, rates]), np.array([moment, 2 * moment]))
    assert both[1] == pytest.approx(both[0] @ both[0])


def test_of_several_ends_each_has_its_chance() -> None:
    """From a to b at 2 and to the first end at 2; from b back at 1, to the second end at 3."""
    rates = np.array([[[0.0, 2.0, 2.0, 0.0], [1.0, 0.0, 0.0, 3.0]]])
    # x = 1/2 + 1/2 * (1/4) x.
    assert first_end(rates)[0] == pytest.approx([4 / 7, 3 / 7])


@pytest.mark.parametrize("tolerance", [1, 2])
def test_a_window_of_repairs_without_memory_ends_when_all_are_back(tolerance: int) -> None:
    """Of a mirror: lost with rate / (rate + 1 / day); of three the second failure has to come first."""
    group = Group(children=tolerance + 1, tolerance=tolerance, repair=Repair(minimum=0.0))
    found = in_window(group, one_world(1.0 / DAY, DAY)).vdev[0]
    # Rates alike: of one missing, lost (or a second gone) with k others to one repair.
    if tolerance == 1:
        assert found == pytest.approx(1 / 2)
    else:
        # x1 = 2/3 x2, x2 = 1/3 + 2/3 x1.
        assert found == pytest.approx((2 / 3 * 1 / 3) / (1 - 4 / 9))


def test_the_mean_time_to_loss_of_a_mirror() -> None:
    """1 / (2 lambda) each time, of which a share lambda / (lambda + mu) goes on to loss."""
    group, rate = Group(children=2, tolerance=1, repair=Repair(minimum=0.0)), 1.0 / (10 * DAY)
    found = mean_time_to_loss(group, one_world(rate, DAY))[0]
    assert found / DAY == pytest.approx((3 * 0.1 + 1) / (2 * 0.1**2))


# --- plans


def test_a_stretch_without_redundancy_or_with_some_has_its_rates() -> None:
    """Of six drives of which three may go one may yet: four are left, then three."""
    known = case()
    rates = _rates(known.group, known, 1, np.array([0.25]), 1.0 / DAY)[0]
    assert rates.shape == (2, 3)
    # From none to one further: the last redundancy, which costs a quarter at once.
    assert (rates[0, 1], rates[0, 2]) == pytest.approx((0.75 * 4 * RATE, 0.25 * 4 * RATE))
    assert (rates[1, 0], rates[1, 2]) == pytest.approx((1.0 / DAY, 3 * RATE))
    none = _rates(known.group, known, 0, np.array([0.25]), 0.0)[0]
    assert none.tolist() == [[0.0, pytest.approx(3 * RATE)]]


def test_a_failure_may_trip_another_where_one_may_go() -> None:
    """Three may go of six: with none missing a failure takes two with 1 - 0.9**5."""
    known = case(0.2, 0.5)
    rates = _rates(known.group, known, 3, np.zeros(1), 2.0 / DAY)[0]
    more = 1 - 0.9**5
    assert (rates[0, 1], rates[0, 2]) == pytest.approx((6 * RATE * (1 - more), 6 * RATE * more))
    assert (rates[1, 0], rates[2, 1], rates[3, 2]) == pytest.approx((2 / DAY, 4 / DAY, 6 / DAY))
    # Two missing: the third is needed, so none is tripped; three missing: a failure is loss.
    assert (rates[2, 3], rates[2, 4], rates[3, 4]) == pytest.approx((4 * RATE, 0.0, 3 * RATE))


def test_a_repair_that_begins_lets_zed_fault_what_it_reads() -> None:
    known = case(0.2, 0.5)
    further = np.array([[0.6, 0.4, 0.0, 0.0]])
    _trip(known.group, known, further, 0)
    none, one = 1 - 0.9**5, 1 - 0.9**4
    assert further[0] == pytest.approx([0.6 * (1 - none), 0.4 * (1 - one) + 0.6 * none, 0.4 * one, 0.0])


def test_a_plan_counts_its_own_failures_and_its_stretches() -> None:
    plan = Plan.from_dict({"scenario": {"layout": "raidz2x6+mirror2"}, "events": [
        {"do": "fail", "drives": [0, 1]}, {"do": "fail", "drive": 2}, {"do": "fail", "vdev": 1, "drive": 0},
        {"do": "replace", "drive": 0},
    ]})  # fmt: skip
    told: Any = SimpleNamespace(whole_s={"p50": DAY}, redundancy=(
        Level("raidz2-0", 0.0, 5.0, 2), Level("raidz2-0", 5.0, 5.0, 1), Level("raidz2-0", 5.0, 9.0, 0),
        Level("mirror-1", 0.0, 9.0, 4),
    ))  # fmt: skip
    groups = {0: Group(children=6, tolerance=2), 1: Group(children=2, tolerance=1)}
    first, second = stories_of(plan, told, groups)
    assert (first.failures, second.failures) == (3, 1)
    assert first.stretches == (RedundancyStretch(5.0, 2), RedundancyStretch(4.0, 0))
    assert second.stretches == (RedundancyStretch(9.0, 1),), "no more than its parity"
    told.whole_s["p50"] = None
    with pytest.raises(InputError, match="leaves the pool without its redundancy"):
        stories_of(plan, told, groups)


def test_a_plan_that_takes_twice_as_long_is_twice_as_dangerous() -> None:
    story = [VdevStory(Group(children=6, tolerance=1), 1, (RedundancyStretch(DAY, 0),))]
    world = one_world(1e-9, DAY)
    once, twice = (story_loss(story, world, pace * ONE).vdev[0] for pace in (1.0, 2.0))
    assert once == pytest.approx(1 - math.exp(-5 * 1e-9 * DAY))
    assert twice == pytest.approx(1 - math.exp(-10 * 1e-9 * DAY))


def lasting(low: float, middle: float, high: float | None) -> Any:
    return SimpleNamespace(whole_s={"p10": low, "p50": middle, "p90": high}, stays_whole=False)


def test_the_pace_of_a_plan_is_its_interval_over_its_median() -> None:
    told = api.PlannedRepair(lasting(5.0, 10.0, 40.0), ())
    assert (told.pace.low, told.pace.middle, told.pace.high) == (0.5, 1.0, 4.0)
    never = api.PlannedRepair(lasting(5.0, 10.0, None), ())
    assert never.pace.high == math.inf


# --- the question


def test_releases_that_begin_anew_do_so_and_papers_repair_one_after_the_other() -> None:
    old, new = (
        resolve({"layout": "raidz2x6", "release": name}).release for name in ("zol-0.7", "openzfs-2.2")
    )
    assert api._discipline(old, RiskInputs()) == "restart"
    assert api._discipline(new, RiskInputs()) == "apart"
    assert api._discipline(new, RiskInputs(mttr=DAY)) == "serial"


def test_a_rebuild_begins_anew_where_the_next_drive_gets_a_spare_at_once() -> None:
    """Two distributed spares: both are missing until the second pass ends; with one the first goes on."""
    for layout, discipline in (("draid2:4d:14c:2s", "restart"), ("draid2:4d:13c:1s", "apart")):
        case = resolve({"layout": layout, "release": "openzfs-2.4"})
        assert api.group_of(case.layout.vdevs[0], case, RiskInputs()).discipline == discipline
    new = resolve({"layout": "draid2:4d:14c:2s", "release": "openzfs-2.4", "target": "new-drive"})
    assert api.group_of(new.layout.vdevs[0], new, RiskInputs()).discipline == "apart"


def test_hours_that_are_stated_are_not_predicted() -> None:
    def never(*_: Any) -> Quantiles:
        raise AssertionError

    scenario: Any = None
    assert api._hours(RiskInputs(hours="5s"), scenario, never, never).p50 == 5.0
    assert api._hours(RiskInputs(mttr="7s"), scenario, never, never).p50 == 7.0
    assert api._hours(RiskInputs(), scenario, never, lambda *_: Quantiles(p50=9.0)).p50 == 9.0


def test_what_was_taken_is_told_in_si() -> None:
    known = unknowns(RiskInputs(scrub=math.inf, afr=0.05, correlation=2.0), Spread(2.0, 1.0, 3.0), None)
    taken = api._taken(known, 7, Group(children=6, tolerance=2))
    assert (taken["hours"], taken["removal"]) == ({"p10": 1.0, "p50": 2.0, "p90": 3.0}, "never")
    assert (taken["worlds"], taken["drives"], taken["tolerance"], taken["discipline"]) == (7, 6, 2, "apart")
    often = unknowns(RiskInputs(scrub=DAY), Spread.exactly(1.0), None)
    assert api._taken(often, 1, Group(children=6, tolerance=2))["removal"] == DAY / 2


def test_the_subject_names_the_pool_and_how_long_its_repair_takes() -> None:
    known = resolve({"layout": "raidz2x6", "fill": 0.6, "release": "openzfs-2.2"})
    assert (
        api._subject(known, Quantiles(p50=DAY), None)
        == f"raidz2x6, 60 % full, {known.release.name}, repair 1 d"
    )
    open_ = resolve({"layout": "raidz2x6"})
    assert "% full (assumed)," in api._subject(open_, Quantiles(p50=DAY), None)
    timeline: Any = lasting(HOUR, DAY, 2 * DAY)
    timeline.title = "a plan"
    told = api.PlannedRepair(timeline, ())
    assert api._subject(known, Quantiles(p50=DAY), told).startswith(
        "a plan: whole after 1 d (1 h to 2 d); raidz2x6, "
    )


def test_drives_that_are_missing_in_other_vdevs_are_named() -> None:
    """They were not counted, and nothing of the answer said so."""
    gone: list[dict[str, object]] = [
        {"what": "drive", "drive": "sdb", "leaf": 1, "missing": "FAULTED", "asked": True},
        {"what": "drive", "drive": "sdk", "leaf": 9, "missing": "UNAVAIL"},
    ]
    case = resolve({"layout": "2*raidz2x6", "release": "openzfs-2.3.9", "evidence": gone})
    (told,) = (each for each in warnings(case, RiskInputs()) if "of other vdevs" in each)
    assert told.startswith("sdk of other vdevs is missing too, which is not counted")
    alone = resolve({"layout": "2*raidz2x6", "release": "openzfs-2.3.9", "evidence": gone[:1]})
    assert not any("of other vdevs" in each for each in warnings(alone, RiskInputs()))


@pytest.mark.parametrize(
    ("scenario", "words"),
    [({"layout": "raidz1x6", "release": "zol-0.7"}, "never finishes a resilver"),
     ({"layout": "raidz1x6", "old_drive": "online"}, "no redundancy is missing as long as it does"),
     ({"layout": "draid2:8d:24c:1s"}, "of a dRAID, drives count as missing until")],
)  # fmt: skip
def test_what_the_chance_does_not_hold_is_said_where_it_applies(scenario: dict[str, str], words: str) -> None:
    found = warnings(resolve({"release": "openzfs-2.3.9", **scenario}), RiskInputs())
    assert any(words in each for each in found)
    plain = warnings(resolve({"layout": "raidz1x6", "release": "openzfs-2.3.9"}), RiskInputs())
    assert not any(words in each for each in plain)
    assert not any("never finishes" in each for each in warnings(resolve(scenario), RiskInputs(latent=False)))
