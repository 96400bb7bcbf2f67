"""CSV of the MSR Cambridge traces (Narayanan et al., FAST 2008).

``Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime``: times in Windows file time (100 ns), offset
and size in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from zsim.observe.traces.columns import Columns, Lines, read_columns
from zsim.observe.traces.trace import Request, Trace, bad_line, lines_of, trace_of

FORM = "timestamp,host,disk,Read or Write,offset,size,response time"
TICKS = 10_000_000
WIDTH = 7
KINDS = {"read": False, "write": True}


def recognises(first_line: str) -> bool:
    """Tell whether a file that begins with this line is in the format."""
    parts = first_line.split(",")
    return len(parts) == 7 and (parts[3].strip().lower() in KINDS or parts[0].lower() == "timestamp")


def read(path: Path) -> Trace:
    """Read a trace; see `zsim.observe.traces.reading.read_trace` for the errors."""
    found = read_columns(path, WIDTH, _columns, commas=True)
    return trace_of(_requests(path), path.name) if found is None else found


def _columns(lines: Lines) -> Columns | None:
    first = lines.take(slice(0, 1)).names(0, 0)
    if first is not None and first[1][0].lower() == "timestamp":
        lines = lines.take(slice(1, None))
    if not len(lines) or (lines.fields[:, 0] != WIDTH).any():
        return None
    ticks, devices, kinds = lines.integers(0), lines.names(1, 2), lines.names(3, 3)
    offset, size = lines.integers(4), lines.integers(5)
    if ticks is None or devices is None or kinds is None or offset is None or size is None:
        return None
    number, names = devices
    split = [name.split(",") for name in names]
    if not all(disk.isdecimal() and disk == str(int(disk)) for _, disk in split):
        return None
    if not all(kind.lower() in KINDS for kind in kinds[1]):
        return None
    is_write = np.array([KINDS[kind.lower()] for kind in kinds[1]])[kinds[0]]
    arrival = (ticks - ticks[0]) / TICKS
    return Columns(arrival, number, [f"{host}.{disk}" for host, disk in split], is_write, offset, size)


def _requests(path: Path) -> Iterator[Request]:
    first: int | None = None
    for number, text in lines_of(path):
        if number == 1 and text.lower().startswith("timestamp,"):
            continue
        try:
            ticks, host, disk, kind, offset, size, _ = text.split(",")
            # Subtracted as integers: a file time has more digits than a float keeps.
            first = int(ticks) if first is None else first
            arrival = (int(ticks) - first) / TICKS
            device = f"{host}.{int(disk)}"
            yield Request(arrival, device, KINDS[kind.strip().lower()], int(offset), int(size))
        except (ValueError, KeyError) as error:
            raise bad_line(path, number, text, FORM) from error


def text_of(trace: Trace, start: int = 128_166_372_000_000_000) -> str:
    """Return a trace in this format; devices are named ``host.disk``, times are rounded to 100 ns."""
    lines = []
    for each in trace.requests():
        host, _, disk = each.device.rpartition(".")
        kind = "Write" if each.is_write else "Read"
        ticks = start + round(each.arrival * TICKS)
        lines.append(f"{ticks},{host},{disk},{kind},{each.offset},{each.length},0\n")
    return "".join(lines)
