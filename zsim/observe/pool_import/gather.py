"""Gather the evidence of one pool from all its outputs: in order of time, each scan once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from statistics import median

from zsim.base.units import format_duration
from zsim.observe.devices.identity import Inventory
from zsim.observe.devices.labels import device_of
from zsim.observe.evidence.activity import Samples
from zsim.observe.evidence.detached import targets_detached
from zsim.observe.evidence.scans import (
    PoolThen,
    finished,
    repaired_as,
    resilvered_together,
    running,
    started_of,
)
from zsim.observe.pool_import.find_drives import gone_from_mirror
from zsim.observe.pool_import.finding import PoolOutputs
from zsim.observe.pool_import.gaps import BARE
from zsim.observe.pool_import.layout import Tops
from zsim.observe.texts import plain
from zsim.observe.zpool.scan import Scan
from zsim.observe.zpool.status import PoolStatus
from zsim.observe.zpool.vdev_tree import GONE, PAIRS, Vdev, repaired_pair
from zsim.scenario.evidence import Benchmark, ClassAlloc, DriveActivity, FinishedScan, RunningScan
from zsim.scenario.layout import Layout
from zsim.scenario.words import NO_REPAIR

SAME_END_S = 180.0
SAME_LENGTH = 0.02
NEAR_IN_TIME = timedelta(days=7)
MOST_RUNNING = 500
MOST_FINISHED = 200
QUARTER_S, MOST_ZONES_S = 900, 14 * 3600
LEAST_COMPARED, STANDS_OUT = 4, 5.0
"""Drives that are compared at the least, and times the median from which one is told."""
COMES_BACK = frozenset(("OFFLINE", "REMOVED", "UNAVAIL"))
"""States of a drive that is whole as far as ZFS knows, and may only have lost its connection."""


def find_observations(outputs: PoolOutputs, tops: Tops) -> None:
    """Note what the pool has already shown."""
    layout = Layout(tuple(tops.specs[place] for place in tops.order))
    of_class = outputs.status is not None and outputs.status.of_class_alone
    size = outputs.size("drive_size") or outputs.named_size
    pool = PoolThen(layout, outputs.size("alloc"), size, of_class)
    over = _finished(outputs, pool)
    under_way = _running(outputs, pool, over)
    over = [with_alloc(scan, outputs.statuses) for scan in over][-MOST_FINISHED:]
    over = [] if over and _ran_with_another(outputs, tops) else over
    activity = _activity(outputs, tops, bool(under_way))
    errors = [*_errors(outputs, tops), *_missing(outputs, tops)]
    held = _class_alloc(tops, outputs.size("alloc"))
    found = [*over, *under_way, *activity, *errors, *outputs.files.of(Benchmark), *held]
    outputs.notes += outputs.files.notes
    if found:
        stated = [each.model_dump(mode="json", exclude_none=True) for each in found]
        outputs.find("evidence", stated, sources_of(found))


def sources_of(found: Iterable[FinishedScan | RunningScan | object]) -> str:
    """Return which outputs evidence was read from, each once."""
    words = [str(getattr(each, "source", "")).partition(",")[0] for each in found]
    return plain(", ".join(list(dict.fromkeys(word for word in words if word))[:5]), 200)


def in_order(statuses: Sequence[PoolStatus]) -> list[PoolStatus]:
    """Return statuses of one pool in order of time; those without a date by how far their scan has come."""
    aligned = _aligned(statuses)
    return [status for _, status in sorted(enumerate(aligned), key=lambda each: (*_when(each[1]), each[0]))]


def _when(status: PoolStatus) -> tuple[datetime, int]:
    scan = status.scan
    end = scan.at if scan is not None and not scan.active else None
    begin = started_of(scan) if scan is not None and scan.active else None
    at = status.at or end or begin or datetime.min
    return at, max(scan.issued or 0, scan.scanned or 0) if scan is not None and scan.active else 0


def _aligned(statuses: Sequence[PoolStatus]) -> list[PoolStatus]:
    """Return the statuses with the dates of JSON, which are UTC, in the zone of the text's."""
    shown = [scan for status in statuses for scan in status.scans if scan.form != "json" and scan.at]
    zone = next((shift for status in statuses for scan in status.scans
                 if scan.form == "json" and (shift := _zone(scan, shown)) is not None), None)  # fmt: skip
    return [_moved(status, zone) if zone else status for status in statuses]


def _zone(scan: Scan, shown: Sequence[Scan]) -> timedelta | None:
    """Return how far the dates of text are ahead of those of JSON, for the same scan in both."""
    for other in shown:
        if (
            scan.at is None
            or other.at is None
            or (other.function, other.state) != (scan.function, scan.state)
        ):
            continue
        shift = round((other.at - scan.at).total_seconds())
        if shift and abs(shift) <= MOST_ZONES_S and shift % QUARTER_S == 0:
            return timedelta(seconds=shift)
    return None


def _moved(status: PoolStatus, zone: timedelta) -> PoolStatus:
    def moved(scan: Scan) -> Scan:
        return replace(scan, at=scan.at + zone) if scan.form == "json" and scan.at else scan

    scans = tuple(map(moved, status.scans))
    return replace(status, scans=scans, scan=moved(status.scan) if status.scan is not None else None)


def _finished(outputs: PoolOutputs, pool: PoolThen) -> list[FinishedScan]:
    """Return the scans that are over, each once: zpool status tells most of each."""
    found: list[FinishedScan] = []
    told = [
        scan
        for status in outputs.statuses
        for each in status.scans
        if (scan := finished(each, pool, "zpool status")) is not None
    ]
    histories = [scan for each in outputs.histories for scan in each.scans]
    events = [scan for each in outputs.events for scan in each.scans]
    for scan in (*told, *histories, *events):
        place = next((k for k, old in enumerate(found) if same_scan(old, scan)), None)
        if place is None:
            found.append(scan)
        else:
            found[place] = _completed(found[place], scan)
    return sorted(found, key=lambda scan: scan.end or datetime.min)


def same_scan(one: FinishedScan, other: FinishedScan) -> bool:
    """Tell whether two outputs tell of the same scan."""
    if {one.kind, other.kind} & {"scrub"} and one.kind != other.kind:
        return False
    slack = max(one.resolution, other.resolution, SAME_LENGTH * max(one.duration, other.duration), 30.0)
    alike = abs(one.duration - other.duration) <= slack
    if one.end is None or other.end is None:
        return alike and one.end is other.end
    return alike and abs((one.end - other.end).total_seconds()) <= max(SAME_END_S, slack)


def _completed(scan: FinishedScan, other: FinishedScan) -> FinishedScan:
    """Return the scan with what only the other output tells."""
    names = ("end", "processed", "errors", "drives", "alloc")
    more = {name: getattr(other, name) for name in names if getattr(scan, name) is None}
    if "heal" in (scan.kind, other.kind) and scan.kind != "scrub":
        more["kind"] = "heal"
    if other.kind == "rebuild" and scan.kind == "resilver":
        more["kind"] = "rebuild"
    return scan.model_copy(update=more)


def with_alloc(scan: FinishedScan, statuses: Sequence[PoolStatus]) -> FinishedScan:
    """Return a scan with what was allocated in its time, where a running one of those days printed it."""
    if scan.alloc is not None or scan.end is None:
        return scan
    known = [
        (abs(began - scan.end), each.total)
        for status in statuses
        for each in status.scans
        if each.active and each.total and (began := started_of(each)) is not None
    ]
    near = min(known, default=None)
    alloc = near[1] if near is not None and near[0] <= NEAR_IN_TIME else None
    return scan.model_copy(update={"alloc": alloc}) if alloc else scan


def _running(outputs: PoolOutputs, pool: PoolThen, over: Sequence[FinishedScan]) -> list[RunningScan]:
    """Return the states of the scan that runs, in order of time; those of one that is over tell no more."""
    found: list[RunningScan] = []
    ended = 0
    for status in outputs.statuses:
        if status.of_log_alone or status.of_dedup_alone:
            # What is resilvered there says nothing of a drive with data; the note about it says so.
            continue
        for scan in status.scans:
            then = replace(pool, repaired=repaired_as(status))
            state = running(scan, status.at, then, "zpool status", resilvered_together(status.vdevs))
            if state is None or state in found:
                continue
            if targets_detached(status):
                state = state.model_copy(update={"kind": "heal"})
            if any(_is_of(state, each) for each in over):
                ended += 1
            elif len(found) < MOST_RUNNING:
                found.append(state)
    if ended:
        outputs.notes.append(
            f"{ended} status{'es' if ended > 1 else ''} of a scan that is over by another output"
            f" {'are' if ended > 1 else 'is'} left out of the evidence: its duration says more"
        )
    return _of_the_last(found)


def _is_of(state: RunningScan, scan: FinishedScan) -> bool:
    if (
        state.since is None
        or scan.end is None
        or ({state.kind, scan.kind} & {"scrub"} and state.kind != scan.kind)
    ):
        return False
    # In seconds: a beginning before the year 1 is no date.
    apart = (state.since - scan.end).total_seconds() + scan.duration
    return abs(apart) <= max(SAME_END_S, scan.resolution, SAME_LENGTH * scan.duration)


def _of_the_last(found: Sequence[RunningScan]) -> list[RunningScan]:
    """Return the states of the scan that began last: an earlier one was restarted or stopped."""
    begins = [state.since for state in found if state.since is not None]
    last = max(begins, default=None)
    return [state for state in found if state.since in (None, last)]


def _activity(outputs: PoolOutputs, tops: Tops, runs: bool) -> list[DriveActivity]:
    """Return what the drives of the pool do, while a scan runs."""
    tables = outputs.files.of(Samples)
    if not tables:
        return []
    if not runs:
        outputs.notes.append(
            "iostat is ignored: no scan is running, so the activity of the drives says nothing about one"
        )
        return []
    numbers, inventory = leaf_numbers(tops, repairs(outputs)), outputs.files.inventory()
    found: list[DriveActivity] = []
    for table in tables:
        if not table.usable:
            outputs.notes.append(_no_sample(table))
            continue
        matched = [each for row in table.means() if (each := _of_pool(row, inventory, numbers)) is not None]
        if not matched:
            outputs.notes.append(
                f"the drives of {table.command} are none of the pool's by their names: add the output of"
                " lsblk -o NAME,MODEL,SERIAL,SIZE or ls -l /dev/disk/by-id"
            )
        found += matched
    return found


def _no_sample(table: Samples) -> str:
    """Return why a table tells nothing of now."""
    if table.command == "gstat":
        return "gstat has shown some milliseconds alone: let it run on, such as gstat -bI 10s"
    return (
        f"{table.command} has one sample, the mean since the host was started: run it with an"
        f" interval, such as zpool iostat -vly 30 3{_standing_out(table)}"
    )


def _standing_out(table: Samples) -> str:
    """Return which drive takes far longer than the others even in the mean since the start; else nothing."""
    rows = table.samples[0] if table.samples else {}
    times = {name: row.values["service"] for name, row in rows.items() if row.values.get("service")}
    if len(times) < LEAST_COMPARED:
        return ""
    slow, usual = max(times, key=times.__getitem__), median(times.values())
    if times[slow] < STANDS_OUT * usual:
        return ""
    told = f"{format_duration(times[slow])} for an operation, {format_duration(usual)} at the median of all"
    return f". Even so {plain(slow, 100)} stands out: {told}; look at its SMART data, cable and link"


def _errors(outputs: PoolOutputs, tops: Tops) -> list[DriveActivity]:
    """Return the drives that are read and have shown errors, by the last status."""
    numbers, inventory = leaf_numbers(tops, repairs(outputs)), outputs.files.inventory()
    rows = [leaf for vdev in tops.vdevs for leaf in vdev.leaves()] if outputs.status is not None else []
    found = []
    for leaf in rows:
        number, role = numbers.get(leaf.name, (None, ""))
        if role != "source" or leaf.kind in PAIRS or leaf.state not in ("ONLINE", "DEGRADED"):
            continue
        known = inventory.of(leaf.name)
        pending = known.pending if known is not None else None
        if not any(leaf.errors) and not pending:
            if leaf.state == "DEGRADED":
                why = f" ({plain(leaf.note)})" if leaf.note else ""
                outputs.notes.append(
                    f"{plain(leaf.name)} is DEGRADED{why} and is read all the same: a drive that retries"
                    " holds up the whole scan; look at its SMART data"
                )
            continue
        counts = zip(("read_errors", "write_errors", "checksum_errors", "slow_ios"), leaf.errors, strict=True)
        shown = {name: count for name, count in counts if count}
        shown |= {"pending_sectors": pending} if pending else {}
        name = plain(leaf.name, 300)
        source = "zpool status" if any(leaf.errors) or known is None else known.source
        found.append(DriveActivity(drive=name, leaf=number, role="source", source=source, **shown))
    return found


def _missing(outputs: PoolOutputs, tops: Tops) -> list[DriveActivity]:
    """Return the drives that are gone and that nothing under way replaces; note them, vdev by vdev."""
    found: list[DriveActivity] = []
    scan = outputs.status.scan if outputs.status is not None else None
    numbers = leaf_numbers(tops, repairs(outputs))
    active = scan is not None and scan.active
    lacking = 0
    for place in tops.order:
        slots = _slots(tops.vdevs[place])
        gone = [leaf for child in slots if (leaf := _lost(child)) is not None]
        first = place == tops.order[0] and repairs(outputs)
        due = sum(map(_is_due, slots))
        if gone:
            lacking += 1
            left = tops.specs[place].tolerance - len(gone) - due
            # Where nothing runs, the replacement of those that are gone is what is asked.
            words = _missing_words if active or due or not first else _asked_words
            outputs.notes.append(words(tops.vdevs[place], gone, left, due > 0))
        if outputs.value("replace_in") is not None:
            continue
        asked = int(str(outputs.value("replace") or 0)) if first and not (active or due) else 0
        waits = [child for child in slots if child.children and active and child.children[-1].waits]
        gone += [child.children[0] for child in waits if first and child.children[0].state in GONE]
        found += [_gone(each, numbers, count < asked, tops.source) for count, each in enumerate(gone)]
    if lacking > 1 and not active and repairs(outputs):
        outputs.notes.append(
            f"drives of {lacking} vdevs are to be replaced, and what is predicted is one vdev. In one pass"
            " they are repaired side by side, and all takes about as long; where a second replacement waits"
            " for its own pass (0.8 and later, zpool resilver begins again with all) each takes that long."
            " zsim timeline, given the same files, answers for all of them"
        )
    return found


def _gone(leaf: Vdev, numbers: dict[str, tuple[int | None, str]], asked: bool, source: str) -> DriveActivity:
    number, _ = numbers.get(leaf.name, (None, ""))
    seen = {"drive": plain(leaf.name, 300), "leaf": number, "missing": leaf.state, "source": source}
    return DriveActivity.model_validate({**seen, "asked": True} if asked else seen)


def _slots(vdev: Vdev) -> tuple[Vdev, ...]:
    """Return the children of a vdev as the layout counts them."""
    return vdev.children if vdev.kind not in PAIRS and vdev.children else (vdev,)


def _lost(child: Vdev) -> Vdev | None:
    """Return the drive that is gone of a child of a vdev, where no other stands in for it."""
    if child.kind in PAIRS and child.drives < len(("old", "new")):
        # The other one is not shown: it is cut off, or sound and left out by -e.
        return None
    leaves = tuple(child.leaves())
    return leaves[-1] if all(leaf.state in GONE for leaf in leaves) else None


def _is_due(child: Vdev) -> bool:
    """Tell whether a child of a vdev is missing until a repair of it is over."""
    if not child.children or _lost(child) is not None:
        return not child.children and (child.resilvering or child.waits)
    last = repaired_pair(child).children[-1]
    holds = child.kind == "spare" and last.state == "ONLINE" and not (last.resilvering or last.waits)
    return all(leaf.state in GONE for leaf in tuple(child.leaves())[:-1]) and not holds


def _missing_words(vdev: Vdev, gone: Sequence[Vdev], left: int, repaired: bool) -> str:
    """Return what is to be said of drives that are gone and that nothing replaces."""
    what = f"{_gone_words(vdev, gone)} and nothing replaces {'it' if len(gone) == 1 else 'them'}"
    return _left_words(what, left, " until the repair ends" if repaired else "")


def _asked_words(vdev: Vdev, gone: Sequence[Vdev], left: int, repaired: bool) -> str:
    """Return the same where nothing runs, so that their replacement is what is asked."""
    del repaired
    one = len(gone) == 1
    what = f"{_gone_words(vdev, gone)} and not replaced yet"
    words = _left_words(what, left, f" until {'it is' if one else 'they are'} replaced")
    words += f"; {'its' if one else 'their'} replacement is predicted"
    if any(each.state in COMES_BACK for each in gone):
        words += (
            f". If {'it' if one else 'one'} comes back instead (zpool online), only what was written in the"
            " meantime has to be copied: far less"
        )
    return words


def _gone_words(vdev: Vdev, gone: Sequence[Vdev]) -> str:
    """Return which drives are gone, of which vdev, and how."""
    names, top = plain(", ".join(each.name for each in gone[:3]), 300), plain(vdev.name)
    more = f" and {len(gone) - 3} more" if len(gone) > 3 else ""
    states = sorted({each.state for each in gone})
    return f"{names}{more} of {top} {'is' if len(gone) == 1 else 'are'} {' or '.join(states)}"


def _left_words(what: str, left: int, until: str) -> str:
    """Return a sentence on drives that are gone, with how many more may fail."""
    if left < 0:
        return f"{BARE}{what}: more drives are missing there than it has parity"
    if left == 0:
        return f"{BARE}{what}: no other drive of that vdev may fail{until}"
    return f"{what}: {left} more of that vdev's drives may fail{until}"


def _ran_with_another(outputs: PoolOutputs, tops: Tops) -> bool:
    """Tell whether the scans that are over ran with a drive of another model that has left since; say so."""
    name = gone_from_mirror(tops.vdevs, outputs.files.inventory()) if len(tops.specs) == 1 else ""
    if name:
        outputs.notes.append(
            f"earlier scans ran with {plain(name)}, which is gone and of another model than the drives that"
            " are left: their durations are not used"
        )
    return bool(name)


def _class_alloc(tops: Tops, alloc: int | None) -> list[ClassAlloc]:
    """Return what lies on the special vdevs, where each is listed with its ALLOC."""
    spaces = [tops.classes.spaces[place] for place in tops.classes.special]
    held = [space.alloc for space in spaces if space is not None and space.alloc]
    if not held or len(held) < len(spaces) or (alloc is not None and sum(held) >= alloc):
        return []
    return [ClassAlloc(held=sum(held), source="zpool list -v")]


def leaf_numbers(tops: Tops, repairs: bool = True) -> dict[str, tuple[int | None, str]]:
    """Return number in the layout and role of each drive, by its name.

    A scenario replaces the first drives of its layout: where something is replaced these are counted first in
    their vdev, and the new ones come after all others.
    """
    numbers: dict[str, tuple[int | None, str]] = {}
    total = sum(spec.children for spec in tops.specs)
    first, added = 0, 0
    for place, children in _as_counted(tops, repairs):
        for position, child in enumerate(children):
            if child.kind in PAIRS and child.drives > 1:
                new = repaired_pair(child).children[-1].name
                for old in child.leaves():
                    numbers[old.name] = (first + position, "source")
                numbers[new] = (total + added, "target")
                added += 1
            else:
                numbers[child.name] = (first + position, "target" if child.resilvering else "source")
        first += tops.specs[place].children
    return numbers


def drive_places(outputs: PoolOutputs, tops: Tops) -> dict[str, tuple[int, int]]:
    """Return vdev and place of each drive in the layout of the scenario, by its name.

    A drive that takes the place of another has that place.
    """
    counted = enumerate(_as_counted(tops, repairs(outputs)))
    return {
        leaf.name: (number, position)
        for number, (_, children) in counted
        for position, child in enumerate(children)
        for leaf in child.leaves()
    }


def _as_counted(tops: Tops, repairs: bool) -> Iterator[tuple[int, list[Vdev]]]:
    """Yield vdevs, each with its children in the order in which the scenario counts them."""
    for place in tops.order:
        slots = _slots(tops.vdevs[place])
        replaced = _replaced(slots) if repairs and place == tops.order[0] else []
        yield place, [*replaced, *(each for each in slots if each not in replaced)]


def _replaced(slots: Sequence[Vdev]) -> list[Vdev]:
    """Return the children of a vdev that are replaced now, else those whose replacement is what is asked."""
    ways = (
        [each for each in slots if any(leaf.resilvering for leaf in each.leaves())],
        [each for each in slots if each.kind in PAIRS and _lost(each) is None],
        [each for each in slots if _lost(each) is not None],
        [each for each in slots if each.state == "DEGRADED" and not each.children],
        # Of a pool in which all are sound, one without errors is taken to fail.
        [each for each in slots if not any(each.errors)][:1],
    )
    return next((found for found in ways if found), [])


def repairs(outputs: PoolOutputs) -> bool:
    """Tell whether a vdev is repaired: its drives that are replaced are then counted first."""
    return outputs.value("operation") not in NO_REPAIR


def _of_pool(
    row: DriveActivity, inventory: Inventory, numbers: dict[str, tuple[int | None, str]]
) -> DriveActivity | None:
    """Return the row with its number and role, None where it is no drive of the pool."""
    name = row.drive if row.drive in numbers else _pool_name(row.drive, inventory, numbers)
    if name is None:
        return None
    leaf, role = numbers[name]
    return row.model_copy(update={"leaf": leaf, "role": role, "drive": plain(row.drive, 300)})


def _pool_name(device: str, inventory: Inventory, numbers: Iterable[str]) -> str | None:
    """Return the name that a device of the host has in the pool, None where it has none."""
    whole = device_of(device)
    for name in numbers:
        if device_of(name) == whole:
            return name
        known = inventory.listed(name)
        if known is not None and known.device == whole:
            return name
        alias = inventory.aliases.get(name) or inventory.aliases.get(device_of(name))
        if alias is not None and device_of(alias) == whole:
            return name
    return None
