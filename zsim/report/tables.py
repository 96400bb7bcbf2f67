"""Tables for the terminal, for Markdown and for CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from zsim.base.parsed import is_number
from zsim.prediction.answer.tables import Grid, html_table, rich_table

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Grid", "grid_of", "html_table", "markdown", "rich_table", "to_csv", "with_title"]


def grid_of(rows: Sequence[Mapping[str, object]], columns: Sequence[str] | None = None) -> Grid:
    """Return a grid of dictionaries: one row each, the first one's keys as head unless `columns` is given.

    Parameters
    ----------
    rows : sequence of mapping
        A column is set to the right if every value in it is a number; None prints as nothing.
    columns : sequence of str, optional
        Which keys, in which order.
    """
    head = tuple(columns if columns is not None else rows[0] if rows else ())
    body = tuple(tuple(_cell(row.get(name)) for name in head) for row in rows)
    columns_of = {name: [value for row in rows if (value := row.get(name)) is not None] for name in head}
    numeric = frozenset(
        place for place, name in enumerate(head) if rows and all(map(is_number, columns_of[name]))
    )
    return Grid(head, body, numeric)


def markdown(grid: Grid) -> str:
    """Return a grid as a Markdown table that ends with a line break."""
    rule = ["---:" if place in grid.numeric else "---" for place in range(len(grid.head))]
    lines = [_markdown_row(grid.head), _markdown_row(rule), *(_markdown_row(row) for row in grid.rows)]
    return "\n".join(lines) + "\n"


def to_csv(grid: Grid) -> str:
    """Return a grid as CSV text with line feeds."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(grid.head)
    writer.writerows(grid.rows)
    return stream.getvalue()


def with_title(title: str, grid: Grid) -> RenderableType:
    """Return a titled rich renderable of a grid."""
    from rich.console import Group
    from rich.text import Text

    return Group(Text(title, style="bold"), rich_table(grid))


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
