"""Quantiles and errors from the runs that a prediction has so far, and what they depend on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import Z90
from zsim.case.case import Case
from zsim.case.member import Member
from zsim.prediction.answer.records import Driver
from zsim.prediction.inputs.bad_sectors import LostTime, ReadErrors, recovery
from zsim.prediction.inputs.ensemble import Unknown, draw_members, place_of, unknowns
from zsim.prediction.inputs.points import values_of
from zsim.prediction.runs.member import MemberResult
from zsim.prediction.runs.what_if import Baseline
from zsim.prediction.statistics.drawn_worlds import draws
from zsim.prediction.statistics.level import DurationLevel, with_sampling
from zsim.prediction.statistics.response import Response
from zsim.prediction.statistics.surface import RanWorld

if TYPE_CHECKING:
    from zsim.prediction.evidence.weighing import Weighing

F64 = NDArray[np.float64]


class EnsembleResult:
    """What the worlds of one case have shown so far; the runs (`zsim.prediction.work`) fill it.

    Parameters
    ----------
    case : Case

    Attributes
    ----------
    inputs : tuple of Unknown
        What was not stated, and how it is drawn.
    members : tuple of Member
        Draws of these, one a possible world; none where the inputs count as exact.
    small : list of float
        Durations of the members on small populations [s].
    anchors : list of float
        The same, chance in them averaged out (`zsim.prediction.statistics.level.anchors`) [s].
    response : Response
        Quantiles of these; all 1 where there are no members.
    level : DurationLevel
        What these are to be multiplied by.
    larger : list of RanWorld
        Runs of possible worlds on larger populations, where other scenarios taught the dependence.
    drawn : ndarray of float or None
        Durations of the worlds of `zsim.prediction.statistics.surface.draws`; None where no other scenarios
        taught them [s].
    exact : MemberResult or None
        The run of every I/O, where one was asked for.
    without_faulted : float
        The duration without the drives that are faulted for their errors, over that with them.
    read_errors : dict of int to ReadErrors
        What a read of a bad sector does to the scan, by leaf, as it was simulated.
    lost_exactly : tuple of LostTime or None
        What bad sectors cost in the run of every I/O; None where there was none.
    evidence : Weighing or None
        Everything that the pool has shown; None without evidence.
    weighing : Weighing or None
        The same against what each member shows; None where nothing of it can be compared.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.inputs: tuple[Unknown, ...] = unknowns(case)
        self.members: tuple[Member, ...] = () if case.exact else draw_members(self.inputs, case.seed)
        self.small: list[float] = []
        self.anchors: list[float] = []
        self.response = Response(1.0, 1.0, 1.0, 0.0, np.ones(0))
        self.level = DurationLevel()
        self.larger: list[RanWorld] = []
        self.drawn: F64 | None = None
        self.exact: MemberResult | None = None
        self.without_faulted = 1.0
        self.read_errors: dict[int, ReadErrors] = {}
        self.lost_exactly: tuple[LostTime, ...] | None = None
        self.evidence: Weighing | None = None
        self.weighing: Weighing | None = None
        self._take(case)
        self._baselines: list[Baseline] = []

    def _take(self, case: Case) -> None:
        """Take the evidence of a scenario; what says nothing of the operation changes nothing."""
        self.evidence = None
        if case.scenario.evidence and not case.exact:
            from zsim.prediction.evidence.weighing import weighing_of

            self.evidence = weighing_of(case)
        used = self.evidence is not None and bool(self.evidence.comparisons)
        self.weighing = self.evidence if used else None

    @property
    def times(self) -> list[float]:
        """Durations of the members at the size of the real pool [s]."""
        return [time * self.level.factor for time in self.anchors]

    @property
    def worlds(self) -> int:
        """How many possible worlds were run."""
        return max(1, len(self.times) + max(0, len(self.larger) - len(self._baselines)))

    @property
    def times_given(self) -> list[float]:
        """The same, had each member shown what the pool has [s]; as they are where none explains it."""
        found = None if self.weighing is None else self.weighing.posterior
        return self.times if found is None else found.moved(self.times)

    @property
    def effective(self) -> float | None:
        """How many equally weighted members tell as much after the evidence; None without any.

        1 over the sum of the squares of their weights (Kish, Survey Sampling, 1965); a member whose write
        caches are either way is one.
        """
        found = None if self.weighing is None else self.weighing.posterior
        if found is None:
            return None
        # A member whose write caches are either way is one world.
        count = max(1, len(self.small))
        weights = found.weights.weights.reshape(-1, count).sum(axis=0)
        return float(1.0 / (weights**2).sum())

    def drivers(self) -> tuple[Driver, ...]:
        """Return the unknowns by how far each moves the answer, of all worlds that are told or of members."""
        from zsim.prediction.statistics import sensitivity

        if self.drawn is not None and self.inputs:
            scores = draws(len(self.inputs))
            records = self._record_sizes(self._uses(scores))
            found = sensitivity.drivers_of_draws(
                self.inputs, scores, self.drawn, records, self._spread_shown()
            )
        elif len(self.times) > len(self.inputs):
            members = self.members[: len(self.times)]
            records = self._record_sizes([member.history for member in members])
            found = sensitivity.drivers(self.inputs, members, self.times_given, records, self._spread_shown())
        else:
            return ()
        return tuple(map(self._with_waits, found))

    def _spread_shown(self) -> float:
        """Return the standard deviation of the logarithm of the answer given evidence; 0 without any."""
        if self.weighing is None or self.weighing.posterior is None:
            return 0.0
        low, _, high = self.sound_quantiles
        return math.log(high / low) / (2.0 * Z90) if 0.0 < low < high else 0.0

    def _with_waits(self, driver: Driver) -> Driver:
        """Return a driver with the waits for bad sectors in its durations."""
        low, high = self.with_errors(driver.low_s), self.with_errors(driver.high_s)
        return driver.model_copy(update={"low_s": low, "high_s": high})

    def _uses(self, scores: F64) -> list[object]:
        """Return the use of each world; None where it is stated."""
        place = place_of(self.inputs, "history")
        return [None] * len(scores) if place is None else values_of(self.inputs[place], scores[:, place])

    def _record_sizes(self, histories: Sequence[object]) -> list[float] | None:
        """Return the mean record size of each use; None where none is drawn [log2(bytes)]."""
        if not self.case.assumed("recordsize") or None in histories:
            return None
        uses = self.case.candidates.histories
        sizes = {name: uses[str(name)].mean_record() for name in dict.fromkeys(histories)}
        return [sizes[name] for name in histories]

    @property
    def has_interval(self) -> bool:
        """Whether the quantiles are more than one value."""
        return bool(self.times) or self.effective is not None

    @property
    def quantiles(self) -> tuple[float, float, float]:
        """The 10th, 50th and 90th percentile of the duration [s]."""
        if self.exact is not None:
            return (self.exact.time_s,) * 3
        low, middle, high = map(self.with_errors, self.sound_quantiles)
        return low, middle, high

    def lost(self, sound_s: float) -> tuple[LostTime, ...]:
        """Return what bad sectors cost, by drive, where the duration is so long without them [s]."""
        if self.lost_exactly is not None:
            return self.lost_exactly
        return recovery(self.case, sound_s, self.read_errors)

    def with_errors(self, sound_s: float) -> float:
        """Return a duration with the waits for bad sectors; a faulted drive holds nothing up after.

        Parameters
        ----------
        sound_s : float
            Were every sector read at once [s].

        Returns
        -------
        float
            ``sound_s + waits`` [s]; what is left when the last faulted drive is faulted goes at the pace
            without those drives.
        """
        lost = self.lost(sound_s)
        waited = math.fsum(each.seconds for each in lost)
        faulted = [each.faulted_s for each in lost if each.faulted_s is not None]
        if not faulted:
            return sound_s + waited
        done = min(1.0, max(0.0, max(faulted) - waited) / sound_s)
        return sound_s * (done + (1.0 - done) * self.without_faulted) + waited

    @property
    def sound_quantiles(self) -> tuple[float, float, float]:
        """The quantiles, were every sector read at once [s].

        Those of the response times the level; the error of the median widens the outer two (`with_sampling`).
        """
        if self.exact is not None:
            waited = math.fsum(each.seconds for each in self.lost_exactly or ())
            return (max(0.0, self.exact.time_s - waited),) * 3
        known, factor = self.response, self.level.factor
        low, middle, high = (
            with_sampling(each / known.p50, self.half_width) for each in (known.p10, known.p50, known.p90)
        )
        return low * known.p50 * factor, middle * known.p50 * factor, high * known.p50 * factor

    @property
    def half_width(self) -> float:
        """Half the 95 % interval of the median that finite samples leave, as a share of it.

        Of the number of worlds and of the level, which are independent: the root of the sum of the squares.
        """
        if self.exact is not None:
            return 0.0
        return math.hypot(self.response.half_width, self.level.half_width)
