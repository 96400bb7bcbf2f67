"""Solid-state drives: latencies that overlap, one channel's worth of rate, and a write cliff.

A command waits for a lane (so many latencies run side by side), then shares the drive's rate with the others.
Random 4K throughput is then lanes / latency, streaming throughput the rate, as both are published.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        idle = max(at - state[LAST_BUSY], 0.0)
        state[SLC_USED] = max(state[SLC_USED] - idle * numbers[RATE_AFTER], 0.0)
        fast = numbers[SLC_BYTES] == 0.0 or state[SLC_USED] + length <= numbers[SLC_BYTES]
        rate = numbers[WRITE_RATE] if fast else numbers[RATE_AFTER]
        state[SLC_USED] += length if fast else 0.0
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
