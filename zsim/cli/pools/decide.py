"""``zsim decide``: what to do now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from zsim.base.errors import InputError
from zsim.base.parsed import table
from zsim.cli.common import exclusive, json_option, print_json, progress, show, show_assumed_of
from zsim.cli.computing import announced_compilation
from zsim.cli.flags import by_default, in_words, scenario_options, stated_fields
from zsim.cli.help import GroupedCommand
from zsim.cli.pools.pasted import pasted_pool, place_of

if TYPE_CHECKING:
    from zsim.planning.timeline.state import PastedPool, Place


@click.command(
    "decide",
    cls=GroupedCommand,
    own={
        "The state now, and what is to be decided": (
            "done", "running", "drives", "waiting", "replace_too", "reboot", "replace_drive",
        )
    },
    examples=(
        "zpool status tank > status.txt; zsim decide status.txt --reboot",
        "zsim decide --layout raidz2x8 --fill 62% --drive-size 18TB --done 35% --replace-too 4",
        "zsim decide --layout raidz2x8 --fill 62% --drive-size 18TB --done 35% --load 'backup 100MB/s'",
    ),
)  # fmt: skip
@click.argument("sources", metavar="[SCENARIO.toml|LAYOUT|STATUS.txt...|-]", nargs=-1)
@click.option("--done", metavar="SHARE", help="How much of the running resilver is done: 35%.")
@click.option(
    "--running",
    metavar="KIND",
    default=None,
    help="What is running: resilver (the default), rebuild or scrub.",
)
@click.option("--drives", metavar="LIST", default=None, help="Drives that are being replaced: 0 or 0,1.")
@click.option("--waiting", metavar="LIST", help="Drives that await a resilver (zpool status says so): 1.")
@click.option("--replace-too", metavar="DRIVE", help="Replace this drive too: now, or later?")
@click.option("--reboot", is_flag=True, help="Reboot the host: now, or later?")
@click.option(
    "--replace-drive",
    metavar="DRIVE",
    help="Nothing is running yet: this drive has failed and is to be replaced.",
)
@scenario_options
@json_option
def command(
    sources: tuple[str, ...],
    done: str | None,
    running: str | None,
    drives: str | None,
    waiting: str | None,
    replace_too: str | None,
    reboot: bool,
    replace_drive: str | None,
    as_json: bool,
    **given: object,
) -> None:
    """Compare what you can do now: wait or restart, replace now or later, reboot, stop the load.

    Several missing drives can be replaced at once or one after the other; a drive that is stated to be slow
    or faulty (--slow, --bad-sectors) can be taken offline or kept. The present state comes from flags, a
    scenario, a layout or a sentence ("8x 16TB in raidz2"), or from the output of zpool status and similar
    commands, in files or piped (zpool status tank | zsim decide - --reboot). The best comes first.
    """
    from zsim.planning.timeline.decisions import decide
    from zsim.planning.timeline.state import replaced_now
    from zsim.scenario.model import Scenario

    exclusive({"FILE": " ".join(sources) or None, "--scenario": given["file"]})
    asked = sources or ((str(given["file"]),) if given["file"] else ())
    state = _state(asked, {**given, "file": None}, running)
    plan, places = state.plan, state.places
    stated = {"done": done, "kind": running, "drives": _numbers(drives, "--drives", places)}
    stated["waiting"] = _numbers(waiting, "--waiting", places)
    _state_pass(plan, stated, is_begun=replace_drive is None)
    if replace_drive is not None:
        vdev, drive = place_of(replace_drive, "--replace-drive", places)
        about = {"vdev": vdev, "drive": drive}
        plan["events"] = [{"do": "fail", **about}, {"do": "replace", **about}]
        plan["zed"] = False
    elif asked and "running" not in plan:
        plan |= {"events": replaced_now(plan), "zed": False}
    other = None if replace_too is None else _beside(replace_too, plan, places)
    with announced_compilation(), progress("comparing") as on_progress:
        found = decide(plan, replace_too=other, reboot=reboot, on_progress=on_progress)
    if as_json:
        print_json(found.to_dict())
    else:
        show(found)
        show_assumed_of(Scenario.from_dict(table(plan, "scenario")))


def _state_pass(plan: dict[str, object], stated: Mapping[str, object], is_begun: bool) -> None:
    """Put what flags say of the pass that runs into a plan; `is_begun`: a repair is, if nothing is said."""
    known = {name: value for name, value in stated.items() if value is not None}
    if known:
        # What is stated of the pass overrules what its status tells, and what follows from that.
        seen = ("left", "elapsed")
        told = {name: value for name, value in table(plan, "running").items() if name not in seen}
        plan["running"] = {**told, **known}
    elif is_begun and "running" not in plan and _is_sick(plan):
        # Whether to keep a sick drive is a question of the repair that reads it: one that has just begun.
        plan["running"] = {"done": 0.0}


def _is_sick(plan: dict[str, object]) -> bool:
    """Tell whether some drive is stated to be slow, badly attached or to have bad sectors."""
    return any(table(plan, "scenario").get(name) for name in ("slow", "attached", "bad_sectors"))


def _state(sources: tuple[str, ...], given: dict[str, object], running: str | None) -> PastedPool:
    """Return what is stated: the scenario, and the scan of a status; `running`: what a flag says of it."""
    from zsim.planning.timeline.decisions import CHOICE
    from zsim.planning.timeline.state import PastedPool, said_pool, state_of
    from zsim.scenario.model import Scenario

    if len(sources) == 1 and sources[0].endswith(".toml"):
        given = given | {"file": sources[0]}
        sources = ()
    words = in_words(sources, given) if sources else {}
    if words:
        given, sources = given | words, ()
    stated = stated_fields(given, begins_now=not sources)
    if words and (said := said_pool(stated)) is not None:
        return said
    if sources:
        return pasted_pool(sources, stated, CHOICE, by_default(given))
    if stated.get("layout") is None:
        raise InputError("layout", None, "the pool is not described", "write for instance --layout raidz2x6")
    scenario = Scenario.from_dict({"operation": "scrub", **stated} if running == "scrub" else stated)
    plan = {"scenario": scenario.stated(), **state_of(scenario.stated(), scenario.evidence or ())}
    return PastedPool(plan, {})


def _numbers(text: str | None, option: str, places: Mapping[str, Place]) -> tuple[int, ...] | None:
    """Return the numbers of the drives of a list."""
    return None if text is None else tuple(place_of(part, option, places)[1] for part in text.split(","))


def _beside(text: str, plan: Mapping[str, object], places: Mapping[str, Place]) -> int:
    """Return the number of another drive, which is of the vdev under repair."""
    vdev, number = place_of(text, "--replace-too", places)
    running = plan.get("running")
    repaired = int(str(running.get("vdev", 0))) if isinstance(running, Mapping) else 0
    if text.strip() in places and vdev != repaired:
        allowed = "it is in another vdev than the one under repair"
        remedy = "use zsim timeline, with --replace-drives and its name"
        raise InputError("--replace-too", text, allowed, remedy)
    return number
