"""From the state of a history to the rows of a block table, in traversal order (compiled)."""

from __future__ import annotations

from typing import Any

import numpy as np

from zsim.jit import njit
from zsim.pool.metaslabs import I64, Space, units_needed
from zsim.pool.writing import DNODES_PER_BLOCK, State

ROOT_LEVEL = -1


NAME = np.dtype(
    [
        ("order", "i8"),
        ("dataset", "i8"),
        ("level", "i8"),
        ("item", "i8"),
        ("blkid", "i8"),
        ("data", "i8"),
        ("lsize", "i8"),
    ],
    align=True,
)


@njit
def name_slot(names: Any, at: int, slot: int, dataset: int, item: int, level: int, blkid: int, lsize: int) -> int:
    """Enter a slot as number `at` of the traversal into its NAME; return the next number."""
    names[slot].order = at
    names[slot].dataset = dataset
    names[slot].item = item
    names[slot].level = level
    names[slot].blkid = blkid
    names[slot].lsize = lsize
    names[slot].data = 1 if item > 0 and level == 0 and dataset >= 0 else 0
    return at + 1


@njit
def name_file(state: State, names: Any, at: int, file: int) -> int:
    """Name the blocks of a file, depth first, parents before children."""
    dataset, item = state.files[file].dataset, state.files[file].item
    fan = state.now[0].pointers
    top = state.files[file].levels
    for record in range(state.files[file].records):
        span = fan**top
        for level in range(top, 0, -1):
            if record % span == 0:
                slot = state.files[file].indirect[level] + record // span
                at = name_slot(names, at, slot, dataset, item, level, record // span, fan * 128)
            span //= fan
        at = name_slot(names, at, state.files[file].first + record, dataset, item, 0, record, state.files[file].lsize)
    return at


@njit
def name_dataset(state: State, names: Any, at: int, dataset: int, files: I64) -> int:
    """Name the blocks of a dataset; `files` are its files in the order of their object numbers."""
    fan = state.now[0].pointers
    at = name_slot(names, at, state.datasets[dataset].root, dataset, 0, ROOT_LEVEL, 0, 4096)
    top = state.now[0].meta_levels - 1
    last = state.files[files[files.size - 1]].item if files.size else 0
    k = 0
    for block in range(last // DNODES_PER_BLOCK + 1):
        span = fan**top
        for level in range(top, -1, -1):
            if block % span == 0:
                lsize = fan * 128 if level else 16384
                slot = state.datasets[dataset].meta[level] + block // span
                at = name_slot(names, at, slot, dataset, 0, level, block // span, lsize)
            span //= fan
        while k < files.size and state.files[files[k]].item // DNODES_PER_BLOCK == block:
            at = name_file(state, names, at, files[k])
            k += 1
    return at


@njit
def name_mos(state: State, names: Any) -> int:
    """Name the blocks of the MOS: root, indirect block, each dnode block followed by its objects."""
    dnodes, objects = state.now[0].mos_dnodes, state.now[0].mos_objects
    first = state.now[0].mos_first
    at = name_slot(names, 0, first, -1, 0, ROOT_LEVEL, 0, 4096)
    at = name_slot(names, at, first + 1, -1, 0, 1, 0, state.now[0].pointers * 128)
    for block in range(dnodes):
        at = name_slot(names, at, first + 2 + block, -1, 0, 0, block, 16384)
        for k in range(block * objects // dnodes, (block + 1) * objects // dnodes):
            item = block * DNODES_PER_BLOCK + 1 + k - block * objects // dnodes
            at = name_slot(names, at, first + 2 + dnodes + k, -1, item, 0, 0, 16384)
    return at


@njit
def name_all(state: State, names: Any, files: I64, first_file: I64) -> int:
    """Name every slot; ``files[first_file[d]:first_file[d + 1]]`` are the files of dataset d."""
    at = name_mos(state, names)
    for dataset in range(state.datasets.size):
        own = files[first_file[dataset] : first_file[dataset + 1]]
        at = name_dataset(state, names, at, dataset, own)
    return at


@njit
def locate(space: Space, slabs: I64, starts: I64, copies: int, psize: int, vdev: I64, offset: I64, asize: I64) -> None:
    """Write the DVAs of one block into its row."""
    for copy in range(3):
        vdev[copy] = -1
        offset[copy] = 0
        asize[copy] = 0
        if copy < copies:
            slab = slabs[copy]
            home = space.slabs[slab].vdev
            vdev[copy] = home
            offset[copy] = starts[copy] * space.vdevs[home].unit
            asize[copy] = units_needed(space, home, psize) * space.vdevs[home].unit


@njit
def locate_all(
    space: Space, state: State, rows: I64, slab_start: I64, vdev: I64, offset: I64, asize: I64
) -> None:
    """Write the DVAs of all rows: `rows` >= 0 are slots, -1 - k is the version kept in row k."""
    for k in range(rows.size):
        row = rows[k]
        if row >= 0:
            slabs, starts = state.slots[row].slab, state.slots[row].start
            copies, psize = state.slots[row].copies, state.slots[row].psize
        else:
            kept = -1 - row
            slabs, starts = state.kept[kept].slab, state.kept[kept].start
            copies, psize = state.kept[kept].copies, state.kept[kept].psize
        locate(space, slabs, starts, copies, psize, vdev[k], offset[k], asize[k])
        for copy in range(copies):
            offset[k, copy] += slab_start[slabs[copy]]
