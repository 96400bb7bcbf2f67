"""The picture of a population: address against birth, run lengths, holes, block sizes, metaslabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zsim.pool.miniature.ageing import AgedPool
from zsim.pool.statistics import free_segments, run_lengths, slab_fill
from zsim.prediction.answer.drawing import ACCENT, PALE, WIDTH, Picture, headed, plain, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from zsim.pool.blocks import BlockTable
    from zsim.pool.recipes.recipe import TopLevel

__all__ = ["pool_figure", "save"]

MAX_POINTS = 20_000


def pool_figure(pool: AgedPool) -> Picture:
    """Return the figure of a population."""
    table, vdevs = pool.miniature.own_table(), pool.miniature.recipe.vdevs
    drawn = Picture(figsize=(WIDTH, 8.4), layout="constrained")
    grid = drawn.add_gridspec(3, 2)
    _draw_births(drawn.add_subplot(grid[0, :]), table, vdevs[0])
    _draw_fill(drawn.add_subplot(grid[1, 0]), table, vdevs)
    _draw_runs(drawn.add_subplot(grid[1, 1]), table)
    _draw_holes(drawn.add_subplot(grid[2, 0]), table, vdevs)
    _draw_sizes(drawn.add_subplot(grid[2, 1]), table)
    frag = "" if np.isnan(pool.frag) else f", FRAG {pool.frag:.0%}"
    headed(drawn, f"Blocks of the simulated pool: {pool.fill:.0%} full{frag}")
    return drawn


def _draw_births(axes: Axes, table: BlockTable, vdev: TopLevel) -> None:
    """Draw which txg wrote what lies where: a diagonal is a pool written once, a cloud one that has aged."""
    rows = np.flatnonzero(table.dva_vdev[:, 0] == 0)
    rows = rows[:: max(1, len(rows) // MAX_POINTS)]
    place = vdev.place_of(table.dva_offset[rows, 0]) / vdev.slab_count
    axes.scatter(table.birth[rows], place, s=1.5, color=ACCENT, lw=0)
    axes.set_ylim(0, 1)
    _label(axes, "Blocks", "birth [txg]", "address [share of the vdev]")


def _draw_fill(axes: Axes, table: BlockTable, vdevs: tuple[TopLevel, ...]) -> None:
    fill = slab_fill(table, vdevs)
    axes.bar(np.arange(len(fill)), fill, width=1.0, color=PALE, edgecolor=ACCENT, lw=0.3)
    axes.set_ylim(0, 1)
    _label(axes, "Metaslabs", "metaslab", "full")


def _draw_runs(axes: Axes, table: BlockTable) -> None:
    lengths = run_lengths(table)
    edges = np.exp2(np.arange(0, max(2, int(np.ceil(np.log2(lengths.max()))) + 2)))
    axes.hist(lengths, bins=edges.tolist(), weights=lengths / lengths.sum(), color=ACCENT)
    axes.set_xscale("log", base=2)
    _label(axes, "Runs in file order", "length [blocks]", "share of the blocks")


def _draw_holes(axes: Axes, table: BlockTable, vdevs: tuple[TopLevel, ...]) -> None:
    lengths = np.concatenate([free_segments(table, number, vdev)[1] for number, vdev in enumerate(vdevs)])
    edges = np.exp2(np.arange(9, max(12, int(np.ceil(np.log2(max(lengths.max(), 512)))) + 1)))
    axes.hist(lengths, bins=edges.tolist(), color=ACCENT)
    axes.set_xscale("log", base=2)
    _label(axes, "Holes", "size [bytes]", "number")


def _draw_sizes(axes: Axes, table: BlockTable) -> None:
    data = table.psize[~table.is_metadata]
    edges = np.exp2(np.arange(8.5, 25.5))
    weights = data / max(1, data.sum())
    axes.hist(data, bins=edges.tolist(), weights=weights, color=ACCENT)
    axes.set_xscale("log", base=2)
    _label(axes, "Block sizes", "psize [bytes]", "share of the data")


def _label(axes: Axes, title: str, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    plain(axes, title)
