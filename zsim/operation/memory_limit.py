"""The sorted scan's memory: when it stops collecting and starts issuing, and in which order.

Source: OpenZFS dsl_scan.c:dsl_scan_should_clear and dsl_scan_sync, 0.8 to 2.4.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from zsim.scan.sorted import ExtentRules, ScanQueue
from zsim.scenario.releases.profile import ReleaseProfile

SOFT_MAXIMUM = 128 << 20
EXTENT_BYTES = 48
Mode = Literal["visit", "issue", "done"]


class MemoryLimit:
    """Mode machine of the sorted scan, asked once a txg.

    Parameters
    ----------
    release : ReleaseProfile
    memory : int
        Main memory [bytes].
    allocated : int
        ALLOC of the pool [bytes].
    """

    def __init__(self, release: ReleaseProfile, memory: int, allocated: int) -> None:
        values = release.tunables
        least = values.get("zfs_scan_mem_lim_min", 16 << 20)
        hard = max(memory // values.get("zfs_scan_mem_lim_fact", 20), least)
        self.hard = min(hard, max(1, allocated // 20))
        most = values.get("zfs_scan_mem_lim_soft_max", SOFT_MAXIMUM)
        self.soft = self.hard - min(self.hard // values.get("zfs_scan_mem_lim_soft_fact", 20), most)
        self.interval = float(values.get("zfs_scan_checkpoint_intval", 7200))
        self.strict = bool(values.get("zfs_scan_strict_mem_lim", 0))
        self.strategy = values.get("zfs_scan_issue_strategy", 0)
        self.extents = ExtentRules(
            max_gap=values.get("zfs_scan_max_ext_gap", 2 << 20),
            fill_weight=values.get("zfs_scan_fill_weight", 3),
            coarse=release.extent_score == "power-of-two",
        )
        self.last_checkpoint = 0.0
        self.checkpointing = self.clearing = False

    @property
    def by_address(self) -> bool:
        """Whether extents are issued in LBA order (checkpoints, final drain) or by score."""
        return self.strategy == 1 or (self.strategy == 0 and self.checkpointing)

    def used(self, queue: ScanQueue, pending: NDArray[np.int64]) -> int:
        """Return the memory the pending entries take [bytes]."""
        records = int(queue.record_bytes[pending].sum())
        return records + EXTENT_BYTES * _extents(queue, pending, self.extents.max_gap)

    def mode(self, now: float, queue: ScanQueue, pending: NDArray[np.int64], *, visited_all: bool) -> Mode:
        """Return what this txg does."""
        used = self.used(queue, pending)
        if self.checkpointing or now - self.last_checkpoint > self.interval:
            self.checkpointing = self.clearing = True
        elif used >= self.hard:
            self.clearing = True
        elif used < self.soft:
            self.clearing = False
        if not self.clearing and not visited_all:
            return "visit"
        if len(pending) > 0:
            return "issue"
        if not visited_all:
            self.drained(now)
            return "visit"
        return "done"

    def strict_stop(self, queue: ScanQueue, pending: NDArray[np.int64], visited: int, total: int) -> int:
        """Return how many entries may have been visited when this txg's visits stop."""
        if not self.strict or visited >= total:
            return total
        low, high = visited + 1, total
        while low < high:
            middle = (low + high) // 2
            if self.used(queue, np.union1d(pending, np.arange(visited, middle))) >= self.hard:
                high = middle
            else:
                low = middle + 1
        return low

    def finish_visits(self) -> None:
        """Note that all is visited: what is queued is drained in LBA order."""
        self.checkpointing = self.clearing = True

    def drained(self, now: float) -> None:
        """Note that the queues are empty: a checkpoint."""
        self.checkpointing, self.last_checkpoint = False, now
        self.clearing = False


def _extents(queue: ScanQueue, pending: NDArray[np.int64], max_gap: int) -> int:
    if len(pending) == 0:
        return 0
    order = np.lexsort((queue.offset[pending], queue.vdev[pending]))
    offset, asize = queue.offset[pending][order], queue.asize[pending][order]
    apart = (offset[1:] - offset[:-1] - asize[:-1] > max_gap) | (np.diff(queue.vdev[pending][order]) != 0)
    return 1 + int(apart.sum())
