"""How well worlds explain what was observed: heavy-tailed likelihood, weights, and their effective number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import Z90, constant, whole_constant

F64 = NDArray[np.float64]
FREEDOM = constant("evidence.freedom")
"""Degrees of freedom of Student's t: what lies far off counts little, and never decides (Lange, Little,
Taylor, JASA 84, 1989, take 4 where there are too few data to tell)."""
LEAST_EFFECTIVE = constant("evidence.least_effective")
TEMPER_STEPS = whole_constant("evidence.temper_steps")


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each world counts.

    Attributes
    ----------
    weights : ndarray of float, shape (worlds,)
        Summing to 1.
    effective : float
        Number of equally weighted worlds that tell as much (Kish, Survey Sampling, 1965): 1 over the sum of
        the squares.
    power : float
        The likelihood was raised to this power, 1 where enough worlds explain what was observed.
    """

    weights: F64
    effective: float
    power: float = 1.0


def log_likelihood(expected: F64, observed: float, sigma: float) -> F64:
    """Return the logarithm of the likelihood of one value in each world, without its constant.

    Parameters
    ----------
    expected : ndarray of float, shape (worlds,)
        Natural logarithm of what each world would have shown.
    observed : float
        Natural logarithm of what was observed.
    sigma : float
        Scale of Student's t of the logarithm.

    Returns
    -------
    ndarray of float, shape (worlds,)
        ``-(v + 1) / 2 * log(1 + ((observed - expected) / sigma)**2 / v)`` with v = `FREEDOM`.

    Notes
    -----
    Student's t in the place of the normal law: a value that no world explains, such as a scan that stood
    still for a night, loses its weight instead of deciding (Lange, Little and Taylor, JASA 84, 1989).
    """
    away = (observed - expected) / sigma
    density: F64 = -0.5 * (FREEDOM + 1.0) * np.log1p(away**2 / FREEDOM)
    return density


def weights_of(logs: F64, least: float = LEAST_EFFECTIVE, prior: F64 | None = None) -> Weights:
    """Return the weights of worlds by the logarithm of their likelihood, tempered where too few would count.

    Parameters
    ----------
    logs : ndarray of float, shape (worlds,)
        Logarithm of the likelihood, prior weights included.
    least : float
        Worlds that have to count effectively; a quarter of all of them at most.
    prior : ndarray of float, shape (worlds,), optional
        How likely each is without it, which is not tempered.

    Notes
    -----
    Tempering (Neal, Statistics and Computing 11, 2001): the likelihood is raised to the largest power up to 1
    at which as many worlds as `least` count: with few worlds, or evidence that hardly one explains, the
    kernel grows until it holds some.
    """
    before = np.ones(len(logs)) if prior is None else prior
    enough = min(least, float(before.sum()) ** 2 / float((before**2).sum()) / 4.0)
    found = _normalised(logs, 1.0, before)
    if found.effective >= enough:
        return found
    low, high = 0.0, 1.0
    # The more the likelihood counts, the fewer worlds do: the power is found by halving.
    for _ in range(TEMPER_STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _normalised(logs, middle, before).effective >= enough else (low, middle)
    return _normalised(logs, low, before)


def _normalised(logs: F64, power: float, prior: F64) -> Weights:
    raw = prior * np.exp(power * (logs - logs.max()))
    weights: F64 = raw / raw.sum()
    return Weights(weights, 1.0 / float((weights**2).sum()), power)


def weigh(
    expected: F64,
    observed: float | Sequence[float],
    sigma: float | Sequence[float],
    least: float = LEAST_EFFECTIVE,
    prior: F64 | None = None,
) -> Weights:
    """Return how much each world counts after one or several observations.

    Parameters
    ----------
    expected : ndarray of float, shape (worlds,) or (worlds, observations)
        Natural logarithm of what each world would have shown.
    observed : float or sequence of float
        Natural logarithm of what was observed.
    sigma : float or sequence of float
        How far it scatters about what the right world shows.
    least : float
        See `weights_of`.
    prior : ndarray of float, shape (worlds,), optional
        How likely each world is before anything is observed; all alike if not given.

    Returns
    -------
    Weights
        In proportion to the prior and to the product of the likelihoods of all observations
        (`log_likelihood`), which scatter independently of each other.
    """
    columns = np.atleast_2d(np.asarray(expected, dtype=np.float64).T)
    seen, scale = np.atleast_1d(observed), np.broadcast_to(np.atleast_1d(sigma), len(columns))
    logs = np.zeros(columns.shape[1])
    for column, value, width in zip(columns, seen, scale, strict=True):
        logs += log_likelihood(column, float(value), float(width))
    return weights_of(logs, least, prior)


def weighted_quantiles(values: F64, weights: F64, shares: Sequence[float]) -> F64:
    """Return quantiles of weighted values.

    Parameters
    ----------
    values, weights : ndarray of float, shape (n,)
        Weights need not sum to 1.
    shares : sequence of float
        Each from 0 to 1.

    Returns
    -------
    ndarray of float, shape (shares,)
        Halfway up each value's own step of the cumulated weight, straight between them, flat beyond the ends.

    Examples
    --------
    >>> weighted_quantiles(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0]), [0.5]).tolist()
    [2.0]
    """
    order = np.argsort(values, kind="stable")
    risen = np.cumsum(weights[order])
    places = (risen - 0.5 * weights[order]) / risen[-1]
    found: F64 = np.interp(shares, places, values[order])
    return found


def normal_width(values: F64, weights: F64) -> float:
    """Return the standard deviation that the weighted interval from 10 to 90 % is worth.

    Parameters
    ----------
    values, weights : ndarray of float, shape (n,)

    Returns
    -------
    float
        ``(q90 - q10) / (2 * 1.2816)``: that of the normal law with the same interval, whatever the tails.
    """
    low, high = weighted_quantiles(values, weights, (0.1, 0.9))
    return float(high - low) / (2.0 * Z90)
