"""The control plane's hold on a data plane: for what it comes back, how time goes on, and what a slice is."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.operation.scripted import CONFIGURATION, DATA, LABELS, NamedWrites, ScriptedPlane, control_of, let
from zsim.engine.codes import (
    BUDGET,
    EXIT_BUDGET,
    EXIT_DRAINED,
    EXIT_GROUP,
    EXIT_HORIZON,
    EXIT_RECORD,
    EXIT_REFILL,
    EXIT_STALLED,
    FOREVER,
)
from zsim.engine.model import WriterModel
from zsim.operation.control import ScanControl

FULL, ANY_EVENTS, ASKS = (1.0, EXIT_RECORD), (2.0, EXIT_BUDGET), (3.0, EXIT_GROUP)


def decided(control: ScanControl, until: float = FOREVER) -> int:
    reason: int = let(control, control.decision(until))
    return reason


@pytest.mark.parametrize("start", [0.0, 500.0])
def test_only_what_needs_a_decision_comes_back(start: float) -> None:
    """Full records are taken out on the way, and a budget of events that is used up is for progress alone."""
    plane = ScriptedPlane(
        [(start + moment, reason) for moment, reason in (FULL, ANY_EVENTS, ASKS)], start=start
    )
    control, seen = control_of(plane), []  # type: ScanControl, list[float]
    control.progress = seen.append
    assert decided(control) == EXIT_GROUP
    assert seen == [start + 1.0, start + 2.0, start + 3.0]
    assert len(control.kept) == 1
    assert plane.now == control.environment.now == start + 3.0


def test_time_is_up_at_the_moment_stated_and_not_before() -> None:
    plane = ScriptedPlane([ASKS])
    control = control_of(plane)
    assert decided(control, 2.5) == EXIT_HORIZON
    assert plane.now == control.environment.now == 2.5
    assert decided(control, 3.0) == EXIT_GROUP


def test_the_plane_never_passes_the_next_event_of_another_process() -> None:
    plane = ScriptedPlane([(10.0, EXIT_GROUP)])
    control, woken = control_of(plane), []  # type: ScanControl, list[tuple[float, float]]

    def other() -> Any:
        for _ in range(3):
            yield control.environment.timeout(3.0)
            woken.append((control.environment.now, plane.now))

    control.environment.process(other())
    assert decided(control) == EXIT_GROUP
    assert woken == [(3.0, 3.0), (6.0, 6.0), (9.0, 9.0)]
    assert sorted({each for each in plane.horizons if each < FOREVER}) == [3.0, 6.0, 9.0]


@pytest.mark.parametrize(
    ("exits", "more", "asked", "ends"),
    [
        ([(1.0, EXIT_REFILL), (2.0, EXIT_GROUP)], True, [EXIT_REFILL], EXIT_GROUP),
        ([(1.0, EXIT_REFILL), (2.0, EXIT_GROUP)], False, [EXIT_REFILL], EXIT_GROUP),
        ([(1.0, EXIT_DRAINED), (2.0, EXIT_GROUP)], True, [EXIT_DRAINED], EXIT_GROUP),
        ([(1.0, EXIT_DRAINED), (2.0, EXIT_GROUP)], False, [EXIT_DRAINED], EXIT_DRAINED),
    ],
)
def test_operations_that_run_out_are_followed_by_more_if_there_are_more(
    exits: list[tuple[float, int]], more: bool, asked: list[int], ends: int
) -> None:
    """It is drained for good only when nothing follows."""
    plane = ScriptedPlane(exits)
    plane.finished = True
    control, seen = control_of(plane), []  # type: ScanControl, list[int]

    def feed(reason: int) -> bool:
        seen.append(reason)
        return more

    control.feed = feed
    assert (decided(control), seen) == (ends, asked)


def test_a_scan_that_was_stopped_before_its_end_is_fed_nothing() -> None:
    control = control_of(ScriptedPlane([(1.0, EXIT_DRAINED)]))
    control.feed = lambda reason: pytest.fail("asked for more")
    assert decided(control) == EXIT_DRAINED


class Looks:
    """Wants to look after so many events."""

    def __init__(self, events: int) -> None:
        self.events, self.looked = events, 0

    def events_left(self) -> int:
        return self.events

    def came_back(self) -> None:
        self.looked += 1


@pytest.mark.parametrize(("wants", "gets"), [(7, 7), (10 * BUDGET, BUDGET)])
def test_who_observes_looks_after_as_many_events_as_it_wants(wants: int, gets: int) -> None:
    plane, budgets = ScriptedPlane([(1.0, EXIT_BUDGET), (2.0, EXIT_GROUP)]), []  # type: ScriptedPlane, list[int]
    advance = plane.advance
    plane.advance = lambda until, budget=0: (budgets.append(budget), advance(until))[1]  # type: ignore[method-assign]
    control, looks = control_of(plane), Looks(wants)
    control.observer = looks
    decided(control)
    assert (looks.looked, budgets) == (2, [gets, gets])


@pytest.mark.parametrize("start", [0.0, 500.0])
def test_a_slice_runs_so_long_and_then_stands_still(start: float) -> None:
    plane = ScriptedPlane(start=start)
    control = control_of(plane)
    let(control, control.scan_slice(4.0))
    assert plane.asked == [(start, "resume"), (start + 4.0, "pause")]
    assert not control.finished(1)
    plane.scan_s = 1.5
    let(control, control.scan_slice(4.0))
    assert plane.now == start + 5.5
    assert control.finished(1)


def test_all_of_the_first_streams_have_to_be_finished() -> None:
    plane = ScriptedPlane()
    control = control_of(plane)
    states = {0: True, 1: False}

    def state(number: int, _name: str) -> float:
        plane.finished = states[number]
        return ScriptedPlane.stream(plane, number, "state")

    plane.stream = state  # type: ignore[method-assign]
    assert control.finished(1)
    assert not control.finished(2)


def test_idle_time_is_as_long_as_stated_whatever_comes_meanwhile() -> None:
    plane = ScriptedPlane([(4.0, EXIT_GROUP), (5.0, EXIT_DRAINED)], start=3.0)
    control = control_of(plane)
    let(control, control.idle(10.0))
    assert plane.now == control.environment.now == 13.0


def test_what_waits_for_an_event_goes_on_when_it_happens() -> None:
    plane = ScriptedPlane([(1.0, EXIT_GROUP)])
    control = control_of(plane)
    event = control.environment.event()

    def other() -> Any:
        yield control.environment.timeout(6.0)
        event.succeed()

    control.environment.process(other())
    let(control, control.wait(event))
    assert plane.now == 6.0


def test_what_nothing_will_end_is_an_error_of_the_program() -> None:
    control = control_of(ScriptedPlane())
    with pytest.raises(RuntimeError, match="no process"):
        let(control, control.wait(control.environment.event()))
    stalled = control_of(ScriptedPlane([(1.0, EXIT_STALLED)], scan_s=FOREVER))
    with pytest.raises(RuntimeError, match="nothing left to do"):
        let(stalled, stalled.scan_slice(9.0))


@pytest.mark.parametrize("start", [0.0, 500.0])
@pytest.mark.parametrize("changed", [False, True])
def test_the_end_of_a_txg_waits_for_each_group_before_the_next(start: float, changed: bool) -> None:
    """Data of clients, passes, uberblocks; the first one reads space maps behind its first pass."""
    plane, writes = ScriptedPlane(start=start, group_s=1.0), NamedWrites([DATA])
    control = control_of(plane, writes, first_labels=changed)
    plane.now = start + 10.0
    let(control, control.sync())
    around = [CONFIGURATION] if changed else []
    first = ["pause", [DATA], "pass 0", "read 0", "read 1", "pass 1", *around, LABELS, *around]
    assert [what for _, what in plane.asked] == first
    groups = len(first) - 1
    assert [moment for moment, _ in plane.asked] == [start + 10.0 + max(0, n - 1) for n in range(groups + 1)]
    # What clients wrote counts from the start of the scan.
    assert writes.asked_at == [10.0]
    plane.asked.clear()
    let(control, control.sync())
    assert [what for _, what in plane.asked] == ["pause", [DATA], "pass 0", "pass 1", LABELS]
    assert control.txgs == 2


def test_without_data_of_clients_a_txg_begins_with_its_first_pass() -> None:
    plane = ScriptedPlane()
    control = control_of(plane)
    let(control, control.sync())
    assert [what for _, what in plane.asked][:2] == ["pause", "pass 0"]


@pytest.mark.parametrize(
    ("with_data", "busy", "seconds"),
    [
        # The data of the txg took 1.5 s of its 5 s; to 0.7 the scan has its own 5 s.
        (True, math.inf, 3.5),
        (False, math.inf, 5.0),
        # At 1 MB/s so much is dirty 4.5 s after the txg began; then 3 s are the least.
        (False, 6e6, 4.5),
        (True, 6e6, 3.5),
        (True, 4e6, 3.0),
        (False, 1e6, 3.0),
    ],
)
def test_a_writer_shortens_the_slice_to_what_the_txg_leaves_and_no_less_than_its_least(
    with_data: bool, busy: float, seconds: float
) -> None:
    writes = NamedWrites([DATA], WriterModel(rate=1e6, busy_bytes=busy))
    control = control_of(ScriptedPlane(group_s=1.5), writes, least_s=3.0, with_data=with_data)
    let(control, control.sync())
    assert control.slice_of(5.0) == seconds
    assert control.slice_of(2.0) == 2.0
    writes.writer = WriterModel()
    assert control.slice_of(5.0) == 5.0


@pytest.mark.parametrize("flushes", [True, False])
def test_caches_are_flushed_before_and_after_the_uberblocks_unless_the_release_does_not(
    flushes: bool,
) -> None:
    plane, writes = ScriptedPlane(), NamedWrites()
    writes.flushes = True
    control, found = control_of(plane, writes, flushes=flushes), []  # type: ScanControl, list[str]
    plane.flush = lambda: (found.append("flush"), plane.submit_group([]))  # type: ignore[attr-defined]
    let(control, control.sync())
    assert found == ["flush"] * (2 if flushes else 0)
