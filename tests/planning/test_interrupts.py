"""Ctrl-C: what is known so far is told, the exit code is 130, nothing is half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from zsim.cli.main import main
from zsim.planning import running
from zsim.planning.compare import compare
from zsim.planning.rows import Row
from zsim.planning.sweep import sweep
from zsim.planning.table import NOT_RUN, TableInterrupted
from zsim.prediction import api
from zsim.prediction.answer.prediction import PredictionInterrupted
from zsim.prediction.api import predict
from zsim.prediction.exact import run
from zsim.scenario.model import Scenario

ANSWER: Row = {"p10_s": 1.0, "p50_s": 2.0, "p90_s": 3.0, "bottleneck": "the replacement drive"}
PATIENCE_S = 300.0


@pytest.fixture
def second_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the second prediction be interrupted."""
    asked: list[object] = []

    def answer(stated: dict[str, object]) -> Row:
        asked.append(stated)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return dict(ANSWER)

    monkeypatch.setattr(running, "answer", answer)


@pytest.mark.usefixtures("second_stops")
def test_an_interrupted_sweep_keeps_its_rows_and_its_store(tmp_path: Path) -> None:
    store = tmp_path / "store.jsonl"
    with pytest.raises(TableInterrupted) as stop:
        sweep(width=[4, 5, 6], parity=1, fill=0.5, store=store)
    rows = stop.value.partial.rows
    assert [row["p50_s"] for row in rows] == [2.0, None, None]
    assert [row["refused"] for row in rows] == [None, NOT_RUN, NOT_RUN]
    assert len(store.read_text().splitlines()) == 1
    again = sweep(width=[4, 5, 6], parity=1, fill=0.5, store=store)
    assert [row["p50_s"] for row in again] == [2.0, 2.0, 2.0]


@pytest.mark.usefixtures("second_stops")
def test_an_interrupted_comparison_keeps_its_rows() -> None:
    with pytest.raises(TableInterrupted) as stop:
        compare("raidz1x4", "raidz1x5", fill=0.5)
    assert [row["p50_s"] for row in stop.value.partial] == [2.0, None]


@pytest.mark.usefixtures("second_stops")
@pytest.mark.parametrize("as_json", [False, True])
def test_the_command_prints_what_is_known_and_exits_130(
    as_json: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "table.csv"
    words = ["sweep", "--width", "4..6", "--parity", "1", "--fill", "50%", "-o", str(output)]
    assert main([*words, *(["--json"] if as_json else [])]) == 130
    out, err = capsys.readouterr()
    assert (out == "") if as_json else (_axes_of_rows(out) == ["4", "5", "6"] and NOT_RUN in out)
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_exact_run_says_what_it_points_to(monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(self: run.ExactRun, now: float, share: float) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    monkeypatch.setattr(run.ExactRun, "_report", stops)
    monkeypatch.setattr(api, "PATIENCE_S", PATIENCE_S)
    scenario = Scenario(layout="raidz1x3", fill=0.5, drive_size="8GB", exact=True)
    with pytest.raises(PredictionInterrupted) as stop:
        predict(scenario)
    partial = stop.value.partial
    assert partial is not None
    assert partial.uncertainty is not None
    assert partial.uncertainty.sampling_half_width_s is not None
    assert any("point to" in each for each in partial.warnings)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_signal_ends_a_running_sweep(jobs: str, tmp_path: Path) -> None:
    store = tmp_path / "store.jsonl"
    words = ["sweep", "--width", "3..40", "--parity", "1", "--fill", "50%", "--jobs", jobs]
    program = "import sys; from zsim.cli.main import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words, "--store", str(store)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    until = time.monotonic() + PATIENCE_S
    while not (store.exists() and store.read_text().count("\n") >= 1) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert NOT_RUN in out
    assert "the results so far follow" in err
    assert err.count("continues from there") == 1
    assert "Traceback" not in err


def _axes_of_rows(printed: str) -> list[str]:
    return [line.split()[0] for line in printed.splitlines() if line.split()[0].isdigit()]
