"""The blocks of a real pool, from ``zsim import`` (Parquet) or a ``bps.csv``, all of them or windows.

A Parquet list of any length is read twice, a group of rows at a time: where the blocks lie, then those
wanted.
"""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from zsim.base.arrays import Column, S
from zsim.base.errors import InputError
from zsim.base.reading import content_mark
from zsim.base.units import format_bytes
from zsim.pool.blocks import MAX_DVAS, BlockTable, numbers_led_by
from zsim.pool.measured.bps import read_block_list
from zsim.pool.measured.windows import (
    AddressWindows,
    RowWindows,
    address_windows,
    bytes_on,
    dropped_places,
    keep_rows,
    occupied_bins,
    with_copies_inside,
)
from zsim.pool.recipes.recipe import TopLevel
from zsim.vdevs.arrays import fits_on

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

I64 = NDArray[np.int64]
Order = Literal["address", "traversal"]

FIELD = "block_list"
NO_VDEV = -1
MOST_ROWS = 400_000
"""Of a list kept in memory; of a longer one, windows of so many blocks are."""
BATCH = 1 << 17
MAX_VDEVS = 4
MOST_PSIZE = 16 << 20
"""Largest block there is (OpenZFS spa.h:SPA_MAXBLOCKSIZE)."""
VDEVS_KEY = b"zsim.vdevs"
MISFIT = 0.5
CHECKED_ROWS = 20_000
REMEDY = "give the Parquet file that zsim import writes from zdb -Lbbbbb, or a bps.csv"
PLACES = [
    "psize", "dva_count",
    *(f"{part}_{copy}" for part in ("dva_vdev", "dva_offset", "dva_asize") for copy in range(MAX_DVAS)),
]  # fmt: skip
"""Columns of the first reading: all that is checked."""
COLUMNS = ["objset", "object", "level", "offset", "is_metadata", "birth", "lsize", *PLACES]


@dataclass(frozen=True, slots=True)
class KnownBlocks:
    """The blocks of a pool as listed.

    Attributes
    ----------
    table : BlockTable
        All of them, or those in windows; top-level vdevs numbered as in the layout.
    rows : int
        Blocks in the whole list.
    allocated : tuple of int
        By top-level vdev of the layout, in the whole list [bytes].
    windows : dict of int to AddressWindows
        By top-level vdev: where the table's blocks come from; empty for the whole list and for windows of the
        traversal.
    """

    table: BlockTable
    rows: int
    allocated: tuple[int, ...]
    windows: dict[int, AddressWindows]

    @property
    def whole(self) -> bool:
        """Whether it is the whole list."""
        return len(self.table) == self.rows

    def scale(self, vdevs: Sequence[int]) -> float:
        """Return the bytes of the pool over those of the table on some top-level vdevs."""
        here = bytes_on(self.table, vdevs)
        return sum(self.allocated[vdev] for vdev in vdevs) / here if here else 1.0


def load_blocks(
    path: str | Path, vdevs: tuple[TopLevel, ...], order: Order = "address", first: int = 0
) -> KnownBlocks:
    """Read a list of blocks; of one longer than `MOST_ROWS`, windows of about so many.

    Parameters
    ----------
    path : str or Path
        Parquet of ``zsim import``, or ``bps.csv`` with or without ``.zst``.
    vdevs : tuple of TopLevel
        Of the layout.
    order : {"address", "traversal"}
        What the windows are cut from: the addresses, for a scan in their order, or the list itself.
    first : int
        Number in the pool of the top-level vdev that is the first of `vdevs`: the one that is repaired.

    Raises
    ------
    InputError
        When the file cannot be read or is not about such a pool.
    """
    path = Path(path)
    return _load(path, content_mark(path, FIELD), vdevs, order, first)


@functools.lru_cache(maxsize=4)
def _load(path: Path, _state: str, vdevs: tuple[TopLevel, ...], order: Order, first: int) -> KnownBlocks:
    with path.open("rb") as stream:
        parquet = stream.read(4) == b"PAR1"
    if not parquet and not {".csv"} & set(path.suffixes):
        raise InputError(FIELD, str(path), "it is neither Parquet nor a bps.csv", REMEDY)
    source = _Parquet(path, len(vdevs), first) if parquet else _Csv(path, first)
    allocated = np.zeros(len(vdevs), dtype=np.int64)
    bins = [np.zeros(0, dtype=np.int64)] * len(vdevs)
    rows = 0
    for part in source.parts(PLACES):
        rows += len(part)
        _check_places(path, part, vdevs)
        for number, vdev in enumerate(vdevs):
            allocated[number] += bytes_on(part, (number,))
            here = part.dva_vdev[:, 0] == number
            counted = occupied_bins(part.dva_offset[here, 0], space_of(vdev))
            bins[number] = counted + bins[number] if len(bins[number]) else counted
    if not rows or not allocated.any():
        raise InputError(FIELD, str(path), "it holds no blocks of the layout's vdevs", REMEDY)
    everything = KnownBlocks(source.empty(), rows, tuple(allocated.tolist()), {})
    found = _gathered(source, everything, vdevs, bins, order)
    _check_sizes(path, found.table, vdevs)
    return found


def _gathered(
    source: _Source, known: KnownBlocks, vdevs: tuple[TopLevel, ...], bins: list[I64], order: Order
) -> KnownBlocks:
    if known.rows <= MOST_ROWS:
        return replace(known, table=joined(list(source.parts(COLUMNS))))
    share = MOST_ROWS / known.rows
    if order == "traversal":
        cut = RowWindows(known.rows, share, sum(known.allocated), 0)
        kept, first = [], 0
        for part in source.parts(COLUMNS):
            kept.append(part.take(cut.hold(first, first + len(part))))
            first += len(part)
        return replace(known, table=joined(kept))
    chosen = chosen_vdevs(len(vdevs))
    share = min(1.0, share * sum(known.allocated) / sum(known.allocated[v] for v in chosen))
    windows = {
        number: address_windows(bins[number], space_of(vdevs[number]), share, vdevs[number].unit, 0)
        for number in chosen
        if bins[number].any()
    }
    return _cut(source.parts(COLUMNS), known, windows)


def _cut(parts: Iterator[BlockTable], known: KnownBlocks, windows: dict[int, AddressWindows]) -> KnownBlocks:
    kept, spots = [], [np.zeros((0, 3), dtype=np.int64)]
    for part in parts:
        inside = keep_rows(part, windows)
        spots.append(dropped_places(part, inside, windows))
        kept.append(part.take(inside))
    table = with_copies_inside(joined(kept), windows, np.concatenate(spots))
    return replace(known, table=table, windows=windows)


def sample_blocks(
    known: KnownBlocks, vdevs: tuple[TopLevel, ...], most: int, order: Order, seed: int
) -> KnownBlocks:
    """Return windows of a list of about `most` blocks; the list itself where it has no more.

    Parameters
    ----------
    known : KnownBlocks
    vdevs : tuple of TopLevel
        Of the layout.
    most : int
    order : {"address", "traversal"}
    seed : int
        Of the places of the windows.
    """
    table = known.table
    if len(table) <= most:
        return known
    if order == "traversal":
        cut = RowWindows(len(table), most / len(table), table.allocated_bytes, seed)
        return replace(known, table=table.take(cut.hold(0, len(table))))
    chosen = chosen_vdevs(len(vdevs))
    first = table.dva_vdev[:, 0]
    share = min(1.0, most / max(1, int(np.isin(first, chosen).sum())))
    windows = {}
    for number in chosen:
        offset = table.dva_offset[first == number, 0]
        if len(offset):
            space, unit = space_of(vdevs[number]), vdevs[number].unit
            windows[number] = address_windows(occupied_bins(offset, space), space, share, unit, seed)
    return _cut(iter((table,)), known, windows)


def chosen_vdevs(count: int) -> tuple[int, ...]:
    """Return the top-level vdevs that windows are cut from.

    Parameters
    ----------
    count : int
        Top-level vdevs of the pool.

    Returns
    -------
    tuple of int
        At most MAX_VDEVS, evenly spread; the first is always there: it is the one that is repaired.
    """
    kept = min(count, MAX_VDEVS)
    return tuple(sorted({step * count // kept for step in range(kept)}))


def space_of(vdev: TopLevel) -> int:
    """Return the end of a vdev's address space [bytes], the metaslab of the intent log included."""
    return vdev.slab_bytes * (vdev.slab_count + 1)


def joined(parts: list[BlockTable]) -> BlockTable:
    """Return tables one after the other."""
    return BlockTable(
        *(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(BlockTable))
    )


def _check_places(path: Path, table: BlockTable, vdevs: tuple[TopLevel, ...]) -> None:
    """Refuse vdevs and addresses that the layout does not have."""
    if len(table) and int(table.dva_vdev.max()) >= len(vdevs):
        last = int(table.dva_vdev.max())
        allowed = f"it has blocks on top-level vdev {last}, the layout has {len(vdevs)}, counted from 0"
        raise InputError(FIELD, str(path), allowed, "give the layout of that pool")
    if len(table) and (int(table.psize.min()) < 0 or int(table.psize.max()) > MOST_PSIZE):
        wrong = next(each for each in (table.psize.min(), table.psize.max()) if not 0 <= each <= MOST_PSIZE)
        allowed = f"it has a psize of {wrong} bytes; ZFS has blocks of 0 to {format_bytes(MOST_PSIZE)}"
        raise InputError(FIELD, str(path), allowed, REMEDY)
    present = table.dva_vdev >= 0
    if (table.dva_vdev < NO_VDEV).any():
        allowed = f"it has a copy on vdev {int(table.dva_vdev.min())}; vdevs are counted from 0, -1 is none"
        raise InputError(FIELD, str(path), allowed, REMEDY)
    if (present != (np.arange(MAX_DVAS) < table.dva_count[:, None])).any():
        allowed = f"dva_count does not agree with the copies; a block has 1 to {MAX_DVAS}, the first ones"
        raise InputError(FIELD, str(path), allowed, REMEDY)
    for number, vdev in enumerate(vdevs):
        here = table.dva_vdev == number
        offset, asize = table.dva_offset[here], table.dva_asize[here]
        if min(offset.min(initial=0), asize.min(initial=0)) < 0:
            raise InputError(FIELD, str(path), "it has an address or a size below 0", REMEDY)
        # Two of at most 2**63 - 1 stay below 2**64: no sum comes round to a small address.
        end = int((offset.astype(np.uint64) + asize.astype(np.uint64)).max(initial=0))
        if end > space_of(vdev):
            limit = format_bytes(space_of(vdev))
            allowed = f"it has blocks at {format_bytes(end)}, and a vdev of such drives ends at {limit}"
            raise InputError(FIELD, str(path), allowed, "give the drive_size of that pool")


def _check_sizes(path: Path, table: BlockTable, vdevs: tuple[TopLevel, ...]) -> None:
    """Refuse blocks that such vdevs cannot have allocated: another layout or ashift.

    Data and metadata apart: whole records may take the same space with different sectors.
    """
    for metadata in (False, True):
        rows = np.flatnonzero(table.is_metadata == metadata)
        rows = rows[:: max(1, len(rows) // CHECKED_ROWS)]
        for number, vdev in enumerate(vdevs):
            mine = rows[table.dva_vdev[rows, 0] == number]
            fits = fits_on(vdev.spec, table.psize[mine], table.dva_asize[mine, 0], vdev.ashift)
            if len(mine) and float(fits.mean()) < 1 - MISFIT:
                allowed = f"{vdev.spec} with ashift {vdev.ashift} gives its blocks other sizes than it has"
                raise InputError(FIELD, str(path), allowed, "give the layout and the ashift of that pool")


class _Csv:
    """A ``bps.csv``."""

    def __init__(self, path: Path, first: int) -> None:
        self.table = _led_by(read_block_list(path).table, first)

    def parts(self, _columns: list[str]) -> Iterator[BlockTable]:
        """Yield the table."""
        yield self.table

    def empty(self) -> BlockTable:
        """Return a table without rows."""
        return self.table.take(np.zeros(0, dtype=np.intp))


class _Parquet:
    """A Parquet file of ``zsim import``."""

    def __init__(self, path: Path, count: int, first: int) -> None:
        self.path, self.first = path, first
        try:
            module = importlib.import_module("pyarrow.parquet")
        except ImportError as error:
            raise InputError(
                FIELD, str(path), "Parquet needs pyarrow, which is not installed", "install zsim[data]"
            ) from error
        self.damaged = (importlib.import_module("pyarrow").ArrowException, OSError, ValueError)
        try:
            self.file: ParquetFile = module.ParquetFile(path)
        except self.damaged as error:
            raise self._refusal("the file is damaged") from error
        missing = [name for name in COLUMNS if name not in self.file.schema_arrow.names]
        if missing:
            raise self._refusal(f"the column {missing[0]} is missing")
        self.numbers = self._numbers(count)

    def _refusal(self, allowed: str) -> InputError:
        return InputError(FIELD, str(self.path), allowed, REMEDY)

    def _numbers(self, count: int) -> dict[int, int] | None:
        """Return the layout's number of each of the pool's top-level vdevs; None where they are the same."""
        text = (self.file.metadata.metadata or {}).get(VDEVS_KEY)
        if text is None:
            return None
        try:
            ids = [int(number) for number in json.loads(text)]
        except (ValueError, TypeError) as error:
            raise self._refusal("its list of vdevs is damaged") from error
        if len(ids) != count:
            allowed = f"it is of a pool of {len(ids)} top-level vdevs, the layout has {count}"
            raise InputError(FIELD, str(self.path), allowed, "give the layout of that pool")
        return {number: place for place, number in enumerate(ids)}

    def parts(self, columns: list[str]) -> Iterator[BlockTable]:
        """Yield batches of rows as tables, with zeros in columns not asked for."""
        batches = self.file.iter_batches(batch_size=BATCH, columns=columns)
        while True:
            try:
                rows = next(batches, None)
                if rows is None:
                    return
                values = {name: rows.column(name).to_numpy(zero_copy_only=False) for name in columns}
            except self.damaged as error:
                raise self._refusal("the file is damaged") from error
            yield self._table(values, rows.num_rows)

    def _whole(self, name: str, values: Column, kind: type[S]) -> NDArray[S]:
        """Return a column as numbers of a kind; what is no whole number, or a larger one, is refused."""
        if not (values.dtype.kind in "iub" or not len(values)):
            raise self._refusal(f"the column {name} holds other things than whole numbers")
        if len(values) and np.dtype(kind).kind == "i":
            low, high, limits = int(values.min()), int(values.max()), np.iinfo(np.dtype(kind))
            if low < limits.min or high > limits.max:
                wrong = low if low < limits.min else high
                raise self._refusal(
                    f"the column {name} has {wrong}, and such numbers are of {limits.bits} bits"
                )
        return values.astype(kind)

    def empty(self) -> BlockTable:
        """Return a table without rows."""
        return self._table({name: np.zeros(0, dtype=np.int64) for name in COLUMNS}, 0)

    def _table(self, values: dict[str, Column], count: int) -> BlockTable:
        def whole(name: str, kind: type[S]) -> NDArray[S]:
            return self._whole(name, values[name], kind) if name in values else np.zeros(count, dtype=kind)

        def copies(part: str, kind: type[S]) -> NDArray[S]:
            return np.stack([whole(f"{part}_{copy}", kind) for copy in range(MAX_DVAS)], axis=1)

        lsize = whole("lsize", np.int64)
        table = BlockTable(
            objset=whole("objset", np.int64),
            object=whole("object", np.int64),
            level=whole("level", np.int16),
            blkid=whole("offset", np.int64) // np.maximum(lsize, 1),
            is_metadata=whole("is_metadata", np.bool_),
            birth=whole("birth", np.int64),
            psize=whole("psize", np.int64),
            lsize=lsize,
            dva_count=whole("dva_count", np.int16),
            dva_vdev=copies("dva_vdev", np.int32),
            dva_offset=copies("dva_offset", np.int64),
            dva_asize=copies("dva_asize", np.int64),
        )
        return _led_by(table if self.numbers is None else _renumbered(table, self.numbers), self.first)


_Source = _Csv | _Parquet


def _led_by(table: BlockTable, first: int) -> BlockTable:
    """Return the table with one top-level vdev in front of the others, as in `Layout.led_by`."""
    return replace(table, dva_vdev=numbers_led_by(table.dva_vdev, first))


def _renumbered(table: BlockTable, numbers: dict[int, int]) -> BlockTable:
    """Return the table with the layout's vdev numbers; copies elsewhere (special, log) are left out."""
    vdev = np.full_like(table.dva_vdev, -1)
    for old, new in numbers.items():
        vdev[table.dva_vdev == old] = new
    # Those that stay move to the front: copies are counted from the first.
    order = np.argsort(vdev < 0, axis=1, kind="stable")
    vdev = np.take_along_axis(vdev, order, axis=1)
    here = vdev >= 0
    moved = replace(
        table,
        dva_vdev=vdev,
        dva_offset=np.where(here, np.take_along_axis(table.dva_offset, order, axis=1), 0),
        dva_asize=np.where(here, np.take_along_axis(table.dva_asize, order, axis=1), 0),
        dva_count=here.sum(axis=1).astype(np.int16),
    )
    return moved.take(here[:, 0])
