"""Age a pool: run its history until it has the stated fill and FRAG."""

from __future__ import annotations

import math
import random
import threading
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from zsim.base.constants import constant, whole_constant
from zsim.base.errors import InputError
from zsim.pool.fragmentation import frag_weights, fragmentation_weights, pool_fragmentation
from zsim.pool.miniature.shape import (
    Miniature,
    MiniatureSize,
    fitted,
    miniature_of,
    reduce_recipe,
)
from zsim.pool.packed import PackedBlocks, pack
from zsim.pool.recipes.histories import EmptyPool, History, history_recipe
from zsim.pool.recipes.recipe import Expand, Fill, Growth, Overwrite, PoolRecipe
from zsim.pool.simulator.population import HistoryError
from zsim.pool.simulator.population import HistoryRun as Pool
from zsim.scenario.releases.profile import ReleaseProfile
from zsim.vdevs.kind import NORMAL

MAX_ROUNDS = whole_constant("population.most_rounds")
SLICE = 0.01
TOLERANCE, TOLERANCE_SHARE = 0.02, 0.08
FILL_TOLERANCE, FILL_TRIES = 0.01, 3
FRAG_NEAR, FRAG_TRIES = 0.01, 5
EXPANDED_AT, MOST_DRAWN = constant("population.expanded_at"), constant("population.most_drawn")


MOST_KEPT, MOST_BLOCKS_KEPT, MOST_TOGETHER = 96, 100_000, 1_000_000
"""Pools kept, those of one prediction and the small ones that told how large they have to be, of how many
blocks at most, and of how many together: some 30 MB."""
_KEEPING = threading.Lock()
_kept: dict[AgedRun, _KeptPool] = {}
_leaving = random.Random(0)
"""Draws the pool that goes: worlds come round in one order, so what was used longest ago is wanted next."""
_found_no_room: dict[AgedRun, HistoryError] = {}
"""Histories that a pool could not hold, and why: nearly full, each pool is tried several times."""


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

    def after(self, written: int) -> AgedPool:
        """Return the same with so many blocks more that were written before it was as asked for."""
        return replace(self, miniature=replace(self.miniature, written=self.miniature.written + written))


class _KeptPool(NamedTuple):
    """An aged pool in a third of its memory."""

    blocks: PackedBlocks
    rest: AgedPool

    @classmethod
    def of(cls, pool: AgedPool) -> _KeptPool:
        blocks = pack(pool.miniature.table)
        none = pool.miniature.table.take(np.zeros(0, np.intp))
        return cls(blocks, replace(pool, miniature=replace(pool.miniature, table=none)))

    def pool(self) -> AgedPool:
        return replace(self.rest, miniature=replace(self.rest.miniature, table=self.blocks.table()))


def aged_pool(
    history: History,
    pool: EmptyPool,
    fill: float,
    frag: float | None = None,
    *,
    size: MiniatureSize,
    seed: int = 0,
    rewritten: float = 0.0,
    frag_of: tuple[int, ...] = (),
) -> AgedPool:
    """Return a miniature of a pool after a history, with a fill and, if given, a FRAG.

    Parameters
    ----------
    history : History
        What was done on the pool.
    pool : EmptyPool
        Before the history.
    fill : float
        Allocated / space.
    frag : float, optional
        FRAG to reach [fraction]: ageing stops at the first state that has it.  Of a pool to which vdevs were
        added it is that of the end: it was aged before.
    size : MiniatureSize
    seed : int
        Same arguments and seed, same blocks.
    rewritten : float
        Share of the data written again since a RAID-Z of the pool was expanded.
    frag_of : tuple of int
        Vdevs whose FRAG it is, by number; empty: the pool's, of all of the normal class.

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
    recipe = history_recipe(history, pool, fill, rounds)
    if history.snapshots and frag is not None:
        recipe = replace(recipe, steps=(*recipe.steps, *history.round_steps(fill) * MAX_ROUNDS))
    reduced, numbers = reduce_recipe(recipe, size)
    if reduced is recipe:
        reduced = fitted(recipe, size.files)
    growth = pool.growth.among(numbers)
    some = len(numbers) < len(recipe.vdevs)
    run = AgedRun(
        history=history,
        recipe=recipe,
        reduced=reduced,
        numbers=numbers,
        of_release=(pool.release.fragmentation_table, pool.release.fragmentation_mean),
        fill=growth.reached(reduced.vdevs, fill) if some else fill,
        frag=frag,
        rounds=rounds,
        seed=seed,
        rewritten=rewritten,
        growth=growth,
        frag_of=tuple(numbers.index(each) for each in frag_of if each in numbers),
        release=pool.release,
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
    frag_of : tuple of int
        Vdevs whose FRAG it is, by their places in the miniature; empty: all of the normal class.
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
    frag_of: tuple[int, ...]
    release: ReleaseProfile = field(compare=False)

    def __hash__(self) -> int:
        """Hash what differs most: all of a recipe takes longer than to look at the few that share this."""
        return hash(
            (self.seed, self.fill, self.frag, self.rounds, self.reduced.space, self.reduced.txg_bytes)
        )

    @property
    def first(self) -> tuple[int, ...]:
        """The vdevs of the normal class that were there before any was added."""
        normal = (number for number, vdev in enumerate(self.reduced.vdevs) if vdev.spec.alloc_class == NORMAL)
        return tuple(number for number in normal if number not in self.growth.added)


def _kept_or_run(run: AgedRun) -> AgedPool:
    """Return the pool of a run; one that was run lately is kept.

    Scenarios asked for one after the other differ in loads, drives or tunables as often as in their blocks.
    """
    with _KEEPING:
        known = _kept.get(run)
        without_room = _found_no_room.get(run)
    if known is not None:
        return known.pool()
    if without_room is not None:
        raise HistoryError(str(without_room), without_room.written)
    try:
        found = _aged(run)
    except HistoryError as error:
        with _KEEPING:
            # A copy: what was raised holds all that was being laid out.
            _found_no_room[run] = HistoryError(str(error), error.written)
            while len(_found_no_room) > MOST_KEPT:
                del _found_no_room[next(iter(_found_no_room))]
        raise
    if len(found.miniature.table) <= MOST_BLOCKS_KEPT:
        kept = _KeptPool.of(found)
        _keep(run, kept)
    return found


def _keep(run: AgedRun, pool: _KeptPool) -> None:
    """Keep a pool, and let others go, drawn at random, until they are no more than may be kept."""
    with _KEEPING:
        _kept.pop(run, None)
        # A recipe takes long to hash: pools are looked up only where one has to go.
        blocks = len(pool.blocks) + sum(len(each.blocks) for each in _kept.values())
        while _kept and (len(_kept) >= MOST_KEPT or blocks > MOST_TOGETHER):
            leaving = next(islice(_kept, _leaving.randrange(len(_kept)), None))
            blocks -= len(_kept.pop(leaving).blocks)
        _kept[run] = pool


def _aged(run: AgedRun) -> AgedPool:
    """Run the history on the reduced recipe."""
    if run.frag is None or not run.growth.stages:
        return _built(run, run.frag).pool
    fragmentation_weights(run.release)
    return _built_to_end(run, run.frag)


class _Built(NamedTuple):
    """A pool that was run.

    Attributes
    ----------
    pool : AgedPool
    growth : Growth
        By which its vdevs came to be as full as they are.
    before, found : float
        FRAG before vdevs were added, of those that were there, and in the end, of those that it was asked
        for [fraction].
    """

    pool: AgedPool
    growth: Growth
    before: float
    found: float


def _built(run: AgedRun, aim: float | None) -> _Built:
    """Run the history, aged to a FRAG before vdevs are added, or as the recipe has it."""
    history, fill, growth = run.history, run.fill, run.growth
    # Snapshots hold what was overwritten, and a vdev that is added later is no room for it.
    held = 1.0 / (1.0 + history.snapshots * history.overwritten) if growth.stages else 1.0
    grown = any(vdev.spec.grown for vdev in run.reduced.vdevs)
    aged, written = _Aged(float(run.rounds), 0.0, 0.0), 0
    for left in reversed(range(FILL_TRIES)):
        full = growth.stages[0][0] if growth.stages else fill
        first = full * held
        pool = Pool(run.reduced, run.seed)
        if grown:
            _expand_full(pool, history, first)
        pool.run(*history.first_steps(first))
        if aim is None:
            pool.run(*history.round_steps(full) * run.rounds)
        else:
            aged = _age_to(pool, run, full, aim)
        pool.run(*growth.steps, Fill(fill))
        fills = pool.vdev_fills
        if any(abs(fills[vdev] - wanted) > FILL_TOLERANCE for vdev, wanted in growth.wanted):
            growth = growth.corrected(fills)
        else:
            if grown and run.rewritten:
                # Records are drawn again and again: of as many draws as records a share 1 / e is never drawn.
                share = -math.log1p(-min(run.rewritten, MOST_DRAWN))
                pool.run(Expand(), Overwrite(share), Fill(fill))
            if pool.fill <= fill + FILL_TOLERANCE or not history.snapshots:
                break
            # What the snapshots hold is known now; as much less has to be there from the first.
            held *= fill / pool.fill
        if left:
            written += pool.written
            del pool  # a large one takes a hundred megabytes: the next begins without it
    frag = _frag(pool, run.release)
    found = _frag(pool, run.release, run.frag_of) if run.frag_of else frag
    made = AgedPool(miniature_of(run.recipe, pool, run.numbers), aged.rounds, pool.fill, frag)
    return _Built(made.after(written), growth, aged.frag, found)


def _built_to_end(run: AgedRun, wanted: float) -> AgedPool:
    """Return the pool that has the FRAG once vdevs were added and filled, which changes it.

    Raises
    ------
    InputError
        When the history never has that FRAG at that fill.
    """
    least = low = _built(run, 0.0)
    if low.found >= wanted:
        return _near(run, wanted, low, low, low)
    whole, there = (_frag_sizes(run, of) for of in (run.frag_of, run.first))
    aim = low.before + (wanted - low.found) * max(1.0, whole / there)
    high: _Built | None = None
    best, written = low, low.pool.miniature.written
    for _ in range(FRAG_TRIES):
        now = _built(replace(run, growth=best.growth), min(aim, 1.0))
        written += now.pool.miniature.written
        best = min(best, now, key=lambda each: abs(each.found - wanted))
        if abs(now.found - wanted) <= FRAG_NEAR or now.before < aim - TOLERANCE:
            break
        low, high = (now, high) if now.found < wanted else (low, now)
        if high is None:
            aim = now.before + (wanted - now.found) * max(1.0, whole / there)
            continue
        share = (wanted - low.found) / (high.found - low.found)
        aim = low.before + share * (high.before - low.before)
    found = _near(run, wanted, best, least, best if high is None else high)
    return found.after(written - found.miniature.written)


def _near(run: AgedRun, wanted: float, best: _Built, low: _Built, high: _Built) -> AgedPool:
    if abs(best.found - wanted) > max(TOLERANCE, TOLERANCE_SHARE * wanted):
        _refuse(run.history, run.fill, wanted, low.found, high.found)
    return best.pool


def _frag_sizes(run: AgedRun, of: tuple[int, ...]) -> float:
    return float(frag_weights(run.reduced.vdevs, run.release, of).sizes.sum())


def _expand_full(pool: Pool, history: History, fill: float) -> None:
    """Expand a pool that is to hold more than fits its first drives, when these are nearly full."""
    first = sum(vdev.slab_bytes * vdev.first_slabs for vdev in pool.recipe.vdevs) / pool.recipe.space
    if fill > EXPANDED_AT * first:
        pool.run(*history.first_steps(EXPANDED_AT * first), Expand())


class _Aged(NamedTuple):
    """Rounds of ageing, FRAG before and after them [fraction]."""

    rounds: float
    low: float
    frag: float


def _age_to(pool: Pool, run: AgedRun, fill: float, aim: float) -> _Aged:
    """Age until FRAG is reached: that which is asked for, unless vdevs are added later."""
    history, last = run.history, not run.growth.stages
    fragmentation_weights(run.release)
    if not 0.0 <= aim <= 1.0:
        raise InputError("frag", aim, "FRAG is a fraction from 0 to 1", "write 30% or 0.30")
    slices = _slices_of(history)
    part = replace(history, overwritten=history.overwritten / slices, removed=history.removed / slices)
    of = frag_weights(pool.recipe.vdevs, run.release, run.frag_of if last else run.first)
    done, low, now = pool.run_until(part.round_steps(fill), aim, of, history.snapshots, MAX_ROUNDS * slices)
    if last and not low <= aim <= now and abs(now - aim) > max(TOLERANCE, TOLERANCE_SHARE * aim):
        _refuse(history, fill, aim, low, now)
    return _Aged(done / slices, low, now)


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


def _frag(pool: Pool, release: ReleaseProfile, of: tuple[int, ...] = ()) -> float:
    if release.fragmentation_table == "none":
        return float("nan")
    vdevs = pool.recipe.vdevs
    return pool_fragmentation(pool.segments, pool.untouched, vdevs, release, pool.free_bytes, of)
