"""What nobody stated, as distributions: the members of the ensemble and what distinguishes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zsim.drives.models.links import load_enclosure
from zsim.drives.models.model import DriveModel, DriveSpread
from zsim.prediction.inputs.hardware import HOST, Factors, drive_models, physical_sector, shares_host
from zsim.prediction.inputs.worlds import (
    Choice,
    assumption,
    data_bytes,
    drive_classes,
    fills,
    loads,
    pick,
    sector_sizes,
    shinglings,
    uses,
    write_caches,
)
from zsim.prediction.numbers import whole_constant
from zsim.scenario.resolve import ResolvedScenario

MEMBERS = whole_constant("work.members")
LOGICAL_SECTOR = 9
NORMAL = NormalDist()
HYPERCUBES = whole_constant("work.hypercubes")
NAMES = (
    "outer_rate", "inner_ratio", "seek", "overhead", "new_rate", "host", "drive", "fill", "history", "churn",
    "file_size", "write_cache", "shingling", "load", "ashift",
)  # fmt: skip
"""Of all unknowns there may be."""
CHURN_SPREAD = assumption("spread.churn")
FILE_SPREAD = assumption("spread.file_size")
SUSTAINED_SPREAD = assumption("spread.sustained_write")


@dataclass(frozen=True, slots=True)
class Unknown:
    """An input that is not stated, or known from its class alone.

    Attributes
    ----------
    name : str
        Coordinate of a `Member`.
    field : str
        Field of the scenario that would settle it.
    words : str
        What stating it would bring, to a person.
    spread : float
        Standard deviation of its logarithm.
    choices : tuple of Choice
        Instead of a spread: the values it may have.
    """

    name: str
    field: str
    words: str
    spread: float = 0.0
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """One possible world.

    Attributes
    ----------
    factors : Factors
        Of the drives.
    churn : float
        Factor on the ageing of the pool.
    file_size : float
        Factor on the size of its files.
    history : str or None
        What is on the pool; None: as assumed.
    write_cache : bool or None
        Whether the drives' write caches are on; None: as assumed.
    load : float or None
        Foreground reads a second and drive; None: as stated, or none.
    drive : str or None
        Generic drive of a pool whose drives are not named; None: as assumed.
    fill : float or None
        Fill of a pool of which it is not stated; None: as assumed.
    ashift : int or None
        Sector size of a pool on disks of 4 KiB sectors under a ZFS that takes the logical sector; None: as
        assumed.
    shingling : float
        Factor on what a shingled drive spends on rewriting its bands.
    scores : tuple of float
        Standard normal score of each unknown, in their order.
    """

    factors: Factors = field(default_factory=Factors)
    churn: float = 1.0
    file_size: float = 1.0
    history: str | None = None
    write_cache: bool | None = None
    load: float | None = None
    drive: str | None = None
    fill: float | None = None
    ashift: int | None = None
    shingling: float = 1.0
    scores: tuple[float, ...] = ()


def unknowns(resolved: ResolvedScenario) -> tuple[Unknown, ...]:
    """Return the unknown inputs of a scenario, each with its spread."""
    old, new = drive_models(resolved)
    spread, other = old.spread(), new.spread()
    found = [
        Unknown(
            "outer_rate", "drive", "name the drive or fit it to your own measurements", spread.outer_rate
        ),
        Unknown("inner_ratio", "drive", "measure the drive's inner tracks", spread.inner_ratio),
        Unknown("seek", "drive", "measure the drive's seek times", spread.seek),
        Unknown("overhead", "drive", "measure the drive's small reads", spread.overhead),
        Unknown("new_rate", "new_drive", "name the new drive", _new_rate_spread(new, other)),
    ]
    if shares_host(resolved):
        found.append(
            Unknown("host", "ports", "say what the drives plug into", load_enclosure(HOST).rate_spread)
        )
    found += [*_of_the_pool(resolved), *_of_the_surroundings(resolved, old, new)]
    return tuple(unknown for unknown in found if unknown.spread > 0 or unknown.choices)


def _new_rate_spread(new: DriveModel, spread: DriveSpread) -> float:
    """Return how far the new drive's rate may lie from that of its model, beyond what all drives share."""
    if new.kind == "flash" and new.is_generic:
        return SUSTAINED_SPREAD
    return math.sqrt(2.0) * spread.drive_rate


def _of_the_pool(resolved: ResolvedScenario) -> list[Unknown]:
    found = []
    if resolved.assumed("drive"):
        found.append(Unknown("drive", "drive", "name the drive", choices=drive_classes()))
    if resolved.assumed("fill"):
        found.append(Unknown("fill", "fill", "state how full the pool is (zpool list)", choices=fills()))
    if resolved.assumed("history"):
        stored = 0.0 if resolved.assumed("fill") else data_bytes(resolved)
        found.append(Unknown("history", "history", "say what is on the pool", choices=uses(stored)))
    if resolved.assumed("frag") or resolved.assumed("history"):
        found.append(Unknown("churn", "frag", "state FRAG (zpool list) or the pool's history", CHURN_SPREAD))
    if resolved.assumed("recordsize") or resolved.assumed("history"):
        found.append(Unknown("file_size", "files", "say how large the files are", FILE_SPREAD))
    return found


def has_large_sectors(model: DriveModel) -> bool:
    """Tell whether a drive is a disk that writes sectors larger than 512 bytes."""
    return model.kind == "mechanical" and physical_sector(model, model.parameters()) > 1 << LOGICAL_SECTOR


def _of_the_surroundings(resolved: ResolvedScenario, old: DriveModel, new: DriveModel) -> list[Unknown]:
    found = []
    if resolved.assumed("write_cache") and resolved.operation != "scrub" and new.kind == "mechanical":
        words = "say whether the drives' write caches are on (hdparm -W, camcontrol identify)"
        found.append(Unknown("write_cache", "write_cache", words, choices=write_caches()))
    # The drives that the pool was made of decided it; a new one comes too late.
    if resolved.assumed("ashift") and resolved.ashift == LOGICAL_SECTOR and has_large_sectors(old):
        words = "say with which sector size the pool was made (zdb -C | grep ashift)"
        found.append(Unknown("ashift", "ashift", words, choices=sector_sizes()))
    if new.recording == "smr" and resolved.operation != "scrub":
        words = "measure the drive: how it rewrites its bands is the vendor's secret"
        found.append(Unknown("shingling", "new_drive", words, choices=shinglings(resolved, new.vendor)))
    if resolved.assumed("load"):
        found.append(Unknown("load", "load", "say how busy the pool is meanwhile", choices=loads()))
    return found


def draw_members(inputs: Sequence[Unknown], seed: int, count: int = MEMBERS) -> tuple[Member, ...]:
    """Return the members: a Latin hypercube over the unknowns; none where nothing is unknown.

    Notes
    -----
    McKay, Beckman, Conover (Technometrics 21, 1979), each stratum at its middle; of some, the one in which no
    two unknowns go together much (Owen, JASA 89, 1994).  Scenarios that are compared share the seed and with
    it the draws (common random numbers), whatever else is unknown in one of them: every unknown has a column
    of its own.  `scipy.stats.qmc` does the same; its import takes a third of a prediction's time.
    """
    if not inputs:
        return ()
    columns = [NAMES.index(unknown.name) for unknown in inputs]
    scores = _hypercube(seed, count)[:, columns]
    return tuple(member_at(inputs, tuple(row)) for row in scores.tolist())


def _hypercube(seed: int, count: int) -> NDArray[np.float64]:
    """Return normal scores, one column a name."""
    generator = np.random.Generator(np.random.Philox(key=seed))
    strata = np.array([NORMAL.inv_cdf((row + 0.5) / count) for row in range(count)])
    tried = generator.permuted(np.tile(strata, (HYPERCUBES, len(NAMES), 1)), axis=2)
    alike = np.abs(tried @ tried.transpose(0, 2, 1) / (strata @ strata))
    alike[:, np.arange(len(NAMES)), np.arange(len(NAMES))] = 0.0
    best: NDArray[np.float64] = tried[np.argmin(alike.max(axis=(1, 2)))].T
    return best


def member_at(inputs: Sequence[Unknown], scores: tuple[float, ...]) -> Member:
    """Return the member at given standard normal scores of the unknowns."""
    values: dict[str, Any] = {}
    for unknown, score in zip(inputs, scores, strict=True):
        if unknown.choices:
            values[unknown.name] = pick(unknown.choices, NORMAL.cdf(score))
        else:
            values[unknown.name] = math.exp(unknown.spread * score)
    plain = {name: values[name] for name in Factors.__slots__ if name in values}
    rest = {name: value for name, value in values.items() if name not in plain}
    return Member(factors=replace(Factors(), **plain), scores=scores, **rest)
