"""Shingled (SMR) new drives: what their own housekeeping adds to a run.

The engines serve a drive's commands in place.  A drive-managed shingled drive instead sends everything that is not a
stream from the start of a band through its persistent cache, and rewrites whole bands once that is full
(`zsim.drives.smr`).  The writes of the run, in the order in which the drive served them, are played to that model;
what it needs beyond the time the engine charged is added.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from zsim.drives.model import SmrParameters
from zsim.drives.parameters import DriveParameters
from zsim.engine.model import PlaneModel
from zsim.engine.run import RunResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_BANDS = 4


def smr_targets(model: PlaneModel, smr: SmrParameters | None) -> tuple[int, ...]:
    """Return the leaves that are written and shingled."""
    if smr is None:
        return ()
    return tuple(number for number, leaf in enumerate(model.leaves) if leaf.role == "target")


def miniature_smr(smr: SmrParameters, scale: float, *, in_order: bool) -> SmrParameters:
    """Return the shingling of a drive that takes a miniature's share of the data.

    In the order of addresses a band is written to again soon or never, which the size of a miniature does not change:
    the persistent cache stays as it is.  In the order of birth it is written to again after some share of the pool, so
    that the cache has to be as much smaller as the miniature.
    """
    if in_order:
        return smr
    share = max(LEAST_BANDS * smr.band_bytes / smr.persistent_cache_bytes, min(1.0, 1.0 / scale))
    return replace(
        smr,
        persistent_cache_bytes=int(smr.persistent_cache_bytes * share),
        cached_writes=int(smr.cached_writes * share),
    )


def housekeeping_s(
    run: RunResult, model: PlaneModel, smr: SmrParameters, scale: float, *, in_order: bool
) -> float:
    """Return how much longer the slowest shingled drive is busy than the run has it [s].

    Parameters
    ----------
    run : RunResult
        With its records.
    model : PlaneModel
    smr : SmrParameters
        Of the new drives.
    scale : float
        Real over simulated bytes.
    in_order : bool
        Whether the scan goes by address.
    """
    small = miniature_smr(smr, scale, in_order=in_order)
    extra = [0.0]
    for leaf in smr_targets(model, smr):
        rows = run.records[(run.records["leaf"] == leaf) & (run.records["write"] != 0)]
        rows = rows[np.argsort(rows["started"], kind="stable")]
        written = float(rows["length"].sum()) * scale
        dirty = max(0.0, 1.0 - smr.persistent_cache_bytes / max(1.0, written))
        appended, cleaned = _served(model.leaves[leaf].drive, small, rows["offset"], rows["length"])
        extra.append(appended + cleaned * dirty - float(run.leaves["busy"][leaf]))
    return max(extra)


def _served(
    drive: DriveParameters, smr: SmrParameters, offsets: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[float, float]:
    """Return the time a shingled drive needs for writes in this order, and then to empty its persistent cache [s]."""
    from zsim.drives.mechanics import drive_table
    from zsim.drives.smr import CACHED_WRITES, clean_band, smr_run, smr_sizes, smr_state

    table, rates = drive_table([drive])
    state = smr_state(drive, smr)
    out = np.zeros(len(offsets))
    smr_run(table[0], rates[0], state, smr_sizes(smr), offsets.copy(), lengths.copy(), out)
    emptied = 0.0
    while state[0][CACHED_WRITES] > 0:
        emptied += clean_band(table[0], rates[0], state, smr.band_bytes)
    return float(out.sum()), emptied
