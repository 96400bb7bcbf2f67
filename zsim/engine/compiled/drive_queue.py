"""The commands that a drive holds, and which of them it serves next.

Beside its number, of each command is kept where it begins and at which angle, in 32 bits: a choice among many
looks at these alone but for the last few.
"""

from __future__ import annotations

import numpy as np

from zsim.base.arrays import I32, Table
from zsim.base.jit import njit, word_of
from zsim.drives.physics.bounds import LANES, bearing_of, reach_bounds
from zsim.drives.physics.mechanics import (
    KIND_FLASH,
    POLICY_CLOOK,
    POLICY_FCFS,
    DriveRecord,
    reach_time,
    track_around,
)
from zsim.drives.physics.smr import reach_of_shingled
from zsim.engine.codes import CACHE_NONE, FOREVER, LONGEST_COALESCED
from zsim.engine.compiled.memory import (
    HELD_CAPACITY,
    bearings_of,
    begin_of_held,
    commands_of,
    drives_of,
    held_of,
    leaves_of,
    places_of,
    reach_bits_of,
    reach_of,
)
from zsim.engine.compiled.records import CommandRecord

# Of which commands a drive chooses: any, those somebody waits for, those its cache has answered.
ANY, AWAITED, CACHED = range(3)
# Among fewer commands a drive's choice is found without bounds of the times to reach them.
FEW = 3
# So many of them may be numbered in the last bits of their bounds; a bound that is rounded up.
NUMBERED, MOST_BITS = 256, np.int32(0x7FFFFFFF)
ROUNDING = 1e-6


@njit
def positioning_cost(drive: DriveRecord, command: CommandRecord, head: int, at: float, bound: float) -> float:
    """Return how long a drive needs to reach a command it holds.

    Parameters
    ----------
    drive : DriveRecord
    command : CommandRecord
    head : int
        Where the head is [bytes].
    at : float
        Now [s].
    bound : float
        What the best command so far takes; a command that takes longer need not be known exactly [s].

    Returns
    -------
    float
        Seek and rotation [s], or a time not below `bound`.

    Notes
    -----
    The measure of SPTF (Jacobson and Wilkes, HPL-CSP-91-7, 1991; Worthington, Ganger and Patt, SIGMETRICS
    1994). The turn of the platter is taken at the end of the command's overhead, unless the drive overlaps
    the two.  Of a write to a shingled drive the way of the arm alone counts.
    """
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
def pick_held(table: Table, leaf: int, at: float) -> int:
    """Return the place of the held command that a drive serves next.

    Parameters
    ----------
    table
        Memory of the plane.
    leaf : int
        The drive.
    at : float
        Time [s].

    Returns
    -------
    int
        First come, first served; C-LOOK; or the shortest positioning time (SPTF) of those that fit the
        drive's queue.  The oldest goes first once it is older than the drive's age limit.

    Notes
    -----
    Worthington, Ganger, Patt, Scheduling algorithms for modern disk drives, SIGMETRICS 1994: C-LOOK,
    SPTF, and limits of age against starvation.
    """
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
    if state.awaited > 0 or drive.cache_ages != 0:
        for place in range(count):
            command = commands[held[place]]
            if _is_of(command, kind) and (command.cache == CACHE_NONE or drive.cache_ages != 0):
                if at - command.arrived > drive.queue_max_age:
                    return place
                break
    coalesces = drive.coalesces != 0 and kind != AWAITED
    if coalesces and state.wrote_last != 0:
        following = _cached_where(table, leaf, state.head, 0)
        if following >= 0:
            return following
    if drive.queue_policy == POLICY_CLOOK:
        place = _clook(table, leaf, count, kind)
    else:
        place = _nearest(table, leaf, count, kind, at)
    return _first_of_extent(table, leaf, place) if coalesces else place


@njit
def _first_of_extent(table: Table, leaf: int, place: int) -> int:
    """Return the place of the write with which the extent begins that a cached write is part of."""
    held, commands = held_of(table, leaf), commands_of(table)
    while commands[held[place]].cache != CACHE_NONE:
        before = _cached_where(table, leaf, commands[held[place]].offset, 1)
        if before < 0:
            break
        place = before
    return place


@njit
def _cached_where(table: Table, leaf: int, edge: int, at_end: int) -> int:
    """Return the place of the oldest cached write that begins (with `at_end` 1: ends) at a byte; else -1."""
    drive, held, commands, places = (
        drives_of(table)[leaf],
        held_of(table, leaf),
        commands_of(table),
        places_of(table, leaf),
    )
    count, lowest = leaves_of(table)[leaf].held, max(0, edge - LONGEST_COALESCED * at_end)
    low, high = lowest >> drive.unit_bits, (edge - at_end) >> drive.unit_bits
    for first in range(0, count, LANES):
        if not _some_between(places, first, low, high):
            continue
        for place in range(first, min(first + LANES, count)):
            command = commands[held[place]]
            if command.offset + command.length * at_end == edge and command.cache != CACHE_NONE:
                return place
    return -1


@njit
def waiting_write(table: Table, leaf: int) -> int:
    """Return the place of the oldest write that waits for room in the cache; -1: none waits.

    Such writes are among the last that arrived.
    """
    state, held, commands = leaves_of(table)[leaf], held_of(table, leaf), commands_of(table)
    found, left, place = -1, state.awaited, state.held - 1
    while left > 0 and place >= 0:
        command = commands[held[place]]
        if command.cache == CACHE_NONE:
            left -= 1
            if command.write != 0:
                found = place
        place -= 1
    return found


@njit
def _nearest(table: Table, leaf: int, count: int, kind: int, at: float) -> int:
    """Return the place of the held command that is reached first (the oldest of equals).

    Lower bounds rule out most, usually all but one.
    """
    drive, head, bounds = drives_of(table)[leaf], leaves_of(table)[leaf].head, reach_of(table)
    if drive.band > 0 or count < FEW or count > NUMBERED or kind != ANY:
        for place in range(count):
            bounds[place] = 0.0
        return _reached_first(table, leaf, count, kind, at, 0.0)
    whole = (count + LANES - 1) // LANES * LANES
    places, bearings = places_of(table, leaf), bearings_of(table, leaf)
    reach_bounds(drive, places, bearings, whole, head, at, bounds)
    for place in range(count, whole):
        bounds[place] = FOREVER
    best = _least_bound(table, whole)
    command = commands_of(table)[held_of(table, leaf)[best]]
    limit = np.float32(positioning_cost(drive, command, head, at, FOREVER) * (1.0 + ROUNDING))
    within = 0
    for place in range(whole):
        within += 1 if bounds[place] <= limit else 0
    return best if within == 1 else _reached_first(table, leaf, count, kind, at, limit)


@njit
def _least_bound(table: Table, count: int) -> int:
    """Return the place of the least of the bounds, nearly: the last bits of each give way to its place."""
    bits, least = reach_bits_of(table), MOST_BITS
    for place in range(count):
        least = min(least, np.int32(bits[place] & -NUMBERED | place))
    return int(least & NUMBERED - 1)


@njit
def _reached_first(
    table: Table, leaf: int, count: int, kind: int, at: float, limit: np.float32 | float
) -> int:
    """Return the place of the held command reached first, of those whose bounds are within `limit`."""
    drive, state, held, commands = (
        drives_of(table)[leaf],
        leaves_of(table)[leaf],
        held_of(table, leaf),
        commands_of(table),
    )
    bounds, best, best_cost = reach_of(table), 0, FOREVER
    for place in range(count):
        if bounds[place] > limit:
            continue
        command = commands[held[place]]
        if not _is_of(command, kind):
            continue
        cost = positioning_cost(drive, command, state.head, at, best_cost)
        if cost < best_cost:
            best, best_cost = place, cost
    return best


@njit
def _is_of(command: CommandRecord, kind: int) -> bool:
    """Tell whether a held command is one of those that the drive chooses from."""
    return kind == ANY or (command.cache == CACHE_NONE) == (kind == AWAITED)


@njit
def _first_of(table: Table, leaf: int, kind: int) -> int:
    """Return the place of the oldest held command of a kind; there is one."""
    held, commands, place = held_of(table, leaf), commands_of(table), 0
    while not _is_of(commands[held[place]], kind):
        place += 1
    return place


@njit
def _kind_to_serve(table: Table, leaf: int, count: int) -> int:
    """Return which of the held commands a drive chooses from.

    While it flushes, the cached writes: FLUSH CACHE EXT is not queued, so nothing else is taken up beside it
    (no command of NCQ).  Where cached writes are destaged idly and have room, those that somebody waits for.
    """
    drive, state = drives_of(table)[leaf], leaves_of(table)[leaf]
    if state.awaited == 0 or (state.flushing == 0 and drive.destage == 0):
        return ANY
    held, commands = held_of(table, leaf), commands_of(table)
    awaited = 0
    for place in range(count):
        awaited += 1 if commands[held[place]].cache == CACHE_NONE else 0
    if state.flushing != 0 and awaited < count:
        return CACHED
    has_room = 2 * state.cached <= drive.cache_bytes
    return AWAITED if drive.destage != 0 and state.flushing == 0 and has_room and awaited > 0 else ANY


@njit
def _clook(table: Table, leaf: int, count: int, kind: int) -> int:
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
def hold(table: Table, leaf: int, number: int) -> None:
    """Put a command behind those that a drive holds."""
    drive, state, begin = drives_of(table)[leaf], leaves_of(table)[leaf], begin_of_held(table, leaf)
    if begin[0] + state.held == word_of(table, HELD_CAPACITY):
        _move_to_front(table, leaf)
    command, place = commands_of(table)[number], state.held
    held_of(table, leaf)[place] = number
    if drive.kind != KIND_FLASH:
        places_of(table, leaf)[place] = command.offset >> drive.unit_bits
        bearings_of(table, leaf)[place] = bearing_of(drive, command.angle, command.write != 0)
    state.held += 1
    state.awaited += 1 if command.cache == CACHE_NONE else 0


@njit
def _move_to_front(table: Table, leaf: int) -> None:
    """Move the commands that a drive holds to the front of their room."""
    begin, state = begin_of_held(table, leaf), leaves_of(table)[leaf]
    first, begin[0] = begin[0], 0
    held, places, bearings = held_of(table, leaf), places_of(table, leaf), bearings_of(table, leaf)
    for step in range(state.held):
        held[step] = held[first + step]
        places[step] = places[first + step]
        bearings[step] = bearings[first + step]


@njit
def take_up(table: Table, leaf: int, place: int) -> int:
    """Take a command out of those that a drive holds; return its number."""
    state, held = leaves_of(table)[leaf], held_of(table, leaf)
    places, bearings = places_of(table, leaf), bearings_of(table, leaf)
    number = held[place]
    # Those that came before it move up: it is one of the oldest, of maybe thousands.
    for step in range(place, 0, -1):
        held[step] = held[step - 1]
        places[step] = places[step - 1]
        bearings[step] = bearings[step - 1]
    state.held -= 1
    state.awaited -= 1 if commands_of(table)[number].cache == CACHE_NONE else 0
    begin_of_held(table, leaf)[0] += 1
    return int(number)


@njit
def is_continued(table: Table, leaf: int, command: CommandRecord) -> bool:
    """Tell whether a write that the drive holds goes on in the physical sector in which a command ends.

    Parameters
    ----------
    table
        Memory of the plane.
    leaf : int
        The drive.
    command : record
        A write whose end may lie within a physical sector.

    Returns
    -------
    bool
        If so the drive writes the sector once, with both, and need not read it first (512-byte emulation).
    """
    drive, end = drives_of(table)[leaf], command.offset + command.length
    if end % drive.physical_sector == 0:
        return False
    held, commands, places = held_of(table, leaf), commands_of(table), places_of(table, leaf)
    sector_end = (end + drive.physical_sector - 1) // drive.physical_sector * drive.physical_sector
    low, high = end >> drive.unit_bits, sector_end >> drive.unit_bits
    count = min(leaves_of(table)[leaf].held, drive.queue_depth)
    for first in range(0, count, LANES):
        if not _some_between(places, first, low, high):
            continue
        for place in range(first, min(first + LANES, count)):
            other = commands[held[place]]
            if other.write != 0 and end <= other.offset and other.offset <= sector_end:
                return True
    return False


@njit
def _some_between(places: I32, first: int, low: int, high: int) -> bool:
    """Tell whether some of the next `LANES` places lie within [low, high]; all are looked at, at once."""
    near = 0
    for place in range(first, first + LANES):
        near += 1 if (places[place] >= low) & (places[place] <= high) else 0
    return near > 0


@njit
def fetch_track(table: Table, leaf: int, command: CommandRecord) -> None:
    """Note that the sectors which held writes cover in part are read: those on the track of `command`.

    A drive without a write cache executes one write after the other.
    """
    drive, held, commands = drives_of(table)[leaf], held_of(table, leaf), commands_of(table)
    if drive.cache_bytes == 0:
        return
    low, high = track_around(drive, command.rate, command.angle, command.offset)
    count, places = leaves_of(table)[leaf].held, places_of(table, leaf)
    first_unit, last_unit = (int(low) >> drive.unit_bits) - 1, int(high) >> drive.unit_bits
    for first in range(0, count, LANES):
        if not _some_between(places, first, first_unit, last_unit):
            continue
        for place in range(first, min(first + LANES, count)):
            other = commands[held[place]]
            if other.write != 0 and low <= other.offset < high:
                other.fetched = 1
