"""A second replacement: the txg ends of both passes count, the wait between two passes does not."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from zsim.prediction.runs import member


@dataclass
class _Run:
    phases: list[tuple[str, float, float]]
    end: float


def _setup(rule: str, second: bool) -> Any:
    release = SimpleNamespace(resilver_restart=rule)
    return SimpleNamespace(second=object() if second else None, release=release)


@pytest.mark.parametrize(
    ("rule", "second", "expected"),
    [("restart", False, 4.0), ("restart", True, 4.0), ("defer", True, 1.0)],
)
def test_mean_end_of_a_txg(rule: str, second: bool, expected: float) -> None:
    run: Any = _Run([("issue", 0.0, 5.0), ("issue", 6.0, 11.0), ("issue", 21.0, 26.0)], 27.0)
    ends = member._ends(run, _setup(rule, second))
    assert sum(end for _, end in ends) / len(ends) == pytest.approx(expected)
