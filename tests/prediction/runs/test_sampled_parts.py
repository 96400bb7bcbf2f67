"""What a sampled run is made of: notes of its course, sums over what is left, clients at their own rate."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.prediction.samples import disks as case
from zsim.engine.codes import BUDGET
from zsim.engine.model import ClientModel
from zsim.prediction.inputs.bad_sectors import spare_children
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.sick import (
    health_of,
    name_of,
    numbers_of,
    sick_leaves,
    slow_leaves,
    without_slow,
)
from zsim.prediction.runs import autosit, sick_drives
from zsim.prediction.runs.sampling.sources import _keep
from zsim.prediction.runs.sampling.windows import NOTE_EVENTS, CourseNotes, SampledStream
from zsim.prediction.runs.what_if import at_their_rate
from zsim.scan.program import Program

# Notes.


class Plane:
    """A plane that is at some event."""

    def __init__(self) -> None:
        self.events = 0
        self.leaves = {"busy": np.zeros(1)}

    def general(self, name: str) -> float:
        assert name == "events"
        return float(self.events)

    def course(self) -> tuple[float, int, int]:
        return float(self.events), 0, 0


def test_notes_are_taken_at_the_same_events_however_time_is_sliced() -> None:
    taken = []
    for steps in ((NOTE_EVENTS,) * 4, (NOTE_EVENTS // 2,) * 8):
        plane = Plane()
        notes = CourseNotes(plane)  # type: ignore[arg-type]
        notes.begin()
        for step in steps:
            plane.events += min(step, notes.events_left())
            notes.came_back()
        taken.append([note[0] for note in notes.end()][:-1])
    assert taken[0] == taken[1] == [NOTE_EVENTS * number for number in (1, 2, 3, 4)]


def test_without_notes_the_plane_may_run_as_far_as_it_likes() -> None:
    notes = CourseNotes(Plane())  # type: ignore[arg-type]
    assert notes.events_left() == BUDGET
    notes.came_back()
    assert notes.notes is None


# What a txg frees.


def test_sums_before_each_operation_leave_out_what_is_freed() -> None:
    work, known = np.array([0.0, 1.0, 3.0, 6.0, 10.0]), np.arange(10.0).reshape(5, 2) ** 2
    stream = SampledStream(Program(np.arange(4), np.arange(4) + 7), work.copy(), known.copy())
    _keep(stream, np.array([True, False, True, False]))
    assert stream.program.item.tolist() == [7, 9]
    assert stream.work.tolist() == [0.0, 1.0, 4.0], "1 and 3 of the first and the third"
    each = np.diff(known, axis=0)[[0, 2]]
    assert np.diff(stream.known, axis=0) == pytest.approx(each)
    assert stream.known[0].tolist() == known[0].tolist()
    assert len(stream) == 2


def test_a_stream_of_which_nothing_is_freed_stays_the_same_object() -> None:
    program = Program(np.arange(3), np.arange(3))
    stream = SampledStream(program, np.zeros(4), np.zeros((4, 1)))
    _keep(stream, np.ones(3, bool))
    assert stream.program is program


# Clients beside a drive that takes no time.


def test_clients_ask_no_more_often_than_they_were_answered() -> None:
    """Two that never pause, answered 200 times in 100 s: one second from one question to the next."""
    eager = ClientModel(count=2, think_s=0.0, seed=1, kind="random-read", blocks=1)
    calm = ClientModel(count=1, think_s=5.0, seed=2, kind="random-read", blocks=1)
    run = SimpleNamespace(end=100.0, clients=[(150, 1.0), (50, 1.0), (40, 1.0)])
    model = replace(plane_model(case()), clients=(eager, calm))
    result = SimpleNamespace(model=model, run=run)
    found = at_their_rate(result)  # type: ignore[arg-type]
    assert [group.think_s for group in found.clients] == [1.0, 5.0], "a pause is never shortened"
    assert [group.count for group in found.clients] == [2, 1]


# Sick drives.


def test_a_slow_drive_takes_so_many_times_as_long_in_every_respect() -> None:
    slow = case(slow=["3:x3"])
    sound = case().drive.parameters()
    found = numbers_of(slow, 3, sound)
    assert found.revolution_s == pytest.approx(3.0 * sound.revolution_s)
    assert found.zone_rates[0] == pytest.approx(sound.zone_rates[0] / 3.0)
    assert numbers_of(slow, 2, sound) is sound


def test_a_drive_on_a_slow_link_reads_its_outer_tracks_no_faster_than_that() -> None:
    sound = case().drive.parameters()
    found = numbers_of(case(attached=["1:usb2"]), 1, sound)
    assert max(found.zone_rates) < max(sound.zone_rates)
    assert max(found.zone_rates) <= found.interface_rate
    assert found.seek_short_a_s == sound.seek_short_a_s
    unqueued = numbers_of(case(attached=["1:no-ncq"]), 1, sound)
    assert unqueued.queue_depth == 1 < sound.queue_depth


def test_spells_are_made_short_in_the_same_proportion() -> None:
    health = health_of(case(slow=["2:x5,on=2h,off=20h"]), 2)
    assert health.spell_s <= 2.0
    assert health.between_s == pytest.approx(10.0 * health.spell_s)
    assert health.spell_factor == 5.0
    assert health_of(case(slow=["2:x5,on=2h,off=20h"]), 1).is_sound


def test_a_sick_drive_has_a_name_of_its_own() -> None:
    sick = case(slow=["3:x3"], attached=["1:usb2"])
    names = [name_of(sick, leaf, sick.drive) for leaf in range(6)]
    assert len(set(names)) == 3
    assert slow_leaves(sick) == {1, 3}


def test_a_drive_made_good_keeps_its_bad_sectors() -> None:
    sick = case(slow=["3:x3", "4:x2"], bad_sectors=["3:100"])
    well = without_slow(sick, (3,))
    assert slow_leaves(well) == {4}
    assert sick_leaves(well) == (3, 4)
    assert slow_leaves(sick) == {3, 4}, "the case stays as it was"


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({}, 1),
        ({"replace": 2}, 0),
        ({"old_drive": "online"}, 2),
        ({"operation": "scrub"}, 2),
        ({"layout": "mirror3"}, 1),
    ],
)
def test_how_many_more_drives_a_vdev_can_lose(fields: dict[str, Any], left: int) -> None:
    assert spare_children(case(**fields)) == left


def test_nothing_sits_out_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object) -> None:
        raise AssertionError("no population is needed to know that")

    monkeypatch.setattr(autosit, "miniature", run)
    assert autosit.sits_out(case(release="openzfs-2.4", slow=["3:x3"])) == frozenset()
    assert autosit.sits_out(case(release="openzfs-2.4", autosit=True)) == frozenset()


def test_a_drive_that_is_offline_is_read_by_nothing_and_sits_out_of_nothing() -> None:
    model = plane_model(case(layout="2*mirror3", operation="scrub"))
    first = replace(model.vdevs[0], sitting_out=frozenset({(0, 1), (0, 2)}))
    without = sick_drives._without(replace(model, vdevs=(first, model.vdevs[1])), 1)
    assert [vdev.read_leaf for vdev in without.vdevs] == [(0, -1, 2), (3, 4, 5)]
    assert without.vdevs[0].sitting_out == {(0, 2)}
    assert without.vdevs[1] == model.vdevs[1]
