"""A sweep in a store: resumed, in shards and on any executor it gives the same table."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.cli.main import main
from zsim.planning.store import study as module
from zsim.planning.store.keys import Shard
from zsim.planning.store.sqlite import Store
from zsim.planning.store.study import study
from zsim.planning.table import Table, TableInterrupted

AXES: dict[str, Sequence[Any]] = {
    "width": [4, 6, 8],
    "parity": [1, 2],
    "fill": ["30%", "60%"],
    "drive_size": ["4TB"],
}


@pytest.fixture
def answer() -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Hours that follow from the text of a scenario."""
    return lambda stated: {"p10_s": 1.0, "p50_s": 2.0 + len(json.dumps(stated)) / 3, "p90_s": 99.0}


def test_shards_merged_are_the_whole_and_so_is_any_executor(asked: list[Any], tmp_path: Path) -> None:
    whole = study(tmp_path / "whole.sqlite", AXES)
    assert len(whole) == len(asked) == 12
    for number in (1, 2, 3):
        part = study(tmp_path / f"{number}.sqlite", AXES, shard=Shard(number, 3))
        assert any(row["refused"] == "not run" for row in part)
    assert len(asked) == 24
    with Store(tmp_path / "merged.sqlite") as merged:
        for number in (1, 2, 3):
            with Store(tmp_path / f"{number}.sqlite") as other:
                merged.merge(other)
    assert study(tmp_path / "merged.sqlite", AXES) == whole
    assert len(asked) == 24
    with ThreadPoolExecutor(3) as executor:
        assert study(tmp_path / "threads.sqlite", AXES, executor=executor) == whole


def test_a_finer_grid_asks_only_for_what_is_new(asked: list[Any], tmp_path: Path) -> None:
    study(tmp_path / "a.sqlite", AXES)
    study(tmp_path / "a.sqlite", {**AXES, "fill": ["30%", "45%", "60%"]})
    assert len(asked) == 18


def test_other_sources_ask_again(asked: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study(tmp_path / "a.sqlite", AXES)
    monkeypatch.setattr(module, "sources", lambda: "another release")
    study(tmp_path / "a.sqlite", AXES)
    assert len(asked) == 24


def test_what_was_finished_before_an_interrupt_stays(
    asked: list[Any], tmp_path: Path, stop_after: Callable[[int | None], None]
) -> None:
    whole = study(tmp_path / "whole.sqlite", AXES)
    stop_after(5)
    with pytest.raises(TableInterrupted) as stop:
        study(tmp_path / "a.sqlite", AXES)
    assert isinstance(stop.value.partial, Table)
    assert sum(row["refused"] == "not run" for row in stop.value.partial) == 7
    stop_after(None)
    before = len(asked)
    assert study(tmp_path / "a.sqlite", AXES) == whole
    assert len(asked) - before == 7


def test_impossible_combinations_say_why(asked: list[Any], tmp_path: Path) -> None:
    table = study(tmp_path / "a.sqlite", {"width": [2, 6], "parity": [2]})
    assert "raidz2 needs" in next(iter(table))["refused"]
    assert len(asked) == 1


def test_command(asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "study.sqlite"
    line = f"sweep --width 4,6 --parity 1 --fill 30%,60% --drive-size 4TB --store {store} --json"
    for number in (1, 2):
        assert main(shlex.split(f"{line} --shard {number}/2")) == 0
    rows = json.loads(capsys.readouterr().out.rpartition("\n{\n")[2].join(("{", "")))["rows"]
    assert len(rows) == 4
    assert all(row["p50_s"] for row in rows)
    assert len(asked) == 4


def test_a_shard_without_work_is_no_failure(
    asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"sweep --width 4 --parity 1 --drive-size 4TB --store {tmp_path / 'study.sqlite'}"
    assert [main(shlex.split(f"{line} --shard {number}/2")) for number in (1, 2)] == [0, 0]
    assert len(asked) == 1


@pytest.mark.parametrize("flags", ["--shard 1/2", "--shard 3/2 --store a.sqlite", "--dask tcp://localhost:1"])
def test_bad_input_is_one_sentence(
    flags: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(f"sweep --width 4 --parity 1 {flags}")) == 2
    told = capsys.readouterr()
    assert told.err.startswith(f"zsim: {flags.split(maxsplit=1)[0]} ")
    assert len(told.err.splitlines()) == 1


@pytest.mark.parametrize("name", ["a.sqlite", "a.jsonl", None])
def test_every_kind_of_store_gives_the_same_table_and_refuses_the_same(
    asked: list[Any], name: str | None, tmp_path: Path
) -> None:
    store = None if name is None else tmp_path / name
    table = study(store, {"layout": ["mirror2", "raidz1x1"], "fill": ["30%", "60%"]})
    assert [row["p50_s"] is None for row in table] == [False, False, True, True]
    assert study(store, {"layout": ["mirror2", "raidz1x1"], "fill": ["30%", "60%"]}) == table
    assert len(asked) == (2 if store else 4)
    for axes in ({"colour": ["red"]}, {"layout": []}, {"layout": ["mirror2"], "seed": range(100_001)}):
        with pytest.raises(InputError):
            study(store, axes)
