"""Counters of ``zpool status`` in the terms of a world, each rule against arithmetic by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.prediction.samples import T, course, scan
from zsim.prediction.progress import moments
from zsim.prediction.progress.course import VISIT_CELLS, Course, OpenShare, done_cells, straight
from zsim.prediction.progress.moments import (
    MOST_CLOCK,
    MOST_COUNT,
    MOST_UNEVEN,
    PRINTED,
    PROCESSED_ERROR,
    REPAIRED_ERROR,
    SKIPPED_ERROR,
    PoolFacts,
    State,
    adapted,
    by_latest_total,
    clock_of,
    history_of,
    in_rounds,
    needed_by,
    overshoot,
    state_of,
    with_clocks,
)
from zsim.prediction.progress.noise import Stretch, fitted_noise
from zsim.prediction.progress.open_share import variants
from zsim.prediction.progress.remaining import remaining
from zsim.scenario.evidence import RunningScan

NOISE = fitted_noise()
MORNING = datetime(2026, 11, 1, 8, 0, 0)
DATED = {"since": MORNING, "at": MORNING + timedelta(seconds=900)}
OLD: dict[str, Any] = {"format": "0.8-2.1", "total_issue": None}


def state(seen: RunningScan, world: Course | None = None, **facts: Any) -> State:
    found = state_of(seen, world or course(), PoolFacts(**facts), NOISE)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"elapsed": 500.0}, (500.0, "scan")),
        ({"elapsed": 500.0, **DATED}, (500.0, "scan")),
        # A time of the pass goes behind dates; alone it counts from the end of the metadata phase, once over.
        ({"elapsed": 500.0, "elapsed_is_pass": True, **DATED},
         (900.0, "scan")),
        ({"elapsed": 500.0, "elapsed_is_pass": True, "scanned": 10 * T}, (500.0, "pass")),
        ({"elapsed": 500.0, "elapsed_is_pass": True, "scanned": 4 * T}, (500.0, "scan")),
        ({"elapsed": 500.0, "elapsed_is_pass": True, "scanned": None}, (500.0, "scan")),
        # Clocks that were set back, and a date with a zone beside one without, which cannot be subtracted.
        ({"since": MORNING, "at": MORNING - timedelta(hours=1)}, (0.0, "scan")),
        ({"since": MORNING.replace(tzinfo=UTC), "at": MORNING}, (None, "unknown")),
        ({"since": MORNING}, (None, "unknown")),
        ({"scanned": 4 * T, "scan_rate": T // 100, "issued": T, "issue_rate": T // 50}, (400.0, "scan")),
        ({"scanned": 4 * T, "issued": T, "issue_rate": T // 50}, (50.0, "pass")),
        ({"issued": T, "issue_rate": T // 50, **OLD}, (50.0, "scan")),
        # "1B/s" is what zpool prints where nothing was done.
        ({"scanned": 4 * T, "scan_rate": 1, "issued": T, "issue_rate": 1}, (None, "unknown")),
        ({"scanned": 0, "scan_rate": T, "issued": 0, "issue_rate": T}, (None, "unknown")),
        ({}, (None, "unknown")),
    ],
)  # fmt: skip
def test_what_tells_the_time_and_since_when(
    fields: dict[str, Any], expected: tuple[float | None, str]
) -> None:
    seconds, clock = clock_of(scan(**fields))
    assert clock == expected[1]
    assert seconds == pytest.approx(expected[0], rel=1e-6) if expected[0] is not None else seconds is None


@pytest.mark.parametrize(
    ("visited", "issued", "phase"),
    [(0.5, 0.0, "metadata scan"), (0.5, 0.1, "repair"), (1.0, 0.0, "repair"), (1.0, 0.5, "repair")],
)
def test_metadata_are_scanned_until_all_is_or_something_is_issued(
    visited: float, issued: float, phase: str
) -> None:
    assert State(visited, issued, None, "unknown", 0.0).phase == phase


@pytest.mark.parametrize(
    ("fields", "needed", "issued"),
    [
        # The legacy order examines: scanned, or issued where only that is printed, or the share as printed.
        ({"format": "legacy", "scanned": 4 * T, "issued": T}, 0.5, 0.4),
        ({"format": "legacy", "issued": T}, 0.5, 0.1),
        ({"format": "legacy", "total": None, "scanned": T, "done": 0.7}, 0.5, 0.7),
        # A rebuild has met more than it has issued, or counts those of groups that lost a child alone.
        ({"kind": "rebuild", "format": "rebuild", "scanned": 4 * T, "issued": T}, 0.5, 0.4),
        ({"kind": "rebuild", "format": "rebuild", "scanned": T, "issued": T}, 0.5, 0.2),
        ({"kind": "rebuild", "format": "rebuild", "issued": T}, 0.5, 0.2),
        # From 2.2 what is to be issued is known when all is scanned; before, the world's share if less.
        ({"scanned": 10 * T, "issued": T, "total_issue": 4 * T}, 0.5, 0.25),
        ({"scanned": 10 * T, "issued": T, "total_issue": 8 * T}, 0.5, 0.125),
        ({"scanned": 5 * T, "issued": T, "total_issue": 8 * T}, 0.5, 0.2),
        ({"scanned": 5 * T, "issued": T, "total_issue": 4 * T}, 0.5, 0.25),
        ({"scanned": 5 * T, "issued": T, "total_issue": None}, 0.5, 0.2),
        # More than the layout lets expect: nothing of the 8 T scanned was skipped, half of the rest may be.
        ({"scanned": 8 * T, "issued": 7 * T, "total_issue": 10 * T}, 0.5, 7 / 9),
        # Up to 2.1 half of what was visited was skipped and counted: (3 - 2) of 5.
        ({**OLD, "scanned": 4 * T, "issued": 3 * T}, 0.5, 0.2),
        ({**OLD, "scanned": 10 * T, "issued": 6 * T}, 0.5, 0.2),
        ({**OLD, "scanned": 4 * T, "issued": 3 * T}, 1.0, 0.3),
        ({**OLD, "scanned": 4 * T, "issued": T}, 0.5, 0.0),
        ({**OLD, "scanned": 4 * T, "done": 0.3}, 0.5, 0.3),
    ],
)
def test_the_share_that_is_issued_as_each_release_counts_it(
    fields: dict[str, Any], needed: float, issued: float
) -> None:
    found = state(scan(**fields), facts_needed := course(), sorted=True, needed=needed)
    assert facts_needed.needed == 1.0
    assert found.counted == pytest.approx(issued)


def test_counters_that_say_nothing_are_no_state() -> None:
    assert state_of(scan(), course(), PoolFacts(), NOISE) is None
    assert state_of(scan(format="legacy", total=None, scanned=T), course(), PoolFacts(), NOISE) is None


@pytest.mark.parametrize(
    ("fields", "is_sorted", "visit_s", "visited"),
    [
        ({"scanned": 4 * T}, True, 1000.0, 0.4),
        ({"scanned": 10 * T}, True, 1000.0, 1.0),
        ({"scanned": None}, True, 1000.0, 1.0),
        ({"scanned": 4 * T}, False, 1000.0, 1.0),
        ({"scanned": 4 * T}, True, 0.0, 1.0),
        ({"scanned": 4 * T, "format": "legacy"}, True, 1000.0, 1.0),
        ({"scanned": 4 * T, "format": "rebuild"}, True, 1000.0, 1.0),
    ],
)
def test_there_is_a_metadata_phase_in_a_sorted_scan_alone(
    fields: dict[str, Any], is_sorted: bool, visit_s: float, visited: float
) -> None:
    seen = scan(**{"issued": T // 10, **fields})
    assert state(seen, course(visit_s=visit_s), sorted=is_sorted).visited == pytest.approx(visited)


def test_bytes_repaired_tell_instead_where_what_is_skipped_leaves_more_open() -> None:
    """Up to 2.1: issued is visited less skipped, and as unsure as what is skipped."""
    world = course(needed=0.5)
    early = scan(**OLD, scanned=10 * T, issued=51 * T // 10, processed=round(0.3 * T))
    # A fiftieth is issued: the skipped are known to SKIPPED_ERROR of 0.5, twenty-five times what is issued.
    assert SKIPPED_ERROR * 0.5 / (0.5 * 0.02) > REPAIRED_ERROR
    found = state(early, world)
    assert found.issued == pytest.approx(0.15)
    assert found.error == REPAIRED_ERROR
    most = course(needed=0.9)
    late = scan(**OLD, scanned=10 * T, issued=55 * T // 10, processed=round(0.3 * T))
    assert SKIPPED_ERROR * 0.1 / (0.9 * 0.5) < REPAIRED_ERROR
    assert state(late, most).issued == pytest.approx(0.5, rel=0.01)
    assert state(late, most).error < REPAIRED_ERROR
    # Where the share is known, or nothing is repaired in the world, they tell nothing.
    assert state(early, world, needed=0.5).issued == pytest.approx(0.02, rel=0.01)
    assert state(early, replace(world, repaired=0.0)).issued == pytest.approx(0.02, rel=0.01)


def test_the_coarser_of_window_and_counters_is_the_error_of_a_share() -> None:
    world = course(window=0.1)
    found = state(scan(scanned=10 * T, issued=2 * T), world)
    assert (found.issued, found.under_way, found.counted) == pytest.approx((0.1, 0.1, 0.2))
    assert found.unsure == pytest.approx(0.1 / math.sqrt(3.0))
    assert found.error == pytest.approx(math.hypot(NOISE.counters, NOISE.under_way * 0.1 / 0.1))
    # At the very begin a fiftieth of what was issued is done at least.
    begin = state(scan(scanned=10 * T, issued=T), world)
    assert begin.issued == pytest.approx(0.002)
    assert begin.error == pytest.approx(math.hypot(NOISE.counters, NOISE.under_way))


def test_times_in_minutes_are_known_by_minutes() -> None:
    seen = {"scanned": 10 * T, "issued": T, "elapsed": 600.0}
    assert state(scan(**seen)).clock_s == 0.0
    assert state(scan(**seen, resolution=60.0)).clock_s == 60.0 * PRINTED


@pytest.mark.parametrize("off", [-2.9, 0.0, 2.9])
def test_bytes_resilvered_are_weighed_with_the_window_as_well_as_both_are_known(off: float) -> None:
    """Inverse variances: a third of the window's square, and a share of what is issued."""
    world, issued = course(window=0.3), 0.5
    error, full = PROCESSED_ERROR * issued, 0.3 / math.sqrt(3.0)
    told = (0.3 if off > 0 else 0.0) + off * error
    seen = scan(
        scanned=10 * T, issued=round(issued * 10 * T), processed=round((issued - told) * world.repaired)
    )
    found = state(seen, world)
    weight = full**2 / (full**2 + error**2)
    assert found.under_way == pytest.approx(min(0.3, max(0.0, 0.3 + weight * (told - 0.3))), abs=1e-6)
    assert found.unsure == pytest.approx(full * math.sqrt(1.0 - weight))


@pytest.mark.parametrize(
    "fields",
    [
        {"processed": round(-0.1 * 2 * T + 2 * T * 0.5)},  # so few that another drive was replaced
        {"processed": 2 * T},  # so many
        {"processed": None},
        {"processed": round(0.4 * 2 * T), "kind": "scrub"},
        {"processed": round(0.4 * 2 * T), "format": "unknown", "total_issue": None},
    ],
)
def test_bytes_that_cannot_be_those_of_the_world_leave_the_window_as_it_is(fields: dict[str, Any]) -> None:
    world = course(window=0.05)
    found = state(scan(scanned=10 * T, issued=5 * T, **fields), world)
    assert (found.under_way, found.unsure) == pytest.approx((0.05, 0.05 / math.sqrt(3.0)))


@pytest.mark.parametrize(("repaired", "window"), [(0.0, 0.05), (2.0 * T, 0.0)])
def test_in_a_world_without_repairs_or_window_bytes_resilvered_tell_nothing(
    repaired: float, window: float
) -> None:
    world = replace(course(window=window), repaired=repaired)
    found = state(scan(scanned=10 * T, issued=5 * T, processed=T), world)
    assert (found.under_way, found.unsure) == pytest.approx((window, window / math.sqrt(3.0)))


@pytest.mark.parametrize(
    ("fields", "beyond"),
    [
        ({"issued": 11 * T}, 0.1),
        ({"issued": 11 * T, "total_issue": 5 * T}, 1.0),
        ({"issued": 6 * T, "total_issue": 5 * T}, 0.2),
        ({"issued": 11 * T, "total_issue": None}, 0.1),
        ({"issued": 9 * T}, 0.0),
        ({"issued": None}, 0.0),
        ({"issued": 11 * T, "total": None, "total_issue": None}, 0.0),
        ({"format": "legacy", "scanned": 12 * T, "issued": T}, 0.2),
        ({"format": "rebuild", "scanned": 12 * T, "issued": T, "kind": "rebuild"}, 0.2),
        ({"format": "legacy", "scanned": 12 * T, "issued": 11 * T, "kind": "remove"}, 0.1),
    ],
)
def test_how_far_counters_have_gone_beyond_their_total(fields: dict[str, Any], beyond: float) -> None:
    assert overshoot(scan(**fields)) == pytest.approx(beyond)


@pytest.mark.parametrize(
    ("fields", "world", "share"),
    [
        ({"scanned": 10 * T, "issued": T, "total_issue": 3 * T}, {}, 0.3),
        ({"scanned": 9 * T, "issued": T, "total_issue": 3 * T}, {}, None),
        ({"scanned": 10 * T, "issued": T, "total_issue": None}, {}, None),
        ({"scanned": 10 * T, "issued": T, "total_issue": 3 * T, "kind": "scrub"}, {}, None),
        ({"scanned": 10 * T, "issued": None, "total_issue": 3 * T}, {}, None),
        # Of 4T scanned 2.5T were skipped; 0.5T of what was issued were repairs, a quarter of the world's.
        ({**OLD, "scanned": 4 * T, "issued": 3 * T, "processed": T // 5}, {"needed": 0.5}, 1 - 2.5 / 4),
        ({**OLD, "scanned": 4 * T, "issued": 3 * T, "processed": T // 5}, {"needed": 0.5, "vdevs": 2},
         0.4 * (1 - 2.5 / 4) + 0.6 * 0.5),
        ({**OLD, "scanned": 4 * T, "issued": 8 * T, "processed": T // 5}, {"needed": 0.5}, 0.01),
        ({**OLD, "scanned": 4 * T, "issued": 3 * T, "processed": 0, "kind": "heal"}, {"needed": 0.5}, None),
        ({**OLD, "scanned": 4 * T, "issued": 3 * T, "processed": T // 5}, {"needed": 1.0}, None),
        ({**OLD, "scanned": T // 1000, "issued": T // 2000, "processed": 0}, {"needed": 0.5}, None),
    ],
)  # fmt: skip
def test_the_share_that_has_to_be_issued_as_each_release_tells_it(
    fields: dict[str, Any], world: dict[str, Any], share: float | None
) -> None:
    found = needed_by(scan(**fields), course(**world))
    assert found == (pytest.approx(share) if share is not None else None)


def test_a_course_holds_what_the_counters_say_as_far_as_vdevs_differ() -> None:
    done = {"scanned": 10 * T, "issued": T, "elapsed": 900.0}
    world = course(needed=0.2)
    for told, factor in ((3 * T, 1.5), (10 * T, MOST_UNEVEN), (T // 100, 1.0 / MOST_UNEVEN)):
        found = adapted(world, [scan(**done, total_issue=told)])
        assert found.issue_s == pytest.approx(9000.0 * factor)
        assert found.repaired == pytest.approx(world.repaired * factor)
        assert found.needed == pytest.approx(min(1.0, 0.2 * factor))
        assert (found.visit_s, found.tail_s) == (1000.0, 10.0)
    # Where the share is open it may differ by three standard deviations.
    wide = replace(world, open_share=OpenShare(spread=math.log(MOST_UNEVEN)))
    assert adapted(wide, [scan(**done, total_issue=10 * T)]).needed == pytest.approx(
        min(1.0, 0.2 * MOST_UNEVEN**3, 1.0)
    )
    # The latest status counts.
    both = [scan(**done, total_issue=told) for told in (2 * T, 3 * T)]
    assert adapted(world, both).needed == pytest.approx(0.3)
    assert adapted(world, [scan(scanned=T, issued=T // 100)]) is world


def test_vdevs_that_are_repaired_side_by_side_count_together() -> None:
    """Three vdevs of four at once: three times as much in the same time, and never more than all."""
    world = course(needed=0.25, first=0.25, vdevs=4)
    found = adapted(world, [scan(scanned=T, issued=T // 100, vdevs=3)])
    assert (found.needed, found.repaired, found.issue_s) == (0.75, 3 * world.repaired, 9000.0)
    assert adapted(world, [scan(scanned=T, issued=T // 100, vdevs=9)]).needed == 1.0
    assert adapted(alone := course(), [scan(scanned=T, issued=T // 100, vdevs=3)]) is alone
    # The fuller of two holds two thirds of the data: both together are all of it.
    fuller = course(needed=2 / 3, first=2 / 3, vdevs=2)
    assert adapted(fuller, [scan(scanned=T, issued=T // 100, vdevs=2)]).needed == pytest.approx(1.0)
    # Of a dRAID that needs half of what it holds all three need half of all.
    groups = course(needed=1 / 6, first=1 / 3, vdevs=3)
    assert adapted(groups, [scan(scanned=T, issued=T // 100, vdevs=3)]).needed == pytest.approx(0.5)


def test_the_share_of_a_vdev_is_not_open_where_all_are_repaired() -> None:
    world = course(needed=0.5, first=0.5, vdevs=2, open_share=OpenShare(spread=0.3))
    one, both = (scan(scanned=T, issued=T // 100, vdevs=count) for count in (1, 2))
    assert len(variants(world, [one])) > 1
    assert {each.first == pytest.approx(each.needed) for each, _ in variants(world, [one])} == {True}
    assert variants(world, [both]) == [(world, 0.0)]


def test_what_an_outage_left_is_so_much_less_of_all() -> None:
    """A hundredth of the data takes a hundredth of the time; of it the window is a larger share."""
    world = course(needed=1.0, window=0.02, drifts=1.0, discrepancy=0.3)
    seen = scan(kind="heal", scanned=10 * T, issued=T // 100, total_issue=T // 10)
    found = adapted(world, [seen])
    assert found.issue_s == pytest.approx(90.0)
    assert (found.tail_s, found.needed, found.repaired) == pytest.approx((10.0, 0.01, 0.02 * T))
    assert found.window == pytest.approx(0.25)
    assert found.drifts == 0.0
    assert found.discrepancy > 0.3
    # A tenth: the window is ten times as large a share.
    more = adapted(world, [scan(kind="heal", scanned=10 * T, issued=T // 100, total_issue=T)])
    assert more.window == pytest.approx(0.2)
    # A tail that is longer than the whole repair is not.
    short = adapted(course(issue_s=500.0), [seen])
    assert short.tail_s == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("fields", "world", "rounds"),
    [
        ({"scanned": 5 * T, "issued": 4 * T}, {}, True),
        ({"scanned": 5 * T, "issued": 4 * T}, {"visit_s": 0.0}, False),
        ({"scanned": 10 * T, "issued": 4 * T}, {}, False),
        ({"scanned": 5 * T, "issued": 4 * T, "format": "legacy"}, {}, False),
        ({"scanned": 5 * T, "issued": 4 * T, "total": None}, {}, False),
        ({"scanned": 5 * T, "issued": T // 1000}, {}, False),
        # With memory for all records a checkpoint issues a part of what was scanned, a round nearly all.
        ({"scanned": 5 * T, "issued": 5 * T // 10}, {"drifts": 1.0}, False),
        ({"scanned": 5 * T, "issued": 5 * T}, {"drifts": 1.0}, True),
        # Up to 2.1 what was skipped is no work: bytes repaired tell.
        ({**OLD, "scanned": 5 * T, "issued": 4 * T, "processed": 0}, {"needed": 0.5}, False),
        ({**OLD, "scanned": 5 * T, "issued": 4 * T, "processed": T}, {"needed": 0.5}, True),
    ],
)
def test_a_scan_that_issues_before_all_is_scanned_goes_in_rounds(
    fields: dict[str, Any], world: dict[str, Any], rounds: bool
) -> None:
    given = course(**world)
    assert in_rounds([scan(**fields)], given) is rounds
    found = adapted(given, [scan(**fields)])
    if rounds:
        assert (found.visit_s, found.window, found.drifts) == (0.0, 0.0, 0.0)
        assert found.total_s == pytest.approx(given.total_s, rel=0.9)


def test_rounds_take_the_time_of_both_phases_together() -> None:
    found = adapted(course(window=0.1, drifts=0.1), [scan(scanned=5 * T, issued=5 * T)])
    assert (found.visit_s, found.issue_s, found.tail_s) == (0.0, 10_000.0, 10.0)


def seen(share: float, seconds: float, **fields: Any) -> RunningScan:
    return scan(scanned=10 * T, issued=round(10 * T * share), elapsed=seconds, **fields)


def stretches(scans: list[RunningScan], world: Course | None = None, **facts: Any) -> tuple[Stretch, ...]:
    history = history_of(scans, world or course(), PoolFacts(**facts), NOISE)
    assert history is not None
    return history.stretches


def test_work_between_two_statuses_took_the_time_between_them() -> None:
    """Each stretch follows the one before it; reading errors are shares of its time and of its work."""
    first, second = stretches([seen(0.2, 3000.0), seen(0.5, 6000.0)], clock_s=3.0)
    assert (first.seconds, second.seconds) == (3000.0, 3000.0)
    assert first.cells == pytest.approx(done_cells(1.0, 0.2))
    assert first.cells + second.cells == pytest.approx(done_cells(1.0, 0.5))
    assert (first.follows, second.follows) == (None, 0)
    assert (first.error, second.error) == (NOISE.counters, NOISE.counters)
    assert second.first[0] == second.last[0] == 3.0 / 3000.0
    assert second.first[1] == pytest.approx(NOISE.counters * 0.2 / 0.3)
    assert second.last[1] == pytest.approx(NOISE.counters * 0.5 / 0.3)
    # The first begins with the scan, where all clocks and counters stand at zero.
    assert first.first[1] == 0.0
    assert first.last[1] == pytest.approx(NOISE.counters * 0.2 / 1.0)


def test_errors_of_reading_end_where_a_stretch_tells_nothing() -> None:
    short = stretches([seen(0.5, 3000.0), seen(0.5001, 3000.5)], clock_s=100.0)[1]
    assert short.first == (MOST_CLOCK, MOST_COUNT)
    coarse = stretches([seen(0.2, 3000.0), seen(0.5, 6000.0, resolution=600.0)])[1]
    assert coarse.last[0] == pytest.approx(600.0 * PRINTED / 3000.0)
    assert coarse.first[0] == pytest.approx(PRINTED / 3000.0)


@pytest.mark.parametrize(
    "second",
    [
        seen(0.2, 4000.0), seen(0.1, 4000.0), seen(0.5, 3000.0), seen(0.5, 2000.0),
        # More is issued, and less visited than before.
        scan(scanned=4 * T, issued=5 * T, elapsed=4000.0),
    ],
)  # fmt: skip
def test_no_work_no_time_or_work_undone_is_no_stretch(second: RunningScan) -> None:
    assert len(stretches([seen(0.2, 3000.0), second])) == 1


def test_metadata_lead_to_data_unevenly_over_short_ways() -> None:
    """The quick part averages out over the metadata phase: sqrt(2 * length / way), never above itself."""
    [early] = stretches([scan(scanned=T // 10000, issued=0, elapsed=10.0)])
    [late] = stretches([scan(scanned=5 * T, issued=0, elapsed=500.0)])
    assert early.error == pytest.approx(math.hypot(NOISE.counters, NOISE.visit_quick))
    expected = NOISE.visit_quick * math.sqrt(2.0 * NOISE.visit_length / 0.5)
    assert late.error == pytest.approx(math.hypot(NOISE.counters, expected))
    assert late.cells[VISIT_CELLS:].sum() == 0.0
    [repair] = stretches([seen(0.2, 3000.0)])
    assert repair.error == NOISE.counters


def test_of_nothing_issued_nothing_is_under_way() -> None:
    """Whatever a window holds: the metadata phase is known as well as its counters."""
    found = state(scan(scanned=5 * T, issued=0, elapsed=500.0), course(window=0.1))
    assert (found.issued, found.under_way, found.unsure, found.error) == (0.0, 0.0, 0.0, NOISE.counters)


def test_a_clock_of_the_pass_counts_from_the_end_of_the_metadata_phase() -> None:
    """What the metadata phase took nobody has seen: it goes on the time that is known."""
    passed = {"elapsed_is_pass": True}
    alone = history_of([seen(0.5, 4000.0, **passed)], course(), PoolFacts(), NOISE)
    assert alone is not None
    assert alone.stretches[0].cells == pytest.approx(done_cells(1.0, 0.5) - done_cells(1.0, 0.0))
    assert (alone.known_s, alone.idle_s, alone.unseen_visit) == (4000.0, 0.0, (0.0, 1.0))
    half = scan(scanned=5 * T, issued=0, elapsed=600.0)
    both = history_of([half, seen(0.5, 4000.0, **passed)], course(), PoolFacts(), NOISE)
    assert both is not None
    assert (both.known_s, both.idle_s, both.unseen_visit) == (4600.0, 0.0, (0.5, 1.0))
    stands = history_of(
        [half, seen(0.5, 4000.0, **passed), seen(0.5, 4300.0, **passed)], course(), PoolFacts(), NOISE
    )
    assert stands is not None
    assert (stands.known_s, stands.idle_s) == (4600.0, 300.0)


def test_statuses_without_a_clock_tell_how_far_and_not_how_fast() -> None:
    history = history_of(
        [seen(0.2, 3000.0), scan(scanned=10 * T, issued=6 * T)], course(), PoolFacts(), NOISE
    )
    assert history is not None
    assert (history.last.issued, history.known_s, history.idle_s, history.unseen_visit) == (
        0.6,
        3000.0,
        0.0,
        None,
    )
    assert len(history.stretches) == 1
    assert history_of([scan()], course(), PoolFacts(), NOISE) is None


@pytest.mark.parametrize(
    ("facts", "world", "parts"),
    [
        ({}, {}, 2),
        ({"sorted": False}, {}, 1),
        ({"checkpoint_s": 20_000.0}, {}, 1),
        ({}, {"drifts": 0.0}, 1),
    ],
)
def test_a_checkpoint_divides_only_a_sorted_scan_that_keeps_all_records(
    facts: dict[str, Any], world: dict[str, Any], parts: int
) -> None:
    early = scan(elapsed=10_000.0, scanned=9 * T, issued=T // 4, total_issue=None)
    given = course(**{"visit_s": 20_000.0, "issue_s": 50_000.0, "drifts": 1.0} | world)
    assert len(stretches([early], given, **facts)) == parts


def test_of_a_metaslab_that_was_issued_first_all_is_done_when_the_next_one_is() -> None:
    slabs = [
        RunningScan(kind="rebuild", format="rebuild", total=10 * T, issued=share, elapsed=seconds)
        for share, seconds in ((2 * T, 100.0), (2 * T, 200.0), (5 * T, 300.0), (5 * T, 400.0))
    ]
    world = Course(0.0, 9000.0, 4.0, straight(), 2.0 * T, window=0.9)
    history = history_of(slabs, world, PoolFacts(sorted=False), NOISE)
    assert history is not None
    assert history.last.issued == pytest.approx(0.2)
    moved = [each.model_copy(update={"kind": "expand"}) for each in slabs]
    history = history_of(moved, world, PoolFacts(sorted=False), NOISE)
    assert history is not None
    assert history.last.issued < 0.2


def rated(scanned: int, rate: float) -> RunningScan:
    return scan(format="legacy", scanned=scanned, scan_rate=rate, total_issue=None)


@pytest.mark.parametrize(
    ("rate", "anew"),
    [
        (T / 1000, False),  # as before
        (T / 1600, False),  # slower, as a scan may get: 8,000 s of 5T, 4,000 more for 1T
        (T / 500, True),  # 2,500 s of 5T: less than the 4,000 before
        (T / 8000, True),  # 40,000 s of 5T: 36 times as slow since, or 8 times as slow and begun anew
    ],
)
def test_rates_begin_anew_where_the_pace_since_would_be_the_stranger_one(rate: float, anew: bool) -> None:
    first, second = with_clocks([rated(4 * T, T / 1000), rated(5 * T, rate)])
    assert first.elapsed is None
    assert (second.elapsed is not None) is anew
    if anew:
        # The bytes since at the rate that is printed, behind what went before.
        assert second.elapsed == pytest.approx(4000.0 + T / rate, rel=1e-6)


def test_nothing_done_since_is_no_new_begin() -> None:
    again = with_clocks([rated(4 * T, T / 1000), rated(4 * T, T / 100)])
    assert again[1].elapsed is None
    dated = {"since": MORNING, "at": MORNING + timedelta(hours=1)}
    told = rated(5 * T, T / 8000).model_copy(update=dated)
    assert with_clocks([rated(4 * T, T / 1000), told])[1] == told


def test_the_pass_of_an_import_is_told_apart_from_the_scan() -> None:
    passes = [
        scan(scanned=10 * T, issued=part * T, issue_rate=rate)
        for part, rate in ((2, T / 1000), (3, T / 9000))
    ]
    found = with_clocks(passes)
    assert found[1].elapsed == pytest.approx(2000.0 + 9000.0, rel=1e-6)
    assert found[1].elapsed_is_pass


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("renewed", [0.0, 1.5])
def test_rates_have_begun_anew_where_that_is_the_likelier_change_of_the_pace(
    renewed: float, sign: float
) -> None:
    """After 100 bytes in 100 s; half of the difference of the squares is held against the odds."""
    edge = math.sqrt(2.0 * -math.log(moments.RESTART_ODDS) + renewed**2)

    def told(change: float, *, done: float = 100.0, gained: float = 50.0, gone: float | None = None) -> bool:
        pace, rate = (math.exp(sign * each * moments.RESTART_CHANGE) for each in (change, renewed))
        since = gained / pace if gone is None else gone
        return moments._restarted((done, 100.0), (done + gained, 100.0 + since), rate)

    assert told(edge * 1.01)
    assert not told(edge * 0.99)
    assert told(0.0, gone=0.0), "no time passes while bytes are done"
    assert not told(edge * 9.0, gained=0.0, gone=1.0)
    assert not told(edge * 9.0, done=0.0)


OLDER: dict[str, Any] = {"format": "legacy", "total_issue": None}


def test_what_goes_on_beyond_its_total_was_not_at_its_end_before() -> None:
    """At 100 %, and four hours later at 104 %: it was done "in 0 s", p10 to p90, though it ran."""
    seen = [scan(scanned=10 * T, elapsed=1e4, **OLDER), scan(scanned=10.5 * T, elapsed=2.4e4, **OLDER)]
    world, facts = course(visit_s=0.0), PoolFacts(sorted=False)
    history = history_of(seen, world, facts, NOISE)
    assert history is not None
    assert (history.known_s, history.idle_s) == (2.4e4, 0.0)
    assert [stretch.seconds for stretch in history.stretches] == [1e4, 1.4e4]
    done = done_cells(1.0, 10 / 10.5)
    assert history.stretches[0].cells == pytest.approx(done)
    assert history.stretches[1].cells == pytest.approx(done_cells(1.0, 1.0) - done)
    found = remaining([world], seen, facts)
    low, middle, high = found.left()
    assert 0.0 < low < middle < high
    assert found.total()[0] > 2.4e4


@pytest.mark.parametrize(
    ("first", "last", "total"),
    [
        ({"scanned": 10 * T}, {"scanned": 9 * T}, 10 * T),
        ({"scanned": 5 * T}, {"scanned": 10 * T}, 10 * T),
        ({"scanned": 5 * T}, {"scanned": 12 * T}, 12 * T),
        # Of a rebuild the total is estimated anew.
        ({"scanned": 5 * T}, {"scanned": 6 * T, "total": 11 * T}, 11 * T),
        ({"scanned": 5 * T, "total": 11 * T}, {"scanned": 6 * T}, 11 * T),
        ({"scanned": 5 * T, "total": None}, {"scanned": 12 * T}, None),
    ],
)
def test_totals_are_at_least_what_the_latest_status_has(
    first: dict[str, Any], last: dict[str, Any], total: float | None
) -> None:
    assert by_latest_total([scan(**OLDER | first), scan(**OLDER | last)])[0].total == total
    assert by_latest_total([]) == []
