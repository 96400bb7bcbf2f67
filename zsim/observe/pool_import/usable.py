"""The drives of a pool by how much its datasets can hold, as ``zfs list`` prints it."""

from __future__ import annotations

import numpy as np

from zsim.observe.devices.usual_sizes import USUAL_GB, USUAL_WITHIN
from zsim.observe.zpool.datasets import DatasetSpace
from zsim.scenario.layout import Layout
from zsim.scenario.releases.capacity import pool_size, slop_space, vdev_sizes
from zsim.scenario.releases.profile import ReleaseProfile
from zsim.vdevs.arrays import asizes_on

COUNTED_RECORD, COUNTED_ASHIFT = 128 << 10, 12
"""Records and sectors by which ZFS counts space (vdev.c:vdev_set_deflate_ratio) [bytes, log2(bytes)]."""


def size_by_datasets(layout: Layout, space: DatasetSpace, release: ReleaseProfile) -> int | None:
    """Return SIZE of a pool of the drives on sale that give its datasets as much [bytes]; None: no such.

    USED and AVAIL of the dataset of a pool are together what it can hold, whatever is reserved
    (dsl_dir.c:dsl_dir_space_available, spa_misc.c:spa_update_dspace).
    """
    held = space.used + space.available
    apart = {gb: abs(_usable(layout, gb * 10**9, release) / held - 1) for gb in USUAL_GB}
    nearest = min(apart, key=apart.__getitem__)
    return pool_size(layout, nearest * 10**9, release) if apart[nearest] <= USUAL_WITHIN else None


def _usable(layout: Layout, drive: int, release: ReleaseProfile) -> float:
    """Return how much the datasets of a pool of such drives can hold [bytes]."""
    record = np.array([COUNTED_RECORD], dtype=np.int64)
    sizes = zip(layout.data, vdev_sizes(layout, drive, release), strict=True)
    counted = sum(
        size * COUNTED_RECORD / float(asizes_on(vdev, record, COUNTED_ASHIFT)[0]) for vdev, size in sizes
    )
    return counted - slop_space(int(counted), release)
