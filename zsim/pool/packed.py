"""Block tables packed into a third of their memory, for pools that are kept for later."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from zsim.pool.blocks import MAX_DVAS, BlockTable

Column = NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class PackedBlocks:
    """A block table whose numbers take as few bytes as the largest of their column needs.

    Attributes
    ----------
    columns : dict of str to (array, dtype)
        By the name of the column, and the type that it has in the table; of DVAs the first.
    several : ndarray of intp
        Rows with more than one DVA.
    further : dict of str to ndarray, shape (several, 2)
        Their other DVAs.
    """

    columns: dict[str, tuple[Column, np.dtype[np.generic]]]
    several: NDArray[np.intp]
    further: dict[str, Column]

    def __len__(self) -> int:
        return len(self.columns["psize"][0])

    @property
    def nbytes(self) -> int:
        """What it takes [bytes]."""
        packed = (column for column, _ in self.columns.values())
        return self.several.nbytes + sum(each.nbytes for each in (*packed, *self.further.values()))

    def table(self) -> BlockTable:
        """Return the table as it was."""
        return BlockTable(**{name: self._column(name) for name in self.columns})  # type: ignore[arg-type]

    def _column(self, name: str) -> Column:
        packed, dtype = self.columns[name]
        if name not in self.further:
            return packed.astype(dtype)
        found = np.full((len(packed), MAX_DVAS), NO_DVA[name], dtype)
        found[:, 0] = packed
        found[self.several, 1:] = self.further[name]
        return found


NO_DVA = {"dva_vdev": -1, "dva_offset": 0, "dva_asize": 0}
"""What a block table has where there is no further copy."""


def pack(table: BlockTable) -> PackedBlocks:
    """Return a block table in fewer bytes, to be kept.

    Examples
    --------
    >>> import numpy as np
    >>> one, none = np.ones(2, np.int64), np.full((2, 3), -1, np.int32)
    >>> place = np.zeros((2, 3), np.int64)
    >>> small = np.ones(2, np.int16)
    >>> table = BlockTable(one, one, small, one, small < 0, one, one, one, small, none, place, place)
    >>> bool((pack(table).table().dva_vdev == none).all()), pack(table).nbytes
    (True, 24)
    """
    whole = {field.name: getattr(table, field.name) for field in fields(table)}
    rest = [whole[name][:, 1:] != none for name, none in NO_DVA.items()]
    several = np.flatnonzero(np.any(np.concatenate(rest, axis=1), axis=1))
    first = {name: column[:, 0] if name in NO_DVA else column for name, column in whole.items()}
    return PackedBlocks(
        {name: (_narrow(column), column.dtype) for name, column in first.items()},
        several,
        {name: _narrow(whole[name][several, 1:]) for name in NO_DVA},
    )


def _narrow(column: Column) -> Column:
    if column.dtype == np.bool_ or not column.size:
        return column.copy()
    least, most = int(column.min()), int(column.max())
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max:
            return column.astype(kind)
    return column.copy()
