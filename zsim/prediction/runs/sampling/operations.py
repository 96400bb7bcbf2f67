"""What is known of a program's operations before a run: their sums, and which asks for metadata first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zsim.scan.items import ScanItems
from zsim.scan.program import OP_ISSUE, OP_PREFETCH, OP_VISIT, Program

I64 = NDArray[np.int64]
F64 = NDArray[np.float64]


def operation_sums(program: Program, items: ScanItems, occupied: I64, jump: int) -> F64:
    """Return what is known of the operations of a program, summed up before each.

    Parameters
    ----------
    program : Program
    items : ScanItems
    occupied : ndarray of int64, shape (items,)
        Bytes from which on the next item follows.
    jump : int
        A block that lies farther than this behind the end of the one before is not followed [bytes].

    Returns
    -------
    ndarray of float, shape (operations + 1, 5)
        Blocks, bytes, bytes by their place on the drives (inner tracks are slower), jumps between blocks that
        do not follow one another, and metadata blocks that have to be read.
    """
    item = program.item
    offset, psize = items.offset[item], items.psize[item]
    issued = program.code == OP_ISSUE
    rows = np.flatnonzero(issued)
    behind = offset[rows] + occupied[item[rows]]
    # In place, column by column: five numbers an operation are much of what a run of many blocks takes.
    sums = np.zeros((5, len(program) + 1))
    known = sums[:, 1:]
    known[0] = issued
    np.multiply(issued, psize, out=known[1])
    np.multiply(known[1], offset / max(1, int(items.offset.max(initial=1))), out=known[2])
    known[3, rows[1:]] = np.abs(offset[rows[1:]] - behind[:-1]) > jump
    known[4] = (program.code == OP_VISIT) & ~items.in_memory[item]
    for column in known:
        np.cumsum(column, out=column)
    return sums.T


def first_asked(program: Program, items: ScanItems, *, unbounded: bool) -> I64:
    """Return at which operation each item is first asked for: by itself, or as the child of a visit.

    Parameters
    ----------
    program : Program
    items : ScanItems
    unbounded : bool
        Whether the release prefetches by operations of their own, as far as it likes.

    Returns
    -------
    ndarray of int64, shape (items,)
        The length of the program where nothing asks.
    """
    place = np.full(len(items), len(program), np.int64)
    if unbounded:
        asked = np.flatnonzero(program.code == OP_PREFETCH)
        place[program.item[asked][::-1]] = asked[::-1]
        return place
    visit = np.flatnonzero(program.code == OP_VISIT)
    visited = np.full(len(items), len(program), np.int64)
    visited[program.item[visit]] = visit
    parent = np.flatnonzero(items.prefetch_first >= 0)
    child = items.prefetch_first[parent]
    while len(child):
        place[child] = visited[parent]
        child = items.prefetch_next[child]
        parent, child = parent[child >= 0], child[child >= 0]
    return place
