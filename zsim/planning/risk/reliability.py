"""The numbers of ``models/reliability``: failure rates by drive model, and other inputs of a risk."""

from __future__ import annotations

import functools
import math
import tomllib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zsim.base.constants import Z90, Z975
from zsim.base.errors import InputError
from zsim.base.model_data import models_directory, suggest

FOLDER = "reliability"
PERIODS = ("rate_2026q1", "rate_2024")
USUAL_REACH = 2.3263478740408408
"""The 99th percentile: beyond it nothing was observed that the tails could stand for."""
FLEET_REACH = 2.0
"""With it the rates of unknown models end at 0.2 and 11 % a year, as those of one fleet do."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A positive number that is not known for certain.

    Attributes
    ----------
    middle : float
        As often exceeded as not.
    low, high : float
        One time in ten it is lower, or higher.
    source : str
    reach : float
        How far its tails go, in standard normal scores; the ends of a band are its `low` and `high`.
    """

    middle: float
    low: float
    high: float
    source: str = ""
    reach: float = USUAL_REACH

    @classmethod
    def exactly(cls, value: float) -> Spread:
        """Return a number that is known."""
        return cls(value, value, value, "stated")

    @property
    def is_exact(self) -> bool:
        """Whether nothing is open."""
        return self.low == self.high

    def at(self, score: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return the values at standard normal scores: log-normal to both sides of the middle."""
        scores = np.asarray(score, dtype=np.float64)
        if self.is_exact or self.middle <= 0.0:
            return np.full(scores.shape, self.middle)
        ends = np.where(scores > 0, self.high, self.low)
        result: NDArray[np.float64] = self.middle * (ends / self.middle) ** (
            np.minimum(np.abs(scores), self.reach) / Z90
        )
        return result

    def scaled(self, factor: float) -> Spread:
        """Return the number in another unit."""
        return Spread(self.middle * factor, self.low * factor, self.high * factor, self.source, self.reach)


@functools.cache
def read(name: str) -> dict[str, Any]:
    """Return a file of ``models/reliability``."""
    path = models_directory() / FOLDER / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def number(*names: str) -> float:
    """Return a value of ``assumptions.toml`` in its unit."""
    return float(_entry(names)["value"])


def source(*names: str) -> str:
    """Return where a value of ``assumptions.toml`` was read."""
    return str(_entry(names)["source"])


def _entry(names: tuple[str, ...]) -> dict[str, Any]:
    data: Any = read("assumptions")
    for name in names:
        data = data[name]
    return dict(data)


def fleet_rate() -> Spread:
    """Return the failure rate of a drive of which nothing is known [1/year]."""
    middle, high = number("fleet", "rate") / 100, number("fleet", "rate_p90") / 100
    return Spread(middle, middle**2 / high, high, source("fleet", "rate"), FLEET_REACH)


def models() -> dict[str, dict[str, Any]]:
    """Return the drive models with measured failure rates, by name in capitals."""
    return {entry["name"].upper(): entry for entry in read("drive-failures")["model"]}


def model_of_drive(drive: str) -> str | None:
    """Return the model whose failures were counted for a drive of zsim's catalogue, if there is one."""
    for name, entry in models().items():
        if drive.lower() in entry["drives"]:
            return name
    return None


def model_rate(name: str) -> Spread:
    """Return the failure rate of a drive model [1/year]: the latest quarter, or the year if that says more.

    Raises
    ------
    InputError
        When no failures of this model are known.

    Notes
    -----
    The interval is the wider of sampling (exact Poisson) and of what the rate did between the two periods.
    """
    known = models()
    entry = known.get(name.upper())
    if entry is None:
        near = suggest(name.upper(), known)
        raise InputError("afr", name, "a rate such as 1.5%, or a drive model with known failures", near)
    periods = [entry[period] for period in PERIODS if period in entry]
    counted = [each for each in periods if each["value"] > 0]
    if not counted:
        return _never_failed(periods[0], name)
    middle = math.exp(math.fsum(math.log(each["value"]) for each in counted) / len(counted))
    low = min(_p10(each) for each in counted)
    high = max(_p90(each) for each in counted)
    text = f"{name}: {counted[0]['source']}"
    return Spread(middle / 100, min(low, middle) / 100, max(high, middle) / 100, text)


def _p10(rate: dict[str, Any]) -> float:
    return float(rate["value"] * (max(rate["low"], 1e-3) / rate["value"]) ** (Z90 / Z975))


def _p90(rate: dict[str, Any]) -> float:
    return float(rate["value"] * (rate["high"] / rate["value"]) ** (Z90 / Z975))


def _never_failed(rate: dict[str, Any], name: str) -> Spread:
    """Return the rate of drives without a failure: exponential, its 97.5 % point that of the interval."""
    mean = rate["high"] / -math.log(0.025) / 100
    text = f"{name}: no failure in the period, {rate['source']}"
    return Spread(mean * math.log(2), mean * -math.log(0.9), mean * -math.log(0.1), text)
