"""Standard streams that are closed, full, or in an encoding without our characters."""

from __future__ import annotations

import contextlib
import io
import os
import sys

NAMES = ("stdin", "stdout", "stderr")


def hold_streams() -> None:
    """Make sure of three standard streams: of one that was closed, the next file opened would take the place.

    What an encoding has no sign for is written as an escape.
    """
    for number, name in enumerate(NAMES):
        try:
            os.fstat(number)
        except OSError:
            _hold(number)
        if getattr(sys, name) is None:
            setattr(sys, name, io.StringIO())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _hold(number: int) -> None:
    """Open the null device under a number of which nothing is open."""
    with contextlib.suppress(OSError):
        handle = os.open(os.devnull, os.O_RDWR)
        if handle != number:
            os.dup2(handle, number)
            os.close(handle)


def give_up_stdout() -> None:
    """Let what is still to be printed vanish, so that nothing complains when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError, io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
