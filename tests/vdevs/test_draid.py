"""dRAID: invariants of groups, rows, permutations and spares; the vectors run through `zsim validate`."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.base.model_data import load_toml, models_directory
from zsim.vdevs import arrays, draid, permutations
from zsim.vdevs.kind import VdevSpec, kind_of

ASHIFT = 12


@st.composite
def configurations(draw: st.DrawFn) -> tuple[int, int, int, int]:
    """Draw (data, parity, children, spares)."""
    children = draw(st.sampled_from([3, 6, 8, 11, 14, 20, 24, 41]))
    spares = draw(st.integers(0, min(3, children - 2)))
    parity = draw(st.integers(1, min(3, children - spares - 1)))
    return draw(st.integers(1, children - spares - parity)), parity, children, spares


@st.composite
def draid_blocks(draw: st.DrawFn) -> tuple[int, int, tuple[int, int, int, int]]:
    """Draw (offset, psize, configuration), often close to the end of a group."""
    configuration = draw(configurations())
    width = configuration[0] + configuration[1]
    group = draw(st.integers(0, 10**6))
    stripes = draid.ROW_HEIGHT >> ASHIFT
    stripe = draw(st.one_of(st.integers(0, stripes - 1), st.integers(stripes - 3, stripes - 1)))
    offset = group * width * draid.ROW_HEIGHT + (stripe * width << ASHIFT)
    return offset, draw(st.integers(1, 256)) * 4096, configuration


def parts(offset: int, psize: int, data: int, parity: int) -> list[tuple[int, int]]:
    """Return (offset, psize) of the one or two parts of a block."""
    first = draid.draid_first_part(offset, psize, ASHIFT, data, parity)
    rest = psize - first
    if rest <= 0:
        return [(offset, psize)]
    return [(offset, first), (offset + draid.draid_asize(first, ASHIFT, data, parity), rest)]


@given(draid_blocks())
def test_parts_cover_the_block_and_stay_in_their_groups(
    block: tuple[int, int, tuple[int, int, int, int]],
) -> None:
    offset, psize, (data, parity, _, _) = block
    group_size = (data + parity) * draid.ROW_HEIGHT
    cut = parts(offset, psize, data, parity)
    assert sum(size for _, size in cut) == psize
    asizes = [draid.draid_asize(size, ASHIFT, data, parity) for _, size in cut]
    assert sum(asizes) == draid.draid_asize(psize, ASHIFT, data, parity)
    for (at, _), asize in zip(cut, asizes, strict=True):
        assert at // group_size == (at + asize - 1) // group_size
    assert all(at % group_size == 0 for at, _ in cut[1:])


@given(draid_blocks())
def test_columns_are_distinct_children_clear_of_the_spares(
    block: tuple[int, int, tuple[int, int, int, int]],
) -> None:
    offset, psize, (data, parity, children, spares) = block
    table = permutations.draid_permutations(children)
    for at, size in parts(offset, psize, data, parity):
        start, slice_number, base, big, small, scan_size = draid.draid_map(
            at, size, ASHIFT, data, parity, children, spares
        )
        placed = [
            draid.draid_piece(c, start, slice_number, base, spares, table) for c in range(data + parity)
        ]
        held = [child for child, _ in placed]
        spare_at = [draid.draid_spare(k, base, data, parity, spares, table) for k in range(spares)]
        assert len(set(held + spare_at)) == len(held) + spares
        assert scan_size * (data + parity) == draid.draid_asize(size, ASHIFT, data, parity)
        content = sum(small + 4096 * (c < big) for c in range(data + parity))
        assert content == size + parity * scan_size
        for child in range(children):
            has = draid.draid_group_has_child(at, data, parity, spares, table, child)
            assert has == (child in held)


def test_no_two_groups_of_a_slice_share_a_row_of_a_child() -> None:
    data, parity, children, spares = 4, 2, 11, 1
    table = permutations.draid_permutations(children)
    groups = draid.draid_groups(data, parity, children, spares)
    seen: Counter[tuple[int, int]] = Counter()
    for group in range(3 * groups):
        mapped = draid.draid_map(
            group * (data + parity) * draid.ROW_HEIGHT, 4096, ASHIFT, data, parity, children, spares
        )
        seen.update(draid.draid_piece(c, *mapped[:3], spares, table) for c in range(data + parity))
    assert set(seen.values()) == {1}
    rows = 3 * draid.draid_slice_rows(data, parity, children, spares)
    assert len(seen) == rows * (children - spares)


def test_worked_example_of_14_children() -> None:
    table = permutations.draid_permutations(14)
    assert table[0].tolist() == [1, 7, 3, 13, 9, 0, 12, 5, 6, 10, 4, 11, 8, 2]
    at = (144 << 20) + 5 * 9 * 4096
    mapped = draid.draid_map(at, 4096, ASHIFT, 8, 1, 14, 2)
    placed = [draid.draid_piece(c, *mapped[:3], 2, table) for c in range(9)]
    assert placed == [(c, 0x5000) for c in (10, 4, 11)] + [(c, 0x1005000) for c in (1, 7, 3, 13, 9, 0)]


def test_a_permutation_serves_as_many_slices_as_there_are_children_turned_by_one_each() -> None:
    table = permutations.draid_permutations(6)
    for number in range(3 * 6):
        found = [draid.draid_child(slot, number, table) for slot in range(6)]
        assert found == [(child + number % 6) % 6 for child in table[number // 6].tolist()]
        assert sorted(found) == list(range(6))
    again = [draid.draid_child(slot, 6 * len(table), table) for slot in range(6)]
    assert again == table[0].tolist(), "after the last comes the first"


def test_needs_child_looks_at_both_groups() -> None:
    data, parity, children, spares = 2, 1, 6, 0
    table = permutations.draid_permutations(children)
    last = 3 * draid.ROW_HEIGHT - 3 * 4096
    first, second = parts(last, 4 * 4096, data, parity)
    held = set()
    for at, size in (first, second):
        mapped = draid.draid_map(at, size, ASHIFT, data, parity, children, spares)
        held |= {draid.draid_piece(c, *mapped[:3], spares, table)[0] for c in range(3)}
    assert len(held) == 6
    assert all(draid.draid_needs_child(last, 4 * 4096, ASHIFT, data, parity, spares, table, c) for c in held)


def test_usable_bytes_are_whole_groups() -> None:
    assert (
        kind_of("draid").address_space(
            VdevSpec("draid", 8, 1, data=4, spares=1), draid.RESERVE + 10 * draid.ROW_HEIGHT
        )
        == 70 // 5 * 5 * draid.ROW_HEIGHT
    )


def test_permutations_are_permutations_by_count() -> None:
    for children in (2, 9, 14, 40):
        table = permutations.draid_permutations(children)
        assert table.shape == (256 if children <= 31 else 512, children)
        assert (np.sort(table, axis=1) == np.arange(children)).all()


@pytest.mark.parametrize("children", [2, 3, 9, 12, 31, 32, 60, 106, 255])
def test_permutations_have_the_checksum_of_the_format(children: int) -> None:
    assert has_checksum(children)


@pytest.mark.slow
def test_permutations_of_every_count_have_the_checksum_of_the_format() -> None:
    assert [children for children in range(2, 256) if not has_checksum(children)] == []


def has_checksum(children: int) -> bool:
    """Tell whether the bytes of the permutations, as words of 32 bits, add up to what the format states."""
    known = load_toml(models_directory() / "draid" / "seeds.toml")["seeds"]
    table = permutations.draid_permutations(children)
    words = np.frombuffer(table.astype(np.uint8).tobytes(), "<u4")
    return int(words.sum(dtype=np.uint64)) == int(known[str(children)]["checksum"], 16)  # type: ignore[index]


@given(st.lists(st.integers(1, 4096), min_size=1, max_size=9), configurations())
def test_array_asizes(sectors: list[int], configuration: tuple[int, int, int, int]) -> None:
    data, parity, _, _ = configuration
    psize = np.array(sectors) * 512
    expected = [draid.draid_asize(int(size), ASHIFT, data, parity) for size in psize]
    assert arrays.draid_asizes(psize, ASHIFT, data, parity).tolist() == expected
