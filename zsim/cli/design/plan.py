"""``zsim plan``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from zsim.base.errors import InputError
from zsim.cli.common import answer_options, exclusive, hand_over, number, progress, tell_powers, whole_number
from zsim.cli.completion import offering
from zsim.cli.computing import announced_compilation, check_outputs
from zsim.cli.design.risk import ABOUT_RISK, inputs_from, risk_options
from zsim.cli.flags import Given, is_layout, scenario_options, stated_fields, word
from zsim.cli.flags import words as words_of
from zsim.cli.help import GroupedCommand
from zsim.scenario.words import in_words

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
        'zsim plan "24x 16TB" --fill 70% --require "p90 < 72h"',
        'zsim plan --find width --layout raidz2x6 --drive-size 20TB --fill 80% --require "p90 < 96h"',
        'zsim plan --find fill --layout raidz2x12 --drive-size 20TB --require "p90 < 48h"',
        "zsim plan --find worth --layout raidz2x12 --drive-size 20TB --fill 80%",
    ),
)  # fmt: skip
@click.argument("words", metavar="[LAYOUT|SENTENCE]...", nargs=-1)
@click.option("--drives", metavar="N", help="Number of drives, hot spares included.")
@click.option(
    "--usable",
    metavar="SIZE",
    help="Data that the pool must hold, such as 700T; alone, layouts with the fewest drives come first.",
)
@click.option("--budget", metavar="MONEY", help="Instead of --drives: total budget for the drives.")
@click.option("--price", metavar="MONEY", help="What one drive costs.")
@click.option("--spares", metavar="N", help="Minimum number of hot spares.")
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
    "--kinds",
    metavar="NAMES",
    default="mirror,raidz,draid",
    help="Kinds of vdev to try: mirror, raidz, draid; disk (no redundancy) only if it is named.",
)
@click.option("--confirm", metavar="N", help="How many of the best layouts to predict in full; 8 by default.")
@click.option(
    "--find",
    metavar="WHAT",
    default="layouts",
    help="What to find: layouts, width, fill or worth (what improves a layout).",
    shell_complete=offering(lambda: FIND),
)
@click.option("--jobs", metavar="N", help="Number of processes; by default one per core.")
@click.option("--store", metavar="FILE.sqlite", help="Keep what was simulated, and reuse it.")
@risk_options
@scenario_options
@answer_options
def command(
    words: tuple[str, ...], as_json: bool, output: str | None, plot: str | None, **given: object
) -> None:
    """Which layouts meet your requirements, how wide a vdev or how full a pool may be, what helps most.

    Requirements are about p50 and p90 of the repair; files, vdev and pool (chance of loss within a year);
    window (during the repair); usable, random, random-degraded, read, read-degraded, write and drives.
    A sentence may state the drives: "24x 16TB"; for --find width, fill and worth, the layout.
    """
    check_outputs(output, plot, None)
    if len(words) == 1 and given["layout"] is None and is_layout(words[0]):
        given["layout"] = words[0]
    elif words:
        _take_words(" ".join(words), given)
    tell_powers("--usable", word(given, "usable") or "")
    for condition in words_of(given, "require"):
        tell_powers("--require", condition if condition.lstrip().startswith("usable") else "")
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


def _take_words(text: str, given: dict[str, object]) -> None:
    """Note the drives, or the layout, that are said in a sentence, below what flags state.

    Raises
    ------
    InputError
        When it is about neither, or says the layout that is sought.
    """
    from zsim.cli.given_files import tell_reading
    from zsim.observe.pool_import.given.pool_in_words import pool_in_words
    from zsim.observe.pool_import.given.sentence_forms import USABLE

    wanted = USABLE.search(text)
    if wanted is not None and given.get("usable") is None:
        given["usable"] = wanted["amount"].replace(" ", "")
        text = f"{text[: wanted.start()]} {text[wanted.end() :]}"
    said = pool_in_words(text, needs_layout=False)
    if said is None:
        allowed = "it mentions neither drives nor vdevs"
        raise InputError("pool", text, allowed, "write for instance zsim plan '24x 16TB', or --drives 24")
    if len(text.split()) > 1:
        tell_reading(said)
    noted = dict(said.fields)
    if "layout" not in noted and all(given[name] is None for name in ("drives", "budget")):
        given["drives"] = None if said.drives is None else str(said.drives)
    unknown = [name for name in noted if name not in given]
    for name in unknown:
        raise InputError("pool", text, f"{in_words(name)} means nothing here", "leave it out")
    given |= {name: value for name, value in noted.items() if given[name] is None}


Ask = Callable[..., "Design"]
"""A question: fields are checked as those of a file are."""


def _answer(
    find: str, question: Given, asked: dict[str, object], common: dict[str, object], sort: str | None
) -> Design:
    """Return the answer to the question that is asked."""
    from zsim.planning.design import one_layout, search

    if find == "layouts":
        if "layout" in common:
            raise InputError("layout", common["layout"], "this search finds the layout", "leave it out")
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
        worth: Ask = one_layout.plan_worth
        return worth(str(layout), **asked, **common)
    seek: Ask = one_layout.plan_width if find == "width" else one_layout.plan_fill
    return seek(str(layout), **asked, **common)


def _pool(question: Given) -> dict[str, object]:
    from zsim.base.units import parse_bytes

    exclusive({f"--{name}": question[name] for name in ("drives", "budget")})
    kinds = tuple(each.strip() for each in str(question["kinds"]).split(","))
    usable, confirm = word(question, "usable"), whole_number(word(question, "confirm"), "--confirm", 0)
    return {
        "drives": whole_number(word(question, "drives"), "--drives", 1 if "disk" in kinds else 2),
        "usable": None if usable is None else parse_bytes(usable, "--usable"),
        "budget": number(word(question, "budget"), "budget"),
        "price": number(word(question, "price"), "price"),
        "spares": whole_number(word(question, "spares"), "--spares", 0) or 0,
        "jobs": whole_number(word(question, "jobs"), "--jobs", 1),
        "kinds": kinds,
        "store": question["store"],
        **({} if confirm is None else {"confirm": confirm}),
    }
