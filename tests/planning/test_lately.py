"""A change of pace between the last two statuses is told: the mean of the whole hides it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

import zsim
from tests.pastes import RAIDZ2, status
from zsim.planning.eta.lately import lately_of, stands_still, told_once
from zsim.planning.eta.records import RecentPace
from zsim.scenario.evidence import RunningScan

BEGIN = datetime(2026, 11, 26, 2)
T = 1024.0**4
STATUS = status(
    "resilver in progress since Thu Nov 26 02:00:00 2026\n"
    "\t30.1T / 30.1T scanned, {issued}T / 30.1T issued at {rate}M/s\n"
    "\t1.10T resilvered, {share}% done, {left} to go",
    RAIDZ2.format(mark="(resilvering)"),
)


def scan(hours: float, issued: float, **more: object) -> RunningScan:
    values: dict[str, object] = {
        "kind": "resilver", "format": "2.2+", "since": BEGIN, "at": BEGIN + timedelta(hours=hours),
        "scanned": 30 * T, "total": 30 * T, "total_issue": 30 * T, "issued": issued * T,
        "source": "zpool status",
    }  # fmt: skip
    return RunningScan.model_validate({**values, **more})


def test_the_pace_of_the_last_hour_is_told_where_it_has_changed() -> None:
    """9T in 7 h, then 0.2T in one: what is left takes 20.8 h / 0.2 at that pace."""
    found = lately_of([scan(7, 9.0), scan(8, 9.2)])
    assert found is not None
    assert (found.seconds, found.slower) == (3600.0, pytest.approx(9.0 / 7 / 0.2))
    assert found.remaining_s == pytest.approx(20.8 / 0.2 * 3600)
    assert (
        found.words()
        == "58.3M/s in the last 1 h, 6.4 times slower than before; at this pace, 4 d 8 h are left"
    )
    quicker = lately_of([scan(7, 9.0), scan(8, 13.0)])
    assert quicker is not None
    assert "3.1 times faster than before" in quicker.words()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (scan(7, 9.0), scan(8, 10.0)),  # as before, give or take a third
        (scan(7, 9.0), scan(7.03, 9.0)),  # within two minutes
        (scan(7, 9.0), scan(7.1, 9.01)),  # less than the rounding tells
        (scan(7, 9.0, scanned=20 * T), scan(8, 9.2, scanned=22 * T)),  # metadata is scanned
        (scan(7, 9.0), scan(8, 8.0)),  # begun again
        (scan(7, 0.0), scan(8, 0.2)),
    ],
)
def test_what_two_statuses_do_not_show_is_not_told(first: RunningScan, second: RunningScan) -> None:
    assert lately_of([first, second]) is None
    assert lately_of([second]) is None


def test_a_scan_that_stands_still_is_told() -> None:
    found = lately_of([scan(7, 9.0), scan(8, 9.0)])
    assert found is not None
    assert (found.slower, found.remaining_s) == (None, None)
    assert found.words().startswith("nothing was done in the last 1 h")


def test_a_status_that_is_too_near_is_passed_over_for_an_earlier_one() -> None:
    found = lately_of([scan(6, 8.9), scan(7, 9.0), scan(7.99, 9.2), scan(8, 9.2)])
    assert found is not None
    assert (found.seconds, found.done_bytes) == (3600.0, pytest.approx(0.2 * T))


def test_of_equal_statuses_the_last_counts_unless_the_scan_stands_still() -> None:
    first, again, later = scan(7, 9.0), scan(7.01, 9.0), scan(10, 9.0)
    assert told_once([scan(6, 8.0), first, again], stands=False) == (scan(6, 8.0), again)
    assert told_once([scan(6, 8.0), first, again, later], stands=True) == (scan(6, 8.0), first)
    assert stands_still(lately_of([first, again, later]))
    assert not stands_still(lately_of([first, scan(7.1, 9.0)]))
    assert stands_still(lately_of([first, scan(0, 9.0, at=BEGIN + timedelta(hours=7, minutes=10))]))
    assert not stands_still(lately_of([first, scan(8, 9.2)]))


def test_a_scan_that_stands_still_for_hours_is_stuck_and_comes_no_nearer() -> None:
    """Three hours without a byte made what is left three hours less."""
    text = STATUS.format(issued="9.00", rate=374, share="29.90", left="16:25:00")
    stated = {"drive": "st8000dm004", "recordsize": "1M"}
    moving = zsim.eta(f"Thu Nov 26 09:00:00 2026\n{text}", stated=stated)
    stuck = zsim.eta(f"Thu Nov 26 09:00:00 2026\n{text}\nThu Nov 26 12:00:00 2026\n{text}", stated=stated)
    assert stuck.remaining_s == moving.remaining_s
    assert any(note.startswith("STUCK: nothing was done in the last 3 h") for note in stuck.notes)
    assert stuck.worry[0].startswith("now: look for a drive or a link that hangs")
    assert "once it continues" in str(stuck)


HANGS_FROM_THE_BEGIN = """  pool: vmdata
 state: ONLINE
  scan: scrub in progress since Mon Sep 29 15:10:13 2025
        3.48G / 75.7G scanned at 8.37K/s, 0B / 75.7G issued
        0B repaired, 0.00% done, no estimated completion time
config:

        NAME        STATE     READ WRITE CKSUM
        vmdata      ONLINE       0     0     0
          sdb       ONLINE       0     0     0
          sdc       ONLINE       0     0     0

errors: No known data errors
"""


def test_days_in_which_nothing_was_issued_say_nothing_of_what_is_left() -> None:
    """What is left of 76 GiB was 64 days, at a pace a million times slower than others."""
    found = zsim.eta(HANGS_FROM_THE_BEGIN)
    assert found.remaining_s.p90 < 6 * 3600
    assert found.pace is None
    words = str(found)
    assert "STUCK: nothing has been issued after 5 d" in words
    assert "Pace: none: what it did before it got stuck says nothing of the rest." in words
    assert "after it continues: nine in ten such scans have" in words


def test_counters_of_other_releases_are_those_of_the_work() -> None:
    """Before 0.8 the bytes scanned, of a rebuild as well; of an expansion the bytes copied."""
    legacy = {"format": "legacy", "total_issue": None}
    assert lately_of([scan(7, 0, **legacy, scanned=9 * T), scan(8, 0, **legacy, scanned=9.2 * T)]) is not None
    copied = {"format": "rebuild", "kind": "expand", "scanned": None, "total_issue": None}
    assert lately_of([scan(7, 9.0, **copied), scan(8, 9.2, **copied)]) is not None


def test_the_answer_has_it_in_text_and_json() -> None:
    seven = STATUS.format(issued="9.00", rate=374, share="29.90", left="16:25:00")
    eight = STATUS.format(issued="9.20", rate=335, share="30.56", left="18:11:00")
    text = f"Thu Nov 26 09:00:00 2026\n{seven}\nThu Nov 26 10:00:00 2026\n{eight}"
    found = zsim.eta(text, stated={"drive": "st8000dm004", "recordsize": "1M"})
    assert "Lately: 58.3M/s in the last 1 h, 6.4 times slower than before" in str(found).replace("\n", " ")
    told = found.to_dict()["lately"]
    assert isinstance(told, dict)
    assert told["slower"] == pytest.approx(6.43, abs=0.01)
    assert zsim.eta(f"Thu Nov 26 10:00:00 2026\n{eight}").to_dict()["lately"] is None


def test_a_rate_below_a_kibibyte_has_its_unit_and_a_large_factor_two_digits() -> None:
    told = RecentPace(86_400.0, 93.4 * 86_400.0, 6935.1, None).words()
    assert told == "93.4B/s in the last 1 d, some 6,900 times slower than before"
    assert "2.5 times faster" in RecentPace(600.0, 6e9, 0.4, None).words()
