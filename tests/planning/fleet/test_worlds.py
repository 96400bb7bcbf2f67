"""Which worlds of a fleet are simulated, and what each counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import zsim
from zsim.planning.fleet.worlds import KindLosses, chosen, losses_expected, taken
from zsim.planning.risk.evaluate import DrawnWorlds, summed_up
from zsim.planning.risk.one_vdev.group import HOUR, YEAR, Group, Worlds, one_world

DAY = 24 * HOUR


def many(count: int, **spread: np.ndarray[Any, Any]) -> Worlds:
    one = one_world(0.01 / YEAR, DAY).taken(np.zeros(count, dtype=np.intp))
    return replace(one, **spread)


def losing(worlds: Worlds, **group: Any) -> KindLosses:
    known = Group(**{"children": 6, "tolerance": 2, **group})
    return KindLosses(vdevs=3, group=known, worlds=worlds, missing=np.full(len(worlds), 2 * DAY))


def test_losses_are_the_first_failure_and_enough_others_while_it_is_missing() -> None:
    """18 drives; 10 pairs of the five others, each twice within two days, times (1 + 5) (1 + 10)."""
    one = replace(one_world(0.01 / YEAR, DAY), correlation=np.array([6.0]))
    failures, files, vdev = losses_expected(losing(one))
    each = 0.01 * 2 * DAY / YEAR
    assert failures[0] * YEAR == pytest.approx(0.18)
    assert vdev[0] * YEAR == pytest.approx(0.18 * 10 * each**2 * 6 * 11)
    assert files[0] == vdev[0], "no latent errors: files go with the vdev"
    damaged = replace(one, latent=np.array([1 / YEAR]), removal=np.array([YEAR]))
    files = losses_expected(losing(damaged))[1]
    assert files[0] * YEAR == pytest.approx(0.18 * 5 * each * 6 * (1 - 0.5**4))


def test_single_drives_are_lost_with_each_failure() -> None:
    failures, files, vdev = losses_expected(losing(many(1, latent=np.array([0.02 / YEAR])), tolerance=0))
    assert vdev == pytest.approx(failures)
    assert files[0] == pytest.approx(3 * failures[0])


def test_means_over_the_chosen_worlds_are_those_over_all() -> None:
    """Rates that vary fourfold, losses with their cube: 64 of 8,192 tell both means, 16 alone did not."""
    rate = 0.01 / YEAR * np.exp(1.2 * np.random.default_rng(1).standard_normal(8192))
    kind = losing(many(8192, rate=rate))
    failures, _, vdev = losses_expected(kind)
    found = chosen([kind], 64)
    assert found.weights.sum() == pytest.approx(1.0)
    assert len(found.places) == 64
    assert found.weights @ failures[found.places] == pytest.approx(failures.mean(), rel=0.01)
    assert found.weights @ vdev[found.places] == pytest.approx(vdev.mean(), rel=0.05)
    assert found.weights.max() < 2.1 / 64, "none counts for more than twice its share"


def test_one_world_stands_for_all_where_everything_is_known() -> None:
    found = chosen([losing(many(1))], 64)
    assert (found.places.tolist(), found.weights.tolist()) == ([0], [1.0])
    drawn = DrawnWorlds(many(1), {})
    assert len(taken(drawn, np.array([5, 7])).worlds) == 2


def test_a_weighed_chance_has_weighed_mean_and_ends() -> None:
    values, weights = np.array([1e-4, 2e-4, 9e-4]), np.array([0.02, 0.9, 0.08])
    found = summed_up(values, np.zeros(3), weights)
    assert (found.p, found.low, found.high) == pytest.approx((2.5e-4, 2e-4, 9e-4), rel=0.05)
    wide = summed_up(values, np.full(3, 0.5), weights)
    assert wide.high == pytest.approx(9e-4, rel=0.05)
    assert wide.low < 1.5e-4


def test_a_small_fleet_sees_enough_failures_unless_histories_are_stated() -> None:
    """8 drives of which 2 % fail in a year, five years: 400 failures in each of 64 worlds."""
    pools = {"name": "a", "layout": "raidz2x8", "fill": 0.6, "hours": 24, "afr": "2%"}
    asked = {"years": 5, "pool": [pools]}
    rate = -np.log(0.98) * 8 * 5
    assert zsim.fleet(asked).trials == int(64 * 400 / rate)
    assert zsim.fleet({**asked, "trials": 70}).trials == 70
    many = {**asked, "pool": [{**pools, "count": 100}]}
    assert zsim.fleet(many).trials == 2000
    changed = zsim.Fleet.from_dict(asked).changed(spares=1)
    assert "trials" not in changed.model_fields_set, "a flag beside a file leaves it open"


@pytest.mark.parametrize("layout", ["mirror2", "raidz2x6", "raidz3x12"])
def test_a_fleet_of_unknown_drives_loses_as_many_vdevs_as_a_risk_says(layout: str) -> None:
    """The mean hangs on the worst worlds: of sixteen drawn evenly it was up to seven times too low."""
    pools = {"name": "a", "count": 100, "layout": layout, "fill": 0.6, "hours": 24}
    told = zsim.fleet({"years": 1, "trials": 4000, "visit": 0, "detect": "12h", "pool": [pools]})
    inputs = zsim.RiskInputs(hours="24h", detect="12h")
    year = zsim.risk(layout, inputs, fill=0.6).per_year.vdev
    assert told.pools[0].losses_per_year.vdev.p / 100 == pytest.approx(year.p, rel=0.3)


@pytest.mark.parametrize("layout", ["raidz2x8", "mirror2", "raidz1x5"])
def test_both_ends_of_a_small_fleet_are_those_of_a_risk_whatever_the_seed(layout: str) -> None:
    """The lower one was up to sixteen times too high or too low, the noise of a few rare ZED faults."""
    pools = {"name": "a", "count": 3, "layout": layout, "fill": 0.6, "hours": 30}
    asked = {"years": 5, "visit": "1h", "detect": "12h", "pool": [pools]}
    inputs = zsim.RiskInputs(hours="30h", detect="13h", years=5)
    known = zsim.risk(layout, inputs, fill=0.6).years
    for seed in (1, 2, 3):
        told = zsim.fleet({**asked, "seed": seed}).any_loss
        for grade in ("files", "vdev"):
            one, three = getattr(known, grade), getattr(told, grade)
            assert three.low == pytest.approx(3 * one.low, rel=0.35)
            assert three.high == pytest.approx(3 * one.high, rel=0.15)


def test_a_fleet_of_one_pool_of_unlike_vdevs_loses_what_a_risk_says() -> None:
    """Each kind of vdev has its own repairs; the fleet was refused."""

    def hours(scenario: zsim.Scenario, *_: object) -> zsim.Quantiles:
        if str(scenario.replace_in) == "2":
            return zsim.Quantiles(p10=20 * HOUR, p50=40 * HOUR, p90=90 * HOUR)
        return zsim.Quantiles(p50=DAY)

    layout = "2*raidz1x4+mirror2"
    asked = {"years": 1, "visit": 0, "detect": "12h", "pool": [{"name": "a", "layout": layout, "fill": 0.6}]}
    told = zsim.fleet(asked, hours_of=hours)
    known = zsim.risk(layout, zsim.RiskInputs(detect="12h"), hours_of=hours, fill=0.6).per_year
    assert told.any_loss.vdev.p == pytest.approx(known.vdev.p, rel=0.15)
    assert told.any_loss.files.p == pytest.approx(known.files.p, rel=0.15)
    (row,) = told.pools
    assert row.hours_s == pytest.approx((8 * 24 + 2 * 40) / 10 * HOUR, rel=1e-2)
    words = "a: the vdevs differ, and are repaired as predicted: raidz1x4 in 1 d, mirror2 in 1 d 16 h"
    assert told.warnings == (words,)


def test_hot_spares_are_shared_by_all_vdevs_of_a_pool_also_unlike_ones() -> None:
    """Two vdevs that fail at once: one spare for both, but one for each of two pools."""
    pools = {"count": 30, "hours": 30, "afr": "20%", "correlation": 1, "latent": False}
    site = {"trials": 200, "visit": "1h", "detect": "60d"}

    def missing(*layouts: str) -> float:
        each = [{**pools, "name": layout, "layout": layout} for layout in layouts]
        rows = zsim.fleet({**site, "pool": each}).pools
        return sum(row.missing_s * row.failures_per_year for row in rows)

    together = missing("mirror2+raidz1x3+spare:1")
    apart = missing("mirror2+spare:1", "raidz1x3+spare:1")
    alone = missing("mirror2", "raidz1x3")
    assert apart < 0.7 * together < 0.7 * 0.7 * alone


def test_few_histories_have_chances_in_order_and_ends() -> None:
    """Twenty worlds of one history each: most lose nothing."""
    pools = {"name": "a", "count": 40, "layout": "2*raidz2x12", "hours": 38, "fill": 0.7}
    for seed in range(5):
        found = zsim.fleet({"trials": 20, "years": 2, "seed": seed, "pool": [pools]})
        for losses in (found.any_loss, found.losses_per_year, found.pools[0].losses_per_year):
            for name in ("low", "p", "high"):
                assert 0 < getattr(losses.pool, name) <= getattr(losses.vdev, name)
                assert getattr(losses.vdev, name) <= getattr(losses.files, name)
            assert losses.vdev.low <= losses.vdev.p <= losses.vdev.high
