"""From the run of a miniature to the pool: scaling, samples of metaslabs, rhythm of txgs, what-ifs."""

from __future__ import annotations

import gc
import math
import weakref
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast, get_args

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.case.case import Case
from zsim.case.loads import request_bytes
from zsim.case.member import Member
from zsim.case.resolve import resolve
from zsim.engine.model import NOT_REPAIRED
from zsim.planning.rows import answer_row
from zsim.prediction import other_ways
from zsim.prediction.answer.brief import brief_text
from zsim.prediction.answer.records import Alternative, Quantiles
from zsim.prediction.api import Portion, case_of, predict, predict_case
from zsim.prediction.inputs.clients import (
    CLIENT_CYCLE_S,
    CLIENT_READ_S,
    LARGEST_LOG_BLOCK,
    READ_AHEAD,
    Now,
    client_groups,
    has_hours,
    log_bytes,
    repaired,
    spans,
    writer,
)
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import history_of
from zsim.prediction.runs import member, rebuilding, what_if
from zsim.prediction.runs.advice import advice
from zsim.prediction.runs.sampling.rhythm import quiet_end
from zsim.prediction.runs.sampling.windows import Period
from zsim.prediction.runs.waits import run_for_waits
from zsim.prediction.runs.what_if import Baseline
from zsim.prediction.work import Work
from zsim.scenario.model import Scenario


def case(**fields: Any) -> Case:
    return resolve(Scenario.from_dict({"layout": "raidz2x6"} | fields))


def run_of(phases: list[tuple[str, float, float]], end: float, **more: Any) -> Any:
    return SimpleNamespace(phases=phases, end=end, slice_s=5.0, **more)


# Scaling.


def setup_of(writes: bool = False) -> Any:
    model = SimpleNamespace(writer=SimpleNamespace(rate=0.0))
    release = SimpleNamespace(resilver_restart="restart")
    return SimpleNamespace(model=model, second=None, release=release, flushes=writes)


def test_work_grows_with_the_bytes_and_quiet_ends_with_the_slices() -> None:
    run = run_of([("visit", 0.0, 2.0), ("issue", 3.0, 8.0), ("issue", 9.0, 14.0)], 15.0)
    found = member.scaled(run, 10.0, SimpleNamespace(), setup_of(), quiet_s=1.0)  # type: ignore[arg-type]
    assert (found.visit_s, found.issue_s) == (20.0, 100.0)
    assert found.sync_s == pytest.approx((20.0 + 100.0) / 5.0), "one quiet end in five seconds"
    assert found.time_s == found.visit_s + found.issue_s + found.sync_s


def test_what_a_slice_left_in_the_caches_grows_too() -> None:
    run = run_of([("issue", 0.0, 5.0), ("issue", 8.0, 13.0)], 16.0)
    found = member.scaled(run, 10.0, SimpleNamespace(), setup_of(writes=True), quiet_s=1.0)  # type: ignore[arg-type]
    left = 2 * 3.0 - 2 * 1.0
    slices = (10.0 + left) * 10.0 / (5.0 + left / 2)
    assert found.sync_s == pytest.approx(left * 10.0 + slices)
    # A single slice of 5 s leaves 2 s of work to its end: ten such, each with a quiet second.
    once = run_of([("issue", 0.0, 5.0)], 8.0)
    found = member.scaled(once, 10.0, SimpleNamespace(), setup_of(writes=True), quiet_s=1.0)  # type: ignore[arg-type]
    assert found.sync_s == pytest.approx(20.0 + 10.0)


def test_metadata_and_repair_may_stand_for_different_shares() -> None:
    run = run_of([("visit", 0.0, 2.0), ("issue", 2.0, 7.0)], 7.0)
    found = member.scaled(run, 10.0, SimpleNamespace(), setup_of(), quiet_s=0.0, repaired=30.0)  # type: ignore[arg-type]
    assert (found.visit_s, found.issue_s, found.scale) == (20.0, 150.0, 30.0)


def test_limits_shrink_with_the_pool() -> None:
    release = case(release="openzfs-2.3").release
    small = member.scaled_limits(release, 1000.0)
    whole = int(release.tunables["zfs_scan_mem_lim_min"])
    assert small.tunables["zfs_scan_mem_lim_min"] == whole // 1000
    assert small.tunables["zfs_scan_checkpoint_intval"] >= 60
    old = case(release="freebsd-9.1").release
    assert member.scaled_limits(old, 1000.0) is old


def test_the_second_replacement_takes_the_next_child_and_the_next_new_drive() -> None:
    found = member.second_of(case(replace=1, second_at=0.25), 400.0)
    assert (found.child, found.leaf, found.at) == (1, 7, 100.0)


def test_the_engine_is_the_one_asked_for() -> None:
    assert member.plane_of(case()).__name__ == "CompiledPlane"
    assert member.plane_of(case(engine="reference")).__name__ == "ReferencePlane"


# Metaslabs of a rebuild.


@pytest.mark.parametrize(
    ("count", "wanted", "around"),
    [(200, 10, 0), (200, 10, 3), (1000, 1, 1), (50, 16, 5), (11_294, 10_559, 0)],
)
def test_chosen_metaslabs_are_of_the_vdev_and_ascend(count: int, wanted: int, around: int) -> None:
    chosen = rebuilding._chosen(count, wanted, around)
    assert (np.diff(chosen) > 0).all()
    assert chosen[0] >= 0
    assert chosen[-1] < count
    most = count if around else min(count, rebuilding.MOST_METASLABS)
    assert len(chosen) >= min(most, max(wanted, rebuilding.FEWEST_METASLABS))


def test_metaslabs_that_are_waited_for_lie_evenly() -> None:
    chosen = rebuilding._chosen(100, 10, 0)
    assert chosen.tolist() == [5, 15, 25, 35, 45, 55, 65, 75, 85, 95]


def test_stretches_have_neighbours_before_and_behind() -> None:
    chosen = rebuilding._chosen(1000, 8, 2)
    stretches = np.split(chosen, np.flatnonzero(np.diff(chosen) > 1) + 1)
    assert [len(each) for each in stretches] == [4, 2, 2, 4], "two more at the first and the last"


def test_stretches_tell_the_mean_of_all_tracks() -> None:
    """Inner tracks have half the rate of the outer ones; the time a metaslab takes is convex in its place."""
    place = rebuilding._chosen(10_000, 400, 1) / 10_000
    assert float(np.mean(1.0 / (1.0 - 0.5 * place))) == pytest.approx(2.0 * np.log(2.0), rel=0.006)


def test_of_few_metaslabs_all_are_taken() -> None:
    assert rebuilding._chosen(12, 8, 3).tolist() == list(range(12))


def sample(**changes: Any) -> Any:
    usual = {"repaired_bytes": 1000.0, "in_flight": 0, "before": 0.0, "behind": 0.0, "metaslabs": 4, "of": 40}
    return SimpleNamespace(**usual | changes)


def test_copying_grows_with_bytes_and_waits_with_metaslabs() -> None:
    run = run_of([("rebuild", 0.0, 4.0), ("rebuild", 5.0, 9.0)], 10.0, issued_bytes=100, curve=[])
    assert rebuilding.scaled_rebuild(run, sample()) == (80.0, 20.0, 10.0)


def test_without_waits_they_come_once() -> None:
    run = run_of([("rebuild", 0.0, 9.0)], 10.0, issued_bytes=100, curve=[])
    assert rebuilding.scaled_rebuild(run, sample(in_flight=10)) == (90.0, 1.0, 10.0)


def test_of_a_sample_in_flight_the_middle_counts() -> None:
    """The start and the end are twice as slow, and of neither anything is left in the answer."""
    curve = [(0.0, 0), (4.0, 20), (10.0, 80), (14.0, 100)]
    run = run_of([("rebuild", 0.0, 14.0)], 14.0, issued_bytes=100, curve=curve)
    copying, _, _ = rebuilding.scaled_rebuild(run, sample(in_flight=10, before=20.0, behind=30.0))
    assert copying == pytest.approx(1000.0 * 0.1)


# Rhythm.


class Control:
    """A scan that is over: txgs end in 3 s, then in 1 s."""

    def __init__(self) -> None:
        self.plane = SimpleNamespace(now=0.0)
        self.ends = [3.0, 1.0]

    def sync(self) -> Any:
        self.plane.now += self.ends.pop(0)
        yield


def quiet(cached: bool, ends: list[float]) -> float:
    steps: Any = quiet_end(Control(), cached, ends)  # type: ignore[arg-type]
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return float(stop.value)


def test_quiet_ends_are_those_after_the_scan() -> None:
    assert quiet(True, [100.0, 100.0]) == 2.0
    assert quiet(False, [5.0, 7.0]) == pytest.approx((5.0 + 7.0 + 3.0 + 1.0) / 4), "no cache: all are quiet"


def test_a_period_ends_after_its_drain() -> None:
    assert Period(1.0, 6.0, 7.5, [], True, False).ended == 1.5


# Loads.


def test_a_request_is_a_record_unless_stated() -> None:
    one = case(load=["random-read,rate=5", "sync-write,rate=5,size=8K"], recordsize="1M")
    assert [request_bytes(load, one) for load in one.load] == [1 << 20, 8 << 10]


def test_threads_are_clients_as_they_are() -> None:
    (group,) = client_groups(case(load=["random-read,threads=7,think=2s"]), 1)
    assert (group.count, group.think_s, group.parts) == (7, 2.0, 7)


def test_what_is_read_ahead_of_a_file_is_fetched_by_clients_that_take_turns_in_it() -> None:
    """Each of 400 clients was a stream of its own, in as many places of the pool."""
    (rate,) = client_groups(case(load=["sequential-read,bandwidth=100MB/s"], recordsize="1M"), 1)
    assert rate.parts == rate.files == 1
    assert rate.count == math.ceil(100e6 / (1 << 20) * CLIENT_CYCLE_S)
    assert rate.count / (rate.think_s + CLIENT_READ_S) == pytest.approx(100e6 / (1 << 20))
    (slow,) = client_groups(case(load=["sequential-read,threads=3,think=2s"], recordsize="1M"), 1)
    assert (slow.count, slow.parts) == (6, 3)
    assert slow.count / (slow.think_s + CLIENT_READ_S) == pytest.approx(3 / 2.0)
    for release, distance in {"openzfs-2.0.7": READ_AHEAD, "openzfs-2.3": 64 << 20}.items():
        asked = case(load=["sequential-read,threads=2"], recordsize="1M", release=release)
        (busy,) = client_groups(asked, 1)
        assert (busy.count, busy.think_s, busy.parts) == (2 * distance // (1 << 20), 0.0, 2)
    (large,) = client_groups(case(load=["sequential-read,threads=2,size=80M"], recordsize="1M"), 1)
    assert (large.count, large.blocks) == (2, 80)


@pytest.mark.parametrize(
    ("small", "whole"),
    [
        ("sequential-read,rate=160,size=128K", "sequential-read,rate=20,size=1M"),
        ("sequential-read,threads=7,think=1s,size=128K", "sequential-read,threads=7,think=8s,size=1M"),
    ],
)
def test_a_stream_fetches_each_record_once_however_small_its_requests(small: str, whole: str) -> None:
    """Each request fetched a record of its own: eight times what was stated of records of 1M."""
    few, many = (client_groups(case(load=[load], recordsize="1M"), 1) for load in (small, whole))
    assert few == many
    blocks = [group.blocks for group in client_groups(case(load=[whole], recordsize="128K"), 1)]
    assert blocks == [8]
    random = client_groups(case(load=["random-read,rate=160,size=128K"], recordsize="1M"), 1)
    assert random[0].count == 80


def test_asynchronous_writes_have_no_client_but_a_rate() -> None:
    one = case(load=["async-write,threads=4,think=2s,size=1M"])
    assert client_groups(one, 1) == ()
    assert writer(one).rate == pytest.approx(2.0 * (1 << 20))


def test_clients_of_two_loads_draw_different_numbers() -> None:
    first, second = client_groups(case(load=["random-read,rate=5", "random-read,rate=5"]), 1)
    assert first.seed != second.seed


def test_blocks_of_the_intent_log_are_bounded() -> None:
    assert log_bytes(case(load=["sync-write,rate=5,size=8K"])) == (8 << 10) + 192
    assert log_bytes(case(load=["sync-write,rate=5,size=1M"])) == LARGEST_LOG_BLOCK


def test_a_steady_load_is_one_span() -> None:
    steady = case(load=["random-read,rate=5"])
    assert not has_hours(steady)
    assert spans(steady, lambda now: 100.0) == [(Now(steady.load, ()), 1.0, 100.0)]


def test_the_repaired_pool_reads_from_what_was_written() -> None:
    (vdev,) = repaired(plane_model(case())).vdevs
    assert vdev.read_leaf == (6, 1, 2, 3, 4, 5)
    assert set(vdev.write_leaf) == {NOT_REPAIRED}


# The history of a world.


def test_a_world_ages_its_pool_and_scales_its_files() -> None:
    plain = history_of(case(history="home-nas"))
    aged = history_of(replace(case(history="home-nas"), member=Member(churn=2.0, file_size=0.5)))
    assert aged.overwritten == pytest.approx(min(0.6, 2.0 * plain.overwritten))
    assert aged.removed == pytest.approx(min(0.6, 2.0 * plain.removed))
    assert aged.files.mean == pytest.approx(0.5 * plain.files.mean, rel=1e-6)


def test_no_world_rewrites_more_than_most_of_a_pool_in_a_round() -> None:
    wild = history_of(replace(case(history="database"), member=Member(churn=100.0, file_size=1e9)))
    assert wild.overwritten <= 0.6
    assert wild.files.mean <= wild.files.high


def test_a_stated_record_size_goes_before_the_history_and_the_release_before_both() -> None:
    assert {kind.recordsize for kind in history_of(case(recordsize="16K")).records} == {16 << 10}
    old = history_of(case(history="media-server", release="freebsd-9.1"))
    assert max(kind.recordsize for kind in old.records) <= 128 << 10


# What-ifs.


def baseline(**fields: Any) -> Any:
    one = case(**fields)
    return SimpleNamespace(
        case=one,
        result=SimpleNamespace(model=plane_model(one)),
        time=lambda **changes: 0.5,
        answer_s=100.0,
    )


def test_a_drive_that_takes_no_time_is_as_large() -> None:
    drive = plane_model(case()).leaves[0].drive
    instant = what_if.instant(drive)
    assert instant.capacity_bytes == drive.capacity_bytes
    assert (instant.kind, instant.flash_read_rate, instant.write_cache_bytes) == ("flash", 1e15, 0)
    assert instant.rotating == drive.rotating, "ZFS still schedules it as the disk it stands for"


@pytest.mark.parametrize("share", [0.01, 0.5])
def test_each_kind_of_resource_is_tried_once(share: float) -> None:
    """The processor where a thread of the scan is busy for a while."""
    tried: list[Any] = []
    one = baseline(enclosure="jbod-60")
    one.result.run, one.result.span_s = SimpleNamespace(processor_s=(share, share)), 2.0
    one.time = lambda model: tried.append(model) or 0.25
    found = what_if.without_each(one)
    processor = {"processor": 25.0} if share == 0.5 else {}
    assert found == {"source": 25.0, "target": 25.0, "link": 25.0, **processor}
    roles = [{leaf.role for leaf in model.leaves if leaf.drive.kind == "flash"} for model in tried]
    assert sorted(map(sorted, roles)) == [[], *([[]] if processor else []), ["source"], ["target"]]
    assert sum(model.scan.issue_s == model.scan.pointer_s == 0.0 for model in tried) == len(processor)


def test_the_other_order_is_that_of_another_release_or_tunable() -> None:
    (found,) = other_ways.other_ways(case(release="openzfs-2.3"))
    assert (found.name, found.change(case(release="openzfs-2.3")).release.order) == ("legacy", "legacy")
    (found,) = other_ways.other_ways(case(release="freebsd-9.1"))
    assert (found.name, found.change(case(release="freebsd-9.1")).release.order) == ("sorted", "sorted")
    assert other_ways.other_ways(case(operation="scrub")) == ()


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"layout": "mirror2"}, "sequential rebuild"),
        ({"layout": "mirror2", "operation": "rebuild"}, "healing resilver"),
        ({"layout": "raidz2x6"}, None),
        ({"layout": "mirror2", "release": "zol-0.7"}, None),
        ({"layout": "mirror3", "replace": 2}, None),
        ({"layout": "draid2:4d:12c:1s", "release": "openzfs-2.1"}, "healing resilver"),
    ],
)
def test_a_rebuild_is_an_alternative_where_zfs_has_one(fields: dict[str, Any], name: str | None) -> None:
    told = [each.name for each in other_ways.other_ways(case(**fields))]
    assert [each for each in told if each not in ("legacy", "sorted")] == ([name] if name else [])


def test_only_what_saves_enough_is_advised_the_best_first() -> None:
    one = baseline(write_cache=False)
    sorted_scan = Alternative(name="sorted", resilver_s=Quantiles(p50=70.0))
    found = advice(one, (sorted_scan,), {"link": 99.0})
    assert [round(each.saves_s or 0) for each in found] == [50, 30], "1 % of a link is not worth saying"
    assert found[0].action.startswith("switch the replacement drive's write cache on")


def test_a_drive_with_its_cache_on_is_not_told_to_switch_it_on() -> None:
    assert advice(baseline(write_cache=True), (), {}) == ()


def test_where_nobody_says_how_caches_are_one_world_that_has_them_off_advises_nothing() -> None:
    """README's first answer was told 42 minutes that caches switched on do not save."""
    one = baseline()
    leaves = tuple(
        replace(leaf, drive=replace(leaf.drive, write_cache_bytes=0)) for leaf in one.result.model.leaves
    )
    off = replace(one.result.model, leaves=leaves)
    one = SimpleNamespace(case=one.case, result=SimpleNamespace(model=off), time=one.time, answer_s=100.0)
    assert advice(one, (), {}) == ()  # type: ignore[arg-type]


def test_a_sorted_scan_is_advised_where_it_saves_more_than_its_error() -> None:
    one = baseline(write_cache=True)
    sure = Alternative(name="sorted", resilver_s=Quantiles(p50=70.0), half_width_s=20.0)
    (found,) = advice(one, (sure,), {})
    assert (found.saves_s, found.why) == (30.0, "known to 20 s")
    assert advice(one, (sure.model_copy(update={"half_width_s": 40.0}),), {}) == ()


def test_a_scrub_follows_a_rebuild_and_nothing_else() -> None:
    def told(**fields: Any) -> float | None:
        work = Work(case(fill=0.1, drive_size="1GB", history="home-nas", **fields), lambda share, what: None)
        work.run()
        return other_ways.scrub_share(work)

    assert told(layout="mirror2") is None
    assert told(layout="mirror2", operation="rebuild", tunables={"zfs_rebuild_scrub_enabled": 0}) is None
    assert told(layout="mirror2", operation="rebuild") > 0.0  # type: ignore[operator]


# Worlds of one prediction.


def test_a_world_of_a_prediction_is_made_once() -> None:
    work = Work(case(), lambda share, what: None)
    assert work.world(3) is work.world(3)
    seeds = {work.world(place).case.seed for place in range(4)}
    assert len(seeds) == 4, "chance is not the same in all of them"
    assert work.world(2).case.member == work.members[2]


def test_what_a_prediction_has_run_is_given_back_without_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        work = Work(case(), lambda share, what: None)
        work.run()
        assert work.middle is not None
        kept = weakref.ref(work)
        del work
        assert kept() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("load", [[], [{"kind": "random-read", "rate": 5}]])
def test_what_is_not_asked_for_leaves_the_rest_as_it_is(load: list[dict[str, Any]]) -> None:
    stated = {"layout": "mirror2", "fill": 0.3, "drive_size": "1TB", "history": "backup-target", "load": load}
    asked = case_of(Scenario.from_dict(stated))
    whole, first, row = (predict_case(asked, portion=portion) for portion in get_args(Portion))
    assert answer_row(row) == answer_row(first) == answer_row(whole)
    # What helps most and what clients wait come from the runs that were not asked for.
    more = ("What helps most", "Client latency:")
    told = [each for each in brief_text(whole).split("\n\n") if not each.startswith(more)]
    assert brief_text(first) == "\n\n".join(told)
    assert whole.alternatives
    assert first.alternatives == row.alternatives == ()
    assert (whole.advised, first.advised, row.advised) == (True, False, False)
    # The first screen needs no other scan order than a sorted one.
    screen = predict_case(asked, other_ways=False)
    assert (screen.alternatives, brief_text(screen)) == ((), brief_text(whole))
    assert bool(whole.clients) == bool(load)
    assert first.clients == row.clients == ()


def test_less_of_an_answer_can_be_asked_for_in_python() -> None:
    stated: dict[str, Any] = {
        "layout": "mirror2",
        "fill": 0.3,
        "drive_size": "1TB",
        "history": "backup-target",
    }
    first = predict(**stated, portion="first screen")
    assert first == predict_case(case_of(Scenario.from_dict(stated)), portion="first screen")
    assert first.alternatives == ()
    with pytest.raises(InputError, match='portion.*"row"'):
        predict(**stated, portion=cast("Any", "rows"))


def test_of_clients_that_nobody_stated_the_run_that_is_there_tells() -> None:
    asked = case()
    run: Any = SimpleNamespace(end=3.0)
    result = SimpleNamespace(run=run, model=None)
    baseline = cast("Baseline", SimpleNamespace(case=asked, result=result, shown=result))
    assert asked.operation == "resilver"
    assert run_for_waits(baseline, 1_000) is run
