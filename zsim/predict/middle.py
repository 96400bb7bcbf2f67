"""The middle world in detail: what ``--exact`` would run, sampled.

A pool no larger than a tile is built whole.  Of a larger one a few small tiles are run whole, each with a
population of its own: a cluster sample, whose spread is the error.  Where a precision is asked for, tiles as
large as those of an exact run are sampled, one after the other, until it is reached.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from zsim.engine.memory_limit import EXTENT_BYTES, MemoryLimit
from zsim.engine.model import PlaneModel
from zsim.engine.result import seconds_of
from zsim.engine.run import RunResult, RunSetup
from zsim.pool.blocks import BlockTable
from zsim.predict.clients import has_hours
from zsim.predict.ensemble import Member
from zsim.predict.exact import POPULATIONS, TILE_BLOCKS
from zsim.predict.hardware import plane_model
from zsim.predict.member import MemberResult, run_member, share_correction, whole_setup, world_of
from zsim.predict.population import Miniature, miniature
from zsim.predict.sampled import SampledRun
from zsim.predict.sampling import student
from zsim.predict.together import together
from zsim.predict.windows import Plan
from zsim.scan.sorted import DVA_BYTES, SIO_BYTES
from zsim.scenario.resolve import ResolvedScenario

WHOLE = 1.02
"""Blocks of a list that stand for no more than so many times themselves are all of it."""
LEAST_ISSUED = 20_000
"""Entries that leave the queues between two metadata phases, at least, for phases to be sampled apart."""
MOST_OPERATIONS = 4_000_000
PRECISION = 0.02
SMALL_BLOCKS, SMALL_REPEATS = 5_000, 3
TILES, SMALL_TILE_BLOCKS = 4, 30_000
"""As many blocks as one large tile and a half: several tell how far one may be off."""
OF_SIZE = 0.05
"""Half of what the size of a small tile may change, with 95 %: six exact runs of pools of 0.2 to 2 million
blocks differ from it by 1 to 5 % beyond its spread (a seventh, short, of records of 16K, by 23 %)."""
MOST_SEEN = 0.95
"""Even where all populations were run: each lies at many places."""


@dataclass(slots=True)
class MiddleWorld:
    """The middle world's run: sampled, and added to until it is as precise as asked for.

    Attributes
    ----------
    resolved : ResolvedScenario
        In the member's world.
    member : Member
    model : PlaneModel
    pool : Miniature
        The first tile, or the pool.
    blocks : int
        Of a tile.
    progress : callable
        Called with simulated time and the share done.
    """

    resolved: ResolvedScenario
    member: Member
    model: PlaneModel
    pool: Miniature
    blocks: int
    progress: Callable[[float, float], None] | None
    runs: list[SampledRun] = field(default_factory=list)
    first: RunResult | None = None
    plan: Plan | None = None
    small: list[float] = field(default_factory=list)

    def execute(self) -> None:
        """Sample tile after tile, each with a population of its own, until the interval is narrow enough."""
        if self._in_small_tiles:
            self._run_tiles()
            return
        stated = self.resolved.scenario.precision
        wanted = PRECISION if stated is None else float(stated)
        plan = self.plan or Plan(precision=wanted)
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
    def _in_small_tiles(self) -> bool:
        return self.blocks == SMALL_TILE_BLOCKS and self.plan is None and not self.whole

    def _run_tiles(self) -> None:
        """Run small tiles whole, two at a time."""
        plan = Plan(precision=PRECISION, whole=sys.maxsize)

        def executed(number: int) -> tuple[SampledRun, RunResult]:
            run = self._run(number, plan, quiet=True)
            return run, run.finish()

        for run, result in together(executed, range(TILES)):
            self.runs.append(run)
            self.first = self.first or result
            if self.progress is not None:
                self.progress(0.0, len(self.runs) / TILES)

    def _precise(self, wanted: float) -> bool:
        return self.half_width_s <= wanted * self.time_s

    def _executed(self, number: int, plan: Plan) -> RunResult:
        self.runs.append(self._run(number, plan))
        return self.runs[-1].finish()

    def _run(self, number: int, plan: Plan, *, quiet: bool = False) -> SampledRun:
        pool = self.pool
        if number > 0:
            seeded = replace(self.resolved, seed=self.resolved.seed + number)
            pool = miniature(seeded, self.member, blocks=self.blocks)
        setup = _setup(self.resolved, self.model, pool)
        if not self.whole:
            times = pool.scale * share_correction(self.resolved, pool)
            plan = replace(plan, times=times, visits=pool.scale)
        return SampledRun(setup, plan, None if quiet else self.progress)

    @property
    def whole(self) -> bool:
        """Whether the population is the pool."""
        return _is_whole(self.resolved, self.pool)

    @property
    def known(self) -> list[SampledRun]:
        """Runs that have an answer."""
        return [run for run in self.runs if run.known]

    @property
    def time_s(self) -> float:
        """Estimated duration [s]."""
        return float(np.mean([run.time_s for run in self.known]))

    @property
    def half_width_s(self) -> float:
        """Half the 95 % interval of it [s], of what an exact run gives, which has few populations."""
        widths = [run.half_width_s for run in self.known]
        of_windows = math.hypot(*widths) / len(widths)
        if self.whole:
            return of_windows
        if self._in_small_tiles and len(widths) > 1:
            times = np.log([run.time_s for run in self.known])
            spread = student(len(times) - 1) * float(times.std(ddof=1)) / math.sqrt(len(times))
            return math.hypot(spread, OF_SIZE) * self.time_s
        here = sum(run.covered for run in self.known) / self._populations
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
        if len(times) < 2 or unseen == 0.0:
            return 0.0
        return student(len(times) - 1) * float(np.log(times).std(ddof=1)) * math.sqrt(share) * unseen

    def _run_small(self) -> None:
        """Run small miniatures of several seeds."""
        for number in range(SMALL_REPEATS):
            seeded = replace(self.resolved, seed=self.resolved.seed + number)
            pool = miniature(seeded, self.member, blocks=SMALL_BLOCKS)
            self.small.append(run_member(seeded, self.member, pool=pool, model=self.model).time_s)

    def result(self) -> MemberResult:
        """Return what is known as the result of a member."""
        run, time_s = self.runs[0], self.time_s
        counted = self.first or run.so_far()
        visit, issue = seconds_of(run.phases, "visit"), seconds_of(run.phases, "issue")
        share = (visit + issue) / max(counted.end, 1e-9)
        every = time_s / run.time_s
        visit_s, issue_s = run.visit_s * share * every, run.issue_s * share * every
        course = [
            replace(each, time=each.time * counted.end / max(run.time_s, 1e-9)) for each in run.course()
        ]
        issued = run.plan.times * sum(float(stream.known[-1, 1]) for stream in run.streams)
        return MemberResult(
            time_s=time_s,
            visit_s=visit_s,
            issue_s=issue_s,
            sync_s=time_s - visit_s - issue_s,
            scale=issued / max(1, counted.issued_bytes),
            run=replace(counted, progress=course),
            model=self.model,
        )


def middle_world(
    resolved: ResolvedScenario,
    member: Member,
    progress: Callable[[float, float], None] | None = None,
    *,
    blocks: int | None = None,
) -> MiddleWorld | None:
    """Return the middle world, ready to be sampled; None where windows cannot tell of the whole.

    Parameters
    ----------
    resolved : ResolvedScenario
    member : Member
    progress : callable, optional
        Called with simulated time and the share done.
    blocks : int, optional
        Of a tile; small ones where no precision is asked for, else those of an exact run.
    """
    resolved = world_of(resolved, member)
    model = plane_model(resolved, member.factors, resolved.seed)
    if not _in_windows(resolved, model):
        return None
    pool, blocks = _first_tile(resolved, member, blocks)
    if _short_phases(resolved, pool):
        return None
    return MiddleWorld(resolved, member, model, pool, blocks, progress)


def _first_tile(resolved: ResolvedScenario, member: Member, blocks: int | None) -> tuple[Miniature, int]:
    """Return the first tile, or the pool if it is no larger, and how large tiles are."""
    if blocks is None and resolved.scenario.precision is None and resolved.scenario.block_list is None:
        pool = miniature(resolved, member, blocks=SMALL_TILE_BLOCKS)
        if pool.scale * len(pool.table) > TILE_BLOCKS:
            return pool, SMALL_TILE_BLOCKS
    blocks = blocks or TILE_BLOCKS
    return miniature(resolved, member, blocks=blocks), blocks


def _in_windows(resolved: ResolvedScenario, model: PlaneModel) -> bool:
    """Tell whether nothing in the operation depends on what was done long before."""
    drives = [leaf.drive for leaf in model.leaves]
    grows = any(drive.smr_band_bytes > 0 or drive.slc_cache_bytes > 0 for drive in drives)
    plain = resolved.operation != "rebuild" and resolved.second_at is None and resolved.engine == "compiled"
    return plain and not grows and not has_hours(resolved)


def _short_phases(resolved: ResolvedScenario, pool: Miniature) -> bool:
    """Tell whether a sorted scan is so short of memory that its phases are short.

    Otherwise it issues many metaslabs' worth between two metadata phases, which then only decide about when.
    """
    if resolved.release.order != "sorted":
        return False
    limit = MemoryLimit(resolved.release, resolved.memory, resolved.alloc)
    entries = float(pool.table.dva_count.sum()) * (1.0 if _is_whole(resolved, pool) else pool.scale)
    each = SIO_BYTES + DVA_BYTES + EXTENT_BYTES
    if entries * each < limit.hard:
        return False
    return limit.strict or (limit.hard - limit.soft) / each < LEAST_ISSUED


def _setup(resolved: ResolvedScenario, model: PlaneModel, pool: Miniature) -> RunSetup:
    return replace(whole_setup(resolved, _in_the_middle(resolved, pool), model), visited=pool.visited)


def _is_whole(resolved: ResolvedScenario, pool: Miniature) -> bool:
    """Tell whether no metaslab of the population is a reduced one, or all blocks of a list are there."""
    if resolved.scenario.block_list is not None:
        return pool.scale <= WHOLE
    return pool.damaged.stands_for == 0


def _in_the_middle(resolved: ResolvedScenario, pool: Miniature) -> BlockTable:
    """Return the blocks of a tile in the middle of the places of all tiles: the mean rate is there."""
    listed = resolved.scenario.block_list is not None or resolved.scenario.metaslabs is not None
    level = pool.damaged
    if listed or pool.centred or level.stands_for == 0 or len(set(resolved.layout.vdevs)) > 1:
        return pool.table
    shift, offset = level.behind(1, 2), pool.table.dva_offset
    return replace(pool.table, dva_offset=np.where(pool.table.dva_vdev >= 0, offset + shift, offset))
