"""Groups of a dRAID that have lost a child: their share of the data, and miniatures that have some."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from zsim.base.constants import constant, whole_constant
from zsim.case.case import Case
from zsim.pool.blocks import BlockTable
from zsim.pool.miniature.shape import Miniature
from zsim.pool.recipes.recipe import TopLevel
from zsim.scan.program import DamagedVdev, touched
from zsim.scenario.layout import VdevSpec
from zsim.scenario.releases.capacity import vdev_asize
from zsim.vdevs.kind import kind_of

LEAST_OF_USUAL = constant("population.least_of_usual")
"""A miniature with a smaller share of degraded groups than so much of the real pool's is moved."""
MOST_SLICES = whole_constant("population.most_slices")
"""Within one slice every child but the spares is in some group; a spare of one slice is none of the next."""


def degraded_share(spec: VdevSpec, failed: int) -> float:
    """Return the share of a vdev's data that lies in groups with a failed child.

    Parameters
    ----------
    spec : VdevSpec
    failed : int
        Children.

    Returns
    -------
    float
        By the rule of the kind of vdev, `zsim.vdevs.kind.VdevKind.repaired_share`; 1 without groups.
    """
    return kind_of(spec.kind).repaired_share(spec, failed)


def degraded_bytes(case: Case, table: BlockTable, shift: int = 0) -> tuple[float, float]:
    """Return what the damaged dRAID holds, and how much of it lies in groups with a failed child [bytes].

    Parameters
    ----------
    case : Case
    table : BlockTable
    shift : int
        As if all blocks lay so much behind [bytes].
    """
    spec = case.layout.vdevs[0]
    damaged = DamagedVdev(
        spec.kind,
        spec.children,
        spec.parity,
        case.ashift,
        tuple(range(case.replace)),
        spec.data,
        spec.spares,
    )
    here = table.dva_vdev[:, 0] == 0
    offset, asize = table.dva_offset[here, 0] + shift, table.dva_asize[here, 0]
    lost = float(asize[touched(offset, table.psize[here], damaged)].sum())
    return float(asize.sum()), lost


def with_degraded_groups(case: Case, pool: Miniature) -> Miniature:
    """Return a miniature of a dRAID moved on by whole groups to where a fair share of them lost a child.

    Of a case that repairs groups (`zsim.case.case.Case.repairs_groups`).
    It stands for the whole vdev, but lies in few of its groups: by chance none of them, or hardly one, is to
    be repaired, and nothing can be told of the many that are.  Its blocks keep their places in the groups.
    """
    if pool.scale == 1.0:
        return pool
    here, lost = degraded_bytes(case, pool.table)
    usual = degraded_share(case.layout.vdevs[0], case.replace) * here
    if lost >= LEAST_OF_USUAL * usual or here == 0.0:
        return pool
    found = {shift: degraded_bytes(case, pool.table, shift)[1] for shift in _shifts(case, pool.table)}
    shift = next((each for each, lost in found.items() if lost >= LEAST_OF_USUAL * usual), None)
    if shift is None:
        shift = max(found, key=lambda each: found[each], default=0)
    return _moved(pool, shift)


def _shifts(case: Case, table: BlockTable) -> list[int]:
    """Return by how much a miniature may be moved, groups of some slices, as far as the vdev goes [bytes]."""
    spec = case.layout.vdevs[0]
    width, active = spec.data + spec.parity, spec.children - spec.spares
    group, groups = kind_of(spec.kind).group_bytes(spec), active // math.gcd(width, active)
    end = int(table.dva_offset[table.dva_vdev == 0].max(initial=0)) + group
    room = vdev_asize(spec, case.damaged_size) - end
    return [group * number for number in range(1, min(MOST_SLICES * groups, room // group) + 1)]


def _moved(pool: Miniature, shift: int) -> Miniature:
    table = pool.table
    offset = np.where(table.dva_vdev == 0, table.dva_offset + shift, table.dva_offset)
    levels = tuple(
        _level_moved(level, shift) if number == 0 else level
        for number, level in zip(pool.vdevs, pool.recipe.vdevs, strict=True)
    )
    recipe = replace(pool.recipe, vdevs=levels)
    return replace(pool, table=replace(table, dva_offset=offset), recipe=recipe)


def _level_moved(level: TopLevel, shift: int) -> TopLevel:
    return replace(level, starts=tuple((level.slab_starts() + shift).tolist()))
