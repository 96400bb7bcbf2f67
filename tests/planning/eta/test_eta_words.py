"""What ``zsim eta`` says beside its numbers: what zpool printed, what stands still, what explains a pace."""

import math
import re
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.observe.pool_import.importing import import_pasted
from zsim.observe.zpool.status import read_status
from zsim.observe.zpool.status_json import read_status_json
from zsim.planning.eta import reading
from zsim.planning.eta.answer import Eta
from zsim.planning.eta.reading import read_paste
from zsim.planning.eta.reasons import (
    PAST_TOTAL,
    STILL_SLOWER,
    UNEXPLAINED,
    consequences,
    hangs,
    slow_reasons,
    stuck,
    worries,
    zpool_remaining,
    zpool_why,
)
from zsim.planning.eta.records import Span
from zsim.planning.eta.wording import as_text
from zsim.prediction.api import case_of
from zsim.prediction.evidence.slower import most_slowed
from zsim.prediction.progress.course import Course, straight
from zsim.prediction.progress.moments import CHECKPOINT, PoolFacts, clock_of, overshoot
from zsim.prediction.progress.remaining import remaining
from zsim.scenario.evidence import RunningScan
from zsim.scenario.model import Scenario

HOUR = 3600.0
STATUS = """\
  pool: tank
 state: {state}
  scan: {scan}
{more}config:

\tNAME        STATE     READ WRITE CKSUM
\ttank        {state}    0     0     0
\t  raidz1-0  {state}    0     0     0
\t    sda     ONLINE       0     0     0
\t    sdb     ONLINE       0     0     0
\t    sdc     ONLINE       0     0     0{note}

errors: No known data errors
"""


def status(scan, more="", state="ONLINE", note=""):
    return STATUS.format(scan=scan, more=more, state=state, note=note)


def answer(**fields):
    known = {
        "pool": "tank", "subject": "raidz1x3", "total_s": Span(1.0, 2.0, 3.0) , "elapsed_s": 10 * HOUR,
        "remaining_s": Span(HOUR, 2 * HOUR, 4 * HOUR), "at": datetime(2026, 11, 22), "phase": "repair",
        "done": 0.5, "parts": {"repair": 2 * HOUR}, "zpool_remaining_s": 3 * HOUR, "zpool_total_s": None,
        "zpool_why": "", "pace": 1.0,
    }  # fmt: skip
    return " ".join(as_text(Eta(**known | fields)).split())


def test_zpool_says_only_what_it_printed():
    assert "zpool says 3 h, which agrees" in answer()
    words = answer(zpool_prints=False, zpool_why="seeks")
    assert "zpool gives no estimate; what is left over its mean rate is 3 h, too much: seeks" in words
    assert "zpool says" not in words
    # zpool prints a rate of one byte where a scan has done nothing.
    scan = RunningScan(kind="resilver", format="legacy", scanned=1, total=1 << 42, scan_rate=1.0)
    assert zpool_remaining(scan) is None
    assert clock_of(scan) == (None, "unknown")


def test_a_scan_that_does_nothing_is_said_first_and_has_no_pace():
    scan = RunningScan(kind="resilver", format="0.8-2.1", scanned=0, issued=0, total=1 << 45)
    told = stuck(26 * HOUR)
    assert told.startswith("STUCK: nothing has been issued after 1 d 2 h")
    assert hangs(scan, 26 * HOUR)
    assert not hangs(scan, CHECKPOINT - 60.0)
    assert not hangs(scan, None)
    assert not hangs(scan.model_copy(update={"issued": 5}), 26 * HOUR)
    words = answer(notes=(told,), done=0.0, pace=None, elapsed_s=26 * HOUR)
    assert words.startswith("tank: 2 h to go, once it continues.")
    assert words.index("STUCK") < words.index("zpool says")
    assert "Pace: none yet: nothing was done in 1 d 2 h." in words


def test_times_below_a_second_are_not_told_in_milliseconds():
    assert "less than a second" in answer(remaining_s=Span(0.03, 0.2, 0.95), zpool_remaining_s=None)


def test_a_date_in_another_year_has_its_year():
    """A scan that all but stands was said to be done by "Mon 14 May": of which year, nobody could tell."""
    words = answer(remaining_s=Span(HOUR, 30 * 24 * HOUR, 600 * 24 * HOUR))
    assert "80 % interval (p10-p90): Sun 22 Nov 01:00 to Fri 14 Jul 2028 00:00" in words
    assert "done about Tue 22 Dec 00:00" in words
    assert worry_until(600) == "if it has not finished by Fri 14 Jul 2028 00:00: nine in ten such scans have"
    assert worry_until(30) == "if it has not finished by Tue 22 Dec 00:00: nine in ten such scans have"


def worry_until(days):
    left = Span(HOUR, 2 * HOUR, days * 24 * HOUR)
    scan = RunningScan(kind="resilver", format="0.8-2.1", scanned=3, issued=2, total=1 << 45)
    return worries(SimpleNamespace(parts={}), "repair", left, datetime(2026, 11, 22), scan, HOUR)[-1]


def test_how_to_tell_the_layout_is_a_whole_sentence(monkeypatch):
    """It was cut out of brackets: "add the output of zpool status or zdb -C): mirror2 is assumed"."""
    add = "add the output of zpool status or zdb -C for the pool"

    def without_vdevs(*given, **named):
        raise InputError("layout", None, "zpool status shows no vdev that holds data", add)

    monkeypatch.setattr(reading, "import_beside", without_vdevs)
    _, notes = reading._imported("a status", (), None, "mirror2", ())
    words = answer(notes=tuple(notes), missing=("the size of the drives",))
    assert f"To tell it, {add}. zpool says" in words
    why = f"layout is missing: zpool status shows no vdev that holds data; {add}."
    assert f"could be read; mirror2 is assumed: {why}" in answer(notes=tuple(notes))


def test_a_pace_that_is_millions_of_times_slower_has_two_digits():
    assert "Pace: some 760,000,000 times slower" in answer(pace=760670999.0)
    assert "Pace: 153 times slower" in answer(pace=153.2)


def test_what_is_varied_is_not_called_a_default():
    size = {"field": "drive_size", "text": "4 TB", "why": "a common size", "value": 4e12}
    alone = answer(assumptions=(size,))
    assert "Default used, and it matters" in alone
    varied = answer(assumptions=(size,), missing=("the size of the drives (sampled, 1 TB to 8 TB)",))
    assert "Default used" not in varied
    assert "NOT STATED: the size of the drives (sampled, 1 TB to 8 TB)." in varied


def course(name):
    return SimpleNamespace(name=name)


def reasons(paces, worlds, pace, drive="wd40efrx"):
    case = case_of(Scenario.from_dict({"layout": "mirror2", "drive": drive, "alloc": "200G"}))
    found = SimpleNamespace(worlds=np.array(worlds), paces=np.array(paces))
    return slow_reasons([course("vm-host"), course("media-server")], found, case, pace)


def test_a_world_is_named_as_the_reason_only_if_it_explains_the_pace():
    assert "vm-host" in reasons([1.2, 6.0], [0.9, 0.1], 3.0)[0]
    # The likelier world is six times as fast as the scan: that is no reason.
    assert reasons([6.0, 9.0], [0.9, 0.1], 7.0) == (UNEXPLAINED,)
    # It is slower in such worlds, but the scan is twenty times as slow again.
    assert reasons([20.0, 500.0], [0.9, 0.1], 400.0) == (UNEXPLAINED,)


def test_a_known_reason_and_nothing_known_do_not_stand_together():
    found = reasons([3.0, 3.0], [0.5, 0.5], 3.0, drive="generic-5400rpm-smr")
    assert found[0].startswith("one of the drives is shingled")
    assert found[1:] == (STILL_SLOWER,)


def test_an_expansion_beyond_its_total_is_called_so():
    scan = RunningScan(kind="expand", format="rebuild", issued=1009, total=1000, issue_rate=5.0)
    assert overshoot(scan) == pytest.approx(0.009)
    case = case_of(Scenario.from_dict({"layout": "raidz1x3", "operation": "expand", "alloc": "1T"}))
    left = Span(HOUR, 2 * HOUR, 3 * HOUR)
    assert zpool_why(scan, 0.0, left, 0.99, case, "copying") == PAST_TOTAL


def test_a_scrub_is_told_what_a_replacement_does_to_it():
    case = case_of(Scenario.from_dict({"layout": "raidz1x3", "operation": "scrub", "alloc": "1T"}))
    words = " ".join(consequences(case, 0.5, Span(1.0, 2.0, 3.0), Span(1.0, 2.0, 3.0), HOUR))
    assert "replacing a drive now ends this scrub" in words
    assert "repair" not in words


PAUSED = """\
\tscrub started on Sun Nov  9 00:24:02 2025
\t21.4T / 31.7T scanned, 14.1T / 31.7T issued
\t0B repaired, 44.48% done
"""


def test_a_paused_scrub_took_its_time_up_to_the_pause():
    text = status("scrub paused since Mon Nov 10 07:00:03 2025", PAUSED)
    paste = read_paste(text, now=datetime(2025, 11, 20, 12, 0))
    assert paste.scans[-1].elapsed == timedelta(days=1, hours=6, minutes=36, seconds=1).total_seconds()
    assert paste.at is None
    assert any("without another pause from Sun 09 Nov 00:24 to Mon 10 Nov 07:00" in n for n in paste.notes)


def test_json_tells_how_long_a_scrub_was_paused_before():
    stats = (
        '"scan_stats": {"function": "SCRUB", "state": "SCANNING", "start_time": 1000000, "end_time": 0,'
        ' "scrub_pause": 1010000, "scrub_spent_paused": 4000, "to_examine": 1000000, "examined": 1000000,'
        ' "issued": 500000}'
    )
    text = f'{{"output_version": {{}}, "pools": {{"tank": {{"name": "tank", "state": "ONLINE", {stats}}}}}}}'
    scan = read_status_json(text)[0].scan
    assert (scan.state, scan.elapsed) == ("paused", 6000.0)


EXPANDING = """\
\t312G / 312G scanned, 5.78G / 312G issued at 1.45G/s
\t524M resilvered, 1.85% done, 00:03:31 to go
expand: expansion of raidz1-0 in progress since Thu Oct 19 16:42:14 2023
\t44.4G / 312G copied at 52.7M/s, 14.26% done, paused for resilver or clear
"""


def test_an_expansion_that_waits_for_a_resilver_is_told():
    text = status("resilver in progress since Thu Oct 19 16:43:37 2023", EXPANDING, note="  (resilvering)")
    (note,) = (each for each in read_paste(text).notes if each.startswith("NOT IN THIS ANSWER"))
    assert "the expansion of raidz1-0, 14.26 % done, waits for this resilver" in note


ERRORS = """ scrub: error scrub in progress since Wed May  7 10:11:12 2025
\t30.82% done, issued I/O for 412 error blocks
"""


def test_a_scrub_of_the_error_log_is_no_scrub():
    text = status("scrub repaired 0B in 05:00:00 with 1337 errors on Sun May  4 05:24:01 2025", ERRORS)
    (found,) = read_status(text)
    assert (found.scan.state, found.scan.elapsed) == ("finished", 5 * HOUR)
    with pytest.raises(InputError, match=r"30.82% done.*zpool scrub -e reads only the blocks"):
        read_paste(text)
    imported = import_pasted(text)
    assert imported.scenario.operation is None
    assert any(re.search("only the blocks in the error log", note) for note in imported.notes)


def activity(service, **fields):
    drives = [
        {"what": "drive", "drive": f"sd{c}", "leaf": n, "role": "source", "reads": 209.0, "writes": 0.0,
         "read_rate": 2e7, "service": service if n == 2 else 0.007}
        for n, c in enumerate("abcde")
    ]  # fmt: skip
    stated = {"layout": "raidz2x6", "drive": "wd40efrx", "alloc": "10T", "evidence": drives} | fields
    return case_of(Scenario.from_dict(stated))


def test_the_own_pace_counts_the_more_the_sicker_a_drive_is():
    assert most_slowed(activity(0.007)) == 1.0
    slow, worse = most_slowed(activity(0.05)), most_slowed(activity(0.162))
    assert 5.0 < slow < worse
    # What is stated to be slow is simulated so.
    assert most_slowed(activity(0.162, slow="2:x23")) == 1.0
    course = Course(0.0, 40 * HOUR, 1.0, straight(), repaired=1e12)
    scan = RunningScan(kind="resilver", format="legacy", scanned=14, total=100, elapsed=30 * HOUR)
    sound, sick = (
        remaining([replace(course, discrepancy=math.log(factor) / math.sqrt(12.0))], [scan], PoolFacts(False))
        for factor in (1.0, worse)
    )
    # By its own pace 184 h are left.
    assert sound.left()[1] < sick.left()[1] < 200 * HOUR
    assert sick.left()[1] > 140 * HOUR
