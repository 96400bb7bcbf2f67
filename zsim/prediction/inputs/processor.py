"""Processor time of the threads of a scan: one walks block pointers, one a top-level vdev issues blocks."""

from __future__ import annotations

from dataclasses import replace

from zsim.base.constants import constant
from zsim.case.case import Case
from zsim.case.resolve import is_sata_flash
from zsim.engine.model import ScanRules
from zsim.operation.rules import scan_rules
from zsim.scenario.releases.profile import Operation, ReleaseProfile

ISSUE_S, CONTENDED_S = constant("processor.issue_s"), constant("processor.contended_s")
POINTER_S, POINTER_BY_EXACT_SCORE_S = (
    constant("processor.pointer_s"),
    constant("processor.pointer_by_exact_score_s"),
)


def shares_host(case: Case) -> bool:
    """Tell whether the drives are SATA solid-state drives of which nobody says what they plug into."""
    return case.host is not None and is_sata_flash(case.drive)


def issue_seconds(release: ReleaseProfile, vdevs: int) -> float:
    """Return the processor time of a thread for each block that it issues [s].

    Parameters
    ----------
    release : ReleaseProfile
    vdevs : int
        Top-level vdevs of the pool, each of which has a thread in a sorted scan.

    Notes
    -----
    Before 2.1.6 the threads of a sorted scan wait for one lock (OpenZFS commit dd8671459f).  What a block of
    several children takes more is not known, and left out.
    """
    contends = release.order == "sorted" and release.has_one_scan_lock
    return max(ISSUE_S, vdevs * CONTENDED_S) if contends else ISSUE_S


def pointer_seconds(release: ReleaseProfile) -> float:
    """Return the processor time of the traversal for each block pointer [s].

    Notes
    -----
    OpenZFS dsl_scan.c:dsl_scan_visitbp, scan_io_queue_insert_impl; extents compared by their exact score take
    longer to sort (ext_size_compare, to 2.1.5).
    """
    return POINTER_BY_EXACT_SCORE_S if release.extent_score == "exact" else POINTER_S


def timed_rules(case: Case, operation: Operation) -> ScanRules:
    """Return the rules of a scan on a host whose threads take their time.

    The host's factor in a world is that of its processor, where drives do not share a link of unknown rate.
    """
    faster = 1.0 if shares_host(case) else case.member.factors.host
    issue_s = issue_seconds(case.release, len(case.layout.vdevs)) / faster
    pointer_s = pointer_seconds(case.release) / faster
    return replace(scan_rules(case.release, operation), issue_s=issue_s, pointer_s=pointer_s)
