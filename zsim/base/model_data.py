"""The data of ``models/`` and ``validation/``: where and what it is; errors name file and field.

A checkout holds both beside the package; an installed wheel carries them in ``zsim/_data``.
Every number of a model is a table with `value`, `unit`, `source` and `kind`::

    [tunables.zfs_vdev_scrub_max_active]
    value = 3
    unit = "I/Os"
    source = "OpenZFS 2.3.6 vdev_queue.c"
    kind = "source-code"
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from zsim.base.errors import LARGEST, InputError, check_kind, is_finite, is_unsafe
from zsim.base.reading import checked_name, content_mark, read_toml

ModelKind = Literal["drives", "enclosures", "releases", "histories", "products"]
SINGULAR = {
    "drives": "drive",
    "enclosures": "enclosure",
    "releases": "release",
    "histories": "history",
    "products": "product",
}

FILE_ENDINGS = (".toml", ".json")
"""What a path of a model of one's own ends in; other names are the catalogue's."""

DEFAULT_DRIVE = "generic-7200rpm-cmr"
"""The drive assumed when none is named."""

SourceKind = Literal["datasheet", "measured", "fitted", "assumed", "derived", "source-code"]
SOURCE_KINDS: tuple[str, ...] = get_args(SourceKind)

_PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of a model, with what makes it believable.

    Attributes
    ----------
    value : float or int
        In `unit`.
    unit : str
        For example ``MB/s``; ``1`` for a pure number.
    source : str
        Where it was read.
    kind : str
        One of `SOURCE_KINDS`.
    """

    value: float
    unit: str
    source: str
    kind: str


@functools.cache
def data_directory(name: Literal["models", "validation"]) -> Path:
    """Return the directory of the project's data.

    Parameters
    ----------
    name : {"models", "validation"}

    Returns
    -------
    Path
        In the wheel's ``_data`` or else beside the package.

    Raises
    ------
    InputError
        When neither exists, that is, when the installation is damaged.
    """
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise InputError(f"the directory {name!r}", None, "it belongs to the package zsim", "install zsim again")


def models_directory() -> Path:
    """Return the directory of the models (drives, enclosures, releases, histories)."""
    return data_directory("models")


def validation_directory() -> Path:
    """Return the directory of the validation cases that come with zsim."""
    return data_directory("validation")


def names(kind: ModelKind) -> tuple[str, ...]:
    """Return the names of all models of one kind, sorted."""
    with os.scandir(models_directory() / kind) as files:  # a tenth of the time of a glob: often asked for
        return tuple(sorted(each.name.removesuffix(".toml") for each in files if each.name.endswith(".toml")))


def find(kind: ModelKind, name: str, field: str | None = None) -> Path:
    """Return the file of a model.

    Parameters
    ----------
    kind : {"drives", "enclosures", "releases", "histories", "products"}
    name : str
        A name of the catalogue (letter case does not matter), or the path of a file ending in ``.toml``.
    field : str, optional
        Name for the message; by default `kind` in the singular.

    Raises
    ------
    InputError
        With the nearest name, when there is no such model.
    """
    if name.endswith(".toml"):
        return own_file(name, field or SINGULAR[kind])
    known = {each.lower(): each for each in names(kind)}
    exact = known.get(name.strip().lower())
    if exact is None:
        reason = f"the catalogue has no such {SINGULAR[kind]}"
        raise InputError(field or SINGULAR[kind], name, reason, suggest(name, known.values()))
    return models_directory() / kind / f"{exact}.toml"


def own_file(name: str, field: str) -> Path:
    """Return the path of a file that the user names in the place of a model."""
    check_kind(field, name, (str,), "it is a name or the path of a TOML file, as text", "put it in quotes")
    try:
        path = Path(name).expanduser()
    except RuntimeError as error:
        raise InputError(field, name, "there is no such user", "give the path of a TOML file") from error
    checked_name(path, field, "give the path of a TOML file")
    return path


def state_of(name: str, field: str = "file") -> str:
    """Return the hash of the file that `name` is the path of; empty for a name of the catalogue.

    What is kept in memory about a model is kept under its name and this.
    """
    check_kind(field, name, (str,), "it is a name or the path of a TOML file, as text", "put it in quotes")
    return content_mark(own_file(name, field), field) if name.endswith(FILE_ENDINGS) else ""


def load(kind: ModelKind, name: str, field: str | None = None) -> dict[str, object]:
    """Return the content of a model; see `find` for the arguments and `load_toml` for the errors."""
    return load_toml(find(kind, name, field))


def load_toml(path: Path, field: str = "file") -> dict[str, object]:
    """Read a TOML file.

    Raises
    ------
    InputError
        Naming the file, and the line when its syntax is wrong.
    """
    return read_toml(path, field)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def model_hash(kind: ModelKind, name: str) -> str:
    """Return the SHA-256 of a model in hexadecimal digits: of its file, and of those that it is based on."""
    path, known = find(kind, name), names(kind)
    digests = [sha256_of(path)]
    while (base := load_toml(path).get("base")) in known and len(digests) <= len(known):
        path = find(kind, base)
        digests.append(sha256_of(path))
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def suggest(name: str, known: Iterable[str]) -> str:
    """Return a remedy that names what is nearest to `name`, or else everything known."""
    everything = sorted(known)
    folded = {each.lower(): each for each in everything}
    near = difflib.get_close_matches(name.lower(), folded, n=3, cutoff=0.55)
    if near:
        return f"try {' or '.join(folded[each] for each in near)}"
    if not everything:
        return "none is known"
    more = f" and {len(everything) - 20} more" if len(everything) > 20 else ""
    return f"known are {', '.join(everything[:20])}{more}"


def table_of(data: Mapping[str, object], dotted: str, path: Path) -> Mapping[str, object]:
    """Return the table at ``a.b.c`` of a model file.

    Raises
    ------
    InputError
        When it is missing or not a table.
    """
    found = _descend(data, dotted, path)
    if not isinstance(found, Mapping):
        raise _file_error(path, dotted, found, "a table is needed here", "")
    return found


def text_of(data: Mapping[str, object], dotted: str, path: Path, choices: Iterable[str] | None = None) -> str:
    """Return the text at ``a.b.c`` of a model file, optionally one of `choices`.

    Raises
    ------
    InputError
        When it is missing, not text, or none of the choices.
    """
    found = _descend(data, dotted, path)
    if not isinstance(found, str):
        raise _file_error(path, dotted, found, "text is needed here", "")
    if any(map(is_unsafe, found)):
        raise _file_error(path, dotted, found, "it has characters that are not printed", "leave them out")
    if choices is not None and found not in (allowed := tuple(choices)):
        raise _file_error(path, dotted, found, f"it is one of {', '.join(allowed)}", suggest(found, allowed))
    return found


def quantity_of(data: Mapping[str, object], dotted: str, path: Path, unit: str | None = None) -> Quantity:
    """Return the number with unit and source at ``a.b.c`` of a model file.

    Parameters
    ----------
    data : Mapping
        Content of the file.
    dotted : str
        Where the number is.
    path : Path
        For the message.
    unit : str, optional
        The unit it must have.

    Raises
    ------
    InputError
        When something of it is missing or wrong, naming file and field.
    """
    entry = _descend(data, dotted, path)
    problem = next(_problems(dotted, entry), None)
    if problem is not None or not isinstance(entry, Mapping):
        reason = f"every number has value (below {LARGEST:g}), unit, source and kind"
        given = entry.get(str(problem).rpartition(".")[2]) if isinstance(entry, Mapping) else None
        remedy = "add it" if given is None else "correct it"
        raise InputError(f"{path.name}: {problem}", given, reason, remedy)
    if unit is not None and entry["unit"] != unit:
        reason = f"the unit is {unit} here"
        raise _file_error(path, f"{dotted}.unit", entry["unit"], reason, "convert the number")
    return Quantity(entry["value"], entry["unit"], entry["source"], entry["kind"])


def _problems(dotted: str, entry: object) -> Iterator[str]:
    """Yield the dotted names of what a number's table lacks."""
    if not isinstance(entry, Mapping):
        yield f"{dotted}.unit"
        return
    value = entry.get("value")
    values = value if isinstance(value, list) else [value]
    if not values or not all(map(is_finite, values)):
        yield f"{dotted}.value"
    for key in ("unit", "source"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            yield f"{dotted}.{key}"
    if entry.get("kind") not in SOURCE_KINDS:
        yield f"{dotted}.kind"


def _descend(data: Mapping[str, object], dotted: str, path: Path) -> object:
    node: object = data
    for key in dotted.split("."):
        if not isinstance(node, Mapping) or key not in node:
            raise InputError(f"{path.name}: {dotted}", None, "every model of this kind has it", "add it")
        node = node[key]
    return node


def _file_error(path: Path, dotted: str, value: object, allowed: str, remedy: str) -> InputError:
    return InputError(f"{path.name}: {dotted}", value, allowed, remedy)
