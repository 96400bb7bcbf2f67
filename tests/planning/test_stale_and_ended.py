"""Answers kept are answers to the same files; workers end with the process that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from zsim.base.model_data import models_directory
from zsim.cli.main import main
from zsim.drives.catalogue import load_drive
from zsim.planning import running
from zsim.planning.sweep import sweep
from zsim.planning.table import Row
from zsim.pool.recipes.histories import load_history
from zsim.scenario.files import files_named

posix = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
SWEEP = ["sweep", "--width", "3..40", "--parity", "1", "--fill", "50%", "--jobs", "2"]
START = "import sys; from zsim.cli.main import main; sys.exit(main())"


def copy_of(kind: str, name: str, path: Path, old: str = "", new: str = "") -> Path:
    text = (models_directory() / kind / f"{name}.toml").read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


def test_an_edited_drive_is_a_drive_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def answer(stated: dict[str, object]) -> Row:
        asked.append(stated)
        return {"p50_s": float(len(asked))}

    monkeypatch.setattr(running, "answer", answer)
    path = copy_of("drives", "hd103uj", tmp_path / "d.toml")
    axes: dict[str, Any] = {"layout": "mirror2", "fill": 0.5, "drive": str(path)}
    for _ in range(2):
        assert [row["p50_s"] for row in sweep(store=tmp_path / "s.jsonl", **axes)] == [1.0]
    before = load_drive(str(path)).capacity_bytes
    state = path.stat()
    value = str(before)
    path.write_text(path.read_text().replace(value, value[:-6] + "000000"))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert load_drive(str(path)).capacity_bytes != before
    assert [row["p50_s"] for row in sweep(store=tmp_path / "s.jsonl", **axes)] == [2.0]


def test_an_edited_history_is_read_again(tmp_path: Path) -> None:
    path = copy_of("histories", "home-nas", tmp_path / "h.toml")
    title = load_history(str(path)).title
    path.write_text(path.read_text().replace(title, title[::-1]))
    assert load_history(str(path)).title == title[::-1]


def test_every_file_that_a_scenario_names_counts(tmp_path: Path) -> None:
    paths = {name: str(tmp_path / name) for name in ("a.toml", "b.json", "c.toml", "list", "h.toml")}
    for path in paths.values():
        Path(path).write_text("1")
    stated = {
        "drive": paths["a.toml"], "new_drive": paths["b.json"], "block_list": paths["list"],
        "ports": [{"enclosure": paths["c.toml"], "drives": [0]}], "history": paths["h.toml"],
        "metaslabs": str(tmp_path / "missing"),
    }  # fmt: skip
    found = files_named(stated)
    assert set(found) == {*paths.values(), str(tmp_path / "missing")}
    assert found[str(tmp_path / "missing")] == ""
    Path(paths["c.toml"]).write_text("2")
    assert {path for path, mark in files_named(stated).items() if mark != found[path]} == {paths["c.toml"]}


def test_a_sweep_with_every_row_refused_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "--width", "2,3", "--parity", "3", "--fill", "50%"]) == 1
    assert capsys.readouterr().out


def children_of(process: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parts = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(parts[1]) == process and parts[0] != "Z":
            found.append(int(path.parent.name))
    return found


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(holds: Any, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.05)
    return bool(holds())


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_no_worker_outlives_its_sweep(number: signal.Signals, tmp_path: Path) -> None:
    store = tmp_path / "s.jsonl"
    table = tmp_path / "t.csv"
    words = [sys.executable, "-c", START, *SWEEP, "--store", str(store), "-o", str(table)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert wait_until(store.exists, 240)
        workers = children_of(process.pid)
        assert len(workers) >= 2
        process.send_signal(number)
        begun = time.monotonic()
        _, err = process.communicate(timeout=60)
        assert wait_until(lambda: not any(map(is_running, workers)), 10)
        if number == signal.SIGINT:
            assert time.monotonic() - begun < 5, "2 s where nothing else runs"
            assert process.returncode == 130
            assert f"finished answers are kept in {store}" in err
            assert f"and writes {table} at its end" in err
            assert not table.exists()
            assert store.read_text().endswith("\n")
