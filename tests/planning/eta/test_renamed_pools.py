"""A pool that was renamed between two statuses of one scan."""

from __future__ import annotations

import pytest

from tests.pastes import status
from zsim.base.errors import InputError
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.zpool.status import read_status, under_one_name
from zsim.planning.eta.reading import read_paste

STATUS = status(
    "resilver in progress since Fri Nov 27 05:30:00 2026\n"
    "\t5.00T / 5.00T scanned, 2.10T / 5.00T issued at 188M/s\n"
    "\t350G resilvered, 42.00% done, 04:24:00 to go",
    "mirror-0\n  sda\n  sdb (resilvering)",
    state="ONLINE",
)
LATER = STATUS.replace("tank", "data").replace("2.10T", "2.60T").replace("42.00%", "52.00%")


def test_two_statuses_of_one_scan_are_of_one_pool_whatever_its_name() -> None:
    paste = read_paste(STATUS + LATER)
    assert paste.pool == "data"
    assert [scan.done for scan in paste.scans] == [0.42, 0.52]
    assert import_pasted(STATUS + LATER).pool == "data"
    assert read_paste(STATUS + LATER, pool="tank").pool == "tank"


@pytest.mark.parametrize(
    "other",
    [LATER.replace("05:30", "06:30"), LATER.replace("sdb", "sdc"), LATER.replace("resilver in", "scrub in")],
)
def test_other_drives_or_another_scan_are_of_another_pool(other: str) -> None:
    with pytest.raises(InputError, match="scans run on data, tank"):
        read_paste(STATUS + other)


def test_a_name_that_comes_back_is_the_last() -> None:
    names = [each.name for each in under_one_name(read_status(STATUS + LATER + STATUS))]
    assert names == ["tank"] * 3
