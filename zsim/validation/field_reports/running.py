"""Reports of scans that were still running: which rows are such, and their cases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from zsim.base.parsed import number_of, text
from zsim.validation.frame import ValidationCase

SERIES, PAIRS = "progress-series", "progress-pairs"


def case_of(path: Path, number: int, row: Mapping[str, object]) -> ValidationCase | None:
    """Return the case of a row with statuses or with events; None for any other."""
    if not isinstance(row, Mapping) or not row.get("id"):
        return None
    for key, kind, claim in (("statuses", SERIES, "eta[0]"), ("events", PAIRS, "event[1]")):
        if isinstance(row.get(key), list):
            return ValidationCase(
                name=str(row["id"]),
                kind=kind,
                format="progress",
                path=path,
                key=str(number),
                claim=claim,
                observed=None
                if row.get("final_duration_s") is None
                else number_of(row["final_duration_s"], "final_duration_s"),
                experiment=None if row.get("experiment") is None else text(row, "experiment"),
                category=str(row.get("kind") or "sequence"),
            )
    return None
