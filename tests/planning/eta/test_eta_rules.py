"""The rules behind ``zsim eta``: zpool's own, when a status was printed, worries, steps and shares."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests import pastes
from zsim.observe.zpool.scan import Scan
from zsim.observe.zpool.status import read_status
from zsim.planning.eta import reading, reasons
from zsim.planning.eta.reading import in_order
from zsim.planning.eta.reasons import (
    FASTER_LEFT,
    FIRST_MINUTES,
    METADATA,
    METASLABS,
    NOTHING_ISSUED,
    OTHER_GROUPS,
    OTHER_VDEVS,
    OTHERS_DUE,
    OUTER_TRACKS,
    SEEKS,
    SLOW_HOURS,
    SLOW_SPELL,
    SLOWER_LEFT,
    consequences,
    hangs,
    slow_reasons,
    worries,
    zpool_remaining,
    zpool_why,
)
from zsim.planning.eta.records import Span
from zsim.prediction.api import case_of
from zsim.prediction.progress.moments import CHECKPOINT
from zsim.scenario.evidence import RunningScan
from zsim.scenario.model import Scenario

HOUR, TB = 3600.0, 10**12
AT = datetime(2026, 11, 25, 14, 0)
LEFT = Span(2 * HOUR, 3 * HOUR, 5 * HOUR)


def scan(**changes: Any) -> RunningScan:
    return RunningScan(**{"kind": "resilver", "format": "2.2+", **changes})


def case(operation: str = "resilver", layout: str = "raidz2x6", **more: Any) -> Any:
    return case_of(Scenario.from_dict({"layout": layout, "operation": operation, "alloc": "1T", **more}))


@pytest.mark.parametrize(
    ("operation", "old", "new", "told"),
    [
        ("resilver", "generic-5400rpm-smr", "generic-7200rpm-cmr", False),
        ("resilver", "generic-7200rpm-cmr", "generic-5400rpm-smr", True),
        ("scrub", "generic-5400rpm-smr", None, False),
    ],
)
def test_shingled_drives_are_a_reason_where_they_are_written(
    operation: str, old: str, new: str | None, told: bool
) -> None:
    """Old ones that are only read were named as the reason, beside a new one that is not shingled."""
    more = {"drive": old} if new is None else {"drive": old, "new_drive": new}
    assert ("smr" in reasons._written(case(operation, drive_size="8TB", **more))) is told


# --- zpool's own


def test_what_is_left_goes_over_the_mean_rate_by_the_counters_of_the_release() -> None:
    """To 0.7 and of rebuilds what is scanned, from 0.8 what is issued, from 2.2 of what is to be issued."""
    seen: dict[str, Any] = {
        "scanned": 800,
        "issued": 300,
        "total": 1000,
        "scan_rate": 50.0,
        "issue_rate": 10.0,
    }
    assert zpool_remaining(scan(**seen, format="0.8-2.1")) == 70.0
    # 0h0m is of any second of the last minute, 00:00:00 of none.
    assert zpool_remaining(scan(**seen, format="legacy", to_go=0.0)) == 30.0
    assert zpool_remaining(scan(**seen, format="0.8-2.1", to_go=0.0)) == 0.0
    assert zpool_remaining(scan(**seen, total_issue=600)) == 30.0
    assert zpool_remaining(scan(**seen, format="legacy")) == 4.0
    assert zpool_remaining(scan(**seen, format="rebuild")) == 4.0
    assert zpool_remaining(scan(**seen, format="rebuild", kind="expand")) == 70.0
    assert zpool_remaining(scan(**seen, to_go=12.0)) == 12.0, "what it prints comes first"
    assert zpool_remaining(scan(**{**seen, "issued": 1200})) == 0.0
    for lacking in ({"issued": None}, {"total": None}, {"issue_rate": None}, {"issue_rate": 1.0}):
        assert zpool_remaining(scan(**{**seen, **lacking})) is None
    assert zpool_remaining(scan(**{**seen, "issue_rate": 1.1})) == pytest.approx(700 / 1.1)


SHORT, LONG = HOUR, 9 * HOUR


@pytest.mark.parametrize(
    ("seen", "said", "share", "phase", "told"),
    [
        ({}, 3 * HOUR, 0.5, "repair", ""), ({}, 2 * HOUR, 0.5, "repair", ""),
        ({}, 5 * HOUR, 0.5, "repair", ""),
        ({}, None, 0.5, "repair", ""), ({}, None, 0.5, "metadata scan", NOTHING_ISSUED),
        ({}, SHORT, 0.049, "repair", FIRST_MINUTES), ({}, SHORT, 0.05, "repair", OUTER_TRACKS),
        ({}, SHORT, 0.05, "metadata scan", METADATA), ({}, LONG, 0.5, "repair", SLOW_HOURS),
        ({"format": "legacy"}, LONG, 0.5, "repair", SLOW_SPELL),
        ({"format": "legacy"}, SHORT, 0.5, "repair", SEEKS),
        ({"format": "0.8-2.1"}, SHORT, 0.5, "repair", SLOWER_LEFT),
        ({"format": "0.8-2.1"}, LONG, 0.5, "repair", SLOW_HOURS),
        ({"format": "rebuild"}, SHORT, 0.5, "rebuild", METASLABS),
        ({"format": "rebuild", "scanned": 5, "issued": 4}, LONG, 0.5, "rebuild", OTHER_GROUPS),
        ({"format": "rebuild", "scanned": 5, "issued": 5}, LONG, 0.5, "rebuild", SLOW_HOURS),
    ],
)  # fmt: skip
def test_why_an_estimate_is_off(
    seen: dict[str, Any], said: float | None, share: float, phase: str, told: str
) -> None:
    assert zpool_why(scan(**seen), said, LEFT, share, case(), phase) == told


def test_other_vdevs_count_only_where_there_are_some_and_drives_are_repaired() -> None:
    old = {"format": "0.8-2.1"}
    several = case(layout="2*raidz2x6")
    assert zpool_why(scan(**old), SHORT, LEFT, 0.01, several, "repair") == OTHER_VDEVS
    assert zpool_why(scan(**old), LONG, LEFT, 0.5, several, "repair") == SLOW_HOURS
    new = {"format": "2.2+", "total": 22, "issued": 3}
    assert zpool_why(scan(**new, scanned=14), LONG, LEFT, 0.5, several, "repair") == OTHERS_DUE
    assert zpool_why(scan(**new, scanned=22), LONG, LEFT, 0.5, several, "repair") == SLOW_HOURS
    assert zpool_why(scan(**new, scanned=14), LONG, LEFT, 0.5, case(), "repair") == SLOW_HOURS
    assert zpool_why(scan(**old, kind="scrub"), SHORT, LEFT, 0.5, several, "repair") == SLOWER_LEFT
    moving = case("expand", "raidz1x3")
    assert zpool_why(scan(kind="expand"), SHORT, LEFT, 0.01, moving, "copying") == SLOWER_LEFT
    assert zpool_why(scan(kind="expand"), LONG, LEFT, 0.01, moving, "copying") == FASTER_LEFT


# --- worries


def found(visit: float = 0.0) -> Any:
    return SimpleNamespace(parts={"metadata scan": visit})


def worried(
    seen: RunningScan, phase: str, visit: float, elapsed: float | None, at: datetime | None = AT
) -> tuple[str, ...]:
    return worries(found(visit), phase, LEFT, at, seen, elapsed)


def test_nothing_issued_is_normal_until_the_metadata_are_read() -> None:
    """Half an hour of metadata is left, 50 minutes at p90: 5/3 of the median, as of the whole."""
    first, last = worried(scan(issued=0), "metadata scan", HOUR / 2, 600.0)
    assert first.startswith(
        "little or nothing issued is normal in the metadata phase, until about 14:30; worry"
    )
    assert first.endswith("has not changed by 14:50")
    assert last == "if it has not finished by 19:00: nine in ten such scans have"
    # ZFS issues what it has scanned every two hours: 20 minutes are left of these.
    first, _ = worried(scan(issued=0), "metadata scan", HOUR / 2, CHECKPOINT - 1200.0)
    assert "until about 14:20; worry if that has not changed by 14:20" in first
    assert len(worried(scan(issued=0), "metadata scan", 60.0, 600.0)) == 1, "a minute is not worth a word"
    assert len(worried(scan(issued=0), "repair", HOUR, 600.0)) == 1
    first, _ = worried(scan(issued=5), "metadata scan", 3 * HOUR, 600.0)
    assert "until about 17:00; worry if that has not changed by 19:00" in first


def test_what_is_overdue_is_to_be_worried_about_now() -> None:
    first, _ = worried(scan(issued=0), "metadata scan", HOUR, CHECKPOINT + 60.0)
    assert first.startswith(
        "now: nothing has been issued after 2 h 1 min, although ZFS issues what it has scanned every 2 h"
    )
    at_once, _ = worried(scan(issued=0), "metadata scan", HOUR, CHECKPOINT)
    assert not at_once.startswith("now")
    unknown, _ = worried(scan(issued=0), "metadata scan", HOUR, None)
    assert unknown.startswith("little or nothing")


def test_moments_name_their_day_where_it_is_another_and_are_lengths_without_a_date() -> None:
    assert worries(found(), "", Span(HOUR, HOUR, 12 * HOUR), AT, scan(), None) == (
        "if it has not finished by Thu 26 Nov 02:00: nine in ten such scans have",
    )
    assert worries(found(), "", LEFT, None, scan(), None) == (
        "if it has not finished 5 h after this status: nine in ten such scans have",
    )
    far = Span(HOUR, HOUR, 1e12)
    assert "after this status" in worries(found(), "", far, AT, scan(), None)[0], "beyond any calendar"


def test_a_scan_is_stuck_where_nothing_is_issued_beyond_the_checkpoint() -> None:
    assert not hangs(scan(issued=0), CHECKPOINT)
    assert hangs(scan(issued=0), CHECKPOINT + 1)
    assert not hangs(scan(issued=1), 9 * HOUR)
    assert not hangs(scan(issued=0, scanned=5, total=5), 9 * HOUR)
    assert not hangs(scan(issued=0), None)


# --- further steps


WHOLE = Span(HOUR, 4 * HOUR, 9 * HOUR)


def steps(
    known: Any, share: float = 0.5, total: Span | None = WHOLE, elapsed: float | None = 2 * HOUR
) -> str:
    return " | ".join(consequences(known, share, total, LEFT, elapsed))


def test_a_second_replacement_restarts_waits_or_depends_on_how_much_is_done() -> None:
    """Both are done in the whole of one, or in what is left of the first and the whole of the second."""
    old = steps(case(release="zol-0.7"))
    assert "restarts the resilver from zero in zol-0.7" in old
    assert "(2 h of work): both would be done in about 4 h" in old
    waits = steps(case(release="openzfs-2.1"))
    assert "its own pass; both are done in about 7 h" in waits
    newer = case(release="openzfs-2.3")
    assert "restarts the resilver" in steps(newer, 0.099)
    assert "does not disturb" in steps(newer, 0.1)
    assert "both" not in steps(newer, 0.5, None), "a part of a drive tells nothing of a whole one"
    assert "of work" not in steps(newer, 0.05, elapsed=None)


def test_a_reboot_costs_what_the_scan_has_not_saved() -> None:
    assert "a sorted scan saves its position only when" in steps(case(release="openzfs-2.3"))
    assert "from zero (2 h of work)" in steps(case(release="openzfs-2.3"))
    assert "resumes from its last txg sync" in steps(case(release="zol-0.7"))
    assert "a reboot during the reading" in steps(case("scrub"))
    assert "about a metaslab is repeated" in steps(case("rebuild", "mirror2"))
    assert "the expansion resumes from the last txg" in steps(case("expand", "raidz1x3"))
    assert "the removal resumes from the last txg" in steps(case("remove", "2*mirror2"))
    assert "replacing" not in steps(case("expand", "raidz1x3"))


# --- reasons of a pace


def slow(
    pace: float, known: Any | None = None, scans: tuple[RunningScan, ...] = (), **worlds: Any
) -> tuple[str, ...]:
    names = worlds.get("names", ("vm-host", "media-server"))
    told = SimpleNamespace(
        worlds=np.array(worlds.get("after", [0.9, 0.1])), paces=np.array(worlds.get("paces", [1.2, 6.0]))
    )
    courses = [SimpleNamespace(name=name, needed=1.0, visit_s=3600.0) for name in names]
    known = known or case(layout="mirror2", drive="wd40efrx", alloc="200G")
    return slow_reasons(courses, told, known, pace, scans)  # type: ignore[arg-type]


def test_a_pace_is_slow_from_1_3_on_and_its_likeliest_world_is_named() -> None:
    assert slow(1.29) == ()
    assert slow(3.0) == (
        "this pace is most like that of pools with the data of a vm-host (--history vm-host)",
    )
    # So many times as likely as before: from 1.6 on, of worlds that were as likely as others.
    assert slow(3.0, after=[0.79, 0.21]) == (reasons.UNEXPLAINED,)
    assert slow(3.0, after=[0.81, 0.19]) != (reasons.UNEXPLAINED,)
    # Of many worlds it has to be likely in the end, by two in five.
    names = ("vm-host", "a", "b", "c")
    few = {"names": names, "paces": [1.2, 6.0, 6.0, 6.0]}
    assert slow(3.0, after=[0.39, 0.21, 0.2, 0.2], **few) == (reasons.UNEXPLAINED,)
    assert len(slow(3.0, after=[0.41, 0.2, 0.2, 0.19], **few)) == 1


def test_a_world_explains_half_of_the_slowness_and_leaves_no_more_than_a_factor_of_two() -> None:
    """Of nine times slower three are explained; beside them a factor of two, not more, may be left."""
    assert slow(9.0, paces=[1.99, 90.0]) != (reasons.UNEXPLAINED,)
    assert slow(9.0, paces=[2.01, 90.0]) == (reasons.UNEXPLAINED,)
    assert slow(3.0, paces=[1.72, 90.0]) != (reasons.UNEXPLAINED,)
    assert slow(3.0, paces=[1.74, 90.0]) == (reasons.UNEXPLAINED,)
    # Of two such worlds in one it goes twice as fast, in the other four times slower: the root of two.
    two = {"names": ("vm-host", "vm-host", *"abcd"), "after": [0.4, 0.4, *[0.05] * 4]}
    assert slow(3.0, paces=[0.5, 4.0, 9.0, 9.0, 9.0, 9.0], **two) != (reasons.UNEXPLAINED,)
    assert slow(3.0, paces=[1.0, 4.0, 9.0, 9.0, 9.0, 9.0], **two) == (reasons.UNEXPLAINED,)


def test_several_properties_are_named_the_likeliest_first_and_two_at_most() -> None:
    found = slow(3.0, names=("vm-host, write cache off", "media-server"))
    assert [each.split("like that of ")[1] for each in found] == [
        "drives whose write caches are off", "pools with the data of a vm-host (--history vm-host)",
    ]  # fmt: skip
    assert len(slow(3.0, names=("vm-host, write cache off, odd", "media-server"))) == 2


def test_too_little_memory_is_a_reason_unless_more_was_collected() -> None:
    small = case("scrub", alloc="8T", drive_size="4TB", memory="1G")
    (told,) = slow(1.0, small)
    assert told.startswith("with 1G of memory ZFS cannot sort the whole pool at once")
    many = RunningScan(kind="scrub", format="2.2+", total=9 * 10**12, scanned=9 * 10**12, issued=0)
    assert slow(1.0, small, (many,)) == (), "its host has memory for more"
    assert slow(1.0, case("scrub", alloc="8T", drive_size="4TB", memory="1G", release="zol-0.7")) == ()


def test_a_scan_that_repairs_before_all_is_scanned_lacks_memory_whether_or_not_it_is_slow() -> None:
    unknown = case("scrub", alloc="8T", drive_size="4TB")
    turns = RunningScan(kind="scrub", format="2.2+", total=1000, scanned=500, issued=450)
    (told,) = slow(1.0, unknown, (turns,))
    assert told.startswith("it repairs before all is scanned: with the memory that its host has ZFS cannot")
    waits = turns.model_copy(update={"issued": 0})
    assert slow(1.0, unknown, (waits,)) == slow(1.0, unknown) == ()
    assert slow(1.0, case("scrub", alloc="8T", drive_size="4TB", release="zol-0.7"), (turns,)) == ()


def test_how_long_runs_are_decides_an_expansion_within_what_was_published() -> None:
    moving = case("expand", "raidz1x3")
    assert slow(1.3, moving) == slow(6.6, moving) == (reasons.RUNS_DECIDE,)
    assert slow(1.29, moving) == ()
    assert slow(6.7, moving) != (reasons.RUNS_DECIDE,)


# --- what was read


def test_statuses_are_put_in_order_by_what_they_count_and_each_once() -> None:
    counts: list[dict[str, int]] = [
        {"scanned": 9, "issued": 5}, {"scanned": 5, "issued": 5}, {"issued": 1, "processed": 3},
        {"issued": 1}, {"scanned": 9, "issued": 5},
    ]  # fmt: skip
    states = [scan(**each) for each in counts]
    assert [(each.scanned, each.issued, each.processed) for each in in_order(states)] == [
        (None, 1, None), (None, 1, 3), (5, 5, None), (9, 5, None),
    ]  # fmt: skip


SINCE = datetime(2026, 11, 25, 4, 0)


@pytest.mark.parametrize(
    ("now", "gone", "told"),
    [
        # Ten hours by the counters: the clock may show 8 to 16 and ten minutes more.
        (SINCE + timedelta(hours=10), 10 * HOUR, "now"), (SINCE + timedelta(hours=8), 10 * HOUR, "now"),
        (SINCE + timedelta(hours=7.9), 10 * HOUR, "counters"),
        (SINCE + timedelta(hours=16, minutes=10), 10 * HOUR, "now"),
        (SINCE + timedelta(hours=16, minutes=11), 10 * HOUR, "counters"),
        (SINCE - timedelta(hours=1), 10 * HOUR, "counters"), (None, 10 * HOUR, "counters"),
        (SINCE + timedelta(days=89), None, "now"), (SINCE + timedelta(days=91), None, "never"),
        (None, None, "never"),
    ],
)  # fmt: skip
def test_a_status_without_a_date_is_of_now_unless_its_counters_tell_otherwise(
    now: datetime | None, gone: float | None, told: str
) -> None:
    seen = scan(since=SINCE, elapsed=gone)
    expected = {"now": now, "counters": SINCE + timedelta(hours=10), "never": None}[told]
    assert reading._moment(seen, now) == expected


def test_a_date_in_the_text_counts_and_a_pass_may_have_begun_later() -> None:
    late = SINCE + timedelta(hours=30)
    assert reading._moment(scan(since=SINCE, elapsed=HOUR, at=AT), late) == AT
    assert reading._moment(scan(elapsed=HOUR), late) == late
    whole = {"scanned": 100, "total": 100, "elapsed": 10 * HOUR, "elapsed_is_pass": True}
    assert reading._moment(scan(since=SINCE, **whole), late) == late, "imported again on the way"
    assert reading._moment(scan(since=SINCE, **whole), None) is None
    # Two months later the text is an old one: 178 days were answered for four hours that were left.
    assert reading._moment(scan(since=SINCE, **whole), SINCE + timedelta(days=60)) is None
    assert reading._moment(scan(since=SINCE, **whole), SINCE + timedelta(days=3)) is not None


def test_what_an_outage_left_is_no_whole_drive_and_a_scrub_may_repair_as_much() -> None:
    due = scan(kind="heal", total=8 << 40, total_issue=1 << 40, scanned=8 << 40)
    (told,) = reading._after_outage(due)
    assert told == "NOT A WHOLE DRIVE: only what a drive missed during an outage is repaired, 1T of 8T"
    assert reading._after_outage(scan(total=8, total_issue=1)) == []
    (open_end,) = reading._after_outage(scan(kind="heal", total=8 << 40, scanned=1 << 40, processed=1 << 30))
    assert open_end.startswith(
        "NOT A WHOLE DRIVE: only what a drive missed during an outage is repaired, 1G so far. Only blocks"
    )
    # A GiB, or a hundredth of what is read: more is much.
    much = {"kind": "scrub", "processed": (1 << 30) + 1}
    assert reading._after_outage(scan(**much)) != []
    assert reading._after_outage(scan(kind="scrub", processed=1 << 30)) == []
    assert reading._after_outage(scan(**much, issued=101 << 30)) == []
    assert reading._after_outage(scan(kind="scrub", processed=(2 << 30) + 1, issued=200 << 30)) != []


def test_a_scan_of_another_kind_or_begin_is_another_scan() -> None:
    def one(function: str = "resilver", state: str = "running", at: datetime | None = SINCE) -> Any:
        return SimpleNamespace(function=function, state=state, at=at)

    last = one()
    assert reading._is_same(one(), last)
    assert reading._is_same(one(at=None), last)
    assert reading._is_same(last, one(at=None))
    assert not reading._is_same(one("scrub"), last)
    assert not reading._is_same(one(at=AT), last)
    assert reading._is_same(one(at=AT, state="paused"), last), "of a pause it is the begin of that"
    assert reading._is_same(last, one(at=AT, state="paused"))


SCRUB = """\
scrub in progress since Thu Mar 14 08:11:03 2024
\t2.10T / 3.00T scanned at 400M/s, 1.50T / 3.00T issued at 300M/s
\t0B repaired, 50.00% done, 01:22:00 to go"""


def test_a_removal_beside_a_scrub_is_not_in_the_answer_and_one_alone_is() -> None:
    def read(scan: str) -> reading.Paste:
        return reading.read_paste(pastes.status(scan, pastes.MIRRORS, state="ONLINE"))

    beside = read(f"{SCRUB}\n{pastes.REMOVAL}")
    assert beside.scenario.operation == "scrub"
    words = "the removal of mirror-1 at 21.04 % that is running too is not in this answer"
    assert words in beside.notes
    alone = read(f"none requested\n{pastes.REMOVAL}")
    assert alone.scenario.operation == "remove"
    assert not any("beside" in each for each in alone.notes)
    assert not any("beside" in each for each in read(SCRUB).notes)


def imported(**stated: Any) -> Any:
    return SimpleNamespace(scenario=Scenario.from_dict({"layout": "raidz2x6", **stated}))


def made(found: Any, seen: Scan, overrides: tuple[str, ...] = (), **stated: Any) -> dict[str, Any]:
    return reading._scenario(found, seen, overrides, stated, "mirror2").stated()


def test_the_scenario_is_what_was_found_with_what_is_known_better() -> None:
    resilver = Scan("resilver", "running", form="2.2", total=1 << 40)
    found = imported(alloc=5 << 40, replace=2, old_drive="online", release="openzfs-2.3")
    assert made(found, resilver) == {
        "layout": "raidz2x6", "alloc": 5 << 40, "replace": 2, "old_drive": "online", "release": "openzfs-2.3",
        "operation": "resilver",
    }  # fmt: skip
    scrub = made(found, Scan("scrub", "running", total=1 << 40))
    assert "replace" not in scrub
    assert "old_drive" not in scrub
    assert made(imported(), resilver)["alloc"] == 1 << 40, (
        "what there is to scan, where nothing tells how full it is"
    )
    assert "alloc" not in made(imported(fill=0.5), resilver)
    assert "alloc" not in made(imported(), Scan("resilver", "running"))
    assert made(found, resilver, ("layout=raidz1x4",))["layout"] == "raidz1x4"
    assert "release" not in made(found, resilver, product="freebsd-14.3")


@pytest.mark.parametrize(
    ("form", "release"), [("legacy", "zol-0.7"), ("2.2", "openzfs-2.3"), ("0.8", "openzfs-2.1")]
)
def test_where_nothing_could_be_imported_the_form_of_the_scan_tells_the_release(
    form: str, release: str
) -> None:
    found = made(None, Scan("resilver", "running", form=form))
    assert (found["layout"], found["release"]) == ("mirror2", release)


@pytest.mark.parametrize(
    ("state", "scan_state", "words"),
    [("SUSPENDED", "running", "the pool is suspended"), ("ONLINE", "paused", "the scan is paused"),
     ("ONLINE", "running", "")],
)  # fmt: skip
def test_what_stands_still_says_why(state: str, scan_state: Any, words: str) -> None:
    status: Any = SimpleNamespace(state=state, suspended=False)
    online: Any = SimpleNamespace(state="ONLINE", suspended=False)
    told = reading._halted(status, Scan("scrub", scan_state))
    assert [words in each for each in told] == ([True] if words else [])
    both = Scan("scrub", "paused", since=SINCE, at=SINCE + timedelta(hours=30))
    assert "from Wed 25 Nov 04:00 to Thu 26 Nov 10:00" in reading._halted(online, both)[0]
    for less in (
        Scan("scrub", "paused", since=SINCE, at=SINCE),
        Scan("scrub", "paused", since=SINCE),
        Scan("scrub", "paused", since=SINCE, at=AT, elapsed=5.0),
    ):
        assert "without another pause" not in reading._halted(online, less)[0]


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ("No known data errors", ""),
        ("3 data errors, use '-v' for a list", "3 data errors"),
        ("1 data errors, use '-v' for a list", "1 data error"),
        ("Permanent errors have been detected in the following files:", "permanent errors in files"),
    ],
)
def test_damaged_files_are_told_with_what_a_resilver_makes_of_them(errors: str, words: str) -> None:
    """To 0.8 it begins anew until they are gone (issue 2867), of a scrub nothing follows."""
    (status,) = read_status(f"  pool: tank\n state: ONLINE\nconfig:\n\nerrors: {errors}\n")
    assert status.data_errors == words
    resilver = reading._damaged(status, Scan(function="resilver", state="running"))
    scrub = reading._damaged(status, Scan(function="scrub", state="running"))
    assert bool(resilver) == bool(scrub) == bool(words)
    assert all(words in each for each in (*resilver, *scrub))
    assert ("starts again" in " ".join(resilver)) == bool(words)
    assert "begins anew" not in " ".join(scrub)
