"""``zsim timeline``: the story of a pool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from zsim.base.errors import InputError
from zsim.cli.common import print_json, progress, show, whole_number
from zsim.cli.computing import announced_compilation, check_outputs
from zsim.cli.flags import Command, fields_of_pool, scenario_options, word, words
from zsim.cli.help import GroupedCommand

if TYPE_CHECKING:
    from zsim.planning.timeline.plan import Plan

NOT_HERE = {
    "replace": "use --fail or --replace-drives",
    "second_at": "use --second-fails-at",
    "operation": "use a plan",
}
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
        "A block turns out unreadable: at 40% of the pass, or after 6h.",
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
    ("--churn", "churn", "SIZE", False, "Data written a day, which a drive misses while it is offline."),
    ("--spares", "spares", "N", False, "Hot spares of the pool."),
    ("--detection", "detection", "TIME", False, "Time from a failure until ZFS faults the drive."),
    ("--at-once", "at_once", "K", False, "Drives a pass, in procedures that replace one after another."),
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
        "zsim timeline --procedure list",
    ),
)
@click.argument("source", metavar="[PLAN.toml|PROCEDURE|schema]", required=False)
@click.option("--procedure", metavar="NAME", help="A plan that comes with zsim; 'list' lists them.")
@event_options
@click.option("--scrub-after", is_flag=True, help="A scrub when the pool is whole again.")
@scenario_options
@click.option("--json", "as_json", is_flag=True, help="Print as JSON, and nothing else, on stdout.")
@click.option("--plot", metavar="FILE", help="Draw it as a Gantt chart: FILE.svg, FILE.png or FILE.pdf.")
@click.option("--report", metavar="FILE.html", help="Write text and picture as one HTML file.")
def command(
    source: str | None,
    procedure: str | None,
    as_json: bool,
    plot: str | None,
    report: str | None,
    **given: object,
) -> None:
    """Follow a pool through failures, spares, second failures, restarts, reboots, whole procedures.

    What happens comes from flags, from a plan in TOML ('zsim timeline schema' prints its JSON Schema) or by a
    procedure (--procedure list). The answer is a chart of all passes, the redundancy left at each moment, and
    when the pool is whole.
    """
    if source == "schema":
        from zsim.planning.timeline.plan import Plan

        print_json(Plan.json_schema())
        return
    if procedure == "list":
        _list_procedures(as_json)
        return
    check_outputs(None, plot, report)
    plan = plan_from(source, procedure, given)
    from zsim.planning.timeline.api import timeline

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


def _list_procedures(as_json: bool) -> None:
    from zsim.planning.timeline.procedures import titles

    if as_json:
        print_json({"procedures": [{"name": name, "title": title} for name, title in titles()]})
        return
    from zsim.prediction.answer.tables import Grid, rich_table

    show(rich_table(Grid(("procedure", "what it is"), titles())))


def plan_from(source: str | None, procedure: str | None, given: dict[str, object]) -> Plan:
    """Return the plan of a command line.

    Raises
    ------
    InputError
        When it names two plans, or a flag that means nothing here.
    """
    from zsim.planning.timeline.api import read_plan
    from zsim.planning.timeline.plan import Plan

    stated = fields_of_pool(given, "a timeline is made of events", NOT_HERE)
    if source is not None and procedure is not None:
        raise InputError("--procedure", procedure, "a plan is given already", "give one of the two")
    own = plan_fields(given)
    events = events_from(given, stated)
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


def plan_fields(given: dict[str, object]) -> dict[str, object]:
    """Return the fields of the plan that flags state."""
    found: dict[str, object] = {n: given[n] for n in ("detection", "churn") if given.get(n) is not None}
    for name, least in (("spares", 0), ("at_once", 1)):
        if (number := whole_number(word(given, name), f"--{name.replace('_', '-')}", least)) is not None:
            found[name] = number
    return found


def events_from(given: dict[str, object], stated: dict[str, object]) -> list[dict[str, object]]:
    """Return the events that flags state, in order."""
    failed = [_place(text, "--fail") for text in words(given, "fail")]
    events: list[dict[str, object]] = [{"do": "fail", "vdev": vdev, "drive": drive} for vdev, drive in failed]
    if (listed := word(given, "drives")) is not None:
        drives = [_place(text, "--replace-drives") for text in listed.split(",")]
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
        events += _second(given, failed)
    if given["outage"] is not None:
        events += [{"do": "offline", "drive": 0}, {"do": "online", "drive": 0, "after": given["outage"]}]
    for flag, action in (("unreadable_at", "unreadable-block"), ("resilver_at", "resilver")):
        if given[flag] is not None:
            events.append({"do": action, "at": given[flag]})
    events += [{"do": "reboot", "at": moment} for moment in words(given, "reboot_at")]
    return events + ([{"do": "scrub", "when": "whole"}] if given["scrub_after"] else [])


def _second(given: dict[str, object], failed: list[tuple[int, int]]) -> list[dict[str, object]]:
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


def _place(text: str, option: str) -> tuple[int, int]:
    """Return vdev and drive of ``3`` or ``1:3``."""
    parts = [part.strip() for part in str(text).split(":")]
    if not 1 <= len(parts) <= 2 or not all(
        part.isascii() and part.isdigit() and len(part) < 6 for part in parts
    ):
        raise InputError(
            option, text, "it is a drive's number, or vdev:drive", f"write {option} 0 or {option} 1:3"
        )
    numbers = [int(part) for part in parts]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, numbers[0])
