from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.pool.conftest import LISTS, NAMES
from zsim.base.errors import InputError
from zsim.pool.measured import bps
from zsim.pool.measured.bps import read_block_list, recipe_from_config

HEADER = "objset,object,level,blkid,birth_txg,phys_birth,type,lsize,psize,dvas_vdev:off_sec:asize_sec"
VISITED = f"{HEADER},visit_idx,visit_ms,needs_io"


def write(path: Path, *rows: str, header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *rows, ""]), encoding="ascii")
    return path


def test_a_list_without_rows_has_the_columns_of_visits(tmp_path: Path) -> None:
    blocks = read_block_list(write(tmp_path / "bps.csv", header=VISITED))
    assert len(blocks.table) == 0
    assert blocks.visit_index is not None
    assert blocks.needs_io is not None
    assert blocks.visit_index.tolist() == blocks.needs_io.tolist() == []


def test_rows_become_columns(tmp_path: Path) -> None:
    path = write(
        tmp_path / "bps.csv",
        "0,0,-1,0,9,0,11,4096,4096,0:8:8;1:16:8;0:24:8,0,1.5,1",
        "54,0,0,0,4,4,13,512,89,embedded,,,",
        "54,3,0,7,8,0,19,131072,65536,1:512:128,,,",
        header=VISITED,
    )
    blocks = read_block_list(path)
    table = blocks.table
    assert table.dva_count.tolist() == [3, 1]
    assert table.dva_vdev.tolist() == [[0, 1, 0], [1, -1, -1]]
    assert table.dva_offset[:, 0].tolist() == [4096, 262144]
    assert table.dva_asize[1].tolist() == [65536, 0, 0]
    assert table.is_metadata.tolist() == [True, False]
    assert table.level.tolist() == [-1, 0]
    assert table.blkid.tolist() == [0, 7]
    assert blocks.visit_index is not None
    assert blocks.visit_index.tolist() == [0, -1]
    assert blocks.needs_io is not None
    assert blocks.needs_io.tolist() == [True, False]


def test_data_are_the_lowest_blocks_of_files_and_volumes_outside_the_mos(tmp_path: Path) -> None:
    """(objset, level, type): of dmu.h 19 is a file's contents and 23 a volume's."""
    kinds = {(1, 0, 19): True, (1, 0, 23): True, (1, 0, 20): False, (1, 0, 22): False, (1, 1, 19): False,
             (0, 0, 19): False, (1, -1, 19): False, (0, 1, 10): False}  # fmt: skip
    rows = [f"{objset},2,{level},0,4,4,{kind},512,512,0:8:8" for objset, level, kind in kinds]
    table = read_block_list(write(tmp_path / "bps.csv", *rows)).table
    assert (~table.is_metadata).tolist() == list(kinds.values())


def test_long_lists_are_read_a_part_at_a_time_and_lines_are_counted_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bps, "LINES_AT_ONCE", 2)
    row = "1,2,0,{0},4,4,19,512,512,0:{0}:8,{1},1.0,{2}"
    rows = [row.format(8 * k, k if k % 2 else "", int(k == 3)) for k in range(5)]
    blocks = read_block_list(write(tmp_path / "bps.csv", *rows, header=VISITED))
    assert blocks.table.blkid.tolist() == [0, 8, 16, 24, 32]
    assert blocks.visit_index is not None
    assert blocks.visit_index.tolist() == [-1, 1, -1, 3, -1]
    assert blocks.needs_io is not None
    assert blocks.needs_io.tolist() == [False, False, False, True, False]
    for number, broken in ((2, ["1,2"]), (6, [*rows[:2], "", rows[2], "1,2"]), (8, [*rows, "", "1,2"])):
        with pytest.raises(InputError, match=f"line {number} has 2 fields and not 13"):
            read_block_list(write(tmp_path / "bps.csv", *broken, header=VISITED))


def test_the_largest_vdev_and_address_are_those_of_their_columns(tmp_path: Path) -> None:
    """2**31 - 1 vdevs, and sectors whose bytes are below 2**63."""
    most = (2**63 - 1) // 512
    table = read_block_list(
        write(tmp_path / "a.csv", f"1,2,0,0,4,4,19,512,512,{2**31 - 1}:{most}:{most}")
    ).table
    assert (table.dva_vdev[0, 0], table.dva_offset[0, 0]) == (2**31 - 1, most * 512)
    assert table.dva_asize[0].tolist() == [most * 512, 0, 0]
    for dva in (f"{2**31}:0:8", f"0:{most + 1}:8", f"0:0:{most + 1}"):
        with pytest.raises(InputError, match="no pool has"):
            read_block_list(write(tmp_path / "b.csv", f"1,2,0,0,4,4,19,512,512,{dva}"))


@pytest.mark.parametrize("name", NAMES)
def test_real_lists_are_read_whole(name: str) -> None:
    blocks = read_block_list(LISTS / f"{name}.csv.zst")
    assert len(blocks.table) > 3000
    assert blocks.visit_index is None
    assert (blocks.table.dva_count >= 1).all()
    assert np.count_nonzero(~blocks.table.is_metadata) > 0.9 * len(blocks.table)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("1,2,3", "line 2 has 3 fields"),
        ("1,2,0,x,4,4,19,512,512,0:8:8", "no number"),
        ("1,2,0,0,4,4,19,512,512,0:8", "no number"),
        ("1,2,0,0,4,4,19,512,512,0:8:8;0:9:8;0:10:8;0:11:8", "at most 3 copies"),
        ("1,2,0,99999999999999999999,4,4,19,512,512,0:8:8", "no number"),
        ("1,2,0,0,4,4,19,512,512,4294967296:8:8", "no pool has"),
        ("1,2,0,0,4,4,19,512,512,0:36028797018963968:8", "no pool has"),
        ("1,2,0,0,4,4,19,512,512,0:-8:8", "no pool has"),
        ("1,2,0,0,4,4,19,512,512,0:8:-8", "no pool has"),
    ],
)
def test_malformed_rows_are_refused(tmp_path: Path, row: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_block_list(write(tmp_path / "bps.csv", row))


def test_missing_columns_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column object is missing"):
        read_block_list(write(tmp_path / "bps.csv", header=HEADER.replace("object,", "")))
    with pytest.raises(InputError, match="no such file"):
        read_block_list(tmp_path / "none.csv")
    (tmp_path / "cut.csv.zst").write_bytes((LISTS / f"{NAMES[0]}.csv.zst").read_bytes()[:100])
    with pytest.raises(InputError):
        read_block_list(tmp_path / "cut.csv.zst")


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_in_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("bytes") / "bps.csv.zst"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_block_list(path)
    path.write_bytes(zstandard.ZstdCompressor().compress(content))
    with pytest.raises(InputError):
        read_block_list(path)


@given(st.text("0123456789,;:-.x\n", max_size=200))
def test_any_rows_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    path = write(tmp_path_factory.mktemp("rows") / "bps.csv", content)
    with contextlib.suppress(InputError):
        read_block_list(path)


def test_recipe_reads_pool_and_release_only() -> None:
    pool = {"layout": "raidz2x6", "ashift": 12, "leafmb": 1024, "fill": 0.5, "pattern": "aged", "rec": 128,
            "mixrec": 16, "rounds": 2, "owfrac": 0.25, "freefrac": 0.05, "txgmb": 16, "filekb": 16384,
            "nfs": 3, "snaps": 1, "ntop": 2}  # fmt: skip
    recipe = recipe_from_config({"zfs": "2.1.5", "pool": pool, "ms_count": 99, "alloc_count": 7})
    assert (recipe.vdevs[0].slab_count, len(recipe.vdevs), recipe.style.allocators) == (11, 2, 4)
    assert [type(step).__name__ for step in recipe.steps] == [
        "Fill", "Snapshot", "Overwrite", "Remove", "Fill", "Overwrite", "Remove", "Fill",
    ]  # fmt: skip
    assert [kind.recordsize for kind in recipe.records] == [131072, 16384]
    del pool["rec"]
    with pytest.raises(InputError, match="rec"):
        recipe_from_config({"zfs": "2.1.5", "pool": pool})
    with pytest.raises(InputError, match="pool and zfs"):
        recipe_from_config({})
