"""``zsim timeline``: the story of a pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zsim.base.errors import InputError
from zsim.base.parsed import table
from zsim.cli.common import json_option, notice, print_json, progress, show, show_assumed_of, whole_number
from zsim.cli.computing import announced_compilation, check_outputs
from zsim.cli.flags import Command, by_default, fields_of_pool, in_words, scenario_options, word, words
from zsim.cli.help import GroupedCommand
from zsim.cli.pools.pasted import NUMBERED, pasted_pool, place_of

if TYPE_CHECKING:
    from zsim.planning.timeline.plan import Plan
    from zsim.planning.timeline.state import PastedPool, Place

NOT_HERE = {
    "replace": "use --fail or --replace-drives",
    "second_at": "use --second-fails-at",
    "operation": "use a plan",
}
ALLOWED = "a timeline is made of events"
WITHOUT = "without the missing drives"
EVENT_FLAGS = (
    (
        "--fail",
        "fail",
        "DRIVE",
        True,
        "A drive fails at the beginning: 0, or 1:3 in vdev 1. May be repeated.",
    ),
    (
        "--replace-drives",
        "drives",
        "LIST",
        False,
        "Drives in service that are replaced at once at the beginning: 0,1.",
    ),
    (
        "--replace-after",
        "replace_after",
        "TIME",
        False,
        "Time from the failures to their replacement: 2h.",
    ),
    (
        "--second-fails-at",
        "second_at_moment",
        "MOMENT",
        False,
        "Another drive of the vdev fails: at 40% of the pass, or after 6h.",
    ),
    (
        "--second-replace-after",
        "second_after",
        "TIME",
        False,
        "Time from that failure to its replacement; by default that of --replace-after.",
    ),
    (
        "--unreadable-at",
        "unreadable_at",
        "MOMENT",
        False,
        "A block turns out to be unreadable: at 40% of the pass, or after 6h.",
    ),
    (
        "--reboot-at",
        "reboot_at",
        "MOMENT",
        True,
        "The host is rebooted: after 5h, or at 60% of the pass. May be repeated.",
    ),
    (
        "--zpool-resilver-at",
        "resilver_at",
        "MOMENT",
        False,
        "zpool resilver is run: after 5h, or at 60% of the pass.",
    ),
    ("--outage", "outage", "TIME", False, "Drive 0 is offline for this long, then comes back; see --churn."),
    ("--churn", "churn", "SIZE", False, "Data written per day, which a drive misses while it is offline."),
    ("--spares", "spares", "N", False, "Hot spares of the pool."),
    ("--detection", "detection", "TIME", False, "Time from a failure until ZFS faults the drive."),
    ("--at-once", "at_once", "K", False, "Drives per pass, in procedures that replace one after another."),
)


def event_options(function: Command) -> Command:
    """Add the flags about what happens to a command."""
    for option, name, metavar, many, text in reversed(EVENT_FLAGS):
        function = click.option(option, name, metavar=metavar, multiple=many, help=text)(function)
    return function


@click.command(
    "timeline",
    cls=GroupedCommand,
    own={"What happens": ("procedure", *(name for _, name, *_ in EVENT_FLAGS), "scrub_after")},
    examples=(
        "zsim timeline --layout raidz2x8 --fill 62% --drive-size 18TB --fail 0 --replace-after 12h "
        "--second-fails-at 40% --plot story.svg",
        "zsim timeline --procedure grow-vdev --layout raidz2x6 --fill 60% --drive-size 8TB",
        "zpool status tank > status.txt; zsim timeline status.txt --reboot-at 2h --second-fails-at 60%",
        "zsim timeline --procedure list",
    ),
)
@click.argument("sources", metavar="[PLAN.toml|PROCEDURE|schema|LAYOUT|STATUS.txt...|-]", nargs=-1)
@click.option("--procedure", metavar="NAME", help="A plan that comes with zsim; 'list' lists them.")
@event_options
@click.option("--scrub-after", is_flag=True, help="Scrub when the pool is whole again.")
@scenario_options
@json_option
@click.option("--plot", metavar="FILE", help="Draw it as a Gantt chart: FILE.svg, FILE.png or FILE.pdf.")
@click.option("--report", metavar="FILE.html", help="Write text and picture as one HTML file.")
def command(
    sources: tuple[str, ...],
    procedure: str | None,
    as_json: bool,
    plot: str | None,
    report: str | None,
    **given: object,
) -> None:
    """Follow a pool through failures, spares, second failures, restarts, reboots, whole procedures.

    The pool comes from flags, a layout or a sentence ("8x 16TB in raidz2"), or from files. What happens comes
    from flags, from a plan in TOML ('zsim timeline schema' prints its JSON Schema) or by a
    procedure (--procedure list). The answer is a chart of all passes, the redundancy left at each moment, and
    when the pool is whole. Given the output of zpool status and similar commands, in files or piped, the
    timeline begins with the present state: the running resilver, what 'zsim eta' says is left of it, and the
    missing drives. Drives may then be named as in that output.
    """
    if sources == ("schema",):
        from zsim.planning.timeline.plan import Plan

        print_json(Plan.json_schema())
        return
    if procedure == "list":
        _list_procedures(as_json)
        return
    check_outputs(None, plot, report)
    plan = plan_from(sources, procedure, given)
    from zsim.planning.timeline.api import timeline
    from zsim.scenario.model import Scenario

    with announced_compilation(), progress("simulating") as on_progress:
        found = timeline(plan, on_progress=on_progress)
    if plot is not None:
        found.save_plot(plot)
    if report is not None:
        from zsim.planning.timeline.gantt import save_page

        save_page(found, report)
    if as_json:
        print_json(found.to_dict())
    else:
        show(found)
        show_assumed_of(Scenario.from_dict(plan.scenario))


def _list_procedures(as_json: bool) -> None:
    from zsim.planning.timeline.procedures import titles

    if as_json:
        print_json({"procedures": [{"name": name, "title": title} for name, title in titles()]})
        return
    from zsim.prediction.answer.tables import Grid, rich_table

    show(rich_table(Grid(("procedure", "what it is"), titles())))


def plan_from(sources: Sequence[str], procedure: str | None, given: dict[str, object]) -> Plan:
    """Return the plan of a command line.

    Raises
    ------
    InputError
        When it names two plans, or a flag that means nothing here.
    """
    from zsim.planning.timeline.api import read_plan
    from zsim.planning.timeline.plan import Plan
    from zsim.planning.timeline.state import said_pool

    stated = None
    if sources and (known_words := in_words(sources, given)):
        given, sources = given | known_words, ()
        stated = fields_of_pool(given, ALLOWED, NOT_HERE)
        pasted = said_pool(stated)
    else:
        pasted = _pasted(sources, given)
    if pasted is not None:
        return _of_pasted(pasted, procedure, given)
    if len(sources) > 1:
        raise InputError("FILE", " ".join(sources), "it is one plan", "give one")
    source = sources[0] if sources else None
    stated = fields_of_pool(given, ALLOWED, NOT_HERE) if stated is None else stated
    if source is not None and procedure is not None:
        raise InputError("--procedure", procedure, "a plan is already given", "give one of the two")
    own = plan_fields(given)
    events = events_from(given)
    if source is None and procedure is None:
        if not events:
            raise InputError(
                "an event", None, "a timeline needs at least one", "give --fail 0, a plan or a --procedure"
            )
        if stated.get("layout") is None:
            raise InputError(
                "layout", None, "the pool is not described", "write for instance --layout raidz2x6"
            )
        return Plan.from_dict({"scenario": stated, "events": events, **own})
    # The name of a procedure is taken as well where a file is expected.
    is_file = source is not None and Path(source).exists()
    known = read_plan(Path(str(source)) if is_file else str(source or procedure))
    added = [event.model_dump(mode="json", exclude_unset=True) for event in known.events] + events
    return known.with_scenario(stated, events=added, **own)


def _pasted(sources: Sequence[str], given: dict[str, object]) -> PastedPool | None:
    """Return what files tell of a pool now, if what zpool and its like printed is given; else None."""
    asked = tuple(sources)
    if not asked and given["file"] and _printed(str(given["file"])):
        asked = (str(given["file"]),)
    alone = asked[0] if len(asked) == 1 else ""
    if not asked or alone.endswith(".toml") or (alone and alone != "-" and not _printed(alone)):
        return None
    # What is stated of a repair by hand is refused before anything is read.
    stated = fields_of_pool({**given, "file": None}, ALLOWED, NOT_HERE)
    return pasted_pool(asked, stated, "a timeline", by_default(given))


def _printed(name: str) -> bool:
    """Tell whether there is such a file, or a directory of files, and it is no plan or scenario."""
    from zsim.base.model_data import load_toml

    path = Path(name)
    if name.endswith(".toml") or not path.exists():
        return False
    if path.is_dir():
        return True
    try:
        load_toml(path, "plan")
    except InputError:
        return True
    return False


def _of_pasted(pasted: PastedPool, procedure: str | None, given: dict[str, object]) -> Plan:
    """Return the plan of a pool whose state now is pasted."""
    from zsim.planning.timeline.api import read_plan
    from zsim.planning.timeline.plan import NEW_DRIVE, Plan
    from zsim.planning.timeline.state import replaced_now

    running = table(pasted.plan, "running") if "running" in pasted.plan else None
    gone = replaced_now(pasted.plan) if running is None else []
    own, events = plan_fields(given), events_from(given, pasted.places, running)
    _say_numbers(pasted, given)
    if procedure is not None:
        known = read_plan(procedure)
        events = [event.model_dump(mode="json", exclude_unset=True) for event in known.events] + events
        own = {"title": known.title, "at_once": known.at_once} | own
    elif not events and running is None:
        events = gone
        if not events:
            allowed = "no scan is running on this pool, no drive of it is missing, and no event is stated"
            raise InputError("events", None, allowed, "give --fail and the name of a drive, or --procedure")
        notice("no event is stated: the missing drives are replaced at once.")
    elif gone:
        notice(f"the timeline begins {WITHOUT}: the repair shown in the file is not part of it.")
    plan = dict(pasted.plan)
    if running is None:
        stated = table(plan, "scenario")
        plan["scenario"] = {name: value for name, value in stated.items() if name not in NOT_HERE}
    title = {"title": pasted.pool} if pasted.pool else {}
    found = Plan.from_dict({**title, **plan, **own, "events": events})
    new = {name: given[name] for name in NEW_DRIVE if given.get(name) is not None}
    return found.with_scenario(new) if new else found


def _say_numbers(pasted: PastedPool, given: Mapping[str, object]) -> None:
    """Say which number a drive has in the story that flags name otherwise."""
    names = pasted.plan.get("vdev_names")
    listed = (word(given, "drives") or "").split(",")
    for text in (*words(given, "fail"), *filter(None, listed)):
        vdev, drive = place_of(text, "--fail", pasted.places)
        known = names[vdev] if isinstance(names, tuple) and vdev < len(names) else f"vdev {vdev}"
        if not NUMBERED.fullmatch(text.strip()):
            notice(f"{text.strip()} is drive {drive} of {known} in this timeline.")


def plan_fields(given: dict[str, object]) -> dict[str, object]:
    """Return the fields of the plan that flags state."""
    found: dict[str, object] = {n: given[n] for n in ("detection", "churn") if given.get(n) is not None}
    for name, least in (("spares", 0), ("at_once", 1)):
        if (number := whole_number(word(given, name), f"--{name.replace('_', '-')}", least)) is not None:
            found[name] = number
    return found


def events_from(
    given: Mapping[str, object],
    places: Mapping[str, Place] | None = None,
    running: Mapping[str, object] | None = None,
) -> list[dict[str, object]]:
    """Return the events that flags state, in order.

    Parameters
    ----------
    given : mapping
    places : mapping of str to tuple of int, optional
        Vdev and number of each drive, by its name.
    running : mapping, optional
        The pass that runs when the timeline begins: its drives are the first that have failed.
    """
    named = places or {}
    failed = [place_of(text, "--fail", named) for text in words(given, "fail")]
    events: list[dict[str, object]] = [{"do": "fail", "vdev": vdev, "drive": drive} for vdev, drive in failed]
    if (listed := word(given, "drives")) is not None:
        drives = [place_of(text, "--replace-drives", named) for text in listed.split(",")]
        events.append({"do": "replace", "vdev": drives[0][0], "drives": [drive for _, drive in drives]})
    if given["replace_after"] is not None:
        if not failed:
            raise InputError("--replace-after", given["replace_after"], "no drive fails", "give --fail 0")
        by_vdev: dict[int, list[int]] = {}
        for vdev, drive in failed:
            by_vdev.setdefault(vdev, []).append(drive)
        delay = given["replace_after"]
        for vdev, drives_of in by_vdev.items():
            events.append({"do": "replace", "vdev": vdev, "drives": drives_of, "after": delay})
            delay = 0
    if given["second_at_moment"] is not None:
        events += _second(given, failed or _repaired(running))
    if given["outage"] is not None:
        events += [{"do": "offline", "drive": 0}, {"do": "online", "drive": 0, "after": given["outage"]}]
    for flag, action in (("unreadable_at", "unreadable-block"), ("resilver_at", "resilver")):
        if given[flag] is not None:
            events.append({"do": action, "at": given[flag]})
    events += [{"do": "reboot", "at": moment} for moment in words(given, "reboot_at")]
    return events + ([{"do": "scrub", "when": "whole"}] if given["scrub_after"] else [])


def _repaired(running: Mapping[str, object] | None) -> list[Place]:
    """Return the drives that the pass that runs replaces, and those that wait for one."""
    from zsim.planning.timeline.plan import Running

    if running is None or running.get("kind") == "scrub":
        return []
    found = Running.model_validate(dict(running))
    return [(found.vdev, drive) for drive in (*found.drives, *found.waiting)]


def _second(given: Mapping[str, object], failed: Sequence[Place]) -> list[dict[str, object]]:
    """Return the failure and the replacement of a second drive of the vdev."""
    if not failed:
        raise InputError(
            "--second-fails-at", given["second_at_moment"], "no first drive fails", "give --fail 0"
        )
    vdev, drive = failed[0][0], max(each for vdev, each in failed if vdev == failed[0][0]) + 1
    fails = {"do": "fail", "vdev": vdev, "drive": drive, "at": given["second_at_moment"]}
    after = given["second_after"] if given["second_after"] is not None else given["replace_after"]
    if after is None:
        return [fails]
    return [fails, {"do": "replace", "vdev": vdev, "drive": drive, "after": after}]
