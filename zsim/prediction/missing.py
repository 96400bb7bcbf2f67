"""What nothing names or bounds, said first; and the assumptions as they were simulated."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from zsim.base.units import format_bytes, format_drive_size, format_fraction
from zsim.case.case import Assumption, Case
from zsim.case.worlds import USES, has_unknown_size, largest_record
from zsim.prediction.inputs.ensemble import Unknown


def missing(case: Case, inputs: tuple[Unknown, ...]) -> tuple[str, ...]:
    """Return what moves the answer most and is neither named nor bounded, each with the flag that settles it.

    The sizes of blocks belong to these where nothing else does: they go with the use of the pool, which the
    table of unknown inputs names in any case.
    """
    values = {unknown.name: [choice.value for choice in unknown.choices] for unknown in inputs}
    if case.exact:
        return _taken(case, values)
    found = []
    if values.get("drive_size"):
        low, high = (
            format_drive_size(size) for size in (min(values["drive_size"]), max(values["drive_size"]))
        )
        span = f"{low} to {high}" if low != high else low
        found.append(f"the size of the drives (sampled, {span}: give --drive or --drive-size)")
    if values.get("fill"):
        low, high = format_fraction(min(values["fill"])), format_fraction(max(values["fill"]))
        found.append(f"how full the pool is (sampled, {low} to {high}: give --alloc or --fill)")
    if found and "history" in values and case.assumed("recordsize"):
        found.append(f"its record sizes (sampled, {records(case)}: give --history or --recordsize)")
    return tuple(found)


def _taken(case: Case, values: Container[str]) -> tuple[str, ...]:
    """Return the same of an exact run, which simulates one world."""
    found = []
    if "drive_size" in values:
        size = format_drive_size(case.drive_size)
        found.append(f"the size of the drives (default used: {size}: give --drive or --drive-size)")
    if "fill" in values:
        fill = format_fraction(case.fill)
        found.append(f"how full the pool is (default used: {fill}: give --alloc or --fill)")
    return tuple(found)


def simulated(case: Case, inputs: tuple[Unknown, ...]) -> tuple[Assumption, ...]:
    """Return the assumptions as they were simulated: sizes of records are those of the pool's use."""
    varied = {unknown.name: unknown for unknown in inputs}
    found = []
    for each in case.assumptions:
        if each.field == "recordsize" and case.scenario.block_list is None:
            found.append(_records(case, each))
        elif each.field == "drive_size" and has_unknown_size(case) and "drive_size" in varied:
            text = f"{each.text} at the median"
            found.append(replace(each, text=text, why="not stated; sampled over common sizes"))
        else:
            found.append(each)
    return tuple(found)


def _records(case: Case, each: Assumption) -> Assumption:
    whose = "each use of the pool that is sampled has its own"
    if not case.assumed("history"):
        whose = f"as {case.history.name} has them"
    sizes = _sizes(case)
    return replace(each, value=sizes[0] if len(sizes) == 1 else None, text=records(case), why=whose)


def records(case: Case) -> str:
    """Return the record sizes that are simulated, as a person reads them."""
    sizes = _sizes(case)
    low, high = format_bytes(sizes[0]), format_bytes(sizes[-1])
    return low if low == high else f"{low} to {high}"


def _sizes(case: Case) -> list[int]:
    """Return the record sizes of the uses that a pool may have, in order [bytes]."""
    stated = not case.assumed("history")
    histories = (case.history,) if stated else tuple(case.candidates.histories[name] for name in USES)
    most = largest_record(case)
    return sorted({min(kind.recordsize, most) for history in histories for kind in history.records})
