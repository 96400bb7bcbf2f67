"""Times of passes, their words and pictures, and the ranking of alternatives, with numbers written down."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.planning.timeline.telling import tell
from zsim.base.errors import InputError
from zsim.planning.timeline import decisions, gantt, result, wording
from zsim.planning.timeline.decisions import Decision, DecisionAlternative, alternatives, ranked, state_of
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
from zsim.planning.timeline.records import PassRow
from zsim.planning.timeline.redundancy import Ledger, Level, TimelineVdev, seconds_at, vdevs_of
from zsim.planning.timeline.result import Timeline
from zsim.planning.timeline.rules import LINES, _line, _table, rules_of
from zsim.planning.timeline.scans import Pass, last_position
from zsim.prediction.answer.records import VERIFYING_SCRUB, Quantiles
from zsim.scenario.evidence import RunningScan
from zsim.scenario.layout import Layout
from zsim.scenario.releases.profile import load_release

HOUR, DAY = 3600.0, 86400.0
EVEN = np.full(WORLDS, 10 * HOUR)


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
    assert after.read_bytes == 0


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


def three(low: float | None, middle: float | None, high: float | None) -> Any:
    return {"p10": low, "p50": middle, "p90": high}


@pytest.mark.parametrize(
    ("values", "told"),
    [((HOUR, 2 * HOUR, 3 * HOUR), "2 h (1 h to 3 h)"), ((HOUR, HOUR, HOUR), "1 h"),
     ((HOUR, 2 * HOUR, None), "2 h (1 h to never)"), ((None, None, None), "never"),
     ((HOUR, None, None), "never")],
)  # fmt: skip
def test_a_length_is_a_range_that_may_never_end(values: Any, told: str) -> None:
    assert wording.span(three(*values)) == told


def row(begins: float, p10: float | None, p50: float | None, p90: float | None, **more: Any) -> PassRow:
    made = {"vdev": "raidz2-0", "kind": "resilver", "cause": "zpool replace", **more}
    return PassRow(begins_s=begins, ends_s=three(p10, p50, p90), **made)


def answer(**changes: Any) -> Timeline:
    made: dict[str, Any] = {
        "title": "a plan", "passes": (), "whole_s": three(HOUR, 2 * HOUR, 3 * HOUR), "redundancy": (),
        "redone_bytes": 0, "story": (), "notes": (), "provenance": {}, "whole": EVEN, "exposed": {},
        "full": {"raidz2-0": 2}, "redone": np.zeros(WORLDS),
    }  # fmt: skip
    return Timeline(**{**made, **changes})


def test_the_first_line_says_when_the_pool_is_whole() -> None:
    assert wording.headline(answer()) == "a plan: whole after 2 h (1 h to 3 h)"
    assert (
        wording.headline(answer(whole_s=three(None, None, None))) == "a plan: the pool is never whole again"
    )
    assert wording.stated(answer()) == ()
    stated = answer(provenance={"scenario": {"layout": "raidz2x6"}})
    assert wording.stated(stated) == ("Stated: layout raidz2x6.",)


@pytest.mark.parametrize(
    ("left", "is_last", "told"),
    [(0, False, "raidz2-0: no redundancy from 01:00 to 03:00 (2 h)."),
     (1, False, "raidz2-0: one more drive may fail from 01:00 to 03:00 (2 h)."),
     (2, False, "raidz2-0: 2 more drives may fail from 01:00 to 03:00 (2 h)."),
     (0, True, "raidz2-0: no redundancy from 01:00 on, and nothing restores it."),
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
        "1G of that twice, because a pass began again or went back.",
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
    text = wording.as_text(answer(passes=found.passes, story=((600.0, "it begins"),)))
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
    pool = pool_of(now=2 * HOUR, history=[done(), done(ends=math.inf)],
                   ledger=Ledger([(0.0, "a", 0), (1.0, "a", 2), (2.0, "a", 1), (0.0, "b", 1)]))  # fmt: skip
    assert result._end(pool) == 2 * HOUR
    assert result._end(pool_of(now=0.0, history=[done(ends=3 * HOUR), done(ends=math.inf)])) == 3 * HOUR
    assert result._full(pool) == {"a": 2, "b": 1}


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
    assert _line(load_release("freebsd-9.2")) == LINES["freebsd-9"] == (0, 6)
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


# --- alternatives


def way(name: str, whole: Any, naked: float | None = None, redone: int = 0) -> DecisionAlternative:
    exposed = {} if naked is None else {0: np.full(WORLDS, naked)}
    values = np.full(WORLDS, whole) if isinstance(whole, int | float) else whole
    return DecisionAlternative(
        name,
        answer(title=name, whole=values, exposed=exposed, redone_bytes=redone,
               whole_s=dict(zip(("p10", "p50", "p90"), quantiles(values), strict=True))),
    )  # fmt: skip


def order(*ways: DecisionAlternative) -> list[tuple[str, str]]:
    return [(each.name, each.reason) for each in ranked(ways)]


def test_the_best_has_the_least_time_without_redundancy_then_it_is_whole_first() -> None:
    slow, quick = way("slow", 20 * HOUR, HOUR), way("quick", 10 * HOUR, 3 * HOUR)
    assert order(quick, slow) == [("slow", "best"), ("quick", "2 h longer without redundancy")]
    assert order(way("a", 20 * HOUR), way("b", 10 * HOUR)) == [("b", "best"), ("a", "whole 10 h later")]
    # Below a minute nobody tells them apart.
    assert order(way("a", 20 * HOUR, 30.0), way("b", 10 * HOUR, 59.0))[0][0] == "b"
    assert order(way("a", 20 * HOUR, 3600.0), way("b", 10 * HOUR, 3900.0)) == [
        ("a", "best"), ("b", "5 min longer without redundancy"),
    ]  # fmt: skip


def test_what_is_nearly_equal_is_told_apart_by_work_lost() -> None:
    assert order(way("a", 100 * HOUR, redone=2**30), way("b", 100.1 * HOUR)) == [
        ("b", "best"), ("a", "1G more done twice"),
    ]  # fmt: skip
    assert order(way("a", 100 * HOUR), way("b", 100 * HOUR))[1][1] == "no difference that counts"


def test_what_never_is_whole_comes_last() -> None:
    assert order(way("never", np.inf), way("once", 1000 * HOUR)) == [
        ("once", "best"),
        ("never", "never whole"),
    ]
    seldom = np.where(np.arange(WORLDS) < 30, np.inf, HOUR)
    assert [name for name, _ in order(way("seldom", seldom), way("slow", 50 * HOUR))] == ["slow", "seldom"]


def test_how_often_one_is_later_is_said_where_it_is_not_nearly_always() -> None:
    """Later by two hours in 60 of 99 worlds, earlier by one in the others."""
    base = np.full(WORLDS, 10 * HOUR)
    mixed = base + np.where(np.arange(WORLDS) < 60, 2 * HOUR, -HOUR)
    found = ranked((way("a", base), way("b", mixed)))
    assert [(each.name, each.reason) for each in found] == [
        ("a", "best"), ("b", "whole 2 h later, in 61% of the simulated pools"),
    ]  # fmt: skip
    assert [each.wins for each in found] == pytest.approx([60 / 99, 39 / 99])
    nearly = base + np.where(np.arange(WORLDS) < 95, 2 * HOUR, -HOUR)
    assert order(way("a", base), way("b", nearly))[1][1] == "whole 2 h later"
    # The best may be whole later, where the other is longer without redundancy by less than a minute.
    both = ranked((way("a", base), way("b", base.copy())))
    assert [each.wins for each in both] == [1.0, 1.0]


def test_a_decision_is_a_table_and_plain_data() -> None:
    found = Decision(ranked((way("a", 10 * HOUR, HOUR, 2**30), way("b", 20 * HOUR))), ("it is so",))
    assert found.best.name == "b"
    grid = found.grid()
    assert grid.head == ("alternative", "whole after (p10 to p90)", "no redundancy", "work lost", "reason")
    assert grid.rows == (
        ("b", "20 h", "0 s", "0", "best"), ("a", "10 h", "1 h", "1G", "1 h longer without redundancy"),
    )  # fmt: skip
    text = str(found).splitlines()
    assert text[0] == "Best: b; whole after 20 h"
    assert text[-1] == "It is so."
    data: Any = found.to_dict()
    assert data["alternatives"][1]["exposed_s"] == {"0": three(HOUR, HOUR, HOUR)}
    assert [decisions._level_name(left) for left in (-1, 0, 1, 2)] == [
        "data lost", "no redundancy", "one may fail", "2 may fail",
    ]  # fmt: skip


def ways(
    release: str = "openzfs-2.2", replace_too: int | None = None, reboot: bool = False, **plan: Any
) -> list[str]:
    now = Plan.from_dict({"scenario": {"layout": "raidz2x6"}, "running": {"done": "20%"}, **plan})
    profile = load_release(release)
    return list(alternatives(now, rules_of(profile, profile.order), replace_too, reboot))


WAIT = ["wait"]
SLOW = {"scenario": {"layout": "raidz2x6", "slow": ["1:x3", "4:x3"]}}


def test_what_could_be_done_depends_on_what_runs_and_waits() -> None:
    assert ways() == WAIT
    waiting = {"done": "20%", "waiting": [1]}
    assert ways(running=waiting) == [*WAIT, "restart now (zpool resilver)"]
    assert ways("zol-0.7", running=waiting) == WAIT, "there is no zpool resilver"
    now, later = "replace the other drive now", "replace it when the pass has ended"
    assert ways(replace_too=1) == [now, later, "replace it now and run zpool resilver"]
    assert ways("zol-0.7", replace_too=1) == [now, later], "it restarts by itself"
    assert ways(reboot=True) == ["reboot now", "reboot when the pass has ended"]
    loaded = {"scenario": {"layout": "raidz2x6", "load": ["random-read,rate=50,size=64K"]}}
    assert ways(**loaded) == [*WAIT, "stop the load now"]
    assert ways(**loaded, reboot=True) == ["reboot now", "reboot when the pass has ended"]


@pytest.mark.parametrize(
    ("running", "drives"),
    [({}, [1, 4]), ({"drives": [1]}, [4]), ({"drives": [0], "waiting": [4]}, []), ({"kind": "scrub"}, []),
     ({"drives": [0, 2]}, []), ({"drives": [0, 2], "old_drive": "online"}, [1, 4])],
)  # fmt: skip
def test_a_sick_drive_may_go_offline_where_the_vdev_can_do_without_it(
    running: dict[str, Any], drives: list[int]
) -> None:
    """Two of six may be missing: a second one beside the one that is replaced, and none beside two."""
    found = ways(**SLOW, running={"done": "20%", **running})
    offline = [each for each in found if each.startswith("take")]
    assert offline == [f"take drive {each} offline until the pass has ended" for each in drives]


def test_a_mirror_is_rebuilt_or_resilvered_where_nothing_runs_yet() -> None:
    events = [{"do": "fail", "drive": 0}, {"do": "replace", "drive": 0}]
    mirror = {"scenario": {"layout": "mirror2"}, "running": None, "events": events}
    assert ways(**mirror) == ["healing resilver", "sequential rebuild, then a scrub"]
    assert ways("openzfs-0.8", **mirror) == WAIT
    assert ways(**{**mirror, "scenario": {"layout": "raidz2x6"}}) == WAIT
    assert ways(**{**mirror, "events": events[:1]}) == WAIT


def scan(**changes: Any) -> RunningScan:
    return RunningScan(**{"kind": "resilver", **changes})


def test_the_state_of_a_status_is_what_runs_and_how_much_of_it_is_done() -> None:
    assert state_of({}, []) == {}
    assert state_of({}, [scan(kind="heal", done=0.5)]) == {}
    found: Any = state_of({}, [scan(done=0.1), scan(done=0.4)])["running"]
    assert found == {"kind": "resilver", "done": 0.4, "drives": (0,), "old_drive": "missing"}

    def share(**seen: Any) -> float:
        running: Any = state_of({}, [scan(**seen)])["running"]
        return float(running["done"])

    assert share(issued=30, total=100) == 0.3
    assert share(issued=30, total=100, total_issue=60) == 0.5, "what is to be issued counts from 2.2 on"
    assert share(issued=120, total=100) == 1.0
    assert share(issued=30) == share(total=100) == share() == 0.0
    both: Any = state_of({"replace": 2, "old_drive": "online"}, [scan(done=0.4)], waiting=3)["running"]
    assert (both["drives"], both["waiting"], both["old_drive"]) == ((0, 1), (2, 3, 4), "online")


def test_what_eta_says_of_the_same_comes_before_what_is_printed() -> None:
    seen: Any = SimpleNamespace(remaining_s=Quantiles(p10=1.0, p50=2.0, p90=3.0), phase="issue", done=1.0)
    found: Any = state_of({}, [scan(done=0.1)], seen=seen)["running"]
    assert (found["done"], found["left"]) == (0.999, (1.0, 2.0, 3.0))
    seen.phase = "metadata scan"
    found = state_of({}, [scan(done=0.1)], seen=seen)["running"]
    assert found["done"] == 0.0


def test_why_there_is_nothing_to_choose_is_said() -> None:
    idle = Plan.from_dict({"scenario": {"layout": "raidz2x6"}})
    assert "nothing runs, waits or disturbs" in str(decisions._nothing_to_choose(idle))
    runs = Plan.from_dict(
        {"scenario": {"layout": "raidz2x6"}, "running": {"left": [HOUR, 2 * HOUR, 3 * HOUR]}}
    )
    assert "wait; 2 h are left" in str(decisions._nothing_to_choose(runs))


# --- plans


def refused(field: str, **plan: Any) -> None:
    with pytest.raises(InputError, match=field):
        Plan.from_dict({"scenario": {"layout": "2*raidz2x6"}, **plan})


def test_a_plan_is_about_vdevs_and_drives_that_are_there() -> None:
    Plan.from_dict({"scenario": {"layout": "2*raidz2x6"}, "events": [{"do": "fail", "vdev": 1, "drive": 5}],
                    "running": {"vdev": 1, "drives": [5], "waiting": [0]}})  # fmt: skip
    refused(r"events\[0\]\.vdev", events=[{"do": "fail", "vdev": 2, "drive": 0}])
    refused(r"events\[1\]\.drive", events=[{"do": "scrub"}, {"do": "fail", "drive": 6}])
    refused(r"events\[0\]\.drive", events=[{"do": "fail", "drives": [-1]}])
    refused(r"events\[0\]\.drive", events=[{"do": "replace"}])
    refused(r"events\[0\]\.set", events=[{"do": "set"}])
    refused(r"events\[0\]\.when", events=[{"do": "scrub", "at": "1h", "when": "quiet"}])
    refused(r"events\[0\]\.after", events=[{"do": "scrub", "at": "1h", "after": 0}])
    refused(r"running\.vdev", running={"vdev": 2})
    refused(r"running\.drives", running={"drives": [6]})
    refused(r"running\.waiting", running={"waiting": [-1]})
    refused(r"running\.drives", running={"drives": []})
    Plan.from_dict({"scenario": {"layout": "raidz2x6"}, "running": {"drives": [], "kind": "scrub"}})


def test_each_drive_is_replaced_a_few_at_a_time() -> None:
    plan = Plan.from_dict({
        "scenario": {"layout": "raidz2x6"}, "at_once": 4,
        "events": [{"do": "scrub"}, {"do": "replace", "each": True, "at": "1h"}],
    })  # fmt: skip
    scrub, first, second = plan.expanded
    assert (scrub.do, first.drives, second.drives) == ("scrub", (0, 1, 2, 3), (4, 5))
    assert first.at is not None
    assert (first.at.time_s, second.at, second.when, first.each) == (HOUR, None, "quiet", False)


def test_another_fill_or_drive_takes_the_place_of_both_ways_to_say_it() -> None:
    plan = Plan.from_dict({"scenario": {"layout": "raidz2x6", "alloc": "3T", "drive_size": "4TB"}})
    assert plan.with_scenario({"fill": 0.5}).scenario == {
        "layout": "raidz2x6",
        "drive_size": "4TB",
        "fill": 0.5,
    }
    assert plan.with_scenario({"drive": "hd103uj"}).scenario == {
        "layout": "raidz2x6",
        "alloc": "3T",
        "drive": "hd103uj",
    }
    assert plan.with_scenario({"release": "zol-0.7"}, spares=2).spares == 2


# --- the picture


def test_bars_are_passes_to_their_median_and_whiskers_from_p10_to_p90() -> None:
    """Two days are shown: in days, with a margin of a fiftieth."""
    levels = (
        Level("raidz2-0", 0, DAY, 0),
        Level("raidz2-0", DAY, 2 * DAY, 2),
        Level("mirror-1", 0, 2 * DAY, 0),
    )
    passes = (row(0, 6 * HOUR, 12 * HOUR, DAY), row(DAY, None, None, None, completed=False))
    drawn = gantt.figure(answer(passes=passes, redundancy=levels, full={"raidz2-0": 2, "mirror-1": 0}))
    upper, lower = drawn.axes
    assert drawn.get_size_inches()[1] == pytest.approx(1.6 + 0.36 * 4)
    assert lower.get_xlim() == pytest.approx((0, 2.04))
    bars = [(each.get_x(), each.get_width(), each.get_y() + each.get_height() / 2) for each in upper.patches]
    assert bars == [pytest.approx((0, 0.5, 0)), pytest.approx((1, 1, 1))]
    (whisker,) = upper.lines
    assert (list(whisker.get_xdata()), list(whisker.get_ydata())) == ([0.25, 1.0], [0, 0])
    assert [each.get_alpha() for each in upper.patches] == [1.0, 0.45]
    spans = [(each.get_x(), each.get_width(), each.get_y() + each.get_height() / 2) for each in lower.patches]
    assert spans == [pytest.approx(each) for each in ((0, 1, 0), (1, 1, 0), (0, 2, 1))]
    assert [each.get_alpha() for each in lower.patches] == [0.8, 0.25, 0.25]
    colours = [each.get_facecolor()[:3] for each in lower.patches]
    assert len(set(colours)) == 2
    assert colours[1] == colours[2], "a vdev that never had redundancy lacks none"
    assert [each.get_text() for each in lower.texts] == [" 0", " 2", " 0"]
    assert [each.get_position()[0] for each in lower.texts] == [0, 1, 0]


def test_a_picture_of_one_pass_that_never_ends_reaches_its_end() -> None:
    drawn = gantt.figure(
        answer(passes=(row(0, HOUR, 2 * HOUR, None),), redundancy=(Level("raidz2-0", 0, 4 * HOUR, 1),))
    )
    upper, lower = drawn.axes
    assert list(upper.lines[0].get_xdata()) == [1.0, 4.0]
    assert drawn.get_size_inches()[1] == pytest.approx(1.6 + 0.36 * 3), "room for two passes at least"
    assert upper.get_ylim()[0] > upper.get_ylim()[1]
    assert lower.get_ylim()[0] > lower.get_ylim()[1]


def test_events_of_a_story_begin_with_its_pool() -> None:
    """Two hot spares of the layout, if none are stated of the plan."""
    assert tell([], layout="raidz2x6+spare:2").spares == 2
    assert tell([], layout="raidz2x6+spare:2", spares=1).spares == 1
