"""Drives and links: what happens to a command between the leaf queue and its completion.

A drive takes its next command the moment the last one ends, from what it already holds: the host has not
reacted yet (seen in every emulated-drive trace, and DiskSim's rule too).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zsim.drives.flash import flash_parts
from zsim.drives.mechanics import (
    EXTRA_BUFFER,
    EXTRA_FLASH,
    EXTRA_SHINGLED,
    KIND_FLASH,
    POLICY_CLOOK,
    POLICY_FCFS,
    partial_sector_turns,
    reach_time,
    rotational_wait,
    seek_and_wait,
    service_at,
    track_angle,
    track_around,
    zone_of,
)
from zsim.drives.readahead import NOT_AHEAD, buffered_read, keep_segment, read_so_far, reads_on
from zsim.drives.smr import HEAD, reach_of_shingled, smr_idle, smr_parts
from zsim.engine.memory import (
    CACHE_ANSWERED,
    CACHE_DESTAGED,
    CACHE_NONE,
    CACHE_PENDING,
    HELD_CAPACITY,
    N_LEAVES,
    N_LINKS,
    N_SERVERS,
    acknowledge_of,
    begin_of_held,
    commands_of,
    drives_of,
    event_commands_of,
    event_times_of,
    general_of,
    held_of,
    leaves_of,
    links_of,
    rates_of,
    segments_of,
    shingles_of,
)
from zsim.jit import njit

FOREVER = np.inf
SHORT_FORWARD = 512 * 1024
# Writes a drive's cache can keep track of.
ANY, AWAITED, CACHED = range(3)
MAX_CACHED = 4096


@njit
def link_slot(table: Any, link: int) -> int:
    """Return the event slot of a link."""
    return int(table[N_LEAVES] * table[N_SERVERS] + link)


@njit
def cache_slot(table: Any, leaf: int) -> int:
    """Return the event slot of a drive's write cache."""
    return int(table[N_LEAVES] * table[N_SERVERS] + table[N_LINKS] + leaf)


@njit
def positioning_cost(drive: Any, command: Any, head: int, at: float, bound: float) -> float:
    """Return how long a drive needs to reach a command it holds, or a time not below `bound` [s]."""
    if drive.band > 0 and command.write != 0:
        return reach_of_shingled(drive, head, command.offset)
    overhead = 0.0
    if drive.overhead_overlaps == 0:
        overhead = drive.write_overhead if command.write else drive.read_overhead
    is_write = command.write != 0
    return reach_time(
        drive, command.rate, command.angle, head, at + overhead, command.offset, is_write, bound
    )


@njit
def pick_held(table: Any, leaf: int, at: float) -> int:
    """Return the place of the held command a drive serves next (FCFS, C-LOOK or SPTF with an age limit)."""
    drive, state, held, commands = (
        drives_of(table)[leaf],
        leaves_of(table)[leaf],
        held_of(table, leaf),
        commands_of(table),
    )
    count = min(state.held, drive.queue_depth)
    if count == 1 or drive.kind == KIND_FLASH:
        return 0
    kind = _kind_to_serve(table, leaf, count)
    if drive.queue_policy == POLICY_FCFS:
        return _first_of(table, leaf, kind)
    # The oldest command that somebody waits for; those answered from the cache may be let lie.
    for place in range(count):
        command = commands[held[place]]
        if _is_of(command, kind) and (command.cache == CACHE_NONE or drive.cache_ages != 0):
            if at - command.arrived > drive.queue_max_age:
                return place
            break
    if drive.queue_policy == POLICY_CLOOK:
        return _clook(table, leaf, count, kind)
    best, best_cost = 0, FOREVER
    for place in range(count):
        if not _is_of(commands[held[place]], kind):
            continue
        cost = positioning_cost(drive, commands[held[place]], state.head, at, best_cost)
        if cost < best_cost:
            best, best_cost = place, cost
    return best


@njit
def _is_of(command: Any, kind: int) -> bool:
    """Tell whether a held command is one of those that the drive chooses from."""
    return kind == ANY or (command.cache == CACHE_NONE) == (kind == AWAITED)


@njit
def _first_of(table: Any, leaf: int, kind: int) -> int:
    """Return the place of the oldest held command of a kind; there is one."""
    held, commands, place = held_of(table, leaf), commands_of(table), 0
    while not _is_of(commands[held[place]], kind):
        place += 1
    return place


@njit
def _kind_to_serve(table: Any, leaf: int, count: int) -> int:
    """Return which of the held commands a drive chooses from.

    While it flushes, the cached writes: FLUSH CACHE EXT is not queued, so nothing else is taken up beside it
    (no command of NCQ).  Where cached writes are destaged idly and have room, those that somebody waits for.
    """
    drive, state = drives_of(table)[leaf], leaves_of(table)[leaf]
    held, commands = held_of(table, leaf), commands_of(table)
    awaited = 0
    for place in range(count):
        awaited += 1 if commands[held[place]].cache == CACHE_NONE else 0
    if state.flushing != 0 and awaited < count:
        return CACHED
    has_room = 2 * state.cached <= drive.cache_bytes
    return AWAITED if drive.destage != 0 and state.flushing == 0 and has_room and awaited > 0 else ANY


@njit
def _clook(table: Any, leaf: int, count: int, kind: int) -> int:
    held, commands, head = held_of(table, leaf), commands_of(table), leaves_of(table)[leaf].head
    above, lowest = -1, -1
    for place in range(count):
        if not _is_of(commands[held[place]], kind):
            continue
        offset = commands[held[place]].offset
        if offset >= head and (above < 0 or offset < commands[held[above]].offset):
            above = place
        if lowest < 0 or offset < commands[held[lowest]].offset:
            lowest = place
    return above if above >= 0 else lowest


@njit
def _overhead(drive: Any, command: Any, at: float) -> float:
    overhead = drive.write_overhead if command.write else drive.read_overhead
    if drive.overhead_overlaps != 0:
        overhead = max(0.0, overhead - (at - command.arrived))
    return float(overhead)


@njit
def _count_gap(state: Any, offset: int) -> None:
    gap = offset - state.head
    if gap == 0:
        state.sequential += 1
    if 0 <= gap <= SHORT_FORWARD:
        state.forward += 1


@njit
def _is_continued(table: Any, leaf: int, command: Any) -> bool:
    """Tell whether a write that the drive holds goes on in the physical sector in which `command` ends."""
    drive = drives_of(table)[leaf]
    held, commands, end = held_of(table, leaf), commands_of(table), command.offset + command.length
    sector_end = (end + drive.physical_sector - 1) // drive.physical_sector * drive.physical_sector
    for place in range(min(leaves_of(table)[leaf].held, drive.queue_depth)):
        other = commands[held[place]]
        if other.write != 0 and end <= other.offset and other.offset <= sector_end:
            return True
    return False


@njit
def _fetch_track(table: Any, leaf: int, command: Any) -> None:
    """Note that the sectors which held writes cover in part are read: those on the track of `command`.

    A drive without a write cache executes one write after the other.
    """
    if drives_of(table)[leaf].cache_bytes == 0:
        return
    drive, held, commands = drives_of(table)[leaf], held_of(table, leaf), commands_of(table)
    low, high = track_around(drive, command.rate, command.angle, command.offset)
    for place in range(leaves_of(table)[leaf].held):
        other = commands[held[place]]
        if other.write != 0 and low <= other.offset < high:
            other.fetched = 1


@njit
def _known_edges(table: Any, leaf: int, command: Any, head: int) -> tuple[bool, bool]:
    """Tell whether the sectors at the edges of a write need not be read; if so, all of its track's are.

    They need not if the write goes on in them, or if they came by in the turn that another has paid for.
    """
    drive = drives_of(table)[leaf]
    if command.write == 0 or drive.physical_sector <= drive.logical_sector or command.fetched != 0:
        return True, True
    follows = leaves_of(table)[leaf].wrote_last != 0 and head == command.offset
    followed = _is_continued(table, leaf, command)
    if partial_sector_turns(drive, command.offset, command.length, True, follows, followed) > 0.0:
        _fetch_track(table, leaf, command)
    return follows, followed


@njit
def _in_place(
    table: Any, leaf: int, command: Any, head: int, at: float, overhead: float
) -> tuple[float, float, float, float]:
    """Return overhead, seek, wait and transfer of a command served in its place on the medium [s]."""
    follows, followed = _known_edges(table, leaf, command, head)
    return service_at(
        drives_of(table)[leaf],
        command.rate,
        command.angle,
        head,
        at,
        overhead,
        command.offset,
        command.length,
        command.write != 0,
        follows,
        followed,
    )


@njit
def _serve_specially(
    table: Any, leaf: int, command: Any, at: float
) -> tuple[tuple[float, float, float, float], float, int]:
    """Return the parts of a service, the cleaning it waits for [s], and the head after it.

    For drives with more than mechanics: a read-ahead buffer, shingles, a channel or a fast region of flash.
    """
    drive, state = drives_of(table)[leaf], leaves_of(table)[leaf]
    overhead = _overhead(drive, command, at)
    end = command.offset + command.length
    if drive.extras & EXTRA_FLASH:
        latency, wait, transfer, state.slc_used = flash_parts(
            drive,
            state.slc_used,
            state.free_at,
            at,
            overhead,
            state.drawn,
            command.length,
            command.write != 0,
        )
        state.drawn += 1
        return (latency, 0.0, wait, transfer), 0.0, end
    cleaning = 0.0
    if drive.extras & EXTRA_SHINGLED:
        sizes = (drive.band, drive.smr_cache, drive.smr_writes)
        idle = at - state.free_at
        cleaning = smr_idle(
            drive, rates_of(table, leaf), shingles_of(table, leaf), sizes, drive.smr_idle, idle
        )
    if command.write == 0:
        parts, head = _read_with_buffer(table, leaf, command, at + cleaning, overhead)
        return parts, cleaning, head
    head = _stop_reading_ahead(table, leaf, at + cleaning)
    if drive.extras & EXTRA_SHINGLED:
        shingles, sizes = shingles_of(table, leaf), (drive.band, drive.smr_cache, drive.smr_writes)
        if state.wrote_last == 0:
            shingles[0][HEAD] = head
        more, reach, transfer = smr_parts(
            drive, rates_of(table, leaf), shingles, sizes, command.offset, command.length
        )
        # The persistent cache lies at the outer edge.
        return (overhead, reach, 0.0, transfer), cleaning + more, max(shingles[0][HEAD], 0)
    return _in_place(table, leaf, command, head, at, overhead), 0.0, end


@njit
def _stop_reading_ahead(table: Any, leaf: int, at: float) -> int:
    """Store what has been read ahead, before the arm moves; return where the head stands."""
    drive, state = drives_of(table)[leaf], leaves_of(table)[leaf]
    if state.ahead_since < 0.0:
        return int(state.head)
    rate = rates_of(table, leaf)[zone_of(drive, state.head)]
    reached = read_so_far(state.head, state.ahead_since, at, drive.read_pass_under, rate)
    state.ahead_clock += 1
    state.ahead_since = -1.0
    keep_segment(segments_of(table, leaf), state.head, reached, drive.read_pass_under, state.ahead_clock)
    return int(reached)


@njit
def _read_with_buffer(
    table: Any, leaf: int, command: Any, at: float, overhead: float
) -> tuple[tuple[float, float, float, float], int]:
    """Return the parts of a read's service [s] and the head after it; a stream comes from the buffer."""
    drive, state = drives_of(table)[leaf], leaves_of(table)[leaf]
    end = command.offset + command.length
    if drive.extras & EXTRA_BUFFER == 0:
        return _in_place(table, leaf, command, state.head, at, overhead), end
    segments, begin = segments_of(table, leaf), at + overhead
    state.ahead_clock += 1
    done, head, state.ahead_since = buffered_read(
        segments,
        state.head,
        state.ahead_since,
        begin,
        command.offset,
        command.length,
        drive.read_pass_under,
        command.rate,
        drive.interface_rate,
        state.ahead_clock,
    )
    if done != NOT_AHEAD:
        if state.ahead_since < 0.0 and reads_on(head, end, drive.read_pass_under):
            rate = rates_of(table, leaf)[zone_of(drive, head)]
            state.ahead_since = begin + rotational_wait(drive, track_angle(drive, rate, head), begin)
        return (overhead, 0.0, 0.0, done - begin), head
    seek, wait = seek_and_wait(drive, command.angle, head, begin, command.offset, False)
    transfer = command.length / command.rate
    state.ahead_since = begin + seek + wait + transfer
    keep_segment(segments, command.offset, end, drive.read_pass_under, state.ahead_clock)
    return (overhead, seek, wait, transfer), end


@njit
def _serve(table: Any, leaf: int, server: int, place: int, at: float) -> None:
    drive, state, held = drives_of(table)[leaf], leaves_of(table)[leaf], held_of(table, leaf)
    number = held[place]
    # Those that came before it move up: it is one of the oldest, of maybe thousands.
    for step in range(place, 0, -1):
        held[step] = held[step - 1]
    state.held -= 1
    begin_of_held(table, leaf)[0] += 1
    state.in_service += 1
    command = commands_of(table)[number]
    command.started = at
    head, cleaning = command.offset + command.length, 0.0
    if drive.extras == 0:
        parts = _in_place(table, leaf, command, state.head, at, _overhead(drive, command, at))
    else:
        parts, cleaning, head = _serve_specially(table, leaf, command, at)
        state.cleaning += cleaning
    transfer = parts[3]
    in_turns = state.link >= 0 and links_of(table)[state.link].command_based != 0
    if in_turns:
        transfer = max(transfer, command.length / links_of(table)[state.link].rate)
    duration = parts[0] + parts[1] + parts[2] + transfer + cleaning
    state.wrote_last = command.write
    if in_turns:
        duration += links_of(table)[state.link].per_command
        links_of(table)[state.link].busy += duration
    _count_gap(state, command.offset)
    state.head = head
    state.overhead += parts[0]
    state.seek += parts[1]
    state.wait += parts[2]
    state.transfer += transfer
    state.busy += duration
    state.free_at = at + duration
    slot = leaf * table[N_SERVERS] + server
    event_times_of(table)[slot] = at + duration
    event_commands_of(table)[slot] = number


@njit
def start_services(table: Any, leaf: int, at: float) -> None:
    """Let every idle server of a drive take a command it holds."""
    drive, state = drives_of(table)[leaf], leaves_of(table)[leaf]
    while state.held > 0 and state.in_service < drive.parallel:
        if state.link >= 0:
            link = links_of(table)[state.link]
            if link.command_based != 0:
                if link.occupied != 0:
                    return
                link.occupied = 1
        times = event_times_of(table)
        server = 0
        while times[leaf * table[N_SERVERS] + server] != FOREVER:
            server += 1
        _serve(table, leaf, server, pick_held(table, leaf, at), at)


@njit
def release_command_based(table: Any, link_number: int, at: float) -> None:
    """Hand a command-based link to the drive behind it that has waited longest.

    A drive waits from its first command, or from the end of its last turn: drives with work take turns.
    """
    links_of(table)[link_number].occupied = 0
    leaves, commands = leaves_of(table), commands_of(table)
    best, best_time = -1, 0.0
    for leaf in range(table[N_LEAVES]):
        state = leaves[leaf]
        if state.link == link_number and state.held > 0 and state.in_service == 0:
            since = max(state.ended, commands[held_of(table, leaf)[0]].arrived)
            if best < 0 or since < best_time:
                best, best_time = leaf, since
    if best >= 0:
        start_services(table, best, at)


@njit
def hold(table: Any, leaf: int, number: int) -> None:
    """Put a command behind those that a drive holds."""
    state, begin = leaves_of(table)[leaf], begin_of_held(table, leaf)
    if begin[0] + state.held == table[HELD_CAPACITY]:
        first = begin[0]
        begin[0] = 0
        held = held_of(table, leaf)
        for step in range(state.held):
            held[step] = held[first + step]
    held_of(table, leaf)[state.held] = number
    state.held += 1


@njit
def arrive(table: Any, number: int, at: float) -> None:
    """Put a command into its drive; a write that fits the write-back cache is answered from there."""
    command = commands_of(table)[number]
    leaf = command.leaf
    drive, state = drives_of(table)[leaf], leaves_of(table)[leaf]
    command.arrived = at
    command.fetched = 0
    if drive.kind != KIND_FLASH:
        command.rate = rates_of(table, leaf)[zone_of(drive, command.offset)]
        command.angle = track_angle(drive, command.rate, command.offset)
    hold(table, leaf, number)
    room = state.cached + command.length <= drive.cache_bytes and state.held < MAX_CACHED
    if command.write != 0 and drive.cache_bytes > 0 and room and state.flushing == 0:
        state.cached += command.length
        command.cache = CACHE_PENDING
        command.due = at + drive.write_overhead + command.length / drive.interface_rate
        acknowledge_of(table, leaf)[state.acknowledging] = number
        state.acknowledging += 1
        slot = cache_slot(table, leaf)
        event_times_of(table)[slot] = min(event_times_of(table)[slot], command.due)
    start_services(table, leaf, at)


@njit
def answer_cached(table: Any, leaf: int) -> int:
    """Return the cached write whose answer is due, and set the time of the next one."""
    state, waiting, commands = leaves_of(table)[leaf], acknowledge_of(table, leaf), commands_of(table)
    first = 0
    for place in range(1, state.acknowledging):
        if commands[waiting[place]].due < commands[waiting[first]].due:
            first = place
    number = waiting[first]
    for step in range(first, state.acknowledging - 1):
        waiting[step] = waiting[step + 1]
    state.acknowledging -= 1
    due = FOREVER
    for place in range(state.acknowledging):
        due = min(due, commands[waiting[place]].due)
    event_times_of(table)[cache_slot(table, leaf)] = due
    return int(number)


@njit
def flush_cache(table: Any, leaf: int) -> bool:
    """Begin to flush a drive's write cache if there is something in it; tell whether there is."""
    state = leaves_of(table)[leaf]
    if drives_of(table)[leaf].flush_each_txg == 0 or state.cached == 0:
        return False
    state.flushing = 1
    return True


@njit
def join_link(table: Any, link_number: int, number: int, at: float) -> None:
    """Queue a command's data for transfer over a shared link (first come, first served)."""
    link, command = links_of(table)[link_number], commands_of(table)[number]
    duration = link.per_command + command.length / link.rate
    command.due = max(link.free_at, at) + duration
    link.free_at = command.due
    link.busy += duration
    command.next = -1
    if link.first < 0:
        link.first = number
        event_times_of(table)[link_slot(table, link_number)] = command.due
    else:
        commands_of(table)[link.last].next = number
    link.last = number


@njit
def leave_link(table: Any, link_number: int) -> int:
    """Return the command whose transfer over a link ends now, and set the time of the next one."""
    link, commands = links_of(table)[link_number], commands_of(table)
    number = link.first
    link.first = commands[number].next
    following = FOREVER if link.first < 0 else commands[link.first].due
    event_times_of(table)[link_slot(table, link_number)] = following
    return int(number)


@njit
def submit(table: Any, number: int, at: float) -> None:
    """Send a command towards its drive: writes cross a shared link first."""
    command = commands_of(table)[number]
    state = leaves_of(table)[command.leaf]
    # A write may be answered from the cache before its service begins.
    command.submitted = command.started = at
    command.cache = CACHE_NONE
    if state.link >= 0 and command.write != 0 and links_of(table)[state.link].command_based == 0:
        join_link(table, state.link, number, at)
    else:
        arrive(table, number, at)


@njit
def end_service(table: Any, slot: int) -> int:
    """End the service in an event slot; return what is to be done with its command.

    Returns the number of the command if the host sees it done now, -1 if nothing is to be done, and
    -2 - number if a write that was answered long ago may be forgotten.

    The drive goes on with what it holds before the host hears of the end.  A read behind a shared link still
    has to cross it; a write answered from the cache just leaves the cache.
    """
    at = general_of(table)[0].now
    servers = table[N_SERVERS]
    leaf = slot // servers
    number = event_commands_of(table)[slot]
    event_times_of(table)[slot] = FOREVER
    command, state = commands_of(table)[number], leaves_of(table)[leaf]
    state.in_service -= 1
    state.ended = at
    link = state.link
    if link >= 0 and links_of(table)[link].command_based != 0:
        release_command_based(table, link, at)
    else:
        start_services(table, leaf, at)
    if command.cache == CACHE_NONE:
        if link >= 0 and command.write == 0 and links_of(table)[link].command_based == 0:
            join_link(table, link, number, at)
            return -1
        return int(number)
    state.cached -= command.length
    if state.flushing != 0 and state.cached == 0:
        state.flushing = 0
        general_of(table)[0].group_left -= 1
    if command.cache == CACHE_PENDING:
        command.cache = CACHE_DESTAGED
        return -1
    return -2 - int(number)


@njit
def end_link(table: Any, link_number: int) -> int:
    """End a transfer over a link; return the command if the host sees it done, else -1.

    The data of a write have reached their drive, unless another link lies in between.
    """
    number = leave_link(table, link_number)
    parent = links_of(table)[link_number].parent
    at = general_of(table)[0].now
    if parent >= 0:
        join_link(table, parent, number, at)
    elif commands_of(table)[number].write != 0:
        arrive(table, number, at)
    else:
        return number
    return -1


@njit
def device_slots(table: Any) -> int:
    """Return how many event slots belong to drives, links and write caches."""
    return int(table[N_LEAVES] * table[N_SERVERS] + table[N_LINKS] + table[N_LEAVES])


@njit
def device_event(table: Any, slot: int) -> tuple[int, int]:
    """Handle the event of a drive, a link or a write cache.

    Returns
    -------
    seen, forgotten : int
        The command that the host sees done, and the one of which nothing is left; -1: none.
    """
    links = table[N_LEAVES] * table[N_SERVERS]
    caches = links + table[N_LINKS]
    if slot < links:
        number = end_service(table, slot)
        if number >= 0:
            return number, number
        return -1, (-2 - number if number < -1 else -1)
    if slot < caches:
        number = end_link(table, slot - links)
        return number, number
    number = answer_cached(table, slot - caches)
    command = commands_of(table)[number]
    destaged = command.cache == CACHE_DESTAGED
    command.cache = CACHE_ANSWERED
    return number, (number if destaged else -1)
