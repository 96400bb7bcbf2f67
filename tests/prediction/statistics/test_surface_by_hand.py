"""What other scenarios taught, what was simulated in words, and what sick drives cost, by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.prediction.samples import disks as case
from zsim.case.worlds import USES, Choice
from zsim.prediction import simulated
from zsim.prediction.inputs import points
from zsim.prediction.inputs.bad_sectors import recovery
from zsim.prediction.inputs.ensemble import Unknown, draw_members, normal_strata, unknowns
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.runs import sick_drives
from zsim.prediction.statistics import drawn_worlds, slopes, surface
from zsim.prediction.statistics.sampling import student
from zsim.prediction.statistics.slopes import BY_USE, OVERALL, SMALL, TILE, Runs, SlopePrior, smallness
from zsim.prediction.statistics.surface import BEYOND, COST, NEAR, RanWorld, ResponseSurface, runs_of

HOUR = 3600.0


# Sizes of populations.


def test_a_population_is_as_small_as_it_has_too_long_durations() -> None:
    blocks = np.array([float(SMALL), float(TILE), 4.0 * TILE])
    found = smallness(blocks, 0.5)
    assert found[:2] == pytest.approx([1.0, 0.0])
    least = math.sqrt(SMALL / TILE)
    assert found[2] == pytest.approx((least / 2.0 - least) / (1.0 - least))
    middle = float(smallness(np.array([2.0 * SMALL]), 1.0)[0])
    share = SMALL / TILE
    assert middle == pytest.approx((0.5 - share) / (1.0 - share))


def test_columns_are_of_each_use_then_of_all() -> None:
    names = {name for each in (*BY_USE, *OVERALL) for name in each.split("*")} - {"1", "short", "bend"}
    at = {name: np.array([2.0, 3.0]) for name in names} | {"use": np.array([1, 0])}
    found = slopes.design(at, np.array([float(SMALL), float(TILE)]))
    uses = len(USES)
    assert found.shape == (2, len(BY_USE) * uses + len(OVERALL))
    level = found[:, :uses]
    assert (level[0, 1], level[1, 0], level.sum()) == (1.0, 1.0, 2.0)
    churn = found[:, BY_USE.index("churn") * uses :][:, :uses]
    assert (churn[0, 1], churn[1, 0]) == (2.0, 3.0)
    short = found[:, BY_USE.index("churn*short") * uses :][:, :uses]
    assert (short[0, 1], short[1, 0]) == pytest.approx((2.0, 0.0))
    cubed = found[:, len(BY_USE) * uses + OVERALL.index("churn*churn*churn")]
    assert cubed.tolist() == [8.0, 27.0]
    bend = found[:, BY_USE.index("bend") * uses :][:, :uses]
    assert bend == pytest.approx(np.zeros((2, uses)), abs=1e-12), "none at either end"


def test_two_uses_have_in_common_what_all_share() -> None:
    own, alike = [float(k + 1) for k in range(len(BY_USE))], [0.5] * len(BY_USE)
    overall = [9.0 + k for k in range(len(OVERALL))]
    found = slopes.slope_covariance(alike, own, overall)
    uses = len(USES)
    assert (found[0, 0], found[0, 1], found[0, uses]) == (1.5, 0.5, 0.0)
    assert (found[uses, uses], found[uses, uses + 1]) == (2.5, 0.5)
    assert np.diag(found)[-len(OVERALL) :].tolist() == overall
    assert found[-1, -2] == 0.0


def test_a_level_of_which_nothing_is_known_is_the_mean_that_runs_give() -> None:
    """Three runs, variances of 1, 1 and 2: they count 0.4, 0.4 and 0.2, and leave 0.4 of it.  A fourth that
    shares 0.5 with the first leaves ``1 - 0.5 P 0.5 + 0.4 - 2 * 0.5 * 0.4``, where ``P = 1 - 0.4``."""
    found = slopes.with_open_level(np.diag([1.0, 1.0, 2.0]))
    assert found.shares == pytest.approx([0.4, 0.4, 0.2])
    assert found.variance == pytest.approx(0.4)
    assert found.inverse[0] == pytest.approx([0.6, -0.4, -0.2])
    assert found.inverse.sum(axis=1) == pytest.approx(np.zeros(3), abs=1e-15)
    across = np.array([[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
    left = found.left(np.eye(2), across)
    assert left[0, 0] == pytest.approx(1.0 - 0.25 * 0.6 + 0.4 - 2.0 * 0.5 * 0.4)
    assert (left[1, 1], left[0, 1]) == pytest.approx((1.4, 0.4 - 0.5 * 0.4))
    alone = slopes.with_open_level(np.array([[3.0]]))
    assert (alone.inverse[0, 0], alone.shares[0], alone.variance) == (0.0, 1.0, 3.0)


def test_runs_in_another_order_tell_the_same_to_twelve_digits() -> None:
    """As with another library, whose inverse has other last bits; a level of variance 400 left four."""
    one = case()
    unknown = unknowns(one)
    members = draw_members(unknown, 3, 16)
    chance = np.random.default_rng(5)
    ran = [RanWorld(each.scores, SMALL, 1e5 * math.exp(chance.normal(0.0, 0.5))) for each in members]
    ran += [each._replace(blocks=2 * SMALL, time_s=1.1 * each.time_s) for each in ran[:3]]
    made = ResponseSurface(one, unknown)
    told = made.estimate(runs_of(ran))
    for order in (ran[::-1], [*ran[7:], *ran[:7]]):
        again = made.estimate(runs_of(order))
        assert again.quantiles == pytest.approx(told.quantiles, rel=1e-12)
        assert again.half_width == pytest.approx(told.half_width, rel=1e-12)
    # And in other units: the level alone moves.
    hours = made.estimate(runs_of([each._replace(time_s=each.time_s / HOUR) for each in ran]))
    assert [each * HOUR for each in hours.quantiles] == pytest.approx(told.quantiles, rel=1e-12)
    assert hours.half_width == pytest.approx(told.half_width, rel=1e-12)


NOISE = (0.04, 0.01, 0.002, 0.008)
PRIOR = SlopePrior(np.zeros(1), np.eye(1) * 0.25, *NOISE, np.array([1.0, 4.0]), 5.0, np.zeros(8))


def test_runs_of_one_world_share_what_it_has_of_its_own() -> None:
    """A small run and one on a tile: 0.04 in common, 0.01 more of two small ones; times the use's factor."""
    runs = Runs(np.array([0, 0, 1, 0]), np.array([0, 0, 0, 1]), np.array([SMALL, TILE, SMALL, SMALL], float))
    found = PRIOR.of_worlds(runs, runs)
    assert (found[0, 0], found[0, 1], found[0, 2]) == pytest.approx((0.05, 0.04, 0.0))
    assert (found[0, 3], found[3, 3]) == pytest.approx((2.0 * 0.05, 4.0 * 0.05))
    chance = PRIOR.of_chance(np.array([0, 0, 1]), np.array([SMALL, 2.0 * SMALL, SMALL]))
    assert chance == pytest.approx([0.01, 0.006, 0.04])
    whole = PRIOR.own(np.array([0, 1]), np.array([SMALL, SMALL], float))
    assert whole == pytest.approx([0.06, 0.24])
    # What a world has of its own goes with the square of how small its population is, chance with its blocks.
    least = (SMALL / TILE) ** slopes.CURVE
    small = (0.5**slopes.CURVE - least) / (1.0 - least)
    middle = PRIOR.own(np.array([1]), np.array([2.0 * SMALL]))
    assert middle == pytest.approx([4.0 * (0.04 + 0.01 * small * small + 0.002 + 0.008 / 2.0)])
    rows = np.array([[1.0], [2.0]])
    between = PRIOR.between(rows, rows)
    assert between == pytest.approx(np.array([[0.25, 0.5], [0.5, 1.0]]))
    assert PRIOR.across(rows, rows, np.array([3.0, 1.0])) == pytest.approx(
        PRIOR.between(rows, rows) @ np.array([3.0, 1.0])
    )
    two = Runs(np.array([0, 1]), np.array([0, 0]), np.array([SMALL, SMALL], float))
    every = PRIOR.of_runs(rows, two, np.ones(2))
    assert every == pytest.approx(np.array([[0.31, 0.5], [0.5, 1.06]]))
    # A world that counts a quarter has four times the variance beyond the slopes.
    every = PRIOR.of_runs(rows, two, np.array([0.25, 1.0]))
    assert every == pytest.approx(np.array([[0.25 + 4.0 * 0.06, 0.5], [0.5, 1.06]]))


def test_a_world_unlike_the_rest_counts_little() -> None:
    """One of six lies far off: it counts next to nothing, the others more than a normal world does."""
    rows = np.zeros((7, 1))
    ran = Runs(np.array([0, 1, 2, 3, 4, 5, 5]), np.zeros(7, dtype=int), np.full(7, float(SMALL)))
    away = np.array([0.0, 0.1, -0.1, 0.05, -0.05, 5.0, 5.1])
    found = PRIOR.weights(rows, ran, away)
    assert found[5] == found[6] < 0.02
    assert found[:5].min() > 1.0
    middle = float(away @ slopes.with_open_level(PRIOR.of_runs(rows, ran, found)).shares)
    assert abs(middle) < 0.05, "of the five that are alike"
    alone = Runs(np.zeros(2, dtype=int), np.zeros(2, dtype=int), np.full(2, float(SMALL)))
    assert PRIOR.weights(rows[:2], alone, away[5:]).tolist() == [1.0, 1.0], "unlike none"


def test_a_step_of_weighing_is_that_of_expectation_and_maximisation() -> None:
    """Two worlds of variance 0.06 about a level that is open, two apart: each lies 1 beyond it, and half of a
    variance of 0.06 is left open, so that ``d = (1**2 + 0.06 / 2) / 0.06``."""
    ran = Runs(np.array([0, 1]), np.zeros(2, dtype=int), np.full(2, float(SMALL)))
    found = PRIOR.weights(np.zeros((2, 1)), ran, np.array([-1.0, 1.0]), np.ones(2))
    beyond = (1.0 + 0.06 / 2.0) / 0.06
    assert found == pytest.approx([(slopes.FREEDOM + 1.0) / (slopes.FREEDOM + beyond)] * 2, rel=1e-3)


@pytest.mark.parametrize(("begin", "left"), [(1.0, 0.5), (0.25, 2.0)])
def test_runs_of_a_world_are_weighed_together(begin: float, left: float) -> None:
    """Two runs of each of two worlds, covariance ((0.06, 0.05), (0.05, 0.06)), a level that is open: they lie
    (1, 1) beyond it, which is ``2 / 0.11``, and half of each world's own, over its weight, is left open."""
    ran = Runs(np.array([7, 3, 7, 3]), np.zeros(4, dtype=int), np.full(4, float(SMALL)))
    given = np.full(4, begin)
    found = PRIOR.weights(np.zeros((4, 1)), ran, np.array([-1.0, 1.0, -1.0, 1.0]), given)
    expected = (slopes.FREEDOM + 2.0) / (slopes.FREEDOM + 2.0 / 0.11 + left)
    assert found == pytest.approx([expected] * 4, rel=1e-3)
    assert given.tolist() == [begin] * 4


def test_worlds_are_weighed_anew_with_what_their_weights_tell_of_the_rest() -> None:
    """As many steps as stated, the first from worlds that all count alike."""
    rows, away = np.zeros((4, 1)), np.array([0.0, 0.1, -0.1, 3.0])
    ran = Runs(np.arange(4), np.zeros(4, dtype=int), np.full(4, float(SMALL)))
    step = np.ones(4)
    for _ in range(slopes.WEIGHINGS):
        before, step = step, PRIOR.weights(rows, ran, away, step)
    found = PRIOR.weights(rows, ran, away)
    assert found == pytest.approx(step, rel=1e-12)
    assert abs(found[3] / before[3] - 1.0) > 1e-9, "one step less is another answer"


def test_covariances_between_worlds_that_count_little_grow_with_the_roots_of_their_weights() -> None:
    given = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = slopes.as_weighed(given, np.array([1.0, 0.25]), np.array([0.01, 1.0]))
    assert found == pytest.approx(np.array([[10.0, 2.0], [60.0, 8.0]]))


def test_the_bend_is_what_falls_slowly_less_what_falls_fast() -> None:
    """Half way to a tile, by ratio, each power falls to the root of what is left."""
    names = {name for each in (*BY_USE, *OVERALL) for name in each.split("*")} - {"1", "short", "bend"}
    at = dict.fromkeys(names, np.ones(1)) | {"use": np.array([2])}
    found = slopes.design(at, np.array([math.sqrt(SMALL * TILE)]))
    place = BY_USE.index("bend") * len(USES) + 2

    def at_mean(power: float) -> float:
        left = (SMALL / TILE) ** (power / 2.0)
        return left / (1.0 + left)  # (left - left**2) / (1 - left**2)

    flat, steep = slopes.BENDS
    assert found[0, place] == pytest.approx(at_mean(flat) - at_mean(steep))
    assert found[0, BY_USE.index("short") * len(USES) + 2] == pytest.approx(at_mean(slopes.CURVE))


@pytest.mark.parametrize(
    ("legacy", "unsure", "level", "of_use"),
    [(0.0, 1.1, 2.0, 1.0), (1.0, 1.0 + 0.1 + 0.3 + 2 * 0.05, 2.5, 4.0)],
)
def test_a_kind_of_which_little_is_known_leaves_more_open(
    monkeypatch: pytest.MonkeyPatch, legacy: float, unsure: float, level: float, of_use: float
) -> None:
    """Variances times ``1 + kind @ leverage @ kind``; slopes and variances are those of its class."""
    columns, uses = len(BY_USE), len(USES)
    count = columns * uses + len(OVERALL)
    stored = {
        "kinds": ["any", "legacy"], "mean": [[2.0, 0.5]] * count, "leverage": [[0.1, 0.05], [0.05, 0.3]],
        "alike": {"sorted": [0.5] * columns, "legacy": [0.25] * columns},
        "own": {"sorted": [1.0] * columns, "legacy": [2.0] * columns},
        "overall": {"sorted": [3.0] * len(OVERALL), "legacy": [7.0] * len(OVERALL)},
        "of_use": {"sorted": [1.0] * uses, "legacy": [4.0] * uses},
        "of_memory": [0.0] * uses,
        "lack": 0.1, "drift": 0.2, "chance": 0.3, "of_size": 0.4, "weight": 5.0,
    }  # fmt: skip
    monkeypatch.setattr(slopes, "_stored", lambda: stored)
    found = slopes.prior({"any": 1.0, "legacy": legacy})
    assert found.slopes == pytest.approx([level] * count)
    shared, own, overall = (0.25, 2.0, 7.0) if legacy else (0.5, 1.0, 3.0)
    assert found.covariance[0, 0] == pytest.approx(unsure * (shared + own))
    assert found.covariance[0, 1] == pytest.approx(unsure * shared)
    assert found.covariance[-1, -1] == pytest.approx(unsure * overall)
    assert (found.lack, found.drift, found.chance, found.of_size, found.weight) == (0.1, 0.2, 0.3, 0.4, 5.0)
    assert found.of_use.tolist() == [of_use] * uses


def test_a_pool_known_by_its_list_of_blocks_was_not_learned() -> None:
    def known(**fields: Any) -> bool:
        stated = {"slow": None, "block_list": None}
        scenario = SimpleNamespace(**(stated | fields))
        one: Any = SimpleNamespace(scenario=scenario, operation="scrub", second_at=None, load=(), timed=())
        return slopes.is_learned(one)

    assert known()
    assert not known(block_list="blocks.csv")


def test_parts_of_a_t_of_four_degrees_of_freedom() -> None:
    """Its quantiles from a table: 97.5 % at 2.776, 90 % at 1.533, 75 % at 0.741."""
    found = surface.t_strata(20_000)
    shares = (np.arange(20_000) + 0.5) / 20_000
    assert np.interp([0.5, 0.75, 0.9, 0.975, 0.025], shares, found) == pytest.approx(
        [0.0, 0.741, 1.533, 2.776, -2.776], abs=1e-3
    )
    assert found == pytest.approx(-found[::-1])


def test_worlds_about_a_quantile_weigh_alike() -> None:
    values = np.arange(100.0)[::-1]
    found = surface._near(values, 0.5)
    here = np.flatnonzero(found)
    assert sorted(values[here].tolist()) == [
        float(k) for k in range(round(50 - 100 * NEAR), round(50 + 100 * NEAR))
    ]
    assert found[here] == pytest.approx(1.0 / len(here))
    low, high = surface._near(values, 0.1), surface._near(values, 0.999)
    assert values[np.argmax(low)] <= 100 * (0.1 + NEAR)
    assert low.sum() == pytest.approx(1.0)
    assert high[np.argmax(values)] > 0.0
    assert surface._near(np.zeros(1), 0.9).tolist() == [1.0]
    assert surface._near(np.array([2.0, 1.0]), 0.1).tolist() == [0.0, 1.0], "one at least, and no more"


def test_runs_of_the_same_scores_are_of_the_same_world() -> None:
    scores = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
    found = surface._worlds(scores)
    assert found[0] == found[2] != found[1]
    assert surface._worlds(np.zeros((3, 0))).tolist() == [0, 0, 0]


def test_where_nothing_is_unknown_runs_are_averaged_as_their_chance_allows() -> None:
    """Two tiles of one world: their mean; known to their chance over two, its scale by what they scatter."""
    one = case(history="home-nas", recordsize="128K", write_cache=True, ashift=12, load="none")
    made = ResponseSurface(one, (), TILE)
    times = [10_000.0, 12_000.0]
    found = made.estimate(runs_of([RanWorld((), TILE, time) for time in times]))
    assert found.quantiles[1] == pytest.approx(math.sqrt(times[0] * times[1]), rel=1e-9)
    chance = float(made.prior.of_chance(made.use[:1], np.array([float(TILE)]))[0])
    apart = math.log(times[1] / times[0])
    freedom = made.prior.weight + 1
    scale = (made.prior.weight + apart**2 / 2.0 / chance) / freedom
    expected = BEYOND["sorted"] * student(round(freedom)) * math.sqrt(scale * chance / 2.0)
    assert found.half_width == pytest.approx(expected, rel=1e-9)
    assert found.expected == pytest.approx([found.quantiles[1]] * 2, rel=1e-9)


def test_what_runs_tell_where_the_slopes_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """One world on a tile as long as expected, one on a small population longer by half of e, which counts so
    much that it has four times the variance of the first: the level is a tenth, of the rest the first has
    -0.1 and the second 0.4, of which a world's own share is ``lack / (lack + ...)``."""
    one = case(history="home-nas", recordsize="128K", write_cache=True, ashift=12, load="none")
    made = ResponseSurface(one, [Unknown("seek", "drive", "", 0.3)], TILE)
    short, log = 0.3, math.log(one.alloc)
    known = np.zeros_like(made.slopes)
    uses = len(USES)
    known[BY_USE.index("short") * uses : (BY_USE.index("short") + 1) * uses] = short
    nothing = np.zeros_like(made.prior.covariance)
    made.slopes = known
    made.prior = replace(PRIOR, slopes=known, covariance=nothing, of_use=np.ones(uses))
    chance = 0.002 + 0.008 * SMALL / TILE
    first, second = 0.04 + chance, 4.0 * (0.04 + chance)
    counts = 0.06 / second
    monkeypatch.setattr(SlopePrior, "weights", lambda *given: np.array([1.0, counts]))
    ran = [RanWorld((-1.0,), TILE, math.exp(log)), RanWorld((1.0,), SMALL, math.exp(log + short + 0.5))]
    found = made.estimate(runs_of(ran))
    scale = (5.0 + 0.1**2 / first + 0.4**2 / second) / 6.0
    left = math.sqrt(scale * first)
    # 90 % of a t of four degrees of freedom lie below 1.533.
    expected = [0.1 - 1.533 * left, 0.1, 0.1 + 1.533 * left]
    assert np.log(found.quantiles) - log == pytest.approx(expected, abs=1e-3)
    assert math.log(found.small_s) - log == pytest.approx(0.1 + short, abs=1e-3)
    error = math.sqrt(scale / (1.0 / first + 1.0 / second))
    assert found.half_width == pytest.approx(BEYOND["sorted"] * student(6) * error, rel=1e-3)
    assert np.log(found.expected) - log == pytest.approx([0.1, 0.1], abs=1e-3)
    own = [0.1 - 0.1 * 0.04 / first, 0.1 + 0.4 * 0.04 / 0.06]
    assert np.log(found.own) - log == pytest.approx(own, abs=1e-3)


USUAL = {"history": "home-nas", "recordsize": "128K", "write_cache": True, "ashift": 12, "load": "none"}


def known_surface(names: dict[str, float], variances: dict[str, float], **prior: Any) -> ResponseSurface:
    """Return a surface over `names` (a score is half of e) with their slopes, of which some are open."""
    made = ResponseSurface(case(**USUAL), [Unknown(name, "drive", "", 0.5) for name in names], TILE)
    uses = len(USES)
    known, covariance = np.zeros_like(made.slopes), np.zeros(len(made.slopes))
    for name, slope in names.items():
        known[BY_USE.index(name) * uses :][:uses] = slope
    for name, variance in variances.items():
        covariance[BY_USE.index(name) * uses :][:uses] = variance
    stated = {"lack": 0.0, "drift": 0.0, "chance": 0.01, "of_size": 0.0, "of_use": np.ones(uses)} | prior
    made.slopes, made.prior = known, replace(PRIOR, slopes=known, covariance=np.diag(covariance), **stated)
    return made


def test_what_is_open_in_the_median_is_that_of_the_worlds_about_it() -> None:
    """Seeks decide, and nothing was learned of them: at the median, where they are as usual, only the level
    is open, which four runs of the same length leave to their chance over four."""
    made = known_surface({"seek": 4.0}, {"seek": 100.0})
    found = made.estimate(runs_of([RanWorld((0.0,), TILE, made.case.alloc)] * 4))
    scale = 5.0 / 8.0
    expected = BEYOND["sorted"] * student(8) * math.sqrt(scale * 0.01 / 4.0)
    assert found.half_width == pytest.approx(expected, rel=1e-2)
    # And the ends of the range are those of their worlds: e to the fourth for each half of e of a seek.
    assert math.log(found.quantiles[2] / found.quantiles[1]) == pytest.approx(4.0 * 0.5 * 1.2816, rel=0.02)


def test_a_world_that_counts_little_tells_little_if_it_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two worlds were run of which one counts a hundredth: its chance is a hundred times the other's."""
    made = known_surface({"seek": 0.0}, {})
    monkeypatch.setattr(SlopePrior, "weights", lambda *given: np.array([0.01, 1.0]))
    ran = runs_of([RanWorld((-1.0,), TILE, 1e5), RanWorld((1.0,), TILE, 1e5)])
    made.estimate(ran)
    for again in (ran.scores, ran.scores[::-1]):
        [chosen] = made.most_telling(ran, again, (TILE,), TILE + COST, np.ones(2))
        assert chosen == ((1.0,), TILE)


def test_a_run_that_clients_move_much_counts_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two runs of a world the mean is by their variances: 0.01 of chance, and 0.03 of clients beside."""
    made = known_surface({"seek": 0.0}, {}, chance=0.01)
    monkeypatch.setattr(SlopePrior, "weights", lambda *given: np.ones(2))
    made.prior = replace(made.prior, lack=0.0, drift=0.0)
    logs = math.log(1e5), math.log(1e5) + 0.4
    found = made.estimate(
        runs_of([RanWorld((0.0,), TILE, math.exp(logs[0])), RanWorld((0.0,), TILE, math.exp(logs[1]), 0.03)])
    )
    assert math.log(found.expected[0]) == pytest.approx(logs[0] + 0.4 * 0.01 / (0.01 + 0.04))


def test_clients_move_larger_populations_less_and_worlds_without_a_load_not_at_all() -> None:
    known = runs_of([RanWorld((0.0,), SMALL, 1e5, 0.02), RanWorld((0.0,), TILE, 1e5, 0.0)])
    blocks = np.array([SMALL, TILE, SMALL, 4 * SMALL, SMALL], float)
    found = surface._of_clients(known, np.array([1.0, 0.0, 1.0, 1.0, 0.0]), blocks)
    assert found == pytest.approx([0.02, 0.0, 0.02, 0.005, 0.0])
    idle = runs_of([RanWorld((0.0,), SMALL, 1e5), RanWorld((0.0,), TILE, 1e5)])
    assert not surface._of_clients(idle, np.ones(5), blocks).any()


def test_what_is_left_is_spent_to_the_last_block() -> None:
    """Chance falls with the blocks, so that large populations tell more a block; there is room for one."""
    made = known_surface({"seek": 0.0}, {}, chance=0.0, of_size=0.01)
    ran = runs_of([RanWorld((0.0,), TILE, 1e5)] * 20)
    made.estimate(ran)
    budget = TILE + SMALL + 2 * COST
    both = made.most_telling(ran, np.zeros((1, 1)), (SMALL, TILE), budget, np.ones(1))
    assert [each.blocks for each in both] == [TILE, SMALL]
    less = made.most_telling(ran, np.zeros((1, 1)), (SMALL, TILE), budget - 1, np.ones(1))
    assert [each.blocks for each in less] == [TILE]


def test_each_quantile_counts_by_the_share_of_its_variance_that_is_taken() -> None:
    """A seek is open by 0.04, an outer rate by 2: a world that differs from the usual by half of e in the one
    takes ``0.01 / (0.01 + 0.005)`` of it, by 0.05 in the other ``0.005 / (0.005 + 0.005)``: less, of more."""
    made = known_surface({"seek": 0.0, "outer_rate": 0.0}, {"seek": 0.04, "outer_rate": 2.0}, chance=0.005)
    ran = runs_of([RanWorld((0.0, 0.0), TILE, 1e5)] * 50)
    made.estimate(ran)
    open_ = np.zeros((3, len(made.slopes)))
    for row, name in ((0, "seek"), (2, "outer_rate")):
        open_[row, BY_USE.index(name) * len(USES) + int(made.use[0])] = 1.0
    made.whole, made._about = open_, np.eye(3)
    worlds = np.array([[0.0, 0.1], [1.0, 0.0]])
    [chosen] = made.most_telling(ran, worlds, (TILE,), TILE + COST, np.ones(2))
    assert chosen.scores == (1.0, 0.0)
    [other] = made.most_telling(ran, worlds * 1.5, (TILE,), TILE + COST, np.ones(2))
    assert other.scores == (1.5, 0.0)


def test_worlds_drawn_are_the_same_every_time_and_of_every_stratum_once() -> None:
    assert drawn_worlds.draws(0).shape == (1, 0)
    found = drawn_worlds.draws(2)
    assert found.shape == (drawn_worlds.DRAWN, 2)
    assert not found.flags.writeable
    assert np.sort(found, axis=0) == pytest.approx(np.stack([normal_strata(drawn_worlds.DRAWN)] * 2, axis=1))
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.1, "each unknown is shuffled for itself"
    again = drawn_worlds.draws.__wrapped__(2)
    assert np.array_equal(again, found)
    mixed = surface._shuffled(drawn_worlds.DRAWN)
    assert np.sort(mixed) == pytest.approx(surface.t_strata(drawn_worlds.DRAWN))
    assert np.abs(np.corrcoef(np.column_stack((mixed, found)).T)[0, 1:]).max() < 0.1


def test_only_operations_that_were_learned_and_do_not_change_on_the_way_are_known() -> None:
    assert slopes.is_learned(case())
    assert slopes.is_learned(case(operation="scrub"))
    assert slopes.is_learned(case(slow=["3:x2"]))
    assert not slopes.is_learned(case(slow=["3:x2,on=1h,off=2h"]))
    assert not slopes.is_learned(case(layout="raidz1x4", operation="expand", release="openzfs-2.3"))
    hourly = {"kind": "random-read", "rate": 10, "size": "128K", "hours": "mon-fri 08:00-18:00"}
    assert not slopes.is_learned(case(load=[hourly], begins="monday 06:00"))
    assert (slopes.class_of({"legacy": 0.0}), slopes.class_of({"legacy": 1.0})) == ("sorted", "legacy")


# Where worlds lie.


def test_columns_of_worlds_are_counted_from_the_usual() -> None:
    one = case(fill=0.5)
    cache = Unknown("write_cache", "write_cache", "", choices=(Choice(True, 0.5), Choice(False, 0.5)))
    seek = Unknown("seek", "drive", "", 0.3)
    found = points.points(one, [cache, seek], np.array([[-1.0, 2.0], [1.0, -1.0]]))
    assert found["cache_off"].tolist() == [0.0, 1.0]
    assert found["seek"] == pytest.approx([0.6, -0.3])
    assert found["outer_rate"].tolist() == [0.0, 0.0]
    assert found["fill"] == pytest.approx([0.5 - points.USUAL_FILL] * 2)
    assert found["size"] == pytest.approx([math.log(4e12 / points.USUAL_SIZE)] * 2)
    assert found["data"] == pytest.approx([math.log(one.alloc)] * 2)
    sizes = Unknown("drive_size", "drive_size", "", choices=(Choice(4e12, 0.5), Choice(8e12, 0.5)))
    scores = np.array([[-1.0], [1.0]])
    grown = points.points(one, [sizes], scores)
    assert np.diff(grown["data"]) == pytest.approx([math.log(2.0)])
    assert np.diff(grown["fill"]) == pytest.approx([0.0])
    kept = points.points(case(alloc="12T", fill=None), [sizes], scores)
    assert np.diff(kept["data"]) == pytest.approx([0.0])
    assert (kept["fill"][1] + points.USUAL_FILL) / (kept["fill"][0] + points.USUAL_FILL) == pytest.approx(0.5)
    busy = points.points(
        case(load=[{"kind": "random-read", "rate": 60, "size": "128K"}]), [], np.zeros((1, 0))
    )
    assert busy["load"] == pytest.approx([math.log(11.0)])


@pytest.mark.parametrize(
    ("column", "unknown", "choices", "shown"),
    [
        ("shingling", "shingling", (0.5, 2.0), (-math.log(2.0), math.log(2.0))),
        ("large_sectors", "ashift", (9, 12), (0.0, 1.0)),
        ("slower_class", "drive", ("generic-7200rpm-cmr", points.SLOWER_CLASS), (0.0, 1.0)),
        ("load", "load", (0.0, 9.0), (0.0, math.log(10.0))),
    ],
)
def test_what_is_chosen_for_a_world_is_counted_from_the_usual(
    column: str, unknown: str, choices: tuple[Any, Any], shown: tuple[float, float]
) -> None:
    one = case(load="none")
    drawn = Unknown(unknown, "", "", choices=tuple(Choice(each, 0.5) for each in choices))
    assert points.points(one, [drawn], np.array([[-1.0], [1.0]]))[column] == pytest.approx(shown)
    assert points.points(one, [], np.zeros((1, 0)))[column].tolist() == [0.0]


def test_clients_without_a_rate_are_no_reads_a_second() -> None:
    one = case(load="none")
    busy: Any = replace(one, load=(SimpleNamespace(rate=None), SimpleNamespace(rate=18.0)))
    found = points.points(busy, [], np.zeros((1, 0)))
    assert found["load"] == pytest.approx([math.log(1.0 + 18.0 / 6.0)])


def test_what_tells_scenarios_apart_is_nothing_in_the_usual_one() -> None:
    kind = points.kind_of_scenario(case(recordsize="128K"))
    assert (kind["any"], kind["legacy"], kind["scrub"], kind["vdevs"]) == (1.0, 0.0, 0.0, 0.0)
    assert kind["columns"] == pytest.approx(math.log2(4) / 2.0 - 0.7)
    assert kind["parity"] == pytest.approx(0.3)
    assert kind["record"] == pytest.approx(math.log2(131072 / points.USUAL_RECORD))
    four = points.kind_of_scenario(case(layout="4*mirror2", operation="scrub", release="zol-0.7"))
    assert (four["vdevs"], four["replicated"], four["scrub"], four["legacy"]) == (1.0, 1.0, 1.0, 1.0)
    assert four["record"] == 0.0
    flash = points.kind_of_scenario(case(drive="generic-nvme-ssd", drive_size="1TB", operation="scrub"))
    assert (flash["flash"], flash["flash_scrub"], flash["position"]) == (1.0, 1.0, 0.0)


# Words of what was stated.


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (8 * 10**12, "8TB"), (8001563222016, "8TB"), (1 << 40, "1TiB"), (10**9 * (1 << 30), "1.07 EB"),
        (15 * 10**11, "1500GB"),
    ],
)  # fmt: skip
def test_a_capacity_is_told_as_a_person_knows_it(size: int, text: str) -> None:
    assert simulated.capacity(size).replace(" ", "") == text.replace(" ", "")


def test_many_drives_are_told_as_one() -> None:
    def told(count: int) -> list[str]:
        rows: list[object] = [{"what": "drive", "drive": f"sd{n}"} for n in range(count)]
        return simulated._all_evidence([{"what": "running", "kind": "scrub"}, *rows])

    assert len(told(simulated.NAMED_EACH)) == simulated.NAMED_EACH + 1
    assert told(simulated.NAMED_EACH + 1) == [
        "running scrub", f"activity or errors of {simulated.NAMED_EACH + 1} drives",
    ]  # fmt: skip


def test_drives_that_are_gone_are_named_beside_those_that_were_seen_at_work() -> None:
    seen = [{"what": "drive", "drive": f"sd{n}", "busy": 0.5} for n in range(simulated.NAMED_EACH + 1)]
    gone = [{"what": "drive", "drive": f"old{n}", "missing": "FAULTED"} for n in range(simulated.NAMED_GONE)]
    told = simulated._all_evidence([*seen, *gone])
    assert told == [
        *(f"old{n} FAULTED" for n in range(simulated.NAMED_GONE)),
        f"activity or errors of {simulated.NAMED_EACH + 1} drives",
    ]
    one_more = {"what": "drive", "drive": "z", "missing": "REMOVED"}
    assert simulated._all_evidence([*gone, one_more]) == [f"gone: {simulated.NAMED_GONE + 1} drives"]


def test_what_is_varied_is_told_as_its_ends_or_as_a_factor() -> None:
    one = case()
    varied = {
        "fill": Unknown("fill", "fill", "", choices=(Choice(0.2, 0.5), Choice(0.9, 0.5))),
        "seek": Unknown("seek", "drive", "", 0.1), "outer_rate": Unknown("outer_rate", "drive", "", math.log(1.5)),  # noqa: E501
    }  # fmt: skip
    assert simulated._range_of("fill", one, varied) == "20 % to 90 %"
    assert simulated._range_of("drive", one, varied) == "a factor of 1.5 either way"
    assert simulated._range_of("ports", one, varied) == ""


# Sick drives.


class Bench(SimpleNamespace):
    """A world in which a sound plane takes 0.8 and one without a drive 0.6 of the time."""

    def time(self, *, model: Any) -> float:
        return 0.6 if any(-1 in vdev.read_leaf[1:] for vdev in model.vdevs) else 0.8


def baseline(**fields: Any) -> Any:
    """Return a world with sick drives; drive 3 is busy half of the time."""
    one = case(**fields)
    model = plane_model(one)
    busy = np.zeros(len(model.leaves), [("busy", "f8")])
    busy["busy"][3] = 50.0
    run = SimpleNamespace(leaves=busy, end=100.0)
    return Bench(case=one, result=SimpleNamespace(model=model), shown=SimpleNamespace(run=run))


def test_a_slow_drive_costs_what_a_sound_one_in_its_place_would_save() -> None:
    [found] = sick_drives.sick_drives(baseline(slow=["3:x3"]), 1000.0, 1000.0)
    assert (found.drive, found.utilisation, found.sound_s) == (3, 0.5, pytest.approx(800.0))
    # Taken offline: beside a sound drive, six eighths.
    assert found.offline_s == pytest.approx(800.0 * 0.6 / 0.8)
    assert (found.sets_pace, found.left, found.sits_out) == (True, 0, False)
    [asked] = sick_drives.sick_drives(baseline(slow=["3:x3"]), 1000.0, 1000.0, predicted_s={3: 900.0})
    assert (asked.sound_s, asked.offline_s) == pytest.approx((900.0, 900.0 * 0.75))
    [scrubbed] = sick_drives.sick_drives(baseline(slow=["3:x3"], operation="scrub"), 1000.0, 1000.0)
    assert scrubbed.offline_s is None
    [gone] = sick_drives.sick_drives(baseline(slow=["3:x3"], replace=2), 1000.0, 1000.0)
    assert gone.offline_s is None


def test_a_drive_sets_the_pace_where_it_would_be_notably_shorter_without_it() -> None:
    worth = sick_drives.WORTH_NAMING
    for answer, sets in ((800.0 / (1.0 - worth) + 1.0, True), (800.0 / (1.0 - worth) - 1.0, False)):
        [found] = sick_drives.sick_drives(baseline(slow=["3:x3"]), 1000.0, answer)
        assert found.sets_pace is sets


def test_bad_sectors_of_others_stay_and_the_dearest_drive_comes_first() -> None:
    """Two drives that fail 20 reads each at some seconds: without the one the other's time is left."""
    (lost,) = recovery(case(bad_sectors=["3:20"], slow=["4:x3"]), 1000.0)
    one, two = sick_drives.sick_drives(baseline(bad_sectors=["3:20"], slow=["4:x3"]), 1000.0, 1200.0, (lost,))
    by_drive = {each.drive: each for each in (one, two)}
    assert by_drive[4].sound_s == pytest.approx(800.0 + lost.seconds)
    assert (by_drive[3].sound_s, by_drive[3].errors) == (pytest.approx(1000.0), lost.errors)
    assert one.sound_s <= two.sound_s
    assert by_drive[3].offline_s == pytest.approx(600.0)


def test_a_drive_that_is_faulted_and_slow_is_taken_out_of_what_is_left() -> None:
    made = baseline(bad_sectors=["3:500"], slow=["3:x3"])
    lost = recovery(made.case, 1000.0)
    assert sick_drives.without_faulted(made, lost) == 0.6
    assert sick_drives.without_faulted(baseline(bad_sectors=["3:500"]), lost) == 1.0
    assert sick_drives.without_faulted(baseline(slow=["3:x3"]), ()) == 1.0
    model = made.result.model
    out = sick_drives._without(model, 3)
    assert out.vdevs[0].read_leaf == tuple(-1 if leaf == 3 else leaf for leaf in model.vdevs[0].read_leaf)


def test_a_drive_is_taken_offline_only_where_that_saves_enough() -> None:
    [found] = sick_drives.sick_drives(baseline(slow=["3:x3"]), 1000.0, 1000.0)
    worth = sick_drives.WORTH_SAYING
    [advice] = sick_drives.sick_advice((found,), 1000.0)
    assert advice.saves_s == pytest.approx(400.0)
    assert "no redundancy is left" in advice.why
    assert sick_drives.sick_advice((found,), 600.0 / (1.0 - worth) - 1.0) == ()
    two = found.model_copy(update={"left": 1})
    assert "1 of redundancy is left" in sick_drives.sick_advice((two,), 1000.0)[0].why
    stays = found.model_copy(update={"offline_s": None, "errors": 5, "lost_s": 1000.0 * worth + 1.0})
    assert sick_drives.sick_advice((stays,), 1000.0)[0].saves_s == pytest.approx(200.0)
    assert sick_drives.sick_advice((stays.model_copy(update={"errors": 0}),), 1000.0) == ()
    assert sick_drives.sick_advice((stays.model_copy(update={"lost_s": 1000.0 * worth}),), 1000.0) == ()


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({}, "sorted"),
        ({"load": "20reads/s"}, "sorted"),
        ({"load": "none"}, "sorted"),
        ({"layout": "raidz2x10", "recordsize": "16K", "load": "20reads/s"}, "small_records"),
        ({"write_cache": False}, "uncached"),
        ({"write_cache": False, "drive": "860-evo-1tb"}, "sorted"),
        ({"layout": "raidz2x10", "recordsize": "16K"}, "small_records"),
        ({"layout": "raidz2x8", "recordsize": "16K"}, "sorted"),
        ({"layout": "draid2:4d:11c:1s"}, "sorted"),
        ({"layout": "draid2:4d:11c:1s", "recordsize": "16K"}, "groups"),
        ({"layout": "draid2:4d:11c:1s", "write_cache": False}, "uncached"),
        ({"layout": "draid2:4d:11c:1s", "load": "none"}, "sorted"),
        ({"layout": "draid2:4d:11c:1s", "load": "20reads/s"}, "groups"),
        ({"drive": "generic-5400rpm-smr", "load": "20reads/s"}, "shingled"),
        ({"release": "zol-0.7"}, "legacy"),
        ({"release": "zol-0.7", "drive": "generic-5400rpm-smr"}, "legacy_shingled"),
    ],
)
def test_errors_are_those_measured_of_scenarios_alike(stated: dict[str, Any], expected: str) -> None:
    made = ResponseSurface(case(**stated), ())
    assert (made.errors_as, made.beyond) == (expected, BEYOND[expected])
