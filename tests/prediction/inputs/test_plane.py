"""The data plane of a case: which drives, behind which links, read and written how."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from zsim.base.errors import InputError, NotSimulatedYet
from zsim.case.case import Case
from zsim.case.member import Factors, Member
from zsim.case.refusals import refuse_what_is_missing
from zsim.case.resolve import resolve
from zsim.case.worlds import in_world
from zsim.engine.model import NOT_REPAIRED, TO_SPARE
from zsim.prediction.inputs import hardware
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.shingled import in_miniature
from zsim.scenario.model import Scenario


def case(**fields: Any) -> Case:
    return resolve(Scenario.from_dict({"layout": "raidz2x6"} | fields))


def test_new_drives_come_after_those_of_the_layout() -> None:
    plane = plane_model(case(replace=2, new_drive="wd40efrx", drive="hd103uj"))
    assert [leaf.role for leaf in plane.leaves] == ["source"] * 6 + ["target"] * 2
    assert [leaf.name for leaf in plane.leaves] == ["hd103uj"] * 6 + ["wd40efrx"] * 2
    (vdev,) = plane.vdevs
    assert vdev.read_leaf == (-1, -1, 2, 3, 4, 5)
    assert vdev.write_leaf == (6, 7, *[NOT_REPAIRED] * 4)


def test_a_drive_that_still_works_is_read_too() -> None:
    (vdev,) = plane_model(case(old_drive="online")).vdevs
    assert vdev.read_leaf == (0, 1, 2, 3, 4, 5)
    assert vdev.write_leaf[0] == 6


def test_only_the_first_vdev_is_damaged() -> None:
    first, second = plane_model(case(layout="2*mirror2")).vdevs
    assert (first.read_leaf, first.write_leaf) == ((-1, 1), (4, NOT_REPAIRED))
    assert (second.read_leaf, second.write_leaf) == ((2, 3), (NOT_REPAIRED, NOT_REPAIRED))


def test_a_second_replacement_has_a_drive_waiting() -> None:
    assert len(plane_model(case(second_at=0.5)).leaves) == 8


def test_a_distributed_spare_needs_no_new_drive() -> None:
    plane = plane_model(case(layout="draid2:4d:12c:1s"))
    assert len(plane.leaves) == 12
    assert plane.vdevs[0].write_leaf == (TO_SPARE, *[NOT_REPAIRED] * 11)
    assert (plane.vdevs[0].data, plane.vdevs[0].spares) == (4, 1)


def test_a_scrub_writes_to_nothing_but_what_was_overwritten() -> None:
    plain, repairing = (
        plane_model(case(operation="scrub", **more)) for more in ({}, {"old_drive": "overwritten"})
    )
    assert {leaf.role for leaf in plain.leaves} == {"source"}
    assert plain.scan.scrub
    assert [leaf.role for leaf in repairing.leaves][:2] == ["target", "source"]
    assert repairing.vdevs[0].write_leaf[0] == 0
    assert not repairing.scan.scrub, "what it reads is all there is to repair from"


def test_no_two_drives_turn_in_step() -> None:
    phases = [leaf.drive.phase_revolutions for leaf in plane_model(case()).leaves]
    assert len(set(phases)) == len(phases)
    assert all(0.0 <= phase < 1.0 for phase in phases)


def test_drives_of_one_model_differ_in_nothing_else() -> None:
    drives = [leaf.drive for leaf in plane_model(case()).leaves]
    assert len({replace(drive, phase_revolutions=0.0) for drive in drives}) == 1


def test_without_a_write_cache_nothing_is_kept_nor_flushed() -> None:
    on, off = (plane_model(case(write_cache=cached)).leaves[0].drive for cached in (True, False))
    assert on.write_cache_bytes > 0
    assert on.flush_each_txg
    assert (off.write_cache_bytes, off.flush_each_txg) == (0, False)


def test_the_factors_of_a_world_are_those_of_its_drives() -> None:
    plain = plane_model(case())
    world = in_world(case(), Member(factors=Factors(outer_rate=1.2, seek=0.5, overhead=2.0, new_rate=0.9)))
    plane = plane_model(world)
    old, new, before = plane.leaves[0].drive, plane.leaves[6].drive, plain.leaves[0].drive
    assert old.zone_rates[0] == pytest.approx(1.2 * before.zone_rates[0])
    assert new.zone_rates[0] == pytest.approx(0.9 * 1.2 * before.zone_rates[0])
    assert old.read_overhead_s == pytest.approx(2.0 * before.read_overhead_s)
    assert old.seek_short_a_s == pytest.approx(0.5 * before.seek_short_a_s)


def test_small_old_disks_have_sectors_of_512_bytes() -> None:
    """Advanced Format came with 2 TB."""
    sizes = {
        size: plane_model(case(drive_size=size)).leaves[0].drive.physical_sector_bytes
        for size in ("1TB", "4TB")
    }
    assert sizes == {"1TB": 512, "4TB": 4096}


# Links.


def test_an_enclosure_is_a_tree_of_links() -> None:
    plane = plane_model(case(enclosure="jbod-60"))
    assert {leaf.link for leaf in plane.leaves} != {-1}
    for number, link in enumerate(plane.links):
        assert link.parent < number, "parents first"
        assert link.name.startswith("jbod-60: ")
    alone = hardware.on_own_ports(plane)
    assert (alone.links, {leaf.link for leaf in alone.leaves}) == ((), {-1})


def test_two_enclosures_do_not_share_links() -> None:
    plane = plane_model(case(enclosure="jbod-60", ports="port-multiplier-cbs:0,1"))
    first, second = {plane.leaves[0].link, plane.leaves[1].link}, {leaf.link for leaf in plane.leaves[2:]}
    assert first.isdisjoint(second)
    assert plane.links[plane.leaves[0].link].name.startswith("port-multiplier-cbs")


def test_more_drives_than_bays_are_refused() -> None:
    with pytest.raises(InputError, match="bays"):
        plane_model(case(layout="raidz2x12", enclosure="port-multiplier-cbs"))


def test_a_new_drive_takes_the_bay_of_a_missing_one() -> None:
    """Five drives fill the multiplier's five bays; the sixth comes only when the failed one is out."""
    plane = plane_model(case(layout="raidz2x5", enclosure="port-multiplier-cbs"))
    assert [leaf.link for leaf in plane.leaves] == [0] * 6
    with pytest.raises(InputError, match="5 bays, and 6 drives"):
        plane_model(case(layout="raidz2x5", enclosure="port-multiplier-cbs", old_drive="online"))


def test_a_drive_that_is_replaced_later_is_behind_the_enclosure_as_well() -> None:
    plane = plane_model(case(second_at=0.5, enclosure="jbod-60"))
    assert len(plane.leaves) == 8
    assert len({leaf.link for leaf in plane.leaves}) == 1


def test_a_new_drive_is_in_the_box_in_which_the_failed_one_was() -> None:
    """The first four drives are inside the MicroServer, the next four behind its multiplier."""
    inside, box = 0, 2
    whole = plane_model(case(layout="raidz1x4", enclosure="hp-microserver"))
    assert [leaf.link for leaf in whole.leaves] == [inside] * 5
    second = plane_model(case(layout="2*raidz1x4", enclosure="hp-microserver", replace_in="1"))
    assert [leaf.link for leaf in second.leaves] == [box] * 4 + [inside] * 4 + [box]
    beside = plane_model(case(layout="raidz1x4", enclosure="hp-microserver", old_drive="online"))
    assert [leaf.link for leaf in beside.leaves] == [inside] * 4 + [box]


def test_solid_state_drives_share_the_host_as_fast_as_the_world_has_it() -> None:
    ssd = case(drive="generic-sata-ssd")
    slow = in_world(ssd, Member(factors=Factors(host=0.5)))
    (usual,), (half,) = plane_model(ssd).links, plane_model(slow).links
    assert half.rate == pytest.approx(0.5 * usual.rate)
    assert {leaf.link for leaf in plane_model(ssd).leaves} == {0}
    assert plane_model(case(drive="generic-sata-ssd", enclosure="direct")).links != (usual,)


# What is refused at the door.


def test_what_cannot_be_simulated_is_refused_in_one_sentence() -> None:
    refuse_what_is_missing(case(layout="draid2:4d:14c:2s", replace=2, target="distributed-spare"))
    mirrors = case(layout="mirror3", operation="rebuild", replace=2)
    with pytest.raises(NotSimulatedYet, match="rebuilt at a time"):
        refuse_what_is_missing(mirrors)


def test_reads_far_beyond_seeks_are_refused_and_beyond_rates_too() -> None:
    refuse_what_is_missing(case(load=["random-read,rate=1000,size=4K"]))
    for load in ("random-read,rate=100000,size=4K", "async-write,rate=1000,size=100M"):
        with pytest.raises(InputError, match="more than 10 times what 6 such drives can do"):
            refuse_what_is_missing(case(load=[load]))


# Caches that fill with what is written.


def test_a_miniature_of_a_solid_state_drive_has_its_share_of_the_fast_region() -> None:
    plane = plane_model(case(drive="870-evo-4tb"))
    drive = plane.leaves[0].drive
    assert drive.slc_cache_bytes > 0
    small = in_miniature(plane, 100.0, 1.0, 1e9, in_order=True).leaves[0].drive
    assert small.slc_cache_bytes == drive.slc_cache_bytes // 100
    assert replace(small, slc_cache_bytes=drive.slc_cache_bytes) == drive


def test_a_miniature_of_a_conventional_disk_is_the_disk() -> None:
    plane = plane_model(case())
    assert in_miniature(plane, 100.0, 2.0, 1e9, in_order=True) == plane


def test_a_shingled_drive_keeps_its_bands_where_the_data_fill_enough_of_them() -> None:
    drive = plane_model(case(drive="st8000dm004")).leaves[0].drive
    plane = plane_model(case(drive="st8000dm004"))
    large = in_miniature(plane, 100.0, 1.5, 64.0 * drive.smr_band_bytes, in_order=True).leaves[0].drive
    assert (large.smr_band_bytes, large.smr_fixed) == (drive.smr_band_bytes, 1.0)
    assert large.smr_cleaning == pytest.approx(1.5)
    room = (1.0 - large.smr_prior) * large.smr_cache_bytes
    assert room == pytest.approx(drive.smr_cache_bytes / 100.0)


def test_smaller_bands_have_their_part_of_what_a_band_has_once() -> None:
    plane = plane_model(case(drive="st8000dm004"))
    drive = plane.leaves[0].drive
    small = in_miniature(plane, 100.0, 1.0, 8.0 * drive.smr_band_bytes, in_order=True).leaves[0].drive
    assert small.smr_band_bytes == drive.smr_band_bytes // 2
    assert (small.smr_fixed, small.smr_cleaning) == (0.5, 1.0)
    by_birth = in_miniature(plane, 100.0, 1.0, 4.0 * drive.smr_band_bytes, in_order=False).leaves[0].drive
    assert (by_birth.smr_band_bytes, by_birth.smr_fixed) == (drive.smr_band_bytes // 2, 1.0)
    assert small.smr_cache_bytes < drive.smr_cache_bytes
