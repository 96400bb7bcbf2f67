"""The same fleet event by event, in SimPy: slow, written for reading, what `run_block` is held against.

Drives fail, are found, wait for a spare and a crew, and are repaired, one process each.  Losses are counted
as they happen; a vdev that is lost is taken as restored at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import simpy

from zsim.planning.fleet.block import LEVELS, Kind, Site
from zsim.planning.risk.one_vdev.latent import present

HoursAt = Callable[[int, float], float]
"""Duration of a repair [s] of a kind of pools, begun at a moment [s]."""


@dataclass(slots=True)
class Counts:
    """What a history gave; by kind where it is a list.

    Attributes
    ----------
    failures, files, vdev : list of int
    missing, levels : list
        As in `zsim.planning.fleet.block.Sums`.
    spare_wait, crew_wait : float
        [s], of all failures.
    """

    failures: list[int]
    files: list[int]
    vdev: list[int]
    missing: list[float]
    levels: list[list[float]]
    spare_wait: float = 0.0
    crew_wait: float = 0.0


@dataclass(slots=True)
class _Vdev:
    """One top-level vdev: who is missing, and since when that has been so."""

    kind: int
    hazard: float
    missing: int = 0
    since: float = 0.0
    ends: list[float] = field(default_factory=list)
    lost: int = 0
    unreplaced: list[int] = field(default_factory=lambda: [0])
    """Failed drives of all that share its spares, one number."""


@dataclass(slots=True)
class _History:
    """One history of the fleet."""

    kinds: tuple[Kind, ...]
    site: Site
    hours: HoursAt
    random: np.random.Generator
    environment: simpy.Environment
    counts: Counts
    shelf: simpy.Container | None
    crews: simpy.Resource | None


def simulate_events(kinds: tuple[Kind, ...], site: Site, hours: HoursAt, seed: int) -> Counts:
    """Return what one history of the fleet gives.

    Parameters
    ----------
    kinds : tuple of Kind
        Their tables of hours are not looked at.
    site : Site
    hours : callable
        Duration of each repair.
    seed : int
    """
    environment = simpy.Environment()
    none = [0] * len(kinds)
    counts = Counts(list(none), list(none), list(none), [0.0] * len(kinds), [[0.0] * LEVELS for _ in kinds])
    many = 10**9
    shelf = None
    if site.spares:
        shelf = simpy.Container(environment, capacity=many, init=site.spares)
    crews = None if site.crews is None else simpy.Resource(environment, capacity=site.crews)
    history = _History(kinds, site, hours, np.random.default_rng(seed), environment, counts, shelf, crews)
    vdevs: list[_Vdev] = []
    for place, kind in enumerate(kinds):
        for number in range(kind.pools * kind.vdevs):
            vdev = _made(history, place)
            if kind.are_hot and number % kind.vdevs:
                vdev.unreplaced = vdevs[-1].unreplaced
            vdevs.append(vdev)
    for vdev in vdevs:
        environment.process(_failing(history, vdev))
    environment.run(until=site.horizon)
    for vdev in vdevs:
        _settle(history, vdev, site.horizon)
    return counts


def _made(history: _History, place: int) -> _Vdev:
    variance = history.kinds[place].variance
    hazard = history.random.gamma(1.0 / variance, variance) if variance > 1e-9 else 1.0
    return _Vdev(place, float(hazard))


def _failing(history: _History, vdev: _Vdev) -> simpy.events.ProcessGenerator:
    """Let the drives of a vdev fail, at a constant rate each."""
    kind = history.kinds[vdev.kind]
    while True:
        rate = kind.group.children * float(kind.world.rate[0]) * vdev.hazard
        if rate <= 0.0:
            return
        yield history.environment.timeout(history.random.exponential(1.0 / rate))
        # Drives that are missing do not fail again.
        if history.random.random() >= vdev.missing / kind.group.children:
            _fail(history, vdev)
            _trip(history, vdev)


def _fail(history: _History, vdev: _Vdev) -> None:
    """Take a drive out, start its repair, and count what that costs."""
    kind = history.kinds[vdev.kind]
    _settle(history, vdev, history.environment.now)
    vdev.missing += 1
    history.counts.failures[vdev.kind] += 1
    # A process begins after this: it would find the vdev restored already where this failure is a loss.
    history.environment.process(_repair(history, vdev, vdev.lost))
    if vdev.missing > kind.group.tolerance:
        history.counts.vdev[vdev.kind] += 1
        history.counts.files[vdev.kind] += 1
        vdev.lost += 1
        vdev.missing = 0
    elif vdev.missing == kind.group.tolerance:
        survivors = kind.group.children - vdev.missing
        share = float(present(kind.world, history.environment.now)[0])
        if history.random.random() < 1.0 - (1.0 - share * _exposed(history, vdev)) ** survivors:
            history.counts.files[vdev.kind] += 1


def _exposed(history: _History, vdev: _Vdev) -> float:
    """Return the share of data that the repair furthest on has not reached yet."""
    if not vdev.ends:
        return 1.0
    hours = history.hours(vdev.kind, history.environment.now)
    return float(np.clip((vdev.ends[0] - history.environment.now) / hours, 0.0, 1.0))


def _trip(history: _History, vdev: _Vdev) -> None:
    """Let ZED fault a drive with latent errors that the resilver meets, if one may go."""
    kind = history.kinds[vdev.kind]
    if not 0 < vdev.missing < kind.group.tolerance:
        return
    share = float(present(kind.world, history.environment.now)[0] * kind.world.tripping[0])
    if history.random.random() < 1.0 - (1.0 - share) ** (kind.group.children - vdev.missing):
        _fail(history, vdev)


def _repair(history: _History, vdev: _Vdev, epoch: int) -> simpy.events.ProcessGenerator:
    """Find out, get a drive and a crew, replace, resilver."""
    environment, site, counts = history.environment, history.site, history.counts
    failed = environment.now
    kind = history.kinds[vdev.kind]
    taken_over = vdev.unreplaced[0] < kind.spares
    vdev.unreplaced[0] += 1
    if taken_over:
        environment.process(_resilver(history, vdev, failed, epoch, kind.takeover))
    yield environment.timeout(site.detect)
    known = environment.now
    yield from _spare(history)
    counts.spare_wait += environment.now - known
    asked = environment.now
    if history.crews is None:
        yield environment.timeout(site.visit)
    else:
        with history.crews.request() as turn:
            yield turn
            counts.crew_wait += environment.now - asked
            yield environment.timeout(site.visit)
    if taken_over:
        yield environment.timeout(history.hours(vdev.kind, failed))
    else:
        yield from _resilver(history, vdev, failed, epoch, 0.0)
    vdev.unreplaced[0] -= 1


def _resilver(
    history: _History, vdev: _Vdev, failed: float, epoch: int, delay: float
) -> simpy.events.ProcessGenerator:
    """Give a vdev back the redundancy that a failure took."""
    environment = history.environment
    yield environment.timeout(delay)
    length = history.hours(vdev.kind, failed)
    heapq.heappush(vdev.ends, environment.now + length)
    yield environment.timeout(length)
    heapq.heappop(vdev.ends)
    history.counts.missing[vdev.kind] += environment.now - failed
    if vdev.lost == epoch:
        _settle(history, vdev, environment.now)
        vdev.missing -= 1


def _spare(history: _History) -> simpy.events.ProcessGenerator:
    """Take a drive from the shelf and order another, or wait for the order where there is no shelf."""
    if history.site.spares is None:
        return
    if history.shelf is None:
        yield history.environment.timeout(history.site.lead_time)
        return
    history.environment.process(_order(history, history.shelf))
    yield history.shelf.get(1)


def _order(history: _History, shelf: simpy.Container) -> simpy.events.ProcessGenerator:
    yield history.environment.timeout(history.site.lead_time)
    yield shelf.put(1)


def _settle(history: _History, vdev: _Vdev, now: float) -> None:
    """Book the time since the last change at the level that the vdev was at."""
    if vdev.missing:
        level = min(vdev.missing, LEVELS) - 1
        history.counts.levels[vdev.kind][level] += now - vdev.since
    vdev.since = now
