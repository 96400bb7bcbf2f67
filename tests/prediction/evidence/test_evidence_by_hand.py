"""Evidence against arithmetic by hand: what is compared with what, on which scale, and how it is weighed."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from tests.prediction.samples import disks as case
from zsim.base.units import YEAR
from zsim.case.case import Case
from zsim.prediction.evidence import comparable, posterior, probes, slower, under_way
from zsim.prediction.evidence.comparable import Comparison, NotCompared
from zsim.prediction.evidence.likelihood import Weights, log_likelihood, weighted_quantiles, weights_of
from zsim.prediction.evidence.posterior import (
    BROAD,
    FAR,
    OUTLIERS,
    WIDEST,
    EvidenceSpread,
    Posterior,
    Seen,
    WeighedEvidence,
)
from zsim.prediction.evidence.probes import ActivityProbe, HeldProbe, Ran, ScanProbe, as_it_was
from zsim.prediction.evidence.under_way import OwnPace, own_pace, scans_under_way
from zsim.prediction.progress.course import straight
from zsim.prediction.progress.moments import PoolFacts, State
from zsim.prediction.statistics.response import KERNEL
from zsim.scenario.evidence import Benchmark, ClassAlloc, DriveActivity, FinishedScan, RunningScan

NOON = datetime(2026, 11, 15, 12, 0, 0)
TB = 10**12
EVEN = np.full(3, 1.0 / 3.0)


# Weights.


def test_a_value_two_scales_off_counts_as_in_students_t_of_four_degrees() -> None:
    """(1 + 4 / 4)^-2.5 = 0.177."""
    found = log_likelihood(np.array([1.0, 0.8]), 1.0, 0.1)
    assert found[0] == 0.0
    assert math.exp(found[1]) == pytest.approx(2.0**-2.5)


def test_quantiles_stand_half_way_up_each_values_own_step() -> None:
    """Weights 1, 2, 1 of 4: 1 stands at an eighth, 2 in the middle, 3 at seven eighths."""
    found = weighted_quantiles(
        np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), (0.0, 0.125, 0.3125, 0.5, 0.9)
    )
    assert found == pytest.approx([1.0, 1.0, 1.5, 2.0, 3.0])


def test_tempering_stops_where_as_many_worlds_count_as_have_to() -> None:
    """Of 16 worlds alike four have to count: where one stands out, its likelihood is raised to less than 1."""  # noqa: E501
    logs = np.zeros(16)
    logs[0] = 10.0
    found = weights_of(logs, least=100.0)
    assert found.effective == pytest.approx(4.0, rel=1e-3)
    assert 0.0 < found.power < 1.0
    assert weights_of(np.zeros(16), least=4.0).power == 1.0
    # A prior of one world alone leaves a quarter of one to count: nothing is tempered.
    lone = weights_of(logs, least=100.0, prior=np.eye(16)[0])
    assert (lone.power, lone.effective) == (1.0, pytest.approx(1.0))


# What has nothing to do with what is simulated.


@pytest.mark.parametrize(("away", "sigma"), [(0.0, 0.2), (0.5, 0.2), (1.0, 0.3), (-1.0, 0.3)])
def test_a_strange_value_is_likelier_under_the_broad_law(away: float, sigma: float) -> None:
    broad = math.hypot(sigma, BROAD)
    ratio = norm.pdf(away, scale=broad) / norm.pdf(away, scale=sigma)
    assert posterior._strange(away, sigma) == pytest.approx(ratio)
    # Bayes: so likely before, so likely after.
    assert posterior._belongs(away, sigma) == pytest.approx(
        (1 - OUTLIERS) / (1 - OUTLIERS + OUTLIERS * ratio)
    )
    assert 0.0 < posterior._belongs(1e6, sigma) < 1e-6


def test_a_value_that_is_no_stranger_than_usual_keeps_its_scatter() -> None:
    each = Seen(0.0, 0.1)
    assert posterior._variance(each, 0.0, 0.3) == pytest.approx(0.01)
    more = posterior._variance(each, 1.5, 0.3)
    odds = OUTLIERS / (1 - OUTLIERS)
    ratio = norm.pdf(1.5, scale=math.hypot(0.3, BROAD)) / norm.pdf(1.5, scale=0.3)
    assert more == pytest.approx(0.01 + 0.09 * odds * (ratio - 1.0))


def test_a_value_is_away_from_the_median_world_by_its_own_and_their_scatter() -> None:
    """Of 8, 9 and 13 the median is 9 and the deviation sqrt(14 / 3)."""
    shown = np.array([8.0, 9.0, 13.0])
    away, sigma = posterior._away(shown, Seen(9.5, 0.3, 0.5), EvidenceSpread(0.8, 0.0), EVEN)
    assert away == pytest.approx(0.5)
    assert sigma == pytest.approx(math.sqrt(14.0 / 3.0 + 0.3**2 + 0.4**2))
    likely = np.array([0.8, 0.1, 0.1])
    assert posterior._deviation(shown, likely) == pytest.approx(
        math.sqrt(0.8 * 0.6**2 + 0.1 * 0.4**2 + 0.1 * 4.4**2)
    )
    assert posterior._quantiles(shown, EVEN, (0.5,)) == [9.0]
    assert posterior._quantiles(shown, likely, (0.5,))[0] < 9.0


@pytest.mark.parametrize(
    ("pace", "slope"), [(1.0, 0.28 / 0.46), (-1.0, (0.2 - 0.08) / 0.46), (0.0, 0.2 / 0.46)]
)
def test_a_slope_is_that_of_gaussian_conditioning_with_the_pace_in_common(pace: float, slope: float) -> None:
    """Worlds have a variance of 0.28 and a covariance of 0.2, the pace one of 0.08, and 0.1 is noise."""
    shown = np.array([[-0.6], [0.0], [0.6]]) * math.sqrt(0.28 / 0.24)
    logs = shown[:, 0] * (0.2 / 0.28)
    assert float((shown**2).mean()) == pytest.approx(0.28)
    found = posterior._slopes(logs, shown, EVEN, np.array([pace]), np.array([0.1]), math.sqrt(0.08))
    assert found == pytest.approx([slope])


def test_the_kernel_is_as_wide_as_the_worlds_at_most() -> None:
    weights = Weights(np.full(32, 1.0 / 32), 32.0)
    narrow, wide = np.linspace(0.0, 0.1, 32), np.linspace(0.0, 9.0, 32)
    assert posterior._smoothing(9.0, wide, weights) == pytest.approx(KERNEL * 0.9 * WIDEST * 0.5)
    assert posterior._smoothing(0.2, wide, weights) == pytest.approx(KERNEL * 0.9 * 0.2 * 0.5)
    # From the tenth to the nine tenth: 0.8 of the length of an even row, and its steps' halves.
    assert posterior._smoothing(9.0, narrow, weights) == pytest.approx(
        KERNEL * 0.9 * 0.5 * 0.1 * 0.8 * 32 / 31 / 2.5631031, rel=1e-6
    )


def test_one_world_follows_what_was_seen_as_far_as_its_pace_is_open() -> None:
    """The slope is 0.36 / (0.36 + 0.01): what is left is the scatter, the event, and the pace beside it."""
    found = posterior.posterior(
        np.array([8.0]), np.array([[9.0]]), (Seen(9.2, 0.1),), EvidenceSpread(0.6, 0.05), without=1.0
    )
    slope = 0.36 / 0.37
    assert found.adjusted == pytest.approx([8.0 + 0.2 * slope])
    assert found.half_width == 0.0
    [weighed] = found.weighed
    assert (weighed.expected, weighed.far) == ((9.0, 9.0, 9.0), abs(0.2) > FAR * 0.1)
    assert weighed.narrows == pytest.approx(1.0 - (found.p90 - found.p10))
    wide = 2.5631031 * math.sqrt((slope * 0.1) ** 2 + 0.05**2 + (0.6 * (1.0 - slope)) ** 2)
    assert found.p90 - found.p10 == pytest.approx(wide, rel=0.05)
    # What says nothing of the pace leaves it as it is.
    silent = posterior.posterior(
        np.array([8.0]), np.array([[9.0]]), (Seen(9.2, 0.1, 0.0),), EvidenceSpread(0.6, 0.05)
    )
    assert silent.adjusted == pytest.approx([8.0])
    assert silent.p90 - silent.p10 == pytest.approx(2.5631031 * 0.05, rel=0.02)
    assert silent.weighed[0].narrows == 0.0


def test_what_is_said_to_be_far_is_beyond_so_many_deviations() -> None:
    logs = np.log([1.0, 2.0, 4.0])
    for times, far in ((0.99, False), (1.01, True)):
        deviation = math.sqrt(2.0 / 3.0) * math.log(2.0)
        seen = Seen(math.log(2.0) + times * FAR * math.hypot(deviation, 0.1), 0.1)
        found = posterior.posterior(logs, logs[:, None], (seen,), EvidenceSpread(0.1, 0.05))
        assert found.weighed[0].far is far
        expected = [1.0, 2.0] if far else np.exp(found.adjusted[:2]).tolist()
        assert found.moved([1.0, 2.0]) == pytest.approx(expected)


def test_worlds_stay_as_they_are_only_where_none_explains_anything() -> None:
    def moved(*far: bool) -> list[float]:
        weighed = tuple(WeighedEvidence((0.0, 0.0, 0.0), 1.0, 0.0, each) for each in far)
        weights = Weights(np.ones(1), 1.0)
        return Posterior(0.0, 0.0, 0.0, 0.0, weights, np.log([7.0]), weighed).moved([5.0])

    assert moved(True, True) == [5.0]
    assert moved(True, False) == pytest.approx([7.0])
    assert moved() == pytest.approx([7.0])


# What is compared.


def over(**more: Any) -> FinishedScan:
    """Return a scrub of ten hours."""
    return FinishedScan(**({"kind": "scrub", "duration": 36000.0, "end": NOON} | more))


def test_the_last_moment_is_that_of_any_observation_without_its_zone() -> None:
    later = RunningScan(kind="scrub", at=NOON + timedelta(days=1))
    assert comparable.latest_moment([over(), later]) == NOON + timedelta(days=1)
    assert comparable.latest_moment([over(end=NOON.replace(tzinfo=UTC)), over(end=None)]) == NOON
    assert comparable.latest_moment([RunningScan(kind="scrub")]) is None


def test_a_drive_holds_its_share_of_its_vdev_for_each_drive_that_was_replaced() -> None:
    """12 TB on a raidz2 of six are 2 TB on each."""
    of = comparable.whole_drive_bytes
    assert of(case(alloc=12 * TB, fill=None), over()) == 2 * TB
    one = case(alloc=12 * TB, fill=None)
    assert of(one, over(drives=2)) == 4 * TB
    assert of(one, over(alloc=6 * TB)) == TB
    assert of(case(layout="2*raidz2x6", alloc=12 * TB, fill=None), over()) == pytest.approx(TB)
    assert of(case(layout="mirror2", alloc=2 * TB, fill=None), over()) == 2 * TB


@pytest.mark.parametrize(
    ("scan", "fits"),
    [
        (over(), True), (over(kind="heal"), False), (over(kind="rebuild", processed=1), True),
        (over(kind="resilver"), True), (over(kind="resilver", processed=TB), True),
        (over(kind="resilver", processed=TB - 10**9), False), (over(processed=0), True),
        (over(processed=TB // 10), True), (over(processed=TB // 10 + 10**9), False),
    ],
)  # fmt: skip
def test_a_scan_that_wrote_too_little_or_too_much_says_nothing(scan: FinishedScan, fits: bool) -> None:
    """Of 2 TB on a drive a resilver has written half at least, a scrub a twentieth at most."""
    one = case(alloc=12 * TB, fill=None)
    assert (comparable.unfit(one, scan) is None) is fits
    assert isinstance(comparable.scan(one, scan, NOON), Comparison if fits else NotCompared)


def compared(one: Case, each: FinishedScan, latest: datetime | None = NOON) -> Comparison:
    """Return a scan as it is compared."""
    found = comparable.scan(one, each, latest)
    assert isinstance(found, Comparison)
    return found


def test_the_scatter_of_a_scan_is_the_sum_of_its_parts_squared() -> None:
    """0.05 of one scan over another, 0.08 of another kind, a year of growth of 0.25, and how it was printed."""  # noqa: E501
    scrubbed, one = case(operation="scrub"), case()
    assert compared(scrubbed, over()).seen == Seen(math.log(36000.0), pytest.approx(0.05, rel=1e-3))
    assert compared(one, over()).seen.sigma == pytest.approx(math.hypot(0.05, 0.08), rel=1e-3)
    assert compared(one, over(kind="resilver")).seen.sigma == pytest.approx(0.05, rel=1e-3)
    minutes = compared(scrubbed, over(duration=600.0, resolution=60.0)).seen.sigma
    assert minutes == pytest.approx(math.hypot(0.05, 0.1 * comparable.ROUNDED))
    old = compared(scrubbed, over(end=NOON - timedelta(seconds=YEAR)))
    assert (old.seen.sigma, old.shift) == (
        pytest.approx(math.hypot(0.05, 0.25), rel=1e-3),
        pytest.approx(-0.25),
    )
    half = compared(scrubbed, over(end=NOON - timedelta(seconds=YEAR / 2)))
    assert half.shift == pytest.approx(-0.125)
    # Of one of which ALLOC is known, that is known with three digits, and growth says nothing.
    known = compared(scrubbed, over(end=NOON - timedelta(seconds=YEAR), alloc=12 * TB))
    assert (known.seen.sigma, known.shift) == (pytest.approx(math.hypot(0.05, 0.02), rel=1e-3), 0.0)
    assert compared(scrubbed, over(end=NOON + timedelta(days=9))).shift == 0.0
    assert compared(scrubbed, over(end=None)).shift == compared(scrubbed, over(), None).shift == 0.0
    assert compared(scrubbed, over()).when == "15 November 2026"


def test_small_pools_scatter_more_and_solid_state_drives_too() -> None:
    small, large = case(alloc=20 * 10**9 - 1, fill=None), case(alloc=20 * 10**9, fill=None)
    assert compared(small, over()).seen.sigma == pytest.approx(math.hypot(0.05, 0.5), rel=1e-3)
    assert compared(large, over()).seen.sigma == pytest.approx(math.hypot(0.05, 0.08), rel=1e-3)
    assert comparable.event_of(case(drive="generic-nvme-ssd", drive_size="1TB")) == 0.1
    assert comparable.event_of(case()) == 0.05


def test_vdevs_of_a_pool_are_seldom_equally_full() -> None:
    """A scrub waits for the fullest of n: Blom's score of the largest is that of (n - 3/8) / (n + 1/4)."""
    two, scrubbed = case(layout="2*raidz2x6"), case(layout="2*raidz2x6", operation="scrub")
    longer = 0.4 * norm.ppf(1.625 / 2.25)
    assert compared(two, over()).shift == pytest.approx(longer)
    assert compared(two, over()).seen.sigma == pytest.approx(math.sqrt(0.05**2 + 0.08**2 + 0.4**2), rel=1e-3)
    assert compared(two, over(kind="resilver")).shift == 0.0
    assert compared(two, over(kind="resilver")).seen.sigma == pytest.approx(math.hypot(0.05, 0.4), rel=1e-3)
    assert compared(scrubbed, over(kind="resilver")).shift == pytest.approx(-longer)
    assert compared(scrubbed, over()).shift == 0.0
    three = case(layout="3*raidz2x6")
    assert compared(three, over()).shift == pytest.approx(0.4 * norm.ppf(2.625 / 3.25))
    # A resilver of which the bytes are known tells how full its vdev was.
    alloc = two.alloc
    wrote = over(kind="resilver", processed=round(0.75 * alloc / 12))
    assert compared(two, wrote).shift == pytest.approx(math.log(0.75), rel=1e-6)
    told = compared(scrubbed, wrote)
    assert told.seen.sigma == pytest.approx(math.hypot(0.05, 0.08), rel=1e-3)
    known = case(layout="2*raidz2x6", vdev_fills=[0.4, 0.6], fill=None)
    assert compared(known, over()).shift == 0.0
    assert compared(known, over()).seen.sigma == pytest.approx(math.hypot(0.05, 0.08), rel=1e-3)


def test_a_scan_is_asked_for_with_as_many_drives_as_it_replaced() -> None:
    one = case(replace=2)
    assert compared(one, over()).probe == ScanProbe("scrub", 0)
    assert compared(one, over(kind="resilver", drives=1)).probe == ScanProbe("resilver", 1)
    assert compared(one, over(kind="resilver")).probe == ScanProbe("resilver", 2)
    scrubbed = case(operation="scrub")
    assert compared(scrubbed, over(kind="resilver", alloc=5 * TB)).probe == ScanProbe("resilver", 1, 5 * TB)


# Measurements by hand.


def measured(**more: Any) -> Comparison | NotCompared:
    """Return a benchmark as it is compared."""
    return comparable.benchmark(
        Benchmark(**({"access": "sequential-read", "of": "drive", "rate": 200e6} | more))
    )


def test_sequential_accesses_are_rates_and_random_reads_operations_of_one_at_a_time() -> None:
    rate = measured()
    assert isinstance(rate, Comparison)
    assert (rate.observed, rate.unit, rate.seen) == (200e6, "B/s", Seen(math.log(200e6), 0.06, 0.0))
    by_count = measured(rate=None, operations=200.0, size=1 << 20)
    assert by_count.observed == 200.0 * (1 << 20)
    random = measured(access="random-read", rate=None, operations=80.0, size=8192, depth=1)
    assert isinstance(random, Comparison)
    assert (random.observed, random.unit, random.seen.sigma) == (80.0, "1/s", 0.1)
    assert random.probe == probes.DriveProbe("random-read", 8192)
    from_rate = measured(access="random-read", rate=819200.0, size=8192)
    assert from_rate.observed == 100.0
    unsized = measured(access="random-read", rate=None, operations=80.0)
    assert isinstance(unsized, Comparison)
    assert unsized.probe == probes.DriveProbe("random-read", 4096)
    for left in (
        measured(access="random-read", operations=80.0, depth=2), measured(access="random-read", rate=1.0),
        measured(access="random-write"), measured(of="pool"), measured(rate=None, operations=5.0),
    ):  # fmt: skip
        assert isinstance(left, NotCompared)


def test_what_classes_hold_scatters_more_where_small_blocks_may_lie_there() -> None:
    special = {"layout": "raidz2x6+special:mirror2"}
    for fields, sigma in (({}, 1.0), ({"special_small_blocks": 0}, 0.4)):
        found = comparable.class_alloc(case(**special, **fields), ClassAlloc(held=10**9))
        assert isinstance(found, Comparison)
        assert found.seen == Seen(math.log(1e9), sigma, 0.0)
    assert isinstance(comparable.class_alloc(case(), ClassAlloc(held=10**9)), NotCompared)


# Drives at work.


def at_work(**more: Any) -> DriveActivity:
    """Return what a drive does."""
    return DriveActivity(**({"drive": "sda"} | more))


def test_the_role_of_a_drive_is_as_said_or_by_its_number_or_by_what_it_does() -> None:
    one = case()
    for each, role in (
        (at_work(role="target", leaf=0), "target"), (at_work(leaf=6), "target"), (at_work(leaf=5), "source"),
        (at_work(write_rate=2.0, read_rate=1.0), "target"), (at_work(write_rate=1.0, read_rate=1.0), "source"),  # noqa: E501
        (at_work(), "source"), (at_work(write_rate=0.5), "target"),
    ):  # fmt: skip
        assert comparable.role_of(one, each) == role


def test_a_drive_is_slow_beyond_twice_the_median_of_more_than_two_peers() -> None:
    def slow(*times: float) -> dict[str, float]:
        seen = [at_work(drive=f"d{n}", leaf=n, service=each) for n, each in enumerate(times)]
        return comparable.slow_drives(case(), seen)

    assert slow(0.010, 0.010, 0.021) == {"d2": pytest.approx(2.1)}
    assert slow(0.010, 0.010, 0.020) == {}
    assert slow(0.010, 0.050) == {}
    assert slow(0.010, 0.010, 0.010, 0.030, 0.040) == {"d3": pytest.approx(3.0), "d4": pytest.approx(4.0)}


def test_activity_is_the_median_drive_of_each_role_and_not_what_its_role_does_not_do() -> None:
    seen = [
        at_work(leaf=0, read_rate=10e6, write_rate=1e6, busy=0.2), at_work(leaf=1, read_rate=30e6, busy=0.4),
        at_work(leaf=2, read_rate=50e6, busy=0.9), at_work(leaf=6, read_rate=1e6, write_rate=80e6, busy=1.0),
    ]  # fmt: skip
    found = {each.kind: each for each in comparable.activities(case(), seen)}
    assert {kind: each.observed for kind, each in found.items()} == {
        "read rate of the source drives": 30e6, "busy of the source drives": 0.4,
        "write rate of the replacement drive": 80e6, "busy of the replacement drive": 1.0,
    }  # fmt: skip
    rates, busy = found["read rate of the source drives"], found["busy of the source drives"]
    assert isinstance(rates, Comparison)
    assert isinstance(busy, Comparison)
    assert (rates.seen, rates.unit) == (Seen(math.log(30e6), 0.3, comparable.WITH_PACE), "B/s")
    assert (busy.seen.sigma, busy.seen.pace, busy.unit) == (0.25, comparable.WITHOUT_PACE, "1")
    [size] = comparable.activities(case(), [at_work(leaf=0, read_request=65536.0, step=2.0)])
    assert isinstance(size, Comparison)
    assert size.seen.sigma == pytest.approx(math.hypot(0.2, comparable.ROUNDED * math.log(2.0)))
    assert comparable.activities(case(), [at_work(leaf=0, read_rate=0.0)]) == []


@pytest.mark.parametrize(
    ("seen", "factor"),
    [
        ({"reads": 10.0, "busy": 1.0}, True), ({"reads": 0.99, "busy": 1.0}, False),
        ({"reads": 8.0, "writes": 2.0, "busy": 1.0}, True), ({"reads": 7.9, "writes": 2.1, "busy": 1.0}, False),  # noqa: E501
        ({"reads": 10.0, "service": 0.09}, True), ({"reads": 10.0}, False), ({"reads": 10.0, "busy": 0.01}, False),  # noqa: E501
    ],
)  # fmt: skip
def test_a_drive_that_spends_a_tenth_of_a_second_on_a_read_is_slower_than_its_model(
    seen: dict[str, float], factor: bool
) -> None:
    found = slower.slower_than_model(case(), [at_work(leaf=0, read_rate=4096.0 * 10, **seen)])
    assert bool(found) is factor
    for each in found:
        busy = seen.get("busy", 10.0 * seen.get("service", 0.0))
        assert each.seen_s == pytest.approx(busy / 10.0)
        assert each.size == pytest.approx(4096.0)
        assert each.factor == pytest.approx(each.seen_s / each.most_s)


def test_slow_drives_come_slowest_first_and_share_the_link_that_all_are_behind() -> None:
    seen = [at_work(drive=f"d{n}", leaf=n, reads=10.0, busy=busy, read_rate=4e4)
            for n, busy in enumerate((0.5, 1.0))]  # fmt: skip
    found = slower.slower_than_model(case(), seen)
    assert [each.drive for each in found] == ["d1", "d0"]
    ports: Any = SimpleNamespace(
        ports=[SimpleNamespace(name="a", leaves=(0,)), SimpleNamespace(name="b", leaves=(0, 1, 2))]
    )
    assert slower.shared_by(ports, found) == "b"
    assert slower.shared_by(ports, found[:1]) is None
    assert slower.shared_by(ports, [*found, found[0]._replace(leaf=None)]) is None
    assert slower.shared_by(ports, [*found, found[0]._replace(leaf=3)]) is None
    told = case(evidence=[each.model_dump(exclude_none=True) for each in seen])
    assert slower.most_slowed(told) == pytest.approx(found[0].factor)
    assert slower.most_slowed(case()) == 1.0
    assert slower.most_slowed(case(evidence=told.scenario.stated()["evidence"], slow=["2:x2"])) == 1.0


# What a world is asked for.


def test_an_earlier_scan_is_that_of_the_pools_own_drives() -> None:
    one = case()
    assert as_it_was(one, "resilver", 1) is one
    scrub = as_it_was(one, "scrub", 0)
    assert (scrub.operation, scrub.replace, scrub.old_drive, scrub.target) == (
        "scrub",
        0,
        "online",
        "new-drive",
    )
    assert as_it_was(one, "resilver", 2).old_drive == "missing"
    other = case(new_drive="generic-5400rpm-cmr")
    assert as_it_was(other, "resilver", 1).new_drive == other.drive
    draid = case(layout="draid1:4d:8c:1s")
    assert as_it_was(draid, "rebuild", 1).target == "distributed-spare"
    assert as_it_was(draid, "resilver", 1).target == "new-drive"
    assert as_it_was(case(layout="draid1:4d:8c:0s"), "rebuild", 1).target == "new-drive"


def test_a_world_shows_what_its_drives_do(monkeypatch: pytest.MonkeyPatch) -> None:
    row = SimpleNamespace(
        role="source", queue=3.0, iops=150.0, read_rate=15e6, write_rate=3e6, utilisation=0.7
    )
    monkeypatch.setattr(probes, "leaf_rows", lambda result: [row])

    def shown(quantity: Any, role: Any = "source") -> float:
        return probes.activity(None, ActivityProbe(role, quantity))  # type: ignore[arg-type]

    assert shown("service") == pytest.approx(0.02)
    assert (shown("read_request"), shown("write_request")) == (1e5, 2e4)
    assert (shown("read_rate"), shown("write_rate"), shown("busy")) == (15e6, 3e6, 0.7)
    assert shown("busy", "target") == 0.0
    row.iops = 0.0
    assert (shown("service"), shown("read_request")) == (0.0, 0.0)


def test_a_class_holds_its_share_of_what_lies_on_the_data_vdevs() -> None:
    """Three quarters of the blocks lie on data vdevs, a quarter on special ones: a third of ALLOC."""
    one = case(layout="raidz2x6+special:mirror2")
    table = SimpleNamespace(
        share_on=lambda places: 0.25 if places == one.layout.places_of("special") else 0.75
    )
    pool: Any = SimpleNamespace(table=table)
    ran = Ran(one, pool, None)  # type: ignore[arg-type]
    assert ran.shows(HeldProbe("special", 9 * TB)) == pytest.approx(math.log(3 * TB))
    assert ran.shows(HeldProbe("special")) == pytest.approx(math.log(one.alloc / 3.0))
    assert math.isnan(Ran(one, None, None).shows(HeldProbe("special")))  # type: ignore[arg-type]
    assert math.isnan(Ran(case(), pool, None).shows(HeldProbe("special")))  # type: ignore[arg-type]


def test_statuses_of_one_scan_stand_together() -> None:
    first, second = (RunningScan(kind="scrub", since=NOON, at=NOON + timedelta(hours=n)) for n in (1, 2))
    other = RunningScan(kind="scrub", since=NOON + timedelta(days=1))
    resilver, undated = RunningScan(kind="resilver", since=NOON), RunningScan(kind="scrub")
    found = scans_under_way([other, first, resilver, second, undated, over()])
    assert found == [[resilver], [undated], [first, second], [other]]


def pace_of(
    monkeypatch: pytest.MonkeyPatch, one: Case, total: tuple[float, ...] = (50.0, 100.0, 200.0), **state: Any
) -> tuple[OwnPace | None, PoolFacts]:
    """Return the pace of a scan whose end lies there, and by which facts its counters were read."""
    asked: list[PoolFacts] = []
    known: dict[str, Any] = {"visited": 1.0, "issued": 0.5, "seconds": 50.0, "clock": "scan", "error": 0.0}
    seen = State(**(known | state)) if state.get("issued", 0) is not None else None

    def left(courses: Any, scans: Any, facts: PoolFacts) -> Any:
        asked.append(facts)
        return SimpleNamespace(state=seen, total=lambda: total)

    monkeypatch.setattr(under_way, "remaining", left)
    monkeypatch.setattr(under_way, "with_clocks", lambda scans: scans)
    return own_pace(one, [RunningScan(kind="resilver")]), asked[0]


@pytest.mark.parametrize(
    ("fields", "is_sorted"),
    [
        ({}, True), ({"release": "zol-0.7"}, False), ({"operation": "scrub"}, True),
        ({"layout": "mirror2", "operation": "rebuild"}, False),
    ],
)  # fmt: skip
def test_a_pace_reads_the_counters_of_its_release_and_tells_the_end_with_its_spread(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], is_sorted: bool
) -> None:
    """From 50 to 200 s lie four fifths of a normal distribution: 2 x 1.2816 deviations."""
    found, facts = pace_of(monkeypatch, case(**fields))
    assert found == OwnPace(100.0, pytest.approx(math.log(4.0) / (2.0 * 1.2815516)))
    assert facts.sorted is is_sorted


@pytest.mark.parametrize(
    ("total", "state"),
    [
        ((50.0, 100.0, 200.0), {"seconds": None}), ((50.0, 100.0, 200.0), {"issued": 0.0}),
        ((50.0, 100.0, 200.0), {"issued": 0.0, "visited": 0.5}), ((50.0, 100.0, 200.0), {"issued": None}),
        ((0.0, 100.0, 200.0), {}),
    ],
)  # fmt: skip
def test_no_pace_is_told_without_repair_clock_or_end(
    monkeypatch: pytest.MonkeyPatch, total: tuple[float, ...], state: dict[str, Any]
) -> None:
    assert pace_of(monkeypatch, case(), total, **state)[0] is None


@pytest.mark.parametrize(
    ("fields", "reach"),
    [
        ({"operation": "scrub", "fill": 0.3}, 0.6), ({"operation": "scrub", "fill": 0.9}, 1.0),
        ({"layout": "mirror2", "operation": "rebuild", "fill": 0.3}, 0.6),
        ({"release": "zol-0.7"}, None), ({"drive": "generic-sata-ssd"}, None),
    ],
)  # fmt: skip
def test_what_goes_over_the_drive_once_meets_its_zones_as_far_as_files_reach(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], reach: float | None
) -> None:
    """Twice as far as the pool is full, and no further than to the end."""
    given: list[Any] = []

    def zoned(shape: Any, zones: Any, moving: float, far: float) -> Any:
        given.append((zones, moving, far))
        return shape

    monkeypatch.setattr(under_way, "with_zones", zoned)
    one = case(**({"memory": "1T"} | fields))
    found = under_way._course(one)
    assert found.shape.share.tolist() == straight().share.tolist()
    assert (found.unlike, found.loose) == (0.0, under_way.noise("running.unknown_pace"))
    numbers = one.drive.parameters()
    rate = np.mean(numbers.zone_rates) if one.drive.kind == "mechanical" else numbers.flash_read_rate
    assert found.issue_s == pytest.approx(one.alloc / one.layout.spread / rate)
    if reach is None:
        assert given == []
    else:
        zones = one.drive.parameters().zone_rates
        assert given == [(zones, under_way.noise("running.moving"), pytest.approx(reach))]
