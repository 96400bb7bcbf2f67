"""Format ``*.jsonl`` with scans of one pool in order of time: each predicted from those before it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from zsim.base.errors import InputError, ZsimError
from zsim.drives.names import named_drives
from zsim.observe.texts import moment
from zsim.scenario.layout import Layout
from zsim.validation.field_reports.layout_words import layout_text
from zsim.validation.field_reports.vdev_drives import event_vdev, unequal_vdevs, vdev_drives
from zsim.validation.frame import Claim, Options, ValidationCase, judge
from zsim.validation.predicting import attempt, predict_fields
from zsim.validation.progress.rows import KINDS, Row, fields_of, layout_of

LAST_BY_ALLOC = "last_by_alloc_s"
CAPACITY = re.compile(r"\b(\d+(?:\.\d+)?) (TB|GB)\b")
SHINGLED_SIZE = re.compile(r"\b(\d+(?:\.\d+)?) (TB|GB) SMR\b")
LATER = re.compile(r",? then\b|\(\+|,? target\b|\blater\b", re.IGNORECASE)
DECIMAL = {"GB": 1e9, "TB": 1e12}
SHINGLED = "generic-5400rpm-smr"


def claims_of(case: ValidationCase, row: Row, options: Options) -> list[Claim]:
    """Return the claims of a row: one an event after the first, from the events before it alone."""
    events: Sequence[Mapping[str, Any]] = row.get("events") or ()
    return [_claim(case, row, events, place, options) for place in range(1, len(events))]


def _claim(
    case: ValidationCase, row: Row, events: Sequence[Mapping[str, Any]], place: int, options: Options
) -> Claim:
    event, before = events[place], [each for each in events[:place] if each.get("duration_s")]
    name, truth = f"event[{place}]", event.get("duration_s")
    details = {LAST_BY_ALLOC: last_by_alloc(before, event)}
    try:
        fields = fields_before(row, events, place)
        answer = attempt(predict_fields, fields, options)["resilver_s"]
    except ZsimError as error:
        return judge(case, name, truth, None, unit="s", reason=str(error), details=details)
    claim = judge(
        case, name, truth, answer["p50"], p10=answer.get("p10"), p90=answer.get("p90"), unit="s",
        details=details,
    )  # fmt: skip
    return replace(claim, category=f"{before[-1]['kind'] if before else 'nothing'} to {event['kind']}")


def fields_before(row: Row, events: Sequence[Mapping[str, Any]], place: int) -> dict[str, Any]:
    """Return the scenario of an event, with the events before it as evidence."""
    event = events[place]
    kind = "scrub" if event["kind"] == "scrub" else "resilver"
    layout = Layout.parse(layout_text(layout_of(row.get("layout"))))
    alloc = alloc_of(events, place)
    # What is replaced by what stands beside the event: a shingled target, for one.
    drives = "; ".join(str(each) for each in (row.get("drive_model"), event.get("note")) if each)
    known = {"alloc_bytes": alloc, "replaced_drives": 1, "drive_model": drives or None}
    capacity = row.get("drive_bytes") or capacity_in(str(row.get("drive_model") or ""))
    fields = fields_of({**row, **known, "drive_bytes": capacity}, kind)
    note = str(event.get("note") or "")
    if kind != "scrub":
        fields |= shingled_in(str(row.get("drive_model") or ""), note, fields)
    named = vdev_drives(str(row.get("drive_model") or ""), layout)
    fields = unequal_vdevs(fields, layout, named, event_vdev(note, layout, named)) or fields
    found = [_evidence(each) for each in events[:place] if each.get("duration_s")]
    return fields | ({"evidence": found} if found else {})


def capacity_in(text: str) -> float | None:
    """Return the capacity of the drives that a row begins with: in words, else by their names [bytes].

    Of several the smallest counts; what came later ("then 6 TB SMR", "(+WD80EMAZ)", "target WD80EFZZ") does
    not, nor do the drives of which the pool has partitions.
    """
    first = LATER.split(text)[0]
    found = [float(number) * DECIMAL[unit] for number, unit in CAPACITY.findall(first)]
    if not found and not re.search(r"\b(?:partition|slice)", first):
        found = [float(drive.capacity) for drive in named_drives(first) if drive.capacity]
    return min(found, default=None)


def shingled_in(text: str, note: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the drives of an event whose note calls the new one, or both, shingled."""
    if not re.search(r"\btarget SMR|SMR target", note):
        return {}
    written = SHINGLED_SIZE.search(text)
    size = round(float(written[1]) * DECIMAL[written[2]]) if written else fields.get("drive_size")
    found = {"new_drive": SHINGLED} | ({"new_drive_size": size} if size else {})
    if "source and target SMR" not in note:
        return found
    return found | {"drive": SHINGLED} | ({"drive_size": size} if size else {})


def alloc_of(events: Sequence[Mapping[str, Any]], place: int) -> float | None:
    """Return ALLOC at an event [bytes]: its own, else the latest known before, else of one behind."""
    own = events[place].get("alloc_bytes")
    before = [each["alloc_bytes"] for each in events[:place] if each.get("alloc_bytes")]
    after = [each["alloc_bytes"] for each in events[place + 1 :] if each.get("alloc_bytes")]
    return own or (before[-1] if before else after[0] if after else None)


def _evidence(event: Mapping[str, Any]) -> dict[str, Any]:
    kind = KINDS.get(str(event["kind"]), "resilver")
    found: dict[str, Any] = {
        "what": "finished",
        "kind": kind,
        "duration": float(event["duration_s"]),
        "resolution": float(event.get("resolution_s") or 1.0),
    }
    if event.get("alloc_bytes"):
        found["alloc"] = round(event["alloc_bytes"])
    if event.get("resilvered_bytes"):
        found["processed"] = round(event["resilvered_bytes"])
    end = _when(event.get("end"))
    return found | ({"end": end} if end else {})


def _when(text: object) -> str | None:
    try:
        found = moment(str(text)) if text else None
    except InputError:
        return None
    return found.isoformat() if found is not None else None


def last_by_alloc(before: Sequence[Mapping[str, Any]], event: Mapping[str, Any]) -> float | None:
    """Return the rule of thumb: the last duration, scaled by ALLOC where both are known [s]."""
    if not before:
        return None
    last = before[-1]
    then, now = last.get("alloc_bytes"), event.get("alloc_bytes")
    ratio = now / then if then and now else 1.0
    return float(last["duration_s"]) * float(ratio)
