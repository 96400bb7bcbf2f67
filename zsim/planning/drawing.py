"""The picture of a table: resilver time over its first axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zsim.planning.rows import Row, axes_of, is_number
from zsim.prediction.answer.drawing import CAUSES, Picture, time_unit


def figure(columns: Sequence[str], rows: Sequence[Row]) -> Picture:
    """Return the figure of a table: lines with p10-p90 bands over a number, bars over names."""
    drawn = Picture(figsize=(8.0, 4.5), layout="constrained")
    axes = drawn.add_subplot()
    known = [row for row in rows if row.get("p50_s") is not None]
    size, unit = time_unit(max((row["p90_s"] or row["p50_s"] for row in known), default=1.0))
    names = axes_of(columns, rows)
    if names and all(is_number(row.get(names[0])) for row in known):
        _lines(axes, known, names, size)
    else:
        _bars(axes, known, size)
    axes.set_ylabel(f"resilver [{unit}]")
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    return drawn


def _lines(axes: Any, rows: list[Row], names: list[str], size: float) -> None:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in names[1:]), []).append(row)
    for place, (group, members) in enumerate(groups.items()):
        label = ", ".join(f"{name} {value}" for name, value in zip(names[1:], group, strict=True))
        members.sort(key=lambda row: row[names[0]])
        x = [row[names[0]] for row in members]
        colour = CAUSES[place % len(CAUSES)]
        axes.plot(x, [row["p50_s"] / size for row in members], "o-", color=colour, ms=3, label=label or None)
        if all(row.get("p10_s") is not None and row.get("p90_s") is not None for row in members):
            low, high = ([row[key] / size for row in members] for key in ("p10_s", "p90_s"))
            axes.fill_between(x, low, high, color=colour, alpha=0.12, lw=0)
    axes.set_xlabel(names[0])
    if len(groups) > 1:
        axes.legend(frameon=False, fontsize=7, ncols=1 + len(groups) // 12)


def _bars(axes: Any, rows: list[Row], size: float) -> None:
    labels = [str(row.get("name") or row.get("layout")) for row in rows]
    axes.bar(range(len(rows)), [row["p50_s"] / size for row in rows], color=CAUSES[0])
    for place, row in enumerate(rows):
        if row.get("p10_s") is not None and row.get("p90_s") is not None:
            axes.plot([place, place], [row["p10_s"] / size, row["p90_s"] / size], color="#333333", lw=1)
    axes.set_xticks(range(len(rows)), labels, rotation=30, ha="right", fontsize=8)
