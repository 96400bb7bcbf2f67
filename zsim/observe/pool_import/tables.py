"""Further files of an import: facts for which a scenario has no field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from zsim.observe.pool_import.given.files import PoolFiles
from zsim.observe.zdb.blocks import BlockStatistics
from zsim.observe.zdb.metaslabs import Metaslabs
from zsim.observe.zdb.pointers import KINDS, PointerSummary

SECTOR = 512


def block_table(files: PoolFiles) -> bytes:
    """Return the histogram of block sizes as CSV (type, level, quantity, size, blocks), or nothing.

    `type` is as zdb has it, or ``all``; `level` is empty for all levels; `quantity` is psize, lsize or asize;
    `size` [bytes] is exact for psize by type, and the lower bound of a power of two for ``all``.
    """
    rows: list[str] = []
    if files.pointers is not None:
        rows += _pointer_rows(files.pointers)
    elif files.statistics is not None:
        rows += _type_rows(files.statistics)
    if files.statistics is not None:
        rows += _pool_rows(files.statistics)
    return ("type,level,quantity,size,blocks\n" + "\n".join(rows) + "\n").encode() if rows else b""


def _type_rows(statistics: BlockStatistics) -> Iterator[str]:
    for row in statistics.rows:
        level = "" if row.level is None else row.level
        name = row.type.replace(",", " ").replace('"', "'")
        for size, blocks in row.psizes:
            yield f"{name},{level},psize,{size},{blocks}"


def _pointer_rows(pointers: PointerSummary) -> Iterator[str]:
    for kind, counts in zip(KINDS, pointers.psizes, strict=True):
        for sectors in np.flatnonzero(counts).tolist():
            yield f"{kind},,psize,{sectors * SECTOR},{int(counts[sectors])}"


def _pool_rows(statistics: BlockStatistics) -> Iterator[str]:
    for row in statistics.sizes:
        counts = (row.psize_blocks, row.lsize_blocks, row.asize_blocks)
        for quantity, blocks in zip(("psize", "lsize", "asize"), counts, strict=True):
            yield f"all,,{quantity},{row.size},{blocks}"


def metaslab_table(files: PoolFiles, ids: Sequence[int]) -> bytes:
    """Return the metaslabs as CSV (vdev, metaslab, offset, free, fragmentation, segments), or nothing.

    `ids` are ZFS's numbers of the layout's vdevs: `vdev` counts in the layout, metaslabs of other vdevs are
    left out.
    `offset` and `free` in bytes, `fragmentation` in percent or empty; `segments` are ``LOG2SIZE:COUNT``
    joined by blanks, the histogram of free segments.
    """
    slabs = files.metaslabs
    if slabs is None:
        return b""
    head = "vdev,metaslab,offset,free,fragmentation,segments"
    rows = list(_slab_rows(slabs, {number: place for place, number in enumerate(ids)}))
    return ("\n".join([head, *rows]) + "\n").encode() if rows else b""


def _slab_rows(slabs: Metaslabs, places: dict[int, int]) -> Iterator[str]:
    for row in range(len(slabs)):
        vdev = places.get(int(slabs.vdev[row]))
        if vdev is None:
            continue
        percent = int(slabs.fragmentation[row])
        counts = slabs.histogram[row]
        segments = " ".join(f"{power}:{int(counts[power])}" for power in np.flatnonzero(counts).tolist())
        yield (
            f"{vdev},{slabs.number[row]},{slabs.offset[row]},{slabs.free[row]},"
            f"{'' if percent < 0 else percent},{segments}"
        )
