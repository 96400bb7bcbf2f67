"""Compare a population made from the recipe of a real pool with the list of its blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from zsim.pool.blocks import BlockTable
from zsim.pool.recipes.recipe import TopLevel
from zsim.pool.statistics import PopulationStatistics, describe
from zsim.validation.frame import Claim, ValidationCase, judge

RUN_TOLERANCE = 0.30
OVERLAP_TOLERANCE = 0.30


def overlap(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Return the share that two histograms have in common: 1 less their total variation distance."""
    if first.sum() == 0 or second.sum() == 0:
        return float(first.sum() == second.sum())
    return float(np.minimum(first / first.sum(), second / second.sum()).sum())


def population_claims(
    case: ValidationCase, given: BlockTable, made: Sequence[BlockTable], vdevs: tuple[TopLevel, ...]
) -> list[Claim]:
    """Return how far the populations that a recipe gives are like the real one, as means over seeds.

    Parameters
    ----------
    case : ValidationCase
    given : BlockTable
        The list of the run.
    made : sequence of BlockTable
        One a seed.
    vdevs : tuple of TopLevel
    """
    truth, found = describe(given, vdevs), [describe(table, vdevs) for table in made]

    def mean(value: Callable[[PopulationStatistics], float]) -> float:
        return float(np.mean([value(each) for each in found]))

    alike = mean(lambda each: overlap(each.holes, truth.holes))
    # A correlation near 0 has no relative error worth a verdict: these are shown.
    return [
        judge(case, "run_length", truth.run_blocks, mean(lambda each: each.run_blocks), RUN_TOLERANCE),
        judge(case, "hole_sizes_in_common", 1.0, alike, OVERLAP_TOLERANCE),
        judge(case, "traversal_order", truth.traversal_order, mean(lambda each: each.traversal_order)),
        judge(case, "birth_order", truth.birth_order, mean(lambda each: each.birth_order)),
        judge(case, "share_without_gap", truth.exact, mean(lambda each: each.exact)),
        judge(case, "mean_position", truth.position, mean(lambda each: each.position)),
    ]
