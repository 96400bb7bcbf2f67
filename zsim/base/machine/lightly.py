"""Start and end processes of our own quickly, with little memory and few threads."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys
import threading
from typing import NoReturn

GARBAGE_THRESHOLD = 200_000
M_TRIM_THRESHOLD, KEPT_BYTES = -1, 16 << 20  # malloc.h of glibc
M_MMAP_THRESHOLD, MAPPED_BYTES, SPARING_BYTES = -3, 8 << 20, 256 << 10


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
    """Let the C library return large arrays to the system when they are freed.

    By itself glibc learns from the first one freed to keep up to 32 MB a thread: 60 MB of a prediction.  What
    smaller ones leave free it is to keep (M_TRIM_THRESHOLD, else 128 KB): to ask for it again and again took
    a twelfth of a row of a sweep, of those from 256 KB to 1 MB a twentieth of a prediction, and of those to
    8 MB a quarter of the pages that it touches for the first time.
    """
    _tell_allocator(M_MMAP_THRESHOLD, MAPPED_BYTES)
    _tell_allocator(M_TRIM_THRESHOLD, KEPT_BYTES)


def spare_memory() -> None:
    """Let the C library return arrays of some size too from now on: something large is to come."""
    _tell_allocator(M_MMAP_THRESHOLD, SPARING_BYTES)


def _tell_allocator(what: int, value: int) -> None:
    """Set a parameter of glibc's allocator (mallopt(3)); does nothing with another C library."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes  # noqa: PLC0415 -- not for --help elsewhere

    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(what, value)


def end_at_once(code: int) -> NoReturn:
    """End this process as `sys.exit` does, but do not take apart object by object what it holds.

    What is registered for the end runs, and what was printed is written.  Freeing all objects of a prediction
    takes a tenth of its time, and the system frees their memory by itself.
    """
    if threading.active_count() > 1 or sys.getprofile() is not None:
        # A thread is to be waited for, or a profile of all this to be kept.
        _write_out()  # what Python cannot write at its end would change the exit code
        sys.exit(code)
    atexit._run_exitfuncs()
    _write_out()
    os._exit(code)


def _write_out() -> None:
    """Write what was printed; what cannot be written any more, as on a full disk, is dropped."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
