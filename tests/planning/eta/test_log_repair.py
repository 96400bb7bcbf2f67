"""A drive of a log vdev is resilvered: metadata is read, nothing is copied."""

import pytest

import zsim
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.zpool.status import read_status
from zsim.planning.eta.reading import read_paste
from zsim.prediction.progress.course import Course, straight
from zsim.prediction.progress.metadata_only import metadata_only
from zsim.prediction.progress.moments import PoolFacts
from zsim.prediction.progress.remaining import remaining

POOL = """\
  pool: tank
 state: DEGRADED
  scan: resilver in progress since {scan}
config:

\tNAME             STATE     READ WRITE CKSUM
\ttank             DEGRADED     0     0     0
\t  mirror-0       ONLINE       0     0     0
\t    sdc          ONLINE       0     0     0
\t    sdd          ONLINE       0     0     0{data}
\tlogs
\t  mirror-1       DEGRADED     0     0     0
\t    replacing-0  DEGRADED     0     0     0
\t      nvme0n1    REMOVED      0     0     0
\t      nvme2n1    ONLINE       0     0     0  (resilvering)
\t    nvme1n1      ONLINE       0     0     0

errors: No known data errors
"""
LEGACY = """Wed Apr  8 23:23:38 2015
    1.35G scanned out of 347G at 126M/s, 0h46m to go
    0 resilvered, 0.39% done"""
SORTED = """Wed Apr  8 23:23:38 2026
\t212G scanned at 1.26G/s, 212G issued at 1.26G/s, 847G total
\t0B resilvered, 25.03% done, 00:08:24 to go"""
FAST = ("drive=wd40efrx", "history=home-nas", "recordsize=128K", "write_cache=true")


def pool(scan, data=""):
    return POOL.format(scan=scan, data=data)


def test_only_a_log_is_resilvered():
    assert read_status(pool(SORTED))[0].of_log_alone
    both = pool(SORTED, "  (resilvering)")
    assert not read_status(both)[0].of_log_alone
    assert not read_paste(both).log_alone
    assert any(note.startswith("NO DATA") for note in import_pasted(pool(SORTED)).notes)
    assert any(note.endswith("metadata of the pool, and is over") for note in read_paste(pool(SORTED)).notes)
    assert not any(note.startswith("NO DATA") for note in import_pasted(both).notes)


def test_what_is_passed_over_counts_as_issued_and_is_not():
    (scan,) = read_paste(pool(SORTED)).scans
    assert (scan.issued, scan.total_issue, scan.processed) == (0, None, 0)
    assert scan.scanned == 212 * 1024**3


@pytest.mark.parametrize(("counted", "least"), [(True, 0.7), (False, 0.35)])
def test_a_quarter_of_the_metadata_leaves_three_times_as_long(counted, least):
    """A sorted scan's first quarter tells less of the rest: it leads to little data."""
    world = Course(120.0, 9000.0, 1.0, straight(), repaired=4e11, needed=0.5, window=0.01, drifts=1.0)
    course = metadata_only(world, counted=counted)
    assert course.visit_s + course.issue_s == pytest.approx(120.0)
    scan = read_paste(pool(SORTED)).scans[0]
    elapsed = (scan.scanned or 0) / (scan.scan_rate or 1)
    if counted:
        scan = scan.model_copy(update={"format": "legacy", "issued": scan.scanned})
    found = remaining([course], [scan], PoolFacts(sorted=not counted))
    assert least < found.left()[1] / (3.0 * elapsed) < 1.4


@pytest.mark.parametrize("scan", [LEGACY, SORTED])
def test_a_log_is_done_when_the_metadata_is_read(scan):
    found = zsim.eta(pool(scan), overrides=FAST)
    assert list(found.parts) == ["metadata scan"]
    assert "of which a resilver copies nothing" in str(found).replace("\n", " ")
    assert "little or nothing issued is normal" not in str(found).replace("\n", " ")
    # The data of 350 to 850 GB would take an hour and more.
    assert found.total_s.p50 < 2400.0


UNMARKED = pool(SORTED).replace("  (resilvering)", "")


def test_where_nothing_was_written_no_drive_is_marked_and_the_pair_tells():
    """zpool marks a drive once something was written to it; of a log nothing is."""
    (status,) = read_status(UNMARKED)
    assert status.of_log_alone
    assert read_paste(UNMARKED).log_alone
    assert read_paste(UNMARKED).scans == read_paste(pool(SORTED)).scans
    written = read_status(UNMARKED.replace("0B resilvered", "3M resilvered"))
    assert not written[0].of_log_alone
    pairs = "\n\t    replacing-1  ONLINE  0  0  0\n\t      sdd  ONLINE  0  0  0\n\t      sde  ONLINE  0  0  0"
    of_data = UNMARKED.replace("\n\t    sdd          ONLINE       0     0     0", pairs)
    assert len(read_status(of_data)[0].vdevs[0].children) == 2
    assert not read_status(of_data)[0].of_log_alone


def test_a_drive_attached_to_a_log_may_be_what_is_resilvered():
    rows = UNMARKED.splitlines(keepends=True)
    whole = "".join(row for row in rows if "replacing-0" not in row and "nvme0n1" not in row)
    attached = whole.replace("      nvme2n1", "    nvme2n1").replace("DEGRADED", "ONLINE")
    (status,) = read_status(attached)
    assert [len(vdev.children) for vdev in status.sections["logs"]] == [2]
    assert not status.of_log_alone
    assert status.may_be_of_log
    assert any("or a drive was attached to the log mirror" in note for note in read_paste(attached).notes)
    without = "".join(row for row in attached.splitlines(keepends=True) if "nvme" not in row)
    assert not read_status(without)[0].may_be_of_log


TABLES = SORTED.replace("212G scanned at 1.26G/s, 212G issued at 1.26G/s, 847G total", "{counters}")
OF_22 = "847G / 847G scanned, 1.02G / 4.1G issued at 30M/s"


def of_dedup(counters, data=""):
    text = pool(TABLES.format(counters=counters), data).replace("logs", "dedup")
    return text.replace("0B resilvered", "1.02G resilvered")


def test_only_deduplication_tables_are_resilvered():
    (status,) = read_status(of_dedup(OF_22))
    assert status.of_dedup_alone
    assert not status.of_log_alone
    assert not read_status(of_dedup(OF_22, "  (resilvering)"))[0].of_class_alone
    paste = read_paste(of_dedup(OF_22))
    assert paste.dedup_alone
    # It fills a whole drive with what belongs there, however little that is.
    assert paste.scans[-1].kind == "resilver"
    notes = import_pasted(of_dedup(OF_22)).notes
    assert any(note.startswith("NO DATA: the drive that is resilvered is of a dedup vdev") for note in notes)
    assert not any("are not simulated" in note for note in notes)


@pytest.mark.parametrize("counters", [OF_22, "847G scanned at 2.1G/s, 844G issued at 2.1G/s, 847G total"])
def test_tables_are_done_at_the_pace_of_their_own_counters(counters):
    found = zsim.eta(of_dedup(counters), overrides=FAST)
    # 3 GB are left on solid-state drives; the data of 847 GB would take more than an hour.
    assert 10.0 < found.remaining_s.p50 < 600.0
    assert "both are done" not in str(found)
    assert "less than a drive is repaired" in str(found).replace("\n", " ")
