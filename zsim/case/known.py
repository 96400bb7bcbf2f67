"""Facts from files about a real pool, which take precedence over assumptions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from zsim.base.errors import InputError
from zsim.base.units import format_bytes
from zsim.case.case import Case
from zsim.case.facts import facts_of
from zsim.vdevs.kind import NORMAL

if TYPE_CHECKING:
    from zsim.pool.measured.free_space import FreeSpace

SAID_BY_LIST = {"fill", "frag", "history", "recordsize", "files"}
DIFFERENT = 0.1


def with_facts(case: Case) -> Case:
    """Return a case with what the scenario's files say of the pool, without the assumptions these replace.

    A list of blocks tells ALLOC and settles history, record size and FRAG; free space by metaslab tells
    ALLOC and FRAG where they are not stated; a histogram of block sizes settles the record size.

    Raises
    ------
    InputError
        When a file cannot be read or is about another pool.
    """
    facts = facts_of(case.scenario)
    case = replace(case, facts=facts)
    if facts.block_list is not None:
        each = facts.block_list.blocks(case.vdevs).allocated
        data = (vdev.alloc_class == NORMAL for vdev in case.layout.vdevs)
        listed = sum(held for held, counts in zip(each, data, strict=True) if counts)
        return _with_alloc(case, listed, "block_list", SAID_BY_LIST)
    if facts.free_space is not None:
        case = _with_free_space(case, facts.free_space)
    return case if facts.records is None else _without(case, {"recordsize"})


def different_alloc(case: Case) -> str:
    """Return in what the list's total differs from the ALLOC stated; empty where it does not."""
    stated = case.scenario.alloc
    if stated is None or abs(case.alloc - stated) <= DIFFERENT * stated:
        return ""
    return f"the block list holds {format_bytes(case.alloc)} of the {format_bytes(stated)} stated as alloc"


def _without(case: Case, fields: set[str]) -> Case:
    """Return the case without the assumptions about some fields."""
    kept = tuple(each for each in case.assumptions if each.field not in fields)
    return replace(case, assumptions=kept)


def _with_alloc(case: Case, alloc: int, field: str, said: set[str]) -> Case:
    fill = alloc / case.pool_size
    if fill > 1.0:
        allowed = f"it holds {format_bytes(alloc)}, the pool {format_bytes(case.pool_size)}"
        path = getattr(case.scenario, field)
        raise InputError(field, path, allowed, "give the layout and the drive_size of that pool")
    return _without(replace(case, alloc=alloc, fill=fill), said)


def _with_free_space(case: Case, known: FreeSpace) -> Case:
    scenario, count = case.scenario, len(case.layout.vdevs)
    if int(known.vdev.max()) >= count:
        allowed = (
            f"it has metaslabs of top-level vdev {int(known.vdev.max())}, the layout has {count}, from 0"
        )
        raise InputError("metaslabs", scenario.metaslabs, allowed, "give the layout of that pool")
    if scenario.fill is None and scenario.alloc is None and known.alloc > 0:
        case = _with_alloc(case, known.alloc, "metaslabs", {"fill"})
    stated = scenario.frag is not None or scenario.vdev_frags is not None
    if not stated and known.frag is not None and case.release.fragmentation_table != "none":
        case = _without(replace(case, frag=known.frag), {"frag"})
    return case
