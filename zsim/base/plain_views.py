"""Stand-ins for compiled array views when kernels run as plain Python: every index is checked.

With NUMBA_DISABLE_JIT=1 `zsim.base.jit` hands out these in place of the views that the compiler makes.
Numbers are Python's own, so that none of them runs over in the 16 or 32 bits in which it is kept.
"""

from __future__ import annotations

import weakref
from bisect import bisect_right
from typing import TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

Value: TypeAlias = "float | np.float32 | Row | Bounded"

# Arrays whose addresses stand in tables, by where they begin; those addresses, rising.
_lent: dict[int, weakref.ref[NDArray[np.generic]]] = {}
_begins: list[int] = []
# Views made since the last array was lent: most are asked for again at once.
_views: dict[tuple[int, DTypeLike], Bounded] = {}


class Row:
    """A record of an array; its fields are attributes."""

    __slots__ = ("_void",)

    _void: np.void

    def __init__(self, record: np.void) -> None:
        object.__setattr__(self, "_void", record)

    def __getattr__(self, name: str) -> Value:
        value = self._void[name]
        return Bounded(value) if value.ndim else value.item()

    def __setattr__(self, name: str, value: float) -> None:
        self._void[name] = value


class Bounded:
    """An array of which only elements that are there can be read and written.

    Parameters
    ----------
    array : ndarray, shape (n,)
    """

    __slots__ = ("array", "size")

    def __init__(self, array: NDArray[np.generic]) -> None:
        self.array, self.size = array, len(array)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, place: int) -> Value:
        self._check(place)
        value = self.array[place]
        if isinstance(value, np.void):
            return Row(value)
        return value if isinstance(value, np.float32) else value.item()

    def __setitem__(self, place: int, value: float | Row) -> None:
        self._check(place)
        self.array[place] = value._void if isinstance(value, Row) else value

    def _check(self, place: int) -> None:
        if not 0 <= place < self.size:
            raise IndexError(f"element {place} of {self.size}")


def lend(array: NDArray[np.generic]) -> int:
    """Return the address of an array, and remember what is there as long as it lives."""
    _views.clear()
    for begin in [begin for begin, held in _lent.items() if held() is None]:
        del _lent[begin]
    address = int(array.ctypes.data)
    _lent[address] = weakref.ref(array)
    _begins[:] = sorted(_lent)
    return address


def _bytes_from(address: int) -> NDArray[np.uint8]:
    """Return all bytes of a lent array from an address on."""
    begin = _begins[max(0, bisect_right(_begins, address) - 1)]
    array = _lent[begin]()
    if array is None or not begin <= address <= begin + array.nbytes:
        raise IndexError(f"no array is at address {address}")
    return array.reshape(-1).view(np.uint8)[address - begin :]


def array_at(dtype: DTypeLike, address: int) -> Bounded:
    """Return the array of `dtype` from an address to the end of what was lent there."""
    key = address, dtype
    if key not in _views:
        rest, size = _bytes_from(address), np.dtype(dtype).itemsize
        _views[key] = Bounded(rest[: len(rest) // size * size].view(dtype))
    return _views[key]


def matrix_at(dtype: DTypeLike, address: int, rows: int, columns: int) -> NDArray[np.generic]:
    """Return the matrix that begins at an address."""
    size = int(rows * columns * np.dtype(dtype).itemsize)
    rest = _bytes_from(address)
    if size > len(rest):
        raise IndexError(f"a matrix of {rows} x {columns} is longer than what is at its address")
    matrix: NDArray[np.generic] = rest[:size].view(dtype).reshape(rows, columns)
    return matrix
