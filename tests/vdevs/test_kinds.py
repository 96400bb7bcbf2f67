"""Every kind of vdev keeps what `zsim.vdevs.kind` promises; a new one is tested by being there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from zsim.base.errors import InputError
from zsim.scenario.layout import FORMS, Layout
from zsim.vdevs.dispatch import pieces_of_blocks, touched_blocks
from zsim.vdevs.kind import (
    Printed,
    VdevKind,
    VdevSpec,
    asize_of,
    code_of,
    kind_of,
    kinds,
    parts_of,
    pieces_of,
    pieces_of_part,
    shape_of,
)

LEAF = 3 << 30
MORE = ("raidz1x3", "raidz3x4", "mirror4", "draid1:1d:3c", "draid3:4d:20c:3s")
LAYOUTS = [*(form for kind in kinds().values() for form in kind.forms), *MORE]
LARGEST = 16 << 20

Block = tuple[VdevSpec, int, int, int]
vdevs = st.sampled_from(LAYOUTS).map(lambda text: Layout.parse(text).vdevs[0])


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    """Draw a vdev, its ashift, and offset and physical size of a block that fits into it."""
    vdev, ashift = draw(vdevs), draw(st.sampled_from([9, 12, 13]))
    kind = kind_of(vdev.kind)
    psize = draw(st.one_of(st.integers(1, 512), st.integers(1, LARGEST // 512))) * 512
    unit = kind.unit_sectors(vdev) << ashift
    room = (kind.address_space(vdev, LEAF) - asize_of(vdev, psize, ashift)) // unit
    edge = kind.group_bytes(vdev) // unit or room
    near = st.integers(max(0, edge - 100), edge).filter(lambda place: place <= room)
    return vdev, ashift, draw(st.one_of(st.integers(0, room), near)) * unit, psize


def kind(vdev: VdevSpec) -> VdevKind:
    return kind_of(vdev.kind)


@pytest.mark.parametrize("text", LAYOUTS)
def test_a_word_means_the_vdev_that_is_called_so(text: str) -> None:
    vdev = Layout.parse(text).vdevs[0]
    assert str(vdev) == text
    assert [each.name for each in kinds().values() if each.parse(text, text)] == [vdev.kind]
    assert 0 <= vdev.tolerance < vdev.children


@pytest.mark.parametrize("name", kinds())
def test_the_form_is_complete(name: str) -> None:
    found = kind_of(name)
    assert found.name == name
    assert code_of(name) < len(kinds())
    assert all(form in FORMS for form in found.forms)
    assert found.forms
    assert found.missing("nonsense") is None
    assert found.printed("ada5p1") is None
    assert found.printed("replacing-1") is None
    vdev = Layout.parse(found.forms[0]).vdevs[0]
    assert (found.group_bytes(vdev) > 0) == found.has_groups
    table = found.table(vdev)
    assert (table.dtype, table.shape[1]) == (np.int64, vdev.children)


@pytest.mark.parametrize(
    ("text", "words"),
    [("raidz2x6", "raidz2"), ("raidz3x9", "raidz3"), ("mirror2", "mirror"), ("raidz1x4+1", "raidz1"),
     ("draid2:8d:41c:2s", "draid2:8d:41c:2s")],
)  # fmt: skip
def test_a_status_names_the_parity_of_a_raidz_and_all_numbers_of_a_draid(text: str, words: str) -> None:
    vdev = Layout.parse(text).vdevs[0]
    assert kind(vdev).status_word(vdev) == words


@pytest.mark.parametrize("text", LAYOUTS)
def test_zpool_names_it_so_that_it_is_found_again(text: str) -> None:
    vdev = Layout.parse(text).vdevs[0]
    if kind(vdev).has_widths:
        pytest.skip("zpool names it like a RAID-Z that never grew; see tests/vdevs/test_expanded.py")
    printed = f"{str(vdev).rsplit('x', 1)[0] if 'x' in text else vdev.kind}-0"
    told = kind(vdev).printed(printed)
    assert told is not None
    assert [each.name for each in kinds().values() if each.printed(printed)] == [vdev.kind]
    assert kind(vdev).spec(vdev.children, Printed(vdev.parity, vdev.data, vdev.spares)) == vdev


@given(blocks())
def test_space_is_counted_in_units(block: Block) -> None:
    vdev, ashift, _, psize = block
    asize = asize_of(vdev, psize, ashift)
    assert asize >= psize
    assert asize % (kind(vdev).unit_sectors(vdev) << ashift) == 0
    sizes = np.array([psize, 512, psize], np.int64)
    assert kind(vdev).asizes(vdev, sizes, ashift).tolist() == [
        asize, asize_of(vdev, 512, ashift), asize,
    ]  # fmt: skip


@given(blocks())
def test_parts_cover_the_block(block: Block) -> None:
    vdev, ashift, offset, psize = block
    parts = parts_of(vdev, offset, psize, ashift)
    assert parts[0][0] == offset
    assert psize <= sum(size for _, size in parts) < psize + (1 << ashift)
    assert sum(asize_of(vdev, size, ashift) for _, size in parts) == asize_of(vdev, psize, ashift)


@given(blocks())
def test_pieces_sum_to_what_is_allocated(block: Block) -> None:
    vdev, ashift, offset, psize = block
    unit = kind(vdev).unit_sectors(vdev) << ashift
    for at, size in parts_of(vdev, offset, psize, ashift):
        asize = asize_of(vdev, size, ashift)
        pieces = pieces_of_part(vdev, at, size, ashift)
        assert len({child for child, _, _ in pieces}) == len(pieces)
        if kind(vdev).is_replicated:
            assert pieces == [(child, pieces[0][1], asize) for child in range(vdev.children)]
        else:
            assert 0 <= asize - sum(length for _, _, length in pieces) < unit


@given(blocks())
def test_data_columns_hold_the_data_and_parity_is_as_long(block: Block) -> None:
    vdev, ashift, offset, psize = block
    assume(not kind(vdev).is_replicated)
    for at, size in parts_of(vdev, offset, psize, ashift):
        lengths = [length for *_, length in pieces_of_part(vdev, at, size, ashift, whole=False)]
        assert sum(lengths[vdev.parity :]) == -(-size >> ashift) << ashift
        assert set(lengths[: vdev.parity]) <= {max(lengths)}
        whole = [length for *_, length in pieces_of_part(vdev, at, size, ashift)]
        assert all(map(int.__le__, lengths, whole))
        assert (len(set(whole)) == 1) or not kind(vdev).has_fill


@given(blocks(), st.data())
def test_what_is_left_reconstructs_what_is_lost(block: Block, data: st.DataObject) -> None:
    vdev, ashift, offset, psize = block
    children = st.lists(st.integers(0, vdev.children - 1), max_size=vdev.tolerance, unique=True)
    lost = data.draw(children)
    for at, size in parts_of(vdev, offset, psize, ashift):
        pieces = pieces_of_part(vdev, at, size, ashift)
        left = [piece for piece in pieces if piece[0] not in lost]
        assert len(left) >= (1 if kind(vdev).is_replicated else len(pieces) - vdev.parity)


@given(blocks())
def test_a_resilver_reads_all_that_a_child_has_a_part_of(block: Block) -> None:
    vdev, ashift, offset, psize = block
    shape, table = shape_of(vdev, ashift), kind(vdev).table(vdev)
    offsets, psizes = np.array([offset], np.int64), np.array([psize], np.int64)
    for child, _, length in pieces_of(vdev, offset, psize, ashift):
        needs = kind(vdev).kernels.needs_child(offset, psize, shape, table, child)
        assert needs or length == 0
        assert bool(touched_blocks(vdev, ashift, (child,), offsets, psizes)[0]) == needs
    if not kind(vdev).skips_blocks(True):
        return
    assert 0.0 < kind(vdev).repaired_share(vdev, 1) <= 1.0


@given(blocks(), st.integers(1, 2048))
def test_neighbours_share_no_byte_and_stay_on_their_drives(block: Block, sectors: int) -> None:
    vdev, ashift, offset, psize = block
    behind = offset + asize_of(vdev, psize, ashift)
    other = sectors << ashift
    assume(behind + asize_of(vdev, other, ashift) <= kind(vdev).address_space(vdev, LEAF))
    pieces = [
        *((*piece, ashift) for piece in pieces_of(vdev, offset, psize, ashift)),
        *((*piece, ashift) for piece in pieces_of(vdev, behind, other, ashift)),
    ]
    ends: dict[int, int] = {}
    for child, place, size, _ in sorted(pieces):
        assert 0 <= child < vdev.children
        assert ends.get(child, 0) <= place
        ends[child] = place + size
        assert ends[child] <= LEAF


@given(vdevs, st.integers(0, 1000), st.integers(1, 5000), st.sampled_from([1 << 20, 64 << 10]))
def test_a_rebuild_copies_everything_once(vdev: VdevSpec, first: int, units: int, segment: int) -> None:
    assume(kind(vdev).is_rebuildable)
    unit = kind(vdev).unit_sectors(vdev) << 12
    begin, end = np.array([first * unit]), np.array([(first + units) * unit])
    start, stop, psize = kind(vdev).rebuild_pieces(vdev, 12, begin, end, segment)
    assert (start[0], stop[-1]) == (begin[0], end[0])
    assert (start[1:] == stop[:-1]).all()
    assert psize.max() <= kind(vdev).rebuild_segment(vdev, segment)
    assert [asize_of(vdev, int(size), 12) for size in psize] == (stop - start).tolist()


@given(vdevs, st.integers(4 << 10, 1 << 44))
def test_space_grows_with_the_drives(vdev: VdevSpec, leaf: int) -> None:
    space = kind(vdev).address_space(vdev, leaf + LEAF)
    assert 0 < space <= (leaf + LEAF) * vdev.children
    width = kind(vdev).columns(vdev)
    assert 0 <= vdev.parity < width <= vdev.children
    assert 1 <= kind(vdev).drives_read(vdev, 8) <= vdev.children
    assert 1 <= kind(vdev).spanned_children(vdev) <= vdev.children


def test_a_draid_has_two_drives_at_least_and_each_number_once() -> None:
    assert str(Layout.parse("draid1:1d:2c").vdevs[0]) == "draid1:1d:2c"
    for text, words in (
        ("draid1:1d:1c", "2 to 255 drives"), ("draid2:8d:8d:41c", "the number ending in 'd' twice"),
        ("draid2:8d:41c:2s:1s", "the number ending in 's' twice"), ("draid2:8d", "drives is missing"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            Layout.parse(text)


def test_numbers_of_nine_digits_are_read_and_longer_ones_refused() -> None:
    from zsim.vdevs.kind import number_in

    assert number_in("999999999", "x") == 999_999_999
    with pytest.raises(InputError, match="too large"):
        number_in("1234567890", "x")


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("mirror-0", (0, 0, 0, 0)),
        ("raidz-1", (1, 0, 0, 0)),
        ("raidz3-0", (3, 0, 0, 0)),
        ("draid2:4d:11c:1s-0", (2, 4, 1, 0, 11)),
    ],
)
def test_the_name_of_a_vdev_tells_its_numbers(name: str, printed: tuple[int, ...]) -> None:
    """As zpool-status(8) prints it: what it does not tell is 0."""
    found = [each for each in (kind.printed(name) for kind in kinds().values()) if each]
    assert found == [Printed(*printed)]


@pytest.mark.parametrize(
    ("layout", "children"),
    [("raidz2x8", 6), ("raidz1x3", 2), ("draid2:4d:24c:3s", 19), ("draid1:2d:3c:0s", 2)],
)
def test_a_window_counts_the_drives_that_hold_data(layout: str, children: int) -> None:
    """OpenZFS vdev.c:vdev_get_ndisks less vdev_get_nparity: of a dRAID without its spares."""
    (vdev,) = Layout.parse(layout).vdevs
    assert kind_of(vdev.kind).window_children(vdev) == children


@given(blocks(), st.integers(1, 5))
def test_pieces_of_several_blocks_are_those_of_each(block: Block, count: int) -> None:
    vdev, ashift, offset, psize = block
    offsets = np.full(count, offset)
    found = pieces_of_blocks(vdev, ashift, offsets, psize)
    first = found[found[:, 0] == 0]
    assert len(found) == count * len(first)
    assert first[:, 1:].tolist() == [list(each) for each in pieces_of(vdev, offset, psize, ashift)]
    for number in range(count):
        assert (found[found[:, 0] == number, 1:] == first[:, 1:]).all()
