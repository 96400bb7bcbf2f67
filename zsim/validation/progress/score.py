"""The errors of answers to running scans, by class, compared with zpool's own estimates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from zsim.report.tables import Grid
from zsim.validation.frame import Claim

Floats = NDArray[np.float64]
KINDS = ("progress-series", "progress-pairs", "progress-run")
BASELINES = ("zpool_s", "last_by_alloc_s")
"""Details of a claim that hold what it is to be better than [s]."""
BANDS = ((0.05, "first 5 %"), (0.2, "5 to 20 %"), (0.5, "20 to 50 %"), (math.inf, "50 % and more"))


def band(share: float) -> str:
    """Return the class of a status by the share of the true duration that was gone."""
    return next(name for limit, name in BANDS if share < limit)


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """One answer held against the truth.

    Attributes
    ----------
    group, experiment : str
        Class, and what it is not independent of.
    observed, predicted, p10, p90 : float
        [s]
    baseline : float or None
        What it is to be better than [s].
    """

    group: str
    experiment: str
    observed: float
    predicted: float
    p10: float
    p90: float
    baseline: float | None = None

    @property
    def error(self) -> float:
        """Logarithm of predicted over observed."""
        return math.log(max(self.predicted, 1e-9) / self.observed)

    @property
    def inside(self) -> bool:
        """Whether the truth lies between p10 and p90."""
        return self.p10 <= self.observed <= self.p90


@dataclass(frozen=True, slots=True)
class Score:
    """What came of a class.

    Attributes
    ----------
    answers, experiments : int
    median, p90, bias : float
        Of the absolute logarithm of predicted over observed, and of the logarithm; an experiment counts once.
    inside : float
        Share of the answers whose p10 to p90 holds the truth, an experiment counting once.
    baseline : float or None
        Median of the baseline's, of the answers that have one.
    """

    answers: int
    experiments: int
    median: float
    p90: float
    bias: float
    inside: float
    baseline: float | None


def scores(answers: Iterable[ScoredAnswer]) -> dict[str, Score]:
    """Return the score of each class, in the order in which they are met."""
    groups: dict[str, list[ScoredAnswer]] = {}
    for answer in answers:
        groups.setdefault(answer.group, []).append(answer)
    return {name: _score(members) for name, members in groups.items()}


def _score(members: Sequence[ScoredAnswer]) -> Score:
    counts: dict[str, int] = {}
    for each in members:
        counts[each.experiment] = counts.get(each.experiment, 0) + 1
    weights = np.array([1.0 / counts[each.experiment] for each in members])
    errors = np.array([each.error for each in members])
    known = [place for place, each in enumerate(members) if each.baseline]
    ruled = np.array(
        [math.log(float(members[place].baseline or 1.0) / members[place].observed) for place in known]
    )
    inside = np.array([each.inside for each in members], dtype=np.float64)
    return Score(
        len(members),
        len(counts),
        _quantile(np.abs(errors), weights, 0.5),
        _quantile(np.abs(errors), weights, 0.9),
        _quantile(errors, weights, 0.5),
        float((inside * weights).sum() / weights.sum()),
        _quantile(np.abs(ruled), weights[known], 0.5) if known else None,
    )


def _quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return a weighted quantile, between the middles of the weights."""
    order = np.argsort(values, kind="stable")
    places = (np.cumsum(weights[order]) - 0.5 * weights[order]) / weights.sum()
    return float(np.interp(share, places, values[order]))


def answers_of(claims: Iterable[Claim]) -> list[ScoredAnswer]:
    """Return the claims about running scans that have both an observation and an answer."""
    return [
        ScoredAnswer(
            _group(claim), claim.experiment or claim.case, claim.observed, claim.predicted, claim.p10,
            claim.p90, next((value for name in BASELINES if (value := claim.details.get(name))), None),
        )
        for claim in claims
        if claim.kind in KINDS and claim.observed and claim.predicted and claim.p10 and claim.p90
    ]  # fmt: skip


def _group(claim: Claim) -> str:
    """Return the class of a claim, in words."""
    if claim.kind == "progress-series":
        return f"reported statuses, {claim.category}"
    if claim.kind == "progress-pairs":
        return f"reported sequences, {claim.category}"
    return f"real OpenZFS, {claim.category}, {claim.claim}"


def summary_of(claims: Iterable[Claim]) -> dict[str, dict[str, float | None]]:
    """Return the scores by class, as plain data."""
    found = scores(sorted(answers_of(claims), key=lambda answer: answer.group))
    return {name: asdict(score) for name, score in found.items()}


def grid_of(summary: Mapping[str, Mapping[str, float | None]]) -> Grid:
    """Return the scores as a table."""
    head = (
        "class", "answers", "experiments", "median", "p90", "bias", "within p10-p90", "zpool or rule",
    )  # fmt: skip
    rows = tuple(
        (
            name,
            *(f"{each[field]:.0f}" for field in ("answers", "experiments")),
            *(f"{each[field]:.2f}" for field in ("median", "p90")),
            f"{each['bias']:+.2f}",
            f"{each['inside']:.0%}",
            "" if each["baseline"] is None else f"{each['baseline']:.2f}",
        )
        for name, each in summary.items()
    )
    return Grid(head, rows, frozenset(range(1, 8)))
