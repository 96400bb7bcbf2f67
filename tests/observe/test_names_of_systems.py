"""Drives by the names that systems give them: from what an administrator can print there to the model."""

from __future__ import annotations

import json

import pytest

from zsim.observe.devices.asking import drives_command
from zsim.observe.devices.labels import device_of, label_of
from zsim.observe.devices.listings import aliases_of, illumos_drives, lsblk_drives
from zsim.observe.pool_import.given.host_facts import read_host
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.zpool.listing import read_list

STATUS = """  pool: tank
 state: DEGRADED
  scan: resilver in progress since Mon Nov 23 19:02:11 2026
\t10.0T / 14.2T scanned at 1.02G/s, 3.44T / 14.2T issued at 467M/s
\t689G resilvered, 24.24% done, 06:42:01 to go
config:

\tNAME             STATE     READ WRITE CKSUM
\ttank             DEGRADED     0     0     0
\t  raidz1-0       DEGRADED     0     0     0
\t    {0}  ONLINE       0     0     0
\t    {1}  ONLINE       0     0     0
\t    replacing-2  DEGRADED     0     0     0
\t      {2}  OFFLINE      0     0     0
\t      {3}  ONLINE       0     0     0  (resilvering)
\t    {4}  ONLINE       0     0     0

errors: No known data errors

"""
UUIDS = [f"3f0f4d4c-1d5d-4b32-9d11-8c2a1a3a1a0{n}" for n in range(1, 6)]
TREE = """NAME        MODEL                 SIZE PARTUUID
sda         WDC WD40EFRX-68N32N0  3.6T
├─sda1                              2G aaaaaaaa-1d5d-4b32-9d11-8c2a1a3a1a01
└─sda2                            3.6T 3f0f4d4c-1d5d-4b32-9d11-8c2a1a3a1a01
sdb         WDC WD40EFRX-68N32N0  3.6T
└─sdb2                            3.6T 3f0f4d4c-1d5d-4b32-9d11-8c2a1a3a1a02
sdc         WDC WD40EFAX-68JH4N1  3.6T
└─sdc1                            3.6T 3f0f4d4c-1d5d-4b32-9d11-8c2a1a3a1a04
sdd         WDC WD40EFRX-68N32N0  3.6T
└─sdd2                            3.6T 3f0f4d4c-1d5d-4b32-9d11-8c2a1a3a1a05
"""
PAIRS = """/dev/sda2: LABEL="tank" TYPE="zfs_member" PARTUUID="3f0f4d4c-1d5d-4b32-9d11-8c2a1a3a1a01"
/dev/sdb2: LABEL="tank" TYPE="zfs_member" PARTUUID="3f0f4d4c-1d5d-4b32-9d11-8c2a1a3a1a02"
/dev/sdc1: LABEL="tank" TYPE="zfs_member" PARTUUID="3f0f4d4c-1d5d-4b32-9d11-8c2a1a3a1a04"
/dev/sdd2: LABEL="tank" TYPE="zfs_member" PARTUUID="3f0f4d4c-1d5d-4b32-9d11-8c2a1a3a1a05"

NAME MODEL            SIZE
sda  WDC WD40EFRX-68N32N0  3.6T
sdb  WDC WD40EFRX-68N32N0  3.6T
sdc  WDC WD40EFAX-68JH4N1  3.6T
sdd  WDC WD40EFRX-68N32N0  3.6T
"""
QUOTED = """NAME="sda" MODEL="WDC WD40EFRX-68N32N0" SIZE="3.6T" PARTUUID=""
NAME="sda2" MODEL="" SIZE="3.6T" PARTUUID="3f0f4d4c-1d5d-4b32-9d11-8c2a1a3a1a01"
NAME="sdb" MODEL="WDC WD40EFRX-68N32N0" SIZE="3.6T" PARTUUID=""
NAME="sdb2" MODEL="" SIZE="3.6T" PARTUUID="3f0f4d4c-1d5d-4b32-9d11-8c2a1a3a1a02"
NAME="sdc" MODEL="WDC WD40EFAX-68JH4N1" SIZE="3.6T" PARTUUID=""
NAME="sdc1" MODEL="" SIZE="3.6T" PARTUUID="3f0f4d4c-1d5d-4b32-9d11-8c2a1a3a1a04"
"""
NESTED = json.dumps(
    {
        "blockdevices": [
            {
                "name": name,
                "model": f"WDC {model}",
                "size": "3.6T",
                "children": [{"name": f"{name}2", "size": "3.6T", "partuuid": UUIDS[number]}],
            }
            for name, model, number in (("sda", "WD40EFRX-68N32N0", 0), ("sdc", "WD40EFAX-68JH4N1", 3))
        ]
    }
)
LOCKED = [f"gptid/{n}a8ef1f6-7c11-11ea-8c3f-ac1f6b8a1234.eli" for n in range(1, 6)]
GLABEL = """                                      Name  Status  Components
gptid/1a8ef1f6-7c11-11ea-8c3f-ac1f6b8a1234     N/A  da1p2
gptid/2a8ef1f6-7c11-11ea-8c3f-ac1f6b8a1234     N/A  da2p2
gptid/4a8ef1f6-7c11-11ea-8c3f-ac1f6b8a1234     N/A  da3p2
gptid/5a8ef1f6-7c11-11ea-8c3f-ac1f6b8a1234     N/A  da4p2
<ATA WDC WD40EFRX-68N 0A82>        at scbus0 target 0 lun 0 (pass0,da1)
<ATA WDC WD40EFRX-68N 0A82>        at scbus0 target 1 lun 0 (pass1,da2)
<ATA WDC WD40EFAX-68J 0A82>        at scbus0 target 2 lun 0 (pass2,da3)
<ATA WDC WD40EFRX-68N 0A82>        at scbus0 target 3 lun 0 (pass3,da4)
"""
SUN = [f"c1t5000CCA25E4B123{n}d0" for n in range(1, 6)]
ILLUMOS = """c1t5000CCA25E4B1231d0 Soft Errors: 0 Hard Errors: 0 Transport Errors: 0
Vendor: ATA      Product: WDC WD40EFRX-68W Revision: 0A82 Serial No: WD-WCC4E1234567
Size: 4000.79GB <4000787030016 bytes>
Media Error: 0 Device Not Ready: 0 No Device: 0 Recoverable: 0
c1t5000CCA25E4B1232d0 Soft Errors: 0 Hard Errors: 0 Transport Errors: 0
Vendor: ATA      Product: WDC WD40EFRX-68W Revision: 0A82 Serial No: WD-WCC4E1234568
Size: 4000.79GB <4000787030016 bytes>
c1t5000CCA25E4B1234d0 Soft Errors: 0 Hard Errors: 0 Transport Errors: 0
Vendor: ATA      Product: WDC WD40EFAX-68J Revision: 0A82 Serial No: WD-WX12345678
Size: 4000.79GB <4000787030016 bytes>
"""


@pytest.mark.parametrize(
    ("names", "listed"),
    [(UUIDS, TREE), (UUIDS, PAIRS), (UUIDS, QUOTED), (UUIDS, NESTED), (LOCKED, GLABEL), (SUN, ILLUMOS)],
    ids=range(6),
)
def test_the_shingled_replacement_is_found_behind_the_names_of_the_system(
    names: list[str], listed: str
) -> None:
    """It was taken for one like the others: 9 h for what takes days."""
    stated = import_pasted(STATUS.format(*names) + listed).scenario.stated()
    assert (stated["drive"], stated["new_drive"]) == ("wd40efrx", "wd40efax")


PLAIN = """NAME   MAJ:MIN RM  SIZE RO TYPE MOUNTPOINTS
vda    252:0    0   32G  0 disk
├─vda1 252:1    0    1G  0 part /boot
└─vda2 252:2    0   31G  0 part /
vdb    252:16   0  500G  0 disk
vdc    252:32   0  500G  0 disk
vdd    252:48   0  500G  0 disk
vde    252:48   0  500G  0 disk
"""


def test_lsblk_without_options_tells_the_size() -> None:
    text = STATUS.replace("T ", "G ").replace("T\n", "G\n").format("vdb", "vdc", "vdx", "vdd", "vde") + PLAIN
    assert import_pasted(text).scenario.stated()["drive_size"] == 500 * 2**30
    assert [drive.device for drive in lsblk_drives(PLAIN)] == ["vda", "vdb", "vdc", "vdd", "vde"]


CRYPT = """NAME          MAJ:MIN RM   SIZE RO TYPE  MODEL
sda             8:0    0   3.6T  0 disk  ST4000VN008-2DR166
└─tank_a      253:0    0   3.6T  0 crypt
nvme0n1       259:0    0 931.5G  0 disk  Samsung SSD 980
└─nvme0n1p1   259:1    0 931.5G  0 part
  └─cryptroot 253:1    0 931.5G  0 crypt
"""


def test_what_lies_below_a_name_of_the_device_mapper_is_found() -> None:
    assert aliases_of(CRYPT) == {"tank_a": "sda", "cryptroot": "nvme0n1"}


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("nvme0n1p3_crypt", "nvme0n1"),
        ("luks-nvme1n1p4", "nvme1n1"),
        ("/dev/mapper/sdc-crypt", "sdc"),
        ("luks-ata-ST4000VN008-2DR166_ZDH00001-part1", "ata-ST4000VN008-2DR166_ZDH00001"),
        ("dm_crypt-0", "dm_crypt-0"),
        ("luks-6d5f1c9e-aaaa-4b32-9d11-8c2a1a3a1a01", "luks-6d5f1c9e-aaaa-4b32-9d11-8c2a1a3a1a01"),
        ("mpatha", "mpatha"),
    ],
)
def test_the_device_behind_an_encrypted_one(name: str, device: str) -> None:
    assert device_of(name) == device
    assert label_of("luks-6d5f1c9e-aaaa-4b32-9d11-8c2a1a3a1a01").model == ""


def test_encrypted_nvme_drives_are_no_disks() -> None:
    text = STATUS.format("luks-nvme0n1p4", "dm_crypt-1", "dm_crypt-2", "dm_crypt-3", "nvme4n1p3_crypt")
    assert import_pasted(text).scenario.drive == "generic-nvme-ssd"
    text = STATUS.format("luks-nvme0n1p4", "sdb", "sdc", "sdd", "sde")
    assert import_pasted(text).scenario.drive is None


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("sda", "lsblk -o NAME,MODEL,SERIAL,SIZE,ROTA,LOG-SEC,PHY-SEC"),
        (UUIDS[0], "lsblk -o NAME,MODEL,SERIAL,SIZE,ROTA,LOG-SEC,PHY-SEC,PARTUUID"),
        ("gptid/1c9b2d34-aaaa-11e4-bbbb-0025901c2d3e", "geom disk list; glabel status"),
        ("ada0p3", "geom disk list; glabel status"),
        ("c1t5000CCA25E4B1231d0", "iostat -En"),
    ],
)
def test_the_remedy_is_a_command_of_the_system(name: str, command: str) -> None:
    """Solaris has no lsblk, and without PARTUUID it leads from no name of TrueNAS SCALE to a drive."""
    assert drives_command([name, name]) == command
    (note,) = [each for each in import_pasted(STATUS.format(*[name] * 5)).notes if "how large" in each]
    assert f"add the output of {command}; zfs get" in note


def test_a_drive_without_its_first_line_has_no_name() -> None:
    (found,) = illumos_drives(
        "Vendor: HGST     Product: HUS724040ALS640  Revision: A1C4 Serial No: PCJ1234\n"
    )
    assert (found.device, found.model, found.serial, found.size) == (
        "",
        "HGST HUS724040ALS640",
        "PCJ1234",
        None,
    )


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("[root@oss04 ~]# cat /sys/module/zfs/version\n0.8.6-1\n", "openzfs-0.8.6"),
        ("ii  zfsutils-linux 2.1.11-1+deb12u1 amd64        command-line tools\n", "openzfs-2.1.11"),
        ("pve-manager/8.4.1/c1689ccb1065a83b (running kernel: 6.8.12-4-pve)\n", "openzfs-2.2.7"),
        ("pve-manager/8.3.0/c1689ccb1065a83b (running kernel: 6.8.12-4-pve)\n", "openzfs-2.2"),
        ("pve-manager/7.4-3/9002ab8a (running kernel: 5.15.102-1-pve)\n", ""),
        ("FreeBSD nas 14.3-RELEASE FreeBSD 14.3-RELEASE GENERIC amd64\n", "openzfs-2.2.7"),
        ("14.2-RELEASE-p1\n", "openzfs-2.2"),
        ("FreeBSD nas 13.1-RELEASE-p9 GENERIC amd64\n", ""),
        ("FreeBSD nas 9.1-RELEASE GENERIC amd64\n", "freebsd-9.1"),
    ],
)
def test_the_release_by_what_a_host_prints_of_itself(text: str, release: str) -> None:
    """Where nothing told it, the newest release that prints its progress so was taken."""
    assert read_host(text).release == release


@pytest.mark.parametrize(
    ("name", "more", "platform"),
    [
        ("gptid/1c9b2d34-aaaa-11e4-bbbb-0025901c2d3e", "", "freebsd"),
        ("gptid/1c9b2d34-aaaa-11e4-bbbb-0025901c2d3e", "zfs-2.2.4-FreeBSD_g256659204\n", "freebsd"),
        ("c1t5000CCA25E4B1231d0", "", "illumos"),
        ("sda", "", None),
        ("data0", "", None),
        ("sda", "FreeBSD nas 14.3-RELEASE GENERIC amd64\n", "freebsd"),
    ],
)
def test_the_operating_system_by_its_names(name: str, more: str, platform: str | None) -> None:
    assert import_pasted(STATUS.format(*[name] * 5) + more).scenario.platform == platform


def test_the_row_of_a_pool_without_its_header_tells_how_full_it_is() -> None:
    """`zpool list | grep tank`: the pool was sampled from 20 to 80 % full."""
    row = "tank  18.2T  14.2T  4.01T        -         -     4%    78%  1.00x  DEGRADED  -\n"
    stated = import_pasted(STATUS.format("sda", "sdb", "sdc", "sdx", "sdd") + row).scenario.stated()
    assert (stated["alloc"], stated["frag"], stated["drive_size"]) == (15613065114419, 0.04, 5 * 10**12)
    older = "tank  18.2T  14.2T  4.01T         -    78%  1.00x  ONLINE  -\n"
    (found,) = read_list(older)
    assert (found.name, found.space.cap, found.space.frag, found.health) == ("tank", 0.78, None, "ONLINE")
