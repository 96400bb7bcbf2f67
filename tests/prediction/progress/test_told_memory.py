"""What the counters of a sorted scan tell of the memory of its host: by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from zsim.prediction.progress.course import Course, straight
from zsim.prediction.progress.moments import CHECKPOINT, PoolFacts
from zsim.prediction.progress.remaining import remaining
from zsim.prediction.progress.told_memory import (
    MISCOUNTED,
    issues_by_turns,
    log_of_memory,
    queued_bytes,
    queued_share,
)
from zsim.scenario.evidence import RunningScan

ENOUGH = Course(visit_s=1800.0, issue_s=36000.0, tail_s=5.0, shape=straight(), repaired=1e9, at_once=4.0)
HALF, TENTH = replace(ENOUGH, at_once=0.5), replace(ENOUGH, at_once=0.1)


def scan(scanned: int, issued: int, elapsed: float | None = 3600.0, **fields: object) -> RunningScan:
    """Return a status of a pool of 1,000 bytes."""
    known = {
        "kind": "scrub", "format": "2.2+", "elapsed": elapsed, "scanned": scanned, "issued": issued,
        "total": 1000,
    }  # fmt: skip
    return RunningScan.model_validate(known | fields)


def test_what_is_scanned_and_not_issued_is_in_memory() -> None:
    assert queued_share(scan(800, 300), ENOUGH) == pytest.approx(0.5)
    assert queued_bytes(scan(800, 300)) == 500.0
    # A resilver issues a quarter of what it visits, more or less: so much is queued at least.
    quarter = replace(ENOUGH, needed=0.25)
    found = queued_share(scan(800, 100, kind="resilver"), quarter)
    assert found is not None
    assert 0.2 < found < 0.4
    assert queued_share(scan(800, 0, kind="resilver"), quarter) == pytest.approx(0.8)
    # Up to 2.1 what is skipped counts as issued.
    old = scan(800, 650, kind="resilver", format="0.8-2.1", processed=10)
    assert queued_share(old, quarter) == pytest.approx(0.6)
    assert queued_share(scan(800, 900), ENOUGH) == 0.0
    for silent in (
        scan(800, 1, format="legacy"),
        scan(8, 1, total=None),
        scan(8, 1).model_copy(update={"issued": None}),
    ):
        assert queued_share(silent, ENOUGH) is None
    assert queued_bytes(scan(800, 1, format="rebuild")) is None


def test_a_world_whose_memory_does_not_hold_what_is_queued_is_unlikely() -> None:
    all_scanned = [scan(1000, 200)]
    enough, half, tenth = (log_of_memory(world, all_scanned) for world in (ENOUGH, HALF, TENTH))
    assert -0.01 < enough < 0.0
    assert tenth < half < enough - 0.5
    assert tenth == pytest.approx(math.log(MISCOUNTED), abs=0.01), "it is not ruled out"
    assert log_of_memory(TENTH, []) == log_of_memory(replace(TENTH, at_once=math.inf), all_scanned) == 0.0
    # The fullest moment counts.
    assert log_of_memory(HALF, [*all_scanned, scan(1000, 900)]) == log_of_memory(HALF, all_scanned)


def test_a_scan_that_issues_by_turns_has_no_memory_for_the_rest() -> None:
    turns = [scan(500, 480)]
    assert issues_by_turns(turns[0], ENOUGH)
    enough, half, tenth = (log_of_memory(world, turns) for world in (ENOUGH, HALF, TENTH))
    assert tenth > half > enough, "so little is queued where little fits"
    for other in (scan(1000, 480), scan(500, 10), scan(500, 480, format="legacy")):
        assert not issues_by_turns(other, ENOUGH)


def test_a_checkpoint_issues_as_well_where_the_metadata_take_longer_than_it_waits() -> None:
    long = replace(ENOUGH, visit_s=2.0 * CHECKPOINT)
    assert not issues_by_turns(scan(500, 480, elapsed=1.1 * CHECKPOINT), long)
    assert not issues_by_turns(scan(500, 480, elapsed=None), long)
    assert issues_by_turns(scan(500, 480, elapsed=0.9 * CHECKPOINT), long)
    assert issues_by_turns(scan(500, 480, elapsed=1.1 * CHECKPOINT), ENOUGH)


def test_worlds_are_weighed_by_it() -> None:
    worlds = (ENOUGH, TENTH)
    facts = PoolFacts()
    assert remaining(worlds, [scan(1000, 100, elapsed=5400.0)], facts).worlds[0] > 0.9
    assert remaining(worlds, [scan(300, 290, elapsed=5400.0)], facts).worlds[0] < 0.2
