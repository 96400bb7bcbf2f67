"""The allocation throttle on numbers that can be counted: what waits, what joins, what is passed over."""

from __future__ import annotations

import numpy as np
import pytest

from tests.pool.kernels.spaces import KIB, MIB, UNIT, space
from zsim.pool.simulator.memory import CLASSES, IO_SLOTS, HistoryMemory
from zsim.pool.simulator.metaslabs import allocate_block
from zsim.pool.simulator.throttle import (
    BYTES,
    ITERATIONS,
    NONE,
    SLOTS,
    balance,
    begin_txg,
    class_groups,
    class_space,
    class_used,
    complete_one,
    has_room,
    may_take,
    next_vdev,
    queue_write,
    send_next,
    wait_for_room,
)

RATE, POSITION = 1e6, 0.01


def queues(throttle: int = SLOTS, vdevs: int = 2, **rules: object) -> HistoryMemory:
    """Return vdevs of a megabyte a second and 10 ms a positioning, whose txg begins."""
    memory = space(vdevs=vdevs, throttle=throttle, **rules)
    memory.rules["rate"], memory.rules["position_s"] = RATE, POSITION
    begin_txg(memory.table)
    return memory


def waiting(memory: HistoryMemory, vdev: int = 0) -> list[tuple[int, int]]:
    """Return begin and end of what is in the queue of a vdev."""
    row = memory.vdevs[vdev]
    at = vdev * IO_SLOTS + np.arange(row["head"], row["tail"]) % IO_SLOTS
    return list(zip(memory.writes["start"][at].tolist(), memory.writes["end"][at].tolist(), strict=True))


def test_a_class_is_the_vdevs_of_it_that_are_there() -> None:
    memory = space(vdevs=5)
    memory.vdevs["klass"] = [0, 1, 0, 0, 1]
    memory.vdevs["present"] = [1, 1, 0, 1, 0]
    memory.vdevs["used"] = [1, 10, 100, 1000, 10000]
    memory.vdevs["space"] = [2, 20, 200, 2000, 20000]
    pool = memory.table
    assert [class_groups(pool, klass) for klass in range(CLASSES)] == [2, 1, 0]
    assert [class_space(pool, klass) for klass in range(CLASSES)] == [2002, 20, 0]
    assert [class_used(pool, klass) for klass in range(CLASSES)] == [1101, 10010, 0]
    assert [next_vdev(pool, vdev, 0) for vdev in range(5)] == [3, 3, 3, 0, 0]
    assert [next_vdev(pool, vdev, 1) for vdev in range(5)] == [1, 1, 1, 1, 1]


def test_a_command_takes_its_size_over_the_rate_and_a_positioning_unless_it_follows() -> None:
    memory = queues(aggregated=UNIT)
    for start in (0, UNIT, 3 * UNIT):
        queue_write(memory.table, 0, 0, start, UNIT, UNIT)
    transfer, clocks = UNIT / RATE, []
    for _ in range(3):
        assert complete_one(memory.table) == 0
        clocks.append(float(memory.rules["clock"][0]))
    # The first begins where the drive stands.
    assert clocks == pytest.approx([transfer, 2 * transfer, 3 * transfer + POSITION])
    assert complete_one(memory.table) == -1


def test_the_command_that_is_done_first_is_the_next_of_all() -> None:
    memory = queues(vdevs=3, aggregated=UNIT)
    for vdev, size in ((2, 2), (0, 9), (1, 4), (1, 2), (2, 3)):
        queue_write(memory.table, vdev, 0, 100 * size * UNIT, size * UNIT, UNIT)
    # They end at 2, 2 + 3, 4, 4 + 2 and 9 transfers, with a positioning each.
    assert [complete_one(memory.table) for _ in range(3)] == [2, 1, 2]
    assert [complete_one(memory.table) for _ in range(3)] == [1, 0, -1]
    assert memory.vdevs["head"].tolist() == memory.vdevs["tail"].tolist() == [1, 2, 2]


def test_a_drive_begins_at_the_clock_if_it_was_idle() -> None:
    memory = queues(aggregated=UNIT)
    queue_write(memory.table, 0, 0, 0, 10 * UNIT, UNIT)
    complete_one(memory.table)
    queue_write(memory.table, 1, 0, 0, UNIT, UNIT)
    complete_one(memory.table)
    assert float(memory.rules["clock"][0]) == pytest.approx(11 * UNIT / RATE)


def test_writes_that_follow_one_another_are_one_command_up_to_the_limit() -> None:
    memory = queues(aggregated=4 * UNIT)
    for start in (50, 60, 0, 1, 2, 3, 4):
        queue_write(memory.table, 0, 0, start * UNIT, UNIT, UNIT)
    # Two are on the drive; five in a row are one of four and one.
    assert [(a // UNIT, b // UNIT) for a, b in waiting(memory)] == [(50, 51), (60, 61), (0, 4), (4, 5)]
    assert memory.writes["amount"][:4].tolist() == [1, 1, 4, 1]
    assert memory.writes["size"][:4].tolist() == [UNIT, UNIT, 4 * UNIT, UNIT]
    assert int(memory.groups["queued"][0]) == int(memory.allocators["reserved"][0]) == 7


def test_only_the_last_is_joined_and_only_by_its_own_allocator() -> None:
    memory = queues(aggregated=8 * UNIT, allocators=2)
    for start in (50, 60):
        queue_write(memory.table, 0, 0, start * UNIT, UNIT, UNIT)
    for start, allocator in ((1, 0), (2, 1), (9, 1), (8, 1), (2, 0)):
        queue_write(memory.table, 0, allocator, start * UNIT, UNIT, UNIT)
    found = [(a // UNIT, b // UNIT) for a, b in waiting(memory)[2:]]
    assert found == [(1, 2), (2, 3), (8, 10), (2, 3)]
    memory.rules["held"] = 1
    queue_write(memory.table, 0, 0, 0, UNIT, UNIT)
    queue_write(memory.table, 0, 1, 10 * UNIT, UNIT, UNIT)
    found = [(a // UNIT, b // UNIT) for a, b in waiting(memory)[2:]]
    assert found == [(0, 2), (2, 3), (8, 11), (2, 3)], "of those that are held back any that waits"


def test_what_is_on_the_drive_is_not_joined() -> None:
    memory = queues(aggregated=8 * UNIT)
    for start in (0, 1, 2, 3):
        queue_write(memory.table, 0, 0, start * UNIT, UNIT, UNIT)
    assert [(a // UNIT, b // UNIT) for a, b in waiting(memory)] == [(0, 1), (1, 2), (2, 4)]


def test_the_size_of_a_command_is_that_on_a_leaf() -> None:
    memory = queues()
    memory.vdevs["spread"] = 4
    queue_write(memory.table, 0, 0, 0, 8 * UNIT, 6 * UNIT)
    assert (int(memory.writes["size"][0]), int(memory.writes["end"][0])) == (2 * UNIT, 8 * UNIT)


def test_the_waiting_command_next_in_address_is_sent_then_the_first_of_all() -> None:
    memory = queues(aggregated=UNIT)
    memory.rules["held"] = 1
    for start in (50, 40, 70, 45, 10, 60):
        queue_write(memory.table, 0, 0, start * UNIT, UNIT, UNIT)
    order = []
    while waiting(memory):
        order.append(waiting(memory)[0][0] // UNIT)
        complete_one(memory.table)
    # 50 and 40 are on the drive; behind 40 comes 45, then 60, 70, and round to 10.
    assert order == [50, 40, 45, 60, 70, 10]
    send_next(memory.table, 0)


def test_of_commands_that_are_not_held_back_the_first_come_is_the_first_sent() -> None:
    memory = queues(aggregated=UNIT)
    for start in (50, 40, 70, 45):
        queue_write(memory.table, 0, 0, start * UNIT, UNIT, UNIT)
    complete_one(memory.table)
    assert [a // UNIT for a, _ in waiting(memory)] == [40, 70, 45]


def test_swapped_commands_keep_all_they_are() -> None:
    memory = queues(aggregated=UNIT, allocators=2)
    memory.rules["held"] = 1
    for start, allocator, size in ((0, 0, 1), (1, 1, 2), (9, 1, 3), (5, 0, 4)):
        queue_write(memory.table, 0, allocator, start * UNIT, size * UNIT, UNIT)
    before = {tuple(each) for each in memory.writes[:4].tolist()}
    complete_one(memory.table)
    assert {tuple(each) for each in memory.writes[:4].tolist()} == before
    assert memory.writes["start"][2] == 5 * UNIT


def test_a_queue_grows_by_what_was_written_up_to_its_depth() -> None:
    memory = queues(first_depth=3, most_depth=5, aggregated=8 * UNIT, allocators=2)
    assert memory.groups["limit"].tolist() == [3] * 4
    assert memory.allocators["most"][::CLASSES].tolist() == [6, 6]
    for start in (90, 80, 0, 1, 2):
        queue_write(memory.table, 1, 1, start * UNIT, UNIT, UNIT)
    group = 1 * 2 + 1
    limits = []
    for _ in range(3):
        complete_one(memory.table)
        limits.append(int(memory.groups["limit"][group]))
    assert limits == [4, 5, 5]
    assert int(memory.groups["queued"][group]) == 0
    assert int(memory.allocators["most"][CLASSES]) == 6 + 2
    assert memory.groups["limit"].tolist() == [3, 3, 3, 5]
    begin_txg(memory.table)
    assert memory.groups["limit"].tolist() == [3] * 4, "anew each txg"
    assert float(memory.rules["clock"][0]) == 0.0


def test_a_txg_begins_with_empty_queues() -> None:
    memory = queues()
    for vdev in (0, 1, 1):
        queue_write(memory.table, vdev, 0, 9 * UNIT, UNIT, UNIT)
    begin_txg(memory.table)
    assert not waiting(memory)
    assert not waiting(memory, 1)
    assert not memory.groups["queued"].any()
    assert not memory.allocators["reserved"].any()
    assert complete_one(memory.table) == -1


def test_a_full_queue_takes_a_further_copy_by_a_quarter_more() -> None:
    memory = queues(first_depth=8)
    for queued, room in ((7, [True, True]), (8, [False, True]), (9, [False, True]), (10, [False, False])):
        memory.groups["queued"][1] = queued
        assert [bool(has_room(memory.table, 1, 0, copy)) for copy in (0, 1)] == room


def test_a_vdev_is_passed_over_only_where_another_has_room() -> None:
    memory = queues(vdevs=3, first_depth=4)
    memory.groups["queued"] = [4, 3, 4]
    assert [bool(may_take(memory.table, vdev, 0, 0, 0)) for vdev in range(3)] == [False, True, False]
    memory.groups["queued"] = [4, 4, 4]
    assert [bool(may_take(memory.table, vdev, 0, 0, 0)) for vdev in range(3)] == [True, True, True]
    memory.groups["queued"] = [4, 3, 4]
    for throttle in (NONE, BYTES):
        memory.rules["throttle"] = throttle
        assert may_take(memory.table, 0, 0, 0, 0)


def test_an_allocator_waits_until_its_block_fits_what_it_may_have_reserved() -> None:
    memory = queues(first_depth=4, most_depth=4, aggregated=UNIT)
    for start in range(7):
        queue_write(memory.table, 0, 0, 2 * start * UNIT, UNIT, UNIT)
    share = memory.allocators
    # Both queues together hold 8: one copy fits, a block of two waits for one command.
    wait_for_room(memory.table, 0, 0, 1)
    assert int(share["reserved"][0]) == 7
    wait_for_room(memory.table, 0, 0, 2)
    assert int(share["reserved"][0]) == 6
    memory.rules["held"] = 1
    wait_for_room(memory.table, 0, 0, 9)
    assert int(share["reserved"][0]) == 6, "what is held back waits elsewhere"
    memory.rules["held"] = 0
    wait_for_room(memory.table, 0, 0, 9)
    assert int(share["reserved"][0]) == 0, "with nothing reserved none waits"


def test_without_a_throttle_nothing_is_queued() -> None:
    memory = space(vdevs=2)
    queue_write(memory.table, 0, 0, 0, UNIT, UNIT)
    assert not memory.groups["queued"].any()
    assert not waiting(memory)
    wait_for_room(memory.table, 0, 0, 1)


def test_a_full_ring_lets_its_first_command_be_written() -> None:
    memory = queues(aggregated=UNIT)
    queue_write(memory.table, 0, 0, 0, UNIT, UNIT)
    for more, gone in ((-1, 0), (0, 1)):
        memory.vdevs["tail"][0] = IO_SLOTS + more
        queue_write(memory.table, 0, 0, 99 * UNIT, UNIT, UNIT)
        assert int(memory.vdevs["head"][0]) == gone
    assert int(memory.vdevs["tail"][0] - memory.vdevs["head"][0]) == IO_SLOTS


def test_from_2_4_the_quota_of_a_vdev_goes_by_its_size_and_its_free_share() -> None:
    """Of three vdevs one is twice as large, and one half empty; in integers, so within some percent."""
    memory = queues(BYTES, vdevs=3, aliquot=8 * MIB, biased=False)
    size = 1 << 40
    memory.vdevs["space"] = [size, size, 2 * size]
    memory.vdevs["used"] = 0
    balance(memory.table, 0)
    base = float(memory.vdevs["aliquot"].mean())
    assert memory.vdevs["quota"].tolist() == pytest.approx(
        [base * 3 / 4, base * 3 / 4, base * 6 / 4], rel=0.02
    )
    assert int(memory.allocators["most"][0]) == int(memory.vdevs["quota"].sum()) * ITERATIONS
    memory.rules["biased"] = 1
    memory.vdevs["used"] = [0, size // 2, size]
    balance(memory.table, 0)
    # Of 4 parts 2.5 are free, a share of 5/8: the first has 8/5 of it, the others 4/5.
    wanted = [base * 3 / 4 * 8 / 5, base * 3 / 4 * 4 / 5, base * 6 / 4 * 4 / 5]
    assert memory.vdevs["quota"].tolist() == pytest.approx(wanted, rel=0.02)
    begin_txg(memory.table)
    assert memory.vdevs["quota"].tolist() == pytest.approx(wanted, rel=0.02)


def test_from_2_4_queues_are_counted_in_bytes_of_the_vdevs_of_a_class() -> None:
    memory = queues(BYTES, vdevs=3, aliquot=8 * MIB)
    memory.vdevs["klass"][1] = 1
    memory.vdevs["present"][2] = 0
    memory.vdevs["space"] = 1 << 40
    begin_txg(memory.table)
    quota = memory.vdevs["quota"]
    assert memory.allocators["most"][:3].tolist() == [
        int(quota[0]) * ITERATIONS,
        int(quota[1]) * ITERATIONS,
        0,
    ]
    assert quota[0] == pytest.approx(int(memory.vdevs["aliquot"][0]), rel=0.02)
    queue_write(memory.table, 1, 0, 0, 12 * KIB, 5 * KIB)
    assert memory.groups["queued"].tolist() == [0, 5 * KIB, 0]
    assert memory.allocators["reserved"][:3].tolist() == [0, 5 * KIB, 0]
    complete_one(memory.table)
    assert not memory.groups["queued"].any()
    assert int(memory.groups["limit"][1]) == int(memory.rules["first_depth"][0]), "none grows"


def test_blocks_fill_both_queues_and_then_follow_the_faster_vdev() -> None:
    """0.7 to 2.3: what a vdev gets of a txg is what it writes meanwhile."""
    memory = queues(first_depth=4, most_depth=4, aggregated=UNIT, biased=False, aliquot=UNIT)
    memory.vdevs["spread"] = [1, 4]
    memory.rules["position_s"] = 0.0
    slab, start = np.zeros(3, np.int64), np.zeros(3, np.int64)
    for _ in range(60):
        assert allocate_block(memory.table, 0, UNIT, 1, slab, start, 0)
    slow, fast = memory.vdevs["used"] // UNIT
    assert slow + fast == 60
    assert fast - 4 == pytest.approx(4 * (slow - 4), abs=6)
