"""``zpool list -v``: sizes by pool and top-level vdev, with ``-Hp`` (tabs) or for people (header)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from zsim.base.errors import InputError
from zsim.observe.texts import bad_line, nice_bytes, percentage
from zsim.observe.zpool.vdev_tree import MAX_ROWS, SECTIONS, Row, Vdev, named_vdev, nested

FORM = "NAME SIZE ALLOC FREE ... HEALTH as zpool list prints them"
_REMEDY = "run zpool list -vHp again"
_HEALTH = frozenset(("ONLINE", "DEGRADED", "FAULTED", "OFFLINE", "UNAVAIL", "REMOVED", "SUSPENDED"))
_HEADER = re.compile(r"^\s{0,20}NAME\s{1,80}SIZE\s{1,80}(?:ALLOC|USED)\s", re.MULTILINE)
_TABBED = re.compile(r"^[^\t\n]{1,256}(?:\t[^\t\n]{0,40}){7,11}$", re.MULTILINE)

_HEADLESS = re.compile(
    r"^[A-Za-z][\w.:-]{0,255}(?: {1,80}[\d.,]{1,8}[KMGTPE]){3}(?: {1,80}(?:-|[\d.,]{1,8}[KMGTPE%]?)){0,3}"
    r" {1,80}\d{1,3}% {1,80}\d{1,6}\.\d\dx {1,80}[A-Z]{6,9}(?: {1,80}\S{1,200})?[ \r]*$",
    re.MULTILINE | re.ASCII,
)
"""The row of a pool whose header was cut off: ``zpool list | grep tank``."""

# Columns of a pool's row with -H, told apart by the place of HEALTH; what stands behind it may be missing.
_COLUMNS = (
    ("name", "size", "alloc", "free", "ckpoint", "expandsz", "frag", "cap", "dedup", "health", "altroot"),
    ("name", "size", "alloc", "free", "expandsz", "frag", "cap", "dedup", "health", "altroot"),
    ("name", "size", "alloc", "free", "expandsz", "cap", "dedup", "health", "altroot"),
    ("name", "size", "alloc", "free", "cap", "dedup", "health", "altroot"),
)


@dataclass(frozen=True, slots=True)
class Space:
    """Space of a pool or top-level vdev as printed: SIZE, ALLOC, FREE [bytes], FRAG and CAP from 0 to 1."""

    size: int | None = None
    alloc: int | None = None
    free: int | None = None
    frag: float | None = None
    cap: float | None = None


@dataclass(frozen=True, slots=True)
class PoolList:
    """One pool of ``zpool list``.

    Attributes
    ----------
    name : str
    space : Space
        Of the pool.
    vdevs : tuple of (Vdev, Space)
        Top-level vdevs of the normal class, if -v was given.
    classes : mapping of str to tuple of (Vdev, Space)
        The same of what is not for data: logs, cache, spares, special, dedup.
    exact : bool
        Whether the sizes are exact (-p) rather than of three digits.
    columns : frozenset of str
        Columns there are, in lower case: releases differ in them.
    health : str
        HEALTH as printed; empty where it is not shown.
    """

    name: str
    space: Space
    vdevs: tuple[tuple[Vdev, Space], ...]
    classes: Mapping[str, tuple[tuple[Vdev, Space], ...]]
    exact: bool
    columns: frozenset[str]
    health: str = ""


def recognises(text: str) -> bool:
    """Tell whether a text holds the output of ``zpool list``."""
    if _HEADER.search(text) or _HEADLESS.search(text[: 1 << 20]):
        return True
    return any(_is_pool_row(match[0].split("\t")) for match in _TABBED.finditer(text[: 1 << 20]))


def read(text: str, name: str) -> tuple[PoolList, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    return read_list(text, name)


def _is_pool_row(cells: Sequence[str]) -> bool:
    return (
        bool(cells[0].strip())
        and nice_bytes(cells[1]) is not None
        and nice_bytes(cells[2]) is not None
        and any(cell in _HEALTH for cell in cells[4:])
    )


def read_list(text: str, name: str = "zpool list") -> tuple[PoolList, ...]:
    """Read ``zpool list``, with or without -v, -H and -p.

    Raises
    ------
    InputError
        When no pool is in it, or a pool's row has no sizes.
    """
    columns: Sequence[str] | None = None
    pools: list[list[_Line]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if _HEADER.match(f"{line[:400]} "):
            columns = [word.lower() for word in line.split()][:20]
            continue
        row = _tabbed(line, number) if "\t" in line else _spaced(line, number, columns)
        if row is None:
            continue
        if row.is_pool:
            pools.append([row])
        elif pools and len(pools[-1]) < MAX_ROWS:
            pools[-1].append(row)
    if not pools:
        raise InputError(name, None, f"a row {FORM} is expected", _REMEDY)
    return tuple(_pool(rows, name) for rows in pools)


@dataclass(frozen=True, slots=True)
class _Line:
    """A row: its cells by column, and how deep it stands."""

    number: int
    text: str
    cells: Mapping[str, str]
    indent: int
    is_pool: bool


def _tabbed(line: str, number: int) -> _Line | None:
    """Return a row of -H, which gives every vdev a tab in front, however deep it is."""
    below = line.startswith("\t")
    words = [word.strip() for word in line.strip("\n").split("\t")][int(below) :]
    if not words or not words[0]:
        return None
    cells = _by_number(words)
    is_pool = not below and cells is not None and _is_pool_row(words)
    if (not below and not is_pool) or len(words) == 1:
        # Of the lines with one cell those of other outputs are none of a vdev.
        return _Line(number, line, {"name": words[0]}, 1, False) if words[0] in SECTIONS else None
    return _Line(number, line, cells or {"name": words[0]}, 1, is_pool)


def _by_number(words: Sequence[str]) -> dict[str, str] | None:
    """Return cells by column: the releases moved HEALTH to the right as columns were added."""
    place = next((k for k, word in enumerate(words) if k > 3 and word in _HEALTH), None)
    columns = next((c for c in _COLUMNS if place is not None and c[place : place + 1] == ("health",)), None)
    return dict(zip(columns, words, strict=False)) if columns else None


def _spaced(line: str, number: int, columns: Sequence[str] | None) -> _Line | None:
    """Return a row of the form for people; vdevs are indented by two blanks a level."""
    words = line.split()
    if words and words[0] in SECTIONS and words[1:2] in ([], ["-"]):
        return _Line(number, line, {"name": words[0]}, 1, False)
    if columns is None and words and _HEADLESS.fullmatch(line[:1000]):
        cells_by_place = _by_number(words)
        return _Line(number, line, cells_by_place, 0, True) if cells_by_place else None
    if columns is None or not words or len(words) > 40:
        return None
    indent = len(line) - len(line.lstrip(" "))
    cells = dict(zip(columns, words, strict=False))
    sized = nice_bytes(cells.get("size")) is not None
    if len(words) < 4 or not (sized or cells.get("size") == "-"):
        return None
    is_pool = sized and any(word in _HEALTH for word in words) and indent == 0
    return _Line(number, line, cells, indent, is_pool)


def _pool(rows: Sequence[_Line], name: str) -> PoolList:
    first = rows[0]
    space = _space(first.cells)
    if space.size is None or space.alloc is None:
        raise bad_line(name, first.number, first.text, FORM, _REMEDY)
    vdevs, classes = _vdevs(rows[1:])
    printed = first.cells.get("size", "")
    health = first.cells.get("health", "")
    exact, columns = printed.isdigit(), frozenset(first.cells)
    return PoolList(first.cells["name"], space, vdevs, classes, exact, columns, health)


def _space(cells: Mapping[str, str]) -> Space:
    return Space(
        nice_bytes(cells.get("size")),
        nice_bytes(cells.get("alloc", cells.get("used"))),
        nice_bytes(cells.get("free", cells.get("avail"))),
        percentage(cells.get("frag")),
        percentage(cells.get("cap")),
    )


def _vdevs(
    rows: Sequence[_Line],
) -> tuple[tuple[tuple[Vdev, Space], ...], dict[str, tuple[tuple[Vdev, Space], ...]]]:
    """Return top-level vdevs with their space: those for data, and those of other classes by its name."""
    found: dict[str, list[Row]] = {"": []}
    spaces: dict[tuple[str, str], list[Space]] = {}
    section = ""
    for row in rows:
        title = row.cells["name"]
        if title in SECTIONS:
            section = title
            found.setdefault(section, [])
            continue
        space = _space(row.cells)
        vdev = named_vdev(title, row.cells.get("health", ""))
        if vdev.kind == "disk" and space.alloc is None:
            vdev = replace(vdev, size=space.size)
        found[section].append((row.indent, vdev))
        spaces.setdefault((section, title), []).append(space)
    # Up to 0.8 (and FreeBSD 12) vdevs have no number here: several are called raidz2, in their order.
    classes = {
        key: tuple((vdev, spaces[key, vdev.name].pop(0)) for vdev in nested(rows))
        for key, rows in found.items()
    }
    return classes.pop(""), classes
