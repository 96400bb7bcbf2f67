"""How a process begins that is ours alone: with little memory and few threads."""

from __future__ import annotations

import contextlib
import gc
import os
import sys

GARBAGE_THRESHOLD = 50_000
M_TRIM_THRESHOLD, KEPT_BYTES = -1, 16 << 20  # malloc.h of glibc
M_MMAP_THRESHOLD, MAPPED_BYTES = -3, 256 << 10


def begin_lightly() -> None:
    """Save time and memory: numpy needs no threads here, and imports leave little garbage.

    In large pages, one byte that is touched takes two million; many arrays here are used in small part.
    pydantic reads what every installed package says of itself, to look for plugins that it has none of.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.set_threshold(GARBAGE_THRESHOLD)
    _give_memory_back()


def _give_memory_back() -> None:
    """Let the C library return large arrays to the system when they are freed (mallopt(3), M_MMAP_THRESHOLD).

    By itself glibc learns from the first one freed to keep up to 32 MB a thread: 60 MB of a prediction.  What
    smaller ones leave free it is to keep (M_TRIM_THRESHOLD, else 128 KB): to ask for it again and again took
    a twelfth of a row of a sweep.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes  # noqa: PLC0415 -- not for --help elsewhere

    with contextlib.suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES)
        library.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
