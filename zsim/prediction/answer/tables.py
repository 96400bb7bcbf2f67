"""Small tables: in a terminal of any width, as plain text, and as HTML for notebooks."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.measure import Measurement
    from rich.table import Table

TEXT_WIDTH = 100
GAP = 2
"""Characters between two columns."""
EASY = 20
"""Characters of a column that is still easy to read."""
_TOGETHER = re.compile(
    r"(?<=\d) (?=(?:d|h|min|s|ms|%)(?:\W|$))|(?<=\d [dh]) (?=\d+ (?:h|min)\b)|(?<=\d min) (?=\d+ s\b)"
)
"""Blanks inside a figure, at which no line is broken: 2 d 11 h, 38 %."""


class Grid(NamedTuple):
    """Small table: head, rows, columns of numbers (set to the right), how many first ones are keys."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    keys: int = 1


def rich_table(grid: Grid) -> FittedTable:
    """Return a grid as a rich renderable without a frame, which fits the width it is printed in."""
    return FittedTable(grid)


class FittedTable:
    """A grid that is printed in one table, or in several below each other where the width is small.

    A number is never cut and a word never broken: columns that do not fit go into a table of their own,
    which repeats the columns that tell rows apart.
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        for number, part in enumerate(fitted(self.grid, options.max_width)):
            if number:
                yield ""
            yield _rich_table(part, options.max_width)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        least = _least_widths(self.grid)
        return Measurement(min(max(least, default=1), options.max_width), options.max_width)


def wrapped(cell: str, width: int) -> str:
    """Return text in lines of a width [characters], a figure and its unit in one."""
    lines: list[str] = []
    for line in cell.splitlines():
        whole = _TOGETHER.sub("\N{NO-BREAK SPACE}", line)
        lines += textwrap.wrap(whole, max(1, width), break_on_hyphens=False) if len(line) > width else [line]
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def _least_widths(grid: Grid) -> list[int]:
    """Return how narrow each column may be: as its longest figure, or the longest word of text and head."""
    found = []
    for place, name in enumerate(grid.head):
        column = [row[place] for row in grid.rows]
        parts = [_TOGETHER.sub("\N{NO-BREAK SPACE}", cell).split(" ") for cell in column]
        words = column if place in grid.numeric else [word for part in parts for word in part]
        found.append(max(_of_two_lines(name), *map(len, ("", *words))))
    return found


def _of_two_lines(head: str) -> int:
    """Return the least width in which a head takes two lines or less."""
    least = max(map(len, head.split()), default=1)
    fitting = (width for width in range(least, len(head) + 2) if wrapped(head, width).count("\n") <= 1)
    return next(fitting, least)  # one with line ends of its own has more lines at any width


def _widths(grid: Grid, room: int) -> list[int]:
    """Return how wide each column is: some room for all, cells, those that need least first, then headings.

    rich would shrink the widest columns alike, and cut them where their longest word does not fit then.
    """
    found = _least_widths(grid)
    spare = room - sum(found) - GAP * len(found)
    cells = [max((len(row[place]) for row in grid.rows), default=0) for place in range(len(found))]
    order = sorted(range(len(found)), key=lambda place: cells[place] - found[place])
    heads = [(place, len(grid.head[place])) for place in order]
    bodies = [(place, cells[place]) for place in order]
    some = [(place, min(wanted, EASY)) for place, wanted in bodies]
    for place, wanted in (*some, *bodies, *heads):
        more = max(0, min(wanted - found[place], spare))
        found[place] += more
        spare -= more
    return found


def fitted(grid: Grid, width: int) -> list[Grid]:
    """Return a grid as grids of which each fits a width; one column alone may be wider."""
    least = _least_widths(grid)
    # rich keeps the gap of the last column as well.
    if not least or sum(least) + GAP * len(least) <= width:
        return [grid]
    keys = _repeated(least, grid.keys, width)
    begin = sum(least[:keys]) + GAP * keys
    parts, here, used = [], list(range(keys)), begin
    for place in range(keys, len(least)):
        if used + GAP + least[place] > width and len(here) > keys:
            parts.append(here)
            here, used = list(range(keys)), begin
        here.append(place)
        used += GAP + least[place]
    return [_columns(grid, chosen) for chosen in [*parts, here]]


def _repeated(least: Sequence[int], keys: int, width: int) -> int:
    """Return how many first columns each table has: what tells rows apart, if half of the width holds it."""
    return keys if keys <= 1 or sum(least[:keys]) + GAP * keys <= width // 2 else 1


def _columns(grid: Grid, chosen: Sequence[int]) -> Grid:
    numeric = frozenset(number for number, place in enumerate(chosen) if place in grid.numeric)
    rows = tuple(tuple(row[place] for place in chosen) for row in grid.rows)
    return Grid(tuple(grid.head[place] for place in chosen), rows, numeric, min(grid.keys, len(chosen)))


def _rich_table(grid: Grid, room: int) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, GAP, 0, 0), header_style="dim", pad_edge=False)
    widths = _widths(grid, room)
    for place, (name, width) in enumerate(zip(grid.head, widths, strict=True)):
        if place in grid.numeric:
            table.add_column(
                wrapped(name, width), justify="right", no_wrap=True, width=width, min_width=width
            )
        else:
            table.add_column(wrapped(name, width), overflow="fold", min_width=width)
    for row in grid.rows:
        cells = zip(row, widths, strict=True)
        table.add_row(*(Text(wrapped(cell, width)) for cell, width in cells))
    return table


def grid_text(grid: Grid, width: int = 10 * TEXT_WIDTH) -> str:
    """Return a grid as plain text, by default without breaking its lines."""
    return plain(rich_table(grid), width)


def plain(renderable: RenderableType, width: int) -> str:
    """Return a renderable as plain text, its lines without blanks at their ends."""
    from rich.console import Console

    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, force_terminal=False, force_jupyter=False).print(
        renderable
    )
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def escaped(text: str) -> str:
    """Return a text as it stands in HTML."""
    import html  # two thousand characters by name: loading it takes longer than a page

    return html.escape(text)


def html_table(grid: Grid) -> str:
    """Return a grid as an HTML table."""
    align = ["right" if number in grid.numeric else "left" for number in range(len(grid.head))]
    head = _html_row("th", grid.head, align)
    body = "".join(_html_row("td", row, align) for row in grid.rows)
    return f'<div class="wide"><table class="zsim"><thead>{head}</thead><tbody>{body}</tbody></table></div>'


def _html_row(tag: str, cells: Sequence[str], align: Sequence[str]) -> str:
    inner = "".join(
        f'<{tag} style="text-align:{side}">{escaped(cell)}</{tag}>'
        for cell, side in zip(cells, align, strict=True)
    )
    return f"<tr>{inner}</tr>"
