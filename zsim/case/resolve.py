"""Resolve a scenario to a case: fill in every value that is not stated, look up every name."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar, Unpack

from zsim.base.constants import constant
from zsim.base.errors import InputError
from zsim.base.model_data import DEFAULT_DRIVE
from zsim.base.units import format_both, format_bytes, format_fraction
from zsim.case.case import AttachedDrives, Candidates, Case, CaseAssumption, Drives
from zsim.case.classes import class_drive, class_vdevs, frag_wanted, growth_of
from zsim.case.known import with_facts
from zsim.case.loads import in_requests
from zsim.case.worlds import DRIVE_CLASSES, USES
from zsim.drives.catalogue import Shelf
from zsim.drives.models.links import Enclosure, load_enclosure
from zsim.drives.models.model import DriveModel
from zsim.pool.recipes.histories import DEFAULT_HISTORY, History, load_history
from zsim.pool.recipes.recipe import Growth
from zsim.scenario.asked import Asked, scenario_of
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario
from zsim.scenario.releases.capacity import COMMON_DRIVE_BYTES, most_allocated, vdev_sizes
from zsim.scenario.releases.no_effect import without_effect
from zsim.scenario.releases.products import Shipped, shipped
from zsim.scenario.releases.profile import DEFAULT_RELEASE, Operation, ReleaseProfile, load_release
from zsim.scenario.releases.record_sizes import DEFAULT_RECORD
from zsim.vdevs.kind import NORMAL, kind_of

if TYPE_CHECKING:
    from zsim.scenario.keyword_types import AnyFields

DEFAULT_FILL = 0.5
DEFAULT_DRIVE_BYTES = 4 * 10**12
USUALLY_FULL = 0.8
DEFAULT_MEMORY = 16 << 30
DEFAULT_CPUS = 8
DEFAULT_PRECISION = 0.02
MEMORY_REASON = "a common size; the records of a sorted scan are taken to fit"
WRITE_CACHE_REASON = "as drives leave the factory; RAID controllers, SAS drives and some servers have it off"
DEFAULT_SEED = 1
HOST, FASTEST_SATA = "onboard-sata", constant("worlds.fastest_sata")

Target = Literal["new-drive", "distributed-spare"]
OldDrive = Literal["missing", "online", "overwritten"]
Value = TypeVar("Value")


@dataclass
class _Door:
    """A scenario on its way to the case: its names are looked up once, and what is assumed is noted.

    What is stated is settled first, then what is looked up, room by room, and the case is made of both.
    """

    scenario: Scenario
    layout: Layout
    shipped: Shipped
    release: ReleaseProfile
    assumed: list[CaseAssumption] = field(default_factory=list)

    @classmethod
    def of(cls, scenario: Scenario) -> _Door:
        """Return it with the release and the product, on which the rest depends."""
        found = shipped(scenario.release, scenario.product, scenario.tunables)
        tuned = found.tuned(scenario.order, scenario.hz, scenario.platform)
        door = cls(scenario, scenario.led_layout, found, tuned)
        _note_release(door)
        return door

    @cached_property
    def shelf(self) -> Shelf:
        """Drives of the time of the release."""
        return Shelf(self.release.year)

    @cached_property
    def special(self) -> DriveModel | None:
        """Drives of vdevs of other classes than data."""
        return class_drive(self.scenario, self.layout, self.shelf)

    def take(self, name: str, stated: Value | None, default: Value, text: str, why: str) -> Value:
        """Return what is stated, or note the default and return it."""
        if stated is not None:
            return stated
        self.assumed.append(CaseAssumption(name, default, text, why))
        return default


class _Settings(NamedTuple):
    """What is known of a pool and its host beside its drives; by the names that the case has for it."""

    recordsize: int
    frag: float | None
    frag_of: tuple[int, ...]
    ashift: int
    memory: int
    cpus: int
    write_cache: bool


class _Space(NamedTuple):
    """Drives, SIZE of each data vdev and of the pool [bytes], and how much of it is taken."""

    drive: str
    drive_size: int
    vdev_sizes: tuple[int, ...]
    pool_size: int
    fill: float
    alloc: int


class _Repair(NamedTuple):
    operation: Operation
    target: Target
    replace: int
    old_drive: OldDrive
    new_drive: str
    new_drive_size: int

    def new_drives(self, scenario: Scenario) -> int:
        """Return how many drives come into the pool."""
        onto_spare = self.target == "distributed-spare"
        return 0 if onto_spare else self.replace + (scenario.second_at is not None)


def resolve(scenario: Asked | None = None, **fields: Unpack[AnyFields]) -> Case:
    """Resolve a scenario: fill in every field that is not stated, replace every name by its object.

    Parameters
    ----------
    scenario : Scenario, mapping, str or Path, optional
        As `zsim.predict` takes it.
    **fields
        Fields of the scenario, over what it states.

    Raises
    ------
    InputError
        When something named is in no catalogue, a file about the pool cannot be read, or the data does not
        fit into the pool.

    Examples
    --------
    >>> case = resolve(Scenario(layout="raidz2x6", drive_size="8TB"))
    >>> case.drive.capacity_bytes, [each.field for each in case.assumptions][:3]
    (8000000000000, ['release', 'hz', 'drive'])
    """
    return resolved(scenario_of(scenario, fields))


def resolved(scenario: Scenario) -> Case:
    """Return the case of a scenario, see `resolve`; nothing below it asks a catalogue again."""
    door = _Door.of(scenario)
    idle = without_effect(door.release, scenario.tunables or ())
    space = _space(door)
    repair = _repair(door, space)
    drives = _drives(door, space, repair)
    growth = growth_of(scenario, door.layout, space.vdev_sizes)
    settings = _settings(door, space, growth)
    case = _case(door, space, repair, settings, drives, growth)
    known = with_facts(case)
    return replace(known, load=in_requests(known), without_effect=idle)


def _case(
    door: _Door, space: _Space, repair: _Repair, settings: _Settings, drives: _CaseDrives, growth: Growth
) -> Case:
    """Return the case from what is settled, without what files about the pool say."""
    scenario, layout, release = door.scenario, door.layout, door.release
    classes = class_vdevs(scenario, layout, release, door.special, growth, space.fill, door.take)
    histories = {name: load_history(name) for name in USES if scenario.history is None}
    ports, history = _ports(door, repair.new_drives(scenario)), _history(door)
    door.take("load", scenario.load, None, "none", "nothing else uses the pool")
    return Case(
        scenario=scenario,
        layout=layout,
        release=release,
        operation=repair.operation,
        replace=repair.replace,
        old_drive=repair.old_drive,
        second_at=scenario.second_at,
        target=repair.target,
        drive=drives.own.pool,
        drive_size=space.drive_size,
        new_drive=drives.own.new,
        new_drive_size=repair.new_drive_size,
        pool_size=space.pool_size,
        fill=space.fill,
        alloc=space.alloc,
        **settings._asdict(),
        ports=ports,
        host=None if ports else _host(door.shelf),
        history=history,
        use=_use(history),
        load=scenario.load or (),
        begins=scenario.begins or 0,
        engine=scenario.engine or "compiled",
        exact=bool(scenario.exact),
        precision=scenario.precision or DEFAULT_PRECISION,
        seed=DEFAULT_SEED if scenario.seed is None else scenario.seed,
        rewritten=_rewritten(door),
        assumptions=tuple(door.assumed),
        classes=classes,
        candidates=Candidates(drives.classes, histories, door.shelf, _sorted_release(release)),
        timed=door.shipped.settings.timed,
        product=door.shipped.product,
    )


def _note_release(door: _Door) -> None:
    """Note what of the release and its tunables was not stated."""
    scenario, profile, sold = door.scenario, door.shipped.release, door.shipped.product
    if sold is not None:
        door.take("release", scenario.release, profile.name, profile.name, f"what {sold.title} ships")
        door.take("tunables", None, door.shipped.words, door.shipped.words, f"{sold.title}: {sold.why}")
    else:
        door.take("release", scenario.release, DEFAULT_RELEASE, DEFAULT_RELEASE, "a release in wide use")
    hz, details = door.release.hz, door.release.details_of_hz
    if scenario.hz is None and details.kind == "assumed":
        door.take("hz", None, hz, f"{hz} ticks/s", details.source)


def _settings(door: _Door, space: _Space, growth: Growth) -> _Settings:
    """Return what is set on the pool and its host, and its drives' write caches."""
    scenario, take = door.scenario, door.take
    sectors, why = _default_ashift(door.release)
    frag, frag_of = frag_wanted(scenario, door.layout, space.vdev_sizes, growth)
    return _Settings(
        recordsize=take("recordsize", scenario.recordsize, DEFAULT_RECORD, "128K", "the default of ZFS"),
        frag=take("frag", frag, None, "follows from the history", "not stated"),
        frag_of=frag_of,
        ashift=take("ashift", scenario.ashift, sectors, f"{sectors} ({1 << sectors} bytes)", why),
        memory=take("memory", scenario.memory, DEFAULT_MEMORY, "16G", MEMORY_REASON),
        cpus=take("cpus", scenario.cpus, DEFAULT_CPUS, str(DEFAULT_CPUS), "a common number"),
        write_cache=take("write_cache", scenario.write_cache, True, "on", WRITE_CACHE_REASON),
    )


def _history(door: _Door) -> History:
    """Return what the pool was used for."""
    why, stated = "files written, overwritten and deleted for some time", door.scenario.history
    return load_history(door.take("history", stated, None, DEFAULT_HISTORY, why) or DEFAULT_HISTORY)


def _use(history: History) -> int:
    """Return the place of a history in `USES`: of another one that of the use with records most like its."""
    if history.name in USES:
        return USES.index(history.name)
    own = history.mean_record()
    away = [abs(load_history(name).mean_record() - own) for name in USES]
    return away.index(min(away))


def _sorted_release(release: ReleaseProfile) -> ReleaseProfile | None:
    """Return the release with sorted scans that one without them is compared with."""
    return None if release.order == "sorted" else load_release(DEFAULT_RELEASE)


def _space(door: _Door) -> _Space:
    """Return drives, size of the pool, and how full it is."""
    why = "no drive was named; a typical 7200 rpm disk with conventional recording"
    drive = door.take("drive", door.scenario.drive, DEFAULT_DRIVE, DEFAULT_DRIVE, why)
    size = door.scenario.drive_size or _usual_size(door)
    sizes = vdev_sizes(door.layout, size, door.release)
    fill, alloc = _taken(door, sizes, size)
    return _Space(drive, size, sizes, sum(sizes), fill, alloc)


def _usual_size(door: _Door) -> int:
    """Return the capacity of drives of which nobody says it [bytes]."""
    scenario, size, origin = door.scenario, _common_size(door), "a common size"
    if scenario.drive is not None:
        model = door.shelf.named(scenario.drive)
        # A class of drives has no capacity of its own: data that is stated has room.
        if not model.is_generic or (scenario.alloc or 0) <= _most(door, model.capacity_bytes):
            size = model.capacity_bytes
            origin = "typical of this class" if model.is_generic else "from the drive model"
    return door.take("drive_size", None, size, format_both(size), origin)


def _taken(door: _Door, sizes: tuple[int, ...], drive_size: int) -> tuple[float, int]:
    """Return the fill and ALLOC [bytes] of a pool."""
    scenario, total = door.scenario, sum(sizes)
    if scenario.alloc is not None:
        if scenario.alloc > total:
            held, size = format_bytes(total), format_both(drive_size)
            allowed = f"the pool {door.layout} of {size} drives holds {held}"
            remedy = "give the size of the drives with drive_size, or all vdevs with layout"
            raise InputError("alloc", format_bytes(scenario.alloc), allowed, remedy)
        return scenario.alloc / total, scenario.alloc
    if scenario.vdev_fills is not None:
        fill = math.fsum(map(math.prod, zip(scenario.led_fills, sizes, strict=True))) / total
    else:
        why = "not stated; the time is about proportional to it"
        fill = door.take("fill", scenario.fill, DEFAULT_FILL, format_fraction(DEFAULT_FILL), why)
    return fill, round(fill * total)


def _most(door: _Door, drive_bytes: int) -> int:
    """Return how much may be allocated on drives of a capacity [bytes]."""
    return most_allocated(door.layout, drive_bytes, door.release, door.scenario.operation == "remove")


def _common_size(door: _Door) -> int:
    """Return a common capacity, or the least larger one of which a stated ALLOC leaves some free [bytes]."""
    alloc = door.scenario.alloc
    if alloc is None:
        return DEFAULT_DRIVE_BYTES
    larger = (size for size in COMMON_DRIVE_BYTES if size >= DEFAULT_DRIVE_BYTES)
    fits = (size for size in larger if alloc <= USUALLY_FULL * _most(door, size))
    return next(fits, COMMON_DRIVE_BYTES[-1])


def _rewritten(door: _Door) -> float:
    """Return the share of the data that has the width of an expanded RAID-Z since it was written again."""
    if not any(vdev.grown for vdev in door.layout.vdevs):
        return 0.0
    why = "nothing written again since the expansion: zfs rewrite, or new copies, would change that"
    return float(door.take("rewritten", door.scenario.rewritten, 0.0, "0", why))


def _target(door: _Door) -> Target:
    """Return where the data goes: a dRAID has its spare at hand, and ZED takes it at once."""
    scenario, vdev = door.scenario, door.layout.vdevs[0]
    count = scenario.replaced_drives or 1
    if not kind_of(vdev.kind).has_distributed_spares or scenario.operation == "scrub":
        return scenario.target or "new-drive"
    other = scenario.new_drive or scenario.new_drive_size or scenario.old_drive == "online"
    other = other or scenario.second_at is not None
    if not vdev.spares or other or count > 1:
        text: Target = "new-drive"
        return door.take("target", scenario.target, text, text, "a drive takes its place")
    text = "distributed-spare"
    return door.take("target", scenario.target, text, text, "what ZED takes first when a drive fails")


def _operation(door: _Door, target: str) -> Operation:
    """Return what runs: into a distributed spare ZED rebuilds sequentially (zfs_retire.c, 2.1 and later)."""
    if target == "distributed-spare" and door.release.rebuild == "mirror-draid":
        why = "ZED rebuilds sequentially into a distributed spare"
        return door.take("operation", door.scenario.operation, "rebuild", "rebuild", why)
    return door.take("operation", door.scenario.operation, "resilver", "resilver", "the usual repair")


def _repair(door: _Door, space: _Space) -> _Repair:
    """Return what runs, of how many drives, and onto which."""
    scenario = door.scenario
    target = _target(door)
    operation = _operation(door, target)
    other = door.special if door.layout.vdevs[0].alloc_class != NORMAL else None
    usual, least = (space.drive, space.drive_size) if other is None else (other.name, other.capacity_bytes)
    count, old, new = 0, scenario.old_drive or "online", usual
    if operation == "expand":
        count, old, new = 1, "online", scenario.new_drive or usual
        if scenario.new_drive is None:
            door.take("new_drive", None, new, new, "the same model as the others")
    elif operation not in ("scrub", "remove"):
        count = door.take("replace", scenario.replaced_drives, 1, "1", "one drive replaced")
        old = door.take("old_drive", scenario.old_drive, "missing", "missing", "the failed drive is gone")
        new = scenario.new_drive or usual
        if scenario.new_drive is None and target == "new-drive":
            door.take("new_drive", None, new, new, "the same model as the others")
    size = scenario.new_drive_size
    if size is None:
        model = door.shelf.named(new)
        # A generic drive is of any size: of that of the drive that it replaces.
        size = model.capacity_bytes if scenario.new_drive and not model.is_generic else least
    if size < least and scenario.new_drive_size is None and scenario.drive_size is not None:
        # What is stated is the size of the others; that of the replacement is its model's.
        allowed = f"ZFS takes no replacement smaller than what it replaces, and {new} has {format_both(size)}"
        remedy = "give a smaller drive_size, or new_drive_size too"
        raise InputError("drive_size", format_both(least), allowed, remedy)
    if size < least:
        allowed = f"ZFS takes no replacement smaller than the {format_both(least)} it replaces"
        raise InputError("new_drive_size", format_both(size), allowed, "give a larger drive")
    return _Repair(operation, target, count, old, new, size)


def _default_ashift(release: ReleaseProfile) -> tuple[int, str]:
    """Return the sector size a pool of the release most likely has, and why."""
    if release.queue == "single":
        return 9, f"{release.name} takes the logical sector size of the drives, 512 bytes"
    return 12, "sectors of 4 KiB, as drives report or administrators set them"


class _CaseDrives(NamedTuple):
    own: Drives
    classes: dict[str, Drives]


def _drives(door: _Door, space: _Space, repair: _Repair) -> _CaseDrives:
    """Return the drives, and what those of worlds may be: only where the scenario says nothing."""
    same = any(each.field == "new_drive" for each in door.assumed)
    same = same and door.layout.vdevs[0].alloc_class == NORMAL
    sized = door.shelf.sized
    classes = {
        name: Drives(
            sized(name, space.drive_size),
            sized(name if same else repair.new_drive, repair.new_drive_size),
        )
        for name, _ in DRIVE_CLASSES
        if door.scenario.drive is None
    }
    own = Drives(sized(space.drive, space.drive_size), sized(repair.new_drive, repair.new_drive_size))
    return _CaseDrives(own, classes)


def _host(shelf: Shelf) -> Enclosure | None:
    """Return what SATA solid-state drives share where nobody says what they plug into."""
    return load_enclosure(HOST) if any(map(is_sata_flash, shelf.drives)) else None


def is_sata_flash(model: DriveModel) -> bool:
    """Tell whether a drive is a solid-state one behind SATA, which several share at the host."""
    return model.kind == "flash" and model.parameters().interface_rate < FASTEST_SATA


def _led(scenario: Scenario, drives: tuple[int, ...]) -> tuple[int, ...]:
    """Return the places of drives in the layout that the vdev under repair leads."""
    return tuple(map(scenario.leaf_of, drives))


def _ports(door: _Door, count: int) -> tuple[AttachedDrives, ...]:
    """Return the shared links that are stated, with their drives; `count` of these are new."""
    scenario, leaves = door.scenario, door.layout.leaves
    named = [
        AttachedDrives(
            port.enclosure, load_enclosure(port.enclosure), _led(scenario, port.leaves(leaves, count))
        )
        for port in scenario.ports or ()
    ]
    if scenario.enclosure is not None:
        taken = {leaf for each in named for leaf in each.leaves}
        # Bays fill in the order of the layout, whichever vdev is repaired.
        rest = tuple(leaf for leaf in _led(scenario, tuple(range(leaves + count))) if leaf not in taken)
        named.append(AttachedDrives(scenario.enclosure, load_enclosure(scenario.enclosure), rest))
    if not named:
        door.take("ports", None, None, "direct", "every drive on its own port")
    return tuple(named)
