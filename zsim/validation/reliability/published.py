"""Format ``published.toml``: chances of loss and times to loss from papers.

::

    [[case]]            drives, tolerance, groups, mttf, mttr, correlation (each failure again),
                        years_to_loss, ten_years (a chance), perhaps unreadable (share of disks)
    [[window]]          rows of drives, tolerance, AFR, correlation, hours, chance of loss
    [elerath_pecht]     Weibull laws and events in 1,000 groups, by the interval of scrubs
    [simedc]            Weibull laws; the chance must not be 0
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from math import gamma
from pathlib import Path
from typing import Any

from zsim.base.model_data import load_toml
from zsim.base.reading import understood
from zsim.planning.risk.one_vdev.chain import in_window, mean_time_to_loss, within
from zsim.planning.risk.one_vdev.group import HOUR, Group, Repair, Worlds, one_world
from zsim.planning.risk.one_vdev.simulation import count_events, simulate
from zsim.planning.risk.question import rate_of_share
from zsim.validation.frame import Claim, Options, ValidationCase, judge

YEAR = 8760 * HOUR
"""[s]; papers count 365 days."""
KIND, FORMAT = "reliability", "reliability"
HISTORIES = 10_000
ROUNDED = 0.04
"""Half a unit of the second digit of figures that are given with two, at worst."""
SIGMAS = 3.0


def discover(path: Path) -> list[ValidationCase]:
    """Return a case for each paper and table of the file."""
    data = read(path)
    with understood(path, "published figures"):
        return _cases(data, path)


def _cases(data: dict[str, Any], path: Path) -> list[ValidationCase]:
    titles = [*(each["name"] for each in (*data["case"], *data["window"])), *_WITH_LAWS]
    return [
        ValidationCase(f"reliability: {title}", KIND, FORMAT, path, key=title, claim="chance", unit="1")
        for title in titles
    ]


def read(path: Path) -> dict[str, Any]:
    """Return the content of the file."""
    found = path / "published.toml" if path.is_dir() else path
    return load_toml(found, "published figures")


def run(case: ValidationCase, options: Options) -> list[Claim]:
    """Return the claims of a case."""
    data = read(case.path)
    if case.key in _WITH_LAWS:
        return list(_WITH_LAWS[case.key](case, data, options.seed))
    for each in data["case"]:
        if each["name"] == case.key:
            return _exponential(case, each)
    rows = next(each for each in data["window"] if each["name"] == case.key)
    return [_window(case, row, rows.get("tolerated", ROUNDED)) for row in rows["rows"]]


def exponential_world(each: dict[str, Any]) -> tuple[Group, Worlds]:
    """Return group and world of a ``[[case]]``: repairs one after the other, without memory."""
    group = Group(
        children=each["drives"],
        tolerance=each["tolerance"],
        discipline="serial",
        repair=Repair(minimum=0.0),
        correlation_law="successive",
    )
    hidden = each.get("unreadable", 0.0)
    # A share of the disks is unreadable at any moment: bursts as frequent as their removal makes it so.
    return group, one_world(
        1.0 / (each["mttf"] * HOUR),
        each["mttr"] * HOUR,
        correlation=each["correlation"],
        latent=hidden / (1.0 - hidden) / HOUR,
        removal=HOUR,
    )


def _exponential(case: ValidationCase, each: dict[str, Any]) -> list[Claim]:
    group, world = exponential_world(each)
    found = within(group, world, 10 * YEAR)
    chance = float(found.vdev[0])
    years = float(mean_time_to_loss(group, world)[0]) / YEAR / each["groups"]
    if each.get("only") == "files":
        # The row is that of the bit error alone: what is left when both disks are taken off.
        chance = float((found.files[0] - found.vdev[0]) / (1.0 - found.vdev[0]))
        years = 10.0 / -math.log1p(-chance) / each["groups"]
    ten = -math.expm1(each["groups"] * math.log1p(-chance))
    allowed = each["tolerated"]
    return [
        judge(case, "years to loss", each["years_to_loss"], years, allowed),
        judge(case, "chance in ten years", each["ten_years"], ten, allowed),
    ]


def _window(case: ValidationCase, row: list[float], tolerance: float) -> Claim:
    drives, lost, share, correlation, hours, expected = row
    group = Group(children=int(drives), tolerance=int(lost), correlation_law="same")
    world = one_world(rate_of_share(share), hours * HOUR, correlation=correlation)
    words = f"{drives:g} drives, {lost:g} may go, AFR {100 * share:g} % x {correlation:g}, {hours:g} h"
    return judge(case, words, expected, in_window(group, world).vdev[0], tolerance)


def laws(data: dict[str, Any], tolerance: int) -> tuple[Group, float, float]:
    """Return the group of some Weibull laws, the mean of its repairs [s] and its failure rate [1/s]."""
    mean = data["restore_minimum"] + data["restore_scale"] * gamma(1.0 + 1.0 / data["restore_shape"])
    group = Group(
        children=data["drives"],
        tolerance=tolerance,
        repair=Repair(minimum=data["restore_minimum"] / mean, shape=data["restore_shape"]),
        shape=data["lifetime_shape"],
    )
    lifetime = data["lifetime_scale"] * gamma(1.0 + 1.0 / data["lifetime_shape"])
    return group, mean * HOUR, 1.0 / (lifetime * HOUR)


def _elerath_pecht(case: ValidationCase, data: dict[str, Any], seed: int) -> Iterator[Claim]:
    """Yield events in 1,000 groups; both the published figure and this one have a standard error."""
    told = data["elerath_pecht"]
    group, hours, rate = laws(told, 1)
    for each in told["cases"]:
        removal = math.inf
        if each["scrub"] != "never":
            removal = (told["scrub_minimum"] + each["scrub"] * gamma(1.0 + 1.0 / told["scrub_shape"])) * HOUR
        world = one_world(rate, hours, latent=1.0 / (told["latent_mean"] * HOUR), removal=removal)
        found = count_events(group, world, told["years"] * YEAR, HISTORIES, seed)
        allowed = SIGMAS * math.hypot(each["error"], 1000 * found.error[0]) / each["events"]
        words = f"events, scrub {each['scrub']}" + ("" if each["scrub"] == "never" else " h")
        yield judge(case, words, each["events"], 1000 * found.chance[0], allowed)
    alone = simulate(group, one_world(rate, hours), (told["years"] * YEAR,), HISTORIES, seed).vdev[0]
    disks = told["disks_only"]
    yield judge(
        case, "events of two disks", disks["events"], 1000 * alone.chance[0], disks["error"] / disks["events"]
    )


def _simedc(case: ValidationCase, data: dict[str, Any], seed: int) -> Iterator[Claim]:
    """Yield the chance against the first order of overlapping renewals: n C(n - 1, P) m^(P + 1) E^P t."""
    told = data["simedc"]
    group, hours, rate = laws(told, told["tolerance"])
    horizon = told["years"] * YEAR
    found = simulate(group, one_world(rate, hours), (horizon,), 4 * HISTORIES, seed).vdev[0]
    yield judge(case, "chance in ten years", told["first_order"], found.chance[0], told["tolerated"])


_WITH_LAWS = {"Elerath and Pecht 2007": _elerath_pecht, "SimEDC's defaults": _simedc}
