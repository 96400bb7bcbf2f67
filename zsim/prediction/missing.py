"""What nothing names or bounds, said first; and the assumptions as they were simulated."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from zsim.base.units import format_bytes, format_drive_size, format_fraction
from zsim.pool.recipes.histories import DEFAULT_HISTORY, load_history
from zsim.prediction.inputs.ensemble import Unknown
from zsim.prediction.inputs.worlds import USES, has_unknown_size, largest_record
from zsim.scenario.resolve import Assumption, ResolvedScenario


def missing(resolved: ResolvedScenario, inputs: tuple[Unknown, ...]) -> tuple[str, ...]:
    """Return what moves the answer most and is neither named nor bounded, each with the flag that settles it.

    The sizes of blocks belong to these where nothing else does: they go with the use of the pool, which the
    table of unknown inputs names in any case.
    """
    values = {unknown.name: [choice.value for choice in unknown.choices] for unknown in inputs}
    if resolved.exact:
        return _taken(resolved, values)
    found = []
    if values.get("drive_size"):
        low, high = (
            format_drive_size(size) for size in (min(values["drive_size"]), max(values["drive_size"]))
        )
        span = f"{low} to {high}" if low != high else low
        found.append(f"the size of the drives (varied, {span}: give --drive or --drive-size)")
    if values.get("fill"):
        low, high = format_fraction(min(values["fill"])), format_fraction(max(values["fill"]))
        found.append(f"how full the pool is (varied, {low} to {high}: give --alloc or --fill)")
    if found and "history" in values and resolved.assumed("recordsize"):
        found.append(f"its records (varied, {records(resolved)}: give --history or --recordsize)")
    return tuple(found)


def _taken(resolved: ResolvedScenario, values: Container[str]) -> tuple[str, ...]:
    """Return the same of an exact run, which simulates one world."""
    found = []
    if "drive_size" in values:
        size = format_drive_size(resolved.drive_size)
        found.append(f"the size of the drives (taken as {size}: give --drive or --drive-size)")
    if "fill" in values:
        fill = format_fraction(resolved.fill)
        found.append(f"how full the pool is (taken as {fill}: give --alloc or --fill)")
    return tuple(found)


def simulated(resolved: ResolvedScenario, inputs: tuple[Unknown, ...]) -> tuple[Assumption, ...]:
    """Return the assumptions as they were simulated: sizes of records are those of the pool's use."""
    varied = {unknown.name: unknown for unknown in inputs}
    found = []
    for each in resolved.assumptions:
        if each.field == "recordsize" and resolved.scenario.block_list is None:
            found.append(_records(resolved, each))
        elif each.field == "drive_size" and has_unknown_size(resolved) and "drive_size" in varied:
            text = f"{each.text} in the middle"
            found.append(replace(each, text=text, why="nobody says; varied over what is common"))
        else:
            found.append(each)
    return tuple(found)


def _records(resolved: ResolvedScenario, each: Assumption) -> Assumption:
    whose = "each possible use of the pool has its own"
    if not resolved.assumed("history"):
        whose = f"as {resolved.history or DEFAULT_HISTORY} has them"
    sizes = _sizes(resolved)
    return replace(each, value=sizes[0] if len(sizes) == 1 else None, text=records(resolved), why=whose)


def records(resolved: ResolvedScenario) -> str:
    """Return the record sizes that are simulated, as a person reads them."""
    sizes = _sizes(resolved)
    low, high = format_bytes(sizes[0]), format_bytes(sizes[-1])
    return low if low == high else f"{low} to {high}"


def _sizes(resolved: ResolvedScenario) -> list[int]:
    """Return the record sizes of the uses that a pool may have, in order [bytes]."""
    names = USES if resolved.assumed("history") else (resolved.history or DEFAULT_HISTORY,)
    most = largest_record(resolved)
    return sorted({min(kind.recordsize, most) for name in names for kind in load_history(name).records})
