"""Unused child I/O records, one list a leaf, so that those of its queue stay together in memory.

What a leaf merges into one command came to it one after the other.  From one list for all leaves, child I/Os
of wide vdevs lay far apart in memory, and the end of a command waited for each of them.
"""

from __future__ import annotations

from zsim.base.arrays import Table
from zsim.base.jit import njit, word_of
from zsim.engine.compiled.memory import (
    N_CHILDREN,
    N_LEAVES,
    children_of,
    free_children_of,
    general_of,
)

# So many a leaf is given at a time.
AT_ONCE = 32


@njit
def take_child(table: Table, leaf: int) -> int:
    """Return a child I/O that is free, for the queue of a leaf; there is one (`PlaneMemory.hold_children`).

    Parameters
    ----------
    table : Table
        The engine's memory.
    leaf : int
    """
    first = free_children_of(table)
    if first[leaf] < 0:
        _give_some(table, leaf)
    number = first[leaf]
    first[leaf] = number + 1 + children_of(table)[number].next
    return int(number)


@njit
def free_child(table: Table, leaf: int, number: int) -> None:
    """Put a child I/O that is done in front of those that its leaf has free.

    Parameters
    ----------
    table : Table
        The engine's memory.
    leaf, number : int
    """
    first = free_children_of(table)
    children_of(table)[number].next = first[leaf] - number - 1
    first[leaf] = number


@njit
def _give_some(table: Table, leaf: int) -> None:
    """Give a leaf child I/Os that none has had yet; where there are no more, all that another has free."""
    general, first = general_of(table)[0], free_children_of(table)
    end = min(general.new_child + AT_ONCE, word_of(table, N_CHILDREN))
    if general.new_child < end:
        first[leaf] = general.new_child
        general.new_child = end
        # One points to the next by difference, so that those never used need nothing; the last to none.
        children_of(table)[end - 1].next = -1 - end
        return
    other = 0
    while first[other] < 0 and other < word_of(table, N_LEAVES) - 1:
        other += 1
    first[leaf], first[other] = first[other], -1
