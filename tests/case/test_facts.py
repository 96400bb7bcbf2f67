"""What files about a pool say goes before assumptions, what is stated before them; properties of a case."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.case.case import Case
from zsim.case.facts import BlockList, KnownPool, facts_of
from zsim.case.known import different_alloc
from zsim.case.member import Member
from zsim.case.resolve import resolve
from zsim.pool.recipes.recipe import RecordClass
from zsim.scenario.model import Scenario

TB, SLAB = 10**12, 16 << 30


def case(**stated: Any) -> Case:
    return resolve(Scenario.from_dict({"layout": "2*mirror2", "drive_size": "4TB", **stated}))


@pytest.fixture
def slabs(tmp_path: Path) -> str:
    """The free space of two vdevs, one a quarter and one half full."""
    path = tmp_path / "metaslabs.csv"
    rows = [f"{vdev},{k},{k * SLAB},{SLAB - SLAB // part},{10 * vdev + 10}" for vdev, part in ((0, 4), (1, 2))
            for k in range(4)]  # fmt: skip
    path.write_text("\n".join(["vdev,metaslab,offset,free,fragmentation", *rows, ""]), encoding="utf-8")
    return str(path)


def test_free_space_says_alloc_and_frag_unless_they_are_stated(slabs: str) -> None:
    alloc = 4 * SLAB // 4 + 4 * SLAB // 2
    known = case(metaslabs=slabs)
    assert (known.alloc, known.fill) == (alloc, pytest.approx(alloc / known.pool_size))
    assert known.frag == pytest.approx(0.15)
    assert not {"fill", "frag"} & {each.field for each in known.assumptions}
    for stated, field in (
        ({"fill": 0.3}, "fill"),
        ({"frag": 0.4}, "frag"),
        ({"vdev_frags": [0.4, 0.4]}, "frag"),
    ):
        told = case(metaslabs=slabs, **stated)
        assert getattr(told, field) == pytest.approx(next(iter(stated.values())) if field == "fill" else 0.4)
    assert case(metaslabs=slabs, alloc="1T").alloc == 1 << 40
    assert case(metaslabs=slabs, release="freebsd-9.1").frag is None, "such a release knows none"


def test_free_space_of_a_vdev_that_is_not_there_is_refused(slabs: str) -> None:
    with pytest.raises(InputError, match="top-level vdev 1, the layout has 1"):
        case(layout="mirror2", metaslabs=slabs)
    with pytest.raises(InputError, match="give the layout and the drive_size"):
        case(metaslabs=slabs, drive_size="20GB")


def test_free_space_is_numbered_from_the_vdev_under_repair(slabs: str) -> None:
    first = case(metaslabs=slabs, replace_in="1").facts.free_space
    assert first is not None
    assert (first.free[:4] == SLAB // 2).all()
    plain = case(metaslabs=slabs).facts.free_space
    assert plain is not None
    assert (plain.free[:4] == SLAB - SLAB // 4).all()


def test_a_list_of_blocks_stands_for_all_other_files(slabs: str) -> None:
    found = facts_of(Scenario.from_dict({"layout": "2*mirror2", "metaslabs": slabs, "replace_in": "1"}))
    assert found.block_list is None
    assert found.free_space is not None
    assert found.records is None
    listed = facts_of(Scenario.from_dict({"layout": "2*mirror2", "block_list": "a.csv", "replace_in": "1"}))
    assert listed == KnownPool(block_list=BlockList("a.csv", 1))


def test_a_total_is_different_from_a_tenth_on() -> None:
    stated = case(alloc=TB)
    for share, differs in ((1.0, False), (1.1, False), (0.9, False), (1.11, True), (0.89, True)):
        assert bool(different_alloc(replace(stated, alloc=round(share * stated.alloc)))) == differs
    assert different_alloc(case(fill=0.2)) == ""


def test_the_usual_record_is_as_stated_else_that_of_a_known_use_else_the_default() -> None:
    mix = KnownPool(records=(RecordClass(1 << 20),))
    assert case(recordsize="1M", history="database").usual_record == 1 << 20
    assert case().usual_record == 128 << 10
    used = case(history="database").usual_record
    assert used < 64 << 10
    assert used & (used - 1) == 0, "a power of two"
    assert replace(case(), facts=mix).usual_record == 1 << 20
    drawn = replace(case(), member=Member(history="database"), history=case(history="database").history)
    assert drawn.usual_record == used
    listed = replace(case(history="database"), facts=KnownPool(block_list=BlockList("a.csv")))
    assert listed.usual_record == 128 << 10
    old = replace(case(release="freebsd-9.1"), facts=mix)
    assert old.usual_record == old.largest_record == 128 << 10


def test_the_records_of_a_history_are_those_of_files_then_those_stated_then_its_own() -> None:
    mix = (RecordClass(32 << 10),)
    plain, stated = case(history="database"), case(history="database", recordsize="1M")
    assert plain.stated_history() == plain.history
    assert {each.recordsize for each in stated.stated_history().records} == {1 << 20}
    measured = replace(stated, facts=KnownPool(records=mix))
    assert {each.recordsize for each in measured.stated_history().records} == {32 << 10}


def test_alloc_is_shared_by_space_and_by_fill_where_fills_are_stated() -> None:
    assert case().first_vdev_share == pytest.approx(0.5)
    assert case(layout="raidz1x3+mirror2").first_vdev_share == pytest.approx(3 / 4, abs=0.002)
    assert case(vdev_fills=[0.6, 0.2]).first_vdev_share == pytest.approx(0.75)
    assert case(vdev_fills=[0.6, 0.2], replace_in="1").first_vdev_share == pytest.approx(0.25)
    special = case(layout="2*mirror2+special:mirror2", replace_in="special")
    assert special.repairs_class
    assert special.first_vdev_share == pytest.approx(1 / 3)
    assert special.damaged_size == special.new_drive_size == TB
    assert case().damaged_size == 4 * TB


def test_a_drive_that_was_exchanged_is_no_smaller_than_the_rest() -> None:
    known = case(exchanged=["1:mg08aca16", "2:@6TB"])
    first, second = known.exchanged_model(1), known.exchanged_model(2)
    assert first is not None
    assert second is not None
    assert (first.name, first.capacity_bytes) == ("mg08aca16", 16000900661248)
    assert (second.name, second.capacity_bytes) == (known.drive.name, 6 * TB)
    assert known.exchanged_model(0) is None
    larger = replace(known, drive_size=8 * TB).exchanged_model(2)
    assert larger is not None
    assert larger.capacity_bytes == 8 * TB
    led = case(exchanged=["1:mg08aca16"], replace_in="1")
    assert led.exchanged_model(3) is not None
    assert led.exchanged_model(1) is None


def test_groups_are_repaired_of_a_draid_and_by_a_resilver_alone() -> None:
    draid = {"layout": "draid2:8d:24c:2s"}
    assert case(**draid, operation="resilver").repairs_groups
    assert not case(**draid, operation="scrub").repairs_groups
    assert not case(operation="resilver").repairs_groups
    scrub = replace(case(**draid, operation="scrub"), target="distributed-spare")
    assert not scrub.onto_spare
