"""The population of a member: the pool room's miniature of the scenario's pool and history."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from zsim.base.errors import InputError
from zsim.base.units import format_both, format_fraction
from zsim.pool.api import window_vdevs
from zsim.pool.blocks import BlockTable
from zsim.pool.known import different_alloc, informed, known_blocks, with_known_sizes
from zsim.pool.measured.block_list import Order, chosen_vdevs, sample_blocks
from zsim.pool.measured.free_space import placed_by, read_free_space
from zsim.pool.miniature.ageing import AgedPool, aged_pool
from zsim.pool.miniature.census import thinned
from zsim.pool.miniature.shape import MAX_VDEVS
from zsim.pool.miniature.shape import Miniature as PoolMiniature
from zsim.pool.miniature.spreading import spread
from zsim.pool.recipes.histories import DEFAULT_HISTORY, History, load_history
from zsim.pool.recipes.recipe import TopLevel, pool_of
from zsim.pool.simulator.population import HistoryError, expansion
from zsim.prediction.groups import with_degraded_groups
from zsim.prediction.inputs.ensemble import Member
from zsim.prediction.inputs.worlds import largest_record
from zsim.prediction.numbers import constant, whole_constant
from zsim.scenario.resolve import ResolvedScenario
from zsim.vdevs.kind import kind_of

BLOCKS = whole_constant("population.blocks")
MOST_REWRITTEN = constant("population.most_rewritten")
SLABS, FILES = whole_constant("population.slabs"), whole_constant("population.files")
"""Metaslabs of the miniature, at most: with fewer, those that the allocators have active are too large a
share of them; with more they are so small that runs are short (records of 16K, overwritten: 3.5 blocks in
metaslabs of 4 MB, 3.9 of 8, 4.3 of 32, 4.7 of 256)."""
SORTED_HEAPS, LEGACY_HEAPS = (
    whole_constant("population.sorted_heaps"),
    whole_constant("population.legacy_heaps"),
)
"""In so many places the metaslabs lie, at least: a scan by address makes a long seek to each; one by birth
goes from any to any other."""
TXGS_TOGETHER = whole_constant("population.txgs_together")
"""Written one after the other and in one place: within a txg a scan jumps about, but not far."""
MOST_ROUNDS = whole_constant("population.most_rounds")
LESS_FULL = constant("population.less_full")
TRIES = whole_constant("population.tries")


@dataclass(frozen=True, slots=True)
class WorldPopulation:
    """A population to simulate.

    Attributes
    ----------
    table : BlockTable
        DVA offsets lie in the real pool's address space.
    scale : float
        Bytes of the real pool that one byte of the miniature stands for, on each top-level vdev of it.
    walked : float
        Top-level vdevs of the real pool that each of the miniature's stands for in the metadata phase.
    damaged : TopLevel
        The first top-level vdev, with the metaslabs of the miniature.
    centred : bool
        Whether its blocks lie in the middle of the places they stand for.
    visited : BlockTable, optional
        The blocks where the metadata phase of a sorted scan finds them: at distances as in the real pool.
    note : str
        In what the miniature is not what was asked for; empty if it is.
    """

    table: BlockTable
    scale: float
    walked: float
    damaged: TopLevel
    note: str = ""
    centred: bool = False
    visited: BlockTable | None = None


class _Size(NamedTuple):
    blocks: int
    slabs: int
    heaps: int


def history_of(resolved: ResolvedScenario, member: Member) -> History:
    """Return the history of a member: the scenario's, with its own share of ageing and size of files."""
    history = load_history(resolved.history or DEFAULT_HISTORY)
    if resolved.scenario.recordsize is not None:
        history = history.with_recordsize(resolved.recordsize)
    history = with_known_sizes(resolved, history)
    most = largest_record(resolved)
    records = tuple(replace(kind, recordsize=min(kind.recordsize, most)) for kind in history.records)
    files = history.files
    return replace(
        history,
        records=records,
        files=replace(files, mean=min(files.high, max(files.low, int(files.mean * member.file_size)))),
        overwritten=min(MOST_REWRITTEN, history.overwritten * member.churn),
        removed=min(MOST_REWRITTEN, history.removed * member.churn),
    )


def miniature(resolved: ResolvedScenario, member: Member, *, blocks: int | None = None) -> WorldPopulation:
    """Return a population like the pool's, small enough to simulate.

    Parameters
    ----------
    resolved : ResolvedScenario
    member : Member
        Its `churn` and `file_size` scale the history.
    blocks : int, optional
        Blocks wanted; `BLOCKS` if not given.
    """
    if resolved.scenario.block_list is not None:
        return _listed(resolved, blocks or BLOCKS)
    pool, note = pool_miniature(resolved, member, blocks=blocks, heaps=_heaps(resolved))
    pool = with_degraded_groups(resolved, pool)
    if resolved.scenario.metaslabs is not None:
        pool = placed_by(pool, read_free_space(resolved.scenario.metaslabs))
    table = pool.table if pool.scale == 1.0 else thinned(pool.table, pool.recipe)
    far = _spread(resolved, pool, table) if pool.scale != 1.0 and _may_lie_anywhere(resolved) else None
    by_birth = far is not None and resolved.release.order != "sorted"
    table = far if far is not None and by_birth else table
    count = len(resolved.layout.vdevs)
    simulated = len(set(pool.vdevs) & set(range(count)))
    per_vdev = resolved.alloc / count
    return WorldPopulation(
        table,
        per_vdev / (table.allocated_bytes / simulated),
        count / simulated,
        pool.recipe.vdevs[0],
        note,
        by_birth,
        None if by_birth else far,
    )


def _may_lie_anywhere(resolved: ResolvedScenario) -> bool:
    """Tell whether what is taken in the order of the traversal may lie at other places than it does."""
    known = resolved.operation == "rebuild" or resolved.scenario.metaslabs is not None
    return not known and not kind_of(resolved.layout.vdevs[0].kind).has_groups


def _spread(resolved: ResolvedScenario, pool: PoolMiniature, table: BlockTable) -> BlockTable:
    """Return the blocks at distances as in the real pool."""
    vdevs, _ = pool_of(
        resolved.layout, resolved.drive_size, resolved.release, resolved.ashift, cpus=resolved.cpus
    )
    txg = pool.recipe.txg_bytes * pool.recipe.metadata_every * expansion(pool.recipe)
    for number, reduced in zip(pool.vdevs, pool.recipe.vdevs, strict=True):
        table = spread(table, number, reduced, vdevs[number], TXGS_TOGETHER * txg / len(pool.vdevs))
    return table


def _heaps(resolved: ResolvedScenario) -> int:
    """Return how many heaps the metaslabs stand in at least; 0: one by one, where each has its real place."""
    if resolved.scenario.metaslabs is not None or resolved.operation == "rebuild":
        return 0
    return SORTED_HEAPS if resolved.release.order == "sorted" else LEGACY_HEAPS


def _listed(resolved: ResolvedScenario, blocks: int) -> WorldPopulation:
    """Return the pool's own blocks, or windows of them in the order that the scan takes them in."""
    order: Order = "address" if resolved.release.order == "sorted" else "traversal"
    vdevs, _ = pool_of(
        resolved.layout, resolved.drive_size, resolved.release, resolved.ashift, cpus=resolved.cpus
    )
    known = known_blocks(resolved, order)
    counted = (0,) if resolved.operation != "scrub" else chosen_vdevs(len(vdevs))
    small = sample_blocks(known, vdevs, blocks, order, resolved.seed)
    walked = 1.0 if small.whole or order == "traversal" else len(vdevs) / len(chosen_vdevs(len(vdevs)))
    damaged = window_vdevs(small, vdevs).get(0, vdevs[0])
    return WorldPopulation(
        small.table, small.scale(counted), walked, damaged, different_alloc(informed(resolved))
    )


def pool_miniature(
    resolved: ResolvedScenario, member: Member, *, blocks: int | None = None, heaps: int = 0
) -> tuple[PoolMiniature, str]:
    """Return the same with the reduced metaslabs it lies in, and its note; see `miniature`.

    They stand one by one, or in `heaps` heaps at least, see `zsim.pool.miniature.shape.reduce_recipe`.
    """
    stated = resolved.frag if resolved.release.fragmentation_table != "none" else None
    size = _Size(blocks or BLOCKS, SLABS, heaps)
    aged, note = _nearest(resolved, history_of(resolved, member), stated, size)
    return aged.miniature, note


def _nearest(
    resolved: ResolvedScenario, history: History, frag: float | None, size: _Size
) -> tuple[AgedPool, str]:
    """Return the pool asked for, or the nearest that the history can make, and what is different about it."""
    try:
        return _pool(resolved, history, resolved.fill, frag, size), ""
    except InputError as error:
        if error.field != "frag":
            raise
        return _nearest_frag(resolved, history, frag or 0.0, size)
    except HistoryError:
        return _less_full(resolved, history, size)


def _nearest_frag(
    resolved: ResolvedScenario, history: History, frag: float, size: _Size
) -> tuple[AgedPool, str]:
    """Return the pool never aged where it has more FRAG than asked for as it is, else the most aged one."""
    fresh = _pool(resolved, replace(history, rounds=0, snapshots=0), resolved.fill, None, size)
    wanted, got = format_fraction(frag), format_fraction(fresh.frag)
    if not math.isfinite(fresh.frag) or fresh.frag >= frag:
        return (
            fresh,
            f"FRAG {wanted} is less than the simulated pool has before any ageing ({got}): "
            "taken as never aged",
        )
    aged, note = _nearest(resolved, replace(history, rounds=MOST_ROUNDS), None, size)
    got = format_fraction(aged.frag)
    return (
        aged,
        note or f"FRAG {wanted} is more than {history.name} comes to in {MOST_ROUNDS} rounds: taken as {got}",
    )


def _less_full(resolved: ResolvedScenario, history: History, size: _Size) -> tuple[AgedPool, str]:
    """Return the fullest pool in which the allocator still finds room."""
    fill = resolved.fill
    for last in (False,) * (TRIES - 1) + (True,):
        fill *= LESS_FULL
        try:
            pool = _pool(resolved, history, fill, None, size)
        except HistoryError as error:
            if last:
                raise _no_room(resolved, history) from error
            continue
        here, there = format_fraction(fill), format_fraction(resolved.fill)
        return (
            pool,
            f"simulated at {here} full instead of {there}: beyond that, "
            "blocks have to be split (gang blocks)",
        )
    raise AssertionError


def _no_room(resolved: ResolvedScenario, history: History) -> InputError:
    held = f"{resolved.layout} of {format_both(resolved.drive_size)} drives"
    return InputError(
        "fill",
        format_fraction(resolved.fill),
        f"the history {history.name} finds no room on {held} at this fill, nor at any down to "
        f"{format_fraction(resolved.fill * LESS_FULL**TRIES)}",
        "give larger drives, another history, or a lower fill",
    )


def _pool(
    resolved: ResolvedScenario, history: History, fill: float, frag: float | None, size: _Size
) -> AgedPool:
    vdevs, style = pool_of(
        resolved.layout, resolved.drive_size, resolved.release, resolved.ashift, cpus=resolved.cpus
    )
    return aged_pool(
        history, vdevs, style, resolved.release, fill, frag,
        max_blocks=size.blocks, seed=resolved.seed, slabs=size.slabs * min(len(vdevs), MAX_VDEVS),
        files=FILES, heaps=size.heaps,
    )  # fmt: skip
