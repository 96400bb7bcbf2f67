"""What a pool may be like where nobody says: choices, their shares, and the case in one world."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest

from zsim.case import worlds
from zsim.case.case import Case
from zsim.case.member import Member
from zsim.case.worlds import (
    Choice,
    _of_size,
    data_bytes,
    drive_sizes,
    ends_of,
    fills,
    in_world,
    pick,
    reads_of_pool,
    uses,
)
from zsim.prediction.api import case_of
from zsim.scenario.model import Scenario
from zsim.scenario.releases.capacity import COMMON_DRIVE_BYTES, most_allocated, pool_size

TB = 10**12


def case(layout: str = "raidz2x6", **stated: Any) -> Case:
    return case_of(Scenario.from_dict({"layout": layout, **stated}))


def test_a_place_picks_by_cumulated_shares_whatever_they_sum_to() -> None:
    choices = (Choice("a", 1.0), Choice("b", 2.0), Choice("c", 1.0))
    picked = [pick(choices, place) for place in (0.0, 0.24, 0.26, 0.74, 0.76, 1.0)]
    assert picked == ["a", "a", "b", "b", "c", "c"]


def test_the_ends_of_values_are_those_of_the_numbers() -> None:
    assert ends_of([3.0, "x", 1.0, 2.0]) == (1.0, 3.0)


def test_uses_that_seldom_come_to_so_much_are_less_likely() -> None:
    little, much = ({each.value: each.share for each in uses(size)} for size in (1e9, 1e16))
    assert set(little) == set(worlds.USES)
    assert all(much[name] <= little[name] for name in little)
    assert much != little
    # In proportion to a power: ten times the data, the same factor less likely each time.
    more = {each.value: each.share for each in uses(1e17)}
    falls = {much[name] / more[name] for name in little if much[name] < little[name]}
    assert max(falls) == pytest.approx(min(falls)) == pytest.approx(10.0**worlds.RARER)


@pytest.mark.parametrize(
    ("layout", "share"), [("raidz2x6", 4 / 6), ("mirror3", 1.0), ("draid2:8d:24c:2s", 8 / 10)]
)
def test_what_is_stored_is_what_is_allocated_less_parity(layout: str, share: float) -> None:
    known = case(layout, alloc="6T")
    assert data_bytes(known) == pytest.approx(share * known.alloc)


def test_drives_of_unknown_size_were_sold_by_then_and_hold_what_is_allocated() -> None:
    sizes = {int(each.value) for each in drive_sizes(case())}
    assert sizes <= set(COMMON_DRIVE_BYTES)
    old = {int(each.value) for each in drive_sizes(case(release="freebsd-9.1"))}
    assert max(old) < max(sizes)
    full = case(alloc="20T")
    for each in drive_sizes(full):
        assert full.alloc <= worlds.FULLEST * pool_size(full.layout, int(each.value), full.release)
    assert max(int(each.value) for each in drive_sizes(case(new_drive_size="8TB"))) <= 8 * TB


def test_a_pool_is_as_likely_so_full_as_pools_are() -> None:
    low, high = worlds.FILLS[0][0], worlds.FILLS[-1][0]
    usual = worlds._usual_fill
    assert usual(low) == usual(0.5) == usual(high) == 1.0
    assert usual(low / 2) == pytest.approx(0.5)
    assert usual((high + worlds.FULLEST) / 2) == pytest.approx(0.5)
    assert usual(worlds.FULLEST) == 0.0
    assert usual(1.01) == 0.0


def test_capacities_stand_for_as_much_as_lies_half_way_to_their_neighbours() -> None:
    """The gaps of all together cover the logarithm of the range twice, less the outer halves."""
    gaps = math.fsum(worlds._gap(size) for size in COMMON_DRIVE_BYTES)
    ends = math.log(COMMON_DRIVE_BYTES[-1] / COMMON_DRIVE_BYTES[0])
    assert gaps == pytest.approx(2 * ends)
    assert worlds._gap(COMMON_DRIVE_BYTES[0]) == pytest.approx(
        math.log(COMMON_DRIVE_BYTES[1] / COMMON_DRIVE_BYTES[0])
    )


def test_a_pool_that_a_vdev_leaves_has_room_for_it() -> None:
    known = case("3*mirror2", operation="remove", drive_size="4TB")
    assert fills(known)
    assert max(float(each.value) for each in fills(known)) < 2 / 3
    scrub = case("3*mirror2", operation="scrub", drive_size="4TB")
    assert max(float(each.value) for each in fills(scrub)) == worlds.FILLS[-1][0]


def test_a_world_of_another_capacity_keeps_what_is_stated() -> None:
    """A stated ALLOC is another fill; a fill is another ALLOC."""
    stated, silent = case(alloc="6T"), case(fill=0.5)
    for known in (stated, silent):
        size = 2 * known.drive_size
        world = in_world(known, Member(drive_size=size))
        assert (world.drive_size, world.new_drive_size) == (size, size)
        assert world.drive.capacity_bytes == size
        assert world.pool_size == pytest.approx(2 * known.pool_size, rel=0.01)
    assert in_world(stated, Member(drive_size=8 * TB)).alloc == stated.alloc
    half = in_world(stated, Member(drive_size=2 * stated.drive_size))
    assert half.fill == pytest.approx(stated.fill / 2, rel=0.01)
    assert in_world(silent, Member(drive_size=8 * TB)).fill == 0.5
    twice = in_world(silent, Member(drive_size=2 * silent.drive_size))
    assert twice.alloc == pytest.approx(2 * silent.alloc, rel=0.01)


def test_a_stated_new_drive_stays_in_every_world() -> None:
    known = case(fill=0.5, new_drive_size="8TB")
    world = in_world(known, Member(drive_size=2 * TB))
    assert (world.drive_size, world.new_drive_size) == (2 * TB, 8 * TB)


def test_a_world_has_what_was_drawn_and_else_what_was_assumed() -> None:
    known = case()
    assert in_world(known, Member()) == known
    fuller = in_world(known, Member(fill=0.7))
    assert (fuller.fill, fuller.alloc) == (0.7, round(0.7 * known.pool_size))
    other = in_world(known, Member(drive="generic-5400rpm-cmr"))
    assert other.drive == known.candidates.drives["generic-5400rpm-cmr"].pool
    assert in_world(known, Member(write_cache=False)).write_cache is False
    assert in_world(known, Member(load=0.0)).load == ()


@pytest.mark.parametrize(
    ("layout", "recordsize", "drives", "touched"),
    [
        ("mirror2", "128K", 2, 1),
        ("raidz2x6", "128K", 6, 4),
        ("raidz2x6", "4K", 6, 1),
        ("2*raidz2x6", "128K", 12, 4),
    ],
)
def test_a_read_of_the_pool_is_one_of_each_drive_that_holds_the_record(
    layout: str, recordsize: str, drives: int, touched: int
) -> None:
    known = case(layout, recordsize=recordsize, ashift=12)
    assert reads_of_pool(known, 10.0) == pytest.approx(10.0 * drives / touched)
    (load,) = in_world(known, Member(load=10.0)).load
    assert (load.kind, load.rate) == ("random-read", pytest.approx(10.0 * drives / touched))
    assert reads_of_pool(known, 0.0) > 0.0


def test_what_has_no_share_is_never_picked_and_a_place_at_a_border_is_the_next_one_s() -> None:
    choices = (Choice("none", 0.0), Choice("a", 1.0), Choice("b", 1.0))
    assert [pick(choices, place) for place in (0.0, 0.5, 1.0)] == ["a", "b", "b"]


def test_a_generic_new_drive_is_as_large_as_what_it_replaces() -> None:
    smr = "generic-5400rpm-smr"
    known = case(drive_size="12TB", new_drive=smr)
    assert (known.new_drive.name, known.new_drive_size) == (smr, 12 * TB)
    assert case(drive_size="1TB", new_drive=smr).new_drive_size == 1 * TB
    assert case(drive_size="12TB", new_drive=smr, new_drive_size="16TB").new_drive_size == 16 * TB
    unknown = case(fill=0.5, new_drive=smr)
    assert max(int(each.value) for each in drive_sizes(unknown)) > 8 * TB
    world = _of_size(unknown, 16 * TB)
    assert (world.drive_size, world.new_drive_size, world.new_drive.name) == (16 * TB, 16 * TB, smr)


def test_capacities_up_to_that_of_the_new_drive_are_possible() -> None:
    for stated in ({"new_drive_size": "8TB"}, {"new_drive": "st8000vn004"}):
        sizes = {int(each.value) for each in drive_sizes(case(**stated))}
        assert max(sizes) == max(size for size in COMMON_DRIVE_BYTES if size <= 8.002 * TB)


def test_of_a_pool_that_a_vdev_leaves_drives_hold_it_without_that_vdev() -> None:
    known = case("2*mirror2", operation="remove", alloc="6T")
    for each in drive_sizes(known):
        assert known.alloc <= most_allocated(known.layout, int(each.value), known.release, removes=True)
    scrub = case("2*mirror2", operation="scrub", alloc="6T")
    assert len(drive_sizes(scrub)) > len(drive_sizes(known))


def test_capacities_are_log_normal_about_the_usual_one_of_their_time() -> None:
    """Half and twice as large are as likely, for as much as each stands for."""
    for release, year in (("openzfs-2.3", 2024), ("zol-0.7", 2015), ("freebsd-9.1", 2012)):
        known = case(release=release)
        usual = next(size for since, size in reversed(worlds.USUAL_SIZES) if since <= known.release.year)
        assert known.release.year >= year or usual == worlds.USUAL_SIZES[0][1]
        spread = worlds.assumption("spread.drive_size")
        for each in drive_sizes(known):
            away = (math.log(float(each.value)) - math.log(usual)) / spread
            assert each.share / worlds._gap(int(each.value)) == pytest.approx(math.exp(-away * away / 2))


def test_unlikely_capacities_are_left_out_and_something_is_left() -> None:
    shares = [each.share for each in drive_sizes(case())]
    assert min(shares) > worlds.LEAST_SHARE * max(shares)
    impossible = case(alloc="1M")
    assert drive_sizes(impossible)
    assert fills(case("2*mirror2", operation="remove", drive_size="4TB", fill=0.1))


@pytest.mark.parametrize("recordsize", ["128K", "1M"])
@pytest.mark.parametrize("vendor", ["WD", "generic", "Seagate"])
def test_narrow_columns_of_shingled_drives_of_wd_may_be_rewritten_more(recordsize: str, vendor: str) -> None:
    """128K over four data drives are columns of 32K, 1M are of 256K."""
    known = case(recordsize=recordsize)
    found = {float(each.value) for each in worlds.shinglings(known, vendor)}
    plain = {factor for factor, _ in worlds.SHINGLINGS}
    narrow = {factor for factor, _ in worlds.NARROW_SHINGLINGS}
    assert found == (plain | narrow if recordsize == "128K" and vendor != "Seagate" else plain)


@pytest.mark.parametrize("choices", [
    worlds.write_caches, worlds.sector_sizes, worlds.loads, worlds.drive_classes, uses, lambda: uses(1e9),
])  # fmt: skip
def test_shares_are_probabilities(choices: Callable[[], tuple[Choice, ...]]) -> None:
    found = choices()
    assert all(0.0 < each.share < 1.0 for each in found)
    assert math.fsum(each.share for each in found) == pytest.approx(1.0, abs=0.01)
    assert len({each.value for each in found}) == len(found)


def test_fills_are_even_steps_up_to_what_is_advised() -> None:
    values = [float(each.value) for each in fills(case())]
    assert [values[0], values[-1]] == pytest.approx([0.2, 0.8])
    steps = [above - below for below, above in itertools.pairwise(values)]
    assert steps == pytest.approx([steps[0]] * len(steps))
    assert len({each.share for each in fills(case())}) == 1


def test_capacities_are_unknown_where_neither_drive_nor_capacity_is_stated() -> None:
    assert worlds.has_unknown_size(case())
    assert not worlds.has_unknown_size(case(drive="hd103uj"))
    assert not worlds.has_unknown_size(case(drive_size="4TB"))


def test_a_world_has_the_sectors_use_and_write_cache_that_were_drawn() -> None:
    known = case()
    world = in_world(known, Member(ashift=9, history="database", write_cache=False))
    assert (world.ashift, world.history.name, world.write_cache) == (9, "database", False)
    assert world.member.ashift == 9
    assert in_world(known, Member(load=0.001)).load[0].rate == 0.02, "one read in fifty seconds at least"


def test_the_new_drive_of_a_special_vdev_is_not_that_of_a_world_s_data() -> None:
    known = case("raidz2x6+special:mirror2", replace_in="special")
    world = in_world(known, Member(drive_size=2 * TB))
    assert world.new_drive == known.new_drive
    assert world.drive.capacity_bytes == 2 * TB
