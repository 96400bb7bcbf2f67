"""Expansions, rounds and tiles of sampled runs against arithmetic by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.prediction.runs.test_sampled_by_hand import Items
from tests.prediction.runs.test_sampled_parts import case
from zsim.operation.background.expansion import Reflow
from zsim.pool.recipes.recipe import TopLevel
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.runs import middle_world as middle
from zsim.prediction.runs.expanding import healthy_scrub, starting_txgs
from zsim.prediction.runs.middle_world import MiddleWorld
from zsim.prediction.runs.sampling import rounds
from zsim.prediction.runs.sampling.rounds import MetadataPhase, ScanPace, in_places
from zsim.prediction.runs.sampling.windows import WindowPlan
from zsim.scan.program import OP_ISSUE, OP_VISIT, Program

# Expansions.


def test_the_start_of_an_expansion_waits_until_a_txg_lasts_longer_by_itself() -> None:
    """Of what has been done a share 1 / W may follow: 1, 5/4, 25/16 ... of the scratch area."""
    reflow = Reflow(0, np.zeros(0, np.int64), np.zeros(0, np.int64), children=4, ashift=12)
    scratch, more = reflow.scratch_bytes, reflow.limit(reflow.scratch_bytes) - reflow.scratch_bytes
    space = 1 << 44
    # So slow that the first step lasts as long as a txg: it waits for one.
    assert starting_txgs(reflow, space, 1.0, more / 5.0, 5.0) == 1
    assert starting_txgs(reflow, space, 1.0, more / 5.0 + 1.0, 5.0) == 2
    assert starting_txgs(reflow, space, 0.5, more / 10.0 + 1.0, 5.0) == 2
    assert starting_txgs(reflow, scratch, 1.0, 1e12, 5.0) == 1
    assert starting_txgs(reflow, scratch + 1, 1.0, 1e12, 5.0) == 2


def test_after_the_expansion_the_new_drive_is_one_of_the_vdevs_children() -> None:
    model = plane_model(case(layout="raidz1x4", operation="expand", release="openzfs-2.3"))
    grown, before = healthy_scrub(model).vdevs[0], model.vdevs[0]
    assert grown.read_leaf == (*before.read_leaf, len(model.leaves) - 1)
    assert grown.write_leaf == (-1,) * 5
    assert (grown.data, grown.parity, grown.grown) == (4, before.parity, before.grown + 1)
    two = plane_model(case(layout="2*raidz1x4", operation="expand", release="openzfs-2.3"))
    assert healthy_scrub(two).vdevs == (healthy_scrub(two).vdevs[0], two.vdevs[1])
    assert healthy_scrub(two).vdevs[0].read_leaf == (*two.vdevs[0].read_leaf, len(two.leaves) - 1)


# Rounds.


def test_a_txg_visits_for_a_slice_and_then_has_what_it_has_read_ahead() -> None:
    """Two items of 100 and 300 bytes in 60 s; 80 bytes ahead are a fifth of them: 12 s more than a slice."""
    walk = Program(np.array([OP_VISIT, OP_ISSUE, OP_VISIT, OP_VISIT, OP_VISIT]), np.array([0, 0, 1, 1, 2]))
    items = Items(psize=np.array([100, 300, 999]), in_memory=np.array([False, False, True]))

    def pace(limit: float, *, blocks: bool = False, whole_s: float = 60.0, visits: float = 1.0) -> ScanPace:
        window = SimpleNamespace(limit=limit, counts_blocks=blocks)
        known: Any = SimpleNamespace(walk=walk, items=items, pool_window=window, queue=range(30))
        return MetadataPhase(7.0, visits, whole_s, 5.0).pace(known)

    found = pace(80.0)
    assert (found.times, found.slice_s) == (7.0, 5.0)
    assert found.visit_s == pytest.approx(17.0)
    assert found.visited == pytest.approx(30 * 17.0 / 60.0)
    assert pace(80.0, visits=2.0).visit_s == pytest.approx(11.0)
    # Blocks ahead are of the mean size.
    assert pace(0.4, blocks=True).visit_s == pytest.approx(17.0)
    assert pace(1e9).visit_s == 60.0
    assert pace(80.0, whole_s=3.0).visit_s == pytest.approx(3.0)


def test_a_sweep_passes_over_short_gaps_and_seeks_across_long_ones() -> None:
    """Two vdevs, of the second each child holds half: bytes over the rate, and a seek at most a gap."""
    far = round(10 * rounds.RATE * rounds.POSITION_S)
    queue: Any = SimpleNamespace(
        offset=np.array([0, 200, 300 + far]), asize=np.array([100, 100, 50]), vdev=np.array([0, 0, 1])
    )
    found = rounds._seconds(queue, [np.array([0, 1]), np.array([2])], np.array([1.0, 0.5]))
    assert found == pytest.approx((100.0 + 100.0 + 100.0 + 25.0) / rounds.RATE + rounds.POSITION_S)
    back = rounds._seconds(queue, [np.array([1, 0])], np.array([1.0]))
    assert back == pytest.approx((200.0 + 300.0) / rounds.RATE)


class Level(SimpleNamespace):
    """A top-level vdev of metaslabs that begin at such places."""

    space = TopLevel.space

    def slab_starts(self) -> Any:
        return np.array(self.starts)


def test_each_sweep_begins_where_the_one_before_has_ended() -> None:
    """The only gap within a sweep is one of 95, so that they take 100, 200 and 100 of 4000, in its middle."""
    level: Any = Level(starts=[0], slab_bytes=4000, slab_count=1, row_bytes=10)

    class Queue(SimpleNamespace):
        def __len__(self) -> int:
            return len(self.offset)

    at = np.array([1250, 1010, 1150, 2000])
    queue: Any = Queue(offset=at, asize=np.full(4, 5), vdev=np.zeros(4, np.int64))
    sweeps = [np.array([1]), np.array([0, 2]), np.array([3])]
    offset, [order] = in_places(queue, sweeps, {0: level}, 1)
    assert offset.tolist() == [2000, 1800, 1900, 2100]
    assert order.tolist() == [1, 2, 0, 3]
    # Entries of vdevs whose blocks may not move stay where they are.
    queue.vdev = np.array([0, 0, 1, 1])
    offset, orders = in_places(queue, sweeps, {0: level}, 3)
    assert offset.tolist()[2:] == [1150, 2000]
    assert [each.tolist() for each in orders] == [[1, 0], [2, 3], []]


# Tiles.


@pytest.mark.parametrize(
    ("tiles", "stated", "wanted", "size", "in_tiles"),
    [
        (0.5, None, None, middle.TILE_BLOCKS, False), (1.0, None, None, middle.TILE_BLOCKS, False),
        (1.01, None, None, middle.TILE_BLOCKS, True), (float(middle.FEW_TILES), None, None, middle.TILE_BLOCKS, True),  # noqa: E501
        (middle.FEW_TILES + 0.01, None, None, middle.SMALL_TILE_BLOCKS, True),
        (middle.FEW_TILES + 0.01, 0.01, None, middle.TILE_BLOCKS, False),
        (middle.FEW_TILES + 0.01, None, 777, 777, False),
        (middle.FEW_TILES + 0.01, None, middle.SMALL_TILE_BLOCKS, middle.SMALL_TILE_BLOCKS, True),
    ],
)  # fmt: skip
def test_large_pools_are_run_in_small_tiles_and_small_ones_in_those_of_an_exact_run(
    monkeypatch: pytest.MonkeyPatch, tiles: float, stated: float | None, wanted: int | None, size: int,
    in_tiles: bool,
) -> None:  # fmt: skip
    def reduced(_: Any, *, blocks: int) -> Any:
        return SimpleNamespace(scale=tiles * middle.TILE_BLOCKS / blocks, table=range(blocks))

    monkeypatch.setattr(middle, "miniature", reduced)
    monkeypatch.setattr(middle, "is_whole", lambda case, pool: False)
    monkeypatch.setattr(middle, "whole_pool", lambda case, known: None)
    one: Any = SimpleNamespace(
        scenario=SimpleNamespace(precision=stated, block_list=None), layout=layout_of(6)
    )
    pool, blocks, tiled = middle._first_tile(one, wanted, False)
    assert (len(pool.table), blocks, tiled) == (size, size, in_tiles)
    assert middle._first_tile(one, None, True)[2] is (tiles > 1.0)
    listed: Any = SimpleNamespace(scenario=SimpleNamespace(precision=stated, block_list="x"))
    assert middle._first_tile(listed, None, False)[1:] == (middle.TILE_BLOCKS, False)
    monkeypatch.setattr(middle, "is_whole", lambda case, pool: True)
    assert middle._first_tile(one, wanted, True)[2] is False


@pytest.mark.parametrize(
    ("alloc", "pool_blocks", "is_whole", "laid_out", "found"),
    [
        (middle.WHOLE_BLOCKS * middle.FEW_BYTES + 1, 1, True, [], None),
        (1, 1, True, [500], 500),
        (1, middle.WHOLE_BLOCKS + 1, False, [500], None),
        (1, middle.WHOLE_BLOCKS, False, [500, int(middle.COUNTED * middle.WHOLE_BLOCKS)], None),
    ],
)
def test_a_pool_of_few_blocks_is_laid_out_whole(
    monkeypatch: pytest.MonkeyPatch, alloc: int, pool_blocks: float, is_whole: bool, laid_out: list[int],
    found: int | None,
) -> None:  # fmt: skip
    asked: list[int] = []

    def reduced(_: Any, *, blocks: int) -> Any:
        asked.append(blocks)
        return SimpleNamespace(pool_blocks=pool_blocks, table=range(blocks))

    monkeypatch.setattr(middle, "miniature", reduced)
    monkeypatch.setattr(middle, "is_whole", lambda case, pool: is_whole)
    one: Any = SimpleNamespace(alloc=alloc)
    made = middle.whole_pool(one, 500)
    assert (made and len(made.table), asked) == (found, laid_out)
    if laid_out[1:]:
        monkeypatch.setattr(middle, "is_whole", lambda case, pool: len(pool.table) > 500)
        made = middle.whole_pool(one, 500)
        assert made is not None
        assert len(made.table) == laid_out[-1]


@pytest.mark.parametrize(
    ("children", "whole", "listed", "blocks", "light"),
    [
        (4, True, None, middle.MOST_OPERATIONS // 4, True),
        (4, True, None, middle.MOST_OPERATIONS // 4 + 1, False),
        (4, False, None, 10, False),
        (4, True, "blocks.csv", 10, False),
    ],
)
def test_a_pool_that_is_little_work_is_run_to_its_last_block(
    monkeypatch: pytest.MonkeyPatch, children: int, whole: bool, listed: str | None, blocks: int, light: bool
) -> None:
    monkeypatch.setattr(middle, "is_whole", lambda case, pool: whole)
    world: Any = object.__new__(MiddleWorld)
    world.case = SimpleNamespace(layout=layout_of(children), scenario=SimpleNamespace(block_list=listed))
    world.pool = SimpleNamespace(table=range(blocks))
    assert world._is_light is light


def layout_of(children: int) -> Any:
    return SimpleNamespace(vdevs=(SimpleNamespace(children=2), SimpleNamespace(children=children)))


@pytest.mark.parametrize(
    ("children", "small"),
    [(middle.NARROW, middle.SHOWN_BLOCKS), (middle.NARROW + 1, middle.SMALL_TILE_BLOCKS)],
)
@pytest.mark.parametrize(
    ("tiles", "alloc", "sizes"),
    [
        (middle.COUNTED * 0.99, 1.0, [500, 0, middle.TILE_BLOCKS]),
        (middle.COUNTED * 1.01, 1.0, [500, middle.TILE_BLOCKS]),
        (middle.FEW_TILES / middle.COUNTED * 0.99, 1.0, [500, middle.TILE_BLOCKS]),
        (middle.FEW_TILES / middle.COUNTED * 1.01, 1.0, [500, 0, middle.TILE_BLOCKS]),
        (middle.FEW_TILES + 1.0, 1.0, [500, 0]),
        (2.0, 1e15, [0, middle.TILE_BLOCKS]),
    ],
)
def test_tiles_are_counted_on_a_population_that_is_there_unless_it_leaves_a_doubt(
    monkeypatch: pytest.MonkeyPatch, tiles: float, alloc: float, sizes: list[int], children: int, small: int
) -> None:
    laid_out = [size or small for size in sizes]
    asked: list[int] = []

    def reduced(_: Any, *, blocks: int) -> Any:
        asked.append(blocks)
        return SimpleNamespace(scale=tiles * middle.TILE_BLOCKS / blocks, table=range(blocks))

    monkeypatch.setattr(middle, "miniature", reduced)
    monkeypatch.setattr(middle, "is_whole", lambda case, pool: False)
    one: Any = SimpleNamespace(
        scenario=SimpleNamespace(precision=None, block_list=None), alloc=alloc, layout=layout_of(children)
    )
    assert middle._first_tile(one, None, True, 500)[1:] == (laid_out[-1], True)
    assert asked == laid_out


def test_each_tile_has_a_population_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def made(one: Any, *, blocks: int) -> Any:
        seeds.append(one.seed)
        return "other"

    monkeypatch.setattr(middle, "miniature", made)
    monkeypatch.setattr(middle, "as_tile", lambda plan, case, pool: plan)
    monkeypatch.setattr(middle, "tile_run", lambda case, model, pool, plan, progress: (pool, case.seed))
    one = case()
    world = middle.MiddleWorld(one, None, "first", 10, None)  # type: ignore[arg-type]
    assert world._run(0, WindowPlan()) == ("first", one.seed)
    assert world._run(2, WindowPlan()) == ("other", one.seed)
    assert seeds == [one.seed + 2]
    assert replace(world, tiled=True).in_tiles
    assert not replace(world, tiled=True, plan=WindowPlan()).in_tiles
