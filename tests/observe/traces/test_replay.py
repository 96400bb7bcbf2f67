"""A trace through a drive model."""

import csv

import numpy as np
import pyarrow.parquet
import pytest

from zsim.base.errors import InputError
from zsim.drives.catalogue import load_drive
from zsim.drives.models.parameters import DriveParameters
from zsim.observe.traces.replay import distribution, replay
from zsim.observe.traces.trace import Request, trace_of

SIMPLE = DriveParameters(
    capacity_bytes=10**9, revolution_s=0.0083, zone_rates=(100e6,), seek_short_a_s=0.005, seek_long_c_s=0.005,
    read_pass_under_bytes=10**6, read_segments=1,
)  # fmt: skip


def sequential(count=10, interval=0.1, size=10**6):
    return trace_of([Request(i * interval, "d", False, i * size, size) for i in range(count)], "x")


def test_sequential_reads_at_leisure_come_from_read_ahead():
    done = replay(sequential(), SIMPLE)
    expected = np.array([0.01] + 9 * [10**6 / 300e6])
    assert done.run.service == pytest.approx(expected)
    assert done.response == pytest.approx(expected)
    assert done.sequential_share == 1.0
    assert done.utilisation == pytest.approx(expected.sum() / (0.9 + expected[-1]))


def test_a_depth_replaces_the_times_of_arrival():
    done = replay(sequential(interval=9.0), SIMPLE, depth=1)
    assert done.run.elapsed == pytest.approx(0.1)
    assert done.utilisation == pytest.approx(1.0)


def test_parallel_flash_is_not_busier_than_the_clock():
    flash = load_drive("generic-sata-ssd").parameters()
    trace = trace_of([Request(0.0, "d", False, i * 4096, 4096) for i in range(100)], "x")
    assert 0 < replay(trace, flash).utilisation <= 1.0


def test_a_trace_beyond_the_drive_is_refused():
    with pytest.raises(InputError, match="1000000000"):
        replay(trace_of([Request(0.0, "d", False, 10**9, 512)], "x"), SIMPLE)


def test_the_summary_counts_what_there_was():
    rows = [Request(0.0, "d", False, 0, 4096), Request(0.1, "d", True, 10**8, 8192)]
    summary = replay(trace_of(rows, "x"), SIMPLE).summary()
    assert (summary["reads"], summary["writes"], summary["bytes"]) == (1, 1, 12288)
    assert summary["response_s"]["max"] >= summary["service_s"]["p50"] > 0
    assert set(distribution(np.array([1.0]))) == {"mean", "p50", "p90", "p99", "p99.9", "max"}


def test_both_outputs_hold_every_request(tmp_path):
    done = replay(sequential(), SIMPLE)
    done.save(tmp_path / "out.csv")
    done.save(tmp_path / "out.parquet")
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pydict()
    assert (
        [float(row["completion_s"]) for row in rows] == table["completion_s"] == done.run.completion.tolist()
    )
    with pytest.raises(InputError, match=r"\.csv or \.parquet"):
        done.save(tmp_path / "out.txt")


def written(offsets, size):
    return trace_of([Request(0.0, "d", True, int(offset), size) for offset in offsets], "x")


def test_a_shingled_drive_collapses_after_about_20_gb_of_random_writes():
    drive, size = load_drive("st8000as0002").parameters(), 1 << 20
    places = np.random.default_rng(1).integers(0, drive.capacity_bytes // size, 24_000) * size
    done = replay(written(places, size), drive, depth=1)
    stretches = done.stretches(24)
    rates = {round(stretch["written_bytes"] / 1e9): stretch["writes"] for stretch in stretches}
    assert sum(rates.values()) == 24_000
    before = [each for each in stretches if each["written_bytes"] < 18e9]
    after = [each for each in stretches if each["written_bytes"] > 22e9]
    assert min(each["bytes_per_s"] for each in before) > 10 * max(each["bytes_per_s"] for each in after)
    assert all(1.0 / each["service_s"] < 10.0 for each in after)
    assert done.run.cleaning > 0.9 * sum(each["service_s"] * each["writes"] for each in after)


def test_a_solid_state_drive_falls_off_its_cliff():
    drive, size = load_drive("870-qvo-4tb").parameters(), 8 << 20
    done = replay(written(np.arange(14_000) * size, size), drive, depth=4)
    stretches = done.stretches(20)
    ratio = drive.flash_write_rate / drive.slc_rate_after
    assert stretches[0]["bytes_per_s"] / stretches[-1]["bytes_per_s"] == pytest.approx(ratio, rel=0.05)
    cliff = next(
        each["written_bytes"] for each in stretches if each["service_s"] > 1.5 * stretches[0]["service_s"]
    )
    assert cliff == pytest.approx(drive.slc_cache_bytes, rel=0.12)


def test_a_trace_of_reads_has_no_stretches_of_writes():
    assert replay(sequential(), SIMPLE).stretches() == []
