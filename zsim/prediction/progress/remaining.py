"""The remaining time of a running scan: worlds weighed by its progress, and what is left in each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant, whole_constant
from zsim.prediction.progress.course import CELLS, VISIT_CELLS, Course, done_cells
from zsim.prediction.progress.healing import ends
from zsim.prediction.progress.least import COUNTED, LeastTime, TimeMixture, bounded, joined, least_left_s
from zsim.prediction.progress.moments import PoolFacts, State, adapted, history_of, orders, overshoot
from zsim.prediction.progress.noise import Noise, Stretch, covariance, fitted_noise, posterior
from zsim.prediction.progress.open_share import variants
from zsim.prediction.progress.pace import discrepancy_of, pace_of, with_pace
from zsim.prediction.progress.told_memory import log_of_memory
from zsim.scenario.evidence import RunningScan

F64 = NDArray[np.float64]
SHARES = (0.1, 0.5, 0.9)
SEARCH = whole_constant("progress.halvings")
WIDEST = constant("progress.widest")
CLOSES = constant("progress.closes")
"""Standard deviation of how long a txg closes after the last I/O [s]."""


@dataclass(frozen=True, slots=True)
class Remaining:
    """How long a scan still takes, as a mixture of lognormal distributions, one a world and restlessness.

    Attributes
    ----------
    known_s : ndarray of float
        Time that is known to be gone, one a component [s].
    idle_s : ndarray of float
        How long the counters have stood still at the latest status [s].
    rest, unknown : TimeMixture
        Of what is left, and of what is not known of the whole.
    weights : ndarray of float
        Of the components, summing to 1.
    worlds : ndarray of float
        Of the worlds, summing to 1.
    paces : ndarray of float
        Of each world: how much slower this scan is than it would be there, so far (1: as fast).
    state : State or None
        The latest, in the terms of the likeliest world.
    parts : dict of str to float
        What is left by phase, in the mean over the worlds [s].
    """

    known_s: F64
    idle_s: F64
    rest: TimeMixture
    unknown: TimeMixture
    weights: F64
    worlds: F64
    paces: F64
    state: State | None
    parts: dict[str, float]

    def left(self, shares: Sequence[float] = SHARES) -> tuple[float, ...]:
        """Return quantiles of the time to go.

        Parameters
        ----------
        shares : sequence of float
            Each from 0 to 1.

        Returns
        -------
        tuple of float, one a share
            Of the mixture of `rest` less `idle_s`, not below 0 [s].
        """
        return tuple(max(0.0, _quantile(self.rest, self.weights, -self.idle_s, share)) for share in shares)

    def total(self, shares: Sequence[float] = SHARES) -> tuple[float, ...]:
        """Return quantiles of the whole duration.

        Parameters
        ----------
        shares : sequence of float
            Each from 0 to 1.

        Returns
        -------
        tuple of float, one a share
            Of the mixture of `known_s` and `unknown` [s].
        """
        return tuple(_quantile(self.unknown, self.weights, self.known_s, share) for share in shares)

    @property
    def effective(self) -> float:
        """How many worlds count: 1 over the sum of their squared weights (Kish, Survey Sampling, 1965)."""
        return float(1.0 / (self.worlds**2).sum())


def _quantile(times: TimeMixture, weights: F64, shift: F64 | float, share: float) -> float:
    """Return a quantile of shifted distributions, mixed [s]."""
    logs, spreads = times.logs, np.maximum(times.spreads, 1e-6)
    shifts = np.broadcast_to(np.asarray(shift, dtype=np.float64), logs.shape)
    # By ratio: a pace that is known to its order of magnitude only reaches over twenty of them.
    base, reach = float(np.min(shifts)), np.minimum(6.0 * spreads, WIDEST)
    low = float(np.min(shifts - base + np.exp(logs - reach)))
    most = logs + np.maximum(reach, spreads * (times.least + 1.0))
    high = float(np.max(shifts - base + np.exp(most)))

    def below(value: float) -> float:
        return float((weights * times.below(np.maximum(base + value - shifts, 1e-12))).sum())

    for _ in range(SEARCH):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if below(middle) < share else (low, middle)
    return base + math.sqrt(low * high)


def remaining(
    courses: Sequence[Course],
    scans: Sequence[RunningScan],
    facts: PoolFacts,
    noise: Noise | None = None,
) -> Remaining:
    """Return how long a scan still takes.

    Parameters
    ----------
    courses : sequence of Course
        Of possible worlds.
    scans : sequence of RunningScan
        Of one scan, in order of time, with the times of `zsim.prediction.progress.moments.with_clocks`.
    facts : PoolFacts
    noise : Noise, optional
        The fitted one if not given.

    Returns
    -------
    Remaining
        A component for each world, restlessness and kind of drives, in proportion to prior times likelihood.

    Notes
    -----
    Each world, at each restlessness, on drives like those simulated and on others, is conditioned on the
    stretches that were seen (`zsim.prediction.progress.noise`); its evidence is its weight.  Worlds of pools
    that are little known are combined with the mean pace so far (`zsim.prediction.progress.pace`).
    """
    noise = noise or fitted_noise()
    found = [_merged(_in_all_ways(course, scans, facts, noise)) for course in courses]
    return _mixed(courses, found)


@dataclass(frozen=True, slots=True)
class _World:
    """What one world says, by restlessness and by how its drives are like those simulated."""

    known_s: F64
    idle_s: F64
    left: TimeMixture
    total: TimeMixture
    log_weights: F64
    pace: float
    state: State | None
    parts: tuple[dict[str, float], ...]


def _in_all_ways(
    course: Course, scans: Sequence[RunningScan], facts: PoolFacts, noise: Noise
) -> list[_World]:
    """Return what one world says of each way that it may end, order its work and share it out."""
    found = []
    for world, told in ends(course, scans):
        memory = log_of_memory(course, told)
        for ordered, log in orders(world, told):
            for each, share in variants(ordered, told):
                log_share = course.likely + log + share + memory
                found.append(_of_world(adapted(each, told), told, facts, noise, log_share))
    return found


def _of_world(
    course: Course, scans: Sequence[RunningScan], facts: PoolFacts, noise: Noise, log_share: float
) -> _World:
    history = history_of(scans, course, facts, noise)
    seconds = course.seconds(noise.drift, noise.drift_by_birth)
    state = history.last if history is not None else None
    done = done_cells(state.visited, state.issued) if state is not None else np.zeros(len(seconds))
    left = 1.0 - done
    unknown = left.copy()
    if history is not None and history.unseen_visit is not None:
        begin, end = history.unseen_visit
        unknown += done_cells(end, 0.0) - done_cells(begin, 0.0)
    stretches = history.stretches if history is not None else ()
    whole = float(seconds.sum())
    others = [Stretch(np.ones(CELLS), whole * math.exp(ratio), error) for ratio, error in course.other_scans]
    priors, drives, shares, follows = _priors(noise, course.unlike, course.loose, course.tilt)
    found = posterior(seconds, [*stretches, *others], (left, unknown), priors, drives)
    to_go, all_of_it = (found.logs[:, 0], found.spreads[:, 0]), (found.logs[:, 1], found.spreads[:, 1])
    told = math.fsum(stretch.seconds for stretch in stretches)
    expected = math.fsum(float(stretch.cells @ seconds) for stretch in stretches)
    slower = told / expected if expected > 0.0 else 1.0
    pace = pace_of(course, seconds, history, noise.uneven)
    if pace is not None:
        to_go, all_of_it = with_pace(to_go, all_of_it, pace, discrepancy_of(course, slower))
    if state is not None:
        more, unsure = _beyond(state, scans[-1])
        whole_issue = slower * float(seconds[VISIT_CELLS:-1].sum())
        end = math.hypot(_end_error(state, facts), unsure * whole_issue)
        to_go, all_of_it = (_read_at_end(each, more * whole_issue, end) for each in (to_go, all_of_it))
    log_weights = found.likelihood + np.log(np.maximum(shares, 1e-12)) + log_share
    follows = np.logical_and(follows, not course.named)
    least = LeastTime(least_left_s(course, state, scans[-1] if scans else None), follows)
    before = partial(posterior, seconds, (), (left, unknown), priors, drives)
    kept = bounded(to_go, all_of_it, log_weights, found, before, least)
    return _World(
        np.full(len(kept.origin), history.known_s if history is not None else 0.0),
        np.full(len(kept.origin), history.idle_s if history is not None else 0.0),
        kept.left,
        kept.total,
        kept.log_weights,
        slower,
        state,
        tuple(_parts(seconds, left, math.exp(to_go[0][place])) for place in kept.origin.tolist()),
    )


def _merged(found: Sequence[_World]) -> _World:
    """Return what a world says whose vdev holds one of several shares; the rest is of the likeliest."""
    best = max(found, key=lambda each: float(each.log_weights.max()))
    return replace(
        best,
        known_s=np.concatenate([each.known_s for each in found]),
        idle_s=np.concatenate([each.idle_s for each in found]),
        left=joined([each.left for each in found]),
        total=joined([each.total for each in found]),
        log_weights=np.concatenate([each.log_weights for each in found]),
        parts=tuple(part for each in found for part in each.parts),
    )


def _end_error(state: State, facts: PoolFacts) -> float:
    """Return the standard deviation of a scan's end against the clock of its latest status [s]."""
    return math.hypot(CLOSES, facts.clock_s, max(facts.clock_s, state.clock_s))


def _beyond(state: State, scan: RunningScan) -> tuple[float, float]:
    """Return what a scan does beyond its counters' total, as a share of that: the mean, and its error.

    The total has an error of `COUNTED`, or of what the counters have gone beyond it.  A scan that runs still
    has something left, so that what is left is a normal variable above 0 (Johnson, Kotz and Balakrishnan,
    Continuous Univariate Distributions 1, 1994, 13.10).
    """
    left, error = 1.0 - state.issued, math.hypot(COUNTED, overshoot(scan))
    score = left / error
    ratio = NormalDist().pdf(score) / NormalDist().cdf(score)
    return error * ratio, error * math.sqrt(max(0.0, 1.0 - ratio * (ratio + score)))


def _read_at_end(time: tuple[F64, F64], more: float, error: float) -> tuple[F64, F64]:
    """Return logarithms of a time and their spreads, with what is left beyond, and what reading its end adds.

    The whole is told in full seconds, as the time that is gone is, and waits for its last txg: the error of
    what is left does not get smaller with it.  Of a shifted lognormal distribution of that mean and variance
    the mean is kept.

    Parameters
    ----------
    time : tuple of ndarray of float
        Logarithms [ln s] and their standard deviations.
    more, error : float
        Mean of what comes on top, and standard deviation of the end [s].
    """
    logs, spreads = time
    logs = np.log(np.exp(logs) + more)
    wider = np.log1p((error / np.exp(logs + 0.5 * spreads**2)) ** 2)
    return logs - 0.5 * wider, np.sqrt(spreads**2 + wider)


class _Priors(NamedTuple):
    """For each restlessness and kind of drives: the covariance of the pace, and how likely it is.

    With the part of the variance that the drives give to all work, and whether they are nothing like those
    simulated.
    """

    covariances: F64
    drives: F64
    shares: F64
    alien: NDArray[np.bool_]


@lru_cache(maxsize=16)
def _priors(noise: Noise, unlike: float, loose: float, tilt: float) -> _Priors:
    kinds = (
        (0.0, 1.0 - unlike, False),
        (noise.unlike, unlike * (1.0 - noise.alien_share), False),
        (noise.alien, unlike * noise.alien_share, True),
    )
    rows = [(level, *kind) for level in noise.restless for kind in kinds]
    return _Priors(
        np.array([covariance(noise, level, math.hypot(loose, more), tilt) for level, more, _, _ in rows]),
        np.array([loose**2 + more**2 for _, more, _, _ in rows]),
        np.array([level.share * share for level, _, share, _ in rows]),
        np.array([alien for *_, alien in rows]),
    )


def _parts(seconds: F64, left: F64, whole_s: float) -> dict[str, float]:
    """Return what is left by phase [s]."""
    amounts = left * seconds
    factor = whole_s / max(float(amounts.sum()), 1e-12)
    return {
        "metadata scan": float(amounts[:VISIT_CELLS].sum()) * factor,
        "repair": float(amounts[VISIT_CELLS:-1].sum()) * factor,
        "tail": float(amounts[-1]) * factor,
    }


def _mixed(courses: Sequence[Course], found: Sequence[_World]) -> Remaining:
    most = max(float(each.log_weights.max()) for each in found)
    own = [np.exp(each.log_weights - most) for each in found]
    whole = math.fsum(float(each.sum()) for each in own)
    weights = [each / whole for each in own]
    best = max(found, key=lambda each: float(each.log_weights.max()))
    return Remaining(
        known_s=np.concatenate([each.known_s for each in found]),
        idle_s=np.concatenate([each.idle_s for each in found]),
        rest=joined([each.left for each in found]),
        unknown=joined([each.total for each in found]),
        weights=np.concatenate(weights),
        worlds=np.array([float(each.sum()) for each in weights]),
        paces=np.array([each.pace for each in found]),
        state=best.state,
        parts={
            name: float(
                math.fsum(
                    weight * parts[name]
                    for row, each in zip(weights, found, strict=True)
                    for weight, parts in zip(row, each.parts, strict=True)
                )
            )
            for name in best.parts[0]
        },
    )
