"""How much a pool holds, how large its drives are, and whether the two are consistent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zsim.base.units import format_both, format_bytes, format_fraction
from zsim.observe.devices.usual_sizes import USUAL_WITHIN, sold_as
from zsim.observe.evidence.scans import PoolThen, is_heal
from zsim.observe.pool_import.classes import (
    find_fills,
    find_special_size,
)
from zsim.observe.pool_import.find_drives import find_new_size, find_sizes
from zsim.observe.pool_import.finding import PoolOutputs
from zsim.observe.pool_import.layout import Tops, pairs_of
from zsim.observe.pool_import.usable import size_by_datasets
from zsim.observe.pool_import.vdev_sizes import (
    MIXED_SIZES,
    DataVdev,
    alloc_as_repaired,
    drive_sizes,
    find_unequal,
    smallest_drive,
)
from zsim.observe.texts import plain
from zsim.observe.zpool.datasets import DatasetSpace, dataset_space
from zsim.observe.zpool.listing import Space
from zsim.observe.zpool.mounted import MountedSpace, mounted_fill
from zsim.observe.zpool.scan import Scan, to_examine
from zsim.observe.zpool.status import PoolStatus
from zsim.scenario.layout import Layout
from zsim.scenario.releases.capacity import MIN_DRIVE_BYTES, most_allocated, pool_size, vdev_asize
from zsim.vdevs.kind import NORMAL

LEAST_SHARE = 0.001
"""Share done below which what is resilvered tells nothing of the whole: it is printed in steps of 0.0001."""


def find_space(outputs: PoolOutputs, tops: Tops) -> None:
    """Note the size of the drives and how much is allocated."""
    total, source, rounded = _total(outputs, tops)
    alloc, alloc_source = _alloc(outputs, tops)
    layout = Layout(tuple(tops.specs))
    guessed, guess_source = None, ""
    if alloc is None and _listed_fill(outputs) is None:
        guessed, guess_source = resilvered_alloc(outputs, layout)
    vdevs = data_vdevs(outputs, tops)
    uneven = alloc_as_repaired(outputs, vdevs, guessed / layout.spread) if guessed else None
    if find_unequal(outputs, vdevs, alloc or uneven):
        find_class_drives(outputs, tops)
        _find_sizes_of_new(outputs)
        return
    if total is not None:
        drive, nominal = _drive_for(outputs, tops, total, rounded)
        named = find_sizes(outputs, drive) if not any(vdev.asize for vdev in tops.vdevs) else None
        if named is not None and alloc_fits(tops, named, alloc, outputs):
            outputs.find("drive_size", named, f"{outputs.named_source}, as SIZE says")
        outputs.find("drive_size", drive, source, inferred=nominal)
        _note_mixed(outputs, tops)
    elif outputs.named_size is not None:
        if alloc is None and guessed is None and outputs.value("operation") in (None, "resilver", "rebuild"):
            _take_repaired(outputs, vdevs)
        _find_named_size(outputs, tops, alloc)
    if alloc is None:
        alloc, alloc_source = guessed, guess_source
    size = _pool_size(outputs, tops)
    find_class_drives(outputs, tops)
    spaces = _spaces(outputs, tops)
    by_vdev = find_fills(outputs, [spaces[place] for place in tops.order] if spaces else [])
    if by_vdev:
        _find_sizes_of_new(outputs)
        return
    if alloc is None:
        _find_fill(outputs)
    elif size is not None and alloc > size and total is not None:
        outputs.find("fill", min(alloc / total, 1.0), alloc_source)
    elif alloc > 0:
        _find_alloc(outputs, tops, alloc, alloc_source)
    _find_sizes_of_new(outputs)


def _find_alloc(outputs: PoolOutputs, tops: Tops, alloc: int, source: str) -> None:
    """Note how much is allocated [bytes]."""
    drive = outputs.size("drive_size")
    if drive is not None and outputs.value("operation") == "remove":
        # The other vdevs are emptier than the one that is removed, where they could not hold it.
        alloc = min(alloc, _most_allocated(outputs, tops, drive))
    outputs.find("alloc", alloc, source, inferred="resilver" in source)


def _find_sizes_of_new(outputs: PoolOutputs) -> None:
    _find_new_size(outputs)
    find_new_size(outputs)


def find_class_drives(outputs: PoolOutputs, tops: Tops) -> None:
    """Note the size of the drives of vdevs that are not for data."""
    for vdev, spec, space in zip(tops.classes.vdevs, tops.classes.specs, tops.classes.spaces, strict=True):
        size = vdev.asize or (space.size if space is not None else None)
        if size:
            drive = smallest_drive([replace(spec, alloc_class=NORMAL)], size)
            usual = sold_as(drive)
            source = "SIZE of zpool list -v" if vdev.asize is None else "asize of zdb -C"
            outputs.find("special_drive_size", usual or drive, source, inferred=usual is not None)
            return
    find_special_size(outputs, tops.classes)


def _take_repaired(outputs: PoolOutputs, vdevs: Sequence[DataVdev]) -> None:
    """Take the drives of the vdev that is repaired, where by their names those of others are smaller.

    How full the pool is nobody knows here, so that all vdevs are equally full.
    """
    drives = drive_sizes(outputs, vdevs)
    if drives and drives[0] > min(drives) * (1 + MIXED_SIZES):
        outputs.named_size = drives[0]
        outputs.notes.append(
            f"the vdevs have drives of {format_both(min(drives))} to {format_both(max(drives))} by their"
            f" names: those of {plain(vdevs[0].vdev.name)}, {format_both(drives[0])}, are taken for all"
        )


def alloc_fits(tops: Tops, drive: int, alloc: int | None, outputs: PoolOutputs) -> bool:
    """Tell whether drives of a capacity hold what is allocated."""
    return alloc is None or alloc <= pool_size(Layout(tuple(tops.specs)), drive, outputs.release)


def _find_named_size(outputs: PoolOutputs, tops: Tops, alloc: int | None) -> None:
    """Note the capacity that the names of the drives tell, unless what is allocated contradicts it."""
    named = outputs.named_size
    if named is None:
        return
    if alloc_fits(tops, named, alloc, outputs):
        outputs.find("drive_size", named, outputs.named_source)
        return
    larger = next((size for size in outputs.named_sizes if alloc_fits(tops, size, alloc, outputs)), None)
    if larger is not None:
        outputs.notes.append(
            f"drives of {format_both(named)}, the smallest by their names, do not hold the"
            f" {format_bytes(alloc or 0)} that are allocated: {format_both(larger)} is taken, as others have"
        )
        outputs.named_size = larger
        outputs.find("drive_size", larger, outputs.named_source)
        return
    outputs.notes.append(
        f"the drives have {format_both(named)} by their names, which do not hold the"
        f" {format_bytes(alloc or 0)} that are allocated: these names are ignored"
    )
    for name in ("drive", "new_drive"):
        outputs.findings.pop(name, None)
    outputs.named_size = None


def _listed_fill(outputs: PoolOutputs) -> float | None:
    return outputs.listed.space.cap if outputs.listed is not None else None


def _find_fill(outputs: PoolOutputs) -> None:
    cap = _listed_fill(outputs)
    if cap:
        outputs.find("fill", cap, "CAP of zpool list")
        return
    name = outputs.status.name if outputs.status is not None else ""
    held = _held_by_datasets(outputs)
    if held is not None:
        outputs.find("fill", round(held.used / (held.used + held.available), 3), "zfs list", inferred=True)
        outputs.notes.append(
            f"how full {plain(name)} is was taken from USED and AVAIL of zfs list, with what is reserved:"
            " zpool list shows it"
        )
        return
    share = mounted_fill(outputs.files.of(MountedSpace), name)
    if share is not None:
        outputs.find("fill", round(min(share, 1.0), 3), "df", inferred=True)
        outputs.notes.append(
            f"how full {plain(name)} is was taken from df, {format_fraction(share)}, which leaves out"
            " snapshots and datasets that are not mounted: zpool list shows it"
        )


def _total(outputs: PoolOutputs, tops: Tops) -> tuple[int | None, str, bool]:
    """Return the address space of the vdevs [bytes], its source, and whether it is of three digits."""
    asizes = [vdev.asize for vdev in tops.vdevs]
    if all(asizes):
        return sum(asize or 0 for asize in asizes), "asize of zdb -C", False
    leaves = [leaf.size for vdev in tops.vdevs for leaf in vdev.leaves() if leaf.size]
    if leaves:
        return (
            sum(vdev_asize(spec, max(min(leaves), MIN_DRIVE_BYTES)) for spec in tops.specs),
            "zpool status -j",
            False,
        )
    listed = outputs.listed
    if listed is None:
        return _unlisted_total(outputs, tops)
    spaces = _spaces(outputs, tops)
    sizes = [space.size for space in spaces]
    if spaces and all(sizes):
        return sum(size or 0 for size in sizes), "SIZE of zpool list -v", not listed.exact
    return (
        (listed.space.size if tops.whole == len(tops.specs) else None),
        "SIZE of zpool list",
        not listed.exact,
    )


def _unlisted_total(outputs: PoolOutputs, tops: Tops) -> tuple[int | None, str, bool]:
    """Return the address space of the vdevs as other outputs than ``zpool list`` show it; see `_total`."""
    metaslabs, seen, status = outputs.files.metaslabs, outputs.seen_space, outputs.status
    if metaslabs is not None:
        return metaslabs.size, "metaslabs of zdb -m", False
    shown = status is None or status.complete or not status.vdevs
    whole = shown and tops.whole == len(tops.specs) and outputs.named_size is None
    if seen is not None:
        return seen.space.size if whole else None, "alloc and free of zpool iostat", True
    held = _held_by_datasets(outputs)
    size = size_by_datasets(Layout(tuple(tops.specs)), held, outputs.release) if held and whole else None
    return size, "USED and AVAIL of zfs list", True


def _held_by_datasets(outputs: PoolOutputs) -> DatasetSpace | None:
    """Return what the datasets of the pool hold, unless it had another name before."""
    if outputs.status is None or any(each.renamed for each in outputs.statuses):
        return None
    return dataset_space(outputs.files.of(DatasetSpace), outputs.status.name)


def _spaces(outputs: PoolOutputs, tops: Tops) -> list[Space]:
    """Return what zpool list -v says about the vdevs of the layout; nothing if it shows other ones."""
    listed = outputs.listed
    if listed is None or len(listed.vdevs) != tops.whole:
        return []
    return [listed.vdevs[place][1] for place in tops.places]


def data_vdevs(outputs: PoolOutputs, tops: Tops) -> list[DataVdev]:
    """Return the data vdevs in the order of the layout."""
    spaces: Sequence[Space | None] = _spaces(outputs, tops) or [None] * len(tops.specs)
    return [DataVdev(tops.vdevs[place], tops.specs[place], spaces[place]) for place in tops.order]


def _alloc(outputs: PoolOutputs, tops: Tops) -> tuple[int | None, str]:
    """Return what is allocated [bytes] by the best output there is, and its name."""
    files, listed, status, seen = outputs.files, outputs.listed, outputs.status, outputs.seen_space
    allocs = [space.alloc for space in _spaces(outputs, tops)]
    per_vdev = sum(alloc or 0 for alloc in allocs) if allocs and None not in allocs else None
    scan = status.scan if status is not None else None
    known: tuple[tuple[int | None, str], ...] = (
        (per_vdev, "ALLOC of zpool list -v"),
        (listed.space.alloc if listed is not None else None, "ALLOC of zpool list"),
        (files.metaslabs.alloc if files.metaslabs is not None else None, "free space of zdb -m"),
        _of_scan(scan, len(tops.specs)),
        (files.pointers.allocated if files.pointers is not None else None, "sum of zdb -Lbbbbb"),
        (files.statistics.allocated if files.statistics is not None else None, "bp allocated of zdb -b"),
        (seen.space.alloc if seen is not None else None, "alloc of zpool iostat"),
        (_expanded(status) if tops.whole == 1 else None, "what the last expansion copied"),
    )
    return next(((alloc, source) for alloc, source in known if alloc), (None, ""))


def _expanded(status: PoolStatus | None) -> int | None:
    """Return what was allocated on a vdev when its last expansion ended [bytes]."""
    return status.expansion.copied if status is not None and status.expansion is not None else None


def _of_scan(scan: Scan | None, vdevs: int) -> tuple[int | None, str]:
    """Return what a scan says is allocated [bytes], and where that stands."""
    if scan is not None and scan.function == "remove":
        return to_examine(scan, vdevs), "what the removal has to copy, on every vdev"
    return to_examine(
        scan, vdevs
    ) if scan is not None else None, "what the scan of zpool status has to examine"


def _drive_for(outputs: PoolOutputs, tops: Tops, total: int, rounded: bool) -> tuple[int, bool]:
    """Return the size of the drives that gives that space, and whether it was taken to a usual one."""
    drive = smallest_drive(tops.specs, total)
    if any(vdev.asize for vdev in tops.vdevs):
        return drive, False
    target = sold_as(drive)
    if target is None:
        return drive, False
    size = pool_size(Layout(tuple(tops.specs)), target, outputs.release)
    return (target, True) if rounded or abs(size - total) <= USUAL_WITHIN * total else (drive, False)


def _note_mixed(outputs: PoolOutputs, tops: Tops) -> None:
    sizes = [vdev.asize for vdev in tops.vdevs]
    spaces = sizes if all(sizes) else [space.size for space in _spaces(outputs, tops)]
    leaves = [smallest_drive([spec], size) for spec, size in zip(tops.specs, spaces, strict=False) if size]
    if leaves and max(leaves) > min(leaves) * (1 + MIXED_SIZES):
        extremes = f"{format_both(min(leaves))} to {format_both(max(leaves))}"
        outputs.notes.append(
            f"the vdevs have drives of {extremes}: one size is taken that gives the same pool size"
        )


def _pool_size(outputs: PoolOutputs, tops: Tops) -> int | None:
    drive = outputs.size("drive_size")
    return pool_size(Layout(tuple(tops.specs)), drive, outputs.release) if drive else None


def _most_allocated(outputs: PoolOutputs, tops: Tops, drive: int) -> int:
    """Return how much may be allocated on drives of a size [bytes]: a removal that runs has room."""
    layout = Layout(tuple(tops.specs[place] for place in tops.order))
    return most_allocated(layout, drive, outputs.release, outputs.value("operation") == "remove")


def _find_new_size(outputs: PoolOutputs) -> None:
    """Note the size of the drive that replaces, where an output shows it and it is larger."""
    drive = outputs.size("drive_size")
    tops = [vdev for vdev, _ in outputs.listed.vdevs] if outputs.listed is not None else []
    tops += list(outputs.status.vdevs) if outputs.status is not None else []
    new = [pair.children[-1].size for top in tops for pair in pairs_of(top)]
    sizes = [size for size in new if size]
    if drive and sizes and min(sizes) > drive * (1 + MIXED_SIZES) and outputs.value("target") is None:
        outputs.find("new_drive_size", min(sizes), "size of the successor that zpool prints")


def resilvered_alloc(outputs: PoolOutputs, layout: Layout) -> tuple[int | None, str]:
    """Return what is allocated if all drives hold as much as one got in the last resilver [bytes].

    Returns
    -------
    tuple of (int or None, str)
        The bytes, and the words for where they are from.
    """
    last: Scan | None = None
    for status in outputs.statuses:
        for scan in status.scans:
            whole = scan.state == "finished" and scan.function != "scrub" and scan.repaired
            healed = is_heal(scan.repaired, PoolThen(None, None, outputs.named_size))
            last = scan if whole and not healed else last
    if last is None:
        return _by_share(outputs, layout)
    if not last.repaired or (outputs.named_size is None and last.repaired < 1 << 36):
        return None, ""
    spread = layout.spread
    date = f" on {plain(last.date)}" if last.date else ""
    return last.repaired * spread, f"as much on every drive as the resilver{date} put on one"


def _by_share(outputs: PoolOutputs, layout: Layout) -> tuple[int | None, str]:
    """Return what is allocated if a resilver that runs goes on as its share says, and where that is from.

    Before pool version 28 a status has no total: a share, and bytes by drive.
    """
    for status in reversed(outputs.statuses):
        for scan in status.scans:
            if scan.function == "resilver" and scan.repaired and (scan.done or 0.0) >= LEAST_SHARE:
                done = float(scan.done or 1.0)
                if is_heal(scan.repaired, PoolThen(None, None, outputs.named_size), done):
                    return None, ""
                words = f"{format_bytes(scan.repaired)} on a drive at {format_fraction(done)} of the resilver"
                return round(scan.repaired / done * layout.spread), words
    return None, ""
