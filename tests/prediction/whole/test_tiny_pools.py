"""Whole predictions of pools so tiny that each takes a fraction of a second: rules that hold whatever the numbers."""  # noqa: E501

from __future__ import annotations

import functools
import math
from typing import Any

import pytest

from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.api import Portion, case_of, predict
from zsim.scenario.model import Scenario

STATED = {
    "layout": "mirror2", "drive": "generic-7200rpm-cmr", "drive_size": "1GB", "fill": 0.3, "load": [],
    "history": "media-server", "recordsize": "128K", "release": "openzfs-2.3", "write_cache": True,
    "exact": True,
}  # fmt: skip
READS = ({"kind": "random-read", "rate": 5},)
COPIED: dict[str, dict[str, Any]] = {
    "rebuild": {"operation": "rebuild"}, "expand": {"layout": "raidz1x4", "operation": "expand"},
    "remove": {"layout": "4*mirror2", "operation": "remove"}, "draid": {"layout": "draid1:2d:6c:1s"},
}  # fmt: skip


def scenario(**fields: Any) -> Scenario:
    return Scenario.from_dict(STATED | fields)


@functools.cache
def _kept(portion: Portion, words: str) -> Prediction:
    return predict(Scenario.model_validate_json(words), portion=portion)


def answer(portion: Portion = "all", **fields: Any) -> Prediction:
    """Return an answer; the same question is asked once."""
    return _kept(portion, scenario(**fields).model_dump_json(exclude_unset=True))


@pytest.mark.parametrize(
    ("fields", "order"),
    [
        ({}, "sorted"), ({"release": "zol-0.7"}, "legacy"), ({"operation": "scrub"}, "sorted"),
        *((each, "sequential") for each in COPIED.values()),
    ],
)  # fmt: skip
def test_an_answer_names_its_order_and_its_parts_sum_to_the_whole(fields: dict[str, Any], order: str) -> None:
    found = answer(**fields)
    whole = found.resilver_s.p50
    assert found.order == order
    assert math.fsum(found.breakdown.values()) == pytest.approx(whole)
    own = [each for each in found.phases if each.name != "verifying scrub"]
    assert math.fsum(each.duration_s for each in own) == pytest.approx(whole)
    starts = [math.fsum(each.duration_s for each in own[:place]) for place in range(len(own))]
    assert [each.start_s for each in own] == pytest.approx(starts)
    assert sum(each.read_bytes for each in own) == pytest.approx(found.read_bytes, abs=len(own))
    assert all(0.0 <= row.utilisation <= 1.0 for row in found.leaves)


@pytest.mark.parametrize("name", COPIED)
def test_an_exact_copy_is_a_phase_of_its_own_that_a_scrub_follows(name: str) -> None:
    """All of its time was called ends of txgs, and redundancy was back after 0 s."""
    found = answer(**COPIED[name])
    names = {"rebuild": "sequential rebuild", "draid": "sequential rebuild"}
    behind = [] if name == "remove" else ["verifying scrub"]
    assert [each.name for each in found.phases] == [names.get(name, "copying"), *behind]
    assert found.breakdown["txg sync"] < 0.5 * found.resilver_s.p50
    if behind:
        copying, scrub = found.phases
        assert scrub.start_s == pytest.approx(copying.duration_s)
        assert scrub.duration_s > 0.2 * copying.duration_s


def test_one_world_has_no_interval_and_several_have_one_around_their_median() -> None:
    exact, sampled = answer(), answer(exact=False)
    assert (exact.resilver_s.p10, exact.resilver_s.p90, exact.uncertainty.input_s) == (None, None, None)
    assert (exact.uncertainty.members, exact.uncertainty.sampling_half_width_s) == (1, 0.0)
    low, middle, high = sampled.resilver_s.p10, sampled.resilver_s.p50, sampled.resilver_s.p90
    assert low is not None
    assert high is not None
    assert low < middle < high
    assert low < exact.resilver_s.p50 < high
    assert sampled.uncertainty.input_s == sampled.resilver_s
    assert sampled.uncertainty.members > 1
    spans = [each.high_s - each.low_s for each in sampled.uncertainty.drivers if each.sampled]
    assert spans == sorted(spans, reverse=True)


def test_a_mirror_reads_one_copy_to_repair_and_both_to_scrub() -> None:
    """What is allocated is written to the new drive; metadata and labels are some percent of so little."""
    resilver, scrub = answer(), answer(operation="scrub")
    alloc = case_of(scenario()).alloc
    assert resilver.read_bytes == pytest.approx(alloc, rel=0.05)
    assert resilver.written_bytes == pytest.approx(alloc, rel=0.05)
    assert scrub.read_bytes == pytest.approx(2.0 * alloc, rel=0.05)
    assert scrub.written_bytes < 0.05 * alloc


def test_sectors_that_cannot_be_read_cost_their_time_whatever_else_is_done() -> None:
    """Three reads that fail on the last copy, each twice for seven seconds, simulated one by one."""
    sound, sick = answer(), answer(bad_sectors=("1:3",))
    assert sick.resilver_s.p50 == pytest.approx(sound.resilver_s.p50 + 42.0, abs=1.0)
    [drive] = sick.sick
    assert (drive.errors, drive.error_s) == (3, 14.0)
    assert drive.lost_s == pytest.approx(42.0, abs=0.5)
    assert drive.sound_s == pytest.approx(sound.resilver_s.p50, abs=1.0)
    assert sick.breakdown["reads that fail"] == drive.lost_s
    # The run has them, so that its drives' rows are of all of its time.
    assert sick.leaves_of_s == pytest.approx(sick.resilver_s.p50)
    assert sick.breakdown["transfer"] == pytest.approx(sound.breakdown["transfer"], rel=0.1)


def test_a_drive_that_takes_three_times_as_long_makes_the_whole_at_most_so_long() -> None:
    sound, slow = answer(), answer(slow=("1:x3",))
    assert sound.resilver_s.p50 < slow.resilver_s.p50 < 3.0 * sound.resilver_s.p50
    [drive] = slow.sick
    assert drive.sets_pace
    assert drive.sound_s == pytest.approx(sound.resilver_s.p50)


def test_a_load_is_told_what_it_takes_without_it() -> None:
    idle, busy = answer(), answer(load=READS)
    assert busy.resilver_s.p50 > idle.resilver_s.p50
    assert busy.unloaded_s == pytest.approx(idle.resilver_s.p50)
    assert idle.unloaded_s is None
    assert [each.kind for each in busy.clients] == ["random-read"]
    assert idle.clients == ()


def test_a_row_is_the_same_answer_without_what_takes_runs_of_its_own() -> None:
    whole, row = answer(load=READS), answer("row", load=READS)
    assert row.resilver_s == whole.resilver_s
    assert (row.unloaded_s, row.alternatives, row.advice) == (None, (), ())
    assert whole.alternatives
    assert answer(operation="scrub").alternatives == answer(operation="scrub").advice == ()
