"""Ranges of addresses cut into pieces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def cut(begin: Integers, end: Integers, step: int) -> tuple[Integers, Integers]:
    """Return ranges cut at every multiple of a step of addresses.

    Parameters
    ----------
    begin, end : ndarray of int64, shape (ranges,)
        [bytes], each range not empty.
    step : int
        [bytes]

    Returns
    -------
    begin, end : ndarray of int64, shape (pieces,)
        [bytes], in the order of the ranges.
    """
    row, number = _numbered((end - 1) // step - begin // step + 1)
    edge = (begin[row] // step + number) * step
    return np.maximum(begin[row], edge), np.minimum(end[row], edge + step)


def in_pieces(begin: Integers, end: Integers, most: int) -> tuple[Integers, Integers]:
    """Return ranges cut into pieces.

    Parameters
    ----------
    begin, end : ndarray of int64, shape (ranges,)
        As `cut` takes them [bytes].
    most : int
        Length of a piece [bytes]; the last of a range is what is left.

    Returns
    -------
    begin, end : ndarray of int64, shape (pieces,)
        Of the pieces, in the order of the ranges [bytes].
    """
    row, number = _numbered(-(-(end - begin) // most))
    start = begin[row] + number * most
    return start, np.minimum(end[row], start + most)


def _numbered(pieces: Integers) -> tuple[Integers, Integers]:
    """Return of each piece which range it is of, and its number in that range."""
    row = np.repeat(np.arange(len(pieces)), pieces)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
