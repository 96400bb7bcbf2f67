"""The picture of a timeline: passes as bars, the remaining redundancy below."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from zsim.planning.timeline.records import TimelineAnswer
from zsim.planning.timeline.wording import as_html, end_of, headline
from zsim.prediction.answer.drawing import (
    CAUSES,
    INK,
    LETTERS,
    WIDTH,
    Picture,
    headed,
    name_rows,
    plain,
    time_unit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    "resilver": CAUSES[0],
    "rebuild": CAUSES[2],
    "scrub": CAUSES[4],
    "expansion": CAUSES[1],
    "removal": CAUSES[3],
}
DANGER = CAUSES[5]
MARGIN = 1.02
"""Length of the axis, of what is shown."""


def figure(found: TimelineAnswer) -> Picture:
    """Return a Gantt chart: a bar a pass to its median end, a whisker from p10 to p90, redundancy below."""
    names = list(dict.fromkeys(level.vdev for level in found.redundancy))
    heights = (max(2, len(found.passes)), max(1, len(names)))
    drawn = Picture(figsize=(WIDTH, 1.6 + 0.36 * sum(heights)), layout="constrained")
    upper, lower = drawn.subplots(2, 1, height_ratios=heights, sharex=True)
    end = end_of(found)
    size, unit = time_unit(end)
    _passes(upper, found, size, end)
    _redundancy(lower, found, names, size)
    lower.set_xlabel(f"{unit} since the beginning")
    lower.set_xlim(0, MARGIN * end / size)
    for axes, title in ((upper, "Passes, to p50, with p10 to p90"), (lower, "Drives that may still fail")):
        plain(axes, title)
    headed(drawn, headline(found))
    return drawn


def _passes(axes: Axes, found: TimelineAnswer, size: float, end: float) -> None:
    for place, row in enumerate(found.passes):
        stop = row.ends_s["p50"] if row.ends_s["p50"] is not None else end
        colour = COLOURS.get(row.kind, CAUSES[3])
        shade = 1.0 if row.completed else 0.45
        axes.barh(place, (stop - row.begins_s) / size, left=row.begins_s / size, color=colour, alpha=shade)
        low, high = row.ends_s["p10"], row.ends_s["p90"]
        if low is not None:
            axes.plot([low / size, (end if high is None else high) / size], [place] * 2, color=INK, lw=1)
    name_rows(axes, [f"{row.vdev} {row.kind}" for row in found.passes])
    axes.invert_yaxis()


def _redundancy(axes: Axes, found: TimelineAnswer, names: list[str], size: float) -> None:
    for level in found.redundancy:
        below = found.full[level.vdev] - level.left
        colour = DANGER if level.left <= 0 and below else CAUSES[1] if below else CAUSES[2]
        place, length = names.index(level.vdev), (level.to_s - level.from_s) / size
        axes.barh(place, length, left=level.from_s / size, color=colour, alpha=0.8 if below else 0.25)
        axes.text(level.from_s / size, place, f" {level.left}", va="center", fontsize=LETTERS, color=INK)
    name_rows(axes, names)
    axes.invert_yaxis()


def save_page(found: TimelineAnswer, path: str | Path) -> None:
    """Write the timeline as one HTML file; it appears whole or not at all."""
    from zsim.base.files import replace_file
    from zsim.report.page import inline_svg, page

    picture = f"<figure>{inline_svg(figure(found))}</figure>"
    replace_file(path, page(headline(found), (as_html(found, picture),)))
