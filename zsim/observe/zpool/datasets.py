"""``zfs list``: how much each dataset holds, and which are volumes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from zsim.observe.texts import nice_bytes, with_rest
from zsim.observe.zpool.properties import USED, VOLUME, KnownProperty

MOST_ROWS = 200_000
_HEADER = re.compile(
    r"^[ \t]{0,8}NAME[ \t]{1,200}(?=[^\n]{0,200}\b(?:USEDDS|REFER)\b)[A-Z \t]{8,200}$", re.MULTILINE
)
_HELD = ("USEDDS", "REFER")
"""Columns of what a dataset itself holds, the exact one first: REFER counts what snapshots share."""


_AVAILABLE = ("AVAIL", "AVAILABLE")


@dataclass(frozen=True, slots=True)
class DatasetSpace:
    """What ``zfs list`` shows of the dataset of a pool itself.

    Attributes
    ----------
    pool : str
    used : int
        Of it and all below, with what is reserved [bytes].
    available : int
        [bytes]
    """

    pool: str
    used: int
    available: int


def recognises(text: str) -> bool:
    """Tell whether a text holds the output of ``zfs list``."""
    return next(_rows(text), None) is not None


def read(text: str, name: str) -> tuple[KnownProperty | DatasetSpace, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    del name
    return tuple(_rows(text))


def dataset_space(spaces: Iterable[DatasetSpace], pool: str) -> DatasetSpace | None:
    """Return the space of the datasets of a pool; None where it is not shown, or shown differently."""
    found = {each for each in spaces if each.pool == pool}
    return found.pop() if len(found) == 1 else None


def _rows(text: str) -> Iterator[KnownProperty | DatasetSpace]:
    for header, rest in with_rest(_HEADER, text, 1000):
        columns = header[0].split()
        for line in rest[1:].split("\n")[:MOST_ROWS]:
            cells = line.split(None, len(columns) - 1)
            if len(cells) < len(columns) or not cells[0][0].isalpha():
                break
            yield from _row(dict(zip(columns, cells, strict=True)))


def _row(cells: dict[str, str]) -> Iterator[KnownProperty | DatasetSpace]:
    """Yield what a row tells; snapshots and bookmarks hold nothing of their own that a scan would know."""
    name = cells["NAME"][:300]
    used = nice_bytes(cells.get("USED"))
    free = next((size for key in _AVAILABLE if (size := nice_bytes(cells.get(key))) is not None), None)
    if used and free is not None and not {"/", "@", "#"} & set(name):
        yield DatasetSpace(name, used, free)
    held = next((size for key in _HELD if (size := nice_bytes(cells.get(key)))), None)
    if held is None or "@" in name or "#" in name:
        return
    yield KnownProperty(name, USED, held)
    if cells.get("MOUNTPOINT", "").strip() == "-":
        yield KnownProperty(name, VOLUME, 1)
