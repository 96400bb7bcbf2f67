"""A pool with the fill and the FRAG that are asked for: the history is run until it has them."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace

from zsim.base.constants import constant
from zsim.base.errors import InputError
from zsim.pool.fragmentation import frag_weights, fragmentation_weights, pool_fragmentation
from zsim.pool.miniature.shape import (
    FILES_PER_POOL,
    MAX_SLABS,
    MAX_VDEVS,
    Miniature,
    fitted,
    miniature_of,
    reduce_recipe,
)
from zsim.pool.recipes.histories import History, history_recipe
from zsim.pool.recipes.recipe import Expand, Fill, Growth, Overwrite, PoolRecipe, SmallBlocks, TopLevel
from zsim.pool.recipes.styles import AllocatorStyle
from zsim.pool.simulator.population import HistoryRun as Pool
from zsim.scenario.releases.profile import ReleaseProfile

MAX_ROUNDS = 30
SLICE = 0.01
TOLERANCE, TOLERANCE_SHARE = 0.02, 0.08
FILL_TOLERANCE, FILL_TRIES = 0.01, 3
EXPANDED_AT, MOST_DRAWN = constant("population.expanded_at"), constant("population.most_drawn")


MOST_KEPT, MOST_BLOCKS_KEPT = 24, 40_000
"""Pools kept, those of one prediction, and of how many blocks at most: of some 20 MB together."""
_KEEPING = threading.Lock()
_kept: OrderedDict[AgedRun, AgedPool] = OrderedDict()


@dataclass(frozen=True, slots=True)
class AgedPool:
    """A population, and how it came about.

    Attributes
    ----------
    miniature : Miniature
        The blocks.
    rounds : float
        Rounds of ageing it went through.
    fill, frag : float
        What it has now; `frag` is NaN where the release knows none.
    """

    miniature: Miniature
    rounds: float
    fill: float
    frag: float


def aged_pool(
    history: History,
    vdevs: tuple[TopLevel, ...],
    style: AllocatorStyle,
    release: ReleaseProfile,
    fill: float,
    frag: float | None = None,
    *,
    max_blocks: int = 60_000,
    seed: int = 0,
    vdev: int = 0,
    slabs: int = MAX_SLABS,
    files: int = FILES_PER_POOL,
    most_vdevs: int = MAX_VDEVS,
    heaps: int = 0,
    rewritten: float = 0.0,
    small: SmallBlocks | None = None,
    growth: Growth | None = None,
) -> AgedPool:
    """Return a miniature of a pool after a history, with a fill and, if given, a FRAG.

    Parameters
    ----------
    history : History
        What was done on the pool.
    vdevs, style
        See `zsim.pool.recipes.recipe.pool_of`.
    release : ReleaseProfile
        Its FRAG table, its indirect blocks.
    fill : float
        Allocated / space.
    frag : float, optional
        FRAG to reach [fraction]: ageing stops at the first state that has it.
    max_blocks, seed, vdev
        See `zsim.pool.miniature.shape.build_miniature`.
    slabs, files, most_vdevs, heaps
        See `zsim.pool.miniature.shape.reduce_recipe`.
    rewritten : float
        Share of the data written again since a RAID-Z of the pool was expanded.
    small, growth
        See `zsim.pool.recipes.histories.history_recipe`; vdevs are added to a pool that has aged.

    Raises
    ------
    InputError
        When the history never has that FRAG at that fill, with the range it has.
    HistoryError
        When the pool cannot hold what is written.
    """
    if not 0.0 < fill <= 1.0:
        raise InputError("fill", fill, "a share of the pool, above 0 and up to 1", "write 62% or 0.62")
    rounds = history.rounds if frag is None else 0
    recipe = history_recipe(history, vdevs, style, release, fill, rounds, small=small, growth=growth)
    if history.snapshots and frag is not None:
        recipe = replace(recipe, steps=(*recipe.steps, *history.round_steps(fill) * MAX_ROUNDS))
    reduced, numbers = reduce_recipe(
        recipe, max_blocks, vdev, slabs=slabs, files=files, most_vdevs=most_vdevs, heaps=heaps
    )
    if reduced is recipe:
        reduced = fitted(recipe, files)
    grown = growth.among(numbers) if growth is not None else Growth()
    run = AgedRun(
        history=history,
        recipe=recipe,
        reduced=reduced,
        numbers=numbers,
        of_release=(release.fragmentation_table, release.fragmentation_mean),
        fill=fill,
        frag=frag,
        rounds=rounds,
        seed=seed,
        rewritten=rewritten,
        growth=grown,
        release=release,
    )
    return _kept_or_run(run)


@dataclass(frozen=True, slots=True)
class AgedRun:
    """What an aged pool is made from; equal ones give the same pool.

    Attributes
    ----------
    history : History
    recipe, reduced : PoolRecipe
        Of the pool, and of its miniature, which is run.
    numbers : tuple of int
        The vdevs of the miniature, by their numbers in the pool.
    of_release : tuple
        What FRAG depends on of the release: its table, and how it takes the mean.
    fill, frag, rounds, seed, rewritten
        As `aged_pool` has them; rounds of ageing where no FRAG is asked for.
    growth : Growth
        Of the vdevs of the miniature.
    release : ReleaseProfile
        Whole, for its FRAG; two releases that differ elsewhere give the same pool.
    """

    history: History
    recipe: PoolRecipe
    reduced: PoolRecipe
    numbers: tuple[int, ...]
    of_release: tuple[str, str]
    fill: float
    frag: float | None
    rounds: int
    seed: int
    rewritten: float
    growth: Growth
    release: ReleaseProfile = field(compare=False)


def _kept_or_run(run: AgedRun) -> AgedPool:
    """Return the pool of a run; one that was run lately is kept.

    Scenarios asked for one after the other differ in loads, drives or tunables as often as in their blocks.
    """
    with _KEEPING:
        known = _kept.pop(run, None)
        if known is not None:
            _kept[run] = known
            return known
    found = _aged(run)
    if len(found.miniature.table) <= MOST_BLOCKS_KEPT:
        with _KEEPING:
            _kept[run] = found
            while len(_kept) > MOST_KEPT:
                _kept.popitem(last=False)
    return found


def _aged(run: AgedRun) -> AgedPool:
    """Run the history on the reduced recipe."""
    history, release, fill, frag, growth = run.history, run.release, run.fill, run.frag, run.growth
    # Snapshots hold what was overwritten, and a vdev that is added later is no room for it.
    held = 1.0 / (1.0 + history.snapshots * history.overwritten) if growth.stages else 1.0
    grown = any(vdev.spec.grown for vdev in run.reduced.vdevs)
    for _ in range(FILL_TRIES):
        full = growth.stages[0][0] if growth.stages else fill
        first = full * held
        pool = Pool(run.reduced, run.seed)
        if grown:
            _expand_full(pool, history, first)
        pool.run(*history.first_steps(first))
        if frag is None:
            pool.run(*history.round_steps(full) * run.rounds)
            done = float(run.rounds)
        else:
            done = _age_to(pool, history, full, frag, release)
        pool.run(*growth.steps, Fill(fill))
        fills = pool.vdev_fills
        if any(abs(fills[vdev] - wanted) > FILL_TOLERANCE for vdev, wanted in growth.wanted):
            growth = growth.corrected(fills)
            continue
        if grown and run.rewritten:
            # Records are drawn again and again: of as many draws as records a share 1 / e is never drawn.
            share = -math.log1p(-min(run.rewritten, MOST_DRAWN))
            pool.run(Expand(), Overwrite(share), Fill(fill))
        if pool.fill <= fill + FILL_TOLERANCE or not history.snapshots:
            break
        # What the snapshots hold is known now; as much less has to be there from the first.
        held *= fill / pool.fill
    return AgedPool(miniature_of(run.recipe, pool, run.numbers), done, pool.fill, _frag(pool, release))


def _expand_full(pool: Pool, history: History, fill: float) -> None:
    """Expand a pool that is to hold more than fits its first drives, when these are nearly full."""
    first = sum(vdev.slab_bytes * vdev.first_slabs for vdev in pool.recipe.vdevs) / pool.recipe.space
    if fill > EXPANDED_AT * first:
        pool.run(*history.first_steps(EXPANDED_AT * first), Expand())


def _age_to(pool: Pool, history: History, fill: float, frag: float, release: ReleaseProfile) -> float:
    """Age until FRAG is reached; return the rounds that took."""
    fragmentation_weights(release)
    if not 0.0 <= frag <= 1.0:
        raise InputError("frag", frag, "FRAG is a fraction from 0 to 1", "write 30% or 0.30")
    slices = _slices_of(history)
    part = replace(history, overwritten=history.overwritten / slices, removed=history.removed / slices)
    of = frag_weights(pool.recipe.vdevs, release)
    done, low, now = pool.run_until(part.round_steps(fill), frag, of, history.snapshots, MAX_ROUNDS * slices)
    if not low <= frag <= now and abs(now - frag) > max(TOLERANCE, TOLERANCE_SHARE * frag):
        _refuse(history, fill, frag, low, now)
    return done / slices


def _slices_of(history: History) -> int:
    """Return the parts a round is run in, so that FRAG moves in small steps; snapshots need whole rounds."""
    if history.snapshots:
        return 1
    return max(1, math.ceil((history.overwritten + history.removed) / SLICE))


def _refuse(history: History, fill: float, frag: float, low: float, high: float) -> None:
    low, high = min(low, high), max(low, high)
    if frag < low:
        reason = f"the history {history.name} at {fill:.0%} fill has a FRAG of {low:.0%} before any ageing"
        remedy = f"leave frag out, or take a history of larger files, or a FRAG from {low:.0%}"
    else:
        reason = f"the history {history.name} at {fill:.0%} fill reaches a FRAG of {high:.0%} at most"
        remedy = "take a history with smaller records or more deletes (database, maildir), or leave frag out"
    raise InputError("frag", f"{frag:.0%}", reason, remedy)


def _frag(pool: Pool, release: ReleaseProfile) -> float:
    if release.fragmentation_table == "none":
        return float("nan")
    return pool_fragmentation(pool.segments, pool.untouched, pool.recipe.vdevs, release, pool.free_bytes)
