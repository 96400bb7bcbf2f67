"""``zsim compare``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from zsim.base.errors import InputError
from zsim.cli.common import exclusive, json_option, known_so_far, notice, progress, tell_powers
from zsim.cli.computing import announced_compilation
from zsim.cli.design.risk import ABOUT_RISK, OF_ONE_ANSWER, inputs_from, risk_options_of_rows
from zsim.cli.flags import is_layout, scenario_options, stated_fields
from zsim.cli.forecasts.tables import check_table_outputs, hand_over_table
from zsim.cli.help import GroupedCommand

if TYPE_CHECKING:
    from zsim.planning.table import Table


def _scenario(asked: str) -> object:
    """Return what is to be compared: a sentence, or a file with the output of zpool, as its scenario."""
    from pathlib import Path

    from zsim.cli.given_files import fields_in
    from zsim.scenario.asked import FILES
    from zsim.scenario.model import Scenario

    sentence = bool(asked.split()[1:]) and not is_layout(asked)
    if asked != "-" and (asked.endswith(FILES) or not (sentence or Path(asked).is_file())):
        return asked
    return Scenario.from_dict(fields_in((asked,)))


SHARED = (
    "drive", "drive_size", "write_cache", "fill", "recordsize", "history", "frag", "ashift", "release",
    "product", "memory", "cpus",
)  # fmt: skip
"""Fields that a layout beside the description of a pool shares with it: its drives, its data and its host."""


def _scenarios(asked: tuple[str, ...], common: Mapping[str, object], *, stores: bool) -> list[object]:
    """Return what is compared: layouts beside the one pool that is described have its drives and host.

    Parameters
    ----------
    asked : tuple of str
    common : mapping
        Fields that flags state.
    stores : bool
        Whether the share full follows from the data stored.
    """
    from zsim.observe.pool_import.given.pool_in_words import as_flags
    from zsim.scenario.asked import FILES
    from zsim.scenario.model import Scenario

    found = [_scenario(each) for each in asked]
    described = [each for each in found if isinstance(each, Scenario)]
    layouts = [each for each in found if isinstance(each, str) and not each.endswith(FILES)]
    if len(described) != 1 or not layouts:
        return found
    known = {**described[0].stated(), **dict.fromkeys(common), **({"fill": None} if stores else {})}
    shared = {name: known[name] for name in SHARED if known.get(name) is not None}
    if shared:
        notice(f"taken for {', '.join(layouts)} too: {as_flags(shared)}.")
    alike = {each: Scenario.from_dict({"layout": each, **shared}) for each in layouts}
    return [alike.get(each, each) if isinstance(each, str) else each for each in found]


@click.command(
    "compare",
    cls=GroupedCommand,
    own={
        "What is the same for all": ("drives", "usable", "data"),
        "The chance of loss": (
            "risk",
            *(name for names in ABOUT_RISK.values() for name in names if name not in OF_ONE_ANSWER),
        ),
    },
    without=("layout",),
    examples=(
        "zsim compare raidz2x6 raidz2x10 mirror2 --drives 60 --fill 60% --drive-size 18TB",
        "zsim compare raidz1x5 raidz2x6 draid2:8d:41c:2s --data 100T --drive-size 18TB --plot layouts.svg",
        "zsim compare raidz2x8 raidz3x12 --drives 24 --drive-size 18TB --fill 60% --afr 1.4% --spare hot",
    ),
)
@click.argument("asked", metavar="LAYOUT|FILE...", nargs=-1, required=True)
@click.option("--drives", metavar="N", help="Repeat each layout as often as N drives allow.")
@click.option("--usable", metavar="SIZE", help="Repeat each layout until it holds this much data: 40T.")
@click.option("--data", metavar="SIZE", help="Store the same data on each, repeated until it fits: 100T.")
@click.option(
    "--risk",
    is_flag=True,
    help="Show the chance that a vdev is lost within a year, too; any flag below does the same.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the table: FILE.csv, .json or .parquet.")
@click.option("--plot", metavar="FILE", help="Draw the intervals: FILE.svg, FILE.png or FILE.pdf.")
@click.option("--report", metavar="FILE.html", help="Write table and picture as one HTML file.")
@click.option(
    "--jobs", metavar="N", help="Number of processes; by default one per core if there are many scenarios."
)
@risk_options_of_rows
@json_option
@scenario_options
def command(
    asked: tuple[str, ...],
    drives: str | None,
    usable: str | None,
    data: str | None,
    risk: bool,
    output: str | None,
    plot: str | None,
    report: str | None,
    jobs: str | None,
    as_json: bool,
    **given: object,
) -> None:
    """Compare layouts or scenario files side by side.

    FILE is a scenario file (TOML), or a file with the output of zpool status and similar commands; a layout
    may be a sentence: "8x 16TB in raidz2". The flags apply to all of them. Usable space and data are in
    full-size records, without parity and padding. With --data every pool stores the same data.
    """
    from zsim.base.units import parse_bytes
    from zsim.cli.common import whole_number
    from zsim.planning.compare import compare
    from zsim.planning.risk.question import RiskInputs

    exclusive({"--drives": drives, "--usable": usable})
    exclusive({"--usable": usable, "--data": data})
    check_table_outputs(output, plot, report)
    for option, size in (("--usable", usable), ("--data", data)):
        tell_powers(option, size or "")
    stored = None if data is None else parse_bytes(data, "--data")
    number = whole_number(drives, "--drives", 1)
    space = None if usable is None else parse_bytes(usable, "--usable")
    workers = whole_number(jobs, "--jobs", 1)
    inputs = inputs_from(given)
    says_more = replace(inputs, seed=RiskInputs().seed) != RiskInputs()
    common = stated_fields(given)
    if "layout" in common:
        raise InputError("layout", common["layout"], "layouts need no flag here", "write zsim compare LAYOUT")
    with known_so_far(as_json), announced_compilation(), progress("comparing") as on_progress:
        ask: Callable[..., Table] = compare  # fields are checked as those of a file are
        table = ask(
            *_scenarios(asked, common, stores=stored is not None),
            drives=number,
            usable=space,
            data=stored,
            risk=inputs if risk or says_more else False,
            jobs=workers,
            on_progress=on_progress,
            **common,
        )
    hand_over_table(table, as_json, output, plot, report)
