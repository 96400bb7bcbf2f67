"""The answer of the weighted worlds, and what each piece of evidence did to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from zsim.predict.evidence.likelihood import (
    Weights,
    counted,
    is_far,
    log_likelihood,
    normal_width,
    weighted_quantiles,
    weights_of,
)
from zsim.predict.response import DRAW_SEED, SHARES, normal_strata
from zsim.predict.sampling import F64

NORMAL_95 = 1.96


@dataclass(frozen=True, slots=True)
class Seen:
    """One value that was observed, and how it scatters.

    Attributes
    ----------
    log : float
        Its natural logarithm.
    sigma : float
        Scale of its scatter about what the right world shows.
    pace : float
        With which power it goes with the pace of this pool, that no unknown explains: 1 for a duration, -1
        for a rate, 0 for what the scan has no part in.
    """

    log: float
    sigma: float
    pace: float = 1.0


@dataclass(frozen=True, slots=True)
class Weighed:
    """What became of one value.

    Attributes
    ----------
    expected : tuple of float
        Logarithm of what the worlds show, before anything is weighed: 10, 50 and 90 %.
    weight : float
        How much it counts, 1 if the worlds that are left explain it, near 0 if none does.
    narrows : float
        By how much p10-p90 (of the logarithm) is narrower with it than without it, all else being weighed.
    far : bool
        No world explains it.
    """

    expected: tuple[float, float, float]
    weight: float
    narrows: float
    far: bool


@dataclass(frozen=True, slots=True)
class Posterior:
    """The weighted worlds.

    Attributes
    ----------
    p10, p50, p90 : float
        Natural logarithm of the duration.
    half_width : float
        Half the 95 % interval of `p50` that the number of worlds run leaves.
    effective : float
        Worlds that count, of `worlds` that were drawn.
    worlds : int
    power : float
        See `zsim.predict.evidence.likelihood.Weights`.
    weighed : tuple of Weighed
        One for each value.
    """

    p10: float
    p50: float
    p90: float
    half_width: float
    effective: float
    worlds: int
    power: float
    weighed: tuple[Weighed, ...] = field(default=())


def posterior(values: F64, seen: Sequence[Seen], pace: float, event: float) -> Posterior:
    """Return the duration in the worlds as they are weighted by what was observed.

    Parameters
    ----------
    values : ndarray of float, shape (1 + values observed, worlds, coefficients)
        Natural logarithm of the duration, then of each value, in every world; see `joint.draws`.
    seen : sequence of Seen
    pace : float
        Standard deviation of the logarithm of this pool's pace over what the right world gives: what the
        simulator leaves out, the same in all scans of one pool.
    event : float
        Standard deviation of the logarithm of one scan over another of the same pool and kind.
    """
    worlds, coefficients = values.shape[1:]
    own, chance = _shifts(worlds, pace, event)
    answer = values[0] + (own + chance)[:, None]
    shown = [value + each.pace * own[:, None] for value, each in zip(values[1:], seen, strict=True)]
    logs = [log_likelihood(value, each.log, each.sigma) for value, each in zip(shown, seen, strict=True)]
    whole = np.sum(logs, axis=0) if logs else np.zeros((worlds, coefficients))
    weights = weights_of(whole.ravel())
    low, middle, high = weighted_quantiles(answer.ravel(), weights.weights, SHARES)
    share = weights.weights.reshape(worlds, coefficients)
    of_worlds = share.sum(axis=1)
    weighed = tuple(
        _weighed(shown[place], each, weights, _width(answer, whole - logs[place]), float(high - low))
        for place, each in enumerate(seen)
    )
    return Posterior(
        float(low), float(middle), float(high),
        _half_width(answer, share),
        1.0 / float((of_worlds**2).sum()), worlds, weights.power, weighed,
    )  # fmt: skip


def _shifts(worlds: int, pace: float, event: float) -> tuple[F64, F64]:
    """Return the pace of the pool and the chance of one scan in each world."""
    generator = np.random.Generator(np.random.Philox(key=DRAW_SEED + 3))
    strata = normal_strata(worlds)
    own: F64 = pace * generator.permutation(strata)
    chance: F64 = event * generator.permutation(strata)
    return own, chance


def _width(answer: F64, logs: F64) -> float:
    weights = weights_of(logs.ravel()).weights
    low, high = weighted_quantiles(answer.ravel(), weights, (SHARES[0], SHARES[-1]))
    return float(high - low)


def _weighed(shown: F64, each: Seen, weights: Weights, without: float, width: float) -> Weighed:
    low, middle, high = np.quantile(shown, SHARES).tolist()
    share = float((counted(shown, each.log, each.sigma).ravel() * weights.weights).sum())
    narrows = 1.0 - width / without if without > 0.0 else 0.0
    return Weighed((low, middle, high), share, narrows, is_far(shown, each.log, each.sigma))


def _half_width(answer: F64, share: F64) -> float:
    """Return half the 95 % interval of the median: its spread over coefficients, each as likely as it is."""
    columns = share.sum(axis=0)
    kept = np.flatnonzero(columns > 0.0)
    medians = np.array([float(weighted_quantiles(answer[:, c], share[:, c], (0.5,))[0]) for c in kept])
    likely = columns[kept] / columns[kept].sum()
    middle = float((likely * medians).sum())
    spread = math.sqrt(float((likely * (medians - middle) ** 2).sum()))
    # With few worlds in a column its median is a matter of chance as well, which the whole does not have.
    by_chance = normal_width(answer.ravel(), share.ravel()) * 1.2533 * float(np.sqrt((share**2).sum()))
    return NORMAL_95 * math.hypot(spread, by_chance)
