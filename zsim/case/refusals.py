"""What a case may state but zsim cannot simulate: refused in one sentence."""

from __future__ import annotations

import math

from zsim.base.constants import constant
from zsim.base.errors import InputError, NotSimulatedYet
from zsim.base.units import format_both, format_bytes, format_fraction
from zsim.case.case import Case
from zsim.case.loads import request_bytes, write_rate
from zsim.scenario.parts import WRITES
from zsim.scenario.releases.capacity import free_to_remove
from zsim.vdevs.kind import kind_of

HOPELESS = constant("clients.hopeless")
"""Loads of so many times what the drives can do have no steady state, however well requests are merged."""


def refuse_what_is_missing(case: Case) -> None:
    """Refuse what the scenario may state but cannot be, or is not simulated yet.

    Raises
    ------
    NotSimulatedYet
        For several sides of a mirror rebuilt at a time.
    InputError
        For a removal without room, a replacement that is too small, and loads that no drive serves.
    """
    replicated = kind_of(case.layout.vdevs[0].kind).is_replicated
    if case.operation == "rebuild" and case.replace > 1 and replicated:
        raise NotSimulatedYet("replace", case.replace, "one drive of a mirror is rebuilt at a time", "")
    if case.operation == "remove":
        _refuse_removal(case)
    for each in case.scenario.exchanged or ():
        if each.size is not None and each.size < case.drive_size:
            allowed = f"ZFS takes no replacement smaller than the {format_both(case.drive_size)} it replaces"
            raise InputError("exchanged", str(each), allowed, "give a larger drive")
    for load in case.load:
        if load.kind in WRITES:
            write_rate(load)
    _refuse_what_no_drive_serves(case)


def _refuse_removal(case: Case) -> None:
    """Refuse to remove a vdev that has more space than is free."""
    needed = free_to_remove(case.layout, case.drive_size, case.release)
    free = case.pool_size - case.alloc
    if free < needed:
        allowed = (
            f"zpool remove wants as much space free as {case.layout.vdevs[0]} has in all, whatever is on it: "
            f"{format_bytes(needed)} with what ZFS keeps, {format_bytes(free)} are"
        )
        raise InputError(
            "fill", format_fraction(case.fill), allowed, "state how full it is, or add a vdev first"
        )


def _refuse_what_no_drive_serves(case: Case) -> None:
    """Refuse loads far beyond what the drives together can read or write: their queue grows without end.

    No drive moves more than its outermost tracks pass under the head, or its flash reads, and no disk is at
    another place sooner than after half a revolution on average.  No order of requests makes flash faster:
    a load of all that it can do leaves nothing.
    """
    numbers = case.drive.parameters()
    is_flash = numbers.kind == "flash"
    times = 1.0 if is_flash else HOPELESS
    most_bytes = times * case.leaves * (numbers.flash_read_rate if is_flash else max(numbers.zone_rates))
    each_s = numbers.revolution_s / 2.0
    most_reads = times * case.leaves / each_s if each_s > 0.0 else math.inf
    for load in case.load:
        if load.rate is None:
            continue
        record = case.usual_record
        size = max(request_bytes(load, case), record if load.kind == "random-read" else 0)
        most = most_bytes / size
        if load.kind == "random-read":
            most = min(most, most_reads / math.ceil(size / record))
        if load.rate > most:
            allowed = (
                f"requests of {format_bytes(size)} at this rate are more than "
                f"{'' if is_flash else f'{HOPELESS:g} times '}what {case.leaves} such drives can do, "
                f"{most / times:.0f} a second"
            )
            raise InputError("load rate", f"{load.rate:g}", allowed, "give what the pool serves, or threads")
