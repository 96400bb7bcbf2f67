"""Foreground load: from the loads of a scenario to clients of the engine, and by the hours of the week."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple

import numpy as np

from zsim.base.arrays import I64
from zsim.base.constants import constant, whole_constant
from zsim.case.case import Case
from zsim.case.loads import CLIENT_READ_S, request_bytes, write_rate
from zsim.engine.leaf_rules import wait_of_bin
from zsim.engine.model import NOT_REPAIRED, ClientModel, PlaneModel, VdevModel, WriterModel
from zsim.operation.result import ClientAnswers
from zsim.operation.run import Run, RunResult, RunSetup
from zsim.scenario.parts import DAY_SECONDS, WRITES, Load
from zsim.scenario.releases.capacity import vdev_sizes
from zsim.scenario.releases.profile import COPIES, ReleaseProfile

CLIENT_CYCLE_S, MOST_CLIENTS = constant("clients.cycle_s"), whole_constant("clients.most")
"""A rate is made by clients that ask so often each: an answer that comes late then hardly lowers it."""
READ_AHEAD = whole_constant("clients.read_ahead")
LARGEST_LOG_BLOCK, LOG_HEADER = 128 << 10, 192
"""A record of the intent log is at most a block of 128 KiB (zil.c), with a header of its own (lr_write_t)."""
WATCHED_REQUESTS, SHORTEST_WATCH_S, LONGEST_WATCH_S = (
    whole_constant("clients.watched_requests"),
    constant("clients.shortest_watch_s"),
    constant("clients.longest_watch_s"),
)
SEED_STEP = 104_729


def client_groups(case: Case, seed: int) -> tuple[ClientModel, ...]:
    """Return the foreground clients: threads as stated, or enough of them to make the rate.

    Reads fetch whole records, as the checksum wants.  Asynchronous writes have no client that waits.
    """
    loads = enumerate(load for load in case.load if load.kind != "async-write")
    return tuple(
        (_readers if load.kind == "sequential-read" else _clients)(load, case, seed + SEED_STEP * number)
        for number, load in loads
    )


def _clients(load: Load, case: Case, seed: int) -> ClientModel:
    """Return clients that each wait for what they ask for."""
    size = request_bytes(load, case)
    unit = LARGEST_LOG_BLOCK if load.kind == "sync-write" else case.usual_record
    if load.threads is not None:
        count, think = load.threads, float(load.think or 0.0)
    else:
        count, think = _made_by(float(load.rate or 0.0), MOST_CLIENTS)
    blocks = max(1, math.ceil(size / unit))
    return ClientModel(count=count, think_s=think, seed=seed, kind=load.kind, blocks=blocks)


def _readers(load: Load, case: Case, seed: int) -> ClientModel:
    """Return readers of files from start to end: a rate is that of one file, each thread has one of its own.

    ZFS reads ahead (dmu_zfetch.c): the records of a file are fetched by clients that take turns in it, each
    the next ones, at most as many as fit into what may be read ahead.  Each record is fetched once: requests
    smaller than a record are answered from the one that is in memory.
    """
    size, unit = request_bytes(load, case), case.usual_record
    records = size / unit
    blocks = max(1, math.ceil(records))
    distance = case.release.tunables.get("zfetch_max_distance", READ_AHEAD)
    ahead = max(1, distance // (blocks * unit))
    files, rate = 1, load.rate
    if load.threads is not None:
        files, rate = load.threads, 1.0 / load.think if load.think else None
    most = max(1, min(ahead, MOST_CLIENTS // files))
    readers, think = (most, 0.0) if rate is None else _made_by(rate * min(1.0, records), most)
    return ClientModel(
        count=files * readers, think_s=think, seed=seed, kind=load.kind, blocks=blocks, files=files
    )


def _made_by(rate: float, most: int) -> tuple[int, float]:
    """Return how many clients make a rate, and how long each pauses [s]."""
    count = min(most, max(2, math.ceil(rate * CLIENT_CYCLE_S)))
    return count, max(0.0, count / rate - CLIENT_READ_S)


def writer(case: Case) -> WriterModel:
    """Return what the loads write with each txg: all that was written since the last one.

    Raises
    ------
    InputError
        When threads write asynchronously and never pause.
    """
    total = 0.0
    for load in case.load:
        if load.kind in WRITES:
            total += write_rate(load) * request_bytes(load, case)
    release, memory = case.release, case.memory
    return WriterModel(
        rate=total,
        record_bytes=case.usual_record,
        most_dirty_bytes=float(release.most_dirty(memory)),
        busy_bytes=release.busy_dirty(memory),
        favour=_favour(case) if total > 0.0 else (),
    )


def _favour(case: Case) -> tuple[float, ...]:
    """Return by which factor each data vdev is favoured for its free space (metaslab_bias_enabled)."""
    if not case.release.tunables.get("metaslab_bias_enabled", 1) or len(case.layout.data) < 2:
        return ()
    sizes = vdev_sizes(case.layout, case.drive_size, case.release)
    fills = (case.fill,) * len(sizes) if case.scenario.vdev_fills is None else case.scenario.led_fills
    free = [size * (1.0 - fill) for size, fill in zip(sizes, fills, strict=True)]
    mean = max(math.fsum(free) / len(free), 1.0)
    return tuple(each / mean for each in free)


def log_bytes(case: Case) -> int:
    """Return the size of a block of the intent log.

    Returns
    -------
    int
        That of the largest synchronous write with its header, at most 128 KiB [bytes].

    Notes
    -----
    OpenZFS zil.c: a record is at most a block of 128 KiB, with a header of its own (``lr_write_t``).
    """
    sizes = [request_bytes(load, case) for load in case.load if load.kind == "sync-write"]
    return min(LARGEST_LOG_BLOCK, max(sizes, default=0) + LOG_HEADER)


@dataclass(frozen=True, slots=True)
class Percentiles:
    """How long requests wait [s]."""

    p50: float
    p90: float
    p99: float
    max: float


def percentiles(counts: I64) -> Percentiles | None:
    """Return percentiles of how long requests wait.

    Parameters
    ----------
    counts : ndarray of int64, shape (bins,)
        Requests by `zsim.engine.leaf_rules.wait_bin`.

    Returns
    -------
    Percentiles or None
        Each that of its bin [s]; None of nothing.
    """
    summed = np.cumsum(counts)
    total = int(summed[-1]) if len(summed) else 0
    if total == 0:
        return None
    places = np.searchsorted(summed, [0.5 * total, 0.9 * total, 0.99 * total, total])
    return Percentiles(*(wait_of_bin(int(place)) for place in places))


@dataclass(frozen=True, slots=True)
class Latency:
    """What one kind of clients sees.

    Attributes
    ----------
    kind : str
    rate : float
        Requests answered during the operation [1/s].
    before_s, during_s, after_s : float
        Mean latency [s]; 0 where nothing was answered.
    before, during, after : Percentiles or None
    """

    kind: str
    rate: float
    before_s: float
    during_s: float
    after_s: float
    before: Percentiles | None = None
    during: Percentiles | None = None
    after: Percentiles | None = None


def latencies(setup: RunSetup, during: RunResult) -> tuple[Latency, ...]:
    """Return what clients wait: alone on the pool as damaged, during a run, and alone once it is repaired.

    Parameters
    ----------
    setup : RunSetup
        With clients.
    during : RunResult
        Of the operation with them.  Of a sorted scan counts what follows its metadata phase, where that is
        longer: clients that never pause are answered so much more often beside the metadata that a few per
        cent of the time would be most of the mean.

    Returns
    -------
    tuple of Latency, one a kind of client
        None where there are no clients.
    """
    groups = setup.model.clients
    if not groups:
        return ()
    quiet = replace(setup, operation="resilver" if setup.operation in COPIES else setup.operation)
    before = _watched(quiet)
    after = _watched(replace(quiet, model=repaired(setup.model)))
    beside = _beside_issue(during)
    means = [_means(groups, clients) for clients in (before.clients, beside.clients, after.clients)]
    every = (before.waits, beside.waits, after.waits)
    waits = [tuple(percentiles(each[n]) for each in every) for n in range(len(groups))]
    return tuple(
        Latency(group.kind, now[0] / max(beside.time, 1e-9), then[1], now[1], later[1], *each)
        for group, then, now, later, each in zip(groups, *means, waits, strict=True)
    )


def _beside_issue(run: RunResult) -> ClientAnswers:
    """Return what clients were answered after the metadata phase, or in all where that is longer."""
    before = run.visited
    if before is None or before.time > 0.5 * run.end:
        return ClientAnswers(run.end, run.clients, run.waits)
    answered = [
        (count - some, waited - part)
        for (count, waited), (some, part) in zip(run.clients, before.clients, strict=True)
    ]
    return ClientAnswers(run.end - before.time, answered, run.waits - before.waits)


def request_rate(groups: Iterable[ClientModel]) -> float:
    """Return how often clients ask, if they wait as long as on a busy disk [1/s]."""
    return math.fsum(group.count / (group.think_s + CLIENT_READ_S) for group in groups)


def fewer(groups: Iterable[ClientModel], times: float) -> tuple[ClientModel, ...]:
    """Return clients that ask for so much less, by there being fewer of them.

    Parameters
    ----------
    groups : iterable of ClientModel
    times : float
        How many times less [1].

    Returns
    -------
    tuple of ClientModel
        As many in each as it takes, which pause longer where that is more than a part of them.
    """
    found = []
    for group in groups:
        count = math.ceil(group.count / times)
        cycle_s = (group.think_s + CLIENT_READ_S) * count * times / group.count
        found.append(replace(group, count=count, think_s=max(0.0, cycle_s - CLIENT_READ_S)))
    return tuple(found)


def _watched(setup: RunSetup) -> RunResult:
    asks = request_rate(setup.model.clients)
    seconds = min(LONGEST_WATCH_S, max(SHORTEST_WATCH_S, WATCHED_REQUESTS / asks))
    machine = Run(setup)
    result = machine.watch(seconds)
    machine.release()
    return result


def _means(groups: Sequence[ClientModel], clients: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return of each group how many requests were answered, and their mean latency [s]."""
    found, first = [], 0
    for group in groups:
        rows = clients[first : first + group.count]
        answered = sum(count for count, _ in rows)
        found.append((answered, math.fsum(latency for _, latency in rows) / max(1, answered)))
        first += group.count
    return found


def repaired(model: PlaneModel) -> PlaneModel:
    """Return the pool once the damaged vdevs are whole again.

    Returns
    -------
    PlaneModel
        Each leaf that was written is read in its place, the new drive or the spare, and none is written.
    """
    return replace(model, vdevs=tuple(_whole(vdev) for vdev in model.vdevs))


def _whole(vdev: VdevModel) -> VdevModel:
    pairs = zip(vdev.read_leaf, vdev.write_leaf, strict=True)
    read = tuple(old if new == NOT_REPAIRED else new for old, new in pairs)
    return replace(vdev, read_leaf=read, write_leaf=(NOT_REPAIRED,) * len(read))


# Hours of the week.

Loads = tuple[Load, ...]


class Now(NamedTuple):
    """What holds at a moment: loads, as loads without hours, and the tunables that have hours."""

    loads: Loads
    tunables: tuple[tuple[str, int | float | str], ...]


def has_hours(case: Case) -> bool:
    """Tell whether a load is on, or a tunable set, at some hours only."""
    return bool(case.timed) or any(load.hours is not None for load in case.load)


def are_on(case: Case, moment: float) -> list[bool]:
    """Return of each load whether it is on `moment` seconds after the start."""
    week_s = case.begins + moment
    return [load.hours is None or load.hours.contains(week_s) for load in case.load]


def loads_at(case: Case, moment: float) -> Loads:
    """Return the loads that are on `moment` seconds after the start, as loads without hours."""
    on = compress(case.load, are_on(case, moment))
    return tuple(load.model_copy(update={"hours": None}) for load in on)


def now_at(case: Case, moment: float) -> Now:
    """Return what holds at a moment.

    Parameters
    ----------
    case : Case
    moment : float
        Since the start [s].

    Returns
    -------
    Now
        Loads as loads without hours, and the tunables that have hours, by name.
    """
    week_s = case.begins + moment
    values = {key: value for each in case.timed if each.hours.contains(week_s) for key, value in each.values}
    return Now(loads_at(case, moment), tuple(sorted(values.items())))


def set_by(release: ReleaseProfile, now: Now) -> ReleaseProfile:
    """Return a release with the tunables of the hour, as far as it has them.

    Returns
    -------
    ReleaseProfile
        The same object where there are none.
    """
    held = {name: value for name, value in now.tunables if name in release.tunables}
    return release.with_tunables(held) if held else release


def next_change(case: Case, moment: float) -> float:
    """Return when a load may next go on or off, or a tunable change.

    Parameters
    ----------
    case : Case
    moment : float
        Since the start [s].

    Returns
    -------
    float
        The next edge of any hours, or midnight, whatever comes first [s since the start].
    """
    day = (case.begins + moment) % DAY_SECONDS
    spans_of_day = [*(load.hours for load in case.load if load.hours), *(each.hours for each in case.timed)]
    edges = {0, DAY_SECONDS} | {edge for each in spans_of_day for edge in (each.start_s, each.end_s)}
    return moment + min(edge - day for edge in edges if edge > day)


def spans(case: Case, time_of: Callable[[Now], float]) -> list[tuple[Now, float, float]]:
    """Return what is done under which loads and tunables.

    Parameters
    ----------
    case : Case
        Begins at `begins`.
    time_of : callable
        Gives how long all of the work takes under the same throughout [s].

    Returns
    -------
    list of (Now, float, float)
        These, the share of the work that is done under them, and the time it takes [s]: a share is time over
        what all would take under the same, and all shares sum to 1.
    """
    done, now = 0.0, 0.0
    found: list[tuple[Now, float, float]] = []
    while done < 1.0:
        here = now_at(case, now)
        whole = time_of(here)
        until = next_change(case, now)
        left = (1.0 - done) * whole
        if left <= until - now:
            found.append((here, 1.0 - done, left))
            break
        found.append((here, (until - now) / whole, until - now))
        done, now = done + (until - now) / whole, until
    return found
