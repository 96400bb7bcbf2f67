"""Scores of the predictions: by kind, by class, weighted by experiment."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import Z975
from zsim.validation.frame import STATED, TIME, Claim
from zsim.validation.progress.score import summary_of

Floats = NDArray[np.float64]
RULES = {"rule_average_rate": "average_rate", "rule_status_eta": "status_eta"}
"""Details of a claim that hold what a rule of thumb gives [s], and their names in the summary."""
HALVES = ("first half", "second half")
"""Of the experiments, by a hash of their names: what is decided on one is measured on the other."""


def summarise(claims: Sequence[Claim]) -> dict[str, Any]:
    """Return the summary of a validation.

    Returns
    -------
    dict
        Counts, the scores of all claims ``time`` (of the observed rows, where there are any), the same for
        the rules of thumb, for the rows that state drive, layout and data (``stated``) and for two halves of
        the experiments (``halves``), and median and worst absolute error by kind and by class.
    """
    verdicts = Counter(claim.verdict for claim in claims)
    timed = [claim for claim in claims if claim.claim == TIME]
    rows = [claim for claim in timed if claim.kind == "observed"] or timed
    return {
        "cases": len({claim.case for claim in claims}),
        "claims": len(claims),
        **{verdict: verdicts[verdict] for verdict in ("pass", "fail", "info")},
        **scores(rows),
        "rules_of_thumb": {name: rule_scores(rows, key) for key, name in RULES.items() if _has(rows, key)},
        STATED: class_scores([claim for claim in rows if claim.details.get(STATED)]),
        "halves": {
            name: class_scores([claim for claim in rows if half_of(claim) == name]) for name in HALVES
        },
        "kinds": {key: errors(group) for key, group in grouped(claims, kind_and_claim).items()},
        "classes": {key: class_scores(group) for key, group in grouped(timed, class_of).items()},
        **({"running": running} if (running := summary_of(claims)) else {}),
    }


def scores(claims: Sequence[Claim]) -> dict[str, Any]:
    """Return median error and coverage of claims, every experiment (or lone row) with weight 1.

    Returns
    -------
    dict
        ``scored`` rows of so many ``experiments``; ``median_error`` is
        exp(median abs ln(predicted / observed)) - 1; ``coverage`` the share of observations between p10 and
        p90, with its 95 % interval; None where nothing was predicted.
    """
    scored = [claim for claim in claims if _ratio(claim.observed, claim.predicted) is not None]
    covered = [claim for claim in scored if claim.p10 is not None and claim.p90 is not None]
    weights = experiment_weights(scored)
    inside = np.array([in_interval(claim) for claim in covered], dtype=np.float64)
    return {
        "scored": len(scored),
        "experiments": round(float(weights.sum())),
        "median_error": median_error([_ratio(c.observed, c.predicted) or 1.0 for c in scored], weights),
        **coverage(inside, experiment_weights(covered)),
    }


def half_of(claim: Claim) -> str:
    """Return the half of the experiments that a claim belongs to: one bit of SHA-256 of its name."""
    return half_named(claim.experiment or claim.case.rsplit("/", 1)[-1])


def half_named(experiment: str) -> str:
    """Return the half that an experiment belongs to."""
    return HALVES[hashlib.sha256(experiment.encode()).digest()[-1] & 1]


def class_scores(claims: Sequence[Claim]) -> dict[str, Any]:
    """Return the scores of some claims, and those of the rules of thumb on them."""
    rules = {name: rule_scores(claims, key) for key, name in RULES.items() if _has(claims, key)}
    return {"claims": len(claims), **scores(claims), "rules_of_thumb": rules}


def rule_scores(claims: Sequence[Claim], key: str) -> dict[str, Any]:
    """Return the median error of a rule of thumb, and that of the predictions on the same rows."""
    with_rule = [claim for claim in claims if _ratio(claim.observed, claim.details.get(key)) is not None]
    ratios = [_ratio(claim.observed, claim.details.get(key)) or 1.0 for claim in with_rule]
    return {
        "scored": len(with_rule),
        "median_error": median_error(ratios, experiment_weights(with_rule)),
        "median_error_of_predictions_on_the_same": scores(with_rule)["median_error"],
    }


def experiment_weights(claims: Sequence[Claim]) -> Floats:
    """Return the weight of each claim: those of one experiment share a weight of 1.

    Returns
    -------
    ndarray of float64, shape (claims,)
    """
    names = [claim.experiment or f"\0{index}" for index, claim in enumerate(claims)]
    sizes = Counter(names)
    return np.array([1.0 / sizes[name] for name in names], dtype=np.float64)


def median_error(ratios: Sequence[float], weights: Floats) -> float | None:
    """Return exp(weighted median of abs ln ratio) - 1; None where there is no ratio."""
    if not len(ratios):
        return None
    return math.expm1(weighted_median(np.abs(np.log(np.asarray(ratios, dtype=np.float64))), weights))


def weighted_median(values: Floats, weights: Floats) -> float:
    """Return the weighted median: the mean of both neighbours where the weights below and above are equal.

    Parameters
    ----------
    values, weights : ndarray of float64, shape (n,)
        n > 0, weights > 0.
    """
    order = np.argsort(values, kind="stable")
    ordered, cumulated = values[order], np.cumsum(weights[order])
    half = cumulated[-1] / 2
    index = int(np.searchsorted(cumulated, half * (1 - 1e-12)))
    if index + 1 < len(ordered) and math.isclose(cumulated[index], half, rel_tol=1e-9):
        return float(ordered[index] + ordered[index + 1]) / 2
    return float(ordered[index])


def coverage(inside: Floats, weights: Floats) -> dict[str, float | None]:
    """Return the weighted share inside the interval, and the ends of its 95 % Wilson interval.

    Parameters
    ----------
    inside : ndarray of float64, shape (n,)
        1 where the observation lies between p10 and p90.
    weights : ndarray of float64, shape (n,)

    Notes
    -----
    Wilson, J. Am. Stat. Assoc. 22 (1927), with Kish's effective number of rows in place of n.
    """
    if not len(inside):
        return {"coverage": None, "coverage_low": None, "coverage_high": None}
    share = float(np.average(inside, weights=weights))
    rows = float(weights.sum() ** 2 / (weights**2).sum())
    z = Z975
    middle = (share + z * z / (2 * rows)) / (1 + z * z / rows)
    half = z / (1 + z * z / rows) * math.sqrt(share * (1 - share) / rows + z * z / (4 * rows * rows))
    return {
        "coverage": share,
        "coverage_low": max(0.0, middle - half),
        "coverage_high": min(1.0, middle + half),
    }


def errors(claims: Sequence[Claim]) -> dict[str, Any]:
    """Return counts, and median and worst absolute error, of a group of claims."""
    verdicts = Counter(claim.verdict for claim in claims)
    known = [(abs(claim.error), claim.case) for claim in claims if claim.error is not None]
    worst = max(known, default=(None, None), key=lambda pair: pair[0])
    sizes = np.array([size for size, _ in known], dtype=np.float64)
    return {
        "claims": len(claims),
        **{verdict: verdicts[verdict] for verdict in ("pass", "fail", "info")},
        "median_absolute_error": float(np.median(sizes)) if len(sizes) else None,
        "worst_absolute_error": worst[0],
        "worst_case": worst[1],
    }


def grouped(claims: Iterable[Claim], key: Callable[[Claim], str | None]) -> Mapping[str, list[Claim]]:
    """Return the claims by key, keys sorted; those whose key is None are left out."""
    groups: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        name = key(claim)
        if name is not None:
            groups[name].append(claim)
    return dict(sorted(groups.items()))


def kind_and_claim(claim: Claim) -> str:
    """Return the group of a claim in the summary by kind: durations apart from everything else."""
    return f"{claim.kind}: {TIME}" if claim.claim == TIME else f"{claim.kind}: others"


def class_of(claim: Claim) -> str | None:
    """Return the group of a claim in the summary by class."""
    return None if claim.category is None else f"{claim.kind}: {claim.category}"


def _has(claims: Sequence[Claim], key: str) -> bool:
    return any(claim.details.get(key) is not None for claim in claims)


def _ratio(observed: float | None, predicted: float | None) -> float | None:
    if observed is None or predicted is None or observed <= 0 or predicted <= 0:
        return None
    return predicted / observed


def in_interval(claim: Claim) -> bool:
    """Tell whether the observation lies between p10 and p90."""
    values = (claim.p10, claim.observed, claim.p90)
    return all(value is not None for value in values) and sorted(values) == list(values)  # type: ignore[type-var]
