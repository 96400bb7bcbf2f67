"""DiskSim ASCII traces: ``arrival[ms] device block blocks flags``; flags in hexadecimal, bit 0 for a read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from zsim.observe.traces.trace import SECTOR, Request, Trace, bad_line, lines_of, trace_of

FORM = "arrival in ms, device, first block of 512 bytes, blocks, flags"
READ_BIT = 1


def recognises(first_line: str) -> bool:
    """Tell whether a file that begins with this line is in the format."""
    parts = first_line.split()
    return len(parts) == 5 and parts[0].replace(".", "", 1).isdigit() and all(p.isalnum() for p in parts[1:])


def read(path: Path) -> Trace:
    """Read a trace; see `zsim.observe.traces.reading.read_trace` for the errors."""
    return trace_of(_requests(path), path.name)


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
