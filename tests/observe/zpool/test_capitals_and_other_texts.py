"""Statuses in capitals throughout, and texts that say too little: each is told what to give instead."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tests.pastes import RAIDZ2, status
from zsim.base.errors import InputError
from zsim.cli.main import cli
from zsim.observe.cleaning import from_capitals
from zsim.observe.pool_import.given.other_texts import other_text
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.zpool.status import read_status
from zsim.planning.eta.reading import read_paste

SORTED = """resilver in progress since Sun Nov 22 08:11:03 2026
\t1.20T / 4.20T scanned at 1.2G/s, 310G / 4.20T issued at 141M/s
\t51G resilvered, 7.20% done, 08:01:40 to go"""
LEGACY = """resilver in progress since Fri Jul  7 19:14:14 2017
\t2.70T scanned out of 4.95T at 146M/s, 4h29m to go
\t915G resilvered, 54.45% done"""


@pytest.mark.parametrize("scan", [SORTED, LEGACY])
def test_a_status_in_capitals_is_read_as_it_was_printed(scan: str) -> None:
    tree = RAIDZ2.replace("{mark}", "(resilvering)").replace("  sda", "  ata-WDC_WD80EFAX-68KNBN0_VGJ7UJRG")
    printed = status(scan, tree) + "\n"
    first, again = (read_paste(each).scans[-1] for each in (printed, printed.upper()))
    assert first == again
    assert [str(import_pasted(each).scenario.layout) for each in (printed, printed.upper())] == [
        "raidz2x6"
    ] * 2
    names = [leaf.name for leaf in read_status(from_capitals(printed.upper()))[0].vdevs[0].leaves()]
    assert names[0] == "ata-WDC_WD80EFAX-68KNBN0_VGJ7UJRG"


def test_a_status_as_printed_is_left_alone() -> None:
    printed = status(SORTED, RAIDZ2.replace("{mark}", ""))
    assert from_capitals(printed) is printed


TEXTS = {
    "zpool wait": "# zpool wait -t resilver tank 10\nreplace  resilver\n 1.53T    1.53T\n",
    "ZED": "Marked.\n    eid: 123\n  class: statechange\n  state: FAULTED\n   pool: tank (0xAB)\n",
    "events": 'Nov 22 2026 08:11:03.1 sysevent.fs.zfs.resilver_start\n        pool = "tank"\n',
    "TrueNAS": "New alerts:\n* Pool tank state is DEGRADED: One or more devices is being resilvered.\n",
    "metrics": '# HELP x\nzfs_pool_health{pool="tank"} 1\n',
    "Unraid": "Subject: Notice [TOWER] - Parity sync / Data rebuild: finished\nAverage speed: 157.6 MB/s\n",
    "mdraid": "Storage Pool 1 (SHR) - Repairing (Checking parity consistency 34.20%)\n",
    "QNAP": "Storage Pool 1\nStatus: Warning (Rebuilding 34%)\nRAID Group 1: RAID 5, Capacity 21.8 TB\n",
    "monitoring": "WARNING POOL: tank DEGRADED, SIZE: 21.8T, USED: 12.4T (57%)|size=21800GB\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_says_too_little_is_told_what_to_give(name: str) -> None:
    told = other_text(TEXTS[name])
    assert told is not None
    assert name in told.reason
    with pytest.raises(InputError) as refused:
        read_paste(TEXTS[name])
    assert refused.value.allowed == told.reason
    if name == "events":
        return  # they tell of scans, and what is wanting is the vdevs
    found = CliRunner().invoke(cli, ["predict", "-"], input=TEXTS[name])
    assert isinstance(found.exception, InputError)
    assert found.exception.allowed == told.reason


def test_what_is_not_known_is_called_nothing() -> None:
    assert other_text("Dear all, my server is slow.\n") is None
