"""Give back the memory pages of loaded libraries that are not in use."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import mmap
import sys
from collections.abc import Iterable
from pathlib import Path

from zsim.base.machine.lightly import spare_memory

LINKER = "llvmlite"
"""Part of the name of the library that links kernels."""


def give_back_code(library: str) -> None:
    """Give back the pages that hold the code of a library; the system maps those again that are run again.

    Nothing is lost: they are pages of its file, which stay in the system's cache (madvise(2), MADV_DONTNEED).
    Does nothing where the system is no Linux.

    Parameters
    ----------
    library : str
        Part of the name of its file.
    """
    _unmap(code_of(library))


def give_back() -> None:
    """Give back what is at rest, before something large: LLVM's pages, and what the C library keeps free.

    Each thread keeps up to `KEPT_BYTES` of what was freed (`zsim.base.machine.lightly`, malloc_trim(3)); less
    from then on.
    Does nothing where the system is no Linux.
    """
    _unmap((*code_of(LINKER), *constants_of(LINKER)))
    spare_memory()
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # another C library than glibc
            ctypes.CDLL(None).malloc_trim(0)


def _unmap(places: Iterable[tuple[int, int]]) -> None:
    """Give pages back to the system, by address and length [bytes]."""
    for address, size in places:
        ctypes.CDLL(None).madvise(ctypes.c_void_p(address), ctypes.c_size_t(size), mmap.MADV_DONTNEED)


@functools.cache
def code_of(library: str) -> tuple[tuple[int, int], ...]:
    """Return address and length [bytes] of the code of a loaded library; nothing where that is not told.

    Data are left out, and constants: what was written to them since they were read would be lost.
    """
    # How much of each part is in memory is not asked for here: the system would count it page by page.
    return tuple(place for place, rights, _ in _parts_of(library, "maps") if rights == "r-xp")


@functools.cache
def constants_of(library: str) -> tuple[tuple[int, int], ...]:
    """Return address and length [bytes] of the constants of a loaded library that nothing was written to.

    Where addresses were put in as it was loaded, pages are no longer those of its file.
    """
    parts = _parts_of(library, "smaps")
    return tuple(place for place, rights, written in parts if rights == "r--p" and not written)


def _parts_of(library: str, file: str) -> list[tuple[tuple[int, int], str, bool]]:
    """Return address and length [bytes], rights, and whether something was written to it, of each part.

    The last is told by ``smaps`` alone (proc(5)).
    """
    if sys.platform != "linux":
        return []
    try:
        lines = Path(f"/proc/self/{file}").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    found: list[tuple[tuple[int, int], str, bool]] = []
    here = False
    for line in lines:
        words = line.split(maxsplit=5)
        if not words[0].endswith(":"):
            here = len(words) > 5 and library in words[5].rpartition("/")[2]
            if here:
                first, end = (int(address, 16) for address in words[0].split("-"))
                found.append(((first, end - first), words[1], False))
        elif here and words[0] == "Anonymous:" and words[1] != "0":
            found[-1] = *found[-1][:2], True
    return found
