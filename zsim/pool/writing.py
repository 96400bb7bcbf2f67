"""Files, transaction groups, snapshots: the compiled history that fills and ages a pool.

What ZFS does in a txg (OpenZFS dmu_objset.c:dmu_objset_sync, dbuf.c:dbuf_sync_list,
dsl_pool.c:dsl_pool_sync): the dirty objects of a dataset, in hashed sublists; of each object its dirty
records in the order they were dirtied, each indirect block as soon as its last dirty child is placed; then
the dnode blocks and the levels of the meta-dnode, the objset's root, and at last the MOS.  Every rewritten
block is placed anew and its old place freed, unless a snapshot holds it.
"""

from __future__ import annotations

import numpy as np

from zsim.jit import njit
from zsim.pool.memory import (
    DATASETS,
    FILES,
    I64,
    KEPT_ROOM,
    SLABS,
    VDEVS,
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
    snapshots_of,
)
from zsim.pool.metaslabs import (
    DEFER_TXGS,
    allocate_block,
    allocate_copy,
    end_txg,
    log_free,
    pool_space,
    pool_used,
    units_needed,
)

SUBLISTS = 16  # os_dirty_dnodes: one list a CPU; the number only shuffles the order of objects
DNODES_PER_BLOCK = 32

OP_FILL, OP_OVERWRITE, OP_FREE, OP_SNAPSHOT, OP_DROP_SNAPSHOT, OP_FOUND, OP_REFILL = 0, 1, 2, 3, 4, 5, 6
OP_OVERWRITE_FILES = 7
FAILED_FULL, FAILED_KEPT, FAILED_FILES = 1, 2, 3
NEARLY_EMPTY = 6  # less than 2**-6 of a metaslab is taken
LATE = 1 << 62  # stamp of an indirect block that waits for a later part of its txg


@njit
def random_below(pool: I64, limit: int) -> int:
    """Return a whole number from 0 to `limit` - 1 (SplitMix64; Steele, Lea and Flood, OOPSLA 2014)."""
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
def release(pool: I64, slabs: I64, starts: I64, copies: int, psize: int) -> None:
    """Free all copies of a block."""
    for copy in range(copies):
        slab = slabs[copy]
        log_free(pool, slab, starts[copy], units_needed(pool, slabs_of(pool)[slab].vdev, psize))


@njit
def keep_for_snapshot(pool: I64, slot: int) -> None:
    """Remember the version of a block that a snapshot still holds."""
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
    """Let go of what lies in a slot: freed, or kept when a snapshot of the dataset was taken since."""
    copies = slots_of(pool)[slot].copies
    if copies == 0:
        return
    if dataset >= 0 and slots_of(pool)[slot].birth <= datasets_of(pool)[dataset].snapshot:
        keep_for_snapshot(pool, slot)
    else:
        release(
            pool, slots_of(pool)[slot].slab, slots_of(pool)[slot].start, copies, slots_of(pool)[slot].psize
        )
    slots_of(pool)[slot].copies = 0


@njit
def place(pool: I64, dataset: int, first: int, index: int, psize: int, copies: int) -> None:
    """Write a block anew, the one in slot `first` + `index`: a new place, the old one let go."""
    slot = first + index
    drop(pool, slot, dataset)
    allocator = pick_allocator(pool, dataset, first + (index >> 20))
    if not allocate_block(
        pool, psize, copies, slots_of(pool)[slot].slab, slots_of(pool)[slot].start, allocator
    ):
        now_of(pool)[0].failed = FAILED_FULL
        return
    slots_of(pool)[slot].copies = copies
    slots_of(pool)[slot].psize = psize
    slots_of(pool)[slot].birth = now_of(pool)[0].txg


@njit
def draw_psize(pool: I64, kind: int, lsize: int) -> int:
    """Draw the compressed size of a record; less than an eighth saved is not worth it (zio_compress.c)."""
    sector = int(now_of(pool)[0].sector)
    coin = 1 << now_of(pool)[0].coin_bits
    draw = random_below(pool, coin) / coin
    k = 0
    while draw > ratio_chances_of(pool, kind)[k]:
        k += 1
    psize = (int(lsize * ratio_values_of(pool, kind)[k]) + sector - 1) // sector * sector
    return lsize if psize > lsize - (lsize >> 3) else psize


@njit
def indirect_psize(pool: I64, pointers: int) -> int:
    """Return the compressed size of an indirect block with so many pointers in use [bytes]."""
    sector = int(now_of(pool)[0].sector)
    size = int(now_of(pool)[0].indirect_fixed + now_of(pool)[0].indirect_each * pointers)
    rounded = (size + sector - 1) // sector * sector
    return min(rounded, max(int(now_of(pool)[0].pointers) * 128, sector))


@njit
def pointers_in_use(pool: I64, file: int, level: int, index: int) -> int:
    """Return how many pointers of an indirect block are in use."""
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
    if now.overwrites or now.metadata_due <= 1 or file != now.run_file or now.run_next >= now.run_end:
        return False
    return bool(now.run_next < (index + 1) * now.pointers**level)


@njit
def place_record(pool: I64, file: int, record: int) -> None:
    """Place a dirty record, then each indirect block above it that has no dirty child left."""
    now = now_of(pool)[0]
    dataset = files_of(pool)[file].dataset
    psize = draw_psize(pool, files_of(pool)[file].kind, files_of(pool)[file].lsize)
    copies = now.data_copies
    first = files_of(pool)[file].first
    index = record
    for level in range(files_of(pool)[file].levels + 1):
        if level > 0:
            index //= now.pointers
            first = files_of(pool)[file].indirect[level]
            slots_of(pool)[first + index].waiting -= 1
            if slots_of(pool)[first + index].waiting > 0:
                return
            if is_open(pool, file, level, index):
                slots_of(pool)[first + index].stamp = LATE
                return
            slots_of(pool)[first + index].stamp = now.txg
            copies = now.metadata_copies
            psize = indirect_psize(pool, pointers_in_use(pool, file, level, index))
        place(pool, dataset, first, index, psize, copies)


@njit
def mark_dnode(pool: I64, file: int) -> None:
    """Note that the dnode block of a file is dirty."""
    dataset = files_of(pool)[file].dataset
    slot = datasets_of(pool)[dataset].meta[0] + files_of(pool)[file].item // DNODES_PER_BLOCK
    datasets_of(pool)[dataset].dirty = 1
    if slots_of(pool)[slot].stamp <= now_of(pool)[0].metadata_txg:
        slots_of(pool)[slot].stamp = now_of(pool)[0].txg
        at = now_of(pool)[0].dirty_dnodes
        lists_of(pool)[at].dnode_set = dataset
        lists_of(pool)[at].dnode_block = files_of(pool)[file].item // DNODES_PER_BLOCK
        now_of(pool)[0].dirty_dnodes = at + 1


@njit
def gather(pool: I64, dataset: int, sublist: int, count: int) -> int:
    """Append the dirty records of one sublist of a dataset's objects to the stream; return its new length."""
    now = now_of(pool)[0]
    lists = lists_of(pool)
    for k in range(now.dirty_files):
        file = lists[k].dirty_file
        if files_of(pool)[file].dataset != dataset or mix(files_of(pool)[file].item) % SUBLISTS != sublist:
            continue
        at = files_of(pool)[file].head
        while at >= 0:
            lists[count].stream_file = file
            lists[count].stream_record = lists[at].record
            count += 1
            at = lists[at].next
        files_of(pool)[file].head = -1
        mark_dnode(pool, file)
    return count


@njit
def issue_position(pool: I64, k: int, count: int) -> int:
    """Return which record of a stream of `count` is placed as number `k`; see `IssueOrder`."""
    now = now_of(pool)[0]
    if now.issue_group == 0 or k < now.issue_window:
        return k
    low = k - (k - now.issue_window) % now.issue_group
    if k - low < now.issue_straight:
        return k
    high: int = min(low + now.issue_group, count)
    return int(high - 1 - (k - low - now.issue_straight))


@njit
def place_stream(pool: I64, count: int) -> None:
    """Place the records of the stream, all as one or object by object."""
    lists = lists_of(pool)
    low = now_of(pool)[0].zero
    while low < count:
        high = count
        if now_of(pool)[0].issue_per_object:
            high = low + 1
            while high < count and lists[high].stream_file == lists[low].stream_file:
                high += 1
        for k in range(high - low):
            at = low + issue_position(pool, k, high - low)
            place_record(pool, lists[at].stream_file, lists[at].stream_record)
        low = high


@njit
def sync_files(pool: I64, dataset: int) -> None:
    """Place the dirty records of a dataset; the sync threads take its sublists of objects in turn."""
    now = now_of(pool)[0]
    threads = rules_of(pool)[0].allocators if now.sync_threads else now.data_copies
    for thread in range(threads):
        count = now.zero
        for sublist in range(SUBLISTS):
            if sublist % threads == thread:
                count = gather(pool, dataset, sublist, count)
        place_stream(pool, count)
        next_thread(pool)


@njit
def sync_meta_dnode(pool: I64, dataset: int) -> None:
    """Place the dirty dnode blocks of a dataset, the levels above them and the root."""
    now = now_of(pool)[0]
    for level in range(now.meta_levels + 1):
        first = (
            datasets_of(pool)[dataset].root
            if level == now.meta_levels
            else datasets_of(pool)[dataset].meta[level]
        )
        psize = now.dnode_psize if level == 0 else indirect_psize(pool, now.meta_pointers)
        if level == now.meta_levels:
            place(pool, dataset, first, now.zero, now.root_psize, now.metadata_copies)
            return
        for k in range(now.dirty_dnodes):
            if lists_of(pool)[k].dnode_set != dataset:
                continue
            index = lists_of(pool)[k].dnode_block
            lists_of(pool)[k].dnode_block = index // now.pointers
            if level > 0:
                if slots_of(pool)[first + index].stamp == now.txg:
                    continue
                slots_of(pool)[first + index].stamp = now.txg
            place(pool, dataset, first, index, psize, now.metadata_copies)


@njit
def place_mos(pool: I64, at: int, psize: int) -> None:
    """Rewrite block number `at` of the MOS."""
    now = now_of(pool)[0]
    place(pool, now.mos, now.mos_first + at, now.zero, psize, now.mos_copies)


@njit
def sync_space_maps(pool: I64) -> None:
    """Rewrite the space maps of the metaslabs that changed; with a log (2.0+), the log and the next one only.

    OpenZFS metaslab.c:metaslab_sync, spa_log_spacemap.c:spa_flush_metaslabs (about one metaslab a txg).
    """
    now = now_of(pool)[0]
    slabs = slabs_of(pool)
    count = pool[SLABS]
    first = now.mos_heads + now.mos_static + count
    if not now.log_space_maps:
        for slab in range(count):
            if slabs[slab].changed:
                place_mos(pool, first + slab, now.sector)
        return
    place_mos(pool, first - count + now.log_next, now.sector)
    now.log_next = (now.log_next + 1) % count
    for _ in range(count):
        slab = now.map_next
        now.map_next = (slab + 1) % count
        if slabs[slab].unflushed:
            slabs[slab].unflushed = 0
            place_mos(pool, first + slab, now.map_psize)
            return


@njit
def sync_mos(pool: I64) -> None:
    """Rewrite what a txg changes in the MOS, the root last.

    Its blocks are numbered root, indirect block, dnode blocks, objects written in each txg (the heads),
    objects written once, space map logs, space maps.
    """
    now = now_of(pool)[0]
    sync_space_maps(pool)
    count = now.mos_heads
    if now.txg == now.first_txg:
        count += now.mos_static
    for k in range(count):
        at = count - 1 - k
        psize = now.sector
        if at == 0:
            psize = now.root_psize
        elif 1 < at < 2 + now.mos_dnodes:
            psize = now.dnode_psize
        place_mos(pool, at, psize)


@njit
def sync_metadata(pool: I64) -> None:
    """Write out the meta-dnodes and the MOS."""
    now = now_of(pool)[0]
    for dataset in range(pool[DATASETS]):
        if datasets_of(pool)[dataset].dirty:
            sync_meta_dnode(pool, dataset)
            datasets_of(pool)[dataset].dirty = 0
    sync_mos(pool)
    now.dirty_dnodes = 0
    now.metadata_txg = now.txg
    now.metadata_due = now.metadata_every


@njit
def claim_somewhere(pool: I64) -> None:
    """Allocate a sector as the third copy of a space map, which stays in a metaslab otherwise empty.

    Where all copies are on one vdev, the third claims the best metaslab that is nobody's, which is then no
    longer the first choice of the next allocator in need of one.  It happens in each txg, many times while a
    metaslab fills; the metaslabs of a miniature may be smaller than what a txg writes.
    """
    now = now_of(pool)[0]
    root = slots_of(pool)[now.mos_first]
    if pool[VDEVS] > 1 or not rules_of(pool)[0].separate or root.copies < now.mos_copies:
        return
    claim = slots_of(pool)[now.claims_first + now.claim_next]
    now.claim_next = (now.claim_next + 1) % pool[SLABS]
    last = now.mos_copies - 1
    if claim.psize > 0:
        log_free(pool, claim.slab[last], claim.start[last], units_needed(pool, now.zero, claim.psize))
    for copy in range(last):
        claim.slab[copy] = root.slab[copy]
    if not allocate_copy(
        pool, now.sector, last, claim.slab, claim.start, now.zero, rules_of(pool)[0].distance
    ):
        claim.psize = 0
        return
    home = slabs_of(pool)[claim.slab[last]]
    units = units_needed(pool, home.vdev, now.sector)
    claim.psize = now.sector
    if home.units - home.free > home.units >> NEARLY_EMPTY:
        log_free(pool, claim.slab[last], claim.start[last], units)
        claim.psize = 0


@njit
def close_txg(pool: I64, txgs: int) -> None:
    """Close the txg, and idle ones behind it, `txgs` in all."""
    now = now_of(pool)[0]
    end_txg(pool, txgs)
    now.used = pool_used(pool)
    now.txg += txgs


@njit
def sync_txg(pool: I64) -> None:
    """Write the open txg out and open the next."""
    now = now_of(pool)[0]
    if rules_of(pool)[0].allocators > 1 and now.txg_begins:
        now.thread = random_below(pool, rules_of(pool)[0].allocators)
    for k in range(now.dirty_files):
        datasets_of(pool)[files_of(pool)[lists_of(pool)[k].dirty_file].dataset].dirty = 1
    for dataset in range(pool[DATASETS]):
        if datasets_of(pool)[dataset].dirty:
            sync_files(pool, dataset)
    now.txg_begins = 0
    now.metadata_due -= 1
    if now.metadata_due <= 0:
        sync_metadata(pool)
        now.txg_begins = 1
    else:
        claim_somewhere(pool)
    close_txg(pool, now.txg_step)
    now.dirty = 0
    now.dirty_files = 0
    now.dirty_bytes = 0


@njit
def mark_ancestors(pool: I64, file: int, record: int) -> None:
    """Note a dirty record in the indirect blocks above it."""
    index = record
    for level in range(1, files_of(pool)[file].levels + 1):
        index //= now_of(pool)[0].pointers
        slot = files_of(pool)[file].indirect[level] + index
        slots_of(pool)[slot].waiting += 1
        if slots_of(pool)[slot].stamp in (now_of(pool)[0].txg, LATE):
            return
        slots_of(pool)[slot].stamp = now_of(pool)[0].txg


@njit
def dirty_one(pool: I64, file: int, record: int) -> None:
    """Write one record into the open txg."""
    slot = files_of(pool)[file].first + record
    now = now_of(pool)[0]
    if slots_of(pool)[slot].stamp == now.txg:
        return
    slots_of(pool)[slot].stamp = now.txg
    at = now.dirty
    lists_of(pool)[at].record = record
    lists_of(pool)[at].next = -1
    if files_of(pool)[file].head < 0:
        files_of(pool)[file].head = at
        lists_of(pool)[now.dirty_files].dirty_file = file
        now.dirty_files += 1
    else:
        lists_of(pool)[files_of(pool)[file].tail].next = at
    files_of(pool)[file].tail = at
    now.dirty = at + 1
    mark_ancestors(pool, file, record)
    now.dirty_bytes += files_of(pool)[file].lsize


@njit
def new_file(pool: I64) -> int:
    """Return a file to write: one never written, or a removed one again; -1 when all are there."""
    now = now_of(pool)[0]
    if now.next_file < pool[FILES]:
        now.next_file += 1
        return int(now.next_file - 1)
    if now.dead == 0:
        return -1
    at = random_below(pool, now.dead)
    file = lists_of(pool)[at].dead
    now.dead -= 1
    lists_of(pool)[at].dead = lists_of(pool)[now.dead].dead
    return int(file)


@njit
def filled(pool: I64) -> bool:
    """Tell whether the pool, or its living data, is as large as wanted."""
    now = now_of(pool)[0]
    if now.goal < 0:
        return bool(now.live_bytes >= now.live_goal)
    return bool(now.used >= now.goal * pool_space(pool))


@njit
def open_next_file(pool: I64) -> bool:
    """Begin the next new file; False when the pool is as full as wanted."""
    now = now_of(pool)[0]
    if filled(pool):
        return False
    file = new_file(pool)
    if file < 0:
        now.failed = FAILED_FILES
        return False
    lists_of(pool)[now.alive].alive = file
    files_of(pool)[file].there = 1
    now.alive += 1
    now.live_bytes += files_of(pool)[file].records * files_of(pool)[file].lsize
    now.run_file, now.run_next, now.run_end = file, 0, files_of(pool)[file].records
    return True


@njit
def file_of_slot(pool: I64, slot: int) -> int:
    """Return the file in whose tree a slot is."""
    low = slot - slot
    high = now_of(pool)[0].next_file
    while high - low > 1:
        middle = (low + high) >> 1
        if files_of(pool)[middle].first <= slot:
            low = middle
        else:
            high = middle
    return int(low)


@njit
def pick_record(pool: I64) -> None:
    """Begin a run at a record on the pool: any is as likely as another, or any file."""
    now = now_of(pool)[0]
    last = now.next_file - 1
    slots = files_of(pool)[last].first + files_of(pool)[last].records
    while True:
        if now.by_file:
            now.run_file = lists_of(pool)[random_below(pool, now.alive)].alive
            break
        slot = random_below(pool, slots)
        now.run_file = file_of_slot(pool, slot)
        now.run_next = slot - files_of(pool)[now.run_file].first
        if files_of(pool)[now.run_file].there and now.run_next < files_of(pool)[now.run_file].records:
            break


@njit
def open_next_run(pool: I64) -> bool:
    """Begin the next run to overwrite; False when as much as wanted has been rewritten."""
    now = now_of(pool)[0]
    if now.goal <= 0 or now.alive == 0:
        return False
    pick_record(pool)
    file = now.run_file
    length = now.shortest + random_below(pool, now.longest - now.shortest + 1)
    if now.by_file:
        now.run_next = random_below(pool, files_of(pool)[file].records)
    now.run_end = min(now.run_next + length, files_of(pool)[file].records)
    now.goal -= (now.run_end - now.run_next) * files_of(pool)[file].lsize
    return True


@njit
def write_until_full(pool: I64, overwrites: int) -> bool:
    """Write records until the txg is full or the step is done; tell whether it is done."""
    now = now_of(pool)[0]
    if not (overwrites or now.whole_files) and filled(pool):
        if now.run_next < now.run_end:
            now.unfinished, now.unfinished_next = now.run_file, now.run_next
        return True
    while now.dirty_bytes < now.txg_bytes:
        if now.run_next >= now.run_end:
            more = open_next_run(pool) if overwrites else open_next_file(pool)
            if not more:
                return True
        dirty_one(pool, now.run_file, now.run_next)
        now.run_next += 1
    return False


@njit
def remove_file(pool: I64, at: int) -> None:
    """Remove the alive file number `at`."""
    now = now_of(pool)[0]
    file = lists_of(pool)[at].alive
    dataset = files_of(pool)[file].dataset
    if file == now.unfinished:
        now.unfinished = -1
    now.alive -= 1
    lists_of(pool)[at].alive = lists_of(pool)[now.alive].alive
    files_of(pool)[file].there = 0
    lists_of(pool)[now.dead].dead = file
    now.dead += 1
    now.live_bytes -= files_of(pool)[file].records * files_of(pool)[file].lsize
    last = files_of(pool)[file].first + files_of(pool)[file].records
    width = files_of(pool)[file].records
    for level in range(1, files_of(pool)[file].levels + 1):
        width = (width + now_of(pool)[0].pointers - 1) // now_of(pool)[0].pointers
        last = files_of(pool)[file].indirect[level] + width
    for slot in range(files_of(pool)[file].first, last):
        drop(pool, slot, dataset)
    mark_dnode(pool, file)


@njit
def remove_bytes(pool: I64, wanted: float) -> None:
    """Remove files at random until that much is gone, the last one with the chance that makes it so."""
    now = now_of(pool)[0]
    coin = 1 << now.coin_bits
    while wanted > 0.0 and now.alive > 0:
        at = random_below(pool, now.alive)
        file = lists_of(pool)[at].alive
        size = files_of(pool)[file].records * files_of(pool)[file].lsize
        if size > wanted and random_below(pool, coin) * size >= wanted * coin:
            return
        wanted -= size
        remove_file(pool, at)


@njit
def remove_some(pool: I64, fraction: float) -> None:
    """Remove that share of the files, at random; in a miniature, where files are few, of their bytes."""
    now = now_of(pool)[0]
    if not now.whole_files:
        remove_bytes(pool, fraction * now.live_bytes)
        return
    expected = fraction * now.alive
    count = int(expected)
    if random_below(pool, 1 << now.coin_bits) < (expected - count) * (1 << now.coin_bits):
        count += 1
    for _ in range(count):
        remove_file(pool, random_below(pool, now.alive))


@njit
def take_snapshot(pool: I64) -> None:
    """Snapshot every dataset."""
    txg = now_of(pool)[0].txg - 1
    at = now_of(pool)[0].snapshots
    snapshots_of(pool)[at] = txg
    now_of(pool)[0].snapshots = at + 1
    for dataset in range(pool[DATASETS]):
        datasets_of(pool)[dataset].snapshot = txg


@njit
def held(pool: I64, birth: int, death: int) -> bool:
    """Tell whether some snapshot holds what lived from `birth` to `death`."""
    count = 0
    for k in range(now_of(pool)[0].snapshots):
        if birth <= snapshots_of(pool)[k] < death:
            count += 1
    return count > 0


@njit
def drop_snapshots(pool: I64, keep: int) -> None:
    """Destroy the oldest snapshots until `keep` are left, and free what only they held."""
    count = now_of(pool)[0].snapshots
    gone = count - keep
    if gone <= 0:
        return
    for k in range(keep):
        snapshots_of(pool)[k] = snapshots_of(pool)[k + gone]
    now_of(pool)[0].snapshots = keep
    left = 0
    for row in range(now_of(pool)[0].kept):
        if not held(pool, kept_of(pool)[row].birth, kept_of(pool)[row].death):
            copies = kept_of(pool)[row].copies
            release(pool, kept_of(pool)[row].slab, kept_of(pool)[row].start, copies, kept_of(pool)[row].psize)
            continue
        kept_of(pool)[left] = kept_of(pool)[row]
        left += 1
    now_of(pool)[0].kept = left


@njit
def write_txgs(pool: I64, overwrites: int) -> None:
    """Write txg after txg until the step is done."""
    done = False
    while not done and now_of(pool)[0].failed == 0:
        done = write_until_full(pool, overwrites)
        if done:
            now_of(pool)[0].metadata_due = 1
        sync_txg(pool)


@njit
def run_step(pool: I64, operation: int, amount: float, shortest: int, longest: int) -> None:
    """Run one step of a history, txg by txg.

    `amount` is the fill to reach (OP_REFILL: as much living data as after the last fill), the share of the
    data to overwrite, the share of the files to remove, or the number of snapshots to keep; `shortest` and
    `longest` are the runs of records to overwrite.
    """
    now = now_of(pool)[0]
    now.run_next = now.run_end
    if operation in (OP_FILL, OP_REFILL) and now.unfinished >= 0:
        now.run_file, now.run_next = now.unfinished, now.unfinished_next
        now.run_end = files_of(pool)[now.run_file].records
        now.unfinished = -1
    if operation == OP_SNAPSHOT:
        take_snapshot(pool)
        return
    now.overwrites = operation in (OP_OVERWRITE, OP_OVERWRITE_FILES)
    now.by_file = operation == OP_OVERWRITE_FILES
    now.shortest, now.longest = shortest, longest
    now.goal = amount * now.live_bytes if now.overwrites else amount
    if operation == OP_REFILL:
        now.goal = -1.0
    if operation == OP_FREE:
        remove_some(pool, amount)
    elif operation == OP_DROP_SNAPSHOT:
        drop_snapshots(pool, int(amount))
    elif operation == OP_FOUND:
        for dataset in range(pool[DATASETS]):
            datasets_of(pool)[dataset].dirty = 1
    else:
        write_txgs(pool, now.overwrites)
        if not now.whole_files:
            # What a miniature's last txg freed is a larger share of it than the real one's.
            close_txg(pool, DEFER_TXGS + now.zero)
    if operation == OP_FILL:
        now.live_goal = now.live_bytes
    if operation in (OP_FREE, OP_DROP_SNAPSHOT, OP_FOUND):
        sync_txg(pool)
        close_txg(pool, DEFER_TXGS + now.zero)
