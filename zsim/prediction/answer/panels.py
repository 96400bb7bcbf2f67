"""The pictures of a prediction: progress, finish times, breakdown, drives by phase.

This module is imported when something is drawn, because matplotlib is slow to import.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter

from zsim.base.units import format_percent
from zsim.prediction.answer.drawing import (
    ACCENT,
    CAUSES,
    INK,
    LETTERS,
    TITLE,
    WIDTH,
    Picture,
    bars,
    headed,
    plain,
    time_unit,
)
from zsim.prediction.answer.records import Answer, Leaf, Quantiles, Waits, share_of_total
from zsim.prediction.answer.tables import wrapped
from zsim.prediction.answer.wording import headline, interval, is_counted_twice, whose_load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NORMAL = NormalDist()
BANDS = ((0.05, 0.95, 0.1), (0.1, 0.9, 0.16), (0.25, 0.75, 0.2))
"""Of the fan: lower and upper quantile, and how dense its colour is."""
GRID_POINTS = 160
FARTHEST = 2.2
"""Standard deviations to either side that a distribution is drawn to."""
SMOOTH = np.hanning(19) / np.hanning(19).sum()
ZPOOL = CAUSES[5]
WIDE = ("progress", "finish")
"""Panels without names at the left, over which a long title fits."""
LONGEST_TITLE = 34
"""Letters of a title over a panel with names."""
PANEL = 4.6
"""Width of a panel on a page of its own [inches]: letters are 11 px high at 420 px."""
ABOVE = 0.3
"""How far the lines at p10 and p90 reach up [1]."""
BAR, DOWN, UP = 0.42, 0.2, 0.24
"""Of a row of bars with a label above each: height of the bar, how far it lies down, how far the label up."""
FEW_STEPS = 60.0
"""A scale of waits that spans less has more numbers than the powers of ten."""


def figure(prediction: Answer) -> Picture:
    """Return the whole picture: every panel that the answer has something for.

    Parameters
    ----------
    prediction : Answer
        The answer to draw; what it does not hold is left out.

    Returns
    -------
    Picture
        A matplotlib figure.
    """
    waits = _clients_height(prediction)
    heights = (3.0, 1.5, *_rows_height(prediction), *([waits] if waits else []))
    drawn = Picture(figsize=(WIDTH, sum(heights) + 0.7), layout="constrained")
    grid = drawn.add_gridspec(len(heights), 1, height_ratios=heights)
    draw = (draw_progress, draw_finish, draw_causes, draw_drives, draw_clients)
    for row, each in enumerate(draw[: len(heights)]):
        each(drawn.add_subplot(grid[row, 0]), prediction)
    headed(drawn, headline(prediction))
    return drawn


def panels(prediction: Answer) -> dict[str, Picture]:
    """Return each panel as a picture of its own, for a page that sets them beside or below each other."""
    found = {}
    for name, (draw, usual) in PANELS.items():
        height = _clients_height(prediction) if name == "clients" else usual
        if not height:
            continue
        drawn = Picture(figsize=(PANEL, height), layout="constrained")
        drawn.patch.set_alpha(0.0)
        axes = drawn.add_subplot()
        axes.patch.set_alpha(0.0)
        draw(axes, prediction)
        if name not in WIDE:
            axes.set_title(
                wrapped(axes.get_title(loc="left"), LONGEST_TITLE), fontsize=TITLE, color=INK, loc="left"
            )
        found[name] = drawn
    return found


def quantile(answer: Quantiles, share: float) -> float:
    """Return a quantile of the answer: log-normal on either side of the median, through p10 and p90 [s]."""
    low, middle, high = answer.p10, answer.p50, answer.p90
    if low is None or high is None or low <= 0.0:
        return middle
    reach = NORMAL.inv_cdf(0.9)
    edge = high if share > 0.5 else low
    spread = abs(math.log(edge / middle)) / reach
    return middle * math.exp(spread * NORMAL.inv_cdf(share))


def draw_progress(axes: Axes, prediction: Answer) -> None:
    """Draw what share is done when: the median world, the fan of the others, and when zpool says it ends."""
    answer = prediction.resilver_s
    size, unit = time_unit(answer.p50)
    points = prediction.progress
    times = np.array([point.time_s for point in points]) / size
    done = np.array([100 * point.fraction for point in points])
    if len(points) and answer.has_interval:
        for low, high, alpha in BANDS:
            left, right = (quantile(answer, each) / answer.p50 for each in (low, high))
            label = "80 % of all" if low == BANDS[1][0] else None
            axes.fill_betweenx(
                done, times * left, times * right, color=ACCENT, alpha=alpha, lw=0, label=label
            )
    if len(points):
        axes.plot(times, done, color=ACCENT, lw=2, label="done, at the median")
    said = [(p.time_s, p.zpool_eta_s, p.fraction) for p in points if p.zpool_eta_s is not None]
    if said:
        ends = [(now + left) / size for now, left, _ in said]
        axes.plot(ends, [100 * share for _, _, share in said], color=ZPOOL, lw=1.2, ls="--",
                  label="end as zpool status has it")  # fmt: skip
    axes.axvline(answer.p50 / size, color=ACCENT, lw=0.8, ls=":")
    axes.set(xlabel=f"time after the start [{unit}]", ylabel="done [%]", ylim=(0, 104))
    axes.set_xlim(0, 1.03 * max(quantile(answer, 0.95), answer.p50) / size)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.45, -0.34), ncols=2, frameon=False, fontsize=LETTERS,
            labelcolor=INK, columnspacing=1.0, handlelength=1.6, borderaxespad=0.0,
        )  # fmt: skip
    plain(axes, "Progress")


def draw_finish(axes: Axes, prediction: Answer) -> None:
    """Draw how likely it ends when."""
    answer = prediction.resilver_s
    size, unit = time_unit(answer.p50)
    if answer.has_interval:
        scores = np.linspace(-FARTHEST, FARTHEST, GRID_POINTS)
        times = np.array([quantile(answer, NORMAL.cdf(score)) for score in scores])
        density = np.exp(-0.5 * scores**2) / np.gradient(times, scores)
        density = np.convolve(density, SMOOTH, mode="same")  # two halves meet at the median
        density /= density.max()
        inside = (times >= (answer.p10 or 0.0)) & (times <= (answer.p90 or np.inf))
        axes.fill_between(times / size, density, color=ACCENT, lw=0, alpha=0.16)
        axes.fill_between(times[inside] / size, density[inside], color=ACCENT, lw=0, alpha=0.4)
        for value, name in ((answer.p10, "p10 "), (answer.p90, " p90")):
            if value is not None:
                side = "right" if name.endswith(" ") else "left"
                axes.axvline(value / size, ymax=ABOVE, color=INK, lw=0.8)
                axes.text(value / size, 0.06, name, ha=side, fontsize=LETTERS, color=INK)
    axes.axvline(answer.p50 / size, color=ACCENT, lw=1.2)
    axes.set(xlabel=f"it ends so long after the start [{unit}]", ylim=(0, 1.1), yticks=[])
    axes.set_xlim(0, 1.03 * max(quantile(answer, 0.95), answer.p50) / size)
    plain(axes, interval(prediction).partition(" Sampling")[0])
    axes.spines["left"].set_visible(False)


def draw_causes(axes: Axes, prediction: Answer) -> None:
    """Draw what the drives that set the pace spend the time on."""
    shares = share_of_total(prediction.breakdown)
    bars(axes, list(shares), list(shares.values()), CAUSES[: len(shares)])
    axes.set(xlabel="share of the time [%]")
    whose = prediction.breakdown_of.removeprefix("the ")
    plain(axes, f"Where the time goes: {whose}" if whose else "Where the time goes")


def draw_drives(axes: Axes, prediction: Answer) -> None:
    """Draw how busy each kind of drive is, phase by phase; as a whole where the phases do not tell."""
    phases = [phase for phase in prediction.phases if phase.busy]
    names = [_of_drives(leaf) for leaf in prediction.leaves]
    if not phases:
        bars(axes, names, [leaf.utilisation for leaf in prediction.leaves], [ACCENT] * len(names))
        axes.set(xlabel="busy [%]")
        plain(axes, "How busy the drives are")
        return
    size, unit = time_unit(prediction.resilver_s.p50)
    for row, leaf in enumerate(prediction.leaves):
        for phase in phases:
            share, start, length = (
                phase.busy.get(leaf.role, 0.0),
                phase.start_s / size,
                phase.duration_s / size,
            )
            axes.barh(row + DOWN, length, left=start, height=BAR, color=ACCENT, alpha=0.16, lw=0)
            low = row + DOWN + 0.5 * BAR * (1 - share)
            axes.barh(low, length, left=start, height=BAR * share, color=ACCENT, lw=0)
            if length > 0.12 * prediction.resilver_s.p50 / size:
                axes.text(start + length / 2, row - UP, format_percent(share), ha="center", va="center",
                          fontsize=LETTERS, color=INK)  # fmt: skip
    for phase in phases[1:]:
        axes.axvline(phase.start_s / size, color=INK, lw=0.6, ls=":")
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel=f"time after the start [{unit}]", ylim=(len(names) - 0.5, -0.55))
    axes.set_xlim(0, prediction.resilver_s.p50 / size)
    plain(axes, f"Share busy: {', then '.join(phase.name for phase in phases)}")


def draw_clients(axes: Axes, prediction: Answer) -> None:
    """Draw what clients wait before, while and after: median to p99 a bar, p90 on it, the longest a dot."""
    rows = _waits_of(prediction)
    several = len({name for name, _, _ in rows}) > 1
    labels = []
    for place, (name, when, each) in enumerate(rows):
        busy = when == "while it runs"
        shade = 0.75 if busy else 0.3
        low, middle, high, longest = (1e3 * value for value in (each.p50, each.p90, each.p99, each.max))
        centre = place + DOWN
        axes.barh(centre, high - low, left=low, height=BAR, color=ACCENT, alpha=shade, lw=0)
        axes.plot([low, low], [centre - 0.6 * BAR, centre + 0.6 * BAR], color=ACCENT, lw=2)
        axes.plot([middle, middle], [centre - 0.5 * BAR, centre + 0.5 * BAR], color=INK, lw=1)
        axes.plot(longest, centre, "o", color=CAUSES[5], ms=4)
        told = f"{_milliseconds(low)}, p99 {_milliseconds(high)}, longest {_milliseconds(longest)}"
        across = axes.get_yaxis_transform()
        axes.text(0.01, place - UP, told, va="center", fontsize=LETTERS, color=INK, transform=across)
        labels.append(f"{name},\n{when}" if several else when)
    axes.set_yticks(range(len(rows)), labels)
    axes.set_ylim(len(rows) - 0.5, -0.55)
    waits = [value for _, _, each in rows for value in (each.p50, each.max)]
    axes.set_xscale("log")
    axes.set_xlim(0.7e3 * min(waits), 1.4e3 * max(waits))
    steps = (1.0, 2.0, 5.0) if max(waits) < FEW_STEPS * min(waits) else (1.0,)
    axes.xaxis.set_major_locator(LogLocator(subs=steps))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", lw=0.4, alpha=0.5)
    axes.set(xlabel="median to p99 [ms], line at p90, dot the longest")
    what = "What clients wait" if several else f"What clients wait: {rows[0][0]}"
    plain(axes, f"{what} (no load was stated)" if whose_load(prediction) else what)


def _of_drives(leaf: Leaf) -> str:
    """Return the name of a kind of drives; some are counted with their peers as well."""
    return f"{'of these: ' if is_counted_twice(leaf) else ''}{leaf.role} ({leaf.count})"


def _milliseconds(value: float) -> str:
    return f"{value / 1e3:.2g} s" if value >= 1e3 else f"{value:.3g} ms"


def _waits_of(prediction: Answer) -> list[tuple[str, str, Waits]]:
    """Return kind of clients, when, and percentiles, as far as there are any."""
    return [
        (clients.kind, when, each)
        for clients in prediction.clients
        for when, each in (
            ("before", clients.before), ("while it runs", clients.during), ("once it is done", clients.after)
        )
        if each is not None
    ]  # fmt: skip


def _rows_height(prediction: Answer) -> tuple[float, float]:
    """Return the heights of the panels of causes and of drives [inches]."""
    return 0.9 + 0.27 * len(share_of_total(prediction.breakdown)), 0.9 + 0.44 * len(prediction.leaves)


def _clients_height(prediction: Answer) -> float:
    """Return the height of that panel [inches]; 0 without clients."""
    rows = len(_waits_of(prediction))
    return 0.7 + 0.52 * rows if rows else 0.0


PANELS: Mapping[str, tuple[Callable[[Axes, Answer], None], float]] = {
    "progress": (draw_progress, 3.4),
    "finish": (draw_finish, 2.0),
    "causes": (draw_causes, 2.6),
    "drives": (draw_drives, 2.6),
    "clients": (draw_clients, 0.0),
}
"""Each panel: what draws it, and its height [inches]; that of the clients grows with their kinds."""
