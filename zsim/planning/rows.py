"""Rows of a table: one a prediction, one column a fact, in SI units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zsim.prediction.answer.prediction import Prediction

Row = dict[str, Any]

REASON = "refused"
TUNABLE = "tunables."
"""Before the name of a tunable that is an axis."""
QUANTILES = ("p10_s", "p50_s", "p90_s")
ANSWER = ("p10_s", "p50_s", "p90_s", "bottleneck", "utilisation", "resilvered_bytes", "read_bytes")


def answer_row(prediction: Prediction) -> Row:
    """Return the columns `ANSWER` of a prediction."""
    answer, bottleneck = prediction.resilver_s, prediction.bottleneck
    return {
        "p10_s": answer.p10,
        "p50_s": answer.p50,
        "p90_s": answer.p90,
        "bottleneck": bottleneck.resource,
        "utilisation": bottleneck.utilisation,
        "resilvered_bytes": prediction.resilvered_bytes,
        "read_bytes": prediction.read_bytes,
    }


def refused_row(reason: str) -> Row:
    """Return the columns `ANSWER` of a scenario that cannot be, with the reason."""
    return {**dict.fromkeys(ANSWER), REASON: reason}


NOT_AXES = frozenset({*ANSWER, REASON, "usable_bytes", "data_bytes", "drives", "name"})


def axes_of(columns: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Return the columns that vary and are asked for: numbers first, the first of them is drawn along x."""
    asked = [name for name in columns if name not in NOT_AXES]
    varying = [name for name in asked if len({str(row.get(name)) for row in rows}) > 1]
    numeric = [name for name in varying if all(is_number(row.get(name)) for row in rows)]
    # The layout follows from width and parity where these are there.
    rest = [name for name in varying if name not in numeric and not {"width", "parity"} & set(numeric)]
    return numeric + rest


def is_number(value: object) -> bool:
    """Tell whether a value is a number, and not a truth."""
    return isinstance(value, int | float) and not isinstance(value, bool)
