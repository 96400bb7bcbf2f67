"""What of a large pool is in its miniature, and which windows of a long list, by arithmetic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.pool.test_statistics_by_hand import KIB, MIB, table
from zsim.base.errors import InputError
from zsim.pool.measured.block_list import KnownBlocks, chosen_vdevs, sample_blocks, space_of
from zsim.pool.measured.bps import expanded_word, recipe_from_config
from zsim.pool.measured.windows import (
    MAX_BINS,
    MAX_WINDOWS,
    MIN_BIN_BYTES,
    MIN_WINDOWS,
    AddressWindows,
    RowWindows,
    address_windows,
    bin_bytes,
    bytes_on,
    dropped_places,
    keep_rows,
    occupied_bins,
    with_copies_inside,
)
from zsim.pool.miniature.census import one_in, thinned, tree_shares
from zsim.pool.miniature.shape import (
    FILES_PER_POOL,
    FILL_SHARE,
    LEAST_TXGS,
    MAX_SLABS,
    MIN_FILE_BYTES,
    MIN_SLAB_BYTES,
    MIN_TXG_BYTES,
    TXG_SHARE,
    Miniature,
    MiniatureSize,
    _reduce_vdev,
    fitted,
    reduce_recipe,
)
from zsim.pool.miniature.spreading import spread
from zsim.pool.recipes.recipe import (
    AddVdev,
    Expand,
    FileSizes,
    Fill,
    MetadataSizes,
    Overwrite,
    PoolRecipe,
    RecordClass,
    Remove,
    Snapshot,
    TopLevel,
    pool_of,
)
from zsim.pool.simulator.files import expansion, mean_record_bytes
from zsim.scenario.layout import VdevSpec
from zsim.vdevs.kind import kind_of

GIB, TB = 1 << 30, 10**12


def recipe(layout: str, leaf: int = 4 * TB, fill: float = 0.5, **settings: object) -> PoolRecipe:
    vdevs, style = pool_of(layout, leaf, "2.3.9")
    return PoolRecipe(vdevs, style, steps=(Fill(fill),), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("layout", ["mirror2", "raidz2x6", "3*raidz2x8", "20*raidz2x12", "draid2:8d:41c:2s"])
@pytest.mark.parametrize("blocks", [2000, 30_000])
@pytest.mark.parametrize("fill", [0.1, 0.9])
def test_a_miniature_has_room_for_so_many_blocks_in_whole_halvings_of_metaslabs(
    layout: str, blocks: int, fill: float
) -> None:
    real = recipe(layout, fill=fill)
    small, numbers = reduce_recipe(real, MiniatureSize(blocks), vdev=len(real.vdevs) - 1)
    held = small.space * fill / expansion(real) / mean_record_bytes(real)
    least = 2 * len(numbers) * MIN_SLAB_BYTES * fill / expansion(real) / mean_record_bytes(real)
    assert 0.9 * blocks < held < max(1.1 * blocks, 1.5 * least)
    assert len(numbers) == min(4, len(real.vdevs))
    assert len(real.vdevs) - 1 in numbers
    assert list(numbers) == sorted(set(numbers))
    assert sum(each.slab_count for each in small.vdevs) <= MAX_SLABS
    for number, each in zip(numbers, small.vdevs, strict=True):
        whole = real.vdevs[number]
        assert each.stands_for == whole.slab_bytes
        assert each.slab_count >= 2
        assert each.slab_bytes >= min(MIN_SLAB_BYTES, whole.slab_bytes) // 2
        ratio = whole.slab_bytes / each.slab_bytes
        if not kind_of(whole.spec.kind).is_row_aligned:
            assert ratio == 2 ** round(np.log2(ratio))
        starts = each.slab_starts()
        assert (np.diff(starts) >= each.slab_bytes).all(), "none overlap"
        assert starts[-1] + each.slab_bytes <= whole.slab_bytes * whole.slab_count
        assert starts[0] >= 0


@pytest.mark.parametrize(("record", "blocks"), [(MIB, 2_000), (4 * MIB, 2_000), (16 * KIB, 30_000)])
def test_a_reduced_metaslab_holds_forty_blocks_and_is_of_two_mebibytes_at_least(
    record: int, blocks: int
) -> None:
    """Halved from its size as often as leaves it no smaller: less than twice as much."""
    real = recipe("mirror2", records=(RecordClass(record),))
    (small,) = reduce_recipe(real, MiniatureSize(blocks))[0].vdevs
    least = max(2 * MIB, 40 * record * expansion(real))
    assert least <= small.slab_bytes
    room = small.slab_bytes * small.slab_count
    assert small.slab_bytes < 2 * max(least, room / MAX_SLABS)


def test_a_metaslab_is_halved_only_as_long_as_sixteen_allocations_fit() -> None:
    """A RAID-Z2 with 4K sectors allocates 12 KiB at least: of 512 MiB, 256 KiB hold 16, the next half not."""
    level = TopLevel(VdevSpec.raidz(2, 6), 12, 512 * MIB, 100)
    assert _reduce_vdev(level, 1e-5, 192, 1, heaps=0).slab_bytes == 256 * KIB
    assert _reduce_vdev(level, 1e-5, 192, 1, heaps=0).slab_count == 2


def test_a_metaslab_of_a_draid_lies_on_all_drives_twice_at_least() -> None:
    """Of 16 MiB on each of 40 children, whatever the blocks; a scan finds the metaslabs in four heaps."""
    real = recipe("draid2:8d:42c:2s")
    for heaps, few in ((8, True), (0, False)):
        (small,) = reduce_recipe(real, MiniatureSize(150_000, heaps=heaps, turns=True))[0].vdevs
        assert small.slab_bytes >= 2 * 40 * 16 * MIB
        assert (small.stretches == 4) is few
        # Few blocks lie in some eight all the same, and those of a rebuild in as many as of other vdevs.
        (few_blocks,) = reduce_recipe(real, MiniatureSize(3_000, heaps=heaps, turns=True))[0].vdevs
        assert 6 <= few_blocks.slab_count <= 10
        assert reduce_recipe(real, MiniatureSize(150_000, heaps=heaps))[0].vdevs[0].slab_bytes < 40 * 16 * MIB


def test_metaslabs_are_spread_evenly_or_stand_in_heaps() -> None:
    real = recipe("raidz2x6")
    (plain,) = reduce_recipe(real, MiniatureSize(20_000))[0].vdevs
    gaps = np.diff(plain.slab_starts()) / real.vdevs[0].slab_bytes
    assert gaps.max() - gaps.min() <= 1
    (heaped,) = reduce_recipe(real, MiniatureSize(20_000, heaps=8))[0].vdevs
    assert (heaped.slab_bytes, heaped.slab_count) == (plain.slab_bytes, plain.slab_count)
    assert 8 <= heaped.stretches < heaped.slab_count
    starts = heaped.slab_starts()
    middle = (starts[0] + starts[-1] + heaped.slab_bytes) / 2
    assert middle == pytest.approx(real.vdevs[0].slab_bytes * real.vdevs[0].slab_count / 2, rel=0.02)


def test_what_fits_is_built_whole() -> None:
    real = recipe("mirror2", 4 * GIB)
    small, numbers = reduce_recipe(real, MiniatureSize(10**6))
    assert small is real
    assert numbers == (0,)


def test_vdevs_are_evenly_spaced_with_the_one_that_matters() -> None:
    real = recipe("20*raidz2x6")
    assert reduce_recipe(real, MiniatureSize(5000), vdev=0)[1] == (0, 5, 10, 15)
    assert reduce_recipe(real, MiniatureSize(5000), vdev=7)[1] == (2, 7, 12, 17)
    assert reduce_recipe(real, MiniatureSize(5000, vdevs=2), vdev=7)[1] == (7, 17)


def test_a_special_vdev_keeps_its_share_of_all_data_vdevs_and_steps_go_by_place() -> None:
    real = recipe("8*mirror2+special:mirror2")
    real = replace(real, steps=(Fill(0.2), AddVdev(8), AddVdev(1), AddVdev(2), Fill(0.5)))
    small, numbers = reduce_recipe(real, MiniatureSize(20_000))
    assert numbers == (0, 2, 4, 6, 8)
    data = small.vdevs[0].slab_bytes * small.vdevs[0].slab_count
    special = small.vdevs[4].slab_bytes * small.vdevs[4].slab_count
    # It stands for all eight, of which half are there.
    assert special / data == pytest.approx(4 / 8, rel=0.1)
    assert small.steps == (Fill(0.2), AddVdev(4), AddVdev(1), Fill(0.5))


@pytest.mark.parametrize("blocks", [9_375, 75_000, 300_000])
@pytest.mark.parametrize("layout", ["raidz2x6", "raidz1x3", "raidz2x8", "raidz1x5"])
def test_metaslabs_begin_on_the_children_that_those_of_the_pool_begin_on(layout: str, blocks: int) -> None:
    """Small blocks leave out the same children until something else comes between."""
    real = recipe(layout)
    small, _ = reduce_recipe(real, MiniatureSize(blocks, slabs=64, heaps=16))
    shares = []
    for level in (real.vdevs[0], small.vdevs[0]):
        children = (level.slab_starts() >> level.ashift) % level.spec.children
        shares.append(np.bincount(children, minlength=level.spec.children) / level.slab_count)
    assert shares[1] == pytest.approx(shares[0], abs=0.16)
    starts = small.vdevs[0].slab_starts()
    assert (np.diff(starts) >= small.vdevs[0].slab_bytes).all()


def test_txgs_and_files_are_small_shares_of_a_miniature() -> None:
    real = recipe("raidz2x6", txg_bytes=GIB)
    small, _ = reduce_recipe(real, MiniatureSize(20_000))
    held = small.space / expansion(real)
    assert small.txg_bytes == int(max(held * TXG_SHARE, MIN_TXG_BYTES))
    assert small.metadata_every == round(GIB / small.txg_bytes)
    assert small.fill_parts == int(min(small.metadata_every, held * FILL_SHARE / small.txg_bytes))
    stored = real.highest_fill * held
    assert small.piece_bytes == max(int(stored / FILES_PER_POOL), MIN_FILE_BYTES)
    assert not small.whole_files
    empty, _ = reduce_recipe(recipe("raidz2x6", fill=0.0001, txg_bytes=GIB), MiniatureSize(2000))
    stored = 0.0001 * empty.space / expansion(empty)
    assert empty.txg_bytes <= stored / LEAST_TXGS


def test_a_pool_built_whole_has_no_lump_that_decides_how_full_it_is() -> None:
    """A file and a txg are at most so small a share of what is stored, or are cut."""
    style = pool_of("mirror2", 4 * GIB, "2.3.9")
    stored = 0.5 * style[0][0].slab_bytes * style[0][0].slab_count
    large = int(stored / (FILES_PER_POOL - 1))
    for txg, size, cut in ((MIB, MIB, False), (large, MIB, True), (MIB, large, True)):
        made = PoolRecipe(*style, steps=(Fill(0.5),), txg_bytes=txg, files=FileSizes("fixed", size))
        found = fitted(made)
        assert (found is not made) == cut
        if cut:
            assert found.piece_bytes <= large
            assert found.txg_bytes <= stored / LEAST_TXGS


def test_a_miniature_s_own_numbers_are_places_in_its_recipe() -> None:
    blocks = table((2, 0, 4), (5, 0, 4), (9, 0, 4))
    small = Miniature(blocks, 1.0, recipe("2*mirror2"), (2, 5))
    assert small.own_table().dva_vdev[:, 0].tolist() == [0, 1, -1]
    assert small.own_table().dva_vdev[:, 1].tolist() == [-1] * 3
    same = Miniature(blocks, 1.0, recipe("2*mirror2"), (0, 1))
    assert same.own_table() is blocks


@pytest.mark.parametrize(
    ("count", "share"), [(10, 0.0), (10, 1.0), (10, 0.3), (7, 0.5), (1, 0.4), (0, 0.5), (1000, 0.123)]
)
def test_one_in_so_many_is_kept_evenly(count: int, share: float) -> None:
    kept = one_in(count, share)
    assert len(kept) == count
    assert kept.sum() == int(np.floor(count * share + 0.5))
    places = np.flatnonzero(kept)
    if len(places) > 1:
        assert np.diff(places).max() - np.diff(places).min() <= 1


def shares(size: int, record: int, pointers: int = 128, piece: int = 0) -> np.ndarray:
    made = recipe(
        "mirror2", records=(RecordClass(record),), files=FileSizes("fixed", size), piece_bytes=piece
    )
    return tree_shares(replace(made, metadata=MetadataSizes(pointers=pointers)))


def test_blocks_above_the_records_are_as_many_as_hold_their_pointers() -> None:
    """A file of 300 records has three indirect blocks and one above them; of 1 record none."""
    assert shares(300 * 4 * KIB, 4 * KIB)[:4] == pytest.approx([1 / 300, 3 / 300, 1 / 300, 0])
    assert shares(4 * KIB, 4 * KIB)[:3] == pytest.approx([1.0, 0.0, 0.0])
    assert shares(2 * 4 * KIB, 4 * KIB)[:3] == pytest.approx([0.5, 0.5, 0.0])
    assert shares(128 * 4 * KIB, 4 * KIB)[1:3] == pytest.approx([1 / 128, 0.0])
    cut = shares(300 * 4 * KIB, 4 * KIB, piece=100 * 4 * KIB)
    assert cut[:3] == pytest.approx([1 / 100, 1 / 100, 0.0])


def test_of_metadata_as_much_is_left_as_the_real_pool_has() -> None:
    """Files of 300 records, in pieces of 100: each has three indirect blocks, and a dnode where three are."""
    made = recipe("mirror2", records=(RecordClass(4 * KIB),), files=FileSizes("fixed", 300 * 4 * KIB),
                  piece_bytes=100 * 4 * KIB, metadata=MetadataSizes(pointers=128))  # fmt: skip
    kinds = {"mos": (0, 5, 0, 8), "root": (54, 0, -1, 1), "top": (54, 0, 2, 1), "above": (54, 0, 1, 4),
             "dnodes": (54, 0, 0, 9), "indirect": (54, 7, 1, 9), "data": (54, 7, 0, 900)}  # fmt: skip
    rows = [(objset, item, level) for objset, item, level, count in kinds.values() for _ in range(count)]
    objset, item, level = np.array(rows).T
    blocks = table(*[(0, 8 * k, 4) for k in range(len(rows))])
    birth = np.where((objset == 0) & (np.arange(len(rows)) < 6), 1, 50)
    blocks = replace(blocks, objset=objset, object=item, level=level.astype(np.int16), birth=birth,
                     is_metadata=~((level == 0) & (item > 0) & (objset > 0)))  # fmt: skip
    left = thinned(blocks, made)

    def count(*kind: int) -> int:
        return int(((left.objset == kind[0]) & (left.object == kind[1]) & (left.level == kind[2])).sum())

    assert count(0, 5, 0) == 2, "what the last txg wrote"
    assert count(54, 0, -1) == count(54, 0, 2) == 0
    # Of 900 records a few dnodes: one block above theirs, and always the first.
    assert 1 <= count(54, 0, 1) <= 2
    assert left.blkid[(left.object == 0) & (left.level == 1)][0] == 8 + 1 + 1
    assert count(54, 0, 0) == 3
    assert count(54, 7, 1) == 9, "100 records have one, 300 three"
    assert count(54, 7, 0) == 900


def test_pieces_of_a_miniature_move_apart_in_their_order() -> None:
    """Runs of four blocks a gap apart in two metaslabs of 1M, spread over sixteen times as much."""
    reduced = TopLevel(VdevSpec.mirror(2), 12, MIB, 2, (0, 16 * MIB), 16 * MIB)
    real = TopLevel(VdevSpec.mirror(2), 12, 16 * MIB, 2)
    places = [
        (0, base + 20 * run + 4 * k, 4) for base in (0, 16 * 1024) for run in range(40) for k in range(4)
    ]
    before = table(*places)
    after = spread(before, 0, reduced, real, jumps=8)
    old, new = before.dva_offset[:, 0], after.dva_offset[:, 0]
    assert (np.diff(new) > 0).all()
    shifts = new - old
    assert (shifts % reduced.row_bytes == 0).all()
    pieces = 1 + np.count_nonzero(np.diff(shifts))
    assert pieces in {79 // 8, 79 // 8 + 1}, "by the jumps, and one more where a heap begins"
    cuts = np.flatnonzero(np.diff(shifts)) + 1
    assert (cuts % 4 == 0).all(), "runs are not cut"
    assert new[-1] < 32 * MIB
    assert new.mean() / (32 * MIB) == pytest.approx(((old % (16 * MIB)).mean() / MIB + 0.5) / 2, abs=0.1)
    assert spread(before, 0, reduced, real, jumps=40) is before, "no more pieces than heaps"
    assert spread(before, 0, reduced, real, least=MIB, jumps=8) is before
    assert spread(before, 1, reduced, real, jumps=1) is before


def test_windows_hold_what_begins_in_them() -> None:
    own = AddressWindows(np.array([10, 50]), 20)
    found = own.hold(np.array([0, 9, 10, 29, 30, 49, 50, 69, 70]))
    assert found.tolist() == [False, False, True, True, False, False, True, True, False]


def test_a_vdev_is_counted_in_parts_that_are_large_against_any_block() -> None:
    for space in (1, 100 * MIB, 100 * GIB, 100 * TB):
        size = bin_bytes(space)
        parts = -(-space // size)
        assert parts <= MAX_BINS
        assert size >= MIN_BIN_BYTES or parts >= min(space, 16) - 1
        assert parts * size >= space
    assert bin_bytes(160 * MIN_BIN_BYTES) == MIN_BIN_BYTES
    bins = occupied_bins(
        np.array([0, 1, MIN_BIN_BYTES - 1, MIN_BIN_BYTES, 159 * MIN_BIN_BYTES]), 160 * MIN_BIN_BYTES
    )
    assert len(bins) == 160
    assert {int(k): int(bins[k]) for k in np.flatnonzero(bins)} == {0: 3, 1: 1, 159: 1}


@pytest.mark.parametrize(("share", "blocks"), [(0.1, 10**5), (0.5, 10**6), (0.3, 10**4)])
def test_windows_of_addresses_cover_their_share_of_what_is_occupied(share: float, blocks: int) -> None:
    space = 400 * MIN_BIN_BYTES
    bins = np.zeros(400, np.int64)
    bins[100:300] = blocks // 200
    found = address_windows(bins, space, share, 4096, 1)
    count = min(MAX_WINDOWS, max(MIN_WINDOWS, int(share * blocks) // 1500))
    assert len(found.starts) == count
    assert count * found.length == pytest.approx(share * 200 * MIN_BIN_BYTES, rel=1e-3)
    assert (found.starts % 4096 == 0).all()
    assert found.length % 4096 == 0
    assert (np.diff(found.starts) >= found.length).all()
    part = 200 * MIN_BIN_BYTES / count
    assert ((found.starts - 100 * MIN_BIN_BYTES) // part).tolist() == list(range(count)), "one in each part"
    assert found.starts.tolist() != address_windows(bins, space, share, 4096, 2).starts.tolist()
    whole = address_windows(bins, space, 1.0, 4096, 1)
    assert whole.length * len(whole.starts) == pytest.approx(200 * MIN_BIN_BYTES, rel=1e-3)


@pytest.mark.parametrize(("allocated", "count"), [(1 << 29, 1), (1 << 33, 8), (1 << 40, MAX_WINDOWS)])
def test_windows_of_the_traversal_are_one_in_each_of_equal_parts(allocated: int, count: int) -> None:
    windows = RowWindows(100_000, 0.5, allocated, 3)
    held = windows.hold(0, 100_000)
    assert held.mean() == pytest.approx(0.5, abs=0.001)
    assert np.count_nonzero(np.diff(np.concatenate(([0], held, [0])).astype(np.int8)) > 0) == count
    parts = held[: 100_000 // count * count].reshape(count, -1).mean(axis=1)
    assert parts == pytest.approx(np.full(count, 0.5), abs=0.01)
    again = np.concatenate([windows.hold(low, low + 12_500) for low in range(0, 100_000, 12_500)])
    assert np.array_equal(held, again), "however the list is read"


def test_windows_lie_anywhere_in_their_parts() -> None:
    """Of half a part: they begin in its first half, as often early as late."""
    held = RowWindows(320_000, 0.5, 1 << 40, 3).hold(0, 320_000).reshape(MAX_WINDOWS, -1)
    begins = held.argmax(axis=1) / held.shape[1]
    bins = np.full(400, 10_000)
    found = address_windows(bins, 400 * MIN_BIN_BYTES, 0.5, 4096, 1)
    part = 400 * MIN_BIN_BYTES / MAX_WINDOWS
    for places in (begins, found.starts % part / part):
        assert 0.0 <= places.min() < 0.1
        assert 0.4 < places.max() <= 0.5
        assert places.mean() == pytest.approx(0.25, abs=0.1)


def test_copies_outside_the_windows_take_the_places_of_dropped_ones() -> None:
    """As many copies stay in the windows as were there, each in a place of its own size."""
    blocks = table(*[(0, 16 * k, 4) for k in range(40)])
    vdev, offset, asize = blocks.dva_vdev.copy(), blocks.dva_offset.copy(), blocks.dva_asize.copy()
    order = np.random.default_rng(1).permutation(40)
    vdev[:, 1], offset[:, 1], asize[:, 1] = 0, (16 * order + 8) * KIB, 4 * KIB
    blocks = replace(
        blocks, dva_vdev=vdev, dva_offset=offset, dva_asize=asize, dva_count=np.full(40, 2, np.int16)
    )
    windows = {0: AddressWindows(np.array([0, 320 * KIB]), 160 * KIB)}
    kept = keep_rows(blocks, windows)
    assert np.flatnonzero(kept).tolist() == [*range(10), *range(20, 30)]
    spots = dropped_places(blocks, kept, windows)
    inside = windows[0].hold(blocks.dva_offset[:, 1])
    assert len(spots) == (inside & ~kept).sum()
    assert {tuple(each) for each in spots.tolist()} == {
        (0, int(at), 4 * KIB) for at in offset[inside & ~kept, 1]
    }
    moved = with_copies_inside(blocks.take(kept), windows, spots)
    copies = moved.dva_offset[:, 1]
    outside = ~windows[0].hold(copies)
    assert len(np.unique(copies)) == len(copies)
    assert windows[0].hold(copies).sum() == min(inside.sum(), kept.sum())
    stayed = windows[0].hold(blocks.dva_offset[kept, 1])
    assert (copies[stayed] == blocks.dva_offset[kept, 1][stayed]).all()
    assert outside.sum() == max(0, kept.sum() - inside.sum())
    changed = copies != blocks.dva_offset[kept, 1]
    old, new = blocks.dva_offset[kept, 1][changed], copies[changed]
    assert (np.diff(new[np.argsort(old)]) > 0).all(), "in the order of their addresses"
    assert bytes_on(moved, (0,)) == 2 * 20 * 4 * KIB
    assert bytes_on(moved, ()) == 0


def test_windows_are_cut_from_a_few_vdevs_the_first_among_them() -> None:
    assert [chosen_vdevs(count) for count in (1, 3, 4, 8, 10)] == [
        (0,), (0, 1, 2), (0, 1, 2, 3), (0, 2, 4, 6), (0, 2, 5, 7),
    ]  # fmt: skip
    level = TopLevel(VdevSpec.mirror(2), 12, MIB, 10)
    assert space_of(level) == 11 * MIB


@pytest.mark.parametrize("order", ["address", "traversal"])
def test_a_sample_stands_for_as_many_bytes_as_the_list_has(order: str) -> None:
    level = TopLevel(VdevSpec.mirror(2), 12, 64 * MIB, 10)
    blocks = table(*[(k % 2, 8 * (k // 2), 4) for k in range(60_000)])
    known = KnownBlocks(blocks, len(blocks), (30_000 * 4 * KIB,) * 2, {})
    assert known.whole
    assert sample_blocks(known, (level, level), 60_000, order, 1) is known  # type: ignore[arg-type]
    part = sample_blocks(known, (level, level), 20_000, order, 1)  # type: ignore[arg-type]
    assert not part.whole
    assert len(part.table) == pytest.approx(20_000, rel=0.05)
    assert part.scale((0, 1)) == pytest.approx(60_000 / len(part.table), rel=1e-9)
    assert part.scale((0,)) == pytest.approx(3.0, rel=0.1)
    assert KnownBlocks(blocks, 1, (1, 1, 5), {}).scale((2,)) == 1.0
    assert bool(part.windows) == (order == "address")


BENCH = {"layout": "raidz2x6", "ashift": 12, "leafmb": 1024, "fill": 0.5, "pattern": "filled", "rec": 128}


def bench(release: str = "2.1.5", **pool: object) -> PoolRecipe:
    return recipe_from_config({"zfs": release, "pool": {**BENCH, **pool}})


def test_a_bench_pool_is_what_its_configuration_says() -> None:
    plain = bench()
    assert plain.steps == (Fill(0.5),)
    assert plain.files == FileSizes("uniform", 16 << 20, 4 << 20, 28 << 20)
    assert (plain.txg_bytes, plain.txg_step, plain.datasets) == (16 << 20, 3, 1)
    assert [plain.request_records, bench("0.7.13").request_records] == [1, 8]
    assert plain.metadata.indirect_fixed == 514.0
    assert bench("0.7.13").metadata.indirect_fixed == 4500.0
    assert not bench("0.7.13").style.segment_weight
    mixed = bench(mixrec=16, filekb=1024, txgmb=4, nfs=3, ntop=2)
    assert [(each.recordsize, each.size_factor) for each in mixed.records] == [
        (128 * KIB, 1.0),
        (16 * KIB, 0.25),
    ]
    assert (mixed.files.mean, mixed.files.low, mixed.files.high) == (MIB, MIB // 4, MIB * 7 // 4)
    assert (mixed.txg_bytes, mixed.datasets, len(mixed.vdevs)) == (4 * MIB, 3, 2)


def test_a_bench_pool_ages_in_rounds_with_snapshots_and_an_expansion() -> None:
    aged = {"pattern": "aged", "owfrac": 0.25, "freefrac": 0.05}
    turn = (Overwrite(0.25, by_file=True), Remove(0.05), Fill(0.5))
    assert bench(**aged, rounds=2).steps == (Fill(0.5), *turn, *turn)
    assert bench(**aged, rounds=2, snaps=1).steps == (Fill(0.5), Snapshot(), *turn, *turn)
    grown = bench("2.3.9", **aged, rounds=0, post_rounds=2, layout="raidz1x5", expanded_from="raidz1x4")
    less = (Overwrite(0.25, by_file=True), Remove(0.05), Fill(0.5 * 4 / 5))
    assert grown.steps == (Fill(0.5 * 4 / 5), Expand(), *less, *less)
    assert expanded_word("raidz1x4", "raidz1x6") == "raidz1x4+2"
    for before, now in (("raidz1x4", "raidz1x4"), ("2*raidz1x4", "raidz1x5"), ("raidz1x4", "2*raidz1x5")):
        with pytest.raises(InputError, match="a narrower vdev"):
            expanded_word(before, now)
    later = bench(layout="mirror2+mirror2", later="mirror2", fill1=0.2)
    assert later.steps == (Fill(0.2), AddVdev(1), Fill(0.5))


def test_the_order_of_a_txg_s_places_goes_by_release_and_kind() -> None:
    assert not bench("2.4.4").issue.throttled
    assert (bench("0.7.13").issue.throttled, bench("0.7.13").issue.window) == (True, 0)
    raidz, mirror = bench("2.1.5").issue, bench("2.1.5", layout="mirror2+mirror2").issue
    assert (raidz.window, raidz.group, raidz.straight, raidz.late_indirects) == (32, 32, 2, True)
    assert (mirror.window, mirror.group, mirror.straight, mirror.late_indirects) == (64, 8, 0, False)
    special = bench("2.1.5", layout="mirror2+mirror2", special_vdevs=[1])
    assert special.issue.window == 32
    assert [each.spec.alloc_class for each in special.vdevs] == ["normal", "special"]
