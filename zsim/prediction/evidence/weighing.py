"""Weigh the worlds of one prediction: what each shows, on which scale, and the weighted answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant, whole_constant
from zsim.case.case import Case
from zsim.engine.model import PlaneModel
from zsim.prediction.evidence.comparable import Comparison, NotCompared, comparable, event_of
from zsim.prediction.evidence.noise import noise
from zsim.prediction.evidence.posterior import EvidenceSpread, Posterior, posterior
from zsim.prediction.evidence.probes import DriveProbe, HeldProbe, Ran, ScanProbe
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.member import MemberResult
from zsim.prediction.runs.one_tile import run_pool
from zsim.prediction.statistics.response import Response
from zsim.prediction.statistics.sampling import F64

LIFT_SPREAD, LIFT_WEIGHT = constant("evidence.lift_spread"), whole_constant("evidence.lift_weight")
"""Standard deviation of how two scans of one world go together from a small population to a large one, and in
how many worlds' place that is taken."""


class Counterpart(NamedTuple):
    """A member with its write caches the other way.

    Attributes
    ----------
    time_s : float
        On its small population [s].
    shown : tuple of float
        As `Weighing.shown`.
    likely : float
        How likely that is of a pool.
    """

    time_s: float
    shown: tuple[float, ...]
    likely: float


@dataclass(slots=True)
class Weighing:
    """Evidence against worlds.

    Attributes
    ----------
    comparisons : tuple of Comparison
    left : tuple of NotCompared
    shown : list of tuple of float
        Logarithm of what each member shows on its small population, one value a comparison.
    others : list of Counterpart
        What members do whose write caches are the other way, in their order; empty where that is no unknown.
    lifts, errors : ndarray of float, shape (comparisons,)
        What is to be added to that at the size of the pool, and how far it is known.
    event : float
        Scatter of one scan over another, see `zsim.prediction.evidence.posterior.EvidenceSpread`.
    level : float
        What durations on small populations were multiplied by when this was weighed last.
    posterior : Posterior or None
    """

    comparisons: tuple[Comparison, ...]
    left: tuple[NotCompared, ...]
    shown: list[tuple[float, ...]] = field(default_factory=list)
    others: list[Counterpart] = field(default_factory=list)
    lifts: F64 = field(default_factory=lambda: np.zeros(0))
    errors: F64 = field(default_factory=lambda: np.zeros(0))
    event: float = 0.0
    level: float = 1.0
    posterior: Posterior | None = None

    def run(self, world: Case, model: PlaneModel, blocks: int) -> tuple[MemberResult, tuple[float, ...]]:
        """Run a world on a small population, and whatever else it is to show on the same one."""
        pool = miniature(world, blocks=blocks)
        result = run_pool(world, pool, model)
        return result, self.shows(Ran(world, pool, result, blocks))

    def again(self, world: Case, result: MemberResult, blocks: int) -> tuple[float, ...]:
        """Return what a world shows that has been run on a small population: the same is built again."""
        needed = any(isinstance(each.probe, ScanProbe | HeldProbe) for each in self.comparisons)
        pool = miniature(world, blocks=blocks) if needed else None
        return self.shows(Ran(world, pool, result, blocks))

    def shows(self, ran: Ran) -> tuple[float, ...]:
        """Return what a world shows, one logarithm a comparison."""
        return tuple(ran.shows(each.probe) + each.shift for each in self.comparisons)

    def lift(self, large: Sequence[Ran], places: Sequence[int], small: Sequence[float]) -> None:
        """Take from worlds on larger populations how what is shown goes with the size.

        Parameters
        ----------
        large : sequence of Ran
        places : sequence of int
            Which members these are.
        small : sequence of float
            Durations of the members on small populations [s].

        Notes
        -----
        Of n worlds the mean step is shrunk to none as if one more had shown that, ``lifts = mean * n / (n +
        1)``.  Its variance is shrunk to `LIFT_SPREAD` as if `LIFT_WEIGHT` more worlds had shown that (a
        scaled inverse chi-square prior; Gelman et al., Bayesian Data Analysis, 2014, section 2.6).  Of a scan
        the step is the one beyond the step of the operation that is asked for; a drive alone has none.
        """
        steps = []
        for ran, place in zip(large, places, strict=True):
            of_time = math.log(ran.result.time_s / small[place])
            here, there = self.shows(ran), self.shown[place]
            steps.append([
                0.0 if isinstance(each.probe, DriveProbe)
                else high - low - (of_time if isinstance(each.probe, ScanProbe) else 0.0)
                for each, high, low in zip(self.comparisons, here, there, strict=True)
            ])  # fmt: skip
        count, middle = len(steps), np.mean(steps, axis=0)
        around = ((np.array(steps) - middle) ** 2).sum(axis=0)
        variance = (LIFT_WEIGHT * LIFT_SPREAD**2 + around) / (LIFT_WEIGHT + count - 1)
        # A step is as likely to be none: two worlds tell little of it.
        self.lifts = middle * count / (count + 1.0)
        self.errors = np.sqrt(variance / (count + 1.0))

    def respond(self, base: Response, small: Sequence[float], level: float) -> Response:
        """Return quantiles of the duration on small populations in the weighted worlds.

        Parameters
        ----------
        base : Response
            Of all worlds alike.
        small : sequence of float
            Durations of the members on small populations [s].
        level : float
            What these are to be multiplied by.

        Returns
        -------
        Response
            The posterior of `zsim.prediction.evidence.posterior.posterior`, divided by the level [s]; `base`
            where nothing can be compared.
        """
        self.level = level
        if self.shown:
            self._drop_unknown()
        if not self.shown or not self.comparisons:
            return base
        seen = [
            replace(each.seen, sigma=math.hypot(each.seen.sigma, error))
            for each, error in zip(self.comparisons, self._errors(), strict=True)
        ]
        chances = EvidenceSpread(noise("scan.pace"), self.event)
        every = [*small, *(each.time_s for each in self.others)]
        logs = np.log(every) + math.log(level)
        without = math.log(base.p90 / base.p10)
        found = posterior(logs, self.in_pool(), seen, chances, without, self.prior())
        self.posterior = found
        low, middle, high = (math.exp(each) / level for each in (found.p10, found.p50, found.p90))
        return Response(low, middle, high, found.half_width, base.expected)

    def alone(self, ran: Ran, level: float) -> None:
        """Take the only world there is, where nothing is unknown.

        Parameters
        ----------
        ran : Ran
        level : float
            What durations on small populations are multiplied by: taken off here, as `in_pool` puts it on.
        """
        rows = zip(self.comparisons, self.shows(ran), strict=True)
        self.shown = [
            tuple(
                value - (math.log(level) if isinstance(each.probe, ScanProbe) else 0.0)
                for each, value in rows
            )
        ]

    def in_pool(self) -> F64:
        """Return what the members show at the size of the pool.

        Returns
        -------
        ndarray of float, shape (members and counterparts, comparisons)
            Natural logarithms: as shown on small populations, times the level where it is a duration, with
            the lift of each comparison.
        """
        durations = np.array([isinstance(each.probe, ScanProbe) for each in self.comparisons], dtype=float)
        lifts = self.lifts if len(self.lifts) else np.zeros(len(self.comparisons))
        shown = [*self.shown, *(each.shown for each in self.others)]
        every: F64 = np.array(shown) + durations * math.log(self.level) + lifts
        return every

    def prior(self) -> F64:
        """Return how likely the members are, and after them those whose write caches are the other way.

        Returns
        -------
        ndarray of float, shape (members and counterparts,)
            Summing to 1.

        Notes
        -----
        One world in ten has its write cache off, where a resilver may take ten times as long as a scrub:
        which of few members that is decides the late end of the interval, so each is run in both states.
        """
        likely = np.array([each.likely for each in self.others])
        own = np.ones(len(self.shown)) if not len(likely) else 1.0 - likely
        every: F64 = np.concatenate([own, likely]) / len(self.shown)
        return every

    def _errors(self) -> F64:
        return self.errors if len(self.errors) else np.zeros(len(self.comparisons))

    def away(self) -> F64:
        """Return how far each member is from showing what was observed.

        Returns
        -------
        ndarray of float, shape (members,)
            Mean over the comparisons of ``abs(log(shown) - log(observed))``.
        """
        if not self.comparisons:
            return np.zeros(len(self.shown))
        observed = np.array([each.seen.log for each in self.comparisons])
        found: F64 = np.abs(self.in_pool()[: len(self.shown)] - observed).mean(axis=1)
        return found

    def _drop_unknown(self) -> None:
        """Leave out what cannot be simulated in some world."""
        every = [*self.shown, *(each.shown for each in self.others)]
        known = np.isfinite(np.array(every)).all(axis=0)
        why = "it cannot be simulated on this pool"
        self.left += tuple(
            NotCompared(each.kind, each.unit, each.observed, why, each.when)
            for each, kept in zip(self.comparisons, known, strict=True)
            if not kept
        )
        self.comparisons = tuple(c for c, kept in zip(self.comparisons, known, strict=True) if kept)
        self.shown = [_kept(row, known) for row in self.shown]
        self.others = [each._replace(shown=_kept(each.shown, known)) for each in self.others]


def _kept(row: tuple[float, ...], known: NDArray[np.bool_]) -> tuple[float, ...]:
    return tuple(value for value, kept in zip(row, known, strict=True) if kept)


def weighing_of(case: Case) -> Weighing | None:
    """Return the weighing of a scenario; None where it carries no evidence."""
    if not case.scenario.evidence:
        return None
    return Weighing(*comparable(case), event=event_of(case))
