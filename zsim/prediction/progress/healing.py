"""A resilver after an outage, which repairs only what was missed: how much that is, is not printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from zsim.base.constants import constant, whole_constant
from zsim.prediction.progress.course import Course, straight
from zsim.prediction.progress.moments import HEALED, WHOLE
from zsim.scenario.evidence import RunningScan

NODES = whole_constant("progress.open_nodes")
LEAST_VISITED = constant("progress.least_likely")
"""Share visited below which its logarithm says nothing."""
LEAST_HEALED = constant("progress.least_healed")
"""Share of what lies on a drive that the shortest of reported outages has left to repair."""
Case = tuple[Course, tuple[RunningScan, ...]]


def is_open(scan: RunningScan) -> bool:
    """Tell whether a scan may be over at any share done: of one that has visited all it is known."""
    whole = scan.format != "legacy" and (scan.scanned or 0) >= WHOLE * (scan.total or math.inf)
    told = bool(scan.total) if scan.scanned is not None else scan.done is not None
    return scan.kind == "heal" and told and not whole


def visited_share(scan: RunningScan) -> float:
    """Return what a scan has visited, as a share of all that is allocated."""
    if scan.scanned is not None and scan.total:
        return min(1.0, scan.scanned / scan.total)
    return min(1.0, scan.done or 0.0)


def ends(course: Course, scans: Sequence[RunningScan]) -> list[Case]:
    """Return a world and the statuses for each share of ALLOC at which the scan may end, all as likely.

    Parameters
    ----------
    course : Course
    scans : sequence of RunningScan
        In order of time.

    Notes
    -----
    What is older than the outage is pruned with all below it, and counted nowhere (OpenZFS
    dsl_scan.c:dsl_scan_visitbp), so that the scan ends at the share of ALLOC that was written since: between
    what is visited already and all of it, and nobody prints where.  Its logarithm is taken as uniform between
    the two, as of a quantity of unknown size (Jeffreys, Theory of Probability, 1961, 3.1).  Before anything
    is visited the least is what the shortest of reported outages left to repair.
    """
    if not scans or not is_open(scans[-1]):
        return [(course, tuple(scans))]
    seen = max(visited_share(scans[-1]) or LEAST_HEALED, LEAST_VISITED)
    places = [1.0 - (place + 0.5) / NODES for place in range(NODES)]
    return [
        (_shorter(course, seen**place), tuple(_ended(scan, course, seen**place) for scan in scans))
        for place in places
    ]


def _shorter(course: Course, share: float) -> Course:
    """Return the world of a scan that visits only a share of what is allocated, at a pace of its own."""
    return replace(
        course,
        shape=straight(),
        discrepancy=math.hypot(course.discrepancy, HEALED),
        visit_s=course.visit_s * share,
        issue_s=course.issue_s * share,
        repaired=course.repaired * share,
    )


def _ended(scan: RunningScan, course: Course, share: float) -> RunningScan:
    """Return a status with the totals that it would have if the scan ended at a share of ALLOC."""
    whole = round(share * (scan.total or 0))
    if scan.format not in ("0.8-2.1", "2.2+") or not scan.scanned or scan.issued is None:
        done = None if scan.done is None else min(1.0, scan.done / share)
        return scan.model_copy(update={"total": whole or None, "done": done})
    issued, due = _repairs(scan, course)
    total_issue = max(round(due / scan.scanned * whole), issued, 1)
    return scan.model_copy(
        update={"format": "2.2+", "total": whole, "issued": issued, "total_issue": total_issue}
    )


def _repairs(scan: RunningScan, course: Course) -> tuple[int, int]:
    """Return what is issued to be repaired, and what has to be of all that is scanned [bytes].

    From 2.2 on what is skipped is taken off the total when it is visited; before, it is counted as issued.
    """
    scanned, issued, total = scan.scanned or 0, scan.issued or 0, scan.total or 0
    if scan.format == "2.2+":
        skipped = max(0, total - round(scan.total_issue or total))
        return round(issued), round(max(issued, scanned - skipped))
    by_drive = course.needed * total / max(course.repaired, 1.0)
    repaired = min(issued, (scan.processed or 0) * by_drive)
    return round(repaired), round(max(0.0, scanned - issued) + repaired)
