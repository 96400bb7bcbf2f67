"""What ``zsim compare`` and ``zsim sweep`` do with a table: files, picture, page, JSON, print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zsim.cli.common import print_json, show

if TYPE_CHECKING:
    from zsim.planning.table import Table


def check_table_outputs(
    output: str | None, plot: str | None, report: str | None, store: str | None = None
) -> None:
    """Refuse file names that cannot be written before anything is computed."""
    from zsim.base.files import check_ending, check_writable

    endings = (
        (output, (".csv", ".json", ".parquet")),
        (plot, (".svg", ".png", ".pdf")),
        (report, (".html", ".htm")),
        (store, (".jsonl", ".sqlite")),
    )
    for path, allowed in endings:
        if path is not None:
            check_ending(path, allowed)
            check_writable(path)


def hand_over_table(
    table: Table, as_json: bool, output: str | None, plot: str | None, report: str | None
) -> None:
    """Write a table where that is asked for, and print it, as JSON or for a person."""
    if output is not None:
        table.save(output)
    if plot is not None:
        table.save_plot(plot)
    if report is not None:
        from zsim.planning.page import save_table_page

        save_table_page(table, report)
    if as_json:
        print_json(table.to_dict())
    else:
        show(table)
