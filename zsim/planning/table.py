"""A tidy table: one row per prediction, one column per fact; can be printed, drawn, or made a data frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, overload

from zsim.base.errors import InputError
from zsim.base.files import check_ending, replace_file
from zsim.base.parsed import table, tables, texts
from zsim.base.provenance import SCHEMA_VERSION, provenance
from zsim.base.units import format_bytes, format_duration
from zsim.planning.risk.wording import odds
from zsim.planning.rows import NOT_AXES, QUANTILES, REASON, TUNABLE, Row, axes_of, refused_row
from zsim.prediction.answer.frames import data_frame, needed
from zsim.prediction.answer.output import DrawnAnswer, FramedAnswer, SavedAnswer
from zsim.prediction.answer.sections import paragraphs
from zsim.prediction.answer.stored import LoadedAnswer, check_version
from zsim.prediction.answer.tables import Grid, grid_text, html_table, rich_table
from zsim.prediction.answer.wording import percent
from zsim.prediction.simulated import text_of
from zsim.scenario.words import in_words

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import Group
    from xarray import Dataset

    from zsim.prediction.answer.drawing import Picture

_PRINTED: dict[str, tuple[str, Callable[..., str]]] = {
    "p10_s": ("p10", format_duration),
    "p50_s": ("p50", format_duration),
    "p90_s": ("p90", format_duration),
    "usable_bytes": ("usable", format_bytes),
    "data_bytes": ("data", format_bytes),
    "resilvered_bytes": ("repaired", format_bytes),
    "read_bytes": ("read", format_bytes),
    "utilisation": ("busy", percent),
    "p50_error": ("p50 +/-", percent),
    "vdev_per_year": ("vdev lost in a year", odds),
}


def _in_short(resource: str) -> str:
    """Return a bottleneck in a word or two; where none is single, the busiest is left out."""
    words = resource.removeprefix("the ").partition(":")[0]
    return _SHORT.get(words, words)


_SHORT = {
    "source drives": "sources",
    "source drive": "source",
    "replacement drive": "replacement",
    "replacement drives": "replacements",
    "no single one": "no single",
}


_WORDS: dict[str, Callable[[str], str]] = {"bottleneck": _in_short}
"""How columns of words are printed; others as they are."""


NOT_PRINTED = (REASON, "read_bytes", "vdev_per_year_low", "vdev_per_year_high")
"""Columns that files and data frames have, and the print has not."""
LEAST_ROWS = 2
"""A table of one row has no constant columns."""


@dataclass(frozen=True, slots=True, repr=False)
class Table(SavedAnswer, LoadedAnswer, DrawnAnswer, FramedAnswer):
    """Rows in the order in which they were asked for; SI units.

    Attributes
    ----------
    columns : tuple of str
        Names; those of durations end in ``_s``, those of sizes in ``_bytes``.
    rows : tuple of dict
        A value that is not known is None; ``refused`` holds the reason where a row has no answer.
    common : dict
        Fields of the scenario that all rows have, besides those that are columns; SI units.
    missing : tuple of str
        What moves the answers most and is stated for none of the rows, each with the flag that settles it.
    notes : tuple of str
        In what rows are not alike, where no column tells it.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    common: Row = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...

    @overload
    def __getitem__(self, place: str) -> list[object]: ...

    def __getitem__(self, place: int | slice | str) -> Row | tuple[Row, ...] | list[object]:
        """Return a row by its place, several by a slice, or a column by its name.

        Raises
        ------
        InputError
            When there is no such column.
        """
        if isinstance(place, int | slice):
            return self.rows[place]
        self._check_column(place)
        return [row.get(place) for row in self.rows]

    def _check_column(self, name: str) -> None:
        if name not in self.columns:
            raise InputError("column", name, f"the columns are {', '.join(self.columns)}", "name one of them")

    def sort(self, by: str = "p50_s", *, reverse: bool = False) -> Table:
        """Return the table sorted by a column; rows without a value there come last.

        Parameters
        ----------
        by : str
            Name of the column.
        reverse : bool
            The largest first.
        """
        self._check_column(by)
        known = [row for row in self.rows if row.get(by) is not None]
        rest = [row for row in self.rows if row.get(by) is None]
        return replace(self, rows=(*sorted(known, key=lambda row: row[by], reverse=reverse), *rest))

    @property
    def axes(self) -> tuple[str, ...]:
        """Columns that vary and were asked for."""
        return tuple(axes_of(self.columns, self.rows))

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON: ``columns``, ``rows``, what is ``common`` to them, and provenance."""
        return {
            "schema_version": SCHEMA_VERSION,
            "columns": list(self.columns),
            "rows": [dict(row) for row in self.rows],
            "common": dict(self.common),
            "missing": list(self.missing),
            "notes": list(self.notes),
            "provenance": provenance(),
        }

    @classmethod
    def from_dict(cls, data: object, origin: str = "table") -> Self:
        """Return the table of which `to_dict` gave this; see `LoadedAnswer.from_dict`."""
        known = check_version(data, origin)
        rows = tuple(dict(row) for row in tables(known, "rows"))
        common = dict(table(known, "common"))
        return cls(texts(known, "columns"), rows, common, texts(known, "missing"), texts(known, "notes"))

    def save(self, path: str | Path) -> None:
        """Write the table as .csv, .json or .parquet (needs pyarrow); the ending decides, SI units.

        Raises
        ------
        InputError
            When the name ends otherwise, or the file cannot be written.
        """
        ending = Path(path).suffix.lower()
        check_ending(path, (".csv", ".json", ".parquet"))
        if ending == ".parquet":
            from zsim.report.columns import columns_of, save_columns

            save_columns(columns_of(self.columns, self.rows), path)
        else:
            text = self.to_json() + "\n" if ending == ".json" else self.to_csv()
            replace_file(path, text)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return the whole table as CSV, numbers in SI units and in full; write it where a path is given."""
        from zsim.report.tables import to_csv

        text = to_csv(self.raw_grid())
        if path is not None:
            replace_file(path, text)
        return text

    def to_frame(self) -> DataFrame:
        """Return a pandas data frame; pandas must be installed."""
        return data_frame([dict(row) for row in self.rows], self.columns)

    def to_xarray(self) -> Dataset:
        """Return an xarray data set: `axes` as its dimensions; pandas and xarray must be installed."""
        needed("xarray")
        axes = list(self.axes) or [self.columns[0]]
        found: Dataset = self.to_frame().set_index(axes).to_xarray()
        return found

    def grid(self) -> Grid:
        """Return the table in print: units for people; no column that is empty, or the same in all rows."""
        shown = [name for name in self._known() if name not in self._constant()]
        head = tuple(_head(name) for name in shown)
        rows = tuple(tuple(_printed(name, row.get(name)) for name in shown) for row in self.rows)
        numeric = frozenset(place for place, name in enumerate(shown) if _is_numeric(self.rows, name))
        return Grid(head, rows, numeric, self._keys(shown))

    def _keys(self, shown: Sequence[str]) -> int:
        """Return how many of the first columns were asked for: together they tell rows apart."""
        asked = ("name", *self.axes)
        return max(1, next((place for place, name in enumerate(shown) if name not in asked), len(shown)))

    def _known(self) -> list[str]:
        known = (name for name in self.columns if any(row.get(name) is not None for row in self.rows))
        # What the one world shown repairs says little where the worlds differ in size.
        left_out = (*NOT_PRINTED, "resilvered_bytes") if self.missing else NOT_PRINTED
        return [name for name in known if name not in left_out and not self._says_twice(name)]

    def _constant(self) -> list[str]:
        """Return the columns that hold one value: they stand in a line above the table."""
        if len(self.rows) < LEAST_ROWS:
            return []
        return [
            name
            for name in self._known()
            if name not in QUANTILES and len({str(row.get(name)) for row in self.rows}) == 1
        ]

    def heading(self) -> tuple[str, ...]:
        """Return the lines above the table: what was asked of all rows, what of none, what came out alike."""
        told = {name: value for name, value in self.common.items() if value is not None}
        told |= {name: self.rows[0][name] for name in self._constant() if name not in NOT_AXES}
        found = {name: self.rows[0][name] for name in self._constant() if name in NOT_AXES - told.keys()}
        every = (("All", told), ("The same in all rows", found))
        lines = tuple(f"{title}: {'; '.join(_named_values(values))}." for title, values in every if values)
        return (*lines, f"NOT STATED: {'; '.join(self.missing)}.") if self.missing else lines

    def _says_twice(self, name: str) -> bool:
        """Tell whether a column repeats others: names that are layouts, layouts of width and parity."""
        if name == "name":
            # A layout repeated to a size is the name with a number before it.
            return all(str(row.get("layout")).rpartition("*")[2] == row.get(name) for row in self.rows)
        plain = {"width", "parity"} <= set(self.columns) and "vdevs" not in self.columns
        return name == "layout" and plain

    def raw_grid(self) -> Grid:
        """Return the whole table, every column, numbers in SI units and in full."""
        rows = tuple(
            tuple("" if row.get(name) is None else str(row[name]) for name in self.columns)
            for row in self.rows
        )
        return Grid(self.columns, rows)

    def _figure(self) -> Picture:
        """Draw names as intervals, numbers as lines, small multiples or heat maps."""
        from zsim.planning.drawing import figure

        return figure(self.columns, self.rows, self._title())

    def _title(self) -> str:
        """Return what all rows have in common, as far as it was asked for, in words for a picture."""
        told = {name: value for name, value in self.common.items() if value is not None}
        asked = (name for name in self._constant() if name not in NOT_AXES)
        told |= {name: self.rows[0][name] for name in asked}
        layout = str(told.pop("layout", ""))
        return ", ".join(filter(None, (layout, *_named_values(told))))

    def reasons(self) -> tuple[str, ...]:
        """Return in what rows are not alike, and why some have no answer, each with the rows it holds for."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            if row.get(REASON) is not None:
                found.setdefault(row[REASON], []).append(str(row.get("layout")))
        return (*self.notes, *(f"{', '.join(dict.fromkeys(names))}: {why}" for why, names in found.items()))

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        head = (Text(line) for line in self.heading())
        return Group(*head, rich_table(self.grid()), *(Text(reason) for reason in self.reasons()))

    def _repr_html_(self) -> str:
        return paragraphs(self.heading()) + html_table(self.grid()) + paragraphs(self.reasons())

    def __str__(self) -> str:
        return "\n".join((*self.heading(), grid_text(self.grid()), *self.reasons()))

    def __repr__(self) -> str:
        return f"<Table: {len(self.rows)} rows of {', '.join(self.columns)}>"


def _head(name: str) -> str:
    return _PRINTED[name][0] if name in _PRINTED else in_words(name.removeprefix(TUNABLE))


def _named_values(values: Mapping[str, object]) -> Iterator[str]:
    """Yield names and values as a sentence has them."""
    yield from (f"{_head(name)} {_printed(name, value)}" for name, value in values.items())


def _printed(name: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _WORDS.get(name, str)(value)
    return _PRINTED[name][1](value) if name in _PRINTED else text_of(name, value)


def _is_numeric(rows: Sequence[Mapping[str, object]], name: str) -> bool:
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
