"""Recipes: metaslabs, vdevs that came later, how each release allocates, histories step by step."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.pool.recipes.histories import EmptyPool, history_names, history_recipe, load_history
from zsim.pool.recipes.recipe import (
    AddVdev,
    Fill,
    Growth,
    KeepSnapshots,
    Overwrite,
    PoolRecipe,
    RecordClass,
    Refill,
    Remove,
    Snapshot,
    TopLevel,
    pool_of,
    small_blocks,
)
from zsim.pool.recipes.styles import (
    BY_BYTES,
    BY_NUMBER,
    STICKY_FRAG,
    STICKY_NEVER,
    STICKY_UNTIL_FRAGMENTED,
    UNTHROTTLED,
    AllocatorStyle,
    allocator_style,
)
from zsim.pool.simulator import throttle
from zsim.scenario.layout import Layout, VdevSpec
from zsim.scenario.releases.profile import load_release

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
MIRROR, RAIDZ = VdevSpec.mirror(2), VdevSpec.raidz(1, 3)


def style(release: str, **host: bool | int) -> AllocatorStyle:
    return allocator_style(load_release(release), **host)  # type: ignore[arg-type]


def test_what_each_release_has_of_the_allocator() -> None:
    """Of metaslab.c at each tag; see the attributes of `AllocatorStyle`."""
    old, zol, seven, eight, two, modern, last = map(
        style, ("freebsd-9.1", "0.6.5.11", "0.7.13", "0.8.6", "2.1.5", "2.3.9", "2.4.4")
    )
    every = (old, zol, seven, eight, two, modern, last)
    assert [each.segment_weight for each in every] == [False, False, True, True, True, True, True]
    assert [each.frag_factor for each in every] == [False, True, True, True, True, True, True]
    assert [each.separate_metaslabs for each in every] == [False] * 3 + [True] * 4
    assert [each.log_space_maps for each in every] == [False] * 4 + [True] * 3
    assert [each.size_floor for each in every] == [0] * 4 + [16 * KIB] * 3
    assert [each.search_window for each in every] == [0] * 3 + [16 * MIB] * 4
    assert [each.aliquot_counts_parity for each in every] == [True] * 5 + [False] * 2
    assert [each.sync_threads for each in every] == [False] * 5 + [True] * 2
    assert [each.fill_empty for each in every] == [False] * 5 + [True] * 2
    assert [each.allocator_each_third for each in every] == [False] * 6 + [True]
    assert [each.throttle for each in every] == [UNTHROTTLED] * 2 + [BY_NUMBER] * 4 + [BY_BYTES]
    assert [each.sticky for each in every] == [STICKY_UNTIL_FRAGMENTED, *[STICKY_FRAG] * 6]
    assert [style(name).aliquot_counts_parity for name in ("2.1.5", "2.1.6")] == [True, False]
    assert {each.aliquot for each in every[:4]} == {512 * KIB}
    # Of 0.6.5 the threshold is the largest block, which had grown.
    assert [each.best_fit_below for each in every] == [128 * KIB, 16 * MIB, *[128 * KIB] * 5]
    assert {each.best_fit_free_percent for each in every} == {4}


def test_a_rule_holds_from_its_very_version_on() -> None:
    """Each at the version that brought it, and at the one before."""

    def at(version: str, **host: bool) -> AllocatorStyle:
        release = replace(load_release("2.2.9"), version=version, family="zol")
        return allocator_style(release, **host)  # type: ignore[arg-type]

    assert [at(each).frag_factor for each in ("0.6.3", "0.6.4")] == [False, True]
    assert [at(each).sticky for each in ("0.6.3", "0.6.4")] == [STICKY_UNTIL_FRAGMENTED, STICKY_FRAG]
    assert [at(each, rotating=False).lba_weight for each in ("0.6.1", "0.6.2")] == [True, False]
    assert [at(each).separate_metaslabs for each in ("0.7.13", "0.8")] == [False, True]
    assert [at(each).log_space_maps for each in ("0.8.6", "2.0")] == [False, True]
    assert [at(each).size_floor for each in ("0.8.6", "2.0")] == [0, 16 * KIB]


def test_the_switches_are_those_that_kernels_ask_for() -> None:
    assert (UNTHROTTLED, BY_NUMBER, BY_BYTES) == (throttle.NONE, throttle.SLOTS, throttle.BYTES)
    assert len({STICKY_NEVER, STICKY_FRAG, STICKY_UNTIL_FRAGMENTED}) == 3
    assert style("0.6.5.11").throttle == throttle.NONE


def test_a_pool_without_the_histograms_of_space_maps_allocates_by_space() -> None:
    plain = style("0.7.13", spacemap_histogram=False)
    assert (plain.segment_weight, plain.frag_factor, plain.sticky) == (False, False, STICKY_NEVER)


def test_outer_tracks_are_preferred_on_drives_that_turn_and_v28_does_not_ask() -> None:
    found = {name: (style(name, rotating=True).lba_weight, style(name, rotating=False).lba_weight)
             for name in ("freebsd-9.1", "0.6.5.11", "0.7.13", "2.3.9")}  # fmt: skip
    assert found.pop("freebsd-9.1") == (True, True)
    assert set(found.values()) == {(True, False)}


def test_tunables_of_the_allocator_are_those_that_are_set() -> None:
    def tuned(**values: int) -> AllocatorStyle:
        return allocator_style(load_release("2.2.9").with_tunables(values))

    assert not tuned(zfs_metaslab_segment_weight_enabled=0).segment_weight
    assert not tuned(metaslab_lba_weighting_enabled=0).lba_weight
    assert not tuned(metaslab_bias_enabled=0).biased
    assert tuned(metaslab_aliquot=3 * MIB).aliquot == 3 * MIB
    assert tuned(metaslab_df_max_search=5 * MIB).search_window == 5 * MIB
    assert tuned(metaslab_df_alloc_threshold=9 * KIB).best_fit_below == 9 * KIB
    assert tuned(metaslab_df_free_pct=11).best_fit_free_percent == 11
    assert tuned(zio_dva_throttle_enabled=0).throttle == UNTHROTTLED
    assert tuned(zfs_vdev_aggregation_limit=5).aggregated == 5
    deep = tuned(zfs_vdev_queue_depth_pct=700, zfs_vdev_async_write_max_active=10, zfs_vdev_def_queue_depth=9)
    assert (deep.first_depth, deep.most_depth) == (9, 70)
    shallow = tuned(
        zfs_vdev_queue_depth_pct=50, zfs_vdev_async_write_max_active=10, zfs_vdev_def_queue_depth=9
    )
    assert (shallow.first_depth, shallow.most_depth) == (5, 5)
    assert tuned(zfs_vdev_queue_depth_pct=1).most_depth == 1


def test_what_goes_to_the_special_class() -> None:
    plain = small_blocks(load_release("2.2.9"), 32 * KIB)
    assert (plain.largest, plain.percent, plain.volumes, plain.indirects) == (32 * KIB, 75, False, True)
    assert small_blocks(load_release("2.4.4"), 0).volumes
    tuned = load_release("2.2.9").with_tunables(
        {"zfs_special_class_metadata_reserve_pct": 40, "zfs_user_indirect_is_special": 0}
    )
    assert (small_blocks(tuned, 0).percent, small_blocks(tuned, 0).indirects) == (60, False)


def test_metaslabs_follow_one_another_or_stand_where_they_are_said_to() -> None:
    plain = TopLevel(MIRROR, 12, MIB, 5)
    assert plain.slab_starts().tolist() == [k * MIB for k in range(5)]
    assert plain.slab_of(np.array([0, MIB - 1, MIB, 5 * MIB - 1])).tolist() == [0, 0, 1, 4]
    assert plain.stretches == 1
    apart = replace(plain, starts=(0, MIB, 9 * MIB, 20 * MIB, 21 * MIB), stands_for=8 * MIB)
    assert apart.stretches == 3
    assert replace(plain, starts=(0, MIB + 4096)).stretches == 1, "less than an allocation is no gap"
    assert replace(plain, starts=(0, MIB + 8192)).stretches == 2
    assert apart.slab_of(np.array([9 * MIB, 9 * MIB - 1, 21 * MIB])).tolist() == [2, 1, 4]
    assert (plain.unit, TopLevel(RAIDZ, 12, MIB, 5).unit, TopLevel(RAIDZ, 9, MIB, 5).unit) == (
        4096,
        8192,
        1024,
    )
    assert (plain.row_bytes, TopLevel(RAIDZ, 12, MIB, 5).row_bytes) == (8192, 12288)


def test_metaslabs_of_a_draid_begin_at_whole_rows() -> None:
    draid = TopLevel(VdevSpec.draid(1, 2, 5, 1), 12, MIB, 7)
    starts = draid.slab_starts()
    assert (starts % draid.unit == 0).all()
    assert ((starts - np.arange(7) * MIB) < draid.unit).all()
    assert ((starts - np.arange(7) * MIB) >= 0).all()


def test_copies_of_a_reduced_population_take_no_place_twice() -> None:
    """Metaslabs of 1M at every 8M: between one and the next eight copies have room, in whole rows."""
    small = TopLevel(RAIDZ, 12, MIB, 3, (0, 8 * MIB, 16 * MIB), 8 * MIB)
    behind = [small.behind(number, 8) for number in range(8)]
    assert behind[0] == 0
    assert all(each % small.row_bytes == 0 for each in behind)
    assert all(later - earlier >= MIB - small.row_bytes for earlier, later in itertools.pairwise(behind))
    assert behind[7] + MIB <= 8 * MIB
    assert small.behind(1, 4) // small.row_bytes == 2 * MIB // small.row_bytes
    assert small.behind(1, 100) // small.row_bytes == MIB // small.row_bytes, "no nearer than they are long"
    assert replace(small, stands_for=0).behind(1, 4) == 0
    assert replace(small, starts=(0, MIB, 2 * MIB)).behind(1, 4) == 0
    alone = TopLevel(RAIDZ, 12, MIB, 1, (0,), 8 * MIB)
    assert alone.behind(1, 4) // small.row_bytes == 2 * MIB // small.row_bytes


def test_an_expanded_raidz_had_the_metaslabs_of_its_first_drives() -> None:
    grown = Layout.parse("raidz1x4+1").vdevs[0]
    assert TopLevel(grown, 12, MIB, 10).first_slabs == 8
    assert TopLevel(MIRROR, 12, MIB, 10).first_slabs == 10
    assert TopLevel(grown, 12, MIB, 2).first_slabs == 2
    assert TopLevel(grown, 12, MIB, 5, (0, 20 * MIB, 40 * MIB, 60 * MIB, 80 * MIB), 20 * MIB).first_slabs == 4


def test_a_metaslab_is_set_aside_for_the_log_where_there_are_more_than_64() -> None:
    (before,), _ = pool_of("mirror2", 1600 * GIB, "2.0.7")
    (since,), _ = pool_of("mirror2", 1600 * GIB, "2.1.5")
    assert since == replace(before, slab_count=before.slab_count - 1)
    # Labels and the room for booting take 4.5 MiB, metaslabs of small drives 512 MiB.
    for count in (64, 65):
        size = (512 * count + 5) * MIB
        found = [pool_of("mirror2", size, release)[0][0] for release in ("2.0.7", "2.1.5")]
        assert [each.slab_bytes for each in found] == [512 * MIB] * 2
        assert [each.slab_count for each in found] == [count, 64]
    (few,), _ = pool_of("mirror2", 40 * GIB, "2.3.9")
    assert few.slab_bytes * (few.slab_count + 1) > 39 * GIB
    with pytest.raises(InputError, match="from 64 MiB"):
        pool_of("mirror2", 20 * MIB, "2.3.9")


def test_drives_of_special_vdevs_have_a_size_of_their_own() -> None:
    same, _ = pool_of("mirror2+special:mirror2", 64 * GIB, "2.3.9")
    other, _ = pool_of("mirror2+special:mirror2", 64 * GIB, "2.3.9", special_bytes=16 * GIB)
    assert same[0].slab_count * same[0].slab_bytes == same[1].slab_count * same[1].slab_bytes
    assert other[0] == same[0]
    assert 3.5 < same[1].slab_bytes * same[1].slab_count / (other[1].slab_bytes * other[1].slab_count) < 4.5
    recipe = PoolRecipe(other, style("2.3.9"))
    assert recipe.normal == other[:1]
    assert recipe.space == other[0].slab_bytes * other[0].slab_count


def test_a_vdev_that_is_emptier_was_added_later() -> None:
    """Free shares keep their ratio: 0.2 and 0.8 now were a quarter and all when the second came."""
    grown = Growth.to_fills([0.8, 0.2], [100, 100])
    assert grown.stages == ((pytest.approx(0.75), (1,)),)
    assert grown.wanted == ((0, 0.8), (1, 0.2))
    assert grown.added == [1]
    three = Growth.to_fills([0.2, 0.8, 0.5, 0.8], [100, 100, 100, 300])
    # At first 1 and 3, 80 % full now; beside them 2, then 0.
    assert [added for _, added in three.stages] == [(2,), (0,)]
    assert [fill for fill, _ in three.stages] == pytest.approx(
        [1 - 0.2 / 0.5, 1 - (0.25 * 400 + 0.625 * 100) / 500]
    )
    assert three.added == [2, 0]
    assert three.steps == (Fill(three.stages[0][0]), AddVdev(2), Fill(three.stages[1][0]), AddVdev(0))
    assert Growth.to_fills([0.5, 0.5 + 1e-9], [1, 1]).stages == ()


def test_growth_of_some_vdevs_goes_by_their_places() -> None:
    grown = Growth(((0.5, (2, 3)), (0.6, (1,))), ((0, 0.9), (2, 0.4), (1, 0.1)))
    part = grown.among([0, 3, 2])
    assert part.stages == ((0.5, (2, 1)),)
    assert part.wanted == ((0, 0.9), (2, 0.4))


def test_a_pool_that_is_less_full_was_so_at_every_stage() -> None:
    """Half as full, but at no stage below the least."""
    grown = Growth(((0.5, (1,)), (0.03, (2,))), ((0, 0.8), (1, 0.2)))
    assert grown.less_full(0.5) == Growth(((0.25, (1,)), (0.02, (2,))), ((0, 0.4), (1, 0.1)))


def test_what_came_out_too_full_was_less_full_before() -> None:
    """The mean excess of those that were there is taken off, between the limits of a stage."""
    grown = Growth(((0.5, (1,)),), ((0, 0.8), (1, 0.2)))
    assert grown.corrected([0.85, 0.15]).stages == ((pytest.approx(0.45), (1,)),)
    assert grown.corrected([0.75, 0.25]).stages == ((pytest.approx(0.55), (1,)),)
    assert grown.corrected([0.8 + 0.6, 0.0]).stages == ((0.02, (1,)),)
    assert grown.corrected([0.1, 0.0]).stages == ((0.97, (1,)),)
    two = Growth(((0.5, (1,)), (0.6, (2,))), ((0, 0.8), (1, 0.5), (2, 0.2)))
    assert [fill for fill, _ in two.corrected([0.9, 0.5, 0.2]).stages] == pytest.approx([0.4, 0.55])
    special = Growth(((0.3, (4,)),), ((0, 0.8), (1, 0.2)))
    assert special.corrected([0.9, 0.3]).stages == special.stages, "one whose fill is not asked for"


@pytest.mark.parametrize("name", history_names())
def test_a_history_is_filled_aged_so_many_rounds_and_ends_at_its_fill(name: str) -> None:
    history = load_history(name)
    steps = history.steps(0.6)
    assert steps[-1] == Fill(0.6)
    assert steps[1:-1] == history.round_steps(0.6) * history.rounds
    assert history.steps(0.6, 2)[1:-1] == history.round_steps(0.6) * 2
    (first,) = history.first_steps(0.6)
    held = history.snapshots * (history.overwritten + history.removed)
    assert first == Fill(0.6 / (1 + held))
    kinds = [type(step) for step in history.round_steps(0.6)]
    wanted = [Snapshot, KeepSnapshots] if history.snapshots else []
    wanted += [Overwrite] if history.overwritten else []
    wanted += [Remove] if history.removed else []
    assert kinds == [*wanted, Refill if history.snapshots else Fill]
    assert history.files.low <= history.files.mean <= history.files.high


def test_the_mean_record_is_geometric_over_the_data() -> None:
    history = replace(load_history(), records=(RecordClass(4 * KIB, 3.0), RecordClass(64 * KIB, 1.0)))
    assert history.mean_record() == pytest.approx((3 * 12 + 16) / 4)
    assert {each.recordsize for each in history.with_recordsize(MIB).records} == {MIB}
    assert [each.share for each in history.with_recordsize(MIB).records] == [3.0, 1.0]


def test_a_history_on_a_pool_that_grew_has_aged_before() -> None:
    history, release = load_history("home-nas"), load_release("2.3.9")
    vdevs, own = pool_of("2*mirror2", 100 * GIB, release)
    plain = history_recipe(history, EmptyPool(vdevs, own, release), 0.6, 1)
    assert plain.steps == history.steps(0.6, 1)
    growing = EmptyPool(vdevs, own, release, growth=Growth(((0.4, (1,)),)))
    grown = history_recipe(history, growing, 0.6, 1)
    assert grown.steps == (*history.steps(0.4, 1), Fill(0.4), AddVdev(1), Fill(0.6))
    assert plain.metadata.pointers == 1024
    old = load_release("freebsd-9.1")
    assert history_recipe(history, EmptyPool(vdevs, own, old), 0.6).metadata.pointers == 128
