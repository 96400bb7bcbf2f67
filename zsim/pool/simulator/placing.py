"""Place one block and free its old place: records, and the indirect blocks above them.

Every rewritten block is placed anew and its old place freed, unless a snapshot holds it (OpenZFS
dbuf.c:dbuf_write, dsl_dataset.c:dsl_dataset_block_kill).
"""

from __future__ import annotations

import numpy as np

from zsim.base.arrays import I64
from zsim.base.jit import njit
from zsim.pool.simulator.memory import (
    KEPT_ROOM,
    Places,
    datasets_of,
    files_of,
    kept_of,
    lists_of,
    now_of,
    ratio_chances_of,
    ratio_values_of,
    rules_of,
    slabs_of,
    slots_of,
)
from zsim.pool.simulator.metaslabs import (
    allocate_block,
    log_free,
    units_taken,
)
from zsim.pool.simulator.throttle import class_space, class_used

FAILED_FULL, FAILED_KEPT = 1, 2
LATE = 1 << 62  # stamp of an indirect block that waits for a later part of its txg


@njit
def random_below(pool: I64, limit: int) -> int:
    """Return a random whole number.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    limit : int

    Returns
    -------
    int
        0 to `limit` - 1, from the state in the pool's memory.

    Notes
    -----
    SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).  The upper 53 bits are taken modulo the limit: the bias
    is below limit / 2**53.
    """
    now_of(pool)[0].random += np.uint64(0x9E3779B97F4A7C15)
    z = now_of(pool)[0].random
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.int64((z >> np.uint64(11)) % np.uint64(limit))  # type: ignore[return-value]


@njit
def mix(value: int) -> int:
    """Return a hash of a number, 0 to 2**31 - 1."""
    z = np.uint64(value) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64((z ^ (z >> np.uint64(32))) & np.uint64(0x7FFFFFFF))  # type: ignore[return-value]


@njit
def pick_allocator(pool: I64, dataset: int, family: int) -> int:
    """Return the allocator of a block: its sync thread's (from 2.3), else by hash; the MOS always hashes.

    `family` stands for objset, object, level and each 2**20 blocks, the keys of the hash.
    """
    count = rules_of(pool)[0].allocators
    if count == 1:
        return 0
    if now_of(pool)[0].sync_threads and dataset >= 0:
        return int(now_of(pool)[0].thread)
    return mix(family) % int(count)


@njit
def next_thread(pool: I64) -> None:
    """Let the next sync thread take over."""
    now_of(pool)[0].thread = (now_of(pool)[0].thread + 1) % rules_of(pool)[0].allocators


@njit
def release(pool: I64, slabs: Places, starts: Places, copies: int, psize: int, birth: int) -> None:
    """Free all copies of a block."""
    for copy in range(copies):
        slab = slabs[copy]
        log_free(pool, slab, starts[copy], units_taken(pool, slabs_of(pool)[slab].vdev, psize, birth))


@njit
def keep_for_snapshot(pool: I64, slot: int) -> None:
    """Remember the version of a block that a snapshot still holds.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.syncing.sync_txg` takes it.
    slot : int
        The block; its copies stay allocated until the last snapshot between birth and death is destroyed.
    """
    row = now_of(pool)[0].kept
    if row >= pool[KEPT_ROOM]:
        now_of(pool)[0].failed = FAILED_KEPT
        return
    kept_of(pool)[row].slot = slot
    kept_of(pool)[row].birth = slots_of(pool)[slot].birth
    kept_of(pool)[row].death = now_of(pool)[0].txg
    kept_of(pool)[row].psize = slots_of(pool)[slot].psize
    kept_of(pool)[row].copies = slots_of(pool)[slot].copies
    for copy in range(slots_of(pool)[slot].copies):
        kept_of(pool)[row].slab[copy] = slots_of(pool)[slot].slab[copy]
        kept_of(pool)[row].start[copy] = slots_of(pool)[slot].start[copy]
    now_of(pool)[0].kept = row + 1


@njit
def drop(pool: I64, slot: int, dataset: int) -> None:
    """Let go of what lies in a slot.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    slot : int
        A place for a block in the tree of a file or of metadata.
    dataset : int
        Whose snapshots may hold it; -1: none can.

    Notes
    -----
    It is freed, or kept where a snapshot of the dataset was taken since its birth (OpenZFS
    dsl_dataset.c:dsl_dataset_block_kill: a block of a txg up to the latest snapshot's goes to the dead list).
    """
    copies = slots_of(pool)[slot].copies
    if copies == 0:
        return
    if dataset >= 0 and slots_of(pool)[slot].birth <= datasets_of(pool)[dataset].snapshot:
        keep_for_snapshot(pool, slot)
    else:
        held = slots_of(pool)[slot]
        release(pool, held.slab, held.start, copies, held.psize, held.birth)
    slots_of(pool)[slot].copies = 0


@njit
def data_class(pool: I64, file: int, psize: int) -> int:
    """Return the class a record goes to: small ones to the special class, up to its reserve for metadata.

    OpenZFS spa_misc.c:spa_preferred_class; volumes from 2.4 on.
    """
    now = now_of(pool)[0]
    normal = now.zero
    if psize > now.small_bytes or now.metadata_class == normal:
        return int(normal)
    if files_of(pool)[file].volume and not now.small_volumes:
        return int(normal)
    klass = now.metadata_class
    full = class_used(pool, klass) * 100 >= class_space(pool, klass) * now.small_percent
    return int(normal if full else klass)


@njit
def place(pool: I64, dataset: int, first: int, index: int, psize: int, copies: int, klass: int) -> None:
    """Write a block anew, the one in slot `first` + `index`: a new place, the old one let go.

    What finds no room in its class goes to the normal one (zio.c:zio_dva_allocate).
    """
    slot = first + index
    drop(pool, slot, dataset)
    allocator = pick_allocator(pool, dataset, first + (index >> 20))
    slabs, starts = slots_of(pool)[slot].slab, slots_of(pool)[slot].start
    if not allocate_block(pool, klass, psize, copies, slabs, starts, allocator) and (
        klass == now_of(pool)[0].zero
        or not allocate_block(pool, now_of(pool)[0].zero, psize, copies, slabs, starts, allocator)
    ):
        now_of(pool)[0].failed = FAILED_FULL
        return
    slots_of(pool)[slot].copies = copies
    slots_of(pool)[slot].psize = psize
    slots_of(pool)[slot].birth = now_of(pool)[0].txg
    now_of(pool)[0].written += 1


@njit
def draw_psize(pool: I64, kind: int, lsize: int) -> int:
    """Draw the compressed size of a record [bytes].

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    kind : int
        Kind of file, which has ratios and their chances.
    lsize : int
        Logical size [bytes].

    Returns
    -------
    int
        Whole sectors; `lsize` where less than an eighth would be saved (OpenZFS zio_compress.c).
    """
    sector = int(now_of(pool)[0].sector)
    coin = 1 << now_of(pool)[0].coin_bits
    draw = random_below(pool, coin) / coin
    k = 0
    while draw > ratio_chances_of(pool, kind)[k]:
        k += 1
    # The last, short record of a file may compress to less than a byte by the ratio of whole ones.
    psize = (max(1, int(lsize * ratio_values_of(pool, kind)[k])) + sector - 1) // sector * sector
    return lsize if psize > lsize - (lsize >> 3) else psize


@njit
def indirect_psize(pool: I64, pointers: int) -> int:
    """Return the compressed size of an indirect block [bytes].

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    pointers : int
        Block pointers of 128 bytes in use.

    Returns
    -------
    int
        ``fixed + each * pointers`` in whole sectors, at most its logical size: checksums and addresses hardly
        compress, empty pointers to nothing.
    """
    sector = int(now_of(pool)[0].sector)
    size = int(now_of(pool)[0].indirect_fixed + now_of(pool)[0].indirect_each * pointers)
    rounded = (size + sector - 1) // sector * sector
    return min(rounded, max(int(now_of(pool)[0].pointers) * 128, sector))


@njit
def pointers_in_use(pool: I64, file: int, level: int, index: int) -> int:
    """Return how many pointers of an indirect block are in use.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    file, level, index : int
        Which block: number `index` of its level, 1 the lowest.

    Returns
    -------
    int
        ``min(fan, ceil(records / fan**(level - 1)) - index * fan)``, fan pointers in a full block.
    """
    fan = int(now_of(pool)[0].pointers)
    span = fan ** (level - 1)
    below = (int(files_of(pool)[file].records) + span - 1) // span
    return int(min(fan, below - index * fan))


@njit
def is_open(pool: I64, file: int, level: int, index: int) -> bool:
    """Tell whether a later part of this txg goes on to write below an indirect block.

    The txgs of a miniature are parts of one (`metadata_every`): what is written one record after the other
    rewrites the blocks above once in a whole txg.
    """
    now = now_of(pool)[0]
    if now.overwrites or now.metadata_due <= now.parts or file != now.run_file or now.run_next >= now.run_end:
        return False
    return bool(now.run_next < (index + 1) * now.pointers**level)


@njit
def place_record(pool: I64, file: int, record: int) -> None:
    """Place a dirty record, then each indirect block above it that has no dirty child left.

    Where a single processor issues groups of records, these are behind the group (`place_late`).
    """
    now = now_of(pool)[0]
    psize = draw_psize(pool, files_of(pool)[file].kind, files_of(pool)[file].lsize)
    first, dataset = files_of(pool)[file].first, files_of(pool)[file].dataset
    place(pool, dataset, first, record, psize, now.data_copies, data_class(pool, file, psize))
    if files_of(pool)[file].levels == 0 or not _is_last_child(pool, file, 1, record // now.pointers):
        return
    if not now.issue_late:
        _place_indirects(pool, file, record)
        return
    lists_of(pool)[now.late].late_file = file
    lists_of(pool)[now.late].late_record = record
    now.late += 1


@njit
def place_late(pool: I64) -> None:
    """Place the indirect blocks whose last child was placed in the group that ends.

    An indirect block is issued when its children have their places, by a task behind those that wait
    (OpenZFS zio.c:zio_ready, zio_notify_parent, zio_taskq_dispatch).
    """
    now, lists = now_of(pool)[0], lists_of(pool)
    for k in range(now.late):
        _place_indirects(pool, lists[k].late_file, lists[k].late_record)
    now.late = 0


@njit
def _is_last_child(pool: I64, file: int, level: int, index: int) -> bool:
    """Count a placed child of an indirect block; tell whether it can be placed itself."""
    slot = slots_of(pool)[files_of(pool)[file].indirect[level] + index]
    slot.waiting -= 1
    if slot.waiting > 0:
        return False
    if is_open(pool, file, level, index):
        slot.stamp = LATE
        return False
    return True


@njit
def _place_indirects(pool: I64, file: int, record: int) -> None:
    """Place the indirect block above a record, and those above that which have no dirty child left."""
    now = now_of(pool)[0]
    klass = now.metadata_class if now.special_indirects else now.zero
    index = record
    for level in range(1, files_of(pool)[file].levels + 1):
        index //= now.pointers
        if level > 1 and not _is_last_child(pool, file, level, index):
            return
        first, dataset = files_of(pool)[file].indirect[level], files_of(pool)[file].dataset
        slots_of(pool)[first + index].stamp = now.txg
        psize = indirect_psize(pool, pointers_in_use(pool, file, level, index))
        place(pool, dataset, first, index, psize, now.metadata_copies, klass)
