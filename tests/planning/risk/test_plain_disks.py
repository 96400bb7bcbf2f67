"""Pools of single drives: `zsim risk`, `fleet`, `plan` and `compare` give the same chance, that by hand."""

from __future__ import annotations

import json
import math
import shlex
from typing import Any

import numpy as np
import pytest

from zsim.cli.main import main
from zsim.planning.compare import compare
from zsim.planning.design.search import plan_layouts
from zsim.planning.fleet.api import fleet
from zsim.planning.risk.api import risk
from zsim.planning.risk.one_vdev.alone import lost_alone
from zsim.planning.risk.one_vdev.chain import within
from zsim.planning.risk.one_vdev.group import YEAR, Group, one_world
from zsim.planning.risk.question import RiskInputs
from zsim.prediction.answer.records import Quantiles
from zsim.scenario.asked import at_rest

FIXED: dict[str, Any] = {"afr": 0.02, "latent": False}
AFTER_A_YEAR = 1 - 0.98**4


def test_four_disks_are_lost_four_times_as_often_as_one() -> None:
    found = risk("4*disk", RiskInputs(**FIXED))
    assert found.per_year.pool.p == found.per_year.vdev.p == pytest.approx(AFTER_A_YEAR, rel=1e-6)
    assert found.years.pool.p == pytest.approx(1 - 0.98**20, rel=1e-5)
    assert found.window_of == "failure"
    assert found.window.pool.p == 1.0
    assert (found.repair_s.p50, found.missing_s) == (0.0, 0.0)
    assert "Chance of losing the pool within a year: 1 in 13." in str(found)
    assert "operation" not in " ".join(found.stated)


def test_each_latent_error_costs_files_and_not_the_pool() -> None:
    found = risk("2*disk", RiskInputs(afr=0.02, latent_incidence=0.003, scrub="7d"))
    assert found.per_year.files.p == pytest.approx(1 - 0.98**2 * math.exp(-2 * 12 * 0.003), rel=1e-4)
    assert found.per_year.pool.p == pytest.approx(1 - 0.98**2, rel=1e-6)
    assert any("copies=1" in each.text for each in found.assumptions)
    (scrub,) = [each for each in found.stated if each.startswith("a scrub")]
    assert "changes nothing" in scrub


def test_what_is_stated_of_repairs_changes_nothing_and_says_so() -> None:
    more = RiskInputs(**FIXED, hours="24h", spare="hot", correlation=10)
    found = risk("4*disk", more)
    assert found.per_year == risk("4*disk", RiskInputs(**FIXED)).per_year
    assert sum("without redundancy the first failure decides" in each for each in found.stated) == 3


@pytest.mark.parametrize("shape", [1.0, 1.12, 2.0])
def test_drives_that_age_fail_by_their_weibull_law(shape: float) -> None:
    age, rate = 3 * YEAR, 0.02 / YEAR
    scale = 1 / rate / math.gamma(1 + 1 / shape)
    spent = ((age + YEAR) / scale) ** shape - (age / scale) ** shape
    group = Group(children=1, tolerance=0, shape=shape, age=age)
    _, vdev = lost_alone(group, one_world(rate, 0.0), YEAR)
    assert vdev[0] == pytest.approx(-math.expm1(-spent), rel=1e-9)
    found = risk("disk", RiskInputs(afr=-math.expm1(-0.02), latent=False, shape=shape, age=age))
    assert found.per_year.vdev.p == pytest.approx(vdev[0], rel=1e-5)


def test_a_single_drive_is_the_limit_of_a_mirror_whose_repair_never_ends() -> None:
    """Of two drives one of which is gone for good: the other one's failure is the loss."""
    alone = within(Group(children=1, tolerance=0), one_world(0.02 / YEAR, 0.0), YEAR).vdev[0]
    pair = within(Group(children=2, tolerance=1), one_world(0.02 / YEAR, 1e6 * YEAR), YEAR).vdev[0]
    assert pair == pytest.approx(alone**2, rel=1e-3)


def test_a_special_drive_without_redundancy_decides_over_the_pool() -> None:
    inputs = RiskInputs(**FIXED, hours="24h")
    both = risk("2*raidz2x6+special:disk", inputs)
    mirrored = risk("2*raidz2x6+special:mirror2", inputs)
    assert both.per_year.pool.p == pytest.approx(0.02, rel=1e-2)
    assert mirrored.per_year.pool.p < 1e-3
    assert any("special:disk: one drive without redundancy" in each for each in both.warnings)
    assert not any("without redundancy" in each for each in mirrored.warnings)
    # The vdev that is repaired is the one with redundancy, wherever it stands.
    assert risk("disk+mirror2", inputs).window == risk("mirror2+disk", inputs).window


def test_during_a_scrub_what_may_fail_is_a_drive(capsys: pytest.CaptureFixture[str]) -> None:
    line = "risk 4*disk --operation scrub --drive-size 2TB --fill 50% --afr 2% --no-latent --json"
    assert main(shlex.split(line)) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["window_of"] == "scrub"
    assert 0 < found["window"]["vdev"]["p"] < 1e-4
    assert found["per_year"]["pool"]["p"] == pytest.approx(AFTER_A_YEAR, rel=1e-6)


@pytest.mark.parametrize("shape", [1.0, 1.5])
def test_a_fleet_of_plain_disks_counts_what_risk_says(shape: float) -> None:
    plain = {"layout": "4*disk", "shape": shape, "age": 2.0, **FIXED}
    found = fleet({"years": 5, "trials": 2000, "pool": [plain]})
    known = risk("4*disk", RiskInputs(**FIXED, shape=shape, age=2 * YEAR))
    assert found.any_loss.pool.p == pytest.approx(known.years.pool.p, rel=2e-3)
    assert found.any_loss.files.p == pytest.approx(known.years.files.p, rel=2e-3)
    expected = found.losses_per_year.pool.p
    drawn = found.failures_per_year
    assert drawn == pytest.approx(expected, rel=0.25)
    assert any("restoring it from a backup is not counted" in each for each in found.warnings)


def test_a_fleet_takes_the_time_of_a_restore_where_it_is_stated() -> None:
    plain = {"layout": "4*disk", "hours": 40, **FIXED}
    found = fleet({"years": 5, "trials": 50, "visit": 0, "detect": 0, "pool": [plain]})
    assert found.pools[0].missing_s == pytest.approx(40 * 3600, rel=0.02)


def test_plan_lists_plain_disks_only_where_they_are_asked_for() -> None:
    """Their rows are those of `zsim.risk`; a repair they have none of meets no requirement."""
    asked: dict[str, Any] = {"inputs": RiskInputs(**FIXED, hours="10h"), "drive_size": "8TB"}
    both = plan_layouts(drives=4, kinds=["disk", "mirror"], **asked)
    (row,) = [each for each in both.rows if each["layout"] == "4*disk"]
    assert row["pool_per_year"] == pytest.approx(AFTER_A_YEAR, rel=1e-6)
    assert (row["p50_s"], row["vdev_in_window"], row["random_reads_degraded"]) == (None, 1.0, 0.0)
    assert row["meets"]
    assert "a drive that fails takes the pool with it" in str(both)
    assert not any("disk" in each["layout"] for each in plan_layouts(drives=4, **asked).rows)
    wished = plan_layouts(drives=4, kinds=["disk", "mirror"], require=["p90 < 24h"], **asked)
    assert [each["layout"] for each in wished.meeting] == ["2*mirror2", "mirror3"]


def test_compare_says_what_takes_the_place_of_a_resilver() -> None:
    found = compare("4*disk", "mirror2", drive_size="1TB", fill=0.3)
    plain, mirror = found
    assert plain["p50_s"] is None
    assert plain["usable_bytes"] > 3 * mirror["usable_bytes"]
    assert mirror["p50_s"] > 0
    assert "a drive that fails takes the pool with it" in plain["refused"]
    with pytest.raises(Exception, match="take mirror2"):
        compare("4*disk", "disk")


def test_what_is_stated_of_the_operation_stands() -> None:
    assert at_rest({"layout": "2*disk", "operation": "resilver"})["operation"] == "resilver"
    assert at_rest({"layout": "raidz2x6"}) == {"layout": "raidz2x6"}
    assert at_rest({"layout": "no pool"}) == {"layout": "no pool"}


def test_hours_of_a_repair_are_not_asked_for() -> None:
    def never(*_: object) -> Quantiles:
        raise AssertionError

    assert np.isfinite(risk("disk", hours_of=never).per_year.pool.p)
