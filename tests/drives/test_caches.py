"""Read-ahead, write cache, shingles and flash: the plain functions, each against what can be said by hand."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.base.jit import IS_COMPILING
from zsim.base.model_data import validation_directory
from zsim.base.plain_views import Row
from zsim.drives.catalogue import load_drive
from zsim.drives.derived import (
    mean_seek,
    random_service,
    rate_profile,
    seconds_to_read_all,
    seek_profile,
    sequential_rate,
)
from zsim.drives.models.parameters import DriveParameters
from zsim.drives.physics.mechanics import drive_table
from zsim.drives.physics.readahead import NOT_AHEAD, buffered_read, keep_segment, reads_on, segment_with
from zsim.drives.physics.smr import (
    CACHED_BYTES,
    CACHED_WRITES,
    CLEANED,
    clean_band,
    shingles_at_first,
    smr_idle,
    smr_parts,
)
from zsim.engine.model import LeafModel
from zsim.engine.single_drive import iops_by_depth, random_iops, random_rate, run_alone, run_drives

RATE, LINK, TURN, SEGMENT = 100e6, 300e6, 0.008, 1_000_000


def ahead(since, begin, offset, length, segment=SEGMENT, head=0):
    segments = np.zeros((1, 3), dtype=np.int64)
    return buffered_read(segments, head, since, begin, offset, length, segment, RATE, LINK, 1)[0]


def test_what_the_medium_has_passed_comes_at_the_rate_of_the_link():
    assert ahead(0.0, 0.009, 0, 300_000) == pytest.approx(0.009 + 0.001)


def test_what_it_has_not_reached_comes_when_it_gets_there():
    assert ahead(0.0, 0.001, 0, 500_000) == pytest.approx(0.005)


def test_a_gap_inside_the_segment_is_read_over():
    assert ahead(1.0, 1.0, 200_000, 100_000) == pytest.approx(1.003)


def test_behind_the_segment_or_backwards_there_is_no_read_ahead():
    assert ahead(0.0, 0.0, SEGMENT + 1, 4096) == NOT_AHEAD
    assert ahead(0.0, 0.0, 0, 4096, head=4096) == NOT_AHEAD
    assert ahead(-1.0, 0.0, 0, 4096) == NOT_AHEAD


@given(begin=st.floats(0, 0.009), length=st.integers(1, 4_000_000), gap=st.integers(0, SEGMENT))
def test_read_ahead_is_never_faster_than_the_link_nor_than_the_medium(begin, length, gap):
    done = ahead(0.0, begin, gap, length)
    assert done >= begin + length / LINK
    assert done >= (gap + length) / RATE * (1 - 1e-12)


def test_a_full_buffer_is_filled_again_when_half_of_it_is_given():
    assert not reads_on(SEGMENT, SEGMENT // 3, SEGMENT)
    assert reads_on(SEGMENT, SEGMENT // 2, SEGMENT)
    assert not reads_on(SEGMENT, SEGMENT + 1, SEGMENT)


@pytest.mark.parametrize("pause", [0.0, 0.001, 0.02])
def test_a_stream_slower_than_the_medium_never_waits_for_a_turn(pause):
    parameters = load_drive("hd103uj").parameters()
    count, size = 400, 131072
    offsets, lengths = np.arange(count) * size, np.full(count, size)
    arrivals = np.arange(count) * (size / parameters.zone_rates[0] + pause)
    run = run_alone(parameters, offsets, lengths, np.zeros(count, dtype=bool), arrivals=arrivals)
    assert run.service[1:].max() < 0.5 * parameters.revolution_s


def test_segments_keep_streams_apart_and_forget_the_oldest():
    segments = np.zeros((2, 3), dtype=np.int64)
    assert segment_with(segments, 100, 10) == -1
    first = keep_segment(segments, 100, 200, 1000, 1)
    second = keep_segment(segments, 5000, 5100, 1000, 2)
    assert first != second
    assert keep_segment(segments, 200, 300, 1000, 3) == first
    assert segment_with(segments, 120, 150) == first
    assert keep_segment(segments, 9000, 9100, 1000, 4) == second
    assert segment_with(segments, 5000, 100) == -1
    keep_segment(segments, 300, 5000, 1000, 5)
    assert segment_with(segments, 2900, 50) == -1
    assert segment_with(segments, 3000, 2000) == first


def cached(extents, depth=1, sequential=False, count=3000, **changes):
    changes |= {"queue_depth": extents, "write_cache_bytes": extents * 4096}
    parameters = replace(load_drive("ultrastar-he10").parameters(), **changes)
    random = np.random.default_rng(1)
    places = random.integers(0, parameters.capacity_bytes // 4096, count) * 4096
    if sequential:
        places = np.arange(count) * 4096
    return run_alone(parameters, places, np.full(count, 4096), np.ones(count, dtype=bool), depth=depth)


def test_a_cache_answers_at_once_until_it_is_full():
    run = cached(200)
    assert np.diff(run.completion)[:150].max() < 0.001
    assert np.diff(np.sort(run.completion))[1000:2000].mean() > 10 * np.diff(run.completion)[:150].mean()
    assert np.all(run.service > 0.0)


def test_sorting_more_extents_writes_faster_and_rotation_counts():
    few, many, elevator = (
        cached(extents, depth=8, queue_policy=policy).service[1000:2000].mean()
        for extents, policy in ((50, "sptf"), (500, "sptf"), (500, "c-look"))
    )
    assert many < few
    assert many < elevator


def test_sequential_writes_through_the_cache_reach_the_rate_of_the_medium():
    parameters = load_drive("ultrastar-he10").parameters()
    run = cached(1000, sequential=True, count=20000)
    overhead_bound = 4096 / (parameters.write_overhead_s + 4096 / 600e6)
    bound = min(parameters.zone_rates[0], overhead_bound)
    assert run.iops * 4096 == pytest.approx(bound, rel=0.05)


def emulating(places, sizes, **changes):
    """Write what a drive of 4K sectors, with tracks of 1 MB, has in its cache at once."""
    changes = {"physical_sector_bytes": 4096, "write_cache_bytes": 1 << 30, "queue_depth": 512} | changes
    parameters = DriveParameters(
        capacity_bytes=1_000_000_000, revolution_s=0.01, zone_rates=(100e6,), seekless_bytes=1_000_000,
        interface_rate=1e15, **changes,
    )  # fmt: skip
    places = np.array([0, *places])
    arrivals = np.zeros(len(places))
    writes = np.ones(len(places), dtype=bool)
    return run_alone(parameters, places, np.array([4096, *sizes]), writes, arrivals=arrivals)


def test_sectors_of_all_cached_writes_on_a_track_are_read_in_one_turn():
    # On the first track (1 MB in 10 ms) and on the second, each with gaps between the writes.
    track = 8192 + 512 + np.arange(40) * 20480
    one, two = emulating(track, [4096] * 40), emulating([*track, *(track + 1_003_520)], [4096] * 80)
    plain = emulating([*track, *(track + 1_003_520)], [4096] * 80, physical_sector_bytes=512)
    assert [np.sum(run.service > 0.01) for run in (plain, one, two)] == [0, 1, 2]
    ends = [(run.start + run.service).max() for run in (two, plain)]
    assert ends[0] - ends[1] == pytest.approx(0.02, abs=1e-6)


def test_without_a_cache_each_write_of_a_part_of_a_sector_costs_a_turn():
    run = emulating(8192 + 512 + np.arange(40) * 20480, [4096] * 40, write_cache_bytes=0)
    assert np.sum(run.service > 0.01) == 40


def test_writes_that_go_on_where_another_ends_cost_no_turn_whatever_their_alignment():
    run = emulating(4096 + np.arange(40) * 4608, [4608] * 40)
    assert np.sum(run.service > 0.01) <= 1


def test_a_cache_writes_what_is_contiguous_from_its_beginning_in_whatever_order_it_came():
    # Two tracks of 1 MB in pieces of 20K, the last first, of which the drive looks at four at a time.
    places = np.arange(1, 101)[::-1] * 20480
    alone, together = (
        emulating(places, [20480] * 100, queue_depth=4, write_coalescing=coalescing)
        for coalescing in (False, True)
    )
    turns = [(run.start + run.service).max() / 0.01 for run in (alone, together)]
    assert turns[0] > 20.0
    assert 2.0 < turns[1] < 5.0


def test_a_write_that_finds_the_cache_full_waits_for_room_not_for_all_that_is_cached():
    full, room = (
        cached(200, depth=8, write_coalescing=coalescing, queue_max_age_s=1e9) for coalescing in (False, True)
    )
    waits = [np.sort(run.completion - run.arrival)[-1] / run.service[500:].mean() for run in (full, room)]
    assert waits[0] > 50.0
    assert waits[1] < 30.0
    assert room.service[500:2500].mean() == pytest.approx(full.service[500:2500].mean(), rel=0.1)


def test_a_flush_costs_an_appending_writer_a_turn():
    for name, turns in (("generic-7200rpm-cmr", 120.0), ("generic-5400rpm-cmr", 90.0)):
        parameters, count = load_drive(name).parameters(), 300
        writes = np.arange(count) * 4096, np.full(count, 4096), np.ones(count, dtype=bool)
        flushed = run_alone(parameters, *writes, flush=True)
        assert flushed.iops == pytest.approx(turns, rel=0.02)
        assert run_alone(parameters, *writes).iops > 5 * turns


def test_a_flush_does_not_wait_for_those_that_idle_writes_wait_for():
    parameters = replace(
        load_drive("generic-7200rpm-cmr").parameters(), destage="idle", queue_policy="fcfs", queue_depth=4096
    )
    random = np.random.default_rng(3)
    count = 600
    arrivals = np.arange(count) * 0.005
    places = random.integers(0, parameters.capacity_bytes // 4096, count) * 4096
    writes = np.arange(count) == 20
    lengths = np.full(count, 4096)
    flushed, idle = (
        run_alone(parameters, places, lengths, writes, arrivals=arrivals, flush=flush)
        for flush in (True, False)
    )
    # More reads come than the drive can serve: what waits until none waits is written last.
    assert idle.start[20] > idle.completion[~writes].max() - parameters.revolution_s
    assert flushed.completion[20] < 1.0


def shingled(name="st8000as0002"):
    parameters = replace(load_drive(name).parameters(), read_segments=0)
    table, rates = drive_table([parameters])
    sizes = (parameters.smr_band_bytes, parameters.smr_cache_bytes, parameters.smr_cached_writes)
    # As kernels have it that run as plain Python (NUMBA_DISABLE_JIT=1): fields are attributes.
    record = table[0] if IS_COMPILING else Row(table[0])
    return record, rates[0], shingles_at_first(parameters), sizes, parameters


def write_all(offsets, size, name="st8000as0002"):
    count = len(offsets)
    return run_alone(load_drive(name).parameters(), offsets, np.full(count, size), np.ones(count, dtype=bool))


def test_a_stream_from_the_start_of_a_band_never_meets_the_cache():
    size, count = 1 << 20, 2000
    run = write_all(np.arange(count) * size, size)
    outer = load_drive("st8000as0002").parameters().zone_rates[0]
    assert run.cleaning == 0.0
    assert count * size / run.service.sum() == pytest.approx(outer, rel=0.02)


def test_what_is_cached_is_counted_and_cleaned_to_nothing():
    drive, rates, state, sizes, _ = shingled()
    for number in range(50):
        smr_parts(drive, rates, state, sizes, 7 * sizes[0] * number + 4096, 8192, False)
    assert (state[0][CACHED_BYTES], state[0][CACHED_WRITES]) == (50 * 8192, 50)
    seconds = 0.0
    for _ in range(50):
        seconds += clean_band(drive, rates, state, sizes[0])
    assert (state[0][CACHED_BYTES], state[0][CACHED_WRITES]) == (0, 0)
    assert state[0][CLEANED] == 50
    assert clean_band(drive, rates, state, sizes[0]) == 0.0
    assert seconds / 50 == pytest.approx(2 * sizes[0] / rates[0], rel=0.25)


def test_a_write_past_the_nominal_end_counts_as_one_of_the_last_band():
    """Drives hold a little more than their nominal capacity; the table of bands has no row for it."""
    drive, rates, state, sizes, parameters = shingled()
    smr_parts(drive, rates, state, sizes, parameters.capacity_bytes + 3 * sizes[0] + 4096, 8192, False)
    assert np.flatnonzero(state[1][0]).tolist() == [state[1].shape[1] - 1]


def test_a_write_before_the_beginning_counts_as_one_of_the_first_band():
    drive, rates, state, sizes, _ = shingled()
    for band in (1, 5, 1 << 30):
        smr_parts(drive, rates, state, sizes, 4096 - band * sizes[0], 8192, False)
    assert np.flatnonzero(state[1][0]).tolist() == [0]
    assert state[1][0, 0] == 3 * 8192


def test_random_writes_fall_to_single_digits_when_the_writes_or_the_bytes_are_used_up():
    model = load_drive("st8000as0002")
    random = np.random.default_rng(2)
    for size in (4096, 131072):
        count = 260_000 if size == 4096 else 160_000
        run = write_all(random.integers(0, model.capacity_bytes // size, count) * size, size)
        service = run.service[np.argsort(run.start)]
        full = int(np.argmax(service > 0.1))
        # The few that happen to begin a band go straight there.
        assert full == pytest.approx(min(250_000, 20_000_000_000 // size), rel=0.01)
        assert 1 / service[:full].mean() > 100
        assert 1 < 1 / service[full + 1000 : -1000].mean() < 10


def test_idle_time_cleans_and_a_short_pause_does_not():
    drive, rates, state, sizes, parameters = shingled()
    smr_parts(drive, rates, state, sizes, 10_000_000_000 + 4096, 8192, False)
    idle = parameters.smr_idle_s
    assert smr_idle(drive, rates, state, sizes, idle, 0.5 * idle) == 0.0
    assert state[0][CACHED_WRITES] == 1
    assert smr_idle(drive, rates, state, sizes, idle, 1.1 * idle) > 0.0
    assert state[0][CACHED_WRITES] == 0
    assert smr_idle(drive, rates, state, sizes, idle, 100.0) == 0.0


SSD = DriveParameters(
    capacity_bytes=10**11, kind="flash", queue_policy="fcfs", parallel_commands=8, flash_latency_min_s=100e-6,
    flash_latency_max_s=100e-6, flash_write_latency_s=50e-6, flash_read_rate=500e6, flash_write_rate=400e6,
    flash_shares_rate=True, slc_cache_bytes=10_000_000, slc_rate_after=100e6, rotating=False,
)  # fmt: skip


def written(sizes, arrivals, drive=SSD):
    lengths, writes = np.array(sizes), np.ones(len(sizes), dtype=bool)
    return run_alone(drive, np.cumsum(lengths) - lengths, lengths, writes, arrivals=np.array(arrivals))


def test_flash_follows_littles_law_and_the_rate_of_the_drive():
    assert random_iops(SSD, 1) == pytest.approx(1 / (100e-6 + 4096 / 500e6))
    assert random_iops(SSD, 64, requests=20000) == pytest.approx(8 / (100e-6 + 4096 / 500e6), rel=0.02)
    assert random_iops(SSD, 32, 131072) * 131072 == pytest.approx(500e6, rel=0.01)


def test_writes_fall_off_the_cliff_and_idle_time_restores_them():
    run = written([9_000_000, 9_000_000, 9_000_000], [0.0, 0.1, 1.5])
    assert run.service[0] == pytest.approx(50e-6 + 9_000_000 / 400e6)
    assert run.service[1] == pytest.approx(50e-6 + 9_000_000 / 100e6)
    assert run.service[2] == pytest.approx(run.service[0])


@pytest.mark.parametrize("latency", [0.0, 20e-6])
def test_a_stated_latency_of_writes_is_taken_even_if_it_is_none(latency):
    run = written([4_000_000], [0.0], replace(SSD, flash_write_latency_s=latency))
    assert run.service[0] == pytest.approx(latency + 4_000_000 / 400e6, abs=1e-9)


def test_equal_solid_state_drives_draw_latencies_of_their_own():
    drive = replace(SSD, parallel_commands=1, flash_latency_max_s=300e-6, flash_write_latency_s=-1.0)
    count = 2000
    places = np.arange(count) % 2
    leaves = [LeafModel(drive=drive), LeafModel(drive=drive)]
    lengths, reads = np.full(count, 4096), np.zeros(count, dtype=bool)
    run = run_drives(leaves, (), places, np.arange(count) // 2 * 4096, lengths, reads)
    one, two = run.service[0::2], run.service[1::2]
    assert not np.any(one == two)
    assert abs(np.corrcoef(one, two)[0, 1]) < 0.1
    for each in (one, two):
        assert each.mean() == pytest.approx(200e-6 + 4096 / 500e6, rel=0.02)
        assert abs(np.corrcoef(each[1:], each[:-1])[0, 1]) < 0.1
    again = run_drives(leaves, (), places, np.arange(count) // 2 * 4096, lengths, reads)
    assert np.array_equal(run.service, again.service)


def test_one_read_at_a_time_the_analytic_and_the_simulated_access_agree():
    parameters = load_drive("hd502hj").parameters()
    assert 1 / random_iops(parameters, 1, requests=8000) == pytest.approx(
        random_service(parameters, 4096), rel=0.02
    )


def test_more_outstanding_reads_are_never_slower_and_a_consumer_drive_gains_less():
    consumer = list(iops_by_depth(load_drive("hd103uj").parameters()).values())
    nearline = list(iops_by_depth(load_drive("generic-7200rpm-cmr").parameters()).values())
    assert all(a <= b * 1.03 for a, b in pairwise(consumer))
    assert consumer[-1] / consumer[0] == pytest.approx(1.7, abs=0.2)
    assert nearline[-1] / nearline[0] > 2.3


def test_the_profiles_are_those_of_the_parameters():
    parameters = load_drive("hd103uj").parameters()
    x, rates = rate_profile(parameters, 300)
    assert rates[0] == parameters.zone_rates[0]
    assert rates[-1] == parameters.zone_rates[-1]
    assert sequential_rate(parameters, 0.0, 1.0) == pytest.approx(
        parameters.capacity_bytes / seconds_to_read_all(parameters), rel=1e-3
    )
    assert sequential_rate(parameters, 0.9, 1e-9) == pytest.approx(rates[x > 0.9][0], rel=0.02)
    distance, seconds = seek_profile(parameters)
    assert np.all(np.diff(seconds) > 0)
    assert mean_seek(parameters) == pytest.approx(8.4e-3, rel=1e-3)
    assert mean_seek(parameters, 0.1) < 0.5 * mean_seek(parameters)
    assert len(distance) == 400


def test_a_stretch_of_a_drive_is_read_at_random_faster_than_the_whole():
    parameters = load_drive("generic-7200rpm-cmr").parameters()
    assert random_rate(parameters, 4096, 4, 0.0, 0.1) > 1.1 * random_rate(parameters, 4096, 4)
    flash = load_drive("generic-sata-ssd").parameters()
    assert random_rate(flash, 4096, 8) > 50_000
    assert rate_profile(flash)[1][0] == 540e6


@pytest.mark.parametrize("policy", ["fcfs", "c-look", "sptf"])
def test_every_request_is_served_once_and_none_overlap(policy):
    parameters = DriveParameters(
        capacity_bytes=10**12, queue_policy=policy, seek_short_a_s=0.001, seek_long_c_s=0.01, queue_depth=5
    )
    random = np.random.default_rng(4)
    offsets = random.integers(0, 10**9, 400) * 512
    arrivals = np.sort(random.uniform(0, 3, 400))
    run = run_alone(parameters, offsets, np.full(400, 65536), random.random(400) < 0.3, arrivals=arrivals)
    order = np.argsort(run.start)
    assert np.all(run.start >= run.arrival)
    assert np.all(run.start[order][1:] >= run.completion[order][:-1] - 1e-12)


def test_parallel_flash_commands_share_the_rate_of_the_drive():
    parameters = load_drive("generic-sata-ssd").parameters()
    assert random_iops(parameters, 32) == pytest.approx(8 / 85e-6, rel=0.15)
    assert random_iops(parameters, 32, 131072) * 131072 == pytest.approx(540e6, rel=0.02)


@pytest.mark.parametrize(("depth", "exact"), [(1, 83.9), (4, 110.1), (8, 131.1)])
def test_the_parametric_scheduler_gains_what_full_geometry_gains(depth, exact):
    folder = validation_directory() / "disksim-vectors" / "drives"
    parameters = load_drive(str(folder / "ibm18es.json")).parameters()
    assert random_iops(parameters, depth, requests=5000) == pytest.approx(exact, rel=0.05)


def test_a_drive_that_is_idle_reads_on_and_one_that_wrote_does_not():
    parameters = replace(load_drive("hd103uj").parameters(), write_cache_bytes=0)
    offsets, lengths = np.array([0, 131072]), np.full(2, 131072)
    arrivals = np.array([0.0, 1.0])
    read = run_alone(parameters, offsets, lengths, np.zeros(2, dtype=bool), arrivals=arrivals)
    overhead = parameters.read_overhead_s
    assert read.service[1] == pytest.approx(overhead + 131072 / parameters.interface_rate)
    after_write = run_alone(parameters, offsets, lengths, np.array([True, False]), arrivals=arrivals)
    assert after_write.service[1] >= overhead + 131072 / parameters.zone_rates[0]
