"""Claims about populations made from a recipe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.validation.formats.zfs_population import overlap
from zsim.validation.formats.zfs_runs import discover, given_population, run
from zsim.validation.frame import Options, ValidationCase

RUNS = Path(__file__).parents[2] / "validation" / "zfs-sorted"
COUNTS = st.lists(st.integers(0, 1000), min_size=4, max_size=4).map(np.array)


@given(COUNTS, COUNTS)
def test_overlap_is_a_share_and_does_not_depend_on_the_order(
    first: np.ndarray[tuple[int], np.dtype[np.int64]], second: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> None:
    assert 0.0 <= overlap(first, second) <= 1.0 + 1e-12
    assert overlap(first, second) == overlap(second, first)
    assert overlap(first, first) == pytest.approx(1.0)
    assert overlap(first, 3 * first) == pytest.approx(1.0)


def test_histograms_without_a_common_bar_have_nothing_in_common() -> None:
    assert overlap(np.array([5, 0]), np.array([0, 7])) == 0.0


@pytest.fixture(scope="module")
def case() -> ValidationCase:
    return discover(next(path for path in sorted(RUNS.iterdir()) if (path / "config.json").is_file()))[0]


def test_a_recipe_is_judged_by_time_run_length_and_holes_over_several_seeds(case: ValidationCase) -> None:
    claims = {claim.claim: claim for claim in run(case, Options(population="recipe"))}
    assert {claims[name].verdict for name in ("time", "run_length", "hole_sizes_in_common")} == {"pass"}
    details = claims["time"].details
    assert details is not None
    assert details["seeds"] == 3
    assert claims["traversal_order"].observed != claims["traversal_order"].predicted


def test_the_true_list_is_compared_with_the_list_itself(case: ValidationCase) -> None:
    from zsim.validation.formats.zfs_config import EmulatedRun
    from zsim.validation.formats.zfs_population import population_claims
    from zsim.validation.formats.zfs_runs import _json, recipe_of

    bench = EmulatedRun(_json(case.path / "config.json")[0], {})
    table = given_population(case.path)
    for claim in population_claims(case, table, [table], recipe_of(bench).vdevs):
        assert claim.predicted == pytest.approx(claim.observed)
