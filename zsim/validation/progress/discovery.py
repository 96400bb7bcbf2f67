"""Cases of running scans: the formats of rows and of runs, as `zsim.validation.frame` has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zsim.validation.frame import Claim, Options, ValidationCase

SERIES, PAIRS, RUNS = "progress-series", "progress-pairs", "progress-run"


def case_of(path: Path, number: int, row: Mapping[str, Any]) -> ValidationCase | None:
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
                observed=row.get("final_duration_s"),
                experiment=row.get("experiment"),
                category=str(row.get("kind") or "sequence"),
            )
    return None


def discover(path: Path) -> list[ValidationCase]:
    """Return nothing: rows are met by `zsim.validation.field_reports.rows`, runs by `of_runs`."""
    del path
    return []


def of_runs(cases: Sequence[ValidationCase]) -> list[ValidationCase]:
    """Return the runs of real OpenZFS among cases, as cases of their progress."""
    return [
        replace(case, kind=RUNS, format="progress", claim="eta@0.5", problem="", tolerance=None, key=RUN_KEY)
        for case in cases
        if case.format == "zfs-run" and any((case.path / name).is_file() for name in PROGRESS_FILES)
    ]


RUN_KEY = "run"
PROGRESS_FILES = ("progress.csv", "progress.csv.zst")


def run(case: ValidationCase, options: Options) -> list[Claim]:
    """Return the claims of a row or of a run."""
    if case.key == RUN_KEY:
        from zsim.validation.progress.runs import run as claims_of_run

        return claims_of_run(case, options)
    from zsim.validation.field_reports.rows import row_of
    from zsim.validation.progress import pairs, series

    row = row_of(case)
    if case.kind == SERIES:
        return series.claims_of(case, row, options)
    return pairs.claims_of(case, row, options)
