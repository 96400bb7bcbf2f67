"""What a pool may be like where nobody says: shares of the possible uses, write caches and loads.

A share is a probability; it stands with its source in ``models/unknowns`` or ``models/histories``.  Choices
are ordered from what makes a resilver short to what makes it long, so that one score per choice orders the
worlds as well.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from zsim.base import model_data
from zsim.prediction.numbers import constant, whole_constant
from zsim.scenario.parts import Load
from zsim.scenario.resolve import ResolvedScenario
from zsim.vdevs.kind import kind_of

USES = (
    "write-once-archive", "media-server", "home-nas", "backup-target", "small-files", "vm-host", "maildir",
    "database",
)  # fmt: skip
"""Histories a pool of unknown use may have, the quick ones first."""
MODEL = model_data.models_directory() / "unknowns" / "worlds.toml"


@functools.cache
def _numbers() -> Mapping[str, Any]:
    return model_data.load_toml(MODEL)


def assumption(name: str) -> float:
    """Return a number of ``models/unknowns``, such as ``spread.churn``."""
    return float(model_data.quantity_of(_numbers(), name, MODEL, "1").value)


def _pairs(table: str, key: str) -> tuple[tuple[float, float], ...]:
    """Return the values of a list of choices, and their shares."""
    return tuple((float(each[key]["value"]), float(each["share"]["value"])) for each in _numbers()[table])


RARER = assumption("power.rarer")
CACHE_ON = assumption("share.write_cache_on")
LARGE_SECTORS = assumption("share.large_sectors")
LOADS = _pairs("load", "rate")
DRIVE_CLASSES = tuple(
    (str(each["name"]), float(each["share"]["value"])) for each in _numbers()["drive_class"]
)
SHINGLINGS = _pairs("shingling", "factor")
NARROW_SHINGLINGS = _pairs("narrow_shingling", "factor")
LEAST_FILL, FILL_STEP = constant("worlds.least_fill"), constant("worlds.fill_step")
FILLS = tuple((LEAST_FILL + FILL_STEP * step, 1.0) for step in range(whole_constant("worlds.fills")))
"""Of pools of which nobody says it: evenly from 20 % to 80 %, the usual advice for the most."""
NARROW_VENDORS = ("WD", "generic")
NARROW_COLUMN = whole_constant("worlds.narrow_column")
LARGEST_OLD_RECORD = 128 << 10
OLD_FAMILIES = ("freebsd",)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several possible values.

    Attributes
    ----------
    value : object
    share : float
        Probability, relative to the others'.
    """

    value: Any
    share: float


def uses(data_bytes: float = 0.0) -> tuple[Choice, ...]:
    """Return the histories a pool of unknown use may have, with their shares.

    Parameters
    ----------
    data_bytes : float
        What is stored on it, without parity [bytes].  Uses that seldom come to so much are less likely in
        proportion.
    """
    return tuple(Choice(name, _share(name) * _likely(name, data_bytes)) for name in USES)


def _likely(name: str, data_bytes: float) -> float:
    usual = _prior(name, "usual", "bytes")
    return 1.0 if usual <= 0.0 or data_bytes <= usual else (usual / data_bytes) ** RARER


def _share(name: str) -> float:
    return _prior(name, "share", "1")


@functools.cache
def _prior(name: str, key: str, unit: str) -> float:
    """Return a number of the prior of a history; 0 where it has none of that name."""
    path = model_data.find("histories", name)
    data = model_data.load_toml(path)
    return (
        float(model_data.quantity_of(data, f"prior.{key}", path, unit).value) if key in data["prior"] else 0.0
    )


def data_bytes(resolved: ResolvedScenario) -> float:
    """Return what is stored on a pool, without parity or copies [bytes]."""
    vdev = resolved.layout.vdevs[0]
    width = kind_of(vdev.kind).columns(vdev)
    return resolved.alloc * (width - vdev.parity) / width


def write_caches() -> tuple[Choice, ...]:
    """Return whether a drive's write cache is on, with the shares."""
    return Choice(True, CACHE_ON), Choice(False, 1.0 - CACHE_ON)


def sector_sizes() -> tuple[Choice, ...]:
    """Return the ashift a pool on disks of 4 KiB sectors may have where ZFS takes the logical sector."""
    return Choice(12, LARGE_SECTORS), Choice(9, 1.0 - LARGE_SECTORS)


def loads() -> tuple[Choice, ...]:
    """Return foreground reads a second and drive, with the shares of pools."""
    return tuple(Choice(rate, share) for rate, share in LOADS)


def shinglings(resolved: ResolvedScenario, vendor: str) -> tuple[Choice, ...]:
    """Return factors on what a vendor's shingled drive spends on rewriting its bands, with their shares."""
    column = resolved.recordsize // resolved.layout.vdevs[0].data
    is_narrow = column < NARROW_COLUMN and vendor in NARROW_VENDORS
    narrow = NARROW_SHINGLINGS if is_narrow else ()
    return tuple(Choice(factor, share) for factor, share in (*SHINGLINGS, *narrow))


def drive_classes() -> tuple[Choice, ...]:
    """Return the generic drives a pool of unnamed drives may have."""
    return tuple(Choice(name, share) for name, share in DRIVE_CLASSES)


def fills() -> tuple[Choice, ...]:
    """Return how full a pool may be."""
    return tuple(Choice(fill, share) for fill, share in FILLS)


def pick(choices: tuple[Choice, ...], place: float) -> Any:
    """Return the value at a place from 0 to 1 of the cumulated shares."""
    left = place * sum(choice.share for choice in choices)
    for choice in choices:
        left -= choice.share
        if left < 0.0:
            return choice.value
    return choices[-1].value


def largest_record(resolved: ResolvedScenario) -> int:
    """Return the largest record of the release [bytes]: the feature large_blocks came after FreeBSD 9."""
    return LARGEST_OLD_RECORD if resolved.release.family in OLD_FAMILIES else 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What was not stated, as it is in one world; None leaves it as assumed.

    Attributes
    ----------
    history, drive : str or None
    write_cache : bool or None
    load : float or None
        Foreground reads a second and drive.
    fill : float or None
    ashift : int or None
    """

    history: str | None = None
    drive: str | None = None
    write_cache: bool | None = None
    load: float | None = None
    fill: float | None = None
    ashift: int | None = None


def in_world(resolved: ResolvedScenario, world: World) -> ResolvedScenario:
    """Return the scenario in one world."""
    changes: dict[str, Any] = {}
    if world.history is not None:
        changes["history"] = world.history
    if world.write_cache is not None:
        changes["write_cache"] = world.write_cache
    if world.ashift is not None:
        changes["ashift"] = world.ashift
    if world.drive is not None:
        changes["drive"] = world.drive
        if resolved.assumed("new_drive"):
            changes["new_drive"] = world.drive
    if world.fill is not None:
        changes |= {"fill": world.fill, "alloc": round(world.fill * resolved.pool_size)}
    if world.load:
        changes["load"] = (Load(kind="random-read", rate=reads_of_pool(resolved, world.load)),)
    return replace(resolved, **changes) if changes else resolved


def reads_of_pool(resolved: ResolvedScenario, per_drive: float) -> float:
    """Return the reads a second of a pool whose drives see `per_drive` each: a record lies on several."""
    vdev = resolved.layout.vdevs[0]
    touched = kind_of(vdev.kind).drives_read(vdev, resolved.recordsize >> resolved.ashift)
    return max(0.02, per_drive * resolved.leaves / touched)
