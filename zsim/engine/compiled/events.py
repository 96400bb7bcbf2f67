"""The next event of each drive, link, write cache, client and stream, and which of them comes first."""

from __future__ import annotations

from zsim.base.arrays import Table
from zsim.base.jit import njit, word_of
from zsim.drives.physics.bounds import LANES
from zsim.engine.compiled.memory import (
    N_SLOTS,
    event_bits_of,
    event_times_of,
    first_bits_of,
    first_times_of,
)

# So few event slots are looked at one by one.
FEW_SLOTS = 24


@njit
def set_event(table: Table, slot: int, at: float) -> None:
    """Set when the event of a slot is; of many slots the first time of each `LANES` is kept beside.

    Parameters
    ----------
    table : Table
        The engine's memory.
    slot : int
    at : float
        [s]; FOREVER: there is none.
    """
    times = event_times_of(table)
    before = times[slot]
    times[slot] = at
    if word_of(table, N_SLOTS) <= FEW_SLOTS:
        return
    firsts, group = first_times_of(table), slot // LANES
    if at <= firsts[group]:
        firsts[group] = at
    elif before == firsts[group]:
        first_bits_of(table)[group] = _first_of(table, group)


@njit
def _first_of(table: Table, group: int) -> int:
    """Return the first time of a group of slots, as an integer."""
    bits, begin = event_bits_of(table), group * LANES
    first = bits[begin]
    for slot in range(begin, begin + LANES):
        first = min(first, bits[slot])
    return int(first)


@njit
def next_slot(table: Table, slots: int) -> int:
    """Return the event slot whose time comes first (the lowest of equals).

    Times are compared as integers, which the compiler does several at once.

    Parameters
    ----------
    table
    slots : int
        There are so many, the first of all that there is room for; those behind them have no events.
    """
    if word_of(table, N_SLOTS) <= FEW_SLOTS:
        bits = event_bits_of(table)
        first, best = bits[0], 0
        for slot in range(1, slots):
            best = slot if bits[slot] < first else best
            first = min(first, bits[slot])
        return best
    firsts, group = first_bits_of(table), 0
    earliest = firsts[0]
    for number in range(1, (slots + LANES - 1) // LANES):
        group = number if firsts[number] < earliest else group
        earliest = min(earliest, firsts[number])
    bits, begin = event_bits_of(table), group * LANES
    best = begin + LANES
    for slot in range(begin, begin + LANES):
        best = min(best, slot if bits[slot] == earliest else begin + LANES)
    return best
