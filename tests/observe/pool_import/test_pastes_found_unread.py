"""What public threads held and was read wrongly: kinds of drives, capacities in words, logs, expansions."""

from __future__ import annotations

import pytest

from tests.pastes import status
from zsim.observe.devices.sentences import said_drives
from zsim.observe.pool_import.given.pool_in_words import as_flags, pool_in_words
from zsim.observe.pool_import.importing import import_pasted
from zsim.planning.eta.reading import read_paste
from zsim.scenario.evidence import RunningScan

ATTACHED = """resilver in progress since Thu Aug 13 18:47:35 2026
\t199G / 199G scanned, 15.5G / 199G issued at 428M/s
\t31.0G resilvered, 7.76% done, 00:07:20 to go"""
MIRROR = """
mirror-0
  ada1p4
  {first} (resilvering)
  {second} (resilvering)
"""
IOSTAT = """
              capacity     operations     bandwidth
pool        alloc   free   read  write   read  write
----------  -----  -----  -----  -----  -----  -----
zroot        199G   229G     25    758  3.11M  42.6M
  mirror-0   199G   229G  3.21K  95.9K   402M  5.38G
    ada1p4      -      -     25    693  3.11M  36.5M
    nda0p4      -      -      0  4.15K    281   403M
    nda1p4      -      -      0  4.41K    305   413M
----------  -----  -----  -----  -----  -----  -----
              capacity     operations     bandwidth
pool        alloc   free   read  write   read  write
----------  -----  -----  -----  -----  -----  -----
zroot        199G   229G  2.89K  8.29K   {rate}   850M
  mirror-0   199G   229G  2.89K  8.29K   {rate}   850M
    ada1p4      -      -  2.89K    383   {rate}  37.1M
    nda0p4      -      -      0  4.00K      0   406M
    nda1p4      -      -      0  3.91K      0   406M
----------  -----  -----  -----  -----  -----  -----
"""


def _attached(first: str = "nda0p4", second: str = "nda1p4", rate: str = "") -> str:
    text = status(ATTACHED, MIRROR.format(first=first, second=second), state="ONLINE")
    return text.replace("tank", "zroot") + (IOSTAT.replace("{rate}", rate) if rate else "")


@pytest.mark.parametrize(
    ("rate", "drive"),
    [("369M", "generic-sata-ssd"), ("1.8G", "generic-nvme-ssd"), ("180M", None), ("", None)],
)
def test_a_drive_that_is_read_faster_than_any_disk_is_none(rate: str, drive: str | None) -> None:
    assert import_pasted(_attached(rate=rate)).scenario.drive == drive


@pytest.mark.parametrize(
    ("first", "second", "drive"),
    [("nda0p4", "nda1p4", "generic-nvme-ssd"), ("nda0p4", "ada2p4", None), ("ada2p4", "ada3p4", None)],
)
def test_new_drives_are_nvme_by_their_names(first: str, second: str, drive: str | None) -> None:
    assert import_pasted(_attached(first, second)).scenario.new_drive == drive


@pytest.mark.parametrize(
    ("line", "size"),
    [
        ("The old 4 TB disks also use a partition for ZFS:", 4_000_787_030_016),
        ("It has my 8TB WD drives in it", 8_001_563_222_016),
        ("A new 16 TB disk and the old drives", None),
        ("We have 40 TB of disks here", None),
        ("I swapped in 18TB drives", None),
    ],
)
def test_the_capacity_of_several_drives_is_said_in_words(line: str, size: int | None) -> None:
    found = [each.model.size for each in said_drives(line)]
    assert [round((each or 0) / 1e12) for each in found] == ([] if size is None else [round(size / 1e12)])


@pytest.mark.parametrize(
    ("words", "alloc"),
    [
        ("6x 4TB raidz2, expansion 50.98% done after 8h", None),
        ("6x 4TB raidz2, expanding 51% done, running for 9 hours", None),
        ("6x 4TB raidz2 expansion 8.11 TiB of 15.9 TiB copied after 9h", "15.9T"),
    ],
)
def test_an_expansion_in_a_sentence_is_no_resilver(words: str, alloc: str | None) -> None:
    said = pool_in_words(words)
    assert said is not None
    assert said.fields["operation"] == "expand"
    assert "an expansion 51 % done" in as_flags(said.fields)
    assert ("alloc" in said.fields) == (alloc is not None)


LOOPS = {
    "journal": "Jan 05 16:18:01 localhost.localdomain zstatus[19366]: zpool status data: 32.6T scanned out of"
    " 67.5T at 1.27G/s, 7h49m to go, 0B repaired, 48.34% done\n",
    "kernel": "# [ 8459.371314] 2019-01-02T18:34:01-0800 zpool status data: 12.7T scanned out of 67.5T at"
    " 1.70G/s, 9h11m to go, 1.55T resilvered, 18.76% done\n",
}


@pytest.mark.parametrize(("name", "kind"), [("journal", "scrub"), ("kernel", "resilver")])
def test_lines_that_a_job_wrote_into_a_log_are_statuses(name: str, kind: str) -> None:
    found = read_paste(LOOPS[name]).scans[-1]
    assert isinstance(found, RunningScan)
    assert found.kind == kind
    assert found.total == pytest.approx(67.5 * 2**40, rel=1e-3)
