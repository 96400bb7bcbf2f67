"""What the bytes of a resilver say about how much a pool holds."""

from __future__ import annotations

from zsim.observe.evidence.scans import PoolThen, is_heal
from zsim.observe.pool_import.finding import Evidence
from zsim.observe.texts import plain
from zsim.observe.zpool.scan import Scan
from zsim.scenario.layout import Layout
from zsim.vdevs.kind import kind_of


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
    if last is None or not last.repaired or (evidence.named_size is None and last.repaired < 1 << 36):
        return None, ""
    spread = sum(kind_of(vdev.kind).spanned_children(vdev) for vdev in layout.vdevs)
    date = f" on {plain(last.date)}" if last.date else ""
    return last.repaired * spread, f"as much on every drive as the resilver{date} put on one"
