"""The store of answers: nothing finished is lost, merging is idempotent, shards share the work."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyarrow.parquet import read_table

from zsim.base.errors import InputError
from zsim.cli.main import main
from zsim.planning.design import facts, search
from zsim.planning.store.keys import Shard, key_of
from zsim.planning.store.sqlite import Store, export
from zsim.report.columns import save_columns

STATED = {"layout": "raidz2x6", "fill": 0.5}
ANSWER = {"p10_s": 1.0, "p50_s": 2.0, "p90_s": 3.5}


def filled(path: Path, numbers: range) -> Store:
    store = Store(path)
    for number in numbers:
        stated = {**STATED, "seed": number}
        store.add(key_of(stated, "a"), "a", stated, {**ANSWER, "p50_s": 2.0 + number})
    return store


def test_keys_depend_on_scenario_sources_and_seeds_but_not_on_the_order_of_fields() -> None:
    key = key_of(STATED, "a")
    assert key == key_of({"fill": 0.5, "layout": "raidz2x6"}, "a")
    others = (key_of({**STATED, "fill": 0.6}, "a"), key_of(STATED, "b"), key_of(STATED, "a", (1, 1)))
    assert len({key, *others}) == 4


def test_an_answer_is_found_again_and_never_changed(tmp_path: Path) -> None:
    path, key = tmp_path / "study.sqlite", key_of(STATED, "a")
    with Store(path) as store:
        assert store.missing([key, "0" * 32]) == [key, "0" * 32]
        store.add(key, "a", STATED, ANSWER)
        store.add(key, "a", STATED, {"p50_s": 99.0})
    with Store(path, must_exist=True) as store:
        assert store.known([key]) == {key: ANSWER}
        assert store.missing([key, "0" * 32]) == ["0" * 32]


def test_numbers_come_back_to_the_bit(tmp_path: Path) -> None:
    value = 0.1 + 0.2
    with Store(tmp_path / "a.sqlite") as store:
        store.add("00", "a", STATED, {"p50_s": value})
        assert store.known(["00"])["00"]["p50_s"].hex() == value.hex()


def test_merged_shards_are_the_whole_and_merging_twice_changes_nothing(tmp_path: Path) -> None:
    keys = [key_of({**STATED, "seed": number}, "a") for number in range(100)]
    shards = [Shard(number, 3).of(keys) for number in (1, 2, 3)]
    assert sorted(key for each in shards for key in each) == sorted(keys)
    assert all(len(each) > 15 for each in shards)
    whole = filled(tmp_path / "whole.sqlite", range(100))
    first, second = filled(tmp_path / "1.sqlite", range(60)), filled(tmp_path / "2.sqlite", range(40, 100))
    assert first.merge(second) == 40
    assert first.merge(second) == 0
    assert list(first.rows()) == list(whole.rows())


WRITER = """
import sys
from zsim.planning.store.keys import key_of
from zsim.planning.store.sqlite import Store
store = Store(sys.argv[1])
for number in range(10**6):
    stated = {"layout": "mirror2", "seed": number}
    store.add(key_of(stated, "a"), "a", stated, {"p50_s": float(number)})
    print(number, flush=True)
"""


@pytest.mark.parametrize(
    "made",
    [
        "CREATE VIEW answers AS SELECT * FROM answers",
        "CREATE TABLE answers (key); CREATE VIEW other AS SELECT 1; ",
        "CREATE TABLE answers (a); CREATE TRIGGER odd AFTER INSERT ON answers BEGIN DELETE FROM form; END",
    ],
)
def test_a_store_with_views_or_triggers_is_refused(made: str, tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with sqlite3.connect(path) as base:
        base.executescript("CREATE TABLE form (version); " + made)
    base.close()
    with pytest.raises(InputError, match=r"view or trigger|circularly"):
        Store(path)


@pytest.mark.parametrize("column", ["key", "sources", "scenario", "answer"])
@pytest.mark.parametrize("value", [b"\xff", 3])
def test_a_store_whose_cells_are_no_text_is_refused(column: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with sqlite3.connect(path) as base:
        base.executescript(
            "CREATE TABLE form (version); CREATE TABLE answers (key, sources, scenario, answer)"
        )
        base.execute("INSERT INTO answers VALUES ('a', 'a', '{}', '{}')")
        base.execute(f"UPDATE answers SET {column} = ?", (value,))
    base.close()
    with pytest.raises(InputError, match="a cell of its answers is no text"):
        Store(path)


def test_a_cell_as_large_as_a_damaged_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    filled(path, range(1)).close()
    with sqlite3.connect(path) as base:
        base.execute("UPDATE answers SET answer = ?", ("9" * (17 << 20),))
    base.close()
    with pytest.raises(InputError, match="too big"):
        export(Store(path), tmp_path / "out.csv")


def test_a_writer_that_is_killed_loses_no_finished_row(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) == 200:
                os.kill(writer.pid, signal.SIGKILL)
                break
        finished = [200, *(int(line) for line in writer.stdout if line.strip().isdigit())][-1]
    with Store(path) as store:
        keys = [key_of({"layout": "mirror2", "seed": number}, "a") for number in range(finished)]
        assert store.missing(keys) == []
        store.add("00", "a", STATED, ANSWER)


def test_two_writers_share_a_store(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    first, second = Store(path), Store(path)
    for number in range(50):
        (first if number % 2 else second).add(f"{number:032x}", "a", STATED, ANSWER)
    assert first.status().answers == second.status().answers == 50


def test_a_row_costs_less_than_two_milliseconds(tmp_path: Path) -> None:
    begin = time.process_time()
    filled(tmp_path / "study.sqlite", range(1000)).close()
    assert (time.process_time() - begin) / 1000 < 0.002


def test_status_tells_sources_and_refusals(tmp_path: Path) -> None:
    with filled(tmp_path / "study.sqlite", range(3)) as store:
        store.add("ff", "b", STATED, {"p50_s": None, "refused": "no such layout"})
        status = store.status()
    assert (status.answers, status.refused, status.sources) == (4, 1, {"a": 3, "b": 1})
    assert status.size > 0


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_export(tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"table.{ending}"
    with filled(tmp_path / "study.sqlite", range(5)) as store:
        assert export(store, target) == 5
        told = sorted(row["p50_s"] for row in store.rows())
    if ending == "csv":
        with target.open(encoding="utf-8") as stream:
            found = [float(row["p50_s"]) for row in csv.DictReader(stream)]
    elif ending == "json":
        found = [row["p50_s"] for row in json.loads(target.read_text(encoding="utf-8"))]
    else:
        from pyarrow import parquet

        found = parquet.read_table(target).column("p50_s").to_pylist()
    assert sorted(found) == told == [2.0, 3.0, 4.0, 5.0, 6.0]


@pytest.mark.parametrize("text", ["", "0/3", "4/3", "1", "a/b", "1/0", "1/9999999999", "-1/2"])
def test_shards_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="--shard"):
        Shard.parse(text)


def test_files_that_are_no_store(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no store at all, " * 100, encoding="utf-8")
    with pytest.raises(InputError, match="no store"):
        Store(path)
    with pytest.raises(InputError, match="no such file"):
        Store(tmp_path / "none.sqlite", must_exist=True)
    with pytest.raises(InputError, match="its name must end"), Store(tmp_path / "a.sqlite") as store:
        export(store, tmp_path / "table.xls")


@pytest.mark.parametrize(
    ("pragma", "told"),
    [
        ("max_page_count = 5", "no space is left on its device; make room"),
        ("query_only = 1", "it cannot be written to; copy it"),
    ],
)
def test_a_store_that_cannot_grow_is_not_called_another_file(pragma: str, told: str, tmp_path: Path) -> None:
    with Store(tmp_path / "study.sqlite") as store:
        store._base.execute(f"PRAGMA {pragma}")
        with pytest.raises(InputError, match=told):
            store.add("1", "a", STATED, {**ANSWER, "name": "x" * 50_000})


def test_a_store_that_another_process_writes_is_not_called_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zsim.planning.store.sqlite.WAIT_S", 0.01)
    with Store(tmp_path / "study.sqlite") as store, contextlib.closing(sqlite3.connect(store.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="another process is writing to it; wait"):
            store.add("1", "a", STATED, ANSWER)


def test_a_store_in_no_directory_is_told_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened or made; make its directory"):
        Store(tmp_path / "none" / "study.sqlite")


def test_an_empty_file_that_is_to_be_read_is_no_store_and_stays_empty(tmp_path: Path) -> None:
    path = tmp_path / "empty.sqlite"
    path.touch()
    with pytest.raises(InputError, match="no store"):
        Store(path, must_exist=True)
    assert main(["sweep", "merge", str(tmp_path / "into.sqlite"), str(path)]) == 2
    assert path.read_bytes() == b"", "nothing was written to what was refused"
    with Store(path) as store:
        assert store.count() == 0, "one that is to be filled may be there, empty"


def test_another_program_s_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE bookmarks (title TEXT)")
        base.commit()
    before = path.read_bytes()
    for must_exist in (True, False):
        with pytest.raises(InputError, match="no store"):
            Store(path, must_exist=must_exist)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["places.sqlite"]


@pytest.mark.parametrize("words", ["status", "status a b", "merge only.sqlite", "export a", "tidy a"])
def test_actions_that_are_none(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(f"sweep {words}")) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1


def test_status_merge_and_export_as_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(tmp_path / "1.sqlite", range(4)).close()
    filled(tmp_path / "2.sqlite", range(2, 6)).close()
    whole, table = tmp_path / "whole.sqlite", tmp_path / "table.csv"
    assert main(shlex.split(f"sweep merge {whole} {tmp_path / '1.sqlite'} {tmp_path / '2.sqlite'}")) == 0
    assert "6 answers" in capsys.readouterr().out
    assert main(shlex.split(f"sweep status {whole} --json")) == 0
    assert json.loads(capsys.readouterr().out)["answers"] == 6
    assert main(shlex.split(f"sweep export {whole} {table}")) == 0
    assert len(table.read_text(encoding="utf-8").splitlines()) == 7
    assert main(shlex.split(f"sweep merge {whole} {tmp_path / 'none.sqlite'}")) == 2


def test_a_plan_asks_the_simulator_only_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def answers(scenarios: Sequence[dict[str, Any]], jobs: int | None = None) -> Iterator[tuple[int, Any]]:
        for place, stated in enumerate(scenarios):
            seen.append(stated["layout"])
            yield place, {"p10_s": 5e4, "p50_s": 6e4 + len(stated["layout"]), "p90_s": 9e4, "refused": None}

    monkeypatch.setattr(facts, "answers", answers)
    path = tmp_path / "plan.sqlite"
    asked: dict[str, Any] = {"drives": 12, "drive_size": "4TB", "kinds": ["raidz"], "store": path}
    first = search.plan_layouts(**asked)
    count = len(seen)
    assert count > 3
    again = search.plan_layouts(**asked)
    assert len(seen) == count
    assert again.rows == first.rows
    search.plan_layouts(**asked, fill=0.7)
    assert len(seen) > count


ODD = ({"a": 1}, {}, [1, "x"], 10**30, [], {"x": {}}, True, "\x1b[2J")


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_a_store_of_odd_rows_is_exported(odd: object, tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        for number, value in enumerate((odd, "none", odd)):
            store.add(f"{number:032x}", "a", STATED | {"load": value}, ANSWER)
        for ending in ("csv", "json", "parquet"):
            if odd == 10**30:
                with pytest.raises(InputError, match="number in it is too long"):
                    export(store, tmp_path / f"t.{ending}")
            else:
                assert export(store, tmp_path / f"t.{ending}") == 3
    if odd != 10**30:
        assert read_table(tmp_path / "t.parquet")["p50_s"].to_pylist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("odd", [*ODD, "half \udc8d"], ids=repr)
def test_a_column_of_any_values_is_written(odd: object, tmp_path: Path) -> None:
    for ending in ("csv", "parquet"):
        save_columns({"p50_s": [2.5, 3.5], "load": [odd, odd]}, tmp_path / f"t.{ending}")
    assert read_table(tmp_path / "t.parquet")["p50_s"].to_pylist() == [2.5, 3.5]


def test_a_width_without_parity_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("sweep", "--fill", "0.3", "--width", "3,4", "--layout", "raidz3x11", "--jobs", "1")
    assert main([*words, "--store", str(tmp_path / "s.sqlite")]) == 2
    assert "parity is missing" in capsys.readouterr().err


@pytest.mark.parametrize("odd", ["Infinity", "NaN", "1e999"])
def test_a_store_with_a_number_that_is_not_finite_is_refused(odd: str, tmp_path: Path) -> None:
    with filled(tmp_path / "s.sqlite", range(3)) as store:
        base = sqlite3.connect(tmp_path / "s.sqlite")
        base.execute("UPDATE answers SET scenario = json_set(scenario, '$.load', json('[1.5]'))")
        base.execute("UPDATE answers SET scenario = replace(scenario, '1.5', ?)", (odd,))
        base.commit()
        base.close()
        for ending in ("csv", "json", "parquet"):
            with pytest.raises(InputError, match="not finite"):
                export(store, tmp_path / f"t.{ending}")
