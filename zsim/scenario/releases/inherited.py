"""Release files that state only the differences from another release: ``base = "openzfs-2.2"``.

What a file does not state is as in the first version of its base.  Sources are told by release, so each
file says how its own begin (``origin``): an inherited number was compared with the code of the new release,
and its source says so.  A file that names no versions (``first``) is no release of its own: it is its base,
patch levels included, with what it states set otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.base.parsed import rows, table, text
from zsim.base.parsed import tables as tables_of

TABLES = ("behaviour", "tunables")
VERSIONS = ("name", "family", "first", "last")
DEEPEST = 20


def load_complete(path: Path, depth: int = 0) -> dict[str, object]:
    """Return the content of a release file with all that it inherits.

    Raises
    ------
    InputError
        When the base is no release of the catalogue or is based on this one, when something is removed
        that the base does not have, or when a file without versions sets a tunable that its base does not
        have, or in another unit.
    """
    data = model_data.load_toml(path)
    if "base" not in data:
        return data
    base = _base_of(data, path, depth)
    tables = {name: {**_inherited(base, data, name, path), **table(data, name)} for name in TABLES}
    shared = {"platform": base["platform"], "year": base["year"]}
    if "first" not in data:
        _check_tunables(base, data, path)
        shared |= {name: base[name] for name in VERSIONS} | {"patch": _patches(base, data)}
    return shared | data | tables


def _patches(base: Mapping[str, object], data: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the patch levels of a base without what a file states itself."""
    removed = rows(data, "removed")
    stated = {name: {*table(data, name), *removed} for name in TABLES}
    return [
        {
            **patch,
            **{
                name: {key: value for key, value in table(patch, name).items() if key not in stated[name]}
                for name in TABLES
            },
            "removed": [each for each in rows(patch, "removed") if each not in stated["tunables"]],
        }
        for patch in tables_of(base, "patch")
    ]


def _check_tunables(base: Mapping[str, object], data: Mapping[str, object], path: Path) -> None:
    """Refuse a tunable that the base has at none of its patch levels, or a number in another unit."""
    patches = [table(patch, "tunables") for patch in tables_of(base, "patch")]
    known = {name: entry for each in (*patches, table(base, "tunables")) for name, entry in each.items()}
    for name in table(data, "tunables"):
        if name not in known:
            allowed = f"{text(base, 'name')} has no such tunable"
            raise InputError(f"{path.name}: tunables", name, allowed, model_data.suggest(name, known))
        model_data.quantity_of(data, f"tunables.{name}", path, text(table(known, name), "unit"))


def _base_of(data: Mapping[str, object], path: Path, depth: int) -> dict[str, object]:
    name = model_data.text_of(data, "base", path)
    if depth > DEEPEST:
        raise InputError(
            f"{path.name}: base", name, "a release cannot be based on itself", "name an older one"
        )
    if name not in model_data.names("releases"):
        known = model_data.suggest(name, model_data.names("releases"))
        raise InputError(f"{path.name}: base", name, "it is a release of the catalogue", known)
    return load_complete(model_data.find("releases", name), depth + 1)


def _inherited(
    base: Mapping[str, object], data: Mapping[str, object], name: str, path: Path
) -> dict[str, object]:
    removed = rows(data, "removed") if name == "tunables" else ()
    missing = [each for each in removed if each not in table(base, name)]
    if missing:
        raise InputError(f"{path.name}: removed", missing[0], "the base has no such tunable", "leave it out")
    begin = _origin(base, path)
    new = _origin(data, path) if "origin" in data else begin
    old = table(base, name)
    return {key: _with_source(table(old, key), begin, new) for key in old if key not in removed}


def _origin(data: Mapping[str, object], path: Path) -> tuple[str, str]:
    source = model_data.text_of(data, "origin.source", path)
    return source, model_data.text_of(data, "origin.kind", path, model_data.SOURCE_KINDS)


def _with_source(
    entry: Mapping[str, object], begin: tuple[str, str], new: tuple[str, str]
) -> dict[str, object]:
    """Return a number or choice with the source that it has in the new release."""
    if not str(entry["source"]).startswith(begin[0]) or entry["kind"] != begin[1]:
        return dict(entry)
    return {**entry, "source": new[0] + text(entry, "source")[len(begin[0]) :], "kind": new[1]}
