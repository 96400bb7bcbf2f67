"""The answer of `zsim.fleet`, and how it is printed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field, JsonValue

from zsim.base.units import format_duration
from zsim.planning.fleet.records import Losses, PoolsRow, Stock
from zsim.planning.risk.records import rounded
from zsim.planning.risk.wording import between, odds, share_words
from zsim.prediction.answer.frames import Rows
from zsim.prediction.answer.output import DrawnAnswer, FramedAnswer, PrintedAnswer
from zsim.prediction.answer.sections import WARNINGS, Section, filled, fragment, rendered
from zsim.prediction.answer.stored import StoredAnswer
from zsim.prediction.answer.tables import Grid
from zsim.prediction.answer.wording import percent

if TYPE_CHECKING:
    from rich.console import Group

    from zsim.prediction.answer.drawing import Picture

GRADES = (("files", "some files lost"), ("vdev", "a vdev suspended"), ("pool", "a pool lost"))


class FleetAnswer(PrintedAnswer, StoredAnswer, DrawnAnswer, FramedAnswer):
    """What `zsim.fleet` returns; durations in seconds."""

    schema_version: Literal[1] = 1
    years: float
    trials: int
    pool_years: float = Field(description="simulated")
    any_loss: Losses = Field(description="chance of at least one within the years")
    losses_per_year: Losses = Field(description="expected in the fleet")
    failures_per_year: float
    degraded_s_per_pool_year: float = Field(description="time with a drive missing [s]")
    pools: tuple[PoolsRow, ...]
    spares: Stock
    crews: Stock
    warnings: tuple[str, ...] = ()
    inputs: dict[str, JsonValue]
    provenance: dict[str, JsonValue] = Field(default_factory=dict)

    def _frame_rows(self) -> Rows:
        return [_flat(row) for row in self.pools]

    def _figure(self) -> Picture:
        """Draw which pools contribute most, and hours without full redundancy."""
        from zsim.planning.fleet.drawing import figure

        return figure(self.pools, headline(self))

    def __repr__(self) -> str:
        return f"<FleetAnswer: {headline(self)}>"

    def __rich__(self) -> Group:
        return rendered(headline(self), sections(self))

    def _repr_html_(self) -> str:
        return fragment(headline(self), sections(self))


def _flat(row: PoolsRow) -> dict[str, object]:
    data = row.model_dump(exclude={"losses_per_year", "degraded_s"})
    for grade, _ in GRADES:
        found = getattr(row.losses_per_year, grade)
        data |= {f"{grade}_per_year": found.p, f"{grade}_low": found.low, f"{grade}_high": found.high}
    return data | {f"missing_{level + 1}_s": value for level, value in enumerate(row.degraded_s)}


def headline(answer: FleetAnswer) -> str:
    """Return the answer in one line: a vdev lost within the years."""
    found = answer.any_loss.vdev
    mean = "" if found.is_exact else f" (on average {odds(found.p, 2)})"
    return f"Chance that a vdev is lost within {answer.years:g} years: {between(found)}{mean}."


def sections(answer: FleetAnswer) -> tuple[Section, ...]:
    """Return the whole answer, block by block."""
    pools = sum(row.pools for row in answer.pools)
    degraded = format_duration(answer.degraded_s_per_pool_year)
    first = (
        f"{pools} pools, {answer.failures_per_year:.3g} failed drives a year, "
        f"{degraded} per pool and year with a drive missing; {answer.pool_years:,.0f} pool-years simulated."
    )
    every = (
        Section("", (first,)),
        Section(WARNINGS, answer.warnings),
        Section(f"How likely within {answer.years:g} years", grid=_chances(answer)),
        Section("Which pools contribute", grid=_pools(answer)),
        Section("Spares", _stock(answer.spares, "drives on the shelf")),
        Section("Repair crews", _stock(answer.crews, "crews")),
    )
    return filled(every)


def _chances(answer: FleetAnswer) -> Grid:
    rows = tuple(
        (words, between(getattr(answer.any_loss, grade)), odds(getattr(answer.any_loss, grade).p, 2))
        for grade, words in GRADES
    )
    return Grid(("", "90 % interval", "on average"), rows)


def _pools(answer: FleetAnswer) -> Grid:
    head = ("pools", "layout", "failures/y", "missing", "2 or more missing", "vdevs lost", "share")
    ordered = sorted(answer.pools, key=lambda row: -row.share)
    return Grid(head, tuple(_pools_row(row) for row in ordered), frozenset(range(2, len(head))))


def _pools_row(row: PoolsRow) -> tuple[str, ...]:
    return (
        f"{row.pools} {row.name}",
        row.layout,
        f"{row.failures_per_year:.3g}",
        format_duration(row.missing_s),
        f"{format_duration(math.fsum(row.degraded_s[1:]))}/y",
        rate_words(row.losses_per_year.vdev.p),
        percent(row.share),
    )


def rate_words(rate: float) -> str:
    """Return how often something is expected: ``1 in 30 years``, or ``2.5 a year``."""
    if rate >= 1.0:
        return f"{rounded(rate, 2):g} a year"
    return f"1 in {rounded(1.0 / rate, 1):,.0f} years" if rate > 0 else ""


def _stock(stock: Stock, what: str) -> tuple[str, ...]:
    need = ", ".join(f"{count} for {share}" for share, count in stock.enough.items())
    lines = [f"Enough {what} at the time of a failure: {need} of the failures."]
    if stock.have is not None:
        lines.insert(0, f"With {stock.have}, {_waiting(stock)}.")
    return tuple(lines)


def _waiting(stock: Stock) -> str:
    if not stock.waited:
        return "no failure of those simulated waits"
    wait = format_duration(stock.mean_wait_s)
    return f"{share_words(stock.waited)} of the failures wait, {wait} on average over all"


def three_digits(value: float) -> float:
    """Return a number with three digits."""
    return rounded(value, 3)
