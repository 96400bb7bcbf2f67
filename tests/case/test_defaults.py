"""What stands in the case where nothing is stated, and that what is stated goes before it."""

from __future__ import annotations

from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.base.units import parse_bytes
from zsim.case.case import Case
from zsim.case.resolve import is_sata_flash, resolve
from zsim.scenario.model import Scenario
from zsim.scenario.releases.capacity import COMMON_DRIVE_BYTES, most_allocated

TB = 10**12
DRAID = {"layout": "draid2:8d:24c:2s", "release": "openzfs-2.3"}


def case(**stated: Any) -> Case:
    return resolve(Scenario.from_dict({"layout": "raidz2x6", **stated}))


def assumed(known: Case) -> dict[str, object]:
    return {each.field: each.value for each in known.assumptions}


def test_what_an_assumption_says_is_what_was_taken() -> None:
    """The words that a person reads are those of the number; and the number is that of the case."""
    known = case()
    said = {each.field: each for each in known.assumptions}
    for name in ("recordsize", "memory"):
        assert parse_bytes(said[name].text) == said[name].value == getattr(known, name)
    for name in ("cpus", "replace"):
        assert int(said[name].text) == said[name].value == getattr(known, name)
    assert said["ashift"].text == f"{known.ashift} ({2**known.ashift} bytes)"
    assert said["fill"].text == f"{100 * known.fill:.0f} %"
    assert said["hz"].text == f"{known.release.hz} ticks/s"
    assert said["drive"].value == said["new_drive"].value == known.drive.name
    assert said["drive_size"].value == known.drive_size == known.new_drive_size == 4 * TB
    assert said["write_cache"].value is known.write_cache is True
    assert said["old_drive"].value == known.old_drive
    assert said["operation"].value == known.operation
    assert len(said) == len(known.assumptions), "one a field"


STATED: dict[str, Any] = {
    "release": "openzfs-2.2", "hz": 100, "drive": "hd103uj", "drive_size": "2TB", "fill": 0.3,
    "operation": "resilver", "replace": 2, "old_drive": "online", "new_drive": "mg08aca16",
    "recordsize": "1M",
    "frag": 0.2, "ashift": 9, "memory": "8G", "cpus": 3, "write_cache": False, "history": "database",
    "load": [{"kind": "random-read", "rate": 5}], "enclosure": "jbod-60", "seed": 7, "precision": 0.1,
    "begins": "tue 03:00", "exact": True, "engine": "reference",
}  # fmt: skip


def test_what_is_stated_is_what_is_simulated_and_nothing_is_assumed() -> None:
    known = case(**STATED)
    assert assumed(known) == {}
    assert (known.fill, known.replace, known.old_drive, known.cpus) == (0.3, 2, "online", 3)
    assert (known.recordsize, known.memory, known.ashift) == (1 << 20, 8 << 30, 9)
    assert (known.frag, known.write_cache, known.history.name) == (0.2, False, "database")
    assert (known.drive.name, known.drive_size, known.new_drive.name) == ("hd103uj", 2 * TB, "mg08aca16")
    assert (known.seed, known.precision, known.exact, known.engine) == (7, 0.1, True, "reference")
    assert (known.load[0].rate, known.begins, known.release.hz) == (5.0, 86400 + 3 * 3600, 100)
    assert known.alloc == round(0.3 * known.pool_size)
    assert known.candidates.drives == {}
    assert case(seed=0).seed == 0
    assert 0.0 < case().precision < 0.1, "some percent of the time"


@pytest.mark.parametrize(("stated", "operation", "target"), [
    ({}, "rebuild", "distributed-spare"),
    ({"operation": "resilver"}, "resilver", "distributed-spare"),
    ({"operation": "scrub"}, "scrub", "new-drive"),
    ({"target": "new-drive"}, "resilver", "new-drive"),
    ({"new_drive": "generic-7200rpm-cmr"}, "resilver", "new-drive"),
    ({"new_drive_size": "4TB"}, "resilver", "new-drive"),
    ({"old_drive": "online"}, "resilver", "new-drive"),
    ({"old_drive": "missing"}, "rebuild", "distributed-spare"),
    ({"replace": 2}, "resilver", "new-drive"),
    ({"replace": 1}, "rebuild", "distributed-spare"),
    ({"layout": "draid2:8d:24c:0s"}, "resilver", "new-drive"),
])  # fmt: skip
def test_a_draid_has_its_spare_at_hand_unless_something_else_is_said(
    stated: dict[str, Any], operation: str, target: str
) -> None:
    known = case(**{**DRAID, **stated})
    assert (known.operation, known.target) == (operation, target)
    assert ("new_drive" in assumed(known)) == (
        target == "new-drive" and operation != "scrub" and "new_drive" not in stated
    )
    assert known.onto_spare == (target == "distributed-spare")


def test_a_scrub_replaces_nothing_and_an_expansion_attaches_one() -> None:
    scrub, grown = (
        case(operation="scrub"),
        case(layout="raidz1x4+1", release="openzfs-2.3", operation="expand"),
    )
    assert (scrub.replace, scrub.old_drive) == (0, "online")
    assert not {"replace", "old_drive", "new_drive"} & set(assumed(scrub))
    assert (grown.replace, grown.old_drive) == (1, "online")
    assert assumed(grown)["new_drive"] == grown.new_drive.name == grown.drive.name
    assert assumed(grown)["rewritten"] == grown.rewritten == 0.0
    assert "rewritten" not in assumed(case())
    assert case().rewritten == 0.0
    assert case(layout="raidz1x4+1", release="openzfs-2.3", rewritten=0.3).rewritten == 0.3


@pytest.mark.parametrize(("drive", "size"), [
    ("hd103uj", 1000204886016), ("generic-nvme-ssd", 1000204886016), (None, 4 * TB),
])  # fmt: skip
def test_a_drive_has_the_capacity_of_its_model_unless_another_is_stated(drive: str | None, size: int) -> None:
    named = {} if drive is None else {"drive": drive}
    known = case(**named)
    assert known.drive_size == known.new_drive_size == known.drive.capacity_bytes == size
    assert assumed(known)["drive_size"] == size
    assert case(**named, drive_size="6TB").drive_size == 6 * TB


def test_where_alloc_is_stated_drives_are_common_ones_that_it_fills_to_four_fifths_at_most() -> None:
    """A class of drives has no capacity of its own; a model has, whatever is on it."""
    for alloc in ("1T", "20T", "50T"):
        for named in ({}, {"drive": "generic-nvme-ssd"}):
            known = case(alloc=alloc, **named)
            usual = 1000204886016 if named and alloc == "1T" else None
            room = {
                size: most_allocated(known.layout, size, known.release, False) for size in COMMON_DRIVE_BYTES
            }
            fits = min(size for size, most in room.items() if size >= 4 * TB and known.alloc <= 0.8 * most)
            assert known.drive_size == (usual or fits)
            assert known.fill == pytest.approx(known.alloc / known.pool_size)
    with pytest.raises(InputError, match="holds"):
        case(alloc="9T", drive="hd103uj")


def test_alloc_up_to_the_size_of_the_pool_is_taken() -> None:
    whole = case(fill=0.5, drive_size="4TB").pool_size
    assert case(alloc=whole, drive_size="4TB").fill == 1.0
    with pytest.raises(InputError, match="alloc"):
        case(alloc=whole + 1, drive_size="4TB")


def test_a_replacement_is_no_smaller_than_what_it_replaces() -> None:
    assert case(drive_size="4TB", new_drive_size="4TB").new_drive_size == 4 * TB
    assert case(drive_size="4TB", new_drive="mg08aca16").new_drive_size == 16000900661248
    for stated in ({"new_drive_size": "3TB"}, {"new_drive": "hd103uj"}):
        with pytest.raises(InputError, match="no replacement smaller"):
            case(drive_size="4TB", **stated)


def test_releases_that_take_the_logical_sector_have_small_ones() -> None:
    assert case(release="freebsd-9.1").ashift == 9
    assert case(release="zol-0.7").ashift == 12


def test_classes_of_worlds_are_drives_of_the_pool_s_capacity_and_a_stated_new_one_stays() -> None:
    own = case(drive_size="6TB").candidates.drives
    assert {each.pool.capacity_bytes for each in own.values()} == {6 * TB}
    assert all(each.pool == each.new for each in own.values())
    stated = case(drive_size="6TB", new_drive="mg08aca16").candidates.drives
    assert {each.new.name for each in stated.values()} == {"mg08aca16"}
    assert {each.pool.name for each in stated.values()} == set(own)


def test_solid_state_drives_behind_sata_share_what_the_host_has() -> None:
    sata, nvme, disk = (case(drive=name) for name in ("generic-sata-ssd", "generic-nvme-ssd", "hd103uj"))
    assert [is_sata_flash(each.drive) for each in (sata, nvme, disk)] == [True, False, False]
    assert sata.host is not None
    assert nvme.host is disk.host is None
    assert case(drive="generic-sata-ssd", enclosure="jbod-60").host is None


def test_drives_that_are_named_at_no_port_are_behind_the_enclosure() -> None:
    known = case(enclosure="jbod-60", replace=2)
    (rest,) = known.ports
    assert rest.leaves == tuple(range(8))
    some = case(enclosure="jbod-60", ports=["onboard-sata:0-1"])
    assert [each.leaves for each in some.ports] == [(0, 1), (2, 3, 4, 5, 6)]
    assert case().ports == ()
    assert assumed(case())["ports"] is None
    assert "ports" not in assumed(known)
