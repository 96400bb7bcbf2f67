"""What worlds of many scenarios taught of how a duration depends on the unknowns: the prior of a few runs.

Sixteen runs say little of a dozen unknowns.  Thousands of runs of other scenarios say how such a dependence
usually looks: ``models/response/worlds.json``, made by ``validation/fit_response.py``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from zsim.base import model_data
from zsim.base.constants import constant, whole_constant
from zsim.base.reading import read_json
from zsim.case.case import Case
from zsim.case.worlds import USES
from zsim.prediction.inputs.clients import has_hours
from zsim.prediction.inputs.ensemble import NORMAL, Unknown
from zsim.prediction.inputs.points import kind_of_scenario, points
from zsim.prediction.statistics.sampling import student

F64 = NDArray[np.float64]
SMALL, TILE = whole_constant("work.member_blocks"), whole_constant("exact.tile_blocks")
BY_USE = (
    "1", "churn", "file_size", "cache_off", "fill", "size", "load", "slower_class", "outer_rate", "seek",
    "overhead", "new_rate", "short", "shorter", "churn*short", "churn*churn",
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
    short, most = SMALL / blocks, SMALL / TILE
    known = {**at, "1": np.ones(len(blocks)), "shorter": short - most}
    known["short"] = np.sqrt(short) - math.sqrt(most)
    use = (at["use"][:, None] == np.arange(len(USES))).astype(np.float64)
    columns = [use * _product(known, name)[:, None] for name in BY_USE]
    columns.append(np.stack([_product(known, name) for name in OVERALL], axis=1))
    return np.concatenate(columns, axis=1)


def _product(known: Mapping[str, F64], name: str) -> F64:
    """Return the product of columns, such as ``churn*short``."""
    return functools.reduce(np.multiply, (known[each] for each in name.split("*")))


@dataclass(frozen=True, slots=True)
class SlopePrior:
    """What scenarios have in common, and how they differ.

    Attributes
    ----------
    kinds : tuple of str
        Of `zsim.prediction.inputs.points.kind_of_scenario`.
    mean : ndarray of float, shape (slopes, kinds)
        Slopes of a scenario in the mean: linear in what tells its kind.
    covariance : ndarray of float, shape (slopes, slopes)
        How slopes differ between scenarios of a kind.
    chance, of_size : float
        Variance of one run's logarithm: of any, and of one of `SMALL` blocks beside that; it falls with the
        blocks.
    of_use : ndarray of float, shape (uses,)
        What that is to be multiplied by.
    weight : float
        In how many runs' place that variance is taken.
    """

    kinds: tuple[str, ...]
    mean: F64
    covariance: F64
    chance: float
    of_size: float
    of_use: F64
    weight: float

    def variance(self, use: F64, blocks: F64) -> F64:
        """Return the variance of single runs."""
        found: F64 = self.of_use[use] * (self.chance + self.of_size * SMALL / blocks)
        return found

    def between(self, left: F64, right: F64) -> F64:
        """Return the covariance of what two designs show, over scenarios of a kind."""
        found: F64 = left @ (self.covariance @ right.T) + OPEN
        return found


class _Stored(TypedDict):
    """The prior as its file has it."""

    kinds: list[str]
    mean: list[list[float]]
    by_use: list[list[list[float]]]
    overall: list[float]
    chance: float
    of_size: float
    of_use: list[float]
    weight: float


@functools.cache
def prior() -> SlopePrior:
    """Return the prior of ``models/response/worlds.json``."""
    path = model_data.models_directory() / "response" / "worlds.json"
    data = cast("_Stored", read_json(path))
    return SlopePrior(
        tuple(data["kinds"]),
        np.array(data["mean"]),
        _covariance(data["by_use"], data["overall"]),
        float(data["chance"]),
        float(data["of_size"]),
        np.array(data["of_use"]),
        float(data["weight"]),
    )


def is_learned(case: Case) -> bool:
    """Tell whether worlds of scenarios like this one are in the prior.

    They had no list of blocks, and nothing that changes on the way.
    """
    spells = any(each.on_s is not None for each in case.scenario.slow or ())
    changes = spells or case.second_at is not None or has_hours(case)
    return case.operation in LEARNED and case.scenario.block_list is None and not changes


def _covariance(by_use: Sequence[Sequence[Sequence[float]]], overall: Sequence[float]) -> F64:
    """Return the covariance of slopes: only those of several uses in one thing go together."""
    count = len(USES)
    found = np.zeros((len(BY_USE) * count + len(OVERALL),) * 2)
    for place, block in enumerate(by_use):
        here = slice(place * count, (place + 1) * count)
        found[here, here] = block
    found[len(BY_USE) * count :, len(BY_USE) * count :] = np.diag(overall)
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
        self.case, self.inputs, self.prior = case, inputs, prior()
        kind = kind_of_scenario(case)
        self.slopes: F64 = self.prior.mean @ np.array([kind[name] for name in self.prior.kinds])
        at = points(case, inputs, draws(len(inputs)))
        count = len(at["use"])
        self.data, self.use = at["data"], at["use"]
        self.whole = design(at, np.full(count, float(TILE)))
        self.small = design(at, np.full(count, float(SMALL)))
        self._about = np.full((len(SHARES), count), 1.0 / count)

    def told(self, ran: WorldRuns) -> SurfaceEstimate:
        """Return what runs tell of all worlds."""
        at = points(self.case, self.inputs, ran.scores)
        seen, here = design(at, ran.blocks), design(at, np.full(len(ran.blocks), float(TILE)))
        variance = self.prior.variance(at["use"], ran.blocks)
        kernel = self.prior.between(seen, seen) + np.diag(variance)
        inverse: F64 = np.asarray(np.linalg.inv(kernel), dtype=np.float64)
        away = np.log(ran.times) - at["data"] - seen @ self.slopes
        solved = inverse @ away

        def expected(rows: F64, data: F64) -> F64:
            found: F64 = rows @ self.slopes + data + self.prior.between(rows, seen) @ solved
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
        rest = np.log(ran.times) - expected(seen, at["data"])
        # What a run shows beyond the regression counts by the share that is no chance of its population.
        kept = self.prior.chance / (self.prior.chance + self.prior.of_size * SMALL / ran.blocks)
        return SurfaceEstimate(
            (math.exp(low), math.exp(middle), math.exp(high)),
            math.exp(small),
            student(round(freedom)) * error,
            np.exp(there),
            np.exp(there + kept * rest),
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
        at = points(self.case, self.inputs, np.repeat(candidates, len(sizes), axis=0))
        blocks = np.tile(np.array(sizes, dtype=np.float64), len(candidates))
        seen_at = points(self.case, self.inputs, ran.scores)
        seen = design(seen_at, ran.blocks)
        rows = np.concatenate([design(at, blocks), self._about @ self.whole])
        across = self.prior.between(rows, seen)
        kernel = self.prior.between(seen, seen) + np.diag(self.prior.variance(seen_at["use"], ran.blocks))
        left = self.prior.between(rows, rows) - across @ np.linalg.solve(kernel, across.T)
        chance, costs = self.prior.variance(at["use"], blocks), blocks + COST
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
    """Return scores of worlds drawn anew, a Latin hypercube, the same every time; one without unknowns."""
    if not unknowns:
        return np.zeros((1, 0))
    generator = np.random.Generator(np.random.Philox(key=DRAW_SEED))
    found = np.stack([generator.permutation(_strata(DRAWN)) for _ in range(unknowns)], axis=1)
    found.flags.writeable = False
    return found


@functools.lru_cache(maxsize=32)
def _shuffled(count: int) -> F64:
    """Return the middles of equal parts of the normal distribution in random order, the same every time."""
    found = np.random.Generator(np.random.Philox(key=DRAW_SEED + 1)).permutation(_strata(count))
    found.flags.writeable = False
    return found


@functools.lru_cache(maxsize=32)
def _strata(count: int) -> F64:
    return np.array([NORMAL.inv_cdf((part + 0.5) / count) for part in range(count)])
