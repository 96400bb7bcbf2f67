"""``zpool iostat -w`` and ``-r``: histograms of waits and of request sizes, by vdev.

A row counts what fell between two powers of two: it is named by the end of its times, and by the begin of its
sizes (OpenZFS cmd/zpool/zpool_main.c:print_iostat_histos; sys/fs/zfs.h, HISTO).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zsim.observe.dates import date_line
from zsim.observe.evidence.activity import Samples
from zsim.observe.evidence.pool_iostat import time_of
from zsim.observe.outputs import Remark
from zsim.observe.texts import nice_bytes, nice_count
from zsim.observe.zpool.vdev_tree import named_vdev

STEP = 2.0
"""One row of a histogram over the row before it."""
AT_DISK = ("disk_wait",)
OF_SCAN, OF_REPAIR = ("scrub", "rebuild"), ("async_write", "rebuild")
"""Classes of a scan's requests: it reads in its own; what it repairs is written as any data is."""
POOL_ALONE = (
    "the histograms of zpool iostat -{flag} are read and do not count: they are of the whole pool, whose"
    " drives do different things. Add -v for those of each drive"
)
QUEUES = (
    "of the histograms of zpool iostat -w only the time at the disk (disk_wait) counts: how long requests"
    " wait in ZFS' own queues follows from how many it lets go at a time, not from the drives"
)
CLIENTS = (
    "of the histograms of zpool iostat -r only the sizes of the scan's own requests count: those of the other"
    " classes are of what uses the pool"
)
_TITLES = re.compile(r"^(\S{1,256})[ \t]{1,80}((?:total_wait|sync_read)[ \t][^\n]{0,300})$", re.MULTILINE)
_LABELS = re.compile(r"(?:latency|req_size)[ \t]", re.ASCII)
_COMMAND = re.compile(r"zpool[ \t]+iostat((?:[ \t]+-{1,2}[\w=-]+)*)")


@dataclass(slots=True)
class _Table:
    """One histogram: of a vdev, by title."""

    name: str
    titles: tuple[str, ...]
    rows: list[tuple[float, list[int]]] = field(default_factory=list)

    @property
    def of_waits(self) -> bool:
        return self.titles[0] == "total_wait"


def recognises(text: str) -> bool:
    """Tell whether a text holds a histogram of ``zpool iostat``."""
    return _TITLES.search(text) is not None


def read(text: str, name: str) -> tuple[Samples | Remark, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    del name
    found: list[Samples | Remark] = []
    for of_waits, flag, rest in ((True, "w", QUEUES), (False, "r", CLIENTS)):
        tables = [each for each in _tables(text) if each.of_waits is of_waits]
        drives = [each for each in tables if _is_drive(each.name, tables[0].name)]
        if not tables:
            continue
        found.append(Remark(rest if drives else POOL_ALONE.format(flag=flag)))
        if drives:
            found.append(_samples(tables, flag, text))
    return tuple(found)


def _is_drive(name: str, pool: str) -> bool:
    return name != pool and named_vdev(name).kind == "disk"


def _samples(tables: Sequence[_Table], flag: str, text: str) -> Samples:
    command = _COMMAND.search(text)
    skipped = command is not None and re.search(r" -\w*y", command[1]) is not None
    found = Samples(f"zpool iostat -{flag}", from_boot=not skipped)
    pool = tables[0].name
    for table in tables:
        if table.name == pool:
            found.begin()
        elif _is_drive(table.name, pool):
            found.put(table.name, _values(table))
    return found


def _tables(text: str) -> list[_Table]:
    """Return the histograms in the order of the text."""
    tables: list[_Table] = []
    inside = False
    for line in text.split("\n"):
        title = _TITLES.match(line[:700])
        if title is not None:
            tables.append(_Table(title[1], tuple(title[2].split())))
            inside = True
        elif inside and tables:
            inside = _row(line[:700], tables[-1])
    return tables


def _row(line: str, table: _Table) -> bool:
    """Note a row; tell whether the table may go on."""
    words = line.split()
    if not words or _LABELS.match(line) or set(line.strip()) <= {"-", " "}:
        return bool(words) or not table.rows
    at = time_of(words[0]) if table.of_waits else nice_bytes(words[0])
    counts = [nice_count(word) for word in words[1:]]
    if at is None or len(counts) < len(table.titles) or None in counts or date_line(line) is not None:
        return False
    middle = at / math.sqrt(STEP) if table.of_waits else at * math.sqrt(STEP)
    table.rows.append((middle, [count or 0 for count in counts]))
    return True


def _values(table: _Table) -> dict[str, float]:
    """Return what a drive did: the mean time at it, or the mean size of the scan's requests."""
    if table.of_waits:
        time, count = _mean(table, AT_DISK)
        return {"service": time, "count": count, "step": STEP} if count else {}
    found: Mapping[str, tuple[float, float]] = {
        "read_request": _mean(table, OF_SCAN), "write_request": _mean(table, OF_REPAIR)
    }  # fmt: skip
    values = {name: size for name, (size, count) in found.items() if count}
    return values | {"step": STEP, "count": math.fsum(count for _, count in found.values())} if values else {}


def _mean(table: _Table, wanted: Sequence[str]) -> tuple[float, float]:
    """Return the mean over the columns under some titles, and how many requests it is of."""
    columns = [place for title in wanted for place in _columns(table, title)]
    pairs = [
        (middle, sum(counts[place] for place in columns if place < len(counts)))
        for middle, counts in table.rows
    ]
    count = math.fsum(number for _, number in pairs)
    return (math.fsum(middle * number for middle, number in pairs) / count if count else 0.0), count


def _columns(table: _Table, title: str) -> list[int]:
    """Return the columns under a title: two each, but one of a queue of its own among the waits."""
    place = 0
    for each in table.titles:
        width = 1 if table.of_waits and not each.endswith("_wait") else 2
        if each == title:
            return list(range(place, place + width))
        place += width
    return []
