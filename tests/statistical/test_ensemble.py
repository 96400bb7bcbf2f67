"""The median over all worlds: its error is what other seeds show, and it moves as the scenario does."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import zsim
from zsim.case.worlds import Choice
from zsim.prediction.inputs.ensemble import NAMES, Unknown, draw_members
from zsim.prediction.statistics.level import anchors, level
from zsim.prediction.statistics.response import response

SEEDS = 40
USES = tuple(Choice(place, share) for place, share in enumerate((0.08, 0.25, 0.13, 0.15, 0.2, 0.1, 0.09)))
INPUTS = (
    Unknown("outer_rate", "drive", "", 0.1),
    Unknown("churn", "frag", "", 0.7),
    Unknown("history", "history", "", choices=USES),
    Unknown("write_cache", "write_cache", "", choices=(Choice(True, 0.8), Choice(False, 0.2))),
)


def _seconds(members: Any, noise: np.random.Generator | None, interact: float) -> np.ndarray:
    """Return durations that depend on the unknowns, on two of them together, and on chance."""
    logs = [
        -math.log(each.factors.outer_rate)
        + 0.3 * math.log(each.churn)
        + (0.0, 0.05, 0.4, 0.5, 0.9, 1.1, 2.0)[each.history]
        + (0.0 if each.write_cache else 0.3 + interact * each.history)
        for each in members
    ]
    chance = 0.0 if noise is None else noise.normal(0.0, 0.07, len(logs))
    return np.exp(np.array(logs) + chance)


@pytest.mark.parametrize("interact", [0.0, 0.2])
def test_the_error_shown_holds_the_median_of_a_large_ensemble(interact: float) -> None:
    truth = float(np.median(_seconds(draw_members(INPUTS, 1, 4096), None, interact)))
    found = []
    for seed in range(SEEDS):
        members = draw_members(INPUTS, seed)
        scores = np.array([member.scores for member in members])
        times = _seconds(members, np.random.default_rng(seed), interact)
        one = response(INPUTS, scores, times.tolist())
        assert one.p10 < one.p50 < one.p90
        found.append((math.log(one.p50 / truth), one.half_width))
    errors, halves = np.array(found).T
    # Of 40 intervals of 95 %, fewer than 35 hold it once in a hundred times.
    assert np.count_nonzero(np.abs(errors) <= halves) >= 35
    assert halves.mean() < 0.35
    assert abs(errors.mean()) < 0.08


def test_compared_scenarios_share_the_draws() -> None:
    every, fewer = draw_members(INPUTS, 3), draw_members(INPUTS[:1] + INPUTS[2:], 3)
    assert [each.history for each in every] == [each.history for each in fewer]
    assert [each.factors for each in every] == [each.factors for each in fewer]
    assert draw_members((), 3) == ()
    assert len(set(NAMES)) == len(NAMES)


def test_unknowns_hardly_go_together() -> None:
    scores = np.array([member.scores for member in draw_members(INPUTS, 7)])
    alike = np.corrcoef(scores.T) - np.eye(len(INPUTS))
    assert np.abs(alike).max() < 0.6


def test_the_level_is_the_mean_of_several_worlds() -> None:
    one, several = level([1.1]), level([1.1, 1.1, 1.1, 1.1])
    assert several.factor == pytest.approx(1.1)
    assert several.half_width < 0.6 * one.half_width
    assert level([1.0], 0.3).half_width > 0.3


def test_what_is_chance_in_a_world_is_left_out() -> None:
    quiet = anchors([1.0, 1.05, 0.95], [1.0, 1.0, 1.0])
    assert quiet == pytest.approx([1.0, 1.0, 1.0], abs=1e-9)
    loud = anchors([1.0, 3.0, 0.3], [1.0, 1.0, 1.0])
    assert loud == pytest.approx([1.0, 3.0, 0.3], rel=0.02)


def _median(**stated: Any) -> tuple[float, float]:
    answer = zsim.predict(zsim.Scenario.from_dict(stated))
    assert answer.uncertainty.sampling_half_width_s is not None
    return answer.resilver_s.p50, answer.uncertainty.sampling_half_width_s / answer.resilver_s.p50


@pytest.mark.slow
@pytest.mark.parametrize(
    "stated",
    [
        {"layout": "raidz2x6", "fill": 0.62},
        {"layout": "mirror2", "fill": 0.5, "history": "home-nas", "release": "openzfs-0.7"},
        {"layout": "draid2:4d:11c:1s", "fill": 0.5, "operation": "rebuild"},
        {"layout": "raidz1x4", "fill": 0.4, "drive": "generic-5400rpm-smr", "history": "home-nas"},
    ],
)
def test_other_seeds_give_answers_within_the_sampling_error(stated: dict[str, Any]) -> None:
    """Of 12 answers, each within its error of their mean as often as 95 % says, but for one in a thousand."""
    found = np.array([_median(**stated, seed=seed) for seed in range(12)])
    away = np.abs(np.log(found[:, 0]) - np.log(found[:, 0]).mean())
    assert np.count_nonzero(away <= found[:, 1]) >= 9


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["raidz2x6", "raidz1x5"])
def test_a_fuller_pool_takes_longer(layout: str) -> None:
    """With one seed the median grows with the fill, and moves no more than its own error says it may."""
    found = [_median(layout=layout, fill=fill) for fill in (0.25, 0.38, 0.5, 0.62, 0.75, 0.9)]
    for (before, _), (after, half) in pairwise(found):
        assert after > before * (1.0 - half)
    assert found[-1][0] > 2.5 * found[0][0]
