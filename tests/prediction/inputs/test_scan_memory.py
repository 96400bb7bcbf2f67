"""What a sorted scan needs to sort a pool at once, and what the host has of it where nobody says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from zsim.case.case import Case
from zsim.case.member import Member
from zsim.case.worlds import MEMORY_POWER, USES, in_world, memories, memory_share
from zsim.prediction.api import case_of
from zsim.prediction.inputs.ensemble import place_of, unknowns
from zsim.prediction.inputs.points import points
from zsim.prediction.inputs.population import miniature
from zsim.prediction.inputs.scan_memory import (
    memory_choices,
    needed_by_use,
    needed_memory,
    sorted_at_once,
    tells,
)
from zsim.prediction.runs.one_tile import in_rounds
from zsim.prediction.statistics.slopes import MEMORY_BY_USE, MEMORY_OVERALL, design, slope_count, slopes_of
from zsim.scan.sorted import DVA_BYTES, SIO_BYTES
from zsim.scenario.model import Scenario

GIB = 1 << 30


def case(layout: str = "raidz2x6", **stated: Any) -> Case:
    usual = {"drive_size": "8TB", "fill": 0.6, "load": []}
    return case_of(Scenario.from_dict({"layout": layout, **usual, **stated}))


@pytest.mark.parametrize("layout", ["raidz2x6", "mirror2", "draid2:8d:24c:2s"])
@pytest.mark.parametrize("history", USES)
def test_needed_is_what_the_records_of_the_simulated_pool_take(layout: str, history: str) -> None:
    """Metadata beside: an eighth of the blocks where files are small, next to nothing otherwise."""
    known = case(layout, history=history, operation="scrub")
    pool = miniature(known, blocks=20_000)
    entries = float(pool.table.dva_count.sum()) * pool.scale * pool.collected("scrub")
    factor = known.release.tunables["zfs_scan_mem_lim_fact"]
    needed = needed_memory(known, known.stated_history())
    assert 0.8 < needed / (entries * (SIO_BYTES + DVA_BYTES) * factor) < 1.12


def test_a_resilver_needs_memory_for_its_vdev_a_scrub_for_all() -> None:
    one, four = case("raidz2x6", history="home-nas"), case("4*raidz2x6", history="home-nas")
    history = one.stated_history()
    assert needed_memory(four, history) == pytest.approx(needed_memory(one, history), rel=1e-3)
    scrub = case("4*raidz2x6", history="home-nas", operation="scrub")
    assert needed_memory(scrub, history) == pytest.approx(4 * needed_memory(one, history), rel=1e-3)
    twice = case(history="home-nas", tunables={"zfs_scan_mem_lim_fact": 10})
    assert needed_memory(twice, history) == pytest.approx(needed_memory(one, history) / 2)


@pytest.mark.parametrize(
    ("stated", "is_unknown"),
    [
        ({}, True),
        ({"history": "home-nas"}, True),
        ({"operation": "scrub"}, True),
        ({"memory": "64G"}, False),
        ({"release": "zol-0.7"}, False),
        ({"layout": "mirror2", "operation": "rebuild"}, False),
        ({"drive": "generic-sata-ssd", "drive_size": None}, False),
        ({"tunables": {"zfs_scan_mem_lim_fact": 40}}, False),
        ({"history": "media-server", "drive_size": "500GB"}, False),  # 5 GiB are enough
    ],
)
def test_memory_is_unknown_where_it_decides_the_order(stated: dict[str, Any], is_unknown: bool) -> None:
    known = case(**{name: value for name, value in stated.items() if value is not None})
    assert bool(memory_choices(known)) == is_unknown
    assert (place_of(unknowns(known), "memory") is not None) == is_unknown


def test_hosts_of_larger_pools_have_more_memory() -> None:
    def middle(layout: str) -> float:
        found = memories(case(layout))
        weights = np.array([choice.share for choice in found])
        return float(np.log([float(choice.value) for choice in found]) @ weights / weights.sum())

    values = [choice.value for choice in memories(case())]
    assert values == [8 * GIB << step for step in range(7, -1, -1)]
    # Away from both ends of the list: by the power of the capacity.
    assert middle("4*raidz2x6") - middle("raidz2x6") == pytest.approx(MEMORY_POWER * math.log(4.0), rel=0.1)


def test_a_world_has_the_memory_that_was_drawn_and_its_scan_the_limit() -> None:
    known = case(history="home-nas")
    assert known.scan_memory is None, "no world: enough"
    world = in_world(known, Member(memory=32 * GIB))
    assert (world.memory, world.scan_memory) == (32 * GIB, 32 * GIB)
    machines = in_world(case(history="vm-host"), Member(memory=32 * GIB))
    assert machines.memory == round(memory_share("vm-host") * 32 * GIB) > 32 * GIB
    pool = miniature(world, blocks=5_000)
    assert not in_rounds(world, pool), "tiles have their own"
    assert in_world(known, Member()).scan_memory is None


def test_what_is_lacked_is_told_by_use_and_data() -> None:
    known = case()
    inputs = unknowns(known)
    place, use = place_of(inputs, "memory"), place_of(inputs, "history")
    assert place is not None
    assert use is not None
    scores = np.zeros((2, len(inputs)))
    scores[:, place] = (-4.0, 4.0)  # the most and the least memory
    found = points(known, inputs, scores)
    here = int(found["use"][0])
    needed, share = needed_by_use(known)[here], memory_share(USES[here])
    most, least = (float(choice.value) for choice in (inputs[place].choices[0], inputs[place].choices[-1]))
    for lacked, memory in zip(found["scarce"], (most, least), strict=True):
        assert lacked == pytest.approx(max(0.0, math.log(needed / (share * memory))))
    assert found["scarce"][1] > 0.0
    stated = case(memory="8G", history="home-nas")
    told = points(stated, unknowns(stated), np.zeros((1, len(unknowns(stated)))))["scarce"]
    assert told == pytest.approx([math.log(needed_memory(stated, stated.stated_history()) / (8 * GIB))])


def test_slopes_of_memory_are_those_that_a_lack_moves() -> None:
    known = case(history="home-nas")
    inputs = unknowns(known)
    at = points(known, inputs, np.full((1, len(inputs)), 0.7))
    lacks = at | {"scarce": np.array([2.0])}
    blocks = np.array([9_375.0])
    moved = design(lacks, blocks) - design(at | {"scarce": np.zeros(1)}, blocks)
    places = slopes_of(MEMORY_BY_USE, MEMORY_OVERALL)
    assert moved.shape == (1, slope_count())
    assert set(np.flatnonzero(moved[0])) <= set(places.tolist())
    assert len(places) == len(MEMORY_BY_USE) * len(USES) + len(MEMORY_OVERALL)


def test_what_is_sorted_at_once_goes_with_memory_and_inversely_with_what_is_needed() -> None:
    one, twice = case(history="home-nas", memory="16G"), case(history="home-nas", memory="32G")
    needed = needed_memory(one, one.stated_history())
    assert sorted_at_once(one) == pytest.approx(16 * GIB / needed)
    assert sorted_at_once(twice) == pytest.approx(2.0 * sorted_at_once(one))
    large = case(history="home-nas", memory="16G", recordsize="1M")
    assert sorted_at_once(large) > sorted_at_once(one)
    assert sorted_at_once(case(memory="1T", history="media-server")) > 1.0
    for unsorted in (case(release="zol-0.7"), case("mirror2", operation="rebuild", release="openzfs-2.2")):
        assert sorted_at_once(unsorted) == math.inf


def test_on_flash_what_memory_lacks_does_not_tell() -> None:
    """Slopes of disks made a resilver on SSDs a fifth shorter with 4G than with 1T."""
    flash = {"drive": "870-evo-4tb", "drive_size": None, "history": "vm-host"}
    few, many = (case("raidz1x4", memory=size, **flash) for size in ("4G", "1T"))
    inputs = unknowns(few)
    scores = np.zeros((1, len(inputs)))
    assert not tells(few)
    assert (
        points(few, inputs, scores)["scarce"][0] == points(many, unknowns(many), scores)["scarce"][0] == 0.0
    )
    disks = case(history="vm-host", memory="4G")
    assert tells(disks)
    assert points(disks, unknowns(disks), np.zeros((1, len(unknowns(disks)))))["scarce"][0] > 0.0
