"""The files that a command is given for a scenario: a scenario file, or what zpool and its like printed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zsim.base.errors import InputError
from zsim.cli.common import notice, progress

if TYPE_CHECKING:
    from zsim.observe.pool_import.importing import ImportedPool


def fields_in(names: Sequence[str], stated: Collection[str] = ()) -> dict[str, object]:
    """Return the fields that files state.

    Parameters
    ----------
    names : sequence of str
        One scenario file, or files that hold what ``zpool status`` and its like printed; ``-`` is the
        standard input.
    stated : collection of str
        Fields that are stated beside them: nothing is said of what output does not tell of these.

    Raises
    ------
    InputError
        When one cannot be read, or is neither.
    """
    from zsim.scenario import files

    if len(names) > 1:
        return _several(names, stated)
    path = Path(names[0])
    text = files.scenario_text(path)
    try:
        return files.scenario_of(text, path)
    except InputError:
        if not _printed(text):
            raise
    from zsim.observe.pool_import.importing import import_pasted

    return _fields_of(import_pasted(text, name=names[0], stated=stated))


def _several(names: Sequence[str], stated: Collection[str]) -> dict[str, object]:
    """Return what the outputs of one pool's commands in several files tell."""
    from zsim.observe.pool_import.importing import import_pool

    with progress("reading") as on_progress:
        imported = import_pool(names, on_progress=on_progress, stated=stated)
    return _fields_of(imported)


def _printed(text: str) -> bool:
    """Tell whether a text holds what zpool, zdb or a tool that lists drives printed."""
    from zsim.observe.pool_import.given.files import read_pasted

    try:
        return bool(read_pasted(text.encode("utf-8", "replace")).pools())
    except InputError:
        return False


def _fields_of(imported: ImportedPool) -> dict[str, object]:
    """Say what an import did not find, and which command a running scan asks for; return its fields."""
    for note in imported.notes:
        notice(f"{note}.")
    scan = imported.progress
    if scan is not None and scan.active:
        what = {"expand": "an expansion", "remove": "a removal"}.get(scan.function, f"a {scan.function}")
        notice(f"{what} runs on this pool: zsim eta, given the same files, says when it finishes.")
    return imported.scenario.stated()
