"""From the state of a history to the rows of a block table, in traversal order (compiled)."""

from __future__ import annotations

from zsim.base.arrays import I16, I32, I64, Int64, Records, dtype_of
from zsim.base.jit import njit
from zsim.pool.simulator.memory import (
    DATASETS,
    SLABS,
    Places,
    datasets_of,
    files_of,
    kept_of,
    now_of,
    slabs_of,
    slots_of,
    vdevs_of,
)
from zsim.pool.simulator.metaslabs import units_taken
from zsim.pool.simulator.syncing import DNODES_PER_BLOCK

ROOT_LEVEL = -1


class NameRecord:
    """A slot that the traversal visits, and what it is called in a block table."""

    slot: Int64
    dataset: Int64
    level: Int64
    item: Int64
    blkid: Int64
    data: Int64
    lsize: Int64


NAME = dtype_of(NameRecord, align=True)


@njit
def name_slot(
    names: Records[NameRecord],
    at: int,
    slot: int,
    dataset: int,
    item: int,
    level: int,
    blkid: int,
    lsize: int,
) -> int:
    """Enter a slot as number `at` of the traversal; return the next number.

    Parameters
    ----------
    names : NAME records, shape (slots,)
        In the order of the traversal.
    at : int
        Blocks named before it.
    slot, dataset, item : int
        Of the block; `item` is its object, 0 of a dataset's own blocks.
    level, blkid : int
        As in its bookmark (OpenZFS zfs_bookmark_phys_t).
    lsize : int
        [bytes]
    """
    names[at].slot = slot
    names[at].dataset = dataset
    names[at].item = item
    names[at].level = level
    names[at].blkid = blkid
    names[at].lsize = lsize
    names[at].data = 1 if item > 0 and level == 0 and dataset >= 0 else 0
    return at + 1


@njit
def name_file(pool: I64, names: Records[NameRecord], at: int, file: int) -> int:
    """Name the blocks of a file, depth first, parents before children.

    Parameters
    ----------
    pool : pointers to the tables of a history
    names : NAME records, shape (slots,)
    at : int
        Blocks named before them.
    file : int

    Returns
    -------
    int
        Blocks named with them.

    Notes
    -----
    An indirect block of level ``l`` holds ``fan**l`` records and stands before the first of them: the order
    of OpenZFS dsl_scan.c:dsl_scan_recurse.
    """
    dataset, item = files_of(pool)[file].dataset, files_of(pool)[file].item
    fan = now_of(pool)[0].pointers
    top = files_of(pool)[file].levels
    for record in range(files_of(pool)[file].records):
        span = fan**top
        for level in range(top, 0, -1):
            if record % span == 0:
                slot = files_of(pool)[file].indirect[level] + record // span
                at = name_slot(names, at, slot, dataset, item, level, record // span, fan * 128)
            span //= fan
        at = name_slot(
            names,
            at,
            files_of(pool)[file].first + record,
            dataset,
            item,
            0,
            record,
            files_of(pool)[file].lsize,
        )
    return at


@njit
def name_dataset(pool: I64, names: Records[NameRecord], at: int, dataset: int, files: I64) -> int:
    """Name the blocks of a dataset: its root, the meta-dnode, and behind each block of dnodes its objects.

    Parameters
    ----------
    pool : pointers to the tables of a history
    names : NAME records, shape (slots,)
    at : int
        Blocks named before them.
    dataset : int
    files : ndarray of int, shape (files of the dataset,)
        In the order of their object numbers.

    Returns
    -------
    int
        Blocks named with them.

    Notes
    -----
    OpenZFS dsl_scan.c:dsl_scan_visitdnode: objects are visited with the block that holds their dnodes.
    """
    fan = now_of(pool)[0].pointers
    at = name_slot(names, at, datasets_of(pool)[dataset].root, dataset, 0, ROOT_LEVEL, 0, 4096)
    top = now_of(pool)[0].meta_levels - 1
    last = files_of(pool)[files[files.size - 1]].item if files.size else 0
    k = 0
    for block in range(last // DNODES_PER_BLOCK + 1):
        span = fan**top
        for level in range(top, -1, -1):
            if block % span == 0:
                lsize = fan * 128 if level else 16384
                slot = datasets_of(pool)[dataset].meta[level] + block // span
                at = name_slot(names, at, slot, dataset, 0, level, block // span, lsize)
            span //= fan
        while k < files.size and files_of(pool)[files[k]].item // DNODES_PER_BLOCK == block:
            at = name_file(pool, names, at, files[k])
            k += 1
    return at


@njit
def name_mos(pool: I64, names: Records[NameRecord]) -> int:
    """Name the blocks of the MOS: root, indirect block, each dnode block followed by its objects."""
    now = now_of(pool)[0]
    dnodes = now.mos_dnodes
    objects = now.mos_heads - 2 - dnodes + now.mos_static + 2 * pool[SLABS]
    first = now.mos_first
    at = name_slot(names, 0, first, -1, 0, ROOT_LEVEL, 0, 4096)
    at = name_slot(names, at, first + 1, -1, 0, 1, 0, now.pointers * 128)
    for block in range(dnodes):
        at = name_slot(names, at, first + 2 + block, -1, 0, 0, block, 16384)
        low, high = block * objects // dnodes, (block + 1) * objects // dnodes
        for k in range(low, high):
            item = block * DNODES_PER_BLOCK + 1 + k - low
            at = name_slot(names, at, first + 2 + dnodes + k, -1, item, 0, 0, 16384)
    return at


@njit
def name_all(pool: I64, names: Records[NameRecord], files: I64, first_file: I64) -> int:
    """Name every slot, return how many; ``files[first_file[d]:first_file[d + 1]]`` are those of dataset d."""
    at = name_mos(pool, names)
    for dataset in range(pool[DATASETS]):
        own = files[first_file[dataset] : first_file[dataset + 1]]
        at = name_dataset(pool, names, at, dataset, own)
    return at


@njit
def locate(
    pool: I64,
    slabs: Places,
    starts: Places,
    copies: int,
    psize: int,
    birth: int,
    vdev: I32,
    offset: I64,
    asize: I64,
) -> None:
    """Write the DVAs of one block into its row.

    Parameters
    ----------
    pool : pointers to the tables of a history
    slabs, starts : ndarray of int, shape (3,)
        Metaslab and first unit in it of each copy.
    copies, psize, birth : int
        Of the block; its width in a RAID-Z that was expanded goes with its birth.
    vdev, offset, asize : ndarray of int, shape (3,), written to
        The DVAs; vdev -1 where there is no copy, the others in bytes.
    """
    for copy in range(3):
        vdev[copy] = -1
        offset[copy] = 0
        asize[copy] = 0
        if copy < copies:
            slab = slabs[copy]
            home = slabs_of(pool)[slab].vdev
            vdev[copy] = home
            offset[copy] = starts[copy] * vdevs_of(pool)[home].unit
            asize[copy] = units_taken(pool, home, psize, birth) * vdevs_of(pool)[home].unit


@njit
def locate_all(
    pool: I64,
    rows: I64,
    slab_start: I64,
    birth: I64,
    psize: I64,
    copies: I16,
    vdev: I32,
    offset: I64,
    asize: I64,
) -> None:
    """Write what is known of the blocks of all rows, and their DVAs.

    Parameters
    ----------
    pool : pointers to the tables of a history
    rows : ndarray of int, shape (blocks,)
        A slot where it is 0 or more; ``-1 - k`` is the version that a snapshot keeps in row `k`.
    slab_start : ndarray of int, shape (metaslabs,)
        Where each begins in its vdev [bytes].
    birth, psize, copies : ndarray of int, shape (blocks,), written to
    vdev, offset, asize : ndarray of int, shape (blocks, 3), written to
        As `locate` writes them.
    """
    for k in range(rows.size):
        row = rows[k]
        if row >= 0:
            slabs, starts = slots_of(pool)[row].slab, slots_of(pool)[row].start
            copies[k], psize[k] = slots_of(pool)[row].copies, slots_of(pool)[row].psize
            birth[k] = slots_of(pool)[row].birth
        else:
            kept = -1 - row
            slabs, starts = kept_of(pool)[kept].slab, kept_of(pool)[kept].start
            copies[k], psize[k] = kept_of(pool)[kept].copies, kept_of(pool)[kept].psize
            birth[k] = kept_of(pool)[kept].birth
        locate(pool, slabs, starts, copies[k], psize[k], birth[k], vdev[k], offset[k], asize[k])
        for copy in range(copies[k]):
            offset[k, copy] += slab_start[slabs[copy]]
