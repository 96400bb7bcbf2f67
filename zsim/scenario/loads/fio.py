"""Job files of fio as loads: what its jobs request, how often, and when.

Meaning and units of the options: fio's HOWTO, "Job file format", "Parameter types" and "I/O rate".
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Mapping
from typing import NamedTuple

from zsim.base.errors import InputError
from zsim.scenario.parts import DAY_SECONDS, WEEK_SECONDS, Hours, parse_moment

SIDES = {
    "read": ("sequential-read", ""), "randread": ("random-read", ""),
    "write": ("", "write"), "randwrite": ("", "write"),
    "rw": ("sequential-read", "write"), "readwrite": ("sequential-read", "write"),
    "randrw": ("random-read", "write"),
}  # fmt: skip
"""What the reads and the writes of each pattern are; ZFS lays new data one after the other either way."""
QUEUEING = ("libaio", "io_uring", "io_uring_cmd", "posixaio", "solarisaio", "windowsaio", "sg")
"""Engines that have several requests under way; all others wait for each (iodepth then is 1)."""
MEANINGLESS = {
    "trim": "a load that frees space", "randtrim": "a load that frees space",
    "trimwrite": "a load that frees space", "randtrimwrite": "a load that frees space",
}  # fmt: skip
REFUSED = {
    "bsrange": "requests of one size", "bssplit": "requests of one size",
    "stonewall": "jobs that run together", "wait_for_previous": "jobs that run together",
    "wait_for": "jobs that run together",
    "read_iolog": "a job that says what it does; zsim replay takes traces",
    "replay_no_stall": "a job that says what it does; zsim replay takes traces",
}  # fmt: skip
_SECTION = re.compile(r"^\s*\[[^\]\n]{1,200}\]\s*$", re.MULTILINE)
_OPTION = re.compile(r"[a-z0-9_]{1,64}", re.ASCII)
_NUMBER = re.compile(r"(\d{1,18})([kmgtp]?)(i?)(b?)", re.ASCII | re.IGNORECASE)
_TIME = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)(us|usec|ms|msec|s|m|h|d)?", re.ASCII | re.IGNORECASE)
_TIMES = {"us": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
MINUTE = 60


class _Job(NamedTuple):
    """A job: its options over those of ``[global]``."""

    path: str
    name: str
    options: Mapping[str, str]

    def refusal(self, option: str, allowed: str, remedy: str) -> InputError:
        value = f"{option}={self.options.get(option, '')}".removesuffix("=")
        return InputError("load", f"{self.path}, job {self.name}: {value}"[:300], allowed, remedy)

    def get(self, *names: str) -> tuple[str, str]:
        """Return the first of several names of an option that is stated, and its value."""
        name = next((each for each in names if each in self.options), names[0])
        return name, self.options.get(name, "").strip()


def recognises(text: str) -> bool:
    """Tell whether a text looks like a job file."""
    return _SECTION.search(text) is not None


def loads_of(text: str, path: str, data: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the loads of a job file, as fields of `zsim.scenario.parts.Load`.

    Parameters
    ----------
    text, path : str
    data : mapping
        Fields of the scenario: when it begins is needed for jobs that start late or end.

    Raises
    ------
    InputError
        For what cannot be read, and for a job that has no meaning as a load.
    """
    parser = configparser.ConfigParser(
        delimiters=("=",), comment_prefixes=("#", ";"), allow_no_value=True, interpolation=None,
        default_section="\0", empty_lines_in_values=False,
    )  # fmt: skip
    try:
        parser.read_string(text)
    except configparser.Error as error:
        said = f"it cannot be read as one: {str(error).splitlines()[0][:160]}"
        raise InputError("load", path, said, "give a job file of fio, each section once") from error
    whole = {key: value or "" for key, value in parser["global"].items()} if "global" in parser else {}
    found = []
    for name in parser.sections():
        if name != "global":
            own = {key: value or "" for key, value in parser[name].items()}
            strange = next((key for key in own if not _OPTION.fullmatch(key)), None)
            if strange is not None:
                allowed = f"{strange[:80]!r} is no option of a job"
                raise InputError("load", path, allowed, "put that line right, or leave it out")
            found += _loads(_Job(path, name, whole | own), data)
    return found


def _loads(job: _Job, data: Mapping[str, object]) -> list[dict[str, object]]:
    option, pattern = job.get("rw", "readwrite")
    pattern = (pattern or "read").lower().partition(":")[0]
    if pattern in MEANINGLESS or pattern not in SIDES:
        raise job.refusal(option, f"{MEANINGLESS.get(pattern, 'it')} is not simulated", "write rw=randread")
    for name, needed in REFUSED.items():
        if name in job.options:
            raise job.refusal(name, f"only {needed} can be a load", "leave it out, or give one file for each")
    reads, writes = SIDES[pattern]
    hours = _hours(job, data)
    found = []
    for side, kind in enumerate((reads, _write_kind(job) if writes else "")):
        if kind:
            found.append(_load(job, side, kind, both=bool(reads and writes)) | hours)
    return found


def _write_kind(job: _Job) -> str:
    """Return whether writes wait for stable storage: O_SYNC or O_DSYNC, or an fsync after each."""
    is_synchronous = job.get("sync")[1].lower() in ("1", "sync", "dsync")
    each = any(job.get(name)[1] == "1" for name in ("fsync", "fdatasync"))
    return "sync-write" if is_synchronous or each else "async-write"


def _load(job: _Job, side: int, kind: str, *, both: bool) -> dict[str, object]:
    """Return the load of one side of a job: 0 its reads, 1 its writes."""
    size = _of_side(job, side, "bs", "blocksize") or 4096
    jobs = _number(job, *job.get("numjobs")) or 1
    load: dict[str, object] = {"kind": kind, "size": size}
    requests, data = _of_side(job, side, "rate_iops"), _of_side(job, side, "rate")
    if requests and data:
        raise job.refusal("rate_iops", "a job has one of rate and rate_iops", "leave one out")
    if requests:
        return load | {"rate": float(requests * jobs)}
    if data:
        return load | {"bandwidth": float(data * jobs)}
    if kind == "async-write":
        allowed = "writes that nobody waits for need a rate"
        raise job.refusal("rate", allowed, "give rate= or rate_iops=, or sync=1")
    deep = job.get("ioengine")[1].lower() in QUEUEING
    threads = jobs * ((_number(job, *job.get("iodepth")) or 1) if deep else 1)
    if both:
        share = _number(job, *job.get("rwmixread"))
        reads = 50 if share is None else min(100, share)
        threads = round(threads * (reads if side == 0 else 100 - reads) / 100)
    think = _seconds(job, "thinktime", 1e-6)
    return load | {"threads": max(1, threads)} | ({"think": think} if think else {})


def _of_side(job: _Job, side: int, *names: str) -> int | None:
    """Return an option that may have values for reads and writes, ``4k,64k``; one counts for both."""
    name, text = job.get(*names)
    values = [each.strip() for each in text.split(",")] if text else []
    if not values:
        return None
    return _number(job, name, values[side] if side < len(values) else values[0])


def _number(job: _Job, name: str, text: str) -> int | None:
    """Return a number: 4k is 4096, 4ki 4000, as fio has it (kb_base=1024, HOWTO "int")."""
    if not text:
        return None
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise job.refusal(name, "it is no whole number", "write a number such as 64k")
    power = " kmgtp".index(match[2].lower() or " ")
    is_decimal = bool(match[3]) or job.get("kb_base")[1] == "1000"
    return int(match[1]) * int((1000 if is_decimal else 1024) ** power)


def _seconds(job: _Job, name: str, unit: float = 1.0) -> float:
    text = job.get(name)[1]
    match = _TIME.fullmatch(text)
    if text and match is None:
        raise job.refusal(name, "it is no time", "write 30s, 90m or 2h")
    return 0.0 if match is None else float(match[1]) * (_TIMES[match[2].lower()] if match[2] else unit)


def _hours(job: _Job, data: Mapping[str, object]) -> dict[str, object]:
    """Return the hours of the week at which a job runs; nothing for one that runs throughout.

    Without a runtime a job goes on: its file is read or written again and again.
    """
    name = job.get("runtime", "timeout")[0]
    delay, length = _seconds(job, "startdelay"), _seconds(job, name)
    if delay == 0.0 and (length == 0.0 or length >= WEEK_SECONDS):
        return {}
    if data.get("begins") is None:
        allowed = "the job runs for a time only, counted from the moment the operation begins"
        raise job.refusal(name if length else "startdelay", allowed, "give --begins 'fri 13:41', too")
    if length == 0.0 or length > DAY_SECONDS - MINUTE:
        allowed = "a job that starts late or ends has a runtime of less than a day"
        raise job.refusal(name if length else "startdelay", allowed, "write runtime=8h")
    # Hours are of whole minutes.
    begin = round((parse_moment(data["begins"]) + delay) / MINUTE) * MINUTE % WEEK_SECONDS
    day, start = divmod(begin, DAY_SECONDS)
    end = (start + max(MINUTE, round(length / MINUTE) * MINUTE)) % DAY_SECONDS
    return {"hours": Hours(day, day, start, end or DAY_SECONDS)}
