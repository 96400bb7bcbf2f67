"""fio's iolog, versions 2 and 3 (``write_iolog=``; fio iolog.c: read_iolog, log_io_u).

Version 2 tells no times but ``wait``, whose number is microseconds since the wait before it (fio HOWTO,
"Trace file format v2"); version 3 begins every line with microseconds since the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from zsim.base.errors import InputError
from zsim.observe.traces.columns import Columns, Lines, read_columns
from zsim.observe.traces.trace import Request, Trace, bad_line, lines_of, trace_of

HEADER = "fio version {} iolog"
FORMS = {2: "file action [offset length]", 3: "microseconds file action [offset length]"}
MOVING = frozenset({"read", "write"})
WIDTH = 5
PASSED_OVER = frozenset({"add", "open", "close", "unlink", "sync", "datasync", "sync_file_range", "trim"})


def recognises(first_line: str) -> bool:
    """Tell whether a file that begins with this line is in the format."""
    return first_line in (HEADER.format(2), HEADER.format(3))


def read(path: Path) -> Trace:
    """Read a trace; see `zsim.observe.traces.reading.read_trace` for the errors."""
    lines = lines_of(path)
    _, header = next(lines, (0, ""))
    if not recognises(header):
        raise InputError(
            path.name, header, "a fio log begins with: fio version 2 iolog, or 3", "check the format"
        )
    if header == HEADER.format(3):
        found = read_columns(path, WIDTH, _columns)
        return trace_of(_timed(path, lines), path.name) if found is None else found
    waited: list[int] = []
    requests = list(_untimed(path, lines, waited))
    return trace_of(requests, path.name, timed=bool(waited))


def _columns(lines: Lines) -> Columns | None:
    lines = lines.take(slice(1, None))  # the header
    actions = lines.names(2, 2)
    if not len(lines) or actions is None or not PASSED_OVER.union(MOVING).issuperset(actions[1]):
        return None
    moves = np.array([action in MOVING for action in actions[1]])[actions[0]]
    is_write = np.array([action == "write" for action in actions[1]])[actions[0][moves]]
    lines = lines.take(moves)
    if not len(lines) or (lines.fields[:, 0] != WIDTH).any():
        return None
    arrival, files, offset, length = (
        lines.integers(0), lines.names(1, 1), lines.integers(3), lines.integers(4)
    )  # fmt: skip
    if arrival is None or files is None or offset is None or length is None:
        return None
    return Columns(np.multiply(arrival, 1e-6, dtype=np.float64), *files, is_write, offset, length)


def _timed(path: Path, lines: Iterator[tuple[int, str]]) -> Iterator[Request]:
    for number, text in lines:
        try:
            microseconds, file, action, *extent = text.split()
            if action in PASSED_OVER:
                continue
            yield _request(int(microseconds) * 1e-6, file, action, extent)
        except ValueError as error:
            raise bad_line(path, number, text, FORMS[3]) from error


def _untimed(path: Path, lines: Iterator[tuple[int, str]], waited: list[int]) -> Iterator[Request]:
    """Yield the requests of version 2; every wait is added to `waited` [us]."""
    now = 0
    for number, text in lines:
        try:
            file, action, *extent = text.split()
            if action in PASSED_OVER:
                continue
            if action == "wait":
                now += int(extent[0])
                waited.append(now)
                continue
            yield _request(now * 1e-6, file, action, extent)
        except (ValueError, IndexError) as error:
            raise bad_line(path, number, text, FORMS[2]) from error


def _request(arrival: float, file: str, action: str, extent: list[str]) -> Request:
    if action not in ("read", "write"):
        raise ValueError(action)
    offset, length = extent
    return Request(arrival, file, action == "write", int(offset), int(length))


def text_of(trace: Trace, version: int = 3) -> str:
    """Return a trace in version 2 or 3 of this format; times are rounded to microseconds."""
    lines = [HEADER.format(version) + "\n"]
    now = 0
    for each in trace.requests():
        action = f"{each.device} {'write' if each.is_write else 'read'} {each.offset} {each.length}\n"
        microseconds = round(each.arrival * 1e6)
        if version == 3:
            lines.append(f"{microseconds} {action}")
            continue
        if microseconds > now:
            lines.append(f"{each.device} wait {microseconds - now} 0\n")
            now = microseconds
        lines.append(action)
    return "".join(lines)
