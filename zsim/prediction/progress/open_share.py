"""Worlds that differ in how much the vdev under repair holds, where that is unknown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

from zsim.base.constants import constant, whole_constant
from zsim.prediction.progress.course import Course
from zsim.prediction.progress.moments import needed_by
from zsim.scenario.evidence import RunningScan

NODES = whole_constant("progress.open_nodes")
LEAST_LIKELY = constant("progress.least_likely")


def variants(course: Course, scans: Sequence[RunningScan]) -> list[tuple[Course, float]]:
    """Return a course for each share that the vdev may hold, with the logarithms of their weights.

    Parameters
    ----------
    course : Course
    scans : sequence of RunningScan
        In order of time.

    Returns
    -------
    list of (Course, float)
        The course alone where its share is known, the counters tell it, or all vdevs are repaired.

    Notes
    -----
    Shares are lognormal about that of the world, with the spread of its `Course.open_share`, and what a scan
    has issued is the least it has to: the distribution is truncated there (Johnson, Kotz and Balakrishnan,
    Continuous Univariate Distributions 1, 1994, 13.10).  Its quantiles are taken, each as likely, and how
    likely the world is falls with the share of the distribution that is left.
    """
    spread, most = course.open_share
    of_all = course.vdevs > 1 and any(scan.vdevs >= course.vdevs for scan in scans)
    if spread <= 0.0 or of_all or any(needed_by(scan, course) is not None for scan in scans):
        return [(course, 0.0)]
    normal, issued = NormalDist(math.log(course.needed), spread), issued_share(scans)
    below = min(normal.cdf(math.log(issued)), 1.0 - LEAST_LIKELY) if issued > 0.0 else 0.0
    middles = [below + (1.0 - below) * (place + 0.5) / NODES for place in range(NODES)]
    shares = [min(math.exp(normal.inv_cdf(middle)), max(most, issued)) for middle in middles]
    return [(with_share(course, share), math.log((1.0 - below) / NODES)) for share in shares]


def with_share(course: Course, share: float) -> Course:
    """Return a course in which such a share of ALLOC has to be issued."""
    ratio = share / course.needed
    return replace(
        course,
        issue_s=course.issue_s * ratio,
        repaired=course.repaired * ratio,
        needed=share,
        first=min(1.0, course.first * ratio),
        window=course.window / max(ratio, course.window),
    )


def issued_share(scans: Sequence[RunningScan]) -> float:
    """Return what a scan has issued, as a share of ALLOC; 0 where skipped blocks count as issued."""
    last = scans[-1] if scans else None
    if last is None or last.format != "2.2+" or last.issued is None or not last.total:
        return 0.0
    return min(1.0, last.issued / last.total)
