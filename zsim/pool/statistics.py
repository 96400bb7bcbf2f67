"""Statistics of a population that matter to a resilver: run lengths, gaps, holes, order, place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zsim.pool.blocks import BlockTable
from zsim.pool.recipes.recipe import TopLevel

KIB = 1 << 10


@dataclass(frozen=True, slots=True)
class Extents:
    """Every copy of every block of one top-level vdev, by address.

    Attributes
    ----------
    row : ndarray of int64
        Row of the block in its table.
    start, end : ndarray of int64
        [bytes]
    """

    row: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]

    @property
    def gaps(self) -> NDArray[np.int64]:
        """Free space between neighbours [bytes]; 0 where they touch."""
        return self.start[1:] - self.end[:-1]


def extents(table: BlockTable, vdev: int) -> Extents:
    """Return what is allocated on one top-level vdev, sorted by address.

    Returns
    -------
    Extents
        Row of the table, begin and end [bytes] of every copy that lies there.
    """
    row, copy = np.nonzero(table.dva_vdev == vdev)
    start = table.dva_offset[row, copy]
    order = np.argsort(start, kind="stable")
    row, copy, start = row[order], copy[order], start[order]
    return Extents(row.astype(np.int64), start, start + table.dva_asize[row, copy])


def run_lengths(table: BlockTable) -> NDArray[np.int64]:
    """Return the lengths of runs: data blocks next in traversal order and next in address [blocks].

    Parameters
    ----------
    table : BlockTable
        Rows in traversal order.

    Returns
    -------
    ndarray of int64, shape (runs,)
        They sum to the number of data blocks.  A scan by object reads a run without a seek.
    """
    data = ~table.is_metadata
    vdev, start = table.dva_vdev[data, 0], table.dva_offset[data, 0]
    end = start + table.dva_asize[data, 0]
    joined = (vdev[1:] == vdev[:-1]) & (start[1:] == end[:-1])
    return np.diff(np.flatnonzero(np.concatenate([[True], ~joined, [True]])))


def slab_fill(table: BlockTable, vdevs: tuple[TopLevel, ...]) -> NDArray[np.float64]:
    """Return how full each metaslab is.

    Parameters
    ----------
    table : BlockTable
    vdevs : tuple of TopLevel
        Of the pool.

    Returns
    -------
    ndarray of float, shape (metaslabs,)
        Allocated / size, metaslabs numbered over the pool.
    """
    fills = []
    for number, vdev in enumerate(vdevs):
        here = table.dva_vdev == number
        slab = vdev.slab_of(table.dva_offset[here])
        fills.append(np.bincount(slab, table.dva_asize[here], vdev.slab_count) / vdev.slab_bytes)
    return np.concatenate(fills)


def inner_gaps(table: BlockTable, number: int, vdev: TopLevel) -> NDArray[np.int64]:
    """Return the gaps between neighbours in the same metaslab of a top-level vdev [bytes].

    Parameters
    ----------
    table : BlockTable
    number : int
        Of the vdev in the pool.
    vdev : TopLevel

    Returns
    -------
    ndarray of int64
        0 where blocks touch; gaps across the border of a metaslab are left out [bytes].
    """
    found = extents(table, number)
    slab = vdev.slab_of(found.start)
    inner: NDArray[np.int64] = found.gaps[slab[1:] == slab[:-1]]
    return inner


def free_segments(
    table: BlockTable, number: int, vdev: TopLevel
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return every free segment of a top-level vdev.

    Parameters
    ----------
    table : BlockTable
    number : int
        Of the top-level vdev.
    vdev : TopLevel
        Its metaslabs: no segment crosses their bounds.

    Returns
    -------
    slab : ndarray of int64, shape (segments,)
        Metaslab of the vdev.
    length : ndarray of int64, shape (segments,)
        [bytes]
    """
    found = extents(table, number)
    bounds = vdev.slab_starts()
    start = np.sort(np.concatenate([found.end, bounds]))
    stop = np.sort(np.concatenate([found.start, bounds + vdev.slab_bytes]))
    # Between the k-th end and the k-th start lies the k-th gap; gaps do not cross a metaslab's bounds.
    length = stop - start
    keep = length > 0
    return vdev.slab_of(start[keep]), length[keep]


def rank_correlation(a: NDArray[np.int64], b: NDArray[np.int64]) -> float:
    """Return Spearman's rank correlation.

    Parameters
    ----------
    a, b : ndarray of int64, shape (n,)

    Returns
    -------
    float
        -1 to 1: the correlation of the ranks, ties ranked in order of appearance; 0 for fewer than three
        values.

    Examples
    --------
    >>> rank_correlation(np.array([1, 2, 3, 10]), np.array([5, 6, 7, 8]))
    1.0
    """
    if len(a) < 3:
        return 0.0
    first, second = (np.argsort(np.argsort(values, kind="stable"), kind="stable") for values in (a, b))
    return float(np.corrcoef(first, second)[0, 1])


@dataclass(frozen=True, slots=True)
class PopulationStatistics:
    """Figures that decide the time of a resilver, over the whole pool.

    Attributes
    ----------
    data_blocks, indirect_blocks, other_blocks : int
        Level 0 of files; level 1 and above of files; all else.
    allocated : int
        [bytes]
    run_blocks : float
        Mean run of data blocks next in traversal order and in address [blocks].
    exact, near, far : float
        Shares of the blocks that follow the previous one in address at no gap, at most 512 KiB, and further.
    near_gap, far_gap : float
        Mean gap of the `near` ones and of the `far` ones [bytes].
    holes : ndarray of int64
        Free segments by powers of two from 4 KiB up.
    traversal_order, birth_order : float
        Rank correlation of traversal order, and of birth, with the address of data.
    position : float
        Mean position of the allocated bytes: 0 outer, 1 inner.
    fill_spread : float
        Standard deviation of the metaslabs' fill.
    empty_slabs : float
        Share of metaslabs less than 2 % full.
    """

    data_blocks: int
    indirect_blocks: int
    other_blocks: int
    allocated: int
    run_blocks: float
    exact: float
    near: float
    far: float
    near_gap: float
    far_gap: float
    holes: NDArray[np.int64]
    traversal_order: float
    birth_order: float
    position: float
    fill_spread: float
    empty_slabs: float


def describe(table: BlockTable, vdevs: tuple[TopLevel, ...]) -> PopulationStatistics:
    """Return the statistics of a population that decide the time of a resilver.

    Parameters
    ----------
    table : BlockTable
        Rows in traversal order.
    vdevs : tuple of TopLevel
        Of the pool.

    Returns
    -------
    PopulationStatistics
        Means and shares; 0 where there is nothing to take them of.  Correlations are Spearman's of ranks.
    """
    data = ~table.is_metadata
    indirect = (table.level > 0) & (table.object > 0) & (table.objset > 0)
    gaps = np.concatenate([inner_gaps(table, number, vdev) for number, vdev in enumerate(vdevs)])
    gaps = gaps if len(gaps) else np.zeros(1, dtype=np.int64)
    near = (gaps > 0) & (gaps <= 512 * KIB)
    far = gaps > 512 * KIB
    address = table.dva_vdev[data, 0].astype(np.int64) * (1 << 50) + table.dva_offset[data, 0]
    fill = slab_fill(table, vdevs)
    lengths = np.concatenate([free_segments(table, number, vdev)[1] for number, vdev in enumerate(vdevs)])
    return PopulationStatistics(
        data_blocks=int(data.sum()),
        indirect_blocks=int(indirect.sum()),
        other_blocks=int((~data & ~indirect).sum()),
        allocated=table.allocated_bytes,
        run_blocks=float(run_lengths(table).mean()) if data.any() else 0.0,
        exact=float((gaps == 0).mean()),
        near=float(near.mean()),
        far=float(far.mean()),
        near_gap=float(gaps[near].mean()) if near.any() else 0.0,
        far_gap=float(gaps[far].mean()) if far.any() else 0.0,
        holes=np.bincount(
            np.clip(np.log2(np.maximum(lengths, 1)).astype(np.int64) - 12, 0, 31), minlength=32
        ),
        traversal_order=rank_correlation(np.arange(int(data.sum())), address),
        birth_order=rank_correlation(table.birth[data], address),
        position=mean_position(table, vdevs),
        fill_spread=float(fill.std()),
        empty_slabs=float((fill < 0.02).mean()),
    )


def mean_position(table: BlockTable, vdevs: tuple[TopLevel, ...]) -> float:
    """Return the mean position of the allocated bytes in their vdevs.

    Returns
    -------
    float
        0: the first address, the outer edge of the drives; 1: the last.  The
        mean over the bytes of `TopLevel.place_of` in metaslabs, by their number.
    """
    total = weighted = 0.0
    for number, vdev in enumerate(vdevs):
        here = table.dva_vdev == number
        asize = table.dva_asize[here]
        total += float(asize.sum())
        weighted += float((vdev.place_of(table.dva_offset[here]) * asize).sum()) / vdev.slab_count
    return weighted / total if total else 0.0
