"""Traces read by columns and line by line: the same requests, to the bit, or the lines have the last word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.base.errors import InputError
from zsim.observe.traces import disksim_ascii, fio_iolog, msr_cambridge
from zsim.observe.traces.trace import Trace, lines_of, trace_of

# Most are as tools print them; some only the reader of lines understands, or nobody.
NUMBERS = st.one_of(
    st.integers(0, 10**12).map(str),
    st.sampled_from(["007", "+5", "-1", "1_0", "9" * 19, "1" * 25, "x", "0x1f"]),
)
TIMES = st.one_of(
    st.floats(0.0, 1e9).map(lambda time: f"{time:.6f}"),
    st.integers(0, 10**9).map(str),
    st.sampled_from(["1e3", ".5", "5.", "0.1234567890123456789", "inf", "1.2.3"]),
)
BLANKS = st.sampled_from([" ", "\t", "   "])
LENGTHS = st.one_of(st.integers(1, 4096).map(str), NUMBERS)
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", "\n# a comment\n", "\n\n"])
FLAGS = st.sampled_from(["0", "1", "F", "1f"])
DISKSIM = st.tuples(TIMES, st.sampled_from(["0", "1", "a"]), NUMBERS, LENGTHS, FLAGS)
MSR = st.tuples(
    NUMBERS, st.sampled_from(["usr", " web"]), st.sampled_from(["0", "1", "01"]),
    st.sampled_from(["Read", "Write", "read", " Read"]), NUMBERS, LENGTHS, st.just("17"),
)  # fmt: skip
FIO = st.one_of(
    st.tuples(NUMBERS, st.just("/dev/sda"), st.sampled_from(["read", "write", "trim"]), NUMBERS, LENGTHS),
    st.tuples(NUMBERS, st.just("/dev/sda"), st.sampled_from(["open", "close", "sync", "wait"])),
)


def by_lines(module, path: Path) -> Trace:
    if module is fio_iolog:
        lines = lines_of(path)
        next(lines)
        return trace_of(fio_iolog._timed(path, lines), path.name)
    return trace_of(module._requests(path), path.name)


def told(read, *arguments):
    """Return what a reader finds, or how it refuses."""
    try:
        found = read(*arguments)
    except (InputError, OverflowError) as error:
        return type(error), str(error)
    columns = (found.arrival, found.offset, found.length, found.is_write, found.device)
    return *(column.tobytes() for column in columns), found.devices


@pytest.mark.parametrize(
    ("module", "rows", "separators", "head"),
    [
        (disksim_ascii, DISKSIM, BLANKS, ""),
        (msr_cambridge, MSR, st.just(","), ""),
        (msr_cambridge, MSR, st.just(","), "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"),
        (fio_iolog, FIO, BLANKS, "fio version 3 iolog\n"),
    ],
)
@given(data=st.data())
def test_columns_say_what_lines_say(module, rows, separators, head, data, tmp_path_factory) -> None:
    lines = data.draw(st.lists(rows, max_size=6))
    text = "".join(data.draw(separators).join(line) + data.draw(ENDS) for line in lines)
    path = tmp_path_factory.mktemp("columns") / "trace"
    path.write_bytes((head + text).encode())
    assert told(module.read, path) == told(by_lines, module, path)


def test_plain_lines_are_read_by_columns(tmp_path, monkeypatch) -> None:
    rows = np.arange(1000, dtype=np.int64)
    trace = Trace(rows * 1e-3, rows * 4096, np.full(1000, 512), rows % 3 == 0, rows % 2, ("usr.0", "web.1"))
    for module in (disksim_ascii, msr_cambridge):
        (tmp_path / "trace").write_text(module.text_of(trace))
        monkeypatch.setattr(module, "_requests", None)
        assert np.array_equal(module.read(tmp_path / "trace").offset, trace.offset)
    (tmp_path / "trace").write_text(fio_iolog.text_of(trace))
    monkeypatch.setattr(fio_iolog, "_timed", None)
    assert np.array_equal(fio_iolog.read(tmp_path / "trace").offset, trace.offset)
