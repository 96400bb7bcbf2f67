"""The leaf vdev queue of the reference engine (OpenZFS module/zfs/vdev_queue.c), one object a leaf."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable

from zsim.engine.codes import CLASSES, FLAG_REPAIR, SCRUB, SYNC_READ, SYNC_WRITE
from zsim.engine.leaf_rules import (
    address_rank,
    class_maximum,
    class_minimum,
    credit_at_end,
    credit_at_issue,
    single_priority,
)
from zsim.engine.reference.state import Child, Command, LeafState, Shared


class LeafQueue:
    """Decides which queued child I/Os go to the drive next, and merged with which.

    Parameters
    ----------
    shared : Shared
    state : LeafState
    rotating : bool
        What the drive reports of itself.
    submit : callable
        Takes a command to the drive.
    """

    def __init__(
        self, shared: Shared, state: LeafState, rotating: bool, submit: Callable[[Command], None]
    ) -> None:
        self.shared, self.state, self.rotating, self.submit = shared, state, rotating, submit
        self.reads: list[Child] = []
        self.writes: list[Child] = []
        self.active = [0] * CLASSES
        state.last_class = CLASSES - 1

    def __len__(self) -> int:
        return len(self.reads) + len(self.writes)

    def enqueue(self, child: Child) -> None:
        """Queue a child I/O behind those of its offset, and issue what may be (vdev_queue.c:vdev_queue_io).

        Parameters
        ----------
        child : Child
            Gets its place in the order of arrival and the bucket of its deadline: time alone, with the single
            queue of old releases its priority as well (``io_deadline``).
        """
        shared = self.shared
        shared.sequence += 1
        shared.children_queued += 1
        self.state.children += 1
        child.stamp = shared.sequence
        child.bucket = int(shared.now / shared.queue.bucket_seconds)
        if shared.queue.single:
            child.bucket += single_priority(child.klass, shared.scan.scrub, child.flags == FLAG_REPAIR)
        insort(self.writes if child.write else self.reads, child, key=_place)
        self.issue(shared.queue.min_pending)

    def finished(self, command: Command) -> None:
        """Count a command as done and issue what follows (vdev_queue_io_done)."""
        self._count_done(command.klass)
        if self.shared.queue.single:
            for _ in range(self.shared.queue.ramp):
                self.issue(self.shared.queue.max_pending)
        else:
            while self.issue():
                pass

    def issue(self, pending_limit: int = 0) -> bool:
        """Send the next I/O and all that merges with it, if there is one.

        Parameters
        ----------
        pending_limit : int
            Where not 0, the leaf holds at most so many I/Os: one queue for all classes
            (zfs_vdev_max_pending).

        Returns
        -------
        bool
            Whether something was sent.

        Notes
        -----
        OpenZFS vdev_queue.c:vdev_queue_io_to_issue, vdev_queue_aggregate.
        """
        child = self._next_single(pending_limit) if self.shared.queue.single else self._next_by_class()
        if child is None:
            return False
        merged, end = self._aggregate(child)
        queue = self.writes if child.write else self.reads
        for each in merged:
            queue.remove(each)
        offset = merged[0].offset
        # They hear of the end from the highest offset down: zio_add_child puts each new parent at the head.
        command = Command(child.leaf, child.klass, child.write, offset, end - offset, merged[::-1])
        self._count_issue(child.klass)
        self.state.last_offset = end
        self.submit(command)
        return True

    # One queue with deadlines (ZFS v28).

    def _next_single(self, pending_limit: int) -> Child | None:
        """Return the I/O of the earliest (deadline, offset) (0.6.1 vdev_queue_deadline_compare)."""
        if self.state.pending >= pending_limit:
            return None
        return min(self.reads + self.writes, key=lambda child: (child.bucket, child.offset), default=None)

    # Classes (0.6.3 and later).

    def _next_by_class(self) -> Child | None:
        klass = self._class_to_issue()
        if klass is None:
            return None
        waiting = self._waiting(klass)
        if klass in {SYNC_READ, SYNC_WRITE}:
            return min(waiting, key=lambda child: child.stamp)
        if self.shared.queue.time_buckets:
            oldest = min(child.bucket for child in waiting)
            waiting = [child for child in waiting if child.bucket == oldest]
        last = self.state.last_offset
        first = min(waiting, key=lambda child: (child.offset < last, child.offset))
        alike = [child for child in waiting if child.write == first.write]
        if self.shared.queue.time_buckets and first.offset == last > alike[0].offset:
            # A search for the offset itself (avl_find) meets the I/O that came first, whatever its address.
            equals = (child for child in alike if child.offset == last)
            return min(equals, key=lambda child: child.stamp)
        return first

    def _waiting(self, klass: int) -> list[Child]:
        """Return what is queued of a class, reads before writes, each by offset."""
        return [child for child in self.reads + self.writes if child.klass == klass]

    def _class_to_issue(self) -> int | None:
        """Return the class whose turn it is (vdev_queue_class_to_issue).

        A class below its minimum comes first: in order of priority, or in turn from 2.0.1 on.
        """
        waiting = {child.klass for child in self.reads + self.writes}
        start = self.state.last_class + 1 if self.shared.queue.round_robin else 0
        turns = [(start + step) % CLASSES for step in range(CLASSES)]
        below_minimum = (k for k in turns if k in waiting and self.active[k] < self._minimum(k))
        below_maximum = (k for k in range(CLASSES) if k in waiting and self.active[k] < self._maximum(k))
        return next(below_minimum, next(below_maximum, None))

    def _minimum(self, klass: int) -> int:
        shared, state = self.shared, self.state
        throttles = bool(shared.queue.non_interactive)
        return class_minimum(klass, shared.minimum[klass], throttles, state.interactive, state.credit)

    def _maximum(self, klass: int) -> int:
        shared, state = self.shared, self.state
        limits, throttles = (shared.minimum[klass], shared.maximum[klass]), bool(shared.queue.non_interactive)
        active = (state.interactive, state.credit)
        return class_maximum(klass, *limits, throttles, *active, shared.queue.nia_delay)

    # Aggregation.

    def _aggregate(self, child: Child) -> tuple[list[Child], int]:
        """Return the I/Os merged with `child` and where they end: backwards first, then forwards.

        Neighbours of the same flags join while the whole stays within its limit and each gap between 0 and
        the gap limit: I/Os that overlap never merge (vdev_queue_aggregate; IO_GAP is unsigned).
        """
        queue = self.writes if child.write else self.reads
        rules = self.shared.queue
        most = 0 if child.write else rules.read_gap
        limit = rules.aggregation_limit if self.rotating else rules.aggregation_limit_flash

        def join(lower: Child, upper: Child, start: int, end: int) -> bool:
            gap = upper.offset - (lower.offset + lower.length)
            return lower.flags == upper.flags and 0 <= gap <= most and end - start <= limit

        place = queue.index(child)
        merged, end = [child], child.offset + child.length
        for other in reversed(queue[:place]):
            if not join(other, merged[0], other.offset, end):
                break
            merged.insert(0, other)
        for other in queue[place + 1 :]:
            if not join(merged[-1], other, merged[0].offset, other.offset + other.length):
                break
            merged.append(other)
            end = other.offset + other.length
        return merged, end

    # Active I/Os.

    def _count_issue(self, klass: int) -> None:
        """Count an I/O as active (vdev_queue_pending_add)."""
        state = self.state
        self.active[klass] += 1
        state.pending += 1
        state.last_class = klass
        state.credit = credit_at_issue(klass, state.interactive, state.credit)
        state.interactive += klass < SCRUB

    def _count_done(self, klass: int) -> None:
        """Count an I/O as done (vdev_queue_pending_remove)."""
        state = self.state
        self.active[klass] -= 1
        state.pending -= 1
        state.credit = credit_at_end(klass, state.interactive, state.credit, self.shared.queue.nia_credit)
        state.interactive -= klass < SCRUB


def _place(child: Child) -> tuple[int, float]:
    return child.offset, address_rank(child.stamp)
