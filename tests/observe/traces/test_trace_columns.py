"""Traces read by columns and line by line: the same requests, to the bit, or the lines have the last word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.base.errors import InputError
from zsim.observe.traces import disksim_ascii, fio_iolog, msr_cambridge
from zsim.observe.traces.columns import EXACT, MOST_DIGITS, MOST_NAMES, Lines, split_lines
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


def split(text: bytes, width: int = 4, *, commas: bool = False) -> Lines | None:
    """Return the fields of a text, None where it is not of the plain form."""
    found = np.full((text.count(b"\n") + 1, 1 + 2 * width), -7, np.int64)
    count = split_lines(np.frombuffer(text, np.uint8), commas, width, found)
    return None if count < 0 else Lines(np.frombuffer(text, np.uint8), found[:count])


def fields_of(lines: Lines) -> list[list[str]]:
    """Return the texts of all fields."""
    return [
        [bytes(lines.text[row[1 + 2 * n] : row[2 + 2 * n]]).decode() for n in range(row[0])]
        for row in lines.fields.tolist()
    ]


@given(
    st.lists(
        st.lists(st.sampled_from(["1", "ab", "x.y", "#", "long-er"]), min_size=1, max_size=4), max_size=5
    ),
    st.data(),
    st.booleans(),
)
def test_fields_are_found_whatever_blanks_comments_and_ends_of_lines(rows, data, commas) -> None:
    text, plain = "", [row for row in rows if not row[0].startswith("#")]
    for row in rows:
        blank = "," if commas else data.draw(st.sampled_from([" ", "\t", "  \t"]))
        text += data.draw(st.sampled_from(["", " ", "\t "])) + blank.join(row)
        text += data.draw(st.sampled_from(["", "\r"] if commas else ["", " ", "\r"]))
        text += data.draw(st.sampled_from(["\n", "\n\n", "\n# , more\n", "\n \n"]))
    found = split(text.encode(), commas=commas)
    assert found is not None
    assert fields_of(found) == plain
    # The last line may be without an end.
    last = split(text.rstrip("\r\n \t").encode() or b"\n", commas=commas)
    assert last is not None
    assert fields_of(last)[: len(plain)] == plain


@pytest.mark.parametrize(
    ("text", "commas"),
    [(b"1 2 3 4 5\n", False), (b"1,2,3,4,5\n", True), (b"1,,2\n", True), (b",1\n", True), (b"1\r2\n", False)],
)
def test_too_many_or_empty_fields_and_stray_ends_are_not_plain(text, commas) -> None:
    assert split(b"1 2\n", commas=commas) is not None
    assert split(text, commas=commas) is None


@pytest.mark.parametrize(
    ("text", "base", "value"),
    [
        ("0", 10, 0), ("0123456789", 10, 123456789), ("9" * MOST_DIGITS, 10, int("9" * MOST_DIGITS)),
        ("9" * (MOST_DIGITS + 1), 10, None), ("1f", 10, None), ("-1", 10, None), ("1.0", 10, None),
        ("1:", 10, None),
        ("1/", 10, None), ("0123456789abcdef"[1:], 16, 0x123456789ABCDEF), ("ABCDEF", 16, 0xABCDEF),
        ("0123456789abcdef", 16, None), ("g", 16, None), ("G", 16, None), ("@", 16, None), ("`", 16, None),
    ],
)  # fmt: skip
def test_whole_numbers_are_read_if_they_fit_in_any_way(text, base, value) -> None:
    lines = split(f"7 {text}\n7 5\n".encode())
    found = lines.integers(1, base)
    assert found is None if value is None else found.tolist() == [value, 5]
    assert split(f"7 {text}\n7\n".encode()).integers(1, base) is None


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("0", True), ("12.5", True), ("0.1", True), ("123456.789012", True),
        ("0000.000001", True), ("1.", False),
        (".5", False), ("1.2.3", False), ("1e3", False), ("-1.0", False), ("1.a", False),
        (str(EXACT - 1), True),
        (str(EXACT), False), ("0.12345678901234567", False),
        ("1." + "0" * 14, True), ("1." + "0" * 17, False),
    ],
)  # fmt: skip
def test_decimals_are_those_of_float_or_left_to_it(text, exact) -> None:
    lines = split(f"x {text}\nx 2.5\n".encode())
    found = lines.decimals(1)
    assert found is None if not exact else found.tolist() == [float(text), 2.5]
    assert split(f"x {text}\nx\n".encode()).decimals(1) is None


def test_names_are_numbered_as_they_appear_and_so_many_at_most() -> None:
    lines = split(b"a b 1\na c 1\na b 2\nab b 1\na  b 1\n")
    number, names = lines.names(0, 1)
    # What stands between the columns belongs to the name.
    assert names == ["a b", "a c", "ab b", "a  b"]
    assert number.tolist() == [0, 1, 0, 2, 3]
    assert lines.names(2, 2)[1] == ["1", "2"]
    assert lines.names(2, 3) is None
    assert lines.take(np.array([1, 3])).names(0, 0)[1] == ["a", "ab"]
    most = "".join(f"d{number}\n" for number in range(MOST_NAMES))
    assert len(split(most.encode()).names(0, 0)[1]) == MOST_NAMES
    assert split(f"{most}one more\n".encode()).names(0, 0) is None
    assert split(b"\xff\n").names(0, 0) is None


@pytest.mark.parametrize(
    ("flags", "is_write"), [("0", True), ("1", False), ("10", True), ("1f", False), ("A", True)]
)
def test_flags_of_disksim_are_hexadecimal_and_their_first_bit_is_a_read(flags, is_write, tmp_path) -> None:
    (tmp_path / "trace").write_text(f"0.5 0 8 16 {flags}\n")
    for read in (disksim_ascii.read, lambda path: by_lines(disksim_ascii, path)):
        trace = read(tmp_path / "trace")
        assert trace.is_write.tolist() == [is_write]
        assert (trace.offset.tolist(), trace.length.tolist()) == ([4096], [8192])
