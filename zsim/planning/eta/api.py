"""`zsim.eta`: when a running scan ends."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Unpack

from zsim.base.errors import check_function, check_kind, check_path
from zsim.base.notebook import reporting
from zsim.case.case import Case
from zsim.planning.eta.answer import Eta
from zsim.planning.eta.followed import FollowedScan
from zsim.planning.eta.reading import Paste, read_paste, said_paste
from zsim.planning.eta.reasons import says_no_minute, zpool_remaining
from zsim.prediction.api import case_of, provenance_of, subject
from zsim.prediction.courses import courses_of
from zsim.prediction.progress.course import Course
from zsim.prediction.progress.metadata_only import metadata_only, tables_only
from zsim.scenario.evidence import Observation, RunningScan
from zsim.scenario.model import Scenario

if TYPE_CHECKING:
    from zsim.scenario.keyword_types import AnyFields

Progress = Callable[[float, str], None]
MOST_OF_A_PATH = 4096
FIRST_SORTED = "openzfs-0.8"


def eta(
    text: str | Path | None = None,
    files: Sequence[str | Path] = (),
    *,
    pool: str | None = None,
    overrides: Sequence[str] = (),
    stated: Mapping[str, object] | None = None,
    now: datetime | None = None,
    on_progress: Progress | None = None,
    **fields: Unpack[AnyFields],
) -> Eta:
    """Predict when a running resilver, scrub or rebuild ends.

    Parameters
    ----------
    text : str or Path, optional
        Output of ``zpool status``, taken once or several times, possibly with other output about the pool;
        or the path of a file with it; or a sentence: ``"8x 16TB in raidz2, resilver 34% done after 12 h"``.
    files : sequence of str or Path
        Files and directories with the same.
    pool : str, optional
        Name of the pool, if the output shows several.
    overrides : sequence of str
        ``KEY=VALUE``, as ``--set`` takes it: fields of the scenario, which replace what the output shows.
    stated : mapping, optional
        The same as `fields`, where they are in a mapping already.
    now : datetime, optional
        When `text` was printed, if it contains no date: local time; a time with a time zone is converted
        to that of this machine.
    on_progress : callable, optional
        Called with the share done and what is being done.
    **fields
        Fields of the scenario, which replace what the output shows: ``recordsize="1M"``.

    Returns
    -------
    Eta

    Raises
    ------
    InputError
        When no scan is running, or the output cannot be read.

    Notes
    -----
    Possible worlds of the pool are simulated and weighted by the progress of the scan
    (`zsim.prediction.progress.remaining`); the remaining time in each is scaled by the pace observed so far.

    Examples
    --------
    >>> found = eta("8x 16TB in raidz2, 60% full, resilver 34% done after 12 h", recordsize="1M")
    >>> 12 * 3600 < found.remaining_s.p50 < 48 * 3600
    True
    """
    check_function("on_progress", on_progress)
    check_kind("files", files, (list, tuple), "it is a list of files", 'write files=["lsblk.txt"]')
    for each in files:
        check_path("files", each)
    check_kind("pool", pool, (str, NoneType), "it is the name of a pool", 'write pool="tank"')
    check_kind("stated", stated, (Mapping, NoneType), "it maps fields to values", "give a dict")
    check_kind("now", now, (datetime, NoneType), "it is a datetime", "write now=datetime.now()")
    if now is not None and now.tzinfo is not None:
        now = now.astimezone().replace(tzinfo=None)
    if isinstance(text, Path) or (isinstance(text, str) and _is_path(text)):
        files, text = (text, *files), None
    known = {**(stated or {}), **{name: value for name, value in fields.items() if value is not None}}
    paste = said_paste(text, overrides, known) if isinstance(text, str) and not files else None
    if paste is None:
        paste = read_paste(text, files, pool=pool, overrides=overrides, stated=known, now=now)
    return eta_of(paste.scenario, paste, on_progress)


def _is_path(text: str) -> bool:
    """Tell whether a text is the path of a file; what zpool prints has several lines."""
    if "\n" in text or not 0 < len(text) < MOST_OF_A_PATH:
        return False
    try:
        return Path(text).is_file()
    except OSError:  # JSON in one line is longer than any name
        return False


def eta_of(scenario: Scenario, paste: Paste, on_progress: Progress | None = None) -> Eta:
    """Return the answer for statuses of a scan on the pool of a scenario."""
    case = case_of(scenario)
    origin = provenance_of(case)
    courses = _courses_of(scenario, paste, case, on_progress, str((origin["models"], origin["files"])))
    reporting(on_progress)(1.0, "weighing")
    scan = FollowedScan(paste, case, courses)
    said, elapsed = zpool_remaining(scan.last), scan.elapsed
    return Eta(
        pool=paste.pool,
        subject=subject(case),
        total_s=scan.total,
        remaining_s=scan.left,
        elapsed_s=elapsed,
        at=paste.at,
        phase=scan.phase,
        done=scan.done_as_shown,
        parts=scan.parts,
        zpool_remaining_s=said,
        zpool_prints=scan.last.to_go is not None,
        zpool_says_no_minute=says_no_minute(scan.last),
        zpool_total_s=said + elapsed if said is not None and elapsed is not None else None,
        zpool_why=scan.zpool_why,
        pace=scan.pace,
        lately=scan.lately,
        reasons=scan.reasons,
        worry=scan.worry,
        consequences=scan.consequences,
        evidence=scan.weighed,
        assumptions=tuple(each.to_dict() for each in case.assumptions),
        notes=scan.notes,
        missing=scan.missing,
        provenance={**origin},
    )


def _courses_of(
    scenario: Scenario, paste: Paste, case: Case, on_progress: Progress | None, state: str
) -> tuple[Course, ...]:
    """Return the courses of possible worlds; of a log that is resilvered alone those of its metadata."""
    alone = scenario.replace(evidence=_others(scenario))
    if not paste.log_alone:
        found = _courses(alone.to_toml(), state, on_progress)
        return tuple(tables_only(each, case.alloc) for each in found) if paste.dedup_alone else found
    counted = case.release.order != "sorted"
    if counted:
        # Both orders visit the same metadata; the metadata phase of the first sorted release is read alone.
        alone = alone.replace(
            release=FIRST_SORTED, order="sorted", product=None, tunables=None, evidence=None
        )
    found = _courses(alone.to_toml(), state, on_progress)
    return tuple(metadata_only(each, counted=counted) for each in found)


@functools.lru_cache(maxsize=8)
def _kept(toml: str, state: str) -> dict[str, tuple[Course, ...]]:
    """Return where the courses of a scenario are kept: the same pool is asked for again and again.

    `state` holds the hashes of the files that the scenario names, which may have been written anew.
    """
    del toml, state
    return {}


def _courses(toml: str, state: str, on_progress: Progress | None) -> tuple[Course, ...]:
    held = _kept(toml, state)
    if "courses" not in held:
        held["courses"] = courses_of(case_of(_read(toml)), on_progress)
    return held["courses"]


def _read(toml: str) -> Scenario:
    import tomllib

    return Scenario.from_dict(tomllib.loads(toml))


def _others(scenario: Scenario) -> tuple[Observation, ...] | None:
    """Return the evidence of a scenario without that of the scan that runs."""
    others = tuple(each for each in scenario.evidence or () if not isinstance(each, RunningScan))
    return others or None
