"""A special vdev holds a share of the pool that nobody states: what the counters of its scan say of it."""

import math
from dataclasses import replace

import pytest

from zsim.prediction.progress.course import Course, OpenShare, straight
from zsim.prediction.progress.moments import PoolFacts
from zsim.prediction.progress.open_share import NODES, issued_share, variants
from zsim.prediction.progress.remaining import remaining
from zsim.scenario.evidence import RunningScan

GIB = 2**30
KNOWN = Course(visit_s=100.0, issue_s=900.0, tail_s=5.0, shape=straight(), repaired=10.0 * GIB, needed=0.01)
OPEN = replace(KNOWN, open_share=OpenShare(1.0, 0.2))


def scan(issued: float, elapsed: float, **fields: object) -> RunningScan:
    """Return a status of a pool of 1,000 GiB of which all is scanned."""
    known = {
        "kind": "resilver", "format": "2.2+", "elapsed": elapsed, "scanned": 1000 * GIB,
        "issued": issued * GIB, "total": 1000 * GIB,
    }  # fmt: skip
    return RunningScan.model_validate(known | fields)


def test_a_share_that_is_known_has_one_course() -> None:
    assert variants(KNOWN, [scan(5.0, 500.0)]) == [(KNOWN, 0.0)]
    # All is scanned: what is to be issued is printed.
    assert variants(OPEN, [scan(5.0, 500.0, total_issue=40 * GIB)]) == [(OPEN, 0.0)]


def test_an_open_share_is_spread_about_that_of_the_world_and_fits_on_the_vdev() -> None:
    found = variants(OPEN, [])
    assert len(found) == NODES
    assert math.fsum(math.exp(log) for _, log in found) == pytest.approx(1.0)
    shares = [each.needed for each, _ in found]
    assert shares == sorted(shares)
    assert shares[NODES // 2] == pytest.approx(0.01)
    assert shares[-1] > 3.0 * shares[NODES // 2]
    assert max(each.needed for each, _ in variants(replace(OPEN, needed=0.1), [])) == pytest.approx(0.2)
    for each, _ in found:
        assert each.issue_s / each.needed == pytest.approx(KNOWN.issue_s / KNOWN.needed)


def test_a_scan_that_runs_on_has_not_issued_all() -> None:
    seen = [scan(60.0, 2000.0)]
    assert issued_share(seen) == pytest.approx(0.06)
    found = variants(OPEN, seen)
    assert min(each.needed for each, _ in found) > 0.06
    # One world in 27 holds so much: 1.79 standard deviations of the logarithm.
    assert math.fsum(math.exp(log) for _, log in found) == pytest.approx(0.037, rel=0.03)
    # Up to 2.1 what is skipped counts as issued, and says nothing of it.
    assert issued_share([scan(60.0, 2000.0, format="0.8-2.1")]) == 0.0


def test_the_answer_is_not_that_it_is_over() -> None:
    """Six times what the world has to issue, in six times its time, and it runs on."""
    seen = [scan(20.0, 2000.0), scan(60.0, 6000.0)]
    over, open_end = (remaining((each,), seen, PoolFacts()) for each in (KNOWN, OPEN))
    assert over.left()[2] < 600.0
    assert open_end.left()[1] > 1000.0
    assert open_end.weights.sum() == pytest.approx(1.0)
    assert open_end.worlds == pytest.approx([1.0])
