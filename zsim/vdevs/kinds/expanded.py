"""RAID-Z to which drives were added (``zpool attach``, 2.3): old blocks keep their width."""

from __future__ import annotations

import re
from typing import ClassVar

from zsim.base.jit import njit
from zsim.vdevs.kind import (
    Plan,
    Printed,
    ReleaseFacts,
    Shaped,
    VdevShape,
    VdevSpec,
    number_in,
    refuse,
)
from zsim.vdevs.kinds.raidz import Raidz
from zsim.vdevs.raidz import raidz_asize, raidz_map, reflowed_map

_WORD = re.compile(r"raidz(\d*)x(\d+)\s*((?:\+\s*\d+\s*)+)", re.ASCII)


@njit
def _asize(psize: int, shape: VdevShape) -> int:
    return raidz_asize(psize, shape.ashift, shape.data + shape.parity, shape.parity)


@njit
def _plan(offset: int, psize: int, shape: VdevShape) -> Plan:
    ashift, children, parity, before = shape.ashift, shape.children, shape.parity, shape.data + shape.parity
    if before == children:
        columns, first, base, big, small, sector = raidz_map(offset, psize, ashift, children, parity)
    else:
        columns, first, base, big, small, sector = reflowed_map(
            offset, psize, ashift, children, parity, before
        )
    return columns, first, 0, base, big, small, sector


class ExpandedRaidz(Raidz):
    """RAID-Z that has grown: ``raidz1x4+1`` was made of four drives and has five now.

    Notes
    -----
    An expansion moves every allocated sector b of the address space from (b mod W, b div W) to
    (b mod (W+1), b div (W+1)) and touches no block pointer, so that a block keeps its address, its asize and
    its parity for every W - parity sectors of data; what is written later has the new width (OpenZFS 2.3
    vdev_raidz.c:raidz_reflow_sync, vdev_raidz_get_logical_width).  Which width a block has, its asize tells.
    """

    name, title, plural = "expanded-raidz", "expanded RAID-Z", "expanded RAID-Z"
    forms: ClassVar[tuple[str, ...]] = ("raidz1x4+1",)
    has_widths = True
    repairs_overwritten = False
    since = "OpenZFS 2.3"
    # The real test counts the sectors of one row of the present width too (vdev_raidz_need_resilver, 2.3).
    kernels = Raidz.kernels._replace(asize=_asize, plan=_plan)

    def parse(self, token: str, text: str) -> VdevSpec | None:
        match = _WORD.fullmatch(token)
        if match is None:
            return None
        grown = sum(number_in(digits.strip(), text) for digits in match[3].split("+")[1:])
        parity, before = number_in(match[1] or "1", text), number_in(match[2], text)
        if not grown:
            refuse(text, "a RAID-Z grows by one drive or more", f"use raidz{parity}x{before}")
        return VdevSpec(self.name, before + grown, parity, before + grown - parity, grown=grown)

    def missing(self, token: str) -> str | None:
        return None

    def word(self, vdev: Shaped) -> str:
        return f"raidz{vdev.parity}x{vdev.children - vdev.grown}+{vdev.grown}"

    def check(self, vdev: VdevSpec) -> None:
        if not 1 <= vdev.grown < vdev.children:
            refuse(str(vdev), "an expanded RAID-Z has grown by one drive or more", "use raidz1x4+1")
        for children in (vdev.children - vdev.grown, vdev.children):
            VdevSpec.raidz(vdev.parity, children)
        if vdev.data != vdev.children - vdev.parity or vdev.spares:
            refuse(str(vdev), f"it has {vdev.children - vdev.parity} data drives and no distributed spares")

    def is_known_to(self, release: ReleaseFacts) -> bool:
        return release.raidz_expansion

    def status_word(self, vdev: Shaped) -> str:
        return f"raidz{vdev.parity}"

    def printed(self, name: str) -> Printed | None:
        """Return None: zpool prints it as any other RAID-Z; that it has grown, other lines tell."""
        return None

    def spec(self, children: int, printed: Printed) -> VdevSpec:
        grown = max(1, printed.grown)
        return VdevSpec(self.name, children, printed.parity, children - printed.parity, grown=grown)

    def metaslab_space(self, vdev: Shaped, leaf_bytes: int) -> int:
        """Return the space it was made with: metaslabs keep their size (vdev.c:vdev_metaslab_set_size)."""
        return leaf_bytes * (vdev.children - vdev.grown)

    def widths(self, vdev: Shaped) -> range:
        return range(vdev.data - vdev.grown, vdev.data + 1)


KIND = ExpandedRaidz()
