"""Sick drives in scenarios and answers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from zsim import Scenario, predict
from zsim.base.errors import InputError
from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.wording import bottleneck
from zsim.prediction.api import case_of
from zsim.prediction.inputs.bad_sectors import error_seconds, failing_reads, recovery
from zsim.prediction.inputs.hardware import plane_model
from zsim.scenario.one_drive.slow import SlowDrive

POOL = {
    "layout": "raidz2x6", "drive_size": "4TB", "fill": 0.5, "drive": "generic-7200rpm-cmr",
    "history": "media-server", "release": "openzfs-2.4", "recordsize": "128K", "seed": 3, "frag": 0.1,
}  # fmt: skip
HOUR = 3600.0


@cache
def answer(**stated: object) -> Prediction:
    return predict(Scenario.from_dict(POOL | stated))


@cache
def median(**stated: object) -> float:
    """Return the median duration [s], without the further runs of a whole answer."""
    return predict(Scenario.from_dict(POOL | stated), portion="row").resilver_s.p50


@pytest.mark.parametrize("text", ["3:x3", "3:1%@200ms", "3:x5,on=7200s,off=72000s", "3:x2,0.5%@1s"])
def test_what_is_said_of_a_slow_drive_reads_as_it_is_written(text: str) -> None:
    assert str(SlowDrive.model_validate(str(SlowDrive.model_validate(text)))) == str(
        SlowDrive.model_validate(text)
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("slow", "3:fast"),
        ("slow", "3:1%"),
        ("slow", "3:on=2h"),
        ("bad_sectors", "3"),
        ("bad_sectors", "9:10"),
        ("attached", "3:wifi"),
        ("erc", "soon"),
        ("autosit", True),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_by_its_field(field: str, value: object) -> None:
    release = "openzfs-2.3" if field == "autosit" else "openzfs-2.4"
    with pytest.raises(InputError, match=field):
        Scenario.from_dict(POOL | {"release": release, field: value})


def test_a_slow_source_sets_the_pace_and_going_offline_helps() -> None:
    """The pace without it over two seeds: from one, either duration is known to some 6 %."""
    slow = answer(slow="3:x3")
    sick = slow.sick[0]
    assert sick.sets_pace
    found = [answer(slow="3:x3", seed=seed).sick[0].sound_s for seed in (2, 3)]
    assert sum(found) == pytest.approx(sum(median(seed=seed) for seed in (2, 3)), rel=0.1)
    assert sick.offline_s is not None
    assert sick.offline_s < 0.7 * slow.resilver_s.p50
    assert any("take drive 3 offline" in each.action for each in slow.advice)
    assert "Drive 3" in str(slow)


def test_what_an_answer_says_of_the_pool_without_its_burdens_is_what_a_prediction_says_of_it() -> None:
    """The ratio of one world would be another: two answers about one pool would contradict each other."""
    pool: dict[str, Any] = {"layout": "raidz2x8", "fill": 0.5}
    load, slow = ["random-read,rate=30,size=64K"], ["3:x3"]
    both = predict(**pool, load=load, slow=slow, portion="first screen")
    assert both.unloaded_s == predict(**pool, load="none", slow=slow, portion="row").resilver_s.p50
    assert both.sick[0].sound_s == predict(**pool, load=load, portion="row").resilver_s.p50
    text = " ".join(bottleneck(both))
    assert "the slow source drive infinitely" not in text


def test_a_slow_side_of_a_three_way_mirror_costs_less_than_twice_the_time() -> None:
    """The other side takes the reads over; the only partner of a two-way mirror has to read them all."""
    three = answer(layout="mirror3", slow="1:x10")
    two = answer(layout="mirror2", slow="1:x10")
    assert 1.1 < three.resilver_s.p50 / three.sick[0].sound_s < 2.0
    assert two.resilver_s.p50 / two.sick[0].sound_s > 5.0


def test_autosit_takes_a_slow_source_out_of_the_reads() -> None:
    sitting = answer(slow="3:x4", autosit=True)
    assert sitting.sick[0].sits_out
    assert sitting.resilver_s.p50 == pytest.approx(median(), rel=0.15)


def test_a_stuttering_source_costs_time() -> None:
    """Over eight seeds: from one, the ratio of two medians is known to some 10 %."""
    medians = [
        (median(slow="3:1%@200ms", seed=seed, frag=None), median(seed=seed, frag=None))
        for seed in range(1, 9)
    ]
    ratios = [slow / sound for slow, sound in medians]
    assert 1.2 < sum(ratios) / len(ratios) < 1.4


def test_slow_spells_cost_less_than_slowness_throughout() -> None:
    assert median() < median(slow="3:x3,on=2h,off=6h") < median(slow="3:x3")


def test_a_link_at_a_quarter_speed_slows_the_outer_zones_only() -> None:
    fast, slow = (
        case_of(Scenario.from_dict(POOL)),
        case_of(Scenario.from_dict(POOL | {"attached": ["3:sata-1.5g", "4:no-ncq"]})),
    )
    before, after = plane_model(fast).leaves, plane_model(slow).leaves
    assert max(after[3].drive.zone_rates) == 135e6
    assert min(after[3].drive.zone_rates) == min(before[3].drive.zone_rates)
    assert after[4].drive.queue_depth == 1
    assert after[5] == before[5]


@pytest.mark.parametrize(
    ("stated", "redundant", "seconds"),
    [
        ({}, True, 7.0), ({}, False, 14.0), ({"erc": "none"}, True, 30.0), ({"erc": "none"}, False, 60.0),
        ({"erc": "none", "platform": "illumos"}, True, 360.0), ({"erc": "70s"}, True, 30.0),
        ({"erc": "none", "product": "freebsd-15.0"}, True, 150.0),
        ({"erc": "none", "release": "solaris-11.1"}, True, 360.0),
    ],
)  # fmt: skip
def test_who_gives_up_first_decides_what_an_error_costs(
    stated: dict[str, object], redundant: bool, seconds: float
) -> None:
    case = case_of(Scenario.from_dict(POOL | stated | {"bad_sectors": "3:10"}))
    assert error_seconds(case, redundant=redundant) == seconds


def test_a_thousand_bad_sectors_without_redundancy_cost_hours() -> None:
    bare = {"layout": "raidz1x5", "bad_sectors": "3:1000"}
    case = case_of(Scenario.from_dict(POOL | bare))
    (lost,) = recovery(case, 6 * HOUR)
    assert lost.faulted_s is None
    assert lost.seconds == lost.errors * 14.0
    assert lost.seconds == pytest.approx(1000 * 14.0, rel=0.1)


def test_with_redundancy_one_aggregate_that_fails_is_enough_to_fault_the_drive() -> None:
    """Of 32 reads of 32K and the aggregate 33 errors are reported at once; 15 s later it is faulted.

    Two sectors beside the first are read meanwhile.
    """
    case = case_of(Scenario.from_dict(POOL | {"bad_sectors": "3:100"}))
    (lost,) = recovery(case, 24 * HOUR)
    reads = failing_reads(case, 3, 100, 1 << 20) * 24 * HOUR
    assert (reads[:4] < reads[0] + 7.0 + 15.0).tolist() == [True, True, True, False]
    assert (lost.errors, lost.seconds) == (3, 21.0)
    assert lost.faulted_s == pytest.approx(reads[0] + 7.0 + 15.0)
    assert answer(bad_sectors="3:1000").sick[0].left == 0


def test_rare_errors_of_small_reads_keep_a_drive_in_the_pool() -> None:
    """In legacy order reads are hardly merged, so that an error is reported about once."""
    case = case_of(Scenario.from_dict(POOL | {"bad_sectors": "3:12", "seed": 2, "release": "zol-0.7"}))
    (lost,) = recovery(case, 12 * HOUR)
    assert lost.faulted_s is None


def test_bad_sectors_come_in_clusters_of_two() -> None:
    case = case_of(Scenario.from_dict(POOL))
    reads = failing_reads(case, 3, 4000, 1 << 20) * case.fill * case.drive_size
    near = np.mean(np.diff(reads) <= 10e6)
    assert 0.4 < near < 0.6


def test_a_drive_of_another_vdev_is_not_read() -> None:
    case = case_of(Scenario.from_dict(POOL | {"layout": "2*raidz2x6", "bad_sectors": "8:1000"}))
    assert recovery(case, HOUR)[0].seconds == 0.0


def test_drives_are_counted_in_the_order_of_the_layout_whichever_vdev_is_repaired() -> None:
    stated = {"layout": "mirror2+raidz2x6", "replace_in": "1", "slow": "4:x3", "fill": 0.3}
    found = answer(**stated).sick[0]
    assert (found.drive, found.sets_pace) == (4, True)
    assert found.offline_s is not None
    # The mirror is not read, and no drive of it holds the resilver up or can be spared for it.
    beside = answer(**(stated | {"slow": "1:x3"})).sick[0]
    assert (beside.drive, beside.sets_pace, beside.offline_s) == (1, False, None)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_numbers_of_drives_go_to_the_leading_vdev_and_back(first: int) -> None:
    stated = Scenario.from_dict({"layout": "mirror2+raidz2x6+mirror3", "replace_in": str(first)})
    leaves = [stated.leaf_of(drive) for drive in range(15)]
    assert [stated.drive_of(leaf) for leaf in leaves] == list(range(15))
    own = {0: range(2), 1: range(2, 8), 2: range(8, 11)}[first]
    assert [leaves[drive] for drive in own] == list(range(len(own)))
    assert leaves[11:] == [11, 12, 13, 14]


def test_what_would_change_the_answer_counts_the_bad_sectors_too() -> None:
    """600 waits of 14 s on the last redundancy: no record size makes the answer shorter than these."""
    stated = {"layout": "raidz1x4", "recordsize": None, "bad_sectors": "2:3000", "frag": None, "fill": 0.3}
    found = answer(**stated)
    rows = {each.field: each for each in found.uncertainty.drivers}
    assert found.sick[0].lost_s > 2 * HOUR
    assert rows["recordsize"].low_s > found.sick[0].lost_s
    assert all(each.low_s > found.sick[0].lost_s for each in rows.values())


def test_a_slow_drive_that_holds_nothing_up_is_no_bottleneck_of_its_own() -> None:
    large = {"recordsize": "1M", "drive": "generic-5400rpm-cmr", "drive_size": "18TB", "attached": "3:no-ncq"}
    found = predict(POOL | large, portion="first screen")
    assert [each.sets_pace for each in found.sick] == [False]
    assert any(leaf.role == "slow source" for leaf in found.leaves)
    assert "slow" not in f"{found.bottleneck.resource} {found.breakdown_of}"
