"""Text of ``blkparse`` in its default form: ``8,0 3 1 0.000000 697 D W 223490 + 8 [process]``.

Of the events of a request the one that hands it to the driver (D) is taken, or where there is none the
one that queues it (Q).  Discards, flushes without data and the summary at the end are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from zsim.observe.traces.trace import SECTOR, Request, Trace, bad_line, lines_of, trace_of

FORM = "8,0 cpu sequence time pid action RWBS sector + sectors [process]"
_EVENT = re.compile(
    r"(?P<device>\d+,\d+)\s+\d+\s+\d+\s+(?P<time>\d+\.\d+)\s+\d+\s+(?P<action>[A-Z]+)\s+(?P<rwbs>[A-Z]+)"
    r"(?:\s+(?P<sector>\d+)\s+\+\s+(?P<sectors>\d+))?"
)
_LOOKS_LIKE_AN_EVENT = re.compile(r"\d+,\d+\s")
DISPATCHED, QUEUED = "D", "Q"


def recognises(first_line: str) -> bool:
    """Tell whether a file that begins with this line is in the format."""
    return _EVENT.match(first_line) is not None


def read(path: Path) -> Trace:
    """Read a trace; see `zsim.observe.traces.reading.read_trace` for the errors."""
    events = list(_events(path))
    actions = {action for action, _ in events}
    wanted = DISPATCHED if DISPATCHED in actions else QUEUED
    return trace_of((request for action, request in events if action == wanted), path.name)


def _events(path: Path) -> Iterator[tuple[str, Request]]:
    for number, text in lines_of(path):
        match = _EVENT.match(text)
        if match is None:
            if _LOOKS_LIKE_AN_EVENT.match(text):
                raise bad_line(path, number, text, FORM)
            continue
        rwbs, sectors = match["rwbs"], match["sectors"]
        if match["action"] not in (DISPATCHED, QUEUED) or not sectors or not int(sectors) or "D" in rwbs:
            continue
        if "R" not in rwbs and "W" not in rwbs:
            continue
        extent = int(match["sector"]) * SECTOR, int(sectors) * SECTOR
        yield match["action"], Request(float(match["time"]), match["device"], "W" in rwbs, *extent)


def text_of(trace: Trace) -> str:
    """Return a trace in this format, one D event a request; devices are named ``major,minor``."""
    lines = []
    for number, each in enumerate(trace.requests(), start=1):
        extent = f"{each.offset // SECTOR} + {each.length // SECTOR}"
        what = "W" if each.is_write else "R"
        lines.append(f"{each.device:>6} 0 {number:8d} {each.arrival:14.9f} 1 D {what:>3} {extent} [zsim]\n")
    return "".join(lines)
