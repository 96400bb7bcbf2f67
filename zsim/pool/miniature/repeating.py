"""More metadata like that of a miniature: a real pool has so much that a scan reads ahead without end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from zsim.base.constants import constant, whole_constant
from zsim.pool.blocks import LEVEL_OBJSET, BlockTable
from zsim.pool.recipes.recipe import TopLevel

PLACES = 8
"""Copies lie within the part of the drives that one of so many heaps stands for."""
WANTED, MOST_TIMES = whole_constant("sampling.repeated"), 4
READ_BYTES, LEAST = constant("sampling.read_bytes"), constant("sampling.worth_repeating")


def repeated_metadata(table: BlockTable, real: Mapping[int, TopLevel]) -> tuple[BlockTable, int] | None:
    """Return copies of the metadata of a miniature below one root, and how many copies these are.

    Parameters
    ----------
    table : BlockTable
        In traversal order, at distances as in the real pool.
    real : mapping of int to TopLevel
        The vdevs by their numbers in the table.

    Returns
    -------
    tuple or None
        None where the table has none, has so many itself, or so few that their time does not matter.
    """
    dnodes = table.object == 0
    own = table.objset != 0
    roots = np.flatnonzero(own & dnodes & (table.level > 0) & (table.level != LEVEL_OBJSET))
    rows = np.flatnonzero(
        own & (table.level != LEVEL_OBJSET) & np.where(dnodes, table.level == 0, table.level != 0)
    )
    if len(roots) == 0 or len(rows) == 0 or len(rows) >= MOST_TIMES * WANTED:
        return None
    children = sum(level.spec.children for level in real.values())
    if len(rows) * READ_BYTES * children < LEAST * table.allocated_bytes:
        return None
    copies = max(2, math.ceil(WANTED / len(rows)))
    found = table.take(np.concatenate([roots[:1], np.tile(rows, copies)]))
    number = np.concatenate([[0], np.repeat(np.arange(copies), len(rows))])
    offset = found.dva_offset.copy()
    for vdev, level in real.items():
        space, row = level.slab_bytes * level.slab_count, level.row_bytes
        shift = (number * space // (PLACES * copies)) // row * row
        here = found.dva_vdev == vdev
        moved = offset + shift[:, None]
        moved = np.where(moved + found.dva_asize > space, moved - space // row * row, moved)
        offset = np.where(here & (moved >= 0), moved, offset)
    return replace(found, dva_offset=offset), copies
