"""Reports without a layout or width: several usual layouts, whose answers are combined."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from zsim.validation.field_reports.layout_words import layouts_of_unknown_kind
from zsim.vdevs.kind import word_of_parity

Row = Mapping[str, Any]

WIDTHS = {1: (3, 4, 5), 2: (5, 6, 8), 3: (8, 10, 11)}
"""Widths of RAID-Z by its parity: about the quartiles and the median of the reports that state one;
raidz3 is always 10."""
UNKNOWN = ("mirror2", "raidz1x4", "raidz2x6")
"""Where not even the kind is told: the commonest of each kind."""
REBUILT = ("mirror2", "draid2:8d:24c:2s")
"""The same where it is rebuilt sequentially, which RAID-Z is not."""
_KIND = re.compile(r"\braid-?z-?([123])?\b(?![^+]*\d)|\bz([123])\b(?![^+]*\d)")
NEAR = 0.12


def layouts_of(row: Row) -> tuple[str, ...]:
    """Return the layouts to be simulated for a row that states none or no width; nothing where it does."""
    stated = str(row.get("vdev") or "").lower().strip()
    if not stated:
        rebuilt = row.get("scan_algorithm") == "sequential" or str(row.get("kind")).endswith("rebuild")
        return REBUILT if rebuilt else UNKNOWN
    kind = _KIND.search(stated)
    if kind is None:
        return layouts_of_unknown_kind(stated)
    parity = int(kind[1] or kind[2] or 1)
    width = width_by_size(row)
    return tuple(word_of_parity(parity, each) for each in ((width,) if width else WIDTHS[parity]))


def width_by_size(row: Row) -> int | None:
    """Return how many drives make up the pool by its size, where both are told and come out whole."""
    pool, drive = row.get("pool_size_bytes"), row.get("drive_bytes")
    if not isinstance(pool, int | float) or not isinstance(drive, int | float) or not drive:
        return None
    width = round(pool / drive)
    return width if 3 <= width <= 40 and abs(pool / drive / width - 1) < NEAR else None


def combined(predictions: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return one answer of several: the middle one, with an interval that holds those of all."""
    if len(predictions) == 1:
        return predictions[0]
    order = sorted(predictions, key=lambda each: each["resilver_s"]["p50"])
    middle = order[len(order) // 2]
    answers = [each["resilver_s"] for each in order]
    low = [answer["p10"] for answer in answers if answer.get("p10") is not None]
    high = [answer["p90"] for answer in answers if answer.get("p90") is not None]
    wide = {**middle["resilver_s"], **({"p10": min(low), "p90": max(high)} if low and high else {})}
    return {**middle, "resilver_s": wide}
