"""From a reported status to a scenario and its observations, by the same rules for all rows.

The scenario is that of `zsim.validation.field_reports.rules`, which no duration of the row enters.  Where a
row says less than these need:

layout
    None: raidz2 of six, of a sequential rebuild a mirror; raidz without a width: six wide; a mirror without
    one: two sides; a single drive is scrubbed as a mirror is, both sides of which read alike.
tunables
    Those that are said to have been set "from the start".
order
    Legacy where the status is of that format.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from zsim.base.errors import InputError, ZsimError
from zsim.observe.texts import moment
from zsim.scenario.evidence import RunningScan, ScanKind, StatusFormat
from zsim.validation.field_reports.layout_words import layouts_of_unknown_kind
from zsim.validation.field_reports.rules import reading_of

Row = Mapping[str, Any]
ASSUMED_LAYOUT, ASSUMED_REBUILT = "raidz2x6", "mirror2"
LEGACY = "legacy"
KEPT = (
    "drive_model", "drive_bytes", "drive_type", "alloc_bytes", "pool_size_bytes", "fill_fraction",
    "frag_percent", "recordsize", "zfs_version", "platform", "n_vdevs", "replaced_drives", "confidence",
)  # fmt: skip
KINDS: Mapping[str, ScanKind] = {
    "resilver": "resilver",
    "scrub": "scrub",
    "rebuild": "rebuild",
    "heal": "heal",
}


def fields_of(row: Row, kind: str | None = None) -> dict[str, Any]:
    """Return the scenario's fields of a row of statuses.

    Parameters
    ----------
    row : Mapping
        One line.
    kind : str, optional
        In place of the row's: resilver, scrub or rebuild.
    """
    kind = kind or str(row.get("kind"))
    observed = {key: row.get(key) for key in KEPT} | {
        "id": row.get("id"),
        "kind": "scrub" if kind == "scrub" else "resilver",
        "scan_algorithm": "sequential" if kind == "rebuild" else order_of(row),
        "concurrent_load": row.get("load"),
        "vdev": layout_of(row.get("layout") or (ASSUMED_REBUILT if kind == "rebuild" else None)),
        "date": date_of(row),
        "tunables": set_from_the_start(row),
    }
    try:
        return reading_of(observed).fields
    except ZsimError:
        # What a row says of sizes may contradict itself: the layout and the data are kept.
        plain = {"drive_bytes": None, "pool_size_bytes": None, "fill_fraction": None, "n_vdevs": None}
        return reading_of(observed | plain).fields


def set_from_the_start(row: Row) -> str | None:
    """Return what a row says of tunables, where they were set before the scan began; None otherwise."""
    words = str(row.get("happened") or "")
    return words if "from the start" in words else None


def layout_of(stated: object) -> str:
    """Return a layout that can be simulated, of what a row says."""
    text = re.sub(r"\((?:attach|degraded|several|\d+ or more)[^)]*\)", "", str(stated or "")).strip()
    if not text:
        return ASSUMED_LAYOUT
    if text in ("single", "stripe", "disk"):
        return "mirror2"
    several = layouts_of_unknown_kind(text)
    if several:
        return several[len(several) // 2]
    bare = re.fullmatch(r"(raidz[123])(?: [^0-9]*)?", text)
    if bare:
        return f"{bare[1]}x6"
    return re.sub(r"\bx (\d+) or more", r"x \1", text)


def order_of(row: Row) -> str | None:
    """Return the order of the scan by the format of its statuses; None where there are none."""
    formats = {format_of(str(status.get("fmt"))) for status in row.get("statuses") or ()}
    if not formats:
        return None
    return LEGACY if formats == {LEGACY} else "sorted"


def format_of(text: str) -> StatusFormat:
    """Return the format of a status, as a row names it."""
    if text == LEGACY or "v28" in text:
        return "legacy"
    if text in ("0.8-2.1", "2.2+", "rebuild"):
        return text  # type: ignore[return-value]
    return "unknown"


def date_of(row: Row) -> str | None:
    """Return the year that a row tells of, by its dates or its name."""
    texts = [str(row.get("since") or ""), str(row.get("id") or "")]
    texts += [str(event.get("end") or "") for event in row.get("events") or ()]
    found = [match[0] for text in texts if (match := re.search(r"\b20[012]\d\b", text))]
    return found[0] if found else None


def scans_of(row: Row) -> list[RunningScan]:
    """Return the statuses of a row, in order of time."""
    return [_scan(row, status) for status in row.get("statuses") or ()]


def _scan(row: Row, status: Mapping[str, Any]) -> RunningScan:
    kind = KINDS.get(str(row.get("kind")), "resilver")
    printed = format_of(str(status.get("fmt")))
    percent = status.get("percent")
    total, scanned = _positive(status.get("total_bytes")), status.get("scanned_bytes")
    issued = status.get("issued_bytes")
    return RunningScan(
        kind=kind,
        format="rebuild" if kind == "rebuild" else printed,
        since=_when(row.get("since")),
        elapsed=status.get("elapsed_s"),
        resolution=60.0 if "to the minute" in str(status.get("elapsed_how")) else 1.0,
        elapsed_is_pass=str(status.get("elapsed_how") or "").startswith("derived, pass only"),
        scanned=_bytes(scanned),
        issued=_bytes(issued),
        total=total,
        total_issue=_positive(status.get("total_issue_bytes")),
        processed=_bytes(status.get("resilvered_bytes")),
        done=min(1.0, percent / 100.0) if percent is not None else None,
        scan_rate=status.get("scan_rate"),
        issue_rate=status.get("issue_rate"),
        to_go=status.get("eta_printed_s"),
    )


def _bytes(value: float | None) -> int | None:
    return None if value is None else round(value)


def _positive(value: float | None) -> int | None:
    return round(value) if value else None


def _when(text: object) -> datetime | None:
    try:
        return moment(str(text)) if text else None
    except InputError:
        return None
