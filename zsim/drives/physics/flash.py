"""Solid-state drives: overlapping latencies, the rate of one channel, and a write cliff.

A command waits for a lane (so many latencies run side by side), then shares the drive's rate with the others.
Random 4K throughput is then lanes / latency, streaming throughput the rate, as both are published.
"""

from __future__ import annotations

from zsim.base.jit import njit
from zsim.drives.physics.draws import mixed
from zsim.drives.physics.mechanics import DriveRecord

# Keeps the streams of drives apart from those of clients, whose seeds are small numbers too.
FIRST_STREAM = 1 << 40


@njit
def flash_latency(drive: DriveRecord, drawn: int) -> float:
    """Return the access latency of one command [s].

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    drawn : int
        Number of the command, counted by drive: the same number draws the same latency.

    Returns
    -------
    float
        ``min + (max - min) * u`` with u uniform in (0, 1) [s].
    """
    spread = drive.flash_latency_max - drive.flash_latency_min
    latency: float = drive.flash_latency_min
    if spread > 0.0:
        latency += spread * mixed(FIRST_STREAM + drive.stream, drawn)
    return latency


@njit
def slc_write(
    used: float, idle: float, length: int, size: float, rate: float, rate_after: float
) -> tuple[float, float]:
    """Return rate and fill of the fast region of a write [bytes/s, bytes]; size 0: it goes at `rate` always.

    Parameters
    ----------
    used : float
        Bytes in the fast region.
    idle : float
        Time since the drive was busy, which empties the region at `rate_after` [s].
    length : int
        [bytes]
    size : float
        Of the region [bytes].
    rate, rate_after : float
        Before and beyond the cliff [bytes/s].
    """
    left = max(used - max(idle, 0.0) * rate_after, 0.0)
    if size == 0.0:
        return rate, 0.0
    if left + length <= size:
        return rate, left + length
    return rate_after, left


@njit
def flash_parts(
    drive: DriveRecord,
    used: float,
    free_at: float,
    at: float,
    overhead: float,
    drawn: int,
    length: int,
    is_write: bool,
) -> tuple[float, float, float, float]:
    """Return latency, wait for the channel, transfer [s], and the fill of the fast region after it [bytes].

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    used : float
        Bytes in the fast region.
    free_at : float
        When the channel is free, and the drive's last command done [s].
    at : float
        When the command enters service [s].
    overhead : float
        [s]
    drawn : int
        Number of the command.
    length : int
        [bytes]
    is_write : bool
    """
    latency = flash_latency(drive, drawn)
    rate = drive.flash_read_rate
    if is_write:
        if drive.flash_write_latency >= 0.0:
            latency = drive.flash_write_latency
        rate, used = slc_write(
            used, at - free_at, length, float(drive.slc_bytes), drive.flash_write_rate, drive.slc_rate_after
        )
    latency += overhead
    wait = max(free_at - (at + latency), 0.0) if drive.flash_shares_rate != 0 else 0.0
    return float(latency), float(wait), float(length / rate), float(used)
