"""Resilvers of vdevs without data: of a log nothing is copied, of a dedup vdev its tables."""

from __future__ import annotations

import math
from dataclasses import replace

from zsim.base.constants import constant
from zsim.prediction.progress.course import KNOWN_SHARE, Course, OpenShare, straight
from zsim.prediction.progress.moments import HEALED
from zsim.prediction.progress.noise import progress_number
from zsim.scenario.evidence import RunningScan

TABLES_SHARE, TABLES_SPREAD = constant("progress.tables_share"), constant("progress.tables_spread")
TABLES_RATE = constant("progress.tables_rate")


def metadata_only(course: Course, *, counted: bool) -> Course:
    """Return the course of a scan that visits what a sorted one does and issues nothing.

    Parameters
    ----------
    course : Course
        Of a sorted scan in the same world.
    counted : bool
        Whether its one counter is what it has passed over, as in the legacy order: then that is its work.

    Returns
    -------
    Course
        How much metadata there is nobody tells: its own pace counts (``discrepancy.metadata``).

    Notes
    -----
    Blocks of the intent log are in no tree that a scan traverses, but for those of a log that is still to be
    replayed (OpenZFS dsl_scan.c:dsl_scan_zil_block); of all others none touches the vdev, and none is
    issued (dsl_scan.c:dsl_scan_need_resilver).
    """
    discrepancy = math.hypot(course.discrepancy, progress_number("discrepancy.metadata"))
    bare = replace(
        course, needed=1.0, repaired=0.0, window=0.0, births=0.0, open_share=KNOWN_SHARE, shape=straight(),
        transfer=0.0, discrepancy=discrepancy,
    )  # fmt: skip
    if counted:
        return replace(bare, visit_s=0.0, issue_s=max(course.visit_s, 1e-9), drifts=0.0)
    return replace(bare, issue_s=1e-9)


def tables_only(course: Course, alloc: float) -> Course:
    """Return the course of a resilver of a dedup vdev: the metadata phase of the pool, and its tables.

    Parameters
    ----------
    course : Course
    alloc : float
        Of the pool [bytes].

    Notes
    -----
    How much tables hold nobody prints but the counters, from 2.2 on once all metadata is scanned.
    """
    share = TABLES_SHARE
    return replace(
        course, needed=share, repaired=share * alloc, issue_s=share * alloc / TABLES_RATE,
        tail_s=min(course.tail_s, 1.0), window=0.0, drifts=0.0, births=0.0, shape=straight(),
        transfer=0.0, open_share=OpenShare(TABLES_SPREAD, 1.0),
        discrepancy=math.hypot(course.discrepancy, HEALED),
    )  # fmt: skip


def of_metadata(scan: RunningScan) -> RunningScan:
    """Return the state of such a scan: what it has skipped is not issued, though 0.8 to 2.1 count it so."""
    if scan.format == "legacy":
        return scan
    return scan.model_copy(update={"issued": 0, "total_issue": None, "issue_rate": None, "processed": 0})
