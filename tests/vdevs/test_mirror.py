"""Which child of a mirror is read, release by release."""

from __future__ import annotations

import numpy as np
import pytest

from zsim.vdevs import arrays, mirror
from zsim.vdevs.arrays import first_on_vdev

MIB = 1 << 20


SHIFT, SWITCH_S = 21, 0.01
COSTS = (MIB, 5, 1)
HOLDS, READABLE, DEAD = mirror.HOLDS, mirror.READABLE, mirror.UNREADABLE


def counts(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


def by_offset(at: int, *standing: int) -> int:
    loads = counts(*[0] * len(standing))
    return mirror.mirror_child(mirror.BY_OFFSET, at, SHIFT, 0.0, SWITCH_S, loads, counts(*standing))


def by_pending(now: float, loads: list[int], standing: list[int]) -> int:
    sides = counts(*loads), counts(*standing)
    return mirror.mirror_child(mirror.BY_PENDING, 0, SHIFT, now, SWITCH_S, *sides)


def by_load(at: int, loads: list[int], standing: list[int]) -> int:
    sides = counts(*loads), counts(*standing)
    return mirror.mirror_child(mirror.BY_LOAD, at, SHIFT, 0.0, SWITCH_S, *sides)


def test_a_child_holds_what_can_be_read_and_a_new_disk_lacks_it() -> None:
    standing = [mirror.mirror_standing(*side) for side in ((0, -1), (0, 1), (-1, 1), (-1, 0), (-1, -1))]
    assert standing == [HOLDS, HOLDS, READABLE, READABLE, DEAD]


def test_v28_takes_turns_of_two_mebibytes() -> None:
    read = [by_offset(at * MIB, HOLDS, HOLDS, HOLDS) for at in range(0, 14, 2)]
    assert read == [0, 1, 2, 0, 1, 2, 0]


def test_v28_passes_over_the_new_disk() -> None:
    assert by_offset(2 * MIB, HOLDS, READABLE, HOLDS) == 2
    assert by_offset(4 * MIB, HOLDS, HOLDS, DEAD) == 0
    assert by_offset(0, READABLE, DEAD) == -1


@pytest.mark.parametrize(("now", "expected"), [(0.0, 0), (0.0099, 0), (0.0101, 2), (0.0201, 0)])
def test_pending_ties_turn_every_ten_milliseconds(now: float, expected: int) -> None:
    assert by_pending(now, [1, 4, 1], [HOLDS] * 3) == expected


def test_pending_counts_the_new_disk_but_reads_the_next_holder() -> None:
    assert by_pending(0.0, [3, 0, 9], [HOLDS, READABLE, HOLDS]) == 2


def test_pending_ignores_a_dead_disk() -> None:
    assert by_pending(0.0, [3, 0], [HOLDS, DEAD]) == 0
    assert by_pending(0.0, [0, 0], [DEAD, READABLE]) == -1


def test_load_of_rotating_and_other_leaves() -> None:
    def load(last_end: int, offset: int, rotating: bool) -> int:
        return mirror.mirror_load(mirror.BY_LOAD, 3, last_end, offset, rotating, *COSTS)

    assert load(8 * MIB, 8 * MIB, True) == 3
    assert load(8 * MIB, 8 * MIB + 4096, True) == 5
    assert load(8 * MIB, 9 * MIB, True) == 8
    assert load(8 * MIB, 9 * MIB, False) == 4
    assert mirror.mirror_load(mirror.BY_PENDING, 3, 8 * MIB, 9 * MIB, True, *COSTS) == 3
    assert mirror.mirror_load(mirror.BY_OFFSET, 3, 8 * MIB, 9 * MIB, True, *COSTS) == 0


def test_least_load_wins_and_ties_turn_by_address() -> None:
    assert by_load(0, [5, 2, 7], [HOLDS] * 3) == 1
    assert by_load(0, [5, 2, 7], [HOLDS, READABLE, HOLDS]) == 0
    assert [by_load(at * MIB, [1, 1], [HOLDS] * 2) for at in (0, 2, 4)] == [0, 1, 0]
    assert by_load(0, [1, 1], [READABLE, DEAD]) == -1


def test_copies_on_one_vdev_are_read_at_the_first() -> None:
    drawn = np.arange(3)
    for vdevs, read in (((0, 0, 0), [0, 0, 0]), ((0, 1, 2), [0, 1, 2]), ((0, 1, 1), [0, 1, 1])):
        assert first_on_vdev(np.array([vdevs] * 3), drawn).tolist() == read


def test_asize_is_whole_sectors() -> None:
    sizes = counts(1, 512, 4096, 4097)
    assert arrays.mirror_asizes(sizes, 12).tolist() == [mirror.mirror_asize(int(s), 12) for s in sizes]
    assert mirror.mirror_asize(4097, 12) == 8192
