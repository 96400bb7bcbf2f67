"""Mechanics of a drive against arithmetic by hand: zones, gaps, angles, partial sectors, flash, bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.drives.test_physics_by_hand import row
from zsim.base.errors import InputError
from zsim.base.jit import IS_COMPILING
from zsim.base.plain_views import Row
from zsim.drives.catalogue import load_drive
from zsim.drives.derived import random_service, rate_profile
from zsim.drives.models.generations import first_year, outer_rate, platters_in_use
from zsim.drives.models.health import SOUND, DriveHealth
from zsim.drives.models.links import Enclosure, LinkSpec
from zsim.drives.models.model import seek_curve, zone_rates
from zsim.drives.models.parameters import DriveParameters
from zsim.drives.models.slowed import RATES, TIMES, slowed
from zsim.drives.physics.ailing import health_table
from zsim.drives.physics.bounds import LANES, bearing_of, reach_bounds
from zsim.drives.physics.flash import flash_latency, flash_parts, slc_write
from zsim.drives.physics.mechanics import (
    EXTRA_BUFFER,
    EXTRA_FLASH,
    EXTRA_SHINGLED,
    drive_table,
    extras_of,
    partial_sector_turns,
    positioning,
    reach_time,
    seek_and_wait,
    service_parts,
    track_angle,
    track_around,
    zone_at,
    zone_of,
    zone_table,
)
from zsim.drives.physics.readahead import (
    END,
    FIRST,
    NOT_AHEAD,
    USED,
    buffered_read,
    keep_segment,
    read_so_far,
    reads_on,
    segment_with,
)
from zsim.drives.physics.smr import smr_bands

MIB, TURN = 1 << 20, 0.008
CAPACITY = 1 << 40
RATE = 125e6
"""A track of 1,000,000 bytes."""
PLAIN = DriveParameters(
    capacity_bytes=CAPACITY,
    revolution_s=TURN,
    zone_rates=(RATE,),
    seek_short_a_s=0.001,
    seek_short_b_s=0.008,
    seek_long_c_s=0.002,
    seek_long_e_s=0.004,
    seek_knee=0.25,
    write_settle_s=0.0005,
    physical_sector_bytes=4096,
)


def made(**changes: Any) -> Any:
    """Return the record and the rates of a drive."""
    table, rates = drive_table([replace(PLAIN, **changes)])
    return row(table), rates[0]


# --- zones


@pytest.mark.parametrize("capacity", [1000, 10**12 + 7, 3_000_592_982_016, 7 * 10**12 // 3])
@pytest.mark.parametrize("zones", [1, 3, 30, 49])
def test_the_table_of_zones_tells_the_zone_of_every_byte(capacity: int, zones: int) -> None:
    """A zone begins with the first byte of which offset * zones / capacity reaches its number."""
    drives = [replace(PLAIN, capacity_bytes=capacity, zone_rates=tuple(1e6 + n for n in range(zones)))] * 2
    table, rates = drive_table(drives)
    known = zone_table(table, rates)
    drive = row(table)
    places = known[0] if IS_COMPILING else [Row(each) for each in known[0]]
    for number in range(zones):
        first = -(-number * capacity // zones)
        assert int(known["first"][1, number]) == first
        assert known["start"][0, number] == pytest.approx(number * capacity / zones)
        assert known["turn_bytes"][0, number] == pytest.approx((1e6 + number) * TURN)
        for offset, zone in ((first, number), (first - 1, number - 1)):
            if offset >= 0:
                assert zone_at(drive, places, offset) == zone_of(drive, offset) == zone
    assert zone_at(drive, places, capacity) == zone_of(drive, capacity) == zones - 1, (
        "rounded pools end there"
    )
    if zones < 64:
        assert int(known["first"][0, zones]) == np.iinfo(np.int64).max


def test_drives_have_the_zones_of_their_own_model() -> None:
    drives = [replace(PLAIN, zone_rates=(3e6, 2e6)), PLAIN, replace(PLAIN, zone_rates=(5e6, 4e6))]
    table, rates = drive_table(drives)
    known = zone_table(table, rates)
    assert known["rate"][:, :2].tolist() == [[3e6, 2e6], [RATE, 0.0], [5e6, 4e6]]
    assert known["first"][:, 1].tolist() == [CAPACITY // 2, np.iinfo(np.int64).max, CAPACITY // 2]
    assert table["stream"].tolist() == [0, 1, 2]
    assert table["highest_rate"].tolist() == [3e6, RATE, 5e6]
    assert table["zones_per_byte"][0] == 2 / CAPACITY


@pytest.mark.parametrize(
    ("capacity", "bits"), [(1 << 29, 0), ((1 << 30) - 1, 0), (1 << 30, 1), (1 << 40, 11)]
)
def test_offsets_are_counted_in_units_of_which_a_drive_has_2_to_the_30_at_most(
    capacity: int, bits: int
) -> None:
    table, _ = drive_table([replace(PLAIN, capacity_bytes=capacity)])
    assert int(table["unit_bits"][0]) == bits
    assert capacity >> bits < 1 << 30


def test_what_a_drive_has_beyond_its_mechanics_is_a_bit_each() -> None:
    assert (EXTRA_BUFFER | EXTRA_FLASH | EXTRA_SHINGLED) == EXTRA_BUFFER + EXTRA_FLASH + EXTRA_SHINGLED
    assert extras_of(PLAIN) == 0
    assert extras_of(replace(PLAIN, kind="flash", smr_band_bytes=1)) == EXTRA_FLASH
    ahead = replace(PLAIN, read_segments=1, read_pass_under_bytes=0)
    assert extras_of(ahead) == EXTRA_BUFFER
    assert extras_of(replace(ahead, smr_band_bytes=1)) == EXTRA_BUFFER | EXTRA_SHINGLED
    assert extras_of(replace(ahead, read_pass_under_bytes=-1)) == 0
    assert extras_of(replace(ahead, read_segments=0)) == 0


# --- gaps, angles and waits


def test_a_place_lies_on_its_track_by_the_bytes_since_its_zone_began() -> None:
    drive, rates = made(zone_rates=(RATE, RATE / 2))
    assert track_angle(drive, rates[0], 2_250_000) == pytest.approx(2.25)
    assert track_angle(drive, rates[1], CAPACITY // 2 + 750_000) == pytest.approx(1.5)
    low, high = track_around(drive, RATE, 2.25, 2_250_000)
    assert (low, high) == pytest.approx((2_000_000, 3_000_000))


def test_a_gap_is_passed_under_the_head_as_far_as_the_drive_reads_on() -> None:
    drive, _ = made(read_pass_under_bytes=MIB, seekless_bytes=2 * MIB)
    for gap in (0, 4096, MIB):
        assert positioning(drive, RATE, 4096, 0.0, 4096 + gap, False) == pytest.approx((0.0, gap / RATE))
        assert reach_time(drive, RATE, 0.9, 4096, 0.0, 4096 + gap, False, math.inf) == pytest.approx(
            gap / RATE
        )
    # A byte further, and backwards, the angle decides; so it does for writes.
    wait = reach_time(drive, RATE, 0.5, 0, 0.0, MIB + 1, False, math.inf)
    assert wait == pytest.approx(0.5 * TURN)
    assert reach_time(drive, RATE, 0.5, 0, 0.0, 4096, True, math.inf) == pytest.approx(0.5 * TURN)
    assert seek_and_wait(drive, 0.5, 0, 0.0, 4096, True)[0] == 0.0
    back, _ = positioning(drive, RATE, 8192, 0.0, 4096, False)
    assert back == pytest.approx(0.001 + 0.008 * math.sqrt(4096 / CAPACITY))


def test_within_a_track_no_arm_moves_and_beyond_it_the_seek_comes_before_the_wait() -> None:
    drive, _ = made(seekless_bytes=MIB)
    assert seek_and_wait(drive, 0.1, 0, 0.0, MIB, False) == pytest.approx((0.0, 0.1 * TURN))
    # Read at 0.8 ms it would be missed while the arm moves for a millisecond and more.
    seek, wait = seek_and_wait(drive, 0.1, 0, 0.0, MIB + 1, False)
    assert seek == pytest.approx(0.001 + 0.008 * math.sqrt((MIB + 1) / CAPACITY))
    assert seek + wait == pytest.approx(1.1 * TURN)
    total = reach_time(drive, 1.0, 0.1, 0, 0.0, MIB + 1, False, math.inf)
    assert total == pytest.approx(1.1 * TURN)
    # What is known to be beaten is not worked out to the end.
    assert reach_time(drive, 1.0, 0.1, 0, 0.0, MIB + 1, False, 0.0005) == seek
    assert reach_time(drive, 1.0, 0.1, 0, 0.0, MIB + 1, False, seek) == seek


def test_a_service_is_overhead_seek_wait_and_transfer() -> None:
    """From the middle of the drive to its first byte: half a stroke, then the platter's angle."""
    drive, rates = made(phase_revolutions=0.25)
    seek = 0.002 + 0.004 * 0.5
    # It starts at 3 ms with an overhead of 1 ms: at 8 ms the platter is at 1.25 turns, and comes around at 2.
    found = service_parts(drive, rates, CAPACITY // 2, 0.003, 0.001, 0, 125_000, False, False, False)
    assert found == pytest.approx((0.001, seek, 0.75 * TURN, 0.001))
    # A write settles half a millisecond longer, and one of a part of a sector takes a turn more.
    found = service_parts(drive, rates, CAPACITY // 2, 0.003, 0.001, 0, 125_000, True, False, False)
    assert found == pytest.approx((0.001, seek + 0.0005, (0.75 - 0.0625 + 1) * TURN, 0.001))


@pytest.mark.parametrize(
    ("offset", "length", "write", "follows", "followed", "turns"),
    [
        (8192, 8192, True, False, False, 0), (8192, 6144, True, False, False, 1),
        (8192, 6144, True, False, True, 0), (8192, 6144, True, True, False, 1),
        (1024, 3072, True, False, False, 1), (1024, 3072, True, True, False, 0),
        (1024, 3072, True, False, True, 1), (1024, 1024, True, True, True, 0),
        (1024, 1024, True, False, False, 1), (1024, 1024, False, False, False, 0),
    ],
)  # fmt: skip
def test_a_write_of_a_part_of_a_sector_costs_a_turn_unless_another_goes_on_there(
    offset: int, length: int, write: bool, follows: bool, followed: bool, turns: int
) -> None:
    drive, _ = made()
    assert partial_sector_turns(drive, offset, length, write, follows, followed) == turns
    native, _ = made(logical_sector_bytes=4096)
    assert partial_sector_turns(native, offset, length, write, follows, followed) == 0.0


# --- bounds


def bound_of(
    drive: Any, gap: int, turns: float, *, write: bool = False, at: float = 0.0
) -> tuple[float, float]:
    """Return bound and time of what lies `gap` units ahead and comes by after so many turns [s]."""
    unit = 1 << 11
    head = CAPACITY // 2
    offset = head + gap * unit
    angle = turns + at / TURN
    places = np.full(LANES, offset // unit, np.int32)
    bearings = np.full(LANES, bearing_of(drive, angle, write), np.float32)
    bounds = np.empty(LANES, np.float32)
    reach_bounds(drive, places, bearings, LANES, head, at, bounds)
    assert len(set(bounds.tolist())) == 1
    return float(bounds[0]), float(reach_time(drive, RATE, angle, head, at, offset, write, math.inf))


NEAR = {"abs": 2e-4 * TURN}


def test_a_bound_is_the_seek_and_the_wait_less_a_rounding() -> None:
    """Units of 2 KiB; at 0.16 of a stroke the short branch counts (4.2 ms), at 0.49 the long one."""
    drive, _ = made()
    units = CAPACITY >> 11
    for gap, seek in ((int(0.16 * units), 0.0042), (int(-0.49 * units), 0.00396)):
        for write, settle in ((False, 0.0), (True, 0.0005)):
            least = (seek + settle) / TURN
            for turns in (0.1, 0.3, 0.7, 0.95):
                bound, time = bound_of(drive, gap, turns, write=write, at=3.21)
                expected = (turns if turns > least else turns + 1.0) * TURN
                assert time == pytest.approx(expected, rel=1e-5)
                assert bound == pytest.approx(expected, **NEAR)
                assert bound <= time


def test_within_a_track_a_bound_has_no_seek() -> None:
    """512 units: what comes by in a tenth of a turn is met; two units further it is missed for the arm."""
    drive, _ = made(seekless_bytes=MIB)
    for gap, turns in ((0, 0.1), (511, 0.1), (512, 0.1), (515, 1.1), (-3, 1.1)):
        bound, time = bound_of(drive, gap, 0.1)
        assert time == pytest.approx(turns * TURN, rel=1e-5), gap
        assert bound == pytest.approx(turns * TURN, **NEAR), gap


def test_what_passes_under_the_head_is_bounded_by_its_gap_at_the_highest_rate() -> None:
    """256 KiB take 2.1 ms; of reads as far as the drive reads on, of writes where it is said."""
    drive, _ = made(read_pass_under_bytes=MIB, seekless_bytes=0)
    bound, time = bound_of(drive, 128, 0.9)
    assert time == pytest.approx(MIB / 4 / RATE)
    assert bound == pytest.approx(127 * 2048 / RATE, rel=1e-4)
    assert bound_of(drive, 515, 0.9)[0] == pytest.approx(0.9 * TURN, **NEAR), "not beyond"
    assert bound_of(drive, 128, 0.9, write=True)[0] == pytest.approx(0.9 * TURN, **NEAR)
    writes, _ = made(write_pass_under_bytes=MIB)
    assert bound_of(writes, 128, 0.9, write=True)[0] == pytest.approx(127 * 2048 / RATE, rel=1e-4)
    assert bound_of(writes, 128, 0.9)[0] == pytest.approx(0.9 * TURN, **NEAR)
    assert bound_of(drive, -3, 0.9)[0] == pytest.approx(0.9 * TURN, **NEAR), "nor backwards"


def test_an_overhead_that_does_not_overlap_turns_the_platter() -> None:
    drive, _ = made(overhead_overlaps=False, read_overhead_s=TURN / 4, write_overhead_s=TURN / 2)
    assert bearing_of(drive, 3.6, False) == pytest.approx(0.35)
    assert bearing_of(drive, 3.6, True) == pytest.approx(1.1)
    hidden, _ = made(read_overhead_s=TURN / 4, write_overhead_s=TURN / 2, phase_revolutions=0.5)
    assert bearing_of(hidden, 3.6, False) == pytest.approx(0.1)
    assert bearing_of(hidden, 3.6, True) == pytest.approx(1.1)
    assert bearing_of(hidden, 3.5, True) == 1.0, "a write at once is a write"
    places, bounds = np.full(LANES, 1 << 28, np.int32), np.empty(LANES, np.float32)
    reach_bounds(hidden, places, np.ones(LANES, np.float32), LANES, 0, 0.0, bounds)
    # Its seek of 3.5 ms with the settling is longer than no turn: it comes by after one.
    assert bounds[0] == pytest.approx(TURN, **NEAR)


# --- flash


@pytest.mark.parametrize(
    ("used", "idle", "length", "found"),
    [
        (0.0, 0.0, 100, (5.0, 100.0)), (900.0, 0.0, 100, (5.0, 1000.0)), (901.0, 0.0, 100, (2.0, 901.0)),
        (901.0, 1.0, 100, (5.0, 999.0)), (901.0, 9999.0, 100, (5.0, 100.0)), (901.0, -5.0, 100, (2.0, 901.0)),
    ],
)  # fmt: skip
def test_a_fast_region_takes_what_fits_and_rest_empties_it(
    used: float, idle: float, length: int, found: tuple[float, float]
) -> None:
    """1,000 bytes at 5 a second, then 2 a second, at which idle time frees it too."""
    assert slc_write(used, idle, length, 1000.0, 5.0, 2.0) == found
    assert slc_write(used, idle, length, 0.0, 5.0, 2.0) == (5.0, 0.0), "no region: always so fast"


def test_flash_waits_for_its_channel_once_its_latency_is_over() -> None:
    """A read of 10 us and 2 us of overhead at 100 us, with the channel taken until 150 us: 38 us of wait."""
    shared: dict[str, Any] = {
              "kind": "flash", "flash_latency_min_s": 1e-5, "flash_latency_max_s": 1e-5,
              "flash_read_rate": 1e9,
              "flash_write_rate": 5e8, "flash_shares_rate": True}  # fmt: skip
    drive, _ = made(**shared)
    found = flash_parts(drive, 0.0, 150e-6, 100e-6, 2e-6, 3, 4096, False)
    assert found == pytest.approx((12e-6, 38e-6, 4096 / 1e9, 0.0))
    assert flash_parts(drive, 0.0, 111e-6, 100e-6, 2e-6, 3, 4096, False)[1] == 0.0
    write = flash_parts(drive, 0.0, 0.0, 100e-6, 2e-6, 3, 4096, True)
    assert write == pytest.approx((12e-6, 0.0, 4096 / 5e8, 0.0)), (
        "a write has a read's latency where none is said"
    )
    stated, _ = made(**shared, flash_write_latency_s=5e-6)
    assert flash_parts(stated, 0.0, 0.0, 100e-6, 2e-6, 3, 4096, True)[0] == pytest.approx(7e-6)
    assert flash_parts(stated, 0.0, 0.0, 100e-6, 2e-6, 3, 4096, False)[0] == pytest.approx(12e-6)
    alone, _ = made(**{**shared, "flash_shares_rate": False})
    assert flash_parts(alone, 0.0, 1.0, 100e-6, 2e-6, 3, 4096, False)[1] == 0.0
    region, _ = made(**shared, slc_cache_bytes=10_000, slc_rate_after=1e8)
    assert flash_parts(region, 8000.0, 0.0, 0.0, 0.0, 3, 4096, True)[2:] == pytest.approx(
        (4096 / 1e8, 8000.0)
    )
    assert flash_parts(region, 8000.0, 0.0, 1.0, 0.0, 3, 4096, True)[2:] == pytest.approx(
        (4096 / 5e8, 4096.0)
    )


def test_latencies_of_flash_are_even_between_their_ends() -> None:
    drive, _ = made(kind="flash", flash_latency_min_s=1e-5, flash_latency_max_s=3e-5)
    found = np.array([flash_latency(drive, number) for number in range(2000)])
    assert 1e-5 < found.min() < 1.01e-5
    assert 2.99e-5 < found.max() < 3e-5
    assert found.mean() == pytest.approx(2e-5, rel=0.02)


# --- read-ahead


def test_a_drive_has_read_on_as_long_as_it_was_left_to() -> None:
    """100 bytes a second from second 10 on, 1,000 at most."""
    assert read_so_far(5000, 10.0, 13.0, 1000, 100.0) == 5300
    assert read_so_far(5000, 10.0, 30.0, 1000, 100.0) == 6000
    assert read_so_far(5000, 10.0, 9.0, 1000, 100.0) == 5000
    assert read_so_far(5000, 0.0, 2.0, 1000, 100.0) == 5200
    assert read_so_far(5000, -1.0, 99.0, 1000, 100.0) == 5000, "it does not"
    assert [reads_on(1000, end, 800) for end in (599, 600, 1000, 1001)] == [False, True, True, False]


def buffered(offset: int, length: int, begin: float, since: float = 10.0) -> tuple[Any, Any]:
    segments = np.zeros((2, 3), np.int64)
    return buffered_read(segments, 5000, since, begin, offset, length, 1000, 100.0, 1000.0, 7), segments


def test_a_read_where_the_drive_is_at_work_waits_for_the_medium_or_the_link() -> None:
    """It reads 100 bytes a second, gives 1,000 a second; 200 behind the head have been read at 12 s."""
    found, segments = buffered(5000, 200, 15.0)
    assert found == pytest.approx((15.2, 5200, 12.0))
    assert segments[0].tolist() == [5000, 5200, 7]
    assert buffered(5500, 200, 11.0)[0] == pytest.approx((17.0, 5700, 17.0)), "a gap is read over"
    assert buffered(6000, 100, 11.0)[0] == pytest.approx((21.0, 6100, 21.0)), "as far as it reads on"


def test_where_it_rests_only_what_is_stored_is_given() -> None:
    """At 20 s it has read its 1,000 bytes: up to 6,000."""
    found, segments = buffered(5000, 200, 20.0)
    assert found == pytest.approx((20.2, 6000, -1.0))
    assert segments[0].tolist() == [5000, 6000, 7]
    found, segments = buffered(9000, 200, 13.0)
    assert found == (NOT_AHEAD, 5000, 10.0)
    assert segments[0].tolist() == [5000, 5300, 7], "what it has read is stored all the same"
    assert buffered(9000, 200, 21.0)[0] == (NOT_AHEAD, 6000, -1.0)
    found, segments = buffered(5000, 200, 13.0, since=-1.0)
    assert found == (NOT_AHEAD, 5000, -1.0)
    assert not segments.any()


def test_a_segment_holds_whole_requests_and_as_much_before_as_is_read_ahead() -> None:
    segments = np.zeros((3, 3), np.int64)
    assert keep_segment(segments, 1000, 1100, 200, 1) == 0, "of several unused the first"
    assert keep_segment(segments, 5000, 5100, 200, 2) == 1
    assert keep_segment(segments, 1100, 1500, 200, 3) == 0, "it goes on"
    assert segments[0].tolist() == [1100, 1500, 3], "400 bytes at most"
    assert keep_segment(segments, 1200, 1300, 200, 4) == 0
    assert segments[0].tolist() == [1100, 1500, 4], "what lies inside makes it no shorter"
    assert keep_segment(segments, 9000, 9100, 200, 5) == 2
    assert keep_segment(segments, 7000, 7900, 200, 6) == 1, "the one unused for longest"
    assert segments[1, [FIRST, END, USED]].tolist() == [7500, 7900, 6]
    assert segment_with(segments, 1100, 400) == 0
    assert segment_with(segments, 1099, 10) == segment_with(segments, 1490, 11) == -1


# --- what models say


def test_of_a_drive_of_which_nothing_is_said_nothing_special_is_taken() -> None:
    """A disk of 7200 rpm with a queue of 32 as SATA has it, and none of the mechanisms that are stated."""
    plain = DriveParameters(capacity_bytes=10**12)
    assert (plain.kind, plain.revolution_s, plain.rotating) == ("mechanical", pytest.approx(60 / 7200), True)
    assert (plain.zone_rates, plain.interface_rate) == ((150e6,), 300e6)
    assert (plain.seek_short_a_s, plain.seek_long_c_s, plain.seek_knee) == (0.001, 0.001, 0.25)
    assert (plain.queue_depth, plain.queue_policy, plain.queue_max_age_s) == (32, "sptf", 0.5)
    assert (plain.physical_sector_bytes, plain.logical_sector_bytes, plain.parallel_commands) == (512, 512, 1)
    assert (plain.read_pass_under_bytes, plain.write_pass_under_bytes) == (-1, -1), "the angle decides"
    assert plain.flash_write_latency_s < 0, "that of reads"
    assert (plain.flash_read_rate, plain.flash_write_rate, plain.slc_rate_after) == (500e6,) * 3
    assert (plain.smr_idle_s, plain.smr_cleaning, plain.smr_fixed) == (1.0, 1.0, 1.0)
    assert (plain.destage, plain.smr_reduced) == ("queue", False)
    nothing = (
        "phase_revolutions", "seek_short_b_s", "seek_long_e_s", "write_settle_s", "read_overhead_s",
        "write_overhead_s", "read_segments", "seekless_bytes", "write_cache_bytes", "flash_latency_min_s",
        "flash_latency_max_s", "slc_cache_bytes", "smr_band_bytes", "smr_cache_bytes", "smr_cached_writes",
        "smr_prior",
    )  # fmt: skip
    assert {getattr(plain, name) for name in nothing} == {0}


def test_a_slow_drive_takes_its_factor_in_every_respect() -> None:
    drive = replace(
        PLAIN, zone_rates=(200e6, 100e6), read_overhead_s=0.002, flash_write_latency_s=1e-5,
        flash_latency_min_s=2e-5,
    )  # fmt: skip
    slow = slowed(drive, 4.0)
    assert slow.zone_rates == (50e6, 25e6)
    for name in TIMES:
        assert getattr(slow, name) == pytest.approx(4 * getattr(drive, name)), name
    for name in RATES:
        assert getattr(slow, name) == pytest.approx(getattr(drive, name) / 4), name
    assert slow.flash_write_latency_s == pytest.approx(4e-5)
    assert slowed(PLAIN, 4.0).flash_write_latency_s == -1.0, "that of reads stays that of reads"
    assert slow.capacity_bytes == drive.capacity_bytes


def test_a_drive_is_sound_unless_it_stutters_has_spells_or_bad_sectors() -> None:
    assert SOUND.is_sound
    assert DriveHealth(recovery_s=7.0, fault_after=3, seed=5).is_sound, "nothing happens to recover from"
    for ails in ({"stutter_share": 0.1}, {"spell_factor": 2.0}, {"spell_factor": 0.5}, {"bad_sectors": (0,)}):
        assert not DriveHealth(**ails).is_sound  # type: ignore[arg-type]


def test_drives_that_ail_alike_share_a_row_and_others_have_theirs() -> None:
    one, two = DriveHealth(stutter_share=0.1, stutter_s=1.0), DriveHealth(stutter_share=0.2, stutter_s=2.0)
    table, places = health_table([one, two, two, SOUND])
    assert table["stutter_share"].tolist() == [0.1, 0.2, 0.2, 0.0]
    assert table["ails"].tolist() == [1, 1, 1, 0]
    assert np.isinf(table["faulted"]).all()
    assert places.tolist() == [0, 0]
    alike, _ = health_table([one, two, one, one])
    assert alike["stutter"].tolist() == [1.0, 2.0, 1.0, 1.0]
    bad = DriveHealth(bad_sectors=(9, 4), fault_after=99)
    table, places = health_table([bad, SOUND, bad])
    assert table["first_bad"].tolist() == [0, 2, 2]
    assert table["end_bad"].tolist() == [2, 2, 4]
    assert places[::2].tolist() == [4, 9, 4, 9]
    assert table["fault_after"].tolist() == [64, 0, 64], "what a window can count"


def test_rates_fall_by_the_square_root_and_the_whole_takes_its_integral() -> None:
    """Half the rate inside: reading all takes 4/3 of what it takes at the outer rate."""
    rates = zone_rates(100.0, 0.5, 4)
    assert sum(0.25 / rate for rate in rates) == pytest.approx(2 * (1 - 0.5) / (0.75 * 100))
    first = 2 * (1 - math.sqrt(1 - 0.25 * 0.75)) / (0.75 * 100)
    assert rates[0] == pytest.approx(0.25 / first)
    assert list(rates) == sorted(rates, reverse=True)
    assert zone_rates(100.0, 1.0, 3) == (100.0,) * 3


@pytest.mark.parametrize(
    ("track", "average", "full", "knee"), [(1.0, 8.5, 18.0, 0.25), (0.0, 9.0, 17.0, 0.4)]
)
def test_a_seek_curve_has_the_three_figures_that_were_published(
    track: float, average: float, full: float, knee: float
) -> None:
    """One track, the full stroke, and the mean over pairs of random places; both pieces meet at the knee."""
    a, b, c, e = seek_curve(track, average, full, knee)
    assert (a, c + e) == pytest.approx((track, full))
    assert a + b * math.sqrt(knee) == pytest.approx(c + e * knee)
    d = (np.arange(100_000) + 0.5) / 100_000
    seek = np.where(d < knee, a + b * np.sqrt(d), c + e * d)
    assert float(np.mean(2 * (1 - d) * seek)) == pytest.approx(average, rel=1e-5)
    for wrong in ((average, track, full), (track, full, average), (track, full, full), (-1.0, average, full)):
        with pytest.raises(InputError, match="seek_average"):
            seek_curve(*wrong, knee)
    with pytest.raises(InputError, match="1e\\+03, 8.5e\\+03, 9e\\+03 ms"):
        seek_curve(1.0, 8.5, 9.0, 0.25)


def test_the_inner_ratio_of_a_measured_drive_acts_gradually_inwards(tmp_path: Any) -> None:
    measured = replace(PLAIN, zone_rates=(300e6, 200e6, 100e6))
    drive = replace(load_drive("hd103uj"), measured=measured)
    assert drive.parameters(inner_ratio=0.5).zone_rates == pytest.approx((300e6, 150e6, 50e6))
    single = replace(drive, measured=replace(PLAIN, zone_rates=(300e6,)))
    assert single.parameters(inner_ratio=0.5).zone_rates == (300e6,)
    for capacity in (0, -5):
        with pytest.raises(InputError, match="positive"):
            drive.with_capacity(capacity)


def test_random_reads_of_a_stretch_have_the_pace_of_its_zones() -> None:
    """Half of it at 200 MB/s, half at 100: 7.5 ns a byte on average; a seek over half the drive."""
    drive = replace(PLAIN, zone_rates=(200e6, 100e6), seek_knee=0.0, seek_long_e_s=0.0)
    found = random_service(drive, 10**6, 0.25, 0.5)
    assert found == pytest.approx(0.002 + TURN / 2 + 10**6 * 7.5e-9, rel=1e-6)
    assert random_service(drive, 10**6, 0.5, 0.5) == pytest.approx(0.002 + TURN / 2 + 0.01, rel=1e-3)
    assert rate_profile(drive, 4)[1].tolist() == [200e6, 200e6, 100e6, 100e6]


def test_bands_of_a_shingled_drive_cover_it() -> None:
    assert smr_bands(PLAIN) == 0
    assert smr_bands(replace(PLAIN, smr_band_bytes=CAPACITY)) == 1
    assert smr_bands(replace(PLAIN, smr_band_bytes=CAPACITY // 3)) == 4


def test_platters_in_use_are_of_the_years_in_which_the_drives_were_bought() -> None:
    """Of 1 TB drives none is designed before the capacity appeared; a drive holds whole platters."""
    for year in (2010, 2015, 2020):
        found = platters_in_use(10**12, year)
        counts = [10**12 / each for each in found]
        assert counts == pytest.approx([round(each) for each in counts])
        assert len(found) == len(platters_in_use(4e12, year))
    assert platters_in_use(10**12, 1990) == platters_in_use(10**12, first_year(10**12) - 1)
    # The geometric mean: of platters of 0.25 TB at a square root half the rate of those of 1 TB.
    only = platters_in_use(10**12, 1990)
    assert len(set(only)) == 1
    assert outer_rate(10**12, 1990, 200e6, 0.5) == pytest.approx(200e6 * math.sqrt(only[0] / 1e12))


def test_bays_fill_in_order_of_the_tree() -> None:
    def link(name: str, bays: int, *children: LinkSpec, switching: Any = "fis") -> LinkSpec:
        return LinkSpec(
            name=name, rate=3e8, per_command_s=0.0, switching=switching, bays=bays, children=children
        )

    root = link("hba", 1, link("a", 2, link("deep", 1)), link("b", 1, switching="command"))
    box = Enclosure(name="box", title="", note="", root=root, rate_spread=0.0, sources=())
    assert [(flat.link.name, flat.parent) for flat in box.flatten()] == [
        ("hba", -1), ("a", 0), ("deep", 1), ("b", 0),
    ]  # fmt: skip
    assert (box.bays, box.attach(5), box.attach(2), box.attach(0)) == (5, (0, 1, 1, 2, 3), (0, 1), ())
    assert [flat.link.command_based for flat in box.flatten()] == [False, False, False, True]
    with pytest.raises(InputError, match="it has 5 bays"):
        box.attach(6)
