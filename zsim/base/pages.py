"""Tables larger than what is written to them."""

from __future__ import annotations

import contextlib
import mmap

import numpy as np
from numpy.typing import NDArray

LARGE_TABLE = 32 << 20
"""From this size on a table is mapped by itself [bytes]."""


def sparse_table(rows: int, columns: int) -> NDArray[np.int64]:
    """Return a table of integers, not filled, that takes memory only for the pages that are written to.

    A pool of thousands of metaslabs that is nearly empty uses the first entries of each row.  In huge pages,
    which numpy asks for, each of these would take two megabytes.

    Parameters
    ----------
    rows, columns : int

    Returns
    -------
    ndarray of int64, shape (rows, columns)
    """
    size = 8 * rows * columns
    if size < LARGE_TABLE or not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty((rows, columns), dtype=np.int64)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    pages = mmap.mmap(-1, size, flags=flags)
    with contextlib.suppress(AttributeError, OSError):  # a kernel without huge pages knows no such advice
        pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, dtype=np.int64).reshape(rows, columns)
