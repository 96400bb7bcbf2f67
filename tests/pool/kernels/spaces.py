"""Small pools for kernels that are called one by one: nothing on them but what a test puts there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from zsim.pool.recipes.recipe import PoolRecipe, TopLevel
from zsim.pool.recipes.styles import AllocatorStyle
from zsim.pool.simulator.memory import DATASET, FILE, KEPT, LIST, NOW, SLOT, HistoryMemory
from zsim.pool.simulator.metaslabs import weigh_all
from zsim.pool.simulator.population import lay_out_space
from zsim.pool.simulator.segments import recount
from zsim.pool.simulator.weights import weight_now
from zsim.scenario.layout import VdevSpec

KIB, MIB = 1 << 10, 1 << 20
UNIT = 4 * KIB
MIRROR = VdevSpec.mirror(2)
PLAIN = AllocatorStyle(allocators=1, fill_empty=False, lba_weight=False, frag_factor=False)
ROOM = 64


def space(
    units: int = 64,
    slabs: int = 4,
    vdevs: int = 1,
    spec: VdevSpec = MIRROR,
    tail: int = 0,
    style: AllocatorStyle = PLAIN,
    **rules: object,
) -> HistoryMemory:
    """Return vdevs and metaslabs of so many smallest allocations, all free; `rules` change the style."""
    level = TopLevel(spec, 12, 0, slabs)
    level = replace(level, slab_bytes=units * level.unit + tail)
    memory = HistoryMemory()
    recipe = PoolRecipe((level,) * vdevs, replace(style, **rules))  # type: ignore[arg-type]
    lay_out_space(memory, recipe, 0, 64 * units)
    for name, kind in (
        ("files", FILE),
        ("datasets", DATASET),
        ("slots", SLOT),
        ("lists", LIST),
        ("kept", KEPT),
    ):
        setattr(memory, name, np.zeros(ROOM, dtype=kind))
    memory.now = np.zeros(1, dtype=NOW)
    memory.ratio_values = memory.ratio_chances = np.ones((1, 1))
    memory.snapshots = np.zeros(ROOM, np.int64)
    memory.seal()
    weigh_all(memory.table)
    return memory


def set_free(memory: HistoryMemory, slab: int, free: Sequence[bool] | np.ndarray) -> None:
    """Leave a metaslab these units free."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], np.asarray(free, bool), [0])).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    memory.starts[slab, : len(starts)], memory.ends[slab, : len(ends)] = starts, ends
    before = int(memory.slabs["free"][slab])
    unit = int(memory.vdevs["unit"][memory.slabs["vdev"][slab]])
    memory.slabs["segments"][slab], memory.slabs["empty"][slab] = len(starts), 0
    memory.slabs["free"][slab] = int(np.sum(free))
    memory.vdevs["used"][memory.slabs["vdev"][slab]] += (before - int(np.sum(free))) * unit
    recount(memory.table, slab)
    memory.slabs["weight"][slab] = weight_now(memory.table, slab)


def lengths(memory: HistoryMemory, slab: int, free: Sequence[int], apart: int = 1) -> None:
    """Leave a metaslab free segments of these lengths, `apart` taken units behind each."""
    units = int(memory.slabs["units"][slab])
    there = [unit for length in free for unit in [True] * length + [False] * apart]
    set_free(memory, slab, np.array((there + [False] * units)[:units]))


def segments_of(memory: HistoryMemory, slab: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where the free segments of a metaslab begin and end; of an untouched one they stand nowhere."""
    units, count = int(memory.slabs["units"][slab]), int(memory.slabs["segments"][slab])
    if int(memory.slabs["free"][slab]) == units:
        return np.array([0]), np.array([units])
    return memory.starts[slab, :count], memory.ends[slab, :count]


def free_of(memory: HistoryMemory, slab: int) -> np.ndarray:
    """Return which units of a metaslab are free."""
    free = np.zeros(int(memory.slabs["units"][slab]), bool)
    for begin, end in zip(*segments_of(memory, slab), strict=True):
        assert not free[begin:end].any(), "no unit is free twice"
        free[begin:end] = True
    return free


def histogram_of_free(memory: HistoryMemory, slab: int) -> list[int]:
    """Return how many free segments of each power of two a metaslab has, counted from its units."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], free_of(memory, slab), [0])).astype(np.int8)))
    unit, tail = int(memory.vdevs["unit"][memory.slabs["vdev"][slab]]), int(memory.slabs["tail"][slab])
    last = int(memory.slabs["units"][slab])
    sizes = [
        (end - start) * unit + (tail if end == last else 0) for start, end in edges.reshape(-1, 2).tolist()
    ]
    return np.bincount([size.bit_length() - 1 for size in sizes], minlength=48).tolist()
