"""Repeat a scenario with further seeds until its median is precise enough, and take the mean.

Which seeds a row takes follows from its own answers alone, seed by seed: so a sweep that was stopped, shared
out, or asked again with more answers in its store takes the same ones.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from zsim.base.errors import InputError
from zsim.case.resolve import DEFAULT_SEED
from zsim.planning.rows import ANSWER, QUANTILES, REASON, WORDS, Row
from zsim.prediction.statistics.sampling import student

LEAST_SEEDS, MOST_SEEDS = 4, 256
LEAST_ERROR, MOST_ERROR = 0.001, 0.5
REFINED = ("seeds", "p50_error")
"""Columns of a refined row: how many seeds, and half the 95 % interval of its median, relative."""


def check_refinement(error: float) -> None:
    """Refuse an error that no sweep reaches, or none needs.

    Raises
    ------
    InputError
        When it lies outside 0.1 % to 50 %.
    """
    if not LEAST_ERROR <= error <= MOST_ERROR:
        raise InputError(
            "--refine", f"{100 * error:g}%", "it lies between 0.1% and 50%", "write for instance 1%"
        )


def with_seed(stated: Mapping[str, object], number: int) -> dict[str, object]:
    """Return the scenario of a repeat; the first, 0, is the scenario itself, so that its answer is shared."""
    if number == 0:
        return dict(stated)
    first = stated.get("seed", DEFAULT_SEED)
    assert isinstance(first, int)
    return {**stated, "seed": (first + number) % 2**63}


def seeds_needed(medians: Sequence[float], error: float) -> int:
    """Return how many seeds a row takes, as far as the known ones tell.

    Parameters
    ----------
    medians : sequence of float
        Of the first seeds [s].
    error : float
        Half the 95 % interval of the mean that is wanted, relative.

    Returns
    -------
    int
        Not more than are known: these are enough. More: so many are to be asked for next, and then again.

    Examples
    --------
    >>> seeds_needed([], 0.01), seeds_needed([100.0, 100.1, 99.9, 100.0, 120.0], 0.01)
    (4, 4)
    >>> seeds_needed([100.0, 110.0, 90.0, 100.0], 0.01)
    8
    """
    count = LEAST_SEEDS
    while count <= len(medians):
        reached = half_width(medians[:count])
        if reached <= error or count >= MOST_SEEDS:
            return count
        # At most doubled: what few seeds say of their spread is rough.
        wanted = math.ceil(count * (reached / error) ** 2)
        count = min(max(wanted, count + 1), 2 * count, MOST_SEEDS)
    return count


def half_width(medians: Sequence[float]) -> float:
    """Return half the 95 % interval of a mean of logarithms, which is relative."""
    spread = statistics.stdev(math.log(each) for each in medians)
    return student(len(medians) - 1) * spread / math.sqrt(len(medians))


def mean_row(rows: Sequence[Row], error: float) -> Row:
    """Return the row of several seeds: geometric means of durations, means of the rest, words of the first.

    Parameters
    ----------
    rows : sequence of dict
        Answers of the first seeds, at least one; a refused one stands for all.
    error : float
        As in `seeds_needed`; seeds beyond what it takes are not looked at.
    """
    if rows[0].get(REASON) is not None:
        return dict(rows[0])
    known = rows[: seeds_needed([row["p50_s"] for row in rows], error)]
    found = dict(known[0])
    for name in ANSWER:
        values = [row[name] for row in known if row.get(name) is not None]
        if name in WORDS or len(values) < len(known):
            continue
        found[name] = (
            statistics.geometric_mean(values) if name in QUANTILES else math.fsum(values) / len(values)
        )
    wide = half_width([row["p50_s"] for row in known]) if len(known) > 1 else None
    return {**found, "seeds": len(known), "p50_error": wide}
