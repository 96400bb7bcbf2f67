"""When a slow child of a RAID-Z or dRAID sits out: the rules of OpenZFS 2.4 that both engines apply.

Sources: release-by-release notes of OpenZFS 2.4 on ``vdev_raidz.c`` (outliers among the children's read
latencies by Tukey's fence: Exploratory Data Analysis, 1977, 2D), man pages vdevprops(7) and zfs(4).
"""

from __future__ import annotations

from zsim.base.arrays import I64
from zsim.base.jit import njit
from zsim.vdevs.kind import FEWEST_TO_SIT_OUT

LATENCY_BUCKETS = 40
"""Bucket i of a histogram holds reads that took 2**i to 2**(i+1) ns."""
MOST_OUTLIERS = 20
MOST_AT_ONCE = 5
FORGIVEN = 2


def may_sit_out(children: int) -> bool:
    """Tell whether a vdev has children enough for one of them to stand out.

    Parameters
    ----------
    children : int
        All of them, missing ones too.

    Notes
    -----
    Five at the least (OpenZFS 2.4 vdev_raidz.c): quartiles of fewer say nothing.
    """
    return children >= FEWEST_TO_SIT_OUT


@njit
def latency_bucket(seconds: float) -> int:
    """Return the bucket of a latency.

    Parameters
    ----------
    seconds : float
        [s]

    Returns
    -------
    int
        i for latencies of 2**i to 2**(i+1) ns, at most LATENCY_BUCKETS - 1.

    Notes
    -----
    The histogram ``disk_histo`` of OpenZFS 2.4 (vdev.c), powers of two.

    Examples
    --------
    >>> latency_bucket(1e-6)  # 1000 ns
    9
    """
    left, bucket = int(seconds * 1e9), 0
    while left > 1 and bucket < LATENCY_BUCKETS - 1:
        left >>= 1
        bucket += 1
    return bucket


@njit
def mean_of(histogram: I64) -> int:
    """Return the mean latency that a histogram stands for [ns], and empty it.

    Parameters
    ----------
    histogram : ndarray of int64, shape (LATENCY_BUCKETS,)
        Reads by `latency_bucket`; all 0 afterwards.

    Returns
    -------
    int
        Each read taken as 2**i ns, 0 where there was none.
    """
    total, count = 0, 0
    for bucket in range(LATENCY_BUCKETS):
        total += histogram[bucket] << bucket
        count += histogram[bucket]
        histogram[bucket] = 0
    return int(total // max(1, count))


@njit
def _median(values: I64, first: int, count: int) -> int:
    """Return the median of `count` sorted values from `first` on."""
    middle = first + (count >> 1)
    if count & 1:
        return int(values[middle])
    return int((values[middle - 1] + values[middle]) >> 1)


@njit
def _sort(values: I64, count: int) -> None:
    for place in range(1, count):
        value, at = values[place], place
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value


@njit
def outlying(latencies: I64, children: int, insensitivity: int) -> int:
    """Return by how much the slowest of some children is an outlier, 0 if it is none.

    Parameters
    ----------
    latencies : ndarray of int64, shape (children,)
        Mean latency of each since it was last looked at [ns]; sorted in place.
    children : int
    insensitivity : int
        Factor on the interquartile range (vdev_raidz_outlier_insensitivity).

    Returns
    -------
    int
        1 to `MOST_AT_ONCE`: how many interquartile ranges beyond the fence.

    Notes
    -----
    The range counts as at least a quarter of the first quartile, so that equal drives have no outliers.
    """
    _sort(latencies, children)
    half = children >> 1
    low, high = _median(latencies, 0, half), _median(latencies, (children + 1) >> 1, half)
    spread = max(high - low, low // 4)
    beyond = latencies[children - 1] - (high + insensitivity * spread)
    if beyond <= 0 or spread <= 0:
        return 0
    return int(max(1, min(beyond // spread, MOST_AT_ONCE)))
