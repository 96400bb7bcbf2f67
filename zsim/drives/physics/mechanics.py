"""Scalar physics of one drive in its parametric form, shared by both engines.

Every function takes a `drive` record of `DRIVE_DTYPE` and the rates of its zones, so that the compiled and
the reference engine compute the very same floating-point numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, sqrt

import numpy as np

from zsim.base.arrays import F64, Float64, Int64, Records, Rows, dtype_of
from zsim.base.jit import njit
from zsim.drives.models.parameters import MAX_ZONES, DriveParameters

KIND_MECHANICAL = 0
KIND_FLASH = 1
POLICY_FCFS, POLICY_CLOOK, POLICY_SPTF = 0, 1, 2
DESTAGES = {"queue": 0, "idle": 1}
# What a drive has beyond its mechanics, as bits: a drive without any of it goes the short way.
EXTRA_BUFFER, EXTRA_FLASH, EXTRA_SHINGLED = 1, 2, 4
POLICIES = {"fcfs": POLICY_FCFS, "c-look": POLICY_CLOOK, "sptf": POLICY_SPTF}
# A drive has at most 2**30 units, so that their differences fit 32 bits.
UNITS_BITS = 30
# Two angles closer than this are the same angle (1e-9 of a turn is 8 ps at 7200 rpm).
ANGLE_TOLERANCE = 1e-9


class DriveRecord:
    """A drive as kernels see it; units are those of `DriveParameters`."""

    capacity: Int64
    kind: Int64
    revolution: Float64
    phase: Float64
    zones: Int64
    seek_a: Float64
    seek_b: Float64
    seek_c: Float64
    seek_e: Float64
    seek_knee: Float64
    write_settle: Float64
    read_overhead: Float64
    write_overhead: Float64
    overhead_overlaps: Int64
    read_pass_under: Int64
    write_pass_under: Int64
    seekless: Int64
    queue_depth: Int64
    queue_policy: Int64
    queue_max_age: Float64
    cache_bytes: Int64
    cache_ages: Int64
    coalesces: Int64
    interface_rate: Float64
    physical_sector: Int64
    logical_sector: Int64
    parallel: Int64
    flash_latency_min: Float64
    flash_latency_max: Float64
    flash_read_rate: Float64
    flash_write_rate: Float64
    rotating: Int64
    extras: Int64
    read_segments: Int64
    destage: Int64
    flush_each_txg: Int64
    flash_write_latency: Float64
    flash_shares_rate: Int64
    slc_bytes: Int64
    slc_rate_after: Float64
    band: Int64
    smr_cache: Int64
    smr_writes: Int64
    smr_idle: Float64
    smr_cleaning: Float64
    smr_fixed: Float64
    smr_reduced: Int64
    highest_rate: Float64
    zones_per_byte: Float64
    # Offsets in 32 bits are counted in units of so many bits.
    unit_bits: Int64
    # Of random numbers: the place in the table, so that equal drives draw different ones.
    stream: Int64


DRIVE_DTYPE = dtype_of(DriveRecord)


# A zone: its first byte, where it begins before rounding [bytes], rate [bytes/s], and bytes a turn.
class ZoneRecord:
    """A zone: its first byte, where it begins before rounding [bytes], rate [bytes/s], and bytes a turn."""

    first: Int64
    start: Float64
    rate: Float64
    turn_bytes: Float64


ZONE_DTYPE = dtype_of(ZoneRecord)


def drive_table(drives: Sequence[DriveParameters]) -> tuple[Rows, F64]:
    """Pack drives into the arrays the engines read.

    Parameters
    ----------
    drives : sequence of DriveParameters
        One entry a leaf.

    Returns
    -------
    table : ndarray of DRIVE_DTYPE, shape (n_leaves,)
    rates : ndarray of float64, shape (n_leaves, MAX_ZONES)
        Media rate by zone [bytes/s].
    """
    table = np.zeros(len(drives), dtype=DRIVE_DTYPE)
    rates = np.zeros((len(drives), MAX_ZONES))
    for row, drive in enumerate(drives):
        table[row] = (*_drive_row(drive), row)
        rates[row, : len(drive.zone_rates)] = drive.zone_rates
    return table, rates


def _drive_row(drive: DriveParameters) -> tuple[float, ...]:
    return (
        drive.capacity_bytes,
        KIND_FLASH if drive.kind == "flash" else KIND_MECHANICAL,
        drive.revolution_s,
        drive.phase_revolutions,
        len(drive.zone_rates),
        drive.seek_short_a_s,
        drive.seek_short_b_s,
        drive.seek_long_c_s,
        drive.seek_long_e_s,
        drive.seek_knee,
        drive.write_settle_s,
        drive.read_overhead_s,
        drive.write_overhead_s,
        int(drive.overhead_overlaps),
        drive.read_pass_under_bytes,
        drive.write_pass_under_bytes,
        drive.seekless_bytes,
        drive.queue_depth,
        POLICIES[drive.queue_policy],
        drive.queue_max_age_s,
        drive.write_cache_bytes,
        int(drive.cached_writes_age),
        int(drive.write_coalescing),
        drive.interface_rate,
        drive.physical_sector_bytes,
        drive.logical_sector_bytes,
        drive.parallel_commands,
        drive.flash_latency_min_s,
        drive.flash_latency_max_s,
        drive.flash_read_rate,
        drive.flash_write_rate,
        int(drive.rotating),
        extras_of(drive),
        drive.read_segments,
        DESTAGES[drive.destage],
        int(drive.flush_each_txg),
        drive.flash_write_latency_s,
        int(drive.flash_shares_rate),
        drive.slc_cache_bytes,
        drive.slc_rate_after,
        drive.smr_band_bytes,
        drive.smr_cache_bytes,
        drive.smr_cached_writes,
        drive.smr_idle_s,
        drive.smr_cleaning,
        drive.smr_fixed,
        int(drive.smr_reduced),
        max(drive.zone_rates, default=0.0),
        len(drive.zone_rates) / drive.capacity_bytes,
        max(0, int(drive.capacity_bytes).bit_length() - UNITS_BITS),
    )


def extras_of(drive: DriveParameters) -> int:
    """Return what a drive has beyond its mechanics, as bits (EXTRA constants)."""
    if drive.kind == "flash":
        return EXTRA_FLASH
    buffer = EXTRA_BUFFER if drive.read_segments > 0 and drive.read_pass_under_bytes >= 0 else 0
    return buffer | (EXTRA_SHINGLED if drive.smr_band_bytes > 0 else 0)


def zone_table(table: Rows, rates: F64) -> Rows:
    """Return the zones of drives for `zone_at`, from what `drive_table` returns.

    Returns
    -------
    ndarray of ZONE_DTYPE, shape (n_leaves, MAX_ZONES)
        The first byte of a zone that a drive has not is behind every byte.
    """
    zones = np.zeros(rates.shape, ZONE_DTYPE)
    zones["first"] = np.iinfo(np.int64).max
    # Drives of one model have one table, however many there are.
    pairs = list(zip(table["zones"].tolist(), table["capacity"].tolist(), strict=True))
    first = {pair: row for row, pair in reversed(list(enumerate(pairs)))}
    for (count, capacity), row in first.items():
        zones["first"][row, :count] = [-(-number * capacity // count) for number in range(count)]
        zones["start"][row, :count] = [capacity * number / count for number in range(count)]
    zones[:] = zones[[first[pair] for pair in pairs]]
    zones["rate"], zones["turn_bytes"] = rates, rates * table["revolution"][:, None]
    return zones


@njit
def zone_at(drive: DriveRecord, zones: Records[ZoneRecord], offset: int) -> int:
    """Return the zone of a byte offset by a table of the drive's zones: no integer is divided.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    zones : ndarray of ZONE_DTYPE, shape (zones,)
        From `zone_table`.
    offset : int
        From the beginning of the drive [bytes].

    Returns
    -------
    int
        What `zone_of` returns: the last zone whose first byte is not behind `offset`.

    Notes
    -----
    ``offset * (zones / capacity)`` in floating point is right or one off; the first bytes of the zones, which
    are exact, decide.
    """
    zone = min(int(offset * drive.zones_per_byte), drive.zones - 1)
    while zones[zone].first > offset:
        zone -= 1
    while zone < drive.zones - 1 and zones[zone + 1].first <= offset:
        zone += 1
    return int(zone)


@njit
def zone_of(drive: DriveRecord, offset: int) -> int:
    """Return the zone of a byte offset.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    offset : int
        From the beginning of the drive [bytes].

    Returns
    -------
    int
        0 is the outermost zone; zones have equal width in LBA: floor(offset * zones / capacity).
    """
    zone: int = min(offset * drive.zones // drive.capacity, drive.zones - 1)
    return zone


@njit
def seek_time(drive: DriveRecord, distance_bytes: int, is_write: bool) -> float:
    """Return the time the arm takes over a distance [s].

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    distance_bytes : int
        Of the two places, from 0 to the capacity [bytes].
    is_write : bool
        A write waits `write_settle` longer for the head to settle.

    Notes
    -----
    With d the distance over the capacity, ``a + b * sqrt(d)`` while the arm accelerates and brakes,
    ``c + e * d`` from `seek_knee` on, where it coasts (Ruemmler & Wilkes, An introduction to disk drive
    modeling, IEEE Computer 27(3), 1994, equation of table 2).
    """
    distance = distance_bytes / drive.capacity
    seek: float = drive.seek_a + drive.seek_b * sqrt(distance)
    if distance >= drive.seek_knee:
        seek = drive.seek_c + drive.seek_e * distance
    return seek + (drive.write_settle if is_write else 0.0)


@njit
def track_angle(drive: DriveRecord, rate: float, offset: int) -> float:
    """Return the angle at which a place begins.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    rate : float
        Media rate of its zone [bytes/s]; a track holds ``rate * revolution`` bytes.
    offset : int
        [bytes]

    Returns
    -------
    float
        In revolutions since the beginning of its zone; skew is in the sustained rate, so a stream that
        crosses tracks goes on at the same angle.
    """
    zone_start = drive.capacity * zone_of(drive, offset) / drive.zones
    angle: float = (offset - zone_start) / (rate * drive.revolution)
    return angle


@njit
def rotational_wait(drive: DriveRecord, angle: float, at: float) -> float:
    """Return how long the platter turns until an angle passes the head [s].

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
        `phase` is the angle of its platter at time 0 [revolutions].
    angle : float
        From `track_angle` [revolutions].
    at : float
        Time from which on the head is on the track [s].

    Returns
    -------
    float
        At least 0 and less than a revolution: ``frac(angle - at / revolution - phase) * revolution``.  What
        is behind by less than `ANGLE_TOLERANCE` has not passed: it is rounding, not a lost revolution.
    """
    turns = angle - (at / drive.revolution + drive.phase)
    fraction = turns - np.floor(turns)
    if fraction > 1.0 - ANGLE_TOLERANCE:
        fraction = 0.0
    waited: float = fraction * drive.revolution
    return waited


@njit
def positioning(
    drive: DriveRecord, rate: float, head: int, at: float, offset: int, is_write: bool
) -> tuple[float, float]:
    """Return seek and rotational wait of a request, see `positioning_to`."""
    return positioning_to(drive, rate, track_angle(drive, rate, offset), head, at, offset, is_write)


@njit
def positioning_to(
    drive: DriveRecord, rate: float, angle: float, head: int, at: float, offset: int, is_write: bool
) -> tuple[float, float]:
    """Return seek and rotational wait of a request whose mechanical part begins at time `at`.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    rate : float
        Media rate at `offset` [bytes/s].
    angle : float
        Of `offset`, from `track_angle`.
    head : int
        Byte behind the last one transferred.
    at : float
        Time at which the arm begins to move [s].
    offset : int
        First byte of the request.
    is_write : bool

    Returns
    -------
    seek, wait : float
        [s]; `wait` is the time to pass over a forward gap that read-ahead or write-behind bridges.
    """
    gap = offset - head
    bridged = drive.write_pass_under if is_write else drive.read_pass_under
    if 0 <= gap <= bridged:
        return 0.0, gap / rate
    return seek_and_wait(drive, angle, head, at, offset, is_write)


@njit
def seek_and_wait(
    drive: DriveRecord, angle: float, head: int, at: float, offset: int, is_write: bool
) -> tuple[float, float]:
    """Return seek and rotational wait where nothing bridges the gap, see `positioning_to`.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    angle : float
        Of `offset`, from `track_angle` [revolutions].
    head : int
        Byte behind the last one transferred.
    at : float
        Time at which the arm begins to move [s].
    offset : int
        First byte of the request.
    is_write : bool

    Returns
    -------
    seek, wait : float
        [s].  The wait begins when the seek has ended: ``wait = rotational_wait(angle, at + seek)``.  A gap
        ahead of at most `seekless` bytes lies on the track under the head, so that its seek is 0.
    """
    gap = offset - head
    if 0 <= gap <= drive.seekless:
        return 0.0, rotational_wait(drive, angle, at)
    seek = seek_time(drive, abs(gap), is_write)
    return seek, rotational_wait(drive, angle, at + seek)


@njit
def reach_time(
    drive: DriveRecord,
    rate: float,
    angle: float,
    head: int,
    at: float,
    offset: int,
    is_write: bool,
    bound: float,
) -> float:
    """Return seek plus wait of `positioning_to`, or the seek alone where that tells enough.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    rate : float
        Media rate at `offset` [bytes/s].
    angle, head, at, offset, is_write
        As `positioning_to` takes them.
    bound : float
        What a better request is known to take [s].

    Returns
    -------
    float
        [s]; from `bound` on it is a lower bound only, which is all that shortest-positioning-time-first
        needs.
    """
    gap = offset - head
    bridged = drive.write_pass_under if is_write else drive.read_pass_under
    if 0 <= gap <= bridged:
        return gap / rate
    if 0 <= gap <= drive.seekless:
        return rotational_wait(drive, angle, at)
    seek = seek_time(drive, abs(gap), is_write)
    return seek if seek >= bound else seek + rotational_wait(drive, angle, at + seek)


@njit
def partial_sector_turns(
    drive: DriveRecord, offset: int, length: int, is_write: bool, follows: bool, followed: bool
) -> float:
    """Return the extra revolutions of a write that covers a physical sector in part (512-byte emulation).

    The sector is read, and written one turn later.  An edge that another write continues costs nothing, and
    of two writes with a hole between them in one sector only the second pays: the drive merges them.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    offset, length : int
        [bytes]
    is_write : bool
    follows : bool
        The request continues the write served before it.
    followed : bool
        A write that the drive holds begins in the sector in which this one ends.
    """
    if not is_write or drive.physical_sector <= drive.logical_sector:
        return 0.0
    sector = drive.physical_sector
    ragged_start = offset % sector != 0 and not follows
    ragged_end = (offset + length) % sector != 0 and not followed
    return 1.0 if ragged_start or ragged_end else 0.0


@njit
def track_around(drive: DriveRecord, rate: float, angle: float, offset: int) -> tuple[float, float]:
    """Return the first byte of the track on which a place lies, and the one behind its last.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    rate : float
        Media rate of its zone [bytes/s].
    angle : float
        Of `offset`, from `track_angle` [revolutions since the beginning of its zone].
    offset : int
        [bytes]

    Returns
    -------
    low, high : float
        ``low = offset - frac(angle) * rate * revolution`` and ``high = low + rate * revolution`` [bytes].
    """
    turn = rate * drive.revolution
    low = offset - (angle - floor(angle)) * turn
    return low, low + turn


@njit
def service_parts(
    drive: DriveRecord,
    rates: F64,
    head: int,
    start: float,
    overhead: float,
    offset: int,
    length: int,
    is_write: bool,
    follows: bool,
    followed: bool,
) -> tuple[float, float, float, float]:
    """Return overhead, seek, wait and transfer of a request served from `start` on.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    rates : ndarray of float64, shape (n_zones,)
        Media rate by zone [bytes/s].
    head, start, overhead, offset, length, is_write, follows, followed
        As `service_at` takes them; rate and angle are looked up by the zone of `offset`.

    Returns
    -------
    overhead, seek, wait, transfer : float
        [s]
    """
    rate = rates[zone_of(drive, offset)]
    angle = track_angle(drive, rate, offset)
    return service_at(drive, rate, angle, head, start, overhead, offset, length, is_write, follows, followed)


@njit
def service_at(
    drive: DriveRecord,
    rate: float,
    angle: float,
    head: int,
    start: float,
    overhead: float,
    offset: int,
    length: int,
    is_write: bool,
    follows: bool,
    followed: bool,
) -> tuple[float, float, float, float]:
    """Return overhead, seek, wait and transfer of one request that enters service at `start`.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    rate, angle : float
        Media rate [bytes/s] and angle [revolutions] of `offset`.
    head : int
        Byte behind the last one transferred.
    start : float
        Time at which the drive takes the command up [s].
    overhead : float
        Of the command, before the arm moves [s].
    offset, length : int
        [bytes]
    is_write : bool
    follows, followed : bool
        Whether it continues a write, and is continued by one: see `partial_sector_turns`.

    Returns
    -------
    overhead, seek, wait, transfer : float
        [s]; their sum is the service time.

    Notes
    -----
    ``overhead + seek + wait + turns * revolution + length / rate`` (Ruemmler & Wilkes, IEEE Computer 27(3),
    1994): the transfer goes on at the rate of the zone in which it begins, head and track switches are part
    of that sustained rate, and `turns` is the read-modify-write of a physical sector that is written in part.
    """
    seek, wait = positioning_to(drive, rate, angle, head, start + overhead, offset, is_write)
    turns = partial_sector_turns(drive, offset, length, is_write, follows, followed)
    return overhead, seek, wait + turns * drive.revolution, length / rate
