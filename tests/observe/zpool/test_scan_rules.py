"""Rules of what tells of a scan: its kind, how far it is, when it began; text, JSON, history and events."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from zsim.observe.evidence import pool_events, pool_history, scans
from zsim.observe.evidence.scans import PoolThen, finished, is_heal, running, started_of
from zsim.observe.pool_import.given import assumed
from zsim.observe.texts import nice_bytes
from zsim.observe.zpool.scan import Scan, to_examine
from zsim.observe.zpool.status import PoolStatus, read_scan
from zsim.observe.zpool.vdev_tree import Vdev, repaired_pair
from zsim.scenario.layout import Layout

NOON = datetime(2026, 11, 15, 12, 0, 0)
TWO = Layout.parse("2*raidz2x6")
ONE = Layout.parse("raidz2x6")


def scan(**more: Any) -> Scan:
    """Return a resilver that runs, as 0.8 prints it."""
    return Scan(**({"function": "resilver", "state": "running", "form": "0.8"} | more))


# What a resilver was.


@pytest.mark.parametrize(
    ("share", "done", "heal"),
    [
        (0.249, 1.0, True), (0.25, 1.0, False), (0.124, 0.5, True), (0.125, 0.5, False),
        (0.0, 0.05, True), (0.0, 0.049, False),
    ],
)  # fmt: skip
def test_a_resilver_that_writes_less_than_a_quarter_of_a_drive_has_healed(
    share: float, done: float, heal: bool
) -> None:
    """12 TB on two raidz2 of six are 1 TB on each drive."""
    pool = PoolThen(TWO, 12 * 10**12)
    assert pool.on_one_drive() == 10**12
    assert is_heal(round(share * 10**12), pool, done) is heal


def test_where_alloc_is_not_known_a_fiftieth_of_the_drive_tells() -> None:
    pool = PoolThen(None, 12 * 10**12, drive_size=10**12)
    assert is_heal(round(0.0199e12), pool)
    assert not is_heal(round(0.02e12), pool)
    assert is_heal(round(0.0099e12), pool, 0.5)
    assert not is_heal(round(0.0101e12), pool, 0.5)
    assert not is_heal(0, PoolThen())
    assert not is_heal(None, pool)


@pytest.mark.parametrize(
    ("layout", "more", "least"),
    [
        # Of one vdev all that is issued is its own; of two, all that is left may be of the one repaired.
        (ONE, {"done": 0.4}, 0.4),
        (TWO, {"done": 0.8}, 0.6),
        (TWO, {"done": 0.75}, 0.0),
        (TWO, {"done": 0.76}, 0.52),
        (TWO, {"done": 0.4, "form": "2.2"}, 0.4),
        (TWO, {"done": 0.4, "form": "legacy"}, 0.4),
        (None, {"done": 0.4}, 0.4),
        (ONE, {"done": None}, 0.0),
        # The counters overrule a share that is above theirs, not one below.
        (ONE, {"done": 0.9, "issued": 30, "total": 100}, 0.3),
        (ONE, {"done": 0.2, "issued": 30, "total": 100}, 0.2),
        (ONE, {"done": 0.9, "issued": 30, "total": 100, "total_issued": 60}, 0.5),
        (ONE, {"done": 0.9, "issued": 30}, 0.9),
        (ONE, {"done": 0.9, "total": 100}, 0.9),
    ],
)
def test_so_much_of_a_repair_is_done_at_least(layout: Any, more: dict[str, Any], least: float) -> None:
    assert scans._least_done(scan(**more), PoolThen(layout)) == pytest.approx(least)


@pytest.mark.parametrize(
    ("more", "passes"),
    [
        # 100 GB of 1 TB scanned, of which 96 GB were passed over: 4 GB are due of 50 on this vdev.
        ({"scanned": 100, "issued": 97, "repaired": 0}, True),
        ({"scanned": 100, "issued": 88, "repaired": 0}, True),  # 12 are due: below a quarter of the half
        ({"scanned": 100, "issued": 87, "repaired": 0}, False),
        # What was issued for bytes resilvered is due too: six columns of what one drive got.
        ({"scanned": 100, "issued": 97, "repaired": 1}, True),
        ({"scanned": 100, "issued": 97, "repaired": 2}, False),
        # Never more than was issued.
        ({"scanned": 100, "issued": 100, "repaired": 100}, False),
        ({"scanned": 49, "issued": 49, "repaired": 0}, False),
        ({"scanned": 50, "issued": 50, "repaired": 0}, True),
        ({"scanned": 100, "issued": 97, "repaired": None}, False),
        ({"scanned": 100, "issued": None, "repaired": 0}, False),
        ({"scanned": 100, "issued": 97, "repaired": 0, "form": "2.2"}, False),
        ({"scanned": 100, "issued": 97, "repaired": 0, "state": "finished"}, False),
        ({"scanned": None, "issued": 0, "repaired": 0}, False),
        ({"scanned": 100, "issued": 101, "repaired": 0}, True),
    ],
)
def test_a_resilver_of_0_8_that_passes_over_most_of_its_vdev_heals(
    more: dict[str, Any], passes: bool
) -> None:
    told = scan(total=1000, **more)
    assert scans._passes_over(told, PoolThen(TWO)) is passes
    assert scans._passes_over(told, PoolThen(None)) is False


def test_the_kind_of_other_scans_is_what_they_say() -> None:
    pool = PoolThen(TWO, 12 * 10**12)
    small = scan(state="finished", elapsed=60.0, repaired=10**9)
    assert scans._kind(small, pool) == "heal"
    assert scans._kind(small, PoolThen(TWO, 12 * 10**12, of_class=True)) == "resilver"
    assert scans._kind(scan(function="rebuild", repaired=1), pool) == "rebuild"
    assert scans._kind(scan(repaired=10**12), pool) == "resilver"


def test_a_scan_that_is_over_is_evidence_with_its_resolution() -> None:
    over = Scan("scrub", "finished", form="legacy", at=NOON, elapsed=3600.0, repaired=7, errors=2)
    found = finished(over, PoolThen(), "zpool status")
    assert found is not None
    assert (found.kind, found.duration, found.resolution, found.end) == ("scrub", 3600.0, 60.0, NOON)
    assert (found.processed, found.errors, found.alloc, found.source) == (7, 2, None, "zpool status")
    newer = finished(Scan("scrub", "finished", form="2.0+", elapsed=1.0), PoolThen(), "x")
    assert newer is not None
    assert newer.resolution == 1.0
    assert finished(Scan("scrub", "finished"), PoolThen(), "x") is None
    assert finished(Scan("scrub", "canceled", elapsed=3600.0), PoolThen(), "x") is None


# When it began, and how long it has run.


@pytest.mark.parametrize(
    ("more", "at", "seconds"),
    [
        ({"at": NOON - timedelta(hours=1)}, NOON, 3600.0),
        ({"at": NOON}, NOON, 0.0),
        ({"at": NOON + timedelta(seconds=1)}, NOON, None),
        ({"at": NOON}, None, None),
        ({"at": NOON, "elapsed": 5.0}, None, 5.0),
        # Full minutes that are over: half of one more in the middle.
        ({"form": "legacy", "elapsed": 120.0}, None, 150.0),
        # One that is paused has run up to its pause.
        (
            {"state": "paused", "at": NOON, "since": NOON - timedelta(hours=2)},
            NOON + timedelta(days=1),
            7200.0,
        ),
        ({"state": "paused", "at": NOON}, NOON, None),
        # By zpool's own estimate, where no counter has its rate: 3 h to go at 25 % are one hour so far.
        ({"to_go": 10800.0, "done": 0.25}, None, 3600.0),
        ({"to_go": 10800.0, "done": 0.0}, None, None),
        ({"to_go": 10800.0, "done": 1.0}, None, None),
        ({"to_go": 10800.0, "done": None}, None, None),
        ({"to_go": None, "done": 0.25}, None, None),
        ({"to_go": 10800.0, "done": 0.25, "scanned": 1}, None, 3600.0),
        ({"to_go": 10800.0, "done": 0.25, "scanned": 1, "scan_rate": 1}, None, None),
        ({"to_go": 10800.0, "done": 0.25, "issued": 1, "issue_rate": 1}, None, None),
    ],
)
def test_so_long_a_scan_has_run(more: dict[str, Any], at: datetime | None, seconds: float | None) -> None:
    found = running(scan(**more), at, PoolThen(), "zpool status")
    assert found is not None
    assert found.elapsed == (None if seconds is None else pytest.approx(seconds))
    assert found.resolution == (60.0 if more.get("form") == "legacy" else 1.0)
    assert not found.elapsed_is_pass


def test_the_estimate_of_later_releases_counts_from_the_begin_of_the_pass() -> None:
    """Where the rate is lost, as of a picture that was read by a machine: "issued at 70lM/s"."""
    told = {"form": "2.2", "to_go": 10800.0, "done": 0.25, "issued": 1}
    found = running(scan(**told), None, PoolThen(), "zpool status")
    assert found is not None
    assert (found.elapsed, found.elapsed_is_pass) == (3600.0, True)


def test_a_scan_has_scanned_what_it_has_issued() -> None:
    """Of "8.2T / 25.1T scanned at 1.10G/s" 8.2T in 2 h were read, where 4 h 41 min had passed."""
    lines = ["resilver in progress since Sun Nov 15 12:00:00 2026", ""]
    rest = " / 25.1T scanned at 1.10G/s, 11.3T / 25.1T issued at 701M/s"
    lost, whole = read_scan([*lines, f"8.2T{rest}"]), read_scan([*lines, f"11.2T{rest}"])
    misread = read_scan([*lines, f"I8.2T{rest}"])
    assert misread is not None
    assert misread.scanned == nice_bytes("18.2T")
    assert lost is not None
    assert whole is not None
    assert (lost.scanned, lost.scan_rate, lost.issued) == (None, None, whole.issued)
    assert whole.scanned is not None


def test_what_runs_is_evidence_by_the_counters_of_its_release() -> None:
    counts = {"scanned": 9, "issued": 5, "total": 20, "total_issued": 12}
    at = NOON - timedelta(hours=1)

    def told(**more: Any) -> Any:
        return running(scan(**({"at": at} | counts | more)), NOON, PoolThen(), "x", 3)

    assert (told().format, told().total_issue, told().issued, told().vdevs) == ("0.8-2.1", None, 5, 3)
    assert (told(form="2.2").format, told(form="2.2").total_issue) == ("2.2+", 12)
    assert told(form="json", total_issued=0).total_issue is None
    # The legacy order knows no second counter.
    assert (told(form="legacy", issued=None).format, told(form="legacy", issued=None).issued) == ("legacy", 9)
    assert told(form="2.2", issued=None).issued is None
    assert told(form="").format == "unknown"
    assert (told(function="rebuild").format, told(function="rebuild").vdevs) == ("rebuild", 1)
    assert (told(function="scrub").vdevs, told(total=0).total) == (1, None)
    assert (told().since, told().at) == (at, NOON)
    # Solaris 11.2 has scanned all when it prints a share: it is that of what it resilvers.
    solaris = told(form="solaris", issued=None, done=0.25, total=100)
    assert (solaris.format, solaris.issued, solaris.total_issue) == ("2.2+", 25, 100)
    collects = told(form="solaris", issued=None, done=None, total=100)
    assert (collects.issued, collects.total_issue) == (0, None)
    assert running(scan(state="finished"), NOON, PoolThen(), "x") is None


def test_a_scan_began_when_it_says_or_as_long_before_its_end_as_it_took() -> None:
    assert started_of(scan(at=NOON)) == NOON
    assert started_of(scan(state="paused", at=NOON)) is None
    assert started_of(scan(state="paused", at=NOON, since=NOON - timedelta(1))) == NOON - timedelta(1)
    assert started_of(scan(state="finished", at=NOON, elapsed=60.0)) == NOON - timedelta(minutes=1)
    assert started_of(scan(state="finished", at=NOON)) is None
    assert started_of(scan(state="finished", elapsed=60.0)) is None


def test_drives_are_resilvered_in_as_many_vdevs_as_have_one() -> None:
    leaf, idle = Vdev("a", "disk", note="(resilvering)"), Vdev("b", "disk")
    tops = [Vdev("m", "mirror", children=each) for each in ((leaf, leaf), (idle, leaf), (idle, idle))]
    assert scans.resilvered_together(tops) == 2
    assert scans.resilvered_together(tops[2:]) == 1


def test_a_removal_tells_of_one_vdev_and_others_of_the_pool() -> None:
    assert to_examine(Scan("remove", "running", total=5), 3) == 15
    assert to_examine(Scan("scrub", "running", total=5), 3) == 5
    assert to_examine(Scan("remove", "running"), 3) is None


# Pools of which not all is shown.


@pytest.mark.parametrize(
    ("more", "replaced", "width"),
    [
        ({}, 1, 6), ({"issued": round(6.3 * 2**40)}, 1, 6), ({"issued": round(6.4 * 2**40)}, 1, None),
        ({"issued": round(5.7 * 2**40)}, 1, 6), ({"issued": round(5.6 * 2**40)}, 1, None),
        ({}, 2, 12), ({"issued": 2**40}, 1, 1), ({"issued": 2 * 2**40}, 1, None),
        ({"issued": 30 * 2**40}, 1, 30), ({"issued": 31 * 2**40}, 1, None), ({"form": "json"}, 1, 6),
        ({"form": "0.8"}, 1, None), ({"function": "scrub"}, 1, None), ({"issued": 0}, 1, None),
        ({"repaired": 0}, 1, None), ({"repaired": 2**30, "issued": 6 * 2**30}, 1, 6),
        ({"repaired": 2**30 - 1, "issued": 6 * 2**30}, 1, None), ({"issued": 2**39}, 2, None),
    ],
)  # fmt: skip
def test_what_a_resilver_wrote_tells_how_many_drives_a_vdev_has(
    more: dict[str, Any], replaced: int, width: int | None
) -> None:
    """Of six columns issued one was written: six drives; one for one is a mirror, of which all hold all."""
    told = scan(**({"form": "2.2", "issued": 6 * 2**40, "repaired": 2**40} | more))
    assert assumed.width_of(told, replaced) == width


def leaves(count: int, note: str = "") -> tuple[Vdev, ...]:
    """Return so many drives."""
    return tuple(Vdev(f"d{number}", "disk", "ONLINE", note) for number in range(count))


def test_a_vdev_of_which_drives_are_hidden_has_as_many_as_is_usual_or_told() -> None:
    quiet, tells_8 = scan(), scan(form="2.2", issued=8 * 2**40, repaired=2**40)
    raidz2 = Vdev("raidz2-0", "raidz", parity=2, children=leaves(3))
    assert assumed.usual(raidz2, quiet).drives == 6
    assert assumed.usual(raidz2, tells_8).drives == 8
    wide = Vdev("raidz2-0", "raidz", parity=2, children=leaves(9))
    assert assumed.usual(wide, quiet).drives == assumed.usual(wide, tells_8).drives == 9
    # Two drives are written at once: half of the columns each.
    two = Vdev("raidz2-0", "raidz", parity=2, children=(*leaves(1), *leaves(2, "(resilvering)")))
    assert assumed.usual(two, scan(form="2.2", issued=4 * 2**40, repaired=2**40)).drives == 8
    mirror = Vdev("mirror-0", "mirror", children=leaves(1))
    assert assumed.usual(mirror, tells_8).drives == 2
    pair = Vdev(
        "raidz1-0", "raidz", parity=1, children=(Vdev("replacing-6", "replacing", children=leaves(2)),)
    )
    assert assumed.usual(pair, quiet).drives == 7
    assert [each.name for each in assumed.usual(mirror, quiet).children] == ["d0", "mirror-0 1 (assumed)"]
    # A width that is told and no more than the parity tells of no RAID-Z.
    assert assumed.usual(Vdev("raidz3-0", "raidz", parity=3), scan(form="2.2", issued=3 * 2**40,
                         repaired=2**40)).drives == 7  # fmt: skip
    assert assumed.with_drives(raidz2, quiet, 5).drives == 5
    assert assumed.with_drives(raidz2, tells_8, 5).drives == 8


def test_vdevs_that_are_hidden_hold_what_is_not_to_be_issued() -> None:
    """Of 12 TB scanned 4 are on the vdev that is repaired: three vdevs."""
    shown = [Vdev("raidz2-0", "raidz", "DEGRADED", parity=2, children=leaves(6))]
    told = scan(form="2.2", scanned=12, total=12, total_issued=4)
    found = assumed.hidden_vdevs(shown, told)
    assert [(vdev.name, vdev.state, vdev.drives) for vdev in found] == [
        ("raidz2-1", "ONLINE", 6), ("raidz2-2", "ONLINE", 6),
    ]  # fmt: skip
    assert [child.name for child in found[0].children][:2] == ["raidz2 (assumed) 0", "raidz2 (assumed) 1"]
    for more in (
        {"form": "0.8"}, {"function": "scrub"}, {"state": "finished"}, {"scanned": 11}, {"scanned": None},
        {"total": None}, {"total_issued": None},
    ):  # fmt: skip
        assert assumed.hidden_vdevs(shown, scan(**({"form": "2.2", "scanned": 12, "total": 12,
                                                    "total_issued": 4} | more))) == ()  # fmt: skip
    assert assumed.hidden_vdevs([], told) == ()
    nearly = scan(form="2.2", scanned=995, total=1000, total_issued=500)
    assert len(assumed.hidden_vdevs(shown, nearly)) == 1


def pool_of(*vdevs: Vdev) -> PoolStatus:
    """Return a status that shows so much."""
    return PoolStatus("tank", "ONLINE", vdevs)


def test_a_pool_of_which_only_the_scan_is_shown_is_taken_for_a_usual_one_that_holds_it() -> None:
    def taken(told: Scan, *vdevs: Vdev) -> str:
        return assumed.assumed_words(assumed.assumed_vdevs(told, pool_of(*vdevs)))

    tb = 10**12
    assert taken(scan()) == "raidz2x6"
    assert taken(scan(form="2.2", issued=5 * 2**40, repaired=2**40)) == "raidz1x5"
    assert taken(scan(form="2.2", issued=6 * 2**40, repaired=2**40)) == "raidz2x6"
    assert taken(scan(form="2.2", issued=2**40, repaired=2**40)) == "mirror2"
    assert taken(scan(function="rebuild")) == "mirror2"
    assert taken(scan(function="rebuild", vdev="draid2:4d:8c:1s-0")) == "draid2:4d:8c:1s"
    assert taken(scan(function="remove")) == "2*mirror2"
    shown = Vdev("raidz1-0", "raidz", "ONLINE", parity=1, children=leaves(4))
    assert taken(scan(), shown) == "raidz1x4"
    # As many vdevs as hold what is scanned on the largest of common drives.
    assert taken(scan(total=1000 * tb)).endswith("*raidz2x6")
    one = Layout.parse(taken(scan(total=50 * tb)))
    many = Layout.parse(taken(scan(total=500 * tb)))
    assert len(many.data) > len(one.data) >= 1
    vdevs = assumed.assumed_vdevs(scan(), pool_of())
    assert [child.name for child in vdevs[0].children][5] == "drive 0.5 (assumed)"
    assert vdevs[0].name == "raidz-0"


# History and events.


def lines(*rows: tuple[str, str]) -> str:
    """Return lines of the kernel, each with its clock on one day."""
    return "History for 'tank':\n" + "".join(f"2026-11-15.{clock} {words}\n" for clock, words in rows)


def told(*rows: tuple[str, str]) -> list[tuple[str, float, int | None]]:
    """Return kind, duration and drives of the scans of a history."""
    [found] = pool_history.read_history(lines(*rows))
    return [(each.kind, each.duration, each.drives) for each in found.scans]


SETUP = "[txg:9] scan setup func={} mintxg={} maxtxg=99"
DONE = "[txg:99] scan done errors=0"


@pytest.mark.parametrize(
    ("function", "least", "kind"), [(1, 0, "scrub"), (2, 3, "resilver"), (2, 16, "resilver"), (2, 17, "heal")]
)
def test_a_resilver_of_what_is_younger_than_the_pool_heals(function: int, least: int, kind: str) -> None:
    found = told(("10:00:00", SETUP.format(function, least)), ("11:00:00", DONE))
    assert found == [(kind, 3600.0, None)]


def test_drives_that_were_replaced_before_a_resilver_are_its_own() -> None:
    resilver = (("10:00:00", SETUP.format(2, 3)), ("11:00:00", DONE))
    replaces = ("09:00:00", "zpool replace tank a b")
    assert told(replaces, replaces, *resilver) == [("resilver", 3600.0, 2)]
    # They are counted anew after it, and a scrub in between changes nothing.
    again = (("12:00:00", SETUP.format(2, 3)), ("12:30:00", DONE))
    assert told(replaces, *resilver, *again) == [("resilver", 3600.0, 1), ("resilver", 1800.0, None)]
    scrub = (("09:10:00", SETUP.format(1, 0)), ("09:20:00", DONE))
    assert told(replaces, *scrub, *resilver) == [("scrub", 600.0, None), ("resilver", 3600.0, 1)]
    assert told(("09:00:00", "zpool -o x replace tank a b"), *resilver)[0][2] is None
    assert told(("09:00:00", "zpool scrub tank"), *resilver)[0][2] is None


def test_a_scan_that_was_stopped_or_never_ended_is_none() -> None:
    setup = ("10:00:00", SETUP.format(1, 0))
    for words in ("scan cancelled", "scan aborted, restarting", "scan done complete=0"):
        assert told(setup, ("11:00:00", f"[txg:99] {words}"), ("12:00:00", DONE)) == []
    assert told(("10:00:00", SETUP.format(1, 0)), ("10:00:00", DONE)) == []
    assert told(("10:00:00", SETUP.format(1, 0)), ("09:00:00", DONE)) == []
    [open_] = pool_history.read_history(lines(setup))
    assert (open_.begun, open_.kind) == (datetime(2026, 11, 15, 10), "scrub")
    rebuild = (("10:00:00", "[txg:9] rebuild vdev_id=0 started"), ("10:30:00", "[txg:9] rebuild x complete"))
    assert told(*rebuild) == [("rebuild", 1800.0, None)]
    assert told(("10:00:00", SETUP.format(1, 0)), *rebuild, ("11:00:00", DONE)) == [
        ("rebuild", 1800.0, None), ("scrub", 3600.0, None),
    ]  # fmt: skip


def test_pool_version_28_says_whether_a_scan_came_to_its_end() -> None:
    setup = ("10:00:00", "[internal pool scrub txg:9] func=1 mintxg=0 maxtxg=9")
    assert told(setup, ("11:00:00", "[internal pool scrub done txg:9] complete=1")) == [
        ("scrub", 3600.0, None)
    ]
    assert told(setup, ("11:00:00", "[internal pool scrub done txg:9] complete=0")) == []
    assert told(setup, ("11:00:00", "[internal pool scrub done txg:9] x")) == []


EVENT = "Nov 15 2026 {clock}.123456789 sysevent.fs.zfs.{name}\n"


def events(*rows: tuple[str, str, str]) -> list[tuple[str, float]]:
    """Return kind and duration of the scans of one pool's events, each with clock, name and type."""
    text = "".join(
        EVENT.format(clock=clock, name=name) + (f'        resilver_type = "{kind}"\n' if kind else "")
        for clock, name, kind in rows
    )
    return [(each.kind, each.duration) for pool in pool_events.read_events(text) for each in pool.scans]


def test_events_pair_the_begin_and_the_end_of_one_function() -> None:
    start, finish = ("10:00:00", "resilver_start", ""), ("11:00:00", "resilver_finish", "")
    assert events(start, finish) == events(finish, start) == [("resilver", 3600.0)]
    assert events(("10:00:00", "resilver_start", "sequential"), finish) == [("rebuild", 3600.0)]
    assert events(("10:00:00", "resilver_start", "healing"), finish) == [("resilver", 3600.0)]
    assert events(("10:00:00", "scrub_start", "sequential"), ("10:00:10", "scrub_finish", "")) == [
        ("scrub", 10.0)
    ]  # fmt: skip
    assert events(start, ("10:30:00", "scrub_finish", "")) == []
    assert events(start, ("10:30:00", "resilver_abort", ""), finish) == []
    assert events(finish) == []
    assert events(start, ("10:00:00", "resilver_finish", "")) == []


# Lines of zpool status.


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("1T / 4T scanned at 2G/s, 1G / 3T issued at 5M/s",
         {"form": "2.2", "scanned": 1 << 40, "total": 4 << 40, "scan_rate": 2 << 30, "issued": 1 << 30,
          "total_issued": 3 << 40, "issue_rate": 5 << 20}),
        ("1T scanned at 2G/s, 1G issued at 5M/s, 4T total",
         {"form": "0.8+", "scanned": 1 << 40, "total": 4 << 40, "scan_rate": 2 << 30, "issued": 1 << 30,
          "total_issued": 4 << 40, "issue_rate": 5 << 20}),
        ("1T scanned out of 4T at 2G/s",
         {"form": "legacy", "scanned": 1 << 40, "total": 4 << 40, "scan_rate": 2 << 30, "issued": None}),
        ("1T scanned", {"form": "solaris", "scanned": 1 << 40, "total": 1 << 40}),
        ("3G resilvered at 7M/s, 25.5% done", {"repaired": 3 << 30, "done": 0.255, "issue_rate": 7 << 20}),
        ("3G repaired, 25.5% done, 1 days 02:03:04 to go", {"to_go": 93784.0, "form": "0.8+"}),
        ("25.5% done, 0 days 02:03:04 to go", {"done": 0.255, "to_go": 7384.0, "form": "0.8"}),
        ("25.5% done, 02:03:04 to go", {"to_go": 7384.0, "form": "2.0"}),
        ("25.5% done, 2h3m to go", {"to_go": 7380.0, "form": "legacy"}),
        # Solaris 11.2 prints no share while it collects blocks.
        ("1T scanned out of 4T at 2G/s\n3G resilvered", {"form": "solaris"}),
        ("1T scanned out of 4T at 2G/s\n3G resilvered, 1% done", {"form": "legacy"}),
    ],
)  # fmt: skip
def test_progress_is_read_by_the_words_around_its_numbers(words: str, wanted: dict[str, Any]) -> None:
    found = read_scan(["resilver in progress since Sun Nov 15 12:00:00 2026", *words.split("\n")])
    assert found is not None
    assert {name: getattr(found, name) for name in wanted} == {
        name: pytest.approx(value) if isinstance(value, float) else value for name, value in wanted.items()
    }
    assert (found.at, found.state) == (NOON, "running")


@pytest.mark.parametrize(
    ("kind", "state", "note", "left"),
    [
        ("disk", "ONLINE", "", ["spare", "new"]), ("disk", "UNAVAIL", "", ["old", "new"]),
        ("distributed-spare", "ONLINE", "", ["old", "new"]), ("disk", "ONLINE", "(resilvering)", None),
    ],
)  # fmt: skip
def test_a_successor_is_repaired_from_the_spare_that_holds_its_data(
    kind: str, state: str, note: str, left: list[str] | None
) -> None:
    """Unless the spare is gone, is no drive, or is resilvered itself: then the pair is as it stands."""
    inner = Vdev(
        "replacing-0", "replacing", children=(Vdev("old", "disk", "UNAVAIL"), Vdev("new", "disk", "ONLINE"))
    )
    pair = Vdev("spare-0", "spare", children=(inner, Vdev("spare", kind, state, note)))
    found = repaired_pair(pair)
    assert [each.name for each in found.children] == (left or ["replacing-0", "spare"])
    assert repaired_pair(inner) is inner
