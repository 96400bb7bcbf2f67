"""Find drives that take longer for a request than their model can, by their completed requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from zsim.case.case import Case
from zsim.drives.derived import random_service
from zsim.drives.models.parameters import DriveParameters
from zsim.prediction.evidence.comparable import role_of, slow_drives
from zsim.prediction.evidence.noise import noise
from zsim.scenario.evidence import DriveActivity


class SlowerThanModel(NamedTuple):
    """A drive that is slower than its model allows.

    Attributes
    ----------
    drive : str
        As printed.
    leaf : int or None
        Its number in the layout.
    model : str
    size : float
        Of a request, in the mean [bytes].
    seen_s, most_s : float
        Time of the drive a request takes, and the most the model needs [s].
    """

    drive: str
    leaf: int | None
    model: str
    size: float
    seen_s: float
    most_s: float

    @property
    def factor(self) -> float:
        """How many times as long it takes, at least."""
        return self.seen_s / self.most_s


def slower_than_model(case: Case, seen: Sequence[DriveActivity]) -> tuple[SlowerThanModel, ...]:
    """Return the drives that are read and slower than their model allows, the slowest first.

    Returns
    -------
    tuple of SlowerThanModel
        Of those with enough reads a second that are beyond ``drive.model`` of ``models/evidence/noise.toml``.

    Notes
    -----
    Utilisation law (Denning and Buzen, ACM Computing Surveys 10, 1978): a drive busy a share of the time that
    completes so many requests a second spends share / requests on each, however long its queue is.  Where
    the share is not told it is at most what is under way on average, requests times the wait of each
    (Little's law), and at most one.  No disk needs more than a random read of that size over all its tracks,
    one at a time: order and queues only shorten that.
    """
    found = (_slower(case, each) for each in seen if role_of(case, each) == "source")
    return tuple(sorted((each for each in found if each is not None), key=lambda each: -each.factor))


def most_slowed(case: Case) -> float:
    """Return how many times as long the slowest drive takes by what it did, as its model and peers tell.

    Returns
    -------
    float
        1 where no drive stands out, or the scenario states which are slow: they are simulated so.
    """
    seen = [each for each in case.scenario.evidence or () if isinstance(each, DriveActivity)]
    if case.scenario.slow or not seen:
        return 1.0
    factors = [*slow_drives(case, seen).values(), *(each.factor for each in slower_than_model(case, seen))]
    return max(factors, default=1.0)


def retries(case: Case) -> bool:
    """Tell whether a drive that is read has failed or delayed I/Os, by the counters of zpool status."""
    return any(
        bool(each.read_errors or each.slow_ios or each.pending_sectors) and each.role != "target"
        for each in case.scenario.evidence or ()
        if isinstance(each, DriveActivity)
    )


def _slower(case: Case, each: DriveActivity) -> SlowerThanModel | None:
    reads, writes = each.reads or 0.0, each.writes or 0.0
    done = reads + writes
    if done < noise("drive.least", "1/s") or reads < noise("drive.reads") * done:
        return None
    busy = each.busy if each.busy is not None else min(1.0, done * (each.service or 0.0))
    size = ((each.read_rate or 0.0) + (each.write_rate or 0.0)) / done
    most_s = _most_s(case.drive.parameters(), size)
    slower = SlowerThanModel(each.drive, each.leaf, case.drive.name, size, busy / done, most_s)
    return slower if slower.factor > noise("drive.model") else None


def _most_s(numbers: DriveParameters, size: float) -> float:
    """Return the most that a read of a size takes a sound drive [s]."""
    if numbers.kind == "flash":
        return numbers.flash_latency_max_s + size / numbers.flash_read_rate
    return random_service(numbers, round(size))


def shared_by(case: Case, slow: Sequence[SlowerThanModel]) -> str | None:
    """Return the shared link behind which all slow drives are, and no other that is known.

    Returns
    -------
    str or None
        None of fewer than two drives, or where the number of one is not known.
    """
    leaves = {each.leaf for each in slow}
    if len(leaves) < 2 or None in leaves:
        return None
    return next((port.name for port in case.ports if leaves <= set(port.leaves)), None)
