"""Open a store: SQLite or JSON Lines by the ending of the file, in memory without one."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from zsim.planning.store.lines import LineStore
from zsim.planning.store.memory import MemoryStore
from zsim.planning.store.sqlite import ENDING, Store

AnyStore = MemoryStore | Store


def can_be_merged(path: str | Path | None) -> bool:
    """Tell whether a store is one that other machines' answers can be merged into."""
    return path is not None and str(path).endswith(ENDING)


def open_store(path: str | Path | None) -> AbstractContextManager[AnyStore]:
    """Open a store of answers, which is made if it is not there.

    Raises
    ------
    InputError
        When the file cannot be used, or is no store.
    """
    if path is None:
        return nullcontext(MemoryStore())
    return Store(path) if can_be_merged(path) else nullcontext(LineStore(path))
