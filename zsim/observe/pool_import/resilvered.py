"""What the bytes of a resilver say about how much a pool holds."""

from __future__ import annotations

from zsim.base.units import format_bytes, format_fraction
from zsim.observe.evidence.scans import PoolThen, is_heal
from zsim.observe.pool_import.finding import Evidence
from zsim.observe.texts import plain
from zsim.observe.zpool.scan import Scan
from zsim.scenario.layout import Layout

LEAST_SHARE = 0.02
"""Share done below which what is resilvered tells nothing of the whole: it is printed with two digits."""


def resilvered_alloc(evidence: Evidence, layout: Layout) -> tuple[int | None, str]:
    """Return what is allocated if all drives hold as much as one got in the last resilver [bytes].

    Returns
    -------
    tuple of (int or None, str)
        The bytes, and the words for where they are from.
    """
    last: Scan | None = None
    for status in evidence.statuses:
        for scan in status.scans:
            whole = scan.state == "finished" and scan.function != "scrub" and scan.repaired
            healed = is_heal(scan.repaired, PoolThen(None, None, evidence.named_size))
            last = scan if whole and not healed else last
    if last is None:
        return _by_share(evidence, layout)
    if not last.repaired or (evidence.named_size is None and last.repaired < 1 << 36):
        return None, ""
    spread = layout.spread
    date = f" on {plain(last.date)}" if last.date else ""
    return last.repaired * spread, f"as much on every drive as the resilver{date} put on one"


def _by_share(evidence: Evidence, layout: Layout) -> tuple[int | None, str]:
    """Return what is allocated if a resilver that runs goes on as its share says, and where that is from.

    Before pool version 28 a status has no total: a share, and bytes by drive.
    """
    for status in reversed(evidence.statuses):
        for scan in status.scans:
            if scan.function == "resilver" and scan.repaired and (scan.done or 0.0) >= LEAST_SHARE:
                done = float(scan.done or 1.0)
                words = f"{format_bytes(scan.repaired)} on a drive at {format_fraction(done)} of the resilver"
                return round(scan.repaired / done * layout.spread), words
    return None, ""
