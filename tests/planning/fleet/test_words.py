"""What a fleet file says, what the answer says of it, and its picture, each by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.report.answers import some
from zsim.base.errors import InputError
from zsim.planning.fleet import drawing
from zsim.planning.fleet.answer import FleetAnswer, headline, rate_words, sections, three_digits
from zsim.planning.fleet.records import Losses, PoolsRow, Stock
from zsim.planning.fleet.spec import Fleet, Pools, _risk
from zsim.planning.risk.one_vdev.group import HOUR, YEAR
from zsim.planning.risk.records import chance

DAY = 24 * HOUR


def losses(*values: float, wide: float = 2.0) -> Losses:
    files, vdev, pool = (chance(each, each / wide, each * wide) for each in values)
    return Losses(files=files, vdev=vdev, pool=pool)


def row(name: str, share: float, *degraded: float, pools: int = 5) -> PoolsRow:
    return PoolsRow(
        name=name, layout="2*mirror2", pools=pools, failures_per_year=1.2345, hours_s=20 * HOUR,
        missing_s=30 * HOUR, degraded_s=degraded, losses_per_year=losses(0.08, 0.04, 0.02), share=share,
        table_error=0.0,
    )  # fmt: skip


def stock(**changes: Any) -> Stock:
    known = {"have": 2, "waited": 0.25, "mean_wait_s": 6 * HOUR, "enough": {"95 %": 3, "99 %": 4}}
    return Stock(**{**known, **changes})


def answer(**changes: Any) -> FleetAnswer:
    known: dict[str, Any] = {
        "years": 5.0, "trials": 100, "pool_years": 6000.0, "any_loss": losses(0.02, 0.01, 0.005),
        "losses_per_year": losses(0.02, 0.01, 0.005), "failures_per_year": 2.5,
        "degraded_s_per_pool_year": 12 * HOUR,
        "pools": (
            row("a", 0.25, 10 * HOUR, 2 * HOUR, HOUR, 0.0), row("b", 0.75, HOUR, 0.0, 0.0, 0.0, pools=7),
        ),
        "spares": stock(), "crews": stock(have=None), "inputs": {},
    }  # fmt: skip
    return FleetAnswer(**{**known, **changes})


def section(found: FleetAnswer, title: str) -> Any:
    (one,) = [each for each in sections(found) if each.title == title]
    return one


def test_the_first_line_is_the_chance_of_a_vdev_with_its_mean_where_it_is_a_range() -> None:
    assert headline(answer()) == (
        "Chance that a vdev is lost within 5 years: 1 in 200 to 1 in 50 (on average 1 in 100)."
    )
    rare = answer(any_loss=losses(1e-3, 1 / 12345, 1e-6))
    assert headline(rare).endswith("1 in 20,000 to 1 in 6,000 (on average 1 in 12,000).")
    assert section(rare, "How likely within 5 years").grid.rows[1][2] == "1 in 12,000"
    exact = answer(any_loss=losses(0.02, 0.01, 0.005, wide=1.0))
    assert headline(exact) == "Chance that a vdev is lost within 5 years: 1 in 100."


def test_the_answer_begins_with_pools_failures_and_degraded_time() -> None:
    (sentence,) = sections(answer())[0].sentences
    assert sentence == (
        "12 pools, 2.5 failed drives a year, 12 h per pool and year with a drive missing; "
        "6,000 pool-years simulated."
    )


def test_blocks_without_a_word_are_left_out_and_warnings_stand_where_there_are_some() -> None:
    titles = [each.title for each in sections(answer())]
    assert titles == ["", "How likely within 5 years", "Which pools contribute", "Spares", "Repair crews"]
    assert section(answer(warnings=("a: b",)), "Warnings").sentences == ("a: b",)


def test_in_text_a_block_stands_below_its_title() -> None:
    lines = str(answer(warnings=("a: b",))).splitlines()
    assert lines[0] == headline(answer())
    assert lines[1].startswith("12 pools, 2.5 failed drives a year")
    at = lines.index("Warnings")
    assert (lines[at - 1], lines[at + 1]) == ("", "  a: b")
    at = lines.index("Which pools contribute")
    assert lines[at + 1].startswith("  pools")


def test_chances_by_grade_are_ranges_and_means() -> None:
    grid = section(answer(), "How likely within 5 years").grid
    assert grid.rows == (
        ("some files lost", "1 in 100 to 1 in 20", "1 in 50"),
        ("a vdev suspended", "1 in 200 to 1 in 50", "1 in 100"),
        ("a pool lost", "1 in 400 to 1 in 100", "1 in 200"),
    )


def test_the_pools_that_contribute_most_come_first_with_numbers_to_the_right() -> None:
    grid = section(answer(), "Which pools contribute").grid
    assert [line[0] for line in grid.rows] == ["7 b", "5 a"]
    # Two or more out: 2 and 1 of the 13 hours of these pools.
    assert grid.rows[1][1:] == ("2*mirror2", "1.23", "1 d 6 h", "3 h/y", "1 in 20 years", "25 %")
    assert grid.rows[0][4] == "0 s/y"
    assert grid.numeric == frozenset(range(2, 7))


@pytest.mark.parametrize(
    ("rate", "words"),
    [(0.04, "1 in 20 years"), (0.03, "1 in 30 years"),
     (0.98, "1 in 1 years"), (1.0, "1 a year"), (2.54, "2.5 a year"), (0.0, ""),
     (1e-5, "1 in 100,000 years")],
)  # fmt: skip
def test_what_is_expected_less_than_once_a_year_is_told_in_years(rate: float, words: str) -> None:
    assert rate_words(rate) == words


def test_a_stock_says_who_waits_and_what_would_be_enough() -> None:
    assert section(answer(), "Spares").sentences == (
        "With 2, 25 % of the failures wait, 6 h on average over all.",
        "Enough drives on the shelf at the time of a failure: 3 for 95 %, 4 for 99 % of the failures.",
    )
    assert section(answer(), "Repair crews").sentences == (
        "Enough crews at the time of a failure: 3 for 95 %, 4 for 99 % of the failures.",
    )
    nobody = answer(spares=stock(waited=0.0))
    assert section(nobody, "Spares").sentences[0] == "With 2, no failure of those simulated waits."


def test_numbers_of_a_fleet_have_three_digits() -> None:
    assert [three_digits(each) for each in (1234.5, 0.0123456, 0.0)] == [1230.0, 0.0123, 0.0]


def test_a_row_of_the_data_frame_has_every_level_and_range_by_its_name() -> None:
    pytest.importorskip("pandas")
    data = answer().to_pandas()
    first = data.iloc[0]
    assert answer().to_dict()["schema_version"] == 1
    assert (first["name"], first["missing_1_s"], first["missing_2_s"]) == ("a", 10 * HOUR, 2 * HOUR)
    assert (first["missing_3_s"], first["missing_4_s"], "missing_0_s" in data) == (HOUR, 0.0, False)
    assert (first["vdev_per_year"], first["vdev_low"], first["vdev_high"]) == (0.04, 0.02, 0.08)
    assert "degraded_s" not in data


def test_the_picture_shows_the_share_from_below_and_hours_by_level() -> None:
    upper, lower = drawing.figure(answer().pools, "a fleet").axes
    assert [each.get_text() for each in upper.get_yticklabels()] == ["a", "b"]
    ranges = [line for line in upper.lines if len(line.get_xdata()) == 2]
    assert [tuple(line.get_xdata()) for line in ranges] == [(0.02, 0.08)] * 2
    assert [tuple(line.get_ydata()) for line in ranges] == [(0, 0), (1, 1)]
    assert [tuple(line.get_xdata()) for line in upper.lines if len(line.get_xdata()) == 1] == [(0.04,)] * 2
    assert len({line.get_color() for line in upper.lines}) == 1, "a range and its mean are one"
    assert upper.get_ylim() == (-0.6, 1.6)
    assert (upper.get_xscale(), lower.get_xscale()) == ("log", "log")
    # Four bars of a fifth of a row each, the first on top; one that is nought is left out.
    found = [(bar.get_width(), bar.get_y() + bar.get_height() / 2, bar.get_height()) for bar in lower.patches]
    expected = [
        (10, 0.3, 0.2), (1, 1.3, 0.2), (2, 0.1, 0.2), (0, 1.1, 0.2), (1, -0.1, 0.2), (0, 0.9, 0.2),
    ]  # fmt: skip
    assert found == [pytest.approx(each) for each in expected]
    assert [each.get_text() for each in drawing.figure(answer().pools, "x").legends[0].get_texts()] == [
        "1 missing", "2 missing", "3 missing",
    ]  # fmt: skip


def test_a_picture_of_nothing_missing_has_no_logarithm_and_grows_with_its_rows() -> None:
    none = row("a", 1.0, 0.0, 0.0, 0.0, 0.0)
    assert drawing.figure((none,), "a").axes[1].get_xscale() == "linear"
    heights = [drawing.figure((none,) * count, "a").get_size_inches()[1] for count in (1, 3)]
    # 0.3 and 0.6 inches a row of the two halves.
    assert heights == pytest.approx([1.3 + 1.6 + 0.8, 1.9 + 2.8 + 0.8])
    two = drawing.figure((none,) * 3, "a")
    assert two.axes[0].get_gridspec().get_height_ratios() == pytest.approx((1.9, 2.8))


def one(**fields: Any) -> dict[str, Any]:
    return {"layout": "mirror2", "hours": 3, **fields}


def test_plain_numbers_of_a_file_are_days_or_hours_and_words_say_their_unit() -> None:
    asked = Fleet.from_dict({"lead_time": 2, "visit": 3, "detect": 4.5, "pool": [one()]})
    assert (asked.lead_time, asked.visit, asked.detect) == (2 * DAY, 3 * HOUR, 4.5 * HOUR)
    asked = Fleet.from_dict({"lead_time": "36h", "visit": "2d", "detect": "30min", "pool": [one()]})
    assert (asked.lead_time, asked.visit, asked.detect) == (1.5 * DAY, 2 * DAY, 1800.0)
    usual = Fleet.from_dict({"pool": [one()]})
    assert (usual.years, usual.trials, usual.lead_time) == (5.0, 2000, 14 * DAY)
    assert (usual.visit, usual.detect, usual.spares, usual.crews) == (HOUR, HOUR, None, None)
    assert (usual.seed, usual.pool[0].count, usual.pool[0].fill_per_year) == (1, 1, 0.0)
    assert usual.pool[0].name == "mirror2", "called as it is laid out"


@pytest.mark.parametrize("value", [True, float("nan"), [1], None])
def test_what_is_no_duration_is_refused_by_name(value: Any) -> None:
    with pytest.raises(InputError, match="visit"):
        Fleet.from_dict({"visit": value, "pool": [one()]})


def test_fields_of_a_risk_are_read_in_the_units_of_a_file() -> None:
    stated = {"afr": "1.5%", "latent_incidence": "2%", "age": 3, "scrub": 30, "correlation": 3, "shape": 2}
    found = _risk(dict(stated))
    assert (found["afr"], found["latent_incidence"]) == (0.015, 0.02)
    assert (found["age"], found["scrub"]) == (3 * YEAR, 30 * DAY)
    assert (found["correlation"], found["shape"]) == (3.0, 2.0)
    assert _risk({"scrub": "never"}) == {"scrub": float("inf")}
    assert _risk({"scrub": "14d"}) == {"scrub": 14 * DAY}
    assert _risk({"afr": "ST16000NM001G"}) == {"afr": "ST16000NM001G"}, "a model stays a model"
    assert _risk({}) == {}
    for name in ("age", "correlation", "shape", "age_factor"):
        with pytest.raises(InputError, match=name):
            _risk({name: "old"})


@pytest.mark.parametrize(
    ("field", "most", "beyond"),
    [("years", 100, 100.1), ("trials", 10_000_000, 10_000_001), ("spares", 1_000_000, 1_000_001),
     ("crews", 100_000, 100_001), ("trials", 1, 0), ("spares", 0, -1), ("crews", 1, 0), ("seed", 0, -1),
     ("lead_time", 0, -1), ("years", 0.1, 0)],
)  # fmt: skip
def test_a_fleet_has_ends(field: str, most: float, beyond: float) -> None:
    assert getattr(Fleet.from_dict({field: most, "pool": [one()]}), field) == most
    with pytest.raises(InputError, match=field):
        Fleet.from_dict({field: beyond, "pool": [one()]})


@pytest.mark.parametrize(
    ("field", "most", "beyond"),
    [("count", 100_000, 100_001), ("count", 1, 0), ("fill_per_year", 1, 1.1), ("fill_per_year", -1, -1.1),
     ("hours", 0.5, 0)],
)  # fmt: skip
def test_pools_have_ends(field: str, most: float, beyond: float) -> None:
    assert getattr(Pools.read(one(**{field: most})), field) == most
    with pytest.raises(InputError, match=field):
        Pools.read(one(**{field: beyond}))


def test_names_of_pools_differ_and_a_change_is_checked() -> None:
    with pytest.raises(InputError, match=r"pool\.name"):
        Fleet.from_dict({"pool": [one(), one()]})
    asked = Fleet.from_dict({"pool": [one(), one(name="b")]})
    assert asked.changed(crews=3).crews == 3
    with pytest.raises(InputError, match="crews"):
        asked.changed(crews=0)
    plain: Any = asked.plain()
    assert [each["name"] for each in plain["pool"]] == ["mirror2", "b"]
    assert plain["pool"][0]["hours"] == 3
    assert None not in plain["pool"][0]["risk"].values()
    with pytest.raises(InputError, match="pool"):
        Fleet.from_dict({"pool": ["mirror2"]})


def test_a_fleet_without_a_loss_is_drawn_without_a_logarithm() -> None:
    none = some(name="a", share=0.0, losses_per_year=losses(0.0, 0.0, 0.0), degraded_s=(1.0, 0.0, 0.0, 0.0))
    upper, lower = drawing.figure((none,), "a").axes
    assert [tuple(line.get_xdata()) for line in upper.lines] == [(0.0, 0.0), (0.0,)]
    assert (upper.get_xscale(), lower.get_xscale()) == ("linear", "log")
