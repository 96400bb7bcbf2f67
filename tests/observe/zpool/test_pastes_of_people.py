"""Tables as people paste them without what would tell the most: other lines, or the rest of the rows."""

from __future__ import annotations

import pytest

from tests.pastes import status
from zsim.observe.pool_import.importing import ImportedPool, import_pasted

SCRUBBED = "scrub repaired 0B in 08:47:03 with 0 errors on Tue Apr 20 01:22:37 2021"
THREE_SIZES = """
mirror-0 {first}
  ata-WDC_WD40EFRX-68N32N0_WD-WCC7K0000001 {first}
  ata-ST4000VN008-2DR166_ZM410001
mirror-1
  ata-ST4000VN008-2DR166_ZM410002
  ata-WDC_WD40EFRX-68N32N0_WD-WCC7K0000002
mirror-2 {last}
  ata-WDC_WD20EARX-00PASB0_WD-WMAZA0000001 {last}
  ata-ST2000DM001-1CH164_Z1E50001
"""
REBUILD = """resilver (draid3:19d:24c:2s-0) in progress since Mon Jul 24 19:40:55 2023
	334T scanned at 2.13G/s, 306T issued 1.95G/s, 359T total
	13.9T resilvered, 92.97% done, 03:22:35 to go"""


def imported(text: str) -> ImportedPool:
    return import_pasted(text)


@pytest.mark.parametrize(("first", "last", "terabytes"), [("FAULTED", "ONLINE", 4), ("ONLINE", "FAULTED", 2)])
def test_of_vdevs_of_several_sizes_the_one_that_is_repaired_has_its_own(
    first: str, last: str, terabytes: int
) -> None:
    """The smallest of the pool stood for all: 2 TB for a mirror of 4 TB, where ALLOC is not known."""
    found = imported(status(SCRUBBED, THREE_SIZES.format(first=first, last=last)))
    assert round(found.scenario.stated()["drive_size"] / 10**12) == terabytes
    told = any("are taken for all" in note and "mirror-0" in note for note in found.notes)
    assert told == (terabytes == 4)


def test_rows_that_a_rebuild_into_a_distributed_spare_marks_are_no_drives_that_are_replaced() -> None:
    """Three marked rows of a table that is cut off were three replacement drives."""
    rows = "\n".join(f"  0a-{number} (resilvering)" for number in range(4))
    text = status(REBUILD, f"draid3:19d:24c:2s-0 DEGRADED\n{rows}").partition("\nerrors:")[0]
    told = imported(text).scenario.stated()
    assert (told["replace"], told["target"], told["operation"]) == (1, "distributed-spare", "rebuild")


UNNUMBERED = """
raidz2 DEGRADED
  {0}0
  {0}1
  {0}2
  15868252100758834784 UNAVAIL
"""
BY_DRIVE = """
raidz1-0 DEGRADED
  c4t0d0
  c4t1d0
  replacing-2 DEGRADED
    c5t3d0s0/o FAULTED
    c5t3d0 ONLINE 8,26G resilvered
"""


@pytest.mark.parametrize(
    ("tree", "release"),
    [
        (UNNUMBERED.format("ada"), "freebsd-9.2"),
        (UNNUMBERED.format("c0d"), "solaris-11.1"),
        (BY_DRIVE, "solaris-11.1"),
        # Numbers as releases of today print them, and names of drives that tell no system.
        (UNNUMBERED.format("ada").replace("raidz2", "raidz2-0"), None),
        (UNNUMBERED.format("sd"), None),
        (BY_DRIVE.replace("8,26G resilvered", "resilvering"), None),
    ],
)
def test_a_table_alone_may_be_of_a_release_before_vdevs_had_numbers(tree: str, release: str | None) -> None:
    text = status("", tree)
    found = imported("\n".join(line for line in text.splitlines() if "scan:" not in line))
    assert found.scenario.stated().get("release") == release
