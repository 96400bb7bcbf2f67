"""What a mistyped command or flag probably meant: words of other tools, and flags of other commands."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from zsim.cli.flags import VDEV

COMMAND_MEANT = {
    "resilver": "predict", "simulate": "predict", "estimate": "predict", "forecast": "predict",
    "run": "predict", "replace": "predict", "scrub": "predict --operation scrub",
    "rebuild": "predict --operation rebuild",
    "expand": "predict --operation expand", "remove": "predict --operation remove",
    "status": "eta", "progress": "eta", "finish": "eta", "when": "eta", "watch": "eta --pool NAME --watch 60",
    "list": "drives list", "disks": "drives list", "histories": "pool histories", "show": "scenario show",
    "explain": "predict --why", "why": "predict --why", "advise": "decide",
    "loss": "risk", "mttdl": "risk", "tunables": "tune", "layouts": "compare", "help": "--help",
    "version": "--version",
}  # fmt: skip
"""Words that are typed for a command, and the command line that is meant."""
DRIVES_OF_LAYOUT = "--layout (raidz2x6 has six drives)"
FLAG_MEANT: dict[str, tuple[str, ...]] = {
    "--size": ("--drive-size",), "--disk-size": ("--drive-size",), "--capacity": ("--drive-size",),
    "--disk": ("--drive",), "--model": ("--drive",), "--used": ("--alloc",), "--usage": ("--fill",),
    "--full": ("--fill",), "--cap": ("--fill",), "--blocksize": ("--recordsize",),
    "--block-size": ("--recordsize",), "--volblocksize": ("--recordsize",), "--ram": ("--memory",),
    "--version": ("--release",), "--zfs": ("--release",), "--os": ("--platform",), "--vdev": ("--layout",),
    "--raid": ("--layout",), "--disks": ("--drives", DRIVES_OF_LAYOUT), "--drives": (DRIVES_OF_LAYOUT,),
    "--width": (DRIVES_OF_LAYOUT,), "--workload": ("--load",), "--format": ("--json",), "--csv": ("-o",),
    "--html": ("--report",), "--threads": ("--jobs",), "--verbose": ("-v",), "--fragmentation": ("--frag",),
}  # fmt: skip
"""Flags of other tools, or of none, and those that may be meant, the likeliest first."""

ON, OFF = frozenset({"on", "yes", "true", "enabled"}), frozenset({"off", "no", "false", "disabled"})


def switched(arguments: Sequence[str], parameters: Sequence[click.Parameter]) -> list[str]:
    """Return arguments in which ``--write-cache off`` and ``--write-cache=off`` are ``--no-write-cache``.

    Parameters
    ----------
    arguments : sequence of str
    parameters : sequence of click.Parameter
        Of the command that they were given to.
    """
    pairs = {each.opts[0]: each.secondary_opts[0] for each in parameters if each.secondary_opts}
    found: list[str] = []
    for place, argument in enumerate(arguments):
        if argument == "--":
            return [*found, *arguments[place:]]
        flag, equals, value = argument.partition("=")
        if not equals:
            flag, value = (found[-1] if found else ""), argument
        state = value.lower()
        if flag not in pairs or state not in ON | OFF:
            found.append(argument)
            continue
        meant = flag if state in ON else pairs[flag]
        found[len(found) if equals else -1 :] = [meant]
    return found


def meant_by_command(word: str, known: Sequence[str]) -> str:
    """Return the command line that a word in the place of a command probably means; empty if none."""
    folded = word.lower()
    if folded in COMMAND_MEANT:
        return f"zsim {COMMAND_MEANT[folded]}"
    if VDEV.match(word):
        return f"zsim predict --layout {word}"
    if " " in word and re.search(r"\d", word):
        return f'zsim {"eta" if "done" in folded else "predict"} "{word}"'
    if Path(word).is_file():
        return f"zsim predict {shlex.quote(word)}"
    near = difflib.get_close_matches(folded, [*known, *COMMAND_MEANT], n=1, cutoff=0.6)
    return f"zsim {COMMAND_MEANT.get(near[0], near[0])}" if near else ""


def meant_by_option(option: str, context: click.Context, others: Sequence[click.Command]) -> str:
    """Return what a flag that a command does not have probably means; empty if nothing is near.

    Parameters
    ----------
    option : str
        As it was typed: ``--size``.
    context : click.Context
        Of the command that it was given to.
    others : sequence of click.Command
        Further commands, of which it may be a flag.
    """
    command, flags = context.command, _flags(context.command, context)
    for meant in FLAG_MEANT.get(option.lower(), ()):
        if meant.partition(" ")[0] in flags:
            return f"did you mean {meant}?"
    having = [each for each in others if option in _flags(each)]
    if having and isinstance(command, click.Group):
        return f"it is written after the command: zsim {having[0].name} {option}"
    if having:
        return f"it is an option of {', '.join(f'zsim {each.name}' for each in having[:3])}"
    near = difflib.get_close_matches(option, flags, n=2, cutoff=0.7)
    return f"did you mean {' or '.join(near)}?" if near else ""


def _flags(command: click.Command, context: click.Context | None = None) -> tuple[str, ...]:
    """Return the flags of a command, in the order in which it declares them; with its context --help too."""
    params = command.params if context is None else command.get_params(context)
    return tuple(name for each in params for name in (*each.opts, *each.secondary_opts) if name[0] == "-")
