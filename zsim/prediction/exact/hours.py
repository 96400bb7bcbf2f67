"""Loads and tunables by the hours of the week, during an exact run."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress

from zsim.case.case import Case
from zsim.operation.control import Steps
from zsim.operation.pool import SimulatedPool
from zsim.prediction.inputs.clients import Now, are_on, next_change, now_at, set_by, writer


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
        waiting = compress(are_on(case, moment), (load.kind != "async-write" for load in case.load))
        for group, asks in enumerate(waiting):
            pool.set_clients(group, on=asks)
        now = now_at(case, moment)
        pool.set_writer(writer(replace(case, load=now.loads)).rate)
        _set_tunables(pool, case, now)
        moment = next_change(case, moment)
        yield from pool.at(moment)


def _set_tunables(pool: SimulatedPool, case: Case, now: Now) -> None:
    """Set every tunable that has hours to what it is now."""
    release = set_by(case.release, now)
    for name in sorted({name for each in case.timed for name, _ in each.values}):
        if name in release.tunables and release.tunables[name] != pool.release.tunables[name]:
            pool.set_tunable(name, release.tunables[name])
