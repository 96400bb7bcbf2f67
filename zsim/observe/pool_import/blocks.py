"""Record size, sector size, fragmentation and history of a pool, from what zdb says about its blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from zsim.observe.pool_import.finding import PoolOutputs
from zsim.observe.pool_import.given.pasted_forms import UNKNOWN
from zsim.observe.pool_import.layout import Tops
from zsim.observe.pool_import.space import data_vdevs
from zsim.observe.pool_import.vdev_sizes import find_frags
from zsim.observe.texts import plain
from zsim.observe.zdb.blocks import BlockStatistics
from zsim.observe.zdb.pointers import FILE, METADATA, VOLUME, PointerSummary
from zsim.observe.zpool.properties import KnownProperty, record_of, small_blocks_of
from zsim.scenario.releases.record_sizes import (
    DEFAULT_RECORD,
    MAX_RECORD,
    MIN_RECORD,
    is_record_size,
    largest_record,
)
from zsim.vdevs.kind import kind_of

SMALL_FILES = 48 << 10
SMALL_FILE_METADATA = 0.01
WHOLE_RECORDS = 0.9
DATABASE_RECORD = 16 << 10
MEDIA_RECORD = 512 << 10
NEAR_POWER = 1.02
SECTOR_SHIFTS = range(9, 17)
_CONFIGURED = re.compile(r"block size: (\d{3,6})B configured", re.ASCII)
"""What zpool status notes of a drive whose sectors are larger than those of its vdev."""


@dataclass(frozen=True, slots=True)
class DataSizes:
    """Sizes of the data blocks of a pool.

    Attributes
    ----------
    recordsize : int
        The power of two that most bytes are in records of [bytes].
    mean_lsize, mean_psize : float
        [bytes]
    volume_share, metadata_share : float
        Share of volumes in the data, and of metadata in what is allocated.
    source : str
    """

    recordsize: int
    mean_lsize: float
    mean_psize: float
    volume_share: float
    metadata_share: float
    source: str

    @property
    def whole_records(self) -> bool:
        """Whether nearly all bytes are in records of that one size, not in files smaller than a record."""
        return self.mean_lsize >= WHOLE_RECORDS * self.recordsize


def find_blocks(outputs: PoolOutputs, tops: Tops) -> None:
    """Note sector size, FRAG, record size and, where the blocks suggest one, the history."""
    _find_ashift(outputs, tops)
    _find_frag(outputs, tops)
    _find_small_blocks(outputs, tops)
    sizes = data_sizes(outputs)
    if sizes is None:
        _find_stated_record(outputs)
        return
    history = history_of(sizes)
    if history is not None:
        outputs.find("history", history, f"kinds and sizes of the blocks in {sizes.source}", inferred=True)
    if sizes.whole_records or sizes.recordsize >= DEFAULT_RECORD:
        _find_recordsize(outputs, sizes)
    else:
        outputs.notes.append(
            "most files are smaller than a record, so the blocks do not show the record size"
        )


def _find_stated_record(outputs: PoolOutputs) -> None:
    """Note the record size of the fullest dataset, where no output shows the blocks themselves."""
    settings = outputs.files.of(KnownProperty)
    found = record_of(settings, _pool_name(outputs))
    if found is None:
        return
    name = plain(found.of)
    if found.size is None:
        what = f"{name}, which holds most, does not show its record size"
        if not found.weighed:
            what = (
                "the datasets have several record sizes, and nothing shows which holds most (zfs list does)"
            )
        outputs.notes.append(f"{what}: none is taken")
        return
    if not is_record_size(found.size):
        return
    source = next((each.source for each in settings if each.of == found.of), "zfs get")
    outputs.find("recordsize", found.size, f"{source} of {name}", inferred=found.others)
    if found.others:
        outputs.notes.append(
            f"the datasets have several record sizes: that of {name}, which holds most, is taken"
        )


def _find_small_blocks(outputs: PoolOutputs, tops: Tops) -> None:
    """Note which blocks go to the special vdevs, of the fullest dataset."""
    if not tops.classes.special:
        return
    size = small_blocks_of(outputs.files.of(KnownProperty), _pool_name(outputs))
    if size is not None and size <= MAX_RECORD:
        outputs.find("special_small_blocks", size, "zfs get special_small_blocks")


def _pool_name(outputs: PoolOutputs) -> str:
    named = [each.name for each in (outputs.status, outputs.listed, outputs.config) if each is not None]
    return named[0] if named else ""


def _find_recordsize(outputs: PoolOutputs, sizes: DataSizes) -> None:
    release = outputs.release
    limit = largest_record(release)
    if sizes.recordsize > limit:
        outputs.notes.append(
            f"blocks of {sizes.recordsize >> 10}K are in {sizes.source}, but not in {release.name}"
        )
    outputs.find("recordsize", min(max(sizes.recordsize, MIN_RECORD), limit), sizes.source, inferred=True)


def _find_ashift(outputs: PoolOutputs, tops: Tops) -> None:
    known = [vdev.ashift for vdev in tops.vdevs if vdev.ashift in SECTOR_SHIFTS]
    if known:
        outputs.find("ashift", known[0], "zdb -C")
        if len(set(known)) > 1:
            outputs.notes.append("the vdevs have different sector sizes: that of the first is taken")
        return
    every = [each for each in outputs.files.of(KnownProperty) if each.name == "ashift"]
    name = _pool_name(outputs) if every else UNKNOWN
    told = every if name in ("", UNKNOWN) else [each for each in every if each.pool == name]
    shifts = [each.value for each in told]
    if shifts and shifts[0] in SECTOR_SHIFTS:
        outputs.find("ashift", shifts[0], told[0].source.replace("zfs get", "zpool get"))
        return
    pointers = outputs.files.pointers
    if pointers is None or not tops.uniform or not pointers.unit:
        _find_configured(outputs, tops)
        return
    spec = tops.specs[0]
    sector, rest = divmod(pointers.unit, kind_of(spec.kind).unit_sectors(spec))
    if not rest and sector in {1 << shift for shift in SECTOR_SHIFTS}:
        outputs.find("ashift", sector.bit_length() - 1, "common divisor of the asizes in zdb -Lbbbbb")


def _find_configured(outputs: PoolOutputs, tops: Tops) -> None:
    """Note the sector size that zpool status prints of drives whose own is larger (VDEV_NONNATIVE_ASHIFT)."""
    if outputs.status is None:
        return
    for place in tops.order:
        told = [match for leaf in tops.vdevs[place].leaves() if (match := _CONFIGURED.search(leaf.note))]
        size = int(told[0][1]) if told else 0
        if size in {1 << shift for shift in SECTOR_SHIFTS}:
            outputs.find("ashift", size.bit_length() - 1, "block size that zpool status prints")
            return


def _find_frag(outputs: PoolOutputs, tops: Tops) -> None:
    listed, metaslabs = outputs.listed, outputs.files.metaslabs
    frag, source = (listed.space.frag if listed is not None else None), "FRAG of zpool list"
    if frag is None and metaslabs is not None:
        frag, source = metaslabs.mean_fragmentation, "mean over the metaslabs of zdb -mm"
    release = outputs.release
    if frag is not None and release.fragmentation_table == "none":
        outputs.notes.append(f"FRAG is known, but {release.name} has none: it is left out")
    elif frag is not None and not find_frags(outputs, data_vdevs(outputs, tops)):
        outputs.find("frag", round(frag, 4), source)


def data_sizes(outputs: PoolOutputs) -> DataSizes | None:
    """Return the sizes of the data blocks, from the fullest output there is."""
    files = outputs.files
    if files.pointers is not None and files.pointers.blocks[FILE:].sum():
        return _sizes_of_pointers(files.pointers)
    return _sizes_of_statistics(files.statistics) if files.statistics is not None else None


def _sizes_of_pointers(pointers: PointerSummary) -> DataSizes:
    data = pointers.psize[FILE:].sum()
    return DataSizes(
        recordsize=1 << int(np.argmax(pointers.lsizes[FILE:].sum(axis=0))),
        mean_lsize=float(pointers.lsize[FILE:].sum() / pointers.blocks[FILE:].sum()),
        mean_psize=float(data / pointers.blocks[FILE:].sum()),
        volume_share=float(pointers.psize[VOLUME] / max(data, 1)),
        metadata_share=float(pointers.asize[METADATA] / max(pointers.allocated, 1)),
        source="zdb -Lbbbbb",
    )


def _sizes_of_statistics(statistics: BlockStatistics) -> DataSizes | None:
    rows = [row for row in statistics.data_rows() if row.blocks]
    if not rows:
        return None
    data = sum(row.psize for row in rows)
    largest = max(rows, key=lambda row: row.psize)
    total = statistics.total()
    asize = sum(row.asize for row in rows)
    return DataSizes(
        recordsize=_record_of(statistics, largest.lsize / largest.blocks),
        mean_lsize=largest.lsize / largest.blocks,
        mean_psize=data / sum(row.blocks for row in rows),
        volume_share=sum(row.psize for row in rows if row.type == "zvol object") / max(data, 1),
        metadata_share=max(0.0, 1 - asize / total.asize) if total is not None and total.asize else 0.0,
        source="zdb -b",
    )


def _record_of(statistics: BlockStatistics, mean: float) -> int:
    """Return the record size: that of most bytes in the histogram, but not less than the mean calls for."""
    least = 512
    while least * NEAR_POWER < mean:
        least *= 2
    by_bytes = max(statistics.sizes, key=lambda row: row.size * row.lsize_blocks, default=None)
    return max(least, by_bytes.size) if by_bytes is not None and by_bytes.lsize_blocks else least


def history_of(sizes: DataSizes) -> str | None:
    """Return the history of the catalogue that a pool with such blocks most likely has, or None."""
    if sizes.volume_share > 0.5:
        return "vm-host"
    small = sizes.mean_psize < SMALL_FILES and not sizes.whole_records
    if small and sizes.metadata_share > SMALL_FILE_METADATA:
        return "maildir"
    if sizes.recordsize <= DATABASE_RECORD and sizes.whole_records:
        return "database"
    return "media-server" if sizes.recordsize >= MEDIA_RECORD else None
