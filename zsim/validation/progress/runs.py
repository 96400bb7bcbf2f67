"""Runs of real OpenZFS, predicted from layout, drive, ALLOC, record size, release and progress alone.

Neither the list of blocks nor the recipe of the pool is looked at: the worlds are those of a pool of which
nobody says what is on it.  Claims are ``eta@0.2`` and so on: the whole duration, from the attach to the end,
as answered when that share of it was gone.
"""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from zsim.base.reading import read_json
from zsim.observe.texts import opened
from zsim.prediction.progress.course import Course
from zsim.prediction.progress.moments import PoolFacts
from zsim.prediction.progress.noise import progress_number
from zsim.prediction.progress.remaining import remaining
from zsim.scenario.evidence import RunningScan, ScanKind, StatusFormat
from zsim.scenario.releases.profile import COPIES, version_numbers
from zsim.validation.formats.zfs_config import EmulatedRun, drive_of
from zsim.validation.frame import Claim, Options, ValidationCase, judge
from zsim.vdevs.kind import SPECIAL

SHARES = (0.1, 0.2, 0.35, 0.5, 0.7)
FIRST_STATUSES, MOST_STATUSES = 3, 10
ZPOOL, LAST_BY_ALLOC = "zpool_s", "last_by_alloc_s"
OTHER_SCAN = 0.08
"""What a scrub leaves open of a resilver of the same pool: standard deviation of the logarithm."""
MEMORY = 24 << 30
SAMPLED = 0.25 / math.sqrt(12.0)
"""Standard deviation of a time that lies between two rows, a quarter of a second apart [s]."""


class Sample(NamedTuple):
    """One row of ``progress.csv``: time since the attach [s], bytes by counter."""

    time: float
    scanned: int
    issued: int
    total: int
    processed: int


def progress_file(folder: Path) -> Path | None:
    """Return the progress of a run, plain or compressed; None where there is none."""
    names = (folder / "progress.csv", folder / "progress.csv.zst")
    return next((path for path in names if path.is_file()), None)


def read_progress(path: Path) -> list[Sample]:
    """Return the rows of ``progress.csv``."""
    with opened(path) as stream:
        text = stream.read().decode("utf-8")
    return [_sample(row) for row in csv.DictReader(text.splitlines())]


def _sample(row: Mapping[str, str]) -> Sample:
    def count(name: str) -> int:
        return int(float(row.get(name) or 0))

    return Sample(
        float(row["t_s"]),
        count("examined"),
        max(count("issued"), count("rebuild_issued")),
        count("to_examine"),
        count("processed"),
    )


def alloc_of(bench: EmulatedRun) -> int:
    """Return ALLOC of a run [bytes]; of the 0.7 series, which does not tell it, what a scan visits."""
    return int(bench.result.get("alloc_bytes") or bench.result["examined_bytes"])


def fields_of(bench: EmulatedRun) -> dict[str, Any]:
    """Return the fields of the scenario that is known of a run."""
    pool = bench.section("pool")
    fields: dict[str, Any] = {
        "layout": str(bench.layout),
        "alloc": alloc_of(bench),
        "drive": "generic-7200rpm-cmr",
        "drive_size": int(pool["leafmb"]) << 20,
        "release": bench.config["zfs"],
        "operation": bench.operation,
        "recordsize": int(pool.get("rec") or 128) << 10,
        "memory": MEMORY,
        "ashift": int(pool.get("ashift", 12)),
    }
    if bench.mode == "legacy":
        fields["order"] = "legacy"
    if bench.to_spare:
        fields["target"] = "distributed-spare"
    if bench.config.get("replace_mode") == "healthy":
        fields["old_drive"] = "online"
    return fields | _unequal_vdevs(bench, fields)


def _unequal_vdevs(bench: EmulatedRun, fields: Mapping[str, object]) -> dict[str, object]:
    """Return what a status and ``zfs get`` tell of a pool with several kinds of vdevs.

    Every drive of a run is of one size; what a scenario leaves open has special vdevs of SSDs.
    """
    layout = bench.layout
    found: dict[str, object] = {}
    if layout.places_of(SPECIAL):
        found |= {"special_drive": fields["drive"], "special_drive_size": fields["drive_size"]}
        small = int(bench.section("pool").get("ssb") or 0)
        found |= {"special_small_blocks": small} if small else {}
    old = bench.config.get("replaced_leaf")
    if len(layout.vdevs) > 1 and old is not None and bench.operation == "resilver":
        ends = itertools.accumulate(vdev.children for vdev in layout.vdevs)
        found["replace_in"] = next(place for place, end in enumerate(ends) if int(old) < end)
    return found


def courses_of_run(bench: EmulatedRun) -> tuple[Course, ...]:
    """Return what possible worlds of a run do over time."""
    from zsim.prediction.api import case_of
    from zsim.prediction.courses import whole_courses
    from zsim.scenario.model import Scenario

    resolved = case_of(Scenario.from_dict(fields_of(bench)))
    return whole_courses(resolved, lambda leaf: drive_of(bench, leaf))


def courses_with_scrub(bench: EmulatedRun, other: EmulatedRun) -> list[tuple[Course, Course]]:
    """Return the courses of a run, each with that of a scrub in the same world, in the scrub's own order."""
    from zsim.prediction.api import case_of
    from zsim.prediction.courses import whole_courses
    from zsim.scenario.model import Scenario

    fields = fields_of(bench)
    dropped = ("operation", "target", "old_drive", "order", "replace_in")
    scrub = {key: value for key, value in fields.items() if key not in dropped} | {"operation": "scrub"}
    if other.mode == "legacy":
        scrub["order"] = "legacy"
    found = [
        whole_courses(case_of(Scenario.from_dict(each)), lambda leaf: drive_of(bench, leaf))
        for each in (fields | {"write_cache": True}, scrub)
    ]
    return list(zip(*found, strict=False))


def facts_of(bench: EmulatedRun) -> PoolFacts:
    """Return what decides how the counters of a run are to be read."""
    return PoolFacts(bench.mode == "sorted" and bench.operation not in COPIES, clock_s=SAMPLED)


def format_of(bench: EmulatedRun) -> StatusFormat:
    """Return the format in which the release of a run prints a scan."""
    if bench.operation in COPIES:
        return "rebuild"
    version = version_numbers(str(bench.config["zfs"]))
    if version < (0, 8) or bench.mode == "legacy":
        return "legacy"
    return "2.2+" if version >= (2, 2) else "0.8-2.1"


def kind_of(bench: EmulatedRun) -> ScanKind:
    """Return what kind of scan a run is, as a status names it."""
    if bench.scrub:
        return "scrub"
    return "expand" if bench.operation == "expand" else "rebuild" if bench.mode == "rebuild" else "resilver"


def statuses(bench: EmulatedRun, samples: Sequence[Sample], until: float) -> tuple[float, list[RunningScan]]:
    """Return when the scan began, after the attach [s], and what could be seen of it by then."""
    seen = [sample for sample in samples if sample.time <= until]
    before = [sample.time for sample in seen if sample.scanned == 0 and sample.issued == 0]
    later = [sample.time for sample in seen if before and sample.time > before[-1]]
    # It began between two rows.
    begin = 0.5 * (before[-1] + later[0]) if later else before[-1] if before else 0.0
    seen = [sample for sample in seen if sample.time > begin]
    printed, total = format_of(bench), alloc_of(bench)
    moved = [
        sample
        for place, sample in enumerate(seen)
        if place == 0 or sample[1:] != seen[place - 1][1:] or place == len(seen) - 1
    ]
    # The begin is unlike the rest: it is told apart by statuses of its own.
    rest = moved[FIRST_STATUSES:]
    kept = moved[:FIRST_STATUSES] + rest[:: max(1, math.ceil(len(rest) / MOST_STATUSES))]
    kept = [*kept, *moved[-1:]] if moved and kept[-1] is not moved[-1] else kept
    return begin, [
        RunningScan(
            kind=kind_of(bench),
            format=printed,
            elapsed=sample.time - begin,
            scanned=sample.scanned if bench.mode != "rebuild" else sample.issued,
            # Of an expansion one counter is kept: what is copied.
            issued=sample.scanned if printed == "legacy" or bench.operation == "expand" else sample.issued,
            total=sample.total or total or None,
            processed=sample.processed,
        )
        for sample in kept
    ]


def zpool_total(bench: EmulatedRun, samples: Sequence[Sample], until: float) -> float | None:
    """Return the whole duration that ``zpool status`` points to [s]: bytes left over the rate of its pass.

    The pass begins with the scan; from 2.1.12 anew when the metadata phase is over (dsl_scan_done_syncing).
    """
    seen = [sample for sample in samples if sample.time <= until]
    if not seen:
        return None
    last = seen[-1]
    printed, total = format_of(bench), last.total or alloc_of(bench)
    done = last.scanned if printed == "legacy" else last.issued
    started = [sample.time for sample in seen if sample.scanned == 0 and sample.issued == 0]
    begin = started[-1] if started else 0.0
    if printed == "2.2+":
        whole = [sample.time for sample in seen if sample.total and sample.scanned >= 0.995 * sample.total]
        begin = whole[0] if whole else begin
    passed = last.time - begin
    return last.time + (total - done) * passed / done if done > 0 and passed > 0.0 else None


def load(path: Path) -> EmulatedRun:
    """Return the configuration and the result of a run."""
    config, result = (read_json(path / name) for name in ("config.json", "result.json"))
    assert isinstance(config, dict)
    assert isinstance(result, dict)
    return EmulatedRun(config, result)


def run(case: ValidationCase, options: Options) -> list[Claim]:
    """Return the claims of one run: its end as answered at five moments."""
    del options
    bench = load(case.path)
    truth = float(bench.result["model_s"])
    path = progress_file(case.path)
    assert path is not None
    samples, courses, facts = read_progress(path), courses_of_run(bench), facts_of(bench)
    claims = []
    for share in SHARES:
        low, middle, high = answer(bench, samples, courses, facts, share * truth)
        claims.append(
            judge(
                case, f"eta@{share:g}", truth, middle, p10=low, p90=high, unit="s",
                details={ZPOOL: zpool_total(bench, samples, share * truth)},
            )
        )  # fmt: skip
    return [*claims, *next_claims(case, bench)]


def scrub_of(folder: Path, bench: EmulatedRun) -> Path | None:
    """Return a finished scrub of the pool of a run beside it: all that says how the pool is, is equal."""
    if bench.scrub:
        return None
    for path in sorted(folder.parent.iterdir()):
        if "scrub" in path.name and (path / "config.json").is_file() and (path / "result.json").is_file():
            other = load(path)
            alike = all(other.config.get(key) == bench.config.get(key) for key in ("zfs", "pool", "disk"))
            if other.scrub and alike and other.section("foreground") == bench.section("foreground"):
                return path
    return None


def next_claims(case: ValidationCase, bench: EmulatedRun) -> list[Claim]:
    """Return the claim ``next``: a resilver from a finished scrub of the same pool, where there is one."""
    path = scrub_of(case.path, bench)
    if path is None:
        return []
    scrub = load(path)
    seen = printed_s(path, scrub)
    courses = [
        replace(course, other_scans=((math.log(seen / before.total_s), OTHER_SCAN),))
        for course, before in courses_with_scrub(bench, scrub)
    ]
    begin = attach_s(bench)
    low, middle, high = (begin + each for each in remaining(courses, (), facts_of(bench)).total())
    truth = float(bench.result["model_s"])
    return [
        judge(
            case, "next", truth, middle, p10=low, p90=high, unit="s",
            details={LAST_BY_ALLOC: begin + seen},
        )
    ]  # fmt: skip


def printed_s(path: Path, bench: EmulatedRun) -> float:
    """Return the duration of a finished scan as zpool prints it [s]: from its begin, not from the command."""
    whole, progress = float(bench.result["model_s"]), progress_file(path)
    begin = attach_s(bench) if progress is None else statuses(bench, read_progress(progress), whole)[0]
    return whole - begin


def attach_s(bench: EmulatedRun) -> float:
    """Return how long an idle pool takes from the command to the scan [s]: its txgs, as 2.3.9 showed."""
    return progress_number("attach.rebuild" if bench.mode == "rebuild" else "attach.scan", "s")


def answer(
    bench: EmulatedRun, samples: Sequence[Sample], courses: Sequence[Course], facts: PoolFacts, until: float
) -> tuple[float, float, float]:
    """Return p10, p50 and p90 of the whole duration, as answered at a moment [s]."""
    begin, scans = statuses(bench, samples, until)
    found = remaining(courses, scans, facts)
    least = until - begin
    low, middle, high = (begin + max(each, least) for each in found.total())
    return low, middle, high
