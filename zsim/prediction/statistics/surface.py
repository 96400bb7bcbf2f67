"""The duration as a function of the unknowns of one scenario: a regression over a few runs, with a prior."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant, whole_constant
from zsim.case.case import Case
from zsim.prediction.inputs.ensemble import Unknown
from zsim.prediction.inputs.points import kind_of_scenario, points
from zsim.prediction.statistics.drawn_worlds import DRAW_SEED, draws
from zsim.prediction.statistics.sampling import median, quantiles, student
from zsim.prediction.statistics.slopes import (
    SMALL,
    Runs,
    as_weighed,
    design,
    prior,
    with_open_level,
)
from zsim.vdevs.kind import kind_of

F64 = NDArray[np.float64]
BEYOND = {
    "sorted": constant("response.beyond_sorted"),
    "uncached": constant("response.beyond_uncached"),
    "small_records": constant("response.beyond_small_records"),
    "groups": constant("response.beyond_groups"),
    "shingled": constant("response.beyond_shingled"),
    "legacy": constant("response.beyond_legacy"),
    "legacy_history": constant("response.beyond_legacy_history"),
    "legacy_shingled": constant("response.beyond_legacy_shingled"),
}
"""How much larger errors of the median are than the regression states: it knows of no bends."""
WIDE, SMALL_RECORD = whole_constant("response.wide"), whole_constant("response.small_record")
"""Children from which on a vdev is wide, and bytes up to which a usual record is small."""
REFERENCE = whole_constant("response.reference_blocks")
"""Blocks of the populations that answers are of, where pools are no smaller."""
NEAR, COST = constant("response.near"), whole_constant("response.cost")
SHARES = (0.1, 0.5, 0.9)


@dataclass(frozen=True, slots=True)
class WorldRuns:
    """Runs of possible worlds.

    Attributes
    ----------
    scores : ndarray of float, shape (runs, unknowns)
        Standard normal scores.
    blocks : ndarray of float, shape (runs,)
        Of their populations.
    times : ndarray of float, shape (runs,)
        [s]
    clients : ndarray of float, shape (runs,), or float
        Squared scale by which it moves the logarithm of each when and where clients asked.
    """

    scores: F64
    blocks: F64
    times: F64
    clients: F64 | float = 0.0


class RanWorld(NamedTuple):
    """A run of a possible world.

    Attributes
    ----------
    scores : tuple of float
        Standard normal scores.
    blocks : int
        Of its population.
    time_s : float
        Its duration [s].
    clients : float
        See `WorldRuns`.
    """

    scores: tuple[float, ...]
    blocks: int
    time_s: float
    clients: float = 0.0


def runs_of(ran: Sequence[RanWorld]) -> WorldRuns:
    """Return runs as arrays."""
    scores, blocks, times, clients = zip(*ran, strict=True)
    return WorldRuns(np.array(scores), np.array(blocks, dtype=np.float64), np.array(times), np.array(clients))


@dataclass(frozen=True, slots=True)
class SurfaceEstimate:
    """What runs tell of all worlds.

    Attributes
    ----------
    quantiles : tuple of float
        10th, 50th and 90th percentile of the duration in the pool [s].
    small_s : float
        The median on populations of `SMALL` blocks [s].
    half_width : float
        Half the 95 % interval of the median, as a share of it.
    expected, own : ndarray of float, shape (runs,)
        Duration of each world in the pool: as the regression has it, and with what it showed beyond [s].
    drawn : ndarray of float, shape (worlds,)
        Of the worlds of `draws`, of which the quantiles are: their durations in the pool [s].
    """

    quantiles: tuple[float, float, float]
    small_s: float
    half_width: float
    expected: F64
    own: F64
    drawn: F64


class NextWorld(NamedTuple):
    """A world that is to be run: its scores, and the blocks of its population."""

    scores: tuple[float, ...]
    blocks: int


def _error_class(case: Case, kind: Mapping[str, float]) -> str:
    """Return among which scenarios the errors of one of a kind were measured."""
    if kind["legacy"] > 0.0:
        by_use = "legacy" if case.assumed("history") else "legacy_history"
        return "legacy_shingled" if kind["shingled"] > 0.0 else by_use
    if kind["shingled"] > 0.0:
        return "shingled"
    if not case.write_cache and not case.assumed("write_cache") and kind["flash"] == 0.0:
        return "uncached"
    has_small_records = case.usual_record <= SMALL_RECORD
    if kind["groups"] > 0.0:
        return "groups" if has_small_records or case.load else "sorted"
    is_wide = case.layout.data[0].children >= WIDE and kind["replicated"] == 0.0
    return "small_records" if has_small_records and is_wide else "sorted"


class ResponseSurface:
    """The duration as it depends on the unknowns of one scenario.

    Notes
    -----
    Hierarchical linear regression (Gelman et al., Bayesian Data Analysis, 2014, section 15.1): slopes of a
    scenario are normal about the mean of its kind, with the covariance that scenarios showed; the level is
    open.  As conditioning of a Gaussian process (Rasmussen and Williams, 2006, equations 2.22 to 2.24, and
    9.1 of Shah et al., AISTATS 2014, for the scale): few runs, many slopes.

    Parameters
    ----------
    case : Case
    inputs : sequence of Unknown
    blocks : int
        Of the populations whose durations are asked for.

    Attributes
    ----------
    errors_as, beyond : str, float
        Among which scenarios errors of this one were measured, and what its own are taken times for them.
    """

    def __init__(self, case: Case, inputs: Sequence[Unknown], blocks: int = REFERENCE) -> None:
        kind = kind_of_scenario(case)
        self.case, self.inputs, self.prior, self.blocks = case, inputs, prior(kind), float(blocks)
        self.errors_as = _error_class(case, kind)
        self.beyond = BEYOND[self.errors_as]
        if not inputs:
            # What the one world has of its own is in the level of the scenario.
            self.prior = replace(self.prior, lack=0.0)
        self.slopes: F64 = self.prior.slopes
        at = points(case, inputs, draws(len(inputs)))
        count = len(at["use"])
        self.data, self.use = at["data"], at["use"]
        self.whole = design(at, np.full(count, self.blocks))
        self.small = design(at, np.full(count, float(SMALL)))
        self._about = np.full((len(SHARES), count), 1.0 / count)
        self._weights = np.ones(0)

    def estimate(self, ran: WorldRuns) -> SurfaceEstimate:
        """Return what runs tell of all worlds.

        Parameters
        ----------
        ran : WorldRuns
            At least one run.

        Returns
        -------
        SurfaceEstimate

        Notes
        -----
        With design X of the runs, covariance K (`SlopePrior.of_runs`) and logarithms y beyond the mean
        slopes, worlds of design W are expected at ``level + k(W, X) @ P @ y`` about their own mean slopes, P
        the inverse of K without the level (`OpenLevel`; Rasmussen and Williams, 2006, equation 2.42).  Worlds
        unlike the rest count little (`SlopePrior.weights`).  What the runs scatter, over what the prior says,
        scales all variances: ``(weight + y @ P @ y) / (weight + n - 1)``.  Quantiles are those of the worlds
        drawn, each with a stratum of what is its own.
        """
        at = points(self.case, self.inputs, ran.scores)
        runs = Runs(_worlds(ran.scores), at["use"], ran.blocks, ran.clients + self._of_memory(at))
        answered = runs._replace(blocks=np.full(len(ran.blocks), self.blocks))
        seen, here = design(at, runs.blocks), design(at, answered.blocks)
        away = np.log(ran.times) - at["data"] - seen @ self.slopes
        known = self.prior.conditioned_on(seen, runs, away)
        self._weights = known.weights

        def expected(rows: F64, data: F64) -> F64:
            found: F64 = rows @ self.slopes + data + self.prior.expected(rows, known)
            return found

        whole = expected(self.whole, self.data)
        left = np.sqrt(known.scale * self.prior.own(self.use, np.full(len(whole), self.blocks)))
        drawn = whole + left * _shuffled(len(whole))
        low, middle, high = quantiles(drawn, SHARES).tolist()
        self._about = np.stack([_near(whole, share) for share in SHARES])
        about_median = (self._about[1] @ self.whole)[None, :]
        error = math.sqrt(known.scale * max(0.0, float(self.prior.left(about_median, known)[0, 0])))
        small = median(expected(self.small, self.data))
        there = expected(here, at["data"])
        own = as_weighed(self.prior.of_worlds(answered, runs), known.weights, known.weights) @ known.solved
        return SurfaceEstimate(
            (math.exp(low), math.exp(middle), math.exp(high)),
            math.exp(small),
            self.beyond * student(round(known.freedom)) * error,
            np.exp(there),
            np.exp(there + own),
            np.exp(drawn),
        )

    def _of_memory(self, at: Mapping[str, F64]) -> F64:
        """Return the squared scale of what runs have beyond the slopes whose scan is short of memory."""
        return np.where(at["scarce"] > 0.0, self.prior.of_memory[at["use"]], 0.0)

    def work(self, scores: F64, commands: F64) -> F64:
        """Return how much work a block of each world's population is, as a multiple of the usual world's.

        Worlds of small records have larger populations than others of nominally as many blocks.  Those of
        dRAIDs are as large as what is in flight asks for, whatever is nominal: all count alike.

        Parameters
        ----------
        scores : ndarray of float, shape (worlds, unknowns)
            Standard normal scores, of the worlds that were run first.
        commands : ndarray of float, shape (runs,)
            How much work these were, all on equally many blocks [child I/Os].

        Returns
        -------
        ndarray of float, shape (worlds,)
            The mean of the runs of the same use over the median of all; a use that was not run counts as the
            heaviest that was.
        """
        if not len(commands) or kind_of(self.case.layout.data[0].kind).has_groups:
            return np.ones(len(scores))
        uses = points(self.case, self.inputs, scores)["use"]
        ran = uses[: len(commands)]
        of_use = {use: float(commands[ran == use].mean()) for use in np.unique(ran)}
        heaviest = max(of_use.values())
        return np.array([of_use.get(use, heaviest) for use in uses]) / median(commands)

    def first_telling(self, scores: F64, blocks: int, count: int) -> list[int]:
        """Return which worlds tell most of the median where none has been run yet.

        Parameters
        ----------
        scores : ndarray of float, shape (worlds, unknowns)
        blocks : int
            Of each population.
        count : int
            Of worlds.

        Returns
        -------
        list of int
            Their places, each the one that leaves the least variance of the median beside those before it
            (Krause, Singh, Guestrin, JMLR 9, 2008).
        """
        at, ran = points(self.case, self.inputs, scores), np.full(len(scores), float(blocks))
        about = _near(self.whole @ self.slopes + self.data, SHARES[1])
        rows = np.concatenate([design(at, ran), (about @ self.whole)[None, :]])
        every = Runs(np.arange(len(scores)), at["use"], ran, self._of_memory(at))
        between = self.prior.between(rows, rows)
        between[:-1, :-1] += self.prior.of_own(every, np.ones(len(scores)))
        found: list[int] = []
        for _ in range(min(count, len(scores))):
            left = {}
            for place in set(range(len(scores))) - set(found):
                seen = [*found, place]
                known = with_open_level(between[np.ix_(seen, seen)])
                left[place] = float(known.left(between[-1:, -1:], between[-1:, seen])[0, 0])
            found.append(min(left, key=lambda place: (left[place], place)))
        return found

    def most_telling(
        self,
        ran: WorldRuns,
        candidates: F64,
        sizes: Sequence[int],
        budget: int,
        work: F64,
    ) -> list[NextWorld]:
        """Return which worlds tell most of the quantiles for what they cost, and on how large populations.

        Parameters
        ----------
        ran : WorldRuns
            What is known: the runs that `told` was last asked of.
        candidates : ndarray of float, shape (candidates, unknowns)
            Scores of worlds that may be run.
        sizes : sequence of int
            Blocks of a population.
        budget : int
            What may be spent [blocks]; a run costs its own, and as much again as some thousands.
        work : ndarray of float, shape (candidates,)
            How much work a block of each is, see `work`.

        Notes
        -----
        One after the other, each the one that takes most variance of the three quantiles together for its
        cost, given those before it (Krause, Singh, Guestrin, JMLR 9, 2008): what it turns out to take does
        not matter for that.
        """
        scores = np.concatenate([ran.scores, np.repeat(candidates, len(sizes), axis=0)])
        blocks = np.concatenate([ran.blocks, np.tile(np.array(sizes, dtype=np.float64), len(candidates))])
        at, count = points(self.case, self.inputs, scores), len(ran.blocks)
        every = Runs(_worlds(scores), at["use"], blocks)
        rows = np.concatenate([design(at, blocks), self._about @ self.whole])
        of_world = np.ones(int(every.world.max()) + 1)
        of_world[every.world[:count]] = self._weights
        weights = of_world[every.world]
        whole = self.prior.between(rows, rows)
        whole[: len(blocks), : len(blocks)] += as_weighed(
            self.prior.of_worlds(every, every), weights, weights
        )
        clients = _of_clients(ran, at["load"], blocks) + self._of_memory(at)
        chance = (self.prior.of_chance(at["use"], blocks) + clients) / weights
        known = with_open_level(whole[:count, :count] + np.diag(chance[:count]))
        left = known.left(whole[count:, count:], whole[count:, :count])
        blocks, chance = blocks[count:], chance[count:]
        costs = blocks * np.repeat(work, len(sizes)) + COST
        found: list[NextWorld] = []
        wanted = len(blocks)
        spent = 0.0
        while spent + costs.min() <= budget:
            open_ = np.maximum(np.diag(left)[wanted:], 1e-12)
            gains = (left[wanted:, :wanted] ** 2 / open_[:, None]).sum(axis=0)
            gains /= (np.diag(left)[:wanted] + chance) * costs
            gains[spent + costs > budget] = -1.0
            place = int(np.argmax(gains))
            found.append(NextWorld(tuple(candidates[place // len(sizes)].tolist()), int(blocks[place])))
            column = left[:, place]
            left = left - np.outer(column, column) / (left[place, place] + chance[place])
            spent += float(costs[place])
        return found


def _of_clients(ran: WorldRuns, load: F64, blocks: F64) -> F64:
    """Return the squared scale by which clients move runs: known ones, then those that may be run."""
    known = np.broadcast_to(ran.clients, len(ran.blocks))
    beside = known > 0.0
    found = np.zeros(len(blocks))
    if beside.any():
        found = np.where(load > 0.0, np.median((known * ran.blocks)[beside]) / blocks, 0.0)
    found[: len(known)] = known
    return found


def _worlds(scores: F64) -> NDArray[np.int64]:
    """Return a number for each run, the same for runs of the same world."""
    if not scores.shape[1]:
        return np.zeros(len(scores), dtype=np.int64)
    # Any projection tells different scores apart; a sum along rows has the same bits for the same scores.
    along = (scores * np.sqrt(np.arange(2.0, scores.shape[1] + 2.0))).sum(axis=1)
    _, found = np.unique(along, return_inverse=True)
    return found


def _near(values: F64, quantile: float) -> F64:
    """Return equal weights of the worlds about a quantile: how it moves with what its worlds do.

    Notes
    -----
    A quantile moves by the mean of what moves the worlds there (Hong, Operations Research 57, 2009).
    """
    weights = np.zeros(len(values))
    low = min(round((quantile - NEAR) * len(values)), len(values) - 1)
    high = max(round((quantile + NEAR) * len(values)), low + 1)
    weights[np.argsort(values, kind="stable")[low:high]] = 1.0
    shared: F64 = weights / weights.sum()
    return shared


@functools.lru_cache(maxsize=32)
def _shuffled(count: int) -> F64:
    """Return the middles of equal parts of a t of four degrees of freedom shuffled, the same every time."""
    found = np.random.Generator(np.random.Philox(key=DRAW_SEED + 1)).permutation(t_strata(count))
    found.flags.writeable = False
    return found


def t_strata(count: int) -> F64:
    """Return the middles of equal parts of a t of four degrees of freedom.

    Parameters
    ----------
    count : int

    Returns
    -------
    ndarray of float, shape (count,)
        Rising.

    Notes
    -----
    Shaw, Sampling Student's t distribution, Journal of Computational Finance 9 (2006): with
    ``a = 4 p (1 - p)`` the quantile of p is ``+-2 sqrt(cos(arccos(sqrt(a)) / 3) / sqrt(a) - 1)``.
    """
    share = (np.arange(count) + 0.5) / count
    root = np.sqrt(4.0 * share * (1.0 - share))
    found: F64 = (
        np.sign(share - 0.5) * 2.0 * np.sqrt(np.maximum(0.0, np.cos(np.arccos(root) / 3.0) / root - 1.0))
    )
    return found
