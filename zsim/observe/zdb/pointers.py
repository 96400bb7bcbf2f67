"""``zdb -Lbbbbb``: the list of all block pointers, read as a stream of any length in bounded memory."""

from __future__ import annotations

import functools
import importlib
import math
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, TracebackType
from typing import IO, TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import InputError

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema
    from pyarrow.parquet import ParquetWriter

CHUNK = 4 << 20
LONGEST_LINE = 64 << 10
OTHER_LINES = 4096
OTHER_BYTES = 8 << 20
MALFORMED_SHARE = 0.01
SECTORS = (16 << 20) // 512
POWERS = 25
KINDS = ("metadata", "file", "volume")
METADATA, FILE, VOLUME = range(3)
FORM = "'objset N object N level N offset HEX DVA[0]=<N:HEX:HEX> ... size=HEXL/HEXP birth=NL/NP'"
_REMEDY = "give the output of zdb -Lbbbbb POOL"
_POINTER = re.compile(rb"objset \d{1,20} object \d{1,20} level -?\d{1,2} offset 0x")

OnProgress = Callable[[int], None]
"""Is called with the bytes read so far."""


@dataclass(slots=True)
class PointerSummary:
    """What a list of block pointers holds, summed up.

    Attributes
    ----------
    pointers, empty, malformed : int
        Block pointers with an address; holes and embedded ones; lines that could not be read.
    first_malformed : int or None
        Number of the first such line.
    blocks, lsize, psize, asize : ndarray of int64, shape (3,)
        By kind (metadata, file, volume): number, and sums [bytes]; asize over all copies.
    psizes : ndarray of int64, shape (3, 32769)
        Blocks by kind and psize in sectors of 512 bytes, larger ones in the last.
    lsizes : ndarray of int64, shape (3, 25)
        Bytes (lsize) by kind and the power of two that the lsize does not exceed.
    unit : int
        Greatest common divisor of all asizes [bytes].
    vdev_asize : dict of int to int
        Allocated by top-level vdev [bytes].
    births : tuple of int
        First and last birth txg.
    other_text : str
        Lines of another kind: the statistics that zdb prints behind the list.
    """

    pointers: int = 0
    empty: int = 0
    malformed: int = 0
    first_malformed: int | None = None
    blocks: NDArray[np.int64] = field(default_factory=lambda: np.zeros(3, dtype=np.int64))
    lsize: NDArray[np.int64] = field(default_factory=lambda: np.zeros(3, dtype=np.int64))
    psize: NDArray[np.int64] = field(default_factory=lambda: np.zeros(3, dtype=np.int64))
    asize: NDArray[np.int64] = field(default_factory=lambda: np.zeros(3, dtype=np.int64))
    psizes: NDArray[np.int64] = field(default_factory=lambda: np.zeros((3, SECTORS + 1), dtype=np.int64))
    lsizes: NDArray[np.int64] = field(default_factory=lambda: np.zeros((3, POWERS), dtype=np.int64))
    unit: int = 0
    vdev_asize: dict[int, int] = field(default_factory=dict)
    births: tuple[int, int] = (0, 0)
    other_text: str = ""

    @property
    def allocated(self) -> int:
        """Sum over all copies [bytes], at most ALLOC of zpool list."""
        return int(self.asize.sum())


def recognises(head: bytes) -> bool:
    """Tell whether a file that begins with these bytes is a list of block pointers."""
    return _POINTER.search(head) is not None


def read_pointers(
    stream: IO[bytes],
    name: str,
    head: bytes = b"",
    table: PointerTable | None = None,
    on_progress: OnProgress | None = None,
) -> PointerSummary:
    """Read a list of block pointers.

    Parameters
    ----------
    stream : binary file
        The rest of it.
    name : str
        Of the file, for messages.
    head : bytes
        What was read of it already.
    table : PointerTable, optional
        Receives all pointers.
    on_progress : callable, optional

    Raises
    ------
    InputError
        When there is no pointer in it, or more than 1 % of them cannot be read.
    """
    summing, done = _Summing(), 0
    for chunk in _chunks(stream, head, name):
        rows = summing.read(chunk)
        if table is not None:
            table.add(rows)
        done += len(chunk)
        if on_progress is not None:
            on_progress(done)
    return _checked(summing.summary, name)


def _checked(summary: PointerSummary, name: str) -> PointerSummary:
    known = summary.pointers + summary.empty
    if not known or summary.malformed > MALFORMED_SHARE * (known + summary.malformed):
        field = f"{name}, line {summary.first_malformed}" if summary.first_malformed else name
        count = (
            f"{summary.malformed} of {known + summary.malformed} block pointers"
            if summary.malformed
            else None
        )
        raise InputError(field, count, f"expected is {FORM}", _REMEDY)
    return summary


def _chunks(stream: IO[bytes], head: bytes, name: str) -> Iterator[bytes]:
    """Yield pieces that end with a line feed."""
    rest, piece = b"", head or stream.read(CHUNK)
    while piece:
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield rest + piece[:cut]
            rest = piece[cut:]
        else:
            rest += piece
        if len(rest) > CHUNK + LONGEST_LINE:
            raise InputError(name, None, f"lines of at most {LONGEST_LINE >> 10}K are expected", _REMEDY)
        piece = stream.read(CHUNK)
    if rest:
        yield rest + b"\n"


class _Summing:
    """Reads chunks and keeps the sums."""

    def __init__(self) -> None:
        # numba is needed here and nowhere else in this room: reading a short status must not wait for it.
        self.kernel = importlib.import_module("zsim.observe.zdb.pointer_kernel")
        self.summary = PointerSummary()
        self.counts = np.zeros(4, dtype=np.int64)
        self.others = np.zeros((OTHER_LINES, 2), dtype=np.int64)
        self.lines = 0
        self.rows = np.zeros((0, self.kernel.COLUMNS), dtype=np.int64)

    def read(self, chunk: bytes) -> NDArray[np.int64]:
        """Return the rows of a chunk, valid until the next call."""
        lines = chunk.count(b"\n")
        if len(self.rows) <= lines:
            self.rows = np.zeros((lines + 1, self.kernel.COLUMNS), dtype=np.int64)
        text = np.frombuffer(chunk, dtype=np.uint8)
        filled, noted, bad = self.kernel.read_lines(text, self.rows, self.others, self.counts)
        summary = self.summary
        if bad >= 0 and summary.first_malformed is None:
            summary.first_malformed = self.lines + bad + 1
        self.lines += lines
        summary.pointers, summary.empty, summary.malformed = (int(count) for count in self.counts[1:])
        self._keep_text(chunk, noted)
        rows = self.rows[:filled]
        if filled:
            self._sum(rows)
        return rows

    def _keep_text(self, chunk: bytes, noted: int) -> None:
        room = OTHER_BYTES - len(self.summary.other_text)
        if noted and room > 0:
            lines = [chunk[begin:end] for begin, end in self.others[:noted].tolist()]
            self.summary.other_text += (b"\n".join(lines) + b"\n").decode("utf-8", "replace")[:room]

    def _sum(self, rows: NDArray[np.int64]) -> None:
        names, summary = self.kernel, self.summary
        kind, lsize, psize = rows[:, names.KIND], rows[:, names.LSIZE], rows[:, names.PSIZE]
        asizes = rows[:, [names.ASIZE_0, names.ASIZE_1, names.ASIZE_2]]
        sectors = np.minimum(psize >> 9, SECTORS)
        power = np.minimum(np.ceil(np.log2(np.maximum(lsize, 1))).astype(np.int64), POWERS - 1)
        summary.psizes += _counted(kind * (SECTORS + 1) + sectors, summary.psizes)
        for number in range(len(KINDS)):
            chosen = kind == number
            summary.blocks[number] += int(chosen.sum())
            summary.lsize[number] += int(lsize[chosen].sum())
            summary.psize[number] += int(psize[chosen].sum())
            summary.asize[number] += int(asizes[chosen].sum())
            np.add.at(summary.lsizes[number], power[chosen], lsize[chosen])
        summary.unit = math.gcd(summary.unit, int(np.gcd.reduce(asizes, axis=None)))
        self._sum_places(rows, asizes)

    def _sum_places(self, rows: NDArray[np.int64], asizes: NDArray[np.int64]) -> None:
        names, summary = self.kernel, self.summary
        vdevs = rows[:, [names.VDEV_0, names.VDEV_1, names.VDEV_2]]
        for vdev in np.unique(vdevs[vdevs >= 0]).tolist():
            if vdev in summary.vdev_asize or len(summary.vdev_asize) < 10_000:
                allocated = int(asizes[vdevs == vdev].sum())
                summary.vdev_asize[vdev] = summary.vdev_asize.get(vdev, 0) + allocated
        births = rows[:, names.BIRTH]
        low, high = int(births.min()), int(births.max())
        first = summary.births == (0, 0)
        summary.births = (
            low if first else min(low, summary.births[0]),
            max(high, summary.births[1]),
        )


def _counted(places: NDArray[np.int64], like: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(places, minlength=like.size).astype(np.int64).reshape(like.shape)


@functools.cache
def require_pyarrow() -> tuple[ModuleType, ModuleType]:
    """Return the modules of pyarrow.

    Raises
    ------
    InputError
        When it is not installed.
    """
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        reason = "the list of block pointers is kept as Parquet, which needs pyarrow"
        remedy = "install zsim[data], or give --no-blocks to keep only the sums"
        raise InputError("--blocks", "Parquet", reason, remedy) from error


class PointerTable:
    """A Parquet file of block pointers that appears whole or not at all, and only if there are any.

    Columns: objset, object, level, offset (in the object [bytes]), is_metadata, birth, psize, lsize [bytes],
    dva_count, and of each copy dva_vdev_0, dva_offset_0, dva_asize_0 [bytes] to dva_asize_2 (vdev -1: none).

    Parameters
    ----------
    path : str or Path
    """

    GROUP = 1 << 20

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._waiting: list[RecordBatch] = []
        self._rows = 0
        self._temporary = ""
        self._schema: Schema | None = None
        self._writer: ParquetWriter | None = None
        self._facts: dict[str, str] = {}

    @property
    def begun(self) -> bool:
        """Whether there are pointers to write."""
        return self._writer is not None

    def describe(self, facts: dict[str, str]) -> None:
        """Keep facts about the list in the file, by name."""
        self._facts |= facts

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is None:
            return
        try:
            if kind is None:
                self._flush()
                self._writer.add_key_value_metadata(self._facts)
            self._writer.close()
            if kind is None:
                Path(self._temporary).chmod(0o644)
                Path(self._temporary).replace(self.path)
        finally:
            Path(self._temporary).unlink(missing_ok=True)

    def add(self, rows: NDArray[np.int64]) -> None:
        """Append rows of the kernel.

        Raises
        ------
        InputError
            When pyarrow is not installed.
        """
        if self._writer is None:
            self._open()
        if len(rows):
            self._waiting.append(self._batch(rows))
            self._rows += len(rows)
        if self._rows >= self.GROUP:
            self._flush()

    def _open(self) -> None:
        arrow, parquet = require_pyarrow()
        types = [(name, arrow.from_numpy_dtype(kind)) for name, _, kind in _table_fields()]
        self._schema = arrow.schema(types)
        handle, self._temporary = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        os.close(handle)
        self._writer = parquet.ParquetWriter(
            self._temporary, self._schema, compression="zstd", compression_level=1
        )

    def _flush(self) -> None:
        if self._waiting and self._writer is not None:
            arrow, _ = require_pyarrow()
            self._writer.write_table(arrow.Table.from_batches(self._waiting, self._schema))
        self._waiting, self._rows = [], 0

    def _batch(self, rows: NDArray[np.int64]) -> RecordBatch:
        arrow, _ = require_pyarrow()
        columns = []
        for name, place, kind in _table_fields():
            values = rows[:, place]
            column = values == METADATA if name == "is_metadata" else values.astype(kind)
            columns.append(arrow.array(column))
        return arrow.RecordBatch.from_arrays(columns, schema=self._schema)


def _table_fields() -> list[tuple[str, int, type]]:
    """Return name, column of the kernel and type of each column of the file."""
    names = importlib.import_module("zsim.observe.zdb.pointer_kernel")
    fields: list[tuple[str, int, type]] = [
        ("objset", names.OBJSET, np.int64), ("object", names.OBJECT, np.int64),
        ("level", names.LEVEL, np.int16), ("offset", names.OFFSET, np.int64),
        ("is_metadata", names.KIND, np.bool_), ("birth", names.BIRTH, np.int64),
        ("psize", names.PSIZE, np.int64), ("lsize", names.LSIZE, np.int64),
        ("dva_count", names.COPIES, np.int16),
    ]  # fmt: skip
    parts = (("dva_vdev", np.int32), ("dva_offset", np.int64), ("dva_asize", np.int64))
    for copy in range(3):
        for k, (part, kind) in enumerate(parts):
            fields.append((f"{part}_{copy}", names.VDEV_0 + 3 * copy + k, kind))
    return fields
