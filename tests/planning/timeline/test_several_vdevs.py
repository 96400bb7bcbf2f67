"""One pass that fills drives of several vdevs, from a status to the redundancy of each."""

from __future__ import annotations

import pytest

from tests.pastes import status
from zsim.base.errors import InputError
from zsim.planning.risk.story import _failed_before
from zsim.planning.timeline.api import timeline
from zsim.planning.timeline.plan import Plan
from zsim.planning.timeline.state import imported_pool, pool_now

RUNS = """resilver in progress since Sun Nov 22 08:11:03 2026
\t12.20T / 24.2T scanned at 1.2G/s, 3.10T / 24.2T issued at 341M/s
\t650G resilvered, 12.8% done, 18:01:40 to go"""
BOTH = """
raidz1-0 DEGRADED
  sda
  replacing-1 DEGRADED
    sdb UNAVAIL
    sdx (resilvering)
  sdc
  sdd
raidz2-1 DEGRADED
  sde
  replacing-1 DEGRADED
    sdf {old}
    sdy (resilvering)
  sdg
  sdh
  sdi
  sdj
"""


def now(old: str) -> Plan:
    text = status(RUNS, BOTH.replace("{old}", old))
    return Plan.from_dict(pool_now(imported_pool(text, [], {}), text, [], {}, "a timeline").plan)


@pytest.mark.parametrize(("old", "gone"), [("UNAVAIL", 1), ("ONLINE", 0)])
def test_a_status_tells_the_drives_of_the_other_vdev(old: str, gone: int) -> None:
    running = now(old).running
    assert running is not None
    assert [(each.vdev, each.drives) for each in running.beside] == [(1, (1,))]
    assert running.beside[0].old_drive == ("missing" if gone else "online")
    assert _failed_before(now(old)) == {0: 1, 1: gone}


def test_both_are_whole_when_the_pass_ends() -> None:
    text = status(RUNS, BOTH.replace("{old}", "UNAVAIL"))
    found = timeline(text, drive_size="12TB", recordsize="128K")
    assert [each.vdev for each in found.passes] == ["raidz1-0+raidz2-1"]
    lost = {(each.vdev, each.left) for each in found.redundancy if each.from_s == 0.0}
    assert lost == {("raidz1-0", 0), ("raidz2-1", 1)}


@pytest.mark.parametrize(
    ("beside", "field"),
    [
        ({"vdev": 2, "drives": [0]}, "running.beside.vdev"),
        ({"vdev": 0, "drives": [1]}, "running.beside.vdev"),
        ({"vdev": 1, "drives": [6]}, "running.beside.drives"),
        ({"vdev": 1, "drives": [0, 1, 2]}, "running.beside.drives"),
    ],
)
def test_drives_that_the_pool_does_not_have_are_refused(beside: dict[str, object], field: str) -> None:
    pool = {"layout": "raidz1x4+raidz2x6"}
    with pytest.raises(InputError) as refused:
        Plan.from_dict({"scenario": pool, "running": {"done": 0.3, "beside": [beside]}})
    assert refused.value.field == field


@pytest.mark.parametrize("drives", [(0,), (5,), (0, 5)])
def test_drives_of_the_other_vdev_are_counted_from_nought(drives: tuple[int, ...]) -> None:
    beside = {"vdev": 1, "drives": list(drives)}
    plan = Plan.from_dict(
        {"scenario": {"layout": "raidz1x4+raidz2x6"}, "running": {"done": 0.3, "beside": [beside]}}
    )
    assert plan.running is not None
    assert [each.drives for each in plan.running.beside] == [drives]
