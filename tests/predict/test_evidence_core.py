"""The core of weighing: against what is known in closed form, and its behaviour at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from zsim.predict.ensemble import Unknown, draw_members
from zsim.predict.evidence.joint import draws, fitted
from zsim.predict.evidence.likelihood import (
    LEAST_EFFECTIVE,
    counted,
    log_likelihood,
    weigh,
    weighted_quantiles,
)
from zsim.predict.evidence.posterior import Seen, posterior

INPUTS = tuple(Unknown(name, name, "", spread=1.0) for name in ("seek", "churn", "file_size"))
SLOPES = np.array([[0.4, 0.5], [0.3, 0.2], [0.0, 0.1]])


def _run(seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and logarithms of sixteen worlds whose two results are linear in three unknowns."""
    scores = np.array([member.scores for member in draw_members(INPUTS, seed)])
    noise = 0.02 * np.random.default_rng(seed).standard_normal((len(scores), 2))
    return scores, 9.0 + scores @ SLOPES + noise


def test_weights_follow_the_likelihood_and_their_number_is_that_of_kish() -> None:
    found = weigh(np.array([0.0, 0.0, 9.0, 9.0]), 0.0, 0.1, least=1.0)
    assert found.weights[:2] == pytest.approx([0.5, 0.5], abs=1e-3)
    assert found.effective == pytest.approx(2.0, abs=0.01)
    assert found.power == 1.0


def test_evidence_that_hardly_a_world_explains_is_tempered() -> None:
    expected = np.linspace(0.0, 1.0, 1000)
    found = weigh(expected, 0.5, 1e-6)
    assert 0.0 < found.power < 1.0
    assert found.effective == pytest.approx(LEAST_EFFECTIVE, rel=0.01)


def test_several_observations_multiply() -> None:
    expected = np.random.default_rng(1).normal(size=(500, 2))
    both = weigh(expected, (0.1, -0.2), (0.5, 0.4), least=1.0).weights
    logs = log_likelihood(expected[:, 0], 0.1, 0.5) + log_likelihood(expected[:, 1], -0.2, 0.4)
    assert both == pytest.approx(np.exp(logs) / np.exp(logs).sum())


def test_a_value_counts_less_the_further_it_lies_off() -> None:
    near, far = counted(np.array([0.0, 2.0]), 0.0, 0.1)
    assert near == 1.0
    assert far == pytest.approx(4.0 / (4.0 + 400.0))


def test_quantiles_of_equal_weights_are_those_of_the_values() -> None:
    values = np.random.default_rng(2).normal(size=2001)
    found = weighted_quantiles(values, np.full(2001, 1 / 2001), (0.1, 0.5, 0.9))
    assert found == pytest.approx(np.quantile(values, (0.1, 0.5, 0.9)), abs=0.02)


def test_the_regression_finds_slopes_and_common_rest() -> None:
    scores, logs = _run()
    fit = fitted(scores - scores.mean(axis=0), logs)
    assert fit.slopes[:3] == pytest.approx(SLOPES, abs=0.05)
    assert math.sqrt(fit.rest[0, 0]) == pytest.approx(0.02, rel=0.6)


def test_the_posterior_is_that_of_gaussian_conditioning() -> None:
    """With Gaussian worlds, the moments of the duration given the evidence are known in closed form."""
    scores, logs = _run()
    values = draws(INPUTS, scores, logs)
    sigma, observed = 0.05, 9.6
    found = posterior(values, (Seen(observed, sigma, 0.0),), pace=0.0, event=0.0)
    cross, spread = float((SLOPES[:, 0] * SLOPES[:, 1]).sum()), float((SLOPES[:, 1] ** 2).sum())
    gain = cross / (spread + sigma**2)
    whole = float((SLOPES[:, 0] ** 2).sum()) - gain * cross
    assert found.p50 == pytest.approx(9.0 + gain * 0.6, abs=0.05)
    # The shoulders of Student's t are no matter beside what the unknowns leave open.
    assert (found.p90 - found.p10) / 2.563 == pytest.approx(math.sqrt(whole), rel=0.15)


def test_evidence_narrows_and_says_so() -> None:
    scores, logs = _run()
    values = draws(INPUTS, scores, logs)
    without = posterior(values[:1], (), pace=0.0, event=0.0)
    found = posterior(values, (Seen(9.2, 0.05),), pace=0.1, event=0.02)
    assert found.p90 - found.p10 < 0.75 * (without.p90 - without.p10)
    assert found.weighed[0].narrows == pytest.approx(
        1.0 - (found.p90 - found.p10) / (without.p90 - without.p10), abs=0.05
    )
    assert found.weighed[0].weight > 0.6
    assert not found.weighed[0].far
    assert found.effective < found.worlds


def test_evidence_that_no_world_explains_is_said_and_not_forced() -> None:
    scores, logs = _run()
    values = draws(INPUTS, scores, logs)
    without = posterior(values[:1], (), pace=0.1, event=0.02)
    found = posterior(values, (Seen(9.0 + 6.0, 0.05),), pace=0.1, event=0.02)
    assert found.weighed[0].far
    assert found.weighed[0].weight < 0.05
    assert found.p50 < without.p90 + 1.0


def test_where_nothing_is_unknown_evidence_tells_the_pace_of_the_pool() -> None:
    values = draws((), np.zeros((1, 0)), np.log([[3600.0, 7200.0]]))
    found = posterior(values, (Seen(math.log(7200.0 * 1.2), 0.02),), pace=0.15, event=0.02)
    assert math.exp(found.p50) == pytest.approx(3600.0 * 1.2, rel=0.03)


def test_the_same_worlds_give_the_same_bits() -> None:
    scores, logs = _run()
    assert np.array_equal(draws(INPUTS, scores, logs), draws(INPUTS, scores, logs))
