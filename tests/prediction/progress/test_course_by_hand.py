"""Courses of running scans against arithmetic by hand: shapes, zones, own pace, what is left, open ends."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from tests.prediction.samples import T, course, scan
from tests.prediction.samples import disks as case
from zsim.prediction.progress import case_priors, healing, metadata_only, open_share, remaining
from zsim.prediction.progress import course as courses
from zsim.prediction.progress.course import (
    CELLS,
    EDGES,
    POINTS,
    VISIT_CELLS,
    Course,
    OpenShare,
    Shape,
    done_cells,
    straight,
    with_zones,
)
from zsim.prediction.progress.least import uncut
from zsim.prediction.progress.moments import HEALED, PoolFacts, State, StatusHistory
from zsim.prediction.progress.noise import fitted_noise, progress_number
from zsim.prediction.progress.pace import MOST_UNDER_WAY, Pace, combined, discrepancy_of, pace_of, with_pace

NOISE = fitted_noise()


# Cells and shapes.


def test_edges_of_cells_are_finer_at_the_begin_and_even_later_on() -> None:
    assert (EDGES[0], EDGES[-1]) == (0.0, 1.0)
    first, even = courses.FIRST_EDGE, courses.EVEN_FROM
    assert EDGES[1] == pytest.approx(first)
    early = EDGES[1 : 1 + courses.EARLY_EDGES]
    assert early[-1] == pytest.approx(even)
    assert np.diff(np.log(early)) == pytest.approx(math.log(even / first) / (courses.EARLY_EDGES - 1))
    late = EDGES[courses.EARLY_EDGES :]
    assert np.diff(late) == pytest.approx((1.0 - even) / (courses.LATE_EDGES - 1))
    assert len(EDGES) == courses.EARLY_EDGES + courses.LATE_EDGES
    assert VISIT_CELLS + len(EDGES) == CELLS


def test_cells_are_done_one_after_the_other() -> None:
    found = done_cells(1.5 / VISIT_CELLS, (EDGES[3] + EDGES[4]) / 2.0)
    assert found[:3].tolist() == [1.0, 0.5, 0.0]
    assert found[VISIT_CELLS : VISIT_CELLS + 5] == pytest.approx([1.0, 1.0, 1.0, 0.5, 0.0])
    assert found[-1] == 0.0


def test_a_course_has_no_cell_that_takes_no_time() -> None:
    found = Course(0.0, 100.0, 0.0, straight(), 1.0).seconds()
    assert (found > 0.0).all()
    assert found.sum() == pytest.approx(100.0)
    assert course().total_s == 10010.0
    assert course().seconds()[:VISIT_CELLS] == pytest.approx(1000.0 / VISIT_CELLS)


def test_a_shape_ends_with_the_last_amount_and_has_a_tail_behind_it() -> None:
    """From 100 s on 40 of 80 by 120 s and all by 180 s: half at a quarter; 20 s more are a quarter of 80."""
    found = courses._shape(np.array([120.0, 180.0, 190.0]), np.array([40.0, 80.0, 80.0]), 100.0, 200.0)
    assert found.share.tolist() == [0.0, 0.5, 1.0]
    assert found.moment == pytest.approx([0.0, 0.25, 1.0])
    assert found.tail == pytest.approx(0.25)
    early = courses._shape(np.array([90.0, 180.0]), np.array([40.0, 80.0]), 100.0, 150.0)
    assert (early.moment.tolist(), early.tail) == ([0.0, 0.0, 1.0], 0.0)
    assert courses._shape(np.array([100.0]), np.array([5.0]), 100.0, 200.0).share.tolist() == [0.0, 0.5, 1.0]
    assert courses._shape(np.array([150.0]), np.array([0.0]), 100.0, 200.0).tail == 0.0


def test_a_scan_over_two_zones_is_quicker_on_the_outer_one() -> None:
    """Twice the rate on the first half: a third of the time."""
    found = with_zones(straight(), (200e6, 100e6), 1.0)
    assert found.at(np.array([0.5]))[0] == pytest.approx(1.0 / 3.0, abs=0.01)
    # Where data is moved half of the time, half of that.
    half = with_zones(straight(), (200e6, 100e6), 0.5)
    assert half.at(np.array([0.5]))[0] == pytest.approx(0.5 - (0.5 - 1.0 / 3.0) / 2.0, abs=0.01)
    # Data that reaches through the outer zone alone has no other; through three quarters, two thirds of it.
    assert with_zones(straight(), (200e6, 100e6), 1.0, 0.5).at(np.array([0.5]))[0] == pytest.approx(
        0.5, abs=0.01
    )
    most = with_zones(straight(), (200e6, 100e6), 1.0, 0.75)
    assert most.at(np.array([2.0 / 3.0]))[0] == pytest.approx(0.5, abs=0.01)
    tail = with_zones(Shape(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.3), (2.0, 1.0), 1.0)
    assert (tail.tail, len(tail.share)) == (0.3, POINTS)
    assert (tail.moment[0], tail.moment[-1]) == (0.0, 1.0)


# What is left.


def test_a_quantile_of_a_mixture_is_where_its_distribution_function_is_that_share() -> None:
    logs, spreads = np.log([1000.0, 5000.0]), np.array([0.3, 0.6])
    weights, shifts = np.array([0.7, 0.3]), np.array([100.0, -200.0])

    def below(value: float) -> float:
        return math.fsum(
            weight * stats.lognorm.cdf(value - shift, spread, scale=math.exp(log))
            for weight, shift, spread, log in zip(weights, shifts, spreads, logs, strict=True)
        )

    for share in (0.1, 0.5, 0.9):
        wanted = optimize.brentq(lambda value, share=share: below(value) - share, -150.0, 1e5)
        found = remaining._quantile(uncut((logs, spreads)), weights, shifts, share)
        assert found == pytest.approx(wanted, rel=1e-6)
    single = remaining._quantile(uncut((logs[:1], spreads[:1])), np.ones(1), 0.0, 0.9)
    assert single == pytest.approx(1000.0 * math.exp(0.3 * 1.2815516))


def mixture(**more: Any) -> remaining.Remaining:
    """Return what is left in two worlds alike."""
    known: dict[str, Any] = {
        "known_s": np.array([50.0, 50.0]), "idle_s": np.array([30.0, 30.0]),
        "rest": uncut((np.log([100.0, 100.0]), np.full(2, 1e-9))),
        "unknown": uncut((np.log([400.0, 400.0]), np.full(2, 1e-9))),
        "weights": np.array([0.5, 0.5]), "worlds": np.array([0.5, 0.5]), "paces": np.ones(2), "state": None,
        "parts": {},
    }  # fmt: skip
    return remaining.Remaining(**(known | more))


def test_what_stood_still_is_taken_off_what_is_left_and_what_is_known_added_to_the_whole() -> None:
    assert mixture().left() == pytest.approx((70.0, 70.0, 70.0), rel=1e-4)
    assert mixture(idle_s=np.array([300.0, 300.0])).left() == (0.0, 0.0, 0.0)
    assert mixture().total((0.5,)) == pytest.approx((450.0,), rel=1e-4)
    assert mixture().effective == pytest.approx(2.0)
    assert mixture(worlds=np.array([0.9, 0.1])).effective == pytest.approx(1.0 / 0.82)


@pytest.mark.parametrize(("issued", "beyond"), [(0.5, 0.0), (0.999, 0.0), (1.0, 0.0), (1.0, 0.2)])
def test_what_is_left_of_a_scan_that_runs_is_above_nothing(issued: float, beyond: float) -> None:
    """A normal variable of mean 1 - issued, cut off at 0: its mean beyond that, and its deviation."""
    seen = scan(scanned=10 * T, issued=round(10 * T * (1.0 + beyond)))
    error = math.hypot(remaining.COUNTED, beyond)
    cut = stats.truncnorm(-(1.0 - issued) / error, math.inf, loc=1.0 - issued, scale=error)
    more, unsure = remaining._beyond(State(1.0, issued, None, "unknown", 0.0), seen)
    assert more == pytest.approx(cut.mean() - (1.0 - issued), abs=1e-9)
    assert unsure == pytest.approx(cut.std(), abs=1e-9)


def test_the_end_is_read_with_an_error_that_does_not_shrink_and_the_mean_stays() -> None:
    time = np.log([100.0]), np.array([0.5])
    logs, spreads = remaining._read_at_end(time, 20.0, 30.0)
    mean = 120.0 * math.exp(0.5 * 0.25)
    assert np.exp(logs + 0.5 * spreads**2) == pytest.approx([mean])
    variance = mean**2 * (math.exp(0.25) - 1.0)
    assert mean**2 * np.expm1(spreads**2) == pytest.approx([variance + 30.0**2 * math.exp(0.25)])
    same = remaining._read_at_end(time, 0.0, 0.0)
    assert (same[0][0], same[1][0]) == pytest.approx((math.log(100.0), 0.5))


def test_the_error_of_an_end_is_of_the_txg_and_of_both_clocks() -> None:
    facts = PoolFacts(clock_s=0.3)
    plain = State(1.0, 0.5, 10.0, "scan", 0.0)
    assert remaining._end_error(plain, facts) == pytest.approx(math.hypot(remaining.CLOSES, 0.3, 0.3))
    coarse = replace(plain, clock_s=17.0)
    assert remaining._end_error(coarse, facts) == pytest.approx(math.hypot(remaining.CLOSES, 0.3, 17.0))


def test_parts_are_in_proportion_to_what_is_left_of_each_phase() -> None:
    seconds = np.full(CELLS, 1.0)
    left = 1.0 - done_cells(0.5, 0.0)
    found = remaining._parts(seconds, left, 2.0 * float(left.sum()))
    assert found == {
        "metadata scan": pytest.approx(VISIT_CELLS), "repair": pytest.approx(2.0 * (CELLS - VISIT_CELLS - 1)),
        "tail": pytest.approx(2.0),
    }  # fmt: skip


def test_drives_are_like_those_simulated_or_unlike_or_nothing_like_them() -> None:
    shares = remaining._priors(NOISE, 0.2, 0.0, 0.0).shares.reshape(len(NOISE.restless), 3)
    levels = math.fsum(level.share for level in NOISE.restless)
    shares /= levels
    assert shares.sum(axis=0) == pytest.approx(
        [0.8, 0.2 * (1.0 - NOISE.alien_share), 0.2 * NOISE.alien_share]
    )
    assert shares.sum(axis=1) == pytest.approx([level.share / levels for level in NOISE.restless])
    plain = remaining._priors(NOISE, 0.0, 0.4, 0.0)
    like, unlike, alien = (plain.covariances[place][0, 0] for place in range(3))
    assert plain.drives[:3] == pytest.approx([0.16, 0.16 + NOISE.unlike**2, 0.16 + NOISE.alien**2])
    assert plain.alien[:3].tolist() == [False, False, True]
    assert unlike - like == pytest.approx(NOISE.unlike**2)
    assert alien - like == pytest.approx(NOISE.alien**2)
    none = remaining._priors(NOISE, 0.0, 0.0, 0.0).covariances
    assert like - none[0][0, 0] == pytest.approx(0.16)


def test_worlds_weigh_by_prior_times_likelihood() -> None:
    """Two of one component each: one is e times as likely."""

    def world(log_weight: float, pace: float) -> Any:
        one, time = np.ones(1), uncut((np.ones(1), np.ones(1)))
        return remaining._World(one, one, time, time, np.array([log_weight]), pace, None, ({"repair": pace},))

    found = remaining._mixed([course()] * 2, [world(-5.0, 1.0), world(-4.0, 3.0)])
    share = math.e / (1.0 + math.e)
    assert found.worlds == pytest.approx([1.0 - share, share])
    assert found.parts["repair"] == pytest.approx(1.0 - share + 3.0 * share)
    assert found.paces.tolist() == [1.0, 3.0]


# Its own pace.


def history(idle_s: float = 0.0, **more: Any) -> StatusHistory:
    """Return statuses of which the last is of a repair a fifth of which was issued in 2000 s."""
    known = {"visited": 1.0, "issued": 0.2, "seconds": 2000.0, "clock": "pass", "error": 0.0, "counted": 0.2}
    return StatusHistory((), State(**(known | more)), 0.0, idle_s, None)


def own(found: StatusHistory | None, **world: Any) -> Pace | None:
    """Return what the pace says in a world."""
    return pace_of(course(**world), course(**world).seconds(), found, 0.1)


def test_the_pace_so_far_tells_what_is_left_and_how_well() -> None:
    """2000 s for a fifth: 8000 s for the rest; of a part the unevenness is larger by the root of 1 / 0.16."""
    found = own(history())
    assert found is not None
    assert math.exp(found.log) == pytest.approx(8000.0)
    assert found.spread == pytest.approx(0.1 / 0.4)
    tilted, coarse = own(history(), tilt=0.6), own(history(clock_s=100.0))
    assert tilted is not None
    assert coarse is not None
    assert tilted.spread == pytest.approx(math.hypot(0.25, 0.3))
    assert coarse.spread == pytest.approx(math.hypot(0.25, 0.05))
    still = own(history(idle_s=500.0))
    assert still is not None
    assert math.exp(still.log) == pytest.approx(6000.0)


def test_what_is_under_way_is_not_done_and_at_most_half_of_what_was_issued() -> None:
    """Of 0.2 issued 0.05 are under way: 2000 s for 0.15."""
    found = own(history(issued=0.15, under_way=0.05, unsure=0.01))
    assert found is not None
    assert math.exp(found.log) == pytest.approx(2000.0 * 0.85 / 0.15)
    assert found.spread == pytest.approx(math.hypot(0.1 / math.sqrt(0.15 * 0.85), 0.01 / 0.15))
    most = own(history(issued=0.004, under_way=0.3, unsure=0.01))
    assert most is not None
    done = 0.2 * (1.0 - MOST_UNDER_WAY)
    assert math.exp(most.log) == pytest.approx(2000.0 * (1.0 - done) / done)
    unsure = min(math.hypot(0.01, 0.3 - done), 0.2 * MOST_UNDER_WAY / math.sqrt(3.0))
    assert most.spread == pytest.approx(math.hypot(0.1 / math.sqrt(done * (1.0 - done)), unsure / done))
    # Where all that is counted is done, nothing is under way.
    none = own(history(under_way=0.05))
    assert none is not None
    assert math.exp(none.log) == pytest.approx(8000.0)


def test_a_clock_of_the_scan_is_divided_as_the_world_divides_it() -> None:
    """A metadata phase of 1000 s and a fifth of 9000 s: of 2000 s 9 / 14 are the repair's."""
    found = own(history(clock="scan"))
    assert found is not None
    assert math.exp(found.log) == pytest.approx(2000.0 * 1800.0 / 2800.0 * 4.0, rel=1e-6)


def test_without_repair_or_clock_no_pace_is_told() -> None:
    assert own(None) is None
    for more in (
        {"seconds": None}, {"visited": 0.9}, {"counted": 0.0, "issued": 0.0}, {"counted": 1.0, "issued": 1.0},
        {"seconds": 0.0},
    ):  # fmt: skip
        assert own(history(**more)) is None
    assert own(history(idle_s=2000.0)) is None


def test_how_far_a_world_may_be_off_goes_with_what_other_scans_tell() -> None:
    told = course(discrepancy=0.5, other_scans=((0.1, 0.4), (0.2, 0.3)))
    assert discrepancy_of(told) == pytest.approx((0.5**-2 + 0.4**-2 + 0.3**-2) ** -0.5)
    assert discrepancy_of(course(discrepancy=0.5), 4.0) == 0.5
    sick = course(discrepancy=0.5, suspect=True)
    assert discrepancy_of(sick, 4.0) == pytest.approx(math.hypot(0.5, math.log(4.0) / math.sqrt(12.0)))
    assert discrepancy_of(sick, 0.5) == 0.5
    assert discrepancy_of(course(suspect=True), 4.0) == pytest.approx(math.log(4.0) / math.sqrt(12.0))


def test_two_answers_weigh_by_the_inverse_of_their_variances() -> None:
    """Spreads of 0.3 and 0.1: the one that is less off has nine tenths."""
    logs, spreads = combined(np.array([1.0]), np.array([0.5]), Pace(2.0, 0.1), 0.3)
    assert (logs[0], spreads[0]) == pytest.approx((1.9, 0.14))
    left, total = (np.log([300.0]), np.array([0.5])), (np.log([1000.0]), np.array([0.2]))
    to_go, whole = with_pace(left, total, Pace(math.log(600.0), 0.1), math.inf)
    assert np.exp(to_go[0]) == pytest.approx([600.0])
    assert np.exp(whole[0]) == pytest.approx([1300.0])
    assert whole[1] == pytest.approx([0.1])


# Heals, whose end is open.


@pytest.mark.parametrize(
    ("fields", "is_open"),
    [
        ({"scanned": T}, True), ({"scanned": 10 * T}, False), ({"scanned": round(9.94 * T)}, True),
        ({"scanned": round(9.96 * T)}, False), ({"scanned": 0}, True), ({"scanned": T, "kind": "resilver"}, False),  # noqa: E501
        ({"scanned": T, "total": None}, False), ({"done": 0.3}, True), ({}, False),
        ({"scanned": 10 * T, "format": "legacy"}, True),
    ],
)  # fmt: skip
def test_a_heal_may_end_at_any_share_until_all_is_visited(fields: dict[str, Any], is_open: bool) -> None:
    assert healing.is_open(scan(**({"kind": "heal"} | fields))) is is_open


def test_a_heal_has_so_many_ends_as_likely_between_here_and_all() -> None:
    """A logarithm that is uniform: of a hundredth visited the middle one is a tenth."""
    seen = scan(kind="heal", scanned=T // 10, issued=T // 40, total_issue=10 * T - T // 20)
    found = healing.ends(course(), [seen])
    assert len(found) == healing.NODES
    shares = [world.issue_s / 9000.0 for world, _ in found]
    assert shares == pytest.approx([0.01 ** (1.0 - (k + 0.5) / healing.NODES) for k in range(healing.NODES)])
    world, (told,) = found[healing.NODES // 2]
    assert (world.visit_s, world.repaired) == pytest.approx((100.0, 0.2 * T))
    assert world.discrepancy == pytest.approx(HEALED)
    assert told.total == pytest.approx(T, rel=1e-6)
    # Half of what is scanned is due, so of all of it.
    assert (told.issued, told.total_issue) == (T // 40, pytest.approx(0.5 * T, rel=1e-6))
    known = course()
    assert healing.ends(known, [scan(scanned=T)])[0][0] is known
    assert [told for _, told in healing.ends(known, [scan(scanned=T)])] == [(scan(scanned=T),)]
    assert [told for _, told in healing.ends(known, [])] == [()]


def test_what_is_due_of_what_is_scanned_is_counted_by_the_release() -> None:
    """From 2.2 on 3T were skipped of 5T scanned; before, 4T were issued, of which 0.3T on a drive are repairs."""  # noqa: E501
    new = scan(kind="heal", scanned=5 * T, issued=T, total_issue=7 * T)
    assert healing._repairs(new, course()) == (T, 2 * T)
    assert healing._repairs(new.model_copy(update={"issued": 3 * T}), course()) == (3 * T, 3 * T)
    old = scan(
        kind="heal", format="0.8-2.1", scanned=5 * T, issued=4 * T, processed=3 * T // 10, total_issue=None
    )
    world = course(needed=0.5)
    by_drive = 0.5 * 10 / 2.0
    assert healing._repairs(old, world) == pytest.approx((0.3 * by_drive * T, (1.0 + 0.3 * by_drive) * T))
    most = old.model_copy(update={"processed": 9 * T})
    assert healing._repairs(most, world) == (4 * T, 5 * T)
    legacy = scan(kind="heal", format="legacy", scanned=T, done=0.1)
    told = healing._ended(legacy, course(), 0.25)
    assert (told.total, told.done) == (round(2.5 * T), pytest.approx(0.4))
    assert healing._ended(legacy, course(), 0.05).done == 1.0


# Shares that are open.


def test_a_share_that_is_open_is_cut_off_at_what_was_issued() -> None:
    """Lognormal about 0.01 with a spread of 1, above 0.02: quantiles of the truncated law."""
    world = course(needed=0.01, open_share=OpenShare(1.0, 0.9))
    seen = scan(scanned=10 * T, issued=round(0.02 * 10 * T), total_issue=None)
    found = open_share.variants(world, [seen])
    cut = stats.truncnorm(math.log(2.0), math.inf, loc=math.log(0.01), scale=1.0)
    middles = [(k + 0.5) / open_share.NODES for k in range(open_share.NODES)]
    assert [math.log(each.needed) for each, _ in found] == pytest.approx(cut.ppf(middles).tolist(), rel=1e-6)
    assert [log for _, log in found] == pytest.approx(
        [math.log(stats.norm.sf(math.log(2.0)) / open_share.NODES)] * 7
    )
    small = course(needed=0.01, open_share=OpenShare(1.0, 0.015))
    assert max(each.needed for each, _ in open_share.variants(small, [seen])) == pytest.approx(0.02)


def test_a_share_takes_time_in_proportion_and_its_window_is_as_much_smaller() -> None:
    world = course(needed=0.1, window=0.05)
    more, less = open_share.with_share(world, 0.2), open_share.with_share(world, 0.001)
    assert (more.issue_s, more.repaired, more.needed, more.window) == pytest.approx(
        (18000.0, 4.0 * T, 0.2, 0.025)
    )
    assert less.window == 1.0
    assert open_share.issued_share([scan(issued=20 * T)]) == 1.0
    assert open_share.issued_share([scan(issued=T)]) == pytest.approx(0.1)
    assert open_share.issued_share([scan(issued=None)]) == open_share.issued_share([]) == 0.0


# What the case alone tells.


def test_an_even_course_moves_what_is_allocated_at_the_mean_rate() -> None:
    one = case()
    rate = float(np.mean(one.drive.parameters().zone_rates))
    each = one.alloc / 6.0
    found = case_priors.even_course(one, 2.0, straight(), unlike=0.1, loose=0.2, discrepancy_=0.3, visit=0.15)
    assert (found.issue_s, found.visit_s) == pytest.approx((2.0 * each / rate, 0.3 * each / rate))
    assert (found.repaired, found.needed, found.vdevs) == (pytest.approx(each), 1.0, 1)
    assert (found.unlike, found.loose, found.discrepancy) == (0.1, 0.2, 0.3)
    two = case(layout="2*raidz2x6")
    half = case_priors.even_course(two, 1.0, straight(), unlike=0.0, loose=0.0)
    assert half.needed == pytest.approx(0.5)
    scrub = case_priors.even_course(replace(two, operation="scrub"), 1.0, straight(), unlike=0.0, loose=0.0)
    assert scrub.needed == 1.0
    legacy = case_priors.even_course(case(release="zol-0.7"), 1.0, straight(), unlike=0.0, loose=0.0)
    assert legacy.visit_s == 0.0
    assert [each.issue_s for each in case_priors.even_courses(one)] == pytest.approx(
        [slower * each / rate for slower in case_priors.EVEN_PACES]
    )


def test_a_scan_drifts_as_far_as_holes_are_filled_again() -> None:
    refilled = progress_number("layout.refilled")
    low, high = (case(fill=fill, memory="1T") for fill in (refilled / 2.0, min(0.9, refilled * 1.1)))
    assert case_priors.drifts(low) == pytest.approx(0.5)
    assert case_priors.drifts(high) == pytest.approx(min(1.0, high.fill / refilled))
    assert (case_priors.births(low), case_priors.births(case(release="zol-0.7", fill=refilled / 2.0))) == (
        0.0, pytest.approx(0.5),
    )  # fmt: skip
    assert case_priors.drifts(case(release="zol-0.7")) == 0.0
    assert case_priors.one_sweep(case(memory="1T"))
    assert not case_priors.one_sweep(case(memory="1G", recordsize="4K"))
    copy = case(layout="mirror2", operation="rebuild", release="openzfs-2.2")
    assert (case_priors.one_sweep(copy), case_priors.births(copy)) == (False, 0.0)


def test_drives_are_known_by_model_class_or_not_and_small_pools_are_not() -> None:
    least = progress_number("layout.smallest_data", "B")
    assert case_priors.knowledge(case(drive="wd40efrx", drive_size=None)) == "known"
    assert case_priors.knowledge(case()) == "class"
    assert case_priors.knowledge(case(drive=None, drive_size="4TB")) == "unnamed"
    few, enough = case(alloc=round(least) - 1, fill=None), case(alloc=round(least), fill=None)
    assert (case_priors.is_small(few), case_priors.is_small(enough)) == (True, False)
    assert case_priors.knowledge(few) == "unnamed"
    for one, name in ((few, "small"), (case(), "class"), (replace(case(), operation="rebuild"), "class"),
                      (case(layout="raidz1x4", operation="expand", release="openzfs-2.3"), "expand")):  # fmt: skip  # noqa: E501
        assert case_priors.discrepancy(one) == progress_number(f"discrepancy.{name}")


# Vdevs that hold no data.


def test_a_resilver_of_a_log_is_the_metadata_phase_alone() -> None:
    sorted_, legacy = (
        metadata_only.metadata_only(course(drifts=1.0), counted=each) for each in (False, True)
    )
    assert (sorted_.visit_s, sorted_.drifts) == (1000.0, 1.0)
    assert 0.0 < sorted_.issue_s < 1e-6
    assert (legacy.visit_s, legacy.issue_s, legacy.drifts) == (0.0, 1000.0, 0.0)
    assert (legacy.needed, legacy.repaired, legacy.window) == (1.0, 0.0, 0.0)
    both = metadata_only.metadata_only(course(discrepancy=0.3), counted=False)
    assert both.discrepancy == pytest.approx(math.hypot(0.3, progress_number("discrepancy.metadata")))
    seen = scan(scanned=T, issued=T, processed=5, issue_rate=7)
    told = metadata_only.of_metadata(seen)
    assert (told.issued, told.total_issue, told.issue_rate, told.processed) == (0, None, None, 0)
    old = scan(format="legacy", scanned=T)
    assert metadata_only.of_metadata(old) is old


def test_of_a_dedup_vdev_its_tables_are_copied() -> None:
    found = metadata_only.tables_only(course(drifts=1.0, discrepancy=0.3), 1e12)
    share = metadata_only.TABLES_SHARE
    assert (found.needed, found.repaired) == (share, pytest.approx(share * 1e12))
    assert found.issue_s == pytest.approx(share * 1e12 / metadata_only.TABLES_RATE)
    assert (found.visit_s, found.tail_s, found.drifts) == (1000.0, 1.0, 0.0)
    assert found.open_share == OpenShare(metadata_only.TABLES_SPREAD, 1.0)
    assert found.discrepancy == pytest.approx(math.hypot(0.3, HEALED))
