"""A pool made of tiles: all its bytes are there, none twice; each population is built and prepared once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from zsim.base.errors import NotSimulatedYet
from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.engine.compiled.plane import item_records
from zsim.operation.memory_limit import extent_rules
from zsim.operation.setup import RunSetup, damaged_vdevs, wanted_blocks
from zsim.pool.blocks import BlockTable
from zsim.prediction.exact.queues import PreparedQueue, TileQueues
from zsim.prediction.exact.run import ExactRun
from zsim.prediction.exact.tiles import Preparer, Tile, Tiling, place_records, turned
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.runs.member import whole_setup
from zsim.scan.program import scan_items
from zsim.scenario.model import Scenario

BLOCKS, POPULATIONS = 1500, 2


def case(**fields: Any) -> Case:
    stated = {"drive": "generic-7200rpm-cmr", "drive_size": "100GB", "fill": 0.05, "recordsize": "128K"}
    return resolve(Scenario.from_dict({"layout": "mirror2"} | stated | fields))


@cache
def tiling(layout: str = "mirror2") -> Tiling:
    return Tiling(case(layout=layout), BLOCKS, POPULATIONS)


def placed(tiles: Tiling, tile: Tile) -> BlockTable:
    """Return the blocks of a tile where they lie in the pool."""
    table = turned(tiles.table(tile.base, first=tile.number == 0), tile.turn, tiles.vdevs, tile.rows)
    shift = np.where(table.dva_vdev >= 0, tile.shift[table.dva_vdev], 0)
    return replace(table, dva_offset=table.dva_offset + shift)


@pytest.mark.parametrize("layout", ["mirror2", "raidz1x4", "5*mirror2"])
def test_tiles_hold_all_bytes_of_the_pool_and_none_twice(layout: str) -> None:
    tiles = tiling(layout)
    every = [placed(tiles, tile) for tile in tiles.tiles()]
    assert len(every) > 3
    held = sum(table.allocated_bytes for table in every)
    largest = max(int(table.dva_asize.max()) for table in every)
    assert tiles.resolved.alloc - 3 * largest <= held <= tiles.resolved.alloc
    for vdev in range(tiles.vdevs):
        # The last tile, a part of one, has no place of its own.
        here = [(table, table.dva_vdev == vdev) for table in every[:-1]]
        begin = np.concatenate([table.dva_offset[at] for table, at in here])
        end = begin + np.concatenate([table.dva_asize[at] for table, at in here])
        order = np.argsort(begin)
        assert (begin[order][1:] >= end[order][:-1]).all()
        whole = tiles.resolved.vdevs[vdev]
        assert end.max() <= whole.slab_bytes * whole.slab_count


def test_populations_take_turns_and_the_mos_comes_once() -> None:
    tiles = tiling()
    assert [tile.base for tile in tiles.tiles()][:4] == [0, 1, 0, 1]
    first, later = tiles.table(0, first=True), tiles.table(0)
    assert (first.objset == 0).any()
    assert not (later.objset == 0).any()


def test_more_vdevs_than_a_population_has_are_filled_in_turn() -> None:
    tiles = tiling("5*mirror2")
    assert tiles.share < 1.0
    counts = np.zeros(tiles.vdevs)
    for tile in tiles.tiles():
        table = placed(tiles, tile)
        counts += [float(table.dva_asize[table.dva_vdev == vdev].sum()) for vdev in range(tiles.vdevs)]
    assert counts.min() > 0.6 * counts.max()


def test_unlike_vdevs_cannot_stand_for_each_other() -> None:
    with pytest.raises(NotSimulatedYet, match="exact"):
        Tiling(case(layout="4*mirror2 + 2*mirror3"), BLOCKS, POPULATIONS)


def test_records_of_a_tile_are_those_of_its_blocks() -> None:
    """Moving records is what a run does millions of times in place of preparing blocks anew."""
    tiles = tiling("5*mirror2")
    setup = whole_setup(tiles.resolved, tiles.table(0), plane_model(tiles.resolved))
    tile = next(each for each in tiles.tiles() if each.number > 0 and each.base == 0 and each.turn > 0)

    def records(table: BlockTable) -> np.ndarray:
        here = replace(setup, blocks=table)
        items = scan_items(table, seed=1, wanted=wanted_blocks(here), vdevs=damaged_vdevs(here.model))
        return item_records(items)

    moved = place_records(records(tiles.table(0)), tile, 0, tiles.vdevs)
    there = records(placed(tiles, tile))
    for name in ("vdev", "offset", "psize"):
        assert np.array_equal(moved[name], there[name]), name


def test_each_population_is_prepared_once() -> None:
    tiles = tiling()
    setup = whole_setup(tiles.resolved, tiles.table(0, first=True), plane_model(tiles.resolved))
    made: list[int] = []
    preparer = Preparer(tiles, setup, lambda here, turn: made.append(len(here.blocks)) or len(made))
    whole = [tile for tile in tiles.tiles() if tile.rows == tiles.rows_of(tile)]
    numbers = [preparer.prepared(tile) for tile in whole]
    assert len(made) == 1 + POPULATIONS, "the first tile has the MOS besides"
    assert numbers[:5] == [1, 2, 3, 2, 3]


def test_a_pool_no_larger_than_a_tile_is_its_only_tile() -> None:
    small = Tiling(case(fill=0.001), 60_000, POPULATIONS)
    assert small.single
    (only,) = small.tiles()
    assert only.rows == len(small.first.table)
    assert not only.shift.any()


def test_a_pool_of_few_blocks_is_laid_out_as_it_is_though_it_is_larger_than_a_tile() -> None:
    blocks = sum(tile.rows for tile in tiling().tiles())
    whole = Tiling(case(), BLOCKS, POPULATIONS, whole=round(1.3 * blocks))
    assert (whole.single, whole.count) == (True, 1)
    assert len(whole.first.table) == pytest.approx(blocks, rel=0.3)
    assert Tiling(case(), BLOCKS, POPULATIONS, whole=round(0.9 * blocks)).count > 3


def queues(layout: str) -> tuple[Tiling, TileQueues, dict[int, PreparedQueue]]:
    """Return the queues of all tiles of a pool, everything visited."""
    tiles = tiling(layout)
    setup = whole_setup(tiles.resolved, tiles.table(0, first=True), plane_model(tiles.resolved))
    levels = dict(zip(tiles.first.vdevs, tiles.first.recipe.vdevs, strict=True))
    rules = extent_rules(setup.release)

    def make(part: RunSetup, turn: int) -> PreparedQueue:
        starts = {(vdev + turn) % tiles.vdevs: level.slab_starts() for vdev, level in levels.items()}
        return PreparedQueue(part, turn, starts.__getitem__, rules)

    preparer, found, prepared = Preparer(tiles, setup, make), TileQueues(tiles.vdevs), {}
    for tile in tiles.tiles():
        prepared[tile.number] = preparer.prepared(tile)
        found.begin(tile, prepared[tile.number])
        found.visit(tile.number, len(prepared[tile.number].queue))
    return tiles, found, prepared


def numbered(tiles: Tiling) -> list[tuple[int, Tile]]:
    return [(tile.number, tile) for tile in tiles.tiles()]


@pytest.mark.parametrize("layout", ["raidz1x4", "5*mirror2"])
def test_entries_of_all_tiles_come_in_the_order_of_their_addresses(layout: str) -> None:
    tiles, found, prepared = queues(layout)
    last = max(tile.number for tile in tiles.tiles())
    damaged = 0
    places, count = [], 0
    for number, rows in found.in_address_order(damaged):
        count += len(rows)
        if number != last:  # a part of a tile has no place of its own
            places.append(prepared[number].queue.offset[rows] + found.tiles[number].tile.shift[damaged])
    every = np.concatenate(places)
    assert len(every) > 1000
    assert (np.diff(every) >= 0).all()
    names = {n: (damaged - tile.turn + prepared[n].turn) % tiles.vdevs for n, tile in numbered(tiles)}
    assert count == sum(int((prepared[n].queue.vdev == name).sum()) for n, name in names.items())


def test_extents_of_all_tiles_come_best_score_first_each_entry_once() -> None:
    tiles, found, prepared = queues("raidz1x4")
    seen: dict[int, list[int]] = {}
    for number, rows in found.in_extent_order(0):
        seen.setdefault(number, []).extend(rows.tolist())
    assert set(seen) == {tile.number for tile in tiles.tiles()}
    for number, rows in seen.items():
        assert sorted(rows) == list(range(len(prepared[number].queue)))


def test_what_is_taken_waits_no_more_and_what_is_put_back_waits_once() -> None:
    _, found, prepared = queues("raidz1x4")
    before, held = found.count, found.bytes
    rows = np.arange(10)
    taken = found.take(0, rows)
    assert len(taken) == 10
    assert len(found.take(0, rows)) == 0, "none waits twice"
    assert found.count == before, "what is under way takes memory still"
    found.issued(0, taken[:4])
    assert found.count == before - 4
    assert held - found.bytes == pytest.approx(prepared[0].entry_bytes[:4].sum())
    found.put_back(0, taken[:2])
    found.put_back(0, taken[:2])
    assert found.count == before - 2


def test_a_tile_of_which_nothing_is_left_is_forgotten() -> None:
    _, found, _ = queues("raidz1x4")
    number = max(found.tiles)
    rows = np.arange(len(found.tiles[number].prepared.queue))
    found.forget_done()
    assert number in found.tiles
    found.issued(number, found.take(number, rows))
    found.forget_done()
    assert number not in found.tiles
    assert len(found.take(number, rows)) == 0


@pytest.mark.parametrize("release", ["zol-0.7", "openzfs-2.3"])
@pytest.mark.parametrize("operation", ["scrub", "resilver"])
def test_every_block_of_every_tile_is_read_and_the_new_drive_gets_its_part(
    release: str, operation: str
) -> None:
    """Of four drives three are read and the fourth is written; a few blocks of the MOS change meanwhile."""
    run = ExactRun(
        case(layout="raidz1x4", fill=0.01, release=release, operation=operation),
        lambda *_: None,
        blocks=BLOCKS,
        populations=POPULATIONS,
        whole=0,
    )
    tiles = list(run.tiling.tiles())
    assert len(tiles) > 10
    every = [placed(run.tiling, tile) for tile in tiles]
    blocks, stored = sum(map(len, every)), sum(int(table.psize.sum()) for table in every)
    allocated = sum(table.allocated_bytes for table in every)
    result = run.execute().run
    copies = sum(int(table.dva_count.sum()) for table in every)
    assert 0.98 * blocks < result.issued_blocks <= 1.01 * copies
    assert result.issued_bytes == pytest.approx(stored, rel=0.003)
    read, written = (float(result.leaves[f"scan_{way}_bytes"].sum()) for way in ("read", "write"))
    # A record has 32 sectors, 11 of parity and one of padding, read where it is a gap between others.
    least = 43 / 44
    if operation == "scrub":
        assert least * allocated < read < 1.005 * allocated
        assert written == 0.0
    else:
        assert least * 0.75 * allocated < read < 1.005 * 0.75 * allocated
        assert written == pytest.approx(0.25 * allocated, rel=0.01)
    assert run.estimate() == pytest.approx(result.end)
