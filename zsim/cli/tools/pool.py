"""``zsim pool``: the population of blocks that a scenario gives, and the histories it can have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zsim.base.parsed import Parsed, number, numbers
from zsim.base.units import format_bytes, format_percent
from zsim.cli.common import json_option, notice, print_json, show
from zsim.cli.flags import scenario_from, scenario_options
from zsim.cli.help import GroupedCommand

if TYPE_CHECKING:
    from zsim.case.case import Case
    from zsim.pool.miniature.ageing import AgedPool

PLOT_ENDINGS = (".svg", ".png", ".pdf")
BAR = 40


@click.group("pool")
def command() -> None:
    """Show the block population that a scenario gives.

    Sizes are in powers of 1024, as ZFS prints them.
    """


@command.command(
    "show",
    short_help="Show where the blocks of a pool lie.",
    cls=GroupedCommand,
    examples=("zsim pool show --layout raidz2x6 --fill 60% --history vm-host --plot pool.svg",),
)
@scenario_options
@json_option
@click.option("--plot", metavar="FILE", help="Draw the population: FILE.svg, FILE.png or FILE.pdf.")
def show_command(as_json: bool, plot: str | None, **given: object) -> None:
    """Show where the blocks of a pool lie, and what that means for a resilver.

    The picture: address against birth, run lengths, holes, sizes, and how full each metaslab is.
    """
    from zsim.base.files import check_ending, check_writable
    from zsim.case.resolve import resolve
    from zsim.cli.computing import announced_compilation

    if plot is not None:
        check_ending(plot, PLOT_ENDINGS)
        check_writable(plot)
    case = resolve(scenario_from(given))
    with announced_compilation():
        pool = _populated(case)
    if plot is not None:
        from zsim.report.pool_figure import pool_figure, save

        save(pool_figure(pool), plot)
        notice(f"{plot} written")
    if as_json:
        print_json(figures(pool, case))
    else:
        show_pool(pool, case)


@command.command("histories")
@json_option
def histories_command(as_json: bool) -> None:
    """List the histories of the catalogue: what --history takes."""
    from zsim.pool.recipes.histories import history_names, load_history

    histories = [load_history(name) for name in history_names()]
    if as_json:
        print_json({"histories": [{"name": each.name, "title": each.title} for each in histories]})
        return
    from zsim.prediction.answer.tables import Grid, rich_table

    show(rich_table(Grid(("name", "what it is"), tuple((each.name, each.title) for each in histories))))


def _populated(case: Case) -> AgedPool:
    """Return the population.

    Raises
    ------
    InputError
        When the history cannot be run at that fill: no room for it, or too small for its files.
    """
    from zsim.base.errors import InputError
    from zsim.base.units import format_fraction
    from zsim.case.population import populate
    from zsim.pool.simulator.population import HistoryError

    try:
        return populate(case)
    except HistoryError as error:
        history = case.scenario.history or case.history.name
        reason = f"the history {history} cannot be run on it: {str(error).rstrip('.').partition(';')[0]}"
        remedy = "give larger drives, another history, or another fill"
        raise InputError("fill", format_fraction(case.fill), reason, remedy) from error


def figures(pool: AgedPool, case: Case) -> dict[str, object]:
    """Return what `zsim pool show` prints, as plain data in SI."""
    import math
    from dataclasses import asdict

    from zsim.pool.statistics import describe, slab_fill

    small = pool.miniature
    own = small.own_table()
    statistics = asdict(describe(own, small.recipe.vdevs))
    holes = statistics.pop("holes").tolist()
    return {
        "layout": str(case.layout),
        "release": case.release.name,
        "history": case.scenario.history or case.history.name,
        "fill": pool.fill,
        "frag": None if math.isnan(pool.frag) else pool.frag,
        "rounds": pool.rounds,
        "scale": small.scale,
        "blocks": len(small.table),
        "metaslabs": [vdev.slab_count for vdev in small.recipe.vdevs],
        "metaslab_fill": slab_fill(own, small.recipe.vdevs).round(4).tolist(),
        "holes_by_power_of_two_from_4K": holes,
        **statistics,
    }


def show_pool(pool: AgedPool, case: Case) -> None:
    """Print a population for a person."""
    from rich.console import Group
    from rich.text import Text

    from zsim.prediction.answer.tables import Grid, rich_table

    data = figures(pool, case)
    rows, full = tuple(summary_rows(data)), f"{format_percent(number(data, 'fill'))} full"
    holes = tuple(hole_rows([int(count) for count in numbers(data, "holes_by_power_of_two_from_4K")]))
    show(
        Group(
            Text(
                f"{data['layout']}, {full}, {data['release']}, {data['history']}",
                style="bold",
            ),
            rich_table(Grid(("figure", "value"), rows)),
            Text("\nHoles", style="bold"),
            rich_table(Grid(("size from", "number", ""), holes, frozenset({0, 1}))),
            *(Text(line) for line in sentences(data)),
        )
    )


def summary_rows(data: Parsed) -> list[tuple[str, str]]:
    """Return the table of figures."""
    metadata = 1 - number(data, "data_blocks") / number(data, "blocks")
    return [
        (
            "FRAG",
            "not known to this release" if data["frag"] is None else format_percent(number(data, "frag")),
        ),
        ("rounds of ageing", f"{data['rounds']:.1f}"),
        ("blocks simulated, each standing for", f"{data['blocks']:,} x {data['scale']:,.0f}"),
        ("share of metadata blocks", format_percent(metadata, 1)),
        ("mean run in file order", f"{data['run_blocks']:.1f} blocks"),
        ("in address order: next to the one before", format_percent(number(data, "exact"))),
        ("  up to 512K further", _gaps(data, "near", 0)),
        ("  further than that", _gaps(data, "far", 1)),
        ("file order against address (rank correlation)", f"{data['traversal_order']:.2f}"),
        ("birth against address (rank correlation)", f"{data['birth_order']:.2f}"),
        ("mean position on the drives, 0 outer 1 inner", f"{data['position']:.2f}"),
        ("metaslabs less than 2 % full", format_percent(number(data, "empty_slabs"))),
    ]


def _gaps(data: Parsed, name: str, decimals: int) -> str:
    """Return how many blocks lie behind a gap, and how large it is."""
    mean = format_bytes(round(number(data, f"{name}_gap")))
    return f"{format_percent(number(data, name), decimals)}, {mean} on average"


def hole_rows(holes: list[int]) -> list[tuple[str, str, str]]:
    """Return the histogram of the holes, largest bar `BAR` characters wide."""
    last = max((k for k, count in enumerate(holes) if count), default=0)
    top = max(*holes, 1)
    return [
        (format_bytes(4096 << k), f"{count:,}", "#" * round(BAR * count / top))
        for k, count in enumerate(holes[: last + 1])
    ]


def sentences(data: Parsed) -> list[str]:
    """Say what the population means for a resilver."""
    jumps = number(data, "near") + number(data, "far")
    lines = [
        f"\nA scan in address order (0.8 and later) skips a gap at {format_percent(jumps)} of the blocks,"
        " nearly all of them short; one in file order (up to 0.7) seeks about once every "
        f"{data['run_blocks']:.1f} blocks."
    ]
    if number(data, "run_blocks") < 3:
        lines.append("The files are scattered: a scan in file order is bound by seeks.")
    return lines
