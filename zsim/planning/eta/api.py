"""`zsim.eta`: when a running scan is over."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import NoneType

from zsim.base.errors import check_function, check_kind, check_path
from zsim.base.notebook import reporting
from zsim.case.case import Case
from zsim.observe.evidence.kernel_log import TELLS
from zsim.observe.pool_import.layout import waits_words
from zsim.planning.eta.answer import Eta
from zsim.planning.eta.lately import lately_of, stands_still, told_once
from zsim.planning.eta.reading import Paste, read_paste
from zsim.planning.eta.reasons import (
    HANGS,
    LOG_ALONE,
    PASSED_OVER,
    STILL_SLOWER,
    UNEXPLAINED,
    consequences,
    expected_pace,
    slow_reasons,
    stood,
    stuck,
    telling_pace,
    then,
    worries,
    zpool_remaining,
    zpool_why,
)
from zsim.planning.eta.records import Span, Weighed
from zsim.prediction.api import case_of, provenance_of, subject
from zsim.prediction.courses import courses_of
from zsim.prediction.evidence.wording import sick_looking
from zsim.prediction.inputs.ensemble import unknowns
from zsim.prediction.missing import missing
from zsim.prediction.progress.course import Course
from zsim.prediction.progress.healing import is_open, visited_share
from zsim.prediction.progress.metadata_only import metadata_only, tables_only
from zsim.prediction.progress.moments import PoolFacts, clock_of, facts_of
from zsim.prediction.progress.remaining import Remaining, remaining
from zsim.scenario.evidence import Observation, RunningScan
from zsim.scenario.model import Scenario
from zsim.scenario.releases.profile import COPIES

Progress = Callable[[float, str], None]
WIDEST = 1e-6
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
) -> Eta:
    """Tell when a running resilver, scrub or rebuild is over.

    Parameters
    ----------
    text : str or Path, optional
        What ``zpool status`` printed, once or at several moments, or the path of a file with it; other output
        of the pool may stand beside.
    files : sequence of str or Path
        Files and directories with the same.
    pool : str, optional
        Its name, where they are about several.
    overrides : sequence of str
        ``KEY=VALUE``: fields of the scenario that are known better.
    stated : mapping, optional
        The same, as fields.
    now : datetime, optional
        When `text` was printed, if it was just now: local time; one with a time zone is taken to that of
        this machine.
    on_progress : callable, optional
        Called with the share done and what is being done.

    Returns
    -------
    Eta

    Raises
    ------
    InputError
        When no scan runs, or nothing can be read.

    Notes
    -----
    Possible worlds of the pool are simulated and weighed by how the scan got on
    (`zsim.prediction.progress.remaining`); what each has left is stretched by how much slower it goes here.
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
    paste = read_paste(text, files, pool=pool, overrides=overrides, stated=dict(stated or {}), now=now)
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
    facts = facts_of(case)
    last = paste.scans[-1]
    open_end = is_open(last)
    lately = lately_of(paste.scans) if not open_end else None
    # What stands still does not get nearer to its end: what is left counts from when it goes on.
    scans = told_once(paste.scans, stands_still(lately))
    found = remaining(courses, scans, facts)
    left, total = Span(*found.left()), Span(*found.total())
    elapsed = _elapsed(last, total, left)
    share = elapsed / total.p50 if elapsed is not None and total.p50 > 0.0 else _done(found)
    phase = _phase(found, case, paste)
    said = zpool_remaining(last)
    changed = total.p50 / max(Span(*remaining(courses, (), facts).total()).p50, WIDEST)
    pace = telling_pace(expected_pace(found), changed, share, elapsed)
    halted = None if paste.log_alone else stuck(last, phase, elapsed)
    if halted is None and lately is not None and stands_still(lately):
        halted = stood(lately.seconds)
    whole = None if _of_a_part(paste) else total
    waiting = paste.waiting if whole is not None and _says(paste, waits_words(paste.waiting)) else 0
    worry = worries(found, "" if paste.log_alone else phase, left, paste.at, last, elapsed)
    if found.state is None or _done(found) <= 0.0 or open_end or paste.dedup_alone:
        pace = None
    return Eta(
        pool=paste.pool,
        subject=subject(case),
        total_s=total,
        remaining_s=left,
        elapsed_s=elapsed,
        at=paste.at,
        phase=phase,
        done=visited_share(last) if open_end else _done(found),
        parts={"metadata scan": left.p50} if paste.log_alone else _parts(found, left),
        zpool_remaining_s=said,
        zpool_prints=last.to_go is not None,
        zpool_total_s=said + elapsed if said is not None and elapsed is not None else None,
        zpool_why=_zpool_why(paste, said, left, share, case, phase),
        pace=pace,
        lately=lately,
        reasons=_reasons(
            case,
            paste.notes,
            slow_reasons(courses, found, case, 1.0 if pace is None else pace, _collected(last)),
        ),
        worry=(HANGS,) if stands_still(lately) else worry,
        consequences=consequences(case, share, whole, left, elapsed, waiting),
        evidence=_weighed(courses, scans, facts),
        assumptions=tuple(each.to_dict() for each in case.assumptions),
        notes=(*_said_first(halted, waiting, total, left, paste.at), *_notes(paste, waiting)),
        missing=missing(case, unknowns(case)),
        provenance={**origin},
    )


def _said_first(
    halted: str | None, waiting: int, total: Span, left: Span, at: datetime | None
) -> Iterator[str]:
    """Yield what is to be known before all else: that nothing goes on, and that a further pass follows."""
    if halted is not None:
        yield halted
    if waiting:
        yield then(waiting, total, left, at)


def _notes(paste: Paste, waiting: int) -> Iterator[str]:
    """Yield the notes of what was read that are told as notes, and nowhere else."""
    for each in paste.notes:
        if not each.startswith(TELLS) and not (waiting and each.startswith(waits_words(waiting))):
            yield each


def _says(paste: Paste, words: str) -> bool:
    """Tell whether some note of what was read begins so."""
    return any(each.startswith(words) for each in paste.notes)


def _reasons(case: Case, notes: Sequence[str], found: Sequence[str]) -> tuple[str, ...]:
    """Return why a scan is slow; a drive that looks sick comes first, and then nothing is unexplained."""
    sick = (*sick_looking(case), *(note for note in notes if note.startswith(TELLS)))
    return (*sick, *(each for each in found if not sick or each not in (UNEXPLAINED, STILL_SLOWER)))


def _zpool_why(paste: Paste, said: float | None, left: Span, share: float, case: Case, phase: str) -> str:
    """Return why zpool's estimate is off; empty where it is not."""
    if is_open(paste.scans[-1]):
        return PASSED_OVER if said is None or not left.p10 <= said <= left.p90 else ""
    if not paste.log_alone:
        return zpool_why(paste.scans[-1], said, left, share, case, phase)
    return LOG_ALONE if said is None or not left.p10 <= said <= left.p90 else ""


def _of_a_part(paste: Paste) -> bool:
    """Tell whether less than a drive is repaired: that says nothing of what another one would take."""
    return paste.log_alone or paste.dedup_alone or paste.scans[-1].kind == "heal"


def _collected(scan: RunningScan) -> float:
    """Return how much is scanned and not yet issued [bytes]: so much the host has had memory for."""
    return max(0.0, (scan.scanned or 0.0) - (scan.issued or 0.0)) if scan.issued is not None else 0.0


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


def _elapsed(last: RunningScan, total: Span, left: Span) -> float | None:
    """Return how long the scan has run [s]; of a pass whose metadata phase is not counted the median's."""
    gone, clock = clock_of(last)
    if clock == "scan" or gone is None:
        return gone
    return max(gone, total.p50 - left.p50)


def _done(found: Remaining) -> float:
    if found.state is None:
        return 0.0
    return found.state.visited if found.state.phase == "metadata scan" else found.state.issued


def _parts(found: Remaining, left: Span) -> dict[str, float]:
    """Return what is left by phase [s], so that it is the median together."""
    every = math.fsum(found.parts.values())
    return {name: seconds * left.p50 / every if every > 0.0 else 0.0 for name, seconds in found.parts.items()}


def _phase(found: Remaining, case: Case, paste: Paste) -> str:
    if paste.paused:
        return "paused"
    if paste.log_alone:
        return "metadata scan"
    if case.operation in COPIES:
        return "rebuild" if case.operation == "rebuild" else "copying"
    return found.state.phase if found.state is not None else "unknown"


def _weighed(
    courses: Sequence[Course], scans: Sequence[RunningScan], facts: PoolFacts
) -> tuple[Weighed, ...]:
    """Return what each status says, and by how much it narrows the answer of those before it."""
    before = _width(remaining(courses, (), facts))
    rows = []
    for count, scan in enumerate(scans, 1):
        found = remaining(courses, scans[:count], facts)
        width = _width(found)
        gone, _ = clock_of(scan)
        if gone is None:
            continue
        rows.append(
            Weighed(
                f"running {scan.kind}",
                gone,
                gone / expected_pace(found),
                found.effective / len(courses),
                max(0.0, 1.0 - width / max(before, WIDEST)),
            )
        )
        before = width
    return tuple(rows)


def _width(found: Remaining) -> float:
    low, _, high = found.total()
    return math.log(max(high, WIDEST) / max(low, WIDEST))
