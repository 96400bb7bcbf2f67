"""Records of an answer of `zsim.risk`; chances are rounded to the digits that are certain."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field, JsonValue

from zsim.prediction.answer.records import AnswerPart, Quantiles

EXACT_DIGITS, ROUGH_DIGITS = 6, 2


class Chance(AnswerPart):
    """A chance as a range."""

    p: float = Field(ge=0, description="mean over everything that is not known")
    low: float = Field(ge=0, description="one time in twenty it is lower")
    high: float = Field(ge=0, description="one time in twenty it is higher")

    @property
    def is_exact(self) -> bool:
        """Whether nothing but rounding is open."""
        return self.low == self.high


class Grades(AnswerPart):
    """Chances by how much is lost; each includes the ones after it."""

    files: Chance = Field(description="some files (or blocks of a volume) are lost")
    vdev: Chance = Field(
        description="a top-level vdev misses more drives than it has parity: it is suspended"
    )
    pool: Chance = Field(description="the pool is gone: no copy is left of a block that an import needs")


class Mover(AnswerPart):
    """An input that is not known for certain, and how far it moves the chance."""

    field: str
    factor: float = Field(ge=0, description="chance of losing the vdev, p90 of this input over its p10")


class Assumed(AnswerPart):
    """An input that nobody stated."""

    field: str
    text: str


class Risk(AnswerPart):
    """What is known of a risk; see `zsim.planning.risk.answer.RiskAnswer`."""

    schema_version: Literal[1] = 1
    subject: str = Field(description="what was asked, in one line")
    stated: tuple[str, ...] = Field((), description="what was stated, in words, each with its unit")
    method: Literal["chain", "simulation"]
    window_of: Literal["repair", "plan", "rest", "scrub", "failure"] = Field(
        "repair",
        description="what `window` spans: a repair from the failure on, a plan of zsim timeline, what is left"
        " of a repair that runs, a scrub, or of plain disks the failure itself, which nothing repairs",
    )
    window: Grades
    per_year: Grades
    years: Grades
    horizon_years: float = Field(description="what `years` stands for")
    bytes_lost_per_tb_year: Chance = Field(description="expected loss [bytes] a TB of data and year")
    repair_s: Quantiles = Field(
        description="duration of the repair itself [s]; 0 of plain disks, which nothing repairs"
    )
    missing_s: float = Field(description="mean time from a failure to the end of its repair [s]; or 0")
    movers: tuple[Mover, ...] = ()
    assumptions: tuple[Assumed, ...] = ()
    warnings: tuple[str, ...] = ()
    inputs: dict[str, JsonValue] = Field(description="what was stated, and what was taken, in SI units")
    provenance: dict[str, JsonValue] = Field(default_factory=dict)


def rounded(value: float, digits: int) -> float:
    """Return a number with so many significant digits."""
    if value == 0.0 or not math.isfinite(value):
        return value
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def chance(p: float, low: float, high: float) -> Chance:
    """Return a chance with the digits that its range leaves: six if it is exact, two if it is wide."""
    low, high = min(low, p), max(high, p)
    digits = EXACT_DIGITS
    if high > low:
        share = (high - low) / p if p > 0 else 1.0
        digits = min(EXACT_DIGITS, max(ROUGH_DIGITS, 1 - math.floor(math.log10(share))))
    return Chance(p=rounded(p, digits), low=rounded(low, digits), high=rounded(high, digits))
