"""What is asked of a risk, and how chances are put together and told, each by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from types import NoneType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.planning.test_pictures import of_risk
from zsim.base.constants import Z90, Z975
from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.planning.risk import api, evaluate, reliability, wording
from zsim.planning.risk.evaluate import (
    Loss,
    any_of,
    draw,
    loss_of,
    movers,
    repeated_windows,
    summed_up,
    worlds_at,
)
from zsim.planning.risk.one_vdev.group import HOUR, YEAR, Group, one_world
from zsim.planning.risk.question import (
    RiskInputs,
    Seconds,
    as_plain,
    assumed_age,
    rate_of_share,
    unknowns,
)
from zsim.planning.risk.records import Grades, Mover, Risk, chance
from zsim.planning.risk.reliability import FLEET_REACH, USUAL_REACH, Spread
from zsim.planning.risk.stated import idle_words, stated_words
from zsim.planning.risk.surface import _powers, _products, _strata
from zsim.planning.risk.warnings import _is_fixed, length_words
from zsim.prediction.answer.records import Quantiles

DAY = 24 * HOUR
MONTH = YEAR / 12
HOURS = Spread.exactly(DAY)


def known(drive: str | None = None, **inputs: Any) -> Any:
    return unknowns(RiskInputs(**inputs), HOURS, drive)


def test_a_share_that_fails_in_a_year_is_a_rate() -> None:
    """Of 5 % a year one lives with exp(-rate * year) = 0.95."""
    assert math.exp(-rate_of_share(0.05) * YEAR) == pytest.approx(0.95)
    for share in (0.0, 1.0, -0.1):
        with pytest.raises(InputError, match="afr"):
            rate_of_share(share)
    assert known(afr=0.05).rate.middle == rate_of_share(0.05)
    assert known(mttf="1000h").rate.middle == pytest.approx(1 / (1000 * HOUR))
    assert known(afr=0.05).rate.is_exact
    assert "afr" not in known(afr=0.05).notes


def test_of_unknown_drives_the_rate_is_that_of_a_fleet_with_its_spread() -> None:
    """1.35 % a year, one model in ten above 5.31 %; below it as far."""
    rate = known().rate
    assert [each * YEAR for each in (rate.low, rate.middle, rate.high)] == pytest.approx(
        [0.0135**2 / 0.0531, 0.0135, 0.0531]
    )
    assert rate.reach == FLEET_REACH
    assert known().notes["afr"].startswith("1.4 % of the drives fail in a year (0.34 to 5.3 %): ")
    assert known().age_factor.is_exact
    assert known().age_factor.middle == 1.0, "the spread of models holds their ages"


def test_of_a_model_the_age_is_open_where_it_is_not_stated() -> None:
    """Drives of one model were counted at whatever age they had: 0.7 to 3 times as much."""
    factor = known(afr="ST16000NM001G").age_factor
    assert (factor.low, factor.middle, factor.high, factor.reach) == (0.7, 1.0, 3.0, Z90)
    assert known(drive="st16000nm001g").age_factor == factor
    assert known(drive="hd103uj").age_factor.is_exact, "a drive of which none were counted"
    assert known(afr="ST16000NM001G", age_factor=2.0).age_factor == Spread.exactly(2.0)
    assert known(afr="ST16000NM001G", shape=1.1).age_factor == Spread.exactly(1.0)
    assert known(afr="ST16000NM001G").notes["age-factor"].startswith("their age makes that 0.7 to 3 times")


def test_correlation_and_latent_errors_are_those_that_were_measured_where_none_are_stated() -> None:
    found = known()
    assert (found.correlation.low, found.correlation.middle, found.correlation.high) == (3.0, 6.0, 10.0)
    assert found.correlation.reach == Z90
    assert known(correlation=4.0).correlation == Spread.exactly(4.0)
    latent = found.latent
    assert [each * MONTH for each in (latent.low, latent.middle, latent.high)] == pytest.approx(
        [0.00059, 0.00266, 0.0083]
    )
    assert known(latent_incidence=0.01).latent == Spread.exactly(0.01 / MONTH)
    assert known(latent=False).latent == Spread.exactly(0.0)
    assert found.notes["correlation"].startswith("a second failure in the vdev is 6 times likelier")
    assert "(3 to 10)" in found.notes["correlation"]
    assert found.notes["latent-incidence"].startswith("0.27 % of the drives get latent errors in a month")
    assert "(0.059 to 0.83 %)" in found.notes["latent-incidence"]


@pytest.mark.parametrize(("spare", "middle", "high"), [("hot", 0.0833, 0.5), ("shelf", 12.0, None)])
def test_where_the_new_drive_comes_from_tells_when_the_repair_begins(
    spare: str, middle: float, high: float | None
) -> None:
    found = known(spare=spare)
    most = (high or reliability.number("delay", f"{spare}_p90")) * HOUR
    assert (found.delay.middle, found.delay.high) == (middle * HOUR, most)
    assert found.delay.low == pytest.approx((middle * HOUR) ** 2 / most)
    assert "spare" not in found.notes
    assert found.notes["detect"].startswith("the repair begins ")


def test_a_cold_spare_is_assumed_and_said_and_papers_begin_at_once() -> None:
    assert known().notes["spare"] == "a cold spare is on the shelf"
    assert known().delay == known(spare="shelf").delay
    assert known(detect=300.0).delay == Spread.exactly(300.0)
    assert known(mttr=DAY).delay == Spread.exactly(0.0)
    assert known(mttr=DAY, detect=60.0).delay == Spread.exactly(60.0)


def test_a_burst_waits_half_an_interval_for_its_scrub_on_average() -> None:
    assert known(scrub=10 * DAY).removal == 5 * DAY
    assert known().removal == 15 * DAY, "a scrub a month is assumed"
    assert known().notes["scrub"].startswith("a scrub every 30 d")
    assert "scrub" not in known(latent=False).notes
    assert math.isinf(known(scrub=math.inf).removal)
    assert known(scrub=math.inf).notes["age"].startswith("never scrubbed in the 2.5 years")
    assert "age" not in known(scrub=math.inf, age=YEAR).notes
    assert "age" not in known(scrub=math.inf, latent=False).notes
    assert assumed_age(RiskInputs(scrub=math.inf)) == 2.5 * YEAR
    assert assumed_age(RiskInputs(scrub=math.inf, age=YEAR)) == YEAR
    assert assumed_age(RiskInputs(scrub=DAY)) == assumed_age(RiskInputs()) == 0.0
    assert as_plain(RiskInputs(scrub=math.inf))["scrub"] == "never"
    assert as_plain(RiskInputs(scrub=DAY))["scrub"] == DAY


def test_without_error_recovery_control_zed_faults_more_drives() -> None:
    assert (known().tripping, known(erc=False).tripping) == (0.3, 0.8)


def test_what_is_not_stated_is_open_in_its_order() -> None:
    assert known().open == ("rate", "correlation", "latent", "delay")
    assert known(afr=0.01, correlation=1.0, latent=False, detect=0.0).open == ()


def test_law_and_method_follow_from_what_is_stated() -> None:
    assert RiskInputs().chosen_law == "frailty"
    assert RiskInputs(mttr=DAY).chosen_law == "successive", "as in the papers"
    assert RiskInputs(mttr=DAY, correlation_law="same").chosen_law == "same"
    assert (RiskInputs().chosen_method, RiskInputs(shape=1.1).chosen_method) == ("chain", "simulation")
    assert RiskInputs(method="simulation").chosen_method == "simulation"


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("hours", 1.0, 100 * YEAR), ("mttf", HOUR, 1e6 * YEAR), ("mttr", 1.0, 100 * YEAR),
     ("correlation", 1.0, 1000.0), ("latent_incidence", 0.0, 1.0), ("scrub", HOUR, math.inf),
     ("detect", 0.0, 10 * YEAR), ("age", 0.0, 100 * YEAR), ("age_factor", 0.01, 100.0), ("shape", 0.3, 10.0),
     ("stress", 1.0, 100.0), ("years", 1e-3, 100.0)],
)  # fmt: skip
def test_numbers_have_ends_and_both_are_allowed(name: str, least: float, most: float) -> None:
    timed = name in ("hours", "mttf", "mttr", "scrub", "detect", "age")

    def given(value: float) -> Any:
        return Seconds(value) if timed else value

    RiskInputs(**{name: given(least)})
    RiskInputs(**{name: given(most)})
    for beyond in (least * 0.999 - 1e-9, most * 1.001):
        if math.isfinite(beyond):
            with pytest.raises(InputError, match=name.replace("_", "-")):
                RiskInputs(**{name: given(beyond)})


@pytest.mark.parametrize(("name", "value", "meant"), [
    ("hours", 24, "24h"), ("hours", 1.5, "1.5h"), ("mttr", np.int64(30), "30h"),
    ("mttf", 1_200_000, "1200000h"), ("scrub", 14, "14d"), ("detect", 12, "12h"), ("age", 3, "1095d"),
])  # fmt: skip
def test_a_number_of_seconds_that_is_meant_otherwise_is_refused(name: str, value: Any, meant: str) -> None:
    """``hours=24`` was a repair of 24 seconds: the chance of loss a thousandth of what it is."""
    with pytest.raises(InputError) as caught:
        RiskInputs(**{name: value})
    assert "a plain number is seconds here" in str(caught.value)
    assert f'write {name}="{meant}", or "{value}s" if it is so short' in str(caught.value)


def test_what_was_read_with_its_unit_may_be_short_and_is_read_again() -> None:
    short = RiskInputs(hours=timedelta(minutes=30), detect="5s")
    assert (short.hours, short.detect) == (1800.0, 5.0)
    assert replace(short, seed=3).hours == 1800.0
    assert all(type(each) in (float, bool, int, NoneType) for each in as_plain(short).values())


@pytest.mark.parametrize("pair", [("hours", "mttr"), ("afr", "mttf"), ("detect", "spare")])
def test_two_ways_to_say_the_same_exclude_each_other(pair: tuple[str, str]) -> None:
    values: dict[str, Any] = {
        "hours": DAY,
        "mttr": DAY,
        "afr": 0.1,
        "mttf": YEAR,
        "detect": 3600.0,
        "spare": "hot",
    }
    with pytest.raises(InputError, match=f"excludes --{pair[0]}"):
        RiskInputs(**{name: values[name] for name in pair})


def test_a_spread_is_log_normal_to_both_sides_and_ends_with_its_reach() -> None:
    one = Spread(10.0, 5.0, 40.0)
    found = one.at(np.array([0.0, Z90, -Z90, 2 * Z90, 0.5 * Z90]))
    usual = USUAL_REACH / Z90
    assert found == pytest.approx([10, 40, 5, 10 * 4**usual, 20])
    assert one.at(9.0) == pytest.approx(10 * 4**usual), "nothing lies beyond the 99th percentile"
    assert Spread(10.0, 5.0, 40.0, reach=Z90).at(9.0) == pytest.approx(40)
    assert Spread.exactly(3.0).at(np.array([-1.0, 2.0])).tolist() == [3.0, 3.0]
    assert Spread(0.0, 0.0, 1.0).at(np.array([1.0])).tolist() == [0.0]
    half = one.scaled(0.5)
    assert (half.middle, half.low, half.high, half.reach) == (5.0, 2.5, 20.0, USUAL_REACH)


def rate(value: float, low: float, high: float) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "source": "counted"}


def test_a_model_has_the_rate_of_its_periods_and_the_wider_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 % and 4 % in two periods: 2 %, from the lower p10 to the higher p90; ends are given at 95 %."""
    entry = {
        "name": "A1",
        "drives": ["a1"],
        "rate_2026q1": rate(1.0, 0.5, 2.0),
        "rate_2024": {**rate(4.0, 2.0, 8.0), "source": "before"},
    }
    never = {"name": "B1", "drives": [], "rate_2026q1": rate(0.0, 0.0, 3.0)}
    monkeypatch.setattr(reliability, "models", lambda: {"A1": entry, "B1": never})
    found = reliability.model_rate("a1")
    share = Z90 / Z975
    assert found.middle == pytest.approx(0.02)
    assert (found.low, found.high) == pytest.approx((0.01 * 0.5**share, 0.04 * 2**share))
    assert found.source.endswith("1: counted"), "the source of the latest"
    # None failed: exponential, of which 2.5 % lie above 3 %; half of it below 3 % * ln 2 / ln 40.
    none = reliability.model_rate("B1")
    assert none.middle == pytest.approx(0.03 * math.log(2) / math.log(40))
    assert none.low == pytest.approx(0.03 * -math.log(0.9) / math.log(40))
    assert none.high == pytest.approx(0.03 * math.log(10) / math.log(40))
    assert reliability.model_of_drive("A1") == "A1"
    assert reliability.model_of_drive("a2") is None
    with pytest.raises(InputError, match="afr"):
        reliability.model_rate("C1")


def test_worlds_lie_at_their_scores_and_a_shared_cause_makes_nothing_rarer() -> None:
    open_ = known(afr="ST16000NM001G", scrub=10 * DAY)
    scores = {"rate": np.array([Z90, 0.0]), "age_factor": np.array([0.0, Z90])}
    found = worlds_at(open_, scores, 2)
    assert found.rate == pytest.approx([open_.rate.high, open_.rate.middle * 3.0])
    assert found.correlation.tolist() == [6.0, 6.0]
    assert (found.removal.tolist(), found.tripping.tolist()) == ([5 * DAY] * 2, [0.3] * 2)
    assert found.hours.tolist() == [DAY, DAY]
    rare = worlds_at(SimpleNamespace(**{name: Spread.exactly(0.5) for name in (
        "rate", "age_factor", "correlation", "hours", "delay", "latent")}, removal=1.0, tripping=0.0), {}, 1)  # type: ignore[arg-type]  # fmt: skip
    assert rare.correlation.tolist() == [1.0]
    assert rare.rate.tolist() == [0.25]


def test_worlds_are_drawn_from_each_part_of_a_law_once() -> None:
    """A Latin hypercube of four: scores at 1/8, 3/8, 5/8 and 7/8 of each input, in orders of their own."""
    drawn = draw(known(), 4, 3)
    expected = evaluate.normal_scores(np.array([0.125, 0.375, 0.625, 0.875]))
    assert set(drawn.scores) == set(known().open)
    for values in drawn.scores.values():
        assert sorted(values) == pytest.approx(sorted(expected))
    assert len(draw(known(afr=0.1, correlation=1.0, latent=False, detect=0.0), 4, 3).worlds) == 1
    assert sorted(_strata(4, 3, "rate")) == [0.125, 0.375, 0.625, 0.875]


def test_the_coefficients_of_a_surface_are_at_most_two_to_three_worlds() -> None:
    """Of two inputs: one, two and three products of no, one and two of them; ten with three."""
    assert _powers(2, 9) == [(), (0,), (1,), (0, 0), (0, 1), (1, 1)]
    assert len(_powers(2, 8)) == 3
    assert len(_powers(2, 15)) == 10
    assert len(_powers(2, 14)) == 6
    assert len(_powers(2, 1)) == 3, "a plane at least"
    found = _products(np.array([[2.0, 3.0]]), [(), (0,), (1, 1), (0, 1)])
    assert found.tolist() == [[1.0, 2.0, 9.0, 6.0]]


def test_a_release_that_begins_anew_after_an_error_has_one_more_window() -> None:
    """A fifth of the drives damaged, three survivors: again with 1 - 0.8**3."""
    world = one_world(1e-9, DAY, latent=0.25 / DAY, removal=DAY)
    found = repeated_windows(Group(children=4, tolerance=1), world)
    assert found.hours[0] == pytest.approx(DAY * (1 + 1 - 0.8**3))
    assert repeated_windows(Group(children=4, tolerance=2), world) is world


def test_chances_of_vdevs_are_those_of_any_and_grades_include_the_ones_after_them() -> None:
    found = any_of([(2, np.array([0.1, 1e-20])), (1, np.array([0.5, 1e-20]))])
    assert found[0] == pytest.approx(1 - 0.9**2 * 0.5)
    assert found[1] == pytest.approx(3e-20, rel=1e-9, abs=0)
    group, world = Group(children=4, tolerance=1), one_world(1e-9, DAY, delay=DAY)
    loss = loss_of(group, world, np.array([0.1]), np.array([0.2]), np.zeros(1))
    assert (loss.files[0], loss.vdev[0]) == (0.2, 0.2)
    assert 0.0 < loss.pool[0] < 0.2
    none = loss_of(group, world, np.array([0.0]), np.array([0.0]), np.zeros(1))
    assert 0.0 < none.vdev[0] < 1e-200, "never nothing"


def test_a_chance_over_worlds_is_mean_and_p5_and_p95_widened_by_the_error() -> None:
    values = np.linspace(0.0, 0.2, 101)
    found = summed_up(values, np.zeros(101))
    assert (found.p, found.low, found.high) == (0.1, 0.01, 0.19)
    # Four worlds alike, each off by a tenth: the mean is by a twentieth.
    wide = summed_up(np.full(4, 0.1), np.full(4, 0.1))
    assert (wide.low, wide.high) == pytest.approx(
        (0.1 * math.exp(-1.96 * 0.05), 0.1 * math.exp(1.96 * 0.05)), abs=6e-4
    )


def test_what_moves_a_chance_is_its_factor_from_p10_to_p90() -> None:
    """A chance of exp(0.5 a - 2 b): from p10 to p90 the scores differ by 2 * 1.2816."""
    random = np.random.default_rng(1)
    scores = {"rate": random.standard_normal(50), "delay": random.standard_normal(50)}
    found = movers(scores, np.exp(-9 + 0.5 * scores["rate"] - 2.0 * scores["delay"]))
    assert [each.field for each in found] == ["delay", "rate"]
    assert [each.factor for each in found] == pytest.approx([math.exp(-4 * Z90), math.exp(Z90)], rel=0.02)
    assert movers({}, np.ones(3)) == ()


def test_bytes_lost_are_those_of_the_pool_of_half_a_vdev_or_of_some_records() -> None:
    """Per TB: all of it with the pool, of two vdevs a quarter with one; ten records of 128 KiB a burst."""
    case = resolve({"layout": "2*mirror2", "drive_size": 10**12, "fill": 0.5, "recordsize": 131072})
    year = Loss(*(np.array([each]) for each in (0.3, 0.1, 0.02)), np.zeros(1))
    data = case.pool_size * 0.5
    expected = 1e12 * (0.02 + 0.08 / 4) + 0.2 * 10 * 131072 / (data / 1e12)
    assert api.bytes_lost(year, case)[0] == pytest.approx(expected)
    assert data == pytest.approx(1e12, rel=0.1)


def test_the_length_of_a_repair_is_a_range_where_it_is_one() -> None:
    assert length_words(Quantiles(p10=HOUR, p50=2 * HOUR, p90=3 * HOUR)) == "2 h (1 h to 3 h)"
    assert length_words(Quantiles(p50=2 * HOUR)) == "2 h"
    assert length_words(Quantiles(p10=2 * HOUR, p50=2 * HOUR, p90=2 * HOUR)) == "2 h"


@pytest.mark.parametrize(
    ("version", "is_fixed"),
    [("2.2.9", False), ("2.2.10", True), ("2.3.6", False), ("2.3.7", True), ("2.1.15", False),
     ("2.4.0", True), ("0.8.6", False), ("2.3.10", True)],
)  # fmt: skip
def test_a_patch_level_has_a_repair_of_its_own_series_or_of_an_older_one(
    version: str, is_fixed: bool
) -> None:
    assert _is_fixed(version, ["2.2.10", "2.3.7"]) == is_fixed


def test_what_cannot_be_asked_is_refused() -> None:
    api._refuse(resolve({"layout": "mirror8"}))
    for wrong in ({"layout": "mirror9"}, {"layout": "mirror2", "operation": "scrub"}):
        with pytest.raises(InputError):
            api._refuse(resolve(wrong))


def test_what_is_stated_and_changes_nothing_says_why() -> None:
    without = "latent errors are not counted"
    idle = "which changes nothing"
    assert idle_words(RiskInputs(latent=False, latent_incidence=0.01)) == (
        f"latent errors on 1 % of the drives a month ({idle}: {without})",
    )
    assert idle_words(RiskInputs(correlation=1.0, correlation_law="same"))[0].endswith("are independent)")
    assert idle_words(RiskInputs(latent=False, scrub="30d"))[0].startswith("a scrub every 30 d (")
    for counts in ({"scrub": "never"}, {"shape": 1.12}):
        assert idle_words(RiskInputs(age=4 * YEAR))
        assert not idle_words(RiskInputs(age=4 * YEAR, **counts))


def test_beside_a_mean_time_to_repair_a_spare_that_is_stated_takes_its_time() -> None:
    assert unknowns(RiskInputs(mttr="24h"), Spread.exactly(1.0), None).delay.middle == 0.0
    stated = unknowns(RiskInputs(mttr="24h", spare="order"), Spread.exactly(1.0), None)
    assert stated.delay == unknowns(RiskInputs(spare="order"), Spread.exactly(1.0), None).delay
    with pytest.raises(InputError, match="--mttr '1 d' cannot be used: it excludes --hours"):
        RiskInputs(hours="24h", mttr="24h")


def test_a_spare_takes_over_by_itself_unless_it_is_stated_otherwise() -> None:
    assert RiskInputs().with_spares(1).spare == "hot"
    assert RiskInputs().with_spares(0).spare is None
    for stated in ({"detect": "3s"}, {"spare": "order"}, {"mttr": DAY}):
        inputs = RiskInputs(**stated)  # type: ignore[arg-type]
        assert inputs.with_spares(1) is inputs


def test_hot_spares_of_the_layout_take_over_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    def spare_of(layout: str, **stated: Any) -> str | None:
        seen: list[str | None] = []

        def caught(asked: RiskInputs, *_: Any) -> None:
            seen.append(asked.spare)
            raise LookupError

        monkeypatch.setattr(api, "unknowns", caught)
        with pytest.raises(LookupError):
            api.risk({"layout": layout, "drive_size": "4TB"}, RiskInputs(hours=DAY, **stated))
        return seen[0]

    assert spare_of("2*raidz2x6+spare:1") == "hot"
    assert spare_of("2*raidz2x6+spare:1", spare="shelf") == "shelf"
    assert spare_of("2*raidz2x6") is None


def test_vdevs_alike_are_one_group_with_their_count() -> None:
    found = api.groups(resolve({"layout": "raidz2x6+mirror2+2*raidz2x6"}), RiskInputs(stress=2.0, age=YEAR))
    assert [(count, each.children, each.tolerance) for count, each in found] == [(3, 6, 2), (1, 2, 1)]
    assert (found[0][1].stress, found[0][1].age, found[0][1].repair.is_fixed) == (2.0, YEAR, True)
    (_, papers), *_ = api.groups(resolve({"layout": "raidz2x6"}), RiskInputs(mttr=DAY))
    assert (papers.discipline, papers.correlation_law, papers.repair.minimum) == ("serial", "successive", 0.0)
    (_, stated), *_ = api.groups(resolve({"layout": "raidz2x6"}), RiskInputs(mttr=DAY, discipline="apart"))
    assert stated.discipline == "apart"


@pytest.mark.parametrize(
    ("value", "digits", "told"),
    [(0.095, 1, "9.5 %"), (0.0949, 1, "1 in 10"), (0.0949, 2, "1 in 11"), (0.12345, 3, "12.3 %"),
     (1e-6, 1, "1 in 1 million"), (1.1e-6, 1, "1 in 900,000"), (1e-9, 1, "1 in 1 billion"),
     (2.1e-9, 1, "1 in 500 million"), (1e-12, 1, "1 in 1 trillion"), (1.1e-15, 1, "1 in 900 trillion"),
     (0.0, 1, "too small to tell"), (9e-16, 1, "1 in 10^15"), (1.0, 1, "100 %"),
     (4.44e-8, 2, "1 in 23 million")],
)  # fmt: skip
def test_odds_have_names_up_to_a_thousand_trillion(value: float, digits: int, told: str) -> None:
    assert wording.odds(value, digits) == told


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [(0.0400, 0.0450, "1 in 25 to 1 in 22"), (0.03, 0.05, "1 in 30 to 1 in 20"),
     (0.04, 0.095, "4 % to 9.5 %"), (0.001, 0.2, "0.1 % to 20 %"), (0.0009, 0.2, "1 in 1,000 to 20 %"),
     (0.2, 0.4, "20 % to 40 %"), (0.0101, 0.0103, "1 in 99 to 1 in 97"),
     (0.0331, 0.0334, "1 in 30"),
     (0.02, 0.024, "1 in 50 to 1 in 40")],
)  # fmt: skip
def test_both_ends_of_a_range_are_told_alike_and_with_digits_where_it_is_narrow(
    low: float, high: float, told: str
) -> None:
    assert wording.between(chance((low + high) / 2, low, high)) == told


def grades(p: float, wide: float) -> Grades:
    found = [chance(share * p, share * p / wide, share * p * wide) for share in (4.0, 2.0, 1.0)]
    return Grades(files=found[0], vdev=found[1], pool=found[2])


def answer(wide: float = 2.5, **changes: Any) -> Risk:
    made: dict[str, Any] = {
        "subject": "a pool", "method": "chain", "window": grades(1e-4, wide), "per_year": grades(1e-3, wide),
        "years": grades(1e-2, wide), "horizon_years": 5.0,
        "bytes_lost_per_tb_year": chance(2e6, 2e6 / wide, 2e6 * wide), "repair_s": Quantiles(p50=DAY),
        "missing_s": 36 * HOUR, "inputs": {},
    }  # fmt: skip
    return Risk(**{**made, **changes})


def titled(found: Risk) -> dict[str, Any]:
    return {each.title: each for each in wording.sections(found)}


def test_the_answer_is_told_block_by_block() -> None:
    found = answer(
        stated=("repair 24 h", "no ERC"),
        warnings=("look out",),
        movers=(Mover(field="rate", factor=4.0), Mover(field="delay", factor=0.25),
                Mover(field="hours", factor=1.09), Mover(field="latent", factor=1.1)),
    )  # fmt: skip
    assert wording.headline(found) == (
        "Chance of losing the vdev during this repair: 1 in 10,000 to 1 in 2,000 (on average 1 in 5,000)."
    )
    blocks = titled(found)
    assert list(blocks) == [
        "", "Warnings", "How likely", "On average", "Data", "Main sources of uncertainty", "Not counted",
    ]  # fmt: skip
    assert blocks[""].sentences == (
        "a pool; a failed drive is missing for 1 d 12 h on average.", "Stated: repair 24 h; no ERC.",
    )  # fmt: skip
    assert blocks["How likely"].grid.head == ("", "during this repair", "within a year", "within 5 years")
    assert blocks["How likely"].grid.rows[0] == (
        "some files lost", "1 in 6,000 to 1 in 1,000", "1 in 600 to 1 in 100", "2 % to 10 %",
    )  # fmt: skip
    assert blocks["On average"].grid.rows == (
        ("some files lost", "1 in 2,500", "1 in 250", "1 in 25"),
        ("vdev suspended", "1 in 5,000", "1 in 500", "1 in 50"),
        ("pool lost", "1 in 10,000", "1 in 1,000", "1 in 100"),
    )
    assert blocks["Data"].sentences == (
        "Expected loss: 800 kB to 5 MB a year per TB of data (on average 2 MB).",
    )  # fmt: skip
    rows = blocks["Main sources of uncertainty"].grid
    assert [row[:2] for row in rows.rows] == [
        ("how often the drives fail", "x 4"), ("how soon the repair begins", "x 4"),
        ("how many drives get latent errors", "x 1.1"),
    ]  # fmt: skip
    assert rows.numeric == frozenset({1})


def test_an_exact_answer_has_no_averages_and_a_plan_speaks_of_any_vdev() -> None:
    found = answer(1.0, window_of="plan")
    assert wording.headline(found) == "Chance of losing a vdev during this plan: 1 in 5,000."
    blocks = titled(found)
    assert "On average" not in blocks
    assert blocks["How likely"].sentences == ()
    assert blocks["Data"].sentences == ("Expected loss: 2 MB a year per TB of data.",)
    assert wording.mover_row(Mover(field="hours", factor=2.0), "plan")[2] == "state more of the pool"
    assert wording.mover_row(Mover(field="hours", factor=2.0), "repair")[2].endswith("--hours 24")
    half_open = answer(1.0, years=grades(1e-2, 3.0))
    assert "On average" in titled(half_open), "one period that is a range is enough"


def test_less_than_a_byte_is_said_so() -> None:
    assert wording._amount(0.99, 1) == "less than a byte"
    assert wording._amount(1.0, 1) == "1 B"


@pytest.mark.parametrize(
    ("low", "p", "high", "digits"),
    [(0.1, 0.1, 0.1, 6), (0.05, 0.1, 0.2, 2), (0.099, 0.1, 0.101, 3), (0.0999, 0.1, 0.1001, 4)],
)
def test_a_chance_has_the_digits_that_its_range_leaves(
    low: float, p: float, high: float, digits: int
) -> None:
    """A range of 2 % leaves three, one of 0.2 % four."""
    shift = 1.234567e-7 / 1e-7
    found = chance(p * shift, low * shift, high * shift).p
    assert found == pytest.approx(round(0.1234567, digits))
    assert chance(0.1, 0.2, 0.05).low == chance(0.1, 0.2, 0.05).high == 0.1, "never beside its mean"


@pytest.mark.parametrize(
    ("inputs", "told"),
    [({"mttf": 1.2e6 * HOUR}, "mean time to failure 1,200,000 h"),
     ({"mttr": 1.5 * DAY}, "mean time to repair 36 h"),
     ({"mttf": "514285s"}, "mean time to failure 142.857 h"),
     ({"afr": "A1"}, "annual failure rate A1"), ({"scrub": 14 * DAY}, "a scrub every 14 d"),
     ({"scrub": math.inf}, "no scrubs"), ({"age": 3 * YEAR}, "drives 3 years old"),
     ({"erc": False}, "no ERC"),
     ({"detect": 90 * 60}, "repair begins 1 h 30 min after the failure"), ({"stress": 2}, "stress factor 2"),
     ({"latent_incidence": 0.003}, "latent errors on 0.3 % of the drives a month"), ({"years": 7}, "7 years"),
     ({"discipline": "serial"}, "two repairs at once: serial"), ({"shape": 1.12}, "Weibull shape 1.12"),
     ({"correlation": 3}, "correlation 3"), ({"spare": "hot"}, "spare hot"),
     ({"age_factor": 2}, "age factor 2")],
)  # fmt: skip
def test_what_was_stated_is_told_in_the_units_of_the_flags(inputs: dict[str, Any], told: str) -> None:
    (words,) = stated_words(RiskInputs(**inputs, seed=9))
    assert words.partition(" (which changes nothing")[0] == told


def test_a_picture_has_room_for_its_ranges_and_a_row_for_each_input() -> None:
    """3.4 inches for the ranges, 0.9 and 0.3 for each input, 0.9 beside."""
    assert of_risk().get_size_inches()[1] == pytest.approx(4.3)
    two = of_risk(Mover(field="rate", factor=6.0), Mover(field="delay", factor=0.2))
    assert two.get_size_inches()[1] == pytest.approx(3.4 + 1.5 + 0.9)
    axes = two.axes[0]
    # The lowest and the highest range end at 1e-6 and 6e-2, and a third of the scale is left for the odds.
    low, high = axes.get_xlim()
    assert math.log(high / low) / 1.35 == pytest.approx(math.log(0.06 / 1e-6), rel=0.15)
    heights = sorted(float(line.get_ydata()[0]) for line in axes.lines if len(line.get_xdata()) == 1)
    assert heights == pytest.approx([row + 0.28 * place for row in range(3) for place in (-1, 0, 1)])
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
