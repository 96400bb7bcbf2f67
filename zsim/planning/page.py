"""The report of a comparison or a sweep as one HTML file."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

from zsim.base.files import replace_file
from zsim.report.page import folded, inline_svg, page

if TYPE_CHECKING:
    from zsim.planning.table import Table


def table_page(table: Table) -> str:
    """Return the report of a table as HTML: what all rows have in common, picture, table, provenance."""
    title = f"{len(table)} {'scenarios' if len(table) != 1 else 'scenario'} side by side"
    return page(
        title,
        (
            f"<h1>{html.escape(title)}</h1>",
            f"<figure>{inline_svg(table.plot())}</figure>",
            f'<div class="zsim">{table._repr_html_()}</div>',
            folded("Provenance", table.to_dict()["provenance"]),
        ),
    )


def save_table_page(table: Table, path: str | Path) -> None:
    """Write the report of a table; the file appears whole or not at all."""
    replace_file(path, table_page(table))
