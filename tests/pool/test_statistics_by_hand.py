"""Statistics and FRAG of a handful of blocks, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.pool.blocks import BlockTable, numbers_led_by
from zsim.pool.fragmentation import (
    frag_weights,
    fragmentation,
    fragmentation_weights,
    pool_fragmentation,
    slab_fragmentation,
)
from zsim.pool.recipes.recipe import TopLevel
from zsim.pool.statistics import (
    describe,
    extents,
    free_segments,
    inner_gaps,
    mean_position,
    rank_correlation,
    run_lengths,
    slab_fill,
)
from zsim.scenario.layout import VdevSpec
from zsim.scenario.releases.profile import load_release

KIB, MIB = 1 << 10, 1 << 20
SLAB = MIB
MIRROR = TopLevel(VdevSpec.mirror(2), 12, SLAB, 4)
PAIR = (MIRROR, replace(MIRROR, slab_count=2))

Place = tuple[int, int, int]
"""Vdev, begin and size [KiB]."""


def table(*places: Place, meta: tuple[int, ...] = (), born: tuple[int, ...] = ()) -> BlockTable:
    """Return data blocks at these places, in traversal order; those of `meta` are indirect blocks."""
    count = len(places)
    vdev, begin, size = np.array(places, np.int64).reshape(-1, 3).T
    whole = np.ones(count, np.int64)
    is_meta = np.isin(np.arange(count), meta)
    columns = [np.stack([values, fill * whole, fill * whole], axis=1)
               for values, fill in ((vdev, -1), (begin * KIB, 0), (size * KIB, 0))]  # fmt: skip
    return BlockTable(
        objset=54 * whole, object=whole, level=is_meta.astype(np.int16), blkid=np.arange(count),
        is_metadata=is_meta, birth=np.array(born or range(count)), psize=size * KIB, lsize=size * KIB,
        dva_count=whole.astype(np.int16), dva_vdev=columns[0].astype(np.int32), dva_offset=columns[1],
        dva_asize=columns[2],
    )  # fmt: skip


BLOCKS = table(
    (0, 0, 128),
    (0, 128, 128),
    (0, 300, 4),
    (0, 1024, 1024),
    (0, 2048, 100),
    (1, 100, 28),
    (1, 128, 300),
    meta=(2,),
)


def test_what_lies_on_a_vdev_is_sorted_by_address() -> None:
    found = extents(table((0, 300, 4), (1, 0, 4), (0, 0, 100)), 0)
    assert found.row.tolist() == [2, 0]
    assert (found.start // KIB).tolist() == [0, 300]
    assert (found.gaps // KIB).tolist() == [200]
    copies = replace(BLOCKS, dva_vdev=np.where(np.arange(3) == 1, 0, BLOCKS.dva_vdev).astype(np.int32))
    assert len(extents(copies, 0).row) == 5 + 7


def test_runs_are_data_blocks_next_in_the_traversal_and_in_address() -> None:
    """128K twice, behind metadata 1M and what touches it, and on the other vdev two that touch."""
    assert run_lengths(BLOCKS).tolist() == [2, 2, 2]
    assert run_lengths(table((0, 4, 4), (0, 0, 4), (0, 4, 4))).tolist() == [1, 2]
    assert run_lengths(table((0, 0, 4), (1, 4, 4))).tolist() == [1, 1]


def test_metaslabs_are_as_full_as_what_is_in_them() -> None:
    assert (slab_fill(BLOCKS, PAIR) * 1024).tolist() == [260, 1024, 100, 0, 328, 0]


def test_gaps_do_not_cross_metaslabs_and_with_free_ends_they_are_all_that_is_free() -> None:
    assert (inner_gaps(BLOCKS, 0, MIRROR) // KIB).tolist() == [0, 44]
    slab, length = free_segments(BLOCKS, 0, MIRROR)
    found = sorted(zip(slab.tolist(), (length // KIB).tolist(), strict=True))
    assert found == [(0, 44), (0, 720), (2, 924), (3, 1024)]
    for number, vdev in enumerate(PAIR):
        free = free_segments(BLOCKS, number, vdev)[1].sum()
        used = int(BLOCKS.dva_asize[BLOCKS.dva_vdev == number].sum())
        assert free + used == vdev.slab_bytes * vdev.slab_count


def test_the_figures_of_a_population() -> None:
    found = describe(BLOCKS, PAIR)
    assert (found.data_blocks, found.indirect_blocks, found.other_blocks) == (6, 1, 0)
    assert found.allocated == 1712 * KIB == BLOCKS.allocated_bytes
    assert found.run_blocks == 2.0
    # Three gaps lie inside metaslabs: none, 44K, none.
    assert (found.exact, found.near, found.far) == pytest.approx((2 / 3, 1 / 3, 0.0))
    assert (found.near_gap, found.far_gap) == (44 * KIB, 0.0)
    assert found.holes.sum() == 7
    assert {int(k): int(found.holes[k]) for k in np.flatnonzero(found.holes)} == {3: 1, 4: 1, 7: 3, 8: 2}
    fills = np.array([260, 1024, 100, 0, 328, 0]) / 1024
    assert found.fill_spread == pytest.approx(fills.std())
    assert found.empty_slabs == pytest.approx(2 / 6)
    assert found.birth_order == found.traversal_order == 1.0
    away = describe(
        table((0, 0, 4), (0, 516, 4), (0, 1000 + 33, 4), (0, 1033 + 517, 4)),
        (replace(MIRROR, slab_bytes=4 * MIB),),
    )
    assert (away.exact, away.near, away.far) == (0.0, pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert (away.near_gap, away.far_gap) == (512 * KIB, pytest.approx(513 * KIB))
    nothing = describe(BLOCKS.take(np.zeros(7, bool)), PAIR)
    assert (nothing.data_blocks, nothing.run_blocks, nothing.position, nothing.exact) == (0, 0.0, 0.0, 1.0)


def test_where_there_is_nothing_to_take_the_mean_of_it_is_nought() -> None:
    touching = describe(table((0, 0, 4), (0, 4, 4)), PAIR)
    assert (touching.exact, touching.near, touching.far) == (1.0, 0.0, 0.0)
    assert (touching.near_gap, touching.far_gap) == (0.0, 0.0)
    edge = describe(table((0, 0, 4), (0, 4 + 512, 4)), PAIR)
    assert (edge.near, edge.near_gap, edge.far_gap) == (1.0, 512.0 * KIB, 0.0), "512 KiB are near"
    beyond = describe(table((0, 0, 4), (0, 4 + 516, 4)), PAIR)
    assert (beyond.far, beyond.near_gap, beyond.far_gap) == (1.0, 0.0, 516.0 * KIB)
    alone = describe(table((0, 0, 4), meta=(0,)), PAIR)
    assert (alone.data_blocks, alone.run_blocks, alone.exact) == (0, 0.0, 1.0)
    assert (alone.traversal_order, alone.birth_order) == (0.0, 0.0)
    assert mean_position(table(), PAIR) == 0.0


def test_free_segments_are_counted_by_powers_of_two_from_4_kib_up() -> None:
    """Of 12 GiB: 4K, 8K, and what is left, which is 2**33 and more."""
    wide = replace(MIRROR, slab_bytes=12 << 30, slab_count=1)
    found = describe(table((0, 4, 4), (0, 16, 4)), (wide,)).holes
    assert {power: int(found[power]) for power in np.flatnonzero(found)} == {0: 1, 1: 1, 21: 1}
    assert len(found) == 32


def test_all_addresses_of_a_vdev_lie_behind_those_of_the_one_before() -> None:
    backwards = describe(table((1, 0, 4), (0, 100, 4), (0, 52, 4), born=(3, 2, 1)), PAIR)
    assert (backwards.traversal_order, backwards.birth_order) == pytest.approx((-1.0, 1.0))


def test_the_roots_and_the_mos_are_neither_data_nor_indirect() -> None:
    levels = np.array([1, 1, 2, 0, 0, 0, 0], np.int16)
    objset, item = np.array([0, 54, 54, 54, 54, 54, 54]), np.array([1, 0, 1, 1, 1, 1, 1])
    kinds = replace(BLOCKS, objset=objset, object=item, level=levels, is_metadata=np.arange(7) < 3)
    found = describe(kinds, PAIR)
    assert (found.data_blocks, found.indirect_blocks, found.other_blocks) == (4, 1, 2)


def test_the_mean_position_is_that_of_the_bytes() -> None:
    assert mean_position(table((0, 0, 4)), (MIRROR,)) == 0.0
    assert mean_position(table((0, 1024, 4)), (MIRROR,)) == 0.25
    assert mean_position(table((0, 1024 + 512, 4), (0, 0, 12)), (MIRROR,)) == pytest.approx(0.375 / 4)
    assert mean_position(table((0, 2048, 8), (1, 1024, 8)), PAIR) == 0.5


def test_ranks_are_correlated_whatever_the_values() -> None:
    rising, falling = np.array([1, 5, 6, 100]), np.array([9, 3, 2, 1])
    assert rank_correlation(rising, falling) == pytest.approx(-1.0)
    assert rank_correlation(rising, rising**2) == pytest.approx(1.0)
    assert rank_correlation(rising[:2], falling[:2]) == 0.0
    assert rank_correlation(rising[:3], falling[:3]) == pytest.approx(-1.0)


def test_a_share_is_that_of_the_bytes_on_some_vdevs() -> None:
    assert BLOCKS.share_on([1]) == pytest.approx(328 / 1712)
    assert BLOCKS.share_on([0, 1]) == 1.0
    assert BLOCKS.share_on([5]) == 0.0
    assert BLOCKS.take(np.zeros(7, bool)).share_on([0]) == 1.0
    assert numbers_led_by(np.array([0, 1, 2, 3, -1]), 0).tolist() == [0, 1, 2, 3, -1]
    assert numbers_led_by(np.array([0, 1, 2, 3, -1]), 3).tolist() == [1, 2, 3, 0, -1]


TO_16M = (100, 100, 98, 95, 90, 80, 70, 60, 50, 40, 30, 20, 15, 10, 5, 0)
TO_512M = (100, 99, 97, 93, 88, 83, 77, 71, 64, 57, 50, 43, 36, 29, 23, 17, 12, 7, 3, 1, 0)
"""zfs_frag_table of metaslab.c, to 2.3.0 and since 2.3.1 [%]."""


@pytest.mark.parametrize(("release", "values"), [("2.3.0", TO_16M), ("2.3.1", TO_512M), ("0.7.13", TO_16M)])
def test_a_hole_counts_by_its_power_of_two_from_512_bytes_on(release: str, values: tuple[int, ...]) -> None:
    weights = fragmentation_weights(load_release(release))
    assert weights[:9].tolist() == [1.0] * 9
    assert (weights[9 : 9 + len(values)] * 100).tolist() == pytest.approx(list(values))
    assert not weights[9 + len(values) :].any()
    assert list(values) == sorted(values, reverse=True)
    with pytest.raises(InputError, match="knows no FRAG"):
        fragmentation_weights(load_release("freebsd-9.1"))


def holes(*found: dict[int, int]) -> np.ndarray:
    """Return a histogram of free segments for each metaslab."""
    made = np.zeros((len(found), 48), np.int64)
    for slab, each in enumerate(found):
        for power, count in each.items():
            made[slab, power] = count
    return made


def test_frag_of_a_metaslab_is_the_mean_over_its_free_space() -> None:
    """4K counts 95 %, 64K 60 %, 16M nothing."""
    found = slab_fragmentation(holes({12: 4}, {12: 16, 16: 1}, {24: 1}, {}), load_release("2.2.9"))
    assert found.tolist() == pytest.approx([0.95, (0.95 + 0.6) / 2, 0.0, 0.0])


def test_a_large_hole_of_a_miniature_stands_for_one_of_the_real_metaslab() -> None:
    """A metaslab of 1M that stands for 16M: more than a sixteenth of it counts as 16 times as large."""
    small = replace(MIRROR, stands_for=16 * MIB)
    release = load_release("2.2.9")
    values = np.array(TO_16M) / 100
    for power in (12, 16, 17, 19):
        real = power + 4 if power >= 17 else power
        assert slab_fragmentation(holes({power: 1}), release, small)[0] == pytest.approx(values[real - 9])
        assert slab_fragmentation(holes({power: 1}), release, MIRROR)[0] == pytest.approx(values[power - 9])
    same = replace(MIRROR, stands_for=MIB)
    assert slab_fragmentation(holes({17: 1}), release, same)[0] == pytest.approx(values[8])


def test_frag_of_a_pool_is_by_metaslab_to_2_3_and_by_free_space_in_2_4() -> None:
    made = holes({12: 1}, {16: 1}, {}, {20: 1}, {12: 3}, {12: 1})
    untouched = np.array([False, False, False, True, False, False])
    old, new = load_release("2.2.9"), load_release("2.4.4")
    first = (0.95 + 0.6) / 4
    # Weighed by size: four metaslabs, and two.
    assert pool_fragmentation(made, untouched, PAIR, old) == pytest.approx((4 * first + 2 * 0.95) / 6)
    assert pool_fragmentation(made, untouched, PAIR, old, of=(1,)) == pytest.approx(0.95)
    weights = fragmentation_weights(new)
    by_space = (4 * weights[12] + 64 * weights[16]) / (4 + 64 + 1024)
    wanted = (4 * by_space + 2 * weights[12]) / 6
    assert pool_fragmentation(made, untouched, PAIR, new) == pytest.approx(wanted, rel=1e-3)
    free = np.array([64, 64, 0, 0, 4, 4]) * KIB
    assert pool_fragmentation(made, untouched, PAIR, new, free) == pytest.approx(
        (4 * (weights[12] + weights[16]) / 2 + 2 * weights[12]) / 6, rel=1e-3
    )


def test_what_frag_is_made_of() -> None:
    special = replace(MIRROR, spec=replace(MIRROR.spec, alloc_class="special"))
    found = frag_weights((MIRROR, special, PAIR[1]), load_release("2.2.9"))
    assert found.sizes.tolist() == [4 * MIB, 0.0, 2 * MIB]
    assert not found.by_space
    assert frag_weights((MIRROR,), load_release("2.4.4")).by_space
    assert frag_weights((MIRROR, special), load_release("2.2.9"), (1,)).sizes.tolist() == [0.0, 4 * MIB]
    assert found.weights.shape == (3, 48)


def test_frag_of_blocks_is_that_of_the_holes_between_them() -> None:
    """One metaslab with holes of 4K and one of 512K, three that are free as a whole."""
    blocks = table(*[(0, 8 * k, 4) for k in range(64)])
    release = load_release("2.2.9")
    weights = fragmentation_weights(release)
    # 63 holes of 4K; behind the last block what is left, 512K and 4K, counts as 512K.
    mean = (63 * 4 * weights[12] + 512 * weights[19]) / (63 * 4 + 512)
    assert fragmentation(blocks, (MIRROR,), release) == pytest.approx(mean / 4)
    whole = replace(MIRROR, slab_count=1)
    assert fragmentation(blocks, (whole,), release) == pytest.approx(mean)
    by_space = fragmentation(blocks, (MIRROR,), load_release("2.4.4"))
    now = fragmentation_weights(load_release("2.4.4"))
    mean = (63 * 4 * now[12] + 512 * now[19]) / (63 * 4 + 512)
    assert by_space == pytest.approx(768 * mean / (768 + 3 * 1024), rel=1e-3)
