"""Repair time over the fill: simulated at a few fills, interpolated for each repair.

The simulator is asked at a few fills; between them the logarithm of the hours is linear.  One more fill tells
how far that is from the simulator itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from zsim.base.constants import Z90
from zsim.case.resolve import resolve
from zsim.planning.fleet.spec import Pools
from zsim.planning.risk.one_vdev.group import HOUR, Floats
from zsim.prediction.answer.records import Quantiles
from zsim.scenario.model import Scenario

GRID = 3
LEAST_FILL, MOST_FILL = 0.02, 0.98

HoursOf = Callable[[Scenario], Quantiles]
"""Gives the duration of a repair; `zsim.prediction` does."""


@dataclass(frozen=True, slots=True)
class FillResponse:
    """Duration of a repair by fill.

    Attributes
    ----------
    fills : ndarray, shape (points,)
        Rising.
    low, middle, high : ndarray, shape (points,)
        p10, p50 and p90 [s].
    error : float
        Half the relative distance between table and simulator at the fill held back; 0 if none was.
    """

    fills: Floats
    low: Floats
    middle: Floats
    high: Floats
    error: float = 0.0

    def hours(self, fill: Floats, score: Floats | float) -> Floats:
        """Return durations [s] at fills, and at a standard normal score within their spread."""
        middle, low, high = (
            np.exp(np.interp(fill, self.fills, np.log(each))) for each in (self.middle, self.low, self.high)
        )
        end = np.where(np.asarray(score) > 0, high, low)
        result: Floats = middle * (end / middle) ** (np.abs(score) / Z90)
        return result


def tabulated(pools: Pools, years: float, hours_of: HoursOf) -> FillResponse:
    """Return how long a repair takes over the fills that pools of one kind go through.

    Parameters
    ----------
    pools : Pools
        Their scenario, its fill now and what is added a year, or the hours that are stated.
    years : float
        How far the fleet is looked ahead.
    hours_of : callable
        Quantiles of a scenario's repair time [s].

    Returns
    -------
    FillResponse
        Predicted at `GRID` fills.  Its error is half the logarithm by which it misses a prediction between
        the first two [1].
    """
    if pools.hours is not None:
        seconds = np.array([pools.hours * HOUR])
        return FillResponse(np.zeros(1), seconds, seconds, seconds)
    if pools.scenario.pool_layout.is_plain:
        return without_repair()
    first, last = _fills(pools, years)
    if last - first < 0.01:
        return _table([first], [hours_of(pools.scenario)])
    fills = [first + (last - first) * place / (GRID - 1) for place in range(GRID)]
    table = _table(fills, [hours_of(_at_fill(pools.scenario, each)) for each in fills])
    between = 0.5 * (fills[0] + fills[1])
    truth = hours_of(_at_fill(pools.scenario, between)).p50
    told = float(table.hours(np.array([between]), 0.0)[0])
    return FillResponse(table.fills, table.low, table.middle, table.high, abs(math.log(told / truth)) / 2)


def without_repair() -> FillResponse:
    """Return the table of single drives, which nothing repairs: a second, of which there is a logarithm."""
    second = np.ones(1)
    return FillResponse(np.zeros(1), second, second, second)


def _fills(pools: Pools, years: float) -> tuple[float, float]:
    start = resolve(pools.scenario).fill
    end = start + pools.fill_per_year * years
    low, high = min(start, end), max(start, end)
    return max(LEAST_FILL, low), min(MOST_FILL, high)


def _at_fill(scenario: Scenario, fill: float) -> Scenario:
    """Return a pool at another fill, all its vdevs alike."""
    return scenario.replace(fill=fill, alloc=None, vdev_fills=None)


def _table(fills: list[float], found: list[Quantiles]) -> FillResponse:
    low, middle, high = (
        np.array([getattr(each, name) or each.p50 for each in found]) for name in ("p10", "p50", "p90")
    )
    return FillResponse(np.array(fills), low, middle, high)
