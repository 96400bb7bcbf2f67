"""The array in which a leaf queue stands: in order whatever comes and goes, and no further than it must."""

from __future__ import annotations

import random
from bisect import insort

import numpy as np

from zsim.base.arrays import Table
from zsim.base.jit import bare, njit
from zsim.engine.codes import ASYNC_READ, CLASSES, REBUILD, SCRUB
from zsim.engine.compiled.free_children import AT_ONCE, free_child, take_child
from zsim.engine.compiled.memory import PlaneMemory
from zsim.engine.compiled.queue import BUCKET_MASK, STRAY_ENTRIES, elevator, insert, remove_range, tag_of
from zsim.engine.leaf_rules import address_rank

ROOM, CHILDREN = 1 << 17, 3_000
ONE = (
    "leaves", "servers", "vdevs", "vdev_children", "streams", "slots", "commands", "held",
    "program", "items", "copies",
)  # fmt: skip
NONE = ("links", "clients", "client_items", "records", "permutations", "shingles", "groups")
SIZES = dict.fromkeys(ONE, 1) | dict.fromkeys(NONE, 0)


@njit
def put(state: Table, row: int, child: int, offset: int, tag: int) -> None:
    """Call `insert` from here: the table of a kernel has no shape."""
    insert(bare(state), row, child, offset, tag)


@njit
def chosen(state: Table, row: int, klass: int, last_offset: int, bucket: int) -> int:
    """Call `elevator` from here."""
    return elevator(bare(state), row, klass, last_offset, bucket)


@njit
def take(state: Table, row: int, first: int, last: int) -> None:
    """Call `remove_range` from here."""
    remove_range(bare(state), row, first, last)


def standing(memory: PlaneMemory, row: int) -> list[tuple[int, int]]:
    low, high = memory.bounds[row]
    return [(int(each["offset"]), int(each["child"])) for each in memory.queue[row, low:high]]


def test_entries_stand_by_offset_and_equals_by_rank() -> None:
    memory = PlaneMemory(**SIZES, children=CHILDREN, queue=64)
    memory.children["stamp"] = np.arange(CHILDREN)
    expected: list[tuple[int, float, int]] = []
    chance = random.Random(3)
    for child in range(CHILDREN):
        offset = chance.randrange(40)
        put(memory.table, 1, child, offset, 0)
        insort(expected, (offset, address_rank(child), child))
        if len(expected) > 24:
            first = chance.randrange(len(expected) - 4)
            begin = int(memory.bounds[1, 0]) + first
            take(memory.table, 1, begin, begin + 3)
            del expected[first : first + 4]
        assert standing(memory, 1) == [(offset, child) for offset, _, child in expected]


def test_a_queue_filled_at_one_end_and_emptied_at_the_other_stays_where_it_began() -> None:
    for rising in (True, False):
        memory = PlaneMemory(**SIZES, children=1, queue=ROOM)
        for child in range(ROOM // 4):
            put(memory.table, 0, child, child if rising else -child, 0)
            if child >= 10:
                low, high = memory.bounds[0]
                end = int(low) if rising else int(high) - 1
                take(memory.table, 0, end, end)
        assert len(standing(memory, 0)) == 10
        touched = memory.queue["child"][0].nonzero()[0]
        assert touched.max() - touched.min() < 2 * STRAY_ENTRIES


def test_the_elevator_meets_its_class_and_bucket_alone_and_wraps() -> None:
    memory = PlaneMemory(**SIZES, children=8, queue=64)
    queued = [(10, SCRUB, 7), (20, ASYNC_READ, 7), (30, SCRUB, 8), (40, SCRUB, 7), (50, SCRUB, 8)]
    for child, (offset, klass, bucket) in enumerate(queued):
        put(memory.table, 0, child, offset, tag_of(klass, bucket))
    begin = int(memory.bounds[0, 0])

    def at(klass: int, last_offset: int, bucket: int) -> int:
        place = chosen(memory.table, 0, klass, last_offset, bucket)
        return -1 if place < 0 else queued[place - begin][0]

    assert [at(SCRUB, offset, 7) for offset in (0, 10, 11, 40, 41)] == [10, 10, 40, 40, 10]
    assert [at(SCRUB, offset, 8) for offset in (0, 31, 51)] == [30, 50, 30]
    assert [at(SCRUB, offset, -1) for offset in (0, 11, 31, 51)] == [10, 30, 40, 10]
    assert [at(ASYNC_READ, offset, -1) for offset in (0, 21)] == [20, 20]
    assert at(ASYNC_READ, 0, 8) == at(REBUILD, 0, -1) == -1


def test_no_tag_is_too_large_for_a_queue_and_none_means_two_things() -> None:
    tags = [tag_of(klass, bucket) for bucket in (0, 1, 255, 256, BUCKET_MASK) for klass in range(CLASSES)]
    assert len(set(tags)) == len(tags)
    assert 0 <= min(tags) <= max(tags) < 1 << 31


# Each leaf has a list of the child I/Os that it has free.


@njit
def taken(state: Table, leaf: int) -> int:
    """Call `take_child` from here."""
    return take_child(bare(state), leaf)


@njit
def put_back(state: Table, leaf: int, number: int) -> None:
    """Call `free_child` from here."""
    free_child(bare(state), leaf, number)


def memory_of(children: int, leaves: int = 2) -> PlaneMemory:
    return PlaneMemory(**{**SIZES, "leaves": leaves}, children=children, queue=64)


def test_those_of_a_leaf_lie_side_by_side_whoever_asks_in_between() -> None:
    memory = memory_of(4 * AT_ONCE)
    table = memory.table
    asked = [(taken(table, 0), taken(table, 1)) for _ in range(AT_ONCE + 1)]
    first, second = zip(*asked, strict=True)
    assert first == (*range(AT_ONCE), 2 * AT_ONCE)
    assert second == (*range(AT_ONCE, 2 * AT_ONCE), 3 * AT_ONCE)


def test_what_was_freed_comes_again_first_of_its_leaf_alone() -> None:
    memory = memory_of(4 * AT_ONCE)
    table = memory.table
    for _ in range(3):
        taken(table, 0)
    put_back(table, 0, 2)
    put_back(table, 0, 0)
    assert taken(table, 1) == AT_ONCE
    assert [taken(table, 0) for _ in range(3)] == [0, 2, 3]


def test_the_last_ones_go_to_whoever_needs_them() -> None:
    count = AT_ONCE + 5
    memory = memory_of(count, leaves=3)
    table = memory.table
    found = [taken(table, 0)]
    found += [taken(table, 2) for _ in range(count - 1)]
    assert sorted(found) == list(range(count)), "those that leaf 0 had free too"
    for number in found[1:]:
        put_back(table, 2, number)
    assert sorted(taken(table, 1) for _ in range(count - 1)) == sorted(found[1:])
