"""Ranges of addresses cut into pieces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def cut(begin: Integers, end: Integers, step: int) -> tuple[Integers, Integers]:
    """Return the ranges cut at every multiple of `step` bytes of address."""
    pieces = (end - 1) // step - begin // step + 1
    row = np.repeat(np.arange(len(begin)), pieces)
    number = np.arange(len(row)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    edge = (begin[row] // step + number) * step
    return np.maximum(begin[row], edge), np.minimum(end[row], edge + step)


def in_pieces(begin: Integers, end: Integers, most: int) -> tuple[Integers, Integers]:
    """Return the ranges in pieces of `most` bytes, the last of each shorter."""
    pieces = -(-(end - begin) // most)
    row = np.repeat(np.arange(len(begin)), pieces)
    number = np.arange(len(row)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    start = begin[row] + number * most
    return start, np.minimum(end[row], start + most)
