"""Requests through a full-geometry drive and a scheduler, under the rules DiskSim follows."""

from __future__ import annotations

import numpy as np

from zsim.base.arrays import F64, I64, Bools
from zsim.base.jit import njit
from zsim.drives.disksim.tracks import Geometry, serve

# Commands a drive holds at most, the one in service included: in the vectors a choice is always among the
# 63 that have waited longest.
DRIVE_SLOTS = 64
FCFS, SSTF, CLOOK, SPTF = range(4)
POLICIES = {"fcfs": FCFS, "sstf": SSTF, "clook": CLOOK, "sptf": SPTF}


@njit
def choose(
    geometry: Geometry,
    policy: int,
    waiting: I64,
    lbns: I64,
    counts: I64,
    writes: Bools,
    state: I64,
    now: float,
) -> int:
    """Return the position in `waiting` of the request a scheduler serves next.

    Parameters
    ----------
    geometry : Geometry
    policy : int
        One of `POLICIES`.
    waiting : ndarray of int64
        Requests in order of arrival.
    lbns, counts, writes : ndarray
    state : ndarray of int64, shape (4,)
        Cylinder, head, first LBN and end of the last request.
    now : float
        [s]
    """
    best, best_cost = 0, np.inf
    for place in range(len(waiting)):
        request = waiting[place]
        cost = float(place)
        if policy == SSTF:
            cost = float(abs(lbns[request] - state[3]))
        elif policy == CLOOK:
            cost = float(lbns[request]) if lbns[request] >= state[2] else lbns[request] + 1e15
        elif policy == SPTF:
            angle = now / geometry.revolution
            part = serve(geometry, state[0], state[1], angle, lbns[request], counts[request], writes[request])
            cost = part[3] + part[4]
        if cost < best_cost:
            best, best_cost = place, cost
    return best


@njit
def run_queue(
    geometry: Geometry,
    policy: int,
    depth: int,
    in_host: bool,
    lbns: I64,
    counts: I64,
    writes: Bools,
    arrivals: F64,
    overheads: I64,
    order: I64,
    starts: F64,
    completions: F64,
) -> None:
    """Run requests through a drive and a scheduler from the drive's state at time 0.

    A command's overhead holds the bus from its arrival and delays a completion; it precedes the seek of
    a drive that was idle and hides behind the service of one that was not.  The next request is chosen at a
    completion, before a closed loop issues its replacement.

    Parameters
    ----------
    geometry : Geometry
    policy : int
        One of `POLICIES`.
    depth : int
        Requests kept outstanding; 0: `arrivals` says when each comes.
    in_host : bool
        Whether the host keeps the queue and gives the drive one request at a time.
    lbns, counts, writes : ndarray, shape (n_requests,)
    arrivals : ndarray of float64, shape (n_requests,)
        [s]; filled in when `depth` is positive.
    overheads : ndarray of float64, shape (2,)
        Of a read and of a write [s].
    order : ndarray of int64, shape (n_requests,)
        Filled with the order of service.
    starts, completions : ndarray of float64, shape (n_requests,)
        Filled with the start of the seek and the completion of each request [s].
    """  # fmt: skip
    total = len(lbns)
    state = np.zeros(4, dtype=np.int64)
    waiting = np.empty(total, dtype=np.int64)
    held, issued, now, bus = 0, 0, 0.0, 0.0
    while issued < min(depth, total):
        arrivals[issued] = 0.0
        waiting[held] = issued
        held, issued = held + 1, issued + 1
    for served in range(total):
        place = 0
        if held == 0:
            # An idle drive takes the first command to arrive.
            now = max(now, arrivals[issued])
            waiting[0] = issued
            held, issued = 1, issued + 1
        elif served > 0:
            choosable = min(held - 1 if depth > 0 and held == depth else held, DRIVE_SLOTS - 1)
            place = choose(geometry, policy, waiting[:choosable], lbns, counts, writes, state, now)
        request = waiting[place]
        waiting[place : held - 1] = waiting[place + 1 : held]
        held -= 1
        overhead = overheads[1] if writes[request] else overheads[0]
        start = now + overhead if in_host else max(now, arrivals[request] + overhead)
        _, _, _, seek, wait, transfer, state[0], state[1] = serve(
            geometry, state[0], state[1], start / geometry.revolution, lbns[request], counts[request],
            writes[request],
        )  # fmt: skip
        now = max(start + seek + wait + transfer, bus)
        order[served], starts[request], completions[request] = request, start, now
        state[2], state[3] = lbns[request], lbns[request] + counts[request]
        if depth > 0 and issued < total:
            arrivals[issued] = now
            waiting[held] = issued
            bus = now + (overheads[1] if writes[issued] else overheads[0])
            held, issued = held + 1, issued + 1
        while depth == 0 and issued < total and arrivals[issued] <= now:
            if held < DRIVE_SLOTS - 1:
                bus = arrivals[issued] + (overheads[1] if writes[issued] else overheads[0])
            waiting[held] = issued
            held, issued = held + 1, issued + 1
