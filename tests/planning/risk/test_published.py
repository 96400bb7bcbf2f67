"""`zsim risk` against published figures: validation/reliability/published.toml."""

from __future__ import annotations

import math
import tomllib
from math import gamma
from typing import Any

import numpy as np
import pytest

from zsim.base.model_data import validation_directory
from zsim.planning.risk.one_vdev.chain import in_window, mean_time_to_loss, within
from zsim.planning.risk.one_vdev.group import HOUR, Group, Repair, one_world
from zsim.planning.risk.one_vdev.latent import on_any
from zsim.planning.risk.one_vdev.simulation import count_events, simulate
from zsim.planning.risk.question import rate_of_share
from zsim.validation.api import validate
from zsim.validation.reliability.published import exponential_world

DATA = tomllib.loads((validation_directory() / "reliability" / "published.toml").read_text(encoding="utf-8"))
CHEN_YEAR = 8760 * HOUR


def names(cases: list[dict[str, Any]]) -> list[str]:
    return [case["name"] for case in cases]


@pytest.mark.parametrize("case", DATA["case"], ids=names(DATA["case"]))
def test_chen_et_al(case: dict[str, Any]) -> None:
    group, world = exponential_world(case)
    years = mean_time_to_loss(group, world)[0] / CHEN_YEAR / case["groups"]
    found = within(group, world, 10 * CHEN_YEAR)
    chance = found.vdev[0]
    if case.get("only") == "files":
        # The row is that of the bit error alone: what is left of both when both disks are taken off.
        chance = (found.files[0] - found.vdev[0]) / (1 - found.vdev[0])
        years = 10 / -math.log1p(-chance) / case["groups"]
    ten_years = -math.expm1(case["groups"] * math.log1p(-chance))
    assert years == pytest.approx(case["years_to_loss"], rel=case["tolerated"], abs=0)
    assert ten_years == pytest.approx(case["ten_years"], rel=case["tolerated"], abs=0)


@pytest.mark.parametrize("case", DATA["window"], ids=names(DATA["window"]))
def test_windows_of_fixed_length(case: dict[str, Any]) -> None:
    for drives, tolerance, share, correlation, hours, expected in case["rows"]:
        group = Group(children=drives, tolerance=tolerance, correlation_law="same")
        world = one_world(rate_of_share(share), hours * HOUR, correlation=correlation)
        found = in_window(group, world).vdev[0]
        failing = -math.expm1(-rate_of_share(share) * correlation * hours * HOUR)
        others = drives - 1
        tail = sum(
            math.comb(others, k) * failing**k * (1 - failing) ** (others - k)
            for k in range(tolerance, others + 1)
        )
        assert found == pytest.approx(tail, rel=1e-9, abs=0)
        assert found == pytest.approx(expected, rel=case.get("tolerated", 0.04), abs=0)


@pytest.mark.parametrize("drives", [2, 5, 12])
@pytest.mark.parametrize("ratio", [1e-2, 1e-6, 1e-9])
def test_greenan_single_parity(drives: int, ratio: float) -> None:
    """Greenan et al., HotStorage 2010, section 2: MTTDL = (mu + (2n - 1) lambda) / (n (n - 1) lambda^2)."""
    mu = 1 / HOUR
    lam = ratio * mu
    group = Group(children=drives, tolerance=1, repair=Repair(minimum=0.0))
    expected = (mu + (2 * drives - 1) * lam) / (drives * (drives - 1) * lam**2)
    assert mean_time_to_loss(group, one_world(lam, HOUR))[0] == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("ratio", [1e-2, 1e-6, 1e-9])
def test_ford_replicas(ratio: float) -> None:
    """Ford et al., OSDI 2010, 8.2: two copies (3l + r) / 2l^2, three (11l^2 + 4lr + r^2) / 6l^3."""
    rho = 1 / HOUR
    lam = ratio * rho
    world = one_world(lam, HOUR)
    two = Group(children=2, tolerance=1, discipline="serial", repair=Repair(minimum=0.0))
    three = Group(children=3, tolerance=2, discipline="serial", repair=Repair(minimum=0.0))
    assert mean_time_to_loss(two, world)[0] == pytest.approx((3 * lam + rho) / (2 * lam**2), rel=1e-12, abs=0)
    expected = (11 * lam**2 + 4 * lam * rho + rho**2) / (6 * lam**3)
    assert mean_time_to_loss(three, world)[0] == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize(("drives", "tolerance"), [(9, 3), (12, 4)])
def test_ford_general_chain_keeps_its_digits(drives: int, tolerance: int) -> None:
    """Ford's general formula; elimination in floating point loses all digits of RS(9,6) and RS(12,8)."""
    rho, lam = 1 / HOUR, 1e-9 / HOUR
    group = Group(children=drives, tolerance=tolerance, discipline="serial", repair=Repair(minimum=0.0))
    total = 0.0
    for k in range(tolerance + 1):
        for i in range(tolerance + 1 - k):
            rising = math.prod(drives - tolerance + k + step for step in range(i + 1))
            total += (rho / lam) ** i / rising
    assert mean_time_to_loss(group, one_world(lam, HOUR))[0] == pytest.approx(total / lam, rel=1e-12, abs=0)


def laws(data: dict[str, Any]) -> tuple[Repair, float, float]:
    """Return the law of the restores, their mean [s], and the failure rate [1/s]."""
    rest = data["restore_scale"] * gamma(1 + 1 / data["restore_shape"])
    mean = data["restore_minimum"] + rest
    repair = Repair(minimum=data["restore_minimum"] / mean, shape=data["restore_shape"])
    lifetime = data["lifetime_scale"] * gamma(1 + 1 / data["lifetime_shape"])
    return repair, mean * HOUR, 1 / (lifetime * HOUR)


@pytest.mark.parametrize("case", DATA["elerath_pecht"]["cases"], ids=lambda case: f"scrub {case['scrub']}")
def test_elerath_pecht(case: dict[str, Any]) -> None:
    data = DATA["elerath_pecht"]
    repair, hours, rate = laws(data)
    group = Group(children=data["drives"], tolerance=1, repair=repair, shape=data["lifetime_shape"])
    removal = math.inf
    if case["scrub"] != "never":
        removal = (data["scrub_minimum"] + case["scrub"] * gamma(1 + 1 / data["scrub_shape"])) * HOUR
    world = one_world(rate, hours, latent=1 / (data["latent_mean"] * HOUR), removal=removal)
    found = count_events(group, world, data["years"] * CHEN_YEAR, 10_000, seed=1)
    spread = 3 * math.hypot(case["error"], 1000 * found.error[0])
    assert 1000 * found.chance[0] == pytest.approx(case["events"], abs=spread)


def test_elerath_pecht_disks_only() -> None:
    data = DATA["elerath_pecht"]
    repair, hours, rate = laws(data)
    group = Group(children=data["drives"], tolerance=1, repair=repair, shape=data["lifetime_shape"])
    found = simulate(group, one_world(rate, hours), (data["years"] * CHEN_YEAR,), 10_000, seed=1).vdev[0]
    assert 1000 * found.error[0] < 0.01
    assert 1000 * found.chance[0] == pytest.approx(data["disks_only"]["events"], abs=0.025)


def renewals(shape: float, scale: float, moments: np.ndarray) -> np.ndarray:
    """Return the rate at which a drive of Weibull lifetimes fails, replaced each time (renewal density)."""
    step = moments[1] - moments[0]
    middle = moments + step / 2
    density = shape / scale * (middle / scale) ** (shape - 1) * np.exp(-((middle / scale) ** shape))
    found = np.zeros_like(moments)
    for at in range(len(moments)):
        found[at] = density[at] + step * np.dot(found[:at][::-1], density[:at])
    return found


def first_order() -> float:
    """Independent drives that are replaced: four of nine missing at once, to first order an integral."""
    data = DATA["simedc"]
    _, hours, _ = laws(data)
    horizon = data["years"] * CHEN_YEAR
    moments = np.linspace(0, horizon, 1000, endpoint=False)
    failing = renewals(data["lifetime_shape"], data["lifetime_scale"] * HOUR, moments)
    others = math.comb(data["drives"] - 1, data["tolerance"])
    found = data["drives"] * others * np.mean(failing**4) * horizon * hours ** data["tolerance"]
    return float(found)


def test_simedc_defaults_are_not_zero() -> None:
    data = DATA["simedc"]
    repair, hours, rate = laws(data)
    group = Group(
        children=data["drives"], tolerance=data["tolerance"], repair=repair, shape=data["lifetime_shape"]
    )
    horizon = data["years"] * CHEN_YEAR
    found = simulate(group, one_world(rate, hours), (horizon,), 40_000, seed=1).vdev[0]
    assert found.error[0] < 0.05 * found.chance[0]
    assert found.chance[0] == pytest.approx(first_order(), rel=0.06, abs=0)


@pytest.mark.parametrize("shape", [0.8, 1.12, 2.0])
def test_weibull_shapes_in_a_window(shape: float) -> None:
    """One survivor of a given age: the chance is the Weibull law's own."""
    age, hours, mean = 3 * CHEN_YEAR, 100 * HOUR, 10 * CHEN_YEAR
    group = Group(children=2, tolerance=1, shape=shape, age=age)
    found = simulate(group, one_world(1 / mean, hours), (1.0,), 100, seed=1, window=True).vdev[0]
    scale = mean / gamma(1 + 1 / shape)
    expected = -math.expm1((age / scale) ** shape - ((age + hours) / scale) ** shape)
    assert found.chance[0] == pytest.approx(expected, rel=1e-9, abs=0)


def test_the_cases_pass_in_zsim_validate() -> None:
    found = validate(["reliability*"])
    assert found.passed
    assert len(found.claims) > 25
    assert {claim.kind for claim in found.claims} == {"reliability"}
    order = next(claim for claim in found.claims if claim.case.endswith("defaults")).observed
    assert order == pytest.approx(first_order(), rel=0.01, abs=0)


def test_on_any_keeps_small_chances() -> None:
    assert on_any(np.array([1e-20]), 5)[0] == pytest.approx(5e-20, rel=1e-12, abs=0)
