"""dRAID; its map is `zsim.vdevs.draid`, its permutations are `zsim.vdevs.permutations`."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from zsim.base.jit import njit
from zsim.vdevs.draid import (
    RESERVE,
    ROW_HEIGHT,
    draid_asize,
    draid_first_part,
    draid_map,
    draid_needs_child,
    draid_piece,
    draid_slice_rows,
    draid_spare,
)
from zsim.vdevs.kind import (
    MAX_CHILDREN,
    MAX_PARITY,
    Kernels,
    Piece,
    Plan,
    Printed,
    ReleaseFacts,
    Shaped,
    VdevKind,
    VdevShape,
    VdevSpec,
    number_in,
    refuse,
)

if TYPE_CHECKING:
    from zsim.vdevs.kind import Integers

MAX_SPARES = 100
DEFAULT_DATA = 8
LARGEST_BLOCK = 16 << 20
_WORD = re.compile(r"draid(\d*)((?::\d+[dcs])+)", re.ASCII)
_PRINTED = re.compile(r"draid([123]?)((?::\d{1,4}[dcs])*)(?:-\d{1,6})?", re.ASCII)


@njit
def _asize(psize: int, shape: VdevShape) -> int:
    return draid_asize(psize, shape.ashift, shape.data, shape.parity)


@njit
def _part(offset: int, psize: int, shape: VdevShape) -> int:
    return draid_first_part(offset, psize, shape.ashift, shape.data, shape.parity)


@njit
def _plan(offset: int, psize: int, shape: VdevShape) -> Plan:
    start, number, base, big, small, whole = draid_map(
        offset, psize, shape.ashift, shape.data, shape.parity, shape.children, shape.spares
    )
    return shape.data + shape.parity, start, number, base, big, small, whole


@njit
def _piece(plan: Plan, column: int, whole: bool, shape: VdevShape, table: Integers) -> Piece:
    child, place = draid_piece(column, plan[1], plan[2], plan[3], shape.spares, table)
    if whole:
        return child, place, plan[6]
    return child, place, plan[5] + (1 << shape.ashift) if column < plan[4] else plan[5]


@njit
def _needs_child(offset: int, psize: int, shape: VdevShape, table: Integers, child: int) -> bool:
    return draid_needs_child(
        offset, psize, shape.ashift, shape.data, shape.parity, shape.spares, table, child
    )


@njit
def _spare(spare: int, place: int, shape: VdevShape, table: Integers) -> int:
    return draid_spare(spare, place, shape.data, shape.parity, shape.spares, table)


class Draid(VdevKind):
    """dRAID: groups of data + parity columns, laid over permuted children."""

    name, title, plural = "draid", "dRAID", "dRAID"
    forms = ("draid2:8d:41c:2s",)
    is_row_aligned = has_groups = has_fill = has_distributed_spares = True
    is_rebuildable = True
    least_parity = 1
    since = "openzfs-2.1"
    kernels = Kernels(_asize, _part, _plan, _piece, _needs_child, _spare)

    def parse(self, token: str, text: str) -> VdevSpec | None:
        match = _WORD.fullmatch(token)
        if match is None:
            return None
        parity, numbers = number_in(match[1] or "1", text), {}
        for part in match[2].split(":")[1:]:
            if part[-1] in numbers:
                refuse(text, f"it gives the number ending in {part[-1]!r} twice", "write draid2:8d:41c:2s")
            numbers[part[-1]] = number_in(part[:-1], text)
        if "c" not in numbers:
            refuse(text, "the number of drives is missing", "add it as in draid2:8d:41c:2s")
        children, spares = numbers["c"], numbers.get("s", 0)
        data = numbers.get("d", max(1, min(DEFAULT_DATA, children - spares - parity)))
        return VdevSpec(self.name, children, parity, data, spares)

    def missing(self, token: str) -> str | None:
        known = re.fullmatch(r"draid[123]?(?::\d+[ds])*", token)
        return "the number of drives is missing" if known else None

    def word(self, vdev: Shaped) -> str:
        spares = f":{vdev.spares}s" if vdev.spares else ""
        return f"draid{vdev.parity}:{vdev.data}d:{vdev.children}c{spares}"

    def check(self, vdev: VdevSpec) -> None:
        if not 1 <= vdev.parity <= MAX_PARITY:
            refuse(str(vdev), "dRAID has 1, 2 or 3 parity drives a group")
        if not 2 <= vdev.children <= MAX_CHILDREN:
            refuse(str(vdev), f"a dRAID has 2 to {MAX_CHILDREN} drives", "use several vdevs")
        if not 0 <= vdev.spares <= MAX_SPARES:
            refuse(str(vdev), f"a dRAID has 0 to {MAX_SPARES} distributed spares")
        if vdev.data < 1:
            refuse(str(vdev), "a dRAID group has at least one data drive", "use 8d or the like")
        room = vdev.children - vdev.spares
        if vdev.data + vdev.parity > room:
            reason = (
                f"a group of {vdev.data} data + {vdev.parity} parity drives does not fit into"
                f" {vdev.children} drives less {vdev.spares} spares"
            )
            refuse(str(vdev), reason, "take fewer data drives or spares, or more drives")

    def is_known_to(self, release: ReleaseFacts) -> bool:
        return release.draid

    def can_be_rebuilt_by(self, release: ReleaseFacts) -> bool:
        return release.rebuild == "mirror-draid"

    def status_word(self, vdev: Shaped) -> str:
        return self.word(vdev)

    def printed(self, name: str) -> Printed | None:
        match = _PRINTED.fullmatch(name)
        if match is None:
            return None
        parts = {part[-1]: int(part[:-1]) for part in match[2].split(":")[1:]}
        return Printed(int(match[1] or 1), parts.get("d", 0), parts.get("s", 0), children=parts.get("c", 0))

    def spec(self, children: int, printed: Printed) -> VdevSpec:
        """Return the vdev; without a number of data drives the one that ``zpool create`` takes.

        Of a dRAID that tells its drives so many are taken: ``zpool status -e`` leaves out healthy ones.
        """
        children = max(children, printed.children)
        parity, data, spares = printed.parity, printed.data, printed.spares
        told = data if data > 0 else max(1, min(DEFAULT_DATA, children - spares - parity))
        return VdevSpec(self.name, children, parity, told, spares)

    def columns(self, vdev: Shaped) -> int:
        return vdev.data + vdev.parity

    def row_sectors(self, vdev: Shaped) -> int:
        return vdev.data + vdev.parity

    def unit_sectors(self, vdev: Shaped) -> int:
        return vdev.data + vdev.parity

    def group_bytes(self, vdev: Shaped) -> int:
        return (vdev.data + vdev.parity) * ROW_HEIGHT

    def turn_bytes(self, vdev: Shaped) -> int:
        return (vdev.children - vdev.spares) * ROW_HEIGHT

    def spare_run(self, vdev: Shaped) -> int:
        return draid_slice_rows(vdev.data, vdev.parity, vdev.children, vdev.spares) * ROW_HEIGHT

    def address_space(self, vdev: Shaped, leaf_bytes: int) -> int:
        """Return the space in whole rows and groups (vdev_draid.c:vdev_draid_open)."""
        rows, group = (leaf_bytes - RESERVE) // ROW_HEIGHT, self.group_bytes(vdev)
        return rows * ROW_HEIGHT * (vdev.children - vdev.spares) // group * group

    def asizes(self, vdev: Shaped, psize: Integers, ashift: int) -> Integers:
        from zsim.vdevs.arrays import draid_asizes

        return draid_asizes(psize, ashift, vdev.data, vdev.parity)

    def skips_blocks(self, column_test: bool) -> bool:
        return True

    def repaired_share(self, vdev: Shaped, failed: int) -> float:
        """Return the share of the groups that have one of the failed children.

        Every child is in as many groups as any other, so the share is that of the ways to lay a group which
        include one of them.
        """
        width = vdev.data + vdev.parity
        return 1.0 - math.comb(vdev.children - failed, width) / math.comb(vdev.children, width)

    def rebuild_segment(self, vdev: Shaped, segment_bytes: int) -> int:
        return min(segment_bytes * vdev.data, LARGEST_BLOCK)

    def rebuild_pieces(
        self, vdev: Shaped, ashift: int, begin: Integers, end: Integers, segment_bytes: int
    ) -> tuple[Integers, Integers, Integers]:
        """Return pieces of whole rows inside one group (vdev_draid.c:vdev_draid_rebuild_asize).

        Each is at most a segment for each data column.
        """
        from zsim.vdevs.ranges import cut, in_pieces

        begin, end = cut(begin, end, self.group_bytes(vdev))
        row_bytes = (vdev.data + vdev.parity) << ashift
        rows = self.rebuild_segment(vdev, segment_bytes) // (vdev.data << ashift)
        start, stop = in_pieces(begin, end, rows * row_bytes)
        return start, stop, (stop - start) // row_bytes * (vdev.data << ashift)

    def table(self, vdev: Shaped) -> Integers:
        """Return the permutations of the children."""
        from zsim.vdevs.permutations import draid_permutations

        return draid_permutations(vdev.children)


KIND = Draid()
