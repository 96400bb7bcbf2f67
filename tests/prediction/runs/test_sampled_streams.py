"""What a sampled run keeps book of: notes at the same events, blocks that txgs free, how long it watches."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zsim.engine.codes import BUDGET
from zsim.prediction.runs import waits
from zsim.prediction.runs.sampling.sources import SampledEntries, SampledVisits
from zsim.prediction.runs.sampling.windows import NOTE_EVENTS, CourseNotes, SampledStream
from zsim.prediction.runs.waits import (
    LONGEST_S,
    SHORTEST_S,
    STARVATIONS,
    WATCHED_BLOCKS,
    WATCHED_REQUESTS,
)
from zsim.scan.program import OP_ISSUE, Program
from zsim.scenario.layout import Layout


class Plane:
    """A data plane that has come so far."""

    def __init__(self) -> None:
        self.events = 0
        self.leaves = {"busy": np.zeros(1)}

    def general(self, name: str) -> float:
        assert name == "events"
        return float(self.events)

    def course(self) -> tuple[float, Any, Any]:
        return (self.events / 1e3, np.array([self.events]), np.array([1]))


@pytest.mark.parametrize("step", [1, 7, NOTE_EVENTS, NOTE_EVENTS + 1, 3 * NOTE_EVENTS])
def test_notes_are_taken_at_the_same_events_however_time_is_cut(step: int) -> None:
    plane = Plane()
    notes = CourseNotes(plane)  # type: ignore[arg-type]
    notes.begin()
    while plane.events < 5 * NOTE_EVENTS + 3:
        plane.events += min(step, notes.events_left(), 5 * NOTE_EVENTS + 3 - plane.events)
        notes.came_back()
    taken = [round(1e3 * moment) for moment, *_ in notes.end()]
    assert taken == [*(number * NOTE_EVENTS for number in range(1, 6)), 5 * NOTE_EVENTS + 3]


def test_without_a_beginning_nothing_is_noted_and_nothing_held_up() -> None:
    plane = Plane()
    notes = CourseNotes(plane)  # type: ignore[arg-type]
    assert notes.events_left() == BUDGET
    plane.events = NOTE_EVENTS
    notes.came_back()
    notes.begin()
    assert [round(1e3 * moment) for moment, *_ in notes.end()] == [NOTE_EVENTS]
    assert notes.events_left() == BUDGET


def stream(items: list[int], sizes: list[float], head: int = 0) -> SampledStream:
    """A stream that issues items of these sizes."""
    before = np.concatenate(([0.0], np.cumsum(sizes)))
    program = Program(np.full(len(items), OP_ISSUE, np.int64), np.array(items, np.int64))
    return SampledStream(
        program, before, np.column_stack((before, np.arange(len(before), dtype=float))), head
    )


def entries(first: int, count: int, *turns: list[int]) -> SampledEntries:
    """Entries of a queue, and which of them the txgs free one after the other."""
    found = object.__new__(SampledEntries)
    left = iter(turns)

    def end_txg(queued: Any) -> Any:
        return np.isin(queued, next(left, []))

    found._freed = SimpleNamespace(end_txg=end_txg)  # type: ignore[assignment]
    found._entry_of = np.arange(-first, count)
    found.gone = np.zeros(count, bool)
    return found


def test_what_a_txg_frees_is_not_issued_and_sums_go_on_without_it() -> None:
    one, two = stream([10, 11, 12, 13], [1.0, 2.0, 4.0, 8.0]), stream([14, 15], [16.0, 32.0])
    queue = entries(10, 6, [2, 3, 5])
    # Entry 2 is item 12; of the first stream three operations are done, entry 2 among them.
    assert queue.end_issue_txg([one, two], [3, 0])
    assert one.program.item.tolist() == [10, 11, 12]
    assert one.work.tolist() == [0.0, 1.0, 3.0, 7.0]
    assert one.known.tolist() == [[0.0, 0.0], [1.0, 1.0], [3.0, 2.0], [7.0, 3.0]]
    assert two.program.item.tolist() == [14]
    assert two.work.tolist() == [0.0, 16.0]
    assert queue.gone.tolist() == [False, False, False, True, False, True]
    # A later txg frees nothing.
    assert not queue.end_issue_txg([one, two], [3, 1])
    assert len(one) == 3


def test_of_a_stream_from_the_middle_sums_before_it_stay() -> None:
    late = SampledStream(
        Program(np.zeros(2, np.int64), np.array([0, 1], np.int64)), np.array([5.0, 6.0, 8.0]),
        np.array([[5.0], [6.0], [8.0]]),
    )  # fmt: skip
    assert entries(0, 2, [0]).end_issue_txg([late], [0])
    assert late.work.tolist() == [5.0, 7.0]
    assert late.known.tolist() == [[5.0], [7.0]]


def test_what_was_visited_and_is_freed_is_gone_before_it_is_issued() -> None:
    visits = object.__new__(SampledVisits)
    visits.visited = 3
    visits.note_txg()
    visits.freeing = entries(0, 5, [1, 4])
    visits.note_txg()
    assert visits.freeing.gone.tolist() == [False, True, False, False, False]
    assert visits.used_bytes() == 0.0
    assert visits.load_entries(by_address=True) == ()


def member(end: float, answered: int, ages: list[float]) -> Any:
    drives = [SimpleNamespace(drive=SimpleNamespace(queue_max_age_s=age, rotating=age > 0)) for age in ages]
    run = SimpleNamespace(end=end, clients=[(answered, 0.1)])
    return SimpleNamespace(model=SimpleNamespace(leaves=drives), run=run)


def test_clients_are_watched_until_enough_were_answered_and_a_stream_let_a_read_wait() -> None:
    middle_s = (SHORTEST_S + LONGEST_S) / 2
    answered = round(WATCHED_REQUESTS / middle_s)
    assert waits._seconds(member(1.0, answered, [])) == pytest.approx(middle_s, rel=0.01)
    assert waits._seconds(member(10.0, 10 * answered, [])) == pytest.approx(middle_s, rel=0.01)
    assert waits._seconds(member(10.0, 1000_000, [])) == SHORTEST_S
    assert waits._seconds(member(10.0, 0, [])) == LONGEST_S
    starved = min(LONGEST_S, STARVATIONS * 2.0)
    assert waits._seconds(member(10.0, 1000_000, [0.5, 2.0])) == pytest.approx(starved)
    # A solid-state drive lets nothing wait.
    assert waits._seconds(member(10.0, 1000_000, [0.0, -5.0])) == SHORTEST_S


def baseline(operation: str, load: object, end: float, *, same: bool = True) -> Any:
    result = member(end, 1000_000, [])
    layout = Layout.parse("mirror2")
    case = SimpleNamespace(operation=operation, scenario=SimpleNamespace(load=load), layout=layout)
    shown = result if same else member(end, 1000_000, [])
    return SimpleNamespace(case=case, result=result, shown=shown)


@pytest.mark.parametrize(
    ("operation", "load", "end", "same", "more"),
    [
        ("resilver", ["reads"], 1.0, True, SHORTEST_S),
        ("scrub", ["reads"], 1.0, True, SHORTEST_S),
        ("resilver", ["reads"], SHORTEST_S, True, None),  # long enough
        ("resilver", [], 1.0, True, None),  # nobody stated clients
        ("rebuild", ["reads"], 1.0, True, None),
        ("resilver", ["reads"], 1.0, False, None),  # what is shown was run for itself
        ("resilver", ["reads"], 1e-6, True, 1e9),
    ],
)
def test_a_short_run_is_repeated_with_as_many_blocks_as_the_time_takes(
    monkeypatch: pytest.MonkeyPatch, operation: str, load: object, end: float, same: bool, more: float | None
) -> None:
    asked: list[int] = []
    ran: list[float] = []

    def run(_setup: object) -> Any:
        return SimpleNamespace(execute_for=ran.append, forget_blocks=lambda: None, release=lambda: None)

    monkeypatch.setattr(waits, "miniature", lambda _case, blocks: asked.append(blocks))
    monkeypatch.setattr(waits, "setup_of", lambda *_: None)
    monkeypatch.setattr(waits, "Run", run)
    given = baseline(operation, load, end, same=same)
    given.result.model.leaves = ()
    given.case.release = None
    found = waits.run_for_waits(given, 5_000)
    if more is None:
        assert found is given.shown.run
        assert asked == []
    else:
        assert asked == [min(WATCHED_BLOCKS, round(5_000 * SHORTEST_S / end))]
        assert ran == [2.0 * SHORTEST_S]
