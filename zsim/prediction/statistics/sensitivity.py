"""Which unknown moves the answer most, and what would narrow the interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import Z90, whole_constant
from zsim.case.member import Member
from zsim.prediction.answer.records import Driver
from zsim.prediction.inputs.ensemble import Unknown, place_of, places_of

F64 = NDArray[np.float64]
PARTS = whole_constant("statistics.parts")
"""Of equal numbers of worlds, in the order of a score: by their means it is told what goes with it."""
RECORD_WORDS = "state it, if it is uniform (--recordsize; zfs get recordsize,volblocksize)"


def drivers(
    inputs: Sequence[Unknown],
    members: Sequence[Member],
    times: Sequence[float],
    records: Sequence[float] | None = None,
    shown: float = 0.0,
) -> tuple[Driver, ...]:
    """Return the fields that would settle the unknowns, the strongest first, with what each does alone.

    Parameters
    ----------
    inputs : sequence of Unknown
    members : sequence of Member
        With the scores that were drawn.
    times : sequence of float
        Durations of the members [s].
    records : sequence of float, optional
        Record sizes of the members [log2(bytes)], where each use of the pool has its own.
    shown : float
        Standard deviation of the logarithm of the answer that is shown, where it is wider than its worlds:
        what the evidence leaves open no field settles.

    Notes
    -----
    Standardised regression (Saltelli et al., Sensitivity Analysis, 2000, section 6.7), ridged because there
    are barely more members than unknowns.  Unknowns that one field settles are taken together.
    """
    scores = np.array([member.scores for member in members])
    logs = np.log(np.asarray(times, dtype=float))
    ridge = 0.5 * np.eye(scores.shape[1])
    slopes = np.linalg.solve(scores.T @ scores + ridge, scores.T @ (logs - logs.mean()))
    return _drivers(inputs, (slopes**2).tolist(), logs, scores, records, shown)


def drivers_of_draws(
    inputs: Sequence[Unknown],
    scores: F64,
    times: F64,
    records: Sequence[float] | None = None,
    shown: float = 0.0,
) -> tuple[Driver, ...]:
    """Return the same where many more worlds are told than were run.

    Parameters
    ----------
    inputs : sequence of Unknown
    scores : ndarray of float, shape (worlds, unknowns)
        Standard normal scores, each column by itself spread evenly.
    times : ndarray of float, shape (worlds,)
        Durations as the regression has them [s].
    records : sequence of float, optional
        Record sizes of the worlds [log2(bytes)], where each use of the pool has its own.
    shown : float
        As `drivers` has it.

    Notes
    -----
    Variance of the conditional expectation, from the means of groups (Saltelli et al., Variance based
    sensitivity analysis of model output, Computer Physics Communications 181, 2010, section 2): of each
    choice, or of `PARTS` parts of a score; what groups differ by through chance alone is taken off, as in an
    analysis of variance.
    """
    logs = np.log(times)
    groups = [_groups(unknown, scores[:, place]) for place, unknown in enumerate(inputs)]
    variances = [_between(each, logs) for each in groups]
    means = np.stack([_means(each, logs) for each in groups], axis=1)
    return _drivers(inputs, variances, logs, means, records, shown)


def _groups(unknown: Unknown, scores: F64) -> NDArray[np.int64]:
    """Return a number for each world, the same for those that differ little or nothing in an unknown."""
    if unknown.choices:
        return places_of(unknown, scores)
    ranks = np.argsort(np.argsort(scores, kind="stable"), kind="stable")
    return ranks * PARTS // len(scores)


def _means(groups: NDArray[np.int64], logs: F64) -> F64:
    """Return the mean of each world's group."""
    counts = np.bincount(groups)
    means: F64 = (np.bincount(groups, logs) / np.maximum(counts, 1))[groups]
    return means


def _between(groups: NDArray[np.int64], logs: F64) -> float:
    """Return the variance of the means of groups, without what they differ by through chance."""
    means = _means(groups, logs)
    others = int(np.count_nonzero(np.bincount(groups))) - 1
    within = float(((logs - means) ** 2).sum()) / max(1, len(logs) - others - 1)
    return max(0.0, float(means.var()) - within * others / len(logs))


def _drivers(
    inputs: Sequence[Unknown],
    variances: Sequence[float],
    logs: F64,
    at: F64,
    records: Sequence[float] | None,
    shown: float,
) -> tuple[Driver, ...]:
    """Return the drivers, given the variance that each unknown would take away.

    `at` is where each world stands in each unknown, for what the use of a pool goes with.
    """
    variance = _by_field(inputs, variances)
    whole = max(float(logs.var()), math.fsum(variance.values()), shown**2)
    words = {field: _words(inputs, variances, field) for field in variance}
    use = place_of(inputs, "history")
    if records is not None and use is not None:
        # Part of what the use of a pool does, it does by its record sizes: stating them settles that part.
        variance["recordsize"] = variance["history"] * _explained(at[:, use], records)
        words["recordsize"] = RECORD_WORDS
    middle = float(np.exp(logs.mean()))
    found = [_driver(field, middle, alone, whole, words[field]) for field, alone in variance.items()]
    return tuple(sorted(found, key=lambda driver: driver.low_s - driver.high_s))


def _explained(of_history: F64, records: Sequence[float]) -> float:
    """Return the share of the variance of a pool's use that goes with its record sizes."""
    if float(np.std(records)) == 0.0 or float(np.std(of_history)) == 0.0:
        return 0.0
    return float(np.corrcoef(of_history, np.asarray(records))[0, 1]) ** 2


def _by_field(inputs: Sequence[Unknown], variances: Sequence[float]) -> dict[str, float]:
    """Return the variance of the logarithm that each field of the scenario would take away."""
    found: dict[str, float] = {}
    for unknown, variance in zip(inputs, variances, strict=True):
        found[unknown.field] = found.get(unknown.field, 0.0) + variance
    return found


def _words(inputs: Sequence[Unknown], variances: Sequence[float], field: str) -> str:
    """Return the words of the strongest unknown that a field settles."""
    return max(
        (variance, unknown.words)
        for unknown, variance in zip(inputs, variances, strict=True)
        if unknown.field == field
    )[1]


def _driver(field: str, middle: float, alone: float, whole: float, words: str) -> Driver:
    reach = math.exp(Z90 * math.sqrt(alone))
    narrows = 1.0 - math.sqrt(max(0.0, 1.0 - alone / whole)) if whole > 0.0 else 0.0
    return Driver(field=field, low_s=middle / reach, high_s=middle * reach, narrows=narrows, words=words)
