"""Links between drives and the host: a tree of shared servers, described in ``models/enclosures``.

A link has a rate and a cost per command.  With ``command`` switching one drive at a time has a command
outstanding (a port multiplier without FIS-based switching, USB bulk-only transport); with ``fis`` or
``shared`` the drives work at once and their data share the rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.base.parsed import number_of, table
from zsim.base.reading import understood

Switching = Literal["command", "fis", "shared"]
SWITCHINGS = ("command", "fis", "shared")
SLOWEST_LINK = 1e6
UNITS = {"rate": ("MB/s", 1e6), "per_command": ("us", 1e-6), "bays": ("drives", 1.0)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSpec:
    """A shared server and what hangs from it.

    Attributes
    ----------
    name : str
    rate : float
        [bytes/s]
    per_command_s : float
        Cost of every command [s].
    switching : {"command", "fis", "shared"}
    bays : int
        Drives that plug into it directly.
    children : tuple of LinkSpec
    """

    name: str
    rate: float
    per_command_s: float
    switching: Switching
    bays: int = 0
    children: tuple[LinkSpec, ...] = ()

    @property
    def command_based(self) -> bool:
        """Whether one drive at a time has a command outstanding."""
        return self.switching == "command"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatLink:
    """A link of a tree in a list, parents first.

    Attributes
    ----------
    link : LinkSpec
    parent : int
        Place of its parent in the list, -1 for the root.
    """

    link: LinkSpec
    parent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosure:
    """An enclosure of the catalogue.

    Attributes
    ----------
    name, title, note : str
    root : LinkSpec
    rate_spread : float
        Largest relative standard deviation of the rates of its links.
    sources : tuple of str
    """

    name: str
    title: str
    note: str
    root: LinkSpec
    rate_spread: float
    sources: tuple[str, ...]

    @property
    def bays(self) -> int:
        """Drives it holds."""
        return sum(flat.link.bays for flat in self.flatten())

    def flatten(self) -> tuple[FlatLink, ...]:
        """Return the links, parents before their children."""
        return tuple(_flattened(self.root, -1, [0]))

    def attach(self, drives: int) -> tuple[int, ...]:
        """Return for each drive the place in `flatten` of the link it plugs into; bays fill in order.

        Raises
        ------
        InputError
            When there are more drives than bays.
        """
        places = [place for place, flat in enumerate(self.flatten()) for _ in range(flat.link.bays)]
        if drives > len(places):
            reason = f"it has {len(places)} bays, and {drives} drives are behind it"
            first = f"--ports {self.name}:0-{len(places) - 1}"
            remedy = f"divide them over several ({first} and so on), or name the TOML file of a larger one"
            raise InputError("enclosure", self.name, reason, remedy)
        return tuple(places[:drives])


def load_enclosure(name: str) -> Enclosure:
    """Return an enclosure of the catalogue, or the one of a TOML file.

    Raises
    ------
    InputError
        With the nearest names, when there is none; naming file and field, when it is wrong.
    """
    path = model_data.find("enclosures", name)
    with understood(path, "enclosure"):
        return enclosure_from_table(model_data.load_toml(path, "enclosure"), path)


def enclosure_from_table(data: Mapping[str, object], path: Path) -> Enclosure:
    """Check the content of an enclosure file and return it.

    Raises
    ------
    InputError
        Naming file and field.
    """
    links = {name: table(model_data.table_of(data, "links", path), name) for name in table(data, "links")}
    parents = {name: _parent_of(data, name, path) for name in links}
    roots = [name for name, parent in parents.items() if parent is None]
    if len(roots) != 1:
        reason = "exactly one link has no parent"
        raise InputError(f"{path.name}: links", ", ".join(roots) or None, reason, "name the parents")
    root = _link(data, roots[0], parents, path)
    if sum(1 for _ in _flattened(root, -1, [0])) != len(links):
        raise InputError(f"{path.name}: links", None, "every link hangs from the root", "name the parents")
    numbers = [entry for link in links.values() for entry in link.values() if isinstance(entry, Mapping)]
    references = table(data, "references")
    return Enclosure(
        name=path.stem,
        title=model_data.text_of(data, "title", path),
        note=str(data.get("note", "")),
        root=root,
        rate_spread=max(
            number_of(table(link, "rate").get("uncertainty", 0.0), "uncertainty") for link in links.values()
        ),
        sources=tuple(sorted({str(references.get(entry["source"], entry["source"])) for entry in numbers})),
    )


def _parent_of(data: Mapping[str, object], name: str, path: Path) -> str | None:
    if "parent" not in model_data.table_of(data, f"links.{name}", path):
        return None
    return model_data.text_of(data, f"links.{name}.parent", path, tuple(table(data, "links")))


def _link(data: Mapping[str, object], name: str, parents: Mapping[str, str | None], path: Path) -> LinkSpec:
    rate = _number(data, name, "rate", path)
    if not rate >= SLOWEST_LINK:
        allowed = "no bus that drives were sold for is slower than 1 MB/s (USB 1.1: 12 Mbit/s)"
        raise InputError(f"{path.name}: links.{name}.rate", rate, allowed, "put the number right")
    return LinkSpec(
        name=name,
        rate=rate,
        per_command_s=_number(data, name, "per_command", path),
        switching=cast("Switching", model_data.text_of(data, f"links.{name}.switching", path, SWITCHINGS)),
        bays=int(_number(data, name, "bays", path)) if "bays" in table(table(data, "links"), name) else 0,
        children=tuple(
            _link(data, child, parents, path) for child, parent in parents.items() if parent == name
        ),
    )


def _number(data: Mapping[str, object], name: str, key: str, path: Path) -> float:
    unit, scale = UNITS[key]
    quantity = model_data.quantity_of(data, f"links.{name}.{key}", path, unit)
    if not math.isfinite(quantity.value) or quantity.value < 0:
        raise InputError(
            f"{path.name}: links.{name}.{key}", quantity.value, "it is not below zero", "put it right"
        )
    return quantity.value * scale


def _flattened(link: LinkSpec, parent: int, count: list[int]) -> Iterator[FlatLink]:
    place = count[0]
    count[0] += 1
    yield FlatLink(link=link, parent=parent)
    for child in link.children:
        yield from _flattened(child, place, count)
