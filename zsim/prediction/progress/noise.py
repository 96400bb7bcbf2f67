"""How real scans deviate from the course of a world: in pace as a whole, and by stretches.

The logarithm of the pace of every cell of work is Gaussian: what the drives give to all of the run, what its
metadata phase and its repair each have of their own, and two Ornstein-Uhlenbeck processes over the work, a
slow and a quick one.
How restless a run is differs from pool to pool, and several statuses tell it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base import model_data
from zsim.base.constants import constant, content, number_in, whole_constant
from zsim.base.parsed import tables, value_of
from zsim.prediction.progress.course import CELLS, EDGES, VISIT_CELLS

F64 = NDArray[np.float64]
MODEL = model_data.models_directory() / "unknowns" / "progress.toml"
VISIT_LENGTH = constant("progress.visit_length")
"""Over so many cells of the metadata phase its own pace is correlated."""
STEPS = whole_constant("progress.newton_steps")
"""Of Gauss and Newton, at most."""
MOST, CLOSE = constant("progress.most_pace"), constant("progress.newton_close")
"""Logarithm of the pace beyond which it is cut off while it is sought; and what counts as standing still."""


class Restless(NamedTuple):
    """How restless a run may be: factors on the spreads of its stretches and of its whole, and how likely."""

    factor: float
    whole: float
    share: float


@dataclass(frozen=True, slots=True)
class Noise:
    """Sizes of the departures: standard deviations of the logarithm of the pace.

    Attributes
    ----------
    whole : float
        Of what the whole repair, or the whole metadata phase, has in common.
    visit : float
        Of the metadata phase, beyond that.
    slow, quick : float
        Of stretches of work, for a run of middling restlessness.
    slow_length, quick_length : float
        Over which they are correlated, as shares of the work.
    restless : tuple of Restless
        From an idle machine that nobody touches to a pool at work with a sick drive.
    drift, drift_by_birth : float
        Of the mean pace, from the begin to the end of a scan by address, and of one by object.
    tilt : float
        Of the drift of one run about the mean, from its begin to its end.
    tail : float
        Of what follows the last I/O.
    unlike : float
        Of what the run has in common, if the drives are none of those that are simulated.
    alien, alien_share : float
        The same if they are nothing like them, and how likely that is of these.
    visit_quick, visit_length : float
        Of how evenly metadata lead to data, and over which share of the metadata phase.
    uneven : float
        Of the mean pace of a whole repair, as an answer that needs no world has it.
    counters : float
        Of the share done that counters tell, about its logarithm.
    under_way : float
        Of bytes under way, as a share of the most there may be.
    """

    whole: float
    visit: float
    slow: float
    slow_length: float
    quick: float
    quick_length: float
    restless: tuple[Restless, ...]
    counters: float
    under_way: float
    tail: float
    tilt: float
    unlike: float
    alien: float
    alien_share: float
    visit_quick: float
    visit_length: float
    uneven: float
    drift: float = 0.0
    drift_by_birth: float = 0.0


NUMBERS = tuple(each.name for each in fields(Noise) if each.name != "restless")
ELSEWHERE = {
    "slow_length": "length.slow", "quick_length": "length.quick", "visit_length": "length.visit",
    "drift": "mean.drift", "drift_by_birth": "mean.drift_by_birth", "alien_share": "unlike.alien",
}  # fmt: skip
"""Where in ``progress.toml`` the numbers stand that are no spread."""


@cache
def progress_number(name: str, unit: str = "1") -> float:
    """Return a number of ``models/unknowns/progress.toml``.

    Parameters
    ----------
    name : str
        Such as ``layout.reach``.
    unit : str
        That it is given in there.
    """
    return float(number_in(MODEL, name, unit))


@cache
def fitted_noise() -> Noise:
    """Return the noise of ``models/unknowns/progress.toml``."""
    rows, names = tables(content(MODEL), "restless"), Restless._fields
    levels = tuple(Restless(*(value_of(row, name) for name in names)) for row in rows)
    found = {name: progress_number(ELSEWHERE.get(name, f"spread.{name}")) for name in NUMBERS}
    return Noise(restless=levels, **found)


class Stretch(NamedTuple):
    """Work that was seen to take a time.

    Attributes
    ----------
    cells : ndarray of float
        Share of each cell of work that was done in it.
    seconds : float
        [s]
    error : float
        Standard deviation of the logarithm of its time that reading it leaves, beside that of its ends.
    first, last : tuple of float
        Of the readings at its ends, of the clock and of the counters, as shares of the stretch.
    follows : int or None
        Number of the stretch whose end is its begin: one reading, that makes one longer and the other
        shorter.
    """

    cells: F64
    seconds: float
    error: float
    first: tuple[float, float] = (0.0, 0.0)
    last: tuple[float, float] = (0.0, 0.0)
    follows: int | None = None


def reading_errors(stretches: Sequence[Stretch]) -> F64:
    """Return what reading the clock and the counters leaves open of the times of stretches.

    Returns
    -------
    ndarray of float, shape (stretches, stretches)
        Covariance of the logarithms of their times.  A reading that ends one stretch and begins the next
        makes one longer and the other shorter: beside the diagonal stands minus the product of its errors.
    """
    found = np.diag([
        each.error**2 + math.fsum(end**2 for end in (*each.first, *each.last)) for each in stretches
    ])  # fmt: skip
    for place, each in enumerate(stretches):
        if each.follows is not None:
            before = stretches[each.follows]
            shared = math.fsum(end * begin for end, begin in zip(before.last, each.first, strict=True))
            found[place, each.follows] = found[each.follows, place] = -shared
    return found


class WorkPosterior(NamedTuple):
    """What stretches say of work that is still to be done, for each prior.

    Attributes
    ----------
    logs : ndarray of float, shape (priors, amounts)
        Mean of the logarithm of the time of each amount of work asked for [ln s].
    spreads : ndarray of float, shape (priors, amounts)
        Its standard deviation.
    likelihood : ndarray of float, shape (priors,)
        Logarithm, up to a constant that all worlds share.
    drives, drive_spreads : ndarray of float, shape (priors,)
        Mean and standard deviation of the part of the logarithm that the drives give to all work.
    shared : ndarray of float, shape (priors, amounts)
        Covariance of that part and of the logarithm of each amount's time.
    """

    logs: F64
    spreads: F64
    likelihood: F64
    drives: F64
    drive_spreads: F64
    shared: F64


@cache
def _correlation(length: float) -> F64:
    """Return the covariance of cell means of an Ornstein-Uhlenbeck process of variance 1 over the work."""
    width = np.diff(EDGES) / length
    middle = (EDGES[:-1] + EDGES[1:]) / 2.0 / length
    gap = np.abs(middle[:, None] - middle[None, :]) - (width[:, None] + width[None, :]) / 2.0
    part = (1.0 - np.exp(-width)) / width
    found: F64 = np.exp(-np.maximum(gap, 0.0)) * part[:, None] * part[None, :]
    np.fill_diagonal(found, 2.0 * (width - 1.0 + np.exp(-width)) / width**2)
    return found


def covariance(noise: Noise, level: Restless, loose: float = 0.0, tilt: float = 0.0) -> F64:
    """Return the covariance of the logarithm of the pace of all cells, for a restlessness.

    Parameters
    ----------
    noise : Noise
    level : Restless
    loose : float
        What not knowing the drives adds, to both phases alike.
    tilt : float
        What is known to be added to the tilt, as drives that slow down on the way have it.

    Returns
    -------
    ndarray of float, shape (cells, cells)
        ``(whole * noise.whole)**2 + loose**2`` for all; in the issue ``factor**2 * (slow**2 * C(slow_length)
        + quick**2 * C(quick_length)) + (noise.tilt**2 + tilt**2) * s * s'`` with C the covariance of the cell
        means of an Ornstein-Uhlenbeck process and s the share of the work from its middle on; the metadata
        phase and the tail have their own.
    """
    found = np.full((CELLS, CELLS), loose**2)
    factor, whole = level.factor, (level.whole * noise.whole) ** 2
    visit, issue = slice(0, VISIT_CELLS), slice(VISIT_CELLS, CELLS - 1)
    # How long metadata take says nothing of how the data lie: the two have but the drives in common.
    found[visit, visit] += whole
    found[issue, issue] += whole
    # Half of what the metadata phase has of its own is common to all of it, half to neighbours.
    place = np.arange(VISIT_CELLS)
    near = np.exp(-np.abs(place[:, None] - place[None, :]) / VISIT_LENGTH)
    found[visit, visit] += noise.visit**2 * (0.5 + 0.5 * near) + (factor * noise.slow) ** 2
    found[issue, issue] += factor**2 * (
        noise.slow**2 * _correlation(noise.slow_length) + noise.quick**2 * _correlation(noise.quick_length)
    )
    away = (EDGES[:-1] + EDGES[1:]) / 2.0 - 0.5
    found[issue, issue] += (noise.tilt**2 + tilt**2) * np.outer(away, away)
    found[-1, :] = found[:, -1] = 0.0
    found[-1, -1] = noise.tail**2
    return found


def posterior(
    seconds: F64,
    stretches: Sequence[Stretch],
    wanted: Sequence[F64],
    priors: F64,
    drives: F64 | float = 0.0,
) -> WorkPosterior:
    """Return what is to be expected of amounts of work, given the time that others took.

    Parameters
    ----------
    seconds : ndarray of float, shape (cells,)
        Of each cell, in the world [s].
    stretches : sequence of Stretch
    wanted : sequence of ndarray of float, shape (cells,)
        Shares of each cell.
    priors : ndarray of float, shape (priors, cells, cells)
        Covariances of the logarithm of the pace.
    drives : ndarray of float, shape (priors,), or float
        The part of these variances that the drives give to all cells but the tail.

    Returns
    -------
    WorkPosterior
        Without stretches the prior, of likelihood 0.

    Notes
    -----
    Gaussian conditioning (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, A.6), the
    sum of lognormal cells linearised about its posterior mean until that stands still (Gauss and Newton), the
    evidence by Laplace's method.
    """
    seen = _conditioned(seconds, stretches, priors) if stretches else None
    pace = np.zeros((len(priors), len(seconds))) if seen is None else seen.pace
    amounts = np.array(wanted) * seconds * np.exp(np.clip(pace, -MOST, MOST))[:, None, :]
    whole = np.maximum(amounts.sum(axis=2), 1e-9)
    slope = amounts / whole[:, :, None]
    variance = ((slope @ priors) * slope).sum(axis=2)
    own = np.broadcast_to(np.asarray(drives, dtype=np.float64), len(priors))
    mean, left, shared = np.zeros(len(priors)), own, own[:, None] * slope[:, :, :-1].sum(axis=2)
    likelihood = np.zeros(len(priors))
    if seen is not None:
        across = slope @ seen.onto.swapaxes(1, 2)
        variance -= (across * np.linalg.solve(seen.spread, across.swapaxes(1, 2)).swapaxes(1, 2)).sum(axis=2)
        given = own[:, None] * seen.slope[:, :, :-1].sum(axis=2)
        weighed = np.linalg.solve(seen.spread, given[:, :, None])[:, :, 0]
        mean, left = (weighed * seen.rest).sum(axis=1), own - (weighed * given).sum(axis=1)
        shared = shared - (across @ weighed[:, :, None])[:, :, 0]
        likelihood = seen.likelihood
    spreads, drive_spreads = (np.sqrt(np.maximum(each, 0.0)) for each in (variance, left))
    return WorkPosterior(np.log(whole), spreads, likelihood, mean, drive_spreads, shared)


class _Conditioned(NamedTuple):
    """The pace of all cells, given stretches, and what it was solved from."""

    pace: F64
    likelihood: F64
    slope: F64
    onto: F64
    spread: F64
    rest: F64


def _conditioned(seconds: F64, stretches: Sequence[Stretch], priors: F64) -> _Conditioned:
    pace = np.zeros((len(priors), len(seconds)))
    work = np.array([stretch.cells for stretch in stretches]) * seconds
    told = np.log([stretch.seconds for stretch in stretches])
    errors = reading_errors(stretches)
    for _ in range(STEPS):
        parts = work * np.exp(np.clip(pace, -MOST, MOST))[:, None, :]
        sums = np.maximum(parts.sum(axis=2), 1e-12)
        slope = parts / sums[:, :, None]
        rest = told - np.log(sums) + (slope @ pace[:, :, None])[:, :, 0]
        onto = slope @ priors
        spread = onto @ slope.swapaxes(1, 2) + errors
        weighed = np.linalg.solve(spread, rest[:, :, None])
        before, pace = pace, (onto.swapaxes(1, 2) @ weighed)[:, :, 0]
        if float(np.abs(pace - before).max()) < CLOSE:
            break
    likelihood = -0.5 * (rest * weighed[:, :, 0]).sum(axis=1) - 0.5 * np.linalg.slogdet(spread)[1]
    return _Conditioned(pace, likelihood, slope, onto, spread, rest)
