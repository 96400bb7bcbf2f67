"""What nobody stated, as distributions: the members of the ensemble and what distinguishes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from zsim.predict.hardware import Factors, drive_models
from zsim.scenario.resolve import ResolvedScenario

MEMBERS = 8
NORMAL = NormalDist()
# Relative standard deviation of the ageing that a pool of unknown history has seen: a factor of two each way.
CHURN_SPREAD = math.log(2.0)
# Of the record size of a pool whose datasets are not described.
FILE_SPREAD = math.log(2.0)


@dataclass(frozen=True, slots=True)
class Unknown:
    """An input that is not stated, or known from its class alone.

    Attributes
    ----------
    name : str
        Coordinate of a `Member`.
    field : str
        Field of the scenario that would settle it.
    words : str
        What stating it would bring, to a person.
    spread : float
        Standard deviation of its logarithm.
    """

    name: str
    field: str
    words: str
    spread: float


@dataclass(frozen=True, slots=True)
class Member:
    """One possible world.

    Attributes
    ----------
    factors : Factors
        Of the drives.
    churn : float
        Factor on the ageing of the pool.
    file_size : float
        Factor on the size of its files.
    scores : tuple of float
        Standard normal score of each unknown, in their order.
    """

    factors: Factors = Factors()
    churn: float = 1.0
    file_size: float = 1.0
    scores: tuple[float, ...] = ()


def unknowns(resolved: ResolvedScenario) -> tuple[Unknown, ...]:
    """Return the unknown inputs of a scenario, each with its spread."""
    old, new = drive_models(resolved)
    spread, other = old.spread(), new.spread()
    found = [
        Unknown("outer_rate", "drive", "name the drive or fit it to your own measurements", spread.outer_rate),
        Unknown("inner_ratio", "drive", "measure the drive's inner tracks", spread.inner_ratio),
        Unknown("seek", "drive", "measure the drive's seek times", spread.seek),
        Unknown("overhead", "drive", "measure the drive's small reads", spread.overhead),
        Unknown("new_rate", "new_drive", "name the new drive", math.hypot(other.drive_rate, spread.drive_rate)),
    ]
    if resolved.assumed("frag") or resolved.assumed("history"):
        found.append(Unknown("churn", "frag", "state FRAG (zpool list) or the pool's history", CHURN_SPREAD))
    if resolved.assumed("recordsize") or resolved.assumed("history"):
        found.append(Unknown("file_size", "history", "say what is on the pool", FILE_SPREAD))
    return tuple(unknown for unknown in found if unknown.spread > 0)


def draw_members(inputs: Sequence[Unknown], seed: int, count: int = MEMBERS) -> tuple[Member, ...]:
    """Return the members: a Latin hypercube over the unknowns, the same for the same seed.

    Notes
    -----
    McKay, Beckman, Conover (Technometrics 1979), each stratum at its middle.  Scenarios that are compared share
    the seed and with it the draws (common random numbers).
    """
    generator = np.random.Generator(np.random.Philox(key=seed))
    strata = (np.arange(count) + 0.5) / count
    columns = [generator.permutation(strata) for _ in inputs]
    return tuple(
        member_at(inputs, tuple(NORMAL.inv_cdf(float(column[row])) for column in columns))
        for row in range(count)
    )


def member_at(inputs: Sequence[Unknown], scores: tuple[float, ...]) -> Member:
    """Return the member at given standard normal scores of the unknowns."""
    values = {
        unknown.name: math.exp(unknown.spread * score) for unknown, score in zip(inputs, scores, strict=True)
    }
    plain = {name: values[name] for name in Factors.__slots__ if name in values}
    return Member(
        factors=replace(Factors(), **plain),
        churn=values.get("churn", 1.0),
        file_size=values.get("file_size", 1.0),
        scores=scores,
    )


def quantiles(times: Sequence[float]) -> tuple[float, float, float]:
    """Return p10, p50 and p90 of durations, taken as log-normal (few members, positive values) [s]."""
    logs = np.log(np.asarray(times, dtype=float))
    if len(logs) == 1:
        value = float(np.exp(logs[0]))
        return value, value, value
    middle, spread = float(logs.mean()), float(logs.std(ddof=1))
    reach = NORMAL.inv_cdf(0.9) * spread
    return math.exp(middle - reach), math.exp(middle), math.exp(middle + reach)
