"""Rules of the scan, each against its sentence: what is traversed and held, the tree, copies, the limit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scan.test_scan_program import SECTOR, queue, table
from zsim.operation.memory_limit import MemoryLimit, extent_rules
from zsim.pool.blocks import LEVEL_OBJSET, BlockTable
from zsim.scan.items import joined_items, plain_items
from zsim.scan.program import (
    OP_ISSUE,
    OP_PREFETCH,
    OP_VISIT,
    DamagedVdev,
    columns_of,
    held_in_memory,
    is_traversed,
    metadata_tree,
    of_snapshots,
    scan_items,
    traversal_program,
    wanted_above,
    with_entries,
)
from zsim.scan.rebuild import Chunks, with_chunks
from zsim.scan.rewritten import rewritten_by_start, rewritten_in_turn
from zsim.scan.sorted import ExtentRules, scored_extents
from zsim.scenario.releases.profile import load_release

MIB, GIB = 1 << 20, 1 << 30


def row_of(**fields: int) -> BlockTable:
    """Return a table of one block: level 0, block 5 of object 2 of objset 54 unless stated."""
    plain = table([(0, SECTOR)]).take(np.array([2]))
    stated = {"objset": 54, "object": 2, "level": 0, "blkid": 5, **fields}
    return replace(
        plain, **{name: np.array([value], getattr(plain, name).dtype) for name, value in stated.items()}
    )


@pytest.mark.parametrize(
    ("fields", "traversed", "held"),
    [
        ({}, False, False),  # data of a file
        ({"blkid": 0}, False, False),
        ({"level": 1}, True, False),  # its indirect block
        ({"level": 1, "blkid": 0}, True, False),
        ({"object": 0}, True, False),  # a dnode block
        ({"object": 0, "blkid": 0}, True, True),  # the first of an objset
        ({"object": 0, "level": 1}, True, True),  # above dnode blocks
        ({"object": 0, "level": LEVEL_OBJSET}, True, True),  # the objset's root
        ({"object": 0, "level": LEVEL_OBJSET, "blkid": 0}, True, True),
        ({"objset": 0}, False, False),  # data of the MOS is issued as any other
        ({"objset": 0, "level": 1}, True, True),
        ({"objset": 0, "object": 0}, True, True),
        ({"objset": 1, "level": 1}, True, False),
    ],
)
def test_what_is_traversed_and_what_of_it_is_held(
    fields: dict[str, int], traversed: bool, held: bool
) -> None:
    block = row_of(**fields)
    assert is_traversed(block).tolist() == [traversed]
    assert held_in_memory(block).tolist() == [held]


def objsets(*rows: tuple[int, int, int]) -> BlockTable:
    """Return a table of blocks, each of which has objset, level and birth."""
    blocks = table([(number * SECTOR, SECTOR) for number in range(len(rows))]).take(np.arange(len(rows)))
    objset, level, birth = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return replace(
        blocks, objset=objset, level=level.astype(np.int16), birth=birth, object=np.zeros(len(rows), np.int64)
    )


def test_snapshots_are_later_objsets_older_than_all_that_is_listed_of_an_earlier_one() -> None:
    roots = [(54, 900), (60, 500), (70, 400), (80, 990)]
    rows = [(0, 1, 100), *((number, LEVEL_OBJSET, birth) for number, birth in roots)]
    # Of 54 all that is listed is younger than the root of 60, but not than that of 80; 70 is older still.
    rows += [(54, 1, 600), (60, 1, 450), (70, 1, 300), (80, 1, 200)]
    assert np.unique(objsets(*rows).objset[of_snapshots(objsets(*rows))]).tolist() == [60, 70]
    idle = [(0, 1, 100), (54, LEVEL_OBJSET, 900), (54, 1, 20), (60, LEVEL_OBJSET, 500), (60, 1, 450)]
    assert not of_snapshots(objsets(*idle)).any()


def test_an_import_leaves_in_memory_the_mos_the_roots_and_what_was_written_last() -> None:
    last = 600
    rows = [(0, 1, 5), (54, LEVEL_OBJSET, 40), (54, 5, last - 3), (54, 1, last - 2), (54, 2, last)]
    rows += [(60, LEVEL_OBJSET, 30), (60, 1, 25)]
    blocks = objsets(*rows)
    assert held_in_memory(blocks, imported=True).tolist() == [True, True, False, True, True, False, False]
    assert held_in_memory(blocks).tolist() == [True, True, True, True, True, False, False]


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=30))
def test_the_tree_is_that_of_the_ranks(rows: list[tuple[int, bool]]) -> None:
    """A parent is the nearest traversed one before that stands higher, with none as high between."""
    ranks, traversed = np.array([r for r, _ in rows]), np.array([t for _, t in rows])
    first, following, parents = metadata_tree(ranks, traversed)
    for row, rank in enumerate(ranks):
        open_ones = [
            each for each in range(row)
            if traversed[each] and ranks[each] > rank and (ranks[each + 1 : row] < ranks[each]).all()
        ]  # fmt: skip
        assert parents[row] == (open_ones[-1] if open_ones else -1)
    for row in range(len(rows)):
        children = [each for each in range(len(rows)) if parents[each] == row and traversed[each]]
        assert first[row] == (children[0] if children else -1)
        for one, other in zip(children, [*children[1:], -1], strict=False):
            assert following[one] == other
    wanted = np.array([rank % 2 == 0 for rank in ranks])
    above = wanted_above(parents, wanted)
    for row in range(len(rows)):
        parent = parents[row]
        while parent >= 0 and not wanted[parent]:
            parent = parents[parent]
        assert above[row] == parent


@pytest.mark.parametrize("prefetch", [False, True])
def test_a_walk_visits_prefetches_and_issues(prefetch: bool) -> None:
    blocks = table([(0, SECTOR), (SECTOR, SECTOR)])
    wanted = np.ones(len(blocks), bool)
    program = traversal_program(blocks, scan_items(blocks, seed=1, wanted=wanted), wanted, prefetch=prefetch)
    steps = list(zip(program.code.tolist(), program.item.tolist(), strict=True))
    fetched = [(OP_PREFETCH, 1)] if prefetch else []
    issued = [(OP_ISSUE, 2), (OP_ISSUE, 3), (OP_ISSUE, 1), (OP_ISSUE, 0)]
    assert steps == [(OP_VISIT, 0), *fetched, (OP_VISIT, 1), *issued]


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_the_other_copies_are_those_that_are_not_read(copies: int) -> None:
    blocks = table([(number * SECTOR, SECTOR) for number in range(40)])
    count = len(blocks)
    vdev, offset = np.full((count, 3), -1, np.int32), np.zeros((count, 3), np.int64)
    for copy in range(copies):
        vdev[:, copy], offset[:, copy] = copy, 1000 * copy + np.arange(count)
    blocks = replace(blocks, dva_vdev=vdev, dva_offset=offset, dva_count=np.full(count, copies, np.int16))
    items = scan_items(blocks, seed=3)
    assert items.copy_count.tolist() == [copies - 1] * count
    for row in range(count):
        begin = items.copies[row]
        others = items.copy_vdev[begin : begin + copies - 1].tolist()
        assert sorted([int(items.vdev[row]), *others]) == list(range(copies))
        places = [int(items.offset[row]), *items.copy_offset[begin : begin + copies - 1].tolist()]
        assert sorted(places) == [1000 * copy + row for copy in range(copies)]
    assert len(set(items.vdev.tolist())) == copies


def limit(memory: int = 16 * GIB, allocated: int = 1 << 50, **tunables: int) -> MemoryLimit:
    release = load_release("openzfs-2.3")
    return MemoryLimit(
        replace(release, tunables=type(release.tunables)({**release.tunables, **tunables})), memory, allocated
    )


class Held:
    """Queues that hold so much."""

    def __init__(self, used: float, waiting: int = 1) -> None:
        self.used, self.waiting = used, waiting

    def used_bytes(self) -> float:
        return self.used


def test_limits_are_shares_of_memory_and_of_the_pool() -> None:
    assert limit().hard == 16 * GIB // 20
    assert limit().soft == limit().hard - limit().hard // 20
    assert limit(memory=64 * MIB).hard == 16 * MIB  # zfs_scan_mem_lim_min
    assert limit(allocated=100 * MIB).hard == 5 * MIB  # a twentieth of the pool
    assert limit(allocated=3).hard == 1
    large = limit(memory=4096 * GIB)
    assert large.soft == large.hard - 128 * MIB  # zfs_scan_mem_lim_soft_max
    assert limit(zfs_scan_mem_lim_fact=10).hard == 16 * GIB // 10


def test_collecting_stops_at_the_hard_limit_and_goes_on_below_the_soft_one() -> None:
    one = limit()
    middle = (one.soft + one.hard) / 2
    assert one.mode(0.0, Held(0.0), visited_all=False) == "visit"
    assert one.mode(1.0, Held(middle), visited_all=False) == "visit"
    assert one.mode(2.0, Held(one.hard), visited_all=False) == "issue"
    assert one.mode(3.0, Held(middle), visited_all=False) == "issue"
    assert one.mode(4.0, Held(one.soft), visited_all=False) == "issue"
    assert one.mode(5.0, Held(one.soft - 1), visited_all=False) == "visit"
    assert not one.by_address


def test_checkpoints_drain_the_queues_by_address() -> None:
    one = limit(zfs_scan_checkpoint_intval=100)
    assert one.mode(100.0, Held(0.0), visited_all=False) == "visit"
    assert one.mode(100.5, Held(0.0), visited_all=False) == "issue"
    assert one.by_address
    assert one.mode(101.0, Held(0.0, waiting=0), visited_all=False) == "visit"
    assert not one.by_address
    assert one.last_checkpoint == 101.0
    assert one.mode(201.0, Held(0.0), visited_all=False) == "visit"
    one.finish_visits()
    assert one.mode(202.0, Held(0.0), visited_all=True) == "issue"
    assert one.by_address
    assert one.mode(203.0, Held(0.0, waiting=0), visited_all=True) == "done"


@pytest.mark.parametrize(("strategy", "checkpointing", "by_address"), [
    (0, False, False), (0, True, True), (1, False, True), (1, True, True), (2, False, False),
    (2, True, False),
])  # fmt: skip
def test_the_issue_strategy_decides_the_order(strategy: int, checkpointing: bool, by_address: bool) -> None:
    one = limit(zfs_scan_issue_strategy=strategy)
    one.checkpointing = checkpointing
    assert one.by_address is by_address


def test_a_strict_limit_stops_within_a_txg() -> None:
    one = limit(zfs_scan_strict_mem_lim=1)
    each = one.hard / 10
    assert one.strict_stop(lambda count: each * count, 3, 100) == 10
    assert one.strict_stop(lambda count: each * count, 10, 100) == 11
    assert one.strict_stop(lambda count: 0.0, 3, 100) == 100
    assert one.strict_stop(lambda count: each * count, 100, 100) == 100
    assert limit().strict_stop(lambda count: each * count, 3, 100) == 100


@pytest.mark.parametrize("most", range(4, 40))
def test_a_strict_limit_stops_at_the_first_entry_that_reaches_it(most: int) -> None:
    one = limit(zfs_scan_strict_mem_lim=1)
    assert one.strict_stop(lambda count: one.hard * count / most, 3, 40) == most


def test_the_queues_take_a_twentieth_of_what_is_allocated_at_most() -> None:
    """dsl_scan_should_clear: alloc / 20, however much memory there is."""
    assert limit(memory=1 << 50, allocated=20 * GIB).hard == GIB
    assert limit(memory=1 << 50, allocated=10).hard == 1


def test_extents_follow_the_release() -> None:
    rules = extent_rules(load_release("openzfs-2.3"))
    assert (rules.max_gap, rules.fill_weight) == (2 * MIB, 3)


def test_the_start_rewrites_the_mos_and_nothing_else() -> None:
    """Blocks of the MOS that each txg changes; see `rewritten_by_start`."""
    assert not rewritten_by_start(row_of(objset=54, object=0, blkid=0)).any()


@pytest.mark.parametrize(
    ("fields", "rewritten"),
    [
        ({"birth": 20, "object": 9}, True),  # of the youngest txg
        ({"birth": 19, "object": 9}, False),
        ({"birth": 19, "object": 1}, True),  # the object directory
        ({"birth": 19, "object": 0, "blkid": 0}, True),  # its dnode's block
        ({"birth": 19, "object": 0, "blkid": 1}, False),
        ({"birth": 19, "object": 0, "blkid": 0, "level": 1}, False),
        ({"birth": 20, "object": 9, "objset": 3}, False),  # of a dataset
    ],
)
def test_the_start_of_a_scan_rewrites_part_of_the_mos(fields: dict[str, int], rewritten: bool) -> None:
    block = row_of(**{"objset": 0, "level": 0, "blkid": 5, **fields})
    youngest = row_of(objset=0, object=7, birth=20)
    both = BlockTable(
        *(np.concatenate((getattr(block, name), getattr(youngest, name))) for name in block.__slots__)
    )
    assert rewritten_by_start(both).tolist() == [rewritten, True]


def test_each_txg_rewrites_the_space_map_that_waited_longest() -> None:
    """Of a map and a log of each of three txgs, and of others, where two metaslabs are in use."""
    ring = [{"objset": 0, "object": number, "birth": birth} for birth in (7, 8, 9) for number in (birth, 20)]
    others = [{"objset": 0, "object": 3, "birth": 1}, {"objset": 0, "object": 30, "birth": 10}, {"birth": 8}]
    rows = [row_of(**fields) for fields in [*ring, *others]]
    blocks = BlockTable(*(np.concatenate([getattr(row, name) for row in rows]) for name in rows[0].__slots__))
    blocks.dva_offset[:, 0] = np.arange(len(blocks)) % 2 << 20
    blocks.dva_vdev[:, 0], blocks.dva_vdev[:, 1:] = 0, -1
    turns = rewritten_in_turn(blocks, [20])
    assert [turn.tolist() for turn in turns] == [[2, 3], [4, 5]]
    assert rewritten_in_turn(row_of(), [20]) == []


def test_entries_begin_at_their_copy_and_follow_the_items_copies() -> None:
    blocks = table([(0, SECTOR), (SECTOR, SECTOR)])
    count = len(blocks)
    vdev = np.tile(np.array([0, 1, 2], np.int32), (count, 1))
    offset = np.arange(3 * count, dtype=np.int64).reshape(count, 3)
    blocks = replace(blocks, dva_vdev=vdev, dva_offset=offset, dva_count=np.full(count, 3, np.int16))
    items = scan_items(blocks, seed=1)
    rows, copy, chance = np.array([2, 2, 3]), np.array([0, 2, 1]), np.array([0.1, 0.5, 0.9])
    scrub = with_entries(items, blocks, rows, copy, chance=chance, scrub=True)
    assert len(scrub) == count + 3
    assert scrub.vdev[count:].tolist() == [0, 2, 1]
    assert scrub.offset[count:].tolist() == [6, 8, 10]
    assert scrub.copy_count[count:].tolist() == [0, 0, 0]
    repair = with_entries(items, blocks, rows, copy, chance=chance, scrub=False)
    for entry, row in zip(range(count, count + 3), rows.tolist(), strict=True):
        begin = repair.copies[entry]
        places = [int(repair.offset[entry]), *repair.copy_offset[begin : begin + 2].tolist()]
        assert sorted(places) == offset[row].tolist()


def test_an_extent_scores_its_fill_and_three_times_its_density() -> None:
    """OpenZFS dsl_scan.c:ext_size_value: fill + (fill * 100 / size) * weight * fill / 100."""
    entries = queue([(0, 4 * SECTOR), (8 * SECTOR, 4 * SECTOR)])
    rules = extent_rules(load_release("openzfs-2.3"))
    extent, coarse = scored_extents(entries, np.arange(2), rules)
    fill, size = 8 * SECTOR, 12 * SECTOR
    score = fill + 3 * (fill * 100 // size) * fill // 100
    assert extent.tolist() == [0, 0]
    assert coarse.tolist() == [1 << (score.bit_length() - 1)]  # 2.x sorts by the power of two
    fine = ExtentRules(max_gap=rules.max_gap, fill_weight=rules.fill_weight, coarse=False)
    assert scored_extents(entries, np.arange(2), fine)[1].tolist() == [score]


def test_without_tunables_the_limits_are_those_of_openzfs() -> None:
    """The values of a module that nobody has tuned: OpenZFS dsl_scan.c, zfs_scan_*."""
    release = load_release("openzfs-2.3")
    bare = replace(release, tunables=type(release.tunables)({}))
    for rules in (extent_rules(bare), extent_rules(release)):
        assert (rules.max_gap, rules.fill_weight) == (2 * MIB, 3)
    for memory in (64 * MIB, 16 * GIB, 4096 * GIB):
        one, stated = MemoryLimit(bare, memory, 1 << 50), MemoryLimit(release, memory, 1 << 50)
        assert (one.hard, one.soft, one.interval) == (stated.hard, stated.soft, stated.interval)
        assert (one.strict, one.strategy) == (False, 0)
    assert MemoryLimit(bare, GIB, 1 << 50).interval == 7200.0


def test_what_follows_new_tunables_goes_on_with_what_is_going_on() -> None:
    one = limit()
    assert one.mode(1.0, Held(one.hard), visited_all=False) == "issue"
    release = load_release("openzfs-2.3")
    one.follow(release.with_tunables({"zfs_scan_mem_lim_fact": 2}))
    assert one.hard == 16 * GIB // 2
    assert one.clearing


def test_a_block_is_read_as_wide_as_it_was_written() -> None:
    """Eight sectors with parity take twelve on four drives, ten on the five they became (0: as new ones)."""
    blocks = table([(0, 8 * SECTOR), (16 * SECTOR, 8 * SECTOR)])
    blocks.dva_asize[:, 0] = [2 * SECTOR, 2 * SECTOR, 12 * SECTOR, 10 * SECTOR]
    expanded = DamagedVdev("expanded-raidz", 5, 1, 12, damaged=(0,), data=4, grown=1)
    assert columns_of(blocks, (expanded,))[2:].tolist() == [[3, 0, 0], [0, 0, 0]]
    assert scan_items(blocks, seed=1).columns.tolist() == [0, 0, 0, 0]
    items = scan_items(blocks, seed=1, vdevs=(expanded,))
    assert items.columns[2:].tolist() == [3, 0]
    rows, copy, chance = np.array([3, 2]), np.array([0, 0]), np.array([0.2, 0.7])
    entries = with_entries(items, blocks, rows, copy, chance=chance, scrub=True, vdevs=(expanded,))
    assert entries.columns[-2:].tolist() == [0, 3]
    # On the second of two vdevs, as the second of two copies.
    twice = replace(blocks, dva_count=np.full(len(blocks), 2, np.int16))
    for name in ("dva_vdev", "dva_offset", "dva_asize"):
        getattr(twice, name)[:, 1] = getattr(blocks, name)[:, 0]
    twice.dva_vdev[:, 0], twice.dva_vdev[:, 1] = 0, 1
    vdevs = (DamagedVdev("mirror", 2, 0, 12), expanded)
    assert columns_of(twice, vdevs)[2:].tolist() == [[0, 3, 0], [0, 0, 0]]
    second = with_entries(items, twice, rows, copy + 1, chance=chance, scrub=True, vdevs=vdevs)
    assert second.columns[-2:].tolist() == [0, 3]


def test_chunks_of_a_rebuild_stand_behind_the_blocks() -> None:
    blocks = table([(0, SECTOR), (SECTOR, SECTOR)])
    items = scan_items(blocks, seed=1, wanted=np.ones(2, bool))
    chunks = Chunks(np.array([0, 8 * SECTOR]), np.array([2 * SECTOR, SECTOR]), np.array([0, 0]))
    both = with_chunks(items, chunks, 3)
    assert len(both) == len(items) + 2
    assert both.vdev.tolist() == [*items.vdev.tolist(), 3, 3]
    assert both.offset[-2:].tolist() == [0, 8 * SECTOR]
    assert both.psize[-2:].tolist() == [2 * SECTOR, SECTOR]
    assert both.copy_count[-2:].tolist() == [0, 0]
    assert both.level0[-2:].all()
    assert not both.in_memory[-2:].any()
    for name in ("prefetch_first", "prefetch_next", "unwind"):
        assert getattr(both, name)[-2:].tolist() == [-1, -1]
    assert both.prefetch_first[:2].tolist() == items.prefetch_first[:2].tolist()


def test_joined_items_keep_their_trees_and_copies() -> None:
    """What points to an item or to a copy points to the same one behind the others."""
    first = scan_items(table([(0, SECTOR), (SECTOR, SECTOR)]), seed=1)
    place, one = np.array([5 * SECTOR, 6 * SECTOR]), np.ones(2, np.int64)
    plain = plain_items(np.array([0, 0]), place, SECTOR * one)
    second = replace(
        plain, copies=np.arange(2), copy_count=one, copy_vdev=one, copy_offset=place,
        prefetch_first=np.array([1, -1]), copy_columns=np.zeros(2, np.int16),
    )  # fmt: skip
    both = joined_items(joined_items(first, second), second)
    assert both.unwind is None
    count = len(first)
    assert both.prefetch_first[count:].tolist() == [count + 1, -1, count + 3, -1]
    assert both.copies[count:].tolist() == [0, 1, 2, 3]
    assert both.copy_offset.tolist() == [*place, *place]
    ways = joined_items(first, replace(plain, unwind=np.array([-1, 0])))
    assert ways.unwind is not None
    assert ways.unwind.tolist() == [-1] * count + [-1, count]


def test_files_stand_below_dnodes_and_these_below_the_root() -> None:
    fields = [
        {"object": 0, "level": LEVEL_OBJSET}, {"object": 0, "level": 1}, {"object": 0, "blkid": 1},
        {"level": 1}, {}, {"object": 0, "blkid": 2}, {"object": 40, "level": 1},
        {"objset": 60, "object": 0, "level": LEVEL_OBJSET}, {"objset": 60, "object": 0, "level": 1},
    ]  # fmt: skip
    rows = [row_of(**each) for each in fields]
    blocks = BlockTable(*(np.concatenate([getattr(row, name) for row in rows]) for name in rows[0].__slots__))
    items = scan_items(blocks, seed=1, wanted=np.ones(len(blocks), bool))
    assert items.unwind is not None
    assert items.unwind.tolist() == [-1, 0, 1, 2, 3, 1, 5, -1, 7]
    assert items.level0.tolist() == [each.get("level", 0) == 0 for each in fields]
