"""Segments and strays: blocks of a miniature as far apart as a scan in the order of birth finds them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.pool.miniature.test_scale_of_prediction import resolved_for
from tests.pool.test_statistics_by_hand import MIB, table
from zsim.case.case import Case
from zsim.operation.blocks import ScanBlocks
from zsim.pool.blocks import BlockTable
from zsim.pool.miniature.by_birth import AROUND, NEAR, SEGMENT, born_in_order, spread_by_birth
from zsim.pool.recipes.recipe import TopLevel
from zsim.prediction.api import case_of
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.one_tile import run_pool, tile_setup
from zsim.scenario.layout import VdevSpec
from zsim.scenario.model import Scenario

TIMES = 64
REDUCED = TopLevel(VdevSpec.mirror(2), 12, MIB, 4, (0, MIB, 128 * MIB, 129 * MIB), 64 * MIB)
REAL = TopLevel(VdevSpec.mirror(2), 12, TIMES * MIB, 4)
KIB_4 = 4


def written(births: list[int], places_kib: list[int]) -> BlockTable:
    """Blocks of 4 KiB on a mirror, in the order of the traversal."""
    blocks = table(*[(0, place, KIB_4) for place in places_kib])
    return replace(blocks, birth=np.array(births))


def test_what_is_as_old_as_its_neighbours_was_born_in_order() -> None:
    births = [7] * 20 + [40] + [7, 8, 8] + [9] * 20
    found = born_in_order(written(births, [8 * k for k in range(len(births))]))
    last_of_seven = 21
    late = [20, *range(24, last_of_seven + AROUND + 1)]
    assert np.flatnonzero(~found).tolist() == late, "9 is two younger than 7, where that is near"
    other = replace(written([7, 40], [0, 8]), objset=np.array([54, 55]))
    assert born_in_order(other).all(), "another objset tells nothing"
    assert born_in_order(written([7], [0])).all()


def test_segments_stay_and_strays_move_to_their_share_of_the_space() -> None:
    """Two hundred blocks in order in the first metaslab; behind each forty one that was rewritten."""
    births, places, late = [], [], []
    for k in range(200):
        births.append(7)
        places.append(KIB_4 * k)
        if k % 40 == 39:
            late.append(len(births))
            births.append(50 + k)
            places.append(128 * 1024 + 2 * k)
    before = written(births, places)
    after = spread_by_birth(before, 0, REDUCED, REAL)
    old, new = before.dva_offset[:, 0], after.dva_offset[:, 0]
    shift = new - old
    assert (shift % REDUCED.row_bytes == 0).all()
    stays = np.setdiff1d(np.arange(len(old)), late)
    assert len(set(shift[stays].tolist())) == 1
    # 800 KiB of them begin at 0, in the middle of 64 times as much.
    assert new[stays[0]] == pytest.approx((TIMES - 1) * 400 * 1024, rel=0.03)
    of_slabs = 2 * (MIB + REDUCED.row_bytes) + old[late] - 128 * MIB
    middle = of_slabs / (4 * (MIB + REDUCED.row_bytes)) * 4 * TIMES * MIB + (TIMES - 1) * 2048
    assert new[late] == pytest.approx(middle, rel=1e-4)
    assert np.diff(new[late]).min() > 32 * np.diff(old[late]).min(), "each on its own"


def test_strays_that_are_visited_together_move_together() -> None:
    """Files of three blocks, each rewritten as a whole: within a file the distances stay."""
    births, places = [], []
    for k in range(30):
        births += [7] * NEAR + [50 + k] * 3
        places += [KIB_4 * (NEAR * k + j) for j in range(NEAR)]
        places += [129 * 1024 + 16 * (k ^ 1) + KIB_4 * j for j in range(3)]
    before = written(births, places)
    after = spread_by_birth(before, 0, REDUCED, REAL)
    late = np.flatnonzero(~born_in_order(before)).reshape(-1, 3)
    new = after.dva_offset[late, 0]
    assert (np.diff(new, axis=1) == KIB_4 * 1024).all()
    assert np.diff(np.sort(new[:, 0])).min() > 16 * 1024 * TIMES / 2


def test_a_stray_among_the_middle_of_an_segment_stays_in_its_hole() -> None:
    births = [7] * 101
    births[50] = 60
    before = written(births, [KIB_4 * k for k in range(101)])
    after = spread_by_birth(before, 0, REDUCED, REAL)
    assert (np.diff(after.dva_offset[:, 0]) == KIB_4 * 1024).all()
    births[50], births[10] = 7, 60
    after = spread_by_birth(written(births, [KIB_4 * k for k in range(101)]), 0, REDUCED, REAL)
    new = after.dva_offset[:, 0]
    assert new[10] < new[0], "its place is in front of the segment"
    assert (np.diff(np.delete(new, 10)) == np.diff(np.delete(before.dva_offset[:, 0], 10))).all()


def test_vdevs_without_segments_or_strays_are_spread_as_well() -> None:
    count = 2 * NEAR
    births = [7] * (3 * count)
    births[count // 2 :: count] = [60, 61, 62]
    blocks = written(births, [KIB_4 * k for k in range(3 * count)])
    vdev, offset = np.full_like(blocks.dva_vdev, -1), blocks.dva_offset.copy()
    vdev[:, 0] = 0
    lone = np.arange(count // 2, 3 * count, count)
    vdev[lone, 0], offset[lone, 0] = 1, [0, MIB // 4, 128 * MIB]
    both = replace(blocks, dva_vdev=vdev, dva_offset=offset)
    strays = spread_by_birth(both, 1, REDUCED, REAL).dva_offset[:, 0]
    assert (np.delete(strays, lone) == np.delete(offset[:, 0], lone)).all()
    assert np.diff(strays[lone]) / MIB == pytest.approx([TIMES / 4, TIMES * 7 / 4], rel=0.02)
    segments = spread_by_birth(both, 0, REDUCED, REAL).dva_offset[:, 0]
    assert (segments[lone] == offset[lone, 0]).all()
    assert len(set(np.delete(segments - offset[:, 0], lone).tolist())) == 1
    assert (spread_by_birth(both, 2, REDUCED, REAL).dva_offset == both.dva_offset).all()


@pytest.mark.parametrize("history", ["maildir", "home-nas", "database", "small-files"])
@pytest.mark.parametrize("layout", ["raidz2x6", "3*raidz1x5", "mirror2"])
def test_no_block_lies_on_another_or_outside_of_its_vdev(history: str, layout: str) -> None:
    case = resolved_for(history, "zol-0.7", layout=layout, fill=0.8, drive_size=60 * 10**9, drive=None)
    blocks = miniature(case, blocks=SEGMENT + 375).table
    for number in np.unique(blocks.dva_vdev[blocks.dva_vdev >= 0]):
        here = blocks.dva_vdev == number
        order = np.argsort(blocks.dva_offset[here])
        begin, size = blocks.dva_offset[here][order], blocks.dva_asize[here][order]
        assert (begin[1:] >= (begin + size)[:-1]).all()
        real = case.vdevs[int(number)]
        assert begin[0] >= 0
        assert (begin + size)[-1] <= real.slab_bytes * real.slab_count


def strays_side_by_side(case: Case, blocks: int) -> float:
    """Return the share of strays of any thousand rows that have another of them within a megabyte."""
    population = miniature(case, blocks=blocks).table
    rows = np.flatnonzero(~born_in_order(population) & (population.dva_vdev[:, 0] == 0))
    gaps = []
    for begin in range(0, len(population) - 1_000, 1_000):
        here = rows[(rows >= begin) & (rows < begin + 1_000)]
        gaps.append(np.diff(np.sort(population.dva_offset[here, 0])))
    return float((np.concatenate(gaps) < MIB).mean())


@pytest.mark.parametrize("history", ["maildir", "database", "vm-host"])
def test_strays_of_one_txg_of_the_scan_lie_as_far_apart_whatever_the_size(history: str) -> None:
    """A drive sorts and destages what is of one txg; in pieces of many txgs 75 % had one near."""
    case = resolved_for(history, "zol-0.7")
    seeds = [replace(case, seed=case.seed + number) for number in range(4)]
    small, large = (
        np.mean([strays_side_by_side(each, blocks) for each in seeds]) for blocks in (9_375, 75_000)
    )
    assert small == pytest.approx(large, abs=0.08)
    assert small < 0.45


def test_clients_find_blocks_all_over_the_drives() -> None:
    """A scan by birth is in few places at a time; what is read beside it lies in every metaslab."""
    busy = resolved_for("write-once-archive", "zol-0.7", load=[{"kind": "random-read", "rate": 100}])
    population, model = miniature(busy, blocks=SEGMENT), plane_model(busy)
    blocks = ScanBlocks(tile_setup(busy, model, population))
    asked = blocks.client_items()
    assert asked.min() >= len(population.table), "items of their own"
    data = ~population.table.is_metadata
    assert (blocks.items.psize[asked] == population.table.psize[data]).all()
    space = busy.vdevs[0].slab_bytes * busy.vdevs[0].slab_count
    places = blocks.items.offset[asked] / space
    assert np.percentile(places, [5, 95]) == pytest.approx(
        np.percentile(population.asked.dva_offset[data, 0], [5, 95]) / space
    )
    assert np.ptp(places) > 10 * np.ptp(population.table.dva_offset[data, 0]) / space
    above = replace(tile_setup(busy, model, population), imported=True)
    tree = ScanBlocks(above)._above()
    assert (tree[asked] == tree[: len(population.table)][data]).all()
    assert ScanBlocks(tile_setup(busy, replace(model, clients=()), population)).client_items().size == 0


def test_beside_clients_a_population_takes_as_long_whatever_its_size() -> None:
    """Read within the one place where a small scan is, they cost next to nothing: 11 h of 37."""
    stated = {"layout": "mirror2", "fill": 0.35, "release": "zol-0.7", "history": "write-once-archive"}
    load = [{"kind": "random-read", "rate": 100}]
    case = case_of(Scenario.from_dict({**stated, "load": load, "drive": "wd40efrx"}))
    model = plane_model(case)
    small, large = (
        run_pool(case, miniature(case, blocks=blocks), model).time_s for blocks in (9_375, 75_000)
    )
    assert small == pytest.approx(large, rel=0.08)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "history", "drive_size"),
    [
        ("freebsd-9.1", "maildir", 8 * 10**9),
        ("zol-0.7", "vm-host", 6 * 10**9),
        ("zol-0.7", "home-nas", 40 * 10**9),
    ],
)
def test_a_population_takes_as_long_as_the_pool_laid_out_whole(
    release: str, history: str, drive_size: int
) -> None:
    stated = {"layout": "raidz2x6", "fill": 0.5, "release": release, "history": history}
    case = case_of(Scenario.from_dict({**stated, "drive_size": drive_size}))
    model = plane_model(case)
    whole = miniature(case, blocks=10**7)
    assert whole.scale == pytest.approx(1.0, abs=0.02)
    exact = run_pool(case, whole, model).time_s
    for blocks in (9_375, 37_500):
        seeded = [replace(case, seed=case.seed + number) for number in range(1, 4)]
        times = [run_pool(each, miniature(each, blocks=blocks), model).time_s for each in seeded]
        assert np.mean(times) == pytest.approx(exact, rel=0.05)
