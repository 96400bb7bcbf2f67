"""``zsim.tune``: which tunables shorten a resilver: cheap runs on common worlds, one changed at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from zsim.base.errors import InputError
from zsim.base.notebook import reporting
from zsim.base.provenance import provenance
from zsim.case.case import Case
from zsim.planning.tune.records import Tuning
from zsim.planning.tune.settings import MEASURED, MODELLED, Setting
from zsim.prediction.api import case_of, subject
from zsim.prediction.paired import quantiles_s
from zsim.prediction.runs.knobs import Knob, KnobEffect, KnobWorld, knobs_of, tried, worlds_of
from zsim.prediction.simulated import scenario_words
from zsim.scenario.asked import Asked, scenario_of

if TYPE_CHECKING:
    from zsim.scenario.keyword_types import AnyFields

SYSTEMS = ("linux", "freebsd", "illumos")


def tune(
    scenario: Asked | None = None,
    on_progress: Callable[[float, str], None] | None = None,
    *,
    system: str | None = None,
    **fields: Unpack[AnyFields],
) -> Tuning:
    """Find the ZFS tunables that shorten an operation, and what each costs clients.

    Parameters
    ----------
    scenario : Scenario, mapping, str or Path, optional
        As `zsim.predict` takes it.
    on_progress : callable, optional
        Called with the share done, 0 to 1, and what is being done.
    system : {"linux", "freebsd", "illumos"}, optional
        System whose commands set the tunables; by default that of the case (`Case.platform`).
    **fields
        Fields of the scenario, over what it states.

    Returns
    -------
    Tuning

    Raises
    ------
    InputError
        When the scenario asks for something impossible, or `system` is none of these.

    Examples
    --------
    >>> found = tune("mirror2", drive_size="2GB", fill="30%")
    >>> "zfs_scan_vdev_limit" in [setting.name for setting in found.settings]
    True
    """
    if system is not None and system not in SYSTEMS:
        raise InputError("system", system, f"it is one of {', '.join(SYSTEMS)}", "leave it out")
    report = reporting(on_progress)
    case = case_of(scenario_of(scenario, fields))
    worlds, knobs, found = worlds_of(case), knobs_of(case), []
    for number, knob in enumerate(knobs, 1):
        found.append(_setting(knob, case, tried(knob, worlds)))
        report(number / len(knobs), knob.name)
    kept = sorted((each for each in found if each.matters), key=lambda each: each.ratio)
    named = {each.name for each in kept}
    waits = [world.p99_s for world in worlds if world.p99_s is not None]
    p10, p50, p90 = (None, _middle(worlds), None) if case.exact else quantiles_s(case)
    return Tuning(
        subject=f"The {case.operation} of {subject(case)}",
        default_s=p50,
        default_p10_s=p10,
        default_p90_s=p90,
        default_p99_s=float(np.median(waits)) if waits else None,
        system=system or case.platform,
        settings=tuple(replace(each, on_front=_on_front(each, kept)) for each in kept),
        without_effect=tuple(dict.fromkeys(each.name for each in found if each.name not in named)),
        worlds=len(worlds),
        stated=scenario_words(case.scenario),
        warnings=set_by_hours(kept, case),
        provenance=provenance(case.scenario.stated(), case.seed),
    )


def _middle(worlds: Sequence[KnobWorld]) -> float:
    return float(np.median([world.time_s for world in worlds]))


def set_by_hours(settings: Sequence[Setting], case: Case) -> tuple[str, ...]:
    """Return what to know of settings that the product writes by itself at some hours.

    Returns
    -------
    tuple of str
        One sentence, or none.
    """
    own = {name for each in case.timed for name, _ in each.values}
    names = dict.fromkeys(each.name for each in settings if each.name in own)
    if not names or case.product is None:
        return ()
    who = f"{case.product.title} writes {', '.join(names)} itself"
    return (
        f"{who} where its hours ({case.product.hours}) begin and end: what is set by hand lasts until then.",
    )


def _setting(knob: Knob, case: Case, effect: KnobEffect) -> Setting:
    return Setting(
        **asdict(knob),
        **asdict(effect),
        default=int(case.release.tunables[knob.name]),
        label=MEASURED if knob.source else MODELLED,
    )


def _on_front(each: Setting, kept: list[Setting]) -> bool:
    """Tell whether nothing, the default included, is at least as good in both respects and better in one."""
    own = (each.ratio, each.p99_ratio or 1.0)
    others = [(1.0, 1.0), *((other.ratio, other.p99_ratio or 1.0) for other in kept)]
    return not any(time <= own[0] and wait <= own[1] and (time, wait) != own for time, wait in others)
