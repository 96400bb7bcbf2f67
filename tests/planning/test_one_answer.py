"""What several commands answer of one pool is the same: layouts of a plan, fleets and risks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import zsim
from zsim.base.errors import InputError
from zsim.planning.design import facts
from zsim.planning.design.one_layout import plan_worth
from zsim.planning.design.search import plan_layouts
from zsim.planning.fleet.api import fleet
from zsim.planning.risk.api import risk
from zsim.planning.risk.question import RiskInputs
from zsim.prediction.answer.records import Quantiles
from zsim.scenario.model import Scenario

HOUR = 3600.0
OLD = {"afr": 0.02, "correlation": 1.0, "latent_incidence": 0.003, "scrub": "never", "age": 4 * 8766 * HOUR}


def old_inputs() -> RiskInputs:
    return RiskInputs(hours=20 * HOUR, detect=0.0, **OLD)  # type: ignore[arg-type]


def test_a_plan_of_an_old_release_leaves_out_what_it_has_not_and_is_right_about_the_rest() -> None:
    """Each row has the chances that ``zsim.risk`` gives, repairs that begin anew after an error included."""
    pool = {"drive_size": "8TB", "fill": 0.6, "release": "0.7.13"}
    found = plan_layouts(drives=12, inputs=old_inputs(), **pool)
    assert any("left out 6 that cannot be (draid: zol-0.7.13 has no dRAID)" in each for each in found.stated)
    row = next(each for each in found.rows if each["layout"] == "2*raidz1x6")
    alone = risk({"layout": "2*raidz1x6", **pool}, old_inputs())
    assert row["vdev_per_year"] == pytest.approx(alone.per_year.vdev.p, rel=1e-5)
    assert row["vdev_in_window"] == pytest.approx(alone.window.vdev.p, rel=1e-5)
    modern = risk({"layout": "2*raidz1x6", **pool, "release": "openzfs-2.2"}, old_inputs())
    assert alone.per_year.vdev.p > 1.3 * modern.per_year.vdev.p
    with pytest.raises(InputError, match="has no dRAID"):
        plan_layouts(drives=12, kinds=["draid"], inputs=old_inputs(), **pool)


def test_a_plan_for_data_to_hold_leaves_out_the_same() -> None:
    found = plan_layouts(usable="30T", inputs=old_inputs(), drive_size="8TB", release="0.7.13", confirm=1)
    assert found.rows
    assert not any(row["layout"].startswith("draid") for row in found.rows)
    assert any(each.startswith("left out") for each in found.stated)


def test_a_fleet_of_an_old_release_loses_as_its_pools_do() -> None:
    pool = {
        "name": "a",
        "count": 100,
        "layout": "raidz1x6",
        "release": "0.7.13",
        "hours": 20,
        **OLD,
        "age": 4,
    }
    found = fleet({"years": 1, "trials": 400, "detect": 0, "visit": 0, "pool": [pool]})
    alone = risk({"layout": "raidz1x6", "release": "0.7.13"}, old_inputs())
    assert found.losses_per_year.vdev.p / 100 == pytest.approx(alone.per_year.vdev.p, rel=0.02)


def test_a_fleet_is_as_full_as_its_alloc_says() -> None:
    asked: list[float | None] = []

    def hours_of(scenario: Scenario) -> Quantiles:
        asked.append(scenario.fill or scenario.alloc)
        return Quantiles(p50=HOUR * (scenario.fill or 0.1))

    pool = {"layout": "raidz1x6", "drive_size": "4TB", "alloc": "2T", "fill_per_year": 0.05}
    fleet({"years": 4, "trials": 4, "pool": [pool]}, hours_of=hours_of)
    share = 2 * 2**40 / 23.99e12
    assert asked == pytest.approx([share, share + 0.1, share + 0.2, share + 0.05], rel=1e-3)


def test_fields_of_the_scenario_stand_beside_what_it_states() -> None:
    """As in ``zsim.predict``: the same case, the same risk, the same knobs."""
    stated = {"layout": "raidz2x6", "drive_size": "8TB", "fill": 0.6}
    assert zsim.resolve("raidz2x6", drive_size="8TB", fill="60%") == zsim.resolve(stated)
    assert zsim.resolve(**stated) == zsim.resolve(stated)
    inputs = RiskInputs(hours="24h", afr=0.02, correlation=1.0, latent=False)
    beside = zsim.risk("raidz2x6", inputs, drive_size="8TB", fill=0.6)
    assert beside.to_dict() == zsim.risk(stated, inputs).to_dict()
    with pytest.raises(InputError, match=r"write zsim.RiskInputs\(afr='2%'\)"):
        zsim.risk("raidz2x6", afr="2%")  # type: ignore[call-arg]
    with pytest.raises(InputError, match="layout is missing"):
        zsim.tune()


def test_widths_as_text_are_the_list_or_range_that_they_are_on_the_command_line() -> None:
    stated = {"parity": 1, "fill": 0.05, "drive_size": "100GB", "release": "nothing"}
    for text in ("4,6", "4..6..2"):
        rows = zsim.sweep(width=text, jobs=1, **stated)
        assert [row["layout"] for row in rows] == ["raidz1x4", "raidz1x6"]
        assert [row["width"] for row in rows] == [4, 6]
    with pytest.raises(InputError, match="width 'four' cannot be used: it is a whole number"):
        zsim.sweep(width="four", **stated)


def test_a_row_that_cannot_be_has_its_values_as_the_others_have_them() -> None:
    """It had ``fill`` as it was typed, so that a value that all share stood as two."""
    asked = {
        "layout": "raidz2x6",
        "fill": ["5%"],
        "replace": [1, 3],
        "drive_size": ["100GB"],
        "release": "none",
    }
    rows = zsim.sweep(jobs=1, **asked)
    assert [(row["fill"], row["drive_size"]) for row in rows] == [(0.05, 100e9)] * 2
    assert [row["replace"] for row in rows] == [1, 3]
    assert all(row["refused"] for row in rows)


def test_what_a_spare_is_worth_is_not_asked_of_a_draid_that_has_its_own() -> None:
    """Drives on the shelf were told to make its losses thirty times as likely."""
    inputs = RiskInputs(hours="3h", afr=0.02)
    for layout, asked in (("draid2:4d:12c:1s", False), ("raidz2x6", True)):
        rows = plan_worth(layout, inputs).rows
        assert any("spare" in row["change"] for row in rows) == asked
        assert any(row["change"] == "a scrub every 7 d" for row in rows)


def test_a_comparison_has_the_chance_that_a_risk_has() -> None:
    """`zsim compare` showed none but for plain disks."""
    pool: dict[str, Any] = {"drive_size": "200GB", "fill": 0.3, "recordsize": "1M"}
    inputs = RiskInputs(afr=0.03)
    table = zsim.compare("mirror2", "raidz1x3", "2*disk", jobs=1, risk=inputs, **pool)
    assert table.columns[-4:] == ("vdev_per_year", "vdev_per_year_low", "vdev_per_year_high", "refused")
    for row in table:
        known = zsim.risk(row["layout"], inputs, **pool).per_year.vdev
        assert row["vdev_per_year"] == pytest.approx(known.p, rel=1e-9)
        assert (row["vdev_per_year_low"], row["vdev_per_year_high"]) == (known.low, known.high)
    assert table.grid().head[-1] == "vdev lost in a year"
    assert "1 in " in table.grid().rows[0][-1]
    assert zsim.Table.from_json(table.to_json()).rows == table.rows
    with pytest.raises(InputError, match="inputs of a risk"):
        zsim.compare("mirror2", risk="yes", **pool)


def test_what_a_change_is_worth_begins_with_the_chance_of_a_risk_where_vdevs_differ(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The special mirror was taken to be repaired as slowly as the RAID-Z vdev."""

    def hours(scenario: Scenario, *_: object) -> Quantiles:
        middle = 1.0 if scenario.replace_in is not None else 60.0
        return Quantiles(p10=0.8 * middle * 3600, p50=middle * 3600, p90=1.5 * middle * 3600)

    def answers(scenarios: Any, jobs: int | None = None) -> Iterator[tuple[int, Any]]:
        for place, stated in enumerate(scenarios):
            found = hours(Scenario.from_dict(stated)).to_dict()
            yield place, {f"{name}_s": value for name, value in found.items()}

    monkeypatch.setattr(facts, "answers", answers)
    layout = "raidz1x4+special:mirror2"
    known = risk(layout, hours_of=hours, fill=0.5).per_year
    row = plan_worth(layout, fill=0.5).rows[0]
    assert row["vdev_per_year"] == pytest.approx(known.vdev.p, rel=1e-6)
    assert row["files_per_year"] == pytest.approx(known.files.p, rel=1e-6)
