"""The scan that a pool is doing or did last, in whichever form it was printed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Function = Literal["resilver", "scrub", "rebuild", "expand", "remove"]
ScanState = Literal["running", "paused", "finished", "canceled"]


@dataclass(frozen=True, slots=True)
class Scan:
    """The scan a pool is doing or did last.

    Attributes
    ----------
    function : {"resilver", "scrub", "rebuild", "expand", "remove"}
    state : {"running", "paused", "finished", "canceled"}
    form : str
        Family of the text: legacy, 0.8, 2.0, 2.2, solaris, json; empty where the text does not tell.
    date : str
        Begin of one that runs, end of one that is over, as printed.
    at : datetime or None
        The same where it could be read.
    scanned, issued, total, total_issued, repaired : int or None
        [bytes]; `total` is what there is to scan (ALLOC when it began), `total_issued` what is to be issued.
    scan_rate, issue_rate : int or None
        [bytes/s]
    done : float or None
        Share done as printed, from 0 to 1.
    to_go, elapsed : float or None
        [s]; `elapsed` of one that is finished, and of one that runs where zpool prints it.
    errors : int or None
    since : datetime or None
        Begin of one that is paused, whose `at` is when the pause began.
    vdev : str
        The one that is rebuilt, by name; empty for others.
    """

    function: Function
    state: ScanState
    form: str = ""
    date: str = ""
    at: datetime | None = None
    scanned: int | None = None
    issued: int | None = None
    total: int | None = None
    total_issued: int | None = None
    repaired: int | None = None
    scan_rate: int | None = None
    issue_rate: int | None = None
    done: float | None = None
    to_go: float | None = None
    elapsed: float | None = None
    errors: int | None = None
    since: datetime | None = None
    vdev: str = ""

    @property
    def active(self) -> bool:
        """Whether it runs or is paused."""
        return self.state in ("running", "paused")


def to_examine(scan: Scan, vdevs: int) -> int | None:
    """Return what a scan says is allocated in a pool [bytes]; None where it does not tell.

    A removal tells what its one vdev holds: of so many `vdevs` each is taken to hold as much.
    """
    return scan.total * vdevs if scan.total and scan.function == "remove" else scan.total
