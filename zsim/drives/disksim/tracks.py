"""Full track geometry of a disk: LBN to cylinder, head and sector, and the mechanics of one request.

This is the form in which real drives were measured (DIXtrac; Schindler & Ganger, CMU-CS-99-176) and in which
DiskSim simulates them: zones with their own sectors per track and skews, spares, a table of seek points,
head switch, write settle, and zero-latency access.  A request costs time in proportion to its tracks.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from zsim.base.arrays import F64, I64, Bools
from zsim.base.jit import njit

# Columns of `Geometry.zones`.
FIRST_CYLINDER, SECTORS, FIRST_LBN, LBN_COUNT, RESERVED, SPARES, RANGE = range(7)
# Columns of `Geometry.skews`.
TRACK_SKEW, CYLINDER_SKEW, FIRST_OFFSET = range(3)
# A head this close before a boundary has just met it [sectors]; recorded angles are rounded to 1e-8 turns.
SECTOR_TOLERANCE = 1e-4


class Geometry(NamedTuple):
    """A drive's geometry as the kernels read it.

    Attributes
    ----------
    zones : ndarray of int64, shape (n_zones, 7)
        First cylinder, sectors per track, first LBN, LBN count, reserved sectors, spares, cylinders a range.
    skews : ndarray of float64, shape (n_zones, 3)
        Track skew, cylinder skew, offset of the first block [sectors].
    seek_cylinders : ndarray of int64, shape (n_points,)
    seek_seconds : ndarray of float64, shape (n_points,)
        Seek time at those distances [s], linear between.
    surfaces : int
    serpentine : int
        1: odd cylinders of a zone use the heads in reverse.
    revolution : float
        [s]
    head_switch, write_settle : float
        [s]
    zero_latency : int
        1: the drive begins in the middle of a request's sectors on its first track when it lands there,
        so that this track costs one revolution.
    """

    zones: I64
    skews: F64
    seek_cylinders: I64
    seek_seconds: F64
    surfaces: int
    serpentine: int
    revolution: float
    head_switch: float
    write_settle: float
    zero_latency: int


@njit
def seek_seconds(geometry: Geometry, distance: int) -> float:
    """Return the seek time over `distance` cylinders [s]: linear between points, and beyond the last two."""
    if distance == 0:
        return 0.0
    known = geometry.seek_cylinders
    if distance <= known[0]:
        return float(geometry.seek_seconds[0])
    high = int(np.searchsorted(known, distance))
    high = min(max(high, 1), len(known) - 1)
    low = high - 1
    share = (distance - known[low]) / (known[high] - known[low])
    return float(
        geometry.seek_seconds[low] + share * (geometry.seek_seconds[high] - geometry.seek_seconds[low])
    )


@njit
def locate(geometry: Geometry, lbn: int) -> tuple[int, int, int, float, int, int]:
    """Return cylinder, head, sector, angle, sectors of the track and LBNs left on it.

    Notes
    -----
    Angle [revolutions]: ``(offset + (h + (S-1)*c)*track_skew + c*cylinder_skew + s) / sectors``, with h the
    logical head, c the cylinder within the zone and S the surfaces.
    """
    zones = geometry.zones
    zone = np.searchsorted(zones[:, FIRST_LBN], lbn, side="right") - 1
    sectors, surfaces = zones[zone, SECTORS], geometry.surfaces
    block = lbn - zones[zone, FIRST_LBN]
    left = zones[zone, LBN_COUNT] - block
    if zones[zone, RANGE] > 0:
        whole = zones[zone, RANGE] * surfaces * sectors
        usable = whole - zones[zone, SPARES]
        left = min(left, usable - block % usable)
        block = block // usable * whole + block % usable
    block += zones[zone, RESERVED]
    cylinder = block // (surfaces * sectors)
    head = block // sectors % surfaces
    sector = block % sectors
    skews = geometry.skews[zone]
    turns = skews[FIRST_OFFSET] + (head + (surfaces - 1) * cylinder) * skews[TRACK_SKEW]
    turns = (turns + cylinder * skews[CYLINDER_SKEW] + sector) / sectors
    if geometry.serpentine == 1 and cylinder % 2 == 1:
        head = surfaces - 1 - head
    return (
        zones[zone, FIRST_CYLINDER] + cylinder,
        head,
        sector,
        turns % 1.0,
        sectors,
        min(left, sectors - sector),
    )


@njit
def move_seconds(
    geometry: Geometry, cylinder: int, head: int, to_cylinder: int, to_head: int, is_write: bool
) -> float:
    """Return the time to bring a head to another track [s]; a write settles after any move."""
    if cylinder == to_cylinder and head == to_head:
        return 0.0
    seconds = seek_seconds(geometry, abs(to_cylinder - cylinder))
    if head != to_head:
        seconds = max(seconds, geometry.head_switch)
    return seconds + geometry.write_settle if is_write else seconds


@njit
def sectors_until(angle: float, target: float, sectors: int) -> float:
    """Return how many sectors pass before the head, at `angle`, meets the angle `target`."""
    ahead = (target - angle) % 1.0 * sectors
    return 0.0 if ahead > sectors - SECTOR_TOLERANCE else ahead


@njit
def serve(
    geometry: Geometry, cylinder: int, head: int, angle: float, lbn: int, count: int, is_write: bool
) -> tuple[int, int, int, float, float, float, int, int]:
    """Return what one request costs from a given state of the arm and the platter.

    Parameters
    ----------
    geometry : Geometry
    cylinder, head : int
        Where the arm stands.
    angle : float
        Rotational position when the arm begins to move [revolutions].
    lbn, count : int
        First sector and number of sectors.
    is_write : bool

    Returns
    -------
    cylinder, head, sector : int
        Target.
    seek, wait, transfer : float
        [s]; the transfer includes track and cylinder switches.
    end_cylinder, end_head : int
        Where the arm is left.
    """
    revolution = geometry.revolution
    first_cylinder, first_head, first_sector, target, sectors, left = locate(geometry, lbn)
    seek = move_seconds(geometry, cylinder, head, first_cylinder, first_head, is_write)
    take = min(count, left)
    wait = sectors_until(angle + seek / revolution, target, sectors)
    transfer = take / sectors * revolution
    missed = math.ceil(sectors - wait)
    if geometry.zero_latency == 1 and 0 < missed < take:
        wait, transfer = missed - (sectors - wait), revolution
    wait *= revolution / sectors
    at_cylinder, at_head, done = first_cylinder, first_head, take
    while done < count:
        next_cylinder, next_head, _, target, sectors, left = locate(geometry, lbn + done)
        transfer += move_seconds(geometry, at_cylinder, at_head, next_cylinder, next_head, is_write)
        angle_now = angle + (seek + wait + transfer) / revolution
        take = min(count - done, left)
        transfer += (sectors_until(angle_now, target, sectors) + take) / sectors * revolution
        at_cylinder, at_head, done = next_cylinder, next_head, done + take
    return first_cylinder, first_head, first_sector, seek, wait, transfer, at_cylinder, at_head


@njit
def serve_each(
    geometry: Geometry,
    cylinders: I64,
    heads: I64,
    angles: F64,
    lbns: I64,
    counts: I64,
    writes: Bools,
    out: F64,
) -> None:
    """Serve each request from its own start state.

    Parameters
    ----------
    geometry : Geometry
    cylinders, heads, angles : ndarray, shape (n_requests,)
        State at the start of each request.
    lbns, counts, writes : ndarray, shape (n_requests,)
    out : ndarray of float64, shape (n_requests, 6)
        Target cylinder, head, sector; seek, wait, transfer [s].
    """
    for row in range(len(lbns)):
        cylinder, head, sector, seek, wait, transfer, _, _ = serve(
            geometry, cylinders[row], heads[row], angles[row], lbns[row], counts[row], writes[row]
        )
        out[row, 0], out[row, 1], out[row, 2] = cylinder, head, sector
        out[row, 3], out[row, 4], out[row, 5] = seek, wait, transfer
