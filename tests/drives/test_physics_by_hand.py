"""Kernels of drives against arithmetic by hand: shingled bands, ailing drives, bounds, random numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from zsim.base.jit import IS_COMPILING
from zsim.base.plain_views import Row
from zsim.drives.catalogue import LIMITS, load_drive
from zsim.drives.derived import seek_profile
from zsim.drives.models.health import DriveHealth
from zsim.drives.models.parameters import DriveParameters
from zsim.drives.physics.ailing import ailing_time, health_table
from zsim.drives.physics.bounds import LANES, bearing_of, reach_bounds
from zsim.drives.physics.draws import mixed
from zsim.drives.physics.mechanics import drive_table, reach_time, rotational_wait, seek_time, track_angle
from zsim.drives.physics.smr import (
    CACHED_BYTES,
    CACHED_WRITES,
    CLEANED,
    HEAD,
    IN_CACHE,
    PRIOR_BYTES,
    PRIOR_WRITES,
    clean_band,
    clean_prior_band,
    rate_of_band,
    reach_of_shingled,
    rewrite_time,
    shingles_at_first,
    smr_idle,
    smr_parts,
)

MIB = 1 << 20
BAND, CACHE, WRITES = 16 * MIB, 4 * MIB, 100
SIZES = (BAND, CACHE, WRITES)
RATE = 100e6
TURN = 0.008
SHINGLED = DriveParameters(
    capacity_bytes=64 * BAND,
    revolution_s=TURN,
    zone_rates=(RATE, RATE / 2),
    seek_short_a_s=0.001,
    seek_long_c_s=0.001,
    seek_long_e_s=0.010,
    seek_knee=0.0,
    write_settle_s=0.0005,
    smr_band_bytes=BAND,
    smr_cache_bytes=CACHE,
    smr_cached_writes=WRITES,
    smr_cleaning=1.5,
)


def row(table: Any, place: int = 0) -> Any:
    """Return a record as kernels have it, compiled or as plain Python."""
    return table[place] if IS_COMPILING else Row(table[place])


def made(**changes: Any) -> tuple[Any, Any, Any]:
    drive = replace(SHINGLED, **changes)
    table, rates = drive_table([drive])
    return row(table), rates[0], shingles_at_first(drive)


def seek_s(distance: int, *, write: bool) -> float:
    """Return the seek of the drive above [s]: 1 ms and 10 ms a stroke, half a millisecond more to write."""
    return 0.001 + 0.010 * distance / SHINGLED.capacity_bytes + 0.0005 * write


def test_a_stream_from_the_beginning_of_a_band_goes_straight_to_it() -> None:
    drive, rates, state = made()
    first = smr_parts(drive, rates, state, SIZES, 2 * BAND, MIB, False)
    assert first == pytest.approx((0.0, seek_s(2 * BAND, write=True) + TURN / 2, MIB / RATE))
    goes_on = smr_parts(drive, rates, state, SIZES, 2 * BAND + MIB, MIB, False)
    assert goes_on == pytest.approx((0.0, 0.0, MIB / RATE))
    assert state[0][CACHED_WRITES] == 0
    # A gap, and it is a stream no more.
    smr_parts(drive, rates, state, SIZES, 2 * BAND + 3 * MIB, 4096, False)
    assert state[0][CACHED_WRITES] == 1


def test_a_stream_goes_on_into_the_next_band_and_zones_have_their_rates() -> None:
    drive, rates, state = made()
    begin = 31 * BAND
    smr_parts(drive, rates, state, SIZES, begin, BAND, False)
    _, reach, transfer = smr_parts(drive, rates, state, SIZES, begin + BAND, MIB, False)
    # Band 32 of 64 is the first of the second zone.
    assert (reach, transfer) == (0.0, pytest.approx(MIB / (RATE / 2)))
    assert rate_of_band(drive, rates, 31, BAND) == RATE
    assert rate_of_band(drive, rates, 32, BAND) == RATE / 2
    # Back at the beginning of a band the arm moves by the distance.
    _, reach, _ = smr_parts(drive, rates, state, SIZES, 8 * BAND, 4096, False)
    gone = begin + BAND + MIB - 8 * BAND
    assert reach == pytest.approx(seek_s(gone, write=True) + TURN / 2)


def test_what_lies_in_the_middle_of_a_band_goes_to_the_cache_at_the_rim() -> None:
    drive, rates, state = made()
    smr_parts(drive, rates, state, SIZES, 8 * BAND, MIB, False)
    head = 8 * BAND + MIB
    cleaning, reach, transfer = smr_parts(drive, rates, state, SIZES, 40 * BAND + 4096, 8192, False)
    assert cleaning == 0.0
    assert reach == pytest.approx(seek_s(head, write=True) + TURN / 2)
    assert transfer == pytest.approx(8192 / RATE), "the cache lies at the rim, whatever the band's rate"
    assert (state[0][CACHED_BYTES], state[0][CACHED_WRITES]) == (8192, 1)
    # The next one in the cache needs no arm.
    assert smr_parts(drive, rates, state, SIZES, 50 * BAND + 4096, 8192, False)[1] == 0.0
    # A band of which something is cached takes no stream: it would be older than what is cached.
    smr_parts(drive, rates, state, SIZES, 40 * BAND, MIB, False)
    assert state[0][CACHED_WRITES] == 3


def test_a_band_is_cleaned_by_reading_and_writing_it_once() -> None:
    """Skylight's read-modify-write: gather what is cached, go there and back, read the band and write it."""
    drive, rates, state = made()
    for number in range(3):
        smr_parts(drive, rates, state, SIZES, 40 * BAND + 4096 + number * MIB, 8192, False)
    half = TURN / 2
    gather = 1 * (seek_s(0, write=False) + half) + 3 * 8192 / RATE
    travel = 2 * seek_s(40 * BAND, write=False) + 0.0005 + half
    expected = 1.5 * (gather + travel + 2 * (half + BAND / (RATE / 2)))
    assert rewrite_time(drive, rates, 40, BAND, 1, 3 * 8192) == pytest.approx(expected)
    assert clean_band(drive, rates, state, BAND) == pytest.approx(expected), "one run: one after the other"
    assert state[0][CLEANED] == 1
    assert state[0][HEAD] == IN_CACHE, "it has come back, so that the next write there needs no arm"
    assert clean_band(drive, rates, state, BAND) == 0.0


def test_writes_in_turn_to_two_bands_are_runs_of_their_own() -> None:
    drive, rates, state = made()
    for number in range(6):
        smr_parts(drive, rates, state, SIZES, (3 + number % 2) * BAND + 4096 * (number + 1), 4096, False)
    expected = rewrite_time(drive, rates, 3, BAND, 3, 3 * 4096)
    assert clean_band(drive, rates, state, BAND) == pytest.approx(expected), "the oldest band, of three runs"
    assert (state[0][CACHED_BYTES], state[0][CACHED_WRITES]) == (3 * 4096, 3)
    assert state[0][HEAD] == IN_CACHE


@pytest.mark.parametrize(("length", "fitting"), [(8192, 100), (MIB, 4), (MIB + 1, 3)])
def test_the_cache_is_full_by_bytes_or_by_writes(length: int, fitting: int) -> None:
    """4 MiB or 100 writes, whichever comes first; then the oldest band is cleaned to make room."""
    drive, rates, state = made()
    for number in range(fitting):
        assert smr_parts(drive, rates, state, SIZES, (number % 60) * BAND + 4096, length, False)[0] == 0.0
    oldest = rewrite_time(
        drive, rates, 0, BAND, -(-fitting // 60), sum(length for n in range(fitting) if n % 60 == 0)
    )
    assert smr_parts(drive, rates, state, SIZES, 61 * BAND + 4096, length, False)[0] == pytest.approx(oldest)
    assert state[0][CLEANED] == 1


def test_a_cache_that_was_full_before_is_emptied_of_bands_like_those_of_the_run() -> None:
    """Its bands are as full as the run's; before there are some to judge by, they are taken as full."""
    drive, rates, state = made(smr_prior=1.0, smr_cache_bytes=3 * BAND)
    sizes, times = (BAND, 3 * BAND, WRITES), []
    for number in range(40):
        # Each band gets four writes in turn, so that bands are alike.
        place = (number // 4) * BAND + MIB * (number % 4 + 1)
        times.append(smr_parts(drive, rates, state, sizes, place, MIB, False)[0])
    assert times[0] == pytest.approx(rewrite_time(drive, rates, 0, BAND, 1, BAND))
    assert set(times[1:16]) == {0.0}, "a full band makes room for 16 MiB"
    assert state[0][CLEANED] > 1
    assert state[0][CACHED_BYTES] + state[0][PRIOR_BYTES] <= 3 * BAND
    assert max(times[1:]) == pytest.approx(rewrite_time(drive, rates, 0, BAND, 1, 4 * MIB), rel=0.01)


def test_while_there_is_nothing_to_judge_by_a_band_from_before_is_full() -> None:
    drive, rates, state = made(smr_prior=0.5)
    for number in range(4):
        smr_parts(drive, rates, state, SIZES, 4096 * (number + 1), 4096, False)
    full = rewrite_time(drive, rates, 30, BAND, 1, BAND)
    assert clean_prior_band(drive, rates, state, SIZES, 30, 8192) == pytest.approx(full)
    assert state[0][CLEANED] == 1
    assert state[0][PRIOR_BYTES] == 0, "half of the cache is less than a band"


def test_what_comes_again_in_every_txg_has_no_band_of_its_own_in_a_small_cache() -> None:
    """It takes room in the band that was begun last; a cache that holds nothing begins one for it."""
    drive, rates, state = made()
    smr_parts(drive, rates, state, SIZES, 50 * BAND + 4096, 4096, True)
    smr_parts(drive, rates, state, SIZES, 3 * BAND + 4096, 4096, False)
    for number in range(5):
        smr_parts(drive, rates, state, SIZES, (number + 10) * BAND + 4096, 4096, True)
    assert np.flatnonzero(state[1][0]).tolist() == [3, 50]
    assert (state[1][0][3], state[0][CACHED_BYTES]) == (6 * 4096, 7 * 4096)


@pytest.mark.parametrize("runs", [1, 4])
def test_a_part_of_a_band_has_its_part_of_what_a_band_has_once(runs: int) -> None:
    """Eight parts take what the whole one does, but for seeks shorter by less than a band."""
    drive, rates, _ = made()
    part, _, _ = made(smr_fixed=1 / 8)
    whole = rewrite_time(drive, rates, 5, BAND, runs, MIB)
    gathered = 1.5 * (runs - 1) * (seek_s(0, write=False) + TURN / 2)
    parts = 8 * (rewrite_time(part, rates, 40, BAND // 8, runs, MIB // 8) - gathered) + gathered
    assert parts == pytest.approx(whole)


def test_a_band_from_before_is_as_full_as_those_of_the_run() -> None:
    """Of bands with four writes of 4 KiB each, one that goes frees 16 KiB and four writes."""
    drive, rates, state = made(smr_prior=0.5)
    for number in range(20):
        smr_parts(drive, rates, state, SIZES, (number // 4) * BAND + 4096 * (number % 4 + 1), 4096, False)
    before = state[0].copy()
    assert (before[PRIOR_BYTES], before[PRIOR_WRITES]) == (CACHE // 2, WRITES // 2)
    seconds = clean_prior_band(drive, rates, state, SIZES, 30, 4096)
    assert seconds == pytest.approx(rewrite_time(drive, rates, 30, BAND, 1, 4 * 4096))
    assert before[PRIOR_BYTES] - state[0][PRIOR_BYTES] == 4 * 4096
    assert before[PRIOR_WRITES] - state[0][PRIOR_WRITES] == 4
    assert state[0][HEAD] == IN_CACHE
    assert (state[0][CACHED_BYTES], state[0][CACHED_WRITES]) == (20 * 4096, 20), "the run's own stay"


@pytest.mark.parametrize(("left", "writes"), [(10, 7000), (2 * BAND, 1), (BAND, 7000)])
def test_the_last_band_from_before_takes_what_is_left_of_bytes_and_writes(left: int, writes: int) -> None:
    """A full band of writes of 4 KiB: of 10 bytes or of one write nothing is left, nor of the other."""
    drive, rates, state = made(smr_prior=0.5)
    state[0][PRIOR_BYTES], state[0][PRIOR_WRITES] = left, writes
    clean_prior_band(drive, rates, state, SIZES, 30, 4096)
    assert (state[0][PRIOR_BYTES], state[0][PRIOR_WRITES]) == (0, 0)


def test_some_of_the_bands_from_before_are_left_while_there_are_bytes_and_writes() -> None:
    drive, rates, state = made(smr_prior=0.5)
    state[0][PRIOR_BYTES], state[0][PRIOR_WRITES] = BAND + 1, BAND // 4096 + 1
    clean_prior_band(drive, rates, state, SIZES, 30, 4096)
    assert (state[0][PRIOR_BYTES], state[0][PRIOR_WRITES]) == (1, 1)


def test_idle_time_cleans_after_a_rest_and_finishes_what_it_began() -> None:
    drive, rates, state = made()
    for band in (3, 4, 5):
        smr_parts(drive, rates, state, SIZES, band * BAND + 4096, 4096, False)
    each = rewrite_time(drive, rates, 3, BAND, 1, 4096)
    assert smr_idle(drive, rates, state, SIZES, 1.0, 1.0) == 0.0
    assert state[0][CLEANED] == 0
    assert smr_idle(drive, rates, state, SIZES, 1.0, 1.0 + each / 4) == pytest.approx(0.75 * each, rel=0.01)
    assert state[0][CLEANED] == 1
    assert smr_idle(drive, rates, state, SIZES, 1.0, 1.0 + 100 * each) == 0.0
    assert state[0][CLEANED] == 3
    assert state[0][CACHED_WRITES] == 0


def test_a_write_that_goes_on_at_the_head_comes_before_all_others() -> None:
    drive, _, _ = made()
    assert reach_of_shingled(drive, 5 * BAND, 5 * BAND) == 0.0
    there = reach_of_shingled(drive, 5 * BAND, 9 * BAND)
    assert there == pytest.approx(seek_s(4 * BAND, write=True) + TURN / 2)
    assert reach_of_shingled(drive, 9 * BAND, 5 * BAND) == there


def ailing(
    at: float = 0.0, *, write: bool = False, sound: float = 0.01, waits: float = 0.0, **ails: Any
) -> Any:
    """Return a call of the kernel for one drive, whose state goes on from call to call."""
    table, bad = health_table([DriveHealth(**ails)])
    health, failures = row(table), np.zeros(64)

    def call(
        at: float = at, offset: int = 0, length: int = 4096, *, write: bool = write, merged: int = 1
    ) -> float:
        return float(ailing_time(health, bad, failures, at, offset, length, write, merged, waits, sound))

    return call, table


def test_bad_sectors_cost_their_recovery_once() -> None:
    """A read that fails takes as long as the drive tries; what is rebuilt is written back, and is good."""
    read, table = ailing(bad_sectors=(10_000, 90_000), recovery_s=7.0)
    assert read(offset=0, length=10_000) == pytest.approx(0.01), "ends where the bad one begins"
    assert read(offset=8192, length=4096) == pytest.approx(7.01)
    assert read(offset=8192, length=4096) == pytest.approx(0.01)
    assert read(offset=0, length=100_000) == pytest.approx(7.01), "the other one"
    assert table["errors"][0] == 2
    assert table["lost"][0] == pytest.approx(14.0)


def test_a_bad_sector_that_is_written_is_good() -> None:
    read, table = ailing(bad_sectors=(10_000,), recovery_s=7.0)
    assert read(offset=8192, length=4096, write=True) == pytest.approx(0.01)
    assert read(offset=8192, length=4096) == pytest.approx(0.01)
    assert table["errors"][0] == 0


def test_two_bad_sectors_of_one_read_fail_once() -> None:
    read, table = ailing(bad_sectors=(8192, 8704), recovery_s=7.0)
    assert read(offset=8192, length=1024) == pytest.approx(7.01)
    assert table["errors"][0] == 1


@pytest.mark.parametrize(("apart", "faulted"), [(1.0, True), (10.0, False)])
def test_so_many_errors_within_the_window_fault_the_drive(apart: float, faulted: bool) -> None:
    """Three errors within 15 s: at intervals of 1 s they are, at intervals of 10 s they are not."""
    places = tuple(number * MIB for number in range(4))
    read, table = ailing(bad_sectors=places, recovery_s=0.1, fault_after=3, fault_window_s=15.0)
    for number in range(3):
        read(at=number * apart, offset=number * MIB)
    assert np.isfinite(table["faulted"][0]) == faulted
    if faulted:
        assert table["faulted"][0] == pytest.approx(2 * apart + 0.01 + 0.1)
        assert read(at=100.0) == 0.0, "it answers nothing any more"
        assert read(at=2 * apart) > 0.0
    else:
        assert read(at=100.0) > 0.0


def test_the_first_error_may_be_one_too_many() -> None:
    read, table = ailing(bad_sectors=(0,), recovery_s=0.1, fault_after=1, fault_window_s=1.0)
    read(at=3.0)
    assert table["faulted"][0] == pytest.approx(3.11)


@pytest.mark.parametrize(("merged", "after", "faulted"), [(8, 10, False), (9, 10, True), (1, 1, True)])
def test_an_aggregate_reports_one_error_more_than_it_has_parts(
    merged: int, after: int, faulted: bool
) -> None:
    """The aggregate itself and each I/O in it (OpenZFS zio.c:zio_done); one that stands alone reports one."""
    read, table = ailing(bad_sectors=(0,), recovery_s=7.0, fault_after=after, fault_delay_s=15.0)
    read(at=1.0, merged=merged)
    assert (table["errors"][0], table["reported"][0]) == (1, merged + 1 if merged > 1 else 1)
    assert table["failed_bytes"][0] == 4096
    assert np.isfinite(table["faulted"][0]) == faulted
    if faulted:
        assert table["faulted"][0] == pytest.approx(1.01 + 7.0 + 15.0)


def test_a_rule_that_has_fired_does_not_begin_anew() -> None:
    places = tuple(number * MIB for number in range(3))
    read, table = ailing(bad_sectors=places, recovery_s=7.0, fault_after=1, fault_delay_s=15.0)
    for number in range(3):
        assert (read(at=number * 8.0, offset=number * MIB) > 0.0) == (number * 8.0 < 22.01)
    assert table["faulted"][0] == pytest.approx(22.01)
    assert read(at=23.0) == 0.0


def test_never_to_fault_is_never() -> None:
    read, table = ailing(bad_sectors=tuple(n * MIB for n in range(9)), recovery_s=0.1, fault_after=0)
    for number in range(9):
        read(at=0.0, offset=number * MIB)
    assert table["errors"][0] == 9
    assert not np.isfinite(table["faulted"][0])


def test_a_spell_slows_what_is_not_waiting() -> None:
    """Always slow: a factor on the service, not on the wait for a channel that others have."""
    always = {"spell_factor": 3.0, "spell_s": 1e12, "between_s": 1e-9, "seed": 5}
    read, _ = ailing(waits=0.004, **always)
    assert read(at=1.0) == pytest.approx(0.004 + 3.0 * 0.006)
    assert read(at=1.0, write=True) == pytest.approx(0.004 + 3.0 * 0.006)


@pytest.mark.parametrize("spell_s", [1.0, 3.0])
def test_spells_take_their_share_of_the_time(spell_s: float) -> None:
    """Exponential spells of 1 or 3 s, and between them of 3 s: slow a quarter or half of the time."""
    slow = []
    for seed in range(40):
        read, _ = ailing(spell_factor=3.0, spell_s=spell_s, between_s=3.0, seed=seed)
        slow += [read(at=0.25 * step) > 0.02 for step in range(400)]
    assert np.mean(slow) == pytest.approx(spell_s / (spell_s + 3.0), abs=0.04)
    starts = [
        health_table([DriveHealth(spell_factor=3.0, spell_s=spell_s, between_s=3.0, seed=seed)])[0]
        for seed in range(400)
    ]
    assert np.mean([table["slow"][0] for table in starts]) == pytest.approx(
        spell_s / (spell_s + 3.0), abs=0.08
    )


def test_stutters_hit_their_share_of_reads_and_no_write() -> None:
    read, table = ailing(stutter_share=0.2, stutter_s=1.0, seed=3)
    times = [read() for _ in range(2000)]
    assert set(np.round(times, 9)) == {0.01, 1.0}
    assert np.mean(np.array(times) == 1.0) == pytest.approx(0.2, abs=0.03)
    assert table["stutters"][0] == sum(time == 1.0 for time in times)
    assert {read(write=True) for _ in range(100)} == {0.01}
    long, _ = ailing(stutter_share=1.0, stutter_s=0.001)
    assert long() == pytest.approx(0.01), "never quicker than a sound one"


def test_draws_are_those_of_splitmix64() -> None:
    """Against the algorithm in exact integers (Steele, Lea, Flood 2014); the known first value of seed 0."""
    mask = (1 << 64) - 1

    def splitmix(seed: int, counter: int) -> int:
        value = (seed + (counter + 1) * 0x9E3779B97F4A7C15) & mask
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
        return value ^ (value >> 31)

    assert splitmix(0, 0) == 0xE220A8397B1DCDAF
    for seed, counter in ((0, 0), (1, 0), (7, 3), (1 << 40, 12345)):
        assert mixed(seed, counter) == ((splitmix(seed, counter) >> 11) + 0.5) / 2**53


@pytest.mark.parametrize("name", ["generic-7200rpm-cmr", "hd103uj"])
@pytest.mark.parametrize("write", [False, True])
def test_bounds_lie_below_the_times_and_close_to_them(name: str, write: bool) -> None:
    """So close that few requests need the time itself, and never above it."""
    parameters = load_drive(name).parameters()
    table, rates = drive_table([parameters])
    drive, chance = row(table), np.random.default_rng(5)
    unit = 1 << int(table[0]["unit_bits"])
    places = chance.integers(0, parameters.capacity_bytes // unit - 10, 4 * LANES).astype(np.int32)
    head, at = int(parameters.capacity_bytes * 0.4) // unit * unit, 1.2345
    offsets = [int(place) * unit for place in places]
    zones = len(parameters.zone_rates)
    rate = [
        float(rates[0][min(offset * zones // parameters.capacity_bytes, zones - 1)]) for offset in offsets
    ]
    bearings = np.array(
        [bearing_of(drive, track_angle(drive, r, o), write) for r, o in zip(rate, offsets, strict=True)],
        np.float32,
    )
    assert (np.floor(bearings) == float(write)).all()
    bounds = np.empty(len(places), np.float32)
    reach_bounds(drive, places, bearings, len(places), head, at, bounds)
    times = np.array([
        reach_time(drive, r, track_angle(drive, r, o), head, at, o, write, math.inf)
        for r, o in zip(rate, offsets, strict=True)
    ])  # fmt: skip
    assert (bounds <= times).all()
    off = times - bounds
    # A bound may lose a turn where the wait is nearly none.
    assert np.mean(off < 0.01 * parameters.revolution_s) > 0.9
    assert off.max() < 1.05 * parameters.revolution_s


LARGE = replace(SHINGLED, capacity_bytes=1 << 42)
UNIT = 1 << int(drive_table([LARGE])[0][0]["unit_bits"])


@pytest.mark.parametrize(
    ("gap", "turns", "write", "ahead", "bound"),
    [
        # Without a seek the turn alone; of nearly a whole one nothing, as it may have just come.
        (0, 0.25, False, 0, 0.25 * TURN), (0, 0.9999, False, 0, 0.9999 * TURN), (0, 0.99999, False, 0, 0.0),
        (0, 0.0, False, 0, 0.0), (-1, 0.25, False, 0, 0.25 * TURN), (1, 0.25, True, 0, 0.25 * TURN),
        # A seek over one unit less than the gap, as both ends are rounded; a write settles besides.
        (-2, 0.5, False, 9, 0.001 + 0.5 * TURN), (1 << 20, 0.5, False, 9, 0.001 + 0.010 / 512 + 0.5 * TURN),
        (-(1 << 20), 0.9, True, 9, 0.0015 + 0.010 / 512 + 0.9 * TURN),
        # A gap that passes under the head takes its own time; by one unit more than that for the rounding.
        (3, 0.5, False, 10, 2 * UNIT / RATE), (11, 0.5, False, 10, 10 * UNIT / RATE),
        (12, 0.5, False, 10, 0.001 + 0.5 * TURN), (1, 0.5, True, 10, 0.0),
        (6, 0.5, True, 10, 5 * UNIT / RATE), (7, 0.5, True, 10, 0.0015 + 0.5 * TURN),
    ],
)  # fmt: skip
def test_the_bound_of_a_request_is_its_seek_and_turn_or_what_passes_under(
    gap: int, turns: float, write: bool, ahead: int, bound: float
) -> None:
    """So many units pass under the head of a read, half of them of a write; `turns` are left behind the seek."""  # noqa: E501
    passes = ahead * UNIT or -1
    table, _ = drive_table(
        [replace(LARGE, read_pass_under_bytes=passes, write_pass_under_bytes=max(-1, passes // 2))]
    )
    here, at = 1 << 21, 0.0123
    distance = (abs(gap) - 1) * UNIT / LARGE.capacity_bytes
    seek = 0.0 if abs(gap) <= 1 else 0.001 + 0.010 * distance + 0.0005 * write
    bearing = ((at + seek) / TURN + turns) % 1.0 + float(write)
    bounds = np.empty(LANES, np.float32)
    reach_bounds(
        row(table), np.full(LANES, here + gap, np.int32), np.full(LANES, bearing, np.float32), LANES,
        here * UNIT + 7, at, bounds,
    )  # fmt: skip
    assert bounds == pytest.approx(bound, abs=3e-5 * TURN)
    assert (bounds <= bound).all()


@pytest.mark.parametrize(
    ("more", "short_s", "long_s", "seek"),
    [
        # Within a ten-thousandth of the knee either branch may hold: the shorter one bounds.
        (-5e-5, 0.010, 0.003, 0.003), (5e-5, 0.010, 0.003, 0.003), (-5e-5, 0.003, 0.010, 0.003),
        (5e-5, 0.003, 0.010, 0.003), (-2e-4, 0.010, 0.003, 0.010), (2e-4, 0.003, 0.010, 0.010),
    ],
)  # fmt: skip
def test_near_the_knee_of_its_curve_a_seek_is_bounded_by_the_shorter_branch(
    more: float, short_s: float, long_s: float, seek: float
) -> None:
    drive, _ = drive_table(
        [replace(LARGE, seek_short_a_s=short_s, seek_long_c_s=long_s, seek_long_e_s=0.0, seek_knee=0.25)]
    )
    gap = round(LARGE.capacity_bytes / UNIT * 0.25 * (1.0 + more)) + 1
    bounds = np.empty(LANES, np.float32)
    bearing = np.full(LANES, (seek / TURN + 0.5) % 1.0, np.float32)
    reach_bounds(row(drive), np.full(LANES, gap, np.int32), bearing, LANES, 0, 0.0, bounds)
    assert bounds == pytest.approx(seek + 0.5 * TURN, abs=3e-5 * TURN)


def test_what_is_nearly_under_the_head_has_not_passed() -> None:
    """Rounding by less than the tolerance is no lost revolution; more than that is one."""
    drive, _, _ = made()
    assert rotational_wait(drive, 0.25, 0.0) == pytest.approx(0.25 * TURN)
    assert rotational_wait(drive, 0.0, 0.25 * TURN) == pytest.approx(0.75 * TURN)
    assert rotational_wait(drive, 0.5, 0.5 * TURN * (1 + 1e-15)) < 1e-6 * TURN
    assert rotational_wait(drive, 0.5, 0.501 * TURN) == pytest.approx(0.999 * TURN)
    assert rotational_wait(drive, 0.5, 0.51 * TURN) == pytest.approx(0.99 * TURN)
    assert rotational_wait(drive, 0.0, 7.75 * TURN) == pytest.approx(0.25 * TURN)


def test_seeks_follow_the_two_branches_of_their_curve() -> None:
    """a + b sqrt(d) below the knee, c + e d from it on; writes settle besides (Ruemmler & Wilkes 1994)."""
    parameters = replace(
        SHINGLED,
        seek_short_a_s=0.001,
        seek_short_b_s=0.004,
        seek_long_c_s=0.002,
        seek_long_e_s=0.008,
        seek_knee=0.25,
    )
    table, _ = drive_table([parameters])
    drive, stroke = row(table), parameters.capacity_bytes
    assert seek_time(drive, stroke // 16, False) == pytest.approx(0.001 + 0.004 / 4)
    assert seek_time(drive, stroke // 2, False) == pytest.approx(0.002 + 0.004)
    assert seek_time(drive, stroke // 2, True) == pytest.approx(0.006 + 0.0005)
    distance, seek = seek_profile(parameters, 8)
    assert distance.tolist() == [(2 * number + 1) / 16 for number in range(8)]
    expected = [0.001 + 0.004 * math.sqrt(d) if d < 0.25 else 0.002 + 0.008 * d for d in distance]
    assert seek == pytest.approx(expected)


def test_limits_of_numbers_hold_what_is_sold() -> None:
    """A petabyte in one drive, or a gigabyte per second and more from a platter, is a slip of the unit."""
    least, most = LIMITS["capacity"]
    assert least < 10**10
    assert 100e12 < most <= 1e16
    assert LIMITS["rotation"][0] < 3600
    assert LIMITS["rotation"][1] > 15_000


def test_a_disk_turns_7200_times_a_minute_unless_it_says_otherwise() -> None:
    assert DriveParameters(capacity_bytes=1 << 40).revolution_s == pytest.approx(1 / 120)
