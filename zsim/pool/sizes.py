"""A histogram of block sizes, as CSV, becomes the mix of records of a history."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

from zsim.errors import InputError
from zsim.pool.recipe import RecordClass
from zsim.units import parse_bytes

MAX_RECORD = 16 << 20
FORM = "a CSV with the columns psize and blocks, and optionally lsize"
MAX_ROWS = 10_000


def read_block_sizes(path: str | Path) -> tuple[RecordClass, ...]:
    """Read the sizes of a pool's data blocks.

    Parameters
    ----------
    path : str or Path
        CSV with the columns `psize` (size on disk), `blocks` (how many) and optionally `lsize` (size before
        compression; without it a block is taken for one of the next power of two).  Sizes are 16K or 16384.

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
    by_record: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for number, row in enumerate(_rows(path), start=2):
        psize, lsize, blocks = _sizes(path, number, row)
        by_record[lsize][psize] += blocks
    if not by_record:
        raise InputError("blocks", str(path), "the file holds no blocks", f"give {FORM}")
    return tuple(_record(lsize, counts) for lsize, counts in sorted(by_record.items()))


def _record(lsize: int, counts: dict[int, float]) -> RecordClass:
    total = sum(counts.values())
    ratios = tuple((psize / lsize, count / total) for psize, count in sorted(counts.items()))
    return RecordClass(lsize, total * lsize, 1.0, ratios)


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            rows = [row for row, _ in zip(reader, range(MAX_ROWS + 1), strict=False)]
            names = {name.strip().lower(): name for name in reader.fieldnames or ()}
    except OSError as error:
        reason = (error.strerror or "it cannot be read").lower()
        raise InputError("blocks", str(path), reason, f"give {FORM}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError("blocks", str(path), "it is not CSV", f"give {FORM}") from error
    missing = [name for name in ("psize", "blocks") if name not in names]
    if missing:
        raise InputError("blocks", str(path), f"it has no column {missing[0]}", f"give {FORM}")
    if len(rows) > MAX_ROWS:
        raise InputError("blocks", str(path), f"it has more than {MAX_ROWS} rows", "add up equal sizes")
    return [{name: row.get(original) or "" for name, original in names.items()} for row in rows]


def _sizes(path: Path, number: int, row: dict[str, str]) -> tuple[int, int, float]:
    """Return psize, record size and count of a row."""
    field = f"{path.name} line {number}"
    psize = parse_bytes(row["psize"], f"{field}: psize")
    stated = parse_bytes(row["lsize"], f"{field}: lsize") if row.get("lsize") else psize
    if not 0 < psize <= MAX_RECORD or not psize <= stated <= MAX_RECORD:
        allowed = "0 < psize <= lsize <= 16M"
        raise InputError(field, f"{row['psize']}, {row.get('lsize', '')}", allowed, "correct the row")
    try:
        blocks = float(row["blocks"])
    except ValueError:
        blocks = -1.0
    if not 0 <= blocks < 1e18:
        raise InputError(
            f"{field}: blocks", row["blocks"], "a number from 0 is needed here", "correct the row"
        )
    return psize, max(512, 1 << (stated - 1).bit_length()), blocks
