"""A second replacement: the txg ends of both passes count, the wait between two passes does not."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from zsim.predict import member
from zsim.predict.api import predict
from zsim.scenario.model import Scenario


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
    assert member._mean_gap(run, _setup(rule, second)) == pytest.approx(expected)


def test_a_restarted_resilver_with_write_caches_takes_longer_than_one() -> None:
    fields: dict[str, Any] = {
        "layout": "raidz2x6",
        "fill": 0.5,
        "drive": "wd30efrx",
        "release": "freebsd-9.1",
        "history": "media-server",
        "write_cache": True,
        "load": [],
    }
    alone = predict(Scenario.from_dict(fields)).resilver_s.p50
    restarted = predict(Scenario.from_dict(fields | {"second_at": 0.8})).resilver_s.p50
    assert 1.4 * alone < restarted < 2.2 * alone
