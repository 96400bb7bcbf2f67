"""The layout grammar: ``raidz2x6``, ``4*raidz2x6``, ``mirror2+mirror2``, ``draid2:8d:41c:2s``.

::

    layout = group { "+" group }
    group  = [ count "*" ] vdev
    vdev   = "raidz" parity "x" children              parity 1, 2, 3 ("raidz" alone means 1)
           | "mirror" children
           | "draid" parity { ":" number ("d"|"c"|"s") }   data, children, spares, as in `zpool create`

The limits are those of ``zpool create`` (OpenZFS 2.3, cmd/zpool/zpool_vdev.c and zfs_draid.c): RAID-Z needs
one drive more than its parity, a top-level vdev has at most 255 drives, dRAID at most 100 spares.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Literal

from zsim.base.errors import InputError

VdevKind = Literal["raidz", "mirror", "draid"]

MAX_CHILDREN = 255
MAX_PARITY = 3
MAX_DRAID_SPARES = 100
MAX_VDEVS = 10_000
DEFAULT_DRAID_DATA = 8
FORMS = "known forms are raidz1x5, raidz2x6, raidz3x9, mirror2, 4*raidz2x6, mirror2+mirror3, draid2:8d:41c:2s"

_RAIDZ = re.compile(r"raidz(\d*)x(\d+)", re.ASCII)
_MIRROR = re.compile(r"mirror(\d+)", re.ASCII)
_DRAID = re.compile(r"draid(\d*)((?::\d+[dcs])+)", re.ASCII)
_COUNT = re.compile(r"(\d+)\*(.*)", re.ASCII | re.DOTALL)
_SINGLE = re.compile(r"(disk|stripe|single|raid0|mirror1)(x?\d+)?")


@dataclass(frozen=True, slots=True)
class VdevSpec:
    """One top-level vdev, as asked for.

    Attributes
    ----------
    kind : {"raidz", "mirror", "draid"}
        Kind of redundancy.
    children : int
        Drives of the vdev.
    parity : int
        Parity columns of a stripe; 0 for a mirror (as ``vdev_get_nparity`` counts it).
    data : int
        Data columns of a full stripe: children - parity (RAID-Z), 1 (mirror), data drives of a group (dRAID).
    spares : int
        Distributed spares of a dRAID; 0 otherwise.

    Raises
    ------
    InputError
        When ``zpool create`` would refuse such a vdev.
    """

    kind: VdevKind
    children: int
    parity: int = 0
    data: int = 1
    spares: int = 0

    def __post_init__(self) -> None:
        {"raidz": _check_raidz, "mirror": _check_mirror, "draid": _check_draid}[self.kind](self)

    @classmethod
    def raidz(cls, parity: int, children: int) -> VdevSpec:
        """Return RAID-Z with `parity` parity columns over `children` drives."""
        return cls("raidz", children, parity, children - parity)

    @classmethod
    def mirror(cls, children: int) -> VdevSpec:
        """Return a mirror of `children` drives."""
        return cls("mirror", children)

    @classmethod
    def draid(cls, parity: int, data: int, children: int, spares: int = 0) -> VdevSpec:
        """Return dRAID with `data` + `parity` drives a group over `children` drives, `spares` distributed."""
        return cls("draid", children, parity, data, spares)

    @property
    def tolerance(self) -> int:
        """Drives that may fail before data is lost."""
        return self.children - 1 if self.kind == "mirror" else self.parity

    def __str__(self) -> str:
        if self.kind == "raidz":
            return f"raidz{self.parity}x{self.children}"
        if self.kind == "mirror":
            return f"mirror{self.children}"
        spares = f":{self.spares}s" if self.spares else ""
        return f"draid{self.parity}:{self.data}d:{self.children}c{spares}"


@dataclass(frozen=True, slots=True)
class Layout:
    """The top-level vdevs of a pool, in order.

    Attributes
    ----------
    vdevs : tuple of VdevSpec
        At least one, at most `MAX_VDEVS`.

    Examples
    --------
    >>> layout = Layout.parse("2*raidz2x6+mirror2")
    >>> len(layout.vdevs), layout.leaves, str(layout)
    (3, 14, '2*raidz2x6+mirror2')
    """

    vdevs: tuple[VdevSpec, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.vdevs) <= MAX_VDEVS:
            _refuse(f"{len(self.vdevs)} vdevs", f"a pool has 1 to {MAX_VDEVS} top-level vdevs")

    @classmethod
    def parse(cls, text: str) -> Layout:
        """Read a layout.

        Parameters
        ----------
        text : str
            For example ``4*raidz2x6``; letters in either case, blanks around ``*`` and ``+``.

        Returns
        -------
        Layout

        Raises
        ------
        InputError
            With the reason, when `text` is not a layout or no pool could be made so.
        """
        if not isinstance(text, str) or not text.strip():
            _refuse(text, FORMS)
        groups = [_parse_group(group.strip(), text) for group in text.lower().split("+")]
        total = sum(count for count, _ in groups)
        if total > MAX_VDEVS:
            _refuse(text, f"it asks for {total} top-level vdevs and a pool has 1 to {MAX_VDEVS}")
        return cls(tuple(vdev for count, vdev in groups for _ in range(count)))

    @property
    def leaves(self) -> int:
        """Drives of the pool (distributed spares included, hot spares not)."""
        return sum(vdev.children for vdev in self.vdevs)

    def repeated(self, count: int) -> Layout:
        """Return `count` times this layout, which must be a single vdev.

        Raises
        ------
        InputError
            When there already is more than one vdev, or `count` is below 1.
        """
        if len(self.vdevs) > 1:
            raise InputError(
                "vdevs", count, f"the layout {self} has its own count", "give the count in the layout alone"
            )
        if not 1 <= count <= MAX_VDEVS:
            raise InputError("vdevs", count, f"a pool has 1 to {MAX_VDEVS} top-level vdevs", "")
        return Layout(self.vdevs * count)

    def __str__(self) -> str:
        runs = [(len(list(run)), vdev) for vdev, run in itertools.groupby(self.vdevs)]
        return "+".join(f"{count}*{vdev}" if count > 1 else str(vdev) for count, vdev in runs)


def _parse_group(group: str, text: str) -> tuple[int, VdevSpec]:
    """Return (count, vdev) of ``4*raidz2x6`` or ``raidz2x6``."""
    counted = _COUNT.fullmatch(re.sub(r"\s*\*\s*", "*", group))
    if counted is None:
        return 1, _parse_vdev(group, text)
    count = _number(counted[1], text)
    if count < 1:
        _refuse(text, f"a count runs from 1 to {MAX_VDEVS}", "leave out the vdevs that are not there")
    return count, _parse_vdev(counted[2].strip(), text)


def _parse_vdev(token: str, text: str) -> VdevSpec:
    if match := _RAIDZ.fullmatch(token):
        return VdevSpec.raidz(_number(match[1] or "1", text), _number(match[2], text))
    if match := _MIRROR.fullmatch(token):
        return VdevSpec.mirror(_number(match[1], text))
    if match := _DRAID.fullmatch(token):
        return _parse_draid(_number(match[1] or "1", text), match[2], text)
    if _SINGLE.fullmatch(token):
        reason = "a single drive has nothing to resilver from"
        _refuse(text, reason, "use mirror2 for the copy of a live drive")
    return _refuse(text, _explain(token), FORMS)


def _parse_draid(parity: int, parts: str, text: str) -> VdevSpec:
    numbers: dict[str, int] = {}
    for part in parts.split(":")[1:]:
        if part[-1] in numbers:
            _refuse(text, f"it gives the number ending in {part[-1]!r} twice", "write draid2:8d:41c:2s")
        numbers[part[-1]] = _number(part[:-1], text)
    if "c" not in numbers:
        _refuse(text, "the number of drives is missing", "add it as in draid2:8d:41c:2s")
    children, spares = numbers["c"], numbers.get("s", 0)
    data = numbers.get("d", max(1, min(DEFAULT_DRAID_DATA, children - spares - parity)))
    return VdevSpec.draid(parity, data, children, spares)


def _explain(token: str) -> str:
    """Return what is wrong with a token that is no vdev."""
    if not token:
        return "a vdev is missing"
    if re.fullmatch(r"raidz[123]", token):
        return f"the number of drives is missing, as in {token}x6"
    if token == "mirror":
        return "the number of drives is missing, as in mirror2"
    return f"{token!r} is no vdev" if len(token) < 40 else "it holds no vdev"


def _number(digits: str, text: str) -> int:
    """Return the number, refusing one that is absurdly long before it is converted."""
    if len(digits) > 9:
        _refuse(text, f"the number {digits[:9]}... is too large", "")
    return int(digits)


def _check_raidz(vdev: VdevSpec) -> None:
    if not 1 <= vdev.parity <= MAX_PARITY:
        _refuse(str(vdev), "RAID-Z has 1, 2 or 3 parity drives", f"use raidz1x{vdev.children}")
    low = vdev.parity + 1
    if not low <= vdev.children <= MAX_CHILDREN:
        reason = f"raidz{vdev.parity} needs {low} to {MAX_CHILDREN} drives (one more than its parity)"
        narrow = f"use raidz{vdev.parity}x{low + 1} or a mirror"
        _refuse(str(vdev), reason, "use several vdevs" if vdev.children > MAX_CHILDREN else narrow)
    _check_plain(vdev, vdev.children - vdev.parity)


def _check_mirror(vdev: VdevSpec) -> None:
    if vdev.children == 1:
        _refuse("mirror1", "a single drive has nothing to resilver from", "use mirror2")
    if not 2 <= vdev.children <= MAX_CHILDREN:
        _refuse(str(vdev), f"a mirror has 2 to {MAX_CHILDREN} drives", "use mirror2")
    if vdev.parity:
        _refuse(str(vdev), "a mirror has no parity", "leave it at 0")
    _check_plain(vdev, 1)


def _check_plain(vdev: VdevSpec, data: int) -> None:
    if vdev.data != data or vdev.spares:
        _refuse(str(vdev), f"{vdev.kind} has {data} data drives here and no distributed spares")


def _check_draid(vdev: VdevSpec) -> None:
    if not 1 <= vdev.parity <= MAX_PARITY:
        _refuse(str(vdev), "dRAID has 1, 2 or 3 parity drives a group")
    if not 2 <= vdev.children <= MAX_CHILDREN:
        _refuse(str(vdev), f"a dRAID has 2 to {MAX_CHILDREN} drives", "use several vdevs")
    if not 0 <= vdev.spares <= MAX_DRAID_SPARES:
        _refuse(str(vdev), f"a dRAID has 0 to {MAX_DRAID_SPARES} distributed spares")
    if vdev.data < 1:
        _refuse(str(vdev), "a dRAID group has at least one data drive", "use 8d or the like")
    room = vdev.children - vdev.spares
    if vdev.data + vdev.parity > room:
        reason = (
            f"a group of {vdev.data} data + {vdev.parity} parity drives does not fit into"
            f" {vdev.children} drives less {vdev.spares} spares"
        )
        _refuse(str(vdev), reason, "take fewer data drives or spares, or more drives")


def _refuse(value: object, allowed: str, remedy: str = "") -> VdevSpec:
    raise InputError("layout", value, allowed, remedy)
