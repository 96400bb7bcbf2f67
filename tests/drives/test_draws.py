"""Random numbers that fill the unit interval evenly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.drives.physics.draws import evenly

LEVELS = 12


@given(st.integers(0, 2**40), st.integers(0, 1), st.integers(0, 10), st.integers(0, 300))
def test_successive_draws_have_one_in_each_stratum(seed: int, stream: int, level: int, group: int) -> None:
    count = 2**level
    found = [evenly(seed, stream, group * count + place) for place in range(count)]
    assert sorted(int(count * each) for each in found) == list(range(count))
    assert 0.0 < min(found) <= max(found) < 1.0


def test_beyond_the_finest_strata_rounds_are_new() -> None:
    count = 2**LEVELS
    rounds = np.array([[evenly(5, 0, step * count + place) for place in range(count)] for step in (0, 1)])
    assert np.array_equal(np.sort((rounds * count).astype(int)), np.tile(np.arange(count), (2, 1)))
    assert not np.intersect1d(*rounds).size
    assert abs(np.corrcoef(rounds)[0, 1]) < 0.06


def test_single_draws_are_uniform_over_seeds() -> None:
    """Of 4,000 seeds: the mean of a uniform number is known to 0.0046, its variance to 0.0012."""
    found = np.array([evenly(seed * 7919, 1, 37) for seed in range(4000)])
    assert found.mean() == pytest.approx(0.5, abs=4 * 0.0046)
    assert found.var() == pytest.approx(1.0 / 12.0, abs=4 * 0.0012)


def test_streams_and_lags_have_nothing_to_do_with_each_other() -> None:
    """Correlations of 4,096 numbers scatter by 0.016; a client of eight draws every eighth."""
    pauses, places = (
        np.array([evenly(11, stream, number) for number in range(2**LEVELS)]) for stream in (0, 1)
    )
    assert abs(np.corrcoef(pauses, places)[0, 1]) < 0.06
    alone = pauses[3::8]
    assert abs(np.corrcoef(alone[1:], alone[:-1])[0, 1]) < 0.15


def test_sums_of_successive_draws_scatter_far_less_than_of_independent_ones() -> None:
    sums = [np.mean([evenly(seed, 0, 64 + place) for place in range(64)]) for seed in range(300)]
    assert np.std(sums) < 0.1 * np.sqrt(1.0 / 12.0 / 64.0)
