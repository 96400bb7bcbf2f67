"""What-ifs that a scenario can state: they are what a prediction of that scenario answers."""

from __future__ import annotations

import math
from typing import Any

import pytest

import zsim

MIRROR: dict[str, Any] = {"layout": "mirror2", "drive_size": "200GB", "fill": 0.4, "recordsize": "1M"}


@pytest.mark.parametrize("layout", ["raidz1x4", "3*mirror2"])
def test_every_drive_on_its_own_port_is_the_pool_without_a_port_multiplier(layout: str) -> None:
    """The middle world alone told 79 h where the pool without it takes 106."""
    enclosure = "port-multiplier-cbs" if layout == "raidz1x4" else None
    ports = None if enclosure else ["port-multiplier-cbs:0-4"]
    behind = zsim.Scenario.from_dict({**MIRROR, "layout": layout, "enclosure": enclosure, "ports": ports})
    told = zsim.predict(behind)
    (own,) = (each for each in told.advice if each.action == "give every drive its own port")
    alone = zsim.predict(behind.replace(enclosure=None, ports=None))
    assert own.saves_s is not None
    assert told.resilver_s.p50 - own.saves_s == pytest.approx(alone.resilver_s.p50, rel=1e-9)


def test_a_write_cache_that_is_on_is_the_pool_that_states_so() -> None:
    pool = {"layout": "raidz2x6", "drive_size": "1TB", "fill": 0.7, "write_cache": False}
    told = zsim.predict(pool)
    (on,) = (each for each in told.advice if each.action.endswith("write cache on"))
    cached = zsim.predict(pool, write_cache=True)
    assert on.saves_s is not None
    assert told.resilver_s.p50 - on.saves_s == pytest.approx(cached.resilver_s.p50, rel=1e-9)


def test_other_ways_are_what_predictions_of_them_answer_within_both_errors() -> None:
    """Blocks laid out for a sorted scan told 211 h for a pool whose legacy scan takes 665."""
    pool = zsim.Scenario.from_dict({"layout": "mirror2", "drive": "wd40efrx", "fill": 0.5})
    changed = {"legacy": {"tunables": {"zfs_scan_legacy": 1}}, "sequential rebuild": {"operation": "rebuild"}}
    for told in zsim.predict(pool).alternatives:
        alone = zsim.predict(pool.replace(**changed[told.name]), portion="row")
        assert alone.uncertainty is not None
        assert told.half_width_s is not None
        error_s = math.hypot(told.half_width_s, alone.uncertainty.sampling_half_width_s or 0.0)
        assert abs(told.resilver_s.p50 - alone.resilver_s.p50) < error_s < 0.3 * alone.resilver_s.p50
