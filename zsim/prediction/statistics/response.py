"""How the duration depends on the unknowns, from a few runs: quantiles and their errors.

Sixteen members say little of a quantile by themselves: one world more or less moves it.  A regression on the
unknowns tells worlds that were not run from those that were; quantiles are taken over thousands of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant, whole_constant
from zsim.prediction.inputs.ensemble import Unknown, normal_strata, places_of
from zsim.prediction.statistics.sampling import quantiles, student

F64 = NDArray[np.float64]
DRAWS, POSTERIOR = whole_constant("statistics.draws"), whole_constant("statistics.posterior")
SHARES = (0.1, 0.5, 0.9)
KERNEL, KERNEL_DRAWS = 1.0 / 3.0, whole_constant("statistics.kernel_draws")
DRAW_SEED = 11
PRIOR_POINTS = whole_constant("statistics.priors")
PRIORS = tuple(
    float(each)
    for each in np.geomspace(
        constant("statistics.least_prior"), constant("statistics.largest_prior"), PRIOR_POINTS
    )
)
"""Variance that one unknown makes, over that which none of them explains."""
INTERACTS = ("write_cache", "history")


@dataclass(frozen=True, slots=True)
class Response:
    """Quantiles of the duration over everything that was not stated.

    Attributes
    ----------
    p10, p50, p90 : float
        [s]
    half_width : float
        Half the 95 % interval of `p50` that the number of members leaves, as a share of it.
    expected : ndarray of float, shape (members,)
        What the regression makes of each member [s].
    """

    p10: float
    p50: float
    p90: float
    half_width: float
    expected: F64


def response(inputs: Sequence[Unknown], scores: F64, times: Sequence[float]) -> Response:
    """Return quantiles of the duration from a few members.

    Parameters
    ----------
    inputs : sequence of Unknown
    scores : ndarray of float, shape (members, unknowns)
        Standard normal scores of the members.
    times : sequence of float
        Their durations [s].

    Notes
    -----
    Bayesian linear regression of the logarithm (Gelman et al., Bayesian Data Analysis, 2014, chapter 14) on
    the scores, on the values of what is a choice, and on the product of the two unknowns that act on each
    other most.  What one unknown may explain, over what none does, is that of the largest marginal likelihood
    (MacKay, Neural Computation 4, 1992).  It smooths over the worlds, the members themselves are strata of
    each unknown: taken is the mean of the quantiles (logarithm) of its predictive distribution at 1024 worlds
    drawn anew, and of the members'.  The error of the median is its spread over coefficients drawn from their
    posterior, and what the two differ by.
    """
    logs = np.log(np.asarray(times, dtype=np.float64))
    # Two worlds, or worlds that are all alike, tell nothing of a slope.
    if len(logs) < 3 or not inputs or float(np.ptp(logs)) < 1e-9:
        value = float(np.exp(logs.mean()))
        return Response(value, value, value, 0.0, np.exp(logs))
    fresh = _draws(len(inputs))
    design, drawn = _features(inputs, scores), _features(inputs, fresh)
    centre, known = design.mean(axis=0), _proportional(inputs, scores)
    fit = _fitted(design - centre, logs - known)
    values, medians = _predicted(fit, drawn - centre, _proportional(inputs, fresh))
    apart = quantiles(values, SHARES), quantiles(_smoothed(logs), SHARES)
    low, middle, high = np.exp((apart[0] + apart[1]) / 2.0).tolist()
    half = student(len(logs) - 2) * float(np.std(medians, ddof=1))
    expected = np.exp(fit.mean + (design - centre) @ fit.slopes + known)
    return Response(low, middle, high, math.hypot(half, float(apart[1][1] - apart[0][1])), expected)


def _smoothed(logs: F64) -> F64:
    """Return the distribution of the members as a sample: a narrow kernel on each, their variance kept.

    Notes
    -----
    A third of the kernel of Silverman's rule of thumb, and the shrinkage of his equation 6.1 (Density
    Estimation, 1986, 3.31 and section 6.4.1): worlds of different kinds lie in heaps.
    """
    quartiles = quantiles(logs, (0.25, 0.75))
    whole = float(logs.std())
    spread = min(whole, float(quartiles[1] - quartiles[0]) / 1.34 or whole)
    width = KERNEL * 0.9 * spread * len(logs) ** -0.2
    shrunk = math.sqrt(1.0 + (width / whole) ** 2)
    middle = float(logs.mean())
    values: F64 = middle + ((logs - middle)[:, None] + width * normal_strata(KERNEL_DRAWS)) / shrunk
    return values.ravel()


@dataclass(frozen=True, slots=True)
class _Fit:
    """Posterior of a regression: mean of the logarithm, slopes, their covariance, what is left over."""

    mean: float
    slopes: F64
    root: F64
    noise: float
    count: int


def _fitted(design: F64, logs: F64) -> _Fit:
    """Return the regression whose prior has the largest marginal likelihood."""
    count, mean = len(logs), float(logs.mean())
    rest = logs - mean
    outer = design @ design.T
    # In the eigenvectors of the worlds every prior is diagonal: one decomposition serves all that are tried.
    values, vectors = np.linalg.eigh(outer)
    turned = vectors.T @ rest
    best = max(PRIORS, key=lambda prior: _evidence(values, turned, prior))
    weight = 1.0 / (1.0 + best * values)
    noise = float((turned**2 * weight).sum()) / (count - 1)
    # The dual form of ridge regression: there may be more columns than worlds.
    slopes = best * design.T @ (vectors @ (weight * turned))
    inverse = np.linalg.inv(design.T @ design + np.eye(design.shape[1]) / best)
    return _Fit(mean, slopes, np.linalg.cholesky(noise * inverse), noise, count)


def _evidence(values: F64, turned: F64, prior: float) -> float:
    """Return the logarithm of the marginal likelihood, the noise integrated out."""
    variance = 1.0 + prior * np.maximum(values, 0.0)
    spread = float((turned**2 / variance).sum())
    return -0.5 * float(np.log(variance).sum()) - 0.5 * (len(values) - 1) * math.log(spread)


def _predicted(fit: _Fit, drawn: F64, known: F64) -> tuple[F64, F64]:
    """Return the logarithm in worlds drawn anew, and its median for coefficients drawn from the posterior."""
    generator = np.random.Generator(np.random.Philox(key=DRAW_SEED + 1))
    slopes = fit.slopes + generator.standard_normal((POSTERIOR, len(fit.slopes))) @ fit.root.T
    shift = generator.standard_normal(POSTERIOR) * math.sqrt(fit.noise / fit.count)
    # Strata in place of draws: the same law, without the error of drawing from it.
    noise = math.sqrt(fit.noise) * generator.permutation(normal_strata(len(drawn)))
    every = fit.mean + shift + drawn @ slopes.T + (noise + known)[:, None]
    return every.ravel(), _middle(every)


def _middle(every: F64) -> F64:
    """Return the median of each column; numpy's own loads its masked arrays for that."""
    low, high = (len(every) - 1) // 2, len(every) // 2
    sides = np.partition(every, [low, high], axis=0)
    middle: F64 = (sides[low] + sides[high]) / 2.0
    return middle


def _features(inputs: Sequence[Unknown], scores: F64) -> F64:
    """Return what the logarithm is linear in, one row a world."""
    columns = [scores]
    values: dict[str, F64] = {}
    for place, unknown in enumerate(inputs):
        if unknown.choices:
            held = _values(unknown, scores[:, place])
            values[unknown.name] = held
            columns.append(held)
    if all(name in values for name in INTERACTS):
        first, second = (values[name] for name in INTERACTS)
        columns.append((first[:, :, None] * second[:, None, :]).reshape(len(scores), -1))
    return np.concatenate(columns, axis=1)


def _proportional(inputs: Sequence[Unknown], scores: F64) -> F64:
    """Return the logarithm of what the duration goes with in proportion, one value a world."""
    known = np.zeros(len(scores))
    for place, unknown in enumerate(inputs):
        if unknown.proportional:
            logs = np.log([float(choice.value) for choice in unknown.choices])
            known += _values(unknown, scores[:, place]) @ (logs - logs.mean())
    return known


def _values(unknown: Unknown, scores: F64) -> F64:
    """Return which value each world has, one column a value."""
    held = places_of(unknown, scores)
    columns: F64 = (held[:, None] == np.arange(len(unknown.choices))).astype(np.float64)
    return columns


def _draws(unknowns: int) -> F64:
    """Return the scores of worlds drawn anew, a Latin hypercube, the same every time."""
    generator = np.random.Generator(np.random.Philox(key=DRAW_SEED))
    return np.stack([generator.permutation(normal_strata(DRAWS)) for _ in range(unknowns)], axis=1)
