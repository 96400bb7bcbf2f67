"""The answer of `zsim plan`: rows, which of them meet the requirements, the front, and how it is printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zsim.base.units import DAY, HOUR, format_bytes, format_fraction, format_rate
from zsim.planning.risk.wording import odds
from zsim.planning.rows import Row
from zsim.prediction.answer.frames import Rows
from zsim.prediction.answer.output import DrawnAnswer, FramedAnswer, PrintedAnswer
from zsim.prediction.answer.sections import paragraphs
from zsim.prediction.answer.stored import StoredRecord
from zsim.prediction.answer.tables import Grid, escaped, grid_text, html_table, rich_table

if TYPE_CHECKING:
    from rich.console import Group

    from zsim.prediction.answer.drawing import Picture

SHOWN = 20
LEAST_ROWS = 2
"""A table of one row has no constant columns."""
MEETS, FRONT = "meets it", "front"
HOURS = ("p50", "p90")
"""Columns that are the answer."""


@dataclass(frozen=True, slots=True)
class Step:
    """Something that could be changed, and the chances with it."""

    words: str
    vdev: float
    files: float

    def row(self, first: Step) -> Row:
        """Return it as a row, set against the first."""
        return {
            "change": self.words,
            "vdev_per_year": self.vdev,
            "files_per_year": self.files,
            "vdev_times": self.vdev / first.vdev,
            "files_times": self.files / first.files,
        }


@dataclass(frozen=True, slots=True)
class Design(PrintedAnswer, StoredRecord, DrawnAnswer, FramedAnswer):
    """Rows in the order in which they answer; SI units.

    Attributes
    ----------
    question : {"layouts", "width", "fill", "worth"}
    rows : tuple of dict
        ``meets``: all requirements; ``pareto``: on the front; ``simulated``: hours of a prediction of the
        whole pool, else from the screening runs.
    requirements : tuple of str
    answer : str or None
        The limit that was sought; None when there is none.
    provenance : dict
    stated : tuple of str
        What was stated of the pool and of failures, each with its unit.
    """

    question: str
    rows: tuple[Row, ...]
    requirements: tuple[str, ...]
    provenance: dict[str, object]
    answer: str | None = None
    stated: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return {
            "schema_version": 1,
            "question": self.question,
            "answer": self.answer,
            "stated": list(self.stated),
            "requirements": list(self.requirements),
            "rows": [dict(row) for row in self.rows],
            "provenance": self.provenance,
        }

    def _frame_rows(self) -> Rows:
        return self.rows

    @property
    def meeting(self) -> list[Row]:
        """The rows that meet all requirements."""
        return [row for row in self.rows if row.get("meets")]

    def __repr__(self) -> str:
        return f"<Design: {self.headline()}>"

    def headline(self) -> str:
        """Return the answer in one line."""
        required = " and ".join(self.requirements)
        if self.question == "worth":
            return f"What would change the chance of loss of {odds(self.rows[0]['vdev_per_year'], 2)} a year:"
        if self.question in ("width", "fill"):
            layout = self.rows[0]["layout"]
            what = f"Widest {layout.partition('x')[0]}" if self.question == "width" else f"Fullest {layout}"
            return f"{what} with {required}: {self.answer or 'none'}."
        wanted = f" meet {required}" if required else " are possible"
        return f"{len(self.meeting)} of {len(self.rows)} layouts{wanted}."

    def grid(self) -> Grid:
        """Return the table in print: of layouts those that meet the requirements, else the nearest."""
        if self.question == "worth":
            return _worth_grid(self.rows)
        every = self._every()
        kept = [place for place in range(len(every.head)) if place not in self._constant(every)]
        numeric = frozenset(number for number, place in enumerate(kept) if place in every.numeric)
        cells = tuple(tuple(row[place] for place in kept) for row in every.rows)
        return Grid(tuple(every.head[place] for place in kept), cells, numeric)

    def _every(self) -> Grid:
        """Return the table with all its columns."""
        shown = (self.meeting or list(self.rows))[:SHOWN] if self.question == "layouts" else list(self.rows)
        first = "fill" if self.question == "fill" else "layout"
        mark = FRONT if self.question == "layouts" else MEETS
        head = (
            first, mark, "drives", "hot spares", "usable", "p50", "p90", "vdev lost in a year", "random/s",
            "read",
        )  # fmt: skip
        columns = tuple(_cells(row, self.question, self._drives_differ or len(shown) == 1) for row in shown)
        return Grid(head, columns, frozenset(range(2, len(head))))

    @property
    def _drives_differ(self) -> bool:
        """Whether layouts take more drives than others: with data to be held, not with drives there are."""
        return self.question == "layouts" and len({row.get("drives") for row in self.rows}) > 1

    def _constant(self, every: Grid) -> tuple[int, ...]:
        """Return the columns that hold one value: they stand in a line above the table."""
        if len(every.rows) < LEAST_ROWS:
            return ()
        columns = (place for place, name in enumerate(every.head) if name not in HOURS)
        return tuple(place for place in columns if len({row[place] for row in every.rows}) == 1)

    def heading(self) -> tuple[str, ...]:
        """Return the lines between answer and table: what was stated, and what came out alike."""
        stated = (f"Stated: {'; '.join(self.stated)}.",) if self.stated else ()
        if self.question == "worth":
            return stated
        every = self._every()
        told = (place for place in self._constant(every) if every.head[place] not in (MEETS, FRONT))
        alike = [f"{every.head[place]} {every.rows[0][place]}" for place in told if every.rows[0][place]]
        return (*stated, f"The same in all rows: {'; '.join(alike)}.") if alike else stated

    def notes(self) -> tuple[str, ...]:
        """Return what explains the table."""
        if self.question == "worth":
            return ("times: the chance with this change, divided by the chance as it is.",)
        if self.question != "layouts":
            return self._edge()
        lines = [
            f"front: no other layout{' of as few drives' if self._drives_differ else ''} is better in space,"
            " chance of loss, repair time and random reads at once;",
            "~ interpolated between simulated layouts; the others are predicted in full.",
            "Random and streaming reads are upper bounds that count the drives alone; --json has more, and"
            " ranges.",
        ]
        if any(row.get("vdev_per_year") is not None and row["p50_s"] is None for row in self.rows):
            lines.append(
                "Without p50 and p90: a drive that fails takes the pool with it, nothing is repaired."
            )
        shown = self.meeting or self.rows
        if len(shown) > SHOWN:
            lines.insert(0, f"The first {SHOWN} of {len(shown)} are shown; --json has all.")
        if not self.meeting:
            lines.insert(0, "No layout meets all requirements; the table shows what was tried.")
        return tuple(lines)

    def _edge(self) -> tuple[str, ...]:
        """Say that the limit was not crossed, where all that was tried meets the requirements."""
        if self.answer is None or not all(row.get("meets") for row in self.rows):
            return ()
        what = "wider" if self.question == "width" else "fuller"
        return (f"The requirement still holds there; {what} was not tried.",)

    def _figure(self) -> Picture:
        """Draw of layouts the Pareto front, else the chances."""
        from zsim.planning.design.drawing import figure

        return figure(self)

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        head = (Text(each) for each in self.heading())
        notes = (Text(each) for each in self.notes())
        return Group(Text(self.headline(), style="bold"), *head, rich_table(self.grid()), *notes)

    def _repr_html_(self) -> str:
        head, notes = paragraphs(self.heading()), paragraphs(self.notes())
        return f"<h3>{escaped(self.headline())}</h3>{head}{html_table(self.grid())}{notes}"

    def text(self) -> str:
        """Return the table as plain text."""
        return grid_text(self.grid())


def _cells(row: Row, question: str, with_drives: bool) -> tuple[str, ...]:
    known = row.get("p50_s") is not None
    mark = "yes" if row.get("pareto" if question == "layouts" else "meets") else ""
    rough = "" if row.get("simulated", True) else "~"
    return (
        _name(row),
        mark,
        str(row["drives"]) if with_drives else "",
        str(row["spares"] or ""),
        format_bytes(row["usable_bytes"]),
        f"{rough}{_short(row['p50_s'])}" if known else "",
        f"{rough}{_short(row['p90_s'])}" if known else "",
        _one(row),
        f"{row['random_reads']:,.0f}",
        format_rate(row["read_rate"]),
    )


def _name(row: Row) -> str:
    return format_fraction(row["fill"]) if "fill" in row else str(row["layout"])


def _short(seconds: float) -> str:
    """Return a duration with one unit."""
    if seconds < 2 * DAY:
        return f"{seconds / HOUR:.1f} h" if seconds < 10 * HOUR else f"{seconds / HOUR:.0f} h"
    return f"{seconds / DAY:.1f} d"


def _one(row: Row) -> str:
    value = row.get("vdev_per_year")
    return "" if value is None else odds(value, 1)


def _worth_grid(rows: tuple[Row, ...]) -> Grid:
    head = ("", "vdev lost in a year", "times", "files lost in a year", "times")
    cells = tuple(
        (
            row["change"],
            odds(row["vdev_per_year"], 2),
            f"{row['vdev_times']:.2g}",
            odds(row["files_per_year"], 2),
            f"{row['files_times']:.2g}",
        )
        for row in rows
    )
    return Grid(head, cells, frozenset((1, 2, 3, 4)))
