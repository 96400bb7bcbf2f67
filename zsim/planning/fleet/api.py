"""``zsim.fleet``: years of failures in many pools, with repair times from the simulator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zsim.base.arrays import I64
from zsim.base.errors import check_function, check_kind
from zsim.base.notebook import reporting
from zsim.base.provenance import provenance
from zsim.base.units import format_duration
from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.planning.fleet.alike import AlikeVdevs, alike_vdevs, mean_hours
from zsim.planning.fleet.answer import FleetAnswer, three_digits
from zsim.planning.fleet.block import LEVELS, Kind, Site, Sums, run_block
from zsim.planning.fleet.ends import ManyWorlds, chance_of_loss, nested, rate_of_loss
from zsim.planning.fleet.records import Losses, PoolsRow, Stock
from zsim.planning.fleet.response import HoursOf
from zsim.planning.fleet.spec import Fleet, Pools
from zsim.planning.fleet.worlds import WORLDS, KindLosses, chosen, losses_expected, taken
from zsim.planning.risk.api import as_repeated, source_hashes
from zsim.planning.risk.evaluate import DrawnWorlds, Report
from zsim.planning.risk.one_vdev.group import HOUR, YEAR, Floats
from zsim.planning.risk.plain_disks import plain_words, single_drives
from zsim.planning.risk.question import RiskInputs, Unknowns, unknowns
from zsim.planning.risk.records import Chance
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
    case = [resolve(pools.scenario) for pools in asked.pool]
    asked = _with_trials(asked, case)
    parts = alike_vdevs(asked, case, hours_of or _predicted, report)
    worlds = _worlds(asked, parts)
    blocks = list(_blocks(asked, parts, worlds.drawn))
    sums: dict[int, list[Sums]] = {}
    for done, (block, found) in enumerate(zip(blocks, _run(blocks, executor), strict=True)):
        sums.setdefault(block.world, []).append(found)
        report(0.5 + 0.5 * (done + 1) / len(blocks), "years of failures")
    trials = {world: sum(each.histories for each in blocks if each.world == world) for world in sums}
    merged = [_merged(sums[world]) for world in sorted(sums)]
    return _answer(asked, parts, worlds, merged, [trials[world] for world in sorted(trials)])


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
            pools.count * sum(vdev.children for vdev in one.layout.stored) * _unknowns(pools).rate.middle
            for pools, one in zip(asked.pool, case, strict=True)
        )
    )
    wanted = WORLDS * FAILURES_A_WORLD / max(failures, 1e-9)
    return asked.changed(trials=int(min(max(asked.trials, wanted), MOST_TRIALS)))


def _predicted(scenario: Scenario) -> Quantiles:
    from zsim.prediction.api import predict

    return predict(scenario).resilver_s


class FleetWorlds(NamedTuple):
    """The worlds of a fleet.

    Attributes
    ----------
    drawn : list of DrawnWorlds
        The simulated ones for each kind of pools; the same place is the same world.
    many : ManyWorlds
        Those that may be, and which of them are simulated.
    expected : list of tuple of ndarray, shape (many,)
        Losses of files and of vdevs of each kind of vdevs to first order [1/s].
    """

    drawn: list[DrawnWorlds]
    many: ManyWorlds
    expected: list[tuple[Floats, Floats]]


def _worlds(asked: Fleet, parts: Sequence[AlikeVdevs]) -> FleetWorlds:
    """Return the worlds that are simulated, chosen by what is lost in them."""
    many = [drawn_by_law(_unknowns(pools), asked.seed) for pools in asked.pool]
    losing = [
        KindLosses(
            vdevs=part.pools.count * part.vdevs,
            group=part.group,
            worlds=many[part.place].worlds,
            missing=part.table.hours(np.array([part.case.fill]), _scores(many[part.place]))
            + asked.visit
            + asked.detect,
        )
        for part in parts
    ]
    places, weights = chosen(losing, min(WORLDS, asked.trials))
    scores = {name: values for drawn in many for name, values in drawn.scores.items()}
    known = np.column_stack(list(scores.values())) if scores else np.zeros((1, 0))
    return FleetWorlds(
        [taken(drawn, places) for drawn in many],
        ManyWorlds(known, places, weights),
        [losses_expected(each)[1:] for each in losing],
    )


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


def _blocks(asked: Fleet, parts: Sequence[AlikeVdevs], drawn: Sequence[DrawnWorlds]) -> Iterator[WorkBlock]:
    """Yield the work: every world its share of the histories, in blocks of a bearable size."""
    site = Site(asked.years * YEAR, asked.detect, asked.visit, asked.lead_time, asked.spares, asked.crews)
    count = len(drawn[0].worlds)
    first = np.cumsum([0, *(pools.count for pools in asked.pool)]).tolist()
    shares = [asked.trials // count + (place < asked.trials % count) for place in range(count)]
    for world, histories in enumerate(shares):
        kinds = tuple(_kind(part, drawn[part.place], asked.years, world, first[part.place]) for part in parts)
        expected = math.fsum(_failures(kind, site) for kind in kinds)
        size = max(1, min(histories, int(FAILURES_A_BLOCK / max(expected, 1e-9))))
        for number_of, begin in enumerate(range(0, histories, size)):
            yield WorkBlock(world, kinds, site, min(size, histories - begin), (asked.seed, world, number_of))


def _failures(kind: Kind, site: Site) -> float:
    drives = kind.pools * kind.vdevs * kind.group.children
    return float(drives * (kind.world.rate[0] * site.horizon + 0.02))


def _kind(part: AlikeVdevs, drawn: DrawnWorlds, years: float, world: int, first_pool: int) -> Kind:
    case, table, here = part.case, part.table, drawn.worlds.taken(np.array([world]))
    again = as_repeated(case, part.group, here).hours / here.hours
    distributed = part.vdev.spares
    return Kind(
        pools=part.pools.count,
        vdevs=part.vdevs,
        group=part.group,
        world=here,
        fills=(case.fill, case.fill + part.pools.fill_per_year * years),
        table_fills=table.fills,
        table_hours=table.hours(table.fills, float(_scores(drawn)[world])) * again,
        critical=number("pool", "critical_blocks"),
        spares=0 if part.vdev.is_disk else distributed or case.layout.spares,
        are_hot=not distributed,
        takeover=number("delay", "hot") * HOUR,
        first_pool=first_pool,
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
    asked: Fleet, parts: Sequence[AlikeVdevs], worlds: FleetWorlds, sums: list[Sums], trials: list[int]
) -> FleetAnswer:
    sums, fleet_years = _weighed(sums, trials, worlds.many.weights), sum(trials) * asked.years
    failures = math.fsum(float(each.failures.sum()) for each in sums)
    pools = sum(each.count for each in asked.pool)
    degraded = math.fsum(float(each.levels.sum()) for each in sums)
    chances = [-np.expm1(-each.hazards) for each in sums]
    rates = [each.losses / asked.years for each in sums]
    rows = []
    for place in range(len(asked.pool)):
        own = [at for at, part in enumerate(parts) if part.place == place]
        rows.append(_row(own, parts, worlds, sums, fleet_years))
    return FleetAnswer(
        years=asked.years,
        trials=sum(trials),
        pool_years=float(pools * fleet_years),
        any_loss=_losses(chance_of_loss, chances, worlds.many, worlds.expected),
        losses_per_year=_losses(rate_of_loss, rates, worlds.many, worlds.expected),
        failures_per_year=three_digits(failures / fleet_years),
        degraded_s_per_pool_year=three_digits(degraded / fleet_years / pools),
        pools=tuple(rows),
        spares=_stock(asked.spares, sums, 0, _added([each.demand for each in sums]), failures),
        crews=_stock(asked.crews, sums, 1, _added([each.busy for each in sums]), failures),
        warnings=tuple(_warnings(asked, parts)),
        inputs=asked.plain(),
        provenance={**provenance(asked.plain(), asked.seed), **source_hashes(Path(__file__).parent)},
    )


def _warnings(asked: Fleet, parts: Sequence[AlikeVdevs]) -> Iterator[str]:
    """Yield what is to be known of each kind of pools, with their name."""
    for place, pools in enumerate(asked.pool):
        own = [part for part in parts if part.place == place]
        case = own[0].case
        for text in (
            *known_bugs(case),
            *idle_words(pools.inputs, repairs=not case.layout.is_plain),
            *_ages(pools, asked.years),
            *plain_words(case.layout, pools.hours),
            *single_drives(case),
            *_repairs_differ(own),
        ):
            yield f"{pools.name}: {text}"


def _repairs_differ(own: Sequence[AlikeVdevs]) -> tuple[str, ...]:
    """Return how long each kind of vdev of a pool is repaired, where they differ."""
    repaired = [part for part in own if not part.vdev.is_disk]
    if len(repaired) < 2:
        return ()
    if own[0].pools.hours is not None:
        return ("the vdevs differ: the stated repair time is used for all",)
    told = ", ".join(f"{part.vdev} in {format_duration(mean_hours([part]))}" for part in repaired)
    return (f"the vdevs differ, and are repaired as predicted: {told}",)


LossOf = Callable[[Floats, Floats, Floats, ManyWorlds], Chance]
KindsExpected = Sequence[tuple[Floats, Floats]]


def _losses(loss: LossOf, values: list[Floats], worlds: ManyWorlds, expected: KindsExpected) -> Losses:
    """Return means over histories by grade, as ranges over worlds; values have shape (histories, 3)."""
    means = np.array([each.mean(axis=0) for each in values])
    errors = np.array([each.std(axis=0) / np.sqrt(len(each)) for each in values]) / np.maximum(means, 1e-300)
    files, vdev = (np.sum([kind[grade] for kind in expected], axis=0) for grade in (0, 1))
    grades = zip(means.T, errors.T, (files, vdev, vdev), strict=True)
    all_files, all_vdev, all_pool = nested(*(loss(*grade, worlds) for grade in grades))
    return Losses(files=all_files, vdev=all_vdev, pool=all_pool)


def _row(
    own: list[int],
    parts: Sequence[AlikeVdevs],
    worlds: FleetWorlds,
    sums: list[Sums],
    fleet_years: float,
) -> PoolsRow:
    """Return the row of some pools, of whose kinds of vdevs these are the places."""
    pools, case = parts[own[0]].pools, parts[own[0]].case

    def total(name: str) -> Floats:
        return np.array([getattr(each, name)[own].sum() for each in sums])

    failures, missing, lost = (float(total(name).sum()) for name in ("failures", "missing", "vdev"))
    levels = sum((each.levels[own].sum(axis=0) for each in sums), np.zeros(LEVELS))
    share = math.fsum(float(each.vdev.sum()) for each in sums)
    by_grade = np.column_stack([total(grade) for grade in ("files", "vdev", "pool")])
    a_year = by_grade / worlds.many.weights[:, None] / fleet_years
    return PoolsRow(
        name=pools.name,
        layout=str(case.layout),
        pools=pools.count,
        failures_per_year=three_digits(failures / fleet_years),
        hours_s=three_digits(mean_hours([parts[at] for at in own])),
        missing_s=three_digits(missing / max(failures, 1.0)),
        degraded_s=tuple(three_digits(each / fleet_years / pools.count) for each in levels),
        losses_per_year=_losses(
            rate_of_loss, [each[None, :] for each in a_year], worlds.many, [worlds.expected[at] for at in own]
        ),
        share=three_digits(lost / share) if share > 0 else 0.0,
        table_error=three_digits(max(parts[at].table.error for at in own)),
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
