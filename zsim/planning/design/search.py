"""``zsim.plan_layouts``: cheap runs of all candidates first, then full predictions of the best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from zsim.base.errors import InputError, check_kind
from zsim.base.notebook import reporting
from zsim.base.provenance import provenance
from zsim.base.units import format_drive_size
from zsim.case.resolve import resolve
from zsim.planning.design.answer import Design
from zsim.planning.design.candidates import DRAID_CHILDREN, PLAIN, Candidate, vdevs_of
from zsim.planning.design.facts import (
    WORLDS_SCREENED,
    Context,
    RepairHours,
    Report,
    base_row,
    interpolated,
    measured,
    probes,
    with_chances,
)
from zsim.planning.design.requirements import QUANTITIES, Requirement
from zsim.planning.design.size import PoolSize, whole
from zsim.planning.risk.question import RiskInputs, with_erc_of
from zsim.planning.risk.stated import stated_words
from zsim.planning.rows import Row
from zsim.prediction.simulated import scenario_words
from zsim.scenario.asked import at_rest
from zsim.scenario.model import Scenario
from zsim.scenario.one_drive.sick import read_limit
from zsim.vdevs.kind import kind_of

CONFIRMED = 8
KINDS = tuple(
    sorted(
        {vdev.kind for vdev in vdevs_of(DRAID_CHILDREN[1])},
        key=lambda name: (not kind_of(name).is_replicated, kind_of(name).has_groups),
    )
)
"""Those that are tried, mirrors first, kinds with groups last."""
EVERY_KIND = (*KINDS, PLAIN)
ANY_LAYOUT = "raidz2x6"
"""Stands for the layout in a scenario where layouts are sought."""
NEAR = 1.6
"""A row that fails a wish by less than this factor on screening hours is worth a full prediction."""
SORTS = {"usable": -1, "p90": 1, "vdev": 1, "random": -1, "drives": 1}
FROM_HOURS = frozenset(
    ("p50_s", "p90_s", "files_per_year", "vdev_per_year", "pool_per_year", "vdev_in_window")
)


def plan_layouts(
    drives: int | None = None,
    usable: int | str | None = None,
    budget: float | None = None,
    price: float | None = None,
    spares: int = 0,
    require: Sequence[str] = (),
    sort: str | None = None,
    kinds: Sequence[str] = KINDS,
    confirm: int = CONFIRMED,
    inputs: RiskInputs | None = None,
    jobs: int | None = None,
    store: str | Path | None = None,
    on_progress: Report | None = None,
    **common: object,
) -> Design:
    """List the layouts that meet requirements, with the Pareto front.

    Parameters
    ----------
    drives : int, optional
        Number of drives, hot spares included.
    usable : int or str, optional
        Data that the pool must hold, such as ``"400T"`` [bytes]: with as few drives as possible, or with
        those that `drives` or `budget` allow.
    budget, price : float, optional
        Instead of `drives`: the total cost, and the cost of one drive.
    spares : int
        Smallest number of hot spares.
    require : sequence of str
        Requirements, such as ``"p90 < 24h"``; see `zsim.planning.design.requirements.QUANTITIES`.
    sort : {"usable", "p90", "vdev", "random", "drives"}, optional
        Sort order; by default the most usable space first, or the fewest drives if `usable` is stated.
    kinds : sequence of {"mirror", "raidz", "draid", "disk"}
        What is tried; pools of single drives only where ``disk`` is named.
    confirm : int
        Largest number of rows, from the best on, that are predicted in full.
    inputs : RiskInputs, optional
    jobs : int, optional
        Processes; one a core by default.
    store : str or Path, optional
        SQLite file in which answers are kept, so that none is simulated twice.
    on_progress : callable, optional
    **common
        Fields of the scenario.

    Returns
    -------
    Design

    Raises
    ------
    InputError
        When nothing or something impossible is asked for.

    Examples
    --------
    >>> known = {"drive_size": "20TB", "inputs": RiskInputs(hours="24h")}
    >>> found = plan_layouts(drives=12, require=["usable >= 120T"], kinds=["raidz"], **known)
    >>> all(row["usable_bytes"] >= 120 * 2**40 for row in found.meeting)
    True
    """
    size, space = PoolSize.asked(drives, usable, budget, price, spares).with_space_as_wish()
    confirm = whole("confirm", confirm, 0, CONFIRMED)
    if "layout" in common:
        raise InputError("layout", common["layout"], "this search finds the layout", "leave it out")
    check_kind("kinds", kinds, (list, tuple), "it is a list of kinds", 'write kinds=["raidz"]')
    check_kind("inputs", inputs, (RiskInputs, type(None)), "it is a RiskInputs", "leave it out")
    allowed = "it is a list of requirements"
    check_kind("require", require, (list, tuple), allowed, 'write require=["p90 < 24h"]')
    wishes = [*map(Requirement.parse, require), *space]
    if sort is None:
        sort = "usable" if size.usable is None else "drives"
    if not isinstance(sort, str) or sort not in SORTS:
        raise InputError("--sort", sort, f"it is one of {', '.join(SORTS)}", "write usable")
    context = Context(common, inputs_of_chains(inputs, common), jobs, store)
    report = reporting(on_progress)
    every = size.candidates(context, _known_kinds(kinds))
    candidates, rows, left_out = _possible(context, every, price)
    # What fails without a simulation needs none.
    open_ = [each for each in candidates if not fails_before(rows[str(each.layout)], wishes)]
    screened = _screened(context, open_, rows, lambda share, words: report(0.5 * share, words))
    chosen = _best(screened, wishes, sort)[:confirm]
    found = _confirmed(context, chosen, lambda share, words: report(0.5 + 0.5 * share, words))
    final = [found.get(row["layout"], row) for row in screened]
    if not chosen:
        report(1.0, "none")
    dropped = [rows[str(each.layout)] for each in candidates if each not in open_]
    return _design(context, "layouts", [*final, *dropped], wishes, sort, (*size.words, *left_out))


def _possible(
    context: Context, every: Sequence[Candidate], price: float | None
) -> tuple[list[Candidate], dict[str, Row], tuple[str, ...]]:
    """Return the candidates that can be with what is stated, what is known of each, and which cannot be.

    Raises
    ------
    InputError
        When none can be.
    """
    rows, wrong = {}, []
    for each in every:
        try:
            rows[str(each.layout)] = base_row(context, each, price)
        except InputError as error:
            wrong.append((each, error))
    if not rows and wrong:
        raise wrong[0][1]
    found = [each for each in every if str(each.layout) in rows]
    if not wrong:
        return found, rows, ()
    kinds = ", ".join(dict.fromkeys(each.vdev.kind for each, _ in wrong))
    return found, rows, (f"left out {len(wrong)} that cannot be ({kinds}: {wrong[0][1].allowed})",)


def inputs_of_chains(inputs: RiskInputs | None, common: Mapping[str, object]) -> RiskInputs:
    """Return what is stated of failures, in the fields of the scenario too; refuse what no chain takes."""
    asked = inputs or RiskInputs()
    if asked.chosen_method != "chain":
        name, value = ("shape", asked.shape) if asked.shape != 1.0 else ("method", asked.method)
        allowed = "layouts are compared by chains, which have constant failure rates"
        raise InputError(name, value, allowed, "leave it out, and ask zsim risk of the layout that is found")
    return with_erc_of(asked, read_limit(common.get("erc")))


def stated_in_words(context: Context, layout: str | None = None) -> tuple[str, ...]:
    """Return what was stated of pool and failures in words."""
    fields = {name: value for name, value in context.common.items() if value is not None}
    asked = {**fields, "layout": layout or ANY_LAYOUT}
    known = at_rest(asked)
    scenario = Scenario.from_dict(known)
    words = scenario_words(scenario, known.keys() - asked.keys())
    size = format_drive_size(resolve(scenario).drive.capacity_bytes)
    assumed = (
        () if {"drive", "drive_size"} & fields.keys() else (f"no drive size (space counts {size} drives)",)
    )
    return (*(words if layout else words[1:]), *stated_words(context.inputs), *assumed)


def _known_kinds(kinds: Sequence[str]) -> Sequence[str]:
    for kind in kinds:
        if kind not in EVERY_KIND:
            raise InputError("--kinds", kind, f"it is one of {', '.join(EVERY_KIND)}", "write mirror,raidz")
    return kinds


def fails_before(row: Row, wishes: Sequence[Requirement]) -> bool:
    """Tell whether a row fails a requirement that needs no simulation."""
    return any(not wish.is_met(row) for wish in wishes if wish.column not in FROM_HOURS)


def _screened(
    context: Context, candidates: list[Candidate], rows: dict[str, Row], report: Report
) -> list[Row]:
    """Return rows with hours from a few simulations of single vdevs, and the chances of all."""
    single = {str(each.layout): str(each.vdev) for each in candidates}
    plain = [str(each.layout) for each in candidates if each.vdev.is_disk]
    candidates = [each for each in candidates if not each.vdev.is_disk]
    tried = probes(candidates)
    told = measured(context, [context.scenario(single[str(each.layout)]) for each in tried], report)
    known = {
        str(each.layout): hours
        for each, hours in zip(tried, told, strict=True)
        if isinstance(hours, RepairHours)
    }
    hours_by = interpolated(candidates, known)
    found = [
        with_chances(context, rows[name], hours_by[name], context.are_hours_stated, WORLDS_SCREENED)
        for name in (str(each.layout) for each in candidates)
        if name in hours_by
    ]
    return [*found, *(with_chances(context, rows[name], None, True) for name in plain)]


def _best(rows: list[Row], wishes: Sequence[Requirement], sort: str) -> list[Row]:
    """Return the rows that meet the wishes or nearly do: first the front, then by the wish to sort by."""
    near = [row for row in rows if all(wish.distance(row) > 1 / NEAR for wish in wishes)]
    front = set(pareto([row for row in near if meets(row, wishes)]))
    return sorted(near, key=lambda row: (not meets(row, wishes), row["layout"] not in front, _key(row, sort)))


def _key(row: Row, sort: str) -> float:
    value = row.get(QUANTITIES[sort].column)
    return math.inf if value is None else SORTS[sort] * float(value)


def meets(row: Row, wishes: Sequence[Requirement]) -> bool:
    """Tell whether a row meets all requirements."""
    return all(wish.is_met(row) for wish in wishes)


def _confirmed(context: Context, rows: list[Row], report: Report) -> dict[str, Row]:
    """Return the rows with the hours of the whole pool, predicted in full."""
    rows = [row for row in rows if row["p50_s"] is not None]
    told = measured(context, [context.scenario(row["layout"]) for row in rows], report)
    return {
        row["layout"]: with_chances(context, row, hours, simulated=True)
        for row, hours in zip(rows, told, strict=True)
        if isinstance(hours, RepairHours)
    }


OBJECTIVES = (
    ("usable_bytes", -1), ("vdev_per_year", 1), ("p90_s", 1), ("random_reads", -1), ("drives", 1)
)  # fmt: skip


def pareto(rows: Sequence[Row]) -> list[str]:
    """Return the layouts that no other of as few drives beats in space, chance of loss, hours and reads."""
    points = [tuple(_score(row[name], sign) for name, sign in OBJECTIVES) for row in rows]

    def beaten(mine: tuple[float, ...]) -> bool:
        return any(
            other != mine and all(a <= b for a, b in zip(other, mine, strict=True)) for other in points
        )

    return [row["layout"] for row, mine in zip(rows, points, strict=True) if not beaten(mine)]


def _is_computed(row: Row) -> bool:
    """Tell whether hours and chances of a row are known; plain disks have chances alone."""
    return row.get("p50_s") is not None or row.get("vdev_in_window") is not None


def _score(value: object, sign: int) -> float:
    """Return a value, less being better; a repair that never comes is the worst of all."""
    return math.inf if value is None else sign * float(str(value))


def _design(
    context: Context,
    question: str,
    rows: list[Row],
    wishes: list[Requirement],
    sort: str,
    wanted: tuple[str, ...],
) -> Design:
    meeting = [row for row in rows if _is_computed(row) and meets(row, wishes)]
    front = set(pareto(meeting))
    told = [
        {
            **row,
            "meets": row in meeting,
            "pareto": row["layout"] in front,
            "fails": "; ".join(str(wish) for wish in wishes if not wish.is_met(row)),
        }
        for row in rows
    ]
    told.sort(key=lambda row: (not row["meets"], _key(row, sort)))
    return Design(
        question=question,
        requirements=tuple(str(wish) for wish in wishes),
        rows=tuple(told),
        provenance=provenance(context.common or None, context.inputs.seed),
        stated=(*wanted, *stated_in_words(context)),
    )
