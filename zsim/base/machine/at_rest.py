"""Pages that hold the code of a library that is at rest."""

from __future__ import annotations

import ctypes
import functools
import mmap
import sys
from pathlib import Path


def give_back_code(library: str) -> None:
    """Give back the pages that hold the code of a library; the system maps those again that are run again.

    Nothing is lost: they are pages of its file, which stay in the system's cache (madvise(2), MADV_DONTNEED).
    Does nothing where the system is no Linux.

    Parameters
    ----------
    library : str
        Part of the name of its file.
    """
    for address, size in code_of(library):
        ctypes.CDLL(None).madvise(ctypes.c_void_p(address), ctypes.c_size_t(size), mmap.MADV_DONTNEED)


@functools.cache
def code_of(library: str) -> tuple[tuple[int, int], ...]:
    """Return address and length [bytes] of the code of a loaded library; nothing where that is not told.

    Data are left out, and constants: what was written to them since they were read would be lost.
    """
    if sys.platform != "linux":
        return ()
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    found = []
    for line in lines:
        place, rights, *_, name = line.split(maxsplit=5)
        if rights == "r-xp" and library in name.rpartition("/")[2]:
            first, end = (int(address, 16) for address in place.split("-"))
            found.append((first, end - first))
    return tuple(found)
