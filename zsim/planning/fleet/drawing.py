"""The picture of a fleet: which pools contribute most, and how long redundancy is short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zsim.planning.fleet.records import PoolsRow
from zsim.prediction.answer.drawing import CAUSES, WIDTH, Picture, headed, key_below, name_rows, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def figure(pools: Sequence[PoolsRow], title: str) -> Picture:
    """Return the figure of the rows of a fleet's answer."""
    heights = (1.0 + 0.3 * len(pools), 1.0 + 0.6 * len(pools))
    drawn = Picture(figsize=(WIDTH, sum(heights) + 0.8), layout="constrained")
    upper, lower = drawn.subplots(2, 1, height_ratios=heights)
    rows = sorted(pools, key=lambda row: row.share)
    _ranges(upper, rows)
    _levels(lower, rows)
    key_below(drawn, lower, 4)
    headed(drawn, title)
    return drawn


def _ranges(axes: Axes, rows: list[PoolsRow]) -> None:
    for place, row in enumerate(rows):
        found = row.losses_per_year.vdev
        axes.plot([found.low, found.high], [place, place], color=CAUSES[0], lw=4, alpha=0.35)
        axes.plot(found.p, place, "o", color=CAUSES[0], ms=5)
    if any(row.losses_per_year.vdev.p > 0 for row in rows):
        axes.set_xscale("log")
    name_rows(axes, [row.name for row in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlabel("vdevs lost a year")
    plain(axes, "What the pools contribute")


def _levels(axes: Axes, rows: list[PoolsRow]) -> None:
    words = ("1 missing", "2 missing", "3 missing", "more")
    height = 0.8 / len(words)
    for level, label in enumerate(words):
        hours = [row.degraded_s[level] / 3600 for row in rows]
        if not any(hours):
            continue
        places = [place - (level - 1.5) * height for place in range(len(rows))]
        axes.barh(places, hours, height=height, color=CAUSES[level], label=label)
    if any(hours > 0 for row in rows for hours in row.degraded_s):
        axes.set_xscale("log")
    name_rows(axes, [row.name for row in rows])
    axes.set_xlabel("hours a pool and year with drives missing")
    plain(axes, "How long redundancy is short")
