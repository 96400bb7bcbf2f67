"""Layouts or scenario files side by side, at equal drives or at equal usable space."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.planning.rows import ANSWER, REASON, Row
from zsim.planning.running import answers
from zsim.planning.table import Table, TableInterrupted, interrupted_row
from zsim.planning.usable import repeated_for_drives, repeated_for_usable, usable_bytes
from zsim.scenario.model import Scenario

COLUMNS = ("name", "layout", "drives", "usable_bytes", *ANSWER, REASON)


def compare(
    *asked: str | Path | Scenario,
    drives: int | None = None,
    usable: int | None = None,
    jobs: int | None = None,
    on_progress: Callable[[float, str], None] | None = None,
    **common: Any,
) -> Table:
    """Predict several scenarios and set them side by side.

    Parameters
    ----------
    *asked : str, Path or Scenario
        Layouts (``"raidz2x6"``), scenario files (names ending in ``.toml``) or scenarios.
    drives : int, optional
        Repeat each layout as often as this many drives allow.
    usable : int, optional
        Repeat each layout until it holds this much data [bytes].
    jobs : int, optional
        Processes; one a core by default.
    on_progress : callable, optional
        Called with the share done and the name of what was done last.
    **common
        Fields of the scenario that all have, over what a file says.

    Returns
    -------
    Table
        Columns `COLUMNS`.  All scenarios share the seed, and with it the random numbers.

    Raises
    ------
    InputError
        When nothing or something impossible is asked for.
    TableInterrupted
        On Ctrl-C, with the rows known so far.
    """
    if not asked:
        raise InputError(
            "layouts", None, "a comparison needs at least one", "name layouts such as raidz2x6 mirror2"
        )
    if drives is not None and usable is not None:
        raise InputError("usable", usable, "it excludes drives", "give one of the two")
    scenarios = [_sized(scenario_of(each, common), drives, usable) for each in asked]
    rows = [_facts(_name(each), scenario) for each, scenario in zip(asked, scenarios, strict=True)]
    found = answers([scenario.stated() for scenario in scenarios], jobs)
    try:
        for done, (place, row) in enumerate(found, 1):
            rows[place] |= row
            if on_progress is not None:
                on_progress(done / len(rows), rows[place]["name"])
    except KeyboardInterrupt:
        raise TableInterrupted(_table([interrupted_row(row) for row in rows])) from None
    return _table(rows)


def _table(rows: list[Row]) -> Table:
    return Table(COLUMNS, tuple({name: row.get(name) for name in COLUMNS} for row in rows))


def scenario_of(asked: str | Path | Scenario, common: dict[str, Any]) -> Scenario:
    """Return the scenario that a layout, a file or a scenario stands for, with `common` applied."""
    if "fill" in common or "alloc" in common:
        common = {"fill": None, "alloc": None, **common}
    if isinstance(asked, Scenario):
        return asked.replaced_by(**common)
    if isinstance(asked, Path) or asked.endswith(".toml"):
        return Scenario.read(asked).replaced_by(**common)
    return Scenario.from_dict({**common, "layout": asked})


def _sized(scenario: Scenario, drives: int | None, usable: int | None) -> Scenario:
    if drives is None and usable is None:
        return scenario
    one = resolve(scenario)
    layout = (
        repeated_for_drives(one.layout, drives)
        if drives is not None
        else repeated_for_usable(one, usable or 0)
    )
    return scenario.replaced_by(layout=str(layout), vdevs=None)


def _facts(name: str, scenario: Scenario) -> Row:
    one = resolve(scenario)
    return {
        "name": name,
        "layout": str(one.layout),
        "drives": one.layout.leaves,
        "usable_bytes": usable_bytes(one),
    }


def _name(asked: str | Path | Scenario) -> str:
    return str(asked.pool_layout) if isinstance(asked, Scenario) else str(asked)
