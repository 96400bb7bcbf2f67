"""The kinds of vdevs for compiled code: each function of `Kernels`, by the number of the kind.

A chain of comparisons, one a kind, is made of the registered kinds; the compiler puts what it calls into it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, TypeVarTuple

import numpy as np

from zsim.base.arrays import I64, Bools
from zsim.base.jit import njit
from zsim.vdevs.kind import Shaped, code_of, kind_of, kinds

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
    shape = (ashift, vdev.children, vdev.parity, vdev.data, vdev.spares)
    children, table = np.array(damaged, np.int64), kind_of(vdev.kind).table(vdev)
    return _touched(code_of(vdev.kind), offsets, psizes, *shape, table, children)


@njit
def _touched(
    kind: int,
    offsets: I64,
    psizes: I64,
    ashift: int,
    children: int,
    parity: int,
    data: int,
    spares: int,
    table: I64,
    damaged: I64,
) -> Bools:
    result = np.zeros(len(offsets), dtype=np.bool_)
    for row in range(len(offsets)):
        for child in damaged:
            if vdev_needs_child(
                kind, offsets[row], psizes[row], ashift, children, parity, data, spares, table, child
            ):
                result[row] = True
    return result
