"""Thousands of histories of a fleet at once, as array operations: failures, queues, overlaps.

Losses are not waited for: each failure adds the chance that enough others fail before it is repaired.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from zsim.planning.risk.one_vdev.group import Floats, Group, Worlds
from zsim.planning.risk.one_vdev.latent import exposed, on_any, pool_gone, present, tripped

LEVELS = 4
"""Missing drives that are told apart in a vdev: 1, 2, 3, and more."""
STEPS = 200
"""Of the horizon, in which the failure rate of drives that age is taken as even."""
GAP = 8.0
"""Horizons between the histories on the one axis of time that they share: no queue reaches so far."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Kind:
    """Pools that are alike, in one possible world.

    Attributes
    ----------
    pools, vdevs : int
        Pools, and vdevs of this kind in each.
    group : Group
    world : Worlds
        One world.
    fills : tuple of float
        At the beginning and at the end.
    table_fills, table_hours : ndarray
        Duration of a repair [s] by fill, in this world.
    critical : float
        See `zsim.planning.risk.one_vdev.latent.pool_gone`.
    spares : int
        Distributed spares of each vdev, or hot spares of each pool.
    takeover : float
        From a failure until the repair onto such a spare begins [s].
    are_hot : bool
        Whether they are hot spares, which the vdevs of a pool share.
    first_pool : int
        Number of the first of these pools in the fleet; kinds of vdevs of the same pools have the same.
    """

    pools: int
    vdevs: int
    group: Group
    world: Worlds
    fills: tuple[float, float]
    table_fills: Floats
    table_hours: Floats
    critical: float
    spares: int = 0
    takeover: float = 0.0
    are_hot: bool = False
    first_pool: int = 0

    @property
    def variance(self) -> float:
        """Of the hazard that the drives of a vdev share; of a single drive there is none to share."""
        if not self.group.tolerance:
            return 0.0
        return float(self.world.correlation[0]) - 1.0


@dataclass(frozen=True, slots=True)
class Site:
    """What all pools share: see `zsim.planning.fleet.spec.Fleet`; times in seconds."""

    horizon: float
    detect: float
    visit: float
    lead_time: float
    spares: int | None
    crews: int | None


class Sums(NamedTuple):
    """Sums over the histories of a block; by kind first where there is a second axis.

    Attributes
    ----------
    failures, missing, files, vdev, pool : ndarray, shape (kinds,)
        Failures; time that failed drives are missing [s]; losses expected.
    levels : ndarray, shape (kinds, LEVELS)
        Time of vdevs with so many drives missing [s].
    waits : ndarray, shape (4,)
        Time that failures waited for a spare and for a crew [s]; failures that waited for each.
    demand, busy : ndarray
        Failures by how many came within the lead time before them; by how many others a crew would be with.
    losses : ndarray, shape (histories, 3)
        Losses expected in each history: files, vdevs, pools.
    hazards : ndarray, shape (histories, 3)
        Minus the logarithm of the chance that none of them comes in a history [1].
    """

    failures: Floats
    missing: Floats
    files: Floats
    vdev: Floats
    pool: Floats
    levels: Floats
    waits: Floats
    demand: Integers
    busy: Integers
    losses: Floats
    hazards: Floats


class _Events(NamedTuple):
    """Failures in the order of history and time; arrays of shape (failures,)."""

    history: Integers
    kind: Integers
    vdev: Integers
    time: Floats
    hazard: Floats
    gone: Integers
    """Drives that go at this moment, by which time is booked; 0 for one that ZED faults."""


def run_block(kinds: tuple[Kind, ...], site: Site, histories: int, seed: tuple[int, ...]) -> Sums:
    """Return the sums over some histories of a fleet.

    Parameters
    ----------
    kinds : tuple of Kind
    site : Site
    histories : int
    seed : tuple of int
        The same seed gives the same sums, wherever it is run.
    """
    events = _drawn(kinds, site, histories, np.random.default_rng(seed))
    ready, waits, demand = _spares(events, site, histories)
    begun, crew_wait, busy = _crews(events, site, ready)
    hours = _hours(kinds, site, events)
    missing = _taken_over(kinds, events, begun + site.visit + hours - events.time, hours)
    lost = _losses(kinds, events, missing, hours)
    count = len(kinds)
    alone = [_alone(kind, site.horizon) for kind in kinds]
    each = np.sum([found.losses for found in alone], axis=0)
    first = np.sum([found.hazards for found in alone], axis=0)
    of_kind = histories * np.array([found.losses for found in alone])
    levels = _levels(kinds, site, events, missing)
    return Sums(
        failures=_by(events.kind, np.ones(len(missing)), count),
        missing=_by(events.kind, np.minimum(missing, site.horizon - events.time), count),
        files=_by(events.kind, lost[:, 0], count) + of_kind[:, 0],
        vdev=_by(events.kind, lost[:, 1], count) + of_kind[:, 1],
        pool=_by(events.kind, lost[:, 2], count) + of_kind[:, 2],
        levels=levels,
        waits=np.array([waits.sum(), crew_wait.sum(), (waits > 1.0).sum(), (crew_wait > 1.0).sum()]),
        demand=demand,
        busy=busy,
        losses=np.column_stack([_by(events.history, lost[:, at], histories) for at in range(3)]) + each,
        hazards=_hazards(events.history, lost, histories) + first,
    )


class _Alone(NamedTuple):
    """Losses of pools without redundancy in a history, by grade, and the hazard of the first; shape (3,)."""

    losses: Floats
    hazards: Floats


def _alone(kind: Kind, horizon: float) -> _Alone:
    """Return what pools of single drives lose, without drawing it: each failure, each latent error."""
    if kind.group.tolerance:
        return _Alone(np.zeros(3), np.zeros(3))
    drives = kind.pools * kind.vdevs * kind.group.children
    spent = _spent(kind, kind.group.age + horizon) - _spent(kind, kind.group.age)
    failures = spent
    if kind.group.shape != 1.0:
        failures = float(_expected(kind, np.linspace(0.0, horizon, STEPS + 1))[-1])
    latent = float(kind.world.latent[0]) * horizon
    pools = np.array([0.0, 1.0, 1.0])
    files = np.array([1.0, 0.0, 0.0])
    return _Alone(
        drives * (failures * (pools + files) + latent * files),
        drives * (spent * (pools + files) + latent * files),
    )


def _hazards(history: Integers, lost: Floats, histories: int) -> Floats:
    """Return minus the logarithm of the chance that no failure is the first of a loss, (histories, 3)."""
    with np.errstate(divide="ignore"):
        each = -np.log1p(-np.minimum(lost, 1.0))
    return np.column_stack([_by(history, each[:, at], histories) for at in range(3)])


def _by(places: Integers, values: Floats, count: int) -> Floats:
    """Return the sums of values by place."""
    return np.bincount(places, values, count).astype(np.float64)


def _drawn(kinds: tuple[Kind, ...], site: Site, histories: int, random: np.random.Generator) -> _Events:
    """Draw the failures of all drives: Poisson at the rate of their age, shared by the drives of a vdev."""
    parts, first = [], 0
    for place, kind in enumerate(kinds):
        parts.append(_failures(kind, place, first, site.horizon, histories, random))
        first += kind.pools * kind.vdevs
    joined = [np.concatenate([part[at] for part in parts]) for at in range(6)]
    order = np.argsort(joined[0] * GAP * site.horizon + joined[3], kind="stable")
    history, place_of, vdev, time, hazard, gone = (each[order] for each in joined)
    return _Events(history, place_of, vdev, time, hazard, gone)


def _failures(
    kind: Kind, place: int, first: int, horizon: float, histories: int, random: np.random.Generator
) -> tuple[Integers, Integers, Integers, Floats, Floats, Integers]:
    group, vdevs = kind.group, kind.pools * kind.vdevs
    hazard = np.ones(histories * vdevs)
    if kind.variance > 1e-9:
        hazard = random.gamma(1.0 / kind.variance, kind.variance, histories * vdevs)
    if group.shape == 1.0:
        old, new = _spent(kind, group.age), _spent(kind, group.age + horizon)
        counts = random.poisson(group.children * hazard * (new - old))
        rows = np.repeat(np.arange(histories * vdevs, dtype=np.int64), counts)
        time = _scale(kind) * (old + random.random(len(rows)) * (new - old)) - group.age
    else:
        rows, time = _renewed(kind, horizon, hazard, random)
    trips = random.random(len(rows)) < _tripped(kind, time)
    rows, time = np.concatenate([rows, rows[trips]]), np.concatenate([time, time[trips]])
    gone = np.concatenate([1 + trips, np.zeros(int(trips.sum()), dtype=np.int64)])
    return rows // vdevs, np.full(len(rows), place), first + rows % vdevs, time, hazard[rows], gone


def _renewed(
    kind: Kind, horizon: float, hazard: Floats, random: np.random.Generator
) -> tuple[Integers, Floats]:
    """Draw the failures of drives that are replaced by new ones: the row of each vdev, and the time [s].

    A renewal process (Cox, Renewal Theory, 1962, 4.1): the first life goes on from the age that the drive
    has, each later one begins at 0.
    """
    group, scale = kind.group, _scale(kind)
    rows = np.repeat(np.arange(len(hazard), dtype=np.int64), group.children)
    spent = _spent(kind, group.age) + random.standard_exponential(len(rows)) / hazard[rows]
    time = scale * spent ** (1.0 / group.shape) - group.age
    found_rows, found_times = [], []
    while len(rows):
        inside = time < horizon
        rows, time = rows[inside], time[inside]
        found_rows.append(rows)
        found_times.append(time)
        life = random.standard_exponential(len(rows)) / hazard[rows]
        time = time + scale * life ** (1.0 / group.shape)
    return np.concatenate(found_rows), np.concatenate(found_times)


def _tripped(kind: Kind, time: Floats) -> float:
    """Return the chance that a failure makes ZED fault another drive of the vdev."""
    share = present(kind.world, kind.group.age + _middle(time))
    return float(tripped(kind.group, kind.world, share, 0)[0])


def _middle(time: Floats) -> float:
    return float(time.mean()) if len(time) else 0.0


def _scale(kind: Kind) -> float:
    return kind.group.scale(1.0 / float(kind.world.rate[0]))


def _spent(kind: Kind, age: float) -> float:
    """Return the hazard that a drive has accumulated by an age [1]."""
    return float((age / _scale(kind)) ** kind.group.shape)


def _spares(events: _Events, site: Site, histories: int) -> tuple[Floats, Floats, Integers]:
    """Return when each failure has a drive, what it waited for it, and how many came just before it.

    Each drive used is ordered at once, so a failure takes the drive ordered as many failures ago as the
    shelf holds (a base-stock policy).
    """
    known = events.time + site.detect
    axis = events.history * GAP * site.horizon + events.time
    recent = np.arange(len(axis)) - np.searchsorted(axis, axis - site.lead_time, side="left")
    demand = np.bincount(recent, minlength=1)
    if site.spares is None:
        return known, np.zeros(len(known)), demand
    there = _ordered_before(events, site)
    ready = np.maximum(known, there)
    return ready, ready - known, demand


def _ordered_before(events: _Events, site: Site) -> Floats:
    """Return when the drive that a failure takes has arrived; minus infinity while the shelf is not empty."""
    spares = site.spares or 0
    known = events.time + site.detect
    if spares == 0:
        return known + site.lead_time
    there = np.full(len(known), -np.inf)
    earlier = np.arange(len(known)) - spares
    same = (earlier >= 0) & (events.history[np.maximum(earlier, 0)] == events.history)
    there[same] = known[earlier[same]] + site.lead_time
    return there


def _crews(events: _Events, site: Site, ready: Floats) -> tuple[Floats, Floats, Integers]:
    """Return when a crew begins with each drive, what it waited, and how many others would have one then.

    First come, first served, all visits equally long: a visit begins when the one as many before it as there
    are crews has ended, so each crew's visits are a running maximum.
    """
    axis = events.history * GAP * site.horizon
    starts = np.searchsorted(events.history, events.history, side="left")
    place = np.arange(len(ready)) - starts
    if site.crews is None or site.visit == 0.0:
        begun = ready
    else:
        turn = place // site.crews
        order = np.lexsort((place, place % site.crews, events.history))
        shifted = (ready - site.visit * turn)[order]
        crew = (events.history * site.crews + place % site.crews)[order]
        begun = np.empty_like(ready)
        begun[order] = _running_maximum(shifted, crew)
        # Lifting the runs apart costs a fraction of a second of precision; none begins before it is ready.
        begun = np.maximum(begun + site.visit * turn, ready)
    # What it would take for none to wait: counted as if there were always a crew.
    ends = np.sort(ready + axis + site.visit)
    busy = np.arange(len(ready)) - np.searchsorted(ends, np.sort(ready + axis), side="right")
    return begun, begun - ready, np.bincount(np.maximum(busy, 0), minlength=1)


def _running_maximum(values: Floats, runs: Integers) -> Floats:
    """Return the running maximum of `values`, begun anew with each run of equal numbers in `runs`."""
    if not len(values):
        return values
    number = np.cumsum(np.concatenate([[0], runs[1:] != runs[:-1]]))
    lift = float(values.max() - values.min()) + 1.0
    result: Floats = np.maximum.accumulate(values + number * lift) - number * lift
    return result


def _hours(kinds: tuple[Kind, ...], site: Site, events: _Events) -> Floats:
    """Return the duration of each repair at the fill its pool has then [s]."""
    hours = np.empty(len(events.time))
    for place, kind in enumerate(kinds):
        rows = np.flatnonzero(events.kind == place)
        begin, end = kind.fills
        fill = np.clip(begin + (end - begin) * events.time[rows] / site.horizon, 0.0, 1.0)
        hours[rows] = np.exp(np.interp(fill, kind.table_fills, np.log(kind.table_hours)))
    return hours


def _taken_over(kinds: tuple[Kind, ...], events: _Events, missing: Floats, hours: Floats) -> Floats:
    """Return how long drives are missing where a spare takes over by itself: nobody has to come [s].

    A spare is in use until the failed drive is replaced; `missing` is how long that takes.
    """
    spares = np.array([kind.spares for kind in kinds])[events.kind]
    if not len(missing) or not spares.any():
        return missing
    # One axis for all that own spares: each begins after the end of the one before.
    lift = float((events.time + missing).max()) + 1.0
    owner = _owners(kinds, events)
    starts = owner * lift + events.time
    before = np.empty(len(missing), dtype=np.int64)
    before[np.argsort(starts, kind="stable")] = np.arange(len(missing))
    used = before - np.searchsorted(np.sort(starts + missing), starts, side="right")
    rebuilt = np.array([kind.takeover for kind in kinds])[events.kind] + hours
    return np.where(used < spares, np.minimum(rebuilt, missing), missing)


def _owners(kinds: tuple[Kind, ...], events: _Events) -> Integers:
    """Return a number of what owns the spares that each failure may take: a vdev, or of hot ones a pool."""
    first = np.cumsum([0, *(kind.pools * kind.vdevs for kind in kinds)])[events.kind]
    vdevs = np.array([kind.vdevs for kind in kinds])[events.kind]
    pool = np.array([kind.first_pool for kind in kinds])[events.kind] + (events.vdev - first) // vdevs
    are_hot = np.array([kind.are_hot for kind in kinds])[events.kind]
    most = int(events.vdev.max()) + 1
    return events.history * (most + int(pool.max()) + 1) + np.where(are_hot, most + pool, events.vdev)


def _losses(kinds: tuple[Kind, ...], events: _Events, missing: Floats, hours: Floats) -> Floats:
    """Return the losses that each failure is expected to be the first of: files, vdev, pool."""
    lost = np.zeros((len(missing), 3))
    for place, kind in enumerate(kinds):
        rows = np.flatnonzero(events.kind == place)
        if len(rows):
            lost[rows] = _lost(kind, _taken(events, rows), missing[rows], hours[rows])
    return lost


def _taken(events: _Events, rows: NDArray[np.intp]) -> _Events:
    return _Events(
        history=events.history[rows],
        kind=events.kind[rows],
        vdev=events.vdev[rows],
        time=events.time[rows],
        hazard=events.hazard[rows],
        gone=events.gone[rows],
    )


def _lost(kind: Kind, events: _Events, missing: Floats, hours: Floats) -> Floats:
    """Return the chances that a failure is followed by enough others while it is missing, shape (rows, 3).

    k of n drives failing within a time is a binomial tail, which is the incomplete beta function.  Whether
    ZED faults another drive is taken by its chance, not as drawn: where that is rare, it decides most losses.
    """
    group = kind.group
    if not group.tolerance:
        return np.zeros((len(missing), 3))  # counted by `_alone`
    failing = -np.expm1(-_rate(kind, events.time) * events.hazard * missing)
    share = float(present(kind.world, group.age + _middle(events.time))[0])
    waiting = np.clip(1.0 - hours / missing, 0.0, 1.0)
    vdev, files = np.zeros(len(failing)), np.zeros(len(failing))
    rows = np.flatnonzero(events.gone > 0)
    two = _tripped(kind, events.time)
    for gone, chance in ((1, 1.0 - two), (2, two)):
        if chance == 0.0:
            continue
        drives = group.children - gone
        for left, weight in enumerate(_further(kind, share, gone, drives)):
            last = (group.children - group.tolerance) / (drives - left)
            vdev[rows] += chance * weight * last * _at_least(group, left + 1, drives, failing[rows])
            hit = on_any(share * exposed(group, waiting[rows], left), group.children - group.tolerance)
            files[rows] += chance * weight * _at_least(group, left, drives, failing[rows]) * hit
    gone_share = pool_gone(group, waiting, kind.critical)
    return np.column_stack([vdev + (1.0 - vdev) * files, vdev, vdev * gone_share])


def _further(kind: Kind, share: float, gone: int, drives: int) -> list[float]:
    """Return the chances that 0, 1, 2, ... further failures take the last redundancy.

    Each may make ZED fault another drive beside it, as long as the vdev can do without that.  Chances are
    relative to so many of `drives` failing, of which there are fewer once some were faulted.
    """
    group = kind.group
    if gone == group.tolerance:
        return [1.0]
    more = float(tripped(group, kind.world, np.array([share]), gone)[0])
    fewer = (group.children - gone) / drives
    found = [0.0] * (group.tolerance - gone + 1)
    for place, chance in enumerate(_further(kind, share, gone + 1, drives - 1)):
        found[place + 1] += (1.0 - more) * fewer * chance
    if more > 0.0:
        for place, chance in enumerate(_further(kind, share, gone + 2, drives - 1)):
            found[place + 1] += more * fewer * chance
    return found


def _at_least(group: Group, count: int, drives: int, failing: Floats) -> Floats:
    """Return the chance that at least `count` of `drives` fail in time, each with a chance.

    Where each failure starts the repair anew, each has the whole time, one after the other.
    """
    if count <= 0:
        return np.ones_like(failing)
    if group.discipline == "restart":
        spent = -np.log1p(-failing)
        each = [-np.expm1(-(drives - place) * spent) for place in range(count)]
        return np.asarray(np.prod(each, axis=0), dtype=np.float64)
    result: Floats = betainc(count, drives - count + 1, failing)
    return result


def _rate(kind: Kind, time: Floats) -> Floats:
    """Return the failure rate of a drive at moments [1/s], before the hazard that its vdev has.

    It is the mean over what stands in its place then: the first drive, or a younger one that replaced it.
    """
    shape, scale = kind.group.shape, _scale(kind)
    if shape == 1.0:
        return np.full(len(time), 1.0 / scale)
    if not len(time):
        return np.zeros(0)
    edges = np.linspace(0.0, max(float(time.max()), 1e-6 * scale), STEPS + 1)
    failures = _expected(kind, edges)
    middles = 0.5 * (edges[1:] + edges[:-1])
    return np.interp(time, middles, np.diff(failures) / np.diff(edges)).astype(np.float64)


def _expected(kind: Kind, edges: Floats) -> Floats:
    """Return the mean number of failures of one drive and of those that replace it until moments [1].

    Renewal equation, M(t) = F0(t) + integral of F(t - s) dM(s), with F0 the law of what is left of the first
    life (Cox, Renewal Theory, 1962, 4.2); step by step, each step's failures in its middle.
    """
    first = -np.expm1(-np.array([_spent(kind, kind.group.age + each) for each in edges.tolist()])
                      + _spent(kind, kind.group.age))  # fmt: skip
    found, width = first.copy(), float(edges[1] - edges[0])
    law = -np.expm1(-(((np.arange(len(edges)) + 0.5) * width / _scale(kind)) ** kind.group.shape))
    for place in range(1, len(edges)):
        before = np.diff(found[:place])
        found[place] += float((law[place - 1 : 0 : -1] * before).sum())
    return found


def _levels(kinds: tuple[Kind, ...], site: Site, events: _Events, missing: Floats) -> Floats:
    """Return the time that vdevs spend with 1, 2, 3 and more drives missing, shape (kinds, LEVELS)."""
    end = np.minimum(events.time + missing, site.horizon)
    lengths = end - events.time
    total = np.zeros((len(kinds), LEVELS))
    total[:, 0] = _by(events.kind, lengths, len(kinds))
    vdevs = int(events.vdev.max()) + 1 if len(end) else 1
    owner = events.history * vdevs + events.vdev
    order = np.lexsort((events.time, owner))
    meets = _overlapping(owner[order], events.time[order], end[order])
    rows = order[meets]
    if not len(rows):
        return total
    total[:, 0] -= _by(events.kind[rows], lengths[rows], len(kinds))
    return total + _sweep(owner[rows], events.kind[rows], events.time[rows], end[rows], len(kinds))


def _overlapping(owner: Integers, start: Floats, end: Floats) -> NDArray[np.bool_]:
    """Tell which intervals, sorted by owner and start, belong to an owner of which any two overlap."""
    touching = np.zeros(len(owner), dtype=np.bool_)
    latest = _running_maximum(end, owner)
    hit = (owner[1:] == owner[:-1]) & (start[1:] < latest[:-1])
    touching[1:] = hit
    touching[:-1] |= hit
    owners = np.unique(owner[touching])
    result: NDArray[np.bool_] = np.isin(owner, owners)
    return result


def _sweep(owner: Integers, kind: Integers, start: Floats, end: Floats, kinds: int) -> Floats:
    """Return the time at each level from starts and ends, shape (kinds, LEVELS)."""
    owners, kinds_of = np.concatenate([owner, owner]), np.concatenate([kind, kind])
    moments = np.concatenate([start, end])
    steps = np.repeat([1, -1], len(owner))
    order = np.lexsort((-steps, moments, owners))
    level = np.cumsum(steps[order])[:-1]
    length = np.diff(moments[order])
    inside = (level > 0) & (owners[order][1:] == owners[order][:-1])
    place = kinds_of[order][:-1][inside] * LEVELS + np.minimum(level[inside], LEVELS) - 1
    return _by(place, length[inside], kinds * LEVELS).reshape(kinds, LEVELS)
