"""What zpool printed, as the subject of a risk: what is left of the running repair, or the pool."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from zsim.planning.risk.question import RiskInputs
from zsim.planning.timeline.plan import Plan
from zsim.planning.timeline.state import PastedPool, imported_pool, running_now, told_first
from zsim.scenario.files import put_aside
from zsim.scenario.model import Scenario
from zsim.scenario.words import OF_REPAIR

if TYPE_CHECKING:
    from zsim.observe.pool_import.importing import ImportedPool
    from zsim.planning.timeline.api import Printed

REPAIRS = ("resilver", "rebuild", "scrub")
OF_ANOTHER = ("operation", "bad_sectors", *OF_REPAIR)
"""Fields that state another repair than the one that runs."""


def asks_what_is_left(inputs: RiskInputs, stated: Collection[str]) -> bool:
    """Tell whether a risk may be about what is left of a running repair: nothing states its duration."""
    told = inputs.hours is not None or inputs.mttr is not None or inputs.chosen_method != "chain"
    return not told and not {*OF_ANOTHER} & {*stated}


def running_repair(
    imported: ImportedPool, text: str | None, names: list[str], stated: dict[str, object]
) -> PastedPool | None:
    """Return the pool on which a resilver, rebuild or scrub runs, with what is left; None where none does.

    Parameters
    ----------
    imported : ImportedPool
        What an import makes of the others.
    text : str, optional
        What was piped or given as text.
    names : list of str
        Files with the same.
    stated : dict
        Fields that are stated beside them.
    """
    scan = imported.progress
    if scan is None or not scan.active or scan.function not in REPAIRS:
        return None
    return running_now(imported, text, names, stated, "")[0]


def plan_of_running(found: PastedPool) -> Plan:
    """Return the plan of what is left of a running repair."""
    return Plan.from_dict({"title": found.pool, **found.plan})


def risk_subject(printed: Printed, inputs: RiskInputs, fields: Mapping[str, object]) -> Plan | Scenario:
    """Return what a risk of a printed status is about; `fields` are stated beside it.

    Warns
    -----
    UserWarning
        About what is not known of the pool, and what of its state has to be known first.
    """
    text, names = printed
    stated = {name: value for name, value in fields.items() if value is not None}
    imported = imported_pool(text, names, stated)
    for note in told_first(imported):
        warnings.warn(f"{note.replace(' --set ', ' ')}.", stacklevel=3)
    if asks_what_is_left(inputs, stated):
        found = running_repair(imported, text, names, stated)
        if found is not None:
            return plan_of_running(found)
    return Scenario.from_dict({**put_aside(imported.scenario.stated(), stated), **stated})
