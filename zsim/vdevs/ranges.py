"""Cut ranges of addresses into pieces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zsim.base.jit import njit

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
    count = _count_cut(begin, end, step)
    if count == len(begin):
        return begin, end
    start, stop = np.empty((2, count), np.int64)
    _write_cut(begin, end, step, start, stop)
    return start, stop


@njit
def _count_cut(begin: Integers, end: Integers, step: int) -> int:
    """Return how many pieces ranges are cut into."""
    count = 0
    for row in range(len(begin)):
        count += (end[row] - 1) // step - begin[row] // step + 1
    return count


@njit
def _write_cut(begin: Integers, end: Integers, step: int, start: Integers, stop: Integers) -> None:
    """Write down the pieces."""
    piece = 0
    for row in range(len(begin)):
        low, high = begin[row], end[row]
        edge = (low // step + 1) * step
        while edge < high:
            start[piece], stop[piece] = low, edge
            low = edge
            edge += step
            piece += 1
        start[piece], stop[piece] = low, high
        piece += 1


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
    pieces = -(-(end - begin) // most)
    row, number = _cut_ones(pieces)
    return _replaced(begin, end, pieces, begin[row] + number * most, number)


def _cut_ones(pieces: Integers) -> tuple[Integers, Integers]:
    """Return of each piece of the ranges that are cut which range it is of, and its number in that range."""
    cut_ones = np.flatnonzero(pieces > 1)
    many = pieces[cut_ones]
    row = np.repeat(cut_ones, many)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)


def _replaced(
    begin: Integers, end: Integers, pieces: Integers, edge: Integers, number: Integers
) -> tuple[Integers, Integers]:
    """Return the pieces: of ranges that are cut each begins at its edge, and ends where the next begins.

    Most ranges are whole, and so few of the pieces are written anew.
    """
    if len(edge) == 0:
        return begin, end
    start, stop = np.repeat(begin, pieces), np.repeat(end, pieces)
    places = np.flatnonzero(np.repeat(pieces > 1, pieces))
    inner = number > 0
    start[places[inner]] = edge[inner]
    stop[places[inner] - 1] = edge[inner]
    return start, stop
