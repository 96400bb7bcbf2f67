"""Types of arrays and of the records in them, declared once; arrays larger than what is written to them."""

from __future__ import annotations

import contextlib
import mmap
import platform
import sys
from collections.abc import Callable
from typing import Annotated, Protocol, TypeVar, cast, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from zsim.base import jit
from zsim.base.plain_views import Bounded

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I16 = NDArray[np.int16]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
Column = NDArray[np.generic]
"""An array of any type of element."""
Rows = NDArray[np.void]
"""An array of records, as numpy sees it: a column by its name."""
Table = NDArray[np.int64]
"""Addresses and sizes of arrays, the one argument of a large kernel."""

Int16 = Annotated[int, "i2"]
Int32 = Annotated[int, "i4"]
Int64 = Annotated[int, "i8"]
UInt64 = Annotated[np.uint64, "u8"]
Float64 = Annotated[float, "f8"]
PLAIN = {int: "i8", bool: "i8", float: "f8"}
"""How numbers without a stated width are kept."""

_MACHINES = ("x86_64", "aarch64", "riscv64", "s390x")
LARGE_TABLE = 32 << 20
"""From this size on a table is mapped by itself [bytes]."""
_LINUX_NO_RESERVE = 0x4000 if sys.platform == "linux" and platform.machine() in _MACHINES else 0
NO_RESERVE: int = getattr(mmap, "MAP_NORESERVE", _LINUX_NO_RESERVE)
"""Python names the flag from 3.13 on; without it Linux refuses a table larger than all memory, however little
of it is written (mmap(2), vm.overcommit_memory 0)."""
LARGE_ZEROS = 1 << 20
"""From this size on zeros are: to ask the system for pages takes as long as to write so many."""

R = TypeVar("R")
S = TypeVar("S", bound=np.generic)


class Records(Protocol[R]):
    """An array of records as a kernel sees it: a record by its place, its fields as attributes."""

    def __getitem__(self, place: int, /) -> R:
        """Return the record at a place; to change its fields changes the array."""

    def __setitem__(self, place: int, record: R, /) -> None:
        """Copy a record to a place."""

    def __len__(self) -> int:
        """Return how many there are."""


def undivided(records: Rows) -> Rows:
    """Return records as pieces of so many bytes, which numpy copies several times as fast."""
    return records.view(f"V{records.dtype.itemsize}")


def dtype_of(record: type, *, align: bool = False) -> np.dtype[np.void]:
    """Return how a record lies in memory: its numbers by name, in the order in which they are declared.

    Parameters
    ----------
    record : type
        A class whose annotations are `Int64`, `Float64` and the like; of plain ``int``, ``bool`` and
        ``float`` 64 bits are kept, and what is none of these is left out.
    align : bool
        Whether the record is marked as aligned for the compiler.
    """
    hints = get_type_hints(record, include_extras=True)
    codes = ((name, PLAIN.get(hint) or _code(hint)) for name, hint in hints.items())
    return np.dtype([(name, code) for name, code in codes if code is not None], align=align)


def _code(hint: object) -> str | None:
    """Return what stands beside an annotated type, if that says how it is kept."""
    extras = [each for each in get_args(hint)[1:] if isinstance(each, str)]
    return extras[0] if extras else None


def records_in(record: type[R], entry: int, *, align: bool = False) -> Callable[[Table], Records[R]]:
    """Return a compiled function from a table to the array of records whose address stands at `entry`."""
    return cast("Callable[[Table], Records[R]]", jit.array_in(dtype_of(record, align=align), entry))


def records_at(record: type[R]) -> Callable[[int], Records[R]]:
    """Return a compiled function from an address to the array of records that begins there."""
    return cast("Callable[[int], Records[R]]", jit.array_at(dtype_of(record)))


def array_in(element: type[S], entry: int) -> Callable[[Table], NDArray[S]]:
    """Return a compiled function from a table to the array of numbers whose address stands at `entry`."""
    return cast("Callable[[Table], NDArray[S]]", jit.array_in(np.dtype(element), entry))


def array_at(element: type[S]) -> Callable[[int], NDArray[S]]:
    """Return a compiled function from an address to the array of numbers that begins there.

    The array has no length of its own and keeps nothing alive.
    """
    return cast("Callable[[int], NDArray[S]]", jit.array_at(np.dtype(element)))


def matrix_at(element: type[S]) -> Callable[[int, int, int], NDArray[S]]:
    """Return a compiled function from an address, rows and columns to the matrix that begins there."""
    return cast("Callable[[int, int, int], NDArray[S]]", jit.matrix_at(np.dtype(element)))


def checked(array: Rows, record: type[R]) -> Records[R]:
    """Return an array of records as a kernel takes it: as it is, or for plain Python with bounds checked."""
    seen = array if jit.IS_COMPILING else Bounded(array)
    return cast("Records[R]", seen)


def sparse_table(rows: int, columns: int) -> NDArray[np.int64]:
    """Return a table of integers, not filled, that takes memory only for the pages that are written to.

    A pool of thousands of metaslabs that is nearly empty uses the first entries of each row.  In huge pages,
    which numpy asks for, each of these would take two megabytes.

    Returns
    -------
    ndarray of int64, shape (rows, columns)
    """
    size = 8 * rows * columns
    if size < LARGE_TABLE or not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty((rows, columns), dtype=np.int64)
    return np.frombuffer(_fresh_pages(size), dtype=np.int64).reshape(rows, columns)


def sparse_zeros(shape: int | tuple[int, int], dtype: np.dtype[np.void]) -> Rows:
    """Return records of zeros, of which many are never touched.

    In memory that was used before `numpy.zeros` writes every zero; new pages of the system's are zero.

    Parameters
    ----------
    shape : int or (int, int)
    dtype : dtype
        Of the records.
    """
    count = int(np.prod(shape))
    if count * dtype.itemsize < LARGE_ZEROS or not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros(shape, dtype)
    return np.frombuffer(_fresh_pages(count * dtype.itemsize), dtype).reshape(shape)


def _fresh_pages(size: int) -> mmap.mmap:
    """Return so many bytes of pages that take memory once they are written to, and are not huge ones."""
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    except OSError as error:
        raise MemoryError(str(error)) from error
    with contextlib.suppress(AttributeError, OSError):  # a kernel without huge pages knows no such advice
        pages.madvise(mmap.MADV_NOHUGEPAGE)
    return pages
