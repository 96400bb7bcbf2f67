"""Ask a world for values that can be compared with observations: scans, activity, a drive."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from zsim.base.constants import constant, whole_constant
from zsim.base.errors import ZsimError
from zsim.case.case import Case
from zsim.drives.models.parameters import DriveParameters
from zsim.prediction.inputs.hardware import drive_parameters, in_phase, plane_model
from zsim.prediction.inputs.population import WorldPopulation, miniature
from zsim.prediction.runs.member import MemberResult
from zsim.prediction.runs.one_tile import run_pool
from zsim.prediction.summary import leaf_rows
from zsim.scenario.releases.profile import Operation
from zsim.vdevs.kind import NORMAL, kind_of

Role = Literal["source", "target"]
ActivityQuantity = Literal["read_rate", "write_rate", "busy", "service", "read_request", "write_request"]
RANDOM_BYTES = whole_constant("evidence.random_bytes")
HALF = constant("evidence.half")


@dataclass(frozen=True, slots=True)
class ScanProbe:
    """How long a scan takes.

    Attributes
    ----------
    operation : {"scrub", "resilver", "rebuild"}
    replaced : int
        Drives replaced at once; 0 in a scrub.
    alloc : int or None
        ALLOC then [bytes]; None: as now.
    """

    operation: Operation
    replaced: int = 0
    alloc: int | None = None


@dataclass(frozen=True, slots=True)
class ActivityProbe:
    """What drives of one role do while the operation runs: rate [B/s], share of time, time [s], size [B]."""

    role: Role
    quantity: ActivityQuantity


@dataclass(frozen=True, slots=True)
class DriveProbe:
    """What a drive alone does: bytes a second from its first tracks on, or random reads a second."""

    access: Literal["sequential-read", "sequential-write", "random-read"]
    size: int = RANDOM_BYTES


@dataclass(frozen=True, slots=True)
class HeldProbe:
    """What lies on the vdevs of an allocation class.

    Attributes
    ----------
    of : {"special"}
        The class.
    alloc : int or None
        ALLOC of the pool then [bytes]; None: as now.
    """

    of: Literal["special"]
    alloc: int | None = None


Probe = ScanProbe | ActivityProbe | DriveProbe | HeldProbe


@dataclass(slots=True)
class Ran:
    """A world that was run, and what else has been run on its population.

    Attributes
    ----------
    world : Case
        As it is in this world.
    pool : WorldPopulation or None
        None where no scan of it is asked for.
    result : MemberResult
        Of the operation that is asked for.
    blocks : int or None
        Size of the population.
    """

    world: Case
    pool: WorldPopulation | None
    result: MemberResult
    blocks: int | None = None
    _scans: dict[tuple[str, int], float] | None = None

    def shows(self, probe: Probe) -> float:
        """Return what this world shows.

        Returns
        -------
        float
            Natural logarithm of a duration [s], rate [B/s or 1/s], share or size [bytes]; nan where it cannot
            be simulated, or is nothing.  A scan of another ALLOC takes as much longer as that is larger.
        """
        try:
            value = self._value(probe)
        except ZsimError:
            return math.nan
        return math.log(value) if value > 0.0 else math.nan

    def _value(self, probe: Probe) -> float:
        if isinstance(probe, ScanProbe):
            grown = 1.0 if probe.alloc is None else probe.alloc / self.world.alloc
            return self._scan_s(probe) * grown
        if isinstance(probe, ActivityProbe):
            return activity(self.result, probe)
        if isinstance(probe, HeldProbe):
            return self._held_bytes(probe)
        return drive_alone(self.world, probe)

    def _held_bytes(self, probe: HeldProbe) -> float:
        """Return what lies on the vdevs of a class [bytes]; 0 where there are none, or no population."""
        layout = self.world.layout
        if self.pool is None or not layout.places_of(probe.of):
            return 0.0
        share_on = self.pool.table.share_on
        # ALLOC of a case is what lies on its data vdevs.
        whole = (probe.alloc or self.world.alloc) / share_on(layout.places_of(NORMAL))
        return share_on(layout.places_of(probe.of)) * whole

    def _scan_s(self, probe: ScanProbe) -> float:
        """Return how long a scan of this population takes; each kind is run once [s]."""
        known = self._scans = {} if self._scans is None else self._scans
        key = (probe.operation, probe.replaced)
        if key not in known:
            known[key] = self._scanned(as_it_was(self.world, probe.operation, probe.replaced))
        return known[key]

    def _scanned(self, other: Case) -> float:
        if other is self.world:
            return self.result.time_s
        model = plane_model(other)
        pool = self.pool
        if pool is None or (other.operation == "rebuild") != (self.world.operation == "rebuild"):
            pool = miniature(other, blocks=self.blocks)
        return run_pool(other, pool, model).time_s


def as_it_was(case: Case, operation: Operation, replaced: int) -> Case:
    """Return the scenario of an earlier scan of the same pool; the same object where it is what is asked for.

    Whatever replaced a drive then was of the pool's own kind, and the drive that it replaced was gone.
    """
    same_drive = operation == "scrub" or case.new_drive == case.drive
    plain = case.second_at is None and case.old_drive != "overwritten"
    if (operation, replaced) == (case.operation, case.replace) and same_drive and plain:
        return case
    vdev = case.layout.vdevs[0]
    has_spare = kind_of(vdev.kind).has_distributed_spares and bool(vdev.spares)
    spare = operation == "rebuild" and has_spare and replaced == 1
    return replace(
        case,
        operation=operation,
        replace=replaced,
        old_drive="online" if operation == "scrub" else "missing",
        second_at=None,
        target="distributed-spare" if spare else "new-drive",
        new_drive=case.drive,
        new_drive_size=case.drive_size,
    )


def activity(result: MemberResult, probe: ActivityProbe) -> float:
    """Return what drives of a role do on average over the operation.

    Returns
    -------
    float
        Rate [B/s], share of the time that they are busy, time from issue to completion of a request [s], or
        the mean size of one [B]; 0 where there are no such drives.

    Notes
    -----
    The time from issue to completion is the mean number of requests at the drive over their rate (Little,
    Operations Research 9, 1961).
    """
    row = next((row for row in leaf_rows(result) if row.role == probe.role), None)
    if row is None:
        return 0.0
    if probe.quantity == "service":
        return row.queue / row.iops if row.iops > 0.0 else 0.0
    if probe.quantity in ("read_request", "write_request"):
        rate = row.read_rate if probe.quantity == "read_request" else row.write_rate
        return rate / row.iops if row.iops > 0.0 else 0.0
    values = {"read_rate": row.read_rate, "write_rate": row.write_rate, "busy": row.utilisation}
    return values[probe.quantity]


def drive_alone(world: Case, probe: DriveProbe) -> float:
    """Return what a drive alone does.

    Parameters
    ----------
    world : Case
        In its world: its factors scale the drive's numbers.
    probe : DriveProbe

    Returns
    -------
    float
        The rate of its outermost tracks, at most that of its interface [B/s]; of random reads ``1 / t`` with
        t of `random_read_s` [1/s].  Of solid-state drives the rate of all commands in parallel, beyond the
        fast region.
    """
    model, factors, rate = world.drive, world.member.factors, 1.0
    if probe.access == "sequential-write":
        model, rate = world.new_drive, factors.new_rate
    numbers = in_phase(drive_parameters(model, factors, write_cache=world.write_cache, rate=rate), 0)
    if probe.access == "random-read":
        return 1.0 / random_read_s(numbers, probe.size)
    if numbers.kind == "flash":
        parallel = 1 if numbers.flash_shares_rate else numbers.parallel_commands
        write = probe.access == "sequential-write"
        each = numbers.flash_write_rate if write else numbers.flash_read_rate
        if write and numbers.slc_cache_bytes > 0:
            each = numbers.slc_rate_after
        return min(each * parallel, numbers.interface_rate)
    return min(numbers.zone_rates[0], numbers.interface_rate)


def random_read_s(drive: DriveParameters, size: int) -> float:
    """Return the mean time of a random read alone at the drive.

    Parameters
    ----------
    drive : DriveParameters
    size : int
        Of a read [bytes].

    Returns
    -------
    float
        ``overhead + E[seek(d)] + revolution / 2 + size / mean rate`` with d the distance of two random places
        as a share of the stroke; of flash ``overhead + mean latency + size / rate`` [s].

    Notes
    -----
    The mean over the distance of two random places, whose density is 2 (1 - d), in 200 steps.
    """
    if drive.kind == "flash":
        latency = HALF * (drive.flash_latency_min_s + drive.flash_latency_max_s)
        return drive.read_overhead_s + latency + size / drive.flash_read_rate
    steps = 200
    seek = 0.0
    for step in range(steps):
        d = (step + HALF) / steps
        short = drive.seek_short_a_s + drive.seek_short_b_s * math.sqrt(d)
        long = drive.seek_long_c_s + drive.seek_long_e_s * d
        seek += 2.0 * (1.0 - d) / steps * (short if d < drive.seek_knee else long)
    mean_rate = math.fsum(drive.zone_rates) / len(drive.zone_rates)
    return drive.read_overhead_s + seek + HALF * drive.revolution_s + size / mean_rate
