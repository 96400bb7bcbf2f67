"""Pastes of threads that show rows of drives without their table, and two scans in one text."""

from __future__ import annotations

import pytest

from tests.pastes import status
from zsim.observe.devices.sentences import said_drives
from zsim.planning.eta.reading import read_paste

RUNS = """\
  scan: resilver in progress since Mon Sep 23 23:31:42 2013
    15,2T scanned out of 19,8T at 410M/s, 3h16m to go
    9,31G resilvered, 76,73% done
"""
EIGHT = "raidz3-0 DEGRADED\n" + "".join(f"  sd{each}\n" for each in "abcdefgh")
PAIRS = """\
              ....
            spare-6                                      DEGRADED     0     0     0
              scsi-SATA_WDC_WD30EZRX-00_WD-WMC1T4095404  UNAVAIL      0     0     0
              scsi-SATA_ST3000DM001-9YN_Z1F118BA         ONLINE       0     0     0  (resilvering)
            replacing-7                                  DEGRADED     0     0     0
              scsi-SATA_ST3000DM001-1CH_Z1F2Z9VC         UNAVAIL      0     0     0
              scsi-SATA_ST3000DM001-1CH_Z1F2Z8SM         ONLINE       0     0     0  (resilvering)
"""


def test_rows_without_a_table_tell_the_drives_and_how_many_the_vdev_has() -> None:
    paste = read_paste(RUNS + PAIRS)
    assert str(paste.scenario.layout) == "raidz2x8"
    assert paste.scenario.drive_size == pytest.approx(3e12, rel=0.01)
    assert any("the vdev around spare-6, replacing-7: its row is not shown" in note for note in paste.notes)


def test_rows_whose_indentation_was_lost_and_whose_names_are_escaped_are_read() -> None:
    rows = """\
replacing-2                                UNAVAIL      0     0     0
ata-SAMSUNG\\_HD501LJ\\_S0MUJ13P651726       UNAVAIL      0     0     0
ata-SAMSUNG\\_HD501LJ\\_S0MUJ13P651727       ONLINE       0     0     0  (resilvering)
"""
    paste = read_paste(RUNS.replace("19,8T", "795G").replace("15,2T", "600G") + rows)
    assert str(paste.scenario.layout) == "raidz1x3"
    assert paste.scenario.drive_size == pytest.approx(5e11, rel=0.01)


@pytest.mark.parametrize("pool", ["tank        DEGRADED     0     0     0\n", ""])
def test_a_vdev_without_its_table_is_read_whole(pool: str) -> None:
    rows = "  raidz1-0    DEGRADED     0     0     0\n" + "".join(
        f"    {name}       ONLINE       0     0     0{mark}\n"
        for name, mark in (("sda", ""), ("sdb", "  (resilvering)"), ("sdc", ""), ("sdd", ""))
    )
    runs = RUNS.replace("15,2T", "1,52T").replace("19,8T", "1,98T")
    assert str(read_paste(runs + pool + rows).scenario.layout) == "raidz1x4"


def test_of_two_scans_in_a_text_the_one_that_began_last_runs() -> None:
    now = """\
scan: resilver in progress since Sat Dec 16 09:07:05 2023
10.5T scanned at 0B/s, 10.3T issued at 29.2M/s, 10.5T total
1.41T resilvered, 98.10% done, 01:59:24 to go
"""
    before = """\
scan: resilver in progress since Thu Mar 23 20:51:29 2023
10.1T scanned at 79.2M/s, 9.59T issued at 75.0M/s, 10.2T total
1.31T resilvered, 94.04% done, 02:21:48 to go
"""
    for text in (now + "Typical:\n" + before, before + "Now:\n" + now):
        paste = read_paste(text)
        assert paste.scans[-1].since is not None
        assert paste.scans[-1].since.month == 12
        assert any(note.startswith("an earlier resilver began on") for note in paste.notes)


def test_a_capacity_behind_a_label_and_a_line_with_a_sign_of_more_are_read() -> None:
    told = list(said_drives("Array Type: 8x4tb RAIDZ2 SATA spinning rust\n"))
    assert [(each.count, each.model.size) for each in told] == [(8, 4 * 10**12)]
    # Behind a label an output prints capacities too.
    assert list(said_drives("errors: 2 drives of 4TB\n")) == []
    words = "When expanding a 7x20TB raidz2 to an 8x20TB, zpool status shows it at > 100% done.\n"
    moved = """\
  pool: share
 state: ONLINE
expand: expansion of raidz2-0 in progress since Fri Dec 19 00:39:32 2025
        80.2T / 88.4T copied at 84.6M/s, 90.7% done, 1 days 02:00:00 to go
config:

        NAME    STATE     READ WRITE CKSUM
        share   ONLINE       0     0     0
"""
    scenario = read_paste(words + moved).scenario
    assert (str(scenario.layout), scenario.drive_size) == ("raidz2x7", 20 * 10**12)


@pytest.mark.parametrize(
    ("tree", "drives"),
    [
        # Two of the eight that are shown would be degraded, or there are more.
        ("raidz3-0 DEGRADED\n" + "".join(f"  sd{each}\n" for each in "abcdefgh"), 9),
        (
            "raidz3-0 DEGRADED\n"
            + "".join(f"  sd{each}\n" for each in "abcdefgh")
            + "  replacing-8 DEGRADED",
            9,
        ),
        ("raidz1-0 DEGRADED\n  sda\n  replacing-1 DEGRADED", 5),
    ],
)
def test_a_status_that_lacks_the_rows_of_what_is_replaced_is_cut_off(tree: str, drives: int) -> None:
    runs = """resilver in progress since Thu Apr  8 19:53:32 2021
\t1.10T scanned at 2.78G/s, 112G issued at 290M/s, 2.01T total
\t14.1G resilvered, 5.55% done, 01:07:43 to go"""
    text = status(runs, tree)
    paste = read_paste(text.partition("\nerrors:")[0])
    assert paste.scenario.pool_layout.data[0].children == drives
    assert any("zpool status is cut off inside it" in note for note in paste.notes)
    # With its end the status is whole.
    assert not any("is cut off" in note for note in read_paste(text).notes)


def test_a_table_in_markdown_is_read() -> None:
    rows = (
        ("NAME", "STATE", "READ", "WRITE", "CKSUM"),
        ("---",) * 5,
        ("tank", "DEGRADED", "0", "0", "0"),
        ("raidz1-0", "DEGRADED", "0", "0", "0"),
        ("ata-WDC_WD80EFAX-68KNBN0_VAJDA6VL", "ONLINE", "0", "0", "0"),
        ("ata-WDC_WD80EFAX-68KNBN0_VGJ7UJRG", "ONLINE", "0", "0", "0"),
        ("replacing-2", "DEGRADED", "0", "0", "0"),
        ("ata-WDC_WD80EFZX-68UW8N0_VJH4USWX", "FAULTED", "3", "12", "0"),
        ("ata-WDC_WD80EFZX-68UW8N0_VJH4WB2X", "ONLINE", "0", "0", "0 (resilvering)"),
    )
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    paste = read_paste(table + RUNS.replace("19,8T", "14,4T").replace("15,2T", "8,3T"))
    assert str(paste.scenario.layout) == "raidz1x3"
    assert paste.scenario.drive_size == 8 * 10**12


def test_counters_behind_the_date_in_one_line_are_read() -> None:
    line = (
        "scan: resilver in progress since Tue Sep 10 18:24:11 2024 2.31T / 3.62T scanned at 612M/s,"
        " 1.98T / 3.62T issued at 525M/s 1.01T resilvered, 54.62% done, 00:54:31 to go\n"
    )
    scan = read_paste(f"state: DEGRADED\n{line}").scans[-1]
    assert (scan.done, scan.to_go) == (pytest.approx(0.5462), 3271.0)
    assert scan.issued == pytest.approx(1.98 * 2**40, rel=1e-3)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "ata-INTEL_SSDSC2BB480G4_BTWL318000ED480QGN-part3",
            "ata-INTEL_SSDSC2BB240G7_PHWA645102SH240AGN-part3",
        ),
        # FreeBSD names drives by serial numbers, and Intel's end with the capacity.
        ("diskid/DISK-BTWL318000ED480QGNp3", "diskid/DISK-PHWA645102SH240AGNp3"),
    ],
)
def test_a_smaller_drive_that_is_attached_makes_no_larger_one_of_the_other(first: str, second: str) -> None:
    runs = (
        "resilver in progress since Tue May 15 10:53:08 2018\n"
        "\t89.5M scanned out of 12.0G at 17.9M/s, 0h11m to go\n\t89.3M resilvered, 0.73% done"
    )
    paste = read_paste(status(runs, f"mirror-0\n  {first}\n  {second} (resilvering)", state="ONLINE"))
    assert paste.scenario.drive_size == 480 * 10**9
    assert paste.scenario.exchanged is None
    assert paste.scenario.drive == "generic-sata-ssd"


@pytest.mark.parametrize(
    ("command", "alone"), [("# zpool attach -o ashift=12 -f tank sda3 sdb3\n", True), ("", False)]
)
def test_a_command_tells_that_a_drive_is_attached_to_a_log_mirror(command: str, alone: bool) -> None:
    runs = (
        "resilver in progress since Wed Apr  8 23:23:38 2015\n"
        "\t1.35G scanned out of 347G at 126M/s, 0h46m to go\n\t0 resilvered, 0.39% done"
    )
    text = status(runs, "mirror-0\n  sdc\n  sdd", state="ONLINE")
    logs = """
\tlogs
\t  mirror-1  ONLINE       0     0     0
\t    sda3    ONLINE       0     0     0
\t    sdb3    ONLINE       0     0     0
"""
    paste = read_paste(command + text.replace("\n\nerrors:", f"{logs}\nerrors:"))
    assert paste.log_alone is alone


def test_a_line_of_which_the_rest_is_cut_off_is_not_of_solaris() -> None:
    runs = "scrub in progress since Sun Oct 19 05:51:39 2025\n        3.95T scanned"
    found = read_paste(status(runs, "mirror-0\n  sda\n  sdb", state="ONLINE"))
    assert found.scenario.release != "solaris-11.2"
    named = read_paste(status(runs, "mirror-0\n  c1t0d0\n  c1t1d0", state="ONLINE"))
    assert named.scenario.release == "solaris-11.2"
