"""Times of passes, redundancy, the answer of many worlds and its words, with numbers written down."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.planning.timeline.telling import EVEN, answer, row, three
from zsim.planning.timeline import result, wording
from zsim.planning.timeline.passes import (
    MIDDLE,
    SHARES,
    WORLDS,
    Passes,
    PassTimes,
    in_worlds,
    quantiles,
    times_of,
)
from zsim.planning.timeline.plan import Plan
from zsim.planning.timeline.redundancy import Ledger, Level, TimelineVdev, seconds_at, vdevs_of
from zsim.planning.timeline.rules import _line, _table, rules_of
from zsim.planning.timeline.scans import Pass, last_position
from zsim.prediction.answer.records import VERIFYING_SCRUB, Quantiles
from zsim.scenario.layout import Layout
from zsim.scenario.releases.profile import load_release

HOUR, DAY = 3600.0, 86400.0


# --- times in worlds


def test_there_are_99_worlds_of_which_the_middle_is_the_median() -> None:
    assert (len(SHARES), SHARES[0], SHARES[-1], SHARES[MIDDLE]) == (99, 0.01, 0.99, 0.5)


def test_a_time_is_log_normal_to_both_sides_of_its_median() -> None:
    """Twice p90's score lies at p90 squared over the median; a p10 of nothing tells no law."""
    found = in_worlds(Quantiles(p10=50.0, p50=100.0, p90=400.0))
    assert found[MIDDLE] == pytest.approx(100)
    assert (found[9], found[89]) == pytest.approx((50, 400))
    # At 1 % and 99 % the score is 2.3263, of 1.2816 at the tenth.
    assert (found[0], found[-1]) == pytest.approx((100 * 0.5**1.81523, 100 * 4**1.81523), rel=1e-4)
    assert in_worlds(Quantiles(p10=0.5, p50=1.0, p90=2.0))[9] == pytest.approx(0.5), "of less than a second"
    for odd in (Quantiles(p10=0.0, p50=7.0, p90=9.0), Quantiles(p50=7.0), Quantiles(p50=7.0, p90=9.0)):
        assert set(in_worlds(odd)) == {7.0}


def test_quantiles_are_the_10th_50th_and_90th_world_and_none_where_it_never_ends() -> None:
    assert quantiles(np.arange(99.0, 0.0, -1.0)) == (10.0, 50.0, 90.0)
    never = np.where(np.arange(99) < 60, 5.0, np.inf)
    assert quantiles(never) == (5.0, 5.0, None)
    assert quantiles(np.full(99, np.inf)) == (None, None, None)


def test_work_and_time_go_by_the_curve() -> None:
    """Nothing is done in the first fifth, three tenths by three fifths."""
    times = PassTimes(EVEN, (np.array([0.0, 0.2, 0.6, 1.0]), np.array([0.0, 0.0, 0.3, 1.0])))
    assert [times.done(gone) for gone in (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)] == pytest.approx(
        [0, 0, 0, 0.15, 0.3, 0.65, 1]
    )
    assert [times.gone(share) for share in (0.0, 0.15, 0.3, 0.65, 1.0, 1.5)] == pytest.approx(
        [0, 0.4, 0.6, 0.8, 1, 1]
    )
    assert PassTimes(EVEN).gone(0.25) == 0.25


def test_a_pass_over_a_part_takes_that_part_and_a_txg_at_least() -> None:
    times = PassTimes(EVEN, collecting=0.3, read_bytes=1000, written_bytes=100, scrub=0.5)
    part = times.stretched(0.1, 2 * HOUR)
    assert (part.seconds == 2 * HOUR).all()
    assert (part.read_bytes, part.written_bytes, part.collecting) == (100, 10, 0.3)
    assert (times.stretched(0.3, 2 * HOUR).seconds == 3 * HOUR).all()
    after = times.verifying()
    assert (after.seconds == 5 * HOUR).all()
    assert (after.read_bytes, after.written_bytes, after.collecting, after.scrub) == (0, 0, 0.0, 0.0)


def prediction(**changes: Any) -> Any:
    def phase(name: str, seconds: float) -> Any:
        return SimpleNamespace(name=name, duration_s=seconds)

    known = {
        "resilver_s": Quantiles(p10=50.0, p50=100.0, p90=200.0),
        "progress": [SimpleNamespace(time_s=20.0, fraction=0.1), SimpleNamespace(time_s=60.0, fraction=0.5)],
        "phases": [phase("metadata scan", 15.0), phase("metadata scan again", 5.0), phase("issue", 80.0),
                   phase(VERIFYING_SCRUB, 40.0)],
        "read_bytes": 7, "written_bytes": 3,
    }  # fmt: skip
    return SimpleNamespace(**{**known, **changes})


def test_the_times_of_a_prediction_are_shares_of_its_median() -> None:
    times = times_of(prediction())
    gone, done = times.curve
    assert gone.tolist() == [0.0, 0.2, 0.6, 1.0]
    assert done.tolist() == [0.0, 0.1, 0.5, 1.0]
    assert (times.collecting, times.scrub) == pytest.approx((0.2, 0.4))
    assert (times.read_bytes, times.written_bytes, times.seconds[MIDDLE]) == (7, 3, pytest.approx(100))
    # Points beyond the median, and shares that fall, do not turn back.
    late = [SimpleNamespace(time_s=50.0, fraction=0.6), SimpleNamespace(time_s=130.0, fraction=0.5)]
    gone, done = times_of(prediction(progress=late)).curve
    assert (gone.tolist(), done.tolist()) == ([0.0, 0.5, 1.0, 1.0], [0.0, 0.6, 0.6, 1.0])
    none = times_of(prediction(progress=[], phases=[SimpleNamespace(name="metadata", duration_s=900.0)]))
    assert (none.done(0.3), none.collecting, none.scrub) == (pytest.approx(0.3), 1.0, 0.0)


def test_a_pass_is_predicted_from_a_full_quarter_of_an_hour_of_the_world_told_first() -> None:
    passes = Passes()
    assert passes.moment(1, 449.0) == 0
    assert passes.moment(2, 451.0) == 900
    assert passes.moment(3, 5000.0) == 5400
    assert passes.moment(2, 99_999.0) == 900, "what was told first holds"


def test_passes_of_sick_drives_that_are_away_change_as_much_as_the_answer_does(monkeypatch: Any) -> None:
    """Without drive 1 the median is 60 of 100, without drive 2 it is 80: the better of the two counts."""
    sick = [SimpleNamespace(drive=1, offline_s=60.0), SimpleNamespace(drive=2, offline_s=80.0),
            SimpleNamespace(drive=3, offline_s=None)]  # fmt: skip
    asked: list[dict[str, Any]] = []

    def predicted(_self: Passes, _scenario: Any, changes: dict[str, Any]) -> Any:
        asked.append(changes)
        return prediction(sick=sick)

    monkeypatch.setattr(Passes, "_predicted", predicted)
    pool = Plan.from_dict({"scenario": {"layout": "draid1:2d:6c:1s+draid1:4d:8c:1s"}}).pool
    for away, factor in (((), 1.0), ((1,), 0.6), ((2,), 0.8), ((1, 2), 0.6), ((3,), 1.0), ((4,), 1.0)):
        times = Passes().resilver(pool, 0, 1, "missing", away=away)
        assert times.seconds[MIDDLE] == pytest.approx(100 * factor)
    assert asked[0] == {"replace": 1, "old_drive": "missing", "operation": "resilver", "target": "new-drive"}
    Passes().resilver(pool, 1, 2, "online", "rebuild", target="distributed-spare")
    assert asked[-1] == {
        "replace": 2,
        "operation": "rebuild",
        "replace_in": "1",
        "target": "distributed-spare",
    }
    Passes().removal(pool, 0)
    assert asked[-1] == {"operation": "remove"}
    alike = Plan.from_dict({"scenario": {"layout": "2*mirror2"}}).pool
    Passes().expansion(alike, 1)
    assert asked[-1] == {"operation": "expand"}, "like the first, so it need not be named"
    Passes().resilver(alike, 1, 1, "online")
    assert "target" not in asked[-1]


# --- words


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.0, "00:00"), (29.0, "00:00"), (31.0, "00:01"), (3599.0, "01:00"), (86399.0, "1d 00:00"),
     (86400.0, "1d 00:00"), (2 * 86400 + 13 * 3600 + 7 * 60, "2d 13:07"), (86340.0, "23:59")],
)  # fmt: skip
def test_a_moment_is_days_hours_and_minutes(seconds: float, told: str) -> None:
    assert wording.clock(seconds) == told


@pytest.mark.parametrize(
    ("values", "told"),
    [((HOUR, 2 * HOUR, 3 * HOUR), "2 h (1 h to 3 h)"), ((HOUR, HOUR, HOUR), "1 h"),
     ((HOUR, 2 * HOUR, None), "2 h (1 h to never)"),
     ((None, 2 * HOUR, 3 * HOUR), "2 h (0 s to 3 h)"), ((None, None, None), "never"),
     ((HOUR, None, None), "never")],
)  # fmt: skip
def test_a_length_is_a_range_that_may_never_end(values: Any, told: str) -> None:
    assert wording.span(three(*values)) == told


def test_the_first_line_says_when_the_pool_is_whole() -> None:
    assert wording.headline(answer()) == "a plan: whole after 2 h (1 h to 3 h)"
    assert (
        wording.headline(answer(whole_s=three(None, None, None))) == "a plan: the pool is never whole again"
    )
    assert wording.stated(answer()) == ()
    scrubbed: dict[str, Any] = {"passes": (row(0.0, HOUR, HOUR, HOUR, kind="scrub"),), "whole": EVEN * 0.0}
    assert ": whole all the time; the scrub ends after" in wording.headline(answer(**scrubbed))
    short = answer(**scrubbed, redundancy=(Level("raidz2-0", 0.0, HOUR, 1),))
    assert ": never whole: nothing replaces what raidz2-0 lacks; the scrub" in wording.headline(short)
    stated = answer(provenance={"scenario": {"layout": "raidz2x6"}})
    assert wording.stated(stated) == ("Stated: layout raidz2x6.",)


@pytest.mark.parametrize(
    ("left", "is_last", "told"),
    [(0, False, "raidz2-0: no redundancy from 01:00 to 03:00 (2 h)."),
     (1, False, "raidz2-0: one more drive may fail from 01:00 to 03:00 (2 h)."),
     (2, False, "raidz2-0: 2 more drives may fail from 01:00 to 03:00 (2 h)."),
     (0, True, "raidz2-0: no redundancy from 01:00 on."),
     (-1, True, "raidz2-0: data lost at 01:00."), (-1, False, "raidz2-0: data lost at 01:00.")],
)  # fmt: skip
def test_lowered_redundancy_is_a_sentence(left: int, is_last: bool, told: str) -> None:
    assert wording.exposure(Level("raidz2-0", HOUR, 3 * HOUR, left), is_last=is_last) == told


def test_sentences_tell_what_is_below_full_and_what_was_done_twice() -> None:
    levels = (
        Level("raidz2-0", 0, HOUR, 2),
        Level("raidz2-0", HOUR, 2 * HOUR, 1),
        Level("raidz2-0", 2 * HOUR, 3 * HOUR, 2),
    )
    passes = (row(0, 1, 2, 3, read_bytes=10**12, written_bytes=10**9), row(0, 1, 2, 3, read_bytes=10**12))
    found = wording.sentences(
        answer(redundancy=levels, passes=passes, redone_bytes=2**30, notes=("it is so",))
    )
    assert found == (
        "raidz2-0: one more drive may fail from 01:00 to 02:00 (1 h).",
        "1.82T read and 954M written.",
        "1G of that was done twice, because a pass restarted or went back to its last saved position.",
        "It is so.",
    )
    assert len(wording.sentences(answer())) == 1


def test_a_bar_runs_to_the_median_and_is_light_until_p90() -> None:
    """Ten characters of an hour each."""
    assert wording.bar(row(2 * HOUR, HOUR, 5 * HOUR, 8 * HOUR), 10 * HOUR, 10) == "  ███░░░  "
    assert wording.bar(row(0, HOUR, 5 * HOUR, None), 10 * HOUR, 10) == "█████░░░░░"
    assert wording.bar(row(HOUR, None, None, None), 10 * HOUR, 10) == " █████████"
    assert wording.bar(row(2 * HOUR, 5, 5 * HOUR, 5 * HOUR, completed=False), 10 * HOUR, 10) == "  ▒▒▒     "
    # One character at the least, and none beyond the end.
    assert wording.bar(row(2.1 * HOUR, 0, 2.3 * HOUR, 2.3 * HOUR), 10 * HOUR, 10) == "  █       "
    assert wording.bar(row(2.9 * HOUR, 0, 2.95 * HOUR, 2.95 * HOUR), 10 * HOUR, 10) == "  █       "
    assert wording.bar(row(10 * HOUR, 0, 10 * HOUR, 12 * HOUR), 10 * HOUR, 10) == "         █"
    assert len(wording.bar(row(0, 1, 2, 3), 10 * HOUR)) == 40


def test_the_axis_ends_with_the_last_of_what_ends() -> None:
    assert (
        wording.end_of(answer(passes=(row(0, HOUR, 2 * HOUR, 9 * HOUR), row(0, HOUR, None, None))))
        == 9 * HOUR
    )
    levels = (Level("raidz2-0", 0, 11 * HOUR, 1),)
    assert wording.end_of(answer(passes=(row(0, HOUR, 2 * HOUR, 9 * HOUR),), redundancy=levels)) == 11 * HOUR
    assert wording.end_of(answer()) == 1.0
    assert wording.end_of(answer(redundancy=(Level("raidz2-0", 0.0, 0.0, 2),))) == 1.0


def test_the_table_of_passes_tells_begin_and_end() -> None:
    found = answer(passes=(
        row(HOUR, 2 * HOUR, 3 * HOUR, 5 * HOUR), row(0, HOUR, HOUR, HOUR), row(0, HOUR, 2 * HOUR, None),
        row(0, None, None, None),
    ))  # fmt: skip
    grid = wording.gantt_grid(found)
    assert grid.head == ("vdev", "pass", "00:00 to 05:00", "begins", "ends (p10 to p90)")
    assert [each[3:] for each in grid.rows] == [
        ("01:00", "03:00 (02:00 to 05:00)"), ("00:00", "01:00"), ("00:00", "02:00 (01:00 to never)"),
        ("00:00", "never"),
    ]  # fmt: skip
    assert [each[:2] for each in grid.rows] == [("raidz2-0", "resilver")] * 4
    assert wording.story_grid(((600.0, "it begins"),)).rows == (("00:10", "it begins"),)
    assert "zpool replace" in wording.as_html(found)
    text = str(answer(passes=found.passes, story=((600.0, "it begins"),)))
    assert text.splitlines()[0] == "a plan: whole after 2 h (1 h to 3 h)"
    assert text.splitlines()[-1].split() == ["00:10", "it", "begins"]


# --- the answer of many worlds


def pool_of(**changes: Any) -> Any:
    known: dict[str, Any] = {
        "lost": False, "endless": False, "is_whole": True, "now": 0.0, "history": [],
        "ledger": Ledger([(0.0, "raidz2-0", 2)]),
    }  # fmt: skip
    return SimpleNamespace(**{**known, **changes})


def done(kind: str = "resilver", begins: float = 0.0, ends: float = HOUR, **more: Any) -> Pass:
    made = Pass(kind, "raidz2-0", "", PassTimes(EVEN, read_bytes=1000, written_bytes=100), begins=begins)  # type: ignore[arg-type]
    made.ends, made.completed = ends, math.isfinite(ends)
    for name, value in more.items():
        setattr(made, name, value)
    return made


def test_a_pool_is_whole_for_good_when_the_last_repair_has_ended() -> None:
    assert result.whole_at(pool_of()) == 0.0
    assert result.whole_at(pool_of(history=[done(), done(ends=5 * HOUR), done(ends=2 * HOUR)])) == 5 * HOUR
    assert result.whole_at(pool_of(history=[done("scrub", ends=5 * HOUR)])) == 0.0, "a scrub repairs nothing"
    for kind in ("rebuild", "expansion", "removal"):
        assert result.whole_at(pool_of(history=[done(kind)])) == HOUR
    marks = Ledger([(0.0, "raidz2-0", 1), (3 * HOUR, "raidz2-0", 2)])
    assert result.whole_at(pool_of(history=[done()], ledger=marks)) == 3 * HOUR
    for never in (
        {"lost": True},
        {"endless": True},
        {"is_whole": False},
        {"history": [done("scrub", ends=math.inf)]},
    ):
        assert result.whole_at(pool_of(**never)) == math.inf


def test_the_end_of_a_story_and_the_best_redundancy_of_its_vdevs() -> None:
    pool = pool_of(now=2 * HOUR, history=[done(), done(ends=math.inf)])
    assert result._end(pool) == 2 * HOUR
    assert result._end(pool_of(now=0.0, history=[done(ends=3 * HOUR), done(ends=math.inf)])) == 3 * HOUR
    pool.vdevs = [SimpleNamespace(name=name, spec=SimpleNamespace(tolerance=2)) for name in ("a", "b")]
    assert result._full(pool) == {"a": 2, "b": 2}, "b lacks a drive all the time"


def test_a_pass_is_the_same_in_every_world_by_its_kind_and_number() -> None:
    """Bytes are those of the part that ran; what never ends in the middle world is told whole."""
    given_up = done(ends=HOUR, position=0.25)
    given_up.completed = False
    history = [given_up, done(ends=4 * HOUR, position=1.0), done("scrub", begins=4 * HOUR, ends=math.inf)]
    found = result._named(history)
    assert [name for name, _ in found] == [
        ("resilver", "raidz2-0", 1), ("resilver", "raidz2-0", 2), ("scrub", "raidz2-0", 1),
    ]  # fmt: skip
    worlds = [pool_of(history=history) for _ in range(WORLDS)]
    worlds[3] = pool_of(history=history[:1])
    rows = result._rows(worlds)
    assert [(each.kind, each.completed) for each in rows] == [
        ("resilver", False),
        ("resilver", True),
        ("scrub", False),
    ]
    assert [(each.read_bytes, each.written_bytes) for each in rows] == [(250, 25), (1000, 100), (1000, 100)]
    assert rows[0].ends_s == three(HOUR, HOUR, HOUR)
    assert rows[2].ends_s == three(None, None, None)
    assert rows[2].begins_s == 4 * HOUR


def test_time_below_full_redundancy_is_told_by_world() -> None:
    levels = [[Level("a", 0, 10, 1), Level("a", 10, 20, 2)], [Level("a", 0, 4, 0), Level("a", 4, 20, 1)]]
    found = result._exposed(levels, 2)
    assert {left: times.tolist() for left, times in found.items()} == {0: [0.0, 4.0], 1: [10.0, 16.0]}
    assert seconds_at([Level("a", 0, 10, 2)], 2) == {}


# --- redundancy


def test_levels_are_stretches_and_the_last_is_told_even_if_it_is_empty() -> None:
    ledger = Ledger([(0.0, "a", 2), (0.0, "b", 1), (5.0, "a", 1), (5.0, "a", 0), (9.0, "a", 2)])
    assert ledger.levels(9.0) == [
        Level("a", 0.0, 5.0, 2), Level("a", 5.0, 9.0, 0), Level("a", 9.0, 9.0, 2), Level("b", 0.0, 9.0, 1),
    ]  # fmt: skip


def vdev(layout: str = "raidz2x6") -> TimelineVdev:
    return vdevs_of(Layout.parse(layout))[0]


def test_a_vdev_may_lose_what_it_tolerates_less_what_does_not_serve() -> None:
    one = vdev()
    assert (one.name, one.left, one.is_whole) == ("raidz2-0", 2, True)
    for slot, state in zip(one.slots, ("gone", "spared", "away", "stale", "whole"), strict=False):
        slot.state = state  # type: ignore[assignment]
    assert one.left == -1, "three of them do not serve"
    one.slots[0].state = "whole"
    assert (one.left, one.is_whole) == (0, False)
    for slot in one.slots:
        slot.state = "gone"
    assert one.left == -1
    one.removed = True
    assert (one.left, one.is_whole) == (2, True)


def test_vdevs_grow_and_shrink() -> None:
    mirror, raidz = vdev("mirror2"), vdev("raidz1x4")
    mirror.widened(2)
    assert (str(mirror.spec), len(mirror.slots), mirror.left) == ("mirror4", 4, 3)
    mirror.widened(-1)
    assert (str(mirror.spec), len(mirror.slots), mirror.name) == ("mirror3", 3, "mirror-0")
    raidz.expanded()
    assert (str(raidz.spec), len(raidz.slots)) == ("raidz1x4+1", 5)
    assert raidz.spec.children == 5


# --- rules


def test_systems_stand_on_the_line_of_versions() -> None:
    assert _line(load_release("freebsd-9.2")) == _line(load_release("solaris-11.2")) == (0, 6)
    assert _line(load_release("freebsd-10.3")) == (0, 6, 5)
    assert _line(load_release("openzfs-2.1.5")) == (2, 1, 5)
    era = {"choice": "a", "text": "t", "source": "s"}
    data = {
        "x": [{**era, "from": "0.6"}, {**era, "from": "2.1", "choice": "b"}],
        "y": [{**era, "from": "2.2"}],
        "n": 3,
    }
    for line, choice in (((2, 0, 9), "a"), ((2, 1), "b"), ((2, 1, 5), "b"), ((0, 6), "a")):
        found = _table(data, line)
        assert found["x"] is not None
        assert found["x"].choice == choice
        assert found["y"] is None
        assert "n" not in found


def test_a_resilver_restarts_below_the_share_that_is_early() -> None:
    release = load_release("openzfs-2.3")
    rules = rules_of(release, release.order)
    assert (rules.second_target, rules.early) == ("defer-unless-early", 0.1)
    assert [rules.restarts(share) for share in (0.0, 0.0999, 0.1, 0.5)] == [True, True, False, False]
    assert (rules.txg_s, rules.import_wait_s, rules.checkpoint_s) == (5.0, 25.0, 7200.0)
    assert rules.choice("nothing") == rules.text("nothing") == ""
    old = load_release("zol-0.7")
    legacy = rules_of(old, old.order)
    assert (legacy.import_wait_s, legacy.sorted_scan, legacy.scrub_after_rebuild) == (0.0, False, False)


# --- passes that go back


@pytest.mark.parametrize(
    ("now", "collecting", "position"),
    [(9.0, 2.0, 0.0), (9.0, 4.0, 8.0), (7.9, 4.0, 0.0), (8.0, 4.0, 8.0), (15.9, 4.0, 8.0), (16.0, 4.0, 16.0)],
)
def test_a_sorted_scan_writes_its_position_after_each_interval_of_collecting(
    now: float, collecting: float, position: float
) -> None:
    """Of 16 h: an interval of two hours of collecting is half of four, so every 8 h; none of two hours."""
    assert last_position(now * HOUR, collecting * HOUR, 16 * HOUR, 2 * HOUR) == position * HOUR


def test_a_pass_that_was_watched_keeps_its_pace() -> None:
    """Halfway through ten hours, with twenty left: four times as slow from now on."""
    one = done(position=0.5)
    one.leaves(20 * HOUR, MIDDLE)
    assert one.pace == 4.0
    assert one.seconds(MIDDLE) == 40 * HOUR
    over = done(position=1.0)
    over.leaves(HOUR, MIDDLE)
    assert over.pace == 1.0
    assert over.bytes == 1100


def test_another_pace_goes_on_from_the_share_of_the_work() -> None:
    """Three tenths are done after three fifths of the time; evenly they are after three tenths."""
    curve = (np.array([0.0, 0.2, 0.6, 1.0]), np.array([0.0, 0.0, 0.3, 1.0]))
    one = done(position=0.6)
    one.times = PassTimes(EVEN, curve)
    one.retimed(PassTimes(EVEN))
    assert one.position == pytest.approx(0.3)
    # Before anything is issued a tenth of the time stays a tenth, if the other issues nothing by then.
    early = done(position=0.1)
    early.times = PassTimes(EVEN, curve)
    early.retimed(PassTimes(EVEN, curve))
    assert early.position == pytest.approx(0.1)
    early.times = PassTimes(EVEN, curve)
    early.retimed(PassTimes(EVEN))
    assert early.position == pytest.approx(0.0, abs=1e-8)
