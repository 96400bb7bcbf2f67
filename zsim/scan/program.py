"""The order of a scan as data: which metadata is read, which block is issued, when.

`traversal_program` turns a block table into the depth-first walk of `dsl_scan` (post-order: a block is
issued after its subtree); the orders of a sorted scan's issue phase are `zsim.scan.sorted`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import I16, I32, I64
from zsim.base.jit import njit
from zsim.pool.blocks import LEVEL_OBJSET, MAX_DVAS, BlockTable
from zsim.scan.items import NO_ITEM, ScanItems, joined_items
from zsim.scan.rewritten import comes_once
from zsim.vdevs.arrays import data_columns, first_on_vdev
from zsim.vdevs.dispatch import touched_blocks
from zsim.vdevs.kind import kind_of

# Codes of zsim.engine.compiled.memory; the scan room lies left of the engine and may not import it.
OP_ISSUE, OP_VISIT, OP_PREFETCH = 0, 1, 2
RANK_META_DNODE, RANK_OBJSET = 500, 1000
# TXG_DEFER_SIZE and one more (spa.c:spa_ld_select_uberblock).
VERIFIED_TXGS = 3


@dataclass(frozen=True, slots=True)
class DamagedVdev:
    """What the scan has to know of one top-level vdev.

    Attributes
    ----------
    kind : str
        Of `zsim.vdevs.kinds`.
    children, parity, ashift : int
    damaged : tuple of int
        Children to be repaired; empty for a healthy vdev.
    data, spares : int
        Data columns of a group and distributed spares, where the kind has them.
    grown : int
        Drives that were added to a RAID-Z later.
    """

    kind: str
    children: int
    parity: int
    ashift: int
    damaged: tuple[int, ...] = ()
    data: int = 0
    spares: int = 0
    grown: int = 0


@dataclass(frozen=True, slots=True)
class Program:
    """A sequence of scan operations.

    Attributes
    ----------
    code : ndarray of int64, shape (n,)
        OP_ISSUE, OP_VISIT or OP_PREFETCH.
    item : ndarray of int64, shape (n,)
    """

    code: NDArray[np.int64]
    item: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.code)

    def part(self, rows: NDArray[np.int64] | NDArray[np.bool_] | slice) -> Program:
        """Return some of the operations, as an index of numpy names them."""
        return Program(self.code[rows], self.item[rows])


def issuing(item: NDArray[np.int64]) -> Program:
    """Return the program that issues items in the order given."""
    return Program(np.broadcast_to(np.int64(OP_ISSUE), len(item)), item)


def is_traversed(blocks: BlockTable) -> NDArray[np.bool_]:
    """Tell which blocks the traversal itself reads: indirect blocks, objset roots, dnode blocks."""
    dnodes = (blocks.object == 0) & (blocks.level == 0)
    result: NDArray[np.bool_] = (blocks.level != 0) | dnodes
    return result


def held_in_memory(blocks: BlockTable, *, imported: bool = False, part: bool = False) -> NDArray[np.bool_]:
    """Tell which traversed blocks are in the ARC when the scan starts.

    Parameters
    ----------
    blocks : BlockTable
    imported : bool
        Whether the pool was imported just before: then those of the MOS, the roots of file systems, and what
        was born in the last txgs, which the import has verified (spa.c:spa_load_verify, spa_verify_min_txg;
        dmu_traverse.c:traverse_impl; so it is in all runs of real OpenZFS with a cold cache).  In a pool in
        use, those of the MOS, and of every file system the root, the indirect blocks of its meta-dnode and
        the first dnode block (its master node); of snapshots none, as nobody mounts them.
    part : bool
        Whether they stand for a part of a pool: then all that `comes_once`, which is not to be waited for.
    """
    once = comes_once(blocks)
    opened = blocks.level == LEVEL_OBJSET if imported else once
    result: NDArray[np.bool_] = (blocks.objset == 0) | (opened & ~of_snapshots(blocks))
    if part:
        result |= once
    if imported:
        result |= blocks.birth > blocks.birth.max(initial=0) - VERIFIED_TXGS
    return result & is_traversed(blocks)


def of_snapshots(blocks: BlockTable) -> NDArray[np.bool_]:
    """Tell which blocks belong to snapshots, as far as a list of blocks tells.

    A snapshot has a later number than its file system, of which only blocks are listed that were born after
    the root of the snapshot.  Where roots are left out, as in miniatures, there is none.
    """
    roots = np.flatnonzero((blocks.level == LEVEL_OBJSET) & (blocks.objset > 0))
    if len(roots) < 2:
        return np.zeros(len(blocks), np.bool_)
    roots = roots[np.argsort(blocks.objset[roots], kind="stable")]
    objsets = blocks.objset[roots]
    place = np.minimum(np.searchsorted(objsets, blocks.objset), len(roots) - 1)
    listed = objsets[place] == blocks.objset
    oldest = np.full(len(roots), np.iinfo(np.int64).max)
    np.minimum.at(oldest, place[listed], blocks.birth[listed])
    before = np.concatenate(([-1], np.maximum.accumulate(oldest)[:-1]))
    result: NDArray[np.bool_] = listed & (before > blocks.birth[roots])[place]
    return result


def needs_io(blocks: BlockTable, vdevs: tuple[DamagedVdev, ...], *, column_test: bool) -> NDArray[np.bool_]:
    """Tell which blocks a resilver has to read (OpenZFS dsl_scan.c:dsl_scan_need_resilver).

    Parameters
    ----------
    blocks : BlockTable
    vdevs : tuple of DamagedVdev
        Top-level vdevs by number.
    column_test : bool
        Whether RAID-Z blocks that do not touch a damaged child are skipped (0.7.0 and later).
    """
    result = np.zeros(len(blocks), dtype=bool)
    for number, vdev in enumerate(vdevs):
        if not vdev.damaged:
            continue
        # By flat index: numpy takes pairs of indices several times as slowly.
        place = np.flatnonzero(blocks.dva_vdev.ravel() == number)
        row = place // MAX_DVAS
        if kind_of(vdev.kind).skips_blocks(column_test):
            row = row[touched(blocks.dva_offset.ravel().take(place), blocks.psize.take(row), vdev)]
        result[row] = True
    return result


def touched(offsets: NDArray[np.int64], psizes: NDArray[np.int64], vdev: DamagedVdev) -> NDArray[np.bool_]:
    """Tell of which blocks the damaged children may hold a part; see each kind's `Kernels.needs_child`."""
    return touched_blocks(vdev, vdev.ashift, vdev.damaged, offsets, psizes)


def preferred_copy(
    vdev: NDArray[np.int32], count: NDArray[np.int16], chance: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return which of its DVAs a scan reads of each block.

    A random one, but of several on one top-level vdev the first (OpenZFS vdev_mirror.c:vdev_mirror_map_init;
    see `zsim.vdevs.arrays.first_on_vdev`).

    Parameters
    ----------
    vdev : ndarray of int32, shape (n, 3)
        Top-level vdev of each DVA, in the order in which the scan holds them.
    count : ndarray of int16, shape (n,)
        DVAs of each block.
    chance : ndarray of float64, shape (n,)
        A random number of each, 0 to 1.
    """
    return first_on_vdev(vdev, (chance * count).astype(np.int64))


def _ranks(objects: NDArray[np.int64], levels: NDArray[np.int16]) -> NDArray[np.int64]:
    """Return how high each block stands in the tree: a block is below the next that stands higher."""
    ranks = levels.astype(np.int64)
    ranks[objects == 0] += RANK_META_DNODE
    ranks[levels == LEVEL_OBJSET] = RANK_OBJSET
    return ranks


def metadata_tree(
    ranks: NDArray[np.int64], traversed: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the tree of metadata of a population in the order of its traversal.

    Parameters
    ----------
    ranks : ndarray of int64, shape (n,)
        How high each block stands: it is a child of the last one before it that stands higher.
    traversed : ndarray of bool, shape (n,)
        Whether the scan goes through the block.

    Returns
    -------
    first, following, parents : ndarray of int64, shape (n,)
        First traversed child, next traversed sibling, and parent of every row; -1: none.

    Examples
    --------
    >>> first, following, parents = metadata_tree(np.array([2, 1, 1]), np.array([True, True, True]))
    >>> first.tolist(), following.tolist(), parents.tolist()
    ([1, -1, -1], [-1, 2, -1], [-1, 0, 0])
    """
    count = len(ranks)
    first, following, parents, last_child = (np.full(count, -1, np.int64) for _ in range(4))
    _grow_tree(ranks, traversed, first, following, parents, last_child, np.empty(count + 1, np.int64))
    return first, following, parents


@njit
def _grow_tree(
    ranks: NDArray[np.int64],
    traversed: NDArray[np.bool_],
    first: NDArray[np.int64],
    following: NDArray[np.int64],
    parents: NDArray[np.int64],
    last_child: NDArray[np.int64],
    stack: NDArray[np.int64],
) -> None:
    """Write down the tree; all but the first two arguments are filled."""
    depth = 0
    for row in range(len(ranks)):
        while depth > 0 and ranks[stack[depth - 1]] <= ranks[row]:
            depth -= 1
        parents[row] = stack[depth - 1] if depth > 0 else -1
        if not traversed[row]:
            continue
        if depth > 0:
            parent = stack[depth - 1]
            if last_child[parent] < 0:
                first[parent] = row
            else:
                following[last_child[parent]] = row
            last_child[parent] = row
        stack[depth] = row
        depth += 1


def metadata_above(blocks: BlockTable) -> NDArray[np.int64]:
    """Return the metadata block above each block, by which it is found; -1: none.

    Returns
    -------
    ndarray of int64, shape (blocks,)
        Rows of indirect blocks, of the dnode block above them, of what is above that in its meta-dnode.
    """
    return metadata_tree(_ranks(blocks.object, blocks.level), is_traversed(blocks))[2]


def wanted_above(parents: NDArray[np.int64], wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the nearest block above each that needs I/O, where a traversal goes back to.

    Parameters
    ----------
    parents : ndarray of int64, shape (n,)
        As `metadata_tree` gives them; parents stand before their children.
    wanted : ndarray of bool, shape (n,)
        Whether a block needs I/O.

    Returns
    -------
    ndarray of int64, shape (n,)
        -1: none.

    Examples
    --------
    >>> wanted_above(np.array([-1, 0, 1]), np.array([True, False, True])).tolist()
    [-1, 0, 0]
    """
    above = np.empty(len(parents), np.int64)
    _look_up(parents, wanted, above)
    return above


@njit
def _look_up(parents: NDArray[np.int64], wanted: NDArray[np.bool_], above: NDArray[np.int64]) -> None:
    for row in range(len(parents)):
        parent = parents[row]
        above[row] = parent if parent < 0 or wanted[parent] else above[parent]


@njit
def _walk(
    ranks: NDArray[np.int64],
    traversed: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
    first: NDArray[np.int64],
    following: NDArray[np.int64],
    prefetch: bool,
    stack: NDArray[np.int64],
    code: NDArray[np.int64],
    item: NDArray[np.int64],
) -> int:
    """Write down the walk; return how many operations it has."""
    count, depth, length = len(ranks), 0, 0
    for row in range(count + 1):
        while depth > 0 and (row == count or ranks[stack[depth - 1]] <= ranks[row]):
            depth -= 1
            if wanted[stack[depth]]:
                code[length], item[length] = OP_ISSUE, stack[depth]
                length += 1
        if row == count:
            break
        if not traversed[row]:
            if wanted[row]:
                code[length], item[length] = OP_ISSUE, row
                length += 1
            continue
        code[length], item[length] = OP_VISIT, row
        length += 1
        child = first[row] if prefetch else -1
        while child >= 0:
            code[length], item[length] = OP_PREFETCH, child
            length += 1
            child = following[child]
        stack[depth] = row
        depth += 1
    return length


class HeldDvas(NamedTuple):
    """DVAs of blocks: top-level vdev, offset and data columns of each."""

    vdev: NDArray[np.int32]
    offset: NDArray[np.int64]
    columns: NDArray[np.int16]

    def at(self, *index: NDArray[np.int64]) -> HeldDvas:
        """Return those at an index."""
        return HeldDvas(self.vdev[index], self.offset[index], self.columns[index])

    def take(self, place: NDArray[np.int64]) -> HeldDvas:
        """Return those at places counted through all rows; numpy takes pairs several times as slowly."""
        return HeldDvas(
            self.vdev.ravel().take(place), self.offset.ravel().take(place), self.columns.ravel().take(place)
        )


def held_by(blocks: BlockTable, vdevs: tuple[DamagedVdev, ...]) -> HeldDvas:
    """Return the DVAs of blocks, shape (n, 3)."""
    return HeldDvas(blocks.dva_vdev, blocks.dva_offset, columns_of(blocks, vdevs))


def columns_of(blocks: BlockTable, vdevs: tuple[DamagedVdev, ...]) -> NDArray[np.int16]:
    """Return the data columns of each copy of each block.

    Returns
    -------
    ndarray of int16, shape (n, 3)
        0: as of new blocks, which all are but those of a RAID-Z that was expanded.
    """
    result = np.zeros((len(blocks), MAX_DVAS), np.int16)
    for number, vdev in enumerate(vdevs):
        if not kind_of(vdev.kind).has_widths:
            continue
        for copy in range(MAX_DVAS):
            rows = np.flatnonzero(blocks.dva_vdev[:, copy] == number)
            asize, birth = blocks.dva_asize[rows, copy], blocks.birth[rows]
            result[rows, copy] = data_columns(vdev, blocks.psize[rows], asize, birth, vdev.ashift)
    return result


def scan_items(
    blocks: BlockTable,
    *,
    seed: int,
    wanted: NDArray[np.bool_] | None = None,
    vdevs: tuple[DamagedVdev, ...] = (),
    imported: bool = False,
    part: bool = False,
) -> ScanItems:
    """Return the scan items of a block table, one a block in table order.

    Parameters
    ----------
    blocks : BlockTable
    seed : int
        Of the copies read.
    wanted : ndarray of bool, shape (n,), optional
        Blocks that need I/O; with them the items know the way up (`ScanItems.unwind`).
    vdevs : tuple of DamagedVdev, optional
        Top-level vdevs by number, where blocks of several widths may lie on one.
    imported, part : bool
        As in `held_in_memory`.
    """
    traversed, held = is_traversed(blocks), held_by(blocks, vdevs)
    several = np.flatnonzero(blocks.dva_count > 1)
    own = HeldDvas(held.vdev[:, 0], held.offset[:, 0], held.columns[:, 0])
    first, following, parents = metadata_tree(_ranks(blocks.object, blocks.level), traversed)
    chance = read_chances(seed, len(blocks))[several]
    return ScanItems(
        **_places(own, several, held.at(several), blocks.dva_count, chance),
        psize=blocks.psize,
        level0=(blocks.level == 0),
        prefetch_first=first,
        prefetch_next=following,
        in_memory=held_in_memory(blocks, imported=imported, part=part),
        unwind=None if wanted is None else wanted_above(parents, wanted),
    )


class Places(TypedDict):
    """Where blocks are read, and where their other copies are; see `ScanItems`."""

    vdev: I32 | I64
    offset: I64
    columns: I16
    copies: I32 | I64
    copy_count: I32 | I64
    copy_vdev: I64
    copy_offset: I64
    copy_columns: I16


def read_chances(seed: int, count: int) -> NDArray[np.float64]:
    """Return the random numbers by which a scan chooses the copy it reads, one of each block or entry."""
    return np.random.Generator(np.random.Philox(key=seed)).random(count)


def _places(
    first: HeldDvas,
    several: NDArray[np.int64],
    held: HeldDvas,
    dvas: NDArray[np.int16],
    chance: NDArray[np.float64],
) -> Places:
    """Return where each block is read, and where its other copies are.

    Parameters
    ----------
    first : HeldDvas, shape (n,)
        The DVA that the scan holds first of each block.
    several : ndarray of int64, shape (m,)
        Blocks with more than one, which are few.
    held : HeldDvas, shape (m, 3)
        All DVAs of these, in the order in which the scan holds them.
    dvas : ndarray of int16, shape (n,)
        How many each block has.
    chance : ndarray of float64, shape (m,)
        See `preferred_copy`.
    """
    vdev, offset, columns = first.vdev.astype(np.int32), first.offset.copy(), first.columns.copy()
    count, place = np.maximum(dvas.astype(np.int32) - 1, 0), np.arange(MAX_DVAS)[None, :]
    chosen = preferred_copy(held.vdev, dvas[several], chance)
    vdev[several], offset[several], columns[several] = held.at(np.arange(len(several)), chosen)
    others = (place < dvas[several, None]) & (place != chosen[:, None])
    return {
        "vdev": vdev,
        "offset": offset,
        "columns": columns,
        "copies": np.cumsum(count, dtype=np.int32) - count,
        "copy_count": count,
        "copy_vdev": held.vdev[others].astype(np.int64),
        "copy_offset": held.offset[others],
        "copy_columns": held.columns[others],
    }


def with_entries(
    items: ScanItems,
    blocks: BlockTable,
    rows: NDArray[np.int64],
    copy: NDArray[np.int64],
    *,
    chance: NDArray[np.float64],
    scrub: bool,
    vdevs: tuple[DamagedVdev, ...] = (),
    elsewhere: BlockTable | None = None,
) -> ScanItems:
    """Return the items with one more for each entry of the sorted scan's queues.

    Parameters
    ----------
    items : ScanItems
        One a block.
    blocks : BlockTable
    rows, copy : ndarray of int64, shape (m,)
        Block of each entry, and which of its DVAs the entry stands for.
    chance : ndarray of float64, shape (m,)
        See `preferred_copy`.
    scrub : bool
        A scrub reads that DVA and nothing else; a resilver holds all DVAs, that one first, and repairs the
        others from the one it reads (OpenZFS dsl_scan.c:bp2sio).
    vdevs : tuple of DamagedVdev, optional
        As in `scan_items`.
    elsewhere : BlockTable, optional
        The same blocks where the other copies of an entry are repaired, if these are at other places.
    """
    count, held = blocks.dva_count[rows], held_by(blocks, vdevs)
    several = np.flatnonzero(count > 1)[: 0 if scrub else None]
    turned = (np.arange(MAX_DVAS) + copy[several, None]) % count[several, None]
    own = held.take(MAX_DVAS * rows + copy)
    all_of = (held if elsewhere is None else held_by(elsewhere, vdevs)).take(
        MAX_DVAS * rows[several, None] + turned
    )
    all_of.offset[:, 0] = own.offset[several]
    places = _places(own, several, all_of, np.ones_like(count) if scrub else count, chance[several])
    del held, own, all_of, count  # of half a million blocks some 20 MB, while a second table of items is made
    nowhere = np.broadcast_to(np.int64(NO_ITEM), len(rows))
    new = ScanItems(
        **places,
        psize=items.psize[rows],
        level0=items.level0[rows],
        prefetch_first=nowhere,
        prefetch_next=nowhere,
        in_memory=np.broadcast_to(np.False_, len(rows)),
        unwind=None if items.unwind is None else nowhere,
    )
    del places
    return joined_items(items, new)


def traversal_program(
    blocks: BlockTable, items: ScanItems, wanted: NDArray[np.bool_], *, prefetch: bool
) -> Program:
    """Return the walk of the legacy scan (or of the metadata phase, with nothing `wanted`).

    Parameters
    ----------
    blocks : BlockTable
        In traversal order.
    items : ScanItems
        Of the same blocks.
    wanted : ndarray of bool, shape (n,)
        Blocks that need I/O.
    prefetch : bool
        Whether a block's metadata children are prefetched when it is visited (releases to 0.7).

    Notes
    -----
    Source: OpenZFS 0.6.5 to 2.4 dsl_scan.c:dsl_scan_visitbp, dsl_scan_recurse: depth first, the callback of
    a block after its subtree.
    """
    ranks, tree = _ranks(blocks.object, blocks.level), (items.prefetch_first, items.prefetch_next)
    code, item = (np.empty(3 * len(ranks), np.int64) for _ in range(2))
    stack = np.empty(len(ranks) + 1, np.int64)
    length = _walk(ranks, is_traversed(blocks), wanted, *tree, prefetch, stack, code, item)
    # A part of an array keeps the whole of it, three times as much.
    return Program(code[:length].copy(), item[:length].copy())
