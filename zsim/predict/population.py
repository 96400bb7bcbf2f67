"""The population of a member: the pool room's miniature of the scenario's pool and history."""

from __future__ import annotations

from dataclasses import dataclass, replace

from zsim.pool.ageing import aged_pool
from zsim.pool.blocks import BlockTable
from zsim.pool.histories import DEFAULT_HISTORY, History, load_history
from zsim.pool.recipe import pool_of
from zsim.predict.ensemble import Member
from zsim.scenario.resolve import ResolvedScenario

BLOCKS = 12_000
MOST_REWRITTEN = 0.6


@dataclass(frozen=True, slots=True)
class Miniature:
    """A population to simulate.

    Attributes
    ----------
    table : BlockTable
        DVA offsets lie in the real pool's address space.
    scale : float
        Bytes of the real pool that one byte of the miniature stands for, on each top-level vdev of it.
    walked : float
        Top-level vdevs of the real pool that each of the miniature's stands for in the metadata phase.
    """

    table: BlockTable
    scale: float
    walked: float


def history_of(resolved: ResolvedScenario, member: Member) -> History:
    """Return the history of a member: the scenario's, with more or less ageing and larger or smaller files."""
    history = load_history(resolved.history or DEFAULT_HISTORY)
    if resolved.scenario.recordsize is not None:
        history = history.with_recordsize(resolved.recordsize)
    files = history.files
    return replace(
        history,
        files=replace(files, mean=min(files.high, max(files.low, int(files.mean * member.file_size)))),
        overwritten=min(MOST_REWRITTEN, history.overwritten * member.churn),
        removed=min(MOST_REWRITTEN, history.removed * member.churn),
    )


def miniature(resolved: ResolvedScenario, member: Member, *, blocks: int | None = None) -> Miniature:
    """Return a population like the pool's, small enough to simulate.

    Parameters
    ----------
    resolved : ResolvedScenario
    member : Member
        Its `churn` and `file_size` scale the history.
    blocks : int, optional
        Blocks wanted; `BLOCKS` if not given.
    """
    vdevs, style = pool_of(
        resolved.layout, resolved.drive_size, resolved.release, resolved.ashift, cpus=resolved.cpus
    )
    stated = resolved.scenario.frag if resolved.release.fragmentation_table != "none" else None
    pool = aged_pool(
        history_of(resolved, member),
        vdevs,
        style,
        resolved.release,
        resolved.fill,
        stated,
        max_blocks=blocks or BLOCKS,
        seed=resolved.seed,
    ).miniature
    simulated = [number in pool.vdevs for number in range(len(vdevs))].count(True)
    table = pool.table
    per_vdev = resolved.alloc / len(vdevs)
    return Miniature(table, per_vdev / (table.allocated_bytes / simulated), len(vdevs) / simulated)
