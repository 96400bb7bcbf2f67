"""From the scan lines of ``zpool status`` to the evidence of a scenario."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from zsim.observe.texts import plain
from zsim.observe.zpool.commands import FILLS, RETURNS, last_of
from zsim.observe.zpool.scan import Scan
from zsim.observe.zpool.status import PoolStatus
from zsim.observe.zpool.vdev_tree import Vdev
from zsim.scenario.evidence import FinishedScan, RunningScan, ScanKind, StatusFormat
from zsim.scenario.layout import Layout
from zsim.scenario.releases.profile import COPIES
from zsim.vdevs.kind import kind_of

FORMATS: dict[str, StatusFormat] = {
    "legacy": "legacy", "solaris": "2.2+", "0.8": "0.8-2.1", "2.0": "0.8-2.1", "0.8+": "0.8-2.1",
    "2.2": "2.2+", "json": "2.2+",
}  # fmt: skip
WHOLE_MINUTES = 60.0
ATTACHED = ("special", "dedup", "logs", "log")
"""Sections of vdevs to which drives are attached."""
HEAL_SHARE = 0.25
"""A resilver that wrote less than this share of what lies on one drive has healed, not filled one: drives
that were filled got 0.5 to 1.06 of it in reported pairs of scans, outages repaired 0.004 to 0.17."""
HEAL_CAPACITY = 0.02
"""The same as a share of a drive's capacity, where ALLOC is not known."""
EARLIEST_SHARE = 0.05
"""Share done below which the bytes written so far tell nothing."""
MOST_ELAPSED_S = 366 * 86400.0
"""No scan that was reported ran as long [s]."""
READ_AT_MOST = 600e6
"""Of one drive of those that are counted by the dozen: SATA 3 (8b/10b) [bytes/s]."""
AFTER_COMMAND_S = 300.0
"""A scan begins within this time before the history shows the command that began it [s]."""
MOSTLY = 0.5
"""The same where it is only known to be done at least: vdevs are not equally full."""


@dataclass(frozen=True, slots=True)
class PoolThen:
    """What is known of the pool when it is asked what a scan was.

    Attributes
    ----------
    layout : Layout or None
    alloc : int or None
        [bytes]
    drive_size : int or None
        [bytes]
    of_class : bool
        Whether drives of vdevs that hold no data are repaired, and none of others.
    repaired : {"returned", "replaced", ""}
        What the rows say of the drives that are resilvered, see `repaired_as`.
    """

    layout: Layout | None = None
    alloc: int | None = None
    drive_size: int | None = None
    of_class: bool = False
    repaired: Literal["returned", "replaced", ""] = ""

    def on_one_drive(self) -> float | None:
        """Return what lies on one drive if all are filled alike [bytes]; None where it is not known."""
        if self.alloc is None or self.layout is None:
            return None
        return self.alloc / self.layout.spread


def is_heal(processed: int | None, pool: PoolThen, done: float = 1.0) -> bool:
    """Tell whether a resilver has only repaired what an outage left.

    Parameters
    ----------
    processed : int or None
        Bytes resilvered.
    pool : PoolThen
    done : float
        Share of the resilver that is done.
    """
    if processed is None or done < EARLIEST_SHARE:
        return False
    full = pool.on_one_drive()
    if full is not None:
        return processed < HEAL_SHARE * done * full
    return pool.drive_size is not None and processed < HEAL_CAPACITY * done * pool.drive_size


def finished(scan: Scan, pool: PoolThen, source: str) -> FinishedScan | None:
    """Return a scan that is over as evidence; None where its duration is not told.

    Parameters
    ----------
    scan : Scan
    pool : PoolThen
    source : str
        Where it was read.
    """
    if scan.state != "finished" or not scan.elapsed:
        return None
    return FinishedScan(
        kind=_kind(scan, pool),
        duration=scan.elapsed,
        resolution=60.0 if scan.form == "legacy" else 1.0,
        end=scan.at,
        alloc=None,
        processed=scan.repaired,
        errors=scan.errors,
        source=plain(source, 300),
    )


def _least_done(scan: Scan, pool: PoolThen) -> float:
    """Return the share of a repair that is done at least; 0 where the counters do not tell.

    From 0.8 to 2.1 blocks of other vdevs count as issued when they are skipped, so that all that is left to
    issue may be of the one vdev that is repaired.
    """
    done = scan.done or 0.0
    if scan.issued is not None and (scan.total_issued or scan.total):
        # A share that somebody has typed does not overrule the counters beside it.
        done = min(done, scan.issued / (scan.total_issued or scan.total or 1))
    vdevs = len(pool.layout.data) if pool.layout is not None else 1
    if vdevs == 1 or FORMATS.get(scan.form) != "0.8-2.1":
        return done
    least = 1.0 - (1.0 - done) * vdevs
    return least if least > MOSTLY else 0.0


def _kind(scan: Scan, pool: PoolThen, done: float = 1.0) -> ScanKind:
    if scan.function != "resilver" or pool.of_class:
        return scan.function
    if pool.repaired == "replaced":
        return "resilver"
    if pool.repaired == "returned" and not _filled(scan, pool, done):
        return "heal"
    return "heal" if is_heal(scan.repaired, pool, done) or _passes_over(scan, pool) else "resilver"


def _passes_over(scan: Scan, pool: PoolThen) -> bool:
    """Tell whether a resilver of 0.8 to 2.1 passes over most of what lies on the vdev that is repaired.

    What needs no repair is counted as issued when it is visited: of what is scanned, all that is not issued
    yet and what was issued for the bytes resilvered is to be repaired.
    """
    layout, scanned, total = pool.layout, scan.scanned or 0, scan.total or 0
    counts = FORMATS.get(scan.form) == "0.8-2.1" and scan.active and scan.issued is not None
    if not counts or layout is None or scan.repaired is None or scanned < EARLIEST_SHARE * max(total, 1):
        return False
    vdev = layout.data[0]
    repaired = min(scan.issued or 0, scan.repaired * kind_of(vdev.kind).spanned_children(vdev))
    due = max(0, scanned - (scan.issued or 0)) + repaired
    return due < HEAL_SHARE * scanned / len(layout.data)


def came_late(scan: Scan, pool: PoolThen) -> bool:
    """Tell whether a new drive has got far less than its share of what the pass has read.

    It was attached while the pass ran, so that what was read before is missing on it.
    """
    return pool.repaired == "replaced" and is_heal(scan.repaired, pool, _least_done(scan, pool))


def _filled(scan: Scan, pool: PoolThen, done: float) -> bool:
    """Tell whether a drive got most of what a new one would have: the old one of its pair was detached."""
    full = pool.on_one_drive()
    return bool(scan.repaired) and full is not None and (scan.repaired or 0) >= MOSTLY * done * full


def resilvered_together(vdevs: Sequence[Vdev]) -> int:
    """Return of how many top-level vdevs drives are resilvered, as their rows say; 1 where none does."""
    return max(1, sum(any(leaf.resilvering for leaf in vdev.leaves()) for vdev in vdevs))


def repaired_as(status: PoolStatus) -> Literal["returned", "replaced", ""]:
    """Return what the rows of a status say of the drives that are resilvered.

    A drive of a RAID-Z or dRAID that stands alone was away: what replaces another, or stands in for it,
    stands beside it in a pair (vdev_raidz_ops has no attach but an expansion).  Where not all vdevs are shown
    the counters tell nothing of one, and a new drive in a pair is taken to be filled.
    """
    marked = [(vdev, child) for vdev in status.vdevs for child in vdev.children if _is_marked(child)]
    if said := _as_ordered([child for _, child in marked], status):
        return said
    if marked and all(vdev.parity and not child.children for vdev, child in marked):
        return "returned"
    shown = status.complete and not status.unhealthy_only
    if not marked:
        # In its first minutes none is marked: what has been written is counted from the first block on.
        marked = [(vdev, child) for vdev in status.vdevs for child in vdev.children if child.children]
        wrote = status.scan is not None and status.scan.repaired
        if shown and not marked and not wrote and _takes_no_other(status):
            # None is named, so that words about any of them count.
            leaves = [leaf for vdev in status.vdevs for leaf in vdev.leaves()]
            ordered = any(_as_ordered([leaf], status) == "replaced" for leaf in leaves)
            return "replaced" if ordered else "returned"
    fills = any(child.kind == "replacing" for _, child in marked)
    return "replaced" if fills and not (shown and _passes_at_once(status)) else ""


def _as_ordered(marked: Sequence[Vdev], status: PoolStatus) -> Literal["returned", "replaced", ""]:
    """Return what commands and words say of drives that stand without the one that they replace."""
    begun = started_of(status.scan) if status.scan is not None else None
    before = begun + timedelta(seconds=AFTER_COMMAND_S) if begun is not None else None
    verbs = [last_of(status.commands, drive.name, before) for drive in marked if not drive.children]
    if any(verb in FILLS for verb in verbs):
        return "replaced"
    if verbs and all(verb in RETURNS for verb in verbs):
        return "returned"
    return status.told if verbs and not any(verbs) else ""


def _passes_at_once(status: PoolStatus) -> bool:
    """Tell whether blocks are counted faster than the drives can read them: they are passed over.

    A new drive in a pair lacks all until a resilver of it has ended (vdev.c:vdev_dtl_reassess). A pass that
    reads and writes little to it is one that it came into; one that does not read is of what was damaged.
    """
    scan = status.scan
    rate = scan.issue_rate if scan is not None else None
    return bool(rate) and (rate or 0) > READ_AT_MOST * sum(vdev.drives for vdev in status.vdevs)


def _takes_no_other(status: PoolStatus) -> bool:
    """Tell whether no drive can be attached to a vdev of a pool, as one can to a lone drive or a mirror."""
    others = (vdev for key, vdevs in status.sections.items() if key in ATTACHED for vdev in vdevs)
    return bool(status.vdevs) and all(vdev.parity for vdev in (*status.vdevs, *others))


def _is_marked(vdev: Vdev) -> bool:
    return any(leaf.resilvering for leaf in vdev.leaves())


def running(
    scan: Scan, at: datetime | None, pool: PoolThen, source: str, vdevs: int = 1
) -> RunningScan | None:
    """Return the state of a scan that runs as evidence; None for one that does not.

    Parameters
    ----------
    scan : Scan
    at : datetime or None
        When it was printed.
    pool : PoolThen
    source : str
        Where it was read.
    vdevs : int
        Top-level vdevs of which drives are resilvered.
    """
    if not scan.active:
        return None
    since = scan.since or (scan.at if scan.state == "running" else None)
    if at is not None and since is not None and at < since:
        # A date that was printed before the scan began is of something else.
        at = None
    legacy = FORMATS.get(scan.form) == "legacy"
    if scan.form == "solaris":
        scan = _in_two_stages(scan)
    if legacy and (scan.scanned or 0) > MOST_ELAPSED_S * (scan.scan_rate or math.inf):
        # The rate is that of the pass that the last import began, the bytes are those of all passes.
        scan = replace(scan, scan_rate=None)
    elapsed, estimated = _elapsed(scan, since, at), _by_its_estimate(scan)
    return RunningScan(
        kind=_kind(scan, pool, _least_done(scan, pool)),
        format="rebuild" if scan.function in COPIES else FORMATS.get(scan.form, "unknown"),
        since=since,
        at=at,
        elapsed=estimated if elapsed is None else elapsed,
        # What zpool says is left counts from the pass.
        elapsed_is_pass=elapsed is None and estimated is not None and scan.form == "2.2",
        resolution=WHOLE_MINUTES if _in_minutes(scan) else 1.0,
        scanned=scan.scanned,
        # The legacy order knows no second counter: what is scanned is issued.
        issued=scan.issued if scan.issued is not None or not legacy else scan.scanned,
        total=scan.total or None,
        total_issue=scan.total_issued if FORMATS.get(scan.form) == "2.2+" and scan.total_issued else None,
        # What was written to a drive that came late, or to another before it, tells no share.
        processed=None if came_late(scan, pool) else scan.repaired,
        done=scan.done,
        scan_rate=scan.scan_rate,
        issue_rate=scan.issue_rate,
        to_go=scan.to_go,
        vdevs=vdevs if scan.function == "resilver" else 1,
        source=plain(source, 300),
    )


def _in_two_stages(scan: Scan) -> Scan:
    """Return a resilver of Solaris 11.2 with what is issued: share and rate are of its second stage.

    First it collects blocks, and prints them scanned at a rate, then it resilvers them in order of address.
    """
    due = scan.total if scan.done is not None else None
    return replace(scan, issued=round((scan.done or 0.0) * (scan.total or 0)), total_issued=due)


def _in_minutes(scan: Scan) -> bool:
    """Tell whether the time is printed in full minutes that are over, as before pool version 28."""
    return scan.elapsed is not None and FORMATS.get(scan.form) == "legacy"


def _elapsed(scan: Scan, since: datetime | None, at: datetime | None) -> float | None:
    """Return how long a scan has run [s], by what is printed or by the dates; None where neither tells it."""
    if _in_minutes(scan):
        return (scan.elapsed or 0.0) + 0.5 * WHOLE_MINUTES
    if scan.elapsed is not None:
        return scan.elapsed
    if scan.state == "paused" and scan.at is not None and since is not None:
        # It has not run since: what it did took the time up to its pause.
        at = scan.at
    if since is None or at is None or at < since:
        return None
    return (at - since).total_seconds()


def _by_its_estimate(scan: Scan) -> float | None:
    """Return how long a scan has run by what zpool says is left, where no counters with their rates do [s].

    That is what is left over the mean rate (zpool_main.c:print_scan_scrub_resilver_status).
    """
    counters = ((scan.scanned, scan.scan_rate), (scan.issued, scan.issue_rate))
    counts = any(done is not None and rate for done, rate in counters)
    if counts or scan.to_go is None or scan.done is None or not 0.0 < scan.done < 1.0:
        return None
    return scan.to_go * scan.done / (1.0 - scan.done)


def started_of(scan: Scan) -> datetime | None:
    """Return when a scan began, local time; None where it is not told."""
    if scan.active:
        return scan.since or (scan.at if scan.state == "running" else None)
    return scan.at - timedelta(seconds=scan.elapsed) if scan.at and scan.elapsed else None
