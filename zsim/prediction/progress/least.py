"""The least time for the rest of a scan: no drive is written faster than its media rate.

A world says how long that is on its drives.  Of the times that the noise of its pace allows only longer ones
are possible; what the drives themselves are faster or slower than in the world moves both alike.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant, whole_constant
from zsim.prediction.progress.course import Course
from zsim.prediction.progress.moments import REPAIRED_ERROR, State, overshoot
from zsim.prediction.progress.noise import WorkPosterior
from zsim.scenario.evidence import RunningScan

F64 = NDArray[np.float64]
COUNTED = constant("progress.counted")
"""Standard deviation of the share done, as the counters are printed."""
SURE = constant("progress.surely_left")
"""So many standard deviations of the share done are not counted on as still to be done."""
NOTICED = constant("progress.least_noticed")
"""Probability of an impossible time below which a component stays as it is."""
STEEPEST = constant("progress.steepest")
"""Score beyond which the upper tail of a normal distribution is no double-precision number."""
FARTHEST = constant("progress.least_moved")
"""Standard deviations by which a distribution that is cut off is moved down at most."""
TINY = float(np.finfo(np.float64).tiny)
NODES = whole_constant("progress.drive_nodes")
SCORES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(NODES)
SHARES: F64 = _WEIGHTS / _WEIGHTS.sum()


class TimeMixture(NamedTuple):
    """Lognormal distributions of a time, each cut off below.

    Attributes
    ----------
    logs, spreads : ndarray of float, shape (components,)
        Mean logarithm and its standard deviation, before the cut [ln s].
    least : ndarray of float, shape (components,)
        Score of the normal distribution of the logarithm at which it is cut off; minus infinity: nowhere.
    """

    logs: F64
    spreads: F64
    least: F64

    def below(self, seconds: F64) -> F64:
        """Return the probability that a time is less, one a component.

        Parameters
        ----------
        seconds : ndarray of float, shape (components,)
            [s]
        """
        spreads = np.maximum(self.spreads, 1e-6)
        scores = np.maximum((np.log(seconds) - self.logs) / spreads, self.least)
        return np.where(np.isneginf(scores), 0.0, 1.0 - above(scores) / above(self.least))

    def only(self, places: NDArray[np.intp]) -> TimeMixture:
        """Return the components at some places."""
        return TimeMixture(self.logs[places], self.spreads[places], self.least[places])


def joined(parts: Sequence[TimeMixture]) -> TimeMixture:
    """Return the components of several in one."""
    logs, spreads, least = zip(*parts, strict=True)
    return TimeMixture(np.concatenate(logs), np.concatenate(spreads), np.concatenate(least))


def above(scores: F64) -> F64:
    """Return the upper tail of the standard normal distribution (importing scipy takes longer than this)."""
    found: F64 = np.array([math.erfc(each) for each in (scores / math.sqrt(2.0)).tolist()])
    return 0.5 * found


def uncut(times: tuple[F64, F64]) -> TimeMixture:
    """Return lognormal distributions that have no least."""
    return TimeMixture(*times, np.full(len(times[0]), -math.inf))


def least_left_s(course: Course, state: State | None, scan: RunningScan | None) -> float:
    """Return the least time that the rest of a scan takes on the drives of a world [s]; 0: not known.

    Parameters
    ----------
    course : Course
    state : State or None
        The latest; None before anything is known.
    scan : RunningScan or None
        Its status.

    Notes
    -----
    What is under way counts as done, and of the counters their error is taken off.  How much of several vdevs
    lies on the one that is repaired is known to `REPAIRED_ERROR`.  Where less has been resilvered of what was
    issued than all that lies there, no more is taken for the rest.
    """
    share = 1.0
    if state is not None and scan is not None:
        share = max(0.0, 1.0 - state.counted - SURE * _count_error(state, scan))
    return course.transfer * course.issue_s * share * _held(course, state, scan)


def least_done_s(course: Course, state: State, scan: RunningScan) -> float:
    """Return the least time that what a scan has done takes on the drives of a world [s]; 0: not known.

    Parameters
    ----------
    course : Course
    state : State
        The latest.
    scan : RunningScan
        Its status.
    """
    share = max(0.0, state.counted - SURE * _count_error(state, scan))
    return course.transfer * course.issue_s * share * _held(course, state, scan)


def _count_error(state: State, scan: RunningScan) -> float:
    """Return the standard deviation of the share that the counters tell."""
    return math.hypot(COUNTED, overshoot(scan), state.counted * state.error)


def _held(course: Course, state: State | None, scan: RunningScan | None) -> float:
    """Return how much is moved for certain of what lies on the vdev that is repaired, as a share of it."""
    even = 1.0 if course.vdevs == 1 else 1.0 - REPAIRED_ERROR
    if state is None or scan is None or scan.kind != "resilver" or not scan.processed:
        return even
    if state.counted > SURE * _count_error(state, scan):
        even = min(even, scan.processed / max(1.0, course.repaired * state.counted))
    return even


class LeastTime(NamedTuple):
    """The least time of what is left, on the drives of a world.

    Attributes
    ----------
    seconds : float
        [s]; 0: not known.
    follows : ndarray of bool, shape (components,)
        Whether faster drives than those of the world move data faster, too.  Else they are such drives, and
        what makes them faster as a whole is not their medium; slower ones have a slower medium.
    """

    seconds: float
    follows: NDArray[np.bool_]


class PossibleTimes(NamedTuple):
    """What is left and the whole, no shorter than possible.

    Attributes
    ----------
    left, total : TimeMixture
    log_weights : ndarray of float
        Logarithms of the weights of the components.
    origin : ndarray of int
        Of which component each was made.
    """

    left: TimeMixture
    total: TimeMixture
    log_weights: F64
    origin: NDArray[np.intp]


def bounded(
    left: tuple[F64, F64],
    total: tuple[F64, F64],
    log_weights: F64,
    found: WorkPosterior,
    before: Callable[[], WorkPosterior],
    least: LeastTime,
) -> PossibleTimes:
    """Return components whose times are no shorter than the drives allow.

    Parameters
    ----------
    left, total : tuple of ndarray of float
        Logarithms of what is left and of the whole, and their standard deviations [ln s].
    log_weights : ndarray of float
        Of the components.
    found : WorkPosterior
        Of both amounts, given what was seen.
    before : callable
        Returns the same before anything was; asked for only where something is cut off.
    least : LeastTime

    Notes
    -----
    The logarithm of the pace is the sum of what the drives give to all work, d, and of all else.  For each of
    some values of d (Gauss and Hermite) the time is a normal variable, cut off at the least that such drives
    take (Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions 1, 1994, 13.10).  A component
    weighs by how much of it is possible, over how much was before, and keeps its median.
    """
    every = np.arange(len(log_weights))
    as_it_is = PossibleTimes(uncut(left), uncut(total), log_weights, every)
    if least.seconds <= 0.0:
        return as_it_is
    rest, whole = _cut(left, found, 0, least), _cut(total, found, 1, least)
    now = above(rest.least).reshape(-1, NODES)
    cut = now @ SHARES < 1.0 - NOTICED
    if not cut.any():
        return as_it_is
    at_first = before()
    times = at_first.logs[:, 0], at_first.spreads[:, 0]
    was = above(_cut(times, at_first, 0, least).least).reshape(-1, NODES)
    possible = now * SHARES / np.maximum(was @ SHARES, TINY)[:, None]
    kept, split = every[~cut], np.flatnonzero(np.repeat(cut, NODES))
    logs = (log_weights[:, None] + np.log(np.maximum(possible, TINY))).ravel()
    return PossibleTimes(
        joined((as_it_is.left.only(kept), _with_its_median(rest.only(split)))),
        joined((as_it_is.total.only(kept), _with_its_median(whole.only(split)))),
        np.concatenate((log_weights[kept], logs[split])),
        np.concatenate((kept, np.repeat(every[cut], NODES))),
    )


def _cut(times: tuple[F64, F64], found: WorkPosterior, amount: int, least: LeastTime) -> TimeMixture:
    """Return the distributions of a time, of each for some values of what the drives give, cut off there."""
    logs, spreads = (each[:, None] for each in times)
    drives = found.drives[:, None] + found.drive_spreads[:, None] * SCORES
    floor = math.log(least.seconds) + np.where(least.follows[:, None], drives, np.maximum(drives, 0.0))
    together = found.shared[:, amount] / np.maximum(found.spreads[:, amount] * found.drive_spreads, 1e-12)
    share = np.clip(together, -1.0, 1.0)[:, None]
    middles = logs + share * spreads * SCORES
    own = np.broadcast_to(np.maximum(spreads * np.sqrt(1.0 - share**2), 1e-6), middles.shape)
    return TimeMixture(middles.ravel(), own.ravel(), np.minimum((floor - middles) / own, STEEPEST).ravel())


def _with_its_median(times: TimeMixture) -> TimeMixture:
    """Return distributions that are cut off at the same times, and have the medians that they had uncut.

    Notes
    -----
    The medians are what answers were found to be right with.  A normal variable that is moved down by t of
    its standard deviations, Q(t) = Q(least + t) / 2 of its upper tail Q, has its old median when cut off.
    """
    down = np.interp(times.least, *_moved_down())
    least = np.minimum(times.least + down, STEEPEST)
    return TimeMixture(times.logs - down * times.spreads, times.spreads, least)


@functools.cache
def _moved_down() -> tuple[F64, F64]:
    """Return scores at which normal variables are cut off, and by how much each is moved down for that."""
    cuts = np.linspace(-6.0, 0.0, 121)
    low, high = np.zeros(len(cuts)), np.full(len(cuts), FARTHEST)
    for _ in range(40):
        middle = (low + high) / 2.0
        short = above(middle) > 0.5 * above(cuts + middle)
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return cuts, low
