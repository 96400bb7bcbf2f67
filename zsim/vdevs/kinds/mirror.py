"""Mirrors; `zsim.vdevs.mirror` decides which child is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zsim.base.jit import njit
from zsim.vdevs.kind import (
    MAX_CHILDREN,
    Kernels,
    Piece,
    Plan,
    Printed,
    ReleaseFacts,
    Shaped,
    VdevKind,
    VdevShape,
    VdevSpec,
    no_spare,
    number_in,
    refuse,
    whole_block,
)
from zsim.vdevs.mirror import mirror_asize

if TYPE_CHECKING:
    from zsim.vdevs.kind import Integers

_WORD = re.compile(r"mirror(\d+)", re.ASCII)
_PRINTED = re.compile(r"mirror[123]?(?:-\d{1,6})?", re.ASCII)


@njit
def _asize(psize: int, shape: VdevShape) -> int:
    return mirror_asize(psize, shape.ashift)


@njit
def _plan(offset: int, psize: int, shape: VdevShape) -> Plan:
    return shape.children, 0, 0, offset, 0, mirror_asize(psize, shape.ashift), 0


@njit
def _piece(plan: Plan, column: int, whole: bool, shape: VdevShape, table: Integers) -> Piece:
    return column, plan[3], plan[5]


@njit
def _needs_child(offset: int, psize: int, shape: VdevShape, table: Integers, child: int) -> bool:
    return True


class Mirror(VdevKind):
    """A mirror: every child holds the whole block at its DVA offset."""

    name, title, plural = "mirror", "a mirror", "mirrors"
    forms = ("mirror2",)
    is_replicated = True
    is_rebuildable = True
    kernels = Kernels(_asize, whole_block, _plan, _piece, _needs_child, no_spare)

    def parse(self, token: str, text: str) -> VdevSpec | None:
        if token == "disk":
            return VdevSpec.disk()
        match = _WORD.fullmatch(token)
        if match is not None and number_in(match[1], text) == 1:
            refuse(text, "a single drive has nothing to resilver from", "use mirror2, or disk for a scrub")
        return match and VdevSpec(self.name, number_in(match[1], text))

    def missing(self, token: str) -> str | None:
        return "the number of drives is missing" if token == "mirror" else None

    def word(self, vdev: Shaped) -> str:
        return "disk" if vdev.children == 1 else f"mirror{vdev.children}"

    def check(self, vdev: VdevSpec) -> None:
        if not 1 <= vdev.children <= MAX_CHILDREN:
            refuse(str(vdev), f"a mirror has 2 to {MAX_CHILDREN} drives", "use mirror2")
        if vdev.parity:
            refuse(str(vdev), "a mirror has no parity", "leave it at 0")
        if vdev.data != 1 or vdev.spares:
            refuse(str(vdev), "mirror has 1 data drives here and no distributed spares")

    def tolerance(self, vdev: Shaped) -> int:
        return vdev.children - 1

    def can_be_rebuilt_by(self, release: ReleaseFacts) -> bool:
        return release.rebuild != "none"

    def printed(self, name: str) -> Printed | None:
        return Printed() if _PRINTED.fullmatch(name) else None

    def spec(self, children: int, printed: Printed) -> VdevSpec:
        """Return the vdev; what is printed as a mirror has two drives at least."""
        if children < 2:
            refuse(self.name, f"a mirror has 2 to {MAX_CHILDREN} drives", "use mirror2")
        return VdevSpec(self.name, children)

    def columns(self, vdev: Shaped) -> int:
        return 1

    def spanned_children(self, vdev: Shaped) -> int:
        return 1

    def unit_sectors(self, vdev: Shaped) -> int:
        return 1

    def address_space(self, vdev: Shaped, leaf_bytes: int) -> int:
        """Return the space of one child (vdev_mirror.c:vdev_mirror_open)."""
        return leaf_bytes

    def asizes(self, vdev: Shaped, psize: Integers, ashift: int) -> Integers:
        from zsim.vdevs.arrays import mirror_asizes

        return mirror_asizes(psize, ashift)

    def skips_blocks(self, column_test: bool) -> bool:
        return False

    def drives_read(self, vdev: Shaped, sectors: int) -> int:
        return 1

    def window_children(self, vdev: Shaped) -> int:
        return 1

    def rebuild_pieces(
        self, vdev: Shaped, ashift: int, begin: Integers, end: Integers, segment_bytes: int
    ) -> tuple[Integers, Integers, Integers]:
        """Return pieces of at most a segment (vdev_mirror.c:vdev_mirror_rebuild_asize)."""
        from zsim.vdevs.ranges import in_pieces

        start, stop = in_pieces(begin, end, segment_bytes)
        return start, stop, stop - start


KIND = Mirror()
