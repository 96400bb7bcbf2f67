"""The picture of a plan: space against the chance of loss, hours as colour, the front as a line."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Protocol

from zsim.planning.rows import Row
from zsim.prediction.answer.drawing import (
    ACCENT,
    CAUSES,
    INK,
    LETTERS,
    PALE,
    WIDTH,
    Picture,
    headed,
    key,
    key_below,
    plain,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEBI = 1024.0**4
LONGEST_NAME = 30
ROOM, GAP, LINE = 0.3, 0.04, 0.055
"""For names of a front: right of all points, right of its own (of the width), a line (of the height)."""


class DrawnDesign(Protocol):
    """What is drawn of a design."""

    @property
    def question(self) -> str:
        """Which of the questions it answers."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Rows of the answer, in SI units."""

    @property
    def answer(self) -> str | None:
        """The limit that was sought."""

    def headline(self) -> str:
        """Return the answer in one line."""


def figure(design: DrawnDesign) -> Picture:
    """Return the figure of a design."""
    drawn = Picture(figsize=(WIDTH, 4.6), layout="constrained")
    axes = drawn.add_subplot()
    if design.question == "worth":
        _changes(axes, design)
    elif design.question == "layouts":
        _front(drawn, axes, design)
    else:
        _limit(axes, design)
    plain(axes)
    headed(drawn, design.headline())
    return drawn


def _front(drawn: Picture, axes: Axes, design: DrawnDesign) -> None:
    known = [row for row in design.rows if row.get("vdev_per_year") is not None]
    if not known:
        axes.set(xticks=[], yticks=[], xlabel="no layout was simulated")
        return
    others = [row for row in known if not row["meets"]]
    axes.scatter(*_points(others), color=PALE, s=18, label="fails a requirement")
    meeting = [row for row in known if row["meets"]]
    hours = [row["p90_s"] / 3600 for row in meeting]
    if meeting and max(hours) > 1.01 * min(hours):
        dots = axes.scatter(*_points(meeting), c=hours, cmap="cool", s=34, label="meets all requirements")
        drawn.colorbar(dots, ax=axes, label="repair, p90 [h]")
    else:
        axes.scatter(*_points(meeting), color=CAUSES[0], s=34, label="meets all requirements")
    line = sorted(_lower_right(meeting), key=lambda row: float(row["usable_bytes"]))
    axes.plot(*_points(line), color=ACCENT, lw=1, label="no other has more space at less risk")
    axes.set_yscale("log")
    _named(axes, line)
    axes.set_xlabel("usable [TiB]")
    axes.set_ylabel("chance of losing a vdev within a year")
    key_below(drawn, axes, 2)


def _named(axes: Axes, line: list[Row]) -> None:
    """Write the names of a front right of its points, from the top down, none upon another."""
    if not line:
        return
    left, right = axes.get_xlim()
    axes.set_xlim(left, right + ROOM * (right - left))
    low, high = (math.log10(edge) for edge in axes.get_ylim())
    place = high
    for row in reversed(line):
        height = math.log10(row["vdev_per_year"])
        place = min(height, place - LINE * (high - low))
        point = (row["usable_bytes"] / TEBI, row["vdev_per_year"])
        axes.annotate(
            row["layout"], point, (point[0] + GAP * (right - left), 10**place), va="center", fontsize=LETTERS,
            color=INK, arrowprops={"arrowstyle": "-", "color": INK, "lw": 0.5},
        )  # fmt: skip


def _points(rows: list[Row]) -> tuple[list[float], list[float]]:
    return [row["usable_bytes"] / TEBI for row in rows], [row["vdev_per_year"] for row in rows]


def _lower_right(rows: list[Row]) -> list[Row]:
    """Return the rows that no other beats in space and chance alone."""
    return [
        row
        for row in rows
        if not any(
            other["usable_bytes"] >= row["usable_bytes"] and other["vdev_per_year"] < row["vdev_per_year"]
            for other in rows
        )
    ]


def _limit(axes: Axes, design: DrawnDesign) -> None:
    name = "fill" if design.question == "fill" else "drives"
    rows = sorted(design.rows, key=lambda row: row[name])
    x = [100 * row[name] if name == "fill" else row[name] for row in rows]
    axes.plot(x, [row["p50_s"] / 3600 for row in rows], "o-", color=CAUSES[0], label="repair, p50")
    axes.plot(x, [row["p90_s"] / 3600 for row in rows], "o--", color=CAUSES[1], label="repair, p90")
    limit = [value for value, row in zip(x, rows, strict=True) if row["meets"]]
    if limit:
        axes.axvline(max(limit), color=INK, lw=0.8, ls=":", label=f"the limit: {design.answer}")
    axes.set_xlabel("fill [%]" if name == "fill" else "width [drives]")
    axes.set_ylabel("hours")
    axes.set_ylim(bottom=0)
    key(axes)


def _changes(axes: Axes, design: DrawnDesign) -> None:
    names = [row["change"] for row in design.rows]
    places = range(len(names))
    axes.barh([place - 0.18 for place in places], [row["vdev_per_year"] for row in design.rows], 0.35,
              color=CAUSES[0], label="vdev lost")  # fmt: skip
    axes.barh([place + 0.18 for place in places], [row["files_per_year"] for row in design.rows], 0.35,
              color=CAUSES[1], label="files lost")  # fmt: skip
    axes.set_yticks(places, ["\n".join(textwrap.wrap(name, LONGEST_NAME)) for name in names])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("chance within a year")
    key(axes)
