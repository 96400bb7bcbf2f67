"""How long a running scan still takes: worlds weighed by how it got on, and what is left in each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import whole_constant
from zsim.prediction.progress.course import CELLS, VISIT_CELLS, Course, done_cells
from zsim.prediction.progress.moments import History, PoolFacts, State, adapted, history_of
from zsim.prediction.progress.noise import Noise, Stretch, covariance, fitted_noise, posterior
from zsim.scenario.evidence import RunningScan

F64 = NDArray[np.float64]
NORMAL = NormalDist()
SHARES = (0.1, 0.5, 0.9)
SEARCH = whole_constant("progress.halvings")


@dataclass(frozen=True, slots=True)
class Remaining:
    """How long a scan still takes, as a mixture of lognormal distributions, one a world and restlessness.

    Attributes
    ----------
    known_s : ndarray of float
        Time that is known to be gone, one a component [s].
    idle_s : ndarray of float
        How long the counters have stood still at the latest status [s].
    left_logs, total_logs : ndarray of float
        Mean logarithm of what is left, and of what is not known of the whole [ln s].
    left_spreads, total_spreads : ndarray of float
        Standard deviations of these logarithms.
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
    left_logs: F64
    left_spreads: F64
    total_logs: F64
    total_spreads: F64
    weights: F64
    worlds: F64
    paces: F64
    state: State | None
    parts: dict[str, float]

    def left(self, shares: Sequence[float] = SHARES) -> tuple[float, ...]:
        """Return quantiles of the time to go [s]."""
        return tuple(
            max(0.0, _quantile(self.left_logs, self.left_spreads, self.weights, -self.idle_s, share))
            for share in shares
        )

    def total(self, shares: Sequence[float] = SHARES) -> tuple[float, ...]:
        """Return quantiles of the whole duration [s]."""
        return tuple(
            _quantile(self.total_logs, self.total_spreads, self.weights, self.known_s, share)
            for share in shares
        )

    @property
    def effective(self) -> float:
        """How many worlds count (Kish)."""
        return float(1.0 / (self.worlds**2).sum())


def _quantile(logs: F64, spreads: F64, weights: F64, shift: F64 | float, share: float) -> float:
    """Return a quantile of shifted lognormal distributions, mixed [s]."""
    shifts = np.broadcast_to(np.asarray(shift, dtype=np.float64), logs.shape)
    spread = np.maximum(spreads, 1e-6)
    low = float(np.min(shifts + np.exp(logs - 6.0 * spread)))
    high = float(np.max(shifts + np.exp(logs + 6.0 * spread)))

    def below(value: float) -> float:
        rest = np.maximum(value - shifts, 1e-12)
        scores = (np.log(rest) - logs) / spread
        found = np.array([NORMAL.cdf(float(each)) for each in np.clip(scores, -9.0, 9.0)])
        return float((weights * found).sum())

    for _ in range(SEARCH):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if below(middle) < share else (low, middle)
    return 0.5 * (low + high)


def remaining(
    courses: Sequence[Course],
    scans: Sequence[RunningScan],
    facts: PoolFacts,
    noise: Noise | None = None,
    prior: Sequence[float] | None = None,
) -> Remaining:
    """Return how long a scan still takes.

    Parameters
    ----------
    courses : sequence of Course
        Of possible worlds.
    scans : sequence of RunningScan
        Of one scan, in order of time.
    facts : PoolFacts
    noise : Noise, optional
        The fitted one if not given.
    prior : sequence of float, optional
        Weights of the worlds by other evidence.

    Notes
    -----
    Each world, at each restlessness, on drives like those simulated and on others, is conditioned on the
    stretches that were seen (`zsim.prediction.progress.noise`); its evidence is its weight.
    """
    noise = noise or fitted_noise()
    kinds = [
        (covariance(noise, level, unlike), level.share, unlike > 0.0)
        for level in noise.restless
        for unlike in (0.0, noise.unlike)
    ]
    own = np.full(len(courses), 1.0 / len(courses)) if prior is None else np.asarray(prior, dtype=np.float64)
    rows = []
    for place, course in enumerate(adapted(course, scans) for course in courses):
        history = history_of(scans, course, facts, noise)
        for covar, share, is_unlike in kinds:
            known = course.unlike if is_unlike else 1.0 - course.unlike
            weight = share * known * float(own[place])
            rows.append(_component(place, course, history, covar, weight, noise))
    return _mixed(courses, rows)


@dataclass(frozen=True, slots=True)
class _Component:
    world: int
    known_s: float
    idle_s: float
    left: tuple[float, float]
    total: tuple[float, float]
    log_weight: float
    pace: float
    state: State | None
    parts: dict[str, float]


def _component(
    place: int, course: Course, history: History | None, prior: F64, share: float, noise: Noise
) -> _Component:
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
    others = [Stretch(np.ones(CELLS), whole * math.exp(ratio), error) for ratio, error in course.told]
    found = posterior(seconds, [*stretches, *others], (left, unknown), prior)
    told = sum(stretch.seconds for stretch in stretches)
    expected = sum(float(stretch.cells @ seconds) for stretch in stretches)
    return _Component(
        place,
        history.known_s if history is not None else 0.0,
        history.idle_s if history is not None else 0.0,
        (float(found.logs[0]), float(found.spreads[0])),
        (float(found.logs[1]), float(found.spreads[1])),
        found.likelihood + math.log(max(share, 1e-12)),
        told / expected if expected > 0.0 else 1.0,
        state,
        _parts(seconds, left, math.exp(float(found.logs[0]))),
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


def _mixed(courses: Sequence[Course], rows: Sequence[_Component]) -> Remaining:
    logs = np.array([row.log_weight for row in rows])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    worlds, paces = np.zeros(len(courses)), np.ones(len(courses))
    for row, weight in zip(rows, weights, strict=True):
        worlds[row.world] += weight
        paces[row.world] = row.pace
    best = rows[int(np.argmax(weights))]
    return Remaining(
        known_s=np.array([row.known_s for row in rows]),
        idle_s=np.array([row.idle_s for row in rows]),
        left_logs=np.array([row.left[0] for row in rows]),
        left_spreads=np.array([row.left[1] for row in rows]),
        total_logs=np.array([row.total[0] for row in rows]),
        total_spreads=np.array([row.total[1] for row in rows]),
        weights=weights,
        worlds=worlds,
        paces=paces,
        state=best.state,
        parts={
            name: float(sum(weight * row.parts[name] for row, weight in zip(rows, weights, strict=True)))
            for name in best.parts
        },
    )
