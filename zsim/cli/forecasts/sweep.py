"""``zsim sweep``."""

from __future__ import annotations

from typing import Any

import click

from zsim.cli.common import known_so_far, print_json, progress, show
from zsim.cli.computing import announced_compilation
from zsim.cli.flags import FLAGS, scenario_options, stated_fields
from zsim.cli.forecasts.ranges import values_of

NOTHING_ANSWERED = 1
"""Exit code where every combination is refused."""


@click.command("sweep")
@click.argument("action", metavar="[status|merge|export FILE.sqlite...]", nargs=-1)
@click.option("--width", metavar="VALUES", help="Drives of a RAID-Z vdev, parity included, such as 4..12.")
@click.option("--parity", metavar="VALUES", help="Parity drives, such as 1,2,3; 0 is a mirror.")
@click.option("-o", "--output", metavar="FILE", help="Write the table: FILE.csv, .json or .parquet.")
@click.option(
    "--store",
    metavar="FILE.jsonl|.sqlite",
    help="Keep answers as they come; a stopped sweep resumes from it.",
)
@click.option("--shard", metavar="I/N", help="With a store FILE.sqlite: do only this part of the work.")
@click.option("--dask", metavar="ADDRESS", help="With a store FILE.sqlite: a dask cluster does the work.")
@click.option("--plot", metavar="FILE", help="Draw time over the first axis: FILE.svg, FILE.png or FILE.pdf.")
@click.option("--jobs", metavar="N", help="Processes; by default one a core if there are many scenarios.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON, and nothing else, on stdout.")
@scenario_options
def command(
    action: tuple[str, ...],
    width: str | None,
    parity: str | None,
    output: str | None,
    store: str | None,
    shard: str | None,
    dask: str | None,
    plot: str | None,
    jobs: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Resilver time by width, parity, fill and fragmentation.

    Every flag of a scenario takes a list (1,2,3) or a range (4..12, 25%..90%) here; every combination is
    predicted.  'status FILE.sqlite' shows what a store of answers holds, 'merge INTO FROM...' copies
    answers, 'export FILE.sqlite TABLE.csv' writes them as a table.
    """
    from zsim.cli.common import whole_number
    from zsim.cli.forecasts.stores import act, check_shared, studied
    from zsim.planning.api import sweep

    if action:
        act(action, as_json)
        return

    check_outputs(output, plot, store)
    check_shared(store, shard, dask)
    workers = whole_number(jobs, "--jobs", 1)
    axes = axes_of(width, parity, stated_fields(given), {flag.field for flag in FLAGS})
    again = f"the same command resumes from {store}" if store else "with --store FILE.jsonl it can be resumed"
    with known_so_far(as_json, f"; {again}"), announced_compilation(), progress("sweeping") as report:
        if store is not None and store.endswith(".sqlite"):
            table = studied(store, axes, shard, dask, workers, report)
        else:
            table = sweep(store=store, jobs=workers, on_progress=report, **axes)
    write(table, output, plot)
    if as_json:
        print_json(table.to_dict())
    else:
        show(table)
    if len(table) and all(row.get("refused") is not None for row in table):
        click.get_current_context().exit(NOTHING_ANSWERED)


def axes_of(
    width: str | None, parity: str | None, stated: dict[str, Any], listed: set[str]
) -> dict[str, Any]:
    """Return axis names and values; width and parity first, as they make the layout."""
    shape = {"width": width, "parity": parity}
    axes: dict[str, Any] = {
        name: [whole(value, name) for value in values_of(text, name)]
        for name, text in shape.items()
        if text is not None
    }
    for name, value in stated.items():
        several = name in listed and isinstance(value, str)
        axes[name] = list(values_of(value, name)) if several else [value]
    return axes


def whole(text: str, name: str) -> int:
    """Return a value of width or parity as a number."""
    from zsim.cli.common import whole_number

    number = whole_number(text, name, 0)
    assert number is not None
    return number


def check_outputs(output: str | None, plot: str | None, store: str | None) -> None:
    """Refuse file names that cannot be written before anything is computed."""
    from zsim.base.files import check_ending, check_writable

    endings = (
        (output, (".csv", ".json", ".parquet")),
        (plot, (".svg", ".png", ".pdf")),
        (store, (".jsonl", ".sqlite")),
    )
    for path, allowed in endings:
        if path is not None:
            check_ending(path, allowed)
            check_writable(path)


def write(table: Any, output: str | None, plot: str | None) -> None:
    """Write the table and its picture, if asked for."""
    import json

    from zsim.base.files import replace_file
    from zsim.report.tables import to_csv

    if output is not None and output.endswith(".parquet"):
        from zsim.report.columns import columns_of, save_columns

        save_columns(columns_of(table.columns, table.rows), output)
    elif output is not None:
        whole_table = json.dumps(table.to_dict(), indent=2) + "\n"
        text = whole_table if output.endswith(".json") else to_csv(table.raw_grid())
        replace_file(output, text.encode())
    if plot is not None:
        table.save_plot(plot)
