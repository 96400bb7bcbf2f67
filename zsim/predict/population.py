"""The population of a member: a miniature of the pool with the history of its scenario.

The miniature has the pool's record sizes, run lengths and gaps, but fewer and smaller metaslabs; each lies at the
real place of one of the pool's, so that zones and long seeks are the real ones.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from zsim.pool.blocks import BlockTable
from zsim.pool.population import build_population
from zsim.pool.recipe import Fill, FileSizes, MetadataSizes, Overwrite, PoolRecipe, RecordClass, Remove, Step, TopLevel, pool_of
from zsim.pool.statistics import free_segments
from zsim.predict.ensemble import Member
from zsim.scenario.resolve import ResolvedScenario

BLOCKS = 12_000
MAX_VDEVS = 2
MAX_SLABS = 40
MIN_SLAB_BYTES = 16 << 20
# Home server in use for some time: per round so much of the data is rewritten and of the files removed.
ROUNDS, REWRITTEN, REMOVED = 3, 0.08, 0.10
MEAN_FILE_BYTES, FILE_SIGMA = 8 << 20, 2.0
# Largest file of a miniature, as a share of its space: beyond that, files are runs anyway.
LARGEST_SHARE = 0.02
FRAG_TABLE = (100, 100, 98, 95, 90, 80, 70, 60, 50, 40, 30, 20, 15, 10, 5, 0)
FRAG_TABLE_NEW = (100, 99, 97, 93, 88, 83, 77, 71, 64, 57, 50, 43, 36, 29, 23, 17, 12, 7, 3, 1, 0)
FRAG_STEPS = 5


@dataclass(frozen=True, slots=True)
class Miniature:
    """A population to simulate.

    Attributes
    ----------
    table : BlockTable
        DVA offsets lie in the real pool's address space.
    scale : float
        Bytes of the real pool that one byte of the miniature stands for.
    walked : float
        How many top-level vdevs of the real pool each one of the miniature's stands for in the metadata phase.
    frag : float
        FRAG of the miniature.
    """

    table: BlockTable
    scale: float
    walked: float
    frag: float


def miniature(resolved: ResolvedScenario, member: Member, *, blocks: int | None = None) -> Miniature:
    """Return a population like the pool's, small enough to simulate.

    Parameters
    ----------
    resolved : ResolvedScenario
    member : Member
        Its `churn` and `file_size` scale the history.
    blocks : int, optional
        Blocks wanted; `BLOCKS` if not given.
    """
    churn = member.churn
    if not resolved.assumed("frag"):
        churn = churn_for_frag(resolved, round(member.file_size, 3))
    return _build(resolved, churn, member.file_size, blocks or BLOCKS)


def _build(resolved: ResolvedScenario, churn: float, file_size: float, blocks: int) -> Miniature:
    real, small = recipes(resolved, churn, file_size, blocks)
    table = build_population(small, resolved.seed)
    frag = fragmentation(table, small.vdevs, resolved.release.fragmentation_table)
    moved = replace(table, dva_offset=_real_offsets(table, real.vdevs, small.vdevs))
    per_vdev = resolved.alloc / len(real.vdevs)
    scale = per_vdev / (table.allocated_bytes / len(small.vdevs))
    return Miniature(moved, scale, len(real.vdevs) / len(small.vdevs), frag)


def recipes(
    resolved: ResolvedScenario, churn: float, file_size: float, blocks: int
) -> tuple[PoolRecipe, PoolRecipe]:
    """Return the recipe of the real pool and that of its miniature."""
    vdevs, style = pool_of(
        resolved.layout, resolved.drive_size, resolved.release, resolved.ashift, cpus=resolved.cpus
    )
    record = resolved.recordsize
    real = PoolRecipe(
        vdevs=vdevs,
        style=style,
        records=(RecordClass(recordsize=record),),
        files=FileSizes(mean=max(1, int(MEAN_FILE_BYTES * file_size)), sigma=FILE_SIGMA, low=4 << 10, high=8 << 30),
        steps=history(resolved.fill, churn),
        metadata=MetadataSizes(pointers=1 << (resolved.release.indirect_shift - 7)),
    )
    wanted = blocks * record * _expansion(vdevs[0], record)
    few = tuple(_small(vdev, wanted / resolved.fill / min(MAX_VDEVS, len(vdevs))) for vdev in vdevs[:MAX_VDEVS])
    space = sum(vdev.slab_bytes * vdev.slab_count for vdev in few)
    largest = max(record, int(space * LARGEST_SHARE))
    files = replace(real.files, high=largest, mean=min(real.files.mean, largest // 2))
    return real, replace(real, vdevs=few, files=files, txg_bytes=max(1 << 20, int(wanted // 64)))


def history(fill: float, churn: float) -> tuple[Step, ...]:
    """Return the steps of a pool that was filled and has been in use since."""
    steps: list[Step] = [Fill(fill)]
    rewritten, removed = min(0.6, REWRITTEN * churn), min(0.5, REMOVED * churn)
    if churn <= 0.0:
        return tuple(steps)
    for _ in range(ROUNDS):
        steps += [Overwrite(rewritten), Remove(removed), Fill(fill)]
    return tuple(steps)


def _expansion(vdev: TopLevel, record: int) -> float:
    """Return asize over psize of full records."""
    if vdev.spec.kind != "raidz":
        return 1.0
    sectors = max(1, record >> vdev.ashift)
    data = vdev.spec.children - vdev.spec.parity
    total = sectors + vdev.spec.parity * -(-sectors // data)
    return -(-total // (vdev.spec.parity + 1)) * (vdev.spec.parity + 1) / sectors


def _small(vdev: TopLevel, space: float) -> TopLevel:
    """Return a vdev of `space` bytes with at most `MAX_SLABS` metaslabs of equal size."""
    count = int(min(vdev.slab_count, MAX_SLABS, max(2, space // MIN_SLAB_BYTES)))
    grain = vdev.unit * vdev.spec.children
    size = max(MIN_SLAB_BYTES, int(space / count)) // grain * grain
    return replace(vdev, slab_bytes=min(size, vdev.slab_bytes), slab_count=count)


def _real_offsets(
    table: BlockTable, real: tuple[TopLevel, ...], small: tuple[TopLevel, ...]
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return the DVA offsets moved to the places of the real pool's metaslabs."""
    offsets = table.dva_offset.copy()
    for number, (big, little) in enumerate(zip(real, small, strict=False)):
        mine = table.dva_vdev == number
        slab, local = np.divmod(offsets[mine], little.slab_bytes)
        place = (slab * big.slab_count) // little.slab_count
        offsets[mine] = place * big.slab_bytes + local
    return offsets


def fragmentation(table: BlockTable, vdevs: tuple[TopLevel, ...], which: str) -> float:
    """Return FRAG of a population, 0 to 1: the free-space-weighted table value of each metaslab, averaged.

    Source: OpenZFS metaslab.c:zfs_frag_table, metaslab_group_fragmentation (plain mean over metaslabs).
    """
    values = np.array(FRAG_TABLE_NEW if which == "to-512M" else FRAG_TABLE, dtype=float)
    found = []
    for number, vdev in enumerate(vdevs):
        slabs, lengths = free_segments(table, number, vdev)
        bucket = np.clip(np.floor(np.log2(np.maximum(lengths, 512))).astype(int) - 9, 0, len(values) - 1)
        weight = np.bincount(slabs, weights=lengths, minlength=vdev.slab_count)
        sums = np.bincount(slabs, weights=lengths * values[bucket], minlength=vdev.slab_count)
        found.append(np.where(weight > 0, sums / np.maximum(weight, 1), 0.0))
    return float(np.concatenate(found).mean() / 100.0)


@functools.lru_cache(maxsize=64)
def _churn_for(key: tuple[ResolvedScenario, float]) -> float:
    resolved, file_size = key
    low, high = 0.0, 6.0
    for _ in range(FRAG_STEPS):
        middle = 0.5 * (low + high)
        if _build(resolved, middle, file_size, BLOCKS // 3).frag < resolved.frag:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def churn_for_frag(resolved: ResolvedScenario, file_size: float) -> float:
    """Return the ageing after which the pool shows the FRAG that was stated."""
    return _churn_for((resolved, 1.0))
