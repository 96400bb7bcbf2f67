"""``zpool status -j``, with or without ``--json-int`` (OpenZFS 2.3 and later)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from zsim.base.errors import InputError
from zsim.base.reading import json_value
from zsim.observe.dates import in_english
from zsim.observe.texts import moment, nice_bytes, nice_count, plain, whole
from zsim.observe.zpool.expansion import Expansion, Removal, with_moves
from zsim.observe.zpool.scan import Function, Scan, ScanState
from zsim.observe.zpool.status import PoolStatus, counted_data_errors
from zsim.observe.zpool.vdev_tree import MAX_DEPTH, PAIRS, ErrorCounts, Vdev, named_vdev
from zsim.vdevs.kind import kinds

_STATES: dict[str, ScanState] = {"SCANNING": "running", "FINISHED": "finished", "CANCELED": "canceled"}
_REBUILD_STATES: dict[str, ScanState] = {
    "ACTIVE": "running", "COMPLETE": "finished", "CANCELED": "canceled",
}  # fmt: skip
_NICE_TIME = re.compile(r"(\d{1,20})(ns|us|ms|s|)", re.ASCII)
_TIME_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_FUNCTIONS: dict[str, Function] = {"RESILVER": "resilver", "SCRUB": "scrub"}
_SECTIONS = ("logs", "special", "dedup", "spares", "l2cache")
_REMEDY = "give the whole output of zpool status -j"


def recognises(text: str) -> bool:
    """Tell whether a text is JSON that may be from ``zpool status -j``, or one of its pools alone."""
    head = text[:4096].lstrip()
    whole_of = "output_version" in head or '"pools"' in head
    return head.startswith("{") and (whole_of or ('"pool_guid"' in head and '"state"' in head))


def read(text: str, name: str) -> tuple[PoolStatus, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    return read_status_json(text, name)


def dated(facts: Sequence[object], at: datetime | None) -> list[object]:
    """Return facts of one document with the moment at which it was printed, where they are statuses."""
    return [
        replace(each, at=at) if isinstance(each, PoolStatus) and at is not None and each.at is None else each
        for each in facts
    ]


def read_status_json(text: str, name: str = "zpool status -j") -> tuple[PoolStatus, ...]:
    """Read ``zpool status -j``.

    Raises
    ------
    InputError
        When it is no JSON (cut, for instance), or of another command.
    """
    try:
        data = json_value(text)
    except (ValueError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(
            f"{name}{where}", None, f"whole JSON is expected ({plain(str(error))})", _REMEDY
        ) from error
    pools = _pools(data)
    if not pools:
        raise InputError(f"{name}: pools", None, "a table of pools is expected", _REMEDY)
    return tuple(_pool(str(key), pool, name) for key, pool in pools.items())


def _pools(data: object) -> Mapping[str, object]:
    """Return the pools of a document by name; a filter such as jq leaves one alone, or a list of them."""
    if not isinstance(data, Mapping):
        return {}
    pools = data.get("pools")
    if isinstance(pools, list):
        return {str(place): each for place, each in enumerate(pools)}
    if isinstance(pools, Mapping):
        return pools
    return {"": data} if "pool_guid" in data and "vdevs" in data else {}


def _pool(key: str, pool: object, name: str) -> PoolStatus:
    if not isinstance(pool, Mapping):
        raise InputError(f"{name}: pools.{plain(key)}", pool, "a table is expected", _REMEDY)
    title = _text(pool.get("name")) or key
    roots = _children(_unflattened(pool.get("vdevs")), 0)
    top = roots[0].children if len(roots) == 1 and roots[0].kind == "root" else roots
    sections = {key: _children(pool.get(key), 0) for key in _SECTIONS if isinstance(pool.get(key), Mapping)}
    stats = pool.get("scan_stats")
    scan = _scan(stats) if isinstance(stats, Mapping) else None
    rebuilds = _rebuilds(stats.get("rebuild_stats")) if isinstance(stats, Mapping) else []
    expansion, removal = _expansion(pool.get("raidz_expand_stats")), _removal(pool.get("removal_stats"))
    scans = with_moves([*rebuilds, *([scan] if scan is not None else [])], expansion, removal)
    normal = tuple(vdev for vdev in top if vdev.note in ("", "normal"))
    for vdev in top:
        if vdev.note not in ("", "normal"):
            sections.setdefault(vdev.note, ())
            sections[vdev.note] += (vdev,)
    return PoolStatus(
        name=title,
        state=_text(pool.get("state")),
        vdevs=tuple(replace(vdev, note="") for vdev in normal),
        sections=sections,
        scan=max(scans, key=lambda each: each.active, default=None),
        scans=tuple(scans),
        expansion=expansion,
        removal=removal,
        data_errors=counted_data_errors(whole(_text(pool.get("error_count"))) or 0),
    )


def _children(table: object, depth: int) -> tuple[Vdev, ...]:
    if not isinstance(table, Mapping) or depth > MAX_DEPTH:
        return ()
    return tuple(_vdev(str(key), each, depth) for key, each in table.items() if isinstance(each, Mapping))


def _vdev(key: str, data: Mapping[str, object], depth: int) -> Vdev:
    """Return a vdev; the class of a top-level one is handed on as its note."""
    kind = _text(data.get("vdev_type"))
    vdev = named_vdev(_text(data.get("name")) or key, _text(data.get("state")))
    if kind == "root":
        vdev = replace(vdev, kind="root")
    elif kind in ("disk", "file") and vdev.kind != "distributed-spare":
        vdev = Vdev(vdev.name, "disk", vdev.state)
    elif kind in (*kinds(), *PAIRS) and vdev.kind != kind:
        least = kinds()[kind].least_parity if kind in kinds() else 0
        vdev = replace(vdev, kind=kind, parity=vdev.parity or least)
    children = _children(data.get("vdevs"), depth + 1)
    processed = _size(data.get("scan_processed"))
    note = _text(data.get("class")) if depth == 1 else "(resilvering)" if processed and not children else ""
    size = _size(data.get("rep_dev_size")) if not children else None
    counters = ("read_errors", "write_errors", "checksum_errors", "slow_ios")
    errors = ErrorCounts(*(nice_count(_text(data.get(name))) or 0 for name in counters))
    return replace(vdev, note=note, children=children, size=size, errors=errors)


def _unflattened(table: object) -> object:
    """Return a table of ``--json-flat-vdevs``, where every vdev names its parent, with the vdevs nested."""
    if not isinstance(table, Mapping):
        return table
    rows = {str(key): dict(each) for key, each in table.items() if isinstance(each, Mapping)}
    parents = {key: str(each["parent"]) for key, each in rows.items() if str(each.get("parent")) in rows}
    for key, parent in parents.items():
        rows[parent].setdefault("vdevs", {})
        if isinstance(rows[parent]["vdevs"], dict) and parent != key:
            rows[parent]["vdevs"][key] = rows[key]
    return {key: row for key, row in rows.items() if key not in parents}


def _scan(data: Mapping[str, object]) -> Scan | None:
    function, state = _FUNCTIONS.get(_text(data.get("function"))), _STATES.get(_text(data.get("state")))
    if function is None or state is None:
        return None
    if state == "running" and _text(data.get("scrub_pause")) not in ("", "-", "0"):
        state = "paused"
    start, end = _moment(data.get("start_time")), _moment(data.get("end_time"))
    total, issued = _size(data.get("to_examine")), _size(data.get("issued"))
    skipped = _size(data.get("skipped")) or 0
    due = max(total - skipped, 0) if total is not None else None
    elapsed = (
        (end - start).total_seconds() if state == "finished" and start and end and end >= start else None
    )
    at = end if state in ("finished", "canceled") else start
    since = None
    if state == "paused":
        at, since = _moment(data.get("scrub_pause")) or start, start
        spent = whole(_text(data.get("scrub_spent_paused")))
        if at and start and spent is not None and at > start:
            elapsed = max(0.0, (at - start).total_seconds() - spent)
    return Scan(
        function, state, form="json", date=str(at or ""), at=at, scanned=_size(data.get("examined")),
        issued=issued, total=total, total_issued=due, repaired=_size(data.get("processed")),
        done=min(issued / due, 1.0) if issued is not None and due else None, elapsed=elapsed,
        errors=whole(_text(data.get("errors"))), since=since,
    )  # fmt: skip


def _rebuilds(table: object) -> list[Scan]:
    """Return the sequential rebuilds that ``rebuild_stats`` tells of, those that run first."""
    if not isinstance(table, Mapping):
        return []
    found = (_rebuild(each) for each in table.values() if isinstance(each, Mapping))
    return sorted((each for each in found if each is not None), key=lambda each: not each.active)


def _rebuild(data: Mapping[str, object]) -> Scan | None:
    """Return the rebuild of one top-level vdev; the times of its passes go on over reboots.

    OpenZFS 2.3 cmd/zpool/zpool_main.c:scan_status_nvlist.
    """
    state = _REBUILD_STATES.get(_text(data.get("state")))
    if state is None:
        return None
    start, end = _moment(data.get("start_time")), _moment(data.get("end_time"))
    at = start if state == "running" else end
    scanned, total, skipped = (_size(data.get(key)) for key in ("scanned", "to_scan", "pass_skipped"))
    scan = Scan(
        "rebuild", state, form="json", date=str(at or ""), at=at, since=start, scanned=scanned,
        issued=_size(data.get("issued")), total=total, repaired=_size(data.get("rebuilt")),
        elapsed=_nice_time(data.get("scan_time")), errors=whole(_text(data.get("errors"))),
    )  # fmt: skip
    if state != "running":
        return scan
    passed = _nice_time(data.get("pass_time"))
    return replace(
        scan,
        scan_rate=_rate(_size(data.get("pass_scanned")), passed),
        issue_rate=_rate(_size(data.get("pass_issued")), passed),
        done=min(scanned / total, 1.0) if scanned is not None and total else None,
        total_issued=max(total - (skipped or 0), 0) if total is not None else None,
    )


def _rate(size: int | None, seconds: float | None) -> int | None:
    return round(size / seconds) if size is not None and seconds else None


def _nice_time(value: object) -> float | None:
    """Return a time as zpool writes it [s]: whole nanoseconds, or rounded down to one unit; None for none.

    Beyond a thousand seconds the unit is a question mark and only thousands are told: that is no time.
    """
    match = _NICE_TIME.fullmatch(_text(value))
    return int(match[1]) * _TIME_UNITS[match[2] or "ns"] if match else None


def _expansion(data: object) -> Expansion | None:
    """Return what ``raidz_expand_stats`` tells: the vdev, and how far it is."""
    if not isinstance(data, Mapping) or not _text(data.get("name")):
        return None
    waits = _text(data.get("waiting_for_resilver")) not in ("", "-", "0")
    scan = _copied(data, "expand", "reflowed", "to_reflow")
    if scan is not None and waits:
        scan = replace(scan, state="paused")
    return Expansion(plain(_text(data.get("name"))), scan)


def _removal(data: object) -> Removal | None:
    """Return what ``removal_stats`` tells of a removal that runs."""
    if not isinstance(data, Mapping) or not _text(data.get("name")):
        return None
    scan = _copied(data, "remove", "copied", "to_copy")
    return Removal(plain(_text(data.get("name"))), scan) if scan is not None else None


def _copied(data: Mapping[str, object], function: Function, done: str, whole_of: str) -> Scan | None:
    """Return how far a vdev is copied; None where that is over."""
    if _STATES.get(_text(data.get("state"))) != "running":
        return None
    start, copied, total = (
        _moment(data.get("start_time")),
        _size(data.get(done)),
        _size(data.get(whole_of)),
    )
    return Scan(
        function, "running", form="json" if function == "expand" else "", date=str(start or ""), at=start,
        since=start, issued=copied, total=total,
        done=min(copied / total, 1.0) if copied is not None and total else None,
    )  # fmt: skip


def _text(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int):
        return str(value) if abs(value) < 1 << 64 else ""
    return value.strip()[:1024] if isinstance(value, str) else ""


def _size(value: object) -> int | None:
    return nice_bytes(_text(value))


def _moment(value: object) -> datetime | None:
    text = _text(value)
    seconds = whole(text)
    if seconds is None:
        return moment(in_english(text))
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None) if 0 < seconds < 1 << 36 else None
