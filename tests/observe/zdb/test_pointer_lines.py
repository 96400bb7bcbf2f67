"""Lines of ``zdb -Lbbbbb`` as the compiled reader takes them, and as regular expressions do."""

from __future__ import annotations

import re
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.observe.zdb.pointer_kernel import (
    COLUMNS,
    EMPTY,
    FILE,
    LARGEST,
    MALFORMED,
    MAX_SIZE,
    METADATA,
    OTHER,
    POINTER,
    VOLUME,
    read_line,
    read_lines,
)

PLACE = re.compile(rb"(\d+) object (\d+) level (-?)(\d+) offset 0x([0-9a-fA-F]+)")
DVA = re.compile(rb" DVA\[.\]=<(\d+):([0-9a-fA-F]+):([0-9a-fA-F]+)>", re.DOTALL)
SIZES = re.compile(rb" \[L(\d*)(.*?) size=([0-9a-fA-F]+)L/([0-9a-fA-F]+)P(.*)", re.DOTALL)
BIRTH = re.compile(rb" birth=(\d+)")
KINDS = {b" ZFS plain file]": FILE, b" zvol object]": VOLUME}


def told(line: bytes) -> tuple[int, list[int]]:  # noqa: PLR0911 - one return a flaw
    """Return what a line is, and the row of a pointer, by the format alone."""
    begin = line.find(b"objset ") + 7
    if begin < 7 or not line[begin : begin + 1].isdigit():
        return OTHER, []
    match = PLACE.match(line, begin)
    if match is None:
        return MALFORMED, []
    objset, number, sign, level, offset = match.groups()
    place = [int(objset), int(number), int(level), int(offset, 16)]
    if max(place) > LARGEST - 16 or place[2] > 16:
        return MALFORMED, []
    place[2] *= -1 if sign else 1
    rest = line[match.end() :]
    if rest.startswith((b" EMBEDDED ", b" HOLE ", b" REDACTED ")):
        return EMPTY, []
    copies: list[list[int]] = []
    while len(copies) < 3 and rest.startswith(b" DVA["):
        found = DVA.match(rest)
        if found is None:
            return MALFORMED, []
        copies.append([int(found[1]), int(found[2], 16), int(found[3], 16)])
        rest = rest[found.end() :]
        if copies[-1][0] >= 1 << 31 or copies[-1][1] > LARGEST - 16 or copies[-1][2] > MAX_SIZE:
            return MALFORMED, []
    sizes = SIZES.search(rest)
    if not copies or sizes is None:
        return MALFORMED, []
    kind = KINDS.get(next((word for word in KINDS if sizes[2].startswith(word)), b""), METADATA)
    birth = BIRTH.search(sizes[5])
    lsize, psize = int(sizes[3], 16), int(sizes[4], 16)
    if birth is None or max(lsize, psize) > MAX_SIZE or int(birth[1]) > LARGEST - 16:
        return MALFORMED, []
    if not sizes[1] or int(sizes[1]):
        kind = METADATA
    absent = [[0, 0, 0], [-1, 0, 0], [-1, 0, 0]][len(copies) :]
    return POINTER, [*place, kind, int(birth[1]), psize, lsize, len(copies), *chain(*copies, *absent)]


NUMBERS = st.one_of(
    st.integers(0, 40), st.sampled_from([16, 17, MAX_SIZE, MAX_SIZE + 1, 1 << 31, (1 << 31) - 1, 1 << 70])
)
TYPES = st.sampled_from(
    ["L0 ZFS plain file", "L0 zvol object", "L1 ZFS plain file", "L0 DMU dnode", "L ZFS plain file"]
)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """Return a line as zdb prints it, with numbers at their limits, and now and then a damage."""
    numbers = st.integers(0, 40) if draw(st.booleans()) else NUMBERS
    head = draw(st.sampled_from(["", "", "1.2T completed ", "objset x ", "\t"]))
    level = draw(st.sampled_from(["0", "1", "-1", "-2", "16", "17"]))
    line = f"{head}objset {draw(numbers)} object {draw(numbers)} level {level} offset 0x{draw(numbers):x}"
    line += draw(st.sampled_from(["", "", "", "", "", " HOLE ", " EMBEDDED ", " REDACTED ", " HOLE"]))
    for copy in range(draw(st.integers(0, 4))):
        line += f" DVA[{copy}]=<{draw(numbers)}:{draw(numbers):x}:{draw(numbers):X}>"
    line += f" [{draw(TYPES)}] fletcher4 lz4 size={draw(numbers):x}L/{draw(numbers):x}P"
    line += f" birth={draw(numbers)}L/4000P fill=1 cksum=1:2:3:4"
    if draw(st.integers(0, 3)) == 0:
        place = draw(st.integers(0, len(line) - 1))
        line = line[:place] + draw(st.sampled_from(["", " ", "x", "9", ":", "<"])) + line[place + 1 :]
    return line.encode()


def read(line: bytes, padding: int = 0) -> tuple[int, list[int]]:
    """Return what the reader makes of a line, between others that are not to be looked at."""
    text = np.frombuffer(b"9" * padding + line + b"9 birth=1L", np.uint8)
    row = np.zeros(COLUMNS, np.int64)
    row[[12, 15]] = -1
    kind = read_line(text, padding, padding + len(line), row)
    return kind, row.tolist() if kind == POINTER else []


@given(lines(), st.integers(0, 3))
def test_a_line_is_what_the_format_says(line: bytes, padding: int) -> None:
    assert read(line, padding) == told(line)


GOOD = (
    b"objset 54 object 2 level 0 offset 0x20000 DVA[0]=<0:a0000:30000> [L0 ZFS plain file] fletcher4"
    b" size=20000L/10000P birth=4000L/4000P fill=1"
)


@pytest.mark.parametrize("instead", [b"", b"x", b"0", b" "])
def test_a_line_with_one_sign_lost_or_changed_is_what_the_format_says(instead: bytes) -> None:
    damaged = [GOOD[:place] + instead + GOOD[place + 1 :] for place in range(len(GOOD))]
    damaged += [GOOD.replace(b"10000P", b"P"), GOOD.replace(b"20000L", b"L"), GOOD.replace(b"0x20000", b"0x")]
    for line in damaged:
        assert read(line) == told(line), line


@pytest.mark.parametrize("end", range(len(GOOD) + 1))
def test_a_line_that_is_cut_off_is_no_pointer_before_its_birth(end: int) -> None:
    assert read(GOOD[:end]) == told(GOOD[:end])
    assert (read(GOOD[:end])[0] == POINTER) == (end > GOOD.index(b"birth=") + 6)


@pytest.mark.parametrize("room", [0, 2, 5])
def test_lines_are_counted_by_what_they_are_and_the_first_bad_one_told(room: int) -> None:
    bad, hole = GOOD.replace(b"size", b"syze"), GOOD[:41] + b" HOLE [L0"
    chunk = [
        b"Traversing all blocks",
        GOOD,
        hole,
        b"",
        GOOD.replace(b" 2 ", b" 3 "),
        bad,
        bad,
        b"bp count: 2",
    ]
    text = np.frombuffer(b"\n".join(chunk) + b"\n", np.uint8)
    rows, others, counts = (
        np.zeros((9, COLUMNS), np.int64),
        np.zeros((room, 2), np.int64),
        np.zeros(4, np.int64),
    )
    rows[:] = 99
    filled, noted, first_bad = read_lines(text, rows, others, counts)
    assert (filled, first_bad) == (2, 5)
    assert counts[[OTHER, POINTER, EMPTY, MALFORMED]].tolist() == [3, 2, 1, 2]
    assert rows[:filled, 1].tolist() == [2, 3]
    # Copies that are not there.
    assert rows[:filled, [12, 15]].tolist() == [[-1, -1]] * 2
    assert noted == min(room, 3)
    said = [bytes(text[begin:end]) for begin, end in others[:noted]]
    assert said == [b"Traversing all blocks", b"", b"bp count: 2"][:room]
