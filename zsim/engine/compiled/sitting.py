"""Children of a RAID-Z or dRAID that sit out because they are slow (2.4), in the compiled engine."""

from __future__ import annotations

from zsim.base.arrays import Table
from zsim.base.jit import njit
from zsim.engine.compiled.memory import (
    SPARE_LEAF,
    child_leaf_of,
    general_of,
    health_of,
    histogram_of,
    latencies_of,
    scan_rules_of,
    sitting_of,
)
from zsim.engine.compiled.records import VdevRecord
from zsim.engine.sit_out import (
    FORGIVEN,
    MOST_OUTLIERS,
    latency_bucket,
    mean_of,
    outlying,
)


@njit
def note_read(table: Table, leaf: int, seconds: float) -> None:
    """Count how long a read took on its drive, if any vdev looks for outliers.

    Parameters
    ----------
    table : Table
        The engine's memory.
    leaf : int
    seconds : float
        From submission to completion [s].
    """
    if general_of(table)[0].watches != 0:
        histogram_of(table, leaf)[latency_bucket(seconds)] += 1


@njit
def sits_out(table: Table, vdev: VdevRecord, child: int) -> bool:
    """Tell whether a child is not read now.

    Parameters
    ----------
    table : Table
        The engine's memory.
    vdev : VdevRecord
    child : int

    Returns
    -------
    bool
        True while it sits out; false during a scrub, which reads every child.

    Notes
    -----
    OpenZFS 2.4 vdev_raidz.c: normal and resilver reads skip a child that sits out, scrub reads never do.
    """
    if vdev.autosit == 0 or scan_rules_of(table)[0].scrub != 0:
        return False
    return bool(sitting_of(table)[vdev.first_child + child].until > general_of(table)[0].now)


@njit
def is_faulted(table: Table, leaf: int) -> bool:
    """Tell whether a leaf has been faulted."""
    return bool(health_of(table)[leaf].faulted <= general_of(table)[0].now)


@njit
def _is_unhealthy(table: Table, vdev: VdevRecord, child: int) -> bool:
    """Tell whether a child is not healthy, or sits out."""
    child_leaf, place = child_leaf_of(table), vdev.first_child + child
    if sitting_of(table)[place].until > general_of(table)[0].now:
        return True
    leaf = child_leaf[2 * place]
    return leaf < 0 or is_faulted(table, leaf)


@njit
def _mean_latency(table: Table, vdev: VdevRecord, child: int) -> int:
    """Return a child's mean read latency since the last look [ns]; a `replacing` vdev has none."""
    place = 2 * (vdev.first_child + child)
    child_leaf = child_leaf_of(table)
    leaf, other = child_leaf[place], child_leaf[place + 1]
    if leaf < 0:
        return 0
    latency = mean_of(histogram_of(table, leaf))
    return 0 if other != leaf and (other >= 0 or other <= SPARE_LEAF) else latency


@njit
def look_for_outliers(table: Table, vdev: VdevRecord) -> None:
    """Look for a child that is much slower than the others, at most once an interval.

    Parameters
    ----------
    table
        Memory of the plane.
    vdev : record
        A RAID-Z or dRAID vdev with autosit on.

    Notes
    -----
    Nobody is added where as many children as there is parity are out or unhealthy, where a healthy one
    was not read, or where the slowest is out already.  Source: OpenZFS 2.4 vdev_raidz.c, see
    `zsim.engine.sit_out`.
    """
    general, latencies = general_of(table)[0], latencies_of(table)
    if vdev.autosit == 0 or general.now - vdev.looked_at < vdev.interval:
        return
    vdev.looked_at = general.now
    out, unread, slowest, most = 0, 0, -1, 0
    for child in range(vdev.children):
        latency, unhealthy = _mean_latency(table, vdev, child), _is_unhealthy(table, vdev, child)
        out += 1 if unhealthy else 0
        unread += 1 if latency == 0 and not unhealthy else 0
        latencies[child] = latency
        if latency > most:
            slowest, most = child, latency
    if out >= vdev.parity or unread > 0 or slowest < 0 or _is_unhealthy(table, vdev, slowest):
        return
    by = outlying(latencies, vdev.children, vdev.insensitivity)
    if by > 0:
        _count_outlier(table, vdev, vdev.first_child + slowest, by)


@njit
def _count_outlier(table: Table, vdev: VdevRecord, place: int, by: int) -> None:
    """Count an outlier; a child that was one too often sits out, and all begin anew."""
    sitting = sitting_of(table)
    vdev.outliers += by
    if vdev.outliers >= vdev.children:
        for other in range(vdev.first_child, vdev.first_child + vdev.children):
            sitting[other].outliers = max(0, sitting[other].outliers - FORGIVEN)
        vdev.outliers = 0
    sitting[place].outliers += by
    if sitting[place].outliers > MOST_OUTLIERS:
        for other in range(vdev.first_child, vdev.first_child + vdev.children):
            sitting[other].outliers = 0
        sitting[place].sat += 1
        sitting[place].until = general_of(table)[0].now + vdev.sit_out
