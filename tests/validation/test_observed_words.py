"""How people write layouts, sizes and drives, and rows that are damaged in every way."""

from __future__ import annotations

import random
from typing import Any

import pytest

from zsim.base.errors import InputError, ZsimError
from zsim.scenario.layout import Layout
from zsim.scenario.model import Scenario
from zsim.validation.field_reports import rules
from zsim.validation.field_reports.clean import clean
from zsim.validation.field_reports.drives import (
    FAST,
    NVME,
    SATA_FLASH,
    SHINGLED,
    SLOW,
    bytes_in_name,
    named_drives,
    slowest,
    written_bytes,
)
from zsim.validation.field_reports.hints import use_of
from zsim.validation.field_reports.layout_words import layout_text
from zsim.validation.field_reports.layouts import combined

LAYOUTS = {
    "raidz2x6": "raidz2x6",
    "raidz2 x 6": "raidz2x6",
    "RAIDZ2 (6 wide)": "raidz2x6",
    "raidz2-6": "raidz2x6",
    "6-wide raidz2": "raidz2x6",
    "raidz2 (6 drives)": "raidz2x6",
    "raidz2, 6 drives": "raidz2x6",
    "2x raidz2x6": "2*raidz2x6",
    "2 x raidz2 (6 disks)": "2*raidz2x6",
    "3x mirror2": "3*mirror2",
    "3x mirror": "3*mirror2",
    "mirror": "mirror2",
    "2-way mirror": "mirror2",
    "3-way mirror": "mirror3",
    "mirror3": "mirror3",
    "mirror 2-way": "mirror2",
    "raidz1x5 + special mirror2": "raidz1x5",
    "raidz2x6+log mirror2 + cache": "raidz2x6",
    "mirror2+mirror2 (mirror-1 grown to 3-way)": "2*mirror2",
    "mirror2 (to 3-way)": "mirror2",
    "raid-z2 x8": "raidz2x8",
    "RAID-Z (5 drives)": "raidz1x5",
    "z2 8 disks": "raidz2x8",
    "raidz": None,
    "raidz3": None,
    "draid2:9d:90c": "draid2:9d:90c",
    "draid*:9d:90c": "draid2:9d:90c",
    "draid1 (17 drives, 2 spares)": "draid1:8d:17c:2s",
    "6*mirror2": "6*mirror2",
    "raidz2x6 + raidz2x8": "raidz2x6+raidz2x8",
    "stripe": "disk",
    "stripe (4 drives)": "4*disk",
    "single disk": "disk",
    "raidz2 8": "raidz2x8",
    "5x raidz1x7": "5*raidz1x7",
    "raidz2x6 (one of two vdevs)": "2*raidz2x6",
    "mirror2 x 4": "4*mirror2",
    "mirror x 4": "4*mirror2",
    "raidz2x6 x 3": "3*raidz2x6",
    "raidz1 of 4 drives": "raidz1x4",
    "4 mirrors": "4*mirror2",
    "raidz2x12 (8 TB)": "raidz2x12",
    "2 vdevs of raidz2x6": "2*raidz2x6",
    "raidz2x6 (degraded, 5 disks online)": "raidz2x6",
    "raidz2x6 and raidz2x6": "2*raidz2x6",
    "12 disk raidz3": "raidz3x12",
    "raidz1x3 (3 x 10TB)": "raidz1x3",
    "MIRROR2": "mirror2",
    "raidz2x6, spare": "raidz2x6",
    "mirror2+special mirror2": "mirror2",
    "raidz2 (10x4TB)": "raidz2x10",
    "2x mirror": "2*mirror2",
    "10x mirror (20 drives)": "10*mirror2",
    "3x 3-way mirror": "3*mirror3",
    "2x 4-way mirror": "2*mirror4",
    "raidz2 6 wide + mirrored SLOG": "raidz2x6",
    "raidz2x6 + 2 mirrors as special": "raidz2x6",
    "z2x8": "raidz2x8",
    "stripe of 2": "2*disk",
    "two mirrors": "2*mirror2",
    "2x 2-way mirror": "2*mirror2",
    "6 x 2-way mirrors": "6*mirror2",
    "pool of 3 mirrors": "3*mirror2",
    "3 mirrored pairs": "3*mirror2",
    "mirrors (2x2)": "2*mirror2",
    "mirror of 3": "mirror3",
    "mirror-1 only": "mirror2",
    "mirror-0, mirror-1": "2*mirror2",
    "raidz1-0: 4 drives": "raidz1x4",
    "raidz2-0": None,
    "RAID 10 (4 drives)": "2*mirror2",
    "striped mirrors, 8 disks": "4*mirror2",
    "raidz2, 3 vdevs of 6": "3*raidz2x6",
    "3 vdevs of 6 drives, raidz2": "3*raidz2x6",
    "raidz2 of 6, 3 vdevs": "3*raidz2x6",
    "two raidz2 of six": "2*raidz2x6",
    "3x6 raidz2": "3*raidz2x6",
    "raidz2 3x6": "3*raidz2x6",
    "2 x 6 wide raidz2": "2*raidz2x6",
    "12-wide raidz3 x2": "2*raidz3x12",
    "4x 4 TB raidz1": "raidz1x4",
    "raidz1 of 4 TB drives": None,
    "3 vdevs of 6": None,
}
KINDS = {"S": SLOW, "F": FAST, "M": SHINGLED, "A": SATA_FLASH, "N": NVME}
MODELS = """
WD10EADS S 1
WD15EADS S 1.5
WD20EARS S 2
WD20EARX S 2
WD10EZEX F 1
WD30EFRX S 3
WD40EFRX S 4
WD60EFRX S 6
WD20EFAX M 2
WD40EFAX M 4
WD60EFAX M 6
WD80EFAX S 8
WD101EFAX S 10
WD120EFAX S 12
WD40EFPX S 4
WD60EFZX S 6
WD80EFZZ S 8
WD80EFPX S 8
WD80EMAZ S 8
WD100EMAZ S 10
WD120EMFZ S 12
WD140EDFZ S 14
WD40EZRZ S 4
WD60EZAZ M 6
WD80EAZZ S 8
WD40PURX S 4
WD84PURZ S 8
WD62PURX S 6
WD102PURZ S 10
WD4001FFSX F 4
WD3001FFSX F 3
WD8003FFBX F 8
WD101KFBX F 10
WD161KFGX F 16
WD4002FYYZ F 4
WD6002FRYZ F 6
WD8004FRYZ F 8
WD121KRYZ F 12
WD2003FYYS F 2
WD1002FAEX F 1
WD5000AAKS F 0.5
WD6400AAKS F 0.64
WD2500YS F 0.25
WD40EZRX S 4
ST31000340AS F 1
ST3500320AS F 0.5
ST31500341AS F 1.5
ST1000DM003 F 1
ST2000DM001 F 2
ST2000DM006 F 2
ST2000DM008 M 2
ST3000DM001 F 3
ST3000DM008 F 3
ST4000DM000 S 4
ST4000DM004 M 4
ST4000DM005 S 4
ST5000DM000 M 5
ST6000DM003 M 6
ST8000DM004 M 8
ST8000AS0002 M 8
ST2000LM015 M 2
ST5000LM000 M 5
ST4000VN008 S 4
ST4000VN000 S 4
ST6000VN001 S 6
ST3000VN007 S 3
ST8000VN0022 F 8
ST8000VN004 F 8
ST10000VN0008 F 10
ST12000VN0008 F 12
ST16000NE000 F 16
ST20000NT001 F 20
ST4000NM0033 F 4
ST8000NM0055 F 8
ST16000NM001G F 16
ST18000NM003D F 18
ST4000VX007 S 4
ST10000DM0004 F 10
HUS724040ALA640 F 4
HUS726060ALA640 F 6
HUH728080ALE600 F 8
HUH721010ALE604 F 10
HUH721212ALE601 F 12
HUS726T6TALE6L4 F 6
WUH721414ALE6L4 F 14
WUH721816ALE6L4 F 16
WUH722222ALE6L4 F 22
HDS721010CLA332 F 1
HDS723020BLA642 F 2
HDS5C3020ALA632 S 2
HDS5C4040ALE630 S 4
HMS5C4040BLE640 S 4
HDN724040ALE640 F 4
HDN726060ALE614 F 6
HDS725050KLA360 F 0.5
HUA722010CLA330 F 1
HD103UJ F 1
HD154UI S 1.5
HD204UI S 2
HD502HJ F 0.5
HD103SJ F 1
DT01ACA200 F 2
DT01ACA300 F 3
MD04ACA400 F 4
MG04ACA400E F 4
MG06ACA10TE F 10
MG08ACA16TE F 16
MG09ACA18TE F 18
HDWD130 F 3
HDWD240 M 4
HDWE160 F 6
HDWN180 F 8
HDWQ140 F 4
HDWG480 F 8
HDWG21C F 12
HDWG31G F 16
DT02ABA400 M 4
MQ04ABF100 M 1
HDWL120 M 2
Samsung 870 EVO 2TB A 2
CT1000MX500SSD1 A 1
CT500P2SSD8 N 0.5
SSDSC2BB480G4 A 0.48
INTEL DC S3700 A -
KINGSTON SA400S37 A -
Samsung 970 EVO Plus N -
SSDPE2KX010T8 N 1
WDS500G2B0A A 0.5
WDS100T1X0E N 1
MZ7LH960HAJR A -
MZVLB512HAJQ N -
MZQL23T8HCLS N -
MTFDDAK960TDS A 0.96
PM983 N -
WD Red Pro 4TB F 4
WD Red Plus 4TB S 4
Toshiba N300 8TB F 8
Exos X16 F -
WD Green 2TB S 2
"""
ROW: dict[str, Any] = {
    "id": "someone-2019", "kind": "resilver", "vdev": "raidz2x6", "n_vdevs": 1, "drive_model": "WD40EFRX",
    "drive_type": "CMR HDD", "drive_bytes": 4 * 10**12, "rpm": None, "alloc_bytes": 12 * 10**12,
    "pool_size_bytes": None, "fill_fraction": None, "frag_percent": None, "zfs_version": None,
    "platform": "Linux", "resilvered_bytes": None, "replaced_drives": 1, "concurrent_load": "unknown",
    "tunables": None, "notes": "", "controller": None, "date": "2019-05-01", "scan_algorithm": "sorted",
}  # fmt: skip
ODD = (
    None, "", 0, -1, 1, 3.5, 1e30, float("nan"), True, [], {}, ["a"], "4T", "4 TB", "3.64T", "x",
    "62%", "1.5e12", "unknown", "raidz2", "2x raidz1x3", "mirror", "draid2:8d:24c:2s", "WD60EFAX",
    "Samsung 870 EVO 2TB", "2.2.6", "0.8.3-1ubuntu12", "2.9", "illumos", "FreeBSD", "2024",
    "2024-13-99", 10**13, 512, "legacy", "scrub", "SMR", "NVMe SSD", "heavy", "ashift 9",
    "zfs_resilver_delay=0 zfs_nonsense=3", "PERC H710, RAID-0 volumes",
)  # fmt: skip


@pytest.mark.parametrize(("written", "layout"), LAYOUTS.items())
def test_layouts_as_people_write_them(written: str, layout: str | None) -> None:
    if layout is None:
        with pytest.raises(InputError):
            Layout.parse(layout_text(written))
    else:
        assert str(Layout.parse(layout_text(written))) == layout


@pytest.mark.parametrize("line", MODELS.strip().splitlines())
def test_popular_drives(line: str) -> None:
    name, kind, terabytes = line.rsplit(" ", 2)
    (drive, *_) = named_drives(name)
    assert drive.generic == KINDS[kind]
    if terabytes != "-":
        size = drive.capacity or bytes_in_name(name) or written_bytes(name)
        assert size == pytest.approx(float(terabytes) * 1e12)


def test_of_several_models_the_slowest_counts() -> None:
    assert slowest(named_drives("ST2000DM001 + 3x WD20EFRX")) == SLOW
    fields = rules.reading_of(ROW | {"drive_model": "WD4001FAEX, 3x WD40EFRX"}).fields
    assert fields["drive"] == SLOW


def test_numbers_with_units_are_read() -> None:
    row = clean(
        ROW | {"drive_bytes": "4 TB", "alloc_bytes": "1.49T", "fill_fraction": "62%", "rpm": "7200 rpm"}
    )
    assert row["drive_bytes"] == 4 * 10**12
    assert row["alloc_bytes"] == pytest.approx(1.49 * 2**40, rel=1e-9)
    assert row["fill_fraction"] == 0.62
    assert row["rpm"] == 7200.0


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("drive_bytes", 4000),
        ("alloc_bytes", -1),
        ("n_vdevs", 1.5),
        ("frag_percent", 140),
        ("fill_fraction", True),
    ],
)
def test_a_number_that_cannot_be_is_refused_by_its_name(column: str, value: object) -> None:
    with pytest.raises(InputError, match=column):
        rules.reading_of(ROW | {column: value})


def test_more_data_than_a_vdev_holds_are_on_several() -> None:
    fields = rules.reading_of(ROW | {"n_vdevs": None, "alloc_bytes": 60 * 10**12}).fields
    assert fields["layout"] == "4*raidz2x6"


def test_volumes_of_a_controller_with_memory_are_cached() -> None:
    def cache(**changes: str) -> object:
        return rules.reading_of(ROW | changes).fields.get("write_cache")

    assert cache(controller="PERC H710, one-disk RAID-0 volumes") is True
    assert cache(drive_model="HP MM1000GBKAL (1 TB) as single-disk RAID-0") is True
    assert cache(controller="PERC H710", notes="write-through suspected") is False
    assert cache(controller="PERC H310") is False
    assert cache(controller="onboard AHCI") is None


@pytest.mark.parametrize(
    ("changes", "release"),
    [
        ({"zfs_version": "OpenZFS dRAID branch before 2.1 (chart dated 2020-11-25)"}, "openzfs-2.1.0"),
        ({"platform": "FreeBSD", "scan_algorithm": "legacy", "date": "2013-02"}, "freebsd-9.1"),
        ({"platform": "FreeNAS", "scan_algorithm": "legacy", "date": "2014-07"}, "freebsd-9.2"),
        ({"platform": "FreeNAS 9.10", "scan_algorithm": "legacy", "date": "2016-07"}, "freebsd-10.3"),
        ({"platform": "OmniOS", "date": "2021-07"}, "openzfs-0.8"),
        ({"zfs_version": "v0.8.3", "date": "2021-07"}, "openzfs-0.8"),
        ({"platform": "Debian, kernel 5.2.1", "date": "2020-03"}, "openzfs-0.8"),
        ({"zfs_version": "2.9.0"}, "openzfs-2.4"),
    ],
)
def test_releases(changes: dict[str, Any], release: str) -> None:
    assert rules.reading_of(ROW | changes).fields["release"] == release


def test_damaged_rows_are_read_or_refused() -> None:
    generator = random.Random(3)
    read = 0
    for _ in range(600):
        row = dict(ROW)
        for key in generator.sample(sorted(row), generator.randint(1, 6)):
            row[key] = generator.choice(ODD)
        try:
            Scenario.from_dict(rules.reading_of(row).fields)
            read += 1
        except ZsimError:
            continue
        rules.category_of(row)
    assert read > 60


UNSTATED: dict[str, Any] = {"id": "x-2024", "kind": "resilver", "confidence": "low", "drive_bytes": 4e12}


@pytest.mark.parametrize(
    ("row", "layouts"),
    [
        ({}, ["mirror2", "raidz1x4", "raidz2x6"]),
        ({"vdev": "raidz3"}, ["raidz3x8", "raidz3x10", "raidz3x11"]),
        ({"vdev": "raidz2", "pool_size_bytes": 32e12}, ["raidz2x8"]),
        ({"vdev": "raidz2x7"}, ["raidz2x7"]),
        ({"vdev": "stripe (4 drives)", "kind": "scrub"}, ["4*disk"]),
        ({"vdev": "single disk", "kind": "resilver"}, ["mirror2"]),
    ],
)
def test_rows_without_layout_or_redundancy_are_answered(row: dict[str, Any], layouts: list[str]) -> None:
    readings = rules.readings_of(UNSTATED | row)
    assert [each.fields["layout"] for each in readings] == layouts
    for each in readings:
        Scenario.from_dict(each.fields)


@pytest.mark.parametrize("kind", ["sequential_rebuild", "draid_rebuild", "rebuild"])
def test_every_kind_of_rebuild(kind: str) -> None:
    (reading,) = rules.readings_of(UNSTATED | {"kind": kind, "vdev": "mirror2"})
    assert reading.fields["operation"] == "rebuild"
    Scenario.from_dict(reading.fields)


def test_rebuilds_without_a_layout_and_of_what_is_not_rebuilt_sequentially() -> None:
    readings = rules.readings_of(UNSTATED | {"kind": "sequential_rebuild", "vdev": None})
    assert [each.fields["layout"] for each in readings] == ["mirror2", "draid2:8d:24c:2s"]
    assert {each.fields["operation"] for each in readings} == {"rebuild"}
    (raidz,) = rules.readings_of(UNSTATED | {"kind": "sequential_rebuild", "vdev": "raidz2x7"})
    assert raidz.fields["operation"] == "resilver"
    for each in (*readings, raidz):
        Scenario.from_dict(each.fields)


def test_several_layouts_give_one_wide_answer() -> None:
    answers = [{"resilver_s": {"p10": a, "p50": b, "p90": c}, "n": n} for n, (a, b, c) in enumerate(
        [(1.0, 2.0, 4.0), (30.0, 40.0, 90.0), (5.0, 6.0, 7.0)]
    )]  # fmt: skip
    assert combined(answers) == {"resilver_s": {"p10": 1.0, "p50": 6.0, "p90": 90.0}, "n": 2}


@pytest.mark.parametrize(
    ("notes", "use"),
    [
        ("VM images; four drives on one card", "vm-images"),
        ("an NFS datastore", "vm-images"),
        ("qcow2 files of a hypervisor", "vm-images"),
        ("Proxmox, zvols for VMs", "vm-host"),
        ("VM images and containers on Proxmox VE", "vm-host"),
        ("disk images of old computers", None),
    ],
)
def test_images_of_virtual_machines_are_files_and_machines_have_volumes(notes: str, use: str | None) -> None:
    assert use_of(UNSTATED | {"notes": notes}, None) == use
