"""``zsim plan``: candidates, wishes, screening and confirmation, bisection, the front."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zsim
from zsim.base.errors import InputError
from zsim.cli.main import main
from zsim.planning.design import one_layout, search
from zsim.planning.design.candidates import for_drives
from zsim.planning.design.requirements import Requirement
from zsim.planning.risk.one_vdev.group import HOUR
from zsim.planning.risk.question import RiskInputs
from zsim.scenario.layout import Layout

TEBI = 1024**4


def test_what_was_stated_stands_above_the_table_in_its_own_units(simulated: list[str]) -> None:
    inputs = RiskInputs(afr=0.015, scrub=7 * 24 * HOUR)
    asked = {"require": ["p90 < 72h"], "inputs": inputs, "drive_size": "20TB", "fill": "80%"}
    found = search.plan_layouts(12, kinds=("raidz",), **asked)
    head = ("12 drives", "fill 80 %", "drive size 20TB", "annual failure rate 1.5 %", "a scrub every 7 d")
    assert sorted(found.stated) == sorted(head)
    assert f"Stated: {'; '.join(found.stated)}." in str(found)
    assert "meet p90 < 72h." in str(found)
    assert found.to_dict()["stated"] == list(found.stated)


def test_columns_with_one_value_stand_above_the_table(simulated: list[str]) -> None:
    asked = {"require": ["p90 < 72h"], "drive_size": "20TB"}
    found = one_layout.plan_fill("raidz2x12", **asked)
    assert found.headline().startswith("Fullest raidz2x12 with p90 < 72h: ")
    assert found.grid().head[0] == "fill"
    assert "usable" not in found.grid().head
    assert "The same in all rows: usable 166T" in str(found)
    assert all(all(len(cell) for cell in each[2:]) for each in found.grid().rows)


def test_candidates_use_the_drives_there_are() -> None:
    found = for_drives(60, 0)
    layouts = {str(each.layout) for each in found}
    assert {"30*mirror2", "20*mirror3", "10*raidz2x6", "5*raidz2x12", "4*raidz3x15"} <= layouts
    assert {"draid2:8d:60c:1s", "2*draid2:8d:30c:1s"} <= layouts
    assert all(each.drives == 60 for each in found)
    assert all(each.spares <= 4 for each in found)
    assert len(layouts) == len(found)
    assert all(each.spares >= 3 for each in for_drives(60, 3))
    assert [str(each.layout) for each in for_drives(2, 0)] == ["mirror2"]


@pytest.mark.parametrize(
    ("text", "row", "met"),
    [
        ("p90 < 24h", {"p90_s": 86_399.0}, True),
        ("p90<24h", {"p90_s": 86_400.0}, False),
        ("vdev < 1e-5", {"vdev_per_year": 9e-6}, True),
        ("vdev < 0.001%", {"vdev_per_year": 2e-5}, False),
        ("vdev <= 1 in 100,000", {"vdev_per_year": 1e-5}, True),
        ("usable >= 700T", {"usable_bytes": 700 * TEBI}, True),
        ("random >= 2,000", {"random_reads": 1999}, False),
        ("read > 2GB/s", {"read_rate": 2.1e9}, True),
        ("p90 < 24h", {}, False),
    ],
)
def test_wishes(text: str, row: dict[str, float], met: bool) -> None:
    assert Requirement.parse(text).is_met(row) is met


@pytest.mark.parametrize("text", ["p90", "p90 = 3h", "colour < 3", "p90 < soon", "random > many"])
def test_wishes_that_are_none(text: str) -> None:
    with pytest.raises(InputError):
        Requirement.parse(text)


def test_a_few_runs_tell_the_hours_of_all_and_the_best_are_confirmed(simulated: list[str]) -> None:
    design = search.plan_layouts(drives=60, fill=0.8, drive_size="20TB", require=["usable >= 600T"])
    screening = [name for name in simulated if "*" not in name]
    assert len(screening) <= 20
    confirmed = [row for row in design.rows if row.get("simulated")]
    assert len(confirmed) == 8, "so many of the best, unless another number is asked for"
    meeting = design.meeting
    assert meeting
    assert all(row["usable_bytes"] >= 600 * TEBI for row in meeting)
    assert [row["usable_bytes"] for row in meeting] == sorted(
        (row["usable_bytes"] for row in meeting), reverse=True
    )
    for row in meeting:
        vdev = Layout.parse(row["layout"]).vdevs[0]
        if vdev.kind == "raidz":
            assert row["p50_s"] == pytest.approx((2 * vdev.children + 48) * HOUR, rel=0.05)
        assert row["vdev_per_year_low"] < row["vdev_per_year"] < row["vdev_per_year_high"]
        assert row["random_reads_degraded"] < row["random_reads"]
    assert not any(row["meets"] for row in design.rows if row["layout"] == "30*mirror2")


def test_what_fails_without_a_simulation_is_not_simulated(simulated: list[str]) -> None:
    search.plan_layouts(drives=24, drive_size="4TB", require=["random >= 1500"])
    assert simulated
    assert all(name.partition("*")[2].startswith("mirror") or name.startswith("mirror") for name in simulated)


def test_the_front_holds_what_nothing_beats() -> None:
    rows = [
        {"layout": name, "usable_bytes": a, "vdev_per_year": b, "p90_s": c, "random_reads": d, "drives": n}
        for name, a, b, c, d, n in (
            ("a", 10, 1, 1, 1, 12),
            ("b", 9, 2, 1, 1, 12),
            ("c", 5, 0.1, 1, 1, 12),
            ("d", 10, 1, 1, 2, 12),
            ("few", 9, 2, 1, 1, 10),
        )
    ]
    assert search.pareto(rows) == ["c", "d", "few"]


def test_where_data_is_to_be_held_the_fewest_drives_stand_first(simulated: list[str]) -> None:
    found = search.plan_layouts(usable=40 << 40, drive_size="4TB", kinds=["raidz"], confirm=1)
    drives = [row["drives"] for row in found.rows]
    assert drives == sorted(drives)
    assert len(set(drives)) > 1
    assert "drives" in found.grid().head
    assert found.notes()[-3].startswith("front: no other layout of as few drives is better")
    space = search.plan_layouts(usable=40 << 40, drive_size="4TB", kinds=["raidz"], confirm=1, sort="usable")
    assert space.rows[0]["usable_bytes"] == max(row["usable_bytes"] for row in space.rows)


def test_kinds_and_how_many_are_confirmed(simulated: list[str]) -> None:
    found = search.plan_layouts(drives=24, drive_size="4TB", kinds=["raidz"], confirm=1)
    assert all("raidz" in row["layout"] for row in found.rows)
    assert sum(row["simulated"] for row in found.rows) == 1


def test_usable_space_or_a_budget_instead_of_drives(simulated: list[str]) -> None:
    space = search.plan_layouts(usable=100 * TEBI, drive_size="20TB", kinds=["mirror", "draid"])
    assert all(row["usable_bytes"] >= 100 * TEBI for row in space.rows)
    money = search.plan_layouts(budget=8500, price=350, drive_size="20TB", kinds=["mirror"])
    assert all(row["drives"] <= 24 and row["price"] <= 8500 for row in money.rows)
    with pytest.raises(InputError, match="price"):
        search.plan_layouts(budget=8500)


@pytest.mark.parametrize("given", [{"drives": 12}, {"budget": 1200.0, "price": 100.0}])
def test_drives_or_money_with_data_to_hold_leave_what_holds_it(given: dict[str, float]) -> None:
    hours = RiskInputs(hours=30 * HOUR)
    asked = search.plan_layouts(usable="30T", drive_size="4TB", inputs=hours, confirm=0, **given)  # type: ignore[arg-type]
    every = search.plan_layouts(drives=12, drive_size="4TB", inputs=hours, confirm=0)
    holding = [row["layout"] for row in every.rows if row["usable_bytes"] >= 30 * 2**40]
    assert 0 < len(holding) < len(every.rows)
    assert [row["layout"] for row in asked.rows if row["meets"]] == holding
    assert "usable >= 30T" in str(asked).splitlines()[0]


def test_the_widest_vdev_under_a_limit(simulated: list[str]) -> None:
    found = one_layout.plan_width("raidz2x6", ["p90 < 100h"], fill=0.5)
    # 1.5 (2 n + 30) < 100
    assert found.answer == "raidz2x18"
    assert len(simulated) <= 7
    assert one_layout.plan_width("raidz2x6", ["p90 < 10h"]).answer is None
    assert one_layout.plan_width("raidz3x6", ["p90 < 10d"]).answer == "raidz3x24"
    with pytest.raises(InputError, match="RAID-Z"):
        one_layout.plan_width("mirror2", ["p90 < 1h"])
    with pytest.raises(InputError, match="limit"):
        one_layout.plan_width("raidz2x6", [])


def test_of_plain_disks_redundancy_is_worth_something(simulated: list[str]) -> None:
    """As much space with redundancy; no spare, scrub or faster repair helps where nothing is repaired."""
    found = one_layout.plan_worth("4*disk", drive_size="4TB", fill=0.5)
    assert [row["change"] for row in found.rows] == [
        "as it is",
        "a drive more: raidz1x5",
        "two drives more: raidz2x6",
        "a mirror for each drive: 4*mirror2",
    ]
    assert simulated == ["raidz1x5", "raidz2x6", "4*mirror2"]
    assert found.rows[0]["vdev_per_year"] == pytest.approx(
        zsim.risk("4*disk", drive_size="4TB", fill=0.5).per_year.vdev.p, rel=0.01
    )
    assert all(row["vdev_times"] < 0.1 for row in found.rows[1:])
    one = one_layout.plan_worth("disk+special:disk", drive_size="4TB", alloc="2TB")
    assert [row["change"] for row in one.rows][1:] == ["a mirror for the drive: mirror2+special:disk"]


def test_a_width_is_found_although_the_narrowest_fails(simulated: list[str]) -> None:
    """A narrow vdev holds too little; of those with room enough the widest below the limit counts."""
    asked = {"fill": 0.5, "drive_size": "20TB"}
    found = one_layout.plan_width("raidz2x6", ["p90 < 100h", "usable >= 100T"], **asked)
    assert found.answer == "raidz2x18"
    assert all(Layout.parse(name).leaves >= 8 for name in simulated), "for space nothing is simulated"
    none = one_layout.plan_width("raidz2x6", ["p90 < 100h", "usable >= 1000T"], **asked)
    assert none.answer is None
    assert none.rows


def test_the_fill_at_which_a_limit_is_crossed(simulated: list[str]) -> None:
    found = one_layout.plan_fill("raidz2x12", ["p90 < 80h"])
    # 1.5 (24 + 60 fill) < 80
    assert found.answer == "48 %"
    assert len(simulated) <= 10
    assert all(row["meets"] == (row["fill"] <= 0.48) for row in found.rows)


def test_what_a_spare_or_a_scrub_buys() -> None:
    found = one_layout.plan_worth("raidz2x12", RiskInputs(hours=30 * HOUR))
    times = {row["change"]: row for row in found.rows}
    assert times["as it is"]["vdev_times"] == 1.0
    assert times["a hot spare"]["vdev_times"] < 0.7
    assert times["spares ordered when needed"]["vdev_times"] > 2
    assert times["a scrub every 7 d"]["files_times"] < times["a scrub every 14 d"]["files_times"] < 1
    assert times["no scrubs for a year"]["files_times"] > 2
    assert times["a repair twice as fast"]["vdev_times"] < 1 < times["a repair half as fast"]["vdev_times"]


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture, stored = tmp_path / "front.svg", tmp_path / "plan.json"
    wishes = '--require "usable >= 200T" --require "vdev < 1 in 100"'
    line = f"plan --drives 24 --drive-size 20TB --fill 80% --hours 30 {wishes} --plot {picture} -o {stored}"
    assert main(shlex.split(line)) == 0
    out = capsys.readouterr().out
    assert "layouts meet usable >= 200T and vdev < 1 in 100." in out.splitlines()[0]
    assert "2*raidz2x12" in out
    assert "front" in out
    assert picture.stat().st_size > 1000
    data = json.loads(stored.read_text(encoding="utf-8"))
    assert {"layout", "p50_s", "p90_s", "vdev_per_year", "usable_bytes", "random_reads", "pareto"} <= set(
        data["rows"][0]
    )
    for find in ("width", "fill", "worth"):
        more = "" if find == "worth" else wishes.partition(" --require ")[2] and '--require "vdev < 1 in 100"'
        picture = tmp_path / f"{find}.svg"
        line = f"plan --find {find} --layout raidz2x12 --hours 30 {more} --plot {picture} --json"
        assert main(shlex.split(line)) == 0
        assert json.loads(capsys.readouterr().out)["question"] == find
        assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("flags", "field"),
    [
        ("", "drives"),
        ("--drives 1", "--drives"),
        ("--drives 12 --budget 900", "--budget"),
        ("--drives 12 --require p90", "--require"),
        ("--drives 12 --sort colour", "--sort"),
        ("--drives 12 --kinds raidz,stripe", "--kinds"),
        ("--drives 12 --find cheapest", "--find"),
        ("--drives 12 --layout raidz2x6", "layout"),
        ("--find width --require 'p90 < 3h'", "layout"),
        ("--find fill --layout raidz2x6 --drives 3", "--drives"),
        ("--budget 100", "--price"),
        ("--budget 100 --price 0", "--price"),
        ("--drives 12 --price 1e308", "--price"),
        ("--drives 12 --price 1e999", "--price"),
        ("--drives 12 --price '\x1d1x'", "--price"),
        ("--drives 12 --seed " + "7" * 5001, "seed"),
    ],
)
def test_bad_input_is_one_sentence(flags: str, field: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(f"plan {flags} --hours 30 --json")) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"zsim: {field} ")
    assert len(told.err.splitlines()) == 1


@pytest.mark.parametrize("inputs", [{"shape": 1.12}, {"method": "simulation"}])
def test_what_a_chain_does_not_count_is_refused(inputs: dict[str, Any]) -> None:
    asked = RiskInputs(hours="24h", **inputs)
    with pytest.raises(InputError, match="layouts are compared by chains"):
        search.plan_layouts(drives=8, inputs=asked)
    with pytest.raises(InputError, match="layouts are compared by chains"):
        one_layout.plan_worth("raidz2x8", inputs=asked)


def test_the_function_is_public() -> None:
    assert zsim.plan_layouts is search.plan_layouts


def test_a_limit_that_is_not_crossed_and_rows_not_shown_are_told(simulated: list[str]) -> None:
    open_end = one_layout.plan_width("raidz2x6", ["p90 < 1000h"])
    assert open_end.answer == "raidz2x20"
    assert open_end.notes() == ("The requirement still holds there; wider was not tried.",)
    assert one_layout.plan_width("raidz2x6", ["p90 < 90h"]).notes() == ()
    assert one_layout.plan_width("raidz2x6", ["p90 < 1h"]).notes() == ()
    many = search.plan_layouts(drives=24, require=["usable >= 900T"])
    assert many.notes()[0] == "No layout meets all requirements; the table shows what was tried."
    assert many.notes()[1] == f"The first 20 of {len(many.rows)} are shown; --json has all."
    assert len(many.grid().rows) == 20


@pytest.mark.parametrize("wrong", [{"spares": -3}, {"spares": 1.5}, {"spares": None}, {"drives": "12"}])
def test_a_number_of_drives_or_spares_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        search.plan_layouts(**{"drives": 12, **wrong})


def test_numbers_of_numpy_are_numbers(simulated: list[str]) -> None:
    asked = {"kinds": ("mirror",), "confirm": 0}
    found = search.plan_layouts(np.int64(12), spares=np.int32(1), **asked)  # type: ignore[arg-type]
    assert found.to_dict() == search.plan_layouts(12, spares=1, **asked).to_dict()  # type: ignore[arg-type]
    assert json.loads(json.dumps(found.to_dict()))["rows"][0]["drives"] == 12
