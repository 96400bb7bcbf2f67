"""What grows with the data written, at the scale of a miniature: persistent caches and fast regions.

A drive-managed shingled drive sends everything that is not a stream from the start of a band through its persistent
cache and rewrites whole bands once that is full (`zsim.drives.smr`, at work in the engines); many solid-state drives
write fast into a region and slowly beyond it.  Both hold so many bytes, of which a miniature writes its share only.
"""

from __future__ import annotations

from dataclasses import replace

from zsim.drives.parameters import DriveParameters
from zsim.engine.model import PlaneModel

LEAST_BANDS = 4


def in_miniature(model: PlaneModel, scale: float, cleaning: float, *, in_order: bool) -> PlaneModel:
    """Return the data plane with caches as a miniature of the pool sees them.

    Parameters
    ----------
    model : PlaneModel
        Of the pool itself.
    scale : float
        Real over simulated bytes.
    cleaning : float
        Factor on what a shingled drive spends on rewriting its bands.
    in_order : bool
        Whether the scan goes by address.
    """
    leaves = tuple(
        replace(leaf, drive=_drive(leaf.drive, max(scale, 1.0), cleaning, in_order)) for leaf in model.leaves
    )
    return replace(model, leaves=leaves)


def _drive(drive: DriveParameters, scale: float, cleaning: float, in_order: bool) -> DriveParameters:
    if drive.slc_cache_bytes > 0:
        return replace(drive, slc_cache_bytes=max(1, int(drive.slc_cache_bytes / scale)))
    if drive.smr_band_bytes == 0:
        return drive
    drive = replace(drive, smr_cleaning=cleaning)
    return _in_middle(drive, scale) if in_order else _smaller(drive, scale)


def _in_middle(drive: DriveParameters, scale: float) -> DriveParameters:
    """Return a shingled drive whose cache has the miniature's share of room left.

    In the order of addresses a band is complete when the next is begun: what room is made of does not depend on how
    much the cache holds, and the few blocks that every transaction group rewrites stay in it, as they do in the pool.
    """
    return replace(drive, smr_prior=1.0 - 1.0 / scale)


def _smaller(drive: DriveParameters, scale: float) -> DriveParameters:
    """Return a shingled drive whose cache is as much smaller as the miniature.

    In the order of birth a band is written to again after some share of the pool, which decides how much of it the
    cache has gathered by then.
    """
    share = max(min(1.0, LEAST_BANDS * drive.smr_band_bytes / drive.smr_cache_bytes), 1.0 / scale)
    return replace(
        drive,
        smr_cache_bytes=int(drive.smr_cache_bytes * share),
        smr_cached_writes=max(1, int(drive.smr_cached_writes * share)),
    )
