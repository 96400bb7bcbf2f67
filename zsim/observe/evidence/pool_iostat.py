"""``zpool iostat -v``, with or without -l, -q, -y, -p, -H, of every release.

Columns are told by the two lines of the header (OpenZFS cmd/zpool/zpool_main.c, vsx_type_to_nvlist and
iostat_top_labels); without one (-H) the first six are capacity, operations and bandwidth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from zsim.observe.dates import date_line
from zsim.observe.evidence.activity import Samples, summed, weighted
from zsim.observe.texts import nice_bytes
from zsim.observe.zpool.listing import Space
from zsim.observe.zpool.vdev_tree import SECTIONS, Row, Vdev, named_vdev, nested
from zsim.scenario.layout import MAX_VDEVS

GROUPS: dict[str, tuple[str, ...]] = {
    "capacity": ("alloc", "free"), "operations": ("reads", "writes"),
    "bandwidth": ("read_rate", "write_rate"),
    "total_wait": ("total_read", "total_write"), "disk_wait": ("disk_read", "disk_write"),
    "syncq_wait": ("syncq_read_wait", "syncq_write_wait"),
    "asyncq_wait": ("asyncq_read_wait", "asyncq_write_wait"),
    "scrub": ("scrub_wait",), "trim": ("trim_wait",),
    "rebuild": ("rebuild_wait",),
}  # fmt: skip
"""Columns under each title of the upper line of a header."""
PLAIN = GROUPS["capacity"] + GROUPS["operations"] + GROUPS["bandwidth"]
QUEUES = ("pend", "activ")
RULE = "-----"
"""The line below the rows of a pool."""

_LOWER = re.compile(
    r"^[ \t]{0,80}(?:pool|vdev)?[ \t]{1,200}alloc[ \t]{1,20}free[ \t]{1,20}read[ \t]{1,20}write\b"
)
_HEADER = re.compile(r"^[^\n]{0,200}\bcapacity[ \t]{1,40}operations[ \t]{1,40}bandwidth\b", re.MULTILINE)
_TABBED = re.compile(
    r"^[^\t\n]{1,256}(?:\t(?:-|\d[\d.]{0,20}[KMGTPE]?)){6}(?:\t[^\t\n]{1,20}){0,24}$", re.MULTILINE
)
_COMMAND = re.compile(r"zpool[ \t]+iostat((?:[ \t]+-{1,2}[\w=-]+)*)")
_TIME = re.compile(r"(\d{1,12}(?:\.\d{1,4})?)(ns|us|ms|s|m|h)?", re.ASCII)
_TIMES = {None: 1e-9, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def recognises(text: str) -> bool:
    """Tell whether a text holds the output of ``zpool iostat``."""
    if _HEADER.search(text):
        return True
    rows = _TABBED.findall(text[: 1 << 20])
    return len(rows) > 1 and any(row.split("\t")[1:3] == ["-", "-"] for row in rows)


@dataclass(frozen=True, slots=True)
class PoolSpace:
    """What the first sample says of the space of a pool.

    Attributes
    ----------
    name : str
        Of the pool.
    space : Space
    vdevs : tuple of Vdev
        Top-level vdevs for data, if -v was given.
    """

    name: str
    space: Space
    vdevs: tuple[Vdev, ...] = ()


def read(text: str, name: str) -> tuple[Samples | PoolSpace, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    del name
    return (read_iostat(text), *read_spaces(text))


def read_spaces(text: str) -> tuple[PoolSpace, ...]:
    """Return the space of each pool, by the first rows about it."""
    found: dict[str, PoolSpace] = {}
    rows: list[tuple[int, list[str]]] = []
    shown = False
    for line in (*text.split("\n"), RULE):
        words = line.split()
        if _LOWER.match(line[:400]) or (words and set(words[0]) == {"-"}):
            for space in _spaces(rows):
                found.setdefault(space.name, space)
            rows, shown = [], True
        elif shown and len(words) >= 7 and len(line) <= 2000 and _are_numbers(words[1:7]):
            rows.append((len(line) - len(line.lstrip()), words))
    return tuple(found.values())


def _spaces(rows: Sequence[tuple[int, list[str]]]) -> Iterator[PoolSpace]:
    """Yield the space of the pools of a part of a table: of one with its vdevs, or of several without."""
    tree = any(indent or named_vdev(words[0]).kind != "disk" for indent, words in rows[1:])
    if not tree:
        yield from (PoolSpace(words[0], _space(words)) for _, words in rows)
        return
    below: list[Row] = []
    sizes: list[int] = []
    for indent, words in rows[1:]:
        if words[0] in SECTIONS:
            break
        below.append((indent, named_vdev(words[0])))
        if (size := _space(words).size) is not None:
            sizes.append(size)
    space, vdevs = _space(rows[0][1]), nested(below)
    if space.size and sizes and len(below) == len(rows) - 1:
        # Of a table that is cut off the last vdev stands for those that are not shown.
        vdevs += vdevs[-1:] * min(MAX_VDEVS, round((space.size - sum(sizes)) / sizes[-1]))
    yield PoolSpace(rows[0][1][0], space, vdevs)


def _space(words: Sequence[str]) -> Space:
    alloc, free = nice_bytes(words[1]), nice_bytes(words[2])
    return Space(None if alloc is None or free is None else alloc + free, alloc, free)


def read_iostat(text: str) -> Samples:
    """Read the rows of drives of every sample.

    Returns
    -------
    Samples
        Rates [bytes/s], operations [1/s], times [s]; ``from_boot`` unless the command has -y.
    """
    command = _COMMAND.search(text)
    found = Samples("zpool iostat", from_boot=not (command and re.search(r" -\w*y", command[1])))
    columns: Sequence[str] | None = None
    upper, first = "", ""
    tabbed = _HEADER.search(text) is None
    for line in text.split("\n"):
        if "capacity" in line and "bandwidth" in line:
            upper = line
        elif _LOWER.match(line[:400]):
            columns, first = _columns(upper), ""
            found.begin()
        elif date_line(line) is not None:
            found.begin()
        elif columns is not None or tabbed:
            first = _row(line, columns, first, found)
    return found


def _columns(upper: str) -> tuple[str, ...]:
    """Return the columns that the titles of the upper line stand over."""
    names: list[str] = []
    for title in upper.split()[:40]:
        names += GROUPS.get(title, tuple(f"{title}_{each}" for each in QUEUES))
    return tuple(names) or PLAIN


def _row(line: str, columns: Sequence[str] | None, first: str, found: Samples) -> str:
    """Note the drive of a line; return the name of the pool, whose row begins a sample."""
    words = line.split()
    if len(words) < 7 or set(words[0]) == {"-"} or len(line) > 2000 or not _are_numbers(words[1:7]):
        return first
    name = words[0]
    if not first or (name == first and not line[0].isspace()):
        found.begin()
        return name
    if name in SECTIONS or named_vdev(name).kind != "disk":
        return first
    found.put(name, _values(dict(zip(columns or PLAIN, words[1:], strict=False))))
    return first


def _are_numbers(words: Sequence[str]) -> bool:
    return all(word == "-" or nice_bytes(word) is not None for word in words)


def _values(cells: Mapping[str, str]) -> dict[str, float]:
    """Return the fields of `DriveActivity` of one row, in SI."""
    values = {name: float(size) for name in PLAIN[2:] if (size := nice_bytes(cells.get(name))) is not None}
    reads, writes = values.get("reads", 0.0), values.get("writes", 0.0)
    service = weighted(
        (time_of(cells.get("disk_read", "")), reads), (time_of(cells.get("disk_write", "")), writes)
    )
    queue = summed(cells, lambda name: name.endswith(QUEUES), nice_bytes)
    return values | {
        name: value for name, value in (("service", service), ("queue", queue)) if value is not None
    }


def time_of(text: str) -> float | None:
    """Return a time as ``zpool iostat -l`` prints it, 12ms or, with -p, nanoseconds [s]; None for ``-``."""
    match = _TIME.fullmatch(text)
    return float(match[1]) * _TIMES[match[2]] if match else None
