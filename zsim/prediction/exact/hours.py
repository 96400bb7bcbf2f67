"""Loads and tunables by the hours of the week, as they come and go while every I/O is simulated."""

from __future__ import annotations

from dataclasses import replace

from zsim.case.case import Case
from zsim.operation.control import Steps
from zsim.operation.pool import SimulatedPool
from zsim.prediction.inputs.clients import Now, at, next_change, set_by, writer


def by_the_hour(pool: SimulatedPool, case: Case) -> Steps[None]:
    """Process: let clients, writer and tunables follow the clock, from the start of the operation on.

    Parameters
    ----------
    pool : SimulatedPool
        Its model has the clients of all loads, whatever their hours.
    case : Case
    """
    # Moments are counted, not read off a clock: whole seconds stay whole.
    moment = 0.0
    while True:
        week_s = case.begins + moment
        on = [load.hours is None or load.hours.contains(week_s) for load in case.load]
        waiting = [each for each, load in zip(on, case.load, strict=True) if load.kind != "async-write"]
        for group, asks in enumerate(waiting):
            pool.set_clients(group, on=asks)
        loads = tuple(load for load, each in zip(case.load, on, strict=True) if each)
        pool.set_writer(writer(replace(case, load=loads)).rate)
        _set_tunables(pool, case, at(case, moment))
        moment = next_change(case, moment)
        yield from pool.at(moment)


def _set_tunables(pool: SimulatedPool, case: Case, now: Now) -> None:
    """Set every tunable that has hours to what it is now."""
    release = set_by(case.release, now)
    for name in sorted({name for each in case.timed for name, _ in each.values}):
        if name in release.tunables and release.tunables[name] != pool.release.tunables[name]:
            pool.set_tunable(name, release.tunables[name])
