"""Simulate drives without a pool: requests at given times, or a fixed number outstanding.

The drives, their caches and the links in front of them are those of the data plane
(`zsim.engine.compiled.drive`): a drive shown, fitted or replayed behaves as one in a simulated pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import F64, I64, Table
from zsim.base.jit import bare, njit, word_of
from zsim.drives.derived import random_service
from zsim.drives.models.parameters import DriveParameters
from zsim.engine.codes import FOREVER
from zsim.engine.compiled.drive import device_event, submit
from zsim.engine.compiled.events import next_slot
from zsim.engine.compiled.memory import (
    N_LEAVES,
    N_SERVERS,
    PlaneMemory,
    commands_of,
    device_slots,
    event_commands_of,
    event_times_of,
    general_of,
    leaves_of,
    load_devices,
    shingle_words,
)
from zsim.engine.model import LeafModel, LinkModel

DEPTHS = (1, 2, 4, 8, 16, 32)
# Commands that drives and their write caches hold at once; what is more waits in the host.
MOST_COMMANDS = 16384
NO_REQUEST = -1
# A write that takes longer waited for a band to be rewritten [s].
WAITS_FOR_BAND = 0.1


class DriveRun(NamedTuple):
    """What became of each request, in order of arrival.

    Attributes
    ----------
    arrival, start, completion : ndarray of float64, shape (n_requests,)
        `start` is when the drive began with it; a write that the cache answers may be complete before [s].
    service : ndarray of float64, shape (n_requests,)
        What the drive took for it: what is left of the command overhead, seek, wait, transfer, and the bands
        of a shingled drive that it had to clean first [s].
    cleaning : float
        Part of all services in which shingled drives cleaned bands [s].
    """

    arrival: NDArray[np.float64]
    start: NDArray[np.float64]
    completion: NDArray[np.float64]
    service: NDArray[np.float64]
    cleaning: float

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
    flush: bool = False,
) -> DriveRun:
    """Run requests through a drive on a port of its own.

    Parameters
    ----------
    drive : DriveParameters
    offsets, lengths, writes : ndarray, shape (requests,)
        Where [bytes], how much [bytes], and whether it is written.
    depth : int
        Requests outstanding, where there are no arrivals.
    arrivals : ndarray, shape (requests,), optional
        When each request comes [s]: an open load.
    flush : bool
        Whether the write cache is flushed at the end.

    Returns
    -------
    DriveRun
        Times of each request, see `run_drives`.
    """
    places = np.zeros(len(offsets), np.int64)
    return run_drives(
        [LeafModel(drive=drive)], (), places, offsets, lengths, writes, depth=depth, arrivals=arrivals,
        flush=flush,
    )  # fmt: skip


def run_drives(
    leaves: Sequence[LeafModel],
    links: Sequence[LinkModel],
    places: NDArray[np.int64],
    offsets: NDArray[np.int64],
    lengths: NDArray[np.int64],
    writes: NDArray[np.bool_],
    *,
    depth: int = 1,
    arrivals: NDArray[np.float64] | None = None,
    flush: bool = False,
) -> DriveRun:
    """Run requests through drives and the links in front of them.

    Parameters
    ----------
    leaves : sequence of LeafModel
    links : sequence of LinkModel
    places : ndarray of int64, shape (n_requests,)
        The drive of each request.
    offsets, lengths : ndarray of int64, shape (n_requests,)
        [bytes]
    writes : ndarray of bool, shape (n_requests,)
    depth : int
        Requests kept outstanding at each drive when no arrivals are given.
    arrivals : ndarray of float64, shape (n_requests,), optional
        Rising times of arrival [s].
    flush : bool
        Whether every write is followed by a flush of its drive's cache, and done when that is (depth 1).

    Returns
    -------
    Run
    """
    size, closed = len(offsets), arrivals is None
    # A drive serves what it holds, whatever the queue of its host: so many are sent to it at once.
    pool = min(MOST_COMMANDS, max(depth * len(leaves), 1) if closed else size) + _cached(leaves)
    memory = _memory(leaves, links, pool)
    arrival = np.zeros(size) if arrivals is None else np.array(arrivals, dtype=np.float64)
    start, completion, service = np.zeros(size), np.zeros(size), np.zeros(size)
    requests = np.zeros((size, 4), np.int64)
    requests[:, 0], requests[:, 1], requests[:, 2], requests[:, 3] = places, offsets, lengths, writes
    following, cursors = _by_drive(places, len(leaves))
    _run_requests(
        memory.table, pool, depth if closed else 0, flush, requests, following, cursors, arrival, start,
        completion, service,
    )  # fmt: skip
    return DriveRun(arrival, start, completion, service, float(memory.leaves["cleaning"].sum()))


def _cached(leaves: Sequence[LeafModel]) -> int:
    return MOST_COMMANDS if any(leaf.drive.write_cache_bytes for leaf in leaves) else 0


def _by_drive(places: NDArray[np.int64], drives: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the next request of the same drive for each request, and the first one of each drive."""
    following, cursors = np.full(len(places), NO_REQUEST), np.full(drives, NO_REQUEST)
    for drive in range(drives):
        own = np.flatnonzero(places == drive)
        if len(own):
            cursors[drive] = own[0]
            following[own[:-1]] = own[1:]
    return following, cursors


def _memory(leaves: Sequence[LeafModel], links: Sequence[LinkModel], commands: int) -> PlaneMemory:
    one = dict.fromkeys(
        ("streams", "program", "items", "copies", "vdevs", "vdev_children", "slots", "children"), 1
    )
    memory = PlaneMemory(
        **one,
        leaves=len(leaves),
        servers=max(leaf.drive.parallel_commands for leaf in leaves),
        links=len(links),
        clients=0,
        client_items=0,
        records=0,
        queue=1,
        held=2 * commands,
        permutations=0,
        commands=commands,
        shingles=shingle_words(leaves),
    )
    load_devices(memory, leaves, links)
    return memory


@njit
def _send(table: Table, requests: I64, request: int, at: float) -> None:
    """Send a request towards its drive; there is a free command."""
    general, commands = general_of(table)[0], commands_of(table)
    number = general.free_command
    command = commands[number]
    general.free_command = number + 1 + command.next
    command.first_child = request
    command.leaf, command.offset = requests[request, 0], requests[request, 1]
    command.length, command.write = requests[request, 2], requests[request, 3]
    submit(table, number, at)


@njit
def _complete(
    table: Table, requests: I64, following: I64, cursors: I64, depth: int, request: int, arrival: F64,
    completion: F64,
) -> None:  # fmt: skip
    """Let the host see a request done; in a closed loop it sends the drive the next one."""
    now = general_of(table)[0].now
    completion[request] = now
    drive = requests[request, 0]
    if depth > 0 and cursors[drive] != NO_REQUEST:
        next_one = cursors[drive]
        cursors[drive] = following[next_one]
        arrival[next_one] = now
        _send(table, requests, next_one, now)


@njit
def _run_requests(
    state: Table,
    pool: int,
    depth: int,
    flush: bool,
    requests: I64,
    following: I64,
    cursors: I64,
    arrival: F64,
    start: F64,
    completion: F64,
    service: F64,
) -> None:
    """Run all requests and let the drives come to rest; depth 0: they come when `arrival` says.

    There are `pool` commands.
    """
    table = bare(state)
    general, commands, times = general_of(table)[0], commands_of(table), event_times_of(table)
    services = word_of(table, N_LEAVES) * word_of(table, N_SERVERS)
    issued, flushing, total = 0, NO_REQUEST, len(requests)
    for drive in range(len(cursors)):
        for _ in range(depth):
            if cursors[drive] != NO_REQUEST:
                _send(table, requests, cursors[drive], 0.0)
                cursors[drive] = following[cursors[drive]]
    while True:
        slot = next_slot(table, device_slots(table))
        if depth == 0 and issued < total and arrival[issued] < times[slot] and general.free_command < pool:
            general.now = max(general.now, arrival[issued])
            _send(table, requests, issued, general.now)
            issued += 1
            continue
        if times[slot] == FOREVER:
            return
        general.now = times[slot]
        if slot < services:
            number = event_commands_of(table)[slot]
            request = commands[number].first_child
            start[request] = commands[number].started
            service[request] = general.now - start[request]
        seen, forgotten = device_event(table, slot)
        request = commands[seen].first_child if seen >= 0 else NO_REQUEST
        if forgotten >= 0:
            commands[forgotten].next = general.free_command - forgotten - 1
            general.free_command = forgotten
        if flush and request != NO_REQUEST and requests[request, 3] != 0:
            flushing, request = request, NO_REQUEST
            leaves_of(table)[requests[flushing, 0]].flushing = 1
        if flushing != NO_REQUEST and leaves_of(table)[requests[flushing, 0]].cached == 0:
            flushing, request = NO_REQUEST, flushing
        if request != NO_REQUEST:
            _complete(table, requests, following, cursors, depth, request, arrival, completion)


def scattered_writes(drive: DriveParameters, size: int, count: int) -> NDArray[np.float64]:
    """Return what each of so many random writes takes a drive [s].

    Parameters
    ----------
    drive : DriveParameters
    size : int
        Of a write, to which the offsets are aligned [bytes].
    count : int

    Returns
    -------
    ndarray, shape (count,)
        Service times, in the order in which the drive begins with them [s]: of a shingled drive the first
        writes go to its cache, the later ones wait for cleaning.
    """
    offsets = random_places(drive, size, count)
    run = run_alone(drive, offsets, np.full(count, size), np.ones(count, dtype=np.bool_))
    return run.service[np.argsort(run.start, kind="stable")]


def shingled_writes(drive: DriveParameters, size: int = 4096) -> tuple[float, int, float]:
    """Return random writes per second while the persistent cache has room, how many those are, and after it.

    Parameters
    ----------
    drive : DriveParameters
        A shingled one.
    size : int
        Of a write [bytes].

    Returns
    -------
    before : float
        [1/s]
    room : int
        Writes until the first one waits for a band.
    after : float
        [1/s]
    """
    holds = min(drive.smr_cached_writes, drive.smr_cache_bytes // size)
    service = scattered_writes(drive, size, int(1.02 * holds) + 10_000)
    room = int(np.argmax(service > WAITS_FOR_BAND)) or len(service)
    return float(1.0 / service[:room].mean()), room, float(1.0 / service[-10_000:].mean())


def random_places(
    drive: DriveParameters, size: int, requests: int, start: float = 0.0, span: float = 1.0, seed: int = 1
) -> NDArray[np.int64]:
    """Return random offsets in a stretch of a drive [bytes].

    Parameters
    ----------
    drive : DriveParameters
    size : int
        Of a request, to which the offsets are aligned [bytes].
    requests : int
    start, span : float
        Where the stretch begins and how long it is [fraction of the capacity].
    seed : int
        The same seed gives the same places.

    Returns
    -------
    ndarray of int64, shape (requests,)
        Uniform, with replacement; no request reaches beyond the end of the drive.
    """
    first = int(start * drive.capacity_bytes / size)
    last = drive.capacity_bytes // size - 1
    places = max(int(span * drive.capacity_bytes / size), 1)
    random = np.random.default_rng(seed)
    return np.minimum(first + random.integers(0, places, requests), last) * size


def random_iops(
    drive: DriveParameters,
    depth: int,
    size: int = 4096,
    *,
    write: bool = False,
    start: float = 0.0,
    span: float = 1.0,
    requests: int = 2000,
) -> float:
    """Return random commands per second from a stretch of a drive at a queue depth [1/s].

    Parameters
    ----------
    drive : DriveParameters
    depth : int
        Requests outstanding.
    size : int
        Of a request, to which the offsets are aligned [bytes].
    write : bool
    start, span : float
        Where the stretch begins and how long it is [fraction of the capacity].
    requests : int
    """
    offsets = random_places(drive, size, requests, start, span)
    lengths = np.full(requests, size, dtype=np.int64)
    return run_alone(drive, offsets, lengths, np.full(requests, write), depth=depth).iops


def iops_by_depth(drive: DriveParameters, size: int = 4096) -> dict[int, float]:
    """Return random reads per second over the whole drive by queue depth [1/s].

    Parameters
    ----------
    drive : DriveParameters
    size : int
        Of a read [bytes].

    Returns
    -------
    dict of int to float
        By depth, `DEPTHS` [1/s].  A disk that sorts what it holds gives more the more it may choose from.
    """
    return {depth: random_iops(drive, depth, size) for depth in DEPTHS}


def random_rate(
    drive: DriveParameters,
    size: int,
    depth: int,
    start: float = 0.0,
    span: float = 1.0,
    *,
    requests: int = 1500,
) -> float:
    """Return random reads per second from a stretch of a drive [1/s].

    Parameters
    ----------
    drive : DriveParameters
    size : int
        Of a read [bytes].
    depth : int
        Requests outstanding.
    start, span : float
        Where the stretch begins and how long it is [fraction of the capacity].
    requests : int
        Simulated, where the mean is not known exactly.

    Returns
    -------
    float
        Of a disk at depth 1 the exact mean, over all pairs of places
        (`zsim.drives.derived.random_service`); else of a simulated run.
    """
    if depth == 1 and drive.kind == "mechanical":
        return 1.0 / random_service(drive, size, start, span)
    return random_iops(drive, depth, size, start=start, span=span, requests=requests)
