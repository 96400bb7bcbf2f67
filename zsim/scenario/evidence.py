"""Evidence: what the same pool has already shown, as a scenario states it.

Each observation is what a command printed, in SI and without interpretation.  What it says of the pool that
is simulated is decided in `zsim.prediction`; where it is read from pasted output is `zsim.observe`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field

from zsim.base.units import Duration
from zsim.scenario.field_types import Bytes, Fraction, Rate, Seconds
from zsim.scenario.messages import SaidInOneSentence

ScanKind = Literal["scrub", "resilver", "rebuild", "heal", "expand", "remove"]
"""What ran: a heal is a resilver that repaired little after an outage, and is never taken for a scrub."""

MOVES: tuple[ScanKind, ...] = ("expand", "remove")
"""Those that copy a vdev and count what is copied, once."""

StatusFormat = Literal["legacy", "0.8-2.1", "2.2+", "rebuild", "unknown"]
"""How ``zpool status`` prints a scan: the counters mean different things in each."""


class _Observation(SaidInOneSentence):
    """What all observations have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    source: str = Field("", max_length=300, description="where it was read: a file, a line, a command")


class FinishedScan(_Observation):
    """A finished scrub, resilver or rebuild on this pool."""

    what: Literal["finished"] = "finished"
    kind: ScanKind = Field(description="scrub, resilver, rebuild, heal, expand or remove")
    duration: Seconds = Field(gt=0, description="from its start to its end, pauses left out")
    resolution: Seconds = Field(1.0, gt=0, description="how coarsely the duration was printed")
    end: datetime | None = Field(None, description="when it ended, local time")
    alloc: Bytes | None = Field(None, gt=0, description="ALLOC of the pool then, where it is known")
    processed: Bytes | None = Field(None, ge=0, description="bytes repaired or resilvered")
    errors: int | None = Field(None, ge=0, description="errors it reported")
    drives: int | None = Field(None, ge=1, description="drives replaced in one go, where it was a resilver")

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            kind: ScanKind,
            duration: Duration,
            resolution: Duration = 1.0,
            end: datetime | str | None = None,
            alloc: int | str | None = None,
            processed: int | str | None = None,
            errors: int | None = None,
            drives: int | None = None,
            source: str = "",
            what: Literal["finished"] = "finished",
        ) -> None: ...


class RunningScan(_Observation):
    """The state of a scan that runs, at one moment."""

    what: Literal["running"] = "running"
    kind: ScanKind = Field(description="scrub, resilver, rebuild, heal, expand or remove")
    format: StatusFormat = Field("unknown", description="how the counters were printed")
    since: datetime | None = Field(None, description="when the scan began, local time")
    at: datetime | None = Field(None, description="when it was looked at, local time")
    elapsed: Seconds | None = Field(None, ge=0, description="time since the scan began")
    resolution: Seconds = Field(1.0, gt=0, description="how coarsely that time was printed")
    elapsed_is_pass: bool = Field(False, description="the elapsed time is that of this pass alone")
    scanned: Bytes | None = Field(None, ge=0, description="bytes visited by the metadata phase")
    issued: Bytes | None = Field(None, ge=0, description="bytes issued (examined, in the legacy order)")
    total: Bytes | None = Field(None, gt=0, description="total as printed beside scanned")
    total_issue: Bytes | None = Field(None, gt=0, description="total as printed beside issued, from 2.2")
    processed: Bytes | None = Field(None, ge=0, description="bytes repaired or resilvered")
    done: Fraction | None = Field(None, description="share done as printed")
    scan_rate: Rate | None = Field(None, ge=0, description="rate printed beside scanned")
    issue_rate: Rate | None = Field(None, ge=0, description="rate printed beside issued")
    to_go: Seconds | None = Field(None, ge=0, description="time to go as printed")
    vdevs: int = Field(1, ge=1, description="top-level vdevs of which drives are resilvered at once")


class DriveActivity(_Observation):
    """What one drive did while a scan ran (``zpool iostat``, ``iostat -x``), or its errors (zpool status)."""

    what: Literal["drive"] = "drive"
    drive: str = Field(min_length=1, max_length=300, description="name of the device as printed")
    leaf: int | None = Field(None, ge=0, description="its number in the layout; replacement drives follow")
    role: Literal["source", "target"] | None = None
    reads: float | None = Field(None, ge=0, description="read operations a second")
    writes: float | None = Field(None, ge=0, description="write operations a second")
    read_rate: Rate | None = Field(None, ge=0, description="bytes read a second")
    write_rate: Rate | None = Field(None, ge=0, description="bytes written a second")
    busy: Fraction | None = Field(None, description="share of time busy (%util)")
    service: Seconds | None = Field(None, ge=0, description="time from issue to completion at the device")
    queue: float | None = Field(None, ge=0, description="requests waiting or under way")
    read_request: Bytes | None = Field(None, gt=0, description="mean size of what the scan reads at a time")
    write_request: Bytes | None = Field(None, gt=0, description="mean size of what is written at a time")
    step: float | None = Field(
        None, gt=1, le=16, description="one row over the one before, of a mean over a histogram's rows"
    )
    read_errors: int | None = Field(None, ge=0, description="READ of zpool status")
    write_errors: int | None = Field(None, ge=0, description="WRITE of zpool status")
    checksum_errors: int | None = Field(None, ge=0, description="CKSUM of zpool status")
    slow_ios: int | None = Field(None, ge=0, description="SLOW of zpool status -s: I/Os of 30 s and more")
    pending_sectors: int | None = Field(
        None, ge=0, description="Current_Pending_Sector of SMART: sectors that it could not read"
    )
    missing: Literal["FAULTED", "OFFLINE", "REMOVED", "UNAVAIL"] | None = Field(
        None, description="STATE of zpool status: the drive is not there, and no repair under way replaces it"
    )
    asked: bool | None = Field(
        None, description="of a missing drive: the repair that is asked for replaces it"
    )


class Benchmark(_Observation):
    """A measurement of one drive or of the pool by hand (fio, dd)."""

    what: Literal["benchmark"] = "benchmark"
    access: Literal["sequential-read", "sequential-write", "random-read", "random-write"]
    of: Literal["drive", "pool"] = "drive"
    rate: Rate | None = Field(None, gt=0, description="bytes a second")
    operations: float | None = Field(None, gt=0, description="operations a second")
    size: Bytes | None = Field(None, gt=0, description="bytes of one operation")
    depth: int | None = Field(None, ge=1, description="operations under way at a time")


class ClassAlloc(_Observation):
    """What lies on the vdevs of an allocation class (``zpool list -v``)."""

    what: Literal["class"] = "class"
    alloc_class: Literal["special"] = "special"
    held: Bytes = Field(gt=0, description="ALLOC of the vdevs of that class together")
    alloc: Bytes | None = Field(None, gt=0, description="ALLOC of the data vdevs then, where it is known")


Observation = Annotated[
    FinishedScan | RunningScan | DriveActivity | Benchmark | ClassAlloc, Field(discriminator="what")
]
"""Anything the pool has shown."""


def missing_drives(observations: Iterable[object], drives: int) -> tuple[DriveActivity, ...]:
    """Return the drives of the first vdev that are not there and that the repair does not replace, each once.

    Parameters
    ----------
    observations : iterable
    drives : int
        How many drives the first vdev has.
    """
    return tuple(each for each in gone_drives(observations) if not each.asked and _is_first(each, drives))


def missing_elsewhere(observations: Iterable[object], drives: int) -> tuple[DriveActivity, ...]:
    """Return the drives of other vdevs than the first that are not there, each once."""
    return tuple(each for each in gone_drives(observations) if not _is_first(each, drives))


def _is_first(each: DriveActivity, drives: int) -> bool:
    return each.leaf is None or each.leaf < drives


def gone_drives(observations: Iterable[object]) -> tuple[DriveActivity, ...]:
    """Return the drives that are not there and that nothing under way replaces, each once."""
    gone = {each.drive: each for each in observations if isinstance(each, DriveActivity) and each.missing}
    return tuple(gone.values())
