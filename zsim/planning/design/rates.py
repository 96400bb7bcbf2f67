"""What a pool's drives can deliver at most: random and streaming I/O, whole and with a drive missing.

Upper bounds from the drives alone, all vdevs busy evenly: no processor, no link, no cache, no other load.
"""

from __future__ import annotations

import math

from zsim.case.case import Case
from zsim.drives.derived import random_service, sequential_rate
from zsim.drives.models.model import DriveModel
from zsim.drives.models.parameters import DriveParameters
from zsim.scenario.layout import VdevSpec
from zsim.vdevs.kind import kind_of

Row = dict[str, float]


def rates(case: Case) -> Row:
    """Return random reads [1/s] and streaming rates [B/s] of a pool."""
    model = case.drive
    vdevs = case.layout.data
    whole, hurt = (_reads(vdevs[0], case, model, missing) for missing in (0, 1))
    stream = sequential_rate(model.parameters(), 0.0, max(case.fill, 0.05))
    others = len(vdevs) - 1 if vdevs[0].tolerance else 0  # without redundancy nothing is left to read from
    share, hurt_share = _streams(vdevs[0], 0), _streams(vdevs[0], 1)
    return {
        "random_reads": len(vdevs) * whole,
        "random_reads_degraded": others * whole + hurt,
        "read_rate": len(vdevs) * share * stream,
        "read_rate_degraded": (others * share + hurt_share) * stream,
        "write_rate": len(vdevs) * _written(vdevs[0]) * stream,
    }


def _reads(vdev: VdevSpec, case: Case, model: DriveModel, missing: int) -> float:
    """Return the random reads of whole records that a vdev serves [1/s]: one I/O for each data column."""
    columns = min(vdev.data, math.ceil(case.recordsize / (1 << case.ashift)))
    size = math.ceil(case.recordsize / columns)
    return (vdev.children - missing) / columns / _service(model.parameters(), size, max(case.fill, 0.05))


def _service(drive: DriveParameters, size: int, span: float) -> float:
    """Return the mean time of a random read, one outstanding [s]."""
    if drive.kind == "flash":
        return drive.read_overhead_s + size / sequential_rate(drive, 0.0, span)
    return random_service(drive, size, 0.0, span)


def _streams(vdev: VdevSpec, missing: int) -> float:
    """Return how many drives' rates a vdev reads with: parity columns are passed over."""
    return (vdev.children - missing) * vdev.data / (vdev.data + vdev.parity)


def _written(vdev: VdevSpec) -> float:
    """Return how many drives' rates of data a vdev writes with."""
    if kind_of(vdev.kind).is_replicated:
        return 1.0
    return (vdev.children - vdev.spares) * vdev.data / (vdev.data + vdev.parity)
