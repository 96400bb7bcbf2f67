"""Main memory that a sorted scan needs to hold the records of all that it issues."""

from __future__ import annotations

import math

from zsim.case.case import Case
from zsim.case.worlds import USES, Choice, memories
from zsim.operation.memory_limit import MemoryLimit
from zsim.pool.recipes.histories import History, history_recipe
from zsim.pool.simulator.files import mean_block_asize
from zsim.scan.sorted import DVA_BYTES, SIO_BYTES


def sorts(case: Case) -> bool:
    """Tell whether the operation collects records and issues them in an order that memory decides."""
    return case.release.order == "sorted" and case.operation in ("resilver", "scrub")


def needed_memory(case: Case, history: History) -> float:
    """Return the main memory from which on a sorted scan sorts a pool of a history at once [bytes].

    Parameters
    ----------
    case : Case
    history : History
        What is on the pool.

    Notes
    -----
    OpenZFS dsl_scan.c:dsl_scan_should_clear: the queues may take a share of memory (zfs_scan_mem_lim_fact);
    a resilver queues blocks of the vdev that it repairs.
    """
    return _entry_bytes(case, history) * case.release.tunables["zfs_scan_mem_lim_fact"]


def _entry_bytes(case: Case, history: History) -> float:
    """Return what the queues of a sorted scan take, if all is in them at once [bytes]."""
    recipe = history_recipe(history, case.empty_pool, case.fill, history.rounds)
    vdevs = len(case.layout.data) if case.operation == "resilver" else 1
    records = case.alloc / vdevs / mean_block_asize(recipe)
    return records * (SIO_BYTES + DVA_BYTES)


def sorted_at_once(case: Case) -> float:
    """Return which share of all that a sorted scan issues the memory of the host can hold at once.

    Returns
    -------
    float
        From 1 on the scan goes over the drives once; infinite of passes that do not sort.

    Notes
    -----
    OpenZFS dsl_scan.c:dsl_scan_should_clear: what is queued is issued from the hard limit on.
    """
    if not sorts(case):
        return math.inf
    return MemoryLimit(case.release, case.memory, case.alloc).hard / _entry_bytes(case, case.stated_history())


def needed_by_use(case: Case) -> tuple[float, ...]:
    """Return the same for each use that the pool may have, one value where it is known [bytes]."""
    if not case.assumed("history"):
        return (needed_memory(case, case.stated_history()),) * len(USES)
    return tuple(needed_memory(case, case.candidates.histories[name]) for name in USES)


def tells(case: Case) -> bool:
    """Tell whether how long the operation takes depends on the memory that its host has for what is queued.

    On flash the order in which blocks are read hardly tells; for a list of all blocks the host is taken to
    have memory.
    """
    return sorts(case) and case.drive.kind == "mechanical" and case.scenario.block_list is None


def memory_choices(case: Case) -> tuple[Choice, ...]:
    """Return how much memory the host may have where nobody says it; none where it does not tell [bytes]."""
    if not tells(case) or case.scan_memory is not None:
        return ()
    choices, most = memories(case), max(needed_by_use(case))
    return choices if most > min(float(choice.value) for choice in choices) else ()
