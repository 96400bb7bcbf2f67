"""The compiled reader of the lines of ``zdb -Lbbbbb``; everything it needs is in this file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zsim.base.jit import njit

Bytes = NDArray[np.uint8]

(
    OBJSET, OBJECT, LEVEL, OFFSET, KIND, BIRTH, PSIZE, LSIZE, COPIES,
    VDEV_0, PLACE_0, ASIZE_0, VDEV_1, PLACE_1, ASIZE_1, VDEV_2, PLACE_2, ASIZE_2, COLUMNS,
) = range(19)  # fmt: skip
"""Columns of a row; the sizes and places are in bytes, absent copies have vdev -1."""

METADATA, FILE, VOLUME = 0, 1, 2
OTHER, POINTER, EMPTY, MALFORMED = 0, 1, 2, 3
"""What a line is; EMPTY is a hole or a block embedded in its pointer, which has no address."""

MAX_SIZE = 1 << 40
LARGEST = 1 << 62


def _word(text: bytes) -> Bytes:
    return np.frombuffer(text, dtype=np.uint8).copy()


W_OBJSET, W_OBJECT, W_LEVEL, W_OFFSET = (
    _word(b"objset "),
    _word(b" object "),
    _word(b" level "),
    _word(b" offset 0x"),
)
W_DVA, W_OPEN = _word(b" DVA["), _word(b"]=<")
W_HOLE, W_EMBEDDED, W_REDACTED = _word(b" HOLE "), _word(b" EMBEDDED "), _word(b" REDACTED ")
W_TYPE, W_FILE, W_VOLUME = _word(b" [L"), _word(b" ZFS plain file]"), _word(b" zvol object]")
W_SIZE, W_LOGICAL, W_PHYSICAL, W_BIRTH = _word(b" size="), _word(b"L/"), _word(b"P"), _word(b" birth=")
NEWLINE = 10


@njit
def starts(line: Bytes, at: int, stop: int, word: Bytes) -> bool:
    """Tell whether `word` stands at `at`."""
    if at + len(word) > stop:
        return False
    for k in range(len(word)):  # noqa: SIM110 - numba compiles no generators
        if line[at + k] != word[k]:
            return False
    return True


@njit
def behind(line: Bytes, at: int, stop: int, word: Bytes) -> int:
    """Return the place behind the first `word` from `at` on, or -1."""
    for place in range(at, stop - len(word) + 1):
        if line[place] == word[0] and starts(line, place, stop, word):
            return place + len(word)
    return -1


@njit
def number(line: Bytes, at: int, stop: int, base: int) -> tuple[int, int]:
    """Return a number and the place behind it; (-1, at) where there is none or it is beyond 2**62."""
    value, place = 0, at
    while place < stop:
        # As plain Python eight bits would run over.
        sign = int(line[place])
        if 48 <= sign <= 57:
            digit = sign - 48
        elif base == 16 and 97 <= sign <= 102:
            digit = sign - 87
        elif base == 16 and 65 <= sign <= 70:
            digit = sign - 55
        else:
            break
        if value > (LARGEST - 16) // base:
            return -1, at
        value = value * base + digit
        place += 1
    return (value, place) if place > at else (-1, at)


@njit
def read_place(line: Bytes, at: int, stop: int, row: NDArray[np.int64]) -> int:
    """Read objset, object, level and offset; return the place behind them, or -1."""
    for column in range(4):
        word = W_OBJSET if column == 0 else W_OBJECT if column == 1 else W_LEVEL if column == 2 else W_OFFSET
        if not starts(line, at, stop, word):
            return -1
        at += len(word)
        negative = column == LEVEL and at < stop and line[at] == 45
        value, end = number(line, at + int(negative), stop, 16 if column == OFFSET else 10)
        if value < 0 or (column == LEVEL and value > 16):
            return -1
        row[column] = -value if negative else value
        at = end
    return at


@njit
def read_addresses(line: Bytes, at: int, stop: int, row: NDArray[np.int64]) -> int:
    """Read the DVAs; return the place behind the last, or -1."""
    copies = 0
    while copies < 3 and starts(line, at, stop, W_DVA):
        at += len(W_DVA) + 1
        if not starts(line, at, stop, W_OPEN):
            return -1
        at += len(W_OPEN)
        for part in range(3):
            value, end = number(line, at, stop, 10 if part == 0 else 16)
            closing = 62 if part == 2 else 58
            if value < 0 or end >= stop or line[end] != closing:
                return -1
            row[VDEV_0 + 3 * copies + part] = value
            at = end + 1
        if row[VDEV_0 + 3 * copies] >= 1 << 31 or row[ASIZE_0 + 3 * copies] > MAX_SIZE:
            return -1
        copies += 1
    row[COPIES] = copies
    return at if copies else -1


@njit
def read_sizes(line: Bytes, at: int, stop: int, row: NDArray[np.int64]) -> bool:
    """Read the kind of block, its sizes and its birth."""
    at = behind(line, at, stop, W_TYPE)
    if at < 0:
        return False
    level, at = number(line, at, stop, 10)
    row[KIND] = METADATA
    if level == 0 and starts(line, at, stop, W_FILE):
        row[KIND] = FILE
    elif level == 0 and starts(line, at, stop, W_VOLUME):
        row[KIND] = VOLUME
    at = behind(line, at, stop, W_SIZE)
    if at < 0:
        return False
    row[LSIZE], at = number(line, at, stop, 16)
    if row[LSIZE] < 0 or not starts(line, at, stop, W_LOGICAL):
        return False
    row[PSIZE], at = number(line, at + len(W_LOGICAL), stop, 16)
    if row[PSIZE] < 0 or not starts(line, at, stop, W_PHYSICAL):
        return False
    at = behind(line, at, stop, W_BIRTH)
    if at < 0 or row[PSIZE] > MAX_SIZE or row[LSIZE] > MAX_SIZE:
        return False
    row[BIRTH], at = number(line, at, stop, 10)
    return bool(row[BIRTH] >= 0)


@njit
def read_line(line: Bytes, at: int, stop: int, row: NDArray[np.int64]) -> int:
    """Read one line into `row` and return what it is."""
    at = behind(line, at, stop, W_OBJSET)
    if at < 0:
        return OTHER
    if at >= stop or not 48 <= line[at] <= 57:
        return OTHER
    at = read_place(line, at - len(W_OBJSET), stop, row)
    if at < 0:
        return MALFORMED
    for word in (W_EMBEDDED, W_HOLE, W_REDACTED):
        if starts(line, at, stop, word):
            return EMPTY
    at = read_addresses(line, at, stop, row)
    if at < 0:
        return MALFORMED
    return POINTER if read_sizes(line, at, stop, row) else MALFORMED


@njit
def read_lines(
    text: Bytes, rows: NDArray[np.int64], others: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[int, int, int]:
    """Read all lines of a chunk, which ends with a line feed.

    Parameters
    ----------
    text : ndarray of uint8
    rows : ndarray of int64, shape (as many as there may be, COLUMNS)
        Receives the pointers that have an address.
    others : ndarray of int64, shape (k, 2)
        Receives begin and end of the first k lines that are of another kind.
    counts : ndarray of int64, shape (4,)
        Is increased by the lines of each kind, indexed by OTHER, POINTER, EMPTY and MALFORMED.

    Returns
    -------
    tuple of int
        Rows filled, others noted, and the number of the first malformed line from 0, or -1.
    """
    filled, noted, first_bad, begin, number_of_line = 0, 0, -1, 0, 0
    for place in range(len(text)):
        if text[place] != NEWLINE:
            continue
        row = rows[filled]
        row[VDEV_0:] = 0
        row[VDEV_1] = row[VDEV_2] = -1
        kind = read_line(text, begin, place, row)
        counts[kind] += 1
        if kind == POINTER:
            filled += 1
        elif kind == MALFORMED and first_bad < 0:
            first_bad = number_of_line
        elif kind == OTHER and noted < len(others):
            others[noted, 0], others[noted, 1] = begin, place
            noted += 1
        begin = place + 1
        number_of_line += 1
    return filled, noted, first_bad
