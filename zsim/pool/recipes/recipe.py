"""The recipe of a population: the pool, its allocator, what is written to it, how it ages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import InputError
from zsim.pool.recipes.styles import AllocatorStyle, allocator_style
from zsim.scenario.layout import Layout, VdevSpec
from zsim.scenario.releases.capacity import vdev_capacity
from zsim.scenario.releases.profile import ReleaseProfile, load_release
from zsim.vdevs.kind import NORMAL, kind_of

EMBEDDED_SLOG_ABOVE = 64  # metaslabs: zfs_embedded_slog_min_ms

LEAST_STAGE, MOST_STAGE = 0.02, 0.97
"""How full a pool is at least, and at most, when a vdev is added to it."""

FileShape = Literal["fixed", "uniform", "lognormal"]


@dataclass(frozen=True, slots=True)
class TopLevel:
    """One top-level vdev and its metaslabs.

    Attributes
    ----------
    spec : VdevSpec
        Kind, children, parity, data.
    ashift : int
        log2 of the sector size.
    slab_bytes : int
        Size of a metaslab [bytes].
    slab_count : int
        Metaslabs that take data.
    starts : tuple of int
        Address of each metaslab [bytes]; empty where they follow one another without a gap.
    stands_for : int
        Size of the real metaslab that one of a miniature stands for [bytes]; 0 where they are real.
    """

    spec: VdevSpec
    ashift: int
    slab_bytes: int
    slab_count: int
    starts: tuple[int, ...] = ()
    stands_for: int = 0

    @property
    def space(self) -> int:
        """What its metaslabs hold [bytes]."""
        return self.slab_bytes * self.slab_count

    @property
    def row_bytes(self) -> int:
        """By multiples of this blocks may move: same children on RAID-Z, whole groups on dRAID [bytes]."""
        return kind_of(self.spec.kind).row_sectors(self.spec) << self.ashift

    def behind(self, number: int, count: float) -> int:
        """Return how far the copy `number` of `count` lies behind a reduced population [bytes].

        Evenly, up to where the next reduced metaslab begins: no two copies take the same place.
        """
        if self.stands_for == 0:
            return 0
        starts = self.slab_starts()
        room = int(np.diff(starts).min()) if len(starts) > 1 else self.stands_for
        if room <= self.slab_bytes:
            return 0
        apart = int(max(self.slab_bytes, room / count))
        return apart * number // self.row_bytes * self.row_bytes

    @property
    def first_slabs(self) -> int:
        """Metaslabs of those that it was made with: all, but for a RAID-Z that has grown."""
        if not self.spec.grown:
            return self.slab_count
        starts = self.slab_starts()
        end = int(starts[-1]) + (self.stands_for or self.slab_bytes)
        before = end * (self.spec.children - self.spec.grown) // self.spec.children
        return max(2, int((starts + self.slab_bytes <= before).sum()))

    def slab_starts(self) -> NDArray[np.int64]:
        """Return the address of each metaslab [bytes]; dRAID's are aligned to whole stripes."""
        if self.starts:
            starts = np.array(self.starts, dtype=np.int64)
        else:
            starts = np.arange(self.slab_count, dtype=np.int64) * self.slab_bytes
        return -(-starts // self.unit) * self.unit if kind_of(self.spec.kind).is_row_aligned else starts

    def slab_of(self, offset: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the metaslab of each address."""
        return np.searchsorted(self.slab_starts(), offset, side="right") - 1

    def place_of(self, offset: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return where each address lies, from the first metaslab on [metaslabs].

        A metaslab counts with its number: in a miniature only the first part of each is there.
        """
        slab = self.slab_of(offset)
        place: NDArray[np.float64] = slab + (offset - self.slab_starts()[slab]) / self.slab_bytes
        return place

    @property
    def stretches(self) -> int:
        """Number of stretches of metaslabs that follow one another without a gap."""
        return 1 + int(np.count_nonzero(np.diff(self.slab_starts()) > self.slab_bytes + self.unit))

    @property
    def unit(self) -> int:
        """Smallest allocation [bytes]: of all asizes and, inside a metaslab, of all offsets a multiple."""
        return kind_of(self.spec.kind).unit_sectors(self.spec) << self.ashift


def top_level(spec: VdevSpec, ashift: int, leaf_bytes: int, release: ReleaseProfile) -> TopLevel:
    """Return a top-level vdev with the metaslabs its release would give it.

    From 2.1 one metaslab of more than 64 is set aside for the intent log (vdev.c:vdev_metaslab_init).
    """
    capacity = vdev_capacity(spec, leaf_bytes, release)
    count = capacity.metaslab_count
    if release.embedded_slog and count > EMBEDDED_SLOG_ABOVE:
        count -= 1
    if count < 2:
        raise InputError("drive_size", leaf_bytes, "a pool needs at least two metaslabs", "use larger drives")
    return TopLevel(spec, ashift, 1 << capacity.metaslab_shift, count)


@dataclass(frozen=True, slots=True)
class RecordClass:
    """One kind of file of a mix.

    Attributes
    ----------
    recordsize : int
        Record size of its dataset [bytes].
    share : float
        Share of all files, relative to the others'.
    size_factor : float
        Its files' sizes relative to the size distribution.
    ratios : tuple of (float, float)
        (psize / lsize, probability): how the records compress.  1 is incompressible.
    volume : bool
        Volumes, not files: their small blocks go to a special vdev from 2.4 on.
    """

    recordsize: int = 128 << 10
    share: float = 1.0
    size_factor: float = 1.0
    ratios: tuple[tuple[float, float], ...] = ((1.0, 1.0),)
    volume: bool = False


@dataclass(frozen=True, slots=True)
class FileSizes:
    """Distribution of file sizes.

    Attributes
    ----------
    shape : {"fixed", "uniform", "lognormal"}
        ``uniform`` runs from `low` to `high`; ``lognormal`` has `mean` and `sigma`.
    mean, low, high : int
        [bytes]; `low` and `high` cut off every shape.
    sigma : float
        Standard deviation of the logarithm.
    """

    shape: FileShape = "lognormal"
    mean: int = 16 << 20
    low: int = 4 << 10
    high: int = 1 << 40
    sigma: float = 1.0


@dataclass(frozen=True, slots=True)
class Fill:
    """Write new files until allocated / space reaches `fraction`."""

    fraction: float


@dataclass(frozen=True, slots=True)
class Overwrite:
    """Overwrite random runs of `shortest` to `longest` records until `fraction` of the data is rewritten.

    A run begins at any record, each as likely as another; with `by_file` in any file, large or small.
    """

    fraction: float
    shortest: int = 1
    longest: int = 4
    by_file: bool = False


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove `fraction` of the files, chosen at random."""

    fraction: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Take a snapshot of every dataset."""


@dataclass(frozen=True, slots=True)
class KeepSnapshots:
    """Destroy the oldest snapshots until `count` are left."""

    count: int


@dataclass(frozen=True, slots=True)
class Refill:
    """Write new files until there is as much living data as after the last `Fill`."""


@dataclass(frozen=True, slots=True)
class AddVdev:
    """Add a top-level vdev, by its number in the recipe; until then the pool is without it."""

    vdev: int


@dataclass(frozen=True, slots=True)
class Expand:
    """Expand the RAID-Z vdevs that have grown, by all their new drives.

    Until then they have the metaslabs and the width that they were made with.
    """


Step = AddVdev | Expand | Fill | Refill | Overwrite | Remove | Snapshot | KeepSnapshots


@dataclass(frozen=True, slots=True)
class MetadataSizes:
    """Compressed sizes and numbers of metadata blocks.

    Attributes
    ----------
    pointers : int
        Block pointers of an indirect block: 1024 (0.7+), 128 before.
    dnode_pointers : int
        Block pointers in a dnode: 1 in filesystems (the rest holds attributes), 3 in bare objects.
    indirect_fixed, indirect_each : float
        Compressed size of an indirect block [bytes], fixed and per pointer in use.
    dnode_block, objset_root : int
        Compressed sizes [bytes].
    space_map : int
        Compressed size of a space map's last block [bytes].
    mos_dnode_blocks, mos_each_txg, mos_static : int
        Dnode blocks and small objects of the MOS that are rewritten in each txg, and objects written once.
    """

    pointers: int = 1024
    dnode_pointers: int = 1
    indirect_fixed: float = 514.0
    indirect_each: float = 60.0
    dnode_block: int = 4096
    objset_root: int = 4096
    space_map: int = 8192
    mos_dnode_blocks: int = 6
    mos_each_txg: int = 3
    mos_static: int = 9


@dataclass(frozen=True, slots=True)
class IssueOrder:
    """In which order the records of one txg get their places.

    Attributes
    ----------
    throttled : bool
        Each allocator takes what its queue has room for as it was dirtied, object after object.  The
        throttle holds the rest back, sorted by object and record (OpenZFS zio.c:zio_io_to_allocate takes
        the first of spa_alloc_tree, 0.7 to 2.3), and a command that is done lets as many go as it wrote.  A
        single processor (the bench pools) begins with the last of these.
    window : int
        So many records have room in a queue; 0: by the places that they and their indirect blocks take.
    group, straight : int
        So many go at a time, of which `straight` in order; 0: as many as a command wrote.
    late_indirects : bool
        The indirect blocks of such a group come behind it.
    """

    throttled: bool = False
    window: int = 0
    group: int = 0
    straight: int = 0
    late_indirects: bool = False


@dataclass(frozen=True, slots=True)
class SmallBlocks:
    """Which records go to the special class.

    Attributes
    ----------
    largest : int
        ``special_small_blocks``: compressed size up to which they do [bytes]; 0: none.
    percent : int
        Until so much of the class is allocated: ``100 - zfs_special_class_metadata_reserve_pct``.
    volumes : bool
        Whether those of volumes do (2.4).
    indirects : bool
        Whether indirect blocks of files and volumes do (``zfs_user_indirect_is_special``).
    """

    largest: int = 0
    percent: int = 75
    volumes: bool = False
    indirects: bool = True


def small_blocks(release: ReleaseProfile, largest: int) -> SmallBlocks:
    """Return what a release puts on the special class beside metadata.

    Parameters
    ----------
    release : ReleaseProfile
    largest : int
        ``special_small_blocks`` [bytes].

    Notes
    -----
    OpenZFS spa_misc.c:spa_preferred_class, 0.8 and later.
    """
    values = release.tunables
    reserve = values.get("zfs_special_class_metadata_reserve_pct", 100)
    return SmallBlocks(
        largest=largest,
        percent=max(0, 100 - reserve),
        volumes=release.special_volumes,
        indirects=bool(values.get("zfs_user_indirect_is_special", 1)),
    )


@dataclass(frozen=True, slots=True)
class Growth:
    """Top-level vdevs that were added to a pool while it was filled.

    Attributes
    ----------
    stages : tuple of (float, tuple of int)
        Allocated / space of the vdevs of the normal class that were there, and which were then added.
    wanted : tuple of (int, float)
        How full vdevs are to be in the end, by number.
    """

    stages: tuple[tuple[float, tuple[int, ...]], ...] = ()
    wanted: tuple[tuple[int, float], ...] = ()

    def among(self, numbers: Sequence[int]) -> Growth:
        """Return the growth of a pool of only these vdevs, by their places."""
        stages = []
        for fill, added in self.stages:
            here = tuple(numbers.index(vdev) for vdev in added if vdev in numbers)
            stages += [(fill, here)] if here else []
        wanted = tuple((numbers.index(vdev), fill) for vdev, fill in self.wanted if vdev in numbers)
        return Growth(tuple(stages), wanted)

    def reached(self, vdevs: Sequence[TopLevel], otherwise: float) -> float:
        """Return how full some vdevs are together in the end; `otherwise` where nobody says it of each."""
        space = {number: vdevs[number].space for number, _ in self.wanted}
        if not space:
            return otherwise
        return math.fsum(fill * space[number] for number, fill in self.wanted) / sum(space.values())

    def less_full(self, share: float) -> Growth:
        """Return the growth of a pool of which every vdev is as much less full, then and in the end."""
        stages = tuple((max(fill * share, LEAST_STAGE), added) for fill, added in self.stages)
        return Growth(stages, tuple((vdev, fill * share) for vdev, fill in self.wanted))

    def corrected(self, fills: Sequence[float]) -> Growth:
        """Return the growth after which vdevs that came out as full as `fills` are nearer to what is wanted.

        What was there before an addition got so much more, or less, than its share of what came after.
        """
        wanted, stages = dict(self.wanted), list(self.stages)
        later = self.added
        for place, (fill, added) in enumerate(self.stages):
            before = [vdev for vdev in wanted if vdev not in later[later.index(added[0]) :]]
            if not set(added) & set(wanted) or not before:
                continue
            excess = math.fsum(fills[vdev] - wanted[vdev] for vdev in before) / len(before)
            stages[place] = (min(max(fill - excess, LEAST_STAGE), MOST_STAGE), added)
        return Growth(tuple(stages), self.wanted)

    @property
    def added(self) -> list[int]:
        """The vdevs that were added, by number, in order of time."""
        return [vdev for _, added in self.stages for vdev in added]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The additions, each once the pool is as full as it was."""
        steps: list[Step] = []
        for fill, added in self.stages:
            steps += [Fill(fill), *(AddVdev(vdev) for vdev in added)]
        return tuple(steps)

    @classmethod
    def to_fills(cls, fills: Sequence[float], spaces: Sequence[int]) -> Growth:
        """Return how vdevs came to be as full as they are: the emptier, the later they were added.

        Parameters
        ----------
        fills : sequence of float
            Allocated / space of each vdev of the normal class.
        spaces : sequence of int
            [bytes]

        Notes
        -----
        Writes are spread by free space (the bias of metaslab.c:metaslab_alloc_dva; 2.4:
        metaslab_class_balance), so that the free shares of two vdevs keep their ratio once both are there.
        """
        free = [1.0 - fill for fill in fills]
        levels = sorted({round(share, 6) for share in free})
        stages = []
        for level in levels[1:]:
            there = [number for number, share in enumerate(free) if round(share, 6) < level]
            left = math.fsum(spaces[number] * free[number] / level for number in there)
            fill = 1.0 - left / math.fsum(spaces[number] for number in there)
            new = tuple(number for number, share in enumerate(free) if round(share, 6) == level)
            stages.append((fill, new))
        return cls(tuple(stages), tuple(enumerate(fills)))


@dataclass(frozen=True, slots=True)
class PoolRecipe:
    """Everything `build_population` needs.

    Attributes
    ----------
    vdevs : tuple of TopLevel
        Top-level vdevs in order.
    style : AllocatorStyle
        The release's allocator.
    records : tuple of RecordClass
        Mix of record sizes.
    files : FileSizes
        Sizes of the files.
    steps : tuple of Step
        The history, in order.
    datasets : int
        Filesystems; file i goes to dataset i modulo this.
    txg_bytes : int
        Data written per txg [bytes].
    request_records : int
        Records that a writer of files hands over at a time: a txg ends behind a whole request.
    txg_step : int
        Txgs per written one: 3 where the writer waits for each sync (two idle ones follow), 1 under steady
        load.
    metadata : MetadataSizes
        Sizes of the metadata.
    issue : IssueOrder
        Order of placement within a txg.
    whole_files : bool
        A file begun is written to its end, even if the pool is as full as wanted before.
    metadata_every : int
        Meta-dnodes and MOS are written in every so many txgs (a miniature's txgs are smaller than real ones).
    fill_parts : int
        New files are written in txgs of so many times `txg_bytes`, which are placed as one.
    claim_bytes : int
        Third copies of the MOS are written behind each so many bytes of data (a miniature's, apart from the
        rest of its MOS); 0: with the MOS.
    piece_bytes : int
        Larger files are there in pieces of at most this size [bytes] (a miniature's); 0: whole.
    small_blocks : SmallBlocks
        Which records go to the special class, where there is one.
    """

    vdevs: tuple[TopLevel, ...]
    style: AllocatorStyle
    records: tuple[RecordClass, ...] = (RecordClass(),)
    files: FileSizes = field(default_factory=FileSizes)
    steps: tuple[Step, ...] = (Fill(0.5),)
    datasets: int = 1
    txg_bytes: int = 256 << 20
    request_records: int = 1
    txg_step: int = 1
    metadata: MetadataSizes = field(default_factory=MetadataSizes)
    issue: IssueOrder = field(default_factory=IssueOrder)
    whole_files: bool = True
    metadata_every: int = 1
    fill_parts: int = 1
    claim_bytes: int = 0
    piece_bytes: int = 0
    small_blocks: SmallBlocks = field(default_factory=SmallBlocks)

    @property
    def normal(self) -> tuple[TopLevel, ...]:
        """The top-level vdevs of the normal class: what `Fill` counts."""
        return tuple(vdev for vdev in self.vdevs if vdev.spec.alloc_class == NORMAL)

    @property
    def space(self) -> int:
        """Allocatable space of the normal class [bytes], parity included."""
        return sum(vdev.space for vdev in self.normal)

    @property
    def highest_fill(self) -> float:
        """The fullest that the history makes the pool; 0 where nothing fills it."""
        return max((step.fraction for step in self.steps if isinstance(step, Fill)), default=0.0)


def pool_of(
    layout: str | Layout,
    leaf_bytes: int,
    release: str | ReleaseProfile,
    ashift: int = 12,
    *,
    special_bytes: int | None = None,
    cpus: int = 16,
    rotating: bool = True,
    spacemap_histogram: bool = True,
) -> tuple[tuple[TopLevel, ...], AllocatorStyle]:
    """Return the vdevs and the allocator of a pool by layout and release.

    Parameters
    ----------
    layout : str or Layout
        For example ``4*raidz2x6``.
    leaf_bytes : int
        Size of a drive (its ZFS partition) [bytes].
    release : str or ReleaseProfile
        For example ``2.3.9``.
    ashift : int
        log2 of the sector size.
    special_bytes : int, optional
        The same of drives of vdevs that are not for data; as large as the others if not given.
    cpus, rotating, spacemap_histogram
        See `zsim.pool.recipes.styles.allocator_style`.

    Raises
    ------
    InputError
        For a layout or release that is not known, or a drive too small for a pool.
    """
    parsed = Layout.parse(layout) if isinstance(layout, str) else layout
    profile = load_release(release) if isinstance(release, str) else release
    other = leaf_bytes if special_bytes is None else special_bytes
    kinds = {
        spec: top_level(spec, ashift, leaf_bytes if spec.alloc_class == NORMAL else other, profile)
        for spec in set(parsed.vdevs)
    }
    style = allocator_style(profile, cpus=cpus, rotating=rotating, spacemap_histogram=spacemap_histogram)
    return tuple(kinds[spec] for spec in parsed.vdevs), style
