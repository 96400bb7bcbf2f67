"""``zsim.timeline``: simulate a plan in every world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from zsim.base.errors import check_kind
from zsim.base.notebook import reporting
from zsim.base.parsed import table
from zsim.base.provenance import provenance
from zsim.planning.timeline.passes import FOR_REPLACEMENT, WORLDS, Passes, facts
from zsim.planning.timeline.plan import Event, Plan, plain_scenario
from zsim.planning.timeline.procedures import procedure
from zsim.planning.timeline.result import Timeline, timeline_of
from zsim.planning.timeline.rules import rules_hash, rules_of
from zsim.planning.timeline.story import Story
from zsim.prediction.api import files_used, models_used

Progress = Callable[[float, str], None]


def timeline(
    plan: Plan | Mapping[str, object] | str | Path,
    *,
    on_progress: Progress | None = None,
    passes: Passes | None = None,
    **fields: object,
) -> Timeline:
    """Simulate a pool through failures, spares, replacements, restarts, reboots and procedures.

    Parameters
    ----------
    plan : Plan, mapping, or str or Path
        What happens; text that does not end in ``.toml`` is the name of a procedure included in zsim.
    on_progress : callable, optional
        Called with the share done and a few words.
    passes : Passes, optional
        Passes that have been predicted already; alternatives that share them are compared in pairs.
    **fields
        Fields of the plan's scenario and of the plan itself (``spares``, ``at_once``), which replace its own.

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
    plan: Plan | Mapping[str, object] | str | Path, fields: Mapping[str, object] | None = None
) -> Plan:
    """Return a plan given as such, as data, as a file, or by the name of a procedure, `fields` over it."""
    changes = dict(fields or {})
    own = {name: changes.pop(name) for name in Plan.model_fields if name in changes}
    whole = plain_scenario(own.pop("scenario", {}))
    if isinstance(whole, Mapping):
        changes = {**whole, **changes}
    if isinstance(plan, Mapping) and "scenario" not in plan and changes:
        return Plan.from_dict({**plan, **own, "scenario": changes})
    found = _plan(plan)
    return found.with_scenario(changes, **own) if changes or own else found


def _plan(plan: Plan | Mapping[str, object] | str | Path) -> Plan:
    if isinstance(plan, Plan):
        return plan
    if isinstance(plan, Mapping):
        return Plan.from_dict(plan)
    allowed = "it is a Plan, a mapping of its fields, the path of a file, or the name of a procedure"
    check_kind("plan", plan, (str, Path), allowed, 'write "replace-one"')
    if isinstance(plan, Path) or plan.endswith(".toml"):
        return Plan.read(plan)
    return procedure(plan)


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
