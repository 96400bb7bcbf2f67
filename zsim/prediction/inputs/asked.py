"""What clients read in a pool of which a population has some top-level vdevs only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from zsim.base.constants import whole_constant
from zsim.pool.blocks import BlockTable
from zsim.pool.measured.block_list import joined
from zsim.scenario.layout import VdevSpec
from zsim.vdevs.kind import NORMAL

MOST_GROUPS, STRETCH = whole_constant("population.most_groups"), whole_constant("population.stretch")
"""Times what a population holds that clients find at most, and blocks that are left together."""


def on_all_vdevs(table: BlockTable, vdevs: Sequence[VdevSpec]) -> BlockTable:
    """Return blocks that lie on all data vdevs of a pool as those of a population lie on its own.

    Clients read in the whole pool.  Were what they ask for all on the few vdevs of a population, each of
    these would get many times its share of the requests.

    Parameters
    ----------
    table : BlockTable
        Of a population, with the numbers that its top-level vdevs have in the pool.
    vdevs : sequence of VdevSpec
        The pool's.

    Returns
    -------
    BlockTable
        Its data blocks, and the same once more on other vdevs of the same shape: each stretch on one group
        after the other, as a file goes from vdev to vdev; some stretches of each in pools of many vdevs.
        The table itself if there are no others.
    """
    data = ~table.is_metadata
    first = table.dva_vdev[:, 0]
    here = [number for number in np.unique(first[data]).tolist() if vdevs[number].alloc_class == NORMAL]
    groups = _groups(here, vdevs)
    if not groups:
        return table
    stretch, every = np.cumsum(data) // STRETCH, -(-(1 + len(groups)) // MOST_GROUPS)
    rows = np.flatnonzero(data & (stretch % every == 0))
    parts, order = [table.take(rows)], [stretch[rows]]
    for turn, group in enumerate(groups, 1):
        # What lies on special vdevs is read there, whichever data vdevs the rest of the pool is on.
        number = np.array(
            [-1 if vdev.alloc_class == NORMAL else at for at, vdev in enumerate(vdevs)], np.int32
        )
        number[list(group)] = list(group.values())
        rows = np.flatnonzero(data & (number[first] >= 0) & (stretch % every == turn % every))
        parts.append(_moved(table.take(rows), number))
        order.append(stretch[rows])
    return joined(parts).take(np.argsort(np.concatenate(order), kind="stable"))


def _groups(here: Sequence[int], vdevs: Sequence[VdevSpec]) -> list[dict[int, int]]:
    """Return for which other vdevs the simulated ones stand: each for one of its shape in every group."""
    groups: list[dict[int, int]] = []
    for shape in dict.fromkeys(vdevs[number] for number in here):
        stand = [number for number in here if vdevs[number] == shape]
        others = [number for number, vdev in enumerate(vdevs) if vdev == shape and number not in stand]
        for turn, number in enumerate(others):
            group, place = divmod(turn, len(stand))
            if group == len(groups):
                groups.append({})
            groups[group][stand[place]] = number
    return groups


def _moved(table: BlockTable, number: np.ndarray[tuple[int], np.dtype[np.int32]]) -> BlockTable:
    """Return blocks on other vdevs, without their further copies: clients read the first."""
    vdev = np.full_like(table.dva_vdev, -1)
    vdev[:, 0] = number[table.dva_vdev[:, 0]]
    return replace(table, dva_vdev=vdev, dva_count=np.ones_like(table.dva_count))
