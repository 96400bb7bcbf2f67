"""What sectors that cannot be read cost a scan.

A bad sector costs seconds, its neighbours milliseconds: a sample of the run has too few of them, so their
time is counted one after the other, in the order in which the scan comes by (`recovery`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.case.case import Case
from zsim.prediction.inputs.sick import sickness_number
from zsim.scenario.one_drive.sick import NO_LIMIT


def spare_children(case: Case) -> int:
    """Return how many more drives the damaged vdev could lose without losing data.

    Parameters
    ----------
    case : Case

    Returns
    -------
    int
        Its redundancy less the drives that are replaced, unless these are still read.
    """
    vdev = case.layout.vdevs[0]
    gone = 0 if case.old_drive == "online" or case.operation == "scrub" else case.replace
    return vdev.tolerance - gone


class LostTime(NamedTuple):
    """What the bad sectors of one drive cost.

    Attributes
    ----------
    drive : int
        Its leaf.
    seconds : float
        Time that the scan waits for it [s].
    errors : int
        Reads that fail.
    each_s : float
        What one of them takes [s].
    faulted_s : float or None
        When ZED faults the drive [s after the start]; None: it stays.
    """

    drive: int
    seconds: float
    errors: int
    each_s: float
    faulted_s: float | None


def error_seconds(case: Case, *, redundant: bool) -> float:
    """Return how long the scan waits for a read that fails.

    Parameters
    ----------
    case : Case
    redundant : bool
        Whether something is left to rebuild the block from.

    Returns
    -------
    float
        The drive's limit (ERC) or, where that is longer or none, the timeouts of the platform with its
        retries [s]; twice that without redundancy.

    Notes
    -----
    Where something is left to rebuild from, one attempt: what an aggregate could not read is rebuilt from
    parity.  Else the block is read once more (zio.c:zio_vdev_io_assess retries at the logical level only).
    """
    limit = case.scenario.erc
    if limit is None:
        limit = sickness_number("recovery", "erc.usual_s")
    timeout = sickness_number("recovery", f"{case.platform}.timeout_s")
    once = limit
    if limit == NO_LIMIT or limit > timeout:
        once = timeout * sickness_number("recovery", f"{case.platform}.attempts")
    return once if redundant else 2.0 * once


def recovery(case: Case, sound_s: float) -> tuple[LostTime, ...]:
    """Return what the bad sectors of each drive cost, those first that fail most.

    Parameters
    ----------
    case : Case
    sound_s : float
        Duration were there none [s].

    Notes
    -----
    The tenth I/O error within 600 s faults a drive as long as its vdev can do without it
    (cmd/zed/agents/zfs_diagnosis.c, vdev.c:vdev_fault); a resilver does not stop that, and what is left is
    read from the others.
    """
    if not case.scenario.bad_sectors:
        return ()
    damaged = range(case.layout.vdevs[0].children)
    left, found = spare_children(case), []
    sick = [each for each in case.scenario.bad_sectors if each.drive < case.leaves]
    for each in sorted(sick, key=lambda sick: -sick.count):
        leaf = case.scenario.leaf_of(each.drive)
        if leaf not in damaged and case.operation != "scrub":
            found.append(LostTime(leaf, 0.0, 0, 0.0, None))
            continue
        spare = left > 0
        cost = error_seconds(case, redundant=spare)
        moments = failing_reads(case, leaf, each.count) * sound_s
        lost = _waited(leaf, moments, cost, spare)
        left -= lost.faulted_s is not None
        found.append(lost)
    return tuple(found)


def failing_reads(case: Case, drive: int, count: int) -> NDArray[np.float64]:
    """Return where in the scan failing reads lie.

    Parameters
    ----------
    case : Case
    drive : int
        With the seed of the case it decides the places.
    count : int
        Bad sectors.

    Returns
    -------
    ndarray of float, shape (reads,)
        Shares of the scan, rising, from 0 to 1; sectors close by fail in one read.  In legacy order the same
        number of places, anywhere.

    Notes
    -----
    Bad sectors come in clusters: the next one lies near the last with a probability of one half.
    """
    generator = np.random.Generator(np.random.Philox(key=case.seed + drive))
    near = generator.random(count) < sickness_number("recovery", "sectors.cluster_share")
    near[0] = False
    space = case.fill * case.drive_size
    first = generator.random(count) * space
    steps = generator.random(count) * sickness_number("recovery", "sectors.cluster_span")
    heads = np.maximum.accumulate(np.where(near, 0, np.arange(count)))
    walked = np.cumsum(np.where(near, steps, 0.0))
    places = first[heads] + walked - walked[heads]
    reads = np.unique((places % space) // sickness_number("recovery", "sectors.read"))
    shares = np.sort(reads) * sickness_number("recovery", "sectors.read") / space
    if case.release.order == "legacy":
        shares = np.sort(generator.random(len(shares)))
    return np.minimum(shares, 1.0)


def _waited(drive: int, moments: NDArray[np.float64], cost: float, spare: bool) -> LostTime:
    """Return what failing reads cost, one after the other, until ZED faults the drive if it may."""
    most = round(sickness_number("recovery", "zed.errors") / sickness_number("recovery", "zed.counted"))
    window = sickness_number("recovery", "zed.window_s")
    seconds, times = 0.0, []
    for moment in moments.tolist():
        seconds += cost
        times.append(moment + seconds)
        if spare and len(times) >= most and times[-1] - times[-most] <= window:
            return LostTime(drive, seconds, len(times), cost, times[-1])
    return LostTime(drive, seconds, len(times), cost, None)
