"""Foreground load: what it costs the resilver, what the clients wait, and hours of the week."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.case.worlds import in_world
from zsim.operation.result import RunResult
from zsim.prediction.api import predict
from zsim.prediction.exact.run import ExactRun
from zsim.prediction.inputs.clients import (
    client_groups,
    latencies,
    loads_at,
    next_change,
    now_at,
    spans,
    writer,
)
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import miniature
from zsim.prediction.runs.member import run_member, setup_of
from zsim.prediction.runs.waits import run_for_waits
from zsim.prediction.runs.what_if import Baseline, unloaded
from zsim.scenario.model import Scenario
from zsim.scenario.parts import Load

HOUR = 3600.0
WRITE_DEPTHS = ("zfs_vdev_async_write_min_active", "zfs_vdev_async_write_max_active")


def resolved(**fields: Any) -> Case:
    known = {
        "layout": "raidz1x4",
        "fill": 0.4,
        "drive_size": "1TB",
        "history": "media-server",
        "recordsize": "128K",
        "load": [],
    }
    return resolve(Scenario.from_dict(known | fields))


def time_of(asked: Case) -> float:
    return run_member(asked, blocks=6000).time_s


def test_loads_become_clients_and_a_writer() -> None:
    asked = resolved(
        load=["random-read,rate=50,size=1M", "sync-write,rate=20,size=16K", "async-write,rate=5,size=128K"]
    )
    reads, writes = client_groups(asked, 1)
    assert (reads.kind, reads.blocks) == ("random-read", 8)
    assert reads.count / (reads.think_s + 0.02) == pytest.approx(50)
    assert (writes.kind, writes.blocks) == ("sync-write", 1)
    assert writer(asked).rate == 20 * 16384 + 5 * 131072


@pytest.mark.parametrize("kind", ["random-read", "sequential-read", "sync-write", "async-write"])
def test_every_kind_of_load_slows_the_resilver(kind: str) -> None:
    loaded = time_of(resolved(load=[f"{kind},rate=60,size=256K"], write_cache=False))
    assert loaded > 1.02 * time_of(resolved(write_cache=False))


def test_reading_ahead_merges_what_random_reads_fetch_one_by_one() -> None:
    """A backup was as many streams as it has requests in half a second, each waiting for its record."""
    without = time_of(resolved())
    stream, anywhere = (
        time_of(resolved(load=[f"{kind},rate=100,size=128K"])) for kind in ("sequential-read", "random-read")
    )
    assert 1.1 * without < stream < 0.7 * anywhere


def test_clients_wait_longer_while_the_pool_resilvers() -> None:
    asked = resolved(load=["random-read,rate=20"])
    pool = miniature(asked, blocks=15_000)
    model = plane_model(asked)
    result = run_member(asked, pool=pool, model=model)
    (seen,) = latencies(setup_of(asked, pool, model), result.run)
    assert seen.during_s > 1.2 * max(seen.before_s, seen.after_s)
    # A read of a whole pool leaves the parity alone: one drive of seeks at least, three in parallel.
    assert 0.004 < seen.after_s < 0.05
    assert seen.rate == pytest.approx(20, rel=0.25)


@pytest.mark.parametrize(("drive", "wanted"), [("generic-5400rpm-cmr", 60.0), ("generic-sata-ssd", 5.0)])
def test_clients_are_watched_as_long_as_their_percentiles_need(drive: str, wanted: float) -> None:
    """A flash drive answers enough of them in seconds, a disk in a minute; a run that long is kept."""
    asked = resolved(layout="mirror2", operation="scrub", drive=drive, load=["random-read,threads=8"])

    def seen(blocks: int) -> tuple[RunResult, RunResult]:
        pool, model = miniature(asked, blocks=blocks), plane_model(asked)
        baseline = Baseline(asked, pool, run_member(asked, pool=pool, model=model))
        return baseline.result.run, run_for_waits(baseline, blocks)

    short, watched = seen(1200)
    assert short.end < 0.6 * wanted
    assert watched.end == pytest.approx(wanted, rel=0.2)
    if drive == "generic-5400rpm-cmr":
        long, watched = seen(24_000)
        assert watched is long
        assert long.end > wanted


def test_hours_are_counted_from_the_moment_it_begins() -> None:
    asked = resolved(load=["random-read,rate=20,hours=mon-fri 08:00-18:00"], begins="fri 17:00")
    assert loads_at(asked, 0.0)
    assert not loads_at(asked, HOUR)
    assert next_change(asked, 0.0) == HOUR
    assert next_change(asked, HOUR) == 7 * HOUR


def test_a_load_at_some_hours_costs_as_much_as_it_is_on() -> None:
    """One pace in business hours, another outside: 1 h of 10 h, then the rest of 4 h."""
    asked = resolved(load=["random-read,rate=20,hours=mon-fri 08:00-18:00"], begins="fri 17:00")
    parts = spans(asked, lambda now: 10 * HOUR if now.loads else 4 * HOUR)
    assert sum(seconds for _, _, seconds in parts) == pytest.approx(HOUR + 0.9 * 4 * HOUR)
    assert sum(share for _, share, _ in parts) == pytest.approx(1.0)


def test_business_hours_lie_between_idle_and_always() -> None:
    load = "random-read,rate=60"
    always = time_of(resolved(load=[load]))
    idle = time_of(resolved())
    evening = time_of(resolved(load=[f"{load},hours=mon-fri 08:00-18:00"], begins="fri 17:30"))
    assert idle < evening < always


def test_without_the_load_there_is_none_at_any_hour() -> None:
    """Clients of a case with hours come from the case, hour by hour, and not from its plane."""

    def quiet(**fields: Any) -> float:
        asked = resolved(**fields)
        pool, model = miniature(asked, blocks=6000), plane_model(asked)
        time_s = unloaded(Baseline(asked, pool, run_member(asked, pool=pool, model=model)))
        assert time_s is not None
        return time_s

    load = "random-read,rate=60"
    always = quiet(load=[load])
    assert always < 0.9
    assert quiet(load=[f"{load},hours=00:00-24:00"], begins="fri 17:30") == pytest.approx(always, rel=0.02)


def test_tunables_change_at_the_edges_of_their_hours() -> None:
    asked = resolved(product="truenas-25.10", begins="fri 17:00")
    assert now_at(asked, 0.0).tunables == ()
    assert dict(now_at(asked, HOUR).tunables)["zfs_vdev_scrub_max_active"] == 8
    assert next_change(asked, 0.0) == HOUR
    assert now_at(asked, 16 * HOUR).tunables == ()
    parts = spans(asked, lambda now: 2 * HOUR if now.tunables else 4 * HOUR)
    assert [seconds for _, _, seconds in parts] == pytest.approx([HOUR, 0.75 * 2 * HOUR])


def test_a_tunable_at_some_hours_is_simulated_as_set_then() -> None:
    """All of it in the hours is what the tunable does all day; an hour before them lies between the two."""

    def scrub(**fields: Any) -> float:
        return time_of(resolved(operation="scrub", recordsize="16K", history="small-files", **fields))

    name, weekend = "zfs_vdev_aggregation_limit", "4K sat-sun 00:00-24:00"
    always, never = scrub(tunables={name: "4K"}), scrub()
    assert never < 0.8 * always
    assert scrub(tunables={name: weekend}, begins="sat 00:00") == always
    assert scrub(tunables={name: weekend}, begins="mon 00:00") == never
    partly = scrub(tunables={name: weekend}, begins="fri 23:00")
    assert partly == pytest.approx(HOUR + (1.0 - HOUR / never) * always)


def exact_s(**fields: Any) -> float:
    stated = {"layout": "mirror2", "fill": 0.02, "begins": "fri 11:59", "exact": True, "write_cache": False}
    return ExactRun(resolved(**stated, **fields), lambda share, text: None).execute().time_s


def test_exact_runs_follow_loads_and_tunables_by_the_hour() -> None:
    """A minute at the pace of a quiet pool, then that of a busy one, and the other way round."""
    load = "random-read,threads=2,think=5ms"
    quiet, busy = exact_s(), exact_s(load=[load])
    assert 90.0 < quiet < 0.7 * busy
    expected = {"12:00-24:00": 60.0 + (1.0 - 60.0 / quiet) * busy, "00:00-12:00": None, "13:00-14:00": quiet}
    for hours, seconds in expected.items():
        found = exact_s(load=[f"{load},hours={hours}"])
        assert found == pytest.approx(seconds or 60.0 + (1.0 - 60.0 / busy) * quiet, rel=0.05)
    held = exact_s(tunables=dict.fromkeys(WRITE_DEPTHS, 1))
    timed = exact_s(tunables=dict.fromkeys(WRITE_DEPTHS, "1 12:00-24:00"))
    assert min(quiet, held) < timed < max(quiet, held)


def test_clients_and_writers_take_the_records_of_a_stated_use() -> None:
    load = ["random-read,rate=50,size=64K", "async-write,rate=10", "ingest 50MB/s"]
    of = {each: resolved(history=each, recordsize=None, load=load) for each in ("vm-host", "home-nas")}
    assert [client_groups(each, 1)[0].blocks for each in of.values()] == [4, 1]
    assert [writer(each).record_bytes for each in of.values()] == [16 << 10, 128 << 10]
    assert [each.load[2].rate for each in of.values()] == pytest.approx([50e6 / 2**14, 50e6 / 2**17])
    unknown = resolved(history=None, recordsize=None, load=load)
    assert client_groups(unknown, 1)[0].blocks == 1
    # In a possible world, the records are those of what that pool is used for.
    drawn = in_world(unknown, replace(unknown.member, history="vm-host"))
    assert client_groups(drawn, 1)[0].blocks == 4


def test_what_clients_write_is_spread_over_all_vdevs() -> None:
    """Four mirrors share what one would have to write alone (metaslab.c:metaslab_alloc_dva)."""
    asked = resolved(layout="4*mirror2", load=["async-write,rate=400,size=128K"])
    run = run_member(asked, blocks=6000).run
    written = run.leaves["write_bytes"][1:8]  # the first is the missing drive
    assert written.max() < 1.2 * written.min()


def test_the_least_time_of_a_txg_counts_where_clients_write_a_lot() -> None:
    """2.4.1 halved it: beside writers that make a fifth of what may be dirty, txgs end sooner."""
    loads = ["async-write,rate=1600,size=128K"]
    before, after = (resolved(load=loads, release=release) for release in ("2.4.0", "2.4.1"))
    assert run_member(after, blocks=20000).run.slice_s < run_member(before, blocks=20000).run.slice_s
    idle = [time_of(resolved(release=release)) for release in ("2.4.0", "2.4.1")]
    assert idle[0] == idle[1]


def test_caches_that_are_not_flushed_change_the_time() -> None:
    stated = {"layout": "raidz2x8", "history": "database", "recordsize": "16K", "write_cache": True}
    never = resolved(**stated, tunables={"zfs_nocacheflush": 1})
    assert time_of(never) < 0.97 * time_of(resolved(**stated))


def test_the_emptier_vdev_takes_more_of_what_clients_write() -> None:
    """In proportion to free space: a fifth and four fifths of equal vdevs (metaslab_bias_enabled)."""
    load = ["async-write,rate=200,size=128K"]
    asked = resolved(layout="2*mirror2", fill=None, vdev_fills=[0.8, 0.2], load=load)
    assert writer(asked).favour == pytest.approx((0.4, 1.6))
    written = run_member(asked, blocks=6000).run.leaves["write_bytes"]
    # Whole records: two of 128K for 0.4 of what a vdev takes in turn (512K), seven for 1.6 of it.
    assert written[2] == pytest.approx(3.5 * written[1], rel=0.15)
    even = resolved(layout="2*mirror2", load=load)
    assert writer(even).favour == (1.0, 1.0)
    assert writer(resolved(layout="2*mirror2")).favour == ()


def test_synchronous_writes_to_a_log_do_not_hold_up_a_legacy_scan() -> None:
    stated = {"release": "zol-0.7", "load": ["sync-write,rate=50,size=16K"]}
    alone, log = (time_of(resolved(layout=each, **stated)) for each in ("raidz1x4", "raidz1x4+log:mirror2"))
    assert log < 0.2 * alone
    assert log == pytest.approx(time_of(resolved(release="zol-0.7")), rel=0.1)


def test_clients_wait_as_long_beside_a_scrub_of_many_vdevs_as_of_few() -> None:
    """Of many vdevs four are simulated: what clients read on the others came from drives that did nothing."""
    waits = {}
    for vdevs in (4, 16):
        load = Load(kind="random-read", rate=20.0 * vdevs)
        stated = {"layout": f"{vdevs}*mirror2", "fill": 0.4, "drive_size": "2TB", "operation": "scrub"}
        found = predict(Scenario.from_dict({**stated, "history": "media-server", "load": [load]}))
        (waits[vdevs],) = found.clients
        assert waits[vdevs].rate == pytest.approx(20.0 * vdevs, rel=0.1)
    assert waits[16].during_s == pytest.approx(waits[4].during_s, rel=0.1)
    assert waits[16].before_s == pytest.approx(waits[4].before_s, rel=0.1)
