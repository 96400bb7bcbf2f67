"""What a pasted status says about a pool now: what runs, what is left of it, the names of its drives."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from zsim.base.errors import InputError, NothingToAsk
from zsim.base.parsed import table
from zsim.cli.common import notice
from zsim.cli.given_files import said_fields

if TYPE_CHECKING:
    from zsim.observe.pool_import.importing import ImportedPool
    from zsim.planning.eta.reading import Paste

NUMBERED = re.compile(r"(?:(\d{1,5})\s*:)?\s*(\d{1,5})", re.ASCII)
MOST_NAMED = 24

Place = tuple[int, int]
"""A top-level vdev, and a drive of it."""


@dataclass(frozen=True, slots=True)
class PastedPool:
    """What a status, and whatever else was given beside it, tells of a pool now.

    Attributes
    ----------
    plan : dict
        Fields of a plan: ``scenario``, and ``running`` where a pass runs.
    places : mapping of str to tuple of int
        By the name of a drive: its vdev, and its number there, as the plan counts both.
    pool : str
        Its name.
    """

    plan: dict[str, object]
    places: Mapping[str, Place]
    pool: str = ""


def pasted_pool(
    sources: Sequence[str], stated: dict[str, object], asked: str, by_default: Collection[str] = ()
) -> PastedPool:
    """Return what files tell of a pool; what is left of a scan that runs is what ``zsim eta`` answers.

    Parameters
    ----------
    sources : sequence of str
        Files; ``-`` is the standard input.
    stated : dict
        Fields that are stated beside them.
    asked : str
        What is asked of the state, for messages.
    by_default : collection of str
        Of the fields stated, those that the files say better.

    Raises
    ------
    InputError
        When they cannot be read, or what runs leaves nothing to ask.
    """
    from zsim.observe.read_pool import is_printed
    from zsim.planning.timeline.decisions import state_of
    from zsim.scenario.files import put_aside, scenario_text
    from zsim.scenario.model import Scenario

    names = [name for name in sources if name != "-"]
    text = scenario_text(Path("-")) if len(names) < len(sources) else None
    if text is not None and not names and not is_printed(text) and (said := said_fields(text, stated)):
        both = said | stated
        return said_pool(both) or PastedPool({"scenario": Scenario.from_dict(both).stated()}, {})
    stated = less_told(stated, by_default, text, names)
    imported = _imported(text, names, stated)
    _tell_gaps(imported)
    if imported.progress is None or not imported.progress.active:
        fields = put_aside(imported.scenario.stated(), stated) | stated
        scenario = Scenario.from_dict(fields)
        state = state_of(fields, scenario.evidence or ())
        plan = {"scenario": scenario.stated(), **state, **_names(imported, stated)}
        return PastedPool(plan, imported.places, imported.pool)
    found, why = _running(imported, text, names, stated, asked)
    if found is None:
        raise NothingToAsk(asked, None, why, "zsim eta, given the same files, says when it finishes")
    return found


def said_pool(fields: Mapping[str, object]) -> PastedPool | None:
    """Return the pool of a sentence that says how far a scan is, with what is left of it; else None."""
    from zsim.planning.eta.api import eta_of
    from zsim.planning.eta.reading import Paste
    from zsim.planning.timeline.decisions import state_of
    from zsim.scenario.evidence import RunningScan
    from zsim.scenario.model import Scenario

    if not fields.get("evidence") or fields.get("layout") is None:
        return None
    scenario = Scenario.from_dict(fields)
    scans = tuple(each for each in scenario.evidence or () if isinstance(each, RunningScan))
    if not scans:
        return None
    known = scenario.stated()
    state = state_of(known, scans, seen=eta_of(scenario, Paste("", scenario, scans)))
    return PastedPool({"scenario": known, **state}, {})


def running_pool(
    sources: Sequence[str], text: str | None, stated: dict[str, object], by_default: Collection[str] = ()
) -> PastedPool | None:
    """Return what files tell of a pool on which a resilver, rebuild or scrub runs; None where none goes on.

    Parameters
    ----------
    sources : sequence of str
        As `pasted_pool` takes them.
    text : str, optional
        What came from the standard input.
    stated : dict
        Fields that are stated beside them.
    by_default : collection of str
        Of these, those that the files say better.
    """
    names = [name for name in sources if name != "-"]
    stated = less_told(stated, by_default, text, names)
    imported = _imported(text, names, stated)
    scan = imported.progress
    if scan is None or not scan.active or scan.function not in ("resilver", "rebuild", "scrub"):
        return None
    found, _ = _running(imported, text, names, stated, "")
    if found is not None:
        _tell_gaps(imported)
    return found


def less_told(
    stated: dict[str, object],
    by_default: Collection[str],
    text: str | None,
    names: Sequence[str],
    pool: str | None = None,
) -> dict[str, object]:
    """Return stated fields without those of the user's defaults that files, or what was piped, tell."""
    from zsim.observe.pool_import.importing import import_beside
    from zsim.scenario.files import put_aside

    own = {*by_default} & stated.keys()
    if not own:
        return stated
    try:
        told = import_beside(text, names, pool=pool).scenario.stated()
    except InputError:
        return stated  # what is wrong is said where they are read
    default = {name: value for name, value in stated.items() if name in own}
    kept = put_aside(default, told).keys() - told.keys()
    return {name: value for name, value in stated.items() if name not in own or name in kept}


def _tell_gaps(imported: ImportedPool) -> None:
    """Say what is not known of a pool, and what of its state a person has to know first."""
    from zsim.observe.pool_import.gaps import BARE, HALTED, is_gap

    for note in imported.notes:
        if is_gap(note) or note.startswith((BARE, HALTED)):
            notice(f"{note}.")


def _names(imported: ImportedPool, stated: dict[str, object]) -> dict[str, object]:
    return {} if "layout" in stated else {"vdev_names": imported.vdev_names}


def _running(
    imported: ImportedPool, text: str | None, names: list[str], stated: dict[str, object], asked: str
) -> tuple[PastedPool | None, str]:
    """Return a pool on which a pass runs, with what is left; else None, and why nothing may be asked."""
    from zsim.planning.eta.api import eta_of
    from zsim.planning.eta.reading import read_paste
    from zsim.planning.timeline.decisions import state_of
    from zsim.scenario.evidence import gone_drives

    paste = read_paste(text, names, stated=stated, imported=imported)
    known = paste.scenario.stated()
    if (why := _nothing_to_ask(paste, asked)) is not None:
        return None, why
    seen = eta_of(paste.scenario, paste)
    shown = (*paste.scans, *gone_drives(paste.scenario.evidence or ()))
    state = state_of(known, shown, imported.waiting, seen)
    plan = {"scenario": known, **state, **_names(imported, stated)}
    return PastedPool(plan, imported.places, imported.pool), ""


def replaced_now(plan: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the events that replace at once the drives that are gone and that nothing replaces."""
    from zsim.scenario.evidence import gone_drives
    from zsim.scenario.model import Scenario

    scenario = Scenario.from_dict(table(plan, "scenario"))
    vdevs = scenario.pool_layout.vdevs
    places = [(vdev, slot) for vdev, spec in enumerate(vdevs) for slot in range(spec.children)]
    by_vdev: dict[int, list[int]] = {}
    for each in gone_drives(scenario.evidence or ()):
        if each.leaf is not None and each.leaf < len(places):
            vdev, slot = places[each.leaf]
            by_vdev.setdefault(vdev, []).append(slot)
    return [{"do": "replace", "vdev": vdev, "drives": slots} for vdev, slots in by_vdev.items()]


def _imported(text: str | None, names: list[str], stated: dict[str, object]) -> ImportedPool:
    """Return what an import makes of files and of what was piped, all about one pool."""
    from zsim.observe.pool_import.importing import import_beside, import_pasted

    if text is not None and not names:
        return import_pasted(text, stated=stated)
    return import_beside(text, names, stated=stated)


def _nothing_to_ask(paste: Paste, asked: str) -> str | None:
    """Return why nothing else may happen while what a status shows runs; None where something may."""
    from zsim.planning.eta.reading import SUSPENDED
    from zsim.scenario.evidence import MOVES

    kind = paste.scans[-1].kind
    if any(note.startswith(SUSPENDED) for note in paste.notes):
        return "the pool is suspended, and nothing continues until its drives are back and zpool clear is run"
    if paste.paused:
        return f"the {kind} is paused, and nothing continues until it is resumed"
    if kind in MOVES:
        what = "an expansion" if kind == "expand" else "a removal"
        return f"{what} is running: it continues, or is cancelled"
    if kind == "heal" or paste.log_alone or paste.dedup_alone:
        return f"the running scan does not repair a whole drive, and {asked} is about whole drives"
    return None


def place_of(text: str, option: str, places: Mapping[str, Place]) -> Place:
    """Return vdev and drive of ``3``, of ``1:3``, or of the name that a status shows.

    Raises
    ------
    InputError
        When it is none of these.
    """
    from zsim.observe.devices.labels import device_of

    if text.strip() in places:
        return places[text.strip()]
    if (match := NUMBERED.fullmatch(text.strip())) is not None:
        return int(match[1] or 0), int(match[2])
    whole = device_of(text.strip())
    alike = {place for name, place in places.items() if whole and device_of(name) == whole}
    if len(alike) == 1:
        return alike.pop()
    if not places:
        allowed = "it is a drive's number, or vdev:drive"
        raise InputError(option, text, allowed, f"write {option} 0 or {option} 1:3")
    known = list(places)
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    raise InputError(option, text, f"the pool has {', '.join(known[:MOST_NAMED])}{more}", "name one of these")
