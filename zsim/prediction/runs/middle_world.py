"""The median world in detail: what ``--exact`` would run, sampled.

A pool of few blocks is built whole.  Of a larger one a few small tiles are run whole, each with a
population of its own: a cluster sample, whose spread is the error.  Where a precision is asked for, tiles as
large as those of an exact run are sampled, one after the other, until it is reached.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from zsim.base.constants import constant, whole_constant
from zsim.case.case import Case
from zsim.engine.model import PlaneModel
from zsim.operation.run import RunResult
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import (
    COUNTED,
    POPULATIONS,
    TILE_BLOCKS,
    WHOLE_BLOCKS,
    WorldPopulation,
    laid_out_whole,
    miniature,
)
from zsim.prediction.runs.member import MemberResult
from zsim.prediction.runs.one_tile import (
    as_tile,
    in_rounds,
    in_windows,
    is_whole,
    run_pool,
    tile_result,
    tile_run,
)
from zsim.prediction.runs.sampling.run import SampledRun
from zsim.prediction.runs.sampling.windows import WindowPlan
from zsim.prediction.statistics.level import of_size
from zsim.prediction.statistics.sampling import student

MOST_OPERATIONS = whole_constant("work.most_operations")
PRECISION = constant("work.precision")
PART = 1.0 / math.sqrt(3.0)
"""Share of the precision asked for that each of three independent errors may take."""
SMALL_BLOCKS, SMALL_REPEATS = whole_constant("work.small_blocks"), whole_constant("work.small_repeats")
TILES, SMALL_TILE_BLOCKS = whole_constant("work.tiles"), whole_constant("work.small_tile_blocks")
"""As many blocks as one large tile and a half: several tell how far one may be off."""
SHOWN_BLOCKS, NARROW = whole_constant("response.shown_blocks"), whole_constant("response.narrow")
"""Of the tile of a world that is shown where other scenarios taught what the size changes, and up to how many
children: on more of them what a tile has once is too much of what lies on each."""
FEW_TILES = whole_constant("work.few_tiles")
"""Of a pool of no more large tiles, the worlds near the median are run on tiles as large as an exact run's:
small ones have more seeks and ends of txgs, 3 % of the time in the mean of six pools."""
FEW_BYTES = constant("work.few_bytes")
"""Of a block in a pool that may have few of them."""
MOST_SEEN = constant("work.most_seen")
"""Even where all populations were run: each lies at many places."""


@dataclass(slots=True)
class MiddleWorld:
    """The middle world's run: sampled, and added to until it is as precise as asked for.

    Attributes
    ----------
    case : Case
        In the member's world.
    model : PlaneModel
    pool : WorldPopulation
        The first tile, or the pool.
    blocks : int
        Of a tile.
    progress : callable
        Called with simulated time and the share done.
    tiled : bool
        Whether the pool is sampled in tiles that are run whole, unless there is a plan.
    runs : list of SampledRun
        One a tile.
    first : RunResult, optional
        Of the first tile.
    plan : WindowPlan, optional
        How windows are taken; by default by the precision asked for.
    small : list of float
        Durations of the same world on small populations [s].
    """

    case: Case
    model: PlaneModel
    pool: WorldPopulation
    blocks: int
    progress: Callable[[float, float], None] | None
    tiled: bool = False
    runs: list[SampledRun] = field(default_factory=list)
    first: RunResult | None = None
    plan: WindowPlan | None = None
    small: list[float] = field(default_factory=list)

    def execute(self) -> None:
        """Sample tile after tile, each with a population of its own, until the interval is narrow enough."""
        if self.in_tiles:
            self._run_tiles()
            return
        stated = self.case.scenario.precision
        wanted = PRECISION if stated is None else PART * float(stated)
        plan = self.plan or WindowPlan(precision=wanted)
        if self.plan is None and self._is_light:
            plan = replace(plan, whole=sys.maxsize)
        if stated is not None:
            plan = replace(plan, operations=MOST_OPERATIONS, most=MOST_OPERATIONS)
        if stated is None and not self.whole:
            self._run_small()
        for number in range(POPULATIONS if not self.whole else 1):
            result = self._executed(number, plan)
            run = self.runs[-1]
            if run.crowded and not self._precise(wanted) and sum(map(len, run.streams)) <= run.most():
                del self.runs[-1]
                result = self._executed(number, replace(plan, whole=sys.maxsize))
            self.first = self.first or result
            if stated is None or (number > 0 and self._precise(wanted)):
                return

    @property
    def _is_light(self) -> bool:
        """Whether the population is the pool, and a run of all of it not too much work."""
        children = max(vdev.children for vdev in self.case.layout.vdevs)
        listed = self.case.scenario.block_list is not None
        return self.whole and not listed and len(self.pool.table) * children <= MOST_OPERATIONS

    def _run_tiles(self) -> None:
        """Run small tiles whole."""
        plan = WindowPlan(precision=PRECISION, whole=sys.maxsize)
        for number in range(TILES):
            run = self._run(number, plan, quiet=True)
            result = run.finish()
            self.runs.append(run)
            self.first = self.first or result
            if self.progress is not None:
                self.progress(0.0, len(self.runs) / TILES)
        self._run_small()

    def _precise(self, wanted: float) -> bool:
        return self.half_width_s <= wanted * self.time_s

    def _executed(self, number: int, plan: WindowPlan) -> RunResult:
        self.runs.append(self._run(number, plan))
        return self.runs[-1].finish()

    def _run(self, number: int, plan: WindowPlan, *, quiet: bool = False) -> SampledRun:
        pool = self.pool
        if number > 0:
            seeded = replace(self.case, seed=self.case.seed + number)
            pool = miniature(seeded, blocks=self.blocks)
        plan = as_tile(plan, self.case, pool)
        return tile_run(self.case, self.model, pool, plan, None if quiet else self.progress)

    @property
    def in_tiles(self) -> bool:
        """Whether the pool is sampled in tiles that are run whole."""
        return self.tiled and self.plan is None

    @property
    def whole(self) -> bool:
        """Whether the population is the pool."""
        return is_whole(self.case, self.pool)

    @property
    def known(self) -> list[SampledRun]:
        """Runs that have an answer."""
        return [run for run in self.runs if run.known]

    @property
    def time_s(self) -> float:
        """Estimated duration: the mean over the tiles that were run [s]."""
        return float(np.mean([run.time_s for run in self.known]))

    @property
    def half_width_s(self) -> float:
        """Half the 95 % interval of the duration, of what an exact run gives, which has few populations [s].

        Of a pool that is run whole, that of its windows.  Of tiles that are run whole, their own spread,
        Student's t times ``std(log) / sqrt(tiles)``, and what their size may change (`of_size`).  Of sampled
        tiles, the mean of their windows' and what populations that were not run may change.
        """
        widths = [run.half_width_s for run in self.known]
        of_windows = math.hypot(*widths) / len(widths)
        if self.whole:
            return of_windows
        if self.in_tiles and len(widths) > 1:
            times = np.log([run.time_s for run in self.known])
            spread = student(len(times) - 1) * float(times.std(ddof=1)) / math.sqrt(len(times))
            drift = float(times.mean() - np.log(self.small).mean()) if self.small else 0.0
            return math.hypot(spread, of_size(drift)) * self.time_s
        here = math.fsum(run.covered for run in self.known) / self._populations
        of_windows *= math.sqrt(1.0 - min(MOST_SEEN, here))
        return math.hypot(of_windows, self._between() * self.time_s)

    @property
    def _populations(self) -> float:
        return min(POPULATIONS, max(1.0, self.pool.scale))

    def _between(self) -> float:
        """Return half the 95 % interval of what the populations not run may change, as a share.

        Of several tiles it is their spread; of one, that of small miniatures, smaller as it has more blocks.
        """
        times = [run.time_s for run in self.known]
        unseen = math.sqrt(max(0.0, 1.0 - len(times) / self._populations))
        share = 1.0 / len(times)
        if len(times) < 2:
            times, share = self.small, SMALL_BLOCKS / max(SMALL_BLOCKS, len(self.pool.table))
        if len(times) < 2:
            return 0.0
        return student(len(times) - 1) * float(np.log(times).std(ddof=1)) * math.sqrt(share) * unseen

    def _run_small(self) -> None:
        """Run small miniatures of several seeds."""
        seeded = [replace(self.case, seed=self.case.seed + number) for number in range(SMALL_REPEATS)]
        self.small = [
            run_pool(each, miniature(each, blocks=SMALL_BLOCKS), self.model).time_s for each in seeded
        ]

    def result(self) -> MemberResult:
        """Return what is known as the result of a member."""
        run = self.runs[0]
        return tile_result(run, self.first or run.so_far(), self.model, self.time_s)

    def first_tile(self) -> MemberResult | None:
        """Return the first tile's own result; None where it was sampled."""
        if self.first is None or not self.in_tiles:
            return None
        return tile_result(self.runs[0], self.first, self.model)


def middle_world(
    case: Case,
    progress: Callable[[float, float], None] | None = None,
    *,
    blocks: int | None = None,
    model: PlaneModel | None = None,
    in_tiles: bool = False,
    known: int | None = None,
) -> MiddleWorld | None:
    """Return the middle world, ready to be sampled; None where windows cannot tell of the whole.

    Parameters
    ----------
    case : Case
        In its world.
    progress : callable, optional
        Called with simulated time and the share done.
    blocks : int, optional
        Of a tile; small ones where no precision is asked for, else those of an exact run.
    model : PlaneModel, optional
        The world's data plane, where it is built already.
    in_tiles : bool
        Whether tiles are run whole even where a precision is asked for: one of them shows the phases and what
        limits, and the duration is told by others.
    known : int, optional
        Blocks of a population of this world that was laid out before.
    """
    model = model or plane_model(case)
    if not in_windows(case, model):
        return None
    pool, blocks, tiled = _first_tile(case, blocks, in_tiles, known)
    if in_rounds(case, pool):
        return None
    return MiddleWorld(case, model, pool, blocks, progress, tiled)


def _first_tile(
    case: Case, blocks: int | None, in_tiles: bool, known: int | None = None
) -> tuple[WorldPopulation, int, bool]:
    """Return the first tile, or the pool if it is no larger, how large tiles are, and whether to run some."""
    whole = in_tiles or case.scenario.precision is None
    reduced = blocks is None and case.scenario.block_list is None
    pool = whole_pool(case, known) if reduced and not in_tiles else None
    if pool is not None:
        return pool, len(pool.table), False
    if reduced and whole:
        if not _has_few_tiles(case, known):
            small = SHOWN_BLOCKS if in_tiles and is_narrow(case) else SMALL_TILE_BLOCKS
            pool = miniature(case, blocks=small)
            count = _tiles_on_a_vdev(pool)
            if count > FEW_TILES:
                return pool, small, not is_whole(case, pool)
            if count <= 1.0:
                return miniature(case, blocks=TILE_BLOCKS), TILE_BLOCKS, False
        pool = miniature(case, blocks=TILE_BLOCKS)
        return pool, TILE_BLOCKS, not is_whole(case, pool)
    blocks = blocks or TILE_BLOCKS
    pool = miniature(case, blocks=blocks)
    return pool, blocks, blocks == SMALL_TILE_BLOCKS and not is_whole(case, pool)


def is_narrow(case: Case) -> bool:
    """Tell whether vdevs have so few children that a small tile shows each of them at its pace."""
    return max(vdev.children for vdev in case.layout.vdevs) <= NARROW


def whole_pool(case: Case, known: int | None = None) -> WorldPopulation | None:
    """Return the pool, block by block; None where it has more blocks than are run as they are.

    Parameters
    ----------
    case : Case
        In its world.
    known : int, optional
        Blocks of a population of this world that was laid out before.
    """
    if case.alloc > WHOLE_BLOCKS * FEW_BYTES:
        return None
    pool = miniature(case, blocks=known or SMALL_BLOCKS)
    return laid_out_whole(
        pool,
        pool.pool_blocks,
        WHOLE_BLOCKS,
        lambda more: miniature(case, blocks=more),
        lambda laid: is_whole(case, laid),
    )


def _tiles_on_a_vdev(pool: WorldPopulation) -> float:
    """Return how many large tiles lie one behind the other on the vdevs that the population has."""
    return pool.scale * len(pool.table) / TILE_BLOCKS


def _has_few_tiles(case: Case, known: int | None) -> bool:
    """Tell whether a population that is there says for certain that the pool has few tiles, but several.

    Nothing has then to be laid out to count them; a pool of large drives has many, whatever it stores.
    """
    if known is None or case.alloc > FEW_TILES * TILE_BLOCKS * FEW_BYTES:
        return False
    return COUNTED < _tiles_on_a_vdev(miniature(case, blocks=known)) < FEW_TILES / COUNTED
