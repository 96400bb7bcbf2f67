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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zsim.jit import njit

I64 = NDArray[np.int64]

NONE, SECONDARY, PRIMARY, CLAIM = 0, 1, 2, 3
MIRROR, RAIDZ, DRAID = 0, 1, 2

STICKY_NEVER, STICKY_FRAG, STICKY_UNTIL_FRAGMENTED = 0, 1, 2

BUCKETS = 48
SWITCH_THRESHOLD = 2  # zfs_metaslab_switch_threshold
MIN_SEARCH_COUNT = 100  # metaslab_min_search_count
FRAG_ACTIVE_LIMIT = 70  # zfs_metaslab_fragmentation_threshold
COUNT_BITS = 40
CLAIM_BIT = 1 << 60
NEVER = 1 << 60
DEFER_TXGS = 2
LOG_SLOTS = DEFER_TXGS + 2
START_BITS = 30
LENGTH_BITS = 16
# Free-segment size bucket -> fragmentation %, from 512 bytes up (metaslab.c: zfs_frag_table, to 2.3).
FRAG_TABLE = np.array(
    [100, 100, 98, 95, 90, 80, 70, 60, 50, 40, 30, 20, 15, 10, 5, 0, 0, 0, 0, 0, 0], dtype=np.int64
)


RULES = np.dtype(
    [
        ("segment_weight", "i8"),
        ("lba_weight", "i8"),
        ("sticky", "i8"),
        ("frag_factor", "i8"),
        ("window", "i8"),
        ("best_fit_below", "i8"),
        ("best_fit_free_percent", "i8"),
        ("size_floor", "i8"),
        ("fill_empty", "i8"),
        ("separate", "i8"),
        ("distance", "i8"),
        ("allocators", "i8"),
        ("serial", "i8"),
        ("txg", "i8"),
        ("log_head", "i8"),
        ("log_tail", "i8"),
    ],
    align=True,
)
VDEV = np.dtype(
    [
        ("kind", "i8"),
        ("sector", "i8"),
        ("data", "i8"),
        ("parity", "i8"),
        ("unit", "i8"),
        ("first", "i8"),
        ("count", "i8"),
        ("aliquot", "i8"),
        ("bias", "i8"),
        ("used", "i8"),
        ("space", "i8"),
    ],
    align=True,
)
SLAB = np.dtype(
    [
        ("vdev", "i8"),
        ("units", "i8"),
        ("tail", "i8"),
        ("free", "i8"),
        ("pending", "i8"),
        ("segments", "i8"),
        ("empty", "i8"),
        ("weight", "i8"),
        ("active", "i8"),
        ("role", "i8"),
        ("owner", "i8"),
        ("changed", "i8"),
        ("tried", "i8"),
    ],
    align=True,
)
ALLOCATOR = np.dtype([("rotor", "i8"), ("used", "i8")])
LOG = np.dtype([("slab", "i8"), ("start", "i8"), ("units", "i8")])


class Space(NamedTuple):
    """State of all metaslabs of a pool; the arrays are changed in place.

    Attributes
    ----------
    rules : ndarray of RULES, shape (1,)
        The release's switches, and the clock of the deferred frees.
    vdevs, slabs, allocators : ndarray of VDEV, SLAB, ALLOCATOR
        Metaslabs are numbered over the whole pool.
    columns : ndarray of int64, shape (metaslabs, 2, 48)
        By power of two: the cursor of this alignment, and the number of free segments of this size.
    segments : ndarray of int64, shape (2, metaslabs, room)
        Starts and ends of the free segments [units].
    owners : ndarray of int64, shape (allocators, vdevs, 3)
        The active metaslab of an allocator in each role, -1 when there is none.
    log : ndarray of LOG, shape (room,)
        Ring of the frees that are not usable yet.
    marks : ndarray of int64, shape (4,)
        Positions in the ring at which the last txgs ended.
    """

    rules: Any
    vdevs: Any
    slabs: Any
    allocators: Any
    columns: I64
    segments: I64
    owners: I64
    log: Any
    marks: I64


@njit
def bucket(size: int) -> int:
    """Return the power of two of the largest one not above `size` bytes."""
    return math.frexp(float(size))[1] - 1


@njit
def segment_bytes(space: Space, slab: int, start: int, end: int) -> int:
    """Return the length of a free segment [bytes]; the last one owns the metaslab's odd tail."""
    size: int = (end - start) * space.vdevs[space.slabs[slab].vdev].unit
    if end == space.slabs[slab].units:
        size += space.slabs[slab].tail
    return size


@njit
def count_segment(space: Space, slab: int, start: int, end: int) -> None:
    """Enter a free segment into the metaslab's histogram."""
    if end > start:
        space.columns[slab, 1, bucket(segment_bytes(space, slab, start, end))] += 1


@njit
def top_bucket(space: Space, slab: int) -> int:
    """Return the highest non-empty bucket of the histogram, -1 when nothing is free."""
    for index in range(BUCKETS - 1, -1, -1):
        if space.columns[slab, 1, index] > 0:
            return index
    return -1


@njit
def largest_segment(space: Space, slab: int) -> int:
    """Return the length of the largest free segment [bytes]."""
    best = 0
    for k in range(space.slabs[slab].segments):
        start, end = space.segments[0, slab, k], space.segments[1, slab, k]
        if end > start:
            best = max(best, segment_bytes(space, slab, start, end))
    return best


@njit
def holds(space: Space, slab: int, size: int) -> bool:
    """Tell whether some free segment has at least `size` bytes (metaslab_should_allocate)."""
    top = top_bucket(space, slab)
    if top < 0:
        return False
    if size <= (1 << top):
        return True
    return bucket(size) <= top and largest_segment(space, slab) >= size


@njit
def first_from(space: Space, slab: int, position: int) -> int:
    """Return the index of the first free segment that ends after `position`."""
    low = 0
    high = space.slabs[slab].segments
    while low < high:
        middle = (low + high) >> 1
        if space.segments[1, slab, middle] <= position:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def pick_forward(space: Space, slab: int, first_index: int, units: int) -> int:
    """First fit from a segment on, as far as the search window reaches; -1 when nothing is found."""
    window = space.rules[0].window
    reach = window // space.vdevs[space.slabs[slab].vdev].unit
    searched = 0
    first = -1
    for k in range(first_index, space.slabs[slab].segments):
        start = space.segments[0, slab, k]
        end = space.segments[1, slab, k]
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
def pick_by_size(space: Space, slab: int, units: int) -> int:
    """Best fit: the smallest free segment that holds `units`, lowest address first; -1 when there is none.

    Segments below the floor of the size tree count only when nothing above it is free.
    """
    unit = space.vdevs[space.slabs[slab].vdev].unit
    floor = (space.rules[0].size_floor + unit - 1) // unit
    best, best_length = -1, NEVER
    small, small_length = -1, NEVER
    for k in range(space.slabs[slab].segments):
        length = space.segments[1, slab, k] - space.segments[0, slab, k]
        if length < units or length == 0:
            continue
        if length >= floor and length < best_length:
            best, best_length = k, length
        elif length < floor and length < small_length:
            small, small_length = k, length
    return best if best >= 0 else small


@njit
def squeeze(space: Space, slab: int) -> None:
    """Drop the used-up segments."""
    kept = 0
    for k in range(space.slabs[slab].segments):
        if space.segments[1, slab, k] > space.segments[0, slab, k]:
            space.segments[0, slab, kept] = space.segments[0, slab, k]
            space.segments[1, slab, kept] = space.segments[1, slab, k]
            kept += 1
    space.slabs[slab].segments = kept
    space.slabs[slab].empty = 0


@njit
def pick_segment(space: Space, slab: int, units: int, column: int) -> int:
    """Choose a free segment for a block (metaslab_df_alloc); -1 when none is large enough."""
    top = top_bucket(space, slab)
    free = space.slabs[slab].free * 100 // space.slabs[slab].units
    tight = top < 0 or (1 << (top + 1)) <= space.rules[0].best_fit_below or free < space.rules[0].best_fit_free_percent
    if not tight:
        first = first_from(space, slab, space.columns[slab, 0, column])
        k = pick_forward(space, slab, first, units)
        if k < 0 and space.rules[0].window == 0 and first > 0:
            k = pick_forward(space, slab, first - first, units)
        if k >= 0:
            return k
    return pick_by_size(space, slab, units)


@njit
def take_units(space: Space, slab: int, units: int) -> int:
    """Allocate from one metaslab; return the start within it, or -1."""
    size = units * space.vdevs[space.slabs[slab].vdev].unit
    column = bucket(size & -size)
    k = pick_segment(space, slab, units, column)
    if k < 0:
        return -1
    start: int = space.segments[0, slab, k]
    end = space.segments[1, slab, k]
    space.columns[slab, 1, bucket(segment_bytes(space, slab, start, end))] -= 1
    count_segment(space, slab, start + units, end)
    space.segments[0, slab, k] = start + units
    if start + units == end:
        space.slabs[slab].empty += 1
        if space.slabs[slab].empty > 64:
            squeeze(space, slab)
    space.columns[slab, 0, column] = start + units
    space.slabs[slab].free -= units
    space.vdevs[space.slabs[slab].vdev].used += size
    space.slabs[slab].changed = 1
    return start


@njit
def fragmentation_of(space: Space, slab: int) -> int:
    """Return FRAG of one metaslab [%]: the mean of the table over its free space, weighted by bytes."""
    total = 0.0
    weighted = 0.0
    for k in range(space.slabs[slab].segments):
        start, end = space.segments[0, slab, k], space.segments[1, slab, k]
        if end > start:
            size = segment_bytes(space, slab, start, end)
            row = min(max(bucket(size) - 9, 0), FRAG_TABLE.size - 1)
            total += size
            weighted += float(size) * FRAG_TABLE[row]
    return int(weighted / total) if total > 0.0 else 0


@njit
def space_weight(space: Space, slab: int) -> int:
    """Return the weight by free space, outer tracks preferred (metaslab_space_weight)."""
    vdev = space.slabs[slab].vdev
    free = (space.slabs[slab].free + space.slabs[slab].pending) * space.vdevs[vdev].unit
    if space.rules[0].frag_factor and free > 0:
        frag = fragmentation_of(space, slab)
        free = max(free * (100 - (frag - 1)) // 100, 1)
    if space.rules[0].lba_weight:
        free = 2 * free - ((slab - space.vdevs[vdev].first) * free) // space.vdevs[vdev].count
    return free


@njit
def weight_now(space: Space, slab: int) -> int:
    """Return the weight of a metaslab from its present free segments."""
    if not space.rules[0].segment_weight:
        return space_weight(space, slab)
    top = top_bucket(space, slab)
    return 0 if top < 0 else (top << COUNT_BITS) + space.columns[slab, 1, top]


@njit
def passivate(space: Space, slab: int, weight: int) -> None:
    """Take a metaslab from its allocator."""
    role = space.slabs[slab].role
    if role in (PRIMARY, SECONDARY):
        space.owners[space.slabs[slab].owner, space.slabs[slab].vdev, role] = -1
    space.slabs[slab].role = NONE
    space.slabs[slab].owner = -1
    space.slabs[slab].active = -1
    space.slabs[slab].weight = weight


@njit
def activate(space: Space, slab: int, role: int, allocator: int) -> None:
    """Give a metaslab to an allocator."""
    if role != CLAIM:
        space.owners[allocator, space.slabs[slab].vdev, role] = slab
        space.slabs[slab].owner = allocator
    space.slabs[slab].role = role
    space.slabs[slab].active = space.slabs[slab].weight >> COUNT_BITS


@njit
def may_passivate(space: Space, slab: int) -> None:
    """Leave a metaslab whose largest segments have shrunk by the switch threshold since its activation."""
    if not space.rules[0].segment_weight or space.slabs[slab].role == NONE:
        return
    top = top_bucket(space, slab)
    if top > space.slabs[slab].active - SWITCH_THRESHOLD:
        return
    if space.rules[0].fill_empty and top >= 0:
        free = space.slabs[slab].free * space.vdevs[space.slabs[slab].vdev].unit
        most = free * 15 // 16
        if (1 << (top + 1)) > most and largest_segment(space, slab) > most:
            return
    passivate(space, slab, weight_now(space, slab))


@njit
def far_enough(space: Space, slab: int, copies: int, copy_slab: I64, distance: int) -> bool:
    """Tell whether a further copy may go here: not into (modern) or near (to 0.7) the others' metaslabs.

    `distance` is in thousandths of a metaslab.
    """
    for i in range(copies):
        if space.slabs[copy_slab[i]].vdev != space.slabs[slab].vdev:
            continue
        empty = space.slabs[slab].free == space.slabs[slab].units
        needed = distance + (distance >> 1 if empty and not space.rules[0].separate else 0)
        if abs(slab - copy_slab[i]) * 1000 < needed:
            return False
    return True


@njit
def rank(space: Space, slab: int) -> int:
    """Return the class a metaslab sorts in when one is looked for."""
    role = space.slabs[slab].role
    if space.rules[0].separate:
        return 0 if role == PRIMARY else (-1 if role == SECONDARY else 1)
    return role


@njit
def find_slab(
    space: Space, vdev: int, role: int, size: int, copies: int, copy_slab: I64, distance: int, serial: int
) -> int:
    """Return the best metaslab not tried yet for this block (find_valid_metaslab), -1 when there is none."""
    best = -1
    best_rank = -9
    best_weight = -1
    first = space.vdevs[vdev].first
    for slab in range(first, first + space.vdevs[vdev].count):
        if space.slabs[slab].tried == serial:
            continue
        level = rank(space, slab)
        weight = space.slabs[slab].weight + (CLAIM_BIT if space.slabs[slab].role == CLAIM else 0)
        if level < best_rank or (level == best_rank and weight <= best_weight):
            continue
        owned = space.rules[0].separate and space.slabs[slab].owner >= 0
        if role != PRIMARY and not owned and not far_enough(space, slab, copies, copy_slab, distance):
            continue
        if not holds(space, slab, size):
            continue
        best, best_rank, best_weight = slab, level, weight
    return best


@njit
def role_of_copy(space: Space, vdev: int, copies: int, copy_slab: I64) -> int:
    """Return the role of the metaslab wanted: the first copy on this vdev, the second, or a further one."""
    same = 0
    for i in range(copies):
        if space.slabs[copy_slab[i]].vdev == vdev:
            same += 1
    if same == 0:
        return PRIMARY
    return SECONDARY if same == 1 or not space.rules[0].separate else CLAIM


@njit
def current_slab(space: Space, vdev: int, role: int, allocator: int) -> int:
    """Return the allocator's active metaslab for this role, -1 when it has none."""
    if role == CLAIM or (role == SECONDARY and not space.rules[0].separate):
        return -1
    return int(space.owners[allocator, vdev, role])


@njit
def allocate_in_group(
    space: Space, vdev: int, units: int, copies: int, copy_slab: I64, allocator: int, distance: int
) -> tuple[int, int]:
    """Allocate on one top-level vdev; return (metaslab, start) or (-1, -1)."""
    size = units * space.vdevs[vdev].unit
    role = role_of_copy(space, vdev, copies, copy_slab)
    if space.vdevs[vdev].count < 3 * space.rules[0].allocators:
        allocator = 0
    space.rules[0].serial += 1
    serial = space.rules[0].serial
    while True:
        slab = current_slab(space, vdev, role, allocator)
        if slab < 0:
            slab = find_slab(space, vdev, role, size, copies, copy_slab, distance, serial)
        if slab < 0:
            return -1, -1
        held = space.slabs[slab].role
        steals = held == CLAIM if space.rules[0].separate else held == SECONDARY
        if steals and role == PRIMARY:
            passivate(space, slab, weight_now(space, slab))
            continue
        if held == NONE:
            activate(space, slab, role, allocator)
        start = take_units(space, slab, units) if holds(space, slab, size) else -1
        if start >= 0:
            may_passivate(space, slab)
            return slab, start
        passivate(space, slab, weight_now(space, slab))
        space.slabs[slab].tried = serial


@njit
def units_needed(space: Space, vdev: int, psize: int) -> int:
    """Return the units a block of `psize` bytes takes on a top-level vdev, parity and padding included.

    OpenZFS vdev_raidz.c:vdev_raidz_psize_to_asize, vdev_draid.c:vdev_draid_psize_to_asize.
    """
    sector = space.vdevs[vdev].sector
    sectors: int = (psize + sector - 1) // sector
    kind = space.vdevs[vdev].kind
    if kind == MIRROR:
        return sectors
    rows = (sectors + space.vdevs[vdev].data - 1) // space.vdevs[vdev].data
    if kind == DRAID:
        return rows
    parity = space.vdevs[vdev].parity
    return (sectors + parity * rows + parity) // (parity + 1)


@njit
def pool_space(space: Space) -> int:
    """Return the space of all metaslabs [bytes]."""
    total = 0
    for vdev in range(space.vdevs.size):
        total += space.vdevs[vdev].space
    return total


@njit
def pool_used(space: Space) -> int:
    """Return what is allocated, deferred frees included [bytes]."""
    total = 0
    for vdev in range(space.vdevs.size):
        total += space.vdevs[vdev].used
    return total


@njit
def changed_slabs(space: Space) -> int:
    """Return how many metaslabs this txg has changed."""
    count = 0
    for slab in range(space.slabs.size):
        count += space.slabs[slab].changed
    return count


@njit
def advance_rotor(space: Space, vdev: int, allocator: int, size: int) -> None:
    """Move to the next top-level vdev after the aliquot, biased to the emptier ones (metaslab_alloc_dva)."""
    vdevs = space.vdevs.size
    if space.allocators[allocator].used == 0:
        free = space.vdevs[vdev].space - space.vdevs[vdev].used
        total = pool_space(space) - pool_used(space)
        ratio = free * vdevs * 100 // (total + 1)
        space.vdevs[vdev].bias = (ratio - 100) * space.vdevs[vdev].aliquot // 100
    space.allocators[allocator].used += size
    if space.allocators[allocator].used >= space.vdevs[vdev].aliquot + space.vdevs[vdev].bias:
        space.allocators[allocator].rotor = (vdev + 1) % vdevs
        space.allocators[allocator].used = 0


@njit
def allocate_copy(
    space: Space, psize: int, copies: int, copy_slab: I64, copy_start: I64, allocator: int, distance: int
) -> bool:
    """Allocate the next copy of a block on some top-level vdev; False when none has room at this distance."""
    vdevs = space.vdevs.size
    first = space.allocators[allocator].rotor
    if copies > 0:
        first = (space.slabs[copy_slab[copies - 1]].vdev + 1) % vdevs
    for step in range(vdevs):
        vdev = (first + step) % vdevs
        units = units_needed(space, vdev, psize)
        apart = distance * space.vdevs[vdev].count if distance > 1 else distance
        slab, start = allocate_in_group(space, vdev, units, copies, copy_slab, allocator, apart)
        if slab >= 0:
            copy_slab[copies] = slab
            copy_start[copies] = start
            advance_rotor(space, vdev, allocator, units * space.vdevs[vdev].unit)
            return True
        space.allocators[allocator].rotor = (vdev + 1) % vdevs
        space.allocators[allocator].used = 0
    return False


@njit
def allocate_block(space: Space, psize: int, copies: int, copy_slab: I64, copy_start: I64, allocator: int) -> bool:
    """Allocate all copies of a block into `copy_slab`, `copy_start`; False when the pool has no room.

    To 0.7 copies on one vdev keep an eighth of it apart, then a sixteenth ...; later: different metaslabs.
    """
    for copy in range(copies):
        distance = space.rules[0].distance
        while not allocate_copy(space, psize, copy, copy_slab, copy_start, allocator, distance):
            if distance == 0:
                return False
            distance = distance // 2 if distance > 8 else 0
    return True


@njit
def log_free(space: Space, slab: int, start: int, units: int) -> None:
    """Note a freed range; it comes back `DEFER_TXGS` txgs after this one has synced."""
    head = space.rules[0].log_head
    space.log[head].slab = slab
    space.log[head].start = start
    space.log[head].units = units
    space.rules[0].log_head = (head + 1) % space.log.size
    space.slabs[slab].pending += units
    space.slabs[slab].changed = 1


@njit
def recount(space: Space, slab: int) -> None:
    """Rebuild the histogram of a metaslab."""
    space.columns[slab, 1, :] = 0
    for k in range(space.slabs[slab].segments):
        count_segment(space, slab, space.segments[0, slab, k], space.segments[1, slab, k])


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
def merge_free(space: Space, slab: int, keys: I64, low: int, high: int) -> None:
    """Return the freed ranges ``keys[low:high]``, sorted, to the free segments of a metaslab."""
    squeeze(space, slab)
    old = space.slabs[slab].segments
    starts = np.empty(old + high - low, dtype=np.int64)
    ends = np.empty(old + high - low, dtype=np.int64)
    count = old - old  # not a constant: numba would compile the callee twice
    k = 0
    for i in range(low, high):
        start = (keys[i] >> LENGTH_BITS) & ((1 << START_BITS) - 1)
        units = keys[i] & ((1 << LENGTH_BITS) - 1)
        while k < old and space.segments[0, slab, k] < start:
            count = append_range(starts, ends, count, space.segments[0, slab, k], space.segments[1, slab, k])
            k += 1
        count = append_range(starts, ends, count, start, start + units)
        space.slabs[slab].free += units
        space.slabs[slab].pending -= units
        vdev = space.slabs[slab].vdev
        space.vdevs[vdev].used -= units * space.vdevs[vdev].unit
    while k < old:
        count = append_range(starts, ends, count, space.segments[0, slab, k], space.segments[1, slab, k])
        k += 1
    space.segments[0, slab, :count] = starts[:count]
    space.segments[1, slab, :count] = ends[:count]
    space.slabs[slab].segments = count
    space.slabs[slab].changed = 1
    recount(space, slab)


@njit
def return_frees(space: Space, until: int) -> None:
    """Make the freed ranges up to ring position `until` usable."""
    size = space.log.size
    tail = space.rules[0].log_tail
    count = (until - tail) % size
    if count == 0:
        return
    keys = np.empty(count, dtype=np.int64)
    for i in range(count):
        at = (tail + i) % size
        keys[i] = (np.int64(space.log[at].slab) << (START_BITS + LENGTH_BITS)) | (
            np.int64(space.log[at].start) << LENGTH_BITS
        )
        keys[i] |= np.int64(space.log[at].units)
    keys.sort()
    low = count - count
    while low < count:
        slab = keys[low] >> (START_BITS + LENGTH_BITS)
        high = low
        while high < count and keys[high] >> (START_BITS + LENGTH_BITS) == slab:
            high += 1
        merge_free(space, slab, keys, low, high)
        low = high
    space.rules[0].log_tail = until


@njit
def stays_active(space: Space, slab: int) -> bool:
    """Tell whether an active metaslab survives the end of a txg as such."""
    if space.rules[0].segment_weight:
        return True
    sticky = space.rules[0].sticky
    if sticky == STICKY_FRAG:
        return fragmentation_of(space, slab) <= FRAG_ACTIVE_LIMIT
    if sticky == STICKY_UNTIL_FRAGMENTED:
        free = space.slabs[slab].free * 100 // space.slabs[slab].units
        return top_bucket(space, slab) >= 17 and free >= 4
    return False


@njit
def end_txg(space: Space, step: int) -> None:
    """Close a txg and the `step` - 1 idle ones behind it: deferred frees come back, weights are renewed."""
    rules = space.rules[0]
    for _ in range(step):
        return_frees(space, space.marks[(rules.txg + LOG_SLOTS - DEFER_TXGS) % LOG_SLOTS])
        space.marks[rules.txg % LOG_SLOTS] = rules.log_head
        rules.txg += 1
    for slab in range(space.slabs.size):
        if not space.slabs[slab].changed:
            continue
        space.slabs[slab].changed = 0
        weight = weight_now(space, slab)
        space.slabs[slab].weight = weight
        if space.slabs[slab].role != NONE and not stays_active(space, slab):
            passivate(space, slab, weight)


@njit
def weigh_all(space: Space) -> None:
    """Set the histograms and weights of new metaslabs."""
    for slab in range(space.slabs.size):
        recount(space, slab)
        space.slabs[slab].weight = weight_now(space, slab)
