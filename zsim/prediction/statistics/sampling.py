"""What the durations of windows say about a long sequence of operations.

Stratified windows, one at a random place in each of equal parts of the order of issue, and a regression on
what is known of every operation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
CONFIDENCE = constant("statistics.confidence")
MOST_LEVERAGE = constant("statistics.most_leverage")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A total, and how well it is known.

    Attributes
    ----------
    total : float
        Estimated duration [s].
    error : float
        Standard error [s].
    freedom : int
        Degrees of freedom of it.
    cost : ndarray of float, shape (columns,)
        Fitted duration of one unit of each column [s].
    """

    total: float
    error: float
    freedom: int
    cost: F64

    @property
    def half_width(self) -> float:
        """Half the 95 % interval [s]: `error` times Student's t of `freedom` degrees of freedom."""
        return student(self.freedom) * self.error


def student(freedom: int) -> float:
    """Return the 97.5 % point of Student's t, half the width of a 95 % interval in standard errors.

    Parameters
    ----------
    freedom : int
        Degrees of freedom; fewer than 1 count as 1.

    Returns
    -------
    float

    Notes
    -----
    Expansion of Cornish and Fisher (Abramowitz and Stegun, 1964, equation 26.7.5), within 0.3 % from 4
    degrees of freedom on; the exact values below.

    Examples
    --------
    >>> student(1), round(student(10), 2), round(student(10**6), 2)
    (12.706, 2.23, 1.96)
    """
    if freedom <= 3:
        return {1: 12.706, 2: 4.303, 3: 3.182}[max(1, freedom)]
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2.0)
    terms = (
        z,
        (z**3 + z) / 4.0,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96.0,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384.0,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))


def quantiles(values: F64, shares: Sequence[float]) -> F64:
    """Return quantiles of a sample: its values in order, and straight lines between them.

    Parameters
    ----------
    values : ndarray of float
        The sample.
    shares : sequence of float
        From 0 to 1, in any order.

    Returns
    -------
    ndarray of float, shape (shares,)

    Notes
    -----
    Definition 7 of Hyndman and Fan (The American Statistician 50, 1996), as `numpy.quantile` has it, to the
    bit; that loads numpy's masked arrays, which takes longer than some of the simulations.
    """
    ordered = np.sort(values, axis=None)
    place = np.asarray(shares, dtype=np.float64) * (len(ordered) - 1)
    below = np.floor(place).astype(np.int64)
    low, high = ordered[below], ordered[np.minimum(below + 1, len(ordered) - 1)]
    part = place - below
    # From the nearer end, as it rounds less.
    found: F64 = np.where(part < 0.5, low + (high - low) * part, high - (high - low) * (1.0 - part))
    return found


def median(values: F64) -> float:
    """Return the middle of a sample, or the mean of the two in the middle, as `numpy.median` to the bit."""
    ordered = np.sort(values, axis=None)
    return float(ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1].mean())


def window_starts(first: int, last: int, count: int, length: int, taken: I64, seed: int) -> I64:
    """Return where windows begin: at a random place in each of `count` equal parts that holds none yet.

    Parameters
    ----------
    first, last : int
        The sequence to sample, `last` not included.
    count : int
        Parts.
    length : int
        Of a window; shorter than a part.
    taken : ndarray of int64
        Where windows begin already.
    seed : int

    Returns
    -------
    ndarray of int64, shape (at most count,)
        Rising; a window ends in the part in which it begins.

    Notes
    -----
    Stratified sampling (Cochran, Sampling Techniques, 1977, chapter 5) with one window a stratum, so that
    windows are added without leaving out those that were run: each of twice as many parts that holds none of
    them gets one.
    """
    edges = first + (last - first) * np.arange(count + 1, dtype=np.float64) / count
    chance = np.random.Generator(np.random.Philox(key=seed)).random(count)
    starts = (edges[:-1] + chance * np.maximum(0.0, np.diff(edges) - length)).astype(np.int64)
    held = np.histogram(taken, edges)[0] > 0
    return starts[~held]


def whole_from_windows(
    seconds: Sequence[float] | F64,
    columns: F64,
    whole: F64,
    units: float,
    sampled: float,
    groups: Sequence[int] | I64 | None = None,
) -> Estimate:
    """Return the duration of a whole from that of its windows.

    Parameters
    ----------
    seconds : sequence of float, shape (n,)
        Duration of each window, in the order of the sequence [s].
    columns : ndarray of float, shape (n, columns)
        What is known of each window: number of blocks first, then bytes, jumps and so on.
    whole : ndarray of float, shape (columns,)
        The same of the whole.
    units : float
        Whole over one window.
    sampled : float
        Share of the whole that lies in the windows.
    groups : sequence of int, shape (n,), optional
        Windows of one group share what happened to all of them, so that they count as one; by default each
        is a group of its own.

    Returns
    -------
    Estimate
        ``total = whole @ cost + units * mean(seconds - columns @ cost)``, where `cost` is the least-squares
        cost of a unit of each column, and ``error = units * sqrt((1 - sampled) * variance / groups)``.

    Notes
    -----
    General regression estimator (Cochran, Sampling Techniques, 1977, chapter 7) with costs that cannot be
    negative.  Its residuals are divided by what their windows did not pull towards themselves (MacKinnon and
    White, Journal of Econometrics 29, 1985, HC3).  Neighbours resemble each other, so that what one has more
    than the next counts, not more than all (Wolter, Introduction to Variance Estimation, 2007, section 8.2).
    """
    taken = np.asarray(seconds, dtype=np.float64)
    count = len(taken)
    scale = np.maximum(whole, 1e-300) / units
    known = np.where(whole > 0.0, columns / scale, 0.0)
    cost, used = _costs(known, taken)
    rest = taken - known @ cost
    pulled = known[:, used] @ np.linalg.pinv(known[:, used]) if used else np.zeros((count, count))
    # A window pulls the fit towards itself by its leverage: without it, it would lie so much further off.
    rest_alone = rest / (1.0 - np.minimum(np.diag(pulled), MOST_LEVERAGE))
    shared = _by_group(rest_alone, np.arange(count) if groups is None else np.asarray(groups))
    if len(shared) < 2:
        shared = rest_alone
    variance = float((np.diff(shared) ** 2).sum()) / (2.0 * max(1, len(shared) - 1))
    error = units * math.sqrt(max(0.0, 1.0 - sampled) * variance / len(shared))
    total = units * float(cost.sum() + rest.mean())
    freedom = min(count - max(1, len(used)), len(shared) - 1)
    return Estimate(total, error, max(1, freedom), cost / scale)


def _by_group(values: F64, groups: I64) -> F64:
    """Return the mean of each group, groups by the mean place of their members."""
    number = np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(number)
    place = np.bincount(number, weights=np.arange(len(values))) / sizes
    means: F64 = (np.bincount(number, weights=values) / sizes)[np.argsort(place, kind="stable")]
    return means


def _costs(known: F64, seconds: F64) -> tuple[F64, list[int]]:
    """Return the cost of a unit of each column by least squares, those that would be negative left out."""
    used = [
        number for number in range(known.shape[1]) if number == 0 or float(np.ptp(known[:, number])) > 0.0
    ]
    cost = np.zeros(known.shape[1])
    while used:
        found = np.linalg.lstsq(known[:, used], seconds, rcond=None)[0]
        worst = int(np.argmin(found))
        if found[worst] >= 0.0:
            cost[used] = found
            return cost, used
        del used[worst]
    return cost, used
