"""The memory limit of a sorted scan: when it stops collecting and starts issuing, and in which order.

Source: OpenZFS dsl_scan.c:dsl_scan_should_clear and dsl_scan_sync, 0.8 to 2.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from zsim.scan.sorted import ExtentRules
from zsim.scenario.releases.profile import ReleaseProfile

SOFT_MAXIMUM = 128 << 20
EXTENT_BYTES = 48
Mode = Literal["visit", "issue", "done"]


class Queued(Protocol):
    """The queues of a sorted scan, as far as memory is concerned."""

    @property
    def waiting(self) -> int:
        """Entries that wait to be issued; any number above 0 stands for some."""
        ...

    def used_bytes(self) -> float:
        """Return the memory that they take [bytes]."""
        ...


def extent_rules(release: ReleaseProfile) -> ExtentRules:
    """Return how a release forms and scores the extents of a sorted scan.

    Notes
    -----
    OpenZFS dsl_scan.c:ext_size_value: score = fill + zfs_scan_fill_weight * fill * fill / size, its power
    of two alone from 2.1.6 on; blocks at most zfs_scan_max_ext_gap (2M) apart are one extent.
    """
    values = release.tunables
    return ExtentRules(
        max_gap=values.get("zfs_scan_max_ext_gap", 2 << 20),
        fill_weight=values.get("zfs_scan_fill_weight", 3),
        coarse=release.extent_score == "power-of-two",
    )


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
        self.memory, self.allocated = memory, allocated
        self.follow(release)
        self.last_checkpoint = 0.0
        self.checkpointing = self.clearing = False

    def follow(self, release: ReleaseProfile) -> None:
        """Take the limits from the tunables of a release; what is going on goes on."""
        values = release.tunables
        least = values.get("zfs_scan_mem_lim_min", 16 << 20)
        hard = max(self.memory // values.get("zfs_scan_mem_lim_fact", 20), least)
        self.hard = min(hard, max(1, self.allocated // 20))
        most = values.get("zfs_scan_mem_lim_soft_max", SOFT_MAXIMUM)
        self.soft = self.hard - min(self.hard // values.get("zfs_scan_mem_lim_soft_fact", 20), most)
        self.interval = float(values.get("zfs_scan_checkpoint_intval", 7200))
        self.strict = bool(values.get("zfs_scan_strict_mem_lim", 0))
        self.strategy = values.get("zfs_scan_issue_strategy", 0)

    @property
    def by_address(self) -> bool:
        """Whether extents are issued in LBA order (checkpoints, final drain) or by score."""
        return self.strategy == 1 or (self.strategy == 0 and self.checkpointing)

    def mode(self, now: float, queued: Queued, *, visited_all: bool) -> Mode:
        """Return what this txg does.

        Parameters
        ----------
        now : float
            Time since the scan began [s].
        queued : Queued
            What is collected and not issued.
        visited_all : bool
            Whether the traversal is over.

        Returns
        -------
        str
            ``visit`` (collect), ``issue`` (what is collected), or ``done``.

        Notes
        -----
        OpenZFS dsl_scan.c:dsl_scan_should_clear: issue from the hard limit down to the soft one, every
        ``zfs_scan_checkpoint_intval`` until all is issued, and when all is visited.
        """
        if self.checkpointing or now - self.last_checkpoint > self.interval:
            self.checkpointing = self.clearing = True
        else:
            used = queued.used_bytes()
            if used >= self.hard:
                self.clearing = True
            elif used < self.soft:
                self.clearing = False
        if not self.clearing and not visited_all:
            return "visit"
        if queued.waiting > 0:
            return "issue"
        if not visited_all:
            self.drained(now)
            return "visit"
        return "done"

    def strict_stop(self, used_bytes: Callable[[int], float], visited: int, total: int) -> int:
        """Return how many entries may have been visited when this txg's visits stop.

        Parameters
        ----------
        used_bytes : callable
            From a number of visited entries to the memory that the queues then take [bytes].
        visited, total : int
            Entries visited so far, and all.
        """
        if not self.strict or visited >= total:
            return total
        low, high = visited + 1, total
        while low < high:
            middle = (low + high) // 2
            if used_bytes(middle) >= self.hard:
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
