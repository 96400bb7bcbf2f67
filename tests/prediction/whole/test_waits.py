"""What clients wait: percentiles, starved reads, clients that never pause; loads as people say them."""

from __future__ import annotations

import numpy as np
import pytest

from zsim import Scenario, predict
from zsim.base.errors import InputError
from zsim.base.units import format_duration
from zsim.engine.codes import LATENCY_BINS
from zsim.engine.leaf_rules import wait_bin
from zsim.prediction.api import case_of
from zsim.prediction.inputs.clients import percentiles
from zsim.scenario.parts import Load

SCRUB = {
    "operation": "scrub", "layout": "4*mirror2", "drive": "generic-5400rpm-cmr", "drive_size": "2TB",
    "fill": 0.1, "recordsize": "16K", "history": "write-once-archive",
    "load": "random-read,threads=1,size=4K",
}  # fmt: skip
POOL = {"layout": "raidz2x6", "drive_size": "4TB", "fill": 0.5, "recordsize": "128K"}


def test_percentiles_come_from_the_bins() -> None:
    counts = np.zeros(LATENCY_BINS, np.int64)
    for seconds, times in ((0.01, 90), (0.1, 9), (2.0, 1)):
        counts[wait_bin(seconds)] += times
    found = percentiles(counts)
    assert found is not None
    assert (found.p50, found.p99, found.max) == pytest.approx((0.01, 0.1, 2.0), rel=0.04)
    assert percentiles(np.zeros(LATENCY_BINS, np.int64)) is None


def test_without_the_throttle_a_drive_starves_a_read_beside_a_scrub() -> None:
    """Histograms of OpenZFS commit 6f5aac3ca0: 414 ms in the mean, 58 ms with the throttle of 2.0.1."""
    before, after = (
        predict(Scenario.from_dict(SCRUB | {"release": release})).clients[0]
        for release in ("openzfs-2.0.0", "openzfs-2.0.1")
    )
    assert before.during is not None
    assert after.during is not None
    assert 0.414 / 2.0 < before.during_s < 0.414 * 1.5
    assert before.during.p99 == pytest.approx(2.0, rel=0.5)
    assert before.during_s > 4.0 * after.during_s
    assert after.during.p50 > after.after_s


def test_clients_that_never_pause_are_an_overload() -> None:
    found = predict(Scenario.from_dict(POOL | {"load": "random-read,threads=50"}))
    assert "OVERLOAD" in str(found).splitlines()[0]
    assert found.clients[0].during is not None
    longest = format_duration(found.clients[0].during.p99)
    assert f"Client latency: random-read {format_duration(found.clients[0].during_s)} on average" in str(
        found
    )
    assert f"p99 {longest}" in " ".join(str(found).split())


def test_of_clients_that_nobody_stated_the_first_screen_says_nothing() -> None:
    assert "Client latency:" not in str(predict(Scenario.from_dict(POOL)))


def test_writers_that_ask_for_more_than_the_drives_can_do_are_an_overload() -> None:
    """They hold a scan up by less than a factor of four: the first line did not tell it."""
    found = predict(Scenario.from_dict(POOL | {"load": "ingest 3GB/s"}))
    assert "OVERLOAD" in str(found).splitlines()[0]
    assert found.unloaded_s is not None
    assert found.resilver_s.p50 < 4.0 * found.unloaded_s


@pytest.mark.parametrize(
    ("text", "kind", "amount"),
    [
        ("backup 100MB/s 22:00-06:00", "sequential-read", {"bandwidth": 100e6}),
        ("reads 200/s", "random-read", {"rate": 200.0}),
        ("database 30% mon-fri 08:00-18:00", "random-read", {"share": 0.3}),
        ("ingest 50MB/s", "async-write", {"bandwidth": 50e6}),
    ],
)
def test_loads_are_said_in_words(text: str, kind: str, amount: dict[str, float]) -> None:
    load = Load.model_validate(text)
    assert load.kind == kind
    assert {name: getattr(load, name) for name in amount} == amount


def test_what_is_no_amount_is_refused() -> None:
    with pytest.raises(InputError, match="'lots' is no kind of client, rate, bandwidth"):
        Load.model_validate("backup lots")


def test_data_a_second_and_shares_become_requests() -> None:
    loads = ["ingest 50MB/s", "database 30%", "database 60%"]
    case = case_of(Scenario.from_dict(POOL | {"load": loads}))
    rates = [load.rate or 0.0 for load in case.load]
    assert rates[0] == pytest.approx(50e6 / (128 << 10))
    assert rates[2] == pytest.approx(2.0 * rates[1])
    # Six drives, four of them for each record, about 80 seeks a second each.
    assert 60 < rates[2] / 0.6 < 200


def test_the_credit_of_the_throttle_counts_only_where_a_drive_may_have_several_reads_of_the_scan() -> None:
    """zfs_vdev_scrub_min_active is 1: the drive goes on with a client's read, and that renews the credit."""
    stated = POOL | {"history": "media-server", "load": "random-read,threads=8", "fill": 0.2}
    found = {
        (least, credit): predict(
            Scenario.from_dict(
                stated | {"tunables": {"zfs_vdev_scrub_min_active": least, "zfs_vdev_nia_credit": credit}}
            ),
            portion="row",
        ).resilver_s.p50
        for least in (1, 2)
        for credit in (1, 50)
    }
    assert found[1, 1] == found[1, 50]
    assert found[2, 50] < 0.6 * found[2, 1]
