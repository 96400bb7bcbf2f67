"""Any plan: the story ends, nothing ends before it begins, redundancy stays within its bounds."""

from __future__ import annotations

import itertools
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.planning.timeline.telling import KnownPasses, tell
from zsim.base.errors import InputError
from zsim.planning.timeline.plan import Action
from zsim.planning.timeline.result import whole_at

LAYOUTS = ("raidz2x6", "2*raidz1x4", "mirror3", "2*mirror3", "draid2:4d:12c:2s")
RELEASES = ("zol-0.7", "openzfs-0.8", "openzfs-2.1", "openzfs-2.3", "freebsd-9.2", "solaris-11.2")
ACTIONS = Action.__args__
TIMES = st.one_of(
    st.just({}),
    st.builds(lambda hour: {"at": hour * 3600}, st.integers(0, 40)),
    st.builds(lambda hour: {"after": hour * 3600}, st.integers(0, 12)),
    st.builds(lambda share: {"at": f"{share}%"}, st.integers(0, 100)),
    st.builds(lambda when: {"when": when}, st.sampled_from(["quiet", "whole", "pass ends", "scrub ends"])),
)


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    """Return an event that the layouts above may have."""
    event = {"do": draw(st.sampled_from(ACTIONS)), "drive": draw(st.integers(0, 2)), **draw(TIMES)}
    event["takes"] = draw(st.integers(0, 7200))
    event["sequential"] = draw(st.booleans())
    if event["do"] == "set":
        event["set"] = {"load": draw(st.sampled_from([[], ["random-read,rate=50,size=64K"]]))}
    return event


@settings(max_examples=300)
@given(
    st.lists(events(), min_size=1, max_size=8),
    st.sampled_from(RELEASES),
    st.sampled_from(LAYOUTS),
    st.sampled_from([0.0, 0.1, 0.6]),
    st.integers(0, 2),
)
def test_any_plan(
    plan: list[dict[str, Any]], release: str, layout: str, collecting: float, spares: int
) -> None:
    passes = KnownPasses(collecting=collecting)
    try:
        pool = tell(plan, release, layout, passes, spares=spares, churn="10T", detection=60)
    except InputError:
        return
    for each in pool.history:
        assert each.ends >= each.begins
        assert 0.0 <= each.gone <= 1.0
    scans = [each for each in pool.history if each.kind in ("resilver", "scrub")]
    assert all(then.begins >= each.ends - 1e-6 for each, then in itertools.pairwise(scans))
    if not pool.lost and "pause-scrub" not in [event["do"] for event in plan]:
        waits = [each for each in pool.history if math.isinf(each.ends)]
        assert all(each.kind == "expansion" and not pool.vdevs[0].is_whole for each in waits)
    assert pool.redone >= 0
    levels = pool.ledger.levels(1e9)
    assert all(-1 <= level.left <= 6 for level in levels)
    whole = whole_at(pool)
    assert whole >= 0
    if not math.isinf(whole):
        assert all(vdev.is_whole for vdev in pool.vdevs)
    assert pool.spares <= spares
    assert all(vdev.spares <= vdev.spec.spares for vdev in pool.vdevs)
