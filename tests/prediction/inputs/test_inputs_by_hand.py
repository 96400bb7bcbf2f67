"""Inputs of runs against arithmetic by hand: clients, hours, sick drives, populations, what moves the answer."""  # noqa: E501

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.prediction.samples import disks as case
from zsim.base.constants import Z90
from zsim.base.errors import InputError
from zsim.case.case import Case
from zsim.case.member import Member
from zsim.case.worlds import Choice
from zsim.engine.leaf_rules import wait_bin, wait_of_bin
from zsim.engine.model import ClientModel
from zsim.operation.result import ClientAnswers
from zsim.pool.simulator.population import HistoryError
from zsim.prediction.inputs import bad_places, bad_sectors, clients, population, sick
from zsim.prediction.inputs.ensemble import Unknown, normal_strata
from zsim.prediction.inputs.fault_rules import FaultRule, fault_rule
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.statistics import response, sensitivity

# Clients.


def groups(*loads: dict[str, Any], seed: int = 3, **fields: Any) -> tuple[ClientModel, ...]:
    """Return the clients of loads."""
    return clients.client_groups(case(load=list(loads), recordsize="128K", **fields), seed)


def test_a_rate_is_made_by_clients_that_ask_so_often_each() -> None:
    """A client a cycle for each read a second, two at least, and so many at most."""
    cycle, most = clients.CLIENT_CYCLE_S, clients.MOST_CLIENTS
    [few] = groups({"kind": "random-read", "rate": 1.5 / cycle})
    assert few.count == 2
    assert few.think_s == pytest.approx(2.0 / (1.5 / cycle) - clients.CLIENT_READ_S)
    [some] = groups({"kind": "random-read", "rate": 5.5 / cycle})
    assert some.count == 6
    [many] = groups({"kind": "random-read", "rate": 2.0 * most / cycle})
    assert many.count == most
    assert many.think_s == max(0.0, cycle / 2.0 - clients.CLIENT_READ_S)


def test_threads_are_as_stated_and_each_group_has_draws_of_its_own() -> None:
    one, two = groups(
        {"kind": "random-read", "threads": 7, "think": 0.25}, {"kind": "async-write", "rate": 9, "size": "1M"},  # noqa: E501
        {"kind": "sync-write", "threads": 2, "size": "300K"},
    )  # fmt: skip
    assert (one.count, one.think_s, one.seed) == (7, 0.25, 3)
    assert (two.count, two.think_s, two.seed) == (2, 0.0, 3 + clients.SEED_STEP)
    # Reads fetch whole records; the log has blocks of 128K at most.
    assert two.blocks == 3
    [small] = groups({"kind": "random-read", "rate": 1, "size": "4K"})
    assert small.blocks == 1
    [large] = groups({"kind": "sequential-read", "rate": 1, "size": "1M"})
    assert large.blocks == 8


def test_a_block_of_the_log_holds_the_largest_synchronous_write_and_its_header() -> None:
    def size(*sizes: str) -> int:
        return clients.log_bytes(
            case(load=[{"kind": "sync-write", "rate": 1, "size": each} for each in sizes])
        )

    assert size("8K", "16K") == 16384 + 192
    assert size("1M") == 128 << 10
    assert clients.log_bytes(case(load=[{"kind": "random-read", "rate": 1, "size": "1M"}])) == 192


def test_what_loads_write_adds_up() -> None:
    one = case(
        recordsize="128K",
        load=[
            {"kind": "async-write", "rate": 10, "size": "1M"}, {"kind": "sync-write", "rate": 4, "size": "8K"},  # noqa: E501
            {"kind": "random-read", "rate": 99, "size": "1M"},
        ],
    )  # fmt: skip
    found = clients.writer(one)
    assert found.rate == 10 * (1 << 20) + 4 * 8192
    assert (found.record_bytes, found.most_dirty_bytes) == (
        1 << 17,
        float(one.release.most_dirty(one.memory)),
    )


def test_percentiles_are_those_of_the_bins_that_hold_them() -> None:
    """Of 100 requests 50 in the first bin, 40 in the fourth, 9 in the sixth, one in the tenth."""
    counts = np.zeros(12, np.int64)
    counts[[0, 3, 5, 9]] = 50, 40, 9, 1
    found = clients.percentiles(counts)
    assert found is not None
    assert (found.p50, found.p90, found.p99, found.max) == tuple(wait_of_bin(each) for each in (0, 3, 5, 9))
    assert clients.percentiles(np.zeros(12, np.int64)) is None
    assert clients.percentiles(np.zeros(0, np.int64)) is None
    assert wait_bin(wait_of_bin(7)) == 7


def test_each_group_has_the_mean_of_its_own_clients() -> None:
    two = [ClientModel(count=count, think_s=0.0, seed=1, kind="random-read", blocks=1) for count in (2, 1)]
    assert clients._means(two, [(3, 0.3), (1, 0.5), (0, 0.0)]) == [(4, pytest.approx(0.2)), (0, 0.0)]


@pytest.mark.parametrize(("visited_s", "rate", "mean_s"), [(10.0, 0.5, 0.04), (30.0, 2.0, 0.01)])
def test_what_clients_wait_beside_the_metadata_counts_where_that_is_most_of_the_time(
    visited_s: float, rate: float, mean_s: float
) -> None:
    """Of 100 requests in 50 s, 80 are answered at once while metadata are visited, in 10 or in 30 s."""
    before = ClientAnswers(visited_s, [(80, 0.2)], np.zeros((2, 4000), np.int64))
    during: Any = seen_by([(100, 1.0)], 0.1)
    during.visited = before
    beside = clients._beside_issue(during)
    (group,) = [SimpleNamespace(count=1)]
    [(answered, waited_s)] = clients._means([group], beside.clients)  # type: ignore[list-item]
    assert (answered / beside.time, waited_s) == pytest.approx((rate, mean_s))


def test_a_repaired_pool_reads_what_was_written() -> None:
    model = plane_model(case(replace=2))
    [vdev] = clients.repaired(model).vdevs
    before = model.vdevs[0]
    assert vdev.write_leaf == (-1,) * 6
    assert vdev.read_leaf == tuple(
        old if new == -1 else new for old, new in zip(before.read_leaf, before.write_leaf, strict=True)
    )
    assert sum(new != -1 for new in before.write_leaf) == 2
    assert set(vdev.read_leaf) & {new for new in before.write_leaf if new != -1}


HOURLY = {"kind": "random-read", "rate": 10, "size": "128K", "hours": "mon-fri 08:00-18:00"}


def test_loads_change_at_the_edges_of_their_hours_and_at_midnight() -> None:
    """It begins on Monday at 6: on at 8, off at 18, and midnight is looked at."""
    one = case(load=[HOURLY], begins="monday 06:00")
    hour = 3600.0
    moments = [0.0]
    for _ in range(4):
        moments.append(clients.next_change(one, moments[-1]))
    assert moments == [0.0, 2 * hour, 12 * hour, 18 * hour, 26 * hour]
    assert [clients.are_on(one, each + 1.0) for each in moments] == [
        [False],
        [True],
        [False],
        [False],
        [True],
    ]
    assert clients.has_hours(one)
    assert not clients.has_hours(case(load=[{k: v for k, v in HOURLY.items() if k != "hours"}]))
    assert clients.loads_at(one, 2 * hour)[0].hours is None
    assert clients.loads_at(one, 0.0) == ()


def test_shares_of_the_work_are_time_over_what_all_would_take() -> None:
    """2 h without a load of 10 h are a fifth; 10 h with it of 20 h a half; then 3 h more."""
    one, hour = case(load=[HOURLY], begins="monday 06:00"), 3600.0
    found = clients.spans(one, lambda now: (20.0 if now.loads else 10.0) * hour)
    assert [(bool(now.loads), round(share, 9), round(seconds / hour, 9)) for now, share, seconds in found] == [  # noqa: E501
        (False, 0.2, 2.0), (True, 0.5, 10.0), (False, 0.3, 3.0),
    ]  # fmt: skip
    [alone] = clients.spans(one, lambda now: 2.0 * hour)
    assert alone[1:] == (1.0, 2.0 * hour)


# Sick drives.


def test_spells_are_made_short_in_the_same_proportion() -> None:
    """Slow for an hour, well for nine: 2 s and 18 s."""
    found = sick.health_of(case(slow=["3:x5,on=1h,off=9h"]), 3)
    assert (found.spell_factor, found.spell_s, found.between_s) == (
        5.0,
        pytest.approx(2.0),
        pytest.approx(18.0),
    )
    short = sick.health_of(case(slow=["3:x5,on=1s,off=4s"]), 3)
    assert (short.spell_s, short.between_s) == (1.0, 4.0)
    stutters = sick.health_of(case(slow=["3:1%@200ms"]), 3)
    assert (stutters.stutter_share, stutters.stutter_s, stutters.spell_factor) == (0.01, 0.2, 1.0)
    assert sick.health_of(case(slow=["3:x5"]), 3) == sick.health_of(case(), 3) == sick.SOUND
    assert sick.health_of(case(slow=["3:1%@200ms"]), 4) == sick.SOUND


def test_a_slower_link_bounds_every_rate_and_a_lost_queue_its_depth() -> None:
    sound = case().drive.parameters()
    behind = sick.numbers_of(case(attached=["3:sata1"]), 3, sound)
    assert max(behind.zone_rates) == behind.interface_rate == 135e6
    assert min(behind.zone_rates) == min(*sound.zone_rates, 135e6)
    assert sick.numbers_of(case(attached=["3:no-ncq"]), 3, sound).queue_depth == 1
    assert sick.numbers_of(case(attached=["3:no-ncq"]), 2, sound) is sound
    assert sick.name_of(case(attached=["3:no-ncq"], slow=["3:x2"]), 3, case().drive).count(", ") == 2


def test_a_vdev_can_lose_what_it_has_not_lost() -> None:
    assert bad_sectors.spare_children(case()) == 1
    assert bad_sectors.spare_children(case(replace=2)) == 0
    assert bad_sectors.spare_children(case(replace=2, old_drive="online")) == 2
    assert bad_sectors.spare_children(case(operation="scrub")) == 2


@pytest.mark.parametrize(
    ("fields", "redundant", "seconds"),
    [
        ({"erc": 5.0}, True, 5.0), ({"erc": 5.0}, False, 10.0), ({}, True, 7.0), ({"erc": 30.0}, True, 30.0),
        # Beyond the timeout of the platform that decides, with its retries.
        ({"erc": 31.0, "platform": "linux"}, True, 30.0), ({"erc": 31.0, "platform": "freebsd"}, True, 150.0),
        ({"erc": 31.0, "platform": "freebsd"}, False, 300.0), ({"erc": 61.0, "platform": "illumos"}, True, 360.0),  # noqa: E501
        ({"erc": 60.0, "platform": "illumos"}, True, 60.0),
    ],
)  # fmt: skip
def test_an_error_costs_the_limit_of_the_drive_or_the_timeouts_of_the_platform(
    fields: dict[str, Any], redundant: bool, seconds: float
) -> None:
    assert bad_sectors.error_seconds(case(**fields), redundant=redundant) == seconds


def test_the_tenth_error_within_ten_minutes_faults_a_drive_that_can_be_spared() -> None:
    """Each read that fails takes 7 s, so that later ones come later."""
    even, zed = np.arange(12) * 50.0, FaultRule("ZED", 10, 600.0, 0.0)
    found = bad_sectors._waited(3, even, 7.0, 1, zed)
    assert (found.errors, found.seconds, found.faulted_s) == (10, 70.0, 450.0 + 70.0)
    assert bad_sectors._waited(3, even, 7.0, 1, None) == bad_sectors.LostTime(3, 84.0, 12, 7.0, None)
    # From the first to the tenth 9 x 60 + 63 = 603 s are too long, 9 x 59 + 63 = 594 not.
    assert bad_sectors._waited(3, np.arange(12) * 60.0, 7.0, 1, zed).faulted_s is None
    assert bad_sectors._waited(3, np.arange(12) * 59.0, 7.0, 1, zed).errors == 10
    exact = bad_sectors._waited(3, np.arange(10) * (600.0 - 63.0) / 9.0, 7.0, 1, zed)
    assert exact.faulted_s == pytest.approx(537.0 + 70.0)
    assert bad_sectors._waited(3, even[:9], 7.0, 1, zed).faulted_s is None
    # Reported five times each, two are enough; 15 s later it is faulted, and one more has come by then.
    late = zed._replace(delay_s=15.0)
    two = bad_sectors.LostTime(3, 21.0, 3, 7.0, 5.0 + 14.0 + 15.0)
    assert bad_sectors._waited(3, np.arange(12) * 5.0, 7.0, 5, late) == two
    # Another drive of the vdev had an error before.
    assert bad_sectors._waited(3, even, 7.0, 1, zed, until=500.0).faulted_s is None


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"release": "openzfs-2.4"}, ("ZED", 10, 600.0, 15.0, True)),
        ({"release": "openzfs-2.2"}, ("ZED", 10, 600.0, 15.0, False)),
        ({"release": "zol-0.7"}, ("ZED", 10, 600.0, 15.0, False)),
        ({"release": "zol-0.6.5"}, None),
        ({"release": "freebsd-9.1"}, None), ({"release": "freebsd-10.3"}, None),
        ({"product": "freebsd-15.0"}, ("zfsd", 51, 60.0, 0.0, False)),
        ({"release": "openzfs-2.2", "platform": "freebsd"}, ("zfsd", 51, 60.0, 0.0, False)),
        ({"release": "solaris-11.1"}, ("the fault manager (fmd)", 10, 600.0, 15.0, False)),
    ],
)  # fmt: skip
def test_who_faults_a_drive_is_a_matter_of_release_and_platform(
    fields: dict[str, Any], rule: tuple[Any, ...] | None
) -> None:
    assert fault_rule(case(**fields)) == rule


def test_bad_sectors_are_paid_for_in_the_drives_that_are_read() -> None:
    one = case(layout="2*raidz2x6", bad_sectors=["8:50", "3:20"])
    lost = {each.drive: each for each in bad_sectors.recovery(one, 36000.0)}
    assert (lost[8].errors, lost[8].seconds) == (0, 0.0)
    assert lost[3].errors > 0
    assert lost[3].each_s == 7.0
    both_vdevs = case(layout="2*raidz2x6", bad_sectors=["8:50"], operation="scrub")
    scrubbed = {each.drive: each for each in bad_sectors.recovery(both_vdevs, 36000.0)}
    assert scrubbed[8].errors > 0
    assert bad_sectors.recovery(case(), 36000.0) == ()
    # The one with most sectors comes first, and what it takes of the redundancy the next one lacks.
    both = bad_sectors.recovery(case(bad_sectors=["3:40", "4:50"], release="openzfs-2.2"), 600.0)
    assert [each.drive for each in both] == [4, 3]
    assert both[0].faulted_s is not None
    assert (both[1].faulted_s, both[1].each_s) == (None, 14.0)
    assert (both[0].blocks, both[1].blocks) == (0, 40)


def test_each_vdev_of_a_scrub_has_redundancy_and_errors_of_its_own() -> None:
    """A second drive that failed was taken for one of the first vdev: it stayed, and its blocks were lost."""
    scrub = case(layout="2*raidz1x5", operation="scrub", bad_sectors=["1:1000", "7:800"])
    for lost in bad_sectors.recovery(scrub, 36000.0):
        assert lost.faulted_s is not None
        assert (lost.each_s, lost.blocks) == (7.0, 0)
    together = case(layout="2*raidz1x5", operation="scrub", bad_sectors=["1:1000", "4:800"])
    first, second = bad_sectors.recovery(together, 36000.0)
    assert first.faulted_s is not None
    assert (second.faulted_s, second.each_s, second.blocks) == (None, 14.0, 800)
    mixed = case(layout="mirror2+raidz3x8", operation="scrub", recordsize="128K")
    assert [bad_sectors.spare_children(mixed, leaf) for leaf in (1, 2, 9)] == [1, 3, 3]
    assert bad_sectors.spare_children(case(layout="2*raidz2x6", replace=2), 6) == 2
    assert bad_sectors.reckoned(mixed, 9).reports > bad_sectors.reckoned(mixed, 1).reports


@pytest.mark.parametrize(
    ("stated", "faulted"),
    [
        # In the order of their errors; of one vdev none since 2.3, before as many as it can do without.
        ({"layout": "2*raidz1x5", "release": "openzfs-2.4"}, {1: False, 4: False, 7: True}),
        ({"layout": "2*raidz1x5", "release": "openzfs-2.2"}, {1: False, 4: True, 7: True}),
        ({"layout": "2*raidz2x5", "release": "openzfs-2.2"}, {1: True, 4: True, 7: True}),
    ],
)
def test_drives_that_are_faulted_are_counted_vdev_by_vdev(
    stated: dict[str, Any], faulted: dict[int, bool]
) -> None:
    scrub = case(operation="scrub", **stated)
    places = {4: (1 << 30,), 7: (1 << 30, 1 << 31), 1: (1 << 32,)}
    model = bad_places.with_bad_sectors(scrub, plane_model(scrub), places, may_fault=True)
    health = {leaf: model.leaves[leaf].health for leaf in places}
    assert {leaf: each.fault_after > 0 for leaf, each in health.items()} == faulted
    assert {each.recovery_s for each in health.values()} == {7.0}
    assert health[7].bad_sectors == (1 << 30, 1 << 31)


def test_failing_reads_lie_within_the_scan_and_those_close_by_fail_in_one() -> None:
    found = bad_sectors.failing_reads(case(), 3, 1000, 1 << 20)
    assert len(found) < 1000
    assert (np.diff(found) > 0).all()
    assert found[0] >= 0.0
    assert found[-1] <= 1.0
    # Each is where a read of a mebibyte begins.
    space = 0.5 * 4e12
    assert np.allclose(found * space / (1 << 20), np.round(found * space / (1 << 20)), atol=1e-3)
    assert len(bad_sectors.failing_reads(case(), 3, 1, 1 << 20)) == 1
    old = bad_sectors.failing_reads(case(release="zol-0.7"), 3, 1000, 1 << 20)
    assert (np.diff(old) > 0).all()
    assert len(old) == pytest.approx(len(found), rel=0.05)
    # As many sectors as there are: all reads but those spared by chance, exp(-1e9 / reads) of them.
    every = bad_sectors.failing_reads(case(), 3, 10**9, 1 << 20)
    assert len(every) == int(space / (1 << 20))
    assert (every[0] > 0.0, every[-1] < 1.0) == (True, True)


# What moves the answer.


def unknown(name: str, field: str, words: str = "say so", **more: Any) -> Unknown:
    """Return something that is not known."""
    return Unknown(name, field, words, **({"spread": 0.1} | more))


def test_what_a_field_explains_is_the_sum_of_what_its_unknowns_do() -> None:
    """Scores of two unknowns at right angles: the slopes are b x n / (n + 1/2), n the sum of squares."""
    scores = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)]
    members = [Member(scores=each) for each in scores]
    times = [math.exp(9.0 + 0.4 * one - 0.3 * two) for one, two in scores]
    inputs = [unknown("seek", "drive", "the larger"), unknown("overhead", "drive", "the smaller")]
    [both] = sensitivity.drivers(inputs, members, times)
    shrunk = 4.0 / 4.5
    reach = math.exp(Z90 * shrunk * 0.5)
    assert (both.field, both.words) == ("drive", "the larger")
    assert (both.low_s, both.high_s) == pytest.approx((math.exp(9.0) / reach, math.exp(9.0) * reach))
    assert both.narrows == pytest.approx(1.0 - math.sqrt(1.0 - shrunk**2))
    apart = [unknown("seek", "drive"), unknown("fill", "fill")]
    first, second = sensitivity.drivers(apart, members, times)
    assert (first.field, second.field) == ("drive", "fill")
    assert first.narrows == pytest.approx(1.0 - math.sqrt(1.0 - (0.4 * shrunk) ** 2 / 0.25))
    alike = sensitivity.drivers(apart, members, [5.0] * 4)
    assert [each.narrows for each in alike] == [0.0, 0.0]


def test_record_sizes_have_their_part_of_what_a_use_does() -> None:
    scores = [(1.0,), (0.5,), (-0.5,), (-1.0,)]
    members = [Member(scores=each) for each in scores]
    times = [math.exp(each) for (each,) in scores]
    inputs = [unknown("history", "history")]
    found = {each.field: each for each in sensitivity.drivers(inputs, members, times, [17, 16.5, 15.5, 15])}
    assert found["recordsize"].words == sensitivity.RECORD_WORDS
    assert found["recordsize"].narrows == pytest.approx(found["history"].narrows)
    unrelated = {each.field: each for each in sensitivity.drivers(inputs, members, times, [17, 15, 15, 17])}
    assert unrelated["recordsize"].narrows == pytest.approx(0.0, abs=1e-9)
    same = {each.field: each for each in sensitivity.drivers(inputs, members, times, [17, 17, 17, 17])}
    assert same["recordsize"].narrows == 0.0


# Quantiles over worlds.


def test_worlds_that_are_alike_or_too_few_have_one_duration() -> None:
    inputs = [unknown("seek", "drive")]
    for times in ([100.0, 400.0], [200.0, 200.0, 200.0]):
        found = response.response(inputs, np.zeros((len(times), 1)), times)
        assert (found.p10, found.p50, found.p90, found.half_width) == pytest.approx(
            (200.0, 200.0, 200.0, 0.0)
        )
        assert found.expected == pytest.approx(times)
    assert response.response([], np.zeros((3, 0)), [100.0, 200.0, 400.0]).p50 == pytest.approx(200.0)


def test_what_grows_in_proportion_is_known_before_it_is_learned() -> None:
    sizes = unknown(
        "drive_size", "drive_size", choices=(Choice(2e12, 0.5), Choice(8e12, 0.5)), proportional=True
    )
    cache = unknown("write_cache", "write_cache", choices=(Choice(True, 0.5), Choice(False, 0.5)))
    scores = np.array([[-1.0, 0.3], [1.0, -0.3]])
    assert response._proportional([sizes, cache], scores) == pytest.approx([-math.log(2.0), math.log(2.0)])
    assert response._features([sizes, cache], scores).tolist() == [
        [-1.0, 0.3, 1.0, 0.0, 0.0, 1.0], [1.0, -0.3, 0.0, 1.0, 1.0, 0.0],
    ]  # fmt: skip


def test_a_kernel_on_each_world_keeps_their_mean_and_variance() -> None:
    logs = np.array([1.0, 2.0, 2.5, 4.0, 7.0])
    found = response._smoothed(logs)
    assert len(found) == 5 * response.KERNEL_DRAWS
    assert found.mean() == pytest.approx(logs.mean())
    strata = float((normal_strata(response.KERNEL_DRAWS) ** 2).mean())
    quartiles = (4.0 - 2.0) / 1.34
    width = response.KERNEL * 0.9 * min(float(logs.std()), quartiles) * 5**-0.2
    wanted = (logs.var() + width**2 * strata) / (1.0 + width**2 / logs.var())
    assert found.var() == pytest.approx(wanted)


# Populations.


def test_ageing_and_files_of_a_world_are_factors_on_its_history() -> None:
    one = case(history="home-nas")
    plain = population.history_of(one)
    world = replace(one, member=replace(one.member, churn=0.5, file_size=2.0))
    found = population.history_of(world)
    assert found.overwritten == pytest.approx(plain.overwritten * 0.5)
    assert found.removed == pytest.approx(plain.removed * 0.5)
    assert found.files.mean == min(plain.files.high, 2 * plain.files.mean)
    most = population.history_of(replace(one, member=replace(one.member, churn=1e6, file_size=1e9)))
    assert (most.overwritten, most.files.mean) == (population.MOST_REWRITTEN, plain.files.high)
    least = population.history_of(replace(one, member=replace(one.member, file_size=1e-9)))
    assert least.files.mean == plain.files.low


def held(one: Case, size: int, blocks: int = 1000) -> int:
    """Return how many blocks are wanted where a thousand are so large in all."""
    table = SimpleNamespace(dva_asize=np.array([[size]]), dva_vdev=np.array([[0]]), psize=np.array([size]))
    pool: Any = SimpleNamespace(table=table, recipe=None)
    return population._wanted_blocks(one, pool, blocks)


def test_a_miniature_of_small_blocks_has_so_many_that_each_drive_has_something_to_do() -> None:
    """So many bytes on each of six drives for each block."""
    enough = round(population.BYTES_OF_BLOCK * 1000 * 6)
    one = case()
    assert held(one, enough) == 1000
    assert held(one, enough // 2) == 2000
    assert held(one, 2 * enough) == 500
    most = min(population.MOST_LARGER, population.MOST_CHILDREN // 6, math.ceil(1000 * population.MOST_MORE))
    assert held(one, 1) == held(one, 0) == most
    assert held(case(layout="mirror3"), enough // 12) == 2000, "all of it lies on each of them"
    assert held(case(release="zol-0.7"), 1) == 1000
    assert held(case(operation="rebuild", layout="mirror2", release="openzfs-2.2"), 1) == 1000


def test_a_miniature_of_a_draid_has_so_many_that_its_scan_issues_windows() -> None:
    """Of 16 MiB on each of 11 - 1 - 2 children; a resilver reads the groups that lost one, 6 of 11."""
    window, turned = 8 * (16 << 20), {"layout": "draid2:4d:11c:1s", "release": "openzfs-2.3"}
    enough = round(population.WINDOWS * window)
    assert held(case(operation="scrub", **turned), enough) == 1000
    assert held(case(operation="scrub", **turned), enough // 4) == 4000
    assert held(case(operation="resilver", **turned), enough) == math.ceil(1000 * 11 / 6)
    assert held(case(operation="scrub", **turned), 1) == population.MOST_CHILDREN // 11
    assert held(case(operation="rebuild", **turned), 1) == 1000


def test_metaslabs_stand_in_heaps_unless_their_places_are_known_or_matter() -> None:
    assert population._heaps(case()) == population.SORTED_HEAPS
    assert population._heaps(case(release="zol-0.7")) == population.LEGACY_HEAPS
    assert population._heaps(case(layout="mirror2", operation="rebuild", release="openzfs-2.2")) == 0


def nearest(monkeypatch: pytest.MonkeyPatch, made: Any, one: Case, frag: float | None = None) -> Any:
    """Return the pool that is nearest to what was asked for, of what can be made."""
    monkeypatch.setattr(population, "_pool", made)
    size = population.MiniatureSize(10)
    return population._nearest(one, population.history_of(one), frag, size)


def test_a_pool_without_room_is_simulated_less_full(monkeypatch: pytest.MonkeyPatch) -> None:
    fills: list[float] = []

    def made(one: Case, history: Any, fill: float, frag: Any, size: Any) -> Any:
        fills.append(fill)
        if len(fills) < 4:
            raise HistoryError("no room", len(fills))
        return SimpleNamespace(after=lambda written: f"pool after {written}")

    pool, note = nearest(monkeypatch, made, case(fill=0.9))
    less = population.LESS_FULL
    assert pool == "pool after 6"
    assert fills == pytest.approx([0.9, 0.9 * less, 0.9 * less**2, 0.9 * less**3])
    assert "instead of 90 %" in note
    fills.clear()
    monkeypatch.setattr(population, "TRIES", 2)
    with pytest.raises(population.NoRoomError, match="does not fit") as refused:
        nearest(monkeypatch, made, case(fill=0.9))
    assert (len(fills), refused.value.written) == (3, 6)


def test_what_a_pool_without_room_has_laid_out_is_gone_before_it_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An error holds the blocks that it came among, as much memory again as those that come next."""
    laid_out: list[weakref.ref[Any]] = []

    def made(one: Case, history: Any, fill: float, frag: Any, size: Any) -> Any:
        assert not any(each() is not None for each in laid_out)
        if len(laid_out) == 2:
            return SimpleNamespace(after=lambda written: "pool")
        blocks = np.zeros(10)
        laid_out.append(weakref.ref(blocks))
        raise HistoryError("no room")

    assert nearest(monkeypatch, made, case(fill=0.9))[0] == "pool"
    assert len(laid_out) == 2


@pytest.mark.parametrize(("fresh", "words"), [(0.4, "less than"), (0.3, "less than"), (0.1, "more than")])
def test_a_frag_that_cannot_be_is_the_nearest_there_is(
    monkeypatch: pytest.MonkeyPatch, fresh: float, words: str
) -> None:
    asked: list[tuple[int, float | None]] = []

    def made(one: Case, history: Any, fill: float, frag: float | None, size: Any) -> Any:
        asked.append((history.rounds, frag))
        if frag is not None:
            raise InputError("frag", frag, "cannot be", "")
        return SimpleNamespace(frag=fresh if history.rounds == 0 else 0.2)

    pool, note = nearest(monkeypatch, made, case(), 0.3)
    assert f"FRAG 30 % is {words}" in note
    assert [rounds for rounds, _ in asked[1:]] == [0, population.MAX_ROUNDS][: 1 + (words == "more than")]
    assert pool.frag == pytest.approx(0.2 if words == "more than" else fresh)

    def refuses(*_: Any) -> Any:
        raise InputError("history", None, "cannot be", "")

    with pytest.raises(InputError, match="history"):
        nearest(monkeypatch, refuses, case(), 0.3)


# What clients wait.


def seen_by(rows: list[tuple[int, float]], wait_s: float, end: float = 50.0) -> Any:
    """Return a run in which clients were answered so often, in so many seconds together."""
    waits = np.zeros((2, 4000), np.int64)
    waits[:, wait_bin(wait_s)] = 7
    return SimpleNamespace(clients=rows, waits=waits, end=end, visited=None)


@pytest.mark.parametrize(("operation", "watched"), [("scrub", "scrub"), ("expand", "resilver")])
def test_clients_wait_on_the_damaged_pool_during_the_run_and_on_the_repaired_one(
    monkeypatch: pytest.MonkeyPatch, operation: str, watched: str
) -> None:
    """Two of the first kind are answered 30 and 70 times in 50 s: two a second, 10 ms each in the mean."""
    known = {
        (watched, "damaged"): seen_by([(1, 0.004), (3, 0.008), (0, 0.0)], 0.002),
        (watched, "repaired"): seen_by([(5, 0.01), (5, 0.03), (2, 1.0)], 0.003),
    }
    monkeypatch.setattr(clients, "_watched", lambda given: known[given.operation, given.model.name])
    monkeypatch.setattr(clients, "repaired", lambda model: Setup(name="repaired", clients=model.clients))
    groups = [SimpleNamespace(kind="random-read", count=2), SimpleNamespace(kind="stream", count=1)]
    setup: Any = Setup(operation=operation, model=Setup(name="damaged", clients=groups))
    during = seen_by([(30, 0.4), (70, 0.6), (0, 0.0)], 0.1)
    first, second = clients.latencies(setup, during)
    assert (first.kind, first.rate) == ("random-read", 2.0)
    assert (first.before_s, first.during_s, first.after_s) == pytest.approx((0.003, 0.01, 0.004))
    assert (second.kind, second.rate, second.during_s, second.after_s) == ("stream", 0.0, 0.0, 0.5)
    waits = [wait_of_bin(wait_bin(each)) for each in (0.002, 0.1, 0.003)]
    assert [each.p50 for each in (first.before, first.during, first.after) if each] == waits
    setup.model.clients.clear()
    assert clients.latencies(setup, during) == ()


@dataclass(frozen=True)
class Setup:
    """What is known of a run, or of its hardware."""

    name: str = ""
    operation: str = ""
    clients: Any = ()
    model: Any = None


@pytest.mark.parametrize(("count", "seconds"), [(1, None), (10**9, clients.SHORTEST_WATCH_S)])
def test_clients_alone_are_watched_until_enough_are_answered(
    monkeypatch: pytest.MonkeyPatch, count: int, seconds: float | None
) -> None:
    """Each asks once in its pause and a usual read."""
    asked: list[float] = []
    machine = SimpleNamespace(watch=asked.append, release=lambda: None)
    monkeypatch.setattr(clients, "Run", lambda setup: machine)
    groups = [SimpleNamespace(count=count, think_s=think) for think in (1.0, 3.0)]
    setup: Any = SimpleNamespace(model=SimpleNamespace(clients=groups))
    clients._watched(setup)
    each = clients.CLIENT_READ_S
    wanted = clients.WATCHED_REQUESTS / (count / (1.0 + each) + count / (3.0 + each))
    expected = seconds or min(clients.LONGEST_WATCH_S, wanted)
    assert asked == [pytest.approx(expected)]
