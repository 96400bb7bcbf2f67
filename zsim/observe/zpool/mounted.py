"""``df``: how much the mounted datasets of a pool hold, and how much room is left."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from zsim.observe.texts import nice_bytes

MOST_ROWS = 100_000
_HEADER = re.compile(
    r"^[ \t]{0,8}Filesystem[ \t][^\n]{0,80}\b(1[Kk]-blocks|Size)\b[^\n]{0,60}$", re.MULTILINE
)
_ROW = re.compile(
    r"^[ \t]{0,8}([A-Za-z][^\s@#/]{0,100})(?:/[^\s@#]{1,250})?[ \t]+(?:zfs[ \t]+)?[\d.,]{1,20}[KMGTP]?i?"
    r"[ \t]+([\d.,]{1,20}[KMGTP]?)i?[ \t]+([\d.,]{1,20}[KMGTP]?)i?[ \t]+\d{1,3}%[ \t]+\S[^\n]{0,300}$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class MountedSpace:
    """What ``df`` shows of a pool.

    Attributes
    ----------
    pool : str
    used : int
        Of all its datasets that are mounted, without snapshots [bytes].
    available : int
        [bytes]
    """

    pool: str
    used: int
    available: int


def recognises(text: str) -> bool:
    """Tell whether a text holds the output of ``df`` with datasets."""
    return _HEADER.search(text) is not None and _ROW.search(text) is not None


def read(text: str, name: str) -> tuple[MountedSpace, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    del name
    header = _HEADER.search(text)
    unit = 1024 if header is not None and header[1].lower().startswith("1k") else 1
    found: dict[str, MountedSpace] = {}
    for _, match in zip(range(MOST_ROWS), _ROW.finditer(text), strict=False):
        used, free = nice_bytes(match[2]), nice_bytes(match[3])
        if used is None or free is None:
            continue
        # All datasets share the room that is left, unless one has a quota.
        before = found.get(match[1], MountedSpace(match[1], 0, 0))
        found[match[1]] = MountedSpace(
            match[1], before.used + used * unit, max(before.available, free * unit)
        )
    return tuple(found.values())


def mounted_fill(spaces: Iterable[MountedSpace], pool: str) -> float | None:
    """Return which share of its room the datasets of a pool take; None where df shows none of them."""
    space = next((each for each in spaces if each.pool == pool and each.used + each.available > 0), None)
    return space.used / (space.used + space.available) if space is not None and space.used else None
