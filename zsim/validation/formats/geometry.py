"""Format ``*_map_vectors.csv.gz``: block-to-child maps of real OpenZFS, every row exact.

Columns as in validation/geometry/README.md; a claim compares the number of blocks mapped like the real code
with the number of blocks in the file.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from pathlib import Path

from zsim.base.errors import InputError
from zsim.base.reading import opened
from zsim.validation.frame import Claim, Options, ValidationCase, judge
from zsim.vdevs import draid, permutations, raidz

Row = dict[str, int]
Column = tuple[int, int, int]

RAIDZ_COLUMNS = (
    "case", "offset", "psize", "ashift", "dcols", "nparity", "asize", "nskip", "skipstart", "acols", "scols",
    "col", "devidx", "col_offset", "col_size", "is_parity",
)  # fmt: skip
DRAID_COLUMNS = (
    "case", "nparity", "ndata", "children", "nspares", "ngroups", "ashift", "offset", "psize", "asize",
    "nrows", "row", "rr_cols", "col", "devidx", "col_offset", "col_size", "is_parity",
)  # fmt: skip


def discover(path: Path) -> list[ValidationCase]:
    """Return the one case that a file of vectors is."""
    name = path.name.removesuffix(".csv.gz")
    return [
        ValidationCase(
            name, "geometry", "geometry", path, claim="blocks mapped exactly", tolerance=0.0, unit="1"
        )
    ]


def run(case: ValidationCase, options: Options) -> list[Claim]:
    """Return the claim that all blocks of the file are mapped exactly."""
    del options
    total = exact = 0
    first_wrong = ""
    for block in blocks(case.path):
        total += 1
        if check_draid(block) if "ndata" in block[0] else check_raidz(block):
            exact += 1
        elif not first_wrong:
            first_wrong = f"the first that differs is case {block[0]['case']} at offset {block[0]['offset']}"
    return [judge(case, case.claim, total, exact, 0.0, unit="1", reason=first_wrong)]


def blocks(path: Path) -> Iterator[list[Row]]:
    """Yield the rows of each block.

    Raises
    ------
    InputError
        When the file cannot be read to its end, or a column is missing or not a number.
    """
    found = False
    try:
        with opened(path, "vectors", "copy the file again") as stream:
            reader = csv.DictReader(io.TextIOWrapper(stream, encoding="utf-8", newline=""))
            wanted = DRAID_COLUMNS if "ndata" in (reader.fieldnames or ()) else RAIDZ_COLUMNS
            for _, rows in itertools.groupby(reader, lambda row: (row.get("config"), row["case"])):
                found = True
                yield [{name: int(row[name]) for name in wanted} for row in rows]
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        reason = f"it cannot be read ({type(error).__name__}: {error})"
        raise InputError("vectors", path.name, reason, "copy the file again") from error
    if not found:
        raise InputError("vectors", path.name, "it holds no row", "copy the file again")


def expected_columns(block: list[Row]) -> list[Column]:
    """Return (child, child offset, size) of every column that holds something."""
    return [(row["devidx"], row["col_offset"], row["col_size"]) for row in block if row["col_size"]]


def parity_columns(block: list[Row]) -> list[int]:
    """Return the children of the columns that hold parity, in the order of the columns."""
    return [row["devidx"] for row in block if row["is_parity"]]


def check_raidz(block: list[Row]) -> bool:
    """Tell whether `zsim.vdevs.raidz` gives columns, allocated size and skip sectors of a block."""
    row = block[0]
    offset, parity = row["offset"], row["nparity"]
    shape = row["ashift"], row["dcols"], parity
    columns, first, base, big, small, sector = raidz.raidz_map(offset, row["psize"], *shape)
    mapped = [
        raidz.raidz_piece(column, first, base, big, small, sector, row["dcols"]) for column in range(columns)
    ]
    swapped = raidz.raidz_parity_column(offset, parity)
    skipped, start = raidz.raidz_skip(row["psize"], *shape)
    if swapped:
        mapped[0], mapped[1] = mapped[1], mapped[0]
        start = start or 1
    return (
        mapped == expected_columns(block)
        and [child for child, _, _ in mapped[:parity]] == parity_columns(block)
        and columns == row["acols"]
        and (skipped, start) == (row["nskip"], row["skipstart"])
        and raidz.raidz_asize(row["psize"], *shape) == row["asize"]
    )


def check_draid(block: list[Row]) -> bool:
    """Tell whether `zsim.vdevs.draid` gives every column, group and allocated size of a block."""
    row = block[0]
    group = row["ndata"], row["nparity"]
    children, spares, ashift = row["children"], row["nspares"], row["ashift"]
    table = permutations.draid_permutations(children)
    mapped: list[Column] = []
    for offset, psize in draid_parts(row["offset"], row["psize"], ashift, *group):
        found = draid.draid_map(offset, psize, ashift, *group, children, spares)
        _, _, _, big, small, _ = found
        for column in range(sum(group)):
            child, child_offset = draid.draid_piece(column, *found[:3], spares, table)
            mapped.append((child, child_offset, small + (column < big) * (1 << ashift)))
    return (
        [column for column in mapped if column[2]] == expected_columns(block)
        and len(mapped) == row["rr_cols"] * row["nrows"]
        and draid.draid_groups(*group, children, spares) == row["ngroups"]
        and draid.draid_asize(row["psize"], ashift, *group) == row["asize"]
    )


def draid_parts(offset: int, psize: int, ashift: int, data: int, parity: int) -> list[tuple[int, int]]:
    """Return (offset, psize) of the one or two parts that the end of a group cuts a block into."""
    first = draid.draid_first_part(offset, psize, ashift, data, parity)
    if first >= psize:
        return [(offset, psize)]
    return [(offset, first), (offset + draid.draid_asize(first, ashift, data, parity), psize - first)]
