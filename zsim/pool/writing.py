"""Files, transaction groups, snapshots: the compiled history that fills and ages a pool.

What ZFS does in a txg (OpenZFS dmu_objset.c:dmu_objset_sync, dbuf.c:dbuf_sync_list, dsl_pool.c:dsl_pool_sync):
the dirty objects of a dataset, in hashed sublists; of each object its dirty records in the order they were
dirtied, each indirect block as soon as its last dirty child is placed; then the dnode blocks and the levels of
the meta-dnode, the objset's root, and at last the MOS.  Every rewritten block is placed anew and its old place
freed, unless a snapshot holds it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.jit import njit
from zsim.pool.metaslabs import (
    I64,
    Space,
    allocate_block,
    changed_slabs,
    end_txg,
    log_free,
    pool_space,
    pool_used,
    units_needed,
)

MAX_LEVELS = 8
SUBLISTS = 16  # os_dirty_dnodes: one list a CPU; the number only shuffles the order of objects
DNODES_PER_BLOCK = 32

OP_FILL, OP_OVERWRITE, OP_FREE, OP_SNAPSHOT, OP_DROP_SNAPSHOT, OP_FOUND = 0, 1, 2, 3, 4, 5
FAILED_FULL, FAILED_KEPT, FAILED_FILES = 1, 2, 3

NOW = np.dtype(
    [
        ("random", "u8"),
        ("txg", "i8"),
        ("next_file", "i8"),
        ("alive", "i8"),
        ("dirty", "i8"),
        ("dirty_files", "i8"),
        ("dirty_dnodes", "i8"),
        ("dirty_bytes", "i8"),
        ("live_bytes", "i8"),
        ("used", "i8"),
        ("kept", "i8"),
        ("snapshots", "i8"),
        ("failed", "i8"),
        ("mos_next", "i8"),
        ("thread", "i8"),
        # The step under way.
        ("goal", "f8"),
        ("shortest", "i8"),
        ("longest", "i8"),
        ("run_file", "i8"),
        ("run_next", "i8"),
        ("run_end", "i8"),
        # Settings; the first few are constants, kept here because numba compiles anew for each literal.
        ("zero", "i8"),
        ("mos", "i8"),
        ("data_copies", "i8"),
        ("metadata_copies", "i8"),
        ("mos_copies", "i8"),
        ("meta_pointers", "i8"),
        ("coin_bits", "i8"),
        ("first_txg", "i8"),
        ("pointers", "i8"),
        ("sector", "i8"),
        ("txg_bytes", "i8"),
        ("txg_step", "i8"),
        ("indirect_fixed", "f8"),
        ("indirect_each", "f8"),
        ("dnode_psize", "i8"),
        ("root_psize", "i8"),
        ("sync_threads", "i8"),
        ("space_maps", "i8"),
        ("meta_levels", "i8"),
        ("mos_first", "i8"),
        ("mos_dnodes", "i8"),
        ("mos_objects", "i8"),
        ("mos_each_txg", "i8"),
    ],
    align=True,
)
SLOT = np.dtype(
    [
        ("slab", "i8", 3),
        ("start", "i8", 3),
        ("birth", "i8"),
        ("psize", "i8"),
        ("copies", "i8"),
        ("stamp", "i8"),
        ("waiting", "i8"),
    ],
    align=True,
)
FILE = np.dtype(
    [
        ("dataset", "i8"),
        ("item", "i8"),
        ("records", "i8"),
        ("lsize", "i8"),
        ("kind", "i8"),
        ("first", "i8"),
        ("levels", "i8"),
        ("head", "i8"),
        ("tail", "i8"),
        ("indirect", "i8", MAX_LEVELS),
    ],
    align=True,
)
LIST = np.dtype(
    [
        ("alive", "i8"),
        ("dirty_file", "i8"),
        ("record", "i8"),
        ("next", "i8"),
        ("dnode_set", "i8"),
        ("dnode_block", "i8"),
    ],
    align=True,
)
DATASET = np.dtype([("root", "i8"), ("dirty", "i8"), ("snapshot", "i8"), ("meta", "i8", MAX_LEVELS)])
KEPT = np.dtype(
    [
        ("slab", "i8", 3),
        ("start", "i8", 3),
        ("birth", "i8"),
        ("psize", "i8"),
        ("copies", "i8"),
        ("death", "i8"),
        ("slot", "i8"),
    ],
    align=True,
)


class State(NamedTuple):
    """Everything a history changes.

    Attributes
    ----------
    now : ndarray of NOW, shape (1,)
        Counters and settings.
    slots : ndarray of SLOT
        One entry a place in a file tree: the block that is there now (none when it has no copies).
    files, datasets : ndarray of FILE, DATASET
        Shape of the trees: the first slot of each level.
    lists : ndarray of LIST
        Living files, dirty files, dirty records (linked by file), dirty dnode blocks.
    kept : ndarray of KEPT
        Versions that only snapshots hold.
    ratios : ndarray of float64, shape (2, kinds, n)
        Compression: psize / lsize, and cumulated probability.
    snapshots : ndarray of int64
        Their txgs, ascending.
    """

    now: Any
    slots: Any
    files: Any
    datasets: Any
    lists: Any
    kept: Any
    ratios: NDArray[np.float64]
    snapshots: I64


@njit
def random_below(state: State, limit: int) -> int:
    """Return a whole number from 0 to `limit` - 1 (SplitMix64; Steele, Lea and Flood, OOPSLA 2014)."""
    state.now[0].random += np.uint64(0x9E3779B97F4A7C15)
    z = state.now[0].random
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
def pick_allocator(space: Space, state: State, dataset: int, family: int) -> int:
    """Return the allocator of a block: its sync thread's (from 2.3), else by hash; the MOS always hashes.

    `family` stands for objset, object, level and each 2**20 blocks, the keys of the hash.
    """
    count = space.rules[0].allocators
    if count == 1:
        return 0
    if state.now[0].sync_threads and dataset >= 0:
        return int(state.now[0].thread)
    return mix(family) % int(count)


@njit
def next_thread(space: Space, state: State) -> None:
    """Let the next sync thread take over."""
    state.now[0].thread = (state.now[0].thread + 1) % space.rules[0].allocators


@njit
def release(space: Space, slabs: I64, starts: I64, copies: int, psize: int) -> None:
    """Free all copies of a block."""
    for copy in range(copies):
        slab = slabs[copy]
        log_free(space, slab, starts[copy], units_needed(space, space.slabs[slab].vdev, psize))


@njit
def keep_for_snapshot(state: State, slot: int) -> None:
    """Remember the version of a block that a snapshot still holds."""
    row = state.now[0].kept
    if row >= state.kept.size:
        state.now[0].failed = FAILED_KEPT
        return
    state.kept[row].slot = slot
    state.kept[row].birth = state.slots[slot].birth
    state.kept[row].death = state.now[0].txg
    state.kept[row].psize = state.slots[slot].psize
    state.kept[row].copies = state.slots[slot].copies
    for copy in range(state.slots[slot].copies):
        state.kept[row].slab[copy] = state.slots[slot].slab[copy]
        state.kept[row].start[copy] = state.slots[slot].start[copy]
    state.now[0].kept = row + 1


@njit
def drop(space: Space, state: State, slot: int, dataset: int) -> None:
    """Let go of what lies in a slot: freed, or kept when a snapshot of the dataset was taken since."""
    copies = state.slots[slot].copies
    if copies == 0:
        return
    if dataset >= 0 and state.slots[slot].birth <= state.datasets[dataset].snapshot:
        keep_for_snapshot(state, slot)
    else:
        release(space, state.slots[slot].slab, state.slots[slot].start, copies, state.slots[slot].psize)
    state.slots[slot].copies = 0


@njit
def place(space: Space, state: State, dataset: int, first: int, index: int, psize: int, copies: int) -> None:
    """Write a block anew, the one in slot `first` + `index`: a new place, the old one let go."""
    slot = first + index
    drop(space, state, slot, dataset)
    allocator = pick_allocator(space, state, dataset, first + (index >> 20))
    if not allocate_block(space, psize, copies, state.slots[slot].slab, state.slots[slot].start, allocator):
        state.now[0].failed = FAILED_FULL
        return
    state.slots[slot].copies = copies
    state.slots[slot].psize = psize
    state.slots[slot].birth = state.now[0].txg


@njit
def draw_psize(state: State, kind: int, lsize: int) -> int:
    """Draw the compressed size of a record; less than an eighth saved is not worth it (zio_compress.c)."""
    sector = int(state.now[0].sector)
    coin = 1 << state.now[0].coin_bits
    draw = random_below(state, coin) / coin
    k = 0
    while draw > state.ratios[1, kind, k]:
        k += 1
    psize = (int(lsize * state.ratios[0, kind, k]) + sector - 1) // sector * sector
    return lsize if psize > lsize - (lsize >> 3) else psize


@njit
def indirect_psize(state: State, pointers: int) -> int:
    """Return the compressed size of an indirect block with so many pointers in use [bytes]."""
    sector = int(state.now[0].sector)
    size = int(state.now[0].indirect_fixed + state.now[0].indirect_each * pointers)
    rounded = (size + sector - 1) // sector * sector
    return min(rounded, max(int(state.now[0].pointers) * 128, sector))


@njit
def pointers_in_use(state: State, file: int, level: int, index: int) -> int:
    """Return how many pointers of an indirect block are in use."""
    fan = int(state.now[0].pointers)
    span = fan ** (level - 1)
    below = (int(state.files[file].records) + span - 1) // span
    return min(fan, below - index * fan)


@njit
def place_record(space: Space, state: State, file: int, record: int) -> None:
    """Place a dirty record, then each indirect block above it that has no dirty child left."""
    now = state.now[0]
    dataset = state.files[file].dataset
    psize = draw_psize(state, state.files[file].kind, state.files[file].lsize)
    copies = now.data_copies
    first = state.files[file].first
    index = record
    for level in range(state.files[file].levels + 1):
        if level > 0:
            index //= now.pointers
            first = state.files[file].indirect[level]
            state.slots[first + index].waiting -= 1
            if state.slots[first + index].waiting > 0:
                return
            copies = now.metadata_copies
            psize = indirect_psize(state, pointers_in_use(state, file, level, index))
        place(space, state, dataset, first, index, psize, copies)


@njit
def mark_dnode(state: State, file: int) -> None:
    """Note that the dnode block of a file is dirty."""
    dataset = state.files[file].dataset
    slot = state.datasets[dataset].meta[0] + state.files[file].item // DNODES_PER_BLOCK
    state.datasets[dataset].dirty = 1
    if state.slots[slot].stamp != state.now[0].txg:
        state.slots[slot].stamp = state.now[0].txg
        at = state.now[0].dirty_dnodes
        state.lists[at].dnode_set = dataset
        state.lists[at].dnode_block = state.files[file].item // DNODES_PER_BLOCK
        state.now[0].dirty_dnodes = at + 1


@njit
def sync_files(space: Space, state: State, dataset: int) -> None:
    """Place the dirty records of a dataset, sublist by sublist."""
    for sublist in range(SUBLISTS):
        used = False
        for k in range(state.now[0].dirty_files):
            file = state.lists[k].dirty_file
            if state.files[file].dataset != dataset or mix(state.files[file].item) % SUBLISTS != sublist:
                continue
            used = True
            at = state.files[file].head
            while at >= 0:
                place_record(space, state, file, state.lists[at].record)
                at = state.lists[at].next
            state.files[file].head = -1
            mark_dnode(state, file)
        if used:
            next_thread(space, state)


@njit
def sync_meta_dnode(space: Space, state: State, dataset: int) -> None:
    """Place the dirty dnode blocks of a dataset, the levels above them and the root."""
    now = state.now[0]
    for level in range(now.meta_levels + 1):
        first = state.datasets[dataset].root if level == now.meta_levels else state.datasets[dataset].meta[level]
        psize = now.dnode_psize if level == 0 else indirect_psize(state, now.meta_pointers)
        if level == now.meta_levels:
            place(space, state, dataset, first, now.zero, now.root_psize, now.metadata_copies)
            return
        for k in range(now.dirty_dnodes):
            if state.lists[k].dnode_set != dataset:
                continue
            index = state.lists[k].dnode_block
            state.lists[k].dnode_block = index // now.pointers
            if level > 0:
                if state.slots[first + index].stamp == now.txg:
                    continue
                state.slots[first + index].stamp = now.txg
            place(space, state, dataset, first, index, psize, now.metadata_copies)


@njit
def sync_mos(space: Space, state: State) -> None:
    """Rewrite what a txg changes in the MOS: some objects, space maps, dnode blocks, indirect block, root.

    The blocks of the MOS are numbered root, indirect block, dnode blocks, objects; written backwards.
    """
    now = state.now[0]
    objects = now.mos_objects if now.txg == now.first_txg else now.mos_each_txg
    if now.space_maps:
        objects += changed_slabs(space)
    objects = min(objects, now.mos_objects)
    heads = 2 + min(now.mos_dnodes, objects)
    for k in range(objects + heads):
        at = heads - 1 - (k - objects)
        psize = now.sector
        if k < objects:
            at = 2 + now.mos_dnodes + now.mos_next
            now.mos_next = (now.mos_next + 1) % now.mos_objects
        elif at == 0:
            psize = now.root_psize
        elif at > 1:
            psize = now.dnode_psize
        place(space, state, now.mos, now.mos_first, at, psize, now.mos_copies)


@njit
def sync_txg(space: Space, state: State) -> None:
    """Write the open txg out and open the next."""
    now = state.now[0]
    if space.rules[0].allocators > 1:
        now.thread = random_below(state, space.rules[0].allocators)
    for k in range(now.dirty_files):
        state.datasets[state.files[state.lists[k].dirty_file].dataset].dirty = 1
    for dataset in range(state.datasets.size):
        if state.datasets[dataset].dirty:
            sync_files(space, state, dataset)
            sync_meta_dnode(space, state, dataset)
            state.datasets[dataset].dirty = 0
    sync_mos(space, state)
    end_txg(space, now.txg_step)
    now.used = pool_used(space)
    now.txg += now.txg_step
    now.dirty = 0
    now.dirty_files = 0
    now.dirty_bytes = 0
    now.dirty_dnodes = 0


@njit
def mark_ancestors(state: State, file: int, record: int) -> None:
    """Note a dirty record in the indirect blocks above it."""
    index = record
    for level in range(1, state.files[file].levels + 1):
        index //= state.now[0].pointers
        slot = state.files[file].indirect[level] + index
        state.slots[slot].waiting += 1
        if state.slots[slot].stamp == state.now[0].txg:
            return
        state.slots[slot].stamp = state.now[0].txg


@njit
def dirty_one(state: State, file: int, record: int) -> None:
    """Write one record into the open txg."""
    slot = state.files[file].first + record
    now = state.now[0]
    if state.slots[slot].stamp == now.txg:
        return
    state.slots[slot].stamp = now.txg
    at = now.dirty
    state.lists[at].record = record
    state.lists[at].next = -1
    if state.files[file].head < 0:
        state.files[file].head = at
        state.lists[now.dirty_files].dirty_file = file
        now.dirty_files += 1
    else:
        state.lists[state.files[file].tail].next = at
    state.files[file].tail = at
    now.dirty = at + 1
    mark_ancestors(state, file, record)
    now.dirty_bytes += state.files[file].lsize


@njit
def open_next_file(space: Space, state: State) -> bool:
    """Begin the next new file; False when the pool is as full as wanted."""
    now = state.now[0]
    if now.used >= now.goal * pool_space(space):
        return False
    file = now.next_file
    if file >= state.files.size:
        now.failed = FAILED_FILES
        return False
    now.next_file = file + 1
    state.lists[now.alive].alive = file
    now.alive += 1
    now.live_bytes += state.files[file].records * state.files[file].lsize
    now.run_file, now.run_next, now.run_end = file, 0, state.files[file].records
    return True


@njit
def open_next_run(state: State) -> bool:
    """Begin the next run to overwrite; False when as much as wanted has been rewritten."""
    now = state.now[0]
    if now.goal <= 0 or now.alive == 0:
        return False
    file = state.lists[random_below(state, now.alive)].alive
    length = now.shortest + random_below(state, now.longest - now.shortest + 1)
    first = random_below(state, state.files[file].records)
    now.run_file, now.run_next = file, first
    now.run_end = min(first + length, state.files[file].records)
    now.goal -= (now.run_end - first) * state.files[file].lsize
    return True


@njit
def write_until_full(space: Space, state: State, overwrites: bool) -> bool:
    """Write records until the txg is full or the step is done; tell whether it is done."""
    now = state.now[0]
    while now.dirty_bytes < now.txg_bytes:
        if now.run_next >= now.run_end:
            more = open_next_run(state) if overwrites else open_next_file(space, state)
            if not more:
                return True
        dirty_one(state, now.run_file, now.run_next)
        now.run_next += 1
    return False


@njit
def remove_file(space: Space, state: State, at: int) -> None:
    """Remove the alive file number `at`."""
    now = state.now[0]
    file = state.lists[at].alive
    dataset = state.files[file].dataset
    now.alive -= 1
    state.lists[at].alive = state.lists[now.alive].alive
    now.live_bytes -= state.files[file].records * state.files[file].lsize
    last = state.files[file].first + state.files[file].records
    width = state.files[file].records
    for level in range(1, state.files[file].levels + 1):
        width = (width + state.now[0].pointers - 1) // state.now[0].pointers
        last = state.files[file].indirect[level] + width
    for slot in range(state.files[file].first, last):
        drop(space, state, slot, dataset)
    mark_dnode(state, file)


@njit
def remove_some(space: Space, state: State, fraction: float) -> None:
    """Remove that share of the files, at random."""
    now = state.now[0]
    expected = fraction * now.alive
    count = int(expected)
    if random_below(state, 1 << now.coin_bits) < (expected - count) * (1 << now.coin_bits):
        count += 1
    for _ in range(count):
        remove_file(space, state, random_below(state, now.alive))


@njit
def take_snapshot(state: State) -> None:
    """Snapshot every dataset."""
    txg = state.now[0].txg - 1
    at = state.now[0].snapshots
    state.snapshots[at] = txg
    state.now[0].snapshots = at + 1
    for dataset in range(state.datasets.size):
        state.datasets[dataset].snapshot = txg


@njit
def held(state: State, birth: int, death: int) -> bool:
    """Tell whether some snapshot holds what lived from `birth` to `death`."""
    for k in range(state.now[0].snapshots):
        if birth <= state.snapshots[k] < death:
            return True
    return False


@njit
def drop_snapshots(space: Space, state: State, keep: int) -> None:
    """Destroy the oldest snapshots until `keep` are left, and free what only they held."""
    count = state.now[0].snapshots
    gone = count - keep
    if gone <= 0:
        return
    for k in range(keep):
        state.snapshots[k] = state.snapshots[k + gone]
    state.now[0].snapshots = keep
    left = 0
    for row in range(state.now[0].kept):
        if not held(state, state.kept[row].birth, state.kept[row].death):
            copies = state.kept[row].copies
            release(space, state.kept[row].slab, state.kept[row].start, copies, state.kept[row].psize)
            continue
        state.kept[left] = state.kept[row]
        left += 1
    state.now[0].kept = left


@njit
def run_step(
    space: Space, state: State, operation: int, amount: float, shortest: int, longest: int
) -> None:
    """Run one step of a history, txg by txg.

    `amount` is the fill to reach, the share of the data to overwrite, the share of the files to remove, or the
    number of snapshots to keep; `shortest` and `longest` are the runs of records to overwrite.
    """
    now = state.now[0]
    now.run_next = now.run_end
    if operation == OP_SNAPSHOT:
        take_snapshot(state)
        return
    now.shortest, now.longest = shortest, longest
    now.goal = amount * now.live_bytes if operation == OP_OVERWRITE else amount
    if operation == OP_FREE:
        remove_some(space, state, amount)
    elif operation == OP_DROP_SNAPSHOT:
        drop_snapshots(space, state, int(amount))
    elif operation == OP_FOUND:
        for dataset in range(state.datasets.size):
            state.datasets[dataset].dirty = 1
    done = False
    while not done and now.failed == 0:
        done = operation not in (OP_FILL, OP_OVERWRITE)
        if not done:
            done = write_until_full(space, state, operation == OP_OVERWRITE)
        sync_txg(space, state)
