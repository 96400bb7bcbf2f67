"""Block sources of a whole pool, for the strategies of `zsim.operation.scans`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zsim.operation.blocks import PendingEntries, ScanBlocks, split_walk
from zsim.operation.memory_limit import MemoryLimit, extent_rules
from zsim.operation.pool import SimulatedPool
from zsim.operation.setup import freed_by_txgs
from zsim.scan.program import Program
from zsim.scan.sorted import extent_order, issue_program
from zsim.scenario.releases.profile import ReleaseProfile

I64 = NDArray[np.int64]


class WholeSource:
    """What a pool has to scan; it follows the windows of the release.

    Parameters
    ----------
    pool : SimulatedPool
    blocks : ScanBlocks
    """

    def __init__(self, pool: SimulatedPool, blocks: ScanBlocks) -> None:
        self.pool, self.blocks = pool, blocks
        pool.on_tunables.append(self._follow)

    def _follow(self, release: ReleaseProfile) -> None:
        self.blocks.set_windows(release)


class WholeWalk(WholeSource):
    """The walk of a whole pool, for the legacy scan."""

    def begin(self) -> None:
        """Load the walk."""
        self.pool.plane.load_streams([self.blocks.walk], [self.blocks.pool_window])

    def _follow(self, release: ReleaseProfile) -> None:
        super()._follow(release)
        self.pool.plane.set_window(0, self.blocks.pool_window)


class WholeVisits(WholeSource):
    """The metadata that a sorted scan visits."""

    def __init__(self, pool: SimulatedPool, blocks: ScanBlocks) -> None:
        super().__init__(pool, blocks)
        self.visits, self._before = split_walk(blocks.walk, blocks.setup.blocks)
        self.entries = 0 if blocks.queue is None else len(blocks.queue)
        self.begin()

    def begin(self) -> None:
        """Start over."""
        self.position = self.visited = self._end = self._stop = 0
        self.visited_all = False

    def used_bytes_after(self, visited: int) -> float:
        """Return the memory that the queues take once so many entries are visited [bytes]."""
        return 0.0

    def load_visits(self, limit: MemoryLimit) -> Sequence[int]:
        """Load all that is left, or as much as memory allows strictly."""
        self._stop = stop = limit.strict_stop(self.used_bytes_after, self.visited, self.entries)
        whole = stop >= self.entries
        self._end = len(self.visits) if whole else int(np.searchsorted(self._before, stop, side="left"))
        piece = self.visits.part(slice(self.position, self._end))
        self.pool.plane.load_streams([piece], [self.blocks.pool_window])
        return ()

    def note_txg(self) -> None:
        """Take what the end of a txg frees out of the queues: nothing is queued."""

    def note_visits(self) -> None:
        """Note how far the visits have come."""
        self.position = min(self.position + self.pool.plane.positions()[0], self._end)
        self.visited = self._stop if self.position == self._end else int(self._before[self.position])
        self.visited_all = self.visited >= self.entries and self.position >= len(self.visits)


class FreedEntries:
    """Queue entries that the end of each txg frees (OpenZFS dsl_scan.c:dsl_scan_freed).

    Parameters
    ----------
    blocks : ScanBlocks
        With a queue.
    """

    def __init__(self, blocks: ScanBlocks) -> None:
        self._turns = iter(freed_by_txgs(blocks.setup))
        self._rows = blocks.rows

    def end_txg(self, queued: I64) -> NDArray[np.bool_]:
        """Return which of the entries that are queued the next txg frees."""
        blocks = next(self._turns, None)
        if blocks is None:
            return np.zeros(len(queued), bool)
        return np.isin(self._rows[queued], blocks)


class WholeQueues(WholeVisits):
    """The metadata of a whole pool, and the queues of its sorted scan."""

    def __init__(self, pool: SimulatedPool, blocks: ScanBlocks) -> None:
        assert blocks.queue is not None
        self.queue = blocks.queue
        self.extents = extent_rules(pool.release)
        self.pending = PendingEntries(self.queue, self.extents.max_gap)
        self._copies = blocks.setup.blocks.dva_count
        self._first_entry = np.full(len(self._copies), -1, np.int64)
        self._first_entry[blocks.rows[::-1]] = np.arange(len(self.queue))[::-1]
        self._orders: list[I64] = []
        self._programs: list[Program] = []
        # What waits as it was when the rest of the orders was noted: as long as it does, they hold.
        self._noted: I64 | None = None
        self._by_address = False
        self._freed = FreedEntries(blocks)
        super().__init__(pool, blocks)

    def _follow(self, release: ReleaseProfile) -> None:
        super()._follow(release)
        self.extents = extent_rules(release)
        self.pending.max_gap = self.extents.max_gap

    def begin(self) -> None:
        """Start over."""
        super().begin()
        self.pending.rows = np.zeros(0, np.int64)

    def note_txg(self) -> None:
        """Take what the end of a txg frees out of the queues."""
        rows = self.pending.rows
        freed = self._freed.end_txg(rows)
        if freed.any():
            self.pending.rows = rows[~freed]

    @property
    def waiting(self) -> int:
        """Entries that wait to be issued."""
        return len(self.pending.rows)

    def used_bytes(self) -> float:
        """Return the memory that they take [bytes]."""
        return self.pending.used_bytes(self.pending.rows)

    def used_bytes_after(self, visited: int) -> float:
        """Return the memory that the queues take once so many entries are visited [bytes]."""
        return self.pending.used_bytes(
            self.pending.with_visited(self.visited, visited, np.zeros(0, np.int64))
        )

    def note_visits(self) -> None:
        """Queue the entries of what was visited."""
        before = self.visited
        super().note_visits()
        self.pending.rows = self.pending.with_visited(before, self.visited, self._way_up(self.visited))

    def _way_up(self, stopped: int) -> I64:
        """Return the entries of the blocks above the one at which the visits were suspended.

        The traversal returns through their callbacks, which queue them; they are visited again once their
        subtrees are done (dsl_scan.c:dsl_scan_visitbp; scan_io_queue_insert_impl drops an entry that is
        still queued).
        """
        rows, unwind = self.blocks.rows, self.blocks.unwind
        if stopped >= len(rows) or unwind is None:
            return np.zeros(0, np.int64)
        above = []
        row = int(unwind[rows[stopped]])
        while row >= 0:
            first = int(self._first_entry[row])
            above.append(np.arange(first, first + int(self._copies[row])))
            row = int(unwind[row])
        return np.concatenate(above) if above else np.zeros(0, np.int64)

    def load_entries(self, *, by_address: bool) -> Sequence[int]:
        """Load all that waits."""
        if not by_address or self._noted is not self.pending.rows:
            self._orders = self.pending.addresses.by_vdev(self.pending.rows, len(self.blocks.windows))
            if not by_address:
                self._orders = [extent_order(self.queue, rows, self.extents) for rows in self._orders]
            self._programs = [issue_program(self.queue, rows) for rows in self._orders]
        self._by_address = by_address
        self.pool.plane.load_streams(self._programs, self.blocks.windows)
        return ()

    def note_entries(self) -> None:
        """Take what was issued out of the queues."""
        starts = np.cumsum([0, *[len(rows) for rows in self._orders[:-1]]]).tolist()
        done = [
            max(0, position - start)
            for position, start in zip(self.pool.plane.positions(), starts, strict=False)
        ]
        self.pending.drop([rows[:count] for rows, count in zip(self._orders, done, strict=True)])
        self._orders = [rows[count:] for rows, count in zip(self._orders, done, strict=True)]
        self._programs = [
            each.part(slice(count, None)) for each, count in zip(self._programs, done, strict=True)
        ]
        self._noted = self.pending.rows if self._by_address else None
