"""Find validation cases under a path, and give each a name of its own."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from zsim.base.errors import InputError, ZsimError, check_kind, cut, printable
from zsim.base.model_data import suggest
from zsim.base.reading import checked_name, is_directory, stat_of
from zsim.validation.frame import FORMATS, Format, ValidationCase

NEVER_A_FOLDER = frozenset({"runs", ""})
"""Folder names that tell no case from another."""
PARTS = "vectors"
"""A folder whose files are cases of the folder above it."""


def discover(paths: Iterable[str | Path]) -> list[ValidationCase]:
    """Return all cases under the paths, each with a unique name, in order of path and name.

    Parameters
    ----------
    paths : iterable of str or Path
        A case, a folder of cases or a parent of several, or a file that is (or is part of) a case.

    Returns
    -------
    list of ValidationCase
        A source that cannot be read is a case with `problem` set.

    Raises
    ------
    InputError
        When a path does not exist or holds no case.
    """
    found: list[ValidationCase] = []
    for given in paths:
        check_kind("paths", given, (str, Path), "each is a path, as text or Path", 'write paths=["cases"]')
        path = Path(given)
        cases = [case for each, source in sources(path) for case in read_source(each, source)]
        if path.parent.name == PARTS:
            cases = [case for case in cases if case.key and path.name.startswith(f"{case.key}.")]
        if not cases:
            known = "; ".join(each.words for each in FORMATS)
            raise InputError("cases", str(given), f"it holds none of: {known}", "name a path that holds one")
        found += cases
    return uniquely_named(deduplicated(found))


def deduplicated(cases: Iterable[ValidationCase]) -> list[ValidationCase]:
    """Return the cases without those that an overlapping path gave a second time."""
    return list({(case.format, _real(case.path), case.key): case for case in cases}.values())


def sources(path: Path) -> Iterator[tuple[Format, Path]]:
    """Yield the sources under a path with their formats, depth first in order of name.

    Raises
    ------
    InputError
        When there is no such path.
    """
    remedy = "name a path that exists"
    facts = stat_of(path, "cases", remedy)
    if facts is None:
        raise InputError("cases", str(path), "there is no such file or directory", remedy)
    if not is_directory(facts):
        checked_name(path, "cases", remedy)
        yield from _of_file(path)
        return
    yield from _of_directory(path, set())


def _of_file(path: Path) -> Iterator[tuple[Format, Path]]:
    """Yield the source that a single file is, or belongs to."""
    for each in FORMATS:
        if path.name in each.recognise(frozenset({path.name}), frozenset()):
            yield each, path
            return
    folder = path.parent.parent if path.parent.name == PARTS else path.parent
    for each in FORMATS:
        if "." in each.recognise(*_listing(folder)):
            yield each, folder
            return


def _of_directory(path: Path, seen: set[str]) -> Iterator[tuple[Format, Path]]:
    real = _real(path)
    if real in seen:
        return
    seen.add(real)
    files, directories = _listing(path)
    whole = False
    for each in FORMATS:
        for name in each.recognise(files, directories):
            yield each, path if name == "." else path / name
            whole = whole or name == "."
    for name in () if whole else sorted(directories):
        yield from _of_directory(path / name, seen)


def _listing(path: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the files and of the directories, hidden ones left out."""
    try:
        entries = [entry for entry in os.scandir(path) if not entry.name.startswith(".")]
    except OSError:
        return frozenset(), frozenset()
    directories = frozenset(entry.name for entry in entries if _is_directory(entry))
    return frozenset(entry.name for entry in entries) - directories, directories


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to what nobody but its owner may look at, as in /proc
        return False


def _real(path: Path) -> str:
    return os.path.realpath(path)


def read_source(kind: Format, path: Path) -> list[ValidationCase]:
    """Return the cases of one source; one failing case where it cannot be read at all."""
    try:
        cases = kind.load().discover(path)
    except ModuleNotFoundError as error:
        return [
            unreadable(kind, path, f"the format {kind.name!r} needs {error.name}, which is not installed")
        ]
    except Exception as error:  # one broken source must not end the others
        said = sentence(error)
        problem = f"something in it is not of the kind that is expected there ({cut(said, 200)})"
        return [unreadable(kind, path, said if isinstance(error, ZsimError) else problem)]
    return cases or [unreadable(kind, path, "it holds no case")]


def unreadable(kind: Format, path: Path, problem: str) -> ValidationCase:
    """Return the case that stands for a source that cannot be read."""
    return ValidationCase(
        name=path.name.split(".")[0] or path.name,
        kind=kind.name,
        format=kind.name,
        path=path,
        problem=problem,
    )


def sentence(error: BaseException) -> str:
    """Return what went wrong on one line; exceptions that are not ours with their type."""
    text = " ".join(str(error).split())
    if isinstance(error, ZsimError):
        return text
    return f"{type(error).__name__}: {printable(text)}" if text else type(error).__name__


def uniquely_named(cases: Sequence[ValidationCase]) -> list[ValidationCase]:
    """Return the cases renamed where two have one name: ``folder/name``, or else ``name#2``."""
    groups: dict[str, list[ValidationCase]] = defaultdict(list)
    for case in cases:
        groups[case.name].append(case)
    names: dict[int, str] = {}
    for name, group in groups.items():
        prefixes = distinct_folders(group) if len(group) > 1 else [""]
        names |= {id(c): f"{p}/{name}" if p else name for c, p in zip(group, prefixes, strict=True)}
    counts: Counter[str] = Counter()
    renamed = []
    for case in cases:
        name = names[id(case)]
        counts[name] += 1
        renamed.append(replace(case, name=name if counts[name] == 1 else f"{name}#{counts[name]}"))
    return renamed


def distinct_folders(cases: Sequence[ValidationCase]) -> list[str]:
    """Return for each case the name of the nearest folder that tells it from the others of its name."""
    above = [folders_above(case) for case in cases]
    for depth in range(max(map(len, above))):
        names = [folders[depth] if depth < len(folders) else "" for folders in above]
        if len(set(names)) == len(names):
            return names
    return [folders[0] if folders else "" for folders in above]


def folders_above(case: ValidationCase) -> list[str]:
    """Return the names of the folders that hold a case, the nearest first, empty words left out."""
    parents = case.path.absolute().parents
    return [folder.name for folder in parents if folder.name not in NEVER_A_FOLDER]


def selected(cases: Sequence[ValidationCase], names: Sequence[str]) -> list[ValidationCase]:
    """Return the cases that were asked for by name, all of them when none was.

    Parameters
    ----------
    cases : sequence of ValidationCase
    names : sequence of str
        Full or bare names, or patterns with ``*`` and ``?``.

    Raises
    ------
    InputError
        When a name fits no case.
    """
    if not names:
        return list(cases)
    wanted: set[str] = set()
    if isinstance(names, str) or not isinstance(names, Sequence):
        names = (names,)
    for name in names:
        check_kind("case", name, (str,), "it is the name of a case", 'write validate(["slow-tails"])')
        fitting = {case.name for case in cases if _fits(case.name, name)}
        if not fitting:
            remedy = suggest(name, {case.name for case in cases})
            raise InputError("case", name, "there is no such case", remedy)
        wanted |= fitting
    return [case for case in cases if case.name in wanted]


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or fnmatchcase(name.rpartition("/")[2], pattern)
