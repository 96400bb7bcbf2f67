"""How durations depend on the unknowns in generated scenarios: the prior for a few runs.

Sixteen runs say little of a dozen unknowns.  Thousands of runs of other scenarios say how such a dependence
usually looks: ``models/response/worlds.json``, made by ``validation/fit_response.py``.
"""

from __future__ import annotations

import functools
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

F64 = NDArray[np.float64]
SMALL, TILE = whole_constant("work.member_blocks"), whole_constant("work.tile_blocks")
MEMORY_BY_USE = ("scarce", "scarce*scarce", "scarce*churn", "scarce*short")
MEMORY_OVERALL = (
    "scarce*scarce*scarce", "scarce*scarce*churn", "scarce*churn*churn", "scarce*cache_off",
    "scarce*file_size", "scarce*fill", "scarce*size", "scarce*slower_class", "scarce*seek", "scarce*overhead",
    "scarce*outer_rate", "scarce*new_rate", "scarce*load", "scarce*bend", "scarce*churn*short",
    "scarce*scarce*short", "scarce*load*short", "scarce*load*load", "scarce*cache_off*short",
)  # fmt: skip
"""What a sorted scan is longer by that has no memory for its records (`validation/fit_memory.py`)."""
BY_USE = (
    "1", "churn", "file_size", "cache_off", "fill", "size", "load", "slower_class", "outer_rate", "seek",
    "overhead", "new_rate", "short", "bend", "churn*short", "churn*churn",
    *MEMORY_BY_USE,
)  # fmt: skip
"""What each use of a pool has a slope of its own in."""
OVERALL = (
    "inner_ratio", "host", "large_sectors", "shingling", "shingling*shingling", "churn*file_size",
    "file_size*file_size", "cache_off*churn", "cache_off*file_size", "fill*fill", "fill*churn",
    "fill*file_size", "size*size", "load*load", "size*load", "cache_off*short", "file_size*short",
    "cache_off*fill", "load*cache_off", "load*churn", "cache_off*large_sectors", "size*short", "fill*short",
    "fill*size", "churn*churn*churn", "cache_off*slower_class", "cache_off*overhead", "cache_off*size",
    "cache_off*outer_rate", "cache_off*overhead*overhead", "overhead*overhead", "size*overhead",
    "slower_class*overhead", "size*new_rate", "churn*size", "file_size*churn*churn", "load*slower_class",
    "load*seek", "load*new_rate", "load*outer_rate", "load*overhead", "load*file_size", "load*short",
    "fill*load", "load*load*load", "fill*fill*fill", *MEMORY_OVERALL,
)  # fmt: skip
"""What all have one slope in."""
CLASSES = ("sorted", "legacy")
"""Orders of issue: how scenarios differ, and worlds scatter, is another matter for each."""
CURVE, BENDS = constant("response.curve"), (constant("response.bend_flat"), constant("response.bend_steep"))
"""Powers of the size with which what is too long on a small population falls."""
FREEDOM, WEIGHINGS = constant("response.freedom"), whole_constant("response.weighings")
"""Degrees of freedom of the t that worlds lie about the slopes in, and how often each is weighed by it."""
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


def slope_count() -> int:
    """Return how many slopes there are."""
    return len(BY_USE) * len(USES) + len(OVERALL)


def slopes_of(by_use: Sequence[str], overall: Sequence[str]) -> NDArray[np.int64]:
    """Return the places of some slopes in `design`, those of the uses first.

    Parameters
    ----------
    by_use, overall : sequence of str
        Names in `BY_USE` and `OVERALL`.
    """
    count = len(USES)
    places = [BY_USE.index(name) * count + place for name in by_use for place in range(count)]
    places += [len(BY_USE) * count + OVERALL.index(name) for name in overall]
    return np.array(places)


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
        Squared scale of what a world has of its own beyond the slopes, as in a t of `FREEDOM` degrees of
        freedom: at any size, and of `SMALL` blocks beside.
    chance, of_size : float
        The same of what one run has of its own: of any, and of one of `SMALL` blocks beside.
    of_use : ndarray of float, shape (uses,)
        What these four are to be multiplied by.
    weight : float
        In how many runs' place they are taken as known.
    of_memory : ndarray of float, shape (uses,)
        Squared scale of what a run of each use has beyond the slopes whose scan is short of memory.
    """

    slopes: F64
    covariance: F64
    lack: float
    drift: float
    chance: float
    of_size: float
    of_use: F64
    weight: float
    of_memory: F64

    def own(self, use: F64, blocks: F64) -> F64:
        """Return the squared scale of single runs beyond the slopes.

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
        """Return the part of `own` that another run of the same world does not share.

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
            ``left @ covariance @ right.T``; the level of a scenario is open beside (`conditioned_on`).

        Notes
        -----
        The kernel of a linear model whose weights are normal (Rasmussen and Williams, Gaussian Processes for
        Machine Learning, 2006, section 2.1.2).
        """
        found: F64 = left @ (self.covariance @ right.T)
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
        found: F64 = left @ (self.covariance @ (weights @ right))
        return found

    def of_runs(self, rows: F64, ran: Runs, weights: F64) -> F64:
        """Return the covariance of what runs show about their level: slopes, what is a world's own, chance.

        Parameters
        ----------
        rows : ndarray of float, shape (runs, slopes)
            Their `design`.
        ran : Runs
        weights : ndarray of float, shape (runs,)
            See `weights`.

        Returns
        -------
        ndarray of float, shape (runs, runs)
            Of the logarithms of the durations.
        """
        return self.between(rows, rows) + self.of_own(ran, weights)

    def of_own(self, ran: Runs, weights: F64) -> F64:
        """Return the covariance of what runs show beyond the slopes.

        Parameters
        ----------
        ran : Runs
        weights : ndarray of float, shape (runs,)
            See `weights`.

        Returns
        -------
        ndarray of float, shape (runs, runs)
            Of the logarithms of the durations.
        """
        found = self.of_worlds(ran, ran) + np.diag(self.of_chance(ran.use, ran.blocks) + ran.clients)
        return as_weighed(found, weights, weights)

    def conditioned_on(self, rows: F64, ran: Runs, away: F64, begin: F64 | None = None) -> Conditioned:
        """Return what runs tell, for all that is expected from them.

        Parameters
        ----------
        rows : ndarray of float, shape (runs, slopes)
            Their `design`.
        ran : Runs
        away : ndarray of float, shape (runs,)
            Logarithms of the durations, less what the mean slopes say.
        begin : ndarray of float, shape (runs,), optional
            See `weights`.

        Notes
        -----
        The level has no prior: generalised least squares beside the Gaussian process (Rasmussen and Williams,
        2006, section 2.7, the limit of equations 2.41 and 2.42).  A large variance in its place would cancel,
        and take digits with it.
        """
        weights = self.weights(rows, ran, away, begin)
        about = with_open_level(self.of_runs(rows, ran, weights))
        solved = about.inverse @ away
        freedom = self.weight + len(away) - 1
        scale = (self.weight + float(away @ solved)) / freedom
        return Conditioned(rows, weights, about, solved, float(about.shares @ away), freedom, scale)

    def expected(self, rows: F64, known: Conditioned) -> F64:
        """Return the logarithm of the durations that runs lead to, less what the mean slopes say.

        Parameters
        ----------
        rows : ndarray of float, shape (rows, slopes)
            See `design`.
        known : Conditioned

        Returns
        -------
        ndarray of float, shape (rows,)
        """
        return self.across(rows, known.rows, known.solved) + known.level

    def left(self, rows: F64, known: Conditioned) -> F64:
        """Return the covariance that runs leave of the logarithms of durations, before its scale.

        Parameters
        ----------
        rows : ndarray of float, shape (rows, slopes)
            Their `design`, or means of those of several worlds.
        known : Conditioned

        Returns
        -------
        ndarray of float, shape (rows, rows)
        """
        return known.about.left(self.between(rows, rows), self.between(rows, known.rows))

    def weights(self, rows: F64, ran: Runs, away: F64, begin: F64 | None = None) -> F64:
        """Return how much the world of each run counts: little where it lies far beyond the slopes.

        Parameters
        ----------
        rows : ndarray of float, shape (runs, slopes)
            Their `design`.
        ran : Runs
        away : ndarray of float, shape (runs,)
            Logarithms of the durations, less what the mean slopes say.
        begin : ndarray of float, shape (runs,), optional
            Weights to begin at, and then to go but one step from; all 1 by default.

        Returns
        -------
        ndarray of float, shape (runs,)
            Equal for the runs of a world; what it has beyond the slopes has its variance over the weight.

        Notes
        -----
        Worlds lie about the slopes as in a t of `FREEDOM` degrees of freedom, all runs of one together:
        ``(FREEDOM + n) / (FREEDOM + d)`` with n runs that lie ``d`` beyond, by expectation and maximisation
        (Lange, Little, Taylor, JASA 84, 1989, section 3).  A few worlds in other regimes, where each small
        write misses a turn or a queue is never full, would bend all slopes otherwise.
        """
        own = self.of_own(ran, np.ones(len(away)))
        of_slopes = self.between(rows, rows)
        _, world = np.unique(ran.world, return_inverse=True)
        runs = np.bincount(world)
        if len(runs) == 1:
            return np.ones(len(away))  # there is none that it could be unlike
        found = np.ones(len(away)) if begin is None else begin
        for _ in range(WEIGHINGS if begin is None else 1):
            inverse = with_open_level(of_slopes + as_weighed(own, found, found)).inverse
            solved = inverse @ away
            # What is expected of the square of what is a run's own, in units of its variance.
            open_ = (inverse * own).sum(axis=1) - solved * (own @ solved)
            beyond = np.bincount(world, 1.0 / found - open_ / found**2)
            found = ((FREEDOM + runs) / (FREEDOM + beyond))[world]
        return found


def as_weighed(covariance: F64, left: F64, right: F64) -> F64:
    """Return a covariance of what worlds have of their own with the weights of those worlds.

    Parameters
    ----------
    covariance : ndarray of float, shape (rows of left, rows of right)
    left, right : ndarray of float
        Weights of the rows.

    Returns
    -------
    ndarray of float, shape (rows of left, rows of right)
    """
    found: F64 = covariance / np.sqrt(np.outer(left, right))
    return found


class Runs(NamedTuple):
    """What is known of runs before they are looked at.

    Attributes
    ----------
    world : ndarray of int64, shape (runs,)
        Equal numbers are the same world.
    use : ndarray of int64, shape (runs,)
        Places in `USES`.
    blocks : ndarray of float, shape (runs,)
        Of the populations.
    clients : ndarray of float, shape (runs,), or float
        Squared scale by which it moves the logarithm of a duration when and where clients ask.
    """

    world: NDArray[np.int64]
    use: F64
    blocks: F64
    clients: F64 | float = 0.0


class OpenLevel(NamedTuple):
    """The covariance of what runs show, about a level of which nothing is known but by them.

    Attributes
    ----------
    inverse : ndarray of float, shape (runs, runs)
        ``inv(K) - u @ u.T / sum(u)`` with the covariance K about the level, and ``u = inv(K) @ 1``.
    shares : ndarray of float, shape (runs,)
        By which the level is the mean of what runs show: ``u / sum(u)``.
    variance : float
        Of that mean, ``1 / sum(u)``.
    """

    inverse: F64
    shares: F64
    variance: float

    def left(self, between: F64, across: F64) -> F64:
        """Return the covariance that runs leave of other values about the same level.

        Parameters
        ----------
        between : ndarray of float, shape (values, values)
            Their covariance about the level.
        across : ndarray of float, shape (values, runs)
            That with what runs show.

        Returns
        -------
        ndarray of float, shape (values, values)
        """
        shared = across @ self.shares
        found: F64 = between - across @ self.inverse @ across.T + self.variance
        return found - shared[:, None] - shared[None, :]


def with_open_level(covariance: F64) -> OpenLevel:
    """Return what runs tell that have a covariance about a level of which nothing is known.

    Parameters
    ----------
    covariance : ndarray of float, shape (runs, runs)
    """
    inverse = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
    # By columns and rows alike: the inverse is symmetric but for its last bits.
    of_level = (inverse.sum(axis=0) + inverse.sum(axis=1)) / 2.0
    whole = float(of_level.sum())
    return OpenLevel(inverse - np.outer(of_level, of_level) / whole, of_level / whole, 1.0 / whole)


class Conditioned(NamedTuple):
    """What runs tell by a prior: a Gaussian process conditioned on them.

    Attributes
    ----------
    rows : ndarray of float, shape (runs, slopes)
        Their `design`.
    weights : ndarray of float, shape (runs,)
        See `SlopePrior.weights`.
    about : OpenLevel
        Of their covariance, `SlopePrior.of_runs`.
    solved : ndarray of float, shape (runs,)
        Its inverse times what lies away from the mean slopes.
    level : float
        The mean of what lies away from them.
    freedom : float
        Degrees of freedom.
    scale : float
        What the runs scatter over what the prior says, ``(weight + away @ solved) / freedom``; all variances
        are as many times as large.
    """

    rows: F64
    weights: F64
    about: OpenLevel
    solved: F64
    level: float
    freedom: float
    scale: float


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
    of_memory: list[float]


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
    mean, of_use = np.array(data["mean"]) @ where, np.array(data["of_use"][name])
    short = np.array(data["of_memory"])
    return SlopePrior(mean, unsure * covariance, *noise, of_use, data["weight"], short)


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
