"""Pools of single drives: nothing is repaired, a drive that fails takes the pool with it."""

from __future__ import annotations

from dataclasses import replace

from zsim.case.case import Case
from zsim.planning.risk.question import Unknowns
from zsim.planning.risk.records import Chance, Grades
from zsim.planning.risk.reliability import Spread
from zsim.scenario.layout import Layout

NOTES_OF_REPAIRS = ("correlation", "spare", "detect", "scrub", "age")
"""What is assumed of repairs, of a second failure and of latent errors that wait for one."""
COPIES = (
    "files are stored once (copies=1): an unreadable sector costs the file that it is in, and zpool status -v"
    " lists it; ZFS stores its metadata two or three times"
)
CERTAIN = Chance(p=1.0, low=1.0, high=1.0)
ALL_LOST = Grades(files=CERTAIN, vdev=CERTAIN, pool=CERTAIN)
"""What the failure of a drive means of which there is no copy."""


def plain_words(layout: Layout, hours: float | None) -> tuple[str, ...]:
    """Return what is to be known of plain disks in a fleet; nothing of other pools.

    Parameters
    ----------
    layout : Layout
    hours : float or None
        Stated for what takes the place of a repair [h].
    """
    if not layout.is_plain:
        return ()
    restored = (
        "hours is what restoring it from a backup takes"
        if hours is not None
        else "restoring it from a backup is not counted; state its duration as hours"
    )
    return (f"a drive that fails takes the pool with it; {restored}",)


def without_repairs(known: Unknowns) -> Unknowns:
    """Return the inputs of a pool in which nothing is repaired: those of failures and latent errors alone."""
    notes = {name: text for name, text in known.notes.items() if name not in NOTES_OF_REPAIRS}
    none = Spread.exactly(0.0)
    one = Spread.exactly(1.0)
    return replace(known, correlation=one, delay=none, hours=none, notes={**notes, "copies": COPIES})


def single_drives(case: Case) -> tuple[str, ...]:
    """Return what is to be known of single drives beside vdevs that have redundancy."""
    alone = [vdev for vdev in case.layout.stored if vdev.is_disk]
    if not alone or case.layout.is_plain:
        return ()
    names = ", ".join(dict.fromkeys(str(vdev) for vdev in alone))
    count = f"{len(alone)} drives" if len(alone) > 1 else "one drive"
    return (
        f"{names}: {count} without redundancy, beside vdevs that have it: the pool is lost with"
        f" {'the first of them that fails' if len(alone) > 1 else 'it'}, which no repair prevents",
    )
