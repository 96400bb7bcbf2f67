"""The runs of one prediction."""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from zsim.base.constants import constant, whole_constant
from zsim.base.machine.at_rest import LINKER, give_back_code
from zsim.base.units import format_duration
from zsim.case.case import Case
from zsim.case.member import Member
from zsim.case.worlds import in_world
from zsim.engine.model import PlaneModel
from zsim.operation.blocks import KeptTables
from zsim.prediction import notes
from zsim.prediction.answer.records import Clients
from zsim.prediction.inputs.ensemble import MEMBERS, draw_members, member_at
from zsim.prediction.inputs.hardware import plane_model, under
from zsim.prediction.inputs.population import TILE_BLOCKS, NoRoomError, miniature
from zsim.prediction.results import EnsembleResult
from zsim.prediction.runs.autosit import sits_out
from zsim.prediction.runs.member import MemberResult
from zsim.prediction.runs.middle_world import PART, SMALL_TILE_BLOCKS, TILES, MiddleWorld, middle_world
from zsim.prediction.runs.one_tile import run_pool, run_world
from zsim.prediction.runs.sick_drives import read_errors, without_faulted
from zsim.prediction.runs.waits import client_waits
from zsim.prediction.runs.what_if import Baseline, baseline_of
from zsim.prediction.statistics.drawn_worlds import MEMBER_BLOCKS, member_blocks
from zsim.prediction.statistics.level import DurationLevel, anchors, level, of_size
from zsim.prediction.statistics.response import Response, response
from zsim.prediction.statistics.slopes import is_learned
from zsim.prediction.statistics.surface import REFERENCE, RanWorld, ResponseSurface, WorldRuns, runs_of

if TYPE_CHECKING:
    from zsim.prediction.evidence.probes import Ran
    from zsim.prediction.evidence.weighing import Counterpart, Weighing
    from zsim.prediction.exact.run import ExactRun
    from zsim.scenario.model import Scenario

Progress = Callable[[float, str], None]
LARGE_BLOCKS, MOST_BLOCKS = whole_constant("work.large_blocks"), whole_constant("work.most_blocks")
LARGE_WORLDS = whole_constant("work.large_worlds")
SEED_STEP, BATCH_STEP = 1_000_003, 7_919
MOST_MEMBERS = whole_constant("work.most_members")
MIDDLE_BLOCKS, CANDIDATES = whole_constant("response.middle_blocks"), whole_constant("response.candidates")
BUDGET, MOST_BUDGET = whole_constant("response.budget"), whole_constant("response.most_budget")
"""Worlds of which those are run that tell most; what is spent on them: by default, and at most at a time."""
ENOUGH, MOST_TURNS = constant("response.enough"), whole_constant("response.most_turns")
"""Half width of p50 above which as much is spent again where no precision is asked for; how often at most."""
LIGHT_LEAVES, LIGHT_COMMANDS = whole_constant("response.light_leaves"), constant("response.light_commands")
"""Drives of a pool, and the work of a world on a small population, up to which more are run."""
FEWEST_MEMBERS, MOST_COMMANDS = whole_constant("work.fewest_members"), constant("work.most_commands")
"""Worlds that are run in any case, and their work together from which on no more are."""
AGAIN, MOST_AGAIN = whole_constant("work.again"), whole_constant("work.most_again")
"""Small populations more of a world that is known well, to compare it with."""
WORTH_EXTRAPOLATING, MOST_STEP = constant("work.worth_extrapolating"), constant("work.most_step")
SHOWN_LARGE = whole_constant("work.shown_large")
"""Worlds on larger populations that are asked what else they show."""
SHARE_OF_MIDDLE = whole_constant("work.share_of_middle")
"""How much of the work the worlds near the median are, in members."""


@dataclass(frozen=True)
class World:
    """One possible world: the case as it is in it, and its data plane, made when it is first asked for."""

    case: Case

    @cached_property
    def plane(self) -> PlaneModel:
        """Drives, links and vdevs."""
        return plane_model(self.case)


class Work(EnsembleResult):
    """The runs of one prediction.

    First the members, each on a small population of its own, and a regression over them.  Then the worlds
    nearest to the median on larger ones, which tell by how much all are longer or shorter there; the nearest
    is shown in detail.  Where a precision is asked for, or the pool is small, that one is run until it is
    known so well.

    Parameters
    ----------
    case : Case
    progress : callable
        Called with the share done, 0 to 1, and what is being done.
    with_clients : bool
        Whether clients' latencies are asked for.

    Attributes
    ----------
    baseline : Baseline or None
        The world that is shown.
    middle : MiddleWorld or None
        The same, where it is run until it is known well.
    clients : tuple of Clients
        What clients wait in the world shown.
    notes : set of str
        What a reader is to be told of these runs.
    member_blocks : int
        Of a member's population.
    """

    def __init__(self, case: Case, progress: Progress, *, with_clients: bool = True) -> None:
        super().__init__(case)
        self.progress, self.with_clients = progress, with_clients
        self.member_blocks = member_blocks(case, self.inputs)
        self.notes: set[str] = set()
        self.baseline: Baseline | None = None
        self.middle: MiddleWorld | None = None
        self.clients: tuple[Clients, ...] = ()
        self.exact_run: ExactRun | None = None
        self.ran: list[MemberResult] = []
        self._places: list[int] = []
        self._worlds: dict[int, World] = {}
        self._without_room: list[str] = []
        self._set_aside: tuple[Member, ...] = ()
        self._surface: ResponseSurface | None = None

    def given(self, scenario: Scenario) -> Work:
        """Return the same worlds weighed against other evidence; others are nearest to the median then."""
        again = copy.copy(self)
        again.case = replace(self.case, scenario=scenario)
        again._take(again.case)
        weighing = again.weighing
        if weighing is None:
            return again

        def shown(place: int) -> tuple[float, ...]:
            return weighing.again(self.world(place).case, self.ran[place], self.member_blocks)

        weighing.shown += map(shown, range(len(self.ran)))
        weighing.others += self._run_others(weighing, range(len(self.ran)))
        again.level, again.larger, again._baselines = DurationLevel(), [], []
        again.progress = lambda share, doing: None
        if self._set_aside:
            # What others taught in the place of some members does not hold beside evidence.
            again.members, again._set_aside = self.members + self._set_aside, ()
            again.small, again.ran = list(self.small), list(self.ran)
            again._run_more(range(len(self.ran), len(again.members)))
        else:
            again._respond()
        again._run_larger()
        again._weigh()
        return again

    def run(self) -> None:
        """Run everything."""
        self._let_sit_out()
        self._run_members()
        give_back_code(LINKER)  # tens of megabytes of LLVM, needed to link kernels: most are by now
        self._run_larger()
        self._look_closer()
        self._weigh()
        if self.case.exact:
            self._run_exactly()

    def _let_sit_out(self) -> None:
        """Find the drives that sit out, before worlds are made of the case."""
        sitting = sits_out(self.case)
        if sitting:
            self.case = replace(self.case, sitting=sitting)

    def _run_exactly(self) -> None:
        """Simulate every I/O; what is said of the answer is said of this run."""
        from zsim.prediction.exact.run import ExactRun

        if self.baseline is not None:
            self.baseline.kept.forget()  # they are made again for what is run with something changed
        self.middle = None
        self.exact_run = ExactRun(self.case, self.progress)
        self.exact = self.exact_run.execute()
        self.lost_exactly = self.exact_run.lost(self.read_errors)
        assert self.baseline is not None
        self.baseline = replace(self.baseline, detail=self.exact)

    def _run_members(self) -> None:
        """Run possible worlds."""
        self._run_more(range(len(self.members)))
        if not self._is_learned:
            self._add_members()

    def _add_members(self) -> None:
        """Run more possible worlds where a precision is asked for, until they leave no more open."""
        batch = 0
        while self._is_open(self.response.half_width) and 0 < len(self.members) < MOST_MEMBERS:
            known, batch = len(self.members), batch + 1
            self.members += draw_members(self.inputs, self.case.seed + BATCH_STEP * batch, known)
            self._run_more(range(known, len(self.members)))
            if len(self.members) == known:
                break  # there was no room for any of them

    @property
    def _is_learned(self) -> bool:
        """Whether other scenarios taught how the duration depends on what is unknown in this one."""
        whole = self.middle is not None and not self.middle.in_tiles
        return self.weighing is None and not self.case.exact and not whole and is_learned(self.case)

    def _is_open(self, half_width: float) -> bool:
        """Tell whether one of the errors of the median is larger than the precision asked for leaves it.

        There are three: of the number of worlds, of a well-known world, and of what it is compared with.
        """
        stated = self.case.scenario.precision
        return stated is not None and half_width > PART * float(stated)

    def _run_more(self, places: range) -> None:
        place = places.start
        while place < len(self.members):
            if self._is_enough:
                self.members, self._set_aside = self.members[:place], self.members[place:]
                break
            try:
                result, shown = self._run_world(place)
            except NoRoomError:
                self._leave_out(place)
                if not self.members:
                    raise
                continue
            self.small.append(result.time_s)
            self.ran.append(replace(result, run=replace(result.run, progress=[])))
            if self.weighing is not None:
                self.weighing.shown.append(shown)
            self._report_members()
            place += 1
        if self.weighing is not None:
            self.weighing.others += self._run_others(self.weighing, range(places.start, place))
        self._respond()

    def _leave_out(self, place: int) -> None:
        """Leave out a world whose use finds no room in a small population."""
        self._without_room.append(self.members[place].history or self.case.history.name)
        self._worlds.pop(place, None)
        self.members = self.members[:place] + self.members[place + 1 :]

    @property
    def _is_enough(self) -> bool:
        """Whether members were so much work that no more are run: other scenarios taught what they tell."""
        if len(self.ran) < FEWEST_MEMBERS or not self._is_learned:
            return False
        most = MOST_COMMANDS if self.member_blocks <= MEMBER_BLOCKS else 0.0  # large ones tell more
        return math.fsum(each.commands for each in self.ran) > most

    def _run_world(self, place: int) -> tuple[MemberResult, tuple[float, ...]]:
        """Run a member on a small population, and what else it is to show there."""
        world = self.world(place)
        if self.weighing is not None:
            return self.weighing.run(world.case, world.plane, self.member_blocks)
        return run_world(world.case, self.member_blocks, lambda case: world.plane), ()

    def _run_others(self, weighing: Weighing, places: Iterable[int]) -> list[Counterpart]:
        """Run members with their write caches the other way, where nobody says how they are."""
        found = next((each for each in self.inputs if each.name == "write_cache"), None)
        if found is None or not weighing.comparisons:
            return []
        from zsim.prediction.evidence.weighing import Counterpart

        shares = {bool(choice.value): choice.share for choice in found.choices}

        def other(place: int) -> Counterpart:
            cached = not self.members[place].write_cache
            seeded = replace(self.case, seed=self.case.seed + SEED_STEP * place)
            world = in_world(seeded, replace(self.members[place], write_cache=cached))
            result, shown = weighing.run(world, plane_model(world), self.member_blocks)
            return Counterpart(result.time_s, shown, shares[cached] / math.fsum(shares.values()))

        return list(map(other, places))

    def _report_members(self) -> None:
        share = len(self.small) / MEMBERS
        if self.case.scenario.precision is not None:
            share = math.log1p(len(self.small)) / math.log1p(MOST_MEMBERS)
        self.progress(share * MEMBERS / (MEMBERS + SHARE_OF_MIDDLE), "possible pools")

    def _respond(self) -> None:
        """Regress over the members that are known."""
        if self._is_learned:
            self._learn()
            return
        self.drawn = None
        if not self.small:
            return
        scores = np.array([member.scores for member in self.members[: len(self.small)]])
        self.response = response(self.inputs, scores, self.small)
        self.anchors = anchors(self.small, self.response.expected.tolist())
        if self.weighing is not None:
            self.response = self.weighing.respond(self.response, self.small, self.level.factor)

    def _learn(self) -> None:
        """Regress over all worlds that were run, with what other scenarios taught of such a dependence."""
        if not self.small and not self.larger:
            return
        if self._surface is None or self._surface.blocks != self.answered_blocks:
            self._surface = ResponseSurface(self.case, self.inputs, self.answered_blocks)
        told = self._surface.estimate(self._runs())
        factor = told.quantiles[1] / told.small_s
        low, middle, high = (each / factor for each in told.quantiles)
        count = len(self.small)
        self.level = DurationLevel(factor)
        self.response = Response(low, middle, high, told.half_width, told.expected[:count] / factor)
        self.anchors = (told.own[:count] / factor).tolist()
        self.drawn = told.drawn

    @property
    def small_runs(self) -> list[RanWorld]:
        """Runs of possible worlds on small populations."""
        return [
            RanWorld(each.scores, self.member_blocks, time, ran.clients)
            for each, time, ran in zip(self.members, self.small, self.ran, strict=False)
        ]

    def _runs(self) -> WorldRuns:
        """Return all runs of possible worlds, those on small populations first."""
        return runs_of([*self.small_runs, *self.larger])

    def _weigh(self) -> None:
        """Weigh the evidence once more, with what the worlds near the median show on larger populations."""
        if self.weighing is None or self.baseline is None:
            return
        if not self.small:
            self._weigh_alone()
            return
        baselines = self._baselines[:SHOWN_LARGE] or [self.baseline]
        self.weighing.lift(list(map(_ran, baselines)), self._places[: len(baselines)], self.small)
        self._respond()

    def _weigh_alone(self) -> None:
        """Weigh the evidence where nothing is unknown but the pace of this pool."""
        assert self.weighing is not None
        assert self.baseline is not None
        level = self.level.factor
        self.weighing.alone(_ran(self.baseline), level)
        self.response = self.weighing.respond(self.response, [1.0], level)

    def world(self, place: int) -> World:
        """Return a world, with a seed of its own: chance is not to be the same in all of them."""
        if place not in self._worlds:
            seeded = replace(self.case, seed=self.case.seed + SEED_STEP * place)
            case = in_world(seeded, self.members[place]) if self.members else seeded
            self._worlds[place] = World(case)
        return self._worlds[place]

    def _nearest(self) -> list[int]:
        """Return the members, those nearest to the median first."""
        away = np.abs(np.log(np.array(self.anchors) / self.response.p50))
        if self.weighing is not None:
            away = away + self.weighing.away()
        return np.argsort(away, kind="stable").tolist()  # type: ignore[no-any-return]

    def _run_larger(self) -> None:
        """Run worlds near the median on larger populations."""
        self._report_larger(0.0, 0.0)
        places = self._places = self._nearest()
        first = places[0] if places else 0
        world = self.world(first)
        learned = self._is_learned
        self.middle = middle_world(
            world.case,
            self._report_larger,
            model=world.plane,
            in_tiles=learned,
            known=self.member_blocks if places else None,
        )
        if self._is_learned:
            self._run_on_tiles(places, self.shown_blocks)
        elif self.middle is None:
            self._run_large(places[:LARGE_WORLDS])
        elif self.middle.in_tiles and places:
            self._run_baselines(places[:TILES], self.middle.blocks)
            self._take_baselines()
        else:
            if learned:
                self._respond()
                self._add_members()
            self.middle.execute()
            self._take_middle()
        if self.middle is not None:
            self.middle.progress = None  # it refers back here, and to several megabytes

    def _run_on_tiles(self, places: Sequence[int], blocks: int) -> None:
        """Run the world nearest to the median on a tile, and worlds that tell most until it is known."""
        self._run_baselines(places[:1] or range(TILES), blocks, part=0.0)
        self._take_baselines()
        budget = BUDGET * min(self.member_blocks, 2 * MEMBER_BLOCKS) // MEMBER_BLOCKS
        wanted = self.case.scenario.precision
        turns = (MOST_TURNS if wanted is None and self._is_light else 1) if places else 0
        for turn in range(turns):
            if turn == 0 or self.half_width > ENOUGH:
                self._run_telling(blocks, budget)
        while wanted is not None and self.half_width > float(wanted) and self.worlds < MOST_MEMBERS:
            ran, known = len(self.larger), sum(each.blocks for each in self.larger)
            self._run_telling(blocks, min(MOST_BUDGET, max(budget, known)))
            if len(self.larger) == ran:
                break  # there was no room for any of them

    @property
    def _is_light(self) -> bool:
        """Whether a world is so little work that some more are run where they tell much."""
        commands = math.fsum(each.commands for each in self.ran)
        return self.case.leaves <= LIGHT_LEAVES and commands <= LIGHT_COMMANDS * len(self.ran)

    def _run_telling(self, blocks: int, budget: int) -> None:
        """Run worlds that tell most of the quantiles, some on tiles as large as those of an exact run."""
        assert self._surface is not None
        first = len(self.members) + len(self.larger)
        candidates = draw_members(self.inputs, self.case.seed + BATCH_STEP * first, CANDIDATES)
        # A world that was run on a small population tells by a larger one what the size changes.
        known = self.members[: len(self.small)]
        scores = np.array([each.scores for each in (*known, *candidates)] or [()])
        between = MIDDLE_BLOCKS * self.member_blocks // MEMBER_BLOCKS
        sizes = sorted({self.member_blocks, between, blocks, TILE_BLOCKS, self.answered_blocks})
        work = self._surface.work(scores, np.array([each.commands for each in self.ran]))
        chosen = self._surface.most_telling(self._runs(), scores, sizes, budget, work)
        chosen = chosen[: max(1, MOST_MEMBERS - self.worlds)]

        for place, (score, size) in enumerate(chosen, first):
            case = replace(self.case, seed=self.case.seed + SEED_STEP * place)
            if score:
                case = in_world(case, member_at(self.inputs, score))
            with contextlib.suppress(NoRoomError):
                ran = run_world(case, size, plane_model)
                self.larger.append(RanWorld(score, size, ran.time_s, ran.clients))
            self._report_larger(0.0, math.log(len(self.larger)) / math.log(max(2, MOST_MEMBERS)))
        self._learn()

    def _look_closer(self) -> None:
        """Run what is said of the world shown, beside its duration."""
        baseline = self.baseline
        assert baseline is not None
        shown = notes.of_world_shown(self.case, baseline.pool.note)
        left_out = notes.of_no_room(self.case, self._without_room)
        self.notes = {shown, left_out, notes.of_sitting(self.case)} - {""}
        if self.with_clients and baseline.result.model.clients:
            found = client_waits(baseline, self.shown_blocks)
            self.clients = tuple(Clients(**asdict(each)) for each in found)
        self.read_errors = read_errors(baseline)
        self.without_faulted = without_faulted(baseline, self.lost(self.sound_quantiles[1]))

    @property
    def answered_blocks(self) -> int:
        """Of how many blocks the populations are that the answer is of: the pool's, if these are few."""
        shown = self.middle or self.baseline
        return REFERENCE if shown is None else min(REFERENCE, round(shown.pool.pool_blocks))

    @property
    def shown_blocks(self) -> int:
        """Of how many blocks the larger populations are."""
        return LARGE_BLOCKS if self.middle is None else self.middle.blocks

    def _report_larger(self, now: float, share: float) -> None:
        whole = len(self.members) + SHARE_OF_MIDDLE
        self.progress(
            (len(self.members) + SHARE_OF_MIDDLE * share) / whole, "those near the median in detail"
        )

    def _run_baselines(self, places: Sequence[int], blocks: int, part: float = 1.0) -> None:
        """Run worlds on populations of so many blocks; `part`: of what is to be run."""
        self._baselines = []
        for place in places:
            baseline = self._made_baseline(place, blocks)
            if self._baselines:
                baseline.kept.forget()  # the first alone is shown, and run with something changed
            self._baselines.append(baseline)
            self._report_larger(0.0, part * len(self._baselines) / len(places))

    def _made_baseline(self, place: int, blocks: int) -> Baseline:
        world = self.world(place)
        held = self.middle.pool if self.middle is not None and place == self._shown else None
        pool = held or miniature(world.case, blocks=blocks)
        kept = KeptTables()
        result = run_pool(world.case, pool, world.plane, kept)
        return Baseline(world.case, pool, result, kept=kept)

    @property
    def _shown(self) -> int:
        # Once it has been run in detail another may be nearest to the median, for more is known.
        if self._places:
            return self._places[0]
        return self._nearest()[0] if self.anchors else 0

    def _take_baselines(self, error: float | None = None, factor: float = 1.0) -> None:
        """Take the level from worlds on larger populations; `error`: of their size, a tile's if not given."""
        self.baseline = self._baselines[0]
        if self._is_learned:
            self._take_larger()
            return
        known = [self.anchors[place] for place in self._nearest()] or [1.0] * len(self._baselines)
        times = [baseline.result.time_s for baseline in self._baselines]
        ratios = [time * factor / small for time, small in zip(times, known, strict=False)]
        if error is None:
            error = of_size(float(np.mean(np.log(ratios))))
        self.level = level(ratios, error)

    def _take_larger(self) -> None:
        """Learn of the worlds run on larger populations."""
        blocks = self.shown_blocks
        places = self._places or range(len(self._baselines))
        self.larger = [
            RanWorld(
                self.members[place].scores if self.members else (),
                blocks,
                baseline.result.time_s,
                baseline.result.clients,
            )
            for place, baseline in zip(places, self._baselines, strict=False)
        ]
        self._learn()

    def _take_middle(self, most: int = MOST_AGAIN) -> None:
        """Take the level from the one world that is known well; `most`: populations to compare it with."""
        middle = self.middle
        assert middle is not None
        self.baseline = baseline_of(middle)
        error = middle.half_width_s / middle.time_s
        if not self.anchors:
            self.level = DurationLevel(middle.time_s, error)
            return
        place = self._shown
        small = [self.small[place], *self._again(place, range(AGAIN))]
        self.level = level([middle.time_s / each for each in small], error)
        while self._is_open(math.sqrt(self.level.half_width**2 - error**2)) and len(small) < most:
            small += self._again(place, range(len(small) - 1, 2 * len(small) - 1))
            self.level = level([middle.time_s / each for each in small], error)

    def _again(self, place: int, numbers: range) -> list[float]:
        """Return what a world takes on small populations of several seeds [s]."""
        world, first = self.world(place), self.case.seed + SEED_STEP * (place + 1) + 1
        again = [replace(world.case, seed=first + number) for number in numbers]
        return [run_world(case, self.member_blocks, partial(under, world.plane)).time_s for case in again]

    def _run_large(self, places: Sequence[int]) -> None:
        """Run worlds of which no tile can tell on large miniatures, larger where more precision is wanted."""
        blocks = LARGE_BLOCKS
        while True:
            self._run_baselines(places or range(LARGE_WORLDS), blocks)
            self._extrapolate(blocks / self.member_blocks)
            precise = self.level.half_width <= self.case.precision
            if self.case.scenario.precision is None or precise or 2 * blocks > MOST_BLOCKS:
                return
            blocks *= 2

    def _extrapolate(self, ratio: float) -> None:
        """Take the level from where two sizes of a miniature lead.

        What a miniature has too much of does not grow with it (seeks between its metaslabs, blocks of the
        MOS, files cut short), so that its share falls as one over the size.

        Notes
        -----
        Richardson's extrapolation of first order (Phil. Trans. R. Soc. A 210, 1911).  The step is an error.
        """
        if not self.anchors or self._baselines[0].result.scale <= 1.0 or ratio < WORTH_EXTRAPOLATING:
            self._take_baselines(0.0)
            return
        small = np.log([self.anchors[place] for place in self._nearest()[: len(self._baselines)]])
        large = np.log([baseline.result.time_s for baseline in self._baselines])
        share = math.expm1(float(small.mean() - large.mean())) / (ratio - 1.0)
        step = max(-MOST_STEP, min(MOST_STEP, share))
        self._take_baselines(abs(step) / (1.0 - step), 1.0 - step)

    def partial(self) -> bool:
        """Make the best of what has been run; tell whether there is an answer."""
        estimate = self.exact_run.estimate() if self.exact_run is not None else None
        if estimate is not None:
            self.notes.add(f"interrupted: the I/Os simulated so far point to {format_duration(estimate)}")
        if self.baseline is None and not self.anchors:
            self._respond()
        if self.baseline is None and self._baselines:
            self._take_baselines()
        elif self.baseline is None and self.middle is not None and self.middle.known:
            self._take_middle(AGAIN)
        elif self.baseline is None and self.anchors:
            self._run_baselines([self._shown], SMALL_TILE_BLOCKS)
            self._take_baselines()
        return self.baseline is not None


def _ran(baseline: Baseline) -> Ran:
    """Return a world that was run as evidence looks at it."""
    from zsim.prediction.evidence.probes import Ran

    return Ran(baseline.case, baseline.pool, baseline.result)
