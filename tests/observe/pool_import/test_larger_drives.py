"""Pools that are made larger drive by drive: data lie on the first part of the drives that are larger."""

from __future__ import annotations

from tests.pastes import status
from zsim.observe.pool_import.importing import ImportedPool, import_pasted
from zsim.prediction.simulated import text_of

DONE = "resilvered 4.73T in 11:00:39 with 0 errors on Sat Nov 22 04:46:15 2025"
HALF_LARGER = """
raidz2-0 DEGRADED
  ata-WDC_WD30EFRX-68AX9N0_WD-WCC1T0000001
  ata-WDC_WD80EFZX-68UW8N0_VK0000001
  replacing-2 DEGRADED
    ata-WDC_WD30EFRX-68AX9N0_WD-WCC1T0000002 OFFLINE
    ata-WDC_WD80EFZX-68UW8N0_VK0000002 (resilvering)
  ata-ST8000DM004-2U9188_ZR000001
  ata-WDC_WD30EFRX-68AX9N0_WD-WCC1T0000003
  ata-WDC_WD30EFRX-68AX9N0_WD-WCC1T0000004
"""
LAST_SMALL_GONE = """
mirror-0 DEGRADED
  ata-ST18000NE000-3G6101_ZVTK0001
  ata-ST8000DM004-2U9188_ZR000001 REMOVED
"""
RUNNING = """resilver in progress since Sat Nov 22 09:57:56 2025
	1.71T / 8.72T scanned at 272M/s, 1.24T / 8.72T issued at 196M/s
	212G resilvered, 14.15% done, 11:10:58 to go"""


def terabytes(size: float) -> int:
    return round(size / 10**12)


def imported(scan: str, tree: str) -> ImportedPool:
    return import_pasted(status(scan, tree))


def test_drives_that_are_larger_already_are_stated_as_exchanged() -> None:
    found = imported(RUNNING, HALF_LARGER)
    told = found.scenario.stated()
    assert told["drive"] == "wd30efrx"
    assert terabytes(told["drive_size"]) == 3
    # The one that is replaced is counted first, and a shingled one that is only read is like any of 5400 rpm.
    assert [(each["drive"], terabytes(each["size"])) for each in told["exchanged"]] == [(2, 8), (3, 8)]
    assert told["exchanged"][1]["model"] == "generic-5400rpm-cmr"
    assert any("only the first part is used until all are" in note for note in found.notes)


def test_drives_of_one_size_are_not_exchanged_nor_is_a_larger_vdev_beside_a_smaller_one() -> None:
    small, large = "ata-WDC_WD30EFRX-68AX9N0_WD-WCC1T000000{}", "ata-WDC_WD80EFZX-68UW8N0_VK000000{}"
    two = "\n".join(
        f"mirror-{number}\n  {name.format(1)}\n  {name.format(2)}"
        for number, name in enumerate((small, large))
    )
    assert imported("none requested", two).scenario.exchanged is None
    assert imported("none requested", two.split("mirror-1")[0]).scenario.exchanged is None


def test_where_the_last_small_drive_is_gone_one_like_the_others_comes() -> None:
    found = imported(DONE, LAST_SMALL_GONE)
    told = found.scenario.stated()
    assert terabytes(told["drive_size"]) == 8
    assert terabytes(told["new_drive_size"]) == 18
    assert [(each["drive"], terabytes(each["size"])) for each in told["exchanged"]] == [(1, 18)]


def test_many_drives_of_one_other_model_are_stated_as_their_number() -> None:
    many = [{"drive": drive, "size": 8 * 10**12} for drive in range(5)]
    assert text_of("exchanged", many) == "5 drives of 8TB"
    assert text_of("exchanged", [*many[:1], {"drive": 7, "model": "mg08aca16"}]) == "0:@8TB; 7:mg08aca16"


def test_scans_with_a_drive_of_another_model_that_has_left_a_mirror_say_nothing_of_the_next() -> None:
    found = imported(DONE, LAST_SMALL_GONE)
    assert not any(each["what"] == "finished" for each in found.scenario.stated()["evidence"])
    assert any("their durations are not used" in note for note in found.notes)
    alike = LAST_SMALL_GONE.replace("ST8000DM004-2U9188_ZR000001", "ST18000NE000-3G6101_ZVTK0002")
    kept = imported(DONE, alike).scenario.stated()
    assert kept["evidence"][0]["what"] == "finished"
