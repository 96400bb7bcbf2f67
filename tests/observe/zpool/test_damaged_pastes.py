"""Statuses as forums, blogs and mails show them: cut off, without headings, seconds old, past their total."""

import pytest

import zsim
from zsim.observe.pool_import.importing import import_pool
from zsim.planning.eta.reading import read_paste
from zsim.planning.eta.reasons import PAST_TOTAL
from zsim.planning.eta.records import Span, later
from zsim.prediction.progress.moments import overshoot
from zsim.scenario.evidence import RunningScan

HEAD = """\
  pool: tank
 state: DEGRADED
  scan: {scan}
"""
ROWS = """
        NAME        STATE     READ WRITE CKSUM
        tank        DEGRADED     0     0     0
          raidz2-0  DEGRADED     0     0     0
            sda     ONLINE       0     0     0
            sdb     ONLINE       0     0     0
            sdc     ONLINE       0     0     0
            sdd     UNAVAIL      0     0     0
            sde     ONLINE       0     0     0
"""
MIRRORS = """\
config:

\tNAME          STATE     READ WRITE CKSUM
\ttank          DEGRADED     0     0     0
\t  mirror-0    DEGRADED     0     0     0
\t    sda       ONLINE       0     0     0  (resilvering)
\t    sdb       DEGRADED     0     0     0  too many errors
\t  mirror-1    ONLINE       0     0     0
\t    sdc       ONLINE       0     0     0
\t    sdd       ONLINE       0     0     0
\t  mirror-2    ONLINE       0     0     0
\t    sde       ONLINE       0     0     0
\t    at"""
RUNS = (
    "resilver in progress since Sat May 12 19:45:12 2018\n"
    "\t6.18T scanned at 644M/s, 4.26T issued at 444M/s, 6.42T total\n"
    "\t123G resilvered, 66.46% done, 0 days 01:24:38 to go"
)


def imported(tmp_path, text):
    (tmp_path / "status.txt").write_text(text)
    return import_pool([tmp_path / "status.txt"])


def test_a_table_without_its_heading_is_read(tmp_path):
    found = imported(tmp_path, HEAD.format(scan="none requested") + ROWS)
    assert str(found.scenario.layout) == "raidz2x5"
    assert found.scenario.old_drive == "missing"


def coloured(text):
    return text.replace("DEGRADED", "\x1b[33mDEGRADED\x1b[0m").replace("ONLINE", "\x1b[1;32mONLINE\x1b[0m")


def in_page(text):
    return f'<p>Look:</p><pre class="lang-none"><code>{text}</code></pre>&amp; so on'.replace(
        "  sda", "&nbsp; sda"
    )


@pytest.mark.parametrize("as_shown", [coloured, in_page])
def test_marks_of_terminals_and_pages_are_left_out(tmp_path, as_shown):
    text = HEAD.format(scan="none requested") + "config:\n" + ROWS + "\nerrors: No known data errors\n"
    found = imported(tmp_path, as_shown(text))
    assert str(found.scenario.layout) == "raidz2x5"
    assert found.pool == "tank"


@pytest.mark.parametrize(
    ("scan", "release"),
    [
        ("scrub repaired 0B in 8h33m with 0 errors on Mon Jul 12 09:03:55 2021", "zol-0.7"),
        ("scrub repaired 0 in 8h33m with 0 errors on Mon Jul 12 09:03:55 2021", "zol-0.6.5"),
        ("scrub repaired 10B in 8h33m with 0 errors on Mon Jul 12 09:03:55 2021", "zol-0.7"),
    ],
)
def test_bytes_with_their_unit_tell_the_release(tmp_path, scan, release):
    assert imported(tmp_path, HEAD.format(scan=scan) + ROWS).scenario.release == release


def test_a_vdev_that_is_cut_off_is_like_the_others(tmp_path):
    found = imported(tmp_path, HEAD.format(scan=RUNS) + MIRRORS)
    assert str(found.scenario.layout) == "3*mirror2"
    assert any("cut off inside mirror-2" in note for note in found.notes)
    found = imported(tmp_path, HEAD.format(scan=RUNS) + MIRRORS.rsplit("\n", 1)[0] + "\n\nerrors: none\n")
    assert str(found.scenario.layout) == "3*mirror2"
    assert found.notes[0].startswith("NOT KNOWN: how many drives mirror-2 has (zpool status shows 1 drive:")


def test_a_source_that_is_degraded_is_named(tmp_path):
    notes = imported(tmp_path, HEAD.format(scan=RUNS) + MIRRORS).notes
    assert [note for note in notes if note.startswith("sdb is DEGRADED (too many errors)")]


@pytest.mark.parametrize(
    ("names", "drive"),
    [
        (("wwn-0x5002538c40396d69", "wwn-0x5002538c40396d63"), "generic-sata-ssd"),
        (("wwn-0x5002538c40396d69", "wwn-0x5000c500b4ed3a2d"), None),
        (("wwn-0x5002538c40396d69", "sdb"), None),
        (("wwn-0x50024e9201234567", "wwn-0x50024e9201234568"), None),
    ],
)
def test_names_of_a_vendor_of_solid_state_drives_tell_the_class(tmp_path, names, drive):
    rows = "".join(f"\t    {name}  ONLINE  0  0  0\n" for name in names)
    table = f"config:\n\n\tNAME  STATE\n\ttank  ONLINE  0  0  0\n\t  mirror-0  ONLINE\n{rows}"
    assert imported(tmp_path, HEAD.format(scan="none requested") + table).scenario.drive == drive


LEGACY = """\
  pool: tank
 state: ONLINE
  scan: resilver in progress since Tue Feb 26 14:08:38 2013
    {progress}, (scan is slow, no estimated time)
    {resilvered} resilvered, {percent}% done
config:

        NAME        STATE     READ WRITE CKSUM
        tank        ONLINE       0     0     0
          mirror-0  ONLINE       0     0     0
            ada0    ONLINE       0     0     0
            ada1    ONLINE       0     0     0  (resilvering)

errors: No known data errors
"""


def test_a_scan_that_has_not_begun_tells_no_pace():
    # One byte after a second, as zpool prints before the first txg: at that rate 150,000 years.
    found = zsim.eta(LEGACY.format(progress="1 scanned out of 1.53T at 1/s", resilvered=0, percent="0.00"))
    assert found.pace is None
    assert found.remaining_s.p90 < 30 * 86400.0
    assert "zpool gives no estimate." in str(found)
    assert found.at is None


def test_what_no_calendar_has_is_no_date():
    scan = read_paste(LEGACY.format(progress="1 scanned out of 1.53T at 1/s", resilvered=0, percent="0.00"))
    assert later(scan.at, 1e13) is None
    assert Span(1.0, 2.0, 1e13).since(scan.at)["p90"] is None
    assert Span(1.0, 2.0, 1e13).since(None) == {"p10": None, "p50": None, "p90": None}


def test_a_scan_past_its_total_is_not_over_at_once():
    text = LEGACY.format(progress="1.55T scanned out of 1.53T at 44M/s", resilvered="1.5T", percent="101.31")
    found = zsim.eta(text)
    # 1.3 % beyond the total after 10 h: minutes, not microseconds, and not known to the second.
    assert 60.0 < found.remaining_s.p50 < 3600.0
    assert found.remaining_s.p90 > 3.0 * found.remaining_s.p10
    assert found.zpool_why in ("", PAST_TOTAL)
    at_total = zsim.eta(text.replace("1.55T scanned", "1.53T scanned").replace("101.31", "100.00"))
    assert at_total.remaining_s.p50 < found.remaining_s.p50


@pytest.mark.parametrize(
    ("form", "counters", "share"),
    [
        ("legacy", {"scanned": 103, "issued": 5}, 0.03),
        ("legacy", {"scanned": 97}, 0.0),
        ("rebuild", {"scanned": 300, "issued": 5}, 1.0),
        ("0.8-2.1", {"scanned": 100, "issued": 110}, 0.1),
        ("2.2+", {"scanned": 100, "issued": 55, "total_issue": 50}, 0.1),
        ("2.2+", {"scanned": 100}, 0.0),
    ],
)
def test_overshoot_is_of_the_counter_that_the_release_compares(form, counters, share):
    scan = RunningScan(kind="resilver", format=form, total=100, **counters)
    assert overshoot(scan) == pytest.approx(share)


UNHEALTHY = """
config:

\tNAME            STATE     READ WRITE CKSUM
\ttank            DEGRADED     0     0     0
\t  {vdev}        DEGRADED     0     0     0
\t    replacing-1 DEGRADED     0     0     0
\t      sdd/old   FAULTED     40     0     0  too many errors
\t      sdd       ONLINE       0     0     0  (resilvering)

errors: No known data errors
"""


def test_a_draid_of_which_only_sick_drives_are_shown_is_known_by_its_name(tmp_path):
    found = imported(tmp_path, HEAD.format(scan=RUNS) + UNHEALTHY.format(vdev="draid2:11d:53c:1s-0"))
    assert str(found.scenario.layout) == "draid2:11d:53c:1s"
    assert found.scenario.release == "openzfs-2.1"  # the progress is in the form of 0.8, which has no dRAID
    assert any("shows 1 of the 53 drives" in note for note in found.notes)


@pytest.mark.parametrize(
    ("vdev", "assumed"), [("raidz2-1", "raidz2x6"), ("raidz1-0", "raidz1x5"), ("mirror-0", "mirror2")]
)
def test_a_status_that_leaves_out_healthy_drives_says_so(tmp_path, vdev, assumed):
    text = HEAD.format(scan=RUNS) + UNHEALTHY.format(vdev=vdev)
    found = imported(tmp_path, text)
    assert str(found.scenario.layout) == str(read_paste(text).scenario.layout) == assumed
    assert "(no healthy drive is shown)" in found.notes[0]
    assert found.notes[0].endswith("are assumed: give zpool status without -e, which leaves those out")


OF_08 = "1T scanned at 1G/s, 512G issued at 512M/s, 2T total"
OF_22 = "1T / 2T scanned, 512G / 2T issued at 512M/s"


@pytest.mark.parametrize(
    ("scan", "year", "release"),
    [
        (OF_08, 2019, "0.8"),
        (OF_08, 2021, "2.0"),
        (OF_08, 2025, "2.1"),
        (OF_22, 2023, "2.2"),
        (OF_22, 2025, "2.3"),
    ],
)
def test_no_release_is_taken_that_was_not_in_use(tmp_path, scan, year, release):
    begun = f"resilver in progress since Mon Jun 22 12:58:29 {year}"
    lines = f"{begun}\n\t{scan}\n\t1G resilvered, 25.00% done, 2 days 01:02:03 to go"
    whole = LEGACY.format(progress="SCAN", resilvered="1G", percent="25.00")
    begin, end = whole.index("resilver in progress"), whole.index("config:")
    text = f"{whole[:begin]}{lines}\n{whole[end:]}"
    assert imported(tmp_path, text).scenario.release == f"openzfs-{release}"
