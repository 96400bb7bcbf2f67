"""Drives and links: what happens to a command between the leaf queue and its completion.

A drive takes its next command the moment the last one ends, from what it already holds: the host has not
reacted yet (seen in every emulated-drive trace, and DiskSim's rule too).
"""

from __future__ import annotations

from zsim.base.arrays import Table
from zsim.base.jit import njit, word_of
from zsim.drives.physics.ailing import ailing_time
from zsim.drives.physics.flash import flash_parts
from zsim.drives.physics.mechanics import (
    EXTRA_BUFFER,
    EXTRA_FLASH,
    EXTRA_SHINGLED,
    KIND_FLASH,
    DriveRecord,
    partial_sector_turns,
    rotational_wait,
    seek_and_wait,
    service_at,
    track_angle,
    zone_at,
    zone_of,
)
from zsim.drives.physics.readahead import NOT_AHEAD, buffered_read, keep_segment, read_so_far, reads_on
from zsim.drives.physics.smr import HEAD, smr_idle, smr_parts
from zsim.engine.codes import (
    CACHE_ANSWERED,
    CACHE_DESTAGED,
    CACHE_NONE,
    CACHE_PENDING,
    FOREVER,
    SHORT_FORWARD,
    LeafRecord,
)
from zsim.engine.compiled.drive_queue import (
    fetch_track,
    hold,
    is_continued,
    pick_held,
    take_up,
    waiting_write,
)
from zsim.engine.compiled.events import set_event
from zsim.engine.compiled.memory import (
    N_LEAVES,
    N_LINKS,
    N_SERVERS,
    acknowledge_of,
    bad_sectors_of,
    cache_slot,
    commands_of,
    drives_of,
    event_commands_of,
    event_times_of,
    failures_of,
    general_of,
    health_of,
    held_of,
    leaves_of,
    link_slot,
    links_of,
    rates_of,
    segments_of,
    shingles_of,
    zones_of,
)
from zsim.engine.compiled.records import CommandRecord
from zsim.engine.leaf_rules import answer_time, crossing_time, fits_cache, waits_since


@njit
def _overhead(drive: DriveRecord, command: CommandRecord, at: float) -> float:
    overhead = drive.write_overhead if command.write else drive.read_overhead
    if drive.overhead_overlaps != 0:
        # The electronics have worked on it while the command before was on the medium.
        overhead = max(0.0, overhead - (at - command.arrived))
    return float(overhead)


@njit
def _count_gap(state: LeafRecord, offset: int) -> None:
    gap = offset - state.head
    if gap == 0:
        state.sequential += 1
    if 0 <= gap <= SHORT_FORWARD:
        state.forward += 1


@njit
def _known_edges(table: Table, leaf: int, command: CommandRecord, head: int) -> tuple[bool, bool]:
    """Tell whether the sectors at the edges of a write need not be read; if so, all of its track's are.

    They need not if the write goes on in them, or if they came by in the turn that another has paid for.
    """
    drive = drives_of(table)[leaf]
    if command.write == 0 or drive.physical_sector <= drive.logical_sector or command.fetched != 0:
        return True, True
    follows = leaves_of(table)[leaf].wrote_last != 0 and head == command.offset
    followed = is_continued(table, leaf, command)
    if partial_sector_turns(drive, command.offset, command.length, True, follows, followed) > 0.0:
        fetch_track(table, leaf, command)
    return follows, followed


@njit
def _in_place(
    table: Table, leaf: int, command: CommandRecord, head: int, at: float, overhead: float
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
    table: Table, leaf: int, command: CommandRecord, at: float
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
        again = drive.smr_reduced != 0 and command.scan == 0
        more, reach, transfer = smr_parts(
            drive, rates_of(table, leaf), shingles, sizes, command.offset, command.length, again
        )
        # The persistent cache lies at the outer edge.
        return (overhead, reach, 0.0, transfer), cleaning + more, max(shingles[0][HEAD], 0)
    return _in_place(table, leaf, command, head, at, overhead), 0.0, end


@njit
def _stop_reading_ahead(table: Table, leaf: int, at: float) -> int:
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
    table: Table, leaf: int, command: CommandRecord, at: float, overhead: float
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
def _ailing(table: Table, leaf: int, command: CommandRecord, at: float, wait: float, sound: float) -> float:
    """Return how long an ailing drive is busy with a command that would take `sound` [s]."""
    return ailing_time(
        health_of(table)[leaf],
        bad_sectors_of(table),
        failures_of(table, leaf),
        at,
        command.offset,
        command.length,
        command.write != 0,
        command.aggregated,
        wait if drives_of(table)[leaf].kind == KIND_FLASH else 0.0,
        sound,
    )


@njit
def _serve(table: Table, leaf: int, server: int, place: int, at: float) -> None:
    drive, state = drives_of(table)[leaf], leaves_of(table)[leaf]
    number = take_up(table, leaf, place)
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
        # One drive has the link for its whole command: the slower of medium and link sets the pace.
        transfer = max(transfer, command.length / links_of(table)[state.link].rate)
    duration = parts[0] + parts[1] + parts[2] + transfer + cleaning
    if health_of(table)[leaf].ails != 0:
        duration = _ailing(table, leaf, command, at, parts[2], duration)
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
    slot = leaf * word_of(table, N_SERVERS) + server
    set_event(table, slot, at + duration)
    event_commands_of(table)[slot] = number


@njit
def start_services(table: Table, leaf: int, at: float) -> None:
    """Let every idle server of a drive take a command it holds.

    Parameters
    ----------
    table : Table
        The engine's memory.
    leaf, at
        Which drive, and when [s].

    Notes
    -----
    A drive that takes several commands at once (`parallel`) has so many servers.  Behind a command-based link
    (SATA port multiplier) a drive takes a command only while the link is free, and occupies it.
    """
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
        while times[leaf * word_of(table, N_SERVERS) + server] != FOREVER:
            server += 1
        _serve(table, leaf, server, pick_held(table, leaf, at), at)


@njit
def release_command_based(table: Table, link_number: int, at: float) -> None:
    """Hand a command-based link to the drive behind it that has waited longest.

    Parameters
    ----------
    table, link_number
        The engine's memory, and which link.
    at : float
        Now [s].

    Notes
    -----
    Only drives that hold commands and have none in service wait.  Since when each does is said by
    `zsim.engine.leaf_rules.waits_since`; of several since the same time the one of the lowest number comes
    first.
    """
    links_of(table)[link_number].occupied = 0
    leaves, commands = leaves_of(table), commands_of(table)
    best, best_time = -1, 0.0
    for leaf in range(word_of(table, N_LEAVES)):
        state = leaves[leaf]
        if state.link == link_number and state.held > 0 and state.in_service == 0:
            since = waits_since(state.ended, commands[held_of(table, leaf)[0]].arrived)
            if best < 0 or since < best_time:
                best, best_time = leaf, since
    if best >= 0:
        start_services(table, best, at)


@njit
def arrive(table: Table, number: int, at: float) -> None:
    """Put a command into its drive.

    Parameters
    ----------
    table
        Memory of the plane.
    number : int
        The command.
    at : float
        Time [s].

    Notes
    -----
    A write that fits the free write-back cache is answered after overhead and transfer on the interface
    (`zsim.drives.physics`), and goes to the platter later, when the drive picks it.
    """
    command = commands_of(table)[number]
    leaf = command.leaf
    drive, state = drives_of(table)[leaf], leaves_of(table)[leaf]
    command.arrived = at
    command.fetched = 0
    if drive.kind != KIND_FLASH:
        zones = zones_of(table, leaf)
        zone = zones[zone_at(drive, zones, command.offset)]
        command.rate = zone.rate
        command.angle = (command.offset - zone.start) / zone.turn_bytes
    held, flushing = state.held + 1, state.flushing != 0
    if command.write != 0 and fits_cache(command.length, state.cached, held, drive.cache_bytes, flushing):
        _cache(table, number, at)
    hold(table, leaf, number)
    start_services(table, leaf, at)


@njit
def _cache(table: Table, number: int, at: float) -> None:
    """Take a write into the cache: it is answered once its data are there."""
    command = commands_of(table)[number]
    leaf = command.leaf
    drive, state = drives_of(table)[leaf], leaves_of(table)[leaf]
    state.cached += command.length
    command.cache = CACHE_PENDING
    command.due = answer_time(at, drive.write_overhead, command.length, drive.interface_rate)
    acknowledge_of(table, leaf)[state.acknowledging] = number
    state.acknowledging += 1
    slot = cache_slot(table, leaf)
    set_event(table, slot, min(event_times_of(table)[slot], command.due))


@njit
def _admit(table: Table, leaf: int, at: float) -> None:
    """Take writes into the cache that found it full, the oldest first, as far as there is room."""
    drive, state, commands = drives_of(table)[leaf], leaves_of(table)[leaf], commands_of(table)
    while state.awaited > 0:
        place = waiting_write(table, leaf)
        if place < 0:
            return
        number = held_of(table, leaf)[place]
        flushing = state.flushing != 0
        if not fits_cache(commands[number].length, state.cached, state.held, drive.cache_bytes, flushing):
            return
        _cache(table, int(number), at)
        state.awaited -= 1


@njit
def answer_cached(table: Table, leaf: int) -> int:
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
    set_event(table, cache_slot(table, leaf), due)
    return int(number)


@njit
def flush_cache(table: Table, leaf: int) -> bool:
    """Begin to flush a drive's write cache if there is something in it.

    Parameters
    ----------
    table, leaf
        The engine's memory, and which leaf.

    Returns
    -------
    bool
        Whether the flush takes time: false of a drive that is not flushed each txg, and of an empty cache.
    """
    state = leaves_of(table)[leaf]
    if drives_of(table)[leaf].flush_each_txg == 0 or state.cached == 0:
        return False
    state.flushing = 1
    return True


@njit
def join_link(table: Table, link_number: int, number: int, at: float) -> None:
    """Queue a command's data for transfer over a shared link, first come, first served.

    Parameters
    ----------
    table
        Memory of the plane.
    link_number, number : int
        Which link, which command.
    at : float
        When its data are ready [s].

    Notes
    -----
    A transfer takes the link's overhead a command plus length / rate [s] from when the link is free.
    """
    link, command = links_of(table)[link_number], commands_of(table)[number]
    duration = crossing_time(link.per_command, command.length, link.rate)
    command.due = max(link.free_at, at) + duration
    link.free_at = command.due
    link.busy += duration
    command.next = -1
    if link.first < 0:
        link.first = number
        set_event(table, link_slot(table, link_number), command.due)
    else:
        commands_of(table)[link.last].next = number
    link.last = number


@njit
def leave_link(table: Table, link_number: int) -> int:
    """Return the command whose transfer over a link ends now, and set the time of the next one."""
    link, commands = links_of(table)[link_number], commands_of(table)
    number = link.first
    link.first = commands[number].next
    following = FOREVER if link.first < 0 else commands[link.first].due
    set_event(table, link_slot(table, link_number), following)
    return int(number)


@njit
def submit(table: Table, number: int, at: float) -> None:
    """Send a command towards its drive: writes cross a shared link first.

    Parameters
    ----------
    table : Table
        The engine's memory.
    number : int
        Of the command.
    at : float
        When it leaves the leaf's queue [s].

    Notes
    -----
    Reads cross the link on their way back, after their service.  Behind a command-based link nothing crosses
    alone: the link is occupied by the whole command (`start_services`).
    """
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
def end_service(table: Table, slot: int) -> int:
    """End the service in an event slot; return what is to be done with its command.

    Returns the number of the command if the host sees it done now, -1 if nothing is to be done, and
    -2 - number if a write that was answered long ago may be forgotten.

    The drive goes on with what it holds before the host hears of the end.  A read behind a shared link still
    has to cross it; a write answered from the cache just leaves the cache.
    """
    at = general_of(table)[0].now
    number = event_commands_of(table)[slot]
    set_event(table, slot, FOREVER)
    command = commands_of(table)[number]
    leaf = command.leaf
    state = leaves_of(table)[leaf]
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
    if drives_of(table)[leaf].coalesces != 0:
        _admit(table, leaf, at)
    if state.flushing != 0 and state.cached == 0:
        state.flushing = 0
        general_of(table)[0].group_left -= 1
    if command.cache == CACHE_PENDING:
        command.cache = CACHE_DESTAGED
        return -1
    return -2 - int(number)


@njit
def end_link(table: Table, link_number: int) -> int:
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
def device_event(table: Table, slot: int) -> tuple[int, int]:
    """Handle the event of a drive, a link or a write cache.

    Returns
    -------
    seen, forgotten : int
        The command that the host sees done, and the one of which nothing is left; -1: none.
    """
    links = word_of(table, N_LEAVES) * word_of(table, N_SERVERS)
    caches = links + word_of(table, N_LINKS)
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
