"""The picture of a prediction: progress, how busy the drives are, where the time goes.

This module is imported when something is drawn, because matplotlib is slow to import.  Figures are made
without pyplot: no global state, no window, and the same file byte for byte for the same prediction.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from zsim.base.files import check_ending, replace_file
from zsim.prediction.answer.records import Answer, share_of_total
from zsim.prediction.answer.wording import headline, interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".png", ".pdf")
INK, ACCENT, PALE = "#333333", "#0b6e99", "#c9dde6"
# Okabe and Ito's palette: told apart by colour-blind readers.
CAUSES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")


class Picture(Figure):
    """A figure that a notebook shows although no pyplot is involved."""

    def _repr_png_(self) -> bytes:
        return render(self, "png")


def time_unit(seconds: float) -> tuple[float, str]:
    """Return the unit that suits an axis of this length: its seconds and its name."""
    for size, name in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return size, name
    return 1.0, "seconds"


def figure(prediction: Answer) -> Picture:
    """Return the figure of a prediction.

    Parameters
    ----------
    prediction : Answer
        The answer to draw; what it does not hold is left out.

    Returns
    -------
    Picture
        A matplotlib figure.
    """
    drawn = Picture(figsize=(9.0, 6.0), layout="constrained")
    rows = drawn.subplots(2, 1, height_ratios=(3, 2))
    lower = rows[1].get_subplotspec().subgridspec(1, 2)
    rows[1].remove()
    _draw_progress(rows[0], prediction)
    _draw_leaves(drawn.add_subplot(lower[0, 0]), prediction)
    _draw_breakdown(drawn.add_subplot(lower[0, 1]), prediction)
    drawn.suptitle(headline(prediction), fontsize=12, color=INK, x=0.01, ha="left")
    return drawn


def save(drawn: Figure, path: str | Path) -> None:
    """Write a figure; the ending decides the format.

    Raises
    ------
    InputError
        If the ending is not .svg, .png or .pdf, or the file cannot be written.
    """
    check_ending(path, FORMATS)
    replace_file(path, render(drawn, Path(path).suffix.lower()[1:]))


def render(drawn: Figure, form: str) -> bytes:
    """Return a figure as the bytes of a file of the given format, without a date in it."""
    stream = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else {"CreationDate": None} if form == "pdf" else None
    with mpl.rc_context({"svg.hashsalt": "zsim", "svg.fonttype": "none"}):
        drawn.savefig(stream, format=form, metadata=metadata)
    return stream.getvalue()


def _draw_progress(axes: Axes, prediction: Answer) -> None:
    size, unit = time_unit(prediction.resilver_s.p90 or prediction.resilver_s.p50)
    points = prediction.progress
    if points:
        axes.plot([p.time_s / size for p in points], [100 * p.fraction for p in points], color=ACCENT, lw=2)
        where = [(p.time_s / size, 100 * p.position) for p in points if p.position is not None]
        if where:
            axes.plot(*zip(*where, strict=True), color=CAUSES[1], lw=0.8, label="position on the drives")
            axes.legend(loc="upper left", frameon=False)
    _draw_interval(axes, prediction, size)
    axes.set(xlabel=f"time after the start [{unit}]", ylabel="issued [%]", ylim=(0, 103))
    axes.set_xlim(left=0)
    axes.set_title(interval(prediction), fontsize=9, color=INK, loc="left")
    _plain(axes)


def _draw_interval(axes: Axes, prediction: Answer, size: float) -> None:
    answer = prediction.resilver_s
    if answer.p10 is not None and answer.p90 is not None:
        axes.axvspan(answer.p10 / size, answer.p90 / size, color=PALE, alpha=0.6, lw=0)
    axes.axvline(answer.p50 / size, color=ACCENT, lw=1, ls="--")


def _draw_leaves(axes: Axes, prediction: Answer) -> None:
    names = [f"{leaf.role} ({leaf.count})" for leaf in prediction.leaves]
    busy = [100 * leaf.utilisation for leaf in prediction.leaves]
    bars = axes.barh(range(len(names)), busy, color=ACCENT)
    axes.bar_label(bars, fmt="%.0f %%", padding=3, fontsize=8)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set(xlabel="busy [%]", xlim=(0, 115))
    _plain(axes)


def _draw_breakdown(axes: Axes, prediction: Answer) -> None:
    shares = share_of_total(prediction.breakdown)
    bars = axes.barh(
        range(len(shares)), [100 * s for s in shares.values()], color=CAUSES[: len(shares)] or None
    )
    axes.bar_label(bars, fmt="%.0f %%", padding=3, fontsize=8)
    axes.set_yticks(range(len(shares)), list(shares))
    axes.invert_yaxis()
    axes.set(xlabel="share of the time [%]", xlim=(0, 115))
    _plain(axes)


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
