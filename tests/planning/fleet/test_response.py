"""Hours of a repair by fill: at the fills that are asked, between them, and how far off that is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from zsim.base.constants import Z90
from zsim.planning.fleet.api import _enough, fleet
from zsim.planning.fleet.response import FillResponse, tabulated
from zsim.planning.fleet.spec import Fleet, Pools
from zsim.planning.risk.one_vdev.group import HOUR
from zsim.prediction.answer.records import Quantiles
from zsim.scenario.model import Scenario


def pools(**stated: Any) -> Pools:
    return Pools.read({"name": "a", "count": 1, "layout": "mirror2", **stated})


def rising(scenario: Scenario) -> Quantiles:
    """Ten hours at a fill of a tenth, and twice as long with each tenth more."""
    assert scenario.fill is not None
    assert scenario.alloc is None
    middle = 10 * HOUR * 2 ** (10 * scenario.fill - 1)
    return Quantiles(p10=0.5 * middle, p50=middle, p90=3 * middle)


def test_stated_hours_are_those_at_any_fill_and_score() -> None:
    table = tabulated(pools(hours=12), 5.0, rising)
    assert table.hours(np.array([0.0, 0.3, 1.0]), 1.5).tolist() == pytest.approx([12 * HOUR] * 3)
    assert table.error == 0.0


@pytest.mark.parametrize(("fill", "a_year", "fills"), [
    (0.2, 0.1, [0.2, 0.4, 0.6]), (0.6, -0.1, [0.2, 0.4, 0.6]), (0.5, 0.2, [0.5, 0.74, 0.98]),
    (0.1, -0.1, [0.02, 0.06, 0.1]), (0.3, 0.0, [0.3]), (0.3, 0.002, [0.3]),
    (0.3, 0.0026, [0.3, 0.3052, 0.3104]),
])  # fmt: skip
def test_the_simulator_is_asked_where_the_pools_go_within_the_years(
    fill: float, a_year: float, fills: list[float]
) -> None:
    table = tabulated(pools(fill=fill, fill_per_year=a_year), 4.0, rising)
    assert table.fills.tolist() == pytest.approx(fills)
    assert table.middle.tolist() == pytest.approx([10 * HOUR * 2 ** (10 * each - 1) for each in fills])


def test_between_two_fills_the_logarithm_is_linear_and_what_grows_so_is_met() -> None:
    table = tabulated(pools(fill=0.2, fill_per_year=0.1), 4.0, rising)
    assert float(table.hours(np.array([0.3]), 0.0)[0]) == pytest.approx(40 * HOUR)
    assert table.error == pytest.approx(0.0, abs=1e-12)


def test_the_error_is_half_the_logarithm_by_which_the_middle_is_missed() -> None:
    """Hours in proportion to the fill: between 2 and 4 the geometric mean is told, and 3 is true."""

    def proportional(scenario: Scenario) -> Quantiles:
        assert scenario.fill is not None
        return Quantiles(p50=100 * HOUR * scenario.fill)

    table = tabulated(pools(fill=0.2, fill_per_year=0.1), 4.0, proportional)
    assert table.error == pytest.approx(math.log(3 / math.sqrt(8)) / 2)
    assert table.low.tolist() == table.high.tolist() == table.middle.tolist(), "no interval, no spread"


def test_a_score_goes_to_p90_above_the_median_and_to_p10_below() -> None:
    one = np.array([0.4])
    table = FillResponse(one, 0.5 * one, 2.0 * one, 8.0 * one)
    assert float(table.hours(one, 0.0)[0]) == pytest.approx(0.8)
    assert float(table.hours(one, Z90)[0]) == pytest.approx(3.2)
    assert float(table.hours(one, -Z90)[0]) == pytest.approx(0.2)
    assert float(table.hours(one, 2 * Z90)[0]) == pytest.approx(0.8 * 4**2)


@pytest.mark.parametrize(("share", "enough"), [(0.5, 1), (0.51, 2), (0.75, 2), (0.9, 3), (0.95, 4), (1.0, 4)])
def test_so_many_are_enough_that_a_share_of_the_failures_finds_fewer_before_them(
    share: float, enough: int
) -> None:
    """Ten failures find none before them, five one, three two, two three."""
    assert _enough(np.array([10, 5, 3, 2]), share) == enough
    assert _enough(np.array([0, 0]), share) == 0


def test_progress_rises_to_the_whole() -> None:
    seen: list[float] = []
    asked = Fleet.from_dict(
        {"years": 5, "trials": 50, "pool": [{"name": "a", "count": 2, "layout": "mirror2", "hours": 24}]}
    )
    fleet(asked, lambda share, _: seen.append(share))
    assert seen == sorted(seen)
    assert 0.0 <= seen[0] < seen[-1] == 1.0
