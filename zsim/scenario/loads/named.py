"""Loads given by a word or a file: none, jobs of fio, ``zpool iostat`` of a pool in use."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from zsim.base.errors import InputError
from zsim.base.reading import MAX_MODEL, read_text, understood

ENDINGS = (".fio", ".ini", ".job", ".log", ".out", ".txt", ".gz", ".zst")
REMEDY = "name a job file of fio, or what zpool iostat -y POOL 60 1 or zpool iostat -ry POOL 60 1 prints"
MOST_LOADS = 200
NONE, IDLE = "none", "idle"
"""Stated as the load: nothing else uses the pool meanwhile."""


def is_file(load: object) -> bool:
    """Tell whether a load is the name of a file.

    Examples
    --------
    >>> is_file("night.fio"), is_file("./night"), is_file("backup 1.5MB/s"), is_file("reads 20/s")
    (True, True, False, False)
    """
    if not isinstance(load, str) or "=" in load:
        return False
    return load.endswith(ENDINGS) or load.startswith(("/", "./", "../"))


def found_beside(data: Mapping[str, object], directory: Path) -> dict[str, object]:
    """Return a scenario file's fields with the files that loads name relative to its directory."""
    loads = data.get("load")
    several = loads if isinstance(loads, list) else [loads]
    if not any(map(is_file, several)):
        return {}
    return {"load": [str(directory / str(each)) if is_file(each) else each for each in several]}


def with_loads_named(data: object) -> object:
    """Return the fields of a scenario with loads in the place of what names them: a file, or the word none.

    Raises
    ------
    InputError
        When a file cannot be read, holds no load, or one that has no meaning here; when no load is stated
        beside one.
    """
    if not isinstance(data, Mapping):
        return data
    given = data.get("load")
    loads = list(given) if isinstance(given, list | tuple) else [given]
    if any(isinstance(each, str) and each.strip().lower() in (NONE, IDLE) for each in loads):
        if len(loads) > 1:
            allowed = "it says that nothing else uses the pool, and another load is stated beside it"
            raise InputError("load", NONE, allowed, "leave one of the two out")
        return {**data, "load": []}
    if not any(map(is_file, loads)):
        return data
    found: list[object] = []
    for each in loads:
        found += _loads_in(str(each), data) if is_file(each) else [each]
    return {**data, "load": found}


def _loads_in(path: str, data: Mapping[str, object]) -> list[dict[str, object]]:
    # Few scenarios need these.
    from zsim.scenario.loads import fio, iostat  # noqa: PLC0415

    text = read_text(path, "load", REMEDY, MAX_MODEL)
    with understood(path, "load", REMEDY):
        if iostat.recognises(text):
            return iostat.loads_of(text, path, data)
        if fio.recognises(text):
            return _bounded(fio.loads_of(text, path, data), path)
    raise InputError("load", path, "it is neither a job file of fio nor the output of zpool iostat", REMEDY)


def _bounded(loads: list[dict[str, object]], path: str) -> list[dict[str, object]]:
    if not 0 < len(loads) <= MOST_LOADS:
        allowed = f"it has {len(loads)} jobs, and a load is made of 1 to {MOST_LOADS}"
        raise InputError("load", path, allowed, "give the jobs that run beside the resilver")
    return loads
