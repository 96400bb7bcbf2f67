"""A tidy table: one row a prediction, one column a fact; prints, plots, and becomes a data frame."""

from __future__ import annotations

import html
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zsim.base.units import format_bytes, format_duration
from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.wording import Grid, grid_text, html_table, percent, rich_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Group

Row = dict[str, Any]

REASON = "refused"
ANSWER = ("p10_s", "p50_s", "p90_s", "bottleneck", "utilisation", "resilvered_bytes", "read_bytes")
_PRINTED: dict[str, tuple[str, Callable[[Any], str]]] = {
    "p10_s": ("p10", format_duration),
    "p50_s": ("p50", format_duration),
    "p90_s": ("p90", format_duration),
    "usable_bytes": ("usable", format_bytes),
    "resilvered_bytes": ("repaired", format_bytes),
    "read_bytes": ("read", format_bytes),
    "utilisation": ("busy", percent),
    "fill": ("fill", percent),
    "frag": ("frag", percent),
    "recordsize": ("recordsize", format_bytes),
    "memory": ("memory", format_bytes),
}


def _in_short(resource: str) -> str:
    """Return a bottleneck in two or three words; where none is single, the busiest is left out."""
    return resource.removeprefix("the ").partition(":")[0]


_WORDS: dict[str, Callable[[str], str]] = {"bottleneck": _in_short}
"""How columns of words are printed; others as they are."""


def answer_row(prediction: Prediction) -> Row:
    """Return the columns `ANSWER` of a prediction."""
    answer, bottleneck = prediction.resilver_s, prediction.bottleneck
    return {
        "p10_s": answer.p10,
        "p50_s": answer.p50,
        "p90_s": answer.p90,
        "bottleneck": bottleneck.resource,
        "utilisation": bottleneck.utilisation,
        "resilvered_bytes": prediction.resilvered_bytes,
        "read_bytes": prediction.read_bytes,
    }


def refused_row(reason: str) -> Row:
    """Return the columns `ANSWER` of a scenario that cannot be, with the reason."""
    return {**dict.fromkeys(ANSWER), REASON: reason}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows in the order in which they were asked for; SI units.

    Attributes
    ----------
    columns : tuple of str
        Names; those of durations end in ``_s``, those of sizes in ``_bytes``.
    rows : tuple of dict
        A value that is not known is None; ``refused`` holds the reason where a row has no answer.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON: ``columns`` and ``rows``."""
        return {"columns": list(self.columns), "rows": [dict(row) for row in self.rows]}

    def to_pandas(self) -> Any:
        """Return a pandas data frame; pandas must be installed."""
        return importlib.import_module("pandas").DataFrame(list(self.rows), columns=list(self.columns))

    def grid(self) -> Grid:
        """Return the table in print: units for people, no column that is empty throughout."""
        known = [
            name
            for name in self.columns
            if name != REASON and any(row.get(name) is not None for row in self.rows)
        ]
        shown = [name for name in known if not self._says_twice(name)]
        head = tuple(_PRINTED[name][0] if name in _PRINTED else name for name in shown)
        rows = tuple(tuple(_printed(name, row.get(name)) for name in shown) for row in self.rows)
        numeric = frozenset(place for place, name in enumerate(shown) if _is_numeric(self.rows, name))
        return Grid(head, rows, numeric)

    def _says_twice(self, name: str) -> bool:
        """Tell whether a column repeats others: names that are layouts, layouts of width and parity."""
        if name == "name":
            return all(row.get(name) == row.get("layout") for row in self.rows)
        plain = {"width", "parity"} <= set(self.columns) and "vdevs" not in self.columns
        return name == "layout" and plain

    def raw_grid(self) -> Grid:
        """Return the whole table, every column, numbers in SI units and in full."""
        rows = tuple(
            tuple("" if row.get(name) is None else str(row[name]) for name in self.columns)
            for row in self.rows
        )
        return Grid(self.columns, rows)

    def plot(self) -> Figure:
        """Return a matplotlib figure: time over the first axis, a line for each combination of the others."""
        from zsim.planning.drawing import figure

        return figure(self)

    def save_plot(self, path: str | Path) -> None:
        """Write the figure of `plot`; the ending (.svg, .png or .pdf) decides the format."""
        from zsim.prediction.answer.drawing import save

        save(self.plot(), path)

    def reasons(self) -> tuple[str, ...]:
        """Return why rows have no answer, each reason with the rows it holds for."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            if row.get(REASON) is not None:
                found.setdefault(row[REASON], []).append(str(row.get("layout")))
        return tuple(f"{', '.join(dict.fromkeys(names))}: {reason}" for reason, names in found.items())

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        return Group(rich_table(self.grid()), *(Text(reason) for reason in self.reasons()))

    def _repr_html_(self) -> str:
        return html_table(self.grid()) + "".join(f"<p>{html.escape(each)}</p>" for each in self.reasons())

    def __str__(self) -> str:
        return "\n".join((grid_text(self.grid()), *self.reasons()))


def _printed(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _WORDS.get(name, str)(value)
    if name in _PRINTED:
        return _PRINTED[name][1](value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _is_numeric(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    values = [row.get(name) for row in rows]
    return all(value is None or isinstance(value, int | float) for value in values)


class TableInterrupted(KeyboardInterrupt):
    """Ctrl-C during a comparison or a sweep; carries the rows known by then.

    Attributes
    ----------
    partial : Table
        Rows without an answer say so in ``refused``.
    """

    def __init__(self, partial: Table) -> None:
        super().__init__()
        self.partial = partial


NOT_RUN = "not run"


def interrupted_row(row: Row) -> Row:
    """Return a row as it is when a run is interrupted: one without an answer says so."""
    known = row.get("p50_s") is not None or row.get(REASON) is not None
    return row if known else {**row, **refused_row(NOT_RUN)}
