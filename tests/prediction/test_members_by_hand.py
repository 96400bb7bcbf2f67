"""Runs of possible worlds, without a run: what is made of their times, and which are run next."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.prediction.test_work_rules import UNWEIGHED, baselines, case, response_of, work
from zsim.case.member import Member
from zsim.prediction import courses, notes
from zsim.prediction import work as working
from zsim.prediction.evidence import probes
from zsim.prediction.progress.course import Shape
from zsim.prediction.statistics.level import DurationLevel, of_size
from zsim.prediction.statistics.surface import REFERENCE, RanWorld
from zsim.prediction.work import (
    BUDGET,
    ENOUGH,
    LARGE_BLOCKS,
    LARGE_WORLDS,
    LIGHT_COMMANDS,
    LIGHT_LEAVES,
    MEMBER_BLOCKS,
    MOST_BLOCKS,
    MOST_BUDGET,
    MOST_MEMBERS,
    MOST_TURNS,
    SEED_STEP,
    SMALL_TILE_BLOCKS,
    TILES,
    Work,
)

LINE = Shape(np.array([0.0, 1.0]), np.array([0.0, 1.0]), tail=0.25)


# Which worlds are run.


def test_worlds_are_added_batch_by_batch_until_they_leave_no_more_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[tuple[int, int]] = []

    def draw(inputs: Any, seed: int, count: int) -> tuple[Member, ...]:
        drawn.append((seed, count))
        return (Member(),) * count

    monkeypatch.setattr(working, "draw_members", draw)
    ran: list[range] = []
    made = work(scenario={"precision": 0.01})
    made.members = (Member(),) * 4
    made._run_more = ran.append
    made.response = response_of(100.0)
    made.response.half_width = 1.0
    made._add_members()
    assert len(made.members) == MOST_MEMBERS
    assert ran[:3] == [range(4, 8), range(8, 16), range(16, 32)]
    assert [count for _, count in drawn[:3]] == [4, 8, 16]
    seeds = [seed for seed, _ in drawn]
    assert len({*seeds, made.case.seed}) == len(seeds) + 1
    few = work(scenario={"precision": 0.01}, members=(Member(),) * 4, _run_more=ran.append)
    few.response = SimpleNamespace(half_width=0.0)
    few._add_members()
    assert len(few.members) == 4
    none = work(scenario={"precision": 0.01}, members=())
    none.response = SimpleNamespace(half_width=1.0)
    none._add_members()
    assert none.members == ()


def larger(**known: Any) -> tuple[Any, list[Any]]:
    """Return work of four worlds, the third nearest to the median, and what is run of them."""
    made = work(
        anchors=[100.0, 400.0, 210.0, 800.0], response=response_of(200.0), weighing=UNWEIGHED,
        members=(Member(),) * 4, small=[1.0] * 4,
    )  # fmt: skip
    told: list[Any] = []
    made._run_on_tiles = lambda places, blocks: told.append(("tiles", places, blocks))
    made._run_large = lambda places: told.append(("large", places))
    made._run_baselines = lambda places, blocks: told.append(("baselines", places, blocks))
    made._take_baselines = lambda: told.append("take")
    made._take_middle = lambda: told.append("middle")
    made._respond = lambda: told.append("respond")
    made._add_members = lambda: told.append("add")
    for name, value in known.items():
        setattr(made, name, value)
    return made, told


@pytest.mark.parametrize(
    ("middle", "learned", "ran"),
    [
        (None, False, [("large", [2, 0, 1])]),
        (None, True, [("tiles", [2, 0, 1, 3], LARGE_BLOCKS)]),
        (True, True, [("tiles", [2, 0, 1, 3], 77)]),
        (True, False, [("baselines", [2, 0, 1, 3], 77), "take"]),
        (False, False, ["executed", "middle"]),
    ],
)
def test_worlds_nearest_to_the_median_are_run_larger(
    monkeypatch: pytest.MonkeyPatch, middle: bool | None, learned: bool, ran: list[Any]
) -> None:
    """On tiles where there are some; on large miniatures where none tell; the nearest alone in a small pool."""  # noqa: E501
    asked: list[int] = []
    made, told = larger()
    found = SimpleNamespace(
        in_tiles=middle, blocks=77, progress="it", execute=lambda: told.append("executed")
    )  # fmt: skip

    def world(place: int) -> Any:
        asked.append(place)
        return SimpleNamespace(case="case", plane="plane")

    made.world = world
    monkeypatch.setattr(Work, "_is_learned", property(lambda self: learned))
    monkeypatch.setattr(
        working, "middle_world", lambda *given, model, in_tiles, known: None if middle is None else found
    )
    made._run_larger()
    assert told == ran
    assert asked == [2]
    assert made._places == [2, 0, 1, 3]
    assert middle is None or found.progress is None
    assert (TILES, LARGE_WORLDS) == (4, 3)


def test_a_world_that_turns_out_to_be_whole_is_asked_for_more_worlds_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That other scenarios taught the dependence is known no more: the worlds tell it, as many as it takes."""  # noqa: E501
    made, told = larger()
    answers = iter([True, False])
    monkeypatch.setattr(Work, "_is_learned", property(lambda self: next(answers)))
    found = SimpleNamespace(in_tiles=False, execute=lambda: told.append("executed"), progress="it")
    monkeypatch.setattr(working, "middle_world", lambda *given, **named: found)
    made.world = lambda place: SimpleNamespace(case="case", plane="plane")
    made._run_larger()
    assert told == ["respond", "add", "executed", "middle"]


def test_more_is_spent_on_telling_worlds_until_the_precision_is_reached() -> None:
    spent: list[int] = []
    made = work(scenario={"precision": 0.01}, anchors=[1.0], level=DurationLevel())
    made._run_baselines = lambda places, blocks, part: None
    made._take_baselines = lambda: None
    made.response = SimpleNamespace(half_width=1.0)

    def telling(blocks: int, budget: int) -> None:
        spent.append(budget)
        sizes = [10, BUDGET, BUDGET, 2 * MOST_BUDGET, 5]
        made.larger.append(RanWorld((), sizes[len(spent) - 1], 1.0))
        if len(spent) == 5:
            made.response.half_width = 0.0

    made._run_telling = telling
    made._run_on_tiles([0], 77)
    # As much as was spent so far, at least the usual, at most so much at a time.
    assert spent == [BUDGET, BUDGET, BUDGET + 10, 2 * BUDGET + 10, MOST_BUDGET]
    spent.clear()
    made._run_on_tiles([], 77)
    assert spent == []
    plain = work(anchors=[1.0])
    plain.response = SimpleNamespace(half_width=9.0)
    plain._run_baselines, plain._take_baselines = made._run_baselines, made._take_baselines
    plain._run_telling = lambda blocks, budget: spent.append(budget)
    plain._run_on_tiles([0], 77)
    assert spent == [BUDGET] * MOST_TURNS, "as long as it is not known well enough, but not for ever"
    spent.clear()
    plain.ran = [SimpleNamespace(commands=commands) for commands in (0, 2 * LIGHT_COMMANDS + 2)]
    plain._run_on_tiles([0], 77)
    assert spent == [BUDGET], "its worlds are a lot of work"
    spent.clear()
    plain.ran = []
    plain.response = SimpleNamespace(half_width=ENOUGH)
    plain._run_on_tiles([0], 77)
    assert spent == [BUDGET]


@pytest.mark.parametrize(
    ("leaves", "commands", "is_light"),
    [
        (LIGHT_LEAVES, (2 * LIGHT_COMMANDS, 0), True),
        (LIGHT_LEAVES + 1, (0, 0), False),
        (1, (2 * LIGHT_COMMANDS, 1), False),
        (1, (), True),
    ],
)
def test_a_pool_of_few_drives_and_worlds_of_few_commands_are_light(
    leaves: int, commands: tuple[int, ...], is_light: bool
) -> None:
    """Their mean over the worlds that were run counts."""
    made: Any = SimpleNamespace(
        case=SimpleNamespace(leaves=leaves),
        ran=[SimpleNamespace(commands=each) for each in commands],
    )
    assert Work._is_light.fget(made) is is_light  # type: ignore[attr-defined]


def test_large_miniatures_double_until_they_are_precise_or_too_large() -> None:
    def sizes(half_widths: list[float], **scenario: Any) -> list[tuple[Any, int, float]]:
        ran: list[tuple[Any, int, float]] = []
        made = work(scenario=scenario)
        left = iter(half_widths)
        made._run_baselines = lambda places, blocks: ran.append((places, blocks, 0.0))

        def extrapolate(ratio: float) -> None:
            ran[-1] = (*ran[-1][:2], ratio)
            made.level = DurationLevel(1.0, next(left))

        made._extrapolate = extrapolate
        made._run_large([3, 1])
        return ran

    first = LARGE_BLOCKS / MEMBER_BLOCKS
    assert sizes([9.0]) == [([3, 1], LARGE_BLOCKS, first)]
    twice = sizes([0.03, 0.02], precision=0.02)
    assert twice == [([3, 1], LARGE_BLOCKS, first), ([3, 1], 2 * LARGE_BLOCKS, 2 * first)]
    assert [blocks for _, blocks, _ in sizes([1.0] * 9, precision=0.02)] == [
        LARGE_BLOCKS * 2**k for k in range(5)
    ]
    assert LARGE_BLOCKS * 16 <= MOST_BLOCKS < LARGE_BLOCKS * 32


def test_small_populations_of_a_world_have_seeds_that_no_world_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        working, "run_world", lambda given, blocks, plane: SimpleNamespace(time_s=(given.seed, blocks))
    )
    made = work(members=())
    seed = made.case.seed
    assert made._again(2, range(3, 5)) == [
        (seed + 3 * SEED_STEP + 4, MEMBER_BLOCKS), (seed + 3 * SEED_STEP + 5, MEMBER_BLOCKS),
    ]  # fmt: skip


def test_several_worlds_report_their_share_and_the_first_alone_keeps_its_tables() -> None:
    gone: list[int] = []
    told: list[float] = []
    made = work(progress=lambda share, doing: told.append(share), members=(Member(),) * 8)
    made._made_baseline = lambda place, blocks: SimpleNamespace(
        place=place, kept=SimpleNamespace(forget=lambda: gone.append(place))
    )
    made._run_baselines([4, 2, 9], 77)
    assert [each.place for each in made._baselines] == [4, 2, 9]
    assert sorted(gone) == [2, 9]
    # Eight worlds, and those near the median as much as eight more.
    assert told == pytest.approx([(8 + 8 / 3) / 16, (8 + 16 / 3) / 16, 1.0])
    made._run_baselines([4], 77, part=0.0)
    assert told[-1] == 0.5


def test_worlds_run_larger_are_learned_of_with_what_is_unknown_in_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = work(_places=[1, 0])
    members = [SimpleNamespace(scores=(0.5,)), SimpleNamespace(scores=(-1.5,))]
    made.members, made._learn = members, lambda: None
    made._baselines = baselines([90.0, 110.0])
    made._take_larger()
    assert made.larger == [
        RanWorld((-1.5,), LARGE_BLOCKS, 90.0, 0.009),
        RanWorld((0.5,), LARGE_BLOCKS, 110.0, 0.011),
    ]
    made._places, made.members = [], ()
    made.middle = SimpleNamespace(blocks=77)
    made._take_larger()
    assert made.larger == [RanWorld((), 77, 90.0, 0.009), RanWorld((), 77, 110.0, 0.011)]


def test_what_was_learned_is_told_for_small_populations_and_the_level_between() -> None:
    """The median of all worlds is 300 s, of such as were run small 200 s: half as long again."""
    made = work(small=[180.0, 220.0])
    told = SimpleNamespace(
        quantiles=(150.0, 300.0, 600.0), small_s=200.0, half_width=0.1,
        expected=np.array([270.0, 330.0, 999.0]), own=np.array([285.0, 315.0, 999.0]),
        drawn=np.array([150.0, 300.0, 600.0]),
    )  # fmt: skip
    made._surface = SimpleNamespace(estimate=lambda runs: told, blocks=REFERENCE)
    made._runs = lambda: None
    made._learn()
    assert made.level == DurationLevel(1.5)
    assert (made.response.p10, made.response.p50, made.response.p90) == (100.0, 200.0, 400.0)
    assert made.response.expected.tolist() == pytest.approx([180.0, 220.0])
    assert made.anchors == pytest.approx([190.0, 210.0])
    assert made.drawn.tolist() == [150.0, 300.0, 600.0]
    empty = work(small=[], _surface=None)
    empty._learn()
    assert empty._surface is None


def test_drives_that_sit_out_are_named_in_the_order_of_the_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "sits_out", lambda given: (5, 2))
    made = work()
    made._let_sit_out()
    assert made.case.sitting == (5, 2)
    names = sorted(made.case.scenario.drive_of(each) for each in (5, 2))
    assert notes.of_sitting(made.case).startswith(f"drive {names[0]}, {names[1]} sits out")
    monkeypatch.setattr(working, "sits_out", lambda given: ())
    sound = work()
    sound._let_sit_out()
    assert (notes.of_sitting(sound.case), sound.case.sitting) == ("", case().sitting)


def test_a_note_of_the_world_shown_says_so_where_its_use_was_drawn() -> None:
    assert notes.of_world_shown(work().case, "x") == (
        "in the simulated pool shown, x; say what the pool stores (--history)"
    )
    stated = work(scenario={"history": "media-server"}).case
    assert notes.of_world_shown(stated, "x") == "x"
    assert notes.of_world_shown(work().case, "") == ""


@pytest.mark.parametrize("weighs", [True, False])
def test_the_same_worlds_are_weighed_against_other_evidence(
    monkeypatch: pytest.MonkeyPatch, weighs: bool
) -> None:
    """They show it as they were run; what is run larger, and the level, are new."""
    told: list[Any] = []
    weighing = SimpleNamespace(shown=["before"], others=["before"], again=lambda *given: given)
    monkeypatch.setattr(
        Work, "_take", lambda self, one: setattr(self, "weighing", (weighs and weighing) or None)
    )
    monkeypatch.setattr(Work, "_run_others", lambda self, given, places: list(places))
    for name in ("_respond", "_run_larger", "_weigh"):
        monkeypatch.setattr(
            Work, name, lambda self, name=name: told.append((name, self.level.factor, list(self.larger)))
        )
    made = work(ran=["first", "second"], larger=["large"], level=DurationLevel(3.0))
    made.world = lambda place: SimpleNamespace(case=f"world {place}")
    scenario = made.case.scenario.changed({"fill": 0.25})
    again = made.given(scenario)
    assert again.case.scenario is scenario
    assert (made.level.factor, made.larger, made.case.scenario.fill) == (3.0, ["large"], 0.5)
    assert told == [(name, 1.0, []) for name in ("_respond", "_run_larger", "_weigh") if weighs]
    if weighs:
        shown = [("world 0", "first", made.member_blocks), ("world 1", "second", made.member_blocks)]
        assert (weighing.shown, weighing.others) == (["before", *shown], ["before", 0, 1])


# What is made of an interrupted one.


def test_the_best_is_made_of_what_has_been_run() -> None:
    def made(**known: Any) -> tuple[Any, list[Any], bool]:
        told: list[Any] = []
        found = work(**({"_respond": lambda: told.append("respond")} | known))

        def take(*given: Any) -> None:
            told.append(("take", *given))
            found.baseline = "baseline"

        found._take_baselines = found._take_middle = take
        found._run_baselines = lambda places, blocks: told.append((places, blocks))
        return found, told, found.partial()

    assert made()[1:] == (["respond"], False)
    assert made(baseline="there")[1:] == ([], True)
    assert made(anchors=[1.0], _baselines=["one"], response=response_of(1.0))[1:] == ([("take",)], True)
    known = SimpleNamespace(known=[1])
    assert made(middle=known, anchors=[1.0], response=response_of(1.0))[1:] == (
        [("take", working.AGAIN)],
        True,
    )
    none = SimpleNamespace(known=[])
    nearest = {"anchors": [9.0, 1.0], "response": response_of(1.0), "weighing": None}
    assert made(middle=none, **nearest)[1:] == ([([1], SMALL_TILE_BLOCKS), ("take",)], True)


def test_an_interrupted_exact_run_says_where_it_points_to() -> None:
    made = work(baseline="there", exact_run=SimpleNamespace(estimate=lambda: 7200.0))
    assert made.partial()
    assert made.notes == {"interrupted: the I/Os simulated so far point to 2 h"}
    made.exact_run, made.notes = SimpleNamespace(estimate=lambda: None), set()
    assert made.partial()
    assert made.notes == set()


def test_a_world_alone_is_weighed_at_its_own_level(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(probes, "Ran", lambda *given: given)
    weighing = SimpleNamespace(
        alone=lambda ran, level: told.append((ran, level)),
        respond=lambda response, small, level: (response, small, level),
        lift=lambda ran, places, small: told.append((ran, places, small)),
        away=lambda: 0.0,
    )
    baseline = SimpleNamespace(case="case", pool="pool", result="result")
    made = work(weighing=weighing, baseline=baseline, level=DurationLevel(2.5), small=[], response="before")
    made._weigh()
    assert told == [(("case", "pool", "result"), 2.5)]
    assert made.response == ("before", [1.0], 2.5)
    told.clear()
    several = work(
        weighing=weighing, baseline=baseline, small=[1.0, 2.0], _baselines=[baseline] * 3, _places=[4, 7, 2],
        _respond=lambda: told.append("respond"),
    )  # fmt: skip
    several._weigh()
    one = ("case", "pool", "result")
    assert told == [([one, one], [4, 7], [1.0, 2.0]), "respond"]
    told.clear()
    several._baselines = []
    several._weigh()
    assert told == [([one], [4], [1.0, 2.0]), "respond"]
    several.weighing = None
    several._weigh()
    assert len(told) == 2


def test_the_size_of_a_tile_is_an_error_of_tiles_alone() -> None:
    made = work(anchors=[100.0], response=response_of(100.0), weighing=UNWEIGHED)
    made._baselines = baselines([150.0])
    made._take_baselines(0.25, 0.5)
    assert made.level.factor == pytest.approx(0.75)
    wide = made.level.half_width
    made._take_baselines(0.0, 0.5)
    assert wide == pytest.approx(math.hypot(made.level.half_width, 0.25))
    made._take_baselines(None, 0.5)
    assert made.level.half_width > of_size(math.log(0.75)) > 0.0


def test_a_vdev_of_a_class_has_the_share_of_its_class() -> None:
    """Alike vdevs have as much each; of unlike ones the first has what lies there."""

    def share(layout: str, **more: Any) -> float:
        one = case(layout=layout, **more)
        table: Any = SimpleNamespace(
            share_on=lambda places: {(0,): 0.3, (0, 1): 0.8, (1,): 0.2, (2,): 0.2}[tuple(places)]
        )
        return courses._share_of_first(one, table)

    assert share("raidz2x6+special:mirror2") == 0.3
    assert share("2*raidz2x6+special:mirror2") == 0.4
    assert share("raidz2x6+mirror2") == 0.3
