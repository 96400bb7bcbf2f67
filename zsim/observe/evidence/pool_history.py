"""``zpool history -i``: when scans were set up and done, of every release.

The lines are those that the kernel writes beside the commands (OpenZFS module/zfs/dsl_scan.c,
dsl_scan_setup_sync and dsl_scan_done; vdev_rebuild.c)::

    2023-11-02.18:20:20 [txg:123456] scan setup func=2 mintxg=3 maxtxg=123456      0.6.4 and later
    2023-11-03.03:00:01 [txg:125000] scan done errors=0                            (complete=1 before 0.8)
    2013-06-01.03:02:01 [internal pool scrub txg:2812] func=1 mintxg=0 maxtxg=2812    version 28
    2013-06-01.09:12:44 [internal pool scrub done txg:2890] complete=1
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from zsim.scenario.evidence import FinishedScan, ScanKind

MOST_SCANS = 10_000
FILLED_FROM_TXG = 16
"""A new drive misses all since transaction group 3 (TXG_INITIAL - 1); one that was away misses later ones."""

_POOL = re.compile(r"^History for '([^'\n]{1,255})':", re.MULTILINE)
_LINE = re.compile(
    r"^(\d{4}-\d\d-\d\d)\.(\d\d:\d\d:\d\d) "
    r"(?:\[(?:internal )?([^\]\n]{0,60}?) ?txg:(\d{1,19})\]|(zpool)) ?([^\n]{0,600})$",
    re.MULTILINE | re.ASCII,
)
_FUNCTION = re.compile(r"\bfunc=([0-9]{1,2})\b", re.ASCII)
_MINTXG = re.compile(r"\bmintxg=(\d{1,19})\b", re.ASCII)
_REPLACED = re.compile(r"(?:-[\w=]+ +)*replace\b", re.ASCII)
_KINDS: dict[str, ScanKind] = {"1": "scrub", "2": "resilver"}


@dataclass(slots=True)
class PoolHistory:
    """Scans that the history of one pool tells.

    Attributes
    ----------
    name : str
        Of the pool; empty where the text does not name it.
    scans : list of FinishedScan
    begun : datetime or None
        Begin of a scan whose end is not in it.
    kind : str
        Of that scan.
    """

    name: str = ""
    scans: list[FinishedScan] = field(default_factory=list)
    begun: datetime | None = None
    kind: ScanKind | None = None


def recognises(text: str) -> bool:
    """Tell whether a text holds the output of ``zpool history -i``, or of ``zpool history``."""
    return _POOL.search(text) is not None or any(
        match[4] and ("scan " in match[6] or "func=" in match[6] or "scrub" in (match[3] or ""))
        for match in _LINE.finditer(text[: 1 << 20])
    )


def read(text: str, name: str) -> tuple[PoolHistory, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    del name
    return read_history(text)


def read_history(text: str) -> tuple[PoolHistory, ...]:
    """Read ``zpool history -i`` of one or more pools; a history without internal lines tells no scans."""
    heads = [*_POOL.finditer(text)]
    if not heads:
        return (_pool("", text),)
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return tuple(_pool(head[1], text[head.end() : end]) for head, end in zip(heads, ends, strict=True))


@dataclass(slots=True)
class _Begun:
    kind: ScanKind
    at: datetime
    drives: int | None


def _pool(name: str, text: str) -> PoolHistory:
    found = PoolHistory(name)
    begun: dict[str, _Begun] = {}
    replaced = 0
    for match in _LINE.finditer(text):
        at = _moment(match[1], match[2])
        if at is None:
            continue
        if match[5]:
            replaced += bool(_REPLACED.match(match[6]))
            continue
        event, words = _event(match[3] or "", match[6])
        if event == "rebuild-begin":
            begun["rebuild"] = _Begun("rebuild", at, replaced or None)
        elif event == "begin":
            begun["scan"] = _Begun(_kind(words), at, replaced or None)
        elif event in ("end", "rebuild-end", "stopped"):
            start = begun.pop("rebuild" if event == "rebuild-end" else "scan", None)
            if start is not None and event != "stopped" and len(found.scans) < MOST_SCANS:
                found.scans += _scan(start, at)
            replaced = 0 if start is not None and start.kind != "scrub" else replaced
    last = max(begun.values(), key=lambda each: each.at, default=None)
    found.begun, found.kind = (last.at, last.kind) if last is not None else (None, None)
    return found


def _moment(day: str, clock: str) -> datetime | None:
    try:
        return datetime.fromisoformat(f"{day} {clock}")
    except ValueError:
        return None


def _event(tag: str, words: str) -> tuple[str, str]:
    """Return what a line tells: begin, end, stopped, rebuild-begin, rebuild-end, or nothing."""
    if tag.startswith("pool scrub"):
        words = f"scan {'done' if 'done' in tag else 'setup'} {words}"
    if words.startswith("scan done") and (
        "complete=0" in words or ("pool" in tag and "complete=1" not in words)
    ):
        return "stopped", words
    event = next((event for begin, event in _BEGINNINGS if words.startswith(begin)), "")
    if words.startswith("rebuild "):
        last = words.split()[-1]
        event = {"started": "rebuild-begin", "reset": "rebuild-begin", "complete": "rebuild-end",
                 "completed": "rebuild-end"}.get(last, "")  # fmt: skip
    return event, words


_BEGINNINGS = (
    ("scan setup", "begin"),
    ("scan done", "end"),
    ("scan cancelled", "stopped"),
    ("scan canceled", "stopped"),
    ("scan aborted", "stopped"),
)


def _kind(words: str) -> ScanKind:
    function, least = _FUNCTION.search(words), _MINTXG.search(words)
    kind: ScanKind = _KINDS.get(function[1], "scrub") if function else "scrub"
    return "heal" if kind == "resilver" and least and int(least[1]) > FILLED_FROM_TXG else kind


def _scan(start: _Begun, end: datetime) -> list[FinishedScan]:
    """Return the scan, unless the clock was set back on the way or it took no time."""
    duration = (end - start.at).total_seconds()
    if duration <= 0:
        return []
    drives = start.drives if start.kind in ("resilver", "rebuild") else None
    return [
        FinishedScan(
            kind=start.kind, duration=duration, resolution=5.0, end=end, drives=drives,
            source="zpool history -i",
        )
    ]  # fmt: skip
