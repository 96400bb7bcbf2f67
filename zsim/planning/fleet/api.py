"""``zsim.fleet``: years of failures in many pools, with repair times from the simulator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zsim.base.arrays import I64
from zsim.base.errors import NotSimulatedYet, check_function, check_kind
from zsim.base.notebook import reporting
from zsim.base.provenance import provenance
from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.planning.fleet.answer import FleetAnswer, three_digits
from zsim.planning.fleet.block import LEVELS, Kind, Site, Sums, run_block
from zsim.planning.fleet.records import Losses, PoolsRow, Stock
from zsim.planning.fleet.response import FillResponse, HoursOf, tabulated
from zsim.planning.fleet.spec import Fleet, Pools
from zsim.planning.fleet.worlds import WORLDS, KindLosses, chosen, taken
from zsim.planning.risk.api import as_repeated, groups, source_hashes
from zsim.planning.risk.evaluate import DrawnWorlds, Report, summed_up
from zsim.planning.risk.one_vdev.group import HOUR, YEAR, Floats
from zsim.planning.risk.plain_disks import plain_words
from zsim.planning.risk.question import RiskInputs, Unknowns, unknowns
from zsim.planning.risk.reliability import Spread, number
from zsim.planning.risk.stated import idle_words, life_words
from zsim.planning.risk.surface import drawn_by_law
from zsim.planning.risk.warnings import known_bugs
from zsim.prediction.answer.records import Quantiles
from zsim.scenario.model import Scenario

FAILURES_A_BLOCK = 200_000
FAILURES_A_WORLD = 400
"""In the median, where the number of histories is not stated."""
MOST_TRIALS = 100_000
"""Histories, where their number is not stated."""
ENOUGH = (0.95, 0.99, 0.999)


class WorkBlock(NamedTuple):
    """A piece of the work that can be done anywhere: its arguments are those of `run_block`."""

    world: int
    kinds: tuple[Kind, ...]
    site: Site
    histories: int
    seed: tuple[int, ...]


def fleet(
    asked: Fleet | Mapping[str, object] | str | Path,
    on_progress: Report | None = None,
    executor: Executor | None = None,
    hours_of: HoursOf | None = None,
) -> FleetAnswer:
    """Simulate a fleet of pools over years: losses, spares, crews and degraded hours.

    Parameters
    ----------
    asked : Fleet, mapping, str or Path
        A fleet, its fields as `Fleet.from_dict` takes them, or the path of a fleet file.
    on_progress : callable, optional
        Called with the share done, 0 to 1, and what is being done.
    executor : Executor, optional
        An object with ``submit``; the results do not depend on it.
    hours_of : callable, optional
        Returns the duration of a repair; replaces `zsim.prediction`.

    Returns
    -------
    FleetAnswer

    Raises
    ------
    InputError
        When an input is impossible.

    Examples
    --------
    >>> pools = {"count": 50, "layout": "raidz2x8", "hours": 30, "afr": "2%"}
    >>> 6 < fleet({"trials": 20, "years": 3, "pool": [pools]}).failures_per_year < 10
    True
    """
    asked = _asked(asked)
    check_function("hours_of", hours_of)
    report = reporting(on_progress)
    case = [_resolved(pools) for pools in asked.pool]
    asked = _with_trials(asked, case)
    tables = _tables(asked, hours_of or _predicted, report)
    drawn, weights = _worlds(asked, case, tables)
    blocks = list(_blocks(asked, case, tables, drawn))
    sums: dict[int, list[Sums]] = {}
    for done, (block, found) in enumerate(zip(blocks, _run(blocks, executor), strict=True)):
        sums.setdefault(block.world, []).append(found)
        report(0.5 + 0.5 * (done + 1) / len(blocks), "years of failures")
    trials = {world: sum(each.histories for each in blocks if each.world == world) for world in sums}
    merged = [_merged(sums[world]) for world in sorted(sums)]
    return _answer(asked, case, tables, merged, [trials[world] for world in sorted(trials)], weights)


def _asked(asked: Fleet | Mapping[str, object] | str | Path) -> Fleet:
    """Return the fleet that is given as such, as data or as a file."""
    if isinstance(asked, Mapping):
        return Fleet.from_dict(asked)
    allowed = "it is a zsim.Fleet, its fields, or the path of a fleet file"
    check_kind("fleet", asked, (Fleet, str, Path), allowed, 'write zsim.Fleet.read("fleet.toml")')
    return asked if isinstance(asked, Fleet) else Fleet.read(asked)


def _with_trials(asked: Fleet, case: Sequence[Case]) -> Fleet:
    """Return the fleet with as many histories as it takes where none are stated.

    A world whose drives fail a quarter as often as the median still sees a hundred failures.
    """
    if "trials" in asked.model_fields_set:
        return asked
    failures = (
        asked.years
        * YEAR
        * math.fsum(
            pools.count * len(one.layout.stored) * one.layout.vdevs[0].children * _unknowns(pools).rate.middle
            for pools, one in zip(asked.pool, case, strict=True)
        )
    )
    wanted = WORLDS * FAILURES_A_WORLD / max(failures, 1e-9)
    return asked.changed(trials=int(min(max(asked.trials, wanted), MOST_TRIALS)))


def _predicted(scenario: Scenario) -> Quantiles:
    from zsim.prediction.api import predict

    return predict(scenario).resilver_s


def _resolved(pools: Pools) -> Case:
    case = resolve(pools.scenario)
    if len(set(case.layout.stored)) > 1:
        allowed = "the vdevs of a pool are alike here"
        raise NotSimulatedYet("layout", str(case.layout), allowed, "give each kind a [[pool]] of its own")
    return case


def _tables(asked: Fleet, hours_of: HoursOf, report: Report) -> list[FillResponse]:
    """Return the table of hours of each kind of pools; kinds with the same scenario share theirs."""
    known: dict[tuple[object, ...], FillResponse] = {}
    found = []
    for place, pools in enumerate(asked.pool):
        report(0.5 * place / len(asked.pool), f"hours of {pools.name}")
        key = (str(pools.scenario.stated()), pools.hours, pools.fill_per_year)
        if key not in known:
            known[key] = tabulated(pools, asked.years, hours_of)
        found.append(known[key])
    return found


def _worlds(
    asked: Fleet, case: Sequence[Case], tables: Sequence[FillResponse]
) -> tuple[list[DrawnWorlds], Floats]:
    """Return the worlds of each kind of pools, the same place being the same world, and their weights."""
    many = [drawn_by_law(_unknowns(pools), asked.seed) for pools in asked.pool]
    losing = [
        KindLosses(
            vdevs=pools.count * len(one.layout.stored),
            group=groups(one, pools.inputs)[0][1],
            worlds=drawn.worlds,
            missing=table.hours(np.array([one.fill]), _scores(drawn)) + asked.visit + asked.detect,
        )
        for pools, one, table, drawn in zip(asked.pool, case, tables, many, strict=True)
    ]
    places, weights = chosen(losing, min(WORLDS, asked.trials))
    return [taken(drawn, places) for drawn in many], weights


def _unknowns(pools: Pools) -> Unknowns:
    made: Callable[..., RiskInputs] = RiskInputs
    inputs = made(**{**_stated(pools.inputs), "detect": 0.0})
    # In units of the table, which has the repair's quantiles by fill.
    hours = Spread.exactly(1.0) if pools.hours is not None else Spread(1.0, 0.5, 2.0)
    return unknowns(inputs, hours, pools.scenario.drive)


def _ages(pools: Pools, years: float) -> tuple[str, ...]:
    """Return how often the drives fail at their age, where lifetimes have a shape."""
    known = _unknowns(pools)
    return life_words(pools.inputs, known.rate.middle * known.age_factor.middle, years)


def _scores(drawn: DrawnWorlds) -> Floats:
    """Return where each world lies in the spread of the hours."""
    return drawn.scores.get("hours", np.zeros(len(drawn.worlds)))


def _stated(inputs: RiskInputs) -> dict[str, object]:
    return {name: getattr(inputs, name) for name in inputs.__slots__}


def _blocks(
    asked: Fleet, case: Sequence[Case], tables: Sequence[FillResponse], drawn: Sequence[DrawnWorlds]
) -> Iterator[WorkBlock]:
    """Yield the work: every world its share of the histories, in blocks of a bearable size."""
    site = Site(asked.years * YEAR, asked.detect, asked.visit, asked.lead_time, asked.spares, asked.crews)
    count = len(drawn[0].worlds)
    shares = [asked.trials // count + (place < asked.trials % count) for place in range(count)]
    for world, histories in enumerate(shares):
        kinds = tuple(
            _kind(*each, asked.years, world) for each in zip(asked.pool, case, tables, drawn, strict=True)
        )
        expected = math.fsum(_failures(kind, site) for kind in kinds)
        size = max(1, min(histories, int(FAILURES_A_BLOCK / max(expected, 1e-9))))
        for number_of, begin in enumerate(range(0, histories, size)):
            yield WorkBlock(world, kinds, site, min(size, histories - begin), (asked.seed, world, number_of))


def _failures(kind: Kind, site: Site) -> float:
    drives = kind.pools * kind.vdevs * kind.group.children
    return float(drives * (kind.world.rate[0] * site.horizon + 0.02))


def _kind(
    pools: Pools,
    case: Case,
    table: FillResponse,
    drawn: DrawnWorlds,
    years: float,
    world: int,
) -> Kind:
    group, here = groups(case, pools.inputs)[0][1], drawn.worlds.taken(np.array([world]))
    again = as_repeated(case, group, here).hours / here.hours
    return Kind(
        pools=pools.count,
        vdevs=len(case.layout.stored),
        group=group,
        world=here,
        fills=(case.fill, case.fill + pools.fill_per_year * years),
        table_fills=table.fills,
        table_hours=table.hours(table.fills, float(_scores(drawn)[world])) * again,
        critical=number("pool", "critical_blocks"),
        spares=case.layout.vdevs[0].spares or case.layout.spares,
        are_hot=not case.layout.vdevs[0].spares,
        takeover=number("delay", "hot") * HOUR,
    )


def _run(blocks: Sequence[WorkBlock], executor: Executor | None) -> Iterator[Sums]:
    """Yield the sums of each block, in order."""
    if executor is None:
        yield from (run_block(*block[1:]) for block in blocks)
        return
    futures = [executor.submit(run_block, *block[1:]) for block in blocks]
    try:
        yield from (future.result() for future in futures)
    finally:
        for future in futures:
            future.cancel()


def _merged(sums: list[Sums]) -> Sums:
    """Return the sums of all blocks of a world; counts by number are as long as the longest."""
    found = {}
    for name in Sums._fields:
        parts = [getattr(each, name) for each in sums]
        if name in ("losses", "hazards"):
            found[name] = np.concatenate(parts)
        elif name in ("demand", "busy"):
            found[name] = _added(parts)
        else:
            found[name] = np.sum(parts, axis=0)
    return Sums(**found)


def _weighed(sums: list[Sums], trials: list[int], weights: Floats) -> list[Sums]:
    """Return the sums of each world as if its histories were as many of all as its weight says."""
    factors = weights * sum(trials) / np.array(trials)
    kept = ("losses", "hazards")
    return [
        Sums(**{name: getattr(each, name) * (1.0 if name in kept else factor) for name in Sums._fields})
        for each, factor in zip(sums, factors.tolist(), strict=True)
    ]


def _added(parts: Sequence[Floats | I64]) -> Floats:
    total = np.zeros(max(len(part) for part in parts))
    for part in parts:
        total[: len(part)] += part
    return total


def _answer(
    asked: Fleet,
    case: Sequence[Case],
    tables: Sequence[FillResponse],
    sums: list[Sums],
    trials: list[int],
    weights: Floats,
) -> FleetAnswer:
    sums, fleet_years = _weighed(sums, trials, weights), sum(trials) * asked.years
    failures = math.fsum(float(each.failures.sum()) for each in sums)
    pools = sum(each.count for each in asked.pool)
    degraded = math.fsum(float(each.levels.sum()) for each in sums)
    share = math.fsum(float(each.vdev.sum()) for each in sums)
    rows = tuple(
        _row(place, asked, case[place], tables[place], sums, weights, fleet_years, share)
        for place in range(len(asked.pool))
    )
    return FleetAnswer(
        years=asked.years,
        trials=sum(trials),
        pool_years=float(pools * fleet_years),
        any_loss=_losses([-np.expm1(-each.hazards) for each in sums], weights, 1.0),
        losses_per_year=_losses([each.losses for each in sums], weights, 1.0 / asked.years),
        failures_per_year=three_digits(failures / fleet_years),
        degraded_s_per_pool_year=three_digits(degraded / fleet_years / pools),
        pools=rows,
        spares=_stock(asked.spares, sums, 0, _added([each.demand for each in sums]), failures),
        crews=_stock(asked.crews, sums, 1, _added([each.busy for each in sums]), failures),
        warnings=tuple(
            f"{pools.name}: {text}"
            for pools, one in zip(asked.pool, case, strict=True)
            for text in (
                *known_bugs(one),
                *idle_words(pools.inputs, repairs=not one.layout.is_plain),
                *_ages(pools, asked.years),
                *plain_words(one.layout, pools.hours),
            )
        ),
        inputs=asked.plain(),
        provenance={**provenance(asked.plain(), asked.seed), **source_hashes(Path(__file__).parent)},
    )


def _losses(values: list[Floats], weights: Floats, factor: float) -> Losses:
    """Return means over histories by grade, as ranges over worlds; values have shape (histories, 3)."""
    means = np.array([each.mean(axis=0) for each in values]) * factor
    errors = np.array([each.std(axis=0) / np.sqrt(len(each)) for each in values]) * factor
    found = [
        summed_up(means[:, grade], errors[:, grade] / np.maximum(means[:, grade], 1e-300), weights)
        for grade in range(3)
    ]
    return Losses(files=found[0], vdev=found[1], pool=found[2])


def _row(
    place: int,
    asked: Fleet,
    case: Case,
    table: FillResponse,
    sums: list[Sums],
    weights: Floats,
    fleet_years: float,
    share: float,
) -> PoolsRow:
    pools = asked.pool[place]
    failures = math.fsum(float(each.failures[place]) for each in sums)
    missing = math.fsum(float(each.missing[place]) for each in sums)
    levels = sum((each.levels[place] for each in sums), np.zeros(LEVELS))
    by_world = [
        np.array([getattr(each, grade)[place] for each in sums]) for grade in ("files", "vdev", "pool")
    ]
    none = np.zeros(len(sums))
    files, vdev, pool = (summed_up(each / weights / fleet_years, none, weights) for each in by_world)
    lost = float(by_world[1].sum())
    return PoolsRow(
        name=pools.name,
        layout=str(case.layout),
        pools=pools.count,
        failures_per_year=three_digits(failures / fleet_years),
        hours_s=three_digits(float(table.hours(np.array([case.fill]), 0.0)[0])),
        missing_s=three_digits(missing / max(failures, 1.0)),
        degraded_s=tuple(three_digits(each / fleet_years / pools.count) for each in levels),
        losses_per_year=Losses(files=files, vdev=vdev, pool=pool),
        share=three_digits(lost / share) if share > 0 else 0.0,
        table_error=three_digits(table.error),
    )


def _stock(have: int | None, sums: list[Sums], place: int, counts: Floats, failures: float) -> Stock:
    waited = math.fsum(float(each.waits[place]) for each in sums)
    without = math.fsum(float(each.waits[2 + place]) for each in sums)
    return Stock(
        have=have,
        waited=three_digits(without / max(failures, 1.0)),
        mean_wait_s=three_digits(waited / max(failures, 1.0)),
        enough={f"{100 * share:g} %": _enough(counts, share) for share in ENOUGH},
    )


def _enough(counts: Floats, share: float) -> int:
    """Return how many are enough for a share of the failures, which find so many others before them."""
    total = np.cumsum(counts)
    if total[-1] == 0:
        return 0
    return int(np.searchsorted(total, share * total[-1])) + 1
