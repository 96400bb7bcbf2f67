"""A running scan's own mean pace, and how it is combined with what the worlds say."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.prediction.samples import T, course, scan
from zsim.prediction.api import case_of
from zsim.prediction.progress.case_priors import known_tilt
from zsim.prediction.progress.moments import PoolFacts, history_of
from zsim.prediction.progress.noise import fitted_noise
from zsim.prediction.progress.pace import Pace, combined, discrepancy_of, pace_of, with_pace
from zsim.prediction.progress.remaining import remaining
from zsim.scenario.model import Scenario

NOISE = fitted_noise()
FACTS = PoolFacts()
LOGS, SPREADS = np.log([1000.0, 3000.0]), np.array([0.2, 0.6])


def pace(world, *scans):
    history = history_of(scans, world, FACTS, NOISE)
    return pace_of(world, world.seconds(), history, NOISE.uneven)


def test_an_infinite_variance_of_either_gives_the_other():
    said = Pace(math.log(8000.0), 0.3)
    logs, spreads = combined(LOGS, SPREADS, said, math.inf)
    assert logs == pytest.approx(np.full(2, said.log))
    assert spreads == pytest.approx([0.3, 0.3])
    for own, apart in ((Pace(said.log, math.inf), 2.0), (Pace(said.log, math.inf), math.inf), (said, 0.0)):
        logs, spreads = combined(LOGS, SPREADS, own, apart)
        assert logs == pytest.approx(LOGS)
        assert spreads == pytest.approx(SPREADS)


def test_equal_variances_meet_half_way():
    logs, _ = combined(LOGS, SPREADS, Pace(math.log(4000.0), 0.5), 0.5)
    assert np.exp(logs) == pytest.approx([2000.0, math.sqrt(3000.0 * 4000.0)])


def test_what_was_gone_before_stays_in_the_whole():
    left, total = (LOGS, SPREADS), (np.log(np.exp(LOGS) + 500.0), SPREADS)
    new_left, new_total = with_pace(left, total, Pace(math.log(8000.0), 0.3), math.inf)
    assert np.exp(new_total[0]) - np.exp(new_left[0]) == pytest.approx([500.0, 500.0])


def test_the_pace_leaves_the_metadata_phase_out():
    fifth = {"scanned": 10 * T, "issued": 2 * T}
    of_pass = pace(course(), scan(**fifth, elapsed=2000.0, elapsed_is_pass=True))
    assert of_pass.log == pytest.approx(math.log(8000.0))
    whole = pace(course(), scan(**fifth, elapsed=2800.0))
    assert whole.log == pytest.approx(math.log(2800.0 * 1800.0 / 2800.0 * 4.0), abs=1e-3)
    assert pace(course(), scan(scanned=5 * T, issued=0, elapsed=500.0)) is None


def test_a_pace_is_surer_the_more_was_seen():
    spreads = [
        pace(course(), scan(scanned=10 * T, issued=int(share * 10 * T), elapsed=3000.0)).spread
        for share in (0.01, 0.1, 0.4)
    ]
    assert spreads == sorted(spreads, reverse=True)
    early = scan(scanned=10 * T, issued=T, elapsed=3000.0)
    assert pace(course(tilt=1.0), early).spread > pace(course(), early).spread
    # A pool so small that all of it may be under way: half of what was issued is taken as done, give or take.
    half = pace(course(), scan(scanned=10 * T, issued=T // 2, elapsed=3000.0)).spread
    expected = math.hypot(half, 1.0 / math.sqrt(3.0))
    assert pace(course(window=0.25), early).spread == pytest.approx(expected, rel=1e-3)


def test_worlds_far_off_follow_the_pace_only_where_they_are_little_known():
    seen = [scan(scanned=10 * T, issued=2 * T, elapsed=20_000.0, elapsed_is_pass=True)]
    known, little = (remaining([course(discrepancy=each)], seen, FACTS) for each in (0.0, 2.5))
    assert abs(math.log(little.left()[1] / 80_000.0)) < 0.1
    assert known.left()[1] < little.left()[1]
    assert sum(little.parts.values()) > sum(known.parts.values())


def test_another_scan_of_the_pool_makes_its_worlds_better_known():
    assert discrepancy_of(course()) == 0.0
    assert discrepancy_of(course(discrepancy=2.5)) == pytest.approx(2.5)
    told = replace(course(discrepancy=2.5), other_scans=((0.3, 0.1),))
    assert discrepancy_of(told) == pytest.approx(0.1, rel=0.01)


def test_small_pools_in_the_order_of_objects_may_change_their_pace_most():
    def tilt(**more):
        return known_tilt(case_of(Scenario.from_dict({"layout": "mirror2", "fill": "30%", **more})))

    assert tilt(alloc="6G", fill=None, release="zol-0.7") > 1.0
    assert tilt(alloc="6G", fill=None, release="openzfs-2.2") == tilt(release="zol-0.7") == 0.0
    shingled = tilt(release="openzfs-2.2", new_drive="generic-5400rpm-smr")
    assert shingled > 0.5
    both = tilt(alloc="6G", fill=None, release="zol-0.7", new_drive="generic-5400rpm-smr")
    assert both > shingled
