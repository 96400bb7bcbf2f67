"""Claims and their summary as tables and sentences, with units a person reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zsim.base.units import format_bytes, format_duration, format_percent, format_rate
from zsim.prediction.answer.tables import Grid
from zsim.validation.frame import Claim

NONE = "-"
VERDICTS = {"pass": "green", "fail": "bold red", "info": "cyan"}
HEAD = ("case", "claim", "observed", "predicted", "p10 - p90", "error", "tolerance", "verdict")
NUMERIC = frozenset({2, 3, 4, 5, 6})


def quantity(value: float | None, unit: str) -> str:
    """Return a number with its unit as a person writes it; a dash for None."""
    if value is None:
        return NONE
    if unit == "s":
        return format_duration(value) if value >= 0 else f"{value:.3g} s"
    if unit == "B":
        return format_bytes(value)
    if unit == "B/s":
        return format_rate(value)
    number = f"{value:.0f}" if value == int(value) and abs(value) < 1e7 else f"{value:.3g}"
    return number if unit == "1" else f"{number} {unit}"


def signed_percent(share: float | None) -> str:
    """Return a relative error in percent with its sign; a dash for None."""
    if share is None:
        return NONE
    digits = 2 if abs(share) < 0.00995 else 1 if abs(share) < 0.0995 else 0
    return f"{100 * share:+.{digits}f} %" if share else "0 %"


def tolerance_text(tolerance: float | None) -> str:
    """Return a tolerance in percent; ``exact`` for 0, a dash for None."""
    if tolerance is None:
        return NONE
    return f"{100 * tolerance:.3g} %" if tolerance else "exact"


def interval_text(claim: Claim) -> str:
    """Return the interval of a prediction; a dash where it is not computed."""
    if claim.p10 is None or claim.p90 is None:
        return NONE
    return f"{quantity(claim.p10, claim.unit)} - {quantity(claim.p90, claim.unit)}"


def claim_row(claim: Claim) -> tuple[str, ...]:
    """Return the cells of one claim."""
    return (
        claim.case,
        claim.claim,
        quantity(claim.observed, claim.unit),
        quantity(claim.predicted, claim.unit),
        interval_text(claim),
        signed_percent(claim.error),
        tolerance_text(claim.tolerance),
        claim.verdict,
    )


def claims_grid(claims: Sequence[Claim]) -> Grid:
    """Return the table of all claims."""
    return Grid(HEAD, tuple(claim_row(claim) for claim in claims), NUMERIC)


def without(grid: Grid, column: str) -> Grid:
    """Return a table without one of its columns."""
    place = grid.head.index(column)
    head, *rows = ((*row[:place], *row[place + 1 :]) for row in (grid.head, *grid.rows))
    return Grid(head, tuple(rows), frozenset(n - (n > place) for n in grid.numeric if n != place))


def reasons(claims: Sequence[Claim]) -> list[str]:
    """Return one sentence for each claim that has something to say."""
    return [
        f"{claim.case}, {claim.claim}: {' '.join(claim.reason.split())}" for claim in claims if claim.reason
    ]


def headline(summary: Mapping[str, Any]) -> str:
    """Return the outcome in one sentence."""
    counts = ", ".join(f"{summary[key]} {key}" for key in ("pass", "fail", "info"))
    return f"{summary['claims']} claims of {summary['cases']} cases: {counts}."


def score_sentences(summary: Mapping[str, Any]) -> list[str]:
    """Return median error, coverage and rules of thumb as sentences."""
    lines = []
    if summary["median_error"] is not None:
        lines.append(
            f"Median error of {summary['scored']} durations: {format_percent(summary['median_error'], 1)}"
            " (each experiment counts once)."
        )
    if summary["coverage"] is not None:
        low, high = 100 * summary["coverage_low"], 100 * summary["coverage_high"]
        lines.append(
            f"p10-p90 covers {format_percent(summary['coverage'])} of them (target: 80 %; 95 % interval of"
            f" this share {low:.0f} to {high:.0f} %)."
        )
    stated = summary["stated"]
    if stated["median_error"] is not None:
        lines.append(
            f"Of the {stated['scored']} that state drive, layout and data ({stated['experiments']}"
            f" experiments): median error {format_percent(stated['median_error'], 1)}, p10-p90 covers"
            f" {unsigned_percent(stated['coverage'])}."
        )
    for name, rule in summary["rules_of_thumb"].items():
        if rule["median_error"] is not None:
            lines.append(rule_sentence(name, rule))
    return lines


def rule_sentence(name: str, rule: Mapping[str, Any]) -> str:
    """Say how good a rule of thumb is beside the predictions on the same rows."""
    words = {"average_rate": "bytes per drive / average rate", "status_eta": "the ETA of zpool status"}[name]
    ours = rule["median_error_of_predictions_on_the_same"]
    beside = "nothing predicted" if ours is None else f"zsim {format_percent(ours, 1)}"
    return (
        f"Rule of thumb '{words}': median error {format_percent(rule['median_error'], 1)} on"
        f" {rule['scored']} rows ({beside} on the same)."
    )


def classes_grid(summary: Mapping[str, Any]) -> Grid:
    """Return the table of scores by class; of field reports also of what they state, and of two halves."""
    head = (
        "class",
        "rows",
        "scored",
        "experiments",
        "median error",
        "coverage",
        "average-rate rule",
        "ETA rule",
    )
    groups = dict(summary["classes"])
    if any(name.startswith("observed: ") for name in groups):
        groups |= {"observed, drive, layout and data stated": summary["stated"]}
        groups |= {f"observed, {name} of the experiments": row for name, row in summary["halves"].items()}
    rows = tuple((name, *_class_cells(row)) for name, row in groups.items())
    return Grid(head, rows, frozenset(range(1, 8)))


def _class_cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    rules = (row["rules_of_thumb"].get(rule, {}) for rule in ("average_rate", "status_eta"))
    return (
        *(str(row[key]) for key in ("claims", "scored", "experiments")),
        *(unsigned_percent(row[key]) for key in ("median_error", "coverage")),
        *(unsigned_percent(rule.get("median_error")) for rule in rules),
    )


def unsigned_percent(share: float | None) -> str:
    """Return a share in percent with three digits at most; a dash for None."""
    return NONE if share is None else f"{100 * share:.3g} %"
