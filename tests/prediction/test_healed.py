"""A resilver that repairs what an outage left, and vdevs of which it is printed what they hold."""

from __future__ import annotations

import pytest

from zsim.planning.eta.reading import read_paste
from zsim.prediction.api import case_of
from zsim.prediction.courses import _share_of_first
from zsim.prediction.inputs.population import miniature
from zsim.prediction.progress.course import Course, straight
from zsim.prediction.progress.moments import PoolFacts, adapted
from zsim.prediction.progress.remaining import remaining
from zsim.scenario.evidence import RunningScan
from zsim.scenario.model import Scenario

TB, GB = 10**12, 10**9
WORLD = Course(40.0, 20_000.0, 30.0, straight(), repaired=1.9 * TB, needed=0.5, window=3e-5, drifts=1.0)


def healing(**counters: int) -> RunningScan:
    known = {
        "scanned": 4 * TB,
        "issued": 4 * GB,
        "total": 4 * TB,
        "total_issue": 16 * GB,
        "processed": 4 * GB,
    }
    return RunningScan(kind="heal", format="2.2+", issue_rate=80e6, **known | counters)


def test_a_heal_has_as_much_to_issue_as_is_printed() -> None:
    course = adapted(WORLD, [healing()])
    assert course.needed == pytest.approx(16 * GB / (4 * TB))
    assert course.issue_s == pytest.approx(20_000.0 * 0.008)
    # A filled drive is never so far from its share: its vdev holds what the others hold.
    filled = adapted(WORLD, [healing().model_copy(update={"kind": "resilver"})])
    assert filled.needed > 0.1


def test_its_own_pace_tells_when_it_is_over() -> None:
    (low, middle, high) = remaining([WORLD], [healing()], PoolFacts()).left()
    # 12 GB at 80 MB/s.
    assert middle == pytest.approx(150.0, rel=0.25)
    assert high < 3.0 * low


def test_a_heal_is_called_so() -> None:
    text = """\
  pool: vm
 state: ONLINE
  scan: resilver in progress since Wed Nov 12 07:41:02 2025
\t3.41T / 3.41T scanned, 4.22G / 14.2G issued at 91.2M/s
\t4.25G resilvered, 29.72% done, 00:01:52 to go
config:

\tNAME                              STATE     READ WRITE CKSUM
\tvm                                ONLINE       0     0     0
\t  mirror-0                        ONLINE       0     0     0
\t    ata-MTFDDAK3T8TDS_20012600001 ONLINE       0     0     0
\t    ata-MTFDDAK3T8TDS_20012600002 ONLINE       0     0     0  (resilvering)

errors: No known data errors
"""
    assert "NOT A WHOLE DRIVE: what an outage left is repaired, 14.2G of 3.41T" in read_paste(text).notes


def test_what_vdevs_hold_by_their_lists_is_not_overruled_by_a_population() -> None:
    stated = {
        "layout": "3*mirror2",
        "drive": "wd80efax",
        "drive_size": "16TB",
        "vdev_fills": (0.47, 0.7, 0.9),
    }
    case = case_of(Scenario.from_dict(stated | {"history": "vm-host"}))
    # This world has its vdevs equally full.
    table = miniature(case, blocks=40_000).table
    assert _share_of_first(case, table) == pytest.approx(0.47 / 2.07, rel=1e-3)
