"""The free segments of metaslabs: what is freed comes back in its place, counted by size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pool.kernels.spaces import segments_of
from tests.pool.test_population import AGED, small_recipe
from zsim.pool.recipes.recipe import KeepSnapshots, RecordClass, Snapshot
from zsim.pool.simulator.files import draw_files
from zsim.pool.simulator.memory import BUCKETS, HistoryMemory
from zsim.pool.simulator.population import HistoryRun, found_pool
from zsim.pool.simulator.segments import LENGTH_BITS, count_segment, merge_free, top_bucket

UNITS = 300


def counted(memory: HistoryMemory, slab: int) -> list[int]:
    """Return the histogram that the free segments of a metaslab call for."""
    starts, ends = segments_of(memory, slab)
    size = (ends - starts) * memory.vdevs["unit"][memory.slabs["vdev"][slab]]
    size[ends == memory.slabs["units"][slab]] += memory.slabs["tail"][slab]
    powers = [int(each).bit_length() - 1 for each in size if each > 0]
    return np.bincount(np.array(powers, np.int64), minlength=BUCKETS).tolist()


def is_consistent(memory: HistoryMemory, slab: int) -> bool:
    starts, ends = segments_of(memory, slab)
    there = ends > starts
    apart = bool((starts[there][1:] > ends[there][:-1]).all())
    free = int((ends - starts).sum()) == memory.slabs["free"][slab]
    highest = max((k for k in range(BUCKETS) if memory.histogram[slab, k]), default=-1)
    return (
        apart
        and free
        and memory.histogram[slab].tolist() == counted(memory, slab)
        and memory.slabs["top"][slab] >= highest == top_bucket(memory.table, slab)
    )


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=UNITS, max_size=UNITS))
def test_freed_ranges_join_the_free_segments_that_they_touch(states: list[int]) -> None:
    """0: free, 1: taken, 2: freed now; neighbours that are freed come in one range or in several."""
    recipe = small_recipe()
    memory = found_pool(recipe, draw_files(recipe, 0), 0)
    memory.vdevs["used"], memory.histogram[0] = 0, 0
    place = 0
    for start, end in ranges(states, 0):
        memory.starts[0, place], memory.ends[0, place] = start, end
        count_segment(memory.table, 0, start, end, 1)
        place += 1
    memory.slabs["segments"][0], memory.slabs["empty"][0] = place, 0
    memory.slabs["free"][0] = states.count(0)
    freed = [(at, at + 1) if at % 3 == 0 else None for at, state in enumerate(states) if state == 2]
    cut = [each for each in freed if each] + ranges(
        [0 if s == 2 and at % 3 else 1 for at, s in enumerate(states)], 0
    )
    keys = np.array(sorted(start << LENGTH_BITS | end - start for start, end in cut), np.int64)
    merge_free(memory.table, 0, keys, 0, len(keys))
    joined = ranges([0 if state != 1 else 1 for state in states], 0)
    count = int(memory.slabs["segments"][0])
    assert list(zip(memory.starts[0, :count], memory.ends[0, :count], strict=True)) == joined
    assert is_consistent(memory, 0)


def ranges(states: list[int], wanted: int) -> list[tuple[int, int]]:
    """Return where runs of one state begin and end."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], np.array(states) == wanted, [0])).astype(np.int8)))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


@pytest.mark.parametrize("release", ["freebsd-9.1", "0.6.5.11", "0.7.13", "2.3.9", "2.4"])
def test_segments_are_counted_as_they_are_after_a_history(release: str) -> None:
    records = (RecordClass(recordsize=16 << 10),)
    steps = (*AGED[:4], Snapshot(), *AGED[4:], KeepSnapshots(0))
    recipe = small_recipe(release=release, records=records, steps=steps)
    history = HistoryRun(recipe, 3)
    history.run(*steps)
    memory = history._memory
    assert int(memory.slabs["segments"].sum()) > 4 * len(memory.slabs)
    assert all(is_consistent(memory, slab) for slab in range(len(memory.slabs)))
