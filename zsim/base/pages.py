"""Tables larger than what is written to them."""

from __future__ import annotations

import contextlib
import mmap
import platform
import sys

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import Rows

_MACHINES = ("x86_64", "aarch64", "riscv64", "s390x")
LARGE_TABLE = 32 << 20
"""From this size on a table is mapped by itself [bytes]."""
_LINUX_NO_RESERVE = 0x4000 if sys.platform == "linux" and platform.machine() in _MACHINES else 0
NO_RESERVE: int = getattr(mmap, "MAP_NORESERVE", _LINUX_NO_RESERVE)
"""Python names the flag from 3.13 on; without it Linux refuses a table larger than all memory, however little
of it is written (mmap(2), vm.overcommit_memory 0)."""
LARGE_ZEROS = 1 << 20
"""From this size on zeros are: to ask the system for pages takes as long as to write so many."""


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
