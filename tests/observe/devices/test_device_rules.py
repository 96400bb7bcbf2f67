"""Rules of what drives are: by their models' names, by what they report, and which of them the pool has."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from zsim.observe.devices.identity import MOST_DRIVES, Identity, Inventory
from zsim.observe.devices.listings import camcontrol_drives, geom_drives, lsblk_drives
from zsim.observe.devices.models import Model, model_of, size_in_name, slowest_of
from zsim.observe.devices.of_zfs import zfs_devids, zpool_columns
from zsim.observe.devices.reports import hdparm_drives, sdparm_drives, smartctl_drives, sysfs_drives
from zsim.observe.devices.sentences import said_drives
from zsim.observe.pool_import import find_drives
from zsim.observe.pool_import.find_drives import PoolDrives, model_named
from zsim.observe.pool_import.finding import PoolOutputs
from zsim.observe.pool_import.given.files import PoolFiles

TB = 10**12
SLOW, FAST, SHINGLED = "generic-5400rpm-cmr", "generic-7200rpm-cmr", "generic-5400rpm-smr"
SATA, NVME = "generic-sata-ssd", "generic-nvme-ssd"


# Models.


@pytest.mark.parametrize(
    ("words", "flash", "size"),
    [
        ("MZQL21T9HCJR", True, 1.92 * TB), ("MZQL23T8HCLS", True, 3.84 * TB), ("MZQL27T6HBLA", True, 7.68 * TB),  # noqa: E501
        ("MZQL215T3HBLA", True, 15.36 * TB), ("XYZ30T7A", True, 30.72 * TB), ("XYZ61T4A", True, 61.44 * TB),
        ("XYZ6T4A", True, 6.4 * TB), ("XYZ12T8A", True, 12.8 * TB), ("S37240G", True, 240e9),
        ("XYZ480G", True, 480e9), ("XYZ1920G", True, 1.92 * TB), ("XYZ1024G", True, 1.024 * TB),
        ("XYZ7960G", True, 960e9), ("XYZ 2TB", True, 2 * TB), ("XYZ480G", False, None),
    ],
)  # fmt: skip
def test_names_of_flash_drives_hold_their_capacity(words: str, flash: bool, size: float | None) -> None:
    assert size_in_name(words, flash=flash) == (None if size is None else pytest.approx(size))


@pytest.mark.parametrize(
    ("name", "more", "generic"),
    [
        ("NOBODY 1", {"rpm": 5400}, SLOW), ("NOBODY 1", {"rpm": 6499}, SLOW), ("NOBODY 1", {"rpm": 6500}, FAST),  # noqa: E501
        ("NOBODY 1", {"rpm": 7200}, FAST), ("NOBODY 1", {"flash": True}, SATA), ("NOBODY 1", {"nvme": True}, NVME),  # noqa: E501
        ("NOBODY NVMe 1", {"flash": True}, NVME), ("NOBODY 1", {}, None), ("NOBODY 1", {"flash": False}, None),  # noqa: E501
        # Shingled drives are so whatever their speed; what rotates is no flash, whatever its series.
        ("ST8000DM004", {"rpm": 5400}, SHINGLED), ("ST8000DM004", {"rpm": 7200}, SHINGLED),
        ("Samsung SSD 860 EVO 1TB", {"flash": False}, None), ("Samsung SSD 860 EVO 1TB", {}, SATA),
        # Of flash the series tells which, or the word; else it is what most are.
        ("MZQL23T8HCLS", {"flash": True}, NVME), ("NVME thing", {"flash": True}, NVME),
        ("Samsung SSD 860 EVO 1TB", {"flash": True}, SATA), ("WD40EFRX", {"flash": True}, SATA),
        ("MZQL23T8HCLS", {"flash": False}, None), ("WD40EFRX", {"flash": False}, SLOW),
        ("MZQL23T8HCLS", {"rpm": 7200}, FAST),
    ],
)  # fmt: skip
def test_the_generic_drive_follows_series_and_rotation(
    name: str, more: dict[str, Any], generic: str | None
) -> None:
    assert model_of(name, **more).generic == generic


def test_a_model_of_the_catalogue_has_its_capacity_within_three_hundredths() -> None:
    whole = model_of("WDC WD40EFRX-68N32N0")
    assert (whole.drive, whole.known, whole.size) == ("wd40efrx", True, 4000787030016)
    near = model_of("WDC WD40EFRX-68N32N0", round(4000787030016 * 0.98))
    assert (near.known, near.size) == (True, round(4000787030016 * 0.98))
    assert not model_of("WDC WD40EFRX-68N32N0", round(4000787030016 * 0.96)).known
    assert not model_of("WDC WD40EFRX-68N32N0", round(4000787030016 * 1.04)).known


def test_the_slowest_class_decides() -> None:
    def models(*kinds: str | None) -> tuple[Model, ...]:
        return tuple(Model("x", None, False, None, kind) for kind in kinds)

    assert slowest_of(models(NVME, SATA, FAST, SLOW, SHINGLED)) == SHINGLED
    assert slowest_of(models(NVME, FAST, SLOW)) == SLOW
    assert slowest_of(models(NVME, SATA)) == SATA
    assert slowest_of(models(None)) is None
    fast, slow = Model("f", "f", True, None, FAST), Model("s", "s", True, None, SLOW)
    assert find_drives._chosen((fast, fast, slow)) is slow
    # Of the slowest class the one there are most of.
    other = Model("o", "o", True, None, SLOW)
    assert find_drives._chosen((slow, other, other, fast, fast, fast)) is other


@pytest.mark.parametrize(
    ("identity", "drive", "size"),
    [
        (Identity(model="NOBODY", size=4 * TB, rpm=5400), SLOW, 4 * TB),
        (Identity(model="NOBODY", size=round(3.64 * 2**40), rounded=True, rpm=0), SATA, 4 * TB),
        (Identity(model="NOBODY", rpm=7200), FAST, None),
        (Identity("nvme0n1", model="NOBODY"), NVME, None),
        (Identity("sda", model="NOBODY", nvme=True), NVME, None),
        (Identity("sda", model="NOBODY"), None, None),
        # A capacity in a name is exact, the printed one of three digits is not.
        (
            Identity(model="WDC WD40EFRX-68N32N0", size=round(3.7 * 2**40), rounded=True),
            "wd40efrx",
            4000787030016,
        ),
    ],
)
def test_a_drive_is_what_it_tells_of_itself(identity: Identity, drive: str | None, size: int | None) -> None:
    found = model_named(identity)
    assert (found.drive, found.size) == (drive, size)


# Drives of the pool.


def with_drives(*identities: Identity) -> PoolOutputs:
    """Return evidence in which the host has such drives."""
    inventory = Inventory()
    inventory.add(identities)
    files: Any = SimpleNamespace(inventory=lambda: inventory, of=lambda kind: [])
    return PoolOutputs(files)


def models_of(*kinds: tuple[str | None, int | None, str]) -> tuple[Model, ...]:
    """Return models that are known, each with drive, size and generic drive."""
    return tuple(
        Model(drive or "?", drive, drive is not None, size, generic) for drive, size, generic in kinds
    )


def test_drives_of_several_models_are_told_and_the_slowest_taken_for_all() -> None:
    outputs = PoolOutputs(PoolFiles())
    found = models_of(("a", 4 * TB, FAST), ("b", 4 * TB, SLOW), ("a", 4 * TB, FAST))
    find_drives._find_old(outputs, found, "lsblk", 4, ())
    assert (outputs.value("drive"), outputs.named_size, outputs.named_source) == ("b", 4 * TB, "lsblk")
    assert not outputs.findings["drive"].inferred
    several, named = outputs.notes
    assert several.startswith("the drives are of several models (2 x a, 1 x b): b is used for all")
    assert named == "3 of 4 drives are named: the others are assumed to be the same"


def test_a_shingled_drive_among_others_is_only_read() -> None:
    def found(*kinds: tuple[str, str]) -> tuple[object, bool]:
        outputs = PoolOutputs(PoolFiles())
        models = models_of(*((drive, 6 * TB, generic) for drive, generic in kinds))
        find_drives._find_old(outputs, models, "lsblk", len(models), ())
        return outputs.value("drive"), any("--new-drive" in note for note in outputs.notes)

    cmr, fast, smr = ("c", SLOW), ("f", FAST), ("s", SHINGLED)
    assert found(cmr, cmr, smr) == ("c", True)
    assert found(fast, fast, smr) == (SLOW, True)
    assert found(cmr, smr) == ("s", False), "half of them: the replacement is as likely one"
    assert found(smr, smr) == ("s", False)
    assert found(fast, cmr, fast) == ("c", False)


def test_a_smaller_drive_bounds_a_vdev_from_three_hundredths_on() -> None:
    def noted(small: float) -> list[str]:
        outputs = PoolOutputs(PoolFiles())
        find_drives._find_old(
            outputs, models_of(("a", 4 * TB, SLOW), ("a", round(small * TB), SLOW)), "lsblk", 2, ()
        )
        assert outputs.named_size == round(small * TB)
        return outputs.notes

    assert noted(3.9) == []
    assert "the smallest size" in noted(3.8)[0]


def test_what_is_concluded_is_called_inferred() -> None:
    for source, model, inferred in (
        ("lsblk", Model("a", "a", True, None, SLOW), False), ("lsblk", Model("a", "a", False, None, SLOW), True),  # noqa: E501
        ("that many drives of the host are of this model", Model("a", "a", True, None, SLOW), True),
        (find_drives.SAID, Model("a", "a", True, None, SLOW), True),
    ):  # fmt: skip
        outputs = PoolOutputs(PoolFiles())
        find_drives._find_old(outputs, (model,), source, 1, ())
        assert outputs.findings["drive"].inferred is inferred
        assert ("by its series" in outputs.findings["drive"].source) is not model.known
    none = PoolOutputs(PoolFiles())
    find_drives._find_old(none, (Model("a", None, False, 4 * TB, None),), "lsblk", 1, ())
    assert (none.value("drive"), none.named_size) == (None, 4 * TB)


@pytest.mark.parametrize(
    ("names", "named", "differ"),
    [
        (("wwn-0x5000c50012345678",) * 3, 1, True),
        (("wwn-0x5000c50012345678",) * 2, 1, False),
        (("wwn-0x5002538012345678",) * 3, 1, False),
        (("sda",) * 3, 1, False),
    ],
)
def test_a_few_solid_state_drives_do_not_stand_for_disks_of_another_vendor(
    names: tuple[str, ...], named: int, differ: bool
) -> None:
    outputs = PoolOutputs(PoolFiles())
    models = models_of(("s", TB, SATA)) * named
    assert find_drives._others_differ(outputs, PoolDrives(names, ()), models) is differ
    assert len(outputs.notes) == differ
    disks = models_of(("d", TB, FAST)) * named
    assert not find_drives._others_differ(outputs, PoolDrives(names, ()), disks)


NEW = ("ata-WDC_WD80EFAX-68KNBN0_VGG00001",)


def test_the_new_drive_is_noted_where_it_is_another_and_no_smaller() -> None:
    def found(known: dict[str, object] | None = None, size: int | None = 4 * TB) -> PoolOutputs:
        outputs = with_drives()
        outputs.named_size = size
        for name, value in (known or {}).items():
            outputs.find(name, value, "")
        find_drives._find_new(outputs, PoolDrives(("sda",), NEW))
        return outputs

    plain = found()
    assert (plain.new_named_size, len(plain.notes)) == (8001563222016, 0)
    drive = plain.value("new_drive")
    assert drive is not None
    assert found({"drive": drive}).value("new_drive") is None
    assert found(size=round(8.24 * TB)).new_named_size == 8001563222016
    smaller = found(size=round(8.25 * TB))
    assert (smaller.new_named_size, len(smaller.notes)) == (None, 1)
    for known in ({"operation": "scrub"}, {"target": "distributed-spare"}):
        assert found(known).value("new_drive") is None
    assert found({"operation": "resilver"}).value("new_drive") == drive


# What sentences say.


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("we have 4x WD Red Plus 4TB (WD40EFPX) here", 4), ("all drives are WD40EFPX of one batch", None),
        ("our disks are WD Red Plus 12 TB of last year", None), ("the WD40EFPX drive has failed", "none"),
        ("all WD40EFPX drives, none has failed", None), ("x WD40", "none"), ("4x WD40EFPX", "none"),
        ("sda ONLINE WD40EFPX is of the disks", "none"), ("a" * 400 + " 4x WD40EFPX drives", "none"),
        ("our disks are WD Red Plus 37 TB", "none"),
        ("our disks are WD Red Plus 36 TB", None), ("our disks are WD Red Plus 4 TB and 8 TB", "none"),
    ],
)  # fmt: skip
def test_a_sentence_names_drives_with_their_number_or_as_all(line: str, count: int | str | None) -> None:
    assert [each.count for each in said_drives(line)] == ([] if count == "none" else [count])


def test_one_model_is_said_of_as_many_drives_as_there_are() -> None:
    def said(*lines: str, drives: int = 4) -> str | None:
        files: Any = SimpleNamespace(of=lambda kind: [each for line in lines for each in said_drives(line)])
        found = find_drives._said(PoolOutputs(files), drives)
        return found.name if found is not None else None

    four, two = "we have 4x WD40EFPX drives", "and 2x ST8000DM004 drives"
    assert said(four) == "WD40EFPX"
    assert said(four, drives=5) is None
    assert said(four, two) == "WD40EFPX"
    assert said("all drives are WD40EFPX", "all disks are ST8000DM004") is None
    assert said() is None


# What drives report.

SMART = """\
/dev/sda
=== START OF INFORMATION SECTION ===
Device Model:     NOBODY 4000
Serial Number:    AB123456
LU WWN Device Id: 5 000c50 0a1b2c3d4
User Capacity:    4,000,787,030,016 bytes [4.00 TB]
Sector Sizes:     512 bytes logical, 4096 bytes physical
Rotation Rate:    5400 rpm
SATA Version is:  SATA 3.0, 6.0 Gb/s (current: 3.0 Gb/s)
Write cache is:   Enabled
"""


def test_smartctl_tells_all_of_a_drive() -> None:
    [found] = smartctl_drives(SMART)
    assert (found.device, found.model, found.serial) == ("sda", "NOBODY 4000", "AB123456")
    assert (found.size, found.rpm, found.logical, found.physical) == (4000787030016, 5400, 512, 4096)
    assert (found.link, found.link_limit, found.write_cache, found.nvme) == (3.0, 6.0, True, False)
    assert (found.wide, found.source) == ("5000c500a1b2c3d4", "smartctl")
    other = (
        SMART.replace("sda", "sdb").replace("5400 rpm", "Solid State Device").replace("Enabled", "Disabled")
    )
    both = list(smartctl_drives(SMART + other.replace("512 bytes logical, 4096 bytes physical",
                                                      "512 bytes logical/physical")))  # fmt: skip
    assert [(each.device, each.rpm, each.write_cache, each.physical) for each in both] == [
        ("sda", 5400, True, 4096), ("sdb", 0, False, 512),
    ]  # fmt: skip


def test_smartctl_of_nvme_has_its_capacity_elsewhere() -> None:
    text = "=== START OF INFORMATION SECTION ===\nModel Number:  NOBODY\nTotal NVM Capacity:  1,000,204,886,016 [1.00 TB]\n"  # noqa: E501
    [found] = smartctl_drives(text)
    assert (found.size, found.nvme, found.device) == (1000204886016, True, "")
    [other] = smartctl_drives(text.replace("Total NVM Capacity", "Namespace 1 Size/Capacity"))
    assert (other.size, other.nvme) == (1000204886016, False)


def test_smartctl_in_json() -> None:
    data = {
        "json_format_version": [1, 0], "device": {"name": "/dev/sda", "protocol": "NVMe"},
        "model_name": "NOBODY", "serial_number": "AB123456", "wwn": {"naa": 5, "oui": 0xC50, "id": 0xA1B2C3D4},  # noqa: E501
        "user_capacity": {"bytes": 4000787030016}, "logical_block_size": 512, "physical_block_size": 4096,
        "rotation_rate": 0, "write_cache": {"enabled": False},
        "interface_speed": {"max": {"string": "6.0 Gb/s"}, "current": {"string": "1.5 Gb/s"}},
    }  # fmt: skip
    [found] = smartctl_drives(json.dumps(data))
    assert (found.device, found.model, found.serial, found.size) == (
        "sda",
        "NOBODY",
        "AB123456",
        4000787030016,
    )
    assert (found.rpm, found.logical, found.physical, found.nvme) == (0, 512, 4096, True)
    assert (found.write_cache, found.link, found.link_limit) == (False, 1.5, 6.0)
    assert found.wide == "5000c500a1b2c3d4"
    bare = {"smartctl": {}, "rotation_rate": -1, "logical_block_size": 0, "nvme_total_capacity": 7,
            "write_cache": {"enabled": 1}}  # fmt: skip
    [found] = smartctl_drives(json.dumps(bare))
    assert (found.rpm, found.logical, found.size, found.write_cache, found.wide) == (None, None, 7, None, "")
    assert list(smartctl_drives('{"json_format_version"')) == []
    assert list(smartctl_drives("[1]")) == []


def test_write_caches_of_hdparm_sdparm_and_sysfs() -> None:
    head = "/dev/sda:\n\tModel Number:       NOBODY\n\tSerial Number:      AB123456\n"
    more = (
        "\tNominal Media Rotation Rate: 7200\n\tdevice size with M = 1000*1000:     4000787 MBytes (4000 GB)\n"  # noqa: E501
        "\t   *\tWrite cache\n"
    )
    [found] = hdparm_drives(head + more)
    assert (found.device, found.model, found.size, found.rounded, found.rpm, found.write_cache) == (
        "sda", "NOBODY", 4000787000000, True, 7200, True,
    )  # fmt: skip
    [off] = hdparm_drives(head + "\t    \tWrite cache\n")
    assert (off.write_cache, off.size, off.rounded) == (False, None, False)
    [unknown] = hdparm_drives(head)
    assert unknown.write_cache is None
    both = hdparm_drives(
        "/dev/sda:\n write-caching =  1 (on)\n/dev/sdb:\n write-caching =  0 (off)\n/dev/sdc:\n x\n"
    )
    assert [(each.device, each.write_cache) for each in both] == [("sda", True), ("sdb", False)]
    text = (
        "    /dev/sda: ATA       NOBODY 4000   0A82\nWCE           1  [cha: y]\n    /dev/sdb: X Y 1\nWCE  0\n"
    )
    assert [(each.device, each.model, each.write_cache) for each in sdparm_drives(text)] == [
        ("sda", "NOBODY 4000", True), ("sdb", "X Y", False),
    ]  # fmt: skip
    text = "/sys/block/sda/queue/write_cache:write back\n/sys/block/sdb/queue/write_cache:write through\n"
    assert [(each.device, each.write_cache) for each in sysfs_drives(text)] == [("sda", True), ("sdb", False)]


# Lists of drives.


def test_rows_of_lsblk_are_those_of_whole_drives() -> None:
    text = (
        "NAME   MODEL        SERIAL    SIZE ROTA TYPE LOG-SEC PHY-SEC\n"
        "sda    NOBODY 4000  AB123456  3.6T    1 disk     512    4096\n"
        "├─sda1              X         3.6T    1 part     512    4096\n"
        "sdb    OTHER        CD123456    4T    0 disk    4096    4096\n"
        "sr0    CDROM        EF123456    4G    1 rom     2048    2048\n"
        "\nsdc  LATER  1\n"
    )
    found = list(lsblk_drives(text))
    assert [(each.device, each.model, each.serial) for each in found] == [
        ("sda", "NOBODY 4000", "AB123456"), ("sdb", "OTHER", "CD123456"),
    ]  # fmt: skip
    assert [(each.size, each.rounded, each.rpm) for each in found] == [
        (round(3.6 * 2**40), True, None), (4 << 40, True, 0),
    ]  # fmt: skip
    assert [(each.logical, each.physical) for each in found] == [(512, 4096), (4096, 4096)]
    bare = "NAME   MODEL        SIZE\nsda    NOBODY 4000  3.6T\n└─sda1              3.6T\n"
    assert [each.device for each in lsblk_drives(bare)] == ["sda"], "the tree tells parts where TYPE does not"
    [exact] = lsblk_drives('NAME="/dev/sda" MODEL="NOBODY_4000" SIZE="4000787030016" ROTA="1"\n')
    assert (exact.device, exact.model, exact.size, exact.rounded) == (
        "sda",
        "NOBODY 4000",
        4000787030016,
        False,
    )
    data = {"blockdevices": [{"name": "sda", "rota": False, "size": 7}, {"name": "loop0"}, 5]}
    [of_json] = lsblk_drives(json.dumps(data))
    assert (of_json.device, of_json.rpm, of_json.size) == ("sda", 0, 7)
    assert list(lsblk_drives('{"blockdevices": [')) == []


def test_lists_of_freebsd() -> None:
    cam = "<ATA NOBODY 4000 0A82>   at scbus0 target 0 lun 0 (pass0,ada0)\n<CDROM 1>  at scbus1 target 0 lun 0 (cd0,pass1)\n"  # noqa: E501
    assert [(each.device, each.model) for each in camcontrol_drives(cam)] == [("ada0", "NOBODY 4000")]
    geom = (
        "Geom name: ada0\n   Mediasize: 4000787030016 (3.6T)\n   Sectorsize: 512\n   Stripesize: 4096\n"
        "   descr: ATA NOBODY 4000\n   ident: AB123456\n   rotationrate: 5400\n"
        "Geom name: ada1\n   Mediasize: 7 (7B)\n   Stripesize: 0\n   ident: (null)\n   rotationrate: 0\n"
        "Geom name: x\n   other: 1\n"
    )
    one, two = geom_drives(geom)
    assert (one.device, one.model, one.serial, one.size) == ("ada0", "NOBODY 4000", "AB123456", 4000787030016)
    assert (one.logical, one.physical, one.rpm) == (512, 4096, 5400)
    assert (two.device, two.serial, two.size, two.physical, two.rpm) == ("ada1", "", 7, None, 0)


def test_columns_of_zpool_status_and_devids() -> None:
    head = "NAME STATE READ WRITE CKSUM  model size media rotation serial\n"
    rows = [
        "sda ONLINE 0 0 0  NOBODY 4000  3.6T  hdd  5400  AB123456",
        "sdb ONLINE 0 0 0  -  4T  ssd  -  -",
        "sdc ONLINE 0 0 0  -  -  hdd  5400  -",
        "sdd ONLINE 0 0 0  NOBODY",
    ]
    # A column in the place of SLOW is none of its counters.
    [sized] = zpool_columns("NAME STATE READ WRITE CKSUM  size media\nsda ONLINE 0 0 0  3.6T  ssd\n")
    assert (sized.size, sized.rpm) == (round(3.6 * 2**40), 0)
    [slow] = zpool_columns("NAME STATE READ WRITE CKSUM SLOW  size media\nsda ONLINE 0 0 0 7  3.6T  ssd\n")
    assert (slow.size, slow.rpm) == (round(3.6 * 2**40), 0)
    one, two = zpool_columns(head + "\n".join(rows))
    assert (one.device, one.model, one.size, one.rounded, one.rpm, one.serial) == (
        "sda", "NOBODY 4000", round(3.6 * 2**40), True, 5400, "AB123456",
    )  # fmt: skip
    assert (two.device, two.model, two.size, two.rpm) == ("sdb", "", 4 << 40, 0)
    leaf = {"name": "sda1", "devid": "ata-NOBODY_4000_AB123456-part1", "phys_space": "4000787030016"}
    [found] = zfs_devids(json.dumps({"pools": {"tank": {"vdevs": {"a": leaf, "b": {"name": "x"}}}}}))
    assert (found.device, found.serial, found.size) == ("sda", "AB123456", 4000787030016)
    assert list(zfs_devids('{"devid": ')) == []


# Which drive is which.


def test_what_several_outputs_tell_of_a_drive_is_put_together() -> None:
    rough = Identity("sda", "NOBODY", size=4 << 40, rounded=True, source="lsblk")
    exact = Identity("sda", serial="AB123456", size=4 * TB, rpm=5400, source="smartctl")
    found = rough.completed(exact)
    assert (found.size, found.rounded, found.rpm, found.serial, found.source) == (
        4 * TB, False, 5400, "AB123456", "lsblk",
    )  # fmt: skip
    back = exact.completed(rough)
    assert (back.size, back.rounded, back.model) == (4 * TB, False, "NOBODY")
    assert rough.completed(Identity("sda", size=7, rounded=True)).size == 4 << 40
    # One that does not rotate, and a cache that is off, are told.
    told = Identity(rpm=0, write_cache=False).completed(Identity(rpm=7200, write_cache=True, nvme=True))
    assert (told.rpm, told.write_cache, told.nvme) == (0, False, True)


def test_drives_are_the_same_by_serial_then_by_their_wide_name_then_by_device() -> None:
    def count(*drives: Identity) -> int:
        inventory = Inventory()
        for each in drives:
            inventory.add([each])
        return len(inventory.drives)

    assert count(Identity("sda", serial="AB123456"), Identity("ada0", serial="AB123456")) == 1
    assert count(Identity("sda", serial="AB123456"), Identity("sda", serial="CD123456")) == 2
    # Some tools cut serial numbers off behind the twentieth sign.
    assert count(Identity(serial="A" * 20), Identity(serial="A" * 25)) == 1
    assert count(Identity(serial="A" * 19), Identity(serial="A" * 25)) == 2
    assert count(Identity("sda", wide="5000"), Identity("sdb", wide="5000")) == 1
    assert count(Identity("sda", wide="5000"), Identity("sda", wide="6000")) == 2
    assert count(Identity("sda"), Identity("sda", serial="AB123456")) == 1
    assert count(Identity(model="x"), Identity(model="x")) == 2
    # What became known of a drive finds it again.
    assert count(Identity("sda"), Identity("sda", serial="AB123456"), Identity("sdx", serial="AB123456")) == 1
    most = Inventory()
    most.add(Identity(f"d{number}") for number in range(MOST_DRIVES + 1))
    assert len(most.drives) == MOST_DRIVES


def test_a_drive_is_found_by_device_then_wide_name_then_serial_in_its_name() -> None:
    drives = [
        Identity("sda", serial="AB123456"),
        Identity("sdb", wide="5000c500a1b2c3d4"),
        Identity("sdc", serial="SHORT"),
    ]
    inventory = Inventory(drives, {"gptid/x": "sdb", "label": "/dev/sda2"})
    assert inventory.listed("/dev/sda1") is drives[0]
    assert inventory.listed("wwn-0x5000c500a1b2c3d4") is drives[1]
    assert inventory.listed("/dev/gptid/x") is drives[1]
    assert inventory.listed("label") is drives[0]
    assert inventory.listed("scsi-SNOBODY_AB123456") is drives[0]
    assert inventory.listed("scsi-SNOBODY_SHORT") is None
    assert inventory.listed("sdz") is None
    told = inventory.of("ata-NOBODY_4000_XY123456")
    assert told is not None
    assert (told.serial, told.source) == ("XY123456", "its name")
