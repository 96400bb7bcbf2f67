"""The layout of a pool, and what is being replaced in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from zsim.base.errors import InputError
from zsim.base.units import format_bytes
from zsim.observe.evidence.scans import resilvered_together
from zsim.observe.pool_import.classes import (
    ClassTops,
    find_special_drive,
    find_special_repair,
)
from zsim.observe.pool_import.find_drives import model_named
from zsim.observe.pool_import.finding import PoolOutputs
from zsim.observe.pool_import.given.assumed import (
    NUMBER,
    around,
    assumed_vdevs,
    assumed_words,
    completed,
    hidden_vdevs,
    more_vdevs,
    numbered_before,
    padded,
    usual,
    vdevs_of,
    with_drives,
)
from zsim.observe.pool_import.given.layout_words import SaidLayout
from zsim.observe.texts import plain
from zsim.observe.zpool.scan import Scan
from zsim.observe.zpool.status import PoolStatus
from zsim.observe.zpool.vdev_tree import GONE, GROUPS, PAIRS, Vdev, repaired_pair, spec_of
from zsim.scenario.layout import MAX_CHILDREN, Layout, VdevSpec
from zsim.vdevs.kind import kind_of

BOTH = 2
"""Drives of a pair: the old one and its successor."""
LAYOUT_REMEDY = "add the output of zpool status or zdb -C for the pool"


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

    def __init__(self, vdevs: Sequence[Vdev], source: str, outputs: PoolOutputs) -> None:
        # Single drives hold their share of the data; of a pool of such alone nothing is resilvered.
        with_disks = _is_scrubbed(outputs, vdevs) or any(vdev.children for vdev in vdevs)
        self.vdevs: list[Vdev] = []
        self.specs: list[VdevSpec] = []
        self.places: list[int] = []
        self.order: list[int] = []
        self.source = source
        self.whole = len(vdevs)
        status = outputs.status
        cut = source == "zpool status" and status is not None and not status.complete
        last = len(status.vdevs) - 1 if status is not None and status.vdevs else len(vdevs) - 1
        for place, vdev in enumerate(vdevs):
            whole = _cut_inside(vdevs[: place + 1], outputs) if cut and place == last else vdev
            whole = _with_elided(whole, outputs) if source == "zpool status" else whole
            try:
                spec = spec_of(whole, with_disks=with_disks)
            except InputError as error:
                refused = _refused(vdev, error.allowed, source, outputs, cut)
                completed = _with_usual(vdev, refused, outputs)
                if completed is None:
                    raise refused from error
                whole, spec = completed, spec_of(completed)
            outputs.notes += _left_out(vdev, spec, source)
            if spec is None:
                continue
            self.vdevs.append(whole if whole.drives > vdev.drives else vdev)
            self.specs.append(_as_grown(spec, vdev, place, outputs))
            self.places.append(place)
        self.order = list(range(len(self.specs)))
        self.classes = ClassTops(outputs)
        if not self.specs:
            raise InputError("layout", None, f"{source} shows no vdev that holds data", LAYOUT_REMEDY)

    @property
    def ids(self) -> list[int]:
        """Number of each vdev of the layout in addresses, the end of its name (vdev.c:vdev_name)."""
        vdevs = [*(self.vdevs[place] for place in self.order), *self.classes.vdevs]
        numbers = [self.places[place] for place in self.order]
        numbers += range(self.whole, self.whole + len(self.classes.vdevs))
        found = [NUMBER.search(vdev.name) for vdev in vdevs]
        ids = [int(match[1]) if match else number for match, number in zip(found, numbers, strict=True)]
        return ids if len(set(ids)) == len(ids) else numbers

    @property
    def uniform(self) -> bool:
        """Whether all are alike."""
        return len(set(self.specs)) == 1


def _refused(vdev: Vdev, reason: str, source: str, outputs: PoolOutputs, cut: bool) -> InputError:
    """Return why a vdev as shown can be none: drives are missing from the output."""
    remedy = LAYOUT_REMEDY
    if source == "zpool status" and outputs.status is not None and outputs.status.unhealthy_only:
        reason, remedy = "no healthy drive is shown", "give zpool status without -e, which leaves those out"
    elif cut:
        reason = f"{source} is cut off: no more than {vdev.drives} of its drives are shown"
    else:
        reason = f"{source} shows {vdev.drives} {'drive' if vdev.drives == 1 else 'drives'}: {reason}"
    return InputError(f"vdev {plain(vdev.name)}", None, reason, remedy)


def _with_elided(vdev: Vdev, outputs: PoolOutputs) -> Vdev:
    """Return a vdev with drives that somebody has left out of a paste, as the names of its pairs tell."""
    status = outputs.status
    scan = status.scan if status is not None and not status.unhealthy_only else None
    if not vdev.drives < vdev.at_least <= MAX_CHILDREN or vdev.width or scan is None:
        dots = status is not None and vdev.name in status.elided and not vdev.width
        return _with_dots(vdev, status, outputs) if status is not None and dots else vdev
    whole = with_drives(vdev, scan, vdev.at_least)
    outputs.notes.append(
        f"NOT KNOWN: how many drives {plain(vdev.name)} has: {vdev.drives} are shown, and by the name of a"
        f" pair there are {vdev.at_least} at least. {whole.drives} are assumed: give the complete zpool"
        " status"
    )
    return whole


def _with_dots(vdev: Vdev, status: PoolStatus, outputs: PoolOutputs) -> Vdev:
    """Return a vdev of which somebody has left out rows: like a whole one beside it, else as is usual."""
    like = [
        other.drives
        for other in status.vdevs
        if other.name not in status.elided and (other.kind, other.parity) == (vdev.kind, vdev.parity)
    ]
    most = max((*like, vdev.drives, vdev.at_least))
    scan = status.scan if status.scan is not None else Scan("resilver", "finished")
    whole = padded(vdev, most) if like else usual(vdev, scan)
    outputs.notes.append(
        f"NOT KNOWN: how many drives {plain(vdev.name)} has: rows of it are left out. {whole.drives} are"
        " assumed: give the complete zpool status"
    )
    return whole


def _with_usual(vdev: Vdev, refused: InputError, outputs: PoolOutputs) -> Vdev | None:
    """Return a vdev of which drives are not shown with as many as is usual; None where no scan runs on it."""
    scan = outputs.status.scan if outputs.status is not None else None
    if scan is None or not scan.active:
        return None
    whole = usual(vdev, scan)
    note = (
        f"NOT KNOWN: how many drives {plain(vdev.name)} has ({refused.allowed}). {whole.drives} are assumed:"
        f" {refused.remedy}"
    )
    outputs.notes += [note] if note not in outputs.notes else []
    return whole


def _left_out(vdev: Vdev, spec: VdevSpec | None, source: str) -> list[str]:
    """Return what is to be said of drives that the layout or the output leaves out."""
    if spec is None:
        return [f"the single drive {plain(vdev.name)} is left out: nothing to resilver from"]
    if vdev.left_out:
        shown = f"{vdev.drives} of the {vdev.width} drives of {plain(vdev.name)}"
        return [f"{source} shows {shown}: the others are assumed to be healthy"]
    return []


def _like_the_others(vdevs: Sequence[Vdev], outputs: PoolOutputs) -> Vdev:
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
    outputs.notes.append(
        f"zpool status is cut off inside {plain(last.name)}: it is assumed to have as many drives as"
        f" {plain(wider[-1].name)}, {wider[-1].drives}"
    )
    return padded(last, wider[-1].drives)


def _cut_inside(vdevs: Sequence[Vdev], outputs: PoolOutputs) -> Vdev:
    """Return the last vdev of an output that is cut off: like another, else as wide as usual in mid row."""
    found, status = _like_the_others(vdevs, outputs), outputs.status
    missing = _rows_missing(vdevs[-1])
    scan = status.scan if status is not None and (status.in_a_row or missing is not None) else None
    if scan is None or not found.parity or found.width or found.drives > vdevs[-1].drives:
        return found
    whole = usual(padded(found, found.drives + (missing or 0)), scan)
    outputs.notes.append(
        f"NOT KNOWN: how many drives {plain(found.name)} has: zpool status is cut off inside it."
        f" {whole.drives} are assumed: give the whole of zpool status"
    )
    return whole


def _rows_missing(vdev: Vdev) -> int | None:
    """Return how many rows the last vdev of an output that is cut off lacks at the least; None: perhaps none.

    Behind a pair without its drives any number is missing, and one where the vdev is degraded and all its
    drives that are shown are healthy.
    """
    if vdev.drives <= vdev.parity:
        return None  # too few for a vdev, which is told elsewhere
    last = vdev.children[-1]
    if last.kind in PAIRS and last.drives < BOTH:
        return 0
    return 1 if vdev.state == "DEGRADED" and all(leaf.healthy for leaf in vdev.leaves()) else None


def _as_grown(spec: VdevSpec, vdev: Vdev, place: int, outputs: PoolOutputs) -> VdevSpec:
    """Return a RAID-Z that was expanded as such, and one that is being expanded as it was before."""
    kind = kind_of(spec.kind)
    if not kind.expanded:
        return spec
    config, found = outputs.config, outputs.status.expansion if outputs.status is not None else None
    here = found is not None and found.vdev == vdev.name
    runs = here and found is not None and found.scan is not None
    grown = config.grown[place] if config is not None and place < len(config.grown) else 0
    grown = max(grown, int(here and not runs))
    children = spec.children - runs
    data = children - spec.parity
    if grown:
        return replace(spec, kind=kind.expanded, children=children, data=data, grown=grown)
    return replace(spec, children=children, data=data) if runs else spec


def _is_scrubbed(outputs: PoolOutputs, vdevs: Sequence[Vdev]) -> bool:
    """Tell whether single drives count: they do in a scrub, and in a pool that has no others."""
    scan = outputs.status.scan if outputs.status is not None else None
    if scan is not None and scan.active:
        return scan.function in ("scrub", "remove")
    if any(vdev.kind in GROUPS or vdev.children for vdev in vdevs):
        return False
    outputs.find("operation", "scrub", "a pool of single drives can be scrubbed only", inferred=True)
    return True


def find_layout(outputs: PoolOutputs) -> Tops:
    """Note layout, operation and what is replaced; return the top-level vdevs.

    Raises
    ------
    InputError
        When no output shows the vdevs, or what it shows cannot be a pool.
    """
    tops = _tops(outputs)
    repaired = _redundant(tops, _find_replacement(outputs, tops), outputs)
    tops.order.sort(key=lambda place: place != repaired)
    data = (tops.specs[place] for place in tops.order)
    classes = tops.classes
    layout = Layout((*data, *classes.specs), classes.cache, classes.spares)
    outputs.find("layout", str(layout), tops.source)
    find_special_drive(outputs, classes)
    find_special_repair(outputs, classes)
    if repaired and not tops.uniform:
        outputs.notes.append(
            "the vdev being repaired stands first in the layout, because zsim repairs the first"
        )
    return tops


def _redundant(tops: Tops, place: int, outputs: PoolOutputs) -> int:
    """Return the place of the vdev that is repaired: the first that can be, where none is."""
    if outputs.value("operation") in ("scrub", "remove", "expand") or tops.specs[place].tolerance:
        return place
    return next((other for other, spec in enumerate(tops.specs) if spec.tolerance), place)


def _tops(outputs: PoolOutputs) -> Tops:
    config, status, listed = outputs.config, outputs.status, outputs.listed
    shown = status.vdevs if status is not None else ()
    if config is not None and config.vdevs and (config.complete or not shown):
        if not config.complete:
            reason = "fewer top-level vdevs than vdev_children says, so the output was cut"
            raise InputError(
                "zdb -C", len(config.vdevs), reason, "run zdb -C POOL again, or add zpool status"
            )
        if shown and [vdev.drives for vdev in shown] != [vdev.drives for vdev in config.vdevs]:
            outputs.notes.append("zpool status and zdb -C show different vdevs: those of zdb -C are taken")
        return Tops(config.vdevs, "zdb -C", outputs)
    holder = around(shown, status) if status is not None else None
    if holder is not None:
        outputs.notes.append(
            f"NOT KNOWN: the vdev around {plain(', '.join(vdev.name for vdev in shown))}: its row is not"
            f" shown. {assumed_words((holder,))} is assumed: give the complete zpool status"
        )
        return Tops((holder,), "zpool status", outputs)
    if shown:
        if status is not None and not status.complete:
            outputs.notes.append("zpool status has no 'errors:' line at its end: vdevs may be cut off")
            shown = (*shown, *_cut_off(shown, status, outputs))
        if status is not None and status.unhealthy_only and status.scan is not None:
            hidden = hidden_vdevs(shown, status.scan)
            shown = (*shown, *hidden)
            if hidden:
                outputs.notes.append(
                    "NOT KNOWN: how many vdevs there are: zpool status -e leaves out what is healthy."
                    f" {len(shown)} are assumed, by what is to be issued: give it without -e"
                )
        tops = Tops(shown, "zpool status", outputs)
        if status is not None and status.by_number:
            outputs.notes.append(
                "NOT KNOWN: the kind of the vdevs: zpool status -g prints numbers for their names. From the"
                f" number of drives of each, {assumed_words(tops.vdevs)} is assumed: give it without -g"
            )
        return tops
    if listed is not None and listed.vdevs:
        return Tops([vdev for vdev, _ in listed.vdevs], "zpool list -v", outputs)
    return _tops_beside(outputs)


def _tops_beside(outputs: PoolOutputs) -> Tops:
    """Return top-level vdevs of which no status and no list tells: a table of rates, a sentence, or none."""
    status, listed, built = outputs.status, outputs.listed, outputs.built
    if built is not None:
        if built.others:
            outputs.notes.append(
                f"of what zpool history has added, {plain(', '.join(built.others))} is left out of the layout"
            )
        return Tops(built.vdevs, "zpool history", outputs)
    if outputs.seen_space is not None and outputs.seen_space.vdevs:
        return Tops(outputs.seen_space.vdevs, "zpool iostat -v", outputs)
    if outputs.layout_beside is None and (said := _said_layout(outputs)):
        outputs.notes.append(f"the layout is the one that the text names: {said}")
        return Tops(vdevs_of(said), "a sentence beside the outputs", outputs)
    if status is not None and status.scan is not None and status.scan.active:
        vdevs = assumed_vdevs(status.scan, status, listed.space.size if listed is not None else None)
        outputs.notes.append(
            "NOT KNOWN: the layout. Nothing of the pool but its scan is shown."
            f" {assumed_words(vdevs)} is assumed: give the complete zpool status"
        )
        return Tops(vdevs, "assumed: no output shows it", outputs)
    if outputs.layout_beside is not None:
        return Tops(vdevs_of(outputs.layout_beside), "stated beside the files", outputs)
    raise InputError("layout", None, "no file shows the vdevs of the pool", LAYOUT_REMEDY)


def _cut_off(shown: Sequence[Vdev], status: PoolStatus, outputs: PoolOutputs) -> tuple[Vdev, ...]:
    """Return vdevs that are not shown, where those that are cannot hold what is scanned; say so."""
    if status.scan is None or status.unhealthy_only:
        return ()
    if numbered := numbered_before(shown, status):
        outputs.notes.append(
            "NOT KNOWN: how many vdevs there are: zpool status is cut off, and by its number"
            f" {plain(shown[-1].name)} is not alone."
            f" {assumed_words(completed((*shown, *numbered), status.scan))} is assumed: give the whole of"
            " zpool status"
        )
        return numbered
    inventory = outputs.files.inventory()
    known = [inventory.of(leaf.name) for vdev in shown for leaf in vdev.leaves()]
    sizes = [size for each in known if each is not None and (size := model_named(each).size)]
    more = more_vdevs(shown, status.scan, max(sizes, default=None))
    if more:
        outputs.notes.append(
            "NOT KNOWN: how many vdevs there are: zpool status is cut off, and what it shows does not hold"
            f" the {format_bytes(status.scan.total or 0)} that are scanned."
            f" {assumed_words(completed((*shown, *more), status.scan))} is assumed: give the whole of zpool"
            " status"
        )
    return more


def _said_layout(outputs: PoolOutputs) -> str:
    """Return the one layout that sentences name; empty where they name none, or several, which is told."""
    said = dict.fromkeys(each.layout for each in outputs.files.of(SaidLayout))
    if len(said) > 1:
        outputs.notes.append(f"the text names several layouts ({', '.join(said)}): none of them is taken")
    return next(iter(said)) if len(said) == 1 else ""


_ASK_FOR_ALL = (
    ". They are not alike: zsim predict --replace-in 1 (from 0, in the order of the layout) says how long"
    " another takes"
)


def _find_replacement(outputs: PoolOutputs, tops: Tops) -> int:
    """Note what runs and what is replaced; return the place of the vdev concerned."""
    status = outputs.status
    scan = status.scan if status is not None else None
    active = scan is not None and scan.active
    if scan is not None and active:
        outputs.find("operation", scan.function, "zpool status")
        if scan.function == "scrub":
            return 0
        moved = {"expand": status.expansion, "remove": status.removal}.get(scan.function) if status else None
        if moved is not None:
            names = [vdev.name for vdev in tops.vdevs]
            return names.index(moved.vdev) if moved.vdev in names else 0
    if outputs.value("operation") == "scrub":
        return 0
    vdevs = list(status.vdevs) if status is not None and status.vdevs else list(tops.vdevs)
    if status is not None and status.vdevs:
        vdevs = [vdevs[place] if place < len(vdevs) else Vdev("", "disk") for place in tops.places]
    pairs = [[child for child in pairs_of(vdev) if active or child.kind == "replacing"] for vdev in vdevs]
    if active:
        alive = [[pair for pair in each if not _gets_nothing(pair, pairs)] for each in pairs]
        pairs = _under_repair(outputs, alive if any(alive) else pairs)
    together = resilvered_together(vdevs) if active else 1
    filled = [sum(leaf.resilvering for leaf in vdev.leaves()) for vdev in vdevs]
    held = _held_on_drives(outputs, tops) if together > 1 else [0.0] * len(vdevs)
    repaired = max(
        range(len(vdevs)), key=lambda place: (held[place] if filled[place] else 0.0, len(pairs[place]))
    )
    if together > 1:
        shown = repaired if any(held) or pairs[repaired] else filled.index(max(filled))
        slowest = plain(vdevs[shown].name)
        most = ", which has most to copy to each new drive," if any(held) else ""
        alike = "" if any(held) or tops.uniform else _ASK_FOR_ALL
        outputs.notes.append(
            f"drives of {together} vdevs are resilvered at once: the repair of {slowest}{most} is simulated."
            " The others are repaired beside it by drives of their own, so that all takes as long as the"
            f" slowest of them; the counters are of all{alike}"
        )
    if pairs[repaired]:
        _find_pairs(outputs, pairs[repaired], tops.specs[repaired])
        if together == 1 and sum(map(len, pairs)) > len(pairs[repaired]):
            outputs.notes.append("drives of several vdevs are being replaced: those of one are simulated")
        return repaired
    return _find_single(outputs, vdevs, tops, active, held)


def _held_on_drives(outputs: PoolOutputs, tops: Tops) -> list[float]:
    """Return how much lies on each drive of the vdevs [bytes]; 0 throughout where no list tells."""
    spaces = [space.alloc for _, space in outputs.listed.vdevs] if outputs.listed is not None else []
    if len(spaces) != tops.whole:
        return [0.0] * len(tops.specs)
    every = zip(tops.specs, tops.places, strict=True)
    return [(spaces[place] or 0.0) / kind_of(spec.kind).spanned_children(spec) for spec, place in every]


def pairs_of(vdev: Vdev) -> list[Vdev]:
    """Return the pairs of a top-level vdev of which one takes the place of the other, or stands in for it."""
    pairs = (each for each in (vdev, *vdev.children) if each.kind in PAIRS and each.drives > 1)
    return [repaired_pair(each) for each in pairs]


def _gets_nothing(pair: Vdev, pairs: Sequence[Sequence[Vdev]]) -> bool:
    """Tell whether a scan writes nothing to a successor: it has failed, or is a spare that is done."""
    new = pair.children[-1]
    marked = any(other.children[-1].resilvering for each in pairs for other in each)
    return new.state in GONE or (marked and pair.kind == "spare" and not new.resilvering and not new.waits)


def _under_repair(outputs: PoolOutputs, pairs: Sequence[Sequence[Vdev]]) -> list[list[Vdev]]:
    """Return the pairs that the running scan repairs: successors that await a resilver are not among them.

    OpenZFS 0.8 and later, dsl_scan.c:dsl_scan_assess_vdev: what is attached meanwhile is deferred.
    """
    due = [[pair for pair in each if not pair.children[-1].waits] for each in pairs]
    waiting = sum(map(len, pairs)) - sum(map(len, due))
    if not waiting:
        return [list(each) for each in pairs]
    outputs.notes.append(f"{waits_words(waiting)}: it is not in this answer")
    return due if any(due) else [list(each) for each in pairs]


def waits_words(count: int) -> str:
    """Return what is said of drives whose resilver is deferred."""
    words = "1 drive awaits a resilver" if count == 1 else f"{count} drives await a resilver"
    return f"{words} that begins when this one is over"


def _find_pairs(outputs: PoolOutputs, pairs: Sequence[Vdev], spec: VdevSpec) -> None:
    """Note the number of old drives with a successor, and whether they are still there."""
    gone = [pair.children[0].state in GONE for pair in pairs]
    known = all(pair.children[0].state for pair in pairs)
    if any(gone) and not all(gone):
        outputs.notes.append("some of the replaced drives are gone and some online: all are assumed gone")
    if known:
        outputs.find("old_drive", "missing" if any(gone) else "online", "zpool status")
    limit = spec.children if known and not any(gone) else spec.tolerance
    outputs.find("replace", min(len(pairs), limit), "zpool status" if known else "zdb -C")
    if len(pairs) > limit:
        outputs.notes.append(f"{len(pairs)} drives are being replaced, of which {spec} can lose {limit}")
    outputs.notes += [words for pair in pairs if (words := _failed_successor(pair))]
    if any(pair.children[-1].kind == "distributed-spare" for pair in pairs):
        outputs.find("target", "distributed-spare", "zpool status")
    elif spec.spares:
        outputs.find("target", "new-drive", "zpool status")


def _failed_successor(pair: Vdev) -> str:
    """Return what is to be said of a pair whose new drive is gone; empty where it is there."""
    old, new = pair.children[0], pair.children[-1]
    if pair.kind != "replacing" or new.state not in GONE:
        return ""
    return (
        f"{plain(new.name)}, which was to take the place of {plain(old.name)}, is {new.state}: nothing is"
        " copied to it until it is back; zpool detach removes it, and zpool replace puts another in, which"
        " is what is predicted"
    )


def _find_single(
    outputs: PoolOutputs, vdevs: Sequence[Vdev], tops: Tops, active: bool, held: Sequence[float]
) -> int:
    """Note drives that resilver without an old one beside them, or are missing without a successor.

    Of several vdevs the one is taken with most on each drive (`held`), else with most such drives.
    """

    def most(wanted: Callable[[Vdev], bool]) -> tuple[int, int]:
        counts = [sum(wanted(leaf) for leaf in vdev.leaves()) for vdev in vdevs]
        place = max(range(len(vdevs)), key=lambda at: (held[at] if counts[at] else 0.0, counts[at], -at))
        return counts[place], place

    if active and (waiting := sum(leaf.waits for vdev in vdevs for leaf in vdev.leaves())):
        outputs.notes.append(f"{waits_words(waiting)}: it is not in this answer")
    resilvering, place = most(lambda leaf: leaf.resilvering)
    if active and resilvering:
        count = 1 if _into_spare(outputs, tops.specs[place], resilvering) else resilvering
        outputs.find("replace", max(1, min(count, tops.specs[place].tolerance)), "zpool status")
        outputs.find("old_drive", "missing", "zpool status")
        return place
    missing, place = most(lambda leaf: leaf.state in GONE)
    if missing:
        _find_spare_in_use(outputs, vdevs[place])
        outputs.find("old_drive", "missing", tops.source)
        outputs.find("replace", max(1, min(missing, tops.specs[place].tolerance)), tops.source)
        return place
    return _find_degraded(outputs, vdevs, place) if not active else place


def _into_spare(outputs: PoolOutputs, spec: VdevSpec, marked: int) -> bool:
    """Tell whether a rebuild goes into a distributed spare, which is cut off; note it.

    All drives of a dRAID are marked as resilvering then, as each holds a part of the spare.
    """
    scan = outputs.status.scan if outputs.status is not None else None
    if scan is None or scan.function != "rebuild" or not spec.spares or marked < len(("old", "new")):
        return False
    source = "zpool status: many drives are written at once"
    outputs.find("target", "distributed-spare", source, inferred=True)
    return True


def _find_degraded(outputs: PoolOutputs, vdevs: Sequence[Vdev], place: int) -> int:
    """Note a drive that has failed in parts, where none is gone: it is still read while it is replaced."""
    sick = [(at, leaf) for at, vdev in enumerate(vdevs) for leaf in vdev.leaves() if leaf.state == "DEGRADED"]
    if not sick:
        return place
    at, leaf = sick[0]
    one = (
        "its replacement is predicted"
        if len(sick) == 1
        else f"{len(sick)} are; the replacement of one is predicted"
    )
    outputs.notes.append(
        f"{plain(leaf.name)} is DEGRADED and not replaced yet: {one}, while it is still read"
    )
    outputs.find("old_drive", "online", "zpool status: it is DEGRADED, not gone", inferred=True)
    outputs.find("replace", 1, "zpool status")
    return at


def _find_spare_in_use(outputs: PoolOutputs, vdev: Vdev) -> None:
    """Note where a spare holds what a drive that is gone held: its replacement is copied from there."""
    spares = [
        each.children[-1] for each in (vdev, *vdev.children) if each.kind == "spare" and each.drives > 1
    ]
    if not spares or any(each.state != "ONLINE" or each.resilvering for each in spares):
        return
    outputs.notes.append(
        f"{plain(spares[0].name)} has replaced a missing drive: the vdev has its redundancy again. The"
        " replacement of the missing drive is predicted, after which the spare is free"
    )
    if spares[0].kind == "distributed-spare":
        outputs.find("target", "new-drive", "zpool status")
    else:
        outputs.find("old_drive", "online", "zpool status: the spare holds its data", inferred=True)
