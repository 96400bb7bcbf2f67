"""Scan strategies: in which order a scan works, txg by txg, whichever source supplies its blocks.

A strategy knows the rules (dsl_scan.c); a source knows the blocks.  The sources of a whole pool are in
`zsim.operation.sources`; sampled and exact runs bring sources of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from zsim.engine.codes import STREAM_FINISHED
from zsim.operation.control import Steps
from zsim.operation.memory_limit import MemoryLimit, Queued
from zsim.operation.pool import SimulatedPool
from zsim.scenario.releases.profile import ReleaseProfile

Load = Callable[[], Sequence[int]]
Note = Callable[[], None]


class WalkSource(Protocol):
    """Hands the legacy scan its walk."""

    def begin(self) -> None:
        """Load the walk, for a pass over the pool."""


class VisitSource(Protocol):
    """Hands the sorted scan the metadata that it visits."""

    @property
    def visited_all(self) -> bool:
        """Whether all of it is visited."""
        ...

    def load_visits(self, limit: MemoryLimit) -> Sequence[int]:
        """Load what is visited next; return the streams of which there is more than was loaded."""

    def note_visits(self) -> None:
        """Queue the entries of what was visited since it was loaded."""


class SortedSource(VisitSource, Queued, Protocol):
    """Hands the sorted scan its metadata, and the entries of its queues."""

    def begin(self) -> None:
        """Start over, for a pass over the pool."""

    def load_entries(self, *, by_address: bool) -> Sequence[int]:
        """Load queued entries, in LBA order or by extent; return the streams of which there are more."""

    def note_entries(self) -> None:
        """Take what was issued since it was loaded out of the queues."""

    def note_txg(self) -> None:
        """Take what the end of a txg frees out of the queues."""


class LegacyScan:
    """Visits and issues in the order of the traversal (to 0.7, and zfs_scan_legacy).

    Parameters
    ----------
    pool : SimulatedPool
    source : WalkSource
    """

    def __init__(self, pool: SimulatedPool, source: WalkSource) -> None:
        self.pool, self.source = pool, source

    def steps(self) -> Steps[None]:
        """Run one pass over the pool (OpenZFS dsl_scan.c:dsl_scan_visit)."""
        control = self.pool.control
        self.source.begin()
        while True:
            yield from self.pool.standing_still()
            yield from self.issue()
            done = control.finished(1)
            yield from control.sync()
            self.pool.txg_ended()
            if done or self.pool.starts_again():
                return

    def issue(self) -> Steps[None]:
        """Let the scan run in one txg, and drain; the txg of the attach is short."""
        pool, begin = self.pool, self.pool.elapsed
        first = pool.control.txgs == 0
        yield from pool.control.scan_slice(
            pool.slice_s(pool.txg.first_slice_s if first else pool.txg.slice_s)
        )
        pool.visit_end = pool.plane.stream(0, "last_visit")
        pool.book("issue", begin)


class SortedScan:
    """Collects blocks while it visits metadata, and issues them by address: by turns, as memory allows.

    Parameters
    ----------
    pool : SimulatedPool
    source : SortedSource
    allocated : int
        ALLOC of the pool [bytes].
    """

    def __init__(self, pool: SimulatedPool, source: SortedSource, allocated: int) -> None:
        self.pool, self.source, self.allocated = pool, source, allocated
        self.limit = self._new_limit()
        pool.on_tunables.append(self._follow)

    def _follow(self, release: ReleaseProfile) -> None:
        self.limit.follow(release)

    def _new_limit(self) -> MemoryLimit:
        return MemoryLimit(self.pool.release, self.pool.setup.memory, self.allocated)

    def steps(self) -> Steps[None]:
        """Run one pass: one decision of the mode machine a txg (OpenZFS dsl_scan.c:dsl_scan_sync, 0.8+)."""
        pool, source = self.pool, self.source
        self.limit = self._new_limit()
        source.begin()
        pool.visit_end = 0.0
        while True:
            yield from pool.standing_still()
            mode = self.limit.mode(pool.elapsed, source, visited_all=source.visited_all)
            if mode == "done":
                return
            yield from self.visit() if mode == "visit" else self.issue()
            yield from pool.control.sync()
            pool.txg_ended()
            source.note_txg()
            if (source.visited_all and source.waiting == 0) or pool.starts_again():
                return

    def visit(self) -> Steps[None]:
        """Visit metadata for a slice."""
        begin, plane = self.pool.elapsed, self.pool.plane
        yield from self.slice(lambda: self.source.load_visits(self.limit), self.source.note_visits)
        self.pool.visit_end = max(self.pool.visit_end, plane.stream(0, "last_visit"))
        self.pool.book("visit", begin)
        if self.source.visited_all:
            self.limit.finish_visits()
            self.pool.note_visited()

    def issue(self) -> Steps[None]:
        """Issue queued entries for a slice; metadata are prefetched only while the scan visits.

        OpenZFS dsl_scan.c:dsl_scan_sync starts dsl_scan_prefetch_thread with the visits, and stops it then.
        """
        begin, by_address, plane = self.pool.elapsed, self.limit.by_address, self.pool.plane
        wanted = plane.take_wanted()
        yield from self.slice(
            lambda: self.source.load_entries(by_address=by_address), self.source.note_entries
        )
        if len(wanted):
            plane.set_wanted(np.union1d(wanted, plane.take_wanted()))
        self.pool.book("issue", begin)
        if self.source.waiting == 0:
            self.limit.drained(self.pool.elapsed)

    def slice(self, load: Load, note: Note) -> Steps[None]:
        """Let the scan run in one txg, and drain; should what was loaded not last, load more and go on."""
        plane, control = self.pool.plane, self.pool.control
        seconds = self.pool.slice_s(self.pool.txg.slice_s)
        stop = plane.now + seconds
        while True:
            partly = load()
            yield from control.scan_slice(seconds)
            note()
            used_up = any(plane.stream(number, "state") == STREAM_FINISHED for number in partly)
            if not used_up or plane.now >= stop:
                return
            seconds = stop - plane.now
