"""Pastes of threads that show rows of drives without their table, and two scans in one text."""

from __future__ import annotations

import pytest

from zsim.planning.eta.reading import read_paste

RUNS = """\
  scan: resilver in progress since Mon Sep 23 23:31:42 2013
    15,2T scanned out of 19,8T at 410M/s, 3h16m to go
    9,31G resilvered, 76,73% done
"""
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
