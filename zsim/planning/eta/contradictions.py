"""What was seen of a scan and cannot be: faster than the medium of the drives moves data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from zsim.base.units import format_duration, format_fraction
from zsim.case.case import Case
from zsim.prediction.progress.course import Course
from zsim.prediction.progress.least import least_done_s
from zsim.prediction.progress.moments import State
from zsim.scenario.evidence import FinishedScan, RunningScan

FASTER = 0.8
"""Below such a share of the least time a time is no error of the data of a drive, or of rounding."""
WHOLE = ("resilver", "rebuild", "scrub")
BOUNDED = (
    "check the drives, how full the pool is, and whether it is of this pool; what is left is not taken to be"
    " faster than these drives"
)
UNNAMED = "name the drives if they are faster ones (--drive), else check how full the pool is"


def contradictions(
    case: Case, courses: Sequence[Course], state: State | None, scan: RunningScan
) -> tuple[str, ...]:
    """Return what of the evidence no drive of any simulated pool could have done.

    Parameters
    ----------
    case : Case
    courses : sequence of Course
    state : State or None
        The latest.
    scan : RunningScan
        Its status.
    """
    told = BOUNDED if all(course.named for course in courses) else UNNAMED
    return tuple(
        f"CONTRADICTS: {what} in {format_duration(took)} is faster than the drives move data (at least"
        f" {format_duration(least)}): {told}"
        for what, took, least in (*_running(courses, state, scan), *_finished(case, courses))
        if took < FASTER * least
    )


def _running(
    courses: Sequence[Course], state: State | None, scan: RunningScan
) -> Iterator[tuple[str, float, float]]:
    """Yield what is done of the scan that runs, how long that took, and the least that it takes [s]."""
    if state is None or state.seconds is None or state.clock != "scan" or state.phase == "metadata scan":
        return
    least = min(least_done_s(course, state, scan) for course in courses)
    yield f"{format_fraction(round(state.counted, 3))} of the {scan.kind}", state.seconds, least


def _finished(case: Case, courses: Sequence[Course]) -> Iterator[tuple[str, float, float]]:
    """Yield the same of whole scans of the pool that are over."""
    for each in case.scenario.evidence or ():
        if not isinstance(each, FinishedScan) or each.kind not in WHOLE:
            continue
        share = 1.0 if each.alloc is None else min(1.0, each.alloc / case.alloc)
        least = min(course.transfer * course.issue_s * _written(each, course) for course in courses)
        yield f"the whole {each.kind} that is over", each.duration, least * share


def _written(scan: FinishedScan, course: Course) -> float:
    """Return what a finished resilver wrote, over what a drive of a world holds; at most 1."""
    if scan.kind == "scrub" or scan.processed is None:
        return 1.0
    return min(1.0, scan.processed / max(1.0, course.repaired))
