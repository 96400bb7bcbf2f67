"""From a histogram of block sizes (CSV) to the mix of record sizes of a history."""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from pathlib import Path

from zsim.base.errors import InputError
from zsim.base.reading import MAX_TEXT, opened
from zsim.base.units import parse_bytes
from zsim.pool.recipes.recipe import RecordClass
from zsim.scenario.releases.record_sizes import MAX_RECORD

FORM = "a CSV with the columns psize and blocks, and optionally lsize"
MAX_ROWS, MAX_TYPED_ROWS = 10_000, 200_000
RATIOS = 64
"""Different ratios of psize to lsize kept of a record size; more are merged with their neighbours."""
TYPED = ("type", "quantity", "size", "blocks")
DATA_TYPES = ("file", "volume", "zfs plain file", "zvol object")

Sizes = tuple[int, int, float]


def read_block_sizes(path: str | Path, recordsize: int | None = None) -> tuple[RecordClass, ...]:
    """Read the sizes of a pool's data blocks.

    Parameters
    ----------
    path : str or Path
        CSV with the columns `psize` (size on disk), `blocks` (how many) and optionally `lsize` (size before
        compression; without it a block is taken for one of the next power of two).  Sizes are 16K or 16384.
        Or the ``blocks.csv`` of ``zsim import``, with type, level, quantity, size and blocks.
    recordsize : int, optional
        Taken for the lsize of all blocks not larger than that [bytes], where the file has none.

    Returns
    -------
    tuple of RecordClass
        One per record size, its share the bytes it holds.

    Raises
    ------
    InputError
        Naming file, line and value.
    """
    path = Path(path)
    rows = _rows(path)
    typed = bool(rows) and "quantity" in rows[0]
    sizes = (
        _typed_sizes(path, rows, recordsize)
        if typed
        else [_sizes(path, *each) for each in enumerate(rows, start=2)]
    )
    by_record: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for psize, lsize, blocks in sizes:
        by_record[lsize][psize] += blocks
    by_record = {lsize: counts for lsize, counts in by_record.items() if sum(counts.values()) > 0}
    if not by_record:
        raise InputError("blocks", str(path), "the file holds no blocks", f"give {FORM}")
    return tuple(_record(lsize, counts) for lsize, counts in sorted(by_record.items()))


def _record(lsize: int, counts: dict[int, float]) -> RecordClass:
    total = math.fsum(counts.values())
    merged: dict[int, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    few = len(counts) <= RATIOS
    for psize, count in counts.items():
        key = psize if few else psize * RATIOS // lsize
        size, number = merged[key]
        merged[key] = (size + psize * count, number + count)
    ratios = tuple(
        (size / number / lsize, number / total) for _, (size, number) in sorted(merged.items()) if number > 0
    )
    return RecordClass(lsize, total * lsize, 1.0, ratios)


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with opened(path, "blocks", f"give {FORM}", MAX_TEXT) as stream:
            reader = csv.DictReader(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""))
            rows = [row for row, _ in zip(reader, range(MAX_TYPED_ROWS + 1), strict=False)]
            names = {name.strip().lower(): name for name in reader.fieldnames or ()}
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError("blocks", str(path), "it is not CSV", f"give {FORM}") from error
    typed = all(name in names for name in TYPED)
    missing = [] if typed else [name for name in ("psize", "blocks") if name not in names]
    if missing:
        raise InputError("blocks", str(path), f"it has no column {missing[0]}", f"give {FORM}")
    most = MAX_TYPED_ROWS if typed else MAX_ROWS
    if len(rows) > most:
        raise InputError("blocks", str(path), f"it has more than {most} rows", "add up equal sizes")
    return [{name: row.get(original) or "" for name, original in names.items()} for row in rows]


def _sizes(path: Path, number: int, row: dict[str, str]) -> Sizes:
    """Return psize, record size and count of a row."""
    field = f"{path.name} line {number}"
    psize = parse_bytes(row["psize"], f"{field}: psize")
    stated = parse_bytes(row["lsize"], f"{field}: lsize") if row.get("lsize") else psize
    if not 0 < psize <= MAX_RECORD or not psize <= stated <= MAX_RECORD:
        allowed = "0 < psize <= lsize <= 16M"
        raise InputError(field, f"{row['psize']}, {row.get('lsize', '')}", allowed, "correct the row")
    return psize, _power(stated), _count(field, row)


def _power(size: int) -> int:
    return max(512, 1 << (size - 1).bit_length())


def _count(field: str, row: dict[str, str]) -> float:
    try:
        blocks = float(row["blocks"])
    except ValueError:
        blocks = -1.0
    if not 0 <= blocks < 1e18:
        raise InputError(
            f"{field}: blocks", row["blocks"], "a number from 0 is needed here", "correct the row"
        )
    return blocks


def _typed_sizes(path: Path, rows: list[dict[str, str]], recordsize: int | None) -> list[Sizes]:
    """Return the sizes of the data blocks in a file of ``zsim import``: by type, or the pool-wide histogram.

    The histogram of zdb -bb has powers of two only.  Where a class has more blocks on disk than before
    compression, they are taken for compressed ones, evenly spread over the class; else for whole records.
    """
    kinds: dict[str, dict[str, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))
    for number, row in enumerate(rows, start=2):
        field = f"{path.name} line {number}"
        size = parse_bytes(row["size"], f"{field}: size")
        if not 0 <= size <= MAX_RECORD:
            raise InputError(
                f"{field}: size", row["size"], "a size up to 16M is needed here", "correct the row"
            )
        key = f"{row['type'].strip().lower()}|{row.get('level', '').strip()}"
        kinds[key][row["quantity"].strip().lower()].append((size, _count(field, row)))
    found: list[tuple[int, float]] = []
    for kind in DATA_TYPES:
        found += (kinds.get(f"{kind}|0") or kinds.get(f"{kind}|") or {}).get("psize", [])
    if not found and "all|" in kinds:
        before = dict(kinds["all|"].get("lsize", []))
        for size, blocks in kinds["all|"].get("psize", []):
            packed = min(size * 3 // 2, MAX_RECORD)
            found.append((packed if blocks > before.get(size, 0.0) else size, blocks))
    return [(size, _lsize(size, recordsize), blocks) for size, blocks in found if size > 0]


def _lsize(psize: int, recordsize: int | None) -> int:
    return recordsize if recordsize is not None and psize <= recordsize else min(_power(psize), MAX_RECORD)
