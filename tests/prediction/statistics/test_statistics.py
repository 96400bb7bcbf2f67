"""What a few runs say: levels, quantiles over worlds, windows of a long sequence, what moves the answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from zsim.case.member import Member
from zsim.case.worlds import Choice
from zsim.prediction.inputs.ensemble import NORMAL, Unknown, draw_members
from zsim.prediction.statistics.level import NOISE, OF_SIZE, SPREAD, WEIGHT, anchors, level, of_size
from zsim.prediction.statistics.response import response
from zsim.prediction.statistics.sampling import Estimate, student, whole_from_windows, window_starts
from zsim.prediction.statistics.sensitivity import drivers

RATE = Unknown("outer_rate", "drive", "name the drive", 0.3)
SEEK = Unknown("seek", "drive", "measure its seeks", 0.1)
CACHE = Unknown(
    "write_cache", "write_cache", "say whether it is on", choices=(Choice(True, 0.8), Choice(False, 0.2))
)
NONE = np.zeros(0, dtype=np.int64)


# Student's t and the level.


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 8, 14, 30, 200])
def test_student_is_that_of_tables(freedom: int) -> None:
    assert student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=3e-3)


def test_the_level_is_the_geometric_mean_of_the_ratios() -> None:
    found = level([0.5, 2.0])
    assert found.factor == pytest.approx(1.0)
    freedom = WEIGHT + 1
    variance = (WEIGHT * SPREAD**2 + 2 * math.log(2.0) ** 2) / freedom
    assert found.half_width == pytest.approx(student(freedom) * math.sqrt(variance / 2))


def test_equal_ratios_still_have_the_usual_spread() -> None:
    """Three that happen to agree do not make a level exact."""
    assert level([1.1, 1.1, 1.1]).half_width > 0.5 * SPREAD


def test_a_common_error_adds_in_quadrature() -> None:
    alone = level([1.0, 1.1]).half_width
    assert level([1.0, 1.1], 0.2).half_width == pytest.approx(math.hypot(alone, 0.2))


def test_the_error_of_the_size_grows_with_the_drift() -> None:
    assert of_size(0.0) == OF_SIZE
    assert of_size(-0.3) == of_size(0.3) > OF_SIZE


def test_worlds_that_differ_by_chance_are_taken_as_the_regression_has_them() -> None:
    expected = [100.0, 200.0, 300.0]
    noise = math.exp(0.5 * NOISE)
    found = anchors([100.0 * noise, 200.0 / noise, 300.0 * noise], expected)
    assert found == pytest.approx(expected)


def test_worlds_that_differ_by_far_more_than_chance_keep_most_of_it() -> None:
    found = anchors([200.0, 100.0], [100.0, 200.0])
    assert found[0] == pytest.approx(200.0, rel=0.02)
    assert found[0] < 200.0


# Windows.


@given(st.integers(1, 40), st.integers(0, 10), st.integers(0, 2**31))
def test_a_window_lies_in_each_part(count: int, length: int, seed: int) -> None:
    starts = window_starts(100, 100 + 50 * count, count, length, NONE, seed)
    assert len(starts) == count
    part = (starts - 100) / 50
    assert np.array_equal(np.floor(part), np.arange(count))
    assert ((starts - 100) % 50 + length <= 50).all()


def test_parts_that_hold_a_window_get_no_other() -> None:
    taken = window_starts(0, 1000, 5, 10, NONE, 1)
    more = window_starts(0, 1000, 10, 10, taken, 2)
    assert len(more) == 5
    places = np.concatenate((taken, more)) // 100
    assert sorted(places.tolist()) == list(range(10))


def test_windows_of_what_is_linear_give_the_whole_exactly() -> None:
    rng = np.random.default_rng(3)
    columns = np.column_stack((np.full(30, 100.0), rng.uniform(1, 9, 30)))
    seconds = columns @ np.array([0.02, 0.5])
    whole = np.array([100_000.0, 4_800.0])
    found = whole_from_windows(seconds, columns, whole, units=1000.0, sampled=0.03)
    assert found.total == pytest.approx(whole @ np.array([0.02, 0.5]))
    assert found.cost == pytest.approx([0.02, 0.5])
    assert found.half_width < 1e-6 * found.total


def test_a_cost_is_never_negative() -> None:
    columns = np.array([[100.0, 1.0], [100.0, 2.0], [100.0, 3.0], [100.0, 4.0]])
    found = whole_from_windows([4.0, 3.0, 2.0, 1.0], columns, np.array([1e4, 250.0]), 100.0, 0.0)
    assert (found.cost >= 0.0).all()
    assert found.cost[1] == 0.0
    assert found.total == pytest.approx(250.0)


def test_the_interval_of_windows_holds_the_truth() -> None:
    """Of 400 samples of windows about 95 % hold the mean of the sequence."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        seconds = rng.gamma(4.0, 0.25, 24)
        found = whole_from_windows(seconds, np.ones((24, 1)), np.array([1000.0]), 1000.0, 0.0)
        held += abs(found.total - 1000.0) <= found.half_width
    assert 0.90 <= held / 400 <= 0.985


def test_windows_that_share_what_happened_count_as_one() -> None:
    seconds = np.repeat(np.array([1.0, 2.0, 1.5, 0.5]), 5)
    columns, whole = np.ones((20, 1)), np.array([100.0])
    alone = whole_from_windows(seconds, columns, whole, 100.0, 0.0)
    grouped = whole_from_windows(seconds, columns, whole, 100.0, 0.0, np.repeat(np.arange(4), 5))
    assert grouped.total == pytest.approx(alone.total)
    assert grouped.half_width > 2.0 * alone.half_width
    assert grouped.freedom == 3


def test_what_is_sampled_whole_is_known() -> None:
    found = whole_from_windows([1.0, 3.0], np.ones((2, 1)), np.array([2.0]), 2.0, 1.0)
    assert (found.total, found.half_width) == (4.0, 0.0)


def test_half_an_interval_is_so_many_standard_errors() -> None:
    assert Estimate(10.0, 2.0, 3, np.zeros(1)).half_width == pytest.approx(2.0 * 3.182)


# The response to what nobody stated.


def _worlds(
    inputs: tuple[Unknown, ...], count: int = 16, seed: int = 1
) -> tuple[tuple[Member, ...], np.ndarray]:
    members = draw_members(inputs, seed, count)
    return members, np.array([member.scores for member in members])


def test_quantiles_of_a_lognormal_answer() -> None:
    """The logarithm is linear in one unknown of spread 0.4: p90/p10 is exp(2 x 1.2816 x 0.4)."""
    _, scores = _worlds((RATE,))
    found = response((RATE,), scores, np.exp(0.4 * scores[:, 0]) * 3600.0)
    assert found.p50 == pytest.approx(3600.0, rel=0.02)
    assert math.log(found.p90 / found.p10) == pytest.approx(2 * 1.2816 * 0.4, rel=0.06)
    assert found.half_width < 0.03
    assert found.expected == pytest.approx(np.exp(0.4 * scores[:, 0]) * 3600.0, rel=0.02)


def test_more_worlds_leave_less_open() -> None:
    rng = np.random.default_rng(1)
    widths = []
    for count in (16, 256):
        _, scores = _worlds((RATE, SEEK), count)
        noisy = np.exp(0.3 * scores[:, 0] + 0.2 * rng.standard_normal(count))
        widths.append(response((RATE, SEEK), scores, noisy).half_width)
    assert widths[1] < 0.5 * widths[0]


def test_a_choice_of_a_fifth_moves_the_tail_not_the_middle() -> None:
    _, scores = _worlds((CACHE,), 20)
    off = scores[:, 0] > NORMAL.inv_cdf(0.8)
    assert off.sum() == 4
    found = response((CACHE,), scores, np.where(off, 400.0, 100.0))
    assert found.p50 == pytest.approx(100.0, rel=0.1)
    assert found.p90 > 300.0


def test_where_nothing_matters_nothing_is_open() -> None:
    _, scores = _worlds((RATE,))
    found = response((RATE,), scores, [7.0] * 16)
    assert (found.p10, found.p90, found.half_width) == (pytest.approx(7.0), pytest.approx(7.0), 0.0)


def test_two_worlds_have_no_regression() -> None:
    found = response((RATE,), np.array([[-1.0], [1.0]]), [100.0, 400.0])
    assert found.p10 == found.p50 == pytest.approx(200.0)
    assert found.expected == pytest.approx([100.0, 400.0])


# What moves the answer.


def test_unknowns_are_named_by_the_field_that_settles_them() -> None:
    inputs = (RATE, SEEK, CACHE)
    members, scores = _worlds(inputs, 64)
    found = drivers(inputs, members, np.exp(scores @ np.array([0.3, 0.1, 0.2])))
    assert [each.field for each in found] == ["drive", "write_cache"]
    assert found[0].words == "name the drive", "the words of the stronger of the two"
    reach = math.exp(1.2816 * math.hypot(0.3, 0.1))
    assert found[0].high_s / found[0].low_s == pytest.approx(reach**2, rel=0.03)
    assert found[0].narrows > found[1].narrows > 0.0


def test_what_is_all_of_the_spread_takes_all_of_it() -> None:
    members, scores = _worlds((RATE,), 64)
    (only,) = drivers((RATE,), members, np.exp(0.5 * scores[:, 0]))
    assert only.narrows > 0.85


def test_what_moves_nothing_narrows_nothing() -> None:
    members, scores = _worlds((RATE, CACHE), 64)
    found = {each.field: each for each in drivers((RATE, CACHE), members, np.exp(0.5 * scores[:, 0]))}
    assert found["write_cache"].narrows < 0.01
    assert found["write_cache"].high_s / found["write_cache"].low_s < 1.1
