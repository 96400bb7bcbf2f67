from __future__ import annotations

import numpy as np
import pytest

from zsim.pool.miniature.ageing import AgedPool, aged_pool
from zsim.pool.miniature.shape import MAX_SLABS, Miniature, MiniatureSize, miniature_of, reduce_recipe
from zsim.pool.recipes.histories import EmptyPool, history_names, load_history
from zsim.pool.recipes.recipe import FileSizes, Fill, Overwrite, PoolRecipe, Remove, TopLevel, pool_of
from zsim.pool.simulator.population import HistoryRun
from zsim.pool.statistics import PopulationStatistics, describe
from zsim.scenario.releases.profile import load_release

MIB = 1 << 20
TB = 10**12


def recipe_for(layout: str, leaf: int, release: str = "2.3.9") -> PoolRecipe:
    vdevs, style = pool_of(layout, leaf, release)
    steps = (Fill(0.6), *(Overwrite(0.25), Remove(0.05), Fill(0.6)) * 3)
    return PoolRecipe(vdevs, style, files=FileSizes("lognormal", 16 * MIB), steps=steps)


def built(recipe: PoolRecipe, max_blocks: int, seed: int = 0, vdev: int = 0) -> Miniature:
    reduced, numbers = reduce_recipe(recipe, MiniatureSize(max_blocks), vdev)
    history = HistoryRun(reduced, seed)
    history.run(*reduced.steps)
    return miniature_of(recipe, history, numbers)


@pytest.mark.parametrize(
    "layout", ["mirror2", "raidz2x6", "3*raidz2x8", "20*raidz2x12", "100*draid2:8d:41c:2s"]
)
@pytest.mark.parametrize("leaf", [TB, 20 * TB])
def test_blocks_lie_at_real_addresses_whatever_the_size(layout: str, leaf: int) -> None:
    recipe = recipe_for(layout, leaf)
    small = built(recipe, 6000, seed=1, vdev=len(recipe.vdevs) - 1)
    table = small.table
    assert 5000 < np.count_nonzero(~table.is_metadata) < 7500
    assert sum(vdev.slab_count for vdev in small.recipe.vdevs) <= MAX_SLABS
    assert len(recipe.vdevs) - 1 in small.vdevs
    for number, vdev in zip(small.vdevs, small.recipe.vdevs, strict=True):
        real = recipe.vdevs[number]
        offsets = table.dva_offset[table.dva_vdev == number]
        if real.spec.kind == "draid":
            assert_in_heaps(vdev)
        else:
            assert (offsets % real.slab_bytes < vdev.slab_bytes + real.unit).all()
        assert offsets.max() > 0.8 * real.slab_bytes * real.slab_count
    used = np.isin(table.dva_vdev, small.vdevs)
    share = (
        table.dva_asize[used].sum()
        * small.scale
        / sum(recipe.vdevs[number].slab_bytes * recipe.vdevs[number].slab_count for number in small.vdevs)
    )
    assert share == pytest.approx(0.6, abs=0.02)


def assert_in_heaps(vdev: TopLevel) -> None:
    """Metaslabs of a dRAID stand in at least four heaps, so that many children work at a time."""
    starts = vdev.slab_starts()
    gaps = np.diff(starts)
    assert (gaps >= vdev.slab_bytes).all()
    heaps = 1 + np.count_nonzero(gaps > vdev.slab_bytes + vdev.unit)
    assert 4 <= heaps < vdev.slab_count
    group = (vdev.spec.data + vdev.spec.parity) * (16 << 20)
    assert heaps == 4 or vdev.slab_count * vdev.slab_bytes / heaps >= 4 * group


def test_a_small_pool_is_built_exactly() -> None:
    recipe = recipe_for("mirror2", 4 << 30)
    small = built(recipe, 60_000)
    assert small.scale == 1.0
    assert small.recipe == recipe


def average(found: list[PopulationStatistics], name: str) -> float:
    return float(np.mean([getattr(each, name) for each in found]))


def states_of(name: str, blocks: int, release: str, seeds: range) -> list[PopulationStatistics]:
    profile = load_release(release)
    pool = EmptyPool(*pool_of("raidz2x6", 4 * TB, profile), profile)
    aged: list[AgedPool] = [
        aged_pool(load_history(name), pool, 0.6, size=MiniatureSize(blocks), seed=seed) for seed in seeds
    ]
    return [describe(each.miniature.table, each.miniature.recipe.vdevs) for each in aged]


@pytest.mark.parametrize("release", ["0.7.13", "2.3.9"])
@pytest.mark.parametrize("name", history_names())
def test_halving_the_scale_changes_nothing(name: str, release: str) -> None:
    half, full = (states_of(name, blocks, release, range(4)) for blocks in (15_000, 30_000))
    for share in ("exact", "near", "far"):
        assert average(half, share) == pytest.approx(average(full, share), abs=0.03), share
    if average(full, "near") > 0.02:
        assert average(half, "near_gap") == pytest.approx(average(full, "near_gap"), rel=0.15)
    if average(full, "far") > 0.005:
        assert average(half, "far_gap") == pytest.approx(average(full, "far_gap"), rel=0.4)
    assert average(half, "position") == pytest.approx(average(full, "position"), abs=0.06)


def test_exact_and_miniature_agree_on_a_pool_small_enough_for_both() -> None:
    vdevs, style = pool_of("raidz2x6", 16 << 30, "2.3.9")
    steps = (Fill(0.6), *(Overwrite(0.25), Remove(0.05), Fill(0.6)) * 2)
    recipe = PoolRecipe(vdevs, style, files=FileSizes("lognormal", 16 * MIB), steps=steps, txg_bytes=64 * MIB)
    exact = built(recipe, 10_000_000)
    assert exact.scale == 1.0
    whole = describe(exact.table, recipe.vdevs)
    parts = []
    for seed in range(3):
        small = built(recipe, 15_000, seed)
        assert small.scale > 8
        parts.append(describe(small.table, small.recipe.vdevs))
    for share in ("exact", "near", "far"):
        assert average(parts, share) == pytest.approx(getattr(whole, share), abs=0.03), share
    assert average(parts, "near_gap") == pytest.approx(whole.near_gap, rel=0.1)
    assert average(parts, "far_gap") == pytest.approx(whole.far_gap, rel=0.25)
    assert average(parts, "run_blocks") == pytest.approx(whole.run_blocks, rel=0.2)
