"""The kinds of vdevs for compiled code: each function of `Kernels`, by the number of the kind.

A chain of comparisons, one a kind, is made of the registered kinds; the compiler puts what it calls into it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zsim.base.jit import njit
from zsim.vdevs.kind import Kernels, Shaped, code_of, kind_of, kinds

Integers = NDArray[np.int64]


def _last(function: Any) -> Any:
    @njit
    def last(kind: int, *arguments: Any) -> Any:
        return function(*arguments)

    return last


def _link(code: int, function: Any, otherwise: Any) -> Any:
    @njit
    def link(kind: int, *arguments: Any) -> Any:
        if kind == code:
            return function(*arguments)
        return otherwise(kind, *arguments)

    return link


def _chain(name: str) -> Any:
    """Return the compiled function of the kind whose number comes first."""
    functions = [getattr(kind.kernels, name) for kind in kinds().values()]
    chain = _last(functions[-1])
    for code in range(len(functions) - 2, -1, -1):
        chain = _link(code, functions[code], chain)
    return chain


vdev_asize, vdev_part, vdev_plan, vdev_piece, vdev_needs_child, vdev_spare = map(_chain, Kernels._fields)

IS_REPLICATED = tuple(kind.is_replicated for kind in kinds().values())
"""By number of the kind: see `VdevKind`."""
HAS_FILL = tuple(kind.has_fill for kind in kinds().values())


def touched_blocks(
    vdev: Shaped, ashift: int, damaged: tuple[int, ...], offsets: Integers, psizes: Integers
) -> NDArray[np.bool_]:
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
    offsets: Integers,
    psizes: Integers,
    ashift: int,
    children: int,
    parity: int,
    data: int,
    spares: int,
    table: Integers,
    damaged: Integers,
) -> NDArray[np.bool_]:
    result = np.zeros(len(offsets), dtype=np.bool_)
    for row in range(len(offsets)):
        for child in damaged:
            if vdev_needs_child(
                kind, offsets[row], psizes[row], ashift, children, parity, data, spares, table, child
            ):
                result[row] = True
    return result
