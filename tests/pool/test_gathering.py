"""Metaslabs of a small population in one heap, and metadata of several of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.pool.test_scale_of_prediction import resolved_for
from zsim.case.case import Case
from zsim.drives.models.model import zone_rates
from zsim.pool.blocks import BlockTable
from zsim.pool.miniature.gathering import LOSS, gathered
from zsim.pool.miniature.repeating import WANTED, repeated_metadata
from zsim.pool.recipes.recipe import TopLevel
from zsim.prediction.inputs.population import miniature, pool_miniature


def pool_of(history: str, blocks: int = 6_000) -> tuple[Case, BlockTable, TopLevel, TopLevel]:
    case = resolved_for(history, "openzfs-2.3")
    pool, _ = pool_miniature(case, blocks=blocks, heaps=8)
    return case, pool.table, pool.recipe.vdevs[0], case.vdevs[0]


def test_metaslabs_follow_one_another_in_their_order() -> None:
    _, table, reduced, real = pool_of("home-nas")
    after, level = gathered(table, 0, reduced, real)
    moved = after.dva_offset - table.dva_offset
    here = table.dva_vdev == 0
    assert (moved[here] % real.row_bytes == 0).all()
    assert (moved[~here] == 0).all()
    order = np.argsort(table.dva_offset[here])
    assert (np.diff(after.dva_offset[here][order]) > 0).all()
    gaps = np.diff(level.slab_starts()) - level.slab_bytes
    assert ((gaps >= 0) & (gaps < real.row_bytes)).all()
    assert (level.slab_of(after.dva_offset[here]) == reduced.slab_of(table.dva_offset[here])).all()
    assert after.dva_offset.max() < real.slab_bytes * real.slab_count


@pytest.mark.parametrize("history", ["home-nas", "write-once-archive"])
def test_the_heap_lies_where_the_rate_is_the_mean_of_all_places(history: str) -> None:
    _, table, reduced, real = pool_of(history)
    after, _ = gathered(table, 0, reduced, real)
    space, zones = real.slab_bytes * real.slab_count, 64
    rates = np.array(zone_rates(2e8, (1.0 - LOSS) ** 0.5, zones))
    here = table.dva_vdev == 0
    asize, slab = table.dva_asize[here], reduced.slab_of(table.dva_offset[here])
    there = (slab + 0.5) / reduced.slab_count
    wanted = np.average(1.0 / rates[(there * zones).astype(int)], weights=asize)
    place = after.dva_offset[here] / space
    found = np.average(1.0 / rates[(place * zones).astype(int)], weights=asize)
    assert found == pytest.approx(wanted, rel=0.01)


def test_copies_of_an_entry_are_repaired_far_away() -> None:
    case = resolved_for("home-nas", "openzfs-2.3")
    pool = miniature(case, blocks=6_000)
    assert pool.visited is not None
    several = np.flatnonzero(pool.table.dva_count > 1)
    apart = np.abs(np.diff(pool.table.dva_offset[several, :2], axis=1))
    far = np.abs(np.diff(pool.visited.dva_offset[several, :2], axis=1))
    assert np.median(far) > 50 * np.median(apart)


def test_metadata_of_several_tiles_lie_apart_below_one_root() -> None:
    _, table, _, real = pool_of("home-nas")
    found = repeated_metadata(table, {0: real})
    assert found is not None
    more, copies = found
    rows = (len(more) - 1) // copies
    assert len(more) == 1 + copies * rows
    assert WANTED <= copies * rows < WANTED + rows
    assert more.object[0] == 0
    assert more.level[0] > 0
    for name in ("object", "level", "psize", "blkid"):
        each = getattr(more, name)[1:].reshape(copies, rows)
        assert (each == each[0]).all()
    places = more.dva_offset[1:, 0].reshape(copies, rows)
    assert len(np.unique(places[:, 0])) == copies
    assert ((places[0] - places) % real.row_bytes == 0).all()
    assert (more.dva_offset >= 0).all()
    assert more.dva_offset.max() < real.slab_bytes * real.slab_count


def test_little_metadata_is_visited_once() -> None:
    case = resolved_for("write-once-archive", "openzfs-2.3")
    assert repeated_metadata(miniature(case, blocks=6_000).table, {0: case.vdevs[0]}) is None
