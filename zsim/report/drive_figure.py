"""The picture of a drive: zone profile, seek curve, random reads per second by queue depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zsim.base.units import format_drive_size
from zsim.drives.derived import rate_profile, seek_profile
from zsim.drives.models.model import DriveModel
from zsim.drives.models.parameters import DriveParameters
from zsim.engine.single_drive import iops_by_depth
from zsim.prediction.answer.drawing import ACCENT, BAND, WIDTH, Picture, headed, key, plain, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["drive_figure", "save"]


def drive_figure(drive: DriveModel) -> Picture:
    """Return the figure of a drive; flash has no seek curve."""
    parameters = drive.parameters()
    panels = 2 if parameters.kind == "flash" else 3
    drawn = Picture(figsize=(WIDTH, 2.4 * panels + 0.5), layout="constrained")
    axes = drawn.subplots(panels, 1)
    _draw_rates(axes[0], drive, parameters)
    if parameters.kind == "mechanical":
        _draw_seeks(axes[1], parameters)
    _draw_depths(axes[-1], parameters)
    size = format_drive_size(drive.capacity_bytes)
    name = f"{drive.vendor} {drive.model}"
    title = name if size in name else f"{name}, {size}"
    headed(drawn, title)
    return drawn


def _draw_rates(axes: Axes, drive: DriveModel, parameters: DriveParameters) -> None:
    x, rates = rate_profile(parameters)
    axes.plot(x * drive.capacity_bytes / 1e12, rates / 1e6, color=ACCENT, drawstyle="steps-mid")
    spread = drive.spread().outer_rate
    if spread > 0:
        low, high = rates * (1 - spread) / 1e6, rates * (1 + spread) / 1e6
        axes.fill_between(
            x * drive.capacity_bytes / 1e12, low, high, color=ACCENT, alpha=BAND, step="mid", lw=0
        )
    _label(axes, "Sequential read", "place on the drive [TB]", "rate [MB/s]")


def _draw_seeks(axes: Axes, parameters: DriveParameters) -> None:
    distance, seconds = seek_profile(parameters)
    axes.plot(distance, seconds * 1e3, color=ACCENT)
    _label(axes, "Seek", "distance [fraction of the stroke]", "time [ms]")


def _draw_depths(axes: Axes, parameters: DriveParameters) -> None:
    for size, name, style in ((4096, "4K", "o-"), (131072, "128K", "s--")):
        by_depth = iops_by_depth(parameters, size)
        axes.plot(list(by_depth), list(by_depth.values()), style, color=ACCENT, label=name, ms=4)
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(by_depth), [str(depth) for depth in by_depth])
    key(axes)
    _label(axes, "Random reads", "requests outstanding", "reads per second")


def _label(axes: Axes, title: str, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_ylim(bottom=0)
    plain(axes, title)
