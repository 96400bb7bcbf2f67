"""Notes about the simulated pools, printed with the answer."""

from __future__ import annotations

from collections.abc import Sequence

from zsim.base.constants import whole_constant
from zsim.base.units import format_bytes, format_fraction
from zsim.case.case import Case
from zsim.engine.model import PlaneModel
from zsim.operation.rules import rebuild_window
from zsim.vdevs.kind import kind_of

AT_ONCE = whole_constant("answer.spares_at_once")


def of_sitting(case: Case) -> str:
    """Return which drives sit out; empty where none does."""
    if not case.sitting:
        return ""
    named = ", ".join(map(str, sorted(map(case.scenario.drive_of, case.sitting))))
    return f"drive {named} sits out: autosit takes it out of the reads after some 20 s"


def of_world_shown(case: Case, note: str) -> str:
    """Return what is different about the pool shown; where its use was drawn, others may be as stated."""
    if not note or not case.assumed("history"):
        return note
    return f"in the simulated pool shown, {note}; say what the pool stores (--history)"


def of_no_room(case: Case, uses: Sequence[str]) -> str:
    """Return which possible pools, by their uses, were not run; empty where all were."""
    if not uses:
        return ""
    pools, are, have = ("pool", "is", "it has") if len(uses) == 1 else ("pools", "are", "they have")
    remedy = "; say what the pool stores (--history)" if case.assumed("history") else ""
    return (
        f"{len(uses)} possible {pools} ({' and '.join(sorted(set(uses)))}) {are} not simulated: "
        f"{format_fraction(case.fill)} full, {have} no hole large enough for the next block{remedy}"
    )


def of_slices(case: Case, model: PlaneModel) -> str:
    """Return that the repaired data go to one drive at a time; empty where a rebuild writes to several.

    All rows of a slice have the same spare drive, and only what is in flight reaches the next slice
    (OpenZFS vdev_draid.c:vdev_draid_map_alloc_row).
    """
    vdev = case.layout.vdevs[0]
    kind = kind_of(vdev.kind)
    if not (case.onto_spare and case.operation == "rebuild"):
        return ""
    columns, run = kind.columns(vdev), kind.spare_run(vdev)
    window = rebuild_window(model, 0, case.release, case.memory)
    if run * AT_ONCE <= window.limit // columns:
        return ""
    return (
        f"every {format_bytes(run)} of what is repaired goes to one drive before the next takes its turn; "
        f"children less spares that are a multiple of {columns} would change the drive with each row"
    )
