"""What the case alone says about a course, without a run: drift, uncertainty, an even course."""

from __future__ import annotations

import math

import numpy as np

from zsim.base.constants import constant
from zsim.case.case import Case
from zsim.drives.derived import seconds_to_write
from zsim.prediction.inputs.scan_memory import sorted_at_once, sorts
from zsim.prediction.progress.course import Course, Shape, straight
from zsim.prediction.progress.noise import progress_number
from zsim.scenario.evidence import MOVES
from zsim.scenario.releases.profile import COPIES

EVEN_PACES = (
    constant("progress.even_fastest"), constant("progress.even_fast"), constant("progress.even_middle"),
    constant("progress.even_slow"), constant("progress.even_slowest"),
)  # fmt: skip
EVEN_VISIT = constant("progress.even_visit")
"""How many times as long as moving the data alone a scan takes, evenly spread; and its metadata phase."""


def even_courses(case: Case) -> tuple[Course, ...]:
    """Return courses at rates a drive may have, for a pool of which no population can be made.

    Returns
    -------
    tuple of Course, one of each of `EVEN_PACES`
        See `even_course`.
    """
    return tuple(
        even_course(
            case,
            slower,
            straight(),
            unlike=progress_number("unlike.unnamed"),
            loose=progress_number("loose.unnamed"),
            discrepancy_=progress_number("discrepancy.small"),
        )
        for slower in EVEN_PACES
    )


def even_course(
    case: Case,
    slower: float,
    shape: Shape,
    *,
    unlike: float,
    loose: float,
    discrepancy_: float = 0.0,
    visit: float = EVEN_VISIT,
) -> Course:
    """Return a course of which the work goes evenly, but for its shape.

    Parameters
    ----------
    case : Case
    slower : float
        How many times as long as moving what is allocated a drive at its mean rate it takes.
    shape : Shape
    unlike, loose, discrepancy_ : float
        As the course has them.
    visit : float
        Metadata phase of a sorted scan over that; other scans have none.
    """
    numbers = case.drive.parameters()
    rate = numbers.flash_read_rate if numbers.kind == "flash" else float(np.mean(numbers.zone_rates))
    each = case.alloc / case.layout.spread
    return Course(
        visit_s=visit * each / rate * slower if sorts(case) else 0.0,
        issue_s=each / rate * slower,
        tail_s=0.5,
        shape=shape,
        repaired=each,
        needed=1.0 if case.operation == "scrub" else case.first_vdev_share,
        unlike=unlike,
        loose=loose,
        discrepancy=discrepancy_,
        vdevs=len(case.layout.data),
        first=case.first_vdev_share,
        transfer=0.0 if is_small(case) else seconds_to_write(numbers, each) * rate / (each * slower),
    )


def drifts(case: Case) -> float:
    """Return how much of the drift of a scan by address a world has.

    Returns
    -------
    float
        From 0 to 1: the fill over that from which on freed holes are filled again (``layout.refilled``); 0
        where the scan does not go over the drives once.
    """
    return _refilled(case) if one_sweep(case) else 0.0


def _refilled(case: Case) -> float:
    return min(1.0, case.fill / progress_number("layout.refilled"))


def births(case: Case) -> float:
    """Return how much of the drift of a scan by object a world has: its last files are rewritten least.

    Returns
    -------
    float
        From 0 to 1, as `drifts`; 0 of sorted scans and of copies.
    """
    by_object = case.operation not in COPIES and case.release.order != "sorted"
    return _refilled(case) if by_object else 0.0


def knowledge(case: Case) -> str:
    """Return how well the drives are known: ``known``, ``class`` or ``unnamed``, as progress.toml has it.

    A drive of the catalogue is what it says; of a class there are others; and what is smaller than the drives
    of its class ever were is no such drive.  A few GB are a root pool or a test on a part of one.
    """
    stated = case.scenario.drive
    if stated is None or is_small(case):
        return "unnamed"
    return "class" if str(stated).startswith("generic-") else "known"


def is_small(case: Case) -> bool:
    """Tell whether a pool has so little data, or drives so small, that it is hardly one that is simulated."""
    few = case.alloc < progress_number("layout.smallest_data", "B")
    return few or case.drive.capacity_bytes < progress_number("layout.smallest_drive", "B")


def discrepancy(case: Case) -> float:
    """Return by how much answers of worlds are off as a whole.

    Returns
    -------
    float
        Standard deviation of the logarithm, ``discrepancy`` of ``models/unknowns/progress.toml``: of small
        pools, of copies, else by `knowledge` of the drives.
    """
    if is_small(case):
        return progress_number("discrepancy.small")
    moved = case.operation if case.operation in MOVES else None
    return progress_number(f"discrepancy.{moved or knowledge(case)}")


def known_tilt(case: Case) -> float:
    """Return how much faster or slower a scan may get on the way than others: shingled drives, root pools.

    Returns
    -------
    float
        Standard deviation of the logarithm of the pace, from the begin of the work to its end.

    Notes
    -----
    The cache of a shingled replacement drive fills.  A scan in the order of birth and object goes through one
    file system after the other, and a small pool has few of them: volumes for swap, system files, logs.
    """
    shingled = case.operation != "scrub" and case.new_drive.recording == "smr"
    few = births(case) > 0.0 and is_small(case)
    return math.hypot(
        progress_number("spread.tilt_shingled") if shingled else 0.0,
        progress_number("spread.tilt_by_birth") if few else 0.0,
    )


def one_sweep(case: Case) -> bool:
    """Tell whether a sorted scan has memory for all its records, so that it goes over the drives once."""
    return sorts(case) and sorted_at_once(case) >= 1.0
