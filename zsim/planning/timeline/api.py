"""``zsim.timeline``: simulate a plan in every world."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from zsim.base.errors import InputError, check_kind
from zsim.base.notebook import reporting
from zsim.base.parsed import table
from zsim.base.provenance import provenance
from zsim.base.reading import read_text, stat_of
from zsim.planning.timeline.passes import FOR_REPLACEMENT, WORLDS, Passes, facts
from zsim.planning.timeline.plan import Event, Plan, plain_scenario
from zsim.planning.timeline.procedures import procedure
from zsim.planning.timeline.result import Timeline, timeline_of
from zsim.planning.timeline.rules import rules_hash, rules_of
from zsim.planning.timeline.state import imported_pool, pool_now, replaced_now
from zsim.planning.timeline.story import Story
from zsim.prediction.api import files_used, models_used
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario

Progress = Callable[[float, str], None]


AskedPlan = Plan | Scenario | Layout | Mapping[str, object] | str | Path
"""What may stand for a plan: its fields, the path of its file, the name of a procedure, a pool alone, or what
``zpool status`` printed."""


def timeline(
    plan: AskedPlan | None = None,
    *,
    on_progress: Progress | None = None,
    passes: Passes | None = None,
    **fields: object,
) -> Timeline:
    """Simulate a pool through failures, spares, replacements, restarts, reboots and procedures.

    Parameters
    ----------
    plan : Plan, mapping, str or Path, optional
        What happens: also the path of a file (``.toml``), or the name of a procedure included in zsim.
        A layout or a `Scenario` is a pool alone; `fields` then say what happens.  The output of ``zpool
        status``, as text or the path of a file, is the state from which the timeline begins: the running
        pass, what `zsim.eta` says is left of it, and the missing drives, which are replaced at once where no
        ``events`` are given.
    on_progress : callable, optional
        Called with the share done and a few words.
    passes : Passes, optional
        Passes that have been predicted already; alternatives that share them are compared in pairs.
    **fields
        Fields of the plan's scenario and of the plan itself (``events``, ``spares``, ``at_once``), which
        replace its own.

    Returns
    -------
    Timeline

    Raises
    ------
    InputError
        When the plan asks for something impossible in its release or pool, or not simulated yet.

    Notes
    -----
    The plan is simulated in each of 99 worlds (`zsim.planning.timeline.passes`); how ZFS reacts to an event
    is stated in ``models/timeline/rules.toml``.  Passes that run at the same time do not slow each other.

    Examples
    --------
    >>> failed = {"do": "fail", "drive": 0}
    >>> replaced = {"do": "replace", "drive": 0, "after": "12h"}
    >>> found = timeline("mirror2", drive_size="200GB", fill=0.3, events=[failed, replaced])
    >>> found.whole_s["p50"] > 12 * 3600
    True
    """
    found = cleaned(read_plan(plan, fields))
    reporting(on_progress)
    known = passes if passes is not None else Passes()
    known.on_progress, known.moments = on_progress, {}
    resolved = facts(found.pool)
    rules = rules_of(resolved.release, resolved.release.order)
    pools = []
    stories = []
    # The middle world first: what is refused is refused with the story a person would expect.
    for world in sorted(range(WORLDS), key=lambda each: abs(each - WORLDS // 2)):
        story = Story(found, world, known, rules, resolved.alloc)
        pools.append((world, story.run()))
        stories.append((world, story))
    ordered = [pool for _, pool in sorted(pools, key=lambda each: each[0])]
    notes = _notes(found, min(stories, key=lambda each: abs(each[0] - WORLDS // 2))[1])
    record = provenance(found.pool.stated(), resolved.seed, models_used(resolved), files_used(resolved))
    record["models"] = {**table(record, "models"), "timeline/rules": rules_hash()}
    record["plan"] = found.model_dump(mode="json", exclude_unset=True)
    record["story"] = [{"time_s": time, "text": text} for time, text in ordered[WORLDS // 2].story]
    record["notes"] = list(notes)
    reporting(on_progress)(1.0, "told")
    return timeline_of(found.title or str(found.pool.pool_layout), ordered, notes, record)


def read_plan(
    plan: AskedPlan | None,
    fields: Mapping[str, object] | None = None,
    idle: Mapping[str, object] | None = None,
) -> Plan:
    """Return a plan given as such, as data, a file, the name of a procedure or a pool; `fields` over it.

    Parameters
    ----------
    plan : Plan, Scenario, Layout, mapping, str or Path, optional
    fields : mapping, optional
        Fields of its scenario, and of the plan itself.
    idle : mapping, optional
        Fields of a plan made of a status that shows no running pass.

    Raises
    ------
    InputError
        When it is none of these, or something in it cannot be used.
    """
    plan = {} if plan is None else plan
    changes = dict(fields or {})
    own = {name: changes.pop(name) for name in Plan.model_fields if name in changes}
    whole = plain_scenario(own.pop("scenario", {}))
    if isinstance(whole, Mapping):
        changes = {**whole, **changes}
    if isinstance(plan, (str, Path)) and (found := printed(plan)) is not None:
        return _plan_now(found, changes, own, idle or {})
    if isinstance(plan, Mapping) and "scenario" not in plan and changes:
        return Plan.from_dict({**plan, **own, "scenario": changes})
    known = _plan(plan)
    return known.with_scenario(changes, **own) if changes or own else known


Printed = tuple[str | None, list[str]]
"""The text that zpool printed, or the files with it."""


def printed(source: str | Path) -> Printed | None:
    """Return the text, or the file, of what zpool printed; None of anything else."""
    if isinstance(source, str) and "\n" in source:
        return source, []
    path = Path(source)
    if path.suffix == ".toml" or stat_of(path) is None:
        return None
    from zsim.observe.read_pool import is_printed

    if not path.is_dir() and not is_printed(read_text(path, "plan", 'name a plan, or write "replace-one"')):
        return None
    return None, [str(path)]


def _plan_now(
    found: Printed,
    stated: dict[str, object],
    own: Mapping[str, object],
    idle: Mapping[str, object],
) -> Plan:
    """Return the plan that begins with the state that zpool printed."""
    text, names = found
    imported = imported_pool(text, names, stated)
    now = pool_now(imported, text, names, stated, "a timeline")
    for note in now.notes:
        warnings.warn(f"{note.replace(' --set ', ' ')}.", stacklevel=4)
    plan = {"title": now.pool, **now.plan, **own}
    if "running" not in plan and "events" not in plan:
        plan |= {"events": replaced_now(plan), **idle}
    return Plan.from_dict(plan)


def _plan(plan: AskedPlan) -> Plan:
    if isinstance(plan, Plan):
        return plan
    if isinstance(plan, Mapping):
        return Plan.from_dict(plan)
    if isinstance(plan, Scenario):
        return Plan.from_dict({"scenario": plan.stated()})
    if isinstance(plan, Layout):
        return Plan.from_dict({"scenario": {"layout": str(plan)}})
    allowed = "it is a Plan, its fields, a file, the name of a procedure, a layout, a Scenario or a status"
    check_kind("plan", plan, (str, Path), allowed, 'write "replace-one"')
    if isinstance(plan, Path) or plan.endswith(".toml"):
        return Plan.read(plan)
    return _named(plan)


def _named(name: str) -> Plan:
    """Return the plan of a procedure's name; of a layout, one in which nothing happens yet."""
    try:
        return procedure(name)
    except InputError as refused:
        try:
            layout = Layout.parse(name)
        except InputError:
            raise refused from None
    return Plan.from_dict({"scenario": {"layout": str(layout)}})


def cleaned(plan: Plan) -> Plan:
    """Return the plan with what its scenario says of a repair in its replacements and in what runs."""
    scenario = dict(plan.scenario)
    running = plan.running_as_stated
    new: dict[str, object] = {
        name: scenario.pop(name) for name in ("new_drive", "new_drive_size") if name in scenario
    }
    for name in (*FOR_REPLACEMENT, "operation"):
        scenario.pop(name, None)
    events = [
        {**event.model_dump(mode="json", exclude_unset=True), **_lacking(event, new)} for event in plan.events
    ]
    data = plan.model_dump(mode="json", exclude_unset=True)
    data |= {} if running is None else {"running": running.model_dump(mode="json", exclude_unset=True)}
    return Plan.from_dict({**data, "scenario": scenario, "events": events})


def _lacking(event: Event, new: Mapping[str, object]) -> dict[str, object]:
    if event.do != "replace" or event.to != "new-drive":
        return {}
    return {name: value for name, value in new.items() if getattr(event, name) is None}


def _notes(plan: Plan, story: Story) -> tuple[str, ...]:
    """Return what is not simulated, and what never happens."""
    notes = []
    missed = len(plan.expanded) - story.happened
    if missed:
        notes.append(f"{missed} of {len(plan.expanded)} events never happen: what they wait for does not")
    pool = story.pool
    notes += dict.fromkeys(pool.notes)
    if not pool.is_whole and not pool.lost and not pool.endless:
        notes.append(
            "a drive is missing at the end: say what replaces it (--replace-after 12h, or --spares 1)"
        )
    if any(each.kind == "rebuild" for each in pool.history):
        notes.append("redundancy counts as back when a rebuild ends, although the scrub after it verifies it")
    return tuple(notes)
