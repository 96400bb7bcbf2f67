"""Duration and evidence together, in worlds that were not run: one regression of several results.

`zsim.predict.response` tells the duration of worlds that were not run from a few that were.  Here it is told
together with what these worlds would have shown, so that what no unknown explains of both stays common.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zsim.predict.ensemble import Unknown
from zsim.predict.response import DRAW_SEED, features, fresh_scores, normal_strata
from zsim.predict.sampling import F64

WORLDS, COEFFICIENTS = 8192, 32
"""Drawn anew: evidence may leave one world in a hundred, and quantiles are taken over those."""
PRIORS = tuple(float(each) for each in np.geomspace(0.02, 500.0, 18))
"""Variance that one unknown makes, over what none explains: that of one population may be small beside it."""
LEAST_VARIANCE = 1e-8
"""Of what is left over of a logarithm: two results may be one and the same."""


@dataclass(frozen=True, slots=True)
class Joint:
    """Posterior of a regression with several results.

    Attributes
    ----------
    mean : ndarray of float, shape (results,)
    slopes : ndarray of float, shape (features, results)
    root : ndarray of float, shape (features, features)
        Cholesky factor of the covariance of the slopes of a result whose rest has variance 1.
    rest : ndarray of float, shape (results, results)
        Covariance of what no unknown explains.
    count : int
        Worlds that were run.
    prior : float
        Variance of a slope over that of the rest.
    """

    mean: F64
    slopes: F64
    root: F64
    rest: F64
    count: int
    prior: float


def fitted(design: F64, logs: F64) -> Joint:
    """Return the regression of several results on the same features.

    Parameters
    ----------
    design : ndarray of float, shape (worlds, features)
        Centred.
    logs : ndarray of float, shape (worlds, results)

    Notes
    -----
    Matrix normal prior of the slopes, N(0, prior I, Sigma), with which the posterior does not depend on the
    units of the results or on which combinations of them are taken (Dawid, Biometrika 68, 1981; of one
    result: Gelman et al., Bayesian Data Analysis, 2014, section 14.6).  The prior is that of the largest
    marginal likelihood with Sigma integrated out (MacKay, Neural Computation 4, 1992).
    """
    count, mean = len(logs), logs.mean(axis=0)
    rest = logs - mean
    values, vectors = np.linalg.eigh(design @ design.T)
    values = np.maximum(values, 0.0)
    turned = vectors.T @ rest
    floor = LEAST_VARIANCE * (count - 1) * np.eye(logs.shape[1])
    best = max(PRIORS, key=lambda prior: _evidence(values, turned, floor, prior))
    weight = 1.0 / (1.0 + best * values)
    covariance = (turned.T @ (turned * weight[:, None]) + floor) / (count - 1)
    slopes = best * design.T @ (vectors @ (turned * weight[:, None]))
    inverse = np.linalg.inv(design.T @ design + np.eye(design.shape[1]) / best)
    return Joint(mean, slopes, np.linalg.cholesky(inverse), covariance, count, best)


def _evidence(values: F64, turned: F64, floor: F64, prior: float) -> float:
    """Return the logarithm of the marginal likelihood."""
    variance = 1.0 + prior * values
    spread = turned.T @ (turned / variance[:, None]) + floor
    _, size = np.linalg.slogdet(spread)
    whole: float = turned.shape[1] * float(np.log(variance).sum()) + (len(values) - 1) * float(size)
    return -0.5 * whole


def drawn(fit: Joint, design: F64) -> F64:
    """Return the results in worlds drawn anew, for coefficients drawn from their posterior.

    Parameters
    ----------
    fit : Joint
    design : ndarray of float, shape (worlds, features)
        Centred as that of the fit.

    Returns
    -------
    ndarray of float, shape (results, worlds, coefficients)
    """
    generator = np.random.Generator(np.random.Philox(key=DRAW_SEED + 2))
    results, common = len(fit.mean), np.linalg.cholesky(fit.rest)
    shape = (COEFFICIENTS, fit.slopes.shape[0], results)
    slopes = fit.slopes + fit.root @ generator.standard_normal(shape) @ common.T
    shift = generator.standard_normal((COEFFICIENTS, results)) @ common.T / math.sqrt(fit.count)
    strata = normal_strata(len(design))
    rest = np.stack([generator.permutation(strata) for _ in range(results)], axis=1) @ common.T
    every = design @ slopes + (fit.mean + shift)[:, None, :] + rest
    return np.ascontiguousarray(every.transpose(2, 1, 0))


def draws(inputs: Sequence[Unknown], scores: F64, logs: F64) -> F64:
    """Return duration and evidence in thousands of worlds, from the few that were run.

    Parameters
    ----------
    inputs : sequence of Unknown
    scores : ndarray of float, shape (worlds, unknowns)
        Standard normal scores of the worlds that were run.
    logs : ndarray of float, shape (worlds, results)
        Natural logarithm of their duration, and of what each would have shown.

    Returns
    -------
    ndarray of float, shape (results, worlds drawn, coefficients drawn)
        Constant where nothing is unknown.
    """
    if len(logs) < 3 or not inputs:
        flat = logs.mean(axis=0)
        return np.broadcast_to(flat[:, None, None], (logs.shape[1], WORLDS, COEFFICIENTS)).copy()
    design, fresh = features(inputs, scores), features(inputs, fresh_scores(len(inputs), WORLDS))
    centre = design.mean(axis=0)
    return drawn(fitted(design - centre, logs), fresh - centre)
