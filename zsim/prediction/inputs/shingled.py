"""Persistent caches and other sizes that have to shrink with a miniature, which writes less data.

A drive-managed shingled drive sends everything that is not a stream from the start of a band through its
persistent cache and rewrites whole bands once that is full (`zsim.drives.physics.smr`, at work in the
engines); many solid-state drives write fast into a region and slowly beyond it.  Both hold so many bytes,
of which a miniature writes its share only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from zsim.base.constants import whole_constant
from zsim.drives.models.parameters import DriveParameters
from zsim.engine.model import PlaneModel

BANDS, CACHED_BANDS = whole_constant("population.bands"), whole_constant("population.cached_bands")
"""By address: of what lies on a drive of a miniature, and that its persistent cache holds, at least."""
BANDS_BY_BIRTH, CACHED_BY_BIRTH = (
    whole_constant("population.bands_by_birth"),
    whole_constant("population.cached_by_birth"),
)
"""By birth: of what lies in a metaslab, and that the persistent cache holds, at least."""
LEAST_BAND = whole_constant("population.least_band")
CACHED_WRITE = whole_constant("population.cached_write")
"""By address the persistent cache of a miniature holds its bands of writes as small as these [bytes]."""


def in_miniature(
    model: PlaneModel, scale: float, cleaning: float, stretch: float, *, in_order: bool
) -> PlaneModel:
    """Return the data plane with caches as a miniature of the pool sees them.

    Parameters
    ----------
    model : PlaneModel
        Of the pool itself.
    scale : float
        Real over simulated bytes.
    cleaning : float
        Factor on what a shingled drive spends on rewriting its bands.
    stretch : float
        Bytes that a drive of the miniature has at a stretch: all of them by address, else a metaslab's.
    in_order : bool
        Whether the scan goes by address.
    """
    change = _by_address if in_order else _by_birth
    leaves = tuple(
        replace(leaf, drive=_drive(leaf.drive, max(scale, 1.0), cleaning, stretch, change))
        for leaf in model.leaves
    )
    return replace(model, leaves=leaves)


def _drive(
    drive: DriveParameters,
    scale: float,
    cleaning: float,
    stretch: float,
    change: Callable[[DriveParameters, float, float], DriveParameters],
) -> DriveParameters:
    if drive.slc_cache_bytes > 0:
        return replace(drive, slc_cache_bytes=max(1, int(drive.slc_cache_bytes / scale)))
    if drive.smr_band_bytes == 0:
        return drive
    return change(replace(drive, smr_cleaning=cleaning), scale, stretch)


def _by_address(drive: DriveParameters, scale: float, stretch: float) -> DriveParameters:
    """Return a shingled drive with bands of their real size, if the miniature fills enough of them.

    A sweep fills one band after the other; how much of a band it finds to write goes by the band's size.  A
    smaller one has as much smaller a part of what a band has once, the way of the arm.  Further copies of
    metadata lie far from the sweep, and are each a band of their own.
    """
    band = min(drive.smr_band_bytes, max(LEAST_BAND, int(stretch / BANDS)))
    small = replace(drive, smr_band_bytes=band, smr_fixed=band / drive.smr_band_bytes)
    cached = CACHED_BANDS * band
    return _with_small_cache(small, scale, cached, cached // CACHED_WRITE)


def _by_birth(drive: DriveParameters, scale: float, stretch: float) -> DriveParameters:
    """Return a shingled drive with bands that are small against what the miniature has in a metaslab.

    What is written comes in pieces far apart, each of which costs the way of the arm.
    """
    band = min(drive.smr_band_bytes, max(LEAST_BAND, int(stretch / BANDS_BY_BIRTH)))
    cached = CACHED_BY_BIRTH * band
    writes = int(drive.smr_cached_writes * min(1.0, cached / drive.smr_cache_bytes))
    return _with_small_cache(replace(drive, smr_band_bytes=band), scale, cached, writes)


def _with_small_cache(drive: DriveParameters, scale: float, cached: int, writes: int) -> DriveParameters:
    """Return a shingled drive whose cache is as much smaller as the miniature, but holds so much at least.

    A band is written to again after some share of the pool, which decides how much of it the cache has
    gathered by then.  The cache begins with as much room as the miniature has of that of the real one.
    """
    share = max(min(1.0, cached / drive.smr_cache_bytes), 1.0 / scale)
    held = max(min(drive.smr_cached_writes, writes), int(drive.smr_cached_writes / scale), 1)
    return replace(
        drive,
        smr_cache_bytes=int(drive.smr_cache_bytes * share),
        smr_cached_writes=held,
        smr_prior=1.0 - 1.0 / (scale * share),
        smr_reduced=share < 1.0,
    )
