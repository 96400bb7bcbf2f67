"""What follows from a drive's parameters: the figures reviewers measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zsim.drives.alone import random_iops, run_alone
from zsim.drives.parameters import DriveParameters

DEPTHS = (1, 2, 4, 8, 16, 32)


def iops_by_depth(
    drive: DriveParameters, size: int = 4096, depths: tuple[int, ...] = DEPTHS, *, requests: int = 2000
) -> dict[int, float]:
    """Return random reads per second over the whole drive by queue depth [1/s]."""
    return {depth: random_iops(drive, depth, size, requests=requests) for depth in depths}


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


def random_rate(
    drive: DriveParameters,
    size: int,
    depth: int,
    start: float = 0.0,
    span: float = 1.0,
    *,
    requests: int = 1500,
) -> float:
    """Return random reads per second from a stretch of the drive at a queue depth [1/s]."""
    if depth == 1 and drive.kind == "mechanical":
        return 1.0 / random_service(drive, size, start, span)
    random = np.random.default_rng(1)
    first = int(start * drive.capacity_bytes / size)
    places = max(int(span * drive.capacity_bytes / size), 1)
    last = drive.capacity_bytes // size - 1
    offsets = np.minimum(first + random.integers(0, places, requests), last) * size
    lengths = np.full(requests, size, dtype=np.int64)
    return run_alone(drive, offsets, lengths, np.zeros(requests, dtype=np.bool_), depth=depth).iops
