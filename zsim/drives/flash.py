"""Solid-state drives: latencies that overlap, one channel's worth of rate, and a write cliff.

A command waits for a lane (so many latencies run side by side), then shares the drive's rate with the others.
Random 4K throughput is then lanes / latency, streaming throughput the rate, as both are published.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zsim.drives.mechanics import flash_latency
from zsim.drives.model import FlashParameters
from zsim.jit import njit

# Places in the numbers of a drive, and in its state in front of the lanes.
READ_LATENCY, WRITE_LATENCY, READ_RATE, WRITE_RATE, SLC_BYTES, RATE_AFTER = range(6)
CHANNEL_FREE, SLC_USED, LAST_BUSY = range(3)
LANES = 3


def flash_numbers(flash: FlashParameters) -> NDArray[np.float64]:
    """Return the parameters as the functions below take them."""
    return np.array([
        flash.read_latency_s, flash.write_latency_s, flash.read_rate, flash.write_rate,
        float(flash.slc_cache_bytes), flash.write_rate_after_cache,
    ])  # fmt: skip


def flash_state(flash: FlashParameters) -> NDArray[np.float64]:
    """Return the state of an idle drive, its fast region empty: channel, bytes there, last use, lanes [s]."""
    return np.zeros(LANES + flash.parallel_commands)


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
    drive: Any,
    used: float,
    free_at: float,
    at: float,
    overhead: float,
    offset: int,
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
    offset, length : int
        [bytes]
    is_write : bool
    """
    latency = flash_latency(drive, offset)
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


@njit
def flash_command(numbers: Any, state: Any, at: float, length: int, is_write: bool) -> float:
    """Return when a command given at time `at` is done [s], and change the state.

    Parameters
    ----------
    numbers : ndarray of float64, shape (6,)
        As `flash_numbers` made it.
    state : ndarray of float64, shape (LANES + n_lanes,)
    at : float
        [s]; not before the command given last.
    length : int
        [bytes]
    is_write : bool
        Beyond the fast region a write goes at the rate after it; idle time empties it at that rate.
    """
    lane = LANES + np.argmin(state[LANES:])
    latency = numbers[WRITE_LATENCY] if is_write else numbers[READ_LATENCY]
    ready = max(at, state[lane]) + latency
    rate = numbers[READ_RATE]
    if is_write:
        rate, state[SLC_USED] = slc_write(
            state[SLC_USED],
            at - state[LAST_BUSY],
            length,
            numbers[SLC_BYTES],
            numbers[WRITE_RATE],
            numbers[RATE_AFTER],
        )
    done = max(ready, state[CHANNEL_FREE]) + length / rate
    state[CHANNEL_FREE] = done
    state[LAST_BUSY] = done
    state[lane] = done
    return float(done)


@njit
def flash_run(numbers: Any, state: Any, depth: int, count: int, length: int, is_write: bool) -> float:
    """Run `count` equal commands, `depth` outstanding; return when the last is done [s]."""
    slots = np.zeros(depth)
    last = 0.0
    for _ in range(count):
        slot = np.argmin(slots)
        slots[slot] = flash_command(numbers, state, slots[slot], length, is_write)
        last = max(last, slots[slot])
    return last
