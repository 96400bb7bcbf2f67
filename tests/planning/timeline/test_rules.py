"""The rules, release by release: each test fails if its rule is left out or applied to another release."""

from __future__ import annotations

import math

import pytest

from tests.planning.timeline.telling import HOUR, PASS_BYTES, TXG, KnownPasses, hours, left, tell, told
from tests.sourced import unsourced_numbers
from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.planning.timeline.passes import facts
from zsim.planning.timeline.redundancy import Target
from zsim.planning.timeline.result import whole_at
from zsim.planning.timeline.rules import FILE, rules_of
from zsim.planning.timeline.scans import last_position
from zsim.scenario.releases.profile import load_release

FAIL, REPLACE = {"do": "fail", "drive": 0}, {"do": "replace", "drive": 0}
SECOND = {"do": "replace", "drive": 1}


@pytest.mark.parametrize(
    ("release", "at", "passes"),
    [
        ("zol-0.6.5", "50%", [(0, 5), (5, 15)]),
        ("zol-0.7", "5%", [(0, 0.5), (0.5, 10.5)]),
        ("freebsd-9.2", "50%", [(0, 5), (5, 15)]),
        ("openzfs-0.8", "5%", [(0, 10), (10, 20)]),
        ("openzfs-2.2", "5%", [(0, 10), (10, 20)]),
        ("openzfs-2.2", "80%", [(0, 10), (10, 20)]),
        ("openzfs-2.3", "5%", [(0, 0.5), (0.5, 10.5)]),
        ("openzfs-2.3", "12%", [(0, 10), (10, 20)]),
        ("openzfs-2.4", "5%", [(0, 0.5), (0.5, 10.5)]),
    ],
)
def test_a_second_replacement_restarts_or_is_deferred(
    release: str, at: str, passes: list[tuple[float, float]]
) -> None:
    pool = tell([REPLACE, {**SECOND, "at": at}], release)
    assert hours(pool) == passes
    restarted = passes[0][1] < 10
    assert pool.redone == (pytest.approx(PASS_BYTES * passes[0][1] / 10, abs=1) if restarted else 0)
    assert len(pool.history[-1].targets) == (2 if restarted else 1)


@pytest.mark.parametrize(
    ("tunable", "value", "passes"),
    [
        ("zfs_resilver_disable_defer", 1, [(0, 5), (5, 15)]),
        ("zfs_resilver_defer_percent", 60, [(0, 5), (5, 15)]),
        ("zfs_resilver_defer_percent", 40, [(0, 10), (10, 20)]),
    ],
)
def test_tunables_of_the_deferral(tunable: str, value: int, passes: list[tuple[float, float]]) -> None:
    pool = tell([REPLACE, {**SECOND, "at": "50%"}], "openzfs-2.3", scenario={"tunables": {tunable: value}})
    assert hours(pool) == passes


@pytest.mark.parametrize("release", ["zol-0.7", "openzfs-2.2", "openzfs-2.3"])
def test_drives_replaced_before_the_scan_starts_are_one_pass(release: str) -> None:
    passes = KnownPasses()
    pool = tell([{"do": "replace", "drives": [0, 1]}], release, passes=passes)
    assert hours(pool) == [(0, 10)]
    assert passes.asked[-1]["drives"] == 2
    assert passes.asked[-1]["old"] == "online"


@pytest.mark.parametrize(
    ("release", "count"), [("zol-0.7", 10), ("openzfs-0.8", 20), ("openzfs-2.2", 20), ("openzfs-2.3", 10)]
)
def test_the_next_command_meets_a_running_scan(release: str, count: float) -> None:
    pool = tell([REPLACE, {**SECOND, "after": 1}], release)
    assert hours(pool)[-1][1] == count


def test_a_deferred_pass_begins_one_transaction_group_later() -> None:
    first, second = tell([REPLACE, {**SECOND, "at": "50%"}]).history
    assert second.begins - first.ends == pytest.approx(TXG)


def test_drives_of_two_vdevs_wait_for_each_other_too() -> None:
    events = [REPLACE, {**SECOND, "vdev": 1, "at": "50%"}]
    assert hours(tell(events, layout="2*raidz2x6")) == [(0, 10), (10, 20)]


def test_zpool_resilver_restarts_with_all_that_wait() -> None:
    events = [REPLACE, {**SECOND, "at": "30%"}, {"do": "resilver", "at": "50%"}]
    pool = tell(events, "openzfs-2.1")
    assert hours(pool) == [(0, 5), (5, 15)]
    assert len(pool.history[-1].targets) == 2
    with pytest.raises(InputError, match=r"zol-0\.7\S* has no command zpool resilver"):
        tell([REPLACE, {"do": "resilver", "at": "50%"}], "zol-0.7")


# --- reboot


def test_a_legacy_scan_goes_on_where_it_was() -> None:
    pool = tell([REPLACE, {"do": "reboot", "at": "50%", "takes": "1h"}], "zol-0.7")
    assert hours(pool) == [(0, 11)]
    assert pool.redone <= 1


def test_a_sorted_scan_that_has_collected_all_begins_again() -> None:
    pool = tell([REPLACE, {"do": "reboot", "at": "50%", "takes": "1h"}], passes=KnownPasses(collecting=0.1))
    assert hours(pool) == [(0, 16)]
    assert pool.redone == PASS_BYTES // 2


def test_a_sorted_scan_that_collects_for_long_goes_on_from_its_checkpoint() -> None:
    # Of 10 h it collects for 5: positions are written every 4 h.
    pool = tell([REPLACE, {"do": "reboot", "at": "50%", "takes": "1h"}], passes=KnownPasses(collecting=0.5))
    assert hours(pool) == [(0, 12)]
    assert pool.redone == pytest.approx(PASS_BYTES * 0.1, abs=1)


def test_the_interval_of_checkpoints_is_a_tunable() -> None:
    scenario = {"tunables": {"zfs_scan_checkpoint_intval": 900}}
    reboot = {"do": "reboot", "at": "50%", "takes": "1h"}
    pool = tell([REPLACE, reboot], passes=KnownPasses(collecting=0.5), scenario=scenario)
    assert hours(pool) == [(0, 11)]


def test_a_sorted_scan_waits_five_transaction_groups_after_an_import() -> None:
    ends = {}
    for release in ("zol-0.7", "openzfs-0.8"):
        scenario = {"tunables": {"zfs_scan_legacy": 1}} if release == "openzfs-0.8" else {}
        reboot = {"do": "reboot", "at": "50%", "takes": 0}
        ends[release] = tell([REPLACE, reboot], release, scenario=scenario).history[-1].ends
    assert ends["openzfs-0.8"] - ends["zol-0.7"] == pytest.approx(5 * TXG)


def test_last_position() -> None:
    assert last_position(5.0, 0.0, 10.0, 7200.0) == 0.0
    assert last_position(9 * HOUR, 4 * HOUR, 16 * HOUR, 7200.0) == 8 * HOUR


# --- unreadable blocks, checkpoints


@pytest.mark.parametrize("release", ["zol-0.7", "openzfs-0.8"])
def test_an_unreadable_block_makes_the_resilver_start_over_until_it_is_freed(release: str) -> None:
    events = [REPLACE, {"do": "unreadable-block", "at": "10%"}, {"do": "free-block", "at": "15h"}]
    assert hours(tell(events, release)) == [(0, 10), (10, 20)]
    forever = tell(events[:2], release)
    assert whole_at(forever) == math.inf


@pytest.mark.parametrize("release", ["openzfs-2.0", "openzfs-2.3"])
def test_from_2_0_the_resilver_completes_with_errors(release: str) -> None:
    pool = tell([FAIL, REPLACE, {"do": "unreadable-block", "at": "10%"}], release)
    assert hours(pool) == [(0, 10)]
    assert pool.is_whole
    assert told(pool, "with 1 errors")


def test_an_import_that_finds_errors_starts_it_over() -> None:
    events = [REPLACE, {"do": "unreadable-block", "at": "10%"}, {"do": "reboot", "at": "80%", "takes": 0}]
    pool = tell(events, "openzfs-2.2", passes=KnownPasses(collecting=1.0))
    assert hours(pool) == [(0, 8), (8, 18)]


def test_a_pool_checkpoint_keeps_what_drives_lack() -> None:
    events = [FAIL, REPLACE, {"do": "checkpoint", "at": "50%"}]
    pool = tell(events)
    assert left(pool) == [(0, 2), (0, 1)]
    assert whole_at(pool) == math.inf
    discarded = tell([*events, {"do": "discard-checkpoint", "at": "12h"}])
    assert hours(discarded) == [(0, 10), (10, 20)]
    assert left(discarded)[-1] == (20, 2)


def test_nothing_is_replaced_while_there_is_a_pool_checkpoint() -> None:
    events = [{"do": "checkpoint"}, REPLACE, {"do": "discard-checkpoint", "at": "3h"}]
    assert hours(tell(events)) == [(3, 13)]


# --- scrubs


def test_a_resilver_cancels_a_scrub_for_good() -> None:
    pool = tell([{"do": "scrub"}, {**REPLACE, "after": "1h"}])
    assert hours(pool, "scrub") == [(0, 1)]
    assert hours(pool) == [(1, 11)]


def test_a_scrub_waits_for_a_resilver() -> None:
    assert hours(tell([REPLACE, {"do": "scrub", "at": "50%"}]), "scrub") == [(10, 15)]


def test_a_scrub_can_be_paused_a_resilver_cannot() -> None:
    pause = [{"do": "pause-scrub", "after": "1h"}, {"do": "resume-scrub", "after": "2h"}]
    assert hours(tell([{"do": "scrub"}, *pause]), "scrub") == [(0, 7)]
    assert hours(tell([REPLACE, *pause])) == [(0, 10)]
    assert hours(tell([{"do": "scrub"}, {"do": "stop-scrub", "after": "1h"}]), "scrub") == [(0, 1)]


def test_a_paused_scrub_is_paused_after_an_import() -> None:
    events = [
        {"do": "scrub"},
        {"do": "pause-scrub", "after": "1h"},
        {"do": "reboot", "after": "1h", "takes": 0},
    ]
    assert whole_at(tell(events, "zol-0.7")) == math.inf
    assert hours(tell([*events, {"do": "resume-scrub", "after": "2h"}], "zol-0.7"), "scrub") == [(0, 8)]


def test_what_looks_at_a_pass_as_it_goes_on_does_not_hold_it() -> None:
    events = [REPLACE, {"do": "reboot", "at": "10%"}, {"do": "scrub", "at": "90%"}]
    assert hours(tell(events, "zol-0.7"))[0][1] == 10.1


# --- spares


def test_zed_rebuilds_distributed_spares_alone_sequentially() -> None:
    """A hot spare is resilvered, in mirrors too (zfs_retire.c:replace_with_spare, 2.1.0 to 2.4.4)."""
    for release in ("openzfs-2.0", "openzfs-2.1", "openzfs-2.4"):
        assert hours(tell([FAIL], release, "mirror2", spares=1)) == [(0, 10)], release
    new = tell([FAIL], "openzfs-2.1", "draid1:4d:12c:1s")
    assert hours(new, "rebuild") == [(0, 10)]
    assert hours(new, "scrub") == [(10, 15)]


SECOND_FAILS = {"do": "fail", "drive": 1, "at": "40%"}


def test_a_second_failure_of_a_draid_begins_the_rebuild_anew_into_both_spares() -> None:
    """4 of 10 hours are lost; both drives are missing until 4 + 10."""
    passes = KnownPasses()
    pool = tell([FAIL, SECOND_FAILS], "openzfs-2.4", "draid2:4d:14c:2s", passes)
    assert hours(pool, "rebuild") == [(0, 4), (4, 14)]
    assert hours(pool, "scrub") == [(14, 19)]
    assert left(pool, "draid2:4d:14c:2s-0") == [(0, 2), (0, 1), (4, 0), (14, 2)]
    asked = [(each["drives"], each["kind"], each["target"]) for each in passes.asked]
    assert asked == [(1, "rebuild", "distributed-spare"), (2, "rebuild", "distributed-spare")]
    assert pool.redone == 400
    assert pool.vdevs[0].spares == 0


def test_with_one_distributed_spare_the_second_drive_waits_for_a_replacement() -> None:
    """The rebuild goes on; a replacement meanwhile is refused, made when it ends, and heals (10 to 20 h)."""
    replaced = {"do": "replace", "drive": 1, "after": "1h"}
    pool = tell([FAIL, SECOND_FAILS, replaced], "openzfs-2.4", "draid2:4d:13c:1s")
    assert hours(pool, "rebuild") == [(0, 10)]
    assert hours(pool) == [(10, 20)]
    assert left(pool, "draid2:4d:13c:1s-0") == [(0, 2), (0, 1), (4, 0), (10, 1), (20, 2)]
    assert told(pool, "refused while a rebuild runs")


def test_a_third_failure_within_the_rebuild_of_two_suspends_a_draid2() -> None:
    third = {"do": "fail", "drive": 2, "at": "50%"}
    pool = tell([FAIL, SECOND_FAILS, third], "openzfs-2.4", "draid2:4d:14c:2s")
    assert pool.lost
    assert left(pool, "draid2:4d:14c:2s-0")[-1] == (9, -1)


def test_zed_does_not_try_again_what_zfs_has_refused() -> None:
    """No distributed spare while a resilver runs, no hot spare while a rebuild does (spa_vdev_attach)."""
    healing = [{"do": "replace", "drive": 3}, {**FAIL, "at": "50%"}]
    pool = tell(healing, "openzfs-2.4", "draid2:4d:14c:2s")
    assert (hours(pool), hours(pool, "rebuild")) == ([(0, 10)], [])
    assert told(pool, "no distributed spare for drive 0 of draid2:4d:14c:2s-0: refused while a resilver runs")
    assert not pool.is_whole
    # With a hot spare beside them that one goes in, and waits for its pass.
    assert len(hours(tell(healing, "openzfs-2.4", "draid2:4d:14c:2s+spare:1"))) == 2
    both = [{**REPLACE, "sequential": True}, {"do": "fail", "vdev": 1, "drive": 0, "after": "4h"}]
    pool = tell(both, "openzfs-2.4", "2*mirror2", spares=1)
    assert (hours(pool, "rebuild"), hours(pool), pool.spares) == ([(0, 10)], [], 1)
    assert told(pool, "no hot spare for drive 0 of mirror-1: refused while a rebuild runs")


def test_no_spare_for_a_special_vdev_from_2_1() -> None:
    for release, expected in (("openzfs-2.0", [(0, 10)]), ("openzfs-2.1", []), ("openzfs-2.4", [])):
        events = [{"do": "fail", "vdev": 1, "drive": 0}]
        pool = tell(events, release, "raidz2x6+mirror2", spares=1, special=[1])
        assert hours(pool) + hours(pool, "rebuild") == expected, release


def test_without_zed_no_spare_and_it_takes_time_to_detect() -> None:
    assert hours(tell([FAIL], spares=1, zed=False)) == []
    assert hours(tell([FAIL], spares=1, detection="30min")) == [(0.5, 10.5)]


def test_a_spare_is_given_back_once_the_drive_is_replaced() -> None:
    pool = tell([FAIL, {**REPLACE, "after": "20h"}, {"do": "fail", "drive": 3, "at": "40h"}], spares=1)
    assert hours(pool) == [(0, 10), (20, 30), (40, 50)]
    assert left(pool) == [(0, 2), (0, 1), (10, 2), (40, 1), (50, 2)]


def test_draid_takes_a_distributed_spare_first_then_the_hot_one() -> None:
    passes = KnownPasses()
    events = [FAIL, {**REPLACE, "after": "20h"}]
    pool = tell(events, "openzfs-2.2", "draid2:4d:12c:1s", passes, spares=1)
    assert [each["kind"] for each in passes.asked] == ["rebuild", "resilver"]
    assert [each.get("target") for each in passes.asked] == ["distributed-spare", None]
    assert pool.spares == 1
    assert pool.vdevs[0].spares == 1
    assert told(pool, "the distributed spare of draid2:4d:12c:1s-0 is released")


# --- rebuilds


@pytest.mark.parametrize(("release", "tunable", "scrubs"), [
    ("openzfs-2.0", None, 1), ("openzfs-2.2", None, 1), ("openzfs-2.2", 0, 0),
])  # fmt: skip
def test_the_scrub_after_a_rebuild(release: str, tunable: int | None, scrubs: int) -> None:
    scenario = {} if tunable is None else {"tunables": {"zfs_rebuild_scrub_enabled": tunable}}
    pool = tell([FAIL, {**REPLACE, "sequential": True}], release, "mirror2", scenario=scenario)
    assert len(hours(pool, "scrub")) == scrubs
    assert whole_at(pool) == 10 * HOUR


def test_a_second_drive_restarts_a_rebuild() -> None:
    sequential = {"sequential": True}
    events = [{**REPLACE, **sequential}, {**SECOND, **sequential, "after": "4h"}]
    pool = tell(events, layout="mirror3")
    assert hours(pool, "rebuild") == [(0, 4), (4, 14)]
    assert pool.redone == pytest.approx(PASS_BYTES * 0.4, abs=1)


def test_rebuilds_of_two_vdevs_run_together_and_one_scrub_follows() -> None:
    sequential = {"sequential": True}
    events = [{**REPLACE, **sequential}, {**SECOND, **sequential, "vdev": 1, "after": "4h"}]
    pool = tell(events, layout="2*mirror2")
    assert hours(pool, "rebuild") == [(0, 10), (4, 14)]
    assert hours(pool, "scrub") == [(14, 19)]


def test_resilver_and_rebuild_exclude_each_other() -> None:
    rebuild_first = [{**REPLACE, "sequential": True}, {**SECOND, "vdev": 1, "after": "4h"}]
    pool = tell(rebuild_first, layout="2*mirror2")
    assert hours(pool, "rebuild") == [(0, 10)]
    assert hours(pool) == [(10, 20)]


def test_raidz_has_no_rebuild() -> None:
    with pytest.raises(InputError, match="has no sequential rebuild of raidz"):
        tell([{**REPLACE, "sequential": True}])


# --- detached drives, tunables, what else begins


def test_a_detached_new_drive_leaves_its_place_as_it_was() -> None:
    pool = tell([FAIL, REPLACE, {"do": "detach", "drive": 0, "at": "40%"}])
    assert hours(pool) == [(0, 10)]
    assert left(pool)[-1] == (0, 1)
    assert whole_at(pool) == math.inf
    spared = tell([FAIL, {"do": "detach", "drive": 0, "at": "20h"}], spares=1)
    assert left(spared) == [(0, 2), (0, 1), (10, 2), (20, 1)]
    assert spared.spares == 1


def test_a_drive_of_a_mirror_that_nothing_replaces_leaves_it() -> None:
    """As old drives do once a new one is attached and has its data; of a RAID-Z none can."""
    events = [{"do": "attach"}, {"do": "detach", "drive": 0, "when": "quiet"}]
    pool = tell(events, layout="mirror2")
    assert left(pool, "mirror-0") == [(0, 1), (10, 2), (10, 1)]
    assert (str(pool.vdevs[0].spec), len(pool.vdevs[0].slots)) == ("mirror2", 2)
    assert told(pool, "drive 0 of mirror-0 is detached")
    assert whole_at(pool) / HOUR == pytest.approx(10, abs=0.1)
    behind = [
        {"do": "fail", "drive": 2},
        {"do": "replace", "drive": 2},
        {"do": "detach", "drive": 0, "after": "1h"},
    ]
    moved = tell(behind, layout="mirror3")
    assert left(moved, "mirror-0")[-1] == (10, 1)
    assert all(slot.serves for slot in moved.vdevs[0].slots)
    raidz = tell([{"do": "detach", "drive": 0}])
    assert left(raidz) == [(0, 2)]
    assert told(raidz, "drive 0 of raidz2-0 cannot be detached: nothing replaces it")


def test_a_tunable_changed_at_a_time_holds_from_then_on() -> None:
    change = {"do": "set", "at": "2h", "set": {"tunables": {"zfs_resilver_disable_defer": 1}}}
    second = {**SECOND, "at": "50%"}
    assert hours(tell([REPLACE, change, second], "openzfs-2.3")) == [(0, 5), (5, 15)]
    later = {**change, "at": "7h"}
    assert hours(tell([REPLACE, second, later], "openzfs-2.3")) == [(0, 10), (10, 20)]


def test_a_scrub_of_two_hours_is_gone_when_a_rebuild_begins() -> None:
    pool = tell(
        [{"do": "scrub"}, {**REPLACE, "sequential": True, "after": "2h"}],
        layout="mirror2",
        scenario={"tunables": {"zfs_rebuild_scrub_enabled": 0}},
    )
    assert hours(pool, "scrub") == [(0, 2)]
    assert hours(pool, "rebuild") == [(2, 12)]


def test_a_rebuild_goes_on_after_a_reboot() -> None:
    reboot = {"do": "reboot", "at": "5h", "takes": "1h"}
    pool = tell([{**REPLACE, "sequential": True}, reboot], layout="mirror2")
    assert hours(pool, "rebuild") == [(0, 11)]
    assert pool.redone <= 1


def test_a_removal_and_an_expansion_go_on_after_a_reboot() -> None:
    reboot = {"do": "reboot", "at": "5h", "takes": "1h"}
    assert hours(tell([{"do": "remove", "vdev": 1}, reboot], layout="2*mirror2"), "removal") == [(0, 21)]
    assert hours(tell([{"do": "expand"}, reboot], "openzfs-2.3"), "expansion") == [(0, 21)]


def test_later_passes_run_on_the_drives_put_in_before() -> None:
    """Three passes of two drives: none, two and four larger ones beside those that are replaced."""
    passes = KnownPasses()
    events = [{"do": "replace", "each": True, "new_drive_size": "16TB"}]
    pool = tell(events, passes=passes, at_once=2, autoexpand=True)
    # Replaced ones count as the first of the vdev: the larger ones stand behind them.
    assert [each["exchanged"] for each in passes.asked] == [
        [],
        [f"{drive}:@16000000000000" for drive in (2, 3)],
        [f"{drive}:@16000000000000" for drive in (2, 3, 4, 5)],
    ]
    assert told(pool, "raidz2-0 may grow from drives of 4 TB (3.64 TiB) to 16 TB (14.6 TiB) (autoexpand)")
    now = facts(pool.scenario_now())
    assert now.drive_size == 16 * 10**12
    assert now.alloc == pytest.approx(0.5 * 6 * 4e12, rel=0.01)
    assert now.scenario.exchanged is None


def test_without_autoexpand_the_space_waits_for_the_administrator() -> None:
    events = [{"do": "replace", "each": True, "new_drive": "mg08aca16"}]
    pool = tell(events, at_once=6)
    assert told(pool, "after zpool online -e: autoexpand is off")
    assert facts(pool.scenario_now()).drive_size == 4 * 10**12
    assert len(pool.scenario_now().exchanged or ()) == 6
    # Of two vdevs one has grown: its drives are others than those of the rest.
    both = tell(events, layout="2*raidz2x6", at_once=6, autoexpand=True)
    assert [each.drive for each in both.scenario_now().exchanged or ()] == [0, 1, 2, 3, 4, 5]


def test_a_removal_waits_for_repair_and_repair_for_a_removal() -> None:
    """While a drive is replaced no vdev is removed (issue 16897), and while one is, no drive is replaced."""
    remove = {"do": "remove", "vdev": 1}
    pool = tell([REPLACE, {**remove, "after": "1h"}], layout="3*mirror2")
    assert hours(pool, "removal") == [(10, 30)]
    pool = tell([remove, {**FAIL, "after": "1h"}, {**REPLACE, "after": "1h"}], layout="3*mirror2", spares=1)
    assert told(pool, "no spare for drive 0 of mirror-0: refused while a vdev is removed")
    assert hours(pool, "removal") == [(0, 20)]
    assert hours(pool) == [(20, 30)]
    assert left(pool, "mirror-0") == [(0, 1), (1, 0), (30, 1)]
    events = [{"do": "checkpoint"}, remove, {"do": "discard-checkpoint", "at": "3h"}]
    assert hours(tell(events, layout="3*mirror2"), "removal") == [(3, 23)]
    with pytest.raises(InputError, match="cannot remove a top-level vdev"):
        tell([remove], "zol-0.7", layout="3*mirror2")


def test_what_a_removed_vdev_held_is_on_the_others() -> None:
    """The pass after it is over two mirrors that hold what three did; vdevs keep their numbers."""
    passes = KnownPasses()
    events = [{"do": "remove", "vdev": 0}, {"do": "replace", "vdev": 2, "drive": 0, "when": "removal ends"}]
    pool = tell(events, layout="3*mirror2", passes=passes)
    assert [(each["layout"], each["vdev"]) for each in passes.asked] == [("2*mirror2", 1)]
    assert facts(pool.scenario_now()).fill == pytest.approx(0.75, rel=0.01)
    split = tell([{"do": "remove", "vdev": 0}, {"do": "split", "when": "removal ends"}], layout="3*mirror2")
    assert [left(split, f"mirror-{number}") for number in (0, 1)] == [[(0, 1)], [(0, 1), (20, 0)]]
    attached = [{"do": "remove", "vdev": 0}, {"do": "attach", "vdev": 2, "when": "removal ends"}]
    tell(attached, layout="3*mirror2", passes=passes)
    assert passes.asked[-1]["layout"] == "mirror2+mirror3"


def test_passes_of_a_vdev_that_grows() -> None:
    """Twelve drives, five at once: three passes, none redundant beyond what the old drives give."""
    passes = KnownPasses()
    pool = tell([{"do": "replace", "each": True}], layout="raidz2x12", passes=passes, at_once=5)
    assert hours(pool) == [(0, 10), (10, 20), (20, 30)]
    assert [each["drives"] for each in passes.asked] == [5, 5, 2]
    # The old drives stay until a pass has ended: nothing is exposed.
    assert left(pool) == [(0, 2)]


# --- outages, loads, expansion


def test_a_drive_that_was_away_lacks_what_was_written_meanwhile() -> None:
    events = [{"do": "offline", "drive": 0}, {"do": "online", "drive": 0, "after": "12h"}]
    alloc = 6 * 4_000_000_000_000 * 0.5
    pool = tell(events, churn=int(alloc * 0.2))
    assert hours(pool) == [(12, 13)]
    assert left(pool) == [(0, 2), (0, 1), (13, 2)]
    idle = tell(events)
    assert hours(idle) == []
    assert left(idle) == [(0, 2), (0, 1), (12, 2)]


def test_a_drive_that_comes_back_restarts_or_waits_like_a_replacement() -> None:
    events = [
        {"do": "offline", "drive": 1}, REPLACE, {"do": "online", "drive": 1, "at": "50%"},
    ]  # fmt: skip
    for release, ends in (("zol-0.7", 15), ("openzfs-2.2", 10)):
        pool = tell(events, release, churn="50T")
        assert hours(pool)[0] == (0, 5 if ends == 15 else 10)


def test_a_load_from_a_time_on_slows_what_is_left() -> None:
    load = {"do": "set", "at": "5h", "set": {"load": ["random-read,rate=50,size=64K"]}}
    assert hours(tell([REPLACE, load])) == [(0, 15)]


def test_a_pass_begins_at_its_hour_of_the_week() -> None:
    passes = KnownPasses()
    load = {"load": ["random-read,rate=50,size=64K,hours=mon-fri 08:00-18:00"], "begins": "sun 20:00"}
    tell([REPLACE, {**SECOND, "after": "30h", "when": "quiet"}], passes=passes, scenario=load)
    assert [each["begins"] for each in passes.asked] == ["sun 20:00", "tue 22:00"]


def test_the_expansion_waits_for_repair_and_a_scrub_follows() -> None:
    events = [{"do": "expand"}, {**FAIL, "at": "5h"}, {**REPLACE, "after": "1h"}]
    pool = tell(events, "openzfs-2.3")
    assert hours(pool) == [(6, 16)]
    assert hours(pool, "expansion") == [(0, 31)]
    assert hours(pool, "scrub") == [(31, 36)]
    assert str(pool.vdevs[0].spec) == "raidz2x6+1"
    assert pool.scenario.fill is None
    assert facts(pool.scenario_now()).alloc == pytest.approx(0.5 * 6 * 4e12, rel=0.01)
    with pytest.raises(InputError, match="has no expansion"):
        tell(events, "openzfs-2.2")
    quiet = tell([{"do": "expand"}], "openzfs-2.3", scenario={"tunables": {"zfs_scrub_after_expand": 0}})
    assert hours(quiet, "scrub") == []


def test_removal_and_split_are_for_mirrors() -> None:
    pool = tell([{"do": "remove", "vdev": 1}], layout="2*mirror2")
    assert hours(pool, "removal") == [(0, 20)]
    split = tell([{"do": "split"}, {"do": "attach", "after": "1h"}], layout="mirror2")
    assert left(split, "mirror-0") == [(0, 1), (0, 0), (11, 1)]
    for action in ("remove", "split"):
        with pytest.raises(InputError, match=action):
            tell([{"do": action}], layout="2*raidz2x6")


# --- data loss


def test_one_failure_too_many_is_the_end() -> None:
    events = [FAIL, REPLACE, {"do": "fail", "drive": 1, "at": "20%"}, {"do": "fail", "drive": 2, "at": "40%"}]
    pool = tell(events)
    assert pool.lost
    assert left(pool) == [(0, 2), (0, 1), (2, 0), (4, -1)]
    assert whole_at(pool) == math.inf


def test_a_new_drive_that_dies_leaves_the_pass_without_it() -> None:
    pool = tell([FAIL, REPLACE, {**FAIL, "at": "46%"}, {**REPLACE, "after": "1h"}])
    assert hours(pool) == [(0, 10), (10, 20)]
    assert left(pool) == [(0, 2), (0, 1), (20, 2)]


# --- the table


def test_every_rule_has_text_and_source_for_people() -> None:
    for name in ("zol-0.6.5", "openzfs-0.8", "openzfs-2.4", "freebsd-9.1", "solaris-11.2"):
        release = load_release(name)
        for rule in rules_of(release, release.order).table.values():
            assert len(rule.text) > 20, rule
            assert len(rule.source) > 10, rule
    data = model_data.load_toml(model_data.models_directory() / "timeline" / FILE)
    assert not unsourced_numbers(data)


def test_systems_stand_where_their_code_was_taken_from() -> None:
    def choice(name: str, rule: str) -> str:
        release = load_release(name)
        return rules_of(release, release.order).choice(rule)

    assert choice("freebsd-10.3", "unreadable_block") == "start-over"
    assert choice("solaris-11.2", "zpool_resilver") == "none"
    assert choice("openzfs-2.0.7", "hot_spare") == "healing"
    assert choice("openzfs-2.1.0", "hot_spare") == "sequential-if-distributed"


def test_a_vdev_is_a_target_while_one_of_its_drives_waits_to_be_written() -> None:
    pool = tell([], layout="2*raidz2x6")
    for waiting in (pool.waiting, pool.after_rebuild):
        assert [pool.is_target(vdev) for vdev in (0, 1)] == [False, False]
        waiting.append(Target(vdev=1, slot=0))
        assert [pool.is_target(vdev) for vdev in (0, 1)] == [False, True]
        waiting.clear()


def test_a_drive_that_goes_offline_can_be_brought_back() -> None:
    pool = tell([{"do": "offline", "drive": 3}])
    assert any("zpool online brings the offline one back" in each for each in pool.notes)
