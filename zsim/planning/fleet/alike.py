"""The vdevs of a fleet by their kind: those alike of pools that are alike, and how long repairs take."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from zsim.base.errors import InputError
from zsim.case.case import Case
from zsim.planning.fleet.response import FillResponse, HoursOf, tabulated, without_repair
from zsim.planning.fleet.spec import Fleet, Pools
from zsim.planning.risk.api import group_of, repairs_of_others
from zsim.planning.risk.evaluate import Report
from zsim.planning.risk.one_vdev.group import Group
from zsim.scenario.layout import VdevSpec
from zsim.scenario.model import Scenario


class AlikeVdevs(NamedTuple):
    """Vdevs that are alike, of pools that are alike.

    Attributes
    ----------
    place : int
        Of these pools in the fleet.
    pools : Pools
    case : Case
    vdev : VdevSpec
    vdevs : int
        Of each pool.
    group : Group
    table : FillResponse
        How long their repair takes.
    """

    place: int
    pools: Pools
    case: Case
    vdev: VdevSpec
    vdevs: int
    group: Group
    table: FillResponse

    @property
    def drives(self) -> int:
        """Of all these pools together."""
        return self.pools.count * self.vdevs * self.vdev.children


def alike_vdevs(asked: Fleet, case: Sequence[Case], hours_of: HoursOf, report: Report) -> list[AlikeVdevs]:
    """Return the vdevs of a fleet, those of each kind of pools in the order of their layout.

    Parameters
    ----------
    asked : Fleet
    case : sequence of Case
        Of each kind of pools.
    hours_of : callable
        Quantiles of a scenario's repair time [s]; asked once where two kinds of pools have the same scenario.
    report : callable
    """
    known: dict[tuple[object, ...], FillResponse] = {}

    def tabulate(pools: Pools, scenario: Scenario) -> FillResponse:
        key = (str(scenario.stated()), pools.hours, pools.fill_per_year)
        if key not in known:
            known[key] = tabulated(pools.model_copy(update={"scenario": scenario}), asked.years, hours_of)
        return known[key]

    found = []
    for place, (pools, one) in enumerate(zip(asked.pool, case, strict=True)):
        report(0.5 * place / len(case), f"hours of {pools.name}")
        tables = _tables(pools, one, partial(tabulate, pools))
        for vdev, vdevs in Counter(one.layout.stored).items():
            group = group_of(vdev, one, pools.inputs)
            found.append(AlikeVdevs(place, pools, one, vdev, vdevs, group, tables[vdev]))
    return found


def mean_hours(parts: Sequence[AlikeVdevs]) -> float:
    """Return how long a repair takes now in the middle world, on average over drives of some vdevs [s]."""
    hours = [float(part.table.hours(np.array([part.case.fill]), 0.0)[0]) for part in parts]
    return float(np.average(hours, weights=[part.drives for part in parts]))


def _tables(
    pools: Pools, case: Case, tabulate: Callable[[Scenario], FillResponse]
) -> dict[VdevSpec, FillResponse]:
    """Return the table of each vdev's repair; one without a repair of its own has that of the first one."""
    first, found = tabulate(pools.scenario), {}
    if pools.hours is None:
        for vdev, scenario in repairs_of_others(pools.scenario, case):
            with contextlib.suppress(InputError):  # such as a dedup vdev
                found[vdev] = tabulate(scenario)
    none = without_repair()
    return {
        vdev: none if vdev.is_disk and pools.hours is None else found.get(vdev, first)
        for vdev in case.layout.stored
    }
