"""Rows of a table: one a prediction, one column a fact, in SI units."""

from __future__ import annotations

from typing import Any

from zsim.prediction.answer.prediction import Prediction

Row = dict[str, Any]

REASON = "refused"
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
