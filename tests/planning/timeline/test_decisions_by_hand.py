"""Alternatives ranked, what could be done, plans that are refused, and the picture of a timeline, by hand."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest

from tests.planning.timeline.telling import EVEN, answer, row, tell, three
from zsim.base.errors import InputError
from zsim.planning.timeline import decisions, gantt
from zsim.planning.timeline.api import cleaned
from zsim.planning.timeline.decisions import (
    Decision,
    DecisionAlternative,
    alternatives,
    decide,
    ranked,
)
from zsim.planning.timeline.passes import (
    WORLDS,
    facts,
    quantiles,
)
from zsim.planning.timeline.plan import Plan
from zsim.planning.timeline.redundancy import Level, vdevs_of
from zsim.planning.timeline.rules import rules_of
from zsim.planning.timeline.scans import PassKind
from zsim.planning.timeline.state import state_of
from zsim.prediction.answer.records import Quantiles
from zsim.scenario.evidence import DriveActivity, RunningScan
from zsim.scenario.layout import Layout
from zsim.scenario.releases.profile import load_release

HOUR, DAY = 3600.0, 86400.0


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


def test_where_none_is_without_redundancy_the_time_in_which_a_drive_is_missing_counts() -> None:
    """A second drive replaced while it works costs no redundancy; begun anew, the first is missing longer."""
    level = {1: np.full(WORLDS, 5 * HOUR)}, {1: np.full(WORLDS, 3 * HOUR)}
    now, later = (
        DecisionAlternative(name, answer(title=name, whole=np.full(WORLDS, whole), exposed=exposed))
        for name, whole, exposed in (("begin anew", 5 * HOUR, level[0]), ("wait", 8 * HOUR, level[1]))
    )
    assert order(now, later) == [("wait", "best"), ("begin anew", "2 h longer with a drive missing")]
    # As long as the one that ZFS itself would begin anew, it is whole sooner.
    early, late = (
        DecisionAlternative(name, answer(title=name, whole=whole, exposed={1: np.full(WORLDS, hours * HOUR)}))
        for name, whole, hours in (("early", EVEN, 3.2), ("late", 2 * EVEN, 3.0))
    )
    assert order(late, early) == [("early", "best"), ("late", "whole 10 h later")]
    # Where there is a time without redundancy, that comes first.
    naked = DecisionAlternative(
        "naked", answer(title="naked", whole=EVEN, exposed={0: np.full(WORLDS, HOUR)})
    )
    assert [name for name, _ in order(naked, now, later)] == ["wait", "begin anew", "naked"]


def scrubs(name: str, over: float) -> DecisionAlternative:
    passes, whole = (row(0.0, over, over, over, kind="scrub"),), np.zeros(WORLDS)
    found = answer(title=name, whole=whole, whole_s=three(0.0, 0.0, 0.0), passes=passes, over=whole + over)
    return DecisionAlternative(name, found)


def test_where_nothing_is_repaired_the_scrub_that_is_over_first_is_best() -> None:
    """A pool that stays whole is whole after 0 s whatever is done: that tells the ways apart by nothing."""
    found = Decision(ranked((scrubs("wait", 7 * HOUR), scrubs("stop the load now", 4 * HOUR))))
    assert [(each.name, each.reason, each.wins) for each in found.alternatives] == [
        ("stop the load now", "best", 1.0), ("wait", "over 3 h later", 0.0),
    ]  # fmt: skip
    assert found.headline == "Best: stop the load now; whole all the time; the scrub ends after 4 h"
    assert found.grid().head[1] == "over after (p10 to p90)"
    assert [each[1] for each in found.grid().rows] == ["4 h", "7 h"]
    ways: Any = found.to_dict()["alternatives"]
    assert [each["over_s"]["p50"] for each in ways] == [4 * HOUR, 7 * HOUR]


def test_what_is_nearly_equal_is_told_apart_by_work_lost() -> None:
    assert order(way("a", 100 * HOUR, redone=2**30), way("b", 100.1 * HOUR)) == [
        ("b", "best"), ("a", "1G more work done twice"),
    ]  # fmt: skip
    assert order(way("a", 100 * HOUR), way("b", 100 * HOUR))[1][1] == "no relevant difference"


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
        ("a", "best"), ("b", "whole 2 h later, in 61 % of the simulated pools"),
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
    assert grid.head == (
        "alternative",
        "whole after (p10 to p90)",
        "no redundancy for",
        "work lost",
        "reason",
    )
    assert grid.rows == (
        ("b", "20 h", "0 s", "0", "best"), ("a", "10 h", "1 h", "1G", "1 h longer without redundancy"),
    )  # fmt: skip
    text = str(found).splitlines()
    assert text[0] == "Best: b; whole after 20 h"
    assert text[-1] == "It is so."
    data: Any = found.to_dict()
    assert data["alternatives"][1]["exposed_s"] == {"0": three(HOUR, HOUR, HOUR)}
    assert [decisions._level_name(left) for left in (-1, 0, 1, 2)] == [
        "data lost", "no redundancy for", "only 1 more may fail for", "only 2 more may fail for",
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
    release = load_release("openzfs-2.2")
    gone = Plan.from_dict({"scenario": {"layout": "2*raidz2x6"}, "events": [{"do": "fail", "drive": 0}]})
    second = alternatives(gone, rules_of(release, release.order), replace_too=1)[now]["events"][-1]
    assert second == {"do": "replace", "vdev": 0, "drive": 1}, "of the first vdev where nothing runs"
    found = alternatives(Plan.from_dict(loaded), rules_of(release, release.order))
    stopped = found["stop the load now"]["events"]
    assert stopped == [{"do": "set", "set": {"load": []}}], "none, not one that nobody states"
    assert ways(**loaded, reboot=True) == ["reboot now", "reboot when the pass has ended"]


def test_where_a_second_drive_restarts_the_scan_by_itself_nothing_is_to_be_restarted() -> None:
    stated = {"layout": "raidz2x6", "release": "openzfs-2.3", "tunables": {"zfs_resilver_disable_defer": 1}}
    now = Plan.from_dict({"scenario": stated, "running": {"done": "20%"}})
    release = facts(now.pool).release
    found = alternatives(now, rules_of(release, release.order), replace_too=1)
    assert list(found) == ["replace the other drive now", "replace it when the pass has ended"]


def test_the_new_drive_of_a_scenario_is_that_of_the_replacements_that_name_none() -> None:
    scenario = {"layout": "draid1:2d:6c:1s", "new_drive_size": "5TB", "replace": 1, "operation": "resilver"}
    events = [
        {"do": "replace", "drive": 0}, {"do": "replace", "drive": 1, "new_drive_size": "6TB"},
        {"do": "replace", "drive": 2, "to": "distributed-spare"}, {"do": "attach"},
    ]  # fmt: skip
    found = cleaned(Plan.from_dict({"scenario": scenario, "events": events}))
    assert found.scenario == {"layout": "draid1:2d:6c:1s"}
    assert [event.new_drive_size for event in found.events] == [5 * 10**12, 6 * 10**12, None, None]


@pytest.mark.parametrize(
    ("running", "drives"),
    [({}, [1, 4]), ({"drives": [1]}, [4]), ({"drives": [0], "waiting": [4]}, []), ({"kind": "scrub"}, [1, 4]),
     ({"drives": [0, 2]}, []), ({"drives": [0, 2], "old_drive": "online"}, [1, 4])],
)  # fmt: skip
def test_a_sick_drive_may_go_offline_where_the_vdev_can_do_without_it(
    running: dict[str, Any], drives: list[int]
) -> None:
    """Two of six may be missing: a second one beside the one that is replaced, and none beside two."""
    found = ways(**SLOW, running={"done": "20%", **running})
    offline = [each for each in found if each.startswith("take")]
    assert offline == [f"take drive {each} offline until the pass has ended" for each in drives]


@pytest.mark.parametrize(("failed", "drives"), [([0], [1, 4]), ([1], [4]), ([0, 2], [])])
def test_a_sick_drive_may_go_offline_before_a_failed_one_is_replaced(
    failed: list[int], drives: list[int]
) -> None:
    """Nothing runs yet: it goes offline first, and comes back when the pass has ended."""
    events: list[dict[str, Any]] = [{"do": "fail", "drive": each} for each in failed]
    events.append({"do": "replace", "drives": failed})
    now = Plan.from_dict({"scenario": SLOW["scenario"], "events": events})
    release = facts(now.pool).release
    found = alternatives(now, rules_of(release, release.order))
    offline = [each for each in found if each.startswith("take")]
    assert offline == [f"take drive {each} offline until the pass has ended" for each in drives]
    for name in offline:
        does = [event["do"] for event in found[name]["events"]]  # type: ignore[attr-defined]
        assert does == ["offline", *["fail"] * len(failed), "replace", "online"]


@pytest.mark.parametrize(("layout", "drives"), [("raidz2x6", []), ("raidz3x7", [4])])
def test_a_drive_that_is_gone_already_counts_before_another_goes_offline(
    layout: str, drives: list[int]
) -> None:
    gone = [{"what": "drive", "drive": "sdb", "leaf": 1, "missing": "FAULTED"}]
    found = ways(scenario={**SLOW["scenario"], "layout": layout, "evidence": gone})
    assert found == ["wait", *(f"take drive {each} offline until the pass has ended" for each in drives)]


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


def test_a_reboot_beside_a_scrub_is_no_choice_of_what_is_whole_first() -> None:
    scrubs = {"scenario": {"layout": "raidz2x6"}, "running": {"kind": "scrub", "done": "40%"}}
    with pytest.raises(InputError, match="a reboot costs what it has read"):
        decide(scrubs, reboot=True)
    with pytest.raises(InputError, match="say what else may be done: --replace-too 4"):
        decide(scrubs)


def test_drives_that_are_gone_beside_the_pass_take_redundancy_all_the_time() -> None:
    gone = [DriveActivity(drive=name, missing="FAULTED") for name in ("sdb", "sdc", "sdd")]

    def missing(layout: str, count: int, waiting: int = 0, **more: Any) -> object:
        stated = {"layout": layout, **more}
        found: Any = state_of(stated, [scan(done=0.4), *gone[:count]], waiting=waiting)["running"]
        return found.get("missing")

    assert missing("raidz2x6", 0) is None
    assert missing("raidz2x6", 1) == 1
    assert missing("raidz3x7", 1) == 1
    assert missing("raidz2x6", 3) == 1, "more than there is parity for is no choice"
    assert missing("raidz1x4", 1) is None
    assert missing("raidz3x7", 2, waiting=1) == 1, "one of the two is that which waits"
    assert missing("raidz2x6", 1, old_drive="online") == 1
    vdev = vdevs_of(Layout.parse("raidz3x7"))[0]
    vdev.absent = 1
    assert (vdev.left, vdev.is_whole) == (2, True)
    with pytest.raises(InputError, match="running.missing"):
        Plan.from_dict({"scenario": {"layout": "raidz1x4"}, "running": {"missing": 2}})


def test_what_eta_says_of_the_same_comes_before_what_is_printed() -> None:
    left = Quantiles(p10=1.0, p50=2.0, p90=3.0)
    seen: Any = SimpleNamespace(remaining_s=left, phase="issue", done=1.0, elapsed_s=None)
    found: Any = state_of({}, [scan(done=0.1)], seen=seen)["running"]
    assert (found["done"], found["left"]) == (0.999, (1.0, 2.0, 3.0))
    assert "elapsed" not in found
    seen.elapsed_s = 9.0
    assert state_of({}, [scan(done=0.1)], seen=seen)["running"]["elapsed"] == 9.0  # type: ignore[index]
    seen.phase = "metadata scan"
    found = state_of({}, [scan(done=0.1)], seen=seen)["running"]
    assert found["done"] == 0.0


def test_why_there_is_nothing_to_choose_is_said() -> None:
    idle = Plan.from_dict({"scenario": {"layout": "raidz2x6"}})
    assert "no repair is running or waiting" in str(decisions._nothing_to_choose(idle))
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


def test_kinds_of_passes_are_told_apart_by_their_colours() -> None:
    kinds = get_args(PassKind)
    levels = (Level("raidz2-0", 0, HOUR, 0),)
    passes = tuple(row(0, HOUR, 2 * HOUR, 3 * HOUR, kind=kind) for kind in kinds)
    upper, lower = gantt.figure(answer(passes=passes, redundancy=levels)).axes
    bars = [each.get_facecolor()[:3] for each in upper.patches]
    assert len(bars) == len(kinds) == 5
    assert len({*bars, lower.patches[0].get_facecolor()[:3]}) == 6, "nor is one that of no redundancy"


def test_events_of_a_story_begin_with_its_pool() -> None:
    """Two hot spares of the layout, if none are stated of the plan."""
    assert tell([], layout="raidz2x6+spare:2").spares == 2
    assert tell([], layout="raidz2x6+spare:2", spares=1).spares == 1


def test_a_decision_shows_itself_in_a_notebook_and_is_saved(tmp_path: Path) -> None:
    found = Decision((DecisionAlternative("wait & see", answer(), "best"),), ("a note",))
    shown = found._repr_html_()
    assert shown.startswith("<h2>Best: wait &amp; see; whole after ")
    assert "<p>A note.</p>" in shown
    found.save(tmp_path / "decision.json")
    assert json.loads((tmp_path / "decision.json").read_text()) == json.loads(found.to_json())
    assert found.to_dict()["schema_version"] == 1


def test_in_a_notebook_text_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """There rich shows what it prints below the cell, whatever file it is given."""
    found = Decision((DecisionAlternative("wait", answer(), "best"),))
    told = str(found), str(answer())
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert (str(found), str(answer())) == told
    assert all(told)
