"""A sampled run: the beginning of the real one, then windows of what follows, in the same order of issue.

The metadata phase is run whole, and the issue begins as the real one does, txg by txg, until what is special
about its start is over.  The rest is simulated in windows, each behind blocks that bring the queues to where
they would be; slices, drains and the ends of transaction groups come as often as in the real run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant, whole_constant
from zsim.engine.codes import META_ABSENT, META_PRESENT, META_WANTED, STREAM_FINISHED
from zsim.engine.window import Window
from zsim.operation.blocks import KeptTables, ScanBlocks
from zsim.operation.control import Plane, Steps
from zsim.operation.pool import SimulatedPool
from zsim.operation.result import Slices, seconds_of
from zsim.operation.run import Run, RunResult, RunSetup, ScanSample, ScanStrategy
from zsim.operation.scans import LegacyScan, SortedScan
from zsim.operation.setup import plain_prefetch
from zsim.prediction.runs.sampling.operations import first_asked, operation_sums
from zsim.prediction.runs.sampling.rhythm import quiet_end
from zsim.prediction.runs.sampling.rounds import MetadataPhase, orders_in_rounds
from zsim.prediction.runs.sampling.sources import SampledEntries, SampledVisits
from zsim.prediction.runs.sampling.windows import CourseNotes, Period, SampledStream, WindowPlan, Windows
from zsim.prediction.statistics.sampling import Estimate, whole_from_windows, window_starts
from zsim.scan.program import OP_VISIT, Program
from zsim.scan.sorted import address_order, issue_program

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
HEAD_SLICES = whole_constant("sampling.head_slices")
MAIN = constant("sampling.main")
"""A stream is waited for in the beginning if it has less than this share of the longest one's operations."""
PARTS, MOST_PARTS = whole_constant("sampling.parts"), whole_constant("sampling.most_parts")
LEAST_WINDOW, WARM_BLOCKS = whole_constant("sampling.least_window"), whole_constant("sampling.warm_blocks")
MOST_SHARE = constant("sampling.most_share")
"""Of the rest: windows that would cover more, warming up included, are given up for all of it."""
LEGACY_JUMP, SORTED_JUMP = whole_constant("sampling.legacy_jump"), whole_constant("sampling.sorted_jump")
POINTS = 40


class SampledRun:
    """A run of which the issue is sampled.

    Parameters
    ----------
    setup : RunSetup
    plan : WindowPlan
    progress : callable, optional
        Called with simulated time and the share done.
    kept : KeptTables, optional
        What other runs have made of the same blocks.

    Attributes
    ----------
    run : Run
        What is simulated of it.
    visited_s : float
        Duration of the metadata phase that was run [s].
    head_s : float
        The beginning of the issue, with its txgs [s].
    rest : Estimate
        What follows.
    covered : float
        Share of what follows that lies in windows.
    crowded : bool
        Whether more windows would cover most of it: then all of it is better run anew, as a whole.
    complete : bool
        Whether all operations were simulated, so that nothing is estimated.
    """

    def __init__(
        self,
        setup: RunSetup,
        plan: WindowPlan,
        progress: Callable[[float, float], None] | None = None,
        kept: KeptTables | None = None,
    ) -> None:
        self.setup, self.plan = setup, plan
        self.sorted = setup.collects
        self.visited_s = self.head_s = 0.0
        self.visit_ends: list[float] = []
        self.periods: list[Period] = []
        self.streams: list[SampledStream] = []
        self.rest = Estimate(0.0, 0.0, 1, np.zeros(0))
        self.length = self.slice_operations = self.simulated = 0
        self._parts = PARTS // 2
        self.covered = 0.0
        self.crowded = self._nothing_left = False
        self.complete = False
        self.quiet_s: float | None = None
        self.counted: RunResult | None = None
        self._blocks = ScanBlocks(setup, kept=kept)
        self._items = self._blocks.items
        # In many tiles the few entries that the ends of txgs free are not missed.
        self._freeing = SampledEntries(self._blocks) if self.sorted and plan.times == 1.0 else None
        self.plane = self._blocks.plane()
        self._notes = CourseNotes(self.plane)
        self._servers = np.array([float(leaf.drive.parallel_commands) for leaf in setup.model.leaves])
        self.run = Run(setup, progress, work=self)
        self.run.pool.control.observer = self._notes

    def scan_on(self, pool: SimulatedPool) -> ScanStrategy:
        """Return the strategy: that of the whole pool for each txg, on what is loaded here."""
        self.pool, self.control = pool, pool.control
        self._scan: LegacyScan | SortedScan = LegacyScan(pool, self)
        if self.sorted:
            visits = SampledVisits(pool, self._blocks)
            visits.freeing = self._freeing
            self._scan = SortedScan(pool, visits, self.setup.blocks.allocated_bytes)
        return self

    def finish(self) -> RunResult:
        """Run to the end; return what the operation itself has counted."""
        found = self.run.execute()
        self.run.release()
        return self.counted or found

    def release(self) -> None:
        """Let go of the data plane, and of the strategy, which refers back here."""
        self.plane = self._notes.plane = cast("Plane", None)
        self._scan = cast("LegacyScan", None)

    @property
    def phases(self) -> Slices:
        """Slices of the scan [s]."""
        return self.pool.phases

    @property
    def slice_s(self) -> float:
        """How long the scan usually runs in a txg [s]."""
        return self.pool.usual_slice_s

    @property
    def known(self) -> bool:
        """Whether there is an estimate."""
        return self.complete or self.rest.cost.size > 0

    @property
    def time_s(self) -> float:
        """Estimated duration of the whole: metadata phase and issue, each with its txgs [s]."""
        return self.visit_s + self.issue_s

    @property
    def visit_s(self) -> float:
        """Duration of the metadata phase with its txgs, at the size of the pool [s].

        What was run, or of one of many tiles its slices times so many, each with the end of a txg.
        """
        if self.plan.visits == 1.0:
            return self.visited_s
        active = seconds_of(self.phases, "visit")
        # The first txg of a scan writes more, and comes once.
        end = float(np.mean(self.visit_ends[1:] or self.visit_ends[:1] or (0.0,)))
        end = min(end, self._mean_end()) if self.quiet_s is None else self.quiet_s
        return self.plan.visits * active * (1.0 + end / self.slice_s)

    @property
    def issue_s(self) -> float:
        """Estimated duration of the issue with its txgs [s].

        Its beginning as it was run, `whole_from_windows` of the rest, and what the last txg takes beyond its
        share.
        """
        return self.head_s + self.rest.total + self._last_txg()

    @property
    def half_width_s(self) -> float:
        """Half the 95 % interval of the duration, that of what follows the beginning [s]."""
        return self.rest.half_width

    def so_far(self) -> RunResult:
        """Return what an interrupted run has counted."""
        return self.counted or self.run.result()

    def share(self) -> float:
        """Return the share of the windows that are done."""
        if not self.streams or self.plan.operations == 0:
            return 0.0
        return min(1.0, self.simulated / self.plan.operations)

    def steps(self) -> Steps[None]:
        """Visit all metadata, then issue what is sampled."""
        blocks = self._blocks
        if not isinstance(self._scan, SortedScan):
            yield from self._issue_steps([blocks.walk], [blocks.pool_window])
            return
        yield from self._visit_steps(self._scan)
        assert blocks.queue is not None
        if (memory := self.plan.memory) is not None:
            known = MetadataPhase(self.plan.times, self.plan.visits, self.visit_s, self.slice_s)
            self._items, orders = orders_in_rounds(blocks, self.plane, memory, known)
        else:
            orders = [address_order(blocks.queue, vdev) for vdev in range(len(blocks.windows))]
        if self._freeing is not None:
            orders = [rows[~self._freeing.gone[rows]] for rows in orders]
        programs = [issue_program(blocks.queue, rows) for rows in orders]
        yield from self._issue_steps(programs, blocks.windows)

    def _visit_steps(self, scan: SortedScan) -> Steps[None]:
        """Run the metadata phase."""
        while True:
            yield from scan.visit()
            drained = self.pool.elapsed
            yield from self.control.sync()
            self.visit_ends.append(self.pool.elapsed - drained)
            scan.source.note_txg()
            if scan.source.visited_all:
                break
        self.visited_s = self.pool.elapsed

    def _issue_steps(self, programs: list[Program], limits: list[Window]) -> Steps[None]:
        self.limits = limits
        self._occupied = self._items.psize.copy()
        if self._blocks.queue is not None:
            self._occupied[self._blocks.queue.item] = self._blocks.queue.asize
        self.streams = [
            SampledStream(program, *self._columns(program, limit))
            for program, limit in zip(programs, limits, strict=True)
        ]
        if self.sorted:
            # What the plane needs it has by now.
            self._blocks.forget()
            del self._items
        yield from self._head()
        while not self._enough():
            self.crowded = self._crowded(2 * self._parts)
            if self.crowded:
                return
            self._parts *= 2
            before = self.simulated
            yield from self._measure([self._choose(number) for number in range(len(self.streams))])
            if 2 * self.simulated - before > self.most() or self._parts >= MOST_PARTS:
                return

    def _crowded(self, parts: int) -> bool:
        """Tell whether windows in so many parts would cover most of what there is."""
        each = self.length + 2 * self._warm(self._longest)
        stream = self.streams[self._longest]
        return parts * each > MOST_SHARE * (len(stream) - stream.head)

    def _columns(self, program: Program, limit: Window) -> tuple[F64, F64]:
        """Return what each operation counts in the window, and what is known of it, summed up before each."""
        jump = SORTED_JUMP if self.sorted else LEGACY_JUMP
        known = operation_sums(program, self._items, self._occupied, jump)
        return (known[:, 0] if limit.counts_blocks else known[:, 1]), known

    def begin(self) -> None:
        """Do nothing: what is sampled is loaded already."""

    def _period(self) -> Steps[None]:
        """Run one txg, and note its course."""
        first = self.control.txgs == 0 and not self.sorted
        begin = self.plane.now
        self._notes.begin()
        yield from self._scan.issue()
        drained, notes = self.plane.now, self._notes.end()
        done = self.control.finished(len(self.streams))
        yield from self.control.sync()
        self.periods.append(Period(begin, drained, self.plane.now, notes, not done and not first, done))

    def _head(self) -> Steps[None]:
        """Run the beginning, until the streams are done that are much shorter than the longest.

        Where windows would cover most of what follows, all of it is the beginning.
        """
        self._load([stream.program for stream in self.streams])
        begin = self.pool.elapsed
        self._longest = int(np.argmax([len(stream) for stream in self.streams]))
        short = [number for number in range(len(self.streams)) if not self._is_main(number)]
        whole = len(self.streams[self._longest]) <= self.plan.whole
        while True:
            yield from self._period()
            if self.control.finished(len(self.streams)):
                break
            self._drop_freed()
            over = all(self.plane.stream(number, "state") == STREAM_FINISHED for number in short)
            if over and len(self.periods) >= HEAD_SLICES and not whole:
                positions = self.plane.positions()
                for stream, position, first in zip(self.streams, positions, self._firsts, strict=False):
                    stream.head = position - first
                self.length = self._window_length()
                whole = self._crowded(PARTS)
                if not whole:
                    break
        self.head_s = self.pool.elapsed - begin
        if self.control.finished(len(self.streams)):
            yield from self._all_done()

    def _all_done(self) -> Steps[None]:
        """Take all that there is as simulated: nothing is to be estimated, or the other tiles alone."""
        if self.plan.times == 1.0 or self._left() == 0:
            self.complete = True
            return
        self.counted = self.run.result()
        self.quiet_s = yield from quiet_end(self.control, self._cached, [each.ended for each in self.periods])
        self.head_s = 0.0
        for stream in self.streams:
            stream.head = 0
        self._one_by_one(0)

    def _window_length(self) -> int:
        """Return how many operations a window has: what a slice does, unless that is more than may be run."""
        notes = self.periods[-1].notes
        self.slice_operations = int(notes[-1].position[self._longest] - notes[0].position[self._longest])
        warm = self._warm(self._longest)
        most = self.plan.operations // PARTS - 2 * warm + WARM_BLOCKS
        return max(LEAST_WINDOW, warm // 2, min(self.slice_operations, most))

    def _warm(self, number: int) -> int:
        """Return how many operations go before a window: what is in flight, and some more."""
        stream, limit = self.streams[number], self.limits[number]
        each = max(1.0, float(stream.work[-1])) / max(1, len(stream))
        return WARM_BLOCKS + int(limit.limit / each)

    def _load(self, programs: list[Program]) -> None:
        self._firsts = np.cumsum([0, *[len(program) for program in programs]])[:-1].tolist()
        self.plane.load_streams(programs, self.limits)

    def _drop_freed(self) -> None:
        """Take what the end of a txg frees out of what is not issued yet."""
        positions = self.plane.positions()
        done = [position - first for position, first in zip(positions, self._firsts, strict=False)]
        if self._freeing is None or not self._freeing.end_issue_txg(self.streams, done):
            return
        parts = zip(self.streams, done, strict=True)
        self._load([stream.program.part(np.arange(begin, len(stream))) for stream, begin in parts])
        self._firsts = [first - begin for first, begin in zip(self._firsts, done, strict=True)]

    def _left(self, streams: Sequence[SampledStream] | None = None) -> int:
        return sum(len(stream) - stream.head for stream in streams or self.streams)

    def _one_by_one(self, first: int) -> None:
        """Take all that was run behind the beginning as windows without anything between them."""
        left = min(len(each) - each.head for n, each in enumerate(self.streams) if self._is_main(n))
        self.length = max(1, left // PARTS)
        chosen = []
        for stream in self.streams:
            stream.found = []
            begins = self.length * np.arange((len(stream) - stream.head) // self.length)
            chosen.append(Windows(stream.head + begins, begins, np.arange(stream.head, len(stream))))
        self._take(chosen, first)
        self._nothing_left = True

    def _enough(self) -> bool:
        if self.complete or self._nothing_left:
            return True
        return self.known and self.half_width_s <= self.plan.precision * self.time_s

    def most(self) -> int:
        """Return how many operations may be simulated: more where the interval is wide."""
        wide = self.half_width_s > self.plan.wide * self.time_s
        return self.plan.most if wide else self.plan.operations

    def _some_more(self, stream: SampledStream, end: int) -> I64:
        """Return enough operations to fill the slice in which the last window ends."""
        more = np.arange(end, min(len(stream), end + self.slice_operations))
        before = np.arange(max(0, end - (self.slice_operations - len(more))), end)
        return np.concatenate((more, before))

    def _is_main(self, number: int) -> bool:
        return len(self.streams[number]) >= MAIN * len(self.streams[self._longest])

    def _choose(self, number: int) -> Windows:
        """Return windows of a stream, in the same parts of each; none of one that is over."""
        parts = self._parts
        stream = self.streams[number]
        if not self._is_main(number):
            nothing = np.zeros(0, np.int64)
            return Windows(nothing, nothing, nothing)
        taken = np.array([start for start, *_ in stream.found], np.int64)
        starts = window_starts(stream.head, len(stream), parts, self.length, taken, self.setup.seed + parts)
        warm = self._warm(number)
        pieces, begins, at = [], [], 0
        for start in starts.tolist():
            before = min(start, warm)
            # Behind it the scan goes on, or what is last in flight would have no successors to merge with.
            end = min(len(stream), start + self.length + warm - WARM_BLOCKS)
            pieces.append(np.arange(start - before, end))
            begins.append(at + before)
            at += before + end - start
        pieces.append(self._some_more(stream, end))
        rows = np.concatenate(pieces)
        self._skip_metadata(stream.program, pieces)
        return Windows(starts, np.array(begins, np.int64), rows)

    def _measure(self, chosen: list[Windows]) -> Steps[None]:
        """Simulate windows and note how long each takes; the last txg is a whole one."""
        self._load([s.program.part(each.rows) for s, each in zip(self.streams, chosen, strict=True)])
        first = len(self.periods)
        ends = [
            int(each.begins[-1]) + self.length if len(each.begins) and self._is_main(number) else 0
            for number, each in enumerate(chosen)
        ]
        while True:
            yield from self._period()
            done = np.array(self.plane.positions()[: len(chosen)]) - self._firsts
            if self.control.finished(len(self.streams)) or (
                self.periods[-1].whole and bool((done >= ends).all())
            ):
                break
        self.simulated += int(done.sum())
        self._take(chosen, first)

    def _take(self, chosen: list[Windows], first: int) -> None:
        """Note how long the windows loaded last took, in the periods since `first`, and estimate."""
        for number, windows in enumerate(chosen):
            if len(windows.starts) and self._is_main(number):
                self._found(number, windows, first)
        self._estimate()

    def _found(self, number: int, windows: Windows, first: int) -> None:
        stream, periods = self.streams[number], self.periods[first:]
        work = np.concatenate(([0.0], np.cumsum(np.diff(stream.work)[windows.rows])))
        clock, done, ends = self._course(number, work, periods)
        begins = np.interp(work[windows.begins], done, clock)
        seconds = np.interp(work[windows.begins + self.length], done, clock) - begins
        period = first + np.searchsorted(ends, begins + seconds / 2.0)
        stream.found += list(zip(windows.starts.tolist(), seconds.tolist(), period.tolist(), strict=True))
        stream.found.sort()

    def _course(self, number: int, work: F64, periods: list[Period]) -> tuple[F64, F64, F64]:
        """Return moments, the work done by then, and the ends of txgs, on a clock that does not stand still.

        A txg's own writes, the destaging of write caches with them, are spread over its slice and its drain:
        what the drain leaves to the end of the txg differs, the sum of both hardly does.
        """
        clock, done, ends, start = [np.zeros(1)], [np.zeros(1)], [], 0.0
        for period in periods:
            active = period.drained - period.begin
            spared = self._spared(number, work, period) if period.last else 0.0
            stretch = max(0.0, (period.end - period.begin - spared) / max(active, 1e-9))
            moments = np.array([each.moment for each in period.notes]) - period.begin
            place = np.array([each.position[number] for each in period.notes]) - self._firsts[number]
            flight = np.array([each.in_flight[number] for each in period.notes])
            clock.append(start + stretch * moments)
            done.append(work[place] - flight)
            start += stretch * active
            ends.append(start)
        course = np.maximum.accumulate(np.concatenate(done))
        course, rows = np.unique(course, return_index=True)
        return np.concatenate(clock)[rows], course, np.array(ends)

    def _spared(self, number: int, work: F64, period: Period) -> float:
        """Return how much less a short slice would take as a part of a whole one [s].

        The end of its txg is a whole one, which `_last_txg` counts.  Of a tile all counts that comes once a
        slice: what a txg writes of its own, and what is lost while the last blocks in flight are awaited.
        What the scan left in write caches is work of the slice, however short.
        """
        active = period.drained - period.begin
        if self.quiet_s is None:
            return self._mean_end() * max(0.0, 1.0 - active / self._mean_slice())
        issuing, idle = period.waited(number, work, self._firsts[number], self._servers)
        cached = period.ended - self.quiet_s
        part = (issuing + cached) / (self.pool.usual_slice_s + cached)
        return float((self.quiet_s + idle) * max(0.0, 1.0 - part))

    @property
    def _cached(self) -> bool:
        return self.setup.flushes

    def _last_txg(self) -> float:
        """Return what the end of the last txg has more than its share of the scan: half of it on average."""
        if self.complete:
            return 0.0
        return 0.5 * (self._mean_end() if self.quiet_s is None else self.quiet_s)

    def _mean_end(self) -> float:
        """Return how long a txg takes to end [s]."""
        full = self._full()
        return float(np.mean([each.ended for each in full])) if full else 0.0

    def _mean_slice(self) -> float:
        """Return how long a slice takes, drain included [s]."""
        full = self._full()
        return math.fsum(each.drained - each.begin for each in full) / len(full) if full else self.slice_s

    def _full(self) -> list[Period]:
        return [each for each in self.periods if each.whole] or self.periods

    def _estimate(self) -> None:
        """Estimate what follows the beginning: it is over when the last of the streams is."""
        main = [stream for stream in self.streams if stream.found]
        if not main:
            # The beginning was all there is: a pool with next to nothing on it.
            self.covered, self.rest = 1.0, Estimate(0.0, 0.0, 1, np.zeros(1))
            return
        count = sum(len(stream.found) for stream in main)
        self.covered = min(1.0, count * self.length / self._left(main))
        alike: dict[tuple[object, ...], list[SampledStream]] = {}
        for number, stream in enumerate(self.streams):
            if stream.found:
                alike.setdefault(self._hardware(number), []).append(stream)
        every = (each for streams in alike.values() for each in self._estimates(streams))
        self.rest = max(every, key=lambda each: each.total)

    def _hardware(self, number: int) -> tuple[object, ...]:
        """Return what the pace of a stream depends on beside its blocks: the drives of its vdev, by name."""
        if not self.sorted:
            return ()
        model = self.setup.model
        vdev = model.vdevs[number]
        read = [model.leaves[leaf] for leaf in vdev.read_leaf if leaf >= 0]
        links = [model.links[leaf.link].name for leaf in read if leaf.link >= 0]
        return vdev.kind, len(vdev.read_leaf), *sorted(leaf.name for leaf in read), *sorted(links)

    def _estimates(self, streams: Sequence[SampledStream]) -> Iterator[Estimate]:
        """Yield what each of some streams of like hardware takes: the windows of all tell of each."""
        seconds = np.array([each for stream in streams for _, each, _ in stream.found])
        periods = np.array([each for stream in streams for _, _, each in stream.found])
        known = []
        for stream in streams:
            starts = np.array([start for start, _, _ in stream.found])
            known.append(stream.known_at(starts + self.length) - stream.known_at(starts))
        covered = 0.0 if self.plan.times > 1.0 else self.covered
        for stream in streams:
            left = self.plan.times * len(stream) - stream.head
            yield whole_from_windows(
                seconds,
                np.concatenate(known),
                self.plan.times * stream.known[-1] - stream.known[stream.head],
                left / self.length,
                covered,
                periods,
            )

    def _skip_metadata(self, program: Program, pieces: list[I64]) -> None:
        """Take metadata as read, or asked for, that the scan has asked for before it comes to a window."""
        if self.sorted:
            return
        visit = np.flatnonzero(program.code == OP_VISIT)
        asked = first_asked(program, self._items, unbounded=self._unbounded)
        wanted = [np.zeros(0, np.int64)]
        for piece in pieces:
            if len(piece) == 0:
                continue
            first, last = np.searchsorted(visit, (piece[0], piece[-1] + 1))
            inside = program.item[visit[first:last]]
            inside = inside[~self._items.in_memory[inside]]
            self.plane.set_metadata(inside, META_ABSENT)
            early = inside[asked[inside] < piece[0]]
            self.plane.set_metadata(early, META_PRESENT if self._unbounded else META_WANTED)
            wanted.append(early)
        if not self._unbounded:
            self.plane.set_wanted(np.unique(np.concatenate(wanted)))

    @property
    def _unbounded(self) -> bool:
        return plain_prefetch(self.setup.release)

    def course(self, points: int = POINTS) -> list[ScanSample]:
        """Return the progress of the whole run at so many moments of its estimated time.

        Of the longest stream: times by the fitted cost of its operations, scaled to `issue_s` behind the
        metadata phase [s], and the bytes issued by then.
        """
        stream = self.streams[self._longest]
        places = np.linspace(0, len(stream), points).astype(np.int64)
        cost = self.rest.cost if self.rest.cost.size else np.ones(1)
        known = stream.known_at(places)[:, : len(cost)]
        seconds = (known - stream.known[0, : len(cost)]) @ cost
        seconds = seconds / max(seconds[-1], 1e-9) * self.issue_s + self.visit_s
        issued = known[:, 0] if len(cost) < 2 else stream.known[places, 1]
        return [
            ScanSample(moment, 0, int(each), "issue")
            for moment, each in zip(seconds.tolist(), issued.tolist(), strict=True)
        ]
