"""Items of a scan: what it can visit or issue, in the form the engines need."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import I32, I64

NO_ITEM = -1
LINKS = ("prefetch_first", "prefetch_next", "unwind")
"""Columns that hold numbers of items, or NO_ITEM."""
NARROW, MOST_NARROW = (*LINKS, "vdev", "copies", "copy_count"), 1 << 29
"""Columns that take 32 bits where tables are joined, and of how many items: each has three copies at most."""


def _no_columns() -> NDArray[np.int16]:
    return np.zeros(0, np.int16)


@dataclass(frozen=True, slots=True)
class ScanItems:
    """Blocks the scan can visit or issue, as the engines take them.

    Numbers of few bits may take 32, as they do where tables are joined (`NARROW`).

    Attributes
    ----------
    vdev, offset, psize : ndarray of int64, shape (n,)
        The copy that is read.
    level0 : ndarray of bool, shape (n,)
    copies : ndarray of int64, shape (n,)
        First row in `copy_vdev` and `copy_offset`.
    copy_count : ndarray of int64, shape (n,)
        How many further copies are repaired with this block.
    copy_vdev, copy_offset : ndarray of int64
    prefetch_first, prefetch_next : ndarray of int64, shape (n,)
        Tree of metadata: first item below, next item beside; -1 none.
    in_memory : ndarray of bool, shape (n,)
        Metadata that needs no read.
    unwind : ndarray of int64, shape (n,), or None
        Next block above that needs I/O, -1: none.  When a legacy scan pauses at an item, these blocks are
        issued on the way up, one after the other; None: never.
    columns, copy_columns : ndarray of int16, shape (n,) and that of `copy_vdev`
        Data columns of the stripe of the copy that is read, and of the others; 0: as of new blocks.
    """

    vdev: I32 | I64
    offset: NDArray[np.int64]
    psize: NDArray[np.int64]
    level0: NDArray[np.bool_]
    copies: I32 | I64
    copy_count: I32 | I64
    copy_vdev: NDArray[np.int64]
    copy_offset: NDArray[np.int64]
    prefetch_first: NDArray[np.int64]
    prefetch_next: NDArray[np.int64]
    in_memory: NDArray[np.bool_]
    unwind: NDArray[np.int64] | None = None
    columns: NDArray[np.int16] = field(default_factory=_no_columns)
    copy_columns: NDArray[np.int16] = field(default_factory=_no_columns)

    def __post_init__(self) -> None:
        for name, count in (("columns", len(self.vdev)), ("copy_columns", len(self.copy_vdev))):
            if len(getattr(self, name)) == 0 < count:
                object.__setattr__(self, name, np.zeros(count, np.int16))

    def __len__(self) -> int:
        return len(self.vdev)


def plain_items(
    vdev: I32 | I64,
    offset: NDArray[np.int64],
    psize: NDArray[np.int64],
    *,
    level0: NDArray[np.bool_] | None = None,
    columns: NDArray[np.int16] | None = None,
) -> ScanItems:
    """Return items of one copy each, outside the tree of metadata.

    Parameters
    ----------
    vdev, offset, psize : ndarray of int64, shape (n,)
        Where each is read, and how much [bytes].
    level0 : ndarray of bool, shape (n,), optional
        All are if not given.
    columns : ndarray of int16, shape (n,), optional
        As in `ScanItems`; 0 if not given.
    """
    count = len(offset)
    zero, none = np.zeros(count, np.int64), np.full(count, NO_ITEM, np.int64)
    return ScanItems(
        vdev=vdev,
        offset=offset,
        psize=psize,
        level0=np.ones(count, bool) if level0 is None else level0,
        copies=zero,
        copy_count=zero,
        copy_vdev=np.zeros(0, np.int64),
        copy_offset=np.zeros(0, np.int64),
        prefetch_first=none,
        prefetch_next=none,
        in_memory=np.zeros(count, bool),
        columns=_no_columns() if columns is None else columns,
    )


def joined_items(items: ScanItems, more: ScanItems) -> ScanItems:
    """Return items and, behind them, more: each with its copies and with its own tree of metadata."""
    both = ScanItems(*(_joined(items, more, name) for name in ScanItems.__slots__))
    return replace(both, unwind=None) if items.unwind is None and more.unwind is None else both


def _joined(items: ScanItems, more: ScanItems, name: str) -> NDArray[Any]:
    """Return one column of both; in that of `more`, numbers of copies and of items stand further behind.

    One at a time, for of many blocks a second table of items is as large as all that a prediction needs.
    """
    pair = [getattr(each, name) for each in (items, more)]
    if name == "unwind":
        pair = [
            np.full(len(each), NO_ITEM, np.int64) if column is None else column
            for each, column in zip((items, more), pair, strict=True)
        ]
    if name == "copies":
        pair[1] = pair[1] + len(items.copy_vdev)
    if name not in NARROW:
        return np.concatenate(pair)
    narrow = np.int32 if len(items) + len(more) < MOST_NARROW else np.int64
    both = np.concatenate(pair, dtype=narrow, casting="same_kind")
    if name in LINKS:
        behind = both[len(items) :]
        np.add(behind, len(items), out=behind, where=behind != NO_ITEM)
    return both
