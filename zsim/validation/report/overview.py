"""A validation at a glance: what predictions were compared with, what fails and why, one row per case."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from zsim.prediction.answer.tables import Grid
from zsim.validation.frame import TIME, Claim
from zsim.validation.report.scores import grouped, in_interval, scores
from zsim.validation.report.wording import (
    NONE,
    interval_text,
    quantity,
    signed_percent,
    tolerance_text,
    unsigned_percent,
)

FIELD = "observed"
"""Kind of the field reports: hundreds of single rows, judged in all rather than one by one."""
KINDS: Mapping[str, tuple[str, str]] = {
    "seed": ("five published studies with their command output", "15 to 30 % in time"),
    "published": ("benchmarks and reports from papers, issues and pull requests", "10 to 50 % in time"),
    FIELD: ("field reports, turned into scenarios by fixed rules", "median 30 %"),
    "zfs-run": (
        "the real OpenZFS code over emulated drives, block list given",
        "8 % in time, 20 % if loaded",
    ),
    "drive-experiment": ("drives measured by others", "as the case states"),
    "drive": ("DiskSim, request by request", "mean 0.1 %"),
    "reliability": ("chances of loss in papers", "2 %; 3 standard errors of simulations"),
    "geometry": ("RAID-Z and dRAID block maps of the real code", "every block"),
}
"""Kinds of cases, the most telling first: what they are, and what is aimed at."""
ALIKE = ("zfs-run", "drive-experiment", "drive", "reliability", "geometry")
"""Kinds of many small cases, which the first table sums up well enough."""
HOW_TO_READ = (
    "A claim is one number, or one order of results, that somebody observed. Its error is predicted /"
    " observed - 1. It passes if the error is within the tolerance that its case states, and fails otherwise;"
    " a claim without a tolerance is only informative. A range in the source, such as 170 to 176 writes a"
    " second, widens the tolerance by half its width."
)
WHY = "reason, as far as known"
LONGEST_REASON = 200


def glance_grid(claims: Sequence[Claim]) -> Grid:
    """Return one row for each kind of case: what it is, what was aimed at, and how it came out."""
    head = ("compared with", "target", "cases", "pass", "fail", "info", "median error in time", "worst")
    rows = []
    groups = grouped(claims, lambda claim: claim.kind)
    for kind in sorted(groups, key=_rank):
        group = groups[kind]
        verdicts = Counter(claim.verdict for claim in group)
        timed = [claim for claim in group if claim.claim == TIME]
        sizes = np.array([abs(claim.error) for claim in timed if claim.error is not None])
        middle, worst = (float(np.median(sizes)), float(sizes.max())) if len(sizes) else (None, None)
        if kind == FIELD:
            middle = scores(timed)["median_error"]
        what, aim = KINDS.get(kind, (kind, NONE))
        rows.append(
            (
                f"{kind}: {what}" if kind in KINDS else what,
                aim,
                str(len({claim.case for claim in group})),
                *(str(verdicts[verdict]) for verdict in ("pass", "fail", "info")),
                unsigned_percent(middle),
                unsigned_percent(worst),
            )
        )
    return Grid(head, tuple(rows), frozenset(range(2, 8)))


def failures_grid(claims: Sequence[Claim]) -> Grid:
    """Return the claims that fail, with what is known of why; field reports have a table of their own."""
    head = ("case", "claim", "observed", "predicted", "error", "allowed", WHY)
    rows = tuple(
        (
            claim.case,
            claim.claim,
            *_compared(claim),
            tolerance_text(claim.tolerance),
            why(claim),
        )
        for claim in sorted(claims, key=lambda claim: _rank(claim.kind))
        if claim.verdict == "fail" and claim.kind != FIELD
    )
    return Grid(head, rows, frozenset({2, 3, 4, 5}))


def field_grid(claims: Sequence[Claim]) -> Grid:
    """Return the field reports that are scored, class by class, the one furthest off first.

    Whether a row lies within p10 and p90 is told beside its error: the interval is the promise.
    """
    head = ("class", "report", "observed", "predicted", "p10 - p90", "error", "within")
    scored = [claim for claim in claims if claim.kind == FIELD and claim.claim == TIME]
    ordered = sorted(scored, key=lambda claim: (claim.category or "", -_distance(claim), claim.case))
    rows = tuple(
        (
            claim.category or NONE,
            claim.case,
            *_compared(claim)[:2],
            interval_text(claim),
            _compared(claim)[2],
            _within(claim),
        )
        for claim in ordered
    )
    return Grid(head, rows, frozenset(range(2, 6)))


def _distance(claim: Claim) -> float:
    """Return how far off a prediction is, as the absolute logarithm of its ratio; infinite without one."""
    if not claim.observed or not claim.predicted:
        return math.inf
    return abs(math.log(claim.predicted / claim.observed))


def _within(claim: Claim) -> str:
    return NONE if claim.predicted is None else "yes" if in_interval(claim) else "no"


def cases_grid(claims: Sequence[Claim]) -> Grid:
    """Return one row for each case: its main result, and how many of its claims pass."""
    head = ("case", "what", "observed", "predicted", "p10 - p90", "error", "passed", "info")
    rows = []
    by_case: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        by_case.setdefault((claim.kind, claim.case), []).append(claim)
    for kind, name in sorted(by_case, key=lambda key: _rank(key[0])):
        group = by_case[kind, name]
        main = main_claim(group)
        judged, told = split(group)
        passed = sum(claim.verdict == "pass" for claim in judged)
        rows.append(
            (
                name,
                group[0].title or group[0].category or kind,
                *_compared(main)[:2],
                interval_text(main),
                _compared(main)[2],
                f"{passed} of {len(judged)}" if judged else NONE,
                str(len(told)),
            )
        )
    return Grid(head, tuple(rows), frozenset(range(2, 8)))


def apart(claims: Sequence[Claim]) -> tuple[list[Claim], list[Claim]]:
    """Return the claims of cases worth a row of their own, and those of the many small ones."""
    told = [claim for claim in claims if claim.kind not in (*ALIKE, FIELD)]
    return told, [claim for claim in claims if claim.kind in ALIKE]


def split(claims: Sequence[Claim]) -> tuple[list[Claim], list[Claim]]:
    """Return the claims with a verdict, and those for information."""
    judged = [claim for claim in claims if claim.verdict != "info"]
    return judged, [claim for claim in claims if claim.verdict == "info"]


def main_claim(claims: Sequence[Claim]) -> Claim:
    """Return the claim ``time`` of a case, else the first with a tolerance, else the first."""
    judged, _ = split(claims)
    return next((claim for claim in claims if claim.claim == TIME), (judged or list(claims))[0])


def first_sentence(text: str) -> str:
    """Return the first sentence of a reason on one line, cut where it is long."""
    line = " ".join(text.split())
    head = line.partition(". ")[0]
    return head if len(head) <= LONGEST_REASON else f"{head[: LONGEST_REASON - 3].rsplit(' ', 1)[0]} ..."


def why(claim: Claim) -> str:
    """Return why a claim fails, as far as known."""
    if claim.why:
        return " ".join(claim.why.split())
    return first_sentence(claim.reason) if claim.predicted is None else "see the residuals"


def is_order(claim: Claim) -> bool:
    """Tell whether a claim is one of order, which holds or does not."""
    return (
        claim.tolerance == 0.0
        and claim.unit == "1"
        and claim.observed == 1.0
        and claim.predicted in (0.0, 1.0)
    )


def _compared(claim: Claim) -> tuple[str, str, str]:
    if is_order(claim):
        return "holds", "holds" if claim.predicted else "does not hold", NONE
    return (
        quantity(claim.observed, claim.unit),
        quantity(claim.predicted, claim.unit),
        signed_percent(claim.error),
    )


def _rank(kind: str) -> tuple[int, str]:
    return list(KINDS).index(kind) if kind in KINDS else len(KINDS), kind
