"""The metaslab allocator, compiled: free segments, weights, activation, and where the next block goes.

Sources: OpenZFS ``module/zfs/metaslab.c``, releases 0.7.13, 2.1.5 and 2.3.9 (``metaslab_df_alloc``,
``metaslab_block_picker``, ``metaslab_segment_weight``, ``metaslab_space_weight``, ``metaslab_activate``,
``metaslab_segment_may_passivate``, ``metaslab_group_alloc_normal``, ``metaslab_alloc_dva``,
``metaslab_sync_done``), in own words.

Inside a metaslab space is counted in units of the top-level vdev's smallest allocation: a sector (mirror),
1 + parity sectors (RAID-Z), a stripe of one sector per drive of a group (dRAID).  A metaslab's free segments
are two sorted arrays (starts, ends); used-up segments stay behind empty until the next rebuild.
"""

from __future__ import annotations

import math

import numpy as np

from zsim.jit import njit
from zsim.pool.memory import (
    BUCKETS,
    I64,
    LOG_SIZE,
    LOG_SLOTS,
    SLABS,
    VDEVS,
    allocators_of,
    cursors_of,
    ends_of,
    histogram_of,
    log_of,
    marks_of,
    owners_of,
    rules_of,
    slabs_of,
    starts_of,
    vdevs_of,
)
from zsim.pool.styles import STICKY_FRAG, STICKY_UNTIL_FRAGMENTED
from zsim.vdevs.draid import draid_asize
from zsim.vdevs.mirror import mirror_asize
from zsim.vdevs.raidz import raidz_asize

NONE, SECONDARY, PRIMARY, CLAIM = 0, 1, 2, 3
MIRROR, RAIDZ, DRAID = 0, 1, 2


SWITCH_THRESHOLD = 2  # zfs_metaslab_switch_threshold
MIN_SEARCH_COUNT = 100  # metaslab_min_search_count
FRAG_ACTIVE_LIMIT = 70  # zfs_metaslab_fragmentation_threshold
COUNT_BITS = 40
CLAIM_BIT = 1 << 60
NEVER = 1 << 60
DEFER_TXGS = 2
START_BITS = 30
LENGTH_BITS = 16
# Free-segment size bucket -> fragmentation %, from 512 bytes up (metaslab.c: zfs_frag_table, to 2.3).
FRAG_TABLE = np.array(
    [100, 100, 98, 95, 90, 80, 70, 60, 50, 40, 30, 20, 15, 10, 5, 0, 0, 0, 0, 0, 0], dtype=np.int64
)
FRAG_TABLE.setflags(write=False)


@njit
def bucket(size: int) -> int:
    """Return the power of two of the largest one not above `size` bytes."""
    return math.frexp(float(size))[1] - 1


@njit
def segment_bytes(pool: I64, slab: int, start: int, end: int) -> int:
    """Return the length of a free segment [bytes]; the last one owns the metaslab's odd tail."""
    size: int = (end - start) * vdevs_of(pool)[slabs_of(pool)[slab].vdev].unit
    if end == slabs_of(pool)[slab].units:
        size += slabs_of(pool)[slab].tail
    return size


@njit
def count_segment(pool: I64, slab: int, start: int, end: int) -> None:
    """Enter a free segment into the metaslab's histogram."""
    if end > start:
        histogram_of(pool, slab)[bucket(segment_bytes(pool, slab, start, end))] += 1


@njit
def top_bucket(pool: I64, slab: int) -> int:
    """Return the highest non-empty bucket of the histogram, -1 when nothing is free."""
    for index in range(BUCKETS - 1, -1, -1):
        if histogram_of(pool, slab)[index] > 0:
            return index
    return -1


@njit
def largest_segment(pool: I64, slab: int) -> int:
    """Return the length of the largest free segment [bytes]."""
    best = 0
    for k in range(slabs_of(pool)[slab].segments):
        start, end = starts_of(pool, slab)[k], ends_of(pool, slab)[k]
        if end > start:
            best = max(best, segment_bytes(pool, slab, start, end))
    return best


@njit
def holds(pool: I64, slab: int, size: int) -> bool:
    """Tell whether some free segment has at least `size` bytes (metaslab_should_allocate)."""
    top = top_bucket(pool, slab)
    if top < 0:
        return False
    if size <= (1 << top):
        return True
    return bucket(size) <= top and largest_segment(pool, slab) >= size


@njit
def first_from(pool: I64, slab: int, position: int) -> int:
    """Return the index of the first free segment that ends after `position`."""
    low = 0
    high = slabs_of(pool)[slab].segments
    while low < high:
        middle = (low + high) >> 1
        if ends_of(pool, slab)[middle] <= position:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def pick_forward(pool: I64, slab: int, first_index: int, units: int) -> int:
    """First fit from a segment on, as far as the search window reaches; -1 when nothing is found."""
    window = rules_of(pool)[0].window
    reach = window // vdevs_of(pool)[slabs_of(pool)[slab].vdev].unit
    searched = 0
    first = -1
    for k in range(first_index, slabs_of(pool)[slab].segments):
        start = starts_of(pool, slab)[k]
        end = ends_of(pool, slab)[k]
        if end == start:
            continue
        if first < 0:
            first = start
        if window > 0 and start - first > reach and searched >= MIN_SEARCH_COUNT:
            return -1
        if end - start >= units:
            return k
        searched += 1
    return -1


@njit
def pick_by_size(pool: I64, slab: int, units: int) -> int:
    """Best fit: the smallest free segment that holds `units`, lowest address first; -1 when there is none.

    Segments below the floor of the size tree count only when nothing above it is free.
    """
    unit = vdevs_of(pool)[slabs_of(pool)[slab].vdev].unit
    floor = (rules_of(pool)[0].size_floor + unit - 1) // unit
    best, best_length = -1, NEVER
    small, small_length = -1, NEVER
    for k in range(slabs_of(pool)[slab].segments):
        length = ends_of(pool, slab)[k] - starts_of(pool, slab)[k]
        if length < units or length == 0:
            continue
        if length >= floor and length < best_length:
            best, best_length = k, length
        elif length < floor and length < small_length:
            small, small_length = k, length
    return best if best >= 0 else small


@njit
def squeeze(pool: I64, slab: int) -> None:
    """Drop the used-up segments."""
    kept = 0
    for k in range(slabs_of(pool)[slab].segments):
        if ends_of(pool, slab)[k] > starts_of(pool, slab)[k]:
            starts_of(pool, slab)[kept] = starts_of(pool, slab)[k]
            ends_of(pool, slab)[kept] = ends_of(pool, slab)[k]
            kept += 1
    slabs_of(pool)[slab].segments = kept
    slabs_of(pool)[slab].empty = 0


@njit
def pick_segment(pool: I64, slab: int, units: int, column: int) -> int:
    """Choose a free segment for a block (metaslab_df_alloc); -1 when none is large enough."""
    top = top_bucket(pool, slab)
    free = slabs_of(pool)[slab].free * 100 // slabs_of(pool)[slab].units
    tight = (
        top < 0
        or (1 << (top + 1)) <= rules_of(pool)[0].best_fit_below
        or free < rules_of(pool)[0].best_fit_free_percent
    )
    if not tight:
        first = first_from(pool, slab, cursors_of(pool, slab)[column])
        k = pick_forward(pool, slab, first, units)
        if k < 0 and rules_of(pool)[0].window == 0 and first > 0:
            k = pick_forward(pool, slab, first - first, units)
        if k >= 0:
            return k
    return pick_by_size(pool, slab, units)


@njit
def take_units(pool: I64, slab: int, units: int) -> int:
    """Allocate from one metaslab; return the start within it, or -1."""
    size = units * vdevs_of(pool)[slabs_of(pool)[slab].vdev].unit
    column = bucket(size & -size)
    k = pick_segment(pool, slab, units, column)
    if k < 0:
        return -1
    start: int = starts_of(pool, slab)[k]
    end = ends_of(pool, slab)[k]
    histogram_of(pool, slab)[bucket(segment_bytes(pool, slab, start, end))] -= 1
    count_segment(pool, slab, start + units, end)
    starts_of(pool, slab)[k] = start + units
    if start + units == end:
        slabs_of(pool)[slab].empty += 1
        if slabs_of(pool)[slab].empty > 64:
            squeeze(pool, slab)
    cursors_of(pool, slab)[column] = start + units
    slabs_of(pool)[slab].free -= units
    vdevs_of(pool)[slabs_of(pool)[slab].vdev].used += size
    slabs_of(pool)[slab].changed = 1
    return start


@njit
def fragmentation_of(pool: I64, slab: int) -> int:
    """Return FRAG of one metaslab [%]: the mean of the table over its free space.

    A free segment counts with the lower bound of its bucket (metaslab.c:metaslab_set_fragmentation).
    """
    total = 0.0
    weighted = 0.0
    for index in range(BUCKETS):
        size = float(histogram_of(pool, slab)[index]) * float(1 << index)
        total += size
        weighted += size * FRAG_TABLE[min(max(index - 9, 0), FRAG_TABLE.size - 1)]
    return int(weighted / total) if total > 0.0 else 0


@njit
def space_weight(pool: I64, slab: int) -> int:
    """Return the weight by free space, outer tracks preferred (metaslab_space_weight)."""
    vdev = slabs_of(pool)[slab].vdev
    free = (slabs_of(pool)[slab].free + slabs_of(pool)[slab].pending) * vdevs_of(pool)[vdev].unit
    if rules_of(pool)[0].frag_factor and free > 0:
        frag = fragmentation_of(pool, slab)
        free = max(free * (100 - (frag - 1)) // 100, 1)
    if rules_of(pool)[0].lba_weight:
        free = 2 * free - ((slab - vdevs_of(pool)[vdev].first) * free) // vdevs_of(pool)[vdev].count
    return int(free)


@njit
def weight_now(pool: I64, slab: int) -> int:
    """Return the weight of a metaslab from its present free segments."""
    if not rules_of(pool)[0].segment_weight:
        return space_weight(pool, slab)
    top = top_bucket(pool, slab)
    return 0 if top < 0 else (top << COUNT_BITS) + histogram_of(pool, slab)[top]


@njit
def passivate(pool: I64, slab: int, weight: int) -> None:
    """Take a metaslab from its allocator."""
    role = slabs_of(pool)[slab].role
    if role in (PRIMARY, SECONDARY):
        owners_of(pool)[
            (slabs_of(pool)[slab].owner * pool[VDEVS] + slabs_of(pool)[slab].vdev) * 3 + role
        ] = -1
    slabs_of(pool)[slab].role = NONE
    slabs_of(pool)[slab].owner = -1
    slabs_of(pool)[slab].active = -1
    slabs_of(pool)[slab].weight = weight


@njit
def activate(pool: I64, slab: int, role: int, allocator: int) -> None:
    """Give a metaslab to an allocator."""
    if role != CLAIM:
        owners_of(pool)[(allocator * pool[VDEVS] + slabs_of(pool)[slab].vdev) * 3 + role] = slab
        slabs_of(pool)[slab].owner = allocator
    slabs_of(pool)[slab].role = role
    slabs_of(pool)[slab].active = slabs_of(pool)[slab].weight >> COUNT_BITS


@njit
def may_passivate(pool: I64, slab: int) -> None:
    """Leave a metaslab whose largest segments have shrunk by the switch threshold since its activation."""
    if not rules_of(pool)[0].segment_weight or slabs_of(pool)[slab].role == NONE:
        return
    top = top_bucket(pool, slab)
    if top > slabs_of(pool)[slab].active - SWITCH_THRESHOLD:
        return
    if rules_of(pool)[0].fill_empty and top >= 0:
        free = slabs_of(pool)[slab].free * vdevs_of(pool)[slabs_of(pool)[slab].vdev].unit
        most = free * 15 // 16
        if (1 << (top + 1)) > most and largest_segment(pool, slab) > most:
            return
    passivate(pool, slab, weight_now(pool, slab))


@njit
def far_enough(pool: I64, slab: int, copies: int, copy_slab: I64, distance: int) -> bool:
    """Tell whether a further copy may go here: not into (modern) or near (to 0.7) the others' metaslabs.

    `distance` is in thousandths of a metaslab.
    """
    for i in range(copies):
        if slabs_of(pool)[copy_slab[i]].vdev != slabs_of(pool)[slab].vdev:
            continue
        empty = slabs_of(pool)[slab].free == slabs_of(pool)[slab].units
        needed = distance + (distance >> 1 if empty and not rules_of(pool)[0].separate else 0)
        if abs(slab - copy_slab[i]) * 1000 < needed:
            return False
    return True


@njit
def rank(pool: I64, slab: int) -> int:
    """Return the class a metaslab sorts in when one is looked for."""
    role = slabs_of(pool)[slab].role
    if rules_of(pool)[0].separate:
        return 0 if role == PRIMARY else (-1 if role == SECONDARY else 1)
    return int(role)


@njit
def find_slab(
    pool: I64, vdev: int, role: int, size: int, copies: int, copy_slab: I64, distance: int, serial: int
) -> int:
    """Return the best metaslab not tried yet for this block (find_valid_metaslab), -1 when there is none."""
    best = -1
    best_rank = -9
    best_weight = -1
    first = vdevs_of(pool)[vdev].first
    for slab in range(first, first + vdevs_of(pool)[vdev].count):
        if slabs_of(pool)[slab].tried == serial:
            continue
        level = rank(pool, slab)
        weight = slabs_of(pool)[slab].weight + (CLAIM_BIT if slabs_of(pool)[slab].role == CLAIM else 0)
        if level < best_rank or (level == best_rank and weight <= best_weight):
            continue
        owned = rules_of(pool)[0].separate and slabs_of(pool)[slab].owner >= 0
        if role != PRIMARY and not owned and not far_enough(pool, slab, copies, copy_slab, distance):
            continue
        if not holds(pool, slab, size):
            continue
        best, best_rank, best_weight = slab, level, weight
    return best


@njit
def role_of_copy(pool: I64, vdev: int, copies: int, copy_slab: I64) -> int:
    """Return the role of the metaslab wanted: the first copy on this vdev, the second, or a further one."""
    same = 0
    for i in range(copies):
        if slabs_of(pool)[copy_slab[i]].vdev == vdev:
            same += 1
    if same == 0:
        return PRIMARY
    return SECONDARY if same == 1 or not rules_of(pool)[0].separate else CLAIM


@njit
def current_slab(pool: I64, vdev: int, role: int, allocator: int) -> int:
    """Return the allocator's active metaslab for this role, -1 when it has none."""
    if role == CLAIM or (role == SECONDARY and not rules_of(pool)[0].separate):
        return -1
    return int(owners_of(pool)[(allocator * pool[VDEVS] + vdev) * 3 + role])


@njit
def allocate_in_group(
    pool: I64, vdev: int, units: int, copies: int, copy_slab: I64, allocator: int, distance: int
) -> tuple[int, int]:
    """Allocate on one top-level vdev; return (metaslab, start) or (-1, -1)."""
    size = units * vdevs_of(pool)[vdev].unit
    role = role_of_copy(pool, vdev, copies, copy_slab)
    if vdevs_of(pool)[vdev].count < 3 * rules_of(pool)[0].allocators:
        allocator = 0
    rules_of(pool)[0].serial += 1
    serial = rules_of(pool)[0].serial
    while True:
        slab = current_slab(pool, vdev, role, allocator)
        if slab < 0:
            slab = find_slab(pool, vdev, role, size, copies, copy_slab, distance, serial)
        if slab < 0:
            return -1, -1
        held = slabs_of(pool)[slab].role
        steals = held == CLAIM if rules_of(pool)[0].separate else held == SECONDARY
        if steals and role == PRIMARY:
            passivate(pool, slab, weight_now(pool, slab))
            continue
        if held == NONE:
            activate(pool, slab, role, allocator)
        start = take_units(pool, slab, units) if holds(pool, slab, size) else -1
        if start >= 0:
            may_passivate(pool, slab)
            return slab, start
        passivate(pool, slab, weight_now(pool, slab))
        slabs_of(pool)[slab].tried = serial


@njit
def units_needed(pool: I64, vdev: int, psize: int) -> int:
    """Return the units a block of `psize` bytes takes on a top-level vdev, parity and padding included."""
    level = vdevs_of(pool)[vdev]
    if level.kind == MIRROR:
        asize = mirror_asize(psize, level.ashift)
    elif level.kind == DRAID:
        asize = draid_asize(psize, level.ashift, level.data, level.parity)
    else:
        asize = raidz_asize(psize, level.ashift, level.data + level.parity, level.parity)
    return int(asize // level.unit)


@njit
def pool_space(pool: I64) -> int:
    """Return the space of all metaslabs [bytes]."""
    total = 0
    for vdev in range(pool[VDEVS]):
        total += vdevs_of(pool)[vdev].space
    return total


@njit
def pool_used(pool: I64) -> int:
    """Return what is allocated, deferred frees included [bytes]."""
    total = 0
    for vdev in range(pool[VDEVS]):
        total += vdevs_of(pool)[vdev].used
    return total


@njit
def advance_rotor(pool: I64, vdev: int, allocator: int, size: int) -> None:
    """Move to the next top-level vdev after the aliquot, biased to the emptier ones (metaslab_alloc_dva)."""
    vdevs = pool[VDEVS]
    if allocators_of(pool)[allocator].used == 0:
        free = vdevs_of(pool)[vdev].space - vdevs_of(pool)[vdev].used
        total = pool_space(pool) - pool_used(pool)
        ratio = free * vdevs * 100 // (total + 1)
        vdevs_of(pool)[vdev].bias = (ratio - 100) * vdevs_of(pool)[vdev].aliquot // 100
    allocators_of(pool)[allocator].used += size
    if allocators_of(pool)[allocator].used >= vdevs_of(pool)[vdev].aliquot + vdevs_of(pool)[vdev].bias:
        allocators_of(pool)[allocator].rotor = (vdev + 1) % vdevs
        allocators_of(pool)[allocator].used = 0


@njit
def allocate_copy(
    pool: I64, psize: int, copies: int, copy_slab: I64, copy_start: I64, allocator: int, distance: int
) -> bool:
    """Allocate the next copy of a block on some top-level vdev; False when none has room at this distance."""
    vdevs = pool[VDEVS]
    first = allocators_of(pool)[allocator].rotor
    if copies > 0:
        first = (slabs_of(pool)[copy_slab[copies - 1]].vdev + 1) % vdevs
    for step in range(vdevs):
        vdev = (first + step) % vdevs
        units = units_needed(pool, vdev, psize)
        apart = distance * vdevs_of(pool)[vdev].count if distance > 1 else distance
        slab, start = allocate_in_group(pool, vdev, units, copies, copy_slab, allocator, apart)
        if slab >= 0:
            copy_slab[copies] = slab
            copy_start[copies] = start
            advance_rotor(pool, vdev, allocator, units * vdevs_of(pool)[vdev].unit)
            return True
        allocators_of(pool)[allocator].rotor = (vdev + 1) % vdevs
        allocators_of(pool)[allocator].used = 0
    return False


@njit
def allocate_block(
    pool: I64, psize: int, copies: int, copy_slab: I64, copy_start: I64, allocator: int
) -> bool:
    """Allocate all copies of a block into `copy_slab`, `copy_start`; False when the pool has no room.

    To 0.7 copies on one vdev keep an eighth of it apart, then a sixteenth ...; later: different metaslabs.
    """
    for copy in range(copies):
        distance = rules_of(pool)[0].distance
        while not allocate_copy(pool, psize, copy, copy_slab, copy_start, allocator, distance):
            if distance == 0:
                return False
            distance = distance // 2 if distance > 8 else 0
    return True


@njit
def log_free(pool: I64, slab: int, start: int, units: int) -> None:
    """Note a freed range; it comes back `DEFER_TXGS` txgs after this one has synced."""
    head = rules_of(pool)[0].log_head
    log_of(pool)[head].slab = slab
    log_of(pool)[head].start = start
    log_of(pool)[head].units = units
    rules_of(pool)[0].log_head = (head + 1) % pool[LOG_SIZE]
    slabs_of(pool)[slab].pending += units
    slabs_of(pool)[slab].changed = 1


@njit
def recount(pool: I64, slab: int) -> None:
    """Rebuild the histogram of a metaslab."""
    for index in range(BUCKETS):
        histogram_of(pool, slab)[index] = 0
    for k in range(slabs_of(pool)[slab].segments):
        count_segment(pool, slab, starts_of(pool, slab)[k], ends_of(pool, slab)[k])


@njit
def append_range(starts: I64, ends: I64, count: int, start: int, end: int) -> int:
    """Add a range behind sorted ones, joined with the last when they touch; return the new count."""
    if count > 0 and ends[count - 1] == start:
        ends[count - 1] = end
        return count
    starts[count] = start
    ends[count] = end
    return count + 1


@njit
def merge_free(pool: I64, slab: int, keys: I64, low: int, high: int) -> None:
    """Return the freed ranges ``keys[low:high]``, sorted, to the free segments of a metaslab."""
    squeeze(pool, slab)
    old = slabs_of(pool)[slab].segments
    starts = np.empty(old + high - low, dtype=np.int64)
    ends = np.empty(old + high - low, dtype=np.int64)
    count = old - old  # not a constant: numba would compile the callee twice
    k = 0
    for i in range(low, high):
        start = (keys[i] >> LENGTH_BITS) & ((1 << START_BITS) - 1)
        units = keys[i] & ((1 << LENGTH_BITS) - 1)
        while k < old and starts_of(pool, slab)[k] < start:
            count = append_range(starts, ends, count, starts_of(pool, slab)[k], ends_of(pool, slab)[k])
            k += 1
        count = append_range(starts, ends, count, start, start + units)
        slabs_of(pool)[slab].free += units
        slabs_of(pool)[slab].pending -= units
        vdev = slabs_of(pool)[slab].vdev
        vdevs_of(pool)[vdev].used -= units * vdevs_of(pool)[vdev].unit
    while k < old:
        count = append_range(starts, ends, count, starts_of(pool, slab)[k], ends_of(pool, slab)[k])
        k += 1
    for i in range(count):
        starts_of(pool, slab)[i] = starts[i]
        ends_of(pool, slab)[i] = ends[i]
    slabs_of(pool)[slab].segments = count
    slabs_of(pool)[slab].changed = 1
    recount(pool, slab)


@njit
def return_frees(pool: I64, until: int) -> None:
    """Make the freed ranges up to ring position `until` usable."""
    size = pool[LOG_SIZE]
    tail = rules_of(pool)[0].log_tail
    count = (until - tail) % size
    if count == 0:
        return
    keys = np.empty(count, dtype=np.int64)
    for i in range(count):
        at = (tail + i) % size
        keys[i] = (np.int64(log_of(pool)[at].slab) << (START_BITS + LENGTH_BITS)) | (
            np.int64(log_of(pool)[at].start) << LENGTH_BITS
        )
        keys[i] |= np.int64(log_of(pool)[at].units)
    keys.sort()
    low = count - count
    while low < count:
        slab = keys[low] >> (START_BITS + LENGTH_BITS)
        high = low
        while high < count and keys[high] >> (START_BITS + LENGTH_BITS) == slab:
            high += 1
        merge_free(pool, slab, keys, low, high)
        low = high
    rules_of(pool)[0].log_tail = until


@njit
def stays_active(pool: I64, slab: int) -> bool:
    """Tell whether an active metaslab survives the end of a txg as such."""
    if rules_of(pool)[0].segment_weight:
        return True
    sticky = rules_of(pool)[0].sticky
    if sticky == STICKY_FRAG:
        return fragmentation_of(pool, slab) <= FRAG_ACTIVE_LIMIT
    if sticky == STICKY_UNTIL_FRAGMENTED:
        free = slabs_of(pool)[slab].free * 100 // slabs_of(pool)[slab].units
        return top_bucket(pool, slab) >= 17 and free >= 4
    return False


@njit
def end_txg(pool: I64, step: int) -> None:
    """Close a txg and the `step` - 1 idle ones behind it: deferred frees come back, weights are renewed."""
    rules = rules_of(pool)[0]
    for _ in range(step):
        return_frees(pool, marks_of(pool)[(rules.txg + LOG_SLOTS - DEFER_TXGS) % LOG_SLOTS])
        marks_of(pool)[rules.txg % LOG_SLOTS] = rules.log_head
        rules.txg += 1
    for slab in range(pool[SLABS]):
        if not slabs_of(pool)[slab].changed:
            continue
        slabs_of(pool)[slab].changed = 0
        slabs_of(pool)[slab].unflushed = 1
        weight = weight_now(pool, slab)
        slabs_of(pool)[slab].weight = weight
        if slabs_of(pool)[slab].role != NONE and not stays_active(pool, slab):
            passivate(pool, slab, weight)


@njit
def weigh_all(pool: I64) -> None:
    """Set the histograms and weights of new metaslabs."""
    for slab in range(pool[SLABS]):
        recount(pool, slab)
        slabs_of(pool)[slab].weight = weight_now(pool, slab)
