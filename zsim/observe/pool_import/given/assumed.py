"""Assumptions about a pool whose scan is shown without its vdevs, or without all of their drives."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from zsim.base.errors import InputError
from zsim.case.resolve import USUALLY_FULL
from zsim.drives.models.generations import first_year
from zsim.observe.pool_import.given.bare_rows import with_table
from zsim.observe.pool_import.given.pasted_forms import (
    HEAD,
    UNKNOWN,
    as_status_of_page,
    as_status_of_progress,
    as_status_of_shares,
    unfolded,
)
from zsim.observe.zpool import status_json
from zsim.observe.zpool.scan import Scan, to_examine
from zsim.observe.zpool.status import PoolStatus, recognises
from zsim.observe.zpool.vdev_tree import (
    MANY_DRIVES,
    PAIRS,
    USUAL_MANY,
    Vdev,
    named_vdev,
    spec_of,
    usual_parity,
)
from zsim.scenario.layout import MAX_CHILDREN, MAX_VDEVS, Layout, VdevSpec
from zsim.scenario.releases.capacity import COMMON_DRIVE_BYTES, pool_size
from zsim.scenario.releases.profile import COPIES, DEFAULT_RELEASE, load_release
from zsim.vdevs.kind import kind_of

ASSUMED_LAYOUT, ASSUMED_REBUILT, ASSUMED_REDUCED = "raidz2x6", "mirror2", "2*mirror2"
ASSUMED_OF = "raidz{parity}x{drives}"
NUMBER = re.compile(r"-(\d{1,6})\Z", re.ASCII)
"""Of a vdev, at the end of its name."""
ASSUMED_DATA, ASSUMED_MIRROR = 4, 2
"""Of a pool of which nobody says how it is built; RAID-Z is not rebuilt sequentially."""
ALL_SCANNED = 0.995
TELLING, WIDTH_WITHIN, WIDEST = 1 << 30, 0.06, 30
"""Bytes on a drive from which they tell of how many a vdev has, how near that comes to a whole number, and
how many it has at most."""
_LONE = re.compile(
    r"^[ \t]{0,12}(?:scan|scrub|remove|expand):[ \t]*(?:scrub|resilver|rebuil|expan|Evacuat|Remov)",
    re.MULTILINE,
)
_COUNTERS = re.compile(
    r"^[ \t]{0,24}[\d.,]{1,9}[KMGTPE]?B? (?:/ [\d.,]{1,9}[KMGTPE]?B? )?scanned\b[^\n]{1,120}\n"
    r"[ \t]{0,24}[\d.,]{1,9}[KMGTPE]?B? (resilvered|repaired), [\d.,]{1,9}% done",
    re.MULTILINE,
)
_TABLE = re.compile(
    r"^[ \t]{0,12}NAME[ \t]+STATE[ \t]+READ[ \t]+WRITE[ \t]+CKSUM[ \t]*\n"
    r"[ \t]{0,12}(\S{1,255})[ \t]+(ONLINE|DEGRADED|FAULTED|UNAVAIL|SUSPENDED)\b",
    re.MULTILINE,
)
_BEGUN = re.compile(
    r"((?:scrub|resilver)(?: \([^)\n]{1,80}\))? in progress since"
    r" \w{3} \w{3} {1,2}\d{1,2} [\d:]{8} \d{4})[,.;]?\s*"
)
"""What people write in a sentence, without its ``scan:`` and in one line."""


def as_status(text: str) -> str:
    """Return a text with the first lines of a status, where the lines of a scan stand in it without them."""
    if status_json.recognises(text):
        return text
    text = unfolded(text)
    if recognises(text):
        return text
    ways = (
        _of_lone_lines, _of_counters, as_status_of_progress, as_status_of_page, _of_table, _of_sentence,
        as_status_of_shares,
    )  # fmt: skip
    return next((found for way in ways if (found := way(text)) is not None), text)


def _of_lone_lines(text: str) -> str | None:
    return f"{_named_in_table(text)}{with_table(text)}" if _LONE.search(text) else None


def _of_counters(text: str) -> str | None:
    counters = _COUNTERS.search(text)
    if counters is None:
        return None
    function = "scrub" if counters[1] == "repaired" else "resilver"
    return f"{HEAD}  scan: {function} in progress\n{text[counters.start() :]}"


def _of_table(text: str) -> str | None:
    return f"{_named_in_table(text)}{text}" if _TABLE.search(text) else None


def _of_sentence(text: str) -> str | None:
    return f"{HEAD}{_BEGUN.sub(_as_printed, text, 1)}" if _BEGUN.search(text) else None


def _named_in_table(text: str) -> str:
    """Return the first lines of a status, with the name of the pool where a table shows it."""
    table = _TABLE.search(text)
    return f"  pool: {table[1]}\n state: {table[2]}\n" if table else HEAD


def _as_printed(begun: re.Match[str]) -> str:
    """Return the begin of a scan as zpool prints it: a line of its own."""
    return f"\n  scan: {begun[1]}\n\t"


def assumed_vdevs(scan: Scan, status: PoolStatus, size: int | None = None) -> tuple[Vdev, ...]:
    """Return the vdevs of a pool of which none can be read, as many as hold what is scanned.

    They are the first vdev that is shown whole, else what the name of the first tells; a rebuild names its
    dRAID.  `size` is that of the pool where it is known [bytes].
    """
    return vdevs_of(_roomy(_first(scan, status), scan, size))


def vdevs_of(layout: str) -> tuple[Vdev, ...]:
    """Return the vdevs for data of a layout as an output would show them."""
    return tuple(_as_shown(spec, number) for number, spec in enumerate(Layout.parse(layout).data))


def assumed_words(vdevs: Iterable[Vdev]) -> str:
    """Return the layout of vdevs that are assumed, as a person would type it."""
    specs = (spec_of(vdev, with_disks=True) for vdev in vdevs)
    return str(Layout(tuple(spec for spec in specs if spec is not None)))


def _as_shown(spec: VdevSpec, number: int) -> Vdev:
    kind, drives = kind_of(spec.kind), spec.children
    children = tuple(Vdev(f"drive {number}.{each} (assumed)", "disk") for each in range(drives))
    name = f"{spec.kind}-{number}"
    data = spec.data if kind.has_groups else 0
    return Vdev(name, spec.kind, "", "", spec.parity, data, spec.spares, children=children)


def _first(scan: Scan, status: PoolStatus) -> str:
    if scan.function == "remove":
        return ASSUMED_REDUCED
    if scan.function == "expand" and status.expansion is not None:
        return str(Layout(tuple(_shown((usual(named_vdev(status.expansion.vdev), scan),)))))
    if scan.function in COPIES:
        return _named(scan.vdev) or ASSUMED_REBUILT
    found = (*_shown(status.vdevs), *_shown(usual(vdev, scan) for vdev in status.vdevs))
    if found:
        return str(Layout(found[:1]))
    width = width_of(scan)
    if width is None:
        return ASSUMED_LAYOUT
    parity = usual_parity(width)
    return ASSUMED_REBUILT if width == 1 else ASSUMED_OF.format(parity=parity, drives=width)


def _named(name: str) -> str:
    """Return the layout that the name of a vdev tells in full, as that of a dRAID does; else nothing."""
    vdev = named_vdev(name)
    try:
        spec = spec_of(replace(vdev, children=(Vdev("", "disk"),) * vdev.width)) if vdev.width else None
    except InputError:
        return ""
    return str(spec) if spec is not None else ""


def width_of(scan: Scan, replaced: int = 1) -> int | None:
    """Return how many drives a vdev has by what a resilver wrote; 1: each holds all, None: it does not tell.

    From 2.2 on what is issued are the blocks of the vdev under repair, with their parity, of which each of
    its drives holds its share (dsl_scan.c:count_block_issued).  Before, those of all vdevs count as well: of
    a pool of one mirror alone no more is issued than written.
    """
    issued = scan.issued if scan.issued is not None or scan.form != "legacy" else scan.scanned
    if scan.function != "resilver" or not issued or (scan.repaired or 0) < TELLING:
        return None
    share = replaced * issued / (scan.repaired or 1)
    width = round(share)
    near = abs(share - width) <= WIDTH_WITHIN * share and replaced <= width <= WIDEST
    of_one = scan.form in ("2.2", "json") or width == 1
    return width if near and of_one and width != ASSUMED_MIRROR else None


def usual(vdev: Vdev, scan: Scan) -> Vdev:
    """Return a vdev with as many drives as the scan tells, else as is usual, at the least those shown."""
    usually = vdev.parity + ASSUMED_DATA if vdev.parity else ASSUMED_MIRROR
    drives = max(usually, vdev.drives, min(vdev.at_least, MAX_CHILDREN))
    replaced = sum(any(leaf.resilvering for leaf in child.leaves()) for child in vdev.children)
    told = width_of(scan, max(1, replaced)) if vdev.parity else None
    least = max(vdev.parity + 1, vdev.drives, vdev.at_least)
    drives = told if told is not None and told >= least else drives
    return padded(vdev, drives)


def completed(vdevs: Iterable[Vdev], scan: Scan) -> Iterator[Vdev]:
    """Yield vdevs, those of which drives are not shown with as many as is usual."""
    yield from (vdev if any(_shown((vdev,))) else usual(vdev, scan) for vdev in vdevs)


def with_drives(vdev: Vdev, scan: Scan, least: int) -> Vdev:
    """Return a vdev with so many drives at least, or as many as the scan tells."""
    told = width_of(scan)
    return padded(vdev, max(least, told or 0))


def hidden_vdevs(shown: Sequence[Vdev], scan: Scan) -> tuple[Vdev, ...]:
    """Return vdevs like the last one shown, as many as hold what is not to be issued.

    From 2.2 on a resilver that has scanned all prints what it has to issue: what lies on the vdev that is
    repaired.
    """
    whole = scan.form in ("2.2", "json") and (scan.scanned or 0) >= ALL_SCANNED * (scan.total or math.inf)
    resilvers = scan.active and scan.function == "resilver"
    if not (shown and whole and resilvers and scan.total and scan.total_issued):
        return ()
    more = min(round(scan.total / scan.total_issued), MAX_VDEVS) - len(shown)
    last = shown[-1]
    name = NUMBER.sub("", last.name)
    width = max(last.width, last.drives)
    rows = (Vdev(f"{name} (assumed) {each}", "disk", "ONLINE") for each in range(width))
    like = replace(last, state="ONLINE", children=tuple(rows))
    return tuple(replace(like, name=f"{name}-{len(shown) + each}") for each in range(more))


def around(shown: Sequence[Vdev], status: PoolStatus) -> Vdev | None:
    """Return the RAID-Z around pairs and drives whose own row is not shown; None where they are the pool's.

    A pair ends with its place among the drives of its vdev (vdev.c:vdev_name).
    """
    if not shown or any(vdev.kind not in (*PAIRS, "disk") for vdev in shown):
        return None
    if not any(vdev.kind in PAIRS for vdev in shown):
        return None
    least = Vdev("", "root", children=tuple(shown)).at_least
    if status.name != UNKNOWN and least <= len(shown):
        return None
    drives = max(least, len(shown)) if least > ASSUMED_MIRROR else MANY_DRIVES
    if drives > MAX_CHILDREN:
        return None
    holder = replace(named_vdev(USUAL_MANY.format(usual_parity(drives))), children=tuple(shown))
    scan = status.scan
    return padded(holder, drives) if scan is None else with_drives(holder, scan, drives)


def padded(vdev: Vdev, drives: int) -> Vdev:
    """Return a vdev with healthy drives behind those shown."""
    more = (Vdev(f"{vdev.name} {each} (assumed)", "disk", "ONLINE") for each in range(vdev.drives, drives))
    return replace(vdev, children=(*vdev.children, *more))


def _shown(vdevs: Iterable[Vdev]) -> Iterator[VdevSpec]:
    """Yield the vdevs that are shown with all their drives, as a layout has them."""
    for vdev in vdevs:
        try:
            spec = spec_of(vdev)
        except InputError:
            continue
        if spec is not None:
            yield spec


def more_vdevs(shown: Sequence[Vdev], scan: Scan, drive: int | None) -> tuple[Vdev, ...]:
    """Return vdevs like those shown, as many more as hold what is scanned.

    Parameters
    ----------
    shown : sequence of Vdev
        Of an output that is cut off.
    scan : Scan
    drive : int or None
        Size of the drives; else the largest that were sold in numbers when the scan began [bytes].
    """
    like = max(shown, key=lambda vdev: vdev.drives)
    found = (*_shown((like,)), *_shown((usual(like, scan),)))
    spec = found[0] if found else None
    if spec is None or not scan.active or not scan.total or scan.function == "remove":
        return ()
    whole = pool_size(Layout((spec,)), drive or _largest(scan), load_release(DEFAULT_RELEASE))
    if scan.total <= len(shown) * whole:
        return ()
    count = min(MAX_VDEVS, math.ceil(scan.total / (USUALLY_FULL * whole))) - len(shown)
    name = NUMBER.sub("", like.name)
    bare = (replace(like, name=f"{name}-{len(shown) + each}", children=()) for each in range(count))
    return tuple(padded(vdev, spec.children) for vdev in bare)


def _largest(scan: Scan) -> int:
    """Return the largest of common drives when a scan began [bytes]."""
    begun = scan.since or scan.at
    sold = [size for size in COMMON_DRIVE_BYTES if begun is None or first_year(size) <= begun.year]
    return sold[-1] if sold else COMMON_DRIVE_BYTES[0]


def _roomy(layout: str, scan: Scan, size: int | None = None) -> str:
    """Return a layout with as many such vdevs as hold what is scanned on the largest of common drives."""
    parsed = Layout.parse(layout)
    whole = pool_size(parsed, _largest(scan), load_release(DEFAULT_RELEASE))
    held = (to_examine(scan, len(parsed.data)) or 0) / (USUALLY_FULL * whole)
    count = math.ceil(max(held, (size or 0) / whole))
    return str(Layout(parsed.vdevs * count)) if 1 < count * len(parsed.vdevs) <= MAX_VDEVS else layout


def numbered_before(shown: Sequence[Vdev], status: PoolStatus) -> tuple[Vdev, ...]:
    """Return vdevs like the last one shown for the numbers that names leave out (vdev.c:vdev_name)."""
    every = [*shown, *(vdev for vdevs in status.sections.values() for vdev in vdevs)]
    ids = [int(match[1]) for vdev in every if vdev.children and (match := NUMBER.search(vdev.name))]
    count = max(ids, default=-1) + 1 - len(every)
    last = shown[-1]
    if status.removal is not None or not last.children or not 0 < count <= MAX_VDEVS:
        return ()
    bare = (
        replace(last, name=f"{last.kind}-{number} (assumed)", state="ONLINE", children=())
        for number in range(count)
    )
    return tuple(padded(vdev, last.drives) for vdev in bare)
