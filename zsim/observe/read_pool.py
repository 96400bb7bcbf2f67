"""`zsim.read_pool`: a scenario from output of zpool or a sentence."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from zsim.base.errors import InputError, check_kind, shown
from zsim.base.reading import read_text, stat_of
from zsim.observe.pool_import.given.files import read_pasted
from zsim.observe.pool_import.given.pool_in_words import pool_in_words
from zsim.observe.pool_import.importing import import_pasted, import_pool
from zsim.scenario.files import put_aside
from zsim.scenario.model import Scenario

if TYPE_CHECKING:
    from zsim.scenario.keyword_types import AnyFields

REMEDY = 'give the text or the file of zpool status, or a sentence such as "8x 16TB in raidz2"'
LONGEST_NAME = 4096
"""Characters of a path."""


def read_pool(source: str | Path, **fields: Unpack[AnyFields]) -> Scenario:
    """Return the scenario of a pool from output of zpool status and similar tools, or from a sentence.

    Parameters
    ----------
    source : str or Path
        Output of these tools, the path of a file or directory with it, or a sentence:
        ``"8x 16TB Exos in raidz2, 62% full"``.
    **fields
        Fields of the scenario, which replace what `source` says: ``fill="62%"``.

    Raises
    ------
    InputError
        When it is none of these, or contradicts itself.

    Warns
    -----
    UserWarning
        About what is missing or could not be used, and about words that were not understood.

    Examples
    --------
    >>> read_pool("6x 4TB in raidz2, 62% full")
    Scenario(layout='raidz2x6', fill=0.62, drive_size=4000000000000)
    """
    check_kind("source", source, (str, Path), "it is text, or the path of a file", REMEDY)
    stated = {name: value for name, value in fields.items() if value is not None}
    path = _path(source)
    if path is not None and (path.is_dir() or not _is_words(path)):
        imported = import_pool([path], stated=stated)
    else:
        text = read_text(path, "file", REMEDY) if path is not None else str(source)
        if not is_printed(text):
            return _said(text, stated)
        imported = import_pasted(text, stated=stated)
    for note in imported.notes:
        warnings.warn(f"{note.replace(' --set ', ' ')}.", stacklevel=2)
    return Scenario.from_dict({**put_aside(imported.scenario.stated(), stated), **stated})


def is_printed(text: str) -> bool:
    """Tell whether a text holds what zpool, zdb or a tool that lists drives printed."""
    try:
        return bool(read_pasted(text.encode("utf-8", "replace")).pools())
    except InputError:
        return False


def _path(source: str | Path) -> Path | None:
    """Return the path that is named; None of text that is none."""
    if isinstance(source, Path):
        return source
    if "\n" in source or not source or len(source) > LONGEST_NAME:
        return None
    return Path(source) if stat_of(Path(source)) is not None else None


def _is_words(path: Path) -> bool:
    """Tell whether a file is as short as a sentence."""
    facts = stat_of(path)
    return facts is not None and facts.st_size < 1000 and not is_printed(read_text(path, "file", REMEDY))


def _said(text: str, stated: dict[str, object]) -> Scenario:
    """Return the scenario of a sentence."""
    said = pool_in_words(text, needs_layout="layout" not in stated)
    if said is None:
        raise InputError("source", text, "it is no output of zpool, and no sentence about a pool", REMEDY)
    if said.unread:
        words = ", ".join(map(shown, said.unread))
        warnings.warn(f"not understood, and ignored: {words}.", stacklevel=3)
    return Scenario.from_dict({**put_aside(said.fields, stated), **stated})
