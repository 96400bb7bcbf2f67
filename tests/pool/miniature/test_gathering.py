"""Metaslabs of a small population in one heap, and what a pool has once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.pool.miniature.test_scale_of_prediction import resolved_for
from zsim.case.case import Case
from zsim.drives.models.model import zone_rates
from zsim.operation.setup import wanted_blocks
from zsim.pool.blocks import LEVEL_OBJSET, BlockTable
from zsim.pool.miniature.gathering import LOSS, gathered
from zsim.pool.recipes.recipe import TopLevel
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import in_heaps, miniature, pool_miniature
from zsim.prediction.runs.one_tile import tile_setup
from zsim.scan.rewritten import comes_once


def pool_of(history: str, blocks: int = 6_000) -> tuple[Case, BlockTable, TopLevel, TopLevel]:
    case = resolved_for(history, "openzfs-2.3")
    pool, _ = pool_miniature(case, blocks=blocks, heaps=8)
    return case, pool.table, pool.recipe.vdevs[0], case.vdevs[0]


def test_what_lies_in_a_metaslab_follows_on_what_lies_in_the_one_before_it() -> None:
    _, table, reduced, real = pool_of("home-nas")
    after = gathered(table, 0, reduced, real)
    moved, row = after.dva_offset - table.dva_offset, real.row_bytes
    here = table.dva_vdev == 0
    assert (moved[here] % row == 0).all()
    assert (moved[~here] == 0).all()
    before, then = table.dva_offset[here], after.dva_offset[here]
    asize = table.dva_asize[here]
    order = np.argsort(before)
    slab = reduced.slab_of(before[order])
    gaps = np.diff(then[order]) - asize[order][:-1]
    old_gaps = np.diff(before[order]) - asize[order][:-1]
    within = np.diff(slab) == 0
    assert (gaps[within] == old_gaps[within]).all()
    assert ((gaps[~within] >= 0) & (gaps[~within] < row)).all()
    assert (old_gaps[~within] > 100 * row).any()
    assert then.min() >= 0
    assert then.max() < real.slab_bytes * real.slab_count


@pytest.mark.parametrize("history", ["home-nas", "write-once-archive"])
def test_the_heap_lies_where_the_rate_is_the_mean_of_all_places(history: str) -> None:
    _, table, reduced, real = pool_of(history)
    after = gathered(table, 0, reduced, real)
    space, zones = real.slab_bytes * real.slab_count, 64
    rates = np.array(zone_rates(2e8, (1.0 - LOSS) ** 0.5, zones))
    here = table.dva_vdev == 0
    asize, slab = table.dva_asize[here], reduced.slab_of(table.dva_offset[here])
    there = (slab + 0.5) / reduced.slab_count
    wanted = np.average(1.0 / rates[(there * zones).astype(int)], weights=asize)
    place = after.dva_offset[here] / space
    found = np.average(1.0 / rates[(place * zones).astype(int)], weights=asize)
    assert found == pytest.approx(wanted, rel=0.01)


def test_several_heaps_lie_each_where_its_own_part_has_its_mean() -> None:
    _, table, reduced, real = pool_of("home-nas")
    one, four = (gathered(table, 0, reduced, real, heaps) for heaps in (1, 4))
    here = table.dva_vdev == 0
    slab = reduced.slab_of(table.dva_offset[here])
    place = four.dva_offset[here] / (real.slab_bytes * real.slab_count)
    for each in range(4):
        own = slab * 4 // reduced.slab_count == each
        assert np.ptp(place[own]) < 0.01
        assert each / 4 < place[own].mean() < (each + 1) / 4
        shifts = (four.dva_offset - one.dva_offset)[here][own]
        assert np.ptp(shifts) <= reduced.slab_count * real.row_bytes, "within a heap as in one"
    assert ((four.dva_offset - table.dva_offset)[here] % real.row_bytes == 0).all()


@pytest.mark.parametrize(("blocks", "load", "heaps"), [(6_000, 20, 4), (60_000, 20, 4), (60_000, None, 1)])
def test_beside_clients_a_population_lies_in_four_heaps(blocks: int, load: float | None, heaps: int) -> None:
    """From one in the middle the arm goes a quarter of the stroke to what clients read, not a third."""
    case = resolved_for(
        "media-server", "openzfs-2.3", load=[{"kind": "random-read", "rate": load}] if load else ()
    )
    placed = in_heaps(case, miniature(case, blocks=blocks))
    first = placed.dva_vdev[:, 0] == 0
    begin = np.sort(placed.dva_offset[first, 0])
    space = case.vdevs[0].slab_bytes * case.vdevs[0].slab_count
    assert 1 + np.count_nonzero(np.diff(begin) > space / 16) == heaps


def test_a_vdev_with_nothing_on_it_stays_as_it_is() -> None:
    _, table, reduced, real = pool_of("home-nas")
    assert gathered(table, 7, reduced, real) is table


def test_copies_of_an_entry_are_repaired_far_away() -> None:
    case = resolved_for("home-nas", "openzfs-2.3")
    pool = miniature(case, blocks=6_000)
    setup = tile_setup(case, plane_model(case), pool)
    assert setup.visited is not None
    several = np.flatnonzero(setup.blocks.dva_count > 1)
    apart = np.abs(np.diff(setup.blocks.dva_offset[several, :2], axis=1))
    far = np.abs(np.diff(setup.visited.dva_offset[several, :2], axis=1))
    assert np.median(far) > 50 * np.median(apart)


def test_the_mos_roots_and_the_first_dnodes_come_once() -> None:
    _, table, _, _ = pool_of("maildir")
    once = comes_once(table)
    assert once[table.objset == 0].all()
    assert once[(table.level == LEVEL_OBJSET)].all()
    of_files = table.object > 0
    assert not once[of_files & (table.objset > 0)].any()
    dnodes = (table.objset > 0) & (table.object == 0) & (table.level == 0)
    assert (once[dnodes] == (table.blkid[dnodes] == 0)).all()
    assert (~once[dnodes]).any()


def test_a_part_of_a_pool_does_not_read_what_comes_once() -> None:
    case = resolved_for("home-nas", "openzfs-2.3")
    setup = tile_setup(case, plane_model(case), miniature(case, blocks=6_000))
    assert setup.part
    once = comes_once(setup.blocks)
    assert not wanted_blocks(setup)[once].any()
    assert wanted_blocks(replace(setup, part=False, operation="scrub"))[once].any()


@pytest.mark.parametrize("room", [1.01, 1.5, 4.0])
def test_a_heap_stays_within_the_vdev(room: float) -> None:
    _, table, reduced, real = pool_of("home-nas")
    here = table.dva_vdev == 0
    wide = gathered(table, 0, reduced, real)
    length = int((wide.dva_offset + wide.dva_asize)[here].max() - wide.dva_offset[here].min())
    space = int(room * length)
    after = gathered(table, 0, reduced, replace(real, slab_bytes=space, slab_count=1, starts=()))
    assert after.dva_offset[here].min() >= 0
    assert (after.dva_offset + after.dva_asize)[here].max() <= space
    assert np.unique((after.dva_offset - wide.dva_offset)[here]).size == 1
