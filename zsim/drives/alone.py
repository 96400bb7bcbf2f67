"""One drive with nothing around it: requests at given times, or a fixed number kept outstanding.

The physics is that of the engines (`zsim.drives.mechanics`), with read-ahead that goes on while the drive
is idle or processes a command (`zsim.drives.readahead`); this module serves what concerns a single drive:
``zsim drives show``, ``zsim drives fit``, ``zsim replay`` and the drive experiments.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.drives.mechanics import (
    POLICY_CLOOK,
    POLICY_SPTF,
    drive_table,
    positioning,
    service_parts,
    zone_of,
)
from zsim.drives.parameters import DriveParameters
from zsim.drives.readahead import NOT_AHEAD, ahead_completion
from zsim.jit import njit

MAX_OFFSET = 2**62
"""Offsets beyond this would overflow when they are compared with twice a capacity [bytes]."""


class Run(NamedTuple):
    """What became of each request, in order of arrival.

    Attributes
    ----------
    arrival, start, completion : ndarray of float64, shape (n_requests,)
        `start` is when the arm began to move (flash: when the command entered service) [s].
    service : ndarray of float64, shape (n_requests,)
        Seek, wait and transfer [s].
    """

    arrival: NDArray[np.float64]
    start: NDArray[np.float64]
    completion: NDArray[np.float64]
    service: NDArray[np.float64]

    @property
    def elapsed(self) -> float:
        """Completion of the last request [s]."""
        return float(self.completion.max())

    @property
    def iops(self) -> float:
        """Requests per second over the whole run [1/s]."""
        return len(self.completion) / self.elapsed


def run_alone(
    drive: DriveParameters,
    offsets: NDArray[np.int64],
    lengths: NDArray[np.int64],
    writes: NDArray[np.bool_],
    *,
    depth: int = 1,
    arrivals: NDArray[np.float64] | None = None,
) -> Run:
    """Run requests through a drive.

    Parameters
    ----------
    drive : DriveParameters
    offsets, lengths : ndarray of int64, shape (n_requests,)
        [bytes]
    writes : ndarray of bool, shape (n_requests,)
    depth : int
        Requests kept outstanding when no arrivals are given.
    arrivals : ndarray of float64, shape (n_requests,), optional
        Rising times of arrival [s].

    Returns
    -------
    Run
        A request that finds the drive's queue full waits outside, first come, first served.
    """
    table, rates = drive_table([drive])
    size = len(offsets)
    closed = arrivals is None
    arrival = np.zeros(size) if arrivals is None else np.array(arrivals, dtype=np.float64)
    start, completion, service = np.empty(size), np.empty(size), np.empty(size)
    kernel = _flash_queue if drive.kind == "flash" else _disk_queue
    kernel(
        table[0],
        rates[0],
        depth if closed else 0,
        offsets,
        lengths,
        writes,
        arrival,
        start,
        completion,
        service,
    )
    return Run(arrival, start, completion, service)


@njit
def _place_in_queue(
    drive: Any, rates: Any, head: int, now: float, waiting: Any, offsets: Any, writes: Any
) -> int:
    """Return the place in `waiting` (in order of arrival) of the request the drive serves next."""
    best, best_cost = 0, np.inf
    for place in range(len(waiting)):
        offset = offsets[waiting[place]]
        cost = float(place)
        if drive.queue_policy == POLICY_CLOOK:
            cost = float(offset - head) if offset >= head else float(offset - head + 2 * drive.capacity)
        elif drive.queue_policy == POLICY_SPTF:
            rate = rates[zone_of(drive, offset)]
            seek, wait = positioning(drive, rate, head, now, offset, writes[waiting[place]])
            cost = seek + wait
        if cost < best_cost:
            best, best_cost = place, cost
    return best


@njit
def _continued(waiting: Any, offsets: Any, writes: Any, end: int) -> bool:
    """Tell whether a write among the waiting requests begins at `end`."""
    found = False
    for request in waiting:
        found = found or (writes[request] and offsets[request] == end)
    return found


@njit
def _disk_queue(
    drive: Any,
    rates: Any,
    depth: int,
    offsets: Any,
    lengths: Any,
    writes: Any,
    arrival: Any,
    start: Any,
    completion: Any,
    service: Any,
) -> None:
    """Serve requests one at a time; the next is chosen before a closed loop issues its replacement."""
    total = len(offsets)
    waiting = np.empty(total, dtype=np.int64)
    held, issued, head, now, freed = 0, 0, 0, 0.0, 0.0
    ahead, wrote = False, False
    while issued < min(depth, total):
        waiting[held] = issued
        held, issued = held + 1, issued + 1
    for served in range(total):
        if held == 0:
            now = max(now, arrival[issued])
            waiting[0] = issued
            held, issued = 1, issued + 1
        place = 0
        known = min(held - 1 if 0 < depth == held else held, drive.queue_depth)
        if served > 0 and known > 1 and now - arrival[waiting[0]] <= drive.queue_max_age:
            place = _place_in_queue(drive, rates, head, now, waiting[:known], offsets, writes)
        request = waiting[place]
        waiting[place : held - 1] = waiting[place + 1 : held]
        held -= 1
        overhead = drive.write_overhead if writes[request] else drive.read_overhead
        hidden = now - arrival[request] if drive.overhead_overlaps == 1 else 0.0
        begin = now + max(overhead - hidden, 0.0)
        done = NOT_AHEAD
        if ahead and not writes[request]:
            done = ahead_completion(
                head, freed, begin, offsets[request], lengths[request], drive.read_pass_under,
                rates[zone_of(drive, offsets[request])], drive.interface_rate, drive.revolution,
            )  # fmt: skip
        if done == NOT_AHEAD:
            follows = wrote and offsets[request] == head
            followed = _continued(waiting[:held], offsets, writes, offsets[request] + lengths[request])
            _, seek, wait, transfer = service_parts(
                drive, rates, head, begin, 0.0, offsets[request], lengths[request], writes[request],
                follows, followed,
            )  # fmt: skip
            done = begin + seek + wait + transfer
        start[request], service[request] = begin, done - begin
        completion[request] = done
        now, freed, ahead, wrote = done, done, not writes[request], writes[request]
        head = offsets[request] + lengths[request]
        if depth > 0 and issued < total:
            arrival[issued] = now
            waiting[held] = issued
            held, issued = held + 1, issued + 1
        while depth == 0 and issued < total and arrival[issued] <= now:
            waiting[held] = issued
            held, issued = held + 1, issued + 1


@njit
def _flash_queue(
    drive: Any,
    rates: Any,
    depth: int,
    offsets: Any,
    lengths: Any,
    writes: Any,
    arrival: Any,
    start: Any,
    completion: Any,
    service: Any,
) -> None:
    """Serve requests in order of arrival: latencies overlap in the lanes, data share one channel."""
    channel = 0.0
    lanes = np.zeros(max(min(drive.parallel, drive.queue_depth), 1))
    slots = np.zeros(max(depth, 1))
    for request in range(len(offsets)):
        slot = np.argmin(slots)
        if depth > 0:
            arrival[request] = slots[slot]
        lane = np.argmin(lanes)
        begin = max(arrival[request], lanes[lane])
        latency, _, _, transfer = service_parts(
            drive, rates, 0, begin, 0.0, offsets[request], lengths[request], writes[request], False, False
        )
        done = max(begin + latency, channel) + transfer
        channel = done
        start[request], service[request] = begin, done - begin
        completion[request] = done
        lanes[lane] = completion[request]
        slots[slot] = completion[request]


def random_iops(
    drive: DriveParameters, depth: int, size: int = 4096, *, requests: int = 2000, seed: int = 1
) -> float:
    """Return random reads per second over the whole drive at a queue depth [1/s].

    Parameters
    ----------
    drive : DriveParameters
    depth : int
        Requests outstanding.
    size : int
        Of a request, to which the offsets are aligned [bytes].
    requests : int
    seed : int
    """
    random = np.random.default_rng(seed)
    offsets = random.integers(0, drive.capacity_bytes // size, requests) * size
    lengths = np.full(requests, size, dtype=np.int64)
    return run_alone(drive, offsets, lengths, np.zeros(requests, dtype=np.bool_), depth=depth).iops


def seconds_to_read_all(drive: DriveParameters) -> float:
    """Return the time to read a drive from end to end at its media rates [s]."""
    if drive.kind == "flash":
        return drive.capacity_bytes / min(drive.flash_read_rate, drive.interface_rate)
    zone = drive.capacity_bytes / len(drive.zone_rates)
    return sum(zone / min(rate, drive.interface_rate) for rate in drive.zone_rates)
