"""Lists of blocks as Parquet, long ones and those of other pools, by lists of a few rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.pool.measured.test_block_lists import write
from zsim.base.errors import InputError
from zsim.pool.measured import block_list, windows
from zsim.pool.measured.block_list import KnownBlocks, load_blocks, sample_blocks, space_of
from zsim.pool.measured.windows import AddressWindows
from zsim.pool.recipes.recipe import TopLevel, pool_of
from zsim.scenario.layout import VdevSpec

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
END = GIB
"""Of the addresses of a mirror of 1 GiB: 15 metaslabs of 64 MiB and that of the intent log."""
BIN = 16 * MIB
"""Part of such a mirror in which blocks are counted together."""


def mirrors(count: int = 1) -> tuple[TopLevel, ...]:
    return pool_of("+".join(["mirror2"] * count), GIB, "2.3.9")[0]


def block(*copies: tuple[int, int] | tuple[int, int, int], **more: Any) -> dict[str, Any]:
    """Return a block of 4K with copies at (vdev, offset), or (vdev, offset, asize)."""
    row: dict[str, Any] = dict.fromkeys(block_list.COLUMNS, 0)
    row |= {"psize": 4 * KIB, "lsize": 4 * KIB, "dva_count": len(copies)}
    for copy in range(3):
        vdev, offset, asize = (*copies[copy], 4 * KIB)[:3] if copy < len(copies) else (-1, 0, 0)
        row |= {f"dva_vdev_{copy}": vdev, f"dva_offset_{copy}": offset, f"dva_asize_{copy}": asize}
    return row | more


def parquet(path: Path, *rows: dict[str, Any], ids: object = None, without: tuple[str, ...] = ()) -> Path:
    """Write a list as ``zsim import`` does; `ids` are the numbers of the pool's top-level vdevs."""
    arrow = pytest.importorskip("pyarrow")
    names = [name for name in block_list.COLUMNS if name not in without]
    made = arrow.table({name: [row[name] for row in rows] for name in names})
    if ids is not None:
        made = made.replace_schema_metadata({b"zsim.vdevs": json.dumps(ids)})
    pytest.importorskip("pyarrow.parquet").write_table(made, path)
    return path


def refused(path: Path, vdevs: tuple[TopLevel, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        load_blocks(path, vdevs)


# --- what is in a file


def test_a_list_is_what_its_content_says_whatever_its_name(tmp_path: Path) -> None:
    rows = block((0, 8 * KIB)), block((0, 0))
    named = parquet(tmp_path / "blocks.csv", *rows)
    assert load_blocks(named, mirrors()).table.dva_offset[:, 0].tolist() == [8 * KIB, 0]
    text = write(tmp_path / "b.csv", "1,2,0,0,4,4,19,4096,4096,0:16:8")
    assert load_blocks(text, mirrors()).table.dva_offset[:, 0].tolist() == [8 * KIB]
    refused(text.rename(tmp_path / "b.txt"), mirrors(), "neither Parquet nor")


def test_rows_of_parquet_become_columns(tmp_path: Path) -> None:
    """A record is numbered by its place in the file; of a size of nought by its bytes."""
    path = parquet(
        tmp_path / "b.parquet",
        block((0, 4 * KIB), (0, 8 * KIB), objset=54, object=7, level=1, birth=99, is_metadata=1,
              offset=3 * 128 * KIB, lsize=128 * KIB),
        block((0, 0), offset=5, lsize=0, level=32767),
        block((0, 64 * KIB), level=-32768),
    )  # fmt: skip
    found = load_blocks(path, mirrors())
    table = found.table
    assert (found.rows, found.whole, found.windows, found.allocated) == (3, True, {}, (16 * KIB,))
    assert (table.objset[0], table.object[0], table.birth[0]) == (54, 7, 99)
    assert table.level.tolist() == [1, 32767, -32768]
    assert table.blkid.tolist() == [3, 5, 0]
    assert table.is_metadata.tolist() == [True, False, False]
    assert table.dva_count.tolist() == [2, 1, 1]
    assert table.dva_vdev.tolist() == [[0, 0, -1], [0, -1, -1], [0, -1, -1]]
    assert table.dva_offset[0].tolist() == [4 * KIB, 8 * KIB, 0]


def test_a_list_that_arrow_did_not_describe_is_read_as_the_layout_counts(tmp_path: Path) -> None:
    """Without Arrow's own schema in it a file has no metadata of its own at all."""
    arrow, parquet_of = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    row = block((1, 4 * KIB))
    made = arrow.table({name: [row[name]] for name in block_list.COLUMNS})
    parquet_of.write_table(made, tmp_path / "b.parquet", store_schema=False)
    assert load_blocks(tmp_path / "b.parquet", mirrors(2)).allocated == (0, 4 * KIB)


@pytest.mark.parametrize("level", [-32769, 32768])
def test_a_number_wider_than_its_column_is_named(tmp_path: Path, level: int) -> None:
    path = parquet(tmp_path / "b.parquet", block((0, 0)), block((0, 8 * KIB), level=level))
    refused(path, mirrors(), f"the column level has {level}, and such numbers are of 16 bits")


def test_the_first_column_that_is_missing_is_named(tmp_path: Path) -> None:
    path = parquet(tmp_path / "b.parquet", block((0, 0)), without=("birth", "level", "psize"))
    refused(path, mirrors(), "the column level is missing")


def test_a_list_of_nothing_is_refused(tmp_path: Path) -> None:
    refused(parquet(tmp_path / "a.parquet"), mirrors(), "it holds no blocks")
    refused(write(tmp_path / "b.csv"), mirrors(), "it holds no blocks")
    refused(parquet(tmp_path / "c.parquet", block((0, 0, 0))), mirrors(), "it holds no blocks")
    other = parquet(tmp_path / "d.parquet", block((5, 0)), ids=[0])
    refused(other, mirrors(), "it holds no blocks of the layout's vdevs")


# --- whose vdevs


def test_vdevs_of_the_pool_get_the_numbers_of_the_layout(tmp_path: Path) -> None:
    """Vdevs 1 and 3 of a pool are 0 and 1 of its layout; copies on others (a log) are left out."""
    path = parquet(
        tmp_path / "b.parquet",
        block((2, 4 * KIB), (3, 8 * KIB), (1, 12 * KIB), birth=1),
        block((2, 16 * KIB), birth=2),
        block((1, 20 * KIB), (2, 24 * KIB), birth=3),
        ids=[1, 3],
    )
    found = load_blocks(path, mirrors(2))
    table = found.table
    assert table.birth.tolist() == [1, 3]
    assert table.dva_vdev.tolist() == [[1, 0, -1], [0, -1, -1]]
    assert table.dva_offset.tolist() == [[8 * KIB, 12 * KIB, 0], [20 * KIB, 0, 0]]
    assert table.dva_asize.tolist() == [[4 * KIB, 4 * KIB, 0], [4 * KIB, 0, 0]]
    assert table.dva_count.tolist() == [2, 1]
    assert (found.rows, found.allocated) == (2, (8 * KIB, 4 * KIB))
    led = load_blocks(path, mirrors(2), first=1)
    assert led.allocated == (4 * KIB, 8 * KIB)
    assert led.table.dva_vdev.tolist() == [[0, 1, -1], [1, -1, -1]]


@pytest.mark.parametrize(
    ("ids", "words"),
    [([0, 1, 4], "of a pool of 3 top-level vdevs, the layout has 2"), ([0], "of a pool of 1 top-level"),
     (7, "list of vdevs is damaged"), (["x"], "list of vdevs is damaged")],
)  # fmt: skip
def test_a_list_of_another_number_of_vdevs_is_refused(tmp_path: Path, ids: object, words: str) -> None:
    refused(parquet(tmp_path / "b.parquet", block((0, 0)), ids=ids), mirrors(2), words)


def test_a_csv_follows_the_vdev_that_is_repaired(tmp_path: Path) -> None:
    row = "1,2,0,0,4,4,19,4096,4096"
    path = write(tmp_path / "b.csv", f"{row},0:16:8;1:24:8", f"{row},1:32:8")
    assert load_blocks(path, mirrors(2)).allocated == (4 * KIB, 8 * KIB)
    assert load_blocks(path, mirrors(2), first=1).allocated == (8 * KIB, 4 * KIB)


# --- what a vdev cannot hold


def test_a_vdev_holds_what_ends_with_it_and_nothing_behind(tmp_path: Path) -> None:
    assert space_of(mirrors()[0]) == END
    small = TopLevel(VdevSpec.mirror(2), 12, 64 * MIB, 7)
    for place, copies in enumerate([((0, END - 4 * KIB),), ((0, 0), (0, END - 8 * KIB, 8 * KIB))]):
        found = load_blocks(parquet(tmp_path / f"{place}.parquet", block(*copies)), mirrors())
        assert len(found.table) == 1
    both = parquet(tmp_path / "both.parquet", block((0, END - 4 * KIB), (1, 512 * MIB - 4 * KIB)))
    assert load_blocks(both, (mirrors()[0], small)).rows == 1
    for place, copies in enumerate([((0, END),), ((0, 0), (0, END - 4 * KIB, 8 * KIB))]):
        refused(parquet(tmp_path / f"over{place}.parquet", block(*copies)), mirrors(), "ends at 1G")
    behind = parquet(tmp_path / "behind.parquet", block((0, 0), (1, 512 * MIB)))
    with pytest.raises(InputError, match="ends at 512M"):
        load_blocks(behind, (mirrors()[0], small))


def test_a_vdev_that_the_layout_has_not_is_refused(tmp_path: Path) -> None:
    path = parquet(tmp_path / "b.parquet", block((0, 0), (2, 0)))
    refused(path, mirrors(2), "blocks on top-level vdev 2, the layout has 2, counted from 0")
    assert load_blocks(path, mirrors(3)).allocated == (4 * KIB, 0, 4 * KIB)


def test_blocks_are_of_nought_to_16_mib(tmp_path: Path) -> None:
    most = 16 * MIB
    rows = block((0, 0, most), psize=most), block((0, most, 0), psize=0)
    assert len(load_blocks(parquet(tmp_path / "b.parquet", *rows), mirrors()).table) == 2
    over = block((0, 0, most), psize=most + 1)
    refused(parquet(tmp_path / "c.parquet", over, rows[1]), mirrors(), f"a psize of {most + 1} bytes")


RIGHT, WRONG = (0, 0), (0, 0, 8 * KIB)
"""4K take 4K on a mirror."""


@pytest.mark.parametrize(
    ("data", "metadata", "fits"),
    [([RIGHT, RIGHT, WRONG, WRONG], [], True), ([RIGHT, WRONG, WRONG], [], False),
     ([RIGHT] * 6, [WRONG, WRONG, RIGHT], False), ([WRONG, WRONG, RIGHT], [RIGHT] * 6, False),
     ([RIGHT], [RIGHT, WRONG], True)],
)  # fmt: skip
def test_half_of_the_data_and_half_of_the_metadata_have_the_sizes_of_the_layout(
    tmp_path: Path, data: list[Any], metadata: list[Any], fits: bool
) -> None:
    rows = [block(each) for each in data] + [block(each, is_metadata=1) for each in metadata]
    path = parquet(tmp_path / "b.parquet", *rows)
    if fits:
        assert load_blocks(path, mirrors()).rows == len(rows)
    else:
        refused(path, mirrors(), "mirror2 with ashift 12 gives its blocks other sizes")


def test_sizes_are_held_against_the_vdev_of_the_first_copy(tmp_path: Path) -> None:
    """Of a mirror 4K take 4K, of a RAID-Z2 with their parity 12K."""
    vdevs = mirrors()[0], TopLevel(VdevSpec.raidz(2, 6), 12, 64 * MIB, 15)
    right = parquet(tmp_path / "a.parquet", block((0, 0), (1, 0, 12 * KIB)), block((1, 0, 12 * KIB)))
    assert load_blocks(right, vdevs).allocated == (4 * KIB, 24 * KIB)
    refused(parquet(tmp_path / "b.parquet", block((0, 0)), block((1, 0))), vdevs, "raidz2x6 with ashift 12")


def test_of_a_long_list_sizes_of_some_rows_evenly_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three of six rows, every second one."""
    monkeypatch.setattr(block_list, "CHECKED_ROWS", 3)
    seen = parquet(
        tmp_path / "a.parquet", *(block(each) for each in (RIGHT, RIGHT, WRONG, RIGHT, WRONG, RIGHT))
    )
    refused(seen, mirrors(), "other sizes")
    unseen = parquet(
        tmp_path / "b.parquet", *(block(each) for each in (RIGHT, WRONG, WRONG, WRONG, RIGHT, WRONG))
    )
    assert load_blocks(unseen, mirrors()).rows == 6


# --- long lists


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[int], int, float, int]]:
    """Return what windows of addresses are made from: occupied parts, space, share, unit; all is in them."""
    asked: list[tuple[list[int], int, float, int]] = []

    def made(bins: Any, space: int, share: float, unit: int, _seed: int) -> AddressWindows:
        asked.append((np.repeat(np.arange(len(bins)), bins).tolist(), space, share, unit))
        return AddressWindows(np.zeros(1, np.int64), space)

    monkeypatch.setattr(block_list, "address_windows", made)
    monkeypatch.setattr(block_list, "BATCH", 2)
    return asked


SPREAD = [
    *(block((0, place * BIN)) for place in (0, 3, 3, 63)),
    *(block((1, 64 * MIB), (0, 8 * MIB)) for _ in range(2)),
]
"""Four blocks on the first mirror, two on the second with copies on the first."""


def test_a_list_as_long_as_is_kept_in_memory_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: list[Any]
) -> None:
    monkeypatch.setattr(block_list, "MOST_ROWS", 6)
    found = load_blocks(parquet(tmp_path / "b.parquet", *SPREAD), mirrors(2))
    assert found.whole
    assert (found.rows, cut) == (6, [])
    assert found.table.dva_offset[:, 0].tolist() == [0, 3 * BIN, 3 * BIN, 63 * BIN, 64 * MIB, 64 * MIB]


def test_windows_are_cut_from_where_first_copies_lie_in_all_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: list[Any]
) -> None:
    monkeypatch.setattr(block_list, "MOST_ROWS", 3)
    found = load_blocks(parquet(tmp_path / "b.parquet", *SPREAD), mirrors(3))
    assert cut == [([0, 3, 3, 63], END, 0.5, 4 * KIB), ([4, 4], END, 0.5, 4 * KIB)], "the third holds nothing"
    assert sorted(found.windows) == [0, 1]
    assert (found.rows, found.allocated) == (6, (24 * KIB, 8 * KIB, 0))


@pytest.mark.parametrize(("most", "share"), [(2, 0.5), (4, 1.0), (7, 1.0)])
def test_of_the_vdevs_that_are_cut_so_much_more_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: list[Any], most: int, share: float
) -> None:
    """Four of five mirrors are cut, and half of the eight blocks lie on the fifth."""
    monkeypatch.setattr(block_list, "MOST_ROWS", most)
    rows = [block((vdev, BIN)) for vdev in (0, 1, 2, 3, 4, 4, 4, 4)]
    path, vdevs = parquet(tmp_path / "b.parquet", *rows), mirrors(5)
    found = load_blocks(path, vdevs)
    assert cut == [([1], END, share, 4 * KIB)] * 4
    assert found.table.dva_vdev[:, 0].tolist() == [0, 1, 2, 3]
    cut.clear()
    monkeypatch.setattr(block_list, "MOST_ROWS", 8)
    block_list._load.cache_clear()
    part = sample_blocks(load_blocks(path, vdevs), vdevs, most, "address", 1)
    assert cut == [([1], END, share, 4 * KIB)] * 4
    assert (part.rows, part.table.dva_vdev[:, 0].tolist()) == (8, [0, 1, 2, 3])
    assert part.scale((0, 4)) == 5.0, "five blocks for the one that is in the windows"


def test_windows_of_the_traversal_go_on_from_batch_to_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: list[Any]
) -> None:
    """Half of forty rows: one run of twenty, or four of five where a quarter of it is enough for a window."""
    monkeypatch.setattr(block_list, "MOST_ROWS", 20)
    path = parquet(tmp_path / "b.parquet", *(block((0, 4 * KIB * row), birth=row) for row in range(40)))
    for window, runs in ((80 * KIB, 1), (20 * KIB, 4)):
        monkeypatch.setattr(windows, "TRAVERSAL_BYTES", window)
        block_list._load.cache_clear()
        found = load_blocks(path, mirrors(), "traversal")
        taken = found.table.birth
        assert (found.rows, found.windows, cut) == (40, {}, [])
        assert 1 + np.count_nonzero(np.diff(taken) > 1) == runs
        assert (np.diff(taken) > 0).all()
        assert len(taken) == pytest.approx(20, abs=runs)
        with monkeypatch.context() as all_kept:
            all_kept.setattr(block_list, "MOST_ROWS", 40)
            block_list._load.cache_clear()
            part = sample_blocks(load_blocks(path, mirrors(), "traversal"), mirrors(), 20, "traversal", 0)
        assert part.table.birth.tolist() == taken.tolist(), "as windows of the whole list are cut"


def test_a_sample_of_the_traversal_is_of_the_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(windows, "TRAVERSAL_BYTES", 40 * KIB)
    rows = [block((0, 4 * KIB * row), birth=row) for row in range(40)]
    known = load_blocks(parquet(tmp_path / "b.parquet", *rows), mirrors())
    part = sample_blocks(known, mirrors(), 20, "traversal", 5)
    taken = part.table.birth
    assert 1 + np.count_nonzero(np.diff(taken) > 1) == 2, "80K are two windows"
    assert len(taken) == pytest.approx(20, abs=2)
    assert part.scale((0,)) == 40 / len(taken)
    assert isinstance(part, KnownBlocks)
    assert not part.whole
