"""Degraded groups of a dRAID: their share of the data, and miniatures that contain some."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from zsim.base.arrays import F64
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


def degraded_bytes(case: Case, table: BlockTable) -> tuple[float, float]:
    """Return what the damaged dRAID holds, and how much of it lies in groups with a failed child [bytes]."""
    here = table.dva_vdev[:, 0] == 0
    offset, asize = table.dva_offset[here, 0], table.dva_asize[here, 0]
    lost = float(asize[touched(offset, table.psize[here], _damaged(case))].sum())
    return float(asize.sum()), lost


def _damaged(case: Case) -> DamagedVdev:
    spec = case.layout.vdevs[0]
    failed = tuple(range(case.replace))
    return DamagedVdev(spec.kind, spec.children, spec.parity, case.ashift, failed, spec.data, spec.spares)


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
    spec, most = case.layout.vdevs[0], _most_moved(case, pool)
    group = kind_of(spec.kind).group_bytes(spec)
    found = lost_when_moved(case, pool.table, group, most)
    enough = np.flatnonzero(found[1:] >= LEAST_OF_USUAL * usual)
    if len(enough):
        return _moved(pool, group * (1 + int(enough[0])))
    return _moved(pool, group * (1 + int(np.argmax(found[1:]))) if most > 0 else 0)


def _most_moved(case: Case, pool: Miniature) -> int:
    """Return by how many groups a miniature may be moved: those of some slices, as far as the vdev goes."""
    spec, table = case.layout.vdevs[0], pool.table
    width, active = spec.data + spec.parity, spec.children - spec.spares
    group, groups = kind_of(spec.kind).group_bytes(spec), active // math.gcd(width, active)
    end = int(table.dva_offset[table.dva_vdev == 0].max(initial=0)) + group
    room = vdev_asize(spec, case.damaged_size) - end
    return max(0, min(MOST_SLICES * groups, room // group))


def lost_when_moved(case: Case, table: BlockTable, group: int, most: int) -> F64:
    """Return what lies in groups with a failed child when all is moved by whole groups.

    Parameters
    ----------
    case : Case
    table : BlockTable
    group : int
        Size of a group [bytes].
    most : int
        Groups it is moved by at most.

    Returns
    -------
    ndarray of float64, shape (most + 1,)
        As `degraded_bytes` finds it, by 0, 1, 2 ... groups [bytes]: each group is looked at once, that of a
        block counts, and the next where the block goes on there.
    """
    here = table.dva_vdev[:, 0] == 0
    number, within = np.divmod(table.dva_offset[here, 0], group)
    goes_on = within + table.dva_asize[here, 0] > group
    kinds, which = np.unique(2 * number + goes_on, return_inverse=True)
    held = np.bincount(which, table.dva_asize[here, 0])
    # Of each group, where it comes to lie, and the one behind that.
    starts = group * (kinds[:, None] // 2 + np.arange(most + 2, dtype=np.int64))
    lost = touched(starts.ravel(), np.ones(starts.size, np.int64), _damaged(case)).reshape(starts.shape)
    some = lost[:, :-1] | (lost[:, 1:] & (kinds % 2 > 0)[:, None])
    moved: F64 = held.astype(np.float64) @ some
    return moved


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
