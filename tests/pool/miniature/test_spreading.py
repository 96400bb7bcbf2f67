"""Populations whose blocks lie as far apart as in the real pool, in a txg's own order."""

from __future__ import annotations

import numpy as np
import pytest

from tests.pool.miniature.test_scale_of_prediction import resolved_for
from zsim.case.case import Case
from zsim.pool.blocks import BlockTable
from zsim.pool.miniature.spreading import spread
from zsim.pool.recipes.recipe import pool_of
from zsim.pool.simulator.draws import kept_numbers
from zsim.pool.simulator.files import draw_pieces, shares_of
from zsim.prediction.inputs.population import miniature, pool_miniature


def population(history: str, blocks: int) -> tuple[Case, BlockTable]:
    resolved = resolved_for(history, "zol-0.7")
    return resolved, miniature(resolved, blocks=blocks).table


def near(table: BlockTable, lag: int, reach: int = 768 << 10) -> float:
    """Return the share of blocks that lie near the one so many before them in the traversal."""
    offset = table.dva_offset[:, 0]
    return float((np.abs(offset[lag:] - offset[:-lag]) < reach).mean())


@pytest.mark.parametrize("history", ["maildir", "small-files"])
def test_as_many_blocks_are_near_whatever_the_size(history: str) -> None:
    _, small = population(history, 12_000)
    _, large = population(history, 75_000)
    for lag in (1, 2, 4, 8, 32):
        assert near(small, lag) == pytest.approx(near(large, lag), abs=0.02)


def test_pieces_keep_order_runs_and_columns() -> None:
    resolved = resolved_for("small-files", "zol-0.7")
    pool, _ = pool_miniature(resolved, blocks=12_000, heaps=16)
    real = pool_of(resolved.layout, resolved.drive_size, resolved.release, resolved.ashift)[0][0]
    before, after = pool.table, spread(pool.table, 0, pool.recipe.vdevs[0], real)
    here = before.dva_vdev == 0
    old, new = before.dva_offset[here], after.dva_offset[here]
    order = np.argsort(old)
    assert (np.diff(new[order]) > 0).all()
    assert ((new - old) % real.row_bytes == 0).all()
    touching = np.diff(old[order]) == before.dva_asize[here][order][:-1]
    assert (np.diff(new[order])[touching] == np.diff(old[order])[touching]).all()
    assert new.max() < real.slab_bytes * real.slab_count
    assert len(np.unique(np.diff(new[order])[~touching])) > 100


def test_few_jumps_are_left_where_they_are() -> None:
    resolved = resolved_for("media-server", "zol-0.7")
    pool, _ = pool_miniature(resolved, blocks=6_000, heaps=16)
    real = pool_of(resolved.layout, resolved.drive_size, resolved.release, resolved.ashift)[0][0]
    assert spread(pool.table, 0, pool.recipe.vdevs[0], real, jumps=10**6) is pool.table


def test_any_pieces_of_files_that_follow_one_another_have_the_mix_of_all() -> None:
    resolved = resolved_for("media-server", "openzfs-2.3")
    recipe = pool_miniature(resolved, blocks=12_000)[0].recipe
    kind, size = draw_pieces(recipe, 4_000, kept_numbers(1, 0, recipe.files.shape, shares_of(recipe)))
    parts = (size * (kind == 0)).reshape(-1, 100).sum(axis=1) / size.reshape(-1, 100).sum(axis=1)
    assert parts.std() < 0.01
    assert 0.0 < parts.mean() < 1.0
