"""The steps of a history, compiled: files, overwritten ranges, removals, snapshots.

A step marks records dirty until a txg is full and has it written out (`zsim.pool.simulator.syncing`).
"""

from __future__ import annotations

from zsim.base.arrays import I64
from zsim.base.jit import njit
from zsim.pool.simulator.memory import (
    CLASSES,
    DATASETS,
    FILES,
    VDEVS,
    allocators_of,
    datasets_of,
    files_of,
    kept_of,
    lists_of,
    now_of,
    rules_of,
    slots_of,
    snapshots_of,
    vdevs_of,
)
from zsim.pool.simulator.metaslabs import (
    DEFER_TXGS,
    pool_space,
    weigh_all,
)
from zsim.pool.simulator.placing import (
    LATE,
    drop,
    random_below,
    release,
)
from zsim.pool.simulator.syncing import (
    close_txg,
    mark_dnode,
    sync_txg,
)
from zsim.pool.simulator.throttle import class_groups

OP_FILL, OP_OVERWRITE, OP_FREE, OP_SNAPSHOT, OP_DROP_SNAPSHOT, OP_FOUND, OP_REFILL = 0, 1, 2, 3, 4, 5, 6
OP_OVERWRITE_FILES, OP_ADD, OP_EXPAND = 7, 8, 9
FAILED_FILES = 3
SPECIAL = 1


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
    """Write one record into the open txg; one that is dirty already costs nothing more.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.syncing.sync_txg` takes it.
    file, record : int
        Which record of which file.

    Notes
    -----
    The indirect blocks above it become dirty too (OpenZFS dbuf.c:dbuf_dirty).
    """
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
    """Begin a run of overwriting at a record that is on the pool.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.

    Notes
    -----
    Every record is as likely as another (records of random slots are drawn until one is in use: von Neumann's
    rejection); with `by_file` any file is, however large.
    """
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
    """Begin the next run to overwrite.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.

    Returns
    -------
    bool
        False when as much as wanted has been rewritten.

    Notes
    -----
    Its length is uniform between `shortest` and `longest` [records], cut at the end of its file.
    """
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
def txg_room(pool: I64) -> float:
    """Return how much the open txg may take [bytes].

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.

    Returns
    -------
    float
        `parts` times what a txg takes while new files are written, but not much beyond the fill that is the
        goal.
    """
    now = now_of(pool)[0]
    room = float(now.txg_bytes * now.parts)
    if now.parts > 1 and now.goal >= 0:
        room = min(room, (now.goal * pool_space(pool) - now.used) / now.growth)
    return max(room, float(now.txg_bytes))


@njit
def write_until_full(pool: I64, overwrites: int) -> bool:
    """Write records until the txg is full or the step is done.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.syncing.sync_txg` takes it.
    overwrites : int
        Not 0: runs of what is there are written again; 0: new files are.

    Returns
    -------
    bool
        Whether the step is done.
    """
    now = now_of(pool)[0]
    if not (overwrites or now.whole_files) and filled(pool):
        if now.run_next < now.run_end:
            now.unfinished, now.unfinished_next = now.run_file, now.run_next
        return True
    room = txg_room(pool)
    while now.dirty_bytes < room or (now.run_next < now.run_end and now.run_next % now.request_records != 0):
        if now.run_next >= now.run_end:
            more = open_next_run(pool) if overwrites else open_next_file(pool)
            if not more:
                return True
        dirty_one(pool, now.run_file, now.run_next)
        now.run_next += 1
    return False


@njit
def remove_file(pool: I64, at: int) -> None:
    """Remove a file and free its blocks, unless a snapshot holds them.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.syncing.sync_txg` takes it.
    at : int
        Its place among the files that are there.
    """
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
    """Remove files at random until so much is gone, together with what was wanted before.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    wanted : float
        [bytes]

    Notes
    -----
    What is removed keeps within half a file of what was wanted so far: the next file, drawn in advance, goes
    once half of it is due (systematic sampling; Madow, Annals of Mathematical Statistics 20, 1949).
    """
    now = now_of(pool)[0]
    now.due += wanted
    while now.alive > 0:
        if now.next_removed < 0:
            now.next_removed = random_below(pool, now.alive)
        file = lists_of(pool)[now.next_removed].alive
        size = float(files_of(pool)[file].records * files_of(pool)[file].lsize)
        if now.due < 0.5 * size:
            return
        now.due -= size
        remove_file(pool, now.next_removed)
        now.next_removed = -1


@njit
def remove_some(pool: I64, fraction: float) -> None:
    """Remove a share of the files at random.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    fraction : float
        0 to 1.

    Notes
    -----
    Of a miniature, where files are few, that share of their bytes (`remove_bytes`); else so many whole
    files, one more with the chance of the remainder.
    """
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
    """Tell whether some snapshot holds what lived from `birth` to `death`.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    birth, death : int
        Txgs: written in the first, freed in the second.

    Returns
    -------
    bool
        Whether a snapshot was taken at ``birth <= txg < death``.
    """
    count = 0
    for k in range(now_of(pool)[0].snapshots):
        if birth <= snapshots_of(pool)[k] < death:
            count += 1
    return count > 0


@njit
def drop_snapshots(pool: I64, keep: int) -> None:
    """Destroy the oldest snapshots and free what only they held.

    Parameters
    ----------
    pool
        As `zsim.pool.simulator.syncing.sync_txg` takes it.
    keep : int
        How many are left.

    Notes
    -----
    A version of a block is held by the snapshots taken from its birth to its death
    (OpenZFS dsl_deadlist.c, dsl_destroy.c:process_old_deadlist).
    """
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
            kept = kept_of(pool)[row]
            release(pool, kept.slab, kept.start, copies, kept.psize, kept.birth)
            continue
        kept_of(pool)[left] = kept_of(pool)[row]
        left += 1
    now_of(pool)[0].kept = left


@njit
def add_vdev(pool: I64, vdev: int) -> None:
    """Add a top-level vdev; of the special class, metadata goes there from now on."""
    vdevs_of(pool)[vdev].present = 1
    klass = vdevs_of(pool)[vdev].klass
    if class_groups(pool, klass) == 1:
        for allocator in range(rules_of(pool)[0].allocators):
            allocators_of(pool)[allocator * CLASSES + klass].rotor = vdev
    if klass == SPECIAL:
        now_of(pool)[0].metadata_class = SPECIAL


@njit
def expand_vdevs(pool: I64) -> None:
    """Give the vdevs that have grown their new metaslabs; what is written from now on has their width."""
    for vdev in range(pool[VDEVS]):
        if vdevs_of(pool)[vdev].data == vdevs_of(pool)[vdev].final_data:
            continue
        vdevs_of(pool)[vdev].data = vdevs_of(pool)[vdev].final_data
        vdevs_of(pool)[vdev].expanded = now_of(pool)[0].txg
        vdevs_of(pool)[vdev].count = vdevs_of(pool)[vdev].final_count


@njit
def run_at_once(pool: I64, operation: int, vdev: int) -> None:
    """Run a step that writes nothing."""
    if operation == OP_SNAPSHOT:
        take_snapshot(pool)
    elif operation == OP_EXPAND:
        expand_vdevs(pool)
    else:
        add_vdev(pool, vdev)


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
    if operation in (OP_SNAPSHOT, OP_EXPAND, OP_ADD):
        run_at_once(pool, operation, int(amount))
        return
    now.overwrites = operation in (OP_OVERWRITE, OP_OVERWRITE_FILES)
    now.parts = now.fill_parts if operation in (OP_FILL, OP_REFILL) else now.data_copies
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
        weigh_all(pool)
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
