"""Statuses as blogs, notes and logs have them: drives that were away, lines alone, vdevs left out, dates."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.pastes import status
from zsim.observe.pool_import.given.assumed import as_status
from zsim.observe.pool_import.importing import import_pasted
from zsim.planning.eta.reading import read_paste
from zsim.prediction.progress.healing import is_open

TIB, GIB = 2**40, 2**30
BEGUN = """\
resilver in progress since Fri Mar  1 22:47:28 2024
\t0B scanned at 0B/s, 0B issued at 0B/s, 58.1T total
\t0B resilvered, 0.00% done, no estimated completion time"""
LONE = "raidz2-0\n  sda\n  sdb\n  sdc\n  sdd ONLINE {mark}\n  sde\n  sdf"
PAIR = "raidz2-0\n  sda\n  sdb\n  sdc\n  replacing-3\n    sdd OFFLINE\n    sdx\n  sde\n  sdf"


@pytest.mark.parametrize(
    ("tree", "kind", "waiting"),
    [
        # Two drives were pulled and came back: the pass is of the one, the other waits for its own.
        (LONE.format(mark="(awaiting resilver)"), "heal", True),
        (LONE.format(mark=""), "heal", False),
        (PAIR, "resilver", False),
        ("mirror-0\n  sda\n  sdb", "resilver", False),
        (LONE.format(mark="") + "\nspecial\nmirror-1\n  sdy\n  sdz", "resilver", False),
    ],
)
def test_before_the_first_byte_a_raidz_without_a_pair_has_a_drive_that_was_away(
    tree: str, kind: str, waiting: bool
) -> None:
    text = status(BEGUN, tree, state="ONLINE").replace("\t  special  ONLINE     0     0     0", "\tspecial")
    paste = read_paste(text)
    assert paste.scans[-1].kind == kind
    assert any(note.startswith("NOT A WHOLE DRIVE") for note in paste.notes) == (kind == "heal")
    assert any(note.startswith("1 drive awaits a resilver") for note in paste.notes) == waiting


def test_a_heal_of_the_first_releases_has_an_open_end_too() -> None:
    """They print a share and bytes by drive, and no total."""
    scan = "resilver in progress for 0h51m, 58.65% done, 0h36m to go"
    tree = "raidz1-0\n  ata-SAMSUNG_HD204UI_A\n  ata-WDC_WD20EARX-00PASB0_B ONLINE 1.26G resilvered\n"
    text = status(scan, f"{tree}  ata-SAMSUNG_HD204UI_C\n", state="ONLINE").replace("  scan:", " scrub:")
    paste = read_paste(text)
    assert paste.scans[-1].total is None
    assert is_open(paste.scans[-1])
    assert any(note.startswith("NOT A WHOLE DRIVE") for note in paste.notes)


def test_a_small_share_and_the_bytes_of_a_drive_tell_what_an_old_pool_holds() -> None:
    scan = "resilver in progress for 0h1m, 1.81% done, 1h11m to go"
    tree = "mirror\n  c8d0s0\n  c9d0s0 ONLINE 2.06G resilvered"
    text = status(scan, tree, state="ONLINE").replace("  scan:", " scrub:")
    assert import_pasted(text).scenario.alloc == pytest.approx(2.06 / 0.0181 * GIB, rel=1e-3)


THIRD = """\
mirror-2 DEGRADED
  da2
  replacing-1 DEGRADED
    6017198632328599818 FAULTED was /dev/da1
    da0
  da3
"""
TWO = """\
resilver in progress since Mon Mar 17 19:04:42 2025
\t283G scanned at 2.86G/s, 184G issued at 1.86G/s, 859G total
\t0B resilvered, 21.39% done, 00:06:03 to go"""


def test_the_number_of_a_vdev_tells_those_that_are_left_out() -> None:
    whole = status(TWO, THIRD)
    cut = whole.partition("\nerrors:")[0]
    paste = read_paste(cut)
    assert str(paste.scenario.layout) == "3*mirror3"
    assert paste.notes[0].startswith("NOT KNOWN: how many vdevs there are")
    # What other vdevs hold counts as issued: nothing says that the new drive is not to be filled.
    assert paste.scans[-1].kind == "resilver"
    # Of a whole status the numbers before it are of vdevs that were removed.
    assert str(read_paste(whole).scenario.layout) == "mirror3"


def test_lines_that_grep_leaves_of_a_loop_are_statuses() -> None:
    lines = ["2.15G resilvered, 5.54% done", "2.19G resilvered, 5.70% done", "38.1G resilvered, 99.95% done"]
    paste = read_paste("> sleep 2\n> done\n" + "\n".join(f"    {line}" for line in lines))
    assert [scan.done for scan in paste.scans] == [0.0554, 0.057, 0.9995]
    assert as_status("a scrub repaired, 10% done") == "a scrub repaired, 10% done"


def test_dates_between_shares_tell_how_long_a_scan_has_run() -> None:
    """5.54 % in ten minutes: it began 20 minutes before 11.08 %."""
    lines = "\t2.15G resilvered, 5.54% done\n{}\n\t4.30G resilvered, 11.08% done\n"
    first, later = "Tue Dec 10 02:40:00 UTC 2013\n", "Tue Dec 10 02:50:00 UTC 2013"
    paste = read_paste(first + lines.format(later))
    assert paste.at == datetime(2013, 12, 10, 2, 50)
    assert [scan.elapsed for scan in paste.scans] == pytest.approx([600.0, 1200.0])
    assert paste.scenario.release is not None
    assert paste.scenario.release.startswith("zol-0.")


@pytest.mark.parametrize(
    ("scan", "more", "release"),
    [
        ("resilvered 1.18M in 00:07:53 with 0 errors on Fri Mar  1 22:59:16 2024", "", "openzfs-2.2"),
        ("scrub repaired 0 in 2 days 00:36:53 with 0 errors on Thu Sep  2 02:36:56 2021", "", "openzfs-2.0"),
        ("scrub repaired 0B in 01:47:49 with 0 errors on Sun Dec 10 11:47:50 2023",
         "remove: Evacuation of mirror in progress since Wed Dec 13 21:18:05 2023\n"
         "\t6.06G copied out of 940G at 98.6M/s, 0.64% done, 2h41m to go\n", "openzfs-2.1"),
        ("resilvered 1.18M in 00:07:53 with 0 errors on Fri Mar  1 22:59:16 2025", "", None),
    ],
)  # fmt: skip
def test_where_no_form_tells_the_release_its_date_does(scan: str, more: str, release: str | None) -> None:
    text = status(scan, "mirror-0\n  sda\n  sdb\nmirror-1\n  sdc\n  sdd", state="ONLINE")
    found = import_pasted(text.replace("config:", f"{more}config:"))
    assert found.scenario.release == release
    assert any("the ZFS release is not shown" in note for note in found.notes) == (release is None)
    beside = import_pasted(text, stated={"release"})
    assert not any("release is" in note or "judging" in note for note in beside.notes)


def test_what_an_expansion_copied_is_what_a_pool_held() -> None:
    scan = "scrub repaired 0B in 22:09:24 with 0 errors on Mon Sep  8 14:20:59 2025"
    text = status(scan, "raidz2-0\n  sda\n  sdb\n  sdc\n  sdd", state="ONLINE")
    told = "expand: expanded raidz2-0 copied 46.0T in 2 days 02:23:56, on Sun Sep  7 16:11:35 2025\nconfig:"
    scenario = import_pasted(text.replace("config:", told)).scenario
    assert (str(scenario.layout), scenario.alloc) == ("raidz2x3+1", pytest.approx(46.0 * TIB))


def test_a_label_before_a_sentence_hides_no_layout() -> None:
    text = (
        "OS: RHEL 7.1\nArray Type: 8x4tb RAIDZ2 SATA spinning rust\n"
        "  scan: scrub in progress since Thu Apr 28 14:24:03 2016\n"
        "    17.1T scanned out of 17.3T at 55.1M/s, 0h54m to go\n    488K repaired, 99.01% done\n"
    )
    assert str(read_paste(text).scenario.layout) == "raidz2x8"


@pytest.mark.parametrize(
    "lines",
    ["\t289G scanned at 488M/s, 18.6G issued at 31.4M/s, 1.49T total\n\t18.6G resilvered, 1.22% done",
     "\t265G scanned out of 1.49T at 33.1M/s, 0h2m to go\n\t265G resilvered, 17.4% done"],
)  # fmt: skip
def test_a_scan_that_writes_all_that_it_issues_is_of_one_mirror(lines: str) -> None:
    begun = "  scan: resilver in progress since Sat Jan 28 14:25:44 2023"
    paste = read_paste(f"=====\n{begun}\n{lines}\n=====\n")
    assert str(paste.scenario.layout) == "mirror2"


SEVERAL = (
    "The pool was setup as a {}:\n  pool: mypool\n  scan: scrub in progress since Thu Jun 22 17:17:26 2017\n"
)
SEVERAL += "\t437G scanned out of 439G at 559M/s, 0h0m to go\n\t0B repaired, 99.56% done\nconfig:\n\n...\n"


@pytest.mark.parametrize(
    ("words", "layout"),
    [("8x 10 disk raidz2", "8*raidz2x10"), ("10 disk raidz2", "raidz2x10"),
     ("2 x 3 disk mirror", "2*mirror3"), ("6 disk mirror", "3*mirror2")],
)  # fmt: skip
def test_a_sentence_tells_how_many_vdevs_are_so_wide(words: str, layout: str) -> None:
    assert str(read_paste(SEVERAL.format(words)).scenario.layout) == layout


@pytest.mark.parametrize(
    ("end", "layout", "said"),
    [
        ("\t    sdd", "raidz2x6", True),
        ("\t    sdd    ONLI", "raidz2x6", True),
        ("\t    sdd    ONLINE", "raidz2x6", True),
        ("\t    sdd    ONLINE  0", "raidz2x6", True),
        ("\t    sdd    ONLINE  0 0 0", "raidz2x4", False),
        ("\tspares\n\t  sdd    AVAIL", "raidz2x3+spare:1", False),
        ("```", "raidz2x3", False),
        ("root@nas:~#", "raidz2x3", False),
    ],
)
def test_a_status_that_ends_in_mid_row_goes_on(end: str, layout: str, said: bool) -> None:
    scan = "resilvered 9.56T in 57h5m with 1 errors on Wed Feb  7 21:00:50 2018"
    text = status(scan, "raidz2-0\n  sda\n  sdb\n  sdc").partition("\nerrors:")[0].rstrip("\n")
    found = import_pasted(f"{text}\n{end}")
    assert str(found.scenario.layout) == layout
    assert any(note.startswith("NOT KNOWN: how many drives raidz2-0 has") for note in found.notes) == said


def test_what_is_written_behind_a_date_is_none_of_it() -> None:
    scan = "resilvered 10.5G in 0 days 00:00:24 with 0 errors on Sat Aug 15 16:44:09 2020    # noqa"
    found = import_pasted(status(scan, "mirror-0\n  sda\n  sdb", state="ONLINE"))
    assert found.progress is not None
    assert found.progress.date == "Sat Aug 15 16:44:09 2020"


def test_a_date_before_the_scan_began_is_of_something_else() -> None:
    scan = """\
scrub in progress since Sat Mar 19 18:08:51 2022
\t37.7G scanned at 1.45G/s, 5.13G issued at 202M/s, 37.7G total
\t0B repaired, 13.60% done, 00:02:45 to go"""
    text = status(scan, "mirror-0\n  sda\n  sdb", state="ONLINE")
    paste = read_paste(f"$ date\nSat 19 Mar 2022 17:13:10 PDT\n{text}")
    assert paste.at == datetime(2022, 3, 19, 18, 9, 17)
