"""Follow a running scan through its statuses, compared with the simulated worlds of its pool."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from zsim.case.case import Case
from zsim.observe.evidence.kernel_log import TELLS
from zsim.observe.pool_import.layout import waits_words
from zsim.planning.eta.contradictions import contradictions
from zsim.planning.eta.lately import lately_of, stands_still, told_once
from zsim.planning.eta.reading import Paste
from zsim.planning.eta.reasons import (
    HANGS,
    LOG_ALONE,
    PASSED_OVER,
    STILL_SLOWER,
    UNEXPLAINED,
    consequences,
    expected_pace,
    hangs,
    is_scanned,
    slow_reasons,
    stood,
    stuck,
    telling_pace,
    then,
    worries,
    zpool_remaining,
    zpool_why,
)
from zsim.planning.eta.records import RecentPace, Span, Weighed
from zsim.prediction.evidence.wording import sick_looking
from zsim.prediction.inputs.ensemble import unknowns
from zsim.prediction.missing import MEMORY, missing
from zsim.prediction.progress.course import Course
from zsim.prediction.progress.healing import is_open, visited_share
from zsim.prediction.progress.moments import PoolFacts, clock_of, facts_of
from zsim.prediction.progress.remaining import Remaining, remaining
from zsim.scenario.evidence import RunningScan
from zsim.scenario.releases.profile import COPIES

WIDEST = 1e-6
NO_TIMES = dict.fromkeys(("elapsed", "at", "since", "scan_rate", "issue_rate"))
"""What tells how long a scan has run."""


@dataclass(frozen=True)
class FollowedScan:
    """A running scan: what was read of it, the case of its pool, and the courses of possible worlds."""

    paste: Paste
    case: Case
    courses: tuple[Course, ...]

    @cached_property
    def facts(self) -> PoolFacts:
        """What the case tells of how statuses count."""
        return facts_of(self.case)

    @property
    def last(self) -> RunningScan:
        """The latest status."""
        return self.paste.scans[-1]

    @cached_property
    def lately(self) -> RecentPace | None:
        """What was done since the status before, where the pace has changed."""
        return None if is_open(self.last) else lately_of(self.paste.scans)

    @property
    def stands(self) -> bool:
        """Whether it does not go on."""
        return stands_still(self.lately)

    @cached_property
    def scans(self) -> tuple[RunningScan, ...]:
        """The statuses that tell when what was done.

        What stands still does not get nearer to its end: what is left counts from when it goes on.  Of one
        that has issued nothing for hours the time that is gone tells nothing of its pace then.
        """
        told = told_once(self.paste.scans, self.stands)
        return tuple(each.model_copy(update=NO_TIMES) for each in told) if self._hangs else told

    @property
    def _hangs(self) -> bool:
        gone, _ = clock_of(self.last)
        return not self.paste.log_alone and self.facts.sorted and hangs(self.last, gone)

    @cached_property
    def found(self) -> Remaining:
        """What is left, by all worlds as the statuses weigh them."""
        return remaining(self.courses, self.scans, self.facts)

    @cached_property
    def left(self) -> Span:
        """Time that is left [s]."""
        return Span(*self.found.left())

    @cached_property
    def total(self) -> Span:
        """Time of the whole [s]."""
        return Span(*self.found.total())

    @cached_property
    def elapsed(self) -> float | None:
        """How long it has run [s]; of a pass whose metadata phase is not counted the median's."""
        gone, clock = clock_of(self.last)
        if clock == "scan" or gone is None:
            return gone
        return max(gone, self.total.p50 - self.left.p50)

    @property
    def done(self) -> float:
        """Share done of the phase it is in."""
        state = self.found.state
        if state is None:
            return 0.0
        return state.visited if state.phase == "metadata scan" else state.issued

    @property
    def done_as_shown(self) -> float:
        """Share done, as the answer shows it."""
        return visited_share(self.last) if is_open(self.last) else self.done

    @property
    def share(self) -> float:
        """Share of the time that has gone."""
        if self.elapsed is not None and self.total.p50 > 0.0:
            return self.elapsed / self.total.p50
        return self.done

    @property
    def phase(self) -> str:
        """What it does."""
        if self.paste.paused:
            return "paused"
        if self.paste.log_alone:
            return "metadata scan"
        if self.case.operation in COPIES:
            return "rebuild" if self.case.operation == "rebuild" else "copying"
        return self.found.state.phase if self.found.state is not None else "unknown"

    @property
    def parts(self) -> dict[str, float]:
        """What is left by phase [s], so that it is the median together."""
        if self.paste.log_alone:
            return {"metadata scan": self.left.p50}
        every = math.fsum(self.found.parts.values())
        return {
            name: seconds * self.left.p50 / every if every > 0.0 else 0.0
            for name, seconds in self.found.parts.items()
        }

    @cached_property
    def pace(self) -> float | None:
        """How many times as long as simulated it takes; None where that tells nothing."""
        tells = self.found.state is not None and self.done > 0.0 and not self._hangs
        if not tells or is_open(self.last) or self.paste.dedup_alone:
            return None
        unweighed = Span(*remaining(self.courses, (), self.facts).total())
        changed = self.total.p50 / max(unweighed.p50, WIDEST)
        return telling_pace(expected_pace(self.found), changed, self.share, self.elapsed)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is slow; a drive that looks sick comes first, and then nothing is unexplained."""
        pace = 1.0 if self.pace is None else self.pace
        found = slow_reasons(self.courses, self.found, self.case, pace, self.scans)
        sick = (*sick_looking(self.case), *(note for note in self.paste.notes if note.startswith(TELLS)))
        return (*sick, *(each for each in found if not sick or each not in (UNEXPLAINED, STILL_SLOWER)))

    @property
    def missing(self) -> tuple[str, ...]:
        """What nobody states; once all is collected the rest needs no more memory than there was."""
        found = missing(self.case, unknowns(self.case))
        return tuple(each for each in found if not (each.startswith(MEMORY) and is_scanned(self.last)))

    @property
    def zpool_why(self) -> str:
        """Why zpool's estimate is off; empty where it is not."""
        said, left = zpool_remaining(self.last), self.left
        if not is_open(self.last) and not self.paste.log_alone:
            return zpool_why(self.last, said, left, self.share, self.case, self.phase)
        if said is not None and left.p10 <= said <= left.p90:
            return ""
        return LOG_ALONE if self.paste.log_alone else PASSED_OVER

    @property
    def worry(self) -> tuple[str, ...]:
        """Until when what looks odd is normal."""
        if self.stands:
            return (HANGS,)
        phase = "" if self.paste.log_alone else self.phase
        at = None if self._hangs else self.paste.at
        return worries(self.found, phase, self.left, at, self.last, self.elapsed)

    @property
    def halted(self) -> str | None:
        """What is to be read first of a scan that does nothing."""
        found = stuck(clock_of(self.last)[0]) if self._hangs else None
        if found is None and self.lately is not None and self.stands:
            return stood(self.lately.seconds)
        return found

    @property
    def is_of_a_part(self) -> bool:
        """Whether less than a drive is repaired: that says nothing of what another one would take."""
        return self.paste.log_alone or self.paste.dedup_alone or self.last.kind == "heal"

    @property
    def waiting(self) -> int:
        """Drives that await a pass of their own, where the notes say so."""
        words = waits_words(self.paste.waiting)
        told = any(each.startswith(words) for each in self.paste.notes)
        return self.paste.waiting if told and not self.is_of_a_part else 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known before all else, and what was noted of what was read."""
        first = [self.halted, *self.contradictions]
        untold = [TELLS]
        if self.waiting:
            first.append(then(self.waiting, self.total, self.left, self.paste.at))
            untold.append(waits_words(self.waiting))
        told = (each for each in self.paste.notes if not each.startswith(tuple(untold)))
        return tuple(each for each in (*first, *told) if each)

    @property
    def contradictions(self) -> tuple[str, ...]:
        """What was seen and cannot be on such drives; nothing of what repairs less than a drive."""
        if self.is_of_a_part:
            return ()
        return contradictions(self.case, self.courses, self.found.state, self.last)

    @property
    def consequences(self) -> tuple[str, ...]:
        """What a further replacement and a reboot would cost now."""
        total = None if self.is_of_a_part else self.total
        return consequences(self.case, self.share, total, self.left, self.elapsed, self.waiting)

    @property
    def weighed(self) -> tuple[Weighed, ...]:
        """What each status says, and by how much it narrows the answer of those before it."""
        return weighed(self.courses, self.scans, self.facts)


def weighed(courses: Sequence[Course], scans: Sequence[RunningScan], facts: PoolFacts) -> tuple[Weighed, ...]:
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
