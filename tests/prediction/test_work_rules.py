"""The bookkeeping of a prediction's runs: which worlds, of which seeds, and what their durations lead to."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from zsim.case.resolve import resolve
from zsim.case.worlds import Choice
from zsim.prediction import api, notes
from zsim.prediction import work as working
from zsim.prediction.answer.records import Driver
from zsim.prediction.groups import lost_when_moved
from zsim.prediction.inputs.ensemble import Unknown, draw_members
from zsim.prediction.inputs.population import NoRoomError, miniature
from zsim.prediction.runs import middle_world as middle
from zsim.prediction.runs.member import BLOCK_COMMANDS, CLIENT_SCATTER, MemberResult
from zsim.prediction.runs.one_tile import run_world
from zsim.prediction.statistics.level import SPREAD, WEIGHT, DurationLevel, of_size
from zsim.prediction.statistics.sampling import student
from zsim.prediction.summary import IDLE
from zsim.prediction.work import (
    AGAIN,
    FEWEST_MEMBERS,
    MOST_COMMANDS,
    MOST_STEP,
    SEED_STEP,
    WORTH_EXTRAPOLATING,
    Work,
)
from zsim.scan.program import touched as is_touched
from zsim.scenario.model import Scenario
from zsim.vdevs.kind import kind_of

RATE = Unknown("outer_rate", "drive", "name the drive", 0.3)
CACHE = Unknown("write_cache", "write_cache", "say so", choices=(Choice(True, 0.8), Choice(False, 0.2)))


class RanMember(NamedTuple):
    """A member's duration and run."""

    time_s: float
    run: Any
    commands: float = 0.0


UNWEIGHED: Any = SimpleNamespace(away=lambda: 0.0)
"""Evidence that leaves all worlds alike, and what other scenarios taught aside."""


def case(**fields: Any) -> Any:
    """Return a case whose host has memory for all that a scan collects."""
    usual = {"layout": "raidz2x6", "fill": 0.5, "drive_size": "4TB", "memory": "16T"}
    return resolve(Scenario.from_dict({**usual, **fields}))


def work(**known: Any) -> Any:
    """Return the work of a prediction of which nothing was run, with what is stated."""
    made = Work(case(**known.pop("scenario", {})), lambda share, doing: None)
    for name, value in known.items():
        setattr(made, name, value)
    return made


def response_of(p50: float) -> Any:
    return SimpleNamespace(p50=p50, half_width=0.0)


def test_the_world_shown_is_the_nearest_to_the_median_by_ratio() -> None:
    """Half of it is as far off as twice of it, and of equals the first is taken."""
    made = work(anchors=[100.0, 800.0, 300.0, 210.0, 400.0], response=response_of(200.0), weighing=UNWEIGHED)
    assert made._nearest() == [3, 2, 0, 4, 1]
    assert made._shown == 3
    away = SimpleNamespace(away=lambda: np.array([0.0, 0.0, 0.0, 5.0, 0.0]))
    assert work(anchors=made.anchors, response=made.response, weighing=away)._nearest() == [2, 0, 4, 1, 3]


def test_chance_is_another_in_every_world_and_its_counterpart_has_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So that a world and the same with its caches the other way differ in these alone."""
    seeds: dict[str, list[int]] = {"world": [], "other": []}
    monkeypatch.setattr(
        working, "in_world", lambda seeded, member: SimpleNamespace(seed=seeded.seed, member=member)
    )
    monkeypatch.setattr(working, "plane_model", lambda world: None)
    members = draw_members((RATE, CACHE), 1, 8)
    ran: list[Any] = []

    def run(world: Any, _plane: Any, _blocks: int) -> Any:
        ran.append(world)
        return SimpleNamespace(time_s=7.0), (1.0,)

    weighing = SimpleNamespace(comparisons=[1], run=run)
    made = work(inputs=(RATE, CACHE), members=members, weighing=weighing)
    seeds["world"] = [made.world(place).case.seed for place in range(8)]
    assert made.world(3) is made.world(3)
    found = made._run_others(weighing, range(8))
    seeds["other"] = [world.seed for world in ran]
    assert (
        sorted(seeds["other"])
        == sorted(seeds["world"])
        == sorted(made.case.seed + SEED_STEP * n for n in range(8))
    )
    assert len(set(seeds["world"])) == 8
    assert {world.member.write_cache for world in ran} == {not member.write_cache for member in members}
    for counterpart, member in zip(found, members, strict=True):
        assert counterpart.likely == pytest.approx(0.2 if member.write_cache else 0.8)
    assert work(inputs=(RATE,), members=members)._run_others(weighing, range(8)) == []
    assert made._run_others(SimpleNamespace(comparisons=[], run=run), range(8)) == []


def baselines(times: list[float], scale: float = 10.0) -> list[Any]:
    return [
        SimpleNamespace(result=SimpleNamespace(time_s=time, scale=scale, clients=time / 1e4))
        for time in times
    ]


@pytest.mark.parametrize("excess", [0.3, -0.2, 1.0])
@pytest.mark.parametrize("ratio", [4.0, 16.0])
def test_what_falls_as_one_over_the_size_is_extrapolated_exactly(excess: float, ratio: float) -> None:
    """Richardson: T (1 + s) of the small and T (1 + s / r) of the large populations lead to T."""
    truth = [1000.0, 1500.0, 700.0]
    small, large = ([time * (1.0 + excess / size) for time in truth] for size in (1.0, ratio))
    made = work(anchors=small, response=response_of(1000.0), weighing=UNWEIGHED)
    order = made._nearest()
    made._baselines = baselines([large[place] for place in order])
    made._extrapolate(ratio)
    step = 1.0 - 1.0 / (1.0 + excess / ratio)
    assert abs(step) < MOST_STEP
    assert made.level.factor == pytest.approx(1.0 / (1.0 + excess))
    freedom = WEIGHT + 2
    spread = student(freedom) * math.sqrt(WEIGHT * SPREAD**2 / freedom / 3)
    assert made.level.half_width == pytest.approx(math.hypot(spread, abs(step) / (1.0 - step)))
    assert made.baseline is made._baselines[0]


def test_a_step_is_bounded_and_none_is_made_where_sizes_are_alike_or_the_pool_is_whole() -> None:
    def factor(large: float, ratio: float, scale: float = 10.0) -> float:
        made = work(anchors=[100.0], response=response_of(100.0), weighing=UNWEIGHED)
        made._baselines = baselines([large], scale)
        made._extrapolate(ratio)
        return float(made.level.factor)

    assert factor(10.0, 2.0 * WORTH_EXTRAPOLATING) == pytest.approx(0.1 * (1.0 - MOST_STEP))
    assert factor(1000.0, 2.0 * WORTH_EXTRAPOLATING) == pytest.approx(
        10.0 * (1.0 - max(-MOST_STEP, math.expm1(math.log(0.1)) / (2.0 * WORTH_EXTRAPOLATING - 1.0)))
    )
    assert factor(80.0, 0.9 * WORTH_EXTRAPOLATING) == pytest.approx(0.8)
    assert factor(80.0, 2.0 * WORTH_EXTRAPOLATING, scale=1.0) == pytest.approx(0.8)


def test_tiles_have_the_error_of_their_size_unless_one_is_stated() -> None:
    made = work(anchors=[100.0, 100.0], response=response_of(100.0), weighing=UNWEIGHED)
    made._baselines = baselines([120.0, 130.0])
    made._take_baselines()
    drift = float(np.log([1.2, 1.3]).mean())
    assert made.level.factor == pytest.approx(math.exp(drift))
    own = made.level.half_width
    made._take_baselines(0.0)
    assert own == pytest.approx(math.hypot(made.level.half_width, of_size(drift)))


def test_without_anything_unknown_larger_populations_are_the_answer() -> None:
    made = work(anchors=[], response=response_of(1.0), weighing=UNWEIGHED)
    made._baselines = baselines([90.0, 110.0])
    made._take_baselines(0.0)
    assert made.level.factor == pytest.approx(math.sqrt(90.0 * 110.0))


def test_one_world_known_well_is_compared_with_small_ones_of_several_seeds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(working, "baseline_of", lambda middle: "baseline")
    known = SimpleNamespace(time_s=300.0, half_width_s=6.0, in_tiles=False)
    alone = work(middle=known, anchors=[])
    alone._take_middle()
    assert alone.level == DurationLevel(300.0, 0.02)
    asked: list[int] = []

    def again(place: int, numbers: range) -> list[float]:
        asked.extend(numbers)
        return [100.0] * len(numbers)

    made = work(
        middle=known, anchors=[100.0, 400.0], small=[100.0, 400.0], response=response_of(100.0), weighing=None
    )
    made._again = again
    made._take_middle()
    assert asked == list(range(AGAIN))
    # Another is nearer to the median by now: it is not the one that was run in detail.
    made.small, made._places = [100.0, 150.0], [1, 0]
    made._again = lambda place, numbers: [150.0 if place == 1 else 100.0] * len(numbers)
    made._take_middle()
    assert made.level.factor == pytest.approx(2.0)
    made._places, made.small, made._again = [], [100.0, 400.0], again
    made._take_middle()
    assert made.level.factor == pytest.approx(3.0)
    freedom = WEIGHT + AGAIN
    spread = student(freedom) * math.sqrt(WEIGHT * SPREAD**2 / freedom / (AGAIN + 1))
    assert made.level.half_width == pytest.approx(math.hypot(spread, 0.02))


def test_a_precision_is_shared_by_the_errors_that_make_it_up() -> None:
    """Three of them: each may leave PART of what is asked for."""
    assert not work()._is_open(9.0)
    asked = work(scenario={"precision": 0.02})
    assert asked._is_open(middle.PART * 0.02 * 1.001)
    assert not asked._is_open(middle.PART * 0.02)


def test_progress_rises_from_nothing_to_all() -> None:
    for stated in ({}, {"precision": 0.05}):
        shares: list[float] = []
        made = work(scenario=stated, progress=lambda share, doing, shares=shares: shares.append(share))
        for count in range(1, len(made.members) + 1):
            made.small = [1.0] * count
            made._report_members()
        members = len(shares)
        for share in (0.0, 0.5, 1.0):
            made._report_larger(0.0, share)
        assert shares[:members] == sorted(shares[:members])
        assert 0.0 < shares[0] < 0.5
        assert shares[members:] == sorted(shares[members:])
        assert shares[-1] == pytest.approx(1.0)
        if not stated:
            assert shares[members] == pytest.approx(shares[members - 1])


# What is said of the whole.


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "sorted scan"),
        ({"release": "zol-0.7"}, "legacy scan"),
        ({"layout": "mirror2", "operation": "rebuild"}, "onto a replacement drive"),
        ({"operation": "expand"}, "one drive added"),
        ({"layout": "2*mirror2", "operation": "remove"}, "mirror2 removed"),
        ({"layout": "draid2:4d:11c:1s", "operation": "rebuild"}, "into a distributed spare"),
        ({"layout": "draid2:4d:11c:1s", "target": "distributed-spare", "operation": "resilver"},
         "into a distributed spare, sorted scan"),
        ({"second_at": 0.4}, "sorted scan, another drive replaced at 40 %"),
    ],
)  # fmt: skip
def test_what_was_asked_is_told_in_one_line(fields: dict[str, Any], words: str) -> None:
    told = api.subject(case(**fields))
    assert told.endswith(f"({words})")
    assert ", 50 % full, " in told
    assert not told.startswith("1 ")
    several = api.subject(case(replace=2))
    assert several.startswith("2 drives at once in raidz2x6")


def test_parts_sum_to_the_answer_in_their_proportions() -> None:
    parts = api._stretched({"a": 1.0, "b": 3.0}, 8.0)
    assert parts == {"a": 2.0, "b": 6.0}
    assert api._stretched({"a": 0.0}, 8.0) == {}
    assert api._longer({"link": 5.0}, 2.0) == {"link": 7.0}
    assert api._with_errors({"a": 1.0}, 3.0, 0.0, idle=False) == {"a": 3.0}
    assert api._with_errors({"a": 1.0}, 3.0, 2.0, idle=False) == {"a": 1.0, "reads that fail": 2.0}
    # What a run has waited for such reads is part of it, and its drives were idle: it counts once.
    ran = {"transfer": 3.0, IDLE: 4.0}
    told = {"transfer": 3.0, IDLE: 2.0, "reads that fail": 2.0}
    assert api._with_errors(ran, 7.0, 2.0, idle=True) == told
    assert api._with_errors({"transfer": 3.0, IDLE: 1.0}, 7.0, 4.0, idle=True)[IDLE] == 0.0


def test_what_moves_the_answer_most_comes_first() -> None:
    spans = [(3.0, 5.0), (1.0, 9.0), (2.0, 3.0)]
    drivers = [Driver(field="x", low_s=low, high_s=high, sampled=True, words="") for low, high in spans]
    assert [(each.low_s, each.high_s) for each in api.by_span(drivers)] == [
        (1.0, 9.0),
        (3.0, 5.0),
        (2.0, 3.0),
    ]


@pytest.mark.parametrize(("fill", "words"), [(0.5, "50 %"), (0.01, "1 %"), (0.005, "0.5 %")])
def test_nearly_empty_pools_are_told_apart(fill: float, words: str) -> None:
    assert api._full(fill) == words


@pytest.mark.parametrize(("asked", "reached", "said"), [(None, 9.0, 0), (0.05, 0.05, 0), (0.05, 0.051, 1)])
def test_a_precision_that_was_missed_is_said(asked: float | None, reached: float, said: int) -> None:
    found: Any = SimpleNamespace(
        case=SimpleNamespace(scenario=SimpleNamespace(precision=asked)), half_width=reached, worlds=7
    )
    assert len(api._short_of_precision(found)) == said


# Groups of a dRAID.


@pytest.mark.parametrize("layout", ["draid1:2d:6c:1s", "draid2:4d:11c:1s"])
def test_what_lies_in_groups_without_a_child_is_that_of_each_block_wherever_it_is_moved(layout: str) -> None:
    """A block counts if its own group, or the next one where it goes on there, has lost a child."""
    asked = case(layout=layout, drive_size="60GB")
    table = miniature(asked, blocks=300).table
    spec = asked.layout.vdevs[0]
    group, most = kind_of(spec.kind).group_bytes(spec), 12
    found = lost_when_moved(asked, table, group, most)
    from zsim.prediction.groups import _damaged

    here = table.dva_vdev[:, 0] == 0
    one = np.ones(1, np.int64)
    for moved in (0, 1, 5, most):
        lost = 0
        for offset, asize in zip(
            table.dva_offset[here, 0].tolist(), table.dva_asize[here, 0].tolist(), strict=True
        ):
            first = offset // group
            groups = [first] if offset % group + asize <= group else [first, first + 1]
            places = [np.array([(number + moved) * group]) for number in groups]
            lost += asize * any(bool(is_touched(place, one, _damaged(asked))[0]) for place in places)
        assert found[moved] == lost
    assert 0 < found.max() <= table.dva_asize[here, 0].sum()


# How many worlds.


@pytest.mark.parametrize(
    ("commands", "learned", "count"),
    [
        (2.0 * MOST_COMMANDS, True, FEWEST_MEMBERS),
        (1.01 * MOST_COMMANDS / FEWEST_MEMBERS, True, FEWEST_MEMBERS),
        (0.99 * MOST_COMMANDS / (FEWEST_MEMBERS + 1), True, FEWEST_MEMBERS + 2),
        (2.0 * MOST_COMMANDS, False, 16),
        (0.0, True, 16),
    ],
)
def test_of_worlds_that_are_much_work_fewer_are_run(
    commands: float, learned: bool, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At least eight, until they are too much work; all where nothing else tells of them."""
    made = work(_respond=lambda: None)
    run = SimpleNamespace(progress=[])
    made._run_world = lambda place: (RanMember(1.0, run, commands), ())
    monkeypatch.setattr(Work, "_is_learned", learned)
    monkeypatch.setattr(working, "replace", lambda kept, **changes: kept)
    made._run_more(range(len(made.members)))
    assert (len(made.members), len(made.small), len(made.ran)) == (count,) * 3


@pytest.mark.parametrize(
    ("kinds", "reads", "expected"),
    [
        (("mechanical", "mechanical"), 40, CLIENT_SCATTER / 20.0),
        (("flash", "mechanical"), 40, CLIENT_SCATTER / 20.0),
        (("flash", "flash"), 40, 0.0),
        (("mechanical", "mechanical"), 0, 0.0),
    ],
)
def test_clients_of_disks_move_a_run_the_less_the_longer_it_is(
    kinds: tuple[str, ...], reads: int, expected: float
) -> None:
    run = SimpleNamespace(end=20.0, client_reads=reads)
    model = SimpleNamespace(leaves=[SimpleNamespace(drive=SimpleNamespace(kind=kind)) for kind in kinds])
    found = MemberResult(1e5, 0.0, 1e5, 0.0, 5000.0, run, model)  # type: ignore[arg-type]
    assert found.clients == pytest.approx(expected)


def test_the_work_of_a_world_is_its_child_ios_and_what_laying_out_its_blocks_is_worth() -> None:
    found = MemberResult(1.0, 0.0, 1.0, 0.0, 1.0, SimpleNamespace(children=700), None, written=60)  # type: ignore[arg-type]
    assert found.commands == 700 + 60 * BLOCK_COMMANDS
    assert MemberResult(1.0, 0.0, 1.0, 0.0, 1.0, SimpleNamespace(children=700), None).commands == 700  # type: ignore[arg-type]
    one = case(drive="wd40efrx", history="media-server", write_cache=True)
    world = WorldRun(working.World(one))
    # What the history wrote and removed again was laid out too.
    assert world.result.written == world.pool.written > len(world.pool.table) > 0
    assert world.result.commands > BLOCK_COMMANDS * world.pool.written


class WorldRun(NamedTuple):
    """A world on a small population."""

    world: Any

    @property
    def pool(self) -> Any:
        return miniature(self.world.case, blocks=500)

    @property
    def result(self) -> Any:
        return run_world(self.world.case, 500, lambda case: self.world.plane)


def without_room(names: tuple[str, ...], **fields: Any) -> tuple[Any, list[str]]:
    """Return work whose worlds of such uses find no room, and the uses of those that were run."""
    made, ran = work(_respond=lambda: None, **fields), []

    def run(place: int) -> Any:
        if made.members[place].history in names:
            raise NoRoomError("fill", "90 %", "no room")
        ran.append(made.members[place].history)
        return RanMember(float(len(ran)), SimpleNamespace(progress=[])), ()

    made._run_world = run
    return made, ran


def test_possible_pools_without_room_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the use is not stated, one in which nothing fits is no reason to refuse the others."""
    monkeypatch.setattr(working, "replace", lambda kept, **changes: kept)
    made, ran = without_room(("maildir", "vm-host"))
    drawn = [each.history for each in made.members]
    made._run_more(range(len(made.members)))
    assert ran == [each for each in drawn if each not in ("maildir", "vm-host")]
    assert [each.history for each in made.members] == ran
    assert made.small == [float(number) for number in range(1, len(ran) + 1)]
    assert len(ran) < len(drawn)
    assert notes.of_no_room(made.case, made._without_room) == (
        f"{len(drawn) - len(ran)} possible pools (maildir and vm-host) are not simulated: 50 % full, "
        "they have no hole large enough for the next block; say what the pool stores (--history)"
    )


def test_a_pool_without_room_in_any_world_is_refused() -> None:
    made, _ = without_room(tuple({each.history for each in work().members}))
    with pytest.raises(NoRoomError):
        made._run_more(range(len(made.members)))
    assert notes.of_no_room(work().case, ()) == ""


def test_of_a_stated_use_the_note_names_no_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = without_room((), scenario={"history": "maildir"})
    assert {each.history for each in made.members} == {None}
    made._leave_out(3)
    assert len(made.members) == 15
    assert notes.of_no_room(made.case, made._without_room) == (
        "1 possible pool (maildir) is not simulated: 50 % full, it has no hole "
        "large enough for the next block"
    )


def test_it_ends_where_none_of_further_worlds_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    made = work(scenario={"precision": 0.001})
    made.response = SimpleNamespace(half_width=1.0)
    batches: list[int] = []

    def none(places: range) -> None:
        batches.append(len(places))
        made.members = made.members[: places.start]

    made._run_more = none
    made._add_members()
    assert batches == [16]
    made._run_baselines = lambda places, blocks, part: None
    made._take_baselines = lambda: None
    spent: list[int] = []
    made._run_telling = lambda blocks, budget: spent.append(budget)
    made._run_on_tiles([0], 77)
    assert len(spent) == 2, "once by default, once for the precision"
