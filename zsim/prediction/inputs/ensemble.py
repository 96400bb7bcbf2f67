"""The ensemble: distributions of what is not stated, and the members drawn from them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import whole_constant
from zsim.case.case import Case
from zsim.case.member import Factors, Member
from zsim.case.worlds import (
    Choice,
    Value,
    assumption,
    data_bytes,
    drive_classes,
    drive_sizes,
    fills,
    has_unknown_size,
    loads,
    pick,
    sector_sizes,
    shinglings,
    uses,
    write_caches,
)
from zsim.drives.models.model import DriveModel, DriveSpread
from zsim.prediction.inputs.hardware import physical_sector
from zsim.prediction.inputs.processor import shares_host
from zsim.prediction.inputs.scan_memory import memory_choices
from zsim.scenario.releases.profile import COPIES

MEMBERS = whole_constant("work.members")
LOGICAL_SECTOR = 9
NORMAL = NormalDist()
HYPERCUBES = whole_constant("work.hypercubes")
NAMES = (
    "outer_rate", "inner_ratio", "seek", "overhead", "new_rate", "host", "drive", "fill", "history", "churn",
    "file_size", "write_cache", "shingling", "load", "ashift",
)  # fmt: skip
"""Of all unknowns there may be."""
LATER_NAMES = ("drive_size", "memory")
"""Drawn apart: those before them keep their draws."""
CHURN_SPREAD = assumption("spread.churn")
FILE_SPREAD = assumption("spread.file_size")
SUSTAINED_SPREAD = assumption("spread.sustained_write")
PROCESSOR_SPREAD, FLASH_SPREAD = assumption("spread.processor"), assumption("spread.flash_rate")


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
    proportional : bool
        Whether the data grows in proportion to the value, and with it about the duration.
    """

    name: str
    field: str
    words: str
    spread: float = 0.0
    choices: tuple[Choice, ...] = ()
    proportional: bool = False


def place_of(inputs: Sequence[Unknown], name: str) -> int | None:
    """Return the place of an unknown among others; None where it is stated."""
    return next((place for place, unknown in enumerate(inputs) if unknown.name == name), None)


def unknowns(case: Case) -> tuple[Unknown, ...]:
    """Return the unknown inputs of a scenario.

    Returns
    -------
    tuple of Unknown
        Each with the standard deviation of its logarithm, or the values it may have; none of what is stated.
    """
    old, new = case.drive, case.new_drive
    spread, other = old.spread(), new.spread()
    name = "name the drive (--drive)" if case.assumed("drive") else ""
    found = [
        Unknown("outer_rate", "drive", name or "fit the drive to your own measurements", _rate_spread(old)),
        Unknown("inner_ratio", "drive", name or "measure the drive's inner tracks", spread.inner_ratio),
        Unknown("seek", "drive", name or "measure the drive's seek times", spread.seek),
        Unknown("overhead", "drive", name or "measure the drive's small reads", spread.overhead),
    ]
    if case.new_drives > 0:
        found.append(
            Unknown("new_rate", "new_drive", "name the replacement drive", _new_rate_spread(new, other))
        )
    if case.host is not None and shares_host(case):
        found.append(Unknown("host", "ports", "state what the drives plug into", case.host.rate_spread))
    elif old.kind == "flash" and case.operation not in COPIES:
        found.append(
            Unknown("host", "cpus", "give an earlier scan of the pool (--evidence)", PROCESSOR_SPREAD)
        )
    found += [*_of_the_pool(case), *_of_the_surroundings(case, old, new)]
    return tuple(unknown for unknown in found if unknown.spread > 0 or unknown.choices)


def _rate_spread(model: DriveModel) -> float:
    """Return how far the rates of drives may lie from their model's; of flash by what lies where, too."""
    own = model.spread().outer_rate
    return math.hypot(own, FLASH_SPREAD) if model.kind == "flash" else own


def _new_rate_spread(new: DriveModel, spread: DriveSpread) -> float:
    """Return how far the new drive's rate may lie from that of its model, beyond what all drives share."""
    if new.kind == "flash" and new.is_generic:
        return SUSTAINED_SPREAD
    return math.sqrt(2.0) * spread.drive_rate


def _of_the_pool(case: Case) -> list[Unknown]:
    found = []
    if case.assumed("drive"):
        found.append(Unknown("drive", "drive", "name the drive (--drive)", choices=drive_classes()))
    if has_unknown_size(case):
        words = "name the drives or give their size (--drive, --drive-size)"
        grows = case.scenario.alloc is None
        sizes = drive_sizes(case)
        found.append(Unknown("drive_size", "drive_size", words, choices=sizes, proportional=grows))
    if case.assumed("fill"):
        found.append(Unknown("fill", "fill", "state how full the pool is (zpool list)", choices=fills(case)))
    if case.assumed("history"):
        stored = 0.0 if case.assumed("fill") else data_bytes(case)
        found.append(
            Unknown("history", "history", "state what the pool stores (--history)", choices=uses(stored))
        )
    if case.assumed("frag") or case.assumed("history"):
        # FRAG that is stated is kept in every world: what it leaves open is how it came about.
        known = not case.assumed("frag")
        field = "churn" if known else "frag"
        remedy = (
            "state what the pool stores (--history)"
            if known
            else "state FRAG (zpool list) or the pool's history"
        )
        found.append(Unknown("churn", field, remedy, CHURN_SPREAD))
    if case.assumed("recordsize") or case.assumed("history"):
        found.append(Unknown("file_size", "files", "give block sizes (--blocks)", FILE_SPREAD))
    return found


def has_large_sectors(model: DriveModel) -> bool:
    """Tell whether a drive is a disk that writes sectors larger than 512 bytes."""
    return model.kind == "mechanical" and physical_sector(model, model.parameters()) > 1 << LOGICAL_SECTOR


def _of_the_surroundings(case: Case, old: DriveModel, new: DriveModel) -> list[Unknown]:
    found = []
    if case.assumed("write_cache") and case.operation != "scrub" and new.kind == "mechanical":
        words = "check the drives' write caches (hdparm -W, camcontrol identify)"
        found.append(Unknown("write_cache", "write_cache", words, choices=write_caches()))
    # The drives that the pool was made of decided it; a new one comes too late.
    if case.assumed("ashift") and case.ashift == LOGICAL_SECTOR and has_large_sectors(old):
        words = "give the pool's ashift (zdb -C | grep ashift)"
        found.append(Unknown("ashift", "ashift", words, choices=sector_sizes()))
    if new.recording == "smr" and case.operation != "scrub":
        words = "measure the drive: its vendor does not publish how it rewrites bands"
        found.append(Unknown("shingling", "new_drive", words, choices=shinglings(case, new.vendor)))
    if memories := memory_choices(case):
        found.append(Unknown("memory", "memory", "give the host's memory (--memory)", choices=memories))
    if case.assumed("load"):
        found.append(
            Unknown(
                "load",
                "load",
                "state the client load (--load; none if the pool is idle)",
                choices=loads(),
            )
        )
    return found


def draw_members(inputs: Sequence[Unknown], seed: int, count: int = MEMBERS) -> tuple[Member, ...]:
    """Return the members: a Latin hypercube over the unknowns; none where nothing is unknown.

    Parameters
    ----------
    inputs : sequence of Unknown
    seed : int
    count : int
        Worlds.

    Returns
    -------
    tuple of Member, one a world

    Notes
    -----
    McKay, Beckman, Conover (Technometrics 21, 1979), each stratum at its middle; of some, the one in which no
    two unknowns go together much (Owen, JASA 89, 1994).  Scenarios that are compared share the seed and with
    it the draws (common random numbers), whatever else is unknown in one of them: every unknown has a column
    of its own.  `scipy.stats.qmc` does the same; its import takes a third of a prediction's time.
    """
    if not inputs:
        return ()
    columns = [(*NAMES, *LATER_NAMES).index(unknown.name) for unknown in inputs]
    scores = _hypercube(seed, count)[:, columns]
    return tuple(member_at(inputs, tuple(row)) for row in scores.tolist())


@functools.lru_cache(maxsize=64)
def normal_strata(count: int) -> NDArray[np.float64]:
    """Return the middles of equal parts of the standard normal distribution.

    Parameters
    ----------
    count : int
        Parts.

    Returns
    -------
    ndarray of float, shape (count,)
        ``z[k] = inv_cdf((k + 0.5) / count)``, rising, not to be written to: the strata of a Latin hypercube,
        each at its middle (McKay, Beckman, Conover, Technometrics 21, 1979).
    """
    found = np.array([NORMAL.inv_cdf((part + 0.5) / count) for part in range(count)])
    found.flags.writeable = False
    return found


def places_of(unknown: Unknown, scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return which of its choices each world has of an unknown.

    Parameters
    ----------
    unknown : Unknown
        With choices, in their order.
    scores : ndarray of float, shape (worlds,)
        Standard normal scores.

    Returns
    -------
    ndarray of int64, shape (worlds,)
        Choice k where the score lies between the normal quantiles of the shares summed up before and behind
        it.
    """
    shares = np.array([choice.share for choice in unknown.choices])
    edges = [NORMAL.inv_cdf(each) for each in (np.cumsum(shares) / shares.sum())[:-1]]
    return np.searchsorted(edges, scores, side="right")


def _hypercube(seed: int, count: int) -> NDArray[np.float64]:
    """Return normal scores, one column a name."""
    generator = np.random.Generator(np.random.Philox(key=seed))
    strata = normal_strata(count)
    tried = generator.permuted(np.tile(strata, (HYPERCUBES, len(NAMES), 1)), axis=2)
    alike = np.abs(tried @ tried.transpose(0, 2, 1) / (strata @ strata))
    alike[:, np.arange(len(NAMES)), np.arange(len(NAMES))] = 0.0
    best: NDArray[np.float64] = tried[np.argmin(alike.max(axis=(1, 2)))].T
    for _ in LATER_NAMES:
        more = generator.permuted(np.tile(strata, (HYPERCUBES, 1)), axis=1)
        best = np.column_stack([best, more[np.argmin(np.abs(more @ best).max(axis=1))]])
    return best


# Unknowns have the names of what they set.
_factors: Callable[..., Factors] = Factors
_member: Callable[..., Member] = Member


def member_at(inputs: Sequence[Unknown], scores: tuple[float, ...]) -> Member:
    """Return the member at given scores.

    Parameters
    ----------
    inputs : sequence of Unknown
    scores : tuple of float, one an unknown
        Standard normal scores z.

    Returns
    -------
    Member
        Of an unknown with a spread ``exp(spread * z)``; of one with choices that at the share ``cdf(z)``.
    """
    values: dict[str, Value] = {}
    for unknown, score in zip(inputs, scores, strict=True):
        if unknown.choices:
            values[unknown.name] = pick(unknown.choices, NORMAL.cdf(score))
        else:
            values[unknown.name] = math.exp(unknown.spread * score)
    plain = {name: values[name] for name in Factors.__slots__ if name in values}
    rest = {name: value for name, value in values.items() if name not in plain}
    return _member(factors=_factors(**plain), scores=scores, **rest)
