"""Format ``experiments.toml``: a drive or a link alone, measured by somebody, and what the model gives.

::

    [[experiments]]
    name = "hd103uj-mean-rate"
    run = "mean_rate"               # one of `RUNS`
    drive = "hd103uj"               # further keys are the arguments of the run
    observed = 95.3e6
    unit = "B/s"
    tolerance = 0.05                # left out: for information
    source = "..."
    note = "..."
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from zsim.errors import InputError
from zsim.scenario.catalogue import load_toml, suggest
from zsim.validate.frame import Case, Claim, Options, judge

KEYS = frozenset({"name", "run", "observed", "unit", "tolerance", "source", "note"})
SEED = 1


def discover(path: Path) -> list[Case]:
    """Return one case an experiment."""
    return [
        Case(
            name=str(entry["name"]),
            kind="drive-experiment",
            format="drive-experiments",
            path=path,
            key=str(entry["name"]),
            claim=str(entry["run"]),
            observed=float(entry["observed"]),
            tolerance=entry.get("tolerance"),
            unit=str(entry["unit"]),
        )
        for entry in _entries(path)
    ]


def run(case: Case, options: Options) -> list[Claim]:
    """Return the one claim of an experiment."""
    del options
    entry = next(each for each in _entries(case.path) if each["name"] == case.key)
    arguments = {key: value for key, value in entry.items() if key not in KEYS}
    predicted = RUNS[entry["run"]](**arguments)
    note = str(entry.get("note", ""))
    return [judge(case, case.claim, case.observed, predicted, case.tolerance, unit=case.unit, reason=note)]


def _entries(path: Path) -> list[dict[str, Any]]:
    entries = load_toml(path / "experiments.toml").get("experiments")
    if not isinstance(entries, list) or not entries:
        raise InputError("experiments.toml", None, "it holds [[experiments]]", "add one")
    for number, entry in enumerate(entries, start=1):
        missing = sorted({"name", "run", "observed", "unit", "source"} - set(entry))
        if missing:
            field = f"experiments.toml: experiment {number}: {missing[0]}"
            raise InputError(field, None, "every experiment has it", "add it")
        if entry["run"] not in RUNS:
            field = f"experiments.toml: {entry['name']}: run"
            raise InputError(field, entry["run"], "there is no such run", suggest(str(entry["run"]), RUNS))
    return entries


def mean_rate(drive: str) -> float:
    """Return the mean rate over the whole drive [bytes/s]."""
    from zsim.drives.alone import seconds_to_read_all
    from zsim.drives.catalogue import load_drive

    model = load_drive(drive)
    return model.capacity_bytes / seconds_to_read_all(model.parameters())


def access_time(drive: str) -> float:
    """Return the mean time of a random 4K read, one outstanding [s]."""
    from zsim.drives.catalogue import load_drive
    from zsim.drives.derived import random_service

    return random_service(load_drive(drive).parameters(), 4096)


def sequential_read_rate(drive: str, size: int) -> float:
    """Return the rate of sequential reads at the start of a drive, one outstanding [bytes/s]."""
    from zsim.drives.alone import run_alone
    from zsim.drives.catalogue import load_drive

    count = 3000
    offsets = np.arange(count, dtype=np.int64) * size
    done = run_alone(
        load_drive(drive).parameters(), offsets, np.full(count, size), np.zeros(count, dtype=np.bool_)
    )
    return count * size / done.elapsed


def queue_gain(drive: str, depth: int) -> float:
    """Return random 4K reads per second at a queue depth over those at depth 1."""
    from zsim.drives.alone import random_iops
    from zsim.drives.catalogue import load_drive

    parameters = load_drive(drive).parameters()
    return random_iops(parameters, depth, requests=6000) / random_iops(parameters, 1, requests=6000)


def cached_write_iops(drive: str) -> float:
    """Return random 4K writes per second through a full write cache [1/s]."""
    from zsim.drives.catalogue import load_drive
    from zsim.drives.mechanics import drive_table
    from zsim.drives.writecache import run_cached_writes

    model = load_drive(drive)
    table, rates = drive_table([model.parameters()])
    limit = int(model.quantities["cached_extents"].value)
    count = 12 * limit
    offsets = np.random.default_rng(SEED).integers(0, model.capacity_bytes // 4096, count) * 4096
    done = np.empty(count + 1)
    cache = int(model.quantities["write_cache"].si)
    run_cached_writes(table[0], rates[0], offsets, 4096, cache, limit, limit, done)
    # The cache fills at the pace of the interface first; the steady state is what is measured.
    first = 2 * limit
    return float((count - 1 - first) / (done[count - 1] - done[first]))


def partial_sector_cost(drive: str) -> float:
    """Return what a random write of one 512-byte sector costs more than one of a whole 4K sector [s]."""
    from zsim.drives.alone import run_alone
    from zsim.drives.catalogue import load_drive

    parameters, count = load_drive(drive).parameters(), 4000
    places = np.random.default_rng(SEED).integers(0, parameters.capacity_bytes // 4096, count) * 4096
    writes = np.ones(count, dtype=np.bool_)
    whole = run_alone(parameters, places, np.full(count, 4096), writes)
    part = run_alone(parameters, places + 512, np.full(count, 512), writes)
    return float(part.service.mean() - whole.service.mean())


def _smr_times(
    drive: str, size: int, scattered: bool, count: int, gap: float = 0.0, capacity: int | None = None
) -> Any:
    """Return the time of each write of a size, at random or ascending with gaps [s]."""
    from zsim.drives.catalogue import load_drive
    from zsim.drives.mechanics import drive_table
    from zsim.drives.smr import smr_run, smr_sizes, smr_state

    model = load_drive(drive)
    if capacity is not None:
        model = model.with_capacity(capacity)
    smr = model.smr()
    if smr is None:
        raise InputError("drive", drive, "it is no shingled drive", "name one")
    parameters = model.parameters()
    table, rates = drive_table([parameters])
    random = np.random.default_rng(SEED)
    if scattered:
        offsets = random.integers(0, parameters.capacity_bytes // size, count) * size
    else:
        gaps = (random.exponential(gap * size, count) // 4096).astype(np.int64) * 4096
        offsets = np.cumsum(size + gaps) - size
    out = np.empty(count)
    lengths = np.full(count, size, dtype=np.int64)
    smr_run(table[0], rates[0], smr_state(parameters, smr), smr_sizes(smr), offsets, lengths, out)
    return out


def smr_random_write_iops(drive: str, size: int) -> float:
    """Return random writes per second of a shingled drive whose persistent cache is full [1/s]."""
    return float(1.0 / _smr_times(drive, size, True, 300_000)[-10_000:].mean())


def smr_bytes_until_full(drive: str, size: int) -> float:
    """Return what random writes put on a shingled drive before the first one waits for a band [bytes]."""
    times = _smr_times(drive, size, True, 300_000)
    return float(np.argmax(times > 0.1) * size)


def smr_ascending_rate(drive: str, size: int, gap: float, capacity: int | None = None) -> float:
    """Return the steady rate of ascending writes with gaps (a share of their size) on a shingled drive."""
    times = _smr_times(drive, size, False, 60_000_000_000 // size, gap, capacity)
    steady = times[len(times) // 2 :]
    return float(len(steady) * size / steady.sum())


def copy_onto_smr(
    drive: str, capacity: int, size: int, gap: float, volume: float, source_rate: float
) -> float:
    """Return how long a volume takes onto a shingled drive when its source delivers a rate [s]."""
    return volume / min(source_rate, smr_ascending_rate(drive, size, gap, capacity))


def scattered_over_source(drive: str, size: int, source_rate: float) -> float:
    """Return how many times longer writes take that reach a shingled drive in no order at all."""
    times = _smr_times(drive, size, True, 300_000)[-10_000:]
    return source_rate / float(size / times.mean())


def flash_iops(drive: str, depth: int, write: bool = False) -> float:
    """Return random 4K commands per second of a solid-state drive [1/s]."""
    from zsim.drives.catalogue import load_drive
    from zsim.drives.flash import flash_numbers, flash_run, flash_state

    flash = load_drive(drive).flash()
    if flash is None:
        raise InputError("drive", drive, "it is no solid-state drive", "name one")
    count = 40_000
    return count / float(flash_run(flash_numbers(flash), flash_state(flash), depth, count, 4096, write))


def flash_fill_rate(drive: str) -> float:
    """Return the mean rate of writing a solid-state drive from end to end [bytes/s]."""
    from zsim.drives.catalogue import load_drive
    from zsim.drives.flash import flash_numbers, flash_run, flash_state

    model = load_drive(drive)
    flash = model.flash()
    if flash is None:
        raise InputError("drive", drive, "it is no solid-state drive", "name one")
    size = 1 << 20
    count = model.capacity_bytes // size
    elapsed = flash_run(flash_numbers(flash), flash_state(flash), 4, count, size, True)
    return count * size / float(elapsed)


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
    from dataclasses import replace

    from zsim.predict.ensemble import Member
    from zsim.predict.hardware import plane_model
    from zsim.predict.member import run_member
    from zsim.scenario.model import Scenario
    from zsim.scenario.resolve import resolve

    load = [{"kind": "random-read", "rate": reads_per_second, "size": 4096}] if reads_per_second else []
    stated = {"layout": layout, "drive": drive, "drive_size": capacity, "fill": fill, "release": release}
    more = {"memory": 8 << 30, "history": "media-server", "hz": ticks_per_second, "load": load}
    resolved = resolve(Scenario.model_validate({**stated, **more}))
    model = plane_model(resolved, Member().factors, resolved.seed)
    if sustained_rate is not None:
        leaves = (
            replace(leaf, drive=replace(leaf.drive, flash_write_rate=sustained_rate, slc_cache_bytes=0))
            for leaf in model.leaves
        )
        model = replace(model, leaves=tuple(leaves))
    run = run_member(resolved, Member(), model=model, blocks=12_000).run
    return float(run.leaves["scan_read_bytes"].sum()) / run.end


def streams_behind(
    drive: str, enclosure: str, drives: int, size: int = 131072, outer_rate: float | None = None
) -> float:
    """Return the total rate of sequential reads from drives behind a link [bytes/s]."""
    from zsim.drives.behind_link import sequential_rate_behind

    return sequential_rate_behind(_paced(drive, outer_rate), _link(enclosure), drives, size)


def random_behind(
    drive: str, enclosure: str, drives: int, span: float = 1.0, outer_rate: float | None = None
) -> float:
    """Return random 4K reads per second from drives behind a link, one outstanding each [1/s]."""
    from zsim.drives.behind_link import random_rate_behind

    return random_rate_behind(_paced(drive, outer_rate), _link(enclosure), drives, 4096, span)


def link_contrast(drive: str, enclosure: str, drives: int) -> float:
    """Return the rate of sequential streams on ports of their own over that behind a link."""
    from zsim.drives.behind_link import NO_LINK, sequential_rate_behind

    parameters = _paced(drive, None)
    return sequential_rate_behind(parameters, NO_LINK, drives) / sequential_rate_behind(
        parameters, _link(enclosure), drives
    )


def _paced(drive: str, outer_rate: float | None) -> Any:
    """Return the parameters of a drive, its outer rate replaced where the source states another."""
    from zsim.drives.catalogue import load_drive

    model = load_drive(drive)
    factor = 1.0 if outer_rate is None else outer_rate / model.parameters().zone_rates[0]
    return model.parameters(outer_rate=factor)


def _link(enclosure: str) -> Any:
    from zsim.drives.links import load_enclosure

    return load_enclosure(enclosure).root


RUNS: dict[str, Callable[..., float]] = {
    each.__name__: each
    for each in (
        mean_rate, access_time, sequential_read_rate, queue_gain, cached_write_iops, partial_sector_cost,
        smr_random_write_iops, smr_bytes_until_full, smr_ascending_rate, copy_onto_smr,
        scattered_over_source, flash_iops, flash_fill_rate, pool_repair_rate, streams_behind, random_behind,
        link_contrast,
    )
}  # fmt: skip
