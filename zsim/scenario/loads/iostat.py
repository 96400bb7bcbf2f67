"""``zpool iostat`` of a pool in use, as loads: rates, or with ``-r`` request sizes.

The row of the pool counts what is asked of its top-level vdevs: blocks, whatever drives they lie on
(OpenZFS vdev.c:vdev_get_stats_ex).  With ``-r`` it sums over the drives (vdev.c:vdev_stat_update counts sizes
on leaves), with parity and copies; zpool divides both by the interval (cmd/zpool/zpool_main.c).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from zsim.base.errors import InputError
from zsim.base.units import parse_bytes
from zsim.scenario.layout import Layout
from zsim.scenario.parts import WRITES
from zsim.vdevs.kind import NORMAL, kind_of

SMALLEST, LARGEST = 512, 1 << 30
"""Of a request [bytes]."""
CLASSES = {
    "sync_read": "random-read", "async_read": "sequential-read",
    "sync_write": "sync-write", "async_write": "async-write",
}  # fmt: skip
"""What the I/O classes of client work are: prefetch reads ahead of streams (OpenZFS dmu_zfetch.c)."""
_RATES = re.compile(r"^[^\n]{0,200}\bcapacity[ \t]{1,80}operations[ \t]{1,80}bandwidth\b", re.MULTILINE)
_SIZES = re.compile(r"^\S{1,255}[ \t]{1,80}sync_read[ \t]{1,80}sync_write\b[^\n]{0,300}$", re.MULTILINE)
_SIZE = re.compile(r"^req_size[ \t]", re.MULTILINE)
_WAITS = re.compile(r"^\S{1,255}[ \t]{1,80}total_wait[ \t]{1,80}disk_wait\b", re.MULTILINE)
_SINCE_NOW = re.compile(r"zpool[ \t]+iostat(?:[ \t]+-\w+)*?[ \t]+-\w*y")
PLAIN_COLUMNS = 7
REMEDY = "give what zpool iostat -y POOL 60 1 or zpool iostat -ry POOL 60 1 prints"


class _Rates(NamedTuple):
    """Of one sample, by side: requests a second, and data a second [bytes/s]."""

    reads: float
    writes: float
    read_rate: float
    write_rate: float


def recognises(text: str) -> bool:
    """Tell whether a text holds the output of ``zpool iostat`` of any kind."""
    return any(pattern.search(text) for pattern in (_RATES, _SIZES, _WAITS))


def loads_of(text: str, path: str, data: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the loads that the output shows, as fields of `zsim.scenario.parts.Load`.

    Parameters
    ----------
    text, path : str
    data : mapping
        Fields of the scenario: its layout tells what of the drives' writes is parity.

    Raises
    ------
    InputError
        When it shows several pools, none that does anything, or waits only.
    """
    if _RATES.search(text):
        found = _of_rates(text, path)
    elif _SIZES.search(text) and _SIZE.search(text):
        found = _of_sizes(text, data)
    else:
        raise InputError("load", path, "histograms of waits (-w) do not show how much load there is", REMEDY)
    if not found:
        raise InputError("load", path, "the pool does nothing in it", REMEDY)
    return found


def _of_rates(text: str, path: str) -> list[dict[str, object]]:
    samples = list(_samples(text, path))
    if len(samples) > 1 and not _SINCE_NOW.search(text):
        # The first sample of a command without -y is the mean since the pool was imported.
        samples = samples[1:]
    count = max(1, len(samples))
    reads, writes = (
        math.fsum(each.reads for each in samples) / count,
        math.fsum(each.writes for each in samples) / count,
    )
    write_rate = math.fsum(each.write_rate for each in samples) / count
    # What is read are blocks, each as large as the pool has them.
    found: list[dict[str, object]] = [{"kind": "random-read", "rate": reads}] if reads > 0.0 else []
    if writes > 0.0:
        size = round(min(LARGEST, max(SMALLEST, write_rate / writes)))
        found.append({"kind": "async-write", "rate": writes, "size": size})
    return found


def _samples(text: str, path: str) -> Iterator[_Rates]:
    """Yield the rows of the pool; those of its vdevs are indented, or have other names."""
    pool = ""
    for line in text.split("\n"):
        words = line[:2000].split()
        if len(words) < PLAIN_COLUMNS or line[0].isspace() or words[0] in ("pool", "vdev"):
            continue
        numbers = [_number(word) for word in words[1:PLAIN_COLUMNS]]
        if any(number is None for number in numbers):
            continue
        if pool and words[0] != pool and words[1] != "-":
            both = f"it shows {pool} and {words[0]}"
            raise InputError("load", path, both, "give the output for one pool: zpool iostat -y POOL 60 1")
        pool = pool or words[0]
        if words[0] == pool:
            yield _Rates(*(number or 0.0 for number in numbers[2:]))


def _number(word: str) -> float | None:
    """Return a number as zpool prints it, in powers of 1024; 0 for ``-``, None for anything else."""
    if word == "-":
        return 0.0
    if not word[0].isdigit():
        return None
    try:
        return float(parse_bytes(word))
    except InputError:
        return None


def _of_sizes(text: str, data: Mapping[str, object]) -> list[dict[str, object]]:
    """Return a load for each class of the last sample of the pool: data a second, in its records.

    Of random reads their number counts, not their data: each costs the drives that hold a record a seek.
    """
    titles = list(_SIZES.finditer(text))
    pool = titles[0][0].split()[0]
    title = next(each for each in reversed(titles) if each[0].split()[0] == pool)
    names = title[0].split()[1:]
    sums, numbers = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    for line in text[title.end() :].split("\n")[1:]:
        words = line[:2000].split()
        if _SIZES.match(line):
            break
        cells = [_number(word) for word in words]
        if len(cells) < 1 + 2 * len(names) or None in cells:
            continue
        size, *counts = [each or 0.0 for each in cells]
        for place, name in enumerate(names):
            count = counts[2 * place] + counts[2 * place + 1]
            sums[name] += size * count
            numbers[name] += count
    stored, columns = _stored(data)
    found: list[dict[str, object]] = []
    for name, kind in CLASSES.items():
        rate = sums.get(name, 0.0) / (stored if kind in WRITES else 1.0)
        if rate > 0.0 and kind == "random-read":
            size = round(min(LARGEST, max(SMALLEST, columns * rate / numbers[name])))
            found.append({"kind": kind, "rate": numbers[name] / columns, "size": size})
        elif rate > 0.0:
            found.append({"kind": kind, "bandwidth": rate})
    return found


def _stored(data: Mapping[str, object]) -> tuple[float, int]:
    """Return how much the drives write of a byte of data, and how many a record is read from.

    Parity and copies of the first data vdev; its columns without parity, one side of a mirror.
    """
    layout = data.get("layout")
    layout = Layout.parse(layout) if isinstance(layout, str) else layout
    if not isinstance(layout, Layout):
        return 1.0, 1
    vdev = next((each for each in layout.vdevs if each.alloc_class == NORMAL), layout.vdevs[0])
    kind = kind_of(vdev.kind)
    width = vdev.children if kind.is_replicated else kind.columns(vdev)
    data_columns = 1 if kind.is_replicated else width - vdev.parity
    return width / data_columns, data_columns
