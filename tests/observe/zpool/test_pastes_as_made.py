"""Statuses as people paste them: in one line, with drives left out, with words of their own beside them."""

import math

import pytest

from tests import pastes
from zsim.cli.main import main
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.zpool.status import read_scan, read_status
from zsim.planning.eta.reading import read_paste
from zsim.prediction.api import case_of
from zsim.prediction.courses import retries
from zsim.prediction.evidence.wording import sick_looking
from zsim.prediction.progress.course import Course, straight
from zsim.prediction.progress.pace import discrepancy_of

STATUS = """\
  pool: tank
 state: DEGRADED
  scan: resilver in progress since Wed Jun 18 21:10:09 2025
\t{counters}
\t{wrote} resilvered, 3.45% done, 2 days 06:14:44 to go
config:

\tNAME             STATE     READ WRITE CKSUM
\ttank             DEGRADED     0     0     0
{rows}
errors: No known data errors
"""
ELIDED = """\
\t  raidz2-0       DEGRADED     0     0     0
\t    sda          ONLINE       0     0     0
\t    sdb          ONLINE       0     0     0
\t    [...]
\t    replacing-7  DEGRADED     0     0     0
\t      sdh        REMOVED      0     0     0
\t      sdi        ONLINE       0     0     0  (resilvering)
"""
RUNS = "19.8T / 61.2T scanned at 2.91G/s, {issued} / 61.2T issued at 317M/s"


def status(rows: str, issued: str = "2.11T", wrote: str = "264G") -> str:
    return STATUS.format(counters=RUNS.format(issued=issued), wrote=wrote, rows=rows)


@pytest.mark.parametrize(
    ("issued", "wrote", "layout"), [("2.11T", "264G", "raidz2x8"), ("2.64T", "264G", "raidz2x10"),
                                    ("1.06T", "264G", "raidz2x8"), ("2.11T", "12M", "raidz2x8")],
)  # fmt: skip
def test_drives_that_were_left_out_are_counted_by_the_name_of_a_pair(issued, wrote, layout):
    found = import_pasted(status(ELIDED, issued, wrote))
    assert str(found.scenario.layout) == layout
    assert found.notes[0].startswith("NOT KNOWN: how many drives raidz2-0 has: 3 are shown")
    assert found.scenario.replaced_drives == 1


def test_a_pair_within_the_drives_shown_says_nothing():
    whole = ELIDED.replace("[...]", "sdc          ONLINE       0     0     0").replace(
        "replacing-7", "replacing-3"
    )
    found = import_pasted(status(whole))
    assert str(found.scenario.layout) == "raidz2x4"
    assert not any("by the name of a pair" in note for note in found.notes)


UNHEALTHY = """\
\t  draid2:11d:53c:1s-0  DEGRADED     0     0     0
\t    spare-0            DEGRADED     0 1.68K     0
"""


def test_vdevs_that_are_left_out_are_counted_by_what_is_to_be_issued():
    counters = "1.38P / 1.38P scanned, 144T / 177T issued at 1.29G/s"
    text = STATUS.format(counters=counters, wrote="43.4T", rows=UNHEALTHY)
    found, paste = import_pasted(text), read_paste(text)
    assert str(found.scenario.layout) == str(paste.scenario.layout) == "8*draid2:11d:53c:1s"
    assert found.notes[0].startswith("NOT KNOWN: how many vdevs there are: zpool status -e")


@pytest.mark.parametrize("mark", [", ", ". ", " "])
def test_a_scan_may_stand_in_one_line(mark):
    line = f"resilver in progress since Fri Sep 18 01:47:11 2026{mark}12.5% done, 4h12m to go"
    scan = read_scan([line])
    assert scan is not None
    assert scan.at is not None
    assert scan.at.day == 18
    if mark == ", ":
        assert (scan.done, scan.to_go) == (0.125, 4.2 * 3600)
        (state,) = read_paste(f"scan: {line}\n").scans
        # 12.5 % at the mean rate at which the rest takes 4.2 h.
        assert state.elapsed == pytest.approx(0.6 * 3600)


def test_a_table_alone_is_of_the_pool_in_its_first_row():
    table = status(ELIDED).partition("config:\n\n")[2]
    found = import_pasted(table)
    assert found.pool == "tank"
    assert found.scenario.old_drive == "missing"


@pytest.mark.parametrize(
    ("words", "drive"),
    [
        ("It is FreeBSD, 5400 rpm WD Reds (WD40EFRX), nothing else.", "wd40efrx"),
        ("I have ordered a WD40EFRX and replaced sdb with it.", None),
        ("the dead drive was a WD40EFRX", None),
        ("all my disks are WD40EFRX", "wd40efrx"),
        ("4x WD40EFRX, one of them new", "wd40efrx"),
    ],
)
def test_a_sentence_about_one_drive_is_not_about_all(words, drive):
    rows = "\t  raidz1-0 ONLINE 0 0 0\n" + "".join(f"\t    da{n} ONLINE 0 0 0\n" for n in range(4))
    text = status(rows).replace("61.2T", "9.2T").replace("19.8T", "1.98T")
    assert import_pasted(f"{text}\n{words}\n").scenario.drive == drive


@pytest.mark.parametrize(
    ("version", "release"),
    [("11.1-RELEASE", "freebsd-10.3"), ("10.3-RELEASE", "freebsd-10.3"), ("9.3-STABLE", "freebsd-9.2"),
     ("8.4-RELEASE", None), ("", "freebsd-10.3")],
)  # fmt: skip
def test_a_freebsd_of_its_own_zfs_is_the_nearest_before_it(version, release):
    rows = "\t  raidz1-0 ONLINE 0 0 0\n" + "".join(f"\t    da{n} ONLINE 0 0 0\n" for n in range(4))
    text = status(rows).replace(
        RUNS.format(issued="2.11T"), "3.11T scanned out of 12.7T at 52.2M/s, 53h26m to go"
    )
    text = text.replace("2 days 06:14:44 to go", "").replace("2025", "2018")
    found = import_pasted(f"{text}\nFreeBSD nas {version}\n" if version else text)
    if release is None:
        assert any("is not a release that zsim models" in note for note in found.notes)
    else:
        assert found.scenario.release == release


def errors(*counts: tuple[int, int]) -> str:
    rows = "".join(f"\t    sd{n} ONLINE {read} 0 {wrong}\n" for n, (read, wrong) in enumerate(counts))
    return status(f"\t  raidz2-0 ONLINE 0 0 0\n{rows}\t    sdx ONLINE 0 0 0  (resilvering)\n")


def test_errors_of_many_drives_are_told_as_what_they_share():
    case = case_of(read_paste(errors((0, 415), (0, 64), (0, 34), (7, 1), (0, 0))).scenario)
    told = sick_looking(case)
    assert len(told) == 2
    assert told[0].startswith("sd3 has shown 7 read errors and 1 checksum error: a drive that retries")
    assert told[1].startswith(
        "3 drives have shown checksum errors (sd0 415, sd1 64, sd2 34): look at what they share"
    )
    few = sick_looking(case_of(read_paste(errors((0, 415), (0, 64), (0, 0), (0, 0), (0, 0))).scenario))
    assert [each.partition(" ")[0] for each in few] == ["sd0", "sd1"]


def test_where_a_source_has_failed_reads_a_slow_pace_may_be_its():
    assert retries(case_of(read_paste(errors((7, 0), (0, 0), (0, 0), (0, 0), (0, 0))).scenario))
    assert not retries(case_of(read_paste(errors((0, 9), (0, 0), (0, 0), (0, 0), (0, 0))).scenario))
    sound = Course(0.0, 1.0, 0.0, straight(), 1e12)
    sick = Course(0.0, 1.0, 0.0, straight(), 1e12, suspect=True)
    assert (discrepancy_of(sound, 20.0), discrepancy_of(sick, 0.5), discrepancy_of(sick, 1.0)) == (
        0.0,
        0.0,
        0.0,
    )
    assert discrepancy_of(sick, 20.0) == pytest.approx(math.log(20.0) / math.sqrt(12.0))


def test_a_share_that_the_counters_contradict_makes_no_heal():
    text = status(ELIDED, "0.9G", "0B").replace("3.45%", "22.50%")
    assert read_paste(text).scans[-1].kind == "resilver"
    assert read_status(text)[0].scan.done == 0.225


def test_a_drive_that_waits_is_told_even_where_none_is_repaired():
    waits = ELIDED.replace("(resilvering)", "(awaiting resilver)")
    assert any(note.startswith("1 drive awaits a resilver") for note in import_pasted(status(waits)).notes)


PAUSED = """\
scrub paused since Sun Jun  9 18:22:31 2024
\tscrub started on Sun Jun  9 00:24:01 2024
\t1.2T / 3.3T scanned, 1.1T / 3.3T issued
\t0B repaired, 33.3% done"""


@pytest.mark.parametrize(
    ("scan", "said"),
    [
        (f"none requested\n{pastes.REMOVAL}", "a removal is running"),
        (PAUSED, "the scrub is paused, and nothing continues until it is resumed"),
    ],
)
def test_decide_says_why_there_is_nothing_to_choose(scan, said, tmp_path, capsys):
    pasted = tmp_path / "status.txt"
    pasted.write_text(pastes.status(scan, pastes.MIRRORS, state="ONLINE"))
    assert main(["decide", str(pasted)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("size", ["61.2T", "9.2T"])
def test_names_of_drives_that_cannot_hold_the_pool_are_not_theirs(size):
    rows = "\t  raidz1-0 ONLINE 0 0 0\n" + "".join(
        f"\t    ata-WDC_WD40EFRX-68N32N0_WD-WCC7K000000{n} ONLINE 0 0 0\n" for n in range(4)
    )
    found = import_pasted(status(rows).replace("61.2T", size).replace("19.8T", "1.98T"))
    said = any("which do not hold the 61.2T that are allocated" in note for note in found.notes)
    assert said == (size == "61.2T")
    assert found.scenario.drive == (None if said else "wd40efrx")


FRAMED = """\
│  pool: tank                                                      │
│ state: DEGRADED                                                  │
│  scan: resilver in progress since Thu Nov  7 20:11:04 2024       │
│        4.11T / 8.02T scanned at 1.43G/s, 1.11T / 8.02T issued at 396M/s   │
│        281G resilvered, 13.84% done, 05:04:20 to go              │
│config:                                                           │
│                                                                  │
│        NAME             STATE     READ WRITE CKSUM               │
│        tank             DEGRADED     0     0     0               │
│          raidz1-0       DEGRADED     0     0     0               │
│            sda          ONLINE       0     0     0               │
│            sdb          ONLINE       0     0     0               │
│            sdc          ONLINE       0     0     0               │
│            sde          ONLINE       0     0     0  (resilvering)│
│                                                                  │
│errors: No known data errors                                      │
"""


@pytest.mark.parametrize("frame", ["│", "|", "┃"])
def test_a_terminal_may_be_divided(frame):
    paste = read_paste(FRAMED.replace("│", frame))
    assert (paste.pool, str(paste.scenario.layout)) == ("tank", "raidz1x4")
    assert not any("NOT KNOWN: the layout" in note for note in paste.notes)


def test_a_single_drive_beside_a_pair_holds_its_share():
    rows = (
        "\t  replacing-0  ONLINE 0 0 0\n\t    sda  ONLINE 0 0 0\n\t    sdb  ONLINE 0 0 0  (resilvering)\n"
        "\t  sdc  ONLINE 0 0 0\n"
    )
    found = import_pasted(status(rows).replace("61.2T", "3.51T").replace("19.8T", "1.88T"))
    assert str(found.scenario.layout) == "mirror2+disk"
    assert found.scenario.old_drive == "online"


@pytest.mark.parametrize(
    ("words", "size"),
    [("Drives are Seagate Exos X16 16TB", 16), ("The disks are Seagate Exos 18 TB, in a shelf", 18),
     ("my disks hold 40TB of films on Exos, 16TB each", None), ("Exos disks, 88TB", None)],
)  # fmt: skip
def test_a_series_with_its_size_names_the_drives(words, size):
    rows = "\t  raidz2-0 ONLINE 0 0 0\n" + "".join(f"\t    sd{n} ONLINE 0 0 0\n" for n in "abcdefgh")
    found = import_pasted(f"{status(rows)}\n{words}\n").scenario
    assert found.drive_size == (None if size is None else size * 10**12)


@pytest.mark.parametrize(
    "begin", ["Nov 25 10:00:01 nas zfs-report[2211]: ", "2026-11-25T10:00:01+01:00 nas zed: ", "  12\t"]
)
def test_lines_of_a_log_and_numbered_ones_are_read(begin):
    plain = status(ELIDED)
    logged = "".join(f"{begin}{line}\n" for line in plain.splitlines())
    assert read_paste(logged).scenario == read_paste(plain).scenario


@pytest.mark.parametrize(("word", "kind"), [("resilvered", "resilver"), ("repaired", "scrub")])
def test_the_counters_alone_tell_what_runs(word, kind):
    lines = (
        "hello\n        4.11T / 8.02T scanned at 1.43G/s, 1.11T / 8.02T issued at 396M/s\n"
        f"        281G {word}, 13.84% done, 05:04:20 to go\n"
    )
    paste = read_paste(lines)
    assert (paste.scans[-1].kind, paste.scans[-1].done) == (kind, 0.1384)


def test_prose_given_as_a_scenario_is_told_what_is_expected(tmp_path, capsys):
    prose = tmp_path / "post.txt"
    prose.write_text("hey guys resilver at 22% after 14 hours, is it normal???\n")
    assert main(["predict", str(prose)]) == 2
    assert "or what zpool status and its like printed" in capsys.readouterr().err


@pytest.mark.parametrize(("repaired", "told"), [("612G", True), ("612K", False)])
def test_a_scrub_that_repairs_much_is_told_so(repaired, told):
    text = (
        status(ELIDED)
        .replace("resilver in progress", "scrub in progress")
        .replace("resilvered,", "repaired,")
    )
    paste = read_paste(text.replace("264G", repaired))
    assert any("as after an outage or on an overwritten drive" in note for note in paste.notes) == told
