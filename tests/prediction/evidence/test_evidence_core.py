"""The core of weighing: against what is known in closed form, and its behaviour at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from zsim.prediction.api import case_of
from zsim.prediction.evidence.likelihood import (
    LEAST_EFFECTIVE,
    log_likelihood,
    weigh,
    weighted_quantiles,
)
from zsim.prediction.evidence.posterior import EvidenceSpread, Seen, posterior
from zsim.prediction.work import Work
from zsim.scenario.model import Scenario

CHANCES = EvidenceSpread(pace=0.6, event=0.05)


def _worlds(count: int = 16, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return logarithms of the duration, and of a scrub that has most of it in common."""
    generator = np.random.default_rng(seed)
    scrub = 9.0 + 0.5 * generator.standard_normal(count)
    return 0.2 + scrub + 0.1 * generator.standard_normal(count), scrub[:, None]


def test_weights_follow_the_likelihood_and_their_number_is_that_of_kish() -> None:
    found = weigh(np.array([0.0, 0.0, 9.0, 9.0]), 0.0, 0.1, least=1.0)
    assert found.weights[:2] == pytest.approx([0.5, 0.5], abs=1e-3)
    assert found.effective == pytest.approx(2.0, abs=0.01)
    assert found.power == 1.0


def test_evidence_that_hardly_a_world_explains_is_tempered() -> None:
    found = weigh(np.linspace(0.0, 1.0, 1000), 0.5, 1e-6)
    assert 0.0 < found.power < 1.0
    assert found.effective == pytest.approx(LEAST_EFFECTIVE, rel=0.01)


def test_several_observations_multiply() -> None:
    expected = np.random.default_rng(1).normal(size=(500, 2))
    both = weigh(expected, (0.1, -0.2), (0.5, 0.4), least=1.0).weights
    logs = log_likelihood(expected[:, 0], 0.1, 0.5) + log_likelihood(expected[:, 1], -0.2, 0.4)
    assert both == pytest.approx(np.exp(logs) / np.exp(logs).sum())


def test_quantiles_of_equal_weights_are_those_of_the_values() -> None:
    values = np.random.default_rng(2).normal(size=2001)
    found = weighted_quantiles(values, np.full(2001, 1 / 2001), (0.1, 0.5, 0.9))
    assert found == pytest.approx(np.quantile(values, (0.1, 0.5, 0.9)), abs=0.02)


def test_the_median_is_what_the_evidence_says_plus_what_the_worlds_differ_by() -> None:
    logs, shown = _worlds(400)
    for observed in (8.5, 9.0, 9.6):
        found = posterior(logs, shown, (Seen(observed, 0.02),), CHANCES)
        assert found.p50 == pytest.approx(observed + 0.2, abs=0.03)


def test_the_width_is_what_the_worlds_leave_and_what_the_evidence_scatters() -> None:
    logs, shown = _worlds(400)
    found = posterior(logs, shown, (Seen(9.0, 0.1),), CHANCES)
    # The rest of the worlds, the scatter of the evidence, and of one event over another.
    expected = math.sqrt(0.1**2 + 0.1**2 + 0.05**2)
    assert (found.p90 - found.p10) / 2.563 == pytest.approx(expected, rel=0.15)


def test_evidence_narrows_and_says_so() -> None:
    logs, shown = _worlds()
    found = posterior(logs, shown, (Seen(9.2, 0.05),), CHANCES)
    low, high = np.quantile(logs, (0.1, 0.9))
    (weighed,) = found.weighed
    assert weighed.narrows == pytest.approx(1.0 - (found.p90 - found.p10) / (high - low))
    assert weighed.narrows > 0.4
    assert weighed.weight > 0.95
    assert not weighed.far
    assert found.weights.effective < len(logs)


def test_a_second_scan_of_the_same_kind_narrows_little_more() -> None:
    logs, shown = _worlds()
    one = posterior(logs, shown, (Seen(9.2, 0.1),), CHANCES)
    two = posterior(logs, np.repeat(shown, 2, axis=1), (Seen(9.2, 0.1), Seen(9.25, 0.1)), CHANCES)
    assert two.p90 - two.p10 < one.p90 - one.p10
    assert 0.0 < two.weighed[1].narrows < 0.3


def test_what_says_nothing_of_the_duration_changes_nothing() -> None:
    logs, shown = _worlds()
    noise = np.random.default_rng(8).standard_normal((len(logs), 1))
    one = posterior(logs, shown, (Seen(9.2, 0.1),), CHANCES)
    both = posterior(logs, np.hstack([shown, noise]), (Seen(9.2, 0.1), Seen(0.2, 1.0, 0.0)), CHANCES)
    assert both.p50 == pytest.approx(one.p50, abs=0.05)


def test_a_rate_goes_the_other_way() -> None:
    logs, shown = _worlds()
    slow = posterior(logs, -shown, (Seen(-9.6, 0.1, -1.0),), CHANCES)
    fast = posterior(logs, -shown, (Seen(-8.6, 0.1, -1.0),), CHANCES)
    assert slow.p50 == pytest.approx(9.8, abs=0.15)
    assert fast.p50 == pytest.approx(8.8, abs=0.15)


def test_evidence_that_no_world_explains_is_said_and_not_forced() -> None:
    logs, shown = _worlds()
    found = posterior(logs, shown, (Seen(9.0 + 6.0, 0.05),), CHANCES)
    (weighed,) = found.weighed
    assert weighed.far
    assert weighed.weight < 0.01
    assert found.p50 < np.quantile(logs, 0.9)


def test_of_two_the_one_that_worlds_explain_decides() -> None:
    logs, shown = _worlds()
    found = posterior(logs, np.repeat(shown, 2, axis=1), (Seen(9.2, 0.1), Seen(15.0, 0.1)), CHANCES)
    assert found.p50 == pytest.approx(9.4, abs=0.15)
    assert [each.far for each in found.weighed] == [False, True]


def test_where_nothing_is_unknown_evidence_tells_the_pace_of_the_pool() -> None:
    found = posterior(np.log([3600.0]), np.log([[7200.0]]), (Seen(math.log(7200.0 * 1.2), 0.02),), CHANCES)
    assert math.exp(found.p50) == pytest.approx(3600.0 * 1.2, rel=0.03)


def test_worlds_that_are_unlikely_before_the_evidence_count_less_after_it() -> None:
    logs, shown = _worlds(400)
    prior = np.where(np.arange(400) < 200, 0.9, 0.1) / 200.0
    doubled = posterior(
        np.concatenate([logs, logs + 2.0]), np.vstack([shown, shown]), (Seen(9.0, 0.1),), CHANCES,
        prior=np.concatenate([np.full(400, 0.9), np.full(400, 0.1)]) / 400.0,
    )  # fmt: skip
    alone = posterior(logs, shown, (Seen(9.0, 0.1),), CHANCES)
    assert doubled.weights.weights[400:].sum() == pytest.approx(0.1, abs=0.01)
    assert alone.p50 < doubled.p50 < alone.p50 + 0.1
    assert doubled.p90 > alone.p90
    half = posterior(logs, shown, (Seen(9.0, 0.1),), CHANCES, prior=prior)
    assert half.weights.weights[:200].sum() > 0.8
    even = posterior(logs, shown, (Seen(9.0, 0.1),), CHANCES, prior=np.full(400, 1.0 / 400.0))
    assert even.p50 == pytest.approx(alone.p50)


def test_a_member_is_run_with_its_write_caches_either_way() -> None:
    stated = {"layout": "raidz1x3", "drive": "st4000vn008", "fill": "50%", "evidence": ["scrub=9h"]}
    work = Work(case_of(Scenario.from_dict(stated)), lambda share, what: None)
    work._run_members()
    weighing = work.weighing
    assert weighing is not None
    assert len(weighing.others) == len(work.members)
    assert weighing.prior().sum() == pytest.approx(1.0)
    slower = [
        other.time_s > time if member.write_cache else other.time_s < time
        for other, time, member in zip(weighing.others, work.small, work.members, strict=True)
    ]
    assert sum(slower) >= 14
    pairs = zip(weighing.others, work.members, strict=True)
    off = [each.likely for each, member in pairs if member.write_cache]
    assert off == pytest.approx([0.1] * len(off))
    assert work.effective is not None
    assert work.effective <= len(work.members)
