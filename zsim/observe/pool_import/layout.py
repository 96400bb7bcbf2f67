"""The layout of a pool, what is being replaced in it, and how large its drives are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from zsim.base.errors import InputError
from zsim.base.units import format_both, format_bytes
from zsim.observe.evidence.scans import resilvered_together
from zsim.observe.pool_import.assumed import (
    assumed_vdevs,
    assumed_words,
    hidden_vdevs,
    usual,
    with_drives,
)
from zsim.observe.pool_import.classes import (
    ClassTops,
    find_fills,
    find_special_drive,
    find_special_repair,
    find_special_size,
)
from zsim.observe.pool_import.find_drives import USUAL_GB, find_new_size, find_sizes
from zsim.observe.pool_import.finding import Evidence
from zsim.observe.pool_import.resilvered import resilvered_alloc
from zsim.observe.pool_import.vdev_sizes import MIXED_SIZES, DataVdev, find_unequal, smallest_drive
from zsim.observe.texts import plain
from zsim.observe.zpool.listing import Space
from zsim.observe.zpool.scan import Scan, to_examine
from zsim.observe.zpool.vdev_tree import GROUPS, PAIRS, Vdev, repaired_pair, spec_of
from zsim.scenario.layout import MAX_CHILDREN, Layout, VdevSpec
from zsim.scenario.releases.capacity import MIN_DRIVE_BYTES, most_allocated, pool_size, vdev_asize
from zsim.scenario.releases.profile import DEFAULT_RELEASE, load_release
from zsim.vdevs.kind import NORMAL, kind_of

NOMINAL_WITHIN = 0.015
LAYOUT_REMEDY = "add the output of zpool status or zdb -C for the pool"
_ID = re.compile(r"-(\d{1,6})\Z", re.ASCII)
_GONE = frozenset(("UNAVAIL", "FAULTED", "OFFLINE", "REMOVED"))


class Tops:
    """Top-level vdevs of the layout.

    Attributes
    ----------
    vdevs : list of Vdev
        Those with redundancy.
    specs : list of VdevSpec
    places : list of int
        Their places among all top-level vdevs of the output.
    order : list of int
        Of these, as they stand in the layout: the one being repaired first.
    classes : ClassTops
        Those that are not for data, which stand behind.
    source : str
    """

    def __init__(self, vdevs: Sequence[Vdev], source: str, evidence: Evidence) -> None:
        # Single drives hold their share of the data; of a pool of such alone nothing is resilvered.
        with_disks = _is_scrubbed(evidence, vdevs) or any(vdev.children for vdev in vdevs)
        self.vdevs: list[Vdev] = []
        self.specs: list[VdevSpec] = []
        self.places: list[int] = []
        self.order: list[int] = []
        self.source = source
        self.whole = len(vdevs)
        cut = source == "zpool status" and evidence.status is not None and not evidence.status.complete
        for place, vdev in enumerate(vdevs):
            whole = _like_the_others(vdevs, evidence) if cut and place == len(vdevs) - 1 else vdev
            whole = _with_elided(whole, evidence) if source == "zpool status" else whole
            try:
                spec = spec_of(whole, with_disks=with_disks)
            except InputError as error:
                refused = _refused(vdev, error.allowed, source, evidence, cut)
                completed = _with_usual(vdev, refused, evidence)
                if completed is None:
                    raise refused from error
                whole, spec = completed, spec_of(completed)
            evidence.notes += _left_out(vdev, spec, source)
            if spec is None:
                continue
            self.vdevs.append(whole if whole.drives > vdev.drives else vdev)
            self.specs.append(_as_grown(spec, vdev, place, evidence))
            self.places.append(place)
        self.order = list(range(len(self.specs)))
        self.classes = ClassTops(evidence)
        if not self.specs:
            raise InputError("layout", None, f"{source} shows no vdev that holds data", LAYOUT_REMEDY)

    @property
    def ids(self) -> list[int]:
        """Number of each vdev of the layout in addresses, the end of its name (vdev.c:vdev_name)."""
        vdevs = [*(self.vdevs[place] for place in self.order), *self.classes.vdevs]
        numbers = [self.places[place] for place in self.order]
        numbers += range(self.whole, self.whole + len(self.classes.vdevs))
        found = [_ID.search(vdev.name) for vdev in vdevs]
        ids = [int(match[1]) if match else number for match, number in zip(found, numbers, strict=True)]
        return ids if len(set(ids)) == len(ids) else numbers

    @property
    def uniform(self) -> bool:
        """Whether all are alike."""
        return len(set(self.specs)) == 1


def _refused(vdev: Vdev, reason: str, source: str, evidence: Evidence, cut: bool) -> InputError:
    """Return why a vdev as shown can be none: drives are missing from the output."""
    remedy = LAYOUT_REMEDY
    if source == "zpool status" and evidence.status is not None and evidence.status.unhealthy_only:
        reason, remedy = "no healthy drive is shown", "give zpool status without -e, which leaves those out"
    elif cut:
        reason = f"{source} is cut off: no more than {vdev.drives} of its drives are shown"
    else:
        reason = f"{source} shows {vdev.drives} {'drive' if vdev.drives == 1 else 'drives'}: {reason}"
    return InputError(f"vdev {plain(vdev.name)}", None, reason, remedy)


def _with_elided(vdev: Vdev, evidence: Evidence) -> Vdev:
    """Return a vdev with drives that somebody has left out of a paste, as the names of its pairs tell."""
    status = evidence.status
    scan = status.scan if status is not None and not status.unhealthy_only else None
    if not vdev.drives < vdev.at_least <= MAX_CHILDREN or vdev.width or scan is None:
        return vdev
    whole = with_drives(vdev, scan, vdev.at_least)
    evidence.notes.append(
        f"NOT KNOWN: how many drives {plain(vdev.name)} has: {vdev.drives} are shown, and by the name of a"
        f" pair there are {vdev.at_least} at least. {whole.drives} are assumed: give the whole of zpool"
        " status"
    )
    return whole


def _with_usual(vdev: Vdev, refused: InputError, evidence: Evidence) -> Vdev | None:
    """Return a vdev of which drives are not shown with as many as is usual; None where no scan runs on it."""
    scan = evidence.status.scan if evidence.status is not None else None
    if scan is None or not scan.active:
        return None
    whole = usual(vdev, scan)
    evidence.notes.append(
        f"NOT KNOWN: how many drives {plain(vdev.name)} has ({refused.allowed}). {whole.drives} are assumed:"
        f" {refused.remedy}"
    )
    return whole


def _left_out(vdev: Vdev, spec: VdevSpec | None, source: str) -> list[str]:
    """Return what is to be said of drives that the layout or the output leaves out."""
    if spec is None:
        return [f"the single drive {plain(vdev.name)} is left out: nothing to resilver from"]
    if vdev.left_out:
        shown = f"{vdev.drives} of the {vdev.width} drives of {plain(vdev.name)}"
        return [f"{source} shows {shown}: the others are taken to be healthy"]
    return []


def _like_the_others(vdevs: Sequence[Vdev], evidence: Evidence) -> Vdev:
    """Return the last vdev of an output that is cut off, or one before it that it must be like."""
    last = vdevs[-1]
    wider = [
        each
        for each in vdevs[:-1]
        if (each.kind, each.parity, each.data) == (last.kind, last.parity, last.data)
        and each.drives > last.drives
    ]
    if not wider:
        return last
    evidence.notes.append(
        f"zpool status is cut off inside {plain(last.name)}: it is taken to have as many drives as"
        f" {plain(wider[-1].name)}, {wider[-1].drives}"
    )
    return wider[-1]


def _as_grown(spec: VdevSpec, vdev: Vdev, place: int, evidence: Evidence) -> VdevSpec:
    """Return a RAID-Z that was expanded as such, and one that is being expanded as it was before."""
    kind = kind_of(spec.kind)
    if not kind.expanded:
        return spec
    config, found = evidence.config, evidence.status.expansion if evidence.status is not None else None
    here = found is not None and found.vdev == vdev.name
    runs = here and found is not None and found.scan is not None
    grown = config.grown[place] if config is not None and place < len(config.grown) else 0
    grown = max(grown, int(here and not runs))
    children = spec.children - runs
    data = children - spec.parity
    if grown:
        return replace(spec, kind=kind.expanded, children=children, data=data, grown=grown)
    return replace(spec, children=children, data=data) if runs else spec


def _is_scrubbed(evidence: Evidence, vdevs: Sequence[Vdev]) -> bool:
    """Tell whether single drives count: they do in a scrub, and in a pool that has no others."""
    scan = evidence.status.scan if evidence.status is not None else None
    if scan is not None and scan.active:
        return scan.function in ("scrub", "remove")
    if any(vdev.kind in GROUPS or vdev.children for vdev in vdevs):
        return False
    evidence.find("operation", "scrub", "a pool of single drives can be scrubbed only", inferred=True)
    return True


def find_layout(evidence: Evidence) -> Tops:
    """Note layout, operation and what is replaced; return the top-level vdevs.

    Raises
    ------
    InputError
        When no output shows the vdevs, or what it shows cannot be a pool.
    """
    tops = _tops(evidence)
    repaired = _redundant(tops, _find_replacement(evidence, tops), evidence)
    tops.order.sort(key=lambda place: place != repaired)
    data = (tops.specs[place] for place in tops.order)
    classes = tops.classes
    layout = Layout((*data, *classes.specs), classes.cache, classes.spares)
    evidence.find("layout", str(layout), tops.source)
    find_special_drive(evidence, classes)
    find_special_repair(evidence, classes)
    if repaired and not tops.uniform:
        evidence.notes.append(
            "the vdev being repaired stands first in the layout, because zsim repairs the first"
        )
    return tops


def _redundant(tops: Tops, place: int, evidence: Evidence) -> int:
    """Return the place of the vdev that is repaired: the first that can be, where none is."""
    if evidence.value("operation") in ("scrub", "remove", "expand") or tops.specs[place].tolerance:
        return place
    return next((other for other, spec in enumerate(tops.specs) if spec.tolerance), place)


def _tops(evidence: Evidence) -> Tops:
    config, status, listed = evidence.config, evidence.status, evidence.listed
    shown = status.vdevs if status is not None else ()
    if config is not None and config.vdevs and (config.complete or not shown):
        if not config.complete:
            reason = "fewer top-level vdevs than vdev_children says, so the output was cut"
            raise InputError(
                "zdb -C", len(config.vdevs), reason, "run zdb -C POOL again, or add zpool status"
            )
        if shown and [vdev.drives for vdev in shown] != [vdev.drives for vdev in config.vdevs]:
            evidence.notes.append("zpool status and zdb -C show different vdevs: those of zdb -C are taken")
        return Tops(config.vdevs, "zdb -C", evidence)
    if shown:
        if status is not None and not status.complete:
            evidence.notes.append("zpool status has no 'errors:' line at its end: vdevs may be cut off")
        if status is not None and status.unhealthy_only and status.scan is not None:
            hidden = hidden_vdevs(shown, status.scan)
            shown = (*shown, *hidden)
            if hidden:
                evidence.notes.append(
                    "NOT KNOWN: how many vdevs there are: zpool status -e leaves out what is healthy."
                    f" {len(shown)} are assumed, by what is to be issued: give it without -e"
                )
        tops = Tops(shown, "zpool status", evidence)
        if status is not None and status.by_number:
            evidence.notes.append(
                "NOT KNOWN: of which kind the vdevs are: zpool status -g prints numbers for their names. By"
                f" how many drives each has {assumed_words(tops.vdevs)} is assumed: give it without -g"
            )
        return tops
    if listed is not None and listed.vdevs:
        return Tops([vdev for vdev, _ in listed.vdevs], "zpool list -v", evidence)
    if status is not None and status.scan is not None and status.scan.active:
        vdevs = assumed_vdevs(status.scan, status)
        evidence.notes.append(
            "NOT KNOWN: the layout. Of the pool nothing but its scan is shown."
            f" {assumed_words(vdevs)} is assumed: give the whole of zpool status"
        )
        return Tops(vdevs, "assumed: no output shows it", evidence)
    raise InputError("layout", None, "no file shows the vdevs of the pool", LAYOUT_REMEDY)


def _find_replacement(evidence: Evidence, tops: Tops) -> int:
    """Note what runs and what is replaced; return the place of the vdev concerned."""
    status = evidence.status
    scan = status.scan if status is not None else None
    active = scan is not None and scan.active
    if scan is not None and active:
        evidence.find("operation", scan.function, "zpool status")
        if scan.function == "scrub":
            return 0
        moved = {"expand": status.expansion, "remove": status.removal}.get(scan.function) if status else None
        if moved is not None:
            names = [vdev.name for vdev in tops.vdevs]
            return names.index(moved.vdev) if moved.vdev in names else 0
    if evidence.value("operation") == "scrub":
        return 0
    vdevs = list(status.vdevs) if status is not None and status.vdevs else list(tops.vdevs)
    if status is not None and status.vdevs:
        vdevs = [vdevs[place] if place < len(vdevs) else Vdev("", "disk") for place in tops.places]
    pairs = [[child for child in _pairs(vdev) if active or child.kind == "replacing"] for vdev in vdevs]
    if active:
        pairs = _under_repair(evidence, pairs)
    repaired = max(range(len(vdevs)), key=lambda place: len(pairs[place]))
    together = resilvered_together(vdevs) if active else 1
    if together > 1:
        evidence.notes.append(
            f"drives of {together} vdevs are resilvered at once: those of one are simulated, and what is"
            " counted is taken to be of all"
        )
    if pairs[repaired]:
        _find_pairs(evidence, pairs[repaired], tops.specs[repaired])
        if together == 1 and sum(map(len, pairs)) > len(pairs[repaired]):
            evidence.notes.append("drives of several vdevs are being replaced: those of one are simulated")
        return repaired
    return _find_single(evidence, vdevs, tops, active)


def _pairs(vdev: Vdev) -> list[Vdev]:
    pairs = (each for each in (vdev, *vdev.children) if each.kind in PAIRS and each.drives > 1)
    return [repaired_pair(each) for each in pairs]


def _under_repair(evidence: Evidence, pairs: Sequence[Sequence[Vdev]]) -> list[list[Vdev]]:
    """Return the pairs that the running scan repairs: successors that await a resilver are not among them.

    OpenZFS 0.8 and later, dsl_scan.c:dsl_scan_assess_vdev: what is attached meanwhile is deferred.
    """
    due = [[pair for pair in each if not pair.children[-1].waits] for each in pairs]
    waiting = sum(map(len, pairs)) - sum(map(len, due))
    if not waiting:
        return [list(each) for each in pairs]
    words = "1 drive awaits a resilver" if waiting == 1 else f"{waiting} drives await a resilver"
    evidence.notes.append(f"{words} that begins when this one is over: it is not in this answer")
    return due if any(due) else [list(each) for each in pairs]


def _find_pairs(evidence: Evidence, pairs: Sequence[Vdev], spec: VdevSpec) -> None:
    """Note the number of old drives with a successor, and whether they are still there."""
    gone = [pair.children[0].state in _GONE for pair in pairs]
    known = all(pair.children[0].state for pair in pairs)
    if any(gone) and not all(gone):
        evidence.notes.append("some of the replaced drives are gone and some online: all are assumed gone")
    if known:
        evidence.find("old_drive", "missing" if any(gone) else "online", "zpool status")
    limit = spec.children if known and not any(gone) else spec.tolerance
    evidence.find("replace", min(len(pairs), limit), "zpool status" if known else "zdb -C")
    if len(pairs) > limit:
        evidence.notes.append(f"{len(pairs)} drives are being replaced, of which {spec} can lose {limit}")
    if any(pair.children[-1].kind == "distributed-spare" for pair in pairs):
        evidence.find("target", "distributed-spare", "zpool status")
    elif spec.spares:
        evidence.find("target", "new-drive", "zpool status")


def _find_single(evidence: Evidence, vdevs: Sequence[Vdev], tops: Tops, active: bool) -> int:
    """Note drives that resilver without an old one beside them, or are missing without a successor."""

    def most(wanted: Callable[[Vdev], bool]) -> tuple[int, int]:
        counts = [sum(wanted(leaf) for leaf in vdev.leaves()) for vdev in vdevs]
        return max(counts), counts.index(max(counts))

    resilvering, place = most(lambda leaf: leaf.resilvering)
    if active and resilvering:
        evidence.find("replace", max(1, min(resilvering, tops.specs[place].tolerance)), "zpool status")
        evidence.find("old_drive", "missing", "zpool status")
        return place
    missing, place = most(lambda leaf: leaf.state in _GONE)
    if missing:
        stands_in = _find_spare_in_use(evidence, vdevs[place])
        evidence.find("old_drive", "missing", "zpool status")
        evidence.find("replace", max(1, min(missing, tops.specs[place].tolerance)), "zpool status")
        words = "1 drive of a vdev is gone" if missing == 1 else f"{missing} drives of one vdev are gone"
        if not stands_in:
            asked = "its replacement is" if missing == 1 else "their replacement is"
            evidence.notes.append(f"{words} and not replaced yet: {asked} asked")
    return place


def _find_spare_in_use(evidence: Evidence, vdev: Vdev) -> bool:
    """Tell whether a spare holds what a drive that is gone held: its replacement is copied from there."""
    spares = [
        each.children[-1] for each in (vdev, *vdev.children) if each.kind == "spare" and each.drives > 1
    ]
    if not spares or any(each.state != "ONLINE" or each.resilvering for each in spares):
        return False
    evidence.notes.append(
        f"{plain(spares[0].name)} stands in for a drive that is gone: the vdev has its redundancy again, and"
        " what is asked is the replacement, after which the spare is free"
    )
    if spares[0].kind == "distributed-spare":
        evidence.find("target", "new-drive", "zpool status")
    else:
        evidence.find("old_drive", "online", "zpool status: the spare holds its data", inferred=True)
    return True


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
            usual = next((gb * 10**9 for gb in USUAL_GB if gb * 10**9 >= drive * (1 - 0.003)), drive)
            near = usual <= drive * (1 + NOMINAL_WITHIN)
            source = "SIZE of zpool list -v" if vdev.asize is None else "asize of zdb -C"
            evidence.find("special_drive_size", usual if near else drive, source, inferred=near)
            return
    find_special_size(evidence, tops.classes)


def alloc_fits(tops: Tops, drive: int, alloc: int | None, evidence: Evidence) -> bool:
    """Tell whether drives of a capacity hold what is allocated."""
    release = load_release(evidence.text("release") or DEFAULT_RELEASE)
    return alloc is None or alloc <= pool_size(Layout(tuple(tops.specs)), drive, release)


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
        _told_by(scan, len(tops.specs)),
        (files.pointers.allocated if files.pointers is not None else None, "sum of zdb -Lbbbbb"),
        (files.statistics.allocated if files.statistics is not None else None, "bp allocated of zdb -b"),
    )
    return next(((alloc, source) for alloc, source in known if alloc), (None, ""))


def _told_by(scan: Scan | None, vdevs: int) -> tuple[int | None, str]:
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
    target = next((gb * 10**9 for gb in USUAL_GB if gb * 10**9 >= drive * (1 - 0.003)), None)
    if target is None or target > drive * (1 + NOMINAL_WITHIN):
        return drive, False
    size = pool_size(
        Layout(tuple(tops.specs)), target, load_release(evidence.text("release") or DEFAULT_RELEASE)
    )
    return (target, True) if rounded or abs(size - total) <= NOMINAL_WITHIN * total else (drive, False)


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
    release = load_release(evidence.text("release") or DEFAULT_RELEASE)
    return pool_size(Layout(tuple(tops.specs)), drive, release) if drive else None


def _most_allocated(evidence: Evidence, tops: Tops, drive: int) -> int:
    """Return how much may be allocated on drives of a size [bytes]: a removal that runs has room."""
    layout = Layout(tuple(tops.specs[place] for place in tops.order))
    release = load_release(evidence.text("release") or DEFAULT_RELEASE)
    return most_allocated(layout, drive, release, evidence.value("operation") == "remove")


def _find_new_size(evidence: Evidence) -> None:
    """Note the size of the drive that replaces, where an output shows it and it is larger."""
    drive = evidence.size("drive_size")
    tops = [vdev for vdev, _ in evidence.listed.vdevs] if evidence.listed is not None else []
    tops += list(evidence.status.vdevs) if evidence.status is not None else []
    new = [pair.children[-1].size for top in tops for pair in _pairs(top)]
    sizes = [size for size in new if size]
    if drive and sizes and min(sizes) > drive * (1 + MIXED_SIZES) and evidence.value("target") is None:
        evidence.find("new_drive_size", min(sizes), "size of the successor that zpool prints")
