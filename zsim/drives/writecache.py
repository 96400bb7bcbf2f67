"""Write-back cache: what it admits, in which order it destages, and how long a flush takes.

Dirty extents are kept sorted by offset in two arrays with a count, so that every function is scalar work
over a small state that any engine can hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zsim.drives.mechanics import positioning, service_parts, zone_of
from zsim.jit import njit


@njit
def dirty_place(offsets: Any, count: int, offset: int) -> int:
    """Return where `offset` goes among the first `count` sorted offsets."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if offsets[middle] < offset:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def admit(offsets: Any, lengths: Any, count: int, offset: int, length: int) -> int:
    """Add a dirty extent, merged with a neighbour it touches or overlaps.

    Parameters
    ----------
    offsets, lengths : ndarray of int64, shape (n_extents,)
        Dirty extents by rising offset [bytes]; changed in place.
    count : int
        How many of them are in use.
    offset, length : int
        [bytes]

    Returns
    -------
    int
        New count.
    """
    place = dirty_place(offsets, count, offset)
    if place > 0 and offsets[place - 1] + lengths[place - 1] >= offset:
        place -= 1
        lengths[place] = max(lengths[place], offset + length - offsets[place])
    else:
        for step in range(count, place, -1):
            offsets[step], lengths[step] = offsets[step - 1], lengths[step - 1]
        offsets[place], lengths[place] = offset, length
        count += 1
    while place + 1 < count and offsets[place] + lengths[place] >= offsets[place + 1]:
        end = max(offsets[place] + lengths[place], offsets[place + 1] + lengths[place + 1])
        lengths[place] = end - offsets[place]
        count = drop(offsets, lengths, count, place + 1)
    return count


@njit
def drop(offsets: Any, lengths: Any, count: int, place: int) -> int:
    """Remove the extent at `place`; return the new count."""
    for step in range(place, count - 1):
        offsets[step], lengths[step] = offsets[step + 1], lengths[step + 1]
    return count - 1


@njit
def next_destage(
    drive: Any, rates: Any, offsets: Any, lengths: Any, count: int, head: int, now: float, window: int
) -> int:
    """Return the dirty extent to write next: the quickest to reach of the `window` nearest ones.

    A window of 1 is C-LOOK; one as large as the cache is shortest positioning time first.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    rates : ndarray of float64, shape (n_zones,)
    offsets, lengths : ndarray of int64, shape (n_extents,)
    count : int
    head : int
        Byte behind the last one transferred.
    now : float
        [s]
    window : int
    """
    first = dirty_place(offsets, count, head)
    if window <= 1:
        return first if first < count else 0
    low = max(first - window // 2, 0)
    high = min(low + window, count)
    low = max(high - window, 0)
    best, best_cost = low, np.inf
    for place in range(low, high):
        rate = rates[zone_of(drive, offsets[place])]
        seek, wait = positioning(drive, rate, head, now, offsets[place], True)
        if seek + wait < best_cost:
            best, best_cost = place, seek + wait
    return best


@njit
def run_cached_writes(
    drive: Any, rates: Any, writes_at: Any, length: int, capacity: int, limit: int, window: int, out: Any
) -> None:
    """Write through the cache with one write outstanding, then flush.

    Parameters
    ----------
    drive : record of DRIVE_DTYPE
    rates : ndarray of float64, shape (n_zones,)
    writes_at : ndarray of int64, shape (n_writes,)
        Offsets [bytes].
    length : int
        Of every write [bytes].
    capacity, limit : int
        Dirty bytes and dirty extents the cache holds at most.
    window : int
        Of `next_destage`.
    out : ndarray of float64, shape (n_writes + 1,)
        Filled with the completion of each write as the host sees it, and of the flush [s].
    """
    offsets = np.zeros(limit + 1, dtype=np.int64)
    lengths = np.zeros(limit + 1, dtype=np.int64)
    count, dirty, head, host, media = 0, 0, 0, 0.0, 0.0
    for number in range(len(writes_at) + 1):
        flushing = number == len(writes_at)
        while count > 0 and (flushing or media <= host or count >= limit or dirty + length > capacity):
            place = next_destage(drive, rates, offsets, lengths, count, head, media, window)
            _, seek, wait, transfer = service_parts(
                drive,
                rates,
                head,
                media,
                0.0,
                offsets[place],
                lengths[place],
                True,
                offsets[place] == head,
                False,
            )
            media += seek + wait + transfer
            head = offsets[place] + lengths[place]
            full = count >= limit or dirty + length > capacity
            dirty -= lengths[place]
            count = drop(offsets, lengths, count, place)
            if full or flushing:
                host = max(host, media)
        if not flushing:
            host += drive.write_overhead + length / drive.interface_rate
            if count == 0:
                media = max(media, host)
            before = count
            count = admit(offsets, lengths, count, writes_at[number], length)
            dirty += length if count >= before else 0
        out[number] = host
