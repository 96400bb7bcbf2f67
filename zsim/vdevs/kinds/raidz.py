"""RAID-Z, never expanded; its map is `zsim.vdevs.raidz`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from zsim.base.jit import njit
from zsim.vdevs.kind import (
    MAX_CHILDREN,
    MAX_PARITY,
    Kernels,
    Piece,
    Plan,
    Printed,
    Shaped,
    VdevKind,
    VdevShape,
    VdevSpec,
    no_spare,
    number_in,
    refuse,
    whole_block,
)
from zsim.vdevs.raidz import raidz_asize, raidz_map, raidz_needs_child, raidz_piece

if TYPE_CHECKING:
    from zsim.vdevs.kind import Integers

_WORD = re.compile(r"raidz(\d*)x(\d+)", re.ASCII)
_PRINTED = re.compile(r"raidz([123]?)(?:-\d{1,6})?", re.ASCII)


@njit
def _asize(psize: int, shape: VdevShape) -> int:
    return raidz_asize(psize, shape.ashift, shape.children, shape.parity)


@njit
def _plan(offset: int, psize: int, shape: VdevShape) -> Plan:
    columns, first, base, big, small, sector = raidz_map(
        offset, psize, shape.ashift, shape.children, shape.parity
    )
    return columns, first, 0, base, big, small, sector


@njit
def _piece(plan: Plan, column: int, whole: bool, shape: VdevShape, table: Integers) -> Piece:
    return raidz_piece(column, plan[1], plan[3], plan[4], plan[5], plan[6], shape.children)


@njit
def _needs_child(offset: int, psize: int, shape: VdevShape, table: Integers, child: int) -> bool:
    return raidz_needs_child(offset, psize, shape.ashift, shape.children, shape.parity, child)


class Raidz(VdevKind):
    """RAID-Z: columns over consecutive children, parity for every row."""

    name, title, plural = "raidz", "RAID-Z", "RAID-Z"
    forms: ClassVar[tuple[str, ...]] = ("raidz1x5", "raidz2x6", "raidz3x9")
    expanded = "expanded-raidz"
    repairs_overwritten = True
    least_parity = 1
    kernels = Kernels(_asize, whole_block, _plan, _piece, _needs_child, no_spare)

    def parse(self, token: str, text: str) -> VdevSpec | None:
        match = _WORD.fullmatch(token)
        return match and self._of(number_in(match[1] or "1", text), number_in(match[2], text))

    def missing(self, token: str) -> str | None:
        known = re.fullmatch(r"raidz[123]?", token)
        return "the number of drives is missing" if known else None

    def word(self, vdev: Shaped) -> str:
        return f"raidz{vdev.parity}x{vdev.children}"

    def check(self, vdev: VdevSpec) -> None:
        if not 1 <= vdev.parity <= MAX_PARITY:
            parity, width = min(max(vdev.parity, 1), MAX_PARITY), vdev.children
            if 1 <= width <= MAX_PARITY:  # the numbers may have changed places: raidz6x2
                parity, width = width, vdev.parity
            refuse(str(vdev), "RAID-Z has 1, 2 or 3 parity drives", f"use raidz{parity}x{width}")
        low = vdev.parity + 1
        if not low <= vdev.children <= MAX_CHILDREN:
            reason = f"raidz{vdev.parity} needs {low} to {MAX_CHILDREN} drives (one more than its parity)"
            narrow = f"use raidz{vdev.parity}x{low + 1} or a mirror"
            refuse(str(vdev), reason, "use several vdevs" if vdev.children > MAX_CHILDREN else narrow)
        data = vdev.children - vdev.parity
        if vdev.data != data or vdev.spares:
            refuse(str(vdev), f"raidz has {data} data drives here and no distributed spares")

    def printed(self, name: str) -> Printed | None:
        match = _PRINTED.fullmatch(name)
        return match and Printed(parity=int(match[1] or 1))

    def spec(self, children: int, printed: Printed) -> VdevSpec:
        return self._of(printed.parity, children)

    def unit_sectors(self, vdev: Shaped) -> int:
        return 1 + vdev.parity

    def address_space(self, vdev: Shaped, leaf_bytes: int) -> int:
        """Return the space of all children (vdev_raidz.c:vdev_raidz_open)."""
        return leaf_bytes * vdev.children

    def asizes(self, vdev: Shaped, psize: Integers, ashift: int) -> Integers:
        from zsim.vdevs.arrays import raidz_asizes

        return raidz_asizes(psize, ashift, vdev.children, vdev.parity)

    def _of(self, parity: int, children: int) -> VdevSpec:
        return VdevSpec(self.name, children, parity, children - parity)


KIND = Raidz()
