"""Where writes go: the MOS blocks of a txg, a writer's data, the intent log.

In a pool that was imported lately, an allocator takes the metaslab with the best weight as its primary one
and the next as its secondary one; its cursor in a metaslab starts at the beginning after an import, so the
first free block there comes first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from zsim.base.jit import njit
from zsim.engine.model import PlaneModel
from zsim.operation.txg import asize_of, vdev_asize
from zsim.pool.blocks import BlockTable
from zsim.scan.items import ScanItems
from zsim.scan.rebuild import Chunks, allocated_ranges, with_chunks
from zsim.scenario.releases.profile import ReleaseProfile
from zsim.vdevs.kind import LOG, NORMAL, SPECIAL

Cursor = tuple[int, int]
Integers = NDArray[np.int64]
# An allocator of several has its own metaslabs only if there are three for each.
METASLABS_PER_ALLOCATOR = 3
ALLOCATORS = 4
COPIES = 3
# Copies at most so far apart are taken to be of one allocator's metaslab [bytes].
ALLOCATION_REGION = 16 << 20
# The log goes round in so many blocks a top-level vdev.
LOG_BLOCKS = 1024


def best_places(blocks: BlockTable, number: int, asize: int, metaslab_bytes: int) -> NDArray[np.int64]:
    """Return the first free address of every metaslab of a top-level vdev, the best metaslab first.

    Notes
    -----
    The weight is the power of two of the largest free segment, then how many there are of it; of equals the
    first metaslab is taken (OpenZFS metaslab.c:metaslab_segment_weight, metaslab_compare, 0.7 and later).
    """
    count = asize // metaslab_bytes
    first, largest, of_it = np.full((3, count), -1, np.int64)
    _weigh(*allocated_ranges(blocks, number), metaslab_bytes, first, largest, of_it)
    (slab,) = np.nonzero(first >= 0)
    return first[slab[np.lexsort((slab, -of_it[slab], -largest[slab]))]]


@njit
def _weigh(
    begin: Integers, end: Integers, metaslab_bytes: int, first: Integers, largest: Integers, of_it: Integers
) -> None:
    """Write down of each metaslab where it is free first, its largest power of two free, and how many of it.

    The ranges are those that are allocated; all columns of a metaslab without free space stay -1.
    """
    low, last = 0, len(first) * metaslab_bytes
    for row in range(len(begin) + 1):
        high = min(last, begin[row]) if row < len(begin) else last
        while low < high:
            slab = low // metaslab_bytes
            stop = min(high, (slab + 1) * metaslab_bytes)
            if first[slab] < 0:
                first[slab] = low
            power = 0
            while 2 << power <= stop - low:
                power += 1
            if power > largest[slab]:
                largest[slab], of_it[slab] = power, 0
            if power == largest[slab]:
                of_it[slab] += 1
            low = stop
        if row < len(begin):
            low = max(low, end[row])


def metadata_vdevs(model: PlaneModel) -> list[int]:
    """Return the top-level vdevs that metadata goes to.

    Returns
    -------
    list of int
        Those of the special class, else those of the normal one (OpenZFS spa_misc.c:spa_preferred_class).
    """
    special = [number for number, vdev in enumerate(model.vdevs) if vdev.alloc_class == SPECIAL]
    return special or [number for number, vdev in enumerate(model.vdevs) if vdev.alloc_class == NORMAL]


def owners(metaslabs: int, *, each_third: bool) -> int:
    """Return how many allocators have metaslabs of their own on a vdev, out of `ALLOCATORS`.

    Parameters
    ----------
    metaslabs : int
    each_third : bool
        One for each three metaslabs (metaslab.c:metaslab_group_alloc, 2.4), else all or one
        (metaslab_group_alloc_normal, to 2.3).
    """
    if each_third:
        return max(1, min(ALLOCATORS, metaslabs // METASLABS_PER_ALLOCATOR))
    return 1 if metaslabs < METASLABS_PER_ALLOCATOR * ALLOCATORS else ALLOCATORS


def allocator_rank(own: int, allocator: int, role: int, roles: int) -> int:
    """Return the rank of the metaslab that an allocator has on a top-level vdev, the best being 0.

    Parameters
    ----------
    own : int
        Allocators that have metaslabs of their own there; the others share the first one's.
    allocator : int
    role : int
        Number of the copy among those on this vdev: primary, secondary, or a third.
    roles : int
        Copies of a block that this vdev holds.

    Notes
    -----
    Each takes the best that is nobody's when it needs one first.  The third copies of all go to the best that
    is left (seen in 2.3.9).
    """
    each = min(roles, 2)
    number = allocator if allocator < own else 0
    return each * own if role >= 2 else each * number + role


def imported_cursors(
    blocks: BlockTable, model: PlaneModel, shifts: Sequence[int], *, each_third: bool = False
) -> list[list[Cursor]]:
    """Return where each allocator's next blocks go, one (vdev, offset) a copy.

    Parameters
    ----------
    blocks : BlockTable
        All that is allocated.
    model : PlaneModel
    shifts : sequence of int
        Metaslab size of each top-level vdev [log2(bytes)]; copies go to one vdev of the class after the
        other (metaslab.c:metaslab_alloc_dva).
    each_third : bool
        See `owners`.
    """
    numbers = metadata_vdevs(model)
    places = [
        best_places(blocks, number, vdev_asize(model, model.vdevs[number]), 1 << shifts[number])
        for number in numbers
    ]
    if min(len(each) for each in places) == 0:
        return []
    own = [owners(len(each), each_third=each_third) for each in places]

    def cursor(allocator: int, copy: int) -> Cursor:
        role, turn = divmod(copy, len(numbers))
        roles = len(range(turn, COPIES, len(numbers)))
        rank = allocator_rank(own[turn], allocator, role, roles)
        return numbers[turn], int(places[turn][min(rank, len(places[turn]) - 1)])

    several = 1 if max(own) == 1 else ALLOCATORS
    return [[cursor(allocator, copy) for copy in range(COPIES)] for allocator in range(several)]


def mos_cursors(blocks: BlockTable) -> list[list[tuple[int, int]]]:
    """Return where the youngest MOS blocks have their copies, by allocator: the next ones go nearby.

    Blocks whose first copies lie together came from one allocator; the one with the objset's root comes
    first, and a block all by itself tells nothing.
    """
    mos = np.flatnonzero(blocks.objset == 0)
    if len(mos) == 0:
        return [[(0, 0)]]
    youngest = mos[blocks.birth[mos] == blocks.birth[mos].max()]
    groups: dict[tuple[int, int], list[list[tuple[int, int]]]] = {}
    for row in youngest:
        count = int(blocks.dva_count[row])
        places = [
            (int(blocks.dva_vdev[row, copy]), int(blocks.dva_offset[row, copy])) for copy in range(count)
        ]
        groups.setdefault((places[0][0], places[0][1] // ALLOCATION_REGION), []).append(places)
    main, *others = groups.values()
    return [main[0], *(group[0] for group in others if len(group) > 1)]


def data_cursors(blocks: BlockTable, model: PlaneModel) -> list[Cursor]:
    """Return where the next data of a writer go, on each top-level vdev of the normal class.

    Returns
    -------
    list of (vdev, offset)
        Behind the youngest block of data there [bytes], 0 where there is none; first the vdev that has the
        youngest of all.
    """
    first, is_data = blocks.dva_vdev[:, 0], ~blocks.is_metadata
    found: list[tuple[int, Cursor]] = []
    for number, vdev in enumerate(model.vdevs):
        data = np.flatnonzero(is_data & (first == number))
        if vdev.alloc_class == NORMAL and len(data):
            row = data[np.argmax(blocks.birth[data])]
            end = int(blocks.dva_offset[row, 0] + blocks.dva_asize[row, 0])
            found.append((int(blocks.birth[row]), (number, end)))
        elif vdev.alloc_class == NORMAL:
            found.append((-1, (number, 0)))
    begin = max(range(len(found)), key=lambda place: found[place][0], default=0)
    return [cursor for _, cursor in found[begin:] + found[:begin]] or [(0, 0)]


def log_places(model: PlaneModel, release: ReleaseProfile) -> list[tuple[int, int]]:
    """Return where the intent log lies, vdev and offset: on the log vdevs, or else on each vdev for data.

    From 2.1 a metaslab is set aside for it (vdev.c:vdev_metaslab_init); taken to be in the middle.  From 2.4
    special vdevs come before those for data (zio.c:zio_alloc_zil).
    """
    classes = {vdev.alloc_class for vdev in model.vdevs}
    on_special = SPECIAL in classes and "zil_special_is_slog" in release.tunables
    holds = LOG if LOG in classes else SPECIAL if on_special else NORMAL
    places = []
    for number, vdev in enumerate(model.vdevs):
        if vdev.alloc_class == holds:
            unit = max(1, asize_of(vdev, 1 << vdev.ashift))
            places.append((number, vdev_asize(model, vdev) // 2 // unit * unit))
    return places


def with_log(
    model: PlaneModel, release: ReleaseProfile, log_bytes: int, items: ScanItems
) -> tuple[ScanItems, NDArray[np.int64]]:
    """Return items with those of the intent log behind them, and which these are; none if no client writes.

    The blocks of the log lie one behind the other, on each top-level vdev that has one.

    Parameters
    ----------
    model : PlaneModel
    release : ReleaseProfile
    log_bytes : int
        Size of a block of the log [bytes].
    items : ScanItems
    """
    first = len(items)
    if any(group.kind == "sync-write" for group in model.clients):
        for number, offset in log_places(model, release):
            vdev = model.vdevs[number]
            size = -(-log_bytes >> vdev.ashift) << vdev.ashift
            places = offset + asize_of(vdev, size) * np.arange(LOG_BLOCKS, dtype=np.int64)
            chunks = Chunks(places, np.full(LOG_BLOCKS, size, np.int64), np.zeros(LOG_BLOCKS, np.int64))
            items = with_chunks(items, chunks, number)
    rows = np.arange(first, len(items)).reshape(-1, LOG_BLOCKS)
    return items, rows.T.ravel().astype(np.int64)
