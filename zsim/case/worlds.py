"""The possible worlds of a case: shares of uses, write caches and loads where they are not stated.

A share is a probability; it stands with its source in ``models/unknowns`` or ``models/histories``.  Choices
are ordered from what makes a resilver short to what makes it long, so that one score per choice orders the
worlds as well.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from zsim.base import model_data
from zsim.base.constants import constant, content, number_in, whole_constant
from zsim.base.parsed import table, tables, text, value_of
from zsim.case.case import Case
from zsim.case.member import Member
from zsim.drives.models.generations import first_year
from zsim.scenario.parts import Load
from zsim.scenario.releases.capacity import COMMON_DRIVE_BYTES, free_to_remove, pool_size
from zsim.vdevs.kind import kind_of

USES = (
    "write-once-archive", "media-server", "home-nas", "backup-target", "small-files", "vm-host", "maildir",
    "database",
)  # fmt: skip
"""Histories a pool of unknown use may have, the quick ones first."""
MODEL = model_data.models_directory() / "unknowns" / "worlds.toml"


def assumption(name: str) -> float:
    """Return a number of ``models/unknowns``, such as ``spread.churn``."""
    return float(number_in(MODEL, name, "1"))


def _pairs(table: str, key: str) -> tuple[tuple[float, float], ...]:
    """Return the values of a list of choices, and their shares."""
    return tuple((value_of(each, key), value_of(each, "share")) for each in tables(content(MODEL), table))


RARER = assumption("power.rarer")
CACHE_ON = assumption("share.write_cache_on")
LARGE_SECTORS = assumption("share.large_sectors")
LOADS = _pairs("load", "rate")
DRIVE_CLASSES = tuple(
    (text(each, "name"), value_of(each, "share")) for each in tables(content(MODEL), "drive_class")
)
SHINGLINGS = _pairs("shingling", "factor")
NARROW_SHINGLINGS = _pairs("narrow_shingling", "factor")
LEAST_FILL, FILL_STEP = constant("worlds.least_fill"), constant("worlds.fill_step")
FILLS = tuple((LEAST_FILL + FILL_STEP * step, 1.0) for step in range(whole_constant("worlds.fills")))
"""Of pools of which nobody says it: evenly from 20 % to 80 %, the usual advice for the most."""
FULLEST, LEAST_SHARE = constant("worlds.fullest"), constant("worlds.least_size_share")
USUAL_SIZES = tuple(
    (int(text(each, "since")), value_of(each, "size")) for each in tables(content(MODEL), "drive_size")
)
NARROW_VENDORS = ("WD", "generic")
USUAL_MEMORY, USUAL_CAPACITY = (
    float(number_in(MODEL, f"memory.{name}", "bytes")) for name in ("usual", "of_capacity")
)
MEMORY_POWER, MEMORY_SPREAD = assumption("memory.power"), assumption("spread.memory")
MEMORY_SIZES, LARGEST_MEMORY = whole_constant("worlds.memory_sizes"), whole_constant("worlds.largest_memory")
NARROW_COLUMN = whole_constant("worlds.narrow_column")
CLIENT_READ = Load(kind="random-read", rate=1.0)
"""What clients of a world ask for, once a second."""

Value = str | float


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several possible values.

    Attributes
    ----------
    value : str, float or bool
    share : float
        Probability, relative to the others'.
    """

    value: Value
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
        float(model_data.quantity_of(data, f"prior.{key}", path, unit).value)
        if key in table(data, "prior")
        else 0.0
    )


def data_bytes(case: Case) -> float:
    """Return what is stored on a pool, without parity or copies [bytes]."""
    vdev = case.layout.data[0]
    width = kind_of(vdev.kind).columns(vdev)
    return case.alloc * (width - vdev.parity) / width


def write_caches() -> tuple[Choice, ...]:
    """Return whether a drive's write cache is on, with the shares."""
    return Choice(True, CACHE_ON), Choice(False, 1.0 - CACHE_ON)


def sector_sizes() -> tuple[Choice, ...]:
    """Return the ashift a pool on disks of 4 KiB sectors may have where ZFS takes the logical sector."""
    return Choice(12, LARGE_SECTORS), Choice(9, 1.0 - LARGE_SECTORS)


def memories(case: Case) -> tuple[Choice, ...]:
    """Return how much memory the host of files may have, the most first, with the shares of hosts [bytes].

    Powers of two, log-normal about what hosts of pools of that capacity usually have; for what other uses
    have, see `memory_share`.
    """
    capacity = float(case.leaves) * case.drive_size
    usual = math.log(USUAL_MEMORY) + MEMORY_POWER * math.log(capacity / USUAL_CAPACITY)
    return tuple(
        Choice(size, math.exp(-0.5 * ((math.log(size) - usual) / MEMORY_SPREAD) ** 2))
        for size in (LARGEST_MEMORY >> step for step in range(MEMORY_SIZES))
    )


def memory_share(history: str) -> float:
    """Return how much memory hosts of a use have, as a multiple of what those of files have."""
    return _prior(history, "memory", "1") or 1.0


def loads() -> tuple[Choice, ...]:
    """Return foreground reads a second and drive, with the shares of pools."""
    return tuple(Choice(rate, share) for rate, share in LOADS)


def shinglings(case: Case, vendor: str) -> tuple[Choice, ...]:
    """Return factors on what a vendor's shingled drive spends on rewriting its bands, with their shares."""
    column = case.recordsize // case.layout.data[0].data
    is_narrow = column < NARROW_COLUMN and vendor in NARROW_VENDORS
    narrow = NARROW_SHINGLINGS if is_narrow else ()
    return tuple(Choice(factor, share) for factor, share in (*SHINGLINGS, *narrow))


def drive_classes() -> tuple[Choice, ...]:
    """Return the generic drives a pool of unnamed drives may have."""
    return tuple(Choice(name, share) for name, share in DRIVE_CLASSES)


def has_unknown_size(case: Case) -> bool:
    """Tell whether the drives are neither named nor their capacity stated."""
    return case.scenario.drive is None and case.scenario.drive_size is None


def drive_sizes(case: Case) -> tuple[Choice, ...]:
    """Return the capacities that drives may have of which nobody says it, with their shares.

    Those sold by then, log-normal about the usual one; where ALLOC is stated, those of which it fills as much
    as pools are filled; none larger than a new drive of known capacity.
    """
    year, spread = case.release.year, assumption("spread.drive_size")
    usual = next((size for first, size in reversed(USUAL_SIZES) if first <= year), USUAL_SIZES[0][1])
    most = case.scenario.new_drive_size or math.inf
    if case.scenario.new_drive is not None and not case.new_drive.is_generic:
        most = min(most, case.new_drive_size)
    sold = [size for size in COMMON_DRIVE_BYTES if first_year(size) <= year and size <= most]
    choices = []
    for size in sold or [case.drive_size]:
        share = math.exp(-0.5 * (math.log(size / usual) / spread) ** 2) * _gap(size)
        if case.scenario.alloc is not None:
            fill = case.alloc / pool_size(case.layout, size, case.release)
            share *= _usual_fill(fill) if fill <= _most_fill(case, size) else 0.0
        choices.append(Choice(size, share))
    most_likely = max(choice.share for choice in choices)
    found = tuple(choice for choice in choices if choice.share > LEAST_SHARE * most_likely)
    return found if most_likely > 0.0 else (Choice(case.drive_size, 1.0),)


def _gap(size: int) -> float:
    """Return how much of the logarithm a capacity stands for: half way to its neighbours."""
    place = COMMON_DRIVE_BYTES.index(size) if size in COMMON_DRIVE_BYTES else 0
    low, high = (
        COMMON_DRIVE_BYTES[max(0, place - 1)],
        COMMON_DRIVE_BYTES[min(len(COMMON_DRIVE_BYTES) - 1, place + 1)],
    )
    return math.log(high / low)


def _usual_fill(fill: float) -> float:
    """Return how likely a pool is so full: as `fills`, less likely beyond them."""
    low, high = FILLS[0][0], FILLS[-1][0]
    if fill > FULLEST:
        return 0.0
    return 1.0 if low <= fill <= high else fill / low if fill < low else (FULLEST - fill) / (FULLEST - high)


def fills(case: Case) -> tuple[Choice, ...]:
    """Return how full a pool may be; one of which a vdev is removed has room for it."""
    most = _most_fill(case, case.drive_size)
    found = tuple(Choice(fill, share) for fill, share in FILLS if fill <= most)
    return found or (Choice(case.fill, 1.0),)


def _most_fill(case: Case, size: int) -> float:
    """Return how full a pool of drives of a capacity is at most, by what is asked of it."""
    if case.operation != "remove":
        return math.inf
    total = pool_size(case.layout, size, case.release)
    return 1.0 - free_to_remove(case.layout, size, case.release) / total


def pick(choices: tuple[Choice, ...], place: float) -> Value:
    """Return the value at a place from 0 to 1 of the cumulated shares."""
    left = place * math.fsum(choice.share for choice in choices)
    for choice in choices:
        left -= choice.share
        if left < 0.0:
            return choice.value
    return choices[-1].value


def ends_of(values: Iterable[Value]) -> tuple[float, float]:
    """Return the least and the greatest of the numbers among values."""
    numbers = [value for value in values if not isinstance(value, str)]
    return min(numbers), max(numbers)


def in_world(case: Case, member: Member) -> Case:
    """Return the case as it is in one possible world: what was drawn for it in the place of what was assumed.

    Parameters
    ----------
    case : Case
    member : Member
        Its drive and history are among the case's candidates.
    """
    world = replace(case, member=member)
    if member.history is not None:
        world = replace(world, history=case.candidates.histories[member.history])
    if member.write_cache is not None:
        world = replace(world, write_cache=member.write_cache)
    if member.ashift is not None:
        world = replace(world, ashift=member.ashift)
    if member.memory is not None:
        world = replace(world, memory=round(member.memory * memory_share(world.history.name)))
    if member.drive is not None:
        drives = case.candidates.drives[member.drive]
        world = replace(world, drive=drives.pool, new_drive=drives.new)
    if member.drive_size is not None:
        world = _of_size(world, member.drive_size)
    if member.fill is not None:
        world = replace(world, fill=member.fill, alloc=round(member.fill * world.pool_size))
    if member.load:
        rate = reads_of_pool(case, member.load)
        world = replace(world, load=(CLIENT_READ.model_copy(update={"rate": rate}),))
    return world


def _of_size(world: Case, size: int) -> Case:
    """Return a world of drives of another capacity [bytes]: another ALLOC, or where that is stated, fill."""
    total, stated = pool_size(world.layout, size, world.release), world.scenario
    shelf = world.candidates.shelf
    assert shelf is not None
    model = shelf.sized(world.drive.name, size)
    world = replace(world, drive=model, drive_size=size, pool_size=total)
    of_any_size = not stated.new_drive or world.new_drive.is_generic
    if of_any_size and not (stated.new_drive_size or world.repairs_class):
        new = shelf.sized(world.new_drive.name, size) if stated.new_drive else model
        world = replace(world, new_drive=new, new_drive_size=size)
    if stated.alloc is not None:
        return replace(world, fill=world.alloc / total)
    return replace(world, alloc=round(world.fill * total))


def reads_of_pool(case: Case, per_drive: float) -> float:
    """Return the reads a second of a pool whose drives see `per_drive` each: a record lies on several."""
    vdev = case.layout.data[0]
    touched = kind_of(vdev.kind).drives_read(vdev, case.recordsize >> case.ashift)
    return max(0.02, per_drive * case.leaves / touched)
