"""What many tests of predictions begin with: a pool of disks, a course, and a scan that runs."""

from __future__ import annotations

from typing import Any

from zsim.case.case import Case
from zsim.prediction.api import case_of
from zsim.prediction.progress.course import Course, straight
from zsim.scenario.evidence import RunningScan
from zsim.scenario.model import Scenario

T = 1 << 40
DISKS = {"layout": "raidz2x6", "drive": "generic-7200rpm-cmr", "drive_size": "4TB", "fill": 0.5}


def disks(**fields: Any) -> Case:
    """Return the case of a raidz2 of six disks of 4 TB, half full, or what is stated instead."""
    return case_of(Scenario.from_dict(DISKS | fields))


def course(visit_s: float = 1000.0, issue_s: float = 9000.0, **more: Any) -> Course:
    """Return a course whose work goes evenly; two TiB are repaired."""
    return Course(visit_s, issue_s, 10.0, straight(), **({"repaired": 2.0 * T} | more))


def scan(**fields: Any) -> RunningScan:
    """Return the state of a resilver of ten TiB, as 2.2 prints it."""
    known: dict[str, Any] = {"kind": "resilver", "format": "2.2+", "total": 10 * T, "total_issue": 10 * T}
    return RunningScan(**(known | fields))
