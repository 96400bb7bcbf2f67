"""One tile of a pool, run whole in the middle of the places of its copies, and scaled to the pool."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from zsim.base.constants import constant
from zsim.case.case import Case
from zsim.engine.model import PlaneModel
from zsim.operation.blocks import KeptTables
from zsim.operation.memory_limit import MemoryLimit, extent_rules
from zsim.operation.result import seconds_of
from zsim.operation.run import RunResult, RunSetup
from zsim.pool.blocks import BlockTable
from zsim.prediction.inputs.clients import has_hours
from zsim.prediction.inputs.population import WorldPopulation, in_heaps, miniature
from zsim.prediction.inputs.room import make_room
from zsim.prediction.runs.giving_way import run_giving_way
from zsim.prediction.runs.member import MemberResult, population_setup, run_member, share_correction
from zsim.prediction.runs.sampling.rounds import ScanMemory
from zsim.prediction.runs.sampling.run import SampledRun
from zsim.prediction.runs.sampling.windows import WindowPlan
from zsim.scan.sorted import DVA_BYTES, SIO_BYTES
from zsim.scenario.releases.profile import COPIES
from zsim.vdevs.kind import NORMAL

WHOLE = constant("sampling.whole")
"""Blocks of a list that stand for no more than so many times themselves are all of it."""


def run_world(case: Case, blocks: int, plane: Callable[[Case], PlaneModel]) -> MemberResult:
    """Return what a possible world gives on a population of so many blocks: a tile where it can be one.

    Parameters
    ----------
    case : Case
        In its world.
    blocks : int
    plane : callable
        From the world to its data plane, which is asked for once there is a population.
    """
    pool = miniature(case, blocks=blocks)
    return run_pool(case, pool, plane(case))


def run_pool(
    case: Case, pool: WorldPopulation, model: PlaneModel, kept: KeptTables | None = None
) -> MemberResult:
    """Return what a world gives on a population.

    Parameters
    ----------
    case : Case
        In its world.
    pool : WorldPopulation
    model : PlaneModel
    kept : KeptTables, optional
        What was made of the same blocks for another run.

    Returns
    -------
    MemberResult
        At the size of the pool: of a tile (`is_tile`), run whole; else of a miniature, scaled (`scaled`).
    """
    make_room(len(pool.table))
    result = run_giving_way(partial(_run_on, case, pool, kept), model)
    return replace(result, written=pool.written)


def _run_on(case: Case, pool: WorldPopulation, kept: KeptTables | None, model: PlaneModel) -> MemberResult:
    """Return what a world gives on a population and a data plane."""
    if not is_tile(case, model, pool):
        return run_member(case, pool=pool, model=model)
    run = tile_run(case, model, pool, whole_plan(case, pool), kept=kept)
    return tile_result(run, run.finish(), model)


def is_tile(case: Case, model: PlaneModel, pool: WorldPopulation) -> bool:
    """Tell whether a population says of the pool what a tile of it does, whatever was done long before."""
    return in_windows(case, model) and not in_rounds(case, pool)


def in_windows(case: Case, model: PlaneModel) -> bool:
    """Tell whether nothing in the operation depends on what was done long before.

    Returns
    -------
    bool
        False where caches fill on the way (shingled drives, fast regions of flash) on a leaf that may be
        written to much, of copies, a second replacement and hours, and in the reference engine.
    """
    drives = [model.leaves[leaf].drive for leaf in _filled_leaves(model)]
    grows = any(drive.smr_band_bytes > 0 or drive.slc_cache_bytes > 0 for drive in drives)
    plain = case.operation not in COPIES and case.second_at is None and case.engine == "compiled"
    return plain and not grows and not has_hours(case)


def _filled_leaves(model: PlaneModel) -> set[int]:
    """Return the leaves that an operation may write much to: no special mirror of a sound pool."""
    aside = {
        leaf
        for vdev in model.vdevs
        if vdev.alloc_class != NORMAL and not vdev.damaged
        for child in range(vdev.children)
        for leaf in vdev.written(child)
    }
    return set(range(len(model.leaves))) - aside


def in_rounds(case: Case, pool: WorldPopulation) -> bool:
    """Tell whether a pool that is run whole has no memory for the records of its sorted scan."""
    return is_whole(case, pool) and _short_limit(case, pool) is not None


def _short_limit(case: Case, pool: WorldPopulation) -> MemoryLimit | None:
    """Return the limit of memory that the records of a sorted scan do not fit; None where they do."""
    memory = case.scan_memory
    if case.release.order != "sorted" or memory is None:
        return None
    limit = MemoryLimit(case.release, memory, case.alloc)
    tiles = 1.0 if is_whole(case, pool) else pool.scale * pool.collected(case.operation)
    entries = float(pool.table.dva_count.sum()) * tiles
    return limit if entries * (SIO_BYTES + DVA_BYTES) >= limit.hard else None


def _memory(case: Case, pool: WorldPopulation) -> ScanMemory | None:
    """Return what a scan that is short of memory has; None where it has enough.

    Blocks move where any place is as good as theirs: not between the groups of a dRAID, nor where free space
    is known.
    """
    limit = _short_limit(case, pool) if case.scenario.block_list is None else None
    if limit is None:
        return None
    moving = () if pool.visited is None else pool.levels
    levels = {number: case.vdevs[number] for number in moving}
    return ScanMemory(limit, extent_rules(case.release), levels, 1.0 / pool.collected(case.operation))


def is_whole(case: Case, pool: WorldPopulation) -> bool:
    """Tell whether no metaslab of the population is a reduced one, or all blocks of a list are there."""
    if case.scenario.block_list is not None:
        return pool.scale <= WHOLE
    return pool.damaged.stands_for == 0


def whole_plan(case: Case, pool: WorldPopulation) -> WindowPlan:
    """Return the plan by which a tile, or a pool that is no larger, is run whole."""
    return as_tile(WindowPlan(whole=sys.maxsize), case, pool)


def as_tile(plan: WindowPlan, case: Case, pool: WorldPopulation) -> WindowPlan:
    """Return a plan with how often a population is in the pool.

    Returns
    -------
    WindowPlan
        Its metadata phase comes `scale` times, its issue `share_correction` times that; both once where the
        population is the pool.
    """
    if is_whole(case, pool):
        return plan
    times = pool.scale * share_correction(case, pool)
    return replace(plan, times=times, visits=pool.scale, memory=_memory(case, pool))


def tile_run(
    case: Case,
    model: PlaneModel,
    pool: WorldPopulation,
    plan: WindowPlan,
    progress: Callable[[float, float], None] | None = None,
    kept: KeptTables | None = None,
) -> SampledRun:
    """Return the run of a tile, which `plan` may sample."""
    return SampledRun(tile_setup(case, model, pool), plan, progress, kept)


def tile_setup(case: Case, model: PlaneModel, pool: WorldPopulation) -> RunSetup:
    """Return the run of a tile's blocks in the middle of the places of all tiles.

    Returns
    -------
    RunSetup
        Limits are those of the pool: the tile is a part of it, not a smaller pool.
    """
    part = case.scenario.block_list is None and not is_whole(case, pool)
    return replace(population_setup(case, pool, _placed(case, pool), model), part=part)


def _placed(case: Case, pool: WorldPopulation) -> BlockTable:
    """Return the blocks of a tile where the media rate is the mean over those of all tiles."""
    return _in_the_middle(case, pool) if pool.visited is None else in_heaps(case, pool)


def _in_the_middle(case: Case, pool: WorldPopulation) -> BlockTable:
    """Return the blocks of a tile in the middle of the places of all tiles: the mean rate is there."""
    listed = case.scenario.block_list is not None or case.scenario.metaslabs is not None
    level = pool.damaged
    if listed or pool.centred or level.stands_for == 0 or len(set(case.layout.data)) > 1:
        return pool.table
    offset, vdev = pool.table.dva_offset, pool.table.dva_vdev
    for number, each in pool.levels.items():
        if each.spec.alloc_class == NORMAL:
            offset = np.where(vdev == number, offset + each.behind(1, 2), offset)
    return replace(pool.table, dva_offset=offset)


def tile_result(
    run: SampledRun, counted: RunResult, model: PlaneModel, time_s: float | None = None
) -> MemberResult:
    """Return a tile as the result of a member.

    Parameters
    ----------
    run : SampledRun
    counted : RunResult
        Its counters.
    model : PlaneModel
    time_s : float, optional
        Duration that several tiles have in the mean; its own if not given [s].

    Returns
    -------
    MemberResult
        Its phases have the shares of the duration that they have in the tile; ends of txgs of a tile that is
        shorter than a slice have theirs of the pool's.
    """
    whole_s = run.time_s if time_s is None else time_s
    visit, issue = seconds_of(run.phases, "visit"), seconds_of(run.phases, "issue")
    share, span_s = (visit + issue) / max(counted.end, 1e-9), counted.end
    if run.quiet_s is not None and not run.complete:
        share = max(share, run.slice_s / (run.slice_s + run.quiet_s))
        span_s = min(span_s, run.visit_s / run.plan.visits + run.issue_s / run.plan.times)
    every = whole_s / run.time_s
    visit_s, issue_s = run.visit_s * share * every, run.issue_s * share * every
    own_s = max(run.time_s, 1e-9)
    course = run.course()
    for each in course:
        each.time = each.time * counted.end / own_s
    issued = run.plan.times * math.fsum(float(stream.known[-1, 1]) for stream in run.streams)
    return MemberResult(
        time_s=whole_s,
        visit_s=visit_s,
        issue_s=issue_s,
        sync_s=whole_s - visit_s - issue_s,
        scale=issued / max(1, counted.issued_bytes),
        run=replace(counted, progress=course),
        model=model,
        worked_s=span_s,
    )
