"""The worlds that quantiles are of, and how large the populations are that stand for some of them."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import constant, whole_constant
from zsim.case.case import Case
from zsim.prediction.inputs.ensemble import Unknown, normal_strata
from zsim.prediction.inputs.points import points
from zsim.prediction.inputs.scan_memory import tells

F64 = NDArray[np.float64]
DRAWN, DRAW_SEED = whole_constant("response.drawn"), 17
SCARCE = constant("response.scarce")
"""Share of the worlds from which on a scan counts as one that may be short of memory."""
MEMBER_BLOCKS, SHORT_BLOCKS = whole_constant("work.member_blocks"), whole_constant("work.short_blocks")
"""Of a population: usually, and where a scan is short of memory."""
WHOLE_PIECE, MANY_PIECES = whole_constant("work.whole_piece"), whole_constant("work.many_pieces")
"""Of a block: one of each child for so much of a record."""


@functools.lru_cache(maxsize=32)
def draws(unknowns: int) -> F64:
    """Return scores of worlds drawn anew, a Latin hypercube, the same every time.

    Parameters
    ----------
    unknowns : int
        Without any there is one world.

    Returns
    -------
    ndarray of float, shape (worlds, unknowns)
        Standard normal scores, not to be written to.

    Notes
    -----
    McKay, Beckman, Conover (Technometrics 21, 1979), each stratum at its middle.
    """
    if not unknowns:
        return np.zeros((1, 0))
    generator = np.random.Generator(np.random.Philox(key=DRAW_SEED))
    found = np.stack([generator.permutation(normal_strata(DRAWN)) for _ in range(unknowns)], axis=1)
    found.flags.writeable = False
    return found


def _lacks_memory(case: Case, inputs: Sequence[Unknown]) -> bool:
    """Tell whether in many worlds of a scenario a sorted scan has no memory for all that it collects."""
    if not tells(case):
        return False
    lacked = points(case, inputs, draws(len(inputs)))["scarce"]
    return float((lacked > 0.0).mean()) >= SCARCE


def member_blocks(case: Case, inputs: Sequence[Unknown]) -> int:
    """Return of how many blocks a member's population is: half as many where each is a lot of work.

    A scan that is short of memory has few extents to choose from on a small population, and takes far longer.

    Parameters
    ----------
    case : Case
    inputs : sequence of Unknown
    """
    if _lacks_memory(case, inputs):
        return SHORT_BLOCKS
    children = max(vdev.children for vdev in case.layout.vdevs)
    record = 0 if case.assumed("recordsize") else case.recordsize
    return MEMBER_BLOCKS // (2 if children * max(1.0, record / WHOLE_PIECE) > MANY_PIECES else 1)
