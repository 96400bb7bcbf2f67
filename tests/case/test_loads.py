"""Loads as data a second or shares become requests a second; what no drive serves is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

from zsim.base.errors import InputError, NotSimulatedYet
from zsim.case.case import Case
from zsim.case.loads import CLIENT_READ_S, beyond, capability, in_requests, request_bytes, write_rate
from zsim.case.refusals import HOPELESS
from zsim.drives.derived import random_service
from zsim.prediction.api import case_of, warnings
from zsim.scenario.model import Scenario
from zsim.scenario.parts import Load

KIB, MIB = 1 << 10, 1 << 20


def case(layout: str = "raidz2x6", **stated: Any) -> Case:
    known = {"layout": layout, "fill": 0.5, "drive_size": "4TB", "recordsize": "128K", "ashift": 12}
    return case_of(Scenario.from_dict({**known, **stated}))


def test_data_a_second_are_requests_of_the_stated_size_or_of_a_record() -> None:
    loads = [
        {"kind": "sequential-read", "bandwidth": "40MiB/s", "size": "1M"},
        {"kind": "sequential-read", "bandwidth": "40MiB/s"},
        {"kind": "random-read", "rate": 7},
    ]
    first, second, third = in_requests(case(load=loads))
    assert (first.rate, first.size, first.bandwidth) == (40.0, MIB, None)
    assert (second.rate, second.size) == (320.0, 128 * KIB)
    assert (third.rate, third.size) == (7.0, None)
    assert request_bytes(third, case()) == 128 * KIB


def test_a_load_beyond_what_the_drives_can_do_is_told() -> None:
    most = capability("async-write", 128 * KIB, case())
    within = [Load(kind="async-write", rate=0.9 * most), Load(kind="random-read", threads=500)]
    assert beyond(case(load=within)) == ()
    stated = case(load=[Load(kind="async-write", rate=3.0 * most), within[1]])
    assert beyond(stated) == (("async-write", pytest.approx(3.0)),)
    assert any("asks for 3 times what the drives" in each for each in warnings(stated))


def test_small_random_reads_fetch_whole_records() -> None:
    rate = 1.5 * capability("random-read", 128 * KIB, case())
    assert beyond(case(load=[Load(kind="random-read", rate=rate, size="4K")])) == (
        ("random-read", pytest.approx(1.5)),
    )


def test_a_share_is_one_of_what_the_drives_can_do() -> None:
    known = case(load=[{"kind": "random-read", "share": 0.25, "size": "8K"}])
    (load,) = in_requests(known)
    assert load.rate == pytest.approx(0.25 * capability("random-read", 8 * KIB, known))
    assert load.share is None


def test_threads_write_once_in_each_pause_and_wait_for_the_log() -> None:
    sync = Load(kind="sync-write", threads=4, think=0.1)
    assert write_rate(sync) == pytest.approx(4 / (0.1 + CLIENT_READ_S))
    assert write_rate(Load(kind="sync-write", threads=4)) == pytest.approx(4 / CLIENT_READ_S)
    assert write_rate(Load(kind="async-write", threads=4, think=0.1)) == pytest.approx(40.0)
    assert write_rate(Load(kind="async-write", rate=3)) == 3.0
    with pytest.raises(InputError, match="never pause have no rate"):
        write_rate(Load(kind="async-write", threads=4))


def seek_rate(known: Case, size: int) -> float:
    """Return random reads of one drive [1/s]."""
    return 1.0 / random_service(known.drive.parameters(), size, 0.0, known.fill)


@pytest.mark.parametrize(
    ("layout", "size", "drives", "columns"),
    [
        ("raidz2x6", 128 * KIB, 6, 4),
        ("raidz2x6", 4 * KIB, 6, 1),  # one sector lies on one drive
        ("raidz2x6", 12 * KIB, 6, 3),
        ("raidz2x6", 13 * KIB, 6, 4),  # a part of a sector is one
        ("mirror3", 128 * KIB, 3, 1),
    ],
)
def test_random_reads_keep_the_drives_busy_that_hold_the_record(
    layout: str, size: int, drives: int, columns: int
) -> None:
    known = case(layout)
    expected = drives / columns * seek_rate(known, size // columns)
    assert capability("random-read", size, known) == pytest.approx(expected)
    two = case(f"2*{layout}")
    assert capability("random-read", size, two) == pytest.approx(2 * expected)


@pytest.mark.parametrize(
    ("layout", "kind", "streams"),
    [
        ("raidz2x6", "sequential-read", 4),
        ("raidz2x6", "async-write", 4),
        ("mirror3", "sequential-read", 3),
        ("mirror3", "sync-write", 1),
        ("mirror3", "async-write", 1),
        ("draid2:8d:24c:2s", "sequential-read", 8),
    ],
)
def test_streams_run_at_the_media_rate_of_the_drives_that_hold_data(
    layout: str, kind: str, streams: int
) -> None:
    known = case(layout)
    rates = known.drive.parameters().zone_rates
    assert capability(kind, MIB, known) == pytest.approx(streams * sum(rates) / len(rates) / MIB)


def test_a_solid_state_drive_serves_several_commands_at_a_time() -> None:
    known = case("mirror2", drive="generic-nvme-ssd", drive_size="1TB")
    drive = known.drive.parameters()
    latency = (drive.flash_latency_min_s + drive.flash_latency_max_s) / 2
    each = (latency + 4 * KIB / drive.flash_read_rate) / drive.parallel_commands
    assert capability("random-read", 4 * KIB, known) == pytest.approx(2 / each)
    assert capability("async-write", MIB, known) == pytest.approx(drive.flash_write_rate / MIB)


def test_loads_beyond_any_drive_are_refused_with_what_it_can_do() -> None:
    """No disk is elsewhere sooner than after half a revolution, nor reads faster than its rim passes."""
    known = case("mirror2")
    drive = known.drive.parameters()
    reads = 2 / (drive.revolution_s / 2)
    most = HOPELESS * reads
    case("mirror2", load=[{"kind": "random-read", "rate": 0.99 * most, "size": "4K"}])
    with pytest.raises(InputError, match=rf"2 such drives can do, {reads:.0f} a second"):
        case("mirror2", load=[{"kind": "random-read", "rate": 1.01 * most, "size": "4K"}])
    streams = HOPELESS * 2 * max(drive.zone_rates) / MIB
    case("mirror2", load=[{"kind": "sequential-read", "rate": 0.99 * streams, "size": "1M"}])
    with pytest.raises(InputError, match="load rate"):
        case("mirror2", load=[{"kind": "sequential-read", "rate": 1.01 * streams, "size": "1M"}])
    # A request of several records is as many reads.
    several = math.ceil(MIB / (128 * KIB))
    with pytest.raises(InputError, match="load rate"):
        case("mirror2", load=[{"kind": "random-read", "rate": 1.01 * most / several, "size": "1M"}])


@pytest.mark.parametrize(
    ("stated", "error", "words"),
    [
        (
            {"layout": "mirror3", "operation": "rebuild", "replace": 2},
            NotSimulatedYet,
            "one drive of a mirror",
        ),
        (
            {"layout": "2*mirror2", "operation": "remove", "fill": 0.6},
            InputError,
            "zpool remove wants as much",
        ),
        ({"layout": "mirror2", "exchanged": ["1:@3TB"]}, InputError, "no replacement smaller than the 4 TB"),
    ],
)
def test_what_cannot_be_is_refused(stated: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        case(**stated)


def test_what_is_just_possible_is_taken() -> None:
    assert case("2*mirror2", operation="remove", fill=0.4).operation == "remove"
    assert case("mirror3", operation="rebuild", replace=1).replace == 1
    assert case("mirror3", operation="resilver", replace=2).replace == 2
    assert case("mirror2", exchanged=["1:@4TB"]).exchanged_model(1) is not None
    assert case("draid2:4d:12c:2s", target="distributed-spare").onto_spare
