"""From a scenario to the population of its pool."""

from __future__ import annotations

from zsim.pool.ageing import AgedPool, aged_pool
from zsim.pool.histories import DEFAULT_HISTORY, History, load_history
from zsim.pool.recipe import RecordClass, pool_of
from zsim.scenario.resolve import ResolvedScenario

DEFAULT_BLOCKS = 60_000


def history_of(resolved: ResolvedScenario, records: tuple[RecordClass, ...] | None = None) -> History:
    """Return the history of a scenario: its record size, where one was stated, goes before the history's.

    Parameters
    ----------
    resolved : ResolvedScenario
    records : tuple of RecordClass, optional
        A mix of records instead, see `zsim.pool.sizes.read_block_sizes`.
    """
    history = load_history(resolved.history or DEFAULT_HISTORY)
    if records is not None:
        return history.with_records(records)
    if not resolved.assumed("recordsize"):
        return history.with_recordsize(resolved.recordsize)
    return history


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
        Layout, drives, release, fill, FRAG if stated, history, record size if stated.
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
    vdevs, style = pool_of(
        resolved.layout, resolved.drive_size, resolved.release, resolved.ashift, cpus=resolved.cpus
    )
    return aged_pool(
        history_of(resolved, records),
        vdevs,
        style,
        resolved.release,
        resolved.fill,
        None if resolved.assumed("frag") else resolved.frag,
        max_blocks=max_blocks,
        seed=resolved.seed if seed is None else seed,
        vdev=vdev,
    )
