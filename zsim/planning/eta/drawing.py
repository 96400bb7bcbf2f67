"""The picture of `zsim.eta`: time elapsed, the interval of the end, and zpool's estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zsim.planning.eta.records import EtaAnswer

if TYPE_CHECKING:
    from zsim.prediction.answer.drawing import Picture


def figure(answer: EtaAnswer) -> Picture:
    """Return a matplotlib figure."""
    from zsim.base.units import format_duration
    from zsim.prediction.answer.drawing import (
        ACCENT,
        BAND,
        CAUSES,
        WIDTH,
        Picture,
        headed,
        key_below,
        plain,
        time_unit,
    )

    drawn = Picture(figsize=(WIDTH, 2.6), layout="constrained")
    axes = drawn.subplots()
    left, gone = answer.remaining_s, answer.elapsed_s or 0.0
    size, unit = time_unit(gone + left.p90)
    axes.barh([0], [gone / size], color=ACCENT, label="elapsed")
    axes.barh([0], [(left.p90 - left.p10) / size], left=[(gone + left.p10) / size], color=ACCENT, alpha=BAND,
              label="done: p10 to p90")  # fmt: skip
    axes.axvline((gone + left.p50) / size, color=ACCENT, label="done: median")
    if answer.zpool_remaining_s is not None:
        end = (gone + answer.zpool_remaining_s) / size
        axes.axvline(end, color=CAUSES[5], linestyle="--", label="done, as zpool status has it")
    axes.set(yticks=[], xlabel=f"time since the scan began [{unit}]", xlim=(0.0, None))
    plain(axes)
    axes.spines["left"].set_visible(False)
    key_below(drawn, axes, 2)
    name = f"{answer.pool}: " if answer.pool else ""
    headed(drawn, f"{name}{format_duration(left.p50)} to go")
    return drawn
