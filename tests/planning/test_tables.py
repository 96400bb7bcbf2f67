"""Tables: never a number cut, what is the same in all rows above, files and frames, equal data, any axis."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.cli.forecasts.sweep import axes_of, more_axes
from zsim.cli.main import main
from zsim.planning.compare import compare
from zsim.planning.grid import fields_of
from zsim.planning.page import table_page
from zsim.planning.rows import ANSWER
from zsim.planning.sweep import sweep
from zsim.planning.table import Table
from zsim.prediction.answer.tables import Grid, fitted, grid_text
from zsim.scenario.model import Scenario

COLUMNS = ("layout", "fill", "drive_size", "load", *ANSWER, "refused")


def row(**changes: Any) -> dict[str, Any]:
    usual = {
        "layout": "raidz2x6", "fill": 0.5, "drive_size": 18 * 10**12, "load": None,
        "p10_s": 10_000.0, "p50_s": 20_000.0, "p90_s": 90_000.0, "bottleneck": "the source drives",
        "utilisation": 0.9, "resilvered_bytes": 1 << 40, "read_bytes": 1 << 42, "refused": None,
    }  # fmt: skip
    return usual | changes


TABLE = Table(
    COLUMNS,
    (
        row(),
        row(fill=0.8, p50_s=30_000.0),
        row(fill=0.3, p50_s=None, refused="too full"),
        row(fill=0.9, p50_s=9e3),
    ),
)


@pytest.mark.parametrize("width", [30, 44, 60, 80, 100, 200])
def test_a_number_is_never_cut_and_no_line_is_too_long(width: int) -> None:
    grid = TABLE.grid()
    text = grid_text(grid, width)
    assert max(map(len, text.splitlines())) <= width
    flat = re.sub(r"\s+", " ", text)
    for place in grid.numeric:
        for line in grid.rows:
            assert line[place] in flat
    assert "…" not in text


def test_columns_that_do_not_fit_go_below_with_the_first_one_repeated() -> None:
    grid = Grid(("name", "a", "b"), (("raidz2x6", "123456", "654321"),), frozenset({1, 2}))
    assert fitted(grid, 80) == [grid]
    first, second = fitted(grid, 20)
    assert (first.head, second.head) == (("name", "a"), ("name", "b"))
    assert second.rows == (("raidz2x6", "654321"),)
    assert second.numeric == {1}


def test_what_tells_rows_of_a_sweep_apart_is_in_each_of_its_tables() -> None:
    rows = tuple(row(width=width, parity=parity) for width in (4, 6) for parity in (1, 2))
    grid = Table(("width", "parity", *ANSWER), rows).grid()
    first, second = fitted(grid, 40)[:2]
    assert first.head[:2] == second.head[:2] == ("width", "parity")
    assert [each[:2] for each in second.rows] == [("4", "1"), ("4", "2"), ("6", "1"), ("6", "2")]


def test_the_head_of_a_column_breaks_between_words_before_a_table_falls_apart() -> None:
    grid = Grid(("layout", "vdev lost in a year"), (("raidz2x6", "1 in 2,000"),), frozenset({1}))
    assert fitted(grid, 24) == [grid]
    assert max(map(len, grid_text(grid, 24).splitlines())) <= 24
    four = Grid(("not known", "changes the chance by"), (("age", "x 9"),), frozenset({1}))
    assert len(grid_text(four, 24).splitlines()) == 3


def test_minutes_and_seconds_stay_together() -> None:
    grid = Grid(("whole after",), (("1 h 1 min (43 min 57 s to 1 h 53 min)",),))
    for width in range(12, 38):
        assert "43 min 57 s" in grid_text(grid, width)


@pytest.mark.parametrize("width", range(50, 141, 5))
def test_no_word_is_cut_and_no_figure_broken(width: int) -> None:
    remedy = "state it (zfs get recordsize,volblocksize); check twice"
    head = ("not known", "answer if only this varies", "interval narrows by", "remedy")
    grid = Grid(head, (("recordsize", "15 h 48 min to 38 h 2 min", "29 %", remedy),), frozenset({2}))
    lines = grid_text(grid, width).splitlines()
    assert max(map(len, lines)) <= width
    for figure in ("15 h 48 min", "38 h 2 min", "29 %", "recordsize,volblocksize);"):
        assert any(figure in line for line in lines)


def test_names_are_not_broken() -> None:
    grid = Grid(("name", "a"), (("draid2:8d:90c:4s", "123456"),), frozenset({1}))
    for width in (20, 26, 40):
        assert "draid2:8d:90c:4s" in grid_text(grid, width)


def test_what_all_rows_have_stands_above() -> None:
    asked, answered = TABLE.heading()
    assert asked.startswith("All: layout raidz2x6; drive size 18TB")
    assert answered.startswith("The same in all rows: bottleneck sources;")
    assert "layout" not in TABLE.grid().head
    assert "p10" in TABLE.grid().head, "quantiles stay"
    assert Table(COLUMNS, (row(),)).heading() == (), "one row has nothing in common with others"
    assert Table(COLUMNS, (row(),), {"memory": 1 << 34}).heading() == ("All: memory 16G.",)
    assert "18TB" in TABLE._repr_html_()
    assert "18000000000000" not in TABLE._repr_html_()


def test_rows_and_columns_are_found_by_place_and_name() -> None:
    assert TABLE["fill"] == [0.5, 0.8, 0.3, 0.9]
    assert TABLE[1]["fill"] == 0.8
    assert len(TABLE) == 4
    with pytest.raises(InputError, match="nonsense"):
        TABLE["nonsense"]


def test_rows_are_sorted_and_those_without_a_value_come_last() -> None:
    assert TABLE.sort("p50_s")["fill"] == [0.9, 0.5, 0.8, 0.3]
    assert TABLE.sort("p50_s", reverse=True)["fill"] == [0.8, 0.5, 0.9, 0.3]
    with pytest.raises(InputError):
        TABLE.sort("nonsense")


def test_a_table_is_written_as_the_name_ends(tmp_path: Path) -> None:
    TABLE.save(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == TABLE.to_csv()
    assert TABLE.to_csv().splitlines()[1].startswith("raidz2x6,0.5,18000000000000,,10000.0,")
    TABLE.save(tmp_path / "t.json")
    data = json.loads((tmp_path / "t.json").read_text())
    assert data["schema_version"] == 1
    assert data["rows"][0]["drive_size"] == 18 * 10**12
    assert {"zsim", "code"} <= set(data["provenance"])
    with pytest.raises(InputError):
        TABLE.save(tmp_path / "t.xls")


def test_the_page_of_a_table_stands_alone() -> None:
    page = table_page(TABLE)
    assert "<svg" in page
    assert "18TB" in page
    assert "too full" in page
    assert "http" not in re.sub(
        r'(xmlns|xlink|href="#)[^ >]*|http://www\.w3\.org[^"]*|http://purl[^"]*|https://matplotlib[^"<]*',
        "",
        page,
    )


def test_data_frames_have_rows_and_axes() -> None:
    pytest.importorskip("pandas")
    frame = TABLE.to_frame()
    assert list(frame.columns) == list(COLUMNS)
    assert TABLE.axes == ("fill",)
    pytest.importorskip("xarray")
    assert TABLE.to_xarray()["p50_s"].dims == ("fill",)


# Equal data.


def test_equal_data_is_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zsim.planning.compare.answers", lambda scenarios, jobs: iter(()))
    table = compare("raidz2x6", "raidz1x3", "mirror2", "draid2:8d:41c:2s", data=100 << 40, drive_size="18TB")
    for stored in table["data_bytes"]:
        assert stored == pytest.approx(100 << 40, rel=1e-3)
    twelve = compare("raidz2x6", "mirror2", data=40 << 40, drives=12, drive_size="18TB")
    assert twelve["drives"] == [12, 12]


def test_equal_data_leaves_a_layout_the_vdevs_that_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zsim.planning.compare.answers", lambda scenarios, jobs: iter(()))
    table = compare("raidz2x8", "2*raidz2x8", data=40 << 40, drive_size="18TB")
    assert table["layout"] == ["raidz2x8", "2*raidz2x8"]
    assert table["drives"] == [8, 16]


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"data": 1 << 40, "fill": 0.5}, "fill"),
        ({"data": 1 << 40, "usable": 1 << 40}, "usable"),
        ({"data": 1 << 50, "drives": 6}, "data"),
    ],
)
def test_equal_data_that_cannot_be_is_refused(asked: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        compare("raidz2x6", drive_size="4TB", **asked)


# Any field as an axis.


def test_a_width_that_is_none_is_refused_with_the_forms_of_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "--layout", "raidz2x6", "--width", "4-12:2"]) == 2
    said = capsys.readouterr().err
    assert "--width '4-12:2'" in said
    assert "4..12..2" in said


def test_axes_of_the_command_line_divide_values() -> None:
    assert more_axes(("tunables.zfs_vdev_scrub_max_active=1,3", "history=home-nas,vm-host")) == {
        "tunables.zfs_vdev_scrub_max_active": ["1", "3"],
        "history": ["home-nas", "vm-host"],
    }
    assert more_axes(("load=none;random-read,rate=50",)) == {"load": [(), "random-read,rate=50"]}
    one = {"load": ("none;random-read,rate=50;20 reads/s",)}
    assert axes_of(None, None, one, {"load"})["load"] == [(), ("random-read,rate=50",), ("20 reads/s",)]
    both = {"load": ("random-read,rate=50", "backup 100MB/s")}
    assert axes_of(None, None, both, {"load"})["load"] == [both["load"]], "two loads at once"
    with pytest.raises(InputError, match="alternatives, and is given once"):
        axes_of(None, None, {"load": ("none;20 reads/s", "backup 100MB/s")}, {"load"})
    assert more_axes(("load=random-read,rate=50",)) == {"load": ["random-read,rate=50"]}
    assert more_axes(("new-drive=none;wd40efax",)) == {"new_drive": [None, "wd40efax"]}


def test_shares_of_vdevs_are_one_value_and_semicolons_divide_several() -> None:
    listed = {"vdev_fills", "fill"}
    assert axes_of(None, None, {"vdev_fills": "80%,30%"}, listed) == {"vdev_fills": ["80%,30%"]}
    two = axes_of(None, None, {"vdev_fills": "80%,30%; 50%,50%", "fill": "1%,2%"}, listed)
    assert two == {"vdev_fills": ["80%,30%", "50%,50%"], "fill": ["1%", "2%"]}


def test_an_axis_puts_aside_what_the_base_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zsim.planning.store.study.answers", lambda *asked: iter(()))
    base = Scenario(layout="2*raidz1x5", drive_size="8TB", alloc="20T")
    table = sweep(base, fill=[0.3, 0.6])
    assert table["refused"] == ["not run"] * 2
    assert "alloc" not in table.common


def test_tunables_are_axes_one_by_one() -> None:
    point = {"layout": "mirror2", "tunables.a": "3", "tunables.b": None}
    assert fields_of(point, {"tunables": {"c": 1}}) == {"layout": "mirror2", "tunables": {"c": 1, "a": 3}}
    assert fields_of({"width": 6, "parity": 2}, {}) == {"layout": "raidz2x6"}


def test_loads_and_tunables_are_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zsim.planning.store.study.answers", lambda *asked: iter(()))
    axes = {"tunables.zfs_vdev_scrub_max_active": [1, 3], "load": [(), "random-read,rate=5"]}
    table = sweep(layout="mirror2", drive_size="4TB", **axes)
    assert len(table) == 4
    assert [load for load in table["load"] if load] != []
    assert table.axes == ("tunables.zfs_vdev_scrub_max_active", "load")


def test_what_is_compared_may_be_a_list_and_sizes_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zsim.planning.compare.answers", lambda scenarios, jobs: iter(()))
    mirror = Scenario(layout="mirror2", fill=0.5)
    listed = compare(["raidz2x6", mirror], "raidz1x4", drive_size="18TB", data="40T", jobs=1)
    assert listed["data_bytes"] == pytest.approx([40 << 40] * 3, rel=1e-3)
    assert listed == compare("raidz2x6", mirror, "raidz1x4", drive_size="18TB", data=40 << 40)
    with pytest.raises(InputError, match="layouts '?6"):
        compare(6, fill=0.5)  # type: ignore[arg-type]


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer what is compared at once, each with another amount repaired."""

    def answers(scenarios: list[Any], jobs: int | None) -> Iterator[tuple[int, dict[str, Any]]]:
        for place in range(len(scenarios)):
            found = row(resilvered_bytes=(1 + place) << 40)
            yield place, {name: found[name] for name in ANSWER}

    monkeypatch.setattr("zsim.planning.compare.answers", answers)


def heads(table: Table) -> list[str]:
    """Return the first lines of a table, without what is the same in all rows."""
    return [each for each in str(table).splitlines() if not each.startswith("The same in all")]


@pytest.mark.usefixtures("answered")
def test_what_no_row_states_is_said_and_what_follows_from_it_is_left_out() -> None:
    loose = compare("mirror2", "raidz1x3")
    assert [each.split(" (")[0] for each in loose.missing] == [
        "the size of the drives", "how full the pool is", "the record sizes"
    ]  # fmt: skip
    first, head = heads(loose)[:2]
    assert first.startswith("NOT STATED: the size of the drives")
    assert all(row["usable_bytes"] is None and row["data_bytes"] is None for row in loose)
    assert "repaired" not in head
    assert "usable" not in head
    whole = compare("mirror2", "raidz1x3", fill=0.5, drive_size="4TB")
    assert whole.missing == ()
    assert any("repaired" in line for line in heads(whole)[:3])
    # Half of SIZE: of what may be used that is a little more, since ZFS keeps some free.
    assert all(0.5 < row["data_bytes"] / row["usable_bytes"] < 0.52 for row in whole)


@pytest.mark.usefixtures("answered")
def test_equal_data_is_told_as_what_was_asked() -> None:
    table = compare("mirror2", "raidz1x3", data="1T", drive_size="4TB")
    assert "All: drive size 4TB; data 1T." in str(table)
    uneven = compare("mirror2", "raidz1x3", drives=5, drive_size="4TB", fill=0.3)
    assert "drives 5" not in str(uneven)
    assert [row["drives"] for row in uneven] == [4, 3]


def test_a_heading_with_line_ends_of_its_own_has_a_width(capsys: pytest.CaptureFixture[str]) -> None:
    """As of an axis whose name came from a file with a line end in the name."""
    grid = Grid(["a\nb\nc", "p50"], [["1", "2"]], frozenset({0, 1}))
    assert fitted(grid, 80) == [grid]
