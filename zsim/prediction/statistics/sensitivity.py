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


def drivers(
    inputs: Sequence[Unknown], members: Sequence[Member], times: Sequence[float]
) -> tuple[Driver, ...]:
    """Return the fields that would settle the unknowns, the strongest first, with what each does alone.

    Parameters
    ----------
    inputs : sequence of Unknown
    members : sequence of Member
        With the scores that were drawn.
    times : sequence of float
        Durations of the members [s].

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
    whole = max(float(logs.var()), sum(variance.values()))
    found = [
        _driver(field, float(np.exp(logs.mean())), alone, whole, _words(inputs, slopes, field))
        for field, alone in variance.items()
    ]
    return tuple(sorted(found, key=lambda driver: driver.low_s - driver.high_s))


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
