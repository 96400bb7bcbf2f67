"""Which unknown moves the answer: a linear fit of the members' logarithms over their scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zsim.case.member import Member
from zsim.prediction.answer.records import Driver
from zsim.prediction.inputs.ensemble import Unknown

REACH = 1.2816
RECORD_WORDS = "state it, if the pool has one (--recordsize; zfs get recordsize,volblocksize)"


def drivers(
    inputs: Sequence[Unknown],
    members: Sequence[Member],
    times: Sequence[float],
    records: Sequence[float] | None = None,
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

    Notes
    -----
    Standardised regression (Saltelli et al., Sensitivity Analysis, 2000, section 6.7), ridged because there
    are barely more members than unknowns.  Unknowns that one field settles are taken together.
    """
    scores = np.array([member.scores for member in members])
    logs = np.log(np.asarray(times, dtype=float))
    ridge = 0.5 * np.eye(scores.shape[1])
    slopes = np.linalg.solve(scores.T @ scores + ridge, scores.T @ (logs - logs.mean()))
    variance = _by_field(inputs, slopes)
    whole = max(float(logs.var()), math.fsum(variance.values()))
    words = {field: _words(inputs, slopes, field) for field in variance}
    if records is not None and "history" in variance:
        # Part of what the use of a pool does, it does by its record sizes: stating them settles that part.
        variance["recordsize"] = variance["history"] * _explained(inputs, scores, records)
        words["recordsize"] = RECORD_WORDS
    middle = float(np.exp(logs.mean()))
    found = [_driver(field, middle, alone, whole, words[field]) for field, alone in variance.items()]
    return tuple(sorted(found, key=lambda driver: driver.low_s - driver.high_s))


def _explained(inputs: Sequence[Unknown], scores: NDArray[np.float64], records: Sequence[float]) -> float:
    """Return the share of the variance of a pool's use that goes with its record sizes."""
    place = [unknown.name for unknown in inputs].index("history")
    if float(np.std(records)) == 0.0:
        return 0.0
    return float(np.corrcoef(scores[:, place], np.asarray(records))[0, 1]) ** 2


def _by_field(inputs: Sequence[Unknown], slopes: NDArray[np.float64]) -> dict[str, float]:
    """Return the variance of the logarithm that each field of the scenario would take away."""
    found: dict[str, float] = {}
    for unknown, slope in zip(inputs, slopes, strict=True):
        found[unknown.field] = found.get(unknown.field, 0.0) + float(slope) ** 2
    return found


def _words(inputs: Sequence[Unknown], slopes: NDArray[np.float64], field: str) -> str:
    """Return the words of the strongest unknown that a field settles."""
    return max(
        (abs(slope), unknown.words)
        for unknown, slope in zip(inputs, slopes, strict=True)
        if unknown.field == field
    )[1]


def _driver(field: str, middle: float, alone: float, whole: float, words: str) -> Driver:
    reach = math.exp(REACH * math.sqrt(alone))
    narrows = 1.0 - math.sqrt(max(0.0, 1.0 - alone / whole)) if whole > 0.0 else 0.0
    return Driver(field=field, low_s=middle / reach, high_s=middle * reach, narrows=narrows, words=words)
