"""Layouts that can be built from a number of drives: mirrors, RAID-Z of fitting widths with spares, dRAID."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from zsim.base.errors import InputError
from zsim.scenario.layout import MAX_VDEVS, Layout, VdevSpec

RAIDZ_WIDTHS = {1: (3, 12), 2: (4, 20), 3: (5, 24)}
"""Widths that are tried: from where parity is half of the drives to where few would go."""
MIRRORS = (2, 3)
PLAIN = "disk"
"""Kind of a pool of single drives, which is tried only where it is asked for."""
DRAID_DATA = (4, 8, 16)
DRAID_CHILDREN = (12, 120)
SPARE_SHARE = 15
"""At most one drive in so many is a spare, if more are not asked for; two always may be."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pool that some drives make.

    Attributes
    ----------
    layout : Layout
    spares : int
        Hot spares beside it.
    """

    layout: Layout
    spares: int

    @property
    def drives(self) -> int:
        """Drives in all."""
        return self.layout.leaves + self.spares

    @property
    def vdev(self) -> VdevSpec:
        """The vdev it consists of."""
        return self.layout.vdevs[0]


def vdevs_of(drives: int) -> Iterator[VdevSpec]:
    """Yield the vdevs that are tried with so many drives at hand."""
    yield from (VdevSpec.mirror(children) for children in MIRRORS if children <= drives)
    for parity, (low, high) in RAIDZ_WIDTHS.items():
        yield from (VdevSpec.raidz(parity, width) for width in range(low, min(high, drives) + 1))
    yield from _draids(drives)


def _draids(drives: int) -> Iterator[VdevSpec]:
    low, high = DRAID_CHILDREN
    sizes = sorted({drives // count for count in range(1, drives // low + 1)} if drives >= low else set())
    for children in (size for size in sizes if low <= size <= high):
        for parity in (1, 2, 3):
            for data in DRAID_DATA:
                spares = max(1, children // 40)
                if data + parity <= children - spares:
                    yield VdevSpec.draid(parity, data, children, spares)


def kind_word(vdev: VdevSpec) -> str:
    """Return the kind of a vdev as a search names it: a single drive is none of the mirrors."""
    return PLAIN if vdev.is_disk else vdev.kind


def plain_disks(drives: int) -> Candidate:
    """Return the pool of single drives; spares are none of it, as there is nothing to copy to them."""
    return Candidate(Layout((VdevSpec.disk(),) * min(drives, MAX_VDEVS)), 0)


def for_drives(drives: int, spares: int) -> list[Candidate]:
    """Return the pools that so many drives make, with at least so many hot spares.

    Raises
    ------
    InputError
        When no pool can be made.
    """
    room = drives - spares
    most = max(spares, 2, drives // SPARE_SHARE)
    found = []
    for vdev in vdevs_of(room):
        count = room // vdev.children
        rest = drives - count * vdev.children
        # Distributed spares are spares.
        if count and rest <= (max(spares, 1) if vdev.spares else most):
            found.append(Candidate(Layout((vdev,) * count), rest))
    if not found:
        raise InputError("drives", drives, "no layout can be made of so few", "give at least 2")
    return found
