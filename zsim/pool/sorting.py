"""Sort integers in place, in compiled code."""

from __future__ import annotations

import numpy as np

from zsim.base.arrays import I64
from zsim.base.jit import njit

FEW = 16
"""So few are sorted by insertion."""
MOST_WAITING = 64
"""Parts that wait to be sorted: fewer than the logarithm of their number to the base of 2."""


@njit
def sort_in_place(values: I64) -> None:
    """Sort integers (quicksort, the shorter part first).

    Parameters
    ----------
    values : ndarray of int64, written to
    """
    waiting = np.empty(2 * MOST_WAITING, dtype=np.int64)
    count = 0
    low, high = 0, len(values) - 1
    while True:
        while high - low >= FEW:
            left, right = _parted(values, low, high)
            if right - low < high - left:
                waiting[count], waiting[count + 1] = left, high
                high = right
            else:
                waiting[count], waiting[count + 1] = low, right
                low = left
            count += 2
        _insert_all(values, low, high)
        if count == 0:
            return
        count -= 2
        low, high = waiting[count], waiting[count + 1]


@njit
def _parted(values: I64, low: int, high: int) -> tuple[int, int]:
    """Part ``values[low:high + 1]`` by size; return where the upper part begins and the lower ends."""
    middle = values[(low + high) >> 1]
    pivot = max(min(values[low], middle), min(max(values[low], middle), values[high]))
    left, right = low, high
    while left <= right:
        while values[left] < pivot:
            left += 1
        while values[right] > pivot:
            right -= 1
        if left <= right:
            values[left], values[right] = values[right], values[left]
            left += 1
            right -= 1
    return left, right


@njit
def _insert_all(values: I64, low: int, high: int) -> None:
    for place in range(low + 1, high + 1):
        value, at = values[place], place
        while at > low and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
