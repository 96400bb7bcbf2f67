"""What the pace of a running scan says about its whole duration, without any world."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import NormalDist

from zsim.case.case import Case
from zsim.prediction.evidence.noise import noise
from zsim.prediction.progress.case_priors import births, drifts, even_course, known_tilt, one_sweep
from zsim.prediction.progress.course import Course, straight, with_zones
from zsim.prediction.progress.moments import facts_of, with_clocks
from zsim.prediction.progress.noise import progress_number
from zsim.prediction.progress.remaining import SHARES, remaining
from zsim.scenario.evidence import RunningScan


@dataclass(frozen=True, slots=True)
class OwnPace:
    """What a scan takes in all, at the pace that it has shown.

    Attributes
    ----------
    total_s : float
        Median [s].
    sigma : float
        Standard deviation of its logarithm.
    """

    total_s: float
    sigma: float


def scans_under_way(observations: Iterable[object]) -> list[list[RunningScan]]:
    """Return the scans of which a moment was seen, each with its statuses in the order they stand in."""
    running = [each for each in observations if isinstance(each, RunningScan)]
    kinds = itertools.groupby(sorted(running, key=_which), key=_which)
    return [list(statuses) for _, statuses in kinds]


def _which(scan: RunningScan) -> tuple[str, datetime]:
    return scan.kind, scan.since.replace(tzinfo=None) if scan.since is not None else datetime.min


def own_pace(case: Case, scans: Sequence[RunningScan]) -> OwnPace | None:
    """Return what a running scan takes in all at its pace; None where it does not tell.

    Parameters
    ----------
    case : Case
        With the operation of the scan.
    scans : sequence of RunningScan
        Statuses of one scan, in order of time.

    Notes
    -----
    The rules by which a running scan ends (`zsim.prediction.progress.remaining`: clocks, counters, what a
    pace does later on) on one course whose work goes evenly but for zones and drift, of a pace that nobody
    knows. A scan that has issued nothing, or of which no clock tells, says nothing of its repair.
    """
    course = _course(case)
    found = remaining((course,), with_clocks(scans), facts_of(case))
    state = found.state
    if state is None or state.seconds is None or state.phase != "repair" or state.issued <= 0.0:
        return None
    low, middle, high = found.total()
    if low <= 0.0:
        return None
    # From p10 to p90 a normal distribution is so wide.
    width = NormalDist().inv_cdf(SHARES[2]) - NormalDist().inv_cdf(SHARES[0])
    return OwnPace(middle, math.log(high / low) / width)


def _course(case: Case) -> Course:
    shape, zones = straight(), case.drive.parameters().zone_rates
    if len(zones) > 1 and (case.operation == "rebuild" or one_sweep(case)):
        reach = min(1.0, progress_number("layout.reach") * case.fill)
        shape = with_zones(shape, zones, noise("running.moving"), reach)
    unknown, visit = noise("running.unknown_pace"), noise("running.visit")
    course = even_course(case, 1.0, shape, unlike=0.0, loose=unknown, visit=visit)
    return replace(course, drifts=drifts(case), births=births(case), tilt=known_tilt(case))
