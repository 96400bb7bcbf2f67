"""Reduce full track geometry to the parametric form: zone rates measured, the seek curve fitted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from zsim.drives.disksim.track_files import TrackDrive, load_track_drive
from zsim.drives.disksim.tracks import SECTORS, locate, move_seconds, serve
from zsim.drives.models.model import DriveModel, DriveQuantity
from zsim.drives.models.parameters import DriveParameters

ZONES = 30
PAIRS, SEED = 4000, 1
NO_AGE_LIMIT = 3600.0
"""The drives were measured without one [s]."""


def fit_parametric(drive: TrackDrive, *, zones: int = ZONES) -> DriveParameters:
    """Return the parametric form of a full-geometry drive.

    The rate of each zone is what a sequential read of it takes, track and cylinder switches included; the
    two-piece seek curve (Ruemmler & Wilkes, 1994) is fitted by least squares to moves over random and over
    short distances.

    Parameters
    ----------
    drive : TrackDrive
    zones : int
        Zones of equal width in LBA.
    """
    geometry = drive.geometry
    a, b, c, e, knee = _fit_seek_curve(*_sampled_moves(drive, SEED))
    cylinder_bytes = geometry.surfaces * float(np.median(geometry.zones[:, SECTORS])) * drive.sector_bytes
    return DriveParameters(
        capacity_bytes=drive.capacity_bytes,
        revolution_s=geometry.revolution,
        zone_rates=tuple(_zone_rate(drive, index, zones) for index in range(zones)),
        seek_short_a_s=a,
        seek_short_b_s=b,
        seek_long_c_s=c,
        seek_long_e_s=e,
        seek_knee=knee,
        write_settle_s=geometry.write_settle,
        read_overhead_s=drive.read_overhead_s,
        write_overhead_s=drive.write_overhead_s,
        seekless_bytes=int(cylinder_bytes / 2),
        queue_policy="sptf",
        queue_max_age_s=NO_AGE_LIMIT,
        physical_sector_bytes=drive.sector_bytes,
        logical_sector_bytes=drive.sector_bytes,
    )


def drive_from_tracks(path: Path) -> DriveModel:
    """Return the drive model of a DiskSim extraction (``drives/NAME.json``), in parametric form.

    Raises
    ------
    InputError
        Naming file and field, when it is wrong.
    """
    tracks = load_track_drive(path)
    fitted = fit_parametric(tracks)
    source = f"{path.name}: {tracks.description or tracks.name}, fitted to its full track geometry"
    numbers = {
        "capacity": (fitted.capacity_bytes, "B", 1.0),
        "rotation": (60.0 / fitted.revolution_s, "rpm", 1.0),
        "outer_rate": (fitted.zone_rates[0] / 1e6, "MB/s", 1e6),
        "inner_rate": (fitted.zone_rates[-1] / 1e6, "MB/s", 1e6),
        "seek_track": (fitted.seek_short_a_s * 1e3, "ms", 1e-3),
        "seek_full": ((fitted.seek_long_c_s + fitted.seek_long_e_s) * 1e3, "ms", 1e-3),
        "seek_knee": (fitted.seek_knee, "1", 1.0),
        "write_settle": (fitted.write_settle_s * 1e3, "ms", 1e-3),
        "read_overhead": (fitted.read_overhead_s * 1e3, "ms", 1e-3),
        "write_overhead": (fitted.write_overhead_s * 1e3, "ms", 1e-3),
    }
    quantities = {
        key: DriveQuantity(value, unit, "fitted", source, 0.0, "", value * scale)
        for key, (value, unit, scale) in numbers.items()
    }
    return DriveModel(
        name=tracks.name,
        vendor="",
        model=tracks.description or tracks.name,
        drive_class="measured by tracks",
        note="",
        aliases=(),
        kind="mechanical",
        recording="cmr",
        queue_policy=fitted.queue_policy,
        quantities=quantities,
        observed={},
        drive_to_drive={},
        measured=fitted,
    )


def _zone_rate(drive: TrackDrive, index: int, zones: int) -> float:
    """Return the sequential rate of one zone [bytes/s]."""
    first, last = drive.sectors * index // zones, drive.sectors * (index + 1) // zones
    cylinder, head, _, angle, _, _ = locate(drive.geometry, first)
    transfer = serve(drive.geometry, cylinder, head, angle, first, last - first, False)[5]
    return (last - first) * drive.sector_bytes / float(transfer)


def _sampled_moves(drive: TrackDrive, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return distances [fraction of the capacity] and times [s] of moves, half of them short."""
    random = np.random.default_rng(seed)
    start = random.integers(0, drive.sectors, 2 * PAIRS)
    far = random.integers(0, drive.sectors, PAIRS)
    near = start[PAIRS:] + (10 ** random.uniform(-4.5, -0.5, PAIRS) * drive.sectors).astype(np.int64)
    end = np.concatenate([far, near % drive.sectors])
    times = np.empty(2 * PAIRS)
    for row in range(2 * PAIRS):
        here, there = locate(drive.geometry, start[row]), locate(drive.geometry, end[row])
        times[row] = move_seconds(drive.geometry, here[0], here[1], there[0], there[1], False)
    distance = np.abs(end - start) / drive.sectors
    moved = times > 0
    return distance[moved], times[moved]


def _fit_seek_curve(
    distance: NDArray[np.float64], times: NDArray[np.float64]
) -> tuple[float, float, float, float, float]:
    """Return a, b, c, e and the knee of the curve of least squares; its pieces meet at the knee."""

    def curve(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        a, b, e, knee = parameters
        c = a + b * np.sqrt(knee) - e * knee
        return np.asarray(np.where(distance < knee, a + b * np.sqrt(distance), c + e * distance))

    def residual(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        return curve(parameters) - times

    span = float(times.max())
    fitted = least_squares(
        residual,
        x0=[0.1 * span, span, 0.7 * span, 0.15],
        bounds=([0.0, 0.0, 0.0, 0.01], [span, 10 * span, 3 * span, 0.6]),
        x_scale=[span, span, span, 0.1],
    )
    a, b, e, knee = (float(value) for value in fitted.x)
    return a, b, a + b * knee**0.5 - e * knee, e, knee
