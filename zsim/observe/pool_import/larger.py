"""Drives of a vdev that are larger than its smallest one: pools are often made larger drive by drive.

Until the last is replaced the vdev has the space of the smallest, and on the others the data lie on the first
part, which is the fastest of a disk.
"""

from __future__ import annotations

from collections.abc import Mapping

from zsim.base.units import format_drive_size_exactly
from zsim.drives.names import SHINGLED, SLOW
from zsim.observe.devices.models import Model
from zsim.observe.pool_import.find_drives import SAME_SIZE, drives_of, shown_tops
from zsim.observe.pool_import.finding import PoolOutputs
from zsim.observe.pool_import.gather import leaf_numbers, repairs
from zsim.observe.pool_import.layout import Tops

SOURCE = "names of the drives: larger than the smallest of their vdev"


def find_larger(outputs: PoolOutputs, tops: Tops) -> None:
    """Note the drives that are larger than the others of their vdev, and what replaces the last of those.

    Where those that are left are all larger, the one that is to come is taken to be one like them.
    """
    base, size = outputs.text("drive"), outputs.size("drive_size")
    larger = outputs.larger
    if not larger or size is None or outputs.named_size is None:
        return
    if abs(outputs.named_size / size - 1) > SAME_SIZE:
        return  # the smallest by name is not what the vdevs are made of
    numbers = leaf_numbers(tops, repairs(outputs))
    placed = {numbers[name][0]: model for name, model in larger.items() if name in numbers}
    stated = [_stated(number, model, base) for number, model in sorted(_known(placed).items())]
    if stated:
        outputs.find("exchanged", stated, SOURCE)
        _find_next(outputs, larger)


def _known(placed: Mapping[int | None, Model]) -> dict[int, Model]:
    return {number: model for number, model in placed.items() if number is not None}


def _stated(number: int, model: Model, base: str | None) -> str:
    """Return a drive as a scenario states it; a shingled one is only read, like a disk of 5400 rpm."""
    drive = SLOW if model.generic == SHINGLED else model.drive
    known = model.known and drive == model.drive
    size = "" if known or model.size is None else f"@{format_drive_size_exactly(model.size)}"
    return f"{number}:{'' if drive in (None, base) and size else drive or base or ''}{size}"


def _find_next(outputs: PoolOutputs, larger: Mapping[str, Model]) -> None:
    """Note the size of the drive that is to come, where none is shown and all that are left are larger."""
    drives = drives_of(shown_tops(outputs))
    sizes = [model.size for model in larger.values() if model.size]
    if outputs.value("operation") == "scrub" or drives.new or not drives.lost or not sizes:
        return
    if {*drives.old} - drives.lost <= {*larger} and outputs.value("target") is None:
        outputs.find("new_drive_size", min(sizes), "the other drives of the vdev have it", inferred=True)
