"""What a pool may be like where nobody says: shares of the possible uses, write caches and loads.

A share is a probability; its source stands beside it.  Choices are ordered from what makes a resilver short to what
makes it long, so that one score per choice orders the worlds as well.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

from zsim.scenario import catalogue
from zsim.scenario.parts import Load
from zsim.scenario.resolve import ResolvedScenario

USES = (
    "write-once-archive", "media-server", "home-nas", "backup-target", "small-files", "vm-host", "maildir", "database",
)  # fmt: skip
"""Histories a pool of unknown use may have, the quick ones first."""
CACHE_ON = 0.75
"""SATA drives leave the factory with the write cache on (FreeBSD ada(4): enabled by default); SAS drives, RAID
controllers and some servers have it off (HP ISS Technology Update 9/3: "disabled by default").  Of twelve field
resilvers whose rate tells, three lose a turn per write.  An assumption all the same."""
LOADS = ((0.0, 0.55), (0.5, 0.25), (2.0, 0.15), (6.0, 0.05))
"""Reads a second and drive of whoever uses the pool meanwhile, and the share of pools: half are left alone, a home
server in use makes about one read in two seconds, a busy one several a second.  Assumed."""
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


@functools.cache
def uses() -> tuple[Choice, ...]:
    """Return the histories a pool of unknown use may have, with their shares."""
    return tuple(Choice(name, _share(name)) for name in USES)


def _share(name: str) -> float:
    path = catalogue.find("histories", name)
    value: Any = catalogue.quantity_of(catalogue.load_toml(path), "prior.share", path, "1").value
    return float(value)


def write_caches() -> tuple[Choice, ...]:
    """Return whether a drive's write cache is on, with the shares."""
    return Choice(True, CACHE_ON), Choice(False, 1.0 - CACHE_ON)


def loads() -> tuple[Choice, ...]:
    """Return foreground reads a second and drive, with the shares of pools."""
    return tuple(Choice(rate, share) for rate, share in LOADS)


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


def in_world(
    resolved: ResolvedScenario, history: str | None, write_cache: bool | None, load: float | None
) -> ResolvedScenario:
    """Return the scenario in one world: what was not stated is as given, None leaves it as assumed."""
    changes: dict[str, Any] = {}
    if history is not None:
        changes["history"] = history
    if write_cache is not None:
        changes["write_cache"] = write_cache
    if load:
        changes["load"] = (Load(kind="random-read", rate=reads_of_pool(resolved, load)),)
    return replace(resolved, **changes) if changes else resolved


def reads_of_pool(resolved: ResolvedScenario, per_drive: float) -> float:
    """Return the reads a second of a pool of which each drive sees `per_drive`: a record lies on several drives."""
    vdev = resolved.layout.vdevs[0]
    touched = 1 if vdev.kind == "mirror" else max(1, min(vdev.children - vdev.parity, resolved.recordsize >> resolved.ashift))
    return max(0.02, per_drive * resolved.leaves / touched)
