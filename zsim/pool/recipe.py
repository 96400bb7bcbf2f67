"""What makes a population: the pool, its allocator, what is written to it, how it aged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from zsim.errors import InputError
from zsim.pool.blocks import BlockTable
from zsim.pool.styles import AllocatorStyle, allocator_style, metaslab_shift
from zsim.scenario.layout import Layout, VdevSpec

LABEL_START = 4 << 20  # labels and boot area in front (vdev_impl.h: VDEV_LABEL_START_SIZE)
LABEL_END = 512 << 10
DRAID_RESERVE = 32 << 20
DRAID_ROW = 16 << 20

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
    """

    spec: VdevSpec
    ashift: int
    slab_bytes: int
    slab_count: int

    @property
    def unit(self) -> int:
        """Smallest allocation [bytes]: of all asizes and, inside a metaslab, of all offsets a multiple."""
        sectors = {"mirror": 1, "raidz": 1 + self.spec.parity, "draid": self.spec.data + self.spec.parity}
        return sectors[self.spec.kind] << self.ashift


def allocatable_bytes(spec: VdevSpec, leaf_bytes: int) -> int:
    """Return the size of a top-level vdev's address space [bytes], labels left out.

    OpenZFS vdev_raidz.c:vdev_raidz_open (children x the smallest), vdev_draid.c:vdev_draid_open (rows of 16 MiB,
    32 MiB reserve a child, whole groups).
    """
    child = leaf_bytes - LABEL_START - LABEL_END
    if spec.kind == "mirror":
        return child
    if spec.kind == "raidz":
        return child * spec.children
    group = (spec.data + spec.parity) * DRAID_ROW
    rows = (child - DRAID_RESERVE) // DRAID_ROW
    return rows * DRAID_ROW * (spec.children - spec.spares) // group * group


def top_level(spec: VdevSpec, ashift: int, leaf_bytes: int, release: str) -> TopLevel:
    """Return a top-level vdev with the metaslabs its release would give it.

    From 2.1 one metaslab of more than 64 is set aside for the intent log (vdev.c:vdev_metaslab_group_create).
    """
    asize = allocatable_bytes(spec, leaf_bytes)
    shift = metaslab_shift(asize, release)
    count = asize >> shift
    if count < 2:
        raise InputError(
            "leaf size", leaf_bytes, "a pool needs at least two metaslabs of 16 MiB", "use larger drives"
        )
    return TopLevel(spec, ashift, 1 << shift, count)


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
    """

    recordsize: int = 128 << 10
    share: float = 1.0
    size_factor: float = 1.0
    ratios: tuple[tuple[float, float], ...] = ((1.0, 1.0),)


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
    """Overwrite random runs of `shortest` to `longest` records until `fraction` of the data is rewritten."""

    fraction: float
    shortest: int = 1
    longest: int = 4


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


Step = Fill | Overwrite | Remove | Snapshot | KeepSnapshots


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
    mos_dnode_blocks, mos_objects, mos_each_txg : int
        Dnode blocks and objects of the MOS, and the objects rewritten in each txg.
    """

    pointers: int = 1024
    dnode_pointers: int = 1
    indirect_fixed: float = 514.0
    indirect_each: float = 60.0
    dnode_block: int = 4096
    objset_root: int = 4096
    mos_dnode_blocks: int = 8
    mos_objects: int = 30
    mos_each_txg: int = 6


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
    txg_step : int
        Txgs per written one: 3 where the writer waits for each sync (two idle ones follow), 1 under steady load.
    metadata : MetadataSizes
        Sizes of the metadata.
    """

    vdevs: tuple[TopLevel, ...]
    style: AllocatorStyle
    records: tuple[RecordClass, ...] = (RecordClass(),)
    files: FileSizes = field(default_factory=FileSizes)
    steps: tuple[Step, ...] = (Fill(0.5),)
    datasets: int = 1
    txg_bytes: int = 256 << 20
    txg_step: int = 1
    metadata: MetadataSizes = field(default_factory=MetadataSizes)

    @property
    def space(self) -> int:
        """Allocatable space of the pool [bytes], parity included."""
        return sum(vdev.slab_bytes * vdev.slab_count for vdev in self.vdevs)


def pool_of(
    layout: str | Layout, leaf_bytes: int, release: str, ashift: int = 12, *, spacemap_histogram: bool = True
) -> tuple[tuple[TopLevel, ...], AllocatorStyle]:
    """Return the vdevs and the allocator of a pool by layout and release.

    Parameters
    ----------
    layout : str or Layout
        For example ``4*raidz2x6``.
    leaf_bytes : int
        Size of a drive (its ZFS partition) [bytes].
    release : str
        For example ``2.3.9``.
    ashift : int
        log2 of the sector size.
    spacemap_histogram : bool
        The pool feature of that name.
    """
    parsed = Layout.parse(layout) if isinstance(layout, str) else layout
    vdevs = tuple(top_level(spec, ashift, leaf_bytes, release) for spec in parsed.vdevs)
    return vdevs, allocator_style(release, spacemap_histogram=spacemap_histogram)


def build_population(recipe: PoolRecipe, seed: int = 0) -> BlockTable:
    """Build the population a recipe leaves: see `zsim.pool.population.build_population`."""
    from zsim.pool import population  # noqa: PLC0415 - the kernels; a recipe alone stays light

    return population.build_population(recipe, seed)
