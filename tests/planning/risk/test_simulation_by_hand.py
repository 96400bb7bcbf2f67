"""Single steps of the simulation of a vdev against arithmetic, and that what is forced is weighed back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from zsim.planning.risk.one_vdev import simulation
from zsim.planning.risk.one_vdev.chain import ChainCase, gamma_nodes
from zsim.planning.risk.one_vdev.group import HOUR, YEAR, Group, Repair, Worlds, one_world
from zsim.planning.risk.one_vdev.simulation import _begin, _Replicas, _shared_hazard, _Tally, count_events

RATE = 0.05 / YEAR
DAY = 24 * HOUR
MANY = 20_000


def begun(replicas: int = 2, world: Worlds | None = None, **group: Any) -> tuple[_Replicas, Any, _Tally]:
    """Return replicas of one world in which all drives are there, their rows, and a tally of one horizon."""
    made = Group(**{"children": 4, "tolerance": 2, **group})
    known = world if world is not None else one_world(RATE, DAY)
    state = _begin(made, known, replicas, np.random.default_rng(1))
    tally = _Tally(np.array([YEAR]), np.zeros((1, replicas)), np.zeros((1, replicas)))
    return state, np.arange(replicas), tally


def gone(state: _Replicas, *drives: int, until: float = DAY) -> None:
    for drive in drives:
        state.done[:, drive] = until


def test_the_shared_hazard_has_its_moments_once_it_is_weighed() -> None:
    """Gamma of mean 1 and variance 2: half are drawn from vdevs that fail, which counts as much less."""
    worlds = one_world(RATE, DAY, correlation=3.0).taken(np.zeros(200_000, dtype=np.intp))
    hazard, weight = _shared_hazard(Group(children=4, tolerance=1), worlds, np.random.default_rng(2))
    assert weight.mean() == pytest.approx(1.0, rel=0.02)
    assert (weight * hazard).mean() == pytest.approx(1.0, rel=0.02)
    assert (weight * hazard**2).mean() == pytest.approx(3.0, rel=0.02)
    # Third moment: (1 + v)(1 + 2 v).
    assert (weight * hazard**3).mean() == pytest.approx(15.0, rel=0.03)
    assert weight.max() <= 2.0
    # Half of the draws are of 1 / v + tolerance + 1 degrees, v times as large: of mean 5.
    assert hazard.mean() == pytest.approx((1 + 5) / 2, rel=0.02)


@pytest.mark.parametrize(("law", "correlation"), [("same", 3.0), ("successive", 3.0), ("frailty", 1.0)])
def test_without_a_frailty_no_hazard_is_shared(law: Any, correlation: float) -> None:
    worlds = one_world(RATE, DAY, correlation=correlation).taken(np.zeros(5, dtype=np.intp))
    hazard, weight = _shared_hazard(
        Group(children=4, tolerance=1, correlation_law=law), worlds, np.random.default_rng(2)
    )
    assert hazard.tolist() == weight.tolist() == [1.0] * 5


@pytest.mark.parametrize(
    ("law", "missing", "factor"),
    [("frailty", 0, 1), ("frailty", 1, 2), ("frailty", 2, 2), ("same", 0, 1), ("same", 1, 6), ("same", 2, 6),
     ("successive", 0, 1), ("successive", 1, 6), ("successive", 2, 18)],
)  # fmt: skip
def test_missing_drives_make_the_others_fail_by_the_law_that_is_stated(
    law: Any, missing: int, factor: float
) -> None:
    """A correlation of three and a stress of two while a drive is missing; chain and simulation alike."""
    world = one_world(RATE, DAY, correlation=3.0)
    state, rows, _ = begun(world=world, correlation_law=law, stress=2.0)
    gone(state, *range(missing))
    assert state.factor(rows).tolist() == [factor] * 2
    case = ChainCase(state.group, world, np.ones(1), np.zeros(1), ())
    assert case.failing(missing)[0] == pytest.approx((4 - missing) * RATE * factor)


def test_the_first_drive_fails_within_the_horizon_and_is_weighed_by_the_chance_of_it() -> None:
    """Four drives at 5 % a year: a first failure within two years at the rate of 20 % a year."""
    state, _, tally = begun(MANY)
    tally.ends = np.array([2 * YEAR])
    simulation._first_failure(state, tally, window=False)
    assert state.weight == pytest.approx(np.full(MANY, 1 - math.exp(-0.4)))
    assert state.now.max() <= 2 * YEAR
    # Half of those that fail do so before the moment by which half of the chance has come.
    half = -math.log(1 - 0.5 * (1 - math.exp(-0.4))) / 0.2 * YEAR
    assert np.mean(state.now < half) == pytest.approx(0.5, abs=0.02)
    assert np.bincount((~state.up).argmax(axis=1)) / MANY == pytest.approx([0.25] * 4, abs=0.02)
    assert (state.done.min(axis=1) == state.now + DAY).all()


def test_a_window_begins_now_in_a_vdev_weighed_by_its_hazard() -> None:
    state, _, tally = begun(3)
    state.hazard[:] = (0.5, 1.0, 4.0)
    simulation._first_failure(state, tally, window=True)
    assert state.now.tolist() == [0.0] * 3
    assert state.weight.tolist() == [0.5, 1.0, 4.0]


def test_first_failures_of_aged_drives_follow_their_law() -> None:
    """Weibull of shape two, three years old: the hazard from 3 to 5 years, a third of it by 3.84 years."""
    state, _, tally = begun(MANY, shape=2.0, age=3 * YEAR)
    tally.ends = np.array([2 * YEAR])
    scale = 20 * YEAR / math.gamma(1.5)
    total = 4 * (5**2 - 3**2) * (YEAR / scale) ** 2
    simulation._first_failure(state, tally, window=False)
    assert state.weight == pytest.approx(np.full(MANY, 1 - math.exp(-total)))
    third = math.sqrt(-math.log(1 - (1 - math.exp(-total)) / 3) / 4 * (scale / YEAR) ** 2 + 9) - 3
    assert np.mean(state.now < third * YEAR) == pytest.approx(1 / 3, abs=0.02)


def test_the_last_failure_is_counted_not_drawn() -> None:
    """Two of four gone, two left at 5 % a year: lost within a day with 1 - exp(-2 * 0.05 / 365.25)."""
    state, rows, tally = begun()
    gone(state, 0, 1)
    state.weight[:] = (1.0, 0.5)
    state.unhurt[:] = (1.0, 0.25)
    chance = 1 - math.exp(-2 * RATE * DAY)
    simulation._expect_loss(state, rows, np.full(2, DAY), tally)
    assert tally.vdev[0] == pytest.approx([chance, 0.5 * chance])
    assert tally.files[0] == pytest.approx([chance, 0.125 * chance])
    assert state.weight == pytest.approx([1 - chance, 0.5 * (1 - chance)])
    assert (state.now == DAY).all()
    assert state.up.all(), "both are back"
    assert state.running.all()
    assert state.born[:, :2].tolist() == [[DAY] * 2] * 2
    assert state.born[:, 2:].tolist() == [[0.0] * 2] * 2


def test_what_lies_behind_a_horizon_does_not_count_for_it() -> None:
    state, rows, tally = begun()
    gone(state, 0, 1)
    tally.ends = np.array([DAY / 2, DAY * 0.75])
    tally.files, tally.vdev = np.zeros((2, 2)), np.zeros((2, 2))
    simulation._expect_loss(state, rows, np.full(2, DAY), tally)
    expected = [1 - math.exp(-2 * RATE * DAY * share) for share in (0.5, 0.75)]
    assert tally.vdev[:, 0] == pytest.approx(expected)
    assert not state.running.any(), "the repair ends behind the last"
    state, rows, tally = begun()
    state.now[:] = DAY
    gone(state, 0, 1, until=2 * DAY)
    tally.ends = np.array([DAY / 2])
    simulation._expect_loss(state, rows, np.full(2, 2 * DAY), tally)
    assert tally.vdev[0].tolist() == [0.0, 0.0]


def test_a_repair_that_ends_at_the_horizon_goes_on() -> None:
    state, rows, tally = begun()
    gone(state, 0, 1)
    tally.ends = np.array([DAY])
    simulation._expect_loss(state, rows, np.full(2, DAY), tally)
    assert state.running.all()


@pytest.mark.parametrize("windows", [1.0, 5.0])
def test_a_forced_failure_counts_as_often_as_it_would_come(windows: float) -> None:
    """One of four gone for 30 days: another one goes with 1 - exp(-3 * 0.05 * 30 / 365.25)."""
    state, rows, tally = begun(MANY)
    gone(state, 0, until=30 * DAY)
    state.windows[:] = windows
    simulation._force(state, rows, np.full(MANY, 30 * DAY), tally)
    fails = (~state.up).sum(axis=1) == 2
    forced = max(1 - math.exp(-3 * RATE * 30 * DAY), min(0.5, 1 / windows))
    assert fails.mean() == pytest.approx(forced, abs=0.02)
    chance = 1 - math.exp(-3 * RATE * 30 * DAY)
    assert (state.weight * fails).mean() == pytest.approx(chance, rel=0.05)
    assert state.weight.mean() == pytest.approx(1.0, rel=0.02)
    assert (state.now[~fails] == 30 * DAY).all()
    assert state.now[fails].mean() == pytest.approx(15 * DAY, rel=0.05)
    assert state.up[~fails].all()
    assert np.bincount(np.flatnonzero(~state.up[fails].ravel()) % 4)[1:] / fails.sum() == pytest.approx(
        [1 / 3] * 3, abs=0.05
    )


def test_it_is_forced_rarely_at_first_and_half_the_time_from_the_second_on() -> None:
    state, rows, _ = begun(3)
    state.windows[:] = (1.0, 2.0, 40.0)
    state.done[:, 0] = DAY
    assert simulation._bias(state, rows).tolist() == [0.5, 0.5, 0.025]
    state.done[:, 1] = DAY
    assert simulation._bias(state, rows).tolist() == [0.5] * 3


def test_repairs_that_are_expected_are_counted_by_the_hazard_of_all_drives() -> None:
    state, _, _ = begun()
    assert simulation._expected_windows(state, 50 * YEAR) == pytest.approx([4 * 50 * 0.05] * 2)
    assert simulation._expected_windows(state, YEAR).tolist() == [1.0, 1.0], "one at least"
    assert simulation._expected_windows(state, math.inf).tolist() == [1.0, 1.0]
    old, _, _ = begun(age=10 * YEAR)
    assert simulation._expected_windows(old, 50 * YEAR) == pytest.approx([4 * 60 * 0.05] * 2)


@pytest.mark.parametrize(
    ("discipline", "first", "second"), [("apart", 40, 44), ("serial", 40, 70), ("restart", 44, 44)]
)
def test_two_repairs_go_on_apart_one_after_the_other_or_anew(
    discipline: Any, first: float, second: float
) -> None:
    """Each takes 30 h, and 10 h pass before it begins; the second drive fails four hours after the first."""
    state, rows, _ = begun(world=one_world(RATE, 30 * HOUR, delay=10 * HOUR), discipline=discipline)
    simulation._take_out(state, rows, np.array([1, 1]))
    assert state.done[:, 1] / HOUR == pytest.approx([40, 40])
    state.now[:] = 4 * HOUR
    if discipline == "serial":
        second = 40 + 40
    simulation._take_out(state, rows, np.array([3, 3]))
    assert state.done[0, [1, 3]] / HOUR == pytest.approx([first, second])
    assert state.up[0].tolist() == [True, False, True, False]


def test_repairs_of_a_law_have_its_least_and_its_mean() -> None:
    state, rows, _ = begun(MANY, repair=Repair(minimum=0.25, shape=2.0))
    times = simulation._repair_times(state, rows) / DAY
    assert times.min() >= 0.25
    assert times.mean() == pytest.approx(1.0, rel=0.02)
    # Of a Weibull law of shape two the relative spread is sqrt(4 / pi - 1), here of three quarters.
    assert times.std() == pytest.approx(0.75 * math.sqrt(4 / math.pi - 1), rel=0.03)


def test_what_the_repair_furthest_on_has_left_is_exposed() -> None:
    """24 h of work: 6 h before the end a quarter is left; before it has begun all of it."""
    state, rows, _ = begun()
    assert simulation._exposed(state, rows).tolist() == [1.0, 1.0]
    state.done[:, 0], state.done[:, 1] = DAY, 3 * DAY
    state.now[:] = (0.75 * DAY, 0.0)
    assert simulation._exposed(state, rows).tolist() == [0.25, 1.0]
    for changes in ({"discipline": "restart"}, {"repair": Repair(minimum=0.0)}):
        other, rows, _ = begun(**changes)
        other.done[:, 0], other.now[:] = DAY, 0.75 * DAY
        assert simulation._exposed(other, rows).tolist() == [1.0, 1.0]


def test_zed_faults_another_drive_as_often_as_it_would() -> None:
    """A fifth of the drives damaged, half of them faulted: of three others one goes with 1 - 0.9**3."""
    world = one_world(RATE, DAY, tripping=0.5)
    state, rows, _ = begun(MANY, world, tolerance=3)
    gone(state, 0)
    simulation._trip(state, rows, np.zeros(MANY, dtype=int), np.full(MANY, 0.2))
    trips = (~state.up).sum(axis=1) == 2
    chance = 1 - 0.9**3
    assert (state.weight * trips).mean() == pytest.approx(chance, rel=0.05)
    assert state.weight.mean() == pytest.approx(1.0, rel=0.02)
    assert trips.mean() == pytest.approx(0.3, abs=0.02), "in the simulation three in ten"
    assert np.bincount((~state.up[trips])[:, 1:].argmax(axis=1)) / trips.sum() == pytest.approx(
        [1 / 3] * 3, abs=0.03
    )


def test_zed_faults_none_that_is_needed() -> None:
    state, rows, _ = begun(200, one_world(RATE, DAY, tripping=1.0))
    gone(state, 0)
    simulation._trip(state, rows, np.ones(200, dtype=int), np.full(200, 0.9))
    assert ((~state.up).sum(axis=1) == 1).all()
    assert (state.weight == 1.0).all()
    # Where it goes rarely it is simulated no more often than about once in all windows of the horizon.
    rare, rows, _ = begun(MANY, one_world(RATE, DAY, tripping=1.0))
    gone(rare, 0)
    rare.windows[:] = 20.0
    simulation._trip(rare, rows, np.zeros(MANY, dtype=int), np.full(MANY, 1e-6))
    assert ((~rare.up).sum(axis=1) == 2).mean() == pytest.approx(1 / 20, abs=0.01)


def test_files_are_lost_once_and_within_the_horizon() -> None:
    state, rows, tally = begun(3)
    state.now[:] = (0.0, YEAR, 1.1 * YEAR)
    state.weight[:] = (0.5, 1.0, 1.0)
    for _ in range(2):
        simulation._cost_files(state, rows, np.full(3, 0.4), tally)
    assert tally.files[0] == pytest.approx([0.5 * (0.4 + 0.6 * 0.4), 0.4 + 0.6 * 0.4, 0.0])
    assert state.unhurt == pytest.approx([0.36] * 3)
    assert tally.vdev.sum() == 0.0


def test_the_failure_that_takes_the_last_redundancy_costs_what_is_damaged() -> None:
    """A fifth of the drives damaged at any time; two are left of four, and the repair has a quarter to do."""
    world = one_world(RATE, DAY, latent=0.25 / DAY, removal=DAY)
    state, rows, tally = begun(world=world)
    state.done[:, 0], state.now[:] = DAY, 0.75 * DAY
    simulation._fail(state, rows, np.array([2, 3]), tally)
    assert tally.files[0] == pytest.approx([1 - (1 - 0.2 / 4) ** 2] * 2)
    first, rows, tally = begun(world=world)
    simulation._fail(first, rows, np.array([2, 3]), tally)
    assert tally.files.sum() == 0.0, "there is redundancy left"
    assert first.done[[0, 1], [2, 3]].tolist() == [DAY, DAY]


def test_a_healthy_vdev_waits_for_its_next_failure_or_for_the_end() -> None:
    state, rows, tally = begun(MANY)
    simulation._next_of_healthy(state, rows, tally)
    # Four drives at 5 % a year: within the year with 1 - exp(-0.2).
    assert state.running.mean() == pytest.approx(1 - math.exp(-0.2), abs=0.01)
    assert ((~state.up).sum(axis=1) == state.running).all()
    assert state.now.mean() == pytest.approx(5 * YEAR, rel=0.03)
    assert (state.weight == 1.0).all(), "at its natural time"


def test_windows_end_with_the_first_repair_of_a_fixed_time() -> None:
    state, rows, _ = begun()
    gone(state, 0)
    state.now[:] = (DAY, DAY / 2)
    simulation._repair(state, rows, np.array([DAY, DAY]))
    assert state.running.tolist() == [False, True]
    assert state.up[:, 0].tolist() == [True, False]


def test_an_estimate_is_a_mean_with_its_standard_error() -> None:
    """Of 1, 2, 3, 6: a mean of 3, a variance of 14 / 3, over four."""
    (found,) = simulation._estimates(np.array([[[1.0, 2.0, 3.0, 6.0]]]))
    assert found.chance.tolist() == [3.0]
    assert found.error[0] == pytest.approx(math.sqrt(14 / 3 / 4))


@pytest.mark.parametrize(("missing", "chance"), [(0, 0.0), (1, 1 - 0.8**2), (2, 1.0), (3, 1.0)])
def test_elerath_and_pecht_count_failures_that_find_no_redundancy(missing: int, chance: float) -> None:
    """Two of four may go: with one gone already, a survivor that is damaged (a fifth) is one too many."""
    state, rows, _ = begun(world=one_world(RATE, DAY, latent=0.25 / DAY, removal=DAY))
    gone(state, *range(missing))
    assert simulation._without_redundancy(state, rows) == pytest.approx([chance] * 2)


def test_events_of_pairs_are_as_many_as_their_rates_say() -> None:
    """Mirrors at 0.5 a year, away for a tenth of a year: 2 * 0.5 failures, of which a share finds none.

    In the long run a drive is away 0.05 / 1.05 of the time.
    """
    found = count_events(
        Group(children=2, tolerance=1), one_world(0.5 / YEAR, 0.1 * YEAR), 40 * YEAR, 400, seed=3
    )
    expected = 40 * 2 * (0.5 / 1.05) * (0.05 / 1.05)
    assert found.chance[0] == pytest.approx(expected, abs=4 * found.error[0] + 0.02 * expected)
    assert 0.0 < found.error[0] < 0.1 * expected


@pytest.mark.parametrize(("variance", "failures", "mean"), [(2.0, 0, 1.0), (2.0, 1, 3.0), (0.5, 2, 2.0)])
def test_vdevs_that_have_failed_have_a_higher_hazard(variance: float, failures: int, mean: float) -> None:
    """Gamma of shape 1 / v and mean 1; each failure adds one to the shape, so v to the mean."""
    nodes, weights = gamma_nodes(variance, failures)
    assert weights.sum() == pytest.approx(1.0)
    assert (nodes * weights).sum() == pytest.approx(mean)
    assert ((nodes - mean) ** 2 * weights).sum() == pytest.approx(mean * variance)
    assert [each.tolist() for each in gamma_nodes(0.0, failures)] == [[1.0], [1.0]]
