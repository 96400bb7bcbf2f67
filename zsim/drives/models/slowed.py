"""A drive that answers, but more slowly than its model."""

from __future__ import annotations

from dataclasses import replace

from zsim.drives.models.parameters import DriveParameters

TIMES = (
    "revolution_s", "seek_short_a_s", "seek_short_b_s", "seek_long_c_s", "seek_long_e_s", "write_settle_s",
    "read_overhead_s", "write_overhead_s", "flash_latency_min_s", "flash_latency_max_s",
)  # fmt: skip
RATES = ("interface_rate", "flash_read_rate", "flash_write_rate", "slc_rate_after")


def slowed(drive: DriveParameters, factor: float) -> DriveParameters:
    """Return a drive whose every service takes `factor` times as long.

    Parameters
    ----------
    drive : DriveParameters
    factor : float
        1: as it is; 3: a third of the speed in every respect.

    Returns
    -------
    DriveParameters

    Notes
    -----
    Seek, rotation, transfer and overhead are scaled alike: fail-slow drives lose a multiple of all service
    times (Hao et al., FAST 2016, "The Tail at Store", 3.1: slowdown against the median of the group).

    Examples
    --------
    >>> slowed(DriveParameters(capacity_bytes=10**12, zone_rates=(150e6,)), 3.0).zone_rates
    (50000000.0,)
    """
    changes: dict[str, float | tuple[float, ...]] = {name: getattr(drive, name) * factor for name in TIMES}
    changes |= {name: getattr(drive, name) / factor for name in RATES}
    if drive.flash_write_latency_s > 0.0:
        changes["flash_write_latency_s"] = drive.flash_write_latency_s * factor
    changes["zone_rates"] = tuple(rate / factor for rate in drive.zone_rates)
    return replace(drive, **changes)  # type: ignore[arg-type]
