"""The picture of what tunables do: time against what clients wait, or without clients time alone.

This module is imported when something is drawn, because matplotlib is slow to import.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from zsim.planning.tune.settings import Setting
from zsim.prediction.answer.drawing import (
    ACCENT,
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

LINE = 0.075
"""Height of a line of text, of what the waits span."""


def figure(
    subject: str, default_s: float, default_p99_s: float | None, settings: Sequence[Setting]
) -> Picture:
    """Return the figure of an answer; see `zsim.planning.tune.records.Tuning`."""
    height = 4.6 if default_p99_s is not None else 1.6 + 0.3 * max(2, len(settings))
    drawn = Picture(figsize=(WIDTH, height), layout="constrained")
    axes = drawn.add_subplot()
    if default_p99_s is not None:
        _against_waits(axes, default_s, default_p99_s, settings)
    else:
        _alone(axes, default_s, settings)
    headed(drawn, f"Which tunable helps: {subject[:1].lower()}{subject[1:]}")
    return drawn


def _name(each: Setting) -> str:
    return f"{each.name.removeprefix('zfs_')}={each.value}"


def _against_waits(axes: Axes, default_s: float, default_p99_s: float, settings: Sequence[Setting]) -> None:
    """Draw each setting at its time and its wait, and the front: what nothing tried beats in both."""
    size, unit = time_unit(default_s)
    usual_ms = 1e3 * default_p99_s
    points = [(default_s * each.ratio / size, usual_ms * (each.p99_ratio or 1.0), each) for each in settings]
    default = (default_s / size, usual_ms)
    front = [(time, wait) for time, wait, each in points if each.on_front]
    # The defaults are on it unless a setting is as good in both respects.
    if not any(time <= default[0] and wait <= default[1] for time, wait in front):
        front.append(default)
    front.sort()
    told = "nothing tried beats these in both"
    axes.plot(*zip(*front, strict=True), color=ACCENT, lw=1, ls=":", label=told)
    for time, wait, each in points:
        error = default[0] * each.error
        axes.plot([time - error, time + error], [wait] * 2, color=ACCENT, lw=3, alpha=0.3)
        axes.plot(time, wait, "o", color=ACCENT if each.on_front else CAUSES[7], ms=6)
    axes.plot(*default, "s", color=CAUSES[5], ms=7, label="the defaults")
    axes.set(xlabel=f"takes [{unit}]", ylabel="clients wait, p99 [ms]")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}")
    axes.grid(lw=0.4, alpha=0.5)
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 0.99), ncols=2, frameon=False, fontsize=LETTERS,
        labelcolor=INK, borderaxespad=0.0,
    )  # fmt: skip
    places = [default, *((time, wait) for time, wait, _ in points)]
    _named(axes, places, [each for each in points if each[2].on_front])
    plain(axes)
    axes.tick_params(which="minor", labelsize=LETTERS, colors=INK)


def _named(
    axes: Axes, places: Sequence[tuple[float, float]], front: Sequence[tuple[float, float, Setting]]
) -> None:
    """Write the names of the front one below the other at the right, each with a line to its point."""
    times = [time for time, _ in places]
    low, high = (math.log10(edge) for edge in (min(w for _, w in places), max(w for _, w in places)))
    room, height = max(times) - min(times) or times[0], max(high - low, 0.1)
    left = max(times) + 0.12 * room
    axes.set_xlim(min(times) - 0.08 * room, left + 0.75 * room)
    line = low - 0.1 * height
    for time, wait, each in sorted(front, key=lambda each: each[1]):
        line = max(math.log10(wait), line + LINE * height)
        axes.plot([time, left], [wait, 10**line], color=INK, lw=0.5)
        axes.annotate(
            _name(each), (left, 10**line), (3, 0), textcoords="offset points", va="center", fontsize=LETTERS,
            color=INK,
        )  # fmt: skip
    axes.set_ylim(10 ** (low - 0.1 * height), 10 ** (max(high, line) + 0.1 * height))


def _alone(axes: Axes, default_s: float, settings: Sequence[Setting]) -> None:
    """Draw the time of each setting with its error, the quickest on top, and that of the defaults."""
    size, unit = time_unit(default_s)
    for place, each in enumerate(settings):
        time, error = default_s * each.ratio / size, default_s * each.error / size
        axes.plot([time - error, time + error], [place] * 2, color=ACCENT, lw=5, alpha=0.3)
        axes.plot(time, place, "o", color=ACCENT, ms=6)
    axes.axvline(default_s / size, color=CAUSES[5], lw=1.2, label="the defaults")
    name_rows(axes, [_name(each) for each in settings])
    axes.set_ylim(max(2, len(settings)) - 0.4, -0.6)
    axes.set(xlabel=f"takes [{unit}], with the error of the comparison")
    axes.grid(axis="x", lw=0.4, alpha=0.5)
    axes.legend(loc="best", frameon=False, fontsize=LETTERS, labelcolor=INK)
    plain(axes)
