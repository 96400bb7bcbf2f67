"""Drives that a mail of ZED names, and those of macOS."""

from __future__ import annotations

import pytest

import zsim
from zsim.base.errors import InputError
from zsim.observe.devices.asking import drives_command
from zsim.observe.devices.macos import diskutil_drives
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.zpool.status import read_status, recognises

MAIL = """\
ZFS device fault for pool 0x0600B76D0B2E72DB on ovh3

The number of I/O errors associated with a ZFS device exceeded
acceptable levels. ZFS has marked the device as faulted.

 impact: Fault tolerance of the pool may be compromised.
    eid: 12619
  class: statechange
  state: FAULTED
   host: ovh3
   time: 2025-06-28 13:26:17+0000
  vpath: /dev/sdb1
  vphys: pci-0000:00:1f.2-ata-2
  vguid: 0xEF1AC8F34C562144
  devid: ata-HGST_HUH721212ALE601_5PG578XF-part1
   pool: 0x0600B76D0B2E72DB
"""
STATUS = """\
  pool: rpool
 state: DEGRADED
  scan: scrub repaired 0B in 10:34:51 with 0 errors on Wed Jul  2 06:45:23 2025
config:

\tNAME        STATE     READ WRITE CKSUM
\trpool       DEGRADED     0     0     0
\t  raidz2-0  DEGRADED     0     0     0
\t    sda     ONLINE       0     0     0
\t    sdb     FAULTED     31     0     0  too many errors
\t    sdc     ONLINE       0     0     0
\t    sdd     ONLINE       0     0     0

errors: No known data errors
"""
LISTED = """\
/dev/disk{n} (external, physical):
   #:                       TYPE NAME                    SIZE       IDENTIFIER
   0:      GUID_partition_scheme                        *4.0 TB     disk{n}
   1:                        ZFS tank                    4.0 TB     disk{n}s1
"""
INFO = """\
   Device Identifier:         disk5
   Device Node:               /dev/disk5
   Whole:                     Yes
   Device / Media Name:       WDC WD40EFRX-68N32N0

   Disk Size:                 4.0 TB (4000787030016 Bytes) (exactly 7814037168 512-Byte-Units)
   Solid State:               No
"""


def test_a_mail_about_a_drive_is_no_status() -> None:
    """Its ``pool:`` and ``state:`` were taken for a pool of that number without a scan."""
    assert not recognises(MAIL)
    with pytest.raises(InputError, match="this ZED e-mail is about one drive"):
        zsim.eta(MAIL)
    with pytest.raises(InputError, match="no file shows the vdevs of the pool"):
        import_pasted(MAIL)


def test_a_mail_beside_a_status_names_the_drive() -> None:
    found = import_pasted(MAIL + STATUS)
    assert found.pool == "rpool"
    assert not any("of the pools" in note for note in found.notes)
    assert found.scenario.drive_size == 12 * 10**12
    assert "12 TB" not in str(import_pasted(STATUS).scenario.drive_size)


def test_a_mail_that_holds_a_status_keeps_it() -> None:
    """ZED puts ``zpool status`` behind its own lines when a scan has ended."""
    ended = f"   eid: 12\n class: scrub_finish\n  host: nas\n  time: 2025-07-02 06:45:23+0200\n{STATUS}"
    assert [each.name for each in read_status(ended)] == ["rpool"]
    fault = MAIL.replace("   pool: 0x0600B76D0B2E72DB\n", "") + STATUS
    assert [each.name for each in read_status(fault)] == ["rpool"]


def test_drives_of_macos_are_read() -> None:
    text = "".join(LISTED.format(n=n) for n in (2, 3, 5)) + INFO
    found = {each.device: each for each in diskutil_drives(text)}
    assert (found["disk2"].size, found["disk2"].rounded) == (4 * 10**12, True)
    assert (found["disk5"].model, found["disk5"].size) == ("WDC WD40EFRX-68N32N0", 4000787030016)
    synthesized = LISTED.format(n=7).replace("external, physical", "synthesized")
    assert not [*diskutil_drives(synthesized)]
    status = STATUS.replace("sda ", "disk2s1").replace("sdb ", "disk3s1").replace("sdc ", "disk5s1")
    scenario = import_pasted(status.replace("sdd ", "disk9s1") + text).scenario
    assert (scenario.drive, scenario.drive_size) == ("wd40efrx", 4 * 10**12)


def test_what_is_not_known_of_them_is_asked_for_by_a_command_of_macos() -> None:
    assert drives_command(["disk2s1", "disk3s1"]) == "diskutil info -all"
    assert drives_command(["media-0A1B2C3D-1111-2222-3333-444455556666"]) == "diskutil info -all"
    assert drives_command(["sda", "sdb"]).startswith("lsblk")
