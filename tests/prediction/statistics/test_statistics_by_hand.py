"""Estimates and regressions of a few numbers, each worked out with a pencil."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zsim.base.constants import Z90
from zsim.case.worlds import Choice
from zsim.prediction.inputs.ensemble import Unknown, normal_strata, places_of
from zsim.prediction.statistics import level, response, sampling, sensitivity
from zsim.prediction.statistics.sampling import student, whole_from_windows

LN2 = math.log(2.0)


# Windows of a sequence.


@pytest.mark.parametrize(
    ("freedom", "table"),
    [(-1, 12.706), (0, 12.706), (1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (8, 2.306),
     (30, 2.042), (120, 1.980)],
)  # fmt: skip
def test_student_is_that_of_tables_whose_digits_it_keeps(freedom: int, table: float) -> None:
    assert student(freedom) == pytest.approx(table, rel=4e-3 if freedom == 4 else 1.5e-3)


def test_student_has_every_term_of_its_expansion() -> None:
    """Of the fourth term (z = 1.959964): 3 * 111.106 + 19 * 28.9228 + 17 * 7.52912 - 15 * z = 981.446."""
    terms = 1.959964, 9.48909 / 4, 270.960 / 96, 981.446 / 384
    assert student(4) == pytest.approx(sum(term / 4**power for power, term in enumerate(terms)), rel=1e-5)


ONES, SECONDS = np.ones((4, 1)), [1.0, 3.0, 2.0, 6.0]


def test_windows_tell_a_total_and_neighbours_its_error() -> None:
    """The mean is 3.  Rests of -2, 0, -1 and 3, over what is left without their own pull, 3/4.

    They differ by 8/3, -4/3 and 16/3 from one to the next: half the mean square is 56/9.
    """
    found = whole_from_windows(SECONDS, ONES, np.array([40.0]), 40.0, 0.1)
    assert found.total == pytest.approx(120.0)
    assert found.cost == pytest.approx([3.0])
    assert found.error == pytest.approx(40.0 * math.sqrt(0.9 * (56.0 / 9.0) / 4.0))
    assert found.freedom == 3
    assert found.half_width == pytest.approx(3.182 * found.error)


def test_groups_of_windows_are_neighbours_as_they_lie() -> None:
    """Two groups of -4/3 and 4/3: half the square of 8/3, and one degree of freedom."""
    found = whole_from_windows(SECONDS, ONES, np.array([40.0]), 40.0, 0.1, [1, 1, 0, 0])
    assert found.error == pytest.approx(40.0 * math.sqrt(0.9 * (32.0 / 9.0) / 2.0))
    assert found.freedom == 1
    alone = whole_from_windows(SECONDS, ONES, np.array([40.0]), 40.0, 0.1)
    one = whole_from_windows(SECONDS, ONES, np.array([40.0]), 40.0, 0.1, [7, 7, 7, 7])
    assert (one.error, one.freedom) == (alone.error, alone.freedom), "one group alone tells no error"
    assert sampling._by_group(np.array([1.0, 2.0, 3.0, 4.0]), np.array([5, 2, 5, 2])).tolist() == [2.0, 3.0]


def test_costs_are_of_a_unit_of_each_column() -> None:
    """Each window has 10 blocks and 1 to 4 jumps; a block takes 0.2 s, a jump 1 s."""
    columns = np.array([[10.0, 1.0], [10.0, 2.0], [10.0, 3.0], [10.0, 4.0]])
    found = whole_from_windows([3.0, 4.0, 5.0, 6.0], columns, np.array([1000.0, 500.0]), 100.0, 0.04)
    assert found.cost == pytest.approx([0.2, 1.0])
    assert found.total == pytest.approx(700.0)
    assert found.freedom == 2
    # A whole without jumps: they tell nothing, and the mean window stands for all.
    none = whole_from_windows([3.0, 4.0, 5.0, 6.0], columns, np.array([1000.0, 0.0]), 100.0, 0.04)
    assert none.total == pytest.approx(450.0)
    assert none.cost[1] == 0.0


def test_a_window_alone_pulls_everything_and_is_one_degree_of_freedom() -> None:
    found = whole_from_windows([5.0], np.ones((1, 1)), np.array([10.0]), 10.0, 0.1)
    assert (found.total, found.error, found.freedom) == (pytest.approx(50.0), 0.0, 1)
    # Two windows and two columns fit exactly; what is left over is nothing.
    exact = whole_from_windows(
        [1.0, 2.0], np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([10.0, 5.0]), 10.0, 0.2
    )
    assert exact.total == pytest.approx(15.0)
    assert exact.error == pytest.approx(0.0, abs=1e-9)
    assert exact.freedom == 1


def test_a_cost_that_would_be_negative_is_left_out_and_the_others_fitted_again() -> None:
    known = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [1.0, 2.0, 1.0], [1.0, 3.0, 0.0]])
    cost, used = sampling._costs(known, np.array([9.0, 6.0, 5.0, 2.0]))
    # 8 - 2 x + z fits exactly; without x it is the mean where z is 0, and 3 more where it is 1.
    assert used == [0, 2]
    assert cost.tolist() == pytest.approx([4.0, 0.0, 3.0])
    alike, kept = sampling._costs(np.array([[1.0, 5.0], [1.0, 5.0]]), np.array([1.0, 3.0]))
    assert kept == [0], "what all windows have as much of is no column"
    assert alike.tolist() == pytest.approx([2.0, 0.0])


def test_windows_begin_in_their_part_and_end_there() -> None:
    starts = sampling.window_starts(100, 200, 4, 25, np.zeros(0, np.int64), 3)
    assert starts.tolist() == [100, 125, 150, 175], "as long as their part, they have no choice"
    longer = sampling.window_starts(100, 200, 4, 99, np.zeros(0, np.int64), 3)
    assert longer.tolist() == [100, 125, 150, 175]
    free = sampling.window_starts(100, 200, 4, 5, np.array([130, 199]), 3)
    assert len(free) == 2
    assert 100 <= free[0] <= 120
    assert 150 <= free[1] <= 170


# Levels.


def test_what_worlds_have_beyond_the_regression_counts_as_far_as_it_is_not_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each is off by a factor of two; of the variance a quarter is chance."""
    monkeypatch.setattr(level, "NOISE", 0.5 * LN2)
    assert level.anchors([2.0, 8.0], [4.0, 4.0]) == pytest.approx([4.0 * 2.0**-0.75, 4.0 * 2.0**0.75])
    monkeypatch.setattr(level, "NOISE", 2.0 * LN2)
    assert level.anchors([2.0, 8.0], [4.0, 4.0]) == pytest.approx([4.0, 4.0])
    assert level.anchors([4.0, 4.0], [4.0, 4.0]) == pytest.approx([4.0, 4.0])


def test_an_error_of_the_median_widens_quantiles_on_their_own_side() -> None:
    own = 0.3 * 1.2815516 / 1.9599640
    wide = math.exp(math.hypot(LN2, own))
    assert level.with_sampling(2.0, 0.3) == pytest.approx(wide)
    assert level.with_sampling(0.5, 0.3) == pytest.approx(1.0 / wide)
    assert level.with_sampling(1.0, 0.3) == 1.0


# Regressions.


def test_the_middle_of_each_column_is_its_median() -> None:
    assert response._middle(np.array([[3.0, 1.0], [1.0, 9.0], [2.0, 5.0]])).tolist() == [2.0, 5.0]
    assert response._middle(np.array([[4.0], [1.0], [2.0], [8.0]])).tolist() == [3.0]
    assert response._middle(np.array([[7.0]])).tolist() == [7.0]


def test_a_kernel_on_each_member_keeps_mean_and_variance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Members at 0 to 4: standard deviation 1.4142, less than the quartiles' 2 / 1.34; five of them."""
    monkeypatch.setattr(response, "KERNEL", 0.5)
    logs = np.arange(5.0)
    found = response._smoothed(logs).reshape(5, -1)
    width, normal = 0.5 * 0.9 * math.sqrt(2.0) * 5**-0.2, normal_strata(response.KERNEL_DRAWS)
    shrunk = math.sqrt(1.0 + width**2 / 2.0)
    assert found.mean(axis=1) == pytest.approx(2.0 + (logs - 2.0) / shrunk)
    assert found[0].std() == pytest.approx(width * normal.std() / shrunk)
    assert found.var() == pytest.approx(2.0, rel=0.03)
    # Heaps: the quartiles lie at -1 and 1, less far apart than most.
    heaps = np.array([-9.0, -1.0, -1.0, 1.0, 1.0, 9.0])
    narrow = 0.5 * 0.9 * (2.0 / 1.34) * 6**-0.2
    again = response._smoothed(heaps).reshape(6, -1)
    assert again[0].std() == pytest.approx(
        narrow * normal.std() / math.sqrt(1.0 + narrow**2 / float(heaps.var()))
    )
    # Where the quartiles are alike, all of the spread is taken.
    alike = np.array([0.0, 0.0, 0.0, 0.0, 10.0])
    wide = 0.5 * 0.9 * 4.0 * 5**-0.2
    once = response._smoothed(alike).reshape(5, -1)
    assert once[0].std() == pytest.approx(wide * normal.std() / math.sqrt(1.0 + wide**2 / 16.0))


def test_how_likely_worlds_are_with_what_a_prior_lets_unknowns_explain() -> None:
    """Variances of 1 and 1 + 3; squares over them sum to 1 + 4 / 4."""
    found = response._evidence(np.array([0.0, 3.0]), np.array([1.0, 2.0]), 1.0)
    assert found == pytest.approx(-0.5 * math.log(4.0) - 0.5 * LN2)
    # What rounds to less than nothing is nothing.
    assert response._evidence(np.array([-1e-9, 3.0]), np.array([1.0, 2.0]), 1.0) == pytest.approx(found)


def test_slopes_are_drawn_towards_none_by_their_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores -1, 0 and 1, logarithms 1, 2 and 3; unknowns explain twice what is left over.

    Slope 2 / (2 + 1/2), and of the sum of squares, 2, a fifth is left for two degrees of freedom.
    """
    monkeypatch.setattr(response, "PRIORS", (2.0,))
    fit = response._fitted(np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 2.0, 3.0]))
    assert (fit.mean, fit.count) == (2.0, 3)
    assert fit.slopes == pytest.approx([0.8])
    assert fit.noise == pytest.approx(0.2)
    assert fit.root[0, 0] == pytest.approx(math.sqrt(0.2 / 2.5))


def test_the_prior_that_explains_worlds_best_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response, "PRIORS", (1e-6, 100.0))
    scores = np.linspace(-1.0, 1.0, 9)
    line = response._fitted(scores[:, None], scores)
    assert line.slopes[0] > 0.99
    uneven = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    assert abs(response._fitted(scores[:, None], uneven - uneven.mean()).slopes[0]) < 1e-4


def choice(name: str, *values: Any, **more: Any) -> Unknown:
    return Unknown(name, name, "say it", choices=tuple(Choice(value, 1.0) for value in values), **more)


def test_the_logarithm_is_linear_in_scores_values_and_what_acts_on_each_other() -> None:
    inputs = (
        Unknown("rate", "drive", "", 0.3),
        choice("write_cache", True, False),
        choice("history", "a", "b", "c"),
    )
    scores = np.array([[0.7, -1.0, 0.0], [-0.2, 1.0, 2.0]])
    found = response._features(inputs, scores)
    assert found.shape == (2, 3 + 2 + 3 + 6)
    # First write cache and second use of three; then second and third.
    assert found[0].tolist() == [0.7, -1.0, 0.0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0]
    assert found[1].tolist() == [-0.2, 1.0, 2.0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]
    assert response._features(inputs[:2], scores[:, :2]).shape == (2, 4)


def test_what_a_duration_goes_with_in_proportion_needs_no_slope() -> None:
    inputs = (choice("fill", 1.0, 4.0, proportional=True), choice("history", "a", "b"))
    found = response._proportional(inputs, np.array([[-1.0, 0.5], [1.0, 0.5]]))
    assert found.tolist() == pytest.approx([-LN2, LN2])
    assert response._proportional(inputs[1:], np.array([[0.5]])).tolist() == [0.0]


@pytest.mark.parametrize("count", [1, 2])
def test_one_or_two_worlds_tell_their_geometric_mean(count: int) -> None:
    inputs = (Unknown("rate", "drive", "", 0.3),)
    found = response.response(inputs, np.array([[-1.0], [1.0]])[:count], [100.0, 400.0][:count])
    assert (found.p10, found.p50, found.p90) == pytest.approx((100.0 * count,) * 3)
    three = response.response(inputs, np.array([[-1.0], [0.0], [1.0]]), [100.0, 200.0, 400.0])
    assert three.p10 < three.p50 < three.p90


# What moves the answer.


def members(*scores: float) -> list[Any]:
    return [SimpleNamespace(scores=(score,)) for score in scores]


def test_an_unknown_reaches_as_far_as_its_slope_and_narrows_by_what_it_explains() -> None:
    """Scores -1 and 1, logarithms too: the ridge leaves 2 / 2.5; of a variance of 1 it explains 0.64."""
    (found,) = sensitivity.drivers(
        (Unknown("rate", "drive", "name it", 0.3),), members(-1.0, 1.0), [math.exp(-1.0), math.e]
    )
    assert (found.field, found.words) == ("drive", "name it")
    assert found.low_s == pytest.approx(math.exp(-0.8 * Z90))
    assert found.high_s == pytest.approx(math.exp(0.8 * Z90))
    assert found.narrows == pytest.approx(1.0 - 0.6)
    (still,) = sensitivity.drivers(
        (Unknown("rate", "drive", "name it", 0.3),), members(-1.0, 1.0), [5.0, 5.0]
    )
    assert (still.low_s, still.high_s, still.narrows) == (pytest.approx(5.0), pytest.approx(5.0), 0.0)


def test_unknowns_that_explain_more_than_there_is_narrow_by_all() -> None:
    inputs = (Unknown("a", "drive", "weak", 0.3), Unknown("b", "drive", "strong", 0.3))
    found = sensitivity._by_field(inputs, [0.09, 0.16])
    assert found == {"drive": pytest.approx(0.25)}
    assert sensitivity._words(inputs, [0.09, 0.16], "drive") == "strong"
    assert sensitivity._driver("drive", 100.0, 0.25, 0.2, "w").narrows == 1.0
    assert sensitivity._driver("drive", 100.0, 0.0, 0.0, "w").narrows == 0.0


def test_the_records_of_uses_explain_part_of_what_uses_do() -> None:
    """Scores -1, 0 and 1 beside records 1, 1 and 4: a correlation of 3 / sqrt(12)."""
    inputs = (choice("history", "a", "b", "c"),)
    given = members(-1.0, 0.0, 1.0)
    times = [math.exp(each.scores[0]) for each in given]
    found = {each.field: each for each in sensitivity.drivers(inputs, given, times, [1.0, 1.0, 4.0])}
    assert set(found) == {"history", "recordsize"}
    reach = math.log(found["history"].high_s)
    assert math.log(found["recordsize"].high_s) == pytest.approx(reach * math.sqrt(0.75))
    assert found["recordsize"].words == sensitivity.RECORD_WORDS
    alike = {each.field: each for each in sensitivity.drivers(inputs, given, times, [2.0, 2.0, 2.0])}
    assert alike["recordsize"].low_s == alike["recordsize"].high_s
    other = sensitivity.drivers((choice("load", 1.0, 2.0),), given, times, [1.0, 1.0, 4.0])
    assert [each.field for each in other] == ["load"]


@pytest.mark.parametrize("count", [1, 2, 3, 17, 300])
def test_quantiles_are_those_of_numpy_to_the_bit(count: int) -> None:
    values = np.random.default_rng(count).normal(size=count) * 1e5
    shares = (0.0, 0.1, 0.25, 0.5, 0.9, 1.0 / 3.0, 1.0)
    assert sampling.quantiles(values, shares).tolist() == np.quantile(values, shares).tolist()
    assert sampling.median(values) == np.median(values)


def test_of_many_worlds_the_means_of_groups_tell_what_an_unknown_does_alone() -> None:
    """A choice that one world in four makes, and a rate: variances of 3 / 16 and 1 of their squares."""
    load = Unknown("load", "load", "say it", choices=(Choice(0.0, 0.75), Choice(1.0, 0.25)))
    inputs = (load, Unknown("rate", "drive", "name it", 0.3))
    strata = normal_strata(512)
    generator = np.random.default_rng(3)
    scores = np.stack([generator.permutation(strata), generator.permutation(strata)], axis=1)
    busy = places_of(inputs[0], scores[:, 0])
    times = np.exp(5.0 + 0.8 * busy + 0.2 * scores[:, 1])
    found = {each.field: each for each in sensitivity.drivers_of_draws(inputs, scores, times)}
    middle = 5.0 + 0.8 / 4.0
    reach = Z90 * 0.8 * math.sqrt(3.0 / 16.0)
    assert math.log(found["load"].low_s) == pytest.approx(middle - reach, abs=0.01)
    assert math.log(found["load"].high_s) == pytest.approx(middle + reach, abs=0.01)
    of_rate = math.log(found["drive"].high_s / found["drive"].low_s) / 2.0
    assert of_rate == pytest.approx(Z90 * 0.2, rel=0.1), "steps of 16 parts, not the line itself"
    whole = 0.64 * 3.0 / 16.0 + 0.04
    assert found["load"].narrows == pytest.approx(1.0 - math.sqrt(0.04 / whole), abs=0.03)


def test_what_goes_up_and_down_again_is_told_though_no_line_shows_it() -> None:
    scores = normal_strata(1024)[:, None]
    (found,) = sensitivity.drivers_of_draws(
        (Unknown("rate", "drive", "name it", 0.3),), scores, np.exp(np.abs(scores[:, 0]))
    )
    assert found.narrows > 0.7


def test_groups_that_differ_through_chance_alone_are_told_as_nothing() -> None:
    chance = np.random.default_rng(1)
    inputs = (Unknown("rate", "drive", "name it", 0.3), choice("load", 0.0, 1.0))
    strata = normal_strata(2048)
    scores = np.stack([chance.permutation(strata), chance.permutation(strata)], axis=1)
    found = sensitivity.drivers_of_draws(inputs, scores, np.exp(chance.normal(size=2048)))
    assert max(each.narrows for each in found) < 0.01


def test_records_of_drawn_uses_explain_what_goes_with_their_logarithm() -> None:
    """Means 0, 1 and 2 of three uses beside records 3, 4 and 5: all of it; beside 3, 5 and 3: nothing."""
    inputs = (choice("history", "a", "b", "c"),)
    scores = normal_strata(300)[:, None]
    use = places_of(inputs[0], scores[:, 0])
    for sizes, share in (((3.0, 4.0, 5.0), 1.0), ((3.0, 5.0, 3.0), 0.0)):
        records = [sizes[each] for each in use.tolist()]
        found = {
            each.field: each
            for each in sensitivity.drivers_of_draws(inputs, scores, np.exp(use.astype(float)), records)
        }
        reach = math.log(found["history"].high_s / found["history"].low_s)
        assert math.log(found["recordsize"].high_s / found["recordsize"].low_s) == pytest.approx(
            math.sqrt(share) * reach, abs=1e-6
        )
