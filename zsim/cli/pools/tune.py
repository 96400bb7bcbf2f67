"""``zsim tune``: which tunables of ZFS shorten this resilver, and what they cost clients."""

from __future__ import annotations

import click

from zsim.cli.common import hand_over, json_option, progress, show_assumed_of
from zsim.cli.computing import announced_compilation, check_outputs
from zsim.cli.flags import scenario_from, scenario_options, take_files
from zsim.cli.help import GroupedCommand


@click.command(
    "tune",
    cls=GroupedCommand,
    examples=(
        "zsim tune --layout raidz2x8 --fill 62% --drive-size 18TB --load '30 reads/s' --plot tune.svg",
        "zsim tune --layout raidz2x8 --fill 62% --product truenas-25.10 --begins 'fri 17:30'",
    ),
)
@click.argument("files", metavar="[LAYOUT|FILE|-]...", nargs=-1)
@click.option("--freebsd", is_flag=True, help="Print sysctl names of FreeBSD, as for its products.")
@scenario_options
@click.option("-o", "--output", metavar="FILE.json", help="Store the answer as JSON.")
@click.option(
    "--plot", metavar="FILE", help="Draw time against client latency: FILE.svg, FILE.png or FILE.pdf."
)
@json_option
def command(
    files: tuple[str, ...],
    freebsd: bool,
    output: str | None,
    plot: str | None,
    as_json: bool,
    **given: object,
) -> None:
    """Try the tunables of the release, one at a time, all on the same simulated pools.

    The first line says what helps most and what it costs. Then come the settings whose effect is larger than
    its error, each measured (and by whom) or modelled, and the commands that set and reset them. With --load
    it also shows what each costs clients: their 99th percentile latency. LAYOUT is the same as --layout, or
    a sentence: "8x 16TB in raidz2". FILE is a scenario file, or files with the output of zpool status and
    similar commands; - reads the standard input.
    """
    from zsim.planning.tune.api import tune

    take_files(files, given)
    check_outputs(output, plot, None)
    scenario = scenario_from(given)
    with announced_compilation(), progress("trying") as on_progress:
        found = tune(scenario, on_progress, system="freebsd" if freebsd else None)
    hand_over(found, as_json, output, plot)
    if not as_json:
        show_assumed_of(scenario)
