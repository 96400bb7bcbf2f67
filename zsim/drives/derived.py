"""Figures that follow from a drive's parameters: the ones that reviews measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zsim.drives.models.parameters import DriveParameters

MAX_OFFSET = 2**62
"""Offsets beyond this would overflow when they are compared with twice a capacity [bytes]."""


def rate_profile(
    drive: DriveParameters, points: int = 400
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sequential read rate over a drive.

    Parameters
    ----------
    drive : DriveParameters
    points : int
        Places, in the middles of as many equal parts of the capacity.

    Returns
    -------
    x : ndarray of float64, shape (points,)
        Fraction of the capacity, 0 at the outer edge.
    rates : ndarray of float64, shape (points,)
        ``min(media rate of the zone, interface rate)`` [bytes/s].

    Examples
    --------
    >>> from zsim.drives.catalogue import load_drive
    >>> x, rates = rate_profile(load_drive("hd103uj").parameters(), 10)
    >>> bool(rates[0] > rates[-1]), x[:2].tolist()
    (True, [0.05, 0.15])
    """
    x = (np.arange(points) + 0.5) / points
    if drive.kind == "flash":
        return x, np.full(points, min(drive.flash_read_rate, drive.interface_rate))
    rates = np.minimum(np.array(drive.zone_rates), drive.interface_rate)
    return x, rates[(x * len(rates)).astype(int)]


def seek_profile(
    drive: DriveParameters, points: int = 400
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the seek curve of reads.

    Parameters
    ----------
    drive : DriveParameters
        A disk.
    points : int
        Distances, in the middles of as many equal parts of the stroke.

    Returns
    -------
    distance : ndarray of float64, shape (points,)
        Fraction d of the full stroke.
    seek : ndarray of float64, shape (points,)
        ``a + b * sqrt(d)`` below `seek_knee`, ``c + e * d`` from it on [s], as
        `zsim.drives.physics.mechanics.seek_time` has it (Ruemmler & Wilkes, IEEE Computer 27(3), 1994).
    """
    distance = (np.arange(points) + 0.5) / points
    return distance, _seeks(drive, distance)


def mean_seek(drive: DriveParameters, span: float = 1.0, points: int = 4000) -> float:
    """Return the mean read seek between independent random places.

    Parameters
    ----------
    drive : DriveParameters
        A disk.
    span : float
        Fraction of the drive the places lie in.
    points : int
        Of the midpoint rule.

    Returns
    -------
    float
        [s]

    Notes
    -----
    The distance u of two uniform places, as a share of `span`, has the density ``2 * (1 - u)``, hence
    ``integral of 2 * (1 - u) * seek(u * span)`` from 0 to 1.

    Examples
    --------
    Over a tenth of the drive the arm moves less than over all of it:

    >>> from zsim.drives.catalogue import load_drive
    >>> drive = load_drive("hd103uj").parameters()
    >>> mean_seek(drive, 0.1) < mean_seek(drive)
    True
    """
    u = (np.arange(points) + 0.5) / points
    return float(np.mean(2.0 * (1.0 - u) * _seeks(drive, u * span)))


def _seeks(drive: DriveParameters, distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the read seeks over fractions of the full stroke [s]."""
    short = drive.seek_short_a_s + drive.seek_short_b_s * np.sqrt(distance)
    long = drive.seek_long_c_s + drive.seek_long_e_s * distance
    return np.where(distance < drive.seek_knee, short, long)


def random_service(drive: DriveParameters, size: int, start: float = 0.0, span: float = 1.0) -> float:
    """Return the mean time of a random read, one outstanding.

    Parameters
    ----------
    drive : DriveParameters
        A disk.
    size : int
        [bytes]
    start, span : float
        Where the reads begin and how far they reach [fraction of the capacity].

    Returns
    -------
    float
        ``overhead + mean seek + revolution / 2 + size * mean(1 / rate)`` [s].

    Notes
    -----
    One at a time the platter's place is as good as uniform when the arm arrives, so that it turns by half a
    revolution on average; with several commands outstanding a drive chooses, see
    `zsim.engine.single_drive.iops_by_depth`.

    Examples
    --------
    >>> from zsim.drives.catalogue import load_drive
    >>> drive = load_drive("hd103uj").parameters()
    >>> 0.005 < random_service(drive, 4096) < 0.025
    True
    """
    x, rates = rate_profile(drive)
    inside = (x >= start) & (x <= start + span)
    pace = float(np.mean(1.0 / rates[inside])) if inside.any() else 1.0 / rates[int(start * len(rates))]
    return drive.read_overhead_s + mean_seek(drive, span) + drive.revolution_s / 2 + size * pace


def sequential_rate(drive: DriveParameters, start: float, span: float) -> float:
    """Return the mean rate of a sequential read over a stretch of the drive.

    Parameters
    ----------
    drive : DriveParameters
    start, span : float
        Where it begins and how far it reaches [fraction of the capacity].

    Returns
    -------
    float
        Bytes over time, hence the harmonic mean of the rates along the stretch, ``1 / mean(1 / rate)``
        [bytes/s].
    """
    return float(sequential_rates(drive, np.array([start]), np.array([span]))[0])


def sequential_rates(
    drive: DriveParameters, start: NDArray[np.float64], span: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean rates of sequential reads over many stretches of the drive.

    Parameters
    ----------
    drive : DriveParameters
    start, span : ndarray of float64, shape (n,)
        As `sequential_rate` takes one of each.

    Returns
    -------
    ndarray of float64, shape (n,)
        [bytes/s]
    """
    x, rates = rate_profile(drive, 4000)
    places = len(x)
    first, end = np.searchsorted(x, start, "left"), np.searchsorted(x, start + span, "right")
    # A stretch between two places has the rate of the one that it begins at.
    here = np.minimum((start * places).astype(np.int64), places - 1)
    first, end = np.where(end > first, first, here), np.where(end > first, end, here + 1)
    # Thousands of short reads lie on few places: each is averaged once.
    kinds, kind = np.unique(first * (places + 1) + end, return_inverse=True)
    stretches = (divmod(int(each), places + 1) for each in kinds)
    means = np.array([1.0 / np.mean(1.0 / rates[low:high]) for low, high in stretches])
    return np.asarray(means[kind])


def seconds_to_read_all(drive: DriveParameters) -> float:
    """Return the time to read a drive from end to end.

    Parameters
    ----------
    drive : DriveParameters

    Returns
    -------
    float
        As `seconds_to_write` its capacity; of flash, at the rate of reads [s].

    Examples
    --------
    A drive of 1 TB at some 90 MB/s on average:

    >>> from zsim.drives.catalogue import load_drive
    >>> 2.0 < seconds_to_read_all(load_drive("hd103uj").parameters()) / 3600 < 5.0
    True
    """
    if drive.kind == "flash":
        return drive.capacity_bytes / min(drive.flash_read_rate, drive.interface_rate)
    return seconds_to_write(drive, drive.capacity_bytes)


def seconds_to_write(drive: DriveParameters, amount: float) -> float:
    """Return the least time in which a drive takes an amount of data.

    Parameters
    ----------
    drive : DriveParameters
    amount : float
        [bytes]; what is more than the capacity counts as that.

    Returns
    -------
    float
        One sequential write on the outermost, fastest zones that hold it, each at ``min(zone rate, interface
        rate)``; of flash, whose write rates differ by the state of its cells, at the interface rate [s].

    Examples
    --------
    >>> disk = DriveParameters(capacity_bytes=4 * 10**12, zone_rates=(200e6, 100e6))
    >>> seconds_to_write(disk, 3e12)
    20000.0
    """
    left = min(amount, float(drive.capacity_bytes))
    if drive.kind == "flash":
        return left / drive.interface_rate
    zone, found = drive.capacity_bytes / len(drive.zone_rates), 0.0
    for rate in drive.zone_rates:
        found += min(zone, left) / min(rate, drive.interface_rate)
        left = max(0.0, left - zone)
    return found
