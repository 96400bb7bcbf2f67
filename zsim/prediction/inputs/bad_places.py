"""Where the bad sectors of a drive lie: in blocks that it holds a part of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.case.case import Case
from zsim.engine.model import LABEL_BYTES, PlaneModel, VdevModel
from zsim.pool.blocks import BlockTable
from zsim.prediction.inputs.bad_sectors import error_seconds, place_of_leaf, spare_children
from zsim.prediction.inputs.fault_rules import fault_rule
from zsim.prediction.inputs.hardware import PHASE_STEP
from zsim.vdevs.arrays import data_columns
from zsim.vdevs.kind import kind_of, pieces_of

I64 = NDArray[np.int64]
Truths = NDArray[np.bool_]


class BadSector(NamedTuple):
    """A sector that cannot be read.

    Attributes
    ----------
    place : int
        On the leaf, labels included [bytes].
    row : int
        Of the block table: the block that it is a part of.
    """

    place: int
    row: int


class VdevExtents(NamedTuple):
    """What lies on a top-level vdev: one entry a copy of a block, or a chunk of a rebuild.

    Attributes
    ----------
    offset, psize, asize : ndarray of int64, shape (entries,)
        [bytes]
    columns : ndarray of int64, shape (entries,)
        Data columns of its stripe, 0: as of new blocks.
    row : ndarray of int64, shape (entries,)
        Of the block table.
    """

    offset: I64
    psize: I64
    asize: I64
    columns: I64
    row: I64

    @classmethod
    def of_blocks(cls, table: BlockTable, vdev: VdevModel, number: int, rows: Truths) -> VdevExtents:
        """Return the copies of some blocks of a table on a vdev, which it counts as `number`."""
        found, copies = np.nonzero((table.dva_vdev == number) & rows[:, None])
        psize, asize = table.psize[found], table.dva_asize[found, copies]
        columns = data_columns(vdev, psize, asize, table.birth[found], vdev.ashift)
        return cls(table.dva_offset[found, copies], psize, asize, columns, found)


class HeldSpace:
    """What a drive holds of a population, as one stretch of bytes in the order of their addresses.

    Parameters
    ----------
    vdev : VdevModel
    child : int
        Of the vdev.
    held : VdevExtents
        What lies on the vdev.
    """

    def __init__(self, vdev: VdevModel, child: int, held: VdevExtents) -> None:
        self.vdev, self.child = vdev, child
        order = np.argsort(held.offset, kind="stable")
        self.held = VdevExtents(*(each[order] for each in held))
        self._ends: I64 = np.cumsum(self.held.asize)
        whole = int(self._ends[-1]) if len(self._ends) else 0
        self.width = 1 if kind_of(vdev.kind).is_replicated else vdev.children
        # Neighbours in a group of a dRAID lie on the same children: what misses one is not near what has it.
        grouped = kind_of(vdev.kind).has_groups
        self._step = max(1, round(PHASE_STEP * len(self._ends))) if grouped else 1
        self.bytes = whole // self.width

    def sector(self, at: float, shift: int = 0) -> BadSector:
        """Return the sector at a place of the stretch.

        Parameters
        ----------
        at : float
            From its beginning; beyond its end it begins anew [bytes].
        shift : int
            How far the blocks lie behind where the table has them on the vdev [bytes].
        """
        place = int(at * self.width) % int(self._ends[-1])
        first = int(np.searchsorted(self._ends, place, side="right"))
        sector = 1 << self.vdev.ashift
        left = (int(self._ends[first]) - place) // self.width
        for step in range(len(self._ends)):
            number = (first + step * self._step) % len(self._ends)
            for child, offset, size in self._pieces(number, shift):
                if child == self.child:
                    back = min(size - 1, left) if step == 0 else size - 1
                    inside = (size - 1 - back) // sector * sector
                    return BadSector(LABEL_BYTES + offset + inside, int(self.held.row[number]))
        return BadSector(-1, -1)

    def _pieces(self, number: int, shift: int) -> list[tuple[int, int, int]]:
        offset, psize, _, columns, _ = (int(each[number]) for each in self.held)
        return pieces_of(self.vdev, offset + shift, psize, self.vdev.ashift, columns)


def with_bad_sectors(
    case: Case, model: PlaneModel, places: Mapping[int, Sequence[int]], *, may_fault: bool
) -> PlaneModel:
    """Return a plane some drives of which have sectors that cannot be read.

    Parameters
    ----------
    case : Case
    model : PlaneModel
    places : mapping of int to sequence of int
        By leaf, labels included [bytes].
    may_fault : bool
        Whether errors fault a drive by the rule of the release and the platform.
    """
    rule = fault_rule(case) if may_fault else None
    by_vdev: dict[int, list[int]] = {}
    for leaf in places:
        by_vdev.setdefault(place_of_leaf(model.vdevs, leaf)[0], []).append(leaf)
    leaves = list(model.leaves)
    for leaf, bad in places.items():
        spare, sick = spare_children(case, leaf), by_vdev[place_of_leaf(model.vdevs, leaf)[0]]
        cost = error_seconds(case, redundant=spare > 0)
        health = replace(leaves[leaf].health, bad_sectors=tuple(sorted(set(bad))), recovery_s=cost)
        # Those that fail most are faulted first, and only as many as the vdev can do without.
        if rule is not None and leaf in sick[:spare] and not (rule.alone and len(sick) > 1):
            health = replace(
                health,
                fault_after=rule.errors,
                fault_window_s=rule.window_s,
                fault_delay_s=rule.delay_s,
            )
        leaves[leaf] = replace(leaves[leaf], health=health)
    return replace(model, leaves=tuple(leaves))
