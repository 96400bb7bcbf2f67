"""From printed statuses of a running scan to shares of its work, and the time these took."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from zsim.base.constants import constant
from zsim.case.case import Case
from zsim.prediction.progress.course import Course, done_cells, straight
from zsim.prediction.progress.noise import Noise, Stretch
from zsim.scenario.evidence import MOVES, RunningScan
from zsim.scenario.releases.profile import COPIES

Clock = Literal["scan", "pass", "unknown"]
WHOLE = constant("progress.whole")
"""A metadata phase is over when so much was scanned: data written meanwhile is not."""
REPAIRED_ERROR = constant("progress.repaired_error")
"""Of the bytes that a world resilvers, as a share: the vdevs of a pool are not equally full."""
PROCESSED_ERROR = constant("progress.processed_error")
"""Of the same where it is known how full they are: not all blocks lie on all drives."""
MOST_UNEVEN, SCANNED_ENOUGH = constant("progress.most_uneven"), constant("progress.scanned_enough")
"""How much more or less than its share a vdev may hold; and of ALLOC, what has to be scanned to tell."""
MOST_CLOCK, MOST_COUNT = constant("progress.most_clock"), constant("progress.most_count")
"""Errors of a stretch beyond which it tells nothing, from the clock and from the counters at its ends."""


PRINTED = constant("progress.printed")
"""Standard deviation of a time that is printed to the second; of one printed in minutes 60 times that."""
CHECKPOINT = constant("progress.checkpoint")
LEAST_RATE = 1.0
"""What zpool prints where a scan has done nothing [bytes/s] (zpool_main.c: ``rate = rate ? rate : 1``)."""
LEAST = constant("progress.least")
"""Of the work: with less the time that it took tells nothing."""
SKIPPED_ERROR = constant("progress.skipped_error")
"""Of the share of ALLOC that a world skips, relative to it."""


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """What decides how the counters are to be read.

    Attributes
    ----------
    sorted : bool
        Whether there is a metadata phase.
    needed : float or None
        Share of ALLOC that has to be issued, where it is known; else each world has its own.
    clock_s : float
        Standard deviation of a time that was read [s].
    checkpoint_s : float
        After so long a sorted scan issues all that it has collected, before it scans on [s].
    """

    sorted: bool = True
    needed: float | None = None
    clock_s: float = PRINTED
    checkpoint_s: float = CHECKPOINT


def facts_of(case: Case) -> PoolFacts:
    """Return what decides how the counters of a case's scan are to be read."""
    return PoolFacts(case.release.order == "sorted" and case.operation not in COPIES)


@dataclass(frozen=True, slots=True)
class State:
    """How far a scan has come at one moment.

    Attributes
    ----------
    visited, issued : float
        Shares of the metadata phase and of the issue done.
    seconds : float or None
        On the clock [s].
    clock : {"scan", "pass", "unknown"}
        Whether that began with the scan, or when the metadata phase was over.
    error : float
        Standard deviation of the logarithm of the share, from how it was read.
    counted : float
        Share issued, with what is under way.
    under_way, unsure : float
        What is under way, as a share of the work, and the standard deviation of it.
    clock_s : float
        Standard deviation of the time, where it was printed more coarsely than to the second [s].
    """

    visited: float
    issued: float
    seconds: float | None
    clock: Clock
    error: float
    counted: float = 0.0
    clock_s: float = 0.0
    under_way: float = 0.0
    unsure: float = 0.0

    @property
    def phase(self) -> str:
        """The phase: ``metadata scan`` or ``repair``."""
        return "metadata scan" if self.visited < 1.0 and self.issued <= 0.0 else "repair"


def clock_of(scan: RunningScan) -> tuple[float | None, Clock]:
    """Return the time a scan has run [s], and since when.

    From 2.1.12 and in 2.2 the pass begins anew when the metadata phase is over, so that bytes over their rate
    leave it out; up to then a scan rate is printed.  Every import begins a pass, too: dates go before rates.
    """
    dated = _dated(scan)
    if scan.elapsed is not None and not scan.elapsed_is_pass:
        return scan.elapsed, "scan"
    if dated is not None:
        return dated, "scan"
    if scan.elapsed is not None:
        over = (scan.scanned or 0) >= WHOLE * (scan.total or math.inf)
        return scan.elapsed, "pass" if over else "scan"
    if scan.scanned and (scan.scan_rate or 0.0) > LEAST_RATE:
        return scan.scanned / (scan.scan_rate or 1.0), "scan"
    if scan.issued and (scan.issue_rate or 0.0) > LEAST_RATE:
        return scan.issued / (scan.issue_rate or 1.0), "pass" if scan.format == "2.2+" else "scan"
    return None, "unknown"


HEALED = constant("progress.healed")
"""By how much worlds are off of what an outage left, beside the noise of a run."""
RESTART_CHANGE, RESTART_ODDS = constant("progress.restart_change"), constant("progress.restart_odds")


def with_clocks(scans: Sequence[RunningScan]) -> list[RunningScan]:
    """Return statuses of one scan with the times that rates tell, where the rates began anew on the way.

    Bytes over their rate are the time since the begin only while both count from there.  An import begins the
    rates anew: bytes over rate are then too much or too little, and the rate is that of the bytes since.
    """
    found: list[RunningScan] = []
    latest: dict[Clock, tuple[float, float]] = {}
    for each in scans:
        scan = each
        seconds, clock = clock_of(scan)
        done, rate = _counted(scan, clock)
        if seconds is not None and done is not None:
            by_rate = rate is not None and scan.elapsed is None and _dated(scan) is None
            if by_rate and clock in latest and _restarted(latest[clock], (done, seconds), float(rate or 0.0)):
                before, then = latest[clock]
                seconds = then + max(0.0, done - before) / float(rate or 1.0)
                scan = scan.model_copy(update={"elapsed": seconds, "elapsed_is_pass": clock == "pass"})
            latest[clock] = done, seconds
        found.append(scan)
    return _by_shares(found)


def _by_shares(scans: list[RunningScan]) -> list[RunningScan]:
    """Return dated statuses that show nothing but shares with the times that an even pace tells."""
    told = [each for each in scans if each.at is not None and each.done]
    if not told[1:] or any(clock_of(each)[0] is not None for each in scans):
        return scans
    first, last = told[0], told[-1]
    gained = (last.done or 0.0) - (first.done or 0.0)
    seconds = _dated(last.model_copy(update={"since": first.at})) or 0.0
    if gained <= 0.0 or seconds <= 0.0:
        return scans
    return [
        each.model_copy(update={"elapsed": (each.done or 0.0) / gained * seconds}) if each in told else each
        for each in scans
    ]


def _counted(scan: RunningScan, clock: Clock) -> tuple[float | None, float | None]:
    """Return the bytes of which a rate is printed, and that rate [bytes/s]: those that `clock_of` reads."""
    if clock == "scan" and scan.scan_rate and scan.scanned:
        return scan.scanned, scan.scan_rate
    return scan.issued, scan.issue_rate


def _restarted(before: tuple[float, float], now: tuple[float, float], rate: float) -> bool:
    """Tell whether rates have begun anew between two statuses: bytes done, and seconds by bytes over rate.

    Where they have not, the pace since must explain the mean rate; where they have, it is that rate.  The
    likelier change of the pace decides, after how rare an import is on the way.
    """
    (done, seconds), (done_now, seconds_now) = before, now
    gained, gone = done_now - done, seconds_now - seconds
    if gained <= 0.0 or done <= 0.0 or seconds <= 0.0:
        return False
    if gone <= 0.0:
        return True
    first = done / seconds
    without, renewed = (math.log(each / first) / RESTART_CHANGE for each in (gained / gone, rate))
    return 0.5 * (without**2 - renewed**2) > -math.log(RESTART_ODDS)


def _dated(scan: RunningScan) -> float | None:
    if scan.since is None or scan.at is None:
        return None
    if (scan.since.tzinfo is None) != (scan.at.tzinfo is None):
        return None
    return max(0.0, (scan.at - scan.since).total_seconds())


def state_of(scan: RunningScan, course: Course, facts: PoolFacts, noise: Noise) -> State | None:
    """Return how far a scan has come in the terms of one world.

    Parameters
    ----------
    scan : RunningScan
    course : Course
        Of the world: what it skips, what it repairs, what it has under way.
    facts : PoolFacts
    noise : Noise

    Returns
    -------
    State or None
        None where the counters do not tell.  What is skipped is taken off the bytes issued; where that leaves
        more open than the bytes resilvered over those of the world, these tell instead.
    """
    seconds, clock = clock_of(scan)
    visited, error = 1.0, noise.counters
    if facts.sorted and scan.format not in ("legacy", "rebuild"):
        visited = _share(scan.scanned, scan.total)
        visited = 1.0 if visited >= WHOLE or scan.scanned is None else visited
    # What is known is the share of one vdev; of several that are repaired at once the course has all.
    of_one = facts.needed if scan.vdevs == 1 else None
    needed = course.needed if of_one is None else of_one
    issued = _issued(scan, needed, visited)
    if of_one is None and counts_skipped(scan, needed) and course.repaired > 0.0:
        repaired = _share(scan.processed, course.repaired)
        # What is skipped is known as well as its share, what is repaired as well as how full the vdevs are.
        unsure = SKIPPED_ERROR * (1.0 - needed) * visited / max(needed * (issued or 0.0), 1e-9)
        if unsure > REPAIRED_ERROR:
            issued, error = repaired, REPAIRED_ERROR
    if issued is None:
        return None
    counted = min(issued, 1.0)
    under_way, unsure = 0.0, 0.0
    if error < REPAIRED_ERROR and issued > 0.0:
        # Issued is not done.
        under_way, unsure = _under_way(scan, course, issued, needed)
        issued, known = max(issued - under_way, issued * 0.02), noise.under_way * course.window
        error = math.hypot(error, known / max(issued, under_way, 1e-9))
    coarse = PRINTED * scan.resolution if scan.resolution > 1.0 else 0.0
    visited = visited if course.visit_s > 0.0 else 1.0
    return State(visited, min(issued, 1.0), seconds, clock, error, counted, coarse, under_way, unsure)


def _under_way(scan: RunningScan, course: Course, issued: float, needed: float) -> tuple[float, float]:
    """Return what of the bytes issued is under way, as a share of the work, and its standard deviation.

    A fast pool keeps the window full, a slow one waits for the last of it at the end of each txg
    (dsl_scan.c:dsl_scan_sync).  Bytes resilvered are counted when they are written
    (vdev.c:vdev_stat_update), so that they tell it, as well as it is known how many there will be.
    """
    window, full = course.window, course.window / math.sqrt(3.0)
    counts = scan.kind == "resilver" and scan.format in ("0.8-2.1", "2.2+") and scan.processed is not None
    if not counts or course.repaired <= 0.0 or window <= 0.0 or counts_skipped(scan, needed):
        return window, full
    told, error = issued - (scan.processed or 0) / course.repaired, PROCESSED_ERROR * issued
    if not -3.0 * error <= told <= window + 3.0 * error:
        return window, full
    weight = 1.0 / (1.0 + (error / full) ** 2)
    return min(window, max(0.0, window + weight * (told - window))), full * math.sqrt(1.0 - weight)


def _share(part: float | None, whole: float | None) -> float:
    return min(1.0, max(0.0, part / whole)) if part is not None and whole else 0.0


def _issued(scan: RunningScan, needed: float, visited: float) -> float | None:
    """Return the share issued as the counters of the release say; None where there are none."""
    if scan.format == "legacy":
        done = scan.scanned if scan.scanned is not None else scan.issued
        return _share(done, scan.total) if done is not None and scan.total else scan.done
    if scan.issued is None or not scan.total:
        return scan.done
    if scan.format == "rebuild":
        # Scanned are all ranges met, issued those of groups that have lost a child.
        met = scan.scanned is not None and scan.scanned > scan.issued
        return _share(scan.scanned, scan.total) if met else _share(scan.issued, scan.total * needed)
    if scan.format == "2.2+":
        # Until all is scanned, what will be skipped is not known.
        known = scan.total_issue if scan.total_issue is not None and visited >= 1.0 else None
        due = known or min(scan.total_issue or scan.total, scan.total * needed)
        if known is None and scan.total_issue is not None and scan.issued > due:
            # More is repaired than the layout tells: of what is scanned, what was skipped is known.
            due = max(due, scan.total_issue - (1.0 - visited) * (1.0 - needed) * scan.total)
        return _share(scan.issued, due)
    # Skipped blocks are counted when they are visited.
    return _share(scan.issued - visited * (1.0 - needed) * scan.total, needed * scan.total)


def overshoot(scan: RunningScan) -> float:
    """Return by how much the counters of a scan have gone beyond its total, as a share of that, 1 at most.

    Returns
    -------
    float
        0 before: what is written while a scan runs is scanned and not in the total it began with
        (dsl_scan.c:dsl_scan_setup_sync).
    """
    by_scan = scan.format in ("legacy", "rebuild") and scan.kind not in MOVES
    done, whole = (scan.scanned, scan.total) if by_scan else (scan.issued, scan.total_issue or scan.total)
    return min(1.0, max(0.0, done / whole - 1.0)) if done is not None and whole else 0.0


def adapted(course: Course, scans: Sequence[RunningScan]) -> Course:
    """Return a course whose damaged vdevs hold what the counters say: vdevs of a pool are not equally full.

    Where drives of several vdevs are resilvered at once, these count together.
    From 2.2 on that is the total to be issued, when all is scanned.  Up to 2.1 what is skipped is counted as
    issued when it is visited, so that of what is scanned all but the rest needs repair.
    """
    together = max((scan.vdevs for scan in scans), default=1)
    if together > 1 and course.first < 1.0:
        # They are repaired side by side: more is counted in the same time.  The others are taken to be alike.
        beside = (1.0 - course.first) * min(1.0, (together - 1) / max(1, course.vdevs - 1))
        more = min(1.0 + beside / course.first, 1.0 / course.needed)
        course = replace(course, needed=course.needed * more, repaired=course.repaired * more)
    if in_rounds(scans, course):
        course = _with_rounds(course)
    shares = [share for scan in scans if (share := needed_by(scan, course)) is not None]
    if not shares:
        return course
    most = max(MOST_UNEVEN, math.exp(3.0 * course.open_share.spread))
    ratio = shares[-1] / course.needed
    if scans[-1].kind == "heal":
        return _healed(course, ratio)
    ratio = min(most, max(1.0 / most, ratio))
    return replace(
        course,
        issue_s=course.issue_s * ratio,
        repaired=course.repaired * ratio,
        needed=min(1.0, course.needed * ratio),
    )


def _healed(course: Course, ratio: float) -> Course:
    """Return the course of a resilver that repairs what an outage left: so much less than all there is.

    What was written meanwhile lies where room was then, and how that goes nobody tells: its own pace counts.
    """
    return replace(
        course,
        issue_s=course.issue_s * ratio,
        tail_s=min(course.tail_s, course.issue_s * ratio),
        repaired=course.repaired * ratio,
        needed=min(1.0, course.needed * ratio),
        window=course.window / max(ratio, 4.0 * course.window),
        shape=straight(),
        drifts=0.0,
        discrepancy=math.hypot(course.discrepancy, HEALED),
    )


IN_ROUNDS, KEEPS_UP = constant("progress.in_rounds"), constant("progress.keeps_up")
"""Share of the work issued before all is scanned from which a scan is taken to go in rounds, and over what is
scanned: a checkpoint every two hours (zfs_scan_checkpoint_intval) issues some as well."""


def in_rounds(scans: Sequence[RunningScan], course: Course) -> bool:
    """Tell whether a scan issues before all is scanned: it has no memory for the records of the whole pool.

    Then it scans, sorts and issues in turns (dsl_scan.c:dsl_scan_should_clear), and has no metadata phase of
    which an end is to be waited for.
    """
    return course.visit_s > 0.0 and any(_issues_early(scan, course) for scan in scans)


def orders(course: Course, scans: Sequence[RunningScan]) -> list[tuple[Course, float]]:
    """Return a world as each order of its work has it, with the logarithms of their weights.

    A share done alone does not say whether all metadata are read, or a round of them: both are as likely
    where the world has no memory for the records of the whole pool, and the time that is gone decides.
    """
    last = scans[-1] if scans else None
    told = last is None or last.scanned is not None or last.format in ("legacy", "rebuild") or not last.done
    if told or course.visit_s <= 0.0 or course.drifts > 0.0:
        return [(course, 0.0)]
    return [(course, math.log(0.5)), (_with_rounds(course), math.log(0.5))]


def _with_rounds(course: Course) -> Course:
    """Return the course of a scan that reads metadata and issues in turns."""
    whole = course.visit_s + course.issue_s
    return replace(
        course, visit_s=0.0, issue_s=whole, transfer=course.transfer * course.issue_s / max(whole, 1e-9),
        shape=straight(), window=0.0, drifts=0.0,
    )  # fmt: skip


def _issues_early(scan: RunningScan, course: Course) -> bool:
    if scan.format in ("legacy", "rebuild") or not scan.total or (scan.scanned or 0) >= WHOLE * scan.total:
        return False
    if counts_skipped(scan, course.needed):
        issued = _share(scan.processed, course.repaired)
    else:
        issued = _share(scan.issued, scan.total * course.needed)
    # With memory for all records only a checkpoint issues early; without, it is a round.
    keeps_up = KEEPS_UP * _share(scan.scanned, scan.total) if course.drifts > 0.0 else 0.0
    return issued > max(IN_ROUNDS, keeps_up)


def needed_by(scan: RunningScan, course: Course) -> float | None:
    """Return the share of ALLOC that has to be issued, by the counters.

    Returns
    -------
    float or None
        None where they do not tell: of a scan that is no resilver, or before enough is scanned.  From 2.2 on
        the total to be issued over the total, once all is scanned; to 2.1 one less what was issued beyond the
        repairs, over what was scanned, and the world's own share of what is not scanned yet.
    """
    if scan.kind not in ("resilver", "heal") or not scan.total or scan.scanned is None or scan.issued is None:
        return None
    if scan.format == "2.2+":
        over = scan.kind == "heal" or scan.scanned >= WHOLE * scan.total
        return scan.total_issue / scan.total if over and scan.total_issue else None
    if (
        scan.kind == "heal"
        or not counts_skipped(scan, course.needed)
        or scan.scanned < SCANNED_ENOUGH * scan.total
    ):
        return None
    repaired = (scan.processed or 0) * course.needed * scan.total / max(course.repaired, 1.0)
    here = max(0.01, 1.0 - max(0.0, scan.issued - repaired) / scan.scanned)
    # What lies on which vdev goes with when it was written: one that was added later is met late.
    visited = 1.0 if course.vdevs == 1 else _share(scan.scanned, scan.total)
    return visited * here + (1.0 - visited) * course.needed


def counts_skipped(scan: RunningScan, needed: float) -> bool:
    """Tell whether much is skipped and counted as issued: 0.8 to 2.1, and other vdevs hold some."""
    skips = scan.kind in ("resilver", "heal") and needed < 1.0 and scan.processed is not None
    return skips and scan.format in ("0.8-2.1", "unknown")


@dataclass(frozen=True, slots=True)
class StatusHistory:
    """What statuses of one scan say in the terms of one world.

    Attributes
    ----------
    stretches : tuple of Stretch
        Work done, and the time that it took.
    last : State
        The latest that tells something.
    known_s : float
        Time from the begin of the scan to that work, as far as it is known [s].
    idle_s : float
        How long the counters have stood still since [s].
    unseen_visit : tuple of (float, float) or None
        Share of the metadata phase at begin and end of what was done while nobody looked.
    """

    stretches: tuple[Stretch, ...]
    last: State
    known_s: float
    idle_s: float
    unseen_visit: tuple[float, float] | None


def history_of(
    scans: Sequence[RunningScan], course: Course, facts: PoolFacts, noise: Noise
) -> StatusHistory | None:
    """Return what statuses of a scan say, in order of time; None where none tells how far it has come.

    Two statuses tell more than one: the work between them took the time between them, whatever the averages
    that were printed.
    """
    told = by_latest_total(scans)
    states = [state for scan in told if (state := state_of(scan, course, facts, noise)) is not None]
    if not states:
        return None
    if scans[-1].format == "rebuild" and scans[-1].kind not in MOVES:
        states = _slab_by_slab(states)
    begun = {"scan": State(0.0, 0.0, 0.0, "scan", 0.0), "pass": State(1.0, 0.0, 0.0, "pass", 0.0)}
    before: dict[str, _Seen] = {clock: _Seen(state) for clock, state in begun.items()}
    stretches: list[Stretch] = []
    seen_visit = 0.0
    known = 0.0
    for state in states:
        if state.seconds is None:
            continue
        for part in _parts(before[state.clock].state, state, course, facts):
            stretch = _stretch(before[part.clock], part, course, facts, noise)
            if stretch is not None:
                stretches.append(stretch)
                before[part.clock] = _Seen(part, len(stretches) - 1)
        if before[state.clock].state is state and state.clock == "scan":
            known, seen_visit = state.seconds, state.visited
    last = states[-1]
    if last.clock == "unknown":
        return StatusHistory(tuple(stretches), last, known, 0.0, None)
    now, moved = float(last.seconds or 0.0), before[last.clock].state
    still = (last.visited, last.issued) == (moved.visited, moved.issued)
    reached = float(moved.seconds or 0.0) if still and stretches else now
    if last.clock == "scan":
        return StatusHistory(tuple(stretches), last, reached, now - reached, None)
    return StatusHistory(tuple(stretches), last, known + reached, now - reached, (seen_visit, 1.0))


def _slab_by_slab(states: Sequence[State]) -> list[State]:
    """Return states of a rebuild: what was issued at an earlier status is done when more is issued."""
    found, before, counted = [], 0.0, 0.0
    for state in states:
        if state.counted > counted:
            before, counted = counted, state.counted
        found.append(replace(state, issued=max(state.issued, before)))
    return found


def by_latest_total(scans: Sequence[RunningScan]) -> list[RunningScan]:
    """Return statuses of one scan whose totals are at least what the latest has come to.

    A scan visits what is written meanwhile, too: at 100 % of the total that it began with it was not at its
    end where it has gone on since (dsl_scan.c:dsl_scan_setup_sync), and of a rebuild the total is estimated
    anew (vdev_rebuild.c:vdev_rebuild_update_bytes_est).
    """
    beyond = 1.0 + overshoot(scans[-1]) if scans else 1.0
    found = []
    for scan in scans:
        grown = {
            name: math.ceil(whole * beyond)
            for name in ("total", "total_issue")
            if (whole := getattr(scans[-1], name)) and 0 < (getattr(scan, name) or 0) < whole * beyond
        }
        found.append(scan.model_copy(update=grown) if grown else scan)
    return found


class _Seen(NamedTuple):
    """A state, and which stretch ends with it; none at the begin."""

    state: State
    stretch: int | None = None


def _parts(first: State, state: State, course: Course, facts: PoolFacts) -> tuple[State, ...]:
    """Return the states between which work went evenly: a checkpoint divides scanning from issuing.

    A sorted scan that has scanned for `checkpoint_s` issues all that it has collected before it scans on
    (dsl_scan.c:dsl_scan_should_clear).
    """
    seconds, begun = state.seconds or 0.0, first.seconds or 0.0
    one_sweep = facts.sorted and course.drifts > 0.0
    collects = one_sweep and state.clock == "scan" and first.issued <= 0.0 and state.visited < 1.0
    if collects and state.issued > 0.0 and begun < facts.checkpoint_s < seconds:
        return replace(state, issued=0.0, counted=0.0, seconds=facts.checkpoint_s), state
    return (state,)


def _stretch(seen: _Seen, state: State, course: Course, facts: PoolFacts, noise: Noise) -> Stretch | None:
    """Return the work between two states and the time it took; None where there is none."""
    first = seen.state
    gone = float(state.seconds or 0.0) - float(first.seconds or 0.0)
    work = done_cells(state.visited, state.issued) - done_cells(first.visited, first.issued)
    visits = state.visited - first.visited if course.visit_s > 0.0 else 0.0
    if gone <= 0.0 or work.min() < -1e-9 or max(state.issued - first.issued, visits) <= LEAST:
        return None
    gained = max(state.issued - first.issued, state.visited - first.visited, 1e-9)
    read = [min(MOST_CLOCK, max(facts.clock_s, each.clock_s) / gone) for each in (first, state)]
    counts = [min(MOST_COUNT, each.error * each.issued / gained) for each in (first, state)]
    scattered = 0.0
    if state.issued <= 0.0 and state.visited > first.visited:
        length = noise.visit_length / (state.visited - first.visited)
        scattered = noise.visit_quick * min(1.0, math.sqrt(2.0 * length))
    error = math.hypot(noise.counters, scattered)
    return Stretch(work, gone, error, (read[0], counts[0]), (read[1], counts[1]), seen.stretch)
