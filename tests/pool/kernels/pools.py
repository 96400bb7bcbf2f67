"""Pools of some hundred blocks, and what is true of every one of them."""

from __future__ import annotations

import numpy as np

from tests.pool.kernels.spaces import KIB, free_of, histogram_of_free
from zsim.pool.blocks import BlockTable
from zsim.pool.recipes.recipe import FileSizes, MetadataSizes, PoolRecipe, RecordClass, Step, TopLevel
from zsim.pool.recipes.styles import allocator_style
from zsim.pool.simulator.files import draw_files
from zsim.pool.simulator.population import FIRST_OBJSET, FIRST_TXG, HistoryRun, meta_dnode_levels
from zsim.scenario.layout import VdevSpec
from zsim.scenario.releases.profile import load_release

RECORD = 8 * KIB
FAN = 128
MIRROR = VdevSpec.mirror(2)


def recipe(
    *steps: Step, release: str = "2.3.9", spec: VdevSpec = MIRROR, vdevs: int = 1, units: int = 120,
    slabs: int = 10, **settings: object,
) -> PoolRecipe:  # fmt: skip
    """Return a pool of metaslabs of so many smallest allocations, of files of 1 to 11 records."""
    level = TopLevel(spec, 12, 0, slabs)
    level = TopLevel(spec, 12, units * level.unit, slabs)
    chosen: dict[str, object] = {
        "records": (RecordClass(RECORD),),
        "files": FileSizes("uniform", 6 * RECORD, RECORD, 11 * RECORD),
        "txg_bytes": 20 * RECORD,
        "metadata": MetadataSizes(pointers=FAN),
    }
    style = allocator_style(load_release(release))
    return PoolRecipe((level,) * vdevs, style, steps=steps, **{**chosen, **settings})  # type: ignore[arg-type]


def ran(made: PoolRecipe, seed: int = 1) -> HistoryRun:
    """Return a pool after all steps of its recipe."""
    history = HistoryRun(made, seed)
    history.run(*made.steps)
    return history


def data_of(table: BlockTable) -> BlockTable:
    """Return the records of files."""
    return table.take(~table.is_metadata)


def check_whole(history: HistoryRun, mos_copies: int = 3) -> BlockTable:
    """Assert what is true of every pool; return its blocks."""
    table = history.table()
    check_space(history, table)
    check_mos(history, table)
    snapshots = int(history._memory.now["snapshots"][0])
    if not snapshots:
        check_trees(history, table)
    now = int(history._memory.now["txg"][0])
    assert table.birth.min() >= FIRST_TXG
    assert table.birth.max() < now
    copies = np.where(table.is_metadata, 2, 1)
    copies[table.objset == 0] = mos_copies
    assert table.dva_count.tolist() == copies.tolist()
    alive = data_of(table)
    if not snapshots and history._memory.now["unfinished"][0] < 0:
        assert int(alive.lsize.sum()) == int(history._memory.now["live_bytes"][0])
    return table


def check_space(history: HistoryRun, table: BlockTable) -> None:
    """Every unit is free, or of one block, or claimed, or was freed in the last two txgs."""
    memory, vdevs = history._memory, history.recipe.vdevs
    first = np.cumsum([0, *(vdev.slab_count for vdev in vdevs)])
    taken = [np.zeros(int(units), np.int64) for units in memory.slabs["units"]]
    for row, copy in zip(*np.nonzero(table.dva_vdev >= 0), strict=True):
        number = table.dva_vdev[row, copy]
        vdev, offset = vdevs[number], table.dva_offset[row, copy]
        slab = int(vdev.slab_of(np.array([offset]))[0])
        begin = (offset - vdev.slab_starts()[slab]) // vdev.unit
        taken[first[number] + slab][begin : begin + table.dva_asize[row, copy] // vdev.unit] += 1
    claims = memory.slots[int(memory.now["claims_first"][0]) :]
    for claim in claims[claims["psize"] > 0]:
        taken[claim["slab"][2]][claim["start"][2]] += 1
    size, tail, head = len(memory.log), *(int(memory.rules[name][0]) for name in ("log_tail", "log_head"))
    for at in range(tail, tail + (head - tail) % size):
        free = memory.log[at % size]
        taken[free["slab"]][free["start"] : free["start"] + free["units"]] += 1
    for slab, each in enumerate(taken):
        assert (each + free_of(memory, slab) == 1).all(), slab
        assert memory.histogram[slab].tolist() == histogram_of_free(memory, slab)
        assert int(memory.slabs["free"][slab]) == free_of(memory, slab).sum()
    units = np.bincount(memory.slabs["vdev"], [each.sum() for each in taken], len(vdevs))
    assert memory.vdevs["used"].tolist() == (units * memory.vdevs["unit"]).tolist()
    normal = memory.vdevs["klass"] == 0
    assert int(memory.now["used"][0]) == int(memory.vdevs["used"][normal].sum())
    assert (memory.free_bytes if hasattr(memory, "free_bytes") else history.free_bytes).tolist() == [
        int(free * memory.vdevs["unit"][vdev] + tail)
        for free, vdev, tail in zip(
            memory.slabs["free"], memory.slabs["vdev"], memory.slabs["tail"], strict=True
        )
    ]


def check_mos(history: HistoryRun, table: BlockTable) -> None:
    """The MOS comes first: its root, which is the youngest, indirect block, and dnodes with their objects."""
    mos = table.objset == 0
    count = int(mos.sum())
    assert mos[:count].all()
    assert table.level[:2].tolist() == [-1, 1]
    assert not table.object[:2].any()
    assert not table.blkid[:2].any()
    assert table.lsize[:count].tolist() == [4096, FAN * 128, *[16384] * (count - 2)]
    assert set(table.level[2:count].tolist()) == {0}
    assert (table.birth[:2] == table.birth[:count].max()).all()
    assert not (~table.is_metadata[:count]).any()
    objects = table.object[2:count]
    dnodes = table.blkid[2:count][objects == 0]
    assert dnodes.tolist() == list(range(history.recipe.metadata.mos_dnode_blocks))
    block = np.cumsum(objects == 0)[objects > 0] - 1
    # Objects that were never written have no row: numbers rise, each from the block's first.
    assert (objects[objects > 0] > 32 * block).all()
    assert (np.diff(objects[objects > 0])[np.diff(block) == 0] > 0).all()
    assert not table.blkid[2:count][objects > 0].any()


def check_trees(history: HistoryRun, table: BlockTable) -> None:
    """Each file has every record, and above them as few indirect blocks as hold their pointers."""
    made = history.recipe
    files = draw_files(made, 1)
    there = np.flatnonzero(history._memory.files["there"])
    unfinished = int(history._memory.now["unfinished"][0])
    expected = []
    for dataset in range(made.datasets):
        here = [file for file in there if files.dataset[file] == dataset and file != unfinished]
        dnodes = sorted({int(files.item[file]) // 32 for file in here})
        for file in here:
            expected += [(FIRST_OBJSET + dataset, int(files.item[file]), *each) for each in
                         tree(int(files.records[file]), int(files.lsize[file]), made.metadata)]  # fmt: skip
        own = table.take((table.objset == FIRST_OBJSET + dataset) & (table.object == 0))
        assert own.level[0] == -1, "its root comes first"
        blocks = own.blkid[own.level == 0].tolist()
        assert blocks == sorted(blocks)
        assert set(blocks) >= set(dnodes), "and each file's dnode has its block"
        levels = meta_dnode_levels(FAN)
        assert sorted(set(own.level.tolist())) == [-1, *(range(levels) if blocks else [0][:0])]
        wanted = {-1: 4096, 0: 16384}
        assert own.lsize.tolist() == [wanted.get(level, FAN * 128) for level in own.level.tolist()]
        for level in range(1, levels):
            above = own.blkid[own.level == level].tolist()
            assert above == sorted({block // FAN**level for block in blocks})
    apart = np.zeros(len(table), bool)
    if unfinished >= 0:
        apart = (table.object == files.item[unfinished]) & (
            table.objset == FIRST_OBJSET + files.dataset[unfinished]
        )
    rows = table.take((table.objset != 0) & (table.object > 0) & ~apart)
    found = list(zip(rows.objset.tolist(), rows.object.tolist(), rows.level.tolist(), rows.blkid.tolist(),
                     rows.lsize.tolist(), strict=True))  # fmt: skip
    assert found == sorted(expected, key=lambda each: each[:2])
    check_births(rows, exact=made.metadata_every == 1)


def check_births(rows: BlockTable, *, exact: bool) -> None:
    """An indirect block was written with the youngest of the blocks below it, or in a later part."""
    born = {
        place[:-1]: place[-1]
        for place in zip(rows.objset.tolist(), rows.object.tolist(), rows.level.tolist(), rows.blkid.tolist(),
                         rows.birth.tolist(), strict=True)
    }  # fmt: skip
    youngest: dict[tuple[int, int, int, int], int] = {}
    for (objset, item, level, blkid), birth in born.items():
        above = objset, item, level + 1, blkid // FAN
        youngest[above] = max(youngest.get(above, 0), birth)
    for above, birth in youngest.items():
        assert above not in born or (born[above] == birth if exact else born[above] >= birth)


def tree(records: int, lsize: int, sizes: MetadataSizes) -> list[tuple[int, int, int]]:
    """Return level, number and size of each block of a file, parents first."""
    top, width = 0, records
    while width > sizes.dnode_pointers:
        top, width = top + 1, -(-width // sizes.pointers)
    found: list[tuple[int, int, int]] = []
    for record in range(records):
        above = [level for level in range(top, 0, -1) if record % sizes.pointers**level == 0]
        found += [(level, record // sizes.pointers**level, sizes.pointers * 128) for level in above]
        found.append((0, record, lsize))
    return found
