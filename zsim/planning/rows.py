"""Rows of a table: one a prediction, one column a fact, in SI units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from zsim.base.errors import is_unsafe
from zsim.base.parsed import is_number
from zsim.prediction.answer.prediction import Prediction

Row = dict[str, Any]

REASON = "refused"
TUNABLE = "tunables."
"""Before the name of a tunable that is an axis."""
QUANTILES = ("p10_s", "p50_s", "p90_s")
WORDS = ("bottleneck", REASON)
MOST_TEXT, MOST_NUMBER = 2000, 1e24
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


def row_read(found: object) -> Row | None:
    """Return the columns of an answer that was kept in a file; None when it is no answer."""
    if not isinstance(found, dict):
        return None
    row = {name: found.get(name) for name in (*ANSWER, REASON)}
    good = all(_is_right(name, value) for name, value in row.items() if value is not None)
    return row if good and (row["p50_s"] is not None or row[REASON] is not None) else None


def _is_right(name: str, value: object) -> bool:
    if name in WORDS:
        return isinstance(value, str) and not any(map(is_unsafe, value)) and len(value) <= MOST_TEXT
    if not is_number(value):
        return False
    return 0 <= value < MOST_NUMBER and math.isfinite(value)


def refused_row(reason: str) -> Row:
    """Return the columns `ANSWER` of a scenario that cannot be, with the reason."""
    return {**dict.fromkeys(ANSWER), REASON: reason}


NOT_AXES = frozenset({*ANSWER, REASON, "usable_bytes", "data_bytes", "drives", "name", "seeds", "p50_error"})


def axes_of(columns: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Return the columns that vary and are asked for: numbers first, the first of them is drawn along x."""
    asked = [name for name in columns if name not in NOT_AXES]
    varying = [name for name in asked if len({str(row.get(name)) for row in rows}) > 1]
    numeric = [name for name in varying if all(is_number(row.get(name)) for row in rows)]
    # The layout follows from width and parity where these are there.
    made = {"width", "parity"} & set(numeric)
    return numeric + [name for name in varying if name not in numeric and not (made and name == "layout")]
