"""Sectors that a drive could not read, and how long it tries, from its own report."""

from __future__ import annotations

import json

import pytest

from zsim.observe.devices.reports import smartctl_drives
from zsim.observe.pool_import.importing import import_pasted
from zsim.prediction.api import case_of
from zsim.prediction.evidence.wording import sick_looking
from zsim.scenario.evidence import DriveActivity

STATUS = """  pool: home
 state: DEGRADED
  scan: resilver in progress since Thu Nov 26 09:00:00 2026
\t900G / 2.40T scanned at 250M/s, 310G / 2.40T issued at 86.1M/s
\t310G resilvered, 12.61% done, 07:05:00 to go
config:

\tNAME           STATE     READ WRITE CKSUM
\thome           DEGRADED     0     0     0
\t  mirror-0     DEGRADED     0     0     0
\t    sda        ONLINE       0     0     {errors}
\t    replacing-1  DEGRADED     0     0     0
\t      sdx      UNAVAIL      0     0     0
\t      sdb      ONLINE       0     0     0  (resilvering)

errors: No known data errors
"""
REPORT = """# smartctl -x /dev/{name}
=== START OF INFORMATION SECTION ===
Device Model:     ST3000DM001-1ER166
Serial Number:    Z500000{name}
User Capacity:    3,000,592,982,016 bytes [3.00 TB]
Rotation Rate:    7200 rpm
=== START OF READ SMART DATA SECTION ===
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0033   093   093   010    Pre-fail  Always       -       9128
197 Current_Pending_Sector  0x0012   096   088   000    Old_age   Always       -       {pending}
198 Offline_Uncorrectable   0x0010   096   088   000    Old_age   Offline      -       648
{erc}
"""
LIMIT = "SCT Error Recovery Control:\n           Read:     70 (7.0 seconds)"
OFF = "SCT Error Recovery Control:\n           Read: Disabled"
NONE = "SCT Error Recovery Control command not supported"


def report(name: str = "sda", pending: int = 648, erc: str = NONE) -> str:
    return REPORT.format(name=name, pending=pending, erc=erc)


def test_pending_sectors_of_a_drive_that_is_read_are_evidence() -> None:
    """The only source of a mirror with 648 of them went without a word."""
    found = import_pasted(STATUS.format(errors=0) + report() + report("sdb", 5)).scenario
    seen = [each for each in found.evidence or () if isinstance(each, DriveActivity)]
    assert [(each.drive, each.leaf, each.pending_sectors, each.source) for each in seen] == [
        ("sda", 1, 648, "smartctl")
    ]
    (words,) = sick_looking(case_of(found))
    assert words.startswith("sda has 648 sectors that it could not read (Current_Pending_Sector)")
    assert words.endswith("(--bad-sectors 1:648 says what it costs)")
    none = import_pasted(STATUS.format(errors=0) + report(pending=0)).scenario
    assert not [each for each in none.evidence or () if isinstance(each, DriveActivity)]


def test_they_stand_beside_the_errors_that_zpool_counts() -> None:
    found = import_pasted(STATUS.format(errors=3) + report(pending=1)).scenario
    (seen,) = [each for each in found.evidence or () if isinstance(each, DriveActivity)]
    assert (seen.checksum_errors, seen.pending_sectors, seen.source) == (3, 1, "zpool status")
    errors, pending = sick_looking(case_of(found))
    assert "has shown 3 checksum errors" in errors
    assert "has 1 sector that" in pending


@pytest.mark.parametrize(
    ("first", "second", "erc"), [(LIMIT, LIMIT, 7.0), (LIMIT, OFF, "none"), (NONE, LIMIT, "none")]
)
def test_the_drive_that_tries_longest_tells_the_limit(first: str, second: str, erc: object) -> None:
    text = STATUS.format(errors=0) + report(pending=0, erc=first) + report("sdb", 0, second)
    assert import_pasted(text).scenario.stated()["erc"] == erc
    assert import_pasted(STATUS.format(errors=0) + report(erc="")).scenario.erc is None


def test_the_same_is_read_of_json() -> None:
    told = {
        "json_format_version": [1, 0], "smartctl": {}, "device": {"name": "/dev/sda"}, "model_name": "X",
        "ata_smart_attributes": {"table": [{"id": 5}, {"id": 197, "raw": {"value": 16}}]},
        "ata_sct_erc": {"read": {"enabled": True, "deciseconds": 70}},
    }  # fmt: skip
    (found,) = smartctl_drives(json.dumps(told))
    assert (found.pending, found.recovery) == (16, 7.0)
    (off,) = smartctl_drives(json.dumps(told | {"ata_sct_erc": {"read": {"enabled": False}}}))
    assert off.recovery == 0.0
    (none,) = smartctl_drives(json.dumps(told | {"ata_sct_erc": None, "ata_smart_attributes": None}))
    assert (none.pending, none.recovery) == (None, None)


ROWS = ["sda", "sdb", "sdc", "replacing-3", "sde"]
WIDE = """  pool: home
 state: DEGRADED
  scan: {scan}
config:

\tNAME           STATE     READ WRITE CKSUM
\thome           DEGRADED     0     0     0
\t  raidz2-0     DEGRADED     0     0     0
{rows}
errors: No known data errors
"""
RUNS = "resilver in progress since Thu Nov 26 09:00:00 2026\n\t1T / 4T scanned, 900G / 4T issued at 86.1M/s"
SCRUB = "scrub in progress since Thu Nov 26 09:00:00 2026\n\t4T / 4T scanned, 900G / 4T issued at 86.1M/s"
PAIR = """\t    replacing-3  DEGRADED     0     0     0
\t      sdd      OFFLINE      0     0     0
\t      sdx      ONLINE       0     0     0  (resilvering)
"""


@pytest.mark.parametrize(
    ("scan", "fourth", "leaf"),
    [
        (RUNS, PAIR, 1),
        (RUNS, "\t    sdd        ONLINE       0     0     0  (resilvering)\n", 1),
        ("none requested", "\t    sdd        UNAVAIL      0     0     0\n", 1),
        ("none requested", "\t    sdd        DEGRADED     0     0     0\n", 1),
        ("none requested", "\t    sdd        ONLINE       0     0     0\n", 1),
        (SCRUB, "\t    sdd        UNAVAIL      0     0     0\n", 0),
    ],
)
def test_a_drive_is_counted_as_the_scenario_counts_it_so_that_the_flag_is_taken(
    scan: str, fourth: str, leaf: int
) -> None:
    """The drives that are replaced come first in a scenario: `--slow 0:x3` was named for sda, and refused."""
    rows = "".join(
        fourth
        if name == "replacing-3"
        else f"\t    {name}        ONLINE       {3 * (name == 'sda')}     0     0\n"
        for name in ROWS
    )
    found = import_pasted(WIDE.format(scan=scan, rows=rows)).scenario
    (seen,) = [each for each in found.evidence or () if isinstance(each, DriveActivity) and each.read_errors]
    assert (seen.drive, seen.leaf) == ("sda", leaf)
    if leaf:
        assert case_of(found.replace(slow=f"{seen.leaf}:x3")).scenario.slow


@pytest.mark.parametrize(("states", "cache"), [((0, 0), False), ((1, 1), True), ((0, 1), None), ((0,), None)])
def test_write_caches_that_are_all_alike_are_those_of_the_pool(
    states: tuple[int, ...], cache: bool | None
) -> None:
    """`hdparm -W` names devices, the pool serial numbers: caches that are off counted as on."""
    text = STATUS.replace("sda  ", "ata-ST3000DM001-1ER166_Z501  ").format(errors=0)
    text = text.replace("sdb  ", "ata-ST3000DM001-1ER166_Z502  ")
    for name, state in zip("ab", states, strict=False):
        text += f"\n/dev/sd{name}:\n write-caching =  {state} ({'on' if state else 'off'})\n"
    assert import_pasted(text).scenario.write_cache is cache
