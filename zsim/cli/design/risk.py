"""``zsim risk``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zsim.base.errors import InputError
from zsim.base.units import HOUR, YEAR
from zsim.cli.common import answer_options, hand_over, number, plain_number, progress, show_assumed_of
from zsim.cli.completion import of_failures, offering
from zsim.cli.computing import announced_compilation, check_outputs
from zsim.cli.flags import (
    Command,
    by_default,
    fields_of_pool,
    given_names,
    scenario_options,
    stated_fields,
    take_files,
    word,
)
from zsim.cli.help import GroupedCommand

if TYPE_CHECKING:
    from zsim.planning.risk.question import RiskInputs
    from zsim.planning.timeline.plan import Plan

OPTIONS = (
    ("--hours", "HOURS", "Duration of the repair, instead of predicting it: 24, or 24h."),
    ("--afr", "SHARE|MODEL", "Annual failure rate: 1.5%, or a drive model such as ST16000NM001G."),
    ("--mttf", "HOURS", "Instead of --afr: mean time to failure of a drive, as in papers."),
    ("--mttr", "HOURS", "Instead of --hours: mean time to repair, exponential, one repair at a time."),
    (
        "--correlation",
        "FACTOR",
        "How much likelier a failure is after one in the same vdev: 1, 3, 6, 10 times.",
    ),
    (
        "--correlation-law",
        "NAME",
        "frailty (drives of a vdev share their quality), same, or successive (after every failure).",
    ),
    ("--latent-incidence", "SHARE", "Share of drives that develop latent errors in a month, such as 0.27%."),
    ("--scrub", "DURATION", "Interval between scrubs: 30d, weekly, monthly, never."),
    ("--detect", "DURATION", "Time from the failure until the repair begins: 12h, or hours as a number."),
    ("--spare", "NAME", "Instead of --detect, where the spare comes from: hot, shelf or order."),
    ("--age", "YEARS", "Age of the drives: for --shape, and for pools that were never scrubbed (2.5)."),
    ("--age-factor", "FACTOR", "Factor on the failure rate for the age of the drives: 0.7 to 3."),
    ("--shape", "NUMBER", "Weibull shape of drive lifetimes: 1 is a constant rate, 1.12 was measured."),
    ("--stress", "FACTOR", "Factor on the failure rate during a repair; nobody has measured it."),
    ("--overlap", "NAME", "Two repairs at once: apart, restart or serial; default: as the release does."),
    ("--years", "N", "Horizon; 5 by default."),
    ("--method", "NAME", "chain (exact) or simulation (event by event)."),
)
ABOUT_RISK = {
    "Failures and repairs": (
        *(option[2:].replace("-", "_") for option, _, _ in OPTIONS[:-2]), "latent", "no_erc", "years",
        "method",
    ),
}  # fmt: skip
"""Their group in the help of a command."""
OF_ONE_ANSWER = ("hours", "mttr", "years", "method")
"""What means nothing where the repairs of many pools are predicted, and the chance within a year is told."""


def risk_options(command: Command) -> Command:
    """Add the flags about failures and repairs to a command."""
    return _with_options(command, ())


def risk_options_of_rows(command: Command) -> Command:
    """Add the flags about failures, without those that fix the repair or the horizon."""
    return _with_options(command, OF_ONE_ANSWER)


def _with_options(command: Command, without: tuple[str, ...]) -> Command:
    for option, metavar, words in reversed(OPTIONS):
        if option[2:] not in without:
            offered = offering(partial(of_failures, option))
            command = click.option(option, metavar=metavar, help=words, shell_complete=offered)(command)
    latent = click.option("--latent/--no-latent", default=True, help="Include latent errors, or not.")
    erc = click.option(
        "--no-erc", is_flag=True, help="Drives retry a bad sector for minutes; the same as --erc none."
    )
    return latent(erc(command))


@click.command(
    "risk",
    cls=GroupedCommand,
    own={"The plan": ("plan",), **ABOUT_RISK},
    examples=(
        "zsim risk --layout raidz2x8 --fill 70% --drive-size 20TB --afr ST16000NM001G --spare hot",
        "zsim risk --layout raidz1x10 --hours 24 --afr 5% --correlation 1 --no-latent --detect 0 --years 10",
        "zsim risk --plan replace-one-after-another --layout raidz2x6 --fill 60% --drive-size 8TB",
        "zpool status tank | zsim risk - --spare shelf",
    ),
)
@click.argument("files", metavar="[LAYOUT|FILE|-]...", nargs=-1)
@click.option(
    "--plan",
    metavar="PLAN.toml|NAME",
    help="A plan of 'zsim timeline', or a procedure: the chance of loss while it is carried out.",
)
@risk_options
@scenario_options
@answer_options
def command(
    files: tuple[str, ...],
    plan: str | None,
    as_json: bool,
    output: str | None,
    plot: str | None,
    **given: object,
) -> None:
    """Estimate the chance of data loss: during a repair, within a year, and over several years.

    The chances of losing files, suspending a vdev and losing the pool are separate, each a range. The repair
    takes as long as 'zsim predict' says, unless --hours fixes it. With --plan the first column covers the
    whole plan. LAYOUT is the same as --layout, or a sentence: "8x 16TB in raidz2". FILE is a scenario file,
    or files with the output of zpool status and similar commands; - reads the standard input. While a
    resilver is running, the first column covers what 'zsim eta' says is left of it.
    """
    from zsim.planning.risk.api import risk
    from zsim.planning.timeline.plan import Plan
    from zsim.scenario.asked import pool_of

    take_files(files, given)
    check_outputs(output, plot, None)
    inputs = inputs_from(given)
    asked = plan_of(plan, given) if plan is not None else _running(given, inputs) or _pool(given)
    with announced_compilation(), progress("simulating") as report:
        answer = risk(asked, inputs, on_progress=report)
    hand_over(answer, as_json, output, plot)
    if not as_json:
        show_assumed_of(pool_of(asked.scenario if isinstance(asked, Plan) else asked, {}))


def _pool(given: dict[str, object]) -> dict[str, object]:
    """Return the fields of the pool; whether it can be repaired is seen later."""
    from zsim.scenario.layout import FORMS

    stated = stated_fields(given)
    if stated.get("layout") is None:
        raise InputError("layout", None, FORMS, "write for instance --layout raidz2x6")
    return stated


def _running(given: dict[str, object], inputs: RiskInputs) -> Plan | None:
    """Return the repair that a pasted status shows to run, with what `zsim eta` says is left of it.

    None where none runs, or flags state how long it takes or what it meets; what was piped is noted.
    """
    from zsim.cli.given_files import fields_in_words
    from zsim.cli.pools.pasted import less_told, tell_first
    from zsim.planning.risk.from_status import asks_what_is_left, plan_of_running, running_repair
    from zsim.planning.timeline.plan import Plan
    from zsim.planning.timeline.state import imported_pool, said_pool
    from zsim.scenario.asked import FILES
    from zsim.scenario.files import scenario_text

    sources = given_names(given["file"])
    if "-" in sources:
        given["piped"] = scenario_text(Path("-"))
    named, piped = [name for name in sources if name != "-"], word(given, "piped")
    outputs = all(Path(name).exists() and not name.endswith(FILES) for name in named)
    stated = stated_fields({**given, "file": None}, begins_now=False)
    if not sources or not asks_what_is_left(inputs, stated):
        return None
    said = fields_in_words(sources, stated, tell=False) or {}
    if "evidence" in said and "operation" not in said:
        found = said_pool(stated_fields(given))
        return None if found is None else Plan.from_dict(found.plan)
    if not outputs:
        return None
    try:
        stated = less_told(stated, by_default(given), piped, named)
        imported = imported_pool(piped, named, stated)
        found = running_repair(imported, piped, named, stated)
    except InputError:
        return None  # what is wrong is said where the files are read as a scenario
    if found is None:
        given["imported"] = imported  # so that the files are read once
        return None
    tell_first(found.notes)
    return plan_of_running(found)


def plan_of(source: str, given: dict[str, object]) -> Plan:
    """Return a plan from a file or by the name of a procedure, its pool as flags state it.

    Raises
    ------
    InputError
        When there is none, or a flag says what the plan says.
    """
    from zsim.planning.timeline.api import read_plan

    names = ("replace", "second_at", "operation")
    stated = fields_of_pool(given, "the plan says what happens", dict.fromkeys(names, "leave it out"))
    return read_plan(source).with_scenario(stated)


def inputs_from(given: dict[str, object]) -> RiskInputs:
    """Return what the flags state of failures and repairs; takes their names out of `given`.

    Raises
    ------
    InputError
        Naming the flag that cannot be used.
    """
    from zsim.base.units import parse_fraction
    from zsim.planning.risk.question import RiskInputs, Seconds

    names = [option[2:].replace("-", "_") for option, _, _ in OPTIONS]
    flags = {name: word(given, name) for name in names}
    for name in names:
        given.pop(name, None)
    found: dict[str, object] = {"latent": given.pop("latent"), "erc": not given.pop("no_erc")}
    for name in ("hours", "mttf", "mttr", "detect"):
        found[name] = hours(flags[name], name)
    for name in ("correlation", "age_factor", "shape", "stress", "years"):
        found[name] = number(flags[name], name)
    afr, incidence = flags["afr"], flags["latent_incidence"]
    found["afr"] = None if afr is None else rate_or_model(afr)
    found["scrub"] = interval(flags["scrub"])
    if incidence is not None:
        found["latent_incidence"] = parse_fraction(incidence, "--latent-incidence")
    age = number(flags["age"], "age")
    found["age"] = None if age is None else Seconds(age * YEAR)
    found |= {name: flags[name] for name in ("spare", "method", "correlation_law")}
    found["discipline"] = flags["overlap"]
    seed = word(given, "seed") or ""
    # What is no seed is refused with the other fields of the scenario.
    found["seed"] = int(seed) if seed.isascii() and seed.isdigit() and len(seed) < 20 else None
    inputs: Callable[..., RiskInputs] = RiskInputs  # it checks what it is given
    return inputs(**{name: value for name, value in found.items() if value is not None})


def hours(text: str | None, name: str) -> float | None:
    """Return a duration [s]: a plain number is hours.

    Raises
    ------
    InputError
        When it is neither.
    """
    from zsim.base.units import parse_duration
    from zsim.planning.risk.question import Seconds

    if text is None:
        return None
    found = plain_number(text)
    return Seconds(parse_duration(text, f"--{name}") if found is None else found * HOUR)


def interval(text: str | None) -> float | None:
    """Return the interval between scrubs [s]; infinite for ``never``."""
    from zsim.planning.risk.question import interval_named

    if (known := interval_named(text)) is not None:
        return known
    if text is not None and plain_number(text) is not None:
        raise InputError("--scrub", text, "an interval between scrubs needs a unit", f"write {text.strip()}d")
    return hours(text, "scrub")


def rate_or_model(text: str) -> float | str:
    """Return the share of drives that fail in a year, or the name of a drive model."""
    from zsim.base.units import parse_fraction

    if text[:1].isdigit() or text[:1] in ".-":
        return parse_fraction(text, "--afr")
    return text
