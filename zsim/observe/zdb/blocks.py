"""``zdb -Lbb``, ``-Lbbb``, ``-Lbbbb``: counts and sizes of blocks by type and level, and their histograms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from zsim.base.errors import InputError
from zsim.observe.texts import bad_line, nice_bytes, nice_count, plain, whole

SECTOR = 512
LARGEST_BUCKET = 257
"""Sectors under which zdb counts all psizes above 128K (zdb.c, PSIZE_HISTO_SIZE)."""

DATA_TYPES = ("ZFS plain file", "zvol object")
FORM = "Blocks LSIZE PSIZE ASIZE avg comp %Total Type"
_REMEDY = "run zdb -Lbbbb POOL again"
_HEADER = re.compile(r"^[ \t]{0,20}Blocks[ \t]{1,20}LSIZE[ \t]{1,20}PSIZE[ \t]{1,20}ASIZE", re.MULTILINE)
_SIZES = re.compile(r"^[ \t]{0,20}Block Size Histogram[ \t]{0,20}$", re.MULTILINE)
_LEVEL = re.compile(r"L(\d{1,2})", re.ASCII)
_BUCKET = re.compile(r"[ \t]{0,80}(\d{1,3}):[ \t]{1,40}(\d{1,19})[ \t]{0,40}\**[ \t]{0,40}", re.ASCII)
_ALLOCATED = re.compile(r"^[ \t]{0,20}bp allocated:[ \t]{0,40}(\d{1,19})\b", re.MULTILINE | re.ASCII)
_COUNT = re.compile(r"^[ \t]{0,20}bp count:[ \t]{0,40}(\d{1,19})\b", re.MULTILINE | re.ASCII)
MAX_ROWS = 4096


@dataclass(frozen=True, slots=True)
class TypeRow:
    """Blocks of one type and level.

    Attributes
    ----------
    type : str
        As printed: ZFS plain file, zvol object, DMU dnode, Total.
    level : int or None
        None for the row of all levels.
    blocks, lsize, psize, asize : int
        Number, and sums [bytes].
    psizes : tuple of (int, int)
        (psize [bytes], blocks) where -bbbb gave the histogram.  All above 128K are under their mean size.
    """

    type: str
    level: int | None
    blocks: int
    lsize: int
    psize: int
    asize: int
    psizes: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SizeRow:
    """Blocks whose psize, lsize or asize is from `size` up to twice that [bytes]."""

    size: int
    psize_blocks: int
    lsize_blocks: int
    asize_blocks: int


@dataclass(frozen=True, slots=True)
class BlockStatistics:
    """What ``zdb -b`` counted.

    Attributes
    ----------
    rows : tuple of TypeRow
    sizes : tuple of SizeRow
        The pool-wide histogram, ascending; empty before 2.0.
    allocated, blocks : int or None
        Sum over all copies [bytes], and number of block pointers.
    """

    rows: tuple[TypeRow, ...]
    sizes: tuple[SizeRow, ...]
    allocated: int | None
    blocks: int | None

    def completed(self, other: BlockStatistics) -> BlockStatistics:
        """Return this with what only the other one tells, and the table by type of the more detailed one."""
        more = sum(len(row.psizes) for row in other.rows) > sum(len(row.psizes) for row in self.rows)
        return BlockStatistics(
            other.rows if more or not self.rows else self.rows,
            self.sizes or other.sizes,
            self.allocated or other.allocated,
            self.blocks or other.blocks,
        )

    def data_rows(self) -> tuple[TypeRow, ...]:
        """Return the rows of the data blocks of files and volumes: level 0, or all if there is no other."""
        rows = []
        for kind in DATA_TYPES:
            of_kind = [row for row in self.rows if row.type == kind]
            level_0 = [row for row in of_kind if row.level == 0]
            rows += level_0[:1] or [row for row in of_kind if row.level is None][:1]
        return tuple(rows)

    def total(self) -> TypeRow | None:
        """Return the row of all types."""
        return next((row for row in self.rows if row.type == "Total" and row.level is None), None)


def recognises(text: str) -> bool:
    """Tell whether a text holds the statistics of ``zdb -b``."""
    return _HEADER.search(text) is not None or _SIZES.search(text) is not None


def read(text: str, name: str) -> tuple[BlockStatistics]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    return (read_statistics(text, name),)


def read_statistics(text: str, name: str = "zdb -b") -> BlockStatistics:
    """Read ``zdb -Lbb`` to ``-Lbbbbb``, with or without -P.

    Raises
    ------
    InputError
        When neither the table by type nor the histogram is in it.
    """
    rows = _rows(text, name)
    sizes = _size_rows(text)
    if not rows and not sizes:
        raise InputError(name, None, f"a table {FORM} is expected", _REMEDY)
    allocated, count = _ALLOCATED.search(text), _COUNT.search(text)
    return BlockStatistics(
        tuple(rows), sizes, whole(allocated[1]) if allocated else None, whole(count[1]) if count else None
    )


def _rows(text: str, name: str) -> list[TypeRow]:
    header = _HEADER.search(text)
    rows: list[TypeRow] = []
    if header is None:
        return rows
    buckets: list[tuple[int, int]] = []
    first = text.count("\n", 0, header.start()) + 2
    for number, line in enumerate(text[header.start() :].split("\n")[1:], start=first):
        row = _row(line)
        if row is not None:
            _close(rows, buckets)
            rows.append(row)
        elif match := _BUCKET.fullmatch(line[:200]):
            buckets.append((int(match[1]), int(match[2])))
        elif _SIZES.match(line):
            break
        if len(rows) > MAX_ROWS:
            raise bad_line(name, number, line, f"a table of at most {MAX_ROWS} rows", _REMEDY)
    _close(rows, buckets)
    return rows


def _row(line: str) -> TypeRow | None:
    """Return a row of the table, or None for any other line and for a type without blocks."""
    words = line.split(None, 7) if len(line) < 400 else []
    if len(words) < 8 or words[0] == "-":
        return None
    sizes = [nice_count(words[0]), *(nice_bytes(word) for word in words[1:4])]
    if any(size is None for size in sizes) or nice_bytes(words[4]) is None:
        return None
    rest = words[7].split(None, 1)
    level = _LEVEL.fullmatch(rest[0]) if len(rest) == 2 else None
    kind = " ".join((rest[1] if level else words[7]).split())
    blocks, lsize, psize, asize = (size or 0 for size in sizes)
    return TypeRow(plain(kind), int(level[1]) if level else None, blocks, lsize, psize, asize)


def _close(rows: list[TypeRow], buckets: list[tuple[int, int]]) -> None:
    """Give the last row its histogram."""
    if rows and buckets:
        row = rows[-1]
        rows[-1] = TypeRow(
            row.type, row.level, row.blocks, row.lsize, row.psize, row.asize, _psizes(row, buckets)
        )
    buckets.clear()


def _psizes(row: TypeRow, buckets: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the histogram in bytes, its open last bucket at the mean of what the others leave."""
    closed = [(sectors * SECTOR, count) for sectors, count in buckets if sectors < LARGEST_BUCKET and count]
    above = sum(count for sectors, count in buckets if sectors >= LARGEST_BUCKET)
    if above:
        rest = row.psize - sum(size * count for size, count in closed)
        closed.append((max(rest // above, LARGEST_BUCKET * SECTOR) // SECTOR * SECTOR, above))
    return tuple(closed)


def _size_rows(text: str) -> tuple[SizeRow, ...]:
    found = _SIZES.search(text)
    rows: dict[int, SizeRow] = {}
    if found is None:
        return ()
    for line in text[found.end() :].split("\n")[:200]:
        words = line.replace(":", " ").split()
        if len(words) != 10:
            continue
        size = nice_bytes(words[0])
        counts = [nice_count(words[place]) for place in (1, 4, 7)]
        if size and not size & (size - 1) and None not in counts:
            rows.setdefault(size, SizeRow(size, *(count or 0 for count in counts)))
    return tuple(rows[size] for size in sorted(rows))
