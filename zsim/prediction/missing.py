"""What is neither stated nor bounded by what is stated: printed first."""

from __future__ import annotations

from collections.abc import Container, Iterable

from zsim.base.constants import constant, whole_constant
from zsim.base.units import format_bytes, format_drive_size, format_fraction, format_rate
from zsim.case.case import Case
from zsim.case.worlds import USES, ends_of, memory_share, pick
from zsim.pool.recipes.histories import History
from zsim.prediction.inputs.ensemble import Unknown, unknowns
from zsim.prediction.inputs.scan_memory import needed_memory, sorts

COMMON_MEMORY, ONE_CABLE = whole_constant("answer.common_memory"), constant("answer.one_cable")
USUALLY = constant("answer.usually")
"""Place among hosts, those with most memory first, up to which most are."""
MEMORY = "the memory of the host"


def missing(case: Case, inputs: tuple[Unknown, ...]) -> tuple[str, ...]:
    """Return what moves the answer most and is neither named nor bounded, each with the flag that settles it.

    The sizes of blocks belong to these where nothing else does: they go with the use of the pool, which the
    table of unknown inputs names in any case.
    """
    named = {unknown.name: unknown for unknown in inputs}
    values = {name: [choice.value for choice in unknown.choices] for name, unknown in named.items()}
    if case.exact:
        return _taken(case, values)
    found = []
    if values.get("drive_size"):
        low, high = (format_drive_size(size) for size in ends_of(values["drive_size"]))
        span = f"{low} to {high}" if low != high else low
        found.append(f"the size of the drives (sampled, {span}: give --drive or --drive-size)")
    if values.get("fill"):
        low, high = (format_fraction(fill) for fill in ends_of(values["fill"]))
        found.append(f"how full the pool is (sampled, {low} to {high}: give --alloc or --fill)")
    if found and "history" in values and case.assumed("recordsize"):
        found.append(f"the record sizes (sampled, {record_span(case)}: give --history or --recordsize)")
    known = not values.get("drive_size") and not values.get("fill")
    if known and not (case.assumed("history") and case.assumed("recordsize")):
        found.extend(_memory(case, named.get("memory")))
    return tuple(found)


def _memory(case: Case, unknown: Unknown | None) -> list[str]:
    """Return that nobody says how much memory the host has, where a sorted scan needs more than many have."""
    if not sorts(case) or case.scan_memory is not None or case.facts.block_list is not None:
        return []
    needed = needed_memory(case, case.stated_history())
    if needed < COMMON_MEMORY:
        return []
    taken = "assumed to be enough"
    if unknown is not None:
        share = memory_share(case.history.name)
        low, high = (
            format_bytes(int(share * float(pick(unknown.choices, place))))
            for place in (USUALLY, 1.0 - USUALLY)
        )
        taken = f"sampled, mostly {low} to {high}"
    return [
        f"{MEMORY} ({taken}; with less than {format_bytes(int(needed))} a sorted scan "
        "cannot sort all at once: give --memory)"
    ]


def missing_ports(case: Case, rate: float) -> tuple[str, ...]:
    """Return that nobody says what disks plug into which together move more than a common cable carries.

    Parameters
    ----------
    case : Case
    rate : float
        What all of them read and write on average [bytes/s].
    """
    if case.ports or case.drive.kind != "mechanical" or rate <= ONE_CABLE:
        return ()
    return (
        f"what the drives plug into (ports of their own assumed: together they move {format_rate(rate)}, and "
        f"one SAS cable of four lanes carries {format_rate(ONE_CABLE)}: give --enclosure)",
    )


def missing_of_all(cases: Iterable[Case]) -> tuple[str, ...]:
    """Return what several scenarios all leave out, as `missing` says it of one."""
    found = [missing(case, unknowns(case)) for case in cases]
    return tuple(each for each in found[0] if all(each in others for others in found)) if found else ()


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


def record_span(case: Case, history: History | None = None) -> str:
    """Return the record sizes of `record_sizes`, as a person reads them."""
    sizes = record_sizes(case, history)
    low, high = format_bytes(sizes[0]), format_bytes(sizes[-1])
    return low if low == high else f"{low} to {high}"


def record_sizes(case: Case, history: History | None = None) -> list[int]:
    """Return the record sizes of one use of the pool, or of all that it may have, in order [bytes]."""
    stated = not case.assumed("history")
    every = (case.history,) if stated else tuple(case.candidates.histories[name] for name in USES)
    histories = every if history is None else (history,)
    most = case.largest_record
    return sorted({min(kind.recordsize, most) for each in histories for kind in each.records})
