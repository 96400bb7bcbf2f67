from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.base.errors import InputError
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
