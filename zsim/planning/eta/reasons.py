"""Why zpool's estimate is off, why a scan is slow, when to worry, and what further steps would cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import datetime

import numpy as np

from zsim.base.constants import constant
from zsim.base.units import format_bytes, format_duration
from zsim.case.case import Case
from zsim.observe.pool_import.layout import waits_words
from zsim.planning.eta.records import Span, dated, later
from zsim.pool.recipes.histories import history_names
from zsim.prediction.api import RUNS_DECIDE, SLOWEST_COPY
from zsim.prediction.inputs.scan_memory import sorted_at_once, sorts
from zsim.prediction.progress.course import Course
from zsim.prediction.progress.moments import CHECKPOINT, LEAST_RATE, WHOLE, overshoot
from zsim.prediction.progress.remaining import Remaining
from zsim.prediction.progress.told_memory import issues_by_turns, queued_bytes
from zsim.scenario.evidence import MOVES, RunningScan
from zsim.scenario.releases.profile import COPIES

EARLY = 0.05
SLOW, FAST = 1.3, 0.75
SETTLED = constant("progress.settled")
FIRST_TXGS = constant("progress.first_txgs")
"""A scan of which little is done tells nothing of its pace before [s]."""
FOLLOWED = 0.3
"""A pace says something where the answer has gone with it by this share, in logarithms."""
TELLING = 1.6
"""So many times as likely as before, a property of the worlds is named as the reason."""
EXPLAINED, STILL = 0.5, 2.0
"""If its worlds explain as much of the slowness, in logarithms, and no more than such a factor is left."""
SEVERAL_TIMES = "ZFS cannot sort the whole pool at once: the scan goes over the drives several times"
NOTHING_ISSUED = "nothing, or hardly anything, is issued yet"
OTHER_VDEVS = (
    "it counts the blocks of the other top-level vdevs as issued, although they are skipped: "
    "what is left runs at the speed of one vdev"
)
OTHERS_DUE = "until everything is scanned it includes blocks of other top-level vdevs, which will be skipped"
FIRST_MINUTES = "its rate is that of the first minutes, which says little about the rest"
METADATA = "while metadata is scanned little is issued, so the mean rate of the pass says little"
METASLABS = "a rebuild waits for a txg sync after each metaslab, and the inner tracks are slower"
OTHER_GROUPS = (
    "it expects everything allocated to be issued, but groups without a failed drive are skipped: the share"
    " scanned is the share done"
)
OUTER_TRACKS = (
    "its rate counts from the end of the metadata phase, on the outer, faster tracks, and includes I/O that"
    " is still in flight"
)
PAST_TOTAL = (
    "data written since the scan began is scanned too, so the counters exceed the total and do not show the"
    " end"
)
SEEKS = "it counts bytes, not seeks: small files and the end of the pool take longer"
SLOWER_LEFT = "its mean rate is that of the work done so far, and what is left is slower"
LOG_ALONE = "only metadata is read, and data counts as done when it is skipped"
PASSED_OVER = "data older than the outage is counted as work, but will be skipped"
SLOW_SPELL = "its mean rate is that of a slow spell, which is expected to end: if it lasts, zpool is right"
SLOW_HOURS = "its mean rate includes the metadata phase, or slow hours, that are over"
FASTER_LEFT = "its mean rate is that of the data copied so far, and what is left is expected to go faster"
LOOK = "compare the drives (zpool iostat -vl 60), look for link resets (dmesg) and for client load"
UNEXPLAINED = f"nothing known about the pool explains the slow pace: {LOOK}"
HANGS = "now: look for a drive or a link that hangs (dmesg, zpool events -v)"
MINUTE = 60.0
NOTHING = 1
"""Bytes that releases before 0.8 print of a scan that has done nothing yet, so as not to divide by none."""
STILL_SLOWER = f"that alone does not explain the slow pace: {LOOK}"
RATES_ANEW = "the rates that zpool prints restart from zero"
ZFS_WORDS = {
    "write cache off": "drives whose write caches are off",
    "write cache on": "drives whose write caches are on",
}


def zpool_remaining(scan: RunningScan) -> float | None:
    """Return the time to go by zpool's own rule [s]: what is left over the mean rate of its pass.

    To 0.7 of bytes examined, from 0.8 of bytes issued (zpool_main.c:print_scan_scrub_resilver_status).
    """
    if scan.to_go is not None:
        return 0.5 * MINUTE if says_no_minute(scan) else scan.to_go
    rate, done, whole = scan.issue_rate, scan.issued, scan.total_issue or scan.total
    if scan.format in ("legacy", "rebuild") and scan.kind not in MOVES:
        rate, done, whole = scan.scan_rate, scan.scanned, scan.total
    if rate is None or rate <= LEAST_RATE or done is None or not whole:
        return None
    return max(0.0, (whole - done) / rate)


def says_no_minute(scan: RunningScan) -> bool:
    """Tell whether zpool prints ``0h0m to go``; up to 0.7, and of a removal, it prints whole minutes."""
    return scan.to_go == 0.0 and (scan.format == "legacy" or scan.kind == "remove")


def zpool_why(scan: RunningScan, said: float | None, left: Span, share: float, case: Case, phase: str) -> str:
    """Return why zpool's estimate is off; empty where it lies between p10 and p90."""
    if said is None:
        return NOTHING_ISSUED if phase == "metadata scan" else ""
    if left.p10 <= said <= left.p90 or (says_no_minute(scan) and left.p10 < MINUTE):
        return ""
    short = said < left.p10
    several = len(case.layout.data) > 1 and scan.kind == "resilver"
    rebuild = scan.format == "rebuild" and scan.kind not in MOVES
    if overshoot(scan) > 0.0:
        return PAST_TOTAL
    if case.operation in COPIES and not rebuild:
        return SLOWER_LEFT if short else FASTER_LEFT
    rules = (
        (several and scan.format == "0.8-2.1" and short, OTHER_VDEVS),
        (share < EARLY, FIRST_MINUTES),
        (phase == "metadata scan", METADATA),
        (rebuild and short, METASLABS),
        (rebuild and (scan.scanned or 0) > (scan.issued or 0), OTHER_GROUPS),
        (scan.format == "2.2+" and short, OUTER_TRACKS),
        (several and scan.format == "2.2+" and not is_scanned(scan), OTHERS_DUE),
        (scan.format == "legacy", SEEKS if short else SLOW_SPELL),
        (short, SLOWER_LEFT),
    )
    return next((words for holds, words in rules if holds), SLOW_HOURS)


def is_scanned(scan: RunningScan) -> bool:
    """Tell whether all metadata has been visited, so that what is to be issued is known."""
    return (scan.scanned or 0) >= WHOLE * (scan.total or math.inf)


def expected_pace(found: Remaining) -> float:
    """Return how much slower the scan is than the middle one of all worlds, weighed or not."""
    return float(np.median(found.paces))


def telling_pace(pace: float, changed: float, share: float, elapsed: float | None) -> float | None:
    """Return how many times slower than expected a scan is, if that can be told yet.

    Parameters
    ----------
    pace : float
        How many times slower than in the middle world the scan is so far.
    changed : float
        How many times as long the whole is expected to take as before anything was seen.
    share : float
        Of the whole time, what has passed.
    elapsed : float or None
        The same [s].

    Returns
    -------
    float or None
        The pace, where it is not out of the common or the answer has moved with it; where it has not, though
        much is done, by how much it has moved; None while little is done, as in the first minutes, and of
        a status that does not tell how long the scan has run.
    """
    if elapsed is None or elapsed < FIRST_TXGS or (share < EARLY and elapsed < SETTLED):
        return None
    if FAST < pace < SLOW:
        return pace
    if math.log(changed) / math.log(pace) > FOLLOWED:
        return pace
    return changed if share >= EARLY else None


def slow_reasons(
    courses: Sequence[Course], found: Remaining, case: Case, pace: float, scans: Sequence[RunningScan] = ()
) -> tuple[str, ...]:
    """Return why a scan is slow, the likeliest first; what fits best of the possible worlds is named."""
    named = []
    if "smr" in _written(case):
        named.append("one of the drives is shingled (SMR): once its cache is full it rewrites whole bands")
    named.extend(_rounds(courses, found, case, scans))
    if case.operation == "expand" and pace >= SLOW:
        named.append(RUNS_DECIDE)
    if pace < SLOW or (case.operation == "expand" and pace <= SLOWEST_COPY):
        return tuple(named)
    likelier = [f"this pace is most like that of {words}" for words in _likelier(courses, found, pace)]
    return (*named, *(likelier or [STILL_SLOWER if named else UNEXPLAINED]))


def _rounds(
    courses: Sequence[Course], found: Remaining, case: Case, scans: Sequence[RunningScan]
) -> Iterator[str]:
    """Yield that a sorted scan goes over the drives several times, as its memory or its counters tell."""
    if not sorts(case):
        return
    if case.scan_memory is not None:
        at_once = sorted_at_once(case)
        has_more = any((queued_bytes(scan) or 0.0) > at_once * case.alloc for scan in scans)
        if at_once < 1.0 and not has_more:
            yield f"with {format_bytes(case.memory)} of memory {SEVERAL_TIMES}"
        return
    turns = [any(issues_by_turns(scan, course) for scan in scans) for course in courses]
    if float(found.worlds[np.array(turns)].sum()) > 0.5:
        yield f"it repairs before all is scanned: with the memory that its host has {SEVERAL_TIMES}"


def _written(case: Case) -> set[str]:
    """Return how the drives record that are written to: of a repair the new ones, of a scrub none."""
    if case.operation == "scrub":
        return set()
    if case.operation in ("resilver", "rebuild"):
        return {case.new_drive.recording}
    return {case.drive.recording, case.new_drive.recording}


def _likelier(courses: Sequence[Course], found: Remaining, pace: float) -> list[str]:
    """Return the properties of worlds that the progress has made clearly likelier, and that explain it."""
    shares: dict[str, tuple[float, float, float]] = {}
    for course, weight, slower in zip(courses, found.worlds, found.paces, strict=True):
        for part in course.name.split(", "):
            if part:
                before, after, logs = shares.get(part, (0.0, 0.0, 0.0))
                log = float(weight) * math.log(max(float(slower), 1e-9))
                shares[part] = before + 1.0 / len(courses), after + float(weight), logs + log
    likely = [
        (after, part)
        for part, (before, after, logs) in shares.items()
        if after > max(0.4, TELLING * before)
        and logs / after <= min((1.0 - EXPLAINED) * math.log(pace), math.log(STILL))
    ]
    return [_named(part) for _, part in sorted(likely, reverse=True)[:2]]


def _named(part: str) -> str:
    """Return what a world is told apart by, as it is said of a pool."""
    if part in history_names():
        return f"pools with the data of a {part} (--history {part})"
    return ZFS_WORDS.get(part, part)


def worries(
    found: Remaining, phase: str, left: Span, at: datetime | None, scan: RunningScan, elapsed: float | None
) -> tuple[str, ...]:
    """Return until when what looks odd is normal.

    A sorted scan issues all that it has collected after `zfs_scan_checkpoint_intval` at the latest
    (dsl_scan.c:dsl_scan_should_clear).
    """
    said = []
    visit = found.parts.get("metadata scan", 0.0)
    due = CHECKPOINT - elapsed if scan.issued == 0 and elapsed is not None else math.inf
    if phase == "metadata scan" and due < 0.0:
        said.append(
            f"now: nothing has been issued after {format_duration(elapsed or 0.0)}, although ZFS issues what"
            f" it has scanned every {format_duration(CHECKPOINT)} at the latest. Unless the host was down in"
            " between, look for a drive or a link that hangs (dmesg, zpool events -v)"
        )
    elif phase == "metadata scan" and visit > 60.0:
        # The metadata phase is known about as well as the whole.
        late = min(due, visit * left.p90 / max(left.p50, 1e-9))
        said.append(
            "little or nothing issued is normal in the metadata phase, until about "
            f"{_moment(at, min(due, visit))}; worry if that has not changed {_at(at, late)}"
        )
    if scan.format == "legacy" and scan.scanned is not None and scan.scanned <= NOTHING:
        said.append(
            "nothing has been scanned yet: the scan has just begun, keeps restarting, or hangs; if that has"
            f" not changed some minutes later, {HANGS.removeprefix('now: ')}"
        )
    said.append(f"if it has not finished {_at(at, left.p90)}: nine in ten such scans have")
    return tuple(said)


def hangs(scan: RunningScan, elapsed: float | None) -> bool:
    """Tell whether a scan of metadata has issued nothing, though work is due since its last checkpoint."""
    over = scan.total and (scan.scanned or 0) >= WHOLE * scan.total
    return scan.issued == 0 and not over and elapsed is not None and elapsed > CHECKPOINT


def stuck(elapsed: float | None) -> str:
    """Return what is to be read first of a scan that hangs."""
    gone = format_duration(elapsed or 0.0)
    return f"STUCK: nothing has been issued after {gone}: the times count from when it continues, if it does"


def stood(seconds: float) -> str:
    """Return what is to be read first of a scan whose counters have stood still so long."""
    return (
        f"STUCK: nothing was done in the last {format_duration(seconds)}: the times count from when it"
        " continues, if it does"
    )


def _moment(at: datetime | None, seconds: float) -> str:
    then = later(at, seconds)
    if at is None or then is None:
        return f"{format_duration(seconds)} after this status"
    return then.strftime("%H:%M") if then.date() == at.date() else dated(then, at)


def _at(at: datetime | None, seconds: float) -> str:
    words = _moment(at, seconds)
    return words if later(at, seconds) is None else f"by {words}"


def consequences(
    case: Case, share: float, total: Span | None, left: Span, elapsed: float | None, waiting: int = 0
) -> tuple[str, ...]:
    """Return what a further replacement and a reboot would cost now, in this release.

    Without a `total` what runs repairs less than a drive: how long another takes it does not tell. Where
    drives are `waiting` for a pass of their own already, `then` says when all are done.
    """
    gone = f" ({format_duration(elapsed)} of work)" if elapsed else ""
    replaced = () if waiting else _if_replaced(case, share, total, left, gone)
    return (*replaced, _if_rebooted(case, gone))


def then(waiting: int, total: Span, left: Span, at: datetime | None) -> str:
    """Return what is to be said of drives that await a resilver of their own: when it is over too."""
    after = left.p50 + total.p50
    when = f" about {_moment(at, after)}," if at is not None and later(at, after) is not None else " in about"
    return (
        f"NOT IN THIS ANSWER: {waits_words(waiting)}: {'both' if waiting == 1 else 'all'} are done"
        f"{when} {format_duration(after)}{' after this status' if at is not None else ''}; zsim decide, given"
        " the same files, says whether a restart with all of them is better"
    )


def _if_replaced(case: Case, share: float, total: Span | None, left: Span, gone: str) -> Iterator[str]:
    """Yield what replacing another drive now would do to a resilver or a scrub."""
    if case.operation == "scrub":
        # zpool-replace(8): a scrub in progress is cancelled.
        yield (
            "replacing a drive now ends this scrub: the resilver begins at once, and the scrub has to be"
            " started again after it"
        )
    if case.operation != "resilver":
        return
    name, rule = case.release.name, case.release.second_target
    second, both = ("further", "all") if case.replace > 1 else ("second", "both")
    early = share < case.release.tunables.get("zfs_resilver_defer_percent", 0) / 100
    if rule == "restart" or (rule == "defer-unless-early" and early):
        done = f": {both} would be done in about {format_duration(total.p50)}" if total else ""
        yield f"replacing a {second} drive now restarts the resilver from zero in {name}{gone}{done}"
    else:
        done = f"; {both} are done in about {format_duration(left.p50 + total.p50)}" if total else ""
        yield (
            f"replacing a {second} drive now does not disturb this resilver in {name}: the {second} "
            f"drive waits for its own pass{done}"
        )


def _if_rebooted(case: Case, gone: str) -> str:
    """Return what a reboot now would cost."""
    if case.operation == "rebuild":
        return "a reboot now: the rebuild resumes from its last saved position; about a metaslab is repeated"
    if case.operation == "expand":
        return "a reboot now: the expansion resumes from the last txg; a drive that fails pauses it"
    if case.operation == "remove":
        # vdev_removal.c: the mapping is written every txg, and spa_vdev_attach refuses meanwhile.
        return (
            "a reboot now: the removal resumes from the last txg; no drive can be attached or replaced until"
            " it is over (zpool remove -s ends it, and what was copied is freed)"
        )
    if case.release.order == "sorted":
        # OpenZFS dsl_scan.c:dsl_scan_sync_state: the position is written when the queues are empty.
        work = "reading" if case.operation == "scrub" else "repair"
        return (
            f"a reboot during the {work} can restart it from zero{gone}, because a sorted scan "
            f"saves its position only when everything it has collected has been issued; {RATES_ANEW}"
        )
    return f"a reboot now: the scan resumes from its last txg sync; {RATES_ANEW}"
