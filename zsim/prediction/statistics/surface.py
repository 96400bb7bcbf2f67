"""What worlds of many scenarios taught of how a duration depends on the unknowns: the prior of a few runs.

Sixteen runs say little of a dozen unknowns.  Thousands of runs of other scenarios say how such a dependence
usually looks: ``models/response/worlds.json``, made by ``validation/fit_response.py``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from zsim.base import model_data
from zsim.base.constants import constant, whole_constant
from zsim.base.reading import read_json
from zsim.case.case import Case
from zsim.case.worlds import USES
from zsim.prediction.inputs.clients import has_hours
from zsim.prediction.inputs.ensemble import Unknown, normal_strata
from zsim.prediction.inputs.points import kind_of_scenario, points
from zsim.prediction.statistics.sampling import student

F64 = NDArray[np.float64]
SMALL, TILE = whole_constant("work.member_blocks"), whole_constant("exact.tile_blocks")
BY_USE = (
    "1", "churn", "file_size", "cache_off", "fill", "size", "load", "slower_class", "outer_rate", "seek",
    "overhead", "new_rate", "short", "bend", "churn*short", "churn*churn",
)  # fmt: skip
"""What each use of a pool has a slope of its own in."""
OVERALL = (
    "inner_ratio", "host", "large_sectors", "shingling", "shingling*shingling", "churn*file_size",
    "file_size*file_size", "cache_off*churn", "cache_off*file_size", "fill*fill", "fill*churn",
    "fill*file_size", "size*size", "load*load", "size*load", "cache_off*short", "file_size*short",
    "cache_off*fill", "load*cache_off", "load*churn", "cache_off*large_sectors", "size*short", "fill*short",
    "fill*size", "churn*churn*churn",
)  # fmt: skip
"""What all have one slope in."""
CLASSES = ("sorted", "legacy")
"""Orders of issue: how scenarios differ, and worlds scatter, is another matter for each."""
CURVE, BENDS = constant("response.curve"), (constant("response.bend_flat"), constant("response.bend_steep"))
"""Powers of the size with which what is too long on a small population falls."""
BEYOND = constant("response.beyond")
"""How much larger errors of the median are than the regression states: it knows of no bends."""
OPEN = constant("response.open")
DRAWN, DRAW_SEED = whole_constant("response.drawn"), 17
NEAR, COST = constant("response.near"), whole_constant("response.cost")
SHARES = (0.1, 0.5, 0.9)
LEARNED = ("resilver", "scrub", "rebuild")
"""Operations of the scenarios that the prior was learned from."""


def design(at: Mapping[str, F64], blocks: F64) -> F64:
    """Return what the logarithm of the duration, over what is allocated, is linear in.

    Parameters
    ----------
    at : mapping
        See `zsim.prediction.inputs.points.points`.
    blocks : ndarray of float, shape (worlds,)
        Of the populations that they are run on.

    Returns
    -------
    ndarray of float, shape (worlds, slopes)
    """
    known = {**at, "1": np.ones(len(blocks)), "short": smallness(blocks)}
    known["bend"] = smallness(blocks, BENDS[0]) - smallness(blocks, BENDS[1])
    use = (at["use"][:, None] == np.arange(len(USES))).astype(np.float64)
    columns = [use * _product(known, name)[:, None] for name in BY_USE]
    columns.append(np.stack([_product(known, name) for name in OVERALL], axis=1))
    return np.concatenate(columns, axis=1)


def smallness(blocks: F64, power: float = CURVE) -> F64:
    """Return how small populations are: 1 of those of `SMALL` blocks, 0 of whole tiles.

    Parameters
    ----------
    blocks : ndarray of float, shape (runs,)
        Of the populations.
    power : float
        With which what is too long on a small population falls as it grows.

    Returns
    -------
    ndarray of float, shape (runs,)
        ``((SMALL / blocks)**power - (SMALL / TILE)**power) / (1 - (SMALL / TILE)**power)``; beyond a tile it
        is negative.
    """
    least = (SMALL / TILE) ** power
    found: F64 = ((SMALL / blocks) ** power - least) / (1.0 - least)
    return found


def _product(known: Mapping[str, F64], name: str) -> F64:
    """Return the product of columns, such as ``churn*short``."""
    return functools.reduce(np.multiply, (known[each] for each in name.split("*")))


@dataclass(frozen=True, slots=True)
class SlopePrior:
    """What scenarios of one kind have in common, and how they differ.

    Attributes
    ----------
    slopes : ndarray of float, shape (slopes,)
        Of a scenario of the kind in the mean.
    covariance : ndarray of float, shape (slopes, slopes)
        How those of one scenario lie about it.
    lack, drift : float
        Variance of what a world has of its own beyond the slopes: at any size, and of `SMALL` blocks beside.
    chance, of_size : float
        Variance of what one run has of its own: of any, and of one of `SMALL` blocks beside.
    of_use : ndarray of float, shape (uses,)
        What these four are to be multiplied by.
    weight : float
        In how many runs' place they are taken as known.
    """

    slopes: F64
    covariance: F64
    lack: float
    drift: float
    chance: float
    of_size: float
    of_use: F64
    weight: float

    def variance(self, use: F64, blocks: F64) -> F64:
        """Return the variance of single runs beyond the slopes.

        Parameters
        ----------
        use : ndarray of int64, shape (runs,)
            Place of the use of each world in `of_use`.
        blocks : ndarray of float, shape (runs,)
            Of the populations.

        Returns
        -------
        ndarray of float, shape (runs,)
            Of the logarithm: ``of_use * (lack + drift * smallness**2)`` and `of_chance` beside.
        """
        drift = self.drift * smallness(blocks) ** 2
        found: F64 = self.of_use[use] * (self.lack + drift) + self.of_chance(use, blocks)
        return found

    def of_chance(self, use: F64, blocks: F64) -> F64:
        """Return the part of `variance` that another run of the same world does not share.

        Parameters
        ----------
        use : ndarray of int64, shape (runs,)
            Place of the use of each world in `of_use`.
        blocks : ndarray of float, shape (runs,)
            Of the populations.

        Returns
        -------
        ndarray of float, shape (runs,)
            Of the logarithm: ``of_use * (chance + of_size * SMALL / blocks)``, as means over independent
            blocks scatter.
        """
        found: F64 = self.of_use[use] * (self.chance + self.of_size * SMALL / blocks)
        return found

    def of_worlds(self, left: Runs, right: Runs) -> F64:
        """Return the covariance between runs of one world beyond the slopes; 0 of different worlds.

        Parameters
        ----------
        left, right : Runs

        Returns
        -------
        ndarray of float, shape (runs of left, runs of right)
            Of the logarithm: ``sqrt(of_use * of_use') * (lack + drift * smallness * smallness')``.
        """
        same = left.world[:, None] == right.world[None, :]
        shares = np.sqrt(np.outer(self.of_use[left.use], self.of_use[right.use]))
        drift = np.outer(smallness(left.blocks), smallness(right.blocks))
        found: F64 = same * shares * (self.lack + self.drift * drift)
        return found

    def between(self, left: F64, right: F64) -> F64:
        """Return the covariance of what two designs show, over scenarios of a kind.

        Parameters
        ----------
        left, right : ndarray of float, shape (rows, slopes)
            See `design`.

        Returns
        -------
        ndarray of float, shape (rows of left, rows of right)
            ``left @ covariance @ right.T + OPEN``: the large constant leaves the level of a scenario open.

        Notes
        -----
        The kernel of a linear model whose weights are normal (Rasmussen and Williams, Gaussian Processes for
        Machine Learning, 2006, section 2.1.2).
        """
        found: F64 = left @ (self.covariance @ right.T) + OPEN
        return found

    def across(self, left: F64, right: F64, weights: F64) -> F64:
        """Return ``between(left, right) @ weights``, without the matrix of all pairs.

        Parameters
        ----------
        left, right : ndarray of float, shape (rows, slopes)
            See `design`.
        weights : ndarray of float, shape (rows of right,)

        Returns
        -------
        ndarray of float, shape (rows of left,)
        """
        found: F64 = left @ (self.covariance @ (weights @ right)) + OPEN * weights.sum()
        return found

    def of_runs(self, rows: F64, ran: Runs) -> F64:
        """Return the covariance of what runs show: slopes, what is a world's own, and chance.

        Parameters
        ----------
        rows : ndarray of float, shape (runs, slopes)
            Their `design`.
        ran : Runs

        Returns
        -------
        ndarray of float, shape (runs, runs)
            Of the logarithms of the durations.
        """
        found: F64 = self.between(rows, rows) + self.of_worlds(ran, ran)
        return found + np.diag(self.of_chance(ran.use, ran.blocks))


class Runs(NamedTuple):
    """Of runs their worlds (equal numbers are the same), the places of their uses, their blocks."""

    world: NDArray[np.int64]
    use: F64
    blocks: F64


class _Stored(TypedDict):
    """The prior as its file has it."""

    kinds: list[str]
    mean: list[list[float]]
    leverage: list[list[float]]
    alike: dict[str, list[float]]
    own: dict[str, list[float]]
    overall: dict[str, list[float]]
    of_use: dict[str, list[float]]
    lack: float
    drift: float
    chance: float
    of_size: float
    weight: float


@functools.cache
def _stored() -> _Stored:
    path = model_data.models_directory() / "response" / "worlds.json"
    return cast("_Stored", read_json(path))


def prior(kind: Mapping[str, float]) -> SlopePrior:
    """Return the prior of ``models/response/worlds.json`` for a scenario of a kind.

    Parameters
    ----------
    kind : mapping
        See `zsim.prediction.inputs.points.kind_of_scenario`.

    Returns
    -------
    SlopePrior
        Slopes ``mean @ kind``, and the covariance of the slopes of its `class_of` times
        ``1 + kind @ leverage @ kind``.

    Notes
    -----
    The mean of a kind of which few scenarios were run is itself not known well: its variance is that of
    scenarios times their leverage (Draper and Smith, Applied Regression Analysis, 1998, section 8.1).
    """
    data = _stored()
    where = np.array([kind[name] for name in data["kinds"]])
    name = class_of(kind)
    covariance = slope_covariance(data["alike"][name], data["own"][name], data["overall"][name])
    unsure = 1.0 + float(where @ np.array(data["leverage"]) @ where)
    noise = (data["lack"], data["drift"], data["chance"], data["of_size"])
    mean = np.array(data["mean"]) @ where
    return SlopePrior(mean, unsure * covariance, *noise, np.array(data["of_use"][name]), data["weight"])


def class_of(kind: Mapping[str, float]) -> str:
    """Return which of the `CLASSES` a scenario of a kind is in."""
    return CLASSES[int(kind["legacy"] > 0.0)]


def is_learned(case: Case) -> bool:
    """Tell whether worlds of scenarios like this one are in the prior.

    They had no list of blocks, and nothing that changes on the way.
    """
    spells = any(each.on_s is not None for each in case.scenario.slow or ())
    changes = spells or case.second_at is not None or has_hours(case)
    return case.operation in LEARNED and case.scenario.block_list is None and not changes


def slope_covariance(alike: Sequence[float], own: Sequence[float], overall: Sequence[float]) -> F64:
    """Return the covariance of slopes from the variances of what they are made of.

    Parameters
    ----------
    alike, own : sequence of float, one of each of `BY_USE`
        Of what all uses share, and of what each has for itself.
    overall : sequence of float, one of each of `OVERALL`

    Returns
    -------
    ndarray of float, shape (slopes, slopes)
        Slopes in the order of `design`: those of the uses in each of `BY_USE`, then those of `OVERALL`.  Two
        uses have ``alike`` in common, a use has ``alike + own`` with itself; different columns have nothing.
    """
    count = len(USES)
    found = np.diag(np.concatenate([np.repeat(own, count), overall]))
    for place, shared in enumerate(alike):
        here = slice(place * count, (place + 1) * count)
        found[here, here] += shared
    return found


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
    """

    scores: F64
    blocks: F64
    times: F64


class RanWorld(NamedTuple):
    """A run of a possible world: its scores, the blocks of its population, its duration [s]."""

    scores: tuple[float, ...]
    blocks: int
    time_s: float


def runs_of(ran: Sequence[RanWorld]) -> WorldRuns:
    """Return runs as arrays."""
    scores, blocks, times = zip(*ran, strict=True)
    return WorldRuns(np.array(scores), np.array(blocks, dtype=np.float64), np.array(times))


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
    """

    quantiles: tuple[float, float, float]
    small_s: float
    half_width: float
    expected: F64
    own: F64


class NextWorld(NamedTuple):
    """A world that is to be run: its scores, and the blocks of its population."""

    scores: tuple[float, ...]
    blocks: int


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
    """

    def __init__(self, case: Case, inputs: Sequence[Unknown]) -> None:
        self.case, self.inputs, self.prior = case, inputs, prior(kind_of_scenario(case))
        if not inputs:
            # What the one world has of its own is in the level of the scenario.
            self.prior = replace(self.prior, lack=0.0)
        self.slopes: F64 = self.prior.slopes
        at = points(case, inputs, draws(len(inputs)))
        count = len(at["use"])
        self.data, self.use = at["data"], at["use"]
        self.whole = design(at, np.full(count, float(TILE)))
        self.small = design(at, np.full(count, float(SMALL)))
        self._about = np.full((len(SHARES), count), 1.0 / count)

    def told(self, ran: WorldRuns) -> SurfaceEstimate:
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
        slopes, worlds of design W are expected at ``k(W, X) @ inv(K) @ y`` about their own mean slopes
        (Rasmussen and Williams, 2006, equation 2.23).  What the runs scatter, over what the prior says,
        scales all variances: ``(weight + y @ inv(K) @ y) / (weight + n - 1)``.  Quantiles are those of the
        worlds drawn, each with a stratum of what is its own.
        """
        at = points(self.case, self.inputs, ran.scores)
        seen, here = design(at, ran.blocks), design(at, np.full(len(ran.blocks), float(TILE)))
        runs = Runs(_worlds(ran.scores), at["use"], ran.blocks)
        inverse: F64 = np.asarray(np.linalg.inv(self.prior.of_runs(seen, runs)), dtype=np.float64)
        away = np.log(ran.times) - at["data"] - seen @ self.slopes
        solved = inverse @ away

        def expected(rows: F64, data: F64) -> F64:
            found: F64 = rows @ self.slopes + data + self.prior.across(rows, seen, solved)
            return found

        freedom = self.prior.weight + len(away) - 1
        scale = (self.prior.weight + float(away @ solved)) / freedom
        whole = expected(self.whole, self.data)
        left = np.sqrt(scale * self.prior.variance(self.use, np.full(len(whole), float(TILE))))
        low, middle, high = np.quantile(whole + left * _shuffled(len(whole)), SHARES).tolist()
        self._about = np.stack([_near(whole, share) for share in SHARES])
        error = math.sqrt(scale * max(0.0, self._open(self._about[1], seen, inverse)))
        small = float(np.median(expected(self.small, self.data)))
        there = expected(here, at["data"])
        tiles = runs._replace(blocks=np.full(len(ran.blocks), float(TILE)))
        own = self.prior.of_worlds(tiles, runs) @ solved
        return SurfaceEstimate(
            (math.exp(low), math.exp(middle), math.exp(high)),
            math.exp(small),
            BEYOND * student(round(freedom)) * error,
            np.exp(there),
            np.exp(there + own),
        )

    def most_telling(
        self, ran: WorldRuns, candidates: F64, sizes: Sequence[int], budget: int
    ) -> list[NextWorld]:
        """Return which worlds tell most of the quantiles for what they cost, and on how large populations.

        Parameters
        ----------
        ran : WorldRuns
            What is known.
        candidates : ndarray of float, shape (candidates, unknowns)
            Scores of worlds that may be run.
        sizes : sequence of int
            Blocks of a population.
        budget : int
            What may be spent [blocks]; a run costs its own, and as much again as some thousands.

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
        whole = self.prior.between(rows, rows)
        whole[: len(blocks), : len(blocks)] += self.prior.of_worlds(every, every)
        chance, costs = self.prior.of_chance(at["use"], blocks), blocks + COST
        seen = whole[:count, :count] + np.diag(chance[:count])
        left = whole[count:, count:] - whole[count:, :count] @ np.linalg.solve(seen, whole[:count, count:])
        blocks, chance, costs = blocks[count:], chance[count:], costs[count:]
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

    def _open(self, weights: F64, seen: F64, inverse: F64) -> float:
        """Return the variance of a weighted mean over worlds that runs leave."""
        row = (weights @ self.whole)[None, :]
        across = self.prior.between(row, seen)[0]
        return float(self.prior.between(row, row)[0, 0] - across @ inverse @ across)


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
def draws(unknowns: int) -> F64:
    """Return scores of worlds drawn anew, a Latin hypercube, the same every time.

    Parameters
    ----------
    unknowns : int
        Without any there is one world.

    Returns
    -------
    ndarray of float, shape (worlds, unknowns)
        Standard normal scores, not to be written to.

    Notes
    -----
    McKay, Beckman, Conover (Technometrics 21, 1979), each stratum at its middle.
    """
    if not unknowns:
        return np.zeros((1, 0))
    generator = np.random.Generator(np.random.Philox(key=DRAW_SEED))
    found = np.stack([generator.permutation(normal_strata(DRAWN)) for _ in range(unknowns)], axis=1)
    found.flags.writeable = False
    return found


@functools.lru_cache(maxsize=32)
def _shuffled(count: int) -> F64:
    """Return the middles of equal parts of the normal distribution in random order, the same every time."""
    found = np.random.Generator(np.random.Philox(key=DRAW_SEED + 1)).permutation(normal_strata(count))
    found.flags.writeable = False
    return found
