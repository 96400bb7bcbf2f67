"""``zpool events``, with or without ``-v``: when scans began and ended.

The names are those of OpenZFS include/sys/sysevent/eventdefs.h: resilver_start, resilver_finish, scrub_start,
scrub_finish, scrub_abort; a rebuild is a resilver of type "sequential" (vdev_rebuild.c).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from zsim.observe.texts import moment
from zsim.scenario.evidence import FinishedScan, ScanKind

MOST_EVENTS = 200_000
_EVENT = re.compile(
    r"^[ \t]{0,8}([A-Z][a-z]{2} {1,2}\d{1,2} \d{4} \d\d:\d\d:\d\d)(\.\d{1,9})?[ \t]{1,8}"
    r"((?:sysevent|ereport|resource)\.[\w.]{3,80})[ \t]*$",
    re.MULTILINE | re.ASCII,
)
_POOL = re.compile(r'^\s{1,20}pool = "([^"\n]{1,255})"', re.MULTILINE)
_TYPE = re.compile(r'^\s{1,20}resilver_type = "([a-z]{4,20})"', re.MULTILINE)


@dataclass(slots=True)
class PoolEvents:
    """Scans that the events of one pool tell.

    Attributes
    ----------
    name : str
        Of the pool; empty where -v was not given.
    scans : list of FinishedScan
    """

    name: str = ""
    scans: list[FinishedScan] = field(default_factory=list)


def recognises(text: str) -> bool:
    """Tell whether a text holds the output of ``zpool events``."""
    return _EVENT.search(text) is not None


def read(text: str, name: str) -> tuple[PoolEvents, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    del name
    return read_events(text)


def read_events(text: str) -> tuple[PoolEvents, ...]:
    """Read ``zpool events`` of one or more pools, in the order of time or against it (-v, -f)."""
    found: list[tuple[datetime, int, str, str, str]] = []
    matches = [*_EVENT.finditer(text)][:MOST_EVENTS]
    for number, match in enumerate(matches):
        end = matches[number + 1].start() if number + 1 < len(matches) else len(text)
        name = match[3].rsplit(".", 1)[-1]
        at = moment(match[1])
        if at is None or not name.startswith(("resilver_", "scrub_")):
            continue
        body = text[match.end() : min(end, match.end() + 4000)]
        pool, kind = _POOL.search(body), _TYPE.search(body)
        found.append((at, number, pool[1] if pool else "", name, kind[1] if kind else ""))
    pools: dict[str, PoolEvents] = {}
    begun: dict[tuple[str, str], tuple[datetime, ScanKind]] = {}
    for at, _, pool_name, name, kind_name in sorted(found):
        events = pools.setdefault(pool_name, PoolEvents(pool_name))
        function, _, step = name.partition("_")
        key = pool_name, function
        if step == "start":
            begun[key] = at, _kind(function, kind_name)
        elif step == "finish" and key in begun:
            start, kind_begun = begun.pop(key)
            events.scans += _scan(kind_begun, start, at)
        elif step in ("abort", "canceled"):
            begun.pop(key, None)
    return tuple(pools.values())


def _kind(function: str, kind: str) -> ScanKind:
    if function == "scrub":
        return "scrub"
    return "rebuild" if kind == "sequential" else "resilver"


def _scan(kind: ScanKind, start: datetime, end: datetime) -> list[FinishedScan]:
    duration = (end - start).total_seconds()
    if duration <= 0:
        return []
    return [FinishedScan(kind=kind, duration=duration, resolution=1.0, end=end, source="zpool events")]
