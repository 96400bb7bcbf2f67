"""What follows from a drive's parameters: the figures reviewers measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zsim.drives.models.parameters import DriveParameters

MAX_OFFSET = 2**62
"""Offsets beyond this would overflow when they are compared with twice a capacity [bytes]."""


def rate_profile(
    drive: DriveParameters, points: int = 400
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return fractions of the capacity and the sequential read rate there [bytes/s]."""
    x = (np.arange(points) + 0.5) / points
    if drive.kind == "flash":
        return x, np.full(points, min(drive.flash_read_rate, drive.interface_rate))
    rates = np.minimum(np.array(drive.zone_rates), drive.interface_rate)
    return x, rates[(x * len(rates)).astype(int)]


def seek_profile(
    drive: DriveParameters, points: int = 400
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return distances [fraction of the stroke] and read seek times [s]."""
    distance = (np.arange(points) + 0.5) / points
    short = drive.seek_short_a_s + drive.seek_short_b_s * np.sqrt(distance)
    long = drive.seek_long_c_s + drive.seek_long_e_s * distance
    return distance, np.where(distance < drive.seek_knee, short, long)


def mean_seek(drive: DriveParameters, span: float = 1.0, points: int = 4000) -> float:
    """Return the mean read seek between random places [s].

    Parameters
    ----------
    drive : DriveParameters
    span : float
        Fraction of the drive the places lie in.
    points : int
        Of the midpoint rule over distances, whose density is ``2*(1-u)``.
    """
    u = (np.arange(points) + 0.5) / points
    distance = u * span
    short = drive.seek_short_a_s + drive.seek_short_b_s * np.sqrt(distance)
    long = drive.seek_long_c_s + drive.seek_long_e_s * distance
    return float(np.mean(2.0 * (1.0 - u) * np.where(distance < drive.seek_knee, short, long)))


def random_service(drive: DriveParameters, size: int, start: float = 0.0, span: float = 1.0) -> float:
    """Return the mean time of a random read, one outstanding, overhead included [s].

    Parameters
    ----------
    drive : DriveParameters
        A disk.
    size : int
        [bytes]
    start, span : float
        Where the reads begin and how far they reach [fraction of the capacity].
    """
    x, rates = rate_profile(drive)
    inside = (x >= start) & (x <= start + span)
    pace = float(np.mean(1.0 / rates[inside])) if inside.any() else 1.0 / rates[int(start * len(rates))]
    return drive.read_overhead_s + mean_seek(drive, span) + drive.revolution_s / 2 + size * pace


def sequential_rate(drive: DriveParameters, start: float, span: float) -> float:
    """Return the mean rate of a sequential read over a stretch of the drive [bytes/s]."""
    x, rates = rate_profile(drive, 4000)
    inside = (x >= start) & (x <= start + span)
    if not inside.any():
        return float(rates[min(int(start * len(rates)), len(rates) - 1)])
    return float(1.0 / np.mean(1.0 / rates[inside]))


def seconds_to_read_all(drive: DriveParameters) -> float:
    """Return the time to read a drive from end to end at its media rates [s]."""
    if drive.kind == "flash":
        return drive.capacity_bytes / min(drive.flash_read_rate, drive.interface_rate)
    zone = drive.capacity_bytes / len(drive.zone_rates)
    return sum(zone / min(rate, drive.interface_rate) for rate in drive.zone_rates)
