"""How many metadata blocks of each kind a real pool has; remove those that a miniature has too many of.

A pool has one MOS, some objset roots and a few upper levels of its trees, however many blocks it has; in a
miniature they would be hundreds of times as many per block.  Files cut short have more indirect blocks than
whole ones.  What is too much is left out of the miniature's list; what is left keeps its place.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zsim.pool.blocks import LEVEL_OBJSET, BlockTable
from zsim.pool.recipes.recipe import PoolRecipe
from zsim.pool.simulator.draws import DRAWN, kept_numbers
from zsim.pool.simulator.files import file_sizes, pieces_at, places, records_of, shares_of
from zsim.pool.simulator.memory import MAX_LEVELS
from zsim.pool.simulator.syncing import DNODES_PER_BLOCK

SEED = 5
DECIDING = ("records", "files", "metadata", "piece_bytes")
"""What of a recipe decides about the shares."""


def tree_shares(recipe: PoolRecipe) -> NDArray[np.float64]:
    """Return how many dnodes (entry 0) and indirect blocks (by level) there are for each record of a file.

    Parameters
    ----------
    recipe : PoolRecipe
        Its files' sizes, record sizes and pointers decide.

    Returns
    -------
    ndarray of float64, shape (8,)
    """
    # What does not matter is left out, so that a whole family of scenarios asks once.
    return _tree_shares(PoolRecipe((), recipe.style, **{name: getattr(recipe, name) for name in DECIDING}))


@functools.lru_cache(maxsize=1024)
def _tree_shares(recipe: PoolRecipe) -> NDArray[np.float64]:
    numbers = kept_numbers(SEED, 0, recipe.files.shape, shares_of(recipe))
    if recipe.piece_bytes:
        kind, size = pieces_at(recipe, numbers, _all_places(numbers.place))
    else:
        kind, size = numbers.kind.astype(np.int64), file_sizes(recipe, numbers)
    width, _ = records_of(recipe, kind, size)
    counts = np.zeros(MAX_LEVELS)
    counts[0] = DRAWN
    records = float(width.sum())
    for level in range(1, MAX_LEVELS):
        width = -(-width[width > recipe.metadata.dnode_pointers] // recipe.metadata.pointers)
        counts[level] = width.sum()
    shares: NDArray[np.float64] = counts / records
    shares.flags.writeable = False
    return shares


@functools.lru_cache(maxsize=4)
def _all_places(first: float) -> NDArray[np.float64]:
    """Return the places of as many pieces as files are drawn, rising: their order is no matter."""
    return np.sort(places(DRAWN, first))


def thinned(table: BlockTable, reduced: PoolRecipe) -> BlockTable:
    """Return the blocks of a miniature without the metadata it has too much of.

    Left out are: the MOS but for the blocks of its last txg, which tell where the next go and which no scan
    reads; roots of objsets, their meta-dnodes but for dnode blocks and as many of the lowest level as so many
    files have, one at least, below which a scan reads ahead; of dnode blocks and of each level of the files'
    indirect blocks, as many as the cut files have more than whole ones, evenly.

    Parameters
    ----------
    table : BlockTable
        In traversal order.
    reduced : PoolRecipe
        Of the miniature.
    """
    mos = table.objset == 0
    latest = table.birth == table.birth[mos].max(initial=0)
    meta_dnode = ~mos & (table.object == 0)
    kept = ~(mos & ~latest) & ~(meta_dnode & ((table.level == LEVEL_OBJSET) | (table.level > 1)))
    real, here = tree_shares(replace(reduced, piece_bytes=0)), tree_shares(reduced)
    for level in range(MAX_LEVELS):
        kind = meta_dnode & (table.level == 0) if level == 0 else ~mos & ~meta_dnode & (table.level == level)
        if here[level] > 0.0 and real[level] < here[level]:
            rows = np.flatnonzero(kind)
            kept[rows] = one_in(len(rows), float(real[level] / here[level]))
    above = np.flatnonzero(meta_dnode & (table.level == 1))
    records = float((~mos & ~meta_dnode & (table.level == 0)).sum())
    wanted = max(1.0, records * real[0] / (DNODES_PER_BLOCK * reduced.metadata.pointers))
    kept[above] = one_in(len(above), min(1.0, wanted / max(1, len(above))))
    kept[above[:1]] = True
    return table.take(kept)


def one_in(count: int, share: float) -> NDArray[np.bool_]:
    """Tell which of many things to keep, so that a share of them is, evenly spread.

    Parameters
    ----------
    count : int
    share : float
        0 to 1.

    Returns
    -------
    ndarray of bool, shape (count,)
        ``round(count * share)`` of them are true: systematic sampling (Cochran, Sampling Techniques, 1977,
        ch. 8).
    """
    passed = np.floor(np.arange(count + 1) * share + 0.5)
    kept: NDArray[np.bool_] = np.diff(passed) > 0
    return kept
