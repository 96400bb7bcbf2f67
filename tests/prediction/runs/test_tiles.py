"""When a population says of the pool what a tile of it does, and how well a few tiles tell of all."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.pool.blocks import BlockTable
from zsim.prediction.groups import degraded_share
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import (
    POPULATIONS,
    WorldPopulation,
    _heaps,
    _may_lie_anywhere,
    miniature,
)
from zsim.prediction.runs import middle_world as middle
from zsim.prediction.runs import one_tile
from zsim.prediction.runs.middle_world import MiddleWorld
from zsim.prediction.runs.sampling.windows import WindowPlan
from zsim.prediction.statistics.level import OF_DRIFT, OF_SIZE
from zsim.prediction.statistics.sampling import student
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario


def case(**fields: Any) -> Case:
    return resolve(Scenario.from_dict({"layout": "raidz2x6"} | fields))


def blocks(count: int, asize: int = 1 << 20) -> BlockTable:
    """Return so many blocks of one copy, one behind the other."""
    zero, three = np.zeros(count, np.int64), np.zeros((count, 3), np.int64)
    vdev = np.full((count, 3), -1, np.int32)
    vdev[:, 0] = 0
    offset, size = three.copy(), three.copy()
    offset[:, 0], size[:, 0] = np.arange(count) * asize, asize
    return BlockTable(
        objset=zero + 1, object=zero + 1, level=zero.astype(np.int16), blkid=np.arange(count),
        is_metadata=np.zeros(count, bool), birth=zero + 1, psize=zero + asize, lsize=zero + asize,
        dva_count=np.ones(count, np.int16), dva_vdev=vdev, dva_offset=offset, dva_asize=size,
    )  # fmt: skip


def pool(one: Case, count: int = 100, scale: float = 1000.0, **changes: Any) -> WorldPopulation:
    real = one.vdevs[0]
    starts = tuple(real.slab_bytes * number for number in range(8))
    level = replace(real, slab_bytes=1 << 24, slab_count=8, starts=starts, stands_for=real.slab_bytes)
    return replace(WorldPopulation(blocks(count), scale, 1.0, level, levels={0: level}), **changes)


# Which worlds can be run in tiles.


@pytest.mark.parametrize(
    ("fields", "tiled"),
    [
        ({}, True),
        ({"operation": "scrub"}, True),
        ({"load": ["random-read,rate=5"]}, True),
        ({"load": ["random-read,rate=5,hours=mon-fri 08:00-18:00"], "begins": "mon 07:00"}, False),
        ({"layout": "mirror2", "operation": "rebuild"}, False),
        ({"second_at": 0.5}, False),
        ({"engine": "reference"}, False),
        ({"drive": "st8000dm004"}, False),
        ({"drive": "870-evo-4tb"}, False),
        ({"new_drive": "st8000dm004", "drive_size": "8TB"}, False),
    ],
)
def test_only_where_nothing_depends_on_what_was_done_long_before(fields: dict[str, Any], tiled: bool) -> None:
    one = case(**fields)
    assert one_tile.in_windows(one, plane_model(one)) is tiled


def test_a_whole_pool_short_of_memory_is_run_as_it_is_and_a_tile_in_rounds() -> None:
    one = case(memory="16G", drive_size="4TB")
    whole = pool(one, count=1000, damaged=one.vdevs[0])
    assert not one_tile.in_rounds(one, whole)
    starved = replace(one, memory=64 << 20, release=one.release.with_tunables({"zfs_scan_mem_lim_min": 1000}))
    starved = replace(starved, memory=100_000)
    assert one_tile.in_rounds(starved, whole)
    tile = pool(one, count=1000, scale=1e5)
    assert not one_tile.in_rounds(starved, tile)
    assert one_tile.as_tile(WindowPlan(), starved, tile).memory is not None
    assert one_tile.as_tile(WindowPlan(), one, pool(one, scale=1.0)).memory is None
    legacy = replace(starved, release=one.release.with_tunables({"zfs_scan_legacy": 1}))
    assert one_tile.as_tile(WindowPlan(), legacy, tile).memory is None, "it collects nothing"


def test_a_population_of_real_metaslabs_is_the_pool() -> None:
    one = case()
    reduced = pool(one)
    assert not one_tile.is_whole(one, reduced)
    assert one_tile.is_whole(one, replace(reduced, damaged=one.vdevs[0]))


def test_a_tile_is_as_often_in_the_pool_as_it_is_smaller() -> None:
    one = case()
    tile = one_tile.as_tile(WindowPlan(), one, pool(one, scale=250.0))
    assert (tile.times, tile.visits) == (250.0, 250.0)
    whole = one_tile.as_tile(WindowPlan(), one, pool(one, damaged=one.vdevs[0]))
    assert (whole.times, whole.visits) == (1.0, 1.0)
    assert one_tile.whole_plan(one, pool(one)).whole == sys.maxsize


def test_a_tile_lies_in_the_middle_of_the_places_of_all() -> None:
    one = case()
    tile = pool(one)
    moved = one_tile._in_the_middle(one, tile)
    shift = tile.damaged.behind(1, 2)
    assert shift > 0
    assert (moved.dva_offset[:, 0] - tile.table.dva_offset[:, 0] == shift).all()
    assert (moved.dva_offset[:, 1] == tile.table.dva_offset[:, 1]).all(), "copies that are not there stay so"


def test_what_is_centred_already_or_real_stays() -> None:
    one = case()
    for tile in (pool(one, centred=True), pool(one, damaged=one.vdevs[0])):
        assert one_tile._in_the_middle(one, tile) is tile.table


# How well tiles tell.


def runs(times: list[float], half: float = 0.0, covered: float = 0.5) -> list[Any]:
    return [SimpleNamespace(known=True, time_s=time, half_width_s=half, covered=covered) for time in times]


def world(
    times: list[float], *, tiled: bool = False, small: tuple[float, ...] = (), **more: Any
) -> MiddleWorld:
    one = case()
    held = pool(one, scale=more.pop("scale", 1000.0))
    known = runs(times, **more)
    found = MiddleWorld(one, None, held, 30_000, None, tiled)  # type: ignore[arg-type]
    found.runs, found.small = known, list(small)
    return found


def test_the_time_is_the_mean_of_the_tiles() -> None:
    assert world([90.0, 110.0]).time_s == 100.0
    assert world([90.0, 110.0]).known == world([90.0, 110.0]).runs


def test_runs_without_an_estimate_do_not_count() -> None:
    found = world([90.0, 110.0])
    found.runs.append(SimpleNamespace(known=False))  # type: ignore[arg-type]
    assert found.time_s == 100.0


def test_the_spread_of_small_tiles_and_their_size_are_the_error() -> None:
    found = world([95.0, 105.0, 100.0, 100.0], tiled=True)
    spread = student(3) * float(np.log([95, 105, 100, 100]).std(ddof=1)) / 2
    assert found.half_width_s == pytest.approx(100.0 * math.hypot(spread, OF_SIZE))


def test_a_drift_from_small_populations_widens_it() -> None:
    same = world([100.0, 100.0], tiled=True, small=(100.0, 100.0))
    drifted = world([100.0, 100.0], tiled=True, small=(80.0, 80.0))
    assert same.half_width_s == pytest.approx(100.0 * OF_SIZE)
    drift = math.log(100.0 / 80.0)
    assert drifted.half_width_s == pytest.approx(100.0 * math.hypot(OF_SIZE, OF_DRIFT * drift))


def test_one_tile_has_the_spread_of_small_populations_less_as_it_is_larger() -> None:
    found = world([100.0], small=(90.0, 100.0, 110.0))
    assert found._between() > 0.0
    larger = world([100.0], small=(90.0, 100.0, 110.0))
    larger.pool = replace(larger.pool, table=blocks(40_000))
    assert larger._between() == pytest.approx(found._between() * math.sqrt(5_000 / 40_000))


def test_where_all_populations_were_run_none_is_left() -> None:
    assert world([90.0, 100.0, 110.0, 100.0])._between() == 0.0
    assert world([90.0, 110.0])._populations == POPULATIONS
    assert world([90.0, 110.0], scale=2.5)._populations == 2.5


def test_what_lies_in_windows_is_not_open() -> None:
    seldom, often = (world([100.0], half=10.0, covered=share).half_width_s for share in (0.1, 3.9))
    assert often < seldom
    assert seldom == pytest.approx(10.0 * math.sqrt(1.0 - 0.1 / POPULATIONS))
    assert often == pytest.approx(10.0 * math.sqrt(1.0 - middle.MOST_SEEN))


# Where blocks lie.


@pytest.mark.parametrize(
    ("fields", "heaps"),
    [
        ({}, 8),
        ({"order": "legacy"}, 16),
        ({"layout": "mirror2", "operation": "rebuild"}, 0),
    ],
)
def test_heaps_follow_the_order_of_the_scan(fields: dict[str, Any], heaps: int) -> None:
    assert _heaps(case(**fields)) == heaps


def test_where_places_are_known_or_matter_nothing_is_moved() -> None:
    assert _may_lie_anywhere(case())
    assert not _may_lie_anywhere(case(layout="mirror2", operation="rebuild"))
    assert not _may_lie_anywhere(case(layout="draid2:4d:12c:1s"))


# Groups of a dRAID.


@pytest.mark.parametrize("children", [8, 12, 24])
def test_every_child_is_in_as_many_groups_as_another(children: int) -> None:
    """With d + p of c children in a group, a failed one is in (d + p) / c of them."""
    spec = Layout.parse(f"draid2:4d:{children}c:0s").vdevs[0]
    assert degraded_share(spec, 1) == pytest.approx(6 / children)
    assert degraded_share(spec, children - 5) == 1.0


def test_all_of_a_raidz_is_degraded() -> None:
    assert degraded_share(Layout.parse("raidz2x6").vdevs[0], 1) == 1.0


@pytest.mark.parametrize(
    "fields", [{}, {"layout": "draid2:4d:12c:1s", "operation": "rebuild"}, {"layout": "mirror2"}]
)
def test_only_a_resilver_of_a_draid_looks_for_degraded_groups(fields: dict[str, Any]) -> None:
    assert not case(**fields).repairs_groups
    assert case(layout="draid2:4d:12c:1s", target="new-drive").repairs_groups


def test_the_end_of_a_txg_has_its_share_of_the_pool_not_of_a_tile_of_milliseconds() -> None:
    one = case(
        layout="raidz2x6+special:mirror2", alloc="10.8T", drive_size="4TB", special_drive="generic-nvme-ssd",
        special_drive_size="1TB", replace_in="special", load=[], history="home-nas",
    )  # fmt: skip
    tile = one_tile.run_pool(one, miniature(one, blocks=5000), plane_model(one))
    ends = [after - end for (_, _, end), after in zip(tile.run.phases[-1:], [tile.run.end], strict=True)]
    assert ends[0] > 0.2 * tile.run.end, "the tile is over in less time than the end of its txg takes"
    assert tile.sync_s < 0.05 * tile.time_s
    assert tile.visit_s + tile.issue_s + tile.sync_s == pytest.approx(tile.time_s)
    assert tile.span_s < 0.8 * tile.run.end
