"""Lower bounds of the times to many requests at once, in 32 bits: which one a drive reaches first."""

from __future__ import annotations

from math import sqrt

import numpy as np

from zsim.base.arrays import F32, I32
from zsim.base.jit import njit
from zsim.drives.physics.mechanics import DriveRecord

# Rounding of a time in 32 bits: in turns, and relative to the seek; `reach_bounds` stays so far below.
TURN_ERROR, SEEK_ERROR = 1e-5, 4e-6
EIGHT_TURNS, NEVER = 8.0, 1e30
# Lanes of a vector: lists of bounds are made in whole ones.
LANES = 16


@njit
def bearing_of(drive: DriveRecord, angle: float, is_write: bool) -> float:
    """Return the angle of a request as `reach_bounds` takes it: a fraction of a turn, a write's plus one.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    angle : float
        From `track_angle` [revolutions].
    is_write : bool

    Returns
    -------
    float
        ``frac(angle - phase - overhead / revolution)``, 0 to 1 for reads and 1 to 2 for writes [revolutions].
        The command's overhead, during which the platter turns, is 0 where it overlaps with the one before.
    """
    overhead = 0.0
    if drive.overhead_overlaps == 0:
        overhead = drive.write_overhead if is_write else drive.read_overhead
    turns = angle - drive.phase - overhead / drive.revolution
    return float(turns - np.floor(turns) + (1.0 if is_write else 0.0))


@njit
def reach_bounds(
    drive: DriveRecord, places: I32, bearings: F32, count: int, head: int, at: float, bounds: F32
) -> None:
    """Set lower bounds of `reach_time` for requests a drive chooses among, so close that few need the time.

    In 32-bit numbers without a branch, so that the compiler takes eight or sixteen at a time.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    places : ndarray of int32
        First bytes of the requests, in units of ``2**unit_bits`` [units].
    bearings : ndarray of float32
        From `bearing_of`.
    count : int
        Requests; a multiple of `LANES`, what is behind the last one may be anything.
    head : int
        Byte behind the last one transferred.
    at : float
        Time at which the drive takes up the next command [s].
    bounds : ndarray of float32
        Set to the bounds [s].
    """
    unit, here = 1 << drive.unit_bits, np.int32(head >> drive.unit_bits)
    turn, scale = np.float32(drive.revolution), np.float32(unit / drive.capacity)
    a, b, settle = np.float32(drive.seek_a), np.float32(drive.seek_b), np.float32(drive.write_settle)
    c, e, per_second = np.float32(drive.seek_c), np.float32(drive.seek_e), np.float32(1.0 / drive.revolution)
    below, above = np.float32(drive.seek_knee * 0.9999 - 1e-8), np.float32(drive.seek_knee * 1.0001 + 1e-8)
    seekless = np.float32(drive.seekless / unit + 1.0)
    read_bridge, write_bridge = _bridge(drive.read_pass_under, unit), _bridge(drive.write_pass_under, unit)
    now = at / drive.revolution
    start = np.float32(now - np.floor(now) - EIGHT_TURNS)
    near, zero, one, never = np.float32(-1.0), np.float32(0.0), np.float32(1.0), np.float32(NEVER)
    unit_time = np.float32(unit / drive.highest_rate)
    keep, lost = np.float32(1.0 - SEEK_ERROR), np.float32(TURN_ERROR)
    for place in range(count):
        gap = np.float32(np.int32(places[place] - here))
        bearing = bearings[place]
        is_write = bearing >= one
        # Both are rounded to units.
        units = abs(gap) - one
        share = (units if units > zero else zero) * scale
        root, line = a + b * np.float32(sqrt(share)), c + e * share
        root, line = root if share <= above else never, line if share >= below else never
        seek = (root if root < line else line) + (settle if is_write else zero)
        seek = zero if (gap >= near) & (gap <= seekless) else seek * keep
        turns = bearing - start - seek * per_second
        wait = turns - np.float32(np.int32(turns)) - lost
        wait = zero if (wait < zero) | (wait > one - lost - lost - lost) else wait
        bound = seek + wait * turn
        bridge = write_bridge if is_write else read_bridge
        under = (gap - one) * unit_time * keep
        under = under if (gap >= near) & (gap <= bridge) else never
        bounds[place] = bound if bound < under else under


@njit
def _bridge(pass_under: int, unit: int) -> np.float32:
    """Return how many units of a gap pass under the head [units], with one for the rounding; -2: never."""
    return np.float32(pass_under / unit + 1.0 if pass_under >= 0 else -2.0)
