"""Which files a command has put in place: what is interrupted names them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

_WRITTEN: ContextVar[list[Path] | None] = ContextVar("written", default=None)


@contextlib.contextmanager
def noting_what_is_written() -> Iterator[list[Path]]:
    """Give the list of the files that `zsim.base.files.replace_file` has put in place since."""
    written: list[Path] = []
    before = _WRITTEN.set(written)
    try:
        yield written
    finally:
        _WRITTEN.reset(before)


def note_written(target: Path) -> None:
    """Note that `target` is in place, whole."""
    if (written := _WRITTEN.get()) is not None:
        written.append(target)
