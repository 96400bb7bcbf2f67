"""``zsim plan``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from zsim.base.errors import InputError
from zsim.cli.common import exclusive, hand_over, number, progress, whole_number
from zsim.cli.computing import announced_compilation, check_outputs
from zsim.cli.design.risk import ABOUT_RISK, inputs_from, risk_options
from zsim.cli.flags import Given, scenario_options, stated_fields, word
from zsim.cli.help import GroupedCommand

if TYPE_CHECKING:
    from zsim.planning.design.answer import Design

POOL = ("drives", "usable", "budget", "price", "spares", "jobs", "kinds", "confirm", "store")
FIND = ("layouts", "width", "fill", "worth")


@click.command(
    "plan",
    cls=GroupedCommand,
    own={
        "Requirements": (
            "drives", "usable", "budget", "price", "spares", "require", "sort", "kinds", "find", "confirm",
            "jobs", "store",
        ),
        **ABOUT_RISK,
    },
    examples=(
        'zsim plan --drives 60 --drive-size 20TB --fill 80% --require "p90 < 48h" '
        '--require "vdev < 1 in 1,000"',
        'zsim plan --find width --layout raidz2x6 --drive-size 20TB --fill 80% --require "p90 < 96h"',
        'zsim plan --find fill --layout raidz2x12 --drive-size 20TB --require "p90 < 48h"',
        "zsim plan --find worth --layout raidz2x12 --drive-size 20TB --fill 80%",
    ),
)  # fmt: skip
@click.option("--drives", metavar="N", help="Drives there are, hot spares included.")
@click.option(
    "--usable",
    metavar="SIZE",
    help="Data that the pool must hold: 700T; alone: with the fewest drives.",
)
@click.option("--budget", metavar="MONEY", help="Instead of --drives: total budget for the drives.")
@click.option("--price", metavar="MONEY", help="What one drive costs.")
@click.option("--spares", metavar="N", help="Least number of hot spares.")
@click.option(
    "--require",
    metavar="CONDITION",
    multiple=True,
    help='A requirement, such as "p90 < 24h". May be repeated.',
)
@click.option(
    "--sort", metavar="NAME", help="usable, p90, vdev, random or drives (the default with --usable alone)."
)
@click.option(
    "--kinds", metavar="NAMES", default="mirror,raidz,draid", help="What to try: mirror, raidz, draid."
)
@click.option("--confirm", metavar="N", help="Most layouts to predict in full, the best first; 8 by default.")
@click.option("--find", metavar="WHAT", default="layouts", help="layouts, width, fill or worth (what helps).")
@click.option("--jobs", metavar="N", help="Processes; by default one a core.")
@click.option("--store", metavar="FILE.sqlite", help="Keep what was simulated, and reuse it.")
@risk_options
@scenario_options
@click.option("--json", "as_json", is_flag=True, help="Print as JSON, and nothing else, on stdout.")
@click.option("-o", "--output", metavar="FILE.json", help="Store the answer as JSON.")
@click.option("--plot", metavar="FILE", help="Draw the answer: FILE.svg, FILE.png or FILE.pdf.")
def command(as_json: bool, output: str | None, plot: str | None, **given: object) -> None:
    """Which layouts meet your requirements, how wide a vdev or how full a pool may be, what helps most.

    Requirements are about p50 and p90 of the repair; files, vdev and pool (chance of loss within a year);
    window (during the repair); usable, random, random-degraded, read, read-degraded, write and drives.
    """
    check_outputs(output, plot, None)
    question = {name: given.pop(name) for name in POOL}
    find, require, sort = str(given.pop("find")), given.pop("require"), word(given, "sort")
    del given["sort"]
    if find not in FIND:
        raise InputError("--find", find, f"it is one of {', '.join(FIND)}", "write --find layouts")
    inputs = inputs_from(given)
    common = stated_fields(given)
    with announced_compilation(), progress("planning") as report:
        answer = _answer(
            find, question, {"require": require, "inputs": inputs, "on_progress": report}, common, sort
        )
    hand_over(answer, as_json, output, plot)


Ask = Callable[..., "Design"]
"""A question: fields are checked as those of a file are."""


def _answer(
    find: str, question: Given, asked: dict[str, object], common: dict[str, object], sort: str | None
) -> Design:
    """Return the answer to the question that is asked."""
    from zsim.planning.design import search

    if find == "layouts":
        if "layout" in common:
            raise InputError("layout", common["layout"], "layouts are what is sought", "leave it out")
        plan: Ask = search.plan_layouts
        return plan(**_pool(question), sort=sort, **asked, **common)
    stated = [f"--{name}" for name in ("drives", "usable", "budget") if question[name] is not None]
    if stated:
        raise InputError(
            stated[0], question[stated[0][2:]], f"--find {find} is about one layout", "leave it out"
        )
    layout = common.pop("layout", None)
    if layout is None:
        raise InputError("layout", None, f"--find {find} is about one layout", "write --layout raidz2x12")
    if find == "worth":
        asked.pop("require")
        worth: Ask = search.worth
        return worth(str(layout), **asked, **common)
    seek: Ask = search.widest if find == "width" else search.fullest
    return seek(str(layout), **asked, **common)


def _pool(question: Given) -> dict[str, object]:
    from zsim.base.units import parse_bytes

    exclusive({f"--{name}": question[name] for name in ("drives", "budget")})
    usable, confirm = word(question, "usable"), whole_number(word(question, "confirm"), "--confirm", 0)
    return {
        "drives": whole_number(word(question, "drives"), "--drives", 2),
        "usable": None if usable is None else parse_bytes(usable, "--usable"),
        "budget": number(word(question, "budget"), "budget"),
        "price": number(word(question, "price"), "price"),
        "spares": whole_number(word(question, "spares"), "--spares", 0) or 0,
        "jobs": whole_number(word(question, "jobs"), "--jobs", 1),
        "kinds": tuple(each.strip() for each in str(question["kinds"]).split(",")),
        "store": question["store"],
        **({} if confirm is None else {"confirm": confirm}),
    }
