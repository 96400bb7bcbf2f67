"""Loads stated in bytes per second, or as a share of what the pool can do, as requests per second."""

from __future__ import annotations

import math

from zsim.base.constants import constant
from zsim.base.errors import InputError
from zsim.case.case import Case
from zsim.drives.derived import random_service
from zsim.drives.models.parameters import DriveParameters
from zsim.scenario.layout import VdevSpec
from zsim.scenario.parts import WRITES, Load
from zsim.vdevs.kind import kind_of

CLIENT_READ_S = constant("clients.read_s")


def in_requests(case: Case) -> tuple[Load, ...]:
    """Return the loads of a case, each with requests a second or threads."""
    return tuple(_in_requests(load, case) for load in case.load)


def _in_requests(load: Load, case: Case) -> Load:
    size = request_bytes(load, case)
    if load.bandwidth is not None:
        rate = load.bandwidth / size
    elif load.share is not None:
        rate = load.share * capability(load.kind, size, case)
    else:
        return load
    return load.model_copy(update={"rate": rate, "size": size, "bandwidth": None, "share": None})


def request_bytes(load: Load, case: Case) -> int:
    """Return the size of a request.

    Returns
    -------
    int
        As stated, or that of a usual record of the pool [bytes].
    """
    return load.size or case.usual_record


def write_rate(load: Load) -> float:
    """Return how many requests a second the clients of a load write [1/s].

    Raises
    ------
    InputError
        When threads write asynchronously and never pause.
    """
    if load.rate is not None:
        return load.rate
    pause = float(load.think or 0.0)
    if load.kind == "sync-write":
        return (load.threads or 0) / (pause + CLIENT_READ_S)
    if pause <= 0.0:
        allowed = "threads that write asynchronously and never pause have no rate"
        raise InputError("load", load.kind, allowed, "write async-write,rate=50,size=128K")
    return (load.threads or 0) / pause


def beyond(case: Case) -> tuple[tuple[str, float], ...]:
    """Return which kinds of loads ask for more than the drives can do together, and how many times that.

    Parameters
    ----------
    case : Case
        With its loads in requests a second; threads wait for what they get, and are not among them.

    Notes
    -----
    A random read fetches whole records, as the checksum wants.
    """
    found = []
    for load in case.load:
        if load.rate is not None:
            size = request_bytes(load, case)
            fetched = max(size, case.usual_record) if load.kind == "random-read" else size
            found.append((load.kind, load.rate / capability(load.kind, fetched, case)))
    return tuple((kind, times) for kind, times in found if times > 1.0)


def capability(kind: str, size: int, case: Case) -> float:
    """Return how many requests a second the drives of a pool serve together if nothing else runs [1/s].

    Parameters
    ----------
    kind : str
        Random reads cost each drive of a stripe a seek, or one side of a mirror; streams run at the mean
        media rate of the drives that hold data.
    size : int
        Of a request [bytes].
    case : Case
    """
    return math.fsum(_of_vdev(vdev, kind, size, case) for vdev in case.layout.vdevs)


def _of_vdev(vdev: VdevSpec, kind: str, size: int, case: Case) -> float:
    numbers, is_mirror = case.drive.parameters(), kind_of(vdev.kind).is_replicated
    width = vdev.data or vdev.children - vdev.parity
    if kind == "random-read":
        columns = 1 if is_mirror else max(1, min(width, -(-size >> case.ashift)))
        return vdev.children / columns / _read_s(numbers, size // columns, case.fill)
    is_flash = numbers.kind == "flash"
    rates = (numbers.flash_write_rate,) if is_flash else numbers.zone_rates
    streams = width
    if is_mirror:
        streams = 1 if kind in WRITES else vdev.children
    return streams * math.fsum(rates) / len(rates) / size


def _read_s(numbers: DriveParameters, size: int, fill: float) -> float:
    """Return what a random read costs a drive [s]."""
    if numbers.kind != "flash":
        return random_service(numbers, size, 0.0, fill)
    latency = (numbers.flash_latency_min_s + numbers.flash_latency_max_s) / 2.0
    return (latency + size / numbers.flash_read_rate) / numbers.parallel_commands
