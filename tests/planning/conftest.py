"""What tests of planning share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from zsim.planning.design import facts
from zsim.planning.risk.one_vdev.group import HOUR
from zsim.scenario.layout import Layout


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The layouts that a simulator was asked for, which takes two hours a drive and 60 a full pool."""
    seen: list[str] = []

    def answers(scenarios: Sequence[dict[str, Any]], jobs: int | None = None) -> Iterator[tuple[int, Any]]:
        for place, stated in enumerate(scenarios):
            seen.append(stated["layout"])
            vdev = Layout.parse(stated["layout"]).vdevs[0]
            hours = (2 * vdev.children + 60 * stated.get("fill", 0.5)) * HOUR
            yield place, {"p10_s": 0.8 * hours, "p50_s": hours, "p90_s": 1.5 * hours}

    monkeypatch.setattr(facts, "answers", answers)
    return seen
