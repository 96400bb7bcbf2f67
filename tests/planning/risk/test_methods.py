"""Chains and event simulation give the same chances; neither loses small ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from zsim.planning.risk.one_vdev.chain import in_window, within
from zsim.planning.risk.one_vdev.group import HOUR, YEAR, Group, Repair, Worlds, one_world
from zsim.planning.risk.one_vdev.latent import exposed, pool_gone
from zsim.planning.risk.one_vdev.simulation import _begin, simulate
from zsim.planning.risk.one_vdev.solve import chance_by, first_end, mean_time

RATE = 0.05 / YEAR
PLAIN = one_world(RATE, 24 * HOUR)
FULL = one_world(
    RATE,
    24 * HOUR,
    delay=11 * HOUR,
    correlation=3.0,
    latent=0.0027 / (730 * HOUR),
    removal=360 * HOUR,
    tripping=0.3,
)
CASES = {
    "raidz1": (Group(children=10, tolerance=1), PLAIN),
    "raidz1, everything": (Group(children=10, tolerance=1), FULL),
    "raidz2, everything": (Group(children=10, tolerance=2), FULL),
    "raidz3, everything": (Group(children=12, tolerance=3), FULL),
    "restarts": (Group(children=10, tolerance=3, discipline="restart"), FULL),
    "as in papers": (
        Group(children=10, tolerance=2, discipline="serial", repair=Repair(minimum=0.0)),
        PLAIN,
    ),
    "successive": (
        Group(children=10, tolerance=2, correlation_law="successive", repair=Repair(minimum=0.0)),
        one_world(RATE, 24 * HOUR, correlation=10.0),
    ),
    "stress": (Group(children=6, tolerance=2, correlation_law="same", stress=3.0), FULL),
}


@pytest.mark.parametrize("name", CASES)
def test_chain_and_simulation_agree(name: str) -> None:
    group, world = CASES[name]
    exact = within(group, world, 3 * YEAR)
    found = simulate(group, world, (3 * YEAR,), 20_000, seed=3)
    window, drawn = in_window(group, world), simulate(group, world, (1.0,), 20_000, seed=3, window=True)
    for grade in (0, 1):
        for solved, estimate in ((exact[grade], found[grade][0]), (window[grade], drawn[grade][0])):
            assert estimate.error[0] < 0.08 * solved[0]
            allowed = 4 * estimate.error[0] + 0.004 * solved[0]
            assert estimate.chance[0] == pytest.approx(solved[0], rel=0, abs=allowed)


def test_fixed_repairs_of_single_parity_renew() -> None:
    """A cycle is a time without failures and a repair, lost with the chance of a failure during it."""
    rate, hours, drives = RATE, 24 * HOUR, 10
    lost = -math.expm1(-(drives - 1) * rate * hours)
    cycle = 1 / (drives * rate) + hours
    expected = -math.expm1(-lost * 10 * YEAR / cycle)
    group = Group(children=drives, tolerance=1)
    assert within(group, one_world(rate, hours), 10 * YEAR).vdev[0] == pytest.approx(
        expected, rel=1e-3, abs=0
    )


def test_repairs_that_restart_double_the_exposure_of_double_parity() -> None:
    small = one_world(1e-4 / YEAR, HOUR)
    apart = within(Group(children=8, tolerance=2), small, YEAR).vdev[0]
    again = within(Group(children=8, tolerance=2, discipline="restart"), small, YEAR).vdev[0]
    assert again / apart == pytest.approx(2.0, rel=1e-3, abs=0)


@pytest.mark.parametrize("tolerance", [1, 2, 3])
def test_shared_hazard_multiplies_by_its_moments(tolerance: int) -> None:
    """E[Z^(P+1)] of a gamma law of variance v: (1 + v)(1 + 2v)..."""
    small, variance = 1e-5 / YEAR, 5.0
    group = Group(children=8, tolerance=tolerance)
    alone = within(group, one_world(small, HOUR), YEAR).vdev[0]
    shared = within(group, one_world(small, HOUR, correlation=1 + variance), YEAR).vdev[0]
    expected = math.prod(1 + k * variance for k in range(1, tolerance + 1))
    assert shared / alone == pytest.approx(expected, rel=1e-3, abs=0)


def test_tiny_chances_keep_their_digits() -> None:
    rate, hours = 1e-6 / YEAR, HOUR
    found = within(Group(children=12, tolerance=3), one_world(rate, hours), YEAR).vdev[0]
    expected = 12 * math.comb(11, 3) * rate**4 * hours**3 * YEAR
    assert expected < 1e-30
    assert found == pytest.approx(expected, rel=1e-3, abs=0)
    drawn = simulate(Group(children=12, tolerance=3), one_world(rate, hours), (YEAR,), 20_000, seed=1).vdev[0]
    assert drawn.chance[0] == pytest.approx(expected, rel=0, abs=4 * drawn.error[0])
    assert 0 < drawn.error[0] < 0.05 * expected


def test_solvers_on_a_chain_with_a_closed_form() -> None:
    """Two states and an end: a -> b with rate 1, b -> a with 2, b -> end with 1e-12."""
    small = 1e-12
    rates = np.array([[[0.0, 1.0, 0.0], [2.0, 0.0, small]]])
    assert mean_time(rates)[0] == pytest.approx((1 + 2 + small) / small, rel=1e-14, abs=0)
    early = chance_by(rates, 1e-6)[0, 0]
    assert early == pytest.approx(small * 1e-12 / 2, rel=1e-5, abs=0)
    two_ends = np.array([[[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, small, 1.0]]])
    assert first_end(two_ends)[0, 0] == pytest.approx(small / (1 + small), rel=1e-14, abs=0)


def test_exposure_falls_as_the_repair_advances() -> None:
    group, none, half = Group(children=8, tolerance=2), np.zeros(1), np.full(1, 0.5)
    assert exposed(group, none, 0)[0] == 1.0
    assert exposed(group, none, 1)[0] == pytest.approx(0.5, abs=0.01)
    assert exposed(group, half, 1)[0] == pytest.approx(0.75, abs=0.01)
    assert exposed(group, none, 2)[0] == pytest.approx(1 / 3, abs=0.01)
    assert 0.5 < pool_gone(group, none, 300.0)[0] < pool_gone(group, half, 300.0)[0] < 1.0


def test_the_same_seed_gives_the_same_bits() -> None:
    group, world = CASES["raidz2, everything"]
    first = simulate(group, world, (YEAR,), 500, seed=5).vdev[0].chance
    assert first.tobytes() == simulate(group, world, (YEAR,), 500, seed=5).vdev[0].chance.tobytes()
    assert first.tobytes() != simulate(group, world, (YEAR,), 500, seed=6).vdev[0].chance.tobytes()


def test_a_pool_never_scrubbed_gathers_latent_errors() -> None:
    latent = 0.0027 / (730 * HOUR)
    group = Group(children=6, tolerance=1)
    chances = [
        in_window(Group(children=6, tolerance=1, age=age), one_world(RATE, HOUR, latent=latent)).files[0]
        for age in (0.0, YEAR, 5 * YEAR)
    ]
    assert chances == sorted(chances)
    scrubbed = one_world(RATE, HOUR, latent=latent, removal=15 * 24 * HOUR)
    assert in_window(group, scrubbed).files[0] < chances[1]


def test_worlds_are_solved_side_by_side() -> None:
    group = Group(children=8, tolerance=2)
    both = Worlds(
        rate=np.array([RATE, 2 * RATE]), correlation=np.array([1.0, 6.0]), hours=np.full(2, 24 * HOUR),
        delay=np.zeros(2), latent=np.zeros(2), removal=np.full(2, np.inf), tripping=np.zeros(2),
    )  # fmt: skip
    together = within(group, both, YEAR).vdev
    alone = [
        within(group, one_world(RATE, 24 * HOUR), YEAR).vdev[0],
        within(group, one_world(2 * RATE, 24 * HOUR, correlation=6.0), YEAR).vdev[0],
    ]
    np.testing.assert_allclose(together, alone, rtol=1e-9)


@pytest.mark.parametrize("shape", [0.8, 1.0, 2.0])
def test_the_scale_of_a_law_of_lifetimes_gives_the_mean_life(shape: float) -> None:
    """Of a Weibull law the mean is scale * gamma(1 + 1 / shape)."""
    group = Group(children=4, tolerance=1, shape=shape)
    state = _begin(group, PLAIN, 3, np.random.default_rng(1))
    assert state.scale(np.arange(3)) * math.gamma(1 + 1 / shape) == pytest.approx(np.full(3, 1 / RATE))


@pytest.mark.parametrize("shape", [1.0, 2.0])
def test_hazard_is_that_of_the_law_of_lifetimes_and_its_pace_the_slope(shape: float) -> None:
    """Of drives three years old, in a year: the Weibull hazard (t / scale) ** shape, and its derivative."""
    group = Group(children=4, tolerance=1, shape=shape, age=3 * YEAR)
    state, rows = _begin(group, PLAIN, 2, np.random.default_rng(1)), np.arange(2)
    scale = float(state.scale(rows)[0])
    spent = state.spent(rows, np.full(2, YEAR))
    assert spent == pytest.approx(np.full((2, 4), (4 * YEAR / scale) ** shape - (3 * YEAR / scale) ** shape))
    step = 1e-4 * YEAR
    slope = (((3 * YEAR + step) / scale) ** shape - ((3 * YEAR - step) / scale) ** shape) / (2 * step)
    assert state.pace(rows, np.zeros(2)) == pytest.approx(np.full((2, 4), slope), rel=1e-5)
    state.hazard[:] = 4.0
    assert state.spent(rows, np.full(2, YEAR)) == pytest.approx(4 * spent), (
        "a hazard that is shared multiplies it"
    )
