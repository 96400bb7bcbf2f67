"""What the counters of a sorted scan tell of the memory that its host has for the queues."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from zsim.base.constants import constant
from zsim.prediction.progress.course import Course
from zsim.prediction.progress.moments import (
    CHECKPOINT,
    IN_ROUNDS,
    KEEPS_UP,
    SKIPPED_ERROR,
    WHOLE,
    clock_of,
    counts_skipped,
)
from zsim.scenario.evidence import RunningScan

UNLIKE_RECORDS = constant("progress.unlike_records")
"""How far the mean block of a pool is from that of its world: standard deviation of the logarithm."""
MISCOUNTED = constant("progress.miscounted")
"""How likely counters are that a world rules out."""


def log_of_memory(course: Course, scans: Sequence[RunningScan]) -> float:
    """Return the logarithm of how likely the counters of a sorted scan are with the memory of a world.

    Parameters
    ----------
    course : Course
    scans : sequence of RunningScan
        Of one scan, in order of time.

    Notes
    -----
    OpenZFS dsl_scan.c:dsl_scan_should_clear, 0.8 to 2.4.  What is scanned and not yet issued is in memory: a
    world has room for it.  A scan that issues before all is scanned, and before its first checkpoint, has no
    room for the rest; it fills its memory and issues by turns, so that at any moment all amounts from nothing
    to the limit are as likely.
    """
    if not math.isfinite(course.at_once):
        return 0.0
    queued = [share for scan in scans if (share := queued_share(scan, course)) is not None]
    if not queued:
        return 0.0
    room, log = math.log(max(course.at_once, 1e-9)), 0.0
    if (most := max(queued)) > 0.0:
        log += _likely((room - math.log(most)) / UNLIKE_RECORDS)
    if any(issues_by_turns(scan, course) for scan in scans):
        log += _likely(-room / UNLIKE_RECORDS) - min(0.0, room)
    return log


def queued_bytes(scan: RunningScan) -> float | None:
    """Return how much is scanned and not yet issued [bytes]; None where the counters do not tell."""
    if scan.format in ("legacy", "rebuild") or scan.scanned is None or scan.issued is None:
        return None
    return max(0.0, float(scan.scanned) - scan.issued)


def queued_share(scan: RunningScan, course: Course) -> float | None:
    """Return which share of all that is to be issued is scanned and not issued, at least.

    Returns
    -------
    float or None
        None where the counters do not tell.  Up to 2.1 what is skipped is issued when it is visited.
    """
    queued = queued_bytes(scan)
    if queued is None or not scan.total:
        return None
    needed = course.needed if scan.kind in ("resilver", "heal") else 1.0
    if counts_skipped(scan, needed):
        return min(1.0, queued / (scan.total * needed))
    # How much of it a world skips, it does not know exactly.
    issued = (scan.issued or 0) / (scan.total * needed) * (1.0 + (SKIPPED_ERROR if needed < 1.0 else 0.0))
    return max(0.0, min(1.0, (scan.scanned or 0) / scan.total) - issued)


def issues_by_turns(scan: RunningScan, course: Course) -> bool:
    """Tell whether much is issued before all is scanned, and not because of a checkpoint."""
    queued, (gone, clock) = queued_share(scan, course), clock_of(scan)
    if queued is None or not scan.total or (scanned := (scan.scanned or 0) / scan.total) >= WHOLE:
        return False
    checkpoint = course.visit_s > CHECKPOINT and (gone is None or clock != "scan" or gone > CHECKPOINT)
    return not checkpoint and scanned - queued > max(IN_ROUNDS, KEEPS_UP * scanned)


def _likely(score: float) -> float:
    """Return the logarithm of a cumulated normal distribution, of which nothing is ruled out."""
    return math.log(MISCOUNTED + (1.0 - MISCOUNTED) * NormalDist().cdf(score))
