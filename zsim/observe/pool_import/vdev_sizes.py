"""Vdevs whose drives differ in size: how large those of each vdev are, and how much each vdev holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zsim.base.units import format_both
from zsim.observe.devices.usual_sizes import usual_bytes
from zsim.observe.pool_import.find_drives import model_named
from zsim.observe.pool_import.finding import PoolOutputs
from zsim.observe.zpool.listing import Space
from zsim.observe.zpool.vdev_tree import Vdev
from zsim.scenario.layout import VdevSpec
from zsim.scenario.releases.capacity import (
    LABEL_END_BYTES,
    LABEL_START_BYTES,
    MIN_DRIVE_BYTES,
    vdev_asize,
    vdev_capacity,
)

MIXED_SIZES = 0.03
MIXED_FRAGS = 0.01
LARGEST_DRIVE = 1 << 58


@dataclass(frozen=True, slots=True)
class DataVdev:
    """One data vdev as the outputs show it; `space` is None without its row of ``zpool list -v``."""

    vdev: Vdev
    spec: VdevSpec
    space: Space | None


def smallest_drive(specs: Sequence[VdevSpec], total: int) -> int:
    """Return the smallest drive of which the vdevs have at least `total` bytes of address space together."""
    low, high = MIN_DRIVE_BYTES + LABEL_START_BYTES + LABEL_END_BYTES, LARGEST_DRIVE
    kinds = {spec: list(specs).count(spec) for spec in set(specs)}
    while low < high:
        middle = (low + high) // 2
        if sum(count * vdev_asize(spec, middle) for spec, count in kinds.items()) >= total:
            high = middle
        else:
            low = middle + 1
    return low


def find_unequal(outputs: PoolOutputs, vdevs: Sequence[DataVdev], alloc: int | None) -> bool:
    """Note how much each data vdev holds where their drives differ in size; tell whether it was noted.

    All vdevs are simulated with the largest drives, each with what it holds: by ``zpool list -v``, else by
    its share of the space, because the allocator prefers the emptier vdev (OpenZFS metaslab_bias_enabled).

    Parameters
    ----------
    outputs : PoolOutputs
    vdevs : sequence of DataVdev
        In the order of the layout.
    alloc : int or None
        Allocated in all of them [bytes].
    """
    if len(vdevs) < 2 or outputs.files.pointers is not None or outputs.files.metaslabs is not None:
        return False
    drives, source = _drives(outputs, vdevs)
    if not drives or max(drives) <= min(drives) * (1 + MIXED_SIZES):
        return False
    held, how = _held(vdevs, drives, alloc)
    largest = usual_bytes(max(drives))
    release = outputs.release
    sizes = [vdev_capacity(each.spec, largest, release).size for each in vdevs]
    fills = [bytes_ / size for bytes_, size in zip(held, sizes, strict=False)]
    if len(fills) < len(vdevs) or not all(0.0 < fill < 1.0 for fill in fills):
        return False
    outputs.find("drive_size", largest, source)
    outputs.find("vdev_fills", [round(fill, 3) for fill in fills], how)
    outputs.notes.append(
        f"the vdevs have drives of {format_both(min(drives))} to {format_both(max(drives))}: all are"
        f" simulated with drives of {format_both(largest)}, each vdev with what it holds ({how})"
    )
    return True


def alloc_as_repaired(outputs: PoolOutputs, vdevs: Sequence[DataVdev], wrote: float) -> int | None:
    """Return what is allocated if a resilver put so much on one drive and all vdevs are as full [bytes].

    Which vdev it was of nobody prints: of the drives that hold so much one of the smallest.

    Parameters
    ----------
    outputs : PoolOutputs
    vdevs : sequence of DataVdev
    wrote : float
        [bytes]

    Returns
    -------
    int or None
        None where the sizes of the drives are not known, or do not hold it.
    """
    drives, _ = _drives(outputs, vdevs)
    holding = [drive for drive in drives if drive >= wrote]
    if not holding:
        return None
    spaces = [vdev_asize(each.spec, drive) for each, drive in zip(vdevs, drives, strict=True)]
    return round(wrote / min(holding) * sum(spaces))


def find_frags(outputs: PoolOutputs, vdevs: Sequence[DataVdev]) -> bool:
    """Note FRAG of each data vdev, where they differ; tell whether it was noted.

    Where the drives of the vdevs differ in size it is not: they are simulated with drives of one size, so
    that vdevs of smaller ones have more free than in truth.

    Parameters
    ----------
    outputs : PoolOutputs
    vdevs : sequence of DataVdev
        In the order of the layout.
    """
    frags = [each.space.frag for each in vdevs if each.space is not None and each.space.frag is not None]
    if len(frags) < max(2, len(vdevs)) or max(frags) - min(frags) <= MIXED_FRAGS:
        return False
    drives, _ = _drives(outputs, vdevs)
    if drives and max(drives) > min(drives) * (1 + MIXED_SIZES):
        return False
    outputs.find("vdev_frags", [round(frag, 4) for frag in frags], "FRAG of zpool list -v")
    return True


def drive_sizes(outputs: PoolOutputs, vdevs: Sequence[DataVdev]) -> list[int]:
    """Return the size of the drives of each vdev [bytes]; nothing where one is not known."""
    return _drives(outputs, vdevs)[0]


def _drives(outputs: PoolOutputs, vdevs: Sequence[DataVdev]) -> tuple[list[int], str]:
    """Return the size of the drives of each vdev [bytes] and its source; nothing where one is not known."""
    spaces = [each.space.size if each.space is not None else None for each in vdevs]
    for sizes, source in (
        ([each.vdev.asize for each in vdevs], "asize of zdb -C"), (spaces, "SIZE of zpool list -v")
    ):  # fmt: skip
        if all(sizes):
            rows = zip(vdevs, sizes, strict=True)
            return [smallest_drive([each.spec], size or 0) for each, size in rows], source
    named = [_named(outputs, each.vdev) for each in vdevs]
    known = [size for size in named if size is not None]
    return (known, outputs.named_source) if len(known) == len(vdevs) else ([], "")


def _named(outputs: PoolOutputs, vdev: Vdev) -> int | None:
    """Return the capacity of the smallest drive of a vdev by their names [bytes]."""
    inventory = outputs.files.inventory()
    known = [identity for leaf in vdev.leaves() if (identity := inventory.of(leaf.name)) is not None]
    return min((size for each in known if (size := model_named(each).size)), default=None)


def _held(vdevs: Sequence[DataVdev], drives: Sequence[int], alloc: int | None) -> tuple[list[float], str]:
    """Return what each vdev holds [bytes], and where that is from; nothing where it is not known."""
    listed = [each.space.alloc if each.space is not None else None for each in vdevs]
    if all(each is not None for each in listed):
        return [float(each or 0) for each in listed], "ALLOC of zpool list -v"
    if not alloc:
        return [], ""
    spaces = [vdev_asize(each.spec, drive) for each, drive in zip(vdevs, drives, strict=True)]
    return [alloc * space / sum(spaces) for space in spaces], "ALLOC divided as their space is"
