"""Format ``*.jsonl``: resilvers, scrubs and rebuilds that other people reported, one JSON object a line.

The scenario of a row comes from `zsim.validation.field_reports.rules` alone.  The claim is ``time`` for
whole rows of confidence high or medium, else ``time-low`` (a duration) or ``progress`` (how long it took to
issue so many bytes), both for information.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from zsim.base.errors import InputError, ZsimError
from zsim.base.reading import content_mark, read_text
from zsim.base.units import parse_duration
from zsim.validation.field_reports.layouts import combined
from zsim.validation.field_reports.rules import Reading, Row, category_of, readings_of
from zsim.validation.field_reports.running import case_of
from zsim.validation.frame import STATED, TIME, Claim, Options, ValidationCase, judge, refused
from zsim.validation.predicting import Predictor, attempt, predict_fields

TOLERANCE = 0.30
"""What the median row is to reach; a row of its own passes within it."""
CONFIDENT = ("high", "medium")
LOW = "time-low"
PROGRESS = "progress"
NEEDED = ("id", "kind", "confidence")
_ETA = (
    re.compile(r"after (?P<gone>\d[\w .]*?\w), ETA then (?P<left>\d[\w .]*?[dhms]\w*)(?=[,;.]|$)"),
    re.compile(r"ETA (?P<gone>\d[\w .]*?) in \([^)]*\): (?P<left>\d[\w .]*?[dhms]\w*)(?=[,;.]|$)"),
)


def discover(path: Path) -> list[ValidationCase]:
    """Return one case a line; a line that cannot be read is a case with the reason."""
    return [_case(path, number, line) for number, line in _lines(path)]


def run(case: ValidationCase, options: Options) -> list[Claim]:
    """Return the claim of one row, predicted by `zsim.prediction`."""
    return [claim_of(case, row_of(case), predict_fields, options)]


def row_of(case: ValidationCase) -> Row:
    """Return the line of a case."""
    row: Row = json.loads(dict(_lines(case.path))[int(case.key)])
    return row


def _lines(path: Path) -> tuple[tuple[int, str], ...]:
    """Return the lines that are not empty, with their numbers from 1 on."""
    return _lines_of(path, content_mark(path, "cases"))


@functools.lru_cache(maxsize=8)
def _lines_of(path: Path, _state: str) -> tuple[tuple[int, str], ...]:
    """Return the lines of one state of a file."""
    text = read_text(path, "cases", "give JSON lines")
    return tuple((number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())


def _case(path: Path, number: int, line: str) -> ValidationCase:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        return _unreadable(path, number, f"line {number} is not JSON: {error.msg} at column {error.colno}")
    running = case_of(path, number, row)
    if running is not None:
        return running
    missing = [key for key in NEEDED if not (isinstance(row, dict) and row.get(key))]
    if missing:
        return _unreadable(path, number, f"line {number} has no {missing[0]!r}")
    claim = claim_name(row)
    observed = seconds_of(row) if claim == PROGRESS else row.get("duration_s")
    return ValidationCase(
        name=str(row["id"]),
        kind="observed",
        format="observed",
        path=path,
        key=str(number),
        claim=claim,
        observed=observed,
        tolerance=TOLERANCE if claim == TIME else None,
        experiment=row.get("experiment"),
        category=category_of(row),
    )


def _unreadable(path: Path, number: int, problem: str) -> ValidationCase:
    name = f"{path.stem}-line-{number}"
    return ValidationCase(
        name=name, kind="observed", format="observed", path=path, key=str(number), problem=problem
    )


def claim_name(row: Row) -> str:
    """Return ``time``, ``time-low`` or ``progress``."""
    if row.get("duration_s") is None:
        return PROGRESS
    whole = not row.get("partial") and row.get("confidence") in CONFIDENT
    return TIME if whole else LOW


def claim_of(case: ValidationCase, row: Row, predictor: Predictor, options: Options) -> Claim:
    """Return the claim of a row.

    Parameters
    ----------
    case : ValidationCase
    row : Mapping
        The line.
    predictor : callable
        Gives the prediction for a scenario's fields.
    options : Options
    """
    try:
        readings = readings_of(row)
        prediction = combined([attempt(predictor, each.fields, options) for each in readings])
        reading = readings[len(readings) // 2]
    except ZsimError as error:
        return _without_prediction(case, row, str(error))
    if case.claim == PROGRESS:
        return _progress(case, row, prediction)
    answer = prediction["resilver_s"]
    return judge(
        case,
        case.claim,
        case.observed,
        answer["p50"],
        case.tolerance,
        p10=answer.get("p10"),
        p90=answer.get("p90"),
        unit="s",
        reason=impossible(case, reading) or assumed_layouts(readings),
        details={**rules_of_thumb(row, reading), STATED: float(reading.stated)},
    )


def assumed_layouts(readings: Sequence[Reading]) -> str:
    """Say which layouts were taken where a row states none; empty where it states one."""
    if len(readings) < 2:
        return ""
    names = ", ".join(str(each.fields["layout"]) for each in readings)
    return f"the layout is not stated: simulated as {names}, and the interval holds those of all"


def _without_prediction(case: ValidationCase, row: Row, reason: str) -> Claim:
    details: dict[str, float | None] = {}
    with contextlib.suppress(ZsimError):
        details = rules_of_thumb(row, readings_of(row)[0])
    if case.claim == TIME:
        return replace(refused(case, reason), details=details)
    return judge(case, case.claim, case.observed, None, unit="s", reason=reason, details=details)


def rules_of_thumb(row: Row, reading: Reading) -> dict[str, float | None]:
    """Return what the two rules of thumb give [s].

    ``rule_average_rate`` is bytes per drive over the drive's mean rate; ``rule_status_eta`` the time gone and
    to go as ``zpool status`` had it early on, where the row tells.
    """
    size, rate = reading.bytes_per_drive, reading.average_rate
    return {
        "rule_average_rate": size / rate if size and rate else None,
        "rule_status_eta": status_eta(f"{row.get('notes') or ''} {row.get('evidence') or ''}"),
    }


def status_eta(text: str) -> float | None:
    """Return the whole duration that ``zpool status`` announced early on [s]; None where no row tells."""
    for pattern in _ETA:
        match = pattern.search(text)
        if match:
            try:
                return sum(_duration(match[name]) for name in ("gone", "left"))
            except InputError:
                return None
    return None


def _duration(text: str) -> float:
    """Return the seconds of ``1 day 6.6 h`` or ``2 h 24 min``, units one by one."""
    parts = re.findall(r"([\d.]+)\s*([a-z]+)", text)
    return math.fsum(parse_duration(f"{number} {unit}") for number, unit in parts)


def impossible(case: ValidationCase, reading: Reading) -> str:
    """Say so where a row reports more bytes per drive and second than the drive can move; empty otherwise."""
    size, fastest = reading.bytes_per_drive, reading.fastest_rate
    spread_out = reading.fields.get("target") == "distributed-spare"
    if spread_out or not size or not fastest or not case.observed or size / case.observed <= fastest:
        return ""
    reported, most = size / case.observed / 1e6, fastest / 1e6
    return (
        f"impossible as reported: {size / 1e9:.0f} GB a drive in that time are {reported:.0f} MB/s, and the"
        f" outermost tracks of such a drive move {most:.0f} MB/s at most"
    )


def seconds_of(row: Row) -> float | None:
    """Return how long a row in progress had run [s]: the bytes issued over their mean rate."""
    progress: Mapping[str, Any] = row.get("partial_progress") or {}
    size, rate = progress.get("issued_bytes"), progress.get("issued_rate_bytes_s")
    return size / rate if size and rate else None


def _progress(case: ValidationCase, row: Row, prediction: Mapping[str, Any]) -> Claim:
    """Compare how long it takes until as many bytes are issued as the row shows."""
    progress: Mapping[str, Any] = row.get("partial_progress") or {}
    issued = progress.get("issued_bytes")
    points = prediction.get("progress", ())
    predicted = None if issued is None else seconds_until(points, issued)
    reason = "" if predicted is not None else "the row or the prediction has no bytes to compare"
    return judge(case, PROGRESS, case.observed, predicted, unit="s", reason=reason)


def seconds_until(points: Any, issued: float) -> float | None:
    """Return when so many bytes are issued (examined, in legacy order) [s]; None beyond the end."""
    for key in ("issued_bytes", "scanned_bytes"):
        known = [(point[key], point["time_s"]) for point in points if point.get(key) is not None]
        if len(known) > 1 and known[0][0] <= issued <= known[-1][0]:
            sizes, times = zip(*known, strict=True)
            return float(np.interp(issued, sizes, times))
    return None
