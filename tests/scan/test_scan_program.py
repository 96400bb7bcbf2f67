"""The scan's programs against their definitions, written out plainly."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.pool.blocks import LEVEL_OBJSET, BlockTable
from zsim.scan.items import ScanItems
from zsim.scan.program import (
    OP_ISSUE,
    DamagedVdev,
    needs_io,
    preferred_copy,
    read_chances,
    scan_items,
    traversal_program,
    with_entries,
)
from zsim.scan.rebuild import allocated_ranges, rebuild_chunks
from zsim.scan.rewritten import rewritten_by_start
from zsim.scan.sorted import (
    Addresses,
    ExtentRules,
    ScanQueue,
    address_order,
    extent_order,
    joined,
    queue_entries,
    with_own_items,
)
from zsim.vdevs.raidz import raidz_asize, raidz_map, raidz_piece

SECTOR = 4096
SIZES = st.integers(1, 32).map(lambda sectors: sectors * SECTOR)
Places = list[tuple[int, int]]


def table(places: Places, *, gap: int = 0, asize: int | None = None) -> BlockTable:
    """Return an objset's root, one indirect block, and a data block at each place (offset, psize)."""
    end = max((offset + size for offset, size in places), default=0) + gap
    rows = [(end, SECTOR), (end + SECTOR, SECTOR), *places]
    count = len(rows)
    offset, psize = np.array(rows, np.int64).T
    level = np.zeros(count, np.int16)
    level[:2] = LEVEL_OBJSET, 1
    dva_vdev, dva_offset = np.full((count, 3), -1, np.int32), np.zeros((count, 3), np.int64)
    dva_asize = np.zeros((count, 3), np.int64)
    dva_vdev[:, 0], dva_offset[:, 0], dva_asize[:, 0] = 0, offset, psize if asize is None else asize
    return BlockTable(
        objset=np.full(count, 54),
        object=np.array([0, 2, *[2] * len(places)]),
        level=level,
        blkid=np.array([0, 0, *range(len(places))]),
        is_metadata=level != 0,
        birth=np.arange(10, 10 + count),
        psize=psize,
        lsize=psize,
        dva_count=np.ones(count, np.int16),
        dva_vdev=dva_vdev,
        dva_offset=dva_offset,
        dva_asize=dva_asize,
    )


@st.composite
def scattered(draw: st.DrawFn) -> Places:
    """Return places that do not overlap, in any order."""
    sizes = draw(st.lists(SIZES, min_size=1, max_size=20))
    gaps = draw(st.lists(st.integers(0, 100), min_size=len(sizes), max_size=len(sizes)))
    places, end = [], 0
    for size, space in zip(sizes, gaps, strict=True):
        places.append((end + space * SECTOR, size))
        end = places[-1][0] + size
    return draw(st.permutations(places))


@given(scattered(), st.integers(3, 9), st.integers(1, 3), st.integers(0, 8))
def test_a_raidz_block_needs_io_if_one_of_its_columns_is_on_the_damaged_child(
    places: Places, width: int, parity: int, child: int
) -> None:
    width, blocks = max(width, parity + 1), table(places)
    child %= width
    damaged = DamagedVdev("raidz", width, parity, 12, (child,))
    wanted = needs_io(blocks, (damaged,), column_test=True)
    for row in range(len(blocks)):
        offset, psize = int(blocks.dva_offset[row, 0]), int(blocks.psize[row])
        columns, *plan = raidz_map(offset, psize, 12, width, parity)
        on_child = [
            raidz_piece(column, plan[0], *plan[1:], width)[0] == child for column in range(int(columns))
        ]
        assert wanted[row] == any(on_child)
    assert needs_io(blocks, (damaged,), column_test=False).all()


@given(scattered(), st.booleans())
def test_the_walk_issues_each_wanted_block_once_parents_after_their_children(
    places: Places, prefetch: bool
) -> None:
    blocks = table(places)
    wanted = np.ones(len(blocks), bool)
    wanted[2::2] = False
    items = scan_items(blocks, seed=1, wanted=wanted)
    program = traversal_program(blocks, items, wanted, prefetch=prefetch)
    issued = program.item[program.code == OP_ISSUE]
    assert Counter(issued.tolist()) == Counter(np.flatnonzero(wanted).tolist())
    data = [row for row in issued.tolist() if row >= 2]
    assert issued.tolist() == [*data, 1, 0]
    assert data == sorted(data)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_of_several_copies_on_one_vdev_the_first_is_read(vdevs: list[tuple[int, int, int]]) -> None:
    held = np.array(vdevs, np.int32)
    chance = np.random.default_rng(5).random(len(held))
    drawn = preferred_copy(held, np.full(len(held), 3, np.int16), chance)
    for row, copy in enumerate(drawn):
        assert held[row, copy] not in held[row, :copy].tolist()


def test_each_copy_is_read_equally_often() -> None:
    held = np.tile(np.array([0, 1, 2], np.int32), (30_000, 1))
    chance = np.random.default_rng(5).random(30_000)
    shares = np.bincount(preferred_copy(held, np.full(30_000, 3, np.int16), chance)) / 30_000
    # Five standard errors of a third.
    assert shares == pytest.approx(1 / 3, abs=5 * np.sqrt(2 / 9 / 30_000))


def test_without_a_mos_nothing_is_rewritten_by_the_start() -> None:
    assert not rewritten_by_start(table([(0, SECTOR)])).any()


def queue(places: Places) -> ScanQueue:
    blocks = table(places, gap=1 << 30)
    return queue_entries(blocks, np.arange(2, len(blocks)))


def issued(items: ScanItems, number: int) -> tuple[object, ...]:
    """Return what is read and repaired where an item is issued."""
    begin = int(items.copies[number])
    others = slice(begin, begin + int(items.copy_count[number]))
    own = [getattr(items, name)[number] for name in ("vdev", "offset", "psize", "level0", "columns")]
    return (*own, items.copy_vdev[others].tolist(), items.copy_offset[others].tolist())


@given(scattered(), st.integers(0, 255), st.integers(0, 255), st.booleans())
def test_entries_that_share_the_item_of_their_block_are_issued_as_with_one_of_their_own(
    places: Places, copied: int, moved: int, scrub: bool
) -> None:
    blocks = table(places)
    count = np.array([1 + (copied >> row % 8 & 1) for row in range(len(blocks))], np.int16)
    blocks = replace(blocks, dva_count=count)
    blocks.dva_vdev[count > 1, 1], blocks.dva_offset[count > 1, 1] = 1, 1 << 40
    # The scan visits some where they were, and issues them from where they are.
    elsewhere = replace(blocks, dva_offset=blocks.dva_offset.copy())
    elsewhere.dva_offset[:, 0] += SECTOR * np.array([moved >> row % 8 & 1 for row in range(len(blocks))])
    items = scan_items(elsewhere, seed=3, wanted=np.ones(len(blocks), bool))
    entries = queue_entries(blocks, np.arange(len(blocks)))
    chance = read_chances(4, len(entries))
    each = with_entries(items, blocks, entries.item, entries.copy, chance=chance, scrub=scrub)
    shared, named = with_own_items(items, blocks, entries, seed=3, scrub=scrub)
    assert len(set(named.item.tolist())) == len(entries)
    assert len(shared) <= len(each)
    for entry, item in enumerate(named.item.tolist()):
        assert issued(shared, item) == issued(each, len(items) + entry)


@given(scattered())
def test_the_final_drain_goes_by_address(places: Places) -> None:
    entries = queue(places)
    rows = address_order(entries, 0)
    assert sorted(rows.tolist()) == list(range(len(entries)))
    assert entries.offset[rows].tolist() == sorted(offset for offset, _ in places)
    assert len(address_order(entries, 1)) == 0


def test_entries_at_one_place_are_issued_as_they_were_visited() -> None:
    entries = queue([(4096 * number, SECTOR) for number in range(200)])
    twice = replace(entries, offset=entries.offset % (4096 * 50))
    expected = sorted(range(200), key=lambda row: int(twice.offset[row]))
    assert len(set(twice.offset.tolist())) < 200
    assert address_order(twice, 0).tolist() == expected


@given(scattered(), st.integers(0, 1 << 30), st.booleans())
def test_pending_entries_come_in_the_order_of_the_whole_queue(places: Places, chosen: int, two: bool) -> None:
    entries = queue(places)
    entries = replace(entries, vdev=np.arange(len(entries)) % 2 if two else entries.vdev)
    pending = np.flatnonzero([chosen >> (number % 30) & 1 for number in range(len(entries))])
    part = entries.take(pending)
    sorted_anew = [pending[address_order(part, vdev)].tolist() for vdev in range(2)]
    assert [rows.tolist() for rows in Addresses(entries).by_vdev(pending, 2)] == sorted_anew


@given(
    st.lists(st.integers(0, 40), unique=True).map(sorted),
    st.integers(0, 40),
    st.integers(0, 20),
    st.lists(st.integers(0, 60)),
)
def test_what_was_visited_joins_what_is_pending(
    pending: list[int], first: int, visited: int, more: list[int]
) -> None:
    end = first + visited
    found = joined(np.array(pending, np.int64), first, end, np.array(more, np.int64))
    assert found.tolist() == sorted({*pending, *range(first, end), *more})


def extents(places: Places, max_gap: int) -> list[Places]:
    result: list[Places] = []
    for place in sorted(places):
        if result and place[0] - sum(result[-1][-1]) <= max_gap:
            result[-1].append(place)
        else:
            result.append([place])
    return result


@given(scattered(), st.integers(0, 50).map(lambda sectors: sectors * SECTOR), st.booleans())
def test_when_memory_is_short_the_fullest_extents_go_first(
    places: Places, max_gap: int, coarse: bool
) -> None:
    def score(extent: Places) -> int:
        fill = sum(size for _, size in extent)
        span = sum(extent[-1]) - extent[0][0]
        exact = fill + 3 * (fill * 100 // span) * fill // 100
        return exact.bit_length() if coarse else exact

    found = extents(places, max_gap)
    expected = sorted(found, key=lambda extent: (-score(extent), extent[0][0]))
    entries = queue(places)
    rows = extent_order(
        entries, address_order(entries, 0), ExtentRules(max_gap=max_gap, fill_weight=3, coarse=coarse)
    )
    assert entries.offset[rows].tolist() == [offset for extent in expected for offset, _ in extent]


@given(scattered())
def test_ranges_of_blocks_of_one_copy_are_those_of_any(places: Places) -> None:
    blocks = table(places)
    count = blocks.dva_count.copy()
    count[:1] = 2  # its second copy lies on no vdev
    several = allocated_ranges(replace(blocks, dva_count=count), 0)
    for one, any_of in zip(allocated_ranges(blocks, 0), several, strict=True):
        assert one.tolist() == any_of.tolist()
    assert [len(each) for each in allocated_ranges(blocks, 1)] == [0, 0]


@given(scattered(), st.sampled_from([16, 64, 1024]))
def test_a_rebuild_of_a_mirror_copies_what_is_allocated_and_no_more(places: Places, sectors: int) -> None:
    blocks, metaslab, segment = table(places), 64 * SECTOR, sectors * SECTOR
    begin, end = allocated_ranges(blocks, 0)
    assert (begin[1:] > end[:-1]).all()
    chunks = rebuild_chunks(
        blocks, 0, DamagedVdev("mirror", 2, 0, 12, (1,)), metaslab_bytes=metaslab, segment_bytes=segment
    )
    covered = np.concatenate(
        [
            np.arange(start, start + size, SECTOR)
            for start, size in zip(chunks.offset, chunks.psize, strict=True)
        ]
    )
    held = [
        np.arange(start, start + size, SECTOR)
        for start, size in zip(blocks.dva_offset[:, 0], blocks.psize, strict=True)
    ]
    assert covered.tolist() == sorted(np.concatenate(held).tolist())
    assert (chunks.psize <= segment).all()
    assert (chunks.offset // metaslab == (chunks.offset + chunks.psize - 1) // metaslab).all()


def test_a_rebuild_copies_what_was_written_since() -> None:
    blocks, mirror = table([(0, SECTOR)]), DamagedVdev("mirror", 2, 0, 12, (1,))
    written = np.array([5, 6, 9]) * SECTOR, np.full(3, SECTOR)
    old, new = (
        rebuild_chunks(blocks, 0, mirror, metaslab_bytes=8 * SECTOR, segment_bytes=1 << 20, written=each)
        for each in (None, written)
    )
    more = new.offset >= 5 * SECTOR
    assert new.offset[~more].tolist() == old.offset.tolist()
    assert (new.offset[more] // SECTOR).tolist() == [5, 9]
    assert (new.psize[more] // SECTOR).tolist() == [2, 1]
    assert new.metaslab[more].tolist() == [0, 1]


def test_a_rebuild_of_a_draid_leaves_out_groups_that_miss_no_child() -> None:
    size = 16 << 20
    asize = raidz_asize(size, 12, 5, 1)
    places = [(number * asize, size) for number in range(176)]
    blocks = table(places, asize=asize)
    # Each row of slices holds two groups of five children, and one spare: five in eleven groups have the
    # child.
    draid = DamagedVdev("draid", 11, 1, 12, (3,), data=4, spares=1)
    chunks = rebuild_chunks(blocks, 0, draid, metaslab_bytes=1 << 30, segment_bytes=1 << 20)
    whole = sum(size for _, size in places)
    assert 0.3 * whole < chunks.psize.sum() < 0.6 * whole
    assert (chunks.psize % (4 << 12) == 0).all()
