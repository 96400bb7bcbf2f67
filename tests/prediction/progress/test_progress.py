"""A running scan: what its statuses say of its end, world by world."""

import math
from datetime import datetime

import numpy as np
import pytest

from tests.prediction.samples import T, course, scan
from zsim.prediction.progress.course import CELLS, Course, Shape, done_cells, straight, with_zones
from zsim.prediction.progress.least import uncut
from zsim.prediction.progress.moments import (
    PoolFacts,
    adapted,
    clock_of,
    history_of,
    in_rounds,
    state_of,
    with_clocks,
)
from zsim.prediction.progress.noise import Stretch, covariance, fitted_noise, posterior, reading_errors
from zsim.prediction.progress.remaining import Remaining, remaining
from zsim.scenario.evidence import RunningScan

NOISE = fitted_noise()


def test_cells_sum_to_the_course():
    assert course().seconds().sum() == pytest.approx(course().total_s)
    assert course(drifts=1.0).seconds(0.5).sum() == pytest.approx(course().total_s)
    assert done_cells(0.0, 0.0).sum() == 0.0
    assert done_cells(1.0, 1.0).sum() == CELLS - 1  # the tail is still to come


def test_a_drift_makes_what_is_left_longer():
    seconds = course(drifts=1.0).seconds(0.5)
    half = done_cells(1.0, 0.5)
    assert (seconds * (1.0 - half)).sum() > (course().seconds() * (1.0 - half)).sum()


def test_zones_slow_a_scan_down_on_its_way():
    zoned = with_zones(straight(), (200e6, 150e6, 100e6), 1.0)
    assert zoned.at(np.array([0.5]))[0] < 0.45
    assert with_zones(straight(), (200e6, 150e6, 100e6), 0.0).at(np.array([0.5]))[0] == pytest.approx(
        0.5, abs=0.01
    )


def test_work_seen_to_go_slowly_goes_on_slowly():
    seconds = course().seconds()
    done = done_cells(1.0, 0.5) - done_cells(1.0, 0.0)
    took = 3.0 * float((seconds * done).sum())
    priors = np.array([covariance(NOISE, level) for level in NOISE.restless])
    found = posterior(seconds, [Stretch(done, took, 0.01)], [1.0 - done_cells(1.0, 0.5)], priors)
    plain = posterior(seconds, [], [1.0 - done_cells(1.0, 0.5)], priors)
    assert 1.5 < np.exp(found.logs[0, 0] - plain.logs[0, 0]) < 3.5
    assert (found.spreads < plain.spreads).all()
    alone = posterior(seconds, [Stretch(done, took, 0.01)], [1.0 - done_cells(1.0, 0.5)], priors[1:2])
    assert alone.logs[0] == pytest.approx(found.logs[1], rel=1e-3)


def test_a_reading_makes_one_stretch_longer_and_the_next_shorter():
    done = [done_cells(1.0, share) for share in (0.2, 0.4)]
    first = Stretch(done[0], 2000.0, 0.0, last=(0.5, 0.0))
    second = Stretch(done[1] - done[0], 2000.0, 0.0, first=(0.5, 0.0), follows=0)
    shared = reading_errors([first, second])
    assert shared[0, 1] == shared[1, 0] == -0.25
    assert np.linalg.eigvalsh(shared).min() > -1e-12
    assert np.ones(2) @ shared @ np.ones(2) == pytest.approx(0.0)  # together they took what they took


def test_a_checkpoint_divides_scanning_from_issuing():
    seen = scan(elapsed=10_000.0, scanned=9 * T, issued=T // 4, total_issue=None)
    world = course(visit_s=20_000.0, issue_s=50_000.0, drifts=1.0)
    visit, issue = history_of([seen], world, PoolFacts(), NOISE).stretches
    assert (visit.seconds, issue.seconds) == (7200.0, 2800.0)
    assert visit.cells[12:].sum() == 0.0
    assert issue.cells[:12].sum() == 0.0
    early = scan(elapsed=7000.0, scanned=9 * T, issued=T // 4, total_issue=None)
    assert len(history_of([early], world, PoolFacts(), NOISE).stretches) == 1
    # A world without memory for all records goes in rounds.
    assert len(history_of([seen], course(20_000.0, 50_000.0), PoolFacts(), NOISE).stretches) == 1


def test_the_interval_narrows_as_a_scan_gets_on():
    widths = []
    for share in (0.1, 0.3, 0.6, 0.9):
        seen = scan(elapsed=1000.0 + 9000.0 * share, scanned=10 * T, issued=int(10 * T * share))
        low, middle, high = remaining([course()], [seen], PoolFacts()).total()
        assert low <= middle <= high
        widths.append(np.log(high / low))
    assert widths == sorted(widths, reverse=True)
    assert middle == pytest.approx(10_010.0, rel=0.03)


def test_worlds_that_fit_the_progress_weigh_more():
    seen = scan(elapsed=5500.0, scanned=10 * T, issued=5 * T)
    found = remaining([course(), course(10_000.0, 90_000.0)], [seen], PoolFacts())
    assert found.worlds[0] > 0.8


@pytest.mark.parametrize("spread", [8.0, 300.0])
def test_quantiles_are_found_however_wide_one_component_is(spread):
    one, nothing = np.ones(1), np.zeros(1)
    told = Remaining(
        known_s=np.array([50.0, 0.0]), idle_s=np.array([0.0, 20.0]),
        rest=uncut((np.log([100.0, 100.0]), np.array([0.1, spread]))),
        unknown=uncut((np.log([100.0, 100.0]), np.array([0.1, spread]))),
        weights=np.array([1.0, 1e-9]), worlds=one, paces=nothing, state=None, parts={},
    )  # fmt: skip
    low, middle, high = told.total()
    assert middle == pytest.approx(150.0, rel=1e-6)
    assert [low, high] == pytest.approx([50.0 + 100.0 * math.exp(each) for each in (-0.12816, 0.12816)], 1e-4)
    assert told.left()[1] == pytest.approx(100.0, rel=1e-6)


def test_before_anything_is_known_the_answer_is_that_of_the_worlds():
    low, middle, high = remaining([course(), course(2000.0, 18_000.0)], [], PoolFacts()).total()
    assert 10_000.0 < middle < 20_000.0
    assert high / low > 2.0


def test_releases_up_to_2_1_count_what_is_skipped_as_issued():
    seen = scan(
        format="0.8-2.1", total_issue=None, scanned=10 * T, issued=6 * T, processed=T // 5, elapsed=400.0
    )
    assert state_of(seen, course(needed=0.5), PoolFacts(), NOISE).issued == pytest.approx(0.1)
    assert state_of(seen, course(), PoolFacts(), NOISE).issued == pytest.approx(0.6, rel=0.02)


def test_from_2_2_on_the_total_to_issue_is_known_when_all_is_scanned():
    early = scan(scanned=5 * T, issued=T, total_issue=8 * T, elapsed=400.0)
    late = scan(scanned=10 * T, issued=T, total_issue=5 * T, elapsed=900.0)
    world = course(needed=0.5)
    assert state_of(early, world, PoolFacts(), NOISE).issued == pytest.approx(0.2, rel=0.02)
    assert state_of(early, world, PoolFacts(), NOISE).visited == pytest.approx(0.5)
    assert state_of(late, world, PoolFacts(), NOISE).issued == pytest.approx(0.2, rel=0.02)


def test_dates_go_before_rates_that_restart_with_an_import():
    since = datetime(2026, 11, 1, 8, 0, 0)
    seen = scan(since=since, at=datetime(2026, 11, 1, 10, 0, 0), issued=T, issue_rate=T / 600)
    assert clock_of(seen) == (7200.0, "scan")


def test_a_pass_leaves_out_the_metadata_phase():
    seen = scan(scanned=10 * T, issued=5 * T, issue_rate=5 * T / 4500)
    assert clock_of(seen) == (pytest.approx(4500.0, rel=1e-3), "pass")
    low, middle, high = remaining([course()], [seen], PoolFacts()).total()
    assert low < 10_010.0 < high
    assert middle > 9000.0


def test_the_metadata_phase_informs_by_what_is_scanned():
    found = remaining([course()], [scan(scanned=5 * T, issued=0, elapsed=500.0)], PoolFacts())
    assert found.state.phase == "metadata scan"
    assert found.parts["metadata scan"] == pytest.approx(500.0, rel=0.2)
    assert found.total()[1] == pytest.approx(10_010.0, rel=0.2)


def test_counters_that_stand_still_shorten_nothing():
    first = scan(elapsed=5500.0, scanned=10 * T, issued=5 * T)
    again = scan(elapsed=5600.0, scanned=10 * T, issued=5 * T)
    history = history_of([first, again], course(), PoolFacts(), NOISE)
    assert history.known_s == 5500.0
    assert history.idle_s == 100.0


def test_legacy_order_has_no_metadata_phase():
    seen = RunningScan(kind="resilver", format="legacy", total=10 * T, scanned=4 * T, elapsed=4000.0)
    state = state_of(seen, Course(0.0, 9000.0, 10.0, straight(), 2.0 * T), PoolFacts(sorted=False), NOISE)
    assert (state.visited, state.issued) == (1.0, 0.4)


def test_shapes_keep_their_order():
    shape = Shape(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.2, 1.0]))
    assert list(shape.at(np.array([0.25, 0.75]))) == pytest.approx([0.1, 0.6])


def test_what_is_skipped_tells_how_full_the_damaged_vdev_is():
    # 70 % of what was scanned needed no repair: the damaged vdev holds 30 %, not half.
    seen = scan(
        format="0.8-2.1", total_issue=None, scanned=4 * T, issued=28 * T // 10, processed=0, elapsed=400.0
    )
    found = adapted(course(needed=0.5), [seen])
    assert found.needed == pytest.approx(0.3, rel=1e-6)
    assert found.issue_s == pytest.approx(9000.0 * 0.6, rel=1e-6)
    done = scan(scanned=10 * T, issued=T, total_issue=3 * T, elapsed=900.0)
    assert adapted(course(needed=0.5), [done]).needed == pytest.approx(0.3, rel=1e-6)
    assert adapted(course(), [scan(scanned=4 * T, issued=T)]).needed == 1.0


def test_of_several_vdevs_what_was_not_visited_may_lie_elsewhere():
    # As above, but 60 % was not visited: a vdev that was added later is met late.
    seen = scan(
        format="0.8-2.1", total_issue=None, scanned=4 * T, issued=28 * T // 10, processed=0, elapsed=400.0
    )
    found = adapted(course(needed=0.5, vdevs=2), [seen])
    assert found.needed == pytest.approx(0.4 * 0.3 + 0.6 * 0.5, rel=1e-6)


def test_a_scan_that_issues_before_all_is_scanned_goes_in_rounds():
    # No memory for all records: a third is scanned and issued, and two thirds are still to be done so.
    seen = [
        scan(scanned=T * k, issued=T * k * 9 // 10, total_issue=None, elapsed=2000.0 * k)
        for k in (1, 2, 3, 4)
    ]
    low, middle, high = remaining([course()], seen, PoolFacts()).total()
    assert middle == pytest.approx(2000.0 * 10.0 / 0.9, rel=0.12)
    assert low > 15_000.0
    assert high < 30_000.0
    # What waits for the end of the metadata phase is told by none of these.
    assert in_rounds(seen, course())
    assert not in_rounds([scan(scanned=10 * T, issued=T, elapsed=900.0)], course())
    assert not in_rounds([scan(scanned=5 * T, issued=T // 100, elapsed=900.0)], course())


def test_drives_that_nobody_named_may_be_unlike_all_that_are_simulated():
    # Sticks: thirty times as slow as any world, and evenly so.
    seen = [scan(scanned=10 * T, issued=T * k, elapsed=1e3 + 27_000.0 * k) for k in (1, 2, 3)]
    named = remaining([course()], seen[:1], PoolFacts()).total()[1]
    unnamed = remaining([course(unlike=0.4)], seen[:1], PoolFacts()).total()[1]
    assert named < unnamed < 330_000.0
    assert remaining([course(unlike=0.4)], seen, PoolFacts()).total()[1] == pytest.approx(270_000.0, rel=0.2)


def test_metadata_that_lead_to_no_data_come_first():
    # A thousandth is scanned after 60 s: that is no reason to expect 60,000 s.
    seen = scan(scanned=10 * T // 1000, issued=0, elapsed=60.0)
    assert remaining([course()], [seen], PoolFacts()).total()[1] < 20_000.0


def test_a_rebuild_has_done_what_was_issued_when_more_is_issued():
    slabs = [
        RunningScan(kind="rebuild", format="rebuild", total=10 * T, issued=T * k, elapsed=seconds)
        for k, seconds in ((1, 1.0), (2, 901.0), (3, 1801.0))
    ]
    world = Course(0.0, 9000.0, 4.0, straight(), 2.0 * T, window=0.25)
    history = history_of(slabs, world, PoolFacts(sorted=False), NOISE)
    assert history.last.issued == pytest.approx(0.2, rel=1e-6)


def test_legacy_scans_get_faster_towards_the_files_that_were_rewritten_least():
    seconds = course(births=1.0).seconds(0.5, -0.2)
    assert seconds.sum() == pytest.approx(course().total_s)
    half = done_cells(1.0, 0.5)
    assert (seconds * half).sum() > (course().seconds() * half).sum()


def test_rates_that_began_anew_date_the_work_since():
    old = scan(format="legacy", scanned=4 * T, scan_rate=T // 1000, total_issue=None)
    new = old.model_copy(update={"scanned": 5 * T, "scan_rate": T // 8000})
    first, second = with_clocks([old, new])
    assert first == old
    # Bytes over rate would be 40,000 s; of the bytes since, the rate tells 8,000 s after the first 4,000.
    assert second.elapsed == pytest.approx(12_000.0, rel=1e-3)
    assert not second.elapsed_is_pass
    backwards = old.model_copy(update={"scanned": 5 * T, "scan_rate": T // 500})
    assert with_clocks([old, backwards])[1].elapsed == pytest.approx(4500.0, rel=1e-3)


def test_rates_that_go_on_and_dates_are_left_as_they_are():
    old = scan(format="legacy", scanned=4 * T, scan_rate=T // 1000, total_issue=None)
    slower = old.model_copy(update={"scanned": 5 * T, "scan_rate": T // 1500})
    assert with_clocks([old, slower]) == [old, slower]
    dated = (
        old.model_copy(update={"elapsed": 4000.0}),
        slower.model_copy(update={"elapsed": 90_000.0, "scan_rate": T // 8000}),
    )
    assert with_clocks(dated) == list(dated)


def test_the_end_is_read_to_the_second_and_a_time_in_minutes_is_known_less():
    near = scan(scanned=10 * T, issued=round(9.9 * T), elapsed=99.0)
    world = course(visit_s=10.0, issue_s=90.0)
    low, _, high = remaining([world], [near], PoolFacts()).left()
    # 0.9 s of work and the last txg, told in full seconds: no interval is narrower than these.
    assert high - low > 0.8
    half = [scan(scanned=10 * T, issued=5 * T, elapsed=40.0, resolution=each) for each in (1.0, 60.0)]
    fine, coarse = (remaining([world], [each], PoolFacts()).total() for each in half)
    assert math.log(coarse[2] / coarse[0]) > 1.2 * math.log(fine[2] / fine[0])


def test_bytes_resilvered_tell_what_of_those_issued_is_under_way():
    world = course(window=0.1)
    full = state_of(scan(scanned=10 * T, issued=2 * T), world, PoolFacts(), NOISE)
    assert (full.counted, full.issued, full.under_way) == pytest.approx((0.2, 0.1, 0.1))
    # 0.36T of 2T resilvered are 18 %: of the 20 % issued about 2 % are under way.
    told = state_of(scan(scanned=10 * T, issued=2 * T, processed=round(0.36 * T)), world, PoolFacts(), NOISE)
    assert told.issued == pytest.approx(0.18, abs=0.005)
    assert told.unsure < 0.2 * full.unsure
    # Twice as much as the drive that is simulated can have: another one is resilvered beside it.
    other = state_of(scan(scanned=10 * T, issued=2 * T, processed=round(0.8 * T)), world, PoolFacts(), NOISE)
    assert other.under_way == full.under_way
    # Towards the end the bytes are known less than the window is.
    late = state_of(scan(scanned=10 * T, issued=9 * T, processed=round(1.8 * T)), world, PoolFacts(), NOISE)
    assert 0.0 < late.under_way < full.under_way


def test_a_long_metadata_phase_tells_of_the_repair_what_unknown_drives_do():
    seconds = course().seconds()
    visit, repair = done_cells(1.0, 0.0), done_cells(1.0, 1.0) - done_cells(1.0, 0.0)
    seen = Stretch(visit, 3.0 * float((seconds * visit).sum()), 0.01)

    def longer(loose):
        priors = np.array([covariance(NOISE, level, loose) for level in NOISE.restless])
        plain = posterior(seconds, [], [repair], priors)
        return np.exp(posterior(seconds, [seen], [repair], priors).logs - plain.logs)[:, 0]

    # Known drives: of the length of the metadata nothing follows for how the data lie.
    assert longer(0.0) == pytest.approx(np.ones(len(NOISE.restless)), rel=1e-6)
    assert (longer(0.6) > 1.1).all()
