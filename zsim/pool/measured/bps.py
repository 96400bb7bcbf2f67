"""Lists of block pointers (``bps.csv``, ``bps.csv.zst``) and the recipes of the pools they describe.

A list has one row a block pointer in the order of ``traverse_pool``; addresses and asizes are in sectors of
512 bytes.  Columns: objset, object, level (-1 the root of an objset), blkid, birth_txg, phys_birth, type
(dmu_object_type), lsize, psize, DVAs ``vdev:offset:asize`` joined by ``;`` or ``embedded``; optionally
visit_idx, visit_ms and needs_io: in which order and when a scan saw the block, and whether it had to be read.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import InputError, printable
from zsim.base.parsed import number, numbers, whole
from zsim.base.reading import opened
from zsim.pool.blocks import MAX_DVAS, BlockTable
from zsim.pool.recipes.recipe import (
    AddVdev,
    Expand,
    FileSizes,
    Fill,
    IssueOrder,
    MetadataSizes,
    Overwrite,
    PoolRecipe,
    RecordClass,
    Remove,
    Snapshot,
    Step,
    pool_of,
    small_blocks,
)
from zsim.scenario.layout import Layout
from zsim.scenario.releases.profile import ReleaseProfile, load_release
from zsim.vdevs.kind import NORMAL, SPECIAL, kind_of

SECTOR = 512
FILE_CONTENTS, VOLUME_CONTENTS = 19, 23  # dmu.h: DMU_OT_PLAIN_FILE_CONTENTS, DMU_OT_ZVOL
REQUIRED = ("objset", "object", "level", "blkid", "birth_txg", "type", "lsize", "psize")
DVAS = "dvas_vdev:off_sec:asize_sec"
MAX_BYTES = 1 << 33
LINES_AT_ONCE = 1 << 16
FIELD, REMEDY = "block list", "give a bps.csv as described"


@dataclass(frozen=True, slots=True)
class ReadBlockList:
    """A list as read.

    Attributes
    ----------
    table : BlockTable
        All block pointers with an address, in the order of the list.
    visit_index : ndarray of int64, shape (n,), or None
        Place in the scan's order; -1 where it was never visited.
    needs_io : ndarray of bool, shape (n,), or None
        Whether the scan had to read the block.
    """

    table: BlockTable
    visit_index: NDArray[np.int64] | None
    needs_io: NDArray[np.bool_] | None


def read_block_list(path: str | Path) -> ReadBlockList:
    """Read a list of block pointers.

    Parameters
    ----------
    path : str or Path
        CSV, plain or compressed with Zstandard (``.zst``).

    Raises
    ------
    InputError
        When the file cannot be read, a column is missing or a row is malformed.
    """
    path = Path(path)
    with opened(path, FIELD, REMEDY, MAX_BYTES) as stream:
        text = io.TextIOWrapper(stream, encoding="ascii", newline="\n")
        try:
            return _parsed(path, text)
        except UnicodeDecodeError as error:
            raise InputError(FIELD, str(path), "it is not ASCII text", REMEDY) from error


def _parsed(path: Path, text: Iterable[str]) -> ReadBlockList:
    """Return a list from its lines, some at a time: as texts they take ten times the memory."""
    lines = iter(text)
    header = next(lines, "").strip().split(",")
    missing = [name for name in (*REQUIRED, DVAS) if name not in header]
    if missing:
        raise InputError(
            FIELD, str(path), f"the column {missing[0]} is missing", "give a bps.csv as described"
        )
    parts, number = [_block_list(header, [])], 2
    while some := list(itertools.islice(lines, LINES_AT_ONCE)):
        parts.append(_part(path, header, some, number))
        number += len(some)
    return _joined(parts)


def _part(path: Path, header: Sequence[str], lines: Sequence[str], first: int) -> ReadBlockList:
    rows = [line.rstrip("\n").split(",") for line in lines if line.strip("\n")]
    if any(len(row) != len(header) for row in rows):
        count, number = next(
            (line.count(",") + 1, number)
            for number, line in enumerate(lines, first)
            if line.strip("\n") and line.count(",") + 1 != len(header)
        )
        raise InputError(FIELD, str(path), f"line {number} has {count} fields and not {len(header)}", "")
    place = header.index(DVAS)
    rows = [row for row in rows if row[place] and row[place] != "embedded"]
    try:
        return _block_list(header, rows)
    except (ValueError, OverflowError) as error:
        reason = f"a field is no number ({printable(str(error), 120)})"
        raise InputError(FIELD, str(path), reason, "") from error


def _joined(parts: Sequence[ReadBlockList]) -> ReadBlockList:
    tables = [part.table for part in parts]
    columns = (np.concatenate([getattr(table, each.name) for table in tables]) for each in fields(BlockTable))
    visits, needs = [part.visit_index for part in parts], [part.needs_io for part in parts]
    return ReadBlockList(
        BlockTable(*columns),
        None if visits[0] is None else np.concatenate([each for each in visits if each is not None]),
        None if needs[0] is None else np.concatenate([each for each in needs if each is not None]),
    )


def _block_list(header: Sequence[str], rows: Sequence[Sequence[str]]) -> ReadBlockList:
    columns = dict(zip(header, zip(*rows, strict=True) if rows else [()] * len(header), strict=True))

    def numbers(name: str) -> NDArray[np.int64]:
        return np.array([int(text or -1) for text in columns[name]], dtype=np.int64)

    kind, level, objset = numbers("type"), numbers("level"), numbers("objset")
    data = (level == 0) & np.isin(kind, (FILE_CONTENTS, VOLUME_CONTENTS)) & (objset != 0)
    count, vdev, offset, asize = _dvas(columns[DVAS])
    table = BlockTable(
        objset=objset,
        object=numbers("object"),
        level=level.astype(np.int16),
        blkid=numbers("blkid"),
        is_metadata=~data,
        birth=numbers("birth_txg"),
        psize=numbers("psize"),
        lsize=numbers("lsize"),
        dva_count=count,
        dva_vdev=vdev,
        dva_offset=offset,
        dva_asize=asize,
    )
    visits = numbers("visit_idx") if "visit_idx" in columns else None
    needs = numbers("needs_io") > 0 if "needs_io" in columns else None
    return ReadBlockList(table, visits, needs)


def _dvas(
    texts: Sequence[str],
) -> tuple[NDArray[np.int16], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    parts = [text.split(";") for text in texts]
    count = np.array([len(part) for part in parts], dtype=np.int16)
    if len(count) and count.max() > MAX_DVAS:
        raise ValueError(f"a block has at most {MAX_DVAS} copies")
    flat = [number for part in parts for dva in part for number in dva.split(":")]
    values = np.array([int(number) for number in flat], dtype=np.int64).reshape(-1, 3)
    most = np.array([np.iinfo(np.int32).max, *[np.iinfo(np.int64).max // SECTOR] * 2])
    if ((values < 0) | (values > most)).any():
        raise ValueError("a vdev, an address or a size that no pool has")
    present = np.arange(MAX_DVAS) < count[:, None]
    vdev = np.full((len(parts), MAX_DVAS), -1, dtype=np.int32)
    offset = np.zeros((len(parts), MAX_DVAS), dtype=np.int64)
    asize = np.zeros((len(parts), MAX_DVAS), dtype=np.int64)
    vdev[present] = values[:, 0]
    offset[present] = values[:, 1] * SECTOR
    asize[present] = values[:, 2] * SECTOR
    return count, vdev, offset, asize


def in_classes(layout: Layout, special: Sequence[int]) -> Layout:
    """Return a layout whose top-level vdevs of these numbers are of the special class."""
    return Layout(
        tuple(
            replace(vdev, alloc_class=SPECIAL) if number in special else vdev
            for number, vdev in enumerate(layout.vdevs)
        )
    )


def recipe_from_config(config: Mapping[str, object]) -> PoolRecipe:
    """Return the recipe of a bench pool: layout, fill, ageing, record sizes, release.

    Nothing measured on the pool goes in.  The generator of those pools (its description is part of the data):
    files of 1/4 to 7/4 of `filekb` one after the other, a wait for the sync after every `txgmb` (of 0.7
    behind a whole request of eight records, as in the lists; see residuals for the others); `aged`:
    `rounds` times random runs of 1 to 4 records until `owfrac` of the data are rewritten, `freefrac` of the
    files freed, refilled.  The contents are zeros, so indirect blocks compress far better than those of real
    data.

    Parameters
    ----------
    config : mapping
        ``config.json``: `pool` and `zfs` are read.

    Raises
    ------
    InputError
        When a field is missing or out of range.
    """
    pool = config.get("pool")
    release = config.get("zfs")
    if not isinstance(pool, Mapping) or not isinstance(release, str):
        raise InputError("config", None, "a bench configuration has the fields pool and zfs")
    try:
        return _bench_recipe(pool, load_release(release))
    except KeyError as error:
        raise InputError("config", None, f"pool has no field {error}") from error


def _whole(pool: Mapping[str, object], name: str, otherwise: int) -> int:
    return otherwise if pool.get(name) is None else whole(pool, name)


def _bench_recipe(pool: Mapping[str, object], release: ReleaseProfile) -> PoolRecipe:
    # The 0.7 series was made without feature flags: nothing embedded, LZJB, no space map histograms.
    plain = release.openzfs_version < (0, 8)
    word = str(pool["layout"])
    if pool.get("expanded_from"):
        word = expanded_word(str(pool["expanded_from"]), word)
    layout = in_classes(Layout.parse(word), [int(each) for each in numbers(pool, "special_vdevs")])
    vdevs, style = pool_of(
        layout,
        whole(pool, "leafmb") << 20,
        release,
        whole(pool, "ashift"),
        spacemap_histogram=not plain,
    )
    mean = _whole(pool, "filekb", 16384) << 10
    return PoolRecipe(
        vdevs=vdevs * _whole(pool, "ntop", 1),
        style=style,
        records=_bench_records(pool),
        files=FileSizes("uniform", mean, mean // 4, mean * 7 // 4),
        steps=_bench_steps(pool),
        datasets=_whole(pool, "nfs", 1),
        txg_bytes=_whole(pool, "txgmb", 16) << 20,
        request_records=8 if plain else 1,
        txg_step=3,
        metadata=BENCH_LZJB if plain else BENCH_LZ4,
        issue=_bench_issue(release, layout),
        small_blocks=small_blocks(release, _whole(pool, "ssb", 0)),
    )


def _bench_issue(release: ReleaseProfile, layout: Layout) -> IssueOrder:
    """Return the order in which one processor placed the records of a txg, as seen in the lists."""
    version = release.openzfs_version
    if version >= (2, 4):
        # Allocations are throttled by bytes, more than these txgs have (metaslab.c, OpenZFS #17020).
        return IssueOrder()
    if version < (0, 8):
        return IssueOrder(throttled=True)
    # Here the leaves of a vdev are out of step, so that a command does not tell the length of a group.
    window = 32 * sum(vdev.alloc_class == NORMAL for vdev in layout.vdevs)
    if kind_of(layout.vdevs[0].kind).is_replicated:
        # Groups of mirrors are short: in lists of 128K records indirect blocks stand by themselves there.
        return IssueOrder(throttled=True, window=window, group=8)
    return IssueOrder(throttled=True, window=window, group=32, straight=2, late_indirects=True)


# Sizes of metadata over zeros: equal checksums leave little to store; measured on the lists of three pools.
BENCH_LZ4 = MetadataSizes(dnode_pointers=3, indirect_fixed=514.0, indirect_each=7.0)
BENCH_LZJB = MetadataSizes(
    dnode_pointers=3,
    indirect_fixed=4500.0,
    indirect_each=6.0,
    objset_root=2048,
    space_map=4096,
    mos_dnode_blocks=6,
    mos_each_txg=2,
    mos_static=31,
)


def _bench_records(pool: Mapping[str, object]) -> tuple[RecordClass, ...]:
    first = RecordClass(whole(pool, "rec") << 10)
    if not pool.get("mixrec"):
        return (first,)
    return first, RecordClass(whole(pool, "mixrec") << 10, size_factor=0.25)


def _bench_round(pool: Mapping[str, object], fill: Fill) -> list[Step]:
    return [Overwrite(number(pool, "owfrac"), by_file=True), Remove(number(pool, "freefrac")), fill]


def expanded_word(before: str, now: str) -> str:
    """Return the layout of a vdev that was expanded from one to another."""
    old, new = Layout.parse(before).vdevs, Layout.parse(now).vdevs
    if len(old) != 1 or len(new) != 1 or new[0].children <= old[0].children:
        raise InputError("config.json: pool.expanded_from", before, f"a narrower vdev than {now} is expected")
    return f"{before}+{new[0].children - old[0].children}"


def _bench_steps(pool: Mapping[str, object]) -> tuple[Step, ...]:
    fill = Fill(number(pool, "fill"))
    if pool.get("expanded_from"):
        # `fill` is of the space before.
        old, new = (
            Layout.parse(str(text)).vdevs[0].children for text in (pool["expanded_from"], pool["layout"])
        )
        fill = Fill(number(pool, "fill") * old / new)
    steps: list[Step] = [fill]
    if pool.get("later"):
        count = len(Layout.parse(str(pool["layout"])).vdevs)
        added = len(Layout.parse(str(pool["later"])).vdevs)
        steps = [Fill(number(pool, "fill1")), *(AddVdev(count - added + k) for k in range(added)), fill]
    if pool["pattern"] == "aged":
        for round_ in range(whole(pool, "rounds")):
            if round_ < _whole(pool, "snaps", 0):
                steps.append(Snapshot())
            steps += _bench_round(pool, fill)
        for round_ in range(_whole(pool, "post_rounds", 0)):
            steps += [*([] if round_ else [Expand()]), *_bench_round(pool, fill)]
    return tuple(steps)
