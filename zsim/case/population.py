"""The population of a case's pool, as `zsim pool` shows it."""

from __future__ import annotations

from dataclasses import replace

from zsim.case.case import Case
from zsim.case.facts import BlockList
from zsim.pool.measured.block_list import KnownBlocks, sample_blocks
from zsim.pool.measured.free_space import placed_by
from zsim.pool.miniature.ageing import AgedPool, aged_pool
from zsim.pool.miniature.shape import Miniature, MiniatureSize
from zsim.pool.recipes.recipe import PoolRecipe, TopLevel

DEFAULT_BLOCKS = 60_000


def populate(case: Case, *, max_blocks: int = DEFAULT_BLOCKS) -> AgedPool:
    """Return a miniature of a case's pool.

    Parameters
    ----------
    case : Case
        Layout, drives, release, fill, FRAG if stated, history, record size if stated; what files about the
        pool say goes before these.
    max_blocks : int
        Blocks to aim at.

    Raises
    ------
    InputError
        When the history never has that FRAG at that fill.
    HistoryError
        When the pool cannot hold what is written.
    """
    if case.facts.block_list is not None:
        return _listed(case, case.facts.block_list, max_blocks)
    aged = aged_pool(
        case.stated_history(),
        case.empty_pool,
        case.fill,
        case.frag,
        size=MiniatureSize(max_blocks),
        seed=case.seed,
        rewritten=case.rewritten,
        frag_of=case.frag_of,
    )
    if case.facts.free_space is None:
        return aged
    return replace(aged, miniature=placed_by(aged.miniature, case.facts.free_space))


def _listed(case: Case, listed: BlockList, max_blocks: int) -> AgedPool:
    """Return a pool's own blocks, or windows of them."""
    known = sample_blocks(listed.blocks(case.vdevs), case.vdevs, max_blocks, "address", case.seed)
    shown = window_vdevs(known, case.vdevs)
    numbers = tuple(sorted(shown))
    small = Miniature(
        known.table,
        known.scale(numbers),
        PoolRecipe(tuple(shown[number] for number in numbers), case.allocator),
        numbers,
    )
    frag = float("nan") if case.frag is None else case.frag
    return AgedPool(small, 0.0, case.fill, frag)


def window_vdevs(known: KnownBlocks, vdevs: tuple[TopLevel, ...]) -> dict[int, TopLevel]:
    """Return the vdevs that a list shows; where it was cut, their windows stand for the metaslabs."""
    if not known.windows:
        return dict(enumerate(vdevs))
    return {
        number: replace(
            vdevs[number],
            slab_bytes=own.length,
            slab_count=len(own.starts),
            starts=tuple(own.starts.tolist()),
            stands_for=vdevs[number].slab_bytes,
        )
        for number, own in known.windows.items()
    }
