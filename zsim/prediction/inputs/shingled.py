"""What grows with the data written, at the scale of a miniature: persistent caches and fast regions.

A drive-managed shingled drive sends everything that is not a stream from the start of a band through its
persistent cache and rewrites whole bands once that is full (`zsim.drives.physics.smr`, at work in the
engines); many solid-state drives write fast into a region and slowly beyond it.  Both hold so many bytes,
of which a miniature writes its share only.
"""

from __future__ import annotations

import math
from dataclasses import replace

from zsim.base.constants import whole_constant
from zsim.drives.models.parameters import DriveParameters
from zsim.engine.model import PlaneModel

LEAST_BANDS = whole_constant("population.least_bands")
LEAST_BAND, BANDS_IN_SLAB = (
    whole_constant("population.least_band"),
    whole_constant("population.bands_in_slab"),
)


def in_miniature(
    model: PlaneModel, scale: float, cleaning: float, slab: float, *, in_order: bool
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
    slab : float
        Bytes that the miniature has in each stretch of its drives (a metaslab of its own).
    in_order : bool
        Whether the scan goes by address.
    """
    leaves = tuple(
        replace(leaf, drive=_drive(leaf.drive, max(scale, 1.0), cleaning, slab, in_order))
        for leaf in model.leaves
    )
    return replace(model, leaves=leaves)


def _drive(
    drive: DriveParameters, scale: float, cleaning: float, slab: float, in_order: bool
) -> DriveParameters:
    if drive.slc_cache_bytes > 0:
        return replace(drive, slc_cache_bytes=max(1, int(drive.slc_cache_bytes / scale)))
    if drive.smr_band_bytes == 0:
        return drive
    drive = _with_small_bands(replace(drive, smr_cleaning=cleaning), slab)
    return _in_middle(drive, scale) if in_order else _smaller(drive, scale)


def _with_small_bands(drive: DriveParameters, slab: float) -> DriveParameters:
    """Return a shingled drive whose bands are small against what a miniature writes at a stretch.

    A small band takes as much smaller a part of the time of a real one, fixed parts included.
    """
    band = max(LEAST_BAND, min(drive.smr_band_bytes, int(slab / BANDS_IN_SLAB)))
    if band >= drive.smr_band_bytes:
        return drive
    rate = len(drive.zone_rates) / math.fsum(1.0 / each for each in drive.zone_rates)
    fixed = drive.revolution_s + 2.0 * drive.seek_short_a_s + drive.write_settle_s
    real, small = fixed + 2.0 * drive.smr_band_bytes / rate, fixed + 2.0 * band / rate
    factor = real * band / drive.smr_band_bytes / small
    return replace(drive, smr_band_bytes=band, smr_cleaning=drive.smr_cleaning * factor)


def _in_middle(drive: DriveParameters, scale: float) -> DriveParameters:
    """Return a shingled drive whose cache has the miniature's share of room left.

    In the order of addresses a band is complete when the next is begun: what room is made of does not depend
    on how much the cache holds, and the few blocks that every transaction group rewrites stay in it, as they
    do in the pool.
    """
    return replace(drive, smr_prior=1.0 - 1.0 / scale)


def _smaller(drive: DriveParameters, scale: float) -> DriveParameters:
    """Return a shingled drive whose cache is as much smaller as the miniature.

    In the order of birth a band is written to again after some share of the pool, which decides how much of
    it the cache has gathered by then.
    """
    share = max(min(1.0, LEAST_BANDS * drive.smr_band_bytes / drive.smr_cache_bytes), 1.0 / scale)
    return replace(
        drive,
        smr_cache_bytes=int(drive.smr_cache_bytes * share),
        smr_cached_writes=max(1, int(drive.smr_cached_writes * share)),
    )
