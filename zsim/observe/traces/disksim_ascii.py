"""DiskSim ASCII traces: ``arrival[ms] device block blocks flags``; flags in hexadecimal, bit 0 for a read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from zsim.drives.derived import MAX_OFFSET
from zsim.observe.traces.columns import Columns, Lines, read_columns
from zsim.observe.traces.trace import SECTOR, Request, Trace, bad_line, lines_of, trace_of

FORM = "arrival in ms, device, first block of 512 bytes, blocks, flags"
READ_BIT = 1
WIDTH = 5


def recognises(first_line: str) -> bool:
    """Tell whether a file that begins with this line is in the format."""
    parts = first_line.split()
    return len(parts) == 5 and parts[0].replace(".", "", 1).isdigit() and all(p.isalnum() for p in parts[1:])


def read(path: Path) -> Trace:
    """Read a trace; see `zsim.observe.traces.reading.read_trace` for the errors."""
    found = read_columns(path, WIDTH, _columns)
    return trace_of(_requests(path), path.name) if found is None else found


def _columns(lines: Lines) -> Columns | None:
    arrival, names, block = lines.decimals(0), lines.names(1, 1), lines.integers(2)
    blocks, flags = lines.integers(3), lines.integers(4, base=16)
    if arrival is None or names is None or block is None or blocks is None or flags is None:
        return None
    if (lines.fields[:, 0] != WIDTH).any() or max(block.max(), blocks.max()) > MAX_OFFSET // SECTOR:
        return None
    return Columns(arrival * 1e-3, *names, flags & READ_BIT == 0, block * SECTOR, blocks * SECTOR)


def _requests(path: Path) -> Iterator[Request]:
    for number, text in lines_of(path):
        try:
            arrival, device, block, blocks, flags = text.split()
            is_write = not int(flags, 16) & READ_BIT
            yield Request(float(arrival) * 1e-3, device, is_write, int(block) * SECTOR, int(blocks) * SECTOR)
        except ValueError as error:
            raise bad_line(path, number, text, FORM) from error


def text_of(trace: Trace) -> str:
    """Return a trace in this format; offsets and lengths must be multiples of 512 bytes."""
    lines = []
    for each in trace.requests():
        flags = 0 if each.is_write else READ_BIT
        extent = f"{each.offset // SECTOR} {each.length // SECTOR}"
        lines.append(f"{each.arrival * 1e3:.6f} {each.device} {extent} {flags:x}\n")
    return "".join(lines)
