"""The case: what is simulated, with every value filled in and no name left to look up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from zsim.case.facts import KnownPool
from zsim.case.member import Member
from zsim.drives.catalogue import Shelf
from zsim.drives.models.links import Enclosure
from zsim.drives.models.model import DriveModel
from zsim.pool.recipes.histories import EmptyPool, History
from zsim.pool.recipes.recipe import Growth, SmallBlocks, TopLevel, pool_of
from zsim.pool.recipes.styles import AllocatorStyle
from zsim.scenario.evidence import Observation
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario
from zsim.scenario.parts import Load
from zsim.scenario.releases.capacity import vdev_sizes
from zsim.scenario.releases.products import Product, Timed, system_of
from zsim.scenario.releases.profile import Operation, ReleaseProfile
from zsim.scenario.releases.record_sizes import largest_record
from zsim.vdevs.kind import NORMAL, kind_of

ENOUGH_MEMORY = 1 << 60
"""Of a host of which nobody says how much it has: the records of a sorted scan fit [bytes]."""


@dataclass(frozen=True, slots=True)
class CaseAssumption:
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

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return asdict(self)


class AttachedDrives(NamedTuple):
    """Drives behind a shared link.

    Attributes
    ----------
    name : str
        Of the enclosure, as it was stated.
    enclosure : Enclosure
    leaves : tuple of int
        Drives by their place in the layout; new ones come after it.
    """

    name: str
    enclosure: Enclosure
    leaves: tuple[int, ...]


class Drives(NamedTuple):
    """Models of a pool's drives and of the new one, generic ones with their capacity."""

    pool: DriveModel
    new: DriveModel


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a world of the case may be made of where nobody says, by name.

    Attributes
    ----------
    drives : mapping of str to Drives
        Empty where the drive is stated.
    histories : mapping of str to History
        Empty where the history is stated.
    shelf : Shelf or None
        Has the same drives in other capacities, which a world may have: one model a drive and capacity.
    sorted_release : ReleaseProfile or None
        What a scan in legacy order is compared with; None where the case's own scans are sorted.
    """

    drives: Mapping[str, Drives] = field(default_factory=dict)
    histories: Mapping[str, History] = field(default_factory=dict)
    shelf: Shelf | None = field(default=None, compare=False)
    sorted_release: ReleaseProfile | None = None


@dataclass(frozen=True, slots=True)
class ClassVdevs:
    """What is known of vdevs beyond the layout: allocation classes, and how unlike the data vdevs are.

    Attributes
    ----------
    drive : DriveModel or None
        Of special, dedup and log vdevs; None where there are none.
    small : SmallBlocks
        Which blocks go to the special class.
    growth : Growth
        Which vdevs were added, and how full the pool was.
    """

    drive: DriveModel | None = None
    small: SmallBlocks = field(default_factory=SmallBlocks)
    growth: Growth = field(default_factory=Growth)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A scenario with nothing left open; fields as in `Scenario` unless said otherwise.

    It is made once, by `zsim.case.resolve.resolve`; `zsim.case.worlds.in_world` gives the case as it is in
    one possible world.

    Attributes
    ----------
    scenario : Scenario
        What was stated.
    layout : Layout
        With `vdevs` applied, the vdev under repair first.
    release : ReleaseProfile
        With the tunables, the order and hz applied.
    operation, replace, old_drive, target : str or int
        See `Scenario`; `replace` is 0 for a scrub.
    second_at : float or None
        Share of the resilver that is done when one more drive is replaced.
    drive, new_drive : DriveModel
        Of the pool and of the replacement, generic ones scaled to their capacity.
    drive_size, new_drive_size : int
        [bytes]
    pool_size, alloc : int
        SIZE and ALLOC of the data vdevs as ``zpool list -v`` prints them [bytes].
    fill : float
        ALLOC/SIZE.
    write_cache : bool
    recordsize, memory : int
        [bytes]
    rewritten : float
        Share of the data written again since a RAID-Z was expanded.
    frag : float or None
        FRAG, from 0 to 1; None leaves it to the history.
    frag_of : tuple of int
        Places in the layout of the vdevs whose FRAG it is; empty: the pool's.
    ashift, cpus, seed : int
    ports : tuple of AttachedDrives
        Shared links; drives in none of them have a port of their own.
    host : Enclosure or None
        What SATA solid-state drives share of which nobody says what they plug into.
    history : History
        As in the catalogue; `stated_history` applies what else is stated.
    use : int
        Place in `zsim.case.worlds.USES` of the history, or of the use with records most like its.
    facts : KnownPool
        What files about the pool say.
    load : tuple of Load
    begins : int
        Time since Monday 00:00 [s].
    engine : {"compiled", "reference"}
    exact : bool
    precision : float
    assumptions : tuple of CaseAssumption
        In the order in which they matter.
    classes : ClassVdevs
        Vdevs of other allocation classes, and vdevs that were added later.
    candidates : Candidates
        What its worlds may be made of.
    timed : tuple of Timed
        Tunables that are set at some hours only, over those of `release`.
    product : Product or None
        What ships the release and sets tunables.
    without_effect : tuple of str
        What is said of stated tunables that change nothing here.
    sitting : frozenset of int
        Drives that sit out: they are written, but not read (autosit, 2.4).
    member : Member
        What was drawn for this world; neutral in the case as stated.
    """

    scenario: Scenario
    layout: Layout
    release: ReleaseProfile
    operation: Operation
    replace: int
    old_drive: Literal["missing", "online", "overwritten"]
    second_at: float | None
    target: Literal["new-drive", "distributed-spare"]
    drive: DriveModel
    drive_size: int
    new_drive: DriveModel
    new_drive_size: int
    pool_size: int
    fill: float
    alloc: int
    write_cache: bool
    recordsize: int
    rewritten: float
    frag: float | None
    frag_of: tuple[int, ...]
    ashift: int
    memory: int
    cpus: int
    ports: tuple[AttachedDrives, ...]
    host: Enclosure | None
    history: History
    use: int
    load: tuple[Load, ...]
    begins: int
    engine: Literal["compiled", "reference"]
    exact: bool
    precision: float
    seed: int
    assumptions: tuple[CaseAssumption, ...] = field(repr=False)
    classes: ClassVdevs = field(default_factory=ClassVdevs, repr=False)
    facts: KnownPool = field(default_factory=KnownPool, repr=False)
    candidates: Candidates = field(default_factory=Candidates, repr=False)
    timed: tuple[Timed, ...] = ()
    product: Product | None = None
    without_effect: tuple[str, ...] = ()
    sitting: frozenset[int] = frozenset()
    member: Member = field(default_factory=Member)

    @property
    def leaves(self) -> int:
        """Drives of the layout; the new ones come after them."""
        return self.layout.leaves

    @property
    def platform(self) -> str:
        """The operating system: linux, freebsd or illumos; as stated, or of the product or the release."""
        return system_of(self.scenario.platform, self.product, self.release)

    @property
    def evidence(self) -> tuple[Observation, ...]:
        """What the pool has already shown."""
        return self.scenario.evidence or ()

    @property
    def vdevs(self) -> tuple[TopLevel, ...]:
        """The top-level vdevs with their metaslabs."""
        return self.empty_pool.vdevs

    @property
    def allocator(self) -> AllocatorStyle:
        """How the release allocates."""
        return self.empty_pool.style

    @cached_property
    def empty_pool(self) -> EmptyPool:
        """The pool that the history is run on."""
        special = self.classes.drive
        vdevs, style = pool_of(
            self.layout,
            self.drive_size,
            self.release,
            self.ashift,
            special_bytes=None if special is None else special.capacity_bytes,
            cpus=self.cpus,
        )
        return EmptyPool(vdevs, style, self.release, self.classes.small, self.classes.growth)

    @property
    def damaged_size(self) -> int:
        """Capacity of the drives of the vdev under repair [bytes]."""
        return self.drive_model(0).capacity_bytes if self.repairs_class else self.drive_size

    @property
    def first_vdev_share(self) -> float:
        """Share of ALLOC that lies on the first vdev, the one under repair [1].

        A vdev of another class counts as one of all that store something.
        """
        return 1.0 / len(self.layout.stored) if self.repairs_class else self.data_shares[0]

    @property
    def data_shares(self) -> tuple[float, ...]:
        """Share of ALLOC that lies on each data vdev [1].

        As the fills of the vdevs have it (`Scenario.vdev_fills`), else all are as full: ZFS fills them in
        proportion to their space (OpenZFS metaslab_bias_enabled).
        """
        sizes = vdev_sizes(self.layout, self.drive_size, self.release)
        fills = (1.0,) * len(sizes) if self.scenario.vdev_fills is None else self.scenario.led_fills
        held = [fill * size for fill, size in zip(fills, sizes, strict=True)]
        whole = math.fsum(held)
        return tuple(each / whole for each in held)

    @property
    def largest_record(self) -> int:
        """The largest record of the release [bytes]."""
        return largest_record(self.release)

    @property
    def usual_record(self) -> int:
        """The size of a record of the pool [bytes]: as stated, else the mean of its use's.

        A geometric mean over the data, as a power of two; the default of ZFS where nobody says what the pool
        is used for, or a list of its blocks stands for that.
        """
        is_stated, mix = self.scenario.recordsize is not None, self.facts.records
        is_used = self.scenario.history is not None or self.member.history is not None
        if is_stated or self.facts.block_list is not None or not (is_used or mix):
            return self.recordsize
        history = self.history if mix is None else self.history.with_records(mix)
        return min(self.largest_record, 1 << round(history.mean_record()))

    def stated_history(self) -> History:
        """Return the history: what is stated or known of its records goes before the catalogue's."""
        if self.facts.records is not None:
            return self.history.with_records(self.facts.records)
        stated = self.scenario.recordsize is not None
        return self.history.with_recordsize(self.recordsize) if stated else self.history

    @property
    def onto_spare(self) -> bool:
        """Whether the data goes to a distributed spare of the damaged dRAID, not to a drive."""
        return self.target == "distributed-spare" and self.replace > 0

    @property
    def new_drives(self) -> int:
        """How many drives are written that were not in the pool before."""
        return 0 if self.onto_spare else self.replace + (self.second_at is not None)

    @property
    def repairs_groups(self) -> bool:
        """Whether of the vdev under repair those groups are read that have lost a child, and no others."""
        return self.operation == "resilver" and kind_of(self.layout.vdevs[0].kind).has_groups

    @property
    def repairs_class(self) -> bool:
        """Whether the vdev under repair is not one for data."""
        return self.layout.vdevs[0].alloc_class != NORMAL

    def drive_model(self, number: int) -> DriveModel:
        """Return the model of the drives of a top-level vdev."""
        special = self.classes.drive
        return self.drive if special is None or self.layout.vdevs[number].alloc_class == NORMAL else special

    def exchanged_model(self, leaf: int) -> DriveModel | None:
        """Return the model of a drive that is not like the rest; None of any other.

        No smaller than the rest, of which a world may have larger ones.
        """
        for each in self.scenario.exchanged or ():
            if self.scenario.leaf_of(each.drive) == leaf:
                shelf = self.candidates.shelf or Shelf(self.release.year)
                name = each.model or self.drive.name
                model = shelf.named(name)
                size = each.size or (self.drive_size if model.is_generic else model.capacity_bytes)
                return shelf.sized(name, max(size, self.drive_size))
        return None

    @property
    def scan_memory(self) -> int | None:
        """Main memory that the records of a sorted scan have to fit [bytes]; None where nobody says: they do.

        A limit that is stated as a tunable counts with the usual size of the memory.
        """
        limits = any(
            name.startswith("zfs_scan_") and "mem_lim" in name for name in self.scenario.tunables or ()
        )
        is_known = limits or not self.assumed("memory") or self.member.memory is not None
        return self.memory if is_known else None

    def assumed(self, name: str) -> bool:
        """Tell whether a field was not stated."""
        return any(each.field == name for each in self.assumptions)
