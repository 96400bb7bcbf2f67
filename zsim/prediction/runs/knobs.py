"""The effect of a tunable: cheap runs on common worlds with one tunable changed, and advice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zsim.base import model_data
from zsim.base.constants import constant, whole_constant
from zsim.base.parsed import rows, tables
from zsim.base.units import format_duration, format_percent
from zsim.case.case import Case
from zsim.engine.model import PlaneModel
from zsim.operation.run import Run
from zsim.prediction.answer.records import Advice, Clients
from zsim.prediction.inputs.clients import percentiles
from zsim.prediction.inputs.hardware import plane_model, under
from zsim.prediction.inputs.population import WorldPopulation, miniature
from zsim.prediction.runs.member import setup_of
from zsim.prediction.runs.one_tile import run_pool
from zsim.scenario.releases.no_effect import reasons
from zsim.scenario.releases.products import without
from zsim.scenario.releases.renamed import sysctl_name

WORLDS, BLOCKS = whole_constant("tune.worlds"), whole_constant("tune.blocks")
FIRST_WORLDS = whole_constant("tune.first_worlds")
F64 = NDArray[np.float64]
WATCH_S, STUDENT, LEAST = constant("tune.watch_s"), constant("tune.student"), constant("tune.least")
WORTH_SAYING = constant("answer.worth_saying")


@dataclass(frozen=True, slots=True)
class KnobWorld:
    """A population and what the settings of the case do on it: duration, and the wait of clients [s]."""

    case: Case
    pool: WorldPopulation
    model: PlaneModel
    time_s: float
    p99_s: float | None


@dataclass(frozen=True, slots=True)
class Knob:
    """A tunable at another value, who measured what of it, and what it costs in memory."""

    name: str
    value: int
    source: str
    memory: str


@dataclass(frozen=True, slots=True)
class KnobEffect:
    """What a knob does.

    Attributes
    ----------
    ratio, error : float
        Duration over that without it, and half of its 95 % interval.
    p99_ratio : float or None
        The same of the longest of a hundred waits of clients; None without clients.
    p99_s : float or None
        [s]
    """

    ratio: float
    error: float
    p99_ratio: float | None
    p99_s: float | None


def knobs_of(case: Case, *, advised: bool = False) -> list[Knob]:
    """Return what is tried: knobs that the release has and that change something, at other values.

    `advised`: those alone that are tried for every prediction under a load, unless they are stated.
    """
    path = model_data.models_directory() / "tuning" / "candidates.toml"
    known, idle, stated = case.release.tunables, reasons("tunables"), case.scenario.tunables or {}
    return [
        Knob(name, value, _measured(row, known[name], value), str(row["memory"]))
        for row in tables(model_data.load_toml(path), "knob")
        for name in [str(row["name"])]
        for value in rows(row, "advised" if advised else "values")
        if isinstance(value, int) and name in known and name not in idle
        if value != known[name] and not (advised and name in stated)
    ]


def _measured(row: Mapping[str, object], default: int, value: int) -> str:
    """Return what was measured of a change from the default towards such a value; empty where nothing was.

    A published change counts where the default is one end of it and the value lies towards the other.
    """
    for each in tables(row, "measured"):
        begin, end = int(str(each["from"])), each.get("to")
        ends = [(begin, math.inf if end is None else float(str(end)))]
        ends += [] if end is None else [(int(str(end)), float(begin))]
        if any(default == here and (value - here) * (there - here) > 0 for here, there in ends):
            return str(each["words"])
    return ""


def worlds_of(case: Case) -> list[KnobWorld]:
    """Return the worlds that knobs are tried on, with what clients wait there."""
    return [_watched(each) for each in _worlds(case, range(WORLDS))]


def _worlds(case: Case, numbers: range) -> list[KnobWorld]:
    return [_world(replace(case, seed=case.seed + number)) for number in numbers]


def _world(case: Case) -> KnobWorld:
    model, pool = plane_model(case), miniature(case, blocks=BLOCKS)
    return KnobWorld(case, pool, model, run_pool(case, pool, model).time_s, None)


def _watched(world: KnobWorld) -> KnobWorld:
    return replace(world, p99_s=_p99(world.case, world.pool, world.model))


def _p99(case: Case, pool: WorldPopulation, model: PlaneModel) -> float | None:
    """Return of a hundred requests of clients the longest wait while the operation runs [s]."""
    if not model.clients or case.operation == "rebuild":
        return None
    run = Run(setup_of(case, pool, model))
    waits = percentiles(run.execute_for(WATCH_S).waits.sum(axis=0))
    run.release()
    return None if waits is None else waits.p99


def tried(knob: Knob, worlds: list[KnobWorld]) -> KnobEffect:
    """Return what a knob does on worlds.

    Notes
    -----
    Common random numbers: each setting runs on the populations, drives and clients of the defaults, so that
    the ratio of two durations has a much smaller error than each (Law, Simulation Modeling and Analysis,
    5th ed., 11.2).  Half of the 95 % interval comes from the worlds by Student's t.
    """
    return with_waits(_effect(_logarithms(knob, worlds)), knob, worlds)


def _logarithms(knob: Knob, worlds: list[KnobWorld]) -> F64:
    """Return the logarithm of the duration with a knob over that without, on each world."""
    settled = [_settled(knob, world) for world in worlds]
    times = [run_pool(case, world.pool, model).time_s for world, case, model in settled]
    return np.log([time_s / world.time_s for time_s, world in zip(times, worlds, strict=True)])


def _effect(logs: F64) -> KnobEffect:
    return KnobEffect(
        ratio=float(np.exp(logs.mean())),
        error=max(LEAST, STUDENT * float(logs.std(ddof=1)) / len(logs) ** 0.5),
        p99_ratio=None,
        p99_s=None,
    )


def with_waits(effect: KnobEffect, knob: Knob, worlds: list[KnobWorld]) -> KnobEffect:
    """Return the effect with what clients then wait, on the worlds where their wait without it is known."""
    settled = [_settled(knob, world) for world in worlds if world.p99_s is not None]
    found = [(_p99(case, world.pool, model), world.p99_s) for world, case, model in settled]
    waits = [(now, before) for now, before in found if now is not None and before is not None]
    if not waits:
        return effect
    ratio, now_s = np.mean([now / before for now, before in waits]), np.mean([now for now, _ in waits])
    return replace(effect, p99_ratio=float(ratio), p99_s=float(now_s))


def _settled(knob: Knob, world: KnobWorld) -> tuple[KnobWorld, Case, PlaneModel]:
    """Return a world, and its case and hardware with the knob at its value."""
    release = world.case.release.with_tunables({knob.name: knob.value})
    case = replace(world.case, release=release, timed=without(world.case.timed, knob.name))
    return world, case, under(world.model, case)


def knob_advice(case: Case, middle_s: float, clients: Sequence[Clients]) -> tuple[Advice, ...]:
    """Return the knob that helps most under the stated load, with what it costs clients.

    Empty where none saves more than its error, and enough to be worth saying, and without a load: on an idle
    pool the drives set the pace, whatever ZFS holds back for clients.
    """
    knobs = knobs_of(case, advised=True) if case.scenario.load else []
    if not knobs or case.operation in ("rebuild", "expand"):
        return ()
    worlds, effects = _effects(case, knobs)
    if not effects:
        return ()
    effect, knob = min(zip(effects, knobs, strict=True), key=lambda pair: pair[0].ratio)
    if 1.0 - effect.ratio < max(effect.error, WORTH_SAYING):
        return ()
    # What clients wait takes as long to tell as how long it takes, and counts for what is advised alone.
    effect = with_waits(effect, knob, [_watched(each) for each in worlds])
    cost = "" if effect.p99_ratio is None else f"{_cost(effect.p99_ratio, clients)}; "
    return (
        Advice(
            action=f"set {sysctl_name(knob.name) if case.platform == 'freebsd' else knob.name}={knob.value}",
            why=f"{cost}the saving is known to {format_percent(effect.error)} of the time "
            "(zsim tune tries more)",
            saves_s=middle_s * (1.0 - effect.ratio),
        ),
    )


def _effects(case: Case, knobs: Sequence[Knob]) -> tuple[list[KnobWorld], list[KnobEffect]]:
    """Return worlds and what each knob does there; nothing, where none saves half of what is worth saying.

    That shows on the first of them, which differ by some per cent: then no others are run.
    """
    worlds = _worlds(case, range(FIRST_WORLDS))
    logs = [_logarithms(knob, worlds) for knob in knobs]
    if math.exp(min(each.mean() for each in logs)) > 1.0 - WORTH_SAYING / 2.0:
        return worlds, []
    more = _worlds(case, range(FIRST_WORLDS, WORLDS))
    whole = [np.append(first, _logarithms(knob, more)) for first, knob in zip(logs, knobs, strict=True)]
    return worlds + more, list(map(_effect, whole))


def _cost(ratio: float, clients: Sequence[Clients]) -> str:
    """Return what clients then wait: where one load was stated, its p99 in the answer, times the ratio."""
    now_s = [each.during.p99 for each in clients if each.during is not None]
    then = f"{format_duration(ratio * now_s[0])}, " if len(now_s) == 1 else ""
    return f"the p99 latency of clients is then {then}{ratio:.2g} times what it is now"
