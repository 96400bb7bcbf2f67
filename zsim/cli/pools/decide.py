"""``zsim decide``: what to do now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zsim.base.errors import InputError
from zsim.base.parsed import table
from zsim.cli.common import exclusive, print_json, progress, show, whole_number
from zsim.cli.computing import announced_compilation
from zsim.cli.flags import scenario_options, stated_fields
from zsim.cli.help import GroupedCommand

if TYPE_CHECKING:
    from zsim.observe.pool_import.importing import ImportedPool
    from zsim.planning.eta.reading import Paste


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
@click.argument("sources", metavar="[SCENARIO.toml|STATUS.txt...|-]", nargs=-1)
@click.option("--done", metavar="SHARE", help="Share done of the resilver that runs: 35%.")
@click.option(
    "--running", metavar="KIND", default=None, help="What runs: resilver (the default), rebuild or scrub."
)
@click.option("--drives", metavar="LIST", default=None, help="Drives that are being replaced: 0 or 0,1.")
@click.option("--waiting", metavar="LIST", help="Drives that await a resilver (zpool status says so): 1.")
@click.option("--replace-too", metavar="DRIVE", help="Another drive to be replaced: now, or later?")
@click.option("--reboot", is_flag=True, help="The host is to be rebooted: now, or later?")
@click.option(
    "--replace-drive", metavar="DRIVE", help="Nothing runs yet: this drive has failed and is replaced."
)
@scenario_options
@click.option("--json", "as_json", is_flag=True, help="Print as JSON, and nothing else, on stdout.")
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
    """Compare what could be done now: wait or restart, replace now or later, reboot, stop the load.

    A drive stated to be slow or sick (--slow, --bad-sectors) may be taken offline or kept. The state now
    comes from flags, from a scenario, or from what zpool status and its like printed, in files or piped
    (zpool status tank | zsim decide - --reboot). The best comes first.
    """
    from zsim.planning.timeline.decisions import decide

    exclusive({"FILE": " ".join(sources) or None, "--scenario": given["file"]})
    asked = sources or ((str(given["file"]),) if given["file"] else ())
    plan = _state(asked, {**given, "file": None})
    stated = {"done": done, "kind": running, "drives": _numbers(drives, "--drives")}
    stated["waiting"] = _numbers(waiting, "--waiting")
    known = {name: value for name, value in stated.items() if value is not None}
    if known:
        # What is stated of the pass overrules what its status tells, and what follows from that.
        seen = ("left", "elapsed")
        told = {name: value for name, value in table(plan, "running").items() if name not in seen}
        plan["running"] = {**told, **known}
    elif replace_drive is None and "running" not in plan and _is_sick(plan):
        # Whether to keep a sick drive is a question of the repair that reads it: one that has just begun.
        plan["running"] = {"done": 0.0}
    if replace_drive is not None:
        drive = whole_number(replace_drive, "--replace-drive", 0)
        plan["events"] = [{"do": "fail", "drive": drive}, {"do": "replace", "drive": drive}]
        plan["zed"] = False
    other = whole_number(replace_too, "--replace-too", 0)
    with announced_compilation(), progress("comparing") as on_progress:
        found = decide(plan, replace_too=other, reboot=reboot, on_progress=on_progress)
    if as_json:
        print_json(found.to_dict())
    else:
        show(found)


def _is_sick(plan: dict[str, object]) -> bool:
    """Tell whether some drive is stated to be slow, badly attached or to have bad sectors."""
    return any(table(plan, "scenario").get(name) for name in ("slow", "attached", "bad_sectors"))


def _state(sources: tuple[str, ...], given: dict[str, object]) -> dict[str, object]:
    """Return the plan of what is stated: the scenario, and the scan of a status."""
    from zsim.planning.timeline.decisions import state_of
    from zsim.scenario.model import Scenario

    if len(sources) == 1 and sources[0].endswith(".toml"):
        given = given | {"file": sources[0]}
        sources = ()
    stated = stated_fields(given)
    if sources:
        return _pasted(sources, stated)
    if stated.get("layout") is None:
        raise InputError("layout", None, "the pool is not described", "write for instance --layout raidz2x6")
    scenario = Scenario.from_dict(stated)
    return {"scenario": scenario.stated(), **state_of(scenario.stated(), scenario.evidence or ())}


def _imported(text: str | None, names: list[str], stated: dict[str, object]) -> ImportedPool:
    """Return what an import makes of files and of what was piped, all about one pool."""
    import tempfile
    from pathlib import Path

    from zsim.observe.pool_import.importing import import_pasted, import_pool

    if text is None or not names:
        return import_pool(names, stated=stated) if text is None else import_pasted(text, stated=stated)
    with tempfile.TemporaryDirectory() as folder:
        piped = Path(folder) / "pasted.txt"
        piped.write_text(text, encoding="utf-8")
        return import_pool([*names, piped], stated=stated)


def _pasted(sources: tuple[str, ...], stated: dict[str, object]) -> dict[str, object]:
    """Return the plan of a pasted status; what is left of a scan that runs is what ``zsim eta`` answers."""
    from pathlib import Path

    from zsim.cli.common import notice
    from zsim.observe.pool_import.gaps import BARE, is_gap
    from zsim.planning.eta.api import eta_of
    from zsim.planning.eta.reading import read_paste
    from zsim.planning.timeline.decisions import CHOICE, state_of
    from zsim.scenario.evidence import missing_drives
    from zsim.scenario.files import put_aside, scenario_text
    from zsim.scenario.model import Scenario

    names = [name for name in sources if name != "-"]
    text = scenario_text(Path("-")) if len(names) < len(sources) else None
    imported = _imported(text, names, stated)
    for note in imported.notes:
        if is_gap(note) or note.startswith(BARE):
            notice(f"{note}.")
    if imported.progress is None or not imported.progress.active:
        fields = put_aside(imported.scenario.stated(), stated) | stated
        scenario = Scenario.from_dict(fields)
        return {"scenario": scenario.stated(), **state_of(fields, scenario.evidence or ())}
    paste = read_paste(text, names, stated=stated, imported=imported)
    known = paste.scenario.stated()
    if (why := _no_choice(paste)) is not None:
        raise InputError(CHOICE, None, why, "zsim eta, given the same files, says when it finishes")
    seen = eta_of(paste.scenario, paste)
    shown = (*paste.scans, *missing_drives(paste.scenario.evidence or ()))
    return {"scenario": known, **state_of(known, shown, imported.waiting, seen)}


def _no_choice(paste: Paste) -> str | None:
    """Return why there is nothing to choose while what a status shows runs; None where there may be."""
    from zsim.planning.eta.reading import SUSPENDED
    from zsim.scenario.evidence import MOVES

    kind = paste.scans[-1].kind
    if any(note.startswith(SUSPENDED) for note in paste.notes):
        return "the pool is suspended, and nothing goes on until its drives are back and zpool clear is run"
    if paste.paused:
        return f"the {kind} is paused, and nothing goes on until it is resumed"
    if kind in MOVES:
        return (
            f"what runs is {'an expansion' if kind == 'expand' else 'a removal'}: it goes on, or is stopped"
        )
    if kind == "heal" or paste.log_alone or paste.dedup_alone:
        return "what runs repairs no whole drive, so that there is little to choose"
    return None


def _numbers(text: str | None, option: str) -> tuple[int, ...] | None:
    if text is None:
        return None
    return tuple(whole_number(part, option, 0) or 0 for part in text.split(","))
