"""What a running scan's mean pace says about the rest, and how it is combined with a world's answer.

The mean pace since the repair began needs no world.  Bates and Granger, The combination of forecasts,
Operational Research Quarterly 20 (1969), equation 4: forecasts weigh by the inverse of their variances.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant
from zsim.prediction.progress.course import VISIT_CELLS, Course, done_cells
from zsim.prediction.progress.moments import LEAST, StatusHistory

F64 = NDArray[np.float64]
NEARLY_ALL, MOST_UNDER_WAY = constant("progress.nearly_all"), constant("progress.most_under_way")
"""Share of the work from which on a pace tells nothing; and how much of what was issued may be under way."""


class Pace(NamedTuple):
    """What the mean pace so far says.

    Attributes
    ----------
    log : float
        Logarithm of the time that is left at that pace [ln s].
    spread : float
        Standard deviation of it.
    """

    log: float
    spread: float


def pace_of(course: Course, seconds: F64, history: StatusHistory | None, unevenness: float) -> Pace | None:
    """Return what the mean pace since the repair began says; None where it has not, or no clock tells.

    Parameters
    ----------
    course : Course
    seconds : ndarray of float, shape (cells,)
        Of each cell of work in it, which divides the time gone between metadata and repair [s].
    history : History or None
    unevenness : float
        Standard deviation of the logarithm of the mean pace of one whole repair, if its pace were that of
        many independent stretches: of a part it is larger by the root of one over the part.

    Returns
    -------
    Pace or None
        ``log = ln(gone * (1 - done) / done)``; its variance is the sum of ``unevenness**2 / (done * (1 -
        done))``, that of what is under way, of half the tilt, and of reading the clock.
    """
    last = history.last if history is not None else None
    if history is None or last is None or last.seconds is None or last.visited < 1.0:
        return None
    # What is under way is not all that was issued: of the first bytes of a scan the counters tell little.
    said = last.under_way if last.counted > last.issued else 0.0
    under_way = min(said, MOST_UNDER_WAY * last.counted)
    unsure = min(math.hypot(last.unsure, said - under_way), under_way / math.sqrt(3.0))
    done = last.counted - under_way
    gone = last.seconds - history.idle_s
    if last.clock == "scan":
        work = done_cells(last.visited, last.issued) * seconds
        gone *= float(work[VISIT_CELLS:].sum()) / max(float(work.sum()), 1e-12)
    if not LEAST < done < NEARLY_ALL or gone <= 0.0:
        return None
    # What was done and what is left are uneven; what is under way is not known; and a drive that slows down
    # does so, on the mean, over half of the work.
    own = unevenness / math.sqrt(done * (1.0 - done))
    counted = unsure / done
    read = last.clock_s / last.seconds
    return Pace(math.log(gone * (1.0 - done) / done), math.hypot(own, counted, 0.5 * course.tilt, read))


def discrepancy_of(course: Course, slower: float = 1.0) -> float:
    """Return how far a world may be from the pool as a whole: less where other scans of the pool tell.

    Parameters
    ----------
    course : Course
    slower : float
        How many times slower than in the world the scan is so far.  Where a drive that is read has failed or
        delayed I/Os that may be its doing, from never to always: a uniform logarithm.

    Returns
    -------
    float
        Standard deviation of the logarithm, ``(1 / discrepancy**2 + sum(1 / error**2))**-0.5`` over the other
        scans; 0 where worlds are taken to be the pool.
    """
    sick = math.log(max(slower, 1.0)) / math.sqrt(12.0) if course.suspect else 0.0
    if course.discrepancy <= 0.0:
        return sick
    certain = course.discrepancy**-2 + math.fsum(error**-2 for _, error in course.other_scans)
    return math.hypot(1.0 / math.sqrt(certain), sick)


def combined(logs: F64, spreads: F64, pace: Pace, discrepancy: float) -> tuple[F64, F64]:
    """Return logarithms of what is left in a world, and their spreads, combined with what the pace says.

    Parameters
    ----------
    logs, spreads : ndarray of float
        Of the world, given what was seen [ln s].
    pace : Pace
    discrepancy : float
        Standard deviation of the logarithm by which such worlds are off: 0 for those that are the pool, which
        then stay as they are; without bounds the pace alone counts.

    Returns
    -------
    logs, spreads : ndarray of float
        ``w * pace + (1 - w) * world`` of both, with ``w = 1 / (1 + (pace.spread / discrepancy)**2)``.

    Notes
    -----
    Bates and Granger, Operational Research Quarterly 20 (1969), equation 4: forecasts weigh by the inverse of
    their variances.  The variances of the mean decide the weights.  Both answers come from the same counters,
    so that their errors are taken to go together: the spread is the weighted mean of both.
    """
    if discrepancy <= 0.0 or math.isinf(pace.spread):
        return logs, spreads
    weight = 1.0 / (1.0 + (pace.spread / discrepancy) ** 2)
    return logs + weight * (pace.log - logs), spreads + weight * (pace.spread - spreads)


def with_pace(
    left: tuple[F64, F64], total: tuple[F64, F64], pace: Pace, discrepancy: float
) -> tuple[tuple[F64, F64], tuple[F64, F64]]:
    """Return what is left, and what is not known of the whole, combined with a pace: logarithms and spreads.

    What of the whole was gone before anybody looked stays as the world has it.
    """
    logs, spreads = combined(*left, pace, discrepancy)
    before = np.maximum(np.exp(total[0]) - np.exp(left[0]), 0.0)
    return (logs, spreads), (np.log(before + np.exp(logs)), combined(*total, pace, discrepancy)[1])
