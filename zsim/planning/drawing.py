"""The picture of a table: intervals side by side, lines with bands, small multiples, or a heat map."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from zsim.base.parsed import is_number
from zsim.base.units import format_duration
from zsim.planning.rows import TUNABLE, Row, axes_of
from zsim.prediction.answer.drawing import (
    ACCENT,
    CAUSES,
    HEADLINE,
    INK,
    LETTERS,
    WIDTH,
    Picture,
    name_rows,
    plain,
    time_unit,
)
from zsim.prediction.simulated import text_of
from zsim.scenario.words import in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAND = "p10 to p90"
MOST_LINES = 6
"""In one panel: more are told apart by no one."""
MOST_COLUMNS = 3
WIDEST_TITLE = 64
LEAST_SQUARE = 3
"""Values of either axis of a heat map."""
UNITS: Mapping[str, tuple[float, str]] = {
    "drive_size": (1e12, "drive size [TB]"),
    "new_drive_size": (1e12, "size of the replacement drive [TB]"),
    "fill": (0.01, "fill [%]"),
    "frag": (0.01, "FRAG [%]"),
    "recordsize": (1024.0, "record size [KiB]"),
    "memory": (float(1 << 30), "memory [GiB]"),
    "alloc": (float(1 << 40), "ALLOC [TiB]"),
    "width": (1.0, "width [drives]"),
    "parity": (1.0, "parity [drives]"),
}
"""Along an axis: what a value is divided by, and what stands below it."""


def figure(columns: Sequence[str], rows: Sequence[Row], title: str = "") -> Picture:
    """Return the figure of a table.

    Names are compared as intervals.  Along a number the median is a line with the band p10 to p90 around it;
    a second axis gives a line each, or with more values than lines a heat map; further ones small multiples.
    """
    known = [row for row in rows if row.get("p50_s") is not None]
    names = axes_of(columns, rows)
    if not known or not names or not all(is_number(row.get(names[0])) for row in known):
        drawn = _intervals(known, names)
    else:
        drawn = _panels(known, names)
    by = ", ".join(map(_named, names))
    told = ": ".join(filter(None, (f"Resilver time by {by}" if by else "Resilver time", title)))
    lines = "\n".join(textwrap.wrap(told, WIDEST_TITLE))
    drawn.suptitle(lines, fontsize=HEADLINE, color=INK, x=0.01, ha="left")
    return drawn


def _intervals(rows: Sequence[Row], names: Sequence[str]) -> Picture:
    """Draw a line from p10 to p90 and a dot at the median for each row, the first on top."""
    drawn = Picture(figsize=(WIDTH, 1.3 + 0.36 * max(2, len(rows))), layout="constrained")
    axes = drawn.add_subplot()
    size, unit = time_unit(max((row["p50_s"] for row in rows), default=1.0))
    most = max((row.get("p90_s") or row["p50_s"] for row in rows), default=1.0) / size
    for place, row in enumerate(rows):
        middle, low, high = row["p50_s"], row.get("p10_s"), row.get("p90_s")
        if low is not None and high is not None:
            axes.plot([low / size, high / size], [place] * 2, color=ACCENT, lw=6, alpha=0.3)
        axes.plot(middle / size, place, "o", color=ACCENT, ms=7)
        told = format_duration(middle)
        axes.annotate(
            told, ((high or middle) / size, place), (8, 0), textcoords="offset points", va="center",
            fontsize=LETTERS, color=INK,
        )  # fmt: skip
    name_rows(axes, [_label(row, names) for row in rows])
    axes.invert_yaxis()
    axes.set(xlabel=f"resilver [{unit}], p10 to p90 with the median", ylim=(len(rows) - 0.4, -0.6))
    axes.set_xlim(0, 1.22 * most)
    axes.grid(axis="x", lw=0.4, alpha=0.5)
    plain(axes)
    return drawn


def _label(row: Row, names: Sequence[str]) -> str:
    """Return what tells a row from the others."""
    name, layout = str(row.get("name") or ""), str(row.get("layout"))
    told = [name] if name and layout.rpartition("*")[2] != name else []
    told += [_said(name, row.get(name)) for name in names]
    return ", ".join(dict.fromkeys(told)) or str(row.get("layout"))


def _said(name: str, value: Any) -> str:
    """Return a value of an axis in words, with the name of the axis where it is a number."""
    text = text_of(name, value) if value is not None else "as usual"
    return text if name in ("layout", "name") or not is_number(value) else f"{_named(name)} {text}"


def _short(name: str) -> str:
    return in_words(name.removeprefix(TUNABLE))


def _named(name: str) -> str:
    """Return what an axis is called in a title: ``size of the replacement drive``, without its unit."""
    return UNITS[name][1].partition(" [")[0] if name in UNITS else _short(name)


def _panels(rows: Sequence[Row], names: Sequence[str]) -> Picture:
    """Draw one panel for each combination of the axes after the second, side by side and below each other."""
    x, inner, outer = names[0], list(names[1:2]), list(names[2:])
    if inner and len(_values(rows, inner[0])) > MOST_LINES and not _is_square(rows, x, inner[0]):
        outer, inner = [*inner, *outer], []
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(_said(name, row.get(name)) for name in outer), []).append(row)
    across = min(MOST_COLUMNS, len(groups), _columns(rows, outer))
    down = math.ceil(len(groups) / across)
    wide, high = max(WIDTH, 2.5 * across + 0.9), max(3.9, 2.4 * down + 1.1)
    drawn = Picture(figsize=(wide, high), layout="constrained")
    grid = drawn.subplots(down, across, squeeze=False, sharex=True, sharey=True)
    size, unit = time_unit(max(row["p50_s"] for row in rows))
    top = max(row.get("p90_s") or row["p50_s"] for row in rows) / size
    draw = _map if inner and _is_square(rows, x, inner[0]) else _lines
    limits = (min(row["p50_s"] for row in rows) / size, max(row["p50_s"] for row in rows) / size)
    for place, (group, members) in enumerate(groups.items()):
        axes = grid[place // across][place % across]
        image = draw(axes, members, x, inner, size, limits)
        plain(axes, ", ".join(group))
        if place >= len(groups) - across:  # nothing below it
            axes.set_xlabel(_axis(x))
            axes.tick_params(labelbottom=True)
        if place % across == 0:
            axes.set_ylabel(f"resilver [{unit}]" if draw is _lines else _axis(inner[0]))
        if draw is _lines:
            axes.set_ylim(0, 1.05 * top)
            axes.grid(lw=0.4, alpha=0.4)
            whole = _are_whole(rows, x)
            axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10], integer=whole))
    for place in range(len(groups), down * across):
        grid[place // across][place % across].set_visible(False)
    if draw is _lines:
        _legend(drawn, grid[0][0])
    elif image is not None:
        drawn.colorbar(image, ax=grid.ravel().tolist(), label=f"resilver [{unit}]", shrink=0.8)
    return drawn


def _columns(rows: Sequence[Row], outer: Sequence[str]) -> int:
    """Return how many panels stand side by side: one for each value of the first axis they are of."""
    if not outer:
        return 1
    if len(outer) == 1:
        return math.ceil(math.sqrt(len(_values(rows, outer[0]))))
    return len(_values(rows, outer[-1]))


def _values(rows: Sequence[Row], name: str) -> list[str]:
    return list(dict.fromkeys(str(row.get(name)) for row in rows))


def _is_square(rows: Sequence[Row], x: str, y: str) -> bool:
    """Tell whether two axes are numbers with enough values for a heat map, more than lines can show."""
    across, up = len(_values(rows, x)), len(_values(rows, y))
    numbers = all(is_number(row.get(y)) for row in rows)
    return numbers and across >= LEAST_SQUARE and up > MOST_LINES


def _axis(name: str) -> str:
    return UNITS[name][1] if name in UNITS else _short(name)


def _scaled(name: str, value: float) -> float:
    return value / UNITS[name][0] if name in UNITS else value


def _are_whole(rows: Sequence[Row], name: str) -> bool:
    """Tell whether an axis has whole numbers only: there are no 4.5 drives."""
    return all(float(_scaled(name, row[name])).is_integer() for row in rows)


def _lines(
    axes: Axes, rows: Sequence[Row], x: str, inner: Sequence[str], size: float, limits: tuple[float, float]
) -> None:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(", ".join(_said(name, row.get(name)) for name in inner), []).append(row)
    for place, (label, members) in enumerate(groups.items()):
        members.sort(key=lambda row: row[x])
        at = [_scaled(x, row[x]) for row in members]
        colour = CAUSES[place % len(CAUSES)]
        middle = [row["p50_s"] / size for row in members]
        axes.plot(at, middle, "o-", color=colour, ms=4, lw=1.6, label=label or "median")
        if all(row.get("p10_s") is not None and row.get("p90_s") is not None for row in members):
            low, high = ([row[key] / size for row in members] for key in ("p10_s", "p90_s"))
            axes.fill_between(at, low, high, color=colour, alpha=0.12, lw=0, label=BAND)


def _map(
    axes: Axes, rows: Sequence[Row], x: str, inner: Sequence[str], size: float, limits: tuple[float, float]
) -> Any:
    """Draw the median as colours over two numbers."""
    (y,) = inner
    across, up = (sorted({row[name] for row in rows}) for name in (x, y))
    found = np.full((len(up), len(across)), np.nan)
    for row in rows:
        found[up.index(row[y]), across.index(row[x])] = row["p50_s"] / size
    image = axes.imshow(found, origin="lower", aspect="auto", cmap="viridis", vmin=limits[0], vmax=limits[1])
    for name, values, ticks in ((x, across, axes.set_xticks), (y, up, axes.set_yticks)):
        ticks(range(len(values)), [f"{_scaled(name, value):.4g}" for value in values])
    for (row_number, column), value in np.ndenumerate(found):
        if not np.isnan(value) and len(across) <= MOST_CELLS:
            light = value < 0.55 * limits[1] + 0.45 * limits[0]
            axes.text(column, row_number, f"{value:.3g}", ha="center", va="center", fontsize=LETTERS - 1.0,
                      color="#ffffff" if light else "#101010")  # fmt: skip
    return image


MOST_CELLS = 12
"""Columns of a heat map that have room for a figure."""
Draw = Callable[..., Any]


def _legend(drawn: Picture, first: Axes) -> None:
    """Name the lines, and what the bands around them are, below all panels."""
    handles, labels = first.get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))
    if BAND in named:  # of all lines, so in the colour of none
        del named[BAND]
        named[BAND] = Patch(color=INK, alpha=0.2, lw=0)
    if len(named) > 1:
        drawn.legend(list(named.values()), list(named), loc="outside lower center", frameon=False,
                     ncols=min(MOST_COLUMNS, len(named)), fontsize=LETTERS, labelcolor=INK)  # fmt: skip
