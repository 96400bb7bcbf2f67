"""Pools on which no scan runs: what has failed, what is asked, and how the last scan ended."""

from __future__ import annotations

import pytest

import zsim
from zsim.base.errors import InputError
from zsim.observe.pool_import.importing import import_pasted

STATUS = """  pool: tank
 state: DEGRADED
  scan: {scan}
config:

\tNAME         STATE     READ WRITE CKSUM
\ttank         DEGRADED     0     0     0
{rows}
errors: No known data errors
"""
DONE = "scrub repaired 0B in 20:11:12 with 0 errors on Sun Nov  8 20:35:13 2026"
SOUND = """\t  raidz1-0   ONLINE       0     0     0
\t    sda      ONLINE       0     0     0
\t    sdb      {b}
\t    sdc      ONLINE       0     0     0
"""


def notes(rows: str, scan: str = DONE) -> str:
    return "\n".join(import_pasted(STATUS.format(scan=scan, rows=rows)).notes)


def test_a_degraded_drive_is_replaced_while_it_is_read() -> None:
    """It was answered as one that is gone, and its risk as without redundancy."""
    text = STATUS.format(scan=DONE, rows=SOUND.format(b="DEGRADED     0     0   114  too many errors"))
    found = import_pasted(text)
    assert (found.scenario.old_drive, found.scenario.replaced_drives) == ("online", 1)
    assert any(
        "sdb is DEGRADED and not replaced yet: its replacement is predicted" in note for note in found.notes
    )
    told = zsim.risk(found.scenario).to_dict()
    assert any("the replaced drive still works" in str(each) for each in told["warnings"])


def test_one_that_is_gone_counts_before_one_that_is_degraded() -> None:
    rows = SOUND.format(b="UNAVAIL      0     0     0").replace("sdc      ONLINE", "sdc      DEGRADED")
    assert import_pasted(STATUS.format(scan=DONE, rows=rows)).scenario.old_drive == "missing"
    sound = import_pasted(STATUS.format(scan=DONE, rows=SOUND.format(b="ONLINE       0     0     0")))
    assert sound.scenario.old_drive is None


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("\tlogs\n\t  sdl    FAULTED      0    12     0  too many errors\n",
         "sdl of logs has failed: a resilver of it"),
        ("\tcache\n\t  sdk    UNAVAIL      0     0     0  cannot open\n",
         "sdk of cache has failed: it is added again"),
    ],
)  # fmt: skip
def test_a_log_or_cache_that_has_failed_is_no_data_drive(section: str, words: str) -> None:
    """Its replacement takes minutes, and a day for a data drive was answered without a word."""
    sound = SOUND.format(b="ONLINE       0     0     0") + section
    assert words in notes(sound)
    assert "What is predicted is the replacement of a data drive" in notes(sound)
    assert "What is predicted" not in notes(sound.replace("sdb      ONLINE", "sdb      FAULTED"))
    healthy = section.replace("FAULTED", "ONLINE").replace("UNAVAIL", "ONLINE")
    assert "has failed" not in notes(SOUND.format(b="ONLINE       0     0     0") + healthy)


def test_a_resilver_that_ended_with_errors_is_told() -> None:
    """The pair stays, and a further pass was predicted without a reason."""
    pair = """\t  raidz1-0       DEGRADED     0     0     0
\t    sda          ONLINE       0     0     0
\t    replacing-1  DEGRADED     0     0     0
\t      sdb        OFFLINE      0     0     0
\t      sdx        ONLINE       0     0    96
\t    sdc          ONLINE      48     0    96
"""
    ended = "resilvered 2.61T in 1 days 03:12:44 with {} on Wed Nov 25 17:40:12 2026"
    told = notes(pair, ended.format("48 errors"))
    assert "the last resilver ended with 48 errors" in told
    assert "such a pass is predicted" in told
    assert "ended with" not in notes(pair, ended.format("0 errors"))
    scrub = notes(SOUND.format(b="ONLINE       0     0     0"), DONE.replace("0 errors", "1 errors"))
    assert "the last scrub ended with 1 error: " in scrub
    assert "further pass" not in scrub


SOLARIS = """resilver in progress since Thu Nov 26 09:00:00 2026
    6.02T scanned out of 8.11T at 612M/s, 59m to go
    {} resilvered"""


def test_a_resilver_without_a_share_that_has_written_collects_no_more() -> None:
    """1.5T resilvered were answered as a scan in which nothing is issued: STUCK, 20 h to go, for an hour."""
    rows = SOUND.format(b="ONLINE       0     0     0  (resilvering)")
    found = zsim.eta(STATUS.format(scan=SOLARIS.format("1.50T"), rows=rows))
    assert found.remaining_s.p50 == pytest.approx(59 * 60, rel=0.3)
    assert not any(note.startswith("STUCK") for note in found.notes)
    collecting = import_pasted(STATUS.format(scan=SOLARIS.format("3.1M"), rows=rows))
    assert collecting.scenario.release == "solaris-11.2"


SUSPENDED = """  pool: tank
 state: SUSPENDED
config:

\tNAME         STATE     READ WRITE CKSUM
\ttank         DEGRADED     0     0     0
\t  raidz1-0   DEGRADED     2    94     0
\t    sda      FAULTED      0     0     0
\t    sdb      ONLINE       3   169     0
\t    sdc      ONLINE       0     0     0
\t  raidz1-1   ONLINE       1     2     0
\t    sdd      ONLINE       3     2     0
"""


def test_a_suspended_pool_is_told_and_a_cut_vdev_has_not_lost_what_another_has() -> None:
    """The drive that is gone was told twice: a cut vdev was given the drives of the one before it."""
    found = import_pasted(SUSPENDED)
    assert str(found.scenario.layout) == "2*raidz1x3"
    assert any(note.startswith("the pool is SUSPENDED") for note in found.notes)
    assert len([note for note in found.notes if "sda of raidz1-0 is FAULTED" in note]) == 1
    with pytest.raises(InputError, match="the pool is suspended: nothing continues"):
        zsim.eta(SUSPENDED)
    with pytest.raises(InputError, match="the pool is UNAVAIL, as more drives are gone than"):
        zsim.eta(SUSPENDED.replace("state: SUSPENDED", "state: UNAVAIL"))


LISTED = """\
NAME          SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT
tank         21.8T  14.2T  7.62T        -         -    11%    65%  1.00x  DEGRADED  -
  raidz2-0   21.8T  14.2T  7.62T        -         -    11%  65.1%      -  DEGRADED
    sda      3.64T      -      -        -         -      -      -      -    ONLINE
    sdb      3.64T      -      -        -         -      -      -      -   UNAVAIL
    sdc      3.64T      -      -        -         -      -      -      -    ONLINE
    sdd      3.64T      -      -        -         -      -      -      -    ONLINE
    sde      3.64T      -      -        -         -      -      -      -    ONLINE
    sdf      3.64T      -      -        -         -      -      -      -    ONLINE
"""


def test_what_is_gone_by_zpool_list_is_told_as_well() -> None:
    found = import_pasted(LISTED)
    assert any("sdb of raidz2-0 is UNAVAIL and not replaced yet: 1 more" in note for note in found.notes)
    assert (found.scenario.old_drive, found.places["sdb"]) == ("missing", (0, 0))
