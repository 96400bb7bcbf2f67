"""Whether the drives that a pass was to fill have been detached from the pool since it began."""

from __future__ import annotations

from zsim.observe.evidence.scans import AFTER_COMMAND_S, started_of
from zsim.observe.zpool.commands import FILLS, PoolCommand, last_of, short
from zsim.observe.zpool.status import PoolStatus
from zsim.observe.zpool.vdev_tree import GONE, PAIRS, Vdev
from zsim.scenario.evidence import RunningScan

LEAST_COLLECTED = 0.01
"""Share of what is scanned that a sorted scan still has to issue; with less only metadata is left."""


def targets_detached(status: PoolStatus) -> bool:
    """Tell whether commands beside a status detach every drive that its pass was to fill.

    A scan goes on after ``zpool detach`` (OpenZFS spa.c:spa_vdev_detach): what no drive lacks is passed over
    (dsl_scan.c:dsl_scan_need_resilver).
    """
    scan = status.scan
    if scan is None or not scan.active or scan.function != "resilver":
        return False
    since = [each for each in status.commands if not _is_before(each, status)]
    if not any(each.verb == "detach" for each in since):
        return False
    targets = [leaf for vdev in status.vdevs for leaf in _filled(vdev)]
    if targets:
        # They were detached after the status was printed: what stands before it, it shows already.
        later = [each for each in status.commands[status.run_before :] if not _is_before(each, status)]
        return all(last_of(later, each.name) == "detach" for each in targets)
    last = [each for each in since if each.verb in FILLS or each.verb == "detach"][-1]
    # The old drive has its name back when a new one of the same path is detached.
    there = (leaf for vdev in status.vdevs for leaf in vdev.leaves() if leaf.state not in GONE)
    shown = {short(leaf.name) for leaf in there}
    filled = {short(name) for each in status.commands if each.verb in FILLS for name in each.drives}
    return last.verb == "detach" and not {*map(short, last.drives), *filled} & shown


def issues_collected(scan: RunningScan) -> bool:
    """Tell whether a scan whose drives are detached still has to issue what it had collected before."""
    if scan.format == "legacy" or scan.issued is None:
        return False
    return _collected(scan) >= LEAST_COLLECTED * (scan.scanned or 0)


def without_targets(scan: RunningScan) -> RunningScan:
    """Return a scan as it is after its drives were detached: over once what it has collected is issued.

    What is in its queues is read all the same; what is visited from then on is not put there
    (dsl_scan.c:dsl_scan_enqueue, dsl_scan_need_resilver).
    """
    if not issues_collected(scan):
        return scan.model_copy(update={"kind": "heal"})
    issued = round(scan.issued or 0)
    return scan.model_copy(update={
        "kind": "heal", "format": "2.2+", "total": round(scan.scanned or 0), "processed": None, "done": None,
        "total_issue": max(1, issued + round(_collected(scan))),
    })  # fmt: skip


def _collected(scan: RunningScan) -> float:
    """Return what is scanned, not passed over and not issued [bytes]; what is passed over 2.2 takes off."""
    over = 0.0
    if scan.format == "2.2+" and scan.total and scan.total_issue:
        over = scan.total - scan.total_issue
    return max(0.0, (scan.scanned or 0.0) - over - (scan.issued or 0.0))


def nothing_marked(status: PoolStatus) -> bool:
    """Tell whether a resilver has written, and nothing shows to which of the drives, all of which are sound.

    A drive is marked once it was written to since the import (zpool_main.c:print_status_config).
    """
    scan = status.scan
    wrote = scan is not None and scan.active and scan.function == "resilver" and bool(scan.repaired)
    leaves = [leaf for vdev in status.vdevs for leaf in vdev.leaves()]
    others = [leaf for vdevs in status.sections.values() for vdev in vdevs for leaf in vdev.leaves()]
    sound = bool(leaves) and all(leaf.state == "ONLINE" and not leaf.note for leaf in leaves)
    marked = any(leaf.resilvering for leaf in others)
    paired = any(child.kind in PAIRS for vdev in status.vdevs for child in (vdev, *vdev.children))
    return wrote and sound and status.complete and not status.elided and not marked and not paired


def _is_before(command: PoolCommand, status: PoolStatus) -> bool:
    """Tell whether a history dates a command before the pass."""
    begun = started_of(status.scan) if status.scan is not None else None
    if begun is None or command.at is None:
        return False
    return (begun - command.at).total_seconds() > AFTER_COMMAND_S


def _filled(vdev: Vdev) -> list[Vdev]:
    """Return the drives of a vdev that are marked, else those that stand beside the one they replace."""
    marked = [leaf for leaf in vdev.leaves() if leaf.resilvering]
    pairs = [child for child in (vdev, *vdev.children) if child.kind in PAIRS and child.children]
    return marked or [pair.children[-1] for pair in pairs if not pair.children[-1].waits]
