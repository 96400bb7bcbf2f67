"""Measurements of a drive: fio's JSON, fio's bandwidth log, and a table of dd runs."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from zsim.base.errors import InputError, printable
from zsim.base.notebook import reporting
from zsim.base.parsed import number_of, table
from zsim.base.reading import WRONG_VALUES, json_value, read_text, understood
from zsim.base.units import parse_bytes, parse_drive_size, parse_rate
from zsim.observe.drives.fit import Measurement

MOST_LOGGED = 1 << 62
LINES_A_REPORT = 1000
DEEPEST = 4096
"""Reads outstanding at one drive that can be fitted: deeper than the queue of any disk (NCQ 32, SAS 254)."""
FIO_LOG_FORM = "milliseconds, KiB/s, direction, block size[, offset]"
SEQUENTIAL, RANDOM = ("read", "rw", "write"), ("randread", "randrw")


def fio_samples(path: str | Path, capacity_bytes: int) -> list[Measurement]:
    """Read fio's output: JSON (``--output-format=json``), or a bandwidth log (``write_bw_log``).

    Parameters
    ----------
    path : str or Path
    capacity_bytes : int
        Of the drive, to place the samples on it [bytes].

    Raises
    ------
    InputError
        When the file is neither, or holds no read.
    """
    source = Path(path)
    text = _text_of(source)
    if text.lstrip().startswith("{"):
        return _samples_or_refuse(list(_fio_json(text, source, capacity_bytes)), source)
    return _samples_or_refuse(list(_fio_log(text, source, capacity_bytes)), source)


def dd_samples(
    path: str | Path, capacity_bytes: int, on_progress: Callable[[float, str], None] | None = None
) -> list[Measurement]:
    """Read a CSV with the columns ``offset`` and ``rate``, and perhaps ``length``, one row a sequential read.

    Parameters
    ----------
    path : str or Path
        Offsets and lengths as 500GB or bytes, rates as 120MB/s or bytes per second.
    capacity_bytes : int
        [bytes]
    on_progress : callable, optional
        Called with the share done, 0 to 1, and what is being done.

    Raises
    ------
    InputError
        When a column is missing or an entry cannot be read.
    """
    source = Path(path)
    with understood(source, "samples", "measure again, or leave the line out"):
        return _dd_samples(source, capacity_bytes, reporting(on_progress))


def _dd_samples(source: Path, capacity_bytes: int, report: Callable[[float, str], None]) -> list[Measurement]:
    lines = _text_of(source).splitlines()
    reader = csv.DictReader(lines, skipinitialspace=True)
    missing = {"offset", "rate"} - set(reader.fieldnames or ())
    if missing:
        reason = "its first line names the columns offset and rate, and perhaps length"
        raise InputError(source.name, ", ".join(reader.fieldnames or ()), reason, "add them")
    samples = []
    for number, row in enumerate(reader, start=2):
        if number % LINES_A_REPORT == 0:
            report(number / len(lines), f"reading {source.name}")
        field = f"{source.name}, line {number}"
        offset = parse_drive_size(_plain(row["offset"]), f"{field}: offset")
        length = parse_drive_size(_plain(row.get("length") or "1000000"), f"{field}: length")
        rate = parse_rate(_plain(row["rate"]), f"{field}: rate")
        samples.append(_sequential(rate, offset, length, capacity_bytes, field))
    return _samples_or_refuse(samples, source)


def _fio_json(text: str, source: Path, capacity: int) -> Iterator[Measurement]:
    try:
        data = json_value(text)
        jobs = data["jobs"]
        common = data.get("global options", {})
        for job in jobs:
            yield from _fio_job({**common, **job.get("job options", {})}, job, source, capacity)
    except WRONG_VALUES as error:
        reason = f"it is not fio's JSON output ({type(error).__name__}: {printable(str(error), 120)})"
        raise InputError("--fio", source.name, reason, "run fio with --output-format=json") from error


def _fio_job(
    options: Mapping[str, object], job: Mapping[str, object], source: Path, capacity: int
) -> Iterator[Measurement]:
    pattern = str(options.get("rw", options.get("readwrite", "")))
    read = table(job, "read")
    field = f"{source.name}: {job.get('jobname', 'job')}"
    offset = _fio_size(options.get("offset", 0), capacity, f"{field}: offset")
    length = _fio_size(options.get("size", capacity), capacity, f"{field}: size")
    if not read.get("iops"):
        return
    if pattern in SEQUENTIAL:
        yield _sequential(
            number_of(read.get("bw_bytes", 1024 * number_of(read.get("bw"), "bw")), "bw_bytes"),
            offset,
            length,
            capacity,
            field,
        )
    elif pattern in RANDOM:
        size = parse_bytes(str(options.get("bs", "4k")).split(",")[0], f"{field}: bs")
        depth = _depth(options, field)
        start, span = offset / capacity, min(length, capacity - offset) / capacity
        yield Measurement("random", number_of(read.get("iops"), "iops"), start, span, size, depth)


def _depth(options: Mapping[str, object], field: str) -> int:
    """Return how many reads a job keeps outstanding: its queue depth times its processes."""
    depth = int(str(options.get("iodepth", 1))) * int(str(options.get("numjobs", 1)))
    if not 1 <= depth <= DEEPEST:
        reason = f"a queue is 1 to {DEEPEST} deep"
        raise InputError(f"{field}: iodepth x numjobs", depth, reason, "give a job of such a depth")
    return depth


def _fio_log(text: str, source: Path, capacity: int) -> Iterator[Measurement]:
    """Yield the reads of a bandwidth log; without offsets the read is taken to go on from the start."""
    position, before = 0.0, 0.0
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            fields = [int(part, 0) for part in line.split(",")]
            milliseconds, kibibytes, direction = fields[0], fields[1], fields[2]
            if not all(0 <= each < MOST_LOGGED for each in fields):
                raise ValueError  # noqa: TRY301 - told below, with the line
        except (ValueError, IndexError) as error:
            field = f"{source.name}, line {number}"
            raise InputError(
                field, line, f"a line reads: {FIO_LOG_FORM}", "give a log of write_bw_log"
            ) from error
        rate, seconds = kibibytes * 1024.0, (milliseconds - before) * 1e-3
        before = milliseconds
        length = rate * max(seconds, 0.0)
        offset = fields[4] if len(fields) > 4 else position
        position += length
        if direction == 0 and rate > 0:
            yield _sequential(rate, int(offset), int(length), capacity, f"{source.name}, line {number}")


def _sequential(rate: float, offset: int, length: int, capacity: int, field: str) -> Measurement:
    if not 0 <= offset < capacity:
        reason = f"the drive has {capacity} bytes"
        raise InputError(f"{field}: offset", offset, reason, "name the drive, or give --drive-size")
    span = max(min(length, capacity - offset), 1) / capacity
    return Measurement("sequential", rate, offset / capacity, span)


def _fio_size(value: object, capacity: int, field: str) -> int:
    """Return a size or offset of a job, which may be a share of the drive: ``10%`` [bytes]."""
    text = str(value).strip()
    if text.endswith("%"):
        try:
            return int(float(text[:-1]) / 100 * capacity)
        except ValueError as error:
            raise InputError(field, text, "it is a size or a percentage", "") from error
    return parse_bytes(int(text) if text.isdigit() else text, field)


def _plain(text: str | None) -> str | float:
    """Return a bare number as a number, anything else as it stands."""
    stripped = (text or "").strip()
    try:
        return float(stripped)
    except ValueError:
        return stripped


def _text_of(path: Path) -> str:
    return read_text(path, "samples", "name a readable file")


def _samples_or_refuse(samples: list[Measurement], path: Path) -> list[Measurement]:
    if not samples:
        raise InputError("samples", path.name, "it holds no sequential or random read", "measure reads")
    return samples
