"""What files about a real pool say goes before what would be assumed."""

from __future__ import annotations

from dataclasses import replace

from zsim.base.errors import InputError
from zsim.base.units import format_bytes
from zsim.pool.measured.block_list import FIELD as LIST_FIELD
from zsim.pool.measured.block_list import KnownBlocks, Order, load_blocks
from zsim.pool.measured.free_space import FIELD as SPACE_FIELD
from zsim.pool.measured.free_space import read_free_space
from zsim.pool.recipes.histories import History
from zsim.pool.recipes.recipe import pool_of
from zsim.pool.recipes.sizes import read_block_sizes
from zsim.scenario.resolve import ResolvedScenario

SAID_BY_LIST = {"fill", "frag", "history", "recordsize", "files"}
DIFFERENT = 0.1


def informed(resolved: ResolvedScenario) -> ResolvedScenario:
    """Return a scenario with what its files about the pool say, without the assumptions these replace.

    A list of blocks tells ALLOC and settles history, record size and FRAG; free space by metaslab tells
    ALLOC and FRAG where they are not stated; a histogram of block sizes settles the record size.

    Raises
    ------
    InputError
        When a file cannot be read or is about another pool.
    """
    scenario = resolved.scenario
    if scenario.block_list is not None:
        return _with_alloc(resolved, sum(known_blocks(resolved).allocated), LIST_FIELD, SAID_BY_LIST)
    if scenario.metaslabs is not None:
        resolved = _with_free_space(resolved)
    if scenario.blocks is not None:
        read_block_sizes(scenario.blocks)
        resolved = without(resolved, {"recordsize"})
    return resolved


def known_blocks(resolved: ResolvedScenario, order: Order = "address") -> KnownBlocks:
    """Return the blocks of the list that a scenario names."""
    assert resolved.scenario.block_list is not None
    vdevs, _ = pool_of(
        resolved.layout, resolved.drive_size, resolved.release, resolved.ashift, cpus=resolved.cpus
    )
    return load_blocks(resolved.scenario.block_list, vdevs, order)


def with_known_sizes(resolved: ResolvedScenario, history: History) -> History:
    """Return a history with the sizes of blocks that the scenario's file names, if it names one."""
    if resolved.scenario.blocks is None:
        return history
    stated = resolved.scenario.recordsize
    return history.with_records(read_block_sizes(resolved.scenario.blocks, stated))


def different_alloc(resolved: ResolvedScenario) -> str:
    """Return in what the list's total differs from the ALLOC stated; empty where it does not."""
    stated = resolved.scenario.alloc
    if stated is None or abs(resolved.alloc - stated) <= DIFFERENT * stated:
        return ""
    return (
        f"the block list holds {format_bytes(resolved.alloc)} of the {format_bytes(stated)} stated as alloc"
    )


def without(resolved: ResolvedScenario, fields: set[str]) -> ResolvedScenario:
    """Return the scenario without the assumptions about some fields."""
    kept = tuple(each for each in resolved.assumptions if each.field not in fields)
    return replace(resolved, assumptions=kept)


def _with_alloc(resolved: ResolvedScenario, alloc: int, field: str, said: set[str]) -> ResolvedScenario:
    fill = alloc / resolved.pool_size
    if fill > 1.0:
        allowed = f"it holds {format_bytes(alloc)}, the pool {format_bytes(resolved.pool_size)}"
        path = getattr(resolved.scenario, field)
        raise InputError(field, path, allowed, "give the layout and the drive_size of that pool")
    return without(replace(resolved, alloc=alloc, fill=fill), said)


def _with_free_space(resolved: ResolvedScenario) -> ResolvedScenario:
    scenario = resolved.scenario
    assert scenario.metaslabs is not None
    known = read_free_space(scenario.metaslabs)
    count = len(resolved.layout.vdevs)
    if int(known.vdev.max()) >= count:
        allowed = (
            f"it has metaslabs of top-level vdev {int(known.vdev.max())}, the layout has {count}, from 0"
        )
        raise InputError(SPACE_FIELD, scenario.metaslabs, allowed, "give the layout of that pool")
    if scenario.fill is None and scenario.alloc is None and known.alloc > 0:
        resolved = _with_alloc(resolved, known.alloc, SPACE_FIELD, {"fill"})
    if scenario.frag is None and known.frag is not None and resolved.release.fragmentation_table != "none":
        resolved = without(replace(resolved, frag=known.frag), {"frag"})
    return resolved
