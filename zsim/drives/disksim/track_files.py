"""Files of drives with full track geometry: the JSON of a DIXtrac/DiskSim extraction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import InputError
from zsim.base.parsed import tables
from zsim.base.reading import read_json
from zsim.drives.disksim.tracks import FIRST_LBN, LBN_COUNT, RANGE, SECTORS, SPARES, Geometry


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackDrive:
    """A disk described down to its tracks.

    Attributes
    ----------
    name, description : str
    sector_bytes : int
        [bytes]
    sectors : int
        LBNs of the drive.
    cylinders : int
    geometry : Geometry
    read_overhead_s, write_overhead_s : float
        Command overhead [s].
    """

    name: str
    description: str
    sector_bytes: int
    sectors: int
    cylinders: int
    geometry: Geometry
    read_overhead_s: float
    write_overhead_s: float

    @property
    def capacity_bytes(self) -> int:
        """Capacity [bytes]."""
        return self.sectors * self.sector_bytes


def load_track_drive(path: str | Path) -> TrackDrive:
    """Read a drive extracted from DiskSim (``drives/NAME.json``, schema ``zsim-drive-vector/1``).

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    InputError
        Naming file and field.
    """
    source = Path(path)
    data = read_json(source, "drive", "give a drive in JSON")
    if not isinstance(data, dict):
        raise InputError("drive", str(path), "it holds no object", "give a drive in JSON")
    return track_drive(data, source.name)


def track_drive(data: Mapping[str, object], file: str) -> TrackDrive:
    """Return the drive described by the content of such a file; see `load_track_drive`."""
    seek_cylinders, seek_seconds_ = _seek_points(data, file)
    zones, skews = _zones(data, file)
    rpm = _number(data, "rpm", file, low=1)
    geometry = Geometry(
        zones=zones,
        skews=skews,
        seek_cylinders=seek_cylinders,
        seek_seconds=seek_seconds_,
        surfaces=int(_number(data, "surfaces", file, low=1)),
        serpentine=int(_choice(data, "mapping", file, ("forward", "serpentine_zone_relative")) != "forward"),
        revolution=60.0 / rpm,
        head_switch=_number(data, "head_switch_ms", file) * 1e-3,
        write_settle=_number(data, "write_settle_ms", file) * 1e-3,
        zero_latency=int(bool(data.get("zero_latency", False))),
    )
    overheads = _table(data, "overheads_ms", file)
    drive = TrackDrive(
        name=str(data.get("name", Path(file).stem)),
        description=str(data.get("description", "")),
        sector_bytes=int(_number(data, "sector_bytes", file, low=1)),
        sectors=int(_number(data, "lbn_total", file, low=1)),
        cylinders=int(_number(data, "cylinders", file, low=1)),
        geometry=geometry,
        read_overhead_s=_number(overheads, "read_command", file) * 1e-3,
        write_overhead_s=_number(overheads, "write_command", file) * 1e-3,
    )
    _check_zones(drive, file)
    return drive


def _zones(data: Mapping[str, object], file: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    spares = _table(data, "spares", file)
    scheme = _choice(spares, "scheme", file, ("none", "zone_end", "per_range_end"))
    width = int(_number(spares, "range_cylinders", file, low=1)) if scheme == "per_range_end" else 0
    rows, skews = [], []
    for zone in tables({"zones": _list(data, "zones", file)}, "zones"):
        names = ("first_cyl", "sectors_per_track", "first_lbn", "lbn_count", "reserved_sectors_at_front",
                 "spare_sectors")  # fmt: skip
        numbers = [_number(zone, name, file, low=1 if name in ("sectors_per_track", "lbn_count") else 0)
                   for name in names]  # fmt: skip
        rows.append([int(number) for number in numbers] + [width])
        skews.append([_number(zone, name, file) for name in
                      ("track_skew_sectors", "cyl_skew_sectors", "first_block_offset_sectors")])  # fmt: skip
    return np.array(rows, dtype=np.int64), np.array(skews, dtype=np.float64)


def _seek_points(data: Mapping[str, object], file: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    seek = _table(data, "seek", file)
    _choice(seek, "form", file, ("piecewise_linear",))
    points = _list(seek, "points_cyl_ms", file)
    try:
        known = np.array(points, dtype=np.float64)
        cylinders, seconds = known[:, 0].astype(np.int64), known[:, 1] * 1e-3
    except (TypeError, ValueError, IndexError) as error:
        reason = "each point is [cylinders, ms]"
        raise InputError(f"{file}: seek.points_cyl_ms", None, reason, "put the points right") from error
    if len(points) < 2 or cylinders[0] < 1 or np.any(np.diff(cylinders) <= 0) or not np.all(seconds >= 0):
        reason = "at least two points of rising distance from 1 cylinder on, none below 0 ms"
        raise InputError(f"{file}: seek.points_cyl_ms", None, reason, "put the points right")
    return cylinders, seconds


def _check_zones(drive: TrackDrive, file: str) -> None:
    zones = drive.geometry.zones
    ends = zones[:, FIRST_LBN] + zones[:, LBN_COUNT]
    if zones[0, FIRST_LBN] != 0 or np.any(zones[1:, FIRST_LBN] != ends[:-1]) or ends[-1] != drive.sectors:
        reason = "the zones follow one another from LBN 0 to lbn_total without a gap"
        raise InputError(f"{file}: zones", None, reason, "put first_lbn and lbn_count right")
    usable = zones[:, RANGE] * drive.geometry.surfaces * zones[:, SECTORS] - zones[:, SPARES]
    if np.any((zones[:, RANGE] > 0) & (usable <= 0)):
        raise InputError(f"{file}: spare_sectors", None, "a range holds more sectors than spares", "")


def _number(table: Mapping[str, object], key: str, file: str, low: float = 0.0) -> float:
    value = table.get(key)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or value < low
    ):
        raise InputError(f"{file}: {key}", value, f"a number not below {low:g}", "put the number right")
    return float(value)


def _choice(table: Mapping[str, object], key: str, file: str, allowed: Sequence[str]) -> str:
    value = table.get(key)
    if value not in allowed:
        raise InputError(f"{file}: {key}", value, f"it is one of {', '.join(allowed)}", "")
    return str(value)


def _table(data: Mapping[str, object], key: str, file: str) -> Mapping[str, object]:
    value = data.get(key)
    if not isinstance(value, Mapping):
        raise InputError(f"{file}: {key}", value, "a table is needed here", "")
    return value


def _list(data: Mapping[str, object], key: str, file: str) -> Sequence[object]:
    value = data.get(key)
    if not isinstance(value, list) or not value:
        raise InputError(f"{file}: {key}", value, "a list with at least one entry is needed here", "")
    return value
