"""What all pictures share: palette, file formats, light and dark.

This module is imported when something is drawn, because matplotlib is slow to import.  Figures are made
without pyplot: no global state, no window, and the same file byte for byte for the same prediction.
"""

from __future__ import annotations

import io
import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from zsim.base.errors import printable
from zsim.base.files import check_ending, replace_file
from zsim.prediction.answer.tables import wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Fonts for formulas are not always installed; what stands in for them is as good.
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)

FORMATS = (".svg", ".png", ".pdf")
INK, ACCENT, PALE = "#333333", "#0b6e99", "#c9dde6"
DARK_INK, DARK_GROUND = "#d8dde3", "#16191d"
DARK_COLOURS = {ACCENT: "#4fb3dd", INK: DARK_INK, "#0072b2": "#3d9ad6"}
"""Colours too dark on a dark ground, and what takes their place."""
BAND = 0.25
"""How opaque a band is: seen on a light ground and on a dark one."""
LETTERS = 10.0
"""Points of ticks, legends and labels: 8 px or more on a page of 420 px, where a figure is `WIDTH` wide."""
TITLE, HEADLINE = 10.5, 11.5
WIDTH = 6.4
"""Of a figure [inches]."""
WIDEST = 74
"""Letters of a headline on such a figure."""
BUILD_DATE = "SOURCE_DATE_EPOCH"
RGBA = 4
INKS = (INK, "#000000")
"""Colours of text that a dark ground would swallow."""
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


def themed(drawn: Picture, dark: bool) -> Picture:
    """Return a figure with light ink on a dark ground, if that is asked for."""
    if not dark:
        return drawn
    drawn.set_facecolor(DARK_GROUND)
    for text in drawn.findobj(Text):
        if mpl.colors.to_hex(text.get_color()) in INKS:
            text.set_color(DARK_INK)
    for line in drawn.findobj(Line2D):
        line.set_color(DARK_COLOURS.get(mpl.colors.to_hex(line.get_color()), line.get_color()))
    for shape in drawn.findobj(lambda each: isinstance(each, Patch | Collection)):
        if isinstance(shape, Patch | Collection):
            _brighten(shape)
    for axes in drawn.axes:
        axes.set_facecolor(DARK_GROUND)
        for spine in axes.spines.values():
            spine.set_edgecolor(DARK_INK)
        axes.tick_params(colors=DARK_INK, which="both")
    return drawn


def _brighten(shape: Patch | Collection) -> None:
    """Give a shape the colour that is seen on a dark ground; as opaque as it is."""
    found = np.ravel(np.asarray(shape.get_facecolor(), dtype=float))
    if found.size < RGBA:
        return
    red, green, blue, alpha = found[:RGBA].tolist()
    colour = mpl.colors.to_hex((red, green, blue))
    if colour in DARK_COLOURS:
        shape.set_facecolor(mpl.colors.to_rgba(DARK_COLOURS[colour], alpha))


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
    for text in drawn.findobj(Text):
        assert isinstance(text, Text)
        text.set_text("\n".join(map(printable, text.get_text().split("\n"))))
    metadata = {"Date": None} if form == "svg" else {"CreationDate": None} if form == "pdf" else None
    with (
        mpl.rc_context({"svg.hashsalt": "zsim", "svg.fonttype": "none"}),
        _without(BUILD_DATE),
        warnings.catch_warnings(),
    ):
        # Names of pools may be in any writing; a sign that the font lacks is drawn as a box.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        drawn.savefig(stream, format=form, metadata=metadata)
    return stream.getvalue()


@contextmanager
def _without(name: str) -> Iterator[None]:
    """Take a variable out of the environment for a moment: matplotlib stops at a date that is none."""
    kept = os.environ.pop(name, None)
    try:
        yield
    finally:
        if kept is not None:
            os.environ[name] = kept


def headed(drawn: Figure, text: str) -> None:
    """Set the headline of a figure at the left, in lines that fit its width."""
    lines = wrapped(text, int(WIDEST * drawn.get_figwidth() / WIDTH))
    drawn.suptitle(lines, fontsize=HEADLINE, color=INK, x=0.01, ha="left")


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows of a panel from 0 on; labels of ticks are made anew while drawing, past `render`."""
    axes.set_yticks(range(len(names)), [printable(name) for name in names])


def key(axes: Axes) -> None:
    """Add a legend where it hides least."""
    axes.legend(loc="best", frameon=False, fontsize=LETTERS, labelcolor=INK)


def key_below(drawn: Figure, axes: Axes, columns: int) -> None:
    """Add a legend of one panel below the whole figure."""
    handles, labels = axes.get_legend_handles_labels()
    drawn.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=LETTERS,
        labelcolor=INK, columnspacing=1.0, handlelength=1.6,
    )  # fmt: skip


def plain(axes: Axes, title: str = "") -> None:
    """Take frame and boldness off a panel, and set its title at the left."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.tick_params(labelsize=LETTERS, colors=INK)
    axes.xaxis.label.set(color=INK, fontsize=LETTERS)
    axes.yaxis.label.set(color=INK, fontsize=LETTERS)
    if title:
        axes.set_title(title, fontsize=TITLE, color=INK, loc="left")


def bars(axes: Axes, names: Sequence[str], shares: Sequence[float], colours: Sequence[str]) -> None:
    """Draw shares of one as bars with their percentages, the first on top."""
    drawn = axes.barh(range(len(names)), [100 * share for share in shares], color=colours)
    axes.bar_label(drawn, fmt="%.0f %%", padding=3, fontsize=LETTERS, color=INK)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set(xlim=(0, 118))
