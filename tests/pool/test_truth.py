"""The population that a recipe gives, against what OpenZFS made of the same recipe."""

from __future__ import annotations

import numpy as np
import pytest

from tests.pool.conftest import RealPool
from zsim.pool.simulator.population import build_population
from zsim.pool.statistics import PopulationStatistics, describe

SEEDS = (1, 2, 3, 4)


def statistics_of(pool: RealPool) -> tuple[PopulationStatistics, list[PopulationStatistics]]:
    vdevs = pool.recipe.vdevs
    found = [describe(build_population(pool.recipe, seed), vdevs) for seed in SEEDS]
    return describe(pool.table, vdevs), found


def mean(values: list[float]) -> float:
    return float(np.mean(values))


def test_gaps_runs_and_holes_are_those_of_the_real_pool(real_pool: RealPool) -> None:
    truth, found = statistics_of(real_pool)
    assert mean([each.exact for each in found]) == pytest.approx(truth.exact, abs=0.04)
    assert mean([each.near for each in found]) == pytest.approx(truth.near, abs=0.04)
    assert mean([each.far for each in found]) == pytest.approx(truth.far, abs=0.015)
    assert mean([each.near_gap for each in found]) == pytest.approx(truth.near_gap, rel=0.2)
    if truth.far * (truth.data_blocks + truth.indirect_blocks) > 100:
        assert mean([each.far_gap for each in found]) == pytest.approx(truth.far_gap, rel=0.15)
    assert mean([each.run_blocks for each in found]) == pytest.approx(truth.run_blocks, rel=0.3)


def test_numbers_of_blocks_by_level_are_those_of_the_real_pool(real_pool: RealPool) -> None:
    truth, found = statistics_of(real_pool)
    assert mean([each.data_blocks for each in found]) == pytest.approx(truth.data_blocks, abs=256)
    assert mean([each.indirect_blocks for each in found]) == pytest.approx(truth.indirect_blocks, rel=0.15)
    assert mean([each.other_blocks for each in found]) == pytest.approx(truth.other_blocks, rel=0.15)
    assert mean([each.allocated for each in found]) == pytest.approx(truth.allocated, rel=0.035)


def test_place_and_order_are_those_of_the_real_pool(real_pool: RealPool) -> None:
    truth, found = statistics_of(real_pool)
    assert mean([each.position for each in found]) == pytest.approx(truth.position, abs=0.06)
    assert mean([each.fill_spread for each in found]) == pytest.approx(truth.fill_spread, abs=0.04)
    assert mean([each.empty_slabs for each in found]) == pytest.approx(truth.empty_slabs, abs=0.06)
    assert mean([each.traversal_order for each in found]) == pytest.approx(truth.traversal_order, abs=0.2)
    assert mean([each.birth_order for each in found]) == pytest.approx(truth.birth_order, abs=0.25)
