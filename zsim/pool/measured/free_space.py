"""The free space of each metaslab of a real pool (``zdb -mm``), and a miniature's metaslabs placed by it."""

from __future__ import annotations

import csv
import functools
import io
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import InputError
from zsim.base.reading import MAX_TEXT, content_mark, opened
from zsim.pool.blocks import BlockTable, numbers_led_by
from zsim.pool.miniature.shape import Miniature
from zsim.pool.statistics import slab_fill

I64 = NDArray[np.int64]
FIELD = "metaslabs"
FORM = "a CSV with the columns vdev, metaslab, offset, free and fragmentation, as zsim import writes it"
COLUMNS = ("vdev", "metaslab", "offset", "free")
MAX_ROWS = 1 << 20
GOLDEN = 0.6180339887498949


@dataclass(frozen=True, slots=True)
class FreeSpace:
    """What is free in each metaslab.

    Attributes
    ----------
    vdev, offset, free : ndarray of int64, shape (n,)
        Top-level vdev as numbered in the layout; begin and free space [bytes]; ascending by vdev and offset.
    fragmentation : ndarray of float64, shape (n,)
        0 to 1, NaN where there is none.
    size : ndarray of int64, shape (n,)
        Of the vdev's metaslabs [bytes].
    """

    vdev: I64
    offset: I64
    free: I64
    fragmentation: NDArray[np.float64]
    size: I64

    def led_by(self, first: int) -> FreeSpace:
        """Return the same with one top-level vdev in front of the others, as in `Layout.led_by`."""
        vdev = numbers_led_by(self.vdev, first)
        order = np.lexsort((self.offset, vdev))
        return FreeSpace(
            vdev[order], self.offset[order], self.free[order], self.fragmentation[order], self.size[order]
        )

    @property
    def fill(self) -> NDArray[np.float64]:
        """Share allocated of each metaslab."""
        return 1.0 - self.free / self.size

    @property
    def alloc(self) -> int:
        """Allocated in all of them [bytes]."""
        return int((self.size - self.free).sum())

    @property
    def frag(self) -> float | None:
        """Mean of the fragmentation, unknown as 0 (metaslab_group_fragmentation); None if none is known."""
        known = np.isfinite(self.fragmentation)
        return float(np.where(known, self.fragmentation, 0.0).mean()) if known.any() else None


def read_free_space(path: str | Path) -> FreeSpace:
    """Read the free space of a pool's metaslabs.

    Parameters
    ----------
    path : str or Path
        CSV of ``zsim import``.

    Raises
    ------
    InputError
        Naming file, line and value.
    """
    path = Path(path)
    return _read(path, content_mark(path, FIELD))


@functools.lru_cache(maxsize=4)
def _read(path: Path, _state: str) -> FreeSpace:
    rows = [_row(path, number, row) for number, row in enumerate(_rows(path), start=2)]
    if not rows:
        raise InputError(FIELD, str(path), "it holds no metaslabs", f"give {FORM}")
    table = np.array(sorted(rows), dtype=np.float64)
    vdev, offset, free = (table[:, k].astype(np.int64) for k in range(3))
    size = np.zeros(len(vdev), dtype=np.int64)
    for number in np.unique(vdev).tolist():
        mine = vdev == number
        gaps = np.diff(offset[mine])
        if not len(gaps) or int(gaps.min()) <= 0:
            reason = f"vdev {number} needs at least two metaslabs, each with an offset of its own"
            raise InputError(FIELD, str(path), reason, f"give {FORM}")
        size[mine] = int(gaps.min())
    if (free > size).any():
        worst = int(np.argmax(free - size))
        reason = f"the metaslab at {int(offset[worst])} has more free space than its {int(size[worst])} bytes"
        raise InputError(FIELD, str(path), reason, f"give {FORM}")
    return FreeSpace(vdev, offset, free, table[:, 3], size)


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with opened(path, FIELD, f"give {FORM}", MAX_TEXT) as stream:
            reader = csv.DictReader(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""))
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise InputError(FIELD, str(path), f"it has no column {missing[0]}", f"give {FORM}")
            rows = [row for row, _ in zip(reader, range(MAX_ROWS + 1), strict=False)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(FIELD, str(path), "it is not CSV", f"give {FORM}") from error
    if len(rows) > MAX_ROWS:
        raise InputError(FIELD, str(path), f"it has more than {MAX_ROWS} rows", f"give {FORM}")
    return rows


def _row(path: Path, number: int, row: dict[str, str]) -> tuple[int, int, int, float]:
    """Return vdev, offset, free space and fragmentation of a row."""
    values = []
    for name in ("vdev", "offset", "free"):
        text = (row.get(name) or "").strip()
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            where = f"{path.name} line {number}: {name}"
            raise InputError(where, text or None, "a whole number from 0 is needed", "correct the row")
        values.append(int(text))
    text = (row.get("fragmentation") or "").strip()
    if text and not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) <= 100):
        where = f"{path.name} line {number}: fragmentation"
        raise InputError(where, text, "a percentage from 0 to 100 is needed", "correct the row")
    return values[0], values[1], values[2], float(text) / 100 if text else float("nan")


def placed_by(small: Miniature, known: FreeSpace) -> Miniature:
    """Return a miniature whose metaslabs lie where the real ones that are as full as they lie.

    Of each top-level vdev the emptiest metaslab of the miniature takes the place of one of the emptiest
    real ones, and so on: data then lie in the real pool's zones of the drive.  What is inside a metaslab
    stays as the history left it.

    Parameters
    ----------
    small : Miniature
    known : FreeSpace
        Vdevs that are not in it stay as they are.
    """
    own = small.own_table()
    fills = slab_fill(own, small.recipe.vdevs)
    offset = small.table.dva_offset.copy()
    vdevs, first = [], 0
    for number, (level, real) in enumerate(zip(small.recipe.vdevs, small.vdevs, strict=True)):
        mine = known.vdev == real
        part = fills[first : first + level.slab_count]
        first += level.slab_count
        if int(mine.sum()) < level.slab_count:
            vdevs.append(level)
            continue
        places = matched_places(part, known.offset[mine], known.fill[mine]) // level.unit * level.unit
        here = own.dva_vdev == number
        slab = level.slab_of(own.dva_offset[here])
        moved = own.dva_offset[here] - level.slab_starts()[slab] + places[slab]
        offset[here] = moved
        stands_for = level.stands_for or level.slab_bytes
        vdevs.append(replace(level, starts=tuple(sorted(places.tolist())), stands_for=stands_for))
    return replace(small, table=_moved(small.table, offset), recipe=replace(small.recipe, vdevs=tuple(vdevs)))


def _moved(table: BlockTable, offset: I64) -> BlockTable:
    return replace(table, dva_offset=offset)


def matched_places(fills: NDArray[np.float64], offset: I64, real: NDArray[np.float64]) -> I64:
    """Return a real metaslab's address for each of a miniature's: of the same rank by fill.

    Parameters
    ----------
    fills : ndarray, shape (k,)
        Of the miniature's metaslabs, in the order of their addresses.
    offset, real : ndarray, shape (n,), n >= k
        Address [bytes] and fill of the real ones.
    """
    count = len(fills)
    ranked = np.argsort(real, kind="stable")
    groups = np.array_split(ranked, count)
    places = np.zeros(count, dtype=np.int64)
    for rank, slab in enumerate(np.argsort(fills, kind="stable").tolist()):
        group = np.sort(offset[groups[rank]])
        # Steps of the golden ratio: groups of one fill do not all take the same part of the drive.
        places[slab] = group[int((0.5 + rank * GOLDEN) % 1.0 * len(group))]
    return places
