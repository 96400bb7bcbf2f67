"""Processes that answer scenarios: each once; refusals are answers, faults are errors of this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

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
