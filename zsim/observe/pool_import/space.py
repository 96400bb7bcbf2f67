"""How much a pool holds, how large its drives are, and whether the one fits the other."""

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
from zsim.observe.pool_import.finding import Evidence
from zsim.observe.pool_import.layout import Tops, pairs_of
from zsim.observe.pool_import.vdev_sizes import MIXED_SIZES, DataVdev, find_unequal, smallest_drive
from zsim.observe.texts import plain
from zsim.observe.zpool.listing import Space
from zsim.observe.zpool.scan import Scan, to_examine
from zsim.scenario.layout import Layout
from zsim.scenario.releases.capacity import MIN_DRIVE_BYTES, most_allocated, pool_size, vdev_asize
from zsim.vdevs.kind import NORMAL

LEAST_SHARE = 0.02
"""Share done below which what is resilvered tells nothing of the whole: it is printed with two digits."""


def find_space(evidence: Evidence, tops: Tops) -> None:
    """Note the size of the drives and how much is allocated."""
    total, source, rounded = _total(evidence, tops)
    alloc, alloc_source = _alloc(evidence, tops)
    if find_unequal(evidence, data_vdevs(evidence, tops), alloc):
        find_class_drives(evidence, tops)
        _find_sizes_of_new(evidence)
        return
    if total is not None:
        drive, nominal = _drive_for(evidence, tops, total, rounded)
        named = find_sizes(evidence, drive) if not any(vdev.asize for vdev in tops.vdevs) else None
        if named is not None and alloc_fits(tops, named, alloc, evidence):
            evidence.find("drive_size", named, f"{evidence.named_source}, as SIZE says")
        evidence.find("drive_size", drive, source, inferred=nominal)
        _note_mixed(evidence, tops)
    elif evidence.named_size is not None:
        _find_named_size(evidence, tops, alloc)
    if alloc is None and _listed_fill(evidence) is None:
        layout = Layout(tuple(tops.specs))
        alloc, alloc_source = resilvered_alloc(evidence, layout)
    size = _pool_size(evidence, tops)
    find_class_drives(evidence, tops)
    spaces = _spaces(evidence, tops)
    by_vdev = find_fills(evidence, [spaces[place] for place in tops.order] if spaces else [])
    if by_vdev:
        _find_sizes_of_new(evidence)
        return
    if alloc is None:
        _find_fill(evidence)
    elif size is not None and alloc > size and total is not None:
        evidence.find("fill", min(alloc / total, 1.0), alloc_source)
    elif alloc > 0:
        noted = evidence.size("drive_size")
        if noted is not None and evidence.value("operation") == "remove":
            # The other vdevs are emptier than the one that is removed, where they could not hold it.
            alloc = min(alloc, _most_allocated(evidence, tops, noted))
        evidence.find("alloc", alloc, alloc_source, inferred="resilver" in alloc_source)
    _find_sizes_of_new(evidence)


def _find_sizes_of_new(evidence: Evidence) -> None:
    _find_new_size(evidence)
    find_new_size(evidence)


def find_class_drives(evidence: Evidence, tops: Tops) -> None:
    """Note the size of the drives of vdevs that are not for data."""
    for vdev, spec, space in zip(tops.classes.vdevs, tops.classes.specs, tops.classes.spaces, strict=True):
        size = vdev.asize or (space.size if space is not None else None)
        if size:
            drive = smallest_drive([replace(spec, alloc_class=NORMAL)], size)
            usual = sold_as(drive)
            source = "SIZE of zpool list -v" if vdev.asize is None else "asize of zdb -C"
            evidence.find("special_drive_size", usual or drive, source, inferred=usual is not None)
            return
    find_special_size(evidence, tops.classes)


def alloc_fits(tops: Tops, drive: int, alloc: int | None, evidence: Evidence) -> bool:
    """Tell whether drives of a capacity hold what is allocated."""
    return alloc is None or alloc <= pool_size(Layout(tuple(tops.specs)), drive, evidence.release)


def _find_named_size(evidence: Evidence, tops: Tops, alloc: int | None) -> None:
    """Note the capacity that the names of the drives tell, unless what is allocated contradicts it."""
    named = evidence.named_size
    if named is None:
        return
    if alloc_fits(tops, named, alloc, evidence):
        evidence.find("drive_size", named, evidence.named_source)
        return
    evidence.notes.append(
        f"the drives have {format_both(named)} by their names, which do not hold the"
        f" {format_bytes(alloc or 0)} that are allocated: they are taken for others"
    )
    for name in ("drive", "new_drive"):
        evidence.findings.pop(name, None)
    evidence.named_size = None


def _listed_fill(evidence: Evidence) -> float | None:
    return evidence.listed.space.cap if evidence.listed is not None else None


def _find_fill(evidence: Evidence) -> None:
    cap = _listed_fill(evidence)
    if cap:
        evidence.find("fill", cap, "CAP of zpool list")


def _total(evidence: Evidence, tops: Tops) -> tuple[int | None, str, bool]:
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
    listed = evidence.listed
    if listed is None:
        size = evidence.files.metaslabs.size if evidence.files.metaslabs is not None else None
        return size, "metaslabs of zdb -m", False
    spaces = _spaces(evidence, tops)
    sizes = [space.size for space in spaces]
    if spaces and all(sizes):
        return sum(size or 0 for size in sizes), "SIZE of zpool list -v", not listed.exact
    return (
        (listed.space.size if tops.whole == len(tops.specs) else None),
        "SIZE of zpool list",
        not listed.exact,
    )


def _spaces(evidence: Evidence, tops: Tops) -> list[Space]:
    """Return what zpool list -v says about the vdevs of the layout; nothing if it shows other ones."""
    listed = evidence.listed
    if listed is None or len(listed.vdevs) != tops.whole:
        return []
    return [listed.vdevs[place][1] for place in tops.places]


def data_vdevs(evidence: Evidence, tops: Tops) -> list[DataVdev]:
    """Return the data vdevs in the order of the layout."""
    spaces: Sequence[Space | None] = _spaces(evidence, tops) or [None] * len(tops.specs)
    return [DataVdev(tops.vdevs[place], tops.specs[place], spaces[place]) for place in tops.order]


def _alloc(evidence: Evidence, tops: Tops) -> tuple[int | None, str]:
    """Return what is allocated [bytes] by the best output there is, and its name."""
    files, listed, status = evidence.files, evidence.listed, evidence.status
    allocs = [space.alloc for space in _spaces(evidence, tops)]
    per_vdev = sum(alloc or 0 for alloc in allocs) if allocs and None not in allocs else None
    scan = status.scan if status is not None else None
    known: tuple[tuple[int | None, str], ...] = (
        (per_vdev, "ALLOC of zpool list -v"),
        (listed.space.alloc if listed is not None else None, "ALLOC of zpool list"),
        (files.metaslabs.alloc if files.metaslabs is not None else None, "free space of zdb -m"),
        _of_scan(scan, len(tops.specs)),
        (files.pointers.allocated if files.pointers is not None else None, "sum of zdb -Lbbbbb"),
        (files.statistics.allocated if files.statistics is not None else None, "bp allocated of zdb -b"),
    )
    return next(((alloc, source) for alloc, source in known if alloc), (None, ""))


def _of_scan(scan: Scan | None, vdevs: int) -> tuple[int | None, str]:
    """Return what a scan says is allocated [bytes], and where that stands."""
    if scan is not None and scan.function == "remove":
        return to_examine(scan, vdevs), "what the removal has to copy, on every vdev"
    return to_examine(
        scan, vdevs
    ) if scan is not None else None, "what the scan of zpool status has to examine"


def _drive_for(evidence: Evidence, tops: Tops, total: int, rounded: bool) -> tuple[int, bool]:
    """Return the size of the drives that gives that space, and whether it was taken to a usual one."""
    drive = smallest_drive(tops.specs, total)
    if any(vdev.asize for vdev in tops.vdevs):
        return drive, False
    target = sold_as(drive)
    if target is None:
        return drive, False
    size = pool_size(Layout(tuple(tops.specs)), target, evidence.release)
    return (target, True) if rounded or abs(size - total) <= USUAL_WITHIN * total else (drive, False)


def _note_mixed(evidence: Evidence, tops: Tops) -> None:
    sizes = [vdev.asize for vdev in tops.vdevs]
    spaces = sizes if all(sizes) else [space.size for space in _spaces(evidence, tops)]
    leaves = [smallest_drive([spec], size) for spec, size in zip(tops.specs, spaces, strict=False) if size]
    if leaves and max(leaves) > min(leaves) * (1 + MIXED_SIZES):
        extremes = f"{format_both(min(leaves))} to {format_both(max(leaves))}"
        evidence.notes.append(
            f"the vdevs have drives of {extremes}: one size is taken that gives the same pool size"
        )


def _pool_size(evidence: Evidence, tops: Tops) -> int | None:
    drive = evidence.size("drive_size")
    return pool_size(Layout(tuple(tops.specs)), drive, evidence.release) if drive else None


def _most_allocated(evidence: Evidence, tops: Tops, drive: int) -> int:
    """Return how much may be allocated on drives of a size [bytes]: a removal that runs has room."""
    layout = Layout(tuple(tops.specs[place] for place in tops.order))
    return most_allocated(layout, drive, evidence.release, evidence.value("operation") == "remove")


def _find_new_size(evidence: Evidence) -> None:
    """Note the size of the drive that replaces, where an output shows it and it is larger."""
    drive = evidence.size("drive_size")
    tops = [vdev for vdev, _ in evidence.listed.vdevs] if evidence.listed is not None else []
    tops += list(evidence.status.vdevs) if evidence.status is not None else []
    new = [pair.children[-1].size for top in tops for pair in pairs_of(top)]
    sizes = [size for size in new if size]
    if drive and sizes and min(sizes) > drive * (1 + MIXED_SIZES) and evidence.value("target") is None:
        evidence.find("new_drive_size", min(sizes), "size of the successor that zpool prints")


def resilvered_alloc(evidence: Evidence, layout: Layout) -> tuple[int | None, str]:
    """Return what is allocated if all drives hold as much as one got in the last resilver [bytes].

    Returns
    -------
    tuple of (int or None, str)
        The bytes, and the words for where they are from.
    """
    last: Scan | None = None
    for status in evidence.statuses:
        for scan in status.scans:
            whole = scan.state == "finished" and scan.function != "scrub" and scan.repaired
            healed = is_heal(scan.repaired, PoolThen(None, None, evidence.named_size))
            last = scan if whole and not healed else last
    if last is None:
        return _by_share(evidence, layout)
    if not last.repaired or (evidence.named_size is None and last.repaired < 1 << 36):
        return None, ""
    spread = layout.spread
    date = f" on {plain(last.date)}" if last.date else ""
    return last.repaired * spread, f"as much on every drive as the resilver{date} put on one"


def _by_share(evidence: Evidence, layout: Layout) -> tuple[int | None, str]:
    """Return what is allocated if a resilver that runs goes on as its share says, and where that is from.

    Before pool version 28 a status has no total: a share, and bytes by drive.
    """
    for status in reversed(evidence.statuses):
        for scan in status.scans:
            if scan.function == "resilver" and scan.repaired and (scan.done or 0.0) >= LEAST_SHARE:
                done = float(scan.done or 1.0)
                words = f"{format_bytes(scan.repaired)} on a drive at {format_fraction(done)} of the resilver"
                return round(scan.repaired / done * layout.spread), words
    return None, ""
