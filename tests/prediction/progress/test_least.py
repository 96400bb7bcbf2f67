"""No scan is faster than its drives: the least time, and distributions that are cut off there."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tests.prediction.samples import T, course, disks, scan
from zsim.drives.derived import seconds_to_read_all, seconds_to_write
from zsim.drives.models.parameters import DriveParameters
from zsim.prediction.courses import courses_of
from zsim.prediction.progress.course import CELLS, done_cells
from zsim.prediction.progress.least import (
    COUNTED,
    SURE,
    LeastTime,
    TimeMixture,
    bounded,
    least_left_s,
    uncut,
)
from zsim.prediction.progress.moments import REPAIRED_ERROR, PoolFacts, State, adapted, orders
from zsim.prediction.progress.noise import Stretch, WorkPosterior, posterior
from zsim.prediction.progress.remaining import remaining

ANY, NO = np.array([True]), np.array([False])


def test_writing_takes_the_outermost_zones_at_the_slower_of_medium_and_interface() -> None:
    disk = DriveParameters(
        capacity_bytes=4 * 10**12, zone_rates=(400e6, 200e6, 100e6, 100e6), interface_rate=300e6
    )
    assert seconds_to_write(disk, 0.5e12) == pytest.approx(0.5e12 / 300e6)
    assert seconds_to_write(disk, 2.5e12) == pytest.approx(1e12 / 300e6 + 1e12 / 200e6 + 0.5e12 / 100e6)
    assert seconds_to_write(disk, 9e12) == pytest.approx(seconds_to_read_all(disk))
    flash = DriveParameters(capacity_bytes=10**12, kind="flash", interface_rate=550e6, flash_write_rate=50e6)
    assert seconds_to_write(flash, 550e9) == pytest.approx(1000.0)


def test_a_time_that_is_cut_off_has_the_truncated_distribution() -> None:
    times = TimeMixture(np.log([100.0, 100.0]), np.array([0.5, 0.5]), np.array([-0.4, -math.inf]))
    wanted = stats.truncnorm(-0.4, math.inf)
    for seconds in (60.0, 90.0, 200.0):
        score = math.log(seconds / 100.0) / 0.5
        found = times.below(np.full(2, seconds))
        assert found == pytest.approx([wanted.cdf(score), stats.norm.cdf(score)], abs=1e-12)


def test_what_the_drives_give_to_all_work_is_told_by_stretches() -> None:
    """The same as a Gaussian whose first variable is that part."""
    seconds, own = np.full(CELLS, 10.0), 0.3
    prior = np.full((CELLS, CELLS), own) + 0.2 * np.eye(CELLS)
    prior[-1, :] = prior[:, -1] = 0.0
    prior[-1, -1] = 0.1
    cells = done_cells(0.0, 0.0)
    cells[14] = 1.0
    wanted = np.eye(CELLS)[20]
    found = posterior(seconds, [Stretch(cells, 20.0, 0.4)], (wanted,), prior[None], np.array([own]))
    joint = np.array([[own, own, own], [own, own + 0.2, own], [own, own, own + 0.2 + 0.16]])
    gain = joint[:2, 2] / joint[2, 2]
    assert found.drives[0] == pytest.approx(gain[0] * math.log(2.0))
    left = joint[:2, :2] - np.outer(gain, joint[2, :2])
    assert found.drive_spreads[0] ** 2 == pytest.approx(left[0, 0])
    assert found.shared[0, 0] == pytest.approx(left[0, 1])
    before = posterior(seconds, (), (wanted,), prior[None], np.array([own]))
    assert (before.drives[0], before.shared[0, 0]) == pytest.approx((0.0, own))
    assert before.drive_spreads[0] ** 2 == pytest.approx(own)


def told(log: float, spread: float, drives: float, drive_spread: float, shared: float) -> WorkPosterior:
    """Return what is known of two equal amounts in one component."""
    return WorkPosterior(
        np.array([[log, log]]), np.array([[spread, spread]]), np.zeros(1), np.array([drives]),
        np.array([drive_spread]), np.array([[shared, shared]]),
    )  # fmt: skip


@pytest.mark.parametrize("follows", [True, False])
def test_only_possible_times_are_left_whatever_the_drives_are(follows: bool) -> None:
    """Against a million draws of drives and time: as much weighs as is possible."""
    spread, drive_spread, shared, drives = 0.7, 0.4, 0.15, -0.1
    found, least = told(math.log(100.0), spread, drives, drive_spread, shared), math.log(90.0)
    before = told(math.log(400.0), spread, drives, drive_spread, shared)
    time = np.array([math.log(100.0)]), np.array([spread])
    kept = bounded(time, time, np.zeros(1), found, lambda: before, LeastTime(90.0, ANY if follows else NO))
    cov = [[drive_spread**2, shared], [shared, spread**2]]
    draws = np.random.default_rng(1).multivariate_normal([drives, 0.0], cov, 1_000_000)
    floor = least + (draws[:, 0] if follows else np.maximum(draws[:, 0], 0.0))
    now, was = (np.mean(draws[:, 1] + math.log(middle) >= floor) for middle in (100.0, 400.0))
    assert np.exp(kept.log_weights).sum() == pytest.approx(now / was, rel=0.02)


@pytest.mark.parametrize("seconds", [20.0, 40.0, 60.0])
def test_what_is_cut_off_keeps_its_median(seconds: float) -> None:
    """A bound alone moved medians up by a fifth, away from how scans ended."""
    known, time = told(math.log(100.0), 0.7, 0.0, 0.0, 0.0), (np.array([math.log(100.0)]), np.array([0.7]))
    kept = bounded(time, time, np.zeros(1), known, lambda: known, LeastTime(seconds, NO))
    weights = np.exp(kept.log_weights)

    def below(place: float) -> float:
        return float(weights @ kept.left.below(np.full(len(weights), place)))

    assert below(0.999 * seconds) == 0.0
    assert below(100.0) == pytest.approx(0.5, abs=0.002)
    assert below(500.0) < 1.0


def test_a_component_weighs_by_how_much_of_it_is_possible() -> None:
    """Half was possible before, a sixth is now: a world that is contradicted counts a third."""
    before, now = told(math.log(100.0), 0.5, 0.0, 0.0, 0.0), told(math.log(100.0), 0.5, 0.0, 0.0, 0.0)
    score = float(stats.norm.ppf(1.0 / 6.0))
    time = np.array([math.log(100.0) + 0.5 * score]), np.array([0.5])
    kept = bounded(time, time, np.array([2.0]), now, lambda: before, LeastTime(100.0, NO))
    assert float(np.exp(kept.log_weights - 2.0).sum()) == pytest.approx(1.0 / 3.0)


def test_what_no_quantile_would_notice_stays_as_it_is() -> None:
    known = told(math.log(100.0), 0.1, 0.0, 0.0, 0.0)
    time = np.array([math.log(100.0)]), np.array([0.1])
    for seconds in (0.0, 50.0):
        kept = bounded(time, time, np.zeros(1), known, lambda: known, LeastTime(seconds, NO))
        assert np.isneginf(kept.left.least).all()
        assert kept.origin.tolist() == [0]


def test_the_least_is_of_what_is_surely_left() -> None:
    world, half = course(transfer=0.8), scan(elapsed=1.0, scanned=10 * T, issued=5 * T)
    assert least_left_s(world, None, None) == pytest.approx(0.8 * 9000.0)
    state = State(1.0, 0.5, 1.0, "scan", 0.0, counted=0.52)
    assert least_left_s(world, state, half) == pytest.approx(0.8 * 9000.0 * (0.48 - SURE * COUNTED))
    several = replace(world, vdevs=3)
    assert least_left_s(several, None, None) == pytest.approx(0.8 * 9000.0 * (1.0 - REPAIRED_ERROR))
    beyond = scan(elapsed=1.0, scanned=10 * T, issued=12 * T)
    assert least_left_s(world, replace(state, counted=1.0), beyond) == 0.0


@pytest.mark.parametrize("gone", [60.0, 300.0])
def test_no_quantile_of_a_scan_that_has_just_begun_is_shorter_than_its_drives_need(gone: float) -> None:
    world = course(visit_s=0.0, issue_s=36_000.0, transfer=0.9, loose=0.2, unlike=0.15)
    seen = [scan(elapsed=gone, scanned=10 * T, issued=T // 100)]
    before = remaining([replace(world, transfer=0.0)], seen, PoolFacts()).left()
    found = remaining([world], seen, PoolFacts()).left()
    assert before[0] < 0.9 * 36_000.0
    assert found[0] > 0.9 * 36_000.0 * 0.99
    assert found[0] < found[1] < found[2]


def test_progress_that_no_such_drive_can_make_is_of_other_drives() -> None:
    world = course(visit_s=0.0, issue_s=36_000.0, transfer=0.9, unlike=0.15)
    seen = [scan(elapsed=400.0 * part, scanned=10 * T, issued=part * T) for part in range(1, 6)]
    assert remaining([world], seen, PoolFacts()).left()[1] == pytest.approx(2000.0, rel=0.5)


def test_a_world_knows_what_its_new_drive_needs() -> None:
    """A raidz2 of six disks of 4 TB, half full: 2 TB are written, at the rate that the drive has there."""
    case = disks(write_cache=True, recordsize="1M", memory="1T")
    worlds, least = courses_of(case), seconds_to_write(case.new_drive.parameters(), 0.5 * 4e12)
    needs = np.array([world.transfer * world.issue_s for world in worlds])
    assert np.median(needs) == pytest.approx(least, rel=0.05)
    assert needs == pytest.approx(least, rel=0.25)
    assert all(0.1 < world.transfer < 1.0 for world in worlds)


def test_a_share_done_leaves_open_whether_all_metadata_are_read() -> None:
    world = course(transfer=0.5)
    alone = scan(format="unknown", total=None, total_issue=None, done=0.01, elapsed=60.0)
    (read, half), (turns, other) = orders(world, [alone])
    assert half == other == pytest.approx(math.log(0.5))
    assert read is world
    assert (turns.visit_s, turns.issue_s) == (0.0, world.visit_s + world.issue_s)
    assert turns.transfer * turns.issue_s == pytest.approx(world.transfer * world.issue_s)
    for told_more in (scan(scanned=T, issued=T // 100), alone.model_copy(update={"format": "legacy"})):
        assert orders(world, [told_more]) == [(world, 0.0)]
    assert orders(replace(world, drifts=0.5), [alone])[0][1] == 0.0  # memory for all records
    assert orders(world, []) == [(world, 0.0)]
    rounds = adapted(world, [scan(elapsed=9.0, scanned=T, issued=T // 2)])
    assert (rounds.visit_s, rounds.transfer) == (0.0, turns.transfer)


def test_no_least_cuts_nothing() -> None:
    times = uncut((np.log([100.0]), np.array([0.3])))
    assert times.below(np.array([100.0])) == pytest.approx([0.5])
