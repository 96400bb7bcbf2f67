"""The population of one world: a miniature of its pool, prepared for the scan."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from zsim.base.constants import constant, whole_constant
from zsim.base.errors import InputError
from zsim.base.units import format_both, format_fraction
from zsim.case.case import Case
from zsim.case.facts import BlockList
from zsim.case.known import different_alloc
from zsim.case.population import window_vdevs
from zsim.pool.blocks import BlockTable
from zsim.pool.measured.block_list import Order, chosen_vdevs, sample_blocks
from zsim.pool.measured.free_space import placed_by
from zsim.pool.miniature.ageing import MAX_ROUNDS, AgedPool, aged_pool
from zsim.pool.miniature.by_birth import spread_by_birth, spread_by_metaslab
from zsim.pool.miniature.census import thinned
from zsim.pool.miniature.gathering import gathered
from zsim.pool.miniature.shape import MAX_VDEVS, MiniatureSize
from zsim.pool.miniature.shape import Miniature as PoolMiniature
from zsim.pool.miniature.spreading import spread
from zsim.pool.recipes.histories import History
from zsim.pool.recipes.recipe import Growth, TopLevel
from zsim.pool.simulator.files import expansion
from zsim.pool.simulator.population import HistoryError
from zsim.prediction.groups import degraded_share, with_degraded_groups
from zsim.prediction.inputs.asked import on_all_vdevs
from zsim.prediction.inputs.room import make_room
from zsim.prediction.inputs.unlike import vdevs_apart
from zsim.scenario.releases.profile import COPIES
from zsim.vdevs.kind import NORMAL, kind_of

Laid = TypeVar("Laid")
BLOCKS = whole_constant("population.blocks")
TILE_BLOCKS, POPULATIONS, WHOLE_BLOCKS = (
    whole_constant("work.tile_blocks"),
    whole_constant("work.tile_populations"),
    whole_constant("exact.whole_blocks"),
)
"""Of the largest tile of a sample, how many such have the blocks of an exact run's populations, and blocks of
a pool that is run as it is."""
COUNTED = constant("work.counted")
"""So many times more or fewer blocks than counted on a small population a pool may have."""
MOST_REWRITTEN = constant("population.most_rewritten")
SLABS = whole_constant("population.slabs")
"""Metaslabs of the miniature, at most: with fewer, those that the allocators have active are too large a
share of them; with more they are so small that runs are short (records of 16K, overwritten: 3.5 blocks in
metaslabs of 4 MB, 3.9 of 8, 4.3 of 32, 4.7 of 256)."""
SORTED_FILES, LEGACY_FILES = (
    whole_constant("population.sorted_files"),
    whole_constant("population.legacy_files"),
)
"""A file is at most one part in so many of what is stored: in the order of the traversal each one begins with
jumps, which a few large files have as seldom as those of the pool; by address that is no matter."""
SORTED_HEAPS, LEGACY_HEAPS, BUSY_HEAPS = (
    whole_constant("population.sorted_heaps"),
    whole_constant("population.legacy_heaps"),
    whole_constant("population.busy_heaps"),
)
"""In so many places the metaslabs lie, at least: a scan by address makes a long seek to each; one by birth
goes from any to any other; and by address in so many where clients read beside the scan."""
TXGS_TOGETHER = whole_constant("population.txgs_together")
"""Written one after the other and in one place: within a txg a scan jumps about, but not far."""
LESS_FULL = constant("population.less_full")
TRIES = whole_constant("population.tries")
REPAIRED_BYTES, MOST_BLOCKS = (
    whole_constant("population.repaired_bytes"),
    whole_constant("population.most_blocks"),
)
"""On a special vdev that is repaired, at least; and blocks of the pool laid out for that, at most."""
REPAIRED_SORTED = whole_constant("population.repaired_sorted")
"""Metadata on a special vdev that is repaired, at least; in a sorted resilver, without what is too much of it
in a small population."""
BYTES_OF_BLOCK, MOST_MORE = constant("population.bytes_of_block"), constant("population.most_more")
"""On each drive for each block asked for, at least; and how many times the blocks asked for, at most."""
MOST_LARGER, MOST_CHILDREN = (
    whole_constant("population.most_larger"),
    whole_constant("population.most_children"),
)
"""Blocks, and blocks times the drives of the first vdev, where there are to be more than are asked for."""
WINDOWS = constant("population.windows")
"""Of a scan of a dRAID, so many in what it issues at least."""


class NoRoomError(InputError):
    """A history finds no room in a small population, however much less of it is asked for.

    Attributes
    ----------
    written : int
        Blocks that were written in vain.
    """

    written: int = 0


@dataclass(frozen=True, slots=True)
class WorldPopulation:
    """A population to simulate.

    Attributes
    ----------
    table : BlockTable
        DVA offsets lie in the real pool's address space.
    scale : float
        Bytes of the real pool that one byte of the miniature stands for, on each top-level vdev of it.
    walked : float
        Top-level vdevs of the real pool that each of the miniature's stands for in the metadata phase.
    damaged : TopLevel
        The first top-level vdev, with the metaslabs of the miniature.
    centred : bool
        Whether its blocks lie in the middle of the places they stand for.
    visited : BlockTable, optional
        The blocks where the metadata phase of a sorted scan finds them: at distances as in the real pool.
    levels : mapping of int to TopLevel
        The top-level vdevs of a miniature, by their numbers in the layout.
    written : int
        Blocks that were written to lay it out, those that are gone and those of other tries among them.
    asked : BlockTable, optional
        What clients read, where they find it: anywhere, while a scan is in few places at a time, and on all
        data vdevs, also on those that the population has nothing on.
    note : str
        In what the miniature is not what was asked for; empty if it is.
    """

    table: BlockTable
    scale: float
    walked: float
    damaged: TopLevel
    note: str = ""
    centred: bool = False
    visited: BlockTable | None = None
    levels: Mapping[int, TopLevel] = field(default_factory=dict)
    written: int = 0
    asked: BlockTable | None = None

    def collected(self, operation: str) -> float:
        """Return of how many vdevs like each simulated one an operation collects blocks: a scrub of all."""
        return self.walked if operation == "scrub" else 1.0

    @property
    def pool_blocks(self) -> float:
        """How many blocks the real pool has."""
        return self.scale * len(self.table) * self.walked


def laid_out_whole(
    first: Laid,
    pool_blocks: float,
    most: int,
    lay_out: Callable[[int], Laid],
    is_whole: Callable[[Laid], bool],
) -> Laid | None:
    """Return the whole pool, block by block; None where it has more than `most` blocks.

    Parameters
    ----------
    first : object
        A population of the pool.
    pool_blocks : float
        Blocks of the pool, as counted on that population.
    most : int
        Blocks of a pool that is laid out whole, at most.
    lay_out, is_whole : callable
        Returns a population of so many blocks; tells whether one is the pool itself.
    """
    if is_whole(first):
        return first
    if pool_blocks > most:
        return None
    pool = lay_out(math.ceil(COUNTED * most))
    return pool if is_whole(pool) else None


def history_of(case: Case) -> History:
    """Return the history of a world: the case's, with its own share of ageing and size of files.

    Parameters
    ----------
    case : Case
        In its world: `churn` and `file_size` of its member are factors.

    Returns
    -------
    History
        With records no larger than the pool may have.
    """
    history, member = case.stated_history(), case.member
    most = case.largest_record
    records = tuple(replace(kind, recordsize=min(kind.recordsize, most)) for kind in history.records)
    files = history.files
    return replace(
        history,
        records=records,
        files=replace(files, mean=min(files.high, max(files.low, int(files.mean * member.file_size)))),
        overwritten=min(MOST_REWRITTEN, history.overwritten * member.churn),
        removed=min(MOST_REWRITTEN, history.removed * member.churn),
    )


def miniature(case: Case, *, blocks: int | None = None) -> WorldPopulation:
    """Return a population like the pool's, small enough to simulate.

    Parameters
    ----------
    case : Case
        In its world, which scales the history (`churn` and `file_size`).
    blocks : int, optional
        Blocks wanted; `BLOCKS` if not given.
    """
    facts = case.facts
    if facts.block_list is not None:
        return _listed(case, facts.block_list, blocks or BLOCKS)
    pool, note = _large_enough(case, blocks or BLOCKS)
    if case.repairs_groups:
        pool = with_degraded_groups(case, pool)
    if facts.free_space is not None:
        pool = placed_by(pool, facts.free_space)
    if pool.scale != 1.0:
        pool = replace(pool, table=thinned(pool.table, pool.recipe))
    table = pool.table
    levels = dict(zip(pool.vdevs, pool.recipe.vdevs, strict=True))
    far = _spread(case, pool, levels, table) if pool.scale != 1.0 and _may_lie_anywhere(case) else None
    by_birth = far is not None and case.release.order != "sorted"
    busy = bool(case.load or case.timed) if by_birth else far is not None and _is_busy(case)
    asked = _moved(case, levels, table, spread_by_metaslab) if busy else None
    table = far if far is not None and by_birth else table
    if case.load or case.timed:
        asked = _asked(case, table if asked is None else asked, table)
    data = case.layout.places_of(NORMAL)
    simulated = [number for number in pool.vdevs if number in data]
    held = {number: int(table.dva_asize[table.dva_vdev == number].sum()) for number in simulated}
    return WorldPopulation(
        table,
        case.alloc / _held_by_pool(case, held),
        len(data) / len(simulated),
        levels[0],
        note,
        by_birth,
        None if by_birth else far,
        levels,
        pool.written,
        asked,
    )


def _held_by_pool(case: Case, held: Mapping[int, int]) -> float:
    """Return what the pool would hold, by what the simulated data vdevs do [bytes].

    Where how full each vdev is is stated, as many times what is on the one that matters as that is of the
    pool: the one under repair, in a scrub the fullest.  Else each other vdev holds as much as those of its
    shape, or as its share of the pool's space.
    """
    data, vdevs, shares = case.layout.places_of(NORMAL), case.layout.vdevs, case.data_shares
    share = {number: shares[data.index(number)] for number in held}
    if case.scenario.vdev_fills is not None:
        matters = 0 if case.operation != "scrub" and 0 in share else max(share, key=share.__getitem__)
        return held[matters] / share[matters]
    by_share, whole = sum(held.values()) / math.fsum(share.values()), 0.0
    for number, part in zip(data, shares, strict=True):
        alike = [each for other, each in held.items() if vdevs[other] == vdevs[number]]
        whole += sum(alike) / len(alike) if alike else by_share * part
    return whole


def _asked(case: Case, found: BlockTable, table: BlockTable) -> BlockTable | None:
    """Return what clients read, where it is not the blocks of a population at their places."""
    found = on_all_vdevs(found, case.layout.vdevs)
    return found if found is not table or case.operation == "rebuild" else None


def in_heaps(case: Case, pool: WorldPopulation) -> BlockTable:
    """Return the blocks of a population with its metaslabs one behind the other; see `gathered`.

    Beside clients in several heaps: from a single one in the middle drives seek less far to what these read.
    """
    heaps = BUSY_HEAPS if _is_busy(case) and pool.scale > BUSY_HEAPS else 1
    return _moved(case, pool.levels, pool.table, partial(gathered, heaps=heaps))


def _is_busy(case: Case) -> bool:
    """Tell whether clients read so much beside a scan by address that it counts how far drives seek to it."""
    return bool(case.scenario.load or case.timed)


def _large_enough(case: Case, blocks: int) -> tuple[PoolMiniature, str]:
    """Return a miniature of so many blocks, of more where too little of them lies on each drive.

    A run of it has so many long seeks and ends of txgs, and so much may be under way, that drives have to
    have several times that to do: where blocks are small, vdevs wide or many, or a special vdev is repaired.
    """
    pool, note = pool_miniature(case, blocks=blocks, heaps=_heaps(case))
    wanted = _wanted_blocks(case, pool, blocks) if pool.scale != 1.0 else blocks
    if wanted <= blocks:
        return pool, note
    written = pool.written
    del pool
    make_room(wanted)
    pool, note = pool_miniature(case, blocks=wanted, heaps=_heaps(case))
    return replace(pool, written=pool.written + written), note


def _wanted_blocks(case: Case, pool: PoolMiniature, blocks: int) -> int:
    """Return of how many blocks a miniature has to be, by what one of so many holds."""
    spec = case.layout.vdevs[0]
    held = max(1, int(pool.table.dva_asize[pool.table.dva_vdev == 0].sum()))
    by_address = case.release.order == "sorted"
    if case.repairs_class and by_address and case.operation == "resilver":
        table = thinned(pool.table, pool.recipe)
        held = max(1, int(table.dva_asize[table.dva_vdev == 0].sum()))
        return min(MOST_BLOCKS, math.ceil(blocks * REPAIRED_SORTED / held))
    if case.repairs_class:
        return min(MOST_BLOCKS, math.ceil(blocks * REPAIRED_BYTES / held))
    if not _is_by_address(case):
        return blocks
    kind = kind_of(spec.kind)
    if kind.has_groups:
        return min(MOST_CHILDREN // spec.children, math.ceil(blocks * _windows(case, pool)))
    of_drive = held if kind.is_replicated else held / spec.children
    more = min(MOST_MORE, BYTES_OF_BLOCK * blocks / of_drive)
    return min(MOST_LARGER, MOST_CHILDREN // spec.children, math.ceil(blocks * more))


def _is_by_address(case: Case) -> bool:
    """Tell whether a scan issues the blocks in the order of their addresses."""
    return case.release.order == "sorted" and case.operation in ("resilver", "scrub")


def _windows(case: Case, pool: PoolMiniature) -> float:
    """Return how many times a miniature of a dRAID it takes until its scan has enough windows to issue.

    What is in flight lies in a few groups, one behind the other, and each on some of the drives alone.  At
    the ends of a run, and of a heap, few of the drives are busy: what is between has to be many times that.
    """
    spec, table = case.layout.vdevs[0], pool.table
    limit = case.release.tunables["zfs_scan_vdev_limit"] * kind_of(spec.kind).window_children(spec)
    issued = float(table.psize[table.dva_vdev[:, 0] == 0].sum())
    issued *= degraded_share(spec, case.replace) if case.repairs_groups else 1.0
    return WINDOWS * limit / max(issued, 1.0)


def _may_lie_anywhere(case: Case) -> bool:
    """Tell whether what is taken in the order of the traversal may lie at other places than it does."""
    known = case.operation in COPIES or case.facts.free_space is not None
    return not known and not kind_of(case.layout.vdevs[0].kind).has_groups


def _spread(case: Case, pool: PoolMiniature, levels: Mapping[int, TopLevel], table: BlockTable) -> BlockTable:
    """Return the blocks at distances as in the real pool."""
    if case.release.order != "sorted":
        return _moved(case, levels, table, spread_by_birth)
    txg = pool.recipe.txg_bytes * pool.recipe.metadata_every * expansion(pool.recipe)
    return _moved(case, levels, table, partial(spread, least=TXGS_TOGETHER * txg / len(pool.recipe.normal)))


def _moved(
    case: Case,
    levels: Mapping[int, TopLevel],
    table: BlockTable,
    move: Callable[[BlockTable, int, TopLevel, TopLevel], BlockTable],
) -> BlockTable:
    """Return a table with what lies on each data vdev moved."""
    for number, reduced in levels.items():
        if reduced.spec.alloc_class == NORMAL:
            table = move(table, number, reduced, case.vdevs[number])
    return table


def _heaps(case: Case) -> int:
    """Return how many heaps the metaslabs stand in at least; 0: one by one, where each has its real place."""
    if case.facts.free_space is not None or case.operation in ("rebuild", "expand"):
        return 0
    return SORTED_HEAPS if case.release.order == "sorted" else LEGACY_HEAPS


def _listed(case: Case, listed: BlockList, blocks: int) -> WorldPopulation:
    """Return the pool's own blocks, or windows of them in the order that the scan takes them in."""
    order: Order = "address" if case.release.order == "sorted" else "traversal"
    vdevs = case.vdevs
    known = listed.blocks(vdevs, order)
    counted = (0,) if case.operation != "scrub" else chosen_vdevs(len(vdevs))
    small = sample_blocks(known, vdevs, blocks, order, case.seed)
    walked = 1.0 if small.whole or order == "traversal" else len(vdevs) / len(chosen_vdevs(len(vdevs)))
    damaged = window_vdevs(small, vdevs).get(0, vdevs[0])
    return WorldPopulation(
        small.table,
        small.scale(counted),
        walked,
        damaged,
        different_alloc(case),
        written=len(small.table),
    )


def pool_miniature(case: Case, *, blocks: int | None = None, heaps: int = 0) -> tuple[PoolMiniature, str]:
    """Return the same with the reduced metaslabs it lies in, and its note; see `miniature`.

    They stand one by one, or in `heaps` heaps at least, see `zsim.pool.miniature.shape.reduce_recipe`.
    """
    stated = case.frag if case.release.fragmentation_table != "none" else None
    apart = vdevs_apart(case)
    size = MiniatureSize(
        blocks or BLOCKS,
        slabs=SLABS * min(len(case.layout.data), max(MAX_VDEVS, len(apart))),
        wanted=apart,
        files=SORTED_FILES if case.release.order == "sorted" else LEGACY_FILES,
        heaps=heaps,
        turns=_is_by_address(case),
    )
    aged, note = _nearest(case, history_of(case), stated, size)
    return aged.miniature, note


def _nearest(case: Case, history: History, frag: float | None, size: MiniatureSize) -> tuple[AgedPool, str]:
    """Return the pool asked for, or the nearest that the history can make, and what is different about it."""
    try:
        return _pool(case, history, case.fill, frag, size), ""
    except InputError as error:
        if error.field != "frag":
            raise
        in_vain = None
    except HistoryError as error:
        in_vain = error.written
    # Out here the pool that failed is gone: an error holds what was being laid out when it came.
    if in_vain is not None:
        return _less_full(case, history, size, in_vain)
    return _nearest_frag(case, history, frag or 0.0, size)


def _nearest_frag(case: Case, history: History, frag: float, size: MiniatureSize) -> tuple[AgedPool, str]:
    """Return the pool never aged where it has more FRAG than asked for as it is, else the most aged one."""
    fresh = _pool(case, replace(history, rounds=0, snapshots=0), case.fill, None, size)
    wanted, got = format_fraction(frag), format_fraction(fresh.frag)
    if not math.isfinite(fresh.frag) or fresh.frag >= frag:
        return (
            fresh,
            f"FRAG {wanted} is less than the simulated pool has before any ageing ({got}): "
            "simulated as never aged",
        )
    aged, note = _nearest(case, replace(history, rounds=MAX_ROUNDS), None, size)
    got = format_fraction(aged.frag)
    return (
        aged,
        note or f"FRAG {wanted} is more than {history.name} comes to in {MAX_ROUNDS} rounds: {got} used",
    )


def _less_full(case: Case, history: History, size: MiniatureSize, in_vain: int) -> tuple[AgedPool, str]:
    """Return the fullest pool in which the allocator still finds room; `in_vain`: blocks written before."""
    fill = case.fill
    for last in (False,) * (TRIES - 1) + (True,):
        fill *= LESS_FULL
        # A vdev that was there first is the fullest: it finds no more room unless it is less full as well.
        growth = case.classes.growth.less_full(fill / case.fill)
        emptier = replace(case, classes=replace(case.classes, growth=growth))
        try:
            pool = _pool(emptier, history, fill, None, size)
        except HistoryError as error:
            in_vain += error.written
            if last:
                return _equally_full(case, history, size, in_vain)
            continue
        here, there = format_fraction(fill), format_fraction(case.fill)
        return (
            pool.after(in_vain),
            f"simulated at {here} full instead of {there}: beyond that, "
            "blocks have to be split (gang blocks)",
        )
    raise AssertionError


def _equally_full(case: Case, history: History, size: MiniatureSize, in_vain: int) -> tuple[AgedPool, str]:
    """Return the pool with vdevs that were there from the first, where they have no room one after the other.

    A vdev that stands alone has to hold what a history overwrites until its txgs are synced.
    """
    if not case.classes.growth.wanted:
        raise _no_room(case, history, in_vain)
    together = replace(case, classes=replace(case.classes, growth=Growth()))
    try:
        pool = _pool(together, history, case.fill, None, size)
    except HistoryError as error:
        raise _no_room(case, history, in_vain + error.written) from None
    return (
        pool.after(in_vain),
        f"the data vdevs are simulated equally full, {format_fraction(case.fill)}: the history"
        f" {history.name} does not fit on vdevs that were added one after the other",
    )


def _no_room(case: Case, history: History, written: int) -> NoRoomError:
    held = f"{case.layout} of {format_both(case.drive_size)} drives"
    error = NoRoomError(
        "fill",
        format_fraction(case.fill),
        f"the history {history.name} does not fit on {held} at this fill, nor at any fill down to "
        f"{format_fraction(case.fill * LESS_FULL**TRIES)}",
        "give larger drives, another history, or a lower fill",
    )
    error.written = written
    return error


def _pool(case: Case, history: History, fill: float, frag: float | None, size: MiniatureSize) -> AgedPool:
    return aged_pool(
        history,
        case.empty_pool,
        fill,
        frag,
        size=size,
        seed=case.seed,
        rewritten=case.rewritten,
        frag_of=case.frag_of,
    )
