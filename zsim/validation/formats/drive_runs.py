"""Simulate a drive or a link alone, under the load of a published measurement.

Everything that moves goes through `zsim.engine.single_drive`, the drive mechanism of the simulated pools.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import InputError
from zsim.drives.models.parameters import DestagePolicy, DriveParameters

if TYPE_CHECKING:
    from zsim.engine.single_drive import DriveRun

SEED = 1
SECTOR, BLOCK = 512, 4096


def mean_rate(drive: str) -> float:
    """Return the mean rate over the whole drive [bytes/s]."""
    from zsim.drives.derived import seconds_to_read_all

    parameters = _drive(drive)
    return parameters.capacity_bytes / seconds_to_read_all(parameters)


def access_time(drive: str) -> float:
    """Return the mean time of a random 4K read, one outstanding [s]."""
    from zsim.drives.derived import random_service

    return random_service(_drive(drive), BLOCK)


def sequential_read_rate(drive: str, size: int) -> float:
    """Return the rate of sequential reads at the start of a drive, one outstanding [bytes/s]."""
    from zsim.engine.single_drive import run_alone

    count = 3000
    offsets = np.arange(count, dtype=np.int64) * size
    done = run_alone(_drive(drive), offsets, np.full(count, size), np.zeros(count, dtype=np.bool_))
    return count * size / done.elapsed


# Queueing.


def random_reads(drive: str, depth: int, size: int = BLOCK) -> float:
    """Return random reads per second of a drive that weighs all commands it holds [1/s]."""
    from zsim.engine.single_drive import random_iops

    return random_iops(replace(_drive(drive), queue_depth=max(depth, 1)), depth, size, requests=6000)


def queue_gain(drive: str, depth: int, longest_wait: float | None = None) -> float:
    """Return random 4K reads per second at a queue depth over those at depth 1.

    Parameters
    ----------
    drive : str
        Name or file of its model.
    depth : int
        Commands outstanding.
    longest_wait : float, optional
        Age limit in place of the drive's own; such a drive weighs all commands that it holds [s].
    """
    from zsim.engine.single_drive import random_iops

    parameters = _drive(drive)
    if longest_wait is not None:
        parameters = replace(parameters, queue_max_age_s=longest_wait, queue_depth=depth)
    return random_iops(parameters, depth, requests=6000) / random_iops(parameters, 1, requests=6000)


def longest_response(drive: str, depth: int, longest_wait: float) -> float:
    """Return the longest response of random 4K reads under an age limit, over the mechanism's bound.

    Beyond the limit a command waits for those that are older, at most `depth` - 1, each of which takes a full
    stroke, a turn and the overhead at most.
    """
    from zsim.engine.single_drive import random_places, run_alone

    parameters = replace(_drive(drive), queue_max_age_s=longest_wait, queue_depth=depth)
    offsets = random_places(parameters, BLOCK, 20_000)
    lengths = np.full(len(offsets), BLOCK, dtype=np.int64)
    run = run_alone(parameters, offsets, lengths, np.zeros(len(offsets), dtype=np.bool_), depth=depth)
    worst = (
        parameters.seek_long_c_s + parameters.seek_long_e_s + parameters.revolution_s
        + parameters.read_overhead_s + BLOCK / min(parameters.zone_rates)
    )  # fmt: skip
    return float((run.completion - run.arrival).max() / (longest_wait + depth * worst))


# Write cache.


def cached_write_iops(drive: str) -> float:
    """Return random 4K writes per second through a cache full of the extents the firmware sorts [1/s]."""
    from zsim.drives.catalogue import load_drive
    from zsim.engine.single_drive import random_places, run_alone

    extents = int(load_drive(drive).quantities["cached_extents"].value)
    parameters = replace(_drive(drive), queue_depth=extents, write_cache_bytes=extents * BLOCK)
    offsets = random_places(parameters, BLOCK, 12 * extents)
    count = len(offsets)
    run = run_alone(parameters, offsets, np.full(count, BLOCK), np.ones(count, dtype=np.bool_), depth=32)
    # The cache fills at the pace of the interface first, and is emptied without new ones last.
    return float(1.0 / run.service[2 * extents : -2 * extents].mean())


def flushed_writes(drive: str, size: int = 8192) -> float:
    """Return appended writes per second, each followed by a flush of the write cache [1/s]."""
    from zsim.engine.single_drive import run_alone

    count = 2000
    parameters = replace(_drive(drive), write_cache_bytes=32 << 20)
    offsets = np.arange(count, dtype=np.int64) * size
    run = run_alone(parameters, offsets, np.full(count, size), np.ones(count, dtype=np.bool_), flush=True)
    return run.iops


def read_wait_beside_writes(drive: str, reads: float, writes: float, destage: DestagePolicy) -> float:
    """Return how long reads wait for a drive that empties its write cache meanwhile, over queueing theory.

    Reads and writes arrive at random, a second so many of each, at random places.  Written at once and in
    order, the cached writes are customers like the reads: the wait of M/G/1 (Pollaczek and Khinchine).
    Written only when no read waits (``idle``), they are a class of lower priority that is not interrupted
    (Cobham 1954).
    """
    from zsim.engine.single_drive import random_places, run_alone

    count, mixed = 60_000, reads + writes
    parameters = replace(
        _drive(drive), queue_policy="fcfs", destage=destage, write_cache_bytes=1 << 30, read_segments=0,
        queue_depth=4096, physical_sector_bytes=SECTOR,
    )  # fmt: skip
    random = np.random.default_rng(SEED)
    arrivals = np.cumsum(random.exponential(1.0 / mixed, count))
    writing = random.random(count) < writes / mixed
    offsets = random_places(parameters, BLOCK, count)
    run = run_alone(parameters, offsets, np.full(count, BLOCK), writing, arrivals=arrivals)
    waited = float((run.start - run.arrival)[~writing].mean())
    half_second_moment = mixed * float(np.mean(run.service**2)) / 2.0
    ahead = run.service[~writing].mean() * reads if destage == "idle" else run.service.mean() * mixed
    return waited / (half_second_moment / (1.0 - float(ahead)))


# Sectors of 4 KiB behind 512 bytes.


def partial_sector_cost(drive: str) -> float:
    """Return what a random write of one 512-byte sector costs more than one of a whole 4K sector [s]."""
    return _write_time(drive, SECTOR, SECTOR) - _write_time(drive, 0, BLOCK)


def unaligned_cost(drive: str) -> float:
    """Return what a random 4K write across two 4K sectors costs more than one of a single sector [s]."""
    return _write_time(drive, SECTOR, BLOCK) - _write_time(drive, 0, BLOCK)


def gapped_writes(drive: str, size: int = BLOCK, step: int = 4 * BLOCK, shift: int = SECTOR) -> float:
    """Return what a write takes if such writes follow each other with gaps, one outstanding, cache on [s]."""
    from zsim.engine.single_drive import run_alone

    parameters, count = _drive(drive), 32_768
    places = np.arange(count, dtype=np.int64) * step + shift
    run = run_alone(parameters, places, np.full(count, size), np.ones(count, dtype=np.bool_))
    return run.elapsed / count


def misaligned_rate(drive: str, size: int, gap: int, depth: int = 10) -> float:
    """Return the rate of ascending writes at odd sectors, over that of the same at whole ones, cache on."""
    from zsim.engine.single_drive import run_alone

    parameters, count = _drive(drive), 10_000
    places = np.arange(count, dtype=np.int64) * (size + gap)
    writes = np.full(count, size), np.ones(count, dtype=np.bool_)
    whole, odd = (run_alone(parameters, places + shift, *writes, depth=depth) for shift in (0, SECTOR))
    return whole.elapsed / odd.elapsed


def _write_time(drive: str, shift: int, size: int) -> float:
    """Return the mean service of random writes without a write cache, so far from a 4K boundary [s]."""
    from zsim.engine.single_drive import random_places, run_alone

    parameters, count = replace(_drive(drive), write_cache_bytes=0), 4000
    places = random_places(parameters, 2 * BLOCK, count) + shift
    run = run_alone(parameters, places, np.full(count, size), np.ones(count, dtype=np.bool_))
    return float(run.service.mean())


# Shingles.


def _shingled(drive: str, capacity: int | None = None) -> DriveParameters:
    from zsim.drives.catalogue import load_drive

    model = load_drive(drive)
    if model.smr() is None:
        raise InputError("drive", drive, "it is no shingled drive", "name one")
    return (model if capacity is None else model.with_capacity(capacity)).parameters()


def smr_random_write_iops(drive: str, size: int) -> float:
    """Return random writes per second of a shingled drive whose persistent cache is full [1/s]."""
    from zsim.engine.single_drive import shingled_writes

    return shingled_writes(_shingled(drive), size)[2]


def smr_bytes_until_full(drive: str, size: int) -> float:
    """Return what random writes put on a shingled drive before the first one waits for a band [bytes]."""
    from zsim.engine.single_drive import shingled_writes

    return float(shingled_writes(_shingled(drive), size)[1] * size)


def smr_ascending_rate(
    drive: str, size: int, gap: float, capacity: int | None = None, volume: float = 60e9
) -> float:
    """Return the steady rate of ascending writes with gaps (a share of their size) on a shingled drive."""
    from zsim.engine.single_drive import run_alone

    count = int(volume // size)
    random = np.random.default_rng(SEED)
    gaps = (random.exponential(gap * size, count) // BLOCK).astype(np.int64) * BLOCK
    offsets = np.cumsum(size + gaps) - size
    run = run_alone(_shingled(drive, capacity), offsets, np.full(count, size), np.ones(count, dtype=np.bool_))
    steady = run.service[count // 2 :]
    return float(len(steady) * size / steady.sum())


def copy_onto_smr(
    drive: str, capacity: int, size: int, gap: float, volume: float, source_rate: float
) -> float:
    """Return how long a volume takes onto a shingled drive when its source delivers a rate [s]."""
    return volume / min(source_rate, smr_ascending_rate(drive, size, gap, capacity))


def scattered_over_source(drive: str, size: int, source_rate: float) -> float:
    """Return how many times longer writes take that reach a shingled drive in no order at all."""
    from zsim.engine.single_drive import shingled_writes

    return source_rate / (size * shingled_writes(_shingled(drive), size)[2])


# Flash.


def _flash(drive: str) -> DriveParameters:
    parameters = _drive(drive)
    if parameters.kind != "flash":
        raise InputError("drive", drive, "it is no solid-state drive", "name one")
    return parameters


def flash_iops(drive: str, depth: int, write: bool = False) -> float:
    """Return random 4K commands per second of a solid-state drive [1/s]."""
    from zsim.engine.single_drive import random_iops

    return random_iops(_flash(drive), depth, write=write, requests=40_000)


def flash_fill_rate(drive: str) -> float:
    """Return the mean rate of writing a solid-state drive from end to end [bytes/s]."""
    from zsim.engine.single_drive import run_alone

    parameters, size = _flash(drive), 8 << 20
    count = parameters.capacity_bytes // size
    offsets = np.arange(count, dtype=np.int64) * size
    run = run_alone(parameters, offsets, np.full(count, size), np.ones(count, dtype=np.bool_), depth=4)
    return count * size / run.elapsed


def pool_repair_rate(
    drive: str,
    layout: str,
    release: str,
    fill: float,
    capacity: int,
    ticks_per_second: int = 1000,
    reads_per_second: float = 0.0,
    sustained_rate: float | None = None,
) -> float:
    """Return the rate at which a resilver reads a small pool, with or without other readers [bytes/s]."""
    from zsim.case.resolve import resolve
    from zsim.prediction.inputs.hardware import plane_model
    from zsim.prediction.runs.member import run_member
    from zsim.scenario.model import Scenario

    load = [{"kind": "random-read", "rate": reads_per_second, "size": 4096}] if reads_per_second else []
    stated = {"layout": layout, "drive": drive, "drive_size": capacity, "fill": fill, "release": release}
    more = {"memory": 8 << 30, "history": "media-server", "hz": ticks_per_second, "load": load}
    case = resolve(Scenario.model_validate({**stated, **more}))
    model = plane_model(case)
    if sustained_rate is not None:
        leaves = (
            replace(leaf, drive=replace(leaf.drive, flash_write_rate=sustained_rate, slc_cache_bytes=0))
            for leaf in model.leaves
        )
        model = replace(model, leaves=tuple(leaves))
    run = run_member(case, model=model, blocks=12_000).run
    return float(run.leaves["scan_read_bytes"].sum()) / run.end


# Links.


def streams_behind(
    drive: str, enclosure: str, drives: int, size: int = 131072, outer_rate: float | None = None
) -> float:
    """Return the total rate of sequential reads from drives behind a link, one outstanding each [bytes/s]."""
    count = 4000 * drives
    places = np.arange(count, dtype=np.int64) % drives
    offsets = np.arange(count, dtype=np.int64) // drives * size
    parameters = _paced(drive, outer_rate)
    return count * size / _run_behind(parameters, enclosure, drives, places, offsets, size, 1).elapsed


def random_behind(
    drive: str,
    enclosure: str,
    drives: int,
    span: float = 1.0,
    outer_rate: float | None = None,
    depth: int = 1,
    size: int = BLOCK,
) -> float:
    """Return random reads per second from drives behind a link, `depth` outstanding at each [1/s]."""
    from zsim.engine.single_drive import random_places

    count = 3000 * drives
    parameters = _paced(drive, outer_rate)
    places = np.arange(count, dtype=np.int64) % drives
    offsets = random_places(parameters, size, count, 0.0, span)
    return _run_behind(parameters, enclosure, drives, places, offsets, size, depth).iops


def random_contrast(
    drive: str, enclosures: list[str], spans: list[float], drives: int, depth: int, size: int
) -> float:
    """Return random reads per second behind the first of two links (or spans) over the second."""
    first, second = (
        random_behind(drive, enclosure, drives, span, depth=depth, size=size)
        for enclosure, span in zip(enclosures, spans, strict=True)
    )
    return first / second


def link_contrast(drive: str, enclosure: str, drives: int) -> float:
    """Return the rate of sequential streams on ports of their own over that behind a link."""
    return drives * streams_behind(drive, "direct", 1) / streams_behind(drive, enclosure, drives)


def _run_behind(
    drive: DriveParameters,
    enclosure: str,
    drives: int,
    places: NDArray[np.int64],
    offsets: NDArray[np.int64],
    size: int,
    depth: int,
) -> DriveRun:
    """Run reads of a size on equal drives that plug into an enclosure, bays filled in order."""
    from zsim.drives.models.links import load_enclosure
    from zsim.engine.model import LeafModel, LinkModel
    from zsim.engine.single_drive import run_drives

    box = load_enclosure(enclosure)
    links = [
        LinkModel(
            rate=flat.link.rate,
            per_command_s=flat.link.per_command_s,
            command_based=flat.link.command_based,
            parent=flat.parent,
        )
        for flat in box.flatten()
    ]
    # The drives do not turn in step.
    leaves = [
        LeafModel(drive=replace(drive, phase_revolutions=0.381966 * number % 1.0), link=link)
        for number, link in enumerate(box.attach(drives))
    ]
    count = len(places)
    lengths, reads = np.full(count, size, dtype=np.int64), np.zeros(count, dtype=np.bool_)
    return run_drives(leaves, links, places, offsets, lengths, reads, depth=depth)


def _paced(drive: str, outer_rate: float | None) -> DriveParameters:
    """Return the parameters of a drive, its outer rate replaced where the source states another."""
    from zsim.drives.catalogue import load_drive

    model = load_drive(drive)
    factor = 1.0 if outer_rate is None else outer_rate / model.parameters().zone_rates[0]
    return model.parameters(outer_rate=factor)


def _drive(name: str) -> DriveParameters:
    """Return a drive of the catalogue, or one of the committed drives that DiskSim knows."""
    from zsim.base.model_data import validation_directory
    from zsim.drives.catalogue import load_drive

    known = validation_directory() / "disksim-vectors" / "drives" / f"{name.removeprefix('disksim-')}.json"
    return load_drive(str(known) if name.startswith("disksim-") else name).parameters()


RUNS: dict[str, Callable[..., float]] = {
    each.__name__: each
    for each in (
        mean_rate, access_time, sequential_read_rate, random_reads, queue_gain, longest_response,
        cached_write_iops, flushed_writes, read_wait_beside_writes, partial_sector_cost, unaligned_cost,
        gapped_writes, misaligned_rate,
        smr_random_write_iops, smr_bytes_until_full, smr_ascending_rate, copy_onto_smr,
        scattered_over_source, flash_iops, flash_fill_rate, pool_repair_rate, streams_behind, random_behind,
        random_contrast, link_contrast,
    )
}  # fmt: skip
