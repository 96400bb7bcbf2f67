"""The tree of vdevs that zpool and zdb print, and what it means for a layout."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from zsim.scenario.layout import MAX_CHILDREN, MAX_VDEVS, VdevSpec
from zsim.vdevs.kind import Printed, kinds

GROUPS = tuple(kinds())
PAIRS = ("replacing", "spare")
SECTIONS = ("logs", "cache", "spares", "special", "dedup", "spare", "log")
MAX_ROWS = (MAX_CHILDREN + 1) * 400
MAX_DEPTH = 8
GONE = frozenset(("UNAVAIL", "FAULTED", "OFFLINE", "REMOVED"))
"""States of a drive that is not there, or not used."""

_PAIR = re.compile(r"(replacing|spare)[123]?(?:-(\d{1,6}))?", re.ASCII)
_DISTRIBUTED_SPARE = re.compile(r"draid[123]-\d{1,6}-\d{1,6}", re.ASCII)


class ErrorCounts(NamedTuple):
    """What a vdev has shown since it was imported or cleared; 0 where nothing was printed.

    Attributes
    ----------
    read, write, checksum : int
        READ, WRITE and CKSUM.
    slow : int
        I/Os that took longer than zio_slow_io_ms (``zpool status -s``).
    """

    read: int = 0
    write: int = 0
    checksum: int = 0
    slow: int = 0


NO_ERRORS = ErrorCounts()


@dataclass(frozen=True, slots=True)
class Vdev:
    """A vdev of a pool.

    Attributes
    ----------
    name : str
        As printed: raidz2-0, replacing-1, ada5p1.
    kind : str
        One of `zsim.vdevs.kinds`, replacing, spare, distributed-spare, disk, or root.
    state : str
        ONLINE, UNAVAIL, ...; empty where the format tells none.
    note : str
        What stands behind the counters, such as (resilvering).
    parity, data, spares : int
        Parity columns; data drives of a dRAID group and distributed spares, 0 where unknown.
    width : int
        Drives as the name tells them, of a dRAID; 0 where it does not.
    size : int or None
        A drive's size as ZFS sees it, labels included [bytes].
    asize : int or None
        Address space of a top-level vdev [bytes].
    ashift : int or None
        log2 of the sector size.
    children : tuple of Vdev
    errors : ErrorCounts
    """

    name: str
    kind: str
    state: str = ""
    note: str = ""
    parity: int = 0
    data: int = 0
    spares: int = 0
    width: int = 0
    size: int | None = None
    asize: int | None = None
    ashift: int | None = None
    children: tuple[Vdev, ...] = ()
    errors: ErrorCounts = NO_ERRORS

    @property
    def drives(self) -> int:
        """Children as the layout counts them: an old drive and its successor are one."""
        return len(self.children)

    @property
    def left_out(self) -> int:
        """Drives that its name tells and no row shows."""
        return max(0, self.width - self.drives)

    @property
    def at_least(self) -> int:
        """Drives that the names of its pairs tell: they end with their place among the drives of the vdev."""
        places = (
            int(match[2]) for child in self.children if (match := _PAIR.fullmatch(child.name)) and match[2]
        )
        return max((place + 1 for place in places), default=0)

    @property
    def healthy(self) -> bool:
        """Whether this is a drive of which nothing is wrong, which ``zpool status -e`` leaves out."""
        well = self.state == "ONLINE" and not self.note and not any(self.errors)
        return well and not self.children

    @property
    def resilvering(self) -> bool:
        """Whether the note says that the vdev is being resilvered."""
        return "resilvering" in self.note and "awaiting" not in self.note

    @property
    def waits(self) -> bool:
        """Whether the note says that the vdev awaits a resilver of its own (0.8 and later)."""
        return "awaiting" in self.note

    def leaves(self) -> Iterator[Vdev]:
        """Yield the drives below, or the vdev itself if it is one."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


def repaired_pair(pair: Vdev) -> Vdev:
    """Return the old drive and its successor of a pair in which another stands.

    Where a spare has taken the place of a drive and that drive is replaced, its successor is resilvered from
    what the spare holds: ``spare-0 (replacing-0 (old, new), spare)``.  A distributed spare is no drive.
    """
    last = pair.children[-1]
    inner = next((each for each in pair.children[:-1] if each.kind in PAIRS and each.drives > 1), None)
    if pair.kind != "spare" or inner is None or last.resilvering:
        return pair
    found = repaired_pair(inner)
    holds = last.kind == "disk" and last.state == "ONLINE"
    return replace(found, children=(last, found.children[-1])) if holds else found


def named_vdev(name: str, state: str = "", note: str = "") -> Vdev:
    """Return a vdev without children whose kind follows from its name."""
    if match := _PAIR.fullmatch(name):
        return Vdev(name, match[1], state, note)
    if _DISTRIBUTED_SPARE.fullmatch(name):
        return Vdev(name, "distributed-spare", state, note)
    for kind in kinds().values():
        if (told := kind.printed(name)) is not None:
            return Vdev(name, kind.name, state, note, told.parity, told.data, told.spares, told.children)
    return Vdev(name, "disk", state, note)


def spec_of(vdev: Vdev, *, with_disks: bool = False) -> VdevSpec | None:
    """Return the vdev as a layout has it; None for a single drive, which nothing can be resilvered from.

    Parameters
    ----------
    vdev : Vdev
    with_disks : bool
        Whether single drives are wanted too, for a scrub.

    Raises
    ------
    InputError
        When no such vdev can be made: drives are missing from the output.
    """
    if vdev.kind in kinds():
        return kinds()[vdev.kind].spec(
            vdev.drives, Printed(vdev.parity, vdev.data, vdev.spares, children=vdev.width)
        )
    if vdev.kind in PAIRS and vdev.drives > 1:
        return VdevSpec.mirror(vdev.drives)
    return VdevSpec.disk() if with_disks and vdev.kind == "disk" else None


Row = tuple[int, Vdev]
USUAL_FEW, USUAL_MANY = "mirror-0", "raidz{}-0"
FEW_DRIVES, MANY_DRIVES = 2, 6
"""So many children a mirror usually has at most, and a RAID-Z with two parities at least."""


def is_guid(name: str) -> bool:
    """Tell whether a vdev is named by its GUID, as a missing drive is, and with ``-g`` all are."""
    return name.isascii() and name.isdigit()


def numbered(vdevs: Sequence[Vdev]) -> tuple[Vdev, ...]:
    """Return top-level vdevs with a kind, where GUIDs stand for all names (``zpool status -g``).

    That hides the kind: two drives are taken for a mirror, up to five for a raidz1, more for a raidz2, and
    two in the place of one for a drive and its successor.
    """
    return tuple(_numbered(vdev) if vdev.children and is_guid(vdev.name) else vdev for vdev in vdevs)


def _numbered(vdev: Vdev) -> Vdev:
    children = tuple(
        replace(child, kind="replacing") if child.children and is_guid(child.name) else child
        for child in vdev.children
    )
    usual = USUAL_FEW if len(children) <= FEW_DRIVES else USUAL_MANY.format(usual_parity(len(children)))
    like = named_vdev(usual)
    return replace(vdev, kind=like.kind, parity=like.parity, children=children)


def usual_parity(drives: int) -> int:
    """Return the parity that a RAID-Z of so many drives usually has."""
    return 1 if drives < MANY_DRIVES else 2


def nested(rows: Sequence[Row]) -> tuple[Vdev, ...]:
    """Return the trees of rows (indentation, vdev), by indentation or, where that was lost, by the names."""
    rows = rows[: MAX_ROWS + MAX_VDEVS]
    if not rows:
        return ()
    grouped = any(vdev.kind in (*GROUPS, *PAIRS) for _, vdev in rows)
    lost = len({indent for indent, _ in rows}) == 1 or _holds_nothing(rows)
    return _by_names([vdev for _, vdev in rows]) if lost and grouped else _by_indent(rows)


def _holds_nothing(rows: Sequence[Row]) -> bool:
    """Tell whether what holds drives is followed by a drive that is not further in, as zpool never is."""
    return any(
        vdev.kind in (*GROUPS, *PAIRS) and below.kind not in GROUPS and further <= indent
        for (indent, vdev), (further, below) in pairwise(rows)
    )


def _by_indent(rows: Sequence[Row]) -> tuple[Vdev, ...]:
    """Return trees from rows of which the deeper ones belong to the last less deep one."""
    done: list[Vdev] = []
    stack: list[tuple[int, Vdev, list[Vdev]]] = []

    def close() -> None:
        _, vdev, children = stack.pop()
        target = stack[-1][2] if stack else done
        target.append(replace(vdev, children=tuple(children)))

    for indent, vdev in rows:
        while stack and (stack[-1][0] >= indent or len(stack) >= MAX_DEPTH):
            close()
        stack.append((indent, vdev, []))
    while stack:
        close()
    return tuple(done)


def _by_names(vdevs: Sequence[Vdev]) -> tuple[Vdev, ...]:
    """Return trees by what can hold what: groups hold drives and pairs, pairs the two that follow them."""
    rows: list[Row] = []
    base, wanted = 0, list[int]()
    for vdev in vdevs:
        if vdev.kind in GROUPS:
            base, wanted = 1, []
            rows.append((0, vdev))
            continue
        rows.append((base + len(wanted), vdev))
        if wanted:
            wanted[-1] -= 1
        if vdev.kind in PAIRS:
            wanted.append(2)
        while wanted and not wanted[-1]:
            wanted.pop()
    return _by_indent(rows)
