"""Children of a RAID-Z or dRAID that sit out because they are slow (2.4), in the reference engine."""

from __future__ import annotations

import numpy as np

from zsim.base.arrays import Rows
from zsim.engine.model import NOT_REPAIRED, VdevModel
from zsim.engine.reference.state import Shared
from zsim.engine.sit_out import (
    FORGIVEN,
    LATENCY_BUCKETS,
    MOST_OUTLIERS,
    latency_bucket,
    may_sit_out,
    mean_of,
    outlying,
)


class Watch:
    """How long reads took on each leaf since somebody last looked, and which leaves are faulted.

    Parameters
    ----------
    shared : Shared
    leaves : int
    health : ndarray of HEALTH_DTYPE, shape (leaves,)
    """

    def __init__(self, shared: Shared, leaves: int, health: Rows) -> None:
        self.shared, self.health = shared, health
        self.histograms = np.zeros((leaves, LATENCY_BUCKETS), np.int64)

    def note(self, leaf: int, seconds: float) -> None:
        """Count how long a read took."""
        if self.shared.watches:
            self.histograms[leaf, latency_bucket(seconds)] += 1

    def mean(self, leaf: int) -> int:
        """Return the mean latency of a leaf's reads since the last call [ns]."""
        return mean_of(self.histograms[leaf])

    def is_faulted(self, leaf: int) -> bool:
        """Tell whether a leaf has been faulted."""
        return bool(self.health["faulted"][leaf] <= self.shared.now)


class SittingOut:
    """Which children of a top-level vdev sit out.

    Parameters
    ----------
    shared : Shared
    watch : Watch
    model : VdevModel
    """

    def __init__(self, shared: Shared, watch: Watch, model: VdevModel) -> None:
        self.shared, self.watch = shared, watch
        self.rules = model.autosit if may_sit_out(model.children) else None
        self.until, self.outliers = [0.0] * model.children, [0] * model.children
        self.sat = [0] * model.children
        self.looked_at, self.together = -np.inf, 0

    @property
    def sat_out(self) -> tuple[int, ...]:
        """How often each child was made to sit out."""
        return tuple(self.sat)

    def sits_out(self, child: int) -> bool:
        """Tell whether a child is not read now: it sits out, and this is no scrub."""
        return not self.shared.scan.scrub and self._sits(child)

    def _sits(self, child: int) -> bool:
        return self.until[child] > self.shared.now

    def look(self, model: VdevModel) -> None:
        """Look for a child that is much slower than the others, at most once an interval.

        Parameters
        ----------
        model : VdevModel

        Notes
        -----
        OpenZFS 2.4, vdev_raidz_outlier_check_interval_ms: the mean read latencies since the last look are
        compared (`outlying`).  Nothing is concluded while a healthy child was not read, while as many are ill
        as there is parity, or of a child that is ill itself.
        """
        rules, now = self.rules, self.shared.now
        if rules is None or now - self.looked_at < rules.interval_s:
            return
        self.looked_at = now
        latencies = [self._latency(*pair) for pair in zip(model.read_leaf, model.write_leaf, strict=True)]
        unhealthy = [self._is_unhealthy(child, leaf) for child, leaf in enumerate(model.read_leaf)]
        unread = any(latency == 0 and not ill for latency, ill in zip(latencies, unhealthy, strict=True))
        most = max(latencies)
        slowest = latencies.index(most)
        if sum(unhealthy) >= model.parity or unread or most == 0 or unhealthy[slowest]:
            return
        by = outlying(np.array(latencies, np.int64), len(latencies), rules.insensitivity)
        if by > 0:
            self._count(slowest, by, rules.seconds)

    def _latency(self, leaf: int, other: int) -> int:
        """Return a child's mean read latency since the last look [ns]; a `replacing` vdev has none."""
        if leaf < 0:
            return 0
        latency = self.watch.mean(leaf)
        return latency if other in (NOT_REPAIRED, leaf) else 0

    def _is_unhealthy(self, child: int, leaf: int) -> bool:
        return self._sits(child) or leaf < 0 or self.watch.is_faulted(leaf)

    def _count(self, child: int, by: int, seconds: float) -> None:
        """Count an outlier; a child that was one too often sits out, and all begin anew."""
        self.together += by
        if self.together >= len(self.outliers):
            self.outliers = [max(0, count - FORGIVEN) for count in self.outliers]
            self.together = 0
        self.outliers[child] += by
        if self.outliers[child] > MOST_OUTLIERS:
            self.outliers = [0] * len(self.outliers)
            self.sat[child] += 1
            self.until[child] = self.shared.now + seconds
