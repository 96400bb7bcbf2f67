"""Which child of a mirror is read, release by release."""

from __future__ import annotations

import numpy as np
import pytest

from zsim.vdevs import arrays, mirror

MIB = 1 << 20


def flags(*values: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array(values, dtype=np.bool_)


def counts(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


def test_v28_takes_turns_of_two_mebibytes() -> None:
    read = [mirror.mirror_child_by_offset(at * MIB, False, flags(1, 1, 1)) for at in range(0, 14, 2)]
    assert read == [0, 1, 2, 0, 1, 2, 0]


def test_v28_passes_over_the_new_disk() -> None:
    assert mirror.mirror_child_by_offset(2 * MIB, False, flags(1, 0, 1)) == 2
    assert mirror.mirror_child_by_offset(4 * MIB, False, flags(1, 1, 0)) == 0
    assert mirror.mirror_child_by_offset(2 * MIB, True, flags(1, 1)) == 0
    assert mirror.mirror_child_by_offset(0, False, flags(0, 0)) == -1


@pytest.mark.parametrize(("now", "expected"), [(0.0, 0), (0.0099, 0), (0.0101, 2), (0.0201, 0)])
def test_pending_ties_turn_every_ten_milliseconds(now: float, expected: int) -> None:
    both = flags(1, 1, 1)
    assert mirror.mirror_child_by_pending(now, False, counts(1, 4, 1), both, both) == expected


def test_pending_counts_the_new_disk_but_reads_the_next_holder() -> None:
    child = mirror.mirror_child_by_pending(0.0, False, counts(3, 0, 9), flags(1, 1, 1), flags(1, 0, 1))
    assert child == 2


def test_pending_ignores_a_dead_disk() -> None:
    child = mirror.mirror_child_by_pending(0.0, False, counts(3, 0), flags(1, 0), flags(1, 0))
    assert child == 0


def test_load_of_rotating_and_other_leaves() -> None:
    assert mirror.mirror_load(3, 8 * MIB, 8 * MIB, True) == 3
    assert mirror.mirror_load(3, 8 * MIB, 8 * MIB + 4096, True) == 5
    assert mirror.mirror_load(3, 8 * MIB, 9 * MIB, True) == 8
    assert mirror.mirror_load(3, 8 * MIB, 9 * MIB, False) == 4


def test_least_load_wins_and_ties_turn_by_address() -> None:
    assert mirror.mirror_child_by_load(0, counts(5, 2, 7), flags(1, 1, 1)) == 1
    assert mirror.mirror_child_by_load(0, counts(5, 2, 7), flags(1, 0, 1)) == 0
    assert [mirror.mirror_child_by_load(at * MIB, counts(1, 1), flags(1, 1)) for at in (0, 2, 4)] == [0, 1, 0]
    assert mirror.mirror_child_by_load(0, counts(1, 1), flags(0, 0)) == -1


def test_scrub_reads_replacing_vdevs_once() -> None:
    assert mirror.mirror_scrub_reads_all(False, True, True)
    assert not mirror.mirror_scrub_reads_all(True, False, True)
    assert mirror.mirror_scrub_reads_all(True, False, False)
    assert not mirror.mirror_scrub_reads_all(True, True, False)


def test_copies_on_one_vdev_are_read_at_the_first() -> None:
    assert [mirror.mirror_choose_copy(pick, 0, 0, 0) for pick in range(3)] == [0, 0, 0]
    assert [mirror.mirror_choose_copy(pick, 0, 1, 2) for pick in range(3)] == [0, 1, 2]
    assert [mirror.mirror_choose_copy(pick, 0, 1, 1) for pick in range(3)] == [0, 1, 1]


def test_asize_is_whole_sectors() -> None:
    sizes = counts(1, 512, 4096, 4097)
    assert arrays.mirror_asizes(sizes, 12).tolist() == [mirror.mirror_asize(int(s), 12) for s in sizes]
    assert mirror.mirror_asize(4097, 12) == 8192
