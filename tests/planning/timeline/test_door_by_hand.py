"""`zsim.timeline` and `zsim.decide` as a whole, over passes whose length differs from world to world."""

from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from tests.planning.timeline.telling import (
    HOUR,
    PASS_BYTES,
    TXG,
    KnownPasses,
    answer,
    hours,
    row,
    tell,
    three,
    told,
)
from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.planning.timeline import api, decisions, gantt, passes
from zsim.planning.timeline.api import cleaned, read_plan, timeline
from zsim.planning.timeline.decisions import DecisionAlternative, decide, ranked
from zsim.planning.timeline.passes import MIDDLE, WORLDS, Passes, PassTimes, facts, in_worlds, quantiles
from zsim.planning.timeline.plan import Plan
from zsim.planning.timeline.redundancy import Level
from zsim.planning.timeline.rules import rules_of
from zsim.planning.timeline.scans import Pass
from zsim.planning.timeline.story import Story
from zsim.planning.timeline.wording import _Chart
from zsim.prediction.answer.records import Quantiles
from zsim.scenario.model import Scenario
from zsim.scenario.releases.profile import load_release

POOL = {"layout": "raidz2x6", "release": "openzfs-2.2", "fill": 0.5, "drive_size": "4TB"}
FAIL, REPLACE = {"do": "fail", "drive": 0}, {"do": "replace", "drive": 0}
SECOND = {"do": "replace", "drive": 1}


class EvenPasses(KnownPasses):
    """A pass takes 12 minutes in the first world and so much more in each, 10 hours in the middle one."""

    def _of(self, _hours: float) -> PassTimes:
        return PassTimes(0.2 * HOUR * np.arange(1, WORLDS + 1), read_bytes=PASS_BYTES, scrub=0.5)


class UnlikePasses(KnownPasses):
    """Passes of an hour in the middle world and so many others, of ten in the rest."""

    def __init__(self, others: int) -> None:
        super().__init__()
        self.short = [MIDDLE, *range(others)]

    def _of(self, _hours: float) -> PassTimes:
        seconds = np.full(WORLDS, 10 * HOUR)
        seconds[self.short] = HOUR * np.arange(1, len(self.short) + 1)
        return PassTimes(seconds, read_bytes=PASS_BYTES)


def plan(*events: dict[str, Any], release: str = "openzfs-2.2", **more: Any) -> dict[str, Any]:
    return {"scenario": {**POOL, "release": release}, "events": list(events), **more}


def hour(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds / HOUR, 2)


# --- all worlds


def test_every_world_has_its_own_story_and_the_middle_one_is_told() -> None:
    found = timeline(plan(FAIL, REPLACE, title="one drive"), passes=EvenPasses())
    assert found.title == "one drive"
    assert [hour(each) for each in found.whole_s.values()] == [2.0, 10.0, 18.0]
    assert (hour(found.whole[0]), hour(found.whole[-1])) == (0.2, 19.8), "world by world"
    assert [hour(time) for time, _ in found.story] == [0.0, 0.0, 10.0]
    assert [hour(each) for each in quantiles(found.exposed[1])] == [2.0, 10.0, 18.0]
    assert [(each.left, hour(each.from_s), hour(each.to_s)) for each in found.redundancy] == [
        (1, 0.0, 10.0), (2, 10.0, 10.0),
    ]  # fmt: skip
    record: Any = found.provenance
    assert [(each["time_s"], each["text"]) for each in record["story"]] == list(found.story)
    assert record["plan"]["title"] == "one drive"
    file = model_data.models_directory() / "timeline" / "rules.toml"
    assert record["models"]["timeline/rules"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert timeline(plan(), passes=KnownPasses()).title == "raidz2x6"
    assert answer(provenance={"scenario": {}}).stated == ()


def test_a_pass_that_only_some_worlds_have_is_told_of_those() -> None:
    """A block that is freed after 10.1 h: 50 worlds have ended by then and begin again, for twice as long."""
    events = [REPLACE, {"do": "unreadable-block"}, {"do": "free-block", "at": 10.1 * HOUR}]
    found = timeline(plan(*events, release="openzfs-0.8"), passes=EvenPasses())
    first, again = found.passes
    assert [hour(each) for each in first.ends_s.values()] == [2.0, 10.0, 18.0]
    # The 5th, 26th and 46th of 50, each of 0.4 h more than the one before.
    assert [hour(each) for each in again.ends_s.values()] == [2.0, 10.4, 18.4]
    assert (again.begins_s, hour(found.whole[MIDDLE])) == (10 * HOUR + TXG, 20.0)
    assert '"ends_s"' in found.to_json()


@pytest.mark.parametrize(("others", "ends"), [(0, [2.0, 2.0, 2.0]), (1, [2.0, 4.0, 4.0])])
def test_a_pass_of_one_world_or_two_has_their_ends(others: int, ends: list[float]) -> None:
    events = [REPLACE, {"do": "unreadable-block"}, {"do": "free-block", "at": "5h"}]
    found = timeline(plan(*events, release="openzfs-0.8"), passes=UnlikePasses(others))
    assert [hour(each) for each in found.passes[1].ends_s.values()] == ends


def test_quantiles_of_few_worlds_are_their_own() -> None:
    assert quantiles(np.array([7.0])) == (7.0, 7.0, 7.0)
    assert quantiles(np.array([np.inf])) == (None, None, None)
    assert quantiles(np.array([3.0, 1.0, 2.0])) == (1.0, 2.0, 3.0)
    assert quantiles(np.arange(1.0, 10.0)) == (1.0, 5.0, 9.0)


def test_the_hour_of_a_pass_is_that_of_the_middle_world() -> None:
    """The second one begins when the first has ended: at six on Monday in the middle world."""
    known = EvenPasses()
    load = {"load": ["random-read,rate=50,size=64K,hours=mon-fri 08:00-18:00"], "begins": "sun 20:00"}
    stated = plan(REPLACE, {**SECOND, "when": "quiet"})
    timeline({**stated, "scenario": {**POOL, **load}}, passes=known)
    assert {each["begins"] for each in known.asked[:2]} == {"sun 20:00", "mon 06:00"}
    assert {each["begins"] for each in known.asked} == {"sun 20:00", "mon 06:00"}, "in every world"
    known.asked.clear()
    timeline({**stated, "scenario": {**POOL, **load, "begins": "tue 20:00"}}, passes=known)
    assert {each["begins"] for each in known.asked} == {"tue 20:00", "wed 06:00"}, "told anew with each plan"


def test_what_never_happens_and_what_is_lacking_is_noted() -> None:
    def notes(*events: dict[str, Any], release: str = "openzfs-2.2", **pool: Any) -> tuple[str, ...]:
        stated = {**plan(*events), "scenario": {**POOL, "release": release, **pool}}
        made = Plan.from_dict(stated)
        resolved = facts(made.pool)
        rules = rules_of(resolved.release, resolved.release.order)
        story = Story(made, MIDDLE, KnownPasses(), rules, resolved.alloc)
        story.run()
        return api._notes(made, story)

    assert notes(REPLACE) == ()
    assert notes({"do": "scrub", "when": "rebuild ends"}, REPLACE) == (
        "2 of 2 events never happen: what they wait for does not",
    )
    assert notes(REPLACE, {"do": "scrub", "when": "rebuild ends"}) == (
        "1 of 2 events never happen: what they wait for does not",
    )
    assert notes(FAIL) == (
        "a drive is missing at the end: say what replaces it (--replace-after 12h, or --spares 1)",
    )
    assert notes({"do": "fail", "drives": [0, 1, 2]}) == (), "it is lost, which the story tells"
    assert notes(REPLACE, {"do": "unreadable-block"}, release="openzfs-0.8") == (
        "an unreadable block makes the resilver start over again and again, until it is removed",
    )
    (verified,) = notes(FAIL, {**REPLACE, "sequential": True}, layout="mirror2")
    assert verified.startswith("redundancy counts as back when a rebuild ends")


def test_what_is_noted_is_that_of_the_middle_world() -> None:
    """After 9.1 h a block cannot be read: the pass has ended in 45 worlds by then, not in the middle one."""
    broken = {"do": "unreadable-block", "at": 9.1 * HOUR}
    found = timeline(plan(REPLACE, broken, release="openzfs-0.8"), passes=EvenPasses())
    assert found.notes == (
        "an unreadable block makes the resilver start over again and again, until it is removed",
    )
    assert np.isfinite(found.whole).sum() == 45
    late = plan(REPLACE, {**broken, "at": "5h"}, release="openzfs-0.8")
    assert timeline(late, passes=UnlikePasses(0)).notes == (), "only there it has ended by then"


def test_fields_of_the_pool_may_be_stated_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[KnownPasses] = []

    def fresh() -> KnownPasses:
        made.append(KnownPasses())
        return made[-1]

    monkeypatch.setattr(api, "Passes", fresh)
    given: list[float] = []
    found = timeline(plan(REPLACE), on_progress=lambda share, _words: given.append(share), fill=0.25)
    record: Any = found.provenance
    assert (record["scenario"]["fill"], len(made)) == (0.25, 1)
    made[0].on_progress(0.5, "")  # type: ignore[misc]
    assert given == [1.0, 0.5], "whoever predicts tells how far it is"
    timeline(plan(REPLACE), passes=KnownPasses())
    assert len(made) == 1, "those that are given are used"


# --- plans


def test_a_plan_is_a_file_or_the_name_of_a_procedure(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('title = "of a file"\n[scenario]\nlayout = "mirror2"\n')
    other = file.rename(tmp_path / "plan")
    assert read_plan(other).title == "of a file", "a path is that of a file, whatever its end"
    assert read_plan(str(other.rename(file))).title == "of a file"
    made = Plan.from_dict({"scenario": {"layout": "mirror2"}})
    assert read_plan(made) is made
    assert read_plan({"scenario": {"layout": "mirror2"}}) == made
    assert read_plan(" Replace-ONE ") == read_plan("replace-one")
    with pytest.raises(InputError, match="no such procedure; .*replace-one"):
        read_plan("replace-on")


def test_a_share_is_at_most_the_whole() -> None:
    for share in (0.0, 1.0):
        made = Plan.from_dict(plan({"do": "scrub", "at": {"share": share}}))
        assert made.events[0].at is not None
        assert made.events[0].at.share == share
    for at in ({"share": 1.5}, {"share": -0.1}, {"time_s": -1}):
        with pytest.raises(InputError, match="at"):
            Plan.from_dict(plan({"do": "scrub", "at": at}))


def test_what_runs_is_of_a_vdev_that_is_counted_from_nought() -> None:
    made = Plan.from_dict(plan(running={"vdev": 0, "done": 0.5}))
    assert made.running is not None
    assert made.running.vdev == 0
    with pytest.raises(InputError, match="vdev"):
        Plan.from_dict(plan(running={"vdev": -1}))


# --- predictions


def test_each_pass_is_predicted_once_and_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Scenario] = []

    def predict(scenario: Scenario, listen: Any) -> Any:
        asked.append(scenario)
        if listen is not None:
            listen(0.25, "populations")
        return SimpleNamespace(
            resilver_s=Quantiles(p50=100.0 * len(asked)), progress=[], phases=[], sick=(),
            read_bytes=1, written_bytes=2,
        )  # fmt: skip

    monkeypatch.setattr(passes, "predict", predict)
    heard: list[tuple[float, str]] = []
    known = Passes(lambda share, words: heard.append((share, words)))
    pool = Scenario.from_dict({**POOL, "replace": 2, "new_drive_size": "8TB"})
    assert known.resilver(pool, 0, 1, "missing").seconds[0] == 100.0
    assert known.scrub(pool).seconds[0] == 200.0
    assert known.resilver(pool, 0, 1, "missing").seconds[0] == 100.0, "kept"
    # A quarter of the first half, then of half of the rest.
    assert heard == [(0.125, "pass 1: populations"), (0.5625, "pass 2: populations")]
    resilver, scrub = (each.stated() for each in asked)
    pass_of = {"operation": "resilver", "replace": 1, "old_drive": "missing"}
    assert {name: resilver.get(name) for name in pass_of} == pass_of
    assert "new_drive_size" not in resilver, "a replacement is said by the plan alone"
    assert (scrub["operation"], "replace" in scrub) == ("scrub", False)
    Passes().scrub(pool)
    assert len(asked) == 3
    assert len(heard) == 2


@pytest.mark.parametrize("of_each", [{}, {"vdev_fills": (0.5, 0.4)}, {"vdev_frags": (0.1, 0.2)}])
def test_a_vdev_is_named_where_it_is_not_like_the_first(of_each: dict[str, Any]) -> None:
    fill = {} if "vdev_fills" in of_each else {"fill": 0.5}
    pool = Scenario.from_dict({**fill, **of_each, "layout": "2*mirror2", "drive_size": "4TB"})
    assert passes._in_vdev(pool, 1) == ({"replace_in": "1"} if of_each else {})


def test_worlds_between_the_quantiles_lie_on_the_law_of_their_side() -> None:
    """At 60 % the score is 0.2533, of 1.2816 at the tenth; at 40 % the same below."""
    found = in_worlds(Quantiles(p10=50.0, p50=100.0, p90=400.0))
    part = 0.253347 / 1.281552
    assert (found[59], found[39]) == pytest.approx((100.0 * 4.0**part, 100.0 * 0.5**part), rel=1e-5)


def test_a_pass_whose_work_is_done_early_still_ends_with_its_time() -> None:
    early = PassTimes(np.full(WORLDS, HOUR), (np.array([0.0, 0.8, 1.0]), np.array([0.0, 1.0, 1.0])))
    assert (early.gone(0.5), early.gone(1.0)) == (pytest.approx(0.4), 1.0)


# --- stories


class EarlyPasses(KnownPasses):
    """Passes whose work is done after half of their time."""

    def _of(self, hours: float) -> PassTimes:
        return PassTimes(
            np.full(WORLDS, hours * HOUR), (np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0])), 0.0, 1000
        )


def when(events: list[dict[str, Any]], words: str, **more: Any) -> list[float | None]:
    return [hour(time) for time, text in tell(events, **more).story if words in text]


def test_a_share_is_waited_for_until_a_pass_runs_that_has_something_left() -> None:
    goes = {"do": "offline", "drive": 5, "at": "50%"}
    assert when([goes, {"do": "scrub", "at": "1h"}], "goes offline") == [3.5], "of a scrub of five hours"
    late = [REPLACE, {"do": "checkpoint", "at": "6h"}, goes, {"do": "scrub", "at": "20h"}]
    assert when(late, "goes offline", passes=EarlyPasses()) == [21.25], (
        "a quarter of five is half of the work"
    )


def test_shares_that_are_watched_at_once_are_told_each_in_its_time() -> None:
    """One event waits for a fifth of a pass of ten hours, one behind another of its own time for the half."""
    first, half = ({"do": "offline", "drive": drive, "at": at} for drive, at in ((5, "20%"), (4, "50%")))
    assert when([REPLACE, first, {"do": "checkpoint", "at": "1h"}, half], "goes offline") == [2.0, 5.0]


def test_it_is_whole_when_what_waits_has_been_resilvered_too() -> None:
    """Drives that are replaced while they still work: at no time is one missing."""
    events = [REPLACE, {**SECOND, "at": "30%"}, {"do": "offline", "drive": 5, "when": "whole"}]
    assert when(events, "goes offline") == [20.0]
    rebuild = [{**REPLACE, "sequential": True}, {"do": "offline", "drive": 1, "when": "whole"}]
    assert when(rebuild, "goes offline", layout="mirror2") == [10.0]


@pytest.mark.parametrize(
    ("failed", "replaced", "old"),
    [
        ([0, 1], [0, 1], "missing"),
        ([0], [0, 1, 2], "online"),
        ([0], [0, 1], "missing"),
        ([], [0, 1], "online"),
    ],
)
def test_old_drives_are_read_where_all_work_or_more_are_replaced_than_may_be_missing(
    failed: list[int], replaced: list[int], old: str
) -> None:
    known = KnownPasses()
    fails = [{"do": "fail", "drives": failed}] if failed else []
    tell([*fails, {"do": "replace", "drives": replaced}], passes=known)
    asked = [(each["drives"], each["old"], each["layout"]) for each in known.asked]
    assert asked == [(len(replaced), old, "raidz2x6")]


@pytest.mark.parametrize(("moment", "hour_"), [("quiet", 20.0), ("pass ends", 10.0), ("resilver ends", 10.0)])
def test_between_two_passes_it_is_not_quiet(moment: str, hour_: float) -> None:
    events = [REPLACE, {**SECOND, "at": "30%"}, {"do": "offline", "drive": 5, "when": moment}]
    assert when(events, "goes offline") == [hour_]


def test_a_rebuild_is_followed_by_a_scrub_only_if_that_takes_its_time() -> None:
    rebuild = [{**REPLACE, "sequential": True}]
    assert hours(tell(rebuild, layout="mirror2", passes=EarlyPasses()), "scrub") == []
    assert hours(tell(rebuild, layout="mirror2"), "scrub") == [(10, 15)]


def test_drives_of_later_vdevs_are_counted_behind_those_of_the_first() -> None:
    known = KnownPasses()
    events = [
        {"do": "replace", "vdev": 1, "drive": 1, "new_drive_size": "8TB"},
        {"do": "replace", "vdev": 2, "drive": 0, "new_drive_size": "9TB", "when": "quiet"},
        {**REPLACE, "when": "quiet"},
    ]
    tell(events, layout="3*mirror2", passes=known)
    assert known.asked[-1]["exchanged"] == ["3:@8000000000000", "4:@9000000000000"]


def test_a_checkpoint_that_is_made_again_is_discarded_again_or_never() -> None:
    """Discarded once of two times: the pass that ends under the second one would begin again for ever."""
    checkpoint, discard = {"do": "checkpoint", "at": "1h"}, {"do": "discard-checkpoint", "at": "5h"}
    again = {**checkpoint, "at": "6h"}
    assert hours(tell([REPLACE, checkpoint, {**discard, "at": "15h"}], "openzfs-0.8")) == [(0, 10), (10, 20)]
    pool = tell([REPLACE, checkpoint, discard, again], "openzfs-0.8")
    assert (hours(pool), pool.endless) == ([(0, 10)], True)
    assert pool.notes == [
        "a pool checkpoint makes the resilver start over again and again, until it is removed"
    ]


def test_the_vdev_that_is_lost_is_named() -> None:
    """Two have no redundancy left, the second of them has lost a drive more."""
    events = [{"do": "fail", "drives": [0, 1]}, {"do": "fail", "vdev": 1, "drives": [0, 1, 2]}]
    pool = tell(events, layout="2*raidz2x6")
    assert told(pool, "raidz2-1 has lost more drives than it has redundancy")
    assert not told(pool, "raidz2-0 has lost more")


def test_drives_are_told_as_one_or_as_many() -> None:
    pool = tell([REPLACE, {"do": "replace", "drives": [2, 3], "when": "quiet"}])
    assert told(pool, "drive 0 of raidz2-0 replaced")
    assert told(pool, "drives 2, 3 of raidz2-0 replaced")


def test_a_vdev_does_not_grow_before_its_last_drive_is_in() -> None:
    larger = {"new_drive_size": "16TB"}
    one = tell([{**REPLACE, **larger}], autoexpand=True)
    assert hours(one) == [(0, 10)]
    assert not told(one, "may grow")
    all_ = [{"do": "replace", "drives": [0, 1, 2, 3, 4, 5], **larger}]
    assert told(tell(all_, autoexpand=True), "may grow")


def test_a_pass_that_writes_its_place_goes_back_by_a_txg_and_not_before_its_begin() -> None:
    """A legacy scan is at 3 h of 10: from 5 s earlier it goes on, with a byte a second to be done again."""
    release = load_release("zol-0.7")
    rules = rules_of(release, release.order)
    times = PassTimes(np.full(WORLDS, 10 * HOUR), read_bytes=30_000, written_bytes=6_000)
    one = Pass("resilver", "raidz2-0", "", times, position=0.3)
    assert one.go_back(rules, 10 * HOUR) == 5
    assert one.position * 10 * HOUR == pytest.approx(3 * HOUR - 5)
    young = Pass("resilver", "raidz2-0", "", times, position=2.0 / (10 * HOUR))
    assert young.go_back(rules, 10 * HOUR) == 2
    assert young.position == 0.0


def test_what_has_ended_or_not_begun_is_not_interrupted() -> None:
    (ended,) = tell([REPLACE]).history
    for each in (ended, Pass("scrub", "pool", "", PassTimes(np.full(WORLDS, HOUR)))):
        each.interrupt("hold")
        each.resume()
    assert (ended.ends, ended.completed) == (10 * HOUR, True)


def test_after_an_import_a_scan_waits_five_txgs_and_a_rebuild_none() -> None:
    """Both are at 5 h of 10; of the rebuild the last txg is done again, of the scan nothing was kept."""
    reboot = {"do": "reboot", "at": "5h", "takes": "1h"}
    (rebuild,) = tell(
        [{**REPLACE, "sequential": True}, reboot], layout="mirror2", passes=EarlyPasses()
    ).history
    assert rebuild.ends == pytest.approx(11 * HOUR + TXG)
    (scan,) = tell([REPLACE, reboot], "openzfs-2.2").history
    assert scan.ends == pytest.approx(16 * HOUR + 5 * TXG)


# --- words


def test_a_story_without_passes_has_no_chart() -> None:
    with_one = str(answer(passes=(row(0, HOUR, 2 * HOUR, 3 * HOUR),), story=((0.0, "it begins"),)))
    assert "ends (p10 to p90)" in with_one
    assert "████" in with_one
    assert "begins  ends" not in str(answer(story=((0.0, "it begins"),)))
    assert "ends (p10 to p90)" not in str(answer(story=((0.0, "it begins"),)))


@pytest.mark.parametrize(("width", "bars"), [(30, 0), (50, 0), (70, 3), (100, 3)])
def test_a_chart_is_as_wide_as_the_terminal_and_nothing_of_it_is_cut(width: int, bars: int) -> None:
    """The axis was cut at its end, then the names; a phone showed "pas" and "b"."""
    found = answer(passes=(row(0, HOUR, 2 * HOUR, 4 * HOUR), row(3 * HOUR, 3.5 * HOUR, 4 * HOUR, 4 * HOUR)))
    with io.StringIO() as stream:
        Console(file=stream, width=width).print(_Chart(found))
        lines = stream.getvalue().splitlines()
    printed = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= width
    assert all(word in printed for word in ("pass", "begins", "ends (p10 to p90)", "resilver", "03:00"))
    assert sum(sign in printed for sign in ("█", "░", "00:00 to 04:00")) == bars
    if bars:
        head, *rest = lines
        first, second = (line[head.index("00:00") : head.index("begins")] for line in rest if line.strip())
        assert first.count("█") == pytest.approx(len(first.strip()) / 2, abs=1)
        assert second.index("█") == pytest.approx(0.75 * len(first.strip()), abs=1)


def test_passes_are_a_frame_of_one_row_each() -> None:
    pytest.importorskip("pandas")
    found = answer(passes=(row(HOUR, 2 * HOUR, 3 * HOUR, None), row(0, 1, 2, 3, read_bytes=7)))
    frame = found.to_frame()
    assert frame["begins_s"].tolist() == [HOUR, 0]
    assert frame["ends_p50_s"].tolist() == [3 * HOUR, 2]
    assert frame["read_bytes"].tolist() == [0, 7]
    assert not {"ends_s", "ends_ends_s"} & set(frame.columns)
    assert (found.read_bytes, found.written_bytes) == (7, 0)


def test_no_redundancy_has_a_colour_of_its_own() -> None:
    levels = tuple(Level("raidz2-0", left * HOUR, (left + 1) * HOUR, left) for left in (-1, 0, 1, 2))
    _, lower = gantt.figure(answer(redundancy=levels)).axes
    lost, none, one, full = (each.get_facecolor()[:3] for each in lower.patches)
    assert lost == none
    assert len({none, one, full}) == 3


# --- decisions


def way(name: str, seconds: float, naked: float | None = None, redone: int = 0) -> DecisionAlternative:
    exposed = {} if naked is None else {0: np.full(WORLDS, naked)}
    whole = np.full(WORLDS, seconds)
    return DecisionAlternative(
        name, answer(whole=whole, exposed=exposed, redone_bytes=redone, whole_s=three(*quantiles(whole)))
    )


def reasons(*ways: DecisionAlternative) -> list[str]:
    return [f"{each.name}: {each.reason}" for each in ranked(ways)]


def test_what_sets_alternatives_apart_is_said_of_the_difference() -> None:
    assert reasons(way("a", HOUR, redone=2 << 30), way("b", HOUR, redone=1 << 30)) == [
        "b: best", "a: 1G more work done twice",
    ]  # fmt: skip
    # Below a minute both are as good; the one that comes first stays so.
    assert reasons(way("a", 10.0), way("b", 10.9))[1].endswith(" later")
    assert reasons(way("a", 10.9), way("b", 10.0))[1].endswith(" earlier")
    # A minute more without redundancy counts, whatever else.
    assert reasons(way("a", HOUR, 0.0), way("b", 2 * HOUR, 60.5))[1].endswith("longer without redundancy")
    assert reasons(way("a", HOUR, 0.0), way("b", 2 * HOUR, 60.0))[1] == "b: whole 1 h later"


def test_what_is_never_whole_is_no_later_than_what_is_never_whole() -> None:
    assert [each.wins for each in ranked((way("a", np.inf), way("b", np.inf)))] == [1.0, 1.0]


def test_beside_old_drives_that_still_work_a_sick_one_may_go_where_one_may_be_missing() -> None:
    stated = {"scenario": {"layout": "raidz1x4", "slow": ["2:x3"]}}
    for old, drives in (("online", (2,)), ("missing", ())):
        now = Plan.from_dict({**stated, "running": {"done": "40%", "old_drive": old}})
        assert decisions._may_go_offline(now) == drives


def running(**more: Any) -> dict[str, Any]:
    return plan(running={"done": "40%"}, **more)


def test_a_decision_is_told_in_the_same_worlds_and_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[EvenPasses] = []

    def fresh() -> EvenPasses:
        made.append(EvenPasses())
        return made[-1]

    monkeypatch.setattr(decisions, "Passes", fresh)
    heard: list[tuple[float, str]] = []
    also = {"scrub first": {"events": [{"do": "scrub", "when": "quiet"}]}}
    found = decide(running(), also=also, on_progress=lambda *given: heard.append(given))
    assert heard == [(0.0, "wait"), (0.5, "wait"), (0.5, "scrub first"), (1.0, "scrub first")]
    assert len(made) == 1
    assert [each.name for each in found.alternatives] == ["wait", "scrub first"]
    assert [hour(each) for each in found.best.found.whole_s.values()] == [1.2, 6.0, 10.8]
    assert [each.wins for each in found.alternatives] == [1.0, 1.0], "a scrub repairs nothing"


def test_a_decision_needs_a_choice_and_a_question_that_can_be_answered() -> None:
    with pytest.raises(InputError, match="nothing else is planned"):
        decide(running())
    for question in ({"reboot": True}, {"replace_too": 1}):
        with pytest.raises(InputError, match="no running pass whose progress is known"):
            decide(plan(), **question)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="^--reboot beside --replace-too .* one question at a time"):
        decide(running(), reboot=True, replace_too=1)


def test_a_load_may_be_stopped_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """With it a pass takes twenty hours, without ten."""
    monkeypatch.setattr(decisions, "Passes", KnownPasses)
    load = {"load": ["random-read,rate=50,size=64K"]}
    found = decide({**plan(REPLACE), "scenario": {**POOL, **load}})
    assert [(each.name, hour(each.found.whole_s["p50"])) for each in found.alternatives] == [
        ("stop the load now", 10.0), ("wait", 20.0),
    ]  # fmt: skip


def test_a_decision_is_a_frame_with_a_column_for_each_redundancy() -> None:
    pytest.importorskip("pandas")
    both = decisions.Decision(ranked((way("a", HOUR, 60.0), way("b", 2 * HOUR, 2 * HOUR))))
    frame = both.to_frame()
    assert frame["alternative"].tolist() == ["a", "b"]
    assert frame["whole_p50_s"].tolist() == [HOUR, 2 * HOUR]
    assert frame["left_0_s"].tolist() == [60.0, 2 * HOUR]
    assert frame["wins"].tolist() == [1.0, 0.0]


def test_a_plan_takes_a_scenario_and_fields_beside_it() -> None:
    """What is built in code is as good as what a file holds."""
    events = [{"do": "fail", "drive": 0}]
    scenario = Scenario(layout="mirror2", fill=0.5)
    asked = Plan.from_dict({"scenario": {"layout": "mirror2", "fill": 0.5}, "events": events, "spares": 1})
    assert Plan.from_dict({"scenario": scenario, "events": events, "spares": 1}) == asked
    for fields in ({"layout": "mirror2", "fill": 0.5}, {"scenario": scenario}):
        assert read_plan({"events": events}, {**fields, "spares": 1}) == asked
    grown = read_plan("grow-vdev", {"fill": 0.5, "at_once": 2})
    assert (grown.at_once, grown.pool.fill) == (2, 0.5)
    assert read_plan("grow-vdev", {"scenario": scenario}).pool.fill == 0.5


def test_new_drives_that_are_stated_count_for_every_replacement_of_a_plan() -> None:
    """A procedure names 16 TB drives: another size or model replaces that, not only what is left open."""
    grown = cleaned(read_plan("grow-vdev", {"new_drive_size": "8TB"}))
    assert [event.new_drive_size for event in grown.events] == [8 * 10**12]
    model = cleaned(read_plan("grow-vdev", {"new_drive": "wd40efax"}))
    assert [(event.new_drive, event.new_drive_size) for event in model.events] == [("wd40efax", None)]
    known = Plan.from_dict({"scenario": {"layout": "mirror2"}, "events": [{"do": "replace", "drive": 0}]})
    again = known.with_scenario({"new_drive_size": "8TB"}, events=list(known.events))
    assert again.events == known.events


def test_drives_a_pass_are_of_plans_that_go_from_drive_to_drive() -> None:
    with pytest.raises(InputError, match="at_once 2 cannot be used: it is about events that concern each"):
        read_plan("replace-one-after-another", {"at_once": 2})


@pytest.mark.parametrize("at", [timedelta(hours=5), np.int64(18_000), np.float32(18_000.0), "5h"])
def test_a_moment_is_taken_as_python_has_it(at: object) -> None:
    plan = Plan.from_dict({"scenario": {"layout": "mirror2"}, "events": [{"do": "reboot", "at": at}]})
    assert plan.events[0].at is not None
    assert plan.events[0].at.time_s == 18_000.0


def test_rules_of_a_release_of_ones_own_are_those_of_its_family_and_version(tmp_path: Path) -> None:
    """By the name of its file FreeBSD 9.1 would be newer than every OpenZFS."""
    own = tmp_path / "own.toml"
    versions = 'family = "freebsd"\nfirst = "9.1"\nlast = "9.1"\n'
    own.write_text(f'name = "mine"\n{versions}base = "freebsd-9.1"\n')
    told, known = (rules_of(load_release(name), "legacy") for name in (str(own), "freebsd-9.1"))
    assert replace(told, release=known.release) == known
