"""How large what is written is, and which: random numbers, compressed sizes, trees, drawn files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.pool.kernels.pools import FAN, MIRROR, RECORD, check_whole, data_of, ran, recipe
from tests.pool.kernels.spaces import KIB, MIB, space
from zsim.base.arrays import checked
from zsim.pool.recipes.recipe import (
    FileSizes,
    Fill,
    MetadataSizes,
    PoolRecipe,
    RecordClass,
    SmallBlocks,
    Snapshot,
    TopLevel,
)
from zsim.pool.simulator.draws import DRAWN, FileNumbers, draw_numbers, draw_sorted, kept_numbers, sizes_of
from zsim.pool.simulator.files import (
    draw_files,
    draw_pieces,
    expansion,
    file_sizes,
    mean_block_asize,
    mean_file_bytes,
    mean_record_bytes,
    pieces_at,
    places,
    records_of,
    shares_of,
    typical_file_bytes,
)
from zsim.pool.simulator.memory import CLASSES, HistoryMemory
from zsim.pool.simulator.placing import (
    FAILED_KEPT,
    data_class,
    draw_psize,
    indirect_psize,
    keep_for_snapshot,
    mix,
    next_thread,
    pick_allocator,
    pointers_in_use,
    random_below,
)
from zsim.pool.simulator.population import HistoryRun
from zsim.pool.simulator.rows import NAME, NameRecord, name_mos
from zsim.pool.simulator.writing import (
    add_vdev,
    expand_vdevs,
    file_of_slot,
    held,
    new_file,
    open_next_run,
    remove_bytes,
    remove_file,
    txg_room,
)
from zsim.scenario.layout import VdevSpec
from zsim.vdevs.arrays import asizes_on

# SplitMix64 of the seed 1234567, as published with it (Steele, Lea and Flood; rosettacode.org).
SPLITMIX = (6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431)


def test_random_numbers_are_those_of_splitmix64() -> None:
    memory = space()
    memory.now["random"] = 1234567
    limit = 1 << 53
    assert [random_below(memory.table, limit) for _ in SPLITMIX] == [each >> 11 for each in SPLITMIX]
    memory.now["random"] = 1234567
    assert [random_below(memory.table, 7) for _ in SPLITMIX] == [(each >> 11) % 7 for each in SPLITMIX]


def test_each_seed_begins_elsewhere() -> None:
    states = [
        int(HistoryRun(recipe(Fill(0.01)), seed)._memory.now["random"][0]) for seed in (0, 1, 2, 1 << 40)
    ]
    assert len(set(states)) == 4


def test_hashes_are_spread_evenly_and_those_of_one_number_are_one() -> None:
    found = np.array([mix(value) for value in range(2000)])
    assert ((found >= 0) & (found < 1 << 31)).all()
    counts = np.bincount(found % 16, minlength=16)
    assert abs(counts - 125).max() < 5 * np.sqrt(125)
    assert len(set(found.tolist())) == 2000


def test_an_allocator_is_the_sync_thread_s_or_goes_by_hash() -> None:
    memory = space(allocators=4)
    memory.now["thread"], memory.now["sync_threads"] = 2, 1
    pool = memory.table
    assert {pick_allocator(pool, 0, family) for family in range(50)} == {2}
    assert {pick_allocator(pool, -1, family) for family in range(50)} == set(range(4)), (
        "the MOS always hashes"
    )
    memory.now["sync_threads"] = 0
    assert {pick_allocator(pool, 0, family) for family in range(50)} == set(range(4))
    for thread in (3, 0, 1):
        next_thread(pool)
        assert int(memory.now["thread"][0]) == thread
    assert pick_allocator(space().table, -1, 77) == 0


def compressing(ratios: list[float], chances: list[float]) -> HistoryMemory:
    memory = space()
    memory.ratio_values = np.array([ratios])
    memory.ratio_chances = np.array([[*np.cumsum(chances)[:-1], 2.0]])
    memory.now["sector"], memory.now["coin_bits"] = 4 * KIB, 30
    memory.seal()
    return memory


@pytest.mark.parametrize(("ratio", "wanted"), [
    (1.0, 128), (0.9, 128), (0.875, 112), (0.87, 112), (0.5, 64), (0.501, 68), (0.001, 4),
])  # fmt: skip
def test_a_record_takes_whole_sectors_and_is_stored_plain_if_an_eighth_is_not_saved(
    ratio: float, wanted: int
) -> None:
    assert draw_psize(compressing([ratio], [1.0]).table, 0, 128 * KIB) == wanted * KIB


@pytest.mark.parametrize("ratio", [1.0 / 131072, 1e-9, 0.0])
def test_a_short_record_that_compresses_to_less_than_a_byte_takes_a_sector(ratio: float) -> None:
    """No record is of no sectors: the allocator has no segments of such a size."""
    assert draw_psize(compressing([ratio], [1.0]).table, 0, 4 * KIB) == 4 * KIB
    assert draw_psize(compressing([ratio], [1.0]).table, 0, 128 * KIB) == 4 * KIB


def test_records_compress_as_often_so_far_as_is_stated() -> None:
    memory = compressing([0.25, 0.5, 1.0], [0.2, 0.3, 0.5])
    drawn = np.array([draw_psize(memory.table, 0, 32 * KIB) for _ in range(1500)])
    shares = [(drawn == size * KIB).mean() for size in (8, 16, 32)]
    assert shares == pytest.approx([0.2, 0.3, 0.5], abs=0.05)


def test_an_indirect_block_compresses_to_its_pointers_in_use() -> None:
    memory = space()
    for name, value in (
        ("sector", 512),
        ("indirect_fixed", 500.0),
        ("indirect_each", 60.0),
        ("pointers", FAN),
    ):
        memory.now[name] = value
    assert [indirect_psize(memory.table, count) for count in (1, 10, 100)] == [1024, 1536, 6656]
    assert indirect_psize(memory.table, 300) == FAN * 128, "at most its logical size"
    memory.now["sector"] = 32 * KIB
    assert indirect_psize(memory.table, 1) == 32 * KIB, "but no less than a sector"


def test_the_last_indirect_block_of_a_level_has_what_is_left() -> None:
    memory = space()
    memory.now["pointers"] = 10
    memory.files["records"][3] = 234
    found = [[pointers_in_use(memory.table, 3, level, k) for k in range(count)]
             for level, count in ((1, 24), (2, 3), (3, 1))]  # fmt: skip
    assert found == [[10] * 23 + [4], [10, 10, 4], [3]]


def test_small_records_go_to_the_special_class_as_long_as_it_has_room() -> None:
    memory = space(vdevs=2)
    memory.vdevs["klass"][1] = 1
    memory.now["small_bytes"], memory.now["small_percent"], memory.now["metadata_class"] = 8 * KIB, 75, 1
    memory.files["volume"][1] = 1
    pool, most = memory.table, int(memory.vdevs["space"][1])
    assert [data_class(pool, 0, size) for size in (4 * KIB, 8 * KIB, 8 * KIB + 1)] == [1, 1, 0]
    assert data_class(pool, 1, 4 * KIB) == 0
    memory.now["small_volumes"] = 1
    assert data_class(pool, 1, 4 * KIB) == 1
    for used, klass in ((0.74, 1), (0.75, 0), (0.8, 0)):
        memory.vdevs["used"][1] = used * most
        assert data_class(pool, 0, 4 * KIB) == klass
    memory.vdevs["used"][1] = 0
    memory.now["metadata_class"] = 0
    assert data_class(pool, 0, 4 * KIB) == 0, "without such vdevs there is no such class"


def special_recipe(*, indirects: bool) -> PoolRecipe:
    """Return a pool with a special vdev that takes records up to a sector."""
    made = recipe(Fill(0.2), records=(RecordClass(RECORD, 0.5), RecordClass(4 * KIB, 0.5)), units=70)
    special = replace(made.vdevs[0], spec=replace(MIRROR, alloc_class="special"))
    small = SmallBlocks(largest=4 * KIB, indirects=indirects)
    return replace(made, vdevs=(made.vdevs[0], special), small_blocks=small)


@pytest.mark.parametrize("indirects", [True, False])
def test_metadata_and_small_records_lie_on_the_special_vdev(indirects: bool) -> None:
    table = check_whole(ran(special_recipe(indirects=indirects)))
    files = table.object > 0
    above = files & (table.level > 0) & (table.objset != 0)
    small = ~table.is_metadata & (table.psize <= 4 * KIB)
    large = ~table.is_metadata & ~small
    assert set(table.dva_vdev[small, 0].tolist()) == {1}
    assert set(table.dva_vdev[large, 0].tolist()) == {0}
    assert set(table.dva_vdev[above, 0].tolist()) == {int(indirects)}
    assert set(table.dva_vdev[table.is_metadata & ~above, 0].tolist()) == {1}


def test_a_version_that_a_snapshot_holds_is_noted_as_it_is_until_there_is_no_room() -> None:
    memory = space()
    memory.slots["copies"][5], memory.slots["birth"][5], memory.slots["psize"][5] = 2, 7, 4096
    memory.slots["slab"][5], memory.slots["start"][5] = (1, 3, 0), (8, 9, 0)
    memory.now["txg"] = 12
    keep_for_snapshot(memory.table, 5)
    row = memory.kept[0]
    assert [int(row[name]) for name in ("slot", "birth", "death", "psize", "copies")] == [5, 7, 12, 4096, 2]
    assert (row["slab"][:2].tolist(), row["start"][:2].tolist()) == ([1, 3], [8, 9])
    memory.now["kept"] = len(memory.kept)
    keep_for_snapshot(memory.table, 5)
    assert int(memory.now["failed"][0]) == FAILED_KEPT
    assert int(memory.now["kept"][0]) == len(memory.kept)


def test_a_snapshot_holds_what_was_born_by_then_and_freed_later() -> None:
    memory = space()
    memory.snapshots[:3] = (10, 20, 99)
    memory.now["snapshots"] = 2
    found = [bool(held(memory.table, birth, death)) for birth, death in
             ((10, 11), (11, 20), (11, 21), (3, 10), (20, 30), (21, 200))]  # fmt: skip
    assert found == [True, False, True, False, True, False]


def test_a_slot_is_of_the_file_whose_tree_begins_before_it() -> None:
    memory = space()
    memory.files["first"][:5] = (0, 10, 25, 26, 40)
    memory.now["next_file"] = 5
    found = [file_of_slot(memory.table, slot) for slot in (0, 9, 10, 24, 25, 26, 39, 40, 99)]
    assert found == [0, 0, 1, 1, 2, 3, 3, 4, 4]


def test_metadata_goes_to_a_special_vdev_once_it_is_added() -> None:
    """The first of a class is where each allocator begins; another one of data is one more of its class."""
    memory = space(vdevs=3, allocators=2)
    memory.vdevs["klass"], memory.vdevs["present"] = [0, 0, 1], [1, 0, 0]
    add_vdev(memory.table, 1)
    assert memory.vdevs["present"].tolist() == [1, 1, 0]
    assert not memory.allocators["rotor"].any()
    assert int(memory.now["metadata_class"][0]) == 0
    add_vdev(memory.table, 2)
    assert memory.allocators["rotor"].reshape(2, CLASSES).tolist() == [[0, 2, 0]] * 2
    assert int(memory.now["metadata_class"][0]) == 1


def test_an_expanded_vdev_has_its_new_width_and_metaslabs_from_then_on() -> None:
    memory = space(vdevs=2)
    memory.vdevs["data"][1], memory.vdevs["final_data"][1] = 3, 4
    memory.vdevs["count"][1], memory.vdevs["final_count"][1] = 2, 4
    memory.now["txg"] = 77
    expand_vdevs(memory.table)
    row = memory.vdevs[1]
    assert [int(row[name]) for name in ("data", "count", "expanded")] == [4, 4, 77]
    assert int(memory.vdevs["expanded"][0]) == 0, "which has not grown"


def test_every_slot_of_the_mos_is_visited_once_and_claims_are_not() -> None:
    memory = HistoryRun(recipe(Fill(0.1)), 1)._memory
    names = np.zeros(len(memory.slots), NAME)
    count = name_mos(memory.table, checked(names, NameRecord))
    first, end = (int(memory.now[name][0]) for name in ("mos_first", "claims_first"))
    assert sorted(names["slot"][:count].tolist()) == list(range(first, end))
    assert end + 1 + 2 * len(memory.slabs) == len(memory.slots)
    # The objects are shared evenly among the blocks of dnodes.
    block = np.cumsum((names["item"][2:count] == 0) & (names["level"][2:count] == 0))
    held = np.bincount(block)[1:] - 1
    assert held.max() - held.min() <= 1
    assert (names["item"][2:count].max() - 1) // 32 == len(held) - 1


def test_a_removed_file_is_written_again_once_all_have_been() -> None:
    memory = space()
    memory.now["next_file"], memory.now["dead"] = len(memory.files) - 1, 3
    memory.lists["dead"][:3] = (7, 8, 9)
    found = [new_file(memory.table) for _ in range(5)]
    assert found[0] == len(memory.files) - 1, "the last that was never written"
    assert sorted(found[1:4]) == [7, 8, 9]
    assert found[4] == -1
    assert int(memory.now["dead"][0]) == 0


@pytest.mark.parametrize(
    ("records", "indirect", "blocks"), [(4, (4, 6), 7), (3, (3, 5), 6), (2, (2,), 3), (1, (), 1)]
)
def test_a_file_takes_its_records_and_indirect_blocks_with_it_and_nothing_of_the_next(
    records: int, indirect: tuple[int, ...], blocks: int
) -> None:
    """Of two pointers each: four records need two indirect blocks and one above them, in this order."""
    memory = space()
    memory.now["pointers"], memory.now["alive"], memory.now["unfinished"] = 2, 1, -1
    memory.files["records"][0], memory.files["levels"][0] = records, len(indirect)
    memory.files["indirect"][0][1 : len(indirect) + 1] = indirect
    memory.slots["copies"][:9] = 1
    memory.datasets["snapshot"][0] = 99
    remove_file(memory.table, 0)
    assert memory.slots["copies"][:9].tolist() == [0] * blocks + [1] * (9 - blocks)
    assert int(memory.now["kept"][0]) == blocks, "a snapshot holds them"


def test_runs_begin_until_as_much_is_overwritten_as_was_asked_for() -> None:
    memory = space()
    memory.now["alive"], memory.now["next_file"], memory.now["by_file"] = 1, 1, 1
    memory.now["shortest"] = memory.now["longest"] = 1
    memory.files["records"][0], memory.files["lsize"][0] = 1, RECORD
    memory.now["goal"] = 2 * RECORD
    assert [bool(open_next_run(memory.table)) for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize("share", [0.04, 0.25, 0.8])
def test_what_is_removed_keeps_within_half_a_file_of_what_was_wanted(share: float) -> None:
    """One of few files is a large share of a small pool: when it goes must not be left to chance."""
    memory = space()
    memory.now["next_removed"] = -1
    memory.files["records"][0], memory.files["lsize"][0] = 10, 4 * KIB
    gone = 0
    for number in range(1, 60):
        for name, value in (("alive", 1), ("dead", 0), ("dirty_dnodes", 0)):
            memory.now[name] = value
        remove_bytes(memory.table, share * 40 * KIB)
        gone += int(memory.now["dead"][0])
        assert abs(number * share - gone) <= 0.5 + 1e-9


def test_the_file_that_goes_next_was_drawn_before_it_was_due() -> None:
    """A small one in its place would go at once, and large ones never would."""
    memory = space()
    memory.now["coin_bits"], memory.now["alive"], memory.now["next_removed"] = 30, 1, -1
    memory.files["records"][0], memory.files["lsize"][0] = 10, 4 * KIB
    remove_bytes(memory.table, 4 * KIB)
    assert int(memory.now["next_removed"][0]) == 0
    assert int(memory.now["alive"][0]) == 1


def test_a_txg_of_several_parts_ends_near_the_fill_that_is_the_goal() -> None:
    memory = space()
    whole = 4 * 64 * 4 * KIB
    for name, value in (("txg_bytes", 1000), ("parts", 1), ("goal", 0.5), ("growth", 2.0), ("used", 0)):
        memory.now[name] = value
    assert txg_room(memory.table) == 1000.0
    memory.now["parts"] = 3
    assert txg_room(memory.table) == 3000.0
    memory.now["used"] = whole // 2 - 5000
    assert txg_room(memory.table) == 2500.0, "of two bytes a byte written, half of what is left"
    memory.now["used"] = whole // 2 - 100
    assert txg_room(memory.table) == 1000.0
    memory.now["goal"] = -1.0
    assert txg_room(memory.table) == 3000.0


@pytest.mark.parametrize(
    ("shape", "mean"), [("fixed", 5 * MIB), ("uniform", 6 * MIB), ("lognormal", 5 * MIB)]
)
def test_sizes_of_files_have_the_mean_and_the_limits_that_are_stated(shape: str, mean: float) -> None:
    sizes = FileSizes(shape, 5 * MIB, 2 * MIB if shape == "uniform" else 1, 10 * MIB if shape == "uniform"
                      else 1 << 40, 0.5)  # fmt: skip
    drawn = sizes_of(draw_numbers(np.random.default_rng(3), 20_000, shape, (1.0,)).deviate, sizes)
    assert drawn.mean() == pytest.approx(mean, rel=0.02)
    if shape == "lognormal":
        assert np.log(drawn).std() == pytest.approx(0.5, rel=0.02)
        cut = sizes_of(np.array([-40.0, 40.0]), replace(sizes, low=3 * MIB, high=7 * MIB))
        assert cut.tolist() == [3 * MIB, 7 * MIB]
    assert drawn.min() >= sizes.low


def test_a_file_has_whole_records_or_is_one_block_of_whole_sectors() -> None:
    made = recipe(records=(RecordClass(16 * KIB), RecordClass(128 * KIB)))
    kind = np.array([0, 0, 0, 0, 0, 1, 1])
    size = np.array([1, 513, 16 * KIB - 1, 16 * KIB, 40 * KIB + 1, 16 * KIB, 330 * KIB])
    records, lsize = records_of(made, kind, size)
    assert records.tolist() == [1, 1, 1, 1, 3, 1, 3]
    assert lsize.tolist() == [512, 1024, 16 * KIB, 16 * KIB, 16 * KIB, 16 * KIB, 128 * KIB]


MIXED = (RecordClass(8 * KIB, share=3.0, size_factor=0.5), RecordClass(128 * KIB, share=1.0, size_factor=2.0))


def test_the_mean_file_and_record_are_those_of_the_mix() -> None:
    """Three files of half the mean and one of twice: a mean of 7/8; records by how many blocks each has."""
    made = recipe(records=MIXED, files=FileSizes("fixed", MIB))
    assert mean_file_bytes(made) == pytest.approx(MIB * 3.5 / 4)
    blocks = 3 * (MIB // 2) / (8 * KIB) + 2 * MIB / (128 * KIB)
    assert mean_record_bytes(made) == pytest.approx(3.5 * MIB / blocks)
    assert mean_file_bytes(replace(made, piece_bytes=100 * KIB)) == 100 * KIB
    uniform = replace(made, files=FileSizes("uniform", 0, MIB, 3 * MIB))
    assert mean_file_bytes(uniform) == pytest.approx(2 * MIB * 3.5 / 4)
    assert mean_record_bytes(uniform) == pytest.approx(
        mean_record_bytes(replace(made, files=FileSizes("fixed", 2 * MIB)))
    )
    tiny = recipe(records=(RecordClass(128 * KIB),), files=FileSizes("fixed", 5 * KIB))
    assert mean_record_bytes(tiny) == 5 * KIB, "a small file is one block"
    assert mean_record_bytes(replace(tiny, files=FileSizes("uniform", 0, 2 * KIB, 6 * KIB))) == 4 * KIB


def test_a_block_takes_what_the_blocks_of_all_files_do_in_the_mean() -> None:
    """A file of 5K is a block; most blocks of many small files are smaller than the mean file says."""
    tiny = recipe(records=(RecordClass(128 * KIB),), files=FileSizes("fixed", 5 * KIB))
    spec, ashift = tiny.normal[0].spec, tiny.normal[0].ashift
    one = float(asizes_on(spec, np.array([5 * KIB]), ashift)[0])
    assert mean_block_asize(tiny) == one
    half = replace(tiny, records=(RecordClass(128 * KIB, ratios=((1.0, 0.5), (0.2, 0.5))),))
    less = float(asizes_on(spec, np.array([KIB]), ashift)[0])
    assert mean_block_asize(half) == pytest.approx((one + less) / 2)
    # Against files drawn.
    sizes = FileSizes("lognormal", 64 * KIB, 512, 1 << 40, 2.0)
    made = replace(tiny, files=sizes)
    drawn = np.maximum(sizes_of(np.random.default_rng(3).standard_normal(400_000), sizes), 512.0)
    records, lsize = records_of(made, np.zeros(len(drawn), int), drawn.astype(np.int64))
    held = float((records * asizes_on(spec, lsize, ashift)).sum()) / float(records.sum())
    assert mean_block_asize(made) == pytest.approx(held, rel=0.03)
    uniform = replace(tiny, files=FileSizes("uniform", 0, 4 * KIB, 12 * KIB))
    assert one < mean_block_asize(uniform) < float(asizes_on(spec, np.array([12 * KIB]), ashift)[0])


def test_the_file_of_a_byte_is_larger_than_the_mean_file() -> None:
    """Of a log-normal distribution by exp(sigma**2), weighed by size."""
    sizes = FileSizes("lognormal", MIB, 1, 1 << 50, 0.8)
    made = recipe(records=(RecordClass(),), files=sizes)
    drawn = sizes_of(np.random.default_rng(1).standard_normal(200_000), sizes)
    assert typical_file_bytes(made) == pytest.approx((drawn**2).sum() / drawn.sum(), rel=0.1)
    assert typical_file_bytes(replace(made, files=replace(sizes, high=MIB))) == MIB
    fixed = replace(made, files=FileSizes("fixed", MIB, high=3))
    assert typical_file_bytes(fixed) == MIB
    assert typical_file_bytes(replace(fixed, piece_bytes=5)) == MIB, "whole files, whatever they are cut into"


def test_data_grows_by_parity_and_padding_and_shrinks_by_compression() -> None:
    """16K on a raidz1 of three are four sectors and two of parity; half of it two, one and a padding."""
    raidz = VdevSpec.raidz(1, 3)
    plain = recipe(spec=raidz, records=(RecordClass(16 * KIB),))
    assert expansion(plain) == pytest.approx(6 / 4)
    half = recipe(spec=raidz, records=(RecordClass(16 * KIB, ratios=((0.5, 1.0),)),))
    assert expansion(half) == pytest.approx(4 / 4)
    both = recipe(
        spec=raidz, records=(RecordClass(16 * KIB, 1.0, 3.0), RecordClass(16 * KIB, 1.0, 1.0, ((0.5, 1.0),)))
    )
    assert expansion(both) == pytest.approx((3 * 1.5 + 1 * 1.0) / 4)
    mirror = TopLevel(MIRROR, 12, plain.vdevs[0].slab_bytes, plain.vdevs[0].slab_count)
    two = replace(plain, vdevs=(*plain.vdevs, mirror))
    # As much space on each: of the records 1 / 1.5 and 1 fit.
    assert expansion(two) == pytest.approx(2 / (1 / 1.5 + 1))


@pytest.mark.parametrize("datasets", [1, 3])
def test_as_many_files_are_drawn_as_fill_the_pool_and_some_to_spare(datasets: int) -> None:
    made = recipe(
        Fill(0.2), Fill(0.6), units=2000, records=MIXED, files=FileSizes("fixed", 64 * KIB), datasets=datasets
    )
    files = draw_files(made, 1)
    needed = 0.6 * made.space / expansion(made)
    total = float((files.records * files.lsize).sum())
    assert 1.15 * needed < total < 1.3 * needed + 40 * 128 * KIB
    assert files.dataset.tolist() == [number % datasets for number in range(len(files))]
    assert files.item.tolist() == [1 + number // datasets for number in range(len(files))]
    small = files.kind == 0
    assert small.mean() == pytest.approx(0.75, abs=0.08)
    assert (files.records[small] == 4).all()
    assert (files.lsize[small] == 8 * KIB).all()
    assert len(draw_files(recipe(), 1)) >= 16


def test_files_fill_a_pool_in_which_records_take_less_than_one_of_the_mean_size_does() -> None:
    """128K compressed to 80 % in the mean is four rows of eight sectors; none of these three takes that much.

    Whole: four rows of ten; 70 %: three; half: two.  Of a mean record alone a fifth too little was planned.
    """
    ratios = ((1.0, 0.5), (0.7, 0.25), (0.5, 0.25))
    made = recipe(
        Fill(0.6), units=2000, spec=VdevSpec.draid(2, 8, 24, 2),
        records=(RecordClass(128 * KIB, ratios=ratios),), files=FileSizes("fixed", 256 * KIB),
    )  # fmt: skip
    assert expansion(made) == pytest.approx(40 / 32)
    files = draw_files(made, 1)
    taken = (0.5 * 40 + 0.25 * 30 + 0.25 * 20) / 32 * float((files.records * files.lsize).sum())
    assert 1.04 * 0.6 * made.space < taken < 1.2 * 0.6 * made.space


def test_small_records_that_go_elsewhere_do_not_fill_the_data_vdevs() -> None:
    made = special_recipe(indirects=True)
    without = replace(made, small_blocks=SmallBlocks())
    more, fewer = len(draw_files(made, 1)), len(draw_files(without, 1))
    assert more > fewer
    files = draw_files(made, 1)
    held_back = files.records * files.lsize * (files.lsize > 4 * KIB)
    assert held_back.sum() >= 0.2 * made.space / expansion(made) * 1.1
    # What is elsewhere is no more than the reserve leaves, and some to spare.
    full = draw_files(replace(made, vdevs=(made.vdevs[0], replace(made.vdevs[1], slab_count=1))), 1)
    assert fewer <= len(full) < more


def test_pieces_are_those_of_the_files_whose_bytes_they_are() -> None:
    """A file of ten times as many bytes has ten times as many pieces."""
    made = recipe(
        records=(RecordClass(KIB),), files=FileSizes("fixed", 100 * KIB, high=1 << 40), piece_bytes=10 * KIB
    )
    numbers = FileNumbers(np.zeros(4, np.int8), np.zeros(4))
    made = replace(made, records=(RecordClass(KIB, 1.0, 1.0), RecordClass(KIB, 1.0, 9.0)))
    numbers = FileNumbers(np.array([0, 0, 1, 1]), np.zeros(4))
    sizes = file_sizes(made, numbers)
    assert sizes.tolist() == [100 * KIB] * 2 + [900 * KIB] * 2
    # Each class has its share of the 10K: a tenth, but 8 records at least, and nine tenths.
    kind, size = pieces_at(made, numbers, np.linspace(0, 1, 2001)[:-1])
    per = [100 // 8 + 1, -(-900 // 9)]
    assert (kind == 0).mean() == pytest.approx(per[0] / sum(per), abs=0.002)
    assert set(size[kind == 0].tolist()) == {100 * KIB // per[0]}
    assert set(size[kind == 1].tolist()) == {900 * KIB // per[1]}


def test_places_are_evenly_spread_however_many_are_taken() -> None:
    for count in (1, 10, 137):
        found = np.sort(places(count, 0.3))
        assert ((found >= 0) & (found < 1)).all()
        gaps = np.diff(np.append(found, found[0] + 1))
        assert gaps.max() < 2.7 / count
    assert places(3, 0.3)[0] == 0.3


def test_drawn_numbers_are_kept_as_they_are_drawn() -> None:
    shares = (0.4, 0.6)
    first = kept_numbers(5, 0, "lognormal", shares)
    assert len(first.kind) == DRAWN
    fresh = draw_sorted(np.random.default_rng(5), DRAWN, "lognormal", shares)
    assert np.array_equal(first.deviate, fresh.deviate)
    assert (np.diff(first.kind) >= 0).all()
    for kind in (0, 1):
        assert (np.diff(first.deviate[first.kind == kind]) >= 0).all()
    made = recipe(records=(RecordClass(RECORD, 0.4), RecordClass(RECORD, 0.6)), piece_bytes=MIB,
                  files=FileSizes("lognormal", 8 * MIB))  # fmt: skip
    kind, size = draw_pieces(made, 500, first)
    assert shares_of(made) == shares
    assert (size <= MIB).all()
    # A class of two fifths of the bytes has pieces two fifths as large: as many as the other.
    assert kind.mean() == pytest.approx(0.5, abs=0.03)


def test_a_history_of_pieces_is_whole() -> None:
    made = recipe(
        Fill(0.3), piece_bytes=16 * RECORD, files=FileSizes("lognormal", 64 * RECORD), whole_files=False
    )
    table = data_of(check_whole(ran(made)))
    assert np.bincount(table.object).max() <= 16


def test_more_versions_than_were_planned_for_are_refused() -> None:
    history = HistoryRun(recipe(Fill(0.2), Snapshot(), metadata=MetadataSizes(pointers=FAN)), 1)
    assert len(history._memory.kept) > 4 * len(history._memory.slots)
    assert len(HistoryRun(recipe(Fill(0.2)), 1)._memory.kept) == 1
