"""Rules of tables by hand: what is asked, what is kept, who answers, words, and where all is drawn."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.planning import grid, page, running
from zsim.planning.compare import compare, unlike_repairs
from zsim.planning.drawing import figure
from zsim.planning.rows import ANSWER
from zsim.planning.store import keys
from zsim.planning.store.lines import LineStore
from zsim.planning.store.sqlite import Store, export
from zsim.planning.table import NOT_RUN, Table, interrupted_row
from zsim.planning.usable import usable_bytes
from zsim.scenario.model import Scenario

HOUR, GIB = 3600.0, 1 << 30


def row(p50: float | None = HOUR, **more: Any) -> dict[str, Any]:
    return {"layout": "raidz2x6", "p10_s": None, "p50_s": p50, "p90_s": None, **more}


# --- what is asked


@pytest.mark.parametrize("more", [0, 1])
def test_data_take_four_fifths_of_a_pool_at_most(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One vdev holds 80 % of what it may; a byte more takes a second one."""
    monkeypatch.setattr("zsim.planning.compare.answers", lambda scenarios, jobs: iter(()))
    room = usable_bytes(resolve({"layout": "raidz2x6", "drive_size": "4TB"}))
    (found,) = compare("raidz2x6", drive_size="4TB", data=int(0.8 * room) + more)
    assert found["drives"] == 6 * (1 + more)
    assert found["data_bytes"] / found["usable_bytes"] == pytest.approx(
        0.8 / (1 + more), rel=0.01 * more + 1e-4
    )


def test_values_of_an_axis_are_one_or_many() -> None:
    load = {"kind": "random-read", "rate": 5}
    found = [grid._values(each) for each in ("50%", load, 3, None, [1, 2], range(3), np.array(4.0))]
    assert found == [("50%",), (load,), (3,), (None,), (1, 2), (0, 1, 2), (np.array(4.0),)]
    endless = grid._values(itertools.count())
    with pytest.raises(InputError, match="at most 100000 are computed"):
        grid._check({"layout": ("mirror2",), "seed": endless}, {})
    grid._check({"layout": ("mirror2",), "seed": endless[:100_000]}, {})
    halves = {"layout": ("mirror2",) * 2, "fill": (0.5,) * 2, "seed": endless[:25_000]}
    grid._check(halves, {})
    with pytest.raises(InputError, match="100004 combinations"):
        grid._check({**halves, "seed": endless[:25_001]}, {})


@pytest.mark.parametrize(
    ("value", "read"),
    [("3", 3), ("2.5", 2.5), ("1e3", 1000.0), ("auto", "auto"), (7, 7), (None, None)],
)
def test_the_value_of_a_tunable_is_the_number_that_its_text_is(value: object, read: object) -> None:
    found = grid.number(value)
    assert (found, type(found)) == (read, type(read))


def test_tunables_of_a_combination_go_over_those_of_the_scenario() -> None:
    common = {"tunables": {"a": 1, "b": 2}}
    assert grid.fields_of({"tunables.a": "9"}, common) == {"tunables": {"a": 9, "b": 2}}
    own = {"tunables": {"c": 3}, "tunables.a": "9"}
    assert grid.fields_of(own, common) == {"tunables": {"c": 3, "a": 9}}
    assert grid.fields_of({"tunables.a": None}, common) == {}
    with pytest.raises(InputError, match="a width alone is no layout"):
        grid.fields_of({"width": 6}, {})


# --- what is kept


def test_of_a_kept_sweep_only_whole_answers_are_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    good = {"key": "a", "answer": {"p50_s": 5.0}}
    odd = ({"key": 3, "answer": {"p50_s": 1.0}}, {"key": "b", "answer": {"p50_s": -1.0}}, {"answer": {}}, [1])
    lines = [json.dumps(each) for each in (*odd, good)]
    path.write_text("\n".join([*lines, lines[-1].replace('"a"', '"c"')[:-3]]))
    whole = {**dict.fromkeys((*ANSWER, "refused")), "p50_s": 5.0}
    assert LineStore(path).known(["a", "b", "c", "3"]) == {"a": whole}
    assert LineStore(tmp_path / "none.jsonl").missing(["a"]) == ["a"]


def test_an_answer_is_kept_without_what_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    stated = Scenario(layout="mirror2").stated()
    LineStore(path).add("a", "x", stated, {**row(5.0), "bottleneck": "target"})
    (kept,) = map(json.loads, path.read_text().splitlines())
    assert (kept["answer"], kept["scenario"]) == ({"p50_s": 5.0, "bottleneck": "target"}, stated)
    assert LineStore(path).known(["a"])["a"]["p50_s"] == 5.0


def test_more_keys_than_one_question_takes_are_looked_up(tmp_path: Path) -> None:
    """SQLite takes a limited number of marks: keys are asked for in parts of 500."""
    wanted = [f"{number:032x}" for number in range(1001)]
    with Store(tmp_path / "s.sqlite") as store:
        for number in (0, 499, 500, 999, 1000):
            store.add(wanted[number], "a", {}, {"p50_s": float(number)})
        found = store.known(wanted)
        assert [found[key]["p50_s"] for key in sorted(found)] == [0, 499, 500, 999, 1000]
        assert len(store.missing(wanted)) == 996
        assert store.known([]) == {}


def test_a_store_of_another_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    Store(path).close()
    with sqlite3.connect(path) as base:
        assert base.execute("SELECT version FROM form").fetchall() == [(1,)]
        base.execute("UPDATE form SET version = 2")
    base.close()
    with pytest.raises(InputError, match="its form is 2, this release of zsim reads 1"):
        Store(path)


def test_an_export_tells_its_share_and_an_empty_store_is_an_empty_table(tmp_path: Path) -> None:
    """Reading the answers is seven tenths of the work."""
    told: list[float] = []
    with Store(tmp_path / "s.sqlite") as store:
        assert export(store, tmp_path / "none.json") == 0
        assert json.loads((tmp_path / "none.json").read_text()) == []
        for number in range(4):
            load = [1, "x"] if number else None
            store.add(f"{number:032x}", "a", {"load": load}, {"p50_s": 2.5, "refused": None})
        assert export(store, tmp_path / "t.csv", lambda share, words: told.append(share)) == 4
    assert told == pytest.approx([0, 0.175, 0.35, 0.525])
    head, first, second, *_ = (tmp_path / "t.csv").read_text().splitlines()
    assert head == "key,sources,load,p50_s,refused"
    assert first.endswith(",a,,2.5,")
    assert second.endswith(',a,"[1,""x""]",2.5,')


def test_an_edited_model_makes_other_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "models_directory", lambda: tmp_path)
    monkeypatch.setattr(keys, "provenance", lambda: {"zsim": "1", "kernels": "k", "code": "c", "more": "m"})
    marks = [keys.sources()]
    for text in ("rpm = 7200", "rpm = 5400"):
        (tmp_path / "drives").mkdir(exist_ok=True)
        (tmp_path / "drives" / "d.toml").write_text(text)
        marks.append(keys.sources())
    assert len(set(marks)) == 3
    assert {len(mark) for mark in marks} == {16}


# --- who answers


@pytest.mark.parametrize(
    ("count", "jobs", "cores", "shared"),
    [(4, None, 8, 0), (5, None, 8, 5), (9, None, 8, 8), (9, None, 1, 0), (2, 5, 8, 2), (5, 1, 8, 0)],
)
def test_few_scenarios_are_answered_here_and_many_in_a_process_a_core(
    count: int, jobs: int | None, cores: int, shared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[int] = []

    def shared_out(waiting: Any, jobs: int) -> Iterator[tuple[int, Any]]:
        began.append(jobs)
        yield from ((place, row()) for place in range(count))

    monkeypatch.setattr(running, "_shared_out", shared_out)
    monkeypatch.setattr(running, "answer", lambda stated: row())
    monkeypatch.setattr(running, "available_cores", lambda: cores)
    monkeypatch.setattr("zsim.base.jit.of_this_machine", lambda: SimpleNamespace(prepare=lambda: None))
    scenarios: list[dict[str, object]] = [{"layout": "mirror2", "seed": number} for number in range(count)]
    assert sorted(place for place, _ in running.answers(scenarios, jobs)) == list(range(count))
    assert began == ([shared] if shared else [])


# --- words


def test_rows_that_an_interrupt_left_say_so() -> None:
    assert interrupted_row(row(5.0)) == row(5.0)
    assert interrupted_row(row(None, refused="too full"))["refused"] == "too full"
    assert interrupted_row(row(None, fill=0.5)) == {
        "layout": "raidz2x6", "fill": 0.5, **dict.fromkeys(ANSWER), "refused": NOT_RUN,
    }  # fmt: skip


def test_a_reason_is_told_once_with_the_layouts_it_holds_for() -> None:
    names = (("mirror2", "too full"), ("raidz1x3", "too full"), ("mirror2", "too full"), ("mirror3", "no"))
    rows = tuple(row(None, layout=name, refused=reason) for name, reason in names)
    assert Table(("layout", "refused"), (row(), *rows)).reasons() == (
        "mirror2, raidz1x3: too full",
        "mirror3: no",
    )


def test_a_picture_is_titled_by_what_was_asked_of_all_rows() -> None:
    rows = tuple(row(HOUR * n, fill=0.5, seed=n, usable_bytes=1) for n in (1, 2))
    table = Table(
        ("layout", "fill", "seed", "usable_bytes", "p50_s"), rows, {"memory": 16 * GIB, "frag": None}
    )
    assert table._title() == "raidz2x6, memory 16G, fill 50 %"
    assert figure(table.columns, rows, table._title()).get_suptitle() == (
        "Resilver time by seed: raidz2x6, memory 16G, fill 50 %"
    )
    assert repr(table) == "<Table: 2 rows of layout, fill, seed, usable_bytes, p50_s>"


@pytest.mark.parametrize(
    ("said", "short"),
    [("the source drives", "sources"), ("the replacement drive", "replacement"), ("the link: a port", "link"),
     ("no single one: the link is the busiest", "no single"), ("the source drive", "source")],
)  # fmt: skip
def test_a_bottleneck_is_a_word_or_two(said: str, short: str) -> None:
    assert Table(("bottleneck",), ({"bottleneck": said},)).grid().rows == ((short,),)


def test_names_that_are_the_layouts_but_for_their_number_are_not_repeated() -> None:
    def head(*names: tuple[str, str]) -> tuple[str, ...]:
        rows = tuple(row(HOUR * n, name=name, layout=layout) for n, (name, layout) in enumerate(names, 1))
        return Table(("name", "layout", "p50_s"), rows).grid().head

    assert head(("mirror2", "6*mirror2"), ("raidz2x6", "raidz2x6")) == ("layout", "p50")
    assert head(("mirror2", "6*mirror2"), ("a.toml", "raidz2x6")) == ("name", "layout", "p50")
    shapes = tuple(row(HOUR * n, width=n, parity=2, layout=f"raidz2x{n}", vdevs=n) for n in (6, 8))
    assert Table(("width", "parity", "layout", "p50_s"), shapes).grid().head == ("width", "p50")
    assert "layout" in Table(("width", "parity", "layout", "vdevs", "p50_s"), shapes).grid().head
    assert "layout" in Table(("width", "layout", "p50_s"), shapes).grid().head


def test_a_page_counts_its_scenarios() -> None:
    heads = {1: "1 scenario side by side", 2: "2 scenarios side by side"}
    for count, title in heads.items():
        table = Table(("layout", "fill", "p50_s"), tuple(row(HOUR, fill=0.1 * n) for n in range(count)))
        assert f"<h1>{title}</h1>" in page.table_page(table)


def test_a_table_without_axes_is_a_data_set_along_its_first_column() -> None:
    pytest.importorskip("xarray")
    table = Table(("layout", "p50_s"), (row(5.0),))
    assert table.to_xarray()["p50_s"].dims == ("layout",)


# --- where it is drawn


def panels(drawn: Any) -> list[Any]:
    return [each for each in drawn.axes if each.get_visible() and each.get_label() != "<colorbar>"]


def test_lines_have_a_twentieth_of_room_above_and_whole_numbers_below() -> None:
    """Of a p90 of 30 h 31.5 h are shown; there are no 1.5 processors, but 1.5 %."""
    rows = [row(10 * HOUR * n, p10_s=9 * HOUR * n, p90_s=15 * HOUR * n, cpus=n) for n in (1, 2)]
    (axes,) = panels(figure(["cpus"], rows))
    assert axes.get_ylim() == pytest.approx((0, 1.05 * 30))
    assert all(float(tick).is_integer() for tick in axes.get_xticks())
    broken = [row(10 * HOUR * n, fill=n / 80) for n in (1, 2)]
    (axes,) = panels(figure(["fill"], broken))
    assert axes.get_ylim() == pytest.approx((0, 1.05 * 20)), "without quantiles that of the median"
    assert not all(float(tick).is_integer() for tick in axes.get_xticks())


def test_a_heat_map_has_each_figure_in_its_cell_and_its_axes_named() -> None:
    """Rows of an axis go up, its values along: 20 % at ashift 9 is the second of the first."""
    rows = [row(HOUR * (10 * x + y), fill=0.1 * x, ashift=y) for x in (1, 2, 3) for y in range(9, 16)]
    drawn = figure(["fill", "ashift"], rows)
    (axes,) = panels(drawn)
    figures = {note.get_position(): note.get_text() for note in axes.texts}
    assert figures[1, 0] == f"{20 + 9:.3g}"
    assert figures[2, 6] == f"{30 + 15:.3g}"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["10", "20", "30"]
    assert [label.get_text() for label in axes.get_yticklabels()] == [str(y) for y in range(9, 16)]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("fill [%]", "ashift")
    (bar,) = [each for each in drawn.axes if each.get_label() == "<colorbar>"]
    assert bar.get_ylabel() == "resilver [hours]"
    assert axes.images[0].get_clim() == pytest.approx((19, 45))


def test_of_five_panels_the_lowest_of_each_column_name_the_axis_and_the_first_the_times() -> None:
    """Five stand as three above two; the third of the upper row has nothing below it."""
    rows = [row(HOUR * (x + k), fill=x / 10, width=w, history=f"h{k}")
            for x in (1, 2) for w in (4, 6) for k in range(5)]  # fmt: skip
    found = panels(figure(["fill", "width", "history"], rows))
    assert [each.get_title(loc="left") for each in found] == [f"h{k}" for k in range(5)]
    assert [bool(each.get_xlabel()) for each in found] == [False, False, True, True, True]
    assert [bool(each.get_ylabel()) for each in found] == [True, False, False, True, False]


def test_a_row_is_labelled_by_its_name_and_by_what_varies() -> None:
    rows = [
        row(HOUR, name="a.toml", layout="mirror2", history="vm-host", fill=0.5),
        row(HOUR, name="mirror3", layout="2*mirror3", history=None, fill=0.25),
    ]
    (axes,) = panels(figure(["name", "layout", "history"], rows))
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["a.toml, mirror2, vm-host", "2*mirror3, as usual"]
    (axes,) = panels(figure(["layout"], [row(HOUR)]))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["raidz2x6"], "if nothing varies"


def test_lines_are_named_below_all_panels_where_there_are_several() -> None:
    several = [row(HOUR * (1 + x), fill=x, width=w) for x in (0.1, 0.2) for w in (4, 6)]
    (legend,) = figure(["fill", "width"], several).legends
    assert [text.get_text() for text in legend.get_texts()] == ["width 4", "width 6"]
    assert figure(["fill"], several[::2]).legends == [], "one line needs no name"


def test_rows_in_which_not_the_same_is_done_say_so() -> None:
    mirror, raidz, draid = (resolve({"layout": each}) for each in ("mirror2", "raidz2x6", "draid2:8d:24c:1s"))
    assert unlike_repairs([mirror, raidz]) == ()
    assert unlike_repairs([draid, draid]) == ()
    onto, into = unlike_repairs([mirror, draid, raidz])
    assert onto == "mirror2, raidz2x6: a resilver onto a replacement drive."
    assert into.startswith("draid2:8d:24c:1s: a sequential rebuild into a distributed spare; it does not")
    healing = resolve({"layout": "draid2:8d:24c:1s", "operation": "resilver"})
    assert unlike_repairs([healing, draid])[0] == "draid2:8d:24c:1s: a resilver into a distributed spare."
    table = Table(("layout", "p50_s"), ({"layout": "mirror2", "p50_s": 1.0},), notes=(onto,))
    assert onto in str(table)
    assert onto in table._repr_html_()
    assert table.to_dict()["notes"] == [onto]
