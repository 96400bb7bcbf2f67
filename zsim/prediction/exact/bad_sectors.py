"""The bad sectors of an exact run: their places in the tiles of the pool, and the time they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from zsim.base.arrays import Rows
from zsim.case.case import Case
from zsim.engine.model import VdevModel
from zsim.prediction.exact.tiles import Tile, Tiling
from zsim.prediction.inputs.bad_places import BadSector, HeldSpace, VdevExtents
from zsim.prediction.inputs.bad_sectors import (
    LostTime,
    ReadErrors,
    clustered,
    error_seconds,
    generator_of,
    place_of_leaf,
    reckoned,
    sick_order,
    sick_that_are_read,
    spare_children,
)
from zsim.prediction.inputs.hardware import vdev_models

Found = tuple[list[BadSector], int]
"""The bad sectors of a drive, and the blocks without another copy in which they lie."""


def bad_sectors_of(case: Case, tiling: Tiling) -> dict[int, Found]:
    """Return the bad sectors of every drive that has some and is read, by leaf.

    Returns
    -------
    dict of int to tuple
        The sectors, in clusters, as many as are stated but no more than the drive holds; and the blocks of
        which there is no other copy in which they lie.
    """
    return {
        leaf: _Placing(case, tiling, leaf).placed(count) for leaf, count in sick_that_are_read(case).items()
    }


@dataclass
class _Placing:
    """Places the bad sectors of a drive, cluster by cluster."""

    case: Case
    tiling: Tiling
    leaf: int
    held: dict[tuple[int, bool, int], HeldSpace] = field(default_factory=dict)

    @cached_property
    def _where(self) -> tuple[int, int, VdevModel]:
        vdevs = vdev_models(self.case)
        number, child = place_of_leaf(vdevs, self.leaf)
        return number, child, vdevs[number]

    def placed(self, count: int) -> Found:
        """Return so many bad sectors, and the blocks without another copy in which they lie."""
        tiles = [each for each in self.tiling.tiles() if self._held(each).bytes > 0]
        ends = np.cumsum([self._held(each).bytes * (each.rows / self.tiling.rows_of(each)) for each in tiles])
        places = np.sort(clustered(generator_of(self.case, self.leaf), count, float(ends[-1])))
        found: list[BadSector] = []
        blocks: set[tuple[int, int]] = set()
        for at in places.tolist():
            number = min(int(np.searchsorted(ends, at, side="right")), len(tiles) - 1)
            tile, before = tiles[number], float(ends[number - 1]) if number else 0.0
            held = self._held(tile)
            sector = held.sector(at - before, int(tile.shift[self._where[0]]))
            found.append(sector)
            table = self.tiling.table(tile.base, first=tile.number == 0)
            if table.dva_count[sector.row] == 1:
                blocks.add((tile.number, sector.row))
        return found, len(blocks)

    def _held(self, tile: Tile) -> HeldSpace:
        number, child, vdev = self._where
        role = (number - tile.turn) % self.tiling.vdevs
        key = (tile.base, tile.number == 0, role)
        if key not in self.held:
            table = self.tiling.table(tile.base, first=tile.number == 0)
            every = np.ones(len(table), bool)
            self.held[key] = HeldSpace(vdev, child, VdevExtents.of_blocks(table, vdev, role, every))
        return self.held[key]


def lost_time(
    case: Case, health: Rows, blocks: Mapping[int, int], known: Mapping[int, ReadErrors]
) -> tuple[LostTime, ...]:
    """Return what the bad sectors of each drive have cost in a run.

    Parameters
    ----------
    case : Case
    health : ndarray of HEALTH_DTYPE, shape (leaves,)
        After the run.
    blocks : mapping of int to int
        Blocks without another copy in which bad sectors lie, by leaf.
    known : mapping of int to ReadErrors
        What one does to the scan, by leaf.
    """
    found = []
    for leaf, _ in sick_order(case):
        errors, faulted = int(health["errors"][leaf]), float(health["faulted"][leaf])
        each, spare = known.get(leaf) or reckoned(case, leaf), spare_children(case, leaf)
        cost = error_seconds(case, redundant=spare > 0)
        found.append(
            LostTime(
                leaf,
                errors * each.wait_s,
                errors,
                cost if errors else 0.0,
                faulted if np.isfinite(faulted) else None,
                round(blocks.get(leaf, 0) * each.share) if spare == 0 else 0,
            )
        )
    return tuple(found)
