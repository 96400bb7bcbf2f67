"""Benchmarks of a drive or the pool with fio and dd."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from zsim.base.errors import InputError
from zsim.base.parsed import is_number, table_or_empty
from zsim.base.units import parse_bytes
from zsim.observe.outputs import Remark
from zsim.observe.texts import plain
from zsim.scenario.evidence import Benchmark

Access = Literal["sequential-read", "sequential-write", "random-read", "random-write"]
MOST_JOBS = 1000
KINDS: dict[str, tuple[tuple[str, Access], ...]] = {
    "read": (("read", "sequential-read"),), "write": (("write", "sequential-write"),),
    "randread": (("read", "random-read"),), "randwrite": (("write", "random-write"),),
    "rw": (("read", "sequential-read"), ("write", "sequential-write")),
    "readwrite": (("read", "sequential-read"), ("write", "sequential-write")),
    "randrw": (("read", "random-read"), ("write", "random-write")),
}  # fmt: skip

_JOB = re.compile(r"^([^\n:]{1,100}): \(g=\d{1,4}\): rw=(\w{2,12}), bs=([^\n]{1,160})$", re.MULTILINE)
_BLOCK = re.compile(r"(?:\([RW]\) )?(\d{1,9}(?:\.\d{1,3})?[KMGkmg]?i?B?)", re.ASCII)
_DEPTH = re.compile(r"iodepth=(\d{1,5})\b", re.ASCII)
_RESULT = re.compile(
    r"^[ \t]{1,8}(read|write) ?: (?:io=[^\n]{1,30}?, bw=([\d.]{1,12})([KMG]?)B/s, iops=([\d.]{1,12})(k?)"
    r"|IOPS=([\d.]{1,12})([kM]?), BW=([\d.]{1,12})([KMG]?)iB/s)",
    re.MULTILINE,
)
_FILE = re.compile(
    r"--filename[= ](\S{1,200})|^filename=(\S{1,200})|^[ \t]{1,8}(sd[a-z]{1,3}|nvme\d+n\d+|ada\d+): ios=",
    re.MULTILINE,
)
_DD = re.compile(
    r"(\d{4,20}) bytes (?:\([^)\n]{1,60}\) )?(?:copied|transferred)(?:, | in )"
    r"(\d{1,9}(?:[.,]\d{1,9})?(?:e[+-]?\d{1,2})?) ?s(?:ec)?",
    re.ASCII,
)
_DD_COMMAND = re.compile(
    r"\bdd\b[^\n]{0,40}\bif=(\S{1,200})[^\n]{0,80}?\bof=(\S{1,200})|\bdd\b[^\n]{0,40}\bof=(\S{1,200})[^\n]{0,80}?\bif=(\S{1,200})"
)
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
SHORTEST_S = 1.0
"""Runs shorter than this measure caches."""


def read_benchmarks(text: str) -> tuple[list[Benchmark], list[str]]:
    """Return what fio and dd measured, and sentences about what cannot be used."""
    notes: list[str] = []
    found = [*_fio_json(text), *_fio_text(text), *_dd(text, notes)]
    return found[:MOST_JOBS], notes


def recognises(text: str) -> bool:
    """Tell whether a text holds results of fio or dd."""
    return bool(_JOB.search(text) or _DD.search(text) or _is_fio_json(text))


def read(text: str, name: str) -> tuple[Benchmark | Remark, ...]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    del name
    found, notes = read_benchmarks(text)
    return (*found, *map(Remark, notes))


def _is_fio_json(text: str) -> bool:
    return '"fio version"' in text[:4096] and '"jobs"' in text


def _fio_json(text: str) -> Iterator[Benchmark]:
    if not _is_fio_json(text):
        return
    try:
        data, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    except (ValueError, RecursionError) as error:
        remedy = "give the whole output of fio --output-format=json"
        raise InputError("fio", None, f"whole JSON is expected ({plain(str(error))})", remedy) from error
    jobs = data.get("jobs") if isinstance(data, Mapping) else None
    common = data.get("global options") if isinstance(data, Mapping) else None
    for job in jobs[:MOST_JOBS] if isinstance(jobs, list) else ():
        if isinstance(job, Mapping):
            options = {**table_or_empty(common), **table_or_empty(job.get("job options"))}
            yield from _fio_job(options, job)


def _fio_job(options: Mapping[str, object], job: Mapping[str, object]) -> Iterator[Benchmark]:
    pattern = str(options.get("rw") or options.get("readwrite") or "read")
    for side, access in KINDS.get(pattern, ()):
        result = table_or_empty(job.get(side))
        rate = _positive(result.get("bw_bytes")) or _scaled(_positive(result.get("bw")), 1024)
        operations = _positive(result.get("iops"))
        if rate or operations:
            yield Benchmark(
                access=access, of=_of(str(options.get("filename", ""))), rate=rate, operations=operations,
                size=_size(str(options.get("bs", "4k"))), depth=_depth(options),
                source=plain(f"fio, job {job.get('jobname', '')}", 300),
            )  # fmt: skip


def _positive(value: object) -> float | None:
    if not is_number(value):
        return None
    return float(value) if 0 < value < 1e15 else None


def _scaled(value: float | None, unit: float) -> float | None:
    return None if value is None else value * unit


def _depth(options: Mapping[str, object]) -> int | None:
    numbers = [str(options.get(key, "1")) for key in ("iodepth", "numjobs")]
    if not all(text.isdigit() and len(text) < 6 for text in numbers):
        return None
    return max(1, int(numbers[0]) * int(numbers[1]))


def _size(text: str) -> int | None:
    block = _BLOCK.search(text)
    try:
        return parse_bytes(block[1]) or None if block else None
    except InputError:
        return None


def _of(name: str) -> Literal["drive", "pool"]:
    """Return whether a file is a drive: only a device in /dev, or no name at all, is one."""
    device = name.startswith("/dev/") and not name.startswith(("/dev/zvol", "/dev/zd"))
    return "drive" if device or not name else "pool"


def _fio_text(text: str) -> Iterator[Benchmark]:
    """Yield the jobs of fio's output for people: head line and result stand apart, in the same order."""
    heads = [*_JOB.finditer(text)][:MOST_JOBS]
    if not heads:
        return
    named = _FILE.search(text)
    of = _of((named[1] or named[2] or f"/dev/{named[3]}") if named else "")
    results = [*_RESULT.finditer(text)]
    for place, result in enumerate(results[:MOST_JOBS]):
        before = [head for head in heads if head.start() < result.start()]
        head = heads[min(place, len(heads) - 1)] if len(results) == len(heads) else (before or heads)[-1]
        access = dict(KINDS.get(head[2], ())).get(result[1])
        if access is None:
            continue
        depth = _DEPTH.search(head[3])
        number, prefix = (result[2], result[3]) if result[2] else (result[8], result[9])
        count, thousands = (result[4], result[5]) if result[2] else (result[6], result[7])
        yield Benchmark(
            access=access, of=of, rate=_text_number(number, _UNITS[prefix]),
            operations=_text_number(count, {"": 1, "k": 1000, "M": 10**6}[thousands]),
            size=_size(head[3]), depth=max(1, int(depth[1])) if depth else None,
            source=plain(f"fio, job {head[1]}", 300),
        )  # fmt: skip


def _text_number(text: str, unit: float) -> float | None:
    try:
        return _positive(float(text) * unit)
    except ValueError:
        return None


def _dd(text: str, notes: list[str]) -> Iterator[Benchmark]:
    """Yield the copies of dd whose command line says what was read or written."""
    for match in _DD.finditer(text):
        commands = [*_DD_COMMAND.finditer(text[max(0, match.start() - 2000) : match.start()])]
        seconds = float(match[2].replace(",", "."))
        if not commands:
            notes.append("a result of dd without its command line is left out: it may be a read or a write")
            continue
        if seconds < SHORTEST_S:
            notes.append("a run of dd shorter than a second is left out: it measures caches")
            continue
        command = commands[-1]
        source, target = (command[1], command[2]) if command[1] else (command[4], command[3])
        read = not source.startswith(("/dev/zero", "/dev/random", "/dev/urandom"))
        yield Benchmark(
            access="sequential-read" if read else "sequential-write",
            of=_of(source if read else target),
            rate=_positive(int(match[1]) / seconds),
            depth=1,
            source=plain(f"dd if={source} of={target}", 300),
        )
