"""The picture of a risk: ranges by grade and period on a logarithmic scale, and what moves them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zsim.planning.risk.records import Risk
from zsim.planning.risk.words import FIELDS, GRADES, odds
from zsim.prediction.answer.drawing import CAUSES, INK, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def figure(answer: Risk) -> Picture:
    """Return the figure of a risk."""
    drawn = Picture(figsize=(9.0, 4.5), layout="constrained")
    if answer.movers:
        left, right = drawn.subplots(1, 2, width_ratios=(3, 2))
        _movers(right, answer)
    else:
        left = drawn.add_subplot()
    _ranges(left, answer)
    handles, labels = left.get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    drawn.suptitle(answer.subject, fontsize=9, color=INK)
    return drawn


def _ranges(axes: Axes, answer: Risk) -> None:
    years = f"{answer.horizon_years:g} years"
    periods = (("during this repair", answer.window), ("a year", answer.per_year), (years, answer.years))
    for place, (name, grades) in enumerate(periods):
        for row, (grade, _) in enumerate(GRADES):
            found = getattr(grades, grade)
            height = row + 0.22 * (place - 1)
            label = name if row == 0 else None
            axes.plot([found.low, found.high], [height, height], color=CAUSES[place], lw=4, alpha=0.35)
            axes.plot(found.p, height, "o", color=CAUSES[place], ms=5, label=label)
            axes.annotate(
                odds(found.p, 1), (found.p, height), xytext=(0, 5), textcoords="offset points", fontsize=6
            )
    axes.set_xscale("log")
    axes.set_yticks(range(len(GRADES)), [words for _, words in GRADES])
    axes.invert_yaxis()
    axes.set_xlabel("chance")
    axes.spines[["top", "right"]].set_visible(False)


def _movers(axes: Axes, answer: Risk) -> None:
    names = [FIELDS[each.field] for each in answer.movers]
    factors = [max(each.factor, 1 / each.factor) for each in answer.movers]
    axes.barh(range(len(names)), [factor - 1 for factor in factors], left=1.0, color=CAUSES[0], height=0.6)
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("factor on the chance of a year")
    axes.spines[["top", "right"]].set_visible(False)
