"""The picture of a risk: ranges by grade and period on a logarithmic scale, and the largest movers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zsim.planning.risk.records import Risk
from zsim.planning.risk.wording import FIELDS, GRADES, WINDOWS, odds
from zsim.prediction.answer.drawing import (
    CAUSES,
    INK,
    LETTERS,
    WIDTH,
    Picture,
    headed,
    key_below,
    name_rows,
    plain,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM = 0.35
"""Right of the ranges, for their odds, as a share of the scale."""


def figure(answer: Risk) -> Picture:
    """Return the figure of a risk."""
    heights = (3.4, 0.9 + 0.3 * len(answer.movers)) if answer.movers else (3.4,)
    drawn = Picture(figsize=(WIDTH, sum(heights) + 0.9), layout="constrained")
    grid = drawn.add_gridspec(len(heights), 1, height_ratios=heights)
    ranges = drawn.add_subplot(grid[0])
    _ranges(ranges, answer)
    if answer.movers:
        _movers(drawn.add_subplot(grid[1]), answer)
    key_below(drawn, ranges, 3)
    headed(drawn, answer.subject)
    return drawn


def _ranges(axes: Axes, answer: Risk) -> None:
    years = f"{answer.horizon_years:g} years"
    periods = (
        (WINDOWS[answer.window_of], answer.window),
        ("a year", answer.per_year),
        (years, answer.years),
    )
    for place, (name, grades) in enumerate(periods):
        for row, (grade, _) in enumerate(GRADES):
            found = getattr(grades, grade)
            height = row + 0.28 * (place - 1)
            label = name if row == 0 else None
            axes.plot([found.low, found.high], [height, height], color=CAUSES[place], lw=4, alpha=0.35)
            axes.plot(found.p, height, "o", color=CAUSES[place], ms=5, label=label)
            axes.annotate(
                odds(found.p, 1), (found.high, height), xytext=(4, 0), textcoords="offset points",
                va="center", fontsize=LETTERS, color=INK,
            )  # fmt: skip
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * (high / low) ** ROOM)
    name_rows(axes, [words for _, words in GRADES])
    axes.invert_yaxis()
    axes.set_xlabel("chance; nine in ten of what is possible")
    plain(axes)


def _movers(axes: Axes, answer: Risk) -> None:
    names = [FIELDS[each.field] for each in answer.movers]
    factors = [max(each.factor, 1 / each.factor) for each in answer.movers]
    axes.barh(range(len(names)), [factor - 1 for factor in factors], left=1.0, color=CAUSES[0], height=0.6)
    axes.set_xscale("log")
    name_rows(axes, names)
    axes.invert_yaxis()
    axes.set_xlabel("factor on the chance of a year")
    plain(axes, "What moves it: p90 of an input for its p10")
