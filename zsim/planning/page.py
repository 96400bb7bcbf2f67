"""The report of a comparison or a sweep as one HTML file."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING

from zsim.base.files import replace_file
from zsim.report.page import inline_svg, page

if TYPE_CHECKING:
    from zsim.planning.table import Table


def table_page(table: Table) -> str:
    """Return the report of a table as HTML: what all rows have in common, picture, table, provenance."""
    title = f"{len(table)} {'scenarios' if len(table) != 1 else 'scenario'} side by side"
    record = html.escape(json.dumps(table.to_dict()["provenance"], indent=2, ensure_ascii=False))
    return page(
        title,
        (
            f"<h2>{html.escape(title)}</h2>",
            f"<figure>{inline_svg(table.plot())}</figure>",
            f'<div class="zsim">{table._repr_html_()}</div>',
            f"<details><summary>Provenance</summary><pre>{record}</pre></details>",
        ),
    )


def save_table_page(table: Table, path: str | Path) -> None:
    """Write the report of a table; the file appears whole or not at all."""
    replace_file(path, table_page(table).encode())
