"""Statuses as threads and logs have them: marks before their lines, cut off, of the first releases."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.pastes import status
from zsim.observe.evidence.pool_iostat import read_spaces
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.zpool.listing import read_list
from zsim.observe.zpool.status import read_scan
from zsim.planning.eta.api import eta
from zsim.planning.eta.reading import read_paste
from zsim.planning.eta.wording import as_text
from zsim.scenario.evidence import DriveActivity

SCRUB = """\
scrub in progress since Sun Jun  8 12:43:45 2025
\t4.75T / 12.8T scanned at 327M/s, 3.06T / 12.8T issued at 211M/s
\t0B repaired, 23.87% done, 13:28:54 to go"""
TIB = 2**40


@pytest.mark.parametrize(
    ("first", "other"),
    [("# ", "# "), ("12:20:10.98 ", "12:20:10.98 "), ("[12:20:10] ", "[12:20:11] "),
     ("[  812.114002] ", "[  813.000001] "), ("[CODE]", ""), ("[b]", "[/b]")],
)  # fmt: skip
def test_marks_before_lines_are_none_of_the_status(first: str, other: str) -> None:
    rows = status(SCRUB, "raidz2-0\n  sda\n  sdb\n  sdc\n  sdd", state="ONLINE").split("\n")
    text = "\n".join([first + rows[0], *(other + row for row in rows[1:])]) + ("[/CODE]" if not other else "")
    paste = read_paste(text)
    assert (paste.pool, str(paste.scenario.layout)) == ("tank", "raidz2x4")
    assert paste.scans[-1].issued == pytest.approx(3.06 * TIB)


def test_a_date_before_each_line_says_when_it_was_printed() -> None:
    rows = status(SCRUB, state="ONLINE").split("\n")
    dated = (f"2025-06-08 17:00:0{number % 2}.114 {row}" for number, row in enumerate(rows))
    paste = read_paste("\n".join(dated))
    assert paste.pool == "tank"
    assert paste.at == datetime(2025, 6, 8, 17)


def test_breaks_of_a_page_are_ends_of_lines() -> None:
    text = status(SCRUB, "mirror-0\n  sda\n  sdb", state="ONLINE").replace("\n", "<br />\n")
    paste = read_paste(text)
    assert paste.pool == "tank"
    assert paste.scans[-1].done == pytest.approx(0.2387)


def test_the_first_releases_print_a_share_and_no_time() -> None:
    scan = read_scan(["scrub in progress, 11.12% done, 0h4m to go"])
    assert scan is not None
    assert (scan.function, scan.done, scan.to_go) == ("scrub", pytest.approx(0.1112), 240.0)
    assert scan.form == "legacy"


def test_an_expansion_alone_names_its_vdev() -> None:
    text = (
        "expand: expansion of raidz2-0 in progress since Sun Jun  1 08:08:03 2025\n"
        "\t17.1G / 28.5T copied at 501M/s, 0.06% done, 16:36:03 to go\n"
    )
    assert str(read_paste(text).scenario.layout) == "raidz2x6"
    assert str(read_paste(text.replace("raidz2-0", "raidz1-0")).scenario.layout) == "raidz1x5"


RUNS = """\
resilver in progress since Tue Feb  3 19:53:46 2015
    752G scanned out of 9.6T at 171M/s, 15h2m to go
    47.0G resilvered, 7.65% done"""


@pytest.mark.parametrize("shown", ["", "      12345678 UNAVAIL\n"])
def test_a_pair_that_is_cut_off_is_no_drive_of_its_own(shown: str) -> None:
    tree = f"raidz2-0 DEGRADED\n  sda\n  sdb\n  sdc\n  replacing-3 DEGRADED\n{shown[2:]}"
    text = status(RUNS, tree).partition("\nerrors:")[0]
    found = import_pasted(text)
    # As many as is usual: behind the pair any number of rows is missing.
    assert str(found.scenario.layout) == "raidz2x6"
    assert not any("nothing replaces" in note or "holds up the whole scan" in note for note in found.notes)


@pytest.mark.parametrize(("rate", "known"), [("5.15K", False), ("171M", True)])
def test_a_rate_that_would_take_years_counts_since_an_import(rate: str, known: bool) -> None:
    scan = "resilver in progress since Wed Aug  5 07:44:56 2015\n"
    scan += f"    7.33T scanned out of 27.3T at {rate}/s, (scan is slow, no estimated time)\n"
    scan += "    244G resilvered, 26.89% done"
    paste = read_paste(status(scan))
    assert (paste.scans[-1].scan_rate is not None) == known
    assert (paste.at is not None) == known


def test_an_issued_counter_far_beyond_the_total_tells_nothing() -> None:
    scan = read_scan([
        "scrub in progress since Thu May 23 10:05:14 2019",
        "\t29.8T scanned at 274M/s, 53.6P issued at 493G/s, 32.7T total",
        "\t0B repaired, 168004.70% done, no estimated completion time",
    ])  # fmt: skip
    assert scan is not None
    assert scan.issued == scan.scanned == pytest.approx(29.8 * TIB)
    assert scan.done is None


def test_what_was_written_meanwhile_is_issued_beyond_the_total() -> None:
    scan = read_scan(["scrub in progress since Thu May 23 10:05:14 2019",
                      "\t1.20T scanned at 274M/s, 1.20T issued at 274M/s, 1.00T total"])  # fmt: skip
    assert scan is not None
    assert scan.issued == pytest.approx(1.2 * TIB)


CUT = """\
resilver in progress since Mon Mar 22 07:23:12 {year}
\t18.1T scanned at 2.1G/s, 13.3T issued at 1.5G/s, 20.3T total
\t10.3G resilvered, 65.48% done, 00:07:43 to go"""


@pytest.mark.parametrize(("year", "layout"), [(2021, "2*mirror2"), (2016, "3*mirror2")])
def test_a_status_that_is_cut_off_has_as_many_vdevs_as_drives_of_its_year_hold_it_on(year, layout) -> None:
    text = status(CUT.format(year=year), "mirror-0\n  wwn-0x1111").partition("\nerrors:")[0]
    paste = read_paste(text)
    assert str(paste.scenario.layout) == layout
    assert any("how many vdevs there are" in note and layout in note for note in paste.notes)
    assert paste.scans[-1].kind == "resilver"


def test_a_whole_status_has_the_vdevs_that_it_shows() -> None:
    text = status(CUT.format(year=2021), "mirror-0\n  sda\n  sdb (resilvering)")
    assert str(read_paste(text).scenario.layout) == "mirror2"


IOSTAT = """
              capacity     operations     bandwidth
pool        alloc   free   read  write   read  write
----------  -----  -----  -----  -----  -----  -----
tank        6.00T  12.0T    270      4  32.3M  13.6K
  raidz1-0  3.00T  6.00T    270      4  32.3M  13.6K
    sda         -      -    142      3  8.24M  3.70K
    sdb         -      -    142      3  8.24M  3.70K
    sdc         -      -    142      3  8.24M  3.70K
{more}"""
REST = """\
  raidz1-1  3.00T  6.00T    270      4  32.3M  13.6K
    sdd         -      -    142      3  8.24M  3.70K
    sde         -      -    142      3  8.24M  3.70K
    sdf         -      -    142      3  8.24M  3.70K
logs            -      -      -      -      -      -
  sdg       1.00M  1.00G      0      0      0      0
----------  -----  -----  -----  -----  -----  -----
"""
LONE = "  pool: tank\n state: ONLINE\n scrub: scrub in progress for 10h55m, 23.91% done, 34h46m to go\n"


@pytest.mark.parametrize("more", [REST, ""])
def test_a_table_of_rates_tells_the_space_and_the_vdevs(more: str) -> None:
    found = import_pasted(LONE + IOSTAT.format(more=more))
    assert str(found.scenario.layout) == "2*raidz1x3"
    assert found.scenario.alloc == 6 * TIB
    assert found.scenario.drive_size == pytest.approx(3.3e12, rel=0.02)


def test_pools_without_their_vdevs_are_told_apart() -> None:
    text = IOSTAT.format(more="").split("  raidz1-0")[0]
    text += "rpool        100G   300G      2      4  32.3M  13.6K\n"
    assert [(each.name, each.space.alloc) for each in read_spaces(text)] == [
        ("tank", 6 * TIB), ("rpool", 100 << 30),
    ]  # fmt: skip


def test_a_list_of_pools_outdoes_a_table_of_rates() -> None:
    listed = "NAME   SIZE  ALLOC   FREE   FRAG    CAP  DEDUP  HEALTH  ALTROOT\n"
    listed += "tank  18.0T  7.00T  11.0T    12%    38%  1.00x  ONLINE  -\n"
    assert import_pasted(LONE + IOSTAT.format(more=REST) + listed).scenario.alloc == 7 * TIB


def test_counters_of_which_somebody_left_out_half_are_read() -> None:
    lines = ["scrub in progress since Sat Jul 18 17:04:06 2026", "\t20.0T / 139T scanned, 14.40% done"]
    scan = read_scan(lines)
    assert scan is not None
    assert (scan.scanned, scan.total, scan.form) == (20 * TIB, 139 * TIB, "2.2")


def test_an_answer_says_where_the_counters_tell_nothing() -> None:
    scan = "resilver in progress since Fri Apr  7 23:32:06 2023\n\t16.8T scanned at 144M/s, 16.6"
    answer = eta(f"Sun Apr  9 09:25:45 CEST 2023\n  pool: tank\n state: DEGRADED\n  scan: {scan}")
    assert "do not tell how far it has come" in " ".join(as_text(answer).split())
    assert "nothing was done" not in as_text(answer)


def test_lines_of_a_scan_are_no_rows_of_a_list() -> None:
    text = "NAME     SIZE  ALLOC   FREE  EXPANDSZ   FRAG    CAP  DEDUP  HEALTH  ALTROOT\n"
    text += "mypool   580T   439G   580T         -     0%     0%  1.00x  ONLINE  -\n"
    text += "\t437G scanned out of 439G at 559M/s, 0h0m to go\n\t0B repaired, 99.56% done\n"
    assert not read_list(text)[0].vdevs


SIZES = """
raidz2-0 DEGRADED
  ata-TOSHIBA_HDWN180_X1
  ata-TOSHIBA_HDWN180_X2
  ata-TOSHIBA_HDWN180_X3
  replacing-3 DEGRADED
    ata-WDC_WD2003FZEX-00SRLA0_WD-X4 OFFLINE
    ata-TOSHIBA_HDWG180_X5 (resilvering)
  ata-ST4000VX007-2DT166_X6
"""


@pytest.mark.parametrize(("total", "size"), [("14.3T", 4e12), ("24.3T", 8e12), ("6.1T", 2e12)])
def test_a_drive_too_small_for_what_is_allocated_is_left_out_alone(total: str, size: float) -> None:
    scan = "resilver in progress since Fri Sep 22 12:40:28 2023\n"
    scan += f"\t4.00T scanned at 6.85G/s, 222G issued at 380M/s, {total} total\n"
    found = import_pasted(status(scan + "\t54.7G resilvered, 0.89% done, 18:28:03 to go", SIZES))
    assert found.scenario.drive_size == pytest.approx(size)


UNEVEN = """
mirror-0
  ata-ST4000VN008-2DR166_A1
  ata-ST4000VN008-2DR166_A2
mirror-1
  ata-ST2000DM001-1CH164_B1
  ata-ST2000DM001-1CH164_B2
"""


def test_what_a_resilver_wrote_is_the_share_of_vdevs_of_unequal_drives() -> None:
    text = status(
        "resilvered 2.89T in 09:03:40 with 0 errors on Tue Apr 27 03:38:44 2021", UNEVEN, state="ONLINE"
    )
    fills = import_pasted(text).scenario.vdev_fills
    assert fills is not None
    assert list(fills) == pytest.approx([0.797, 0.399], abs=0.003)


OLD = """
raidz1-0
  ata-SAMSUNG_HD204UI_A1
  ata-SAMSUNG_HD204UI_A2 ONLINE {mark}
  ata-SAMSUNG_HD204UI_A3
"""


def test_a_drive_that_got_next_to_nothing_does_not_tell_what_the_pool_holds() -> None:
    text = status("none", OLD.format(mark="1.26G resilvered"), state="ONLINE")
    text = text.replace("scan: none", "scrub: resilver in progress for 0h51m, 58.65% done, 0h36m to go")
    assert import_pasted(text).scenario.alloc is None
    assert read_paste(text).scans[-1].kind == "heal"
    assert import_pasted(text.replace("1.26G", "512G")).scenario.alloc == pytest.approx(
        3 * 512 * 2**30 / 0.5865, rel=0.01
    )


@pytest.mark.parametrize(("total", "layout"), [("16.8T", "raidz2x5"), ("19.8T", "2*raidz2x5")])
def test_drives_with_a_name_are_as_large_as_that_says(total: str, layout: str) -> None:
    scan = f"resilver in progress since Sun Apr 20 21:33:09 2025\n\t14.6T / {total} scanned at 336M/s,"
    scan += f" 14.6T / {total} issued at 335M/s\n\t2.92T resilvered, 86.72% done, 01:56:22 to go"
    text = status(scan, "raidz2-0\n  ata-WDC_WD40EFPX-68C6CN0_WD-H2").partition("\nerrors:")[0]
    assert str(read_paste(text).scenario.layout) == layout


RAIDZ = "raidz1-0\n  sda\n  sdb\n  sdc\n  {}"
GONE = """
mirror-0 DEGRADED
  ata-ST18000NE000-3G6101_A1
  replacing-1 DEGRADED
    ata-ST8000DM004-2U9188_B1 {state}
    ata-ST18000NE000-3G6101_A2 ONLINE (resilvering)
"""
HALF = "resilver in progress since Sat Nov 22 09:57:56 2025\n\t1.71T / 4.72T scanned at 272M/s, 1.24T / 4.72T"
HALF += " issued at 196M/s\n\t1.24T resilvered, 26.15% done, 05:10:58 to go"


@pytest.mark.parametrize(("state", "drive"), [("REMOVED", "generic-7200rpm-cmr"), ("ONLINE", "st8000dm004")])
def test_a_drive_that_is_gone_is_not_the_one_that_is_read(state: str, drive: str) -> None:
    found = import_pasted(status(HALF, GONE.format(state=state)))
    assert (found.scenario.drive, found.scenario.drive_size) == (drive, pytest.approx(8e12, rel=1e-3))


@pytest.mark.parametrize(
    ("row", "wrote", "kind"),
    [("sdd (resilvering)", "110G", "heal"), ("sdd", "110G", "resilver"),
     ("sdd (resilvering)", "301G", "resilver")],
)  # fmt: skip
def test_a_drive_of_a_raidz_that_stands_alone_was_away_unless_it_is_filled(
    row: str, wrote: str, kind: str
) -> None:
    """A quarter of 1.18 TiB would be on a new drive; one whose pair was detached stands alone too."""
    text = status(HALF.replace("1.24T resilvered", f"{wrote} resilvered"), RAIDZ.format(row), state="ONLINE")
    paste = read_paste(text)
    assert paste.scans[-1].kind == kind
    assert any("NOT A WHOLE DRIVE" in note for note in paste.notes) == (kind == "heal")


def test_a_drive_that_is_attached_to_a_mirror_is_filled() -> None:
    paste = read_paste(status(HALF, "mirror-0\n  sda\n  sdb (resilvering)", state="ONLINE"))
    assert paste.scans[-1].kind == "resilver"


@pytest.mark.parametrize(("end", "kind"), [("", "resilver"), ("\nerrors: No known data errors\n", "heal")])
def test_the_new_drive_of_a_pair_is_filled_where_vdevs_are_left_out(end: str, kind: str) -> None:
    tree = "raidz3-0 DEGRADED\n  replacing-6 DEGRADED\n    sdx OFFLINE\n    sdy (resilvering)\n"
    tree += "".join(f"  sd{name}\n" for name in "abcdef") if end else ""
    scan = "resilver in progress since Sat Aug 16 17:04:48 2025\n\t1.97T scanned at 9.79G/s, 1.55T issued at"
    scan += " 7.71G/s, 3.62T total\n\t30.9G resilvered, 42.85% done, 00:04:34 to go"
    text = status(scan, tree).partition("\nerrors:")[0] + end
    assert read_paste(text).scans[-1].kind == kind


def test_a_pool_whose_errors_cannot_be_listed_is_suspended() -> None:
    text = status(HALF, "mirror-0\n  sda\n  sdb (resilvering)").replace(
        "errors: No known data errors",
        "errors: List of errors unavailable: pool I/O is currently suspended",
    )
    assert any(note.startswith("HALTED: the pool is suspended") for note in read_paste(text).notes)


GSTAT = """\
dT: {span}s  w: 10.000s
 L(q)  ops/s    r/s   kBps   ms/r    w/s   kBps   ms/w   %busy Name
   10    316    316  36079   18.6      0      0    0.0  111.8| sda
    8    316      0      0    0.0    316  34745   17.1   95.0| sdb
"""


@pytest.mark.parametrize(("span", "drives"), [("0.057", 0), ("10.001", 2)])
def test_the_first_milliseconds_of_gstat_tell_nothing(span: str, drives: int) -> None:
    text = status(HALF, "mirror-0\n  sda\n  sdb (resilvering)") + GSTAT.format(span=span)
    found = import_pasted(text)
    assert sum(isinstance(each, DriveActivity) for each in found.scenario.evidence or ()) == drives
    assert any(note.startswith("gstat has shown") for note in found.notes) == (not drives)
