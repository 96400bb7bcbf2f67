"""Drives by their names and by the tools that list them: models, capacities, caches, links."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from zsim.observe.devices.identity import Identity, Inventory
from zsim.observe.devices.labels import device_of, label_of
from zsim.observe.devices.models import model_of
from zsim.observe.devices.reading import READERS
from zsim.observe.devices.reports import smartctl_drives
from zsim.observe.pool_import.find_drives import gone_from_mirror, model_named
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.zpool.vdev_tree import Vdev

OUTPUTS = Path(__file__).parents[1] / "fixtures" / "outputs"
LSBLK = (OUTPUTS / "lsblk.txt").read_text()
LSBLK_PAIRS = (OUTPUTS / "lsblk-pairs.txt").read_text()
LSBLK_JSON = (OUTPUTS / "lsblk-json.json").read_text()
SMARTCTL = (OUTPUTS / "smartctl.txt").read_text()
SMARTCTL_NVME = (OUTPUTS / "smartctl-nvme.txt").read_text()
SMARTCTL_JSON = (OUTPUTS / "smartctl-json.json").read_text()
CAMCONTROL = (OUTPUTS / "camcontrol.txt").read_text()
GEOM = (OUTPUTS / "geom.txt").read_text()
HDPARM = (OUTPUTS / "hdparm.txt").read_text()
SDPARM = """\
    /dev/sdc: SEAGATE   ST4000NM0023      0004
WCE           0  [cha: y, def:  0, sav:  0]
"""
SYSFS = "/sys/block/sda/queue/write_cache:write back\n/sys/block/sdb/queue/write_cache:write through\n"


def read(text):
    inventory = Inventory()
    found = [name for name, reader in READERS.items() if reader.recognises(text)]
    for name in found:
        for listing in READERS[name].read(text, name):
            listing.note_in(inventory)
    return found, inventory


@pytest.mark.parametrize(
    ("name", "device", "model", "serial"),
    [
        ("ata-WDC_WD40EFRX-68N32N0_WD-WCC7K0123456", None, "WDC WD40EFRX-68N32N0", "WD-WCC7K0123456"),
        ("/dev/disk/by-id/ata-ST18000NM000J-2TV103_ZR52ABCD-part1", "ata-ST18000NM000J-2TV103_ZR52ABCD",
         "ST18000NM000J-2TV103", "ZR52ABCD"),
        ("scsi-SATA_WDC_WD40EFRX-68N_WD-WCC7K0123456", None, "WDC WD40EFRX-68N", "WD-WCC7K0123456"),
        ("scsi-SSEAGATE_ST4000NM0023_Z1Z0ABCD", None, "SEAGATE ST4000NM0023", "Z1Z0ABCD"),
        ("nvme-Samsung_SSD_970_EVO_Plus_1TB_S4EWNX0M123456_1", None, "Samsung SSD 970 EVO Plus 1TB",
         "S4EWNX0M123456"),
        ("diskid/DISK-WD-WCC4E0123456p1", "DISK-WD-WCC4E0123456p1", "", "WD-WCC4E0123456"),
        ("diskid/DISK-BTWL318000ED480QGN", "DISK-BTWL318000ED480QGN",
         "INTEL SSD 480 GB", "BTWL318000ED480QGN"),
        ("diskid/DISK-PHYF102500VU1P9DGN", "DISK-PHYF102500VU1P9DGN",
         "INTEL SSD 1.9 TB", "PHYF102500VU1P9DGN"),
        ("gptid/1c9b2d34-aaaa-11e4-bbbb-0025901c2d3e", "1c9b2d34-aaaa-11e4-bbbb-0025901c2d3e", "", ""),
        ("wwn-0x5000c500a1b2c3d4-part1", "wwn-0x5000c500a1b2c3d4", "", ""),
        ("sda1", "sda", "", ""), ("ada0p3.eli", "ada0", "", ""), ("nvme0n1p1", "nvme0n1", "", ""),
        ("c0t5000CCA01A2B3C4Dd0", None, "", ""), ("", "", "", ""),
    ],
)  # fmt: skip
def test_names_of_every_system(name, device, model, serial):
    label = label_of(name)
    assert (label.model, label.serial) == (model, serial)
    assert device_of(name) == (name if device is None else device)


def test_a_world_wide_name_tells_the_vendor():
    assert label_of("wwn-0x5000c500a1b2c3d4").vendor == "Seagate"
    assert label_of("c0t5000CCA01A2B3C4Dd0").vendor == "HGST or WD Ultrastar"
    for name in ("35000cca2530770a0", "35000cca2530770ac1", "dm-uuid-mpath-35000cca2530770a0"):
        assert label_of(name).vendor == "HGST or WD Ultrastar"
    assert label_of("3500").vendor == ""


@pytest.mark.parametrize(
    ("name", "drive", "known", "size"),
    [
        ("WDC WD40EFRX-68N32N0", "wd40efrx", True, 4000787030016),
        ("ST18000NM000J-2TV103", "st18000nm000j", True, 18000207937536),
        ("HGST HUH721212ALE601", "generic-7200rpm-cmr", False, 12 * 10**12),
        ("WDC WD40EZAZ-00SF3B0", "generic-5400rpm-cmr", False, 4 * 10**12),
        ("ST8000DM004-2CX188", "st8000dm004", True, None),
        ("SAMSUNG MZQL23T8HCLS-00A07", "generic-nvme-ssd", False, 3840 * 10**9),
        ("KINGSTON SA400S37240G", "generic-sata-ssd", False, 240 * 10**9),
        ("KINGSTON SKC3000D2048G", "generic-nvme-ssd", False, 2048 * 10**9),
        ("Micron 9300 MTFDHAL12T8TDR", "generic-nvme-ssd", False, 12_800 * 10**9),
        ("MTFDKCC15T3TFR", "generic-nvme-ssd", False, 15_360 * 10**9),
        ("MTFDKCC7T6TFR", "generic-nvme-ssd", False, 7680 * 10**9),
        ("INTEL SSDSC2BB480G4", "generic-sata-ssd", False, 480 * 10**9),
        ("Elements 25A3", None, False, None),
        ("../../etc/passwd.toml", None, False, None),
    ],
)
def test_models_of_the_catalogue_and_by_series(name, drive, known, size):
    found = model_of(name)
    assert (found.drive, found.known) == (drive, known)
    assert size is None or found.size == size


def test_a_catalogue_model_of_another_capacity_is_not_taken():
    assert model_of("Samsung SSD 970 EVO 1TB", 2 * 10**12).known is False


def test_rotation_tells_where_the_series_is_not_known():
    assert model_of("OOS14000G", 14 * 10**12, 7200).drive == "generic-7200rpm-cmr"
    assert model_of("No Name", 10**12, None, True).drive == "generic-sata-ssd"


def test_lsblk_in_columns():
    found, inventory = read(LSBLK)
    assert found == ["lsblk"]
    first = inventory.of("sda1")
    assert (first.model, first.serial, first.rounded) == ("WDC WD40EFRX-68N32N0", "WD-WCC7K0123456", True)
    assert (first.logical, first.physical) == (512, 4096)
    assert inventory.of("sdb").serial == "ZR52ABCD"
    assert inventory.of("sdc").rpm == 0


def test_lsblk_with_all_its_columns():
    others = "  ".join(f"COLUMN-{number:03}" for number in range(60))
    line = "-".ljust(len(others))
    text = f"NAME {others} MODEL                ROTA\nsda  {line} ST4000VN008-2DR166      1\n"
    drives, inventory = read(text)
    assert drives == ["lsblk"]
    assert [(each.device, each.model) for each in inventory.drives] == [("sda", "ST4000VN008-2DR166")]


def test_lsblk_in_pairs_and_json():
    assert [each.device for each in read(LSBLK_PAIRS)[1].drives] == ["sda"]
    assert read(LSBLK_PAIRS)[1].drives[0].size == 4000787030016
    drives = read(LSBLK_JSON)[1].drives
    assert [(each.device, each.model) for each in drives] == [("sda", "ST18000NM000J-2TV103")]


def test_smartctl_names_drive_cache_and_link():
    found, inventory = read(SMARTCTL)
    assert found == ["smartctl"]
    one, other = inventory.drives
    assert (one.device, one.model, one.size, one.rpm) == ("sda", "WDC WD40EFRX-68N32N0", 4000787030016, 5400)
    assert (one.write_cache, one.link, one.link_limit) == (True, 1.5, 6.0)
    assert (other.device, other.model, other.write_cache) == ("sdb", "ST4000NM0023", False)
    assert read(SMARTCTL_NVME)[1].drives[0].size == 1000204886016
    drive = read(SMARTCTL_JSON)[1].drives[0]
    assert (drive.device, drive.link, drive.write_cache) == ("sda", 3.0, False)


def test_freebsd_lists():
    found, inventory = read(CAMCONTROL + GEOM + "gptid/1c9b2d34-aaaa  N/A  ada0p2\n")
    assert found == ["geom disk list", "camcontrol devlist", "names of devices"]
    assert inventory.of("ada0p2").model == "WDC WD40EFRX-68WT0N0"
    assert inventory.of("gptid/1c9b2d34-aaaa").size == 4000787030016
    assert inventory.of("da0").model == "WDC WD40EFRX-68W"
    assert inventory.of("diskid/DISK-WD-WCC4E0123456").rpm == 5400


def test_write_caches():
    inventory = read(HDPARM + SDPARM)[1]
    assert [each.write_cache for each in inventory.drives] == [False, True, False]
    assert inventory.drives[0].size == 4000787 * 10**6
    assert [each.write_cache for each in read(SYSFS)[1].drives] == [True, False]


POOL = """\
  pool: tank
 state: ONLINE
  scan: {scan}
config:

\tNAME          STATE     READ WRITE CKSUM
\ttank          ONLINE       0     0     0
\t  {kind}-0    ONLINE       0     0     0
{rows}

errors: No known data errors
"""


def pool(*names, kind="raidz2", scan="none requested"):
    rows = "\n".join(f"\t    {name}  ONLINE  0 0 0" for name in names)
    return POOL.format(kind=kind, scan=scan, rows=rows)


WD = [f"ata-WDC_WD40EFRX-68N32N0_WD-WCC7K000000{n}" for n in range(4)]


def test_the_model_and_its_capacity_come_from_the_names():
    found = import_pasted(pool(*WD))
    stated = found.scenario.stated()
    assert (stated["drive"], stated["drive_size"]) == ("wd40efrx", 4000787030016)
    assert found.notes[0].startswith("NOT KNOWN: how full the pool is and the record size")


def test_mixed_drives_are_said():
    found = import_pasted(pool(*WD[:3], "ata-ST18000NM000J-2TV103_ZR52ABCD"))
    assert found.scenario.drive == "wd40efrx"
    assert found.scenario.drive_size == 4000787030016
    assert any(
        "of several models (3 x WDC WD40EFRX-68N32N0, 1 x ST18000NM000J-2TV103)" in note
        for note in found.notes
    )


def test_names_that_tell_nothing_are_found_in_the_lists():
    rows = [f'NAME="sd{c}" MODEL="ST18000NM000J-2TV103" SERIAL="ZR52000{n}" SIZE="18000207937536" ROTA="1"'
            for n, c in enumerate("abcd")]  # fmt: skip
    listed = "\n".join(rows)
    by_device = import_pasted(pool("sda", "sdb", "sdc", "sdd") + listed)
    assert by_device.scenario.drive == "st18000nm000j"
    assert "lsblk" in next(each.source for each in by_device.findings if each.field == "drive")
    by_number = import_pasted(pool(*(f"gptid/{n}c9b2d34-aaaa-11e4" for n in range(4))) + listed)
    assert by_number.scenario.drive == "st18000nm000j"
    assert next(each.inferred for each in by_number.findings if each.field == "drive")


def test_of_a_model_that_nobody_knows_the_listed_capacity_is_taken():
    row = 'NAME="{}" MODEL="ACME NOSUCH" SERIAL="{}" SIZE="4000787030016" ROTA="1"\n'
    rows = row.format("sda", 1) + row.format("sdb", 2)
    found = import_pasted(pool("sda", "sdb", kind="mirror") + rows)
    assert found.scenario.stated()["drive_size"] == 4000787030016
    assert "drive" not in found.scenario.stated()


def test_vendor_alone_asks_for_a_list():
    found = import_pasted(pool(*(f"wwn-0x5000c500a1b2c3d{n}" for n in range(4))))
    assert any("show only the vendor (Seagate)" in note for note in found.notes)


def test_a_slow_link_and_a_cache_that_is_off_are_said():
    found = import_pasted(pool("sda", "sdb", kind="mirror") + SMARTCTL)
    assert any("sda is linked at 1.5 of 6 Gb/s, which carries 150 MB/s" in note for note in found.notes)
    assert any("write cache is on in 1 of 2 drives: off" in note for note in found.notes)
    assert found.scenario.write_cache is False


REPLACING = (OUTPUTS / "replacing.txt").read_text()


def test_the_new_drive_is_told_apart_from_the_old_ones():
    stated = import_pasted(REPLACING).scenario.stated()
    assert (stated["drive"], stated["drive_size"]) == ("wd80efax", 8001563222016)
    assert (stated["new_drive"], stated["new_drive_size"]) == ("st18000nm000j", 18000207937536)
    assert stated["old_drive"] == "missing"


def test_a_size_of_the_pool_that_contradicts_the_names_is_said():
    listed = "tank\t8000000000000\t4000000000000\t4000000000000\t-\t-\t5\t50\t1.00\tONLINE\t-\n"
    found = import_pasted(pool(*WD) + listed)
    assert any("by their names, and the size of the pool shows" in note for note in found.notes)
    assert found.scenario.drive_size < 2.1 * 10**12


SMART_SORTED = """{
 "device": {"info_name": "/dev/nvme6", "name": "/dev/nvme6", "protocol": "NVMe", "type": "nvme"},
 "json_format_version": [1, 0],
 "local_time": {"time_t": 1234567890},
 "model_name": "KCD61LUL3T84",
 "nvme_total_capacity": 3840755982336,
 "serial_number": "X0A0A01ATZ38",
 "smartctl": {"version": [7, 2]}
}
"""
SMART_TEXT = """smartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.10.0] (local build)

=== START OF INFORMATION SECTION ===
Model Number:                       Force MP510
Serial Number:                      20338244
Total NVM Capacity:                 480,103,981,056 [480 GB]
NVMe Version:                       1.3
"""


@pytest.mark.parametrize(("text", "size"), [(SMART_SORTED, 3_840_755_982_336), (SMART_TEXT, 480_103_981_056)])
def test_a_drive_that_says_it_is_nvme_is_one_whatever_its_series(text, size):
    (drive,) = smartctl_drives(text)
    found = model_named(drive)
    assert (drive.nvme, found.drive, found.size) == (True, "generic-nvme-ssd", size)
    sata = model_named(replace(drive, nvme=False, device="sda"))
    assert sata.drive is None


@pytest.mark.parametrize(
    ("device", "drive", "size"),
    [
        ("nvme-KCD61LUL3T84_X0A0A01ATZ38", "generic-nvme-ssd", 3_840_000_000_000),
        ("ata-KCD61LUL3T84_X0A0A01ATZ38", None, None),
    ],
)
def test_udev_names_tell_the_bus(device, drive, size):
    label = label_of(device)
    found = model_named(Identity(device=label.device, model=label.model, serial=label.serial))
    assert (found.drive, found.size) == (drive, size)


SAS = """
=== START OF INFORMATION SECTION ===
Vendor:               SEAGATE
Product:              ST16000NM002G
User Capacity:        16,000,900,661,248 bytes [16.0 TB]
Rotation Rate:        7200 rpm
Logical Unit id:      0x5000c500a1b2c3d1
Serial number:        ZL200001
"""


def test_a_drive_is_found_by_its_world_wide_name():
    found = import_pasted(pool(*(f"scsi-35000c500a1b2c3d{n}" for n in range(4))) + SAS)
    assert (found.scenario.drive, found.scenario.drive_size) == ("generic-7200rpm-cmr", 16_000_900_661_248)
    listed = "NAME  MODEL                WWN                  SIZE ROTA\n" + "".join(
        f"sd{c}   ST18000NM000J-2TV103 0x5000c500a1b2c3d{n} 16.4T    1\n" for n, c in enumerate("abcd")
    )
    found = import_pasted(pool(*(f"35000c500a1b2c3d{n}" for n in range(4))) + listed)
    assert found.scenario.drive == "st18000nm000j"


def test_labels_of_freebsd_with_their_directory():
    labels = "    Name  Status  Components\n gpt/zfs0     N/A  ada0p2\n gpt/zfs1     N/A  ada0p3\n"
    found = import_pasted(pool("/dev/gpt/zfs0", "/dev/gpt/zfs1", kind="mirror") + "\n" + labels + GEOM)
    assert found.scenario.drive == "wd40efrx"


COLUMNS = """\
  pool: tank
 state: DEGRADED
  scan: resilver in progress since Sat Oct 11 20:02:17 2025
\t13.6T / 28.1T scanned at 6.12G/s, 3.16T / 28.1T issued at 1.80G/s
\t814G resilvered, 11.25% done, 12:22:48 to go
config:

\tNAME             STATE     READ WRITE CKSUM  SLOW  vendor                model   size     serial  health
\ttank             DEGRADED     0     0     0     -
\t  raidz1-0       DEGRADED     0     0     0     -
\t    sda          ONLINE       0     0     0     0     ATA  WDC WUH721414ALE6L4  12.7T  9LG00001  PASSED
\t    sdb          ONLINE       0     0     0   212     ATA  WDC WUH721414ALE6L4  12.7T  9LG00002  PASSED
\t    replacing-2  DEGRADED     0     0     0     -
\t      sdc        OFFLINE      3     0     0     0       -                     -      -         -       -
\t      sdk        ONLINE       0     0     0     0     ATA  ST16000NM001G-2KK103  14.6T  ZL2A0001  PASSED  (resilvering)

errors: No known data errors
"""  # noqa: E501


def test_columns_of_zpool_status_name_the_drives():
    stated = import_pasted(COLUMNS).scenario.stated()
    assert (stated["drive"], stated["drive_size"]) == ("wuh721414", 14_000_519_643_136)
    assert (stated["new_drive"], stated["new_drive_size"]) == ("st16000nm001g", 16_000_900_661_248)
    assert {"drive": "sdb", "slow_ios": 212}.items() <= stated["evidence"][1].items()


def test_the_devid_of_json_names_the_drives():
    def node(name, kind, **more):
        return {name: {"name": name, "vdev_type": kind, "state": "ONLINE", **more}}

    leaves = [
        node(f"sd{c}", "disk", path=f"/dev/sd{c}1", devid=f"ata-ST18000NM000J-2TV103_ZR52000{c}-part1")
        for c in "abcd"
    ]
    top = node("raidz1-0", "raidz", vdevs={key: leaf for each in leaves for key, leaf in each.items()})
    status = {"name": "tank", "state": "ONLINE", "vdevs": node("tank", "root", vdevs=top)}
    text = json.dumps({"output_version": {"command": "zpool status"}, "pools": {"tank": status}}, indent=1)
    found = import_pasted(text)
    assert found.scenario.drive == "st18000nm000j"


def gone(*names):
    return pool(*names, kind="mirror").replace(f"{names[-1]}  ONLINE", f"{names[-1]}  REMOVED")


def test_nvme_drives_of_which_one_is_gone_are_known_by_those_that_are_listed():
    names = ("nvme-eui.0025385591b0a1c2-part3", "nvme-eui.0025385591b0a1f7-part3")
    assert import_pasted(gone(*names)).scenario.drive == "generic-nvme-ssd"
    disks = "".join(f"sd{c}     ST18000NM000J-2TV103    16.4T    1\n" for c in "abcd")
    listed = (
        f"NAME    MODEL                    SIZE ROTA\nnvme0n1 Samsung SSD 980 PRO 1TB 931.5G    0\n{disks}"
    )
    stated = import_pasted(gone(*names) + listed).scenario.stated()
    assert (stated["drive"], stated["drive_size"]) == ("980-pro-1tb", 1_000_204_886_016)


def test_a_drive_that_is_gone_leaves_it_open_which_of_two_models_the_pool_has():
    listed = (
        "NAME MODEL                 SIZE ROTA\n"
        "sda  WDC WD40EFRX-68N32N0  3.6T    1\nsdb  ST18000NM000J-2TV103 16.4T    1\n"
    )
    found = import_pasted(gone("gptid/aaaa-11e4", "gptid/bbbb-11e4") + listed)
    assert found.scenario.drive is None
    assert any("which of the drives" in note for note in found.notes)


def test_a_solid_state_drive_among_disks_of_another_vendor_does_not_stand_for_them():
    names = [f"35000cca2531d4c0{n}" for n in range(5)]
    found = import_pasted(pool("nvme-Micron_9300_MTFDHAL12T8TDR_21172EAC0001", *names))
    assert found.scenario.drive is None
    assert any("1 of 6 drives are named (Micron 9300 MTFDHAL12T8TDR)" in note for note in found.notes)


def unnamed(sentence):
    names = [f"{n}b808470-cc0c-4d90-abfd-00000000000{n}" for n in range(4)]
    return import_pasted(f"My pool is sick, what now?\n{pool(*names)}\n{sentence}\n")


@pytest.mark.parametrize(
    ("sentence", "drive", "size"),
    [
        ("Drives are 4x WD Red Plus 4TB (WD40EFRX), 32GB RAM, an i3. Thanks!", "wd40efrx", 4000787030016),
        ("All disks are ST18000NM000J, bought in one go.", "st18000nm000j", 18000207937536),
        ("It has 4 \u00d7 12 TB IronWolf in it, 2.2.6 on debian", None, 12 * 10**12),
        ("The other box has 6x WD40EFRX and is fine.", None, None),
        ("I replaced the cable with one of 4x length.", None, None),
        ("64GB RAM and an SSD for the system", None, None),
    ],
)
def test_sentences_name_drives_where_nothing_else_does(sentence, drive, size):
    found = unnamed(sentence)
    assert (found.scenario.drive, found.scenario.drive_size) == (drive, size)
    assert any("those that the text names" in note for note in found.notes) == (size is not None)


def test_names_of_drives_count_before_sentences():
    found = import_pasted(f"{pool(*WD)}\nmy disks are 4x ST18000NM000J\n")
    assert found.scenario.drive == "wd40efrx"


ATTACHED = """\
  pool: tank
 state: ONLINE
  scan: resilver in progress since Tue Nov 24 20:00:00 2026
\t2.10T / 3.02T scanned at 550M/s, 912G / 3.02T issued at 119M/s
\t450G resilvered, 29.5% done, 05:30:03 to go
config:

\tNAME                                  STATE     READ WRITE CKSUM
\ttank                                  ONLINE       0     0     0
\t  mirror-0                            ONLINE       0     0     0
\t    ata-HGST_HDN724040ALE640_PK000001 ONLINE       0     0     0
\t    ata-WDC_WD40EFAX-68JH4N0_WX000004 ONLINE       0     0     0  (resilvering)

errors: No known data errors
"""


def test_a_drive_of_another_model_that_is_resilvered_alone_is_the_new_one():
    found = import_pasted(ATTACHED)
    assert (found.scenario.drive, found.scenario.new_drive) == ("generic-7200rpm-cmr", "wd40efax")
    assert not any("several models" in note for note in found.notes)
    # One like the others was away for a while, or replaced in its place.
    same = import_pasted(ATTACHED.replace("WDC_WD40EFAX-68JH4N0_WX000004", "HGST_HDN724040ALE640_PK000004"))
    assert (same.scenario.drive, same.scenario.new_drive) == ("generic-7200rpm-cmr", None)


def test_a_slow_link_of_the_new_drive_is_said() -> None:
    """And none of a drive of the host that is in no pool."""
    rows = (
        "\t    sdb  ONLINE  0 0 0\n\t    replacing-1  DEGRADED  0 0 0\n"
        "\t      sdx  UNAVAIL  0 0 0\n\t      sda  ONLINE  0 0 0  (resilvering)"
    )
    scan = "resilver in progress since Sat Nov 21 03:00:00 2026"
    found = import_pasted(POOL.format(kind="raidz1", scan=scan, rows=rows) + SMARTCTL)
    assert any("sda is linked at 1.5 of 6 Gb/s" in note for note in found.notes)
    other = import_pasted(pool("sdb", "sdc", kind="mirror") + SMARTCTL)
    assert not any("is linked at" in note for note in other.notes)


RESILVERING = """\
  pool: tank
  scan: resilver in progress since Sat Nov 21 03:00:00 2026
\t1.2T / 4T scanned, 800G / 4T issued at 200M/s
\t300G resilvered, 20.00% done, 04:30:00 to go
config:
\ttank          ONLINE
\t  raidz1-0    ONLINE
\t    sda       ONLINE
\t    sdb       ONLINE
\t    sdc       ONLINE  (resilvering)
"""


@pytest.mark.parametrize(
    ("last", "new"),
    [("ST4000VN008-2DR166", True), ("WDC WD40EFRX-68N32N0", False), ("", False)],
    ids=["another model", "the same", "unknown"],
)
def test_a_drive_alone_is_a_new_one_where_its_model_is_known_as_another(last: str, new: bool) -> None:
    row = 'NAME="{}" MODEL="{}" SERIAL="{}" SIZE="4000787030016" ROTA="1"\n'
    models = ("WDC WD40EFRX-68N32N0", "WDC WD40EFRX-68N32N0", last)
    rows = "".join(row.format(f"sd{c}", model, c) for c, model in zip("abc", models, strict=True) if model)
    found = import_pasted(RESILVERING + rows)
    assert found.scenario.drive == "wd40efrx"
    assert (found.scenario.new_drive is not None) == new
    assert any("2 of 3 drives are named" in note for note in found.notes) == (not last)


RED, RED_SMALL = "ata-WDC_WD40EFRX-68N32N0_WX{}", "ata-WDC_WD20EFRX-68EUZN0_WX{}"
EXOS = "ata-ST4000NM0035-1V4107_ZC{}"
SHINGLED = "ata-WDC_WD40EFAX-68JH4N0_WX{}"


@pytest.mark.parametrize(
    ("kind", "gone", "left", "told"),
    [
        ("mirror", EXOS, (RED, RED), True),
        ("mirror", RED_SMALL, (RED,), True),
        ("mirror", RED, (RED_SMALL,), True),
        ("mirror", SHINGLED, (RED,), True),
        ("mirror", RED, (RED, EXOS), False),
        ("mirror", RED, (), False),
        ("mirror", "sdq", (RED,), False),
        ("mirror", RED, ("sdq",), False),
        ("raidz", EXOS, (RED, RED), False),
        ("root", EXOS, (RED, RED), False),
    ],
)  # fmt: skip
def test_a_drive_of_another_model_has_left_its_mirror(
    kind: str, gone: str, left: tuple[str, ...], told: bool
) -> None:
    name = gone.format("000009")
    rest = [Vdev(each.format(f"00000{number}"), "disk", "ONLINE") for number, each in enumerate(left)]
    old = Vdev(name, "disk", "UNAVAIL")
    sound = Vdev(
        "mirror-1", "mirror", "ONLINE", children=(Vdev(EXOS.format("000008"), "disk", "ONLINE"), *rest)
    )
    top = Vdev(f"{kind}-0", kind, "DEGRADED", children=(*rest, old))
    assert gone_from_mirror([top], Inventory()) == (name if told else "")
    assert gone_from_mirror([sound, top], Inventory()) == (name if told else "")
    assert gone_from_mirror([sound], Inventory()) == ""
