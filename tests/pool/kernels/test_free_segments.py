"""Free segments of a metaslab, against a map of its units: what is found, what is taken, what comes back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.pool.kernels.spaces import (
    KIB,
    UNIT,
    free_of,
    histogram_of_free,
    lengths,
    set_free,
    space,
)
from zsim.pool.fragmentation import TABLES
from zsim.pool.simulator.metaslabs import end_txg, log_free
from zsim.pool.simulator.segments import (
    FRAG_TABLE,
    MIN_SEARCH_COUNT,
    bucket,
    first_from,
    fragmentation_of,
    holds,
    largest_segment,
    pick_by_size,
    pick_forward,
    pick_segment,
    segment_bytes,
    squeeze,
    take_units,
    top_bucket,
)
from zsim.pool.sorting import sort_in_place
from zsim.vdevs.kind import VdevSpec

MAPS = st.lists(st.booleans(), min_size=24, max_size=24)


def runs(free: list[bool]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], free, [0])).astype(np.int8)))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


@pytest.mark.parametrize("power", [0, 1, 9, 12, 30, 47])
def test_a_size_is_counted_with_the_power_of_two_at_or_below_it(power: int) -> None:
    assert [bucket(2**power), bucket(2 ** (power + 1) - 1)] == [power] * 2


def test_the_last_segment_owns_what_is_no_whole_allocation() -> None:
    memory = space(units=10, spec=VdevSpec.raidz(1, 3), tail=UNIT)
    assert int(memory.vdevs["unit"][0]) == 2 * UNIT
    assert segment_bytes(memory.table, 1, 2, 9) == 14 * UNIT
    assert segment_bytes(memory.table, 1, 2, 10) == 17 * UNIT


@settings(max_examples=12)
@given(MAPS)
@example([False] * 24)
@example([True] * 24)
def test_what_is_free_is_found(free: list[bool]) -> None:
    """The largest segment, its power of two, and whether a block fits, as the map of units has it."""
    memory = space(units=24, spec=VdevSpec.raidz(1, 3), tail=UNIT)
    set_free(memory, 1, free)
    unit = 2 * UNIT
    sizes = [(end - start) * unit + (UNIT if end == 24 else 0) for start, end in runs(free)]
    most = max(sizes, default=0)
    pool = memory.table
    assert largest_segment(pool, 1) == most
    assert top_bucket(pool, 1) == (most.bit_length() - 1 if most else -1)
    for size in (unit, most, most + 1, *(unit << k for k in range(5))):
        assert bool(holds(pool, 1, size)) == (0 < size <= most or (size == 0 and most > 0))
    for at in range(25):
        wanted = next((k for k, (_, end) in enumerate(runs(free)) if end > at), len(runs(free)))
        assert first_from(pool, 1, at) == wanted
    assert memory.histogram[1].tolist() == histogram_of_free(memory, 1)


@settings(max_examples=25)
@given(MAPS, st.integers(1, 6), st.sampled_from([0, 3]))
def test_best_fit_takes_the_smallest_that_holds_it_and_those_above_the_floor_first(
    free: list[bool], units: int, floor: int
) -> None:
    memory = space(units=24, size_floor=max(0, floor * UNIT - 1))
    set_free(memory, 0, free)
    fits = [(end - start, k) for k, (start, end) in enumerate(runs(free)) if end - start >= units]
    wanted = min([each for each in fits if each[0] >= floor] or fits, default=(0, -1))
    assert pick_by_size(memory.table, 0, units) == wanted[1]


def test_first_fit_takes_the_first_that_holds_it_from_where_it_begins() -> None:
    memory = space(units=40, search_window=0)
    lengths(memory, 0, [2, 4, 1, 4, 3])
    found = [[pick_forward(memory.table, 0, first, units) for units in (1, 3, 4, 5)] for first in (0, 2, 4)]
    assert found == [[0, 1, 1, -1], [2, 3, 3, -1], [4, 4, -1, -1]]


@pytest.mark.parametrize("before", [MIN_SEARCH_COUNT - 1, MIN_SEARCH_COUNT])
@pytest.mark.parametrize("beyond", [0, 1])
def test_first_fit_gives_up_behind_its_window_but_not_before_a_hundred_segments(
    before: int, beyond: int
) -> None:
    """Segments of one unit every second one: the large one begins at twice their number."""
    reach = 2 * before - beyond
    memory = space(units=2 * before + 8, search_window=reach * UNIT)
    lengths(memory, 0, [*[1] * before, 4])
    # A used-up segment in front is no place to begin from, and does not count.
    memory.ends[0, 0] = memory.starts[0, 0]
    memory.ends[0, 1] = memory.starts[0, 1]
    gives_up = beyond and before > MIN_SEARCH_COUNT + 1
    assert pick_forward(memory.table, 0, 0, 2) == (-1 if gives_up else before)
    lengths(memory, 0, [*[1] * before, 4])
    gives_up = beyond and before >= MIN_SEARCH_COUNT
    assert pick_forward(memory.table, 0, 0, 2) == (-1 if gives_up else before)


def test_a_metaslab_with_little_left_is_filled_by_best_fit() -> None:
    """metaslab_df_alloc_threshold: no segment as large; metaslab_df_free_pct: less than so much is free."""
    for rules, tight in (
        ({"best_fit_below": 32 * KIB, "best_fit_free_percent": 0}, True),
        ({"best_fit_below": 32 * KIB - 1, "best_fit_free_percent": 0}, False),
        ({"best_fit_below": 0, "best_fit_free_percent": 12}, False),
        ({"best_fit_below": 0, "best_fit_free_percent": 13}, True),
    ):
        memory = space(units=100, size_floor=0, **rules)
        lengths(memory, 0, [5, 4, 3])
        assert pick_segment(memory.table, 0, 3, 12) == (2 if tight else 0)


def test_first_fit_goes_round_where_it_searches_all_of_the_metaslab() -> None:
    for window, found in ((0, 0), (64 * KIB, 2)):
        memory = space(
            units=40, search_window=window, best_fit_below=0, best_fit_free_percent=0, size_floor=0
        )
        lengths(memory, 0, [5, 1, 4])
        memory.cursors[0, 14] = 38
        assert pick_segment(memory.table, 0, 4, 14) == found, "else by best fit"


def test_blocks_of_one_alignment_follow_one_another_and_space_is_conserved() -> None:
    memory = space(units=64, slabs=2, spec=VdevSpec.raidz(1, 3))
    pool, unit = memory.table, 2 * UNIT
    # 3 and 5 units have the same lowest bit; 4 has one of its own and begins at the front, where room is.
    places = [take_units(pool, 1, units) for units in (3, 5, 4, 3)]
    assert places == [0, 3, 8, 12]
    assert int(memory.slabs["free"][1]) == 64 - 15 == free_of(memory, 1).sum()
    assert int(memory.vdevs["used"][0]) == 15 * unit
    assert memory.slabs["changed"].tolist() == [0, 1]
    assert memory.histogram[1].tolist() == histogram_of_free(memory, 1)
    assert memory.cursors[1, 13] == 15
    assert memory.cursors[1, 15] == 12
    log_free(pool, 1, 0, 3)
    end_txg(pool, 3)
    assert take_units(pool, 1, 2) == 0, "its cursor has not moved"
    assert take_units(pool, 1, 3) == 15, "its cursor has"
    assert take_units(pool, 1, 64) == -1


def test_a_metaslab_is_filled_to_its_last_unit() -> None:
    memory = space(units=200)
    lengths(memory, 0, [1] * 90)
    taken = [take_units(memory.table, 0, 1) for _ in range(90)]
    assert sorted(taken) == list(range(0, 180, 2))
    assert take_units(memory.table, 0, 1) == -1
    assert int(memory.slabs["free"][0]) == 0
    squeeze(memory.table, 0)
    assert (int(memory.slabs["segments"][0]), int(memory.slabs["empty"][0])) == (0, 0)


def test_used_up_segments_are_dropped_and_the_others_stay_in_order() -> None:
    memory = space(units=20)
    lengths(memory, 0, [3, 1, 2])
    memory.starts[0, 1] = memory.ends[0, 1]
    memory.slabs["empty"][0] = 1
    squeeze(memory.table, 0)
    assert memory.starts[0, :2].tolist() == [0, 6]
    assert memory.ends[0, :2].tolist() == [3, 8]
    assert int(memory.slabs["segments"][0]) == 2


def test_frag_is_the_mean_of_the_table_over_what_is_free() -> None:
    """By hand, of holes of 4K (95 %) and one of 64K (60 %)."""
    assert FRAG_TABLE[: len(TABLES["to-16M"])].tolist() == list(TABLES["to-16M"])
    assert not FRAG_TABLE[len(TABLES["to-16M"]) :].any()
    memory = space(units=64)
    lengths(memory, 0, [1] * 8)
    assert fragmentation_of(memory.table, 0) == 95
    lengths(memory, 0, [1] * 4 + [16])
    assert fragmentation_of(memory.table, 0) == (4 * 95 + 16 * 60) // 20
    set_free(memory, 0, [False] * 64)
    assert fragmentation_of(memory.table, 0) == 0


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 23)), max_size=20), st.integers(0, 4))
def test_what_is_freed_can_be_allocated_two_txgs_later(places: list[tuple[int, int]], end: int) -> None:
    """Whatever the order, and wherever the ring of freed ranges begins again."""
    memory = space(units=24)
    ring = len(memory.log)
    memory.rules["log_head"] = memory.rules["log_tail"] = ring - end - 1
    memory.marks[:] = ring - end - 1
    for slab in (0, 1):
        set_free(memory, slab, [False] * 24)
    places = list(dict.fromkeys(places))
    used = int(memory.vdevs["used"][0])
    for slab, start in places:
        log_free(memory.table, slab, start, 1)
    for txg in range(3):
        assert [free_of(memory, slab).sum() for slab in (0, 1)] == [0, 0], txg
        assert int(memory.slabs["pending"].sum()) == len(places)
        end_txg(memory.table, 1)
    for slab in (0, 1):
        assert np.flatnonzero(free_of(memory, slab)).tolist() == sorted(s for k, s in places if k == slab)
        assert memory.histogram[slab].tolist() == histogram_of_free(memory, slab)
        assert int(memory.slabs["free"][slab]) == free_of(memory, slab).sum()
        edges = np.diff(np.concatenate(([0], free_of(memory, slab), [0])).astype(np.int8))
        assert int(memory.slabs["segments"][slab]) == (edges > 0).sum(), "neighbours are one"
    assert not memory.slabs["pending"].any()
    assert int(memory.vdevs["used"][0]) == used - len(places) * UNIT


@settings(max_examples=60)
@given(st.lists(st.integers(-50, 50), max_size=120))
@example(list(range(100)))
@example(list(range(100, 0, -1)))
@example([7] * 60)
def test_integers_are_sorted(values: list[int]) -> None:
    found = np.array(values, np.int64)
    sort_in_place(found)
    assert found.tolist() == sorted(values)


def test_many_integers_are_sorted() -> None:
    values = np.random.default_rng(1).integers(0, 10**12, 2000)
    found = values.copy()
    sort_in_place(found)
    assert np.array_equal(found, np.sort(values))
