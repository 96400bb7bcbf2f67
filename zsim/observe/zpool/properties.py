"""``zpool get`` and ``zfs get``: space of the pool, sector size, record sizes of its datasets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from zsim.observe.texts import nice_bytes, percentage, whole
from zsim.observe.zpool.listing import PoolList, Space

MOST_ROWS = 200_000
USED, VOLUME = "usedbydataset", "volume"
_ROW = re.compile(
    r"^([A-Za-z][^\s@#]{0,250})[ \t]{1,80}"
    r"(size|allocated|free|fragmentation|capacity|ashift|recordsize|volblocksize"
    r"|usedbydataset|special_small_blocks|version)[ \t]{1,80}(-|none|\d[\w.%]{0,24})"
    r"(?:[ \t]{1,80}(-|default|local|inherited[^\n]{0,200}|received|none|temporary))?[ \t]*$",
    re.MULTILINE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class KnownProperty:
    """A property of a pool or dataset that a scenario has a field for.

    Attributes
    ----------
    of : str
        Name of the pool or dataset.
    name : str
        ashift, recordsize, volblocksize, usedbydataset or special_small_blocks, or volume for a dataset that
        is one.
    value : int
        [bytes], or the exponent of ashift.
    source : str
        Which output tells it.
    """

    of: str
    name: str
    value: int
    source: str = "zfs get"

    @property
    def pool(self) -> str:
        """Name of the pool."""
        return self.of.partition("/")[0]


def recognises(text: str) -> bool:
    """Tell whether a text holds the output of ``zpool get`` or ``zfs get``."""
    return _ROW.search(text) is not None


def read(text: str, name: str) -> tuple[PoolList | KnownProperty, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    del name
    return (*read_pools(text), *read_settings(text))


def read_pools(text: str) -> list[PoolList]:
    """Return the space of pools whose size and ALLOC ``zpool get`` shows."""
    rows: dict[str, dict[str, str]] = {}
    for match in _rows(text):
        rows.setdefault(match[1], {})[match[2]] = match[3]
    found = []
    for name, cells in rows.items():
        size, alloc = nice_bytes(cells.get("size")), nice_bytes(cells.get("allocated"))
        if size is not None and alloc is not None and "/" not in name:
            space = Space(
                size, alloc, nice_bytes(cells.get("free")), percentage(cells.get("fragmentation")),
                percentage(cells.get("capacity")),
            )  # fmt: skip
            columns = {"name", "size", "alloc", "free", "ckpoint"} | (
                {"frag"} if space.frag is not None else set()
            )
            exact, health = cells["size"].isdigit(), cells.get("health", "")
            found.append(PoolList(name, space, (), {}, exact, frozenset(columns), health))
    return found


def _rows(text: str) -> Iterable[re.Match[str]]:
    for number, match in enumerate(_ROW.finditer(text)):
        if number >= MOST_ROWS:
            return
        yield match


def read_settings(text: str) -> list[KnownProperty]:
    """Return the properties that a scenario has a field for."""
    found = []
    for match in _rows(text):
        if match[2] in ("recordsize", "volblocksize", "usedbydataset", "special_small_blocks"):
            value = nice_bytes(match[3])
        else:
            value = whole(match[3]) if match[2] == "ashift" else None
        if value or (value == 0 and match[2] == "special_small_blocks"):
            found.append(KnownProperty(match[1], match[2], value))
    return found


@dataclass(frozen=True, slots=True)
class FullestRecordSize:
    """The record or volume block size of what holds most.

    Attributes
    ----------
    size : int or None
        [bytes]; None where what holds most does not show it.
    of : str
        Name of the dataset, of several of that size the one that holds most.
    others : bool
        Whether others have other sizes.
    weighed : bool
        Whether it is known how much each holds.
    """

    size: int | None
    of: str
    others: bool
    weighed: bool


def record_of(settings: Iterable[KnownProperty], pool: str) -> FullestRecordSize | None:
    """Return the record or volume block size of the datasets that hold most; None where none is shown."""
    own = [each for each in settings if each.pool == pool or not pool]
    sizes = {each.of: each.value for each in own if each.name in ("recordsize", "volblocksize")}
    if not sizes:
        return None
    used = {each.of: each.value for each in own if each.name == USED}
    volumes = {each.of for each in own if each.name == VOLUME} - {*sizes}
    held: dict[int | None, int] = {}
    for name, count in used.items():
        size = _size_of(name, sizes, volumes)
        held[size] = held.get(size, 0) + count
    several = len(set(sizes.values())) > 1
    if not used:
        first = min(sizes, key=lambda each: each.count("/"))
        return FullestRecordSize(None if several else sizes[first], first, several, False)
    size = max(held, key=lambda each: held[each])
    of_size = [name for name in used if _size_of(name, sizes, volumes) == size]
    return FullestRecordSize(size, max(of_size, key=lambda each: used[each]), several or len(held) > 1, True)


def _size_of(name: str, sizes: dict[str, int], volumes: set[str]) -> int | None:
    """Return the size of a dataset, that of the nearest above it where it shows none; no volume has that."""
    if name in volumes:
        return None
    while name not in sizes and "/" in name:
        name = name.rpartition("/")[0]
    return sizes.get(name)


def small_blocks_of(settings: Iterable[KnownProperty], pool: str) -> int | None:
    """Return up to which size blocks go to the special vdevs, in the dataset that holds most [bytes].

    Returns
    -------
    int or None
        0: none do.  Without `usedbydataset` the largest of all datasets; None where no output tells it.
    """
    own = [each for each in settings if each.pool == pool or not pool]
    sizes = {each.of: each.value for each in own if each.name == "special_small_blocks"}
    used = {each.of: each.value for each in own if each.name == "usedbydataset"}
    if not sizes:
        return None
    return sizes[max(sizes, key=lambda each: (used.get(each, 0), sizes[each]))]
