"""From what is stated to what is simulated: every value that nobody stated becomes a listed assumption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.base.model_data import DEFAULT_DRIVE
from zsim.base.units import format_both, format_bytes, format_fraction
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario
from zsim.scenario.parts import Load
from zsim.scenario.releases.capacity import pool_size
from zsim.scenario.releases.profile import DEFAULT_RELEASE, Operation, ReleaseProfile, load_release
from zsim.vdevs.kind import kind_of

DEFAULT_FILL = 0.5
DEFAULT_DRIVE_BYTES = 4 * 10**12
DEFAULT_RECORD = 128 << 10
DEFAULT_MEMORY = 16 << 30
DEFAULT_CPUS = 8
DEFAULT_HISTORY_TEXT = "home-nas"
DEFAULT_PRECISION = 0.02
WRITE_CACHE_REASON = "as drives leave the factory; RAID controllers, SAS drives and some servers have it off"
DEFAULT_SEED = 1


@dataclass(frozen=True, slots=True)
class Assumption:
    """A value that was not stated.

    Attributes
    ----------
    field : str
        Field of the scenario.
    value : object
        What was taken, in SI.
    text : str
        The value as a person reads it.
    why : str
        Why this one, or what it stands for.
    """

    field: str
    value: object
    text: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"field": self.field, "value": self.value, "text": self.text, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedScenario:
    """A scenario with nothing left open; fields as in `Scenario` unless said otherwise.

    Attributes
    ----------
    scenario : Scenario
        What was stated.
    layout : Layout
        With `vdevs` applied.
    release : ReleaseProfile
        With the tunables, the order and hz applied.
    operation, replace, old_drive, target : str or int
        See `Scenario`; `replace` is 0 for a scrub.
    second_at : float or None
        Share of the resilver that is done when one more drive is replaced.
    drive, new_drive : str
        Names for the catalogue of drives.
    drive_size, new_drive_size : int
        [bytes]
    pool_size, alloc : int
        SIZE and ALLOC as ``zpool list`` prints them [bytes].
    fill : float
        ALLOC/SIZE.
    write_cache : bool
    recordsize, memory : int
        [bytes]
    frag : float or None
        FRAG, from 0 to 1; None leaves it to the history.
    ashift, cpus, seed : int
    ports : tuple of (str, tuple of int)
        Model of a shared link and the leaves behind it; leaves not named have a port of their own.  New
        drives have the indices after the layout's.
    history : str or None
        Name of a pool history; None leaves it to the pool's default.
    load : tuple of Load
    begins : int
        Time since Monday 00:00 [s].
    engine : {"compiled", "reference"}
    exact : bool
    precision : float
    assumptions : tuple of Assumption
        In the order in which they matter.
    """

    scenario: Scenario
    layout: Layout
    release: ReleaseProfile
    operation: Operation
    replace: int
    old_drive: Literal["missing", "online", "overwritten"]
    second_at: float | None
    target: Literal["new-drive", "distributed-spare"]
    drive: str
    drive_size: int
    new_drive: str
    new_drive_size: int
    pool_size: int
    fill: float
    alloc: int
    write_cache: bool
    recordsize: int
    frag: float | None
    ashift: int
    memory: int
    cpus: int
    ports: tuple[tuple[str, tuple[int, ...]], ...]
    history: str | None
    load: tuple[Load, ...]
    begins: int
    engine: Literal["compiled", "reference"]
    exact: bool
    precision: float
    seed: int
    assumptions: tuple[Assumption, ...] = field(repr=False)

    @property
    def leaves(self) -> int:
        """Drives of the layout; the new ones come after them."""
        return self.layout.leaves

    def assumed(self, name: str) -> bool:
        """Tell whether a field was not stated."""
        return any(each.field == name for each in self.assumptions)


@dataclass(slots=True)
class _Notes:
    """Collects assumptions while a scenario is resolved."""

    found: list[Assumption] = field(default_factory=list)

    def take(self, name: str, stated: Any, default: Any, text: str, why: str) -> Any:
        """Return what is stated, or note the default and return it."""
        if stated is not None:
            return stated
        self.found.append(Assumption(name, default, text, why))
        return default


def resolve(scenario: Scenario, capacity_of: Callable[[str], int] | None = None) -> ResolvedScenario:
    """Return the scenario with every open field filled, and the list of what was assumed.

    Parameters
    ----------
    scenario : Scenario
    capacity_of : callable, optional
        Gives the capacity [bytes] of a drive by name; by default the catalogue's, without aliases.

    Raises
    ------
    InputError
        When a drive is not in the catalogue or the data does not fit into the pool.
    """
    notes = _Notes()
    capacity = capacity_of or catalogue_capacity
    layout = scenario.pool_layout
    release = _release(scenario, notes)
    data = _space(scenario, layout, release, capacity, notes)
    data |= _replacement(scenario, layout, release, data, capacity, notes)
    data |= _host(scenario, release, notes)
    data |= _surroundings(scenario, layout, data["replace"], notes)
    return ResolvedScenario(
        scenario=scenario,
        layout=layout,
        release=release,
        engine=scenario.engine or "compiled",
        exact=bool(scenario.exact),
        precision=scenario.precision or DEFAULT_PRECISION,
        seed=DEFAULT_SEED if scenario.seed is None else scenario.seed,
        assumptions=tuple(notes.found),
        **data,
    )


def catalogue_capacity(name: str) -> int:
    """Return the capacity of a drive of the catalogue [bytes].

    Raises
    ------
    InputError
        When there is no such drive, with the nearest name.
    """
    path = model_data.find("drives", name, "drive")
    data = model_data.load_toml(path)
    return int(model_data.quantity_of(data, "parameters.capacity", path, "B").value)


def _release(scenario: Scenario, notes: _Notes) -> ReleaseProfile:
    name = notes.take("release", scenario.release, DEFAULT_RELEASE, DEFAULT_RELEASE, "a release in wide use")
    profile = load_release(name)
    tunables = dict(scenario.tunables or {})
    if scenario.order == "legacy" and profile.scan == "sorted":
        tunables["zfs_scan_legacy"] = 1
    if tunables:
        profile = profile.with_tunables(tunables)
    if scenario.hz is not None:
        return replace(profile, hz=scenario.hz)
    if profile.details_of_hz.kind == "assumed":
        notes.take("hz", None, profile.hz, f"{profile.hz} ticks/s", profile.details_of_hz.source)
    return profile


def _space(
    scenario: Scenario, layout: Layout, release: ReleaseProfile, capacity: Callable[[str], int], notes: _Notes
) -> dict[str, Any]:
    """Return drives, size of the pool, and how full it is."""
    why = "no drive was named; a typical 7200 rpm disk with conventional recording"
    drive = notes.take("drive", scenario.drive, DEFAULT_DRIVE, DEFAULT_DRIVE, why)
    size = scenario.drive_size
    if size is None:
        size = capacity(drive) if scenario.drive else DEFAULT_DRIVE_BYTES
        notes.take(
            "drive_size",
            None,
            size,
            format_both(size),
            "as the drive's model has it" if scenario.drive else "a common size",
        )
    total = pool_size(layout, size, release)
    if scenario.alloc is not None:
        if scenario.alloc > total:
            allowed = f"the pool {layout} of {format_both(size)} drives holds {format_bytes(total)}"
            raise InputError(
                "alloc", format_bytes(scenario.alloc), allowed, "give the size of the drives with drive_size"
            )
        fill, alloc = scenario.alloc / total, scenario.alloc
    else:
        text = format_fraction(DEFAULT_FILL)
        fill = notes.take(
            "fill", scenario.fill, DEFAULT_FILL, text, "not stated; the time is about proportional to it"
        )
        alloc = round(fill * total)
    return {"drive": drive, "drive_size": size, "pool_size": total, "fill": fill, "alloc": alloc}


def _target(scenario: Scenario, layout: Layout, notes: _Notes) -> Any:
    """Return where the data goes: a dRAID has its spare at hand, and ZED takes it at once."""
    vdev, count = layout.vdevs[0], scenario.replace or 1
    if not kind_of(vdev.kind).has_distributed_spares or scenario.operation == "scrub":
        return scenario.target or "new-drive"
    other = scenario.new_drive or scenario.new_drive_size or scenario.old_drive == "online"
    other = other or scenario.second_at is not None
    if not vdev.spares or other or count > 1:
        return notes.take("target", scenario.target, "new-drive", "new-drive", "a drive takes its place")
    text = "distributed-spare"
    return notes.take("target", scenario.target, text, text, "what ZED takes first when a drive fails")


def _operation(scenario: Scenario, target: str, release: ReleaseProfile, notes: _Notes) -> Any:
    """Return what runs: into a distributed spare ZED rebuilds sequentially (zfs_retire.c, 2.1 and later)."""
    if target == "distributed-spare" and release.rebuild == "mirror-draid":
        why = "ZED rebuilds sequentially into a distributed spare"
        return notes.take("operation", scenario.operation, "rebuild", "rebuild", why)
    return notes.take("operation", scenario.operation, "resilver", "resilver", "the usual repair")


def _replacement(
    scenario: Scenario,
    layout: Layout,
    release: ReleaseProfile,
    data: dict[str, Any],
    capacity: Callable[[str], int],
    notes: _Notes,
) -> dict[str, Any]:
    target = _target(scenario, layout, notes)
    operation = _operation(scenario, target, release, notes)
    if operation == "scrub":
        count, old, new = 0, scenario.old_drive or "online", data["drive"]
    else:
        count = notes.take("replace", scenario.replace, 1, "1", "one drive replaced")
        old = notes.take("old_drive", scenario.old_drive, "missing", "missing", "the failed drive is gone")
        new = scenario.new_drive or data["drive"]
        if scenario.new_drive is None and target == "new-drive":
            notes.take("new_drive", None, new, new, "the same model as the others")
    size = scenario.new_drive_size or (capacity(new) if scenario.new_drive else data["drive_size"])
    if size < data["drive_size"]:
        allowed = f"ZFS takes no replacement smaller than the {format_both(data['drive_size'])} it replaces"
        raise InputError("new_drive_size", format_both(size), allowed, "give a larger drive")
    return {
        "operation": operation, "target": target, "replace": count, "old_drive": old,
        "second_at": scenario.second_at,
        "new_drive": new, "new_drive_size": size,
    }  # fmt: skip


def _host(scenario: Scenario, release: ReleaseProfile, notes: _Notes) -> dict[str, Any]:
    take = notes.take
    sectors, why = _default_ashift(release)
    return {
        "recordsize": take("recordsize", scenario.recordsize, DEFAULT_RECORD, "128K", "the default of ZFS"),
        "frag": take("frag", scenario.frag, None, "as it comes", "what the pool's history leaves"),
        "ashift": take("ashift", scenario.ashift, sectors, f"{sectors} ({1 << sectors} bytes)", why),
        "memory": take("memory", scenario.memory, DEFAULT_MEMORY, "16G", "a common size"),
        "cpus": take("cpus", scenario.cpus, DEFAULT_CPUS, str(DEFAULT_CPUS), "a common number"),
        "write_cache": take("write_cache", scenario.write_cache, True, "on", WRITE_CACHE_REASON),
    }


def _default_ashift(release: ReleaseProfile) -> tuple[int, str]:
    """Return the sector size a pool of the release most likely has, and why."""
    if release.queue == "single":
        return 9, f"{release.name} takes the logical sector size of the drives, 512 bytes"
    return 12, "sectors of 4 KiB, as drives report or administrators set them"


def _surroundings(scenario: Scenario, layout: Layout, count: int, notes: _Notes) -> dict[str, Any]:
    if scenario.enclosure is None and not scenario.ports:
        notes.take("ports", None, None, "direct", "every drive on a port of its own")
    why = "files written, overwritten and deleted for some time"
    if scenario.history is not None:
        model_data.find("histories", scenario.history)
    for name in (scenario.enclosure, *(port.enclosure for port in scenario.ports or ())):
        if name is not None:
            model_data.find("enclosures", name)
    notes.take("history", scenario.history, None, DEFAULT_HISTORY_TEXT, why)
    notes.take("load", scenario.load, None, "none", "nothing else uses the pool")
    return {
        "ports": _ports(scenario, layout.leaves, count),
        "history": scenario.history,
        "load": scenario.load or (),
        "begins": scenario.begins or 0,
    }


def _ports(scenario: Scenario, leaves: int, count: int) -> tuple[tuple[str, tuple[int, ...]], ...]:
    named = [(port.enclosure, port.leaves(leaves, count)) for port in scenario.ports or ()]
    if scenario.enclosure is not None:
        taken = {leaf for _, group in named for leaf in group}
        rest = tuple(leaf for leaf in range(leaves + count) if leaf not in taken)
        named.append((scenario.enclosure, rest))
    return tuple(named)
