"""The layout grammar: ``raidz2x6``, ``4*raidz2x6``, ``mirror2+mirror2``, ``draid2:8d:41c:2s``.

::

    layout = group { "+" group }
    group  = [ count "*" ] [ class ":" ] vdev        several classes of vdevs: raidz2x8+special:mirror2
           | ( "cache" | "spare" ) [ ":" drives ]    drives that are no part of any vdev: cache:1, spare:2
    class  = "special" | "dedup" | "log"             allocation class; data vdevs have none
    vdev   = what one of `zsim.vdevs.kinds` parses:
             "raidz" parity "x" children              parity 1, 2, 3 ("raidz" alone means 1)
           | "raidz" parity "x" children "+" added   made of so many, expanded by so many: raidz1x4+1
           | "mirror" children
           | "draid" parity { ":" number ("d"|"c"|"s") }   data, children, spares, as in `zpool create`
           | "disk"                                a drive without redundancy, which can be scrubbed only
           | "stripe" drives                       as many of these, one vdev each

The limits are those of ``zpool create`` (OpenZFS 2.3, cmd/zpool/zpool_vdev.c and zfs_draid.c): RAID-Z needs
one drive more than its parity, a top-level vdev has at most 255 drives, dRAID at most 100 spares.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace

from zsim.base.errors import InputError
from zsim.vdevs.kind import CLASSES, LOG, MAX_CHILDREN, NORMAL, VdevSpec, kind_of, kinds, number_in, refuse

__all__ = ["FORMS", "MAX_CHILDREN", "MAX_VDEVS", "Layout", "VdevSpec"]

MAX_VDEVS = 10_000
_COMBINED = ["4*raidz2x6", "mirror2+mirror3", "raidz2x6+special:mirror2+log:mirror2+cache:1+spare:1"]
FORMS = (
    "known forms are "
    + ", ".join([*(form for kind in kinds().values() for form in kind.forms), *_COMBINED])
    + "; for a scrub also disk, stripe4"
)

# A bare number behind a plus is part of the word before: drives added to a RAID-Z.
_PLUS = re.compile(r"\+(?!\s*\d+\s*(?:\+|$))", re.ASCII)
_COUNT = re.compile(r"(\d+)\*(.*)", re.ASCII | re.DOTALL)
_ASIDE = re.compile(r"(cache|spare)s?(?:\s*:\s*(?:stripe|disk)?[x-]?(\d*))?", re.ASCII)
_EXPANDED = re.compile(r"(raidz[123]?x\d+)\s*(?:->|=>|to)\s*(?:raidz[123]?x)?\d+", re.ASCII)
_CLASSED = re.compile(rf"({'|'.join(CLASSES[1:])})\s*:\s*(.*)", re.ASCII | re.DOTALL)
_SINGLE = re.compile(r"(disk|stripe|single|raid0)(?:[x-]?(\d+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Layout:
    """The top-level vdevs of a pool, in order.

    Attributes
    ----------
    vdevs : tuple of VdevSpec
        At least one for data, at most `MAX_VDEVS`; those of other allocation classes behind them.
    cache, spares : int
        Drives of the L2ARC and hot spares: no part of any vdev, so no scan reads or writes them.

    Examples
    --------
    >>> layout = Layout.parse("2*raidz2x6+special:mirror2+spare:1")
    >>> len(layout.data), layout.leaves, str(layout)
    (2, 14, '2*raidz2x6+special:mirror2+spare:1')
    """

    vdevs: tuple[VdevSpec, ...]
    cache: int = 0
    spares: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.vdevs, tuple) or not all(isinstance(each, VdevSpec) for each in self.vdevs):
            refuse(self.vdevs, "it is made of vdevs", 'write Layout.parse("raidz2x6")')
        if not 1 <= len(self.vdevs) <= MAX_VDEVS:
            refuse(f"{len(self.vdevs)} vdevs", f"a pool has 1 to {MAX_VDEVS} top-level vdevs")
        if not self.data:
            refuse(str(self), "a pool has at least one vdev for data", "write raidz2x6+special:mirror2")

    @classmethod
    def parse(cls, text: str) -> Layout:
        """Read a layout.

        Parameters
        ----------
        text : str
            For example ``4*raidz2x6``; letters in either case, blanks around ``*`` and ``+``.

        Raises
        ------
        InputError
            With the reason, when `text` is not a layout or no pool could be made so.
        """
        if not isinstance(text, str) or not text.strip():
            refuse(text, FORMS)
        words = [word.strip() for word in _PLUS.split(text.lower())]
        cache, spares = (_set_aside(kind, words, text) for kind in ("cache", "spare"))
        groups = [_parse_group(_spread(word), text) for word in words if not _ASIDE.fullmatch(word)]
        groups.sort(key=lambda group: CLASSES.index(group[1].alloc_class))
        total = sum(count for count, _ in groups)
        if total > MAX_VDEVS:
            refuse(text, f"it asks for {total} top-level vdevs and a pool has 1 to {MAX_VDEVS}")
        return cls(tuple(vdev for count, vdev in groups for _ in range(count)), cache, spares)

    @property
    def leaves(self) -> int:
        """Drives of the pool (distributed spares included, hot spares not)."""
        return sum(vdev.children for vdev in self.vdevs)

    @property
    def data(self) -> tuple[VdevSpec, ...]:
        """The vdevs for data: those of the normal class, which SIZE and fill mean here."""
        return self.of_class(NORMAL)

    @property
    def is_plain(self) -> bool:
        """Whether no drive for data has another that stands for it."""
        return all(vdev.is_disk for vdev in self.data)

    @property
    def stored(self) -> tuple[VdevSpec, ...]:
        """The vdevs on which ALLOC lies, that scans read: all but those of the intent log."""
        return tuple(vdev for vdev in self.vdevs if vdev.alloc_class != LOG)

    @property
    def spread(self) -> int:
        """Over how many drives the data lies, as each kind of vdev spans its children."""
        return sum(kind_of(vdev.kind).spanned_children(vdev) for vdev in self.data)

    def of_class(self, alloc_class: str) -> tuple[VdevSpec, ...]:
        """Return the vdevs of an allocation class."""
        return tuple(self.vdevs[place] for place in self.places_of(alloc_class))

    def places_of(self, alloc_class: str) -> list[int]:
        """Return the places of the vdevs of an allocation class."""
        return [place for place, vdev in enumerate(self.vdevs) if vdev.alloc_class == alloc_class]

    def led_by(self, number: int) -> Layout:
        """Return the layout with one of its vdevs first: the one that predictions repair."""
        others = tuple(vdev for place, vdev in enumerate(self.vdevs) if place != number)
        return Layout((self.vdevs[number], *others), self.cache, self.spares)

    def repeated(self, count: int) -> Layout:
        """Return this layout with `count` times its data vdev, of which it must have one.

        Raises
        ------
        InputError
            When there already is more than one vdev, or `count` is below 1.
        """
        if len(self.data) > 1:
            raise InputError(
                "vdevs", count, f"the layout {self} has its own count", "give the count in the layout alone"
            )
        if not 1 <= count <= MAX_VDEVS:
            raise InputError("vdevs", count, f"a pool has 1 to {MAX_VDEVS} top-level vdevs", "")
        others = tuple(vdev for vdev in self.vdevs if vdev.alloc_class != NORMAL)
        return Layout(self.data * count + others, self.cache, self.spares)

    def __str__(self) -> str:
        # In the order of `parse`, whichever vdev leads.
        ordered = sorted(self.vdevs, key=lambda vdev: CLASSES.index(vdev.alloc_class))
        runs = [(len(list(run)), vdev) for vdev, run in itertools.groupby(ordered)]
        words = [f"{count}*{vdev}" if count > 1 else str(vdev) for count, vdev in runs]
        aside = {"cache": self.cache, "spare": self.spares}
        words += [f"{name}:{drives}" for name, drives in aside.items() if drives]
        return "+".join(words)


def _set_aside(name: str, words: list[str], text: str) -> int:
    """Return how many drives a layout names for the cache or as spares."""
    found = [match[2] for word in words if (match := _ASIDE.fullmatch(word)) and match[1] == name]
    return sum(number_in(digits, text) if digits else 1 for digits in found)


def _spread(group: str) -> str:
    """Return ``stripe4`` as ``4*disk``: the drives of a stripe are vdevs of their own.

    And a count behind a class as one before it: ``special:2*mirror2``.
    """
    classed = _CLASSED.fullmatch(group)
    if classed is not None:
        count, star, vdev = _spread(classed[2]).rpartition("*")
        return f"{count}{star}{classed[1]}:{vdev}"
    single = _SINGLE.fullmatch(group)
    return f"{single[2] or 1}*disk" if single else group


def _parse_group(group: str, text: str) -> tuple[int, VdevSpec]:
    """Return (count, vdev) of ``4*raidz2x6`` or ``raidz2x6``."""
    counted = _COUNT.fullmatch(re.sub(r"\s*\*\s*", "*", group))
    if counted is None:
        return 1, _parse_vdev(group, text)
    count = number_in(counted[1], text)
    if count < 1:
        refuse(text, f"a count runs from 1 to {MAX_VDEVS}", "leave out the vdevs that are not there")
    return count, _parse_vdev(counted[2].strip(), text)


def _parse_vdev(token: str, text: str) -> VdevSpec:
    """Return a vdev, of the class that stands before it."""
    classed = _CLASSED.fullmatch(token)
    if classed is not None:
        return _in_class(classed[1], classed[2].strip(), text)
    for kind in kinds().values():
        if (vdev := kind.parse(token, text)) is not None:
            return vdev
    nearest = _nearest(text.lower())
    remedy = FORMS if nearest is None else f"did you mean {nearest}?"
    raise InputError("layout", text, _explain(token), remedy)


def _in_class(name: str, token: str, text: str) -> VdevSpec:
    """Return a vdev of another class than data: a mirror, a RAID-Z or a single drive."""
    vdev = _parse_vdev(token, text)
    if kind_of(vdev.kind).has_groups:
        refuse(text, f"a {name} vdev is no {kind_of(vdev.kind).title}", f"use {name}:mirror2")
    if vdev.alloc_class != NORMAL:
        refuse(text, "a vdev has one allocation class", f"use {name}:mirror2")
    return replace(vdev, alloc_class=name)


MOST_OF_A_SLIP = 200
"""Characters of a text that is looked at for what it may mean: a search takes longer than its length."""
_SEPARATED = re.compile(r"\s*[,+]\s*|(?<=\d)\s+(?=raid|mirror|draid)", re.ASCII)
_TIMES = r"(?:(?P<times>\d+)\s*[*x]\s*)?"
_APART = r"[\s:x*/_(-]"
_SLIPS = tuple(
    (re.compile(pattern, re.ASCII), form)
    for pattern, form in (
        (r"mirror[\s:_-]*x?(\d+)\s*[x*]\s*(\d+)", "{1}*mirror{0}"),
        (r"raid-?z([123])[\s:_-]*x?(\d+)\s*[x*]\s*(\d+)", "{2}*raidz{0}x{1}"),
        (rf"raid-?(?:10|1\+0){_APART}*(\d+)", "{half}*mirror2"),
        (r"raid-?(?:10|1\+0)", "4*mirror2"),
        (rf"{_TIMES}(\d+)[\s-]*way[\s-]*mirrors?", "mirror{0}"),
        (rf"{_TIMES}mirrors?{_APART}*(\d+)\)?(?:[\s-]*way)?", "mirror{0}"),
        (rf"{_TIMES}(?:raid[\s-]?)?z[\s-]*([123]){_APART}*(\d+)\)?", "raidz{0}x{1}"),
        (rf"{_TIMES}(?:raid[\s-]?)?z[\s-]*([123])", "raidz{0}x6"),
        (rf"{_TIMES}raid-?[5z]{_APART}+(\d+)\)?", "raidz1x{0}"),
        (rf"{_TIMES}raid-?6{_APART}+(\d+)\)?", "raidz2x{0}"),
        (rf"{_TIMES}raid-?[5z]", "raidz1x5"),
        (rf"{_TIMES}raid-?6", "raidz2x6"),
        (rf"{_TIMES}mirrors?", "mirror2"),
        (rf"{_TIMES}draid([123]?){_APART}+(\d+)c?", "draid{0}:8d:{1}c:1s"),
        (rf"{_TIMES}draid([123]?)(?::\d+[ds])*", "draid{0}:8d:24c:1s"),
    )
)
"""Ways in which vdevs are written elsewhere, a count before them or behind, and how they are written here."""


def _nearest(text: str) -> str | None:
    """Return the layout that a text probably means; None where it is not plain."""
    vdevs = []
    if len(text) > MOST_OF_A_SLIP:
        return None
    for part in _SEPARATED.split(text.strip()):
        found = ((pattern.fullmatch(part), form) for pattern, form in _SLIPS)
        match, form = next(((match, form) for match, form in found if match is not None), (None, ""))
        if match is None:
            return None
        counted = "times" in match.re.groupindex
        numbers = match.groups()[counted:]
        times = match["times"] if counted else None
        half = int(numbers[0]) / 2 if "{half}" in form else 0
        vdevs.append((f"{times}*" if times else "") + form.format(*numbers, half=f"{half:g}"))
    try:
        return str(Layout.parse("+".join(vdevs)))
    except InputError:
        return None


def _explain(token: str) -> str:
    """Return what is wrong with a token that is no vdev."""
    if not token:
        return "a vdev is missing"
    if (expanded := _EXPANDED.fullmatch(token)) is not None:
        before = expanded[1]
        return f"an expansion of {before} is {before} with --operation expand, and {before}+1 when it is done"
    if token in CLASSES[1:]:
        return f"{token} needs a vdev, as in {token}:mirror2"
    missing = [reason for kind in kinds().values() if (reason := kind.missing(token)) is not None]
    return next(iter(missing), f"{token!r} is no vdev" if len(token) < 40 else "it holds no vdev")
