"""From a scenario to the population of its pool."""

from __future__ import annotations

from dataclasses import replace

from zsim.pool.known import informed, known_blocks, with_known_sizes
from zsim.pool.measured.block_list import KnownBlocks, sample_blocks
from zsim.pool.measured.free_space import placed_by, read_free_space
from zsim.pool.miniature.ageing import AgedPool, aged_pool
from zsim.pool.miniature.shape import Miniature
from zsim.pool.recipes.histories import DEFAULT_HISTORY, History, load_history
from zsim.pool.recipes.recipe import PoolRecipe, RecordClass, TopLevel, pool_of
from zsim.pool.recipes.styles import AllocatorStyle
from zsim.scenario.resolve import ResolvedScenario

DEFAULT_BLOCKS = 60_000


def history_of(resolved: ResolvedScenario, records: tuple[RecordClass, ...] | None = None) -> History:
    """Return the history of a scenario: its record size, where one was stated, goes before the history's.

    Parameters
    ----------
    resolved : ResolvedScenario
    records : tuple of RecordClass, optional
        A mix of records instead, see `zsim.pool.recipes.sizes.read_block_sizes`.
    """
    history = load_history(resolved.history or DEFAULT_HISTORY)
    if records is not None:
        return history.with_records(records)
    if not resolved.assumed("recordsize"):
        history = history.with_recordsize(resolved.recordsize)
    return with_known_sizes(resolved, history)


def populate(
    resolved: ResolvedScenario,
    *,
    records: tuple[RecordClass, ...] | None = None,
    max_blocks: int = DEFAULT_BLOCKS,
    seed: int | None = None,
    vdev: int = 0,
) -> AgedPool:
    """Return a miniature of a scenario's pool.

    Parameters
    ----------
    resolved : ResolvedScenario
        Layout, drives, release, fill, FRAG if stated, history, record size if stated; what its files about
        the pool say goes before these.
    records : tuple of RecordClass, optional
        A mix of records instead of the history's.
    max_blocks : int
        Blocks to aim at.
    seed : int, optional
        The scenario's if not given.
    vdev : int
        The top-level vdev that matters.

    Raises
    ------
    InputError
        When the history never has that FRAG at that fill.
    HistoryError
        When the pool cannot hold what is written.
    """
    resolved = informed(resolved)
    vdevs, style = pool_of(
        resolved.layout, resolved.drive_size, resolved.release, resolved.ashift, cpus=resolved.cpus
    )
    if resolved.scenario.block_list is not None:
        return _listed(resolved, vdevs, style, max_blocks, resolved.seed if seed is None else seed)
    aged = aged_pool(
        history_of(resolved, records),
        vdevs,
        style,
        resolved.release,
        resolved.fill,
        resolved.frag,
        max_blocks=max_blocks,
        seed=resolved.seed if seed is None else seed,
        vdev=vdev,
    )
    if resolved.scenario.metaslabs is None:
        return aged
    return replace(aged, miniature=placed_by(aged.miniature, read_free_space(resolved.scenario.metaslabs)))


def _listed(
    resolved: ResolvedScenario,
    vdevs: tuple[TopLevel, ...],
    style: AllocatorStyle,
    max_blocks: int,
    seed: int,
) -> AgedPool:
    """Return a pool's own blocks, or windows of them."""
    known = sample_blocks(known_blocks(resolved), vdevs, max_blocks, "address", seed)
    shown = window_vdevs(known, vdevs)
    numbers = tuple(sorted(shown))
    small = Miniature(
        known.table,
        known.scale(numbers),
        PoolRecipe(tuple(shown[number] for number in numbers), style),
        numbers,
    )
    frag = float("nan") if resolved.frag is None else resolved.frag
    return AgedPool(small, 0.0, resolved.fill, frag)


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
