"""FRAG as ``zpool list`` prints it, computed from the sizes of the holes, by release."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import F64
from zsim.base.errors import InputError
from zsim.pool.blocks import BlockTable
from zsim.pool.recipes.recipe import TopLevel
from zsim.pool.statistics import free_segments
from zsim.scenario.releases.profile import ReleaseProfile
from zsim.vdevs.kind import NORMAL

BUCKETS = 48
FIRST_BUCKET = 9
CUT = 16
# metaslab.c: zfs_frag_table, free segments of 512 bytes, 1K, 2K ... and more [%].
TABLES = {
    "to-16M": (100, 100, 98, 95, 90, 80, 70, 60, 50, 40, 30, 20, 15, 10, 5, 0),
    "to-512M": (100, 99, 97, 93, 88, 83, 77, 71, 64, 57, 50, 43, 36, 29, 23, 17, 12, 7, 3, 1, 0),
}


def slab_fragmentation(
    histogram: NDArray[np.int64], release: ReleaseProfile, vdev: TopLevel | None = None
) -> NDArray[np.float64]:
    """Return FRAG of metaslabs [fraction], 0 where nothing is free.

    Parameters
    ----------
    histogram : ndarray of int64, shape (metaslabs, 48)
        Free segments by power of two.
    release : ReleaseProfile
        Decides the table.
    vdev : TopLevel, optional
        The top-level vdev they belong to.  What is free in one piece and more than a sixteenth of a
        miniature's metaslab stands for a piece that much larger in the real one.

    Raises
    ------
    InputError
        When the release has no FRAG (v28).

    Notes
    -----
    OpenZFS metaslab.c:metaslab_set_fragmentation: a segment counts with the lower bound of its bucket.
    """
    table = _weights_on(vdev, release)
    size = histogram * np.exp2(np.arange(histogram.shape[1]))
    total = size.sum(axis=1)
    return np.where(total > 0, (size @ table) / np.maximum(total, 1), 0.0)


class FragWeights(NamedTuple):
    """What FRAG of a pool is made of, as `zsim.pool.simulator.rounds.pool_frag` takes it.

    Attributes
    ----------
    weights : ndarray of float64, shape (vdevs, 48)
        Share of fragmentation of a free segment of 2**i bytes.
    sizes : ndarray of float64, shape (vdevs,)
        What the metaslabs of each measure together [bytes].
    by_space : bool
        Whether metaslabs count by their free space.
    """

    weights: F64
    sizes: F64
    by_space: bool


def frag_weights(
    vdevs: tuple[TopLevel, ...], release: ReleaseProfile, of: Collection[int] = ()
) -> FragWeights:
    """Return what FRAG of a pool is made of.

    Parameters
    ----------
    vdevs : tuple of TopLevel
        The pool, or its miniature.
    release : ReleaseProfile
        Its table, and how the mean over metaslabs is taken.
    of : collection of int
        Vdevs that it is the mean of, by number; empty: all of the normal class.

    Raises
    ------
    InputError
        The release knows no FRAG.
    """
    weights = np.array([_weights_on(vdev, release) for vdev in vdevs])
    sizes = np.array(_counted(vdevs, of))
    return FragWeights(weights, sizes, release.fragmentation_mean == "free-space")


def _counted(vdevs: tuple[TopLevel, ...], of: Collection[int]) -> list[float]:
    """Return the size of each vdev as it counts in the mean [bytes]: 0 if it does not."""
    return [
        float(vdev.slab_count * vdev.slab_bytes)
        if (number in of if of else vdev.spec.alloc_class == NORMAL)
        else 0.0
        for number, vdev in enumerate(vdevs)
    ]


def _weights_on(vdev: TopLevel | None, release: ReleaseProfile) -> F64:
    """Return the share of fragmentation of free segments by size, on a metaslab that may be a reduced one."""
    table = fragmentation_weights(release)
    if vdev is None or vdev.stands_for <= vdev.slab_bytes:
        return table
    shift = round(float(np.log2(vdev.stands_for / vdev.slab_bytes)))
    large = np.arange(BUCKETS) >= (vdev.slab_bytes // CUT).bit_length()
    return np.where(large, table[np.minimum(np.arange(BUCKETS) + shift, BUCKETS - 1)], table)


def fragmentation_weights(release: ReleaseProfile) -> NDArray[np.float64]:
    """Return the share of fragmentation that a free segment stands for, by its size.

    Returns
    -------
    ndarray of float, shape (48,)
        Of segments of 2**i to 2**(i+1) bytes: 1 of the smallest, 0 of large ones.

    Raises
    ------
    InputError
        The release knows no FRAG.

    Notes
    -----
    OpenZFS metaslab.c:zfs_frag_table: one table to 2.3.0, another since 2.3.1.
    """
    if release.fragmentation_table == "none":
        raise InputError("frag", release.name, "this release knows no FRAG", "leave it out")
    values = TABLES[release.fragmentation_table]
    rows = np.clip(np.arange(BUCKETS) - FIRST_BUCKET, 0, len(values) - 1)
    return np.array(values, dtype=np.float64)[rows] / 100


def pool_fragmentation(
    histogram: NDArray[np.int64],
    untouched: NDArray[np.bool_],
    vdevs: tuple[TopLevel, ...],
    release: ReleaseProfile,
    free: NDArray[np.int64] | None = None,
    of: Collection[int] = (),
) -> float:
    """Return FRAG of a pool [fraction].

    Parameters
    ----------
    histogram : ndarray of int64, shape (metaslabs, 48)
        Free segments by power of two, metaslabs numbered over the pool.
    untouched : ndarray of bool, shape (metaslabs,)
        Metaslabs never allocated from: they count as 0.
    vdevs : tuple of TopLevel
        The pool: its top-level vdevs are weighted by size.
    release : ReleaseProfile
        To 2.3.0 the mean over a vdev's metaslabs is plain, from 2.3.1 weighted by free space.
    free : ndarray of int64, shape (metaslabs,), optional
        Free space of each [bytes]; taken from the lower bounds of the histogram if not given.
    of : collection of int
        As `frag_weights` takes it.

    Notes
    -----
    OpenZFS metaslab.c:metaslab_group_fragmentation, metaslab_class_fragmentation, and
    spa.c:spa_prop_get_config, which asks for that of the normal class alone.
    """
    space = histogram @ np.exp2(np.arange(histogram.shape[1])) if free is None else free
    by_space = release.fragmentation_mean == "free-space"
    total = 0.0
    first = 0
    sizes = _counted(vdevs, of)
    for vdev, size in zip(vdevs, sizes, strict=True):
        part = slice(first, first + vdev.slab_count)
        first += vdev.slab_count
        each = np.where(untouched[part], 0.0, slab_fragmentation(histogram[part], release, vdev))
        shares = np.maximum(space[part], 1.0) if by_space else np.ones(vdev.slab_count)
        total += size * float(np.average(each, weights=shares))
    return total / sum(sizes)


def fragmentation(table: BlockTable, vdevs: tuple[TopLevel, ...], release: ReleaseProfile) -> float:
    """Return FRAG of the pool that holds a population.

    Parameters
    ----------
    table : BlockTable
    vdevs : tuple of TopLevel
        The pool.
    release : ReleaseProfile
        Its table, and how the mean over metaslabs is taken.

    Returns
    -------
    float
        As `pool_fragmentation` gives it [fraction]; a metaslab that is free as a whole counts as never
        allocated from.
    """
    histograms, free = [], []
    for number, vdev in enumerate(vdevs):
        slab, length = free_segments(table, number, vdev)
        exponent = np.frexp(length.astype(np.float64))[1] - 1
        flat = np.bincount(slab * BUCKETS + exponent, minlength=vdev.slab_count * BUCKETS)
        free.append(np.bincount(slab, length, vdev.slab_count).astype(np.int64))
        histograms.append(flat.reshape(vdev.slab_count, BUCKETS))
    histogram = np.concatenate(histograms).astype(np.int64)
    whole = np.concatenate([np.full(vdev.slab_count, vdev.slab_bytes.bit_length() - 1) for vdev in vdevs])
    untouched = histogram[np.arange(len(whole)), whole] > 0
    return pool_fragmentation(histogram, untouched, vdevs, release, np.concatenate(free))
