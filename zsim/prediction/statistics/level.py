"""From small populations to the pool: worlds near the median on larger populations, and the error of that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from zsim.base.constants import constant, whole_constant
from zsim.prediction.statistics.sampling import student

SPREAD, WEIGHT = constant("statistics.level_spread"), whole_constant("statistics.level_weight")
"""Standard deviation of the logarithm of one larger population over its small one, as many worlds show it,
and in how many worlds' place that is taken: three or four alone tell little of their own spread."""
NOISE = constant("statistics.noise")
"""Standard deviation of the logarithm between small populations of one world, of different seeds."""


OF_SIZE, OF_DRIFT = constant("statistics.of_size"), constant("statistics.of_drift")
"""Half of what the size of a small tile may change, with 95 %: a part that all worlds have, and this share of
what a tile of 30,000 blocks differs from a population of 5,000 (80 exact runs of pools of 400,000 blocks)."""


@dataclass(frozen=True, slots=True)
class DurationLevel:
    """What all durations on small populations are to be multiplied by.

    Attributes
    ----------
    factor : float
    half_width : float
        Half its 95 % interval, as a share of it.
    """

    factor: float = 1.0
    half_width: float = 0.0


def of_size(drift: float) -> float:
    """Return half the 95 % interval of what the size of a small tile may change, as a share.

    Parameters
    ----------
    drift : float
        Logarithm of the duration on tiles over that on small populations.

    Returns
    -------
    float
        ``hypot(OF_SIZE, OF_DRIFT * drift)``: what all worlds have in common, and a share of the drift, are
        independent of each other.
    """
    return math.hypot(OF_SIZE, OF_DRIFT * drift)


def anchors(small_s: Sequence[float], expected_s: Sequence[float]) -> list[float]:
    """Return what worlds take on small populations, chance in them averaged out as far as it is known [s].

    Parameters
    ----------
    small_s : sequence of float, of n worlds
        Of one small population each [s].
    expected_s : sequence of float, of n worlds
        What the regression over all worlds makes of them [s].

    Returns
    -------
    list of float, of n worlds
        ``exp(e + own * (y - e))`` with the logarithms y and e of the two, and
        ``own = max(0, 1 - NOISE**2 / mean((y - e)**2))`` [s].

    Notes
    -----
    James and Stein's shrinkage (Efron and Morris, JASA 70, 1975): what a world has beyond the regression
    counts by the share of such differences that is not chance.
    """
    small, expected = np.log(small_s), np.log(expected_s)
    rest = float(np.mean((small - expected) ** 2))
    own = max(0.0, 1.0 - NOISE**2 / rest) if rest > 0.0 else 0.0
    return np.exp(expected + own * (small - expected)).tolist()  # type: ignore[no-any-return]


def level(ratios: Sequence[float], error: float = 0.0) -> DurationLevel:
    """Return the mean ratio of larger populations to the anchors of the same worlds, and its error.

    Parameters
    ----------
    ratios : sequence of float, of n worlds
    error : float
        Half the 95 % interval of what all of them have in common, as a share.

    Returns
    -------
    DurationLevel
        ``factor = exp(mean(log(ratios)))``, and ``half_width = hypot(t * sqrt(s**2 / n), error)``.

    Notes
    -----
    Three or four ratios tell little of their own spread, so that its square is shrunk to the usual one as if
    `WEIGHT` more worlds had shown that (a scaled inverse chi-square prior; Gelman et al., Bayesian Data
    Analysis, 2014, section 2.6): ``s**2 = (WEIGHT * SPREAD**2 + sum of squares) / (WEIGHT + n - 1)``, and t
    is Student's of that many degrees of freedom.
    """
    logs = np.log(ratios)
    freedom = WEIGHT + len(logs) - 1
    variance = (WEIGHT * SPREAD**2 + float(((logs - logs.mean()) ** 2).sum())) / freedom
    half = student(freedom) * math.sqrt(variance / len(logs))
    return DurationLevel(math.exp(float(logs.mean())), math.hypot(half, error))


def with_sampling(ratio: float, half_width: float) -> float:
    """Return a quantile over the median with the median's own error in it.

    Parameters
    ----------
    ratio : float
        Quantile over median without that error.
    half_width : float
        Half the 95 % interval of the median, as a share of it.

    Returns
    -------
    float
        ``exp(sign * hypot(log(ratio), half_width * z90 / z97.5))`` with z of the standard normal
        distribution, and the sign of ``log(ratio)``; 1 where that is 0.

    Notes
    -----
    Variances of independent normal errors of the logarithm add; the median stays.
    """
    away, normal = math.log(ratio), NormalDist()
    own = half_width * normal.inv_cdf(0.9) / normal.inv_cdf(0.975)
    return math.exp(math.copysign(math.hypot(away, own), away)) if away else ratio
