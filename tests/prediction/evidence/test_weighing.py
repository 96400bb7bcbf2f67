"""What worlds show beside the answer: how it goes with the size of a population, and what is left out."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from zsim.base.errors import NotSimulatedYet
from zsim.case.case import Case
from zsim.case.member import Factors
from zsim.drives.catalogue import load_drive
from zsim.drives.models.parameters import DriveParameters
from zsim.prediction.api import case_of
from zsim.prediction.evidence import probes
from zsim.prediction.evidence.comparable import Comparison, NotCompared, comparable
from zsim.prediction.evidence.likelihood import normal_width, weighted_quantiles, weights_of
from zsim.prediction.evidence.noise import noise
from zsim.prediction.evidence.posterior import Seen
from zsim.prediction.evidence.probes import DriveProbe, Ran, ScanProbe, drive_alone, random_read_s
from zsim.prediction.evidence.weighing import (
    LIFT_SPREAD,
    LIFT_WEIGHT,
    Counterpart,
    Weighing,
    weighing_of,
)
from zsim.prediction.statistics.response import Response
from zsim.scenario.model import Scenario

BASE = {"layout": "raidz2x6", "drive": "st4000vn008", "alloc": "14T"}
SCRUB = Comparison("scrub", "s", 3600.0, ScanProbe("scrub"), Seen(math.log(3600.0), 0.1))
DISK = Comparison("random reads", "1/s", 80.0, DriveProbe("random-read"), Seen(math.log(80.0), 0.1, 0.0))


def case(**fields: Any) -> Case:
    return case_of(Scenario.from_dict({**BASE, **fields}))


class Shown:
    """A run that shows what it is told to."""

    def __init__(self, time_s: float, *logs: float) -> None:
        self.result = type("Result", (), {"time_s": time_s})()
        self.logs = logs

    def shows(self, probe: object) -> float:
        return self.logs[isinstance(probe, DriveProbe)]


# From small populations to the pool.


def test_a_step_that_one_large_world_shows_is_believed_by_half() -> None:
    """The scrub became 0.2 longer than the resilver did; what a drive does alone has no size."""
    weighing = Weighing((SCRUB, DISK), (), shown=[(8.0, 4.0)])
    weighing.lift([Shown(200.0, 8.0 + math.log(2.0) + 0.2, 4.7)], [0], [100.0])  # type: ignore[list-item]
    assert weighing.lifts == pytest.approx([0.1, 0.0])
    usual = math.sqrt(LIFT_SPREAD**2 * LIFT_WEIGHT / LIFT_WEIGHT / 2.0)
    assert weighing.errors == pytest.approx([usual, usual])


def test_steps_that_differ_from_world_to_world_are_known_less() -> None:
    found = []
    for apart in (0.0, 0.4):
        weighing = Weighing((SCRUB,), (), shown=[(8.0,), (8.0,)])
        large = [Shown(100.0, 8.2 + apart), Shown(100.0, 8.2 - apart)]
        weighing.lift(large, [0, 1], [100.0, 100.0])  # type: ignore[arg-type]
        assert weighing.lifts == pytest.approx([0.2 * 2 / 3])
        found.append(float(weighing.errors[0]))
    assert found[1] ** 2 - found[0] ** 2 == pytest.approx(2 * 0.4**2 / (LIFT_WEIGHT + 1) / 3)


def test_durations_go_with_the_level_and_what_a_drive_does_alone_does_not() -> None:
    weighing = Weighing((SCRUB, DISK), (), shown=[(8.0, 4.0), (9.0, 5.0)], level=1.5)
    assert weighing.in_pool() == pytest.approx(
        np.array([[8.0 + math.log(1.5), 4.0], [9.0 + math.log(1.5), 5.0]])
    )
    weighing.lifts = np.array([0.25, 0.0])
    assert weighing.in_pool()[0] == pytest.approx([8.25 + math.log(1.5), 4.0])
    away = weighing.away()
    assert away[0] == pytest.approx(np.abs(weighing.in_pool()[0] - [SCRUB.seen.log, DISK.seen.log]).mean())


def test_where_nothing_is_unknown_the_world_shows_what_it_showed() -> None:
    weighing = Weighing((SCRUB, DISK), (), level=1.5)
    weighing.alone(Shown(100.0, 8.0, 4.0), 1.5)  # type: ignore[arg-type]
    assert weighing.in_pool() == pytest.approx(np.array([[8.0, 4.0]]))


def test_counterparts_share_the_weight_of_their_member() -> None:
    weighing = Weighing((SCRUB,), (), shown=[(8.0,), (8.5,)])
    assert weighing.prior() == pytest.approx([0.5, 0.5])
    weighing.others = [Counterpart(1.0, (8.1,), 0.1), Counterpart(1.0, (8.6,), 0.9)]
    assert weighing.prior() == pytest.approx([0.45, 0.05, 0.05, 0.45])
    assert weighing.in_pool()[2:, 0] == pytest.approx([8.1, 8.6])


# What cannot be compared.


def test_what_one_world_cannot_show_is_left_out_for_all_and_said() -> None:
    base = Response(0.5, 1.0, 2.0, 0.1, np.ones(2))
    weighing = Weighing((SCRUB, DISK), (), shown=[(8.0, 4.0), (math.nan, 5.0)])
    weighing.respond(base, [100.0, 200.0], 1.0)
    assert weighing.comparisons == (DISK,)
    assert weighing.shown == [(4.0,), (5.0,)]
    (left,) = weighing.left
    assert (left.kind, left.why) == ("scrub", "it cannot be simulated on this pool")


def test_without_anything_to_compare_the_answer_is_as_it_was() -> None:
    base = Response(0.5, 1.0, 2.0, 0.1, np.ones(2))
    weighing = Weighing((SCRUB,), (), shown=[(math.nan,), (8.0,)])
    assert weighing.respond(base, [100.0, 200.0], 1.0) is base
    assert weighing.posterior is None
    assert weighing_of(case()) is None


def test_a_longer_scan_makes_a_longer_answer_whatever_the_level() -> None:
    """Quantiles are those of small populations: the level is taken off again."""
    generator = np.random.default_rng(4)
    scans = math.log(3600.0) + 0.5 * generator.standard_normal(64)
    small = (0.5 * np.exp(scans)).tolist()
    base = Response(900.0, 1800.0, 3600.0, 0.1, np.ones(64))
    middles = []
    for observed, level in ((3600.0, 1.0), (5400.0, 1.0), (5400.0, 1.2)):
        seen = replace(SCRUB, seen=Seen(math.log(observed), 0.05))
        weighing = Weighing((seen,), (), shown=[(each,) for each in scans.tolist()], event=0.05)
        found = weighing.respond(base, small, level)
        assert found.p10 < found.p50 < found.p90
        middles.append(found.p50)
    assert middles[0] == pytest.approx(1800.0, rel=0.05)
    assert middles[1] == pytest.approx(2700.0, rel=0.05)
    # Worlds that take 1.2 times as long in the pool show 1.2 times as much, so that shorter ones are likely.
    assert middles[2] == pytest.approx(2700.0 / 1.2, rel=0.05)


# What a world is asked for.


def _ran(monkeypatch: pytest.MonkeyPatch, world: Case) -> tuple[Ran, list[str]]:
    """Return a world of which every further scan takes 500 s, and what was run."""
    ran: list[str] = []
    result = type("Result", (), {"time_s": 500.0})()

    def run_pool(other: Case, pool: object, model: object) -> object:
        ran.append(other.operation)
        return result

    monkeypatch.setattr(probes, "run_pool", run_pool)
    monkeypatch.setattr(probes, "plane_model", lambda other: None)
    return Ran(world, object(), type("Own", (), {"time_s": 900.0})()), ran  # type: ignore[arg-type]


def test_each_kind_of_scan_is_run_once_and_grows_with_alloc(monkeypatch: pytest.MonkeyPatch) -> None:
    world = case()
    shown, ran = _ran(monkeypatch, world)
    assert math.exp(shown.shows(ScanProbe("scrub"))) == pytest.approx(500.0)
    assert math.exp(shown.shows(ScanProbe("scrub", 0, world.alloc // 2))) == pytest.approx(250.0, rel=1e-6)
    assert ran == ["scrub"]
    # The operation that is asked for has been run.
    assert math.exp(shown.shows(ScanProbe("resilver", 1))) == pytest.approx(900.0)
    assert ran == ["scrub"]


def test_what_a_world_cannot_do_is_not_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, _ = _ran(monkeypatch, case())

    def refuse(other: Case) -> None:
        raise NotSimulatedYet("operation", other.operation, "no scan", "")

    monkeypatch.setattr(probes, "plane_model", refuse)
    assert math.isnan(shown.shows(ScanProbe("scrub")))


def test_a_random_read_is_the_mean_over_all_pairs_of_places() -> None:
    """Of two random places the distance d has the density 2 (1 - d): its mean is 1/3, of its root 8/15."""
    rates = (2e8, 1e8)
    disk = DriveParameters(capacity_bytes=10**12, kind="mechanical", revolution_s=0.008, zone_rates=rates)
    short = replace(disk, seek_short_a_s=0.001, seek_short_b_s=0.006, seek_knee=1.0)
    rest = 0.004 + 4096 / 1.5e8 + disk.read_overhead_s
    assert random_read_s(short, 4096) == pytest.approx(0.001 + 0.006 * 8 / 15 + rest, rel=1e-3)
    long = replace(disk, seek_long_c_s=0.002, seek_long_e_s=0.009, seek_knee=0.0)
    assert random_read_s(long, 4096) == pytest.approx(0.002 + 0.003 + rest, rel=1e-3)


def test_a_world_scales_the_drive_that_is_measured_alone() -> None:
    plain = case()
    drive = load_drive("st4000vn008").parameters()
    assert drive_alone(plain, DriveProbe("sequential-read")) == pytest.approx(drive.zone_rates[0])
    slower = replace(plain, member=replace(plain.member, factors=Factors(outer_rate=0.8, new_rate=0.5)))
    read, write = (drive_alone(slower, DriveProbe(kind)) for kind in ("sequential-read", "sequential-write"))
    assert read == pytest.approx(0.8 * drive.zone_rates[0])
    assert write == pytest.approx(0.5 * read)


def test_a_solid_state_drive_is_as_fast_as_its_interface_and_slower_beyond_its_fast_region() -> None:
    flash = case(drive="generic-sata-ssd", drive_size="4TB", alloc="6T")
    numbers = flash.drive.parameters()
    read = drive_alone(flash, DriveProbe("sequential-read"))
    assert read <= numbers.interface_rate
    write = drive_alone(flash, DriveProbe("sequential-write"))
    assert numbers.slc_cache_bytes == 0 or write < read


# What is compared.


def compared(*evidence: object, **fields: object) -> tuple[tuple[Any, ...], tuple[NotCompared, ...]]:
    return comparable(case(**fields, evidence=list(evidence)))


def test_a_duration_that_was_printed_coarsely_scatters_more() -> None:
    fine, coarse = (
        compared({"what": "finished", "kind": "scrub", "duration": 3600, "resolution": step})[0][0].seen.sigma
        for step in (1.0, 3600.0)
    )
    assert math.sqrt(coarse**2 - fine**2) == pytest.approx(12**-0.5, rel=0.02)


def test_a_year_of_growth_shortens_what_was_seen_then() -> None:
    (old, _), _ = compared("scrub=9h,date=2025-05-03", "scrub=10h,date=2026-05-03")
    assert old.shift == pytest.approx(-noise("scan.growth", "1/year"), rel=0.01)


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        ({"access": "sequential-read", "of": "pool", "rate": 1e8}, "a measurement of the pool"),
        ({"access": "random-write", "operations": 900}, "random writes say more about the drive's cache"),
        ({"access": "random-read", "operations": 300, "depth": 32}, "one request at a time"),
        ({"access": "sequential-read"}, "it has no rate"),
    ],
)
def test_measurements_that_tell_nothing_of_a_drive_are_left_out(measured: dict[str, Any], words: str) -> None:
    found, (left,) = compared({"what": "benchmark", **measured})
    assert found == ()
    assert words in left.why


def test_operations_of_a_size_are_a_rate() -> None:
    (found,), _ = compared(
        {"what": "benchmark", "access": "sequential-read", "operations": 150, "size": 1 << 20}
    )
    assert found.observed == 150 * (1 << 20)


def test_solid_state_drives_scatter_as_they_do() -> None:
    (disk,), _ = compared("resilver=9h")
    (flash,), _ = compared("resilver=1h", drive="generic-sata-ssd", drive_size="4TB")
    assert (disk.seen.sigma, flash.seen.sigma) == pytest.approx(
        (noise("scan.event"), noise("scan.event_flash")), rel=0.01
    )


# Weights.


def test_the_normal_width_of_a_weighted_sample_is_that_of_the_law_it_is_from() -> None:
    values = 3.0 * np.random.default_rng(6).standard_normal(20_000)
    assert normal_width(values, np.ones(20_000)) == pytest.approx(3.0, rel=0.02)
    halves = np.where(values > 0.0, 1.0, 0.0)
    assert weighted_quantiles(values, halves, [0.5])[0] == pytest.approx(3.0 * 0.6745, rel=0.03)


def test_no_more_than_a_quarter_of_the_worlds_has_to_count() -> None:
    """Of eight, two: a likelihood that leaves two is not tempered, one that leaves one is."""
    two = np.array([0.0, 0.0, *[-50.0] * 6])
    assert weights_of(two).power == 1.0
    one = weights_of(np.array([0.0, -3.0, *[-50.0] * 6]))
    assert one.power < 1.0
    assert one.effective == pytest.approx(2.0, rel=0.02)
