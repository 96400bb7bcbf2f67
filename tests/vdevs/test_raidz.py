"""RAID-Z: invariants of the map over generated blocks, and the worked examples of the specification.

Every row of the vectors from the real code is checked through `zsim validate` (tests/validate).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.vdevs import arrays, raidz

K = 1024


@st.composite
def blocks(draw: st.DrawFn) -> tuple[int, int, int, int, int]:
    """Draw (offset, psize, ashift, width, parity) of one block."""
    ashift = draw(st.sampled_from([9, 12, 13]))
    parity = draw(st.integers(1, 3))
    width = draw(st.integers(parity + 1, 60))
    offset = draw(st.integers(0, 2**45 >> ashift)) << ashift
    psize = draw(st.integers(1, 2**24 // 512)) * 512
    return offset, psize, ashift, width, parity


def pieces(offset: int, psize: int, ashift: int, width: int, parity: int) -> list[tuple[int, int, int]]:
    """Return all pieces of a block."""
    columns, *rest = raidz.raidz_map(offset, psize, ashift, width, parity)
    return [raidz.raidz_piece(column, *rest, width) for column in range(columns)]


@given(blocks())
def test_each_child_holds_at_most_one_piece(block: tuple[int, int, int, int, int]) -> None:
    children = [child for child, _, _ in pieces(*block)]
    assert len(set(children)) == len(children)
    assert all(0 <= child < block[3] for child in children)


@given(blocks())
def test_sizes_sum_to_data_and_parity(block: tuple[int, int, int, int, int]) -> None:
    _, psize, ashift, width, parity = block
    sizes = [size for _, _, size in pieces(*block)]
    sectors = -(-psize >> ashift)
    assert sum(sizes[parity:]) == sectors << ashift
    assert set(sizes[:parity]) == {max(sizes)}
    skipped, _ = raidz.raidz_skip(psize, ashift, width, parity)
    assert sum(sizes) + (skipped << ashift) == raidz.raidz_asize(psize, ashift, width, parity)
    assert 0 <= skipped <= parity


@pytest.mark.parametrize(
    ("psize", "width", "parity", "skipped", "start"),
    [
        (4096, 3, 1, 0, 2), (4097, 3, 1, 1, 0), (8192, 3, 1, 1, 0), (3 * 4096, 6, 2, 1, 5),
        (5 * 4096, 6, 2, 0, 3), (4 * 4096 + 1, 6, 2, 0, 3), (7 * 4096, 6, 2, 1, 5), (1, 4, 3, 0, 0),
    ],
)  # fmt: skip
def test_skip_sectors_fill_up_and_follow_the_longer_columns(
    psize: int, width: int, parity: int, skipped: int, start: int
) -> None:
    """To a multiple of parity and one, from column 0 where all are as long (vdev_raidz_map_alloc)."""
    assert raidz.raidz_skip(psize, 12, width, parity) == (skipped, start)


@given(blocks())
def test_pieces_cover_the_address_range_without_overlap(block: tuple[int, int, int, int, int]) -> None:
    offset, psize, ashift, width, parity = block
    psize = min(psize, 2**18)
    sectors = {
        (child_offset >> ashift) * width + row * width + child
        for child, child_offset, size in pieces(offset, psize, ashift, width, parity)
        for row in range(size >> ashift)
    }
    first = offset >> ashift
    assert min(sectors) == first
    assert max(sectors) < first + (raidz.raidz_asize(psize, ashift, width, parity) >> ashift)
    total = sum(size for _, _, size in pieces(offset, psize, ashift, width, parity))
    assert len(sectors) == total >> ashift


@given(blocks())
def test_column_test_agrees_with_the_map(block: tuple[int, int, int, int, int]) -> None:
    held = {child for child, _, _ in pieces(*block)}
    _, psize, ashift, width, parity = block
    for child in range(width):
        needed = raidz.raidz_needs_child(*block, child)
        # The test counts sectors + parity columns, which is exact for blocks of a single row only.
        assert needed or child not in held
        if (-(-psize >> ashift)) + parity < width:
            assert needed == (child in held)


@given(st.lists(blocks(), min_size=1, max_size=8))
def test_arrays_agree_with_scalars(drawn: list[tuple[int, int, int, int, int]]) -> None:
    _, _, ashift, width, parity = drawn[0]
    psize = np.array([block[1] for block in drawn])
    assert arrays.raidz_asizes(psize, ashift, width, parity).tolist() == [
        raidz.raidz_asize(int(size), ashift, width, parity) for size in psize
    ]


@pytest.mark.parametrize(
    ("block", "asize", "expected"),
    [
        ((0, 128 * K, 12, 8, 2), 184320, [(c, 0, 24576 if c < 4 else 20480) for c in range(8)]),
        ((0xA000, 4 * K, 12, 8, 2), 12288, [(2, 0x1000, 4096), (3, 0x1000, 4096), (4, 0x1000, 4096)]),
        ((0x5A000, 8 * K, 12, 5, 1), 16384, [(0, 0x12000, 4096), (1, 0x12000, 4096), (2, 0x12000, 4096)]),
        ((0x140000, 4 * K, 12, 3, 1), 8192, [(2, 0x6A000, 4096), (0, 0x6B000, 4096)]),
    ],
)
def test_worked_examples(
    block: tuple[int, int, int, int, int], asize: int, expected: list[tuple[int, int, int]]
) -> None:
    assert pieces(*block) == expected
    assert raidz.raidz_asize(*block[1:]) == asize


def test_parity_swaps_every_mebibyte_of_raidz1_only() -> None:
    assert [raidz.raidz_parity_column(offset << 20, 1) for offset in range(4)] == [0, 1, 0, 1]
    assert raidz.raidz_parity_column(1 << 20, 2) == 0


def plain(kernel: Any) -> Any:
    return getattr(kernel, "py_func", kernel)


def test_piece_is_plain_python_too() -> None:
    mapped = plain(raidz.raidz_map)(0x2B7000, 128 * K, 12, 12, 3)
    assert plain(raidz.raidz_piece)(0, *mapped[1:], 12) == (11, 0x39000, 16384)
