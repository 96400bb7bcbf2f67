"""From pasted statuses to a scenario and the progress of its running scan."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from types import NoneType

from zsim.base.errors import InputError, check_kind, shown
from zsim.base.reading import REMEDY, is_directory, read_bytes, stat_of
from zsim.base.units import format_bytes, format_fraction, format_percent
from zsim.observe.documents import split_dated
from zsim.observe.evidence.detached import (
    issues_collected,
    nothing_marked,
    targets_detached,
    without_targets,
)
from zsim.observe.evidence.scans import (
    PoolThen,
    came_late,
    repaired_as,
    resilvered_together,
    running,
    started_of,
)
from zsim.observe.pool_import.classes import WHO_TELLS
from zsim.observe.pool_import.gather import SAME_END_S, SAME_LENGTH
from zsim.observe.pool_import.given.assumed import as_status, assumed_vdevs, assumed_words
from zsim.observe.pool_import.given.files import files_in
from zsim.observe.pool_import.given.other_texts import refuse_other_texts
from zsim.observe.pool_import.given.pasted_forms import UNKNOWN
from zsim.observe.pool_import.given.pool_in_words import pool_in_words
from zsim.observe.pool_import.importing import ImportedPool, import_beside
from zsim.observe.pool_import.layout import pairs_of
from zsim.observe.read_pool import is_printed
from zsim.observe.texts import decoded, plain, tidied
from zsim.observe.zpool import status_json, truenas
from zsim.observe.zpool.scan import Scan, to_examine
from zsim.observe.zpool.status import PoolStatus, read_status, recognises, under_one_name
from zsim.observe.zpool.vdev_tree import GONE
from zsim.planning.eta.records import dated
from zsim.prediction.progress.healing import is_open
from zsim.prediction.progress.metadata_only import of_metadata
from zsim.prediction.progress.moments import clock_of, with_clocks
from zsim.scenario.evidence import RunningScan
from zsim.scenario.files import apply_overrides, names_set, over, put_aside
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario

REPAIRS, REPAIRS_SHARE = 1 << 30, 0.01
"""Bytes from which a scrub has repaired much, and their share of what it has read."""
OLDEST_LIVE = timedelta(days=90)
BEHIND = 0.8
"""A clock that shows less than this share of the time that the counters tell is that of another day."""
ALIKE = 1.6
"""Or more than this, unless the pool was imported again on the way."""


BEFORE_PASS_S = 3 * 86400.0
"""A pass may have begun so long after its scan: by a reboot, or after metadata was scanned [s]."""


_DETACHED = (
    "NO DATA: the drive that was resilvered has been detached: nothing is left to be written. The pass issues"
    " what it has collected, passes over the rest, and ends"
)
_UNMARKED = (
    "no drive is marked (resilvering), though some was written: either it has been detached, and the pass"
    " ends once the metadata is read, or the pool was imported again and nothing has been written since"
)
HALTED_STATES = {
    "SUSPENDED": "suspended",
    "UNAVAIL": "UNAVAIL, as more drives are gone than it can do without",
}
SUSPENDED = "HALTED: the pool is suspended"


@dataclass(frozen=True, slots=True)
class Paste:
    """What was read.

    Attributes
    ----------
    pool : str
    scenario : Scenario
    scans : tuple of RunningScan
        Of the scan that runs, in order of time, with their times.
    paused : bool
    notes : tuple of str
    at : datetime or None
        When the latest status was printed.
    log_alone : bool
        Whether nothing is copied: drives of log vdevs are resilvered alone, or those under repair detached.
    dedup_alone : bool
        Whether drives of dedup vdevs are, which copies deduplication tables.
    waiting : int
        Drives that await a resilver of their own.
    """

    pool: str
    scenario: Scenario
    scans: tuple[RunningScan, ...]
    paused: bool = False
    notes: tuple[str, ...] = ()
    at: datetime | None = None
    log_alone: bool = False
    dedup_alone: bool = False
    waiting: int = 0


def read_paste(
    text: str | None,
    names: Sequence[str | Path] = (),
    *,
    pool: str | None = None,
    overrides: Sequence[str] = (),
    stated: dict[str, object] | None = None,
    now: datetime | None = None,
    imported: ImportedPool | None = None,
) -> Paste:
    """Read statuses, and whatever else is there about the pool.

    Parameters
    ----------
    text : str or None
        Pasted output.
    names : sequence of str or Path
        Files and directories with more of it.
    pool : str, optional
        Its name, where they are about several.
    overrides : sequence of str
        ``KEY=VALUE``: fields that are known better.
    stated : dict, optional
        The same, as fields.
    now : datetime, optional
        When the text was printed, if it was just now.
    imported : ImportedPool, optional
        What an import makes of the files, where that is known already.

    Raises
    ------
    InputError
        When no scan runs, or nothing can be read.
    """
    told = "it is what zpool status printed, as text"
    check_kind("text", text, (str, NoneType), told, 'give files as files=["status.txt"]')
    texts = [as_status(each) for each in _texts(text, names)]
    text = as_status(tidied(text)) if text else text
    statuses = _statuses(texts, pool)
    chosen, found = statuses[-1], _found_running(statuses)
    latest, scan = found[-1]
    assumed = assumed_words(assumed_vdevs(scan, chosen))
    settled = {*(stated or {}), *names_set(overrides)}
    notes = list(imported.notes) if imported is not None else []
    if imported is None:
        imported, notes = _imported(text, names, pool or chosen.name or None, assumed, settled)
    scenario = _scenario(imported, scan, overrides, stated or {}, assumed)
    ordered = _ordered(found, scenario)
    notes = _notes(found, ordered[-1], scenario, notes)
    # When a pause ends nobody knows: what is left has no date.
    at = None if scan.state == "paused" else _moment(ordered[-1], now)
    if at is not None and ordered[-1].at is None and ordered[-1].since is not None:
        ordered[-1] = ordered[-1].model_copy(update={"at": at})
    repairs = latest if scan.function == "resilver" else None
    log_alone = repairs is not None and repairs.of_log_alone
    if repairs is not None and targets_detached(repairs):
        notes = [_DETACHED, *(note for note in notes if not note.startswith("NOT A WHOLE DRIVE"))]
        log_alone = not issues_collected(ordered[-1])
        ordered = list(map(without_targets, ordered[-1:]))
    elif nothing_marked(latest):
        notes.append(_UNMARKED)
    dedup_alone = repairs is not None and repairs.of_dedup_alone
    if log_alone:
        ordered = list(map(of_metadata, ordered))
    paused, name = scan.state == "paused", pool or chosen.name
    waiting = imported.waiting + imported.waiting_beside if imported is not None else 0
    return Paste(name, scenario, tuple(ordered), paused, tuple(notes), at, log_alone, dedup_alone, waiting)


def _notes(
    found: Sequence[tuple[PoolStatus, Scan]], last: RunningScan, scenario: Scenario, imported: Sequence[str]
) -> list[str]:
    """Return what is said of the latest status and its scan, what matters most first."""
    latest, scan = found[-1]
    late = _came_late(latest, scan, scenario)
    said = [*_waits_for(latest, scan), *late, *imported, *_removal_beside(latest, scan)]
    return [
        *_damaged(latest, scan),
        *_halted(latest, scan),
        *_begun_again(found, scan),
        *([] if latest.of_log_alone else _after_outage(last, latest)),
        *(each.removesuffix(WHO_TELLS) for each in said),
    ]


def said_paste(text: str, overrides: Sequence[str], stated: Mapping[str, object]) -> Paste | None:
    """Read a sentence that says how far a scan is: ``raidz2 of 8x 16TB, resilver 34% done after 12 h``.

    Returns
    -------
    Paste or None
        None where the text is no sentence about a pool.

    Raises
    ------
    InputError
        When it says nothing of a scan that runs.
    """
    if is_printed(text) or (said := pool_in_words(text, needs_layout="layout" not in stated)) is None:
        return None
    held = said.fields.get("evidence")
    if not isinstance(held, list) or not any(each["what"] == "running" for each in held):
        remedy = "say how far it is, such as 'resilver 34% done after 12 h'"
        raise InputError("zpool status", text, "a running scan is expected", remedy)
    fields = {**over(said.fields, stated), "evidence": said.fields["evidence"]}
    scenario = Scenario.from_dict(apply_overrides(fields, overrides))
    scans = tuple(each for each in scenario.evidence or () if isinstance(each, RunningScan))
    words = ", ".join(map(shown, said.unread))
    return Paste(
        "", scenario, scans, notes=(f"NOT UNDERSTOOD, and not in the answer: {words}",) if words else ()
    )


def _found_running(statuses: Sequence[PoolStatus]) -> list[tuple[PoolStatus, Scan]]:
    """Return the scans that run, each with its status; that there is none, or that it is over, is refused."""
    found = [(each, scan) for each in statuses for scan in _scans(each) if scan.active]
    over = _over(statuses, found[-1][1]) if found else statuses[-1]
    if over is not None and over.scan is None and (drive := _under_repair(over)):
        allowed = f"this line of zpool status says how far the repair of {plain(drive, 100)} is"
        remedy = "give the whole output, or ask zsim predict how long one takes from the beginning"
        raise InputError("scan:", None, allowed, remedy)
    if over is not None:
        raise InputError("zpool status", _last_scan(over), "a running scan is expected", _remedy(over))
    return _latest_begun_last(found)


def _latest_begun_last(found: Sequence[tuple[PoolStatus, Scan]]) -> list[tuple[PoolStatus, Scan]]:
    """Return scans with the one that began last at the end, where a text shows others behind it."""
    begun = [started_of(scan) if scan.function in ("resilver", "scrub") else None for _, scan in found]
    known = [each.replace(tzinfo=None) for each in begun if each is not None]
    if len(known) < len(found) or known[-1] == max(known):
        return list(found)
    order = sorted(range(len(found)), key=known.__getitem__)
    return [found[place] for place in order]


def _under_repair(status: PoolStatus) -> str:
    """Return the name of a drive that a status without a scan shows in the place of another; or ""."""
    pairs = (pair for vdev in status.vdevs for pair in pairs_of(vdev) if not pair.children[-1].waits)
    return next((pair.children[-1].name for pair in pairs), "")


def _ordered(found: Sequence[tuple[PoolStatus, Scan]], scenario: Scenario) -> list[RunningScan]:
    """Return the states of the scan that began last, in order of time."""
    latest, scan = found[-1]
    then = PoolThen(scenario.pool_layout, scenario.alloc, scenario.drive_size, latest.of_class_alone)
    then = replace(then, repaired=repaired_as(latest))
    read = (
        running(each, status.at, then, "zpool status", resilvered_together(status.vdevs))
        for status, each in found
        if _is_same(each, scan)
    )
    return with_clocks(in_order([each for each in read if each is not None]))


def _damaged(status: PoolStatus, scan: Scan) -> tuple[str, ...]:
    """Say what damaged files mean for a scan that runs."""
    if not status.data_errors:
        return ()
    told = (
        f"zpool status reports {status.data_errors}: zpool status -v names the files, restore them from a"
        " backup"
    )
    if scan.function != "resilver":
        return (told,)
    return (
        f"{told}; up to 0.8 a resilver that meets such a block starts again when it ends, until these files"
        " and the snapshots that hold them are deleted; from 2.0 on it ends with errors",
    )


def _halted(status: PoolStatus, scan: Scan) -> list[str]:
    """Return why nothing goes on, if nothing does: of a suspended pool all I/O waits (zpool-clear(8))."""
    if status.state == "SUSPENDED" or status.suspended:
        return [
            f"{SUSPENDED}: nothing continues until its drives are back and zpool clear is run;"
            " the times count from then"
        ]
    if scan.state != "paused":
        return []
    told = "HALTED: the scan is paused: nothing continues until it is resumed; the times count from then"
    begun, ended = scan.since, scan.at
    if scan.elapsed is not None or begun is None or ended is None or ended <= begun:
        return [told]
    return [
        f"{told}. It is assumed to have run without another pause from {dated(begun, ended)} to"
        f" {ended:%a %d %b %H:%M}"
    ]


def _after_outage(scan: RunningScan, status: PoolStatus | None = None) -> list[str]:
    """Return what is to be said of a resilver that repairs less than a drive."""
    if scan.kind == "scrub" and (scan.processed or 0) > max(REPAIRS, REPAIRS_SHARE * (scan.issued or 0)):
        return [
            f"the scrub has repaired {format_bytes(round(scan.processed or 0))} so far, as after an outage"
            " or on an overwritten drive: it writes as well as reads, and the next one will be faster"
        ]
    if is_open(scan):
        if status is not None and status.may_be_of_log:
            return [
                "NOT A WHOLE DRIVE: nothing has been written so far, and nothing marks a drive: either what a"
                " drive missed during an outage is repaired, or a drive was attached to the log mirror, of"
                " which a resilver copies nothing: it reads the metadata of the pool, and is over"
            ]
        wrote = "" if scan.processed is None else f", {format_bytes(round(scan.processed))} so far"
        return [
            f"NOT A WHOLE DRIVE: only what a drive missed during an outage is repaired{wrote}. Only blocks"
            " written since then are visited, and no tool prints how much that is: it may end at any"
            " percentage"
        ]
    if scan.kind != "heal" or scan.format != "2.2+" or not scan.total or not scan.total_issue:
        return []
    due, whole = format_bytes(round(scan.total_issue)), format_bytes(round(scan.total))
    return [f"NOT A WHOLE DRIVE: only what a drive missed during an outage is repaired, {due} of {whole}"]


def _came_late(status: PoolStatus, scan: Scan, scenario: Scenario) -> list[str]:
    """Return what is to be said of a new drive that was attached while the pass ran."""
    then = PoolThen(scenario.pool_layout, scenario.alloc, scenario.drive_size, status.of_class_alone)
    marked = any(leaf.resilvering for vdev in status.vdevs for leaf in vdev.leaves())
    if not marked or not came_late(scan, replace(then, repaired=repaired_as(status))):
        return []
    return [
        f"NOT IN THIS ANSWER: the new drive has got {format_bytes(scan.repaired or 0)}, far less than its"
        " share of what has been read: it was attached while this pass ran. What was read before that is"
        " missing on it, and a further pass begins when this one ends"
    ]


def _waits_for(status: PoolStatus, scan: Scan) -> list[str]:
    """Return what is to be said of an expansion that waits for a scan (vdev_raidz.c)."""
    moved = status.expansion
    if moved is None or moved.scan is None or scan.function == "expand":
        return []
    done = moved.scan.done
    share = f", {format_percent(done, 2)} done," if done is not None else ""
    return [
        f"NOT IN THIS ANSWER: the expansion of {moved.vdev}{share} waits for this {scan.function} and"
        " continues after it"
    ]


def _removal_beside(status: PoolStatus, scan: Scan) -> list[str]:
    """Return what is to be said of a removal that goes on beside a scan."""
    if status.removal is None or scan.function == "remove":
        return []
    return [f"the removal of {status.removal} that is running too is not in this answer"]


def _texts(text: str | None, names: Sequence[str | Path]) -> list[str]:
    """Return all that is given to be read."""
    texts = [tidied(text)] if text else []
    for name in names:
        path = Path(name)
        files = files_in(path, "**/*") if is_directory(stat_of(path, "file", REMEDY)) else [path]
        texts += [_text(each) for each in files]
    return texts


def _statuses(texts: Sequence[str], pool: str | None) -> list[PoolStatus]:
    found: list[PoolStatus] = []
    for each in texts:
        documents, rest = split_dated(each)
        whole = documents or not status_json.recognises(each)
        for document, at in documents if whole else [(each, None)]:
            if truenas.recognises(document):
                found += [pool for pool in truenas.read_pool(document) if isinstance(pool, PoolStatus)]
            elif status_json.recognises(document):
                read = status_json.dated(status_json.read_status_json(document), at)
                found += [pool for pool in read if isinstance(pool, PoolStatus)]
        if recognises(rest):
            found += read_status(rest)
    if not found:
        refuse_other_texts("zpool status", None, texts)
        remedy = "pipe it in: zpool status tank | zsim eta"
        raise InputError("zpool status", None, "the output of zpool status is expected", remedy)
    names = dict.fromkeys(each.name for each in found)
    found = under_one_name(found) if pool is None else found
    found = [each for each in found if pool is None or each.name in (pool, UNKNOWN)]
    if not found:
        raise InputError("pool", pool, f"what is given is of {', '.join(names)}", "name it as it is printed")
    running_ones = [each for each in found if any(scan.active for scan in _scans(each))]
    several = {each.name for each in running_ones}
    if pool is None and len(several) > 1:
        known = ", ".join(sorted(several))
        raise InputError("--pool", None, f"scans run on {known}", f"name one: --pool {sorted(several)[0]}")
    if running_ones and pool is None:
        found = [each for each in found if each.name == running_ones[0].name]
    return found


def _text(path: Path) -> str:
    return decoded(read_bytes(path))


def _scans(status: PoolStatus) -> tuple[Scan, ...]:
    return status.scans or ((status.scan,) if status.scan is not None else ())


def _last_scan(status: PoolStatus) -> str:
    scan = status.scan
    if status.error_scrub:
        return status.error_scrub
    if scan is None:
        return "none requested"
    return f"{scan.function} {scan.state}{f' on {scan.date}' if scan.date else ''}"


def _remedy(status: PoolStatus) -> str:
    if status.error_scrub:
        return (
            "zpool scrub -e reads only the blocks in the error log, usually within minutes, and zpool status"
            " prints its progress; zsim predict is about a whole scrub"
        )
    if status.state in HALTED_STATES:
        return (
            f"the pool is {HALTED_STATES[status.state]}: nothing continues until its drives are back and"
            " zpool clear is run"
        )
    slots = (slot for vdev in status.vdevs for slot in vdev.children or (vdev,))
    gone = [slot for slot in slots if slot.state in GONE and not slot.children]
    if gone:
        drive = f"{plain(gone[0].name, 100)} is {gone[0].state}, and nothing is repairing it"
        return f"{drive}: zsim predict says how long its replacement takes"
    if status.scan is not None and status.scan.state == "finished":
        return "it has finished: zsim predict says how long the next one takes"
    return "zsim predict says how long one would take"


def _over(statuses: Sequence[PoolStatus], scan: Scan) -> PoolStatus | None:
    """Return the status in which a scan that ran at another moment has ended; None where none shows it."""
    begun = scan.since or scan.at
    for status in statuses:
        for ended in _scans(status):
            if ended.state != "finished" or ended.function != scan.function or not ended.elapsed:
                continue
            known = begun is not None and ended.at is not None
            apart = abs((ended.at - begun).total_seconds() - ended.elapsed) if known else math.inf  # type: ignore[operator]
            if apart <= max(SAME_END_S, SAME_LENGTH * ended.elapsed):
                return status
    return None


def _begun_again(found: Sequence[tuple[PoolStatus, Scan]], scan: Scan) -> list[str]:
    """Return what is to be said of an earlier scan of the same kind that has not come to its end."""
    before = [
        (status, each)
        for status, each in found
        if each.function == scan.function and not _is_same(each, scan) and each.at < scan.at  # type: ignore[operator]
    ]
    if not before:
        return []
    status, last = max(before, key=lambda pair: (pair[1].at or datetime.min, pair[1].issued or 0))
    assert last.at is not None
    assert scan.at is not None
    share = f" and was {format_fraction(last.done)} done" if last.done is not None else ""
    when = f" at {status.at:%a %d %b %H:%M}" if status.at is not None and share else ""
    return [
        f"an earlier {scan.function} began on {dated(last.at, scan.at)}{share}{when}; this one began on"
        f" {scan.at:%a %d %b %H:%M}: it has restarted, or is a further pass, and earlier progress does not"
        " count (zpool history -i and zpool events show what started it)"
    ]


def _is_same(scan: Scan, last: Scan) -> bool:
    """Tell whether two statuses are of one scan: a restart begins another."""
    if scan.function != last.function:
        return False
    return scan.at is None or last.at is None or scan.at == last.at or "paused" in (scan.state, last.state)


def in_order(scans: Sequence[RunningScan]) -> list[RunningScan]:
    """Return statuses of one scan in order of time, by the bytes they count; each state once at a moment."""
    known: dict[tuple[float, float, float, datetime], RunningScan] = {}
    for scan in scans:
        at = scan.at.replace(tzinfo=None) if scan.at is not None else datetime.min
        known[(scan.issued or 0, scan.scanned or 0, scan.processed or 0, at)] = scan
    return [known[key] for key in sorted(known)]


def _moment(scan: RunningScan, now: datetime | None) -> datetime | None:
    """Return when a status was printed.

    Without a date in the text it is taken to be just now, unless its counters tell that it is not; a text of
    another day is dated by its begin and the time that the counters tell.
    """
    if scan.at is not None:
        return scan.at
    gone, clock = clock_of(scan)
    if scan.since is None:
        return now
    since = scan.since.replace(tzinfo=None)
    if now is not None:
        passed = (now.replace(tzinfo=None) - since).total_seconds()
        live = 0.0 <= passed <= OLDEST_LIVE.total_seconds()
        if (
            live
            and (gone is None or passed >= BEHIND * gone)
            and (gone is None or passed <= ALIKE * gone + (BEFORE_PASS_S if clock == "pass" else 600.0))
        ):
            return now.replace(tzinfo=None)
    return since + timedelta(seconds=gone) if gone is not None and clock == "scan" else None


def _imported(
    text: str | None, names: Sequence[str | Path], pool: str | None, assumed: str, settled: Collection[str]
) -> tuple[ImportedPool | None, list[str]]:
    """Return what an import makes of it, or nothing and why."""
    known = None if pool == UNKNOWN else pool
    try:
        found = import_beside(text or None, names, pool=known, stated=settled)
    except InputError as error:
        return None, [
            "NOT KNOWN: the layout, the drives and the record size. Nothing of the pool but its scan could"
            f" be read; {assumed} is assumed: {str(error).rstrip('.')}"
        ]
    return found, list(found.notes)


def _scenario(
    imported: ImportedPool | None,
    scan: Scan,
    overrides: Sequence[str],
    stated: dict[str, object],
    assumed: str,
) -> Scenario:
    """Return the scenario of the scan that runs: what was found, then what is known better."""
    fields: dict[str, object] = dict(imported.scenario.stated()) if imported is not None else {}
    fields.setdefault("layout", assumed)
    fields["operation"] = scan.function
    if scan.function == "scrub":
        for name in ("replace", "replace_in", "old_drive", "new_drive", "new_drive_size", "target"):
            fields.pop(name, None)
    if not {"alloc", "fill", "vdev_fills"} & set(fields) and scan.total:
        fields["alloc"] = to_examine(scan, len(Layout.parse(str(fields["layout"])).data))
    if "product" in stated:
        fields.pop("release", None)
        begun = scan.since or scan.at
        if begun is not None:
            # Products set tunables by the hour.
            fields.setdefault("begins", f"{begun:%a %H:%M}".lower())
    elif imported is None and scan.form == "legacy":
        fields["release"] = "zol-0.7"
    elif imported is None:
        fields["release"] = "openzfs-2.3" if scan.form == "2.2" else "openzfs-2.1"
    return Scenario.from_dict(apply_overrides(put_aside(fields, stated) | stated, overrides))
