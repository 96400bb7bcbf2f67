"""``iostat -x`` of Linux, FreeBSD and Solaris, and ``gstat``: the activity of drives as the host sees it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from zsim.observe.evidence.activity import Samples, weighted

KILO, MEGA, SECTOR = 1024.0, 1024.0**2, 512.0
RATES: dict[str, tuple[str, float]] = {
    "r/s": ("reads", 1.0), "w/s": ("writes", 1.0),
    "rkb/s": ("read_rate", KILO), "wkb/s": ("write_rate", KILO),
    "rmb/s": ("read_rate", MEGA), "wmb/s": ("write_rate", MEGA), "rsec/s": ("read_rate", SECTOR),
    "wsec/s": ("write_rate", SECTOR), "kr/s": ("read_rate", KILO), "kw/s": ("write_rate", KILO),
    "mr/s": ("read_rate", MEGA), "mw/s": ("write_rate", MEGA),
    "%util": ("busy", 0.01), "%b": ("busy", 0.01), "aqu-sz": ("queue", 1.0), "avgqu-sz": ("queue", 1.0),
    "qlen": ("queue", 1.0),
}  # fmt: skip
"""Columns and what they are, with their unit (sysstat iostat(1); FreeBSD iostat(8); Solaris iostat(1M))."""
WAITS = ("r_await", "ms/r"), ("w_await", "ms/w")
GSTAT = ("queue", "ops", "reads", "read_kb", "ms/r", "writes", "write_kb", "ms/w")

_HEADER = re.compile(
    r"^[ \t]{0,20}(?:(?:Device:?|device)[ \t][^\n]{0,300}(?:%util|%b|svctm?|svc_t)"
    r"|r/s[ \t][^\n]{0,200}\bdevice)[^\n]{0,80}$",
    re.MULTILINE,
)
_GSTAT = re.compile(
    r"^[ \t]{0,8}L\(q\)[ \t]+ops/s[ \t]+r/s[ \t]+kBps[ \t]+ms/r[ \t][^\n]{0,120}%busy[ \t]+Name", re.MULTILINE
)
_INTERVAL = re.compile(r"^dT:[ \t]{0,4}(\d{1,6}(?:\.\d{1,4})?)s\b", re.ASCII)
SHORTEST_S = 0.5
"""gstat shows some ten milliseconds first: a few requests, which tell nothing of a mean [s]."""
_COMMAND = re.compile(r"(?<!zpool )\biostat((?:[ \t]+-[\w=-]+)+)")
_NUMBER = re.compile(r"\d{1,15}(?:[.,]\d{1,6})?", re.ASCII)


def recognises(text: str) -> bool:
    """Tell whether a text holds the output of ``iostat -x`` or ``gstat``."""
    return _HEADER.search(text) is not None or _GSTAT.search(text) is not None


def read(text: str, name: str) -> tuple[Samples]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    del name
    return (read_host_iostat(text),)


def read_host_iostat(text: str) -> Samples:
    """Read every sample; the first is since the start of the host unless the command has -y, or is gstat."""
    command = _COMMAND.search(text)
    gstat = _GSTAT.search(text) is not None and _HEADER.search(text) is None
    skipped = command is not None and re.search(r" -\w*y", command[1]) is not None
    found = Samples("gstat" if gstat else "iostat -x", from_boot=not (skipped or gstat))
    columns: list[str] = []
    brief = False
    for line in text.split("\n"):
        if len(line) > 1000:
            continue
        if _HEADER.match(line):
            columns = [word.rstrip(":").lower() for word in line.split()]
            found.begin()
        elif interval := _INTERVAL.match(line):
            brief = float(interval[1]) < SHORTEST_S
        elif _GSTAT.match(line):
            columns = [] if brief else ["gstat"]
            found.begin()
        elif columns:
            _row(line.replace("|", " ").split(), columns, found)
    return found


def _row(words: Sequence[str], columns: Sequence[str], found: Samples) -> None:
    if columns == ["gstat"]:
        if len(words) >= 10 and _number(words[0]) is not None:
            _put_gstat(words, found)
        return
    if len(words) != len(columns):
        return
    cells = dict(zip(columns, words, strict=True))
    name = cells.get("device", "")
    if _number(name) is None and _number(cells.get("r/s", "")) is not None:
        found.put(name, _values(cells))


def _number(text: str) -> float | None:
    return float(text.replace(",", ".")) if _NUMBER.fullmatch(text) else None


def _values(cells: Mapping[str, str]) -> dict[str, float]:
    values = {
        RATES[name][0]: number * RATES[name][1]
        for name, text in cells.items()
        if name in RATES and (number := _number(text)) is not None
    }
    reads, writes = values.get("reads", 0.0), values.get("writes", 0.0)
    (read, write) = (_wait(cells, names) for names in WAITS)
    both = _wait(cells, ("await", "svc_t", "asvc_t", "ms/o"))
    service = weighted((read, reads), (write, writes)) or (both if reads + writes > 0 else None)
    return values | ({"service": service} if service is not None else {})


def _wait(cells: Mapping[str, str], names: Sequence[str]) -> float | None:
    known = (_number(cells[name]) for name in names if name in cells)
    found = next((number for number in known if number is not None), None)
    return None if found is None else found / 1000


def _put_gstat(words: Sequence[str], found: Samples) -> None:
    name = words[-1]
    numbers = [_number(word) for word in words[:-1]]
    if any(number is None for number in numbers[:8]):
        return
    cells = dict(zip(GSTAT, (number or 0.0 for number in numbers), strict=False))
    values = {
        "queue": cells["queue"], "reads": cells["reads"], "writes": cells["writes"],
        "read_rate": cells["read_kb"] * KILO, "write_rate": cells["write_kb"] * KILO,
        "busy": (numbers[-1] or 0.0) / 100,
    }  # fmt: skip
    service = weighted((cells["ms/r"] / 1000, cells["reads"]), (cells["ms/w"] / 1000, cells["writes"]))
    found.put(name, values | ({"service": service} if service is not None else {}))
