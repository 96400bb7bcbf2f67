"""``midclt call pool.query`` of TrueNAS: its pools as JSON, with the scan and the vdevs of each.

What its counters are (py-libzfs libzfs.pyx, ``ZPoolScrub.__getstate__``): ``bytes_processed`` is what there
is to examine, ``bytes_issued`` what the running pass has issued, and ``total_secs_left`` what is left at the
rate of that pass, whatever their names say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from zsim.base.reading import json_value
from zsim.observe.texts import moment, percentage, plain
from zsim.observe.zpool.listing import PoolList, Space
from zsim.observe.zpool.scan import Function, Scan, ScanState
from zsim.observe.zpool.status import PoolStatus
from zsim.observe.zpool.vdev_tree import MAX_DEPTH, MAX_ROWS, ErrorCounts, Vdev, named_vdev
from zsim.vdevs.kind import kinds

_FUNCTIONS: dict[str, Function] = {"RESILVER": "resilver", "SCRUB": "scrub"}
_STATES: dict[str, ScanState] = {"SCANNING": "running", "FINISHED": "finished", "CANCELED": "canceled"}
_SECTIONS = {"log": "logs", "cache": "cache", "spare": "spares", "special": "special", "dedup": "dedup"}
_COUNTERS = ("read_errors", "write_errors", "checksum_errors")
LARGEST = 1 << 63


def recognises(text: str) -> bool:
    """Tell whether a JSON document is a pool of TrueNAS."""
    return '"topology"' in text and '"status"' in text and '"name"' in text and '"data"' in text


def read(text: str, name: str) -> tuple[PoolStatus | PoolList, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    del name
    return tuple(read_pool(text))


def read_pool(text: str) -> Iterator[PoolStatus | PoolList]:
    """Yield the status of a pool, and its space where that is told."""
    pool = json_value(text)
    topology = _table(pool.get("topology"))
    title = plain(str(pool.get("name") or ""), 256)
    if not title or not topology:
        return
    sections = {_SECTIONS[key]: _vdevs(topology.get(key), 0) for key in _SECTIONS if topology.get(key)}
    scan = _scan(_table(pool.get("scan")))
    yield PoolStatus(
        name=title,
        state=plain(str(pool.get("status") or ""), 40),
        vdevs=_vdevs(topology.get("data"), 0),
        sections=sections,
        scan=scan,
        scans=(scan,) if scan is not None else (),
    )
    size, alloc, free = (_count(pool.get(key)) for key in ("size", "allocated", "free"))
    if size and alloc is not None:
        space = Space(size, alloc, free, percentage(str(pool.get("fragmentation") or "")))
        columns = frozenset(("name", "size", "alloc", "free", "frag", "health"))
        yield PoolList(title, space, (), {}, True, columns, plain(str(pool.get("status") or ""), 40))


def _scan(data: Mapping[str, object]) -> Scan | None:
    function, state = _FUNCTIONS.get(str(data.get("function"))), _STATES.get(str(data.get("state")))
    if function is None or state is None:
        return None
    start, end, held = (_moment(data.get(key)) for key in ("start_time", "end_time", "pause"))
    errors = _count(data.get("errors"))
    if state != "running":
        elapsed = (end - start).total_seconds() if start and end and end >= start else None
        ended = elapsed if state == "finished" else None
        return Scan(function, state, date=str(end or ""), at=end, elapsed=ended, errors=errors)
    total, issued = _count(data.get("bytes_processed")), _count(data.get("bytes_issued"))
    left = _count(data.get("total_secs_left"))
    rate = (total - issued) / left if total is not None and issued is not None and left else None
    return Scan(
        function, "paused" if held is not None else "running", form="2.2", date=str(start or ""),
        at=held or start, since=start if held is not None else None, total=total, issued=issued,
        # What is left divided by the rate is what zpool prints, so the rate is what was divided by.
        issue_rate=round(rate) if rate and rate > 0 else None, to_go=float(left) if left else None,
        done=min(issued / total, 1.0) if total and issued is not None else None, errors=errors,
    )  # fmt: skip


def _vdevs(rows: object, depth: int) -> tuple[Vdev, ...]:
    if not isinstance(rows, list) or depth > MAX_DEPTH:
        return ()
    return tuple(_vdev(row, depth) for row in rows[:MAX_ROWS] if isinstance(row, Mapping))


def _vdev(row: Mapping[str, object], depth: int) -> Vdev:
    """Return a vdev; a drive has the name of its device, where the host knows one."""
    kind = str(row.get("type") or "DISK").lower()
    children = _vdevs(row.get("children"), depth + 1)
    known = [row.get(key) for key in ("device", "disk", "name", "path", "guid")]
    if children:
        known = [row.get("name")]
    name = plain(next((str(each) for each in known if each), kind), 256)
    vdev = named_vdev(name if not children or name.lower().startswith(kind) else f"{kind}-0")
    if not children and kind in ("disk", "file"):
        vdev = Vdev(vdev.name, "disk")
    elif kind in kinds() and vdev.kind != kind:
        vdev = replace(vdev, kind=kind, parity=vdev.parity or kinds()[kind].least_parity)
    stats = _table(row.get("stats"))
    errors = ErrorCounts(*(_count(stats.get(key)) or 0 for key in _COUNTERS))
    state = plain(str(row.get("status") or ""), 40)
    return replace(vdev, state=state, children=children, errors=errors)


def _moment(value: object) -> datetime | None:
    """Return a moment: milliseconds since 1970 in a table, seconds, or text."""
    stamp = _table(value).get("$date") if isinstance(value, Mapping) else value
    if isinstance(stamp, str):
        found = moment(stamp)
        return found.replace(tzinfo=None) if found is not None else None
    count = _count(stamp)
    if not count:
        return None
    seconds = count / 1000.0 if isinstance(value, Mapping) else float(count)
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None) if seconds < 1 << 36 else None


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _count(value: object) -> int | None:
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < LARGEST
    return int(value) if known and isinstance(value, int | float) else None
