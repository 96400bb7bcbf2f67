"""A precision asked for: more possible worlds, and a sentence where it is not reached."""

from __future__ import annotations

from typing import Any

import pytest

import zsim
from zsim.prediction import work

VAGUE: dict[str, Any] = {"layout": "mirror2", "drive": "wd40efrx", "fill": 0.3}


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MOST_MEMBERS", 64)
    monkeypatch.setattr(work, "MOST_AGAIN", 11)


def _predicted(**stated: Any) -> tuple[zsim.Prediction, float]:
    answer = zsim.predict(zsim.Scenario.from_dict({**VAGUE, **stated}))
    assert answer.uncertainty.sampling_half_width_s is not None
    return answer, answer.uncertainty.sampling_half_width_s / answer.resilver_s.p50


def test_more_worlds_are_run_for_more_precision_and_what_is_missed_is_said() -> None:
    coarse, fine = _predicted(), _predicted(precision=0.001)
    assert 8 < coarse[0].uncertainty.members < 32
    assert fine[0].uncertainty.members == 64
    assert fine[1] < coarse[1]
    assert not [each for each in coarse[0].warnings if "precision" in each]
    (said,) = [each for each in fine[0].warnings if "precision" in each]
    assert said.startswith("the requested precision is 0.1 %, the one reached is ")


def test_nothing_is_said_of_a_precision_that_is_reached() -> None:
    answer, half = _predicted(precision=0.9)
    assert half <= 0.9
    assert 8 < answer.uncertainty.members < 32
    assert not [each for each in answer.warnings if "precision" in each]


def test_a_precision_that_more_worlds_reach_is_reached() -> None:
    coarse, fine = _predicted(), _predicted(precision=0.04)
    assert coarse[1] > 0.04
    assert fine[1] <= 0.04
    assert 16 < fine[0].uncertainty.members < 64
    assert not [each for each in fine[0].warnings if "precision" in each]


def test_a_pool_that_is_one_population_does_without_what_others_taught() -> None:
    """Its worlds are run once each, and quantiles are those of a regression over them alone."""
    answer, half = _predicted(drive=None, drive_size=4_000_000_000, history="media-server", precision=0.9)
    assert answer.uncertainty.members == 16
    assert half <= 0.9
