"""The table of vdevs in ``zpool status``, line by line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from zsim.observe.cleaning import as_count, as_digits, as_state
from zsim.observe.texts import bad_line, nice_count
from zsim.observe.zpool.vdev_tree import (
    GROUPS,
    SECTIONS,
    ErrorCounts,
    Row,
    Vdev,
    named_vdev,
    nested,
    numbered,
)

Line = tuple[int, str]
"""Number in the text, and what it says."""
LEAST_ROWS = 3
"""A header, the pool and a vdev, which is further in."""
_STATES = frozenset((
    "ONLINE", "DEGRADED", "FAULTED", "OFFLINE", "UNAVAIL", "REMOVED", "AVAIL", "INUSE", "SPLIT",
))  # fmt: skip
_LIKE_A_VDEV = re.compile(r"([a-z]{5,9}?)([123lI]?)-([\dlIO]{1,4})", re.ASCII)
_DOTS = re.compile(
    r"[\[(<]{0,2}(?:\.{2,12}|\u2026|(?:snip(?:ped)?|cut|trimmed|omitted|etc\.?|and so on)\.{0,3})[\])>]{0,2}",
    re.IGNORECASE,
)
"""What people write for rows that they leave out."""


def ends_in_a_row(lines: Sequence[Line]) -> bool:
    """Tell whether the last row is less than a name, a state and three counters, as those before it are."""
    shown = [line.expandtabs(8) for _, line in lines if line.strip()]
    rows, indents = [line.split() for line in shown], [len(line) - len(line.lstrip()) for line in shown]
    if len(rows) < LEAST_ROWS or indents[-1] <= indents[1]:
        return False
    if rows[-1][0] in SECTIONS or rows[-1][1:2] in (["AVAIL"], ["INUSE"]):
        return False
    whole = len(("NAME", "STATE", "READ", "WRITE", "CKSUM"))
    begun = all(each.isdigit() for each in rows[-1][2:]) and any(
        state.startswith(rows[-1][1] if rows[-1][1:] else "") for state in _STATES
    )
    return begun and len(rows[-1]) < whole <= len(rows[-2])


def sections_of(lines: Sequence[Line], name: str) -> dict[str, tuple[Vdev, ...]]:
    """Return the vdevs by section; those of the normal class are under the empty name."""
    rows: dict[str, list[Row]] = {}
    section, with_slow = "", False
    for number, line in lines:
        words = _as_row(line.split())
        if not words or words[0] == "NAME":
            with_slow = words[5:6] == ["SLOW"] if words else with_slow
            continue
        if rows and words[0] in SECTIONS and (len(words) == 1 or words[1] not in _STATES):
            section = "spares" if words[0] == "spare" else words[0]
            rows.setdefault(section, [])
            continue
        if len(words) < 2 or words[1] not in _STATES:
            continue
        if len(words[0]) > 1024:
            raise bad_line(name, number, line, "a row NAME STATE READ WRITE CKSUM", "run zpool status again")
        note = " ".join(words[5:]) if len(words) > 5 else " ".join(words[2:]) if len(words) < 5 else ""
        indent = len(line.expandtabs(8)) - len(line.expandtabs(8).lstrip())
        vdev = replace(named_vdev(words[0], words[1], note), errors=_errors(words[2 : 6 if with_slow else 5]))
        rows.setdefault(section, []).append((indent, vdev))
    return {key: _trees(key, found) for key, found in rows.items()}


def _as_row(words: list[str]) -> list[str]:
    """Return the words of a row, name and state as zpool prints them where text recognition misread them."""
    if len(words) < 2:
        return words
    return [_as_vdev_name(words[0]), as_state(words[1], _STATES), *words[2:]]


def _as_vdev_name(name: str) -> str:
    """Return the name of a vdev that is no drive, with digits where zpool prints digits."""
    match = _LIKE_A_VDEV.fullmatch(name) if named_vdev(name).kind == "disk" else None
    found = f"{match[1]}{as_digits(match[2])}-{as_digits(match[3])}" if match else name
    return found if named_vdev(found).kind != "disk" else name


def elided(lines: Sequence[Line]) -> tuple[str, ...]:
    """Return the top-level vdevs behind the beginning of which somebody has put dots for rows."""
    found: dict[str, None] = {}
    last = ""
    for _, line in lines:
        words = line.split()
        if words and words[0] in SECTIONS and words[1:2] not in ([state] for state in _STATES):
            break
        if words and named_vdev(_as_vdev_name(words[0])).kind in GROUPS:
            last = _as_vdev_name(words[0])
        elif last and _DOTS.fullmatch(line.strip()):
            found[last] = None
    return tuple(found)


def _errors(words: Sequence[str]) -> ErrorCounts:
    """Return the counters of a row; none where there are words in their place."""
    counts = [nice_count(as_count(word)) for word in words]
    known = [count for count in counts if count is not None]
    return (
        ErrorCounts(*known) if len(known) == len(counts) >= len(("READ", "WRITE", "CKSUM")) else ErrorCounts()
    )


def _trees(section: str, rows: Sequence[Row]) -> tuple[Vdev, ...]:
    """Return the trees of a section; the first row of the main one is the pool itself."""
    return numbered(nested(rows if section else rows[1:]))
