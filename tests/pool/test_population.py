from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zsim.pool.blocks import BlockTable
from zsim.pool.recipes.recipe import (
    FileSizes,
    Fill,
    KeepSnapshots,
    Overwrite,
    PoolRecipe,
    RecordClass,
    Refill,
    Remove,
    Snapshot,
    Step,
    TopLevel,
    pool_of,
)
from zsim.pool.recipes.styles import AllocatorStyle, allocator_style
from zsim.pool.simulator.population import HistoryError, HistoryRun, build_population
from zsim.pool.statistics import extents, mean_position, slab_fill
from zsim.scenario.layout import VdevSpec
from zsim.scenario.releases.profile import load_release
from zsim.vdevs.draid import draid_asize
from zsim.vdevs.mirror import mirror_asize
from zsim.vdevs.raidz import raidz_asize

KIB, MIB = 1 << 10, 1 << 20
RELEASES = ("freebsd-9.1", "0.6.5.11", "0.7.13", "0.8.6", "2.1.5", "2.2.9", "2.3.0", "2.3.9")
AGED: tuple[Step, ...] = (
    Fill(0.5),
    Overwrite(0.25),
    Remove(0.05),
    Fill(0.5),
    Overwrite(0.25),
    Remove(0.1),
    Fill(0.5),
)


def small_recipe(
    spec: VdevSpec | None = None, release: str = "2.3.9", steps: tuple[Step, ...] = AGED, **settings: object
) -> PoolRecipe:
    vdev = TopLevel(spec or VdevSpec.raidz(2, 6), 12, 32 * MIB, 14)
    style = allocator_style(load_release(release))
    chosen: dict[str, object] = {
        "files": FileSizes("uniform", 4 * MIB, 1 * MIB, 7 * MIB),
        "txg_bytes": 4 * MIB,
    }
    return PoolRecipe((vdev,), style, steps=steps, **{**chosen, **settings})  # type: ignore[arg-type]


def expected_asize(vdev: TopLevel, psize: int) -> int:
    spec = vdev.spec
    if spec.kind == "mirror":
        return mirror_asize(psize, vdev.ashift)
    if spec.kind == "draid":
        return draid_asize(psize, vdev.ashift, spec.data, spec.parity)
    return raidz_asize(psize, vdev.ashift, spec.children, spec.parity)


def check_places(table: BlockTable, recipe: PoolRecipe) -> None:
    """No two blocks overlap; each lies inside one metaslab, in whole units, with its psize's asize."""
    for number, vdev in enumerate(recipe.vdevs):
        found = extents(table, number)
        assert (found.gaps >= 0).all()
        slab = vdev.slab_of(found.start)
        inside = found.start - vdev.slab_starts()[slab]
        assert (inside % vdev.unit == 0).all()
        assert (inside + found.end - found.start <= vdev.slab_bytes).all()
    for row in range(0, len(table), 37):
        for copy in range(table.dva_count[row]):
            vdev = recipe.vdevs[table.dva_vdev[row, copy]]
            assert table.dva_asize[row, copy] == expected_asize(vdev, int(table.psize[row]))
    used = np.arange(3) < table.dva_count[:, None]
    assert ((table.dva_vdev >= 0) == used).all()


def check_order(table: BlockTable) -> None:
    """Parents come before their children and are no older than they."""
    last_parent: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for objset, item, level, blkid, birth in zip(
        table.objset.tolist(), table.object.tolist(), table.level.tolist(), table.blkid.tolist(),
        table.birth.tolist(), strict=True,
    ):  # fmt: skip
        if item == 0 or objset == 0:
            continue
        stack = last_parent.setdefault((objset, item), [])
        while stack and stack[-1][0] <= level:
            stack.pop()
        if stack:
            assert stack[-1][1] >= birth, (objset, item, level, blkid)
        stack.append((level, birth))


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("spec", [VdevSpec.mirror(2), VdevSpec.raidz(2, 6), VdevSpec.draid(1, 4, 8, 1)])
def test_blocks_do_not_overlap_and_parents_come_first(release: str, spec: VdevSpec) -> None:
    recipe = small_recipe(spec, release)
    table = build_population(recipe, 1)
    check_places(table, recipe)
    check_order(table)
    assert 0.47 < slab_fill(table, recipe.vdevs).mean() < 0.56


@settings(max_examples=25)
@given(
    spec=st.sampled_from([VdevSpec.mirror(3), VdevSpec.raidz(1, 3), VdevSpec.raidz(3, 9)]),
    release=st.sampled_from(RELEASES),
    recordsize=st.sampled_from([4 * KIB, 16 * KIB, 128 * KIB, 1 * MIB]),
    ratio=st.floats(0.1, 1.0),
    fill=st.floats(0.1, 0.7),
    datasets=st.integers(1, 3),
    vdevs=st.integers(1, 3),
    seed=st.integers(0, 2**32),
    steps=st.lists(
        st.sampled_from(
            [Overwrite(0.2), Overwrite(0.1, 1, 40), Remove(0.1), Snapshot(), KeepSnapshots(1), Refill()]
        ),
        max_size=5,
    ),
)
def test_any_history_leaves_a_sound_pool(
    spec: VdevSpec, release: str, recordsize: int, ratio: float, fill: float, datasets: int, vdevs: int,
    seed: int, steps: list[Step],
) -> None:  # fmt: skip
    base = small_recipe(spec, release)
    recipe = PoolRecipe(
        base.vdevs * vdevs,
        base.style,
        records=(RecordClass(recordsize, ratios=((ratio, 0.5), (1.0, 0.5))),),
        files=FileSizes("lognormal", 3 * MIB, 2 * KIB, 40 * MIB, 1.5),
        steps=(Fill(fill), *steps),
        datasets=datasets,
        txg_bytes=8 * MIB,
    )
    try:
        table = build_population(recipe, seed)
    except HistoryError:
        return  # several snapshots of a pool that is rather full
    check_places(table, recipe)
    check_order(table)


def test_same_seed_same_blocks_other_seed_others() -> None:
    recipe = small_recipe()
    first, again, other = (build_population(recipe, seed) for seed in (1, 1, 2))
    for field in fields(first):
        assert np.array_equal(getattr(first, field.name), getattr(again, field.name)), field.name
    assert len(first) != len(other) or not np.array_equal(first.dva_offset, other.dva_offset)


# Position of the data by fill, simulated from the rules of OpenZFS 2.2.9 without metadata.
SEGMENT = {0.10: 0.09, 0.25: 0.24, 0.40: 0.39, 0.50: 0.48, 0.60: 0.44, 0.70: 0.43, 0.80: 0.46, 0.90: 0.49}


def hardly_any_metadata(style: AllocatorStyle, fill: float) -> PoolRecipe:
    vdev = TopLevel(VdevSpec.mirror(2), 12, 256 * MIB, 200)
    return PoolRecipe(
        (vdev,),
        style,
        records=(RecordClass(MIB),),
        files=FileSizes("fixed", 64 * MIB),
        steps=(Fill(fill),),
        txg_bytes=8 * MIB,
        metadata_every=10**6,
    )


@pytest.mark.parametrize("fill", SEGMENT)
def test_segment_weight_spreads_data_over_the_drive(fill: float) -> None:
    recipe = hardly_any_metadata(AllocatorStyle(allocators=1, fill_empty=False), fill)
    assert mean_position(build_population(recipe), recipe.vdevs) == pytest.approx(SEGMENT[fill], abs=0.02)


@pytest.mark.parametrize("fill", SEGMENT)
def test_space_weight_packs_data_at_the_front(fill: float) -> None:
    style = allocator_style(load_release("0.6.5.11"))
    recipe = hardly_any_metadata(style, fill)
    assert mean_position(build_population(recipe), recipe.vdevs) == pytest.approx(fill / 2, abs=0.01)


def test_fresh_metaslabs_are_left_half_full_before_2_3_1_and_filled_since() -> None:
    fresh = {}
    for release, fill in (("2.3.0", 0.3), ("2.3.1", 0.5)):
        recipe = small_recipe(VdevSpec.mirror(2), release, (Fill(fill),), txg_bytes=MIB, metadata_every=100)
        fresh[release] = slab_fill(build_population(recipe, 3), recipe.vdevs)
    assert ((fresh["2.3.0"] > 0.05) & (fresh["2.3.0"] < 0.6)).sum() >= 5
    assert (fresh["2.3.1"] > 0.85).sum() >= 3


def test_top_level_vdevs_share_the_data_and_copies_go_to_different_ones() -> None:
    base = small_recipe(VdevSpec.mirror(2))
    recipe = PoolRecipe(base.vdevs * 3, base.style, files=base.files, steps=(Fill(0.4),), txg_bytes=4 * MIB)
    table = build_population(recipe, 1)
    shares = slab_fill(table, recipe.vdevs).reshape(3, -1).mean(axis=1)
    assert shares == pytest.approx(np.full(3, shares.mean()), rel=0.03)
    pairs = table.dva_vdev[table.dva_count == 2][:, :2]
    assert (pairs[:, 0] != pairs[:, 1]).all()


@pytest.mark.parametrize("release", ["2.1.5", "2.3.9"])
def test_copies_on_one_vdev_lie_in_different_metaslabs(release: str) -> None:
    recipe = small_recipe(release=release)
    table = build_population(recipe, 1)
    slabs = recipe.vdevs[0].slab_of(table.dva_offset)[table.dva_count == 2][:, :2]
    assert (slabs[:, 0] != slabs[:, 1]).all()


def test_copies_keep_an_eighth_of_the_vdev_apart_to_0_7() -> None:
    recipe = small_recipe(release="0.7.13", steps=(Fill(0.2),))
    table = build_population(recipe, 1)
    slabs = recipe.vdevs[0].slab_of(table.dva_offset)[table.dva_count == 2][:, :2]
    assert (abs(slabs[:, 0] - slabs[:, 1]) >= 14 / 8).mean() > 0.98


def test_snapshots_hold_what_is_overwritten() -> None:
    plain = build_population(small_recipe(steps=(Fill(0.3), Overwrite(0.3))), 1)
    held = build_population(small_recipe(steps=(Fill(0.3), Snapshot(), Overwrite(0.3))), 1)
    freed = build_population(small_recipe(steps=(Fill(0.3), Snapshot(), Overwrite(0.3), KeepSnapshots(0))), 1)
    data = [int(np.count_nonzero(~table.is_metadata)) for table in (plain, held, freed)]
    # Of 0.3 of the records written at random, some are written more than once.
    assert data[1] == pytest.approx((2.0 - np.exp(-0.3)) * data[0], rel=0.03)
    assert data[2] == pytest.approx(data[0], rel=0.01)
    objsets = np.unique(held.objset)
    assert len(objsets) == 3
    born = [held.birth[(held.objset == objset) & ~held.is_metadata].max() for objset in objsets[1:]]
    assert born[1] < born[0], "the snapshot's blocks are older than those only the live dataset has"


def test_a_pool_that_overflows_is_refused_in_one_sentence() -> None:
    with pytest.raises(HistoryError, match=r"full at \d+%: no hole is large enough"):
        build_population(small_recipe(steps=(Fill(1.0), Overwrite(0.5))), 1)


def test_metadata_of_128k_records_is_about_a_thousandth_and_of_8k_volumes_two_percent() -> None:
    shares = {}
    for recordsize in (8 * KIB, 128 * KIB):
        vdev = TopLevel(VdevSpec.mirror(2), 12, 64 * MIB, 20)
        recipe = PoolRecipe(
            (vdev,),
            AllocatorStyle(),
            records=(RecordClass(recordsize),),
            files=FileSizes("fixed", 256 * MIB, high=1 << 40),
            steps=(Fill(0.8),),
            txg_bytes=64 * MIB,
            metadata_every=100,
        )
        table = build_population(recipe, 1)
        indirect = table.dva_asize[(table.level > 0) & (table.object > 0)].sum()
        shares[recordsize] = float(indirect) / table.allocated_bytes
    assert 0.0005 < shares[128 * KIB] < 0.002
    assert 0.012 < shares[8 * KIB] < 0.025


def test_pool_of_cuts_drives_into_metaslabs_as_the_release_does() -> None:
    vdevs, style = pool_of("2*raidz2x6", 1 << 30, "2.3.9")
    assert [(vdev.slab_bytes, vdev.slab_count) for vdev in vdevs] == [(512 * MIB, 11)] * 2
    assert style.allocators == 4
    vdevs, style = pool_of("raidz2x6", 1 << 30, "0.7.13")
    assert (vdevs[0].slab_bytes, style.allocators) == (32 * MIB, 1)
    vdevs, _ = pool_of("raidz2x6", 4 * 10**12, "2.3.9")
    assert vdevs[0].slab_count == 4 * 10**12 * 6 // (16 << 30) - 1  # one metaslab is for the intent log


def test_the_last_table_is_that_of_any_moment_and_nothing_can_follow_it() -> None:
    recipe = small_recipe(steps=(Fill(0.3), Snapshot(), Overwrite(0.3)))
    run, other = HistoryRun(recipe, 3), HistoryRun(recipe, 3)
    for each in (run, other):
        each.run(*recipe.steps)
    fills, segments = run.vdev_fills, run.segments.copy()
    last, table = run.last_table(), other.table()
    for field in fields(table):
        assert np.array_equal(getattr(last, field.name), getattr(table, field.name)), field.name
    assert run.vdev_fills == fills
    assert np.array_equal(run.segments, segments)
    with pytest.raises(RuntimeError, match="no step can follow"):
        run.run(*recipe.steps)
