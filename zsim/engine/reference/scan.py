"""The scan of the reference engine: streams of operations, blocks in flight, and the metadata they need."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from math import floor
from typing import TYPE_CHECKING

from zsim.engine.codes import (
    AHEAD_S,
    FLAG_METADATA,
    FLAG_NORMAL,
    META_ABSENT,
    META_HELD,
    META_IN_FLIGHT,
    META_PRESENT,
    META_WANTED,
    STREAM_BUSY,
    STREAM_DELAY,
    STREAM_FINISHED,
    STREAM_METADATA,
    STREAM_PAUSED,
    STREAM_READY,
    STREAM_WINDOW,
    SYNC_READ,
)
from zsim.engine.reference.clock import Signal, Steps
from zsim.engine.reference.state import Child, Item, Shared
from zsim.engine.reference.vdev import VdevProcess
from zsim.engine.window import Window
from zsim.scan.program import OP_ISSUE, OP_VISIT

if TYPE_CHECKING:
    from collections.abc import Sequence

ISSUE, VISIT = OP_ISSUE, OP_VISIT
Operation = tuple[int, Item]


class Block:
    """A scan block in flight: first its reads, then its repair writes (dsl_scan.c:scan_exec_io)."""

    def __init__(self, shared: Shared, vdevs: Sequence[VdevProcess], stream: Stream, item: Item) -> None:
        self.shared, self.vdevs, self.stream, self.item = shared, vdevs, stream, item
        self.epoch = shared.epoch
        self.reads_left = 0
        self.writes_left = 0
        self.others_wait = not shared.scan.scrub

    def start(self) -> None:
        """Queue the reads: one copy, or every copy in a scrub."""
        item = self.item
        reads = self.vdevs[item.vdev].scan_reads(self, item.offset, item.psize, item.columns)
        if self.shared.scan.scrub:
            for vdev, offset, columns in item.copies:
                reads += self.vdevs[vdev].scan_reads(self, offset, item.psize, columns)
        if reads == 0:
            self._repair()

    def expect_read(self) -> None:
        """Count a read that is being queued."""
        self.reads_left += 1

    def expect_write(self) -> None:
        """Count a repair write that is being queued."""
        self.writes_left += 1

    def read_done(self, child: Child) -> None:
        """Count a read as done; after the last one the block is repaired."""
        self.reads_left -= 1
        if self.reads_left == 0:
            self._repair()

    def read_for_copy_done(self, child: Child) -> None:
        """Write what a live old disk gave to its replacement (vdev_mirror.c:vdev_mirror_io_done)."""
        vdev, place = self.vdevs[self.item.vdev], child.offset - self.shared.label_bytes
        target = vdev.queues[child.leaf].state.replaced_by
        # The read ends with this write (zio.c:zio_vdev_io_assess).
        vdev.enqueue_write(target, place, child.length, self.read_done)

    def write_done(self, child: Child) -> None:
        """Count a repair write as done."""
        self.writes_left -= 1
        self._finish_if_done()

    def _repair(self) -> None:
        """Queue the repair writes of the copy that was read (a scrub finds nothing wrong)."""
        if not self.shared.scan.scrub:
            item = self.item
            self.vdevs[item.vdev].repair(self, item.offset, item.psize, item.columns, was_read=True)
        self._finish_if_done()

    def _repair_others(self) -> None:
        """Queue the repair writes of the other copies: their turn comes when the one read is repaired."""
        self.others_wait = False
        for vdev, offset, columns in self.item.copies:
            self.vdevs[vdev].repair(self, offset, self.item.psize, columns, was_read=False)

    def _finish_if_done(self) -> None:
        if self.reads_left == 0 and self.writes_left == 0 and self.others_wait:
            self._repair_others()
        if self.reads_left == 0 and self.writes_left == 0:
            self.stream.block_done(self)


class Metadata:
    """What the scan has in memory of the pool's metadata, and the thread that prefetches it.

    Parameters
    ----------
    shared : Shared
    items : list of Item
    vdevs : sequence of VdevProcess
    above : list of int, optional
        Of every item the metadata above it, -1: none; by default clients find all of it in memory.
    """

    def __init__(
        self,
        shared: Shared,
        items: list[Item],
        vdevs: Sequence[VdevProcess],
        above: list[int] | None = None,
    ) -> None:
        self.shared, self.items, self.vdevs, self.above = shared, items, vdevs, above
        self.wanted: list[int] = []
        self.waiting: dict[int, list[tuple[int, Callable[[], None]]]] = {}
        self.traversal: Stream

    def prefetch(self) -> None:
        """Fetch what is wanted and fits the window, until the traversal pauses or ends.

        Source: OpenZFS 0.8+ dsl_scan.c:dsl_scan_prefetch_thread, scn_prefetch_stop.
        """
        shared, traversal = self.shared, self.traversal
        if not shared.running or traversal.state in (STREAM_PAUSED, STREAM_FINISHED):
            return
        while self.wanted and traversal.fits():
            item = self.items[self.wanted.pop(0)]
            shared.heap_size = len(self.wanted)
            if item.metadata_state == META_WANTED:
                self.fetch(item)
            elif item.metadata_state == META_PRESENT:
                self.want_below(item)

    def fetch(self, item: Item) -> None:
        """Start the read of a metadata block."""
        self.shared.metadata_inflight += 1
        self.shared.prefetch_bytes += item.psize
        self._read(item, self.shared.scan.metadata_class, FLAG_METADATA, self._arrived)

    def _read(self, item: Item, klass: int, flags: int, arrived: Callable[[Item], None]) -> None:
        item.metadata_state = META_IN_FLIGHT

        def done(child: Child) -> None:
            item.metadata_left -= 1
            if item.metadata_left == 0:
                arrived(item)
                self._wake(item)

        vdev = self.vdevs[item.vdev]
        item.metadata_left = vdev.plain_read(item.offset, item.psize, item.columns, klass, flags, done)

    def _arrived(self, item: Item) -> None:
        item.metadata_state = META_PRESENT
        self.shared.metadata_inflight -= 1
        self.shared.prefetch_bytes -= item.psize
        self.go_deeper(item)

    # What clients ask for.

    def missing_above(self, wanted: Sequence[Item]) -> Item | None:
        """Return the uppermost metadata block missing on the way to the first block that misses any."""
        for item in wanted:
            way = [each for each in self._way_to(item) if each.metadata_state < META_PRESENT]
            if way:
                return way[-1]
        return None

    def _way_to(self, item: Item) -> list[Item]:
        """Return what is above a block, the nearest first."""
        way: list[Item] = []
        number = -1 if self.above is None else self.above[item.number]
        while self.above is not None and number >= 0:
            way.append(self.items[number])
            number = self.above[number]
        return way

    def demand(self, item: Item, slot: int, go_on: Callable[[], None]) -> None:
        """Read a metadata block for a client, unless it is on its way; then let the client go on."""
        self.waiting.setdefault(item.number, []).append((slot, go_on))
        if item.metadata_state < META_IN_FLIGHT:
            self._read(item, SYNC_READ, FLAG_NORMAL, self._demanded)

    def _demanded(self, item: Item) -> None:
        """Hold what a client read; the read-ahead of the scan goes deeper if it has seen what is above."""
        way = self._way_to(item)
        is_sought = not way or way[0].metadata_state == META_PRESENT
        item.metadata_state = META_PRESENT if is_sought else META_HELD
        if is_sought:
            self.go_deeper(item)

    def _wake(self, item: Item) -> None:
        for _, go_on in sorted(self.waiting.pop(item.number, []), key=lambda each: each[0]):
            go_on()

    def go_deeper(self, item: Item) -> None:
        """Want the metadata below a block that is in memory (0.8+ dsl_scan.c:dsl_scan_prefetch_cb)."""
        if not self.shared.scan.prefetch_recursive:
            return
        self.want_below(item)
        self.prefetch()

    def want_below(self, item: Item) -> None:
        """Queue the metadata below a block; the read of what is in memory already is done at once."""
        below = item.prefetch_first
        while below >= 0:
            child = self.items[below]
            if child.metadata_state in (META_ABSENT, META_HELD):
                absent = child.metadata_state == META_ABSENT
                child.metadata_state = META_WANTED if absent else META_PRESENT
                insort(self.wanted, below)
            below = child.prefetch_next
        self.shared.heap_size = len(self.wanted)


class Stream:
    """A scan thread: goes through its operations, one after the other, within its window.

    Parameters
    ----------
    shared : Shared
    slot : int
        Place of its sleeps in the order of events.
    metadata : Metadata
    vdevs : sequence of VdevProcess
    """

    def __init__(self, shared: Shared, slot: int, metadata: Metadata, vdevs: Sequence[VdevProcess]) -> None:
        self.shared, self.metadata, self.vdevs = shared, metadata, vdevs
        self.program: list[Operation] = []
        self.position = self.end = self.inflight = 0
        self.state = STREAM_READY
        self.window = Window(0, False)
        self.delayed = False
        self.unwind: Item | None = None
        self.issued_blocks = self.issued_bytes = 0
        self.first_visit = self.last_visit = self.free_at = self.issuing_s = 0.0
        self.slot, self.turn = slot, Signal(shared.clock)
        shared.clock.process(self.thread())

    def unload(self) -> None:
        """Have nothing to do."""
        self.position = self.end = 0
        self.state, self.unwind = STREAM_READY, None

    def load(self, program: list[Operation], start: int, end: int, window: Window) -> None:
        """Load the operations from `start` to `end` of a program."""
        self.program, self.position, self.end, self.window = program, start, end, window
        self.inflight = 0
        self.first_visit = self.last_visit = -1.0

    def thread(self) -> Steps:
        """Process: go on as far as possible, wait (dsl_scan.c:dsl_scan_visitbp, scan_io_queue_issue)."""
        while True:
            while self.shared.running and self.state == STREAM_READY:
                self._step()
            if self.state in (STREAM_DELAY, STREAM_BUSY):
                wakes = self._wake_time() if self.state == STREAM_DELAY else self.free_at
                yield self.shared.clock.at(wakes, self.slot)
                self.state = STREAM_READY
            else:
                yield self.turn.wait()

    def go_on(self) -> None:
        """Let the thread go on if what it waits for has come."""
        if self.state == STREAM_METADATA and self.program[self.position][1].metadata_state == META_PRESENT:
            self.state = STREAM_READY
        if self.state == STREAM_WINDOW and self._has_room():
            self.state = STREAM_READY
        if self.state == STREAM_READY:
            self.turn.give()
            self.shared.clock.settle()

    def _step(self) -> None:
        if self.free_at > self.shared.now + AHEAD_S:
            self.state = STREAM_BUSY
            return
        if self.unwind is not None:
            self._unwind(self.unwind)
            return
        if self.position >= self.end:
            self.state = STREAM_FINISHED
            return
        code, item = self.program[self.position]
        if code == ISSUE:
            self.state = self._issue(item)
        elif code == VISIT:
            self.state = self._visit(item)
        elif item.metadata_state == META_ABSENT:
            self.metadata.fetch(item)
        if self.state == STREAM_READY and self.unwind is None:
            self.position += 1

    # Blocks.

    def _issue(self, item: Item) -> int:
        """Issue a block, unless the txg ends."""
        shared = self.shared
        may_pause = item.level0 or not shared.scan.pause_level0_only
        if shared.now >= shared.pause_at and not self.delayed and may_pause:
            return self._pause_below(item.unwind)
        return self._issue_in_turn(item)

    def _pause_below(self, above: int) -> int:
        """Pause, but first issue the blocks above: the traversal returns through all its levels."""
        self.unwind = self.metadata.items[above] if above >= 0 else None
        return STREAM_PAUSED if self.unwind is None else STREAM_READY

    def _unwind(self, item: Item) -> None:
        """Issue a block above the one at which the scan pauses, and once more when its subtree is done.

        Source: dsl_scan.c:dsl_scan_visitbp does not look at scn_suspending after dsl_scan_recurse.
        """
        self.state = self._issue_in_turn(item)
        if self.state == STREAM_READY:
            self.state = self._pause_below(item.unwind)

    def _issue_in_turn(self, item: Item) -> int:
        """Issue a block unless the window is full or the thread must sleep first."""
        shared = self.shared
        if not self._has_room():
            return STREAM_WINDOW
        if shared.scan.delay_ticks > 0 and not self.delayed and self._pool_is_busy():
            self.delayed = True
            return STREAM_DELAY
        self.delayed = False
        self._start(item)
        return STREAM_READY

    def fits(self) -> bool:
        """Tell whether the window has room; that of the traversal holds what is prefetched as well.

        One counter holds both (OpenZFS 0.8+ dsl_scan.c: spa_scrub_inflight against scn_maxinflight_bytes).
        """
        both = self is self.metadata.traversal and not self.window.counts_blocks
        return self.inflight + (self.shared.prefetch_bytes if both else 0) < self.window.limit

    def _has_room(self) -> bool:
        return self.shared.free_slots > 0 and self.fits()

    def _pool_is_busy(self) -> bool:
        """Tell whether clients were active lately (to 0.7: dsl_scan.c:dsl_scan_scrub_cb, zfs_scan_idle)."""
        return self.shared.now - self.shared.last_client <= self.shared.scan.idle_window_s

    def _wake_time(self) -> float:
        """Return when a sleep of some ticks ends: at a tick of the clock [s]."""
        rules = self.shared.scan
        return float((floor(self.shared.now / rules.tick_s) + rules.delay_ticks) * rules.tick_s)

    def _start(self, item: Item) -> None:
        shared = self.shared
        if shared.first_scan < 0.0:
            shared.first_scan = shared.now
        if shared.inflight_blocks == 0 and shared.idle_since >= 0.0:
            shared.idle_total += shared.now - shared.idle_since
        shared.inflight_blocks += 1
        shared.free_slots -= 1
        self.inflight += self._weight(item)
        self.issued_blocks += 1
        self.issued_bytes += item.psize
        self.issuing_s += shared.scan.issue_s
        self._work(shared.scan.issue_s)
        Block(shared, self.vdevs, self, item).start()

    def _work(self, seconds: float) -> None:
        """Need the processor for so long, after all that was to be done before [s]."""
        self.free_at = max(self.free_at, self.shared.now) + seconds

    def _weight(self, item: Item) -> int:
        return 1 if self.window.counts_blocks else item.psize

    def block_done(self, block: Block) -> None:
        """Open the window again: a block leaves it when its repair is done."""
        shared = self.shared
        self.inflight -= self._weight(block.item)
        shared.inflight_blocks -= 1
        shared.epoch_left -= block.epoch != shared.epoch
        shared.free_slots += 1
        shared.last_scan = shared.now
        if shared.inflight_blocks == 0:
            shared.idle_since = shared.now

    # Metadata.

    def _visit(self, item: Item) -> int:
        """Visit a metadata block: it must be in memory (dsl_scan.c:dsl_scan_recurse)."""
        shared = self.shared
        if item.metadata_state in (META_PRESENT, META_HELD):
            item.metadata_state = META_PRESENT
            if self.first_visit < 0.0:
                self.first_visit = shared.now
            self.last_visit = shared.now
            shared.visiting_s += shared.visit_s
            self._work(shared.visit_s)
            self.metadata.go_deeper(item)
            return STREAM_READY
        if shared.now >= shared.pause_at and not shared.scan.pause_level0_only:
            return STREAM_PAUSED
        if item.metadata_state != META_IN_FLIGHT:
            self.metadata.fetch(item)
        return STREAM_METADATA
