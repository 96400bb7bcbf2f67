"""What ``zfs list`` tells of the drives of a pool, and a command of the drive that is to come."""

from __future__ import annotations

import pytest

from tests.pastes import status
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.pool_import.usable import size_by_datasets
from zsim.observe.zpool.datasets import DatasetSpace, dataset_space
from zsim.observe.zpool.datasets import read as read_list
from zsim.scenario.layout import Layout
from zsim.scenario.releases.capacity import pool_size
from zsim.scenario.releases.profile import load_release

RELEASE = load_release("openzfs-2.3")
TIB, GIB = 2**40, 2**30
ENDED = "scrub repaired 0B in 00:27:05 with 0 errors on Sun Oct 12 00:51:07 2025"
LIST = (
    "NAME   USED  AVAIL  REFER  MOUNTPOINT\ntank  1.11T   663G  16.0G  /tank\ntank/vm  1.0T  663G  1.0T  -\n"
)
TREE = "mirror-0\n  a\n  b OFFLINE\nmirror-1\n  c\n  d"


@pytest.mark.parametrize(
    ("layout", "used", "available", "drive"),
    [
        # Mirrors of 1 TB; as `zfs list` printed them of such pools.
        ("2*mirror2", 1.11 * TIB, 663 * GIB, 1e12),
        # Six drives of 18 TB in raidz2 hold 65.2 TiB of records of 128K, less 128 GiB.
        ("raidz2x6", 40 * TIB, 25.2 * TIB, 18e12),
        ("mirror2", 0.5 * TIB, 0.1 * TIB, None),
    ],
)
def test_used_and_available_tell_the_drives_that_are_sold(
    layout: str, used: float, available: float, drive: float | None
) -> None:
    parsed = Layout.parse(layout)
    found = size_by_datasets(parsed, DatasetSpace("tank", round(used), round(available)), RELEASE)
    assert found == (None if drive is None else pool_size(parsed, round(drive), RELEASE))


def test_the_row_of_a_pool_is_taken_and_none_of_its_datasets() -> None:
    spaces = [each for each in read_list(LIST, "") if isinstance(each, DatasetSpace)]
    assert spaces == [DatasetSpace("tank", round(1.11 * TIB), 663 * GIB)]
    assert dataset_space(spaces, "tank") == spaces[0]
    assert dataset_space(spaces, "pool") is None
    # Two lists that differ are of two moments or two pools of that name.
    assert dataset_space([*spaces, DatasetSpace("tank", TIB, TIB)], "tank") is None


def test_a_list_of_datasets_beside_a_status_gives_drives_and_fill() -> None:
    found = import_pasted(LIST + status(ENDED, TREE)).scenario
    assert found.drive_size == 10**12
    assert found.fill == pytest.approx(0.632, abs=0.001)


def test_a_list_of_another_pool_or_of_one_that_was_renamed_tells_nothing() -> None:
    assert import_pasted(LIST.replace("tank", "pool") + status(ENDED, TREE)).scenario.drive_size is None
    runs = (
        "resilver in progress since Wed Jan  8 12:25:36 2025\n"
        "\t1.69T / 1.7T scanned at 59.5G/s, {}G / 1.7T issued\n\t0B resilvered, 0.00% done"
    )
    tree = TREE.replace("  b OFFLINE", "  replacing-1 DEGRADED\n    b OFFLINE\n    e")
    first = status(runs.format(10), tree).replace("tank", "pool-02")
    assert import_pasted(LIST + first + status(runs.format(90), tree)).scenario.drive_size is None


@pytest.mark.parametrize(
    ("command", "new"),
    [
        ("# zpool replace tank {old} /dev/disk/by-id/ata-WDC_WD8003FFBX-68B9AN0_VYH9LELM\n", "7200rpm"),
        ("# zpool replace tank {old}\n", None),
        ("# zpool replace tank sdq ata-WDC_WD60EFZX-68B3FN0_WD-C81G6HGK\n", None),
    ],
)
def test_a_command_names_the_drive_that_replaces(command: str, new: str | None) -> None:
    drives = [f"ata-WDC_WD60EFZX-68B3FN0_WD-C81{each}" for each in ("G6HGK", "EX39K", "AAAAA", "BBBBB")]
    rows = "\n".join(f"  {name}{' OFFLINE' if not place else ''}" for place, name in enumerate(drives))
    found = import_pasted(status(ENDED, f"raidz2-0\n{rows}") + command.format(old=drives[0])).scenario
    assert (found.new_drive is None) == (new is None)
    if new is not None:
        assert found.new_drive == "generic-7200rpm-cmr"
        assert found.new_drive_size == 8 * 10**12
