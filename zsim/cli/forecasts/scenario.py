"""``zsim scenario``: what a scenario says, what is assumed for it, and its JSON Schema."""

from __future__ import annotations

import click

from zsim.cli.common import echo, json_option, notice, print_json, show
from zsim.cli.flags import scenario_from, scenario_options
from zsim.cli.help import GroupedCommand


@click.group("scenario")
def command() -> None:
    """Show a scenario with its defaults, or its JSON Schema."""


@command.command("schema", short_help="Print the JSON Schema of scenario files.")
@click.option("--json", is_flag=True, expose_value=False, help="It is JSON in any case.")
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors and other programs."""
    from zsim.scenario.model import Scenario

    print_json(Scenario.json_schema())


@command.command(
    "show",
    short_help="Print what is stated, and every default.",
    cls=GroupedCommand,
    examples=("zsim scenario show --layout raidz2x6 --fill 62% -o pool.toml",),
)
@scenario_options
@json_option
@click.option("-o", "--output", metavar="FILE.toml", help="Write what is stated as a scenario file.")
def show_scenario(as_json: bool, output: str | None, **given: object) -> None:
    """Print what is stated as a scenario file, and the default of every other field."""
    from zsim.base.files import check_ending
    from zsim.case.resolve import resolve

    if output is not None:
        check_ending(output, (".toml",))
    scenario = scenario_from(given)
    assumptions = [each.to_dict() for each in resolve(scenario).assumptions]
    if output is not None:
        scenario.write(output)
        notice(f"{output} written")
    if as_json:
        print_json({"scenario": scenario.stated(), "assumptions": assumptions})
        return
    from zsim.report.tables import Grid, with_title

    echo(scenario.to_toml())
    rows = tuple((str(each["field"]), str(each["text"]), str(each["why"])) for each in assumptions)
    show(
        with_title(
            "Defaults for the rest (zsim predict varies some of them: see its -v)",
            Grid(("field", "default used", "why"), rows),
        )
    )
