"""Read-ahead, write cache, shingles and flash: the plain functions, each against what can be said by hand."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.drives.alone import random_iops, run_alone, seconds_to_read_all
from zsim.drives.catalogue import load_drive
from zsim.drives.derived import (
    iops_by_depth,
    mean_seek,
    random_rate,
    random_service,
    rate_profile,
    seek_profile,
    sequential_rate,
)
from zsim.drives.flash import flash_command, flash_numbers, flash_run, flash_state
from zsim.drives.mechanics import drive_table
from zsim.drives.model import FlashParameters
from zsim.drives.parameters import DriveParameters
from zsim.drives.readahead import NOT_AHEAD, ahead_completion, keep_segment, segment_with
from zsim.drives.smr import (
    CACHED_BYTES,
    CACHED_WRITES,
    CLEANED,
    clean_band,
    smr_idle,
    smr_run,
    smr_sizes,
    smr_state,
    smr_write,
)
from zsim.drives.writecache import admit, dirty_place, next_destage, run_cached_writes
from zsim.scenario.catalogue import validation_directory

RATE, LINK, TURN, SEGMENT = 100e6, 300e6, 0.008, 1_000_000


def ahead(since, begin, offset, length, segment=SEGMENT, head=0):
    return ahead_completion(head, since, begin, offset, length, segment, RATE, LINK, TURN)


def test_what_the_medium_has_passed_comes_at_the_rate_of_the_link():
    assert ahead(0.0, 0.009, 0, 300_000) == pytest.approx(0.009 + 0.001)


def test_what_it_has_not_reached_comes_when_it_gets_there():
    assert ahead(0.0, 0.001, 0, 500_000) == pytest.approx(0.005)


def test_a_gap_inside_the_segment_is_read_over():
    assert ahead(1.0, 1.0, 200_000, 100_000) == pytest.approx(1.003)


def test_behind_the_segment_or_backwards_there_is_no_read_ahead():
    assert ahead(0.0, 0.0, SEGMENT + 1, 4096) == NOT_AHEAD
    assert ahead_completion(4096, 0.0, 0.0, 0, 4096, SEGMENT, RATE, LINK, TURN) == NOT_AHEAD
    assert ahead(0.0, 0.0, 0, 4096, segment=-1) == NOT_AHEAD


def test_after_a_long_pause_what_lies_beyond_the_buffer_waits_for_the_turn():
    stopped = SEGMENT / RATE
    done = ahead(0.0, 1.0, 500_000, 600_000)
    turns = np.ceil((1.0 - stopped) / TURN)
    assert done == pytest.approx(stopped + turns * TURN + 100_000 / RATE)


@given(begin=st.floats(0, 0.05), length=st.integers(1, 4_000_000), gap=st.integers(0, SEGMENT))
def test_read_ahead_is_never_faster_than_the_link_nor_than_the_medium(begin, length, gap):
    done = ahead(0.0, begin, gap, length)
    assert done >= begin + length / LINK
    assert done >= (gap + length) / RATE * (1 - 1e-12)
    assert ahead_completion.py_func(0, 0.0, begin, gap, length, SEGMENT, RATE, LINK, TURN) == done


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
    assert segment_with(segments, 3900, 50) == -1
    assert segment_with(segments, 4000, 1000) == first


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 8)), min_size=1, max_size=40))
def test_dirty_extents_cover_what_was_written_and_never_touch(writes):
    offsets, lengths = np.zeros(64, dtype=np.int64), np.zeros(64, dtype=np.int64)
    count, covered = 0, set()
    for offset, length in writes:
        count = admit.py_func(offsets, lengths, count, offset, length)
        covered |= set(range(offset, offset + length))
    held = [(int(o), int(n)) for o, n in zip(offsets[:count], lengths[:count], strict=True)]
    assert {byte for o, n in held for byte in range(o, o + n)} == covered
    assert all(a + n < b for (a, n), (b, _) in pairwise(held))


def test_destaging_takes_the_nearest_forward_or_the_quickest():
    table, rates = drive_table([load_drive("hd103uj").parameters()])
    offsets = np.array([1_000_000_000, 500_000_000_000, 900_000_000_000])
    lengths = np.full(3, 4096)
    assert dirty_place(offsets, 3, 500_000_000_000) == 1
    assert next_destage(table[0], rates[0], offsets, lengths, 3, 600_000_000_000, 0.0, 1) == 2
    assert next_destage(table[0], rates[0], offsets, lengths, 3, 950_000_000_000, 0.0, 1) == 0
    best = next_destage(table[0], rates[0], offsets, lengths, 3, 600_000_000_000, 0.0, 3)
    assert best in (1, 2)


def cached(window, limit, sequential=False, count=3000):
    model = load_drive("ultrastar-he10")
    table, rates = drive_table([model.parameters()])
    places = np.random.default_rng(1).integers(0, model.capacity_bytes // 4096, count) * 4096
    if sequential:
        places = np.arange(count) * 4096
    done = np.empty(count + 1)
    run_cached_writes(table[0], rates[0], places, 4096, 128 << 20, limit, window, done)
    return done


def test_a_cache_answers_at_once_until_it_is_full_and_a_flush_waits_for_all():
    done = cached(200, 200)
    assert done[50] < 0.02
    assert np.diff(done)[:-1][500:].mean() > 10 * np.diff(done)[:150].mean()
    assert done[-1] - done[-2] > 100 * 0.001


def test_sorting_more_extents_writes_faster_and_rotation_counts():
    few, many, elevator = (cached(w, n)[-2] for w, n in ((50, 50), (500, 500), (1, 500)))
    assert many < few
    assert many < elevator


def test_sequential_writes_through_the_cache_reach_the_rate_of_the_medium():
    done = cached(100, 100, sequential=True, count=20000)
    outer = load_drive("ultrastar-he10").parameters().zone_rates[0]
    pace = 20000 * 4096 / done[-1]
    overhead_bound = 4096 / (load_drive("ultrastar-he10").parameters().write_overhead_s + 4096 / 600e6)
    assert pace == pytest.approx(min(outer, overhead_bound), rel=0.05)


def shingled(name="st8000as0002"):
    model = load_drive(name)
    parameters = model.parameters()
    table, rates = drive_table([parameters])
    return table[0], rates[0], smr_state(parameters, model.smr()), smr_sizes(model.smr()), model.smr()


def run_smr(offsets, lengths, name="st8000as0002"):
    drive, rates, state, sizes, _ = shingled(name)
    out = np.empty(len(offsets))
    smr_run(drive, rates, state, sizes, offsets, lengths, out)
    return out, state[0]


def test_a_stream_from_the_start_of_a_band_never_meets_the_cache():
    size = 1 << 20
    count = 2000
    out, counters = run_smr(np.arange(count) * size, np.full(count, size))
    assert counters[CACHED_WRITES] == counters[CLEANED] == 0
    assert count * size / out.sum() == pytest.approx(
        load_drive("st8000as0002").parameters().zone_rates[0], rel=0.01
    )


def test_what_is_cached_is_counted_and_cleaned_to_nothing():
    drive, rates, state, sizes, _ = shingled()
    for number in range(50):
        smr_write(drive, rates, state, sizes, 7 * sizes[0] * number + 4096, 8192)
    assert (state[0][CACHED_BYTES], state[0][CACHED_WRITES]) == (50 * 8192, 50)
    seconds = 0.0
    for _ in range(50):
        seconds += clean_band(drive, rates, state, sizes[0])
    assert (state[0][CACHED_BYTES], state[0][CACHED_WRITES]) == (0, 0)
    assert clean_band(drive, rates, state, sizes[0]) == 0.0
    assert seconds / 50 == pytest.approx(2 * sizes[0] / rates[0], rel=0.25)


def test_random_writes_fall_to_single_digits_when_the_writes_or_the_bytes_are_used_up():
    model = load_drive("st8000as0002")
    random = np.random.default_rng(2)
    for size in (4096, 131072):
        count = 260_000 if size == 4096 else 160_000
        offsets = random.integers(0, model.capacity_bytes // size, count) * size
        out, _ = run_smr(offsets, np.full(count, size))
        full = int(np.argmax(out > 0.1))
        # The few that happen to begin a band go straight there.
        assert full == pytest.approx(min(250_000, 20_000_000_000 // size), rel=0.01)
        assert 1 / out[:full].mean() > 300
        assert 1 < 1 / out[full + 1000 :].mean() < 10


def test_idle_time_cleans_and_a_short_pause_does_not():
    drive, rates, state, sizes, smr = shingled()
    smr_write(drive, rates, state, sizes, 10_000_000_000 + 4096, 8192)
    assert smr_idle(drive, rates, state, sizes, smr.idle_s, 0.5 * smr.idle_s) == 0.0
    assert state[0][CACHED_WRITES] == 1
    assert smr_idle(drive, rates, state, sizes, smr.idle_s, 1.1 * smr.idle_s) > 0.0
    assert state[0][CACHED_WRITES] == 0
    assert smr_idle(drive, rates, state, sizes, smr.idle_s, 100.0) == 0.0


SSD = FlashParameters(
    read_latency_s=100e-6, write_latency_s=50e-6, read_rate=500e6, write_rate=400e6, parallel_commands=8,
    slc_cache_bytes=10_000_000, write_rate_after_cache=100e6,
)  # fmt: skip


def test_flash_follows_littles_law_and_the_rate_of_the_drive():
    numbers = flash_numbers(SSD)
    one = 1000 / flash_run(numbers, flash_state(SSD), 1, 1000, 4096, False)
    assert one == pytest.approx(1 / (100e-6 + 4096 / 500e6))
    many = 20000 / flash_run(numbers, flash_state(SSD), 64, 20000, 4096, False)
    assert many == pytest.approx(8 / (100e-6 + 4096 / 500e6), rel=0.02)
    stream = 2000 * 131072 / flash_run(numbers, flash_state(SSD), 32, 2000, 131072, False)
    assert stream == pytest.approx(500e6, rel=0.01)


def test_writes_fall_off_the_cliff_and_idle_time_restores_them():
    numbers, state = flash_numbers(SSD), flash_state(SSD)
    fast = flash_command(numbers, state, 0.0, 9_000_000, True)
    assert fast == pytest.approx(50e-6 + 9_000_000 / 400e6)
    slow = flash_command(numbers, state, fast, 9_000_000, True)
    assert slow - fast == pytest.approx(50e-6 + 9_000_000 / 100e6)
    rested = slow + 1.0
    assert flash_command(numbers, state, rested, 9_000_000, True) - rested == pytest.approx(fast)
    assert flash_command.py_func(numbers, flash_state(SSD), 0.0, 9_000_000, True) == fast


def test_flash_reads_faster_than_it_writes_after_the_cliff():
    read = flash_run(flash_numbers(SSD), flash_state(SSD), 4, 500, 1 << 20, False)
    write = flash_run(flash_numbers(SSD), flash_state(SSD), 4, 500, 1 << 20, True)
    assert 4 < write / read < 5.5


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
    parameters = load_drive("hd103uj").parameters()
    offsets, lengths = np.array([0, 131072]), np.full(2, 131072)
    arrivals = np.array([0.0, 1.0])
    read = run_alone(parameters, offsets, lengths, np.zeros(2, dtype=bool), arrivals=arrivals)
    assert read.service[1] == pytest.approx(131072 / 300e6)
    after_write = run_alone(parameters, offsets, lengths, np.array([True, False]), arrivals=arrivals)
    assert after_write.service[1] == pytest.approx(131072 / parameters.zone_rates[0])
