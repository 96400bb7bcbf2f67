"""Parts of a plan by hand: candidates, wishes, hours of many from a few, bisection, tables and pictures."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from tests.report.answers import HOUR, layout, of_changes, of_fill, of_layouts, some
from zsim.base.errors import InputError
from zsim.planning.design import drawing, facts, one_layout, search
from zsim.planning.design.answer import Design, Step, _short
from zsim.planning.design.candidates import Candidate, for_drives, vdevs_of
from zsim.planning.design.facts import Context, RepairHours, family, features, interpolated, measured, probes
from zsim.planning.design.requirements import Requirement
from zsim.planning.design.search import KINDS
from zsim.planning.design.size import PoolSize
from zsim.planning.risk.question import RiskInputs
from zsim.planning.risk.reliability import Spread
from zsim.planning.risk.surface import surface
from zsim.scenario.layout import Layout, VdevSpec

DAY, TEBI = 24 * HOUR, 1 << 40


def candidate(words: str, spares: int = 0) -> Candidate:
    return Candidate(Layout.parse(words), spares)


# --- candidates


def names(drives: int) -> list[str]:
    return [str(vdev) for vdev in vdevs_of(drives)]


def test_vdevs_are_tried_from_half_parity_to_where_few_go() -> None:
    """Mirrors of 2 and 3; widths 3 to 12, 4 to 20 and 5 to 24 by parity, as far as there are drives."""
    assert names(1) == []
    assert names(2) == ["mirror2"]
    assert names(5) == [
        "mirror2",
        "mirror3",
        "raidz1x3",
        "raidz1x4",
        "raidz1x5",
        "raidz2x4",
        "raidz2x5",
        "raidz3x5",
    ]
    many = names(1000)
    for parity, least, most in ((1, 3, 12), (2, 4, 20), (3, 5, 24)):
        widths = [int(name.partition("x")[2]) for name in many if name.startswith(f"raidz{parity}")]
        assert widths == list(range(least, most + 1))
    assert not any(name.startswith("draid") for name in names(11))


def test_draids_take_all_drives_or_an_equal_part_of_them() -> None:
    """From 12 to 120 children; one distributed spare of up to 79, two of 80 to 119, three of 120."""
    sizes = {vdev.children for vdev in vdevs_of(130) if vdev.kind == "draid"}
    assert sizes == {130 // count for count in range(2, 11)}
    assert {vdev.children for vdev in vdevs_of(120) if vdev.kind == "draid"} >= {120, 60, 40, 30, 12}
    spares = {
        vdev.children: vdev.spares
        for drives in (12, 79, 80, 119, 120)
        for vdev in vdevs_of(drives)
        if vdev.kind == "draid"
    }
    assert [spares[children] for children in (12, 79, 80, 119, 120)] == [1, 1, 2, 2, 3]
    assert {(vdev.data, vdev.parity) for vdev in vdevs_of(12) if vdev.kind == "draid"} == {
        (4, 1), (4, 2), (4, 3), (8, 1), (8, 2), (8, 3),
    }  # fmt: skip
    # Data, parity and spares fill the children at the most.
    assert (16, 3) in {(vdev.data, vdev.parity) for vdev in vdevs_of(20) if vdev.kind == "draid"}
    assert (16, 3) not in {(vdev.data, vdev.parity) for vdev in vdevs_of(19) if vdev.kind == "draid"}


def test_one_drive_in_fifteen_may_be_a_spare_and_two_always() -> None:
    found = {str(each.layout): each for each in for_drives(17, 0)}
    assert found["3*raidz1x5"].spares == 2
    assert "2*raidz1x7" not in found, "three would be left"
    assert {str(each.layout) for each in for_drives(45, 0)} >= {"7*raidz2x6"}, "of 45 drives three may be"
    assert "6*raidz2x7" in {str(each.layout) for each in for_drives(45, 0)}
    assert "5*raidz2x8" not in {str(each.layout) for each in for_drives(45, 0)}
    asked = {str(each.layout): each.spares for each in for_drives(17, 5)}
    assert asked["2*raidz1x6"] == 5
    assert "3*raidz1x5" not in asked, "five are asked for"
    # A dRAID has spares of its own: one beside it, or as many as are asked for.
    assert [each.spares for each in for_drives(13, 0) if each.vdev.kind == "draid"] == [0] * 6
    assert {each.spares for each in for_drives(25, 0) if each.vdev.children == 12 and each.vdev.spares} == {1}
    assert (candidate("2*raidz2x6", 3).drives, str(candidate("2*raidz2x6").vdev)) == (15, "raidz2x6")
    with pytest.raises(InputError, match="at least 2"):
        for_drives(1, 0)


# --- wishes


def test_a_distance_is_the_factor_by_which_a_wish_is_met() -> None:
    below, above = Requirement.parse("p90 < 10h"), Requirement.parse("random >= 1000")
    assert below.distance({"p90_s": 5 * HOUR}) == 2.0
    assert below.distance({"p90_s": 20 * HOUR}) == 0.5
    assert above.distance({"random_reads": 500.0}) == 0.5
    assert above.distance({"random_reads": 4000.0}) == 4.0
    assert below.distance({"p90_s": 0.0}) == 1.0
    assert above.distance({"random_reads": 0.0}) == 0.5
    assert Requirement.parse("vdev < 1 in 2,000").limit == 1 / 2000
    assert Requirement.parse("vdev < 0.5 %").limit == 0.005
    assert str(Requirement("p90", "<", 36 * HOUR)) == "p90 < 1 d 12 h"
    assert str(Requirement("random", ">=", 2000.0)) == "random >= 2,000"
    for sign, met in (("<", False), ("<=", True), (">", False), (">=", True)):
        assert Requirement.parse(f"drives {sign} 12").is_met({"drives": 12}) is met


def wish(*texts: str) -> list[Requirement]:
    return [Requirement.parse(each) for each in texts]


def row(name: str, p90: float = 20.0, **more: Any) -> dict[str, Any]:
    known = {"layout": name, "p50_s": p90 * HOUR / 2, "p90_s": p90 * HOUR, "usable_bytes": 100.0,
             "vdev_per_year": 1e-3, "random_reads": 500.0, "drives": 12}  # fmt: skip
    return {**known, **more}


def test_what_nearly_meets_a_wish_is_predicted_in_full_and_what_meets_it_first() -> None:
    """By less than a factor of 1.6: at 10 h wished for, 16 h are too many."""
    rows = [row("near", 15.9), row("far", 16.1), row("good", 9.0), row("better", 8.0, usable_bytes=120.0)]
    found = [each["layout"] for each in search._best(rows, wish("p90 < 10h"), "usable")]
    assert found == ["better", "good", "near"]
    by_time = [row("a", 9.0, usable_bytes=110.0), row("b", 8.0), row("beaten", 8.5, usable_bytes=99.0)]
    assert [each["layout"] for each in search._best(by_time, wish("p90 < 10h"), "p90")] == [
        "b",
        "a",
        "beaten",
    ]
    assert search._key({"p90_s": None}, "p90") == math.inf
    assert (search._key(row("a"), "usable"), search._key(row("a"), "drives")) == (-100.0, 12.0)


def test_only_what_needs_no_simulation_is_refused_before_it() -> None:
    cheap, hours = wish("usable >= 200"), wish("p90 < 1h")
    assert search.fails_before(row("a"), cheap)
    assert not search.fails_before(row("a"), hours)
    assert not search.fails_before(row("a", usable_bytes=200.0), cheap)


def test_the_answer_has_what_meets_the_wishes_first_and_why_others_fail() -> None:
    rows = [
        row("slow", 30.0),
        row("good"),
        row("small", usable_bytes=50.0),
        row("tie"),
        {**row("open"), "p50_s": None},
    ]
    found = search._design(
        Context({}, RiskInputs()), "layouts", rows, wish("p90 < 24h", "usable > 60"), "usable", ("12 drives",)
    )
    assert [(each["layout"], each["meets"], each["fails"]) for each in found.rows] == [
        ("good", True, ""), ("tie", True, ""), ("slow", False, "p90 < 24h"), ("open", False, ""),
        ("small", False, "usable > 60"),
    ]  # fmt: skip
    assert [each["pareto"] for each in found.rows] == [True, True, False, False, False]
    assert found.stated == ("12 drives", "no drive size (space counts 4 TB drives)")


def test_the_question_is_told_with_what_was_given() -> None:
    assert PoolSize().words == ()
    assert PoolSize(drives=60, spares=1).words == ("60 drives", "at least 1 hot spare")
    assert PoolSize(usable=3 * TEBI, spares=2).words == ("usable 3T", "at least 2 hot spares")
    assert PoolSize(budget=8500, price=350).words == ("budget 8500", "350 a drive")


def test_one_of_drives_space_and_money_is_given_and_money_has_a_price() -> None:
    context = Context({"drive_size": "4TB"}, RiskInputs(hours=HOUR))
    with pytest.raises(InputError, match="one of drives, usable and budget"):
        PoolSize().candidates(context, KINDS)
    with pytest.raises(InputError, match="drives 12 cannot be used: it excludes budget"):
        PoolSize(drives=12, budget=100.0, price=10.0).candidates(context, KINDS)
    for price in (None, 0.0, -1.0):
        with pytest.raises(InputError, match="--price"):
            PoolSize(budget=100.0, price=price).candidates(context, KINDS)
    # 100 buys five drives at 19.
    bought = PoolSize(budget=100.0, price=19.0).candidates(context, KINDS)
    assert {each.drives for each in bought} == {5}
    space = PoolSize(usable=20 * TEBI, spares=1).candidates(context, KINDS)
    assert {each.spares for each in space} == {1}
    widths = {each.vdev.children for each in space if each.vdev.kind == "raidz"}
    assert max(widths) == 24


# --- bisection


@pytest.mark.parametrize("last", [*range(4, 21), 3, 99])
def test_the_last_that_holds_is_found_in_few_steps(last: int) -> None:
    tried: list[int] = []

    def meets(number: int) -> bool:
        tried.append(number)
        return number <= last

    assert one_layout._last_true(4, 20, meets) == (None if last < 4 else min(last, 20))
    assert len(tried) <= 6
    assert len(set(tried)) == len(tried)


@pytest.mark.parametrize("last", [*range(4, 21), 3, 99])
@pytest.mark.parametrize("first", [4, 7])
def test_the_largest_that_holds_is_found_though_the_smallest_may_not(first: int, last: int) -> None:
    tried: list[int] = []

    def holds(number: int) -> bool:
        tried.append(number)
        return first <= number <= last

    found = one_layout._largest_true(range(4, 21), holds)
    if last >= 8 or (first, last) == (4, 4):
        assert found == min(last, 20)
    assert len(tried) == len(set(tried)) <= 7
    assert one_layout._largest_true([5], lambda number: True) == 5
    assert one_layout._largest_true([5, 6], lambda number: number == 5) == 5


@pytest.mark.parametrize("last", [4, 5, 6, 7])
def test_few_that_hold_are_found_too(last: int) -> None:
    assert one_layout._largest_true(range(4, 21), lambda number: number <= last) == last


def test_changes_that_are_so_already_are_left_out() -> None:
    """Three sources of a spare, three intervals and none for a year, and both paces of the repair."""
    assert [(changes, factor) for _, changes, factor in one_layout._changes(RiskInputs())] == [
        ({"spare": "hot", "detect": None}, 1.0), ({"spare": "shelf", "detect": None}, 1.0),
        ({"spare": "order", "detect": None}, 1.0), ({"scrub": 7 * DAY}, 1.0), ({"scrub": 14 * DAY}, 1.0),
        ({"scrub": 30 * DAY}, 1.0), ({"scrub": 365 * DAY}, 1.0), ({}, 0.5), ({}, 2.0),
    ]  # fmt: skip
    words = [each[0] for each in one_layout._changes(RiskInputs(spare="shelf", scrub=14 * DAY))]
    assert "a spare on the shelf" not in words
    assert "a scrub every 14 d" not in words
    assert len(words) == 7
    changed = one_layout._changed(RiskInputs(detect="5s", years=3.0), {"spare": "hot", "detect": None})
    assert (changed.spare, changed.detect, changed.years) == ("hot", None, 3.0)


# --- facts


def test_widths_of_a_family_tell_the_hours_of_the_others() -> None:
    """Hours that go with the square of the width: what lies between is on the power law."""
    every = [candidate(f"raidz2x{width}") for width in (4, 6, 8, 12, 16)]
    tried = probes(every)
    assert [str(each.layout) for each in tried] == ["raidz2x4", "raidz2x8", "raidz2x16"]
    assert probes([every[place] for place in (4, 0, 3, 2, 1)]) == tried, "in whatever order they come"
    known = {
        str(each.layout): RepairHours(*(factor * each.vdev.children**2 for factor in (1, 2, 4)))
        for each in tried
    }
    found = interpolated(every, known)
    assert found["raidz2x8"] is known["raidz2x8"]
    assert (found["raidz2x6"].p10, found["raidz2x6"].p50, found["raidz2x12"].p90) == pytest.approx(
        (36, 72, 576)
    )
    assert "raidz1x6" not in interpolated([*every, candidate("raidz1x6")], known), "another family"


def test_a_draid_is_told_by_children_and_width_and_needs_a_probe_more() -> None:
    draid = VdevSpec.draid(2, 8, 24, 1)
    assert (family(draid), family(VdevSpec.draid(1, 8, 24, 1))) == (("draid", 0), ("draid", 0))
    assert (family(VdevSpec.raidz(2, 6)), family(VdevSpec.mirror(3))[0]) == (("raidz", 2), "mirror")
    assert features(draid) == pytest.approx((1.0, math.log(24), math.log(10)))
    assert features(VdevSpec.raidz(2, 6)) == pytest.approx((1.0, math.log(6)))
    many = [candidate(f"draid2:{data}d:{children}c:1s") for children in (24, 30, 40) for data in (4, 8)]
    assert len(probes(many)) == 4
    assert len(probes(many[:2])) == 2


def test_hours_from_few_runs_have_four_digits_and_rise_from_p10_to_p90() -> None:
    every = [candidate(f"raidz2x{width}") for width in (4, 5, 6)]
    crossed = {"raidz2x4": RepairHours(3.0, 2.0, 1.0), "raidz2x6": RepairHours(3.0, 2.0, 1.0)}
    found = interpolated(every, crossed)["raidz2x5"]
    assert (found.p10, found.p50, found.p90) == pytest.approx((1, 2, 3))
    odd = {"raidz2x4": RepairHours(1.0, 2.0, 3.0), "raidz2x6": RepairHours(1.0, 3.0, 4.0)}
    assert interpolated(every, odd)["raidz2x5"].p50 == round(interpolated(every, odd)["raidz2x5"].p50, 3)


def test_hours_that_are_stated_are_not_simulated_and_quantiles_may_be_missing() -> None:
    context = Context({"drive_size": "4TB"}, RiskInputs(hours=30 * HOUR))
    assert context.are_hours_stated
    assert not Context({}, RiskInputs()).are_hours_stated
    scenarios = [context.scenario("raidz2x6")] * 2
    assert measured(context, scenarios, lambda share, words: None) == [RepairHours(*[30 * HOUR] * 3)] * 2
    assert facts._hours({"p10_s": None, "p50_s": 5.0, "p90_s": None}, {}) == RepairHours(5.0, 5.0, 5.0)
    assert facts._hours({"p10_s": 1.0, "p50_s": 5.0, "p90_s": 9.0}, {}) == RepairHours(1.0, 5.0, 9.0)
    refused = facts._hours({"p50_s": None, "refused": "too full"}, {"layout": "raidz2x6"})
    assert isinstance(refused, InputError)
    assert "too full" in str(refused)


def test_distributed_spares_take_part() -> None:
    context = Context({}, RiskInputs())
    assert context.scenario("draid2:8d:24c:1s").target == "distributed-spare"
    assert context.scenario("raidz2x6").target is None
    assert context.scenario("draid2:8d:24c:1s", target="new-drive").target == "new-drive"


def test_a_hot_spare_makes_loss_less_likely_where_a_draid_has_none_of_its_own() -> None:
    context, hours = Context({}, RiskInputs()), RepairHours(10 * HOUR, 5 * HOUR, 20 * HOUR)

    def lost(layout: str, spares: int) -> float:
        row = facts.with_chances(context, {"layout": layout, "spares": spares}, hours, False, 8)
        return float(row["vdev_per_year"])

    assert lost("raidz2x6", 1) < 0.9 * lost("raidz2x6", 0)
    draid = "draid2:8d:24c:1s"
    assert lost(draid, 0) == lost(draid, 1), "a distributed spare is one"


def test_a_row_costs_what_its_drives_cost_spares_included() -> None:
    context = Context({"drive_size": "4TB"}, RiskInputs(hours=HOUR))
    found = facts.base_row(context, candidate("2*raidz2x6", 1), 300.0)
    assert (found["drives"], found["spares"], found["price"]) == (13, 1, 3900.0)
    assert "price" not in facts.base_row(context, candidate("raidz2x6"), None)


def test_the_spread_of_the_hours_reaches_the_chances(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Spread] = []

    def noted(known: Any, count: int, seed: int) -> Any:
        seen.append(known.hours)
        return surface(known, count, seed)

    monkeypatch.setattr(facts, "surface", noted)
    fixed = {"afr": 0.02, "correlation": 1.0, "latent": False, "detect": 0.0}
    context = Context({"drive_size": "4TB"}, RiskInputs(**fixed))  # type: ignore[arg-type]
    base = facts.base_row(context, candidate("raidz1x4"), None)
    found = facts.with_chances(context, base, RepairHours(9 * HOUR, 10 * HOUR, 12 * HOUR), True, 16)
    (spread,) = seen
    assert (spread.low, spread.middle, spread.high) == (9 * HOUR, 10 * HOUR, 12 * HOUR)
    assert (found["p10_s"], found["p50_s"], found["p90_s"]) == (9 * HOUR, 10 * HOUR, 12 * HOUR)
    exact = facts.with_chances(context, base, RepairHours(*[10 * HOUR] * 3), False, 16)
    # Four drives at 2 % a year, three others within ten hours.
    rate = -math.log(0.98) / 8766
    assert exact["vdev_in_window"] == pytest.approx(1 - math.exp(-3 * rate * 10), rel=1e-4)
    assert exact["vdev_per_year"] == pytest.approx(4 * rate * 8766 * 3 * rate * 10, rel=0.01)
    assert exact["vdev_per_year_low"] == exact["vdev_per_year"] == exact["vdev_per_year_high"]
    assert (found["simulated"], exact["simulated"]) == (True, False)


# --- how it reads


@pytest.mark.parametrize(
    ("hours", "told"),
    [(1.0, "1.0 h"), (9.94, "9.9 h"), (10.0, "10 h"), (47.6, "48 h"), (48.0, "2.0 d"), (100.0, "4.2 d")],
)
def test_hours_have_one_unit(hours: float, told: str) -> None:
    assert _short(hours * HOUR) == told


def told(name: str, p90: float = 20.0, **more: Any) -> dict[str, Any]:
    return row(name, p90, **{
        "read_rate": 1.5e9, "spares": 0,
        "meets": True, "pareto": False, "simulated": True, **more})  # fmt: skip


def design(*rows: dict[str, Any], question: str = "layouts", **more: Any) -> Design:
    return Design(question=question, rows=rows, requirements=("p90 < 24h",), provenance={}, **more)


def test_cells_are_in_units_and_what_is_alike_stands_above() -> None:
    other = {"pareto": True, "simulated": False, "spares": 2}
    found = design(told("a", usable_bytes=5 * TEBI), told("b", 30.0, usable_bytes=5 * TEBI, **other))
    grid = found.grid()
    assert grid.head == ("layout", "front", "hot spares", "p50", "p90")
    assert grid.rows == (("a", "", "", "10 h", "20 h"), ("b", "yes", "2", "~15 h", "~30 h"))
    assert grid.numeric == frozenset({2, 3, 4})
    assert found.heading() == (
        "The same in all rows: usable 5T; vdev lost in a year 1 in 1,000; random/s 500; read 1.5 GB/s.",
    )
    single = design(told("a"))
    assert single.grid().head[2] == "drives"
    assert single.grid().rows[0][2] == "12"
    assert len(single.grid().head) == 10
    assert single.heading() == ()
    empty = design({**told("a"), "p50_s": None, "vdev_per_year": None})
    assert empty.grid().rows[0][5:8] == ("", "", "")


def test_of_layouts_those_that_meet_the_wishes_are_shown_twenty_at_most() -> None:
    many = design(
        *(told(f"m{number}", 10.0 + number) for number in range(21)), {**told("bad"), "meets": False}
    )
    assert [line[0] for line in many.grid().rows] == [f"m{number}" for number in range(20)]
    assert many.notes()[0] == "The first 20 of 21 are shown; --json has all."
    assert many.headline() == "21 of 22 layouts meet p90 < 24h."
    twenty = design(*(told(f"m{number}", 10.0 + number) for number in range(20)))
    assert twenty.notes()[0].startswith("front: ")
    none = design({**told("bad"), "meets": False})
    assert none.notes()[0].startswith("No layout meets")
    assert [line[0] for line in none.grid().rows] == ["bad"]


def test_a_limit_is_told_and_whether_it_was_crossed() -> None:
    fills = (told("raidz2x6", fill=0.5), {**told("raidz2x6", 30.0, fill=0.8), "meets": False})
    found = design(*fills, question="fill", answer="60 %")
    assert found.headline() == "Fullest raidz2x6 with p90 < 24h: 60 %."
    assert [line[0] for line in found.grid().rows] == ["50 %", "80 %"]
    assert "meets it" in found.grid().head
    assert found.notes() == ()
    wide = design(told("raidz2x6"), told("raidz2x8", 21.0), question="width", answer="raidz2x8")
    assert wide.headline() == "Widest raidz2 with p90 < 24h: raidz2x8."
    assert wide.notes() == ("The requirement still holds there; wider was not tried.",)
    assert "meets it" not in " ".join(wide.heading()), "that is the answer"
    assert design(fills[1], question="fill").headline().endswith(": none.")


def test_what_a_change_is_worth_is_a_factor_on_what_is() -> None:
    first = Step("as it is", 1e-3, 4e-3)
    rows = (first.row(first), Step("a hot spare", 2.5e-4, 1e-3).row(first))
    found = design(*rows, question="worth")
    assert (rows[0]["vdev_times"], rows[1]["vdev_times"], rows[1]["files_times"]) == (1.0, 0.25, 0.25)
    assert found.headline() == "What would change the chance of loss of 1 in 1,000 a year:"
    assert found.grid().rows == (
        ("as it is", "1 in 1,000", "1", "1 in 250", "1"),
        ("a hot spare", "1 in 4,000", "0.25", "1 in 1,000", "0.25"),
    )  # fmt: skip
    assert found.grid().numeric == frozenset({1, 2, 3, 4})
    assert found.heading() == ()


def test_a_plan_is_plain_data_a_page_and_a_table() -> None:
    found = design(told("a"), told("b", 30.0, meets=False), stated=("pool <b>",))
    assert found.to_dict() == {
        "schema_version": 1, "question": "layouts", "answer": None, "stated": ["pool <b>"],
        "requirements": ["p90 < 24h"], "rows": [dict(row) for row in found.rows], "provenance": {},
    }  # fmt: skip
    assert [each["layout"] for each in found.meeting] == ["a"]
    assert repr(found) == "<Design: 1 of 2 layouts meet p90 < 24h.>"
    page = found._repr_html_()
    assert page.startswith("<h3>1 of 2 layouts meet p90 &lt; 24h.</h3><p>Stated: pool &lt;b&gt;.</p><div")
    assert page.endswith(f"<p>{found.notes()[-1]}</p>")
    assert found.text().splitlines()[0].split()[:2] == ["layout", "front"]
    free = Design(question="layouts", rows=found.rows, requirements=(), provenance={})
    assert free.headline() == "1 of 2 layouts are possible."
    worth = design(Step("as it is", 1e-3, 4e-3).row(Step("", 1e-3, 4e-3)), question="worth", stated=("x",))
    assert worth.heading() == ("Stated: x.",)
    assert worth.notes() == ("times: the chance with this change, divided by the chance as it is.",)


# --- pictures


def test_a_front_is_space_against_chance_alone() -> None:
    points = [("a", 100, 1e-4), ("b", 100, 2e-4), ("c", 200, 2e-4), ("d", 150, 2e-4), ("e", 100, 1e-4)]
    rows = [layout(name, space, risk, 20, meets=True) for name, space, risk in points]
    assert [each["layout"] for each in drawing._lower_right(rows)] == ["a", "c", "d", "e"]


def test_hours_are_a_colour_where_they_differ_by_more_than_a_hundredth() -> None:
    for hours, scales in ((20.19, 1), (20.21, 2)):
        rows = (layout("a", 100, 1e-4, 20, meets=True), layout("b", 120, 2e-4, hours, meets=True))
        assert len(of_layouts(rows).axes) == scales


def test_names_of_a_front_have_room_at_the_right_and_do_not_meet() -> None:
    """Ten layouts of nearly one chance and one far below: each name lies a line below the one above."""
    near = [layout(f"m{n}", 100 + n, 1e-4 * (1 + 1e-6 * n), 20, meets=True) for n in range(10)]
    (axes,) = of_layouts((*near, layout("low", 99, 1e-8, 20, meets=True))).axes
    notes = {note.get_text(): note for note in axes.texts}
    assert list(notes) == [f"m{n}" for n in range(9, -1, -1)] + ["low"]
    heights = [math.log10(notes[f"m{n}"].xyann[1]) for n in range(10)]
    low, high = (math.log10(edge) for edge in axes.get_ylim())
    steps = [after - before for before, after in itertools.pairwise(heights)]
    assert steps == pytest.approx([0.055 * (high - low)] * 9)
    assert notes["low"].xyann[1] == pytest.approx(1e-8), "where there is room a name stays beside its point"
    # Three tenths of what the points take are added, four hundredths lie between a point and its name.
    left, right = axes.get_xlim()
    spread = (right - left) / 1.3
    for note in notes.values():
        assert note.xyann[0] - note.xy[0] == pytest.approx(0.04 * spread)
    assert right - 109 > 0.29 * spread


def test_a_limit_is_a_line_at_the_last_that_meets_it() -> None:
    (axes,) = of_fill().axes
    lines = {line.get_label(): line for line in axes.lines}
    assert list(lines["repair, p50"].get_xdata()) == pytest.approx([30, 60, 80])
    assert list(lines["repair, p50"].get_ydata()) == pytest.approx([12, 24, 32])
    assert list(lines["repair, p90"].get_ydata()) == pytest.approx([21, 42, 56])
    assert lines["the limit: 64 %"].get_xdata()[0] == pytest.approx(60)
    assert axes.get_ylim()[0] == 0
    assert axes.get_xlabel() == "fill [%]"
    rows = tuple(
        {"drives": drives, "p50_s": HOUR * drives, "p90_s": 2 * HOUR * drives, "meets": False}
        for drives in (8, 6)
    )
    wide = some(question="width", answer=None, headline=lambda: "none", rows=rows)
    (axes,) = drawing.figure(wide).axes
    assert [list(line.get_xdata()) for line in axes.lines] == [[6, 8], [6, 8]]
    assert axes.get_xlabel() == "width [drives]"


def test_changes_are_pairs_of_bars_the_first_on_top() -> None:
    (axes,) = of_changes().axes
    found = [(bar.get_width(), bar.get_y() + bar.get_height() / 2, bar.get_height()) for bar in axes.patches]
    vdev, files = (8e-4, 3e-4, 2e-3), (1.3e-3, 7e-4, 2e-2)
    expected = [(each, place - 0.18, 0.35) for place, each in enumerate(vdev)]
    expected += [(each, place + 0.18, 0.35) for place, each in enumerate(files)]
    assert found == [pytest.approx(each) for each in expected]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "chance within a year"
