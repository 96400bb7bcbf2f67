"""Format ``*.jsonl`` with statuses of a running scan: one claim per status, about the whole duration.

``eta[k]`` is what is answered from the statuses up to the k-th: observed the final duration, predicted, p10
and p90 the whole duration.  What ``zpool`` said stands beside it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from zsim.base.errors import InputError, ZsimError
from zsim.prediction.progress.course import Course
from zsim.prediction.progress.moments import PoolFacts, clock_of, with_clocks
from zsim.prediction.progress.remaining import remaining
from zsim.scenario.evidence import RunningScan
from zsim.validation.frame import Claim, Options, ValidationCase, judge
from zsim.validation.progress.rows import Row, fields_of, format_of, scans_of
from zsim.validation.progress.score import band

ZPOOL, GONE = "zpool_s", "elapsed_s"


def claims_of(case: ValidationCase, row: Row, options: Options) -> list[Claim]:
    """Return the claims of a row, one a status."""
    scans = with_clocks(scans_of(row))
    truth = row.get("final_duration_s")
    courses, facts = courses_of_row(row, options.seed)
    return [_claim(case, place, truth, courses, scans[: place + 1], facts) for place in range(len(scans))]


def courses_of_row(row: Row, seed: int) -> tuple[tuple[Course, ...], PoolFacts]:
    """Return what possible worlds of a row do over time, and how its counters are to be read."""
    return _courses(json.dumps(fields_of(row, rebuilt(row)), sort_keys=True), seed)


def rebuilt(row: Row) -> str:
    """Return the kind of a row; a sequential rebuild of what cannot be rebuilt so is a resilver."""
    kind = str(row.get("kind"))
    formats = {format_of(str(status.get("fmt"))) for status in row.get("statuses") or ()}
    return "rebuild" if kind in ("rebuild", "sequential_rebuild") or formats == {"rebuild"} else kind


@functools.lru_cache(maxsize=64)
def _courses(fields: str, seed: int) -> tuple[tuple[Course, ...], PoolFacts]:
    from zsim.prediction.api import case_of
    from zsim.prediction.courses import courses_of
    from zsim.scenario.model import Scenario

    data: dict[str, object] = json.loads(fields)
    for left_out in ((), ("drive_size", "new_drive", "new_drive_size"), ("drive_size", "load", "history")):
        try:
            stated = {key: value for key, value in data.items() if key not in left_out}
            resolved = case_of(Scenario.from_dict({"seed": seed, **stated}))
            break
        except InputError:
            if "history" in left_out:
                raise
    order = resolved.release.order == "sorted" and resolved.operation != "rebuild"
    return courses_of(resolved), PoolFacts(order)


def _claim(
    case: ValidationCase,
    place: int,
    truth: float | None,
    courses: Sequence[Course],
    scans: Sequence[RunningScan],
    facts: PoolFacts,
) -> Claim:
    gone, _ = clock_of(scans[-1])
    said = scans[-1].to_go
    details: Mapping[str, float | None] = {
        ZPOOL: said + gone if said is not None and gone is not None else None,
        GONE: gone,
    }
    try:
        low, middle, high = remaining(courses, scans, facts).total()
    except (ZsimError, ValueError) as error:
        return judge(case, f"eta[{place}]", truth, None, unit="s", reason=str(error), details=details)
    claim = judge(case, f"eta[{place}]", truth, middle, p10=low, p90=high, unit="s", details=details)
    return replace(claim, category=band(gone / truth) if gone is not None and truth else case.category)
