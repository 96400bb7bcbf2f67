"""Which unknown moves the answer: a linear fit of the members' logarithms over their scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from zsim.predict.ensemble import Member, Unknown
from zsim.predict.prediction import Driver

REACH = 1.2816


def drivers(
    inputs: Sequence[Unknown], members: Sequence[Member], times: Sequence[float]
) -> tuple[Driver, ...]:
    """Return the unknowns, the strongest first, each with the answer at its p10 and p90.

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
    are
    barely more members than unknowns.
    """
    scores = np.array([member.scores for member in members])
    logs = np.log(np.asarray(times, dtype=float))
    ridge = 0.5 * np.eye(scores.shape[1])
    slopes = np.linalg.solve(scores.T @ scores + ridge, scores.T @ (logs - logs.mean()))
    middle = float(np.exp(logs.mean()))
    found = []
    for unknown, slope in zip(inputs, slopes, strict=True):
        ends = sorted((middle * math.exp(slope * REACH), middle * math.exp(-slope * REACH)))
        found.append(Driver(field=unknown.field, low_s=ends[0], high_s=ends[1], words=unknown.words))
    return tuple(sorted(found, key=lambda driver: driver.low_s - driver.high_s))
