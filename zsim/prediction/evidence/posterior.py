"""The answer of the weighted worlds, and the effect of each piece of evidence on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from zsim.base.constants import constant, whole_constant
from zsim.prediction.evidence.likelihood import Weights, normal_width, weigh, weighted_quantiles
from zsim.prediction.inputs.ensemble import normal_strata
from zsim.prediction.statistics.response import DRAW_SEED, KERNEL, SHARES
from zsim.prediction.statistics.sampling import F64

KERNEL_WIDTH = constant("evidence.kernel_width")
"""How far off a world may be to count still, of the logarithm: from 0.15 to 0.5 the error hardly changes;
narrower ones leave too few worlds, wider ones worlds of other kinds (docs/explanation/evidence.md)."""
WIDEST = constant("evidence.widest")
"""Spread taken for the kernel that smooths over the worlds, at most: they lie in heaps."""
MOST_EXPONENT = constant("evidence.most_exponent")
STRATA, BOOTSTRAPS = whole_constant("evidence.strata"), whole_constant("evidence.bootstraps")
NORMAL_95, FAR = constant("evidence.normal_95"), constant("evidence.far")
OUTLIERS, BROAD = constant("evidence.outliers"), constant("evidence.broad")
"""Share of observations that have nothing to do with what is simulated (another machine, a pause, a
misprint), and the standard deviation of their logarithm."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One value that was observed, and how it scatters.

    Attributes
    ----------
    log : float
        Its natural logarithm.
    sigma : float
        Standard deviation of its scatter about what the right world shows.
    pace : float
        With which power it goes with the pace of this pool, that no unknown explains: 1 for a duration, -1
        for a rate, 0 for what the scan has no part in.
    """

    log: float
    sigma: float
    pace: float = 1.0


class EvidenceSpread(NamedTuple):
    """Standard deviations of logarithms beside what is unknown of a world.

    Attributes
    ----------
    pace : float
        Of the pool over the world that is right otherwise, the same in all its scans.
    event : float
        Of one scan over another of the same pool and kind.
    """

    pace: float
    event: float


@dataclass(frozen=True, slots=True)
class WeighedEvidence:
    """What became of one value.

    Attributes
    ----------
    expected : tuple of float
        Logarithm of what the worlds show, all alike: 10, 50 and 90 %.
    weight : float
        Probability that it has to do with what is simulated: near 1 where worlds explain it, near 0 if none.
    narrows : float
        By how much p10-p90 (of the logarithm) is narrower with it than without it, all else being weighed.
    far : bool
        No world explains it: it lies beyond 2.5 standard deviations of what they show.
    """

    expected: tuple[float, float, float]
    weight: float
    narrows: float
    far: bool


@dataclass(frozen=True, slots=True)
class Posterior:
    """The weighted worlds.

    Attributes
    ----------
    p10, p50, p90 : float
        Natural logarithm of the duration.
    half_width : float
        Half the 95 % interval of `p50` that the number of worlds leaves.
    weights : Weights
        Of the worlds.
    adjusted : ndarray of float, shape (worlds,)
        Logarithm of the duration of each world, had it shown what was observed.
    weighed : tuple of WeighedEvidence
        One for each value.
    """

    p10: float
    p50: float
    p90: float
    half_width: float
    weights: Weights
    adjusted: F64
    weighed: tuple[WeighedEvidence, ...] = ()

    def moved(self, times: list[float]) -> list[float]:
        """Return times of the first worlds [s], had each shown what was observed.

        Where no world explains it, they stay as they are.
        """
        if self.weighed and all(each.far for each in self.weighed):
            return times
        found: list[float] = np.exp(self.adjusted[: len(times)]).tolist()
        return found


def posterior(
    logs: F64,
    shown: F64,
    seen: Sequence[Seen],
    chances: EvidenceSpread,
    without: float | None = None,
    prior: F64 | None = None,
) -> Posterior:
    """Return the duration in the worlds as they are weighted by what was observed.

    Parameters
    ----------
    logs : ndarray of float, shape (worlds,)
        Natural logarithm of the duration in each world.
    shown : ndarray of float, shape (worlds, values)
        Natural logarithm of what each world would have shown.
    seen : sequence of Seen
        What was observed, at least one value.
    chances : EvidenceSpread
    without : float, optional
        Logarithm of p90/p10 without any evidence; taken from the worlds if not given.
    prior : ndarray of float, shape (worlds,), optional
        How likely each world is before anything is observed, summing to 1; all alike if not given.

    Notes
    -----
    Approximate Bayesian computation with regression adjustment (Beaumont, Zhang, Balding, Genetics 162,
    2002): worlds count by how near what they show is to what was observed, and each is moved along a slope
    to where it would have shown that.  The slope is that of Gaussian conditioning on the worlds within the
    kernel, with a part in common beside theirs; see ``docs/explanation/evidence.md``.
    """
    before = np.full(len(logs), 1.0 / len(logs)) if prior is None else prior
    found = _conditioned(logs, shown, seen, chances, before)
    width = found.p90 - found.p10
    if without is None:
        low, high = _quantiles(logs, before, (SHARES[0], SHARES[-1]))
        without = float(high - low)
    weighed = []
    for place, each in enumerate(seen):
        others = [number for number in range(len(seen)) if number != place]
        alone = without
        if others:
            rest = _conditioned(logs, shown[:, others], [seen[number] for number in others], chances, before)
            alone = rest.p90 - rest.p10
        low, middle, high = _quantiles(shown[:, place], before, SHARES)
        away, sigma = _away(shown[:, place], each, chances, before)
        weighed.append(
            WeighedEvidence(
                (low, middle, high),
                _belongs(away, sigma),
                1.0 - width / alone if alone > 0.0 else 0.0,
                abs(away) > FAR * math.hypot(_deviation(shown[:, place], before), each.sigma),
            )
        )
    return replace(found, weighed=tuple(weighed))


def _quantiles(values: F64, prior: F64, shares: Sequence[float]) -> list[float]:
    """Return quantiles over the worlds before anything is observed; numpy's where all are alike."""
    if float(np.ptp(prior)) == 0.0:
        found: list[float] = np.quantile(values, shares).tolist()
        return found
    return [float(each) for each in weighted_quantiles(values, prior, shares)]


def _deviation(values: F64, prior: F64) -> float:
    """Return the standard deviation over the worlds before anything is observed."""
    return math.sqrt(float(prior @ (values - prior @ values) ** 2))


def _away(shown: F64, each: Seen, chances: EvidenceSpread, prior: F64) -> tuple[float, float]:
    """Return how far a value lies from the middle of the worlds, and its predictive standard deviation."""
    (middle,), spread = _quantiles(shown, prior, (0.5,)), _deviation(shown, prior)
    return each.log - middle, math.hypot(spread, chances.pace * each.pace, each.sigma)


def _strange(away: float, sigma: float) -> float:
    """Return how much likelier a value is if it has nothing to do with what is simulated than if it has.

    Notes
    -----
    Box and Tiao's contaminated normal distribution (Biometrika 55, 1968).
    """
    broad = math.hypot(sigma, BROAD)
    exponent = 0.5 * away**2 * (1.0 / sigma**2 - 1.0 / broad**2)
    return sigma / broad * math.exp(min(MOST_EXPONENT, exponent))


def _belongs(away: float, sigma: float) -> float:
    """Return the probability that a value has to do with what is simulated."""
    return 1.0 / (1.0 + OUTLIERS / (1.0 - OUTLIERS) * _strange(away, sigma))


def _conditioned(
    logs: F64, shown: F64, seen: Sequence[Seen], chances: EvidenceSpread, prior: F64
) -> Posterior:
    observed = np.array([each.log for each in seen])
    pace = np.array([each.pace for each in seen])
    # What says nothing of the pace leaves it as it is where nothing was observed.
    of_pace = chances.pace if pace.any() else 0.0
    away = [_away(shown[:, place], each, chances, prior) for place, each in enumerate(seen)]
    belongs = max(_belongs(*each) for each in away)
    # Alone, it is as it is or it is not believed; among others, it counts less than they.
    noise = np.array([
        each.sigma**2 if len(seen) == 1 else _variance(each, *far)
        for each, far in zip(seen, away, strict=True)
    ])  # fmt: skip
    scales = np.sqrt(noise + KERNEL_WIDTH**2).tolist()
    weights = weigh(shown, observed.tolist(), scales, prior=prior)
    slopes = _slopes(logs, shown, weights.weights, pace, noise, of_pace)
    adjusted = logs + (observed - shown) @ slopes
    apart = _smoothing(_deviation(logs, prior), adjusted, weights)
    left = (slopes**2 * noise).sum() + chances.event**2 + (of_pace * (1.0 - slopes @ pace)) ** 2
    spread = math.sqrt(apart**2 + float(left))
    values = np.concatenate([
        adjusted[:, None] + spread * normal_strata(STRATA),
        logs[:, None] + chances.event * normal_strata(STRATA),
    ])  # fmt: skip
    shares = np.concatenate([belongs * weights.weights, (1.0 - belongs) * prior])
    shares = np.repeat(shares / STRATA, STRATA)
    low, middle, high = weighted_quantiles(values.ravel(), shares, SHARES).tolist()
    return Posterior(low, middle, high, _half_width(adjusted, weights.weights), weights, adjusted)


def _variance(each: Seen, away: float, sigma: float) -> float:
    """Return the variance of a value's scatter, larger where it likely has nothing to do with the worlds."""
    odds = OUTLIERS / (1.0 - OUTLIERS) * max(0.0, _strange(away, sigma) - 1.0)
    return each.sigma**2 + sigma**2 * odds


def _slopes(logs: F64, shown: F64, weights: F64, pace: F64, noise: F64, spread: float) -> F64:
    """Return by how much the duration goes with each value: Gaussian conditioning within the kernel.

    The pace of the pool, of standard deviation `spread`, is common to all; beside it, few worlds near what
    was observed seldom tell a slope other than 1.
    """
    every = np.column_stack([logs, shown])
    every = every - weights @ every
    within = every.T @ (weights[:, None] * every)
    common = np.concatenate([[1.0], pace])
    # What has no part in the pace is not taken for more than it shows either.
    own = np.concatenate([[0.0], 1.0 - pace**2])
    within += spread**2 * (np.outer(common, common) + np.diag(own))
    found: F64 = np.asarray(np.linalg.solve(within[1:, 1:] + np.diag(noise), within[1:, 0]))
    return found


def _smoothing(deviation: float, adjusted: F64, weights: Weights) -> float:
    """Return the width of the kernel over the worlds: see `zsim.prediction.statistics.response`."""
    spread = min(normal_width(adjusted, weights.weights), deviation, WIDEST)
    return KERNEL * 0.9 * spread * math.pow(weights.effective, -0.2)


def _half_width(adjusted: F64, weights: F64) -> float:
    """Return half the 95 % interval of the median: its spread if other worlds had been drawn.

    Notes
    -----
    The Bayesian bootstrap (Rubin, Annals of Statistics 9, 1981).
    """
    if len(adjusted) < 2:
        return 0.0
    generator = np.random.Generator(np.random.Philox(key=DRAW_SEED + 2))
    shares = generator.standard_exponential((BOOTSTRAPS, len(adjusted))) * weights
    medians = [float(weighted_quantiles(adjusted, share, (0.5,))[0]) for share in shares]
    return NORMAL_95 * float(np.std(medians, ddof=1))
