"""Sweeps whose scenarios are answered at once, by a rule of each file; and what stops them in the middle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import Any

import pytest

from zsim.planning import running
from zsim.planning.store import study

Answered = Iterator[tuple[int, dict[str, Any]]]


@pytest.fixture
def asked(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[dict[str, Any]], dict[str, Any]]
) -> list[dict[str, Any]]:
    """The scenarios that a simulator was asked for; `answer` is a fixture of the file."""
    seen: list[dict[str, Any]] = []

    def noted(stated: dict[str, Any]) -> dict[str, Any]:
        seen.append(stated)
        return answer(stated)

    def answers(
        scenarios: Sequence[dict[str, Any]], jobs: int | None = None, executor: Executor | None = None
    ) -> Answered:
        if executor is not None:
            yield from running.answers(scenarios, jobs, executor)
        else:
            yield from reversed([(place, noted(stated)) for place, stated in enumerate(scenarios)])

    monkeypatch.setattr(running, "answer", noted)
    monkeypatch.setattr(study, "answers", answers)
    return seen


@pytest.fixture
def stop_after(monkeypatch: pytest.MonkeyPatch, asked: list[Any]) -> Callable[[int | None], None]:
    """Let a sweep be interrupted when so many answers were found; None: let it go on to its end."""
    answers = study.answers  # those of `asked`

    def stop(count: int | None) -> None:
        left = [count]

        def interrupted(*given: Any) -> Answered:
            for found in answers(*given):
                if left[0] is not None:
                    if left[0] == 0:
                        raise KeyboardInterrupt
                    left[0] -= 1
                yield found

        monkeypatch.setattr(study, "answers", interrupted)

    return stop
