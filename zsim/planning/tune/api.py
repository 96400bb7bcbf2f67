"""``zsim.tune``: which knobs shorten a resilver: cheap runs on common worlds, one knob changed at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from zsim.base import model_data
from zsim.base.constants import constant, whole_constant
from zsim.base.parsed import rows, tables
from zsim.case.case import Case
from zsim.engine.model import PlaneModel
from zsim.operation.run import Run
from zsim.planning.tune.records import Tuning
from zsim.planning.tune.settings import MEASURED, MODELLED, Setting
from zsim.prediction.api import case_of, subject
from zsim.prediction.inputs.clients import percentiles
from zsim.prediction.inputs.hardware import plane_model, under
from zsim.prediction.inputs.population import WorldPopulation, miniature
from zsim.prediction.runs.member import setup_of
from zsim.prediction.runs.one_tile import run_pool
from zsim.prediction.runs.together import together
from zsim.scenario.model import Scenario
from zsim.scenario.releases.no_effect import reasons
from zsim.scenario.releases.products import without

WORLDS, BLOCKS = whole_constant("tune.worlds"), whole_constant("tune.blocks")
WATCH_S, STUDENT, LEAST = constant("tune.watch_s"), constant("tune.student"), constant("tune.least")


@dataclass(frozen=True, slots=True)
class _World:
    """A population and what the defaults do on it."""

    case: Case
    pool: WorldPopulation
    model: PlaneModel
    time_s: float
    p99_s: float | None


@dataclass(frozen=True, slots=True)
class _Knob:
    name: str
    value: int
    source: str
    memory: str


def tune(
    scenario: Scenario, on_progress: Callable[[float, str], None] | None = None, *, system: str = "linux"
) -> Tuning:
    """Return which knobs of ZFS shorten an operation, and what each costs.

    Parameters
    ----------
    scenario : Scenario
    on_progress : callable, optional
        Called with the share done, 0 to 1, and what is being done.
    system : {"linux", "freebsd"}
        Whose lines set the knobs.

    Raises
    ------
    InputError
        When the scenario asks for something impossible.

    Notes
    -----
    Common random numbers: each setting runs on the populations, drives and clients of the defaults, so that
    the ratio of two durations has a much smaller error than each (Law, Simulation Modeling and Analysis,
    5th ed., 11.2).  Half of the 95 % interval comes from the worlds by Student's t.
    """
    case = case_of(scenario)
    worlds = [_world(replace(case, seed=case.seed + number)) for number in range(WORLDS)]
    knobs, found = _knobs(case), []
    for number, (knob, pairs) in enumerate(
        zip(knobs, together(lambda knob: _tried(knob, worlds), knobs), strict=True), 1
    ):
        found.append(_setting(knob, case, worlds, pairs))
        if on_progress is not None:
            on_progress(number / len(knobs), knob.name)
    kept = sorted((each for each in found if each.matters), key=lambda each: each.ratio)
    named = {each.name for each in kept}
    waits = [world.p99_s for world in worlds if world.p99_s is not None]
    return Tuning(
        subject=f"The {case.operation} of {subject(case)}",
        default_s=float(np.median([world.time_s for world in worlds])),
        default_p99_s=float(np.median(waits)) if waits else None,
        system=system,
        settings=tuple(replace(each, on_front=_on_front(each, kept)) for each in kept),
        without_effect=tuple(dict.fromkeys(each.name for each in found if each.name not in named)),
        worlds=len(worlds),
    )


def _knobs(case: Case) -> list[_Knob]:
    """Return what is tried: knobs that the release has and that change something, at other values."""
    path = model_data.models_directory() / "tuning" / "candidates.toml"
    known, idle = case.release.tunables, reasons("tunables")
    return [
        _Knob(str(row["name"]), value, str(row["measured"]), str(row["memory"]))
        for row in tables(model_data.load_toml(path), "knob")
        for value in rows(row, "values")
        if isinstance(value, int) and row["name"] in known and row["name"] not in idle
        if value != known[str(row["name"])]
    ]


def _world(case: Case) -> _World:
    model, pool = plane_model(case), miniature(case, blocks=BLOCKS)
    time_s = run_pool(case, pool, model).time_s
    return _World(case, pool, model, time_s, _p99(case, pool, model))


def _p99(case: Case, pool: WorldPopulation, model: PlaneModel) -> float | None:
    """Return of a hundred requests of clients the longest wait while the operation runs [s]."""
    if not model.clients or case.operation == "rebuild":
        return None
    run = Run(setup_of(case, pool, model, case.release))
    waits = percentiles(run.execute_for(WATCH_S).waits.sum(axis=0))
    run.release()
    return None if waits is None else waits.p99


def _tried(knob: _Knob, worlds: list[_World]) -> list[tuple[float, float | None]]:
    """Return what a setting gives on each world: duration over the default's, and the wait of clients [s]."""
    found = []
    for world in worlds:
        release = world.case.release.with_tunables({knob.name: knob.value})
        case = replace(world.case, release=release, timed=without(world.case.timed, knob.name))
        model = under(world.model, case)
        ratio = run_pool(case, world.pool, model).time_s / world.time_s
        found.append((ratio, _p99(case, world.pool, model)))
    return found


def _setting(
    knob: _Knob, case: Case, worlds: list[_World], pairs: list[tuple[float, float | None]]
) -> Setting:
    logs = np.log([ratio for ratio, _ in pairs])
    error = max(LEAST, STUDENT * float(logs.std(ddof=1)) / len(logs) ** 0.5)
    waits = [
        (wait, world.p99_s)
        for (_, wait), world in zip(pairs, worlds, strict=True)
        if wait is not None and world.p99_s is not None
    ]
    return Setting(
        name=knob.name,
        value=knob.value,
        default=int(case.release.tunables[knob.name]),
        ratio=float(np.exp(logs.mean())),
        error=error,
        p99_ratio=float(np.mean([now / before for now, before in waits])) if waits else None,
        p99_s=float(np.mean([now for now, _ in waits])) if waits else None,
        label=MEASURED if knob.source else MODELLED,
        source=knob.source,
        memory=knob.memory,
    )


def _on_front(each: Setting, kept: list[Setting]) -> bool:
    """Tell whether nothing, the default included, is at least as good in both respects and better in one."""
    own = (each.ratio, each.p99_ratio or 1.0)
    others = [(1.0, 1.0), *((other.ratio, other.p99_ratio or 1.0) for other in kept)]
    return not any(time <= own[0] and wait <= own[1] and (time, wait) != own for time, wait in others)
