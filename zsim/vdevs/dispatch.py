"""The kinds of vdevs in compiled code: each function of `Kernels`, by the number of the kind.

A chain of comparisons, one a kind, is made of the registered kinds; the compiler puts what it calls into it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, TypeVarTuple

import numpy as np

from zsim.base.arrays import I64, Bools
from zsim.base.jit import njit
from zsim.vdevs.kind import Shaped, VdevShape, code_of, kind_of, kinds, shape_of

Ts = TypeVarTuple("Ts")
T = TypeVar("T")


def _last(function: Callable[[*Ts], T]) -> Callable[[int, *Ts], T]:
    @njit
    def last(kind: int, *arguments: *Ts) -> T:
        return function(*arguments)

    return last


def _link(
    code: int, function: Callable[[*Ts], T], otherwise: Callable[[int, *Ts], T]
) -> Callable[[int, *Ts], T]:
    @njit
    def link(kind: int, *arguments: *Ts) -> T:
        if kind == code:
            return function(*arguments)
        return otherwise(kind, *arguments)

    return link


def _chain(functions: Sequence[Callable[[*Ts], T]]) -> Callable[[int, *Ts], T]:
    """Return the compiled function of the kind whose number comes first."""
    chain = _last(functions[-1])
    for code in range(len(functions) - 2, -1, -1):
        chain = _link(code, functions[code], chain)
    return chain


_KERNELS = [kind.kernels for kind in kinds().values()]
vdev_asize, vdev_part = _chain([each.asize for each in _KERNELS]), _chain([each.part for each in _KERNELS])
vdev_plan, vdev_piece = _chain([each.plan for each in _KERNELS]), _chain([each.piece for each in _KERNELS])
vdev_needs_child = _chain([each.needs_child for each in _KERNELS])
vdev_spare = _chain([each.spare for each in _KERNELS])

IS_REPLICATED = tuple(kind.is_replicated for kind in kinds().values())
"""By number of the kind: see `VdevKind`."""
HAS_FILL = tuple(kind.has_fill for kind in kinds().values())


_copies: dict[int, tuple[I64, I64]] = {}
"""Tables that may not be written, by address, and a copy of each: that of a wide dRAID takes 0.3 ms."""


def _table(vdev: Shaped) -> I64:
    """Return the table of a vdev as kernels take it: numba alone can pass on one that may not be written."""
    table = kind_of(vdev.kind).table(vdev)
    if table.flags.writeable:
        return table
    if id(table) not in _copies:
        _copies[id(table)] = table, table.copy()
    return _copies[id(table)][1]


def touched_blocks(vdev: Shaped, ashift: int, damaged: tuple[int, ...], offsets: I64, psizes: I64) -> Bools:
    """Tell which blocks a resilver of some children of a top-level vdev has to read.

    Parameters
    ----------
    vdev : Shaped
    ashift : int
        log2 of the sector size.
    damaged : tuple of int
        Children.
    offsets, psizes : ndarray of int64, shape (blocks,)
        DVA offsets and physical sizes [bytes].
    """
    children, table = np.array(damaged, np.int64), _table(vdev)
    result = np.zeros(len(offsets), bool)
    _touched(code_of(vdev.kind), offsets, psizes, shape_of(vdev, ashift), table, children, result)
    return result


@njit
def _touched(
    kind: int,
    offsets: I64,
    psizes: I64,
    shape: VdevShape,
    table: I64,
    damaged: I64,
    result: Bools,
) -> None:
    for row in range(len(offsets)):
        for child in damaged:
            if vdev_needs_child(kind, offsets[row], psizes[row], shape, table, child):
                result[row] = True


def pieces_of_blocks(vdev: Shaped, ashift: int, offsets: I64, psize: int) -> I64:
    """Return what the children hold of blocks of one size, as they are written.

    Parameters
    ----------
    vdev : Shaped
    ashift : int
        log2 of the sector size.
    offsets : ndarray of int64, shape (blocks,)
        DVA offsets [bytes].
    psize : int
        Physical size [bytes].

    Returns
    -------
    ndarray of int64, shape (pieces, 4)
        Number of the block, child, child offset and size [bytes], in the order of the blocks.
    """
    shape, code = shape_of(vdev, ashift), code_of(vdev.kind)
    table = _table(vdev)
    pieces = np.empty((len(offsets) * vdev.children, 4), np.int64)
    count = _pieces(code, offsets, psize, shape, table, pieces)
    if count > len(pieces):  # blocks of several parts
        pieces = np.empty((count, 4), np.int64)
        _pieces(code, offsets, psize, shape, table, pieces)
    return pieces[:count]


@njit
def _pieces(
    kind: int,
    offsets: I64,
    psize: int,
    shape: VdevShape,
    table: I64,
    pieces: I64,
) -> int:
    """Write down as many of the pieces as there is room for; return how many there are."""
    count = 0
    for block in range(len(offsets)):
        offset, left = offsets[block], psize
        while left > 0:
            size = vdev_part(kind, offset, left, shape)
            plan = vdev_plan(kind, offset, size, shape)
            for column in range(plan[0]):
                if count < len(pieces):
                    piece = vdev_piece(kind, plan, column, True, shape, table)
                    pieces[count, 0] = block
                    pieces[count, 1], pieces[count, 2], pieces[count, 3] = piece
                count += 1
            offset += vdev_asize(kind, size, shape)
            left -= size
    return count
