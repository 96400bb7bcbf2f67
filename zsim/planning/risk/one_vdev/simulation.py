"""Simulate one vdev event by event, with importance sampling: failures during repairs are made more frequent.

Every event keeps its likelihood ratio, so nothing is approximated: not the law of lifetimes, not that of
repairs, not how they overlap (failure biasing: Nakayama, ACM TOMACS 4, 1994; forcing: Lewis and Boehm 1984).
The last failure, which is loss, is not drawn at all: its chance is counted.  All replicas advance together,
one event each a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gamma
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.planning.risk.one_vdev.group import Floats, Group, Worlds
from zsim.planning.risk.one_vdev.latent import on_any, present

FORCED = 0.5
"""Chance with which another failure comes during a repair, once redundancy is short."""
TRIPPED = 0.3
"""Chance with which ZED faults a drive with latent errors in the simulation."""
EVENTS_MOST = 100_000

Bools = NDArray[np.bool_]
Places = NDArray[np.intp]


class LossEstimate(NamedTuple):
    """A chance by world, and the standard error of each; both of shape (worlds,)."""

    chance: Floats
    error: Floats


class Simulated(NamedTuple):
    """What a simulation gives: chances within each horizon, files and vdev, shape (horizons,) each."""

    files: list[LossEstimate]
    vdev: list[LossEstimate]


@dataclass(slots=True)
class _Tally:
    """What is counted, by horizon and replica, and when a window's replica stops."""

    ends: Floats
    files: Floats
    vdev: Floats
    stop: Floats | None = None


@dataclass(slots=True)
class _Replicas:
    """State of all replicas; arrays by replica, or by replica and drive."""

    group: Group
    worlds: Worlds
    random: np.random.Generator
    hazard: Floats
    weight: Floats
    now: Floats
    born: Floats
    done: Floats
    unhurt: Floats
    windows: Floats
    running: Bools

    @property
    def up(self) -> Bools:
        """Which drives are there."""
        return np.isinf(self.done)

    def scale(self, rows: Places) -> Floats:
        """Scale of the Weibull law of each replica, its hazard applied [s]."""
        shape = self.group.shape
        mean = 1.0 / (self.worlds.rate[rows] * self.hazard[rows] ** (1.0 / shape))
        return self.group.scale(mean)

    def factor(self, rows: Places) -> Floats:
        """Factor on the failure rate for the drives that are missing: stress, and unshared correlation."""
        failed = (~self.up[rows]).sum(axis=1)
        correlation = self.worlds.correlation[rows]
        factor = np.where(failed > 0, self.group.stress, 1.0)
        if self.group.correlation_law == "successive":
            factor = factor * correlation**failed
        if self.group.correlation_law == "same":
            factor = factor * np.where(failed > 0, correlation, 1.0)
        result: Floats = factor
        return result

    def spent(self, rows: Places, until: Floats) -> Floats:
        """Return the hazard that each drive accumulates until a moment [1], shape (rows, children)."""
        shape, scale = self.group.shape, self.scale(rows)[:, None]
        old = ((self.now[rows, None] - self.born[rows]) / scale) ** shape
        new = ((until[:, None] - self.born[rows]) / scale) ** shape
        return np.where(self.up[rows], (new - old) * self.factor(rows)[:, None], 0.0)

    def pace(self, rows: Places, moment: Floats) -> Floats:
        """Return the hazard of each drive at a moment [1/s], shape (rows, children)."""
        shape, scale = self.group.shape, self.scale(rows)[:, None]
        age = np.maximum(moment[:, None] - self.born[rows], 1e-9 * scale)
        rate = shape / scale * (age / scale) ** (shape - 1.0) * self.factor(rows)[:, None]
        return np.where(self.up[rows], rate, 0.0)


def simulate(
    group: Group, worlds: Worlds, horizons: tuple[float, ...], replicas: int, seed: int, window: bool = False
) -> Simulated:
    """Estimate the chances of one vdev.

    Parameters
    ----------
    group : Group
    worlds : Worlds
    horizons : tuple of float
        [s], rising; ignored for a window.
    replicas : int
        Histories a world.
    seed : int
    window : bool
        From a drive's failure until it is repaired (with a fixed time) or all are; else from a healthy vdev.
    """
    ends = np.asarray((np.inf,) if window else horizons)
    # Each period has its own stream: their errors are independent.
    stream = np.random.default_rng([seed, group.children, 0 if window else int(ends[-1])])
    state = _begin(group, worlds, replicas, stream)
    state.windows = _expected_windows(state, ends[-1])
    tally = _Tally(ends, np.zeros((len(ends), len(state.now))), np.zeros((len(ends), len(state.now))))
    _first_failure(state, tally, window)
    if window and group.repair.is_fixed and group.discipline != "restart":
        tally.stop = state.done.min(axis=1)
    for _ in range(EVENTS_MOST):
        rows = np.flatnonzero(state.running)
        if not len(rows):
            break
        _step(state, rows, tally, window)
    shape = (len(ends), len(worlds), replicas)
    return Simulated(_estimates(tally.files.reshape(shape)), _estimates(tally.vdev.reshape(shape)))


def _estimates(values: Floats) -> list[LossEstimate]:
    return [LossEstimate(v.mean(axis=1), v.std(axis=1, ddof=1) / np.sqrt(v.shape[1])) for v in values]


def _begin(group: Group, worlds: Worlds, replicas: int, random: np.random.Generator) -> _Replicas:
    many = worlds.taken(np.repeat(np.arange(len(worlds)), replicas))
    hazard, weight = _shared_hazard(group, many, random)
    count, drives = len(many), group.children
    return _Replicas(
        group=group,
        worlds=many,
        random=random,
        hazard=hazard,
        weight=weight,
        now=np.zeros(count),
        born=np.full((count, drives), -group.age),
        done=np.full((count, drives), np.inf),
        unhurt=np.ones(count),
        windows=np.ones(count),
        running=np.ones(count, dtype=np.bool_),
    )


def _shared_hazard(group: Group, worlds: Worlds, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the hazard that a vdev's drives share, half of them from the law of vdevs that lose data."""
    variance = worlds.correlation - 1.0 if group.correlation_law == "frailty" else np.zeros(len(worlds))
    hazard, weight = np.ones(len(worlds)), np.ones(len(worlds))
    rows = np.flatnonzero(variance > 1e-9)
    if not len(rows):
        return hazard, weight
    from scipy.special import gammaln

    shape, extra = 1.0 / variance[rows], group.tolerance + 1.0
    tilted = random.random(len(rows)) < 0.5
    drawn = random.gamma(shape + np.where(tilted, extra, 0.0))
    drawn = np.maximum(drawn, np.finfo(float).tiny)
    ratio = np.exp(extra * np.log(drawn) + gammaln(shape) - gammaln(shape + extra))
    hazard[rows], weight[rows] = drawn * variance[rows], 1.0 / (0.5 + 0.5 * ratio)
    return hazard, weight


def _first_failure(state: _Replicas, tally: _Tally, window: bool) -> None:
    """Let the first drive fail: now (in a window), or at some moment within the horizon."""
    rows = np.arange(len(state.now))
    if window:
        # A vdev in which a drive has failed is one of those that fail: weighed by its hazard.
        state.weight *= state.hazard
    else:
        shape, scale = state.group.shape, state.scale(rows)
        old = (state.group.age / scale) ** shape
        total = state.group.children * (((tally.ends[-1] + state.group.age) / scale) ** shape - old)
        reached = -np.expm1(-total)
        state.weight *= reached
        spent = -np.log1p(-state.random.random(len(rows)) * reached)
        age = scale * (spent / state.group.children + old) ** (1.0 / shape)
        # Rounding may put it a hair before now.
        state.now = np.clip(age - state.group.age, 0.0, tally.ends[-1])
    drive = state.random.integers(0, state.group.children, len(rows))
    _fail(state, rows, drive, tally)


def _step(state: _Replicas, rows: Places, tally: _Tally, window: bool) -> None:
    """Advance each running replica by one event."""
    repaired = state.done[rows].min(axis=1)
    healthy = np.isinf(repaired)
    if healthy.any():
        well = rows[healthy]
        if window:
            state.running[well] = False
        else:
            _next_of_healthy(state, well, tally)
    hurt, until = rows[~healthy], repaired[~healthy]
    if len(hurt):
        _next_of_hurt(state, hurt, until, tally)


def _next_of_healthy(state: _Replicas, rows: Places, tally: _Tally) -> None:
    """Let the next drive of a healthy vdev fail, at its natural time."""
    shape, scale = state.group.shape, state.scale(rows)[:, None]
    old = ((state.now[rows, None] - state.born[rows]) / scale) ** shape
    spent = old + state.random.standard_exponential(old.shape)
    moments = state.born[rows] + scale * spent ** (1.0 / shape)
    drive = moments.argmin(axis=1)
    moment = moments[np.arange(len(rows)), drive]
    inside = moment <= tally.ends[-1]
    state.running[rows[~inside]] = False
    state.now[rows] = moment
    _fail(state, rows[inside], drive[inside], tally)


def _next_of_hurt(state: _Replicas, rows: Places, until: Floats, tally: _Tally) -> None:
    """Advance to the next failure or repair of vdevs with missing drives."""
    critical = (~state.up[rows]).sum(axis=1) == state.group.tolerance
    _expect_loss(state, rows[critical], until[critical], tally)
    _force(state, rows[~critical], until[~critical], tally)


def _expect_loss(state: _Replicas, rows: Places, until: Floats, tally: _Tally) -> None:
    """Count the chance that the next failure, which is loss, comes before the repair; go on without it."""
    for place, end in enumerate(tally.ends):
        reached = np.maximum(np.minimum(until, end), state.now[rows])
        value = state.weight[rows] * -np.expm1(-state.spent(rows, reached).sum(axis=1))
        tally.vdev[place, rows] += value
        tally.files[place, rows] += value * state.unhurt[rows]
    state.weight[rows] *= np.exp(-state.spent(rows, until).sum(axis=1))
    state.now[rows] = until
    over = until > tally.ends[-1]
    state.running[rows[over]] = False
    _repair(state, rows[~over], tally.stop)


def _force(state: _Replicas, rows: Places, until: Floats, tally: _Tally) -> None:
    """Force a failure before the next repair with some chance, and weigh the outcome."""
    random = state.random
    length = until - state.now[rows]
    pace = state.pace(rows, state.now[rows] + 0.5 * length).sum(axis=1)
    natural = -np.expm1(-pace * length)
    forced = np.maximum(natural, _bias(state, rows))
    # With no drive left to fail nothing can be forced.
    forced = np.where(natural > 0.0, np.minimum(forced, 1.0 - 1e-9), 0.0)
    fails = random.random(len(rows)) < forced
    moment = state.now[rows] - np.log1p(-random.random(len(rows)) * natural) / np.where(pace > 0, pace, 1.0)
    moment = np.where(fails, np.minimum(moment, until), until)
    survived = np.exp(-state.spent(rows, moment).sum(axis=1))
    rates = state.pace(rows, moment)
    total = rates.sum(axis=1)
    passed = moment - state.now[rows]
    proposed = forced * pace * np.exp(-pace * passed) / np.where(natural > 0, natural, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(fails, total * survived / proposed, survived / (1.0 - forced))
    state.weight[rows] *= ratio
    state.now[rows] = moment
    drive = (rates.cumsum(axis=1) < (random.random(len(rows)) * total)[:, None]).sum(axis=1)
    over = moment > tally.ends[-1]
    state.running[rows[over]] = False
    _repair(state, rows[~fails & ~over], tally.stop)
    hit = fails & ~over
    _fail(state, rows[hit], drive[hit], tally)


def _bias(state: _Replicas, rows: Places) -> Floats:
    """Return the chance with which a failure is forced: so rarely at first that about one window is."""
    failed = (~state.up[rows]).sum(axis=1)
    return np.where(failed > 1, FORCED, np.minimum(FORCED, 1.0 / state.windows[rows]))


def _expected_windows(state: _Replicas, horizon: float) -> Floats:
    """Return how many repairs each replica expects within the horizon, at least 1."""
    if not np.isfinite(horizon):
        return np.ones(len(state.now))
    scale = state.scale(np.arange(len(state.now)))
    windows = state.group.children * ((horizon + state.group.age) / scale) ** state.group.shape
    return np.maximum(windows, 1.0)


def _repair(state: _Replicas, rows: Places, stop: Floats | None) -> None:
    """Put new drives where repairs end now."""
    ended = state.done[rows] <= state.now[rows, None]
    state.born[rows] = np.where(ended, state.now[rows, None], state.born[rows])
    state.done[rows] = np.where(ended, np.inf, state.done[rows])
    if stop is not None:
        state.running[rows] &= state.now[rows] < stop[rows]


def _fail(state: _Replicas, rows: Places, drive: Places, tally: _Tally) -> None:
    """Let a drive of each replica fail, and another where ZED faults one; count what that costs."""
    if not len(rows):
        return
    failed = (~state.up[rows]).sum(axis=1)
    share = present(state.worlds.taken(rows), _age(state, rows))
    exposed = _exposed(state, rows)
    _take_out(state, rows, drive)
    _trip(state, rows, failed, share)
    at_last = (~state.up[rows]).sum(axis=1) == state.group.tolerance
    last, open_share = rows[at_last], (share * exposed)[at_last]
    _cost_files(state, last, on_any(open_share, state.group.children - state.group.tolerance), tally)


def _age(state: _Replicas, rows: Places) -> Floats:
    """Return the mean age of a replica's drives [s]."""
    result: Floats = state.now[rows] - state.born[rows].mean(axis=1)
    return result


def _exposed(state: _Replicas, rows: Places) -> Floats:
    """Return the share of data not yet repaired by the repair that is furthest."""
    down = ~state.up[rows]
    if state.group.discipline == "restart" or not state.group.repair.is_fixed:
        return np.ones(len(rows))
    hours = state.worlds.hours[rows, None]
    left = np.where(down, np.clip((state.done[rows] - state.now[rows, None]) / hours, 0.0, 1.0), 1.0)
    result: Floats = left.min(axis=1)
    return result


def _take_out(state: _Replicas, rows: Places, drive: Places) -> None:
    """Start the repair of a drive; in a release that restarts, of all that are missing."""
    length = state.worlds.delay[rows] + _repair_times(state, rows)
    begin = state.now[rows]
    if state.group.discipline == "serial":
        busy = np.where(state.up[rows], -np.inf, state.done[rows]).max(axis=1)
        begin = np.maximum(begin, busy)
    state.done[rows, drive] = begin + length
    if state.group.discipline == "restart":
        down = ~state.up[rows]
        state.done[rows] = np.where(down, (begin + length)[:, None], np.inf)


def _repair_times(state: _Replicas, rows: Places) -> Floats:
    law, hours = state.group.repair, state.worlds.hours[rows]
    if law.is_fixed:
        return hours
    rest = state.random.weibull(law.shape, len(rows)) / gamma(1.0 + 1.0 / law.shape)
    result: Floats = hours * (law.minimum + (1.0 - law.minimum) * rest)
    return result


def _trip(state: _Replicas, rows: Places, failed: Places, share: Floats) -> None:
    """Take out another drive where ZED faults one."""
    tolerance, children = state.group.tolerance, state.group.children
    allowed = failed + 1 < tolerance
    drives = np.maximum(children - failed - 1, 0)
    with np.errstate(divide="ignore"):
        chance = np.where(allowed, -np.expm1(drives * np.log1p(-share * state.worlds.tripping[rows])), 0.0)
    rare = np.where(failed > 0, TRIPPED, np.minimum(TRIPPED, 1.0 / state.windows[rows]))
    forced = np.where(chance > 0.0, np.maximum(chance, rare), 0.0)
    trips = state.random.random(len(rows)) < forced
    with np.errstate(invalid="ignore", divide="ignore"):
        state.weight[rows] *= np.where(trips, chance / forced, (1.0 - chance) / (1.0 - forced))
    hit = rows[trips]
    if len(hit):
        order = np.where(state.up[hit], state.random.random((len(hit), children)), -1.0)
        _take_out(state, hit, order.argmax(axis=1))


def _cost_files(state: _Replicas, rows: Places, share: Floats, tally: _Tally) -> None:
    """Count files lost with a chance, in the histories that had lost none."""
    value = state.weight[rows] * state.unhurt[rows] * share
    for place, end in enumerate(tally.ends):
        inside = state.now[rows] <= end
        tally.files[place, rows[inside]] += value[inside]
    state.unhurt[rows] *= 1.0 - share


def count_events(group: Group, worlds: Worlds, horizon: float, replicas: int, seed: int) -> LossEstimate:
    """Estimate how many times within a horizon a failure finds no redundancy, drives being replaced on.

    The count of Elerath and Pecht (IEEE Trans. Computers 58, 2009): a failure while others are missing or
    have latent errors, as many as the vdev tolerates in all.  Nothing is biased here.
    """
    state = _begin(group, worlds, replicas, np.random.default_rng(seed))
    events = np.zeros(len(state.now))
    state.weight[:], state.hazard[:] = 1.0, 1.0
    for _ in range(EVENTS_MOST):
        rows = np.flatnonzero(state.running)
        if not len(rows):
            break
        _natural_step(state, rows, horizon, events)
    values = events.reshape(len(worlds), replicas)
    return LossEstimate(values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(replicas))


def _natural_step(state: _Replicas, rows: Places, horizon: float, events: Floats) -> None:
    """Advance to the next failure or repair, whichever comes first."""
    shape, scale = state.group.shape, state.scale(rows)[:, None]
    old = np.maximum(state.now[rows, None] - state.born[rows], 0.0) / scale
    spent = old**shape + state.random.standard_exponential(old.shape)
    moments = np.where(state.up[rows], state.born[rows] + scale * spent ** (1.0 / shape), np.inf)
    drive = moments.argmin(axis=1)
    fails = moments[np.arange(len(rows)), drive]
    repaired = state.done[rows].min(axis=1)
    first = np.minimum(fails, repaired)
    state.now[rows] = first
    state.running[rows] &= first <= horizon
    inside = first <= horizon
    _repair(state, rows[inside & (repaired <= fails)], None)
    hit = inside & (fails < repaired)
    events[rows[hit]] += _without_redundancy(state, rows[hit])
    _take_out(state, rows[hit], drive[hit])


def _without_redundancy(state: _Replicas, rows: Places) -> Floats:
    """Return the chance that a failure now finds as many others missing or damaged as are tolerated."""
    failed = (~state.up[rows]).sum(axis=1)
    share = present(state.worlds.taken(rows), _age(state, rows))
    survivors = state.group.children - failed - 1
    with np.errstate(divide="ignore"):
        damaged = -np.expm1(survivors * np.log1p(-share))
    short = state.group.tolerance - failed
    return np.where(short <= 0, 1.0, np.where(short == 1, damaged, 0.0))
