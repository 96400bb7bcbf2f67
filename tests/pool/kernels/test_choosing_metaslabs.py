"""Which metaslab is taken, by the rules of OpenZFS metaslab.c: weights, roles, distance, when one is left."""

from __future__ import annotations

import numpy as np
import pytest

from tests.pool.kernels.spaces import KIB, MIRROR, UNIT, lengths, set_free, space
from zsim.pool.recipes.styles import STICKY_FRAG, STICKY_NEVER, STICKY_UNTIL_FRAGMENTED
from zsim.pool.simulator.memory import CLASSES, HistoryMemory
from zsim.pool.simulator.metaslabs import (
    advance_rotor,
    allocate_block,
    allocate_in_group,
    current_slab,
    end_txg,
    far_enough,
    find_slab,
    first_vdev,
    log_free,
    pool_space,
    pool_used,
    rank,
    role_of_copy,
    units_needed,
    units_taken,
)
from zsim.pool.simulator.throttle import BYTES
from zsim.pool.simulator.weights import (
    CLAIM,
    COUNT_BITS,
    NONE,
    PRIMARY,
    SECONDARY,
    activate,
    may_passivate,
    passivate,
    space_weight,
    stays_active,
    weight_now,
)
from zsim.scenario.layout import Layout
from zsim.vdevs.raidz import raidz_asize

NOWHERE = np.zeros(3, np.int64)


def slabs(*numbers: int) -> np.ndarray:
    return np.array([*numbers, 0, 0, 0][:3], np.int64)


def test_by_space_the_first_metaslab_weighs_twice_and_the_last_of_four_five_quarters() -> None:
    memory = space(segment_weight=False, lba_weight=True, vdevs=2)
    weights = [space_weight(memory.table, slab) for slab in range(8)]
    assert weights == [int(64 * UNIT * share) for share in (2, 1.75, 1.5, 1.25)] * 2
    assert [weight_now(memory.table, slab) for slab in range(8)] == weights


def test_by_space_what_is_freed_weighs_before_it_can_be_used_and_frag_takes_its_share() -> None:
    memory = space(segment_weight=False, frag_factor=True)
    set_free(memory, 0, [False] * 64)
    assert space_weight(memory.table, 0) == 0
    log_free(memory.table, 0, 3, 5)
    # Nothing is free yet: FRAG is 0, and the factor (100 - (0 - 1)) / 100.
    assert space_weight(memory.table, 0) == 5 * UNIT * 101 // 100
    lengths(memory, 1, [1] * 8)
    assert space_weight(memory.table, 1) == 8 * UNIT * (100 - 94) // 100


def test_by_segments_the_largest_power_of_two_decides_then_how_many_there_are() -> None:
    memory = space()
    lengths(memory, 0, [4, 5, 2, 1])
    lengths(memory, 1, [7])
    lengths(memory, 2, [8])
    set_free(memory, 3, [False] * 64)
    found = [weight_now(memory.table, slab) for slab in range(4)]
    assert found == [(14 << COUNT_BITS) + 2, (14 << COUNT_BITS) + 1, (15 << COUNT_BITS) + 1, 0]


def test_an_active_metaslab_is_its_allocator_s_until_it_is_left() -> None:
    memory = space(slabs=12, vdevs=2, allocators=2)
    pool = memory.table
    activate(pool, 15, SECONDARY, 1)
    activate(pool, 3, PRIMARY, 0)
    activate(pool, 4, CLAIM, 1)
    assert memory.owners[1, 1].tolist() == [-1, 15, -1]
    assert memory.owners[0, 0].tolist() == [-1, -1, 3]
    assert (memory.owners >= 0).sum() == 2, "one that is claimed is nobody's"
    assert memory.slabs["owner"][[3, 4, 15]].tolist() == [0, -1, 1]
    assert memory.slabs["active"][15] == memory.slabs["weight"][15] >> COUNT_BITS == 18
    assert [current_slab(pool, 1, role, 1) for role in (SECONDARY, PRIMARY, CLAIM)] == [15, -1, -1]
    assert current_slab(pool, 0, PRIMARY, 0) == 3
    passivate(pool, 15, 77)
    passivate(pool, 4, 78)
    assert (memory.owners >= 0).sum() == 1
    assert memory.slabs["weight"][[4, 15]].tolist() == [78, 77]
    assert {int(memory.slabs[name][15]) for name in ("owner", "active")} == {-1}
    assert int(memory.slabs["role"][15]) == NONE


def test_to_0_7_a_secondary_metaslab_is_looked_for_each_time() -> None:
    memory = space(separate_metaslabs=False)
    activate(memory.table, 1, SECONDARY, 0)
    activate(memory.table, 2, PRIMARY, 0)
    assert [current_slab(memory.table, 0, role, 0) for role in (SECONDARY, PRIMARY)] == [-1, 2]


@pytest.mark.parametrize(("fill_empty", "free", "stays"), [
    (False, [33], True), (False, [32], True), (False, [31], False), (False, [16, 9], False),
    (False, [], False), (True, [31], True), (True, [31, 2], True), (True, [30, 2], False),
    (True, [16, 16], False), (True, [], False),
])  # fmt: skip
def test_a_metaslab_is_left_when_its_largest_segment_has_shrunk_by_two_powers_of_two(
    fill_empty: bool, free: list[int], stays: bool
) -> None:
    """Of 64 units: below 32.  Where empty ones are filled, not while more than 15/16 are in one piece."""
    memory = space(fill_empty=fill_empty)
    activate(memory.table, 0, PRIMARY, 0)
    lengths(memory, 0, free)
    may_passivate(memory.table, 0)
    assert (int(memory.slabs["role"][0]) == PRIMARY) == stays


def test_with_weights_by_space_none_is_left_early() -> None:
    memory = space(segment_weight=False)
    activate(memory.table, 0, PRIMARY, 0)
    lengths(memory, 0, [1])
    may_passivate(memory.table, 0)
    assert int(memory.slabs["role"][0]) == PRIMARY


@pytest.mark.parametrize(("sticky", "units", "free", "stays"), [
    (STICKY_FRAG, 64, [8], True), (STICKY_FRAG, 64, [7, 7], False), (STICKY_NEVER, 64, [64], False),
    (STICKY_UNTIL_FRAGMENTED, 800, [32], True), (STICKY_UNTIL_FRAGMENTED, 800, [31], False),
    (STICKY_UNTIL_FRAGMENTED, 801, [32], False), (STICKY_UNTIL_FRAGMENTED, 800, [31, 31], False),
])  # fmt: skip
def test_by_space_a_metaslab_stays_over_a_txg_up_to_frag_70_or_with_128k_and_4_percent(
    sticky: int, units: int, free: list[int], stays: bool
) -> None:
    """FRAG of holes of 32K is 70 %, of 16K 80 %."""
    memory = space(units=units, segment_weight=False, sticky=sticky)
    lengths(memory, 0, free)
    assert stays_active(memory.table, 0) == stays
    activate(memory.table, 0, PRIMARY, 0)
    memory.slabs["changed"][0] = 1
    end_txg(memory.table, 1)
    assert (int(memory.slabs["role"][0]) == PRIMARY) == stays
    assert int(memory.slabs["weight"][0]) == weight_now(memory.table, 0)


def test_by_segments_a_metaslab_stays_over_a_txg_and_what_changed_is_weighed_anew() -> None:
    memory = space(sticky=STICKY_NEVER)
    activate(memory.table, 0, PRIMARY, 0)
    activate(memory.table, 1, SECONDARY, 0)
    lengths(memory, 0, [3])
    memory.slabs["weight"] = 5
    memory.slabs["changed"][0] = 1
    memory.slabs["unflushed"] = 0
    end_txg(memory.table, 1)
    assert memory.slabs["weight"].tolist() == [(13 << COUNT_BITS) + 1, 5, 5, 5]
    assert memory.slabs["role"].tolist() == [PRIMARY, SECONDARY, NONE, NONE]
    assert memory.slabs["unflushed"].tolist() == [1, 0, 0, 0]
    assert not memory.slabs["changed"].any()


def test_further_copies_keep_their_distance_on_their_own_vdev() -> None:
    """Since 0.8 any other metaslab will do; to 0.7 some distance, half as far again where it is empty."""
    modern = space(slabs=4, vdevs=2)
    assert [far_enough(modern.table, slab, 2, slabs(1, 6), 1) for slab in range(8)] == [
        True, False, True, True, True, True, False, True,
    ]  # fmt: skip
    old = space(slabs=16, separate_metaslabs=False)
    old.slabs["free"][:8] -= 1
    # Two metaslabs of sixteen are an eighth: 2000 thousandths; of empty ones three.
    found = [far_enough(old.table, slab, 1, slabs(6), 2000) for slab in range(16)]
    assert found == [True] * 5 + [False] * 4 + [True] * 7
    assert far_enough(old.table, 9, 1, slabs(6), 2000)
    assert not far_enough(old.table, 8, 1, slabs(6), 2000)
    assert not far_enough(old.table, 8, 2, slabs(6, 0), 1400), "1400 and half of it are more than 2000"
    assert far_enough(old.table, 8, 1, slabs(6), 1333)


def test_the_rank_of_a_metaslab_is_its_role() -> None:
    for separate, ranks in ((False, [NONE, SECONDARY, PRIMARY, CLAIM]), (True, [1, -1, 0, 1])):
        memory = space(separate_metaslabs=separate)
        memory.slabs["role"] = [NONE, SECONDARY, PRIMARY, CLAIM]
        assert [rank(memory.table, slab) for slab in range(4)] == ranks


def looked_for(
    memory: HistoryMemory, role: int = PRIMARY, size: int = UNIT, copies: int = 0, at: int = 0
) -> int:
    return find_slab(memory.table, memory.slabs["vdev"][at], role, size, copies, slabs(at), 1, 9)


def test_the_best_metaslab_is_that_of_rank_then_weight_then_the_lowest_address() -> None:
    memory = space(vdevs=2)
    assert looked_for(memory) == 0
    assert looked_for(memory, at=5) == 4
    memory.slabs["weight"][:4] = [5, 9, 9, 7]
    assert looked_for(memory) == 1
    memory.slabs["tried"][1] = 9
    assert looked_for(memory) == 2
    set_free(memory, 0, [False] * 64)
    memory.slabs["weight"][:4] = [500, 9, 9, 7]
    assert looked_for(memory) == 2, "one without room is none"
    activate(memory.table, 2, PRIMARY, 0)
    assert looked_for(memory) == 3, "one that an allocator has comes last"
    activate(memory.table, 3, CLAIM, 0)
    assert looked_for(memory) == 3, "one that is claimed counts as free, whatever it weighs"
    memory.slabs["tried"][3] = 9
    assert looked_for(memory) == 2
    memory.slabs["tried"][2] = 9
    assert looked_for(memory) == -1


def test_a_further_copy_goes_to_another_metaslab_but_to_one_in_use_wherever_it_is() -> None:
    memory = space(slabs=3, allocators=3)
    assert looked_for(memory, SECONDARY, copies=1, at=0) == 1
    assert looked_for(memory, PRIMARY, copies=1, at=0) == 0, "its first copy on this vdev is not held off"
    for slab in range(3):
        activate(memory.table, slab, PRIMARY, slab)
    assert looked_for(memory, SECONDARY, copies=1, at=0) == 0


def test_the_first_copy_on_a_vdev_wants_a_primary_metaslab_the_next_a_secondary_one() -> None:
    for separate, third in ((True, CLAIM), (False, SECONDARY)):
        memory = space(vdevs=2, separate_metaslabs=separate)
        roles = [role_of_copy(memory.table, 0, copies, slabs(1, 2)) for copies in (0, 1, 2)]
        assert roles == [PRIMARY, SECONDARY, third]
        assert role_of_copy(memory.table, 1, 2, slabs(1, 2)) == PRIMARY
        assert role_of_copy(memory.table, 1, 2, slabs(1, 5)) == SECONDARY


@pytest.mark.parametrize(("count", "third", "wanted"), [
    (12, False, 3), (11, False, 0), (12, True, 3), (9, True, 0), (11, True, 0),
])  # fmt: skip
def test_small_vdevs_have_one_allocator_for_all(count: int, third: bool, wanted: int) -> None:
    """To 2.3 a vdev with fewer than three metaslabs an allocator; in 2.4 one allocator each three."""
    memory = space(slabs=count, allocators=4, allocator_each_third=third)
    assert allocate_in_group(memory.table, 0, 1, 0, slabs(), 3, 1) == (0, 0)
    assert int(memory.slabs["owner"][0]) == wanted


def test_an_allocator_goes_on_in_its_metaslab_and_takes_the_best_when_that_has_no_room() -> None:
    memory = space(slabs=12, allocators=2)
    pool = memory.table
    found = [allocate_in_group(pool, 0, 10, 0, slabs(), allocator, 1) for allocator in (0, 1, 0, 1)]
    assert found == [(0, 0), (1, 0), (0, 10), (1, 10)]
    lengths(memory, 0, [3, 3])
    assert allocate_in_group(pool, 0, 10, 0, slabs(), 0, 1) == (2, 0)
    assert (int(memory.slabs["role"][0]), int(memory.slabs["owner"][0])) == (NONE, -1)
    assert current_slab(pool, 0, PRIMARY, 0) == 2
    assert allocate_in_group(pool, 0, 65, 0, slabs(), 0, 1) == (-1, -1)


@pytest.mark.parametrize(("separate", "held"), [(True, CLAIM), (False, SECONDARY)])
def test_what_is_claimed_is_given_back_when_a_first_copy_finds_it(separate: bool, held: int) -> None:
    memory = space(separate_metaslabs=separate)
    activate(memory.table, 2, held, 0)
    assert allocate_in_group(memory.table, 0, 1, 0, slabs(), 0, 1) == (0, 0)
    assert memory.slabs["role"].tolist() == [PRIMARY, NONE, NONE, NONE]
    passivate(memory.table, 0, 0)
    activate(memory.table, 2, CLAIM, 0)
    assert allocate_in_group(memory.table, 0, 1, 2, slabs(1, 1), 0, 1) == (2, 0)
    assert int(memory.slabs["role"][2]) == CLAIM, "a third copy leaves it as it is"


def test_a_block_takes_the_width_its_vdev_had_when_it_was_written() -> None:
    memory = space(spec=Layout.parse("raidz1x4+1").vdevs[0])
    memory.vdevs["data"], memory.vdevs["expanded"] = 4, 100
    size = 128 * KIB
    now, before = raidz_asize(size, 12, 5, 1) // (2 * UNIT), raidz_asize(size, 12, 4, 1) // (2 * UNIT)
    assert now < before
    assert units_needed(memory.table, 0, size) == now
    assert [units_taken(memory.table, 0, size, birth) for birth in (99, 100, 101)] == [before, now, now]


def test_space_and_use_are_those_of_the_vdevs_of_the_normal_class() -> None:
    memory = space(vdevs=3)
    memory.vdevs["klass"][1], memory.vdevs["present"][2] = 1, 0
    memory.vdevs["used"] = [5, 7, 11]
    assert pool_space(memory.table) == 4 * 64 * UNIT
    assert pool_used(memory.table) == 16


def rotors(memory: HistoryMemory) -> list[int]:
    return memory.allocators["rotor"][::CLASSES].tolist()


def test_the_next_vdev_takes_over_after_the_aliquot_and_the_emptier_one_gets_more() -> None:
    """Of two mirrors, one half full: their free shares are 4/3 and 2/3 of the mean."""
    memory = space(units=256, vdevs=2, aliquot=96 * KIB, aliquot_counts_parity=False)
    memory.vdevs["used"][1] = memory.vdevs["space"][1] // 2
    aliquot = int(memory.vdevs["aliquot"][0])
    turns = [0, 0]
    for _ in range(3 * 2 * aliquot // KIB):
        vdev = rotors(memory)[0]
        turns[vdev] += 1
        advance_rotor(memory.table, vdev, 0, KIB, KIB)
    assert turns[0] / turns[1] == pytest.approx(2.0, rel=0.05)
    assert memory.vdevs["bias"].tolist() == [aliquot * (133 - 100) // 100, aliquot * (66 - 100) // 100]
    even = space(units=256, vdevs=2, aliquot=96 * KIB, biased=False)
    even.vdevs["used"][1] = even.vdevs["space"][1] // 2
    aliquot = int(even.vdevs["aliquot"][0])
    for taken in range(2 * aliquot // KIB):
        assert rotors(even)[0] == taken * KIB // aliquot
        advance_rotor(even.table, rotors(even)[0], 0, KIB, KIB)


def test_from_2_4_a_vdev_has_its_quota_of_bytes_before_parity_less_half_a_block() -> None:
    memory = space(vdevs=2, throttle=BYTES)
    memory.vdevs["quota"] = 10 * KIB
    advance_rotor(memory.table, 1, 0, 40 * KIB, 40 * KIB)
    assert rotors(memory) == [0], "it is not that vdev's turn"
    advance_rotor(memory.table, 0, 0, 99 * KIB, 6 * KIB)
    assert rotors(memory) == [0], "6 and half of 6 are less than 10"
    advance_rotor(memory.table, 0, 0, 99 * KIB, 3 * KIB)
    assert rotors(memory) == [1], "9 and half of 3 are more"
    assert int(memory.allocators["used"][0]) == 0
    advance_rotor(memory.table, 1, 0, 0, 8 * KIB)
    assert rotors(memory) == [0]


def test_copies_go_to_one_vdev_after_the_other() -> None:
    memory = space(vdevs=3, allocators=2)
    memory.allocators["rotor"][CLASSES] = 2
    assert [first_vdev(memory.table, 0, 0, slabs(), allocator) for allocator in (0, 1)] == [0, 2]
    assert first_vdev(memory.table, 0, 2, slabs(1, 5), 0) == 2
    slab, start = slabs(), slabs()
    assert allocate_block(memory.table, 0, UNIT, 3, slab, start, 1)
    assert memory.slabs["vdev"][slab].tolist() == [2, 0, 1]
    assert start.tolist() == [0, 0, 0]
    assert int(memory.vdevs["used"].sum()) == 3 * UNIT


def test_a_vdev_without_room_is_passed_over_and_a_full_class_refuses() -> None:
    memory = space(units=8, slabs=2, vdevs=2)
    slab, start = slabs(), slabs()
    for used in range(2 * 2 * 8):
        assert allocate_block(memory.table, 0, UNIT, 1, slab, start, 0), used
    assert not memory.slabs["free"].any()
    assert not allocate_block(memory.table, 0, UNIT, 1, slab, start, 0)


def test_to_0_7_copies_keep_an_eighth_apart_then_a_sixteenth_then_anything() -> None:
    for full, apart in ((range(0), 4), (range(4, 32), 2), ([*range(2, 32)], 1), ([*range(1, 32)], 0)):
        fresh = space(units=8, slabs=32, separate_metaslabs=False, segment_weight=False)
        for number in range(32):
            set_free(fresh, number, np.full(8, number not in full) & (np.arange(8) > 0))
        slab, start = slabs(), slabs()
        assert allocate_block(fresh.table, 0, UNIT, 2, slab, start, 0)
        assert slab[1] - slab[0] == apart


def test_metaslabs_of_a_mirror_take_units_of_a_sector() -> None:
    memory = space(spec=MIRROR)
    assert [units_needed(memory.table, 0, size) for size in (1, UNIT, UNIT + 1)] == [1, 1, 2]
