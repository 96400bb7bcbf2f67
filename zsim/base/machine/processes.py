"""Other processes of zsim: how many cores there are, whether one can be started, and its environment."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator

from zsim.base.sources import PACKAGE

WORKER = "ZSIM_WORKER"
"""Variable of the environment that marks processes which another one of zsim has started."""


def available_cores() -> int:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def can_start_others() -> bool:
    """Tell whether this is a Python that can start another."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def is_first() -> bool:
    """Tell whether this process was started by nobody of zsim."""
    return multiprocessing.parent_process() is None and WORKER not in os.environ


def worker_environment() -> dict[str, str]:
    """Return the environment of a process that this one starts: it finds this zsim, and knows its place."""
    places = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places), WORKER: "1"}


@contextlib.contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C in this thread for a moment: processes and threads that it begins never get it (POSIX)."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
