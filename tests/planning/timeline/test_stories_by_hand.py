"""Stories of a few events: what begins, waits, is refused, is counted and told."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.planning.timeline.telling import EVEN, HOUR, PASS_BYTES, TXG, KnownPasses, hours, left, tell, told
from zsim.base.errors import InputError
from zsim.planning.timeline.passes import WORLDS, PassTimes, facts
from zsim.planning.timeline.plan import Plan
from zsim.planning.timeline.pool import sick_drives
from zsim.planning.timeline.result import whole_at
from zsim.scenario.model import Scenario

FAIL, REPLACE = {"do": "fail", "drive": 0}, {"do": "replace", "drive": 0}
SECOND = {"do": "replace", "drive": 1}
ALLOC = facts(Scenario.from_dict({"layout": "raidz2x6", "fill": 0.5, "drive_size": "4TB"})).alloc


# --- what runs already


def test_a_pass_that_runs_goes_on_from_its_share() -> None:
    resilver = tell([], running={"done": "40%", "drives": [0]})
    assert hours(resilver) == [(0, 6)]
    assert resilver.ledger.marks[0] == (0.0, "raidz2-0", 1), "the old drive is missing"
    online = tell([], running={"done": "40%", "old_drive": "online"})
    assert online.ledger.marks == [(0.0, "raidz2-0", 2)]
    scrub = tell([], running={"kind": "scrub", "done": "40%", "drives": [0]})
    assert (hours(scrub, "scrub"), hours(scrub)) == ([(0, 3)], [])
    assert left(scrub) == [(0, 2)], "a scrub replaces nothing"
    rebuild = tell([], layout="mirror2", running={"kind": "rebuild", "done": "40%"})
    assert (hours(rebuild, "rebuild"), hours(rebuild)) == ([(0, 6)], [])
    assert told(resilver, "a resilver runs, 40 % done")


def test_drives_that_wait_have_a_pass_of_their_own() -> None:
    pool = tell([], layout="raidz3x8", running={"done": "40%", "drives": [0], "waiting": [1, 2]})
    assert hours(pool) == [(0, 6), (6, 16)]
    assert [len(each.targets) for each in pool.history] == [1, 2]
    assert left(pool, "raidz3-0") == [(0, 0), (6, 1), (16, 3)]
    with pytest.raises(InputError, match=r"running.drives 3 .*raidz2x6 does without 2"):
        tell([], running={"drives": [0], "waiting": [1, 2]})
    tell([], running={"drives": [0], "waiting": [1, 2], "old_drive": "online"})
    pool = tell([], running={"done": "40%", "drives": [0], "waiting": [1]})
    assert left(pool) == [(0, 0), (6, 1), (16, 2)]


def test_what_eta_says_is_left_sets_the_pace() -> None:
    pool = tell([], running={"done": "50%", "left": [HOUR, 2 * HOUR, 4 * HOUR]})
    assert hours(pool) == [(0, 2)]
    # From one load to another it keeps that pace: as slow as two of ten hours more.
    load = {"do": "set", "at": "1h", "set": {"load": ["random-read,rate=50,size=64K"]}}
    assert hours(tell([load], running={"done": "50%", "left": [HOUR, 2 * HOUR, 4 * HOUR]})) == [(0, 3)]


def test_a_story_begins_at_nought_with_what_each_vdev_may_lose() -> None:
    pool = tell([], layout="raidz2x6+mirror2")
    assert pool.ledger.marks == [(0.0, "raidz2-0", 2), (0.0, "mirror-1", 1)]


# --- drives that were away, and spares


def test_what_a_drive_missed_is_the_churn_of_its_time_away() -> None:
    """A tenth of what is allocated a day: twelve hours are a twentieth, of a pass of ten hours 30 minutes."""
    events = [{"do": "offline", "drive": 0, "at": "6h"}, {"do": "online", "drive": 0, "at": "18h"}]
    (one,) = tell(events, churn=ALLOC // 10).history
    assert (one.begins, one.ends - one.begins) == pytest.approx((18 * HOUR, HOUR / 2), rel=1e-6)
    assert told(tell(events, churn=ALLOC // 10), "5.0 % of the blocks missed")
    (most,) = tell(events, churn=10 * ALLOC).history
    assert most.ends - most.begins == pytest.approx(10 * HOUR), "no more than all of it"
    assert told(tell(events, churn=10 * ALLOC), "100.0 % of the blocks missed")


def test_spares_are_named_by_their_kind() -> None:
    hot = tell([FAIL], spares=1)
    assert told(hot, "ZED attaches a hot spare for drive 0 of raidz2-0")
    draid = tell([FAIL], layout="draid2:4d:12c:1s")
    assert told(draid, "ZED attaches a distributed spare for drive 0")
    assert not told(draid, "hot spare")


def test_a_drive_that_fails_while_it_waits_is_not_resilvered() -> None:
    events = [
        REPLACE,
        {"do": "replace", "drives": [1, 2], "at": "30%"},
        {"do": "fail", "drive": 1, "at": "50%"},
    ]
    pool = tell(events)
    assert hours(pool) == [(0, 10), (10, 20)]
    assert [[target.slot for target in each.targets] for each in pool.history] == [[0], [2]]
    alone = tell([REPLACE, {**SECOND, "at": "30%"}, {"do": "fail", "drive": 1, "at": "50%"}])
    assert hours(alone) == [(0, 10)]


def test_sick_drives_are_those_of_the_first_vdev() -> None:
    sick = {"layout": "2*raidz2x6", "slow": ["4:x3", "6:x2", "7:x2", "1:x2"]}
    scenario = Scenario.from_dict(sick)
    assert (sick_drives(scenario, 0), sick_drives(scenario, 1)) == ((1, 4), ())
    assert sick_drives(Scenario.from_dict({"layout": "raidz2x6", "slow": ["5:x3"]}), 0) == (5,)


def test_a_pass_does_without_a_sick_drive_that_is_away() -> None:
    passes = KnownPasses()
    slow = {"slow": ["1:x3"]}
    tell([{"do": "offline", "drive": 1}, REPLACE], passes=passes, scenario=slow)
    assert passes.asked[-1]["away"] == (1,)
    tell([REPLACE], passes=passes, scenario=slow)
    assert "away" not in passes.asked[-1]
    tell([{"do": "offline", "drive": 2}, REPLACE], passes=passes, scenario=slow)
    assert "away" not in passes.asked[-1], "a sound one is"


def test_a_pass_that_runs_is_looked_at_again_when_a_sick_drive_goes_or_comes() -> None:
    passes = KnownPasses()
    for drive, asked in ((1, [None, (1,), None]), (2, [None])):
        passes.asked.clear()
        gone = {"do": "offline", "drive": drive, "at": "2h"}
        tell(
            [REPLACE, gone, {**gone, "do": "online", "at": "4h"}], passes=passes, scenario={"slow": ["1:x3"]}
        )
        assert [each.get("away") for each in passes.asked] == asked


def test_a_pass_that_would_begin_again_does_not_after_a_loss() -> None:
    """It ends in vain at ten hours, and would begin with the next txg: two seconds later the pool is lost."""
    events = [
        REPLACE, {"do": "unreadable-block", "at": "1h"}, {"do": "free-block", "at": "15h"},
        {"do": "fail", "drives": [1, 2, 3], "at": 10 * HOUR + 2},
    ]  # fmt: skip
    pool = tell(events, "openzfs-0.8")
    assert (pool.lost, hours(pool)) == (True, [(0, 10)])


def test_drives_that_are_not_like_the_rest_are_told_to_each_pass() -> None:
    passes = KnownPasses()
    tell([REPLACE], passes=passes, scenario={"exchanged": ["3:@8TB"]})
    assert passes.asked[-1]["exchanged"] == ["3:@8000000000000"]


def test_an_attached_drive_is_written_beside_those_that_are_there() -> None:
    passes = KnownPasses()
    tell([{"do": "attach"}], layout="mirror2", passes=passes)
    assert (passes.asked[-1]["layout"], passes.asked[-1]["old"], passes.asked[-1]["drives"]) == (
        "mirror3",
        "missing",
        1,
    )


# --- blocks that cannot be read, checkpoints


def test_a_resilver_that_ends_in_vain_is_done_twice_and_counted() -> None:
    events = [REPLACE, {"do": "unreadable-block", "at": "10%"}, {"do": "free-block", "at": "15h"}]
    pool = tell(events, "openzfs-0.8")
    assert (hours(pool), pool.redone) == ([(0, 10), (10, 20)], PASS_BYTES)
    assert not pool.notes


def test_each_unreadable_block_has_to_be_freed() -> None:
    """Two of them: with one freed during the first pass, and the other during the second, two are in vain."""
    broken = [REPLACE, {"do": "unreadable-block", "at": "1h"}, {"do": "unreadable-block", "at": "2h"}]
    freed = [{"do": "free-block", "at": "5h"}, {"do": "free-block", "at": "15h"}]
    assert hours(tell([*broken, *freed], "openzfs-0.8")) == [(0, 10), (10, 20)]
    one = tell([*broken, freed[0]], "openzfs-0.8")
    assert hours(one) == [(0, 10)], "none is to be freed any more: for ever"
    assert one.notes == [
        "an unreadable block makes the resilver start over again and again, until it is removed"
    ]
    assert whole_at(one) == math.inf
    more = [*broken[:2], {"do": "free-block", "at": "2h"}, {"do": "free-block", "at": "3h"}]
    assert hours(tell(more, "openzfs-0.8")) == [(0, 10)]


def test_a_checkpoint_makes_it_start_over_for_ever_unless_it_is_to_be_discarded() -> None:
    for release, passes in (("openzfs-2.2", 1), ("zol-0.7", 1)):
        pool = tell([REPLACE, {"do": "checkpoint", "at": "1h"}], release)
        assert len(pool.history) == passes
    assert tell([REPLACE, {"do": "checkpoint", "at": "1h"}], "zol-0.7").is_whole, "it knows no checkpoints"


# --- what is refused, and what is told of it


@pytest.mark.parametrize(
    ("events", "words"),
    [([{"do": "checkpoint"}], "refused while the pool has a checkpoint"),
     ([{"do": "remove", "vdev": 1}], "no drive is replaced or attached while a vdev is removed")],
)  # fmt: skip
def test_nothing_is_attached_beside_a_checkpoint_or_a_removal(events: list[Any], words: str) -> None:
    discard = [{"do": "discard-checkpoint", "at": "3h"}] if "checkpoint" in words else []
    assert told(tell([*events, {**REPLACE, "after": 1}, *discard], layout="3*mirror2"), words)
    assert not told(tell([REPLACE], layout="3*mirror2"), words)


def test_what_has_to_wait_says_so_and_what_has_not_does_not() -> None:
    words = "a scrub is refused while another scan runs"
    assert told(tell([REPLACE, {"do": "scrub", "at": "1h"}]), words)
    assert not told(tell([{"do": "scrub"}]), words)
    words = "the removal of mirror-1 is refused"
    remove = {"do": "remove", "vdev": 1}
    assert told(tell([REPLACE, {**remove, "at": "1h"}], layout="3*mirror2"), words)
    assert not told(tell([remove], layout="3*mirror2"), words)
    words = "zpool split is refused while drives are missing"
    split = {"do": "split"}
    assert told(tell([REPLACE, {**split, "at": "1h"}], layout="mirror3"), words)
    assert told(tell([FAIL, {**split, "at": "1h"}, {**REPLACE, "at": "2h"}], layout="mirror3"), words)
    assert not told(tell([split], layout="mirror3"), words)


def test_a_split_waits_until_the_pool_is_whole() -> None:
    pool = tell([FAIL, {"do": "split", "at": "1h"}, {**REPLACE, "at": "2h"}], layout="mirror3")
    assert left(pool, "mirror-0") == [(0, 2), (0, 1), (12, 2), (12, 1)]


def test_zpool_resilver_without_a_resilver_does_nothing() -> None:
    for events in ([{"do": "resilver"}], [{"do": "scrub"}, {"do": "resilver", "after": "1h"}]):
        pool = tell(events)
        assert told(pool, "zpool resilver: no drive needs one")
        assert hours(pool) == []


def test_after_a_loss_nothing_happens_any_more() -> None:
    events = [{"do": "fail", "drives": [0, 1, 2]}, {"do": "scrub", "after": "1h"}, {**REPLACE, "after": "1h"}]
    pool = tell(events)
    assert pool.lost
    assert pool.history == []
    assert [text for _, text in pool.story][-1].endswith("its data lost")


def test_what_was_removed_or_split_off_is_not_there_any_more() -> None:
    gone = {"do": "fail", "vdev": 1, "drive": 0, "when": "removal ends"}
    pool = tell([{"do": "remove", "vdev": 1}, gone], layout="2*mirror2")
    assert told(pool, "fail: its target in mirror-1 is no longer in the pool")
    assert not told(pool, "drive 0 of mirror-1 fails")
    split = [{"do": "split"}, {"do": "fail", "drive": 1, "after": "1h"}]
    assert told(tell(split, layout="mirror2"), "fail: its target in mirror-0 is no longer")
    first = tell([split[0], {"do": "fail", "drive": 0, "after": "1h"}], layout="mirror2")
    assert first.lost, "the only one that is left"
    for do in ("attach", "expand", "remove", "detach"):
        event = {"do": do, "vdev": 1, "drive": 0, "when": "removal ends"}
        assert told(tell([{"do": "remove", "vdev": 1}, event], layout="3*mirror2"), f"{do}: its target")


# --- when


def test_quiet_is_when_nothing_runs_or_waits_and_whole_whatever_is_scrubbed() -> None:
    """Two passes, with a txg between them in which nothing runs and the second waits."""
    pool = tell([REPLACE, {**SECOND, "at": "50%"}, {"do": "scrub", "when": "quiet"}])
    assert hours(pool, "scrub") == [(20, 25)]
    at_once = tell([{"do": "scrub"}, {"do": "fail", "drive": 3, "when": "whole"}])
    assert left(at_once) == [(0, 2), (0, 1)]
    later = tell([FAIL, REPLACE, {"do": "fail", "drive": 3, "when": "whole"}])
    assert left(later) == [(0, 2), (0, 1), (10, 2), (10, 1)]


@pytest.mark.parametrize(("share", "hour"), [("0%", 2), ("1%", 2.1), ("100%", 12)])
def test_a_share_is_that_of_the_pass_that_runs_or_of_the_next(share: str, hour: float) -> None:
    events = [{**REPLACE, "at": "2h"}, {"do": "checkpoint", "at": share}]
    pool = tell(events)
    ((when, _),) = [each for each in pool.story if "has a checkpoint" in each[1]]
    assert when / HOUR == pytest.approx(hour, abs=1e-3)


def test_a_reboot_tells_what_goes_back_and_is_silent_where_nothing_does() -> None:
    words = "continues from its last position"
    reboot = {"do": "reboot", "at": "50%", "takes": 0}
    assert told(tell([REPLACE, reboot], passes=KnownPasses(collecting=0.1)), words)
    assert not told(tell([REPLACE, reboot], "zol-0.7"), words), "five seconds are not a byte of these"
    crash = tell([REPLACE, {**reboot, "clean": False}])
    assert told(crash, "the host goes down")
    assert told(tell([REPLACE, reboot]), "the pool is exported")
    assert [text for _, text in crash.story].count("the pool is imported") == 1


def test_a_vdev_grows_with_larger_drives_only() -> None:
    # Drives of 4 TB have 4,000,787,030,016 bytes.
    for size, grows in (("4TB", False), ("4000787030016", False), ("5TB", True), ("3999GB", False)):
        try:
            pool = tell([{"do": "replace", "each": True, "new_drive_size": size}], at_once=6)
        except InputError:
            assert size == "3999GB", "a smaller one does not go in"
            continue
        assert told(pool, "raidz2-0 may grow") == grows


def test_a_deferred_pass_begins_one_txg_later_and_once() -> None:
    pool = tell([REPLACE, {**SECOND, "at": "50%"}])
    first, second = pool.history
    assert second.begins - first.ends == pytest.approx(TXG)
    assert (pool.pending, pool.waiting, pool.redone) == (0, [], 0)


@pytest.mark.parametrize(
    ("field", "most", "beyond"),
    [("spares", 255, 256), ("at_once", 255, 256), ("at_once", 1, 0), ("spares", 0, -1), ("detection", 0, -1),
     ("churn", 0, -1), ("title", "x" * 200, "x" * 201),
     ("events", [{"do": "scrub"}] * 200, [{"do": "scrub"}] * 201)],
)  # fmt: skip
def test_plans_have_ends(field: str, most: Any, beyond: Any) -> None:
    plan = {"scenario": {"layout": "raidz2x6"}}
    Plan.from_dict({**plan, field: most})
    with pytest.raises(InputError, match=field):
        Plan.from_dict({**plan, field: beyond})


@pytest.mark.parametrize(
    ("field", "most", "beyond"),
    [("at", "100%", "101%"), ("at", 0, -1), ("after", 0, -1), ("takes", 0, -1), ("drive", 0, -1),
     ("vdev", 0, -1), ("new_drive_size", 1, 0), ("new_drive", "x", "")],
)  # fmt: skip
def test_events_have_ends(field: str, most: Any, beyond: Any) -> None:
    def plan(value: Any) -> dict[str, Any]:
        return {"scenario": {"layout": "raidz2x6"}, "events": [{"do": "replace", "drive": 0, field: value}]}

    Plan.from_dict(plan(most))
    with pytest.raises(InputError):
        Plan.from_dict(plan(beyond))


def test_what_is_usual_is_taken_where_an_event_does_not_say() -> None:
    plan = Plan.from_dict({"scenario": {"layout": "raidz2x6"}, "events": [{"do": "reboot"}], "running": {}})
    (event,) = plan.events
    assert (event.takes, event.clean, event.vdev, event.to, event.sequential) == (
        300.0,
        True,
        0,
        "new-drive",
        False,
    )
    assert (plan.spares, plan.detection, plan.churn, plan.at_once, plan.zed) == (0, 0.0, 0, 1, True)
    assert plan.running is not None
    assert (plan.running.vdev, plan.running.drives, plan.running.done) == (0, (0,), 0.0)


# --- a pool that lacks a drive


def lacking(leaf: int | None, asked: bool) -> dict[str, Any]:
    gone = {"what": "drive", "drive": "sdx", "missing": "UNAVAIL", "asked": asked}
    return {"evidence": [gone if leaf is None else {**gone, "leaf": leaf}]}


def test_a_drive_that_a_status_shows_as_gone_is_missing_from_the_beginning() -> None:
    """One more may fail until it is replaced; another failure before that leaves none."""
    replaced = tell([{"do": "replace", "after": "2h", "drive": 5}], scenario=lacking(5, True))
    assert left(replaced) == [(0.0, 1), (12.0, 2)]
    assert whole_at(replaced) / HOUR == pytest.approx(12.0, abs=0.1)
    assert told(replaced, "drive 5 of raidz2-0 (sdx) is missing")
    events = [{"do": "fail", "drive": 0}, {"do": "replace", "after": "1h", "drive": 0}]
    another = tell(events, scenario=lacking(5, True))
    assert left(another) == [(0.0, 1), (0.0, 0), (11.0, 1)]
    assert whole_at(another) == math.inf, "nothing replaces the other"
    assert left(tell(events, scenario=lacking(None, False))) == [(0.0, 1), (0.0, 0), (11.0, 1)]
    lost = tell([{"do": "fail", "drives": [0, 1]}], scenario=lacking(2, True))
    assert lost.lost


def test_the_drives_of_a_pass_that_runs_are_told_by_the_plan_alone() -> None:
    running = {"kind": "resilver", "done": "50%", "drives": [0]}
    assert left(tell([], scenario=lacking(5, False), running=running))[0] == (0.0, 1)


def test_a_pass_onto_drives_of_two_vdevs_reads_and_writes_both() -> None:
    """It takes as long as the longer of them, not as long as both."""
    failed = [{"do": "fail", "drives": [0]}, {"do": "fail", "vdev": 1, "drives": [3]}]
    replaced = [{"do": "replace", "drive": 0, "after": "1h"}, {"do": "replace", "vdev": 1, "drive": 3}]
    pool = tell([*failed, *replaced], layout="2*raidz2x6", release="openzfs-2.3")
    both = pool.history[-1]
    assert len(both.targets) == 2
    assert both.times.read_bytes == 2 * PASS_BYTES
    assert hours(pool)[-1] == (1.0, 11.0)


def test_what_a_pass_has_cost_so_far_is_what_it_was_seen_to_take() -> None:
    """A quarter is done after 1.5 h, and 4.5 h are left: a reboot that begins anew costs the 1.5 h."""
    plan = {"kind": "resilver", "done": "25%", "drives": [0], "left": ["4h", "4.5h", "5h"], "elapsed": "1.5h"}
    slow = KnownPasses()
    slow._of = lambda hours: PassTimes(  # type: ignore[method-assign]
        np.full(WORLDS, hours * HOUR), (np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.25, 1.0])), 0.1
    )
    quiet = tell([], running=plan, passes=slow, release="openzfs-2.3")
    assert whole_at(quiet) / HOUR == pytest.approx(4.5, rel=1e-3)
    again = tell([{"do": "reboot"}], running=plan, passes=slow, release="openzfs-2.3")
    assert whole_at(again) / HOUR == pytest.approx(6.0 + 5 / 60, abs=0.02)
    unseen = {name: value for name, value in plan.items() if name != "elapsed"}
    twice = tell([{"do": "reboot"}], running=unseen, passes=slow, release="openzfs-2.3")
    assert whole_at(twice) / HOUR == pytest.approx(9.0 + 5 / 60, abs=0.02), "as the simulated course has it"


def test_a_course_goes_through_what_was_seen() -> None:
    course = PassTimes(EVEN, (np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.25, 1.0])), collecting=0.1)
    seen = course.seen(0.25, 0.2)
    assert (seen.gone(0.25), seen.done(0.2), seen.gone(1.0)) == (0.2, 0.25, 1.0)
    assert seen.collecting == pytest.approx(0.04)
    assert seen.done(0.6) == pytest.approx(0.625), "half of the rest in half of its time"
    late = PassTimes(EVEN, course.curve, collecting=0.75).seen(0.25, 0.2)
    assert late.collecting == pytest.approx(0.6), "half of the rest of the time, too"
    for nothing in ((0.0, 0.2), (0.25, 0.0), (1.0, 0.5)):
        assert course.seen(*nothing) is course


def test_what_the_scenario_says_of_a_repair_is_said_of_the_one_that_runs() -> None:
    """Flags state it there: ``zsim decide --done 50% --replace 2`` told of one that is gone."""
    running = {"done": "50%"}
    online = tell([], running=running, scenario={"old_drive": "online"})
    assert left(online) == [(0, 2)]
    two = tell([], running=running, scenario={"replace": 2})
    assert left(two) == [(0, 0), (5, 2)]
    other = tell([], running=running, layout="2*raidz2x6", scenario={"replace_in": "1"})
    assert left(other, "raidz2-1") == [(0, 1), (5, 2)]
    own = tell([], running={"done": "50%", "drives": [3]}, scenario={"replace": 2})
    assert left(own) == [(0, 1), (5, 2)], "what runs says it itself"


def test_a_repair_that_cancels_a_scrub_says_so() -> None:
    pool = tell([{"do": "replace", "drive": 0}], running={"kind": "scrub", "done": "50%"})
    assert pool.notes == ["a running scrub is cancelled by a repair, and does not continue afterwards"]
