"""What a command is given as a pool: a scenario file, output of zpool and other tools, a sentence."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zsim.base.errors import InputError, shown
from zsim.base.reading import stat_of
from zsim.cli.common import notice, progress

if TYPE_CHECKING:
    from zsim.observe.pool_import.given.pool_in_words import PoolInWords
    from zsim.observe.pool_import.importing import ImportedPool


def fields_in(
    names: Sequence[str], stated: Collection[str] = (), piped: str | None = None
) -> dict[str, object]:
    """Return the fields that files state.

    Parameters
    ----------
    names : sequence of str
        One scenario file, or files that hold what ``zpool status`` and its like printed; ``-`` is the
        standard input.  Or the words of a sentence about the pool (``8x 16TB in raidz2``), which a file may
        hold too.
    stated : collection of str
        Fields that are stated beside them: nothing is said of what output does not tell of these.
    piped : str, optional
        What came from the standard input, where it was read before.

    Raises
    ------
    InputError
        When one cannot be read, or is neither.
    """
    from zsim.observe.pool_import.given.other_texts import refuse_other_texts
    from zsim.observe.read_pool import is_printed
    from zsim.scenario import files

    if (said := fields_in_words(names, stated)) is not None:
        return said
    if len(names) > 1:
        return _several(names, stated, piped)
    path = Path(names[0])
    if piped is None and names[0] != "-" and stat_of(path) is None:
        remedy = "give a scenario file, what zpool status printed, or a sentence such as '8x 16TB in raidz2'"
        raise InputError("file", names[0], "there is no such file", remedy)
    text = files.scenario_text(path) if piped is None else piped
    try:
        return files.scenario_of(text, path)
    except InputError:
        if not is_printed(text):
            refuse_other_texts("file", names[0], [text])
            if (said := said_fields(text, stated)) is None:
                raise
            return said
    from zsim.observe.pool_import.importing import import_pasted

    return fields_of(import_pasted(text, name=names[0], stated=stated))


def fields_in_words(
    names: Sequence[str], stated: Collection[str] = (), *, tell: bool = True
) -> dict[str, object] | None:
    """Return the fields that the words of a sentence about a pool state; None where files are named.

    Parameters
    ----------
    names : sequence of str
        As they stand on the command line: one text, or its words.
    stated : collection of str
        Fields that are stated beside them: a layout among them need not be said.
    tell : bool
        Whether to say how it was read.

    Raises
    ------
    InputError
        When it says two things of one, or no layout.
    """
    said = sentence_in(names, stated)
    return None if said is None else _said(said, " ".join(names), stated, tell=tell)


def sentence_in(names: Sequence[str], stated: Collection[str]) -> PoolInWords | None:
    """Return how what stands in the place of files reads as a sentence; None of files, or of no pool."""
    from zsim.observe.pool_import.given.pool_in_words import may_be_words, pool_in_words

    if not may_be_words(names) or any(Path(name).exists() for name in names):
        return None
    text = " ".join(names)
    if len(text.split()) == 1 and not _is_pool(text):
        return None
    return pool_in_words(text, needs_layout="layout" not in stated)


def _is_pool(word: str) -> bool:
    """Tell whether a single word is a pool, whole: it may be a slip in the name of a file."""
    from zsim.observe.pool_import.given.pool_in_words import pool_in_words

    try:
        said = pool_in_words(word)
    except InputError:
        return False
    return said is not None and not said.unread


def said_fields(text: str, stated: Collection[str], *, tell: bool = True) -> dict[str, object] | None:
    """Return the fields that a sentence states, and tell how it was read; None where it is about no pool."""
    from zsim.observe.pool_import.given.pool_in_words import pool_in_words

    said = pool_in_words(text, needs_layout="layout" not in stated)
    return None if said is None else _said(said, text, stated, tell=tell)


def _said(said: PoolInWords, text: str, stated: Collection[str], *, tell: bool) -> dict[str, object]:
    """Return the fields of a sentence, and tell how it was read; with a layout beside it, it is refused."""
    layout = stated.get("layout") if isinstance(stated, Mapping) else None
    if layout is not None and "layout" in said.fields:
        allowed = f"{shown(' '.join(text.split()), 60)} is a layout too"
        raise InputError("layout", str(layout), allowed, "give one of the two")
    if tell and len(text.split()) > 1:
        tell_reading(said)
    return said.fields


def tell_reading(said: PoolInWords) -> None:
    """Tell how a sentence was read, and what of it was not understood."""
    from zsim.observe.pool_import.given.pool_in_words import as_flags
    from zsim.observe.pool_import.given.sentence_forms import AMOUNT

    counted = f"{said.drives} drives" if said.drives and "layout" not in said.fields else ""
    free = said.data.removesuffix(" free")
    parity = f" ({said.data} of data, and their parity)" if said.data else ""
    parity = f" ({free} of data and their parity are free)" if free != said.data else parity
    notice(f"read as {', '.join(filter(None, (counted, as_flags(said.fields))))}{parity}.")
    if said.unread:
        words = ", ".join(shown(each) for each in said.unread)
        amount = (
            any(AMOUNT.search(each) for each in said.unread) and not {"fill", "alloc"} & said.fields.keys()
        )
        how = " (how full it is: '62% full', or --alloc as zpool list prints it)" if amount else ""
        notice(f"NOT UNDERSTOOD, and ignored: {words}{how}.")


def _several(names: Sequence[str], stated: Collection[str], piped: str | None) -> dict[str, object]:
    """Return what the outputs of one pool's commands in several files tell."""
    from zsim.observe.pool_import.importing import import_beside, import_pool

    if piped is not None:
        return fields_of(import_beside(piped, [name for name in names if name != "-"], stated=stated))
    with progress("reading") as on_progress:
        imported = import_pool(names, on_progress=on_progress, stated=stated)
    return fields_of(imported)


def fields_of(imported: ImportedPool) -> dict[str, object]:
    """Say what an import did not find, and which command a running scan asks for; return its fields."""
    for note in imported.notes:
        notice(f"{note}.")
    scan = imported.progress
    if scan is not None and scan.active:
        what = {"expand": "an expansion", "remove": "a removal"}.get(scan.function, f"a {scan.function}")
        notice(f"{what} runs on this pool: zsim eta, given the same files, says when it finishes.")
    return imported.scenario.stated()
