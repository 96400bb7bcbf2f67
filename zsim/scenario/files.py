"""Scenario files: TOML in and out, and ``KEY=VALUE`` overrides."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from zsim.base.errors import InputError
from zsim.base.files import replace_file
from zsim.base.model_data import FILE_ENDINGS
from zsim.base.reading import MAX_MODEL, content_mark, read_text, toml_of
from zsim.base.units import format_bytes_exactly, format_drive_size_exactly
from zsim.scenario.layout import Layout
from zsim.scenario.loads.named import found_beside
from zsim.scenario.releases.products import shipped
from zsim.scenario.words import CAPACITIES, DATA_SIZES

_SAID_OTHERWISE = {
    "fill": ("fill", "alloc", "vdev_fills"),
    "alloc": ("fill", "alloc", "vdev_fills"),
    "vdev_fills": ("fill", "alloc"),
    "frag": ("vdev_frags",),
    "vdev_frags": ("frag",),
    "product": ("release",),
}
"""Fields that say the same as another one, or follow from it, so that it puts them aside."""
_WRITTEN: dict[str, Callable[[int], str]] = {
    **dict.fromkeys(DATA_SIZES, format_bytes_exactly),
    **dict.fromkeys(CAPACITIES, format_drive_size_exactly),
}

FILE_FIELDS = ("block_list", "blocks", "metaslabs")
"""Fields that name a file; in a scenario file, relative to its directory."""
FILE_REMEDY = "give the path of a TOML file"
INPUT_REMEDY = "pipe a scenario into it, as zsim import status.txt -o - prints it"


def read_scenario(path: Path) -> dict[str, object]:
    """Return the content of a scenario file, the files it names relative to its directory found there.

    Parameters
    ----------
    path : Path
        ``-`` is the standard input.

    Raises
    ------
    InputError
        When it cannot be read or is not TOML.
    """
    return scenario_of(scenario_text(path), path)


def scenario_text(path: Path) -> str:
    """Return the text of a scenario file; ``-`` is the standard input.

    Raises
    ------
    InputError
        When it cannot be read, or nothing comes from the standard input.
    """
    if str(path) != "-":
        return read_text(path, "scenario", FILE_REMEDY, MAX_MODEL)
    text = read_text("-", "standard input", INPUT_REMEDY, MAX_MODEL)
    if not text.strip():
        raise InputError("standard input", None, "nothing came from it", INPUT_REMEDY)
    return text


def scenario_of(text: str, path: Path) -> dict[str, object]:
    """Return the content of a scenario file of which the text was read; see `read_scenario`."""
    piped = str(path) == "-"
    field, remedy = ("standard input", INPUT_REMEDY) if piped else ("scenario", FILE_REMEDY)
    here = path.parent
    if text.lstrip().startswith("{"):
        return scenario_in_result(text, field, str(path))
    data = toml_of(text, path, field, remedy)
    named = {name: str(data[name]) for name in FILE_FIELDS if data.get(name) and isinstance(data[name], str)}
    return data | {name: str(here / value) for name, value in named.items()} | found_beside(data, here)


def scenario_in_result(text: str, field: str, name: str) -> dict[str, object]:
    """Return the scenario of a stored answer, which its provenance holds.

    Parameters
    ----------
    text : str
        JSON.
    field, name : str
        For the message.

    Raises
    ------
    InputError
        When it is no JSON, or holds no scenario.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    told = found.get("provenance") if isinstance(found, dict) else None
    stated = told.get("scenario") if isinstance(told, dict) else None
    if not isinstance(stated, dict):
        allowed = "it is no stored answer of zsim predict"
        raise InputError(field, name, allowed, "store one with zsim predict -o answer.json")
    return dict(stated)


def files_named(stated: Mapping[str, object]) -> dict[str, str]:
    """Return the files that a scenario names, and what each holds.

    Parameters
    ----------
    stated : Mapping
        As `Scenario.stated` gives it.

    Returns
    -------
    dict of str to str
        Path to SHA-256 of its content; empty where it cannot be read.  What is kept about a scenario is kept
        with this: the names alone say nothing about drives, links, histories or lists of blocks.
    """
    paths = {str(stated[name]) for name in FILE_FIELDS if stated.get(name)}
    paths |= {text for text in _texts(stated) if text.strip().endswith(FILE_ENDINGS)}
    return {path: _mark(path) for path in sorted(paths)}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each)


def _mark(path: str) -> str:
    try:
        return content_mark(Path(path.strip()).expanduser())
    except (InputError, RuntimeError):
        return ""


def put_aside(data: Mapping[str, object], stated: Mapping[str, object]) -> dict[str, object]:
    """Return fields without those that others, stated by their side, say better: fill, ALLOC and FRAG.

    Parameters
    ----------
    data : Mapping
    stated : Mapping
        Fields that are known better.  A release puts aside a product that ships another one.
    """
    said = {name for field, others in _SAID_OTHERWISE.items() if field in stated for name in others}
    if "product" in data and _other_release(data["product"], stated.get("release")):
        said.add("product")
    return {name: value for name, value in data.items() if name not in said}


def _other_release(product: object, release: object) -> bool:
    """Tell whether a product ships another series than a release that is stated, or one of several."""
    if release is None or isinstance(product, list | tuple):
        return False
    each = release if isinstance(release, list | tuple) else (release,)
    try:
        for one in each:
            shipped(str(one), str(product), None)
    except InputError:
        return True
    return False


def over(data: Mapping[str, object], changes: Mapping[str, object]) -> dict[str, object]:
    """Return fields with others over them, which put those aside that say the same (None: not stated)."""
    kept = put_aside(data, {name: value for name, value in changes.items() if value is not None})
    return {**of_layout(kept, changes.get("layout")), **changes}


def of_layout(data: Mapping[str, object], layout: object) -> dict[str, object]:
    """Return fields without what a pool of another layout has shown.

    Parameters
    ----------
    data : Mapping
    layout : object
        The layout that is stated over them; None: none is.
    """
    told = data.get("layout")
    if layout is None or told is None or "evidence" not in data:
        return dict(data)
    try:
        same = Layout.parse(str(told)) == Layout.parse(str(layout))
    except InputError:
        return dict(data)
    return dict(data) if same else {name: value for name, value in data.items() if name != "evidence"}


def apply_overrides(data: Mapping[str, object], settings: Iterable[str]) -> dict[str, object]:
    """Return `data` with ``KEY=VALUE`` settings applied.

    Parameters
    ----------
    data : Mapping
        Content of a scenario file.
    settings : iterable of str, or str for a single one
        ``fill=0.7``, ``drive_size=8TB``, ``tunables.zfs_vdev_scrub_max_active=5``; hyphens in a field's name
        are as good as underscores.  The value is read as TOML where it is (``[1, 2]``, ``true``), else as
        text; an empty value or ``none`` makes the field "not stated".  ``fill`` puts ``alloc`` aside and
        the other way round.

    Raises
    ------
    InputError
        When a setting is not KEY=VALUE.
    """
    result = {key: dict(value) if isinstance(value, Mapping) else value for key, value in data.items()}
    for setting in one_or_many(settings):
        key, equals, text = setting.partition("=")
        key = key.strip()
        if not equals or not key:
            raise InputError("override", setting, "it is not KEY=VALUE", "write fill=0.7")
        _set(result, key, _value(text.strip()), setting)
    return result


def names_set(settings: Iterable[str]) -> set[str]:
    """Return the fields that settings ``KEY=VALUE`` name, those inside a field as that."""
    return {_named(setting.partition("=")[0].strip())[0] for setting in one_or_many(settings)}


def one_or_many(settings: Iterable[str]) -> Iterable[str]:
    """Return settings, of which a single one may be given as text."""
    return (settings,) if isinstance(settings, str) else settings


def _named(key: str) -> tuple[str, str, str]:
    """Return the field that a key names, and behind a dot what is named inside it."""
    name, dot, inner = key.partition(".")
    return name.replace("-", "_"), dot, inner


def _set(result: dict[str, object], key: str, value: object, setting: str) -> None:
    name, dot, inner = _named(key)
    if not dot:
        for other in result.keys() - put_aside(result, {name: value}).keys():
            del result[other]
        result[name] = value
        return
    table = result.setdefault(name, {})
    if not isinstance(table, dict):
        raise InputError("override", setting, f"{name} has no named values", f"write {name}=VALUE")
    if value is None:
        table.pop(inner, None)
    else:
        table[inner] = value


def _value(text: str) -> object:
    """Return the value of an override: TOML if it is, else text."""
    if not text or text.lower() == "none":
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"] if "\n" not in text else text
    except ValueError:
        return text
    except RecursionError as error:
        raise InputError("override", text, "it is nested too deeply", "write fields one by one") from error


def scenario_toml(stated: Mapping[str, object]) -> str:
    """Return the stated fields of a scenario as TOML."""
    import tomlkit  # noqa: PLC0415 - reading a scenario does not need it

    document = tomlkit.document()
    document.update(_written(stated))
    return tomlkit.dumps(document)


def write_scenario(path: Path, stated: Mapping[str, object]) -> None:
    """Write the stated fields of a scenario as a TOML file, whole or not at all; files relative to it."""
    named = {name: str(stated[name]) for name in FILE_FIELDS if stated.get(name)}
    moved = {
        name: os.path.relpath(at, path.parent) for name, at in named.items() if not Path(at).is_absolute()
    }
    replace_file(path, scenario_toml({**stated, **moved}).encode())


def _written(data: Mapping[str, object]) -> dict[str, object]:
    """Return `data` with sizes as text, and tables after plain values, as TOML wants it."""
    plain: dict[str, object] = {}
    tables: dict[str, object] = {}
    for key, value in data.items():
        if isinstance(value, Mapping):
            tables[key] = _written(value)
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            tables[key] = [_written({k: v for k, v in each.items() if v is not None}) for each in value]
        else:
            plain[key] = _WRITTEN[key](value) if key in _WRITTEN and isinstance(value, int) else value
    return plain | tables
