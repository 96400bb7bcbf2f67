"""The range of a fleet's losses: a fit over the simulated worlds, evaluated in all that may be.

A world in which little is lost is simulated with few losses or none, and only some of the worlds are
simulated: quantiles of their own means would be those of the noise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.planning.risk.evaluate import ENDS, summed_up
from zsim.planning.risk.one_vdev.group import Floats
from zsim.planning.risk.records import Chance, chance

WORLDS_A_COEFFICIENT = 8
SPREAD = 1.0
"""Of each coefficient but the first beforehand: by how many e-folds its effect may vary with a score."""
NEARLY_CERTAIN = 1.0 - 1e-12


class ManyWorlds(NamedTuple):
    """The worlds that may be, and which of them were simulated.

    Attributes
    ----------
    scores : ndarray, shape (many, inputs)
        Standard normal scores of the inputs that are open.
    places : ndarray, shape (worlds,)
        Of the simulated ones.
    weights : ndarray, shape (worlds,)
        What each counts for; they sum to 1.
    """

    scores: Floats
    places: NDArray[np.intp]
    weights: Floats


def rate_of_loss(values: Floats, errors: Floats, expected: Floats, worlds: ManyWorlds) -> Chance:
    """Return how much is lost, as a mean and a range over worlds.

    Parameters
    ----------
    values, errors : ndarray, shape (worlds,)
        Simulated in each world, and the standard error relative to it.
    expected : ndarray, shape (many,)
        To first order in every world that may be, in any unit.
    worlds : ManyWorlds

    Returns
    -------
    Chance
        In the unit of `values`.
    """
    if not values.any() or len(values) == 1:
        return summed_up(values, errors, worlds.weights)
    return _told(_fitted(values, expected, worlds), values, worlds)


def chance_of_loss(values: Floats, errors: Floats, expected: Floats, worlds: ManyWorlds) -> Chance:
    """Return a chance of loss as `rate_of_loss` does a rate; fitted is minus the logarithm of none [1]."""
    if not values.any() or len(values) == 1:
        return summed_up(values, errors, worlds.weights)
    hazards = -np.log1p(-np.minimum(values, NEARLY_CERTAIN))
    return _told(-np.expm1(-_fitted(hazards, expected, worlds)), values, worlds)


def nested(files: Chance, vdev: Chance, pool: Chance) -> tuple[Chance, Chance, Chance]:
    """Return chances each of which is at least the one after it, whatever their fits say of few histories."""
    ends = [(each.low, each.p, each.high) for each in (files, vdev, pool)]
    more = (max(pair) for pair in zip(ends[0], ends[1], strict=True))
    less = (min(pair) for pair in zip(ends[2], ends[1], strict=True))
    (low, p, high), (least, mean, most) = more, less
    return Chance(p=p, low=low, high=high), vdev, Chance(p=mean, low=least, high=most)


def _told(fitted: Floats, values: Floats, worlds: ManyWorlds) -> Chance:
    """Return the ends of a fit, and its mean corrected by what the simulated worlds have beside it.

    A regression estimator (Sarndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992, 6.4).
    """
    mean = float(fitted.mean() + worlds.weights @ (values - fitted[worlds.places]))
    low, high = np.quantile(fitted, ENDS).tolist()
    if mean <= 0.0:
        mean = float(worlds.weights @ values)
    return chance(mean, min(low, mean), max(high, mean))


def _fitted(values: Floats, expected: Floats, worlds: ManyWorlds) -> Floats:
    """Return the losses in every world that may be.

    Notes
    -----
    What is simulated over what is expected to first order is near 1 and smooth in the scores: its logarithm
    is taken as linear in them, and square in that of the losses expected.  A generalised linear model of
    gamma variance with a logarithmic link (McCullagh and Nelder, Generalized Linear Models, 1989, 8): its
    mean is met also where no loss was drawn.  Each coefficient has a normal law beforehand, without which
    worlds that lose nothing would have it grow without end.
    """
    from scipy.optimize import minimize

    inputs = _inputs(expected, worlds.scores, len(values))
    here, ratios = inputs[worlds.places], values / expected[worlds.places]
    scale = float(ratios.mean())

    precision = np.full(inputs.shape[1], SPREAD**-2)
    precision[0] = 0.0

    def deviance(factors: Floats) -> tuple[float, Floats]:
        told = here @ factors
        left = ratios / scale * np.exp(-told)
        beside = precision * factors
        return float((told + left).sum() + 0.5 * factors @ beside), here.T @ (1.0 - left) + beside

    def curvature(factors: Floats) -> Floats:
        left = ratios / scale * np.exp(-here @ factors)
        return np.asarray(here.T @ (left[:, None] * here) + np.diag(precision))

    start = np.zeros(inputs.shape[1])
    found = minimize(deviance, start, method="trust-exact", jac=True, hess=curvature)
    result: Floats = expected * scale * np.exp(inputs @ found.x)
    return result


def _inputs(expected: Floats, scores: Floats, simulated: int) -> Floats:
    """Return what the coefficients multiply, shape (many, coefficients): as many as the worlds tell."""
    size = np.log(expected)
    size = (size - size.mean()) / max(float(size.std()), 1e-12)
    columns = [np.ones(len(expected)), size, size**2, *scores.T]
    return np.column_stack(columns[: max(1, simulated // WORLDS_A_COEFFICIENT)])
