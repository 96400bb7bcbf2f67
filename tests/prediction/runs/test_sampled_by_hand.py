"""Sampled runs against arithmetic by hand: what is known of operations, windows, txgs, rounds and tiles."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.prediction.runs.test_sampled_parts import case
from zsim.prediction.runs import waits
from zsim.prediction.runs.sampling.operations import first_asked
from zsim.prediction.runs.sampling.run import (
    LEAST_WINDOW,
    LEGACY_JUMP,
    MOST_SHARE,
    PARTS,
    SORTED_JUMP,
    WARM_BLOCKS,
    SampledRun,
)
from zsim.prediction.runs.sampling.windows import SATURATED, Note, Period, SampledStream, WindowPlan, Windows
from zsim.prediction.statistics.sampling import Estimate, student, whole_from_windows
from zsim.scan.program import OP_ISSUE, OP_PREFETCH, OP_VISIT, Program


class Items(SimpleNamespace):
    """Items of a scan, by column."""

    def __len__(self) -> int:
        return len(self.psize)


def stream(sizes: list[float], head: int = 0, codes: int = OP_ISSUE) -> SampledStream:
    """Return a stream of which blocks and bytes are known."""
    program = Program(np.full(len(sizes), codes, np.int64), np.arange(len(sizes)))
    known = np.zeros((len(sizes) + 1, 2))
    known[1:, 0], known[1:, 1] = np.arange(1, len(sizes) + 1), np.cumsum(sizes)
    return SampledStream(program, known[:, 1].copy(), known, head)


def sampled(*streams: SampledStream, **more: Any) -> Any:
    """Return a sampled run that has come so far."""
    run: Any = object.__new__(SampledRun)
    run.streams, run.periods, run.plan = list(streams), [], WindowPlan()
    run.complete = run._nothing_left = run.sorted = False
    run.quiet_s, run.rest = None, Estimate(0.0, 0.0, 1, np.zeros(0))
    run.visited_s = run.head_s = run.simulated = run.length = run.slice_operations = 0
    run.visit_ends, run.covered = [], 0.0
    run._firsts = [0] * len(streams)
    run._longest = int(np.argmax([len(each) for each in streams])) if streams else 0
    run.limits = [SimpleNamespace(limit=100) for _ in streams]
    run._servers = np.ones(1)
    for name, value in more.items():
        setattr(run, name, value)
    return run


def note(moment: float, position: int, in_flight: float = 0.0, *busy_s: float) -> Note:
    """Return how far one stream has come, and for how long leaves were busy."""
    return Note(moment, np.array([position]), np.array([in_flight]), np.array(busy_s or (0.0,)))


def period(begin: float, drained: float, end: float, *, whole: bool = True, last: bool = False) -> Period:
    """Return a txg of which nothing was noted."""
    return Period(begin, drained, end, [], whole, last)


# What is known of operations.


@pytest.mark.parametrize(("is_sorted", "jump"), [(False, LEGACY_JUMP), (True, SORTED_JUMP)])
def test_blocks_bytes_places_jumps_and_metadata_are_summed_before_each_operation(
    is_sorted: bool, jump: int
) -> None:
    """Four issues with a visit among them: the third lies just as far off as counts for no jump."""
    begin = [0, 100, 100 + 50 + jump, 100 + 50 + jump + 50 + jump + 1]
    items = Items(
        offset=np.array([*begin, 0]), psize=np.array([100, 50, 50, 20, 7]), in_memory=np.array([False] * 5)
    )
    program = Program(np.array([OP_ISSUE, OP_ISSUE, OP_VISIT, OP_ISSUE, OP_ISSUE]), np.array([0, 1, 4, 2, 3]))
    run = sampled(sorted=is_sorted, _items=items, _occupied=items.psize)
    work, known = run._columns(program, SimpleNamespace(counts_blocks=False))
    assert known[:, 0].tolist() == [0, 1, 2, 2, 3, 4]
    assert known[:, 1].tolist() == [0, 100, 150, 150, 200, 220]
    far = items.offset.max()
    assert known[:, 2] == pytest.approx(np.cumsum([0.0, 0.0, 50 * 100 / far, 0.0, 50 * begin[2] / far, 20.0]))
    assert known[:, 3].tolist() == [0, 0, 0, 0, 0, 1]
    assert known[:, 4].tolist() == [0, 0, 0, 1, 1, 1]
    assert np.array_equal(work, known[:, 1])
    blocks, _ = run._columns(program, SimpleNamespace(counts_blocks=True))
    assert np.array_equal(blocks, known[:, 0])
    items.in_memory[4] = True
    assert run._columns(program, SimpleNamespace(counts_blocks=True))[1][-1, 4] == 0


def test_metadata_is_asked_for_by_itself_or_as_the_child_of_a_visit() -> None:
    """Item 0 is visited as operation 1 and has the children 2 and 3; item 1 as operation 2, without any."""
    items = Items(
        psize=np.zeros(4), prefetch_first=np.array([2, -1, -1, -1]), prefetch_next=np.array([-1, -1, 3, -1])
    )
    program = Program(np.array([OP_ISSUE, OP_VISIT, OP_VISIT]), np.array([2, 0, 1]))
    assert first_asked(program, items, unbounded=False).tolist() == [3, 3, 1, 1]  # type: ignore[arg-type]
    asked = Program(np.array([OP_PREFETCH, OP_PREFETCH, OP_VISIT]), np.array([3, 3, 0]))
    found = first_asked(asked, items, unbounded=True)  # type: ignore[arg-type]
    assert found.tolist() == [3, 3, 3, 0], "the first of two counts"


@pytest.mark.parametrize(("counted", "found"), [("counted", "counted"), (None, "executed")])
def test_a_run_is_what_it_has_counted_when_the_operation_was_over(counted: str | None, found: str) -> None:
    """What is run behind it, to learn of quiet txgs, counts for nothing; the plane is let go of."""
    released: list[bool] = []
    run = sampled(counted=counted)
    run.run = SimpleNamespace(execute=lambda: "executed", release=lambda: released.append(True))
    assert run.finish() == found
    assert released == [True]


@pytest.mark.parametrize(
    ("txgs", "is_sorted", "done", "whole"),
    [
        (0, False, False, False), (0, True, False, True), (3, False, False, True), (3, False, True, False),
        (0, True, True, False),
    ],
)  # fmt: skip
def test_a_slice_is_whole_unless_it_comes_to_the_end_or_begins_a_scan_by_birth(
    txgs: int, is_sorted: bool, done: bool, whole: bool
) -> None:
    """Five seconds of issue, and two of the txg's own."""
    run = sampled(stream([1.0]), stream([1.0]), sorted=is_sorted)
    run.plane = SimpleNamespace(now=1.0)

    def go_on(seconds: float) -> Any:
        run.plane.now += seconds
        yield

    run._notes = SimpleNamespace(begin=lambda: None, end=lambda: ["note"])
    run._scan = SimpleNamespace(issue=lambda: go_on(5.0))
    run.control = SimpleNamespace(
        txgs=txgs, finished=lambda streams: done and streams == 2, sync=lambda: go_on(2.0)
    )
    list(run._period())
    assert run.periods == [Period(1.0, 6.0, 8.0, ["note"], whole, done)]


# How long it takes.


def test_the_whole_is_the_metadata_phase_the_beginning_the_rest_and_half_a_txg() -> None:
    run = sampled(
        stream([1.0] * 4), visited_s=30.0, head_s=100.0, rest=Estimate(1000.0, 5.0, 9, np.ones(1)),
        periods=[period(0.0, 5.0, 6.0), period(6.0, 11.0, 14.0), period(14.0, 15.0, 99.0, whole=False)],
    )  # fmt: skip
    assert run._mean_end() == 2.0
    assert run._mean_slice() == 5.0
    assert run.issue_s == 1101.0
    assert run.time_s == 1131.0
    assert run.half_width_s == pytest.approx(student(9) * 5.0)
    run.quiet_s = 0.5
    assert run.issue_s == 1100.25
    run.complete = True
    assert run.issue_s == 1100.0
    # Where no slice was whole, those there are tell.
    run.periods = run.periods[2:]
    assert (run._mean_end(), run._mean_slice()) == (84.0, 1.0)
    run.periods, run.pool = [], SimpleNamespace(usual_slice_s=7.0)
    assert (run._mean_end(), run._mean_slice()) == (0.0, 7.0)


def test_of_a_tile_the_metadata_phase_is_its_slices_times_so_many_each_with_the_end_of_a_txg() -> None:
    """Two slices of 3 s, ten times, and 1 s behind each 5 s: the first txg, which writes more, comes once."""
    pool = SimpleNamespace(phases=[("visit", 0.0, 3.0), ("issue", 3.0, 9.0), ("visit", 9.0, 12.0)],
                           usual_slice_s=5.0)  # fmt: skip
    run = sampled(stream([1.0]), plan=WindowPlan(visits=10.0), pool=pool, visit_ends=[4.0, 1.0])
    run.periods = [period(0.0, 5.0, 7.0)]
    assert run.visit_s == pytest.approx(10.0 * 6.0 * (1.0 + 1.0 / 5.0))
    run.visit_ends = [4.0]
    assert run.visit_s == pytest.approx(10.0 * 6.0 * (1.0 + 2.0 / 5.0)), "no longer than txgs of the issue"
    run.visit_ends = []
    assert run.visit_s == pytest.approx(60.0)
    run.quiet_s = 0.5
    assert run.visit_s == pytest.approx(10.0 * 6.0 * 1.1)
    run.plan, run.visited_s = WindowPlan(), 42.0
    assert run.visit_s == 42.0


def test_a_run_is_over_when_nothing_is_left_or_the_interval_is_narrow() -> None:
    run = sampled(stream([1.0] * 4), plan=WindowPlan(precision=0.02, operations=10, most=30, wide=0.05))
    assert not run.known
    assert not run._enough()
    run.rest = Estimate(100.0, 1.0, 10**6, np.ones(1))
    run.head_s = 1.97
    assert run.known
    assert run.half_width_s == pytest.approx(1.96, abs=1e-3)
    assert not sampled(stream([1.0]), rest=Estimate(100.0, 1.5, 10**6, np.ones(1)))._enough()
    assert run._enough()
    assert run.most() == 10
    run.rest = Estimate(100.0, 3.0, 10**6, np.ones(1))
    assert run.most() == 30
    for name in ("complete", "_nothing_left"):
        assert sampled(stream([1.0]), **{name: True})._enough()


def test_the_share_done_is_of_what_may_be_simulated() -> None:
    run = sampled(stream([1.0]), simulated=10, plan=WindowPlan(operations=40))
    assert run.share() == 0.25
    run.simulated = 50
    assert run.share() == 1.0
    run.plan = WindowPlan(operations=0)
    assert run.share() == 0.0
    assert sampled().share() == 0.0


# Windows.


def test_windows_that_would_cover_most_of_it_are_given_up() -> None:
    """Each takes its length and twice what goes before it."""
    run = sampled(stream([1.0] * 10_000, head=2_000), length=10)
    warm = WARM_BLOCKS + 100
    assert run._warm(0) == warm
    limit = MOST_SHARE * 8_000 / (10 + 2 * warm)
    assert not run._crowded(math.floor(limit))
    assert run._crowded(math.floor(limit) + 1)


def test_a_window_does_what_a_slice_does_unless_that_is_too_much_or_too_little() -> None:
    run = sampled(stream([1.0] * 100_000), plan=WindowPlan(operations=PARTS * 1_000_000))
    run.limits = [SimpleNamespace(limit=1)]
    warm = WARM_BLOCKS + 1
    least = max(LEAST_WINDOW, warm // 2)

    def length(begin: int, end: int) -> int:
        run.periods = [Period(0, 1, 2, [note(0.0, begin), note(0.5, 7), note(1.0, end)], True, False)]
        return int(run._window_length())

    assert length(5_000, 15_000) == 10_000
    assert run.slice_operations == 10_000
    assert length(5_000, 5_001) == least
    run.plan = WindowPlan(operations=PARTS * 3_000)
    assert length(5_000, 15_000) == max(least, 3_000 - 2 * warm + WARM_BLOCKS)


def test_behind_the_last_window_its_slice_is_filled_from_what_follows_or_else_goes_before() -> None:
    run = sampled(stream([1.0] * 100), slice_operations=30)
    assert run._some_more(run.streams[0], 50).tolist() == list(range(50, 80))
    assert run._some_more(run.streams[0], 90).tolist() == [*range(90, 100), *range(70, 90)]
    assert run._some_more(stream([1.0] * 10), 5).tolist() == [*range(5, 10), *range(5)]


def test_windows_stand_in_what_is_loaded_behind_what_warms_them_up() -> None:
    run = sampled(stream([1.0] * 4_000), stream([1.0] * 10), length=20, slice_operations=30, _parts=4)
    run.setup, run.limits = SimpleNamespace(seed=1), [SimpleNamespace(limit=10)] * 2
    run.sorted = True
    found = run._choose(0)
    assert len(found.starts) == 4
    assert np.array_equal(found.rows[found.begins], found.starts)
    warm = WARM_BLOCKS + 10
    for start, begin in zip(found.starts.tolist(), found.begins.tolist(), strict=True):
        before = min(start, warm)
        piece = found.rows[begin - before : begin + 20 + 10]
        assert piece.tolist() == list(range(start - before, start + 30))
    assert len(found.rows) == sum(min(s, warm) for s in found.starts.tolist()) + 4 * 30 + 30
    nothing = run._choose(1)
    assert (len(nothing.starts), len(nothing.rows)) == (0, 0)


def test_what_was_run_behind_the_beginning_is_windows_without_anything_between() -> None:
    taken: list[Any] = []
    run = sampled(stream([1.0] * (10 * PARTS + 7), head=5), stream([1.0], head=0))
    run._take = lambda chosen, first: taken.append((chosen, first))
    run._one_by_one(3)
    [(chosen, first)] = taken
    assert (run.length, first, run._nothing_left) == ((10 * PARTS + 2) // PARTS, 3, True)
    assert chosen[0].starts.tolist() == [5 + 10 * k for k in range(PARTS)]
    assert chosen[0].begins.tolist() == [10 * k for k in range(PARTS)]
    assert chosen[0].rows.tolist() == list(range(5, 10 * PARTS + 7))


def test_a_window_takes_as_long_as_the_course_does_over_its_work() -> None:
    """Twenty units, evenly in 10 s of a slice and 2 s of the txg's own: a window of five takes 3 s."""
    one = stream([1.0] * 20)
    run = sampled(one, length=5)
    notes = [note(0.0, 0), note(5.0, 12, 2.0), note(10.0, 20)]
    run.periods = [Period(0.0, 10.0, 12.0, notes, True, False)]
    run._found(0, Windows(np.array([4, 10]), np.array([4, 10]), np.arange(20)), 0)
    assert one.found == [(4, pytest.approx(3.0), 0), (10, pytest.approx(3.0), 0)]
    clock, done, ends = run._course(0, np.arange(21.0), run.periods)
    assert clock.tolist() == [0.0, 6.0, 12.0]
    assert done.tolist() == [0.0, 10.0, 20.0]
    assert ends.tolist() == [12.0]


def test_the_last_slice_spares_what_a_whole_one_would_not_take() -> None:
    """Of 12 s it spares one: 11 s for what took 10 s of its slice."""
    run = sampled(stream([1.0] * 20))
    run._spared = lambda number, work, given: 1.0  # type: ignore[method-assign]
    notes = [note(0.0, 0), note(10.0, 20)]
    for last, end in ((True, 11.0), (False, 12.0)):
        clock, _, ends = run._course(0, np.arange(21.0), [Period(0.0, 10.0, 12.0, notes, True, last)])
        assert clock.tolist() == pytest.approx([0.0, end])
        assert ends.tolist() == pytest.approx([end])


def test_a_short_last_slice_has_its_share_of_a_txgs_end() -> None:
    """A slice of 2 s of 10 spares four fifths of 3 s."""
    run = sampled(stream([1.0] * 10), periods=[period(0.0, 10.0, 13.0)])
    assert run._spared(0, np.arange(11.0), period(0.0, 2.0, 5.0)) == pytest.approx(2.4)
    assert run._spared(0, np.arange(11.0), period(0.0, 12.0, 15.0)) == 0.0


def test_of_a_tile_the_wait_for_the_last_in_flight_comes_once_a_slice_too() -> None:
    """8 of 10 units done in 4 s, 2 in flight take 1 s more at that pace: of 3 s behind it 2 s are idle.

    What the scan left in the caches, 1 s, is work of the slice.
    """
    run = sampled(stream([1.0] * 10), quiet_s=0.5)
    run.pool = SimpleNamespace(usual_slice_s=9.0)
    notes = [note(0.0, 0), note(4.0, 10, 2.0), note(6.0, 10, 1.0)]
    last = Period(0.0, 7.0, 8.5, notes, False, True)
    assert run._spared(0, np.arange(11.0), last) == pytest.approx(
        (0.5 + 2.0) * (1.0 - (4.0 + 1.0) / (9.0 + 1.0))
    )
    stood = Period(0.0, 7.0, 8.5, [note(0.0, 0), note(4.0, 10, 8.0)], False, True)
    assert run._spared(0, np.arange(11.0), stood) == pytest.approx(0.5 * (1.0 - 5.0 / 10.0))


@pytest.mark.parametrize(
    ("busy_s", "servers", "idle_s"),
    [
        ([(0.0, 0.0), (3.0, 4.0), (5.5, 7.0)], (1.0, 1.0), 0.0),
        ([(0.0, 9.0), (3.0, 13.0), (5.5, 15.5)], (1.0, 1.0), 0.5),
        ([(0.0, 0.0), (1.0, 16.0 * SATURATED), (2.0, 20.0)], (1.0, 4.0), 3.0 - (5.0 - 4.0 * SATURATED)),
        ([(0.0, 0.0), (1.0, 3.9 * SATURATED), (2.0, 6.9)], (1.0, 1.0), 2.0),
    ],
)
def test_a_leaf_that_limits_the_scan_loses_nothing_while_it_works(
    busy_s: list[tuple[float, float]], servers: tuple[float, float], idle_s: float
) -> None:
    """Of 3 s behind the last block 2 s are idle at the pace before, or as long as the busiest leaf was."""
    notes = [
        note(moment, *done, *busy)
        for moment, done, busy in zip((0.0, 4.0, 7.0), ((0, 0.0), (10, 2.0), (10, 0.0)), busy_s, strict=True)
    ]
    last = Period(0.0, 7.0, 8.5, notes, False, True)
    issuing, idle = last.waited(0, np.arange(11.0), 0, np.array(servers))
    assert (issuing, idle) == (4.0, pytest.approx(idle_s))


def test_what_follows_is_estimated_of_the_stream_that_takes_longest() -> None:
    """Windows of ten operations of 1 s: of 90 that are left they tell 90 s, of a tile of ten times all."""
    one = stream([1.0] * 100, head=10)
    one.found = [(start, 10.0, number) for number, start in enumerate((20, 40, 60, 80))]
    run = sampled(one, length=10)
    run._estimate()
    assert run.rest.total == pytest.approx(90.0)
    assert run.covered == pytest.approx(40.0 / 90.0)
    run.plan = WindowPlan(times=10.0)
    run._estimate()
    assert run.rest.total == pytest.approx(1000.0 - 10.0)
    empty = sampled(stream([]))
    empty._estimate()
    assert (empty.covered, empty.rest.total, empty.rest.error) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(("hardware", "expected"), [((0, 1), 400.0), ((0, 0), 250.0)])
def test_windows_tell_of_streams_on_the_same_hardware_alone(
    monkeypatch: pytest.MonkeyPatch, hardware: tuple[int, int], expected: float
) -> None:
    """Of a hundred operations each takes 1 s in one vdev, 4 s in the other: the last is through at 400 s."""
    fast, slow = stream([1.0] * 100), stream([1.0] * 100)
    for each, seconds in ((fast, 10.0), (slow, 40.0)):
        each.found = [(start, seconds, number) for number, start in enumerate((20, 40, 60, 80))]
    monkeypatch.setattr(SampledRun, "_hardware", lambda run, number: (hardware[number],))
    run = sampled(fast, slow, length=10)
    run._estimate()
    assert run.rest.total == pytest.approx(expected)


def test_the_course_of_the_whole_goes_with_the_cost_of_its_operations() -> None:
    """Bytes alone cost: half of the blocks hold three quarters of them."""
    run = sampled(
        stream([3.0, 3.0, 1.0, 1.0]), rest=Estimate(80.0, 0.0, 1, np.array([0.0, 1.0])), visited_s=20.0
    )
    found = run.course(3)
    assert [(each.time, each.issued_bytes) for each in found] == [
        (20.0, 0), (pytest.approx(20.0 + 80.0 * 0.75), 6), (100.0, 8)
    ]  # fmt: skip


def test_the_course_goes_with_the_number_of_operations_where_nothing_was_fitted() -> None:
    run = sampled(stream([3.0, 3.0, 1.0, 1.0]), rest=Estimate(80.0, 0.0, 1, np.zeros(0)), visited_s=20.0)
    assert [each.time for each in run.course(5)] == pytest.approx([20.0, 40.0, 60.0, 80.0, 100.0])


# Regression over windows.


def test_windows_of_unlike_size_without_anything_else_known_have_the_spread_of_neighbours() -> None:
    """Seconds 1, 3, 2 of a mean of 2: differences 2 and -1 give a variance of 5 / 4."""
    found = whole_from_windows([1.0, 3.0, 2.0], np.ones((3, 1)), np.array([30.0]), 30.0, 0.19)
    assert found.total == pytest.approx(60.0)
    # Each window pulls a third of the fit: without it, it lies half as far off again.
    assert found.error == pytest.approx(30.0 * math.sqrt(0.81 * 1.25 * 1.5**2 / 3.0))
    assert found.freedom == 2
    assert found.cost == pytest.approx([2.0])


def test_groups_go_by_the_mean_place_of_their_members() -> None:
    """Groups 7 (places 0 and 3) and 2 (places 1 and 2) both in the middle: by their numbers."""
    from zsim.prediction.statistics import sampling

    values = np.array([1.0, 10.0, 20.0, 5.0])
    assert sampling._by_group(values, np.array([7, 2, 2, 7])).tolist() == [15.0, 3.0]
    assert sampling._by_group(values, np.array([7, 7, 2, 2])).tolist() == [5.5, 12.5]
    assert sampling._by_group(values, np.array([2, 7, 2, 7])).tolist() == [10.5, 7.5]


# Clients that are watched.


def watched(answered: list[int], ages: list[float], end: float = 100.0, *, rotating: bool = True) -> float:
    """Return how long clients are watched beside drives with such limits of age."""
    leaves = [SimpleNamespace(drive=SimpleNamespace(queue_max_age_s=age, rotating=rotating)) for age in ages]
    run = SimpleNamespace(clients=[(count, None) for count in answered], end=end)
    return waits._seconds(SimpleNamespace(model=SimpleNamespace(leaves=leaves), run=run))  # type: ignore[arg-type]


def test_clients_are_watched_until_enough_were_answered_for_a_percentile() -> None:
    enough = waits.WATCHED_REQUESTS
    shortest, longest = waits.SHORTEST_S, waits.LONGEST_S
    assert watched([enough], [0.0], shortest / 2) == shortest
    between = (shortest + longest) / 2
    assert watched([enough // 2, enough - enough // 2], [0.0], between) == pytest.approx(between)
    assert watched([2 * enough], [0.0], 1.5 * between) == pytest.approx(max(shortest, 0.75 * between))
    assert watched([], [0.0]) == longest
    age = between / waits.STARVATIONS
    assert watched([10**9], [age / 2, age]) == pytest.approx(between)
    assert watched([10**9], [age], rotating=False) == shortest


def test_the_smallest_block_of_a_draid_lies_on_a_whole_stripe() -> None:
    one = case(layout="draid2:4d:8c:1s")
    assert waits._most_blocks(one) == min(waits.WATCHED_BLOCKS, waits.WATCHED_CHILDREN // 6)
    assert waits._most_blocks(case()) == waits.WATCHED_BLOCKS


@pytest.mark.parametrize(
    ("fields", "end", "blocks"),
    [
        ({}, 10.0, 2500), ({}, 9.0, 2778), ({}, 25.0, None), ({"operation": "scrub"}, 10.0, 2500),
        ({"load": []}, 10.0, None), ({}, 1.0, 4000),
    ],
)  # fmt: skip
def test_a_run_that_is_too_short_for_its_clients_is_made_of_more_blocks(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], end: float, blocks: int | None
) -> None:
    """A thousand blocks take 10 s, clients are watched for 25; 4000 blocks at most, and twice as long."""
    asked: list[Any] = []
    longer = SimpleNamespace(
        execute_for=lambda seconds: asked.append(seconds) or "longer",
        forget_blocks=lambda: None,
        release=lambda: None,
    )
    monkeypatch.setattr(waits, "_seconds", lambda result: 25.0)
    monkeypatch.setattr(waits, "_most_blocks", lambda given: 4000)
    monkeypatch.setattr(waits, "miniature", lambda given, *, blocks: asked.append(blocks))
    monkeypatch.setattr(waits, "setup_of", lambda *given: None)
    monkeypatch.setattr(waits, "Run", lambda setup: longer)
    result = SimpleNamespace(run=SimpleNamespace(end=end), model=None)
    baseline = SimpleNamespace(
        case=case(**({"load": [{"kind": "random-read", "rate": 5}]} | fields)), shown=result, result=result,
    )  # fmt: skip
    found = waits.run_for_waits(baseline, 1000)  # type: ignore[arg-type]
    assert found == (result.run if blocks is None else "longer")
    assert asked == ([] if blocks is None else [blocks, 50.0])
    baseline.shown = SimpleNamespace(run="of the world in the middle")
    assert waits.run_for_waits(baseline, 1000) == "of the world in the middle"  # type: ignore[arg-type]
