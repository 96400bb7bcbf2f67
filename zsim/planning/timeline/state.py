"""The state of a pool now, as zpool or a sentence tells it: what runs, what is left, what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zsim.base.errors import NothingToAsk
from zsim.base.parsed import table
from zsim.scenario.evidence import MOVES, RunningScan, gone_drives, missing_drives
from zsim.scenario.files import put_aside
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario

if TYPE_CHECKING:
    from zsim.observe.pool_import.importing import ImportedPool
    from zsim.planning.eta.answer import Eta
    from zsim.planning.eta.reading import Paste

Place = tuple[int, int]
"""A top-level vdev, and a drive of it."""
MOST_DONE = 0.999
"""A pass that runs has something left."""


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
    notes : tuple of str
        What is not known of it, and what of its state a person has to know first.
    """

    plan: dict[str, object]
    places: Mapping[str, Place]
    pool: str = ""
    notes: tuple[str, ...] = ()


def pool_now(
    imported: ImportedPool, text: str | None, names: list[str], stated: dict[str, object], asked: str
) -> PastedPool:
    """Return the state of an imported pool; what is left of a scan that runs is what `zsim.eta` answers.

    Parameters
    ----------
    imported : ImportedPool
        What `imported_pool` makes of `text`, `names` and `stated`.
    text : str, optional
        What was piped or given as text.
    names : list of str
        Files with the same.
    stated : dict
        Fields that are stated beside them.
    asked : str
        What is asked of the state, for messages.

    Raises
    ------
    InputError
        When what runs leaves nothing to ask.
    """
    if imported.progress is None or not imported.progress.active:
        fields = put_aside(imported.scenario.stated(), stated) | stated
        scenario = Scenario.from_dict(fields)
        state = state_of(fields, scenario.evidence or ())
        plan = {"scenario": scenario.stated(), **state, **_names(imported, stated)}
        return PastedPool(plan, imported.places, imported.pool, told_first(imported))
    found, why = running_now(imported, text, names, stated, asked)
    if found is None:
        raise NothingToAsk(asked, None, why, "zsim eta, given the same files, says when it finishes")
    return found


def told_first(imported: ImportedPool) -> tuple[str, ...]:
    """Return what is not known of a pool, and what of its state a person has to know first."""
    from zsim.observe.pool_import.gaps import BARE, HALTED, is_gap

    return tuple(note for note in imported.notes if is_gap(note) or note.startswith((BARE, HALTED)))


def imported_pool(text: str | None, names: list[str], stated: dict[str, object]) -> ImportedPool:
    """Return what an import makes of files and of what was piped, all about one pool."""
    from zsim.observe.pool_import.importing import import_beside, import_pasted

    if text is not None and not names:
        return import_pasted(text, stated=stated)
    return import_beside(text, names, stated=stated)


def running_now(
    imported: ImportedPool, text: str | None, names: list[str], stated: dict[str, object], asked: str
) -> tuple[PastedPool | None, str]:
    """Return a pool on which a pass runs, with what is left; else None, and why nothing may be asked."""
    from zsim.planning.eta.api import eta_of
    from zsim.planning.eta.reading import read_paste

    paste = read_paste(text, names, stated=stated, imported=imported)
    known = paste.scenario.stated()
    if (why := _nothing_to_ask(paste, asked)) is not None:
        return None, why
    seen = eta_of(paste.scenario, paste)
    shown = (*paste.scans, *gone_drives(paste.scenario.evidence or ()))
    state = state_of(known, shown, imported.waiting, seen)
    if "layout" not in stated and "running" in state:
        beside = {"beside": imported.beside} if imported.beside else {}
        state["running"] = {**table(state, "running"), **beside}
    plan = {"scenario": known, **state, **_names(imported, stated)}
    return PastedPool(plan, imported.places, imported.pool, told_first(imported)), ""


def said_pool(fields: Mapping[str, object]) -> PastedPool | None:
    """Return the pool of a sentence that says how far a scan is, with what is left of it; else None."""
    from zsim.planning.eta.api import eta_of
    from zsim.planning.eta.reading import Paste

    if not fields.get("evidence") or fields.get("layout") is None:
        return None
    scenario = Scenario.from_dict(fields)
    scans = tuple(each for each in scenario.evidence or () if isinstance(each, RunningScan))
    if not scans:
        return None
    known = scenario.stated()
    state = state_of(known, scans, seen=eta_of(scenario, Paste("", scenario, scans)))
    return PastedPool({"scenario": known, **state}, {})


def _names(imported: ImportedPool, stated: dict[str, object]) -> dict[str, object]:
    return {} if "layout" in stated else {"vdev_names": imported.vdev_names}


def _nothing_to_ask(paste: Paste, asked: str) -> str | None:
    """Return why nothing else may happen while what a status shows runs; None where something may."""
    from zsim.planning.eta.reading import SUSPENDED

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


def replaced_now(plan: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the events that replace at once the drives that are gone and that nothing replaces."""
    scenario = Scenario.from_dict(table(plan, "scenario"))
    vdevs = scenario.pool_layout.vdevs
    places = [(vdev, slot) for vdev, spec in enumerate(vdevs) for slot in range(spec.children)]
    by_vdev: dict[int, list[int]] = {}
    for each in gone_drives(scenario.evidence or ()):
        if each.leaf is not None and each.leaf < len(places):
            vdev, slot = places[each.leaf]
            by_vdev.setdefault(vdev, []).append(slot)
    return [{"do": "replace", "vdev": vdev, "drives": slots} for vdev, slots in by_vdev.items()]


def state_of(
    scenario: Mapping[str, object], evidence: Sequence[object], waiting: int = 0, seen: Eta | None = None
) -> dict[str, object]:
    """Return what runs, of a scenario imported from ``zpool status``: fields of `Plan`.

    Parameters
    ----------
    scenario : mapping
        As `Scenario.stated` gives it.
    evidence : sequence of Observation
    waiting : int
        Drives that await a resilver of their own, beside those that the scenario replaces.
    seen : Eta, optional
        What `zsim.eta` answers of the same: it tells how much is done and what is left.
    """
    scans = [each for each in evidence if isinstance(each, RunningScan) and each.kind != "heal"]
    if not scans:
        return {}
    scan = scans[-1]
    done = scan.done
    if done is None and scan.issued is not None and (scan.total_issue or scan.total):
        done = min(1.0, scan.issued / (scan.total_issue or scan.total or 1))
    count = int(str(scenario.get("replace") or 1))
    later: dict[str, object] = {"waiting": tuple(range(count, count + waiting))} if waiting else {}
    drives = tuple(range(count))
    old = scenario.get("old_drive") if scenario.get("old_drive") == "online" else "missing"
    repaired = count + waiting if old == "missing" and scan.kind != "scrub" else 0
    # Old drives of those that wait are among the missing; beyond the parity no choice is left.
    beside, most = 0, 0
    if gone_drives(evidence):
        vdev = Layout.parse(str(scenario["layout"])).vdevs[0]
        beside = len(missing_drives(evidence, vdev.children)) - (waiting if repaired else 0)
        most = vdev.tolerance - repaired
    if min(beside, most) > 0:
        later["missing"] = min(beside, most)
    if seen is not None:
        left = seen.remaining_s
        done = 0.0 if seen.phase == "metadata scan" else min(seen.done, MOST_DONE)
        later["left"] = (left.p10, left.p50, left.p90)
        if seen.elapsed_s is not None:
            later["elapsed"] = seen.elapsed_s
    return {"running": {"kind": scan.kind, "done": done or 0.0, "drives": drives, "old_drive": old, **later}}
