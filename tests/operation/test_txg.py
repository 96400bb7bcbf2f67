"""What the end of a txg writes: labels and uberblocks by the on-disk format, MOS blocks in holes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from zsim.case.resolve import resolve
from zsim.engine.codes import ASYNC_WRITE, SYNC_READ, SYNC_WRITE
from zsim.engine.model import LABEL_BYTES, PlaneModel
from zsim.operation.control import ScanControl
from zsim.operation.txg import Cursor, SyncWrites, TxgRules, hole_order, vdev_asize
from zsim.prediction.inputs.hardware import plane_model
from zsim.scenario.model import Scenario

KIB, MIB = 1 << 10, 1 << 20
LABEL = 256 * KIB
CLASS, IS_WRITE, OFFSET, LENGTH = 1, 2, 3, 4


@cache
def model(layout: str = "mirror2", **stated: Any) -> PlaneModel:
    """A pool that is scrubbed: every drive is there."""
    scenario = {"layout": layout, "fill": 0.5, "drive_size": "20GB", "operation": "scrub", "release": "2.3"}
    return plane_model(resolve(Scenario.from_dict({**scenario, **stated})))


def writes(
    rules: TxgRules | None = None,
    layout: str = "mirror2",
    cursors: Sequence[Cursor] = ((0, MIB),),
    **changes: Any,
) -> SyncWrites:
    return SyncWrites(replace(model(layout), **changes), rules or TxgRules(), cursors)


def on_disk(rows: Any) -> Any:
    """Return the offsets of I/Os from the beginning of the partition."""
    return rows[:, OFFSET] + LABEL_BYTES


def test_the_four_labels_of_a_drive_are_two_at_either_end() -> None:
    rows = writes().label_rows()
    assert sorted(set(rows[:, 0].tolist())) == [0, 1]
    capacity = model().leaves[0].drive.capacity_bytes // LABEL * LABEL
    begins = on_disk(rows[rows[:, 0] == 0]) // LABEL * LABEL
    assert begins.tolist() == [0, LABEL, capacity - 2 * LABEL, capacity - LABEL]
    assert (rows[:, CLASS] == SYNC_WRITE).all()
    assert (rows[:, IS_WRITE] == 1).all()


def test_uberblocks_go_round_in_the_second_half_of_a_label() -> None:
    """128 KiB of uberblocks, each of a sector of the vdev: 32 at ashift 12, the txg's number modulo 32."""
    each = writes()
    slots = []
    for _ in range(33):
        rows = each.label_rows()
        assert (rows[:, LENGTH] == 4096).all()
        inside = on_disk(rows) % LABEL
        assert len(set(inside.tolist())) == 1
        slots.append((int(inside[0]) - 128 * KIB) // 4096)
    assert slots == [*range(1, 32), 0, 1]


def test_an_uberblock_takes_a_kilobyte_on_drives_of_512_byte_sectors() -> None:
    vdev = replace(model().vdevs[0], ashift=9)
    rows = writes(vdevs=(vdev,)).label_rows()
    assert (rows[:, LENGTH] == 1024).all()


def test_the_configuration_lies_in_one_label_of_each_end() -> None:
    """An nvlist of 112 KiB behind the first 16 KiB of a label (vdev_label_t)."""
    rows = writes().configuration_rows()
    assert (rows[:, LENGTH] == 112 * KIB).all()
    places = on_disk(rows[rows[:, 0] == 0])
    capacity = model().leaves[0].drive.capacity_bytes // LABEL * LABEL
    assert places.tolist() == [16 * KIB, capacity - 2 * LABEL + 16 * KIB]


@pytest.mark.parametrize(
    ("layout", "drives", "per_block"), [("mirror2", 2, 2), ("mirror3", 3, 3), ("raidz1x3", 3, 2)]
)
def test_a_mos_block_is_written_with_its_redundancy(layout: str, drives: int, per_block: int) -> None:
    """A block of one sector has as many copies as a mirror has sides; a raidz1 writes a parity beside it."""
    rows = writes(layout=layout).by_allocators([12])
    assert len(rows) == 12 * per_block
    assert set(rows[:, 0].tolist()) == set(range(drives))
    assert (rows[:, CLASS] == ASYNC_WRITE).all()
    assert (rows[:, LENGTH] == 4096).all()


@pytest.mark.parametrize("blocks", [1, 5, 40])
def test_a_mos_block_has_its_copies_on_the_vdevs_of_their_cursors_block_by_block(blocks: int) -> None:
    """Three copies of which two lie on the first vdev, each on both sides of its mirror."""
    cursors = [(0, MIB), (1, 2 * MIB), (0, 3 * MIB)]
    rows = writes(layout="2*mirror2", cursors=cursors).by_allocators([blocks])
    holes = hole_order(TxgRules().region_blocks)[1 : blocks + 1] * 4096
    for number, hole in enumerate(holes):
        found = rows[6 * number : 6 * (number + 1)]
        places = {(int(leaf), int(offset)) for leaf, _, _, offset, _ in found}
        own = [(2 * vdev + side, place + hole) for vdev, place in cursors for side in (0, 1)]
        assert places == set(own)
        assert len(found) == len(own)
    assert len(rows) == 6 * blocks


@pytest.mark.parametrize(
    ("read", "repaired", "leaves"),
    [
        ((0, 1, 2), (-1, -1, -1), [[0], [1], [2]]),
        ((0, 1, 2), (-1, 3, -1), [[0], [1, 3], [2]]),  # an old drive and the new one beside it
        ((0, -1, 2), (-1, -1, -1), [[0], [], [2]]),  # a child that is missing
        ((0, -1, 2), (3, -1, -1), [[0, 3], [], [2]]),  # as many leaves as children, but not one each
    ],
)
def test_new_blocks_are_written_to_every_leaf_of_their_children(
    read: tuple[int, ...], repaired: tuple[int, ...], leaves: list[list[int]]
) -> None:
    """Of a raidz1 of three drives: each column as often as its child has leaves."""
    vdev = replace(model("raidz1x3").vdevs[0], read_leaf=read, write_leaf=repaired)
    drives = (*model("raidz1x3").leaves, model("raidz1x3").leaves[0])
    rows = writes(layout="raidz1x3", vdevs=(vdev,), leaves=drives).by_allocators([30])
    whole = writes(layout="raidz1x3").by_allocators([30])
    for child, own in enumerate(leaves):
        there = whole[whole[:, 0] == child][:, 1:]
        assert len(there) > 0
        for leaf in own:
            assert np.array_equal(rows[rows[:, 0] == leaf][:, 1:], there)
    assert set(rows[:, 0].tolist()) == {leaf for own in leaves for leaf in own}


def test_holes_are_taken_in_scattered_order_and_each_once_a_round() -> None:
    order = hole_order(128)
    assert sorted(order.tolist()) == list(range(128))
    # Whole holes of four places; the next one lies seven holes on.
    assert order[:4].tolist() == [0, 1, 2, 3]
    assert order[4] == 4 * 7
    assert len(hole_order(13)) == 12


def test_no_place_of_the_mos_is_written_twice_before_all_have_been() -> None:
    """Whatever the passes are cut into, blocks follow one another round the region."""
    region = 128
    each = writes(TxgRules(region_blocks=region))
    rows = np.concatenate([each.by_allocators([1]) for _ in range(3 * region)])
    one_side = rows[rows[:, 0] == 0][:, OFFSET]
    first, second = one_side[:region], one_side[region : 2 * region]
    assert len(set(first.tolist())) == region
    assert first.tolist() == second.tolist()
    assert first.min() >= MIB
    assert first.max() < MIB + region * 4096
    parts = writes(TxgRules(region_blocks=region))
    cut = np.concatenate([parts.by_allocators([count]) for count in (5, 127, 128, 120, 4)])
    assert len(cut) == 2 * 384
    assert np.array_equal(cut[: 5 * 2], rows[: 5 * 2])
    # A group of I/Os has no order: of each pass the places count.
    for begin, end in ((5, 132), (132, 260), (260, 380), (380, 384)):
        assert sorted(map(tuple, cut[2 * begin : 2 * end])) == sorted(map(tuple, rows[2 * begin : 2 * end]))


def test_a_pass_without_blocks_writes_nothing() -> None:
    each = writes()
    assert [len(each.by_allocators([count])) for count in (0, 1, 0, 3)] == [0, 2, 0, 6]


def test_allocators_change_parts_with_every_txg_where_they_rotate() -> None:
    """spa_acq_allocator (2.3): the main work goes to another allocator with each txg."""
    rules = TxgRules(pass_blocks=(8,), further_blocks=((2,), (1,)), rotates=True)
    regions = [[(0, place * 64 * MIB)] for place in (1, 2, 3)]
    each = SyncWrites(model(), rules, regions[0], regions[1:])
    counts = []
    for _ in range(4):
        rows = each.sync_pass(0)
        region = rows[rows[:, 0] == 0][:, OFFSET] // (64 * MIB)
        counts.append([int((region == number).sum()) for number in (1, 2, 3)])
        each.label_rows()
    assert counts == [[8, 2, 1], [1, 8, 2], [2, 1, 8], [8, 2, 1]]
    fixed = SyncWrites(model(), replace(rules, rotates=False), regions[0], regions[1:])
    fixed.label_rows()
    assert np.bincount(fixed.sync_pass(0)[:, OFFSET] // (64 * MIB)).tolist() == [0, 16, 4, 2]


def test_allocators_without_cursors_of_their_own_share_the_first_ones() -> None:
    rules = TxgRules(pass_blocks=(8,), further_blocks=((2,), (1,)))
    each = SyncWrites(model(), rules, [(0, MIB)], [[(0, 512 * MIB)]])
    places = each.sync_pass(0)[:, OFFSET] // (256 * MIB)
    assert np.bincount(places).tolist() == [2 * 9, 0, 2 * 2]


def test_space_maps_are_read_all_over_the_drives_one_after_the_other() -> None:
    each = writes(TxgRules(first_reads=7))
    reads = each.space_map_reads()
    assert len(reads) == 7
    rows = np.concatenate(reads)
    assert (rows[:, CLASS] == SYNC_READ).all()
    assert (rows[:, IS_WRITE] == 0).all()
    capacity = model().leaves[0].drive.capacity_bytes
    assert on_disk(rows) / capacity == pytest.approx((np.arange(7) + 0.5) / 7, abs=1e-5)
    assert rows[:, 0].tolist() == [0, 1, 0, 1, 0, 1, 0]


def test_a_writer_that_stops_owes_what_it_has_not_written() -> None:
    """Of 1 MB/s for ten seconds 10 MB are written, less than a record of it left over."""
    record = 128 * KIB
    writer = replace(model().writer, rate=1e6, record_bytes=record, most_dirty_bytes=1 << 30)
    each = writes(writer=writer)
    early = each.data_rows(4.0)
    each.set_writer(0.0, 10.0)
    late = each.data_rows(30.0)
    written = sum(int(rows[rows[:, 0] == 0][:, LENGTH].sum()) for rows in (early, late))
    assert 0 <= 10e6 - written < record
    assert len(each.data_rows(50.0)) == 0
    each.set_writer(1e6, 60.0)
    again = each.data_rows(61.0)
    owed = 10e6 - written
    assert int(again[again[:, 0] == 0][:, LENGTH].sum()) == int((1e6 + owed) / record) * record
    # One record lies behind the other.
    offsets = np.concatenate([rows[rows[:, 0] == 0][:, OFFSET] for rows in (early, late, again)])
    lengths = np.concatenate([rows[rows[:, 0] == 0][:, LENGTH] for rows in (early, late, again)])
    assert (np.diff(offsets) == lengths[:-1]).all()


def test_the_data_of_clients_go_to_every_vdev_in_turn() -> None:
    """Each of two mirrors takes an aliquot, 1 MiB here, before the other (metaslab.c:metaslab_alloc_dva)."""
    record = 128 * KIB
    two = model("2*mirror2")
    writer = replace(two.writer, rate=record / 1.0, record_bytes=record, most_dirty_bytes=1 << 40)
    each = SyncWrites(replace(two, writer=writer), TxgRules(aliquot=MIB), [(0, MIB)])
    each.data_cursors = [(1, 0), (0, 64 * MIB)]
    found = [each.data_rows(moment) for moment in (3.0, 12.0, 20.0, 64.0)]
    written = [
        [int(rows[rows[:, 0] == leaf][:, LENGTH].sum()) // record for leaf in range(4)] for rows in found
    ]
    # Of eight records a turn: 3 to the first; 5 more there and 4 to the other; 4 and 4; then 24 and 20.
    assert written == [[0, 0, 3, 3], [4, 4, 5, 5], [4, 4, 4, 4], [24, 24, 20, 20]]
    for leaf, begin in ((0, 64 * MIB), (2, 0)):
        offsets = np.concatenate([rows[rows[:, 0] == leaf][:, OFFSET] for rows in found])
        assert offsets.tolist() == [begin + record * place for place in range(32)]


def test_the_address_space_leaves_labels_and_boot_block_out() -> None:
    """Four labels of 256 KiB and a boot block of 3.5 MiB (vdev_label.c), of each drive."""
    capacity = model().leaves[0].drive.capacity_bytes
    assert 0 <= capacity - 4 * LABEL - 3584 * KIB - vdev_asize(model(), model().vdevs[0]) < LABEL
    raidz = model("raidz1x3")
    assert vdev_asize(raidz, raidz.vdevs[0]) == pytest.approx(3 * capacity, rel=1e-3)


@pytest.mark.parametrize("smallest", [0, 1, 2])
def test_the_smallest_drive_counts_for_all_the_one_that_is_written_too(smallest: int) -> None:
    vdev = replace(model("raidz1x3").vdevs[0], read_leaf=(0, 1, -1), write_leaf=(-1, -1, 2))
    leaves = list(model("raidz1x3").leaves)
    small = leaves[smallest].drive.capacity_bytes // 2
    leaves[smallest] = replace(leaves[smallest], drive=replace(leaves[smallest].drive, capacity_bytes=small))
    asize = vdev_asize(replace(model("raidz1x3"), leaves=tuple(leaves)), vdev)
    assert asize == pytest.approx(3 * small, rel=2e-3)


class Recording:
    """A data plane that does at once what it is asked, and notes it."""

    def __init__(self) -> None:
        self.now, self.asked = 0.0, []  # type: tuple[float, list[Any]]

    def pause(self) -> None:
        """Do nothing."""

    def submit_group(self, rows: Any) -> None:
        """Note a group of I/Os."""
        self.asked.append(rows)

    def flush(self) -> None:
        """Note a flush."""
        self.asked.append("flush")


class AtOnce(ScanControl):
    """A control that waits for nothing."""

    def __init__(self, plane: Recording, rules: TxgRules, sync: SyncWrites) -> None:
        self.plane, self.txg, self.writes, self.txgs, self.start = plane, rules, sync, 0, 0.0  # type: ignore[assignment]

    def _expect(self, _wanted: int) -> Iterator[None]:  # type: ignore[override]
        yield from ()


def kinds(asked: list[Any], rules: TxgRules) -> list[str]:
    """Say what each group is by its class and length."""

    def kind(rows: Any) -> str:
        if isinstance(rows, str):
            return rows
        if rows[0, CLASS] == SYNC_READ:
            return "read"
        return (
            "mos"
            if rows[0, CLASS] == ASYNC_WRITE
            else "labels"
            if rows[0, LENGTH] == 112 * KIB
            else "uberblocks"
        )

    assert len(rules.pass_blocks) == 2
    return [kind(rows) for rows in asked]


@pytest.mark.parametrize("flushes", [True, False])
def test_caches_are_flushed_around_the_uberblocks_and_labels_written_around_them_the_first_time(
    flushes: bool,
) -> None:
    """vdev_config_sync: some labels, uberblocks, the other labels; only where something has changed."""
    rules = TxgRules(pass_blocks=(3, 2), first_labels=True, first_reads=1)
    leaves = tuple(
        replace(leaf, drive=replace(leaf.drive, flush_each_txg=flushes)) for leaf in model().leaves
    )
    plane, sync = Recording(), writes(rules, leaves=leaves)
    control = AtOnce(plane, rules, sync)
    flush = ["flush"] if flushes else []
    assert list(control.sync()) == []
    assert kinds(plane.asked, rules) == [
        "mos", "read", "mos", *flush, "labels", "uberblocks", *flush, "labels",
    ]  # fmt: skip
    plane.asked.clear()
    assert list(control.sync()) == []
    assert kinds(plane.asked, rules) == ["mos", "mos", *flush, "uberblocks", *flush]
