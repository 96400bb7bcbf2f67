from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.base.errors import InputError
from zsim.pool.recipes import sizes
from zsim.pool.recipes.recipe import RecordClass
from zsim.pool.recipes.sizes import read_block_sizes


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_sizes_become_records_with_their_compression(tmp_path: Path) -> None:
    path = write(tmp_path / "blocks.csv", "Blocks, psize ,lsize\n30,4K,16K\n10,16384,16K\n5,128K,128K\n")
    small, large = read_block_sizes(path)
    assert (small.recordsize, small.share) == (16384, 40 * 16384)
    assert small.ratios == ((0.25, 0.75), (1.0, 0.25))
    assert (large.recordsize, large.share, large.ratios) == (131072, 5 * 131072, ((1.0, 1.0),))


def test_without_lsize_a_block_belongs_to_the_next_power_of_two(tmp_path: Path) -> None:
    (record,) = read_block_sizes(write(tmp_path / "blocks.csv", "psize,blocks\n12K,1\n16K,1\n"))
    assert record.recordsize == 16384
    assert record.ratios == ((0.75, 0.5), (1.0, 0.5))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("psize\n4K\n", "no column blocks"),
        ("psize,blocks\n", "holds no blocks"),
        ("psize,blocks\n4K,-1\n", "line 2: blocks"),
        ("psize,blocks\n4K,nan\n", "line 2: blocks"),
        ("psize,blocks\nx,1\n", "line 2: psize"),
        ("psize,blocks\n32M,1\n", "16M"),
        ("psize,lsize,blocks\n8K,4K,1\n", "psize <= lsize"),
        ("psize,blocks\n" + "4K,1\n" * 10_001, "more than 10000 rows"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_block_sizes(write(tmp_path / "blocks.csv", text))
    with pytest.raises(InputError, match="no such file"):
        read_block_sizes(tmp_path / "none.csv")


def records(tmp_path: Path, *rows: str, head: str = "psize,lsize,blocks", **more: int) -> list[RecordClass]:
    path = write(tmp_path / "blocks.csv", "\n".join([head, *rows, ""]))
    return list(read_block_sizes(path, **more))


def test_a_record_is_the_next_power_of_two_of_512_bytes_or_more(tmp_path: Path) -> None:
    known = {
        1: 512,
        512: 512,
        513: 1024,
        1024: 1024,
        1025: 2048,
        (16 << 20) - 1: 16 << 20,
        16 << 20: 16 << 20,
    }
    for size, record in known.items():
        (found,) = records(tmp_path, f"{size},,1")
        assert (found.recordsize, found.ratios) == (record, ((size / record, 1.0),))
    (found,) = records(tmp_path, "1000,1025,3")
    assert (found.recordsize, found.share) == (2048, 3 * 2048)


@pytest.mark.parametrize(
    ("row", "words"),
    [("0,,1", "0 < psize <= lsize <= 16M"), ("16777217,,1", "0 < psize <= lsize <= 16M"),
     ("512,16777217,1", "0 < psize <= lsize <= 16M"), ("512,511,1", "0 < psize <= lsize <= 16M"),
     ("512,,1e18", "line 3: blocks"), ("512,,-0.5", "line 3: blocks"), ("512,,x", "line 3: blocks")],
)  # fmt: skip
def test_a_row_that_no_pool_has_is_named_by_its_line(tmp_path: Path, row: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        records(tmp_path, "512,,1", row)


def test_rows_without_blocks_count_for_nothing(tmp_path: Path) -> None:
    (found,) = records(tmp_path, "512,,0", "4096,,2", "1024,4096,0", "2048,4096,6")
    assert (found.recordsize, found.ratios) == (4096, ((0.5, 0.75), (1.0, 0.25)))
    (most,) = records(tmp_path, "512,,999999999999999872")
    assert most.share == pytest.approx(512e18)


TYPED = "type,level,quantity,size,blocks"


def test_types_are_those_of_data_at_their_lowest_level(tmp_path: Path) -> None:
    rows = ["ZFS plain file,0,psize,4096,1", "zfs plain file,0,lsize,8192,9", "zvol object,,psize,8192,2",
            "zvol object,1,psize,512,7", "DMU dnode,0,psize,16384,5", "all,,psize,131072,99",
            "zfs plain file,0,psize,0,50"]  # fmt: skip
    small, large = records(tmp_path, *rows, head=TYPED)
    assert (small.recordsize, small.share) == (4096, 4096)
    assert (large.recordsize, large.share) == (8192, 2 * 8192)
    for size in ("-1", "16777217"):
        with pytest.raises(InputError, match="line 2: size"):
            records(tmp_path, f"file,,psize,{size},1", head=TYPED)
    (whole,) = records(tmp_path, "file,,psize,16777216,1", head=TYPED)
    assert whole.recordsize == 16 << 20


def test_blocks_up_to_the_record_size_are_of_such_records(tmp_path: Path) -> None:
    rows = ["file,,psize,4096,1", "file,,psize,8192,1", "file,,psize,16384,2"]
    small, large = records(tmp_path, *rows, head=TYPED, recordsize=8192)
    assert (small.recordsize, small.ratios) == (8192, ((0.5, 0.5), (1.0, 0.5)))
    assert (large.recordsize, large.share) == (16384, 2 * 16384)


def test_more_blocks_on_disk_than_before_compression_were_compressed(tmp_path: Path) -> None:
    """Classes of powers of two: as many in both are whole records, more are between it and the next."""
    rows = ["all,,psize,4096,5", "all,,lsize,4096,5", "all,,psize,8192,6", "all,,lsize,8192,5"]
    small, large = records(tmp_path, *rows, head=TYPED)
    assert (small.recordsize, small.ratios) == (4096, ((1.0, 1.0),))
    assert (large.recordsize, large.ratios) == (16384, ((0.75, 1.0),))


@pytest.mark.parametrize(
    ("head", "row", "limit"), [("psize,blocks", "512,1", 3), (TYPED, "file,,psize,512,1", 5)]
)
def test_a_file_has_so_many_rows_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: str, row: str, limit: int
) -> None:
    monkeypatch.setattr(sizes, "MAX_ROWS", 3)
    monkeypatch.setattr(sizes, "MAX_TYPED_ROWS", 5)
    (found,) = records(tmp_path, *[row] * limit, head=head)
    assert found.share == 512 * limit
    with pytest.raises(InputError, match=f"more than {limit} rows"):
        records(tmp_path, *[row] * (limit + 1), head=head)


def test_no_block_is_larger_than_the_largest_record(tmp_path: Path) -> None:
    """More blocks of 16 MiB on disk than before compression, which no pool has, are still of 16 MiB."""
    rows = "all,,psize,8M,2\nall,,psize,16M,3\nall,,lsize,16M,1\n"
    path = write(tmp_path / "blocks.csv", f"type,level,quantity,size,blocks\n{rows}")
    (record,) = read_block_sizes(path)
    assert (record.recordsize, record.share) == (16 << 20, 5 * (16 << 20))
    assert record.ratios == ((0.75, 0.4), (1.0, 0.6))


@given(st.text('psizeblock,\n0123456789KM-."', max_size=120))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = write(tmp_path_factory.mktemp("sizes") / "blocks.csv", "psize,blocks\n" + text)
    with contextlib.suppress(InputError):
        read_block_sizes(path)
