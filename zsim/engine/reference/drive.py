"""Drives and links of the reference engine: what happens to a command between leaf queue and completion.

Every server of a drive, every answer of a write cache and every link is a SimPy process that waits for what
it is at work on.  The physics are the scalar functions of `zsim.drives.physics.mechanics`, as in the
compiled one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from zsim.base.arrays import F64, I64
from zsim.drives.models.parameters import DriveParameters
from zsim.drives.physics.ailing import HealthRecord, ailing_time
from zsim.drives.physics.flash import flash_parts
from zsim.drives.physics.mechanics import (
    EXTRA_BUFFER,
    DriveRecord,
    extras_of,
    partial_sector_turns,
    positioning,
    rotational_wait,
    seek_and_wait,
    service_parts,
    track_angle,
    track_around,
    zone_of,
)
from zsim.drives.physics.readahead import NOT_AHEAD, buffered_read, keep_segment, read_so_far, reads_on
from zsim.drives.physics.smr import HEAD, reach_of_shingled, shingles_at_first, smr_idle, smr_parts
from zsim.engine.codes import (
    CACHE_ANSWERED,
    CACHE_DESTAGED,
    CACHE_NONE,
    CACHE_PENDING,
    SHORT_FORWARD,
)
from zsim.engine.leaf_rules import answer_time, crossing_time, fits_cache, waits_since
from zsim.engine.model import LinkModel
from zsim.engine.reference.clock import Clock, Signal, Steps
from zsim.engine.reference.state import Command, LeafState

Handle = Callable[[Command], None]
Parts = tuple[float, float, float, float]


class Ailments(NamedTuple):
    """Whether a drive ails, its record of HEALTH_DTYPE, all bad sectors, when its last errors were [s]."""

    ails: bool
    health: HealthRecord
    bad: I64
    failures: F64


class Link:
    """A shared link: the data of commands cross it in turn, or one drive at a time has it (command-based).

    Parameters
    ----------
    clock : Clock
    slot : int
    model : LinkModel
    deliver, finish : callable
        Take commands whose data have reached their drive, and the host.
    """

    def __init__(self, clock: Clock, slot: int, model: LinkModel, deliver: Handle, finish: Handle) -> None:
        self.clock, self.slot, self.model = clock, slot, model
        self.deliver, self.finish = deliver, finish
        self.parent: Link | None = None
        self.drives: list[Drive] = []
        self.crossing: deque[Command] = deque()
        self.free_at = 0.0
        self.busy = 0.0
        self.occupied = False
        self.joined = Signal(clock)
        clock.process(self.cross())

    def cross(self) -> Steps:
        """Process: let the data of one command after the other cross."""
        while True:
            if not self.crossing:
                yield self.joined.wait()
            yield self.clock.at(self.crossing[0].due, self.slot)
            self._crossed(self.crossing.popleft())

    def join(self, command: Command) -> None:
        """Queue a command's data for transfer, first come, first served."""
        duration = crossing_time(self.model.per_command_s, command.length, self.model.rate)
        command.due = max(self.free_at, self.clock.now) + duration
        self.free_at = command.due
        self.busy += duration
        self.crossing.append(command)
        self.joined.give()

    def _crossed(self, command: Command) -> None:
        """End a transfer: a read is at the host, a write at its drive, unless another link follows."""
        if self.parent is not None:
            self.parent.join(command)
        elif command.write:
            self.deliver(command)
        else:
            self.finish(command)

    def release(self) -> None:
        """Hand a command-based link to the drive behind it that has waited longest."""
        self.occupied = False
        waiting = [drive for drive in self.drives if drive.held and not drive.in_service]
        if waiting:
            first = min(waiting, key=lambda drive: waits_since(drive.state.ended, drive.held[0].arrived))
            first.start_services()


class Server:
    """What serves one command of a drive at a time: the arm of a disk, a channel of flash."""

    def __init__(self, drive: Drive, slot: int) -> None:
        self.drive, self.slot = drive, slot
        self.command: Command | None = None
        self.ends = 0.0
        self.begun = Signal(drive.clock)
        drive.clock.process(self.work())

    def work(self) -> Steps:
        """Process: serve one command after the other."""
        while True:
            if self.command is None:
                yield self.begun.wait()
            yield self.drive.clock.at(self.ends, self.slot)
            command, self.command = self.command, None
            assert command is not None
            self.drive.served(command)

    def begin(self, command: Command) -> None:
        """Begin a service: the arm moves, for a time that is known at once."""
        self.command = command
        self.ends = self.drive.clock.now + self.drive.service_time(command)
        self.begun.give()


class Drive:
    """A drive: what it holds, in which order it serves it, and its write cache.

    It takes its next command the moment the last one ends, from what it already holds.

    Parameters
    ----------
    clock : Clock
    number : int
        Of the leaf.
    parameters : DriveParameters
    record, rates : numpy record of DRIVE_DTYPE, ndarray of float64
        The same parameters as the physics take them.
    ailments : Ailments
    state : LeafState
    link : Link, optional
    finish : callable
        Told of commands that the host sees done.
    """

    def __init__(
        self,
        clock: Clock,
        number: int,
        parameters: DriveParameters,
        record: DriveRecord,
        rates: F64,
        ailments: Ailments,
        state: LeafState,
        link: Link | None,
        finish: Handle,
    ) -> None:
        self.ailments = ailments
        self.clock, self.number, self.parameters, self.state = clock, number, parameters, state
        self.record, self.rates, self.link, self.finish = record, rates, link, finish
        self.held: list[Command] = []
        self.unanswered: list[Command] = []
        self.flushed: Callable[[], None] | None = None
        self.segments = np.zeros((parameters.read_segments, 3), np.int64)
        self.shingles = shingles_at_first(parameters)
        self.servers: list[Server] = []
        if link is not None:
            link.drives.append(self)

    def start(self, first_slot: int, cache_slot: int) -> None:
        """Start the processes of the drive."""
        self.servers = [Server(self, first_slot + n) for n in range(self.parameters.parallel_commands)]
        self.cache_slot = cache_slot

    @property
    def in_service(self) -> int:
        """Commands in service."""
        return sum(server.command is not None for server in self.servers)

    @property
    def _waits_for_link(self) -> bool:
        return self.link is not None and self.link.model.command_based and self.link.occupied

    def submit(self, command: Command) -> None:
        """Take a command from the host; the data of a write cross a shared link first."""
        # A write may be answered from the cache before its service begins.
        command.submitted = command.started = self.clock.now
        if self.link is not None and command.write and not self.link.model.command_based:
            self.link.join(command)
        else:
            self.arrive(command)

    def arrive(self, command: Command) -> None:
        """Take a command into the drive; a write that fits the write-back cache is answered from there."""
        command.arrived = self.clock.now
        self.held.append(command)
        if command.write and self._fits_cache(command):
            self._cache(command)
        self.start_services()

    # Service.

    def start_services(self) -> None:
        """Let every idle server take a command."""
        while self.held and self.in_service < len(self.servers) and not self._waits_for_link:
            if self.link is not None and self.link.model.command_based:
                self.link.occupied = True
            server = next(server for server in self.servers if server.command is None)
            server.begin(self.held.pop(self._pick()))

    def _pick(self) -> int:
        """Return which of the held commands is served next."""
        drive, now = self.parameters, self.clock.now
        reach: Sequence[int] = range(min(len(self.held), drive.queue_depth))
        if len(reach) == 1 or drive.kind == "flash":
            return 0
        choice = self._choice(reach)
        may_be_cached = choice is reach or self.state.flushing
        reach = choice
        if drive.queue_policy == "fcfs":
            return reach[0]
        # Commands that somebody waits for age; those answered from the cache may be let lie.
        ages = (n for n in reach if drive.cached_writes_age or self.held[n].cache == CACHE_NONE)
        oldest = next(ages, None)
        if oldest is not None and now - self.held[oldest].arrived > drive.queue_max_age_s:
            return oldest
        if not (drive.write_coalescing and may_be_cached):
            return self._nearest(reach)
        if self.state.wrote_last and (following := self._cached_where(begin=self.state.head)) is not None:
            return following
        return self._first_of_extent(self._nearest(reach))

    def _nearest(self, reach: Sequence[int]) -> int:
        """Return which of some held commands comes first, by the policy of the drive."""
        if self.parameters.queue_policy == "c-look":
            head = self.state.head
            return min(reach, key=lambda place: (self.held[place].offset < head, self.held[place].offset))
        return min(reach, key=lambda place: self._positioning_time(self.held[place]))

    def _first_of_extent(self, place: int) -> int:
        """Return the write with which the extent begins that a cached write is part of."""
        while self.held[place].cache != CACHE_NONE:
            before = self._cached_where(end=self.held[place].offset)
            if before is None:
                break
            place = before
        return place

    def _cached_where(self, begin: int | None = None, end: int | None = None) -> int | None:
        """Return the oldest cached write that begins, or ends, at a byte."""
        for place, command in enumerate(self.held):
            is_there = command.offset == begin or command.offset + command.length == end
            if command.cache != CACHE_NONE and is_there:
                return place
        return None

    def _choice(self, reach: Sequence[int]) -> Sequence[int]:
        """Return the held commands that the drive chooses from.

        While it flushes, the cached writes: FLUSH CACHE EXT is not queued (no command of NCQ).  Where cached
        writes are destaged idly and have room, those that somebody waits for.
        """
        drive, state = self.parameters, self.state
        awaited = [place for place in reach if self.held[place].cache == CACHE_NONE]
        if state.flushing:
            return [place for place in reach if self.held[place].cache != CACHE_NONE] or reach
        has_room = 2 * state.cached <= drive.write_cache_bytes
        return awaited if drive.destage == "idle" and has_room and awaited else reach

    def _positioning_time(self, command: Command) -> float:
        """Return how long the drive needs to reach a command it holds [s]."""
        if self.parameters.smr_band_bytes > 0 and command.write:
            return reach_of_shingled(self.record, self.state.head, command.offset)
        rate = self.rates[zone_of(self.record, command.offset)]
        overhead = 0.0 if self.parameters.overhead_overlaps else self._full_overhead(command)
        at, head = self.clock.now + overhead, self.state.head
        seek, wait = positioning(self.record, rate, head, at, command.offset, command.write)
        return seek + wait

    def _full_overhead(self, command: Command) -> float:
        return self.parameters.write_overhead_s if command.write else self.parameters.read_overhead_s

    def _overhead(self, command: Command) -> float:
        """Return the command overhead that is left [s]: it may hide behind the previous service."""
        overhead = self._full_overhead(command)
        if self.parameters.overhead_overlaps:
            return max(0.0, overhead - (self.clock.now - command.arrived))
        return overhead

    def service_time(self, command: Command) -> float:
        """Return the service time of a command that begins now; move the head and count its parts.

        Parameters
        ----------
        command : Command
            What the drive has taken up.

        Returns
        -------
        float
            Overhead + seek + rotational wait + transfer + cleaning of shingled zones [s]; with what ails
            the drive, and on a command-based link with its overhead, the transfer no faster than the
            link.
        """
        now, state = self.clock.now, self.state
        command.started = now
        (overhead, seek, wait, transfer), cleaning, head = self._parts(command, self._overhead(command))
        state.wrote_last = int(command.write)
        in_turns = self.link is not None and self.link.model.command_based
        if self.link is not None and in_turns:
            transfer = max(transfer, command.length / self.link.model.rate)
        duration = overhead + seek + wait + transfer + cleaning
        if self.ailments.ails:
            duration = self._ailing(command, wait, duration)
        if self.link is not None and in_turns:
            duration += self.link.model.per_command_s
            self.link.busy += duration
        self._count_gap(command.offset - state.head)
        state.head = head
        state.cleaning += cleaning
        state.overhead += overhead
        state.seek += seek
        state.wait += wait
        state.transfer += transfer
        state.busy += duration
        state.free_at = now + duration
        return duration

    def _ailing(self, command: Command, wait: float, sound: float) -> float:
        """Return how long an ailing drive is busy with a command that would take `sound` [s]."""
        _, health, bad, failures = self.ailments
        waits = wait if self.parameters.kind == "flash" else 0.0
        what = (command.offset, command.length, command.write, len(command.children))
        return ailing_time(health, bad, failures, self.clock.now, *what, waits, sound)

    def _in_place(self, command: Command, head: int, at: float, overhead: float) -> Parts:
        """Return overhead, seek, wait and transfer of a command served in its place on the medium [s]."""
        follows, followed = self._known_edges(command, head)
        return service_parts(
            self.record,
            self.rates,
            head,
            at,
            overhead,
            command.offset,
            command.length,
            command.write,
            follows,
            followed,
        )

    def _known_edges(self, command: Command, head: int) -> tuple[bool, bool]:
        """Tell whether the sectors at the edges of a write need not be read; if so, all of its track's are.

        They need not if the write goes on in them, or if they came by in the turn that another has paid for.
        """
        drive, offset = self.parameters, command.offset
        emulated = drive.physical_sector_bytes > drive.logical_sector_bytes
        if not command.write or not emulated or command.fetched:
            return True, True
        follows = bool(self.state.wrote_last) and head == offset
        followed = self._is_continued(command)
        turns = partial_sector_turns(self.record, offset, command.length, True, follows, followed)
        if turns > 0.0 and drive.write_cache_bytes > 0:
            rate = self.rates[zone_of(self.record, offset)]
            angle = track_angle(self.record, rate, offset)
            low, high = track_around(self.record, rate, angle, offset)
            for other in self.held:
                other.fetched |= other.write and low <= other.offset < high
        return follows, followed

    # What a drive has beyond its mechanics.

    def _parts(self, command: Command, overhead: float) -> tuple[Parts, float, int]:
        """Return the parts of a service, the cleaning it waits for [s], and the head after it."""
        now, state, drive = self.clock.now, self.state, self.parameters
        end = command.offset + command.length
        if not extras_of(drive):
            return self._in_place(command, state.head, now, overhead), 0.0, end
        if drive.kind == "flash":
            latency, wait, transfer, state.slc_used = flash_parts(
                self.record,
                state.slc_used,
                state.free_at,
                now,
                overhead,
                state.drawn,
                command.length,
                command.write,
            )
            state.drawn += 1
            return (latency, 0.0, wait, transfer), 0.0, end
        cleaning = self._clean_when_idle() if drive.smr_band_bytes else 0.0
        if not command.write:
            parts, head = self._read(command, now + cleaning, overhead)
            return parts, cleaning, head
        head = self._stop_reading_ahead(now + cleaning)
        if not drive.smr_band_bytes:
            return self._in_place(command, head, now, overhead), 0.0, end
        parts, more = self._write_shingled(command, head, overhead)
        # The persistent cache lies at the outer edge.
        return parts, cleaning + more, max(int(self.shingles[0][HEAD]), 0)

    def _clean_when_idle(self) -> float:
        """Clean bands in the idle time that ends now; return how long the drive is still at it [s]."""
        idle = self.clock.now - self.state.free_at
        idle_before = self.parameters.smr_idle_s
        return smr_idle(self.record, self.rates, self.shingles, self._smr_sizes, idle_before, idle)

    @property
    def _smr_sizes(self) -> tuple[int, int, int]:
        drive = self.parameters
        return drive.smr_band_bytes, drive.smr_cache_bytes, drive.smr_cached_writes

    def _write_shingled(self, command: Command, head: int, overhead: float) -> tuple[Parts, float]:
        if not self.state.wrote_last:
            self.shingles[0][HEAD] = head
        again = self.parameters.smr_reduced and not command.scan
        cleaning, reach, transfer = smr_parts(
            self.record, self.rates, self.shingles, self._smr_sizes, command.offset, command.length, again
        )
        return (overhead, reach, 0.0, transfer), cleaning

    def _stop_reading_ahead(self, at: float) -> int:
        """Store what has been read ahead, before the arm moves; return where the head stands."""
        state, size = self.state, self.parameters.read_pass_under_bytes
        if state.ahead_since < 0.0:
            return state.head
        rate = self.rates[zone_of(self.record, state.head)]
        reached = read_so_far(state.head, state.ahead_since, at, size, rate)
        state.ahead_clock += 1
        state.ahead_since = -1.0
        keep_segment(self.segments, state.head, reached, size, state.ahead_clock)
        return reached

    def _read(self, command: Command, at: float, overhead: float) -> tuple[Parts, int]:
        """Return the parts of a read's service [s] and the head after it."""
        state, drive, end = self.state, self.parameters, command.offset + command.length
        if not extras_of(drive) & EXTRA_BUFFER:
            return self._in_place(command, state.head, at, overhead), end
        begin, size = at + overhead, drive.read_pass_under_bytes
        rate = self.rates[zone_of(self.record, command.offset)]
        state.ahead_clock += 1
        done, head, state.ahead_since = buffered_read(
            self.segments,
            state.head,
            state.ahead_since,
            begin,
            command.offset,
            command.length,
            size,
            rate,
            drive.interface_rate,
            state.ahead_clock,
        )
        if done != NOT_AHEAD:
            if state.ahead_since < 0.0 and reads_on(head, end, size):
                angle = track_angle(self.record, self.rates[zone_of(self.record, head)], head)
                state.ahead_since = begin + rotational_wait(self.record, angle, begin)
            return (overhead, 0.0, 0.0, done - begin), head
        angle = track_angle(self.record, rate, command.offset)
        seek, wait = seek_and_wait(self.record, angle, head, begin, command.offset, False)
        transfer = command.length / rate
        state.ahead_since = begin + seek + wait + transfer
        keep_segment(self.segments, command.offset, end, size, state.ahead_clock)
        return (overhead, seek, wait, transfer), end

    def _is_continued(self, command: Command) -> bool:
        """Tell whether a write in the drive goes on in the physical sector in which `command` ends."""
        drive, end = self.parameters, command.offset + command.length
        sector = drive.physical_sector_bytes
        reach, sector_end = self.held[: drive.queue_depth], -(-end // sector) * sector
        return any(other.write and end <= other.offset <= sector_end for other in reach)

    def _count_gap(self, gap: int) -> None:
        self.state.sequential += gap == 0
        self.state.forward += 0 <= gap <= SHORT_FORWARD

    def served(self, command: Command) -> None:
        """End a service: go on with what is held, then tell the host.

        Parameters
        ----------
        command : Command
            A cached write was told already, and is written out now; a read joins the link that its drive
            shares, unless a multiplier of commands has that until the end of the service.
        """
        self.state.ended = self.clock.now
        if self.link is not None and self.link.model.command_based:
            self.link.release()
        else:
            self.start_services()
        if command.cache != CACHE_NONE:
            self._destaged(command)
        elif self.link is not None and not command.write and not self.link.model.command_based:
            self.link.join(command)
        else:
            self.finish(command)

    # Write cache.

    def flush(self, flushed: Callable[[], None]) -> bool:
        """Begin to flush the write cache if there is something in it; tell whether there is."""
        if not self.parameters.flush_each_txg or self.state.cached == 0:
            return False
        self.state.flushing, self.flushed = 1, flushed
        return True

    def _fits_cache(self, command: Command) -> bool:
        state, size = self.state, self.parameters.write_cache_bytes
        return fits_cache(command.length, state.cached, len(self.held), size, bool(state.flushing))

    def _admit(self) -> None:
        """Take writes into the cache that found it full, the oldest first, as far as there is room."""
        for command in self.held:
            if command.write and command.cache == CACHE_NONE:
                if not self._fits_cache(command):
                    return
                self._cache(command)

    def _cache(self, command: Command) -> None:
        self.state.cached += command.length
        command.cache = CACHE_PENDING
        drive = self.parameters
        now, overhead = self.clock.now, drive.write_overhead_s
        command.due = answer_time(now, overhead, command.length, drive.interface_rate)
        self.unanswered.append(command)
        self.clock.process(self._answer(command))

    def _answer(self, command: Command) -> Steps:
        """Process: answer a cached write as soon as its data are here; the host sees it done."""
        yield self.clock.at(command.due, self.cache_slot)
        self.unanswered.remove(command)
        command.cache = CACHE_ANSWERED
        self.finish(command)

    def _destaged(self, command: Command) -> None:
        self.state.cached -= command.length
        if self.parameters.write_coalescing:
            self._admit()
        if self.state.flushing and self.state.cached == 0 and self.flushed is not None:
            self.state.flushing = 0
            self.flushed()
        if command.cache == CACHE_PENDING:
            command.cache = CACHE_DESTAGED
