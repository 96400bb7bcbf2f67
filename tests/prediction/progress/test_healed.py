"""A resilver that repairs what an outage left, and vdevs of which it is printed what they hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from zsim.planning.eta.reading import read_paste
from zsim.prediction.api import case_of
from zsim.prediction.courses import _share_of_first
from zsim.prediction.inputs.population import miniature
from zsim.prediction.progress.course import Course, straight
from zsim.prediction.progress.healing import ends, is_open, visited_share
from zsim.prediction.progress.moments import PoolFacts, adapted, with_clocks
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


def visiting(kind: str = "heal", **counters: object) -> RunningScan:
    """A tenth is visited after 1000 s, and two percent of that need repair."""
    known = {
        "format": "0.8-2.1", "scanned": 400 * GB, "issued": 396 * GB, "total": 4 * TB, "processed": 4 * GB,
        "elapsed": 1000.0, "scan_rate": 400e6,
    }  # fmt: skip
    return RunningScan.model_validate({"kind": kind} | known | counters)


@pytest.mark.parametrize("form", ["legacy", "0.8-2.1", "2.2+"])
def test_a_scan_that_visits_what_was_written_since_may_be_over_at_any_share(form: str) -> None:
    counters: dict[str, object] = {"format": form}
    if form == "legacy":
        counters |= {"issued": 400 * GB}
    elif form == "2.2+":
        counters |= {"issued": 4 * GB, "total_issue": 4 * TB - 392 * GB}
    visit, issue = (0.0, 10_000.0) if form == "legacy" else (10_000.0, 20_000.0)
    world = replace(WORLD, visit_s=visit, issue_s=issue)
    scans = with_clocks([visiting(**counters)])
    assert is_open(scans[-1])
    low, middle, high = remaining([world], scans, PoolFacts(sorted=form != "legacy")).left()
    # All of it would be visited in 9000 s; the logarithm of the share is as likely anywhere up to there.
    assert low < 600.0
    assert 1200.0 < middle < 4500.0
    assert 5000.0 < high < 12_000.0


def test_what_is_due_of_what_is_scanned_is_due_of_the_rest() -> None:
    for course, (scan,) in ends(WORLD, [visiting()]):
        # What is skipped counts as issued: 4 GB of 400 wait, 4 are repaired.
        assert scan.total_issue == pytest.approx(8.0 / 400.0 * (scan.total or 0), rel=0.1)
        assert course.repaired / WORLD.repaired == pytest.approx((scan.total or 0) / (4 * TB))
    shares = [(scan.total or 0) / (4 * TB) for _, (scan,) in ends(WORLD, [visiting()])]
    assert shares == sorted(shares)
    assert 0.1 < shares[0] < 0.13
    assert 0.8 < shares[-1] < 1.0


def test_only_of_what_an_outage_left_the_end_is_open() -> None:
    whole = visiting(format="2.2+", scanned=4 * TB, total_issue=16 * GB, issued=4 * GB)
    for scan in (visiting("resilver"), whole):
        assert ends(WORLD, [scan]) == [(WORLD, (scan,))]
    assert ends(WORLD, []) == [(WORLD, ())]
    # Before anything is visited it ends no sooner than after the shortest outage that was reported.
    shares = [(scan.total or 0) / (4 * TB) for _, (scan,) in ends(WORLD, [visiting(scanned=0)])]
    assert shares == sorted(shares)
    assert 0.004 < shares[0] < 0.008
    assert 0.5 < shares[-1] < 1.0
    assert visited_share(visiting(scanned=None, done=0.25)) == 0.25


OF_21 = """\
  pool: data
 state: ONLINE
  scan: resilver in progress since Fri Feb 10 21:40:02 2023
\t12.1T scanned at 3.2G/s, {issued} issued at 3.1G/s, 44.0T total
\t{wrote} resilvered, 26.82% done, 02:57:11 to go
config:

\tNAME        STATE     READ WRITE CKSUM
\tdata        ONLINE       0     0     0
\t  mirror-0  ONLINE       0     0     0
\t    sda     ONLINE       0     0     0
\t    sdb     ONLINE       0     0     0
\t  mirror-1  ONLINE       0     0     0
\t    sdc     ONLINE       0     0     0
\t    sdd     ONLINE       0     0     3  (resilvering)

errors: No known data errors
"""


@pytest.mark.parametrize(
    ("issued", "wrote", "kind"),
    [("11.8T", "310G", "heal"), ("11.8T", "2.70T", "resilver"), ("6.40T", "310G", "resilver")],
)
def test_what_is_passed_over_tells_a_heal_of_several_vdevs(issued: str, wrote: str, kind: str) -> None:
    paste = read_paste(OF_21.format(issued=issued, wrote=wrote))
    assert paste.scans[-1].kind == kind
    said = [note for note in paste.notes if note.startswith("NOT A WHOLE DRIVE")]
    assert len(said) == (kind == "heal")


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
    words = "NOT A WHOLE DRIVE: only what a drive missed during an outage is repaired, 14.2G of 3.41T"
    assert words in read_paste(text).notes


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
