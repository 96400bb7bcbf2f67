"""Drives with full track geometry against arithmetic by hand: a toy of ten sectors a track."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.drives.disksim.parametric import _fit_seek_curve, _sampled_moves, drive_from_tracks, fit_parametric
from zsim.drives.disksim.track_files import track_drive
from zsim.drives.disksim.track_queue import DRIVE_SLOTS, POLICIES, run_queue
from zsim.drives.disksim.tracks import locate, move_seconds, sectors_until, seek_seconds, serve, serve_each

TURN = 0.010
ZONES = [
    {
        "first_cyl": 0, "sectors_per_track": 10, "first_lbn": 0, "lbn_count": 55,
        "reserved_sectors_at_front": 3, "spare_sectors": 0,
        "track_skew_sectors": 2.0, "cyl_skew_sectors": 3.0, "first_block_offset_sectors": 1.0,
    },
    {
        "first_cyl": 3, "sectors_per_track": 8, "first_lbn": 55, "lbn_count": 32,
        "reserved_sectors_at_front": 0, "spare_sectors": 0,
        "track_skew_sectors": 1.0, "cyl_skew_sectors": 2.0, "first_block_offset_sectors": 0.5,
    },
]  # fmt: skip
TOY: dict[str, Any] = {
    "name": "toy",
    "description": "A toy",
    "sector_bytes": 512,
    "lbn_total": 87,
    "cylinders": 5,
    "surfaces": 2,
    "rpm": 6000,
    "mapping": "serpentine_zone_relative",
    "head_switch_ms": 1.2,
    "write_settle_ms": 2.2,
    "zero_latency": False,
    "seek": {"form": "piecewise_linear", "points_cyl_ms": [[2, 1.0], [4, 2.0], [8, 6.0]]},
    "spares": {"scheme": "none"},
    "zones": ZONES,
    "overheads_ms": {"read_command": 1.0, "write_command": 4.0},
}


def toy(**changes: Any) -> Any:
    """Return the toy as the reader makes it of its file."""
    return track_drive({**copy.deepcopy(TOY), **changes}, "toy.json")


def one_zone(**changes: Any) -> Any:
    """Return a drive of one zone; `changes` are those of the zone, by their names in the file."""
    zone = {**ZONES[0], "lbn_count": 72, "reserved_sectors_at_front": 0, **changes}
    return {"zones": [zone], "lbn_total": zone["lbn_count"]}


def test_what_stands_in_the_file_is_read_in_si() -> None:
    drive = toy(zero_latency=True)
    assert (drive.name, drive.description, drive.cylinders) == ("toy", "A toy", 5)
    assert (drive.capacity_bytes, drive.geometry.surfaces) == (87 * 512, 2)
    assert (drive.read_overhead_s, drive.write_overhead_s) == (0.001, 0.004)
    assert drive.geometry.revolution == pytest.approx(TURN)
    assert (drive.geometry.head_switch, drive.geometry.write_settle) == pytest.approx((0.0012, 0.0022))
    assert (drive.geometry.serpentine, drive.geometry.zero_latency) == (1, 1)
    plain = toy(mapping="forward")
    assert (plain.geometry.serpentine, plain.geometry.zero_latency) == (0, 0)
    without = copy.deepcopy(TOY)
    del without["zero_latency"], without["name"], without["description"]
    assert track_drive(without, "toy9.json").name == "toy9", "the name of the file where it has none"
    assert track_drive(without, "toy9.json").geometry.zero_latency == 0


@pytest.mark.parametrize(
    ("cylinders", "ms"), [(0, 0), (1, 1), (2, 1), (3, 1.5), (4, 2), (6, 4), (8, 6), (10, 8)]
)
def test_seek_points_are_joined_by_lines(cylinders: int, ms: float) -> None:
    """Below the first point the seek is as long as there, beyond the last the last line goes on."""
    assert seek_seconds(toy().geometry, cylinders) == pytest.approx(ms * 1e-3)


@pytest.mark.parametrize(
    ("lbn", "cylinder", "head", "sector", "angle", "sectors", "left"),
    [
        # Behind three reserved sectors, and one more as the offset of the first block.
        (0, 0, 0, 3, 0.4, 10, 7),
        (6, 0, 0, 9, 0.0, 10, 1),
        # The next surface is two sectors on.
        (7, 0, 1, 0, 0.3, 10, 10),
        # The next cylinder three more; there the heads are used in reverse.
        (17, 1, 1, 0, 0.6, 10, 10),
        (30, 1, 0, 3, 0.1, 10, 7),
        # Even cylinders use them forward; the last blocks of a zone are fewer than their track holds.
        (37, 2, 0, 0, 0.1, 10, 10),
        (54, 2, 1, 7, 0.0, 10, 1),
        (55, 3, 0, 0, 0.5 / 8, 8, 8),
        (86, 4, 0, 7, 3.5 / 8, 8, 1),
    ],
)
def test_a_block_lies_where_the_rules_of_zones_skews_and_reserves_put_it(
    lbn: int, cylinder: int, head: int, sector: int, angle: float, sectors: int, left: int
) -> None:
    found = locate(toy().geometry, lbn)
    assert found[:3] == (cylinder, head, sector)
    assert 0.0 <= found[3] < 1.0
    assert math.remainder(found[3] - angle, 1.0) == pytest.approx(0.0, abs=1e-9)
    assert found[4:] == (sectors, left)


def test_heads_go_forward_on_every_cylinder_without_serpentines() -> None:
    assert [locate(toy(mapping="forward").geometry, lbn)[1] for lbn in (0, 7, 17, 30)] == [0, 1, 0, 1]
    # With them they turn on each odd cylinder; these hold twenty blocks.
    assert [locate(toy(**one_zone()).geometry, lbn)[1] for lbn in (0, 20, 40, 60)] == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("lbn", "place", "left"),
    [(30, (1, 1, 0), 6), (35, (1, 1, 5), 1), (36, (2, 0, 0), 10), (71, (3, 1, 5), 1)],
)
def test_spares_at_the_end_of_a_range_are_passed_over(
    lbn: int, place: tuple[int, int, int], left: int
) -> None:
    """Of two cylinders of 40 sectors four are spare: block 36 begins the next range."""
    zone = one_zone(spare_sectors=4)
    spares = {"scheme": "per_range_end", "range_cylinders": 2}
    found = locate(toy(mapping="forward", spares=spares, **zone).geometry, lbn)
    assert (found[:3], found[5]) == (place, left)
    # In ranges of one cylinder, block 16 begins the next.
    single = toy(mapping="forward", spares={**spares, "range_cylinders": 1}, **zone).geometry
    assert [locate(single, block)[:3] for block in (15, 16)] == [(0, 1, 5), (1, 0, 0)]
    # Where the spares lie at the end of the zone, blocks go on.
    ends = locate(toy(mapping="forward", spares={"scheme": "zone_end"}, **zone).geometry, 36)
    assert ends[:3] == (1, 1, 6)


def test_a_move_is_a_seek_or_a_switch_whichever_is_longer_and_writes_settle() -> None:
    geometry = toy().geometry
    assert move_seconds(geometry, 3, 1, 3, 1, True) == 0.0, "it stays where it is"
    assert move_seconds(geometry, 3, 1, 3, 0, False) == pytest.approx(0.0012)
    assert move_seconds(geometry, 3, 1, 1, 1, False) == pytest.approx(0.001)
    assert move_seconds(geometry, 3, 1, 1, 0, False) == pytest.approx(0.0012)
    assert move_seconds(geometry, 1, 0, 5, 1, False) == pytest.approx(0.002)
    assert move_seconds(geometry, 1, 0, 5, 1, True) == pytest.approx(0.0042)


def test_a_sector_just_met_has_not_passed() -> None:
    """Recorded angles are rounded: within a ten thousandth of a sector it is the same place."""
    assert sectors_until(0.1, 0.4, 10) == pytest.approx(3.0)
    assert sectors_until(0.4, 0.1, 10) == pytest.approx(7.0)
    assert sectors_until(0.5, 0.5, 10) == 0.0
    assert sectors_until(0.5 + 0.9e-5, 0.5, 10) == 0.0
    assert sectors_until(0.5 + 1.1e-5, 0.5, 10) == pytest.approx(10 - 1.1e-4)


def cost(geometry: Any, angle: float, lbn: int, count: int, *, write: bool = False) -> Any:
    """Return seek, wait and transfer [ms] from cylinder 0, head 0, and where the arm is left."""
    found = serve(geometry, 0, 0, angle, lbn, count, write)
    return tuple(1e3 * seconds for seconds in found[3:6]), found[6:]


def test_one_track_costs_seek_wait_and_its_sectors() -> None:
    """A sector takes a millisecond: three until block 0 comes, five to read five."""
    parts, end = cost(toy().geometry, 0.1, 0, 5)
    assert (parts, end) == (pytest.approx((0.0, 3.0, 5.0)), (0, 0))
    # Two cylinders on, seek and switch at once: 1.2 ms; from 0.22 of a turn on it waits for block 47 at 0.3.
    parts, end = cost(toy().geometry, 0.1, 47, 1)
    assert (parts, end) == (pytest.approx((1.2, 0.8, 1.0)), (2, 1))
    parts, _ = cost(toy().geometry, 0.1, 47, 1, write=True)
    assert parts == pytest.approx((3.4, 8.6, 1.0)), "the settling made it miss the sector"


def test_the_next_track_costs_a_switch_and_what_the_skew_leaves() -> None:
    """Seven sectors from 0.4 on, a switch to 1.22; the next track begins at 0.3, 0.8 ms later."""
    parts, end = cost(toy().geometry, 0.1, 0, 10)
    assert (parts, end) == (pytest.approx((0.0, 3.0, 7 + 1.2 + 0.8 + 3)), (0, 1))
    parts, _ = cost(toy().geometry, 0.1, 0, 10, write=True)
    assert parts == pytest.approx((0.0, 3.0, 7 + 3.4 + 8.6 + 3)), "a turn is lost where the skew is short"
    # Over a whole track and a cylinder: another switch, and the third track begins at 0.6.
    parts, end = cost(toy().geometry, 0.1, 0, 18)
    assert (parts, end) == (pytest.approx((0.0, 3.0, 12 + 7 + 1.2 + 1.8 + 1)), (1, 1))


def test_requests_are_served_each_from_its_own_place() -> None:
    """The two above from other cylinders and at other times: target, then seek, wait and transfer."""
    lbns, counts, out = np.array([0, 47]), np.array([5, 1]), np.empty((2, 6))
    arm = np.array([0, 0])
    serve_each(toy().geometry, arm, arm, np.array([0.1, 0.1]), lbns, counts, np.array([False, True]), out)
    assert out[0] == pytest.approx([0, 0, 3, 0, 0.003, 0.005])
    assert out[1] == pytest.approx([2, 1, 0, 0.0034, 0.0086, 0.001])


@pytest.mark.parametrize(
    ("wait", "parts"),
    [(3.0, (3.0, 7.0)), (3.5, (3.5, 7.0)), (4.0, (0.0, 10.0)), (4.25, (0.25, 10.0)), (9.5, (0.5, 10.0))],
)
def test_zero_latency_begins_in_the_middle_where_it_has_missed_the_beginning(
    wait: float, parts: tuple[float, float]
) -> None:
    """Seven sectors: having missed all seven there is nothing to begin with; of six or less, one turn."""
    (_, *found), _ = cost(toy(zero_latency=True).geometry, 0.4 - wait / 10, 0, 7)
    assert found == pytest.approx(parts)


def served(
    lbns: list[int], arrivals: list[float] | int, policy: str = "fcfs", *, host: bool = False, **given: Any
) -> tuple[list[int], list[float], list[float], list[float]]:
    """Return order, arrivals, starts and ends [ms] of requests of one sector; a number is a depth."""
    drive, count = given.get("drive") or toy(), len(lbns)
    depth = arrivals if isinstance(arrivals, int) else 0
    times = np.zeros(count) if isinstance(arrivals, int) else np.array(arrivals) * 1e-3
    order, starts, ends = np.empty(count, dtype=np.int64), np.empty(count), np.empty(count)
    run_queue(
        drive.geometry, POLICIES[policy], depth, host, np.array(lbns), np.ones(count, dtype=np.int64),
        np.array(given.get("writes", [False] * count)), times,
        1e-3 * np.array(given.get("overheads", (1.0, 4.0))), order, starts, ends,
    )  # fmt: skip
    return order.tolist(), *((1e3 * each).tolist() for each in (times, starts, ends))


def test_an_idle_drive_takes_the_overhead_before_the_seek() -> None:
    """Block 0 comes by at 0.4 of a turn: read after 1 ms, it waits 3; written after 4 ms, none."""
    _, _, starts, ends = served([0], [0.0])
    assert (starts, ends) == (pytest.approx([1.0]), pytest.approx([5.0]))
    _, _, starts, ends = served([0], [0.0], writes=[True])
    assert (starts, ends) == (pytest.approx([4.0]), pytest.approx([5.0]))
    _, _, starts, ends = served([0, 1], [0.0, 12.0])
    assert (starts, ends) == (pytest.approx([1.0, 13.0]), pytest.approx([5.0, 16.0]))


def test_the_arm_stays_where_a_request_has_left_it() -> None:
    """Block 47 lies on head 1 of cylinder 2: 1 + 1.2 + 0.8 + 1 ms; then block 48 passes at once, at 0.4."""
    assert served([47, 48], [0.0, 0.0])[3] == pytest.approx([4.0, 5.0])
    # Block 0 passes at 0.4 as well, but on another cylinder.
    assert served([47, 0, 48], [0.0, 1.0, 1.0], "sptf")[0] == [0, 2, 1]


def test_the_overhead_hides_behind_the_service_before_it_in_a_drive_and_not_in_a_host() -> None:
    """Block 2 at 0.6: of a drive from 5 ms on; a host sends it at 5, so that it starts at 6."""
    assert served([0, 2], [0.0, 2.0])[2] == pytest.approx([1.0, 5.0])
    assert served([0, 2], [0.0, 4.5])[2] == pytest.approx([1.0, 5.5]), "half of it hides"
    _, _, starts, ends = served([0, 2], [0.0, 2.0], host=True)
    assert (starts, ends) == (pytest.approx([1.0, 6.0]), pytest.approx([5.0, 7.0]))


def test_a_command_that_comes_holds_the_bus_and_delays_a_completion() -> None:
    """With 8 ms of overhead a command that comes at 12 ms holds the bus until 20 ms."""
    order, _, starts, ends = served([0, 1, 2], [0.0, 1.0, 12.0], overheads=(8.0, 0.0))
    assert order == [0, 1, 2]
    # 1: would end at 16 ms; 2: lies at 0.6, which comes by at 26 ms.
    assert starts == pytest.approx([8.0, 15.0, 20.0])
    assert ends == pytest.approx([15.0, 20.0, 27.0])
    assert served([0, 1, 2], [0.0, 1.0, 12.0], overheads=(8.0, 7.0), writes=[False, False, True])[3][
        1
    ] == pytest.approx(19.0), "the overhead of a write where it is one"


def test_a_closed_loop_issues_the_next_at_each_completion() -> None:
    order, arrivals, starts, ends = served([0, 1, 2], 2, overheads=(8.0, 0.0))
    assert order == [0, 1, 2]
    assert arrivals == pytest.approx([0.0, 0.0, 15.0])
    assert starts == pytest.approx([8.0, 15.0, 23.0])
    assert ends == pytest.approx([15.0, 23.0, 27.0])
    # The command that holds the bus behind the first is a write.
    _, _, starts, ends = served([0, 1, 2], 2, overheads=(8.0, 5.0), writes=[False, False, True])
    assert (starts[2], ends[1]) == pytest.approx((20.0, 20.0))
    # One at a time: each comes as the one before ends.
    order, arrivals, _, ends = served([0, 1, 2, 3, 4], 1)
    assert order == [0, 1, 2, 3, 4]
    assert arrivals[1:] == pytest.approx(ends[:-1])
    assert sorted(served([0, 9, 2, 30, 4, 50, 6], 3, "sptf")[0]) == [0, 1, 2, 3, 4, 5, 6]
    assert served([0, 1], 9)[1] == [0.0, 0.0], "a depth above their number issues all"


@pytest.mark.parametrize(("late", "end"), [(63, 20.0), (64, 16.0)])
def test_a_drive_that_holds_63_commands_takes_no_more_over_the_bus(late: int, end: float) -> None:
    """Those from number `late` on behind the first come at 12 ms: the bus waits only for what is taken."""
    assert DRIVE_SLOTS == 64
    arrivals = [0.0, *(1.0 if number < late else 12.0 for number in range(1, 71))]
    assert served([0, 1, *[2] * 69], arrivals, overheads=(8.0, 0.0))[3][1] == pytest.approx(end)


@pytest.mark.parametrize(("place", "is_chosen"), [(62, True), (63, False)])
def test_a_drive_chooses_among_the_63_that_have_waited_longest(place: int, is_chosen: bool) -> None:
    waiting = [80] * 70
    waiting[place] = 2
    order = served([0, *waiting], [0.0, *[1.0] * 70], "sstf")[0]
    assert (order[1] == place + 1) == is_chosen


def test_the_shortest_seek_is_counted_in_blocks_from_the_end_of_the_last() -> None:
    """After block 20 the head is at 21: 24 is three away, and so is 18, which came later."""
    assert served([20, 24, 18], [0.0, 1.0, 1.0], "sstf")[0] == [0, 1, 2]
    assert served([20, 24, 19], [0.0, 1.0, 1.0], "sstf")[0] == [0, 2, 1]
    assert served([20, 18, 24], [0.0, 1.0, 1.0], "sstf")[0] == [0, 1, 2]


def test_a_scan_goes_up_from_the_last_block_and_then_begins_anew() -> None:
    order = served([20, 5, 50, 20, 8, 30], [0.0, *[1.0] * 5], "clook")[0]
    assert order == [0, 3, 5, 2, 1, 4]
    order = served([20, 21, 20], [0.0, 1.0, 1.0], "clook")[0]
    assert order == [0, 2, 1], "the same block again is not behind"


def test_shortest_positioning_counts_seek_and_wait() -> None:
    """At 5 ms, 0.5 of a turn: block 12 waits for 0.8 on the other head, block 3 for 0.7 on this one."""
    assert served([0, 12, 3], [0.0, 1.0, 1.0], "sptf")[0] == [0, 2, 1]
    # Block 37 lies at 1.1 turns two cylinders on: 6 ms; block 0 comes by again after 9 ms.
    assert served([0, 0, 37], [0.0, 1.0, 1.0], "sptf")[0] == [0, 2, 1]
    assert served([0, 12, 3], [0.0, 1.0, 1.0], "fcfs")[0] == [0, 1, 2]
    # Where two are met at the same time the transfer does not matter: who came first goes first.
    assert served([0, 3, 3], [0.0, 1.0, 1.0], "sptf")[0] == [0, 1, 2]


def test_the_first_of_a_closed_loop_is_the_first_issued_and_a_replacement_waits_for_its_turn() -> None:
    """A drive chooses at a completion, before the loop puts another one in."""
    assert served([50, 0, 20], 3, "sstf")[0][0] == 0
    # At depth 2 there is one to choose from, whatever is nearer.
    assert served([0, 80, 1], 2, "sstf")[0] == [0, 1, 2]
    # At depth 3 block 3 is there from the second choice on, 38 away where 80 is 39 away.
    assert served([0, 80, 40, 3], 3, "sstf")[0] == [0, 2, 3, 1]


def test_what_has_not_come_is_not_waited_for() -> None:
    order, _, starts, _ = served([0, 1, 2], [0.0, 30.0, 5.0 + 30.0], "sstf")
    assert order == [0, 1, 2]
    assert starts == pytest.approx([1.0, 31.0, 36.0])


def straight(cylinders: int = 100_000) -> Any:
    """Return a drive of one sector a cylinder, whose seeks take a microsecond a cylinder."""
    zone = {**ZONES[0], "sectors_per_track": 1, "lbn_count": cylinders, "reserved_sectors_at_front": 0}
    seek = {"form": "piecewise_linear", "points_cyl_ms": [[1, 1e-3], [cylinders, 1e-3 * cylinders]]}
    return toy(zones=[zone], lbn_total=cylinders, cylinders=cylinders, surfaces=1, seek=seek)


def test_moves_are_sampled_over_random_and_over_short_distances() -> None:
    """Half of them between random places: a mean of a third; half over 10**-4.5 to 10**-0.5 evenly."""
    distance, times = _sampled_moves(straight(), 7)
    assert times == pytest.approx(0.1 * distance)
    assert 7900 < len(distance) <= 8000
    # Short ones that pass the end of the drive come out at its beginning: a few per cent.
    below = [np.mean(distance < edge) for edge in (10**-3.5, 10**-2.5, 10**-1.5)]
    # Of the random ones 2x - x**2 lie below x.
    expected = [(share + 2 * edge - edge**2) / 2
                for share, edge in ((0.25, 10**-3.5), (0.5, 10**-2.5), (0.75, 10**-1.5))]  # fmt: skip
    assert below == pytest.approx(expected, abs=0.01)
    assert (_sampled_moves(straight(), 7)[0] == distance).all(), "the same seed, the same moves"
    assert (_sampled_moves(straight(1000), 7)[1] > 0).all(), "where the arm stays is no move"


@pytest.mark.parametrize("knee", [0.1, 0.3])
def test_the_seek_curve_is_found_again_from_its_own_moves(knee: float) -> None:
    """1 ms + 10 ms sqrt(d) below the knee and 6 ms a stroke from it on, where both pieces meet."""
    distance = np.linspace(1e-4, 0.99, 1500)
    at_knee = 0.001 + 0.010 * math.sqrt(knee)
    times = np.where(distance < knee, 0.001 + 0.010 * np.sqrt(distance), at_knee + 0.006 * (distance - knee))
    a, b, c, e, found = _fit_seek_curve(distance, times)
    assert (a, b, e, found) == pytest.approx((0.001, 0.010, 0.006, knee), rel=0.03)
    assert c + e * found == pytest.approx(a + b * math.sqrt(found))


def test_a_zone_has_the_rate_of_reading_it_from_end_to_end() -> None:
    """Two zones, of 100 and of 50 sectors a track, without skew: 2 ms a switch, then the rest of the turn."""
    both = {**ZONES[0], "reserved_sectors_at_front": 0, "track_skew_sectors": 0.0, "cyl_skew_sectors": 0.0}
    zones = [
        {**both, "sectors_per_track": 100, "lbn_count": 2000},
        {**both, "sectors_per_track": 50, "lbn_count": 2000, "first_lbn": 2000, "first_cyl": 20},
    ]
    drive = toy(zones=zones, lbn_total=4000, cylinders=60, surfaces=1, description="")
    fitted = fit_parametric(drive, zones=2)
    # Twenty turns and 19 lost ones for the first; forty and 39 for the second.
    assert fitted.zone_rates == pytest.approx((2000 * 512 / (39 * TURN), 2000 * 512 / (79 * TURN)))
    assert fitted.seekless_bytes == 75 * 512 // 2, "half of what a cylinder holds, of the middle zone"
    assert (fitted.queue_policy, fitted.queue_max_age_s) == ("sptf", 3600.0)
    assert (fitted.physical_sector_bytes, fitted.logical_sector_bytes) == (512, 512)
    assert (fitted.revolution_s, fitted.write_settle_s) == pytest.approx((TURN, 0.0022))


def test_a_drive_of_tracks_shows_its_numbers_as_any_other(tmp_path: Any, monkeypatch: Any) -> None:
    """Each number in the unit of a drive file, and what it is worth in SI."""
    from zsim.drives.disksim import parametric

    fitted = replace(fit_parametric(straight(1000), zones=2), zone_rates=(200e6, 150e6, 100e6))
    monkeypatch.setattr(parametric, "load_track_drive", lambda _path: toy(description=""))
    monkeypatch.setattr(parametric, "fit_parametric", lambda _drive: fitted)
    drive = drive_from_tracks(tmp_path / "toy.json")
    assert drive.model == "toy", "the name where nothing describes it"
    monkeypatch.setattr(parametric, "load_track_drive", lambda _path: toy())
    assert drive_from_tracks(tmp_path / "toy.json").model == "A toy"
    shown = {
        "capacity": (512_000.0, "B", 512_000.0),
        "rotation": (6000.0, "rpm", 6000.0),
        "outer_rate": (200.0, "MB/s", 200e6),
        "inner_rate": (100.0, "MB/s", 100e6),
        "seek_track": (fitted.seek_short_a_s * 1000, "ms", fitted.seek_short_a_s),
        "seek_knee": (fitted.seek_knee, "1", fitted.seek_knee),
        "write_settle": (2.2, "ms", 0.0022),
        "read_overhead": (1.0, "ms", 0.001),
        "write_overhead": (4.0, "ms", 0.004),
    }
    for key, (value, unit, si) in shown.items():
        each = drive.quantities[key]
        assert each.unit == unit
        assert (each.value, each.si) == pytest.approx((value, si), rel=1e-9), key
        assert (each.kind, each.uncertainty) == ("fitted", 0.0)
    # A full stroke of that drive: a thousand cylinders of a microsecond.
    full = drive.quantities["seek_full"]
    assert full.si == pytest.approx(1e-3, rel=0.01)
    assert full.value == pytest.approx(1000 * full.si, rel=1e-9)


def refused(field: str, **changes: Any) -> None:
    with pytest.raises(InputError, match=field):
        toy(**changes)


@pytest.mark.parametrize(
    ("key", "least"),
    [("rpm", 1), ("surfaces", 1), ("sector_bytes", 1), ("cylinders", 1), ("head_switch_ms", 0),
     ("write_settle_ms", 0)],
)  # fmt: skip
def test_a_number_may_be_as_small_as_is_said(key: str, least: float) -> None:
    toy(**{key: least})
    refused(key, **{key: least - 0.5})
    refused(key, **{key: True})
    refused(key, **{key: "9"})
    refused(key, **{key: math.inf})


@pytest.mark.parametrize(
    "points",
    [[[1, 1.0]], [[0, 1.0], [3, 2.0]], [[1, 1.0], [1, 2.0]], [[1, -0.1], [2, 2.0]], [[1], [2]], ["a", "b"]],
)
def test_seek_points_rise_from_one_cylinder_on(points: Any) -> None:
    refused("points_cyl_ms", seek={"form": "piecewise_linear", "points_cyl_ms": points})


def test_seek_points_may_begin_at_one_cylinder_and_at_no_time() -> None:
    found = toy(seek={"form": "piecewise_linear", "points_cyl_ms": [[1, 0.0], [2, 0.0]]}).geometry
    assert (found.seek_cylinders.tolist(), found.seek_seconds.tolist()) == ([1, 2], [0.0, 0.0])


def test_zones_follow_one_another_and_a_range_holds_more_than_its_spares() -> None:
    first, second = ZONES
    refused("zones", zones=[{**first, "first_lbn": 1}, {**second, "first_lbn": 56}], lbn_total=88)
    refused("zones", zones=[first, {**second, "first_lbn": 56}], lbn_total=88)
    refused("zones", lbn_total=88)
    refused("zones", zones={"zone": first})
    refused("sectors_per_track", zones=[{**first, "sectors_per_track": 0}, second])
    refused("lbn_count", zones=[first, {**second, "lbn_count": 0}])
    ranges = {"scheme": "per_range_end", "range_cylinders": 2}
    toy(spares=ranges, **one_zone(spare_sectors=39))
    refused("spare_sectors", spares=ranges, **one_zone(spare_sectors=40))
    toy(spares={"scheme": "zone_end"}, **one_zone(spare_sectors=40))
    refused("range_cylinders", spares={"scheme": "per_range_end", "range_cylinders": 0})
