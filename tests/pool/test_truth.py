"""The population that a recipe gives, against what OpenZFS made of the same recipe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.pool.conftest import RealPool
from zsim.pool.blocks import BlockTable
from zsim.pool.measured.bps import recipe_from_config
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
    assert mean([each.run_blocks for each in found]) == pytest.approx(
        truth.run_blocks, rel=0.1 if real_pool.recipe.issue.group == 0 else 0.3
    )


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


def test_indirect_blocks_lie_behind_their_group_of_records() -> None:
    """In lists of RAID-Z pools of tiny files 47 % touch the next one; one by one, none would."""
    config = {
        "zfs": "2.3.9",
        "pool": {
            "layout": "raidz2x6", "ashift": 12, "leafmb": 512, "fill": 0.35, "pattern": "aged", "rec": 16,
            "rounds": 1, "owfrac": 0.25, "freefrac": 0.05, "txgmb": 32, "filekb": 96, "seed": 1,
        },
    }  # fmt: skip
    recipe = recipe_from_config(config)
    shares = []
    for late in (True, False):
        table = build_population(replace(recipe, issue=replace(recipe.issue, late_indirects=late)), 1)
        rows = (table.level == 1) & (table.object > 0) & (table.objset > 0)
        places = np.sort(table.dva_offset[rows, 0])
        shares.append(float((np.diff(places) == table.dva_asize[rows, 0].min()).mean()))
    assert recipe.issue.late_indirects
    assert shares[0] == pytest.approx(0.47, abs=0.05)
    assert shares[1] < 0.05


def rising_share(config: dict[str, object], *, throttled: bool) -> float:
    """Return how often, 40 blocks of one txg further on, the object has a higher number."""
    recipe = recipe_from_config(config)
    recipe = replace(recipe, issue=replace(recipe.issue, throttled=throttled))
    table = build_population(recipe, 1)
    data = table.take(~table.is_metadata)
    data = data.take(np.lexsort((data.dva_offset[:, 0], data.birth)))
    ahead, behind = slice(40, None), slice(None, -40)
    pairs = (
        (data.birth[ahead] == data.birth[behind])
        & (data.object[ahead] != data.object[behind])
        & (data.dva_offset[ahead, 0] - data.dva_offset[behind, 0] < 32 << 20)
    )
    return float((data.object[ahead] > data.object[behind])[pairs].mean())


def test_records_that_the_throttle_holds_back_are_placed_by_bookmark() -> None:
    """In the list of such a pool (16K records, 0.7.13 and 2.3.9) 81 and 93 % rise; unsorted, half would."""
    pool = {
        "layout": "mirror2", "ashift": 12, "leafmb": 512, "fill": 0.5, "pattern": "aged", "rec": 16,
        "rounds": 2, "owfrac": 0.25, "freefrac": 0.05, "txgmb": 16, "filekb": 1024, "seed": 1,
    }  # fmt: skip
    for release, least in (("0.7.13", 0.7), ("2.3.9", 0.8)):
        config: dict[str, object] = {"zfs": release, "pool": pool}
        assert rising_share(config, throttled=True) > least
        assert rising_share(config, throttled=False) < 0.62
        assert recipe_from_config(config).issue.throttled


def changes_of_object(table: BlockTable) -> float:
    """Return how many neighbours of one txg are records of different objects, per txg."""
    data = table.take(~table.is_metadata)
    data = data.take(np.lexsort((data.dva_offset[:, 0], data.birth)))
    changes = (data.birth[1:] == data.birth[:-1]) & (data.object[1:] != data.object[:-1])
    return float(changes.sum() / len(np.unique(data.birth)))


def test_queues_of_allocators_are_served_in_turn() -> None:
    """Lists of pools written once (2.1.5 and 2.3.9) have 3.1 and 3.6 changes a txg; file after file, one."""
    for release in ("2.1.5", "2.3.9"):
        config: dict[str, object] = {
            "zfs": release,
            "pool": {
                "layout": "raidz2x6", "ashift": 12, "leafmb": 512, "fill": 0.5, "pattern": "seq", "rec": 128,
                "rounds": 0, "owfrac": 0.25, "freefrac": 0.05, "txgmb": 16, "filekb": 16384, "seed": 1,
            },
        }  # fmt: skip
        recipe = recipe_from_config(config)
        at_once = replace(recipe, issue=replace(recipe.issue, throttled=False))
        assert changes_of_object(build_population(recipe, 1)) > 2.0
        assert changes_of_object(build_population(at_once, 1)) < 1.5


@pytest.mark.parametrize(("layout", "group"), [("raidz2x6", 4), ("raidz3x9", 5), ("mirror2", 1)])
def test_a_command_lets_as_many_records_go_as_it_wrote(layout: str, group: int) -> None:
    """Lists of 0.7.13: behind 100 records 128K of columns (4, 5 records), or a whole record, last first."""
    config: dict[str, object] = {
        "zfs": "0.7.13",
        "pool": {
            "layout": layout, "ashift": 12, "leafmb": 512, "fill": 0.4, "pattern": "seq", "rec": 128,
            "rounds": 0, "owfrac": 0.25, "freefrac": 0.05, "txgmb": 16, "filekb": 16384, "seed": 1,
        },
    }  # fmt: skip
    table = build_population(recipe_from_config(config), 1)
    data = table.take(~table.is_metadata)
    data = data.take(np.argsort(data.dva_offset[:, 0]))
    back = (data.object[1:] == data.object[:-1]) & (data.blkid[1:] == data.blkid[:-1] - 1)
    lengths = np.diff(np.flatnonzero(np.concatenate(([True], ~back, [True]))))
    turned = lengths[lengths > 1]
    assert (len(turned) > 0) == (group > 1)
    assert float((turned == group).mean() if len(turned) else 1.0) > 0.8
    assert 100 <= np.bincount(np.searchsorted(np.unique(data.birth), data.birth)).max() <= 136
