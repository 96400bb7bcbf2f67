"""A sequential rebuild: what its programs hold, which txgs it waits for, and which space maps are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.operation.scripted import PASS, NamedWrites, ScriptedPlane, control_of, let, pool_of
from tests.operation.test_cursors import table
from zsim.case.resolve import resolve
from zsim.engine.codes import ASYNC_WRITE, SYNC_READ
from zsim.engine.model import ClientModel
from zsim.operation.background.rebuild import (
    ATTACH_TXGS,
    RebuildScan,
    chunk_programs,
    rebuilt_vdev,
    written_by_txgs,
)
from zsim.operation.background.space_maps import PRELOADED, SPACE_MAP_BLOCK, SpaceMaps
from zsim.operation.blocks import ScanBlocks
from zsim.operation.run import Run, RunResult, RunSetup
from zsim.operation.txg import TxgRules, hole_order
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.member import whole_setup
from zsim.scan.items import plain_items
from zsim.scan.rebuild import allocated_ranges
from zsim.scenario.model import Scenario

SECTOR = 4096
WAITS, GOES_ON = "openzfs-2.3", "openzfs-2.1"
DRAID = "draid1:2d:6c:1s"


@cache
def setup(layout: str = "mirror2", release: str = WAITS) -> RunSetup:
    """A pool of small drives that is simulated whole."""
    stated = {"layout": layout, "fill": 0.5, "drive_size": "20GB", "write_cache": False}
    case = resolve(Scenario.from_dict({**stated, "release": release, "operation": "rebuild"}))
    whole = whole_setup(case, miniature(case, blocks=1_000).table, plane_model(case))
    return replace(whole, records=1 << 16)


@cache
def done(layout: str = "mirror2", release: str = WAITS) -> RunResult:
    return Run(setup(layout, release)).finish()


def no_items() -> Any:
    return plain_items(*(np.zeros(0, np.int64) for _ in range(3)))


@pytest.mark.parametrize("layout", ["mirror2", "2*mirror2", "mirror3"])
@pytest.mark.parametrize("release", [WAITS, GOES_ON])
def test_the_new_drive_gets_what_is_allocated_and_what_the_txgs_of_the_attach_wrote(
    layout: str, release: str
) -> None:
    given, result = setup(layout, release), done(layout, release)
    number = rebuilt_vdev(given)
    begin, end = allocated_ranges(given.blocks, number, written_by_txgs(given, number))
    [written] = [int(each) for each in result.leaves["scan_write_bytes"] if each]
    assert written == result.issued_bytes == int((end - begin).sum())
    # Gaps that are read with their neighbours are thrown away.
    assert 1.0 <= result.leaves["scan_read_bytes"].sum() / written < 1.05
    assert result.curve[-1][1] == written
    assert sorted(result.curve) == result.curve


@pytest.mark.parametrize("layout", ["mirror2", "2*mirror2", "mirror3", DRAID])
def test_programs_hold_every_chunk_once_and_wait_after_each_metaslab_where_the_release_does(
    layout: str,
) -> None:
    """From 2.3 on vdev_rebuild_thread waits for a txg after each metaslab."""
    for release in (WAITS, GOES_ON):
        given = setup(layout, release)
        first = plain_items(*(np.arange(5) for _ in range(3)))
        items, programs, metaslabs = chunk_programs(given, first)
        chunks = np.concatenate([program.item for program in programs])
        assert chunks.tolist() == list(range(5, len(items)))
        slabs = items.offset >> given.metaslab_shift_of(given.model.vdevs[rebuilt_vdev(given)])
        held = [np.unique(slabs[program.item]).tolist() for program in programs]
        assert metaslabs == [each[0] for each in held]
        several = np.unique(slabs[5:]).tolist()
        assert held == ([[each] for each in several] if release == WAITS else [several])
        assert set(items.vdev[5:].tolist()) == {rebuilt_vdev(given)}


def test_a_rebuild_that_waits_needs_a_txg_for_each_metaslab() -> None:
    metaslabs = len(chunk_programs(setup(), no_items())[2])
    assert done().txgs >= metaslabs > ATTACH_TXGS
    assert done("mirror2", GOES_ON).txgs < metaslabs
    assert len(done().phases) == metaslabs
    assert len(done("mirror2", GOES_ON).phases) == 1


@pytest.mark.parametrize("count", [1, 3])
def test_clients_go_on_during_a_rebuild(count: int) -> None:
    """However few: one client alone reads blocks as several do."""
    group = ClientModel(count=count, think_s=0.02, seed=1)
    given = setup()
    busy = Run(replace(given, model=replace(given.model, clients=(group,)))).finish()
    assert [number > 20 for number, _ in busy.clients] == [True] * count
    assert busy.issued_bytes == done().issued_bytes


@pytest.mark.parametrize("count", [0, 1, 3])
def test_blocks_are_items_of_a_rebuild_only_where_somebody_reads_them(count: int) -> None:
    """A rebuild goes by ranges: of half a million small blocks their items would be 100 MB."""
    given = setup()
    clients = (ClientModel(count=count, think_s=0.02, seed=1),) if count else ()
    items = ScanBlocks(replace(given, model=replace(given.model, clients=clients))).items
    chunks = len(chunk_programs(given, no_items())[0])
    assert len(items) == chunks + (len(given.blocks.psize) if count else 0)


def test_an_empty_vdev_is_rebuilt_at_once() -> None:
    given = setup()
    bare = replace(given, blocks=given.blocks.take(np.zeros(0, np.int64)), txg=TxgRules(pass_blocks=(0,)))
    _, programs, metaslabs = chunk_programs(bare, no_items())
    assert [len(each) for each in programs] == [0]
    assert metaslabs == [0]


@pytest.mark.parametrize("rotates", [True, False])
def test_the_attach_writes_the_blocks_of_so_many_txgs(rotates: bool) -> None:
    """An allocator that keeps its part has those of four txgs; where they take turns, one of each part."""
    txg = TxgRules(pass_blocks=(5, 3), further_blocks=((2, 1), (1, 0)), rotates=rotates, region_blocks=64)
    cursors = [[(0, 1 << 30), (1, 1 << 20)], [(0, 2 << 30)], [(0, 3 << 30)]]
    given = replace(setup("2*mirror2"), txg=txg)
    counts = [5 + 3, 2 + 1, 1]
    expected = [sum(counts)] * 3 if rotates else [4 * count for count in counts]

    class Stated(RunSetup):
        def first_cursors(self) -> list[list[tuple[int, int]]]:
            return cursors

    stated = Stated(**{name: getattr(given, name) for name in RunSetup.__slots__})
    found, size = written_by_txgs(stated, 0)
    assert set(size.tolist()) == {SECTOR}
    assert np.bincount(found >> 30).tolist() == [0, *expected]
    holes = hole_order(64)[: expected[0]] * SECTOR
    assert found[: expected[0]].tolist() == ((1 << 30) + holes).tolist()
    other, _ = written_by_txgs(stated, 1)
    assert other.tolist() == ((1 << 20) + holes).tolist()


def maps_of(given: RunSetup) -> SpaceMaps:
    return SpaceMaps(given, rebuilt_vdev(given))


@pytest.mark.parametrize("layout", ["mirror2", "2*mirror2", DRAID])
def test_a_pool_in_use_has_the_maps_it_allocates_by_and_those_that_were_preloaded(layout: str) -> None:
    given = setup(layout)
    maps, number = maps_of(given), rebuilt_vdev(given)
    shift = given.metaslab_shift_of(given.model.vdevs[number])
    used = [offset >> shift for each in given.first_cursors() for where, offset in each if where == number]
    assert maps.allocating == list(dict.fromkeys(used))
    assert len(maps.preloaded) == PRELOADED
    assert not set(maps.preloaded) & set(maps.allocating)
    assert maps.loaded == {*maps.allocating, *maps.preloaded}


def test_after_an_import_only_the_maps_of_two_allocators_are_loaded_where_they_take_turns() -> None:
    imported = [replace(setup("mirror2", release), imported=True) for release in (WAITS, GOES_ON)]
    for given, all_loaded in zip(imported, (False, True), strict=True):
        maps = maps_of(given)
        shift = given.metaslab_shift_of(maps.vdev)
        used = [{offset >> shift for _, offset in each} for each in given.first_cursors()]
        assert len(used) == 4
        assert maps.loaded == set().union(*(used if all_loaded else used[:2]))
        assert not maps.loaded & set(maps.preloaded)


def test_a_map_is_read_once_and_only_if_it_is_not_in_memory() -> None:
    maps = maps_of(setup())
    [held, *_], new = maps.allocating, [100, 101, 102]
    assert len(maps.reads([held, 100])) == 1
    assert len(maps.reads([*new, held])) == 2
    assert maps.reads(new) == []


def read_of(
    layout: str, offset: int, size: int, missing: Sequence[int] = (), **changes: Any
) -> list[list[int]]:
    """Return the reads of a map, of a vdev with children that cannot be read."""
    maps = maps_of(setup(layout))
    leaves = tuple(-1 if child in missing else child for child in range(maps.vdev.children))
    maps.vdev = replace(maps.vdev, read_leaf=leaves, **changes)
    rows: list[list[int]] = maps._read(offset, size).tolist()
    assert all(row[1:3] == [SYNC_READ, 0] for row in rows)
    return rows


def test_a_mirror_reads_a_map_from_one_of_the_sides_that_can_be_read() -> None:
    """By turns of the size of a map, so that neighbours are read from both sides."""
    sides = [read_of("mirror3", number * SPACE_MAP_BLOCK, 8 * SECTOR) for number in range(6)]
    assert [[row[0] for row in rows] for rows in sides] == [[0], [1], [2]] * 2
    assert [rows[0][3:] for rows in sides] == [[n * SPACE_MAP_BLOCK, 8 * SECTOR] for n in range(6)]
    assert {read_of("mirror3", n * SPACE_MAP_BLOCK, SECTOR, missing=[1])[0][0] for n in range(6)} == {0, 2}


def test_a_draid_reads_the_data_of_a_map_and_parity_only_where_a_column_is_missing() -> None:
    """Two data columns and a parity: with all children there the parity is not read."""
    whole = read_of(DRAID, 0, 2 * SECTOR)
    assert len(whole) == 2
    used = {row[0] for row in whole}
    for child in range(6):
        rows = read_of(DRAID, 0, 2 * SECTOR, missing=[child])
        # Of three columns the two that are left, or, where it holds none of them, those of data.
        assert len(rows) == 2
        assert child not in {row[0] for row in rows}
        if child not in used:
            assert used <= {row[0] for row in rows} | {child}


def test_maps_lie_where_the_list_of_blocks_has_them_or_else_at_the_places_of_the_mos() -> None:
    """They are blocks of data of the MOS, of the size of a space map, on that vdev."""
    given = setup("2*mirror2")
    count = 6
    blocks = table(*([(number % 2, number << 20, SECTOR)] for number in range(count)), mos=range(5))
    lsize = np.full(count, SPACE_MAP_BLOCK)
    lsize[4] = 8 * SECTOR
    level = np.zeros(count, np.int16)
    level[2] = 1
    listed = replace(given, blocks=replace(blocks, lsize=lsize, level=level))
    # Of the first vdev number 0; 2 is an indirect block and 4 of another size, 5 is none of the MOS.
    assert SpaceMaps(listed, 0)._places == [(0, SECTOR)]
    assert SpaceMaps(listed, 1)._places == [(1 << 20, SECTOR), (3 << 20, SECTOR)]
    cursors = [offset for each in given.first_cursors() for _, offset in each]
    assert SpaceMaps(given, 0)._places == [(offset, SECTOR) for offset in cursors]


class ByAllocators(NamedWrites):
    """Names what each allocator of the attach writes."""

    def by_allocators(self, counts: Sequence[int]) -> str:
        return f"{PASS} {tuple(counts)}"


def scripted(layout: str, release: str, metaslabs: Sequence[int]) -> tuple[ScriptedPlane, RebuildScan]:
    """Return a rebuild of some metaslabs, one chunk each, that takes three seconds a program."""
    given = setup(layout, release)
    plane = ScriptedPlane(scan_s=3.0)
    pool = pool_of(control_of(plane, ByAllocators()), release=given.release, setup=given)
    programs = chunk_programs(given, no_items())[1][: len(metaslabs)]
    scan = RebuildScan(pool, programs, None, metaslabs)  # type: ignore[arg-type]
    scan.maps.loaded.clear()
    scan.maps.allocating, scan.maps.preloaded = [50], [60, 61]
    return plane, scan


def asked_of(plane: ScriptedPlane) -> list[str]:
    """Say what was asked; reads by how many there are, loading by its number of operations."""
    names = []
    for _, what in plane.asked:
        if isinstance(what, np.ndarray):
            names.append(f"{len(what)} read")
        else:
            names.append("load" if isinstance(what, list) else what)
    return names


def test_each_metaslab_is_read_rebuilt_and_waited_for_where_the_release_waits() -> None:
    plane, scan = scripted("mirror2", WAITS, [3, 4])
    let(scan.control, scan.steps())
    asked = asked_of(plane)
    # Its space map before each, that of the first before the attach too, once each.
    assert asked[:2] == ["1 read", "close"]
    assert [each for each in asked if each in ("load", "resume", "pause")] == ["load", "resume", "pause"] * 2
    loads = [number for number, each in enumerate(asked) if each == "load"]
    pauses = [number for number, each in enumerate(asked) if each == "pause"]
    assert "close" in asked[pauses[0] : loads[1]]
    assert "close" in asked[pauses[1] :]
    assert plane.limits[ASYNC_WRITE][0] == plane.limits[ASYNC_WRITE][1]
    assert [phase for phase, _ in scan.pool.booked] == ["rebuild"] * 2


@pytest.mark.parametrize(("layout", "passes"), [("mirror2", 2), (DRAID, 3)])
@pytest.mark.parametrize("release", [WAITS, GOES_ON])
def test_the_txg_of_the_attach_reads_the_maps_it_allocates_by_and_has_passes_of_its_own(
    layout: str, passes: int, release: str
) -> None:
    """Its first pass waits for the maps; a dRAID takes one pass more.  Its end preloads the others."""
    plane, scan = scripted(layout, release, [3])
    let(scan.control, scan.steps())
    asked = asked_of(plane)
    own = [each for each in asked if each.startswith(f"{PASS} (")]
    assert [own[0], own[-1]] == ["pass (7, 6, 3)", "pass (5, 2, 1)"]
    assert len(own) == passes
    assert asked.index("close") < asked.index(own[0])
    reads = [what for _, what in plane.asked if isinstance(what, np.ndarray)]
    # That of the metaslab where it waits, that of the attach, and two at once.
    assert len(reads) == (3 if release == WAITS else 2)
    assert len(reads[-1]) == 2 * len(reads[-2])
