"""The layout grammar: ``raidz2x6``, ``4*raidz2x6``, ``mirror2+mirror2``, ``draid2:8d:41c:2s``.

::

    layout = group { "+" group }
    group  = [ count "*" ] vdev
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
from dataclasses import dataclass

from zsim.base.errors import InputError
from zsim.vdevs.kind import MAX_CHILDREN, VdevSpec, kinds, number_in, refuse

__all__ = ["FORMS", "MAX_CHILDREN", "MAX_VDEVS", "Layout", "VdevSpec"]

MAX_VDEVS = 10_000
_COMBINED = ["4*raidz2x6", "mirror2+mirror3"]
FORMS = (
    "known forms are "
    + ", ".join([*(form for kind in kinds().values() for form in kind.forms), *_COMBINED])
    + "; for a scrub also disk, stripe4"
)

# A bare number behind a plus is part of the word before: drives added to a RAID-Z.
_PLUS = re.compile(r"\+(?!\s*\d+\s*(?:\+|$))", re.ASCII)
_COUNT = re.compile(r"(\d+)\*(.*)", re.ASCII | re.DOTALL)
_SINGLE = re.compile(r"(disk|stripe|single|raid0)(?:[x-]?(\d+))?", re.ASCII)


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
            refuse(f"{len(self.vdevs)} vdevs", f"a pool has 1 to {MAX_VDEVS} top-level vdevs")

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
            refuse(text, FORMS)
        groups = [_parse_group(_spread(group.strip()), text) for group in _PLUS.split(text.lower())]
        total = sum(count for count, _ in groups)
        if total > MAX_VDEVS:
            refuse(text, f"it asks for {total} top-level vdevs and a pool has 1 to {MAX_VDEVS}")
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


def _spread(group: str) -> str:
    """Return ``stripe4`` as ``4*disk``: the drives of a stripe are vdevs of their own."""
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
    for kind in kinds().values():
        if (vdev := kind.parse(token, text)) is not None:
            return vdev
    raise InputError("layout", text, _explain(token), FORMS)


def _explain(token: str) -> str:
    """Return what is wrong with a token that is no vdev."""
    if not token:
        return "a vdev is missing"
    missing = [reason for kind in kinds().values() if (reason := kind.missing(token)) is not None]
    return next(iter(missing), f"{token!r} is no vdev" if len(token) < 40 else "it holds no vdev")
