"""Rounds of a history run at once until FRAG is reached, against one round after the other."""

from __future__ import annotations

import numpy as np
import pytest

from tests.pool.test_population import small_recipe
from zsim.pool.fragmentation import frag_weights, pool_fragmentation
from zsim.pool.recipes.recipe import Fill, Overwrite, PoolRecipe, Remove, Step
from zsim.pool.simulator import population
from zsim.pool.simulator.population import HistoryError, HistoryRun
from zsim.scenario.layout import VdevSpec
from zsim.scenario.releases.profile import ReleaseProfile, load_release

ROUND: tuple[Step, ...] = (Overwrite(0.02), Remove(0.01), Fill(0.5))
MOST = 12


def recipe(release: str) -> PoolRecipe:
    return small_recipe(VdevSpec.raidz(1, 4), release, steps=(Fill(0.5), *ROUND * MOST))


def filled(release: str) -> HistoryRun:
    pool = HistoryRun(recipe(release), 3)
    pool.run(Fill(0.5))
    return pool


def frag(pool: HistoryRun, release: ReleaseProfile) -> float:
    return pool_fragmentation(pool.segments, pool.untouched, pool.recipe.vdevs, release, pool.free_bytes)


def one_by_one(release: str) -> tuple[HistoryRun, list[float]]:
    pool, profile = filled(release), load_release(release)
    found = [frag(pool, profile)]
    for _ in range(MOST):
        pool.run(*ROUND)
        found.append(frag(pool, profile))
    return pool, found


@pytest.mark.parametrize("at_once", [1, 2_000_000])
@pytest.mark.parametrize("release", ["2.2.9", "2.4.4"])
def test_rounds_end_at_the_first_state_that_has_the_frag(
    release: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(population, "WRITTEN_AT_ONCE", at_once)
    _, found = one_by_one(release)
    assert found[0] < found[3] < found[MOST]
    of = frag_weights(recipe(release).vdevs, load_release(release))
    for wanted in (found[0] / 2, 0.999 * found[1], 0.3 * found[5] + 0.7 * found[6], found[MOST] + 1.0):
        first = next((k for k in range(MOST + 1) if found[k] >= wanted), MOST)
        pool = filled(release)
        rounds, before, after = pool.run_until(ROUND, wanted, of, 0, MOST)
        assert rounds == first
        assert before == pytest.approx(found[0], rel=1e-12)
        assert after == pytest.approx(found[rounds], rel=1e-12)
        assert frag(pool, load_release(release)) == found[rounds]


def test_as_many_rounds_as_are_asked_for_are_run_whatever_the_frag() -> None:
    pool, found = one_by_one("2.4.4")
    of = frag_weights(pool.recipe.vdevs, load_release("2.4.4"))
    again = filled("2.4.4")
    rounds, _, after = again.run_until(ROUND, 0.0, of, 5, MOST)
    assert (rounds, after) == (5, pytest.approx(found[5], rel=1e-12))
    again.run(*ROUND * (MOST - 5))
    assert np.array_equal(again.last_table().dva_offset, pool.last_table().dva_offset)


def test_a_round_that_finds_no_room_ends_it() -> None:
    pool = filled("2.4.4")
    of = frag_weights(pool.recipe.vdevs, load_release("2.4.4"))
    rounds, before, after = pool.run_until((Fill(1.5),), 1.0, of, 0, MOST)
    assert (rounds, after) == (0, before)
    with pytest.raises(HistoryError):
        pool.run(Fill(0.5))
