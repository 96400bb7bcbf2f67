"""The answer of `zsim.eta` as a picture: what is gone, the interval of the end, and zpool's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zsim.planning.eta.records import EtaAnswer

if TYPE_CHECKING:
    from zsim.prediction.answer.drawing import Picture

HOUR = 3600.0


def figure(answer: EtaAnswer) -> Picture:
    """Return a matplotlib figure."""
    from zsim.prediction.answer.drawing import Picture

    drawn = Picture(figsize=(7.0, 1.8), layout="constrained")
    axes = drawn.subplots()
    gone = (answer.elapsed_s or 0.0) / HOUR
    low, middle, high = (
        gone + each / HOUR
        for each in (answer.remaining_s.p10, answer.remaining_s.p50, answer.remaining_s.p90)
    )
    axes.barh([0], [gone], color="tab:blue", label="elapsed")
    axes.barh([0], [high - low], left=[low], color="tab:orange", alpha=0.4, label="done, 80 % interval")
    axes.axvline(middle, color="tab:orange", label="done, median")
    if answer.zpool_remaining_s is not None:
        axes.axvline(
            gone + answer.zpool_remaining_s / HOUR, color="grey", linestyle="--", label="zpool status"
        )
    axes.set(yticks=[], xlabel="hours since the scan began", xlim=(0.0, None))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.45), ncols=4, frameon=False, fontsize="small")
    return drawn
