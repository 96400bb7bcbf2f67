"""Processes that answer scenarios: each once; refusals are answers, faults are errors of this process.

Scripts need no main guard for them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import zsim
from zsim.planning import running
from zsim.planning.rows import ANSWER
from zsim.planning.sharing import ScenarioQueue

IMPOSSIBLE: dict[str, Any] = {"layout": "raidz2x2"}
"""Takes a process no simulation."""


@pytest.fixture
def worker() -> Iterator[running._Worker]:
    found = running._Worker()
    yield found
    found.end()


def test_processes_run_the_package_that_this_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def popen(command: Any, *, env: dict[str, str], **more: Any) -> Any:
        seen.append(env["PYTHONPATH"])
        raise InterruptedError

    monkeypatch.setattr(running.subprocess, "Popen", popen)  # type: ignore[attr-defined]
    for before in (None, "/elsewhere"):
        monkeypatch.delenv("PYTHONPATH", raising=False)
        if before:
            monkeypatch.setenv("PYTHONPATH", before)
        with pytest.raises(InterruptedError):
            running._Worker()
    home = str(Path(zsim.__file__).parents[1])
    assert seen == [home, f"{home}{os.pathsep}/elsewhere"]


def test_a_process_answers_line_after_line_until_it_is_ended(worker: running._Worker) -> None:
    worker.questions.write(b"no scenario\n")
    worker.questions.flush()
    with pytest.raises(running.WorkerError, match="^JSONDecodeError: "):
        worker.answered()
    # A fault ends the work of the caller, not that of the process.
    worker.ask(7, IMPOSSIBLE)
    place, row = worker.answered()
    assert (place, {name: row[name] for name in ANSWER}) == (7, dict.fromkeys(ANSWER))
    assert "raidz2" in row["refused"]
    worker.process.kill()
    worker.process.wait()
    worker.ask(8, IMPOSSIBLE)
    with pytest.raises(running.WorkerError, match=r"ended with code -9 before its answer") as ended:
        worker.answered()
    assert ended.value.exit_code == 70


def test_processes_share_scenarios_and_go_with_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[running._Worker] = []

    class Noted(running._Worker):
        def __init__(self) -> None:
            super().__init__()
            begun.append(self)

    monkeypatch.setattr(running, "_Worker", Noted)
    waiting = ScenarioQueue([{**IMPOSSIBLE, "seed": seed} for seed in range(5)])
    found = dict(running._shared_out(waiting, 2))
    assert sorted(found) == [0, 1, 2, 3, 4]
    assert all("raidz2" in row["refused"] for row in found.values())
    assert len(begun) == 2
    assert all(each.process.poll() is not None and each.answers.closed for each in begun)
    few = dict(running._shared_out(ScenarioQueue([IMPOSSIBLE]), 2))
    assert list(few) == [0], "one that has nothing to do is ended, too"
    assert all(each.process.poll() is not None for each in begun)


PROGRAM = """
import zsim
table = zsim.compare("mirror2", "raidz1x3", "raidz1x4", "raidz2x4", "raidz2x5", "raidz2x6",
                     fill=0.0004, drive_size="1TB", jobs=2)
print(len(table), table[0]["p50_s"] > 0)
"""


@pytest.mark.parametrize("how", ["stdin", "file"])
def test_a_plain_script_compares_many_layouts(how: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PROGRAM)
    asked = [sys.executable, "-"] if how == "stdin" else [sys.executable, str(tmp_path / "script.py")]
    given = PROGRAM if how == "stdin" else None
    found = subprocess.run(asked, input=given, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert found.stdout.split() == ["6", "True"], found.stderr
    assert found.stderr == ""
