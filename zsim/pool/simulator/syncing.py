"""Write out a txg, compiled.

What ZFS does in a txg (OpenZFS dmu_objset.c:dmu_objset_sync, dbuf.c:dbuf_sync_list,
dsl_pool.c:dsl_pool_sync): the dirty objects of a dataset, in hashed sublists; of each object its dirty
records in the order they were dirtied, each indirect block as soon as its last dirty child is placed; then
the dnode blocks and the levels of the meta-dnode, the objset's root, and at last the MOS.
"""

from __future__ import annotations

from zsim.base.arrays import I64
from zsim.base.jit import njit
from zsim.pool.simulator.claims import renew_claims
from zsim.pool.simulator.memory import (
    CLASSES,
    DATASETS,
    IO_SLOTS,
    SLABS,
    allocators_of,
    datasets_of,
    files_of,
    lists_of,
    now_of,
    rules_of,
    slabs_of,
    slots_of,
    vdevs_of,
    writes_of,
)
from zsim.pool.simulator.metaslabs import end_txg, pool_used
from zsim.pool.simulator.placing import (
    indirect_psize,
    mix,
    next_thread,
    pick_allocator,
    place,
    place_late,
    place_record,
    random_below,
)
from zsim.pool.simulator.throttle import begin_txg, complete_one

SUBLISTS = 16  # os_dirty_dnodes: one list a CPU; the number only shuffles the order of objects
DNODES_PER_BLOCK = 32


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
def gather(pool: I64, dataset: int, sublist: int, queue: int, count: int) -> int:
    """Append the dirty records of one sublist of a dataset's objects to the stream.

    Parameters
    ----------
    pool
        As `sync_txg` takes it.
    dataset, sublist : int
        Which; objects are spread over the sublists by a hash of their number.
    queue : int
        Only objects whose blocks hash to that allocator; -1: all.
    count : int
        Records in the stream so far.

    Returns
    -------
    int
        Records in the stream now.

    Notes
    -----
    OpenZFS dmu_objset.c:dmu_objset_sync (sublists of os_dirty_dnodes since 0.7), dnode_sync.c:dnode_sync:
    the records of an object in the order in which they were dirtied.
    """
    now = now_of(pool)[0]
    lists = lists_of(pool)
    for k in range(now.dirty_files):
        file = lists[k].dirty_file
        if files_of(pool)[file].dataset != dataset or mix(files_of(pool)[file].item) % SUBLISTS != sublist:
            continue
        if queue >= 0 and pick_allocator(pool, dataset, files_of(pool)[file].first) != queue:
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
def end_part(pool: I64, placed: int) -> None:
    """Count placed bytes; behind each `txg_bytes` of a larger txg renew what the end of a txg renews.

    The metaslabs of a miniature are as small as a txg: they are to be left as often as real ones.
    """
    now = now_of(pool)[0]
    now.placed += placed
    renew_claims(pool, placed)
    if now.parts > 1 and now.placed >= now.txg_bytes:
        now.placed = 0
        end_txg(pool, now.data_copies)


@njit
def is_earlier(pool: I64, one: int, other: int) -> bool:
    """Tell whether one record of the stream comes before another by its bookmark.

    Parameters
    ----------
    pool : ndarray of int64
        The table of the history's memory.
    one, other : int
        Places in the stream.

    Returns
    -------
    bool
        By object, then by record: OpenZFS zio.c:zio_bookmark_compare, within one dataset and level.
    """
    lists, files = lists_of(pool), files_of(pool)
    item, other_item = files[lists[one].stream_file].item, files[lists[other].stream_file].item
    if item != other_item:
        return bool(item < other_item)
    return bool(lists[one].stream_record < lists[other].stream_record)


@njit
def swap_records(pool: I64, one: int, other: int) -> None:
    """Swap two records of the stream."""
    lists = lists_of(pool)
    file, record = lists[one].stream_file, lists[one].stream_record
    lists[one].stream_file, lists[one].stream_record = lists[other].stream_file, lists[other].stream_record
    lists[other].stream_file, lists[other].stream_record = file, record


@njit
def sift_down(pool: I64, low: int, at: int, count: int) -> None:
    """Let number `at` of the heap of `count` records from `low` on sink below those that come later."""
    while 2 * at + 1 < count:
        child = 2 * at + 1
        if child + 1 < count and is_earlier(pool, low + child, low + child + 1):
            child += 1
        if not is_earlier(pool, low + at, low + child):
            return
        swap_records(pool, low + at, low + child)
        at = child


@njit
def sort_waiting(pool: I64, low: int, high: int) -> None:
    """Sort the records of the stream from `low` to `high` by bookmark, in place (a heap sort).

    What the allocation throttle holds back waits in that order (OpenZFS zio.c:zio_io_to_allocate over
    spa_alloc_tree, by zio_bookmark_compare; 0.7 to 2.3).
    """
    count = high - low
    for k in range(count // 2):
        sift_down(pool, low, count // 2 - 1 - k, count)
    for k in range(1, count):
        swap_records(pool, low, high - k)
        sift_down(pool, low, low - low, count - k)


@njit
def place_stream(pool: I64, count: int) -> None:
    """Place `count` records of the stream, one after the other."""
    lists = lists_of(pool)
    for at in range(count):
        place_record(pool, lists[at].stream_file, lists[at].stream_record)
        end_part(pool, files_of(pool)[lists[at].stream_file].lsize)


@njit
def queue_records(pool: I64, dataset: int) -> None:
    """Share the dirty records of a dataset among the queues of the allocators, and let none wait yet.

    The queue is the sync thread's from 2.3 on, before it that of the object's hash (OpenZFS
    zio.c:zio_dva_throttle).
    """
    now = now_of(pool)[0]
    queues = rules_of(pool)[0].allocators
    count = now.zero
    for number in range(queues):
        queue = allocators_of(pool)[number * CLASSES]
        queue.next_record = count
        for sublist in range(SUBLISTS):
            if not now.sync_threads:
                count = gather(pool, dataset, sublist, number, count)
            elif sublist % queues == number:
                count = gather(pool, dataset, sublist, -1, count)
        queue.end_record = count


@njit
def pick_queue(pool: I64, number: int) -> int:
    """Let the sync thread of a queue (2.3 and later) go on; return the allocator of the queue."""
    rules, now = rules_of(pool)[0], now_of(pool)[0]
    if not now.sync_threads:
        return int(number)
    now.thread = (rules.first_thread + number) % rules.allocators
    return int(now.thread)


@njit
def queue_of(pool: I64, allocator: int) -> int:
    """Return which queue an allocator takes its records from."""
    rules = rules_of(pool)[0]
    if not now_of(pool)[0].sync_threads:
        return int(allocator)
    return int((allocator - rules.first_thread) % rules.allocators)


@njit
def has_place(pool: I64, number: int, placed: int) -> bool:
    """Tell whether the queue of an allocator that took `placed` records at once takes one more.

    Each copy of a block takes a place in it, those of indirect blocks among them (OpenZFS
    metaslab.c:metaslab_class_throttle_reserve).
    """
    if now_of(pool)[0].issue_window > 0:
        return bool(placed < now_of(pool)[0].issue_window)
    share = allocators_of(pool)[pick_queue(pool, number) * CLASSES]
    return bool(share.reserved < share.most)


@njit
def place_window(pool: I64, number: int) -> None:
    """Place what the queue of an allocator has room for, and sort by bookmark what has to wait.

    Parameters
    ----------
    pool : pointers to the tables of a history
    number : int
        Of the allocator; its queue holds the records from `next_record` to `end_record`.

    Notes
    -----
    OpenZFS zio.c:zio_dva_throttle and zio_io_to_allocate; room is that of
    metaslab.c:metaslab_class_throttle_reserve (`has_place`).
    """
    lists = lists_of(pool)
    queue = allocators_of(pool)[number * CLASSES]
    pick_queue(pool, number)
    at = queue.next_record
    while at < queue.end_record and has_place(pool, number, at - queue.next_record):
        place_record(pool, lists[at].stream_file, lists[at].stream_record)
        place_late(pool)
        end_part(pool, files_of(pool)[lists[at].stream_file].lsize)
        at += 1
    queue.next_record = at
    sort_waiting(pool, at, queue.end_record)


@njit
def place_group(pool: I64, number: int, most: int) -> bool:
    """Place up to `most` of the records that wait for an allocator; False when none do.

    The first `issue_straight` go in order and the rest last first, their indirect blocks behind them: each
    write that is done lets one go, in front of those that are let go already (OpenZFS
    zio.c:zio_allocate_dispatch).
    """
    lists = lists_of(pool)
    queue = allocators_of(pool)[number * CLASSES]
    pick_queue(pool, number)
    low = queue.next_record
    high = min(low + most, queue.end_record)
    straight = min(low + now_of(pool)[0].issue_straight, high)
    for k in range(low, high):
        at = k if k < straight else straight + high - 1 - k
        place_record(pool, lists[at].stream_file, lists[at].stream_record)
        end_part(pool, files_of(pool)[lists[at].stream_file].lsize)
    place_late(pool)
    queue.next_record = high
    return bool(low < high)


@njit
def place_in_turn(pool: I64) -> bool:
    """Place a group of records of every queue; False when nothing waits any more."""
    more = False
    for number in range(rules_of(pool)[0].allocators):
        if place_group(pool, number, now_of(pool)[0].issue_group):
            more = True
    return more


@njit
def still_waiting(pool: I64) -> int:
    """Return the first queue in which records wait, -1 if none does."""
    for number in range(rules_of(pool)[0].allocators):
        queue = allocators_of(pool)[number * CLASSES]
        if queue.next_record < queue.end_record:
            return int(number)
    return -1


@njit
def place_waiting(pool: I64) -> bool:
    """Let a command of writes be done, and place what it lets go.

    Returns
    -------
    bool
        False when nothing waits any more.

    Notes
    -----
    OpenZFS zio.c:zio_done gives the reservations of a write back, and dispatches what waits
    (zio_allocate_dispatch).
    """
    number = still_waiting(pool)
    if number < 0:
        return False
    vdev = complete_one(pool)
    amount = now_of(pool)[0].data_copies
    if vdev >= 0:
        io = writes_of(pool)[vdev * IO_SLOTS + (vdevs_of(pool)[vdev].head - 1) % IO_SLOTS]
        number, amount = queue_of(pool, io.allocator), io.amount
    place_group(pool, number, amount)
    return True


@njit
def sync_throttled(pool: I64, dataset: int) -> None:
    """Place the dirty records of a dataset as the allocation throttle lets one processor do it.

    Parameters
    ----------
    pool
        As `sync_txg` takes it.
    dataset : int
        Which.

    Notes
    -----
    Each allocator's queue takes its window at once.  When a command of its writes is done, as many of the
    records that wait for that allocator follow, so that the queues are served in turn (OpenZFS
    zio.c:zio_dva_throttle, zio_allocate_dispatch; see `IssueOrder`).
    """
    rules, now = rules_of(pool)[0], now_of(pool)[0]
    rules.first_thread = now.thread
    queue_records(pool, dataset)
    rules.held = now.data_copies if now.issue_group == 0 else now.zero
    for number in range(rules.allocators):
        place_window(pool, number)
    more = True
    while more:
        more = place_in_turn(pool) if now.issue_group > 0 else place_waiting(pool)
    rules.held = now.zero
    now.thread = rules.first_thread


@njit
def sync_files(pool: I64, dataset: int) -> None:
    """Place the dirty records of a dataset; the sync threads take its sublists of objects in turn.

    Parameters
    ----------
    pool : pointers to the tables of a history
    dataset : int

    Notes
    -----
    OpenZFS dmu_objset.c:dmu_objset_sync (a task a sublist of os_dirty_dnodes since 0.7).  Each thread writes
    through an allocator of its own; where the throttle holds records back, they go by `sync_throttled`.
    """
    now = now_of(pool)[0]
    if now.throttled:
        sync_throttled(pool, dataset)
        return
    threads = rules_of(pool)[0].allocators if now.sync_threads else now.data_copies
    for thread in range(threads):
        count = now.zero
        for sublist in range(SUBLISTS):
            if sublist % threads == thread:
                count = gather(pool, dataset, sublist, -1, count)
        place_stream(pool, count)
        next_thread(pool)


@njit
def sync_meta_dnode(pool: I64, dataset: int) -> None:
    """Place the dirty dnode blocks of a dataset, the levels above them and the root.

    Parameters
    ----------
    pool
        As `sync_txg` takes it.
    dataset : int
        Which.

    Notes
    -----
    OpenZFS dmu_objset.c:dmu_objset_sync: the meta-dnode comes after the objects; each of its blocks is
    written once a txg, whatever number of dnodes in it changed.
    """
    now = now_of(pool)[0]
    for level in range(now.meta_levels + 1):
        first = (
            datasets_of(pool)[dataset].root
            if level == now.meta_levels
            else datasets_of(pool)[dataset].meta[level]
        )
        psize = now.dnode_psize if level == 0 else indirect_psize(pool, now.meta_pointers)
        if level == now.meta_levels:
            place(pool, dataset, first, now.zero, now.root_psize, now.metadata_copies, now.metadata_class)
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
            place(pool, dataset, first, index, psize, now.metadata_copies, now.metadata_class)


@njit
def place_mos(pool: I64, at: int, psize: int) -> None:
    """Rewrite block number `at` of the MOS."""
    now = now_of(pool)[0]
    place(pool, now.mos, now.mos_first + at, now.zero, psize, now.mos_copies, now.metadata_class)


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
def close_txg(pool: I64, txgs: int) -> None:
    """Close the txg, and idle ones behind it, `txgs` in all."""
    now = now_of(pool)[0]
    end_txg(pool, txgs)
    now.used = pool_used(pool)
    now.txg += txgs


@njit
def sync_txg(pool: I64) -> None:
    """Write the open txg out and open the next.

    Parameters
    ----------
    pool : ndarray of int64
        The history's memory (`zsim.pool.simulator.memory`).

    Notes
    -----
    OpenZFS spa.c:spa_sync, dsl_pool.c:dsl_pool_sync: the datasets' objects, their meta-dnodes, the MOS.
    A txg larger than the room for dirty records is written in parts; its metadata goes with the last.
    """
    now = now_of(pool)[0]
    if now.txg_begins:
        begin_txg(pool)
    if rules_of(pool)[0].allocators > 1 and now.txg_begins:
        now.thread = random_below(pool, rules_of(pool)[0].allocators)
    for k in range(now.dirty_files):
        datasets_of(pool)[files_of(pool)[lists_of(pool)[k].dirty_file].dataset].dirty = 1
    for dataset in range(pool[DATASETS]):
        if datasets_of(pool)[dataset].dirty:
            sync_files(pool, dataset)
    now.txg_begins = 0
    now.metadata_due -= now.parts
    if now.metadata_due <= 0:
        sync_metadata(pool)
        now.txg_begins = 1
    before = now.used
    close_txg(pool, now.txg_step)
    if now.parts > 1 and now.dirty_bytes >= now.txg_bytes:
        now.growth = max(now.growth / 2.0, (now.used - before) / now.dirty_bytes)
    now.dirty = 0
    now.dirty_files = 0
    now.dirty_bytes = 0
